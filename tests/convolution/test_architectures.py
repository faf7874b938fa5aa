"""The named networks at full size, on the meta device: shapes, parameters, operations, receptive fields."""

from collections.abc import Callable
from typing import Any

import contracts
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from lab.lenses.receptive_field import Window, fields, windows
from modules.convolution.alexnet import AlexNet
from modules.convolution.classifier import Classifier
from modules.convolution.counting import Row, count, named
from modules.convolution.densenet import DenseLayer, DenseNet, densenet_121
from modules.convolution.lenet import LeNet
from modules.convolution.residual import Residual
from modules.convolution.resnet import ResNet, cifar, imagenet
from modules.convolution.segmentation import SegmentationUNet
from modules.convolution.vgg import VGG, VGG_16

IMAGENET = (3, 224, 224)


def meta(make: Callable[[], Classifier]) -> Classifier:
    """A network without weights."""
    with torch.device("meta"):
        return make()


def grids(rows: list[Row], *kinds: str) -> list[int]:
    """Sides of the grids that layers of these kinds leave."""
    return [row.shape[1] for row in named(rows, *kinds)]


# --- Parameters and shapes -------------------------------------------------------------------------


def test_alexnet_has_94_percent_of_its_parameters_in_dense_layers() -> None:
    """62,378,344, where [UDL] says about 60 million (CV-E4); 60,965,224 in two groups."""
    model = meta(AlexNet)
    rows = count(model, IMAGENET)
    weighted = [row.parameters for row in rows if row.parameters]
    assert weighted == [34944, 614656, 885120, 1327488, 884992, 37752832, 16781312, 4097000]
    assert model.num_parameters == sum(weighted) == 62_378_344
    assert sum(weighted[5:]) / sum(weighted) == pytest.approx(0.940, abs=5e-4)
    two = count(meta(lambda: AlexNet(groups=2)), IMAGENET)
    dense = sum(row.parameters for row in named(two, "Linear"))
    assert sum(row.parameters for row in two) == 60_965_224
    assert dense / 60_965_224 == pytest.approx(0.962, abs=5e-4)


@pytest.mark.parametrize(
    ("side", "padding", "pool", "expected"),
    [
        (224, 2, 3, [55, 27, 13, 6]),
        (227, 0, 3, [55, 27, 13, 6]),
        (224, 0, 3, [54, 26, 12, 5]),  # not the 9,216 features of the text
        (224, 0, 2, [54, 27, 13, 6]),
        (224, 2, 2, [55, 27, 13, 6]),
    ],
)
def test_which_sizes_lead_alexnet_to_9216_features(
    side: int, padding: int, pool: int, expected: list[int]
) -> None:
    model = meta(lambda: AlexNet((3, side, side), padding=padding, pool=pool))
    rows = count(model, (3, side, side))
    assert [grids(rows, "Conv2d")[0], *grids(rows, "MaxPool2d")] == expected
    assert (named(rows, "Flatten")[0].shape == (9216,)) == (expected[-1] == 6)


def test_vgg_layer_by_layer() -> None:
    """CV-O17; 19 and 16 layers with weights, of which the last is the output (CV-E6)."""
    model = meta(VGG)
    rows = [row for row in count(model, IMAGENET) if row.parameters]
    layers = [m for m in model.layers if isinstance(m, nn.Conv2d | nn.Linear)]
    assert [m.weight.numel() for m in layers] == [
        1728, 36864, 73728, 147456, 294912, *[589824] * 3, 1179648, *[2359296] * 7,
        102760448, 16777216, 4096000,
    ]  # fmt: skip
    assert sum(m.bias.numel() for m in layers) == 14696 and len(layers) == 19
    assert model.num_parameters == 143_667_240
    assert sum(row.parameters for row in named(rows, "Conv2d")) == 20_024_384
    sixteen = meta(lambda: VGG(blocks=VGG_16))
    assert sixteen.num_parameters == 138_357_544
    weighted = [row for row in count(sixteen, IMAGENET) if row.parameters]
    assert len(weighted) == 16 and sum(r.parameters for r in named(weighted, "Conv2d")) == 14_714_688
    assert grids(count(model, IMAGENET), "MaxPool2d") == [112, 56, 28, 14, 7]


