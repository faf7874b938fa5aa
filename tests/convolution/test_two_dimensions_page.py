"""The page Convolution in two dimensions: sums by torch, weights by formula, what its scenes say."""

from itertools import product

import pytest
import torch
import torch.nn.functional as F
from opening import film, open_page, run_page
from torch import Tensor

from lab import experiments, weights
from lab.figures.moving import at
from lab.lenses import photographs
from lab.lenses.photographs import SIDE
from lab.ui.controls import drawing
from pages.convolution.two_dimensions import cheaper, figures, lens, words
from pages.convolution.two_dimensions.room import (
    AGAINST,
    FOR,
    GAUSS,
    KERNELS,
    MIXES,
    NETWORK,
    NOTHING,
    ONE,
    ROOM,
    SOBEL,
    THREE,
    TYPED,
)

SHELF = dict(photographs.shelf())


def kernels(view: str = ONE, source: str = SOBEL, omega: str = NOTHING, filter: int = 0) -> Tensor:
    of: object = weights.load(source) if source == NETWORK else source
    three = [lens.kernel(text) for text in (FOR, AGAINST, NOTHING)]
    return lens.kernels(view, of, lens.kernel(omega), filter, *three)  # type: ignore[arg-type]


def walked(view: str = ONE, photo: str = "flower", row: int = 21, **how: object) -> lens.Walked:
    given = {"kernels": kernels(view), "bias": 0.0, "relu": False, "stride": 1, "padding": 1, "dilation": 1}
    return lens.walked(view, SHELF[photo], row=row, **given | how)  # type: ignore[arg-type]


@pytest.mark.parametrize("s, p, d, view", [*product((1, 3), (0, 2), (1, 2), (ONE, THREE)), (4, 6, 4, ONE)])
def test_every_output_is_the_sum_of_its_patch(s: int, p: int, d: int, view: str) -> None:
    own = kernels(view, TYPED, "1 2 -3 4; 0.5 -1 2 1") if view == ONE else kernels(view)
    rows, columns = lens.grid(own, s, p, d)
    one = walked(view, row=rows - 1, kernels=own, bias=0.3, relu=True, stride=s, padding=p, dilation=d)
    expected = F.conv2d(one.x[None], own[None], None, s, p, d)[0, 0] + 0.3
    torch.testing.assert_close(one.output, expected.relu())
    assert one.output.shape == (rows, columns) and lens.last_row((rows, columns)) == rows - 1
    torch.testing.assert_close(one.products.sum((1, 2, 3)) + 0.3, expected[-1])
    torch.testing.assert_close(one.sums.sum(0) + 0.3, expected)
    for frame in (0, columns - 1):
        for k, (j, i) in enumerate(one.taps[frame].T.tolist()):
            inside = 0 <= i < SIDE and 0 <= j < SIDE
            value = one.x[0, i, j] if inside else torch.zeros((), dtype=torch.float64)
            assert one.patches[frame, 0].flatten()[k] == value
        left, right, top, bottom = one.boxes[frame].tolist()
        assert right - left == d * (own.shape[2] - 1) + 1 and bottom - top == d * (own.shape[1] - 1) + 1


def test_equations_have_the_numbers() -> None:
    one = walked()
    j = 8
    terms = [words.number(v) for v in one.products[j].flatten() if words.number(v) != "0.00"]
    said = one.equations[j].replace(" ", "")
    assert all(term.lstrip("-") in said for term in terms)
    assert said.endswith(f"={words.number(one.output[21, j])}")
    assert "3 of 9 are zeros" in one.captions[0] and "zeros" not in one.captions[1]
    both = walked(THREE, bias=-0.5, relu=True)
    assert r"\max(0," in both.equations[0] and "s_R + s_G + s_B" in both.equations[0]
    biased = walked(bias=0.5)
    assert "+ 0.5" in biased.equations[3] and r"+ \beta" in biased.equations[3]
    assert words.plus([-1.0, 2.0]) == "-1.00 + 2.00" and words.plus([1.0] * 20).count("1.00") == 5
    assert words.number(-0.001) == "0.00"


def test_scenes_say_what_is_so() -> None:
    sobel = walked()
    x, h = sobel.x[0], sobel.output
    rises = (x[21, 9] - x[21, 7]) > 0.2
    assert rises and h[21, 8] > 1 and float(h[21].min()) < -1
    assert torch.equal(walked(photo="digit").output[2], torch.zeros(SIDE, dtype=torch.float64))
    heart = walked(THREE).output
    i, j = divmod(int(heart.argmax()), SIDE)
    assert abs(i - 24) < 6 and abs(j - 22) < 6
    learned = walked(photo="digit", kernels=kernels(source=NETWORK), padding=2).output
    foot = learned[:, 24]
    assert float(foot[30:].max()) > 0.3 * float(learned.max()) and float(foot[30:].min()) < -0.3
    assert int(foot[28:].argmax()) < int(foot[28:].argmin())
    blurred = walked(photo="temple", kernels=kernels(source=GAUSS)).output[1:-1, 1:-1]
    assert float(blurred.std()) < float(walked(photo="temple").x.std())
    state = ROOM.scenes["Stride and dilation"].state
    assert lens.grid(kernels(), state.stride, state.padding, state.dilation) == (24, 24)


