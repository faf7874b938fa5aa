"""The page Linear attention: matrix and state, errors, costs and Gram matrices computed by another road."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from opening import open_page, run_page

from lab.errors import UserError
from pages.transformer.linear_attention import compared, figures, gram, lens
from pages.transformer.linear_attention.room import COUNTS, ELU, FEATURES, LENGTHS, ROOM

SEEDS = (0, 1, 2)


@pytest.mark.parametrize("features", FEATURES)
def test_state_and_matrix_are_two_forms_of_one_sum(features: str) -> None:
    one = lens.walk(features, 7, 3)
    torch.testing.assert_close(one.weights @ one.v, one.y, atol=1e-13, rtol=0)
    for t in range(7):
        by_state = one.phi[t] @ one.S[t] / (one.phi[t] @ one.z[t])
        torch.testing.assert_close(by_state, one.y[t])
    assert not one.weights.triu(1).any()
    torch.testing.assert_close(one.weights.sum(1), torch.ones(7, dtype=torch.float64))
    if features == ELU:
        q, k, v = torch.randn(3, 7, lens.D, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
        a = ((F.elu(q) + 1) @ (F.elu(k) + 1).T).tril()
        torch.testing.assert_close(one.y, a / a.sum(1, keepdim=True) @ v)
        torch.testing.assert_close(one.S[-1], (F.elu(k) + 1).T @ v)


def test_the_worked_example() -> None:
    one = lens.example((0, 1, -1), (1, 2, 3))
    assert one.y.flatten().tolist() == pytest.approx([1, 1.666667, 1.812309], abs=1e-6)
    assert lens.other_softmax(one).flatten().tolist() == pytest.approx([1, 1.731059, 2.420512], abs=1e-6)
    assert one.z[:, 0].tolist() == pytest.approx([1, 3, 3.367879], abs=1e-6)
    assert "= 1.812" in lens.walk_equations(one)[2] and len(lens.example((1, 2, 3), (1,)).y) == 1


def test_own_numbers() -> None:
    assert lens.read_numbers("0, −1;2.5") == (0, -1, 2.5)
    for text, words in (
        ("0 x", "“x” is no number"),
        ("", "one to sixteen"),
        ("99", "between"),
        ("nan", "betw"),
    ):
        with pytest.raises(UserError, match=words):
            lens.read_numbers(text)
    page = run_page("transformer/linear_attention", view="Own numbers", keys="0 x")
    said = " ".join(each.value for each in [*page.warning, *page.error, *page.info])
    assert not page.exception and "is no number" in said
    assert open_page("transformer/linear_attention", view="Own numbers", keys="0 1 -1 2", values="1 2 3 4")


@pytest.mark.parametrize("seed", SEEDS)
def test_errors_are_as_the_scenes_say(seed: int) -> None:
    """The mean errors are over the same problems for every seed of the page; the scatter has its own."""
    few, many = compared.errors(4, seed), compared.errors(16, seed)
    for name in ("positive", "hyperbolic"):
        assert few.lines[name][-1] < 0.6 * few.lines[name][0]
    assert few.lines["elu + 1"][0] > few.lines["positive"][1]
    middle = COUNTS.index(256)
    assert many.lines["positive"][middle] > many.lines["mean of all values"][0] > many.lines["positive"][-1]
    assert few.found.shape == (len(COUNTS), compared.PAIRS**2)
    rows = few.found.reshape(len(COUNTS), compared.PAIRS, compared.PAIRS).sum(2)
    assert np.allclose(rows, 1) and (few.found > 0).all()
    assert np.allclose(few.exact.reshape(compared.PAIRS, -1).sum(1), 1)


def test_costs_have_the_slopes_that_the_scene_says() -> None:
    one = compared.cost()
    assert one.slope("linear") == pytest.approx(1, abs=0.01)
    assert one.slope("all pairs") == pytest.approx(2, abs=0.15)  # the projections are linear
    assert one.slope("all pairs", largest=True) == pytest.approx(2, abs=1e-9)
    # projections 4 · 16² and both products n · 16 for each token
    assert one.adds["all pairs"] == [n * (4 * 16**2 + 2 * n * 16) for n in LENGTHS]
    assert one.largest["all pairs"] == [n * n for n in LENGTHS]
    assert len(compared.cost_captions(one)) == len(LENGTHS)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_printed_exponent_leaves_a_bias(seed: int) -> None:
    one = gram.gram("Positive", 0.5, True, seed)
    points = gram.moons().numpy()
    for i, j in ((0, 1), (3, 30), (39, 5)):
        gap = points[i] - points[j]
        assert one.exact[i, j] == pytest.approx(np.exp(-0.5 * gap @ gap))
    right, wrong, limit = one.lines["positive"], one.lines["exponent γ"], one.lines["its limit"]
    assert right[-1] < 0.5 * limit[0] and wrong[-1] == pytest.approx(limit[0], rel=0.1)
    assert one.lines["trigonometric"][-1] < right[-1] < right[0]
    assert np.abs(one.found[-1] - one.exact).mean() == pytest.approx(wrong[-1])
    good = gram.gram("Positive", 0.5, False, seed)
    assert np.abs(good.found[-1] - good.exact).mean() == pytest.approx(right[-1])
    assert r"\neq" in gram.gram_equations(0.5, True)[0] and "2\\gamma" in gram.gram_equations(0.5, False)[0]


def test_figures_have_a_frame_for_each_place() -> None:
    one = lens.walk(ELU, 5, 0)
    z = figures.weights(one)["data"][0]["z"].values
    assert len(z) == 5 and not z[2][3:].any() and np.allclose(z[4], one.weights)
    state = figures.states(one)["data"][0]["z"].values
    assert np.allclose(state[3][:, -1], one.z[3]) and np.allclose(state[3][:, :-1], one.S[3])
    grams = gram.gram("Trigonometric", 1.0, True, 0)
    z = figures.grams(grams)["data"][0]["z"].values
    N = len(grams.exact)
    assert len(z) == len(COUNTS) and np.allclose(z[1][:N], grams.exact)
    assert np.allclose(z[1][-N:], grams.found[1])


@pytest.mark.parametrize("name", ROOM.scenes)
def test_scenes_open(name: str) -> None:
    assert open_page("transformer/linear_attention", scene=list(ROOM.scenes).index(name) + 1)
