"""A Gaussian mixture and its EM, looked at half a step at a time.

An E-step sets the responsibilities r to the posterior: the bound touches log p. An M-step moves the
parameters: both rise. All sums are over examples, all numbers shown are means: nats per point.

References: Dempster, Laird, Rubin 1977; Neal, Hinton 1998; [GM] §3.2.2 (it says that EM increases the
likelihood: it never lowers it, and at a fixed point it stays).
"""

import warnings
from itertools import pairwise
from math import isnan
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.distributions import MultivariateNormal

from modules.latent.em import CollapseWarning
from modules.latent.gaussians import Covariance
from modules.latent.kmeans import kmeans_plus_plus
from modules.latent.mixture import GaussianMixture

STARTS = ("one corner", "k-means++", "on a point", "all alike")


class Half(NamedTuple):
    """The mixture after a half-step.

    Attributes:
        kind: "start", "E", "M", or "end": the M-step that would leave a Gaussian without width.
        weights: (K,); means (K, 2); matrices (K, 2, 2).
        r: (N, K) the responsibilities, or None before the first E-step.
        log_p, elbo: nats per point; NaN where there is none.
        low: Gaussians whose least variance is at the floor.
    """

    kind: str
    weights: Tensor
    means: Tensor
    matrices: Tensor
    r: Tensor | None
    log_p: float
    elbo: float
    low: list[int]


def begun(x: Tensor, k: int, covariance: Covariance, floor: float, start: str, seed: int) -> GaussianMixture:
    """A mixture where EM begins.

    Raises:
        ValueError: fewer points than components, or all at one place.
    """
    if len(x) < max(2, k):
        raise ValueError(f"{k} Gaussians need at least {max(2, k)} points: there are {len(x)}. Click some.")
    spread = float(x.var(0, unbiased=False).mean())
    if spread == 0:
        raise ValueError("All points are at one place: click another.")
    generator = torch.Generator().manual_seed(seed)
    model = GaussianMixture(components=k, covariance=covariance, floor=floor)
    gaussians = model.gaussians
    if start == "k-means++":
        model.initialize(x, generator)
    elif start == "all alike":
        even = torch.full((len(x), k), 1 / k, dtype=torch.float64)
        gaussians.m_step(gaussians.moments(x, even), warn=False)
    elif start == "on a point":  # the first is small and sits on the point farthest out
        far = (x - x.mean(0)).square().sum(1).argmax()
        rest = x[torch.arange(len(x)) != far] if len(x) > k else x
        means = torch.cat([x[far][None], kmeans_plus_plus(rest, k - 1, generator)]) if k > 1 else x[far][None]
        share = torch.full((k,), 0.3, dtype=torch.float64)
        share[0] = 0.2
        shares = {"full": share[:, None, None], "diag": share[:, None], "spherical": share, "tied": share[-1]}
        gaussians.set_parameters(means, shares[covariance] * spread * gaussians.covariances)
    else:  # the lower left, where the points are that have the least sum; the seed shakes them a little
        near = x[x.sum(1).argsort()[:k]]
        shaken = near + 0.1 * spread**0.5 * torch.randn(k, 2, generator=generator, dtype=torch.float64)
        gaussians.set_parameters(shaken, spread * gaussians.covariances)
    return model


def em(
    x: Tensor, k: int, covariance: Covariance, floor: float, start: str, seed: int, most: int = 40
) -> list[Half]:
    """EM in half-steps until a step gains less than 1e-5 nats per point, or `most` steps."""
    model = begun(x, k, covariance, floor, start, seed)
    g, least = model.gaussians, 1e-13 * float(x.var(0, unbiased=False).mean())

    def half(kind: str, log_p: float, r: Tensor | None) -> Half:
        elbo = float(model.elbo(x, r).mean()) if r is not None else float("nan")
        variances = torch.linalg.eigvalsh(g.matrices)[:, 0]
        low = (variances <= 1.0001 * max(floor, least)).nonzero().flatten().tolist()
        return Half(kind, model.weights.clone(), g.means.clone(), g.matrices.clone(), r, log_p, elbo, low)

    joint = model.log_joint(x)
    log_p = float(joint.logsumexp(1).mean())
    halves = [half("start", log_p, None)]
    for _ in range(most):
        r = joint.softmax(1)
        halves.append(half("E", log_p, r))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CollapseWarning)  # `low` says so
            model.m_step(g.moments(x, r))
        if float(torch.linalg.eigvalsh(g.matrices).amin()) < least:
            halves.append(halves[-1]._replace(kind="end", elbo=float("nan"), log_p=float("nan")))
            break
        joint = model.log_joint(x)
        before, log_p = log_p, float(joint.logsumexp(1).mean())
        halves.append(half("M", log_p, r))
        if abs(log_p - before) < 1e-5:
            break
    return halves


