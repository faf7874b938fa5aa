"""Likelihood in one pass, sampling in n: how the time of both grows with the number of variables.

Times are measured, on this machine; slopes are of straight lines through the logarithms, by least squares.
Each member is timed as it samples here, with its running state or its kept activations; and MADE once more
with a full pass for every variable, as its definition reads.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from lab.seeding import seeded
from modules.autoregressive.base import Autoregressive
from modules.autoregressive.fvsbn import FVSBN
from modules.autoregressive.made import MADE
from modules.autoregressive.nade import NADE
from modules.autoregressive.pixelcnn import PixelCNN
from modules.noise import uniform
from pages.autoregressive.parameters.counting import draw_weights, multiplications

PASSES = "MADE, full passes"
REPEATS = 3
SIDES = (6, 8, 11, 16, 22, 28)  # of square pictures: n = 36 … 784

# name -> made for side × side pixels and d hidden units
MODELS: dict[str, Callable[[int, int], Autoregressive]] = {
    "FVSBN": lambda side, d: FVSBN((side * side,)),
    "NADE": lambda side, d: NADE((side * side,), hidden=d),
    "MADE": lambda side, d: MADE((side * side,), hidden=[d]),
    PASSES: lambda side, d: MADE((side * side,), hidden=[d]),
    "PixelCNN": lambda side, d: PixelCNN(image_shape=(1, side, side), channels=16, layers=3),
}


@dataclass(frozen=True)
class Counts:
    """Multiplications of one example, seen as they happened.

    Attributes:
        one_pass: of log p(x) in one pass; live: those with weights that no mask has set to 0.
        sample: of one draw, which took `steps` conditionals one after the other.
    """

    one_pass: int
    live: int
    sample: int
    steps: int


@dataclass(frozen=True)
class Timing:
    """Seconds of one batch: `log_prob` in one pass, `sample` variable by variable."""

    model: str
    n: int
    log_prob: float
    sample: float
    counts: Counts


def seconds(run: Callable[[], object]) -> float:
    """The shortest of a few runs, after one to warm up: what else the machine does only adds."""
    run()
    taken = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return min(taken)


@torch.no_grad()
def draw_by_passes(model: Autoregressive, batch: int) -> Tensor:
    """Ancestral sampling (batch, n) with all conditionals computed anew for every variable."""
    x = torch.zeros(batch, model.n)
    noise = uniform(batch, model.n, like=x, generator=torch.Generator().manual_seed(0))
    order = model.component_order(0)
    for j, logits in zip(
        order.tolist(), Autoregressive._sequential_logits(model, x, order, 0, 0), strict=True
    ):
        x[:, j] = model.sample_conditional(logits, noise[:, j], 1.0)
    return x


@torch.no_grad()
def count(name: str, model: Autoregressive) -> Counts:
    """Run and count; whoever asks for full passes gets them. The weights are drawn anew."""
    draw_weights(model)  # a weight of 0 would pass for a masked one
    steps = 0

    def draw(batch: int) -> None:
        nonlocal steps
        x = torch.ones(batch, model.n)  # a bit 0 adds nothing, and may be left out
        state = (x, model.component_order(0), 0, 0)
        walk = (
            Autoregressive._sequential_logits(model, *state)
            if name == PASSES
            else model._sequential_logits(*state)
        )
        steps = sum(1 for _ in walk)

    def score(batch: int) -> Tensor:
        return model.log_prob(torch.ones(batch, model.n))

    return Counts(multiplications(score), multiplications(score, live=True), multiplications(draw), steps)


def measure(sides: Sequence[int], hidden: int, batch: int) -> Iterator[tuple[float, list[Timing]]]:
    """Time every member at every size; yields the share done and the timings so far."""
    tasks = [(side, name) for side in sides for name in MODELS]
    weights = [side**2 * (side**2 if name == PASSES else 30) for side, name in tasks]  # about their times
    timings: list[Timing] = []
    for done, (side, name) in enumerate(tasks, start=1):
        model = seeded(lambda name=name, side=side: MODELS[name](side, hidden)).eval()  # type: ignore[misc]
        generator = torch.Generator().manual_seed(0)
        x = (torch.rand(batch, model.n, generator=generator) < 0.2).float()
        with torch.no_grad():
            one = seconds(lambda m=model, x=x: m.log_prob(x))  # type: ignore[misc]
            many = seconds(
                lambda m=model, name=name, g=generator: (  # type: ignore[misc]
                    draw_by_passes(m, batch) if name == PASSES else m.sample(batch, generator=g)
                )
            )
        timings = [*timings, Timing(name, model.n, one, many, count(name, model))]
        yield sum(weights[:done]) / sum(weights), timings


def expected(n: int, d: int) -> tuple[int, int]:
    """Multiplications of one pass of d hidden units over n variables, and of n such passes."""
    return 2 * n * d, n * 2 * n * d


def slope(n: Sequence[float], values: Sequence[float]) -> float:
    """Exponent b of values ≈ c n^b, by least squares of the logarithms."""
    x, y = (torch.tensor(v, dtype=torch.float64).log() for v in (n, values))
    x, y = x - x.mean(), y - y.mean()
    return float((x * y).sum() / (x * x).sum())


def lines(timings: Sequence[Timing], what: str) -> dict[str, tuple[list[int], list[float]]]:
    """ "log_prob" or "sample" by model: n, and milliseconds."""
    return {
        name: ([t.n for t in mine], [1000 * getattr(t, what) for t in mine])
        for name in MODELS
        if (mine := [t for t in timings if t.model == name])
    }


def table(timings: Sequence[Timing]) -> dict[str, list[object]]:
    """By model: times at the largest n, their ratio, and the slopes over the upper half of the sizes."""
    rows: dict[str, list[object]] = {
        key: []
        for key in ("model", "log p, ms", "sample, ms", "sample / log p", "slope, log p", "slope, sample")
    }
    for name in dict.fromkeys(t.model for t in timings):
        mine = [t for t in timings if t.model == name]
        upper = mine[len(mine) // 2 - 1 :] if len(mine) > 2 else mine
        n = [t.n for t in upper]
        last = mine[-1]
        slopes = [slope(n, [getattr(t, what) for t in upper]) for what in ("log_prob", "sample")]
        cells = [
            name, f"{1000 * last.log_prob:.2f}", f"{1000 * last.sample:.1f}",
            f"{last.sample / last.log_prob:.0f}", *(f"{b:.2f}" if math.isfinite(b) else "–" for b in slopes),
        ]  # fmt: skip
        for row, cell in zip(rows.values(), cells, strict=True):
            row.append(cell)
    return rows


def count_table(timings: Sequence[Timing]) -> dict[str, list[object]]:
    """By model, at the largest n: what was counted."""
    last = {t.model: t for t in timings}
    return {
        "model": list(last),
        "n": [t.n for t in last.values()],
        "× log p, one pass": [f"{t.counts.one_pass:,}" for t in last.values()],
        "without masked weights": [f"{t.counts.live:,}" for t in last.values()],
        "× sample": [f"{t.counts.sample:,}" for t in last.values()],
        "steps": [t.counts.steps for t in last.values()],
    }
