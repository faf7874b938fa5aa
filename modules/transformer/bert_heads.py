"""Fine-tuning: a layer on a pre-trained encoder, for a sentence, for each token, or for a span of them.

    sentence   Pr(y = 1 | x) = σ(w · h_<cls> + b)
    token      Pr(y_t = k | x) = softmax_k(W h_t + b)
    span       p_s = softmax_t(w_s · h_t + b_s),   p_e = softmax_t(w_e · h_t + b_e)
               score(s, e) = p_s(s) p_e(e),   s ≤ e: a span that ends before it begins never wins

h are the encoder's output embeddings: the label of a word depends on its context. ([UDL] 12.6.2 says of
entity recognition that each input embedding is mapped; these know nothing of the context.) All weights are
trained on, or with `frozen` those of the new layer alone.

Shapes: `B` batch, `T` time, `C` channels, `K` classes.

References: Devlin et al. 2019, arXiv:1810.04805; [UDL] 12.6.2.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import Mean, Module, Split
from modules.labels import Labels
from modules.transformer.encoder import Encoder, require_rows
from modules.transformer.stack import draw_weights, matrices_decay


class FineTuned(Module):
    """Base of models with a linear layer on an encoder: a subclass reads `embeddings`.

    Args:
        vocab_size, length, layers, heads, width, feedforward_width, dropout: as in `Encoder`.
        frozen: the encoder stays as it is, without dropout, and the new layer alone is trained.
        separator, padding: the numbers of <sep> and <pad>.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self, outputs: int, vocab_size: int, length: int, layers: int, heads: int, width: int,
        feedforward_width: int | None, dropout: float, frozen: bool, separator: int, padding: int, /,
        **training: Any,
    ) -> None:  # fmt: skip
        super().__init__(**training)
        self.encoder = Encoder(
            vocab_size, length, layers, heads, width, feedforward_width, dropout, separator, padding
        ).requires_grad_(not frozen)
        self.frozen = frozen
        self.head = nn.Linear(width, outputs)
        draw_weights(self)

    def train(self, mode: bool = True) -> "FineTuned":
        super().train(mode)
        if self.frozen:
            self.encoder.eval()
        return self

    def embeddings(self, tokens: Tensor) -> Tensor:
        """Output embeddings of the encoder: (B, T) -> (B, T, C)."""
        require_rows(tokens)
        return self.encoder(tokens)

    def parameter_groups(self) -> list[dict[str, Any]]:
        return matrices_decay(self.head if self.frozen else self)


class SentenceClassifier(FineTuned):
    """Two classes of texts, by the embedding of <cls>; arguments as of `FineTuned`.

    Measures `nll` and `acc`. Shapes: tokens (B, T), labels 0 or 1 (B,).
    """

    def __init__(
        self, vocab_size: int, length: int = 64, layers: int = 4, heads: int = 4, width: int = 64,
        feedforward_width: int | None = None, dropout: float = 0.0, frozen: bool = False,
        separator: int = 1, padding: int = 4, **training: Any,
    ) -> None:  # fmt: skip
        encoder = vocab_size, length, layers, heads, width, feedforward_width, dropout
        measures = {"nll": Mean(), "acc": Mean()}
        super().__init__(1, *encoder, frozen, separator, padding, _measures=measures, **training)

    def logit(self, tokens: Tensor) -> Tensor:
        """Log-odds of class 1: (B, T) -> (B,)."""
        return self.head(self.embeddings(tokens)[:, 0])[:, 0]

    def predict(self, x: Tensor) -> Tensor:
        """Logits of both classes, 0 and the log-odds: (B, T) -> (B, 2)."""
        logit = self.logit(x)
        return torch.stack([torch.zeros_like(logit), logit], 1)

    def step(self, batch: tuple[Tensor, Tensor], split: Split) -> Tensor:
        tokens, y = batch
        logit = self.logit(tokens)
        nll = F.binary_cross_entropy_with_logits(logit, y.to(logit.dtype), reduction="none")
        self.log_metric(split, "nll", nll.detach())
        self.log_metric(split, "acc", ((logit > 0) == (y > 0)).to(nll.dtype))
        return nll.mean()


