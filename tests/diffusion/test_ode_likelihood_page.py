"""The page "Likelihood by ODE": its sum, its scenes, its integral."""

import math
from functools import cache, partial
from itertools import pairwise, product
from typing import Any

import pytest
import torch
from opening import figure, film, metrics, open_page, prose

from lab import weights
from modules.diffusion import exact
from pages.diffusion.ode_likelihood import lens
from pages.diffusion.ode_likelihood.room import EQUATIONS

NETWORKS = {"eight, network": "ddpm-eight", "moons, network": "ddpm-moons"}
opened = partial(open_page, "diffusion/ode_likelihood")


@cache
def run_of(
    name: str = "two modes", last: float = 20.0, x1: float = -1.5, x2: float = 0.5, tolerance: float = 1e-3,
    probes: int = 0,
) -> lens.Run:  # fmt: skip
    model = weights.load(NETWORKS[name]) if name in NETWORKS else None  # type: ignore[arg-type]
    return lens.run(lens.named(name, last, model), (x1, x2), tolerance, probes)  # type: ignore[arg-type]


def test_the_sum_and_what_is_drawn() -> None:
    page = opened()
    run, shown = run_of(), metrics(page)
    assert float(shown["log p by the ODE"]) == pytest.approx(run.prior + run.sums[-1], abs=6e-5)
    assert float(shown["The data's log p"]) == pytest.approx(run.truth, abs=6e-5)
    assert f"with {run.calls} calls of the score" in prose(page)
    assert f"the mismatch of the prior, {run.mismatch:+.4f}, is" in prose(page)
    assert run.calls == 1 + 6 * (len(run.stops) - 1)
    assert film(page)["count"] == lens.FRAMES and "only name this family" in prose(page)
    _, arrays = figure(page, "way")
    assert arrays["data.2.x"].shape == (lens.FRAMES, 1) and arrays["data.0.z"].nbytes < 2e6
    # the way starts at the point, and the crosses are those of the solve that is reported
    assert run.path[0].tolist() == [-1.5, 0.5] and run.stops[-1] == pytest.approx(1)
    # at t = 0 the map is the distribution of the data
    assert float(arrays["data.0.z"][0].max()) == pytest.approx(
        float(lens.two().log_prob(lens.two().means).max()), abs=0.05
    )


def test_what_the_scenes_say() -> None:
    run = run_of()
    source = lens.named("two modes", 20.0)
    log_p = lens.maps(source, [0.0, 1.0])
    assert log_p is not None and run.sums[-1] > 0  # it grows
    assert float(log_p[1].max()) == pytest.approx(-math.log(2 * math.pi), abs=0.01)
    far = run_of(x1=4.0, x2=-3.5)
    assert math.isfinite(far.log_prob) and far.log_prob < -25 and abs(far.log_prob - far.truth) < 0.05
    early = [run_of(last=2.0, tolerance=t) for t in (1e-3, 1e-5)]
    assert all(abs(r.mismatch) > 0.4 for r in early)  # no tolerance mends it
    assert abs(early[1].true_end - early[1].truth) < 1e-4  # and the solver is not at fault
    off = [abs(r.log_prob - r.truth) for t in (0.1, 1e-5) for r in [run_of("eight modes", 20.0, 3.0, 0.5, t)]]
    assert off[0] > 0.3 and off[1] < 1e-3
    assert len(run_of("eight modes", 20.0, 3.0, 0.5, 0.1).stops) < 6
    probed = run_of(probes=32)
    assert float(probed.probed.std()) > 0.3
    errors = (probed.probed - probed.log_prob).abs()
    assert abs(float(probed.probed.mean()) - probed.log_prob) < 0.3 * float(errors.mean())
    network = run_of("eight, network", 20.0, 3.0, 0.25)
    assert abs(network.log_prob - network.truth) < 0.1
    between, arm = (run_of("moons, network", 20.0, *p) for p in ((-2.0, 0.25), (-1.0, 1.5)))
    assert between.log_prob < arm.log_prob - 5


def test_another_noise_has_the_same_likelihood() -> None:
    """DF-45: sub-VP ends elsewhere, with another integral, at the same log p; the network's to a tenth."""
    for name, point, near in (("two modes", (-1.5, 0.5), 0.01), ("eight, network", (3.0, 0.25), 0.1)):
        model = weights.load(NETWORKS[name]) if name in NETWORKS else None  # type: ignore[arg-type]
        runs = [lens.run(lens.named(name, 20.0, model, kind), point, 1e-3, 0) for kind in EQUATIONS]  # type: ignore[arg-type]
        assert all(abs(run.log_prob - run.truth) < near for run in runs)
        assert abs(runs[0].log_prob - runs[1].log_prob) < near
        assert abs(runs[0].sums[-1] - runs[1].sums[-1]) > 1e-3
        assert not torch.allclose(runs[0].path[10], runs[1].path[10], atol=0.05)


def test_units_of_the_network_are_those_of_the_data() -> None:
    """Of the true score in the network's units the answer is the data's own density."""
    run = run_of("eight, network", 20.0, 3.0, 0.25)
    at = exact.eight().log_prob(run.path[:1].double())
    assert float(at) == pytest.approx(run.truth, abs=1e-6)


