"""From a reader's text to a model's tokens and back to something one can look at."""

from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor

from datamodules.tokenizer import SUBWORDS, Tokenizer
from lab.errors import UserError
from lab.experiments import Experiment

MOST = 20_000  # characters; more is a file, not a text to look at

# How the invisible ones are shown.
VISIBLE = str.maketrans({"\n": "⏎", " ": "␣", "\t": "⇥", "\r": "␍"})


def tokenizer(card: Mapping[str, Any]) -> Tokenizer:
    """The tokenizer that travels in a language model's card.

    Raises:
        UserError: the card has none.
    """
    try:
        return Tokenizer.from_dict(card["data"]["tokenizer"])
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(
            f"The card of {card.get('experiment', 'this model')} holds no tokenizer: {error}."
        ) from None


def gpt_of_text(entry: Experiment) -> bool:
    """Check whether an experiment is a GPT that has read running text."""
    return entry.module.endswith(".GPT") and entry.datamodule == "datamodules.text.Text"


def corpus(card: Mapping[str, Any]) -> str:
    """The name of what a language model has read; of a small world that of its data."""
    return card["data"].get("corpus", card["data"].get("name", ""))


def read(coder: Tokenizer, text: str, most: int | None = None, end: bool = False) -> Tensor:
    """Token ids (T,) of a text, at most `most` of them.

    Args:
        end: keep the last `most` tokens; else the first.

    Raises:
        UserError: no text, too much of it, or a character outside the vocabulary; one sentence each.
    """
    if not text:
        raise UserError("There is no text: type at least one character.")
    if len(text) > MOST:
        raise UserError(f"The text has {len(text):,} characters: shorten it to at most {MOST:,}.")
    try:
        ids = torch.tensor(coder.encode(text))
    except ValueError as error:
        raise UserError(str(error)) from None
    if most is not None:
        ids = ids[-most:] if end else ids[:most]
    return ids


def readable(coder: Tokenizer, text: str) -> tuple[str, str]:
    """Part of a text that the vocabulary has, and a sentence that names what it has not ("" where it has
    all)."""

    def known(character: str) -> bool:
        try:
            coder.encode(character)
        except ValueError:
            return False
        return True

    strange = [c for c in dict.fromkeys(text) if not known(c)]
    if not strange:
        return text, ""
    named = ", ".join(f"{c!r} (U+{ord(c):04X})" for c in strange[:5]) + (", …" if len(strange) > 5 else "")
    sentence = f"{named} {'is' if len(strange) == 1 else 'are'} not in the vocabulary and left out."
    return "".join(c for c in text if c not in strange), sentence


def shown(tokens: Iterable[str]) -> list[str]:
    """Tokens with their invisible characters made visible."""
    return [token.translate(VISIBLE) for token in tokens]


def joined(coder: Tokenizer, pieces: Iterable[str]) -> str:
    """Tokens, as they are shown, in one line: words with spaces between them."""
    return (" " if coder.kind == "word" else "").join(pieces)


def names(coder: Tokenizer, ids: Tensor) -> list[str]:
    """Each token of a text as it is shown: (T,) ids -> T strings."""
    return shown(coder.tokens[i] for i in ids.tolist())


def pieced(coder: Tokenizer) -> bool:
    """Check whether its tokens are pieces of words."""
    return coder.kind in SUBWORDS
