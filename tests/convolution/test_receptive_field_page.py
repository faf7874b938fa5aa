"""The page Receptive field: every number it shows is computed again here, from the layers themselves."""

import re
from functools import partial

import contracts
import numpy as np
import pytest
import torch
from opening import component, figure, film, metrics, open_page, open_warned
from streamlit.testing.v1 import AppTest
from torch import Tensor, nn

from lab import weights
from lab.errors import UserError
from lab.figures import moving, receptive_fields, theme
from lab.lenses import drawing, receptive_field, signals, units
from lab.lenses.receptive_field import Window
from modules.convolution.cnn1d import CNN1d
from modules.convolution.cnn2d import CNN2d
from pages.convolution.kernel import figures as kernel_figures
from pages.convolution.kernel import lens as kernel
from pages.convolution.own_stack import figures
from pages.convolution.own_stack import lens as own_stack
from pages.convolution.own_stack.room import WEIGHTS
from pages.convolution.receptive_field import bounds, lens

opened = partial(open_page, "convolution/receptive_field")
NUMBER = re.compile(r"-?\d+\.\d+")


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def words(page: AppTest) -> str:
    return "\n".join(m.value for m in [*page.markdown, *page.caption, *page.latex])


# --- One unit's arithmetic -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "chain",
    [
        nn.Sequential(nn.Conv2d(2, 4, (3, 2), (2, 1), (1, 0), (1, 2))),
        nn.Sequential(nn.Conv2d(2, 4, 3, groups=2, padding=2, padding_mode="reflect")),
        nn.Sequential(nn.Conv2d(2, 3, 3, padding="same", bias=False)),
        nn.Sequential(nn.Conv2d(2, 3, 4, padding="same", dilation=2)),
        nn.Sequential(nn.Flatten(), nn.Linear(2 * 7 * 6, 5)),
    ],
    ids=["uneven", "grouped", "same", "same, even", "dense"],
)
def test_products_add_up_to_the_unit(chain: nn.Sequential) -> None:
    """Patch × kernel, summed, plus the bias, is what the layer computed, for every unit."""
    chain = contracts.exact(chain)
    layer = receptive_field.walk(chain, draw(2, 7, 6))[-1]
    result = 0
    for unit in torch.cartesian_prod(*(torch.arange(n) for n in layer.output.shape)).reshape(
        -1, layer.output.ndim
    ):
        numbers = units.arithmetic(layer, tuple(unit.tolist()))
        assert numbers.total == pytest.approx(float(layer.output[tuple(unit)]), abs=1e-12)
        assert numbers.products.shape == numbers.patch.shape
        result += 1
    assert result >= 5


@pytest.mark.parametrize(
    ("pool", "combine"),
    [(nn.MaxPool2d(2), torch.max), (nn.MaxPool2d(3, 1, 1), torch.max), (nn.AvgPool2d(2), torch.mean)],
)
def test_what_a_pooling_read(pool: nn.Module, combine) -> None:
    layer = receptive_field.walk(nn.Sequential(pool), draw(3, 6, 6) - 5)[
        0
    ]  # all negative: padding must not win
    for unit in ((0, 0, 0), (2, 1, 2), (1, 2, 0)):
        numbers = units.arithmetic(layer, unit)
        assert numbers.kernel is None and combine(numbers.patch).item() == pytest.approx(
            numbers.value, abs=1e-12
        )
        with pytest.raises(ValueError, match="no weights"):
            _ = numbers.products


def evaluate(latex: str) -> tuple[float, float]:
    """Both sides of a unit's equation, by its printed numbers."""
    left, _, right = latex.rpartition(" = ")
    return left, float(right)


