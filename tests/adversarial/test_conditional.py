"""Games with classes and with codes: their losses, bounds and gradients."""

import math
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from scipy import ndimage
from torch import Tensor

from modules.adversarial.conditional import ConditionalGAN
from modules.adversarial.infogan import InfoGAN, information_bound, jitter_affine
from modules.latent.information import mutual_information

X = torch.rand(12, 1, 8, 8, generator=torch.Generator().manual_seed(0))
Y = torch.arange(12) % 10


def game(condition: str, **settings: Any) -> ConditionalGAN:
    torch.manual_seed(0)
    return ConditionalGAN((1, 8, 8), condition=condition, channels=(6, 4), latent_dim=3, **settings)


def info(**settings: Any) -> InfoGAN:
    torch.manual_seed(0)
    return InfoGAN((1, 8, 8), latent_dim=3, channels=(6, 4), **settings)


def test_zero_logits_cost_what_chance_costs() -> None:
    model = game("auxiliary").eval()
    torch.nn.init.zeros_(model.discriminator.head.weight)
    assert model.discriminator.head.out_channels == 11
    loss = model.d_update_loss(X, y=Y)
    assert loss.item() == pytest.approx(2 * math.log(2) + 2 * math.log(10), abs=1e-5)
    assert loss.item() == pytest.approx(5.991465, abs=1e-5)
    assert model.g_update_loss(X, y=Y).item() == pytest.approx(math.log(2) + math.log(10), abs=1e-5)


def test_the_class_of_made_examples_counts_for_both_players(monkeypatch: Any) -> None:
    model = game("auxiliary", init_std=None).eval()
    z = model.noise(12, torch.Generator().manual_seed(1))
    monkeypatch.setattr(model, "noise", lambda *_: z)
    fake = model.generator(model.generator_input(z, y=Y))
    plain = model.gan_loss.discriminator(model.discriminate(X), model.discriminate(fake))
    of_class = [F.cross_entropy(model.classify(x), Y) for x in (X, fake)]
    torch.testing.assert_close(model.d_update_loss(X, y=Y), plain + sum(of_class))
    fooled = model.gan_loss.generator(model.discriminate(fake), model.discriminate(fake))
    torch.testing.assert_close(model.g_update_loss(X, y=Y), fooled + of_class[1])


def test_a_head_of_logits_learns_one_batch_by_heart() -> None:
    """GA-O4: with the classes of real and made examples below 0.05, where probabilities would stop at 3.9."""
    model = game("auxiliary", init_std=None)
    fake = model.generator(
        model.generator_input(model.noise(12, torch.Generator().manual_seed(1)), y=Y)
    ).detach()
    optimizer = torch.optim.Adam(model.discriminator.parameters(), 0.03)
    for _ in range(150):
        optimizer.zero_grad()
        loss = model.d_loss(X, fake, y=Y)
        loss.backward()
        optimizer.step()
    assert loss < 0.05


def test_a_projection_of_zero_knows_no_class() -> None:
    model = game("projection", init_std=None).eval()
    free = model.discriminator(X)
    assert not torch.allclose(model.discriminate(X, y=Y), free)
    v = model.discriminator.projection.weight
    features = model.discriminator.trunk(X).flatten(1)
    torch.testing.assert_close(model.discriminate(X, y=Y), free + (v[Y] * features).sum(1))
    torch.nn.init.zeros_(v)
    assert torch.equal(model.discriminate(X, y=Y), free)


@pytest.mark.parametrize("condition", ["channel", "projection"])
def test_the_class_reaches_both_networks(condition: str) -> None:
    model = game(condition, init_std=None).eval()
    other = (Y + 1) % 10
    z = model.noise(12)
    assert not torch.allclose(model.decode(z, y=Y), model.decode(z, y=other))
    assert not torch.allclose(model.discriminate(X, y=Y), model.discriminate(X, y=other))
    own = [name for name, _ in model.discriminator.named_parameters()]
    assert any(name.startswith(("class_channel", "projection")) for name in own)
    for name, loss in (("discriminator", model.d_update_loss), ("generator", model.g_update_loss)):
        loss(X, y=Y).backward(inputs=model.players()[name])
        assert all(p.grad is not None and p.grad.abs().max() > 0 for p in model.players()[name]), name


