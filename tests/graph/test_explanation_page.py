"""The page Why this answer: masks by another road, what its scenes say, bad input."""

from dataclasses import asdict
from functools import cache

import pytest
import torch
from opening import film, open_page, run_page

from lab import experiments, weights
from lab.errors import UserError
from modules.graph import explainer
from pages.graph.explanation import figures, lens, words
from pages.graph.explanation.room import (
    GRADIENT,
    KARATE,
    KEEP,
    MASK,
    MEAN,
    NODES,
    OWN,
    ROOM,
    STEPS,
    SUM,
    WAYS,
)  # fmt: skip

NAME = "graph/explanation"


@cache
def explained(model: str = MEAN, which: int = 3, drawn: str = "", size: float = 0.5) -> lens.Found:
    experiment = experiments.find(model)
    assert experiment.weights is not None and experiment.card is not None
    return lens.explained(weights.load(experiment.weights), experiment.card, which, lens.own(drawn), size, 0)


def scene(name: str) -> lens.Found:
    state = asdict(ROOM.scenes[name].state)
    return explained(*(state[key] for key in ("model", "which", "drawn", "size")))


def test_what_the_scenes_say() -> None:
    house = scene("House")
    middle = house.masks[STEPS.index(40)]
    assert house.case.classes[house.found.target] == "house" and house.auc(middle) == 1
    assert (
        min(house.kept[MASK][0], house.kept[MASK][6]) > 0.97
        and house.rest[MASK][6] < 0.5
        and house.truth is not None
    )
    best = house.order[GRADIENT][:6]
    assert not house.truth[best].all() and house.kept[GRADIENT][6] < house.kept[MASK][6] - 0.05
    small = scene("Small penalty")
    assert small.masks[-1].mean() > 0.5 > 0.1 > house.masks[-1].mean()
    missed = scene("Missed motif")
    assert round(missed.auc(missed.masks[-1]) or 0, 2) == 0.11
    assert missed.truth is not None and missed.truth[missed.order[GRADIENT][:6]].all()
    below = scene("Below chance")
    assert below.case.classes[below.found.target] == "house" and below.p[below.found.target] > 0.99
    assert round(below.auc(below.masks[-1]) or 0, 2) == 0.06 and below.planted < 0.005 < 0.99 < house.planted
    assert below.found.probability.max() < 0.005
    node = scene("A node")
    assert node.truth is not None
    thick = node.masks[-1] > 0.2
    assert int(thick[node.truth].sum()) == 5 and int(thick[~node.truth].sum()) == 2
    assert (node.auc(node.masks[-1]) or 0) > 0.9 and node.case.node == 294
    karate = scene("Karate club")
    given = karate.kept[MASK][0], karate.kept[MASK][6], karate.rest[MASK][6]
    assert karate.truth is None and min(given) > 0.85
    mine = scene("Own graph")
    assert len(mine.case.x) == 12 and mine.case.label is None and (mine.auc(mine.masks[-1]) or 0) > 0.5


def test_the_best_edges_are_kept_one_by_one() -> None:
    one = explained()
    model = weights.load(MEAN)
    for way in WAYS:
        for k in (0, 6, len(one.pairs)):
            chosen = one.pairs[one.order[way][:k]]
            edges = one.case.edge_index[:, chosen]
            both = torch.cat([edges, edges.flip(0)], 1)
            p = explainer.logits(model, one.case.x, both).softmax(0)[one.found.target]
            assert one.kept[way][k].item() == pytest.approx(p.item(), abs=1e-5)
        assert one.kept[way][-1].item() == pytest.approx(float(one.p[one.found.target]), abs=1e-5)
        assert one.rest[way][0].item() == pytest.approx(float(one.p[one.found.target]), abs=1e-5)
        assert figures.best(one, way).astype(bool).sum(1).tolist() == list(range(len(one.kept[way])))


def test_captions_and_equations_have_every_frame() -> None:
    one = explained()
    said, shown = words.fit_captions(one), words.fit_equations(one, 0.5)
    assert len(said) == len(shown) == len(STEPS) and "AUC 1.00" in said[20]
    value = float(one.found.loss[40])
    assert f"{value:.2f}" in shown[20]
    kept = words.keep_captions(one, MASK)
    assert len(kept) == len(one.kept[MASK]) and "6 of them were planted, of 6" in kept[6]
    assert f"{one.planted:.2f}." in words.notice(one)
    assert "rightly" in words.notice(one) and "AUC" not in words.notice(explained(KARATE, 8, "", 0.1))


def test_a_field_is_drawn_alone() -> None:
    one = explained(NODES, 294)
    tree = figures.graph(one, one.masks, MASK)
    assert len(tree["data"]) == len(one.pairs) + 2 and len(one.pairs) < one.case.edge_index.shape[1] / 4
    empty = explained(MEAN, 0, "0-1")
    assert empty.truth is None and len(figures.graph(empty, empty.masks, MASK)["data"]) == 2


def test_what_is_offered() -> None:
    offered = {
        name for name, one in experiments.catalog().items() if one.family == "graph" and lens.fits(one)
    }
    assert {MEAN, SUM, NODES, KARATE, "gin-mutag"} <= offered and "gcn-cora" not in offered


@pytest.mark.parametrize(
    ("text", "sentence"), [("0", "no edge"), ("0-x", "no edge"), ("0-99", "no node"), ("🙂", "no edge")]
)
def test_bad_input_is_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        lens.own(text)
    assert lens.own("  ") is None and lens.own(OWN) is not None


def test_the_page_shows_its_numbers() -> None:
    bar = film(open_page(NAME), "step")
    assert bar["count"] == len(STEPS) and bar["captions"] == words.fit_captions(explained())
    page = run_page(NAME, view=KEEP, drawn="0-0")
    assert not page.exception


@pytest.mark.real_data
def test_molecules_have_a_mask_of_atoms(real_data, monkeypatch) -> None:
    monkeypatch.setenv("LECTERN_DATA", str(real_data("MUTAG")))
    one = explained("gin-mutag", 0)
    assert one.truth is None and one.found.features.shape == (101, 7) and one.case.marks.count("C") > 9
    assert "Br" in str(figures.features(one))
