"""Games: the numbers of the smallest one, who moves when, and networks of the sizes that are known."""

import copy
import math
from typing import Any

import contracts
import numpy as np
import pytest
import torch
from torch import Tensor, nn

from modules.adversarial.dcgan import DCGAN, ConvDiscriminator, conv_generator, halved_sides
from modules.adversarial.gan import GAN
from modules.adversarial.losses import LOSSES, NonSaturating, Saturating, gradient_penalty
from modules.adversarial.metrics import sample_metrics
from modules.adversarial.toy import Logistic, Shift, bilinear
from modules.base import Sampler

REAL = torch.from_numpy(np.random.RandomState(0).normal(size=10) + 7.5)[:, None]
NOISE = torch.from_numpy(np.random.RandomState(1).normal(size=10))[:, None]


# --- The toy of the text ----------------------------------------------------------------------------


class Descent:
    """Plain gradient descent of the toy on fixed batches, sums as printed."""

    def __init__(self) -> None:
        self.g, self.d = Shift(3.0).double(), Logistic(-2.0, 1.0).double()
        self.game = Saturating("sum")

    def of_d(self) -> Tensor:
        return self.game.discriminator(self.d(REAL), self.d(self.g(NOISE).detach()))

    def of_g(self) -> Tensor:
        fake = self.d(self.g(NOISE))
        return self.game.generator(fake, fake)

    def descend(self, loss: Any, parameter: nn.Parameter, rate: float, steps: int) -> None:
        for _ in range(steps):
            (gradient,) = torch.autograd.grad(loss(), parameter)
            with torch.no_grad():
                parameter -= rate * gradient


def test_losses_and_gradients_of_the_toy() -> None:
    toy = Descent()
    assert toy.of_d().item() == pytest.approx(13.814757170851, abs=1e-9)
    assert toy.of_g().item() == pytest.approx(-13.784370359454, abs=1e-9)
    (phi,) = torch.autograd.grad(toy.of_d(), toy.d.phi)
    assert phi.tolist() == pytest.approx([6.64276302, 21.65592683], abs=1e-7)
    assert torch.autograd.grad(toy.of_g(), toy.g.theta)[0].item() == pytest.approx(-6.67305991, abs=1e-7)
    toy.game = NonSaturating("sum")
    assert toy.of_g().item() == pytest.approx(4.75577927, abs=1e-7)
    assert torch.autograd.grad(toy.of_g(), toy.g.theta)[0].item() == pytest.approx(-3.32694009, abs=1e-7)


def test_the_descent_of_the_toy() -> None:
    toy = Descent()
    toy.descend(toy.of_d, toy.d.phi, 0.01, 100)
    assert toy.d.phi.tolist() == pytest.approx([-3.55449426, 0.71444565], abs=1e-7)
    assert toy.of_d().item() == pytest.approx(3.73242186, abs=1e-7)
    toy.descend(toy.of_g, toy.g.theta, 0.02, 10)
    assert toy.g.theta.item() == pytest.approx(3.33209596, abs=1e-7)
    toy = Descent()
    for expected in (3.080597, 3.151582, 3.217722, 3.281223, 3.343353):
        toy.descend(toy.of_d, toy.d.phi, 0.01, 300)
        toy.descend(toy.of_g, toy.g.theta, 0.02, 3)
        assert toy.g.theta.item() == pytest.approx(expected, abs=1e-6)
    assert toy.d.phi.tolist() == pytest.approx([-9.198936, 1.616931], abs=1e-6)


def test_the_bilinear_game_does_not_converge() -> None:
    path = bilinear(100, 0.1, "simultaneous")
    assert path[-1].norm().item() == pytest.approx(1.6446318, abs=1e-7)
    ratio = path.norm(dim=1)[1:] / path.norm(dim=1)[:-1]
    torch.testing.assert_close(ratio, torch.full_like(ratio, math.sqrt(1.01)))
    x, y = bilinear(100, 0.1, "alternating").unbind(1)
    torch.testing.assert_close(x**2 + y**2 - 0.1 * x * y, torch.ones_like(x))
    assert math.hypot(x[-1], y[-1]) == pytest.approx(1.0234138, abs=1e-7)


# --- Whose turn it is ---------------------------------------------------------------------------------


