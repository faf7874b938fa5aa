"""The perplexity page: the texts' examples come out, ∞ is shown as ∞, and typed nonsense gets a sentence."""

import math
import re
from functools import partial

import pytest
import torch
from opening import captions, metrics, open_page, open_warned, scenes, table_with

from lab.errors import UserError
from lab.lenses import counts
from pages.language.perplexity import lens

opened = partial(open_page, "language/perplexity")


def test_the_worked_example_and_its_base() -> None:
    for unit, mean in (("bits", "0.7505"), ("nats", "0.5202")):
        shown = metrics(opened(unit=unit))
        assert shown[f"Ĥ, {unit} per token"] == mean and shown["Perplexity"] == "1.6824"
    numbers = [float(n) for n in re.findall(r"\d+\.\d{4}", opened().latex[0].value)]
    total, mean, power, perplexity = numbers
    assert total == pytest.approx(-math.log2(0.21), abs=1e-4) and mean == power == pytest.approx(
        total / 3, abs=1e-4
    )
    assert perplexity == pytest.approx(2**mean, abs=2e-4)


def test_a_zero_is_infinite() -> None:
    at = opened(p="0.7 0 0.6")
    assert metrics(at)["Perplexity"] == "∞" and metrics(at)["Ĥ, bits per token"] == "∞"
    assert r"\infty" in at.latex[0].value


def test_units_move_perplexity_not_bits_a_character() -> None:
    words = lens.typed("four words make this", "1/64 1/64 1/64 1/64")
    assert words.perplexity == pytest.approx(64) and words.characters == 20
    characters = lens.Scored(list("four words make this"), torch.full((20,), 2**-1.2).double(), 20)
    assert characters.perplexity == pytest.approx(2.2973967, abs=5e-8)
    assert words.bits_per_character == pytest.approx(1.2) == pytest.approx(characters.bits_per_character)


def test_the_same_text_as_words_and_as_letters() -> None:
    """Two scenes: 20 characters either way, so the same bits per character from different perplexities."""
    known = scenes(opened())
    for name, perplexity, tokens in (("As words", 64, "4"), ("As letters", 2**1.2, "20")):
        shown = metrics(opened(**known[name].values))
        assert shown["Bits per character"] == "1.2000" and shown["Tokens"] == tokens
        assert float(shown["Perplexity"]) == pytest.approx(perplexity, abs=1e-4)


def test_a_text_is_scored_as_the_model_scores_it() -> None:
    counted = counts.count("I am Sam\nSam I am", "words", 2)
    scored = lens.scored(counted, "I am Sam")
    assert scored.tokens == ["i", "am", "sam", "<eos>"] and len(scored.p) == 4
    ids = torch.tensor([[*counted.coder.encode("I am Sam"), 1]])
    assert scored.nats.sum().item() == pytest.approx(-counted.model.log_prob(ids).item())
    letters = counts.count("to be or not to be", "characters", 3)
    assert lens.scored(letters, "be or").tokens == ["b", "e", "␣", "o", "r"]
    with pytest.raises(UserError, match="no text to score"):
        lens.scored(letters, " ")


@pytest.mark.parametrize("typed", ["", "a", "0.5 1.5", "-0.1", "1/0"])
def test_typed_nonsense_gets_a_sentence(typed: str) -> None:
    with pytest.raises(UserError):
        lens.probabilities(typed)
    assert lens.probabilities("1/4, 0.5; 1").tolist() == [0.25, 0.5, 1]


def test_divergence_shows_the_measures() -> None:
    at = opened(show="Divergence")
    shown = table_with(at, "measure").set_index("measure")
    expected = {"H(P)": "1.0297", "H(P, Q)": "1.3897", "KL(P‖Q)": "0.3601", "KL(Q‖P)": "0.3948",
                "TV(P, Q)": "0.4000"}  # fmt: skip
    assert {name: shown.loc[name, "nats"] for name in expected} == expected
    entropy, kl, cross = (float(n) for n in re.findall(r"\d+\.\d{4}", at.latex[0].value))
    assert entropy + kl == pytest.approx(cross, abs=2e-4)
    at = opened(show="Divergence", p0="0.25", p1="0.25", p2="0.5", q0="0.5", q1="0.5", q2="0.0")
    shown = table_with(at, "measure").set_index("measure")
    assert shown.loc["KL(P‖Q)", "nats"] == "∞" and shown.loc["KL(Q‖P)", "bits"] == "1.0000"
    at = open_warned("language/perplexity", show="Divergence", p0="0.0", p1="0.0", p2="0.0")
    assert "All weights are 0" in at.warning[0].value


def test_curves_of_a_coin() -> None:
    curves = lens.binary(0.5)
    at = curves["q"].index(0.5)
    assert curves["KL(P‖Q)"][at] == curves["TV"][at] == 0
    assert math.isnan(curves["KL(P‖Q)"][0]) and curves["KL(Q‖P)"][0] == pytest.approx(math.log(2))
    quarter = curves["q"].index(0.25)
    assert curves["KL(P‖Q)"][quarter] == pytest.approx(0.1438410, abs=5e-8)


def test_the_triangle_holds_every_distribution() -> None:
    p = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64)
    simplex = lens.simplex(p, 10)
    assert len(simplex.q) == 66 and torch.allclose(simplex.q.sum(1), torch.ones(66).double())
    at = [tuple(round(v, 1) for v in row) for row in simplex.q.tolist()]
    assert len(set(at)) == 66
    zero = at.index((0.5, 0.3, 0.2))
    assert simplex.kl[zero].abs() < 1e-12 and (simplex.kl > 1e-3).sum() == 65  # 0 at P alone
    edge = (simplex.q == 0).any(1)
    assert torch.equal(simplex.kl.isinf(), edge) and edge.sum() == 30
    there = at.index((0.2, 0.2, 0.6))
    assert float(simplex.kl[there]) == pytest.approx(0.3600624, abs=5e-8)
    back = lens.simplex(p, 10, reverse=True)
    assert float(back.kl[there]) == pytest.approx(0.3948162, abs=5e-8) and not back.kl.isinf().any()
    for row, (x, y) in zip(simplex.q, simplex.place.tolist(), strict=True):
        assert lens.weights_at({"x": x, "y": y}, []) == pytest.approx(row.tolist(), abs=1e-4)
    assert (
        lens.weights_at({"x": "a", "y": 0}, [1.0, 0.0, 0.0]) == [1, 0, 0] == lens.weights_at(None, [1, 0, 0])
    )


def test_a_click_moves_q() -> None:
    simplex = lens.simplex(torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64))
    place = simplex.q.tolist().index([0.5, 0.0, 0.5])
    x, y = simplex.place[place].tolist()
    at = opened(show="Divergence", point=f"{x:.6g},{y:.6g}", **{"from": "the triangle"})
    shown = table_with(at, "measure").set_index("measure")
    assert shown.loc["KL(P‖Q)", "nats"] == "∞"
    q, p = torch.tensor([0.5, 0.0, 0.5]), torch.tensor([0.5, 0.3, 0.2])
    expected = (q[[0, 2]] * (q[[0, 2]] / p[[0, 2]]).log()).sum()
    assert float(shown.loc["KL(Q‖P)", "nats"]) == pytest.approx(expected.item(), abs=1e-4)
    assert "0.50, 0.00, 0.50" in captions(at)
