"""Decoding strategies measured: many of them at once, and the text of people to hold them against.

`S` strategies, `R` texts of each, `T` new tokens, `V` vocabulary.

Reference: Holtzman et al. 2019, arXiv:1904.09751.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

import torch
from torch import Tensor

from datamodules.fetch import MissingData
from datamodules.text import Text
from lab.lenses import text as texts
from modules.base import NextToken
from modules.language.ngram import NGram
from modules.language.truncation import SamplingParams, draw
from modules.transformer.attention import KVCache
from modules.transformer.gpt import GPT

T = TypeVar("T")

GRAM = 8  # tokens that count as a repetition when they have come before


@torch.no_grad()
def continuing(
    model: NextToken,
    prefix: Tensor,
    length: int,
    strategies: Sequence[SamplingParams | Tensor],
    seed: int = 0,
) -> Iterator[tuple[Tensor, Tensor]]:
    """Continue texts by many strategies at once, so that the model is asked once a token.

    Args:
        prefix: (S, R, T₀), R beginnings for each of S strategies.
        strategies: sampling parameters, or a given continuation (R, T) that is only scored.

    Yields:
        After 1, 2, … `length` tokens t: tokens (S, R, t) and −log P of each under the model, (S, R, t).
    """
    S, R, start = prefix.shape
    text = prefix.reshape(S * R, start)
    generators = [torch.Generator().manual_seed(seed) for _ in strategies]
    nats = []
    for t in range(length):
        log_p = model.next_log_probs(text).reshape(S, R, -1)  # (S, R, V)
        token = torch.stack(
            [
                params[:, t] if isinstance(params, Tensor) else draw(row, params, generator)
                for row, params, generator in zip(log_p, strategies, generators, strict=True)
            ]
        )  # (S, R)
        nats.append(-log_p.gather(-1, token[..., None])[..., 0])
        text = torch.cat([text, token.reshape(S * R, 1)], 1)
        yield text.reshape(S, R, -1)[..., start:], torch.stack(nats, -1)


def scoring(model: NextToken, text: Tensor, start: int) -> Iterator[Tensor]:
    """Score texts under a model, from their token `start` ≥ 1 on: (R, N) -> −log P (R, t) after some t of
    the N − start tokens, at last all. Counts look up all at once; other models are asked token by token."""
    if isinstance(model, NGram):
        yield -model.token_log_probs(text[:, :-1], text[:, 1:])[:, start - 1 :]
        return
    given = text[:, start:]
    for _, nats in continuing(model, text[None, :, :start], given.shape[1], [given]):
        yield nats[0]


class Remembering:
    """A model that answers what it has been asked before from memory: searches ask for the same beginnings
    over and over. Of a GPT the keys and values of the beginnings asked last are kept, so that those that are
    one token longer cost one token each."""

    def __init__(self, model: NextToken) -> None:
        self.model = model
        self.known: dict[tuple[int, ...], Tensor] = {}
        self.read: list[tuple[int, ...]] = []
        self.store: list[KVCache] = []

    def next_log_probs(self, prefix: Tensor, padding: Tensor | None = None) -> Tensor:
        """As the model's: (B, T) -> (B, V). Prefixes with padding are not remembered."""
        if padding is not None:
            return self.model.next_log_probs(prefix, padding)
        asked = [tuple(row) for row in prefix.tolist()]
        new = {row: i for i, row in enumerate(asked) if row not in self.known}
        if new:
            answers = self.answers(list(new), prefix[list(new.values())])
            self.known.update(zip(new, answers, strict=True))
        return torch.stack([self.known[row] for row in asked])

    @torch.no_grad()
    def answers(self, rows: list[tuple[int, ...]], prefix: Tensor) -> Tensor:
        """Answers of the model, for rows that are new: `prefix` (B, T) has the same."""
        model, length = self.model, prefix.shape[1]
        if not isinstance(model, GPT) or not model.causal or length + 1 > model.context:
            return model.next_log_probs(prefix)
        places = {row: i for i, row in enumerate(self.read)}
        parents = [places.get(row[:-1], -1) for row in rows] if length else [-1]
        if min(parents) >= 0:
            tokens, store = prefix[:, -1:], [layer.select(torch.tensor(parents)) for layer in self.store]
        else:
            bos = prefix.new_full((len(prefix), 1), model.bos)
            tokens, store = torch.cat([bos, prefix], 1), model.new_cache(len(prefix))
        logits = model.logits(model.hidden(tokens, store)[:, -1])
        self.read, self.store = rows, store
        return logits.log_softmax(-1)


def last(steps: Iterator[T]) -> T:
    """Last value that an iterator yields."""
    (result,) = deque(steps, maxlen=1)
    return result


def quick(model: NextToken, tokens: int) -> bool:
    """Check whether `tokens` tokens of some texts at once are written in about a second: by counts or a small
    network, over characters."""
    small = getattr(model, "vocab_size", 1_000) <= 300 and not isinstance(model, GPT)
    return small and tokens <= 150


def corpus(card: Mapping, split: str) -> str | None:
    """A split of the text that a card's model was trained on; None where that is not at hand."""
    if card["data"].get("name") not in ("Text", "Contexts", "StreamedText"):
        return None
    try:
        return Text(card["data"]["corpus"]).split_text(split)  # type: ignore[arg-type]
    except (MissingData, ValueError):
        return None


def held_out(card: Mapping) -> tuple[Tensor | None, frozenset[str] | None]:
    """Tokens of a model's validation text, (T,), and the words of its training text; None where the text is
    not at hand."""
    training, text = (corpus(card, split) for split in ("train", "val"))
    if training is None or text is None:
        return None, None
    return texts.read(texts.tokenizer(card), text[: texts.MOST]), frozenset(training.split())
