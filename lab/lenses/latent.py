r"""Look into the latent space of any model that offers `encode`, `decode` and `prior`.

Encode own input, interpolate between two codes (straight or on a sphere), traverse single dimensions,
decode a grid of the plane, add and subtract codes, find neighbours. For models with a bound (VAE) also: the
bound's parts, the exact posterior on a grid, and the best Gaussian approximation of it.

Shapes: x (N, ...); codes (N, K), flattened if the model's are not; pictures (N, H, W).
References: [UDL] §17.8.2-17.8.4; [GM] §3.4, §3.9; White 2016, Sampling Generative Networks,
arXiv:1609.04468 (spherical interpolation, attribute vectors).
"""

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from lab.lenses.training import training_steps
from modules.importance import effective_sample_size
from modules.latent.bounds import gaussian_kl, reparameterize
from modules.latent.importance import defensive_weights
from modules.latent.vae import VAE

Interpolation = Literal["linear", "spherical"]
RIDGE = 1e-3  # of a probe
MOVES = 0.01  # variance of a posterior mean from which its dimension counts as active


# --- Input and output -----------------------------------------------------------------------------


def side_of(model: Any) -> int:
    """Pixels along a side of the model's square pictures.

    Raises:
        ValueError: its examples are no square grey pictures.
    """
    size = math.prod(model.event_shape)
    side = math.isqrt(size)
    if side * side != size:
        raise ValueError(f"The model's examples have {size} numbers: that is no square picture.")
    return side


def as_input(model: Any, pictures: Tensor) -> Tensor:
    """Grey pictures (..., H, W) in [0, 1] as the model's x (N, *event_shape).

    Resized where the sizes differ; made binary at ½ where the model's pixels are coins.
    """
    side = side_of(model)
    x = pictures.reshape(-1, 1, *pictures.shape[-2:]).float()
    if x.shape[-1] != side:
        x = F.interpolate(x, (side, side), mode="bilinear", antialias=True).clamp(0, 1)
    if getattr(model, "likelihood", None) == "bernoulli":
        x = (x > 0.5).float()
    return x.reshape(len(x), *model.event_shape)


def pictures_of(model: Any, x: Tensor) -> Tensor:
    """The model's x (..., *event_shape) as pictures (..., H, W)."""
    side = side_of(model)
    return x.reshape(*x.shape[: x.ndim - len(model.event_shape)], side, side)


def in_mnist_frame(digits: Tensor) -> Tensor:
    """Small digits (N, 8, 8) drawn as MNIST draws its own: (N, 28, 28).

    MNIST's digits fill a box of 20 × 20 pixels, whose centre of mass sits in the middle of 28 × 28.
    """
    boxes = F.interpolate(digits[:, None].float(), (20, 20), mode="bicubic").clamp(0, 1)[:, 0]  # (N, 20, 20)
    place = torch.arange(20.0) - 9.5
    mass = boxes.sum((1, 2)).clamp(min=1e-9)
    down = ((boxes.sum(2) @ place) / mass).round().long().clamp(-4, 4)  # of the ink's centre
    right = ((boxes.sum(1) @ place) / mass).round().long().clamp(-4, 4)
    out = torch.zeros(len(boxes), 28, 28)
    for i, (r, c) in enumerate(zip((4 - down).tolist(), (4 - right).tolist(), strict=True)):
        out[i, r : r + 20, c : c + 20] = boxes[i]
    return out


@torch.no_grad()
def codes(model: Any, x: Tensor, batch: int = 1024) -> Tensor:
    """(N, K) codes of x (N, ...), in batches."""
    return torch.cat([model.encode(part).flatten(1) for part in x.split(batch)])


@torch.no_grad()
def decoded(model: Any, z: Tensor, batch: int = 2048) -> Tensor:
    """Codes (..., K) -> pictures (..., H, W), in batches."""
    flat = z.reshape(-1, z.shape[-1])
    parts = [pictures_of(model, model.decode(part)) for part in flat.split(batch)]
    return torch.cat(parts).reshape(*z.shape[:-1], *parts[0].shape[-2:])


def stacked(parts: Sequence[Tensor]) -> Tensor:
    """Tensors of one shape (…) as one (N, …)."""
    return torch.stack(list(parts))


