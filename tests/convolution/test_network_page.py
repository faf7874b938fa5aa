"""The page of the whole network: the sheet and its clicks, every unit's number, a map set to zero."""

from copy import deepcopy

import pytest
import torch
from torch import nn

from lab import experiments, weights
from lab.errors import UserError
from lab.lenses import drawing
from pages.convolution.network import lens, sheet
from pages.convolution.network.room import NETWORK, ROOM, SIDE


@pytest.fixture(scope="module")
def model() -> nn.Module:
    return weights.load(experiments.find(NETWORK).weights)


@pytest.fixture(scope="module")
def examples() -> dict[str, torch.Tensor]:
    return dict(drawing.examples(SIDE))


@pytest.fixture(scope="module")
def ran(model, examples) -> sheet.Ran:
    return sheet.on_digit(model, examples["3"])


def test_every_map_of_the_network_stands_on_the_sheet(ran, model, examples) -> None:
    h, sizes = examples["3"][None, None], [(1, 28, 28)]
    for module in model.layers:
        h = module(h)
        if isinstance(module, nn.ReLU | nn.MaxPool2d):
            sizes.append(tuple(h.shape[1:]))
    assert [tuple(column.maps.shape) for column in ran.columns] == sizes
    assert torch.allclose(h[0], ran.logits, atol=1e-5)
    cells = sum(column.maps.numel() * column.scale**2 for column in ran.columns)
    assert int(ran.sheet.isfinite().sum()) == cells  # no map covers another
    assert float(ran.sheet.nan_to_num(0.5).max()) <= 1


def test_a_click_finds_the_unit_that_is_drawn_there(ran) -> None:
    generator = torch.Generator().manual_seed(0)
    for column in ran.columns:
        for _ in range(40):
            channel, i, j = (int(torch.randint(n, (), generator=generator)) for n in column.maps.shape)
            left, top, right, bottom = column.box(channel, (i, i), (j, j))
            x, y = (left + right) / 2, (top + bottom) / 2
            assert column.unit(x, y) == (channel, i, j)
            assert sum(other.unit(x, y) is not None for other in ran.columns) == 1
            drawn = ran.sheet[int(y), int(x)] * column.maps.max()
            assert torch.isclose(drawn, column.maps[channel, i, j], atol=1e-5)
    assert all(column.unit(-5, -5) is None and column.unit(10**4, 60) is None for column in ran.columns)


@pytest.mark.parametrize("digit", ["3", "7", "blank"])
def test_products_and_the_rest_make_each_number(model, examples, digit) -> None:
    x = torch.zeros(SIDE, SIDE) if digit == "blank" else examples[digit]
    ran = sheet.on_digit(model, x)
    looks = lens.looks(ran, None)
    assert len(looks) == len(ran.columns) + 1 and len(lens.parts(ran)) == len(looks)
    for look, column in zip(looks[1:], ran.columns[1:], strict=False):
        assert look.product.patch is not None
        if look.product.kernel is None:
            assert torch.isclose(look.product.patch.max(), column.maps[look.channel].max())
        else:
            assert torch.equal(look.product.patch * look.product.kernel, look.product.products)
        value = float(column.maps.max())
        assert look.product.equation.endswith(f"{value:.3f}") or f"ReLU {value:.2f}" in look.product.caption
    last = looks[-1].product
    assert last.products.shape == ran.columns[-1].maps.shape[1:]
    assert torch.allclose(looks[-1].without, ran.logits.softmax(0))


def test_a_typed_unit_is_drawn_in_its_layer_and_another_refused(ran) -> None:
    looks = lens.looks(ran, lens.unit_of("3, 5, 13, 0"))
    assert looks[3].channel == 5 and looks[3].place == ran.columns[3].box(5, (13, 13), (0, 0))
    assert looks[2].channel == lens.looks(ran, None)[2].channel and lens.unit_of(" ") is None
    for text, says in [
        ("3 5 14 0", "layer 3 has 32 maps of 14×14 units"),
        ("6 0 0 0", "layer 6 has no maps"),
        ("1 2 3", "four|layer, map, row and column"),
        ("a b c d", "layer, map, row and column"),
        ("1 -1 0 0", "layer, map, row and column"),
        ("١ 1 1 1", "layer, map, row and column"),
    ]:
        with pytest.raises(UserError, match=says):
            lens.looks(ran, lens.unit_of(text))


def test_a_map_set_to_zero_is_a_network_without_its_weights(ran, model) -> None:
    """A map after the ReLU at zero: the next convolution without its kernels for that map."""
    for place, channel in ((1, 6), (3, 25)):
        changed = deepcopy(model)
        places = [k for k, m in enumerate(changed.layers) if isinstance(m, nn.Conv2d)]
        following = changed.layers[next(k for k in places if k > ran.columns[place].index)]
        with torch.no_grad():
            following.weight[:, channel] = 0
        wanted = changed(ran.columns[0].maps[None])[0].softmax(0)
        found = lens.probabilities_without(ran, ran.columns[place], channel)
        assert torch.allclose(found, wanted, atol=1e-5)


def test_scenes_show_what_their_lines_say(model, examples) -> None:
    states = {name: scene.state for name, scene in ROOM.scenes.items()}
    off = states["Map set to zero"]
    ran = sheet.on_digit(model, examples[off.digit])
    look = lens.looks(ran, lens.unit_of(off.unit))[off.layer]
    assert look.channel == 6 and int(ran.logits.argmax()) == 3 and int(look.without.argmax()) == 1
    deep = sheet.on_digit(model, examples[states["Deep feature maps"].digit]).columns[-1].maps
    assert float((deep == 0).float().mean()) > 0.5 and deep.shape[1:] == (7, 7)
    pooled = sheet.on_digit(model, examples["4"]).columns
    assert pooled[2].maps.shape[-1] * 2 == pooled[1].maps.shape[-1]
    for digit in "380":  # of the scenes
        assert int(sheet.on_digit(model, examples[digit]).logits.argmax()) == int(digit)
