"""Mixtures and k-means: known numbers, EM's promises, scikit-learn, and the singularity."""

import math
import warnings
from typing import Any

import pytest
import torch
from sklearn.mixture import GaussianMixture as SklearnMixture
from torch import Tensor

from datamodules import points
from modules.latent.em import CollapseWarning, compare_sizes
from modules.latent.gaussians import Gaussians
from modules.latent.kmeans import KMeans, kmeans_plus_plus
from modules.latent.mixture import GaussianMixture

KINDS = ["full", "diag", "spherical", "tied"]
FOUR = torch.tensor([[-2.0], [-1.0], [1.0], [4.0]], dtype=torch.float64)


def f64(*values: object) -> Tensor:
    return torch.tensor(values if len(values) > 1 else values[0], dtype=torch.float64)


def close(a: Tensor, b: Tensor, atol: float = 1e-6) -> None:
    torch.testing.assert_close(a, b, rtol=0, atol=atol)


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def one_dimensional(weights: Tensor, means: Tensor, variances: Tensor, floor: float = 0.0) -> GaussianMixture:
    model = GaussianMixture((1,), len(weights), "diag", floor)
    model.set_parameters(weights, means[:, None], variances[:, None])
    return model


# --- k-means ----------------------------------------------------------------------------------------


def test_k_means_by_hand() -> None:
    model = KMeans((1,), 2)
    model.set_parameters(f64([[-1.0], [2.0]]))
    assert model.fit(FOUR, 3) == [-6.0, -5.0, -5.0, -5.0]
    close(model.centres, f64([[-1.5], [2.5]]))
    assert model.encode(FOUR).tolist() == [0, 0, 1, 1]
    close(model.decode(torch.tensor([1])), f64([[2.5]]))


def test_k_means_is_the_limit_of_a_mixture() -> None:
    variance = f64(0.1, 0.1)
    model = one_dimensional(f64(0.5, 0.5), f64(-1.0, 2.0), variance)
    assert model.responsibilities(FOUR)[2, 0].item() == pytest.approx(3.06e-7, rel=1e-2)
    model.gaussians.covariances.fill_(1e-6)
    assert torch.equal(model.responsibilities(FOUR).argmax(1), torch.tensor([0, 0, 1, 1]))
    assert torch.equal(model.responsibilities(FOUR).round(), model.responsibilities(FOUR))


def test_k_means_never_rises_and_a_centre_without_points_stays() -> None:
    x = torch.randn(100, 2, generator=seeded(), dtype=torch.float64)
    model = KMeans((2,), 5)
    totals = f64(*model.fit(x, 30, generator=seeded(1)))
    assert totals.diff().min() >= -1e-9 and totals[-1] > totals[0]
    model.centres[0] = f64(50.0, 50.0)
    model.em_step(x)
    close(model.centres[0], f64(50.0, 50.0))


def test_plus_plus_takes_no_point_twice_while_others_are_left() -> None:
    x = f64([[0.0], [0.0], [0.0], [1.0], [5.0]])
    for seed in range(20):
        assert kmeans_plus_plus(x, 3, seeded(seed)).flatten().sort().values.tolist() == [0.0, 1.0, 5.0]
    assert kmeans_plus_plus(x[:3], 2, seeded()).tolist() == [[0.0], [0.0]]


# --- known numbers ------------------------------------------------------------------------------------


def test_em_by_hand() -> None:
    model = one_dimensional(f64(0.5, 0.5), f64(-1.0, 2.0), f64(1.0, 1.0))
    r = model.responsibilities(FOUR)
    close(r[:, 0], f64(0.999447, 0.989013, 0.182426, 0.0000275))
    assert model.elbo(FOUR, r).sum().item() == pytest.approx(model.log_prob(FOUR).sum().item(), abs=1e-12)
    totals = [model.em_step(FOUR)]
    close(model.weights, f64(0.542728, 0.457272))
    close(model.gaussians.means.flatten(), f64(-1.292254, 2.627197))
    close(model.gaussians.covariances.flatten(), f64(0.711412, 2.299329))
    assert model.elbo(FOUR, r).sum().item() == pytest.approx(-8.285027, abs=1e-6)  # between the two
    totals += model.fit(FOUR, 2)
    close(f64(*totals), f64(-9.235301, -8.228104, -8.023135, -7.827034))


