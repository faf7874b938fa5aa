"""Diffusion against its peers: likelihood by ODE against torchdiffeq's solver, DDIM and a step of training
against diffusers'."""

import copy
import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lab.bench.timing import NAN, Row, interleaved, paired_row
from modules.diffusion import exact, ode_likelihood, samplers, sde
from modules.diffusion.ddpm import ImageDDPM
from modules.diffusion.denoisers import MLPDenoiser
from modules.diffusion.schedule import linear
from modules.noise import normal_like

INSTALL = "no peer here: pip install -c constraints.txt -e '.[peers]'"


def measure(quick: bool = False) -> list[Row]:
    """Ratios ours / peer; where a peer is missing, ours alone."""
    return [*likelihoods(quick), *sampling(quick), *training(quick)]


def row(case: str, mine: Callable[[], Any], peer: Callable[[], Any] | None, target: str, note: str,
        repeats: int) -> Row:  # fmt: skip
    """One case, with or without its peer."""
    if peer is None:
        return Row("diffusion", case, interleaved(mine, mine, repeats).first[0], NAN, NAN, target, INSTALL)
    return paired_row("diffusion", case, interleaved(mine, peer, repeats), target, note)


def likelihoods(quick: bool) -> list[Row]:
    """log p of points of eight Gaussians by dopri5 at one tolerance, the divergence computed on both sides.

    Ours measures a step's error as torchdiffeq does (the root of the mean square) so that the tolerance means
    the same; what each side asked, and how far it is from the truth, is in the note.
    """
    vp, truth = sde.VP(), exact.eight()
    score = sde.exact_score(vp, truth)
    count, repeats = (8, 1) if quick else (256, 7)
    x, _ = truth.draw(count, torch.Generator().manual_seed(0))
    rows = []
    for tolerance in (1e-3,) if quick else (1e-3, 1e-5):
        peer, note = torchdiffeqs(vp, score, x, tolerance), ""

        def mine(tolerance: float = tolerance) -> tuple[Tensor, int]:
            result = ode_likelihood.likelihood(vp, score, x, tolerance=tolerance, norm="rms")
            return result.log_prob, result.calls

        if peer is not None:
            off = [(float((side()[0] - truth.log_prob(x)).abs().max()), side()[1]) for side in (mine, peer)]
            note = "; ".join(
                f"{who}: {calls} calls, off by at most {error:.0e}"
                for who, (error, calls) in zip(("ours", "torchdiffeq"), off, strict=True)
            )
        case = f"ODE likelihood of {count} points, exact divergence, tolerance {tolerance:g}"
        rows.append(row(case, mine, peer, "≤ 1.0", note, repeats))
    return rows


