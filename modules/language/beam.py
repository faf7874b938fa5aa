"""Beam search: keep the B most probable prefixes, extend each by every token, keep the B best of those.

    score of a prefix = Σ_t log P(x_t | x_<t)        of a finished text of n tokens = score / norm(n)

    norm(n) = ((k + n)/(k + 1))^α:    α = 0 none;    k = 0, α = 1 the mean per token;    k = 5 Wu et al.

A prefix that ends in EOS is finished and leaves the beam, which goes on with the B best that did not.
Scores only fall with length, so α = 0 favours short texts; α = 1 compares means. A search ends early when no
prefix of its beam can win any more: one of log-probability s ends at s / norm(longest) at best.

Diverse beam search decodes G groups in turn. Where earlier groups have chosen token w at this step n_w
times, a later group sees log P(w) − λ n_w; these penalties stay in its scores.

It is a heuristic: exact only with B ≥ V^{T−1}, and not even monotone in B: a wider beam can end in a
less probable text ([UDL] §12.7.3 has it find the most likely one). B = 1 is greedy.

All sources of a batch are searched at once, and all their hypotheses go through the model together.

Shapes: `S` sources, `G` groups, `K` ≤ B hypotheses a group, `t` tokens of each, `C` candidates a group, `V`
vocabulary; of a trace, `H` hypotheses and `M` candidates in all.

References: Vijayakumar et al. 2016, arXiv:1610.02424 (diverse); Wu et al. 2016, arXiv:1609.08144 §7 (length);
[UDL] §12.7.3, notes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from modules.language.decoding import Decodable, incremental
from modules.trace import Step, Trace

SHOWN = 12  # candidates a group that a step of a trace keeps, besides those that stay


@dataclass(frozen=True)
class Hypothesis:
    """A text that a search has found.

    Attributes:
        tokens: behind the prefix, EOS included.
        log_prob: Σ log P in nats, without penalties.
        score: log_prob / norm(length).
        finished: ends in EOS.
        group: of a diverse search, else 0.
    """

    tokens: tuple[int, ...]
    log_prob: float
    score: float
    finished: bool
    group: int = 0


def length_norm(n: int, alpha: float, offset: float = 0.0) -> float:
    """Divisor of the log-probability of a text of n tokens: ((k + n)/(k + 1))^α, k = offset."""
    return ((offset + n) / (offset + 1)) ** alpha


def beam_search(
    model: Decodable,
    source: Any,
    length: int,
    width: int,
    eos: int | None = None,
    alpha: float = 0.0,
    offset: float = 0.0,
) -> list[Hypothesis]:
    """Beam search behind a prefix (T,), or of one source, best first.

    Args:
        source: a prefix (T,), or a batch of one as the model's `start` takes it.
        length: the most new tokens.
        width: B.
        eos: the token that ends a text; None lets every text have `length` tokens.
        alpha, offset: α and k of the length normalisation.

    Returns:
        Finished texts, and the beam as it is at the end; at least one.
    """
    return batched_beam_search(model, _one(source), length, width, eos, alpha, offset)[0]


def diverse_beam_search(
    model: Decodable,
    source: Any,
    length: int,
    groups: int,
    width: int = 1,
    strength: float = 0.5,
    eos: int | None = None,
    alpha: float = 0.0,
) -> list[list[Hypothesis]]:
    """Diverse beam search: the texts of each of G groups of B, best first; strength is λ."""
    (result,) = batched_beam_search(
        model, _one(source), length, width, eos, alpha, groups=groups, strength=strength
    )
    return [[h for h in result if h.group == g] for g in range(groups)]


def batched_beam_search(
    model: Decodable,
    source: Any,
    length: int,
    width: int,
    eos: int | None = None,
    alpha: float = 0.0,
    offset: float = 0.0,
    groups: int = 1,
    strength: float = 0.0,
    padding: Tensor | None = None,
) -> list[list[Hypothesis]]:
    """`beam_search` of S sources at once: the texts of each, best first.

    Args:
        source: prefixes (S, T), or what the model's `start` takes; of unequal length with their `padding`.
        groups, strength: of a diverse search, G and λ.
    """
    return _search(model, source, length, width, eos, alpha, offset, groups, strength, padding)[1]


def beam_trace(
    model: Decodable,
    source: Any,
    length: int,
    width: int,
    eos: int | None = None,
    alpha: float = 0.0,
    groups: int = 1,
    strength: float = 0.0,
    names: Sequence[str] | None = None,
    offset: float = 0.0,
) -> Trace:
    """Trace of the search of one source, a step per token.

    Returns:
        Trace with, a step: `hypotheses` (H, t), the prefixes that are extended, their `scores` (H,) and
        `groups` (H,); of the candidates looked at, best first in each group: `parent` (M,), the row of
        `hypotheses`; `token` (M,); `log_prob` (M,) of the whole; `kept` (M,) and `ended` (M,), bool.
        Result: list of `Hypothesis`, by score.

    Raises:
        ValueError: width, groups or length is below 1, or strength below 0.
    """
    extensions, (result,) = _search(
        model, _one(source), length, width, eos, alpha, offset, groups, strength, None
    )
    steps = []
    for t, each in enumerate(extensions, start=1):
        alive = each.rows[0] >= 0  # (G, K), H of them
        row = alive.flatten().cumsum(0).view_as(alive) - 1
        first = torch.arange(each.token.shape[2], device=row.device) < SHOWN
        looked_at = (each.kept[0] | each.ended[0] | first) & (each.penalised[0] > -math.inf)
        values = {
            "parent": row.gather(1, each.parent[0])[looked_at],
            **{name: getattr(each, name)[0][looked_at] for name in ("token", "penalised", "kept", "ended")},
            "log_prob": each.log_prob[0][looked_at],
        }
        group, hypothesis = alive.nonzero(as_tuple=True)
        kept, ended = int(values["kept"].sum()), int(values["ended"].sum())
        steps.append(
            Step(
                f"Step {t}: of {len(group)} × {each.vocabulary} extensions {kept} stay"
                + (f", {ended} end." if eos is not None else "."),
                {
                    "hypotheses": each.text[0, group, hypothesis],
                    "scores": each.scores[0, group, hypothesis],
                    "groups": group,
                    **values,
                },
                _equation(each, looked_at, names),
            )
        )
    return Trace(steps, result)


@dataclass(frozen=True)
class Extension:
    """One step of a search: hypotheses, and their best extensions.

    Attributes:
        text: (S, G, K, t). scores: (S, G, K), their log-probabilities.
        rows: (S, G, K), the row of the decoder's state; −1 where there is no hypothesis.
        vocabulary: V.
        parent, token: (S, G, C), of the candidates, best first in each group. added: log P of the token.
        log_prob, penalised: (S, G, C), of the whole, without and with penalties; −∞ where impossible.
        kept, ended: (S, G, C) bool.
    """

    text: Tensor
    scores: Tensor
    rows: Tensor
    vocabulary: int
    parent: Tensor
    token: Tensor
    added: Tensor
    log_prob: Tensor
    penalised: Tensor
    kept: Tensor
    ended: Tensor


@torch.no_grad()
def _search(
    model: Decodable,
    source: Any,
    length: int,
    width: int,
    eos: int | None,
    alpha: float,
    offset: float,
    groups: int,
    strength: float,
    padding: Tensor | None,
) -> tuple[list[Extension], list[list[Hypothesis]]]:
    """The steps of all searches, and what each finds, best first."""
    for name, value in (("width", width), ("groups", groups), ("length", length)):
        if value < 1:
            raise ValueError(f"{name} is {value}: it must be at least 1.")
    if strength < 0:
        raise ValueError(f"strength is {strength}: it must not be negative.")
    decoder = incremental(model)
    log_p, state = decoder.start(source) if padding is None else decoder.start(source, padding)
    S = len(log_p)
    # at first one empty hypothesis a group
    rows = torch.arange(S, device=log_p.device).repeat_interleave(groups).view(S, groups, 1)
    scores = torch.zeros(S, groups, 1, dtype=torch.float64, device=log_p.device)
    penalised, text = scores, rows.new_zeros(S, groups, 1, 0)
    steps: list[Extension] = []
    pool: list[list[Hypothesis]] = [[] for _ in range(S)]  # finished texts

    def hypothesis(tokens: Tensor, log_prob: Tensor, finished: bool, group: int) -> Hypothesis:
        total = float(log_prob)
        score = total / length_norm(len(tokens), alpha, offset)
        return Hypothesis(tuple(tokens.tolist()), total, score, finished, group)

    for t in range(1, length + 1):
        each = _extend(log_p, text, scores, penalised, rows, width, eos, strength)
        steps.append(each)
        whole = torch.cat([text.gather(2, _over(each.parent, text)), each.token[..., None]], dim=3)
        for s, g, c in each.ended.nonzero().tolist():
            pool[s].append(hypothesis(whole[s, g, c], each.log_prob[s, g, c], True, g))
        # what stays moves to the front of its group
        most = int(each.kept.sum(2).max())
        order = each.kept.byte().argsort(dim=2, descending=True, stable=True)[..., :most]
        stays = each.kept.gather(2, order)
        text = whole.gather(2, _over(order, whole))
        scores = each.log_prob.gather(2, order).masked_fill(~stays, -math.inf)
        penalised = each.penalised.gather(2, order).masked_fill(~stays, -math.inf)
        if groups == 1:  # a group of a diverse search waits for what the others choose
            longest = max(length_norm(t + 1, alpha, offset), length_norm(length, alpha, offset))
            for s in range(S):
                if pool[s] and most and max(h.score for h in pool[s]) >= float(scores[s].max()) / longest:
                    stays[s] = False
        if t == length or not stays.any():
            break
        parents = rows.gather(2, each.parent.gather(2, order))
        tokens = each.token.gather(2, order)
        log_p, state = decoder.step(state[parents[stays]], tokens[stays])
        rows = torch.full_like(parents, -1)
        rows[stays] = torch.arange(len(log_p), device=rows.device)
    for s, g, k in stays.nonzero().tolist():
        # where texts end by EOS, one that was cut off counts only where none has ended
        if not any(h.finished and h.group == g for h in pool[s]):
            pool[s].append(hypothesis(text[s, g, k], scores[s, g, k], False, g))
    return steps, [sorted(texts, key=lambda h: -h.score) for texts in pool]


def _extend(
    log_p: Tensor,
    text: Tensor,
    scores: Tensor,
    penalised: Tensor,
    rows: Tensor,
    width: int,
    eos: int | None,
    strength: float,
) -> Extension:
    """The best extensions of hypotheses (S, G, K, t), whose next tokens have log_p (H, V)."""
    (S, G, K), V = rows.shape, log_p.shape[1]
    if torch.equal(rows.flatten(), torch.arange(len(log_p), device=rows.device)):  # none is missing
        log_p = log_p.reshape(S, G, K, V).double()
    else:
        log_p = log_p[rows].double().masked_fill_((rows < 0)[..., None], -math.inf)
    count = min(K * V, max(2 * width, SHOWN))  # of 2B at most B end
    place = torch.arange(count, device=log_p.device)
    chosen = log_p.new_zeros(S, V)  # n_w: how often earlier groups took each token
    parts = []
    for g in range(G):
        extended = penalised[:, g, :, None] + log_p[:, g]  # (S, K, V)
        if strength and g:
            extended -= strength * chosen[:, None]
        values, best = _largest(extended.flatten(1), count)  # (S, C)
        parent, token, possible = best // V, best % V, values > -math.inf
        ends = (token == eos) if eos is not None else torch.zeros_like(possible)
        ended = ends & (place < width) & possible  # finished, if among the best B of all
        kept = ~ends & ((~ends).cumsum(1) <= width) & possible
        chosen.scatter_add_(1, token, kept.double())
        added = log_p[:, g].flatten(1).gather(1, best)
        parts.append((parent, token, added, scores[:, g].gather(1, parent) + added, values, kept, ended))
    return Extension(text, scores, rows, V, *(torch.stack(part, 1) for part in zip(*parts, strict=True)))


def _largest(values: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The `count` largest of each row (S, N) and their places, largest first, ties by the lower place."""
    top, place = values.topk(min(count + 1, values.shape[1]))  # one more, to see a tie
    last, beyond = top[:, count - 1], top[:, count:]
    if ((beyond == last[:, None]).any(1) & (last > -math.inf)).any():
        # which of equal ones stand last `topk` does not promise
        top, place = values.sort(descending=True, stable=True)
        return top[:, :count], place[:, :count]
    top, (place, order) = top[:, :count], place[:, :count].sort()
    top, order = top.gather(1, order).sort(descending=True, stable=True)
    return top, place.gather(1, order)


