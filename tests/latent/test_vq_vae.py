"""Codes from a book: the two losses and their gradients, usage, and both priors' bounds."""

import math

import pytest
import torch

from modules.latent.bounds import bernoulli_log_prob
from modules.latent.vq_vae import VQVAE, CodeUsage, nearest_code, perplexity, vq_losses

BOOK = torch.tensor([[0.0, 0.0], [1.0, 1.0], [2.0, 0.0]], dtype=torch.float64)


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def small(**settings) -> VQVAE:
    torch.manual_seed(0)
    return VQVAE((1, 4, 4), channels=[4], codes=3, code_dim=2, prior_hidden=4, **settings).double()


def test_nearest_code_and_the_two_losses():
    """z_e = (.9, .2): squared distances .85, .65, 1.25; β = ¼."""
    features = torch.tensor([[[0.9, 0.2]]], dtype=torch.float64, requires_grad=True)
    book = BOOK.clone().requires_grad_()
    codes = nearest_code(book, features)
    assert codes.item() == 1
    pull, commitment = vq_losses(features, book[codes])
    assert pull.item() == pytest.approx(0.65)
    assert 0.25 * commitment.item() == pytest.approx(0.1625)
    (pull + 0.25 * commitment).sum().backward()
    expected = torch.tensor([[0, 0], [0.2, 1.6], [0, 0]], dtype=torch.float64)
    torch.testing.assert_close(book.grad, expected)
    torch.testing.assert_close(features.grad, torch.tensor([[[-0.05, -0.4]]], dtype=torch.float64))


def test_gradient_goes_straight_through():
    """∂ L_rec / ∂ z_e is ∂ L_rec / ∂ z_q, and the codebook hears nothing of the reconstruction."""
    model, x = small(beta=0.0), torch.bernoulli(torch.full((5, 1, 4, 4), 0.5, dtype=torch.float64))
    kept = {}
    features_of = model.features

    def features(x):
        kept["z"] = features_of(x).detach().requires_grad_()
        return kept["z"]

    model.features = features
    model.step((x,), "val").backward()
    codes = model.quantize(kept["z"])[0]
    vectors = model.codebook[codes].detach().requires_grad_()
    (-bernoulli_log_prob(x.flatten(1), model.logits(vectors)).sum(-1).mean()).backward()
    torch.testing.assert_close(kept["z"].grad, vectors.grad)
    used = codes.unique()
    pull = (model.codebook[codes] - kept["z"].detach()) * 2 / 5
    expected = torch.zeros_like(BOOK).index_add(0, codes.flatten(), pull.detach().flatten(0, 1))
    torch.testing.assert_close(model.codebook.grad[used], expected[used])


def test_usage():
    assert perplexity(torch.tensor([4.0, 4.0, 2.0])).item() == pytest.approx(2.871746, abs=1e-6)
    meter = CodeUsage(3)
    for part in (torch.tensor([[0, 0], [1, 1]]), torch.tensor([[0, 0, 1, 1, 2, 2]])):
        meter.update(part)
    assert meter.compute().item() == pytest.approx(2.871746, abs=1e-6)


def test_uniform_prior_costs_log_k_a_place():
    """7 × 7 places of 512 codes: 441 bits."""
    model = VQVAE((1, 28, 28), channels=[2, 2], codes=512, code_dim=2, prior_hidden=2).double()
    cost = -model.code_log_prob(torch.zeros(1, 49, dtype=torch.long), "uniform").item()
    assert cost / math.log(2) == pytest.approx(441)
    assert model.prior.log_prob(torch.zeros(49)).item() == pytest.approx(-cost, rel=1e-5)


def test_bound_is_below_the_density():
    """Σ over all pictures of exp(bound) is at most 1: every code string has its one decoder."""
    model = VQVAE((1, 2, 2), channels=[3], codes=3, code_dim=2, prior_hidden=4).double()
    strings = torch.cartesian_prod(*[torch.tensor([0.0, 1.0], dtype=torch.float64)] * 4).view(16, 1, 2, 2)
    with torch.no_grad():
        for prior in ("learned", "uniform"):
            assert model.elbo(strings, prior).exp().sum() <= 1 + 1e-9
        every = torch.arange(3)[:, None]  # of one place: p(x) by summing over all codes
        joint = torch.stack(
            [
                model.log_likelihood(strings, k.expand(16, 1)) + model.code_log_prob(k.expand(16, 1))
                for k in every
            ]
        )
        assert joint.logsumexp(0).exp().sum().item() == pytest.approx(1)
        assert (model.elbo(strings) <= joint.logsumexp(0) + 1e-12).all()


def test_running_means_reach_the_centres():
    """EMA: each code ends at the mean of the features that choose it, and has no gradient."""
    model = small(ema=0.5)
    model.codebook.data.copy_(BOOK)
    model.ema_sums.copy_(BOOK)
    features = torch.tensor([[[0.2, 0.0], [-0.2, 0.0], [2.0, 0.4], [2.0, 0.2]]], dtype=torch.float64)
    for _ in range(60):
        model.update_codebook(nearest_code(model.codebook, features), features)
    expected = torch.tensor([[0.0, 0.0], [1.0, 1.0], [2.0, 0.3]], dtype=torch.float64)  # the unused one stays
    torch.testing.assert_close(model.codebook.data, expected, rtol=0, atol=1e-6)
    x = torch.bernoulli(torch.full((5, 1, 4, 4), 0.5, dtype=torch.float64))
    before = model.codebook.clone()
    with torch.no_grad():
        model.step((x,), "train")
        model.step((x,), "val")
    assert torch.equal(model.codebook, before)  # looking is not training
    model.step((x,), "train").backward()
    assert not torch.equal(model.codebook, before)
    assert model.codebook.grad is None


def test_the_prior_learns_from_codes_that_feel_nothing_of_it():
    model, x = small(), torch.bernoulli(torch.full((5, 1, 4, 4), 0.5, dtype=torch.float64))
    model.step((x,), "train").backward()
    assert all(p.grad is not None and (p.grad != 0).any() for p in model.parameters() if p.numel() > 4)
    alone = small()
    (-alone.code_log_prob(alone.encode(x)).mean()).backward()
    assert all(p.grad is None for n, p in alone.named_parameters() if not n.startswith("code_prior"))


def test_samples_replay():
    model = small()
    for prior in ("learned", "uniform"):
        one, two = (
            model.sample_trace(3, prior=prior, generator=seeded(1)),
            model.sample_trace(3, prior=prior, generator=seeded(1)),
        )
        assert one.digest() == two.digest()
        assert one.result.shape == (3, 1, 4, 4)


def test_bad_settings_say_what_to_change():
    with pytest.raises(ValueError, match="cannot be halved 2 times"):
        VQVAE((1, 6, 6), channels=[4, 4])
    with pytest.raises(ValueError, match="codes is 1"):
        VQVAE((1, 8, 8), codes=1)
