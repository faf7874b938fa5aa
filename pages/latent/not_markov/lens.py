"""A Markov chain seen through a function of its state: how the next symbol depends on how much is remembered.

Reference: [BB] §5.1, example 5.10; its matrix is printed with the distributions as
columns, and under "n = 2".
"""

import re
from dataclasses import dataclass

import torch
from torch import Tensor

from datamodules import cells
from lab.lenses.typed import is_square
from modules.latent.hmm import HMM

PRINTED = [
    [0, 1, 0, 1 / 5, 0],
    [0, 0, 1, 1 / 5, 0],
    [1 / 2, 0, 0, 1 / 5, 0],
    [0, 0, 0, 1 / 5, 1],
    [1 / 2, 0, 0, 1 / 5, 0],
]  # its rows sum to 1.2, 1.2, 0.7, 1.2, 0.7: the columns are the distributions
SHOWN = [0, 0, 0, 1, 1]  # the first three states show a 1, the last two a 2
SYMBOLS = "12"
LONGEST = 10  # symbols of a history


def chain(transitions: Tensor, shown: Tensor) -> HMM:
    """A stationary chain with these transitions (K, K) whose state k shows one symbol, shown[k].

    Raises:
        ValueError: it has more than one stationary distribution.
    """
    k = len(transitions)
    weights, vectors = torch.linalg.eig(transitions.T.to(torch.float64))
    unit = (weights - 1).abs() < 1e-9
    if int(unit.sum()) != 1:
        raise ValueError("The chain falls into parts that never meet: connect them by a transition.")
    stationary = vectors[:, unit][:, 0].real
    stationary = (stationary / stationary.sum()).clamp(min=0)
    model = HMM(k, "categorical", vocab_size=len(SYMBOLS))
    model.set_parameters(stationary / stationary.sum(), transitions)
    model.emission.probs.copy_(torch.nn.functional.one_hot(shown, len(SYMBOLS)))
    return model


def five_states() -> HMM:
    """The text's chain, read by columns."""
    return chain(torch.tensor(PRINTED, dtype=torch.float64).T, torch.tensor(SHOWN))


def one_to_one() -> HMM:
    """Two states, each with its own symbol: what is seen is the chain."""
    return chain(torch.tensor([[0.75, 0.25], [0.5, 0.5]], dtype=torch.float64), torch.tensor([0, 1]))


def lumped() -> HMM:
    """Three states of which two show a 1, and go on alike: what is seen is a Markov chain all the same."""
    transitions = torch.tensor([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.4, 0.4, 0.2]], dtype=torch.float64)
    return chain(transitions, torch.tensor([0, 0, 1]))


CHAINS = {"Five states": five_states, "One state a symbol": one_to_one, "Alike behind a symbol": lumped}


def typed_chain(typed: str, shown: str) -> HMM:
    """A chain from rows of numbers, "0.9 0.1; 0.5 0.5", over their sums, and what its states show, "12".

    Raises:
        ValueError: they cannot be read, or do not fit; one sentence.
    """
    rows = cells.rows(typed, is_square)[0]
    k = len(rows)
    bad = next((w for row in rows for w in row if not re.fullmatch(r"\d*\.?\d+", w)), None)
    if bad is not None:
        raise ValueError(f"The transitions have {bad[:20]!r}, which is no number of 0 or more.")
    if not 2 <= k <= 8 or any(len(row) != k or sum(map(float, row)) <= 0 for row in rows):
        raise ValueError("The transitions need 2 to 8 rows of as many numbers, as in 0.9 0.1; 0.5 0.5.")
    symbols = re.sub(r"[\s,;]", "", shown)
    if len(symbols) != k or set(symbols) - set(SYMBOLS):
        raise ValueError(f"Each of the {k} states shows a 1 or a 2: type {k} of them.")
    transitions = torch.tensor([[float(w) for w in row] for row in rows], dtype=torch.float64)
    return chain(
        transitions / transitions.sum(1, keepdim=True), torch.tensor([SYMBOLS.index(s) for s in symbols])
    )


