r"""What has to wait for what: a recurrent network and causal self-attention over T positions and L layers.

    recurrent:  h^(l)_t waits for h^(l)_{t−1} and h^(l−1)_t        T + L − 1 steps, however many cores
    attention:  h^(l)_t waits for h^(l−1)_s, s ≤ t                 L steps
    generating: x_t waits for the top state at t − 1               T L steps for both

Multiplications in matrix products, inputs as wide as states, T positions of one layer:

    RNN 2 T H²,   GRU 6 T H²,   LSTM 8 T H²,   attention 4 T H² + T (T + 1) H

Shapes: the step at which a state is computed, (L, T), from 1. Times in seconds.

References: Vaswani et al. 2017, arXiv:1706.03762, table 1; [GM] 1.6.2, 1.6.4.
"""

import json
import platform
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from math import nan

import numpy as np
import torch

from lab.bench import record
from lab.seeding import seeded
from modules.recurrent.stack import Recurrent
from modules.transformer.attention import Attention
from pages.recurrent.cost.room import ANY, COUNTS, GENERATING, PRODUCTS

RNN, GRU, LSTM, ATTENTION = "RNN", "GRU", "LSTM", "attention"
LENGTHS = (16, 32, 64, 128, 256, 512, 1024)
HEADS = 4
BLOCKS = {RNN: 1, GRU: 3, LSTM: 4}  # of H rows in either weight matrix
Node = tuple[int, int]  # layer, 0 of the input, and position from 0


# --- Who waits for whom ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Net:
    """
    Attributes:
        attention: causal self-attention, else a recurrent network. generating: x_t is chosen after t − 1.
    """

    attention: bool
    length: int
    layers: int
    generating: bool

    def parents(self, node: Node) -> list[Node]:
        """What a node waits for."""
        layer, t = node
        if layer == 0:
            return [(self.layers, t - 1)] if self.generating and t else []
        if self.attention:
            return [(layer - 1, s) for s in range(t + 1)]
        return [(layer - 1, t), *([(layer, t - 1)] if t else [])]

    @property
    def states(self) -> list[Node]:
        return [(layer, t) for t in range(self.length) for layer in range(1, self.layers + 1)]

    def schedule(self, cores: int) -> np.ndarray:
        """Step at which each state is computed, (L, T): at each step at most `cores` of those whose parents
        are known, the earliest positions first."""
        when: dict[Node, int] = {}
        step = 0

        def known(node: Node) -> bool:
            if node[0]:
                return when.get(node, step) < step
            return all(known(parent) for parent in self.parents(node))  # an input takes no step

        while len(when) < len(self.states):
            step += 1
            ready = [n for n in self.states if n not in when and all(map(known, self.parents(n)))]
            when |= dict.fromkeys(ready[:cores], step)
        return np.array([[when[layer, t] for t in range(self.length)] for layer in range(1, self.layers + 1)])


@dataclass(frozen=True)
class Waves:
    """The two networks, with the steps at which their states are computed."""

    nets: tuple[Net, Net]
    steps: tuple[np.ndarray, np.ndarray]

    @property
    def counts(self) -> tuple[int, int]:
        """Steps of the recurrent network, and of attention."""
        recurrent, attention = (int(each.max()) for each in self.steps)
        return recurrent, attention


def waves(length: int, layers: int, mode: str, cores: int) -> Waves:
    recurrent, attention = (Net(kind, length, layers, mode == GENERATING) for kind in (False, True))
    return Waves((recurrent, attention), (recurrent.schedule(cores), attention.schedule(cores)))


def captions(found: Waves) -> list[str]:
    """Numbers of states at each step, new and known."""
    texts = []
    for step in range(1, max(found.counts) + 1):
        parts = [
            f"{name} {int((each == step).sum())} at once, {int((each <= step).sum())} of {each.size} known"
            for name, each in zip(("recurrent", "attention"), found.steps, strict=True)
        ]
        texts.append(f"Step {step}: {'; '.join(parts)}.")
    return texts


def equation(found: Waves, cores: int) -> str:
    """Steps of both, by the formula where one holds, LaTeX."""
    net = found.nets[0]
    T, L = net.length, net.layers
    recurrent, attention = found.counts
    formulas = ("T L=", "T L=") if net.generating else ("T+L-1=", "L=")
    ways = formulas if cores == ANY else ("", "")
    return (
        rf"T={T},\; L={L}:\qquad \mathrm{{recurrent}}\;\; {ways[0]}{recurrent},"
        rf"\qquad \mathrm{{attention}}\;\; {ways[1]}{attention}\;\;\text{{steps}}"
    )


# --- Counted -----------------------------------------------------------------------------------------