def test_classes_come_in_turn_or_as_asked() -> None:
    model = game("channel").eval()
    z = model.sample_trace(10, generator=torch.Generator().manual_seed(3))
    assert torch.equal(
        z.result, model.sample(10, generator=torch.Generator().manual_seed(3), y=torch.arange(10))
    )
    for wrong in (None, torch.tensor([1]), torch.full((12,), 10), torch.full((12,), -1)):
        with pytest.raises(ValueError, match="whole numbers from 0 to 9"):
            model.discriminate(X, y=wrong)
    for settings, words in (({"condition": "text"}, "channel, projection"), ({"pack": 2}, "take pack 1")):
        with pytest.raises(ValueError, match=words):
            ConditionalGAN((1, 8, 8), **settings)


# --- Codes ----------------------------------------------------------------------------------------------


def table(right: float) -> Tensor:
    return torch.tensor([[right, 1 - right], [1 - right, right]], dtype=torch.float64)


def test_the_bound_is_tight_at_the_posterior() -> None:
    joint = table(0.9) / 2
    assert mutual_information(joint).item() == pytest.approx(0.368064, abs=1e-6)
    for right, expected in ((0.9, 0.368064), (0.8, 0.331374), (0.99, 0.223585)):
        assert information_bound(joint, table(right)).item() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("sd", [1.0, 0.3])
def test_the_bound_of_a_batch_is_that_of_its_codes(sd: float) -> None:
    model = info(continuous_std=sd).eval()
    z = model.noise(2000, torch.Generator().manual_seed(0))
    hot, numbers = z[:, 3:13], z[:, 13:]
    assert torch.equal(hot.sum(1), torch.ones(2000)) and hot.sum(0).min() > 140
    assert numbers.min() >= -1 and numbers.max() <= 1 and abs(numbers.mean().item()) < 0.05
    fake = model.generator(z)
    logits, means = model.infer_codes(fake)
    normal = torch.distributions.Normal(means, sd).log_prob(numbers).sum(1).mean()
    expected = -F.cross_entropy(logits, hot.argmax(1)) + math.log(10) + normal + 2 * math.log(2)
    torch.testing.assert_close(model.bound(z, fake), expected)


def test_both_turns_raise_the_bound_and_it_reaches_the_generator() -> None:
    for weight in (0.0, 1.0):
        model = info(weight=weight, init_std=None).eval()
        for name, loss in (("discriminator", model.d_update_loss), ("generator", model.g_update_loss)):
            torch.manual_seed(1)
            value = loss(X)
            value.backward(inputs=model.players()[name])
            torch.manual_seed(1)
            z = model.noise(12)
            fake = model.generator(z)
            real, result = model.discriminate(X), model.discriminate(fake)
            plain = getattr(model.gan_loss, name)(
                *((real, result) if name == "discriminator" else (result, real))
            )
            torch.testing.assert_close(value, plain - weight * model.bound(z, fake))
        rows = model.discriminator.head.weight.grad.flatten(1).abs().amax(1)
        assert (rows[1:] > 0).all() if weight else (rows[1:] == 0).all()
    z = model.noise(12)
    assert torch.autograd.grad(model.bound(z, model.generator(z)), model.generator[0].weight)[0].any()


def test_codes_may_be_of_one_kind_but_not_of_none() -> None:
    for settings in ({"categories": 0}, {"continuous": 0}):
        model = info(**settings).eval()
        z = model.noise(4)
        assert z.shape[1] == model.z_dim and model.bound(z, model.generator(z)).isfinite()
    with pytest.raises(ValueError, match="both 0"):
        info(categories=0, continuous=0)
    with pytest.raises(ValueError, match="continuous_std"):
        info(continuous_std=0.0)
    assert "val/info" in info().metric_names("val")


def test_a_reader_of_its_own_is_moved_with_the_generator_and_leaves_d_its_game() -> None:
    model = info(categories=4, continuous=1, q_hidden=5, hidden=7)
    model.train()
    players = model.players()
    assert model.num_logits == 1 and model.discriminator.head.out_channels == 1
    assert {id(p) for p in model.q.parameters()} <= {id(p) for p in players["generator"]}
    assert not {id(p) for p in model.q.parameters()} & {id(p) for p in players["discriminator"]}
    z = model.noise(6, torch.Generator().manual_seed(1))
    logits, means = model.infer_codes(2 * X - 1)
    assert logits.shape == (12, 4) and means.shape == (12, 1)
    asked = torch.autograd.grad(
        model.d_update_loss(X, torch.Generator().manual_seed(2)), list(model.q.parameters()),
        allow_unused=True,
    )  # fmt: skip
    assert all(gradient is None for gradient in asked)
    bound = model.bound(z, model.generator(z))
    whole = torch.autograd.grad(bound, players["generator"], allow_unused=True)
    assert all(gradient is not None and gradient.abs().sum() > 0 for gradient in whole[-2:])


