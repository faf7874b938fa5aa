"""Convolution as a sum, as a matrix and as torch's own; transposed convolution as a true transpose."""

from itertools import product

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from modules.convolution.cnn1d import CNN1d
from modules.convolution.convolution import convolve, output_size, transposed_convolve, transposed_size
from modules.convolution.matrices import convolution_matrix, dense_weight, sampling_matrix
from modules.convolution.mlp import MLP, as_linear
from modules.convolution.upsampling import pixel_shuffle

SIGNAL = (5.2, 5.3, 5.4, 5.1, 10.1, 10.3, 9.9, 10.3, 3.2, 3.4, 3.3, 3.1)  # notebook 10.1


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def taps(*values: float) -> Tensor:
    """A kernel of one channel, (1, 1, K)."""
    return torch.tensor(values, dtype=torch.float64)[None, None]


def one(kernel: Tensor, x: tuple[float, ...], **settings: int) -> list[float]:
    """Convolution of one signal of one channel."""
    return convolve(torch.tensor(x, dtype=torch.float64)[None, None], kernel, **settings)[0, 0].tolist()


def assert_equal(a: Tensor, b: Tensor, tolerance: float = 1e-12) -> None:
    assert a.shape == b.shape
    assert (a - b).abs().max() <= tolerance


@pytest.mark.parametrize("groups", [1, 2])
def test_in_one_dimension_sum_matrix_and_torch_agree(groups: int) -> None:
    """For all n ≤ 12, K ≤ 5, s ≤ 3, d ≤ 3, p ≤ 3, where the kernel fits."""
    cases = 0
    weights = {k: (draw(4, 4 // groups, k), draw(4)) for k in range(1, 6)}
    for n, k, s, d, p in product((1, 5, 11, 12), range(1, 6), range(1, 4), range(1, 4), range(4)):
        how = {"stride": s, "padding": p, "dilation": d, "groups": groups}
        if n + 2 * p < d * (k - 1) + 1:
            with pytest.raises(ValueError, match="spans"):
                output_size(n, k, s, p, d)
            continue
        weight, bias = weights[k]
        x = draw(2, 4, n)
        h = convolve(x, weight, bias, **how)
        count = len([i for i in range(99) if s * i + d * (k - 1) - p < n + p])  # the explicit loop
        assert h.shape[2] == output_size(n, k, s, p, d) == count
        assert_equal(h, F.conv1d(x, weight, bias, **how))
        matrix = convolution_matrix(weight, [n], **how)
        assert_equal((x.flatten(1) @ matrix.T).unflatten(1, (4, -1)) + bias[:, None], h)
        cases += 1
    assert cases > 500


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"stride": 2, "padding": 1},
        {"stride": (2, 1), "padding": (0, 2), "dilation": (1, 2)},
        {"dilation": 2, "groups": 2},
        {"padding": 3, "stride": 3, "groups": 2},
    ],
)
def test_in_two_dimensions_sum_matrix_and_torch_agree(how: dict) -> None:
    x, weight, bias = draw(2, 4, 7, 6), draw(6, 4 // how.get("groups", 1), 3, 2), draw(6)
    h = convolve(x, weight, bias, **how)
    assert_equal(h, F.conv2d(x, weight, bias, **how))
    matrix = convolution_matrix(weight, [7, 6], **how)
    assert_equal((x.flatten(1) @ matrix.T).reshape(h.shape) + bias[:, None, None], h)


def test_in_three_dimensions_the_same_sum_serves() -> None:
    x, weight = draw(1, 2, 5, 4, 6), draw(3, 2, 3, 2, 3)
    assert_equal(
        convolve(x, weight, stride=(1, 2, 2), padding=1), F.conv3d(x, weight, stride=(1, 2, 2), padding=1)
    )


def test_worked_signals_of_the_texts() -> None:
    """The kernel isn't flipped (CV-E19)."""
    assert one(taps(-1, 0, 1), (3, 1, 4, 1, 5, 9)) == [1, 0, 1, 8]
    assert one(taps(1, 0, -1), (3, 1, 4, 1, 5, 9)) == [-1, 0, -1, -8]
    third, close = taps(0.33, 0.33, 0.33), {"abs": 1e-12}
    dense = one(third, SIGNAL, padding=1)
    assert sum(dense) == pytest.approx(71.115, **close)
    strided = one(third, SIGNAL, padding=1, stride=2)
    assert strided == pytest.approx([3.465, 5.214, 8.415, 10.065, 5.577, 3.234], **close)
    assert strided == pytest.approx(dense[::2], **close)
    assert sum(one(taps(*[0.2] * 5), SIGNAL, padding=2)) == pytest.approx(69.56, **close)
    assert sum(one(third, SIGNAL, padding=2, dilation=2)) == pytest.approx(68.277, **close)
    assert one(taps(-1, 0.5, -0.2), SIGNAL, padding=1)[:3] == pytest.approx([1.54, -3.63, -3.62], **close)


def test_taps_of_a_wide_strided_kernel() -> None:
    """P10.4, K = 7, d = 3, s = 3: unit 1 reads x_{3i+3j−8}, in the text's counting from 1."""
    matrix = convolution_matrix(taps(*[1.0] * 7), [40], stride=3, padding=3, dilation=3)
    # x_{3i + 3j − 8} for i = 1, j = 1 … 7 is −2 … 16: the first lies in the padding
    assert (matrix[0].nonzero()[:, 0] + 1).tolist() == [1, 4, 7, 10, 13, 16]
    assert [3 + 3 * j - 8 for j in range(1, 8)] == [-2, 1, 4, 7, 10, 13, 16]


def test_matrices_of_the_text() -> None:
    """Six inputs, ω = (1, 2, 3): zero padding, stride, dilation, a kernel of five."""
    a1 = convolution_matrix(taps(1, 2, 3), [6], padding=1)
    assert a1[:2].tolist() == [[2, 3, 0, 0, 0, 0], [1, 2, 3, 0, 0, 0]]
    a2 = convolution_matrix(taps(1, 2, 3), [6], padding=1, stride=2)
    assert torch.equal(a2, sampling_matrix(6, 2) @ a1) and torch.equal(a2, a1[::2])
    dilated = convolution_matrix(taps(1, 2, 3), [6], padding=2, dilation=2)
    assert dilated[:3].tolist() == [[2, 0, 3, 0, 0, 0], [0, 2, 0, 3, 0, 0], [1, 0, 2, 0, 3, 0]]
    assert convolution_matrix(taps(1, 2, 3, 4, 5), [6], padding=2)[0].tolist() == [3, 4, 5, 0, 0, 0]


def test_a_stride_samples_the_rows_of_the_same_kernel() -> None:
    """P10.15 (CV-E2): a kernel of 2 with stride 2 has two taps a row, a kernel of 1 and sampling has one."""
    strided = convolution_matrix(taps(1, 2), [6], stride=2)
    assert torch.equal(strided, sampling_matrix(5, 2) @ convolution_matrix(taps(1, 2), [6]))
    narrow = sampling_matrix(6, 2) @ convolution_matrix(taps(3), [6])
    assert (strided != 0).sum(1).tolist() == [2, 2, 2] and (narrow != 0).sum(1).tolist() == [1, 1, 1]


def test_shapes_with_vectors_as_columns() -> None:
    """P10.6 and P10.7 (CV-E3): one channel to two is 12×6, two to one 6×12."""
    assert convolution_matrix(draw(2, 1, 3), [6], padding=1).shape == (12, 6)
    assert convolution_matrix(draw(1, 2, 3), [6], padding=1).shape == (6, 12)


def test_a_picture_of_four_by_six() -> None:
    """P10.13: 24×24 with 160 entries: nine in 8 rows, six in 12, four in 4; equal to im2col."""
    kernel, image = draw(1, 1, 3, 3), draw(1, 1, 4, 6)
    matrix = convolution_matrix(kernel, [4, 6], padding=1)
    per_row = (matrix != 0).sum(1)
    assert matrix.shape == (24, 24) and per_row.sum() == 160
    assert [int((per_row == count).sum()) for count in (9, 6, 4)] == [8, 12, 4]
    columns = F.unfold(image, 3, padding=1)  # im2col (1, 9, 24)
    assert_equal(matrix @ image.flatten(), kernel.flatten() @ columns[0])


def test_two_convolutions_in_a_row_are_one() -> None:
    """Without padding with the kernel ω∗ω; with zeros the first and the last output differ (CV-O6)."""
    kernel = taps(-1, 0.5, -0.2)
    both = transposed_convolve(kernel, kernel)  # the full product of the two polynomials
    assert both[0, 0].tolist() == pytest.approx([1, -1, 0.65, -0.2, 0.04], abs=1e-12)
    x = draw(1, 1, 12)
    assert_equal(convolve(convolve(x, kernel), kernel), convolve(x, both))
    padded = convolve(convolve(x, kernel, padding=1), kernel, padding=1) - convolve(x, both, padding=2)
    assert [i for i in range(12) if padded[0, 0, i].abs() > 1e-9] == [0, 11]


def test_parameters_of_the_texts_layers() -> None:
    """P10.8 and P10.14, by torch's own layers."""
    for layer, weights, biases in (
        (nn.Conv1d(3, 4, 3), 36, 4),
        (nn.Conv1d(4, 10, 5), 200, 10),
        (nn.Conv2d(3, 10, 5), 750, 10),
    ):
        assert (layer.weight.numel(), layer.bias.numel()) == (weights, biases)


def test_groups_leave_blocks_on_the_diagonal() -> None:
    full = dense_weight(draw(6, 2, 3), 3)
    assert full.shape == (6, 6, 3)
    assert [(o // 2 == c // 2) for o in range(6) for c in range(6)] == [
        bool(full[o, c].any()) for o in range(6) for c in range(6)
    ]


def test_a_one_by_one_kernel_is_a_dense_layer_on_the_channels() -> None:
    x, weight, bias = draw(2, 5, 4, 3), draw(7, 5), draw(7)
    dense = F.linear(x.permute(0, 2, 3, 1), weight, bias).permute(0, 3, 1, 2)
    assert_equal(convolve(x, weight[..., None, None], bias), dense)


# --- Transposed --------------------------------------------------------------------------------


def test_every_input_writes_its_kernel() -> None:
    """ω = (1, 2, 3), p = 1: twice as many outputs only with op = 1 (CV-E21)."""
    x = torch.tensor([[[1.0, 10, 100]]], dtype=torch.float64)
    how = {"stride": 2, "padding": 1}
    assert transposed_convolve(x, taps(1, 2, 3), output_padding=1, **how).flatten().tolist() == [
        2, 13, 20, 130, 200, 300,
    ]  # fmt: skip
    assert transposed_convolve(x, taps(1, 2, 3), **how).shape[-1] == 5 == transposed_size(3, 3, 2, 1)


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"stride": 2, "padding": 1, "output_padding": 1},
        {"stride": (3, 2), "padding": (1, 0), "dilation": (1, 2), "groups": 2},
    ],
)
def test_transposed_is_torchs_own_and_the_transposed_matrix(how: dict) -> None:
    x, weight, bias = draw(2, 4, 3, 4), draw(4, 6 // how.get("groups", 1), 3, 3), draw(6)
    y = transposed_convolve(x, weight, bias, **how)
    assert_equal(y, F.conv_transpose2d(x, weight, bias, **how))
    # the matrix of the convolution that reads what this writes: (C_i of it, C_o of it) are swapped
    forward = {k: v for k, v in how.items() if k != "output_padding"}
    matrix = convolution_matrix(weight, y.shape[2:], **forward)
    assert_equal((x.flatten(1) @ matrix).reshape(y.shape) + bias[:, None, None], y)


def test_adjoint() -> None:
    """⟨A x, y⟩ = ⟨x, Aᵀ y⟩ for stride 2 in two dimensions; both gradients are the matrices' own."""
    x, weight = draw(1, 3, 7, 8).requires_grad_(), draw(4, 3, 3, 3, seed=1).requires_grad_()
    h = F.conv2d(x, weight, stride=2, padding=1)
    y = draw(*h.shape, seed=2)
    back = transposed_convolve(y, weight.detach(), stride=2, padding=1, output_padding=(0, 1))
    assert_equal((h * y).sum().detach()[None], (x * back).sum().detach()[None], 1e-11)
    gradient, of_weight = torch.autograd.grad((h * y).sum(), [x, weight])
    assert_equal(gradient, back)
    ours = torch.autograd.functional.jacobian(
        lambda w: (convolution_matrix(w, [7, 8], 2, 1) @ x.detach().flatten() * y.flatten()).sum(), weight
    )
    assert_equal(of_weight, ours)


def test_with_stride_one_the_transpose_is_a_convolution_with_the_kernel_flipped() -> None:
    """CV-E18: no inverse."""
    x, weight = draw(1, 3, 6, 5), draw(3, 4, 3, 3)
    flipped = weight.flip(2, 3).transpose(0, 1)
    assert_equal(transposed_convolve(x, weight, padding=1), convolve(x, flipped, padding=1))


def test_checkerboard() -> None:
    """Ones in, ones as kernel: flat inside only where the stride divides the kernel."""
    ones = torch.ones(1, 1, 4, dtype=torch.float64)

    def coverage(kernel: int) -> list[float]:
        return transposed_convolve(ones, taps(*[1.0] * kernel), stride=2)[0, 0].tolist()

    assert coverage(3) == [1, 1, 2, 1, 2, 1, 2, 1, 1]
    assert coverage(4) == [1, 1, 2, 2, 2, 2, 2, 2, 1, 1]
    assert set(coverage(2)) == {1}
    square = torch.ones(1, 1, 4, 4, dtype=torch.float64)
    inside = transposed_convolve(square, torch.ones(1, 1, 3, 3, dtype=torch.float64), stride=2)[
        0, 0, 2:4, 2:4
    ]
    assert sorted(inside.flatten().tolist()) == [1, 2, 2, 4]


def test_transposed_is_a_pixel_shuffle_of_phase_convolutions() -> None:
    """s = 2, K = 4: even and odd outputs are two convolutions with every second tap (CV-O23)."""
    x, weight = draw(1, 3, 6), draw(3, 2, 4)
    phases = [weight[..., [2, 0]], weight[..., [3, 1]]]  # newest input first, as the kernel isn't flipped
    both = [convolve(x, phase.transpose(0, 1), padding=1) for phase in phases]
    shuffled = pixel_shuffle(torch.stack(both, 2).flatten(1, 2))  # (B, C·2, n+1) -> (B, C, 2(n+1))
    assert_equal(shuffled, transposed_convolve(x, weight, stride=2))


# --- The network for MNIST-1D as a dense one -----------------------------------------------------


def test_the_dense_layers_are_the_matrices() -> None:
    """`as_linear` asks for the answers to unit impulses; the matrix writes each weight where it stands."""
    cnn = CNN1d().double()
    mlp, width = MLP.from_convolution(cnn), 40
    dense = [layer for layer in mlp.layers if isinstance(layer, nn.Linear)]
    for layer, linear in zip([m for m in cnn.layers if isinstance(m, nn.Conv1d)], dense, strict=False):
        matrix = convolution_matrix(layer.weight.detach(), [width], stride=2)
        assert_equal(matrix, linear.weight.detach(), 1e-14)
        assert_equal(layer.bias.detach().repeat_interleave(len(matrix) // 15), linear.bias.detach(), 1e-14)
        width = len(matrix) // 15
    x = draw(20, 1, 40)
    with torch.no_grad():
        assert_equal(mlp.predict(x), cnn.predict(x), 1e-14)
    padded = nn.Conv1d(2, 3, 3, stride=2, padding=1, dilation=2, dtype=torch.float64)
    assert_equal(
        convolution_matrix(padded.weight.detach(), [9], 2, 1, 2), as_linear(padded, 9).weight.detach()
    )


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: convolve(draw(1, 3, 5), draw(2, 2, 3)), "3 channels, the kernel reads 2"),
        (lambda: convolve(draw(1, 3, 5), draw(2, 1, 3), groups=3), "divide by 3"),
        (lambda: convolve(draw(1, 3, 5, 5), draw(2, 3, 3, 3), stride=[1]), "1 entries for 2 axes"),
        (lambda: transposed_convolve(draw(1, 1, 3), taps(1), output_padding=1), "below the stride"),
        (lambda: transposed_convolve(draw(1, 1, 1), taps(1), padding=1), "leaves nothing"),
    ],
)
def test_bad_settings_say_what_is_wrong(call, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        call()
