"""The page Down and up: values by torch, what is lit by changing inputs, coverage by counting, scenes."""

from itertools import product

import pytest
import torch
import torch.nn.functional as F
from opening import film, open_page, run_page
from torch import Tensor

from lab.figures.moving import at
from pages.convolution.down_up import figures, lens, levels, room, words, writing
from pages.convolution.down_up.room import ROOM

WORKED = lens.typed(room.WORKED)
LINEAR, SMOOTH = lens.kernel(room.LINEAR), lens.kernel(room.SMOOTH)
STEADY = [way for way in room.DOWN if way != room.STOCHASTIC]  # another draw comes of other numbers


def path(x: Tensor = WORKED, down: str = room.MAX, up: str = room.UNPOOL, **other: object) -> lens.Shown:
    given = {
        "source": room.NUMBERS, "x": x, "digit": None, "down": down, "size": 2, "power": 2, "form": room.SUM,
        "seed": 0, "smooth": SMOOTH, "times": 1, "up": up, "grid": room.HALF, "taps": LINEAR,
    }  # fmt: skip
    return lens.passed(**given | other)  # type: ignore[arg-type]


def draw(*shape: int) -> Tensor:
    return torch.rand(shape, generator=torch.Generator().manual_seed(3), dtype=torch.float64)


@pytest.mark.parametrize("down, up, times", [*product(STEADY, room.UP, (1,)), (room.BLUR, room.BILINEAR, 2)])
def test_what_is_lit_is_what_matters(down: str, up: str, times: int) -> None:
    """An input outside of the frame never changes the cell; where all is linear, the frame is no larger."""
    S = 4 * times
    x = draw(S, S) + 0.1
    one = path(x, down, up, times=times)
    inside = torch.zeros(S * S, S, S, dtype=torch.bool)
    for frame, (left, right, top, bottom) in enumerate((one.panels[0].boxes + 0.5).int().tolist()):
        inside[frame, max(top, 0) : max(bottom, 0), max(left, 0) : max(right, 0)] = True
    moved = torch.zeros_like(inside)
    for i, j in product(range(S), repeat=2):
        other = x.clone()
        other[i, j] += 5.0
        change = path(other, down, up, times=times).last - one.last
        moved[:, i, j] = change.abs().flatten() > 1e-9
    unstored = down == room.MAX and up == room.UNPOOL  # a new maximum is stored at another place
    assert unstored or not (moved & ~inside).any()
    if down not in (room.MAX, room.BLUR):
        assert torch.equal(levels.boxes(moved), one.panels[0].boxes)


def test_values_are_those_of_torch() -> None:
    x = draw(6, 9)
    grid = x[None, None]
    z = F.max_pool2d(grid, 3)
    assert path(x, size=3, up=room.NEAREST).last == pytest.approx(F.interpolate(z, scale_factor=3)[0, 0])
    half = F.interpolate(z, scale_factor=3, mode="bilinear", align_corners=False)[0, 0]
    assert path(x, size=3, up=room.BILINEAR).last == pytest.approx(half)
    ends = F.interpolate(z, scale_factor=3, mode="bilinear", align_corners=True)[0, 0]
    assert path(x, size=3, up=room.BILINEAR, grid=room.CORNERS).last == pytest.approx(ends)
    strided = F.conv2d(grid, levels.square(SMOOTH), stride=2, padding=1)
    y = F.conv_transpose2d(strided, levels.square(LINEAR), stride=2, padding=1)[0, 0]
    assert path(x, room.STRIDED, room.TRANSPOSED).last == pytest.approx(y)


@pytest.mark.parametrize("count, size", [*product(range(1, 7), (2, 3, 4)), (1, 1), (3, 1), (5, 1)])
def test_pixel_shuffle_is_the_transposed_convolution(count: int, size: int) -> None:
    z, taps = draw(3, 2), draw(count) - 0.5
    padding, more = levels.fit(count, size)
    y = F.conv_transpose2d(z[None, None], levels.square(taps), None, size, padding, more)
    assert y.shape[2:] == (3 * size, 2 * size)
    shuffled = F.pixel_shuffle(levels.phases(z, taps, size)[None], size)
    torch.testing.assert_close(shuffled, y, rtol=0, atol=1e-12)


def test_odd_sides_and_many_steps() -> None:
    five = draw(5, 5)
    one = path(five)
    assert one.last.shape == (5, 5) and set(one.last.flatten().tolist()) <= {0.0, *five.flatten().tolist()}
    assert path(five, up=room.NEAREST).last.shape == (4, 4)
    deep = path(draw(8, 8), room.MEAN, room.NEAREST, times=3)
    assert deep.last == pytest.approx(torch.full((8, 8), float(deep.first.mean())))
    assert [tuple(p.values.shape) for p in deep.panels] == [(s, s) for s in (8, 4, 2, 1, 8, 4, 2, 8)]
    alone = path(torch.ones(1, 1), size=1)
    assert alone.last.tolist() == [[1]]


