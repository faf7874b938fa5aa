"""Chains: sequences drawn from hidden Markov models whose states are known, so that what is learned of them
can be told from the truth.

casino   a die that is changed in secret (Durbin, Eddy, Krogh, Mitchison 1998, §3.2): the fair one shows
         1 … 6 alike, the loaded one shows 6 half of the time
weather  two kinds of days, seen by what a friend does: walks, shops, or cleans
clouds   three Gaussians in the plane; the chain goes round

Shapes: a batch is x (B, T) int64 symbols, or (B, T, 2) float, and z (B, T) int64, the hidden states.
"""

from dataclasses import dataclass
from typing import Any, Literal, get_args

import torch
from torch import Tensor

from datamodules.base import Drawn, within

Kind = Literal["casino", "weather", "clouds"]


@dataclass(frozen=True)
class Truth:
    """The parameters that sequences are drawn with.

    Attributes:
        initial, transition: π (K,) and A (K, K).
        emission: B (K, V), of symbols; of clouds their centres (K, 2).
        spread: standard deviation of a cloud, None of symbols.
    """

    initial: list[float]
    transition: list[list[float]]
    emission: list[list[float]]
    spread: float | None = None


TRUTH: dict[str, Truth] = {
    "casino": Truth([0.5, 0.5], [[0.95, 0.05], [0.1, 0.9]], [[1 / 6] * 6, [0.1] * 5 + [0.5]]),
    "weather": Truth([0.6, 0.4], [[0.7, 0.3], [0.4, 0.6]], [[0.5, 0.4, 0.1], [0.1, 0.3, 0.6]]),
    "clouds": Truth(
        [1.0, 0.0, 0.0],
        [[0.85, 0.15, 0.0], [0.0, 0.85, 0.15], [0.15, 0.0, 0.85]],
        [[-1.0, -0.6], [1.0, -0.6], [0.0, 1.1]],
        0.6,
    ),
}


def pick(p: Tensor, generator: torch.Generator) -> Tensor:
    """A number for each row of p (N, K)."""
    return torch.multinomial(p, 1, generator=generator)[:, 0]


def sample(kind: Kind, count: int, length: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Sequences x and their hidden states z (count, length).

    Raises:
        ValueError: no such kind.
    """
    if kind not in get_args(Kind):
        raise ValueError(f"kind is {kind!r}: it must be one of {', '.join(get_args(Kind))}.")
    truth, generator = TRUTH[kind], torch.Generator().manual_seed(seed)
    transition, emission = torch.tensor(truth.transition), torch.tensor(truth.emission)
    path = [pick(torch.tensor(truth.initial).expand(count, -1), generator)]
    for _ in range(length - 1):
        path.append(pick(transition[path[-1]], generator))
    z = torch.stack(path, 1)
    shown = emission[z]  # (count, length, V or 2)
    if truth.spread is not None:
        return shown + truth.spread * torch.randn(shown.shape, generator=generator), z
    return pick(shown.flatten(0, 1), generator).reshape(count, length), z


class Chains(Drawn):
    """Sequences of one kind; every split is its own draw.

    Args:
        kind: see above.
        length: T.
        batch_size: sequences per step over all processes together.
        seed: of the order of each epoch; the sequences themselves are the same for every seed.
        num_train, num_val, num_test: sequences in each split.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self, kind: Kind = "casino", length: int = 200, batch_size: int = 256, seed: int = 0,
        num_train: int = 256, num_val: int = 64, num_test: int = 128,
    ) -> None:  # fmt: skip
        within(1, 100_000, length=length)
        super().__init__(batch_size, seed, length, num_train, num_val, num_test)
        if kind not in get_args(Kind):
            raise ValueError(f"kind is {kind!r}: it must be one of {', '.join(get_args(Kind))}.")
        self.kind, self.length = kind, length

    def draw(self, count: int, seed: int) -> tuple[Tensor, Tensor]:
        return sample(self.kind, count, self.length, seed)

    @property
    def sizes(self) -> dict[str, Any]:
        truth = TRUTH[self.kind]
        size = len(truth.emission[0])
        shape = (self.length,) if truth.spread is None else (self.length, size)
        return {"event_shape": shape, "vocab_size" if truth.spread is None else "num_features": size}

    def describe(self) -> dict[str, Any]:
        return {
            "name": type(self).__name__,
            "kind": self.kind,
            "length": self.length,
            "splits": self.counts,
        }
