"""The page Where it looked: what its scenes say, and its numbers by another road."""

from dataclasses import replace

import pytest
import torch
from opening import equation, film, open_page, run_page, warnings

from lab import experiments, weights
from lab.errors import UserError
from lab.lenses import drawing, signals
from modules.convolution.classifier import Classifier
from pages.convolution.attribution import figures, lens, words
from pages.convolution.attribution.room import (
    CAM,
    GRADIENT,
    INTEGRATED,
    LIKELIEST,
    NONE,
    OCCLUSION,
    ON_SIGNALS,
    RANDOM,
    ROOM,
    RUNNER_UP,
    TIMES,
)  # fmt: skip


@pytest.fixture(scope="module")
def network() -> Classifier:
    return weights.load("cnn-mnist")  # type: ignore[return-value]


def asked(model: Classifier, digit: str, target: str = LIKELIEST, against: str = NONE) -> lens.Asked:
    return lens.asked(model, dict(drawing.examples(28))[digit], None, "3", None, target, against)


def test_classes_that_are_asked_for(network: Classifier) -> None:
    one = asked(network, "4", against=RUNNER_UP)
    best, second = one.logits.topk(2).indices.tolist()
    assert (one.target, one.against) == (best, second) == (4, 6)
    torch.testing.assert_close(one.S(one.x[None])[0].detach(), one.logits[4] - one.logits[6])
    assert asked(network, "4", "7").target == 7 and asked(network, "4").against is None
    with pytest.raises(UserError, match="against itself"):
        asked(network, "4", LIKELIEST, "4")
    names = {e.name for e in experiments.catalog().values() if lens.fits(e)}
    assert {"cnn-mnist", "cnn-digits", "cnn-mnist1d"} <= names and "mlp-mnist1d" not in names


def test_four_against_nine(network: Classifier) -> None:
    one = asked(network, "4", "4", "9")
    maps, x = lens.compared(one, 5, 0.0), one.x[0]
    on_blank = {n: float(v.clamp(0)[x == 0].sum() / v.clamp(0).sum()) for n, v in maps.items()}
    assert on_blank[CAM] > 0.7 and on_blank[OCCLUSION] < 0.3
    assert bool((maps[TIMES][x == 0] == 0).all()) and bool((maps[INTEGRATED][x == 0] == 0).all())
    assert bool((maps[GRADIENT][x == 0] != 0).any()) and float(maps[CAM].min()) >= 0
    path = lens.integrated(one, 0.0, 32)
    said = words.sums(one, maps, 0.0)
    assert f"{float(path.scores[-1] - path.scores[0]):.2f}; " in said
    assert f"sum to {float(path.reached[-1]):.2f}" in said
    assert words.score_equation(one).endswith(f"{float(one.logits[4] - one.logits[9]):.2f}")


def test_the_sum_follows_the_way(network: Classifier) -> None:
    for against, baseline in ((NONE, 0.0), ("9", 1.0)):
        one = asked(network, "4", against=against)
        path = lens.integrated(one, baseline, 64)
        change = path.scores - path.scores[0]
        assert float((path.reached - change).abs().max()) < 0.5
        captions, equations = words.path_captions(path), words.path_equations(path)
        assert len(captions) == len(equations) == len(path.alphas) == 65
        assert f"the sum is {float(path.reached[40]):.2f}" in captions[40]
        assert equations[40].endswith(f"{float(change[40]):.2f}")
        tiles = figures.along(path)
        torch.testing.assert_close(tiles["this step adds"].sum(0), tiles["sum so far"][-1])
        ink = one.x[0] == 1
        if baseline:  # full ink is the baseline: nothing is attributed to it
            assert bool(ink.any()) and bool((path.sums[-1][ink] == 0).all())
            assert bool((path.sums[-1][one.x[0] == 0] != 0).any())


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_random_weights_change_the_gradient_alone(network: Classifier, seed: int) -> None:
    result = lens.cascade(asked(network, "4"), seed, True)
    assert result.maps.shape == (4, 5, 28, 28)
    torch.testing.assert_close(result.correlations[:, 0], torch.ones(4))
    gradient, times, _, path = result.correlations[:, 1:]
    assert float(gradient.max()) < 0.5 and float(times.min()) > 0.95 and float(path.min()) > 0.95
    assert len(words.cascade_captions(result)) == len(words.cascade_equations(result)) == 5
    signed = lens.cascade(asked(network, "4"), seed, False)
    assert float(signed.correlations[1, 1:].max()) < 0.8  # by their signs they are not alike


