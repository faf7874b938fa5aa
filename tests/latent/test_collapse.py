"""Free bits, annealing, active units; and what the bound cannot tell."""

import math

import pytest
import torch

from modules.latent.autoregressive_decoder import AutoregressiveVAE
from modules.latent.collapse import ActiveUnits, active_units, free_bits, kl_weight
from modules.latent.vae import VAE


def test_free_bits_of_two_data():
    """KL_j = (0, 1), λ = ½: the hinge for each is .75, that of the mean .5, as the cited paper has it."""
    kl = torch.tensor([[0.0], [1.0]], dtype=torch.float64)
    assert free_bits(kl, 0.5, "datum").item() == pytest.approx(0.75)
    assert free_bits(kl, 0.5, "batch").item() == pytest.approx(0.5)
    assert free_bits(kl, 0.0, "batch").item() == pytest.approx(kl.mean().item())
    # each dimension has its own λ, beside another that pays more
    assert free_bits(torch.tensor([[0.0, 1.0]]), 0.5, "batch").item() == pytest.approx(1.5)
    for per in ("datum", "batch"):  # the objective is at most the bound
        assert free_bits(kl, 0.5, per) >= kl.mean()


def test_free_bits_guarantee_nothing():
    """λ nats are not guaranteed ([GM] 3.76): with KL = 0 and z ignored, nothing moves the encoder."""
    torch.manual_seed(0)
    vae = VAE((4,), 2, [3], free_bits=0.5).double()
    with torch.no_grad():
        vae.decoder[0].weight.zero_()
        vae.encoder[-1].weight.zero_()
        vae.encoder[-1].bias.zero_()
    x = torch.bernoulli(torch.full((6, 4), 0.5, dtype=torch.float64))
    vae.objective(x, vae.elbo_terms(x)).backward()
    assert all((p.grad == 0).all() for p in vae.encoder.parameters())
    vae.free_bits = 0.0  # at its full price the KL would pull, were it not at its minimum already
    with torch.no_grad():
        vae.encoder[-1].bias.fill_(0.3)
    vae.zero_grad()
    vae.objective(x, vae.elbo_terms(x)).backward()
    assert any((p.grad != 0).any() for p in vae.encoder.parameters())


def test_cycles_rise_stay_and_start_again():
    assert [kl_weight(2.0, e, 2, 2) for e in range(10)] == [0, 1, 2, 2, 0, 1, 2, 2, 2, 2]
    assert [kl_weight(1.0, e, 4) for e in (0, 1, 4, 9)] == [0, 0.25, 1, 1]


def test_active_units_over_batches():
    torch.manual_seed(0)
    means = torch.randn(50, 3) * torch.tensor([1.0, 0.05, 0.2])
    assert active_units(means).tolist() == [True, False, True]
    meter = ActiveUnits(3)
    for part in means.split(7):
        meter.update(part)
    assert meter.compute().item() == 2


def test_the_bound_cannot_tell_collapse_from_use():
    """Data 00 and 11: a decoder that sees x_1 and ignores z has ELBO −log 2 with KL 0; one that stores the
    coin in z has −log 2 with KL log 2. The information in z is 0 and log 2."""
    x = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.float64)
    blind = AutoregressiveVAE(event_shape=(2,), latent_dim=1, hidden=[], kind="order1").double()
    with torch.no_grad():
        for parameter in blind.parameters():
            parameter.zero_()
        # outputs: alone (2), after (2): the second bit is the first
        blind.decoder.network[0].bias.copy_(torch.tensor([0.0, -40.0, 0.0, 80.0]))
    parts = blind.elbo_terms(x)
    assert parts.elbo().mean().item() == pytest.approx(-0.693147, abs=1e-6)
    assert parts.kl.abs().max() == 0

    results = {"rec": 0.0, "kl": math.log(2)}  # binary z = x_1 under a fair prior, decoder certain
    assert results["rec"] - results["kl"] == pytest.approx(parts.elbo().mean().item(), abs=1e-6)


@pytest.mark.parametrize("kind", ["order1", "made", "pixelcnn", "gru"])
def test_decoders_see_only_what_stands_before(kind):
    torch.manual_seed(0)
    model = AutoregressiveVAE(
        event_shape=(1, 3, 3), latent_dim=2, hidden=[12], activation="tanh", kind=kind, channels=4, blocks=1
    ).double()
    for parameter in model.parameters():
        parameter.data.normal_(0, 0.7)
    x, z = torch.rand(9, dtype=torch.float64), torch.randn(2, dtype=torch.float64)
    by_x = torch.autograd.functional.jacobian(lambda v: model.logits(v[None], z[None])[0], x)
    assert (by_x.triu() == 0).all()
    assert (by_x.diagonal(-1) != 0).sum() >= 6  # pixelcnn's row ends see less of what stands before
    by_z = torch.autograd.functional.jacobian(lambda v: model.logits(x[None], v[None])[0], z)
    assert (by_z != 0).all()


def test_order_one_sees_one_bit():
    torch.manual_seed(0)
    model = AutoregressiveVAE(event_shape=(5,), latent_dim=1, hidden=[4], kind="order1").double()
    x, z = torch.rand(5, dtype=torch.float64), torch.randn(1, dtype=torch.float64)
    by_x = torch.autograd.functional.jacobian(lambda v: model.logits(v[None], z[None])[0], x)
    assert by_x.count_nonzero() == 4
    assert (by_x.diagonal(-1) != 0).all()


def test_bad_settings_say_what_to_change():
    with pytest.raises(ValueError, match="choose batch or datum"):
        VAE((4,), free_bits_per="epoch")
    with pytest.raises(ValueError, match="choose one of order1"):
        AutoregressiveVAE(kind="lstm")
    with pytest.raises(ValueError, match="reads \\(1, height, width\\)"):
        AutoregressiveVAE(event_shape=(9,), kind="pixelcnn")
