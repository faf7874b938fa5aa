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
    made = LatentDDPM(**(SMALL | more))  # type: ignore[arg-type]
    made.latent_mean.copy_(torch.tensor([0.5, -1.0]))
    made.latent_std.copy_(torch.tensor([2.0, 0.8]))
    return made


def at_epoch(made: LatentDDPM, epoch: int) -> LatentDDPM:
    made._trainer = SimpleNamespace(world_size=1, current_epoch=epoch, is_last_batch=False)  # type: ignore[assignment]
    return made


def pull(made: LatentDDPM, epoch: int) -> dict[str, bool]:
    """Which parts get a gradient in training at this epoch."""
    made.zero_grad(set_to_none=True)
    x = torch.rand(16, 6, generator=torch.Generator().manual_seed(0))
    at_epoch(made, epoch).step((x, torch.zeros(16, dtype=torch.long)), "train").backward()
    return {
        name: any(p.grad is not None and bool(p.grad.any()) for p in getattr(made, name).parameters())
        for name in ("autoencoder", "net")
    }


def test_first_the_autoencoder_learns_then_the_denoiser_alone() -> None:
    made = model(autoencoder_epochs=3)
    before = made.latent_mean.clone()
    assert pull(made, 2) == {"autoencoder": True, "net": False}
    moved = made.latent_mean.clone()
    assert not torch.equal(moved, before)
    assert pull(made, 3) == {"autoencoder": False, "net": True}
    assert torch.equal(made.latent_mean, moved)


def test_centre_and_spread_come_to_those_of_the_codes() -> None:
    made = at_epoch(model(autoencoder_epochs=10_000), 0)
    x = torch.rand(512, 6, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        for _ in range(400):
            made.step((x,), "train")
        z = torch.cat([made.autoencoder.elbo_terms(x).z[0] for _ in range(20)])
    torch.testing.assert_close(made.latent_mean, z.mean(0), atol=0.03, rtol=0)
    torch.testing.assert_close(made.latent_std, z.std(0), atol=0.03, rtol=0)
    assert torch.allclose(made.postprocess(made.preprocess(z)), z, atol=1e-5)


def test_the_bound_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """If diffusion knew that u ~ N(0, I), the whole would be the VAE's own bound under N(mean, std²)."""
    made = model().double()

    def exact(u: torch.Tensor, *_: object, **given: object) -> SimpleNamespace:
        return SimpleNamespace(total=0.5 * (u.square() + math.log(2 * math.pi)).sum(1))

    monkeypatch.setattr(made, "bound", exact)
    x = torch.rand(5, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    mean, log_var = made.autoencoder.encode_parameters(x)
    noise = torch.randn(5, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    q = torch.distributions.Normal(mean, (0.5 * log_var).exp())
    p = torch.distributions.Normal(made.latent_mean, made.latent_std)
    z = q.mean + q.stddev * noise
    want = made.autoencoder.log_likelihood(x, z[None])[0] + (p.log_prob(z) - q.log_prob(z)).sum(1)
    torch.testing.assert_close(made.elbo(x, generator=torch.Generator().manual_seed(1)), want.detach())


def test_the_bound_reads_both_models(monkeypatch: pytest.MonkeyPatch) -> None:
    made, seen = model(), []

    def watched(u: torch.Tensor, *rest: object, **given: object) -> bound.Bound:
        seen.append((u, given))
        return LatentDDPM.bound(made, u, *rest, **given)  # type: ignore[arg-type]

    monkeypatch.setattr(made, "bound", watched)
    found = made.elbo(torch.rand(5, 6), draws=3)
    assert found.shape == (5,) and found.isfinite().all()
    assert seen[0][0].shape == (5, 2) and seen[0][1]["draws"] == 3


def test_samples_are_decoded_and_codes_return() -> None:
    made = model(conditional=True, num_classes=3).eval()
    x = made.sample(5, steps=4, guidance=1.0, y=2, generator=torch.Generator().manual_seed(0))
    assert x.shape == (5, 6) and torch.equal(
        x, made.sample(5, steps=4, guidance=1.0, y=2, generator=torch.Generator().manual_seed(0))
    )
    trace = made.sample_trace(3, generator=torch.Generator().manual_seed(0), steps=4)
    assert trace.steps[-1].values["x"].shape == (3, 2) and trace.result.shape == (3, 6)  # type: ignore[attr-defined]
    back = made.decode(made.encode(x, steps=50), steps=50)
    torch.testing.assert_close(back, made.autoencoder.decode(made.autoencoder.encode(x)), atol=0.05, rtol=0)


@pytest.mark.parametrize("wrong", [{"autoencoder_epochs": 0}, {"latent_dim": 0}, {"beta": -1.0}])
def test_refuses(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        model(**wrong)


def test_diffusion_replaces_a_prior_that_does_not_fit() -> None:
    """One decoder: codes from N(0, I) against codes by diffusion, before the judges of digits."""
    made: LatentDDPM = weights.load("ldm-digits").eval()  # type: ignore[assignment]
    network, known = weights.load("cnn-digits"), verdicts.digits("train")
    noise = torch.randn(500, 8, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        prior = made.autoencoder.decode(noise)
    before, after = (
        verdicts.evaluate(network, known, verdicts.black_and_white({"data": {}}, x), 3)  # type: ignore[arg-type]
        for x in (prior, made.sample(500, steps=20, generator=torch.Generator().manual_seed(0)))
    )
    assert after.frechet < 0.5 * before.frechet
    assert after.precision > before.precision + 0.2
