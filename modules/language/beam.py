"""Beam search: keep the B most probable prefixes, extend each by every token, keep the B best of those.

    score of a prefix = Σ_t log P(x_t | x_<t)        of a finished text = score / length^α

A prefix that ends in EOS is finished and leaves the beam, which goes on with the B best that did not.
Scores only fall with length, so α = 0 favours short texts; α = 1 compares means.

Diverse beam search decodes G groups in turn. Where earlier groups have chosen token w at this step n_w
times, a later group sees log P(w) − λ n_w; these penalties stay in its scores.

It is a heuristic: exact only with B ≥ V^{T−1}, and not even monotone in B: a wider beam can end in a
less probable text ([UDL] §12.7.3 has it find the most likely one). B = 1 is greedy.

Shapes: `H` = G·B hypotheses, `t` tokens of each, `V` vocabulary.

References: Vijayakumar et al. 2016, arXiv:1610.02424 (diverse); Wu et al. 2016, arXiv:1609.08144 (length);
[UDL] §12.7.3, notes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from modules.base import NextToken
from modules.trace import Step, Trace

SHOWN = 12  # candidates a group that a step of a trace keeps, besides those that stay


@dataclass(frozen=True)
class Hypothesis:
    """A text that a search has found.

    Attributes:
        tokens: behind the prefix, EOS included.
        log_prob: Σ log P in nats, without penalties.
        score: log_prob / length^α.
        finished: ends in EOS.
        group: of a diverse search, else 0.
    """

    tokens: tuple[int, ...]
    log_prob: float
    score: float
    finished: bool
    group: int = 0


def beam_search(
    model: NextToken,
    prefix: Tensor,
    length: int,
    width: int,
    eos: int | None = None,
    alpha: float = 0.0,
) -> list[Hypothesis]:
    """Beam search behind a prefix (T,), best first.

    Args:
        length: the most new tokens.
        width: B.
        eos: the token that ends a text; None lets every text have `length` tokens.
        alpha: of the length normalisation.

    Returns:
        Finished texts, and the beam as it is at the end; at least one.
    """
    return beam_trace(model, prefix, length, width, eos, alpha).result


def diverse_beam_search(
    model: NextToken,
    prefix: Tensor,
    length: int,
    groups: int,
    width: int = 1,
    strength: float = 0.5,
    eos: int | None = None,
    alpha: float = 0.0,
) -> list[list[Hypothesis]]:
    """Diverse beam search: the texts of each of G groups of B, best first; strength is λ."""
    result = beam_trace(model, prefix, length, width, eos, alpha, groups, strength).result
    return [[h for h in result if h.group == g] for g in range(groups)]


@torch.no_grad()
def beam_trace(
    model: NextToken,
    prefix: Tensor,
    length: int,
    width: int,
    eos: int | None = None,
    alpha: float = 0.0,
    groups: int = 1,
    strength: float = 0.0,
    names: Sequence[str] | None = None,
) -> Trace:
    """Trace of the search, a step per token.

    Returns:
        Trace with, a step: `hypotheses` (H, t), the prefixes that are extended, their `scores` (H,) and
        `groups` (H,); of the candidates looked at, best first in each group: `parent` (M,), the row of
        `hypotheses`; `token` (M,); `log_prob` (M,) of the whole; `kept` (M,) and `ended` (M,), bool.
        Result: list of `Hypothesis`, by score.

    Raises:
        ValueError: width, groups or length is below 1, or strength below 0.
    """
    for name, value in (("width", width), ("groups", groups), ("length", length)):
        if value < 1:
            raise ValueError(f"{name} is {value}: it must be at least 1.")
    if strength < 0:
        raise ValueError(f"strength is {strength}: it must not be negative.")
    prefix = prefix.reshape(-1)
    text = prefix.new_zeros(groups, 0)  # (H, t): at first one empty hypothesis a group
    group = torch.arange(groups)
    log_prob = torch.zeros(groups, dtype=torch.float64)
    penalised = log_prob.clone()
    finished: list[Hypothesis] = []
    steps: list[Step] = []
    for t in range(1, length + 1):
        # all hypotheses of all groups go through the model together
        log_p = model.next_log_probs(torch.cat([prefix.expand(len(text), -1), text], 1)).double()  # (H, V)
        V = log_p.shape[1]
        chosen = torch.zeros(V, dtype=torch.float64)  # n_w: how often earlier groups took each token
        parts: list[dict[str, Tensor]] = []
        for g in range(groups):
            rows = (group == g).nonzero()[:, 0]
            if not len(rows):
                continue
            scores = penalised[rows, None] + log_p[rows] - strength * chosen  # (B, V)
            ranked = scores.flatten().sort(descending=True, stable=True)
            ranked_token, ranked_row = ranked.indices % V, rows[ranked.indices // V]
            possible = ranked.values > -math.inf
            ends = (ranked_token == eos) if eos is not None else torch.zeros_like(possible)
            place = torch.arange(len(ends))
            ended = ends & (place < width) & possible  # finished, if among the best B of all
            kept = ~ends & ((~ends).cumsum(0) <= width) & possible
            looked_at = kept | ended | (possible & (place < SHOWN))
            chosen += torch.bincount(ranked_token[kept], minlength=V)
            parts.append(
                {
                    "parent": ranked_row[looked_at],
                    "token": ranked_token[looked_at],
                    "penalised": ranked.values[looked_at],
                    "kept": kept[looked_at],
                    "ended": ended[looked_at],
                }
            )
        results = {key: torch.cat([part[key] for part in parts]) for key in parts[0]}
        parent, token, kept = results["parent"], results["token"], results["kept"]
        results["log_prob"] = log_prob[parent] + log_p[parent, token]
        whole = torch.cat([text[parent], token[:, None]], dim=1)  # (M, t)
        for m in results["ended"].nonzero()[:, 0].tolist():
            finished.append(_hypothesis(whole[m], results["log_prob"][m], alpha, True, group[parent[m]]))
        steps.append(
            Step(
                f"Step {t}: of {len(text)} × {V} extensions {int(kept.sum())} stay"
                + (f", {int(results['ended'].sum())} end." if eos is not None else "."),
                {"hypotheses": text, "scores": log_prob, "groups": group, **results},
                _equation(results, log_prob, log_p, names),
            )
        )
        text, group = whole[kept], group[parent[kept]]
        log_prob, penalised = results["log_prob"][kept], results["penalised"][kept]
        if _decided(finished, log_prob, length, alpha, groups) or not len(text):
            break
    unfinished = [_hypothesis(text[h], log_prob[h], alpha, False, group[h]) for h in range(len(text))]
    # where texts end by EOS, one that was cut off counts only where none has ended
    if finished and eos is not None:
        have = {h.group for h in finished}
        unfinished = [h for h in unfinished if h.group not in have]
    return Trace(steps, sorted([*finished, *unfinished], key=lambda h: -h.score))


def _hypothesis(tokens: Tensor, log_prob: Tensor, alpha: float, finished: bool, group: Tensor) -> Hypothesis:
    total = float(log_prob)
    return Hypothesis(tuple(tokens.tolist()), total, total / len(tokens) ** alpha, finished, int(group))


def _decided(finished: list[Hypothesis], log_prob: Tensor, length: int, alpha: float, groups: int) -> bool:
    """No prefix of the beam can still beat the best finished text (each would only lose probability)."""
    if groups > 1 or not finished or not len(log_prob):
        return False
    best = max(h.score for h in finished)
    return best >= float(log_prob.max()) / length**alpha


def _equation(result: dict[str, Tensor], scores: Tensor, log_p: Tensor, names: Sequence[str] | None) -> str:
    """The score of the best candidate with its numbers."""
    parent, token = int(result["parent"][0]), int(result["token"][0])
    name = names[token] if names else str(token)
    name = name.replace("\\", "/").replace("_", " ").replace("$", "").replace("#", "").replace("%", "")
    name = name.replace("&", "and").replace("{", "(").replace("}", ")").replace("^", "").replace("~", "")
    return (
        rf"{float(scores[parent]):.3f} + \log P(\text{{{name}}}) = {float(scores[parent]):.3f}"
        rf" {float(log_p[parent, token]):+.3f} = {float(result['log_prob'][0]):.3f}"
    )


@torch.no_grad()
def exhaustive_search(
    model: NextToken, prefix: Tensor, length: int, eos: int | None = None, alpha: float = 0.0
) -> Hypothesis:
    """The best text of all, argmax_y log P(y | prefix) / length^α, by looking at every one: for toys.

    Raises:
        ValueError: there are more than 200,000 texts.
    """
    prefix = prefix.reshape(-1)
    text, total = prefix.new_zeros(1, 0), torch.zeros(1, dtype=torch.float64)
    best: Hypothesis | None = None
    for t in range(1, length + 1):
        log_p = model.next_log_probs(torch.cat([prefix.expand(len(text), -1), text], 1)).double()
        V = log_p.shape[1]
        if len(text) * V > 200_000:
            raise ValueError(f"{len(text) * V:,} texts are too many to look at: take a shorter length.")
        text = torch.cat([text.repeat_interleave(V, 0), torch.arange(V).repeat(len(text))[:, None]], 1)
        total = (total[:, None] + log_p).flatten()
        ended = (text[:, -1] == eos) if eos is not None else torch.full((len(text),), t == length)
        if ended.any() and total[ended].max() > -math.inf:
            m = int(total.masked_fill(~ended, -math.inf).argmax())
            result = _hypothesis(text[m], total[m], alpha, eos is not None, torch.tensor(0))
            best = result if best is None or result.score > best.score else best
        last = text, total
        text, total = text[~ended], total[~ended]
    if best is None:  # no text ends by EOS in this length
        m = int(last[1].argmax())
        best = _hypothesis(last[0][m], last[1][m], alpha, False, torch.tensor(0))
    return best
