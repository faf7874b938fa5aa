"""The page Positions and schemes: codes, rotations and biases by other roads, scenes that hold, own input."""

import math

import numpy as np
import pytest
import torch
from opening import open_page, run_page

from lab.bench import positions as bench
from lab.errors import UserError
from modules.transformer.gpt import GPT
from pages.transformer.positions import figures, lengths, lens, schemes
from pages.transformer.positions.room import ADJACENT, HALF, LENGTHS, QUERIES, ROOM, N

Q, K = (1, 2, 3, 4), (0.5, -1, 2, 0.25)


def test_products_of_codes_are_sums_of_cosines() -> None:
    one = lens.code(64, 10_000)
    wanted = {0: 32, 1: 30.9168, 2: 28.3039, 4: 23.9344, 8: 22.4139, 16: 19.3728, 32: 19.5540}
    for k, value in wanted.items():
        assert one.products[0, k] == pytest.approx(value, abs=5e-5)
        assert one.products[20, k] == pytest.approx(
            sum(math.cos(k * 10_000 ** (-2 * i / 64)) for i in range(32)), abs=1e-10
        )
    assert np.ptp(one.products, axis=0).max() < 1e-12  # whatever pos is
    assert one.table[2, :4] == pytest.approx(
        [math.sin(2), math.cos(2), math.sin(2 * 10_000 ** (-1 / 32)), math.cos(2 * 10_000 ** (-1 / 32))]
    )
    small = lens.code(4, 10_000).table
    assert small[1] == pytest.approx([0.841471, 0.540302, 0.0099998, 0.99995], abs=1e-6)


def test_the_product_rises_from_offset_5_to_6() -> None:
    """[UDL] says that it generally decreases with distance."""
    one = lens.code(64, 10_000)
    texts = lens.code_captions(one, 0)
    assert "rises from 23.504 to 23.559" in texts[6] and "falls" in texts[5]
    assert len(texts) == len(lens.code_equations(one, 0)) == N
    assert "= 23.559" in lens.code_equations(one, 0)[6]


def test_the_counter_counts() -> None:
    bits = lens.counter()
    assert (bits @ (2 ** np.arange(lens.BITS)[::-1]) == np.arange(N)).all()
    assert "21 is 010101" in lens.counter_captions(12, 100)[21]
    slow = lens.waves(12, 100)
    assert slow[:, -1] == pytest.approx(np.cos(np.arange(N)))
    assert slow[:, 0] == pytest.approx(np.cos(np.arange(N) * 100 ** (-10 / 12)))


