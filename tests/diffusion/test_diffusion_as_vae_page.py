"""The page "Diffusion as a VAE": both bounds, the Gaussian's gap (DF-O11), what its scenes say."""

import math
from functools import cache, partial

import pytest
import torch
from opening import figure, film, metrics, open_page, prose, spoken

from lab import weights
from lab.lenses import bound_terms as terms
from modules.diffusion import bound, exact
from modules.diffusion.gaussian_diffusion import GaussianDiffusion
from modules.diffusion.schedule import linear
from modules.latent.vae import VAE
from pages.diffusion.diffusion_as_vae import lens, room

opened = partial(open_page, "diffusion/diffusion_as_vae")


@cache
def models() -> tuple[GaussianDiffusion, VAE]:
    return tuple(weights.load(n).eval().requires_grad_(False) for n in ("ddpm-digits", "vae-digits"))  # type: ignore[return-value, union-attr, attr-defined]


@cache
def digit(name: str = "3", variance: str = room.BEST) -> lens.Digit:
    return lens.digit(*models(), name, variance)


def chain(T: int, name: str = "3", variance: str = room.BEST) -> lens.Parts:
    return digit(name, variance).diffusion[room.STEPS.index(T)]


# --- A Gaussian ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("T", "best", "beta", "posterior"),
    [(1000, 0.7258115320, 0.7269037871, 1.2957374633), (100, 0.7258015477, 0.7367622344, 1.9980011676),
     (10, 0.7257913526, 0.8477569257, 6.1155564983)],
)  # fmt: skip
def test_bounds_of_gaussian_data(T: int, best: float, beta: float, posterior: float) -> None:
    totals = [lens.expected(T, kind).total for kind in room.VARIANCES]
    assert totals == pytest.approx([best, beta, posterior], abs=1e-9)


def test_the_gap_of_the_best_variance_is_what_the_prior_misses() -> None:
    gaps = lens.gaps()
    assert torch.allclose(gaps[room.BEST], gaps["KL at T"], atol=1e-12)
    assert bool((torch.stack([gaps[name] for name in room.VARIANCES]) > -1e-12).all())
    for T in (50, 1000):  # the distribution of x_T, by torch's own KL
        a = float(linear(T).alpha_bar[-1])
        own = torch.distributions.Normal(
            torch.tensor(math.sqrt(a) * lens.MEAN).double(),
            torch.tensor(math.sqrt(a * lens.VARIANCE + 1 - a)).double(),
        )
        standard = torch.distributions.Normal(torch.tensor(0.0).double(), torch.tensor(1.0).double())
        assert lens.missed(T) == pytest.approx(
            float(torch.distributions.kl_divergence(own, standard)), abs=1e-12
        )


@pytest.mark.parametrize("variance", ["beta", "posterior"])
def test_terms_are_means_of_the_bound(variance: bound.Variance) -> None:
    """Each part, by draws of data and noise through `bound.bound` with the exact denoiser."""
    result, n = linear(10), 20_000
    generator = torch.Generator().manual_seed(0)
    distribution = exact.Mixture(torch.tensor([[lens.MEAN]]), lens.VARIANCE)
    x, _ = distribution.draw(n, generator)
    drawn = bound.bound(distribution.denoiser(result), result, x, variance, generator=generator)
    parts = lens.expected(10, variance)
    for mean, values in (
        (parts.picture, drawn.decoder), (parts.codes, drawn.steps.sum(0)), (parts.last, drawn.prior),
    ):  # fmt: skip
        assert abs(float(values.mean()) - mean) < 5 * float(values.std()) / math.sqrt(n) + 1e-12


# --- A digit ------------------------------------------------------------------------------------


def test_terms_of_the_chain_add_up_to_those_of_the_other_page() -> None:
    model, x = models()[0], terms.picture("3")
    result = terms.schedule_of("linear", 50)
    whole = terms.terms(model, result, x, terms.variance(model, result, "beta"))
    assert chain(50, variance=room.BETA).total == pytest.approx(whole.total, rel=1e-9)


