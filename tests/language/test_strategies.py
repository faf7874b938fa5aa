"""Strategies, beams and drift as they are measured."""

import math

import opening
import pytest
import streamlit as st
import torch
from opening import open_page, table_with

from lab import experiments, weights
from lab.lenses import strategies as lens
from lab.lenses import text as texts
from modules.language import decoding
from modules.language.beam import beam_search, diverse_beam_search
from modules.language.ngram import NGram
from modules.language.truncation import SamplingParams
from pages.language.all_strategies import lens as all_strategies
from pages.language.beam_width import lens as beam_width
from pages.language.own_mistakes import lens as own_mistakes
from pages.language.two_strategies import lens as two_strategies
from tests.language.toys import ENDS, NOT_MONOTONE, Coin


def widths(*args, **kwargs):
    return lens.last(beam_width.widening(*args, **kwargs))[1]


def counted() -> NGram:
    """Kneser-Ney of order 3 over five symbols of a text with structure."""
    text = torch.randint(5, (1, 400), generator=torch.Generator().manual_seed(0)).cumsum(1) % 5
    model = NGram(5, 3)
    model.fit(text)
    return model


def test_many_strategies_at_once_are_each_alone():
    model, prompt = counted(), torch.tensor([[1, 2]]).expand(3, -1)
    given = torch.randint(5, (3, 20), generator=torch.Generator().manual_seed(1))
    how = [SamplingParams(0), SamplingParams(), SamplingParams(0.5, top_k=3), given]
    tokens, nats = lens.last(lens.continuing(model, prompt.expand(4, -1, -1), 20, how, seed=7))
    assert tokens.shape == nats.shape == (4, 3, 20)
    for rows, params in zip(tokens, how, strict=True):
        if isinstance(params, SamplingParams):
            alone = decoding.sample(model, prompt, 20, params, generator=torch.Generator().manual_seed(7))
            assert torch.equal(alone[:, 2:], rows)
    assert torch.equal(tokens[3], given)
    for rows, cost in zip(tokens.flatten(0, 1), nats.flatten(0, 1), strict=True):
        whole = model.log_prob(torch.cat([prompt[0], rows])[None]) - model.log_prob(prompt[:1])
        assert cost.sum().item() == pytest.approx(-whole.item())


def test_measures_of_texts():
    assert all_strategies.distinct(torch.tensor([[1, 2] * 20])) == pytest.approx(2 / 33)
    same = torch.arange(20).expand(3, -1)
    assert all_strategies.distinct(same) == pytest.approx(1 / 3)  # the texts repeat each other
    assert all_strategies.known(["cut the dog sat cu", "x a cat y"], {"the", "cat", "a"}) == pytest.approx(
        3 / 5
    )


def test_people_are_scored_where_they_stand():
    coin = Coin(0.5, 0.3, 0.2)
    human = torch.tensor([2] * 3 * 14)
    result = all_strategies.compare(coin, Letters(), torch.tensor([0, 1]), 12, human=human, vocabulary={"a"})
    assert list(result) == [*all_strategies.STRATEGIES, all_strategies.HUMAN]
    assert result["greedy"].nats == pytest.approx(math.log(2)) and not result["greedy"].tokens.any()
    assert (
        result[all_strategies.HUMAN].nats == pytest.approx(-math.log(0.2))
        and (result[all_strategies.HUMAN].tokens == 2).all()
    )
    assert result["top-k 3"].nats == pytest.approx(result["ancestral"].nats)  # of three tokens nothing is cut
    assert all_strategies.HUMAN not in all_strategies.compare(coin, Letters(), torch.tensor([0]), 12)


class Letters:
    """Tokens 0, 1, 2 read a, b, c."""

    def decode(self, ids):
        return " ".join("abc"[i] for i in ids.tolist())


