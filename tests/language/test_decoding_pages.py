"""The pages on decoding: their numbers are those of the models, the tree that of the search."""

import math

import numpy as np
import opening
import pytest
import torch
from opening import captions, film, open_page

from lab import ui
from lab.errors import UserError
from lab.figures import beam_trees
from lab.lenses import beam_tree, sampling
from lab.lenses import text as texts
from modules.language.beam import beam_trace
from modules.language.truncation import SamplingParams, truncate
from pages.language.beam_search import lens as beam_search
from pages.language.truncation import lens as truncation
from pages.language.two_strategies import lens as two_strategies
from tests.language.toys import GREEDY_FAILS, NOT_MONOTONE, Coin

WORSE = ": .4 .35 .25\na: .34 .33 .33\nb: .5 .5 0\naa: 1 0 0"
MISSES = ": .6 .4\na: .55 .45\nb: .95 .05"


def test_the_beam_page_says_what_greedy_misses():
    text = captions(open_page("language/beam_search", b="1"))
    assert "'ba' with P = 0.3800; the search found 'aa' with 0.3300" in text
    page = open_page("language/beam_search", b="2")
    assert "the search found 'ba' with 0.3800" in captions(page)
    text = film(page)["equations"][-1]
    assert f"{-math.log(0.4):.3f}" in text and f"{-math.log(0.38):.3f}" in text


def test_greedy_stands_beside_a_wider_beam():
    page = open_page("language/beam_search", b="2", table=WORSE, length="3", beside="true")
    shown = opening.metrics(page)
    assert shown["B = 2 finds"] == "baa 0.0583" and shown["Greedy"] == shown["Best"] == "aaa 0.1360"
    assert film(page)["count"] == 3 and film(page)["at"] == 2
    header, frames = opening.figure(page, "greedy")
    (kept,) = (i for i, t in enumerate(header["figure"]["data"]) if t.get("name") == "kept")
    shown_at = np.isfinite(frames[f"data.{kept}.x"]).sum(1)
    assert shown_at.tolist() == [1, 2, 3]  # one more token each frame


def test_the_next_token_page_shows_the_models_own_distribution():
    page = open_page("language/truncation", trained="bengio-shakespeare", p="0.8")
    model, coder = ui.load("bengio-shakespeare"), texts.tokenizer(ui.card("bengio-shakespeare"))
    p = model.next_log_probs(torch.tensor([coder.encode("ROMEO:\n")]))[0].exp()
    ranked = p.sort(descending=True).values
    n = int((ranked.cumsum(0) < 0.8).sum()) + 1
    kept = ranked[:n]
    shown = [m.value for m in page.metric]
    after = kept / kept.sum()
    assert shown[0] == f"{-(p * p.log()).sum():.3f} → {-(after * after.log()).sum():.3f}"
    assert shown[1] == f"{n} of {len(p)}" and shown[2] == f"{kept.sum():.3f}"
    assert f"{after[0]:.4f}" in page.latex[0].value
    whole = torch.zeros_like(p)
    whole[p.sort(descending=True).indices[:n]] = after
    ids = torch.multinomial(whole, 1000, replacement=True, generator=torch.Generator().manual_seed(0))
    counts, expected = torch.bincount(ids, minlength=len(p)).double(), 1000 * whole.double()
    cells = expected >= 5
    rest = expected[~cells].sum()
    statistic = ((counts - expected)[cells].square() / expected[cells]).sum()
    if rest > 0:
        statistic += (counts[~cells].sum() - rest).square() / rest
    assert f"= {statistic:.2f}" in page.latex[1].value


