r"""Completing a digit with a denoiser that never learned to: replacement alone, and with resampling; and a
Gaussian, of which the right answer is known.

Toy: (x_1, x_2) of variances 1 and correlation ρ, x_1 known. As the known entry is drawn anew after every
    step,
x_2's distribution is all there is to follow, and it stays Gaussian: each pass takes (mean, variance) to

    E ← A_21 √ᾱ_t y + A_22 m,   V ← A_21² (1 − ᾱ_t) + A_22² v + R_22        from x_t to x_p

Shapes: digits (N, H, W), 8×8 or 28×28, in [0, 1]; F frames.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from modules.convolution.classifier import Classifier
from modules.diffusion import inpainting
from modules.diffusion.gaussian_diffusion import GaussianDiffusion
from modules.diffusion.inpainting import exact_gaussian
from modules.diffusion.schedule import Schedule
from pages.diffusion.inpainting.room import PASSES

SHOWN = 12  # completions
BETAS = torch.linspace(4e-4, 0.08, 250, dtype=torch.float64)
REACH, POINTS = 3.0, 241
ALIKE = ["at most 4", "5 to 8", "9 or more"]
LANDED = ["nearer to 0 than the exact mean", "within 0.02 of it"]


# --- Digits -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Completion:
    """
    Attributes:
        times: t of each frame.
        noisy, x0: (F, SHOWN, H, W), data's units; of the prediction the first frame is grey.
        off: the most that a known pixel of the end is off.
        digit, missing: (H, W), what was to be completed, and where.
    """

    times: list[int]
    noisy: Tensor
    x0: Tensor
    off: float
    digit: Tensor
    missing: Tensor


def masks(side: int) -> list[tuple[str, Tensor]]:
    """Masks of what may be missing: ink is missing, (side, side)."""
    blank = {name: torch.zeros(side, side) for name in ("middle", "lower", "right", "dots", "all")}
    quarter, half = side // 4, side // 2
    blank["middle"][quarter:-quarter, quarter:-quarter] = 1
    blank["lower"][half:] = 1
    blank["right"][:, half:] = 1
    blank["dots"][::2, 1::2] = blank["dots"][1::2, ::2] = 1
    blank["all"][:] = 1
    return [*blank.items(), ("none", torch.zeros(side, side))]


def completing(
    model: GaussianDiffusion, digit: Tensor | None, missing: Tensor | None, digit28: Tensor | None,
    missing28: Tensor | None, S: int, r: int, seed: int,
) -> Iterator[tuple[float, "Completion"]]:  # fmt: skip
    """`complete` of the digit of the size that the model knows."""
    picture, mask = (digit, missing) if digit28 is None or missing28 is None else (digit28, missing28)
    assert picture is not None and mask is not None
    yield from complete(model, picture, mask, S, r, seed)


@torch.no_grad()
def complete(
    model: GaussianDiffusion, digit: Tensor, missing: Tensor, S: int, r: int, seed: int
) -> Iterator[tuple[float, Completion]]:
    """SHOWN completions of a digit where `missing` has ink, in S steps of r passes; the share done, and what
    is there so far."""
    generator = torch.Generator().manual_seed(seed)
    known = missing < 0.5
    chain, times = model.schedule, model.schedule.times(S)
    step = inpainting.ancestral_step(model.denoiser(), chain, clip=model.clip, generator=generator)
    start = model.start(SHOWN, generator)
    trajectory = inpainting.inpaint(step, chain, start, known, model.preprocess(digit), times, r, generator)
    shown: list[int] = []
    noisy, prediction = [], []
    for m in trajectory:
        shown.append(m.t)
        x = model.postprocess(m.x)[:, 0]
        noisy.append(x if m.t else torch.where(known, digit, x))  # units cost a last bit
        prediction.append(model.postprocess(torch.zeros_like(m.x) if m.x0 is None else m.x0)[:, 0])
        off = float((noisy[-1] - digit)[:, known].abs().max()) if bool(known.any()) else 0.0
        way, predictions = (torch.stack(each).clamp(0, 1) for each in (noisy, prediction))
        yield len(shown) / len(times), Completion(list(shown), way, predictions, off, digit, missing)


def marked(pictures: Tensor, missing: Tensor) -> Tensor:
    """Pictures (..., H, W) with what was missing as 0 … −1: another colour."""
    return torch.where(missing < 0.5, pictures, -pictures)


@torch.no_grad()
def judged(network: Classifier, completion: Completion) -> tuple[int, Tensor]:
    """Class that the network calls the digit, and how many completions it calls each class, (10,)."""
    named = network.predict(torch.cat([completion.digit[None], completion.noisy[-1]])[:, None]).argmax(1)
    return int(named[0]), named[1:].bincount(minlength=10)


def gone(missing: Tensor) -> int:
    """Number of pixels that are missing."""
    return int((missing >= 0.5).sum())


def alike(count: int) -> str:
    """The one of ALIKE that so many are."""
    return ALIKE[(count > 4) + (count > 8)]


def numbers(completion: Completion, passes: int) -> list[dict[str, str]]:
    """Numbers of the machine's parts at each frame: the time, and the calls of the network so far."""
    whole = (len(completion.times) - 2) * passes + 1  # the last step ends at the data, and is made once
    calls = [min(i * passes, whole) for i in range(len(completion.times))]
    return [{"xt": f"t = {t}", "net": f"call {n}"} for t, n in zip(completion.times, calls, strict=True)]


