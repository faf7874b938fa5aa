"""A stack of blocks with positions: what GPT, translators and vision transformers have in common.

    x⁰ = embeddings + positions        x^l = Block_l(x^{l−1})        y = LN(x^L)    (pre-norm)

Where a token stands may come in with the embeddings ("learned", "sinusoidal"), before every layer
("every-layer"), in queries and keys alone ("query-key": values are made of x, not of x + p), or in the scores
("rotary", "relative", "relative-factor", "relative-key", "alibi", "untied"). Positions learned one by one end
where training ended: there is none past `length`, and that is an error.

Shapes: `B` batch, `T` time, `C` channels.

References: as in `attention`, `block`, `positions`, `relative`; initialisation: Radford et al. 2019 (GPT-2).
"""

import math
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, cast, get_args

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import require, require_one_of
from modules.transformer import settings
from modules.transformer.attention import Attention
from modules.transformer.block import Block, Cache, Norm, Normalization, Residual, norm_layer
from modules.transformer.feedforward import Activation
from modules.transformer.heads import SourceKeys
from modules.transformer.positions import Learned, Sinusoidal
from modules.transformer.relative import UntiedPositions

Positions = Literal[
    "learned", "every-layer", "query-key", "sinusoidal", "rotary", "rotary-adjacent",
    "relative", "relative-factor", "relative-key", "alibi", "untied", "none",
]  # fmt: skip
IN_SCORES = ("query-key", "untied", *get_args(settings.Scheme)[1:])  # only attention has scores


