"""BERT: an encoder that is pre-trained by what is missing from a text and by what does not belong to it.

    masked     −Σ_{t hidden} log p(x_t | what is left, on both sides),   p = softmax(E · LN(φ(W h_t + b)) + c)
    pairs      −log softmax(W_p tanh(W_c h_<cls> + b_c) + b_p)_y         y = 0: the second text belongs there
    replaced   −log σ(±(w · h_t + b)) at each token that is read         is it the word that stood there?

The loss is the sum of the tasks' means. Where no word is hidden nothing is predicted: 15 % of the tokens have
a loss, where a language model has one at each. "Masked" is generative, a distribution over words; pairs
("next", "order") and "replaced" are contrastive: true examples against made ones ([UDL] problem 12.6).

[UDL] 12.6 speaks of roughly 50 epochs of 3.3 billion words: 256 · 512 · 10⁶ tokens are 39.7.

Shapes: `B` batch, `T` time, `C` channels, `V` vocabulary.

References: Devlin et al. 2019, arXiv:1810.04805; [UDL] 12.6; the two other tasks in `datamodules.masking`.
"""

from collections.abc import Sequence
from typing import Any, Literal, get_args

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import Mean, Module, Split
from modules.transformer.encoder import EPS, Encoder, require_rows
from modules.transformer.feedforward import Activation, activate
from modules.transformer.stack import draw_weights, matrices_decay

Task = Literal["masked", "next", "order", "replaced"]
PAIRS = ("next", "order")
UNSCORED = -100  # a target that is not asked for


