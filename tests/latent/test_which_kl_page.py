"""Which KL: the known minimisers of two modes, ln of the kept weight, own targets."""

import math

import pytest
from opening import figure, film, open_page, open_warned, run_page, spoken, warnings

from pages.latent.which_kl import lens


def now(key: str = "d", **parameters: object) -> tuple[float, float, str]:
    bar = film(open_page("latent/which_kl", **parameters), key)
    seeks, covers = spoken(bar["equations"][bar["at"]])
    return seeks, covers, bar["captions"][bar["at"]]


def test_known_minimisers() -> None:
    """LV-O36, modes at ±3."""
    seeks, covers, text = now()
    assert (seeks, covers) == (pytest.approx(0.688769, abs=5e-4), pytest.approx(0.461995, abs=5e-4))
    assert "N(-2.98, 1.02²)" in text and "N(0.00, 3.16²)" in text and text.endswith("KL(q‖p) 0.938.")
    seeks, _, text = now(start="middle")
    assert seeks == pytest.approx(0.840619, abs=5e-4) and "N(0.00, 2.74²)" in text


def test_the_other_start_pays_the_same() -> None:
    assert now(start="right")[0] == pytest.approx(now()[0], abs=1e-4)


def test_a_minor_mode_costs_the_log_of_its_weight() -> None:
    assert now(w=0.8, start="right", d=4.0)[0] == pytest.approx(math.log(5), abs=2e-3)


def test_near_modes_need_no_choice() -> None:
    seeks, covers, _ = now(d=0.8)
    assert seeks < 0.005 and covers < 0.005


def test_no_frame_is_lost() -> None:
    """No Gaussian runs off the grid, at weights where a mode vanishes on the way."""
    for weight, side in ((0.8, "right"), (0.3, "left")):
        over_separations = lens.over_separations(weight, 1.0, side)
        assert all(f.reverse > -1e-9 and abs(f.mean) < 6 for f in over_separations.seeking)
        assert over_separations.seeking[-1].reverse == pytest.approx(
            -math.log(1 - weight if side == "right" else weight), abs=1e-3
        )


def test_own_target_by_start() -> None:
    page = open_page("latent/which_kl", target="own", own="0.3 -5 0.6, 0.4 0 0.6, 0.3 5 0.6", m=-4.0)
    bar = film(page, "m")
    means = [float(text.split("N(")[1].split(",")[0]) for text in bar["captions"]]
    assert means[0] == -5 and means[10] == 0 and means[-1] == 5
    assert spoken(bar["equations"][0])[0] == pytest.approx(-math.log(0.3), abs=1e-3)
    assert figure(page, "densities")[1]["data.1.y"].shape[0] == len(lens.STARTS)


def test_what_cannot_be_used_is_named() -> None:
    page = open_warned("latent/which_kl", target="own", own="0.5 -3 x 1, 0.5 3 1")
    assert "“x” is left out" in warnings(page) and film(page, "m")["count"] == 21
    assert "σ of 0.2 or more" in warnings(open_warned("latent/which_kl", target="own", own="1 0 1, 1 2 -1"))
    assert "Give at least one component" in warnings(run_page("latent/which_kl", target="own", own="?"))