def test_density_moments_and_responsibilities_of_three() -> None:
    weights, means, sd = f64(0.3, 0.5, 0.2), f64(-2.0, 0.5, 3.0), f64(0.5, 1.0, 0.7)
    model = one_dimensional(weights, means, sd.square())
    x = f64([[-2.0], [0.0], [1.0], [3.0]])
    close(model.log_prob(x).exp(), f64(0.248130, 0.176125, 0.177957, 0.122748))
    close(model.responsibilities(x)[3], f64(0.0, 0.071400, 0.928600))
    mean = weights @ means
    variance = weights @ (sd.square() + means.square()) - mean.square()
    drawn = model.sample(200_000, generator=seeded())
    assert mean.item() == pytest.approx(0.25) and variance.item() == pytest.approx(3.7355)
    assert drawn.mean().item() == pytest.approx(0.25, abs=0.02)
    assert drawn.var().item() == pytest.approx(3.7355, abs=0.05)
    grid = torch.linspace(-12, 12, 4001, dtype=torch.float64)[:, None]
    assert torch.trapezoid(model.log_prob(grid).exp(), grid[:, 0]).item() == pytest.approx(1, abs=1e-9)


def test_bound_of_a_guess() -> None:
    model = one_dimensional(f64(0.3, 0.7), f64(-2.0, 1.0), f64(1.0, 0.25))
    x = f64([[0.0]])
    assert model.log_prob(x).exp().item() == pytest.approx(0.0917846, abs=1e-7)
    close(model.responsibilities(x), f64([[3 / 17, 14 / 17]]))
    elbo, log_p = model.elbo(x, f64([[0.5, 0.5]])).item(), model.log_prob(x).item()
    assert (elbo, log_p) == (pytest.approx(-2.659542, abs=1e-6), pytest.approx(-2.388310, abs=1e-6))
    assert log_p - elbo == pytest.approx(0.271231, abs=1e-6)


def test_numbers_of_parameters() -> None:
    assert GaussianMixture((2,), 3).num_parameters == 17
    assert GaussianMixture((1,), 5, "diag").num_parameters == 14
    assert [GaussianMixture((3,), 2, kind).num_parameters for kind in KINDS] == [19, 13, 9, 13]


