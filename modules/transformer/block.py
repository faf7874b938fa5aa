"""The transformer block: tokens talk (a mixer), then each thinks alone (a feed-forward layer).

    pre-norm    x ← x + Sub(LN x)          (GPT-2 and later)
    post-norm   x ← LN(x + Sub(x))         (the original, BERT)
    Sub = mixer, attention to a source (of a decoder that has one), feed-forward, in this order

What mixes tokens is a setting: attention, or anything with its interface. A norm works on each token over its
own C features with the biased variance; [UDL] §12.4 speaks of statistics over the sequence, which would mix
tokens.

References: Vaswani et al. 2017, arXiv:1706.03762; Xiong et al. 2020, arXiv:2002.04745 (where the norm
goes); Zhang and Sennrich 2019, arXiv:1910.07467 (RMSNorm); Bachlechner et al. 2020, arXiv:2003.04887
(ReZero); [GM] §1.6.4, [UDL] eq. 12.13, [LLM] eq. 1.31.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import require_one_of
from modules.transformer.attention import Attention
from modules.transformer.heads import SourceKeys
from modules.transformer.stream import passed

Norm = Literal["pre", "post", "none"]
Normalization = Literal["layer", "rms"]
Residual = Literal["add", "rezero", "none"]


class Cache(Protocol):
    """What a mixer keeps of earlier tokens, `nbytes` of memory."""

    length: int

    @property
    def nbytes(self) -> int: ...

    def select(self, rows: Tensor) -> "Cache": ...


@dataclass
class TokenCount:
    """Memory of a block without a mixer: how many tokens it has seen."""

    length: int = 0
    nbytes: int = 0

    def select(self, rows: Tensor) -> "TokenCount":
        return TokenCount(self.length)


class Mixer(Protocol):
    """What mixes the tokens of a text: (B, T, C) -> (B, T, C), as `Attention` does.

    `new_cache(batch, size, device, dtype)` is empty memory for up to `size` tokens.
    """

    def __call__(
        self,
        x: Tensor,
        source: Any = None,
        causal: bool = False,
        padding: Tensor | None = None,
        cache: Any = None,
    ) -> Tensor: ...

    def new_cache(self, batch: int, size: int, device: torch.device, dtype: torch.dtype) -> Cache: ...


def norm_layer(kind: Normalization, width: int, eps: float = 1e-5, bias: bool = True) -> nn.Module:
    """LayerNorm, γ ⊙ (x − μ)/√(σ² + ε) + β, or RMSNorm, γ ⊙ x/√(mean x² + ε), which has no β.

    Raises:
        ValueError: it is neither.
    """
    require_one_of(Normalization, normalization=kind)
    return nn.LayerNorm(width, eps, bias=bias) if kind == "layer" else nn.RMSNorm(width, eps)


class Block(nn.Module):
    """Transformer block.

    With attention and a dense layer 4(C² + C) + 2·C·hidden + hidden + C + 4C parameters.

    Args:
        width: C.
        mixer: what mixes tokens; None is a block without.
        feedforward: (B, T, C) -> (B, T, C) token by token; None is a block without, as Mamba's are.
        cross: attention to a source, between the two.
        norm: "pre", "post", or "none".
        normalization, eps: the norm's kind and ε.
        bias: of the norms.
        dropout: of all sublayers' outputs, while training.
        residual: "add"; "rezero", x + α Sub(x) with one learned α per sublayer that begins at 0; "none" takes
            the skip connections away.

    Raises:
        ValueError: an unknown setting.
    """

    def __init__(
        self,
        width: int,
        mixer: nn.Module | None,
        feedforward: nn.Module | None,
        cross: Attention | None = None,
        norm: Norm = "pre",
        normalization: Normalization = "layer",
        eps: float = 1e-5,
        bias: bool = True,
        dropout: float = 0.0,
        residual: Residual = "add",
    ) -> None:
        super().__init__()
        require_one_of(Norm, norm=norm)
        require_one_of(Residual, residual=residual)
        self.norm, self.dropout, self.residual = norm, dropout, residual
        self.mixer, self.cross, self.feedforward = mixer, cross, feedforward
        for name in self.sublayers:
            if norm != "none":
                self.add_module(f"{name}_norm", norm_layer(normalization, width, eps, bias))
            if residual == "rezero":
                self.register_parameter(f"{name}_gain", nn.Parameter(torch.zeros(())))

    @property
    def sublayers(self) -> list[str]:
        """Names of the sublayers that are there, in their order."""
        return [name for name in ("mixer", "cross", "feedforward") if getattr(self, name) is not None]

    def extra_repr(self) -> str:
        return f"norm={self.norm}, dropout={self.dropout}, residual={self.residual}"

    def forward(
        self,
        x: Tensor,
        causal: bool = False,
        padding: Tensor | None = None,
        cache: Any = None,
        source: Tensor | SourceKeys | None = None,
        source_padding: Tensor | None = None,
        **attention: Tensor | None,
    ) -> Tensor:
        """(B, T, C) -> (B, T, C).

        Args:
            causal, padding, cache: as in `Attention`.
            source: (B, S, ·), what `cross` attends to, or its `source_keys`.
            source_padding: (B, S), True at tokens of the source that nobody may look at.
            attention: further arguments of a mixer that is an `Attention`: allowed, bias, positions.
        """
        x = passed(self, "in", x)
        more = {name: value for name, value in attention.items() if value is not None}
        if self.mixer is not None:
            mixer: Mixer = self.mixer  # type: ignore[assignment]
            x = self.add("mixer", x, lambda y: mixer(y, None, causal, padding, cache, **more))
        elif cache is not None:
            cache.length += x.shape[1]
        if self.cross is not None:
            cross = self.cross
            x = self.add("cross", x, lambda y: cross(y, source, padding=source_padding))
        if self.feedforward is not None:
            x = self.add("feedforward", x, self.feedforward)
        return passed(self, "out", x)

    def add(self, name: str, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """One sublayer on the stream, its norm where the setting wants it."""
        norm = getattr(self, f"{name}_norm", None)
        y = sublayer(norm(x) if norm is not None and self.norm == "pre" else x)
        y = F.dropout(y, self.dropout, self.training) if self.dropout else y
        if self.residual == "rezero":
            y = getattr(self, f"{name}_gain") * y
        y = passed(self, name, y)
        x = y if self.residual == "none" else x + y
        return passed(self, f"after {name}", norm(x) if norm is not None and self.norm == "post" else x)

    def new_cache(self, batch: int, size: int, device: torch.device, dtype: torch.dtype) -> Cache:
        """Empty memory for `batch` texts of up to `size` tokens."""
        if self.mixer is None:
            return TokenCount()
        mixer: Mixer = self.mixer  # type: ignore[assignment]
        return mixer.new_cache(batch, size, device, dtype)
