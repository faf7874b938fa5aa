"""Decoding strategies measured: many of them at once, and the text of people to hold them against.

`S` strategies, `R` texts of each, `T` new tokens, `V` vocabulary.

Reference: Holtzman et al. 2019, arXiv:1904.09751.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

import torch
from torch import Tensor, nn

from datamodules.fetch import MissingData
from datamodules.text import Text
from lab.lenses import text as texts
from modules.base import NextToken
from modules.language.decoding import incremental
from modules.language.ngram import NGram
from modules.language.truncation import SamplingParams, draw

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
    decoder = incremental(model)
    log_p, state = decoder.start(text)
    for t in range(length):
        log_p = log_p.reshape(S, R, -1)  # (S, R, V)
        token = torch.stack(
            [
                params[:, t] if isinstance(params, Tensor) else draw(row, params, generator)
                for row, params, generator in zip(log_p, strategies, generators, strict=True)
            ]
        )  # (S, R)
        nats.append(-log_p.gather(-1, token[..., None])[..., 0])
        text = torch.cat([text, token.reshape(S * R, 1)], 1)
        yield text.reshape(S, R, -1)[..., start:], torch.stack(nats, -1)
        if t + 1 < length:
            log_p, state = decoder.step(state, token.flatten())


def scoring(model: NextToken, text: Tensor, start: int) -> Iterator[Tensor]:
    """Score texts under a model, from their token `start` ≥ 1 on: (R, N) -> −log P (R, t) after some t of
    the N − start tokens, at last all. Counts look up all at once; other models are asked token by token."""
    if isinstance(model, NGram):
        yield -model.token_log_probs(text[:, :-1], text[:, 1:])[:, start - 1 :]
        return
    given = text[:, start:]
    for _, nats in continuing(model, text[None, :, :start], given.shape[1], [given]):
        yield nats[0]


def last(steps: Iterator[T]) -> T:
    """Last value that an iterator yields."""
    (result,) = deque(steps, maxlen=1)
    return result


def quick(model: NextToken, tokens: int) -> bool:
    """Check whether `tokens` tokens of some texts at once are written in about a second: by counts or a small
    network, over characters."""
    weights = sum(p.numel() for p in model.parameters()) if isinstance(model, nn.Module) else 0
    return getattr(model, "vocab_size", 1_000) <= 300 and weights <= 200_000 and tokens <= 150


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