def test_a_part_of_the_window_has_its_share_of_the_mass() -> None:
    """Points left of the middle hold the left hill's share at most; the whole sum is 1."""
    share, mass = next(lens.integral(lens.named("two modes", 20.0), 1e-3))
    assert 0 < share < 0.2 and 0.5 < mass < 0.6


@pytest.mark.heavy
def test_the_window_holds_the_whole_density() -> None:
    *_, (share, mass) = lens.integral(lens.named("two modes", 20.0), 1e-3)
    assert share == 1 and mass == pytest.approx(1, abs=1e-3)


def test_moons_have_no_formula() -> None:
    page = opened(source="moons, network", x1=-1.0, x2=1.5)
    assert "No formula is known for the data's log p" in prose(page) and "mismatch" not in prose(page)


# --- Networks, by another road --------------------------------------------------------------------------


def by_another_road(name: str, last: float, kind: str, x: torch.Tensor, steps: int = 100) -> torch.Tensor:
    """log p of x (N, 2): the equation written out, the trace of the whole Jacobian, Runge and Kutta's even
    steps in √t, in double precision; near the data 200 steps are off by 10⁻³, 400 by 10⁻⁵."""
    model = weights.load(NETWORKS[name]).double().requires_grad_(False)  # type: ignore[index]
    text, schedule = model.denoiser(), model.schedule

    def kernel(t: float) -> tuple[float, float]:
        """m² and v."""
        kept = math.exp(-t * (0.1 + t * (last - 0.1) / 2))
        return kept, (1 - kept) ** 2 if kind == "sub-VP" else 1 - kept

    def field(h: torch.Tensor, t: float) -> torch.Tensor:
        (kept, v), beta = kernel(t), 0.1 + t * (last - 0.1)
        g2 = beta * (1 - kept**2) if kind == "sub-VP" else beta
        r = math.sqrt(kept + v)
        time = schedule.time_of(torch.tensor(kept / r**2, dtype=torch.float64))
        eps = text(h / r, time.expand(len(h)))[1]
        return -beta / 2 * h + g2 / 2 * eps / math.sqrt(v)

    def slopes(h: torch.Tensor, t: float) -> torch.Tensor:
        """The field, and its divergence beside it, (N, 3)."""
        jacobian = torch.autograd.functional.jacobian(lambda y: field(y, t).sum(0), h)  # (2, N, 2)
        return torch.cat([field(h, t), jacobian.diagonal(dim1=0, dim2=2).sum(1, keepdim=True)], 1)

    low, high = 0.0, 1.0
    for _ in range(60):
        kept, v = kernel((low + high) / 2)
        early = kept / (kept + v) > schedule.alpha_bar[1]
        low, high = ((low + high) / 2, high) if early else (low, (low + high) / 2)
    times = [high + (1 - high) * (n / steps) ** 2 for n in range(steps + 1)]
    state = torch.cat([x.double() / model.scale, torch.zeros(len(x), 1).double()], 1)
    for t, after in pairwise(times):
        h = after - t
        a = slopes(state[:, :2], t)
        b = slopes((state + h / 2 * a)[:, :2], t + h / 2)
        c = slopes((state + h / 2 * b)[:, :2], t + h / 2)
        d = slopes((state + h * c)[:, :2], after)
        state = state + h / 6 * (a + 2 * b + 2 * c + d)
    end = -0.5 * state[:, :2].square().sum(1) - math.log(2 * math.pi)
    return end + state[:, 2] - 2 * math.log(model.scale)


SETTINGS = list(product(NETWORKS, (2.0, 20.0), EQUATIONS))
IN_EACH_RUN = [("eight, network", 20.0, "sub-VP"), ("moons, network", 20.0, "VP")]
NEAR = [(3.0, 0.25), (-1.0, 1.5), (0.0, 0.0)]  # log p of both lies above −20


def marked(settings: tuple[str, float, str]) -> Any:
    return pytest.param(*settings, marks=pytest.mark.heavy if settings in IN_EACH_RUN else pytest.mark.soak)


@pytest.mark.parametrize("name, last, kind", map(marked, SETTINGS))
def test_a_networks_log_p_is_that_of_another_road(name: str, last: float, kind: str) -> None:
    """As near as the page says that a tolerance holds it."""
    due = by_another_road(name, last, kind, torch.tensor(NEAR))
    result = lens.named(name, last, weights.load(NETWORKS[name]), kind)  # type: ignore[index, arg-type]
    for tolerance, near in lens.HELD.items():
        shown = [lens.run(result, point, tolerance, 0).log_prob for point in NEAR]
        assert shown == pytest.approx(due.tolist(), abs=near), tolerance


@pytest.mark.soak
@pytest.mark.parametrize("name, last, kind", SETTINGS)
def test_a_networks_density_holds_all_of_its_mass(name: str, last: float, kind: str) -> None:
    result = lens.named(name, last, weights.load(NETWORKS[name]), kind)  # type: ignore[index, arg-type]
    *_, (share, mass) = lens.integral(result, lens.INTEGRATED)
    assert share == 1 and mass == pytest.approx(1, abs=1e-3)