@pytest.mark.heavy
def test_strategies_on_shakespeare(real_data):
    """3 × 2,000 characters of the 6-gram model."""
    real_data("tinyshakespeare")
    place = experiments.ZOO / "ngram-shakespeare"
    card = weights.read_card(place)
    coder = texts.tokenizer(card)
    training, text = (lens.corpus(card, split) for split in ("train", "val"))
    assert training is not None and text is not None
    human, words = torch.tensor(coder.encode(text)), set(training.split())
    result = all_strategies.compare(
        weights.load(place), coder, torch.tensor(coder.encode("\n")), 2000, 3, human, words
    )
    published = {  # surprisal, different 8-grams, known words
        "greedy": (0.989, 0.018 / 3, 1.000), "temperature 0.5": (0.936, 0.847, 0.993),
        "ancestral": (1.179, 0.975, 0.921), "temperature 1.5": (1.904, 0.990, 0.670),
        "top-k 3": (0.973, 0.806, 0.982), "top-k 10": (1.143, 0.967, 0.939),
        "nucleus 0.5": (0.903, 0.673, 0.989), "nucleus 0.9": (1.086, 0.961, 0.960),
        "nucleus 0.95": (1.093, 0.969, 0.948),
    }  # fmt: skip
    for name, (nats, distinct, known) in published.items():  # other draws: 6,000 characters
        one = result[name]
        assert one.nats == pytest.approx(nats, abs=0.06), name
        assert one.distinct == pytest.approx(distinct, abs=0.02), name
        assert one.known == pytest.approx(known, abs=0.03), name
    assert result["greedy"].nats == pytest.approx(0.989, abs=5e-4)
    assert result["greedy"].tokens[0].equal(result["greedy"].tokens[1])
    assert result[all_strategies.HUMAN].distinct == pytest.approx(0.909, abs=2e-3)
    assert result[all_strategies.HUMAN].known == pytest.approx(0.924, abs=2e-3)


def test_width_is_no_promise():
    rows = widths(NOT_MONOTONE, [torch.zeros(0, dtype=torch.int64)], 3, (1, 2, 3))
    assert [math.exp(row.log_prob) for row in rows] == pytest.approx([0.136, 0.0583333, 0.136], abs=1e-6)
    assert [row.better for row in rows] == [1, 0, 1]


def test_the_sum_prefers_short_texts_and_groups_differ():
    start = torch.zeros(0, dtype=torch.int64)
    (row,) = widths(ENDS, [start, start], 3, (2,), eos=0, alpha=1.0)
    assert (row.length, row.normalised) == (1.0, 3.0) and row.better == 2
    model = counted()
    prompts = [torch.tensor([0]), torch.tensor([3])]
    (row,) = widths(model, prompts, 8, (4,), strength=2.0)
    (same,) = widths(model, prompts, 8, (4,), strength=0.0)
    assert row.diverse > same.diverse and row.beam > same.diverse
    (greedy,) = widths(model, prompts, 8, (1,))
    assert same.diverse == pytest.approx(greedy.beam / 4)  # without a penalty all groups write the same text
    result = beam_search(model, prompts[0], 8, 4)
    each = [pair for h in result for pair in zip(h.tokens, h.tokens[1:], strict=False)]
    assert beam_width.pairs(result) == len(set(each)) / len(each)


def test_drift_asks_the_judge_about_both_texts():
    writer, judge = Coin(0.5, 0.5), Coin(0.9, 0.1)
    result = own_mistakes.drift(writer, judge, torch.zeros(3000, dtype=torch.int64), 5, 12, 2000)
    torch.testing.assert_close(result.true, torch.full((12,), -math.log(0.9)).double())
    expected = -(math.log(0.9) + math.log(0.1)) / 2
    assert (result.own - expected).abs().max() < 5 * result.error.max()
    assert result.error.mean() == pytest.approx(math.log(9) / 2 / 2000**0.5, rel=0.05)
    growth, error = result.growth()
    assert abs(growth) < 3 * error
    with pytest.raises(ValueError, match="do not fit"):
        own_mistakes.drift(writer, judge, torch.zeros(100, dtype=torch.int64), 5, 12, 100)


def test_drift_grows_where_a_mistake_is_never_forgotten():
    class Chain:
        """Repeats the last token; leaves 0 with probability `slip`, and never comes back."""

        def __init__(self, slip):
            self.rows = torch.tensor([[1 - slip, slip], [0.0, 1.0]], dtype=torch.float64)

        def next_log_probs(self, prefix):
            return self.rows[prefix[:, -1]].log()

    class Judge:
        """Knows 0s; whatever comes after a 1 surprises it."""

        def next_log_probs(self, prefix):
            rows = torch.tensor([[0.9, 0.1], [0.5, 0.5]], dtype=torch.float64)
            return rows[prefix[:, -1]].log()

    result = own_mistakes.drift(Chain(0.1), Judge(), torch.zeros(2000, dtype=torch.int64), 1, 30, 1000)
    assert result.growth()[0] > 0.2 and result.own[0] < result.own[-1] and result.is_significant


