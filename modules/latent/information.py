r"""Surprise, entropy, cross-entropy and Kullback–Leibler divergence of finite distributions.

    H(p) = −Σ p log p,   H(p, q) = −Σ p log q,   KL(p ‖ q) = H(p, q) − H(p) ≥ 0

KL is what is paid in surprise for believing q where p is true: +∞ where q rules out what p allows, 0 only
at q = p. It is not symmetric and obeys no triangle inequality; it is jointly convex, with KL(p′ ‖ q′) on
the right ([BB] lemma 6.2(4) prints KL(p ‖ q) twice), and a one-to-one change of variables leaves it as it
is. [GM] §3.4.2 gives P to the posterior and Q to its approximation, then minimises KL(Q ‖ P): the arguments
are swapped.

Two families of models are tables here, so that every sum is exact: p(z), p(x|z) and q(z|x) over finitely
many x and z. For them, with the data's own distribution q_D,

    KL(q_D(x) q(z|x) ‖ p(z) p(x|z)) = KL(q_D ‖ p(x)) + E KL(q(z|x) ‖ p(z|x)),   E[−ELBO] = that + H(q_D)
    E KL(q(z|x) ‖ p(z)) = I_q(x; z) + KL(q(z) ‖ p(z))

[GM] 3.40–3.41 leave H(q_D) out; problem 3.1(a) leaves I_q out, which makes an upper bound of the ELBO.

Shapes: distributions (..., K), entries sum to 1; nats.

References: Shannon 1948; Kullback, Leibler 1951; [GM] §3.4.2, §3.4.6; [BB] §1.4, §6.
"""

from dataclasses import dataclass

import torch
from torch import Tensor


def entropy(p: Tensor) -> Tensor:
    """H(p), 0 log 0 = 0."""
    return -torch.xlogy(p, p).sum(-1)


def cross_entropy(p: Tensor, q: Tensor) -> Tensor:
    """H(p, q): +∞ where q is 0 and p is not."""
    return -torch.xlogy(p, q).sum(-1)


def kl(p: Tensor, q: Tensor) -> Tensor:
    """KL(p ‖ q)."""
    return cross_entropy(p, q) - entropy(p)


def mutual_information(joint: Tensor) -> Tensor:
    """I of a joint table (A, B): KL from the product of its margins."""
    product = joint.sum(-1, keepdim=True) * joint.sum(-2, keepdim=True)
    return kl(joint.flatten(-2), product.flatten(-2))


def jensen_gap(values: Tensor, weights: Tensor) -> Tensor:
    """log E y − E log y of positive values: never below 0, and 0 only if y is constant."""
    return (weights * values).sum(-1).log() - (weights * values.log()).sum(-1)


@dataclass(frozen=True)
class Tables:
    """A latent variable model and its inference, all finite.

    Attributes:
        data: q_D(x), (X,).
        prior: p(z), (Z,).
        likelihood: p(x|z), (Z, X).
        inference: q(z|x), (X, Z).
    """

    data: Tensor
    prior: Tensor
    likelihood: Tensor
    inference: Tensor

    @property
    def joint(self) -> Tensor:
        """p(x, z), (X, Z)."""
        return (self.prior[:, None] * self.likelihood).T

    @property
    def evidence(self) -> Tensor:
        """p(x), (X,)."""
        return self.joint.sum(1)

    @property
    def posterior(self) -> Tensor:
        """p(z|x), (X, Z)."""
        return self.joint / self.evidence[:, None]

    def elbo(self) -> Tensor:
        """ELBO of each x, (X,)."""
        return -kl(self.inference, self.joint)

    @property
    def aggregated(self) -> Tensor:
        """q(z) = E_{q_D} q(z|x), (Z,)."""
        return self.data @ self.inference

    def two_kls(self) -> dict[str, Tensor]:
        """The joint KL and its parts, and the entropy that makes E[−ELBO] of it; E KL(q(z|x) ‖ p(z))
        and its parts, `information` and `aggregated`."""
        q = self.data[:, None] * self.inference
        rate = kl(self.inference, self.prior)
        return {
            "joint": kl(q.flatten(), self.joint.flatten()),
            "marginal": kl(self.data, self.evidence),
            "posterior": self.data @ kl(self.inference, self.posterior),
            "entropy": entropy(self.data),
            "negative_elbo": -(self.data @ self.elbo()),
            "rate": self.data @ rate,
            "information": mutual_information(q),
            "aggregated": kl(self.aggregated, self.prior),
        }
