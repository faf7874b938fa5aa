"""HMM strip: the numbers of every algorithm by hand, typed sequences and transitions, underflow."""

import itertools
import math

import pytest
import torch
from opening import captions, figure, film, metrics, open_page, prose, run_page, spoken, warnings

from pages.latent.hidden_markov import lens, steps


def days(name: str = "Weather", x: str = "wsc") -> lens.Found:
    world = lens.world(name)
    return lens.infer(world.model, world.read(x)[0])


def test_forward_backward_smoothing_and_viterbi_by_hand() -> None:
    """LV-O17 and LV-O18."""
    result = days()
    assert result.alpha.flatten().tolist() == pytest.approx([0.3, 0.04, 0.0904, 0.0342, 0.007696, 0.028584])
    assert result.beta.flatten().tolist() == pytest.approx([0.106, 0.112, 0.25, 0.4, 1, 1])
    assert result.gamma[:, 0].tolist() == pytest.approx([0.876516, 0.622933, 0.212128], abs=1e-6)
    assert result.xi[0].flatten().tolist() == pytest.approx(
        [0.578831, 0.297685, 0.044101, 0.079383], abs=1e-6
    )
    assert result.path.tolist() == [0, 0, 1] and result.best == pytest.approx(0.01512)
    assert result.total == pytest.approx(0.03628)


def test_the_scenes_sums_are_those_by_hand() -> None:
    page = open_page("latent/hidden_markov", run="forward", world="Weather", step=1)
    assert spoken(film(page)["equations"][1]) == pytest.approx([0.4, 0.3, 0.7, 0.04, 0.4, 0.0904])
    back = open_page("latent/hidden_markov", run="backward", world="Weather", step=1)
    assert spoken(film(back)["equations"][1])[-1] == pytest.approx(0.4)
    texts = figure(back, "trellis")[0]["texts"]["data.3.text"]
    assert texts[2] == ["0.106", "0.112", "0.25", "0.4", "1", "1"] and texts[0] == [""] * 4 + ["1", "1"]


def test_likeliest_states_are_not_the_best_path() -> None:
    page = open_page("latent/hidden_markov", world="Restless weather", run="Viterbi", step=5)
    words = prose(page)
    assert "p(x, z) = 0.007875" in words and "as a path has 0.005625" in words and "at 1 of 3 places" in words
    story = steps.film(days("Restless weather", "www"), "Viterbi", ["sun", "rain"])
    assert story.path[-1].tolist() == [0, 1, 0] and story.path[3].tolist() == [-1, -1, 0]


def test_the_sum_and_the_maximum_are_over_all_paths() -> None:
    result = days("Casino", "16621")
    each = [result.joint(torch.tensor(z)) for z in itertools.product(range(2), repeat=5)]
    assert len(each) == lens.paths(2, 5) and lens.products(2, 5) == 16
    assert math.fsum(each) == pytest.approx(result.total) and max(each) == pytest.approx(result.best)


def test_sixes_are_found_amid_the_throws() -> None:
    """What the first scene says."""
    world = lens.world("Casino")
    loaded = lens.infer(world.model, world.read("124531626666466651324153")[0]).gamma[:, 1]
    assert loaded[8:16].min() > 0.7 and loaded[:3].max() < 0.5 and loaded[-3:].max() < 0.5


def test_underflow_and_scaling() -> None:
    """LV-O20: α is exactly 0 from t = 641 on."""
    shown = metrics(open_page("latent/hidden_markov", view="Long sequences", world="Weather"))
    assert shown["α = 0 in float64"] == "from t = 641" and shown["log p(x), T = 2,000"] == "-2325.803349"
    assert shown["Paths, T = 3"] == "8"


def test_own_sequence_and_own_transitions() -> None:
    page = open_page("latent/hidden_markov", xc="1 6 7 6", a="1 1; 0 2")
    assert "'7' cannot be shown: left out." in captions(page)
    assert film(page)["count"] == 3
    assert lens.replaced(lens.world("Casino"), "1 1; 0 2").model.transition.tolist() == [[0.5, 0.5], [0, 1]]
    assert "'x': type 2 rows" in captions(open_page("latent/hidden_markov", a="1 x; 0 1"))
    assert "There is no observation" in warnings(run_page("latent/hidden_markov", xc="abc"))
    one = open_page("latent/hidden_markov", xc="6")
    assert film(one)["count"] == 1


def test_vowels_and_spaces_share_a_state() -> None:
    page = open_page("latent/hidden_markov", world="Letters (learned)")
    header, _ = figure(page, "strip")
    rows = [r for r in header["csv"].splitlines()[1:] if r.split(",")[0] in ("␣", "a", "e", "i")]
    column = header["csv"].splitlines()[0].split(",").index("best path")
    assert rows and {round(float(r.split(",")[column])) for r in rows} == {0}


def test_a_drawn_sequence_has_its_truth_beside_it() -> None:
    page = open_page("latent/hidden_markov", source="drawn", seed=3, t=30)
    z, x = lens.drawn(lens.world("Casino").model, 30, 3)
    infer = lens.infer(lens.world("Casino").model, x)
    assert f"the best path has {lens.right(infer.path, z)} of 30 right" in prose(page)
