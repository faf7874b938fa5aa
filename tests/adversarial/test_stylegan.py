"""StyleGAN: AdaIN's numbers, the sizes that are known, and what styles and noise can and cannot change."""

import copy
import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from modules.adversarial.stylegan import MappingNet, StyledLayer, StyleGAN, StyleGenerator, adain


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def randn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=seeded(seed), dtype=torch.float64)


def small(**settings: Any) -> StyleGAN:
    """Of 8 × 8 pixels, with noise that counts."""
    torch.manual_seed(0)
    model = StyleGAN((1, 8, 8), 5, (6, 4), 2, (4, 8), **settings)
    for network in (model.generator, model.averaged):
        for i, layer in enumerate(network.layers):
            nn.init.normal_(layer.noise_scale, 0, 0.5, generator=seeded(i))
    return model.double()


def count(module: nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())


# --- AdaIN and sizes --------------------------------------------------------------------------------


def test_a_style_is_the_mean_and_the_standard_deviation() -> None:
    h, style = 3 * randn(2, 4, 5, 5) + 1, randn(2, 8, seed=1)
    out = adain(h, style)
    scale, shift = style.chunk(2, 1)
    torch.testing.assert_close(out.mean((2, 3)), shift)
    torch.testing.assert_close(out.std((2, 3), correction=0), scale.abs())  # not its square
    again = adain(2.5 * h + 7, style)
    torch.testing.assert_close(again, out, atol=1e-7, rtol=1e-6)
    torch.testing.assert_close(adain(h[1:], style[1:]), out[1:])  # each picture alone


def test_sizes_of_the_paper() -> None:
    assert count(MappingNet(512, 7)) == 1_838_592 and count(MappingNet(512, 8)) == 2_101_248
    layer = StyledLayer(512, 512, 512, False, False)
    assert count(layer.affine) == 525_312
    assert StyleGenerator(4, 1, (512,), 1).constant.numel() == 8_192
    assert layer.noise_scale.shape == (512, 1, 1)  # one number a channel, one picture for all of them


def test_shapes_and_sides() -> None:
    model = small()
    z, noise = model.noise(3, seeded(0)).split([5, model.noise_dim], 1)
    assert model.generator.sides == [4, 4, 8, 8] and model.noise_dim == 160
    # two numbers a channel, fewer where there are fewer channels ([UDL] prints 2 × 512 throughout)
    assert [layer.affine.out_features for layer in model.generator.layers] == [12, 12, 8, 8]
    result = model.generator.maps(model.styles(z), noise)
    assert [tuple(h.shape[1:]) for h in result] == [(6, 4, 4), (6, 4, 4), (4, 8, 8), (4, 8, 8)]
    assert model.sample(2, generator=seeded(0)).shape == (2, 1, 8, 8)
    trace = model.sample_trace(2, generator=seeded(0))
    torch.testing.assert_close(trace.result, model.sample(2, generator=seeded(0)))
    assert len(trace.steps) == 2 + 4


# --- What changes what ------------------------------------------------------------------------------


@pytest.mark.parametrize("level", range(4))
def test_a_style_or_noise_changes_nothing_before_its_layer(level: int) -> None:
    model = small()
    g = model.generator
    styles, noise = randn(2, 4, 5), randn(2, 160, seed=1)
    before = g.maps(styles, noise)
    others = model.mix_styles(styles, randn(2, 4, 5, seed=2), level)
    start = sum(side * side for side in g.sides[:level])
    redrawn = noise.clone()
    redrawn[:, start : start + g.sides[level] ** 2] = randn(2, g.sides[level] ** 2, seed=3)
    for after in (g.maps(others, noise), g.maps(styles, redrawn)):
        for i, (a, b) in enumerate(zip(before, after, strict=True)):
            assert torch.equal(a, b) == (i < level), i


def test_without_a_scale_noise_changes_nothing() -> None:
    model = small()
    for layer in model.generator.layers:
        nn.init.zeros_(layer.noise_scale)
    styles = randn(2, 4, 5)
    a, b = (model.generator.synthesise(styles, randn(2, 160, seed=s)) for s in (1, 2))
    assert torch.equal(a, b)


def test_the_mapping_sees_the_direction_alone() -> None:
    model, z = small(), randn(3, 5)
    torch.testing.assert_close(model.generator.mapping(z), model.generator.mapping(7 * z))


