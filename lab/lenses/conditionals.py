"""Looking into any autoregressive model of bits: one conditional with its arithmetic, two models compared.

Which members there are and what each can show of itself: FVSBN its row of weights, NADE its running state.
What a conditional reads is measured by gradient, the same for all.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lab.experiments import Experiment
from lab.lenses.masks import gradient_row
from modules.autoregressive.base import Autoregressive
from modules.autoregressive.fvsbn import FVSBN
from modules.autoregressive.nade import NADE

MEMBERS = ("MADE", "FVSBN", "NADE", "Untied", "PixelCNN", "GatedPixelCNN")


def of_binary_pictures(experiment: Experiment) -> bool:
    """Whether an experiment trains a member on binarized digits."""
    data = experiment.config["data"].get("init_args") or {}
    return (
        experiment.module.rpartition(".")[2] in MEMBERS
        and experiment.datamodule.rpartition(".")[2] in ("MNIST", "Digits")
        and data.get("binarize") in ("threshold", "static", "dynamic")
    )


def same_pictures(name: str, others: dict[str, Experiment]) -> list[str]:
    """Experiments on the data of experiment `name`, itself left out."""
    own = others[name]
    return [n for n, e in others.items() if n != name and e.datamodule == own.datamodule]


def bits(picture: Tensor) -> Tensor:
    """A picture (H, W) in [0, 1] as bits, (n,)."""
    return (picture > 0.5).float().flatten()


@dataclass(frozen=True)
class Conditional:
    """One conditional p(x_i | x_<i) of a picture.

    Attributes:
        pixel: i; rank: its place in the order, from 1; bit: what x_i is.
        logit, p: of a one.
        seen: (n,) what it may see: x where it comes before i, NaN elsewhere.
        gradient: (n,) ∂ logit / ∂ x_j at x.
        reads: how many earlier pixels have a gradient at some of a few inputs; leaks: how many others.
    """

    pixel: int
    rank: int
    bit: int
    logit: float
    p: float
    seen: Tensor
    gradient: Tensor
    reads: int
    leaks: int


def conditional(model: Autoregressive, x: Tensor, pixel: int, probes: int = 4) -> Conditional:
    """The conditional of `pixel` at x (n,) in the model's own order."""
    order = model.component_order(0)
    rank = int((order == pixel).nonzero()) + 1
    earlier = torch.zeros(model.n, dtype=torch.bool)
    earlier[order[: rank - 1]] = True
    gradient = gradient_row(model, order, x, pixel)
    # at one input a relu may be shut: some more, inked at random, say what can be read at all
    generator = torch.Generator().manual_seed(0)
    support = gradient != 0
    for _ in range(probes):
        support |= gradient_row(model, order, torch.rand(model.n, generator=generator), pixel) != 0
    with torch.no_grad():
        logit = model.logits(x[None].to(model.like), order)[0, pixel]
    return Conditional(
        pixel,
        rank,
        int(x[pixel]),
        float(logit),
        float(torch.sigmoid(logit)),
        torch.where(earlier, x, torch.nan),
        gradient,
        int((support & earlier).sum()),
        int((support & ~earlier).sum()),
    )


