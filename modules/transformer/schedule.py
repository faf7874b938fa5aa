"""Learning rates of transformers: warm-up, then a cosine, as most are trained today; or warm-up, then the
inverse square root of the step, as the first was.

    cosine   lr(s) = lr·(s + 1)/warmup                                                 for s < warmup
             lr(s) = floor + (lr − floor)·½(1 + cos(π (s − warmup)/(steps − warmup))) until s = steps
    Noam     lr(s) = lr·C^{−½}·min((s + 1)^{−½}, (s + 1)·warmup^{−3/2})

References: Vaswani et al. 2017, arXiv:1706.03762 §5.3 (warm-up, Noam); Loshchilov & Hutter 2016,
arXiv:1608.03983 (cosine).
"""

import math

from torch import Tensor
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from modules.base import require


class PerStep(LRScheduler):
    """Base of schedules that are stepped once per optimizer step: a subclass gives `factor`."""

    def factor(self, step: int) -> float:
        """lr(step)/lr."""
        raise NotImplementedError

    def get_lr(self) -> list[float | Tensor]:
        return [base * self.factor(self.last_epoch) for base in self.base_lrs]


class WarmupCosine(PerStep):
    """Warm-up and cosine.

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


class Noam(PerStep):
    """Warm-up and inverse square root; the optimizer's own rate is a factor, 1 in the paper.

    Args:
        width: C of the model.
        warmup: steps of the linear rise, at least 1.

    Raises:
        ValueError: an argument is below 1.
    """

    def __init__(self, optimizer: Optimizer, width: int, warmup: int = 4000, last_epoch: int = -1) -> None:
        require(1, width=width, warmup=warmup)
        self.width, self.warmup = width, warmup
        super().__init__(optimizer, last_epoch)

    def factor(self, step: int) -> float:
        """lr(step)/lr."""
        return self.width**-0.5 * min((step + 1) ** -0.5, (step + 1) * self.warmup**-1.5)
