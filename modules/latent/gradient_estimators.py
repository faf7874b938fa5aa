r"""Gradients of expectations by sampling: the score function, the pathwise estimator, and control variates.

    ∇_λ E_q f(z)  =  E_q[f(z) ∇ log q(z)]              score function (REINFORCE): any q, any f
                  =  E_ε[∇_λ f(g_λ(ε))]                pathwise: z = g_λ(ε) and f smooth
                  =  E_q[(f(z) − b) ∇ log q(z)]        any b that does not depend on z, as E ∇ log q = 0

All are unbiased; they differ in variance. Baselines b: none, the mean E f, the optimum E[f s²]/E[s²] with s
the score, a running mean, the mean of the other samples (leave-one-out), or one learned from x. Of the
ELBO, f = log p(x, z) − log q(z); its path-only gradient leaves out q's own parameters inside log q, and its
variance is 0 where q is the posterior ("sticking the landing"). Discrete z have only the score, and can be
enumerated.

Location and scale: z = μ + σ ε, or μ + L ε. Inverse distribution function: z = −log(1 − ε)/λ is Exp(λ).

Shapes: samples in front: z (S,), gradients (S,); nats.

References: Williams 1992; Kingma, Welling 2014; Rezende, Mohamed, Wierstra 2014; Roeder, Wu, Duvenaud 2017,
arXiv:1703.09194; Kool, van Hoof, Welling 2019 (leave-one-out); Mohamed, Rosca, Figurnov, Mnih 2020,
arXiv:1906.10652; [GM] §3.5–3.6; [UDL] §17.7 and notes; [BB] §6; [DGM], hard attention.
"""

import math
from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor

Function = Callable[[Tensor], Tensor]
Baseline = Literal["none", "mean", "optimal"]


# --- maps from noise ---------------------------------------------------------------------------------


def normal_path(noise: Tensor, mean: Tensor, scale: Tensor) -> Tensor:
    """z = μ + σ ε."""
    return mean + scale * noise


def normal_path_full(noise: Tensor, mean: Tensor, root: Tensor) -> Tensor:
    """z = μ + Σ^½ ε, ε (S, K), root (K, K)."""
    return mean + noise @ root.mT


def exponential_path(noise: Tensor, rate: Tensor) -> Tensor:
    """z = −log(1 − ε)/λ, ε uniform in [0, 1): the inverse distribution function of Exp(λ)."""
    return -torch.log1p(-noise) / rate


def log_density_of_path(noise: Tensor, log_det: Tensor) -> Tensor:
    """log q(z) = log p(ε) − log |det ∂z/∂ε|, ε (S, K) standard; `log_det`: Σ_j log σ_j, or log det Σ^½."""
    return -0.5 * (noise.square() + math.log(2 * math.pi)).sum(-1) - log_det


# --- one gradient per sample ----------------------------------------------------------------------------


def per_sample_gradients(values: Tensor, parameter: Tensor) -> Tensor:
    """d values_s / d parameter_s, where sample s depends on its own copy of the parameter alone."""
    return torch.autograd.grad(values.sum(), parameter)[0]


def pathwise(f: Function, path: Callable[[Tensor], Tensor], parameter: Tensor, samples: int) -> Tensor:
    """∂ f(g_λ(ε_s)) / ∂λ, (S,). `path` takes λ as (S,), a copy for each sample, and has the noise."""
    copies = parameter.detach().expand(samples).clone().requires_grad_()
    return per_sample_gradients(f(path(copies)), copies)


def score(
    f: Function,
    z: Tensor,
    log_q: Callable[[Tensor, Tensor], Tensor],
    parameter: Tensor,
    baseline: Baseline | float = "none",
) -> Tensor:
    """(f(z_s) − b) ∂ log q(z_s; λ)/∂λ, (S,); the "mean" and "optimal" b are those of these very samples."""
    copies = parameter.detach().expand(len(z)).clone().requires_grad_()
    s = per_sample_gradients(log_q(z, copies), copies)
    values = f(z).detach()
    if baseline == "none":
        b: Tensor | float = 0.0
    elif baseline == "mean":
        b = values.mean()
    elif baseline == "optimal":
        b = (values * s.square()).mean() / s.square().mean()
    else:
        b = float(baseline)
    return (values - b) * s


