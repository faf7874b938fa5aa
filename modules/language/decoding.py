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

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from modules.base import NextToken
from modules.language.information import entropy
from modules.language.truncation import PLAIN, SamplingParams, draw, truncate
from modules.trace import Step, Trace

# Reads texts that grow by a token between calls, (B, T) -> logits of the next token (B, V): it may keep what
# it has computed of the earlier tokens.
Reader = Callable[[Tensor], Tensor]


@torch.no_grad()
def stream(
    model: NextToken,
    prefix: Tensor,
    length: int,
    params: SamplingParams = PLAIN,
    eos: int | None = None,
    generator: torch.Generator | None = None,
    padding: Tensor | None = None,
    read: Reader | None = None,
) -> Iterator[tuple[Tensor, Tensor]]:
    """`sample`, one token at a time: yields (logits (B, V), token (B,)). Ends when every text has.

    Without a reader the logits are `next_log_probs`, normalised.
    """
    text = prefix
    ended = torch.zeros(len(prefix), dtype=torch.bool, device=prefix.device)
    for _ in range(length):
        if read is not None:
            logits = read(text)
        else:
            logits = model.next_log_probs(text) if padding is None else model.next_log_probs(text, padding)
        token = draw(logits, params, generator)
        if eos is not None:
            token = token.masked_fill(ended, eos)
            ended |= token == eos
        yield logits, token
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
    read: Reader | None = None,
    **change: Any,
) -> Tensor:
    """Continue texts by drawing tokens; with the default `params` that is ancestral sampling.

    Args:
        prefix: (B, T) int64, T ≥ 0. Texts of unequal length come with their `padding`, see `left_padded`.
        length: the most new tokens.
        params: temperature and truncation; `change` sets single ones, as in `top_k=3`.
        eos: the token that ends a text; after it there are only more of it.
        read: is asked for the logits instead of `model.next_log_probs`, as `GPT.reader`.

    Returns:
        (B, T + n), n ≤ length.

    Raises:
        ValueError: a parameter is out of range.
    """
    steps = stream(model, prefix, length, replace(params, **change), eos, generator, padding, read)
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
    read: Reader | None = None,
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
    for logits, token in stream(model, prefix, length, params, eos, generator, read=read):
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
