"""The latent lens against closed forms and known answers: walks, planes, posteriors and β."""

import math

import pytest
import torch
from torch.distributions import Normal

from lab.lenses import latent
from modules.importance import effective_sample_size
from modules.latent.vae import VAE
from tests.latent.test_vae import exact_log_prob, f64, linear_vae, two_points


def double(w: float, variance: float, mean: float, q_variance: float) -> VAE:
    return linear_vae(f64(w).view(1, 1), variance, f64(mean), f64(q_variance))


# --- Walks ----------------------------------------------------------------------------------------


def test_slerp_of_known_ends():
    a, b = f64(1, 0), f64(0, 1)
    assert torch.allclose(latent.slerp(a, b, 0.5), f64(0.707107, 0.707107), atol=1e-6)
    assert torch.allclose(latent.slerp(a, b, 0.25), f64(0.923880, 0.382683), atol=1e-6)
    assert latent.lerp(a, b, 0.5).norm().item() == pytest.approx(0.707107, abs=1e-6)
    assert torch.allclose(latent.slerp(f64(2, 0), b, 0.5), f64(1.414214, 0.707107), atol=1e-6)


def test_slerp_edges():
    """Equal inputs and the origin give the line, opposite ones a sentence; never NaN."""
    a = f64(0.3, -2.0)
    assert torch.equal(latent.slerp(a, a, 0.4), latent.lerp(a, a, 0.4))
    assert torch.allclose(latent.slerp(a, 3 * a, 0.5), 2 * a)
    assert torch.equal(latent.slerp(a, 0 * a, 0.5), 0.5 * a)
    with pytest.raises(ValueError, match="opposite directions"):
        latent.slerp(a, -2 * a, 0.5)
    near = f64(0.3, -2.0 + 1e-9)
    assert torch.isfinite(latent.slerp(a, near, 0.5)).all()


@pytest.mark.parametrize("kind", ["linear", "spherical"])
def test_walks_end_where_they_should(kind):
    torch.manual_seed(0)
    a, b = torch.randn(7, dtype=torch.float64), torch.randn(7, dtype=torch.float64)
    path = latent.interpolate(a, b, 11, kind)
    assert path.shape == (11, 7)
    assert torch.allclose(path[0], a, atol=1e-12)
    assert torch.allclose(path[-1], b, atol=1e-12)


def test_norms_of_walks_in_high_dimensions():
    """For N(0, I₁₀₀), lerp's midpoint has norm 7.05, slerp's 9.99, the ends 9.975."""
    torch.manual_seed(0)
    pairs = torch.randn(4000, 2, 100, dtype=torch.float64)
    ends = pairs.norm(dim=2).mean().item()
    middles = {}
    for kind in ("linear", "spherical"):
        codes = torch.stack([latent.interpolate(a, b, 3, kind)[1] for a, b in pairs])
        middles[kind] = codes.norm(dim=1).mean().item()
    assert ends == pytest.approx(9.975, abs=0.03)
    assert middles["linear"] == pytest.approx(7.05, abs=0.03)
    assert middles["spherical"] == pytest.approx(9.99, abs=0.05)


def test_spherical_walk_of_equal_lengths_keeps_the_length():
    a, b = f64(3, 0, 0), f64(0, -1.8, 2.4)
    assert torch.allclose(
        latent.interpolate(a, b, 9, "spherical").norm(dim=1), torch.full((9,), 3.0).double()
    )


def test_traverse_moves_one_dimension_a_row():
    z, values = f64(0.1, 0.2, 0.3), f64(-1, 0, 1, 2)
    grid = latent.traverse(z, values, [2, 0])
    assert grid.shape == (2, 4, 3)
    assert torch.equal(grid[0, :, 2], values)
    assert torch.equal(grid[1, :, 0], values)
    assert torch.equal(grid[0, :, :2], z[:2].expand(4, 2))
    assert torch.equal(z, f64(0.1, 0.2, 0.3))


def test_typical_length():
    """9.975 for K = 100; √(2/π) for K = 1; and the mean over draws."""
    assert latent.typical_length(100) == pytest.approx(9.975, abs=1e-3)
    assert latent.typical_length(1) == pytest.approx(math.sqrt(2 / math.pi))
    torch.manual_seed(0)
    assert torch.randn(100_000, 20).norm(dim=1).mean().item() == pytest.approx(
        latent.typical_length(20), abs=0.02
    )


# --- Planes, arithmetic, neighbours ---------------------------------------------------------------


def test_plane_of_two_dimensions_is_the_space_itself():
    plane = latent.plane_of(torch.randn(9, 2))
    z = torch.randn(5, 2)
    assert torch.equal(plane.place(z), z)
    assert torch.equal(plane.code(z), z)
    assert plane.share == 1.0


