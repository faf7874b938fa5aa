"""The page Attention arithmetic: numbers of the worked block, what the text prints of it,
cells as sums, tokens as columns, own matrices."""

import re

import numpy as np
import pytest
from opening import open_page, run_page

from lab.errors import UserError
from lab.figures import moving
from pages.transformer.arithmetic import figures, lens, room, sums
from pages.transformer.arithmetic.printed import PRINTED, differs
from pages.transformer.arithmetic.room import BLOCK, FULL, HEAD, PADDING, ROOM, State


def run(now: State) -> lens.Run:
    typed = (lens.matrix(text) for text in (now.inputs, now.W_Q, now.W_K, now.W_V))
    return lens.run(now.view, *typed, now.heads, now.head, now.mask, now.norm, now.scaled, now.columns)


def near(found: object, wanted: object, by: float = 6e-5) -> None:
    np.testing.assert_allclose(np.array(found), np.array(wanted), atol=by, rtol=0)


def normed(x: np.ndarray) -> np.ndarray:
    return (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True)  # type: ignore[no-any-return]


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)  # type: ignore[no-any-return]


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("mask", room.MASKS)
def test_matrices_by_numpy(scaled: bool, mask: str) -> None:
    now = State(view=BLOCK, scaled=scaled, mask=mask)
    one = run(now)
    X, *weights = (lens.matrix(text).numpy() for text in (now.inputs, now.W_Q, now.W_K, now.W_V))
    N, open_ = normed(X), np.ones((3, 3), bool)
    if mask == room.CAUSAL:
        open_ = np.tril(open_)
    if mask == PADDING:
        open_[:, 2] = False
    mixed = []
    for h in (0, 1):
        Q, K, V = (N @ W[:, 2 * h : 2 * h + 2] for W in weights)
        A = softmax(np.where(open_, Q @ K.T / (2**0.5 if scaled else 1), -np.inf))
        near(one.parts[f"A{h + 1}"].values, A, 1e-12)
        assert np.allclose(A.sum(1), 1)
        mixed.append(A @ V)
    D = np.concatenate(mixed, 1)
    F = np.maximum(normed(X + D), 0)
    near(one.parts["D"].values, D, 1e-12)
    near(one.parts["Z"].values, X + D + F, 1e-12)


def test_numbers_of_the_worked_block() -> None:  # TF-O21
    one = run(State())
    near(one.parts["N"].values[2], [0.5774, 0.5774, -1.7321, 0.5774])
    near(one.parts["K1"].values, [[2, -1], [0, -1], [-1.1547, 1.7321]])
    near(one.parts["A1"].values[2], [0.0078, 0.0399, 0.9524])
    near(one.parts["A2"].values[1:], [[0.8044, 0.1956, 0], [0.6195, 0.2738, 0.1067]])
    near(one.parts["D"].values, [[0, 0, 2, -1], [0, 0, 1.6089, -1], [1.0997, -1.0997, 1.1159, -0.7086]])
    near(one.parts["L"].values, [[0.1690, -0.5071, 1.5213, -1.1832], [-0.4894, 0.2610, 1.4682, -1.2397],
                                 [1.4793, -1.1280, 0.3130, -0.6644]])  # fmt: skip
    near(one.parts["Z"].values, [[1.1690, 0, 4.5213, -1], [0, 1.2610, 4.0770, -1],
                                 [3.5790, -0.0997, 1.4289, 0.2914]], 1e-4)  # fmt: skip
    near(run(State(norm="post")).parts["Z"].values,
         [[0.0941, -0.8466, 1.5992, -0.8466], [-0.9661, 0.6010, 1.3312, -0.9661],
          [0.9103, -0.5220, -1.3823, 0.9941]])  # fmt: skip
    one = run(State(scaled=False))
    near(one.parts["A1"].values[2], [0.0011, 0.0111, 0.9878])
    near(one.parts["A2"].values[2], [0.7152, 0.2254, 0.0594])


def test_key_that_was_used() -> None:  # TF-E1: the printed head 1 follows from another W_K, unscaled
    now = State(W_K=room.K_AS_USED, scaled=False)
    one = run(now)
    near(one.parts["K1"].values, [[2, -1], [0, 1], [-1.1547, -0.5774]])
    near(one.parts["A1"].values[2], [0.0061, 0.6159, 0.3780])
    near(one.parts["C1"].values[2], [0.4365, -0.4365])
    assert all(sums.marks(one, key).max() < 2 for key in ("N", "Q1", "K1", "V1", "M1", "A1", "C1"))
    one = run(State(W_K=room.K_AS_USED))
    near(one.parts["A1"].values[2], [0.0219, 0.5726, 0.4055])
    near(one.parts["C1"].values[2], [0.4682, -0.4682])


