"""Pix2Pix: sizes that are known, what a patch sees, what each player lowers, and what the data pair."""

import copy
import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from datamodules.pairs import DigitPairs, hatched, outline, stripes
from lab.lenses import receptive_field
from modules.adversarial.losses import NonSaturating
from modules.adversarial.translation import (
    Pix2Pix,
    UNetGenerator,
    gradient_energy,
    patch_discriminator,
    patch_size,
)

C, X = torch.rand(2, 4, 1, 8, 8, generator=torch.Generator().manual_seed(0)).unbind(0)


def small(**settings: Any) -> Pix2Pix:
    torch.manual_seed(0)
    return Pix2Pix(**{"image_shape": (1, 8, 8), "widths": (4, 6), "discriminator_width": 4} | settings)


def weights(network: nn.Module) -> int:
    return sum(p.numel() for p in network.parameters())


# --- Networks ---------------------------------------------------------------------------------------


def test_the_networks_of_the_paper_have_their_sizes() -> None:
    """GA-O21, GA-O22: U-Net of 256 pixels, and D of 70 × 70 patches."""
    with torch.device("meta"):
        unet = UNetGenerator(3, 3, (64, 128, 256, 512, 512, 512, 512, 512))
        discriminator = patch_discriminator(6, 64, 3)
        assert unet.train()(torch.zeros(1, 3, 512, 512)).shape == (1, 3, 512, 512)
    assert weights(unet) == 54_413_955 and weights(discriminator) == 2_768_705


@pytest.mark.parametrize(("halvings", "sees"), [(0, 1), (1, 16), (2, 34), (3, 70), (4, 142), (5, 286)])
def test_a_patch_is_as_large_as_its_formula_says(halvings: int, sees: int) -> None:
    assert patch_size(halvings) == sees
    layers = [layer for layer in patch_discriminator(1, 1, halvings) if isinstance(layer, nn.Conv2d)]
    windows = [receptive_field.windows(layer, 2)[0] for layer in layers]  # type: ignore[index]
    assert receptive_field.fields(windows)[-1].size == sees


