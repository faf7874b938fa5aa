"""Guidance where everything is Gaussian: the distribution that guided sampling reaches, and the one it is
said to; and digits by the weight, 8×8 of all classes and 28×28 of one.

p(x) = N(0, 1 + s²),  p(x | y = m) = N(m, s²)        tilted: p(x|y)^{1+w} p(x)^{−w}, a Gaussian too
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from modules.convolution.classifier import Classifier
from modules.diffusion import exact, guidance, parameterisation, samplers
from modules.diffusion.gaussian_diffusion import GaussianDiffusion
from modules.diffusion.noisy_classifier import NoisyClassifier
from modules.diffusion.schedule import linear
from pages.diffusion.guidance.room import (
    CLEAN,
    FREE,
    GUIDED,
    LEANS,
    NOISY,
    OPINIONS,
    ROW_WEIGHTS,
    WAYS,
    WEIGHTS,
)

MADE = linear()
REACH, POINTS = 4.0, 401
COUNT, STEPS = 40, 10  # digits, four a class, and DDIM's steps
PER_ROW = 5  # digits of a weight
RIGHT = ["fewer than 20", "20 to 36", "more than 36"]


@dataclass(frozen=True)
class Distributions:
    """Means and sds by weight, (21,) each: what is sampled, and the tilted density."""

    mean: Tensor
    sd: Tensor
    tilted_mean: Tensor
    tilted_sd: Tensor


def distributions(m: float, s: float, steps: int, led: str) -> Distributions:
    """The flow of the guided denoiser from N(0, 1) is affine, so two starts a weight tell its distribution.

    A classifier leads the unconditional denoiser, 1 + w times; that of CLEAN data takes x_t for a datum.
    """
    one, every = exact.Mixture(torch.tensor([[m]]), s**2), exact.Mixture(torch.tensor([[0.0]]), 1 + s**2)
    w = torch.tensor(WEIGHTS, dtype=torch.float64).repeat_interleave(2)

    def net(x: Tensor, t: Tensor, y: Tensor) -> Tensor:
        a = MADE.alpha_bar[t]
        return torch.where(y[:, None] == 0, one.eps(x, a), every.eps(x, a))

    def predict(x: Tensor, t: Tensor) -> Tensor:
        return guidance.classifier_free_guidance(net, x, t, torch.zeros(len(x), dtype=torch.long), 1, w)

    def log_class(x: Tensor, t: Tensor) -> Tensor:  # by Bayes, but for a constant
        a = 1.0 if led == CLEAN else MADE.alpha_bar[t]
        return one.log_prob(x, a) - every.log_prob(x, a)

    if led != OPINIONS:
        predict = guidance.classifier_guidance(every.denoiser(MADE), log_class, MADE, 1 + w)  # type: ignore[arg-type, assignment]
    start = torch.tensor([[0.0], [1.0]], dtype=torch.float64).repeat(len(WEIGHTS), 1)
    ends = samplers.last(samplers.heun(predict, MADE, start, MADE.times(steps))).reshape(-1, 2)
    w = w[::2]
    precision = (1 + w) / s**2 - w / (1 + s**2)
    tilted = (1 + w) * m / s**2 / precision
    return Distributions(ends[:, 0], (ends[:, 1] - ends[:, 0]).abs(), tilted, precision.rsqrt())


def grid() -> Tensor:
    return torch.linspace(-REACH, REACH, POINTS, dtype=torch.float64)


def bells(mean: Tensor, sd: Tensor) -> Tensor:
    """Densities (21, POINTS) of Gaussians by weight."""
    z = (grid() - mean[:, None]) / sd[:, None]
    return torch.exp(-0.5 * z**2) / (sd[:, None] * math.sqrt(2 * math.pi))


def captions(result: Distributions) -> list[str]:
    """Both distributions, weight by weight."""
    return [
        f"w = {w:g}: sampled with mean {float(m):.3f} and sd {float(s):.3f}; the tilted density has "
        f"{float(a):.3f} and {float(b):.3f}."
        for w, m, s, a, b in zip(
            WEIGHTS, result.mean, result.sd, result.tilted_mean, result.tilted_sd, strict=True
        )
    ]


def equations(led: str, weights: Sequence[float]) -> list[str]:
    """ε̃ with its numbers."""
    if led not in (OPINIONS, FREE):
        result = "x_0 = x_t" if led == CLEAN else "x_t"
        return [
            rf"\tilde\epsilon = \hat\epsilon(x_t, \varnothing) - {1 + w:g} \sqrt{{1 - \bar\alpha_t}}\, "
            rf"\nabla \log p(y \mid {result})"
            for w in weights
        ]
    return [
        rf"\tilde\epsilon = {1 + w:g}\,\hat\epsilon(x_t, y) {-w:+g}\,\hat\epsilon(x_t, \varnothing)"
        for w in weights
    ]


def notice(result: Distributions, at: int, led: str) -> str:
    """Say what the distribution at a weight shows of this way to lead."""
    here = (
        f"its sd is {float(result.sd[at]):.3f}"
        f" where the tilted density has {float(result.tilted_sd[at]):.3f}. "
    )
    if led == CLEAN:
        return (
            "A classifier that has seen clean data alone takes noise for data: far from all data it is far "
            f"too sure, and pulls too hard. Here {here}It takes the 200 steps."
        )
    same = (
        "The classifier knows noisy data, so by Bayes its slope is what the two opinions differ by: the same "
        "distribution. "
        if led == NOISY
        else ""
    )
    return (
        f"{same}At one noise level the leaned denoiser belongs to p(x|y)^(1+w) p(x)^(−w) of that level, but "
        f"these distributions are no diffusion of one another, so the samples follow another. Here {here}"
    )


# --- Digits -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Drawn:
    """By weight, from the same noise.

    Attributes:
        pictures: (L, COUNT, 8, 8), the classes in turn.
        right: (L,) share that the judge takes for the class asked for.
        spread: (L,) standard deviation of a pixel among the digits of a class, the mean.
    """

    pictures: Tensor
    right: Tensor
    spread: Tensor


def led_by(
    model: GaussianDiffusion, classifier: NoisyClassifier, start: Tensor, y: Tensor, s: float
) -> Tensor:
    """Pictures from noise `start`, (B, 1, H, W): the model is asked for no class and led s times."""

    def predict(x: Tensor, t: Tensor) -> Tensor:
        return model.denoiser()(x, t)[1]

    guided = guidance.classifier_guidance(predict, classifier.log_class(y), model.schedule, s)
    trajectory = samplers.ddim(guided, model.schedule, start, model.schedule.times(STEPS), clip=model.clip)
    return model.postprocess(samplers.last(trajectory))


@torch.no_grad()
def drawing(
    model: GaussianDiffusion, classifier: NoisyClassifier, judge: Classifier, seed: int
) -> Iterator[tuple[float, dict[str, Drawn]]]:
    """COUNT digits for each of LEANS, by each of WAYS."""
    wanted = torch.arange(COUNT) % 10
    start = model.start(COUNT, torch.Generator().manual_seed(seed))
    rows: dict[str, list[tuple[Tensor, Tensor, Tensor]]] = {way: [] for way in WAYS}
    for done, w in enumerate(LEANS, 1):
        results = {
            FREE: model.sample(COUNT, steps=STEPS, guidance=w, generator=torch.Generator().manual_seed(seed)),
            GUIDED: led_by(model, classifier, start, wanted, 1 + w),
        }
        for way, x in results.items():
            x = x.clamp(0, 1)
            right = (judge.predict(x).argmax(1) == wanted).double().mean()
            spread = torch.stack([x[wanted == k].std(0).mean() for k in range(10)]).mean()
            rows[way].append((x[:, 0], right, spread))
        yield (
            done / len(LEANS),
            {
                way: Drawn(*map(torch.stack, zip(*each, strict=True)))  # type: ignore[arg-type]
                for way, each in rows.items()
            },
        )


def least(result: Drawn) -> str:
    """Find where the digits of a class are most alike: not where the lean is strongest."""
    at = int(result.spread.argmin())
    sd = float(result.spread[at])
    text = f"The digits of a class are most alike at w = {LEANS[at]:g}, with an sd of {sd:.3f}"
    return f"{text}: leaning further makes them differ more again." if at < len(LEANS) - 1 else f"{text}."


def right(result: Drawn, at: int) -> str:
    """The right one of RIGHT."""
    count = round(COUNT * float(result.right[at]))
    return RIGHT[0] if count < 20 else RIGHT[1] if count <= 36 else RIGHT[2]


def digit_captions(result: Drawn) -> list[str]:
    """Faith and spread, weight by weight."""
    return [
        f"w = {w:g}: {round(COUNT * float(r))} of {COUNT} are judged of the class asked for; a pixel's sd "
        f"within a class is {float(s):.3f}."
        for w, r, s in zip(LEANS, result.right, result.spread, strict=True)
    ]


def digit_notice(result: dict[str, Drawn], led: str, names: tuple[str, str, str]) -> str:
    """Say what the digits show of a way to lead, and of the other beside it."""
    model, classifier, judge = names
    mine = result[led]
    led_there = f", asked for no class and led 1 + w times by {classifier}" if led == GUIDED else ""
    results = [f"{float(result[way].right[1]):.0%} by {way}" for way in WAYS]
    right, spread = ([float(v) for v in each] for each in (mine.right, mine.spread))
    return (
        f"{model} in {STEPS} steps{led_there}; {judge}, which neither has met, is the judge. From w = −1, "
        f"which forgets the class, to w = 0 the share of the class asked for goes from {right[0]:.0%} to "
        f"{right[1]:.0%}, and a pixel's sd within a class from {spread[0]:.3f} to {spread[1]:.3f}; at w = 4 "
        f"they are {right[-1]:.0%} and {spread[-1]:.3f}. {least(mine)} At w = 0 the share is "
        f"{' and '.join(results)}. "
    )


# --- Rows of one class ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rows:
    """Digits of one class out of noise, a row for each of ROW_WEIGHTS; a column starts from one noise.

    Attributes:
        times: t of each frame.
        noisy: (F, len(ROW_WEIGHTS), PER_ROW, H, W) x_t, in units of the data, clamped to [0, 1].
        right: of each row, how many the referee takes for the class at the end; before it, none.
    """

    times: list[int]
    noisy: Tensor
    right: list[int]


@torch.no_grad()
def rows_of(
    mnist: GaussianDiffusion, referee: Classifier, digit: int, seed: int
) -> Iterator[tuple[float, Rows]]:
    """PER_ROW digits of a class for each of ROW_WEIGHTS by classifier-free guidance, step by step."""
    weights = torch.tensor(ROW_WEIGHTS).repeat_interleave(PER_ROW)
    start = mnist.start(PER_ROW, torch.Generator().manual_seed(seed)).repeat(len(ROW_WEIGHTS), 1, 1, 1)
    times, y = mnist.schedule.times(STEPS), torch.full((len(weights),), digit)

    def predict(x: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
        output = guidance.classifier_free_guidance(mnist.prediction, x, t, y, mnist.num_classes, weights)
        return parameterisation.to_x0_eps(output, x, mnist.schedule.level(t), mnist.target)

    frames: list[Tensor] = []
    for state in samplers.ddim(predict, mnist.schedule, start, times, clip=mnist.clip):
        x = mnist.postprocess(state.x).clamp(0, 1)
        frames.append(x.reshape(len(ROW_WEIGHTS), PER_ROW, *x.shape[-2:]))
        named = referee.predict(x).argmax(1) if len(frames) == len(times) else y[:0]
        right = (named == digit).reshape(len(ROW_WEIGHTS), -1).sum(1).tolist()
        yield len(frames) / len(times), Rows(times[: len(frames)], torch.stack(frames), right)


def alike(rows: Rows) -> Tensor:
    """Standard deviation of a pixel among the digits of a row, the mean over the pixels: (F, rows)."""
    return rows.noisy.std(2).mean((2, 3))


def row_captions(rows: Rows) -> list[str]:
    """Caption of how much the digits of the rows differ."""
    return [
        f"t = {t}: a pixel's sd among the digits of a row is "
        + ", ".join(f"{float(v):.3f} (w = {w:g})" for w, v in zip(ROW_WEIGHTS, sds, strict=True))
        + "."
        for t, sds in zip(rows.times, alike(rows), strict=True)
    ]


def row_notice(rows: Rows, digit: int, names: tuple[str, str]) -> str:
    """Say what the referee finds in the rows."""
    text = ", ".join(f"{n} at w = {w:g}" for n, w in zip(rows.right, ROW_WEIGHTS, strict=True))
    return (
        f"{names[0]} in {STEPS} steps of DDIM, asked for the class {digit}. Of the {PER_ROW} digits of a row "
        f"{names[1]} takes for this class: {text}. Far beyond w = 3 the prediction is clipped to the greys: "
        "strokes get bold, and the digits need not grow more alike. "
    )


def most_alike(rows: Rows) -> str:
    """The weight of the row whose digits are most alike."""
    return f"w = {ROW_WEIGHTS[int(alike(rows)[-1].argmin())]:g}"


def row_numbers(rows: Rows) -> list[dict[str, str]]:
    """Numbers of the machine's parts at each frame: the time, and the calls of the network so far."""
    calls = len(rows.times) - 1
    return [{"xt": f"t = {t}", "net": f"call {i} of {calls}"} for i, t in enumerate(rows.times)]
