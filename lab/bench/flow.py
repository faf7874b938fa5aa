"""Flows against zuko's and normflows' of the same shape: log_prob, sampling, a training step; the density
that they reach, against zuko's; and a student's sampling against its teacher's."""

from collections.abc import Callable
from functools import partial
from statistics import fmean
from typing import Any

import torch
from torch import Tensor

from datamodules.points import Points, Shape
from lab.bench.timing import NAN, Row, interleaved, paired_row
from modules.flow.coupling import RealNVP
from modules.flow.flow import Flow
from modules.flow.maf import IAF, MAF

TOYS: tuple[Shape, ...] = ("moons", "rings", "spirals", "checkerboard", "eight_gaussians", "pinwheel")
INSTALL = "no peer here: pip install -c constraints.txt -e '.[peers]'"


def ours(name: str, dims: int, layers: int, hidden: list[int], init_std: float = 0.0) -> Flow:
    """MAF with affine or spline maps; RealNVP, by its `init_std`."""
    if name == "RealNVP":
        return RealNVP((dims,), layers=layers, hidden=hidden, init_std=init_std)
    return MAF((dims,), layers=layers, hidden=hidden, spline=name == "spline MAF", bins=8, bound=5.0)


def zukos(name: str, dims: int, layers: int, hidden: list[int]) -> Any:
    """The same of zuko, whose "NICE" is an affine coupling and whose NSF is autoregressive.

    Raises:
        ImportError: zuko is not installed.
    """
    import zuko

    settings = {"transforms": layers, "hidden_features": hidden}
    if name == "RealNVP":
        return zuko.flows.NICE(dims, **settings)
    if name == "spline MAF":
        return zuko.flows.NSF(dims, bins=8, **settings)
    return zuko.flows.MAF(dims, **settings)


class Sized:
    """A flow of normflows with the two calls of a torch distribution."""

    def __init__(self, flow: Any) -> None:
        self.flow, self.log_prob = flow, flow.log_prob

    def sample(self, shape: tuple[int]) -> Tensor:
        return self.flow.sample(*shape)[0]


