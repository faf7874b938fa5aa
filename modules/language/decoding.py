"""Decoding: from a model of the next token to a text. Greedy and sampling; `beam` has the searches.

    greedy     x_t = argmax P(· | x_<t)
    ancestral  x_t ~ P(· | x_<t)
    otherwise  x_t ~ P after temperature, top-k, top-p, min-p (`truncation`)

Temperature works token by token: P(x_t | x_<t)^{1/τ} is normalised at every step, which is not the
distribution of whole texts P(x)^{1/τ}; even its mode can be another one.

Every strategy works on every `NextToken` model, on a batch of prefixes at once.

Shapes: `B` prefixes, `T` tokens of each, `V` vocabulary.

References: Holtzman et al. 2019, arXiv:1904.09751; [UDL] §12.7.3 and notes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from modules.base import NextToken
from modules.language.truncation import PLAIN, SamplingParams, draw, truncate
from modules.trace import Step, Trace


@torch.no_grad()
def stream(
    model: NextToken,
    prefix: Tensor,
    length: int,
    params: SamplingParams = PLAIN,
    eos: int | None = None,
    generator: torch.Generator | None = None,
    padding: Tensor | None = None,
) -> Iterator[tuple[Tensor, Tensor]]:
    """`sample`, one token at a time: yields (log P (B, V), token (B,)). Ends when every text has."""
    generator = params.generator(prefix.device) if generator is None else generator
    text = prefix
    ended = torch.zeros(len(prefix), dtype=torch.bool, device=prefix.device)
    for _ in range(length):
        log_p = model.next_log_probs(text) if padding is None else model.next_log_probs(text, padding)
        token = draw(log_p, params, generator)
        if eos is not None:
            token = token.masked_fill(ended, eos)
            ended |= token == eos
        yield log_p, token
        text = torch.cat([text, token[:, None]], dim=1)
        if padding is not None:
            padding = F.pad(padding, (0, 1))
        if ended.all():
            return


def sample(
    model: NextToken,
    prefix: Tensor,
    length: int,
    params: SamplingParams = PLAIN,
    eos: int | None = None,
    generator: torch.Generator | None = None,
    padding: Tensor | None = None,
    **change: Any,
) -> Tensor:
    """Continue texts by drawing tokens; with none set that is ancestral sampling.

    Args:
        prefix: (B, T) int64, T ≥ 0. Texts of unequal length come with their `padding`, see `left_padded`.
        length: the most new tokens.
        params: temperature, truncation and seed; `change` sets single ones, as in `top_k=3`.
        eos: the token that ends a text; after it there are only more of it.

    Returns:
        (B, T + n), n ≤ length.

    Raises:
        ValueError: a parameter is out of range.
    """
    steps = stream(model, prefix, length, replace(params, **change), eos, generator, padding)
    return torch.cat([prefix, *(token[:, None] for _, token in steps)], dim=1)


def greedy(
    model: NextToken, prefix: Tensor, length: int, eos: int | None = None, padding: Tensor | None = None
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
    model: NextToken,
    prefix: Tensor,
    length: int,
    params: SamplingParams = PLAIN,
    eos: int | None = None,
    names: Sequence[str] | None = None,
    **change: Any,
) -> Trace:
    """`sample` of one text, (T,) or (1, T), one step a token; seed 0 where none is given.

    Returns:
        Trace with, a step: `token`, `before`, `tempered`, `after` (V,), `kept` (V,) bool, `mass` kept,
        `entropy` of `before` and `entropy_after` in nats, `log_prob` of the token under `before`, `total`
        of them so far. Result: (1, T + n).
    """
    prefix = prefix.reshape(1, -1)
    params = replace(params, **change)
    params = params if params.seed is not None else replace(params, seed=0)
    steps: list[Step] = []
    text, total = [prefix], 0.0
    for log_p, token in stream(model, prefix, length, params, eos):
        story, i = truncate(log_p, params), int(token)
        text.append(token[:, None])
        total += float(log_p[0, i])
        p, kept = float(story.after[0, i]), int(story.kept.sum())
        name = repr(names[i]) if names else f"token {i}"
        steps.append(
            Step(
                f"Step {len(steps) + 1} takes {name}: probability {p:.3f} among {kept} tokens.",
                {
                    "token": i,
                    "before": story.before[0],
                    "tempered": story.tempered[0],
                    "after": story.after[0],
                    "kept": story.kept[0],
                    "mass": float(story.mass),
                    "entropy": float(torch.special.entr(story.before).sum()),
                    "entropy_after": float(torch.special.entr(story.after).sum()),
                    "log_prob": float(log_p[0, i]),
                    "total": total,
                },
                rf"p = \frac{{{float(story.tempered[0, i]):.4f}}}{{{float(story.mass):.4f}}} = {p:.4f}",
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