def torchdiffeqs(
    vp: sde.SDE, score: sde.Score, x: Tensor, tolerance: float
) -> Callable[[], tuple[Tensor, int]] | None:
    """log p and calls by torchdiffeq's dopri5, or None where it is not installed."""
    try:
        from torchdiffeq import odeint
    except ImportError:
        return None

    def solve() -> tuple[Tensor, int]:
        calls = 0

        def f(t: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
            nonlocal calls
            calls += 1
            field: ode_likelihood.Field = lambda y, s: sde.flow_field(vp, score, y, s)  # noqa: E731
            return ode_likelihood.divergence(field, state[0], float(t))

        times = torch.tensor([0.0, 1.0], dtype=torch.float64)
        with torch.no_grad():
            ends, sums = odeint(f, (x, x.new_zeros(len(x))), times, rtol=tolerance, atol=tolerance,
                                method="dopri5")  # fmt: skip
        return sde.prior_log_prob(vp, ends[-1]) + sums[-1], calls

    return solve


def sampling(quick: bool) -> list[Row]:
    """DDIM of one network over the same times, the loop and the step of each side."""
    result, repeats, steps = linear(), 1 if quick else 9, 5 if quick else 50
    torch.manual_seed(0)
    net = MLPDenoiser(2).eval().requires_grad_(False)
    start = torch.randn(256, 2, generator=torch.Generator().manual_seed(0))
    spaced = [1 + n * (result.T // steps) for n in reversed(range(steps))]  # diffusers': one later, from 1 up

    def mine() -> Tensor:
        return samplers.last(samplers.ddim(net, result, start, [*spaced, 0]))

    peer = diffusers_ddim(net, start, steps)
    note = "one network on both sides"
    if peer is not None and not math.isclose(float((mine() - peer()).abs().max()), 0, abs_tol=2e-3):
        note += "; the samples differ"
    return [row(f"DDIM, 256 points, {steps} steps", mine, peer, "≤ 1.05", note, repeats)]


def diffusers_ddim(net: MLPDenoiser, start: Tensor, steps: int) -> Callable[[], Tensor] | None:
    """The same by diffusers' scheduler, whose times count from 0; None where it is not installed."""
    try:
        from diffusers import DDIMScheduler
    except ImportError:
        return None
    scheduler = DDIMScheduler(1000, 1e-4, 0.02, "linear", clip_sample=False, set_alpha_to_one=True)

    def sample() -> Tensor:
        scheduler.set_timesteps(steps)
        x = start
        for t in scheduler.timesteps:
            output = net(x, torch.full((len(x),), int(t) + 1))
            x = scheduler.step(output, t, x, eta=0.0).prev_sample
        return x

    return sample


def training(quick: bool) -> list[Row]:
    """A training step on pictures of 28 × 28: against diffusers' loop on the same network, and its own."""
    torch.manual_seed(0)
    model = ImageDDPM((1, 28, 28), widths=(32, 64), noise_schedule="linear", num_classes=None)
    x = torch.rand(4 if quick else 64, 1, 28, 28, generator=torch.Generator().manual_seed(0))
    rows = []
    for case, net in (("the same U-Net", copy.deepcopy(model.net)), ("its U-Net", diffusers_unet())):
        sizes = [sum(p.numel() for p in each.parameters()) for each in (model.net, net) if each is not None]
        note = f"parameters: {' and '.join(f'{n:,}' for n in sizes)}"
        peer = None if net is None else diffusers_step(net, x)
        name = f"DDPM training step, {len(x)} pictures, {case}"
        rows.append(row(name, our_step(model, x), peer, "≤ 1.05", note, 1 if quick else 15))
    return rows


def our_step(model: ImageDDPM, x: Tensor) -> Callable[[], None]:
    """As in training, but for what is logged."""
    model = copy.deepcopy(model)
    adam = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def step() -> None:
        data = model.preprocess(x)
        loss, _ = model.losses(data, model.sample_timesteps(len(x), "train", None), normal_like(data))
        adam.zero_grad()
        loss.mean().backward()  # type: ignore[no-untyped-call]
        adam.step()

    return step


def diffusers_unet() -> nn.Module | None:
    """Diffusers' U-Net of nearly as many parameters: it has a block more a level on the way up."""
    try:
        from diffusers import UNet2DModel
    except ImportError:
        return None
    return UNet2DModel(
        28, 1, 1, down_block_types=("DownBlock2D", "DownBlock2D"), up_block_types=("UpBlock2D", "UpBlock2D"),
        block_out_channels=(32, 56), layers_per_block=1, norm_num_groups=8, attention_head_dim=14,
    )  # fmt: skip


def diffusers_step(net: nn.Module, x: Tensor) -> Callable[[], None] | None:
    """The step of diffusers' training script; None where it is not installed."""
    try:
        from diffusers import DDPMScheduler
    except ImportError:
        return None
    scheduler = DDPMScheduler(1000, 1e-4, 0.02, "linear")
    adam = torch.optim.AdamW(net.parameters(), lr=1e-3)

    def step() -> None:
        data = 2 * x - 1
        noise = torch.randn_like(data)
        t = torch.randint(0, 1000, (len(x),))
        output = net(scheduler.add_noise(data, noise, t), t)
        loss = F.mse_loss(output if isinstance(output, Tensor) else output.sample, noise)
        adam.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        adam.step()

    return step
