"""PCA, probabilistic PCA and factor analysis against exact answers, scikit-learn, and each other."""

import math

import pytest
import torch
from sklearn.decomposition import PCA as SklearnPCA
from sklearn.decomposition import FactorAnalysis as SklearnFA
from torch import Tensor
from torch.distributions import MultivariateNormal

from modules.base import Density, Latent, Sampler
from modules.latent.factor_analysis import FactorAnalysis
from modules.latent.kalman import condition_gaussian
from modules.latent.linear_gaussian import LinearGaussian
from modules.latent.pca import PCA
from modules.latent.ppca import PPCA


def f64(*values: object) -> Tensor:
    return torch.tensor(values if len(values) > 1 else values[0], dtype=torch.float64)


def close(a: Tensor, b: Tensor, atol: float = 1e-6) -> None:
    torch.testing.assert_close(a, b, rtol=0, atol=atol)


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def with_spectrum(*values: float) -> Tensor:
    """Points whose mean is 0 and whose covariance is diagonal with these values, exactly: ±√(D λ_d) e_d."""
    root = (len(values) * f64(*values)).sqrt().diag()
    return torch.cat([root, -root])


@pytest.fixture
def two_numbers() -> FactorAnalysis:
    model = FactorAnalysis((2,), 1)
    model.set_parameters(f64([[1.0], [2.0]]), f64(0.5, 1.0))
    return model


X = f64([[2.0, 1, 0], [0, 1, 1], [-1, 0, -1], [-1, -2, 0]])


def test_posterior_and_likelihood_of_one_factor(two_numbers: FactorAnalysis) -> None:
    x = f64([[1.0, 1.0]])
    close(two_numbers.covariance(), f64([[1.5, 2.0], [2.0, 5.0]]))
    posterior = two_numbers.posterior(x)
    close(posterior.mean, f64([[4 / 7]]))
    close(posterior.covariance_matrix, f64([[[1 / 7]]]))
    assert two_numbers.log_prob(x).item() == pytest.approx(-2.821401, abs=1e-6)
    assert isinstance(two_numbers, Density) and isinstance(two_numbers, Latent)
    assert isinstance(two_numbers, Sampler)


def test_woodbury_equals_the_dense_gaussian() -> None:
    model = FactorAnalysis((6,), 3)
    generator = seeded()
    model.set_parameters(
        torch.randn(6, 3, generator=generator, dtype=torch.float64),
        torch.rand(6, generator=generator, dtype=torch.float64) + 0.1,
        torch.randn(6, generator=generator, dtype=torch.float64),
    )
    x = torch.randn(20, 6, generator=generator, dtype=torch.float64)
    dense = MultivariateNormal(model.mean, model.covariance())
    close(model.log_prob(x), dense.log_prob(x), 1e-12)


def test_em_of_factor_analysis_by_hand() -> None:
    model = FactorAnalysis((3,), 1, floor=0.0)
    model.set_parameters(torch.ones(3, 1), torch.ones(3))
    totals = model.fit(X, 1)
    close(f64(*totals), f64(-17.549851, -16.102905))
    close(model.loadings, f64([[1.047619], [1.047619], [0.380952]]))
    close(model.noise, f64(0.779762, 0.779762, 0.404762))
    close(f64(*model.fit(X, 2)[1:]), f64(-15.943067, -15.894770))
    model.fit(X, 1000)
    close(model.loadings * model.loadings[0].sign(), f64([[1.0], [1.0], [0.25]]), 1e-5)
    close(model.noise, f64(0.5, 0.5, 0.4375), 1e-5)
    close(model.covariance(), X.T @ X / 4, 1e-5)
    assert model.fit(X, 1)[-1] == pytest.approx(-15.876534, abs=1e-6)


@pytest.mark.parametrize("make", [FactorAnalysis, PPCA])
@pytest.mark.parametrize("missing", [False, True])
def test_em_never_falls(make: type[LinearGaussian], missing: bool) -> None:
    x = torch.randn(60, 5, generator=seeded(1), dtype=torch.float64) @ torch.randn(
        5, 5, generator=seeded(2), dtype=torch.float64
    )
    if missing:
        x[torch.rand(x.shape, generator=seeded(3)) < 0.3] = math.nan
    model = make((5,), 2)
    totals = f64(*model.fit(x, 200, generator=seeded(4)))
    assert totals.isfinite().all() and totals[-1] > totals[0]
    assert totals.diff().min() > -1e-9


