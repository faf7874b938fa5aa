"""The page Equivariance: exact where it should be, by shifts of numpy; what its scenes say."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from opening import film, open_page, run_page
from scipy.ndimage import rotate
from scipy.signal import correlate2d

from lab import experiments, weights
from lab.figures.moving import at
from lab.lenses import drawing, photographs
from pages.convolution.equivariance import figures, lens, rotation, words
from pages.convolution.equivariance.room import (
    ANGLE,
    BLUR,
    BORDERS,
    CIRCULAR,
    CONVOLUTION,
    FARTHEST,
    GROUP,
    KERNELS,
    LAYERS,
    MAX,
    NETWORK,
    ONE,
    SOBEL,
    STRIDED,
    TURNING,
    ZEROS,
)

SHELF = dict(photographs.shelf())
OMEGA = lens.kernel(SOBEL)


def compared(layer: str = MAX, stride: int = 2, border: str = ZEROS, photo: str = "flower") -> lens.Compared:
    return lens.compared(SHELF[photo], OMEGA, layer, stride, border)


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("stride", [2, 3, 4])
def test_equivariant_to_multiples_of_the_stride_alone(stride: int, border: str) -> None:
    one = compared(CONVOLUTION, stride, border)
    for layer, errors in one.errors.items():
        step = 1 if layer == CONVOLUTION else stride
        for t, e in enumerate(errors.tolist()):
            assert (e < 1e-12) == (t % step == 0), (layer, t, e)
    whole = one.difference.abs().amax((1, 2))
    assert bool((whole[1:] > 0.1).all()) == (border == ZEROS)  # the rim differs, or there is none
    if border == CIRCULAR:
        assert float(whole.max()) < 1e-12
        for layer in LAYERS:
            assert float(compared(layer, stride, border).difference[stride].abs().max()) < 1e-12


def test_layers_are_those_of_torch() -> None:
    x = torch.rand(2, 48, 48, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    h = F.conv2d(x[:, None], OMEGA[None, None], padding=1)
    expected = {CONVOLUTION: h, STRIDED: F.conv2d(x[:, None], OMEGA[None, None], stride=2, padding=1),
                MAX: F.max_pool2d(h, 2)}  # fmt: skip
    for layer, values in expected.items():
        torch.testing.assert_close(lens.applied(x, OMEGA, layer, 2, ZEROS), values[:, 0])
    peaks = F.max_pool2d(F.pad(h, [0, 1, 0, 1]), 2, 1)
    taps = torch.tensor([1.0, 2.0, 1.0], dtype=torch.float64) / 4
    blurred = F.conv2d(peaks, (taps[:, None] * taps)[None, None], stride=2, padding=1)
    torch.testing.assert_close(lens.applied(x, OMEGA, BLUR, 2, ZEROS), blurred[:, 0])


def test_moves() -> None:
    x = torch.arange(12.0).view(3, 4)
    assert torch.equal(lens.moved(x, 1, CIRCULAR), torch.from_numpy(np.roll(x.numpy(), 1, 1)))
    assert lens.moved(x, 1, ZEROS).tolist()[0] == [0, 0, 1, 2] and torch.equal(lens.moved(x, 0, ZEROS), x)
    assert lens.moved(x, -1, ZEROS).tolist()[0] == [1, 2, 3, 0] and float(lens.moved(x, 9, ZEROS).sum()) == 0


@pytest.mark.parametrize("photo", ["flower", "temple", "digit"])
def test_blur_pooling_changes_less(photo: str) -> None:
    for border in BORDERS:
        errors = compared(photo=photo, border=border).errors
        assert bool((errors[BLUR][1:8:2] < errors[MAX][1:8:2]).all())
        assert bool((errors[BLUR][1:8:2] > 0.1).all())  # less, not nothing


def test_the_rim_is_left_out_and_no_more() -> None:
    """Columns that count are those that other pixels beyond the border cannot reach."""
    for layer in LAYERS:
        one = compared(layer, 2)
        left, right = one.inside[4]
        gap = one.difference[4].abs().amax(0)
        assert float(gap[left:right].max()) < 1e-12
        assert (float(gap.max()) > 0.1) == (layer != STRIDED)  # whose last patch ends before the border
        assert right - left > len(gap) // 2
    flat = lens.compared(torch.zeros(3, 48, 48), OMEGA, MAX, 2, ZEROS)
    assert float(flat.errors[MAX].max()) == 0


def test_words_have_the_numbers() -> None:
    one = compared()
    captions, equations = words.captions(one, MAX, 2, ZEROS), words.equations(one, MAX)
    assert len(captions) == len(equations) == FARTHEST + 1
    assert captions[4].startswith("t = 4: the output moves by 2 cells") and "=" in equations[4]
    assert f"ε = {float(one.errors[MAX][3]):.2f}" in captions[3] and r"\ne" in equations[3]
    assert "everywhere" in words.captions(compared(border=CIRCULAR), MAX, 2, CIRCULAR)[2]
    wide = lens.compared(SHELF["flower"], lens.kernel("1 " * 6 + "1"), MAX, 4, ZEROS)
    assert all(a < b for a, b in wide.inside)
    fig = at(figures.maps(one), 3)
    frame = fig.layout.shapes[0]
    assert (frame.x0, frame.x1) == (one.inside[3][0] - 0.5, one.inside[3][1] - 0.5) and len(fig.data) == 4
    assert len(figures.errors(one, BLUR)["data"]) == 5


def test_a_classifier_of_a_moved_digit() -> None:
    model, digit = weights.load(NETWORK), dict(drawing.examples(28))["4"]
    one = lens.read(model, digit)  # type: ignore[arg-type]
    assert one.label == 4 and float(one.probabilities[0, 4]) > 0.95
    assert float(one.probabilities[6, 4]) < 0.7 and float(one.probabilities[3, 4]) > 0.95
    with torch.no_grad():
        rolled = model.predict(digit.roll(2, 1)[None, None]).softmax(-1)[0]  # its margin is blank
    torch.testing.assert_close(one.probabilities[2], rolled)
    first = words.lost(one)
    assert first is not None and int(one.probabilities[first].argmax()) != 4
    assert f"{float(one.probabilities[6, 4]):.3f}" in words.class_equations(one)[6]
    assert "Moved by 6" in words.class_captions(one)[6]
    always = lens.Read(one.x, one.probabilities[:1].expand(13, -1), 4)
    assert words.lost(always) is None
    assert len(at(figures.probabilities(one), 2).data) == 2 and at(figures.digit(one), 2).data[0].z.shape == (
        28,
        28,
    )
    admitted = [e.name for e in experiments.catalog().values() if lens.fits(e)]
    assert {"cnn-mnist", "lenet-mnist"} <= set(admitted) and "cnn-digits" not in admitted


@pytest.mark.parametrize("text", [*KERNELS.values(), "1 2 3", "1; 0; 0; 0; -1", "1 2 3; 4 5 6; 7 8 9"])
def test_four_orientations_are_equivariant_to_quarter_turns(text: str) -> None:
    omega = lens.kernel(text)
    both = rotation.quarters(SHELF["flower"], omega, GROUP)
    assert float(both.errors.max()) < 1e-12 and both.kernels.shape[0] == 4
    x = photographs.luminance(SHELF["flower"]).double().numpy()
    for r in range(4):
        found = correlate2d(x, both.kernels[r].numpy(), mode="same")
        np.testing.assert_allclose(both.first[0, r].numpy(), found, atol=1e-12)
        np.testing.assert_array_equal(both.kernels[r].numpy(), np.rot90(both.kernels[0].numpy(), r))
    side = max(omega.shape)
    assert both.kernels.shape[1:] == (side, side) and float(both.kernels[0].sum()) == float(omega.sum())
    one = rotation.quarters(SHELF["flower"], omega, ONE)
    same = torch.equal(both.kernels[0], both.kernels[1])  # as the Laplacian and the identity are
    assert (float(one.errors[1]) < 1e-12) == same
    assert one.first.shape[1] == 1 and torch.equal(one.first[0, 0], both.first[0, 0])


def test_words_of_turns() -> None:
    both = rotation.quarters(SHELF["flower"], OMEGA, GROUP)
    assert words.turn_captions(both)[1].startswith(
        "Turned by 90°: each map turns too and moves from r to r + 1"
    )
    assert words.turn_equations(both)[2].startswith(r"f(\rho^2 x)_r = \rho^2 f(x)_{r - 2}")
    one = rotation.quarters(SHELF["flower"], OMEGA, ONE)
    assert f"ε = {float(one.errors[1]):.2f}" in words.turn_captions(one)[1]
    assert r"\ne" in words.turn_equations(one)[1] and "=" in words.turn_equations(one)[0]
    assert len(figures.turned_maps(both)["data"]) == 13 and len(figures.turned_maps(one)["data"]) == 5
    black = rotation.quarters(torch.zeros(3, 48, 48), OMEGA, ONE)
    assert float(black.errors.max()) == 0


def test_a_picture_is_turned_counterclockwise() -> None:
    digit = dict(drawing.examples(28))["4"]
    for k in range(4):
        assert torch.equal(rotation.rotated(digit, 90 * k), digit.rot90(k))
    for degrees in (30, 75, 165, 300):
        expected = rotate(digit.double().numpy(), degrees, reshape=False, order=1)
        found = rotation.rotated(digit, degrees).double().numpy()
        np.testing.assert_allclose(found[4:-4, 4:-4], expected[4:-4, 4:-4], atol=1e-4)


def test_a_network_over_p4_reads_quarter_turns_alike() -> None:
    cnn, over_p4 = weights.load(NETWORK), weights.load(TURNING)
    for name, digit in drawing.examples(28):
        one = rotation.by_angle(cnn, over_p4, digit)  # type: ignore[arg-type]
        quarter = one.p[1, :: 90 // ANGLE]
        torch.testing.assert_close(quarter, quarter[:1].expand(4, -1), atol=1e-5, rtol=0)
        assert one.label == int(name)
    six = rotation.by_angle(cnn, over_p4, dict(drawing.examples(28))["6"])  # type: ignore[arg-type]
    assert int(six.p[0, 180 // ANGLE].argmax()) == 9 and int(six.p[1, 180 // ANGLE].argmax()) == 6
    caption = words.angle_captions(six)[180 // ANGLE]
    assert "180°: the CNN reads 9" in caption and "over p4 6" in caption
    assert r"\alpha = 180" in words.angle_equations(six)[180 // ANGLE]
    assert len(figures.by_angle(six, [NETWORK, TURNING])["data"]) == 4
    admitted = {e.name for e in experiments.catalog().values() if rotation.knows_turns(e)}
    assert TURNING in admitted and not admitted & {"p4cnn-digits", "cnn-mnist"}


def test_films_of_scenes() -> None:
    for number in (1, 7):
        assert film(open_page("convolution/equivariance", scene=number), "shift")["count"] == FARTHEST + 1
    assert film(open_page("convolution/equivariance", scene=8), "turn")["count"] == 4
    assert film(open_page("convolution/equivariance", scene=9), "angle")["count"] == 360 // ANGLE


@pytest.mark.parametrize(
    "given, says",
    [({"omega": "1 2; 3 4"}, "no middle"), ({"omega": "🦊"}, "no number"), ({"omega": ""}, "rows"),
     ({"photo": "rgb.x"}, "cannot be read")],
)  # fmt: skip
def test_bad_input_gets_a_sentence(given: dict, says: str) -> None:
    page = run_page("convolution/equivariance", **given)
    assert not page.exception
    assert says in " ".join(block.value for block in (*page.error, *page.warning, *page.info))