@pytest.mark.parametrize(
    ("settings", "parameters"),
    [
        (imagenet(200), 64_673_832),
        (imagenet(200, shortcut="zeros"), 61_897_256),
        (imagenet(200, "v2"), 64_666_280),
        (imagenet(50), 25_557_032),
        (imagenet(152), 60_192_808),
        (imagenet(18), 11_689_512),
        (cifar(20), 269_722),
        (cifar(56), 853_018),
        (cifar(110), 1_727_962),
        (cifar(20) | {"shortcut": "projection"}, 272_474),
        (cifar(56) | {"shortcut": "projection"}, 855_770),
        (cifar(110) | {"shortcut": "projection"}, 1_730_714),
        (cifar(20, plain=True), 269_722),
    ],
)
def test_parameters_of_residual_networks(settings: dict, parameters: int) -> None:
    assert meta(lambda: ResNet(**settings)).num_parameters == parameters


def test_resnet_200_has_200_layers() -> None:
    """3·(3 + 24 + 36 + 3) + 2, projections aside; 224 → 112 → 56 → 28 → 14 → 7."""
    model = meta(lambda: ResNet(**imagenet(200)))
    rows = count(model, IMAGENET)
    layers = [r for r in named(rows, "Conv2d", "Linear") if "shortcut" not in r.name]
    assert len(layers) == 200
    assert list(dict.fromkeys(grids(rows, "Conv2d", "MaxPool2d"))) == [112, 56, 28, 14, 7]
    for depth, plain in ((20, False), (56, True)):
        net = meta(lambda d=depth, p=plain: ResNet(**cifar(d, p)))
        weighted = named(count(net, (3, 32, 32)), "Conv2d", "Linear")
        assert len(weighted) == depth
        ways = {block.shortcut is None for block in net.modules() if isinstance(block, Residual)}
        assert ways == {plain}


def test_densenet_grows_by_32_and_starts_anew_after_each_transition() -> None:
    """Figure 11.9: 3, 35, 67, …; DenseNet-BC-121 has 7,978,856 parameters."""
    x = torch.zeros(1, 3, 4, 4)
    channels = []
    for k in range(4):
        x = DenseLayer(3 + 32 * k, 32).eval()(x)
        channels.append(x.shape[1])
    assert channels == [35, 67, 99, 131]
    model = meta(lambda: DenseNet(**densenet_121()))
    assert model.num_parameters == 7_978_856
    rows = count(model, IMAGENET)
    assert [r.shape for r in named(rows, "AvgPool2d")] == [(128, 28, 28), (256, 14, 14), (512, 7, 7)]
    # two in each of 58 layers, three transitions, the stem and the head
    assert len(named(rows, "Conv2d", "Linear")) == 121


def test_every_dense_layer_has_a_path_of_length_one_to_the_end_of_its_chain() -> None:
    """The gradient of the end with respect to what a layer added is 1 there, whatever the weights."""
    torch.manual_seed(0)
    chain = nn.Sequential(*(DenseLayer(2 + 3 * k, 3) for k in range(4))).double().eval()
    x = torch.randn(1, 2, 5, 5, dtype=torch.float64)
    for k in range(4):
        h = chain[: k + 1](x).detach().requires_grad_()
        y = chain[k + 1 :](h)
        assert torch.equal(y[:, : h.shape[1]], h)
        gradient = torch.autograd.grad(y[0, h.shape[1] - 1, 2, 2], h)[0]
        assert gradient[0, -1, 2, 2] == 1 and gradient.count_nonzero() == 1


def test_lenet() -> None:
    """28 → 28 → 14 → 10 → 5, 400 features; sigmoids and mean pooling."""
    model = meta(LeNet)
    rows = count(model, (1, 28, 28))
    assert [r.shape for r in rows if len(r.shape) == 3 and r.kind != "Sigmoid"] == [
        (6, 28, 28), (6, 14, 14), (16, 10, 10), (16, 5, 5),
    ]  # fmt: skip
    assert named(rows, "Flatten")[0].shape == (400,) and len(named(rows, "Sigmoid")) == 4
    assert [r.parameters for r in rows if r.parameters] == [156, 2416, 48120, 10164, 850]


