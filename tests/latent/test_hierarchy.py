"""The hierarchical bound against a chain of Gaussians that is solved by hand."""

import math

import pytest
import torch
from torch import Tensor
from torch.distributions import Normal, kl_divergence

from modules.latent.ladder import LadderVAE, kl_between, merge


def f64(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def law(layer: torch.nn.Linear, slope: float, variance: float, offset: float = 0.0) -> None:
    """Make a linear layer answer N(slope · input + offset, variance): (μ, log σ²) of one dimension."""
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[slope], [0.0]]))
        layer.bias.copy_(torch.tensor([offset, math.log(variance)]))


def chain(inference: str) -> LadderVAE:
    """z₂ ~ N(0, 1), z₁|z₂ ~ N(.8 z₂, .36), x|z₁ ~ N(z₁, .5); q is the exact posterior at any x."""
    model = LadderVAE(
        event_shape=(1,), latent_dims=[1, 1], widths=[0, 0], inference=inference, decoder="gaussian"
    ).double()
    model.decoder_log_var.fill_(math.log(0.5))
    with torch.no_grad():
        model.decoder[0].weight.fill_(1.0)
        model.decoder[0].bias.zero_()
    law(model.down[0][0], 0.8, 0.36)
    if inference == "bottom-up":  # q(z₁|x) = N(2x/3, 1/3), q(z₂|z₁) = N(.8 z₁, .36)
        law(model.encoder[0], 2 / 3, 1 / 3)
        law(model.up[0][0], 0.8, 0.36)
    else:  # q(z₂|x): x = .8 z₂ + N(0, .86); below, what x says of z₁ is N(x, .5), merged with the prior's
        precision = 1 + 0.64 / 0.86
        law(model.heads[1], 0.8 / 0.86 / precision, 1 / precision)
        law(model.heads[0], 1.0, 0.5)
    return model


CORNERS = torch.cartesian_prod(f64(-1, 1), f64(-1, 1)).view(4, 1, 2)  # exact for what is quadratic in noise


@pytest.mark.parametrize("inference", ["bottom-up", "top-down"])
def test_exact_guesses_touch_the_evidence(inference):
    model, x = chain(inference), f64(1.0).view(1, 1)
    parts = model.elbo_terms(x, noise=CORNERS)
    assert parts.elbo().item() == pytest.approx(-1.455004, abs=1e-6)
    with torch.no_grad():
        weights = model.log_weights(x, 50, torch.Generator().manual_seed(0))
    torch.testing.assert_close(weights, torch.full_like(weights, -1.455004), rtol=0, atol=1e-6)


def test_the_terms_of_each_layer():
    x = f64(1.0).view(1, 1)
    bottom_up = chain("bottom-up").elbo_terms(x, noise=CORNERS)
    assert bottom_up.reconstruction.item() == pytest.approx(-1.016809, abs=1e-6)
    assert bottom_up.kl[0].tolist() == pytest.approx([-0.001519, 0.439715], abs=1e-6)  # no KL below: a term
    top_down = chain("top-down").elbo_terms(x, noise=CORNERS)
    assert sorted(top_down.kl[0].tolist()) == pytest.approx([0.207033, 0.231162], abs=1e-6)
    assert top_down.reconstruction.item() == pytest.approx(-1.016809, abs=1e-6)


def test_merging_by_precision():
    mean, log_var = merge((f64(1.0), f64(0.5).log()), (f64(-1.0), f64(1.0).log()))
    assert mean.item() == pytest.approx(1 / 3)
    assert log_var.exp().item() == pytest.approx(1 / 3)


def test_kl_between_two_gaussians_is_torchs():
    torch.manual_seed(0)
    a, b = torch.randn(2, 5, dtype=torch.float64), torch.randn(2, 5, dtype=torch.float64)
    reference = kl_divergence(Normal(a[0], (0.5 * a[1]).exp()), Normal(b[0], (0.5 * b[1]).exp()))
    torch.testing.assert_close(kl_between((a[0], a[1]), (b[0], b[1])), reference)


def test_prior_is_the_chain():
    """Marginally z₁ is N(0, .64 + .36): draws and density agree."""
    model = chain("top-down")
    z = model.sample_prior(50_000, generator=torch.Generator().manual_seed(0))
    expected = torch.tensor([[1.0, 0.8], [0.8, 1.0]], dtype=torch.float64)
    assert torch.allclose(z.T.cov(), expected, atol=0.03)
    exact = torch.distributions.MultivariateNormal(f64(0, 0), expected).log_prob(z[:9])
    torch.testing.assert_close(model.prior.log_prob(z[:9]), exact)


def test_resampling_the_lower_layer_keeps_the_upper():
    model = chain("top-down")
    z = f64(5.0, 2.0).expand(20_000, 2)
    fresh = model.resample_below(z, 1, torch.Generator().manual_seed(0))
    assert (fresh[:, 1] == 2).all()
    assert fresh[:, 0].mean().item() == pytest.approx(1.6, abs=0.02)
    assert fresh[:, 0].var().item() == pytest.approx(0.36, abs=0.02)
    assert torch.equal(model.resample_below(z, 0), z)


def test_bad_settings_say_what_to_change():
    with pytest.raises(ValueError, match="give one for each"):
        LadderVAE(latent_dims=[3, 2], widths=[8])
    with pytest.raises(ValueError, match="choose top-down or bottom-up"):
        LadderVAE(inference="sideways")
