"""Translation models: log p of a target given a source, token by token, whatever network reads and writes.

    log p(y | x) = Σ_t log p(y_t | y_<t, x),   y_0 = <bos>

Shapes: source (B, S) with `lengths` (B,), target (B, T) with -100 behind its end, logits (B, T, V).

References: [GM] 1.6.2 to 1.6.4; [UDL] 12.8.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from modules.base import BatchShard, IncrementalDecoder, Module, require
from modules.language import decoding
from modules.language.truncation import SamplingParams

IGNORED = -100  # a target that is not predicted, as in torch's cross_entropy
Batch = tuple[Tensor, Tensor, Tensor, Tensor]


class TranslationModel(Module):
    """Base of translators: a subclass has `target_logits` and `incremental_decoder`.

    Args:
        vocab_size: V, of the target. bos, eos: tokens before and at the end of a target.
        training: optimizer and scheduler, see `Module`.
    """

    def __init__(self, vocab_size: int, bos: int, eos: int, **training: Any) -> None:
        super().__init__(**training)
        require(1, vocab_size=vocab_size)
        require(0, below=vocab_size, bos=bos, eos=eos)
        self.bos, self.eos = bos, eos

    def target_logits(self, source: Tensor, inputs: Tensor, lengths: Tensor | None = None) -> Tensor:
        """Logits (B, T, V) of every step whose inputs (B, T) are <bos> and the gold tokens y_1 … y_{T−1}."""
        raise NotImplementedError

    def incremental_decoder(self) -> IncrementalDecoder:
        """Decoder of targets, whose source are the sentences (B, S) and their `padding` on the right."""
        raise NotImplementedError

    def inputs(self, target: Tensor) -> Tensor:
        """Inputs of teacher forcing for targets (B, T): y_0 = <bos>, y_1 … y_{T−1}."""
        return F.pad(target, (1, 0), value=self.bos)[:, :-1].masked_fill(self.ignored(target), self.bos)

    @staticmethod
    def ignored(target: Tensor) -> Tensor:
        """Places of targets (B, T) that are pads."""
        return target == IGNORED

    @staticmethod
    def padding(source: Tensor, lengths: Tensor | None) -> Tensor | None:
        """Places of sources (B, S) behind their ends; None where there are none."""
        if lengths is None:
            return None
        return torch.arange(source.shape[1], device=source.device) >= lengths[:, None]

    def judge(self, logits: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        """Cross entropy in nats, and 1 where the most probable token is right, of all but pads: (N,)."""
        kept = ~self.ignored(targets)
        logits, targets = logits[kept], targets[kept]
        return F.cross_entropy(logits, targets, reduction="none"), (logits.argmax(-1) == targets).float()

    def loss_terms(self, batch: Batch) -> Tensor:
        return (~self.ignored(batch[3])).sum()

    # --- surfaces -----------------------------------------------------------------------------------

    def log_prob(self, target: Tensor, source: Tensor, lengths: Tensor | None = None) -> Tensor:
        """log p(target | source), (B,) in nats.

        Args:
            target: (B, T), <eos> included where it is to count; behind their ends targets are -100.
            source: (B, S). lengths: (B,) of the sources; None is S of all.
        """
        logits = self.target_logits(source, self.inputs(target), lengths)
        pads = self.ignored(target)
        log_p = logits.log_softmax(-1).gather(-1, target.masked_fill(pads, 0)[..., None])[..., 0]
        return log_p.masked_fill(pads, 0.0).sum(1)

    def translate(
        self,
        source: Tensor,
        lengths: Tensor | None = None,
        length: int = 64,
        *,
        temperature: float = 0.0,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """Translate sources (B, S) token by token: (B, T), T ≤ length, behind an <eos> only more of it.

        Args:
            length: the most tokens of a translation.
            temperature: divides the logits; 0 is greedy, 1 samples from p(y | x).
        """
        params = SamplingParams(temperature=temperature)
        padding = self.padding(source, lengths)
        steps = decoding.stream(self, source, length, params, self.eos, generator, padding)
        return torch.stack([token for _, token in steps], 1)

    def predict_step(self, batch: Any, batch_idx: int) -> Tensor:
        """log p(target | source) of each pair, (B,) in nats."""
        if isinstance(batch, BatchShard):
            return super().predict_step(batch, batch_idx)
        source, lengths, _, targets = batch
        return self.log_prob(targets, source, lengths)
