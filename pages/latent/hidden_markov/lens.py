"""A hidden Markov model on one short sequence: forward, backward, smoothing and Viterbi with all numbers."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor

from datamodules import cells, chains, letters
from lab.lenses.typed import is_square
from modules.latent import forward_backward
from modules.latent.hmm import HMM

Algorithm = Literal["forward", "backward", "smoothing", "Viterbi"]
LONGEST = 40  # observations of a trellis


@dataclass(frozen=True)
class World:
    """A model and the names of what it hides and shows."""

    model: HMM
    states: list[str]
    symbols: str

    def read(self, typed: str) -> tuple[Tensor, str]:
        """A typed sequence as numbers (T,), and a sentence on what is left out ("" if nothing is).

        Raises:
            ValueError: nothing is left.
        """
        text = letters.spelled(typed) if " " in self.symbols else re.sub(r"[\s,;]", "", typed.lower())
        strange = list(dict.fromkeys(c for c in text if c not in self.symbols))
        kept = [self.symbols.index(c) for c in text if c in self.symbols]
        texts = f"{', '.join(map(repr, strange[:5]))} cannot be shown: left out." if strange else ""
        if not kept:
            raise ValueError(f"There is no observation: type some of {' '.join(self.symbols)}.")
        if len(kept) > LONGEST:
            texts += f" Only the first {LONGEST} observations are used."
        return torch.tensor(kept[:LONGEST]), texts.strip()


def known(kind: Literal["casino", "weather"]) -> HMM:
    """A chain of `datamodules.chains` with its true parameters."""
    truth = chains.TRUTH[kind]
    model = HMM(2, "categorical", vocab_size=len(truth.emission[0]))
    model.set_parameters(torch.tensor(truth.initial), torch.tensor(truth.transition))
    model.emission.probs.copy_(torch.tensor(truth.emission, dtype=torch.float64))
    model.initial /= model.initial.sum()
    for rows in (model.transition, model.emission.probs):
        rows.copy_((rows / rows.sum(1, keepdim=True) * 1e6).round() / 1e6 if kind == "weather" else rows)
        rows /= rows.sum(1, keepdim=True)
    return model


def restless() -> HMM:
    """The weather with a chain that likes to change: the likeliest path leaves the likeliest states."""
    model = known("weather")
    model.set_parameters(torch.tensor([0.5, 0.5]), torch.tensor([[0.3, 0.7], [0.9, 0.1]]).double())
    return model


def world(name: str) -> World:
    """One of the worlds whose parameters are known."""
    if name == "Casino":
        return World(known("casino"), ["fair", "loaded"], "123456")
    return World(known("weather") if name == "Weather" else restless(), ["sun", "rain"], "wsc")


def learned(model: HMM) -> World:
    """The states that were found in letters, named by what they show: the one of "a" first."""
    first = int(model.emission.probs[:, 1].argmax())
    names = ["consonant"] * model.states
    names[first] = "vowel"
    return World(model, names, letters.ALPHABET)


def replaced(world: World, typed: str) -> World:
    """The world with the transitions that are typed, if there are some; see `with_transitions`."""
    return replace(world, model=with_transitions(world.model, typed)) if typed.strip() else world


def with_transitions(model: HMM, typed: str) -> HMM:
    """The model with other transitions, typed as rows of numbers: "0.9 0.1; 0.2 0.8", divided by their sums.

    Raises:
        ValueError: they are no K rows of K numbers that are not negative; one sentence.
    """
    rows = cells.rows(typed, is_square)[0]
    k = model.states
    for row in rows:
        for word in row:
            if not re.fullmatch(r"\d*\.?\d+", word):
                raise ValueError(f"The transitions have {word[:20]!r}: type {k} rows as {shown(model)}.")
    if [len(row) for row in rows] != [k] * k or any(sum(map(float, row)) <= 0 for row in rows):
        raise ValueError(f"The transitions need {k} rows of {k} numbers: type them as {shown(model)}.")
    matrix = torch.tensor([[float(word) for word in row] for row in rows], dtype=torch.float64)
    other = HMM(k, "categorical", vocab_size=model.emission.symbols)
    other.set_parameters(model.initial, matrix / matrix.sum(1, keepdim=True))
    other.emission.probs.copy_(model.emission.probs)
    return other


def shown(model: HMM) -> str:
    """The transitions as they are typed."""
    return "; ".join(" ".join(f"{p:.3g}" for p in row) for row in model.transition.tolist())


# --- One sequence ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Found:
    """All that is known of one sequence x (T,) under a model of K states.

    Attributes:
        b: (T, K) p(x_t | z_t = k).
        alpha, beta, gamma, delta: (T, K), not scaled: δ is the probability of the best path to a state.
        xi: (T − 1, K, K).
        pointers: (T, K) where the best path to a state comes from; row 0 is of no use.
        path, likeliest: (T,) Viterbi's path and each frame's largest γ.
    """

    model: HMM
    x: Tensor
    b: Tensor
    alpha: Tensor
    beta: Tensor
    gamma: Tensor
    delta: Tensor
    xi: Tensor
    pointers: Tensor
    path: Tensor
    likeliest: Tensor

    @property
    def total(self) -> float:
        """p(x)."""
        return float(self.alpha[-1].sum())

    @property
    def best(self) -> float:
        """p(x, z) of Viterbi's path."""
        return float(self.delta[-1].max())

    def joint(self, path: Tensor) -> float:
        """p(x, z) of a path (T,)."""
        return float(self.model.log_joint(self.x[None], path[None]).exp())


