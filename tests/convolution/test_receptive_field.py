"""Receptive fields: the formula, exact sets of inputs, and that no gradient ever leaves them."""

import math
import random
from functools import partial
from itertools import pairwise

import contracts
import pytest
import torch
from torch import Tensor, nn
from torch_geometric.utils import k_hop_subgraph

from lab.errors import UserError
from lab.lenses import receptive_field as lens
from lab.lenses.receptive_field import Field, Window
from modules.autoregressive.made import MADE
from modules.convolution.cnn1d import CNN1d
from modules.convolution.cnn2d import CNN2d
from modules.convolution.mlp import MLP
from modules.graph.gcn import GCN
from modules.transformer.gpt import GPT


def sizes(*settings: Window) -> list[int]:
    return [field.size for field in lens.fields(settings)[1:]]


def same(k: int, layers: int, **settings: int) -> list[Window]:
    return [Window(k, **settings)] * layers


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def every_unit(shape: torch.Size) -> list[tuple[int, ...]]:
    return torch.cartesian_prod(*(torch.arange(n) for n in shape)).reshape(-1, len(shape)).tolist()


def assert_inside(model: nn.Module, x: Tensor, units: int | None = None, seed: int = 0) -> int:
    """Of every layer's units (or some), the gradient is exactly 0 wherever theory says so, and the box of
    the formula holds the exact set. Returns how many units were looked at."""
    result = 0
    for index, layer in enumerate(lens.walk(model, x)):
        chosen = every_unit(layer.output.shape)
        if units is not None:
            chosen = random.Random(seed).sample(chosen, min(units, len(chosen)))
        for unit in map(tuple, chosen):
            measured_field = lens.measured_field(model, x[None], index, unit)
            allowed = layer.support(unit) > 0
            assert not (measured_field > 0)[~allowed].any(), (
                f"{layer.name} {unit} is moved by inputs out of its reach"
            )
            box = layer.box(unit)
            if box is None:
                assert not allowed.any()
            else:
                cut = tuple(slice(a, b + 1) for a, b in box)
                assert allowed[cut].sum() == allowed.sum() and allowed[cut].any()
                for axis, (first, last) in enumerate(box):  # the box is tight
                    across = [a for a in range(allowed.ndim) if a != axis]
                    line = allowed.any(across[0]) if across else allowed
                    assert line[first] and line[last]
            if layer.field is not None:
                sites = zip(layer.field, layer.site(unit), x.shape[1:], strict=True)
                formula = [f.box(i, n) for f, i, n in sites]
                for tight, wide in zip(box or [], formula, strict=bool(box)):
                    assert wide is not None and wide[0] <= tight[0] <= tight[1] <= wide[1]
            result += 1
    return result


# --- The formula -------------------------------------------------------------------------------


def test_fields_of_the_text() -> None:
    """Sizes that the text's exercises and examples print."""
    assert sizes(*same(3, 3)) == [3, 5, 7]  # P10.9
    assert sizes(*same(7, 3)) == [7, 13, 19]  # P10.10
    assert sizes(Window(3, 2), Window(3, 2), Window(3, 2)) == [3, 7, 15]  # MNIST-1D
    assert sizes(*(Window(3, 1, d) for d in (1, 2, 4, 8, 16))) == [3, 7, 15, 31, 63]
    assert sizes(Window(5, 2), Window(3), Window(5, 1, 2)) == [5, 9, 25]  # P10.11


def test_strides_of_figure_10_6() -> None:
    """The third layer's stride leaves its own field at 7 and makes the fourth 11; else 9."""
    assert sizes(Window(3), Window(3), Window(3, 2), Window(3)) == [3, 5, 7, 11]
    assert sizes(*same(3, 4)) == [3, 5, 7, 9]


def test_alexnet_and_vgg() -> None:
    """The pool of AlexNet decides between 51 and 47; VGG-16 ends at 212, VGG-19 at 268."""
    for pool, expected in ((Window(3, 2), [11, 19, 51, 67, 99]), (Window(2, 2), [11, 15, 47, 55, 87])):
        assert sizes(Window(11, 4), pool, Window(5, padding=2), pool, Window(3, padding=1)) == expected
    for convolutions, expected in (((2, 2, 3, 3, 3), 212), ((2, 2, 4, 4, 4), 268)):
        stack = [w for n in convolutions for w in [*same(3, n, padding=1), Window(2, 2)]]
        assert sizes(*stack)[-1] == expected