def test_what_is_printed_otherwise() -> None:
    one = run(State(scaled=False))
    # TF-E2: S22 is −4, S32 is 0; the other four are right unscaled
    assert one.parts["M2"].values[1, 1] == pytest.approx(-4) and abs(one.parts["M2"].values[2, 1]) < 1e-12
    assert run(State()).parts["M2"].values[1, 1] == pytest.approx(-2.8284, abs=1e-4)
    assert sums.marks(one, "M2").tolist() == [[0, 0, 0], [0, 2, 0], [0, 2, 0]]
    A, V = (np.array(v, float) for v in (PRINTED["A2"], one.parts["V2"].values))
    near((A @ V)[1], [0.24, -1], 0.005)  # of the printed weights; C prints (.24, −.12)
    # TF-E3: the second norm is not that of the printed matrix
    near(normed(np.array(PRINTED["Y"], float)),
         [[0.169, -0.507, 1.521, -1.183], [-0.887, 0.787, 1.188, -1.088], [0.828, -0.690, 1.121, -1.259]],
         1e-3)  # fmt: skip
    assert sums.marks(run(State(view=BLOCK)), "L").tolist()[2] == [2, 2, 2, 2]
    # TF-E4: token 3 attends to itself in head 1, to token 1 in head 2
    for scaled in (True, False):
        one = run(State(scaled=scaled))
        assert (lens.attended(one, 1), lens.attended(one, 2)) == (3, 1)
    assert sums.counted(run(State(scaled=False, printed=True)))[2] == 8
    assert sums.counted(run(ROOM.scenes["With another key"].state))[2] == 0


def test_marks_are_of_digits() -> None:
    assert [differs(*pair) for pair in (("0.61", 0.612), ("0.61", 0.6159), ("0.61", 0.7), ("2", 2.0))] == [
        0, 1, 2, 0,
    ]  # fmt: skip
    assert differs("−∞", float("-inf")) == 0 and differs("0", float("-inf")) == 2 == differs("−∞", 0.0)
    one = run(State(scaled=False))
    kinds = {kind: figures.flags(one, figures.placed(one), kind, len(one.film)) for kind in (1, 2)}
    _, rounded, wrong = sums.counted(one)
    assert len(kinds[1]["x"]) == rounded and len(kinds[2]["x"]) == wrong
    assert np.isfinite(kinds[2]["y"].values[-1]).all() and np.isnan(kinds[2]["y"].values[0]).all()


def value_of(tex: str) -> float:
    """The middle of an equation, computed."""
    text = tex.split(" = ")[1].replace(r"\cdot", "*").replace(r"\infty", "1e999")
    text = re.sub(r"\\mathrm\{ReLU\}(\(.*\))", r"max(0, float(\1))", text)
    text = re.sub(r"\\sqrt\{(\d+)\}", r"(\1 ** 0.5)", text)
    text = re.sub(r"e\^\{([^}]*)\}", r"(2.718281828459045 ** (\1))", text)
    if text.startswith(r"\frac{"):
        top, bottom = text.removeprefix(r"\frac{").rsplit("}{", 1)
        text = f"({top}) / ({bottom.removesuffix('}')})"
    return float(eval(text))


@pytest.mark.parametrize("view", room.VIEWS)
@pytest.mark.parametrize("norm", room.NORMS)
def test_a_cell_is_the_sum_that_its_equation_says(view: str, norm: str) -> None:
    for mask in room.MASKS:
        one = run(State(view=view, norm=norm, mask=mask))
        for key in one.film:
            values = one.parts[key].values
            for i, j in np.ndindex(values.shape):
                tex = sums.equation(one, key, i, j)
                said = tex.rsplit(" = ", 1)[1]
                assert said == sums.said(float(values[i, j]))
                if np.isfinite(values[i, j]):  # of numbers with two decimals
                    assert value_of(tex) == pytest.approx(float(values[i, j]), abs=0.06), tex


def test_operands_are_framed_and_cells_are_hit() -> None:
    for now in (State(), State(columns=True), State(view=BLOCK), State(view=BLOCK, norm="post")):
        one = run(now)
        places = figures.placed(one)
        cells = [figures.spots(one, places, key) for key in figures.keys_of(one)]
        taken = [spot for x, y in cells for spot in zip(x, y, strict=True)]
        assert len(set(taken)) == len(taken)  # no two cells upon each other
        for key in figures.keys_of(one):
            for at, (x, y) in enumerate(zip(*figures.spots(one, places, key), strict=True)):
                found = figures.hit(one, float(x), float(y))
                assert found == (key, *divmod(at, one.parts[key].values.shape[1]))
        assert figures.hit(one, -9, 0) is None
    one = run(State())
    assert sums.operands(one, "S1", 2, 1) == [("Q1", 2, 0, 1, 2), ("K1", 1, 0, 1, 2)]
    assert sums.operands(one, "Q1", 2, 1) == [("N", 2, 0, 1, 4), ("WQ1", 0, 1, 4, 1)]
    assert sums.operands(one, "D", 1, 3) == [("C2", 1, 1, 1, 1)]


