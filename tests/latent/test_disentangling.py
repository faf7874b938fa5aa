"""The KL's three parts, by mini-batch and by classifier."""

import math

import pytest
import torch
from torch import Tensor

from modules.latent.aggregated import AggregatedPosterior
from modules.latent.factor_vae import Discriminator, FactorVAE, permute_dims
from modules.latent.tcvae import TCVAE, batch_log_weights, log_aggregated


def posteriors(n: int = 6, k: int = 2) -> tuple[Tensor, Tensor, Tensor]:
    torch.manual_seed(0)
    mean, log_var = torch.randn(n, k, dtype=torch.float64), 0.5 * torch.randn(n, k, dtype=torch.float64)
    return mean + (0.5 * log_var).exp() * torch.randn(n, k, dtype=torch.float64), mean, log_var


def test_weighted_at_full_batch_is_log_n_too_low():
    z, mean, log_var = posteriors()
    exact = AggregatedPosterior(mean, log_var).log_prob(z)
    joint, marginals = log_aggregated(z, mean, log_var, batch_log_weights(6, 6, "weighted"))
    torch.testing.assert_close(joint, exact - math.log(6))
    each = [AggregatedPosterior(mean[:, [j]], log_var[:, [j]]).log_prob(z[:, [j]]) for j in range(2)]
    torch.testing.assert_close(marginals, torch.stack(each, 1) - math.log(6))


def test_stratified_averages_to_the_exact_mixture():
    """N = 6: over all batches of 3 that hold example 0 first, q(z_0) is met in the mean."""
    z, mean, log_var = posteriors()
    exact = AggregatedPosterior(mean, log_var).log_prob(z[:1]).exp()
    share = batch_log_weights(3, 6, "stratified")
    estimates = []
    for i in range(1, 6):
        for j in range(1, 6):
            if i != j:
                rows = [0, i, j]
                joint, _ = log_aggregated(z[rows], mean[rows], log_var[rows], share)
                estimates.append(joint[0].exp())
    assert torch.stack(estimates).mean().item() == pytest.approx(exact.item(), rel=1e-9)


@pytest.mark.parametrize("sampler", ["weighted", "stratified"])
def test_shares_of_a_batch(sampler):
    share = batch_log_weights(4, 100, sampler).exp()
    if sampler == "stratified":
        torch.testing.assert_close(share.sum(1), torch.ones(4, dtype=torch.float64))
        torch.testing.assert_close(share.diagonal(), torch.full((4,), 0.01, dtype=torch.float64))
    else:
        torch.testing.assert_close(share, torch.full((4, 4), 1 / 400))


def test_split_sums_to_the_kl_whatever_the_estimate():
    z, mean, log_var = posteriors()
    model = TCVAE(event_shape=(3,), latent_dim=2, hidden=[4], data_size=50).double()
    total = sum(model.kl_split(z, mean, log_var))
    own = torch.distributions.Normal(mean, (0.5 * log_var).exp()).log_prob(z).sum(1)
    prior = torch.distributions.Normal(0.0, 1.0).log_prob(z).sum(1)
    torch.testing.assert_close(total, own - prior)


def test_unit_weights_are_the_bound_and_beta_prices_the_dependence_alone():
    torch.manual_seed(0)
    x = torch.bernoulli(torch.full((6, 5), 0.5, dtype=torch.float64))
    model = TCVAE(event_shape=(5,), latent_dim=2, hidden=[4], data_size=6).double()
    parts = model.elbo_terms(x)
    information, correlation, marginal = model.kl_split(parts.z[0], parts.mean, parts.log_var)
    plain = (information + correlation + marginal - parts.reconstruction).mean()
    assert model.objective(x, parts).item() == pytest.approx(plain.item())
    model.beta = 4.0
    assert model.objective(x, parts).item() == pytest.approx((plain + 3 * correlation.mean()).item())


# --- FactorVAE ------------------------------------------------------------------------------------


def test_permuted_columns_lose_their_company():
    z = torch.arange(12.0).view(4, 3)
    shuffled = permute_dims(z, torch.Generator().manual_seed(0))
    assert torch.equal(shuffled.sort(0).values, z)
    assert not torch.equal(shuffled, z)


def test_discriminator_measures_total_correlation():
    """Two Gaussians of correlation .8: −½ log(1 − .64) = .510826 nats; independent ones: 0."""
    torch.manual_seed(0)
    for rho, answer in ((0.8, 0.510826), (0.0, 0.0)):
        judge = Discriminator(2, [32, 32])
        optimizer = torch.optim.Adam(judge.parameters(), 3e-3)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 500)

        def draw(n: int, rho: float = rho) -> Tensor:
            z = torch.randn(n, 2)
            return torch.stack([z[:, 0], rho * z[:, 0] + math.sqrt(1 - rho**2) * z[:, 1]], 1)

        for _ in range(500):
            z = draw(1000)
            optimizer.zero_grad()
            judge.loss(z, permute_dims(z)).backward()
            optimizer.step()
            schedule.step()
        with torch.no_grad():
            assert judge(draw(100_000)).mean().item() == pytest.approx(answer, abs=0.03)


def test_each_optimiser_moves_its_own_weights():
    import lightning as L
    from torch.utils.data import DataLoader, TensorDataset

    torch.manual_seed(0)
    x = torch.bernoulli(torch.full((32, 6), 0.5))
    model = FactorVAE(event_shape=(6,), latent_dim=2, hidden=[4], discriminator=[4], iwae_samples=2)
    theirs, judge = model.configure_optimizers()
    mine = {id(p) for group in theirs["optimizer"].param_groups for p in group["params"]}
    judges = {id(p) for group in judge["optimizer"].param_groups for p in group["params"]}
    assert not mine & judges
    assert mine | judges == {id(p) for p in model.parameters()}
    before = {n: p.clone() for n, p in model.named_parameters()}
    trainer = L.Trainer(
        max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False
    )
    trainer.fit(model, DataLoader(TensorDataset(x), batch_size=16))
    assert all(not torch.equal(p, before[n]) for n, p in model.named_parameters())


def test_each_price_is_of_its_own_part(monkeypatch):
    model = TCVAE(event_shape=(4,), latent_dim=2, hidden=[3], alpha=2.0, beta=30.0, gamma=400.0, data_size=9)
    parts = [torch.full((5,), value) for value in (1.0, 10.0, 100.0)]
    monkeypatch.setattr(model, "kl_split", lambda z, mean, log_var: parts)
    x = torch.zeros(5, 4)
    bound = model.elbo_terms(x)
    price = model.objective(x, bound) + bound.reconstruction.mean()
    assert float(price.detach()) == pytest.approx(2 * 1 + 30 * 10 + 400 * 100)


def test_total_correlation_is_paid_for():
    """The loss rises by γ times what the discriminator says of the codes."""
    x, losses = torch.rand(6, 4, generator=torch.Generator().manual_seed(0)), []
    for gamma in (1.0, 3.0):
        torch.manual_seed(0)
        model = FactorVAE(event_shape=(4,), latent_dim=2, hidden=[3], gamma=gamma, discriminator=[5])
        parts = model.elbo_terms(x, noise=torch.ones(1, 6, 2))
        losses.append(model.objective(x, parts))
    torch.testing.assert_close(losses[1] - losses[0], 2 * model.discriminator(parts.z[0]).mean())
