"""Warm-up, then a cosine: the learning rate most transformers are trained with.

    lr(s) = lr·(s + 1)/warmup                                              for s < warmup
    lr(s) = floor + (lr − floor)·½(1 + cos(π (s − warmup)/(steps − warmup)))  until s = steps

References: Vaswani et al. 2017, arXiv:1706.03762 §5.3 (warm-up); Loshchilov & Hutter 2016,
arXiv:1608.03983 (cosine).
"""

import math

from torch import Tensor
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler


class WarmupCosine(LRScheduler):
    """Warm-up and cosine, stepped once per optimizer step.

    Args:
        steps: of the whole training; the rate stays at the floor after it.
        warmup: steps of the linear rise.
        floor: the last rate, as a fraction of the optimizer's own.
    """

    def __init__(
        self, optimizer: Optimizer, steps: int, warmup: int = 0, floor: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.steps, self.warmup, self.floor = steps, warmup, floor
        super().__init__(optimizer, last_epoch)

    def factor(self, step: int) -> float:
        """lr(step)/lr."""
        if step < self.warmup:
            return (step + 1) / self.warmup
        done = min(1.0, (step - self.warmup) / max(1, self.steps - self.warmup))
        return self.floor + (1 - self.floor) * 0.5 * (1 + math.cos(math.pi * done))

    def get_lr(self) -> list[float | Tensor]:
        return [base * self.factor(self.last_epoch) for base in self.base_lrs]