def test_where_a_field_lies() -> None:
    """P10.4: K = 7, d = 3, s = 3 around 1-based x_{3i+3j−8}: unit 1 reads −2, 1, 4, 7, 10, 13, 16."""
    window = Window(7, 3, 3, 3)
    taps = window.stride * 0 - window.padding + torch.arange(7) * window.dilation + 1
    assert taps.tolist() == [-2, 1, 4, 7, 10, 13, 16]
    field = Field().after(window)
    assert field == Field(size=19, jump=3, start=-3)
    assert field.box(0) == (-3, 15) and field.box(0, 12) == (0, 11) and field.box(9, 12) is None


def test_every_window_against_the_loop() -> None:
    """Matrix, number of outputs and taps for all n ≤ 12, K ≤ 5, s ≤ 3, d ≤ 3, p ≤ 3."""
    cases = 0
    for n in range(1, 13):
        for k in range(1, 6):
            for s in range(1, 4):
                for d in range(1, 4):
                    for p in range(4):
                        if n + 2 * p < d * (k - 1) + 1:
                            continue
                        rows = [
                            [s * i + d * tap - p for tap in range(k)]
                            for i in range(n + 2 * p)
                            if s * i + d * (k - 1) < n + 2 * p
                        ]
                        layer = nn.Conv1d(1, 1, k, s, p, d, dtype=torch.float64)
                        outputs = layer(torch.zeros(1, 1, n, dtype=torch.float64)).shape[-1]
                        assert outputs == len(rows) == (n + 2 * p - d * (k - 1) - 1) // s + 1
                        (matrix,) = lens.connectivity(layer, [n], [outputs])
                        expected = [[float(j in row) for j in range(n)] for row in rows]
                        assert matrix.tolist() == expected
                        cases += 1
    assert cases > 1000


@pytest.mark.parametrize("bad", [{"kernel": 0}, {"stride": 0}, {"dilation": 0}, {"padding": -1}])
def test_bad_windows(bad: dict) -> None:
    with pytest.raises(ValueError, match="start at 1"):
        Window(**bad)


# --- Numbers of paths --------------------------------------------------------------------------


def ones(*settings: Window) -> nn.Sequential:
    """Convolutions with all weights 1 and no ReLU: a gradient is a number of paths."""
    chain = nn.Sequential(*(nn.Conv1d(1, 1, w.kernel, w.stride, w.padding, w.dilation) for w in settings))
    for layer in chain:
        nn.init.ones_(layer.weight)
    return chain.double()


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (same(3, 3), [1, 3, 6, 7, 6, 3, 1]),
        (same(3, 5), [1, 5, 15, 30, 45, 51, 45, 30, 15, 5, 1]),
        (same(3, 3, stride=2), [1, 1, 2, 1, 3, 2, 3, 1, 3, 2, 3, 1, 2, 1, 1]),
        (same(3, 2, dilation=2), [1, 0, 2, 0, 3, 0, 2, 0, 1]),
    ],
)
def test_paths(settings: list[Window], expected: list[int]) -> None:
    """Counted by matrices and measured by gradient."""
    chain, x = ones(*settings), draw(1, 40)
    last = lens.walk(chain, x)[-1]
    start = last.field[0].box(1)[0]
    for result in (last.support((0, 1)), lens.measured_field(chain, x[None], len(chain) - 1, (0, 1))):
        assert result[start : start + len(expected)].tolist() == expected
        assert result.sum() == sum(expected)
    if settings[0].stride == settings[0].dilation == 1:  # variance L (K² − 1) / 12: grows as √L
        (deviation,) = lens.spread(last.support((0, 1)))
        assert deviation**2 == pytest.approx(len(settings) * (3**2 - 1) / 12, abs=1e-12)


def test_gridding_leaves_holes() -> None:
    """Two K = 3, d = 2 layers: a box of 9 inputs, 5 of them reached."""
    last = lens.walk(ones(*same(3, 2, dilation=2)), draw(1, 12))[-1]
    assert last.box((0, 0)) == [(0, 8)] and int((last.support((0, 0)) > 0).sum()) == 5


# --- Theory contains what is measured ------------------------------------------------------------


