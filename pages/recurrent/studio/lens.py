"""A text that a model of characters writes behind a prime, and how far back its forecast reaches.

    x_t ~ softmax(log p(· | x_<t) / T)

    influence   Δ_k = mean over t of |log p(x_t | x_<t) − log p(x_t | x_<t, another character at t − k)|

Counts of n-grams see n − 1 characters, so Δ_k is 0 behind them; a recurrent network sees all, through its
state. The other character is one of the same text, so that it is neither rare nor new.

Shapes: P characters of the prime, F drawn, N = P + F; V characters there are; S draws of another character.

References: Graves 2013, arXiv:1308.0850; Khandelwal et al. 2018, arXiv:1805.04623; [LLM] eq. 1.5-1.7.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from lab.lenses import text as texts
from lab.lenses import through_time
from modules.language import decoding
from modules.language.ngram import NGram
from modules.language.truncation import SamplingParams
from modules.recurrent.language_model import RecurrentLM
from modules.transformer.gpt import GPT

PRIME, BEST = 40, 5  # characters of a prime that are read; the most probable that are shown
LAGS, ALTERED = 30, 2  # how far back; draws of another character at each place
Card = Mapping[str, Any]
Writer = RecurrentLM | GPT | NGram


def prime(model_card: Card, text: str) -> Tensor:
    """The last characters of a text that the model knows (P,).

    Raises:
        UserError: there is none.
    """
    coder = texts.tokenizer(model_card)
    return texts.read(coder, texts.readable(coder, text)[0], PRIME, end=True)


def says(model_card: Card, text: str) -> str:
    """Say which characters are left out, "" for none."""
    return texts.readable(texts.tokenizer(model_card), text)[1]


# --- Writing -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Written:
    """A prime and what a model wrote behind it.

    Attributes:
        names: (N,) characters, as shown; the first `begun` are the prime.
        log_p: (N,), of each character given those before it, by the model itself, nats.
        best, best_p: (N, BEST), names of the most probable characters at each place, and p of them.
        drawn_p: (N,), p of each character after temperature.
    """

    names: list[str]
    begun: int
    log_p: Tensor
    best: list[list[str]]
    best_p: Tensor
    drawn_p: Tensor


def write(model: Writer, ids: Tensor, known: list[str], length: int, t: float, seed: int) -> Written:
    """`length` characters behind a prime ids (P,), drawn at temperature t; `known` names all characters."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        before = [model.next_log_probs(ids[None, :i])[0] for i in range(len(ids))]
        steps = list(decoding.stream(model, ids[None], length, SamplingParams(t), generator=generator))
    log_p = torch.stack([*before, *(each[0] for each, _ in steps)]).double()  # (N, V)
    chosen = torch.cat([ids, *(token for _, token in steps)])
    best = log_p.topk(BEST)
    tempered = (log_p / t).softmax(-1) if t else F.one_hot(log_p.argmax(-1), log_p.shape[1]).double()
    pick = chosen[:, None]
    return Written(
        [known[i] for i in chosen.tolist()], len(ids), log_p.gather(1, pick)[:, 0],
        [[known[i] for i in row] for row in best.indices.tolist()], best.values.exp(),
        tempered.gather(1, pick)[:, 0],
    )  # fmt: skip


def one(model: RecurrentLM, model_card: Card, text: str, length: int, t: float, seed: int) -> Written:
    """The text of one model."""
    known = texts.shown(texts.tokenizer(model_card).tokens)
    return write(model, prime(model_card, text), known, length, t, seed)


def three(
    lstm: RecurrentLM, gpt: GPT, ngram: NGram, lstm_card: Card, text: str, length: int, t: float, seed: int
) -> dict[str, Written]:
    """The texts of three models of the same characters behind the same prime, by name."""
    ids, known = prime(lstm_card, text), texts.shown(texts.tokenizer(lstm_card).tokens)
    return {name: write(model, ids, known, length, t, seed) for name, model in named(lstm, gpt, ngram)}


def named(lstm: RecurrentLM, gpt: GPT, ngram: NGram) -> list[tuple[str, Writer]]:
    """The models with their names, from the shortest past to the longest."""
    return [(f"counts of {ngram.order}", ngram), ("LSTM", lstm), ("transformer", gpt)]