@torch.no_grad()
def test_cuts_before_temperature_are_measured_on_the_model_itself():
    model, prompt = Coin(0.6, 0.25, 0.15), torch.tensor([0])
    hot = SamplingParams(temperature=2.0, top_p=0.8)
    assert truncation.truncate_next(model, prompt, hot).kept.sum() == 3
    story = truncation.truncate_next(model, prompt, hot, "cuts")
    root = torch.tensor([0.6, 0.25]).sqrt()
    torch.testing.assert_close(story.after.float(), torch.tensor([*(root / root.sum()), 0.0]))
    torch.testing.assert_close(story.mass.float(), root.sum() / torch.tensor([0.6, 0.25, 0.15]).sqrt().sum())


def test_the_mass_of_the_likeliest_is_before_the_cut():
    story = truncate(torch.tensor([0.1, 0.5, 0.15, 0.25]).log(), SamplingParams(top_k=2))
    torch.testing.assert_close(sampling.mass(story, 3), torch.tensor([0.5, 0.75, 0.9]))


def test_the_duel_measures_both_texts():
    page = open_page("language/two_strategies", trained="bengio-shakespeare", tokens="60")
    model, coder = ui.load("bengio-shakespeare"), texts.tokenizer(ui.card("bengio-shakespeare"))
    prompt = torch.tensor(coder.encode("ROMEO:\n"))
    for side, strategy in enumerate(("greedy", "nucleus 0.9")):
        result = two_strategies.run(model, prompt, strategy, 60)
        whole = torch.cat([prompt, result.tokens])[None]
        total = (model.log_prob(whole) - model.log_prob(prompt[None])).item()
        assert result.nats.sum().item() == pytest.approx(-total, abs=1e-3)
        shown = [m.value.split(" / ")[side] for m in page.metric[:2]]
        assert f"{-total / 60:.3f}" in film(page)["equations"][-1]
        assert shown[1] == f"{result.entropy.mean():.3f}"
        grams = {tuple(result.tokens[i : i + 8].tolist()) for i in range(53)}
        assert shown[0] == f"{len(grams) / 53:.2f}"
        _, frames = opening.figure(page, f"text-{side + 1}")
        assert np.isfinite(frames["data.1.x"]).sum(1).tolist() == list(range(1, 61))


def test_what_is_said_of_people_follows_from_the_numbers():
    result = two_strategies.against
    nats = torch.tensor([1.0, 2.0, 1.0, 2.0] * 25)  # 1.5 ± 0.0503
    assert result(nats, 1.7).startswith("less than") and "1.50 ± 0.05 nats per token against 1.70" in result(
        nats, 1.7
    )
    assert result(nats, 1.3).startswith("more than") and result(nats, 1.55).startswith("neither")


def test_a_beam_is_measured_like_a_sample():
    model = Coin(0.5, 0.3, 0.2)
    result = two_strategies.run(model, torch.tensor([0]), "beam of 4", 10)
    torch.testing.assert_close(result.nats, torch.full((10,), math.log(2)))
    torch.testing.assert_close(result.entropy, torch.full((10,), 1.0296530))
    assert result.distinct == pytest.approx(1 / 3) and result.repeated[8:].all()


def test_repeats_are_what_came_before():
    tokens = torch.tensor([*range(9), *range(9), 20])
    assert two_strategies.repeats(tokens).tolist() == [False] * 9 + [True] * 9 + [False]
    assert not two_strategies.repeats(torch.arange(30)).any()


def test_temperature_sweep_of_independent_tokens():
    *_, (share, result) = two_strategies.sweep(Coin(0.5, 0.3, 0.2), torch.tensor([0]), [0.0, 1.0], 200)
    assert share == 1
    assert result["distinct"][0] == pytest.approx(1 / 193) and result["distinct"][1] > 0.9
    assert result["entropy"] == pytest.approx([1.0296530] * 2, abs=1e-5)
    assert result["nats"][0] == pytest.approx(math.log(2)) and result["nats"][1] == pytest.approx(
        1.03, abs=0.05
    )


