"""The page "Bound, term by term": its sum, its terms, what its scenes say."""

import math
from functools import cache, partial
from typing import Any

import pytest
import torch
from opening import figure, film, metrics, open_page, plain, prose

from lab import weights
from lab.experiments import ZOO
from lab.lenses import bound_terms
from modules.diffusion import bound
from modules.diffusion.gaussian_diffusion import GaussianDiffusion
from pages.diffusion.bound_terms import lens
from pages.diffusion.bound_terms.room import LEARNED

opened = partial(open_page, "diffusion/bound_terms")


@cache
def model() -> GaussianDiffusion:
    return weights.load("ddpm-digits").eval().requires_grad_(False)  # type: ignore[return-value]


@cache
def on_the_bound() -> GaussianDiffusion:
    return weights.load("vlb-digits").eval().requires_grad_(False)  # type: ignore[return-value]


@cache
def spent(kind: str = "cosine", T: int = 250, name: str = "3", variance: str = "beta") -> bound_terms.Bits:
    result = bound_terms.schedule_of(kind, T)  # type: ignore[arg-type]
    return bound_terms.terms(
        model(), result, bound_terms.picture(name), bound_terms.variance(model(), result, variance)
    )


def test_the_sum_and_what_is_drawn() -> None:
    page = opened(T=50)
    result = spent(T=50)
    assert result.total == pytest.approx(result.prior + float(result.terms.sum()))
    shown = metrics(page)
    assert float(shown["Bits per pixel"]) == pytest.approx(result.total / 64, abs=6e-4)
    drawn, curves = figure(page, "sum")[0]["figure"]["data"], {}
    for which in bound_terms.VARIANCES:
        bits = spent(T=50, variance=which)
        (curves[which],) = (line for line in drawn if line.get("name") == f"{which}: {bits.total:.1f}")
        assert plain(curves[which]["y"]) == pytest.approx(bits.so_far.tolist(), rel=1e-5)
    assert max(curves, key=lambda which: curves[which]["line"]["width"]) == "beta"
    _, arrays = figure(page, "sum")
    assert arrays["data.1.y"][:, 0].tolist() == pytest.approx(
        [float(result.so_far[t - 1]) for t in result.times], rel=1e-5
    )
    bars = figure(page, "terms")[0]["figure"]["data"][-1]
    assert sum(plain(bars["y"])) == pytest.approx(result.total - result.prior, rel=1e-5)
    assert film(page)["count"] == len(result.times) == 41 and "only name this family" in prose(page)


@pytest.mark.parametrize("variance", ["beta", "posterior"])
def test_terms_are_those_of_the_bound(variance: bound.Variance) -> None:
    """With the same draws of noise the terms are `bound.bound`'s, one by one."""
    results, x = bound_terms.schedule_of("cosine", 10), bound_terms.picture("3")
    own = model().denoiser()

    def predict(x: torch.Tensor, t: torch.Tensor):  # type: ignore[no-untyped-def]
        return own(x, model().schedule.time_of(results.alpha_bar[t]).to(x))

    generator = torch.Generator().manual_seed(0)
    wanted = bound.bound(predict, results, model().preprocess(x), variance, 17, generator=generator)
    result = spent(T=10, variance=variance)
    nats = torch.cat([wanted.decoder, wanted.steps[:, 0]])
    assert torch.allclose(result.terms, nats / math.log(2), rtol=2e-3, atol=1e-3)
    assert result.prior == pytest.approx(float(wanted.prior) / math.log(2), rel=1e-6)


