"""The page "RNADE density": sections, maps, own points, whole numbers, against sums and SciPy."""

import math
from functools import partial

import contracts
import pytest
import torch
from opening import captions, figure, film, metrics, open_page
from scipy.stats import norm

from lab import weights
from lab.experiments import ZOO
from lab.lenses import ink
from modules.autoregressive.rnade import RNADE
from pages.autoregressive.density import lens, own_points, whole_numbers

opened = partial(open_page, "autoregressive/density")
PLANE = ("rnade-moons", "rnade-moons-k1", "rnade-moons-k3", "rnade-rings", "rnade-rings-k1")


def random_model(scale: float = 0.7) -> RNADE:
    return contracts.exact(RNADE(event_shape=(2,), hidden=6, components=3), scale=scale).requires_grad_(False)


# --- Sections and maps ----------------------------------------------------------------------------


def test_a_section_is_the_models_own_conditional() -> None:
    model, x = random_model(), lens.axis(reach=6)
    part = lens.section(model, 0.37)
    points = torch.stack([torch.full_like(x, 0.37), x], 1)
    expected = model.log_conditionals(points)[:, 1].exp()
    torch.testing.assert_close(part.density(x), expected, rtol=0, atol=1e-12)
    assert (part.weights.diff() <= 0).all() and float(part.weights.sum()) == pytest.approx(1, abs=1e-12)
    k = 1
    by_scipy = float(part.weights[k]) * norm.pdf(x.numpy(), float(part.means[k]), float(part.sigmas[k]))
    torch.testing.assert_close(part.components(x)[k], torch.tensor(by_scipy), rtol=0, atol=1e-12)


def test_sigma_is_a_standard_deviation() -> None:
    """Against the mixture that [GM] 1.5.2 would have read with σ as the variance."""
    half = torch.tensor([0.5, 0.5], dtype=torch.float64)
    part = lens.Section(half, torch.tensor([-1.0, 1.0], dtype=torch.float64), half)
    zero, x = torch.zeros(1, dtype=torch.float64), lens.axis()
    assert part.density(zero).item() == pytest.approx(0.1079819, abs=1e-7)
    assert part.density(zero).log().item() == pytest.approx(-2.2257914, abs=1e-7)
    assert part.misread(zero).item() == pytest.approx(0.2075537, abs=1e-7)
    assert part.modes(x) == 2
    for density in (part.density(x), part.misread(x)):  # both are densities: the integral tells nothing
        assert density.sum().item() * 8 / len(x) == pytest.approx(1, abs=1e-4)


def test_a_map_is_the_density_of_every_cell() -> None:
    model = random_model(scale=0.25)
    density_map = lens.density_map(model, reach=12.0, cells=300)
    assert density_map.integral == pytest.approx(1, abs=1e-6)
    x = lens.axis(12.0, 300)
    row, column = 110, 160  # x_2 upwards, x_1 to the right
    expected = model.log_prob(torch.stack([x[column], x[row]])[None]).exp().item()
    assert density_map.density[row, column].item() == pytest.approx(expected, abs=1e-12)
    assert density_map.coarse(100).mean().item() == pytest.approx(
        density_map.density.mean().item(), abs=1e-12
    )


@pytest.mark.parametrize("name", PLANE)
def test_shipped_densities_integrate_to_one_and_their_cards_are_reproduced(name: str) -> None:
    model = weights.load(name)
    card = weights.read_card(ZOO / name)
    assert isinstance(model, RNADE)
    # one wide Gaussian leaves the window; ten fill it. Never more than 1, up to the error of the cells
    assert 0.93 < lens.density_map(model).integral < 1 + 1e-4
    assert lens.integral(model) == pytest.approx(1, abs=1e-4)  # what the page shows
    x = lens.data(lens.shape_of(name), 5000)
    assert lens.nll(model, x) == pytest.approx(card["metrics"]["test/nll"], abs=1e-4)