class TokenClassifier(FineTuned, Labels):
    """K classes of words, by the output embedding of each; arguments as of `FineTuned`.

    Measures `nll` and `acc` of the words that are asked for. Shapes: tokens (B, T), labels (B, T), −100 where
    none is asked.
    """

    def __init__(
        self, vocab_size: int, num_classes: int = 4, length: int = 64, layers: int = 4, heads: int = 4,
        width: int = 64, feedforward_width: int | None = None, dropout: float = 0.0, frozen: bool = False,
        separator: int = 1, padding: int = 4, **training: Any,
    ) -> None:  # fmt: skip
        if num_classes < 1:
            raise ValueError(f"num_classes is {num_classes}: it must be at least 1.")
        encoder = vocab_size, length, layers, heads, width, feedforward_width, dropout
        super().__init__(num_classes, *encoder, frozen, separator, padding, **training)

    def predict(self, x: Tensor) -> Tensor:
        """Logits (B, T) -> (B, T, K)."""
        return self.head(self.embeddings(x))


def span_scores(start: Tensor, end: Tensor, allowed: Tensor | None = None) -> Tensor:
    """log p_s(s) + log p_e(e) of every span, −∞ where e < s: logits (B, T) each -> (B, T, T), s by e.

    Args:
        allowed: (B, T), True at tokens of which an answer may consist, if not at all.
    """
    scores = start.log_softmax(-1)[..., :, None] + end.log_softmax(-1)[..., None, :]
    valid = torch.ones_like(scores[0], dtype=torch.bool).triu()  # (T, T): s ≤ e
    if allowed is not None:
        valid = valid & allowed[..., :, None] & allowed[..., None, :]
    return scores.masked_fill(~valid, -torch.inf)


def best_span(start: Tensor, end: Tensor, allowed: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """The valid span of the highest score, first and last token (B, 2), and its log score (B,); −∞ where no
    span is valid. The sum over s of the best e is never formed: linear in T, as ends are looked up from a
    running maximum."""
    log_start, log_end = start.log_softmax(-1), end.log_softmax(-1)  # (B, T)
    if allowed is not None:
        log_start, log_end = (p.masked_fill(~allowed, -torch.inf) for p in (log_start, log_end))
    # of the ends from s on the best one: a running maximum from the right
    best, where = log_end.flip(-1).cummax(-1)
    score, s = (log_start + best.flip(-1)).max(-1)
    e = log_end.shape[-1] - 1 - where.flip(-1).gather(-1, s[..., None])[..., 0]
    return torch.stack([s, e], -1), score


class SpanExtractor(FineTuned):
    """First and last token of the answer to a question in a passage; arguments as of `FineTuned`.

    Rows are <cls> question <sep> passage <sep>: answers lie behind the first <sep>. Measures `nll`, of first
    and last token together, and `acc`, the share of spans that are exactly right. Shapes: tokens (B, T),
    spans (B, 2), both ends included.
    """

    def __init__(
        self, vocab_size: int, length: int = 64, layers: int = 4, heads: int = 4, width: int = 64,
        feedforward_width: int | None = None, dropout: float = 0.0, frozen: bool = False,
        separator: int = 1, padding: int = 4, **training: Any,
    ) -> None:  # fmt: skip
        encoder = vocab_size, length, layers, heads, width, feedforward_width, dropout
        measures = {"nll": Mean(), "acc": Mean()}
        super().__init__(2, *encoder, frozen, separator, padding, _measures=measures, **training)

    def passage(self, tokens: Tensor) -> Tensor:
        """Where an answer may stand, (B, T): behind the first <sep>, at words."""
        ends = (tokens == self.encoder.separator) | (tokens == self.encoder.padding)
        return (self.encoder.second(tokens) == 1) & ~ends

    def predict(self, x: Tensor) -> Tensor:
        """Logits of the first and of the last token, (B, T) -> (B, 2, T): −∞ at <pad>."""
        logits = self.head(self.embeddings(x)).mT  # (B, T, 2) -> (B, 2, T)
        return logits.masked_fill((x == self.encoder.padding)[:, None], -torch.inf)

    def answer(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """The best span of the passage, (B, 2), and the log of its score (B,)."""
        start, end = self.predict(tokens).unbind(1)
        return best_span(start, end, self.passage(tokens))

    def step(self, batch: tuple[Tensor, Tensor], split: Split) -> Tensor:
        tokens, spans = batch
        start, end = self.predict(tokens).unbind(1)  # (B, T) each
        nll = F.cross_entropy(start, spans[:, 0], reduction="none")
        nll = nll + F.cross_entropy(end, spans[:, 1], reduction="none")
        found, _ = best_span(start, end, self.passage(tokens))
        self.log_metric(split, "nll", nll.detach())
        self.log_metric(split, "acc", (found == spans).all(-1).to(start.dtype))
        return nll.mean()