# --- EM -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_em_never_falls_and_touches(kind: Any) -> None:
    x = points.sample("moons", 300)[0].double()
    model = GaussianMixture((2,), 4, kind, floor=1e-4)
    totals = f64(*model.fit(x, 200, generator=seeded(1)))
    assert totals.diff().min() > -1e-9 * 300 and totals[-1] > totals[0] + 1
    r = model.responsibilities(x)
    assert (model.elbo(x, r) - model.log_prob(x)).abs().max() < 1e-12
    assert (model.elbo(x, torch.full_like(r, 0.25)) < model.log_prob(x)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_em_equals_scikit_learn(kind: Any) -> None:
    x = points.sample("pinwheel", 400)[0].double() + 1000  # far from 0: nothing must cancel
    model = GaussianMixture((2,), 3, kind)
    model.initialize(x, seeded(2))
    precision = torch.linalg.inv(model.gaussians.matrices)
    start = {
        "full": precision,
        "tied": precision[0],
        "diag": precision.diagonal(dim1=1, dim2=2),
        "spherical": precision[:, 0, 0],
    }[kind]
    peer = SklearnMixture(
        3, covariance_type=kind, reg_covar=0, tol=0, max_iter=25, weights_init=model.weights.numpy(),
        means_init=model.gaussians.means.numpy(), precisions_init=start.numpy(),
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of not having converged
        peer.fit(x.numpy())
    model.fit(x, 25)
    close(model.gaussians.means, torch.tensor(peer.means_), 1e-6)
    close(model.gaussians.covariances, torch.tensor(peer.covariances_), 1e-6)
    close(model.log_prob(x), torch.tensor(peer.score_samples(x.numpy())), 1e-6)


def test_batches_make_the_same_step() -> None:
    x = points.sample("rings", 500)[0].double()
    whole, parts = GaussianMixture((2,), 4), GaussianMixture((2,), 4)
    for model in (whole, parts):
        model.initialize(x, seeded(3))
    whole.em_step(x)
    for part in x.split(137):
        parts.count((part,))
    parts.m_step(parts.sums)
    close(whole.gaussians.covariances, parts.gaussians.covariances, 1e-12)
    close(whole.weights, parts.weights, 1e-12)


def test_at_a_fixed_point_em_gains_nothing() -> None:
    """LV-E5: the text says that EM increases the likelihood; it does not decrease it."""
    model = one_dimensional(f64(0.5, 0.5), f64(0.5, 0.5), f64(5.25, 5.25))
    before, after = model.fit(FOUR, 1)
    assert after == pytest.approx(before, abs=1e-12)


def test_singularity_without_a_floor() -> None:
    def total(sd: float) -> float:
        model = one_dimensional(f64(0.5, 0.5), f64(4.0, 0.0), f64(sd**2, 4.0))
        return float(model.log_prob(FOUR).sum())

    assert [total(sd) for sd in (1e-1, 1e-3, 1e-6)] == pytest.approx([-6.968, -2.370, 4.538], abs=1e-3)
    open_ended = one_dimensional(f64(0.5, 0.5), f64(4.0, 0.0), f64(1e-2, 4.0))
    with pytest.raises(Exception), warnings.catch_warnings():  # noqa: B017
        warnings.simplefilter("error")
        totals = open_ended.fit(FOUR, 100)
        assert math.isfinite(totals[-1]) and totals[-1] < 100


@pytest.mark.parametrize("kind", ["full", "diag", "spherical"])
def test_a_floor_keeps_em_finite_and_a_warning_names_who_collapsed(kind: Any) -> None:
    x = torch.cat([torch.randn(50, 2, generator=seeded(), dtype=torch.float64), f64([[9.0, 9.0]])])
    model = GaussianMixture((2,), 2, kind, floor=1e-3)
    eye = torch.eye(2, dtype=torch.float64)
    spread = {"full": eye.expand(2, 2, 2), "diag": torch.ones(2, 2), "spherical": torch.ones(2)}[kind]
    model.set_parameters(f64(0.5, 0.5), f64([[0.0, 0.0], [9.0, 9.0]]), spread)
    with pytest.warns(CollapseWarning, match=r"Component 1 has collapsed: on 1\.0 points"):
        totals = f64(*model.fit(x, 50))
    assert totals.isfinite().all() and totals.diff().min() > -1e-9
    assert torch.linalg.eigvalsh(model.gaussians.matrices)[1].tolist() == pytest.approx([1e-3, 1e-3])


def test_a_tied_covariance_at_its_floor_says_so() -> None:
    line = torch.linspace(0, 1, 20, dtype=torch.float64)[:, None].expand(-1, 2)
    with pytest.warns(CollapseWarning, match="tied covariance"):
        GaussianMixture((2,), 2, "tied", floor=1e-3).fit(line, 3, generator=seeded())


def test_a_component_without_points_stays_where_it_is() -> None:
    model = one_dimensional(f64(0.5, 0.5), f64(0.0, 1e6), f64(4.0, 1.0))
    model.fit(FOUR, 3)
    assert model.weights.tolist() == [1.0, 0.0] and model.gaussians.means[1].item() == 1e6
    assert (
        model.log_prob(FOUR).isfinite().all()
        and model.elbo(FOUR, model.responsibilities(FOUR)).isfinite().all()
    )


def test_restarts_keep_the_likeliest() -> None:
    x = points.sample("rings", 300)[0].double()
    generator, single = seeded(0), []
    for _ in range(6):  # six starts of one generator
        model = GaussianMixture((2,), 6)
        model.initialize_best(x, generator)
        for _ in range(model.trial_steps):
            model.em_step(x)
        single.append(float(model.e_step(x)["loglik"]))
    model = GaussianMixture((2,), 6, restarts=6)
    model.initialize_best(x, seeded(0))
    assert float(model.e_step(x)["loglik"]) == pytest.approx(max(single), abs=1e-9)
    assert max(single) - min(single) > 1  # starts do differ


def test_bic_and_held_out_likelihood_choose_the_size() -> None:
    x, _ = points.sample("eight_gaussians", 1200)
    held_out, _ = points.sample("eight_gaussians", 1000, seed=1)
    models = {
        k: GaussianMixture((2,), k, "spherical", floor=1e-3, restarts=8, trial_steps=5) for k in (2, 8, 14)
    }
    torch.manual_seed(0)
    rows = compare_sizes(models, x, held_out, steps=60)
    assert min(rows, key=lambda row: row["bic"])["size"] == 8
    assert rows[1]["held_out"] < rows[0]["held_out"]
    bic = rows[1]["parameters"] * math.log(1200) + 2 * 1200 * rows[1]["nll"]
    assert rows[1]["bic"] == pytest.approx(bic)
    assert rows[1]["parameters"] == 7 + 16 + 8


def test_a_gaussian_cannot_make_a_ring() -> None:
    """Capacity: a ring of radius 1 and noise .1 has −H = −.951698; the best Gaussian −2.164533."""
    generator = seeded()
    angle = 2 * math.pi * torch.rand(4000, generator=generator, dtype=torch.float64)
    radius = 1 + 0.1 * torch.randn(4000, generator=generator, dtype=torch.float64)
    ring = torch.stack([radius * angle.cos(), radius * angle.sin()], 1)
    results = {}
    for k in (1, 4, 12):
        model = GaussianMixture((2,), k, floor=1e-4, restarts=3)
        model.fit(ring[:3000], 60, generator=seeded(1))
        results[k] = model.log_prob(ring[3000:]).mean().item()
    assert results[1] == pytest.approx(-2.164533, abs=0.05)
    assert results[1] < results[4] - 0.5 < results[12] - 0.5 and results[12] < -0.93


def test_a_gaussian_on_the_corners_of_a_cube_loses_per_dimension() -> None:
    """{±1}^d + N(0, .1²): 1.614413 nats per dimension; two components suffice for d = 1, 2^d in general."""
    generator = seeded()
    corners = torch.randint(2, (40_000, 1), generator=generator).double() * 2 - 1
    x = corners + 0.1 * torch.randn(corners.shape, generator=generator, dtype=torch.float64)
    one, two = GaussianMixture((1,), 1), GaussianMixture((1,), 2)
    one.fit(x, 2, generator=seeded())
    two.fit(x, 30, generator=seeded())
    loss = (two.log_prob(x) - one.log_prob(x)).mean().item()
    assert loss == pytest.approx(1.614413, abs=0.01)


def test_trace_and_constructor() -> None:
    model = one_dimensional(f64(0.5, 0.5), f64(-1.0, 2.0), f64(1.0, 1.0))
    trace = model.sample_trace(generator=seeded(1))
    assert trace.digest() == model.sample_trace(generator=seeded(1)).digest() and len(trace) == 2
    with pytest.raises(ValueError, match="full, diag, spherical, tied"):
        GaussianMixture((2,), 2, "round")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="floor is -1"):
        Gaussians(2, 2, floor=-1)
    with pytest.raises(ValueError, match="3 numbers, the model 1"):
        model.log_prob(torch.zeros(2, 3))