def test_one_gaussian_cannot_and_more_components_cost_less() -> None:
    """On the plane, from weights and cards that ship."""
    rungs = lens.ladder({name: weights.read_card(ZOO / name) for name in PLANE})
    assert list(rungs)[:3] == ["rnade-moons-k1", "rnade-moons-k3", "rnade-moons"]
    assert [rungs[n][0] for n in ("rnade-moons-k1", "rnade-moons-k3", "rnade-moons")] == [1, 3, 10]
    nll = {name: value for name, (_, value) in rungs.items()}
    assert nll["rnade-moons"] < nll["rnade-moons-k3"] < nll["rnade-moons-k1"] - 0.5
    assert nll["rnade-rings"] < nll["rnade-rings-k1"] - 0.5
    # at x_1 = 0.5 the gap between the two moons' arms is empty of data
    x = lens.axis()
    many, one = (lens.section(weights.load(n), 0.5) for n in ("rnade-moons", "rnade-moons-k1"))
    assert many.modes(x) >= 2 and one.modes(x) == 1
    gap = torch.tensor([-0.4], dtype=torch.float64)
    assert one.density(gap).item() > 10 * many.density(gap).item()
    rings = lens.section(weights.load("rnade-rings"), 0.0)
    assert rings.modes(x) >= 5


# --- Own points -----------------------------------------------------------------------------------


def test_points_lie_on_the_ink() -> None:
    picture = torch.zeros(4, 4)
    picture[0, 3], picture[3, 0] = 1.0, 0.5  # upper right, lower left with half the ink
    x = ink.scattered(picture, 4000)
    upper = x[x[:, 1] > 0]
    assert (upper > 1.5).all() and (upper <= 3).all() and (x[x[:, 1] <= 0] < -1.5).all()
    assert abs(len(upper) / 4000 - 2 / 3) < 4 * math.sqrt(2 / 9 / 4000)
    assert own_points.gaps(picture) == 1
    picture[3, 3] = 1.0
    assert own_points.gaps(picture) == 2
    with pytest.raises(ValueError, match="nothing on the pad"):
        ink.scattered(torch.zeros(4, 4), 10)


@pytest.mark.parametrize("shape, k", [("ring", 1), ("dot", 10)])
def test_own_densities_integrate_to_one(shape: str, k: int) -> None:
    """From one Gaussian on a ring to ten that shrink onto the narrowest ink there is."""
    picture, at = torch.zeros(16, 16), torch.linspace(0, 2 * math.pi, 200)
    if shape == "ring":
        picture[(7.5 + 6 * at.sin()).round().long(), (7.5 + 6 * at.cos()).round().long()] = 1
    picture[8, 2 : 14 if shape == "line" else 3] += shape != "ring"
    *_, (_, result) = own_points.fit(ink.scattered(picture, 400, 0), k, steps=300)
    assert lens.integral(result.model) == pytest.approx(1, abs=1e-3)


def test_training_on_own_points_lowers_the_cost_and_repeats() -> None:
    x = ink.scattered(dict(ink.examples(20))["two lines"], 300)
    ends = {}
    for components in (1, 4):
        *shares, (share, result) = own_points.fit(x, components, steps=120)
        assert share == 1 and [s for s, _ in shares] == sorted(s for s, _ in shares)
        assert len(result.losses) == 121 and result.losses[-1] < result.losses[0]
        ends[components] = lens.nll(result.model, x)
    assert ends[4] < ends[1] - 0.4  # two lines: ln 2 nats at least are to be had
    *_, (_, again) = own_points.fit(x, 4, steps=120)
    assert lens.nll(again.model, x) == ends[4]


# --- Whole numbers --------------------------------------------------------------------------------


