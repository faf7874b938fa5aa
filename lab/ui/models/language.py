"""Controls that pages on language models share: the model, and the reader's beginning as its tokens."""

from collections.abc import Mapping
from typing import cast

import streamlit as st
from torch import Tensor

from lab.errors import UserError
from lab.experiments import Experiment
from lab.lenses import surfaces
from lab.lenses import text as texts
from lab.ui.controls import widgets
from lab.ui.models import loading
from lab.ui.page.blocks import stop
from modules.base import NextToken

EXAMPLES = {
    "shakespeare": {"Romeo": "ROMEO:\n", "To be": "To be, or not to ", "The": "the "},
    "pydocs": {"Prose": "Return a list of ", "Code": "for i in range("},
    "multi30k": {"Man": "a man in a", "Two dogs": "two dogs"},
    "Grammar": {"Dog": "the dog", "The": "the"},
}
# tokens of a task, not of a text: their cards hold no tokenizer
WITHOUT_TEXT = {"datamodules.addition.Addition", "datamodules.in_context.CharacterMaps"}


def offers_next_token(entry: Experiment) -> bool:
    """True if an experiment trains a model of text that offers its next token from what came before, and from
    nothing after it."""
    kind = surfaces.class_of(entry)
    return (
        entry.datamodule not in WITHOUT_TEXT
        and hasattr(kind, "next_log_probs")
        and surfaces.option(entry, "causal") is not False
    )


def language_models() -> list[str]:
    """Trained models that offer their next token."""
    return loading.trained(only=offers_next_token)


def language_model(default: str) -> str:
    """The reader's choice among them."""
    return widgets.choice("Model", language_models(), key="trained", default=default, as_list=True)


def next_token_model(name: str) -> NextToken:
    """The trained model; all of `language_models` offer the next token."""
    return cast(NextToken, loading.load(name))


def beginning(
    name: str,
    context: int | None = None,
    examples: Mapping[str, str] | None = None,
    max_chars: int = 500,
) -> tuple[Tensor, list[str]]:
    """The reader's beginning as token numbers (T,), and the names of all tokens as they are shown.

    Args:
        context: of a longer text the model sees the last so many tokens, with a sentence that says so.
        examples: chosen beginnings (name -> text), the first is where the control stands; else those of the
            model's corpus.
    """
    card = loading.card(name)
    coder = texts.tokenizer(card)
    if examples is None:
        examples = EXAMPLES.get(texts.corpus(card), EXAMPLES["shakespeare"])
    first = next(iter(examples.values()))
    text = widgets.text("Beginning", first, key="prompt", examples=examples, max_chars=max_chars)
    try:
        ids = texts.read(coder, text)
    except UserError as error:
        stop(str(error))
    if context is not None and len(ids) > context:
        st.caption(f"The model sees the last {context} tokens of your text.")
        ids = ids[-context:]
    return ids, texts.shown(coder.tokens)
