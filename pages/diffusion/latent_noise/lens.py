"""Two digits as codes of noise: DDIM upwards, a walk between the codes, and down again.

    arc    slerp of the codes: every code is as long as draws of N(0, I) nearly are
    line   lerp of the codes: the middle is too short, and what comes out paler
    mix    pixels mixed, put under noise of time t, and denoised with fresh noise at every step

Shapes: pictures (S, S) in [0, 1]; codes (W, 1, S, S); walks of W places.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from lab.lenses import drawing, latent
from lab.lenses.diffusion import digits
from modules.diffusion import inversion, samplers
from modules.diffusion.gaussian_diffusion import GaussianDiffusion
from modules.noise import normal_like
from pages.diffusion.latent_noise.room import SIZES

PLACES = {8: 11, 28: 7}  # of a walk, by the size of its pictures: large ones stand seven in a row
ROWS = ["arc", "line", "mix"]
PALER = ["the arc's", "the line's", "neither's: within 0.005"]
RATES = ["by less than 1.5", "by 1.5 to 2.5", "by more than 2.5"]


@dataclass(frozen=True)
class Walks:
    """
    Attributes:
        pictures: (3, W, S, S) of ROWS, clamped to be drawn.
        codes: (W, S, S) along the arc.
        lengths: "linear" and "spherical" -> (W,) of the codes.
        angle: between the two codes, radians.
        off: mean distance per pixel of both ends from the digits.
    """

    pictures: Tensor
    codes: Tensor
    lengths: dict[str, Tensor]
    angle: float
    off: float

    @property
    def shares(self) -> Tensor:
        """s of each place."""
        return torch.linspace(0, 1, len(self.codes))

    @property
    def middle(self) -> int:
        """The place of s = ½."""
        return len(self.codes) // 2

    @property
    def numbers(self) -> int:
        """Number of dimensions of a code: D."""
        return self.codes[0].numel()


def shelf(side: int, first: str) -> list[tuple[str, Tensor]]:
    """Test digits of this size from one of them on, round."""
    known = digits() if side == 8 else drawing.examples(side)
    at = [name for name, _ in known].index(first)
    return [*known[at:], *known[:at]]


def walks(model: GaussianDiffusion, a: Tensor, b: Tensor, steps: int, level: int, seed: int) -> Walks:
    """From picture a to b (S, S) by three ways."""
    return with_mix(coded(model, a, b, steps), mixed(model, a, b, steps, level, seed))


def with_mix(result: Walks, mix: Tensor) -> Walks:
    """`coded` with the third way (W, S, S) beside the two."""
    return replace(result, pictures=torch.cat([result.pictures, mix[None]]))


@torch.no_grad()
def coded(model: GaussianDiffusion, first: Tensor, second: Tensor, steps: int) -> Walks:
    """The two ways through codes alone: no level and no seed is in them."""
    ends = torch.stack([first, second])[:, None]
    z, s = model.encode(ends, steps=steps), torch.linspace(0, 1, PLACES[len(first)])
    start, end = (code.expand(len(s), *code.shape) for code in z)
    arc, line = inversion.slerp(start, end, s), torch.lerp(start, end, s[:, None, None, None])
    decoded = model.decode(torch.cat([arc, line]), steps=steps).unflatten(0, (2, -1))
    u, v = z.flatten(1)
    cosine = torch.nn.functional.cosine_similarity(u, v, dim=0).clamp(-1, 1)
    return Walks(
        decoded[:, :, 0].clamp(0, 1),
        arc[:, 0],
        {"linear": line.flatten(1).norm(dim=1), "spherical": arc.flatten(1).norm(dim=1)},
        float(cosine.acos()),
        float((decoded[0, [0, -1]] - ends).abs().mean()),
    )


@torch.no_grad()
def mixed(
    model: GaussianDiffusion, first: Tensor, second: Tensor, steps: int, level: int, seed: int
) -> Tensor:
    """Pixels mixed, put under noise of a level and denoised again: (W, S, S)."""
    s = torch.linspace(0, 1, PLACES[len(first)])
    pixels = torch.lerp(first[None, None], second[None, None], s[:, None, None, None])
    generator = torch.Generator().manual_seed(seed)
    noise = normal_like(pixels[:1], generator).expand_as(pixels)  # one for all: what differs is the mix
    start = model.schedule.noised(model.preprocess(pixels), torch.full((len(s),), level), noise)
    trajectory = model.trajectory(start, generator=generator, steps=min(steps, level), eta=1.0, start=level)
    return model.postprocess(samplers.last(trajectory))[:, 0].clamp(0, 1)


def contrast(pictures: Tensor) -> Tensor:
    """Standard deviation of the pixels within each picture, (..., S, S) -> (...)."""
    return pictures.flatten(-2).std(-1)


def paler(result: Walks) -> str:
    """Whose middle has less contrast, of PALER."""
    arc, line, _ = contrast(result.pictures[:, result.middle]).tolist()
    return PALER[2] if abs(arc - line) < 0.005 else PALER[0] if arc < line else PALER[1]


def captions(result: Walks, draws: float) -> list[str]:
    """A sentence for every place."""
    c = contrast(result.pictures)
    return [
        f"s = {s:.2g}: the arc's code has length {float(long):.2f}, the line's {float(short):.2f}; draws of "
        f"N(0, I) have {draws:.2f}. Contrast {float(arc):.3f} and {float(line):.3f}."
        for s, long, short, arc, line in zip(
            result.shares, result.lengths["spherical"], result.lengths["linear"], c[0], c[1], strict=True
        )
    ]


def numbers(result: Walks, steps: int) -> list[dict[str, str]]:
    """Numbers of the machine's parts at each place: the length of the arc's code, and the calls that lead
    down from it."""
    return [{"xt": f"‖z‖ = {float(n):.1f}", "net": f"{steps} calls"} for n in result.lengths["spherical"]]


def strip(result: Walks) -> Tensor:
    """(4, W, S, S): the codes along the arc, and the pictures of ROWS."""
    return torch.cat([as_greys(result.codes)[None], result.pictures])


def equations(result: Walks) -> list[str]:
    """slerp with its numbers."""
    w = result.angle
    if w < 1e-3:
        return [r"z_s = z_A = z_B"] * len(result.codes)
    return [
        rf"z_s=\ell_s\left(\tfrac{{\sin({1 - s:.2g}\cdot{w:.3f})}}{{\sin {w:.3f}}}\,\hat z_A"
        rf"+\tfrac{{\sin({s:.2g}\cdot{w:.3f})}}{{\sin {w:.3f}}}\,\hat z_B\right),\quad \ell_s={float(n):.3f}"
        for s, n in zip(result.shares.tolist(), result.lengths["spherical"], strict=True)
    ]


# --- There and back -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Trip:
    """By SIZES, as far as they are done: what came back (F, 2, S, S), the codes, and the mean error (F,); of
    the digits themselves (2, S, S)."""

    ends: Tensor
    back: Tensor
    codes: Tensor
    error: Tensor


@torch.no_grad()
def trip(model: GaussianDiffusion, first: Tensor, second: Tensor) -> Iterator[tuple[float, Trip]]:
    """Up and down in S steps, for each of SIZES."""
    ends = torch.stack([first, second])[:, None]
    back, codes = [], []
    for done, steps in enumerate(SIZES, 1):
        codes.append(model.encode(ends, steps=steps))
        back.append(model.decode(codes[-1], steps=steps))
        result = torch.stack(back)
        yield (
            done / len(SIZES),
            Trip(
                ends[:, 0],
                result[:, :, 0],
                torch.stack(codes)[:, :, 0],
                (result - ends).abs().mean((1, 2, 3, 4)),
            ),
        )


def fallen(result: Trip) -> float:
    """Factor by which the error is smaller with 20 steps than with 10."""
    return float(result.error[1] / result.error[2].clamp(min=1e-9))


def rate(result: Trip) -> str:
    """The one of RATES that it is."""
    return RATES[(fallen(result) >= 1.5) + (fallen(result) > 2.5)]


def trip_captions(result: Trip) -> list[str]:
    """A sentence for each of SIZES."""
    length = result.codes.flatten(2).norm(dim=2).mean(1)
    draws = latent.typical_length(result.ends[0].numel())
    return [
        f"{steps} steps up and {steps} down: a pixel comes back {float(e):.4f} off on average; codes have "
        f"length {float(n):.2f}, draws of N(0, I) {draws:.2f}."
        for steps, e, n in zip(SIZES, result.error, length, strict=True)
    ]


def trip_equations(result: Trip) -> list[str]:
    """S times the error, which stays where the error falls as 1/S."""
    return [
        rf"S\cdot\overline{{|x-\hat x|}}={s}\cdot{float(e):.4f}={s * float(e):.3f}"
        for s, e in zip(SIZES, result.error, strict=True)
    ]


def sheet(result: Trip) -> Tensor:
    """(F, 2, 3, S, S): for each digit itself, its code, and what came back."""
    ends = result.ends.expand_as(result.back)
    return torch.stack([ends, as_greys(result.codes), result.back.clamp(0, 1)], 2)


def as_greys(codes: Tensor) -> Tensor:
    """Codes brought to [0, 1] by ±3, to be drawn."""
    return (codes / 6 + 0.5).clamp(0, 1)
