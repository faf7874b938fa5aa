"""n-gram models looked into: from own text or trained, at every order, with what each order adds."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from datamodules.tokenizer import CharTokenizer, Tokenizer, WordTokenizer
from lab.errors import UserError
from lab.lenses import text as texts
from modules.language import information as info
from modules.language.ngram import NGram
from modules.trace import Trace

OWN = "own text"


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

    def names(self, ids: Tensor) -> list[str]:
        """Tokens as shown; what stands before a text is ⊢."""
        V = len(self.coder)
        begin = self.model.begin
        return ["⊢" if i in (V, begin) else texts.shown([self.coder.tokens[i]])[0] for i in ids.tolist()]


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
    model = NGram(len(coder), order, begin=WordTokenizer.BEGIN, end=WordTokenizer.END)
    for ids in encoded:
        model.count((torch.tensor([[model.pad, *ids]]), torch.tensor([[*ids, WordTokenizer.END]])))
    return Counted(model, coder)


def trained(model: NGram, card: Mapping[str, Any]) -> Counted:
    return Counted(model, texts.tokenizer(card))


# Models read with other knobs, kept as long as the model that was counted.
_READ: WeakKeyDictionary[NGram, dict[Any, NGram]] = WeakKeyDictionary()


def smoothed(counted: Counted, order: int, smoothing: str, alpha: float, discount: float | None) -> Counted:
    """The same counts at this order, read with this smoothing."""
    read = _READ.setdefault(counted.model, {})
    key = (order, smoothing, alpha, discount)
    if key not in read:
        if len(read) >= 32:
            read.clear()
        knobs = {"smoothing": smoothing, "alpha": alpha, "discount": discount}
        read[key] = counted.model.lowered(order, **knobs)
    return Counted(read[key], counted.coder)


def shares(trace: Trace) -> list[tuple[int, Tensor]]:
    """What each order adds to P_n(w | h): (order, (V,)) from the top down; they sum to P_n."""
    parts, remaining = [], 1.0
    for step in reversed(trace.steps):
        parts.append((step.values["order"], remaining * step.values["p"]))
        remaining *= step.values.get("back", 0.0)
    return parts


def surprises(counted: Counted, text: str) -> Tensor:
    """Nats of each token of a text, (T,); words are scored by lines, ends included."""
    model = counted.model
    if model.end is None:
        ids = counted.encode(text)[None]
        return -model.token_log_probs(*model._shifted(ids))[0]
    rows = []
    for line in text.splitlines():
        if line.strip():
            ids = torch.cat([counted.encode(line), torch.tensor([model.end])])[None]
            rows.append(-model.token_log_probs(*model._shifted(ids))[0])
    return torch.cat(rows) if rows else torch.zeros(0, dtype=torch.float64)


def curve(counted: Counted, text: str, alpha: float) -> dict[str, list[float]]:
    """Against the order: `order`, `types`, `possible`, `unseen` share of the text's n-grams, and the
    perplexity of training and text by maximum likelihood, add-α and Kneser-Ney."""
    columns: dict[str, list[float]] = {}

    def put(name: str, value: float) -> None:
        columns.setdefault(name, []).append(value)

    for order in range(1, counted.model.order + 1):
        plain = smoothed(counted, order, "none", alpha, None)
        nats = surprises(plain, text)
        put("order", order)
        put("types", plain.model.num_parameters)
        put("possible", float(plain.model.predictable) ** order)
        put("unseen", nats.isinf().double().mean().item())
        put("train, maximum likelihood", math.exp(plain.model.train_nll()))
        put("text, maximum likelihood", info.perplexity(nats).item())
        for smoothing, name in (("add", "add"), ("kneser-ney", "Kneser-Ney")):
            model = smoothed(counted, order, smoothing, alpha, None)
            put(f"text, {name}", info.perplexity(surprises(model, text)).item())
    return columns


def drawn(counted: Counted, length: int, temperature: float, seed: int) -> str:
    """A sampled text."""
    generator = torch.Generator().manual_seed(seed)
    ids = counted.model.sample(1, length, temperature, generator=generator)[0]
    pad = counted.model.pad
    return counted.coder.decode([i for i in ids.tolist() if i != pad])