def infer(model: HMM, x: Tensor) -> Found:
    """Run everything on x (T,).

    Raises:
        ValueError: the model gives x probability 0.
    """
    log_b = model.log_emissions(x[None])
    start, rows = model.initial, model.transition
    log_alpha = forward_backward.log_forward(start, rows, log_b)
    log_beta = forward_backward.log_backward(rows, log_b)
    log_p = log_alpha[:, -1].logsumexp(1)
    if not bool(log_p.isfinite()):
        raise ValueError("No path shows this sequence: its probability is 0. Change it, or the transitions.")
    xi = forward_backward.expected_transitions(log_alpha, log_beta, rows, log_b, log_p[:, None, None])[0]
    path, _, delta = forward_backward.viterbi(start, rows, log_b)
    gamma = (log_alpha + log_beta - log_p[:, None, None]).exp()[0]
    ways = delta[0, :-1, :, None] + rows.log()  # (T − 1, K, K)
    pointers = torch.cat([torch.zeros(1, model.states, dtype=torch.int64), ways.argmax(1)])
    return Found(
        model, x, log_b[0].exp(), log_alpha[0].exp(), log_beta[0].exp(), gamma, delta[0].exp(), xi, pointers,
        path[0], gamma.argmax(1),
    )  # fmt: skip


def drawn(model: HMM, length: int, seed: int) -> tuple[Tensor, Tensor]:
    """Hidden states and what they show, (T,) each."""
    z, x = model.sample_states(1, length=length, generator=torch.Generator().manual_seed(seed))
    return z[0], x[0]


# --- Numbers and names ------------------------------------------------------------------------------


def paths(states: int, length: int) -> int:
    """K^T."""
    return states**length


def products(states: int, length: int) -> int:
    """Multiplications by A in a forward pass: K² a step."""
    return (length - 1) * states**2


def symbols_of(x: Sequence[int] | Tensor, symbols: str) -> list[str]:
    """Symbols that were seen, the space made visible."""
    return [symbols[int(v)].replace(" ", "␣") for v in x]


def numbers(x: Sequence[int]) -> Tensor:
    return torch.tensor(x)


def by_state(result: Found, algorithm: Algorithm, states: Sequence[str]) -> dict[str, Tensor]:
    """Values that an algorithm fills in: state -> (T,)."""
    table = {
        "forward": result.alpha, "backward": result.beta, "smoothing": result.gamma, "Viterbi": result.delta
    }[algorithm]  # fmt: skip
    return {f"{i + 1} {name}": column for i, (name, column) in enumerate(zip(states, table.T, strict=True))}


def steps_into(frames: int, length: int, algorithm: Algorithm) -> list[int]:
    """Index of the transition that each frame looks at."""
    last = length - 2
    if algorithm == "backward":
        return [max(0, min(last, length - 1 - f)) for f in range(frames)]
    return [max(0, min(last, f - 1 if f < length else 2 * length - 1 - f)) for f in range(frames)]


def strip(result: Found, states: Sequence[str], truth: Tensor | None) -> dict[str, Tensor]:
    """Rows of what is known of the states, (T,) each from 0 to 1; of two states the second's share."""
    k = result.model.states
    scale = max(1, k - 1)
    shown = {f"γ of {s}": result.gamma[:, i] for i, s in enumerate(states) if k > 2 or i == 1}
    shown |= {"largest γ": result.likeliest / scale, "best path": result.path / scale}
    return shown | ({} if truth is None else {"drawn": truth / scale})


def right(path: Tensor, truth: Tensor) -> int:
    return int((path == truth).sum())
