"""Tuned lenses that ship: fitted to the validation text of a GPT, which it has not learned from.

    python -c "from lab.lenses import tuned_lens; print(tuned_lens.write('gpt-pydocs'))"

fits one, measures both lenses on the test text, and keeps all of it with the films (`lab.lenses.recorded`),
in half precision; two minutes on one core. A lens has the digest of the weights that it was fitted to.

Shapes: `L` layers, `N` windows, `T` tokens.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

from datamodules.text import Text
from lab import experiments, weights
from lab.errors import UserError
from lab.lenses import recorded
from lab.lenses import text as texts
from modules.transformer.gpt import GPT
from modules.transformer.tuned_lens import TunedLens, divergences, fit

Card = Mapping[str, Any]
SHIPPED = ("gpt-pydocs", "gpt-shakespeare", "gpt-multi30k")
STEPS, TESTED = 300, 128  # of the fit; windows of the test text


@dataclass(frozen=True)
class Fitted:
    """A lens that ships.

    Attributes:
        lens: the translators. logit, tuned: mean KL to the final distribution on the test text, (L + 1,).
    """

    lens: TunedLens
    logit: Tensor
    tuned: Tensor


def windows(card: Card, split: Literal["val", "test"]) -> Tensor:
    """Windows of a split of the text that a model is of, one after the other: (N, T)."""
    data = card["data"]
    ids = torch.tensor(texts.tokenizer(card).encode(Text(data["corpus"]).split_text(split)))
    context = data["context"]
    return ids[: len(ids) // context * context].view(-1, context)


def measured(model: GPT, card: Card, lens: TunedLens | None) -> Tensor:
    """Mean KL after each layer on the test text, (L + 1,)."""
    return divergences(model, windows(card, "test")[:TESTED], lens)


def write(name: str) -> Path:
    """Fit the lens of a shipped GPT, and keep it.

    Raises:
        UserError: it is no GPT.
    """
    place = experiments.ZOO / name
    model, card = weights.load(place), weights.read_card(place)
    if not isinstance(model, GPT):
        raise UserError(f"{name} is no GPT: a tuned lens reads the stream of one.")
    lens = fit(model.eval(), windows(card, "val"), STEPS)
    lens = TunedLens(lens.weight.half().float(), lens.bias.half().float())  # as it is kept
    columns = {
        "weight": lens.weight.half(), "bias": lens.bias.half(), "digest": digest(card),
        "logit": measured(model, card, None), "tuned": measured(model, card, lens),
    }  # fmt: skip
    return recorded.write(f"tuned-{name}", columns)


def digest(card: Card) -> Tensor:
    """Digest of the weights that a card is of, (32,) bytes."""
    return torch.frombuffer(bytearray.fromhex(card["sha256"]), dtype=torch.uint8)


@cache
def kept(name: str) -> Mapping[str, Tensor]:
    return recorded.read(f"tuned-{name}")


def find(card: Card) -> Fitted | None:
    """The lens of the model that a card is of; None where none was fitted to these very weights."""
    if (name := card["experiment"]) not in SHIPPED:
        return None
    columns = kept(name)
    if not torch.equal(columns["digest"], digest(card)):
        return None
    lens = TunedLens(columns["weight"].float(), columns["bias"].float())
    return Fitted(lens, columns["logit"], columns["tuned"])
