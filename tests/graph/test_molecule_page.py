"""The page Molecule: molecules in words, contributions that add up to the logit, what the scenes say."""

from functools import cache
from typing import Any

import pytest
import torch
from opening import film, open_page, run_page

from lab import experiments, weights
from lab.errors import UserError
from lab.figures.moving import at
from pages.graph.molecule import figures, learning, lens, reading, training, words
from pages.graph.molecule.room import (
    ALONE,
    BAG,
    BUTYL_ETHER,
    DECALIN,
    EPOCHS,
    ETHANOL,
    ETHER,
    GCN,
    GIN,
    ISOMERS,
    LEARNERS,
    MEANS,
    MOLECULES,
    OCTANOL,
    ROOM,
    SUMS,
)

NAME = "graph/molecule"


@cache
def network(name: str) -> tuple[Any, Any]:
    experiment = experiments.find(name)
    assert experiment.weights is not None and experiment.card is not None
    return weights.load(experiment.weights), experiment.card


def networks() -> dict[str, Any]:
    """The three as a computation gets them."""
    found: dict[str, Any] = {}
    for key, name in (("gcn", GCN), ("gin", GIN), ("bag", BAG)):
        found[key], found[f"{key}_card"] = network(name)
    return found


@pytest.mark.parametrize(
    ("text", "symbols", "bonds"),
    [
        ("CCO", "CCO", [(0, 1), (1, 2)]), ("C(O)(N)F", "CONF", [(0, 1), (0, 2), (0, 3)]),
        ("c1ccccc1", "CCCCCC", [(0, 1), (0, 5), (1, 2), (2, 3), (3, 4), (4, 5)]),
        ("C[N+](=O)[O-]", "CNOO", [(0, 1), (1, 2), (1, 3)]), ("C.O", "CO", []),
        ("C0 O1 0-1", "CO", [(0, 1)]), ("C%10CC%10", "CCC", [(0, 1), (0, 2), (1, 2)]),
    ],
)  # fmt: skip
def test_molecules_in_words(text: str, symbols: str, bonds: list[tuple[int, int]]) -> None:
    one = reading.parse(text)
    assert "".join(one.symbols) == symbols and list(one.bonds) == bonds
    assert reading.parse(reading.written(one)) == one


def test_presets_are_the_molecules_that_they_are_named_after() -> None:
    counted = {name: words.formula(reading.parse(text)) for name, text in MOLECULES.items()}
    assert counted["1-Nitropyrene"] == "C₁₆NO₂" and counted["Nitrobenzene"] == "C₆NO₂"
    assert counted["Ethanol"] == counted["Dimethyl ether"] == "C₂O" and counted["1-Propanol"] == "C₃O"
    assert counted["Decalin"] == "C₁₀" and len(reading.parse(DECALIN).bonds) == 11
    assert len(reading.parse(MOLECULES["1-Nitropyrene"]).bonds) == 22


def test_edits_by_click() -> None:
    one = reading.parse("CCO")
    assert reading.grown(one, 2, "N") == reading.parse("C0 C1 O2 N3 0-1 1-2 2-3")
    assert reading.changed(one, 0, "Cl") == reading.parse("ClCO")
    assert reading.removed(one, 1) == reading.parse("C.O")
    assert reading.removed(reading.parse("C"), 0) == reading.parse("C")
    p = figures.places(one)
    assert [figures.atom_at(one, *spot) for spot in p] == [0, 1, 2]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("", "no atom"), ("🙂", "no sign"), ("CX", "no element"), ("C1CC", "does not close"), ("C(C", "not end"),
     ("C)C", "did not begin"), ("C0 0-1", "no atom 1"), ("C0 0-0", "itself"), ("C" * 41, "41 atoms"),
     ("1CC", "before any atom"), ("C0 x 0-1", "neither")],
)  # fmt: skip
def test_bad_input_is_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        reading.parse(text)