def test_the_network_of_the_notebook_is_a_lenet() -> None:
    """[UDL] notebook 10.5, which pools before its ReLU: the same, as both are monotone."""
    torch.manual_seed(0)
    how: dict[str, Any] = {"channels": [10, 20], "hidden": [50], "activation": "relu", "pool": "max"}
    model = LeNet(padding=0, spatial_dropout=0.5, **how)
    assert model.num_parameters == 21_840
    first, second = (m for m in model.layers if isinstance(m, nn.Conv2d))
    dense, last = (m for m in model.layers if isinstance(m, nn.Linear))
    x = torch.randn(5, 1, 28, 28)
    h = F.max_pool2d(first(x), 2).relu()
    h = F.max_pool2d(second(h), 2).relu()
    assert torch.allclose(model.eval()(x), last(dense(h.flatten(1)).relu()), atol=1e-6)
    maps = model.train().layers[:6](x).flatten(2).amax(2)  # behind the dropout and the ReLU
    assert 0.3 < float((maps == 0).float().mean()) < 0.7  # whole maps of the second convolution, half of them


# --- Operations ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "shape", "operations"),
    [
        (AlexNet, IMAGENET, 1_135_256_096),
        (VGG, IMAGENET, 19_632_062_464),
        (lambda: ResNet(**imagenet(50)), IMAGENET, 4_089_184_256),
        (lambda: ResNet(**imagenet(200, "v2")), IMAGENET, 15_007_481_856),
        (lambda: DenseNet(**densenet_121()), IMAGENET, 2_834_161_664),
        (SegmentationUNet, (1, 572, 572), 150_428_424_448),
        (lambda: ResNet(**cifar(56)), (3, 32, 32), 125_485_696),
    ],
    ids=["AlexNet", "VGG-19", "ResNet-50", "ResNet-200", "DenseNet-121", "U-Net", "ResNet-56"],
)
def test_operations_are_half_of_torchs_flops(make, shape: tuple[int, ...], operations: int) -> None:
    """torch's own counter counts a multiplication and an addition as two."""
    model = meta(make).eval()
    assert sum(row.operations for row in count(model, shape)) == operations
    with FlopCounterMode(display=False) as counter:
        model.predict(torch.empty(1, *shape, device="meta"))
    assert counter.get_total_flops() == 2 * operations


def test_counting_refuses_a_network_with_weights_and_leaves_no_trace() -> None:
    with pytest.raises(ValueError, match="meta"):
        count(LeNet(), (1, 28, 28))
    model = meta(LeNet).train()
    assert count(model, (1, 28, 28)) == count(model, (1, 28, 28)) and model.training


# --- Receptive fields ------------------------------------------------------------------------------


def field_after(chain: list[nn.Module]) -> list[int]:
    """Size of the receptive field after each layer that has windows."""
    settings: list[Window] = []
    for layer in chain:
        window = windows(layer, 2)
        settings += window[:1] if window else []
    return [field.size for field in fields(settings)][1:]


def longest_path(model: Classifier) -> list[nn.Module]:
    """The layers along the branches: the path that sees most."""
    return [
        m for name, m in model.layers.named_modules() if "shortcut" not in name and not list(m.children())
    ]


@pytest.mark.parametrize(("pool", "expected"), [(3, [11, 19, 51, 67, 99]), (2, [11, 15, 47, 55, 87])])
def test_fields_of_alexnet(pool: int, expected: list[int]) -> None:
    """P10.17's 11, 51, 99 are those of 3×3 pools."""
    layers = [m for m in meta(lambda: AlexNet(pool=pool)).layers if isinstance(m, nn.Conv2d | nn.MaxPool2d)]
    assert field_after(layers)[:5] == expected


def test_fields_of_deep_networks() -> None:
    """The last pool of VGG, the last block of a ResNet, the bottom of the U-Net (CV-O13)."""
    for blocks, expected in ((VGG_16, 212), ((2, 2, 4, 4, 4), 268)):
        features = [
            m for m in meta(lambda b=blocks: VGG(blocks=b)).layers if isinstance(m, nn.Conv2d | nn.MaxPool2d)
        ]
        assert field_after(features)[-1] == expected
    for depth, at, expected in ((50, "1x1", 483), (50, "3x3", 427), (200, "1x1", 1763), (200, "3x3", 1707)):
        net = meta(lambda d=depth, a=at: ResNet(**imagenet(d), stride_at=a))
        weighted = [m for m in longest_path(net) if isinstance(m, nn.Conv2d | nn.MaxPool2d)]
        assert field_after(weighted)[-1] == expected
    unet = meta(SegmentationUNet).layers[0]
    down = [m for level in range(5) for m in ([unet.pool] if level else []) + list(unet.down[level])]
    assert field_after([m for m in down if not isinstance(m, nn.ReLU)])[-1] == 140


