"""Sublayers by their names: what the settings of a model may ask for in each of its blocks.

Mixers: "softmax" attention; "local" attention to neighbours; "linear" attention, elu + 1, or by "positive" or
"hyperbolic" random features; the state-space models "mamba" and "s4"; a "random", "fixed" or "dense"
synthesizer; "none". Feed-forward layers: "dense", "gated" (SwiGLU where φ is SiLU), "experts" with their
options, "none".
"""

from collections.abc import Mapping
from typing import Any, Literal

from torch import nn

from modules.base import require_one_of
from modules.transformer.attention import Attention
from modules.transformer.experts import Experts
from modules.transformer.feedforward import Activation, FeedForward, GatedFeedForward
from modules.transformer.linear_attention import FeatureMap, LinearAttention
from modules.transformer.local_attention import LocalAttention
from modules.transformer.mamba import Mamba
from modules.transformer.positions import Rotary
from modules.transformer.relative import ALiBi, RelativeBias, RelativeFactor, RelativeKey
from modules.transformer.s4 import S4
from modules.transformer.synthesizer import Synthesizer

MixerName = Literal[
    "softmax", "local", "linear", "positive", "hyperbolic", "mamba", "s4", "random", "fixed", "dense", "none"
]
FeedForwardName = Literal["dense", "gated", "experts", "none"]
OF_EXPERTS = {"experts", "active", "capacity", "router_start"}  # what `expert_options` may name
# how an attention layer knows where a token stands
Scheme = Literal["none", "rotary", "rotary-adjacent", "relative", "relative-factor", "relative-key", "alibi"]


def attention(
    width: int,
    heads: int,
    scheme: Scheme = "none",
    length: int = 1,
    bias: bool = True,
    dropout: float = 0.0,
    scaled: bool = True,
    kv_heads: int | None = None,
) -> Attention:
    """Self-attention that knows positions by a scheme; `length` positions are told apart."""
    D = width // heads
    layout: Literal["adjacent", "half"] = "adjacent" if scheme == "rotary-adjacent" else "half"
    relative: nn.Module | None = None
    if scheme == "relative":
        relative = RelativeBias(heads, length)
    elif scheme == "relative-factor":
        relative = RelativeFactor(heads, length)
    elif scheme == "relative-key":
        relative = RelativeKey(D, length)
    elif scheme == "alibi":
        relative = ALiBi(heads)
    rotary = Rotary(D, layout) if scheme.startswith("rotary") else None
    return Attention(width, heads, bias, scaled, rotary, dropout, kv_heads, relative=relative)


def mixer(
    name: MixerName,
    width: int,
    heads: int,
    scheme: Scheme = "none",
    length: int = 1,
    bias: bool = True,
    dropout: float = 0.0,
    scaled: bool = True,
    kv_heads: int | None = None,
) -> nn.Module | None:
    """Mixer of one block; scheme, scaled and kv_heads are of softmax attention, length and
    dropout of a synthesizer too.

    Raises:
        ValueError: an unknown name.
    """
    require_one_of(MixerName, mixer=name)
    if name == "softmax":
        return attention(width, heads, scheme, length, bias, dropout, scaled, kv_heads)
    if name in ("random", "fixed", "dense"):
        return Synthesizer(width, heads, length, name, bias, dropout)
    if name == "none":
        return None
    if name in ("mamba", "s4"):
        return Mamba(width) if name == "mamba" else S4(width)
    if name == "local":
        return LocalAttention(width, heads, bias=bias)
    features: FeatureMap = name if name in ("positive", "hyperbolic") else "elu"
    return LinearAttention(width, heads, bias, features)


def feedforward(
    name: FeedForwardName,
    width: int,
    hidden: int | None = None,
    activation: Activation = "gelu",
    bias: bool = True,
    options: Mapping[str, Any] | None = None,
) -> nn.Module | None:
    """Feed-forward layer of one block; `hidden` is 4C by default, of a gated one 8C/3, rounded up.

    Experts are `hidden` wide each and have no biases; `options` are theirs, such as {"experts": 8}.

    Raises:
        ValueError: an unknown name, or options of a layer that has none.
    """
    require_one_of(FeedForwardName, feedforward=name)
    if name == "experts":
        options = {} if options is None else options
        strange = options.keys() - OF_EXPERTS if isinstance(options, Mapping) else {str(options)}
        if strange:
            known = ", ".join(sorted(OF_EXPERTS))
            raise ValueError(f"expert_options has {', '.join(map(str, strange))}: give some of {known}.")
        return Experts(width, hidden or 4 * width, activation=activation, **options)
    if options is not None:
        raise ValueError(f"feedforward is {name!r}: expert_options are those of experts.")
    if name == "none":
        return None
    if name == "gated":
        return GatedFeedForward(width, hidden or -(-8 * width // 3), activation, bias)
    return FeedForward(width, hidden or 4 * width, activation, bias)