def products(kind: str, T: int, H: int) -> int:
    """Multiplications in the matrix products of one layer; of attention by the pairs that the mask leaves."""
    return 4 * T * H * H + T * (T + 1) * H if kind == ATTENTION else 2 * BLOCKS[kind] * T * H * H


def kept_state(kind: str, T: int, H: int) -> int:
    """Numbers that a layer keeps behind T positions to go on: state, memory cell; keys and values."""
    return 2 * T * H if kind == ATTENTION else 2 * H if kind == LSTM else H


def counted(count: str, width: int) -> dict[str, list[int]]:
    """What is counted, of each kind at each of LENGTHS."""
    of = dict(zip(COUNTS, (products, kept_state), strict=True))[count]
    return {kind: [of(kind, T, width) for T in LENGTHS] for kind in (RNN, GRU, LSTM, ATTENTION)}


def reason(count: str, kind: str) -> str:
    """What makes up a count of one kind, in words."""
    if count == PRODUCTS:
        return {
            RNN: "It has one block of weights: 2 H² at each position",
            GRU: "It has three blocks of weights: 6 H² at each position",
            LSTM: "It has four blocks of weights: 8 H² at each position",
            ATTENTION: "It has 4 H² at each position, and 2 H for each pair of positions",
        }[kind]
    return {
        RNN: "It keeps its state, and nothing else",
        GRU: "Its gates are not kept, only its state is",
        LSTM: "It keeps a state and a memory cell",
        ATTENTION: "It keeps a key and a value of each position",
    }[kind]


# --- Measured ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Times:
    """
    Attributes:
        lengths: of all kinds. seconds: kind -> of one pass, as far as they are measured.
        width: H. where: the machine, in words.
    """

    lengths: list[int]
    seconds: dict[str, list[float]]
    width: int
    where: str

    @property
    def columns(self) -> dict[str, list[float]]:
        """Seconds, NaN where nothing is measured yet."""
        return {kind: line + [nan] * (len(self.lengths) - len(line)) for kind, line in self.seconds.items()}


def layer(kind: str, width: int) -> Callable[..., object]:
    """One layer, called with x (1, T, H)."""
    if kind == ATTENTION:
        return partial(seeded(lambda: Attention(width, HEADS)), causal=True)
    return seeded(lambda: Recurrent(kind.lower(), width, width))  # type: ignore[arg-type]


@torch.no_grad()
def shortest(call: Callable[[], object], budget: float) -> float:
    """Seconds of the shortest of the calls that fit into a budget, two at least."""
    taken: list[float] = []
    end = time.perf_counter() + budget
    while len(taken) < 2 or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return min(taken)


def timings(
    width: int, lengths: tuple[int, ...] = LENGTHS, budget: float = 0.1
) -> Iterator[tuple[float, Times]]:
    """One pass of each kind over one sequence, by its length: the share done, and the times so far."""
    where = (
        f"Measured here: processor {platform.machine()}, {torch.get_num_threads()} threads, "
        f"torch {torch.__version__}; the shortest of the calls within {budget:g} s."
    )
    kinds = {kind: layer(kind, width) for kind in (RNN, GRU, LSTM, ATTENTION)}
    seconds: dict[str, list[float]] = {kind: [] for kind in kinds}
    for n, T in enumerate(lengths):
        x = torch.randn(1, T, width, generator=torch.Generator().manual_seed(0))
        for m, (kind, call) in enumerate(kinds.items(), start=1):
            seconds[kind].append(shortest(partial(call, x), budget))
            share = (len(kinds) * n + m) / (len(kinds) * len(lengths))
            yield share, Times(list(lengths), {k: list(v) for k, v in seconds.items()}, width, where)


def kept() -> Times:
    """The measurement that the bench `recurrent` keeps, of width 64."""
    text = (record.HERE / record.RESULTS / "recurrent.json").read_text(encoding="utf-8")
    result = json.loads(text)
    rows = {
        int(match[1]): row
        for row in result["rows"]
        if (match := re.fullmatch(r"GRU over (\d+) steps", row["case"]))
    }
    seconds = {GRU: [row["ours"] for row in rows.values()], ATTENTION: [row["peer"] for row in rows.values()]}
    return Times(list(rows), seconds, 64, f"Kept: {record.when(result)}")


def growth(times: Times) -> str:
    """Growth of each kind's time from the first to the last length, in words."""
    first, last = times.lengths[0], times.lengths[-1]
    told = [f"{kind} × {values[-1] / values[0]:.3g}" for kind, values in times.seconds.items()]
    return f"From T = {first} to {last:,}, a factor of {last // first}, times grow: {', '.join(told)}."
