"""Training that is watched, whose knobs turn in mid-run, and that is wound back and gone on from anywhere.

A recipe says what is trained; a history says which values the knobs had from which frame on. Both together
fix every bit: the noise of step t comes from a generator of its own, seeded by (seed, t), so a state of the
training is no more than the weights and what its optimizers remember. Of these some are kept, ever fewer as
the run grows, and any other is trained again from the nearest one before it.

    run = store.run(recipe, history)
    run.advance(until=40, seconds=0.3)     # a chunk: as many frames as fit into the time
    run.frames()                           # what is drawn, one dictionary of arrays a frame
    model = run.restore(17)                # the model as it was at frame 17, bit by bit

A run whose knobs were turned at frame s is a branch: it shares the frames up to s with the run that it left.
Readers who ask for the same recipe and history share one run; whoever asks first computes, under its lock.
"""

import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_iter

from lab.errors import UserError
from lab.seeding import seeded

MOST_KEPT = 18 << 20  # bytes of states that one history keeps; its frames come on top
MORE_KEPT = 72 << 20  # the same, where with less a jump back would take longer than `JUMP`
JUMP = 2.0  # seconds of training between two states that are kept
MOST_STORED = 200 << 20  # bytes that all runs of a process keep together
CLIP = 5.0  # the most that the norm of a gradient may be, where no knob says otherwise

Knobs = tuple[tuple[str, float], ...]
Frame = Mapping[str, np.ndarray]
Optimizers = Mapping[str, torch.optim.Optimizer]  # by the player whose weights each moves
State = tuple[dict[str, Any], dict[str, dict[str, Any]]]  # of the model, of each optimizer


@dataclass(frozen=True)
class Segment:
    """The knobs from frame `start` on."""

    start: int
    knobs: Knobs


History = tuple[Segment, ...]  # in rising order; the first starts at frame 0


class Recipe(Protocol):
    """Model, data and settings of a training. Hashable: equal recipes train alike. What has one loss is an
    `OfOneLoss`.

    Attributes:
        seed: of the first weights and of every draw, below 10,000.
        stride: steps of training between two frames.
    """

    @property
    def seed(self) -> int: ...

    @property
    def stride(self) -> int: ...

    def build(self) -> nn.Module:
        """The untrained network; called where torch's generator is seeded."""

    def optimizers(self, model: Any) -> Optimizers:
        """One for each player, new."""

    def step(
        self, model: Any, optimizers: Any, knobs: Mapping[str, float], generator: torch.Generator
    ) -> None:
        """Train for a step, at the knobs' rates; every draw from `generator`."""

    def look(self, model: Any, knobs: Mapping[str, float]) -> Frame:
        """Compute what is drawn of the model as it is, and its numbers."""


class OfOneLoss:
    """Base of recipes that lower one loss, by Adam."""

    def loss(self, model: Any, knobs: Mapping[str, float], generator: torch.Generator) -> Tensor:
        """The loss of the next batch, a scalar; every draw from `generator`.

        `knobs["rate"]` is Adam's. `knobs["clip"]`, if there is such a knob, is the most that the norm of the
        gradient may be; 0 leaves it as it is.
        """
        raise NotImplementedError

    def optimizers(self, model: nn.Module) -> Optimizers:
        return {"all": torch.optim.Adam(model.parameters(), fused=True)}

    def step(
        self, model: nn.Module, optimizers: Optimizers, knobs: Mapping[str, float], generator: torch.Generator
    ) -> None:
        optimizer = optimizers["all"]
        set_rate(optimizer, knobs["rate"])
        loss = self.loss(model, knobs, generator)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        if most := knobs.get("clip", CLIP):
            torch.nn.utils.clip_grad_norm_(model.parameters(), most)
        optimizer.step()


def set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """The learning rate from now on."""
    for group in optimizer.param_groups:
        group["lr"] = rate


# --- Histories ----------------------------------------------------------------------------------


def knobs_of(values: Mapping[str, float]) -> Knobs:
    """Values of the knobs by name, in one order."""
    return tuple(sorted((name, float(value)) for name, value in values.items()))


def turned(history: History, at: int, knobs: Knobs) -> History:
    """The history whose knobs are turned at frame `at`; what had come after is forgotten."""
    before = tuple(part for part in history if part.start < at)
    if before and before[-1].knobs == knobs:
        return before
    return (*before, Segment(at, knobs)) if before else (Segment(0, knobs),)


def leading(history: History, at: int) -> Knobs:
    """The knobs that lead on from frame `at`."""
    return [part.knobs for part in history if part.start <= at][-1]


