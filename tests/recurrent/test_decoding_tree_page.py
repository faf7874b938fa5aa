"""The page Decoding tree: its numbers are those of the translators, and what its scenes say is so."""

from functools import cache, partial
from itertools import pairwise

import numpy as np
import pytest
import torch
from opening import figure, film, open_page, prose, spoken

from datamodules.spanish import CONJUNCTIONS
from lab import experiments, weights
from lab.figures import beam_trees
from lab.lenses.beam_tree import grown, pack
from modules.language.beam import beam_search, beam_trace, length_norm
from modules.recurrent.seq2seq import Seq2Seq
from pages.recurrent.decoding_tree import figures, lens, room

opened = partial(open_page, "recurrent/decoding_tree")
SCENES = {name: scene.state for name, scene in room.ROOM.scenes.items()}


@cache
def load(name: str) -> Seq2Seq:
    return weights.load(name).eval()


@cache
def found(scene: str, **other: int) -> lens.Found:
    now = SCENES[scene]
    card = experiments.find(now.model).card
    return lens.search(load(now.model), card, now.text, other.get("width", now.width), now.alpha, now.k)


def words(scene: str) -> str:
    return found(scene).read(found(scene).best.tokens)


@torch.no_grad()
def forced(model: Seq2Seq, source: torch.Tensor, tokens: lens.Tokens) -> tuple[torch.Tensor, torch.Tensor]:
    """log p of each word of a translation, and γ, by one pass of teacher forcing."""
    target = torch.tensor([tokens])
    logits, gamma = model(source[None], target)
    return logits.log_softmax(-1).gather(-1, target[..., None])[0, :, 0].double(), gamma[0]


@pytest.mark.parametrize("scene", ["Beam of 2", "Short wins", "A line", "γ at a fork"])
def test_each_hypothesis_has_the_numbers_of_its_own_history(scene: str) -> None:
    """γ and log p, found in rows that hold another hypothesis at each step, are those of teacher forcing."""
    result, model = found(scene), load(SCENES[scene].model)
    texts = [each.tokens for each in result.pool]
    cut = [n for n, state in enumerate(result.tree.state) if state == "pruned"]
    texts += [result.tree.text[n] for n in cut[-3:]]
    for tokens in texts:
        log_p, gamma = forced(model, result.source.ids, tokens)
        torch.testing.assert_close(lens.weights(result, tokens), gamma, atol=1e-5, rtol=1e-4)
        assert lens.log_probs(result, tokens) == pytest.approx(log_p.cumsum(0).tolist(), abs=1e-4)
    for each in [*result.pool, result.greedy, *([result.gold] if result.gold else [])]:
        total = float(forced(model, result.source.ids, each.tokens)[0].sum())
        assert each.log_prob == pytest.approx(total, abs=1e-4)
        norm = length_norm(len(each.tokens), SCENES[scene].alpha, SCENES[scene].k)
        assert each.score == pytest.approx(total / norm, abs=1e-4)


def test_behind_a_fork_gamma_is_another() -> None:
    result = found("γ at a fork")
    tokens = lens.chosen(result, room.SECOND)
    assert tokens == result.pool[1].tokens and lens.chosen(result, None) == result.best.tokens
    at, rows = lens.fork(result, tokens), lens.rows(result, tokens)
    assert at is not None and set(rows) == {0, 1}, "the hypothesis has been in both rows of the state"
    a, b = (lens.weights(result, each) for each in (tokens, result.best.tokens))
    torch.testing.assert_close(a[: at + 2], b[: at + 2])
    assert float((a[at + 2] - b[at + 2]).abs().max()) > 0.1 and lens.behind(result, tokens) == at + 2
    both = min(len(a), len(b))
    assert lens.apart(result, tokens) == pytest.approx(float((a[:both] - b[:both]).abs().max()))
    assert lens.apart(result, tokens) > 0.9 and lens.apart(result, result.best.tokens) == 0
    assert lens.fork(result, result.best.tokens) is None and lens.behind(result, result.best.tokens) is None
    cut = next(n for n, state in enumerate(result.tree.state) if state == "pruned")
    place = result.tree.place[cut], result.tree.depth[cut]
    assert lens.chosen(result, place) == result.tree.text[cut]