class Pooler(nn.Module):
    """tanh(W h_<cls> + b): (B, T, C) -> (B, C)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.dense = nn.Linear(width, width)

    def forward(self, hidden: Tensor) -> Tensor:
        return self.dense(hidden[:, 0]).tanh()


class WordHead(nn.Module):
    """E · LN(φ(W h + b)) + c, E the embedding table: (..., C) -> (..., V)."""

    def __init__(self, width: int, vocab_size: int, activation: Activation, eps: float) -> None:
        super().__init__()
        self.activation = activation
        self.dense = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width, eps)
        self.bias = nn.Parameter(torch.zeros(vocab_size))

    def forward(self, hidden: Tensor, table: Tensor) -> Tensor:
        return F.linear(self.norm(activate(self.activation, self.dense(hidden))), table, self.bias)


class BERT(Module):
    """Encoder with the heads of its pre-training tasks.

    Args:
        vocab_size, length, layers, heads, width, feedforward_width, dropout: as in `Encoder`.
        tasks: some of "masked", "next" or "order", "replaced"; a task that is not there has no head.
        separator, padding: the numbers of <sep> and <pad>.
        activation, eps: φ and ε, as in `Encoder`; the head of masked words has the same.

    Raises:
        ValueError: an argument is out of range, or tasks are unknown or exclude one another.

    Example:
        >>> BERT(vocab_size=10, length=8, layers=1, heads=2, width=8).num_parameters
        1220
    """

    def __init__(
        self,
        vocab_size: int,
        length: int = 64,
        layers: int = 4,
        heads: int = 4,
        width: int = 64,
        feedforward_width: int | None = None,
        dropout: float = 0.0,
        tasks: Sequence[Task] = ("masked", "next"),
        separator: int = 1,
        padding: int = 4,
        activation: Activation = "gelu",
        eps: float = EPS,
        **training: Any,
    ) -> None:
        if isinstance(tasks, str) or not tasks or set(tasks) - set(get_args(Task)):
            raise ValueError(f"tasks is {tasks!r}: give a list of some of {', '.join(get_args(Task))}.")
        pairs = [task for task in PAIRS if task in tasks]
        if len(pairs) > 1:
            raise ValueError("tasks has next and order: a pair has one label, choose one of them.")
        names = {"masked": ("nll", "acc"), "replaced": ("replaced_nll", "replaced_acc")}
        measured = [m for task in ("masked", "replaced") if task in tasks for m in names[task]]
        measured += ["pair_nll", "pair_acc"] if pairs else []
        super().__init__(_measures={name: Mean() for name in measured}, **training)
        self.tasks, self.pairs = tuple(tasks), bool(pairs)
        self.encoder = Encoder(
            vocab_size, length, layers, heads, width, feedforward_width, dropout, separator, padding,
            activation, eps,
        )  # fmt: skip
        self.words = WordHead(width, vocab_size, activation, eps) if "masked" in tasks else None
        self.pooler = Pooler(width) if pairs else None
        self.pair = nn.Linear(width, 2) if pairs else None
        self.replaced = nn.Linear(width, 1) if "replaced" in tasks else None
        draw_weights(self)

    def forward(
        self, tokens: Tensor, segments: Tensor | None = None, padding: Tensor | None = None
    ) -> Tensor:
        """Output embeddings (B, T) -> (B, T, C); arguments as of `Encoder.forward`."""
        require_rows(tokens)
        return self.encoder(tokens, segments, padding)

    def word_logits(self, hidden: Tensor) -> Tensor:
        """Logits of the words: (..., C) -> (..., V).

        Raises:
            ValueError: it was not built to predict words.
        """
        if self.words is None:
            raise ValueError(f"This encoder predicts no words: its tasks are {', '.join(self.tasks)}.")
        return self.words(hidden, self.encoder.embedding.weight)

    def predict(self, x: Tensor) -> Tensor:
        """Logits of the word at every place, whatever is read there: (B, T) -> (B, T, V)."""
        return self.word_logits(self(x))

    def pair_logits(self, hidden: Tensor) -> Tensor:
        """Logits that the second text belongs there, and that it does not: (B, T, C) -> (B, 2).

        Raises:
            ValueError: it was not built to judge pairs.
        """
        if self.pooler is None or self.pair is None:
            raise ValueError(f"This encoder judges no pairs: its tasks are {', '.join(self.tasks)}.")
        return self.pair(self.pooler(hidden))

    def step(self, batch: tuple[Tensor, Tensor, Tensor, Tensor], split: Split) -> Tensor:
        """Sum of the tasks' means of (tokens, targets (B, T), pair labels (B,), replaced (B, T)); −100 is not
        asked for."""
        tokens, targets, pair, replaced = batch
        hidden = self(tokens)  # (B, T, C)
        loss = hidden.new_zeros(())
        if self.words is not None:  # logits of the hidden words alone: (N, V)
            asked = targets != UNSCORED
            logits = self.word_logits(hidden[asked])
            loss = loss + self._task("", F.cross_entropy, logits, targets[asked], split)
        if self.pair is not None:
            asked = pair != UNSCORED
            logits = self.pair_logits(hidden[asked])
            loss = loss + self._task("pair_", F.cross_entropy, logits, pair[asked], split)
        if self.replaced is not None:
            asked = replaced != UNSCORED
            positive = self.replaced(hidden[asked])  # (N, 1)
            logits = torch.cat([torch.zeros_like(positive), positive], 1)
            loss = loss + self._task("replaced_", F.cross_entropy, logits, replaced[asked], split)
        return loss

    def _task(self, name: str, loss: Any, logits: Tensor, labels: Tensor, split: Split) -> Tensor:
        """Mean over what all processes ask for, as this process's share of the loss."""
        nll = loss(logits, labels, reduction="none")
        self.log_metric(split, f"{name}nll", nll.detach())
        self.log_metric(split, f"{name}acc", (logits.argmax(-1) == labels).to(nll.dtype))
        if split != "train":
            return nll.sum() / max(1, len(nll))
        counted = self.all_reduce_sum(nll.new_tensor([float(len(nll)), 1.0]))
        return nll.sum() * counted[1] / counted[0].clamp(min=1)

    def loss_terms(self, batch: tuple[Tensor, ...]) -> Tensor:
        """One of each process that has examples: `step` has divided by the terms of all of them."""
        return torch.ones((), device=batch[0].device)

    def parameter_groups(self) -> list[dict[str, Any]]:
        return matrices_decay(self)