@torch.no_grad()
def drawn_digits(painter: Any, reader: Any, count: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Digits that no file is needed for: pictures (count, H, W) and labels (count,).

    `painter`, a generator of MNIST, draws twice as many; `reader`, a classifier of MNIST, names them,
    and those of which it is surest are kept, the surest first. Small digits do not replace
    them: upright and thick as they are, a VAE of MNIST tells only half of their classes apart.
    """
    x = painter.sample(2 * count, generator=torch.Generator().manual_seed(seed))
    x = x.reshape(2 * count, 1, *[math.isqrt(x[0].numel())] * 2)
    sure, labels = reader.predict(x).softmax(-1).max(-1)
    kept = sure.topk(count).indices
    return x[kept, 0], labels[kept]


def examples(pictures: Tensor, labels: Tensor) -> list[tuple[str, Tensor]]:
    """One example of each class, (name, (H, W)), and a box, which is no digit, as a failure to try."""
    chosen = [(str(c), pictures[labels == c][0]) for c in labels.unique().tolist()]
    side = pictures.shape[-1]
    box, edge, thick = torch.zeros(side, side), side // 5, max(1, side // 14)
    box[edge : side - edge, edge : side - edge] = 1.0
    box[edge + thick : side - edge - thick, edge + thick : side - edge - thick] = 0.0
    return [*chosen, ("box", box)]


# --- Interpolation --------------------------------------------------------------------------------


def lerp(a: Tensor, b: Tensor, t: Tensor | float) -> Tensor:
    """(1 − t) a + t b; t broadcasts over leading dimensions."""
    t = torch.as_tensor(t, dtype=a.dtype)[..., None]
    return (1 - t) * a + t * b


def slerp(a: Tensor, b: Tensor, t: Tensor | float) -> Tensor:
    """[sin((1 − t) ω) a + sin(t ω) b] / sin ω, with ω the angle between a and b (K,).

    Where ω is 0 (or a code is the origin, which has no direction) the straight line is meant.

    Raises:
        ValueError: a and b point in opposite directions: every great circle joins them.
    """
    omega = angle(a, b)
    if omega < 1e-6:
        return lerp(a, b, t)
    if math.pi - omega < 1e-6:
        raise ValueError("The two codes point in opposite directions: no one arc joins them.")
    t = torch.as_tensor(t, dtype=a.dtype)[..., None]
    return (torch.sin((1 - t) * omega) * a + torch.sin(t * omega) * b) / math.sin(omega)


def angle(a: Tensor, b: Tensor) -> float:
    """ω in radians between two codes; 0 where one of them is the origin."""
    lengths = a.norm() * b.norm()
    if lengths == 0:
        return 0.0
    # atan2 keeps its digits near 0 and π, where acos of the cosine loses half of them
    u, v = a / a.norm(), b / b.norm()
    return 2 * math.atan2((u - v).norm().item(), (u + v).norm().item())


def interpolate(a: Tensor, b: Tensor, steps: int, kind: Interpolation = "linear") -> Tensor:
    """(steps, K) codes from a to b, both ends included."""
    t = torch.linspace(0, 1, steps, dtype=a.dtype)
    return lerp(a, b, t) if kind == "linear" else slerp(a, b, t)


def traverse(z: Tensor, values: Sequence[float] | Tensor, dimensions: Sequence[int]) -> Tensor:
    """Set one dimension at a time: z (K,), V values -> codes (len(dimensions), V, K)."""
    values = torch.as_tensor(values, dtype=z.dtype)
    out = z.expand(len(dimensions), len(values), -1).clone()
    for row, dimension in enumerate(dimensions):
        out[row, :, dimension] = values
    return out


def typical_length(k: int) -> float:
    """Mean length of a draw from N(0, I_K): √2 Γ((K + 1)/2) / Γ(K/2), close to √(K − ½)."""
    return math.sqrt(2) * math.exp(math.lgamma((k + 1) / 2) - math.lgamma(k / 2))


def share_shorter(length: float, k: int) -> float:
    """Chance that a draw from N(0, I_K) is shorter than this: ‖z‖² has a χ² distribution."""
    return torch.special.gammainc(torch.tensor(k / 2.0), torch.tensor(length * length / 2)).item()


# --- Planes ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plane:
    """A plane in code space: code = origin + u · axes[0] + v · axes[1].

    Attributes:
        origin: (K,).
        axes: (2, K), orthonormal.
        names: of the two axes.
        share: part of the codes' variance that lies in the plane; 1 where K = 2.
    """

    origin: Tensor
    axes: Tensor
    names: tuple[str, str]
    share: float

    def place(self, z: Tensor) -> Tensor:
        """Codes (..., K) -> where their shadows fall, (..., 2)."""
        return (z - self.origin) @ self.axes.T

    def code(self, uv: Tensor) -> Tensor:
        """Places (..., 2) -> codes (..., K)."""
        return self.origin + uv @ self.axes

    def at(self, u: float, v: float) -> Tensor:
        """The code (K,) at one place."""
        return self.code(self.origin.new_tensor([u, v]))


def plane_of(z: Tensor) -> Plane:
    """The whole space where K = 2; else the plane of the two principal axes of the codes z (N, K).

    Signs of the axes are fixed (their largest entry is positive), so a link shows the same plane.
    """
    k = z.shape[1]
    if k == 2:
        return Plane(z.new_zeros(2), torch.eye(2, dtype=z.dtype), ("z₁", "z₂"), 1.0)
    if k < 2:
        raise ValueError("A code of one number has no plane.")
    mean = z.mean(0)
    values, vectors = torch.linalg.eigh((z - mean).T.cov())  # ascending
    axes = vectors[:, [-1, -2]].T  # (2, K)
    largest = axes.gather(1, axes.abs().argmax(1, keepdim=True))
    share = (values[-2:].sum() / values.sum()).item()
    return Plane(mean, axes * largest.sign(), ("1st principal axis", "2nd principal axis"), share)


def ellipse(plane: Plane, mean: Tensor, log_var: Tensor, deviations: float = 2.0) -> Tensor:
    """(65, 2) outline of the shadow that N(mean, diag σ²), both (K,), throws on the plane."""
    covariance = plane.axes @ (log_var.exp()[:, None] * plane.axes.T)  # (2, 2)
    turn = torch.linspace(0, 2 * math.pi, 65, dtype=mean.dtype)
    circle = torch.stack([turn.cos(), turn.sin()], 1)  # (65, 2)
    return plane.place(mean) + deviations * circle @ torch.linalg.cholesky(covariance).T


def lattice(extent: float, size: int) -> Tensor:
    """(size, size, 2) places of a square grid; row 0 is at the top (v = +extent)."""
    line = torch.linspace(-extent, extent, size)
    v, u = torch.meshgrid(line.flip(0), line, indexing="ij")
    return torch.stack([u, v], -1)


def decode_plane(model: Any, plane: Plane, extent: float = 3.0, size: int = 21) -> Tensor:
    """(size, size, H, W) pictures of a grid of the plane."""
    return decoded(model, plane.code(lattice(extent, size)))


# --- Arithmetic and neighbours --------------------------------------------------------------------


def class_difference(z: Tensor, labels: Tensor, minus: int, plus: int) -> Tensor:
    """Vector (K,) from the mean code of class `minus` to that of class `plus`."""
    return z[labels == plus].mean(0) - z[labels == minus].mean(0)


def along(z: Tensor, arrow: Tensor, strengths: Sequence[float]) -> Tensor:
    """z + s · arrow for each strength s: (K,) -> (len(strengths), K)."""
    return z + torch.tensor(strengths, dtype=z.dtype)[:, None] * arrow


def neighbours(z: Tensor, point: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Indices and distances (count,) of the codes z (N, K) nearest to point (K,), nearest first."""
    distances = (z - point).norm(dim=1)
    nearest = distances.topk(min(count, len(z)), largest=False)
    return nearest.indices, nearest.values


# --- What the codes do together -------------------------------------------------------------------


def active_units(means: Tensor, threshold: float = MOVES) -> Tensor:
    """(K,) bool: dimensions whose posterior mean moves with x, Var_x μ_j(x) > threshold ([GM] §3.11.1)."""
    return means.var(0, unbiased=False) > threshold


def probe(z: Tensor, y: Tensor, held_z: Tensor, held_y: Tensor, ridge: float = RIDGE) -> float:
    """Share of held-out labels that a linear map reads from codes, fitted by least squares on the others.

    Args:
        z, y: (N, K) codes and (N,) labels to fit on; held_z, held_y: to score on.
        ridge: times N on the diagonal.
    """
    scale = z.std(0).clamp(min=1e-6)
    one, held = (F.pad(part / scale, (0, 1), value=1.0).double() for part in (z, held_z))
    one_hot = F.one_hot(y, int(y.max()) + 1).double()
    gram = one.T @ one + ridge * len(one) * torch.eye(one.shape[1], dtype=torch.float64)
    weights = torch.linalg.solve(gram, one.T @ one_hot)
    return ((held @ weights).argmax(1) == held_y).double().mean().item()


def majority_accuracy(y: Tensor, held_y: Tensor) -> float:
    """Share of the held-out labels that the commonest label of y gets right."""
    return (held_y == y.bincount().argmax()).double().mean().item()


# --- The bound of one input -----------------------------------------------------------------------


@dataclass(frozen=True)
class Bound:
    """The bound of one x, split into its parts, with the q it belongs to.

    Attributes:
        mean, log_var: (K,) of q(z|x).
        reconstruction: E_q log p(x|z), a mean over the given noise.
        kl: (K,) nats of each dimension, exact.
        pixels: (*event_shape) share of each entry of x in the reconstruction term.
    """

    mean: Tensor
    log_var: Tensor
    reconstruction: float
    kl: Tensor
    pixels: Tensor

    def objective(self, beta: float) -> float:
        """Reconstruction − β KL, what a β-VAE maximises."""
        return self.reconstruction - beta * self.kl.sum().item()

    @property
    def elbo(self) -> float:
        return self.objective(1.0)


def normal_noise(samples: int, k: int, seed: int) -> Tensor:
    """(samples, 1, K) standard normal noise, centred and scaled to have exactly mean 0 and variance 1.

    Matching two moments leaves the estimate exact for a linear decoder and calms it for any other.
    """
    noise = torch.randn(samples, 1, k, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    if samples > 1:
        noise = (noise - noise.mean(0)) / noise.std(0, unbiased=False)
    return noise


@torch.no_grad()
def bound(model: VAE, x: Tensor, noise: Tensor, q: tuple[Tensor, Tensor] | None = None) -> Bound:
    """The parts of the bound for x (1, ...) with noise (S, 1, K); q = (μ, log σ²) replaces the encoder."""
    mean, log_var = q if q is not None else model.encode_parameters(x)
    z = reparameterize(mean, log_var, noise.to(mean.dtype))  # (S, 1, K)
    pixels = model.pixel_log_likelihood(x, z).mean(0)[0]  # (D,)
    return Bound(
        mean=mean.reshape(-1),
        log_var=log_var.reshape(-1),
        reconstruction=pixels.sum().item(),
        kl=gaussian_kl(mean, log_var).reshape(-1),
        pixels=pixels.reshape(model.event_shape),
    )


def refit(
    model: VAE,
    x: Tensor,
    beta: float | Sequence[float],
    noise: Tensor,
    steps: int = 80,
    rate: float = 0.1,
) -> tuple[Tensor, Tensor]:
    """The best q for this one x: (μ, log σ²), (1, K) each, that maximise reconstruction − β KL.

    Classical variational inference ([GM] §3.4.1): the encoder only gives the start. What it gains at
    β = 1 is the encoder's amortisation gap (§3.9). For several β the fits go side by side, (len(β), K).
    """
    with torch.no_grad():
        start = model.encode_parameters(x)
    weights = torch.as_tensor(beta, dtype=start[0].dtype).reshape(-1)  # (B,)
    q = [part.expand(len(weights), -1).clone().requires_grad_() for part in start]
    optimizer = torch.optim.Adam(q, rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    noise = noise.to(q[0].dtype)

    def loss() -> Tensor:  # a sum over β: no fit sees another
        z = reparameterize(q[0], q[1], noise)  # (S, B, K)
        cost = weights * gaussian_kl(q[0], q[1]).sum(-1) - model.log_likelihood(x, z).mean(0)
        return cost.sum()

    deque(training_steps(loss, optimizer, steps, schedule), maxlen=0)  # to the last
    return q[0].detach(), q[1].detach()


@dataclass(frozen=True)
class GridPosterior:
    """p(z|x) on a grid, and the evidence it was normalised by.

    Attributes:
        density: (size,) or (size, size), mean density of each cell; rows as in `lattice`.
        log_evidence: log p(x) in nats, exact up to the grid.
    """

    density: Tensor
    log_evidence: float


@torch.no_grad()
def grid_posterior(
    model: VAE, x: Tensor, extent: float = 5.0, size: int = 51, budget: int = 4000, reach: float = 30.0
) -> GridPosterior:
    """Bayes' rule summed over cells: p(z|x) = p(x|z) p(z) / p(x), p(x) = ∫ p(x|z) p(z) dz, for K = 1 or 2.

    A posterior is often narrower than a cell, so the cells whose middle is within `reach` nats of the
    best are divided, as finely as the budget allows, and all alike: the errors of an even sum over a
    smooth bump cancel, those of an uneven one would not.

    Args:
        x: one example, (1, ...).
        extent, size: the grid has `size` points on [-extent, extent] along each axis.
        budget: decoder passes for the divided cells.
    """
    k, step = model.latent_dim, 2 * extent / (size - 1)
    middles = grid_codes(model, extent, size)
    flat = middles.reshape(-1, k)  # (G, K)
    log_joint = log_joint_of(model, x, flat)
    close = (log_joint > log_joint.max() - reach).nonzero().squeeze(1)
    fine = int((budget / len(close)) ** (1 / k))
    if fine > 1:
        line = ((torch.arange(fine, dtype=flat.dtype) + 0.5) / fine - 0.5) * step
        offsets = torch.cartesian_prod(*[line] * k).reshape(-1, k)  # (fineᴷ, K)
        inside = log_joint_of(model, x, (flat[close, None] + offsets).flatten(0, 1))
        inside = inside.reshape(-1, len(offsets)).logsumexp(1) - math.log(len(offsets))
        log_joint = log_joint.index_copy(0, close, inside)
    log_evidence = log_joint.logsumexp(0) + k * math.log(step)
    return GridPosterior((log_joint - log_evidence).exp().reshape(middles.shape[:-1]), log_evidence.item())


@dataclass(frozen=True)
class Window:
    """p(z|x) on a small square of the plane: `u`, `v` (size,) are its places, `density` (size, size) has a
    row for each v."""

    u: Tensor
    v: Tensor
    density: Tensor


@torch.no_grad()
def posterior_near(
    model: VAE, x: Tensor, log_evidence: float, size: int = 61, deviations: float = 5.0
) -> Window:
    """The exact posterior of one x (1, ...) around the encoder's answer, so many of its deviations away."""
    mean, log_var = model.encode_parameters(x)
    reach = deviations * float((0.5 * log_var).exp().max())
    line = torch.linspace(-reach, reach, size, dtype=mean.dtype)
    u, v = mean[0, 0] + line, mean[0, 1] + line
    places = torch.stack([u.repeat(size), v.repeat_interleave(size)], 1)  # (size², 2)
    return Window(u, v, (log_joint_of(model, x, places) - log_evidence).exp().reshape(size, size))


def log_joint_of(model: VAE, x: Tensor, z: Tensor) -> Tensor:
    """log p(x|z) + log p(z) of one x (1, ...) at codes z (G, K) -> (G,)."""
    parts = [model.log_likelihood(x, part[:, None])[:, 0] for part in z.split(2048)]
    return torch.cat(parts) + model.prior.log_prob(z)


def grid_codes(model: VAE, extent: float, size: int) -> Tensor:
    """(size, 1) or (size, size, 2) codes of a grid, in the model's precision."""
    dtype = model.decoder_log_var.dtype
    if model.latent_dim == 1:
        return torch.linspace(-extent, extent, size, dtype=dtype)[:, None]
    if model.latent_dim == 2:
        return lattice(extent, size).to(dtype)
    raise ValueError(f"A grid over {model.latent_dim} dimensions is too large: only 1 or 2 can be covered.")


PROPOSALS = {"encoder": 0.0, "prior": 1.0, "half of each": 0.5}  # name -> share of draws from the prior


@torch.no_grad()
def importance(model: VAE, x: Tensor, samples: int, seed: int, proposal: str = "encoder") -> Tensor:
    """(S,) log importance weights of one x (1, ...), reproducible.

    Args:
        proposal: one of PROPOSALS; a mixture wants a q(z|x) that is the encoder's Gaussian, and the prior
            N(0, I).
    """
    generator = torch.Generator().manual_seed(seed)
    if not 0 < PROPOSALS[proposal] < 1:
        return model.log_weights(x, samples, generator, proposal)[:, 0]  # type: ignore[arg-type]

    def log_joint(z: Tensor) -> Tensor:
        results = [model.log_likelihood(x, part[:, None])[:, 0] for part in z.split(1000)]
        return torch.cat(results) + model.prior.log_prob(z)

    mean, log_var = (part[0] for part in model.encode_parameters(x))
    return defensive_weights(log_joint, mean, log_var, samples, PROPOSALS[proposal], generator)


def weighted_bounds(log_weights: Tensor, sizes: Sequence[int]) -> list[float]:
    """L_S for several S from one set of weights (N,): means over its N // S disjoint groups of S."""
    out = []
    for size in sizes:
        groups = log_weights[: len(log_weights) // size * size].reshape(-1, size)
        out.append((groups.logsumexp(1) - math.log(size)).mean().item())
    return out


@dataclass(frozen=True)
class Scatter:
    """Histograms of the estimates from S draws: `middles` (bins,) in nats, `shares` (sizes, bins), each
    summing to 1; what lies below the first bin counts in it."""

    middles: Tensor
    shares: Tensor


def scatter(log_weights: Tensor, sizes: Sequence[int], bins: int, exact: float | None = None) -> Scatter:
    """Scatter of the estimates log 1/S Σ w, for several S from one set of weights (N,)."""
    low = log_weights.quantile(0.02).item()
    high = max(log_weights.max().item(), exact if exact is not None else -math.inf)
    edges = torch.linspace(low, high + 0.02 * (high - low) + 1e-6, bins + 1, dtype=log_weights.dtype)
    shares = []
    for size in sizes:
        result = log_weights[: len(log_weights) // size * size].reshape(-1, size).logsumexp(1) - math.log(
            size
        )
        shares.append(torch.histogram(result.clamp(min=low), edges).hist / len(result))
    return Scatter((edges[1:] + edges[:-1]) / 2, torch.stack(shares))


def error(log_weights: Tensor) -> float:
    """Standard error of the log of the weights' mean, √(1/ESS − 1/S) to first order. log_weights (S,)."""
    return math.sqrt(max(0.0, 1 / effective_sample_size(log_weights).item() - 1 / len(log_weights)))


# --- What a page shows ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Overview:
    """The codes of many examples at a glance.

    Attributes:
        means: (N, K) codes.
        kl: (K,) mean KL of each dimension in nats.
        order: dimensions, the largest mean KL first.
        active: how many dimensions are active.
        plane: through the codes.
    """

    means: Tensor
    kl: Tensor
    order: list[int]
    active: int
    plane: Plane


@torch.no_grad()
def overview(model: VAE, x: Tensor) -> Overview:
    """Encode x (N, ...) and look at all codes together."""
    mean, log_var = model.encode_parameters(x)
    kl = gaussian_kl(mean, log_var).mean(0)
    order = kl.argsort(descending=True).tolist()
    return Overview(mean, kl, order, int(active_units(mean).sum()), plane_of(mean))


@dataclass(frozen=True)
class Interpolations:
    """The linear and the spherical interpolation between two codes.

    Attributes:
        codes: (2, steps, K), linear and spherical.
        lengths: "linear" and "spherical" -> (steps,).
        omega: angle between the ends in radians.
        spherical: False where no one arc joins the ends, and both walks are the line.
    """

    codes: Tensor
    lengths: dict[str, Tensor]
    omega: float
    spherical: bool


def interpolations(a: Tensor, b: Tensor, steps: int) -> Interpolations:
    """The linear and the spherical interpolation from a to b, (K,) each."""
    omega = angle(a, b)
    spherical = 1e-6 <= omega <= math.pi - 1e-6
    both = torch.stack(
        [interpolate(a, b, steps), interpolate(a, b, steps, "spherical" if spherical else "linear")]
    )
    lengths = dict(zip(("linear", "spherical"), both.norm(dim=-1), strict=True))
    return Interpolations(both, lengths, omega, spherical)
