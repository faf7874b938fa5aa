"""Lens of the page: the reader's text as the model's tokens, and what the attention lens says of it.

Tokens are counted from 0 here; the controls of layers, heads and tokens count from 1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from lab.lenses import attention
from lab.lenses import text as texts
from modules.transformer.gpt import GPT
from pages.transformer.attention.room import WORDS

Card = Mapping[str, Any]
Pairs = Sequence[tuple[int, int]]
fits = texts.gpt_of_text  # what the room admits
BARS = 7  # next tokens that are drawn
ROWS = 8  # weighted values that are drawn, by their weight
MOST = 128  # tokens that are drawn; every row is a frame

# --- The text -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Read:
    """A text as rows and columns.

    Attributes:
        tokens: (T,). pieces: their names. readable: the text that they spell.
        groups: the tokens of each row. names: of the rows.
        strange: a sentence on what the vocabulary has not. cut: whether the model sees but its beginning.
    """

    tokens: Tensor
    pieces: list[str]
    readable: str
    groups: list[range]
    names: list[str]
    strange: str
    cut: bool

    @property
    def ends(self) -> list[int]:
        """The last token of each row: the next token is read there."""
        return [group[-1] for group in self.groups]


def read(model: GPT, model_card: Card, text: str, units: str) -> Read:
    """The text as the model's tokens.

    Raises:
        UserError: none of it can be read.
    """
    coder = texts.tokenizer(model_card)
    readable, strange = texts.readable(coder, text)
    tokens = texts.read(coder, readable)
    most = min(model.context, MOST)
    cut, tokens = len(tokens) > most, tokens[:most]
    pieces = texts.names(coder, tokens)
    groups = [range(i, i + 1) for i in range(len(pieces))]
    if units == WORDS:
        groups = attention.words([coder.tokens[i] for i in tokens.tolist()])
    names = ["".join(pieces[i] for i in group) for group in groups]
    return Read(tokens, pieces, readable, groups, names, strange, cut)


# --- What the pass used ---------------------------------------------------------------------------


@dataclass(frozen=True)
class ForwardPass:
    """Activations that one pass used, with heads off.

    Attributes:
        weights: (L, H, R, R) between rows. after, labels: the next tokens after each row.
    """

    maps: attention.Maps
    weights: Tensor
    after: attention.NextBars
    labels: list[list[str]]


def forward_pass(
    model: GPT, model_card: Card, text: str, units: str, causal: bool, off: Pairs
) -> ForwardPass:
    """One pass over the text."""
    sentence, coder = read(model, model_card, text, units), texts.tokenizer(model_card)
    maps = attention.record(model, sentence.tokens, causal, from_zero(off))
    whole = attention.record(model, sentence.tokens, causal).logits if off else maps.logits
    after = attention.next_bars(maps, whole, BARS)
    weights = attention.merged(maps.weights, sentence.groups) if units == WORDS else maps.weights
    return ForwardPass(maps, weights, after, [texts.names(coder, after.ids[end]) for end in sentence.ends])


def spoken(
    result: ForwardPass, text: Read, layer: int, head: int, kept: tuple[int, int] | None, units: str
) -> attention.Spoken:
    """The softmax of every row of a head."""
    if units == WORDS:
        return attention.word_equations(result.maps, layer, head, text.groups, text.names, kept)
    return attention.equations(result.maps, layer, head, text.names, kept)


def deep(
    model: GPT, model_card: Card, text: str, units: str, asks: int, causal: bool, off: Pairs
) -> attention.Depths:
    """One token through the layers."""
    sentence, named = read(model, model_card, text, units), partial(texts.names, texts.tokenizer(model_card))
    return attention.depths(
        model, sentence.tokens, sentence.ends[asks - 1], named, BARS, causal, from_zero(off)
    )


def named(depths: attention.Depths, model_card: Card) -> list[list[str]]:
    """Names of the tokens that are read after each layer."""
    return [texts.names(texts.tokenizer(model_card), ids) for ids in depths.ids]


def influence(model: GPT, model_card: Card, text: str, units: str, causal: bool) -> Tensor:
    return attention.influence(model, read(model, model_card, text, units).tokens, causal)


def importance(model: GPT, model_card: Card, text: str, units: str, causal: bool) -> Tensor:
    return attention.importance(model, read(model, model_card, text, units).tokens, causal)


def from_zero(off: Pairs) -> list[tuple[int, int]]:
    """Layers and heads as the models count them."""
    return [(layer - 1, head - 1) for layer, head in off]


# --- What one head takes of the values ------------------------------------------------------------


@dataclass(frozen=True)
class Taken:
    """Vectors that one head takes of the values, and that the parts of the model add at each token.

    Attributes:
        terms: (T, K, D), α_ij v_j of the K tokens j of largest weight, for each token i that takes them.
        labels: of these K rows: the token, its place and its weight.
        sums: (T, D), over all j: the head's output before its projection.
        parts: names of the parts of the residual stream; norms: (T, P), the length of what each adds.
        layer: of the head, from 0.
        captions, latex: a sentence and an equation for each token.
    """

    terms: Tensor
    labels: list[list[str]]
    sums: Tensor
    parts: list[str]
    norms: Tensor
    layer: int
    captions: list[str]
    latex: list[str]


def taken(
    model: GPT,
    model_card: Card,
    text: str,
    units: str,
    values_of: str,
    causal: bool,
    off: Pairs,
) -> Taken:
    """Values weighted by attention, and what attention and MLP of each block add to the stream."""
    sentence = read(model, model_card, text, units)
    maps = attention.record(model, sentence.tokens, causal, from_zero(off))
    L = len(maps.weights)
    l, h = (int(number) - 1 for number in values_of.split("."))
    weights, values = maps.weights[l, h], maps.values[l, h]
    most = weights.topk(min(ROWS, len(weights)))  # (T, K)
    terms = most.values[..., None] * values[most.indices]
    labels = [
        [f"{weight:.2f} × {sentence.pieces[j]} ({j + 1})" for weight, j in zip(row, places, strict=True)]
        for row, places in zip(most.values.tolist(), most.indices.tolist(), strict=True)
    ]
    sums, adds = weights @ values, attention.additions(model, sentence.tokens, causal, from_zero(off))
    blocks = torch.stack([adds.attention, adds.mlp], 1).flatten(0, 1)  # (2L, T, C)
    norms = torch.cat([adds.before[:1], blocks]).norm(dim=-1).T
    parts = ["embedding", *(f"{part} {k + 1}" for k in range(L) for part in ("attention", "MLP"))]
    coder = texts.tokenizer(model_card)
    between, after = (
        texts.names(coder, attention.favourites(model, x[l])[0]) for x in (adds.between, adds.after)
    )
    captions, latex = [], []
    for i, (name, j) in enumerate(zip(sentence.pieces, most.indices[:, 0].tolist(), strict=True)):
        captions.append(
            f"{name} ({i + 1}) takes most of the value of {sentence.pieces[j]} ({j + 1}). The likeliest next "
            f"token is {between[i]} after attention {l + 1}, {after[i]} after MLP {l + 1}."
        )
        latex.append(
            rf"o = \sum_j \alpha_j v_j, \quad \mathrm{{norm}}(o) = {float(sums[i].norm()):.3f}, \quad "
            rf"\mathrm{{norm}}(\mathrm{{MLP}}) = {float(norms[i, 2 * l + 2]):.3f}"
        )
    return Taken(terms, labels, sums, parts, norms, l, captions, latex)


# --- What the machine says ------------------------------------------------------------------------


def numbers(result: ForwardPass, text: Read, layer: int) -> list[dict[str, str]]:
    """At each row: which token, of which block the head is, how likely the likeliest next token is."""
    rows, blocks = len(text.ends), len(result.weights)
    tops = result.after.now[text.ends].max(1).values.tolist()
    return [
        {
            "tokens": f"{row + 1} of {rows}",
            "attention": f"{layer + 1} of {blocks}",
            "logits": f"p = {top:.2f}",
        }
        for row, top in enumerate(tops)
    ]


def numbers_of_blocks(depths: attention.Depths) -> list[dict[str, str]]:
    """Numbers of one token, after each block."""
    tops = depths.p.max(1).values.tolist()
    return [
        {"attention": f"{block + 1} of {len(tops)}", "logits": f"p = {top:.2f}"}
        for block, top in enumerate(tops)
    ]


def numbers_of_parts(result: Taken) -> list[dict[str, str]]:
    """At each token: the length of what embedding, attention and MLP add."""
    places = {"embedding": 0, "attention": 2 * result.layer + 1, "mlp": 2 * result.layer + 2}
    return [{part: f"+{float(row[at]):.1f}" for part, at in places.items()} for row in result.norms]