@pytest.mark.parametrize("width", [1, 2, 5, 8])
def test_a_packed_tree_has_no_crossing_and_no_two_nodes_on_one_another(width: int) -> None:
    model, source = load("fixed-spanish"), found("Short wins").source.ids
    result = grown(beam_trace(model, source[None], 30, width, model.eos), pruned=2)
    pack(result)
    nodes = sorted(range(len(result.place)), key=lambda n: (result.depth[n], result.place[n]))
    assert len({(result.depth[n], result.place[n]) for n in nodes}) == len(nodes)
    assert max(result.place) + 1 == max(map(result.depth.count, result.depth))
    for m, n in pairwise(nodes[1:]):
        if result.depth[m] == result.depth[n]:
            assert result.place[result.parent[m]] <= result.place[result.parent[n]]


def test_scenes_say_what_is_seen() -> None:
    beam, greedy = found("Beam of 2"), found("Greedy")
    leads = [lens.log_probs(beam, beam.best.tokens)[5], lens.log_probs(greedy, greedy.best.tokens)[5]]
    assert words("Beam of 2").split()[4:6] == ["un", "gato"] and words("Greedy").split()[4:6] == [
        "un",
        "perro",
    ]
    assert leads[0] < leads[1] and beam.best.log_prob > greedy.best.log_prob == beam.greedy.log_prob
    assert lens.judged(beam, beam.gold) == lens.SAME and lens.judged(greedy, greedy.gold) == lens.LIKELIER

    book = found("Likelier, yet wrong")
    assert book.greedy.tokens == book.gold.tokens and book.best.log_prob > book.gold.log_prob
    nouns = [words("Likelier, yet wrong").split().index(noun) for noun in ("mesa", "libro")]
    gold = [book.read(book.gold.tokens).split().index(noun) for noun in ("libro", "mesa")]
    assert nouns == gold == sorted(gold)

    worse = found("Wider is worse")
    assert worse.best.log_prob < worse.greedy.log_prob < 0
    kept = [
        worse.greedy.tokens[:t] in [worse.tree.text[n] for n, s in enumerate(worse.tree.state) if s == "kept"]
        for t in range(1, len(worse.greedy.tokens))
    ]
    assert kept[0] and not kept[-1], "the beginning that greedy follows leaves the beam"
    assert found("Wider is worse", width=3).best.tokens == worse.greedy.tokens

    short, mean = found("Short wins"), found("Mean per word")
    clauses = [
        1 + sum(word in CONJUNCTIONS.values() for word in words(s).split())
        for s in ("Short wins", "Mean per word")
    ]
    assert clauses == [3, 4] == [3, 1 + sum(word in CONJUNCTIONS for word in short.source.names)]
    assert short.best.log_prob > mean.best.log_prob and short.best.tokens in [h.tokens for h in mean.pool[1:]]
    assert len(short.best.tokens) < len(mean.best.tokens)

    line = found("A line")
    assert min(np.diff([0.0, *lens.log_probs(line, line.best.tokens)])) > np.log(0.99)
    assert line.best.tokens == line.greedy.tokens == line.gold.tokens

    long = found("Too long")
    assert long.gold.log_prob < long.best.log_prob - 20 and "Model error" in lens.error(long)
    trained = experiments.find("attention-spanish").card["data"]["clauses"]
    assert 1 + sum(word in CONJUNCTIONS for word in long.source.names) == 6 > trained


