"""The page From lookup to attention: mixtures by hand, the polygon, linearity, scenes, own input."""

import math

import numpy as np
import pytest
from opening import open_page, run_page

from lab.errors import UserError
from pages.transformer.lookup import figures, lens
from pages.transformer.lookup.room import ANGLES, FACTORS, LINEAR, ROOM, SHARP, SHARPNESS, TABLE, TURN, State


def mixed(now: State) -> lens.Mix:
    typed = (lens.points(text) for text in (now.keys, now.values))
    return lens.mixed(now.view, now.kind, now.sharp, now.n, now.own, *typed, now.q)


def inside(corners: np.ndarray, y: np.ndarray) -> bool:
    """Whether y lies within a polygon whose corners go round counter-clockwise."""
    edges = np.diff(corners, axis=0)
    to = y - corners[:-1]
    return bool((edges[:, 0] * to[:, 1] - edges[:, 1] * to[:, 0] >= -1e-9).all())


@pytest.mark.parametrize(
    "now", [State(), State(view=TURN), State(own=True), State(view=TURN, n=8, sharp=16.0)]
)
def test_softmax_mixes_within_the_polygon(now: State) -> None:
    one = mixed(now)
    for q, a, y, of in zip(one.queries, one.weights, one.y, one.sharp, strict=True):
        e = [math.exp(of * float(q @ key)) for key in one.keys]
        np.testing.assert_allclose(a, np.array(e) / sum(e), rtol=1e-12)
        np.testing.assert_allclose(y, sum(w * v for w, v in zip(a, one.values, strict=True)), atol=1e-12)
        assert inside(lens.hull(one.values), y)


def test_linear_lookup_is_linear_and_leaves_the_polygon() -> None:
    one = mixed(State(view=TURN, kind=LINEAR))
    np.testing.assert_allclose(one.weights, one.queries @ one.keys.T)
    i, j, back = ANGLES.index(0), ANGLES.index(90), ANGLES.index(180)
    at = ANGLES.index(30)
    c, s = math.cos(math.pi / 6), math.sin(math.pi / 6)
    np.testing.assert_allclose(one.y[at], c * one.y[i] + s * one.y[j])
    np.testing.assert_allclose(one.y[back], -one.y[i], atol=1e-12)
    assert not any(inside(lens.hull(one.values), y) for y in one.y)
    assert (one.weights < 0).any(1).all()


def test_printed_table() -> None:  # TF-O2
    one = lens.table(lens.numbers("0 0 1 0 0"), lens.numbers("1 2 3 4 5"))
    f = FACTORS.index(1.0)
    assert one.y_linear[f] == 3 and one.soft[f, 2] == pytest.approx(0.404610, abs=1e-6)
    assert lens.entropy(one.soft[f]) == pytest.approx(1.500223, abs=1e-6)
    assert one.soft[FACTORS.index(10.0), 2] == pytest.approx(0.999818, abs=1e-6)
    assert "0.9998" in lens.table_captions(one)[-1]
    two = lens.table(lens.numbers("0 0 1 0 2"), lens.numbers("1 2 3 4 5"))
    assert two.y_linear[f] == 13 and 1 < two.y_soft[f] < 5
    assert r"1 \cdot 3 + 2 \cdot 5 = 13" in lens.table_equations(two)[f]


def test_scenes_say_what_is_so() -> None:
    now = {name: scene.state for name, scene in ROOM.scenes.items()}

    def weights(name: str) -> np.ndarray:
        return mixed(now[name]).weights[SHARP.index(now[name].lam)]  # type: ignore[no-any-return]

    assert weights("Two keys")[:2].sum() > 0.8 and weights("Two keys")[:2].min() > 0.3
    assert abs(weights("Soft") - 1 / 5).max() < 0.06
    assert weights("Hard").max() > 0.995
    np.testing.assert_allclose(weights("A tie"), [0.5, 0.5, 0, 0], atol=1e-12)
    tie = mixed(now["A tie"]).weights
    assert (tie[:, 0] == pytest.approx(tie[:, 1])) and now["A tie"].view == SHARPNESS
    turning = mixed(now["Query turns"]).weights
    assert {int(row.argmax()) for row in turning} == set(range(5))
    assert now["Ten times"].factor == 10.0


def test_figures_go_with_the_film() -> None:
    one = mixed(State())
    tree = figures.values(one)
    x = next(t["x"].values for t in tree["data"] if hasattr(t["x"], "values"))
    assert x[:, 0].tolist() == pytest.approx(one.y[:, 0].tolist())
    assert len(lens.captions(one)) == len(lens.equations(one)) == len(one.y) == len(SHARP)
    places = next(t for t in figures.keys(one, True)["data"] if t.get("name") == "click")
    assert 0.7 in np.round(places["x"], 9) and len(places["x"]) == 61


def test_polygon_of_points_on_a_line_and_of_two() -> None:
    for values in ([[0, 0], [1, 1], [0.5, 0.5]], [[0, 1], [1, 0]], [[1, 1], [1, 1]]):
        corners = lens.hull(np.array(values, float))
        assert len(corners) == 3 and (corners[0] == corners[-1]).all()


def test_own_input_and_bad_input() -> None:
    for text, words in (("1 0", "two to eight points"), ("1 0; x", "two to eight"), ("9 9; 1 0", "1.5")):
        with pytest.raises(UserError, match=words):
            lens.points(text)
    for text in ("1", "a b", "1 2 3 4 5 6 7 8 9", "99 1"):
        with pytest.raises(UserError, match="two to eight numbers"):
            lens.numbers(text)
    with pytest.raises(UserError, match="3 keys and 2 values"):
        mixed(State(own=True, keys="1 0; 0 1; 1 1", values="1 0; 0 1"))
    with pytest.raises(UserError, match="3 entries"):
        lens.table(lens.numbers("1 0 0"), lens.numbers("1 2"))
    page = run_page("transformer/lookup", own=True, keys="1 0; x")
    said = " ".join(each.value for each in [*page.warning, *page.error, *page.info])
    assert not page.exception and "two to eight points" in said
    assert open_page("transformer/lookup", q="0.7,0.7")
    assert open_page("transformer/lookup", view=TABLE, row="1 0", column="2 -3")
    assert open_page("transformer/lookup", own=True)