def _one(source: Any) -> Any:
    """A prefix (T,) as a batch of one; what is a batch of one already, as it is."""
    return source[None] if isinstance(source, Tensor) and source.ndim == 1 else source


def _over(index: Tensor, text: Tensor) -> Tensor:
    """Index (S, G, C) of hypotheses for `gather` from their tokens (S, G, K, t)."""
    return index[..., None].expand(*index.shape, text.shape[3])


def _equation(each: Extension, looked_at: Tensor, names: Sequence[str] | None) -> str:
    """The score of the best candidate with its numbers."""
    g, c = looked_at.nonzero()[0].tolist()
    token, score = int(each.token[0, g, c]), float(each.scores[0, g, each.parent[0, g, c]])
    name = names[token] if names else str(token)
    name = name.replace("\\", "/").replace("_", " ").replace("$", "").replace("#", "").replace("%", "")
    name = name.replace("&", "and").replace("{", "(").replace("}", ")").replace("^", "").replace("~", "")
    return (
        rf"{score:.3f} + \log P(\text{{{name}}}) = {score:.3f}"
        rf" {round(float(each.added[0, g, c]), 3) + 0.0:+.3f}"
        rf" = {round(float(each.log_prob[0, g, c]), 3) + 0.0:.3f}"
    )


def exhaustive_search(
    model: Decodable,
    source: Any,
    length: int,
    eos: int | None = None,
    alpha: float = 0.0,
    offset: float = 0.0,
) -> Hypothesis:
    """The best text of all, argmax_y log P(y | source) / norm(length), by looking at every one: for toys.

    Raises:
        ValueError: there are more than 200,000 texts.
    """
    return batched_exhaustive_search(model, _one(source), length, eos, alpha, offset)[0]