def test_scale_is_nothing_to_factors_and_rotation_nothing_to_ppca() -> None:
    x = torch.randn(80, 4, generator=seeded(1), dtype=torch.float64) * f64(1.0, 2.0, 0.5, 1.0)
    x[:, 1] += 2 * x[:, 0]
    scale = f64(10.0, 1.0, 1.0, 1.0)
    turn = torch.linalg.qr(torch.randn(4, 4, generator=seeded(5), dtype=torch.float64)).Q

    def fitted(model: LinearGaussian, data: Tensor) -> LinearGaussian:
        model.fit(data, 50, generator=seeded(0))
        return model

    # every step of EM keeps it, and so does the start
    fa, fa_scaled, fa_turned = (fitted(FactorAnalysis((4,), 1), d) for d in (x, x * scale, x @ turn.T))
    close(fa_scaled.covariance(), scale[:, None] * fa.covariance() * scale, 1e-8)
    close(fa_scaled.log_prob(x * scale), fa.log_prob(x) - math.log(10.0), 1e-8)
    assert (fa_turned.covariance() - turn @ fa.covariance() @ turn.T).abs().max() > 0.01

    pp, pp_scaled, pp_turned = (
        fitted(PPCA((4,), 1, closed_form=True), d) for d in (x, x * scale, x @ turn.T)
    )
    close(pp_turned.covariance(), turn @ pp.covariance() @ turn.T, 1e-5)
    assert (pp_scaled.covariance() - scale[:, None] * pp.covariance() * scale).abs().max() > 0.01


def test_a_rotation_of_the_factors_is_the_same_density() -> None:
    model, other = FactorAnalysis((3,), 2), FactorAnalysis((3,), 2)
    loadings = torch.randn(3, 2, generator=seeded(), dtype=torch.float64)
    turn = torch.linalg.qr(torch.randn(2, 2, generator=seeded(1), dtype=torch.float64)).Q
    model.set_parameters(loadings, f64(0.3, 0.4, 0.5))
    other.set_parameters(loadings @ turn, f64(0.3, 0.4, 0.5))
    assert not torch.allclose(model.loadings, other.loadings)
    close(model.log_prob(X), other.log_prob(X), 1e-12)


def test_ppca_in_closed_form_and_by_em() -> None:
    x = with_spectrum(4.0, 1.0, 0.25)
    closed, em = PPCA((3,), 1, closed_form=True), PPCA((3,), 1)
    closed.em_step(x)
    em.fit(x, 400, generator=seeded())
    for model in (closed, em):
        close(model.noise, f64(0.625, 0.625, 0.625), 1e-5)
        assert model.loadings.norm().item() == pytest.approx(1.837117, abs=1e-5)
        assert model.log_prob(x).mean().item() == pytest.approx(-4.479959, abs=1e-6)
        along = model.decode(model.encode(f64([[2.0, 0, 0]])))
        close(along, f64([[2 * 0.84375, 0.0, 0.0]]), 1e-4)  # shrunken: not PCA's projection, LV-E6


def test_ppca_from_an_orthogonal_start_stays_there() -> None:
    model = PPCA((3,), 1)
    model.set_parameters(f64([[0.0], [1.0], [0.0]]), 1.0)
    model.fit(with_spectrum(4.0, 1.0, 0.25), 100)
    assert model.loadings[0].item() == 0 and model.log_prob(with_spectrum(4.0, 1.0, 0.25)).mean() < -4.6


@pytest.mark.parametrize(("noise", "shown"), [(0.25, (1.875, 0.75)), (0.01, (1.995, 0.99)), (1e-9, (2, 1))])
def test_as_the_noise_vanishes_ppca_projects(noise: float, shown: tuple[float, float]) -> None:
    model = PPCA((3,), 2, floor=0.0)
    model.set_parameters(torch.cat([(f64(4.0, 1.0) - noise).sqrt().diag(), torch.zeros(1, 2)]), noise)
    close(model.decode(model.encode(f64([[2.0, 1.0, 1.0]]))), f64([[*shown, 0.0]]))


def test_columns_of_w_are_components_only_up_to_rotation_and_scale() -> None:
    """LV-E6: W = U (Λ − σ²)^½ R; what is printed, W = U, has neither."""
    model = PPCA((3,), 2, closed_form=True)
    model.em_step(with_spectrum(4.0, 1.0, 0.25))
    close(model.loadings.abs(), torch.cat([f64(3.75, 0.75).sqrt().diag(), torch.zeros(1, 2)]))
    assert (model.loadings.norm(dim=0) - 1).abs().min() > 0.1


