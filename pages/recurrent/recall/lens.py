"""Long-lag recall in training: what is trained, what is looked at, and what a bench of five seeds found.

One of 8 symbols comes first, distractors follow, a query stands `lag` steps behind it; the loss is at the
query alone. So everything that the network learns of the symbol comes through a gradient that has passed
`lag` steps:

    ∂L/∂state_t = ∂L/∂state_T J_T J_{T−1} ⋯ J_{t+1},    T = lag + 1 steps; the state of an LSTM is h and cell

Shapes: F frames; a look has T steps and G gates. The setting is that of `lab.bench.recall`.

References: Hochreiter & Schmidhuber 1997; Pascanu, Mikolov, Bengio 2013, arXiv:1211.5063; [LLM] 1.16-1.18.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from datamodules.algorithmic import CLASSES, Recall
from lab.bench import recall, record
from lab.lenses import rewind
from modules.recurrent.cell import Cell, State
from modules.recurrent.stack import CELLS
from pages.recurrent.recall.room import STRIDE

HELD_OUT, LOOKED = 256, 64  # sequences that are judged, and those of them whose gradient is taken
GUESSING = 1 / CLASSES
STARTS = recall.STARTS | {"LSTM, forget bias 1": ("lstm", {"forget_bias": 1.0})}
SLOPE = "slope"
WORDS = {"f": "forget gate f", "i": "input gate i", "o": "output gate o", "z": "update gate z",
         "r": "reset gate r", SLOPE: "slope φ'"}  # fmt: skip
OPTIONS = ["less than a thousandth", "between a thousandth and all of it", "more than was at the query"]


@lru_cache(maxsize=8)
def held_out(lag: int) -> tuple[Tensor, Tensor]:
    """Sequences (HELD_OUT, T, 17) and their first symbols (HELD_OUT,), the same for every training."""
    return Recall(lag=lag).draw(HELD_OUT, 1)


@dataclass(frozen=True)
class RecallRecipe(rewind.OfOneLoss):
    """A cell of 64 units that learns to recall, begun in the way that its name says."""

    cell: str
    lag: int
    seed: int
    stride: int = STRIDE

    @property
    def gates(self) -> list[str]:
        return gates_of(CELLS[STARTS[self.cell][0]])

    def build(self) -> recall.Network:
        return recall.Network(*STARTS[self.cell], recall.HIDDEN)

    def loss(self, model: recall.Network, knobs: Mapping[str, float], generator: torch.Generator) -> Tensor:
        """Mean −log p of the symbol over 64 new sequences."""
        draw = int(torch.randint(2**31, (), generator=generator))
        x, y = Recall(lag=self.lag).draw(recall.BATCH, draw)
        return F.cross_entropy(model(x), y)

    def look(self, model: recall.Network, knobs: Mapping[str, float]) -> dict[str, np.ndarray]:
        """right, loss: of the held-out sequences; gradient (T,) and gates (G, T): `through_time`."""
        x, y = held_out(self.lag)
        logits = model(x)
        gradient, gates = through_time(model, x[:LOOKED], y[:LOOKED])
        return {
            "right": (logits.argmax(1) == y).float().mean().numpy(),
            "loss": F.cross_entropy(logits, y).numpy(),
            "gradient": gradient.numpy(),
            "gates": torch.stack(list(gates.values())).numpy(),
        }


@torch.no_grad()
def through_time(model: recall.Network, x: Tensor, y: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
    """‖∂L/∂state_t‖, L the mean loss of x (B, T, 17) and y (B,), all sequences together: (T,); and the mean
    of each gate at each step, of an Elman RNN the mean slope φ', (T,) each."""
    cell: Any = model.recurrent.cells[0]
    first = cell.initial_state(x)
    _, last, steps = cell.unroll(x, first)
    dlogits = (model.head(last.h).softmax(-1) - F.one_hot(y, CLASSES)) / len(y)
    grad = State(dlogits @ model.head.weight, None if last.cell is None else torch.zeros_like(last.cell))
    befores = [first] + [after for after, _ in steps[:-1]]
    norms = []
    for before, (after, gates) in zip(reversed(befores), reversed(steps), strict=True):
        both = [part for part in (grad.h, grad.cell) if part is not None]
        norms.append(torch.cat(both, 1).norm())
        _, _, grad = cell.pull_back(gates, before, after, grad)
    means = {
        name: torch.stack(
            [cell.slope(after.h).mean() if name == SLOPE else gates[name].mean() for after, gates in steps]
        )
        for name in gates_of(type(cell))
    }
    return torch.stack(norms[::-1]), means