def test_a_guess_kept_in_range_costs_less_where_it_leaves_it() -> None:
    """The clamped terms are those of `bound.bound` clamped; the cosine's last step falls below a bit."""
    results, x = bound_terms.schedule_of("cosine", 250), bound_terms.picture("3")
    free, kept = (
        spent(),
        bound_terms.terms(model(), results, x, bound_terms.variance(model(), results, "beta"), clip=True),
    )
    assert bool((kept.terms[1:] <= free.terms[1:] + 1e-9).all())  # L_0 may grow: outer bins reach to infinity
    assert float(free.terms[-1]) > 10 * float(kept.terms[-1])
    page = opened(clip=True, step=40)
    assert float(metrics(page)["Bits per pixel"]) == pytest.approx(kept.total / 64, abs=6e-4)
    results = bound_terms.schedule_of("cosine", 10)
    own = model().denoiser()

    def predict(x: torch.Tensor, t: torch.Tensor):  # type: ignore[no-untyped-def]
        return own(x, model().schedule.time_of(results.alpha_bar[t]).to(x))

    generator = torch.Generator().manual_seed(0)
    wanted = bound.bound(predict, results, model().preprocess(x), "beta", 17, generator=generator, clip=1.0)
    result = bound_terms.terms(model(), results, x, bound.variances(results, "beta"), clip=True)
    assert torch.allclose(result.terms[1:], wanted.steps[:, 0] / math.log(2), rtol=2e-3, atol=1e-3)


def test_the_networks_own_chain_asks_at_whole_times() -> None:
    result = bound_terms.schedule_of("cosine", 1000)
    t = torch.tensor([1, 7, 500, 999])
    assert torch.allclose(model().schedule.time_of(result.alpha_bar[t]), t.double(), atol=1e-6)


def test_fitted_variance_lies_above_the_posteriors() -> None:
    result = bound_terms.schedule_of("linear", 50)
    square = bound_terms.variance(model(), result, "fitted")
    assert bool((square[1:] > result.posterior_variance[1:]).all()) and bool(square.isfinite().all())


@pytest.mark.parametrize("T", [10, 50, 100, 250, 1000])
def test_columns_part_the_steps(T: int) -> None:
    among = lens.columns(T)
    steps = [t for column in among for t in range(column.first, column.last + 1)]
    assert steps == list(range(1, T + 1)) and len(among) == 5
    assert all(column.first <= column.shown <= column.last for column in among)


def test_where_the_bits_of_mnist_are_spent() -> None:
    """What the first scene says, of every digit and of three draws of noise."""
    mnist: Any = weights.load("ddpm-mnist").eval().requires_grad_(False)
    results, among = bound_terms.schedule_of("cosine", 250), lens.columns(250)
    square = bound_terms.variance(mnist, results, "beta", True)
    for name, seed in [*((str(k), 0) for k in range(10)), ("3", 1), ("3", 2)]:
        x = bound_terms.picture(name, *bound_terms.of_model(mnist))
        result = bound_terms.terms(mnist, results, x, square, seed, True)
        first, second, *_, noisy, last = (column.bits(result) for column in among)
        assert first + second > 0.6 * result.total and noisy + last < 0.15 * result.total, (name, seed)
        assert float((result.noisy[among[0].shown - 1] - x).abs().mean()) < 0.02  # no eye sees that
    assert x.shape == (1, 1, 28, 28) and torch.equal((255 * x).round() / 255, x)


def test_the_first_scene_shows_the_noise_and_the_guess() -> None:
    page = opened(scene="Bits by t")
    drawn = figure(page, "terms")[0]["figure"]["data"]
    sheet = torch.tensor(plain(drawn[0]["z"])).reshape(60, 150)
    bits = plain(drawn[-1]["y"])
    mnist: Any = weights.load("ddpm-mnist").eval().requires_grad_(False)
    results = bound_terms.schedule_of("cosine", 250)
    x = bound_terms.picture("3", *bound_terms.of_model(mnist))
    result = lens.spent(mnist, results, x, "beta", clip=True)
    for i, column in enumerate(lens.columns(250)):
        assert bits[i] == pytest.approx(column.bits(result), rel=1e-4)
        for row, pictures in enumerate((result.noisy, result.clean)):
            observed = sheet[30 * row : 30 * row + 28, 30 * i : 30 * i + 28]
            assert torch.allclose(observed, pictures[column.shown - 1], atol=1e-4)
    assert "of at most 6272.0" in prose(page)  # 784 pixels of 256 greys


