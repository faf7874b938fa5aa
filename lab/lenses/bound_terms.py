"""The bound of a chain on one picture of a digit, in bits, term by term."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from lab.lenses import drawing
from lab.lenses.diffusion import stops
from modules.diffusion import bound, schedule
from modules.diffusion.gaussian_diffusion import GaussianDiffusion
from modules.diffusion.schedule import Schedule, rows
from modules.noise import normal_like

LEVELS = 17  # grey levels of small digits
PICTURES = [*map(str, range(10)), "blank", "random greys"]
VARIANCES = ["beta", "posterior", "fitted"]
FITTED = 16  # pictures whose mean error fits σ²


def picture(name: str, side: int = 8, levels: int = LEVELS) -> Tensor:
    """One picture of so many grey levels, (1, 1, side, side): a digit that no network has learned from, or
    none."""
    shape = (1, 1, side, side)
    if name == "blank":
        return torch.zeros(shape)
    if name == "random greys":
        return torch.randint(levels, shape, generator=torch.Generator().manual_seed(0)) / (levels - 1)
    x, y = drawing.held_out(side)
    return on_grid(x[y == int(name)][:1], levels)


def on_grid(x: Tensor, levels: int) -> Tensor:
    """Greys in [0, 1] as the nearest of these levels."""
    return (x * (levels - 1)).round() / (levels - 1)


def of_model(model: GaussianDiffusion) -> tuple[int, int]:
    """The side of a model's pictures, and their grey levels."""
    assert model.levels is not None
    return model.event_shape[-1], model.levels


def schedule_of(kind: schedule.Kind, T: int) -> Schedule:
    return schedule.named(kind, T)


@torch.no_grad()
def predictions(
    model: GaussianDiffusion, results: Schedule, x: Tensor, t: Tensor, seed: int, clip: bool = False
) -> tuple[Tensor, Tensor]:
    """x_t and x̂_0 (N, 1, S, S), in the model's units, of pictures x (N or 1, 1, S, S) at times t (N,) of any
    chain: the network is asked at its own time of the same noise. `clip` keeps x̂_0 where greys lie."""
    x0 = model.preprocess(x).expand(len(t), -1, -1, -1)
    eps = normal_like(x0, torch.Generator().manual_seed(seed))
    noisy = results.noised(x0, t, eps)
    own = model.schedule.time_of(results.alpha_bar[t])
    result = model.denoiser()(noisy, own.to(noisy))
    assert isinstance(result, tuple)
    return noisy, result[0].clamp(-1, 1) if clip else result[0]


def fitted(model: GaussianDiffusion, result: Schedule, clip: bool = False) -> Tensor:
    """β̃ + c_0² E‖x_0 − x̂_0‖²/D by t, (T + 1,): the σ² of least bound, were these pictures all there are.

    The error is taken at 24 times from FITTED other held-out digits; between them ‖ε − ε̂‖², which runs from
    D down to little, lies straight on log scales.
    """
    side, levels = of_model(model)
    x = on_grid(drawing.held_out(side)[0][-FITTED:], levels)
    at = torch.linspace(0, math.log(result.T), 24).exp().round().long().unique()
    many = at.repeat_interleave(len(x))
    _, clean = predictions(model, result, x.repeat(len(at), 1, 1, 1), many, 1, clip)
    off = clean - model.preprocess(x).repeat(len(at), 1, 1, 1)
    error = off.double().square().mean((1, 2, 3)).reshape(len(at), -1).mean(1) * result.snr[at]
    t = torch.arange(1, result.T + 1)
    right = torch.searchsorted(at, t).clamp(1, len(at) - 1)
    share = (t / at[right - 1]).log() / (at[right] / at[right - 1]).log()
    between = (error[right - 1].log() * (1 - share) + error[right].log() * share).exp() / result.snr[t]
    c0, _, tilde = result.posterior_weights(t, t - 1)
    return torch.cat([torch.zeros(1).double(), tilde + c0.square() * between])


def variance(model: GaussianDiffusion, result: Schedule, kind: str, clip: bool = False) -> Tensor:
    """σ_t² by t, (T + 1,), of one of VARIANCES."""
    return fitted(model, result, clip) if kind == "fitted" else bound.variances(result, kind)  # type: ignore[arg-type]


@torch.no_grad()
def learned(model: GaussianDiffusion, result: Schedule, noisy: Tensor, t: Tensor) -> Tensor:
    """Learned σ_t² per dimension of x_t (N, 1, S, S) at t (N,): the network's v between this chain's β̃ and
    β."""
    own = model.schedule.time_of(result.alpha_bar[t]).to(noisy)
    v = model.split(model.net(noisy, own, None))[1]
    assert v is not None
    return bound.learned_variance(result, v.double(), t)


@dataclass(frozen=True)
class Bits:
    """
    Attributes:
        terms: (T,) bits of L_0 (t = 1) and L_{t−1} of t = 2 … T; prior: L_T.
        times: t of each frame. noisy, clean: (T, S, S) x_t and x̂_0 of t = 1 … T, data units.
    """

    terms: Tensor
    prior: float
    times: list[int]
    noisy: Tensor
    clean: Tensor

    @property
    def total(self) -> float:
        """Bits of the picture."""
        return float(self.terms.sum()) + self.prior

    @property
    def so_far(self) -> Tensor:
        """(T,) bits of all terms up to t."""
        return self.terms.cumsum(0)

    @property
    def half(self) -> int:
        """The first t by which half of the bits are counted."""
        return int((self.so_far < 0.5 * self.total).sum()) + 1


@dataclass(frozen=True)
class Asked:
    """Inputs and answers of the network at t = 1 … T: x_t and x̂_0 (T, 1, S, S), in its units."""

    noisy: Tensor
    clean: Tensor


def ask(model: GaussianDiffusion, result: Schedule, x: Tensor, seed: int = 0, clip: bool = False) -> Asked:
    """x_t of one picture (1, 1, S, S) at every t, one draw of noise for each, and the network's
    predictions."""
    order = torch.cat(
        [torch.arange(2, result.T + 1), torch.ones(1, dtype=torch.long)]
    )  # as `bound.bound` draws
    return Asked(
        *(torch.cat([part[-1:], part[:-1]]) for part in predictions(model, result, x, order, seed, clip))
    )


def terms(
    model: GaussianDiffusion,
    result: Schedule,
    x: Tensor,
    square: Tensor | None,
    seed: int = 0,
    clip: bool = False,
    asked: Asked | None = None,
) -> Bits:
    """Every term of the bound of one picture (1, 1, S, S), one draw of noise for each.

    Args:
        square: σ² by t, (T + 1,); None takes the learned one.
        asked: `ask` of the same, where it is known: σ² is not in it.
    """
    asked = asked or ask(model, result, x, seed, clip)
    x0, t = model.preprocess(x), torch.arange(1, result.T + 1)
    noisy, clean = asked.noisy, asked.clean
    spread = learned(model, result, noisy, t) if square is None else rows(square[t], noisy.double())
    nats = bound.term(result, x0.expand_as(clean), clean, spread, t, of_model(model)[1])
    return Bits(
        nats / math.log(2),
        float(bound.prior_kl(result, x0)) / math.log(2),
        [i + 1 for i in stops(result.T)],
        model.postprocess(noisy).squeeze(1).clamp(0, 1),
        model.postprocess(clean).squeeze(1).clamp(0, 1),
    )
