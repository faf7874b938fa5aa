"""The Kalman page: steps by a plain loop over numbers, the joint Gaussian, scenes, and own paths."""

import math

import numpy as np
import pytest
import torch
from opening import film, metrics, open_page, open_warned, run_page, spoken, warnings

from pages.latent.kalman import figures, lens


def test_the_line_by_a_loop_over_numbers() -> None:
    """A scalar filter written out, for the page's default series."""
    page = open_page("latent/kalman", view="Line")
    x = lens.observations(lens.step(), 0.4, 0)[:, 0].tolist()
    m, p, total, means = 0.0, 1.0, 0.0, []
    for t, value in enumerate(x):
        if t:
            p = p + 0.1
        spread = p + 0.16
        total += -0.5 * (math.log(2 * math.pi * spread) + (value - m) ** 2 / spread)
        gain = p / spread
        m, p = m + gain * (value - m), (1 - gain) * p
        means.append((gain, m, p))
    text = film(page)
    gain, m, p = means[14]
    numbers = spoken(text["equations"][14])
    assert numbers[1] == pytest.approx(gain, abs=6e-4) and numbers[-1] == pytest.approx(m, abs=6e-4)
    assert f"± {math.sqrt(p):.3f} after it; gain {gain:.3f}" in text["captions"][14]
    assert metrics(page)["log p(x)"] == f"{total:.2f}"
    truth = lens.step()[:, 0]
    off = math.sqrt(np.mean([(m - float(v)) ** 2 for (_, m, _), v in zip(means, truth, strict=True)]))
    assert metrics(page)["Filter off"] == f"{off:.3f}"


def test_three_numbers() -> None:
    """LV-18's oracle: forward 0.666667, 0.3125, 0.593496; backward 0.593496, 0.487805."""
    page = open_page("latent/kalman", view="Line", series="own", a=0.9, drift=0.19, noise=0.707107)
    ends = [spoken(e)[-1] for e in film(page)["equations"]]
    assert ends == pytest.approx([0.666667, 0.3125, 0.593496, 0.593496, 0.487805, 0.593496], abs=6e-4)
    assert metrics(page)["log p(x)"] == "-3.69"


@pytest.mark.parametrize("gap", [False, True])
def test_the_smoother_equals_the_joint_gaussian(gap: bool) -> None:
    x = lens.observations(lens.circle(), 0.4, 0)
    x = lens.hidden(x) if gap else x
    system = lens.plane_system(0.01, 0.4)
    story = lens.story(system, x)
    assert lens.referee(system, story) < 1e-9
    changed = lens.Story(**{**vars(story), "smoothed": story.smoothed + 1e-3})
    assert lens.referee(system, changed) == pytest.approx(1e-3, rel=1e-3)
    for t in range(1, len(x)):  # what the equations say of each step
        expected = system.transition @ story.filtered[t - 1]
        torch.testing.assert_close(story.predicted[t], expected)
        error = torch.nan_to_num(x[t] - story.predicted[t, :2])
        torch.testing.assert_close(story.filtered[t], expected + story.gains[t] @ error)
        earlier = story.filtered[t - 1] + story.back[t - 1] @ (story.smoothed[t] - story.predicted[t])
        torch.testing.assert_close(story.smoothed[t - 1], earlier)


def test_what_the_scenes_say() -> None:
    truth = lens.circle()
    x = lens.observations(truth, 0.4, 0)
    story = lens.story(lens.plane_system(0.01, 0.4), x)
    off = [lens.distance(v, truth) for v in (x, story.filtered, story.smoothed)]
    assert off[0] > off[1] > off[2]
    assert story.filtered_spread[14, 0, 0] < story.predicted_spread[14, 0, 0]
    without = lens.story(lens.plane_system(0.01, 0.4), lens.hidden(x)).filtered_spread[:, 0, 0]
    assert (without[lens.GAP].diff() > 0).all() and without[18] > 10 * without[11]
    corner = lens.observations(lens.zigzag(), 0.4, 0)
    stiff, nervous = (lens.story(lens.plane_system(q, 0.4), corner) for q in (0.001, 1.0))
    late = [lens.distance(v.filtered, lens.zigzag()) for v in (stiff, nervous)]
    assert late[0] > lens.distance(corner, lens.zigzag()) > late[1]
    assert nervous.gains[-1, 0, 0] > 0.75 > stiff.gains[-1, 0, 0] + 0.3
    wild = lens.observations(lens.still(), 0.4, 0, outlier=True)
    calm = lens.observations(lens.still(), 0.4, 0)
    system = lens.line_system(1.0, 0.1, 0.4)
    a, b = lens.story(system, wild), lens.story(system, calm)
    torch.testing.assert_close(a.gains, b.gains, rtol=0, atol=0)
    assert (a.filtered - b.filtered)[15:18, 0].min() > 0.4


def test_films_show_frames_in_their_order() -> None:
    values = torch.arange(4.0)
    forward, backward = figures.upto(values, 8), figures.back(values, 8)
    assert [int((~np.isnan(row)).sum()) for row in forward] == [1, 2, 3, 4, 4, 4, 4, 4]
    assert [int((~np.isnan(row)).sum()) for row in backward] == [0, 0, 0, 0, 1, 2, 3, 4]
    assert backward[4, 3] == 3 and np.isnan(backward[4, 2])
    x, y = figures.bands(values, torch.ones(4), backward=False)
    assert x[1].tolist() == [1, 2, 2, 2, 2, 2, 2, 1] and y[1].tolist() == [2, 3, 3, 3, -1, -1, -1, -2]


def test_typed_frames() -> None:
    x, bad = lens.typed("1, 2; ?; 3, four; 5, 6", 2)
    assert x[[0, 2]].tolist() == [[1, 2], [5, 6]] and x[1].isnan().all() and "'3, four' is no point" in bad
    numbers, none = lens.typed("1 0,\n? 2.5", 1)
    assert numbers[[0, 1, 3], 0].tolist() == [1, 0, 2.5] and not none
    with pytest.raises(ValueError, match="two frames"):
        lens.typed("?; ?", 2)
    assert "is left out" in warnings(open_warned("latent/kalman", path="own", own2="1, 1; 2; 3, 3"))


@pytest.mark.heavy
def test_too_little_to_see() -> None:
    assert "two frames" in warnings(run_page("latent/kalman", path="own", own2="1, 1"))
    assert "Nothing is left" not in warnings(open_page("latent/kalman", path="own", gap=True))