@pytest.mark.parametrize("count, stride", product((1, 2, 3, 4, 5), (1, 2, 3)))
def test_outputs_are_written_as_often_as_counted(count: int, stride: int) -> None:
    x = draw(6)
    one = writing.written(x, draw(count), stride, 0, 0)
    counts = [0] * one.sums.shape[1]
    for place in one.places.flatten().tolist():
        counts[place] += 1
    assert one.counts.tolist() == counts
    if count >= stride:
        assert (len(writing.inner(one.counts, count)) == 1) == (count % stride == 0)


def test_writing_is_the_transpose() -> None:
    one = writing.written(lens.signal("1 10 100"), lens.kernel("1 2 3"), 2, 1, 1)
    assert one.sums[-1].tolist() == [2, 13, 20, 130, 200, 300]
    torch.testing.assert_close(one.matrix.T @ one.x, one.sums[-1])
    for i, row in enumerate(one.matrix):
        inside = [place for place in one.places[i].tolist() if 0 <= place < 6]
        assert inside == row.nonzero().flatten().tolist()
        torch.testing.assert_close(row * one.x[i], one.sums[i] - (one.sums[i - 1] if i else 0))
    assert (
        "= 6" in writing.size_equation(one)
        and "10\\cdot(1, 2, 3) = (10, 20, 30)" in writing.equations(one)[1]
    )
    assert len(writing.written(torch.ones(4), torch.ones(3), 2, 1, 0).counts) == 7  # 2n − 1


def test_scenes_say_what_is_so() -> None:
    assert path().last.tolist() == [[0, 0, 0, 0], [6, 0, 0, 8], [0, 0, 0, 4], [0, 8, 0, 0]]
    three = lens.pooled(room.NUMBERS, WORKED, None, 2, 2, room.AVERAGE)
    assert three.captions[0].startswith("Block 0, 0: subsampling 1, mean 3, L2 mean 3.54, maximum 6")
    five = lens.filled(room.NUMBERS, WORKED, None, room.MAX, 2, 2, room.SUM, 0, SMOOTH, LINEAR)
    rows = [panel.values[0].tolist() for panel in five.panels[3:]]
    assert rows[0] == [6, 6.5, 7.5, 8] and rows[2] == [6, 7, 8, 4]
    assert rows[1] == pytest.approx([6, 20 / 3, 22 / 3, 8])
    for scene, counts in (("Checkerboard", [1, 2]), ("K = 4", [2])):
        state = ROOM.scenes[scene].state
        one = writing.written(lens.signal(state.signal), lens.kernel(state.taps), 2, 0, 0)
        assert writing.inner(one.counts, len(one.taps)) == counts
    film(open_page("convolution/down_up", scene="2n − 1"))
    assert "7 outputs, not 8" in ROOM.scenes["2n − 1"].sees


def test_sums_are_written_out() -> None:
    weights = torch.tensor([0.5, 0.0, 0.5], dtype=torch.float64)
    said = words.terms(weights, torch.ones(1), torch.tensor([[2.0], [9.0], [-3.0]]))
    assert said == r"0.5\cdot 2+0.5\cdot -3"
    assert words.listed(torch.arange(12.0), "+") == r"0+1+2+\ldots+11"
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64)
    for form, total in ((room.SUM, 4.3376131), (room.AVERAGE, 3.0671557)):
        level = levels.reduced(x, room.POWER, 2, 4, form, 0, SMOOTH)
        assert float(level.values) == pytest.approx(total, abs=1e-7)
        assert words.power_equation(x.flatten(), 4, form, level.values).endswith(f"= {total:.3g}")


def test_the_frame_of_a_cell_is_drawn() -> None:
    fig = at(figures.panels(path(), False), 4)
    assert [[s.x0, s.x1, s.y0, s.y1] for s in fig.layout.shapes] == [
        [-0.5, 1.5, -0.5, 1.5], [-0.5, 0.5, -0.5, 0.5], [-0.5, 0.5, 0.5, 1.5],
    ]  # fmt: skip
    assert film(open_page("convolution/down_up"), "cell")["count"] == 16


@pytest.mark.parametrize(
    "given, says",
    [({"x": "1 2; 3"}, "rows"), ({"x": "1 2; 3 x"}, "no number"), ({"size": 4, "times": 2}, "has no block"),
     ({"x": "1 -2; 3 4", "down": room.POWER}, "not negative"), ({"up": room.TRANSPOSED, "taps": ""}, "empty"),
     ({"view": room.WRITES, "taps": "1 1", "padding": 3, "signal": "1"}, "leaves nothing"),
     ({"view": room.WRITES, "more": 2}, "below the stride")],
)  # fmt: skip
def test_bad_input_gets_a_sentence(given: dict, says: str) -> None:
    page = run_page("convolution/down_up", **given)
    assert not page.exception
    assert says in " ".join(block.value for block in (*page.error, *page.warning, *page.info))


def test_negative_numbers_and_other_kernels() -> None:
    assert (
        path(torch.ones(2, 2), room.STRIDED, room.NEAREST, smooth=torch.ones(6)).last.tolist() == [[4, 4]] * 2
    )
    for given in (
        {"x": "-1 2; 3 -4"},
        {"view": room.MATRICES, "size": 1},
        {"source": room.DIGIT, "times": 3},
    ):
        assert not open_page("convolution/down_up", **given).exception