def spell(history: History) -> str:
    """A history as text: "0:batch=256,rate=0.01;30:batch=256,rate=0.001"."""
    return ";".join(
        f"{part.start}:" + ",".join(f"{name}={value:.12g}" for name, value in part.knobs) for part in history
    )


def parse(text: str, within: Mapping[str, tuple[float, float]], most: int) -> History:
    """The history that a text spells.

    Args:
        within: the knobs that each part must name, with the least and the most that each may be.
        most: the last frame that a run may reach.

    Raises:
        UserError: it spells none; says where.
    """
    parts: list[Segment] = []
    for number, piece in enumerate(text.split(";"), 1):
        start, _, rest = piece.partition(":")
        pairs = [re.fullmatch(r"(\w+)=(-?\d+(?:\.\d+)?(?:e-?\d+)?)", word) for word in rest.split(",")]
        named = {pair[1]: float(pair[2]) for pair in pairs if pair}
        if not start.isdecimal() or not all(pairs) or set(named) != set(within):
            wants = ",".join(f"{name}=…" for name in sorted(within))
            raise UserError(f"Part {number} of the course reads {piece[:40]!r}: it should be 0:{wants}.")
        for name, value in named.items():
            low, high = within[name]
            if not low <= value <= high:
                raise UserError(
                    f"Part {number} of the course says {name}={value:g}: it runs from {low:g} to {high:g}."
                )
        parts.append(Segment(int(start), knobs_of(named)))
    starts = [part.start for part in parts]
    if starts[0] != 0 or sorted(set(starts)) != starts or starts[-1] > most:
        raise UserError(f"The parts of the course start at 0 and rise to {most} at most, not at {starts}.")
    return tuple(parts)


# --- One run ------------------------------------------------------------------------------------