def gates_of(kind: type[Cell]) -> list[str]:
    """Names of the gates of a kind of cell; of an Elman RNN its slope."""
    return [name for name in WORDS if name in kind.GATES] or [SLOPE]


# --- What a bench found ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kept:
    """Trainings of one cell and start at one lag.

    Attributes:
        succeeded: seeds that recalled, of `seeds`. steps: their median, None where there is none.
        right: least and most that was right in the end, as text.
    """

    succeeded: int
    seeds: int
    steps: int | None
    right: str


@lru_cache(maxsize=1)
def bench() -> dict[tuple[str, int], Kept]:
    """What `lab bench recall` found: (cell and start, lag) -> trainings."""
    found = {}
    for said in json.loads((record.HERE / "results" / "recall.json").read_text())["rows"]:
        row = record.row(said)
        name, lag = row.case.rsplit(", lag ", 1)
        median = re.search(r"median ([\d,]+) steps", row.note)
        found[name, int(lag)] = Kept(
            int(row.ours),
            int(re.findall(r"\d+", row.unit)[0]),
            int(median[1].replace(",", "")) if median else None,
            row.note.partition(";")[0],
        )
    return found


def always(lag: int) -> list[str]:
    """Cells and starts whose seeds all recalled at a lag."""
    return [name for (name, of), kept in bench().items() if of == lag and kept.succeeded == kept.seeds]


# --- In words ----------------------------------------------------------------------------------------


def arrives(frame: rewind.Frame) -> float:
    """‖∂L/∂state_1‖ / ‖∂L/∂state_T‖: what of the gradient at the query reaches the symbol."""
    return float(frame["gradient"][0] / frame["gradient"][-1])


def answer(ratio: float) -> str:
    """The one of OPTIONS that is so."""
    return OPTIONS[0] if ratio < 1e-3 else OPTIONS[1] if ratio <= 1 else OPTIONS[2]


def captions(frames: Sequence[rewind.Frame], knobs: Sequence[Mapping[str, float]]) -> list[str]:
    """How much is right at each frame, and the knobs that led there."""
    texts = []
    for number, (frame, turned) in enumerate(zip(frames, knobs, strict=True)):
        loss, clip = float(frame["loss"]), turned["clip"]
        after = f"After {number * STRIDE} steps"
        if not np.isfinite(loss):
            texts.append(f"{after} the training has run away: turn the rate down, or clip the gradient.")
            continue
        clipped = f"clipped at {clip:g}" if clip else "not clipped"
        texts.append(
            f"{after} {float(frame['right']):.0%} of {HELD_OUT} new sequences are right (guessing: "
            f"{GUESSING:.1%}), loss {loss:.3f} nats. Rate {turned['rate']:g}, {clipped}."
        )
    return texts


def equations(frames: Sequence[rewind.Frame]) -> list[str]:
    """What of the gradient arrives at each frame, LaTeX."""
    texts = []
    for frame in frames:
        first, last = float(frame["gradient"][0]), float(frame["gradient"][-1])
        texts.append(
            r"\frac{\|\partial L/\partial s_1\|}{\|\partial L/\partial s_T\|}"
            rf" = \frac{{{scientific(first)}}}{{{scientific(last)}}} = {scientific(arrives(frame))}"
        )
    return texts


def scientific(value: float) -> str:
    """A number in LaTeX with two figures."""
    if not np.isfinite(value) or value == 0:
        return "0" if value == 0 else r"\text{undefined}"
    if 1e-2 <= value < 1e3:
        return f"{value:.2g}" if value < 100 else f"{value:.0f}"
    mantissa, exponent = f"{value:.1e}".split("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}"