class Stack(nn.Module):
    """L blocks, with their positions and their last norm.

    Args:
        layers, heads, width: L, H of every mixer that has heads, C.
        length: positions that are told apart.
        positions: where they come in, see above. "rotary" pairs halves of the features, "rotary-adjacent"
            neighbours.
        norm: "pre" (with a last norm), "post" or "none".
        activation: "gelu", "gelu-tanh", "relu" or "silu".
        bias: in linear layers and norms.
        dropout: of embeddings, attention weights and sublayers, while training.
        mixer: what mixes tokens, by its name in `modules.transformer.settings`; of a hybrid a list, block l
            takes entry l modulo its length.
        feedforward, feedforward_width: its name there, and its hidden units: 4C by default, 8C/3 if gated.
        normalization, eps: "layer" or "rms", and its ε.
        residual: "add", "rezero" or "none", as in `Block`.
        kv_heads: heads of keys and values; None is H.
        scaled: scores are divided by √D.
        cross: every block attends to a source, behind its mixer.
        expert_options: of "experts", such as {"experts": 8, "active": 2}; see `Experts`.

    Raises:
        ValueError: an unknown name, or a setting of attention where there is none.
    """

    def __init__(
        self,
        layers: int,
        heads: int,
        width: int,
        length: int,
        positions: Positions = "learned",
        norm: Norm = "pre",
        activation: Activation = "gelu",
        bias: bool = True,
        dropout: float = 0.0,
        mixer: settings.MixerName | list[settings.MixerName] = "softmax",
        feedforward: settings.FeedForwardName = "dense",
        feedforward_width: int | None = None,
        normalization: Normalization = "layer",
        eps: float = 1e-5,
        residual: Residual = "add",
        kv_heads: int | None = None,
        scaled: bool = True,
        cross: bool = False,
        expert_options: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__()
        require(1, layers=layers, heads=heads, width=width)
        require(0, below=1, dropout=dropout)
        require(0, eps=eps)
        if feedforward_width is not None:
            require(1, feedforward_width=feedforward_width)
            if feedforward == "none":
                raise ValueError("feedforward_width is given: the feed-forward layer 'none' has no width.")
        if norm == "none" and (normalization != "layer" or eps != 1e-5):
            raise ValueError("norm is 'none': leave normalization and eps out.")
        require_one_of(Positions, positions=positions)
        mixers = [mixer] if isinstance(mixer, str) else mixer
        if not mixers:
            raise ValueError("mixer is an empty list: name what mixes tokens.")
        if "softmax" not in mixers and (positions in IN_SCORES or kv_heads is not None or not scaled):
            raise ValueError(
                f"mixer is {mixer!r}: without softmax attention there are no scores; leave positions in the "
                "scores, kv_heads and scaled out."
            )
        self.heads, self.dropout, self.where = heads, dropout, positions
        self.positions: nn.Module | None = None
        scheme: settings.Scheme = "none"
        if positions in ("learned", "every-layer", "query-key"):
            self.positions = Learned(length, width)
        elif positions == "sinusoidal":
            self.positions = Sinusoidal(width)
        elif positions == "untied":
            self.positions = UntiedPositions(length, width, heads)
        elif positions != "none":
            scheme = cast(settings.Scheme, positions)
        self.blocks = nn.ModuleList(
            Block(
                width,
                settings.mixer(
                    mixers[l % len(mixers)], width, heads, scheme, length, bias, dropout, scaled, kv_heads
                ),
                settings.feedforward(feedforward, width, feedforward_width, activation, bias, expert_options),
                Attention(width, heads, bias, scaled, dropout=dropout) if cross else None,
                norm=norm,
                normalization=normalization,
                eps=eps,
                bias=bias,
                dropout=dropout,
                residual=residual,
            )
            for l in range(layers)
        )
        # post-norm blocks end in a norm already
        self.final_norm = norm_layer(normalization, width, eps, bias) if norm == "pre" else nn.Identity()

    def extra_repr(self) -> str:
        return f"positions={self.where}, dropout={self.dropout}"

    def stream(
        self,
        x: Tensor,
        causal: bool = False,
        padding: Tensor | None = None,
        cache: list[Cache] | None = None,
        left: Tensor | None = None,
        source: Tensor | list[SourceKeys] | None = None,
        source_padding: Tensor | None = None,
    ) -> Iterator[Tensor]:
        """Residual stream of embedded tokens (B, T, C): as it enters the first block, then after every block.

        Args:
            causal, padding: as in `Attention`.
            cache: of `new_cache`; x are the tokens behind those already in it.
            left: (B, 1), tokens on the left of each text that are padding: positions count from the first
                behind them (relative ones know differences alone).
            source, source_padding: what `cross` attends to: (B, S, C) or, of each block, its `SourceKeys`;
                and (B, S), True at tokens of it that nobody may look at.
        """
        T, done = x.shape[1], cache[0].length if cache else 0
        offset: int | Tensor = done if left is None else done - left
        bias = at = None
        if isinstance(self.positions, UntiedPositions):
            bias = self.positions(T, done + T, left)
        elif self.where in ("every-layer", "query-key"):
            at = cast(nn.Module, self.positions)(torch.zeros_like(x), offset)  # (B, T, C)
        elif self.positions is not None:
            x = self.positions(x, offset)
        if self.dropout:
            x = F.dropout(x, self.dropout, self.training)
        yield x
        for i, block in enumerate(cast(Iterable[Block], self.blocks)):
            scores = isinstance(block.mixer, Attention)
            x = block(
                x + at if at is not None and self.where == "every-layer" else x,
                causal,
                padding,
                cache[i] if cache else None,
                source[i] if isinstance(source, list) else source,
                source_padding,
                bias=bias if scores else None,
                positions=at if scores and self.where == "query-key" else None,
            )
            yield x

    def forward(self, x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """What leaves the last norm, (B, T, C); arguments as of `stream`."""
        (x,) = deque(self.stream(x, *args, **kwargs), maxlen=1)  # keeps only the last
        return self.final_norm(x)

    def new_cache(self, batch: int, size: int, device: torch.device, dtype: torch.dtype) -> list[Cache]:
        """Empty caches for `batch` texts of up to `size` tokens, one per layer."""
        blocks = cast(Iterable[Block], self.blocks)
        return [block.new_cache(batch, size, device, dtype) for block in blocks]

    def source_keys(self, source: Tensor) -> list[SourceKeys]:
        """Keys and values of a source (B, S, C) for the cross-attention of every block, computed once."""
        return [cast(Attention, block.cross).source_keys(source) for block in self.blocks]


def draw_weights(model: nn.Module) -> None:
    """Draw matrices from N(0, 0.02²), narrower where the sublayers of a stack add up in its residual (GPT-2).

    Biases are 0. A part that begins in its own way (`OWN_START`) stays as it is.
    """
    sublayers = {
        name: sum(len(block.sublayers) for block in cast(Iterable[Block], stack.blocks))
        for name, stack in model.named_modules()
        if isinstance(stack, Stack)
    }
    own = tuple(f"{name}." for name, module in model.named_modules() if hasattr(module, "OWN_START"))
    for name, p in model.named_parameters():
        if p.ndim < 2 or name.startswith(own):
            continue
        count = next((n for stack, n in sublayers.items() if name.startswith(stack)), 1)
        last = ("mixer.proj.weight", "cross.proj.weight", "feedforward.down.weight", "feedforward.down")
        residual = name.endswith(last)
        nn.init.normal_(p, std=0.02 / math.sqrt(count) if residual else 0.02)
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear) and module.bias is not None and not name.startswith(own):
            nn.init.zeros_(module.bias)


def matrices_decay(model: nn.Module) -> list[dict[str, Any]]:
    """Groups of parameters: weight decay, if any, pulls on matrices; gains and biases need not be small."""
    matrices = [p for p in model.parameters() if p.ndim >= 2]
    vectors = [p for p in model.parameters() if p.ndim < 2]
    return [{"params": matrices}, {"params": vectors, "weight_decay": 0.0}]


FORMER = re.compile(r"^(blocks|positions|final_norm)\.")
FORMER_MIXER = re.compile(r"^(stack\.blocks\.\d+)\.attention(_norm)?\.")


def present_stack(state_dict: Mapping[str, Any]) -> dict[str, Any]:
    """Weights of a GPT of an earlier version: the blocks were its own, their mixers were called attention."""
    named = {FORMER.sub(r"stack.\1.", name): value for name, value in state_dict.items()}
    return {FORMER_MIXER.sub(r"\1.mixer\2.", name): value for name, value in named.items()}