def test_principal_plane():
    """Variances 4, 1, ¼ along known axes: the plane holds 5 / 5.25 of them and round-trips its places."""
    x = (3 * f64(4.0, 1.0, 0.25)).sqrt().diag()
    rotation = torch.linalg.qr(torch.tensor([[1.0, 2, 3], [0, 1, 4], [5, 6, 0]], dtype=torch.float64)).Q
    z = torch.cat([x, -x]) @ rotation.T + f64(1, 2, 3)
    plane = latent.plane_of(z)
    assert torch.allclose(plane.origin, f64(1, 2, 3))
    assert plane.share == pytest.approx(5 / 5.25)
    for result, true in zip(plane.axes, rotation.T, strict=False):
        assert abs(result @ true).item() == pytest.approx(1.0)
        assert result[result.abs().argmax()] > 0
    uv = torch.randn(4, 2, dtype=torch.float64)
    assert torch.allclose(plane.place(plane.code(uv)), uv)


def test_ellipse_is_the_shadow_of_the_guess():
    """In 2-D its axes are ±2σ_j; in a rotated plane its points are 2 Mahalanobis units from the mean."""
    flat = latent.plane_of(torch.zeros(3, 2, dtype=torch.float64))
    line = latent.ellipse(flat, f64(1, -1), f64(0.25, 4.0).log())
    assert torch.allclose(line.amax(0) - f64(1, -1), f64(1.0, 4.0), atol=1e-9)
    torch.manual_seed(0)
    plane = latent.plane_of(torch.randn(50, 4, dtype=torch.float64) @ torch.randn(4, 4, dtype=torch.float64))
    mean, log_var = torch.randn(4, dtype=torch.float64), torch.randn(4, dtype=torch.float64)
    away = latent.ellipse(plane, mean, log_var) - plane.place(mean)
    covariance = plane.axes @ log_var.exp().diag() @ plane.axes.T
    distance = (away * torch.linalg.solve(covariance, away.T).T).sum(1).sqrt()
    assert torch.allclose(distance, torch.full_like(distance, 2.0))


def test_examples_have_every_class_and_a_failure():
    pictures, labels = torch.rand(6, 8, 8), torch.tensor([3, 1, 3, 0, 1, 0])
    result = latent.examples(pictures, labels)
    assert [name for name, _ in result] == ["0", "1", "3", "box"]
    assert torch.equal(result[1][1], pictures[1])
    assert result[-1][1].shape == (8, 8)
    assert 0 < result[-1][1].sum() < 36


def test_lattice_has_its_top_row_at_the_top():
    grid = latent.lattice(3.0, 5)
    assert grid.shape == (5, 5, 2)
    assert grid[0, 0].tolist() == [-3.0, 3.0]
    assert grid[-1, -1].tolist() == [3.0, -3.0]
    assert grid[2, 2].tolist() == [0.0, 0.0]


def test_decode_plane_puts_each_picture_at_its_place():
    torch.manual_seed(0)
    vae = VAE((16,), 3, [8])
    plane = latent.plane_of(torch.randn(20, 3))
    tiles = latent.decode_plane(vae, plane, extent=2.0, size=5)
    assert tiles.shape == (5, 5, 4, 4)
    z = plane.origin + 2.0 * plane.axes[0] + 1.0 * plane.axes[1]  # right edge, second row from the top
    assert torch.allclose(tiles[1, 4], vae.decode(z[None]).view(4, 4), atol=1e-6)


def test_exchange_is_the_difference_of_class_means():
    z, y = f64(0, 0, 1, 1, 5, 7).view(3, 2), torch.tensor([0, 1, 1])
    assert torch.equal(latent.class_difference(z, y, minus=0, plus=1), f64(3, 4))


def test_neighbours():
    z = f64(0, 0, 3, 4, 1, 0).view(3, 2)
    index, distance = latent.neighbours(z, f64(0, 0), 3)
    assert index.tolist() == [0, 2, 1]
    assert distance.tolist() == [0.0, 1.0, 5.0]
    assert len(latent.neighbours(z, f64(0, 0), 9)[0]) == 3


def test_codes_and_pictures_do_not_depend_on_the_batch():
    torch.manual_seed(0)
    vae, x = VAE((16,), 3, [8]).double(), torch.rand(7, 16, dtype=torch.float64)
    assert torch.allclose(latent.codes(vae, x, batch=2), vae.encode(x), atol=1e-12)
    z = torch.randn(2, 3, 3, dtype=torch.float64)
    assert latent.decoded(vae, z, batch=4).shape == (2, 3, 4, 4)
    assert torch.allclose(
        latent.decoded(vae, z, batch=4).reshape(6, 16), vae.decode(z.view(6, 3)), atol=1e-12
    )


