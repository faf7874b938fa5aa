"""The page Architecture zoo: sizes and costs by other roads, fields of graphs, dense chains, own networks."""

from copy import deepcopy

import numpy as np
import pytest
import torch
from opening import film, open_page
from torch import nn

from lab.errors import UserError
from lab.lenses import receptive_field
from lab.lenses.layer_graph import Followed, Reach, following, reading, union
from lab.lenses.receptive_field import Field
from modules.convolution.densenet import DenseLayer, DenseNet
from modules.convolution.resnet import ResNet
from modules.convolution.segmentation import SegmentationUNet
from pages.convolution.architectures import channels, charts, figures, nets, own, room, training, words
from pages.convolution.architectures.room import (
    ALEX,
    DENSE,
    HOURGLASS,
    LENET,
    LINEAR,
    LOG,
    NONE,
    STACKS,
    UNET,
)

IMAGES = "ResNet-18", "ResNet-50", "VGG-16", DENSE, UNET, ALEX


# --- Sizes and costs --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("net", "parameters"),
    [(ALEX, 62_378_344), ("VGG-19", 143_667_240), ("VGG-16", 138_357_544), ("VGG-11", 132_863_336),
     ("ResNet-18", 11_689_512), ("ResNet-50", 25_557_032), (DENSE, 7_978_856), (UNET, 31_030_658),
     (LENET, 61_706)],
)  # fmt: skip
def test_the_networks_have_their_published_numbers(net: str, parameters: int) -> None:
    """CV-O16, O17, O46, O48, O49; VGG-11 and ResNet-18 as torchvision counts them."""
    assert nets.net_of(net).parameters == parameters


def test_the_networks_with_most_layers() -> None:
    one = nets.net_of("ResNet-200")
    assert one.parameters == 64_673_832
    sides = [block.after[1] for block in one.blocks]
    assert sorted(set(sides), reverse=True) == [112, 56, 28, 14, 7, 1]