@torch.no_grad()
def batched_exhaustive_search(
    model: Decodable,
    source: Any,
    length: int,
    eos: int | None = None,
    alpha: float = 0.0,
    offset: float = 0.0,
    padding: Tensor | None = None,
) -> list[Hypothesis]:
    """`exhaustive_search` of S sources at once: the best text of each."""
    decoder = incremental(model)
    log_p, state = decoder.start(source) if padding is None else decoder.start(source, padding)
    S, V = log_p.shape
    text = torch.zeros(1, 0, dtype=torch.int64, device=log_p.device)  # (N, t): the same of all sources
    total = torch.zeros(S, 1, dtype=torch.float64, device=log_p.device)
    best: list[Hypothesis | None] = [None] * S

    def likeliest(tokens: Tensor, log_prob: Tensor, finished: bool) -> list[Hypothesis]:
        """Best of texts (N, n) of one length, for each source."""
        results = []
        for row, m in zip(log_prob, log_prob.argmax(1).tolist(), strict=True):
            score = float(row[m]) / length_norm(tokens.shape[1], alpha, offset)
            results.append(Hypothesis(tuple(tokens[m].tolist()), float(row[m]), score, finished))
        return results

    for t in range(1, length + 1):
        N = len(text)
        if S * N * V > 200_000:
            raise ValueError(f"{S * N * V:,} texts are too many to look at: take a shorter length.")
        parent = torch.arange(N, device=text.device).repeat_interleave(V)
        text = torch.cat([text[parent], torch.arange(V, device=text.device).repeat(N)[:, None]], dim=1)
        total = (total[..., None] + log_p.double().view(S, N, V)).flatten(1)  # (S, N·V)
        ended = (text[:, -1] == eos) if eos is not None else torch.full((N * V,), t == length)
        if ended.any():
            for s, h in enumerate(likeliest(text[ended], total[:, ended], eos is not None)):
                before = best[s]
                if h.log_prob > -math.inf and (before is None or h.score > before.score):
                    best[s] = h
        cut = likeliest(text, total, False)  # where no text ends by EOS in this length
        goes_on = ~ended
        text, total = text[goes_on], total[:, goes_on]
        if t == length or not len(text):
            break
        rows = torch.arange(S, device=text.device)[:, None] * N + parent[goes_on]
        log_p, state = decoder.step(state[rows.flatten()], text[:, -1].repeat(S))
    return [h or c for h, c in zip(best, cut, strict=True)]