def normflows_of(name: str, dims: int, layers: int, hidden: list[int]) -> tuple[Any, list[Tensor]]:
    """The same of normflows, as what gives a distribution and its parameters: networks of the same widths.

    Its masked affine layer is written for the other direction and turned round; a spline's network adds what
    entered to what comes out of each two layers, so that `hidden` has three widths.

    Raises:
        ImportError: normflows is not installed.
    """
    import normflows as nf

    width, flows = hidden[0], []
    for number in range(layers):
        if name == "RealNVP":
            net = nf.nets.MLP([dims // 2, *hidden, dims], init_zeros=True)
            flows += [nf.flows.AffineCouplingBlock(net), nf.flows.Permute(dims, mode="swap")]
            continue
        if name == "spline MAF":
            flows.append(
                nf.flows.AutoregressiveRationalQuadraticSpline(
                    dims, (len(hidden) - 1) // 2, width, num_bins=8, tail_bound=5, permute_mask=False
                )
            )
        else:
            masked = nf.flows.MaskedAffineAutoregressive(
                dims, width, num_blocks=len(hidden) - 1, use_residual_blocks=False
            )
            flows.append(nf.flows.Reverse(masked))
        if number + 1 < layers:
            flows.append(nf.flows.Permute(dims, mode="swap"))
    flow = nf.NormalizingFlow(nf.distributions.DiagGaussian(dims, trainable=False), flows)
    return lambda: Sized(flow), list(flow.parameters())


def zukos_of(name: str, dims: int, layers: int, hidden: list[int]) -> tuple[Any, list[Tensor]]:
    """`zukos`, as what gives a distribution and its parameters."""
    peer = zukos(name, dims, layers, hidden)
    return peer, list(peer.parameters())


def measure(quick: bool = False) -> list[Row]:
    """Ratios ours / peer; where a peer is missing, ours alone."""
    dims, layers = (4, 2) if quick else (16, 5)
    batch, repeats = (16, 3) if quick else (1024, 15)
    width = 8 if quick else 64
    rows = [*distilled(quick), *densities(quick)]
    for peer, result in {"zuko": zukos_of, "normflows": normflows_of}.items():
        for name in ("MAF", "RealNVP", "spline MAF"):
            torch.manual_seed(0)
            hidden = [width] * (3 if (peer, name) == ("normflows", "spline MAF") else 2)
            model = ours(name, dims, layers, hidden)
            x = torch.randn(batch, dims)
            mine = calls(model.distribution, list(model.parameters()), x)
            shape = f"{batch} × {dims}, {layers} layers of {'-'.join(map(str, hidden))}"
            try:
                theirs = calls(*result(name, dims, layers, hidden), x)
            except ImportError:
                for case, call in mine.items():
                    once = interleaved(call, call, repeats).first[0]
                    rows.append(Row("flow", f"{name}, {case}, {shape}", once, target="≤ 1.05",
                                    note=f"against {peer}: {INSTALL}"))  # fmt: skip
                continue
            for case, call in mine.items():
                pairs = interleaved(call, theirs[case], repeats)
                rows.append(paired_row("flow", f"{name}, {case}, {shape}", pairs, "≤ 1.05", f"peer: {peer}"))
    return rows


def densities(quick: bool) -> list[Row]:
    """Nats that ours of each kind lacks on held-out points of six toys, both sides trained alike; RealNVP
    from the identity, and from random last weights, as the peer begins."""
    steps, hidden, seeds = (3, [8], range(1)) if quick else (2000, [64, 64], range(3))
    rows = []
    for name in ("MAF", "RealNVP", "spline MAF"):
        stds = (0.0, 0.1) if name == "RealNVP" else (0.0,)
        for toy in TOYS[:1] if quick else TOYS:
            mine: dict[float, list[float]] = {std: [] for std in stds}
            theirs: list[float] = []
            for seed in seeds:
                data = Points(toy, seed=seed, num_train=20_000, num_test=5000)
                data.setup()
                train, test = (part[torch.arange(len(part))][0] for part in (data.train_set, data.test_set))
                for std, nlls in mine.items():
                    torch.manual_seed(seed)
                    model = ours(name, 2, 5, hidden, std)
                    nlls.append(reached(model.distribution, list(model.parameters()), train, test, steps))
                try:
                    torch.manual_seed(seed)
                    peer = zukos(name, 2, 5, hidden)
                    theirs.append(reached(peer, list(peer.parameters()), train, test, steps))
                except ImportError:
                    break  # one seed of ours says enough alone
            for std, nlls in mine.items():
                above = [m - t for m, t in zip(nlls, theirs, strict=True)] if theirs else [NAN]
                case = f"{name}, NLL on {toy.replace('_', ' ')} above zuko's"
                case += f", from last weights of deviation {std}" if std else ""
                note = f"ours {fmean(nlls):.4f} nats"
                if theirs:
                    note += f", zuko's {fmean(theirs):.4f}; by seed {', '.join(f'{v:+.4f}' for v in above)}"
                else:
                    note += f"; {INSTALL}"
                rows.append(Row("flow", case, fmean(above), NAN, NAN, "≤ 0.05 nats", note, unit="nats"))
    return rows


def reached(
    distribution: Callable[[], Any], parameters: list[Tensor], train: Tensor, test: Tensor, steps: int
) -> float:
    """Mean −log p of test points (N, 2) after `steps` of Adam with a cosine rate on batches of 256."""
    generator = torch.Generator().manual_seed(0)
    optimizer = torch.optim.Adam(parameters, lr=3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in range(steps):
        x = train[torch.randint(len(train), (256,), generator=generator)]
        optimizer.zero_grad(set_to_none=True)
        (-distribution().log_prob(x).mean()).backward()
        torch.nn.utils.clip_grad_norm_(parameters, 5.0)
        optimizer.step()
        schedule.step()
    with torch.no_grad():
        return -float(distribution().log_prob(test).mean())


def distilled(quick: bool) -> list[Row]:
    """Seconds for samples of a MAF, the teacher, as multiples of those of an IAF of its size, the student: D
    calls of each network against one. The teacher computes of each call only what is new, so that of its two
    hidden layers of 256 and their D inputs and outputs about a quarter is left: the multiple nears D / 4."""
    repeats = 3 if quick else 9
    rows = []
    for dims, batch in [(4, 4)] if quick else [(64, 100), (256, 100), (64, 400), (256, 400)]:
        torch.manual_seed(0)
        teacher, student = (kind((dims,), 5, [256, 256]) for kind in (MAF, IAF))
        pairs = interleaved(partial(teacher.sample, batch), partial(student.sample, batch), repeats)
        case = f"{batch} samples, D = {dims}: teacher (MAF) over student (IAF)"
        note = f"networks: {dims} calls a layer against 1"
        rows.append(paired_row("flow", case, pairs, f"≥ {dims / 5:g}", note))
    return rows


def calls(
    distribution: Callable[[], Any], parameters: list[Tensor], x: Tensor
) -> dict[str, Callable[[], Any]]:
    """Calls to be timed, for anything that gives a torch distribution."""
    optimizer = torch.optim.Adam(parameters)

    @torch.no_grad()
    def log_prob() -> Tensor:
        return distribution().log_prob(x)

    @torch.no_grad()
    def sampling() -> Tensor:
        return distribution().sample((len(x),))

    def training() -> None:
        optimizer.zero_grad(set_to_none=True)
        (-distribution().log_prob(x).mean()).backward()
        optimizer.step()

    return {"log_prob": log_prob, "sampling": sampling, "training step": training}