def small(**settings: Any) -> DCGAN:
    torch.manual_seed(0)
    return DCGAN((1, 4, 4), 3, (4, 4), **settings).train()


def state(network: nn.Module) -> dict[str, Tensor]:
    return copy.deepcopy(dict(network.named_parameters()))


def same(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    return all(torch.equal(one[name], other[name]) for name in one)


def test_a_turn_moves_one_player_alone_and_draws_noise_of_its_own(monkeypatch: Any) -> None:
    model = small(d_steps=2, g_steps=3, ema=0.9)
    x = torch.rand(6, 1, 4, 4, generator=torch.Generator().manual_seed(1))
    drawn: list[Tensor] = []
    plain = model.noise
    monkeypatch.setattr(model, "noise", lambda *a: drawn.append(plain(*a)) or drawn[-1])
    optimizers = {name: torch.optim.SGD(p, lr=0.1) for name, p in model.players().items()}
    order: list[str] = []
    for _ in range(4):
        for player, loss in model.updates(model.unpack(x)[0]):
            before = {"generator": state(model.generator), "discriminator": state(model.discriminator)}
            other = {"generator": "discriminator", "discriminator": "generator"}[player]
            for parameter in model.parameters():
                parameter.grad = None
            # in its own turn D's loss does not even reach G; G's reaches D, player weights are left out
            loss.backward(inputs=None if player == "discriminator" else model.players()[player])
            assert all(
                (p.grad is None) == (name != player) for name, ps in model.players().items() for p in ps
            )
            optimizers[player].step()
            after = {"generator": state(model.generator), "discriminator": state(model.discriminator)}
            assert same(before[other], after[other]) and not same(before[player], after[player])
            order.append(player)
    turn = ["discriminator"] * 2 + ["generator"] * 3
    assert order == turn * 2 and model.num_updates.tolist() == [4, 6]
    assert len(drawn) == len(order) and len({tuple(z.flatten().tolist()) for z in drawn}) == len(drawn)
    # batch norms follow every pass: G's in both players' turns
    assert model.generator[2].num_batches_tracked == len(order)


def test_the_generator_is_judged_by_the_discriminator_that_has_just_moved(monkeypatch: Any) -> None:
    model = GAN((2,), 3, [4])
    x = torch.randn(5, 2)
    turns = model.updates(x)
    next(turns)
    with torch.no_grad():
        for p in model.discriminator.parameters():
            p.add_(0.3)
    noise = torch.randn(5, 3, generator=torch.Generator().manual_seed(4))
    monkeypatch.setattr(model, "noise", lambda *_: noise)
    _, loss = next(turns)
    fake = model.discriminate(model.generator(noise))
    assert torch.equal(loss, model.gan_loss.generator(fake, fake))


def test_the_average_starts_as_the_first_generator_and_forgets_it() -> None:
    model = GAN((2,), 2, [4], ema=0.99)
    first, now = state(model.averaged), state(model.generator)
    assert same(first, now) and not any(p.requires_grad for p in model.averaged.parameters())
    expected = {name: p.clone() for name, p in first.items()}
    for t in range(1, 30):
        with torch.no_grad():
            for p in model.generator.parameters():
                p.add_(0.1)
        model.num_updates[1] += 1
        model.average()
        decay = min(0.99, (1 + t) / (10 + t))
        for name, p in model.generator.named_parameters():
            expected[name] = decay * expected[name] + (1 - decay) * p
    torch.testing.assert_close(state(model.averaged), {n: p.detach() for n, p in expected.items()})
    z = torch.randn(3, 2)
    assert torch.equal(model.decode(z), model.averaged(z)) and not torch.equal(
        model.decode(z), model.generator(z)
    )


def test_clipping_follows_each_turn_of_the_critic() -> None:
    model = GAN((2,), 2, [8], loss="Wasserstein", clip=0.01)
    optimizer = torch.optim.RMSprop(model.players()["discriminator"], lr=0.1)
    for player, loss in model.updates(torch.randn(6, 2)):
        if player == "discriminator":
            loss.backward(inputs=model.players()[player])
            optimizer.step()
            assert max(p.abs().max().item() for p in model.discriminator.parameters()) > 0.01
        else:
            assert max(p.abs().max().item() for p in model.discriminator.parameters()) <= 0.01


@pytest.mark.parametrize("loss", LOSSES)
def test_both_players_of_every_game_learn_with_all_their_weights(loss: str) -> None:
    torch.manual_seed(0)
    model = GAN((2,), 3, [8], loss=loss, penalty=1.0 if loss == "Wasserstein" else 0.0)
    x = torch.randn(16, 2)
    for player, name in ((model.discriminator, "d_update_loss"), (model.generator, "g_update_loss")):
        for parameter in model.parameters():
            parameter.grad = None
        getattr(model, name)(x).backward(inputs=list(player.parameters()))
        # what is added to all outputs moves no gap of two means, nor a hinge within its margins
        gaps = ("Wasserstein", "relativistic", "hinge")
        dead = {"head.bias"} if loss in gaps and player is model.discriminator else set()
        for key, parameter in player.named_parameters():
            assert parameter.grad is not None and (key in dead or parameter.grad.abs().max() > 0), key


def test_a_discriminator_of_logits_learns_one_batch_by_heart() -> None:
    """GA-O4: below 0.05, where probabilities in the place of logits would stop at 1.006."""
    torch.manual_seed(0)
    model = GAN((2,), 2, [32, 32])
    x, fake = (torch.randn(8, 2, generator=torch.Generator().manual_seed(s)) for s in (0, 1))
    optimizer = torch.optim.Adam(model.discriminator.parameters(), 0.05)
    for _ in range(200):
        optimizer.zero_grad()
        loss = model.d_loss(x, fake)
        loss.backward()
        optimizer.step()
    assert loss < 0.05


def test_evaluations_draw_the_same_noise_and_only_the_average() -> None:
    model = GAN((2,), 2, [4], modes=[[0, 0], [1, 1]], mode_sd=0.3).eval()
    x = torch.randn(8, 2)
    values = []
    for _ in range(2):
        model.on_validation_epoch_start()
        values.append([model.step((x, None), "val").item() for _ in range(2)])
    assert values[0] == values[1] and values[0][0] != values[0][1]
    assert {"val/w1", "val/modes", "val/quality", "val/kl"} <= set(model.metric_names("val"))


# --- Networks -------------------------------------------------------------------------------------------


def count(network: nn.Module, dims: int = 0) -> int:
    return sum(p.numel() for p in network.parameters() if not dims or p.ndim == dims)


def test_the_networks_of_the_paper_have_their_sizes() -> None:
    channels = [1024, 512, 256, 128]
    result = conv_generator(100, (3, 64, 64), channels, bias=False)
    discriminator = ConvDiscriminator((3, 64, 64), channels[::-1], bias=False)
    assert count(result) == 12_658_432 and count(discriminator) == 11_036_160
    assert result[0].weight.numel() == 1_638_400 and count(result, 4) == 11_016_192
    assert conv_generator(100, (3, 64, 64), channels)[0].bias.numel() == 16_384
    five = conv_generator(100, (3, 64, 64), channels, kernel=5, bias=False)
    assert count(five, 4) == 17_212_800
    sides = []
    h = torch.rand(2, 100)
    for layer in result.eval():
        h = layer(h)
        if isinstance(layer, nn.Unflatten | nn.ConvTranspose2d):
            sides.append(tuple(h.shape[1:]))
    assert sides == [(1024, 4, 4), (512, 8, 8), (256, 16, 16), (128, 32, 32), (3, 64, 64)]
    assert h.abs().max() <= 1 and discriminator.eval().maps(h).shape == (2, 1, 1, 1)
    assert five.eval()(torch.rand(2, 100)).shape == (2, 3, 64, 64)


def test_the_small_networks_have_their_sizes() -> None:
    model = DCGAN()
    assert count(model.generator) == 237_345 and count(model.discriminator) == 36_641
    x = model.sample(3, generator=torch.Generator().manual_seed(0))
    assert x.shape == (3, 1, 28, 28) and x.min() >= 0 and x.max() <= 1
    assert model.discriminate(x).shape == (3,)


def test_odd_sides_are_halved_upwards() -> None:
    """28 → 14 → 7 → 4 and back; what is left out on the way is the last row and column alone."""
    assert halved_sides((1, 28, 20), 3) == [(28, 20), (14, 10), (7, 5), (4, 3)]
    for shape in ((1, 28, 28), (2, 7, 10), (1, 5, 5)):
        for strided in (True, False):
            result, discriminator = (
                conv_generator(3, shape, [4, 3], strided=strided),
                ConvDiscriminator(shape, [3, 4], strided=strided),
            )
            x = result.eval()(torch.zeros(2, 3))
            assert x.shape == (2, *shape) and discriminator(x).shape == (2,)
            blank = discriminator.eval()(torch.zeros(1, *shape))
            for corner in ((0, 0), (-1, -1)):  # D sees all of it
                dot = torch.zeros(1, *shape)
                dot[0, 0, *corner] = 5.0
                assert not torch.equal(discriminator(dot), blank)
    with pytest.raises(ValueError, match="5 × 5 pixels cannot be halved 4 times"):
        conv_generator(3, (1, 5, 5), [2] * 4)


def test_every_switch_of_the_recipe_changes_the_networks() -> None:
    def kinds(model: DCGAN) -> list[str]:
        both = (model.generator, model.discriminator)
        return [type(m).__name__ for network in both for m in network.modules()]

    plain, sizes = kinds(small()), (4, 3)
    assert plain.count("BatchNorm2d") == 3  # not in G's last, not in D's first layer
    assert "BatchNorm2d" not in kinds(small(batch_norm=False))
    resized = kinds(small(strided=False))
    assert resized.count("Upsample") == resized.count("MaxPool2d") == 2 and "ConvTranspose2d" not in resized
    assert small(negative_slope=0.0).discriminator.trunk[1].negative_slope == 0
    first = [DCGAN(init_std=sd).generator[0].weight.std().item() for sd in (0.02, None)]
    assert first[0] == pytest.approx(0.02, rel=0.02) and first[1] > 0.05
    switches = {"strided": False, "kernel": 5, "pack": 2, "minibatch_std": True, "spectral": True}
    for name, value in switches.items():
        model = small(**{name: value})
        assert model.decode(torch.randn(*sizes)).shape == (4, 1, 4, 4)
        assert model.discriminate(torch.randn(4, 1, 4, 4)).shape == (2 if name == "pack" else 4,)


def test_a_game_is_a_sampler_whose_trace_replays() -> None:
    for model in (GAN((2,), 3, [4]).eval(), small().eval()):
        assert isinstance(model, Sampler)
        contracts.reproducible(lambda seed: model.sample(4, generator=torch.Generator().manual_seed(seed)))  # noqa: B023
        trace = contracts.trace_replays(
            lambda seed: model.sample_trace(2, generator=torch.Generator().manual_seed(seed))  # noqa: B023
        )
        torch.testing.assert_close(trace.result, model.decode(trace[0].values["z"]))
    model = GAN((2,), 50, [4], prior="uniform")
    z = model.noise(200, torch.Generator().manual_seed(0))
    assert -1 <= z.min() < -0.9 and 0.9 < z.max() <= 1
    assert model.prior.log_prob(z).shape == (200,)
    assert model.prior.log_prob(z)[0].item() == pytest.approx(-50 * math.log(2), abs=1e-4)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"loss": "plain"}, "choose one of saturating"),
        ({"d_steps": 0}, "d_steps is 0"),
        ({"ema": 1.0}, "ema is 1.0"),
        ({"penalty": 10.0, "pack": 2}, "by itself"),
        ({"clip": -1.0}, "clip is -1.0"),
    ],
)
def test_bad_settings_are_one_sentence(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        GAN((2,), 2, [4], **settings)
    with pytest.raises(ValueError, match=words):
        DCGAN((1, 4, 4), 2, (2,), batch_norm=False, **settings)


def test_pixels_count_as_features() -> None:
    assert set(sample_metrics((1, 8, 8), None, None)) == {"fd"}
    assert set(sample_metrics((2,), None, None)) == {"w1"}


def test_the_penalty_is_paid_by_the_discriminator() -> None:
    """Its loss rises by λ times the penalty."""
    torch.manual_seed(0)
    game = GAN(event_shape=(2,), hidden=[4], penalty=3.0)
    x, fake = torch.randn(5, 2), torch.randn(5, 2)
    whole = game.d_loss(x, fake, torch.Generator().manual_seed(1))
    penalty = gradient_penalty(game.discriminate, x, fake, generator=torch.Generator().manual_seed(1))
    plain = game.gan_loss.discriminator(game.discriminate(x), game.discriminate(fake))
    torch.testing.assert_close(whole - plain, 3 * penalty)
