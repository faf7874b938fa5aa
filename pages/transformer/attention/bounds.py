"""Bounds of the controls: texts to begin with, and what a model and a text have to choose from."""

from lab.lenses import attention
from lab.lenses import text as texts
from modules.transformer.gpt import GPT
from pages.transformer.attention.lens import MOST, Card, read
from pages.transformer.attention.room import AGAIN, ARCS, COUPLE, GUITAR, HEADS, LAYERS

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

CAPTIONS = {
    "Couple": COUPLE,
    "Guitar": GUITAR,
    "Repetition": "A dog and a cat and a dog and a cat and a",
    "Nonsense": "zzzz qqqq zzzz qqqq",
}


def examples(model_card: Card) -> dict[str, str]:
    """Texts of the kind that the model has read."""
    return {"pydocs": DOCS, "multi30k": CAPTIONS}.get(texts.corpus(model_card), EXAMPLES)


def first_text(model_card: Card) -> str:
    return next(iter(examples(model_card).values()))


def window(model: GPT) -> str:
    """Part of a text that is used."""
    if model.context > MOST:
        return f"The first {MOST} tokens are used; this model sees {model.context:,} at once."
    return f"The first {model.context} tokens are used: that is all this model sees at once."


def depth(model: GPT) -> int:
    return len(attention.layers(model))


def width(model: GPT) -> int:
    return attention.layers(model)[0].heads


def heads(model: GPT) -> list[str]:
    """All heads as "layer.head", from 1."""
    return [f"{layer + 1}.{head + 1}" for layer in range(depth(model)) for head in range(width(model))]


def has_words(model_card: Card, view: str) -> bool:
    """Check whether rows can be words of several tokens."""
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