def test_ppca_equals_scikit_learn() -> None:
    x = torch.randn(200, 6, generator=seeded(), dtype=torch.float64) @ torch.randn(
        6, 6, generator=seeded(1), dtype=torch.float64
    )
    model = PPCA((6,), 2, closed_form=True)
    model.initialize_best(x)
    model.em_step(x)
    peer = SklearnPCA(2, svd_solver="full").fit(x.numpy())
    n = len(x)  # scikit-learn divides by N − 1
    assert model.noise[0].item() == pytest.approx(peer.noise_variance_ * (n - 1) / n, rel=1e-10)
    peer.explained_variance_ *= (n - 1) / n
    peer.noise_variance_ *= (n - 1) / n
    close(model.log_prob(x), torch.tensor(peer.score_samples(x.numpy())), 1e-8)


def test_factor_analysis_reaches_scikit_learns_maximum() -> None:
    loadings = f64([[1.0, 1, 1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 1.0, 1, 1, 1]])
    x = torch.randn(500, 2, generator=seeded(1), dtype=torch.float64) @ loadings
    x += torch.randn(x.shape, generator=seeded(), dtype=torch.float64) * torch.linspace(0.5, 1, 8).double()
    model = FactorAnalysis((8,), 2)
    model.fit(x, 200, generator=seeded())
    peer = SklearnFA(2, tol=1e-9, max_iter=2000, svd_method="lapack").fit(x.numpy())
    assert model.log_prob(x).mean().item() == pytest.approx(peer.score(x.numpy()), abs=1e-5)
    close(model.covariance(), torch.tensor(peer.get_covariance()), 1e-2)


def test_missing_entries_are_left_out_exactly(two_numbers: FactorAnalysis) -> None:
    x = f64([[1.0, math.nan]])
    posterior = two_numbers.posterior(x)
    close(posterior.mean, f64([[2 / 3]]))
    close(posterior.covariance_matrix, f64([[[1 / 3]]]))
    mean, variance = two_numbers.impute(x)
    close(mean, f64([[1.0, 4 / 3]]))
    close(variance, f64([[0.0, 7 / 3]]))
    dense = condition_gaussian(
        two_numbers.mean, two_numbers.covariance(), torch.tensor([True, False]), f64([1.0])
    )
    close(dense[0], mean[0, 1:])
    close(dense[1][0], variance[0, 1:])
    marginal = MultivariateNormal(f64([0.0]), f64([[1.5]])).log_prob(f64([1.0]))
    close(two_numbers.log_prob(x)[0], marginal)


def test_conditioning_of_a_gaussian_pair() -> None:
    mean, covariance = condition_gaussian(
        f64(1.0, 2.0), f64([[2.0, 0.6], [0.6, 1.0]]), torch.tensor([False, True]), f64([3.0])
    )
    assert (mean.item(), covariance.item()) == (pytest.approx(1.6), pytest.approx(1.64))


def test_em_with_all_entries_seen_is_the_same_by_either_way() -> None:
    """The path for missing entries, taken for complete data: a row of NaN says nothing and changes no sum."""
    x = torch.randn(30, 4, generator=seeded(), dtype=torch.float64)
    empty = torch.cat([x, torch.full((1, 4), math.nan, dtype=torch.float64)])
    a, b = FactorAnalysis((4,), 2), FactorAnalysis((4,), 2)
    a.initialize(x, seeded(3))
    b.initialize(empty, seeded(3))
    a.fit(x, 20)
    b.fit(empty, 20)
    close(a.loadings, b.loadings, 1e-10)
    close(a.noise, b.noise, 1e-10)


def test_imputation_beats_the_column_mean() -> None:
    generator = seeded(7)
    loadings = torch.randn(10, 2, generator=generator, dtype=torch.float64)
    whole = torch.randn(400, 2, generator=generator, dtype=torch.float64) @ loadings.T
    whole += 0.3 * torch.randn(whole.shape, generator=generator, dtype=torch.float64)
    holes = torch.rand(whole.shape, generator=generator) < 0.35
    x = whole.masked_fill(holes, math.nan)
    error_of_mean = ((x.nanmean(0) - whole)[holes]).square().mean()
    for model in (FactorAnalysis((10,), 2), PPCA((10,), 2)):
        model.fit(x, 100, generator=seeded())
        filled, variance = model.impute(x)
        error = (filled - whole)[holes].square().mean()
        assert error < 0.3 * error_of_mean
        assert torch.equal(filled[~holes], whole[~holes]) and (variance[holes] > 0).all()


