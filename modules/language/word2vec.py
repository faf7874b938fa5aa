"""word2vec: a word is what predicts its neighbours (skip-gram), or what its neighbours predict (CBOW).

    skip-gram   p(o | c) = softmax_o(u_o · v_c)
    CBOW        p(c | o_1 … o_m) = softmax_c(u_c · v̄),      v̄ = (1/m) Σ_j v_{o_j}

Two tables: v for a word that is given, u for a word that is predicted. The gradient moves the given
vector towards what came and away from what was expected,

    ∇_{v_c} log p(o | c) = u_o − Σ_x p(x | c) u_x        ∇_{u_x} log p(o | c) = (1[x = o] − p(x | c)) v_c

and in CBOW each of the m context vectors gets 1/m of it. Skip-gram needs of a corpus only how often
each pair occurs, so one step on the count matrix C is one on all pairs:

    loss = −Σ_ij C_ij log p(j | i) / ΣC   ≥   H(O | C), the conditional entropy of the pairs

Negative sampling replaces the sum over V words by K words drawn from the noise q ∝ count^a, a = ¾:

    loss = −log σ(u_o·v_c) − Σ_k log σ(−u_{x_k}·v_c),   least at u_j·v_i = log p(j | i) − log K q_j

so that softmax_j(u_j·v_i + log q_j) is its estimate of p(j | i). With a = 1 the noise is p(j), and the
least is at PMI(i, j) − log K.

([GM] §1.6.1 has a single pass through the corpus; word2vec makes several.)

Shapes: `V` words, `d` dimensions, `B` windows, `m` ≤ 2k context words.

References: Mikolov et al. 2013, arXiv:1301.3781 and arXiv:1310.4546; Levy & Goldberg 2014, NIPS
(negative sampling factorises shifted PMI); [GM] §1.6.1, fig. 1.7-1.8.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torchmetrics import Metric

from modules.base import Module, Split, require


class PairMean(Metric):
    """Σ of nats over the number of predicted words."""

    total: Tensor
    count: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.add_state("total", torch.tensor(0.0), dist_reduce_fx="sum")
        self.add_state("count", torch.tensor(0.0), dist_reduce_fx="sum")

    def update(self, total: Tensor, count: Tensor) -> None:
        self.total += total
        self.count += count

    def compute(self) -> Tensor:
        return self.total / self.count


class Word2Vec(Module):
    """Base of skip-gram and CBOW: two tables and two losses.

    Args:
        vocab_size: V.
        dim: d.
        loss: "softmax" over all words, or "negative" sampling.
        negatives: K, noise words for each predicted word.
        noise_power: a; 1 draws words as often as they come, 0 all alike.

    Raises:
        ValueError: an argument is out of range.
    """

    FORMER_TENSORS: ClassVar[Mapping[str, str]] = {"seen": "target_frequency"}
    target_frequency: Tensor

    def __init__(
        self,
        vocab_size: int,
        dim: int = 64,
        loss: Literal["softmax", "negative"] = "softmax",
        negatives: int = 5,
        noise_power: float = 0.75,
        **training: Any,
    ) -> None:
        super().__init__(_measures={"nll": PairMean()}, **training)
        if loss not in ("softmax", "negative"):
            raise ValueError(f"loss is {loss!r}: choose softmax or negative.")
        require(1, vocab_size=vocab_size, dim=dim, negatives=negatives)
        if not 0 <= noise_power <= 1:
            raise ValueError(f"noise_power is {noise_power}: it must be from 0 to 1.")
        self.vocab_size, self.loss = vocab_size, loss
        self.negatives, self.noise_power = negatives, noise_power
        # as in the original: u = 0, so that every word is equally probable at the start
        self.v = nn.Parameter((torch.rand(vocab_size, dim) - 0.5) / dim)
        self.u = nn.Parameter(torch.zeros(vocab_size, dim))
        # what share of the words to be predicted each word was, summed over the steps: all alike until
        # something was, and small enough for half precision whatever the length of the training
        self.register_buffer("target_frequency", torch.full((vocab_size,), 1 / vocab_size))

    def extra_repr(self) -> str:
        return f"vocab_size={self.vocab_size}, dim={self.v.shape[1]}, loss={self.loss}"

    @property
    def vectors(self) -> Tensor:
        """(V, d): v, the table of given words."""
        return self.v.detach()

    @property
    def noise(self) -> Tensor:
        """q (V,), proportional to count^a."""
        q = self.target_frequency.to(self.v.dtype) ** self.noise_power
        return q / q.sum()

    def count_targets(self, words: Tensor) -> None:
        """Take note of the words (N,) to be predicted in a step, by all processes."""
        counts = self.all_reduce_sum(torch.bincount(words, minlength=self.vocab_size))
        self.target_frequency += counts / counts.sum()

    def predict_from(self, given: Tensor) -> Tensor:
        """log p of every word next to given vectors: (B, d) -> (B, V)."""
        scores = given @ self.u.T
        return (scores + self.noise.log() if self.loss == "negative" else scores).log_softmax(-1)

    def negative_sampling_loss(self, given: Tensor, targets: Tensor) -> Tensor:
        """Negative-sampling loss of each pair: given vectors (N, d), targets (N,) -> (N,)."""
        drawn = torch.multinomial(self.noise, len(targets) * self.negatives, replacement=True)
        words = torch.cat([targets[:, None], drawn.reshape(len(targets), -1)], 1)  # (N, 1 + K)
        scores = torch.einsum("nd,nkd->nk", given, self.u[words])
        return -F.logsigmoid(scores[:, 0]) - F.logsigmoid(-scores[:, 1:]).sum(1)


class SkipGram(Word2Vec):
    """The centre predicts each of its neighbours.

    Example:
        >>> model = SkipGram(vocab_size=3, dim=2)
        >>> model.log_probs(torch.tensor([0])).exp().sum().item()  # doctest: +ELLIPSIS
        1.0...
    """

    def log_probs(self, centres: Tensor) -> Tensor:
        """log p(· | centre): (B,) int64 -> (B, V)."""
        return self.predict_from(self.v[centres])

    def step(self, batch: tuple[Tensor, ...], split: Split) -> Tensor:
        """Mean over pairs of windows (centres (B,), contexts (B, 2k), −1 for none) or of C (V, V)."""
        return self._matrix(batch[0], split) if len(batch) == 1 else self._windows(batch[0], batch[1], split)

    def loss_terms(self, batch: tuple[Tensor, ...]) -> Tensor | None:
        """Number of pairs of a centre and a context."""
        return (batch[1] >= 0).sum() if len(batch) == 2 else None

    def _windows(self, centres: Tensor, contexts: Tensor, split: Split) -> Tensor:
        there = contexts >= 0
        if split == "train" and self.loss == "negative":
            self.count_targets(contexts[there])  # the nll would need all V words: not measured
            given = self.v[centres][:, None].expand(-1, contexts.shape[1], -1)[there]
            return self.negative_sampling_loss(given, contexts[there]).mean()
        log_p = self.log_probs(centres)  # (B, V), one softmax a centre, shared by its neighbours
        nll = -(log_p.gather(1, contexts.clamp(min=0)) * there).sum()
        self.log_metric(split, "nll", nll.detach(), there.sum())
        return nll / there.sum()

    def _matrix(self, counts: Tensor, split: Split) -> Tensor:
        total = counts.sum()
        if split == "train" and self.loss == "negative":
            # the expected loss over all draws of noise words
            self.target_frequency.copy_(counts.sum(0).clamp(min=1) / total)
            scores = self.v @ self.u.T
            nll = -(counts * self.predict_from(self.v.detach())).sum().detach()
            noise = self.negatives * counts.sum(1, keepdim=True) * self.noise
            loss = -(counts * F.logsigmoid(scores) + noise * F.logsigmoid(-scores)).sum() / total
        else:
            total_nll = -(counts * self.predict_from(self.v)).sum()
            nll, loss = total_nll.detach(), total_nll / total
        self.log_metric(split, "nll", nll, total)
        return loss


class CBOW(Word2Vec):
    """The mean of the neighbours predicts the centre: one softmax a window instead of 2k."""

    def mean(self, contexts: Tensor) -> Tensor:
        """v̄ of contexts (B, 2k), −1 for none: (B, d). A mean, not a sum: each word has weight 1/m."""
        there = (contexts >= 0).to(self.v.dtype)[..., None]
        total = (self.v[contexts.clamp(min=0)] * there).sum(1)
        return total / there.sum(1).clamp(min=1)

    def log_probs(self, contexts: Tensor) -> Tensor:
        """log p(· | contexts): (B, 2k) int64 -> (B, V)."""
        return self.predict_from(self.mean(contexts))

    def step(self, batch: tuple[Tensor, Tensor], split: Split) -> Tensor:
        """Mean over windows: centres (B,), contexts (B, 2k), −1 for none."""
        centres, contexts = batch
        given = self.mean(contexts)
        if split == "train" and self.loss == "negative":
            self.count_targets(centres)
            return self.negative_sampling_loss(given, centres).mean()
        nll = -self.predict_from(given).gather(1, centres[:, None])[:, 0]
        self.log_metric(split, "nll", nll.detach().sum(), torch.tensor(len(nll)))
        return nll.mean()
