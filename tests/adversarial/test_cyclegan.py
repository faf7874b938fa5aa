"""CycleGAN: sizes that are known, both cycles, both content terms, and pictures that are remembered."""

import copy
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from modules.adversarial.cyclegan import CycleGAN, History, distance, resnet_generator

A, B = (torch.rand(2, 4, 1, 8, 8, generator=torch.Generator().manual_seed(0)) * 2 - 1).unbind(0)
SIZES: dict[str, Any] = {
    "image_shape": (1, 8, 8), "width": 2, "blocks": 1, "discriminator_width": 2, "halvings": 0, "history": 3,
}  # fmt: skip


def small(**settings: Any) -> CycleGAN:
    torch.manual_seed(0)
    return CycleGAN(**SIZES | settings)


class Affine(nn.Module):
    """x -> s x + μ."""

    def __init__(self, s: float, mean: Tensor) -> None:
        super().__init__()
        self.s, self.mean = s, mean

    def forward(self, x: Tensor) -> Tensor:
        return self.s * x + self.mean


def test_the_generators_of_the_paper_have_their_sizes() -> None:
    """GA-O22: nine and six residual blocks, 64 maps."""
    with torch.device("meta"):
        counts = [sum(p.numel() for p in resnet_generator(3, 64, n).parameters()) for n in (9, 6)]
    assert counts == [11_378_179, 7_837_699]
    assert resnet_generator(1, 2, 1)(torch.zeros(1, 1, 12, 20)).shape == (1, 1, 12, 20)


def test_no_weight_is_shared() -> None:
    """GA-E6: the text prints one θ for both generators."""
    model = small()
    networks = [model.a_to_b, model.b_to_a, model.discriminator_a, model.discriminator_b]
    held = [{p.data_ptr() for p in network.parameters()} for network in networks]
    assert not any(held[i] & held[j] for i in range(4) for j in range(i))
    players = model.players()
    assert len(players["generator"]) + len(players["discriminator"]) == len(list(model.parameters()))


def test_the_content_tells_two_maps_apart_that_the_cycle_cannot() -> None:
    """GA-O29: x + μ and μ − x both take N(0, I) to N(μ, I) and have cycle loss 0."""
    generator = torch.Generator().manual_seed(0)
    mean = torch.tensor([3.0, 0.0])
    a = torch.randn(200_000, 2, generator=generator, dtype=torch.float64)
    b = torch.randn(200_000, 2, generator=generator, dtype=torch.float64) + mean
    model = small(content="before", content_weight=1.0, cycle=1.0)
    pays = []
    for there, back in (
        (Affine(1.0, mean), Affine(1.0, -mean)),
        (Affine(-1.0, mean), Affine(-1.0, mean)),
    ):
        model.a_to_b, model.b_to_a = there, back  # type: ignore[assignment]
        fake_a, fake_b = back(b), there(a)
        assert distance(back(fake_b), a) < 1e-12 and distance(there(fake_a), b) < 1e-12
        torch.testing.assert_close(fake_b.mean(0), mean.double(), atol=0.02, rtol=0)
        torch.testing.assert_close(fake_b.T.cov(), torch.eye(2, dtype=torch.float64), atol=0.02, rtol=0)
        pays.append(2 * distance(fake_b, a).item())  # the ℓ₁ norm of both coordinates
    assert pays == pytest.approx([3.0, 4.712996], abs=0.02)


@pytest.mark.parametrize("content", ["identity", "before", "none"])
def test_the_generators_loss_from_its_definition(content: str) -> None:
    model = small(content=content, cycle=4.0, content_weight=0.25).eval()
    fake_a, fake_b = model.b_to_a(B), model.a_to_b(A)
    expected = (
        0.5 * ((model.discriminator_a(fake_a) - 1) ** 2).mean()
        + 0.5 * ((model.discriminator_b(fake_b) - 1) ** 2).mean()
    )
    expected = expected + 4 * (
        (model.b_to_a(fake_b) - A).abs().mean() + (model.a_to_b(fake_a) - B).abs().mean()
    )
    if content == "identity":
        expected = expected + (model.a_to_b(B) - B).abs().mean() + (model.b_to_a(A) - A).abs().mean()
    if content == "before":
        expected = expected + (fake_b - A).abs().mean() + (fake_a - B).abs().mean()
    torch.testing.assert_close(model.g_loss(A, B, fake_a, fake_b), expected)


