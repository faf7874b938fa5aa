"""The page Score functions: printed scores, the softmax over random scores by width, learned alignments."""

import math

import numpy as np
import pytest
import torch
from opening import open_page, run_page
from torch.func import jacrev

from lab import experiments, weights
from lab.errors import UserError
from pages.transformer.scores import figures, lens
from pages.transformer.scores.room import (
    CAT,
    ENTROPY,
    HEADS,
    JACOBIAN,
    LARGEST,
    LEARNED,
    LENGTHS,
    ROOM,
    SCALE,
    SPREAD,
    WIDTHS,
    State,
)

ONE = LENGTHS.index(1.0)


def scored(now: State) -> lens.Scores:
    return lens.scores(lens.vector(now.s), lens.keys(now.h), lens.vector(now.v))


def test_printed_scores() -> None:  # TF-O3
    one = scored(State())
    additive, dot, scaled = one.e[ONE]
    assert additive.tolist() == pytest.approx([0, 0.202433, 0], abs=1e-6)
    assert dot.tolist() == [0, 1, -1]
    assert scaled.tolist() == pytest.approx([0, 1 / math.sqrt(2), -1 / math.sqrt(2)])
    wanted = [[0.310137, 0.379725, 0.310137], [0.244728, 0.665241, 0.090031], [0.283995, 0.575975, 0.140029]]
    np.testing.assert_allclose(one.alpha[ONE], wanted, atol=2e-6)


def test_scores_by_hand_at_every_length() -> None:
    now = State(s="0.5 -1 2", h="1 0 1; 0 2 -1", v="1 0.5 -2")
    one, s, v = scored(now), np.array([0.5, -1, 2]), np.array([1, 0.5, -2])
    for f, times in enumerate(LENGTHS):
        for j, h in enumerate(np.array([[1, 0, 1], [0, 2, -1]], float)):
            wanted = [v @ np.tanh(times * (s + h)), times**2 * (s @ h), times**2 * (s @ h) / math.sqrt(3)]
            assert one.e[f, :, j].tolist() == pytest.approx(wanted)
        powers = np.exp(one.e[f] - one.e[f].max(1, keepdims=True))
        np.testing.assert_allclose(one.alpha[f], powers / powers.sum(1, keepdims=True))
        assert (abs(one.e[f, 0]) <= abs(v).sum()).all()  # tanh bounds the additive score


def test_random_scores_saturate_without_the_scale() -> None:  # TF-O12, TF-E6
    one = lens.random(0)
    at = [WIDTHS.index(d) for d in (1, 16, 64, 256, 1024)]
    printed = {
        LARGEST: ([0.21, 0.68, 0.84, 0.92, 0.96], [0.21, 0.24, 0.25, 0.25, 0.25], 0.02),
        ENTROPY: ([2.44, 0.90, 0.41, 0.20, 0.09], [2.44, 2.36, 2.36, 2.36, 2.36], 0.04),
        JACOBIAN: ([0.28, 0.28, 0.17, 0.10, 0.05], [0.28, 0.30, 0.305, 0.305, 0.305], 0.012),
    }
    for measure, (unscaled, scaled, by) in printed.items():
        np.testing.assert_allclose(one.lines[measure][0][at], unscaled, atol=by)
        np.testing.assert_allclose(one.lines[measure][1][at], scaled, atol=by)
    np.testing.assert_allclose(one.lines[SPREAD][0], WIDTHS, rtol=0.06)  # the variance is d_k
    np.testing.assert_allclose(one.lines[SPREAD][1], 1, rtol=0.06)
    np.testing.assert_allclose(one.scores.var(1), WIDTHS, rtol=0.06)


def test_jacobian_norm_by_autograd() -> None:
    z = torch.tensor([0.3, -1.0, 2.0, 0.0], dtype=torch.float64)
    J = jacrev(lambda x: x.softmax(0))(z)
    assert lens.jacobian_norm(z.softmax(0)).item() == pytest.approx(J.norm().item())
    assert lens.jacobian_norm(torch.tensor([1.0, 0.0])).item() == 0