def running(result: Written) -> Tensor:
    """Mean of −log p over the characters drawn so far, nats: (F,)."""
    drawn = -result.log_p[result.begun :]
    return drawn.cumsum(0) / torch.arange(1, len(drawn) + 1)


# --- Influence of the past ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Influence:
    """
    Attributes:
        names: (N,) characters of the text, as shown.
        by_lag: model -> Δ_k for k = 1 … K, (K,), nats.
        grid: (N, N), change of log p of character t (column) by another one at s (row) of the LSTM, its mean
            over the draws; NaN where t ≤ s.
    """

    names: list[str]
    by_lag: dict[str, Tensor]
    grid: Tensor


def influence(
    lstm: RecurrentLM, gpt: GPT, ngram: NGram, lstm_card: Card, text: str, t: float, seed: int
) -> Influence:
    """Change of log p in the prime and what the LSTM writes behind it, as far as the transformer sees."""
    ids, known = prime(lstm_card, text), texts.shown(texts.tokenizer(lstm_card).tokens)
    generator = torch.Generator().manual_seed(seed)
    length = gpt.context - len(ids)
    whole = decoding.sample(lstm, ids[None], length, SamplingParams(t), generator=generator)[0]
    others = replaced(whole, ALTERED, seed)
    by_lag, grid = {}, torch.empty(0)
    for name, model in named(lstm, gpt, ngram):
        each = changes(model, whole, others)
        lags = range(1, min(LAGS, len(whole) - 1) + 1)
        by_lag[name] = torch.stack([each.diagonal(k).mean() for k in lags])
        grid = each if model is lstm else grid
    below = torch.ones_like(grid).tril().bool()
    return Influence([known[i] for i in whole.tolist()], by_lag, grid.masked_fill(below, float("nan")))


def replaced(ids: Tensor, draws: int, seed: int) -> Tensor:
    """A text (N,) with another of its own characters at one place: (draws, N, N), the place the second axis.

    A text of one character alone stays as it is.
    """
    generator = torch.Generator().manual_seed(seed)
    result = ids.expand(draws, len(ids), -1).clone()
    for s, own in enumerate(ids.tolist()):
        if len(others := ids[ids != own]):
            result[:, s, s] = others[torch.randint(len(others), (draws,), generator=generator)]
    return result


def changes(model: Writer, ids: Tensor, others: Tensor) -> Tensor:
    """|change of log p(x_t)| where the character at s is another one, mean over the draws: (N, N), row s;
    only t > s says something."""

    def said(texts: Tensor) -> Tensor:
        return log_p(model, texts, ids)

    return through_time.replacing(said, ids, others, lambda after, before: (after - before).abs()).mean(0).T


def log_p(model: Writer, tokens: Tensor, targets: Tensor) -> Tensor:
    """log p(target t | tokens before t), tokens (B, T), targets (T,), of all places: (B, T), nats."""
    targets = targets.expand(len(tokens), -1)
    if isinstance(model, NGram):
        return model.token_log_probs(F.pad(tokens[:, :-1], (1, 0), value=model.pad), targets)
    before = F.pad(tokens[:, :-1], (1, 0), value=model.bos)
    logits = model(before) if isinstance(model, GPT) else model(before)[0]
    return logits.double().log_softmax(-1).gather(-1, targets[..., None])[..., 0]


# --- In words ----------------------------------------------------------------------------------------


def captions(result: Written) -> list[str]:
    """What was drawn at each place, and what was most probable."""
    rows = []
    for at in range(result.begun, len(result.names)):
        rank = (
            "the most probable"
            if result.best[at][0] == result.names[at]
            else (f"the most probable was {result.best[at][0]} with {float(result.best_p[at, 0]):.3f}")
        )
        rows.append(f"{result.names[at]} is drawn with p = {float(result.log_p[at].exp()):.3f}: {rank}.")
    return rows


def equations(result: Written) -> list[str]:
    """−log p of the character drawn at each place, and the mean so far, LaTeX."""
    mean = running(result).tolist()
    return [
        rf"-\log p(x_t) = -\log {float(value.exp()):.3f} = {-float(value):.3f},\qquad "
        rf"\text{{mean so far}} = {mean[i]:.3f}\ \text{{nats}}"
        for i, value in enumerate(result.log_p[result.begun :])
    ]