@pytest.mark.parametrize(
    ("d", "base", "pair", "shift"), [(64, 10_000, 6, 4), (4, 10, 1, 16), (8, 100, 99, 1)]
)
def test_a_rotation_leads_from_every_position_to_the_one_k_further(
    d: int, base: int, pair: int, shift: int
) -> None:
    one = lens.turns(d, base, pair, shift)
    assert np.abs(one.turned - one.then).max() < 1e-12
    assert one.rate == pytest.approx(base ** (-2 * min(pair, d // 2 - 1) / d))
    angle = np.angle(one.then @ [1, 1j]) - np.angle(one.now @ [1, 1j])
    assert np.cos(angle) == pytest.approx(np.full(N, math.cos(shift * one.rate)))
    assert "equal to 12 digits" in lens.turn_captions(one, shift)[0]


@pytest.mark.parametrize(("layout", "wanted"), [(ADJACENT, 7.982132), (HALF, -7.228962)])
def test_rotary_scores_know_the_distance_alone(layout: str, wanted: float) -> None:
    one = schemes.rotary(Q, K, layout, 10_000)
    assert one.plain == 5.5
    for i, j in ((3, 0), (5, 2), (13, 10)):
        assert one.scores[i, j] == pytest.approx(wanted, abs=1e-6)
        assert one.far[i, j] == pytest.approx(wanted, abs=1e-6)  # (103, 100) and further
    for o in range(1 - QUERIES, QUERIES):
        along = np.diagonal(one.scores, -o)
        assert np.ptp(along) < 1e-12 and along[0] == pytest.approx(one.by_distance[o + QUERIES - 1])
    assert one.values > 0.1  # what turning values would do to an output
    # complex numbers, by hand
    pairs = ((0, 1), (2, 3)) if layout == ADJACENT else ((0, 2), (1, 3))
    score = sum(
        (complex(Q[a], Q[b]) * complex(K[a], -K[b]) * np.exp(3j * 10_000 ** (-i / 2))).real
        for i, (a, b) in enumerate(pairs)
    )
    assert score == pytest.approx(wanted, abs=1e-6)
    texts = schemes.rotary_captions(one, 3)
    assert len(texts) == len(schemes.rotary_equations(one, 3)) == QUERIES - 3
    assert texts[0].startswith(f"Query 3, key 0: {wanted:.6f}".replace("-7.228962", "-7.228962"))


def test_alibi_has_its_slopes_and_weights() -> None:
    one = schemes.alibi(8, 4)
    assert one.slopes == [2.0 ** -(h + 1) for h in range(8)]
    assert one.weights[0, -1] == pytest.approx([0.1015, 0.1674, 0.2760, 0.4551], abs=5e-5)
    assert one.weights[-1, -1] == pytest.approx([0.2485, 0.2495, 0.2505, 0.2515], abs=5e-5)
    assert schemes.alibi(16, 2).slopes[:2] == pytest.approx([0.707107, 0.5], abs=1e-6)
    assert np.isnan(one.bias[:, 0, 1:]).all() and one.bias[0, 3, 0] == -1.5
    assert len(schemes.alibi_captions(one)) == len(schemes.alibi_equations(one)) == 8


def test_a_table_makes_a_toeplitz_matrix() -> None:
    table = schemes.read_table(ROOM.scenes["Relative bias"].state.table)
    one = schemes.relative(table)
    n = len(one.bias[0])
    assert len(table) == 2 * n - 1 == 15
    for o in range(1 - n, n):
        assert (np.diagonal(one.bias[0], o) == table[o + n - 1]).all()
    e = np.exp(one.bias[0])
    assert one.weights[0] == pytest.approx(e / e.sum(1, keepdims=True))
    assert schemes.relative((0,) * 5).weights[0] == pytest.approx(np.full((3, 3), 1 / 3))
    tree = figures.toeplitz(one)
    x, y = (tree["data"][1][axis].values for axis in "xy")
    for f, o in enumerate(range(1 - n, n)):
        there = ~np.isnan(x[f])
        assert there.sum() == n - abs(o) and (x[f][there] - y[f][there] == o).all()
    assert len(schemes.relative_captions(table)) == len(schemes.relative_equations(table)) == 15


def test_own_numbers_and_bad_ones() -> None:
    assert schemes.read_vector("1, −2;0.5 4") == (1, -2, 0.5, 4)
    for read, text, words in (
        (schemes.read_vector, "1 x", "“x” is no number"),
        (schemes.read_vector, "1 2 3", "into pairs"),
        (schemes.read_vector, "", "into pairs"),
        (schemes.read_table, "1 2", "2N − 1"),
        (schemes.read_table, "nan", "between"),
    ):
        with pytest.raises(UserError, match=words):
            read(text)  # type: ignore[operator]
    with pytest.raises(UserError, match="equally many"):
        schemes.rotary((1, 2), (1, 2, 3, 4), HALF, 10)
    page = run_page("transformer/positions", view="Rotary", q="1 2", k="1 2 3 4")
    said = " ".join(each.value for each in [*page.warning, *page.error, *page.info])
    assert not page.exception and "equally many" in said
    assert open_page("transformer/positions", view="Relative bias", table="0")
    assert open_page("transformer/positions", view="Sinusoidal code", start=32, offset=31, d=4)


def test_loss_against_length_is_what_the_scene_says() -> None:
    """Over all seeds that the bench keeps."""
    runs = lengths.runs()
    assert tuple(runs) == bench.SCHEMES and {len(v) for v in runs.values()} == {lengths.seeds()}
    first, last = LENGTHS.index(bench.CONTEXT), len(LENGTHS) - 1
    assert np.isnan(runs["learned"][:, first + 1 :]).all() and np.isfinite(runs["learned"][:, first]).all()
    for name, values in runs.items():
        if name != "learned":
            assert np.isfinite(values).all()
    assert (runs["sinusoidal"][:, last] > runs["sinusoidal"][:, first] + 0.3).all()
    assert (runs["alibi"][:, last] < runs["alibi"][:, first] + 0.01).all()
    for name, values in lengths.by_place().items():
        if name != "learned":
            assert lengths.answer(name) == lengths.OPTIONS[2 if name == "alibi" else 0]
            assert values[-1] - values[first] > (-0.05 if name == "alibi" else 1)
    assert "Position 79 has no vector" in lengths.refusal(80) and not lengths.refusal(64)
    texts = lengths.captions()
    assert (
        "All schemes" in texts[first]
        and "4 times" in texts[LENGTHS.index(256)]
        and "has no vector" in texts[last]
        and len(texts) == len(LENGTHS)
    )
    assert len(lengths.equations()) == len(LENGTHS)


def test_the_bench_measures_places_and_ends_where_learned_positions_end() -> None:
    torch.manual_seed(0)
    ids = torch.randint(5, (200,))
    for scheme, reach in (("learned", 64), ("alibi", 96)):
        model = GPT(5, context=bench.CONTEXT, layers=1, heads=4, width=16, positions=scheme)  # type: ignore[arg-type]
        found = bench.nats_by_place(model, ids, 96)
        assert len(found) == reach
        # the windows 0 and 64, one by one
        rows = [
            -model(ids[None, s : s + reach]).log_softmax(-1)[0, range(reach), ids[s + 1 : s + reach + 1]]
            for s in (0, 64)
        ]
        torch.testing.assert_close(found, torch.stack(rows).double().mean(0), atol=1e-5, rtol=0)
