"""Lens of the page: the reader's text as the model's tokens, and what the attention lens says of it.

Tokens are counted from 0 here; the controls of layers, heads and tokens count from 1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from torch import Tensor

from lab.lenses import attention
from lab.lenses import text as texts
from modules.transformer.gpt import GPT
from pages.transformer.attention.room import AGAIN, ARCS, HEADS, LAYERS, WORDS

Card = Mapping[str, Any]
Pairs = Sequence[tuple[int, int]]
BARS = 7  # next tokens that are drawn
EXAMPLES = {
    "Romeo": "ROMEO:\nBut, soft! what light",
    "A name again": AGAIN,
    "Repetition": "abcde abcde abcde abcd",
    "Nonsense": "zzzz qqqq zzzz qqqq",
}
DOCS = {
    "Code": "for i in range(10):\n    print(i)\n",
    "Prose": "The function returns a list of strings. If the list is empty, the function returns",
    "Long words": "Asynchronous iterators raise StopAsyncIteration; synchronous iterators raise",
}

# --- Bounds of the controls -----------------------------------------------------------------------


def examples(model_card: Card) -> dict[str, str]:
    """Texts of the kind that the model has read."""
    return DOCS if texts.corpus(model_card) == "pydocs" else EXAMPLES


def first_text(model_card: Card) -> str:
    return next(iter(examples(model_card).values()))


def window(model: GPT) -> str:
    """How much of a text is used."""
    return f"The first {model.context} tokens are used: that is all this model sees at once."


def depth(model: GPT) -> int:
    return len(attention.layers(model))


def width(model: GPT) -> int:
    return attention.layers(model)[0].heads


def has_words(model_card: Card, view: str) -> bool:
    """Whether rows can be words of several tokens."""
    return view in (HEADS, ARCS, LAYERS) and texts.pieced(texts.tokenizer(model_card))


def kept_row(token: tuple[int, int] | None) -> int | None:
    """The row of the cell that is kept."""
    return token and token[1]


def count(model: GPT, model_card: Card, text: str, units: str) -> int:
    return len(read(model, model_card, text, units).names)


def asked(query: int | None, model: GPT, model_card: Card, text: str, units: str) -> int:
    """The token where the film of the rows stands, from 1."""
    last = count(model, model_card, text, units)
    return last if query is None else min(query + 1, last)


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
    cut, tokens = len(tokens) > model.context, tokens[: model.context]
    pieces = texts.names(coder, tokens)
    groups = [range(i, i + 1) for i in range(len(pieces))]
    if units == WORDS:
        groups = attention.words([coder.tokens[i] for i in tokens.tolist()])
    names = ["".join(pieces[i] for i in group) for group in groups]
    return Read(tokens, pieces, readable, groups, names, strange, cut)


# --- What the pass used ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Seen:
    """What one pass used, with heads off.

    Attributes:
        weights: (L, H, R, R) between rows. after, labels: the next tokens after each row.
    """

    maps: attention.Maps
    weights: Tensor
    after: attention.NextBars
    labels: list[list[str]]


def seen(model: GPT, model_card: Card, text: str, units: str, causal: bool, off: Pairs) -> Seen:
    """One pass over the text."""
    said, coder = read(model, model_card, text, units), texts.tokenizer(model_card)
    maps = attention.record(model, said.tokens, causal, from_zero(off))
    whole = attention.record(model, said.tokens, causal).logits if off else maps.logits
    after = attention.next_bars(maps, whole, BARS)
    weights = attention.merged(maps.weights, said.groups) if units == WORDS else maps.weights
    return Seen(maps, weights, after, [texts.names(coder, after.ids[end]) for end in said.ends])


def spoken(
    found: Seen, said: Read, layer: int, head: int, kept: tuple[int, int] | None, units: str
) -> attention.Spoken:
    """The softmax of every row of a head."""
    if units == WORDS:
        return attention.word_equations(found.maps, layer, head, said.groups, said.names, kept)
    return attention.equations(found.maps, layer, head, said.names, kept)


def deep(
    model: GPT, model_card: Card, text: str, units: str, asks: int, causal: bool, off: Pairs
) -> attention.Depths:
    """One token through the layers."""
    said, named = read(model, model_card, text, units), partial(texts.names, texts.tokenizer(model_card))
    return attention.depths(model, said.tokens, said.ends[asks - 1], named, BARS, causal, from_zero(off))


def named(depths: attention.Depths, model_card: Card) -> list[list[str]]:
    """Names of the tokens that are read after each layer."""
    return [texts.names(texts.tokenizer(model_card), ids) for ids in depths.ids]


def influence(model: GPT, model_card: Card, text: str, units: str, causal: bool) -> Tensor:
    return attention.influence(model, read(model, model_card, text, units).tokens, causal)


def importance(model: GPT, model_card: Card, text: str, units: str, causal: bool) -> Tensor:
    return attention.importance(model, read(model, model_card, text, units).tokens, causal)


def numbers(found: Seen, said: Read, layer: int) -> list[dict[str, str]]:
    """What the machine's parts say at each row: which token, of which block the head is, and how likely the
    favourite next token is."""
    rows, blocks = len(said.ends), len(found.weights)
    tops = found.after.now[said.ends].max(1).values.tolist()
    return [
        {
            "tokens": f"{row + 1} of {rows}",
            "attention": f"{layer + 1} of {blocks}",
            "logits": f"p = {top:.2f}",
        }
        for row, top in enumerate(tops)
    ]


def numbers_of_blocks(found: attention.Depths) -> list[dict[str, str]]:
    """The same of one token, after each block."""
    tops = found.p.max(1).values.tolist()
    return [
        {"attention": f"{block + 1} of {len(tops)}", "logits": f"p = {top:.2f}"}
        for block, top in enumerate(tops)
    ]


def from_zero(off: Pairs) -> list[tuple[int, int]]:
    """Layers and heads as the models count them."""
    return [(layer - 1, head - 1) for layer, head in off]
