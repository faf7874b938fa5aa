"""The page "Bound, term by term": its sum, its terms, what its scenes say."""

import math
from functools import cache, partial

import pytest
import torch
from opening import figure, film, metrics, open_page, prose

from lab import weights
from modules.diffusion import bound
from modules.diffusion.learned import Diffusion
from pages.diffusion.bound_terms import lens

opened = partial(open_page, "diffusion/bound_terms")


@cache
def model() -> Diffusion:
    return weights.load("ddpm-digits").eval().requires_grad_(False)  # type: ignore[return-value]


@cache
def spent(kind: str = "cosine", T: int = 250, name: str = "3", variance: str = "beta") -> lens.Bits:
    made = lens.chain(kind, T)  # type: ignore[arg-type]
    return lens.terms(model(), made, lens.picture(name), lens.variance(model(), made, variance))


def test_the_sum_and_what_is_drawn() -> None:
    page = opened(T=50)
    found = spent(T=50)
    assert found.total == pytest.approx(found.prior + float(found.terms.sum()))
    shown = metrics(page)
    assert float(shown["Bits per pixel"]) == pytest.approx(found.total / 64, abs=6e-4)
    assert float(shown["With posterior"]) == pytest.approx(spent(T=50, variance="posterior").total, abs=0.06)
    _, arrays = figure(page, "terms")
    assert arrays["data.1.y"][:, 0].tolist() == pytest.approx(
        [float(found.terms[t - 1]) for t in found.times], rel=1e-5
    )
    assert film(page)["count"] == len(found.times) == 41 and "only name this family" in prose(page)


@pytest.mark.parametrize("variance", ["beta", "posterior"])
def test_terms_are_those_of_the_bound(variance: bound.Variance) -> None:
    """With the same draws of noise the terms are `bound.bound`'s, one by one."""
    made, x = lens.chain("cosine", 10), lens.picture("3")
    own = model().denoiser()

    def predict(x: torch.Tensor, t: torch.Tensor):  # type: ignore[no-untyped-def]
        return own(x, model().schedule.time_of(made.alpha_bar[t]).to(x))

    generator = torch.Generator().manual_seed(0)
    wanted = bound.bound(predict, made, model().inside(x), variance, 17, generator=generator)
    found = spent(T=10, variance=variance)
    nats = torch.cat([wanted.decoder, wanted.steps[:, 0]])
    assert torch.allclose(found.terms, nats / math.log(2), rtol=2e-3, atol=1e-3)
    assert found.prior == pytest.approx(float(wanted.prior) / math.log(2), rel=1e-6)


def test_a_guess_kept_in_range_costs_less_where_it_leaves_it() -> None:
    """The clamped terms are those of `bound.bound` clamped; the cosine's last hop falls below a bit."""
    made, x = lens.chain("cosine", 250), lens.picture("3")
    free, kept = spent(), lens.terms(model(), made, x, lens.variance(model(), made, "beta"), clip=True)
    assert bool((kept.terms[1:] <= free.terms[1:] + 1e-9).all())  # L_0 may grow: outer bins reach to infinity
    assert float(free.terms[-1]) > 10 * float(kept.terms[-1])
    page = opened(clip=True, step=40)
    assert float(metrics(page)["Bits per pixel"]) == pytest.approx(kept.total / 64, abs=6e-4)
    made = lens.chain("cosine", 10)
    own = model().denoiser()

    def predict(x: torch.Tensor, t: torch.Tensor):  # type: ignore[no-untyped-def]
        return own(x, model().schedule.time_of(made.alpha_bar[t]).to(x))

    generator = torch.Generator().manual_seed(0)
    wanted = bound.bound(predict, made, model().inside(x), "beta", 17, generator=generator, clip=1.0)
    found = lens.terms(model(), made, x, bound.variances(made, "beta"), clip=True)
    assert torch.allclose(found.terms[1:], wanted.steps[:, 0] / math.log(2), rtol=2e-3, atol=1e-3)


def test_the_networks_own_chain_asks_at_whole_times() -> None:
    made = lens.chain("cosine", 1000)
    t = torch.tensor([1, 7, 500, 999])
    assert torch.allclose(model().schedule.time_of(made.alpha_bar[t]), t.double(), atol=1e-6)


def test_fitted_variance_lies_above_the_posteriors() -> None:
    made = lens.chain("linear", 50)
    square = lens.variance(model(), made, "fitted")
    assert bool((square[1:] > made.posterior_variance[1:]).all()) and bool(square.isfinite().all())


def test_what_the_scenes_say() -> None:
    usual = spent()
    assert usual.half < 0.1 * 250
    assert spent(variance="posterior").total > usual.total > spent(variance="fitted").total
    ten = spent(T=10)
    assert 0.4 < float(ten.terms[0]) / ten.total < 0.5
    assert spent("linear").total < usual.total
    made = lens.chain("cosine", 250)
    assert float(made.beta[-1]) == pytest.approx(0.999)
    c0, _, _ = made.posterior_weights(torch.tensor(250), torch.tensor(249))
    # of the clean guess the squared error is ε's over SNR, and it counts c_0² times over σ²: a thousandfold
    assert float(c0**2 / made.snr[250] / made.beta[250]) == pytest.approx(1000, rel=0.01)
    assert float(usual.terms[-1]) > 20 > 1 > float(spent("linear").terms[-1])
    assert spent(name="random greys").total > 3 * usual.total
    assert spent(name="blank").total > usual.total
