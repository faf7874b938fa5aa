"""The page "Likelihood by ODE": its sum, its scenes, its integral."""

import math
from functools import cache, partial

import pytest
import torch
from opening import figure, film, metrics, open_page, prose

from lab import weights
from modules.diffusion import exact
from pages.diffusion.ode_likelihood import lens

opened = partial(open_page, "diffusion/ode_likelihood")


@cache
def found(
    name: str = "two modes", last: float = 20.0, x1: float = -1.5, x2: float = 0.5, tolerance: float = 1e-3,
    probes: int = 0,
) -> lens.Run:  # fmt: skip
    model = weights.load(lens.NETWORKS[name]) if name in lens.NETWORKS else None  # type: ignore[arg-type]
    return lens.run(lens.source(name, last, model), (x1, x2), tolerance, probes)  # type: ignore[arg-type]


def test_the_sum_and_what_is_drawn() -> None:
    page = opened()
    run, shown = found(), metrics(page)
    assert float(shown["log p by the ODE"]) == pytest.approx(run.prior + run.sums[-1], abs=6e-5)
    assert float(shown["The data's log p"]) == pytest.approx(run.truth, abs=6e-5)
    assert int(shown["Calls of the score"]) == run.calls == 1 + 6 * (len(run.stops) - 1)
    assert film(page)["count"] == lens.FRAMES and "only name this family" in prose(page)
    _, arrays = figure(page, "way")
    assert arrays["data.2.x"].shape == (lens.FRAMES, 1) and arrays["data.0.z"].nbytes < 2e6
    # the way starts at the point, and the crosses are those of the solve that is reported
    assert run.path[0].tolist() == [-1.5, 0.5] and run.stops[-1] == pytest.approx(1)
    # at t = 0 the map is the law of the data
    assert float(arrays["data.0.z"][0].max()) == pytest.approx(
        float(lens.two().log_prob(lens.two().means).max()), abs=0.05
    )


def test_what_the_scenes_say() -> None:
    run = found()
    source = lens.source("two modes", 20.0)
    log_p = lens.maps(source, [0.0, 1.0])
    assert log_p is not None and run.sums[-1] > 0  # it grows
    assert float(log_p[1].max()) == pytest.approx(-math.log(2 * math.pi), abs=0.01)
    far = found(x1=4.0, x2=-3.5)
    assert math.isfinite(far.log_prob) and far.log_prob < -25 and abs(far.log_prob - far.truth) < 0.05
    early = [found(last=2.0, tolerance=t) for t in (1e-3, 1e-5)]
    assert all(abs(r.mismatch) > 0.4 for r in early)  # no tolerance mends it
    assert abs(early[1].true_end - early[1].truth) < 1e-4  # and the solver is not at fault
    off = [abs(r.log_prob - r.truth) for t in (0.1, 1e-5) for r in [found("eight modes", 20.0, 3.0, 0.5, t)]]
    assert off[0] > 0.3 and off[1] < 1e-3
    assert len(found("eight modes", 20.0, 3.0, 0.5, 0.1).stops) < 6
    probed = found(probes=32)
    assert float(probed.probed.std()) > 0.3
    errors = (probed.probed - probed.log_prob).abs()
    assert abs(float(probed.probed.mean()) - probed.log_prob) < 0.3 * float(errors.mean())
    network = found("eight, network", 20.0, 3.0, 0.25)
    assert abs(network.log_prob - network.truth) < 0.1
    between, arm = (found("moons, network", 20.0, *p) for p in ((-2.0, 0.25), (-1.0, 1.5)))
    assert between.log_prob < arm.log_prob - 5


def test_another_noise_has_the_same_likelihood() -> None:
    """DF-45: sub-VP ends elsewhere, with another integral, at the same log p; the network's to a tenth."""
    for name, point, near in (("two modes", (-1.5, 0.5), 0.01), ("eight, network", (3.0, 0.25), 0.1)):
        model = weights.load(lens.NETWORKS[name]) if name in lens.NETWORKS else None  # type: ignore[arg-type]
        runs = [lens.run(lens.source(name, 20.0, model, kind), point, 1e-3, 0) for kind in lens.EQUATIONS]  # type: ignore[arg-type]
        assert all(abs(run.log_prob - run.truth) < near for run in runs)
        assert abs(runs[0].log_prob - runs[1].log_prob) < near
        assert abs(runs[0].sums[-1] - runs[1].sums[-1]) > 1e-3
        assert not torch.allclose(runs[0].path[10], runs[1].path[10], atol=0.05)


def test_units_of_the_network_are_those_of_the_data() -> None:
    """Of the true score in the network's units the answer is the data's own density."""
    run = found("eight, network", 20.0, 3.0, 0.25)
    at = exact.eight().log_prob(run.path[:1].double())
    assert float(at) == pytest.approx(run.truth, abs=1e-6)


def test_a_part_of_the_window_has_its_share_of_the_mass() -> None:
    """The first rows of the grid hold next to nothing, and a whole sum would be 1 (see test_sde)."""
    parts = lens.integral(lens.source("two modes", 20.0), 1e-3)
    share, mass = next(parts)
    assert 0 < share < 0.1 and 0 <= mass < 0.01


@pytest.mark.heavy
def test_the_window_holds_the_whole_density() -> None:
    *_, (share, mass) = lens.integral(lens.source("two modes", 20.0), 1e-3)
    assert share == 1 and mass == pytest.approx(1, abs=1e-3)


def test_moons_have_no_formula() -> None:
    shown = metrics(opened(source="moons, network", x1=-1.0, x2=1.5))
    assert shown["The data's log p"] == "no formula" == shown["Prior's mismatch"]