def test_columns_are_the_transpose() -> None:
    rows, columns = run(State()), run(State(columns=True))
    for key in figures.keys_of(rows):
        a, b = (figures.spots(one, figures.placed(one), key) for one in (rows, columns))
        shape = rows.parts[key].values.shape
        assert [round(np.ptp(v)) + 1 for v in a] == [*shape[::-1]]
        assert [round(np.ptp(v)) + 1 for v in b] == [*shape]
    assert sums.equation(rows, "A1", 2, 0).startswith("a_{3,1}")
    assert sums.equation(columns, "A1", 2, 0).startswith("a_{1,3}")
    tree = moving.at(figures.canvas(columns, 3, 1, False), 6)
    A = next(trace for trace in tree.data if trace.type == "heatmap" and trace.zmin == 0)
    assert np.allclose(np.nansum(A.z, 0), 1)


def test_scenes_say_what_is_so() -> None:
    now = {name: scene.state for name, scene in ROOM.scenes.items()}
    for name, state in now.items():
        one = run(state)
        assert 0 <= state.step < len(one.film), name
    assert run(now["Weights"]).parts["A1"].values[2, 2] == pytest.approx(0.95, abs=0.005)
    unmasked = run(now["Mask off"]).parts["A1"].values
    assert unmasked.min() > 0 and round(float(unmasked[0, 1]), 2) == 0.06 and now["Mask off"].mask == FULL
    assert PRINTED["A1"][2][1] == "0.61" and now["As printed"].printed
    assert run(now["As printed"]).parts["A1"].values[2, 1] == pytest.approx(0.01, abs=0.005)
    for name, key in {"Weights": "A1", "Query": "Q1", "Score": "S1", "Output": "C1", "Block": "F"}.items():
        assert run(now[name]).film[now[name].step] == key


def test_identity_matrices() -> None:  # TF-O4
    given = {"inputs": "1 0; 0 1", "W_Q": "1 0; 0 1", "W_K": "1 0; 0 1", "W_V": "1 2; 3 4"}
    now = State(**given, heads=1, norm="none", mask=FULL)
    near(run(now).parts["A1"].values, [[0.669762, 0.330238], [0.330238, 0.669762]], 1e-6)
    near(run(now).parts["C1"].values, [[1.660477, 2.660477], [2.339523, 3.339523]], 1e-6)
    causal = State(**given, heads=1, norm="none")
    assert run(causal).parts["C1"].values[0].tolist() == [1, 2]
    raw = State(**given, heads=1, norm="none", mask=FULL, scaled=False)
    near(run(raw).parts["C1"].values[0], [1.537883, 2.537883], 1e-6)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"inputs": "1 0; x 1"}, "“x” is no number"),
        ({"inputs": "1 0; 1"}, "equally many"),
        ({"inputs": ""}, "Write one to 4 rows"),
        ({"inputs": "1 2; 3 4"}, "W_Q has 4 rows and X 2 columns"),
        ({"W_Q": "1; 0; 1; 0"}, "2 heads cannot share"),
        ({"W_Q": "1 0; 0 1; 0 0; 1 1"}, "differ in columns"),
        ({"W_V": "1 0; 0 1; 0 0; 1 1"}, "W_V has 2 columns"),
        ({"inputs": "1 1 1 1; 1 2 3 4"}, "divides by the spread"),
        ({"inputs": "1 2 3 4", "mask": PADDING}, "cannot be padding"),
    ],
)
def test_bad_input_is_one_sentence(given: dict[str, str], words: str) -> None:
    with pytest.raises(UserError, match=re.escape(words)):
        run(State(**given))


def test_the_page_says_it_and_takes_own_matrices() -> None:
    page = run_page("transformer/arithmetic", inputs="1 0; x 1")
    said = " ".join(each.value for each in [*page.warning, *page.error, *page.info])
    assert not page.exception and "is no number" in said
    assert open_page("transformer/arithmetic", inputs="1 2 3 4")  # one token
    assert open_page("transformer/arithmetic", view=BLOCK, norm="post", heads=1)
    assert open_page("transformer/arithmetic", view=HEAD, norm="none", columns=True)