def test_input_is_made_for_the_model():
    vae = VAE((16,), 2, [8])
    x = latent.as_input(vae, torch.rand(3, 28, 28))
    assert x.shape == (3, 16)
    assert set(x.unique().tolist()) <= {0.0, 1.0}
    grey = VAE((1, 4, 4), 2, [8], decoder="gaussian")
    picture = torch.rand(4, 4)
    assert torch.equal(latent.as_input(grey, picture), picture.view(1, 1, 4, 4))
    with pytest.raises(ValueError, match="no square picture"):
        latent.as_input(VAE((15,), 2, [8]), picture)


def test_mnist_frame_centres_the_ink():
    digits = torch.zeros(2, 8, 8)
    digits[0, 0:3, 0:3] = 1.0
    digits[1, 2:6, 3:5] = 1.0
    framed = latent.in_mnist_frame(digits)
    assert framed.shape == (2, 28, 28)
    place = torch.arange(28.0) - 13.5
    centre = (framed[1].sum(1) @ place / framed[1].sum(), framed[1].sum(0) @ place / framed[1].sum())
    assert max(map(abs, centre)) <= 0.5
    assert framed[0].sum() == pytest.approx(framed[0, :20, :20].sum().item(), rel=0.5)
    assert framed.min() >= 0
    assert framed.max() <= 1


# --- Codes together -------------------------------------------------------------------------------


def test_active_units():
    means = torch.stack(
        [torch.linspace(-1, 1, 50), torch.full((50,), 3.0), 0.05 * torch.linspace(-1, 1, 50)], 1
    )
    assert latent.active_units(means).tolist() == [True, False, False]


# --- The bound of one input -----------------------------------------------------------------------


def test_centred_noise_has_exact_moments():
    noise = latent.normal_noise(33, 4, seed=1)
    assert torch.allclose(noise.mean(0), torch.zeros(1, 4).double(), atol=1e-12)
    assert torch.allclose(noise.var(0, unbiased=False), torch.ones(1, 4).double())
    assert torch.equal(noise, latent.normal_noise(33, 4, seed=1))
    assert not torch.equal(noise, latent.normal_noise(33, 4, seed=2))


def test_bound_is_the_models_own():
    torch.manual_seed(0)
    vae, x = VAE((16,), 3, [8]).double(), torch.bernoulli(torch.full((1, 16), 0.5, dtype=torch.float64))
    noise = latent.normal_noise(5, 3, seed=0)
    ours, parts = latent.bound(vae, x, noise), vae.elbo_terms(x, noise=noise)
    assert ours.elbo == pytest.approx(parts.elbo().item(), abs=1e-12)
    assert ours.objective(4.0) == pytest.approx(parts.elbo(4.0).item(), abs=1e-12)
    assert ours.pixels.shape == vae.event_shape
    assert ours.pixels.sum().item() == pytest.approx(ours.reconstruction, abs=1e-12)
    elsewhere = latent.bound(vae, x, noise, q=(torch.ones(1, 3).double(), torch.zeros(1, 3).double()))
    assert elsewhere.kl.tolist() == pytest.approx([0.5] * 3)


@pytest.mark.parametrize(
    ("beta", "mean", "variance"), [(1, 0.4, 0.2), (4, 0.25, 0.5), (25, 0.068966, 0.862069)]
)
def test_beta_pulls_the_best_guess_to_the_prior(beta, mean, variance):
    """x = 2z + N(0,1), x = 1: the best q is N(2/(4+β), β/(4+β))."""
    vae = double(2.0, 1.0, 0.0, 1.0)
    noise = latent.normal_noise(8, 1, seed=0)
    mu, log_var = latent.refit(vae, f64(1.0).view(1, 1), float(beta), noise, steps=400)
    assert mu.item() == pytest.approx(mean, abs=1e-3)
    assert log_var.exp().item() == pytest.approx(variance, abs=1e-3)


def test_refit_finds_the_mean_field_optimum():
    """Posterior mean, and variances 1 / P_jj = .2 rather than the marginal .238."""
    vae = linear_vae(f64(1, 1, 0, 1, 1, 0).view(3, 2), 0.5, f64(1.0, -1.0), f64(1.0, 1.0))
    x = f64(1, 2, -1).view(1, 3)
    noise = two_points(1, 2)
    q = latent.refit(vae, x, 1.0, noise, steps=400)
    assert torch.allclose(q[0], f64(-0.571429, 1.428571), atol=1e-3)
    assert torch.allclose(q[1].exp(), f64(0.2, 0.2), atol=1e-3)
    assert latent.bound(vae, x, noise, q).elbo == pytest.approx(-5.040818, abs=1e-5)
    assert latent.bound(vae, x, noise).elbo < -5.040818