def test_scenes_say_what_is_so() -> None:
    now = {name: scene.state for name, scene in ROOM.scenes.items()}
    alpha = scored(now["Three scores"]).alpha[ONE]
    assert (alpha.argmax(1) == 1).all() and alpha[1, 1] > alpha[2, 1] > alpha[0, 1]
    one = scored(now["Longer vectors"])
    assert one.alpha[-1, 1:].max(1).min() > 0.999 and one.alpha[-1, 0].max() < 0.4
    found, d = lens.random(now["Unscaled"].seed), WIDTHS.index(64)
    assert math.sqrt(found.lines[SPREAD][0][d]) == pytest.approx(8, abs=0.2)
    assert found.lines[LARGEST][0][d] == pytest.approx(0.85, abs=0.01)
    assert found.lines[LARGEST][1] == pytest.approx([0.25] * 6, abs=0.045)
    assert found.lines[ENTROPY][0][-1] < 0.12 and found.lines[ENTROPY][1].min() > 2.34
    assert found.lines[JACOBIAN][0][-1] < 0.07


def test_figures_are_those_of_the_numbers() -> None:
    found = lens.random(0)
    for scaled in (False, True):
        y = figures.spread(found, scaled)["data"][0]["y"].values
        assert y.shape[0] == len(WIDTHS) and (y.max(1) == 1).all()
        texts = lens.scale_captions(found, scaled)
        for f in range(len(WIDTHS)):
            assert f"{found.lines[ENTROPY][int(scaled)][f]:.2f} nats" in texts[f]
    wide = [int((row > 0.5).sum()) for row in figures.spread(found, False)["data"][0]["y"].values]
    assert wide == sorted(wide) and wide[-1] > wide[0]


@pytest.fixture(scope="module")
def models() -> tuple[object, ...]:
    places = [experiments.find(name).weights for name in ("attention-spanish", "translator-spanish")]
    first, second = (weights.load(place).eval() for place in places)  # type: ignore[arg-type]
    return first, weights.read_card(places[0]), second  # type: ignore[arg-type]


def test_learned_alignments_agree(models: tuple[object, ...]) -> None:
    one = lens.learned(CAT, ROOM.scenes["Learned"].state.head, *models)  # type: ignore[arg-type]
    T, S = one.additive.shape
    assert (T, S) == one.scaled.shape == (len(one.target), len(one.source)) and one.target[2] == "gato"
    for gamma in (one.additive, one.scaled):
        np.testing.assert_allclose(gamma.sum(1), 1, atol=1e-5)  # TF-E5: rows are distributions
    layer, head = (int(number) - 1 for number in ROOM.scenes["Learned"].state.head.split("."))
    assert one.agreement[layer, head] >= 0.9 and one.agreement.shape == (2, 4) and len(HEADS) == 8
    hits = [int(row.argmax()) in sure for row, sure in zip(one.additive, one.gold, strict=False)]
    assert np.mean(hits) >= 0.8
    D, d = one.widths
    assert f"{T * S * D:,}".replace(",", "{,}") in lens.learned_equations(one)[0] and D == 4 * d == 64
    # of no sentence of the grammar both read what the first writes
    own = lens.learned("a big big", "1.1", *models)  # type: ignore[arg-type]
    assert own.gold == () and len(own.target) == len(own.additive)


def test_own_and_bad_input() -> None:
    for read, text, words in (
        (lens.vector, "1 0; 0 1", "one vector"),
        (lens.vector, "1 x", "no number"),
        (lens.keys, "1 0; 1", "equally many"),
    ):
        with pytest.raises(UserError, match=words):
            read(text)
    with pytest.raises(UserError, match="equally many"):
        scored(State(s="1 0 0"))
    page = run_page("transformer/scores", s="1 x")
    said = " ".join(each.value for each in [*page.warning, *page.error, *page.info])
    assert not page.exception and "no number" in said
    assert open_page("transformer/scores", view=SCALE, scaled=True, measure=SPREAD)
    assert open_page("transformer/scores", view=LEARNED, text="We buy a old red flower.")
