"""Beam search against all texts: what it finds and misses, lengths, diverse groups."""

import math

import contracts
import pytest
import torch

from modules.language import beam as search
from modules.language import decoding
from modules.language.table import TableLM
from tests.language.toys import ENDS, GREEDY_FAILS, NOT_MONOTONE, Coin, empty

START = torch.zeros(0, dtype=torch.int64)


def random_table(V, T, seed=0):
    rows = [torch.rand(V**t, V, generator=torch.Generator().manual_seed(seed + t)).double() for t in range(T)]
    return TableLM([r / r.sum(-1, keepdim=True) for r in rows])


def test_a_beam_of_two_finds_what_greedy_misses():
    best = [search.beam_search(GREEDY_FAILS, START, 2, width)[0] for width in (1, 2)]
    assert [h.tokens for h in best] == [(0, 0), (1, 0)]
    assert math.exp(search.beam_search(GREEDY_FAILS, START, 2, 2)[0].log_prob) == pytest.approx(0.38)
    assert search.exhaustive_search(GREEDY_FAILS, START, 2).tokens == (1, 0)


def test_a_wider_beam_may_find_less():
    results = [math.exp(search.beam_search(NOT_MONOTONE, START, 3, width)[0].log_prob) for width in (1, 2, 3)]
    assert results == pytest.approx([0.136, 0.0583333, 0.136], abs=5e-8)
    assert math.exp(search.exhaustive_search(NOT_MONOTONE, START, 3).log_prob) == pytest.approx(0.136)


@pytest.mark.parametrize("V, T", [(2, 4), (3, 3), (4, 3)])
def test_wide_enough_is_exact_and_one_is_greedy(V, T):
    for seed in range(5):
        model = random_table(V, T, seed)
        strings = contracts.configurations((T,), V)
        log_p = model.log_prob(strings)
        best = search.beam_search(model, START, T, V ** (T - 1))[0]
        assert best.tokens == tuple(strings[log_p.argmax()].tolist())
        assert best.log_prob == pytest.approx(log_p.max().item(), abs=1e-10)
        assert search.exhaustive_search(model, START, T) == best
        one = search.beam_search(model, START, T, 1)
        assert [h.tokens for h in one] == [tuple(decoding.greedy(model, empty(), T)[0].tolist())]
        # whatever is found has the probability that the model gives it, and is found once
        some = search.beam_search(model, START, T, 3)
        assert len({h.tokens for h in some}) == len(some) == 3
        for h in some:
            assert h.log_prob == pytest.approx(model.log_prob(torch.tensor([h.tokens])).item(), abs=1e-10)


def test_finished_texts_leave_the_beam_and_length_is_normalised():
    plain, normalised = (search.beam_search(ENDS, START, 3, 2, eos=0, alpha=a) for a in (0, 1))
    assert plain[0].tokens == (0,) and math.exp(plain[0].log_prob) == pytest.approx(0.4)
    assert normalised[0].tokens == (1, 1, 0) and math.exp(normalised[0].log_prob) == pytest.approx(0.315)
    assert normalised[0].score == pytest.approx(-0.3851, abs=5e-5)
    by_text = {h.tokens: h for h in normalised}
    assert by_text[(0,)].score == pytest.approx(-0.9163, abs=5e-5)
    assert all(h.finished for h in normalised)
    for alpha in (0, 0.5, 1):
        best = search.beam_search(ENDS, START, 3, 8, 0, alpha)[0]
        assert search.exhaustive_search(ENDS, START, 3, 0, alpha) == best


def test_nothing_grows_behind_its_end_and_the_beam_stays_full():
    early = 0
    for seed in range(8):
        trace = search.beam_trace(random_table(3, 4, seed=seed), START, 4, 2, eos=0)
        early += sum(int(step.values["ended"].sum()) for step in list(trace)[:-1])
        for t, step in enumerate(trace):
            assert not (step.values["hypotheses"] == 0).any()
            assert len(step.values["hypotheses"]) == (2 if t else 1)
            assert not (step.values["ended"] & step.values["kept"]).any()
        assert all(0 not in h.tokens[:-1] for h in trace.result)
    assert early  # texts that end, whose places are taken by others


def test_scores_never_rise_without_normalisation():
    trace = search.beam_trace(random_table(3, 4), START, 4, 3)
    best = [float(step.values["log_prob"].max()) for step in trace]
    assert best == sorted(best, reverse=True)


def test_a_text_that_does_not_end_counts_only_where_none_ends():
    never = Coin(0.0, 0.7, 0.3)
    result = search.beam_search(never, START, 4, 2, eos=0)
    assert [h.finished for h in result] == [False, False] and result[0].tokens == (1, 1, 1, 1)
    assert search.exhaustive_search(never, START, 4, eos=0) == result[0]


@pytest.mark.parametrize(
    "strength, second, p",
    [(0.0, (0, 0), 0.33), (0.19, (0, 0), 0.33), (0.21, (0, 1), 0.27), (0.40, (0, 1), 0.27),
     (0.41, (1, 0), 0.38), (2.94, (1, 0), 0.38), (2.95, (1, 1), 0.02)],
)  # fmt: skip
def test_diverse_groups_move_apart(strength, second, p):
    groups = search.diverse_beam_search(GREEDY_FAILS, START, 2, groups=2, strength=strength)
    assert groups[0][0].tokens == (0, 0)
    assert groups[1][0].tokens == second and math.exp(groups[1][0].log_prob) == pytest.approx(p)


def test_diversity_of_a_single_step():  # the switch is at ln(5/3)
    model = Coin(0.5, 0.3, 0.2)
    assert math.log(5 / 3) == pytest.approx(0.5108, abs=5e-5)
    for strength, token in ((0.51, 0), (0.511, 1)):
        assert search.diverse_beam_search(model, START, 1, 2, 1, strength)[1][0].tokens == (token,)


def test_groups_without_penalty_are_identical_beams():
    model = random_table(3, 4)
    groups = search.diverse_beam_search(model, START, 4, groups=3, width=2, strength=0.0)
    alone = search.beam_search(model, START, 4, 2)
    for group in groups:
        assert [h.tokens for h in group] == [h.tokens for h in alone]


def test_behind_a_prefix_and_trace():
    model = random_table(3, 4)
    prefix = torch.tensor([2, 1])
    best = search.beam_search(model, prefix, 2, 9)[0]
    assert best == search.exhaustive_search(model, prefix, 2)
    trace = contracts.trace_replays(lambda seed: search.beam_trace(model, prefix, 2, 2))
    step = trace[1].values
    assert step["hypotheses"].shape == (2, 1) and int(step["kept"].sum()) == 2
    for m in range(len(step["token"])):
        h = step["hypotheses"][step["parent"][m]]
        row = model.next_log_probs(torch.cat([prefix, h])[None])[0]
        expected = step["scores"][step["parent"][m]] + row[step["token"][m]]
        assert float(step["log_prob"][m]) == pytest.approx(float(expected), abs=1e-12)


def test_refusals():
    with pytest.raises(ValueError, match="width is 0"):
        search.beam_search(GREEDY_FAILS, START, 2, 0)
    with pytest.raises(ValueError, match="too many"):
        search.exhaustive_search(Coin(0.5, 0.5), START, 30)
    with pytest.raises(ValueError, match="strength is -1"):
        search.diverse_beam_search(GREEDY_FAILS, START, 2, 2, 1, -1)