def test_uneven_noise_is_what_factor_analysis_is_for() -> None:
    """d = 10, k = 2, noise variances 0.1 … 10: about 3 nats per example between the two."""
    generator = seeded(0)
    loadings = torch.randn(10, 2, generator=generator, dtype=torch.float64)
    truth = FactorAnalysis((10,), 2)
    truth.set_parameters(loadings, torch.logspace(-1, 1, 10, dtype=torch.float64))
    x, held_out = truth.sample(1000, generator=generator), truth.sample(1000, generator=generator)
    fa, pp = FactorAnalysis((10,), 2), PPCA((10,), 2, closed_form=True)
    fa.fit(x, 300, generator=generator)
    pp.fit(x, 1)
    best, ours, theirs = (m.log_prob(held_out).mean().item() for m in (truth, fa, pp))
    assert best - 0.1 < ours < best + 0.05
    assert theirs < ours - 1.5


def test_pca_residual_is_the_sum_of_what_is_left() -> None:
    x = with_spectrum(4.0, 1.0, 0.25)
    model = PCA((3,), 1)
    model.fit(x, 1)
    close(model.variances, f64(4.0, 1.0, 0.25))
    assert model.residual.item() == pytest.approx(1.25)
    assert model.distances(x).mean().item() == pytest.approx(1.25)
    close(model.components.abs(), f64([[1.0, 0.0, 0.0]]))
    assert not isinstance(model, Density)  # a code, and no density


def test_pca_over_batches_is_pca_of_all() -> None:
    x = 100 + torch.randn(50, 4, generator=seeded(), dtype=torch.float64)
    one, two = PCA((4,), 2), PCA((4,), 2)
    one.fit(x, 1)
    two.initialize(x[:20])
    sums = {k: v + two.e_step(x[20:])[k] for k, v in two.e_step(x[:20]).items()}
    two.m_step(sums)
    close(one.components, two.components, 1e-9)
    close(one.variances, two.variances, 1e-9)


def test_linear_autoencoder_finds_the_plane_and_not_the_components() -> None:
    """LV-E16, "linear autoencoder is PCA": W_d W_e = U Uᵀ, and W_e itself is not Uᵀ."""
    x = with_spectrum(4.0, 1.0, 0.25)
    torch.manual_seed(0)
    encoder, decoder = torch.nn.Linear(3, 1, bias=False).double(), torch.nn.Linear(1, 3, bias=False).double()
    optimizer = torch.optim.LBFGS(
        [*encoder.parameters(), *decoder.parameters()], max_iter=500, tolerance_change=0
    )

    def loss() -> Tensor:
        optimizer.zero_grad()
        value = (decoder(encoder(x)) - x).square().sum(1).mean()
        value.backward()
        return value

    optimizer.step(loss)
    assert loss().item() == pytest.approx(1.25, abs=1e-6)
    close((decoder.weight @ encoder.weight).detach(), f64(1.0, 0.0, 0.0).diag(), 1e-4)
    assert abs(abs(encoder.weight[0, 0].item()) - 1) > 0.05


def test_numbers_of_parameters() -> None:
    fa, pp = FactorAnalysis((784,), 20), PPCA((784,), 20)
    assert sum(b.numel() for b in (fa.mean, fa.loadings, fa.noise)) == 17_248
    assert fa.num_parameters == 17_058 and pp.num_parameters == 16_275
    assert 784 + 784 * 785 // 2 == 308_504  # a full Gaussian


def test_samples_have_the_models_moments() -> None:
    model = FactorAnalysis((2,), 1)
    model.set_parameters(f64([[1.0], [2.0]]), f64(0.5, 1.0), f64(3.0, -1.0))
    x = model.sample(200_000, generator=seeded())
    close(x.mean(0), model.mean, 0.03)
    close(x.T.cov(), model.covariance(), 0.06)
    assert (
        model.sample_trace(generator=seeded(3)).digest() == model.sample_trace(generator=seeded(3)).digest()
    )
    plane = model.sample(5, mean=True, generator=seeded())
    close((plane[:, 1] + 1) / (plane[:, 0] - 3), torch.full((5,), 2.0, dtype=torch.float64))


def test_constructors_say_what_is_wrong() -> None:
    with pytest.raises(ValueError, match="factors is 4"):
        FactorAnalysis((3,), 4)
    with pytest.raises(ValueError, match="factors is 9"):
        PCA((3,), 9)
    model = PPCA((2,), 1, closed_form=True)
    with pytest.raises(ValueError, match="closed_form to false"):
        model.fit(f64([[1.0, math.nan], [0.0, 1.0]]))
    with pytest.raises(ValueError, match="3 numbers, the model 2"):
        model.log_prob(X)
