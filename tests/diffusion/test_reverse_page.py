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
def runs(sampler: str, steps: int, eta: float = 0.0, seed: int = 0) -> dict[str, lens.Run]:
    return lens.both(double(weights.load("ddpm-eight")), sampler, steps, eta, seed)  # type: ignore[arg-type]


def shares(sampler: str, steps: int, eta: float = 0.0, seed: int = 0) -> tuple[float, float]:
    result = runs(sampler, steps, eta, seed)
    return float(result["exact"].share[-1]), float(result["network"].share[-1])


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


@pytest.mark.parametrize("seed", range(5))
def test_what_the_scenes_say(seed: int) -> None:
    plain = runs("DDIM", 40, seed=seed)["network"]
    share = plain.share.tolist()
    assert share[-1] > 0.9
    assert abs(float(plain.cloud[20].std(0).mean()) - weights.load("ddpm-eight").scale) < 0.25  # type: ignore[arg-type]
    assert share[20] < 0.3 < share[34] < 0.45  # the modes form late
    assert shares("DDIM", 5, seed=seed)[0] < 0.6
    assert shares("Heun", 40, seed=seed)[1] > share[-1]
    assert abs(shares("corrected", 10, seed=seed)[1] - shares("DDIM", 10, seed=seed)[1]) < 0.05


@pytest.mark.parametrize("seed", range(5))
def test_with_noise_the_paths_are_jagged_and_end_as_near(seed: int) -> None:
    straight, jagged = (runs("DDIM", 100, eta, seed)["network"] for eta in (0.0, 1.0))
    assert lens.turns(straight) < 1.5 and lens.turns(jagged) > 8
    assert abs(float(straight.share[-1]) - float(jagged.share[-1])) < 0.04


def test_the_datas_own_share() -> None:
    x, _ = exact.eight().draw(20_000, torch.Generator().manual_seed(0))
    assert float(eight.near(x)) == pytest.approx(lens.data(), abs=4e-3)


@pytest.mark.parametrize("sampler", ["Heun", "corrected"])
def test_some_ask_twice_a_step(sampler: str) -> None:
    assert machine(opened(sampler=sampler, S=10))["net"] == "call 19 of 19"
