"""One prediction told four ways: noise, data, velocity, score; how long each is, and what an error in one of
them becomes in another.

Shapes: F times; a place (2,) or a picture (1, 8, 8), in the model's units; predictions (F, *event).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from lab.lenses import plane
from lab.lenses.diffusion import stops
from lab.lenses.precision import double
from modules.diffusion import exact, parameterisation
from modules.diffusion.gaussian_diffusion import GaussianDiffusion
from modules.diffusion.parameterisation import Kind
from modules.diffusion.schedule import Schedule
from pages.diffusion.four_views.room import EXACT

KINDS: tuple[Kind, ...] = ("eps", "x0", "v", "score")
NAMES: dict[Kind, str] = {"eps": "ε̂", "x0": "x̂₀", "v": "v̂", "score": "score"}
KIND_OF = {name: kind for kind, name in NAMES.items()}
REACH, CELLS = 2.6, 41  # of the plane, in the model's units
SHADE = 2.0  # what is drawn in full colour

Predict = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]  # x_t (F, ...) and t (F,) -> x̂_0 and ε̂


def times(schedule: Schedule) -> list[int]:
    """t of each frame, from 1 to T."""
    return [1 + i for i in stops(schedule.T)]


def predictor(source: str, model: GaussianDiffusion) -> Predict:
    """Predictor: the data's own score, or the network; in the model's units."""
    if source != EXACT:
        result = model.denoiser()
        return lambda x, t: result(x, t)  # type: ignore[return-value]
    mixture, schedule = exact.eight(3 / model.scale, 0.25 / model.scale), model.schedule

    def predict(x: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
        a = schedule.alpha_bar[t]
        return mixture.posterior_mean(x, a), mixture.eps(x, a)

    return predict


def start(
    model: GaussianDiffusion, place: tuple[float, float], drawn: Tensor | None = None, seed: int = 0
) -> Tensor:
    """x_t of every frame: one place of the plane, (F, 2), or a picture (8, 8) in [0, 1] under ever more of
    one and the same noise, (F, 1, 8, 8)."""
    t = torch.tensor(times(model.schedule))
    if drawn is None:
        return torch.tensor(place, dtype=torch.float64).expand(len(t), 2)
    noise = torch.randn(1, 8, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    x0 = model.preprocess(drawn.double()).expand(len(t), 1, 8, 8)
    return model.schedule.noised(x0, t, noise.expand_as(x0))


@dataclass(frozen=True)
class Views:
    """
    Attributes:
        times: t of each frame. x: (F, *event), what is predicted from.
        predictions: of each kind, (F, *event).
        size: of each kind the root of the mean square of its numbers, (F,).
        lost: largest difference of a prediction from itself, converted to each kind in turn and back.
    """

    times: list[int]
    x: Tensor
    predictions: dict[Kind, Tensor]
    size: dict[Kind, Tensor]
    lost: float


@torch.no_grad()
def views(predict: Predict, schedule: Schedule, x: Tensor, kind: Kind, error: float, seed: int = 0) -> Views:
    """The four of x (F, *event) at every time, where the prediction of one `kind` is off by noise of
    deviation `error` a number, the same at every time."""
    t = torch.tensor(times(schedule))
    a = schedule.alpha_bar[t]
    wrong = torch.randn(x[0].shape, dtype=x.dtype, generator=torch.Generator().manual_seed(seed + 1))
    value = parameterisation.from_x0_eps(*predict(x, t), a, kind) + error * wrong
    results = {other: parameterisation.convert(value, x, a, kind, other) for other in KINDS}
    size = {other: result.flatten(1).square().mean(1).sqrt() for other, result in results.items()}
    return Views(times(schedule), x, results, size, lost(results["eps"], x, a))


def views_of_place(
    source: str, model: GaussianDiffusion, place: tuple[float, float], drawing: Tensor | None, seed: int,
    kind: str, off: float,
) -> Views:  # fmt: skip
    """`views` of a place of the plane, or of a drawing, in double precision; `kind` by its name."""
    result = double(model)
    x = start(result, place, drawing, seed)
    return views(predictor(source, result), result.schedule, x, KIND_OF[kind], off, seed)


def lost(eps: Tensor, x: Tensor, alpha_bar: Tensor) -> float:
    """ε̂ by way of v, the score and x̂_0, and back."""
    back, before = eps, KINDS[0]
    for kind in ("v", "score", "x0", "eps"):
        back, before = parameterisation.convert(back, x, alpha_bar, before, kind), kind  # type: ignore[arg-type]
    return float((back - eps).abs().max())


def gain(schedule: Schedule, kind: Kind, target: Kind) -> Tensor:
    """Error of x̂_0 or ε̂ for an error of 1 in a prediction of a kind, at every frame, (F,); of no unit but
    of those two, as x_t is the same."""
    a = schedule.alpha_bar[torch.tensor(times(schedule))]
    nothing = torch.zeros(len(a), 1, dtype=torch.float64)
    return parameterisation.convert(nothing + 1, nothing, a, kind, target).abs().squeeze(1)


def worst(schedule: Schedule, target: Kind, at: int) -> Kind:
    """Whose error grows most on its way to the target."""
    return max(KINDS, key=lambda kind: float(gain(schedule, kind, target)[at]))


def density(eight: GaussianDiffusion) -> Tensor:
    """p_t over the window over its own top at every frame, (F, CELLS, CELLS), row = x_2 upwards."""
    mixture = exact.eight(3 / eight.scale, 0.25 / eight.scale)
    x = plane.corners(REACH, CELLS).flatten(0, 1)
    maps = [mixture.log_prob(x, eight.schedule.alpha_bar[t]) for t in times(eight.schedule)]
    return torch.stack([(m - m.max()).exp().reshape(CELLS, CELLS).float() for m in maps])


def span(sizes: Mapping[str, Tensor]) -> tuple[float, float]:
    """Powers of ten between which all sizes from 0.001 to 1,000 lie."""
    every = torch.cat(list(sizes.values())).clamp(1e-3, 1e3).log10()
    return float(every.min()) - 0.2, float(every.max()) + 0.2


def captions(result: Views) -> list[str]:
    """Caption of how long each is."""
    return [
        f"t = {t}: a number of "
        + ", ".join(f"{NAMES[kind]} is {float(result.size[kind][i]):.3g}" for kind in KINDS)
        + " in size."
        for i, t in enumerate(result.times)
    ]


def equations(result: Views, schedule: Schedule) -> list[str]:
    """Equation of what the four are made of."""
    texts = []
    for t in result.times:
        a, b = (float(v) for v in (schedule.alpha_bar[t].sqrt(), (1 - schedule.alpha_bar[t]).sqrt()))
        texts.append(
            rf"x_t = {a:.4f}\,\hat x_0 + {b:.4f}\,\hat\epsilon, \quad "
            rf"\hat v = {a:.4f}\,\hat\epsilon - {b:.4f}\,\hat x_0, \quad s = -\hat\epsilon / {b:.4f}"
        )
    return texts
