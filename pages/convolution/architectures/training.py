"""The reader's network learns small digits as the page opens, and is kept on the way to be wound back.

Trained by Adam on batches of 64 of the training digits; errors are those of the first 500 training digits and
of all test digits.

Shapes: F looks, N test digits.
"""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lab.errors import UserError
from lab.lenses import stock
from lab.lenses.training import training_steps, watch
from lab.seeding import seeded
from pages.convolution.architectures.nets import Net, measured
from pages.convolution.architectures.own import (
    MOST_OPERATIONS,
    MOST_PARAMETERS,
    SIDE,
    Token,
    built,
    without_weights,
)
from pages.convolution.architectures.room import LOOKS, OWN, TRAIN_STEPS

BATCH_SIZE, JUDGED = 64, 500


def sized(listed: tuple[Token, ...]) -> Net:
    """The network to scale, and what it costs.

    Raises:
        UserError: it is too large to be trained as the page opens.
    """
    net = measured(OWN, without_weights(listed), (1, SIDE, SIDE))
    for value, most, name in (
        (net.operations, MOST_OPERATIONS, "multiply-adds for a digit"),
        (net.parameters, MOST_PARAMETERS, "parameters"),
    ):
        if value > most:
            raise UserError(f"This network has {value:,} {name}: use at most {most:,}, with fewer channels.")
    return net


@dataclass(frozen=True)
class Look:
    """A network at a step: shares that are wrong on training and test digits, and itself."""

    train: float
    test: float
    model: nn.Sequential


def wrong(model: nn.Module, x: Tensor, y: Tensor) -> float:
    """Share of digits that are read wrongly."""
    with torch.no_grad():
        return float((model(x).argmax(1) != y).double().mean())


def trained(listed: tuple[Token, ...], rate: float, seed: int) -> Iterator[tuple[float, list[Look]]]:
    """Train the network; a look at it at each of `LOOKS`.

    Raises:
        UserError: it is too large.
    """
    sized(listed)
    (x, y), (held, answers) = stock.digits("train"), stock.digits("test")
    model = seeded(partial(built, listed), seed)
    generator = torch.Generator().manual_seed(seed)

    def loss() -> Tensor:
        batch = torch.randint(len(x), (BATCH_SIZE,), generator=generator)
        return F.cross_entropy(model.train()(x[batch]), y[batch])

    def looks() -> Iterator[tuple[int, Look]]:
        optimizer = torch.optim.Adam(model.parameters(), lr=rate)
        for done, _ in training_steps(loss, optimizer, TRAIN_STEPS):
            if done in LOOKS:
                model.eval()
                errors = wrong(model, x[:JUDGED], y[:JUDGED]), wrong(model, held, answers)
                yield done, Look(*errors, deepcopy(model))

    yield from watch(TRAIN_STEPS, looks())


@dataclass(frozen=True)
class Read:
    """A test digit on its way through the network, at each look.

    Attributes:
        digit: (SIDE, SIDE). answer: its class. maps: of each layer that has any, (F, C, h, w), with its name.
        probabilities: (F, K).
    """

    digit: Tensor
    answer: int
    maps: list[tuple[str, Tensor]]
    probabilities: Tensor


@torch.no_grad()
def reads(looks: list[Look], listed: tuple[Token, ...], example: int) -> Read:
    """What the network computes of a test digit."""
    x, y = stock.digits("test")
    outputs: list[list[Tensor]] = [[] for _ in listed]
    probabilities = []
    for look in looks:
        h = x[example][None]
        for stage, kept in zip(look.model, [*outputs, []], strict=True):
            h = stage(h)
            kept.append(h[0])
        probabilities.append(h[0].softmax(0))
    maps = [
        (f"{number} · {layer.word}", torch.stack(kept))
        for number, (layer, kept) in enumerate(zip(listed, outputs, strict=True), 1)
    ]
    maps = [(name, values if values.ndim == 4 else values[..., None, None]) for name, values in maps]
    return Read(x[example, 0], int(y[example]), maps, torch.stack(probabilities))


# --- What is said of them ---------------------------------------------------------------------------


def captions(looks: list[Look], one: Read) -> list[str]:
    return [
        f"Step {step}: {100 * look.train:.1f} % of training and {100 * look.test:.1f} % of test digits are "
        f"read wrongly; this {one.answer} is a {one.answer} with probability {float(p[one.answer]):.2f}."
        for step, look, p in zip(LOOKS, looks, one.probabilities, strict=False)
    ]


def about(net: Net, looks: list[Look]) -> str:
    """What to notice."""
    return (
        f"{net.parameters:,} parameters, {net.operations:,} multiply-adds for a digit. Trained as this page "
        f"opened, with no choice among seeds: the test error went from {100 * looks[0].test:.0f} % to "
        f"{100 * looks[-1].test:.1f} %. Each layer's maps are divided by their largest value at that step."
    )
