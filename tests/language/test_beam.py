"""Beam search against all texts: what it finds and misses, lengths, diverse groups."""

import math

import contracts
import pytest
import torch

from modules.language import beam as search
from modules.language import decoding
from modules.language.bengio import Bengio
from modules.language.ngram import NGram
from modules.language.table import TableLM
from modules.language.truncation import SamplingParams
from modules.recurrent.language_model import RecurrentLM
from modules.transformer.gpt import GPT
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


# "a wider beam may be worse" and "the sum favours short texts" once more, with the numbers of RN-O19
WORSE = TableLM.from_rows(
    3, 3,
    {(): (0.5, 0.4, 0.1), (0,): (0.35, 0.33, 0.32), (1,): (0.5, 0.5, 0.0), (0, 0): (1.0, 0.0, 0.0)},
)  # fmt: skip
SHORT = TableLM.from_rows(3, 3, {(): (0.6, 0.0, 0.4), (0,): (0.0, 0.7, 0.3), (0, 1): (0.05, 0.05, 0.9)})


def test_oracles():
    results = [math.exp(search.beam_search(WORSE, START, 3, width)[0].log_prob) for width in (1, 2)]
    assert results == pytest.approx([0.175, 0.066667], abs=5e-7)
    at_once, long = (2,), (0, 1, 2)
    for alpha, offset, scores in ((0, 0, (-0.916291, -0.972861)), (1, 0, (-0.916291, -0.324287)),
                                  (0.6, 5, (-0.916291, -0.818630))):  # fmt: skip
        result = {h.tokens: h for h in search.beam_search(SHORT, START, 3, 9, 2, alpha, offset)}
        best = max(result.values(), key=lambda h: h.score)
        assert best.tokens == (long if alpha else at_once)
        assert best == search.exhaustive_search(SHORT, START, 3, 2, alpha, offset)
        for tokens, score in zip((at_once, long), scores, strict=True):
            if tokens in result:  # without normalisation the search ends before it has seen the long one
                assert result[tokens].score == pytest.approx(score, abs=5e-7)
    assert search.length_norm(7, 0.6, 5) == 2**0.6 and search.length_norm(7, 1) == 7


def unhurried(model, prefix, length, width, eos, norm):
    """Beam search by its definition, one text at a time, to the end: the best score and all that ended."""
    beam, pool = [((), 0.0)], []
    for _ in range(length):
        extended = []
        for text, log_p in beam:
            row = model.next_log_probs(torch.cat([prefix, torch.tensor(text).long()])[None])[0]
            extended += [((*text, v), log_p + float(p)) for v, p in enumerate(row) if p > -math.inf]
        extended.sort(key=lambda each: -each[1])
        pool += [each for each in extended[:width] if each[0][-1] == eos]
        beam = [each for each in extended if each[0][-1] != eos][:width]
    return max((log_p / norm(len(text)), text) for text, log_p in pool or beam)


@pytest.mark.parametrize("alpha, offset", [(0, 0), (1, 0), (0.6, 5), (2, 5)])
def test_an_early_end_changes_nothing(alpha, offset):
    early = 0
    for seed in range(12):
        model, width = random_table(3, 5, 10 * seed), 1 + seed % 3
        trace = search.beam_trace(model, START, 5, width, 0, alpha, offset=offset)
        early += len(trace) < 5
        score, text = unhurried(model, START, 5, width, 0, lambda n: ((offset + n) / (offset + 1)) ** alpha)
        assert trace.result[0].tokens == text and trace.result[0].score == pytest.approx(score, abs=1e-12)
        wide = search.beam_search(model, START, 5, 3**4, 0, alpha, offset)[0]
        assert wide == search.exhaustive_search(model, START, 5, 0, alpha, offset)
    assert early > 2


def counted():
    model = NGram(5, 3)
    model.fit(torch.randint(5, (1, 300), generator=torch.Generator().manual_seed(0)))
    return model


MODELS = {
    "LSTM": lambda: contracts.exact(RecurrentLM(5, embedding=4, hidden=6)),
    "counts": counted,
    "Bengio": lambda: contracts.exact(Bengio(5, 3, 4, 6)),
    "GPT, slides": lambda: contracts.exact(GPT(5, 6, 2, 2, 8)),
    "GPT, rotary": lambda: contracts.exact(GPT(5, 16, 1, 2, 8, positions="rotary")),
}


