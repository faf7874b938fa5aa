"""Baum–Welch on letters, step by step: what each state shows, and nats per letter; start after start."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from datamodules import letters, pydocs
from modules.latent.hmm import HMM

LENGTH, MOST, LEAST = 100, 10_000, 200  # letters of a sequence; of a text, at most and at least
STEPS, STARTS = 50, 8


def corpus() -> str:
    """The first letters of the Python documentation."""
    return letters.spelled(pydocs.text()[: 3 * MOST])[:MOST]


def sequences(text: str) -> Tensor:
    """A text in 27 symbols, (B, LENGTH) int64, −1 behind its end.

    Raises:
        ValueError: it is too short; one sentence.
    """
    spelled = letters.spelled(text).strip()[:MOST]
    if len(spelled) < LEAST:
        raise ValueError(f"The text has {len(spelled)} letters and spaces: at least {LEAST} are needed.")
    x = letters.numbers(spelled)
    missing = -len(x) % LENGTH
    return torch.cat([x, x.new_full((missing,), -1)]).reshape(-1, LENGTH)


def frequencies(x: Tensor) -> Tensor:
    """Frequencies of the 27 symbols, (27,)."""
    counts = x[x >= 0].bincount(minlength=len(letters.ALPHABET)).double()
    return counts / counts.sum()


def unigram(x: Tensor) -> float:
    """Nats per letter of the frequencies alone: a chain of one state."""
    p = frequencies(x)
    return -float(torch.xlogy(p, p).sum())


@dataclass(frozen=True)
class Run:
    """EM from one start, F = STEPS + 1 frames; the states in the order of how much they like "a" at the end.

    Attributes:
        emissions: (F, K, 27).
        transitions: (F, K, K).
        rates: (F,) −log p, nats per letter.
    """

    emissions: Tensor
    transitions: Tensor
    rates: list[float]

    @property
    def owned(self) -> Tensor:
        """(F, K, 27) each state's share in a letter, all states alike beforehand; 0 where none shows it."""
        return self.emissions / self.emissions.sum(1, keepdim=True).clamp(min=1e-300)

    def prefers(self, frame: int, state: int) -> str:
        """The symbols that this state shows more often than any other state does."""
        best = self.owned[frame].argmax(0) == state
        shown = self.emissions[frame].sum(0) > 0
        return "".join(letters.ALPHABET[i] for i in (best & shown).nonzero().flatten().tolist())


@torch.inference_mode()
def learn(x: Tensor, states: int, seed: int, steps: int = STEPS) -> Run:
    """Baum–Welch from the start of this seed."""
    model, count = HMM(states, "categorical", vocab_size=len(letters.ALPHABET)), int((x >= 0).sum())
    model.initialize(x, torch.Generator().manual_seed(seed))
    emissions, transitions, rates = [], [], []
    for step in range(steps + 1):
        stats = model.e_step(x)
        emissions.append(model.emission.probs.clone())
        transitions.append(model.transition.clone())
        rates.append(-float(stats["loglik"]) / count)
        if step < steps:
            model.m_step(stats)
    order = emissions[-1][:, letters.ALPHABET.index("a")].argsort(descending=True)
    return Run(torch.stack(emissions)[:, order], torch.stack(transitions)[:, order][:, :, order], rates)


def starts(x: Tensor, states: int, first: int) -> Iterator[tuple[float, list[Run]]]:
    """EM from STARTS seeds, one after the other; yields the share done and the runs so far."""
    runs: list[Run] = []
    for i in range(STARTS):
        runs.append(learn(x, states, first + i))
        yield (i + 1) / STARTS, list(runs)


def order_of(run: Run) -> list[int]:
    """The 27 symbols, first those that the first state likes best at the end."""
    return (-run.owned[-1, 0]).argsort(stable=True).tolist()


def visible(text: str) -> str:
    return text.replace(" ", "␣")
