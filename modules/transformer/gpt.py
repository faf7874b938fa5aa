"""GPT: a stack of causal blocks that predicts the next token at every position at once.

    log p(x) = Σ_t log p(x_t | bos, x_<t),   logits_t = E · LN(h_t)      (E is also the embedding)

Row t of the output sees tokens 0..t and predicts token t + 1: the input is the text shifted by one
behind a begin token. ([GM] Def. 1.20 and the mask slide of [LLM] let row t predict token t, which it
has seen.)

Shapes: `B` batch, `T` time, `C` channels, `V` vocabulary.

References:
    Radford et al. 2019, Language models are unsupervised multitask learners (GPT-2).
    [UDL] §12.7, [GM] §1.6.4, [LLM] part 4. Small setting: nanoGPT, config/train_shakespeare_char.py.
"""

import copy
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import Module, Split, require
from modules.former import former
from modules.language import decoding
from modules.language.sampling import TextSampler
from modules.language.truncation import SamplingParams
from modules.transformer import settings
from modules.transformer.block import Cache, Norm, Normalization, Residual
from modules.transformer.experts import balance, record_routing
from modules.transformer.feedforward import Activation
from modules.transformer.stack import Positions, Stack, draw_weights, matrices_decay, present_stack

IGNORED = -100  # a target that is not predicted, as in torch's cross_entropy


