"""Words of a text that a reader hides from an encoder, in brackets, and what its vocabulary has not.

Shapes: `T` tokens.
"""

import re
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from datamodules.tokenizer import MaskTokenizer
from lab.errors import UserError
from lab.experiments import Experiment
from lab.lenses import text as texts

HIDDEN = re.compile(r"(\[[^\[\]\s]+\]|<mask>)", re.I)  # "[bought]"
DATA = ("datamodules.masking.Gazette", "datamodules.masked_text.MaskedText")
Card = Mapping[str, Any]


def predicts_words(entry: Experiment) -> bool:
    """Check whether an experiment is a BERT that predicts words, with its tokenizer in the card."""
    if not entry.module.endswith(".BERT") or entry.datamodule not in DATA:
        return False
    parts = [entry.config[part].get("init_args") or {} for part in ("model", "data")]
    return "masked" in next((args["tasks"] for args in parts if args.get("tasks")), ["masked"])


def tokenizer(card: Card) -> MaskTokenizer:
    """
    Raises:
        UserError: the card has none with masks.
    """
    coder = texts.tokenizer(card)
    if not isinstance(coder, MaskTokenizer):
        raise UserError(f"The tokenizer of {card.get('experiment', 'this model')} has no token for a mask.")
    return coder


def strange(coder: MaskTokenizer, text: str) -> list[str]:
    """Words that a vocabulary has not."""
    found = re.findall(r"\w+|[^\w\s]", re.sub(r"<mask>|[\[\]]", " ", text, flags=re.I))
    return [word for word in dict.fromkeys(found) if coder.UNKNOWN in coder.encode(word)]


def hide(coder: MaskTokenizer, text: str) -> tuple[Tensor, list[int | None]]:
    """Token numbers (1, T) with a mask for each token of what stands in brackets, and these tokens."""
    read: list[int] = []
    targets: list[int | None] = []
    for k, part in enumerate(HIDDEN.split(text)):
        if k % 2 == 0:
            read += coder.encode(part)
            continue
        hidden = coder.encode(part[1:-1]) if part[0] == "[" else []
        hidden = hidden or [coder.UNKNOWN]
        read += [coder.MASK] * len(hidden)
        targets += [None if i in (coder.UNKNOWN, coder.MASK) else i for i in hidden]
    return torch.tensor([[coder.CLS, *read, coder.SEP]]), targets
