"""Decoding: from a model of the next token to a text. Greedy and sampling; `beam` has the searches.

    greedy     x_t = argmax P(· | x_<t)
    ancestral  x_t ~ P(· | x_<t)
    otherwise  x_t ~ P after temperature, top-k, top-p, min-p (`truncation`)

Temperature works token by token: P(x_t | x_<t)^{1/τ} is normalised at every step, which is not the
distribution of whole texts P(x)^{1/τ}; even its mode can be another one.

Every strategy reads a text once, token by token: through a model's `incremental_decoder`, or, of a model
that has `next_log_probs` alone, by reading the text so far anew (`TextDecoder`).

Shapes: `B` prefixes, `T` tokens of each, `V` vocabulary.

References: Holtzman et al. 2019, arXiv:1904.09751; [UDL] §12.7.3 and notes.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from modules.base import Incremental, IncrementalDecoder, NextToken
from modules.language.information import entropy
from modules.language.truncation import PLAIN, SamplingParams, draw, truncate
from modules.trace import Step, Trace

# What can be decoded: a model, or a decoder of its own choice.
Decodable = NextToken | Incremental | IncrementalDecoder


@dataclass(frozen=True)
class Texts:
    """State of a `TextDecoder`: the texts themselves.

    Attributes:
        tokens: (B, T). padding: (B, T), True where a text has not begun; None where all have.
    """

    tokens: Tensor
    padding: Tensor | None = None

    def __getitem__(self, rows: Tensor) -> "Texts":
        return Texts(self.tokens[rows], None if self.padding is None else self.padding[rows])


class TextDecoder:
    """`IncrementalDecoder` of any `NextToken` model, which reads its text anew at every step.

    Args:
        model: is asked for `next_log_probs`.
        window: tokens that the next one depends on; None is all of them.
    """

    def __init__(self, model: NextToken, window: int | None = None) -> None:
        self.model, self.window = model, window

    def start(self, source: Tensor, padding: Tensor | None = None) -> tuple[Tensor, Texts]:
        """Read prefixes (B, T), T ≥ 0: log p (B, V), state."""
        old = 0 if self.window is None else max(0, source.shape[1] - self.window)
        state = Texts(source[:, old:], None if padding is None else padding[:, old:])
        if padding is None:  # a toy need not know of it
            return self.model.next_log_probs(state.tokens), state
        return self.model.next_log_probs(state.tokens, state.padding), state

    def step(self, state: Texts, token: Tensor) -> tuple[Tensor, Texts]:
        """Read one more token (B,): log p (B, V), state."""
        padding = None if state.padding is None else F.pad(state.padding, (0, 1))
        return self.start(torch.cat([state.tokens, token[:, None]], dim=1), padding)


def incremental(model: Decodable) -> IncrementalDecoder:
    """Decoder of a model: its own, or one that reads the text so far; a decoder is its own."""
    if isinstance(model, Incremental):
        return model.incremental_decoder()
    return TextDecoder(model) if isinstance(model, NextToken) else model


@torch.no_grad()
def stream(
    model: Decodable,
    source: Any,
    length: int,
    params: SamplingParams = PLAIN,
    eos: int | None = None,
    generator: torch.Generator | None = None,
    padding: Tensor | None = None,
) -> Iterator[tuple[Tensor, Tensor]]:
    """Draw the tokens of B texts one at a time: yields (log p (B, V), token (B,)). Ends when every text has.

    Args:
        source: prefixes (B, T), or what the decoder's `start` takes. Others as of `sample`.
    """
    decoder = incremental(model)
    log_p, state = decoder.start(source) if padding is None else decoder.start(source, padding)
    ended = torch.zeros(len(log_p), dtype=torch.bool, device=log_p.device)
    for t in range(length):
        token = draw(log_p, params, generator)
        if eos is not None:
            token = token.masked_fill(ended, eos)
            ended |= token == eos
        yield log_p, token
        if t + 1 == length or ended.all():
            return
        log_p, state = decoder.step(state, token)


def sample(
    model: Decodable,
    prefix: Tensor,
    length: int,
    params: SamplingParams = PLAIN,
    eos: int | None = None,
    generator: torch.Generator | None = None,
    padding: Tensor | None = None,
    **change: Any,
) -> Tensor:
    """Continue texts by drawing tokens; with the default `params` that is ancestral sampling.

    Args:
        prefix: (B, T) int64, T ≥ 0. Texts of unequal length come with their `padding`, see `left_padded`.
        length: the most new tokens.
        params: temperature and truncation; `change` sets single ones, as in `top_k=3`.
        eos: the token that ends a text; after it there are only more of it.

    Returns:
        (B, T + n), n ≤ length.

    Raises:
        ValueError: a parameter is out of range.
    """
    steps = stream(model, prefix, length, replace(params, **change), eos, generator, padding)
    return torch.cat([prefix, *(token[:, None] for _, token in steps)], dim=1)


def greedy(
    model: Decodable, prefix: Tensor, length: int, eos: int | None = None, padding: Tensor | None = None
) -> Tensor:
    """Continue texts by the most probable token, ties by the lower id: (B, T) -> (B, T + n)."""
    return sample(model, prefix, length, SamplingParams(temperature=0), eos, padding=padding)


def left_padded(texts: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Texts (T_b,) of unequal length as one batch whose last tokens stand below each other.

    Returns:
        tokens (B, T), 0 where there is none, and `padding` (B, T) bool, True there.
    """
    longest = max(map(len, texts))
    tokens = torch.stack([F.pad(text, (longest - len(text), 0)) for text in texts])
    lengths = torch.tensor([len(text) for text in texts], device=tokens.device)
    return tokens, torch.arange(longest, device=tokens.device) < longest - lengths[:, None]


