"""The bench of latent variables: its measures where the answer is known, and a run on few images."""

import math

import pytest
import torch
from torch import Tensor

from datamodules.mnist import MNIST
from lab import bench, weights
from lab.bench import latents
from modules.latent.vae import VAE


def linear(count: int = 4) -> tuple[VAE, Tensor]:
    """x = z + N(0, 1) at 1.5 with q = N(.3, .8), as in LV-O25: log p −1.828012, ELBO −2.095510."""
    model = VAE((1,), 1, [], decoder="gaussian", sigma=1.0).double()
    with torch.no_grad():
        model.encoder[0].weight.zero_()
        model.encoder[0].bias.copy_(torch.tensor([0.3, math.log(0.8)]))
        model.decoder[0].weight.fill_(1.0)
        model.decoder[0].bias.zero_()
    return model, torch.full((count, 1), 1.5, dtype=torch.float64)


def test_evidence_is_the_oracles() -> None:
    model, x = linear(6000)
    by_prior = latents.evidence(model, x, (1, 10), "prior")
    assert by_prior["1"] == pytest.approx(-2.543939, abs=0.08)
    assert by_prior["10"] == pytest.approx(-1.865017, abs=0.02)
    by_encoder = latents.evidence(model, x, (1, 10), "encoder")
    assert by_encoder["1"] == pytest.approx(-2.095510, abs=0.06)
    assert -1.828012 > by_encoder["10"] > by_prior["10"] and 1 <= by_prior["ess"] < by_encoder["ess"] <= 10


def test_gaps_are_the_oracles() -> None:
    """The posterior N(.75, .5) is in the family: nothing is lost by it."""
    model, x = linear()
    result = latents.gaps(model, x, steps=300, draws=4000)
    assert result["log_p"] == pytest.approx(-1.828012, abs=1e-3)
    assert result["encoder"] == pytest.approx(-2.095510, abs=0.08)
    assert result["approximation"] == pytest.approx(0, abs=0.02)
    assert result["amortisation"] == pytest.approx(0.267498, abs=0.08)


def test_the_signal_falls_with_k_and_the_doubly_reparametrised_rises() -> None:
    model, x = linear(1)
    plain, doubly = (latents.signal(model, x, (5, 20, 80), g, repeats=20_000) for g in ("plain", "doubly"))
    assert latents.slope((5, 20, 80), plain) == pytest.approx(-0.5, abs=0.12)
    assert latents.slope((5, 20, 80), doubly) > 0.25 and min(doubly) > max(plain)
    wide = latents.signal(model, x, (5,), "plain", repeats=20_000, wider=1.5)
    assert wide[0] != pytest.approx(plain[0], rel=0.05)


def test_no_signal_is_none() -> None:
    """At the posterior the gradient's mean is 0: what few draws leave of it is taken off."""
    model, x = linear(40)
    with torch.no_grad():
        model.encoder[0].bias.copy_(torch.tensor([0.75, math.log(0.5)]))
    result = latents.signal(model, x, (1,), "plain", repeats=200)
    assert result[0] < 0.045 < 1 / math.sqrt(200)


def test_slope() -> None:
    assert latents.slope((1, 4, 16), (3.0, 1.5, 0.75)) == pytest.approx(-0.5)


def test_pairs_whose_order_changes() -> None:
    models = [("a", 10.0, 9.0), ("b", 10.5, 8.0), ("c", 12.0, 11.0)]
    assert latents.changes(models) == [("a", "b", 0.5, 1.0)]
    result = latents.changes([*models, ("d", 12.75, 7.0)])
    assert [pair[:2] for pair in result] == [("a", "d"), ("b", "d"), ("c", "d"), ("a", "b")]
    ranked = {name: bounds for name, *bounds in latents.ranked()}
    assert {"vae-bits-digits", "iwae-digits"} <= ranked.keys() and "cvae-digits" not in ranked
    assert ("vae-bits-digits", "iwae-digits") in [pair[:2] for pair in latents.changes(latents.ranked())]


def test_the_bench_has_a_row_for_every_experiment(real_data) -> None:
    real_data("MNIST")
    rows = latents.measure(quick=True)
    assert {row.case.split(",")[0].split(":")[0].split(" of ")[0] for row in rows} >= {
        "evidence", "gaps", "signal", "ranks", "posterior", "samples", "probes", "midpoints",
    }  # fmt: skip
    results = {row.case: row.ours for row in rows}
    assert results["evidence, prior, N = 10"] < results["evidence, encoder, N = 10"] < 0
    assert results["gaps: encoder"] < results["gaps: best"] < results["gaps: log_p"]
    assert (
        results["probes: vae-bits-digits"]
        > 0.8
        > 0.5
        > results["probes: cvae-digits"]
        > results["probes: floor"]
    )
    assert results["samples: aggregated"] < results["samples: prior"]
    for way in ("ends", "slerp"):
        assert results["midpoints of vae-mnist: lerp"] < results[f"midpoints of vae-mnist: {way}"]
    assert "latents" in bench.BENCHES


@pytest.mark.heavy
def test_a_posterior_bent_by_a_flow_gains_on_digits(real_data) -> None:
    """The issue's number: below a plain VAE trained equally long, by more than four standard errors."""
    real_data("MNIST")
    data = MNIST(binarize="static")
    data.setup("test")
    x, _ = data.test_set[torch.arange(0, 10_000, 20)]
    plain, bent = (weights.load(name) for name in (latents.PLAIN, latents.BENT))
    nats, error = latents.gained(plain, bent, x, 500)
    assert nats > 4 * error and error < 0.2
    assert latents.gained(plain, plain, x[:40], 5) == (0.0, 0.0)
