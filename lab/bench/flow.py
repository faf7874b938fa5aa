"""Flows against zuko's of the same shape: log_prob, sampling, a training step."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from lab.bench.timing import NAN, Row, interleaved, paired_row
from modules.flow.coupling import RealNVP
from modules.flow.flow import Flow
from modules.flow.maf import MaskedFlow

INSTALL = "no peer here: pip install -c constraints.txt -e '.[peers]'"


def ours(name: str, dims: int, layers: int, hidden: list[int]) -> Flow:
    """MAF with affine or spline maps; RealNVP."""
    if name == "RealNVP":
        return RealNVP((dims,), layers=layers, hidden=hidden)
    return MaskedFlow((dims,), layers=layers, hidden=hidden, spline=name == "spline MAF", bins=8, bound=5.0)


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


def measure(quick: bool = False) -> list[Row]:
    """Ratios ours / zuko; where zuko is missing, ours alone."""
    dims, layers, hidden = (4, 2, [8]) if quick else (16, 5, [64, 64])
    batch, repeats = (16, 3) if quick else (1024, 15)
    rows = []
    for name in ("MAF", "RealNVP", "spline MAF"):
        torch.manual_seed(0)
        model = ours(name, dims, layers, hidden)
        x = torch.randn(batch, dims)
        mine = calls(model.distribution, list(model.parameters()), x)
        try:
            peer = zukos(name, dims, layers, hidden)
        except ImportError:
            for case, call in mine.items():
                once = interleaved(call, call, repeats)
                rows.append(Row("flow", f"{name}, {case}", once.first[0], NAN, NAN, "≤ 1.05", INSTALL))
            continue
        theirs = calls(peer, list(peer.parameters()), x)
        shape = f"{batch} × {dims}, {layers} layers"
        for case, call in mine.items():
            pairs = interleaved(call, theirs[case], repeats)
            rows.append(paired_row("flow", f"{name}, {case}, {shape}", pairs, "≤ 1.05", "peer: zuko"))
    return rows


def calls(
    distribution: Callable[[], Any], parameters: list[Tensor], x: Tensor
) -> dict[str, Callable[[], Any]]:
    """What is timed, for anything that gives a torch distribution."""
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
