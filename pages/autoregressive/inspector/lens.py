"""Looking into any autoregressive model of pictures: one conditional and its arithmetic, two models compared.

Which members there are and what each can show of itself: FVSBN its row of weights, NADE its running state.
What a conditional reads is measured by gradient, the same for all.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lab.experiments import Experiment
from lab.lenses import surfaces
from lab.lenses.drawing import Drawing, entries, gradient_row, of_binary_pictures, of_pictures
from modules.autoregressive.base import Autoregressive
from modules.autoregressive.fvsbn import FVSBN
from modules.autoregressive.markov import MarkovChain
from modules.autoregressive.nade import NADE
from modules.autoregressive.pixelcnn import PixelModel
from pages.autoregressive.inspector.nade_state import running_units


def is_nade(experiment: Experiment) -> bool:
    """Check whether an experiment trains a NADE on digits."""
    return of_pictures(experiment) and surfaces.is_a(experiment, NADE)


def draws_pictures(experiment: Experiment) -> bool:
    """Check whether it gives pixels one after another: a counted table does so, too."""
    return of_pictures(experiment) or surfaces.is_a(experiment, MarkovChain)


def same_pictures(name: str, others: dict[str, Experiment]) -> list[str]:
    """Experiments on the data of experiment `name`, in the same size, itself left out."""

    def pictures(experiment: Experiment) -> tuple[str, Any]:
        return experiment.datamodule, (experiment.config["data"].get("init_args") or {}).get("image_size")

    return [n for n, e in others.items() if n != name and pictures(e) == pictures(others[name])]


def comparable(experiment: Experiment, others: dict[str, Experiment]) -> bool:
    """Check whether another member has learned the same binary pictures."""
    same = same_pictures(experiment.name, others)
    return of_binary_pictures(experiment) and any(of_binary_pictures(others[n]) for n in same)


def classes(model: Any) -> int:
    """Number of classes that a model knows; 0 without."""
    return int(getattr(model, "num_classes", 0))


def any_order(model: Any) -> bool:
    """Check whether pixels may be drawn in another order than the model's own."""
    return not isinstance(model, PixelModel)


def ink(x: Tensor, model: Autoregressive) -> Tensor:
    """Values of pixels as [0, 1], for drawing."""
    return x / (model.num_categories - 1)


def posterior(model: Any, x: Tensor) -> Tensor:
    """p(y | x) of a model that knows classes, all equally likely before, x (n,) -> (num_classes,)."""
    return model.class_posterior(x[None].to(model.device, model.dtype))[0]


@dataclass(frozen=True)
class Conditional:
    """One conditional p(x_i | x_<i) of a picture.

    Attributes:
        pixel: i; rank: its place in the order, from 1; value: what x_i is.
        asked: the value whose logit and p these are: 1 of bits, `value` of K values.
        distribution: (K,) p(x_i = k | x_<i).
        context: (n,) what it may see: x where it comes before i, NaN elsewhere.
        gradient: (n,) ∂ logit / ∂ x_j at x.
        reads: how many earlier pixels have a gradient at some of a few inputs; leaks: how many others.
    """

    pixel: int
    rank: int
    value: int
    asked: int
    logit: float
    p: float
    distribution: Tensor
    context: Tensor
    gradient: Tensor
    reads: int
    leaks: int