def test_bits_of_the_vae_by_hand() -> None:
    """Masses of grey levels by differences of the normal's distribution; the KL by torch's own."""
    vae, x = models()[1], terms.picture("3")
    own = lens.autoencoded(vae, x)
    q = vae.posterior(x)
    assert own.parts.last == pytest.approx(
        float(torch.distributions.kl_divergence(q, vae.prior)) / math.log(2), rel=1e-5
    )
    noise = torch.randn(lens.DRAWS, 1, vae.latent_dim, generator=torch.Generator().manual_seed(0))
    mean, log_var = vae.encode_parameters(x)
    pixels = vae.decode(mean + (0.5 * log_var).exp() * noise)[:, 0].double()
    spread = torch.distributions.Normal(pixels, float((0.5 * vae.decoder_log_var).exp()))
    grey = x.flatten().double()
    low = torch.where(grey < 0.01, 0.0, spread.cdf(grey - 1 / 32))
    high = torch.where(grey > 0.99, 1.0, spread.cdf(grey + 1 / 32))
    bits = -(high - low).clamp(min=1e-30).log2().sum(1)
    assert own.parts.picture == pytest.approx(float(bits.mean()), rel=2e-3)


def test_masses_of_the_vae_are_a_law_of_grey_levels() -> None:
    levels = torch.linspace(0, 1, terms.LEVELS, dtype=torch.float64)
    sigma = float((0.5 * models()[1].decoder_log_var).exp())
    for mean in (-0.1, 0.02, 0.5, 1.3):
        mass = bound.log_bin(2 * levels - 1, torch.full_like(levels, 2 * mean - 1), 2 * sigma, terms.LEVELS)
        assert float(mass.exp().sum()) == pytest.approx(1, abs=1e-12)


def test_the_ladder_has_the_chains_law() -> None:
    """At rung t of many ladders of a blank paper: mean √ᾱ x, deviation √(1−ᾱ), in the model's units."""
    model, x = models()[0], torch.full((1, 1, 8, 8), 0.5)
    rungs = torch.stack([lens.ladder(model, 10, x, seed) for seed in range(40)])
    assert rungs.shape == (40, lens.RUNGS + 1, 8, 8) and bool((rungs[:, 0] == 0.5).all())
    a = linear(10).alpha_bar[2]
    inside = rungs[:, 1]  # of grey paper x is 0 there; at t = 2 few are clamped
    share = float((inside.gt(0) & inside.lt(1)).double().mean())
    wanted = math.erf(1 / math.sqrt(2 * float(1 - a)))
    assert share == pytest.approx(wanted, abs=0.03)


def test_what_is_shown_of_a_digit() -> None:
    page = opened(T=10)
    now, other = chain(10), digit().vae.parts
    shown = metrics(page)
    assert shown["Bits"] == f"{now.total:.1f} / {other.total:.1f}"
    assert shown["Numbers in the codes"] == "640 / 10"
    assert f"encoder of {65 * 256 + 257 * 20:,} weights" in prose(page)
    _, arrays = figure(page, "bars")
    assert arrays["data.1.y"][0].tolist() == pytest.approx([now.codes, 0.0])
    assert arrays["data.2.base"][0].tolist() == pytest.approx([now.picture + now.codes, other.picture])
    numbers = spoken(film(page, "T")["equations"][0])
    assert numbers[-4] + numbers[-3] + numbers[-2] == pytest.approx(numbers[-1], abs=0.02)
    assert "only name this family" in prose(page)


@cache
def large() -> tuple[GaussianDiffusion, VAE, lens.Chains]:
    pair = [weights.load(n).eval().requires_grad_(False) for n in ("ddpm-mnist", "vae-mnist")]  # type: ignore[union-attr, attr-defined]
    return *pair, lens.chains(*pair, "3", room.BETA)  # type: ignore[return-value, arg-type]


