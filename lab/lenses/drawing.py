"""Pictures drawn pixel by pixel: what is given, what was drawn, how sure each step was."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch
import torch.nn.functional as F
from torch import Tensor

from datamodules.digits import Digits
from datamodules.mnist import MNIST
from lab.experiments import Experiment
from lab.lenses import stock, surfaces
from modules.autoregressive.autoencoder import Autoencoder
from modules.autoregressive.base import Autoregressive
from modules.autoregressive.tables import TableModel
from modules.trace import Trace


def typed_order(text: str, n: int) -> Tensor:
    """An order as typed, variables counted from 1: "2 3 1"; those not named follow in natural order.

    Raises:
        ValueError: what is typed is no variable, or named twice.
    """
    words = text.replace(",", " ").split()
    if not all(w.isdigit() and 1 <= int(w) <= n for w in words) or len(set(map(int, words))) < len(words):
        raise ValueError(f"Type variables from 1 to {n}, each at most once, first the one drawn first.")
    first = [int(w) - 1 for w in words]
    return torch.tensor(first + [j for j in range(n) if j not in first])


def pairs(n: int) -> list[str]:
    """Names of the entries of an (n, n) Jacobian, row by row: "2, 1" is output 2, input 1."""
    return [f"{i + 1}, {j + 1}" for i in range(n) for j in range(n)]


@dataclass(frozen=True)
class Drawing:
    """A trace of `Autoregressive.sample_trace` as columns, small enough to be cached and cut at any step.

    Attributes:
        pixel: (S,) the variable of each step, -1 for what was given and for a mixture's last step.
        p: (S,) probability of a one as drawn from; model_p: at temperature 1.
        bit: (S,) what was drawn.
        log_prob: (S,) running log-likelihood after the step, nats.
        x: (n,) the finished example.
        cost: (n,) -log p(x_i | x_<i) of the model, nats.
        distribution: (n, K) p(x_i = k | x_<i) of the model.
        order: (n,)
        index: of several joints the one that was drawn from.
        captions, equations: one per step.
    """

    pixel: Tensor
    p: Tensor
    model_p: Tensor
    bit: Tensor
    log_prob: Tensor
    x: Tensor
    cost: Tensor
    distribution: Tensor
    order: Tensor
    index: int
    captions: list[str]
    equations: list[str]

    def __len__(self) -> int:
        return len(self.pixel)

    def visited(self, step: int) -> Tensor:
        """(n,) bool: known after `step`."""
        drawn_later = self.pixel[step + 1 :]
        seen = torch.ones(len(self.x), dtype=torch.bool)
        seen[drawn_later[drawn_later >= 0]] = False
        return seen

    def latest(self, step: int) -> int:
        """The step, up to this one, that drew a variable last; 0 if none has."""
        return int(max((self.pixel[: step + 1] >= 0).nonzero().flatten().tolist(), default=0))

    def picture(self, step: int) -> Tensor:
        """x after `step`, NaN where nothing is drawn yet, (n,)."""
        return torch.where(self.visited(step), self.x, torch.nan)

    def surprisal(self, step: int) -> Tensor:
        """-log p(x_i | x_<i) of what is known after `step`, nats, NaN elsewhere, (n,)."""
        return torch.where(self.visited(step), self.cost, torch.nan)


def sharpened(p: Tensor, temperature: float) -> Tensor:
    """p^(1/T) normalised, (..., K): what is drawn from at temperature T; 0 is all on the likeliest value."""
    if temperature == 0:
        return F.one_hot(p.argmax(-1), p.shape[-1]).to(p)
    return (p.log() / temperature).softmax(-1)


def unroll(trace: Trace) -> Drawing:
    """The columns of a trace of `Autoregressive.sample_trace`."""
    columns = {
        name: torch.tensor([step.values[name] for step in trace])
        for name in ("pixel", "p", "model_p", "bit", "log_prob")
    }
    result = trace.result
    x, p = result["x"].flatten(), result["model_p"].reshape(result["x"].numel(), -1)
    return Drawing(
        **columns,
        x=x,
        cost=result["surprisal"].flatten(),
        distribution=torch.cat([1 - p, p], 1) if p.shape[1] == 1 else p,
        order=result["order"],
        index=result["index"],
        captions=[step.caption for step in trace],
        equations=[step.equation for step in trace],
    )


def stops(run: Drawing, stride: int) -> list[int]:
    """The steps at which a stepper stops: after each `stride` drawn variables, and at the end."""
    return sorted({min(t, len(run)) - 1 for t in range(stride, len(run) + stride, stride)})


def halves(run: Drawing) -> tuple[float, float]:
    """-log p of the upper and of the lower half of the finished picture, nats."""
    each = run.surprisal(len(run) - 1)
    return float(each[: len(each) // 2].sum()), float(each[len(each) // 2 :].sum())


def bits_per_pixel(nats: float, n: int) -> float:
    """Bits per dimension of a negative log-likelihood in nats over n variables."""
    return nats / (n * math.log(2))


def bit_strings(pictures: Tensor) -> list[str]:
    """(N, ...) bits as strings, a picture each; of more values with blanks between."""
    between = "" if pictures.max() <= 1 else " "
    return [between.join(map(str, picture)) for picture in pictures.flatten(1).int().tolist()]


def samples(model: Autoregressive, count: int, seed: int) -> Tensor:
    """(count, *event_shape), those of this seed."""
    return model.sample(count, generator=torch.Generator().manual_seed(seed))


def squares(pictures: Tensor) -> Tensor:
    """Pictures (N, ...) of side² pixels as (N, side, side)."""
    flat = pictures.flatten(1)
    return flat.unflatten(1, (math.isqrt(flat.shape[1]), -1))


def bit_list(x: Tensor) -> list[int]:
    """Bits (n,) as whole numbers, as a program spells them."""
    return [int(b) for b in x.flatten()]


def gradient_row(
    model: Autoregressive, order: Tensor, x: Tensor, output: int, value: int = 1, index: int = 0
) -> Tensor:
    """∂ logit of one output / ∂ x at x (n,): what it reads there, (n,); exactly 0 for what comes later.

    Args:
        value: of K values, which one's logit.
        index: of several joints (of classes, say), which one.
    """
    x = x.detach().to(model.device, model.dtype).clone().requires_grad_()
    logits = model.logits(x[None], order, index)[0, output]
    logit = logits[value] if logits.ndim else logits
    (gradient,) = torch.autograd.grad(logit, x, allow_unused=True)
    return torch.zeros_like(x) if gradient is None else gradient


def jacobian(model: Autoregressive | Autoencoder, x: Tensor) -> Tensor:
    """∂ logit_i / ∂ x_j at x (n,), by autograd: (n, n)."""
    return torch.autograd.functional.jacobian(lambda v: model.logits(v[None])[0], x)  # type: ignore[no-untyped-call]


REGIONS = ("top half", "bottom half", "left half", "right half", "top quarter", "nothing")


def entries(picture: Tensor, num_categories: int = 2) -> Tensor:
    """A picture (H, W) in [0, 1] as `num_categories` levels, (H * W,); of two, ink is above a half."""
    levels = (picture > 0.5).float() if num_categories == 2 else (picture * (num_categories - 1)).round()
    return levels.flatten()


def keep(picture: Tensor, region: str, num_categories: int = 2) -> Tensor:
    """The `entries` of a picture (H, W) in [0, 1], NaN outside `region`, (H * W,).

    Raises:
        ValueError: no such region.
    """
    height, width = picture.shape
    rows, columns = torch.arange(height)[:, None], torch.arange(width)[None, :]
    inside = {
        "top half": rows < height // 2,
        "bottom half": rows >= height // 2,
        "left half": columns < width // 2,
        "right half": columns >= width // 2,
        "top quarter": rows < height // 4,
        "nothing": rows < 0,
    }
    if region not in inside:
        raise ValueError(f"region {region!r} is unknown: use one of {', '.join(REGIONS)}.")
    return torch.where(inside[region], entries(picture, num_categories).view_as(picture), torch.nan).flatten()


def knows(model: Autoregressive, order: Tensor) -> bool:
    """Check whether `model` was trained on this order."""
    return model.order_agnostic or any(torch.equal(order, own) for own, _ in model.joints())


@torch.no_grad()
def completion_score(
    model: Autoregressive,
    picture: Tensor,
    given: Tensor,
    order: Sequence[int] | Tensor | None = None,
    y: int | None = None,
) -> tuple[float, float]:
    """log p of what is given and of the whole picture (H, W), nats, mixed over the joints that complete it.

    Args:
        order: what is given comes first in it; None takes the model's own, as `sample` does.
        y: the class, of models that know classes; None mixes all of them.
    """
    known, x = ~given.isnan(), entries(picture, model.num_categories).to(model.device, model.dtype)[None]
    joints = model.joints_given(given, order)
    joints = joints if y is None else [joints[y]]
    log_prob = model.conditional_log_prob
    each = torch.stack([log_prob(model.logits(x, *joint), x)[0] for joint in joints])  # (joints, n)
    totals = [part.sum(1).logsumexp(0) - math.log(len(each)) for part in (each[:, known], each)]
    return float(totals[0]), float(totals[1])


def can_complete(model: Autoregressive, given: Tensor) -> bool:
    """Check whether `model` was trained on an order in which all that is given comes first."""
    try:
        model.joints_given(given)
    except ValueError:
        return False
    return True


def side(model: Autoregressive) -> int:
    """Pixels a side of the square pictures that the model is a density of; 0 if they are not square."""
    root = math.isqrt(model.n)
    return root if root * root == model.n else 0


@lru_cache(maxsize=8)
def examples(pixels: int, count: int = 10) -> list[tuple[str, Tensor]]:
    """Embedded digits (name, (pixels, pixels) in [0, 1]), with MNIST's margin where they are enlarged. All
    readers get the same list: do not change it."""
    x, y = held_out(pixels)
    first = [int((y == digit).nonzero()[0]) for digit in range(count)]
    order = [5, *(d for d in range(count) if d != 5)]  # the top of a 5 may end as a 3, an 8 or a 9
    return [(str(d), x[first[d], 0]) for d in order]


def held_out(pixels: int) -> tuple[Tensor, Tensor]:
    """The embedded test digits (N, 1, pixels, pixels) in [0, 1] and their classes, with MNIST's margin where
    they are enlarged."""
    margin = pixels // 7 if pixels > 8 else 0
    x, y = stock.digits("test", side=pixels - 2 * margin)
    if margin:  # enlarging blurs: steeper greys give strokes as thin as MNIST's
        x = ((x - 0.38) / 0.4).clamp(0, 1)
    return F.pad(x, [margin] * 4), y


def of_pictures(
    experiment: Experiment, kinds: tuple[str, ...] = ("threshold", "static", "dynamic", "levels")
) -> bool:
    """Check whether an experiment trains a member on digits that are binarized, or on their grey levels.
    Members have logits that can be followed back to the pixels: a counted table has no gradient."""
    return (
        surfaces.is_a(experiment, Autoregressive)
        and not surfaces.is_a(experiment, TableModel)
        and surfaces.is_a(experiment, MNIST, Digits, part="data")
        and surfaces.option(experiment, "binarize", "data") in kinds
    )


def of_binary_pictures(experiment: Experiment) -> bool:
    """Check whether an experiment trains a member on binarized digits."""
    return of_pictures(experiment, ("threshold", "static", "dynamic"))


def bits(picture: Tensor) -> Tensor:
    """A picture (H, W) in [0, 1] as bits, (n,)."""
    return entries(picture)
