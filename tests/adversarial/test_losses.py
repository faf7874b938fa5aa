"""Losses, constraints and cures against hand-made numbers of the specification."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.adversarial import diversity
from modules.adversarial.dcgan import DCGAN
from modules.adversarial.divergences import total_variation
from modules.adversarial.gan import GAN, Discriminator
from modules.adversarial.losses import (
    LOSSES,
    Energy,
    FDivergenceLoss,
    LeastSquares,
    NonSaturating,
    Saturating,
    Wasserstein,
    clip_weights,
    gradient_norms,
    gradient_penalty,
    with_spectral_norm,
)

LOG2 = math.log(2)


def f64(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def normal(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


# --- Games ----------------------------------------------------------------------------------------


def test_at_logits_of_zero() -> None:
    zero = f64(0, 0, 0)
    assert Saturating().discriminator(zero, zero).item() == pytest.approx(2 * LOG2, abs=1e-12)
    assert Saturating().generator(zero, zero).item() == pytest.approx(-LOG2, abs=1e-12)
    assert NonSaturating().generator(zero, zero).item() == pytest.approx(LOG2, abs=1e-12)
    assert Saturating("sum").discriminator(zero, zero).item() == pytest.approx(6 * LOG2, abs=1e-12)
    assert FDivergenceLoss(divergence="GAN").discriminator(zero, zero).item() == pytest.approx(
        2 * LOG2, abs=1e-12
    )


def test_the_two_generators_differ_by_the_odds_of_being_made() -> None:
    f = torch.linspace(-50, 50, 1001, dtype=torch.float64, requires_grad=True)
    (saturating,) = torch.autograd.grad(Saturating("sum").generator(f, f), f)
    (other,) = torch.autograd.grad(NonSaturating("sum").generator(f, f), f)
    d, result = torch.sigmoid(f.detach()), torch.sigmoid(-f.detach())  # 1 − D without cancelling
    torch.testing.assert_close(saturating, -d, rtol=1e-12, atol=0)
    torch.testing.assert_close(other, -result, rtol=1e-12, atol=0)
    torch.testing.assert_close(other / saturating, result / d, rtol=1e-9, atol=0)
    for name in ("saturating", "non-saturating", "relativistic"):
        for end in (-1e4, 1e4):
            value = LOSSES[name]().discriminator(torch.tensor([end]), torch.tensor([-end]))
            assert value.isfinite() and LOSSES[name]().generator(value[None], -value[None]).isfinite()


def test_probabilities_in_the_place_of_logits_have_a_floor() -> None:
    # σ(f) in [0, 1]: the best that it can say is 1 of real and 0 of made
    floor = Saturating().discriminator(f64(1), f64(0))
    assert floor.item() == pytest.approx(1.006409, abs=1e-6)
    ten = torch.zeros(1, 10, dtype=torch.float64)
    ten[0, 3] = 1
    assert F.cross_entropy(ten, torch.tensor([3])).item() == pytest.approx(1.461150, abs=1e-6)
    assert Saturating().discriminator(f64(9), f64(-9)) < 0.05  # logits pass it


def test_least_squares_at_its_best_and_a_relativistic_constant() -> None:
    game = LeastSquares(a=-1, b=1, c=0)
    p, q = f64(0.5, 0.3, 0.2), f64(0.2, 0.2, 0.6)
    outputs = ((p - q) / (p + q)).requires_grad_()
    loss = (p * (outputs - 1) ** 2 + q * (outputs + 1) ** 2).sum() / 2
    assert torch.autograd.grad(loss, outputs)[0].abs().max() < 1e-12
    assert game.discriminator(f64(1), f64(-1)) == 0 and game.generator(f64(0.5), f64(0)) == 0.125
    for constant in (0.0, 7.0):
        f = f64(0, 0) + constant
        assert LOSSES["relativistic"]().discriminator(f, f).item() == pytest.approx(LOG2, abs=1e-12)
    f, g = normal(5), normal(5, seed=1)
    torch.testing.assert_close(
        LOSSES["relativistic"]().generator(f + 3, g + 3), LOSSES["relativistic"]().generator(f, g)
    )
    torch.testing.assert_close(
        LOSSES["relativistic"]().generator(f, g), LOSSES["relativistic"]().discriminator(f, g)
    )


def test_energy_is_zero_for_a_perfect_autoencoder() -> None:
    game = Energy(margin=2.0)
    assert game.discriminator(f64(0, 0), f64(2.0, 5.0)) == 0
    assert game.discriminator(f64(0, 0), f64(0.5, 0.5)) == 1.5 and game.generator(f64(3), f64(0)) == 3


def test_an_energy_is_the_mean_error_of_an_autoencoder() -> None:
    network = Discriminator(2, [4], pack=1, minibatch_std=False, energy=True).requires_grad_(False)
    for parameter in network.parameters():
        parameter.zero_()
    assert network(torch.tensor([[1.0, 3.0], [0.0, 2.0]])).tolist() == [5.0, 2.0]


def test_a_critic_knows_no_zero_and_a_hinge_does() -> None:
    real, fake = normal(8), normal(8, seed=1)
    for name, moved in (("Wasserstein", False), ("hinge", True), ("non-saturating", True)):
        game = LOSSES[name]()
        change = (game.discriminator(real + 1, fake + 1) - game.discriminator(real, fake)).abs()
        assert bool(change > 1e-3) is moved, name


@pytest.mark.parametrize("name", [name for name in LOSSES if name != "energy"])
def test_every_game_pulls_real_up_and_made_down_and_the_generator_pulls_back(name: str) -> None:
    real, fake = f64(0.1, -0.2).requires_grad_(), f64(0.2, 0.1).requires_grad_()
    of_real, of_fake = torch.autograd.grad(LOSSES[name]().discriminator(real, fake), (real, fake))
    (of_generator,) = torch.autograd.grad(LOSSES[name]().generator(fake, real), fake)
    assert (of_real < 0).all() and (of_fake > 0).all() and (of_generator < 0).all()
    both = LOSSES[name]("sum").discriminator(real, fake) / LOSSES[name]().discriminator(real, fake)
    assert both.item() == pytest.approx(2)


def test_bad_settings_are_one_sentence() -> None:
    with pytest.raises(ValueError, match="choose one of KL"):
        FDivergenceLoss(divergence="chi")
    with pytest.raises(ValueError, match="mean or sum"):
        Saturating("none")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="margin"):
        Energy(margin=-1)


# --- Constraints ----------------------------------------------------------------------------------


def test_clipping_scales_the_estimate_instead_of_bounding_the_slope() -> None:
    real = torch.from_numpy(np.random.RandomState(0).normal(size=10) + 7.5)[:, None]
    fake = torch.from_numpy(np.random.RandomState(1).normal(size=10))[:, None] + 3
    critic = nn.Linear(1, 1).double()
    optimizer = torch.optim.RMSprop(critic.parameters(), lr=1e-3)
    for _ in range(200):
        optimizer.zero_grad()
        Wasserstein().discriminator(critic(real), critic(fake)).backward()
        optimizer.step()
        clip_weights(critic, 0.01)
    value = -Wasserstein().discriminator(critic(real), critic(fake))
    assert value.item() == pytest.approx(0.05335164, abs=1e-7)  # the true W₁ is 5.335
    net = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 1)).double()
    for parameter in net.parameters():
        nn.init.constant_(parameter, 0.7)
    clip_weights(net, 0.01)
    assert all((p == 0.01).all() for p in net.parameters())
    slope = gradient_norms(net, f64(1, 1)[None])
    assert slope.item() == pytest.approx(0.01**2 * 64 * math.sqrt(2), abs=1e-12)
    assert slope.item() == pytest.approx(0.0090510, abs=1e-7)


def test_the_penalty_of_a_linear_critic_needs_a_second_derivative() -> None:
    w = f64(3, 4).requires_grad_()
    penalty = gradient_penalty(lambda x: x @ w, normal(5, 2), normal(5, 2, seed=1))
    assert penalty.item() == pytest.approx(16)
    torch.testing.assert_close(torch.autograd.grad(penalty, w)[0], f64(4.8, 6.4))


def test_the_penalty_has_one_epsilon_an_example_and_one_norm_over_all_dimensions() -> None:
    def critic(x: Tensor) -> Tensor:
        return x.square().flatten(1).sum(1) / 2  # ‖∇f‖ = ‖x‖

    count = 200_000
    real, fake = torch.zeros(count, 2, dtype=torch.float64), f64(3, 4).expand(count, 2)
    drawn = gradient_penalty(critic, real, fake, generator=torch.Generator().manual_seed(0))
    assert drawn.item() == pytest.approx(13 / 3, abs=0.03)  # 3.9438 with an ε for every coordinate
    middles = (torch.arange(count, dtype=torch.float64) + 0.5) / count
    assert gradient_penalty(critic, real, fake, middles).item() == pytest.approx(13 / 3, abs=1e-6)
    assert gradient_penalty(critic, real, fake, torch.ones(count, dtype=torch.float64)).item() == 1
    shaped = gradient_penalty(critic, real.view(-1, 1, 2, 1), fake.reshape(-1, 1, 2, 1), middles)
    assert shaped.item() == pytest.approx(13 / 3, abs=1e-6)


@pytest.mark.parametrize(("weight", "slope"), [(10.0, 1.225), (1000.0, 1.00225)])
def test_the_penalty_is_soft(weight: float, slope: float) -> None:
    w = f64(1).requires_grad_()
    optimizer = torch.optim.LBFGS([w], max_iter=100)
    real, fake = f64(4.5)[:, None], f64(0)[:, None]

    def loss() -> Tensor:
        optimizer.zero_grad()
        gap = Wasserstein().discriminator(real[:, 0] * w, fake[:, 0] * w)
        value = gap + weight * gradient_penalty(lambda x: x[:, 0] * w, real, fake, f64(0.5))
        value.backward()
        return value

    optimizer.step(loss)
    assert w.item() == pytest.approx(slope, abs=1e-5) == 1 + 4.5 / (2 * weight)
    if weight == 10:
        assert 4.5 * w.item() == pytest.approx(5.5125, abs=1e-4)  # above W₁ = 4.5


def test_spectral_normalisation_divides_by_the_largest_singular_value() -> None:
    w = f64(3, 0, 4, 5).view(2, 2)
    layer = nn.Linear(2, 2, bias=False).double()
    with torch.no_grad():
        layer.weight.copy_(w)
    net = with_spectral_norm(nn.Sequential(layer)).train()
    for _ in range(60):
        net(normal(1, 2))
    assert torch.linalg.matrix_norm(w, 2).item() == pytest.approx(6.708204, abs=1e-6)
    assert w.norm().item() == pytest.approx(7.071068, abs=1e-6)
    torch.testing.assert_close(layer.weight.detach(), w / math.sqrt(45), rtol=0, atol=1e-9)
    deep = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1)).double()
    bound = math.prod(torch.linalg.matrix_norm(m.weight, 2).item() for m in deep if isinstance(m, nn.Linear))
    x, y = normal(500, 2), normal(500, 2, seed=1)
    ratio = ((deep(x) - deep(y)).norm(dim=1) / (x - y).norm(dim=1)).max().item()
    assert 0.1 * bound < ratio <= bound
    conv = with_spectral_norm(nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(2, 1)))
    assert sum("parametrizations" in name for name, _ in conv.named_parameters()) == 2


# --- Cures ----------------------------------------------------------------------------------------


def test_minibatch_std_is_of_the_population_and_adds_one_channel() -> None:
    layer = diversity.MinibatchStd(eps=1e-8)
    two = torch.tensor([0.0, 2.0]).view(2, 1, 1, 1).expand(2, 3, 4, 4)
    assert layer.statistic(two).item() == pytest.approx(1.0)
    steps = torch.arange(8.0).view(2, 1, 2, 2)
    assert layer.statistic(steps).item() == pytest.approx(2.0)
    assert layer.statistic(two[:1].expand(5, 3, 4, 4)).item() == pytest.approx(1e-4)
    out = layer(two)
    assert out.shape == (2, 4, 4, 4) and torch.equal(out[:, :3], two) and out[:, 3].unique().numel() == 1
    x = torch.randn(6, 5, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(layer(x[[3, 1, 0, 2, 5, 4]]), layer(x)[[3, 1, 0, 2, 5, 4]])
    assert layer(x).shape == (6, 6)


def test_packing_makes_the_missing_mode_visible() -> None:
    p, q = f64(0.5, 0.5), f64(1, 0)
    for m, expected in ((1, 0.5), (2, 0.75), (3, 0.875)):
        together = [torch.cartesian_prod(*[law] * m).view(-1, m).prod(1) for law in (p, q)]
        assert total_variation(*together).item() == pytest.approx(expected) == 1 - 2.0**-m
    x = torch.arange(14.0).view(7, 2)
    assert diversity.pack_examples(x, 3).tolist() == [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]
    assert diversity.pack_examples(torch.zeros(8, 1, 5, 5), 4).shape == (2, 4, 5, 5)


def test_generators_that_share_the_data() -> None:
    for k, expected in ((1, -1.386294), (3, -2.249341)):
        generators = torch.eye(3, dtype=torch.float64)[:k]
        value = diversity.mad_value(generators.mean(0), generators)
        assert value.item() == pytest.approx(expected, abs=1e-6)
        assert value.item() == pytest.approx(k * math.log(k) - (k + 1) * math.log(k + 1), abs=1e-12)
    assert diversity.mad_value(f64(0.2, 0.2, 0.6), torch.eye(3, dtype=torch.float64)).item() > -2.2493


def test_ratios_and_reconstructions_of_linear_generators() -> None:
    a = f64(3, 0, 4, 5).view(2, 2)
    z1, z2 = normal(100, 2), normal(100, 2, seed=1)
    ratio = diversity.mode_seeking_ratio(z1 @ a.T, z2 @ a.T, z1, z2)
    ends = torch.linalg.svdvals(a)
    assert (ratio <= ends[0]).all() and (ratio >= ends[1]).all() and ratio.max() > 0.95 * ends[0]
    inverse = torch.linalg.inv(a)
    assert diversity.noise_reconstruction_error(z1, z1 @ a.T @ inverse.T).item() < 1e-24
    z = normal(100_000, 3)
    ignored = torch.cat([z[:, :1], torch.zeros(len(z), 2)], 1)  # g drops two components
    assert diversity.noise_reconstruction_error(z, ignored).item() == pytest.approx(2.0, abs=0.03)


def test_top_k_and_the_orthogonal_penalty() -> None:
    w = f64(3, 0, 4, 5).view(2, 2)
    assert diversity.orthogonal_penalty(w).item() == pytest.approx(800)
    assert diversity.orthogonal_penalty(torch.diag(f64(2, 5))).item() == 0
    scores = normal(6).requires_grad_()
    game = NonSaturating("sum")
    plain = torch.autograd.grad(game.generator(scores, scores), scores)[0]
    top = torch.autograd.grad(game.generator(diversity.top_k_scores(scores, 6), scores), scores)[0]
    torch.testing.assert_close(top, plain)
    two = torch.autograd.grad(game.generator(diversity.top_k_scores(scores, 2), scores), scores)[0]
    assert set(two.nonzero().flatten().tolist()) == set(scores.topk(2).indices.tolist())
    with pytest.raises(ValueError, match="from 1 to 6"):
        diversity.top_k_scores(scores, 7)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_critic_of_reverse_kl_outlives_laws_that_are_far_apart(seed: int) -> None:
    """N(4, 1) against N(−4, 1), D alone: once −e^(−f) rounded to 0 its logarithm was no number."""
    torch.manual_seed(seed)
    critic = nn.Sequential(nn.Linear(1, 32), nn.ReLU(), nn.Linear(32, 1))
    optimizer, game = torch.optim.Adam(critic.parameters(), 1e-2), FDivergenceLoss(divergence="reverse KL")
    for _ in range(300):
        real, fake = torch.randn(256, 1) + 4, torch.randn(256, 1) - 4
        loss = game.discriminator(critic(real)[:, 0], critic(fake)[:, 0])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        assert loss.isfinite()
    assert loss < -5 and all(p.isfinite().all() for p in critic.parameters())


def test_a_loss_beyond_the_dtype_is_refused_in_a_sentence() -> None:
    model = GAN(loss="f-divergence", loss_settings={"divergence": "squared Hellinger"})
    with torch.no_grad():
        model.discriminator.head.bias.fill_(1e4)
    player, loss = next(model.updates(torch.randn(8, 2)))
    assert player == "discriminator" and float(loss) == math.inf
    with pytest.raises(ValueError, match="Lower the rate, or take JS"):
        model.check_loss(loss)
    assert GAN().check_loss(torch.tensor(1.0)) == 1.0


@pytest.mark.parametrize("rows", [1, 3, 4, 7])
def test_a_last_batch_below_a_pack_is_one_pack(rows: int) -> None:
    x = torch.randn(rows, 2, requires_grad=True)
    joined = diversity.pack_examples(x, 4)
    assert joined.shape == (1, 8) and torch.equal(joined[0, : 2 * min(rows, 4)], x[:4].flatten())
    model = GAN(pack=4)
    for _, loss in model.updates(x.detach()):
        assert loss.isfinite()


def test_a_penalty_refuses_a_critic_that_sees_its_batch() -> None:
    with pytest.raises(ValueError, match="by itself: take no minibatch std"):
        GAN(loss="Wasserstein", penalty=10.0, minibatch_std=True)
    with pytest.raises(ValueError, match="by itself: take no minibatch std"):
        DCGAN(loss="Wasserstein", penalty=10.0, minibatch_std=True, batch_norm=False)
