"""The page "From noise to data": its shares, its film, what its scenes say."""

from functools import cache, partial

import pytest
import torch
from opening import figure, machine, metrics, open_page

from lab import weights
from lab.lenses import eight
from lab.lenses.precision import double
from modules.diffusion import exact
from pages.diffusion.reverse import lens

opened = partial(open_page, "diffusion/reverse")


@cache
def shares(sampler: str, steps: int, eta: float = 0.0) -> tuple[float, float]:
    found = lens.both(double(weights.load("ddpm-eight")), sampler, steps, eta, 0)  # type: ignore[arg-type]
    return float(found["exact"].share[-1]), float(found["network"].share[-1])


def test_errors_of_solver_and_network_add_up() -> None:
    page = opened()
    shown = metrics(page)
    best, net = shares("DDIM", 40)
    assert float(shown["Missed by the solver"]) == pytest.approx(lens.data() - best, abs=6e-4)
    assert float(shown["Missed by the network"]) == pytest.approx(best - net, abs=6e-4)
    assert machine(page) == {"xt": "t = 0", "net": "call 40 of 40"}
    _, arrays = figure(page, "cloud")
    ends = torch.tensor([arrays["data.1.x"][40], arrays["data.1.y"][40]]).T.double()
    assert float(eight.near(ends)) == pytest.approx(net, abs=5e-3)
    assert arrays["data.1.x"].shape == (41, eight.CLOUD)


def test_what_the_scenes_say() -> None:
    assert shares("DDIM", 40)[1] > 0.9
    assert shares("DDIM", 5)[0] < 0.6
    assert abs(shares("DDIM", 100, 1.0)[1] - shares("DDIM", 100)[1]) < 0.03
    assert shares("Heun", 40)[1] > shares("DDIM", 40)[1]
    assert all(a > b for a, b in zip(shares("corrected", 10), shares("DDIM", 10, 1.0), strict=True))
    model = double(weights.load("ddpm-eight"))  # type: ignore[arg-type]
    runs = {eta: lens.both(model, "DDIM", 100, eta, 0)["network"] for eta in (0.0, 1.0)}
    assert lens.turns(runs[1.0]) > 1.5 * lens.turns(runs[0.0])
    half = lens.both(model, "DDIM", 40, 0.0, 0)["network"].cloud[20]
    assert abs(float(half.std(0).mean()) - model.scale) < 0.25  # about the noise's own size
    assert float(eight.near(half)) < 0.3
    run = lens.both(model, "DDIM", 40, 0.0, 0)["network"]
    assert 0.3 < float(run.share[34]) < float(run.share[40])  # the modes form late


def test_the_datas_own_share() -> None:
    x, _ = exact.eight().draw(20_000, torch.Generator().manual_seed(0))
    assert float(eight.near(x)) == pytest.approx(lens.data(), abs=4e-3)


@pytest.mark.parametrize("sampler", ["Heun", "corrected"])
def test_some_ask_twice_a_step(sampler: str) -> None:
    assert machine(opened(sampler=sampler, S=10))["net"] == "call 19 of 19"
