"""Inside the network that denoises digits: its feature maps, skips, attention, and what a pixel reads.

Shapes: F = 11 times; a picture (8, 8) in [0, 1]; maps (F, C, h, w).
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from modules.diffusion import parameterisation
from modules.noise import normal_like
from modules.transformer.recorder import record_attention
from pages.diffusion.unet_inside.room import NUMBERS, TIMES

MAPS, DRAWS = 16, 16
NEARER = ["more than half", "a quarter to a half", "less than a quarter"]
WORSE = ["with all skips", "without these", "neither: within 0.01"]


def noisy(model: Any, digit: Tensor, seed: int, draws: int = 1) -> tuple[Tensor, Tensor]:
    """The digit at all TIMES, the noise of a draw the same at each: x (draws · F, 1, S, S) and t."""
    generator = torch.Generator().manual_seed(seed)
    shape = tuple(model.event_shape)
    eps = normal_like(torch.empty(draws, 1, *shape), generator).expand(draws, len(TIMES), *shape)
    t = torch.tensor(TIMES).expand(draws, len(TIMES)).flatten()
    x0 = model.preprocess(digit).expand(len(t), *shape)
    return model.schedule.noised(x0, t, eps.flatten(0, 1)), t


@dataclass(frozen=True)
class Inside:
    """
    Attributes:
        x, x0: (F, 8, 8), clamped to be drawn; x0 is x̂_0.
        maps: (F, MAPS, h, w) of the layer, the first of its channels.
        channels: how many there are.
    """

    x: Tensor
    x0: Tensor
    maps: Tensor
    channels: int


@torch.no_grad()
def look(model: Any, digit: Tensor, shown: str, seed: int) -> Inside:
    """Feature maps of the layer `shown`, of the digit under noise, at all TIMES."""
    x, t = noisy(model, digit, seed)
    seen: dict[str, Tensor] = {}

    def keep(name: str, h: Tensor) -> Tensor:
        seen[name] = h
        return h

    result = model.net(x, t, None, keep)
    x0, _ = parameterisation.to_x0_eps(result, x, model.schedule.alpha_bar[t], model.target)
    maps = seen[shown]
    return Inside(pictured(model, x), pictured(model, x0), maps[:, :MAPS], maps.shape[1])


def pictured(model: Any, x: Tensor) -> Tensor:
    """(N, 1, S, S) in the model's units as pictures (N, S, S)."""
    return model.postprocess(x)[:, 0].clamp(0, 1)  # type: ignore[no-any-return]


def scaled(maps: Tensor) -> Tensor:
    """Maps (F, M, h, w) divided by their largest size at each time: −1 … 1."""
    return maps / maps.abs().amax((1, 2, 3), keepdim=True).clamp(min=1e-9)


@dataclass(frozen=True)
class Cut:
    """Guesses (F, 8, 8) with all skips and without some; mean errors (F,) a pixel of DRAWS noises."""

    whole: Tensor
    cut: Tensor
    error: Tensor
    error_cut: Tensor


@torch.no_grad()
def cut(model: Any, digit: Tensor, without: Collection[str], seed: int) -> Cut:
    """Prediction of the network when some of NUMBERS are set to zero."""
    x, t = noisy(model, digit, seed, DRAWS)
    off = {NUMBERS[name] for name in without}

    def drop(name: str, h: Tensor) -> Tensor:
        return torch.zeros_like(h) if name in off else h

    pictures, errors = [], []
    for hook in (lambda name, h: h, drop):
        output = model.net(x, t, None, hook)
        x0, _ = parameterisation.to_x0_eps(output, x, model.schedule.alpha_bar[t], model.target)
        prediction = pictured(model, x0).unflatten(0, (DRAWS, len(TIMES)))
        pictures.append(prediction[0])
        errors.append((prediction - digit).abs().mean((0, 2, 3)))
    return Cut(pictures[0], pictures[1], errors[0], errors[1])


def worse(result: Cut, at: int) -> str:
    """The right one of WORSE."""
    gap = float(result.error_cut[at] - result.error[at])
    return WORSE[2] if abs(gap) <= 0.01 else WORSE[1] if gap > 0 else WORSE[0]


def skip_captions(result: Cut) -> list[str]:
    """Both errors at every time."""
    return [
        f"t = {t}: the prediction is off by {float(a):.3f} per pixel with all skips, {float(b):.3f} without."
        for t, a, b in zip(TIMES, result.error, result.error_cut, strict=True)
    ]


@torch.no_grad()
def attention(model: Any, digit: Tensor, seed: int) -> Tensor:
    """Weights of the middle's attention, (F, heads, 16, 16): from each place of the 4×4 grid to each."""
    x, t = noisy(model, digit, seed)
    layer = model.net.unet.middle[0].attend.attention
    with record_attention() as seen:
        model.net(x, t, None)
    return seen.calls[layer][0].weights


def entropy(weights: Tensor) -> Tensor:
    """Entropy of each place's weights, the mean over places, nats: (F, heads, 16, 16) -> (F, heads)."""
    return torch.special.entr(weights).sum(-1).mean(-1)


def reads(model: Any, digit: Tensor, row: int, column: int, seed: int) -> Tensor:
    """|∂ x̂_0 at a pixel / ∂ x_t|, the mean over DRAWS noises, as shares of its sum: (F, 8, 8)."""
    x, t = noisy(model, digit, seed, DRAWS)
    with torch.enable_grad():
        x = x.detach().requires_grad_()
        output = model.net(x, t, None)
        x0, _ = parameterisation.to_x0_eps(output, x, model.schedule.alpha_bar[t], model.target)
        (slope,) = torch.autograd.grad(x0[:, 0, row, column].sum(), x)
    size = slope[:, 0].abs().unflatten(0, (DRAWS, len(TIMES))).mean(0)
    return size / size.sum((1, 2), keepdim=True)


def read(model: Any, digit: Tensor, row: int, column: int, seed: int) -> Tensor:
    """`reads` of a pixel that is counted from 1."""
    return reads(model, digit, row - 1, column - 1, seed)


def near(result: Tensor, row: int, column: int) -> Tensor:
    """Share of what is read within one pixel of the pixel itself, (F,)."""
    rows, columns = slice(max(0, row - 1), row + 2), slice(max(0, column - 1), column + 2)
    return result[:, rows, columns].sum((1, 2))


def nearer(share: float) -> str:
    """The one of NEARER that a share is."""
    return NEARER[(share <= 0.5) + (share < 0.25)]


PLACES = [f"row {i + 1}, column {j + 1}" for i in range(4) for j in range(4)]


def looked_at(weights: Tensor, head: int, row: int, column: int) -> Tensor:
    """Places where a place of the 4×4 grid looks, (F, 4, 4)."""
    return weights[:, head, 4 * row + column].unflatten(1, (4, 4))


def top(weights: Tensor) -> str:
    """The place (4, 4) with the largest weight."""
    return PLACES[int(weights.flatten().argmax())]


def relative(result: Tensor) -> Tensor:
    """Shares (F, 8, 8) divided by the largest at each time."""
    return result / result.amax((1, 2), keepdim=True)