def test_cut_off_styles_move_to_their_mean() -> None:
    model, z = small(), randn(4, 5)
    mean, w = model.mean_style(), model.styles(z)
    assert torch.equal(mean, model.mean_style())
    torch.testing.assert_close(model.styles(z, 0.0), mean.expand_as(w))
    torch.testing.assert_close(model.styles(z, 0.25), mean + 0.25 * (w - mean))
    torch.testing.assert_close(w, model.averaged.mapping(z)[:, None].expand(-1, 4, -1))
    many = model.averaged.mapping(randn(40_000, 5, seed=9)).mean(0)
    torch.testing.assert_close(mean, many, atol=0.05, rtol=0.05)


def test_no_noise_means_zeros() -> None:
    model, z = small(), randn(2, 5)
    torch.testing.assert_close(model.decode(z), model.pictures(model.styles(z)))
    torch.testing.assert_close(model.decode(torch.cat([z, z.new_zeros(2, 160)], 1)), model.decode(z))
    assert ((model.decode(z) > 0) & (model.decode(z) < 1)).all()


# --- Training ---------------------------------------------------------------------------------------


def test_mixing_crosses_neighbours_of_the_batch(monkeypatch: Any) -> None:
    model = small(mixing=1.0)
    results: list[Tensor] = []
    plain = model.generator.synthesise
    monkeypatch.setattr(model.generator, "synthesise", lambda s, n: results.append(s) or plain(s, n))
    crossings = set()
    for seed in range(20):
        model.training_samples(3, seeded(seed))
        z = model.noise(3, seeded(seed))[:, :5]
        w = model.generator.mapping(z)
        own = [bool(torch.allclose(results[-1][:, i], w)) for i in range(4)]
        other = [bool(torch.allclose(results[-1][:, i], w.roll(1, 0))) for i in range(4)]
        assert own[0] and other[-1] and own == [not o for o in other]
        assert own == sorted(own, reverse=True)
        crossings.add(sum(own))
    assert crossings == {1, 2, 3}
    model.mixing = 0.0
    model.training_samples(3, seeded(0))
    assert torch.equal(results[-1][:, 0], results[-1][:, 3])


def test_r1_is_the_slope_on_real_pictures(monkeypatch: Any) -> None:
    """Of D = a · x it is ‖a‖² whatever is made, paid every fourth turn fourfold."""
    model = small(r1=3.0, r1_every=4, mixing=0.0)
    a = randn(1, 8, 8)
    monkeypatch.setattr(model, "discriminate", lambda x, **_: (a * x).flatten(1).sum(1))
    x = randn(6, 1, 8, 8, seed=1)
    with torch.no_grad():
        plain = model.d_loss(x, model.training_samples(6, seeded(5)))
    paid = model.d_update_loss(x, seeded(5)) - plain
    assert paid.item() == pytest.approx(4 * 1.5 * a.square().sum().item())
    model.num_updates[0] = 1
    assert model.d_update_loss(x, seeded(5)).item() == pytest.approx(plain.item())


def test_each_turn_moves_one_player_and_all_of_its_weights() -> None:
    model = small()
    x = randn(6, 1, 8, 8).tanh()
    for whose, loss in model.updates(x, seeded(1)):
        assert loss.isfinite()
        moved = model.players()[whose]
        gradients = torch.autograd.grad(loss, moved, allow_unused=True, retain_graph=True)
        if whose == "discriminator":  # its loss does not even reach G
            others = model.players()["generator"]
            assert all(g is None for g in torch.autograd.grad(loss, others, allow_unused=True))
        assert all(g is not None and g.abs().sum() > 0 for g in gradients), whose
    torch.manual_seed(0)
    fresh = StyleGAN((1, 8, 8), 5, (6, 4), 2, (4, 8))
    nn.init.zeros_(fresh.discriminator.head.weight)
    assert fresh.d_loss(x.float(), x.float()).item() == pytest.approx(2 * math.log(2), abs=1e-6)


def test_copies_sample_alike() -> None:
    model = small()
    assert torch.equal(
        copy.deepcopy(model).sample(2, generator=seeded(3)),
        model.sample(2, generator=seeded(3)),
    )


@pytest.mark.parametrize(
    "bad",
    [{"image_shape": (1, 28, 28)}, {"channels": ()}, {"channels": (0, 4)}, {"mapping_layers": 0},
     {"mixing": 1.5}, {"mixing": math.nan}, {"r1": -1.0}, {"r1_every": 0}, {"penalty": 10.0}],
)  # fmt: skip
def test_hostile_settings(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\."):
        StyleGAN(**bad)