class Run:
    """A recipe trained along a history, as far as somebody has asked for.

    Attributes:
        first: the frame from which on it is its own; before, it is its parent's.
        kept: states by frame.
        recorded: whether its frames were kept in a file, and not trained here.
    """

    def __init__(
        self, recipe: Recipe, history: History, parent: "Run | None" = None, frames: Sequence[Frame] = ()
    ) -> None:
        self.recipe, self.history, self.parent = recipe, history, parent
        self.first = history[-1].start
        self.knobs = dict(history[-1].knobs)
        self.lock = threading.RLock()
        self.own, self.recorded = list(frames), bool(frames)
        self.kept: dict[int, State] = {}
        self.spacing = 1
        self.seconds = 0.0  # that a frame took to train, on average
        self.head: tuple[nn.Module, Optimizers] | None = None  # as it is at the newest frame

    @property
    def count(self) -> int:
        """Frames that are there."""
        if self.parent is None:
            return len(self.own)
        before = min(self.parent.count, self.first + 1)
        return before + len(self.own)

    def frames(self) -> list[Frame]:
        """All that are there, from the untrained model on."""
        with self.lock:
            return ([] if self.parent is None else self.parent.frames()[: self.first + 1]) + self.own

    def advance(self, until: int, seconds: float, rest: Callable[[], float] = lambda: 0.0) -> None:
        """Train on until there is frame `until`, or for so long; a frame at least where one is missing.

        Args:
            rest: called after each frame; its seconds are not counted.
        """
        end = time.monotonic() + seconds
        while self.went_on(until):
            end += rest()
            if time.monotonic() >= end:
                return

    def went_on(self, until: int) -> bool:
        """Train up to the next frame, of the run that this one left where that has not come so far; whether
        one was missing."""
        with self.lock:
            if self.parent is not None and self.parent.count <= self.first:
                return self.parent.went_on(self.first)
            if self.count > until:
                return False
            self.add()
            return True

    def add(self) -> None:
        """Train up to the next frame, and keep what is drawn of it."""
        at = self.count
        if self.head is None:
            self.head = self.trained(max(at - 1, 0))
        model, optimizers = self.head
        if at > 0:
            start = time.monotonic()
            self.train(model, optimizers, at - 1, at)
            trained = at - self.first
            self.seconds += (time.monotonic() - start - self.seconds) / max(trained, 1)
        with torch.no_grad():
            self.own.append(self.recipe.look(model.eval(), self.knobs))
        self.keep(at, model, optimizers)

    def train(self, model: nn.Module, optimizers: Optimizers, start: int, end: int) -> None:
        """Train from frame `start` of this part of the history to frame `end`."""
        stride = self.recipe.stride
        model.train()
        for step in range(start * stride, end * stride):
            generator = torch.Generator().manual_seed(self.recipe.seed * 100_003 + step)
            with torch.enable_grad():
                self.recipe.step(model, optimizers, self.knobs, generator)

    def restore(self, frame: int) -> nn.Module:
        """The model as it was at a frame that is there, in evaluation mode; yours to change.

        Raises:
            ValueError: there is no such frame yet.
        """
        if not 0 <= frame < self.count:
            raise ValueError(f"frame is {frame}: there are {self.count}.")
        return self.trained(frame)[0].eval()

    def trained(self, frame: int) -> tuple[nn.Module, Optimizers]:
        """Model and optimizers at a frame: the nearest state before it that is kept, and trained on."""
        with self.lock:
            if self.parent is not None and frame <= self.first:
                return self.parent.trained(frame)
            start = max((f for f in self.kept if f <= frame), default=self.first)
            if start in self.kept:
                model, optimizers = self.fresh()
                of_model, of_optimizers = self.kept[start]
                model.load_state_dict(of_model)
                for name, state in of_optimizers.items():
                    optimizers[name].load_state_dict(deepcopy(state))  # it takes the tensors that it is given
            elif self.parent is not None:
                model, optimizers = self.parent.trained(start)
            else:
                model, optimizers = self.fresh()
            self.train(model, optimizers, start, frame)
            return model, optimizers

    def fresh(self) -> tuple[nn.Module, Optimizers]:
        model = seeded(self.recipe.build, self.recipe.seed)
        return model, self.recipe.optimizers(model)

    # --- What is kept -------------------------------------------------------------------------------

    def keep(self, frame: int, model: nn.Module, optimizers: Optimizers) -> None:
        """Keep the state of every `spacing`-th frame; where they get too many, of every other one of them."""
        if frame % self.spacing:
            return
        of_each = {name: optimizer.state_dict() for name, optimizer in optimizers.items()}
        self.kept[frame] = deepcopy((model.state_dict(), of_each))
        while self.kept and states_size(self.kept.values()) > self.most_kept() - self.inherited():
            self.spacing *= 2
            self.kept = {f: state for f, state in self.kept.items() if f % self.spacing == 0}
            if self.spacing > frame:
                self.kept.clear()

    def most_kept(self) -> int:
        """Bytes that the states may take: more of them where every other one would be too few for a jump."""
        return MOST_KEPT if 2 * self.spacing * self.seconds <= JUMP else MORE_KEPT

    def inherited(self) -> int:
        """Bytes of the states that the runs it branched from keep for it."""
        if self.parent is None:
            return 0
        states = [state for f, state in list(self.parent.kept.items()) if f <= self.first]
        return states_size(states) + self.parent.inherited()

    def own_size(self) -> int:
        """Bytes that this run keeps beside its parent's."""
        frames = sum(values.nbytes for frame in list(self.own) for values in frame.values())
        return frames + states_size(list(self.kept.values()))

    def size(self) -> int:
        """Bytes of the whole history: frames and states."""
        before = [] if self.parent is None else self.parent.frames()[: self.first + 1]
        return self.own_size() + self.inherited() + sum(v.nbytes for f in before for v in f.values())


def stacked(frames: Sequence[Frame], name: str) -> np.ndarray:
    """One entry of all frames, along a new first axis."""
    return np.stack([frame[name] for frame in frames])


def states_size(states: Any) -> int:
    """Bytes of all tensors in some states."""
    return sum(leaf.nbytes for state in states for leaf in tree_iter(state) if isinstance(leaf, Tensor))


# --- All runs of a process ------------------------------------------------------------------------


class Store:
    """The runs that readers have asked for, the same for the same recipe and history; the one that nobody
    has asked for longest goes first when they take too much."""

    def __init__(self, most: int = MOST_STORED) -> None:
        self.most = most
        self.runs: OrderedDict[tuple[Recipe, History], Run] = OrderedDict()
        self.lock = threading.Lock()

    def run(self, recipe: Recipe, history: History) -> Run:
        """The run along this history, and those that it branches from."""
        with self.lock:
            result = self.find(recipe, history)
            while len(self.runs) > len(history) and sum(r.own_size() for r in self.runs.values()) > self.most:
                self.runs.popitem(last=False)
            return result

    def find(self, recipe: Recipe, history: History) -> Run:
        key = recipe, history
        parent = self.find(recipe, history[:-1]) if len(history) > 1 else None
        if key not in self.runs:
            self.runs[key] = Run(recipe, history, parent)
        self.runs.move_to_end(key)
        return self.runs[key]