def test_both_chains_meet_at_the_last_code() -> None:
    """What the first scene says: up from the picture, down from the same x_T."""
    model, _, result = large()
    x = terms.picture("3", *terms.of_model(model))
    assert result.codes.shape == result.reconstructions.shape == (5, 6, 28, 28)
    assert torch.allclose(result.codes[:, 0], x[0].expand(5, 28, 28), atol=1e-6)
    assert torch.equal(result.codes[:, -1], result.reconstructions[:, -1])
    for i, T in enumerate(room.STEPS[:3]):
        results = terms.schedule_of("cosine", T)
        whole = terms.terms(model, results, x, bound.variances(results, "beta"), clip=True)
        assert result.parts[i].total == pytest.approx(whole.total, rel=1e-6)
        assert float(result.bits[i].sum()) + whole.prior == pytest.approx(whole.total, rel=1e-6)


def test_the_decoders_last_step_is_the_guess() -> None:
    """At t = 1 no noise is drawn: x_0 is the clipped x̂_0 of x_1."""
    model, _, _ = large()
    result = terms.schedule_of("cosine", 10)
    down = lens.descended(model, result, torch.randn(1, 1, 28, 28), room.BETA)
    own = model.schedule.time_of(result.alpha_bar[1:2]).to(down[1])
    guess = model.denoiser()(down[1], own)[0].clamp(-1, 1)
    assert len(down) == 11 and torch.allclose(down[0], guess, atol=1e-4)


def test_what_is_shown_of_the_chains() -> None:
    page = opened(scene="Chain and VAE")
    _, vae, result = large()
    _, arrays = figure(page, "chain")
    assert arrays["data.0.z"].shape == (5, 60, 180) and arrays["data.1.y"].shape == (5, 6)
    assert arrays["data.1.y"][2][1:].tolist() == pytest.approx(result.bits[2].tolist(), rel=1e-4)
    assert arrays["data.0.z"][2][30:58, :28] == pytest.approx(result.reconstructions[2, 0].numpy(), abs=1e-3)
    encoder = sum(p.numel() for p in vae.encoder.parameters())
    assert f"encoder of {encoder:,} weights" in prose(page)
    assert "39,200 numbers, the VAE's 40" in film(page, "T")["captions"][2]


def test_what_is_shown_of_a_gaussian() -> None:
    page = opened(of="a Gaussian", T=100, variance="beta")
    parts = lens.expected(100, "beta")
    assert metrics(page)["Bound"] == f"{parts.total:.6f} nats"
    _, arrays = figure(page, "gaps")
    point = next(k for k in arrays if k.endswith(".y"))
    assert arrays[point][3][0] == pytest.approx(parts.total - lens.ENTROPY, rel=1e-5)
    _, arrays = figure(page, "terms")
    i = room.STEPS.index(100)
    assert arrays["data.3.y"][i][3] == pytest.approx(parts.total, rel=1e-5)
    assert arrays["data.2.base"][i][2] + arrays["data.2.y"][i][2] == pytest.approx(parts.total, rel=1e-5)


def test_what_the_scenes_say() -> None:
    vae = digit().vae.parts
    assert chain(10).total > vae.total > chain(50).total
    assert chain(250).picture < 0.02 * chain(250).total and vae.picture > 0.75 * vae.total
    assert digit("blank").vae.parts.total > 2 * chain(50, "blank").total
    three = [chain(50, variance=variance).total for variance in room.VARIANCES]
    assert three == sorted(three)
    result, model = terms.schedule_of("linear", 50), models()[0]
    squares = [terms.variance(model, result, kind) for kind in ("posterior", "beta", "fitted")]
    assert bool((squares[0][2:] < squares[1][2:]).all()) and bool((squares[0][2:] < squares[2][2:]).all())
    gaps = lens.gaps()
    assert float(gaps[room.BETA][3] / gaps[room.BETA][0]) == pytest.approx(0.1, abs=0.02)
    assert float(gaps[room.POSTERIOR].min()) > 0.5
