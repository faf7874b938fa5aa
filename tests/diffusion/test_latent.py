"""Latent diffusion: two stages of one run, the bound of the whole, and what the trained weights promise."""

import math
from types import SimpleNamespace

import pytest
import torch

from lab import weights
from lab.lenses import verdicts
from modules.diffusion import bound
from modules.diffusion.latent import LatentDDPM

SMALL = {"event_shape": (6,), "latent_dim": 2, "hidden": [8], "width": 8, "blocks": 1, "embedding": 4}


def model(**more: object) -> LatentDDPM:
    torch.manual_seed(0)
    latent_ddpm = LatentDDPM(**(SMALL | more))  # type: ignore[arg-type]
    latent_ddpm.latent_mean.copy_(torch.tensor([0.5, -1.0]))
    latent_ddpm.latent_std.copy_(torch.tensor([2.0, 0.8]))
    return latent_ddpm


def at_epoch(latent_ddpm: LatentDDPM, epoch: int) -> LatentDDPM:
    latent_ddpm._trainer = SimpleNamespace(world_size=1, current_epoch=epoch, is_last_batch=False)  # type: ignore[assignment]
    return latent_ddpm


def pull(latent_ddpm: LatentDDPM, epoch: int) -> dict[str, bool]:
    """Which parts get a gradient in training at this epoch."""
    latent_ddpm.zero_grad(set_to_none=True)
    x = torch.rand(16, 6, generator=torch.Generator().manual_seed(0))
    at_epoch(latent_ddpm, epoch).step((x, torch.zeros(16, dtype=torch.long)), "train").backward()
    return {
        name: any(p.grad is not None and bool(p.grad.any()) for p in getattr(latent_ddpm, name).parameters())
        for name in ("autoencoder", "net")
    }


def test_first_the_autoencoder_learns_then_the_denoiser_alone() -> None:
    result = model(autoencoder_epochs=3)
    before = result.latent_mean.clone()
    assert pull(result, 2) == {"autoencoder": True, "net": False}
    moved = result.latent_mean.clone()
    assert not torch.equal(moved, before)
    assert pull(result, 3) == {"autoencoder": False, "net": True}
    assert torch.equal(result.latent_mean, moved)


def test_centre_and_spread_come_to_those_of_the_codes() -> None:
    result = at_epoch(model(autoencoder_epochs=10_000), 0)
    x = torch.rand(512, 6, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        for _ in range(400):
            result.step((x,), "train")
        z = torch.cat([result.autoencoder.elbo_terms(x).z[0] for _ in range(20)])
    torch.testing.assert_close(result.latent_mean, z.mean(0), atol=0.03, rtol=0)
    torch.testing.assert_close(result.latent_std, z.std(0), atol=0.03, rtol=0)
    assert torch.allclose(result.postprocess(result.preprocess(z)), z, atol=1e-5)


def test_the_bound_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """If diffusion knew that u ~ N(0, I), the whole would be the VAE's own bound under N(mean, std²)."""
    result = model().double()

    def exact(u: torch.Tensor, *_: object, **given: object) -> SimpleNamespace:
        return SimpleNamespace(total=0.5 * (u.square() + math.log(2 * math.pi)).sum(1))

    monkeypatch.setattr(result, "bound", exact)
    x = torch.rand(5, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    mean, log_var = result.autoencoder.encode_parameters(x)
    noise = torch.randn(5, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    q = torch.distributions.Normal(mean, (0.5 * log_var).exp())
    p = torch.distributions.Normal(result.latent_mean, result.latent_std)
    z = q.mean + q.stddev * noise
    want = result.autoencoder.log_likelihood(x, z[None])[0] + (p.log_prob(z) - q.log_prob(z)).sum(1)
    torch.testing.assert_close(result.elbo(x, generator=torch.Generator().manual_seed(1)), want.detach())


def test_the_bound_reads_both_models(monkeypatch: pytest.MonkeyPatch) -> None:
    results, observed = model(), []

    def watched(u: torch.Tensor, *rest: object, **given: object) -> bound.Bound:
        observed.append((u, given))
        return LatentDDPM.bound(results, u, *rest, **given)  # type: ignore[arg-type]

    monkeypatch.setattr(results, "bound", watched)
    result = results.elbo(torch.rand(5, 6), draws=3)
    assert result.shape == (5,) and result.isfinite().all()
    assert observed[0][0].shape == (5, 2) and observed[0][1]["draws"] == 3


def test_samples_are_decoded_and_codes_return() -> None:
    result = model(conditional=True, num_classes=3).eval()
    x = result.sample(5, steps=4, guidance=1.0, y=2, generator=torch.Generator().manual_seed(0))
    assert x.shape == (5, 6) and torch.equal(
        x, result.sample(5, steps=4, guidance=1.0, y=2, generator=torch.Generator().manual_seed(0))
    )
    trace = result.sample_trace(3, generator=torch.Generator().manual_seed(0), steps=4)
    assert trace.steps[-1].values["x"].shape == (3, 2) and trace.result.shape == (3, 6)  # type: ignore[attr-defined]
    back = result.decode(result.encode(x, steps=50), steps=50)
    torch.testing.assert_close(
        back, result.autoencoder.decode(result.autoencoder.encode(x)), atol=0.05, rtol=0
    )


@pytest.mark.parametrize("wrong", [{"autoencoder_epochs": 0}, {"latent_dim": 0}, {"beta": -1.0}])
def test_refuses(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        model(**wrong)


def test_diffusion_replaces_a_prior_that_does_not_fit() -> None:
    """One decoder: codes from N(0, I) against codes by diffusion, before the judges of digits."""
    latent_ddpm: LatentDDPM = weights.load("ldm-digits").eval()  # type: ignore[assignment]
    network, known = weights.load("cnn-digits"), verdicts.digits("train")
    noise = torch.randn(500, 8, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        prior = latent_ddpm.autoencoder.decode(noise)
    before, after = (
        verdicts.evaluate(network, known, verdicts.black_and_white({"data": {}}, x), 3)  # type: ignore[arg-type]
        for x in (prior, latent_ddpm.sample(500, steps=20, generator=torch.Generator().manual_seed(0)))
    )
    assert after.frechet < 0.5 * before.frechet
    assert after.precision > before.precision + 0.2