def conditional(model: Autoregressive, x: Tensor, pixel: int, probes: int = 4, index: int = 0) -> Conditional:
    """The conditional of `pixel` at x (n,) in the model's own order.

    Args:
        index: which joint of several: of classes, the class.
    """
    order = model.component_order(0)
    rank = int((order == pixel).nonzero()) + 1
    earlier = torch.zeros(model.n, dtype=torch.bool)
    earlier[order[: rank - 1]] = True
    asked = 1 if model.num_categories == 2 else int(x[pixel])
    gradient = gradient_row(model, order, x, pixel, asked, index)
    # at one input a relu may be shut: some more, inked at random, say what can be read at all
    generator = torch.Generator().manual_seed(0)
    support = gradient != 0
    for _ in range(probes):
        inked = torch.rand(model.n, generator=generator) * (model.num_categories - 1)
        support |= gradient_row(model, order, inked, pixel, asked, index) != 0
    with torch.no_grad():
        logits = model.logits(x[None].to(model.device, model.dtype), order, index)[0, pixel]
        p = model.probabilities(logits)
    distribution = torch.stack([1 - p, p]) if model.num_categories == 2 else p
    return Conditional(
        pixel,
        rank,
        int(x[pixel]),
        asked,
        float(logits if model.num_categories == 2 else logits[asked]),
        float(distribution[asked]),
        distribution,
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


@torch.no_grad()
def weights_row(model: FVSBN, pixel: int) -> Tensor:
    """Row of A: what each earlier pixel adds to the logit of `pixel`, (n,)."""
    return model.matrix()[pixel].clone()


def arithmetic(model: Any, x: Tensor, view: Conditional) -> list[tuple[str, str]]:
    """The conditional with its numbers, then what else there is to it: LaTeX and a note each."""
    if model.num_categories > 2:
        return level_arithmetic(model, x, view)
    i = view.pixel
    left = rf"p(x_{{{i}}}{{=}}1 \mid x_{{<{i}}})"
    right = rf"\sigma({view.logit:.3f}) = {view.p:.4f}"
    if isinstance(model, FVSBN):
        bias, added = float(model.bias[i]), view.logit - float(model.bias[i])
        ink = int((view.context == 1).sum())
        return [
            (
                rf"{left} = \sigma({bias:.3f} {added:+.3f}) = {right}",
                f"Bias, and the weights of the {ink} earlier pixels with ink: a white one adds nothing.",
            ),
            (rf"{left} = \sigma\Big(b + \sum_{{j \text{{ before }} i}} A_{{ij}} x_j\Big)", ""),
        ]
    if isinstance(model, NADE):
        units = running_units(model, x, i)
        k, shown = int(units.unit[0]), float(units.vote.sum())
        return [
            (
                rf"{left} = \sigma({units.bias:.3f} {shown:+.3f} {units.rest:+.3f}) = {right}",
                f"Bias, the votes V σ(a) of the {len(units.unit)} units with the largest, all the others.",
            ),
            (rf"{left} = \sigma\Big(b + \sum_k V_k\,\sigma(a_k)\Big)", ""),
            (
                rf"a_{{{k}}} \leftarrow {float(units.state[0]):.3f} {float(units.column[0]):+.3f} "
                rf"\cdot {view.value} = {float(units.after[0]):.3f}",
                f"Then one column is added for this pixel: shown for unit {k}.",
            ),
        ]
    note = "The logit comes out of the whole network; later pixels cannot reach it."
    return [(rf"{left} = {right}", note)]


def level_arithmetic(model: Any, x: Tensor, view: Conditional) -> list[tuple[str, str]]:
    """The softmax of one of K values with its numbers, of NADE with the logit's own sum."""
    i, v = view.pixel, view.asked
    log_p = view.distribution.double().log()
    others = log_p - float(log_p[v]) + view.logit  # the logits
    total = float(others.exp().sum())
    results = [
        (
            rf"p(x_{{{i}}}{{=}}{v} \mid x_{{<{i}}}) = \frac{{e^{{\ell_{{{v}}}}}}}{{\sum_k e^{{\ell_k}}}} = "
            rf"\frac{{e^{{{view.logit:.3f}}}}}{{{total:.4g}}} = {view.p:.4f}",
            f"A softmax over {model.num_categories} values, one logit each.",
        )
    ]
    if isinstance(model, NADE):
        units = running_units(model, x, i)
        shown = float(units.vote.sum())
        results.append(
            (
                rf"\ell_{{{v}}} = b + \sum_k V_k\,\sigma(a_k) = "
                rf"{units.bias:.3f} {shown:+.3f} {units.rest:+.3f} = {view.logit:.3f}",
                f"The logit of {v}: bias, the {len(units.unit)} units with the largest votes, all others. "
                f"All {model.num_categories} logits read the same running sum.",
            )
        )
    return results


# --- A picture as it comes ----------------------------------------------------------------------


def drawn_at(run: Drawing) -> Tensor:
    """The step of a draw that draws each pixel, (n,); -1 if it was given."""
    when = torch.full((len(run.x),), -1)
    steps = (run.pixel >= 0).nonzero().flatten()
    when[run.pixel[steps]] = steps
    return when


def without(picture: Tensor, hole: Tensor, num_categories: int = 2) -> Tensor:
    """The `entries` of a picture (H, W), NaN where the brush has been over the hole (H, W), (n,)."""
    return entries(picture, num_categories).masked_fill(hole.flatten() > 0.5, torch.nan)


def holes(side: int) -> list[tuple[str, Tensor]]:
    """Holes to begin with, (side, side): the middle, and a stripe from corner to corner."""
    i, j = torch.meshgrid(torch.arange(side), torch.arange(side), indexing="ij")
    low, high = side // 4, side - side // 4
    middle = (i >= low) & (i < high) & (j >= low) & (j < high)
    stripe = (i - j).abs() <= side // 8
    return [("middle", middle.float()), ("stripe", stripe.float())]
