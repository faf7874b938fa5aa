"""Lens of the page: the reader's beginning as the model's tokens, and the text that the model draws on."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from lab.lenses import sampling
from lab.lenses import text as texts
from modules.language.truncation import SamplingParams
from modules.trace import Trace
from modules.transformer.gpt import GPT

Card = Mapping[str, Any]
fits = texts.gpt_of_text  # what the room admits
EXAMPLES = {"Romeo": "ROMEO:\n", "To be": "To be, or not to ", "Nonsense": "zzzz qqqq"}
DOCS = {"Code": "for i in range(", "Prose": "Return a list of ", "Nonsense": "zzzz qqqq"}
CAPTIONS = {"Man": "A man in a", "Dogs": "Two dogs", "Nonsense": "zzzz qqqq"}
BARS = 20  # tokens drawn as bars, by rank


def examples(model_card: Card) -> dict[str, str]:
    """Beginnings of the kind that the model has read."""
    return {"pydocs": DOCS, "multi30k": CAPTIONS}.get(texts.corpus(model_card), EXAMPLES)


def first_text(model_card: Card) -> str:
    return next(iter(examples(model_card).values()))


def beginning(model: GPT, model_card: Card, prompt: str) -> tuple[Tensor, bool]:
    """The tokens (T,) that the model sees of a beginning, its last ones; and whether there were more."""
    tokens = texts.read(texts.tokenizer(model_card), prompt)
    return tokens[-model.context :], len(tokens) > model.context


def drawn(
    model: GPT, model_card: Card, prompt: str, length: int, t: float, k: int, p: float, seed: int
) -> Trace:
    """The text that goes on, token by token."""
    start, _ = beginning(model, model_card, prompt)
    cuts = {"temperature": t, "top_k": k or None, "top_p": p}
    return sampling.trace(model, texts.tokenizer(model_card), start, length, seed=seed, **cuts)


def reel(trace: Trace, model_card: Card, t: float, k: int, p: float) -> sampling.Reel:
    """The likeliest tokens of every step."""
    names = texts.shown(texts.tokenizer(model_card).tokens)
    return sampling.reel(trace, SamplingParams(t, k or None, p), names, BARS)


def numbers(trace: Trace, begun: int) -> list[dict[str, str]]:
    """Numbers of the machine's parts at each step: the tokens so far, the chance of the one drawn."""
    chances = [float(step.values["after"][step.values["token"]]) for step in trace]
    return [{"tokens": str(begun + i), "logits": f"p = {p:.2f}"} for i, p in enumerate(chances)]


def with_cache(model: GPT, model_card: Card, prompt: str, length: int, seed: int) -> sampling.Cost:
    return sampling.cost(model, beginning(model, model_card, prompt)[0], length, True, seed)


def without_cache(model: GPT, model_card: Card, prompt: str, length: int, seed: int) -> sampling.Cost:
    return sampling.cost(model, beginning(model, model_card, prompt)[0], length, False, seed)


def names(ids: Tensor, model_card: Card) -> list[str]:
    return texts.names(texts.tokenizer(model_card), torch.atleast_1d(ids))