def test_kernels_of_the_list() -> None:
    identity = walked(kernels=kernels(source="Identity"))
    torch.testing.assert_close(identity.output, identity.x[0])
    ranks = {name: lens.rank(lens.kernel(text)) for name, text in KERNELS.items()}
    assert ranks[GAUSS] == ranks[SOBEL] == ranks["Blur 5×5"] == 1 and ranks["Random"] == 3
    assert "6 products for 9" in words.rank_words(1, torch.Size([3, 3]))
    assert words.rank_words(0, torch.Size([3, 3])) == "" and "rank is 2" in words.rank_words(
        2, torch.Size([3, 3])
    )
    assert lens.is_light(walked(kernels=kernels(source=GAUSS)), 0.0) and not lens.is_light(walked(), 0.0)
    admitted = [e.name for e in experiments.catalog().values() if lens.fits(e)]
    assert {"cnn-mnist", "lenet-mnist", "cnn-digits"} <= set(admitted) and "cnn-mnist1d" not in admitted
    model = weights.load("lenet-mnist")
    assert lens.last_filter(model) == 9 and lens.last_filter(SOBEL) == 0 and lens.is_network("lenet-mnist")  # type: ignore[arg-type]
    first = model.layers[1].weight.double()  # type: ignore[union-attr, index]
    torch.testing.assert_close(lens.learned(model)[3], first[3, 0].detach())  # type: ignore[arg-type]


@pytest.mark.parametrize("mix", MIXES.values())
def test_one_by_one_is_a_matrix_at_every_pixel(mix: str) -> None:
    M = lens.matrix(mix)
    one = lens.mixed(SHELF["flower"], M, 0.1, False, 3)
    torch.testing.assert_close(one.y.flatten(1), M @ one.x.flatten(1) + 0.1)
    assert f"= {words.number(one.y[0, 3, 4])}" in one.equations[4] and "+ 0.1" in one.equations[4]
    shuffle = torch.randperm(SIDE * SIDE, generator=torch.Generator().manual_seed(0))
    shuffled = SHELF["flower"].flatten(1)[:, shuffle].view(3, SIDE, SIDE)
    moved = lens.mixed(shuffled, M, 0.1, True, 3).y.flatten(1)
    torch.testing.assert_close(moved, one.y.relu().flatten(1)[:, shuffle])
    tree = at(figures.mixing(one), 4)
    assert tree.data[-1].z == pytest.approx((M * one.x[:, 3, 4]).numpy())
    grey = lens.mixed(SHELF["temple"], lens.matrix(MIXES["Grey"]), 0.0, False, 0).y[0]
    torch.testing.assert_close(grey, photographs.luminance(SHELF["temple"]))


@pytest.mark.parametrize("C, G, K", [(8, 4, 3), (4, 1, 5), (6, 3, 1), (2, 2, 3)])
def test_kinds_have_as_many_weights_as_their_formulas(C: int, G: int, K: int) -> None:
    kinds = cheaper.kinds(C, G, K, 0)
    counts = [C * C * K * K, C * C, C * C * K * K // G, C * K * K, C * (C + 2 * K), C * K * K + C * C]
    assert [kind.parameters for kind in kinds] == counts and G in cheaper.divisors(C)
    equation = words.weights_equation(kinds, C, G, K)
    assert all(f"= {count}" in equation for count in counts)
    for kind in kinds[:4]:
        assert int(kind.weight.isfinite().sum()) == kind.parameters
    grouped = kinds[2].weight.isfinite().any(3).any(2)
    assert torch.equal(grouped, torch.block_diag(*[torch.ones(C // G, C // G)] * G).bool())
    for o in range(C):  # of rank one the blocks of a row are multiples of one kernel, then of a column
        assert lens.rank(kinds[4].weight[o].flatten(1)) == 1
        assert lens.rank(kinds[5].weight[:, o].flatten(1)) == 1
    assert kinds[0].blocks.shape == (C * K, C * K)
    assert kinds[0].blocks[K : 2 * K, :K] == pytest.approx(
        kinds[0].weight[1, 0] / kinds[0].weight.abs().max()
    )
    assert len(at(figures.blocks(kinds, C), 0).data) == 6


def test_a_frame_of_the_film() -> None:
    one = walked(dilation=2, padding=2)
    fig = at(figures.single(one, False), 5)
    shapes = [(s.x0, s.x1, s.y0, s.y1) for s in fig.layout.shapes]
    assert shapes == [(2.5, 7.5, 18.5, 23.5), (4.5, 5.5, 20.5, 21.5)]
    assert sorted(set(fig.data[1].x)) == [3, 5, 7]
    assert len(at(figures.channels(walked(THREE), False), 0).data) == 11
    assert film(open_page("convolution/two_dimensions"), "column")["count"] == SIDE


def test_an_own_picture_and_kernel() -> None:
    own = torch.rand(3, SIDE, SIDE, generator=torch.Generator().manual_seed(1))
    page = open_page(
        "convolution/two_dimensions", source=TYPED, omega="1 2 3 2 1", photo=drawing.ink(own), row=0, stride=4
    )
    assert film(page, "column")["count"] == lens.grid(lens.kernel("1 2 3 2 1")[None], 4, 1, 1)[1]


@pytest.mark.parametrize(
    "given, says",
    [({"omega": "1 2; 3"}, "rows"), ({"omega": "🦊"}, "no number"), ({"omega": ""}, "rows"),
     ({"omega": "1e9"}, "no number"), ({"view": THREE, "red": "1"}, "same sides"),
     ({"view": "1×1", "mix": "1 2; 3 4"}, "one or three rows"), ({"photo": "rgb.AAAA"}, "cannot be read"),
     ({"photo": "ink.AAAA"}, "cannot be read"),
     ({"omega": "1 1 1 1 1 1 1; " * 6 + "1 1 1 1 1 1 1", "dilation": 4, "stride": 4, "padding": 0}, "")],
)  # fmt: skip
def test_bad_input_gets_a_sentence(given: dict, says: str) -> None:
    page = run_page("convolution/two_dimensions", **{"source": TYPED, **given})
    assert not page.exception
    assert says in " ".join(block.value for block in (*page.error, *page.warning, *page.info))