@pytest.mark.parametrize(
    "options",
    [{}, {"eos": 0, "alpha": 0.6, "offset": 5}, {"groups": 3, "strength": 1.0}],
    ids=["plain", "ends", "diverse"],
)
@torch.no_grad()
@pytest.mark.parametrize("name", MODELS)
def test_a_batch_of_sources_is_each_alone(name, options):
    model = MODELS[name]()
    texts = [torch.arange(length) % 5 for length in (0, 3, 1, 5)]
    source, padding = decoding.left_padded(texts)
    together = search.batched_beam_search(model, source, 6, 3, **options, padding=padding)
    for text, result in zip(texts, together, strict=True):
        (alone,) = search.batched_beam_search(model, text[None], 6, 3, **options)
        assert [(h.tokens, h.group, h.finished) for h in result] == [
            (h.tokens, h.group, h.finished) for h in alone
        ]
        for h in result:
            whole = torch.cat([text, torch.tensor(h.tokens)])
            rows = [model.next_log_probs(whole[None, : len(text) + t])[0, v] for t, v in enumerate(h.tokens)]
            assert h.log_prob == pytest.approx(float(sum(rows)), abs=1e-10)
    if "groups" not in options:
        best = search.batched_exhaustive_search(model, source, 3, **options, padding=padding)
        alone = [search.exhaustive_search(model, text, 3, **options) for text in texts]
        assert [h.tokens for h in best] == [h.tokens for h in alone]
        assert [h.score for h in best] == pytest.approx([h.score for h in alone], abs=1e-10)


class Dictionary:
    """A translator of single words: source s is a row of first tokens, then of what follows each."""

    first = torch.tensor([[0.6, 0.4], [0.1, 0.9]], dtype=torch.float64).log()
    after = torch.tensor([[[0.55, 0.45], [0.95, 0.05]], [[0.5, 0.5], [0.3, 0.7]]], dtype=torch.float64).log()

    def start(self, source):
        return self.first[source], source

    def step(self, state, token):
        return self.after[state, token], state


def test_what_is_searched_need_not_be_a_text():
    source = torch.tensor([[0], [1], [0]])[:, 0]
    results = search.batched_beam_search(Dictionary(), source, 2, 2)
    assert [r[0].tokens for r in results] == [(1, 0), (1, 1), (1, 0)]
    assert [h.tokens for h in search.batched_exhaustive_search(Dictionary(), source, 2)] == [
        (1, 0), (1, 1), (1, 0)
    ]  # fmt: skip
    greedy = [token for _, token in decoding.stream(Dictionary(), source, 2, SamplingParams(0))]
    assert torch.stack(greedy, 1).tolist() == [[0, 0], [1, 1], [0, 0]]


def test_of_equal_candidates_the_first_stay():
    generator = torch.Generator().manual_seed(0)
    for _ in range(50):
        values = torch.randint(4, (6, 40), generator=generator).double()
        values[values == 0] = -math.inf
        top, place = search._largest(values, 7)
        expected, places = values.sort(descending=True, stable=True)
        assert torch.equal(top, expected[:, :7])
        assert torch.equal(place[top > -math.inf], places[:, :7][top > -math.inf])


def test_a_search_reads_each_token_once():
    model, read = contracts.exact(GPT(5, 16, 1, 2, 8)), []
    model.embedding.register_forward_hook(lambda module, args, out: read.append(tuple(args[0].shape)))
    search.beam_search(model, torch.tensor([1, 2, 3]), 5, 3)
    assert read == [(1, 4), *[(3, 1)] * 4]  # behind the begin token; then three hypotheses, one token each


def test_refusals():
    with pytest.raises(ValueError, match="width is 0"):
        search.beam_search(GREEDY_FAILS, START, 2, 0)
    with pytest.raises(ValueError, match="too many"):
        search.exhaustive_search(Coin(0.5, 0.5), START, 30)
    with pytest.raises(ValueError, match="strength is -1"):
        search.diverse_beam_search(GREEDY_FAILS, START, 2, 2, 1, -1)