def test_equation_of_a_convolution() -> None:
    """Σ products + other channels + β, with the printed numbers, within their rounding."""
    model = contracts.exact(CNN1d((3, 12), 4, channels=[4, 5], kernel_sizes=[3], paddings=[1]))
    layers = receptive_field.walk(model, draw(3, 12))
    for layer in (layers[0], layers[2]):
        latex, note = units.unit_equation(layer, (2, 1), channel=1)
        left, value = evaluate(latex)
        numbers = [float(n) for n in NUMBER.findall(left)]
        patch, kernel, own, others, bias = numbers[0:6:2], numbers[1:6:2], *numbers[6:]
        assert sum(a * b for a, b in zip(patch, kernel, strict=True)) == pytest.approx(own, abs=0.02)
        assert own + others + bias == pytest.approx(value, abs=0.002)
        assert value == pytest.approx(float(layer.output[2, 1]), abs=5e-4)
        assert "input channel 1" in note and f"{len(layer.input) - 1} others" in note
        numbers = units.arithmetic(layer, (2, 1))
        sums = [abs(float(p.sum())) for p in numbers.products]
        assert sums[units.loudest(numbers)] == max(sums)


def test_equations_of_the_other_layers() -> None:
    torch.manual_seed(0)
    model = CNN2d((1, 8, 8)).double()
    model.train()
    model.predict(draw(64, 1, 8, 8))  # gives the norms statistics of their own
    model = model.eval()
    with torch.no_grad():
        for p in model.parameters():
            p.add_(0.1 * torch.randn_like(p))
    layers = receptive_field.walk(model, draw(1, 8, 8))
    seen = set()
    for layer in layers:
        unit = tuple(n // 2 for n in layer.output.shape)
        latex, _ = units.unit_equation(layer, unit)
        kind = type(layer.module).__name__
        value = float(layer.output[unit])
        shown = [float(n) for n in NUMBER.findall(latex)]
        assert shown[-1] == pytest.approx(value, abs=6e-3)
        if kind == "BatchNorm2d":
            gamma, before, mean, variance = shown[:4]
            c = unit[0]
            eps, delta = layer.module.eps, float(layer.module.bias[c])
            assert before == pytest.approx(float(layer.input[unit]), abs=6e-3)
            assert mean == pytest.approx(float(layer.module.running_mean[c]), abs=6e-4)
            assert gamma * (before - mean) / (variance + eps) ** 0.5 + delta == pytest.approx(value, abs=0.03)
        elif kind == "ReLU":
            assert max(0.0, shown[0]) == pytest.approx(shown[1], abs=1e-9)
        elif kind == "MaxPool2d":
            assert max(shown[:-1]) == shown[-1] and len(shown) == 5
        elif kind == "Linear":
            assert len(shown) == 4
            signs = [-1.0 if " - " + f"{abs(n)}" in latex else 1.0 for n in shown[1:3]]
            total = shown[0] + sum(s * abs(n) for s, n in zip(signs, shown[1:3], strict=True))
            assert total == pytest.approx(value, abs=0.03)
        seen.add(kind)
    assert {"Conv2d", "BatchNorm2d", "ReLU", "MaxPool2d", "Linear"} <= seen


def test_numbers_are_written_plainly() -> None:
    assert [units.shown(v) for v in (1.23456, -0.0001, 12.345, float("-inf"))] == [
        "1.235", "0.000", "12.35", r"-\infty"]  # fmt: skip
    assert units.bracketed(-2) == "(-2.000)" and units.signed(-0.5) == "- 0.500"


# --- Stacks, slides, inputs ----------------------------------------------------------------------


def test_own_stack_is_what_was_asked_for() -> None:
    settings = [Window(3, 2, 1, 1), Window(2, 1, 3, 0)]
    for axes in (1, 2):
        for choice in WEIGHTS:
            chain = own_stack.stack(settings, axes, choice, relu=True, seed=1)
            for layer, window in zip(chain[::2], settings, strict=True):
                assert receptive_field.windows(layer, axes) == [window] * axes
                taps = layer.weight.flatten()
                assert (taps == 1).all() if choice == "all ones" else taps.unique().numel() > 1
            assert len(chain) == 4 and isinstance(chain[1], nn.ReLU)
    assert len(own_stack.stack(settings, 1)) == 2
    assert torch.equal(
        own_stack.stack([Window(3)], 1, "edge")[0].weight.flatten(), torch.tensor([-1.0, 0, 1]).double()
    )
    first, again, other = (own_stack.stack([Window(3)], 1, "random", seed=s)[0].weight for s in (0, 0, 1))
    assert torch.equal(first, again) and not torch.equal(first, other)


def test_sliding_kernel() -> None:
    """Both known signals through the page's own trace; it replays to the same bits."""
    x = torch.tensor([[3.0, 1, 4, 1, 5, 9]], dtype=torch.float64)
    run = lambda seed: kernel.slide(kernel.single([-1, 0, 1], Window(3)), x)  # noqa: E731
    trace = contracts.trace_replays(run)
    assert trace.result.tolist() == [1, 0, 1, 8] and len(trace) == 4
    assert trace[2].values["reads"].tolist() == [2, 3, 4]
    assert trace[2].values["products"].tolist() == [-4, 0, 5]
    assert trace[2].values["output"].tolist() == [1, 0, 1]
    padded = kernel.slide(kernel.single([1, 2, 3], Window(3, 2, 1, 1), bias=0.5), x)
    assert padded.result.tolist() == [9.5, 12.5, 38.5]
    assert padded[0].values["reads"].tolist() == [-1, 0, 1] and "1 of them padding" in padded[0].caption


def test_typed_numbers() -> None:
    assert kernel.numbers_of("1, 0;-1  2.5", 9) == [1, 0, -1, 2.5]
    for text in ("one", "", "1 2 3", "inf"):
        with pytest.raises(UserError):
            kernel.numbers_of(text, 2)


def test_a_drawn_curve_is_a_signal() -> None:
    """Drawing a signal and reading it back loses less than half a pixel; gaps follow their neighbours."""
    for name, signal in signals.signals():
        back = signals.curve(signals.sketch(signal))
        inside_range = signal.clamp(-2.5, 2.5)
        assert (back - inside_range).abs().max() < 1e-5, name
    picture = torch.zeros(40, 40)
    picture[0, 10], picture[39, 20] = 1, 1
    result = signals.curve(picture)[0]
    assert result[:11].tolist() == [2.5] * 11 and result[20:].tolist() == [-2.5] * 20
    assert result[15].item() == pytest.approx(0, abs=1e-6)
    assert not signals.curve(torch.zeros(40, 40)).any()


def test_a_dense_layer_stands_in_rows() -> None:
    grid = lens.rows_of(torch.arange(10.0), 4)
    assert grid.shape == (3, 4) and grid[2].isnan().tolist() == [False, False, True, True]
    assert lens.strongest(grid) == (2, 1) and [lens.filled(row) for row in grid] == [4, 4, 2]


def test_clicks_find_units() -> None:
    layers = receptive_field.walk(own_stack.stack([Window(3, 2), Window(3)], 1), draw(1, 20))
    for level in range(3):
        centres = receptive_field.cone(layers, level, 0).centres[level]
        for unit, centre in enumerate(centres.tolist()):
            assert own_stack.cone_unit(layers, (centre, level)) == (level, unit)
    for nowhere in (None, (0.3, 1), (0, 7)):
        assert own_stack.cone_unit(layers, nowhere) == (2, layers[-1].output.shape[1] // 2)


# --- Figures -------------------------------------------------------------------------------------


def test_the_box_is_drawn_around_its_inputs() -> None:
    gradient = torch.zeros(8, 8)
    gradient[2:5, 1:4] = torch.arange(9.0).view(3, 3)
    fig = receptive_fields.on_image(torch.rand(8, 8), gradient, [(2, 4), (1, 3)])
    (frame,) = fig.layout.shapes
    assert (frame.x0, frame.x1, frame.y0, frame.y1) == (0.5, 3.5, 1.5, 4.5)
    assert np.allclose(np.asarray(fig.data[-1].z), (gradient / 8).numpy())
    signal = receptive_fields.on_signal(torch.rand(12), torch.arange(12.0), (3, 7))
    assert {(s.x0, s.x1) for s in signal.layout.shapes} == {(2.5, 7.5)}
    assert list(signal.data[1].y) == list(range(12))


def test_the_cone_lights_its_paths() -> None:
    layers = receptive_field.walk(own_stack.stack([Window(3, padding=1)] * 2, 1), draw(1, 9))
    cone = receptive_field.cone(layers, 2, 4)
    fig = figures.cone(cone.centres, cone.lit, cone.edges, cone.padding, ["input", "1", "2"])
    lines = [x for x in fig.data[0].x if x is not None]
    assert len(lines) == 2 * (3 + 9)  # three edges into the unit, three into each of its three
    assert min(lines) == 2 and max(lines) == 6
    clicks = next(t for t in fig.data if t.customdata is not None)
    assert [list(c) for c in clicks.customdata] == [[k, i] for k in range(3) for i in range(9)]


def test_the_kernel_stands_above_what_it_writes() -> None:
    """With gaps and padding: the band holds the inputs that are read, the output is at their middle."""
    x = torch.tensor([[3.0, 1, 4, 1, 5, 9]], dtype=torch.float64)
    result = kernel.slid([1, 2, 3], 2, 2, 1, 0.0, x)
    fig = kernel_figures.sliding(result)
    for at, reads in enumerate(([-1, 1, 3], [1, 3, 5])):
        still = moving.at(fig, at)
        signal, taps, outputs, padding = still.data
        assert list(taps.x) == reads and list(taps.y) == [1, 2, 3] and list(padding.x) == [-1, 6]
        lit = [i for i, color in enumerate(signal.marker.color) if color == theme.INPUT]
        assert lit == [i for i in reads if i >= 0] == result.trace[at].values["reads"][-len(lit) :].tolist()
        assert outputs.x[at] == reads[1] and outputs.y[at] == result.trace.result[at]
        (band,) = still.layout.shapes
        assert (band.x0, band.x1) == (reads[0] - 0.5, reads[-1] + 0.5)


def test_product_figure_multiplies() -> None:
    fig = receptive_fields.product(draw(3, 3), draw(3, 3, seed=1))
    patch, kernel, product = (np.asarray(t.z) for t in fig.data)
    assert np.allclose(patch * kernel, product)


def shares(result: Tensor, box: list[tuple[int, int]]) -> tuple[Tensor, Tensor]:
    """What was found in the middle half of a box along both axes, and in the eighth along its sides."""
    (top, bottom), (left, right) = box
    inside = result[top : bottom + 1, left : right + 1]
    y, x = ((torch.arange(n) - (n - 1) / 2).abs() / (n / 2) for n in inside.shape)
    away = torch.maximum(y[:, None], x[None, :])
    return inside[away <= 0.5], inside[away > 0.75]


@pytest.mark.parametrize("seed", [None, 0, 1, 2, 3, 4])
def test_an_effective_field_is_large_in_the_middle_of_its_box_and_small_at_its_rim(seed: int | None) -> None:
    """Of every channel, trained and with random weights of five seeds; measured: 3.9 times and more."""
    model = weights.load("cnn-mnist")
    if seed is not None:
        torch.manual_seed(seed)
        model = type(model)(**model.hparams).eval()
    examples = signals.stacked(drawing.examples(28))
    layers = receptive_field.walk(model, examples[0])
    at = [(channel, 3, 3) for channel in range(64)]
    for unit, result in zip(at, receptive_field.measured_fields(model, examples, 8, at), strict=True):
        middle, rim = shares(result, layers[8].box(unit))
        assert middle.mean() > 2 * rim.mean(), unit
    middle, rim = shares(layers[8].support(at[0]), layers[8].box(at[0]))
    assert middle.min() > rim.max()  # paths: whatever the weights are


@pytest.mark.parametrize(("name", "side", "size"), [("cnn-mnist", 28, 5), ("cnn-digits", 8, 3)])
def test_the_field_of_a_first_layer_is_its_kernel(name: str, side: int, size: int) -> None:
    model, unit = weights.load(name), (2, side // 2, side // 2)
    kernel = receptive_field.layers_of(model)[0].weight[2, 0].abs()
    for _, digit in drawing.examples(side):
        (top, bottom), (left, right) = receptive_field.walk(model, digit[None])[0].box(unit)
        assert (bottom - top + 1, right - left + 1) == (size, size)
        result = receptive_field.measured_field(model, digit[None, None], 0, unit)
        assert torch.allclose(result[top : bottom + 1, left : right + 1], kernel, atol=1e-6)
        assert result.sum() == pytest.approx(float(kernel.sum()), rel=1e-5)


# --- The page ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("layer", "over"), [(0, "this input"), (8, "this input"), (8, "ten inputs"), (6, "paths")]
)
def test_trained_network(layer: int, over: str) -> None:
    """Box, count, share and spread of the strongest unit, and the prediction, computed again."""
    model = weights.load("cnn-digits")
    examples = drawing.examples(8)
    x = (examples[0][1] * 15).round()[None] / 15  # the pad keeps 16 levels
    layers = receptive_field.walk(model, x)
    kinds = [receptive_field.describe(m) for m in receptive_field.layers_of(model)]
    shown = [k for k, kind in enumerate(kinds) if kind not in ("flatten", "dropout")]
    label = f"{shown.index(layer) + 1} · {kinds[layer]}"
    page = opened(model="cnn-digits", layer=label, over=over)
    h = layers[layer].output
    unit = tuple(int(i) for i in torch.unravel_index(h.argmax(), h.shape))
    if over == "paths":
        result = layers[layer].support(unit)
    else:
        every = x[None] if over == "this input" else torch.stack([p for _, p in examples])[:, None]
        gradients = []
        for one in every:
            leaf = one[None].clone().requires_grad_()
            nn.Sequential(*list(model.layers)[: layer + 1])(leaf)[0][unit].backward()
            gradients.append(leaf.grad[0, 0].abs())
        result = torch.stack(gradients).mean(0)
    (top, bottom), (left, right) = layers[layer].box(unit)
    bar, (strip, _) = film(page, "column"), component(page, "machine")
    assert strip["numbers"][bar["at"]]["x"] == f"{bottom - top + 1}×{right - left + 1}"
    part = {0: ("convolution", "1 of 3"), 6: ("convolution", "2 of 3"), 8: ("convolution", "3 of 3")}[layer]
    assert strip["lit"][bar["at"]] == [part[0]] and strip["numbers"][bar["at"]][part[0]] == part[1]
    text = words(page)
    assert f"{int((result > 0).sum())} of 64 inputs count here" in text
    texts = bar["captions"][bar["at"]]
    assert texts.startswith(f"Unit {', '.join(map(str, unit))} of layer {label}: {float(h[unit]):.4f}.")
    box = layers[layer].field[1].box(unit[2], 8)
    assert rf"\to\; [{box[0]}, {box[1]}]" in text


def test_the_part_that_is_lit_follows_the_layer() -> None:
    model = weights.load("cnn-digits")
    x = drawing.examples(8)[0][1]
    results = [lens.part_of(lens.on_input(model, name, x, "3", None)) for name in bounds.layers(model)]
    convolutions = [[("convolution", f"{k} of 3")] * 3 for k in (1, 2, 3)]
    pools = [[("pool", f"{k} of 2")] for k in (1, 2)]
    assert results == [
        *convolutions[0],
        *pools[0],
        *convolutions[1],
        *pools[1],
        *convolutions[2],
        ("logits", ""),
    ]
    dense = weights.load("mlp-mnist1d")
    parts = [lens.part_of(lens.on_input(dense, name, None, "3", None))[0] for name in bounds.layers(dense)]
    assert parts == ["dense"] * (len(parts) - 1) + ["logits"]


@pytest.mark.parametrize("over", units.FIELDS)
def test_the_window_slides_along_a_row(over: str) -> None:
    """Every frame is the field and the box of its unit, each computed alone."""
    model = weights.load("cnn-digits")
    examples = drawing.examples(8)
    x = (examples[0][1] * 15).round()[None] / 15
    layers = receptive_field.walk(model, x)
    page = opened(model="cnn-digits", layer="3 · ReLU", over=over, channel=2, row=5, column=1)
    index = 2
    _, arrays = figure(page, "field")
    still, marks = figure(page, "map")
    bar = film(page, "column")
    assert bar["at"] == 1 and bar["count"] == layers[index].output.shape[2] == len(arrays["data.1.z"])
    every = torch.stack([p for _, p in examples])[:, None]
    for column in (0, 1, bar["count"] - 1):
        unit = (2, 5, column)
        if over == units.PATHS:
            result = layers[index].support(unit)
        else:
            result = receptive_field.measured_field(
                model, x[None] if over == units.ONE else every, index, unit
            )
        result = result / (result.max() or 1)
        assert np.allclose(arrays["data.1.z"][column], result, atol=1e-5)
        (top, bottom), (left, right) = layers[index].box(unit)
        drawn = [arrays[f"layout.shapes.0.{end}"][column] for end in ("y0", "y1", "x0", "x1")]
        assert drawn == [top - 0.5, bottom + 0.5, left - 0.5, right + 0.5]
        square = still["figure"]["layout"]["shapes"][0]
        assert [square[end] for end in ("y0", "y1")] == [4.5, 5.5]
        place = [marks[f"layout.shapes.0.{end}"][column] for end in ("x0", "x1")]
        assert place == [column - 0.5, column + 0.5]
        assert f"{float(layers[index].output[unit]):.4f}" in bar["captions"][column]


def test_own_stack_page() -> None:
    """The MNIST-1D network's field: sizes 3, 7, 15; the box of the middle unit; input 39 unseen."""
    page = open_page("convolution/own_stack", s1="2", s2="2", s3="2", cone="31,3")
    table = page.dataframe[0].value
    assert table["field r"].tolist() == [1, 3, 7, 15] and table["positions"].tolist() == [40, 19, 9, 4]
    assert table["step j"].tolist() == [1, 2, 4, 8]
    text = words(page)
    assert "layer 3, unit 3" in text and r"\to\; [24, 38]" in text
    assert metrics(page)["Inputs that count, of 40"] == "15"
    assert r"r_{3} &= 7 + 1\cdot(3 - 1)\cdot4 = 15" in text


def test_kernel_page() -> None:
    """The twelve-point signal as the page writes it, at the last step."""
    page = open_page("convolution/kernel", taps="-1 0.5 -0.2", step="2")
    bar = film(page)
    assert bar["at"] == 2 and bar["captions"][2] == "Output 2 reads 3 inputs."
    x, taps = [5.2, 5.3, 5.4, 5.1], [-1, 0.5, -0.2]
    assert (
        bar["count"] == 12
        and f"{sum(a * b for a, b in zip(x[1:], taps, strict=True)):.3f}"[1:] in (bar["equations"][2])
    )
    assert r"\left\lfloor \frac{12 + 2 - 1\cdot2 - 1}{1} \right\rfloor + 1 = 12" in words(page)
    _, arrays = component(page, "figure-matrix")
    assert arrays["layout.shapes.0.y0"].tolist() == [i - 0.5 for i in range(12)]


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"room": "own_stack", "k1": "9", "d1": "8"}, "does not fit"),
        ({"room": "kernel", "x": "one two"}, "no list of numbers"),
        ({"room": "kernel", "x": "1 2", "padding": "0"}, "does not fit"),
    ],
)
def test_bad_input_is_one_sentence(parameters: dict, sentence: str) -> None:
    page = open_warned(
        f"convolution/{parameters['room']}", **{k: v for k, v in parameters.items() if k != "room"}
    )
    assert len(page.warning) == 1 and sentence in page.warning[0].value