@pytest.mark.parametrize("name", [GCN, GIN, BAG])
@pytest.mark.parametrize("text", ["C", ETHANOL, MOLECULES["1-Nitropyrene"]])
def test_contributions_add_up_to_the_logit(name: str, text: str) -> None:
    model, card = network(name)
    one = reading.parse(text)
    found = lens.answer(model, card, one)
    assert found.bias + float(found.parts.sum()) == pytest.approx(found.logit, abs=1e-9)
    edges = one.edge_index if name != BAG else one.edge_index[:, :0]
    with torch.no_grad():
        expected = model(lens.features(one), edges).softmax(1)[0, 1]
    assert found.p == pytest.approx(float(expected), abs=1e-5)
    assert found.mean == (name != GIN)
    atoms = lens.Atoms(one, "", found)
    assert len(words.atom_captions(atoms)) == len(words.atom_equations(atoms)) == len(one.symbols) + 1
    assert f"{found.logit:.3f}" in words.atom_equations(atoms)[0]
    bars = at(figures.waterfall(atoms), len(one.symbols)).data
    assert bars[0].base[-1] + bars[0].y[-1] == pytest.approx(found.logit) == bars[1].y[0]


def test_isomers_and_twins() -> None:
    for name, apart in (("Isomers", {GCN, GIN}), ("Nitronaphthalenes", {GCN, GIN}), ("Twins", set())):
        state = ROOM.scenes[name].state
        first, second = reading.parse(state.molecule), reading.parse(state.other)
        one = lens.pair(**networks(), molecule=first, other=second, test=False, which=0)
        assert one.isomers and first != second
        assert {net for net, (p, q) in one.p.items() if abs(p - q) > 1e-9} == apart
        told = words.pair_caption(one).partition("by: ")[2]
        assert told == ("GCN, GIN." if apart else "nobody.")
    pair = lens.pair(
        **networks(), molecule=reading.parse(ETHANOL), other=reading.parse("CO"), test=False, which=0
    )
    assert not pair.isomers and abs(pair.p[BAG][0] - pair.p[BAG][1]) > 1e-6


def test_every_bond_is_cut_alone() -> None:
    one = reading.parse(MOLECULES["Nitrobenzene"])
    found = lens.cuts(**networks(), molecule=one, test=False, which=0)
    assert max(found.p[BAG]) == min(found.p[BAG]) and len(found.p[GCN]) == len(one.bonds) + 1
    model, card = network(GIN)
    for b in (0, 4):
        rest = [pair for k, pair in enumerate(one.bonds) if k != b]
        alone = reading.Molecule(one.symbols, tuple(rest))
        assert found.p[GIN][b + 1] == pytest.approx(lens.answer(model, card, alone).p, abs=1e-9)
        assert abs(found.p[GIN][b + 1] - found.p[GIN][0]) > 1e-6
    assert len(words.cut_captions(found)) == len(words.cut_equations(found)) == len(one.bonds) + 1


def test_isomers_to_learn_from() -> None:
    every = training.isomers(20, 3)
    for alcohol, ether in zip(every[::2], every[1::2], strict=True):
        assert torch.equal(alcohol.edge_index, ether.edge_index) and (alcohol.y, ether.y) == (0, 1)
        for graph, bonds in ((alcohol, 1), (ether, 2)):
            oxygen = graph.x[:, lens.features(reading.parse("O"))[0].argmax()].nonzero()
            assert len(oxygen) == 1 and int((graph.edge_index[1] == oxygen[0]).sum()) == bonds
            assert float(graph.x.sum()) == len(graph.x)
    again = training.isomers(20, 3)
    assert all(torch.equal(a.x, b.x) for a, b in zip(every, again, strict=True))


