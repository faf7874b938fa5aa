"""SRGAN: sizes that are known, what moves when, and the three terms of its loss."""

import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.adversarial.super_resolution import (
    SRResNet,
    SuperResolution,
    bicubic,
    downsample,
    psnr,
)
from modules.convolution.cnn2d import CNN2d

X = torch.rand(6, 1, 8, 8, generator=torch.Generator().manual_seed(0))
Y = torch.arange(6) % 3
SIZES: dict[str, Any] = {
    "image_shape": (1, 8, 8), "num_classes": 3, "width": 4, "blocks": 1, "discriminator_channels": (4,),
    "classifier_channels": (3, 4), "warmup": 2,
}  # fmt: skip


def small(**settings: Any) -> SuperResolution:
    torch.manual_seed(0)
    return SuperResolution(**SIZES | settings)


def play(model: SuperResolution, batches: int, rate: float = 1e-2) -> list[list[str]]:
    """The order of turns of each batch."""
    players = model.players()
    optimizers = {name: torch.optim.SGD(p, rate) for name, p in players.items()}
    order: list[list[str]] = []
    for _ in range(batches):
        order.append([])
        for player, loss in model.updates(X, y=Y):
            order[-1].append(player)
            optimizers[player].zero_grad()
            loss.backward(inputs=players[player])
            optimizers[player].step()
    return order


def same(one: nn.Module, other: dict[str, Tensor]) -> bool:
    return all(torch.equal(value, other[name]) for name, value in one.state_dict().items())


def kept(network: nn.Module) -> dict[str, Tensor]:
    return {name: value.clone() for name, value in network.state_dict().items()}


def test_the_network_of_the_paper_has_its_size() -> None:
    """GA-O22: 16 blocks of 64 maps, one-parameter PReLUs, biases."""
    with torch.device("meta"):
        network = SRResNet(3, 64, 16, 2)
        assert network(torch.zeros(1, 3, 24, 24)).shape == (1, 3, 96, 96)
    assert sum(p.numel() for p in network.parameters()) == 1_549_462


def test_pixel_shuffle_moves_numbers_to_corners() -> None:
    shuffled = nn.PixelShuffle(2)(torch.arange(8).reshape(1, 4, 1, 2))
    assert shuffled[0, 0].tolist() == [[0, 2, 1, 3], [4, 6, 5, 7]]
    x = torch.rand(2, 12, 3, 5, generator=torch.Generator().manual_seed(0))
    assert torch.equal(nn.PixelShuffle(2)(x).flatten().sort().values, x.flatten().sort().values)


def test_smaller_is_the_mean_of_blocks_and_psnr_is_in_decibels() -> None:
    x = torch.arange(16.0).reshape(1, 1, 4, 4)
    assert downsample(x, 2).flatten().tolist() == [2.5, 4.5, 10.5, 12.5]
    assert psnr(torch.zeros(1, 1, 2, 2), torch.full((1, 1, 2, 2), 0.1)).item() == pytest.approx(20, abs=1e-4)
    assert psnr(X, X).tolist() == pytest.approx([100.0] * 6)  # 10⁻¹⁰ stands for no error at all
    flat = torch.full((1, 1, 2, 2), 0.3)
    torch.testing.assert_close(bicubic(flat, 4), torch.full((1, 1, 8, 8), 0.3))


def test_first_the_plain_network_and_the_classifier_then_the_game() -> None:
    model = small().train()
    before = {name: kept(getattr(model, name)) for name in ("generator", "discriminator")}
    assert play(model, 2) == [["plain", "classifier"]] * 2
    assert same(model.generator, before["generator"]) and same(model.discriminator, before["discriminator"])
    plain, classifier = kept(model.plain), kept(model.classifier)
    assert play(model, 1, rate=0.0) == [["plain", "discriminator", "generator"]]
    weights = [name for name, _ in model.generator.named_parameters()]
    assert all(torch.equal(model.generator.state_dict()[name], plain[name]) for name in weights)  # a copy
    assert play(model, 2) == [["plain", "discriminator", "generator"]] * 2
    assert same(model.classifier, classifier)  # statistics of its norms as well
    for network in (model.generator, model.plain):
        assert not same(network, plain)
    assert not same(model.generator, kept(model.plain))
    assert int(model.num_batches) == 5


def test_a_turn_reaches_its_own_player() -> None:
    model = small(warmup=0).train()
    for player, loss in model.updates(X, y=Y):
        model.zero_grad(set_to_none=True)
        loss.backward(inputs=None if player != "generator" else model.players()[player])
        for name, parameters in model.players().items():
            assert all((p.grad is not None) == (name == player) for p in parameters), (player, name)


def test_the_three_terms_from_their_definition() -> None:
    low = downsample(X, 4)
    none = {"pixels": 0.0, "perceptual": 0.0, "adversarial": 0.0}
    for name in none:
        model = small(**none | {name: 0.7}).eval()
        fake = model.generator(low)
        features = [model.classifier[:7](x) for x in (fake, X)]
        assert features[0].shape == (6, 4, 4, 4) and features[0].min() == 0  # behind the second ReLU
        expected = {
            "pixels": (fake - X).square().mean(),
            "perceptual": (features[0] - features[1]).square().mean(),
            "adversarial": F.softplus(-model.discriminator(fake)).mean(),
        }
        torch.testing.assert_close(model.g_loss(X, low), 0.7 * expected[name])


def test_the_classifier_is_one_of_the_lab() -> None:
    assert [type(layer) for layer in small().classifier] == [
        type(layer) for layer in CNN2d((1, 8, 8), 3, (3, 4)).layers
    ]


def test_a_blend_goes_from_the_plain_network_to_the_games() -> None:
    model = small(warmup=1).train()
    play(model, 3)
    model.eval()
    low = downsample(X, 4)
    torch.testing.assert_close(model.enlarge(low, 0.0), model.plain(low).clamp(0, 1))
    torch.testing.assert_close(model.enlarge(low, 1.0), model.generator(low).clamp(0, 1))
    half = small().eval().generator
    one, other = model.plain.state_dict(), model.generator.state_dict()
    half.load_state_dict({name: (one[name] + other[name]) / 2 for name in one}, strict=True)
    torch.testing.assert_close(model.enlarge(low, 0.5), half(low).clamp(0, 1))
    before = kept(model.generator)
    model.enlarge(low, 0.3)
    assert same(model.generator, before)  # nothing is written


@pytest.mark.parametrize(
    "settings",
    [{"factor": 3}, {"factor": 16}, {"image_shape": (1, 10, 10)}, {"image_shape": (8, 8)}, {"width": 0},
     {"classifier_channels": (3,)}, {"pixels": 0.0, "perceptual": 0.0, "adversarial": 0.0}, {"warmup": -1},
     {"adversarial": math.nan}, {"discriminator_channels": (4, 4, 4, 4)}],
)  # fmt: skip
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        small(**settings)
