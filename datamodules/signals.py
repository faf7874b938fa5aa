"""Signals: audio-like waves from a linear recurrence of order two, a resonance driven by noise.

    x_t = a_1 x_{t-1} + a_2 x_{t-2} + s ε_t,    a_1 = 2 r cos 2πf,  a_2 = -r²

The poles r e^{±2πif} of the recurrence ring at f cycles a step and fade by r a step: what a plucked string,
or one formant of a voice, does. s makes the variance 1, and the first two values are drawn from the
stationary distribution, so a whole signal has one normal distribution, whose entropy, `least_nll`, no
density beats.

Shapes: a batch is x (B, T) float and y (B,) int64, all 0.

Reference: Yule 1927.
"""

import math
from typing import Any

import torch
from torch import Tensor

from datamodules.base import Drawn, within


class Signals(Drawn):
    """Signals, of which every split is its own draw.

    Args:
        length: T.
        frequency: f, cycles a step, below one half.
        decay: r, in [0, 1).
        batch_size: signals per optimizer step over all processes together.
        seed: of the order of each epoch; the signals themselves are the same for every seed.
        num_train, num_val, num_test: signals in each split.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self, length: int = 64, frequency: float = 0.06, decay: float = 0.97, batch_size: int = 128,
        seed: int = 0, num_train: int = 4_000, num_val: int = 1_000, num_test: int = 2_000,
    ) -> None:  # fmt: skip
        within(3, 10_000, length=length)
        super().__init__(batch_size, seed, length, num_train, num_val, num_test)
        if not 0 < frequency < 0.5:
            raise ValueError(f"frequency is {frequency:g}: it must be between 0 and a half, cycles a step.")
        if not 0 <= decay < 1:
            raise ValueError(
                f"decay is {decay:g}: it must be at least 0 and below 1, or the signal explodes."
            )
        self.length, self.frequency, self.decay = length, frequency, decay

    @property
    def slopes(self) -> tuple[float, float]:
        """a_1 and a_2."""
        return 2 * self.decay * math.cos(2 * math.pi * self.frequency), -(self.decay**2)

    @property
    def neighbours(self) -> float:
        """Cov(x_t, x_{t+1}) at variance 1: ρ = a_1 ρ_0 + a_2 ρ (Yule and Walker's first equation)."""
        a1, a2 = self.slopes
        return a1 / (1 - a2)

    @property
    def scale(self) -> float:
        """s: what is left of variance 1 when the last two values are known."""
        a1, a2 = self.slopes
        rho = self.neighbours
        return math.sqrt(1 - a1 * rho - a2 * (a1 * rho + a2))

    @property
    def least_nll(self) -> float:
        """The entropy of a signal, nats: of its first two values, then of every step."""
        return 0.5 * (
            self.length * math.log(2 * math.pi * math.e)
            + math.log(1 - self.neighbours**2)
            + (self.length - 2) * math.log(self.scale**2)
        )

    def draw(self, count: int, seed: int) -> tuple[Tensor, Tensor]:
        """(count, T) and zeros (count,)"""
        noise = torch.randn(
            count, self.length, generator=torch.Generator().manual_seed(seed), dtype=torch.float64
        )
        (a1, a2), rho, x = self.slopes, self.neighbours, noise * self.scale
        x[:, 0] = noise[:, 0]
        x[:, 1] = rho * x[:, 0] + math.sqrt(1 - rho**2) * noise[:, 1]
        for t in range(2, self.length):
            x[:, t] += a1 * x[:, t - 1] + a2 * x[:, t - 2]
        return x.float(), torch.zeros(count, dtype=torch.int64)

    @property
    def sizes(self) -> dict[str, Any]:
        return {"event_shape": (self.length,), "num_features": self.length}

    def describe(self) -> dict[str, Any]:
        return {
            "name": "Signals",
            "length": self.length,
            "slopes": list(self.slopes),
            "scale": self.scale,
            "splits": self.counts,
            "least_nll": self.least_nll,
        }