class GPT(TextSampler, Module):
    """Decoder-only language model.

    Args:
        vocab_size: V.
        context: the most tokens it sees at once.
        layers, heads, width: L, H, C.
        positions, norm, activation: as in `Stack`.
        bias: in linear layers and norms.
        tied: the head is the embedding table, one tensor; else a matrix of its own.
        dropout: of embeddings, attention weights and sublayers, while training.
        bos: the token that stands before every text, so that the first token has a probability too.
        causal: False removes the mask: a demonstration of the leak, no longer a language model.
        mixer, feedforward, feedforward_width, expert_options: as in `Stack`.
        normalization, eps, residual, kv_heads, scaled: as in `Stack`.
        balance_weight: of the balancing loss of experts in training, summed over the layers.

    Raises:
        ValueError: an unknown name, or a setting of attention in a model that has none.

    Example:
        >>> model = GPT(vocab_size=3, context=4, layers=1, heads=2, width=8)
        >>> strings = torch.cartesian_prod(*[torch.arange(3)] * 4)  # all 81 of them
        >>> model.log_prob(strings).exp().sum().item()  # doctest: +ELLIPSIS
        1.0...
    """

    def __init__(
        self,
        vocab_size: int,
        context: int = 64,
        layers: int = 4,
        heads: int = 4,
        width: int = 128,
        positions: Positions = "learned",
        norm: Norm = "pre",
        activation: Activation = "gelu",
        bias: bool = False,
        tied: bool = True,
        dropout: float = 0.0,
        bos: int = 0,
        causal: bool = True,
        mixer: settings.MixerName | list[settings.MixerName] = "softmax",
        feedforward: settings.FeedForwardName = "dense",
        feedforward_width: int | None = None,
        normalization: Normalization = "layer",
        eps: float = 1e-5,
        residual: Residual = "add",
        kv_heads: int | None = None,
        scaled: bool = True,
        expert_options: dict[str, Any] | None = None,
        balance_weight: float = 0.0,
        **training: Any,
    ) -> None:
        super().__init__(**training)
        require(1, vocab_size=vocab_size, context=context, width=width)
        if not 0 <= bos < vocab_size:
            raise ValueError(
                f"bos is {bos}: it must be one of the {vocab_size} tokens, 0 to {vocab_size - 1}."
            )
        require(0, balance_weight=balance_weight)
        if balance_weight and feedforward != "experts":
            raise ValueError(
                f"balance_weight is {balance_weight}: the feed-forward layer {feedforward!r} has no experts."
            )
        self.balance_weight = balance_weight
        self.vocab_size, self.context, self.bos, self.causal = vocab_size, context, bos, causal
        self.heads, self.width = heads, width
        self.embedding = nn.Embedding(vocab_size, width)
        self.stack = Stack(
            layers, heads, width, context, positions, norm, activation, bias, dropout, mixer, feedforward,
            feedforward_width, normalization, eps, residual, kv_heads, scaled, expert_options=expert_options,
        )  # fmt: skip
        self.head = None if tied else nn.Linear(width, vocab_size, bias=False)
        draw_weights(self)

    @property
    def blocks(self) -> nn.ModuleList:
        """Blocks of the stack."""
        return self.stack.blocks

    @property
    def positions(self) -> nn.Module | None:
        """Positions that are added to embeddings, if any."""
        return self.stack.positions

    @property
    def final_norm(self) -> nn.Module:
        """Norm before the head."""
        return self.stack.final_norm

    @classmethod
    def present_names(cls, state_dict: Mapping[str, Any]) -> dict[str, Any]:
        """Names of an earlier version, too."""
        return super().present_names(present_stack(state_dict))

    def extra_repr(self) -> str:
        return f"vocab_size={self.vocab_size}, context={self.context}, causal={self.causal}"

    # --- one pass ---------------------------------------------------------------------------------

    def residual_stream(
        self,
        tokens: Tensor,
        cache: list[Cache] | None = None,
        causal: bool | None = None,
        padding: Tensor | None = None,
    ) -> Iterator[Tensor]:
        """Residual stream, (B, T) -> (B, T, C): as it enters the first block, then after every block.

        `padding` (B, S) is True at tokens on the left that nobody may look at, of the S in the cache and in
        `tokens`; positions count from the first token behind them (relative ones know differences alone).
        """
        causal = self.causal if causal is None else causal
        left = None if padding is None else padding.sum(1, keepdim=True)
        return self.stack.stream(self.embedding(tokens), causal, padding, cache, left)

    def hidden(
        self,
        tokens: Tensor,
        cache: list[Cache] | None = None,
        causal: bool | None = None,
        padding: Tensor | None = None,
    ) -> Tensor:
        """Input of the head: (B, T) -> (B, T, C). Arguments as of `residual_stream`."""
        (x,) = deque(self.residual_stream(tokens, cache, causal, padding), maxlen=1)  # keeps only the last
        return self.final_norm(x)

    def logits(self, hidden: Tensor) -> Tensor:
        """Apply the head: (..., C) -> (..., V)."""
        return F.linear(hidden, self.embedding.weight if self.head is None else self.head.weight)

    def forward(self, tokens: Tensor, cache: list[Cache] | None = None, causal: bool | None = None) -> Tensor:
        """Logits of the token after each position.

        Args:
            tokens: (B, T) int64, T ≤ context with learned positions.
            cache: of `new_cache`; `tokens` then follow those already in it.
            causal: instead of the model's own setting.

        Returns:
            (B, T, V).
        """
        return self.logits(self.hidden(tokens, cache, causal))

    def new_cache(self, batch: int) -> list[Cache]:
        """Empty caches for `batch` texts of up to `context` tokens, one per layer."""
        weight = self.embedding.weight
        return self.stack.new_cache(batch, self.context, weight.device, weight.dtype)

    # --- training ---------------------------------------------------------------------------------

    def step(self, batch: tuple[Tensor, Tensor], split: Split) -> Tensor:
        """Mean nats per token of (tokens, next tokens), (B, T) each, over next tokens that are not -100."""
        tokens, targets = batch
        with record_routing() as routed:
            logits, y = self(tokens).flatten(0, 1), targets.flatten()  # (B·T, V), (B·T,)
        nll = F.cross_entropy(logits, y, ignore_index=IGNORED, reduction="none")  # 0 where ignored
        counted = y != IGNORED
        self.log_metric(split, "nll", nll.detach()[counted])
        loss = nll.sum() / counted.sum().clamp(min=1)
        if split == "train" and self.balance_weight:
            for (routing,) in routed.calls.values():
                loads = self.all_reduce_sum(routing.counts)  # of all processes
                loss = loss + self.balance_weight * balance(routing, loads / loads.sum().clamp(min=1))
        return loss

    def loss_terms(self, batch: tuple[Tensor, Tensor]) -> Tensor:
        return (batch[1] != IGNORED).sum()

    def configure_optimizers(self) -> Any:
        """Weight decay, if any, pulls on matrices only: gains and biases have no reason to be small."""
        optimizer = self.optimizer(matrices_decay(self))
        if self.lr_scheduler is None:
            return optimizer
        scheduler = {"scheduler": self.lr_scheduler(optimizer), "interval": self.lr_interval}
        return {"optimizer": optimizer, "lr_scheduler": scheduler}

    # --- surfaces ---------------------------------------------------------------------------------

    def log_prob(self, tokens: Tensor) -> Tensor:
        """log p of whole texts that start after `bos`.

        Args:
            tokens: (B, T) int64, T ≤ context.

        Returns:
            (B,) in nats.
        """
        bos = tokens.new_full((len(tokens), 1), self.bos)
        logits = self(torch.cat([bos, tokens[:, :-1]], dim=1))  # (B, T, V)
        return logits.log_softmax(-1).gather(-1, tokens[..., None]).sum((1, 2))

    def next_logits(self, tokens: Tensor) -> Tensor:
        """Logits of the token after a text: (B, T) -> (B, V). Sees the last `context` tokens."""
        return self.logits(self.hidden(tokens[:, -self.context :])[:, -1])

    def next_log_probs(self, prefix: Tensor, padding: Tensor | None = None) -> Tensor:
        """log p(next token | bos, prefix), the last `context` tokens of it: (B, T) -> (B, V), T ≥ 0;
        `padding` as in `NextToken`."""
        tokens, padding = self.behind_bos(prefix, padding)
        hidden = self.hidden(
            tokens[:, -self.context :], padding=None if padding is None else padding[:, -self.context :]
        )
        return self.logits(hidden[:, -1]).log_softmax(-1)

    def behind_bos(self, prefix: Tensor, padding: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        """Begin tokens right before the texts, (B, T) -> (B, T + 1), and their padding."""
        tokens = F.pad(prefix, (1, 0), value=self.bos)
        if padding is None:
            return tokens, None
        # the place where a text's last padding was
        return tokens.masked_fill(F.pad(padding, (1, 0)), self.bos), F.pad(padding, (0, 1))

    # --- decoding: `decoding` and `beam` choose, the model reads -------------------------------------

    def incremental_decoder(self) -> "GPTDecoder":
        """Decoder of texts behind `bos`: log p is that of `next_log_probs`, also past the context."""
        return GPTDecoder(self, self.context)

    def reader(self, cache: bool = True, keep: int | None = None) -> "GPTDecoder":
        """Decoder of texts with nothing before them, T ≥ 1, that gives logits and not log p.

        Args:
            cache: False computes every step from the start; same result, for comparison.
            keep: tokens kept when the context is full, 1 to context; half of them by default.
        """
        keep = max(1, self.context // 2) if keep is None else keep
        if not 1 <= keep <= self.context:
            raise ValueError(f"keep is {keep}: it must be from 1 to the context of {self.context}.")
        return GPTDecoder(self, keep, cache, begin=False)

    @former("prompt", "length", "temperature", "top_k", "top_p", "generator", "cache", "keep")
    def generate(
        self,
        prompt: Tensor,
        length: int,
        *,
        temperature: float = 1.0,
        generator: torch.Generator | None = None,
        top_k: int | None = None,
        top_p: float | None = None,
        min_p: float | None = None,
        cache: bool = True,
        keep: int | None = None,
    ) -> Tensor:
        """Continue texts, (B, T) -> (B, T + length).

        Args:
            prompt: (B, T) int64, T ≥ 1, with nothing before it; of a longer one the last `context` tokens
                are seen.
            length: number of new tokens.
            temperature, generator, top_k, top_p, min_p: as in `sample`.
            cache, keep: as in `reader`.
        """
        params = SamplingParams(temperature, top_k, top_p, min_p)
        return decoding.sample(self.reader(cache, keep), prompt, length, params, generator=generator)

    @property
    def sample_length(self) -> int:  # type: ignore[override]
        """`context` tokens."""
        return self.context

    def text_start(self) -> Tensor:
        """The begin token: behind a prompt nothing else stands before it."""
        return torch.full((1, 1), self.bos, device=self.device)

    sample = former("n", "length", "temperature", "top_k", "top_p", "generator", "seed")(TextSampler.sample)
    sample_trace = former("prompt", "length")(TextSampler.sample_trace)


@dataclass
class Window:
    """State of a `GPTDecoder`: the last tokens of B texts, and what is known of them.

    Attributes:
        tokens: (B, T), T ≤ context. padding: (B, T), see `residual_stream`; or None.
        cache: keys and values of them, one per layer; empty where none is kept.
        continued: a later state has appended to the memory of this cache.
    """

    tokens: Tensor
    padding: Tensor | None
    cache: list[Cache]
    continued: bool = False

    def __getitem__(self, rows: Tensor) -> "Window":
        padding = None if self.padding is None else self.padding[rows]
        return Window(self.tokens[rows], padding, [layer.select(rows) for layer in self.cache])


class GPTDecoder:
    """`IncrementalDecoder` of a GPT: a new token is encoded alone, next to the keys and values kept.

    A full context slides: when one more token would not fit, the window restarts at the last `keep`
    tokens, and these are encoded afresh from position 0 (their old keys and values were computed at other
    positions and from tokens that are gone). With keep = context/2 that costs context/2 tokens once every
    context/2 tokens, so a step stays O(context) on average; the model then always sees between context/2
    and context tokens. keep = context shows it as many tokens as fit at every step, and pays a full pass
    for each. The windows are the same with and without the cache, and so are the logits.

    Args:
        keep: tokens kept when the context is full.
        cache: False computes every step from the start.
        begin: `bos` stands before the texts, and log p comes out; False: nothing, and logits.
    """

    def __init__(self, model: GPT, keep: int, cache: bool = True, begin: bool = True) -> None:
        # without a mask every new token changes what the earlier ones are: nothing could be kept
        self.model, self.keep, self.cache, self.begin = model, keep, cache and model.causal, begin

    def start(self, source: Tensor, padding: Tensor | None = None) -> tuple[Tensor, Window]:
        """Read prefixes (B, T): (B, V), state.

        Raises:
            ValueError: nothing stands before empty prefixes.
        """
        if self.begin:
            source, padding = self.model.behind_bos(source, padding)
        elif not source.shape[1]:
            raise ValueError("The prompt is empty: give at least one token.")
        return self._restart(source, padding, self.model.context)

    def step(self, state: Window, token: Tensor) -> tuple[Tensor, Window]:
        """Read one more token (B,): (B, V), state."""
        tokens = torch.cat([state.tokens, token[:, None]], dim=1)
        padding = None if state.padding is None else F.pad(state.padding, (0, 1))
        if tokens.shape[1] > self.model.context:
            return self._restart(tokens, padding, self.keep)
        if state.continued:  # what comes behind these tokens in memory belongs to another text
            state = state[torch.arange(len(tokens), device=tokens.device)]
        state.continued = True
        return self._read(Window(tokens, padding, [copy.copy(layer) for layer in state.cache]))

    def _restart(self, tokens: Tensor, padding: Tensor | None, keep: int) -> tuple[Tensor, Window]:
        cache = self.model.new_cache(len(tokens)) if self.cache else []
        return self._read(Window(tokens[:, -keep:], None if padding is None else padding[:, -keep:], cache))

    def _read(self, state: Window) -> tuple[Tensor, Window]:
        """Logits, or log p, after the tokens of a state, whose cache may lack the last of them."""
        done = state.cache[0].length if state.cache else 0
        hidden = self.model.hidden(state.tokens[:, done:], state.cache, None, state.padding)
        logits = self.model.logits(hidden[:, -1])
        return logits.log_softmax(-1) if self.begin else logits, state