def test_discriminators_learn_squares_and_each_its_own_domain() -> None:
    model = small().eval()
    fake_a, fake_b = model.b_to_a(B).detach(), model.a_to_b(A).detach()
    parts = [
        ((d(real) - 1) ** 2).mean() / 2 + (d(fake) ** 2).mean() / 2
        for d, real, fake in (
            (model.discriminator_a, A, fake_a),
            (model.discriminator_b, B, fake_b),
        )
    ]
    torch.testing.assert_close(model.d_loss(A, B, fake_a, fake_b), sum(parts))


def test_a_turn_reaches_its_own_player() -> None:
    model = small(history=0)
    order = []
    for player, loss in model.updates(A, b=B):
        order.append(player)
        model.zero_grad(set_to_none=True)
        loss.backward(inputs=None if player == "discriminator" else model.players()[player])
        for name, parameters in model.players().items():
            assert all((p.grad is not None) == (name == player) for p in parameters), (player, name)
    assert order == ["generator", "discriminator"]


def test_without_a_cycle_neither_generator_learns_from_the_other() -> None:
    model = small(cycle=0.0, content="none")
    fake_a, fake_b = model.b_to_a(B), model.a_to_b(A)
    of_a = model.discriminator_a(fake_a)
    only_a = model.gan_loss.generator(of_a, of_a)
    whole = model.g_loss(A, B, fake_a, fake_b)
    parameters = list(model.b_to_a.parameters())
    one = torch.autograd.grad(whole, parameters, retain_graph=True)
    two = torch.autograd.grad(only_a, parameters)
    for of_whole, of_game in zip(one, two, strict=True):
        torch.testing.assert_close(of_whole, of_game)


def test_the_history_fills_and_then_swaps_every_other_picture() -> None:
    generator = torch.Generator().manual_seed(0)
    history = History(50, (1,))
    first = torch.arange(50.0)[:, None]
    assert torch.equal(history.swap(first, generator), first) and torch.equal(history.kept, first)
    fresh = 100 + torch.arange(4000.0)[:, None]
    shown = history.swap(fresh, generator)
    old = shown != fresh
    assert 0.45 < old.float().mean() < 0.55
    everything = torch.cat([shown, history.kept]).flatten().sort().values  # nothing is lost or doubled
    assert torch.equal(everything, torch.cat([first, fresh]).flatten().sort().values)
    assert torch.equal(History(0, (1,)).swap(fresh), fresh)


def test_a_run_that_goes_on_remembers() -> None:
    model = small()
    list(model.updates(A, torch.Generator().manual_seed(1), b=B))
    assert model.history_a.filled == 3 and model.history_a.kept.abs().sum() > 0
    assert not any("kept" in name for name in model.state_dict())  # the weights that ship hold no pictures
    checkpoint: dict[str, Any] = {}
    model.on_save_checkpoint(checkpoint)
    saved, other = copy.deepcopy(checkpoint), small()
    other.on_load_checkpoint(saved)
    for one, two in ((model.history_a, other.history_a), (model.history_b, other.history_b)):
        assert torch.equal(one.kept, two.kept) and one.filled == two.filled
    other.on_load_checkpoint({})  # one of another kind has none


def test_both_ways_stay_between_black_and_white() -> None:
    model = small().eval()
    for way in (model.translate, model.translate_back):
        result = way(torch.rand(3, 1, 8, 8, generator=torch.Generator().manual_seed(2)))
        assert result.shape == (3, 1, 8, 8) and result.min() >= 0 and result.max() <= 1


@pytest.mark.parametrize(
    "settings",
    [{"image_shape": (1, 6, 6)}, {"image_shape": (1, 4, 4)}, {"width": 0}, {"cycle": -1.0},
     {"content": "after"}, {"history": -1}, {"discriminator_width": 0}, {"discriminator_rate": -1.0}],
)  # fmt: skip
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        small(**settings)
