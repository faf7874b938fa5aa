"""The score function's gradient of a VAE's encoder: right in the mean, and narrower by a baseline."""

from typing import Any, get_args

import numpy as np
import pytest
import torch
from torch import Tensor

from lab import weights
from lab.experiments import ZOO
from modules.latent.bounds import gaussian_kl
from modules.latent.score_vae import Estimator, ScoreVAE

ESTIMATORS = get_args(Estimator)
BITS = torch.randint(2, (2, 6), generator=torch.Generator().manual_seed(0)).double()


def small(estimator: str, samples: int = 2, **settings: Any) -> ScoreVAE:
    torch.manual_seed(0)
    model = ScoreVAE((6,), 1, [4], "tanh", estimator=estimator, samples=samples, **settings).double()
    if estimator == "running_mean":
        model.running.fill_(-3.0)
        model.decay = 1.0  # b stays, so that all draws are of one law
    return model


def quadrature(model: ScoreVAE, x: Tensor) -> Tensor:
    """−ELBO, the mean over x, by 60 nodes of Gauss and Hermite."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    mean, log_var = model.encode_parameters(x)
    z = mean + (0.5 * log_var).exp() * torch.tensor(nodes)[:, None, None]
    result = torch.tensor(weights / weights.sum()) @ model.log_likelihood(x, z)
    return (gaussian_kl(mean, log_var).sum(-1) - result).mean()


def gradients(model: ScoreVAE, x: Tensor, times: int) -> Tensor:
    """Of the objective in the encoder's and the decoder's weights, (times, P)."""
    wanted = [*model.encoder.parameters(), *model.decoder.parameters()]
    results = []
    for _ in range(times):
        loss = model.objective(x, model.elbo_terms(x))
        results.append(torch.cat([g.flatten() for g in torch.autograd.grad(loss, wanted)]))
    return torch.stack(results)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_estimator_is_unbiased(estimator: str) -> None:
    """Encoder and decoder, against quadrature; 60,000 pairs of draws, five standard errors."""
    model = small(estimator)
    wanted = [*model.encoder.parameters(), *model.decoder.parameters()]
    exact = torch.cat([g.flatten() for g in torch.autograd.grad(quadrature(model, BITS), wanted)])
    result = gradients(model, BITS.repeat(1000, 1), 30)
    error = result.std(0) / 30**0.5
    assert ((result.mean(0) - exact).abs() <= 5 * error + 1e-9).all()
    assert exact.abs().max() > 0.05 > 3 * error.max()


def test_the_loss_is_minus_the_elbo() -> None:
    model = small("score", samples=4000)
    assert model.objective(BITS, model.elbo_terms(BITS)).item() == pytest.approx(
        quadrature(model, BITS).item(), abs=0.1
    )


def spread(model: ScoreVAE, x: Tensor) -> float:
    """Variance of the encoder's gradient at one step, all weights together."""
    torch.manual_seed(1)
    count = sum(p.numel() for p in model.encoder.parameters())
    return float(gradients(model, x, 50)[:, :count].var(0).sum())


def test_baselines_narrow_it() -> None:
    """A baseline that has learned f, at weights that do not move: below a third of the plain score's."""
    learned = small("learned")
    optimizer = torch.optim.Adam(learned.baseline.parameters(), 0.05)
    before = [p.clone() for p in (*learned.encoder.parameters(), *learned.decoder.parameters())]
    for _ in range(120):
        optimizer.zero_grad()
        learned.objective(BITS, learned.elbo_terms(BITS)).backward()
        optimizer.step()
    after = [*learned.encoder.parameters(), *learned.decoder.parameters()]
    assert all(torch.equal(a, b) for a, b in zip(before, after, strict=True))
    plain = spread(small("score"), BITS)
    assert 3 * spread(learned, BITS) < plain
    assert spread(small("running_mean"), BITS) < plain
    assert 2 * spread(small("leave_one_out"), BITS) < plain
    assert spread(small("pathwise"), BITS) < spread(learned, BITS)


def test_the_baseline_learns_alone() -> None:
    """Its error reaches neither network of the model, and what the encoder gets does not reach it."""
    model = small("learned")
    f = torch.randn(2, 2, dtype=torch.float64, requires_grad=True)
    b, error = model.baseline_of(BITS, f.detach())
    assert not b.requires_grad
    others = [*model.encoder.parameters(), *model.decoder.parameters()]
    assert torch.autograd.grad(error.sum(), others, allow_unused=True, retain_graph=True) == (None,) * len(
        others
    )
    own = torch.autograd.grad(error.sum(), list(model.baseline.parameters()))
    assert all(g.abs().sum() > 0 for g in own)


def test_a_running_mean_is_of_the_steps_before() -> None:
    model = ScoreVAE((6,), 1, [4], estimator="running_mean", decay=0.75)
    for f, before in ((4.0, 0.0), (8.0, 1.0), (0.0, 2.75)):
        assert model.baseline_of(BITS.float(), torch.full((1, 2), f))[0] == before


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("choose one of score", {"estimator": "reinforce"}),
        ("at least 2 samples", {"estimator": "leave_one_out", "samples": 1}),
        ("no free bits", {"free_bits": 0.1}),
        ("samples is 0", {"samples": 0}),
        ("decay", {"decay": 1.5}),
    ],
)
def test_what_is_refused(text: str, settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=text):
        ScoreVAE((6,), 1, [4], **settings)


def test_the_shipped_net_is_near_the_reparameterized_one() -> None:
    """Within a nat of `vae-bits-digits`, in three times its epochs, and no unit lost."""
    score, path = (weights.read_card(ZOO / n)["metrics"] for n in ("score-digits", "vae-bits-digits"))
    assert score["test/elbo"] < path["test/elbo"] + 1 and score["test/active"] >= 9
