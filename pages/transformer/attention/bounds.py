"""Bounds of the controls: texts to begin with, and what a model and a text have to choose from."""

from lab.lenses import text as texts
from lab.lenses import translations
from lab.lenses.attention import CROSS, ENCODER
from modules.transformer.bert import BERT
from modules.transformer.gpt import GPT
from modules.transformer.mixer_tagger import MixerTagger
from modules.transformer.translator import Translator
from pages.transformer.attention.room import (
    AGAIN,
    ARCS,
    BOUGHT,
    COPIED,
    COUPLE,
    GUITAR,
    HEADS,
    KEY,
    LAYERS,
    VALUES,
    VIEWS,
)
from pages.transformer.attention.subjects import MOST, Card, Model, read, tokenizer

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
GAZETTE = {
    "Bought": BOUGHT,
    "Several": "[yesterday] anna bought a red [kite] from max [in] oslo .",
    "Two sentences": "anna bought a red kite . max [sold] a lamp .",
}
COPIES = {
    "Four letters": COPIED,
    "All at the end": "................abcd????",
    "Two letters": "h.......g...??",
}
GRAMMAR = {"Green key": KEY, "Big cat": "I have a big cat but a small house."}


def examples(model: Model, model_card: Card) -> dict[str, str]:
    """Texts of the kind that the model has read."""
    if isinstance(model, BERT):
        return GAZETTE
    if isinstance(model, MixerTagger):
        return COPIES
    if isinstance(model, Translator):
        return dict(translations.examples(model_card, GRAMMAR))
    return {"pydocs": DOCS, "multi30k": CAPTIONS}.get(texts.corpus(model_card), EXAMPLES)


def first_text(model: Model, model_card: Card) -> str:
    return next(iter(examples(model, model_card).values()), "")


def about_text(model: Model) -> str:
    """Part of a text that is used, and how a model of other kinds is written to."""
    if isinstance(model, BERT):
        return "A word in brackets is hidden from the model: [bought]."
    if isinstance(model, Translator):
        return "Its greedy translation is read beside it."
    if isinstance(model, MixerTagger):
        return "Letters a to h among noise (.), to be said again in their order, one at each question mark."
    if model.context > MOST:
        return f"The first {MOST} tokens are used; this model sees {model.context:,} at once."
    return f"The first {model.context} tokens are used: that is all this model sees at once."


def views(model: Model, stack: str) -> tuple[str, ...]:
    """What is shown of a model: what follows next tokens is of a GPT; arcs have as many rows as columns."""
    if isinstance(model, GPT):
        return VIEWS
    arcs = (ARCS,) if not (isinstance(model, Translator) and stack == CROSS) else ()
    return (HEADS, *arcs, VALUES)


def is_gpt(model: Model) -> bool:
    return isinstance(model, GPT)


def is_translator(model: Model) -> bool:
    return isinstance(model, Translator)


def has_heads(model: Model) -> bool:
    return not isinstance(model, MixerTagger)


def depth(model: Model, stack: str) -> int:
    if isinstance(model, Translator):
        return len((model.encoder if stack == ENCODER else model.decoder).blocks)
    return len((model.encoder.stack if isinstance(model, BERT) else model).blocks)


def width(model: Model) -> int:
    if isinstance(model, MixerTagger):
        return 1
    return model.encoder.stack.heads if isinstance(model, BERT) else model.heads


def heads(model: Model, stack: str) -> list[str]:
    """All heads as "layer.head", from 1."""
    rows = range(depth(model, stack))
    return [f"{layer + 1}.{head + 1}" for layer in rows for head in range(width(model))]


def has_words(model: Model, model_card: Card, view: str) -> bool:
    """Check whether rows can be words of several tokens."""
    return isinstance(model, GPT) and view in (HEADS, ARCS, LAYERS) and texts.pieced(tokenizer(model_card))


def kept_row(
    token: tuple[int, int] | None, model: Model, model_card: Card, text: str, stack: str
) -> int | None:
    """The row of the cell that is kept; of an encoder the first hidden word."""
    if token is None and isinstance(model, BERT):
        one = read(model, model_card, text, "", stack)
        return next((i for i, name in enumerate(one.names) if name == "<mask>"), None)
    return token and token[1]


def count(model: Model, model_card: Card, text: str, units: str) -> int:
    return len(read(model, model_card, text, units, "").names)


def asked(query: int | None, model: Model, model_card: Card, text: str, units: str) -> int:
    """The token where the film of the rows stands, from 1."""
    last = count(model, model_card, text, units)
    return last if query is None else min(query + 1, last)