def captions(completion: Completion, passes: int) -> list[str]:
    """Caption of what happens at each level."""
    first = f"t = {completion.times[0]}: noise, and the known pixels under as much of it."
    again = "once" if passes == 1 else f"{passes} times"
    return [first] + [
        f"t = {t}: this level was reached {again}; the known pixels are the digit's, under that much noise."
        if t
        else "t = 0: the known pixels are the digit itself."
        for t in completion.times[1:]
    ]


# --- The toy ----------------------------------------------------------------------------------------


StepMap = tuple[float, float, float, float, bool]


@dataclass(frozen=True)
class Toy:
    """Mean and variance of x_2 by number of passes, (P,) each, and the exact ones given x_1."""

    mean: Tensor
    variance: Tensor
    exact: tuple[float, float]


def moments(steps: list[StepMap], passes: int) -> tuple[float, float]:
    """Mean and variance of x_2 when x_1 is put back after every step, r times a level, but the last once."""
    m, v = 0.0, 1.0
    for shift, slope, noise, kept, last in steps:
        for left in reversed(range(1 if last else passes)):
            m, v = shift + slope * m, noise + slope * slope * v
            if left:
                m, v = math.sqrt(kept) * m, kept * v + 1 - kept
    return m, v


def step_maps(rho: float, value: float) -> list[StepMap]:
    """Effect of every exact step on x_2: shift and slope of the mean, noise; then α, and if it is the
    last."""
    chain, result = Schedule.of_betas(BETAS), []
    covariance = torch.tensor([[1, rho], [rho, 1]], dtype=torch.float64)
    for t in range(chain.T, 0, -1):
        A, R = exact_gaussian(chain, covariance, t, t - 1)
        now, kept = float(chain.alpha_bar[t]), float(chain.alpha_bar[t] / chain.alpha_bar[t - 1])
        a, b = A[1].tolist()  # of x_1, which is N(√ᾱ y, 1 − ᾱ) by whatever way it came to t, and of x_2
        result.append((a * math.sqrt(now) * value, b, a * a * (1 - now) + float(R[1, 1]), kept, t == 1))
    return result


def toy(rho: float, value: float) -> Toy:
    """The distribution reached for each of PASSES, and p(x_2 | x_1)."""
    steps = step_maps(rho, value)
    result = torch.tensor([moments(steps, r) for r in PASSES], dtype=torch.float64)
    return Toy(result[:, 0], result[:, 1], (rho * value, 1 - rho**2))


def grid() -> Tensor:
    return torch.linspace(-REACH, REACH, POINTS, dtype=torch.float64)


def exact_bell(result: Toy) -> Tensor:
    """Density (POINTS,) of p(x_2 | x_1)."""
    m, v = torch.tensor(result.exact, dtype=torch.float64)[:, None]
    return bells(m, v)[0]


def bells(mean: Tensor, variance: Tensor) -> Tensor:
    """Densities (P, POINTS) of Gaussians (P,)."""
    z = (grid() - mean[:, None]) / variance[:, None].sqrt()
    return torch.exp(-0.5 * z**2) / (2 * math.pi * variance[:, None]).sqrt()


def toy_captions(result: Toy) -> list[str]:
    """Both distributions, one sentence for each number of passes."""
    m, v = result.exact
    return [
        f"r = {r}: x₂ has mean {float(a):.4f} and variance {float(b):.4f}; exact are {m:.4f} and {v:.4f}."
        for r, a, b in zip(PASSES, result.mean, result.variance, strict=True)
    ]


def toy_equations(result: Toy, rho: float, value: float) -> list[str]:
    """The exact mean, and how far the mean is from it."""
    return [
        rf"E[x_2\mid x_1]=\rho x_1={rho:.2f}\cdot({value:.2f})={result.exact[0]:.3f},\qquad "
        rf"\text{{off by }}{float(a) - result.exact[0]:.4f}"
        for a in result.mean
    ]


def landed(result: Toy, at: int) -> str:
    """The right one of LANDED."""
    return LANDED[int(abs(float(result.mean[at]) - result.exact[0]) <= 0.02)]