def test_deletion_of_what_counts(network: Classifier) -> None:
    nine = lens.deletion(asked(network, "9"), 5, 0.0, INTEGRATED)
    assert nine.crossing(INTEGRATED) < 0.06 and 0.3 < nine.crossing(RANDOM) < 0.5
    one = asked(network, "9")
    for k in (0, 8, len(nine.counts) - 1):
        gone = nine.gone[k]
        assert int(gone.sum()) == int(nine.counts[k])
        x = one.x.masked_fill(gone, 0.0)
        torch.testing.assert_close(x[0], nine.inputs[k])
        expected = network.predict(x[None])[0, 9].detach()
        torch.testing.assert_close(nine.scores[INTEGRATED][k], expected, atol=1e-4, rtol=1e-4)
    six = lens.deletion(asked(network, "6"), 5, 0.0, CAM)
    above = six.scores[CAM] > six.scores[RANDOM]
    assert float(six.share[above].max() - six.share[above].min()) > 0.5
    assert six.mean(INTEGRATED) < six.mean(RANDOM) < six.mean(CAM)
    assert (
        "S is " in words.deletion_captions(six, CAM)[3]
        and " by " not in words.deletion_captions(six, RANDOM)[3]
    )
    never = replace(six, scores={CAM: six.scores[CAM].abs()})
    assert never.crossing(CAM) == float("inf")


def test_a_signal_is_attributed_to_its_peak() -> None:
    model = weights.load(ON_SIGNALS)
    one = lens.asked(model, None, None, "3", None, LIKELIEST, NONE)  # type: ignore[arg-type]
    x, maps = one.x[0], lens.compared(one, 5, 0.0)
    peaks = [i for i in range(1, 39) if x[i] > max(2, x[i - 1], x[i + 1])]
    assert all(abs(int(maps[name].argmax()) - peaks[1]) <= 2 for name in (OCCLUSION, INTEGRATED))
    flat = lens.asked(model, None, None, "own", torch.zeros(40, 40), "2", "5")  # type: ignore[arg-type]
    assert float(flat.x.abs().max()) == 0 and float(lens.compared(flat, 5, 0.0)[INTEGRATED].abs().max()) == 0
    drawn = lens.asked(model, None, None, "own", signals.sketch(one.x), LIKELIEST, NONE)  # type: ignore[arg-type]
    assert drawn.target == one.target
    tree = figures.tiles(x, figures.single(maps), 3)
    assert len(tree["data"]) == 15


@pytest.mark.parametrize("scene", [2, 5])
def test_films_of_scenes(scene: int) -> None:
    page = open_page("convolution/attribution", scene=scene)
    key, count = {2: ("alpha", 33), 5: ("cut", 40)}[scene]
    assert film(page, key)["count"] == count and not warnings(page)


def test_a_drawing_on_the_small_model_and_a_class_against_itself() -> None:
    page = open_page("convolution/attribution", model="cnn-digits", small="7", against="runner-up")
    assert "f_{7}(x)" in equation(page)
    refused = run_page("convolution/attribution", digit="4", target="4", against="4")
    assert [w.value for w in refused.warning] == [
        "Class 4 stands against itself: choose another one below Against."
    ]
    assert len(ROOM.scenes) == 7