def test_refit_leaves_the_model_alone():
    torch.manual_seed(0)
    vae = VAE((16,), 3, [8])
    before = {k: v.clone() for k, v in vae.state_dict().items()}
    latent.refit(vae, torch.ones(1, 16), 2.0, latent.normal_noise(4, 3, 0), steps=3)
    assert all(torch.equal(v, before[k]) for k, v in vae.state_dict().items())
    assert all(p.grad is None for p in vae.parameters())


def test_grid_posterior_one_dimension():
    """For x = 2z + N(0,1), x = 1 the grid gives N(.4, .2) and log p = −1.823657."""
    vae, x = double(2.0, 1.0, 0.0, 1.0), f64(1.0).view(1, 1)
    result = latent.grid_posterior(vae, x, 6.0, 601, budget=1)
    z = torch.linspace(-6, 6, 601, dtype=torch.float64)
    assert result.log_evidence == pytest.approx(-1.823657, abs=1e-6)
    assert torch.allclose(result.density, Normal(f64(0.4), f64(0.2).sqrt()).log_prob(z).exp(), atol=1e-6)
    assert (result.density.sum() * 12 / 600).item() == pytest.approx(1.0, abs=1e-9)


def test_grid_posterior_two_dimensions_and_every_bound_below_its_evidence():
    vae = linear_vae(f64(1, 1, 0, 1, 1, 0).view(3, 2), 0.5, f64(-0.5, 1.4), f64(0.3, 0.3))
    x = f64(1, 2, -1).view(1, 3)
    result = latent.grid_posterior(vae, x, 6.0, 121)
    assert result.log_evidence == pytest.approx(exact_log_prob(vae, x).item(), abs=1e-5)
    grid, cell = latent.grid_codes(vae, 6.0, 121), (12 / 120) ** 2
    mean = (result.density[..., None] * grid).sum((0, 1)) * cell
    assert torch.allclose(mean, f64(-0.571429, 1.428571), atol=1e-3)
    weights = latent.importance(vae, x, 6000, seed=0)
    elbo = latent.bound(vae, x, two_points(1, 2)).elbo
    l_1, l_5, l_50 = latent.weighted_bounds(weights, [1, 5, 50])
    assert l_1 == pytest.approx(elbo, abs=0.1)
    assert elbo < l_5 < l_50 < result.log_evidence


def test_grid_posterior_narrower_than_a_cell():
    """Posterior deviation .05, cells .17 wide: the fine cells inside still sum to the exact evidence."""
    vae = linear_vae(f64(1, 0, 0, 1, 1, 1).view(3, 2), 0.0025, f64(0.0, 0.0), f64(1.0, 1.0))
    x = f64(0.71, -0.37, 0.4).view(1, 3)
    exact = exact_log_prob(vae, x).item()
    assert latent.grid_posterior(vae, x).log_evidence == pytest.approx(exact, abs=1e-3)
    assert abs(latent.grid_posterior(vae, x, budget=1).log_evidence - exact) > 0.05


def test_grids_are_for_one_or_two_dimensions():
    with pytest.raises(ValueError, match="only 1 or 2"):
        latent.grid_posterior(VAE((4,), 3, []), torch.zeros(1, 4))


@pytest.mark.parametrize(
    ("mean", "variance", "share"), [(0.0, 1.0, 0.595210), (0.75, 0.5, 1.0), (0.3, 0.8, 0.771155)]
)
def test_effective_sample_size(mean, variance, share):
    """x = z + N(0,1), x = 1.5: ESS / N for the prior, the posterior and N(.3, .8)."""
    vae = double(1.0, 1.0, mean, variance)
    weights = latent.importance(vae, f64(1.5).view(1, 1), 400_000, seed=0)
    assert effective_sample_size(weights).item() / len(weights) == pytest.approx(share, abs=2e-3)
    assert weights.exp().mean().item() == pytest.approx(0.160733, abs=1e-3)


def test_error_of_the_evidence():
    """The first-order error is the spread of the estimate over repeats; 0 for equal weights."""
    vae = double(1.0, 1.0, 0.3, 0.8)
    x = f64(1.5).view(1, 1)
    repeats = vae.iwae(x.expand(2000, 1), 500, torch.Generator().manual_seed(0))
    assert latent.error(latent.importance(vae, x, 500, 0)) == pytest.approx(repeats.std().item(), rel=0.15)
    assert latent.error(f64(-7.0, -7.0, -7.0)) == pytest.approx(0.0, abs=1e-7)


def test_effective_sample_size_of_one_heavy_weight():
    assert effective_sample_size(f64(-2000.0, -3000.0, -3000.0)).item() == pytest.approx(1.0)


def test_weighted_bounds_uses_disjoint_groups():
    weights = torch.log(f64(1, 3, 5, 7, 100))
    one, two = latent.weighted_bounds(weights, [1, 2])
    assert one == pytest.approx(weights.mean().item())
    assert two == pytest.approx((math.log(2) + math.log(6)) / 2)