def test_a_typed_table_is_the_toy():
    model, names, eos = beam_search.table(MISSES, 2)
    strings = torch.cartesian_prod(torch.arange(2), torch.arange(2))
    torch.testing.assert_close(model.log_prob(strings), GREEDY_FAILS.log_prob(strings))
    assert names == ["a", "b"] and eos is None
    assert beam_search.table("ends: b\n: .5 .5", 1)[2] == 1
    for text, sentence in (
        ("nonsense", "cannot read"),
        (": .6 .6", "sum to 1.2"),
        (": .5 .5\na: .2 .3 .5", "same number"),
        ("a: .5 .5", "Begin with"),
        (": 1 x", "cannot read"),
        ("", "same number"),
    ):
        with pytest.raises(UserError, match=sentence):
            beam_search.table(text, 2)


@pytest.mark.parametrize("scene", range(1, 8))
def test_the_best_text_is_drawn_whole_though_its_beginning_is_cut(scene):
    header, _ = opening.figure(page := open_page("language/beam_search", scene=str(scene)), "tree")
    traces = header["figure"]["data"]
    (way,) = (t for t in traces if t.get("name") == "best")
    best, p = opening.metrics(page)["Best"].split()
    dots = {}
    for t in traces:
        if "text" in t:
            dots |= {(x, y): text.split() for x, y, text in zip(t["x"], t["y"], t["text"], strict=True)}
    ends = {x: dots[x, y] for x, y in zip(way["x"][1::3], way["y"][1::3], strict=True)}  # one of each group
    assert {x: token for x, (token, _) in ends.items()} == dict(enumerate(best, start=1))
    assert ends[len(best)][1] == p


def test_what_the_search_has_not_seen_has_the_models_numbers():
    model = beam_search.table(MISSES, 2)[0]
    result = beam_tree.tree(beam_trace(model, beam_search.start(), 2, 1), beam_trees.ROWS)
    results = list(result.text)
    beam_search.lead(result, model, (1, 0))
    assert (1, 0) not in results and result.text == [*results, (1, 0)] and result.state[-1] == "unseen"
    assert result.log_prob[-1] == pytest.approx(math.log(0.38))
    assert result.text[result.parent[-1]] == (1,)
    beam_search.lead(result, model, (1, 0))  # once is enough
    assert len(result.text) == len(results) + 1
    from_nothing = beam_tree.Tree()
    beam_search.lead(from_nothing, model, (1, 0))
    assert from_nothing.text == [(), (1,), (1, 0)] and from_nothing.parent == [-1, 0, 1]
    assert from_nothing.log_prob == pytest.approx([0, math.log(0.4), math.log(0.38)])


def test_the_tree_holds_every_candidate_once():
    trace = beam_trace(NOT_MONOTONE, beam_search.start(), 3, 2)
    result = beam_tree.grown(trace, pruned=9)
    beam_tree.spread(result)
    assert len(set(result.text)) == len(result.text)
    for n, parent in enumerate(result.parent):
        if parent >= 0:
            assert result.text[n][:-1] == result.text[parent] and result.depth[n] == result.depth[parent] + 1
            assert result.log_prob[n] == pytest.approx(
                NOT_MONOTONE.log_prob(torch.tensor([result.text[n]])).item()
            )
    for depth in (1, 2, 3):
        assert sum(s == "kept" for s, d in zip(result.state, result.depth, strict=True) if d == depth) == 2
    leaves = [n for n in range(len(result.text)) if n not in result.parent]
    assert sorted(result.place[n] for n in leaves) == list(range(len(leaves)))  # no two on one another
    assert sum(beam_tree.along(result, (0, 0, 0))) == 3  # the start, x, xx: xxx was cut before
    assert max(beam_tree.tree(trace, 8).place) + 1 <= 8 < max(result.place) + 1
    fig = beam_trees.tree(
        result.depth, result.place, result.parent, ["x"] * len(result.text), ["x"] * len(result.text),
        result.state, result.group, beam_tree.along(result, (0, 0, 0)),
    )  # fmt: skip
    cut = next(t for t in fig.data if t.name == "cut")
    assert len(cut.x) == result.state.count("pruned")