def test_the_growth_has_its_standard_error():
    """A writer whose texts hang together (one token for ever): the spread of the growth over many runs is
    the standard error that each of them states."""

    class Sticky:
        """Stays at its token, and may change at every fourth place only."""

        def next_log_probs(self, prefix):
            stay = torch.full((len(prefix), 2), -math.inf).double()
            if prefix.shape[1] % 4:
                return stay.scatter(1, prefix[:, -1:], 0.0)
            return torch.full((len(prefix), 2), 0.5).double().log()

    text = torch.zeros(1000, dtype=torch.int64)
    runs = [own_mistakes.drift(Sticky(), Coin(0.8, 0.2), text, 4, 12, 40, seed) for seed in range(150)]
    growth, error = torch.tensor([run.growth() for run in runs], dtype=torch.float64).T
    assert error.mean().item() == pytest.approx(growth.std().item(), rel=0.15)
    # two errors hold most runs, as there is no growth; points taken as independent would promise too much
    assert 0.9 < (growth.abs() < 2 * error).double().mean() < 0.99
    assert sum(run.is_significant for run in runs) == (growth.abs() >= 2 * error).sum()
    apart = torch.stack([run.error for run in runs]).mean() * (2 / 4) ** 0.5
    assert apart < 0.6 * growth.std()


@pytest.mark.parametrize("writer, judge", [("bengio", "ngram"), ("ngram", "ngram")])
def test_the_drift_of_own_mistakes_is_within_noise(writer, judge, real_data):
    """On characters no growth can be told from none; its sign is that of the draw."""
    real_data("tinyshakespeare")
    card = weights.read_card(experiments.ZOO / "ngram-shakespeare")
    text = lens.corpus(card, "val")
    assert text is not None
    ids = torch.tensor(texts.tokenizer(card).encode(text[:20_000]))
    models = [weights.load(experiments.ZOO / f"{name}-shakespeare") for name in (writer, judge)]
    results = [own_mistakes.drift(*models, ids, 10, 30, 200, seed) for seed in range(2)]
    for one in results:
        growth, error = one.growth()
        assert abs(growth) < 2.5 * error and 0.03 < error < 0.15


def test_the_page_shows_all_strategies():
    page = open_page("language/all_strategies", trained="ngram-shakespeare", each="50")
    shown = table_with(page, "strategy").set_index("strategy")
    card = weights.read_card(experiments.ZOO / "ngram-shakespeare")
    coder, model = texts.tokenizer(card), weights.load(experiments.ZOO / "ngram-shakespeare")
    result = all_strategies.compare(model, coder, torch.tensor(coder.encode("ROMEO:\n")), 50)
    assert "known words" in str(opening.figure(page, "measures")[0]["csv"])
    for name, one in result.items():
        assert shown.loc[name, "surprisal (nats)"] == f"{one.nats:.3f}"
        assert shown.loc[name, "different 8-grams"] == f"{one.distinct:.3f}"
    text = opening.film(page)
    assert f"{result['greedy'].distinct:.3f}" in text["equations"][-1]
    _, frames = opening.figure(page, "measures")
    assert frames["data.0.x"][-1][:9] == pytest.approx([one.nats for one in result.values()], abs=1e-5)
    early = int(text["names"][0])
    first = all_strategies.distinct(result["ancestral"].tokens[:, :early])
    assert frames["data.1.x"][0][2] == pytest.approx(first)


def test_the_page_widens_a_beam():
    page = open_page("language/beam_width", trained="bengio-pydocs", most="4")
    shown = table_with(page, "log P")
    card = weights.read_card(experiments.ZOO / "bengio-pydocs")
    coder, model = texts.tokenizer(card), weights.load(experiments.ZOO / "bengio-pydocs")
    prompts = [torch.tensor(coder.encode(text)) for text in ("Return a ", "for i in ", "The ", "If ")]
    rows = widths(model, prompts, 4)
    assert shown["log P"].tolist() == [f"{row.log_prob:.3f}" for row in rows]
    header, _ = opening.figure(page, "A beam")
    best = rows[-1].texts[0][0]
    assert header["texts"]["data.0.text.0"][-1].startswith(f"{best.log_prob:.1f} ")
    assert shown["no worse than before"].tolist() == ["–", *(f"{r.better} of 4" for r in rows[1:])]


