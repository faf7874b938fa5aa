"""Transformer: an encoder reads the source at once, a decoder attends to all of it at every step.

    H = Encoder(x_1 … x_S)                                         every position sees every other
    Y ← Y + MHA(LN Y)           causal                             of <bos>, y_1 … y_{t−1}
    Y ← Y + MHA(LN Y; H)        all of the source                  queries from Y, keys and values from H
    Y ← Y + FFN(LN Y)
    p(y_t | y_<t, x) = softmax(E LN(y_t))

Training is one pass over all steps; a translation is written token by token, with the keys and values of the
source computed once and those of the target kept.

Shapes: source (B, S), target (B, T), logits (B, T, V), `C` channels.

References: Vaswani et al. 2017, arXiv:1706.03762 (post-norm; pre-norm is the default here); [GM] 1.6.4,
[UDL] 12.8.
"""

import copy
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import Mean, Split, require
from modules.language.translation import Batch, TranslationModel
from modules.transformer.block import Cache, Norm
from modules.transformer.feedforward import Activation
from modules.transformer.heads import SourceKeys
from modules.transformer.stack import Positions, Stack, draw_weights, matrices_decay


class Translator(TranslationModel):
    """Encoder–decoder.

    Args:
        vocab_size: V, of the target. source_vocab_size: of the source; None is V.
        encoder_layers, decoder_layers, heads, width: blocks of each, H, C.
        feedforward_width: hidden units of the feed-forward layers; None is 4C.
        length: the most tokens of a source and of a target that are kept or, if learned, told apart.
        positions, norm, activation, bias, dropout: as in `Stack`.
        tied: one table embeds source and target and reads out; then the languages have one vocabulary.
        label_smoothing: share of a training target that is spread over the vocabulary (Szegedy et al. 2016).
        bos, eos: tokens before and at the end of a target.

    Raises:
        ValueError: an argument is out of range, or two of them contradict each other.

    Example:
        >>> model = Translator(vocab_size=5, encoder_layers=1, decoder_layers=1, heads=2, width=8)
        >>> source, target = torch.tensor([[2, 3, 4]]), torch.tensor([[3, 2, 1]])
        >>> model(source, target).shape, model.log_prob(target, source).shape
        (torch.Size([1, 3, 5]), torch.Size([1]))
    """

    def __init__(
        self,
        vocab_size: int,
        source_vocab_size: int | None = None,
        encoder_layers: int = 3,
        decoder_layers: int = 3,
        heads: int = 4,
        width: int = 128,
        feedforward_width: int | None = None,
        length: int = 128,
        positions: Positions = "sinusoidal",
        norm: Norm = "pre",
        activation: Activation = "relu",
        bias: bool = True,
        dropout: float = 0.0,
        tied: bool = False,
        label_smoothing: float = 0.0,
        bos: int = 0,
        eos: int = 1,
        **training: Any,
    ) -> None:
        super().__init__(
            vocab_size, bos, eos, _measures={"nll": Mean(), "forced_accuracy": Mean()}, **training
        )
        sources = vocab_size if source_vocab_size is None else source_vocab_size
        require(1, source_vocab_size=sources, width=width, length=length)
        require(0, below=1, label_smoothing=label_smoothing)
        if tied and sources != vocab_size:
            raise ValueError(f"source_vocab_size is {sources}: tied languages share all {vocab_size} tokens.")
        self.width, self.heads, self.length, self.label_smoothing = width, heads, length, label_smoothing

        def stack(layers: int, cross: bool) -> Stack:
            return Stack(
                layers, heads, width, length, positions, norm, activation, bias, dropout,
                feedforward_width=feedforward_width, cross=cross,
            )  # fmt: skip

        self.embedding = nn.Embedding(vocab_size, width)
        self.source_embedding = None if tied else nn.Embedding(sources, width)
        self.encoder, self.decoder = stack(encoder_layers, False), stack(decoder_layers, True)
        self.head = None if tied else nn.Linear(width, vocab_size, bias=False)
        draw_weights(self)
        for table in (self.embedding, self.source_embedding):
            if (
                table is not None
            ):  # embedded tokens are of the size of positions, logits of a tied head of size 1
                nn.init.normal_(table.weight, std=width**-0.5)

    # --- one pass -----------------------------------------------------------------------------------

    def source_states(self, source: Tensor, padding: Tensor | None = None) -> Tensor:
        """H (B, S, C) of sources (B, S), whose `padding` (B, S) nobody looks at."""
        table = self.embedding if self.source_embedding is None else self.source_embedding
        return self.encoder(table(source) * self.width**0.5, padding=padding)

    def decode(
        self,
        inputs: Tensor,
        source: Tensor | list[SourceKeys],
        source_padding: Tensor | None = None,
        cache: list[Cache] | None = None,
    ) -> Tensor:
        """Logits (B, T, V) after inputs (B, T), beside H (B, S, C) or its keys and values in every block."""
        x = self.embedding(inputs) * self.width**0.5
        x = self.decoder(x, causal=True, cache=cache, source=source, source_padding=source_padding)
        return F.linear(x, self.embedding.weight if self.head is None else self.head.weight)

    def target_logits(self, source: Tensor, inputs: Tensor, lengths: Tensor | None = None) -> Tensor:
        padding = self.padding(source, lengths)
        return self.decode(inputs, self.source_states(source, padding), padding)

    def forward(self, source: Tensor, target: Tensor, lengths: Tensor | None = None) -> Tensor:
        """Logits (B, T, V) of targets (B, T) under teacher forcing."""
        return self.target_logits(source, self.inputs(target), lengths)

    # --- training -----------------------------------------------------------------------------------

    def step(self, batch: Batch, split: Split) -> Tensor:
        """Mean nats per token, of (source, lengths, inputs, targets): <eos> counts, pads do not."""
        source, lengths, inputs, targets = batch
        logits = self.target_logits(source, inputs, lengths)
        nll, right = self.judge(logits, targets)
        self.log_metric(split, "nll", nll.detach())
        self.log_metric(split, "forced_accuracy", right)
        if split == "train" and self.label_smoothing:
            flat = logits.flatten(0, 1)
            return F.cross_entropy(flat, targets.flatten(), label_smoothing=self.label_smoothing)
        return nll.mean()

    def parameter_groups(self) -> list[dict[str, Any]]:
        return matrices_decay(self)

    def incremental_decoder(self) -> "TranslatorDecoder":
        return TranslatorDecoder(self)


