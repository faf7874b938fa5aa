r"""A VAE and a flow on the same digits, judged alike: by the density of grey levels with uniform noise.

    y = x + u, u in [0, 1)^D;   log P(x) ≥ E_u log p(y)
    flow   log p(y) exactly         VAE   log p(y) ≥ log 1/S Σ_s p(y|z_s) p(z_s) / q(z_s|y)

The VAE was trained on pictures in [0, 1]: a grey level k is k / 16 there, so y stands at (y − ½) / 16, and
its density has a factor 16^−D. Shapes: grey levels x (N, 1, 8, 8), 0 to 16; z (N, K).
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from lab.lenses.glows import WHITE, noise
from lab.lenses.glows import pictures as flow_pictures
from modules.flow.coupling import Coupling
from modules.flow.glow import Glow
from modules.latent.taxonomy import VAE_OR_FLOW
from modules.latent.vae import VAE

STEPS = 11
DRAWS = 200  # of z, for the bound
SHOWN = 30  # samples


def scaled(y: Tensor) -> Tensor:
    """Grey levels with noise (N, 1, 8, 8) as the VAE knows pictures: (N, 64)."""
    return ((y - 0.5) / WHITE).flatten(1)


@torch.no_grad()
def vae_bounds(model: VAE, y: Tensor, draws: int = DRAWS, seed: int = 0) -> tuple[Tensor, Tensor]:
    """log p(y) bounded by one draw of z (their mean) and by all of them, (N,) each, nats."""
    log_w = model.log_weights(scaled(y), draws, torch.Generator().manual_seed(seed))
    shift = y[0].numel() * math.log(WHITE)
    return log_w.mean(0) - shift, log_w.logsumexp(0) - math.log(draws) - shift


def bits(log_p: float | Tensor, features: int = 64) -> float:
    """Bits per pixel."""
    return -float(torch.as_tensor(log_p).detach().mean()) / (features * math.log(2))


@torch.no_grad()
def samples(vae: VAE, flow: Glow, seed: int) -> tuple[Tensor, Tensor]:
    """SHOWN grey pictures of each, (SHOWN, 8, 8): the VAE's mean of its pixels, and the flow's."""
    generator = torch.Generator().manual_seed(seed)
    z = torch.randn(SHOWN, vae.latent_dim, generator=generator)
    drawn = vae.decode(z).view(SHOWN, 8, 8) * WHITE
    return drawn, flow_pictures(flow, torch.randn(SHOWN, flow.event_dim, generator=generator))


@dataclass(frozen=True)
class Way:
    """From one digit to another through z.

    Attributes:
        pictures: (S, 8, 8) grey levels. log_prob: (S,) of them, by the flow. ends: largest error of a grey
            level at the two ends.
    """

    pictures: Tensor
    log_prob: Tensor
    ends: float


@torch.no_grad()
def ways(vae: VAE, flow: Glow, a: Tensor, b: Tensor) -> tuple[Way, Way]:
    """The VAE's and the flow's way from grey levels a to b, each (1, 1, 8, 8), on a line through z."""
    y = torch.cat([a, b]) + noise(torch.cat([a, b]))
    t = torch.linspace(0, 1, STEPS)[:, None]
    results = []
    for encode, decode in (
        (lambda v: vae.encode(scaled(v)), lambda z: vae.decode(z).view(-1, 1, 8, 8) * WHITE + 0.5),
        (flow.encode, flow.decode),
    ):
        za, zb = encode(y)
        path = decode((1 - t) * za + t * zb)
        off = float((path[[0, -1]] - y).abs().max())
        results.append(Way(path[:, 0] - 0.5, flow.log_prob(path), off))
    return results[0], results[1]


def size(model: VAE | Glow) -> int:
    """Its parameters."""
    return sum(p.numel() for p in model.parameters())


def weighed(vae: int, flow: int) -> str:
    """Sentence on the sizes of the two."""
    if abs(vae - flow) <= 0.05 * flow:
        return "Both have the same number of weights, to within 5 %."
    larger, times = ("VAE", vae / flow) if vae > flow else ("flow", flow / vae)
    return f"The {larger} is the larger model, {times:.1f} times."


# --- The table ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """An aspect: what the text says of both, what is measured of both, and what to think of it ("" where the
    measurement agrees)."""

    aspect: str
    claims: tuple[str, str]
    measured: tuple[str, str]
    but: str


@dataclass(frozen=True)
class Measured:
    """Scores of both models, VAE first, on held-out digits.

    Attributes:
        bits: a pixel. gap: nats from the VAE's one-draw bound to its best; gain: nats that the flow's own
            bound on whole grey levels gains by averaging eight draws of noise.
        off: root mean square error of a grey level after z and back. spread: mean square of z a dimension.
        right: share of held-out digits whose nearest training digit in z has their class.
        sampling, encoding: milliseconds for 100 pictures. networks: called for one picture.
    """

    bits: tuple[float, float]
    gap: float
    gain: float
    off: tuple[float, float]
    spread: tuple[float, float]
    right: tuple[float, float]
    sampling: tuple[float, float]
    encoding: tuple[float, float]
    networks: tuple[int, int]


@torch.no_grad()
def measure(
    vae: VAE, flow: Glow, train: tuple[Tensor, Tensor], held: tuple[Tensor, Tensor], count: int
) -> Measured:
    """
    Args:
        train, held: grey levels and labels.
        count: held-out digits that are scored.
    """
    x, labels = held[0][:count], held[1][:count]
    y = x + noise(x)
    one, best = vae_bounds(vae, y, 64)
    exact = torch.stack([flow.log_prob(x + noise(x, seed)) for seed in range(8)])
    codes = [lambda v: vae.encode(scaled(v)), flow.encode]
    back = [lambda z: vae.decode(z).view(-1, 1, 8, 8) * WHITE + 0.5, flow.decode]
    known = train[0] + noise(train[0])
    off, spread, right = [], [], []
    for encode, decode in zip(codes, back, strict=True):
        z = encode(y)
        off.append(float((decode(z) - y).square().mean().sqrt()))
        spread.append(float(z.square().mean()))
        nearest = torch.cdist(z, encode(known)).argmin(1)
        right.append(float((train[1][nearest] == labels).float().mean()))
    some, z = y[:100], torch.randn(100, 64, generator=torch.Generator().manual_seed(0))
    draw = [clock(lambda: vae.decode(z[:, : vae.latent_dim])), clock(lambda: flow.decode(z))]
    read = [clock(lambda: vae.encode(scaled(some))), clock(lambda: flow.encode(some))]
    couplings = sum(isinstance(layer, Coupling) for layer in flow.modules())
    return Measured(
        (bits(best), bits(exact[0])), float((best - one).mean()),
        float((exact.logsumexp(0) - math.log(8) - exact[0]).mean()), (off[0], off[1]),
        (spread[0], spread[1]), (right[0], right[1]), (draw[0], draw[1]), (read[0], read[1]), (1, couplings),
    )  # fmt: skip


def clock(way: Callable[[], Tensor], repeats: int = 5) -> float:
    """Milliseconds of the shortest of some calls."""
    results = []
    for _ in range(repeats):
        start = time.perf_counter()
        way()
        results.append(1000 * (time.perf_counter() - start))
    return min(results)


def table(result: Measured) -> list[Row]:
    """The text's seven rows with what is measured of them."""
    b, n = result.bits, result.networks
    rows = {
        "likelihood": (
            f"≤ {b[0]:.3f} bits per pixel, 64 draws of z; one draw misses {result.gap:.1f} nats more",
            f"{b[1]:.3f} bits per pixel of x + u; eight draws of u gain {result.gain:.1f} nats",
            "exact for real numbers; for whole grey levels the flow has a bound too",
        ),
        "decoder": (
            f"10 numbers to 64; there and back {result.off[0]:.2f} grey levels off",
            f"64 numbers to 64; there and back {result.off[1]:.0e} off",
            "",
        ),
        "encoder": (
            f"a network, {result.encoding[0]:.2f} ms for 100 digits",
            f"the same {n[1]} networks, {result.encoding[1]:.1f} ms",
            "",
        ),
        "sampling": (
            f"z, then {n[0]} network: {result.sampling[0]:.2f} ms for 100",
            f"{n[1]} networks in turn: {result.sampling[1]:.1f} ms for 100",
            "" if result.sampling[1] < result.sampling[0] else
            f"one pass, but {result.sampling[1] / result.sampling[0]:.0f} times as long",
        ),
        "posterior access": (
            f"a Gaussian guess, {result.gap:.1f} nats off in the bound", "one z, no guess", "",
        ),
        "latent shaped by": (
            f"mean z² = {result.spread[0]:.2f}; N(0, I) has 1",
            f"mean z² = {result.spread[1]:.2f}",
            "",
        ),
        "best use": (
            f"nearest z has the same class: {result.right[0]:.1%}; {b[0]:.3f} bits",
            f"{result.right[1]:.1%}; {b[1]:.3f} bits",
            "" if result.right[0] > result.right[1] and b[1] < b[0] else "the numbers say otherwise here",
        ),
    }  # fmt: skip
    return [Row(aspect, (vae, flow), rows[aspect][:2], rows[aspect][2]) for aspect, vae, flow in VAE_OR_FLOW]