def test_without_noise_the_density_leaves_every_probability_behind() -> None:
    """log σ falls without end on whole numbers, and settles with uniform noise."""
    trace = whole_numbers.whole_numbers(components=6)
    floor = trace.result
    x = whole_numbers.levels()
    assert x.shape == (400, 2) and torch.equal(x, x.round()) and x.min() >= 0 and x.max() == 16
    counts: dict[tuple[float, ...], int] = {}
    for pair in x.tolist():
        counts[tuple(pair)] = counts.get(tuple(pair), 0) + 1
    assert floor == pytest.approx(-sum(c / 400 * math.log(c / 400) for c in counts.values()), abs=1e-9)
    raw, noisy = (whole_numbers.column(trace, f"nll_{name}") for name in ("raw", "noisy"))
    narrow, spread = (whole_numbers.column(trace, f"log_sigma_{name}") for name in ("raw", "noisy"))
    assert raw[-1] < floor - 0.5 and min(noisy) > floor  # Gibbs: no probability of a level is below
    assert narrow[-1] < narrow[10] - 0.3 and narrow[-1] < -3.5
    assert min(spread) > -2 and abs(spread[-1] - spread[10]) < 0.3
    first = trace[0].values
    assert first["nll_raw"] == pytest.approx(first["nll_noisy"], abs=0.1)


def test_one_gaussian_has_no_level_to_shrink_onto() -> None:
    last = whole_numbers.whole_numbers(components=1, steps=60)[-1].values
    assert last["log_sigma_raw"] > 0 and last["nll_raw"] == pytest.approx(last["nll_noisy"], abs=0.05)


# --- The page -------------------------------------------------------------------------------------


def test_the_page_shows_the_numbers_of_the_section() -> None:
    page = opened(x1="0.5", x2="0.8")
    model = weights.load("rnade-moons").requires_grad_(False)
    value = model.log_conditionals(torch.tensor([[0.5, 0.8]]))[0, 1].exp().item()
    shown = metrics(page)
    assert float(shown["p(x₂ = 0.80 | x₁ = 0.5)"]) == pytest.approx(value, abs=1e-4)
    assert float(shown["Integral"]) == pytest.approx(1, abs=1e-3)
    bar = film(page, "x1")
    assert bar["names"][bar["at"]] == "0.5" and f"{value:.4f}" in bar["equations"][bar["at"]]
    components = page.dataframe[1].value
    assert sum(map(float, components["weight π"])) == pytest.approx(1, abs=0.01)
    assert sum(map(float, components["π N(x₂; μ, σ²)"])) == pytest.approx(value, abs=1e-3)


def test_own_points_are_trained_on_when_asked_and_can_be_cancelled() -> None:
    page = opened(show="Own points", k="2")
    page.button(key="train").click().run()
    for _ in range(60):
        if page.metric:
            break
        page.run()
    assert not page.exception and not page.error
    assert float(metrics(page)["Integral"]) == pytest.approx(1, abs=1e-3)
    page = opened(show="Own points", k="3")
    page.button(key="train").click().run()
    page.button(key="train-cancel").click().run()
    assert not page.metric and "Cancelled at" in captions(page)


def test_the_page_of_whole_numbers_shows_its_step() -> None:
    page = opened(show="Whole numbers", step="5")
    bar = film(page)
    assert bar["at"] == 5 and bar["captions"][5].startswith("After 50 steps")


def test_the_film_sweeps_through_the_plane() -> None:
    page = opened(x1="-1.2", model="rnade-rings")
    _, arrays = figure(page, "section")
    parts = lens.sections(weights.load("rnade-rings"))
    at = lens.PLACES.index(-1.2)
    x = lens.axis(cells=lens.SECTION_CELLS)
    count = len(parts[at].weights)
    assert arrays[f"data.{count}.y"][at].tolist() == pytest.approx(parts[at].density(x).tolist(), abs=1e-5)
    assert arrays["data.0.y"].shape == (71, lens.SECTION_CELLS)
    _, moves = figure(page, "plane")
    assert moves["data.2.x"][at].tolist() == pytest.approx([-1.2])
