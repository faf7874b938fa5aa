"""Training before the reader's eyes: one step at a time, for as long as somebody asks for the next."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import torch
from torch import Tensor
from torch.optim.lr_scheduler import LRScheduler

Look = TypeVar("Look")


def training_steps(
    loss: Callable[[], Tensor],
    optimizer: torch.optim.Optimizer,
    steps: int,
    schedule: LRScheduler | None = None,
    clip: float | None = None,
) -> Iterator[tuple[int, float]]:
    """Steps of gradient descent: yields how many were made, 0 to `steps`, and the loss there.

    Between two of them whoever asks sees the model as it is after that many steps, may stop for good, or
    go on later. Only the optimizer's parameters get gradients.

    Args:
        loss: the loss of the next batch, a scalar; it may draw the batch.
        schedule: of the learning rate, a step of it after each.
        clip: bound on the norm of the gradient.
    """
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    for done in range(steps + 1):
        with torch.enable_grad():
            now = loss()
        yield done, now.item()
        if done == steps:
            return
        optimizer.zero_grad()
        now.backward(inputs=parameters)  # type: ignore[no-untyped-call]
        if clip is not None:
            torch.nn.utils.clip_grad_norm_(parameters, clip)
        optimizer.step()
        if schedule is not None:
            schedule.step()


def watch(steps: int, looks: Iterable[tuple[int, Look]]) -> Iterator[tuple[float, list[Look]]]:
    """A training as a reader watches it: of each look, after so many of `steps`, the share done and all looks
    so far, in a list that stays as it is."""
    results = list[Look]()
    for done, look in looks:
        results = [*results, look]
        yield done / steps, results