def test_the_page_lets_a_model_go_on_alone(monkeypatch, request):
    st.cache_resource.clear()  # pages keep texts: another test's would be read here, and this one's there
    request.addfinalizer(st.cache_resource.clear)
    text = "the cat sat on the mat and the dog sat on the log. " * 30
    monkeypatch.setattr(lens, "corpus", lambda card, split: text)
    page = open_page("language/own_mistakes", trained="bengio-pydocs", far="9", places="50")
    card = weights.read_card(experiments.ZOO / "bengio-pydocs")
    coder, model = texts.tokenizer(card), weights.load(experiments.ZOO / "bengio-pydocs")
    result = own_mistakes.drift(model, model, torch.tensor(coder.encode(text)), 10, 9, 50)
    growth, error = result.growth()
    assert rf"\text{{growth}} = {growth:.3f} \pm {error:.3f}" in page.latex[0].value
    sentence = any("cannot be told from none" in line.value for line in (*page.caption, *page.markdown))
    assert sentence == (not result.is_significant) == (abs(growth) < 2 * error)
    gap = result.own - result.true
    assert f"{float(gap[:3].mean()):.3f}" in page.latex[0].value


def test_a_pen_goes_on_where_it_stopped():
    model, prompt = counted(), torch.tensor([1, 2])
    pen = all_strategies.Pen(model, prompt, texts=2, seed=3)
    short = pen.first(5)
    assert pen.done == 5
    whole = all_strategies.Pen(model, prompt, texts=2, seed=3).first(12)
    for part, goes_on, at_once in zip(short, pen.first(12), whole, strict=True):
        assert torch.equal(goes_on, at_once) and torch.equal(part, at_once[..., :5])
    assert torch.equal(pen.first(5)[0], short[0]) and pen.done == 12


def test_scoring_at_once_and_token_by_token_agree():
    model, text = counted(), torch.randint(5, (4, 15), generator=torch.Generator().manual_seed(2))
    (at_once,) = lens.scoring(model, text, 3)
    *_, last = lens.scoring(model.incremental_decoder(), text, 3)  # no counts, as far as it is known
    torch.testing.assert_close(at_once, last)
    assert at_once.shape == (4, 12)


def test_groups_of_the_widest_search_are_those_of_narrower_ones():
    model, prompt = counted(), torch.tensor([1, 2])
    for row in widths(model, [prompt], 8, (1, 2, 5), strength=0.7):
        alone = diverse_beam_search(model, prompt, 8, row.width, 1, 0.7)
        assert [h.tokens for h in row.spread[0]] == [group[0].tokens for group in alone]


def test_known_beams_are_not_searched_again():
    model, prompts = counted(), [torch.tensor([1, 2])]
    known = beam_width.beams(model, prompts, 8, (1, 4))
    assert widths(model, prompts, 8, (1, 4), known=known) == widths(model, prompts, 8, (1, 4))


def test_a_longer_text_goes_on_where_the_shorter_one_ended():
    model, prompt = counted(), torch.tensor([1, 2])
    for strategy in filter(two_strategies.grows, two_strategies.STRATEGIES):
        short = two_strategies.run(model, prompt, strategy, 20, 5)
        longer, whole = (two_strategies.run(model, prompt, strategy, 40, 5, part) for part in (short, None))
        for name in ("tokens", "nats", "entropy", "repeated", "state"):
            assert torch.equal(getattr(longer, name), getattr(whole, name))
        alone = decoding.sample_trace(
            model, prompt, 40, two_strategies.STRATEGIES[strategy], generator=torch.Generator().manual_seed(5)
        )
        assert torch.equal(alone.result[0, 2:], whole.tokens) and longer.distinct == whole.distinct
    assert not two_strategies.grows("beam of 4")


def test_the_page_prints_words_with_spaces_between_them():
    page = opening.finish(open_page("language/beam_width", trained="bengio-multi30k", most="4"))
    coder = texts.tokenizer(weights.read_card(experiments.ZOO / "bengio-multi30k"))
    assert coder.kind == "word"
    header, _ = opening.figure(page, "A beam")
    shown = [text for frames in header["texts"].values() for text in frames if isinstance(text, str)]
    vocabulary, read = set(coder.tokens), 0
    for text in filter(None, shown):
        number, *words = text.rstrip("…").split()
        float(number)
        assert set(words[:-1]) <= vocabulary, text  # the last may be cut
        read += len(words) > 1
    assert read >= 4