def random_stack(rng: random.Random, axes: int) -> tuple[nn.Sequential, Tensor]:
    """Two to four layers of any kind on one small input."""
    n = rng.randint(10, 16) if axes == 1 else rng.randint(7, 9)
    conv, pool, mean, up, batch = (
        (nn.Conv1d, nn.MaxPool1d, nn.AvgPool1d, nn.ConvTranspose1d, nn.BatchNorm1d) if axes == 1
        else (nn.Conv2d, nn.MaxPool2d, nn.AvgPool2d, nn.ConvTranspose2d, nn.BatchNorm2d)
    )  # fmt: skip
    while True:
        layers: list[nn.Module] = []
        c = 2
        for _ in range(rng.randint(2, 4)):
            kind = rng.choice(["conv", "conv", "conv", "same", "pool", "mean", "up", "nearest", "act"])
            k, s, d = rng.randint(1, 3), rng.randint(1, 2), rng.randint(1, 2)
            mode = rng.choice(["zeros", "zeros", "circular", "reflect", "replicate"])
            if kind == "conv":
                p = rng.randint(0, 2)
                layers.append(conv(c, 2, k, s, p, d, groups=rng.choice([1, 2]), padding_mode=mode))
            elif kind == "same":
                layers.append(conv(c, 2, k, 1, "same", d))
            elif kind == "pool":
                layers.append(pool(k, s, k // 2, d, ceil_mode=rng.random() < 0.5))
            elif kind == "mean":
                layers.append(mean(k, s, k // 2))
            elif kind == "up":
                layers.append(up(c, 2, k, s, 0, rng.randint(0, s - 1), dilation=d))
            elif kind == "nearest":
                layers.append(nn.Upsample(scale_factor=2))
            else:
                layers += [batch(c), rng.choice([nn.ReLU(), nn.Tanh(), nn.Dropout()])]
            c = 2
        chain = nn.Sequential(*layers).double().eval()
        x = draw(2, *[n] * axes, seed=rng.randrange(10**6))
        try:
            shape = chain(x[None]).shape
        except RuntimeError:  # does not fit: draw another
            continue
        if 0 < math.prod(shape) < 600:
            return chain, x


@pytest.mark.parametrize("axes", [1, 2])
def test_theory_contains_the_measured_field(axes: int) -> None:
    """Sizes by gradient, over random stacks: convolutions, poolings, up-samplings, any padding."""
    rng = random.Random(axes)
    result = 0
    for case in range(60):
        chain, x = random_stack(rng, axes)
        result += assert_inside(chain, x, units=6, seed=case)
    assert result > 500


def test_dense_theory_is_reached() -> None:
    """Equality where nothing can cancel: positive weights, no ReLU, d = 1; so theory is not too wide."""
    rng = random.Random(0)
    for _ in range(40):
        settings = [Window(rng.randint(1, 4), rng.randint(1, 3), 1, rng.randint(0, 2)) for _ in range(3)]
        chain, x = ones(*settings), draw(1, 40)
        for index, layer in enumerate(lens.walk(chain, x)):
            for i in range(layer.output.shape[1]):
                measured_field = lens.measured_field(chain, x[None], index, (0, i))
                assert torch.equal(measured_field, layer.support((0, i)))


@pytest.mark.parametrize(
    "model",
    [CNN1d(), CNN1d(channels=[25] * 3, kernel_sizes=[5, 3, 3], paddings=[1], dropout=0.2), MLP(),
     CNN2d(kernel_sizes=[5, 3, 3]), CNN2d(image_shape=(1, 8, 8))],
    ids=["text", "benchmark", "MLP", "28×28", "8×8"],
)  # fmt: skip
def test_of_the_trained_architectures(model: nn.Module) -> None:
    model = contracts.exact(model)
    assert_inside(model, draw(*model.hparams["image_shape"]), units=5)


def test_the_last_input_reaches_nothing() -> None:
    """Unit i of layer 3 sees inputs 8i … 8i + 14; input 39 moves no logit, all others do."""
    model, x = contracts.exact(CNN1d()), draw(1, 40)
    layers = lens.walk(model, x)
    third = layers[4]
    assert [third.box((0, i)) for i in range(4)] == [[(8 * i, 8 * i + 14)] for i in range(4)]
    assert layers[-1].box((0,)) == [(0, 38)]
    batch = torch.cat([draw(1, 1, 40, seed=s) for s in range(20)])
    result = torch.stack([lens.measured_field(model, batch, len(layers) - 1, (k,)) for k in range(10)]).sum(0)
    assert result[39] == 0 and (result[:39] > 0).all()


def test_flattened_units_keep_their_place() -> None:
    """Unit 17 of the flattened 15 × 4 layer is channel 4, position 1."""
    layers = lens.walk(CNN1d().eval(), draw(1, 40).float())
    flat, third = layers[6], layers[5]
    assert flat.site((17,)) == (1,) and flat.box((17,)) == third.box((4, 1)) == [(8, 22)]
    assert flat.output[17] == third.output[4, 1]


def test_branches_add() -> None:
    """A skip around two convolutions: the union of both, in numbers of paths."""
    block = ones(*same(3, 2, padding=1))
    x = draw(1, 9)
    branch = lens.compose(*(lens.connectivity(layer, [9], [9])[0] for layer in block))
    both = lens.union(torch.eye(9), branch)
    result = torch.stack([lens.measured(lambda v: v + block(v[None])[0], x, (0, i))[0] for i in range(9)])
    assert torch.equal(result, both) and both[4].tolist() == [0, 0, 1, 2, 4, 2, 1, 0, 0]


# --- Other families ------------------------------------------------------------------------------


def logits_of(model: MADE, x: Tensor) -> Tensor:
    return model(x[None], model.masks())[0]


def test_masks_of_made() -> None:
    """Product of the masks, plus the direct edges: no gradient outside, for any order."""
    for seed, direct in ((0, True), (1, False), (2, True)):
        model = contracts.exact(MADE(event_shape=(6,), hidden=[9, 7], direct=direct, seed=seed), seed=seed)
        *masks, last = model.masks()
        layers = [*masks, last] if not direct else masks
        theory = lens.compose(*(m.double() for m in layers))
        theory = lens.union(theory, last.double()) if direct else theory
        x, reached = draw(6, seed=seed), torch.zeros(6, 6, dtype=torch.bool)
        for i in range(6):
            result = lens.measured(partial(logits_of, model), x, i)
            assert not result[theory[i] == 0].any()
            reached[i] = result > 0
        assert reached.any() and not reached.diagonal().any()


def test_causal_attention() -> None:
    """Row t of a GPT hears tokens 0 … t: the lower triangle, composed over layers."""
    model = contracts.exact(GPT(vocab_size=7, context=6, layers=2, heads=2, width=8), scale=0.3)
    tokens = torch.tensor([1, 4, 2, 0, 6, 3])
    vectors = model.embedding(tokens).detach()
    mask = torch.ones(6, 6).tril()
    theory = lens.compose(*[lens.union(torch.eye(6), mask)] * 2) > 0

    def logits(v: Tensor) -> Tensor:
        handle = model.embedding.register_forward_hook(lambda *_: v[None])
        try:
            return model(tokens[None])[0]
        finally:
            handle.remove()

    for t in range(6):
        heard = lens.measured(logits, vectors, (t, 3)).amax(1) > 0
        assert torch.equal(heard, theory[t])


def test_hops_of_a_graph() -> None:
    """k layers hear the nodes within k hops, along the edges' direction."""
    edge_index = torch.tensor([[0, 1, 2, 3, 4, 2, 5], [1, 2, 3, 4, 5, 1, 6]])
    model = contracts.exact(GCN(3, 4, [5, 5]), scale=1.0)
    x = draw(8, 3)
    theory, result = lens.hops(edge_index, 8, len(model.layers)), 0
    for node in range(8):
        within = k_hop_subgraph(node, len(model.layers), edge_index, num_nodes=8)[0]
        assert (theory[node] > 0).nonzero().flatten().tolist() == within.tolist()
        total = sum(lens.measured(lambda v: model(v, edge_index), x, (node, c)) for c in range(4))
        assert not total[theory[node] == 0].any()
        result += int((total.sum(1) > 0).sum())
    assert result > 12  # some ReLUs are shut


# --- Measuring -----------------------------------------------------------------------------------


def test_measured_is_the_gradient() -> None:
    x = draw(4)
    result = lens.measured(lambda v: (v**2 * torch.tensor([1.0, -2.0, 0.0, 3.0])).cumsum(0), x, 3)
    assert torch.allclose(result, (2 * x * torch.tensor([1.0, -2.0, 0.0, 3.0])).abs(), atol=1e-14)
    assert not x.requires_grad
    assert not lens.measured(lambda v: torch.ones(3), x, 1).any()  # a constant hears nothing
    with pytest.raises(ValueError, match="single one"):
        lens.measured(lambda v: v[:2], x, slice(None))
    with torch.inference_mode():
        assert lens.measured(lambda v: v.sum()[None], x, 0).tolist() == [1, 1, 1, 1]


def test_effective_field_is_the_mean_over_inputs() -> None:
    model = contracts.exact(CNN2d(image_shape=(2, 8, 8)))
    x = draw(5, 2, 8, 8)
    unit = (3, 1, 2)  # of the second block's norm, which is never shut
    each = torch.stack([lens.measured_field(model, one[None], 5, unit) for one in x])
    assert torch.allclose(lens.measured_field(model, x, 5, unit), each.mean(0), atol=1e-14)
    alone = lens.measured(lambda v: model.layers[:6](v[None])[0], x[0], unit)
    assert torch.allclose(each[0], alone.amax(0), atol=1e-14) and alone.any()


def test_spread_and_share() -> None:
    assert lens.spread(torch.tensor([0.0, 1.0, 0.0, 1.0])) == [1.0]
    assert lens.spread(torch.zeros(3, 2)) == [0.0, 0.0]
    assert lens.spread(torch.eye(3))[0] == pytest.approx((2 / 3) ** 0.5)
    assert lens.half_held(torch.tensor([1.0, 3.0, 0.0, 2.0])) == 1
    assert lens.half_held(torch.ones(10)) == 5 and lens.half_held(torch.zeros(4)) == 0
    assert [lens.shares(1, 11), lens.shares(2, 11), lens.shares(4, 11)] == [
        "less than a tenth", "a tenth to a third", "more than a third"]  # fmt: skip


def test_what_is_not_known_is_said() -> None:
    with pytest.raises(ValueError, match="register"):
        lens.walk(nn.Sequential(nn.LayerNorm(4)), draw(1, 4).float())
    with pytest.raises(ValueError, match="no chain"):
        lens.layers_of(nn.Linear(2, 2))
    with pytest.raises(UserError, match="does not fit"):
        lens.walk(ones(Window(9)), draw(1, 4))
    layer = lens.walk(ones(Window(3)), draw(1, 8))[0]
    for unit in ((0, 6), (1, 0), (0,)):
        with pytest.raises(ValueError, match="no unit"):
            layer.box(unit)


def test_the_cone_is_the_field() -> None:
    """The picture's lit inputs are the support; a unit stands over the middle of its field."""
    settings = [Window(3, 2, 1, 1), Window(3, 1, 2, 2), Window(2)]
    chain = ones(*settings)
    layers = lens.walk(chain, draw(1, 20))
    for level, layer in enumerate(layers, 1):
        for unit in range(layer.output.shape[1]):
            cone = lens.cone(layers, level, unit)
            assert torch.equal(cone.lit[0], layer.support((0, unit)) > 0)
            first, last = layer.field[0].box(unit)
            assert cone.centres[level][unit] == (first + last) / 2
            assert not any(row.any() for row in cone.lit[level + 1 :])
    assert cone.padding == [[-1.0, 20.0], [-4.0, -2.0, 20.0, 22.0], [], []]
    for below, above, edges in zip(cone.centres, cone.centres[1:], cone.edges, strict=False):
        assert edges.shape == (len(above), len(below))
    with pytest.raises(ValueError, match="no unit"):
        lens.cone(layers, 3, 99)


def test_numbers_of_the_box_equation() -> None:
    """The page's box, read back from its LaTeX."""
    layers = lens.walk(CNN2d(kernel_sizes=[5, 3, 3]).eval(), draw(1, 28, 28).float())
    latex, note = lens.field_equation(layers[8], (0, 3, 1))
    assert latex.endswith(r"[-8 + 1\cdot4,\; -8 + 1\cdot4 + 20 - 1] = [-4, 15] \;\to\; [0, 15]")
    assert "r = 20" in note and "j = 4" in note
    assert layers[8].box((0, 3, 1)) == [(4, 23), (0, 15)]
    assert lens.field_equation(layers[-1], (0,)) is None


def test_numbers_of_the_growth_equation() -> None:
    settings = [Window(3, 2, 1, 1), Window(5, 1, 2, 0)]
    latex = lens.growth(settings)
    assert r"r_{1} &= 1 + 1\cdot(3 - 1)\cdot1 = 3" in latex and r"o_{1} &= 0 - 1\cdot1 = -1" in latex
    assert r"r_{2} &= 3 + 2\cdot(5 - 1)\cdot2 = 19" in latex and r"j_{2} &= 1\cdot2 = 2" in latex
    assert [b.size - a.size for a, b in pairwise(lens.fields(settings))] == [2, 16]
