"""Counted n-gram models for lenses: of shipped corpora and of the reader's own text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from datamodules.tokenizer import CharTokenizer, Tokenizer, WordTokenizer
from lab.errors import UserError
from lab.experiments import Experiment
from lab.lenses import surfaces
from lab.lenses import text as texts
from modules.language.ngram import NGram

OWN = "own text"

# Small corpora to count, a sentence a line.
SAM = "I am Sam\nSam I am\nI do not like green eggs and ham"
PETS = "\n".join(
    f"the {who} {what}" for who in ("cat", "dog", "bird", "boy")
    for what in ("sat on the mat", "ate the bone", "saw the ball") if (who, what[:3]) != ("dog", "sat")
)  # fmt: skip
SAN = "\n".join(["in san francisco"] * 8 + [f"{w} glasses" for w in ("my", "the", "reading", "new")])
CORPORA = {"Sam": SAM, "Pets": PETS, "Francisco": SAN}


def of_ngrams(entry: Experiment) -> bool:
    """Check whether an experiment counts n-grams."""
    return surfaces.is_a(entry, NGram)


@dataclass(frozen=True)
class Counted:
    """A model and its tokenizer."""

    model: NGram
    coder: Tokenizer

    def encode(self, text: str) -> Tensor:
        """Token ids (T,), T ≥ 0.

        Raises:
            UserError: a character outside the vocabulary.
        """
        try:
            return torch.tensor(self.coder.encode(text), dtype=torch.int64)
        except ValueError as error:
            raise UserError(str(error)) from None

    def names(self, ids: Tensor | Sequence[int]) -> list[str]:
        """Tokens as shown; what stands before a text is ⊢."""
        V = len(self.coder)
        bos = self.model.bos
        return ["⊢" if i in (V, bos) else texts.shown([self.coder.tokens[i]])[0] for i in map(int, ids)]


def count(text: str, unit: str, order: int) -> Counted:
    """Count own text: "words" by lines with begin and end, "characters" as one line.

    Raises:
        UserError: the text is too short.
    """
    if unit == "characters":
        if len(text) < 2:
            raise UserError("There is no text to count: type at least two characters.")
        coder: Tokenizer = CharTokenizer(sorted(set(text)))
        model = NGram(len(coder), order)
        model.fit(torch.tensor([coder.encode(text)]))
        return Counted(model, coder)
    lines = [line for line in text.splitlines() if line.strip()]
    coder = WordTokenizer.train(lines)
    encoded = [coder.encode(line) for line in lines]
    if not any(encoded):
        raise UserError("There is no text to count: type at least one word.")
    model = NGram(len(coder), order, bos=WordTokenizer.BOS, eos=WordTokenizer.EOS)
    for ids in encoded:
        model.count((torch.tensor([[model.pad, *ids]]), torch.tensor([[*ids, WordTokenizer.EOS]])))
    return Counted(model, coder)


def trained(model: NGram, card: Mapping[str, Any]) -> Counted:
    return Counted(model, texts.tokenizer(card))


def surprisals(counted: Counted, text: str) -> Tensor:
    """Nats of each token of a text, (T,); words are scored by lines, ends included."""
    model = counted.model
    if model.eos is None:
        ids = counted.encode(text)[None]
        return -model.token_log_probs(*model._shifted(ids))[0]
    rows = []
    for line in text.splitlines():
        if line.strip():
            ids = torch.cat([counted.encode(line), torch.tensor([model.eos])])[None]
            rows.append(-model.token_log_probs(*model._shifted(ids))[0])
    return torch.cat(rows) if rows else torch.zeros(0, dtype=torch.float64)
