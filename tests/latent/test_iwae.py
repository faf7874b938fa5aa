"""The importance weighted bound as objective: gradients against each other, and against a solved model."""

import math

import pytest
import torch
from torch import Tensor

from modules.latent.iwae import IWAE, systematic_resampling


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def small(**settings) -> IWAE:
    model = IWAE(
        event_shape=(6,), latent_dim=2, hidden=[5], activation="tanh", train_samples=4, **settings
    ).double()
    for parameter in model.parameters():
        parameter.data.normal_(0, 0.7, generator=seeded(parameter.numel()))
    return model


def gradient(model: IWAE, x: Tensor, noise: Tensor, start: Tensor | None = None) -> Tensor:
    model.zero_grad()
    model.bound_loss(x, noise, start).backward()
    return torch.cat([p.grad.flatten() for p in model.parameters()])


BITS = torch.tensor([[0, 1, 0, 0, 1, 1], [1, 1, 0, 1, 0, 1.0], [0, 0, 0, 1, 0, 0]]).double()


def test_all_gradients_belong_to_one_value():
    """−L_K of the same noise is the same number, however its gradient is found."""
    noise = torch.randn(4, 3, 2, dtype=torch.float64, generator=seeded())
    models = [small(), small(gradient="doubly"), small(gradient="doubly", resampled=2)]
    values = [model.bound_loss(BITS, noise).item() for model in models]
    assert values[1] == pytest.approx(values[0], abs=1e-12)
    assert values[2] == pytest.approx(values[0], abs=1e-12)


def test_plain_and_doubly_agree_in_the_mean():
    noise = torch.randn(500, 4, 3, 2, dtype=torch.float64, generator=seeded())
    each = [
        torch.stack([gradient(model, BITS, n) for n in noise])
        for model in (small(), small(gradient="doubly"))
    ]
    error = sum(g.var(0) / len(noise) for g in each).sqrt()
    assert ((each[0].mean(0) - each[1].mean(0)).abs() < 4.5 * error + 1e-12).all()
    decoder = sum(p.numel() for p in small().decoder.parameters())
    assert torch.allclose(each[0][0, -decoder:], each[1][0, -decoder:], atol=1e-12)  # the same in both


def test_the_gradient_without_the_second_share_is_another():
    """Detached parameters in log q alone, with shares not squared, would be wrong: the means differ."""
    noise = torch.randn(200, 4, 3, 2, dtype=torch.float64, generator=seeded())
    model = small(gradient="doubly")
    right = torch.stack([gradient(model, BITS, n) for n in noise]).mean(0)

    def once(n: Tensor) -> Tensor:
        mean, log_var = model.encode_parameters(BITS)
        z = mean + (0.5 * log_var).exp() * n
        log_w = model.path_log_weights(BITS, z, mean, log_var)
        model.zero_grad()
        (-(log_w.detach().softmax(0) * log_w).sum(0).mean()).backward()
        return torch.cat([p.grad.flatten() for p in model.parameters()])

    assert (torch.stack([once(n) for n in noise]).mean(0) - right).abs().max() > 0.1


def test_resampling_keeps_the_gradient():
    """Averaged over the comb's start, exactly."""
    noise = torch.randn(4, 3, 2, dtype=torch.float64, generator=seeded())
    full = gradient(small(gradient="doubly"), BITS, noise)
    model, teeth = small(gradient="doubly", resampled=2), 200
    starts = (torch.arange(teeth, dtype=torch.float64) + 0.5) / teeth
    mean = sum(gradient(model, BITS, noise, start.expand(3)) for start in starts) / teeth
    torch.testing.assert_close(mean, full, rtol=0, atol=1e-2)


def test_picks_follow_the_shares():
    shares = torch.tensor([[0.5, 0.0], [0.3, 1.0], [0.2, 0.0]], dtype=torch.float64)
    starts = (torch.arange(1000, dtype=torch.float64) + 0.5) / 1000
    picks = torch.stack(
        [systematic_resampling(shares, 4, start.expand(2)) for start in starts]
    )  # (1000, 4, 2)
    often = torch.stack([(picks == k).double().mean((0, 1)) for k in range(3)])
    torch.testing.assert_close(often, shares, rtol=0, atol=1e-3)
    counts = (picks[..., 0] == 0).sum(1)
    assert set(counts.tolist()) == {2}  # systematic: 4 · 0.5 picks every time, not in the mean alone


@pytest.mark.parametrize(
    ("kind", "counts", "ratios"),
    [("plain", (1, 5, 10), (0.505, 0.172, 0.118)), ("doubly", (1, 10, 100), (1.34, 2.35, 7.62))],
)
def test_signal_over_noise_of_the_encoder(kind, counts, ratios):
    """p = N(0, 1), x = z + N(0, 1), x = 1.5, q = N(.3, .8), gradient in μ: falls as 1/√K, or rises."""
    for k, ratio in zip(counts, ratios, strict=True):
        n = 60_000 if kind == "plain" else 10_000
        model = IWAE(
            event_shape=(1,), latent_dim=1, hidden=[], decoder="gaussian", train_samples=k, gradient=kind
        ).double()
        with torch.no_grad():
            model.decoder[0].weight.fill_(1.0)
            model.decoder[0].bias.zero_()
        mean = torch.full((n, 1), 0.3, dtype=torch.float64, requires_grad=True)
        log_var = torch.full((n, 1), math.log(0.8), dtype=torch.float64)
        model.encode_parameters = lambda x, mean=mean, log_var=log_var: (mean, log_var)
        noise = torch.randn(k, n, 1, dtype=torch.float64, generator=seeded())
        x = torch.full((n, 1), 1.5, dtype=torch.float64)
        (n * model.bound_loss(x, noise)).backward()  # the loss is a mean: undo it
        result = mean.grad.mean().abs() / mean.grad.std()
        assert result.item() == pytest.approx(ratio, rel=0.1)


def test_validation_measures_the_training_bound():
    torch.manual_seed(0)
    model, x = small(), BITS.repeat(100, 1)
    with torch.no_grad():
        model.step((x, None), "val")
        bound = model.meters["val_bound"].compute().item()
        assert bound == pytest.approx(-model.iwae(x, 4).mean().item(), abs=0.2)
        assert bound < model.meters["val_elbo"].compute().item()


def test_the_elbo_comes_first(monkeypatch):
    """Before `elbo_epochs` training sees −L_1 with its KL in closed form, from then on −L_K."""
    model = small(elbo_epochs=2)
    noise = torch.randn(4, 3, 2, dtype=torch.float64, generator=seeded())
    parts = model.elbo_terms(BITS, noise=noise[:1])
    monkeypatch.setattr(model, "_noise", lambda samples, batch, generator: noise)
    bound = model.bound_loss(BITS, noise).item()
    for epoch, loss in ((0, -parts.elbo().mean().item()), (1, -parts.elbo().mean().item()), (2, bound)):
        monkeypatch.setattr(IWAE, "current_epoch", epoch)
        assert model.objective(BITS, parts).item() == pytest.approx(loss, abs=1e-12), epoch


def test_bad_settings_say_what_to_change():
    with pytest.raises(ValueError, match="choose plain or doubly"):
        IWAE(gradient="triply")
    with pytest.raises(ValueError, match="goes with gradient doubly"):
        IWAE(resampled=3)
    for settings in ({"beta": 2.0}, {"warmup_epochs": 2}, {"warmup_epochs": 2, "elbo_epochs": 1}):
        with pytest.raises(ValueError, match="no beta and no warm-up"):
            IWAE(**settings)
    assert IWAE(warmup_epochs=2, elbo_epochs=2).current_weight == 0