def test_what_the_scenes_say() -> None:
    usual = spent()
    assert usual.half < 0.1 * 250
    assert spent(variance="posterior").total > usual.total > spent(variance="fitted").total
    ten = spent(T=10)
    assert 0.4 < float(ten.terms[0]) / ten.total < 0.5
    assert spent("linear").total < usual.total
    result = bound_terms.schedule_of("cosine", 250)
    assert float(result.beta[-1]) == pytest.approx(0.999)
    c0, _, _ = result.posterior_weights(torch.tensor(250), torch.tensor(249))
    # of the clean guess the squared error is ε's over SNR, and it counts c_0² times over σ²: a thousandfold
    assert float(c0**2 / result.snr[250] / result.beta[250]) == pytest.approx(1000, rel=0.01)
    assert float(usual.terms[-1]) > 20 > 1 > float(spent("linear").terms[-1])
    assert spent(name="random greys").total > 3 * usual.total


def test_each_scene_of_a_variance_shows_it_among_the_others() -> None:
    """The three σ² are drawn in one picture, each scene's own in front, in the order that is said."""
    fronts, ends = [], {}
    for scene in ("1", "2", "3"):
        drawn = [line for line in figure(opened(scene=scene), "sum")[0]["figure"]["data"] if line.get("name")]
        assert len(drawn) == 3
        fronts.append(max(drawn, key=lambda line: line["line"]["width"])["name"].split(":")[0])
        ends = {line["name"].split(":")[0]: plain(line["y"])[-1] for line in drawn}
        assert max(ends.values()) - min(ends.values()) > 0.1 * max(ends.values())  # visibly apart
    assert fronts == ["beta", "posterior", "fitted"]
    assert ends["posterior"] > ends["beta"] > ends["fitted"]


def test_a_network_trained_on_the_bound_stands_beside_the_other() -> None:
    page = opened(scene="9")
    drawn = [line for line in figure(page, "sum")[0]["figure"]["data"] if line.get("name")]
    of_bound, of_error = (torch.tensor(plain(line["y"])) for line in drawn)
    assert [line["name"].split(":")[0] for line in drawn] == ["vlb-digits, learned", "ddpm-digits, beta"]
    assert bool((of_bound < of_error).all()) and float(of_bound[-1]) < 0.85 * float(of_error[-1])
    card = weights.read_card(ZOO / "vlb-digits")
    text = f"{card['metrics']['test/bpd']:.2f} ± {card['error']['test/bpd']:.2f}"
    assert f"vlb-digits needs {text} bits per pixel" in prose(page)
    assert "ddpm-digits needs 4.06 ± " in prose(opened())


def test_what_the_ninth_scene_says_holds_for_every_digit() -> None:
    result = bound_terms.schedule_of("linear", 100)
    for name in map(str, range(10)):
        x = bound_terms.picture(name)
        trained = lens.spent(on_the_bound(), result, x, LEARNED)
        assert bool((trained.so_far < lens.spent(model(), result, x, "beta").so_far).all()), name


def test_learned_variances_are_those_of_the_models_own_bound() -> None:
    """On its own chain the terms are the model's, with the same draws of noise."""
    own, x = on_the_bound(), bound_terms.picture("3")
    results = bound_terms.schedule_of("linear", own.schedule.T)
    wanted = own.bound(own.preprocess(x), generator=torch.Generator().manual_seed(0))
    result = lens.spent(own, results, x, LEARNED)
    nats = torch.cat([wanted.decoder, wanted.steps[:, 0]])
    assert torch.allclose(result.terms, nats / math.log(2), rtol=2e-3, atol=1e-3)
    assert (
        lens.kinds_of(own) == [*bound_terms.VARIANCES, "learned"]
        and lens.kinds_of(model()) == bound_terms.VARIANCES
    )
