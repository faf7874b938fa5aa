"""Pixels drawn one by one, where a head looks, how similar positions are.

Shapes: `n` = side² pixels, `F` of them free, `K` levels, `L` layers, `H` heads. All count from 0 here.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lab.experiments import Experiment
from lab.lenses import attention, drawing, surfaces
from modules.transformer.image_gpt import ImageGPT
from modules.transformer.recorder import record_attention
from pages.transformer.pixels.room import VIEWS

COUNT = 12  # completions


def fits(entry: Experiment) -> bool:
    """Check for an ImageGPT of square pictures of grey levels."""
    return surfaces.is_a(entry, ImageGPT) and drawing.of_pictures(entry)


def side(model: ImageGPT) -> int:
    return drawing.side(model)


def views(model: ImageGPT) -> tuple[str, ...]:
    """The probe is of the embedded digits, which are 8 × 8."""
    return VIEWS if side(model) == 8 else VIEWS[:-1]


def last_row(model: ImageGPT) -> int:
    return side(model) - 1


def heads(model: ImageGPT) -> list[str]:
    """All heads as "layer.head", from 1."""
    return [
        f"{l + 1}.{h + 1}"
        for l, layer in enumerate(attention.layers(model))
        for h in range(layer.heads)
    ]  # fmt: skip


def examples(model: ImageGPT) -> list[tuple[str, Tensor]]:
    return drawing.examples(side(model))


def given(model: ImageGPT, digit: Tensor, rows: int) -> Tensor | None:
    """The first rows of a picture in [0, 1], NaN below them, (n,); None without any."""
    if not rows:
        return None
    x = drawing.entries(digit, model.num_categories)
    return torch.where(torch.arange(len(x)) < rows * side(model), x, torch.nan)


# --- One draw -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Drawn:
    """F pixels drawn one by one.

    Attributes:
        x: (n,), all levels. places: (F,), the free pixels.
        p: (F, K), what each was drawn from. attention: (F, n), where the head looked, NaN where it may not;
            of the first pixel of all nowhere, since nothing comes before it.
        log_p: (F,), log p(x_t | x_<t) of the model, whatever the temperature.
        before: log p of what is given. digit: the reader's own, (side, side) in [0, 1].
    """

    x: Tensor
    places: list[int]
    p: Tensor
    attention: Tensor
    log_p: Tensor
    before: float
    digit: Tensor

    def picture(self, f: int) -> Tensor:
        """What is known after frame f, NaN elsewhere, (n,)."""
        return torch.where(torch.arange(len(self.x)) <= self.places[f], self.x, torch.nan)


@torch.no_grad()
def drawn(model: ImageGPT, digit: Tensor, rows: int, t: float, seed: int, head: str) -> Drawn:
    """Draw what is missing, and record where a head looks."""
    generator = torch.Generator().manual_seed(seed)
    trace = model.sample_trace(given=given(model, digit, rows), temperature=t, generator=generator)
    run = drawing.unroll(trace)
    places = [int(i) for i in run.pixel.tolist() if i >= 0]
    layer, h = (int(number) - 1 for number in head.split("."))
    with record_attention() as seen:
        model.hidden(run.x[None])
    weights = seen.calls[attention.layers(model)[layer]][0].weights[0, h]  # (n, n)
    looks = torch.full((len(places), len(run.x)), torch.nan)
    for f, place in enumerate(places):
        if place:  # pixel t is drawn from what its predecessor has gathered
            looks[f, :place] = weights[place - 1, :place]
    log_p = -run.cost[places]
    return Drawn(
        run.x, places, drawing.sharpened(run.distribution, t)[places], looks, log_p,
        -float(run.cost.sum()) - float(log_p.sum()), digit,
    )  # fmt: skip


def name(place: int, width: int) -> str:
    return f"row {place // width + 1}, column {place % width + 1}"


def captions(one: Drawn, width: int, head: str) -> list[str]:
    """Each pixel: what was drawn, and where the head looked."""
    said = []
    for f, place in enumerate(one.places):
        value = int(one.x[place])
        looks = (
            f"head {head} attends most to {name(int(one.attention[f].nan_to_num(-1).argmax()), width)}."
            if place
            else "nothing comes before it: its empirical distribution."
        )
        said.append(
            f"Pixel {place + 1} ({name(place, width)}): level {value} is drawn, p = "
            f"{float(one.p[f, value]):.3f}; {looks}"
        )
    return said


def equations(one: Drawn) -> list[str]:
    """log p so far at each pixel."""
    total, said = one.before, []
    for place, log_p in zip(one.places, one.log_p.tolist(), strict=True):
        before, total = total, total + log_p
        said.append(
            rf"\log p(x_{{<t}}) + \log p(x_t = {int(one.x[place])} \mid x_{{<t}}) = "
            rf"{round(before, 2) + 0.0:.2f} {round(log_p, 2) + 0.0:+.2f} = {round(total, 2) + 0.0:.2f}"
        )
    return said


# --- Completions ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Completed:
    """
    Attributes:
        pictures: (N, n) levels. known: (n,) bool. given: (n,), NaN where free.
        log_p: log p of what is given and of the whole of the reader's own picture, nats.
        digit: that picture, (side, side) in [0, 1].
    """

    pictures: Tensor
    known: Tensor
    given: Tensor
    log_p: tuple[float, float]
    digit: Tensor


@torch.no_grad()
def completed(model: ImageGPT, digit: Tensor, rows: int, t: float, seed: int) -> Completed:
    """Several draws of what is missing."""
    known, generator = given(model, digit, rows), torch.Generator().manual_seed(seed)
    pictures = model.sample(COUNT, given=known, temperature=t, generator=generator).flatten(1)
    shown = torch.full((model.n,), torch.nan) if known is None else known
    return Completed(pictures, ~shown.isnan(), shown, drawing.completion_score(model, digit, shown), digit)


# --- Positions ------------------------------------------------------------------------------------


@torch.no_grad()
def similarity(model: ImageGPT) -> Tensor:
    """Cosine of the position embeddings of all pairs of pixels, their mean subtracted: (n, n)."""
    positions: Any = model.stack.positions
    table = positions.table - positions.table.mean(0)
    unit = table / table.norm(dim=1, keepdim=True)
    return unit @ unit.T


def by_offset(similar: Tensor, width: int, reach: int = 2) -> Tensor:
    """Mean similarity of pixels so many rows and columns apart: (2 reach + 1, 2 reach + 1)."""
    s = similar.view(width, width, width, width)
    result = torch.empty(2 * reach + 1, 2 * reach + 1)
    for i in range(-reach, reach + 1):
        for j in range(-reach, reach + 1):
            rows, columns = (range(max(0, -d), min(width, width - d)) for d in (i, j))
            each = [s[r, c, r + i, c + j] for r in rows for c in columns]
            result[i + reach, j + reach] = torch.stack(each).mean()
    return result


def nearest(similar: Tensor, width: int) -> list[str]:
    """The most similar other pixel of each."""
    others = similar.clone().fill_diagonal_(-2).argmax(1).tolist()
    return [
        f"Pixel {i + 1} ({name(i, width)}): most similar is {name(j, width)}." for i, j in enumerate(others)
    ]


def cosines(similar: Tensor, width: int) -> list[str]:
    """Similarity of each pixel to those above and to the left of it."""
    said = []
    for i in range(len(similar)):
        parts = []
        for words, j, there in (("above", i - width, i >= width), ("left", i - 1, i % width > 0)):
            parts += [rf"\text{{{words}: }} {float(similar[i, j]):.2f}"] if there else []
        said.append(r"\cos(p_i, p_j), \quad " + r", \quad ".join(parts or [r"\text{corner}"]))
    return said