def test_a_network_learns_ethers_epoch_by_epoch() -> None:
    first, second = reading.parse(BUTYL_ETHER), reading.parse(OCTANOL)
    for learner, seeds in ((MEANS, (0, 1)), (SUMS, (0,)), (ALONE, (0,))):
        for seed in seeds:
            one = training.epochs(learner, seed, first, second)
            assert len(one.accuracy) == len(EPOCHS) == one.p.shape[1]
            for answer in (*one.answers[0], *one.answers[1]):
                assert answer.bias + float(answer.parts.sum()) == pytest.approx(answer.logit, abs=1e-9)
            if learner == ALONE:
                assert set(one.accuracy) == {0.5} and torch.equal(one.p[0], one.p[1])
            else:
                assert one.accuracy[0] < 0.7 and one.accuracy[-1] > 0.8
                assert abs(one.p[0, 0] - one.p[1, 0]) < 0.1 and one.p[0, 12] - one.p[1, 12] > 0.3
    found = training.learned(MEANS, 0)
    fresh = training.network(MEANS, 0)
    assert all(
        torch.equal(a, b) for a, b in zip(found.models[0].parameters(), fresh.parameters(), strict=True)
    )
    assert set(LEARNERS) == {MEANS, SUMS, ALONE}


def test_the_film_of_epochs() -> None:
    one = training.epochs(MEANS, 0, reading.parse(BUTYL_ETHER), reading.parse(OCTANOL))
    end = at(learning.molecules(one), len(EPOCHS) - 1)
    assert f"{float(one.p[0, -1]):.2f}" in end.layout.annotations[0].text
    assert list(end.data[2].text) == [figures.number(float(v)) for v in one.answers[0][-1].parts]
    dots = at(learning.curves(one), 4).data[3:]
    assert [dot.y[0] for dot in dots] == pytest.approx([*one.p[:, 4].tolist(), one.accuracy[4]])
    assert f"{one.answers[0][4].logit:.3f}" in words.epoch_equations(one)[4]


def test_what_the_scenes_say() -> None:
    poster = reading.parse(MOLECULES["1-Nitropyrene"])
    model, card = network(BAG)
    parts = lens.answer(model, card, poster).parts
    carbon = parts[torch.tensor([symbol == "C" for symbol in poster.symbols])]
    assert float(carbon.max() - carbon.min()) < 1e-12
    gcn, gin = (lens.answer(*network(name), poster) for name in (GCN, GIN))
    assert float(gin.parts.abs().max()) > float(gcn.parts.abs().max())
    assert float(gcn.parts.min()) < 0 < float(gcn.parts.max())
    found, bond = (
        lens.cuts(**networks(), molecule=poster, test=False, which=0),
        ROOM.scenes["Cut a bond"].state.bond,
    )
    assert found.p[GCN][bond] < found.p[GCN][0] - 0.1 and found.p[GIN][bond] < found.p[GIN][0] - 0.1


def test_the_page_shows_its_numbers() -> None:
    bar = film(open_page(NAME), "atom")
    model, card = network(GCN)
    one = reading.parse(ROOM.state().molecule)  # type: ignore[misc]
    assert bar["captions"] == words.atom_captions(lens.Atoms(one, "", lens.answer(model, card, one)))
    bar = film(open_page(NAME, scene="Epochs"), "epoch")
    learnt = training.epochs(MEANS, 0, reading.parse(BUTYL_ETHER), reading.parse(OCTANOL))
    assert bar["captions"] == words.epoch_captions(learnt)
    assert not run_page(NAME, view=ISOMERS, molecule="C", other=ETHER).exception
    wrong = run_page(NAME, molecule="CX")
    assert not wrong.exception


@pytest.mark.real_data
def test_molecules_of_the_test_fold(real_data, monkeypatch) -> None:
    monkeypatch.setenv("LECTERN_DATA", str(real_data("MUTAG")))
    _, card = network(GIN)
    one, label = lens.chosen(reading.parse("C"), True, 0, card)
    assert one.symbols.count("C") > 9 and "N" in one.symbols and label.endswith("mutagenic")
    assert lens.last(card) == 18
