"""Looking into any autoregressive model of pictures: one conditional and its arithmetic, two models compared.

Which members there are and what each can show of itself: FVSBN its row of weights, NADE its running state.
What a conditional reads is measured by gradient, the same for all.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lab.experiments import Experiment
from lab.lenses.drawing import Drawing, entries, gradient_row, of_binary_pictures, of_pictures
from modules.autoregressive.base import Autoregressive
from modules.autoregressive.fvsbn import FVSBN
from modules.autoregressive.nade import NADE
from modules.autoregressive.pixelcnn import PixelModel


def is_nade(experiment: Experiment) -> bool:
    """Whether an experiment trains a NADE on digits."""
    return of_pictures(experiment) and experiment.module.rpartition(".")[2] == "NADE"


def same_pictures(name: str, others: dict[str, Experiment]) -> list[str]:
    """Experiments on the data of experiment `name`, in the same size, itself left out."""

    def pictures(experiment: Experiment) -> tuple[str, Any]:
        return experiment.datamodule, (experiment.config["data"].get("init_args") or {}).get("image_size")

    return [n for n, e in others.items() if n != name and pictures(e) == pictures(others[name])]


def comparable(experiment: Experiment, others: dict[str, Experiment]) -> bool:
    """Whether another member has learned the same binary pictures."""
    same = same_pictures(experiment.name, others)
    return of_binary_pictures(experiment) and any(of_binary_pictures(others[n]) for n in same)


def classes(model: Any) -> int:
    """How many classes a model knows; 0 without."""
    return int(getattr(model, "num_classes", 0))


def any_order(model: Any) -> bool:
    """Whether pixels may be drawn in another order than the model's own."""
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
        seen: (n,) what it may see: x where it comes before i, NaN elsewhere.
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
    seen: Tensor
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


@dataclass(frozen=True)
class RunningUnits:
    """Some hidden units of NADE at one pixel: those that move its logit most.

    Attributes:
        unit: (m,) which units.
        state: (m,) a_i; after: (m,) a_{i+1} = a_i + W_i x_i; column: (m,) W_i.
        vote: (m,) V_i h_i, the part of each in the logit (of K values, of the logit of what x_i is).
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
    order, x = model.component_order(0).tolist(), x.to(model.device, model.dtype)
    rank = order.index(pixel)
    u = model.inputs(x)[:, 0]  # (n,)
    a = model.start.clone()
    for j in order[:rank]:
        if u[j]:
            a += model.weight[j, 0] * u[j]
    anew = model.start + u[order[:rank]] @ model.weight[order[:rank], 0]
    output = 0 if model.num_categories == 2 else int(x[pixel])
    column, vote = model.weight[pixel, 0], model.readout[pixel, output] * a.sigmoid()
    top = vote.abs().topk(min(units, len(vote))).indices
    after = a + column * u[pixel]
    return RunningUnits(
        top,
        a[top],
        after[top],
        column[top],
        vote[top],
        float(vote.sum() - vote[top].sum()),
        float(model.bias[pixel, output]),
        float((a - anew).abs().max()),
    )


@dataclass(frozen=True)
class RunningState:
    """All of NADE's states on one picture, along its order.

    Attributes:
        order: (n,) the pixels as they are visited.
        fed: (n,) what each pixel feeds to the state: x, or x / (K - 1) of K values.
        carried: (n + 1, d) a before the first pixel, after one pixel, …: a column is added a pixel.
    """

    order: Tensor
    fed: Tensor
    carried: Tensor


@torch.no_grad()
def running_state(model: NADE, x: Tensor) -> RunningState:
    """The state carried through a picture x (n,): one addition of a column a pixel, in single precision."""
    order, fed = model.component_order(0), model.inputs(x.to(model.device, model.dtype))[:, 0]
    states = [model.start.clone()]
    for j in order.tolist():
        states.append(states[-1] + model.weight[j, 0] * fed[j])
    return RunningState(order, fed, torch.stack(states))


def around(unit: int, count: int, shown: int = 16) -> list[int]:
    """Numbers of `shown` neighbouring units of `count`, `unit` among them."""
    first = max(0, min(unit - shown // 2, count - shown))
    return list(range(first, min(count, first + shown)))


def shown_states(state: RunningState, kind: str) -> Tensor:
    """(n + 1, d): the running sum "a", or the hidden units "σ(a)" that read it."""
    return state.carried if kind == "a" else torch.sigmoid(state.carried)


def columns_taken(state: RunningState, step: int) -> int:
    """How many of the first `step` pixels have fed anything but 0."""
    return int(state.fed[state.order[:step]].count_nonzero())


@torch.no_grad()
def anew(model: NADE, state: RunningState) -> Tensor:
    """The state after 0, 1, … pixels, each as one sum c + Σ_j W_j x_j of its own, (n + 1, d)."""
    n = len(state.order)
    past = torch.ones(n + 1, n).tril(-1).to(state.carried)  # row t: the first t pixels
    columns = state.fed[state.order][:, None] * model.weight[state.order, 0]  # (n, d)
    return model.start + past @ columns


def addition(model: NADE, state: RunningState, step: int, unit: int) -> str:
    """What the last of `step` pixels has added to one unit, as LaTeX."""
    if step == 0:
        return rf"a_{{{unit}}} = c_{{{unit}}} = {float(model.start[unit]):.4f}"
    last = int(state.order[step - 1])
    return (
        rf"a_{{{unit}}} \leftarrow {float(state.carried[step - 1, unit]):.4f} "
        rf"{float(model.weight[last, 0, unit]):+.4f} \cdot {float(state.fed[last]):.4g} = "
        rf"{float(state.carried[step, unit]):.4f}"
    )


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
        ink = int((view.seen == 1).sum())
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
    found = [
        (
            rf"p(x_{{{i}}}{{=}}{v} \mid x_{{<{i}}}) = \frac{{e^{{\ell_{{{v}}}}}}}{{\sum_k e^{{\ell_k}}}} = "
            rf"\frac{{e^{{{view.logit:.3f}}}}}{{{total:.4g}}} = {view.p:.4f}",
            f"A softmax over {model.num_categories} values, one logit each.",
        )
    ]
    if isinstance(model, NADE):
        units = running_units(model, x, i)
        shown = float(units.vote.sum())
        found.append(
            (
                rf"\ell_{{{v}}} = b + \sum_k V_k\,\sigma(a_k) = "
                rf"{units.bias:.3f} {shown:+.3f} {units.rest:+.3f} = {view.logit:.3f}",
                f"The logit of {v}: bias, the {len(units.unit)} units with the largest votes, all others. "
                f"All {model.num_categories} logits read the same running sum.",
            )
        )
    return found


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
def terms(model: Any, x: Tensor, y: int | None = None) -> Tensor:
    """log p(x_i | x_<i) of every pixel of x (n,), nats, (n,), in the model's own order.

    Args:
        y: the class, of models that know classes; without it their terms are those of the mixture of all,
            which learns the class on the way.
    """
    x = x[None].to(model.device, model.dtype)
    return model.log_conditionals(x, model.component_order(0), y)[0].flatten()


def compare(first: Autoregressive, second: Autoregressive, x: Tensor) -> Comparison:
    """Both models' terms of log p(x), x (n,), each in its own order; mixtures of orders by their first."""
    return Comparison(terms(first, x), terms(second, x))