def test_bent_pictures_are_those_of_scipy() -> None:
    """Each by a map of its own, bilinear, dark beyond the edge; by none they stay what they are."""
    x = 2 * torch.rand(3, 1, 6, 8, generator=torch.Generator().manual_seed(1)) - 1
    torch.testing.assert_close(jitter_affine(x, 0.0), x)
    off = 2 * torch.rand(3, 2, 3, generator=torch.Generator().manual_seed(2)) - 1
    bent = jitter_affine(x, 0.4, torch.Generator().manual_seed(2))
    half = np.array([3.0, 4.0])  # rows before columns, where torch has x before y
    for picture, map_, result in zip(x[:, 0].double().numpy(), off.double().numpy(), bent[:, 0], strict=True):
        linear = np.eye(2) + 0.4 * map_[::-1, 1::-1]
        matrix = half[:, None] * linear / half
        middle = half - 0.5
        shift = middle - matrix @ middle + 0.4 * half * map_[::-1, 2]
        expected = ndimage.affine_transform(picture + 1, matrix, shift, order=1, mode="grid-constant") - 1
        torch.testing.assert_close(result, torch.from_numpy(expected).float(), atol=1e-5, rtol=0)


@pytest.mark.parametrize("q_hidden", [0, 5])
def test_the_discrete_code_is_read_from_what_is_bent_and_numbers_from_what_is_made(q_hidden: int) -> None:
    model = info(q_hidden=q_hidden, jitter=0.3, init_std=None).eval()
    for name, loss in (("discriminator", model.d_update_loss), ("generator", model.g_update_loss)):
        value = loss(X, torch.Generator().manual_seed(1))
        draws = torch.Generator().manual_seed(1)
        z = model.noise(12, draws)
        fake = model.generator(z)
        real, result = model.discriminate(X), model.discriminate(fake)
        plain = getattr(model.gan_loss, name)(
            *((real, result) if name == "discriminator" else (result, real))
        )
        logits = model.infer_codes(jitter_affine(fake, 0.3, draws))[0].log_softmax(1)
        half = (z[:, 13:] - model.infer_codes(fake)[1]).square().sum(1).mean() / 2
        bound = (z[:, 3:13] * logits).sum(1).mean() + math.log(10) - half + 2 * math.log(2)
        bound = bound - math.log(2 * math.pi)
        results = 0.0 if q_hidden and name == "discriminator" else bound
        torch.testing.assert_close(value, plain - results)
    assert model.bound(z, fake) != model.bound(z, fake, 0.3)
    with pytest.raises(ValueError, match="jitter"):
        info(jitter=-0.1)


def test_one_more_layer_in_both_networks() -> None:
    model = info(hidden=7)
    kinds = [type(layer).__name__ for layer in model.generator]
    assert kinds[:4] == ["Linear", "BatchNorm1d", "ReLU", "Linear"]
    assert model.discriminator.trunk(X).shape == (12, 7, 1, 1)
    assert model.discriminator.head.kernel_size == (1, 1)
    assert model.sample(3, generator=torch.Generator().manual_seed(0)).shape == (3, 1, 8, 8)
    with pytest.raises(ValueError, match="hidden"):
        info(hidden=-1)
    with pytest.raises(ValueError, match="q_hidden"):
        info(q_hidden=-1)


@pytest.mark.parametrize(("categories", "continuous"), [(4, 2), (0, 2), (3, 0)])
def test_what_the_prior_of_codes_draws_is_decoded(categories: int, continuous: int) -> None:
    model = InfoGAN((1, 8, 8), latent_dim=5, categories=categories, continuous=continuous, channels=(6, 4))
    z = model.prior.sample((7,))
    assert z.shape == (7, 5 + categories + continuous) and model.decode(z).shape == (7, 1, 8, 8)
    hot, result = z[:, 5:].split([categories, continuous], 1)
    assert bool((hot.sum(1) == (categories > 0)).all()) and bool((result.abs() <= 1).all())
    normal = torch.distributions.Normal(0.0, 1.0).log_prob(z[:, :5]).sum(1)
    known = -math.log(max(categories, 1)) - continuous * math.log(2)  # a mass, and the density of [−1, 1]
    torch.testing.assert_close(model.prior.log_prob(z), normal + known)