def leave_one_out(
    f: Function, z: Tensor, log_q: Callable[[Tensor, Tensor], Tensor], parameter: Tensor
) -> Tensor:
    """Mean over K samples of (f_k − mean of the other f) times the score, (R,); z (R, K)."""
    k = z.shape[1]
    if k < 2:
        raise ValueError("Leave-one-out needs at least 2 samples.")
    copies = parameter.detach().expand(z.shape).clone().requires_grad_()
    s = per_sample_gradients(log_q(z, copies), copies)
    values = f(z).detach()
    others = (values.sum(1, keepdim=True) - values) / (k - 1)
    return ((values - others) * s).mean(1)


def running_mean(f: Function, z: Tensor, log_q: Callable[[Tensor, Tensor], Tensor], parameter: Tensor,
                 decay: float = 0.9) -> Tensor:  # fmt: skip
    """The score with the exponential running mean of the samples before it as baseline, (S,)."""
    values = f(z).detach()
    b, before = torch.empty_like(values), values.new_zeros(())
    for i, value in enumerate(values):
        b[i] = before
        before = decay * before + (1 - decay) * value
    copies = parameter.detach().expand(len(z)).clone().requires_grad_()
    return (values - b) * per_sample_gradients(log_q(z, copies), copies)


# --- exact: for polynomials, Gaussians and tables --------------------------------------------------------


def variances_of_square(mean: float, samples: int = 2) -> dict[str, float]:
    """Per-sample variance of the gradient by μ of E z², z ~ N(μ, 1): f(z) = z² has the gradient 2μ.

    For leave-one-out: the variance of the mean of K samples, times K, by
    K Var = Var[(f − E f) s] + (Var f Var s + (E f s)²)/(K − 1).
    """
    m2 = mean**2
    with_mean = m2**2 + 14 * m2 + 15 - 2 * (m2 + 1) * (m2 + 3) + (m2 + 1) ** 2
    best = m2 + 3  # E[f s²]/E[s²]
    return {
        "pathwise": 4.0,
        "none": m2**2 + 14 * m2 + 15,
        "mean": with_mean,
        "optimal": m2**2 + 14 * m2 + 15 - 2 * best * (m2 + 3) + best**2,
        "leave_one_out": with_mean + (4 * m2 + 2 + (2 * mean) ** 2) / (samples - 1),
    }


def categorical_scores(logits: Tensor) -> Tensor:
    """∂ log softmax(logits)_c / ∂ logits, (C, C): row c is the score of drawing c."""
    return torch.eye(len(logits)).to(logits) - logits.softmax(0)


def categorical_moments(values: Tensor, logits: Tensor, baseline: float = 0.0) -> tuple[Tensor, Tensor]:
    """Mean and per-sample variance (C,) of (f(c) − b) ∇ log q(c) with c drawn, by enumeration."""
    q = logits.softmax(0)
    estimates = (values - baseline)[:, None] * categorical_scores(logits)
    mean = q @ estimates
    return mean, q @ estimates.square() - mean.square()


def bernoulli_moments(values: Tensor, p: float, baseline: float = 0.0) -> tuple[float, float]:
    """Mean and variance of (f(z) − b) ∂ log q/∂ logit, z ~ Bernoulli(p), values = (f(0), f(1)); the score is
    z − p."""
    estimates = (values - baseline) * torch.tensor([-p, 1 - p], dtype=values.dtype)
    q = torch.tensor([1 - p, p], dtype=values.dtype)
    mean = q @ estimates
    return float(mean), float(q @ estimates.square() - mean**2)


def bernoulli_vector_gradient(f: Function, logits: Tensor) -> Tensor:
    """Exact ∇_logits E f(z) for K independent bits, by all 2^K of them: the referee for discrete latents."""
    k = len(logits)
    z = ((torch.arange(2**k)[:, None] >> torch.arange(k)) & 1).to(logits)
    at = logits.detach().clone().requires_grad_()
    log_q = (z * at - torch.nn.functional.softplus(at)).sum(1)
    return torch.autograd.grad((log_q.exp() * f(z)).sum(), at)[0]
