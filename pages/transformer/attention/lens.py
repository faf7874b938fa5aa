"""Lens of the page: what the attention lens says of the reader's text, and what stands in for it in Mamba.

Tokens are counted from 0 here; the controls of layers, heads and tokens count from 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

import torch
from torch import Tensor

from lab.lenses import attention
from lab.lenses import text as texts
from modules.transformer.attention import Attention
from modules.transformer.gpt import GPT
from modules.transformer.mixer_tagger import MixerTagger
from modules.transformer.recorder import record_attention
from pages.transformer.attention import subjects
from pages.transformer.attention.room import WORDS
from pages.transformer.attention.subjects import Card, Model, Read, named, read, subject

Pairs = Sequence[tuple[int, int]]
fits = subjects.fits  # what the room admits
BARS = 7  # next tokens that are drawn

# --- What the pass used ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Hidden:
    """Mamba read as attention, y_t = Σ_s M_ts u_s in each of its D channels.

    Attributes:
        M: (L, D, T, T). u: (L, D, T).
    """

    M: Tensor
    u: Tensor

    @property
    def shares(self) -> Tensor:
        """Σ_d |M_ts| of all tokens s, rows sum to 1: (L, T, T)."""
        size = self.M.abs().sum(1)
        return size / size.sum(-1, keepdim=True)


@dataclass(frozen=True)
class ForwardPass:
    """Activations that one pass used, with heads off.

    Attributes:
        maps, hidden: what was recorded of attention, or of Mamba; the other is None.
        weights: (L, H, R, S) between rows and columns; of Mamba (L, 1, T, T), the shares of |M|.
        after, labels: the next tokens after each row; None and nothing of an encoder that predicts none.
    """

    maps: attention.Maps | None
    hidden: Hidden | None
    weights: Tensor
    after: attention.NextBars | None
    labels: list[list[str]]


@torch.no_grad()
def forward_pass(
    model: Model, model_card: Card, text: str, units: str, causal: bool, off: Pairs, stack: str
) -> ForwardPass:
    """One pass over the text."""
    sentence = read(model, model_card, text, units, stack)
    one = subject(model, sentence, causal, stack)
    maps = hidden = None
    if isinstance(model, MixerTagger):
        with record_attention() as seen:
            logits = one.run()
        calls = [seen.calls[mixer][0] for mixer in one.mixers]
        u = torch.stack([cast(Tensor, call.values)[0, ..., 0] for call in calls])
        hidden = Hidden(torch.stack([call.weights[0] for call in calls]), u)
        weights = hidden.shares[:, None]
    else:
        maps = attention.record_pass(one.run, cast(list[Attention], one.mixers), from_zero(off))
        logits, weights = maps.logits, maps.weights
    if not one.answers:
        return ForwardPass(maps, hidden, weights, None, [])
    after = attention.bars_of(logits, one.run() if off else logits, BARS)
    if units == WORDS:
        weights = attention.merged(weights, sentence.groups)
    labels = [named(model_card, after.ids[end]) for end in sentence.ends]
    return ForwardPass(maps, hidden, weights, after, labels)


def spoken(
    result: ForwardPass, text: Read, layer: int, head: int, kept: tuple[int, int] | None, units: str
) -> attention.Spoken:
    """The softmax of every row of a head; of Mamba its sum."""
    if result.hidden is not None:
        return summed(result.hidden, layer, text, kept)
    assert result.maps is not None
    if units == WORDS:
        return attention.word_equations(result.maps, layer, head, text.groups, text.names, kept)
    return attention.equations(result.maps, layer, head, text.names, kept, text.columns)


def summed(hidden: Hidden, layer: int, text: Read, kept: tuple[int, int] | None) -> attention.Spoken:
    """Each token with the one that it takes most from, in the channel where that is largest."""
    shares = hidden.shares[layer]
    keys = shares.argmax(1).tolist()
    if kept is not None:
        keys[kept[0]] = kept[1]
    captions, latex = [], []
    for t, s in enumerate(keys):
        terms = hidden.M[layer, :, t] * hidden.u[layer]  # (D, T)
        d = int(terms[:, s].abs().argmax())
        captions.append(
            f"Layer {layer + 1}: {text.names[t]} ({t + 1}) gives {text.names[s]} ({s + 1}) a share of "
            f"{float(shares[t, s]):.2f}; there is no query and no key. Channel {d + 1} in numbers."
        )
        latex.append(
            rf"y_t = \sum_{{s \le t}} M_{{ts}} u_s = {float(terms[d].sum()):.3f}, \quad M_{{ts}} u_s = "
            rf"{float(hidden.M[layer, d, t, s]):.3f} \cdot {float(hidden.u[layer, d, s]):.3f} = "
            rf"{float(terms[d, s]):.3f}"
        )
    return attention.Spoken(keys, captions, latex)


# --- Of language models alone ---------------------------------------------------------------------


def deep(
    model: GPT, model_card: Card, text: str, units: str, asks: int, causal: bool, off: Pairs
) -> attention.Depths:
    """One token through the layers."""
    sentence = read(model, model_card, text, units, "")
    names = partial(texts.names, texts.tokenizer(model_card))
    return attention.depths(
        model, sentence.tokens, sentence.ends[asks - 1], names, BARS, causal, from_zero(off)
    )


def influence(model: GPT, model_card: Card, text: str, units: str, causal: bool) -> Tensor:
    return attention.influence(model, read(model, model_card, text, units, "").tokens, causal)


def importance(model: GPT, model_card: Card, text: str, units: str, causal: bool) -> Tensor:
    return attention.importance(model, read(model, model_card, text, units, "").tokens, causal)


def from_zero(off: Pairs) -> list[tuple[int, int]]:
    """Layers and heads as the models count them."""
    return [(layer - 1, head - 1) for layer, head in off]


# --- What the machine says ------------------------------------------------------------------------


def numbers(result: ForwardPass, text: Read, layer: int) -> list[dict[str, str]]:
    """At each row: which token, of which block the head is, how likely the likeliest next token is."""
    rows, blocks = len(text.ends), len(result.weights)
    says = [
        {"tokens": f"{row + 1} of {rows}", "attention": f"{layer + 1} of {blocks}"} for row in range(rows)
    ]
    if result.after is None:
        return says
    tops = result.after.now[text.ends].max(1).values.tolist()
    return [said | {"logits": f"p = {top:.2f}"} for said, top in zip(says, tops, strict=True)]


def numbers_of_blocks(depths: attention.Depths) -> list[dict[str, str]]:
    """Numbers of one token, after each block."""
    tops = depths.p.max(1).values.tolist()
    return [
        {"attention": f"{block + 1} of {len(tops)}", "logits": f"p = {top:.2f}"}
        for block, top in enumerate(tops)
    ]