def default_pixel(x: Tensor) -> int:
    """A pixel worth looking at: the middle one of those with ink; the centre of an empty sheet."""
    ink = x.nonzero().flatten()
    return int(ink[len(ink) // 2]) if len(ink) else len(x) // 2


# --- What a member can show of its own ----------------------------------------------------------


@dataclass(frozen=True)
class RunningUnits:
    """Some hidden units of NADE at one pixel: those that move its logit most.

    Attributes:
        unit: (m,) which units.
        state: (m,) a_i; after: (m,) a_{i+1} = a_i + W_i x_i; column: (m,) W_i.
        vote: (m,) V_i h_i, the part of each in the logit.
        rest: the sum of the votes of all other units; bias: b_i.
        drift: largest difference of a_i from c + Σ_{j<i} W_j x_j taken anew.
    """

    unit: Tensor
    state: Tensor
    after: Tensor
    column: Tensor
    vote: Tensor
    rest: float
    bias: float
    drift: float


@torch.no_grad()
def running_units(model: NADE, x: Tensor, pixel: int, units: int = 16) -> RunningUnits:
    """NADE's running state just before `pixel` of x (n,), carried column by column along the order."""
    order, x = model.component_order(0).tolist(), x.to(model.like)
    rank = order.index(pixel)
    u = model.inputs(x)[:, 0]  # (n,)
    a = model.start.clone()
    for j in order[:rank]:
        if u[j]:
            a += model.weight[j, 0] * u[j]
    anew = model.start + u[order[:rank]] @ model.weight[order[:rank], 0]
    column, vote = model.weight[pixel, 0], model.readout[pixel, 0] * a.sigmoid()
    top = vote.abs().topk(min(units, len(vote))).indices
    after = a + column * u[pixel]
    return RunningUnits(
        top,
        a[top],
        after[top],
        column[top],
        vote[top],
        float(vote.sum() - vote[top].sum()),
        float(model.bias[pixel, 0]),
        float((a - anew).abs().max()),
    )


@torch.no_grad()
def weights_row(model: FVSBN, pixel: int) -> Tensor:
    """Row of A: what each earlier pixel adds to the logit of `pixel`, (n,)."""
    return model.matrix()[pixel].clone()


def arithmetic(model: Any, x: Tensor, view: Conditional) -> tuple[str, str]:
    """The conditional as LaTeX with its numbers, and a sentence on where they come from."""
    i = view.pixel
    left = rf"p(x_{{{i}}}{{=}}1 \mid x_{{<{i}}})"
    right = rf"\sigma({view.logit:.3f}) = {view.p:.4f}"
    if isinstance(model, FVSBN):
        bias, added = float(model.bias[i]), view.logit - float(model.bias[i])
        ink = int((view.seen == 1).sum())
        return (
            rf"{left} = \sigma\Big(b + \sum_{{j \text{{ before }} i}} A_{{ij}} x_j\Big) = "
            rf"\sigma({bias:.3f} {added:+.3f}) = {right}",
            f"The sum runs over the {ink} earlier pixels that have ink: a white pixel adds nothing.",
        )
    if isinstance(model, NADE):
        units = running_units(model, x, i)
        k, shown = int(units.unit[0]), float(units.vote.sum())
        return (
            rf"{left} = \sigma\Big(b + \sum_k V_k\,\sigma(a_k)\Big) = \sigma({units.bias:.3f} {shown:+.3f} "
            rf"{units.rest:+.3f}) = {right}"
            rf"\qquad a_{{{k}}} \leftarrow {float(units.state[0]):.3f} {float(units.column[0]):+.3f} "
            rf"\cdot {view.bit} = {float(units.after[0]):.3f}",
            f"Bias, the {len(units.unit)} units drawn here, all the others. Then one column is added for "
            f"this pixel: shown for unit {k}.",
        )
    return rf"{left} = {right}", "The logit comes out of the whole network; later pixels cannot reach it."


# --- Two models on one picture ------------------------------------------------------------------


@dataclass(frozen=True)
class Comparison:
    """log p(x_i | x_<i) of one picture under two models, nats, each (n,); `gain` is first minus second."""

    first: Tensor
    second: Tensor

    @property
    def gain(self) -> Tensor:
        return self.first - self.second

    @property
    def totals(self) -> tuple[float, float]:
        return float(self.first.sum()), float(self.second.sum())

    def running(self) -> tuple[Tensor, Tensor]:
        """Sums from the top left pixel on, each (n,)."""
        return self.first.cumsum(0), self.second.cumsum(0)


@torch.no_grad()
def compare(first: Autoregressive, second: Autoregressive, x: Tensor) -> Comparison:
    """Both models' terms of log p(x), x (n,), each in its own order; mixtures by their first joint."""
    one, two = (m.log_conditionals(x[None].to(m.like))[0].flatten() for m in (first, second))
    return Comparison(one, two)