def read(typed: str) -> tuple[list[int], str]:
    """A history as numbers of symbols, the most recent last, and a sentence on what is left out.

    Raises:
        ValueError: nothing is left.
    """
    text = re.sub(r"[\s,;]", "", typed)
    strange = list(dict.fromkeys(c for c in text if c not in SYMBOLS))
    kept = [SYMBOLS.index(c) for c in text if c in SYMBOLS][-LONGEST:]
    if not kept:
        raise ValueError("There is no history: type 1s and 2s, the most recent last.")
    return kept, f"{', '.join(map(repr, strange[:5]))} is no symbol: left out." if strange else ""


@dataclass(frozen=True)
class Memory:
    """Information in the last h symbols of a history, h = 0 … H.

    Attributes:
        chances: (H + 1,) p(next is 1 | the last h symbols), NaN where these never occur.
        occurs: (H + 1,) probability of the last h symbols.
        states: (H + 1, K) p(state now | the last h symbols).
        counted: (H + 1,) the same chances counted in a drawn sequence; places: (H + 1,) int64, how often.
    """

    chances: Tensor
    occurs: Tensor
    states: Tensor
    counted: Tensor
    places: Tensor


def remember(model: HMM, history: list[int], drawn: Tensor) -> Memory:
    """By ever longer memory; drawn (T,) is a sequence of the chain."""
    next_is_1 = model.emission.probs[:, 0]
    chances, occurs, states, counted, places = [], [], [], [], []
    for h in range(len(history) + 1):
        past = torch.tensor(history[len(history) - h :])
        if h:
            log_p = model.log_prob(past[None])[0]
            now = model.filtered(past[None])[0][0, -1]
            now = now if log_p > -torch.inf else torch.full_like(now, torch.nan)
            occurs.append(float(log_p.exp()))
        else:
            now = model.initial
            occurs.append(1.0)
        ahead = now @ model.transition if h else model.initial
        states.append(now)
        chances.append(float(ahead @ next_is_1))
        windows = drawn.unfold(0, h + 1, 1)
        after = windows[(windows[:, :h] == past).all(1), h] if h else drawn
        places.append(len(after))
        counted.append(float((after == 0).double().mean()) if len(after) else torch.nan)
    exact, often, result = (torch.tensor(v, dtype=torch.float64) for v in (chances, occurs, counted))
    return Memory(exact, often, torch.stack(states), result, torch.tensor(places))


def moves(memory: Memory) -> float:
    """Change of the chance of a 1 once the last symbol is known: 0 of a Markov chain."""
    known = memory.chances[1:]
    known = known[~known.isnan()]
    return float(known.max() - known.min()) if len(known) else 0.0


def spelled(history: list[int], between: str = ", ") -> str:
    return between.join(SYMBOLS[s] for s in history)


def captions_and_equations(model: HMM, history: list[int], memory: Memory) -> tuple[list[str], list[str]]:
    """Captions and equations by length of memory."""
    captions, equations = [], []
    ahead = (model.transition @ model.emission.probs)[:, 0]
    for h, chance in enumerate(memory.chances.tolist()):
        past = spelled(history[len(history) - h :])
        if chance != chance:
            captions.append(f"{past} never occurs: there is nothing to say of what follows.")
            equations.append(rf"p(\text{{{past}}})=0")
            continue
        counted = f"counted {float(memory.counted[h]):.4f}" if memory.places[h] else "never counted"
        captions.append(
            f"{f'After {past}' if h else 'Remembering nothing'}: a 1 with {chance:.6f}; {counted}, at "
            f"{int(memory.places[h]):,} places."
        )
        weights = memory.states[h]
        terms = [rf"{w:.4f}\cdot {a:.4g}" for w, a in zip(weights.tolist(), ahead.tolist(), strict=True) if w]
        if h:
            body = f"{'+'.join(terms)}={chance:.6f}"
            equations.append(rf"\sum_k p(z=k\mid\text{{{past}}})\,p(1\mid k)={body}")
        else:
            equations.append(rf"p(1)={chance:.6f}")
    return captions, equations


def draw(model: HMM, length: int, seed: int) -> Tensor:
    """Draw the symbols that a chain shows, (T,)."""
    return model.sample(1, length=length, generator=torch.Generator().manual_seed(seed))[0]