@pytest.mark.parametrize("net", IMAGES)
def test_every_formula_gives_the_size_and_the_parameters_that_the_layer_has(net: str) -> None:
    one = nets.net_of(net)
    for block in one.blocks:
        (C, n), (D, m) = block.before, block.after
        K, s, p = block.kernel_size, block.stride, block.padding
        if block.kind == nets.UP:
            assert m == (n - 1) * s + K
        elif block.kind != nets.DENSE_LAYER:
            assert m == (-(-(n + 2 * p - K) // s) if block.ceil else (n + 2 * p - K) // s) + 1
        if block.parameters:
            weights = C * D if block.kind == nets.DENSE_LAYER else K * K * C * D // block.groups
            assert block.parameters == weights + D * block.bias
            assert block.operations == weights * (n * n if block.kind == nets.UP else m * m)
    texts, formulas = words.captions([one]), words.equations([one])
    assert len(texts) == len(formulas) == len(one.blocks) == len(words.names([one]))
    assert sum(one.shares("parameters").values()) == one.parameters


def test_alexnet_says_which_sizes_lead_to_its_dense_layer() -> None:
    """CV-O15, CV-E4."""
    assert not nets.net_of(ALEX).misfit and not nets.net_of(ALEX, 227, 0).misfit
    assert not nets.net_of(ALEX, 224, 0, 2).misfit
    wrong = nets.net_of(ALEX, 224, 0)
    assert "224 → 54 → 26 → 12 → 5" in wrong.misfit and "6,400 values" in wrong.misfit
    assert "9,216" in wrong.misfit
    assert nets.net_of(ALEX, groups=2).parameters == 60_965_224
    dense = nets.net_of(ALEX).shares("parameters")[nets.DENSE_LAYER] / 62_378_344
    assert dense == pytest.approx(0.940, abs=5e-4)
    assert "94.0%" in words.about([nets.net_of(ALEX)])


@pytest.mark.parametrize(
    ("net", "side", "sentence"),
    [(ALEX, 20, "20 → 4 → 1, and the next layer reads 3×3"), ("VGG-16", 20, "20 → 10 → 5 → 2 → 1"),
     (UNET, 224, "leaves 12 when divided by 16"), (HOURGLASS, 200, "multiples of 64")],
)  # fmt: skip
def test_an_input_that_does_not_fit_gets_its_arithmetic(net: str, side: int, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        nets.net_of(net, side)


def test_errors_are_those_that_the_text_quotes() -> None:
    assert nets.QUOTED == {ALEX: (16.4, 38.1), "VGG-19": (6.8, 23.7), "ResNet-200": (4.8, 20.1)}
    table = words.costs_table([nets.net_of(ALEX), nets.net_of(UNET)])
    assert table["top-5 error, %, as [UDL] says"] == ["16.4", "–"]


def test_all_networks_are_counted() -> None:
    *_, (share, every) = nets.costs("")
    assert share == 1 and [net.name for net in every] == list(room.NETS)
    by = {net.name: net for net in every}
    assert max(every[:-2], key=lambda net: net.operations).name == "VGG-19"  # U-Net reads larger pictures
    assert by[ALEX].operations * 13 < by["ResNet-200"].operations
    x, y = by["ResNet-50"].parameters, by["ResNet-50"].operations
    assert words.nearest(every, 1.01 * x, 0.99 * y) == "ResNet-50" and words.nearest(every, -1.0, 0.0)
    assert len(figures.cost(every).data[0].x) == len(every) - 1


# --- Fields -----------------------------------------------------------------------------------------


@torch.no_grad()
def measured(model: nn.Module, name: str, side: int, channels: int = 3) -> tuple[int, int]:
    """First and last column of the input that moves the middle unit of a layer, all of positive weights."""
    kept: dict[str, torch.Tensor] = {}
    model = model.double().eval()
    for p in model.parameters():
        p.fill_(0.01) if p.ndim > 1 else p.zero_()
    for layer in model.modules():
        if isinstance(layer, nn.BatchNorm2d):
            layer.weight.fill_(1)
    layer = dict(model.named_modules())[name]
    handle = layer.register_forward_hook(lambda _, inputs, output: kept.update(h=output))

    def function(x: torch.Tensor) -> torch.Tensor:
        model(x)
        return kept["h"]

    x = torch.rand(1, channels, side, side, dtype=torch.float64) * 0.01 + torch.linspace(1, 2, side**2).view(
        side, side
    )
    model(x)
    middle = kept["h"].shape[-1] // 2
    found = receptive_field.measured(function, x, (0, 0, middle, middle)).sum((0, 1, 2)).nonzero().flatten()
    handle.remove()
    return int(found[0]), int(found[-1])


@pytest.mark.parametrize("kind", ["residual", "dense"])
def test_fields_of_graphs_contain_what_is_measured(kind: str) -> None:
    side = 64
    build = (
        (lambda: ResNet((3, side, side), blocks=(2, 2), widths=(4, 8), order="v1"))
        if kind == "residual"
        else (lambda: DenseNet((3, side, side), blocks=(2, 2), growth=4))
    )
    with torch.device("meta"):
        empty = build().eval()
    with following(empty) as fields:
        empty(torch.empty(1, 3, side, side, device="meta"))
    model = build()
    names = [name for name, layer in model.named_modules() if isinstance(layer, nn.Conv2d)]
    compared = 0
    for name in names:
        (field,) = fields[name]
        assert field is not None
        first, last = measured(model, name, side)
        low, high = field.box({1: side // 2, 2: side // 4}[field.step], side)  # type: ignore[misc]
        assert low <= first and last <= high
        compared += (low, high) == (first, last)
    assert compared >= len(names) - 3  # a maximum or a ReLU may close a border


@pytest.mark.parametrize("padded", [True, False])
def test_behind_an_upsampling_neighbours_see_different_spans(padded: bool) -> None:
    """A U-Net of positive weights, every position of its output by gradients."""
    side = 48 if padded else 60
    model = SegmentationUNet((1, side, side), 1, width=2, levels=2, padded=padded).double().eval()
    with torch.no_grad():
        for p in model.parameters():
            p.fill_(0.1) if p.ndim > 1 else p.zero_()
    empty = deepcopy(model).to("meta")
    with following(empty) as fields:
        empty(torch.empty(1, 1, side, side, device="meta", dtype=torch.float64))
    (field,) = fields["layers.0.last"]
    assert field and len(field.first) == field.step == 4
    x = torch.linspace(1, 2, side**2, dtype=torch.float64).view(1, 1, side, side)
    with torch.no_grad():
        n = model(x).shape[-1]
    for i in range(n):
        seen = receptive_field.measured(model, x, (0, 0, n // 2, i)).sum((0, 1, 2)).nonzero().flatten()
        low, high = field.box(i, side)  # type: ignore[misc]
        assert low <= int(seen[0]) and int(seen[-1]) <= high
        # the largest of a rising block is its last pixel: a span may begin up to three pixels later
        assert int(seen[0]) - low <= 3 and int(seen[-1]) == high


def test_readings_are_those_of_the_matrices() -> None:
    """Layer by layer against the exact sets, in the middle of the input."""
    layers = (
        nn.Conv1d(1, 1, 5, stride=2, padding=1), nn.MaxPool1d(3, 2), nn.Upsample(scale_factor=3),
        nn.ConvTranspose1d(1, 1, 4, stride=2, padding=1), nn.ConvTranspose1d(1, 1, 5, stride=3),
    )  # fmt: skip
    for layer in layers:
        x = torch.zeros(1, 1, 30)
        (matrix,) = receptive_field.connectivity(layer, (30,), (layer(x).shape[-1],))
        for i in range(len(matrix)):
            read = matrix[i].nonzero().flatten()
            box = reading(layer, 1).box(i, 30)  # type: ignore[union-attr]
            assert box == (int(read[0]), int(read[-1]))
    assert reading(nn.MaxUnpool1d(2), 1) == Reach((0, 0), (0, 0))
    assert reading(nn.Linear(2, 2), 1) is None and reading(nn.Upsample(scale_factor=1.5), 1) is None


class Crop(nn.Module):
    """Two windows of 3, between them three positions less in front."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.MaxPool2d(3, 2), nn.MaxPool2d(3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(self.first(x)[..., 1:-1, 3:-1])


def test_a_crop_moves_the_field() -> None:
    model = Crop()
    with following(model) as fields:
        model(torch.empty(1, 1, 40, 40, device="meta"))
    assert fields == {"first": [Reach((0,), (2,), 2)], "second": [Reach((6,), (12,), 6)]}


def reach(field: Field) -> Reach:
    return Reach((field.start,), (field.start + field.size - 1,), field.jump)


def test_fields_join_where_branches_do() -> None:
    assert union([Reach((-1,), (1,)), Reach()]) == Reach((-1,), (1,))
    assert union([Reach((-1,), (1,), 2), Reach((1,), (5,), 2)]) == Reach((-1,), (5,), 2)
    assert union([Reach((0, 0), (3, 3), 2), Reach((-1,), (1,))]) == Reach((-1, 0), (3, 3), 2)
    assert union([Reach(), Reach((0,), (0,), 2)]) is None and union([Reach(), None]) is None
    assert union([]) is None and issubclass(Followed, torch.Tensor)


def test_a_chain_has_the_fields_of_the_formula() -> None:
    """ResNet's first layers, AlexNet and VGG as stacks of windows; fields behind upsamplings, too."""
    for net in (ALEX, "VGG-16"):
        stack = [receptive_field.Window(b.kernel_size, b.stride, 1, b.padding)
                 for b in nets.net_of(net).blocks if b.kind != nets.DENSE_LAYER]  # fmt: skip
        found = [b.field for b in nets.net_of(net).blocks if b.kind != nets.DENSE_LAYER]
        assert found == [reach(field) for field in receptive_field.fields(stack)[1:]]
    assert [b.field.size for b in nets.net_of("ResNet-18").blocks[:4] if b.field] == [7, 11, 19, 27]
    sizes = [b.field.size for b in nets.net_of(UNET).blocks if b.field]
    assert sizes[:5] == [3, 5, 6, 10, 14] and len(sizes) == len(nets.net_of(UNET).blocks)
    assert all(b.field for b in nets.net_of(HOURGLASS).blocks)


# --- Drawn to scale ---------------------------------------------------------------------------------


def test_blocks_are_drawn_to_one_scale() -> None:
    pair = nets.shown(ALEX, "VGG-19", None, 2, 3, 1)
    boxes, wide, _ = figures.boxes(pair, LINEAR)
    blocks = [block for net in pair for block in net.blocks]
    drawn = {box.index: box for box in boxes if box.index >= 0}
    convs = [i for i, block in enumerate(blocks) if block.kind == nets.CONV and block.after[0] >= 96]
    for i in convs:
        assert drawn[i].right - drawn[i].left == pytest.approx(blocks[i].after[0])
        assert drawn[i].high - drawn[i].low == pytest.approx(blocks[i].after[1])
    assert max(box.right for box in boxes) <= wide
    for i in (0, 5, len(blocks) - 1):
        x, y = (drawn[i].left + drawn[i].right) / 2, (drawn[i].low + drawn[i].high) / 2
        assert figures.pressed(pair, LINEAR, x, y) == i
    assert figures.length(255, LOG) == 8 and len(nets.shown(LENET, NONE, None, 2, 3, 1)) == 1


# --- DenseNet ---------------------------------------------------------------------------------------


def test_channels_grow_as_the_network_concatenates() -> None:
    """CV-O48: 35, 67, 99, 131, 163 from 3 with growth 32; DenseNet-121 at its transitions."""
    one = channels.chained((5,), 3, 32, True)
    assert [layer.reads + layer.adds for layer in one] == [35, 67, 99, 131, 163]
    full = channels.chained((6, 12, 24, 16), 64, 32, True)
    with torch.device("meta"):
        layers = [m for m in nets.network(DENSE, 224).modules() if isinstance(m, DenseLayer)]
    assert len(layers) == len(full)
    for layer, module in zip(full, layers, strict=True):
        convs = [m for m in module.modules() if isinstance(m, nn.Conv2d)]
        assert convs[0].in_channels == layer.reads
        assert sum(m.weight.numel() for m in convs) == layer.squeezed
        with torch.device("meta"):
            plain = DenseLayer(layer.reads, layer.adds, bottleneck=0)
        assert sum(m.weight.numel() for m in plain.modules() if isinstance(m, nn.Conv2d)) == layer.plain
        assert (layer.squeezed < layer.plain) == (layer.reads > 7.2 * layer.adds)
    assert full[-1].reads + 32 == 1024 and [layer.first for layer in full if layer.number == 1] == [
        64,
        128,
        256,
        512,
    ]
    assert [layer.squeezed < layer.plain for layer in channels.chained((12,), 64, 32, True)].index(True) == 6
    assert len(channels.captions(full)) == len(channels.equations(full)) == 59


def test_pictures_of_chains_grow_by_a_layer_a_frame() -> None:
    one = channels.chained((3, 2), 8, 4, False)
    bars = np.asarray(figures.widths(one)["data"][0]["y"].values)
    assert np.isfinite(bars).sum(1).tolist() == list(range(6))
    assert len(figures.weights(one)["data"]) == 2 and one[3].first == 20


@pytest.mark.parametrize("text", ["", "0", "1.5", "two", "1 2 3 4 5", "49", "🐱"])
def test_bad_lengths_get_a_sentence(text: str) -> None:
    with pytest.raises(UserError):
        channels.lengths(text)


# --- Own network ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("", "write one to 10"), ("res," * 11, "write one to 10"), ("🐱", "is none of conv"),
     ("conv", "needs channels"), ("conv 8 4", "use an odd one"), ("pool 2", "takes no number"),
     ("conv 8 3 2", "takes channels and kernel"),
     ("conv 999999999999", "from 1 to 64"), ("dense ²", "from 1 to 256")],
)  # fmt: skip
def test_a_list_that_cannot_be_read_gets_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        own.parsed(text)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("dense 20, conv 4", "needs a grid"), ("pool, mean, pool, pool", "cannot be pooled again"),
     ("conv 64 7, conv 64 7", "multiply-adds for a digit"), ("dense 256, dense 256", "parameters")],
)  # fmt: skip
def test_a_network_that_cannot_be_trained_gets_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        training.sized(own.parsed(text))


@pytest.mark.parametrize("text", [*STACKS.values(), "norm, CONV 4 5; mean\nres, dense 3, dense 4"])
def test_a_list_is_the_network_that_it_says(text: str) -> None:
    stack = own.parsed(text)
    net, model = training.sized(stack), own.built(stack).eval()
    assert model(torch.rand(2, 1, own.SIDE, own.SIDE)).shape == (2, own.CLASSES)
    assert net.parameters == sum(p.numel() for p in model.parameters())
    assert len(model) == len(stack) + 1


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_what_the_scenes_say_of_own_networks_holds_on_three_seeds(seed: int) -> None:
    good, narrow = (
        [*training.trained(own.parsed(STACKS[name]), 0.01, seed)][-1][1]
        for name in ("Two convolutions", "Too narrow")
    )
    assert good[0].test > 0.7 and good[-1].test < 0.1 and narrow[-1].test > 0.6
    assert len(good) == len(narrow) == len(room.LOOKS)


def test_a_training_replays_and_is_wound_back() -> None:
    stack = own.parsed(STACKS["Dense"])
    one, two = ([*training.trained(stack, 0.01, 3)][-1][1] for _ in range(2))
    assert [look.test for look in one] == [look.test for look in two]
    read = training.reads(one, stack, 7)
    assert read.probabilities.shape == (len(room.LOOKS), own.CLASSES)
    torch.testing.assert_close(read.probabilities.sum(1), torch.ones(len(room.LOOKS)))
    assert not torch.equal(read.maps[0][1][0], read.maps[0][1][-1])
    sheet = np.asarray(charts.maps(read)["data"][0]["z"].values)
    assert len(sheet) == len(room.LOOKS) and np.nanmax(np.abs(sheet)) <= 1
    assert len(training.captions(one, read)) == len(one)


@pytest.mark.parametrize(
    ("given", "key"),
    [({"net": LENET, "beside": NONE}, "block"),
     ({"net": ALEX, "padding": 0, "beside": LENET, "scale": LOG}, "block"),
     ({"view": room.CHANNELS, "chains": "1", "growth": 1, "start": 1}, "added"),
     ({"view": room.OWN, "listed": "dense 3"}, "step")],
)  # fmt: skip
def test_other_states(given: dict, key: str) -> None:
    assert film(open_page("convolution/architectures", **given), key)