@dataclass
class Sentence:
    """State of B translations; `sentence[rows]` are those rows.

    Attributes:
        source, source_padding: keys and values of the sources in every block, and where there are none.
        cache: keys and values of the tokens that were written, one per layer.
        continued: a later state has appended to the memory of this cache.
    """

    source: list[SourceKeys]
    source_padding: Tensor | None
    cache: list[Cache]
    continued: bool = False

    def __getitem__(self, rows: Tensor) -> "Sentence":
        padding = None if self.source_padding is None else self.source_padding[rows]
        source = [keys.select(rows) for keys in self.source]
        return Sentence(source, padding, [layer.select(rows) for layer in self.cache])


class TranslatorDecoder:
    """`IncrementalDecoder` of a `Translator`: the encoder runs once, a step encodes one token."""

    def __init__(self, model: Translator) -> None:
        self.model = model

    def start(self, source: Tensor, padding: Tensor | None = None) -> tuple[Tensor, Sentence]:
        """Read sources (B, S), padded on the right: log p of y_1 (B, V), state."""
        model = self.model
        H = model.source_states(source, padding)
        cache = model.decoder.new_cache(len(source), model.length, H.device, H.dtype)
        state = Sentence(model.decoder.source_keys(H), padding, cache)
        return self.step(state, source.new_full((len(source),), model.bos))

    def step(self, state: Sentence, token: Tensor) -> tuple[Tensor, Sentence]:
        """Read one more token (B,): log p of what comes after it (B, V), state."""
        if state.continued:  # what comes behind in memory belongs to another translation
            state = state[torch.arange(len(token), device=token.device)]
        state.continued = True
        after = Sentence(state.source, state.source_padding, [copy.copy(layer) for layer in state.cache])
        logits = self.model.decode(token[:, None], after.source, after.source_padding, after.cache)
        return logits[:, -1].log_softmax(-1), after