@pytest.mark.parametrize(("halvings", "sees"), [(0, 1), (1, 16), (2, 34), (3, 70)])
def test_the_gradient_of_one_logit_reaches_its_patch_alone(halvings: int, sees: int) -> None:
    torch.manual_seed(0)
    discriminator = patch_discriminator(2, 2, halvings).double().eval()
    x = torch.randn(1, 2, 128, 128, dtype=torch.float64, requires_grad=True)
    f = discriminator(x)
    f[0, 0, f.shape[2] // 2, f.shape[3] // 2].backward()
    assert x.grad is not None
    rows, columns = (x.grad[0].abs().sum(0).sum(1 - d).nonzero().flatten() for d in (0, 1))
    assert rows.max() - rows.min() + 1 == sees and columns.max() - columns.min() + 1 == sees


@pytest.mark.parametrize(("side", "halvings", "maps"), [(256, 3, 30), (64, 2, 14), (28, 1, 12), (9, 0, 9)])
def test_the_map_of_logits_has_its_known_size(side: int, halvings: int, maps: int) -> None:
    with torch.device("meta"):
        assert patch_discriminator(2, 4, halvings)(torch.zeros(2, 2, side, side)).shape == (2, 1, maps, maps)


def test_losses_are_averaged_over_patches_not_logits() -> None:
    logits, game = torch.tensor([[[3.0, -3.0]]]), NonSaturating()
    assert game.generator(logits, logits).item() == pytest.approx(1.548587, abs=1e-6)
    assert game.generator(logits.mean(), logits.mean()).item() == pytest.approx(math.log(2), abs=1e-6)
    constant = torch.full((2, 3, 3), 0.7)
    assert game.generator(constant, constant).item() == pytest.approx(float(F.softplus(torch.tensor(-0.7))))


def test_detail_passes_by_the_smallest_grid() -> None:
    """Each level reaches the output by itself: with the smallest grid cut off, detail stays."""
    model = small().eval()
    with torch.no_grad():
        model.generator.up[0][1].weight.zero_()  # nothing comes from below
        a, b = model.translate(C), model.translate(C.flip(0))
    assert not torch.allclose(a, b)


# --- Losses -----------------------------------------------------------------------------------------


def test_the_content_is_compared_with_the_target_not_with_the_input() -> None:
    """GA-E5: a generator that hands back its input pays for that, one that hands back the target nothing."""
    model = small(adversarial=0.0, content=2.0)
    c, x = 2 * C - 1, 2 * X - 1
    for returned, pays in ((c, 2 * (x - c).abs().mean()), (x, torch.zeros(()))):
        model.generate = lambda *_, returned=returned: returned  # type: ignore[method-assign]
        torch.testing.assert_close(model.g_loss(c, x), pays)


@pytest.mark.parametrize("paired", [True, False])
def test_both_losses_from_their_definition(paired: bool) -> None:
    model = small(paired=paired, content=3.0, adversarial=0.5).eval()
    c, x = 2 * C - 1, 2 * X - 1
    fake = model.generator(c)
    results = [torch.cat([c, y], 1) if paired else y for y in (x, fake)]
    real, result = (model.discriminator(s) for s in results)
    turns = dict(model.updates(x, c=c))
    expected = F.softplus(-real).mean() + F.softplus(result).mean()
    torch.testing.assert_close(turns["discriminator"], expected)
    torch.testing.assert_close(
        turns["generator"], 0.5 * F.softplus(-result).mean() + 3 * (x - fake).abs().mean()
    )


def test_a_turn_reaches_its_own_player() -> None:
    model = small()
    for player, loss in model.updates(2 * X - 1, c=2 * C - 1):
        model.zero_grad(set_to_none=True)
        loss.backward(inputs=None if player == "discriminator" else model.players()[player])
        for name, parameters in model.players().items():
            assert all((p.grad is not None) == (name == player) for p in parameters), (player, name)


def test_without_a_game_only_the_generator_moves() -> None:
    assert [player for player, _ in small(adversarial=0.0).updates(X, c=C)] == ["generator"]


def test_one_pair_is_learned_by_heart() -> None:
    model = small(content=1.0, adversarial=0.0).train()
    optimizer = torch.optim.Adam(model.generator.parameters(), 0.02)
    first = model.g_loss(2 * C - 1, 2 * X - 1).item()
    for _ in range(150):
        optimizer.zero_grad()
        loss = model.g_loss(2 * C - 1, 2 * X - 1)
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.4 * first


def test_noise_enters_beside_the_input() -> None:
    model = small(noise=2).eval()
    assert model.generator.down[0][0].in_channels == 3
    one, again, other = (model.translate(C, torch.Generator().manual_seed(seed)) for seed in (0, 0, 1))
    assert torch.equal(one, again) and not torch.equal(one, other)


@pytest.mark.parametrize(
    "settings",
    [{"widths": ()}, {"widths": (4, 0)}, {"image_shape": (1, 6, 6)}, {"image_shape": (8, 8)}, {"halvings": 3},
     {"loss": "best"}, {"content": 0, "adversarial": 0}, {"content": math.nan}, {"noise": -1},
     {"discriminator_width": 0}, {"discriminator_rate": -1.0}],
)  # fmt: skip
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        small(**settings)


def test_gradient_energy_by_hand_and_under_blur() -> None:
    x = torch.tensor([[[[0.0, 1.0], [0.0, 1.0]]]])
    assert gradient_energy(x).item() == pytest.approx((1 + 0) / 2)
    sharp = torch.rand(3, 1, 9, 9, generator=torch.Generator().manual_seed(0))
    assert (gradient_energy(F.avg_pool2d(sharp, 3, 1)) < gradient_energy(sharp)).all()


# --- Data -------------------------------------------------------------------------------------------


def test_an_outline_is_ink_that_has_paper_beside_it() -> None:
    x = torch.zeros(1, 5, 5)
    x[0, 1:4, 1:4] = 0.8
    edge = x[0] > 0
    edge[2, 2] = False
    assert torch.equal(outline(x)[0].bool(), edge)
    assert not outline(torch.ones(2, 4, 4)).any() and not outline(torch.full((2, 4, 4), 0.4)).any()


def test_stripes_and_what_they_average_to() -> None:
    every = stripes(torch.arange(600) / 600, 12)
    torch.testing.assert_close(every.mean(0), torch.full((12, 12), 0.4))
    torch.testing.assert_close(every[0, 0, :6], every[0, 3, 3:9])  # a period on, both ways
    on = hatched(torch.tensor([[[[1.0, 0.0]] * 2]]).reshape(1, 1, 2, 2), torch.zeros(1))
    assert torch.equal(on[..., 0], torch.ones(1, 1, 2)) and on[..., 1].max() < 1


def test_pairs_of_a_digit() -> None:
    data = DigitPairs(task="outline", val_size=20)
    data.setup()
    c, x, y = data.val_set[torch.arange(20)]
    assert c.shape == x.shape == (20, 1, 32, 32) and torch.equal(x, outline(c)) and y.shape == (20,)
    assert c[:, :, :4].max() == 0 and c.max() == 1
    hatch = DigitPairs(task="hatched", val_size=20)
    hatch.setup()
    one, again = hatch.train_set[torch.arange(5)], hatch.train_set[torch.arange(5)]
    assert all(torch.equal(a, b) for a, b in zip(one, again, strict=True))
    drawn = torch.stack([stripes(torch.tensor([p / 50]), 32)[0] for p in range(50)])
    paper = one[1][0, 0, 0]  # the margin of one picture: some phase, and not that of its neighbour
    assert (drawn[:, 0] - paper).abs().amax(1).min() < 0.03
    assert not torch.allclose(paper, one[1][1, 0, 0], atol=0.02)


def test_no_digit_is_in_both_domains() -> None:
    """GA-29: neither the same digit on both sides nor a true pair in a batch; true pairs are for scoring."""
    data = DigitPairs(task="outline", unpaired=True, val_size=20, train_size=600)
    data.setup()
    everything = torch.arange(len(data.train_set))
    c, x, _ = data.train_set[everything]
    assert len(c) == 300
    of_c = {tuple(e.flatten().nonzero().flatten().tolist()) for e in outline(c)}
    of_x = {tuple(e.flatten().nonzero().flatten().tolist()) for e in x}
    assert len(of_c) > 290 and not of_c & of_x
    before = x.clone()
    data.train_set.set_epoch(1)
    after = data.train_set[everything][1]
    assert not torch.equal(before, after)
    assert torch.equal(before.flatten(1).sum(1).sort().values, after.flatten(1).sum(1).sort().values)
    c, x, _ = data.test_set[torch.arange(50)]
    assert torch.equal(x, outline(c))


@pytest.mark.parametrize(
    "settings",
    [{"task": "horses"}, {"image_size": 1}, {"val_size": 0}, {"train_size": 1}, {"train_size": 10**6},
     {"batch_size": 0}],
)  # fmt: skip
def test_data_that_there_are_not_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        DigitPairs(**settings)


def test_a_copy_plays_the_same_turns() -> None:
    model = small().eval()
    other = copy.deepcopy(model)
    one, two = (dict(m.updates(2 * X - 1, c=2 * C - 1)) for m in (model, other))
    assert all(torch.equal(one[name], two[name]) for name in one)