def captions(halves: list[Half]) -> list[str]:
    """A sentence for every half-step."""
    texts = [f"The start: log p is {halves[0].log_p:.4f} nats per point; no point is anybody's yet."]
    for i, (before, now) in enumerate(pairwise(halves), start=1):
        step, gain = (i + 1) // 2, now.log_p - before.log_p
        floor = "".join(f" Gaussian {k + 1} is at the floor of its variance." for k in now.low)
        if now.kind == "E":
            rise = "" if isnan(before.elbo) else f" rises by {now.elbo - before.elbo:.4f} and"
            texts.append(f"E-step {step}: the posterior of every point. The bound{rise} touches log p.")
        elif now.kind == "end":
            texts.append(
                f"M-step {step}: one Gaussian would be left without width: log p → ∞. A floor stops that."
            )
        elif abs(gain) < 1e-9:
            texts.append(f"M-step {step}: nothing changes: log p stays at {now.log_p:.4f}.{floor}")
        else:
            texts.append(
                f"M-step {step}: log p rises by {small(gain)} to {now.log_p:.4f}; the bound lags "
                f"{small(now.log_p - now.elbo)} behind.{floor}"
            )
    return texts


def equations(halves: list[Half], x: Tensor, n: int) -> list[str]:
    """Equation of an E-step, the responsibility for point n, or of an M-step, the weight of the same
    component, LaTeX."""
    sound = [half for half in halves if half.kind != "end"]
    means, matrices = (torch.stack([getattr(h, name) for h in sound]) for name in ("means", "matrices"))
    components = MultivariateNormal(means, matrices, validate_args=False)  # of every half-step and component
    joints = torch.stack([half.weights for half in sound]) * components.log_prob(x[n]).exp()
    latex = [r"\log p(x) = \log \textstyle\sum_k \pi_k\, N(x; \mu_k, \Sigma_k)"]
    for number, now in enumerate(halves[1:]):
        if now.kind == "end" or now.r is None:
            latex.append(r"\Sigma_k \to 0: \quad N(x_n; x_n, \Sigma_k) \to \infty")
            continue
        k = int(now.r[n].argmax())
        if now.kind == "E":
            top, total = float(joints[number, k]), float(joints[number].sum())
            latex.append(
                rf"r_{{n{k + 1}}} = \frac{{\pi_{k + 1} N_{k + 1}(x_n)}}{{\sum_j \pi_j N_j(x_n)}} = "
                rf"\frac{{{scientific(top)}}}{{{scientific(total)}}} = {float(now.r[n, k]):.3f}"
            )
        else:
            members = float(now.r[:, k].sum())
            latex.append(
                rf"\pi_{k + 1} = \frac{{1}}{{N}} \sum_n r_{{n{k + 1}}} = "
                rf"\frac{{{members:.2f}}}{{{len(x)}}} = {members / len(x):.3f}, \quad "
                rf"\mathrm{{ELBO}} = {now.elbo:.4f} \le \log p(x) = {now.log_p:.4f}"
            )
    return latex


def small(value: float) -> str:
    """Four decimals, or two digits of what is smaller."""
    return f"{value:.4f}" if abs(value) >= 5e-4 else f"{value:.1e}"


def scientific(value: float) -> str:
    """Four decimals, or a power of ten where they would be 0, LaTeX."""
    if value >= 0.001 or value == 0:
        return f"{value:.4f}"
    digits, _, power = f"{value:.2e}".partition("e")
    return rf"{digits} \cdot 10^{{{int(power)}}}"


def undecided(halves: list[Half]) -> int:
    """The point whose likeliest component is the least sure at the end, its index."""
    r = halves[-1].r
    return 0 if r is None else int(r.amax(1).argmin())


def restarts(x: Tensor, k: int, covariance: Covariance, floor: float, count: int = 6) -> dict[str, list[Any]]:
    """The log-likelihood that k-means++ with seeds 0, 1, … comes to in 30 steps, as columns."""
    ends = []
    for seed in range(count):
        model = begun(x, k, covariance, max(floor, 1e-6), "k-means++", seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CollapseWarning)
            ends.append(model.fit(x, 30)[-1] / len(x))
    return {"seed": list(range(count)), "log p, nats per point": [round(v, 4) for v in ends]}


def parameters(half: Half) -> dict[str, list[str]]:
    """The mixture after a half-step as columns; σ along the axes of the ellipse."""
    sigmas = torch.linalg.eigvalsh(half.matrices).clamp(min=0).sqrt()
    return {
        "Gaussian": [str(k + 1) for k in range(len(half.weights))],
        "weight π": [f"{v:.4f}" for v in half.weights.tolist()],
        "mean μ": [f"{a:.3f}, {b:.3f}" for a, b in half.means.tolist()],
        "widths σ": [f"{a:.4g}, {b:.4g}" for a, b in sigmas.tolist()],
    }


def equally_wide(k: int, sigma: float) -> Tensor:
    """K covariances σ² I, (K, 2, 2)."""
    return sigma**2 * torch.eye(2, dtype=torch.float64).expand(k, 2, 2)


def ellipses(means: Tensor, matrices: Tensor, sigmas: float = 2.0, count: int = 48) -> Tensor:
    """Ellipses on which the Mahalanobis distance from the mean is `sigmas`, (K, count, 2)."""
    values, vectors = torch.linalg.eigh(matrices)
    angle = torch.linspace(0, 2 * torch.pi, count, dtype=torch.float64)
    circle = torch.stack([angle.cos(), angle.sin()], 1)
    axes = vectors * values.clamp(min=0).sqrt()[:, None, :]  # (K, 2, 2)
    return means[:, None] + sigmas * circle @ axes.mT