def test_what_is_found_is_judged_by_gold() -> None:
    result = found("Wider is worse")
    assert lens.judged(result, result.gold) == lens.LIKELIER and "Search error" in lens.error(result)
    assert lens.fits(experiments.find("fixed-spanish")) and not lens.fits(experiments.find("gru-mnist1d"))
    strange = lens.search(
        load("fixed-spanish"), experiments.find("fixed-spanish").card, "The cat have dog.", 2, 0.0, 0
    )
    assert strange.gold is None and "not known" in lens.error(strange)
    names = [each["name"] for each in figures.pool(strange, 0.0, 0)["data"]]
    assert "gold" not in names and "greedy" in names
    assert "is not known" in prose(opened(text="The cat have dog."))


def test_the_page_shows_these_numbers() -> None:
    page, result = opened(scene="1"), found("Beam of 2")
    bar, tokens = film(page), result.best.tokens
    sums = [0.0, *lens.log_probs(result, tokens)]
    assert bar["count"] == len(result.trace) == len(tokens)
    for t, tex in enumerate(bar["equations"]):
        shown = [sums[t], sums[t + 1] - sums[t], sums[t + 1]]
        first = 0 if t + 1 == len(tokens) else 1  # at the end the score follows, and the line is shorter
        assert spoken(tex)[first : first + 3] == pytest.approx(shown, abs=1e-3)
    assert spoken(bar["equations"][-1])[-1] == pytest.approx(result.best.score, abs=1e-3)
    assert "Row 2 of 2 of the state writes “pequeño”" in bar["captions"][6]
    header, arrays = figure(page, "node")
    kept = next(i for i, t in enumerate(header["figure"]["data"]) if t.get("name") == "kept")
    assert np.isfinite(arrays[f"data.{kept}.y"]).sum(1).tolist() == [2 * (t + 1) for t in range(len(tokens))]
    _, arrays = figure(page, "pool")
    last = next(v for k, v in arrays.items() if v.shape[1] == len(result.pool))
    assert np.isnan(last[:-1]).all() and last[-1] == pytest.approx([h.log_prob for h in result.pool])


def test_the_page_shows_weights_of_the_chosen_hypothesis() -> None:
    page, result = opened(scene="8"), found("γ at a fork")
    _, arrays = figure(page, "weights")
    gamma = lens.weights(result, result.pool[1].tokens)
    n = len(gamma)
    np.testing.assert_allclose(arrays["data.0.z"][-1], gamma, atol=1e-5)
    assert np.isnan(arrays["data.0.z"][3][4:]).all() and np.isfinite(arrays["data.0.z"][3][:4]).all()
    circles = arrays["data.1.y"]
    assert (
        np.isfinite(circles).sum(1).tolist() == [max(0, t - 5) for t in range(len(result.trace))] and n < 22
    )
    alone = opened(scene="9")
    assert "Model error" in prose(alone)


def test_the_line_of_the_best_score_is_its_contour() -> None:
    """Whatever lies on it has the best score; what lies below has less."""
    now, result = SCENES["Mean per word"], found("Mean per word")
    tree = figures.pool(result, now.alpha, now.k)
    line = next(each for each in tree["data"] if each["name"] == "best score")
    y = np.interp([len(h.tokens) for h in result.pool], line["x"], line["y"].values[-1])
    for h, edge in zip(result.pool, y, strict=True):
        assert (h.log_prob <= edge + 1e-3) and (h.score == result.best.score) == (
            abs(h.log_prob - edge) < 1e-3
        )
    best = beam_search(load(now.model), result.source.ids[None], 56, 2, 1, 1.0)[0]
    assert best.tokens == result.best.tokens and best.score == pytest.approx(best.log_prob / len(best.tokens))


def test_labels_of_a_tree_fit_into_their_columns() -> None:
    result = found("Beam of 2")
    size, small, large = beam_trees.lettering(
        ["word"] * len(result.tree.place), result.tree.place, result.tree.depth
    )
    tight, _, _ = beam_trees.lettering(
        ["a long label"] * len(result.tree.place), result.tree.place, result.tree.depth
    )
    assert 9 <= tight < size and small < large < size