def sample_trace(
    model: Decodable,
    prefix: Tensor,
    length: int,
    params: SamplingParams = PLAIN,
    eos: int | None = None,
    names: Sequence[str] | None = None,
    generator: torch.Generator | None = None,
    **change: Any,
) -> Trace:
    """`sample` of one text, (T,) or (1, T), one step per token.

    Args:
        names: the tokens as text, for captions; ids without it.

    Returns:
        Trace with, a step: `token` (its id), `logits` (V,), `before`, `tempered`, `after` (V,), `kept` (V,)
        bool, `mass` kept, `entropy` of `before` and `entropy_after` in nats; `log_prob` of the token under
        `before`, the model as it is, and `total` of them so far; `log_prob_after` under `after`, what it
        was drawn from, and `total_after`. Result: (1, T + n).
    """
    prefix = prefix.reshape(1, -1)
    params = replace(params, **change)
    steps: list[Step] = []
    text, total, total_after = [prefix], 0.0, 0.0
    for logits, token in stream(model, prefix, length, params, eos, generator):
        story, i = truncate(logits, params), int(token)  # as drawn from: same shape, same bits
        before, tempered, after, kept = story.before[0], story.tempered[0], story.after[0], story.kept[0]
        text.append(token[:, None])
        mass, p = float(story.mass), float(after[i])
        log_prob = float(logits[0].log_softmax(-1)[i])
        total, total_after = total + log_prob, total_after + math.log(p)
        name = repr(names[i]) if names else f"token {i}"
        steps.append(
            Step(
                f"Step {len(steps) + 1} draws {name}: probability {p:.3f} among {int(kept.sum())} tokens.",
                {
                    "token": i,
                    "logits": logits[0],
                    "before": before,
                    "tempered": tempered,
                    "after": after,
                    "kept": kept,
                    "mass": mass,
                    "entropy": float(entropy(before)),
                    "entropy_after": float(entropy(after)),
                    "log_prob": log_prob,
                    "total": total,
                    "log_prob_after": math.log(p),
                    "total_after": total_after,
                },
                rf"p = \frac{{{float(tempered[i]):.4f}}}{{{mass:.4f}}} = {p:.4f}",
            )
        )
    return Trace(steps, torch.cat(text, dim=1))


# --- Measures of a text -------------------------------------------------------------------------


def distinct(tokens: Tensor, n: int = 8) -> float:
    """Share of the n-grams of a text (T,) that are different; a loop brings it towards 0.

    Raises:
        ValueError: the text is shorter than n.
    """
    if len(tokens) < n:
        raise ValueError(f"The text has {len(tokens)} tokens: it has no sequence of {n}.")
    grams = tokens.unfold(0, n, 1)
    return len(grams.unique(dim=0)) / len(grams)