# --- Behaviour -------------------------------------------------------------------------------------

DIGIT, ICON = (1, 28, 28), (1, 12, 12)
ALEXNET = {"channels": (8, 8, 8, 8, 8), "hidden": (16,), "kernel": 3, "stride": 1, "dropout": 0.1}
SMALL: dict[str, tuple[Callable[[], Classifier], tuple[int, ...]]] = {
    "LeNet": (lambda: LeNet(activation="tanh"), DIGIT),
    "AlexNet": (lambda: AlexNet(DIGIT, 10, **ALEXNET), DIGIT),
    "VGG": (lambda: VGG(ICON, 10, (1, 2), (8, 8), (16,), dropout=0.1), ICON),
    "ResNet v2": (lambda: ResNet(ICON, blocks=(1, 1), widths=(8, 8)), ICON),
    "ResNet v1": (lambda: ResNet(ICON, 10, (1, 1), (4, 4), bottleneck=True, order="v1"), ICON),
    "DenseNet": (lambda: DenseNet(ICON, blocks=(1, 1), growth=6), ICON),
}


@pytest.mark.parametrize("name", SMALL)
def test_small_sisters_start_near_ln_10_and_overfit(name: str) -> None:
    make, shape = SMALL[name]
    torch.manual_seed(0)
    model = make()
    x = torch.randn(20, *shape, generator=torch.Generator().manual_seed(0))
    batch = x, torch.arange(20) % 10
    contracts.loss_at_start(model, batch, 2.302585, 0.1)
    contracts.overfits_one_batch(model, batch, below=0.3, steps=120, lr=1e-2)


def test_the_small_resnet_of_another_library_answers_the_same() -> None:
    """The weights of a ResNet of `transformers` in ours, of the same shape: the same logits."""
    from transformers import ResNetConfig, ResNetForImageClassification

    torch.manual_seed(0)
    config = ResNetConfig(embedding_size=8, hidden_sizes=[32, 64], depths=[2, 3], num_labels=10)
    theirs = ResNetForImageClassification(config).double().eval()
    settings = {"blocks": (2, 3), "widths": (8, 16), "bottleneck": True, "order": "v1", "stem": "7x7"}
    ours = ResNet((3, 64, 64), **settings).double().eval()
    x = torch.randn(2, 3, 64, 64, dtype=torch.float64)

    def weighted(model: nn.Module, call: Callable) -> list[nn.Module]:
        """Layers with weights in the order in which they run."""
        seen, handles = [], []
        for layer in model.modules():
            if isinstance(layer, nn.Conv2d | nn.BatchNorm2d | nn.Linear):
                handles.append(layer.register_forward_hook(lambda m, i, o: seen.append(m)))
        call()
        for handle in handles:
            handle.remove()
        return seen

    pairs = zip(weighted(ours, lambda: ours(x)), weighted(theirs, lambda: theirs(x)), strict=True)
    with torch.no_grad():
        for mine, other in pairs:
            if isinstance(other, nn.BatchNorm2d):
                other.running_mean.normal_()
                other.running_var.uniform_(0.5, 2)
            mine.load_state_dict(other.state_dict())
        assert (ours(x) - theirs(x).logits).abs().max() <= 1e-12


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: cifar(21), "6n"),
        (lambda: imagenet(20), "18, 34, 50"),
        (lambda: ResNet(blocks=(1, 2)), "2 blocks for 3 widths"),
        (lambda: ResNet(scale="half", shortcut="none"), "no sum"),
        (lambda: ResNet(order="v3"), "v1, v2, linear-first"),
        (lambda: AlexNet(channels=(1, 2)), "five"),
        (lambda: AlexNet(channels=(3, 4, 4, 4, 4), groups=2), "2 groups"),
        (lambda: AlexNet((3, 32, 32)), "too small"),
        (lambda: VGG(blocks=(1,)), "1 blocks for 5 channels"),
        (lambda: DenseNet(compression=0.0), "above 0"),
        (lambda: LeNet(activation="swish"), "sigmoid, tanh, relu"),
    ],
)
def test_bad_settings_say_what_is_wrong(call, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence), torch.device("meta"):
        call()
