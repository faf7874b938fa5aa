"""Digits out of noise: what stands at every step, and what the network then thinks the digit will be."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from lab.lenses.diffusion import Wanted, classes, stops
from modules.diffusion import samplers
from modules.diffusion.gaussian_diffusion import GaussianDiffusion

ROWS, COLUMNS = 4, 3
SHOWN = ROWS * COLUMNS  # digits at a time


@dataclass(frozen=True)
class Run:
    """
    Attributes:
        times: t of each frame.
        noisy: (F, SHOWN, S, S), in units of the data, clamped to [0, 1] to be drawn.
        x0: (F, SHOWN, S, S) x̂_0; at the first frame, where nothing was asked yet, grey.
        start: (S, S), the drawing that was put under noise.
    """

    times: list[int]
    noisy: Tensor
    x0: Tensor
    start: Tensor | None = None


@torch.no_grad()
def running(
    model: GaussianDiffusion, wanted: Wanted, w: float, S: int, eta: float, seed: int,
    drawing: Tensor | None, drawing28: Tensor | None, level: int, clip: bool,
) -> Iterator[tuple[float, Run]]:  # fmt: skip
    """SHOWN digits of a class, of each in turn (None) or of any, in S steps from a seed's noise; or from a
    drawing (S, S) in [0, 1] under the noise of time `level`, each its own: the share done, and the states so
    far, at most 41 at the end. `w` guides to the class, `clip` keeps each prediction within black and white.

    Raises:
        UserError: guidance without a class, or a class that the model does not know.
    """
    generator = torch.Generator().manual_seed(seed)
    y = classes(model, SHOWN, wanted, w)
    picture = drawing if drawing28 is None else drawing28
    if picture is None:
        x, level = model.start(SHOWN, generator), model.schedule.T
    else:
        x = model.noised(picture.expand(SHOWN, *model.event_shape), level, generator)
    times, bound = model.schedule.times(min(S, level), level), model.clip if clip else None
    trajectory = samplers.ddim(model.denoiser(y, w), model.schedule, x, times, eta, bound, generator)
    kept, shown = [], set(stops(len(times)))
    for i, state in enumerate(trajectory):
        if i in shown:
            kept.append(state)
            yield (i + 1) / len(times), of_states(model, kept, picture)


def of_states(model: GaussianDiffusion, kept: Sequence[samplers.State], start: Tensor | None) -> Run:
    """Pictures of states, in the data's units."""
    noisy = model.postprocess(torch.stack([m.x for m in kept])).clamp(0, 1)
    grey = torch.zeros_like(kept[0].x)
    prediction = model.postprocess(torch.stack([grey if m.x0 is None else m.x0 for m in kept]))
    return Run([m.t for m in kept], noisy.squeeze(2), prediction.squeeze(2), start)


def run(
    model: GaussianDiffusion, wanted: Wanted, w: float, S: int, eta: float, seed: int,
    picture: Tensor | None = None, level: int = 1000, clip: bool = True,
) -> Run:  # fmt: skip
    """`running` to its end."""
    *_, (_, result) = running(model, wanted, w, S, eta, seed, picture, None, level, clip)
    return result


def unbound(result: Run) -> str:
    """Say what an unclipped prediction comes to."""
    return (
        f"Not clipped, x̂₀ goes to ±{float(result.x0.abs().max()):,.4g}; white and black are 0 and 1. "
        "Under much noise √ᾱ divides its error, and what that adds to xₜ stays. "
    )


def left_of(result: Run, picture: Tensor) -> float:
    """Mean distance per pixel of the ends from the drawing."""
    return float((result.x0[-1] - picture).abs().mean())


def first_half(result: Run) -> str:
    """Say when the prediction settled, by steps."""
    early = settled(result) <= (len(result.times) - 1) / 2
    return "in the first half of the steps" if early else "in the second half"


def sheet(pictures: Tensor) -> Tensor:
    """(F, SHOWN, S, S) as one picture a frame, gaps of one pixel: (F, ROWS (S + 1) − 1,
    COLUMNS (S + 1) − 1)."""
    padded = torch.nn.functional.pad(pictures, (0, 1, 0, 1))
    frames, side = len(padded), padded.shape[-1]
    rows = padded.reshape(frames, ROWS, COLUMNS, side, side).permute(0, 1, 3, 2, 4)  # (F, row, S + 1, …)
    return rows.reshape(frames, side * ROWS, side * COLUMNS)[:, :-1, :-1]


def greys(pictures: Tensor) -> Tensor:
    """`sheet` in greys from 0 to 255, a byte each: a film of 28 × 28 pixels is four times as short."""
    return (255 * sheet(pictures).clamp(0, 1)).round().to(torch.uint8)


def settled(result: Run) -> int:
    """The first frame from which on the prediction differs from the end by less than 0.1 per pixel."""
    return max((i + 1 for i, off in enumerate(left(result)) if off > 0.1), default=0)


def spread(result: Run) -> float:
    """Standard deviation of a pixel among the digits at the end, the mean over the pixels."""
    return float(result.x0[-1].std(0).mean())


def kept(result: Run) -> str:
    """Say how far from the drawing it ends, where it starts from one."""
    if result.start is None:
        return ""
    return f"Here the ends differ from the drawing by {left_of(result, result.start):.3f} per pixel. "


def left(result: Run) -> list[float]:
    """Mean distance per pixel of each frame's prediction from the end."""
    return (result.x0 - result.x0[-1]).abs().mean((1, 2, 3)).tolist()  # type: ignore[no-any-return]


def numbers(result: Run) -> list[dict[str, str]]:
    """Numbers of the machine's parts at each frame: the time, the calls of the network so far, and how far
    the prediction is from the end."""
    calls = len(result.times) - 1
    texts = [{"xt": f"t = {t}", "net": f"call {i} of {calls}"} for i, t in enumerate(result.times)]
    for frame, off in list(zip(texts, left(result), strict=True))[1:]:
        frame["x0"] = f"Δ {off:.3f}"
    return texts


def captions(result: Run) -> list[str]:
    """Caption of how far the prediction is from the end."""
    first = [f"t = {result.times[0]}: where it starts; the network has not been asked yet."]
    return first + [
        f"t = {t}: the prediction differs from the end by {off:.3f} per pixel."
        for t, off in zip(result.times[1:], left(result)[1:], strict=True)
    ]


def equations(result: Run, model: GaussianDiffusion) -> list[str]:
    """Equation of how much of x_t is data, how much noise."""
    return [
        rf"\sqrt{{\bar\alpha_{{{t}}}}} = {float(model.schedule.alpha_bar[t].sqrt()):.3f}, \quad "
        rf"\sqrt{{1 - \bar\alpha_{{{t}}}}} = {float((1 - model.schedule.alpha_bar[t]).sqrt()):.3f}"
        for t in result.times
    ]
