"""The page "i-ResNet log-det": series, probes, roulette, and two rules for the weights."""

import math
from functools import partial

import pytest
import torch
from opening import film, metrics, open_page, prose, run_page, spoken, warnings

from modules.flow.iresnet import roulette, series
from pages.flow.log_det import conv, lens

opened = partial(open_page, "flow/log_det")
J = lens.matrix([[0.3, 0.2], [-0.1, 0.4]])
M = lens.matrix([[0.5, 10.0], [0.0, 0.5]])


def test_partial_sums_and_their_misprints() -> None:
    sums = lens.sums(J)
    assert sums.exact == pytest.approx(0.6097655716)
    assert sums.right[:8].tolist() == pytest.approx(
        [0.7, 0.595, 0.611333, 0.610108, 0.609422, 0.609937, 0.609697, 0.609790], abs=1e-6
    )
    k = torch.arange(1, 13, dtype=torch.float64)
    traces = torch.stack([torch.linalg.matrix_power(J, int(n)).trace() for n in k])
    sign = (-1.0) ** (k - 1)
    torch.testing.assert_close(sums.without, (sign * traces).cumsum(0))
    torch.testing.assert_close(sums.powers, (sign * 0.7**k / k).cumsum(0))
    assert float(sums.without[-1]) == pytest.approx(0.532609, abs=1e-4)  # its limit
    assert ((sums.right - sums.exact).abs() <= sums.bound + 1e-12).all()


def test_the_bound_is_that_of_the_rest() -> None:
    half = lens.sums(lens.matrix([[0.5, 0.0], [0.0, 0.5]]))
    assert half.bound[[0, 4]].tolist() == pytest.approx([0.386294, 0.009211], abs=1e-6)
    steep = lens.sums(lens.matrix([[1.2, 0.0], [0.0, 0.2]]))
    assert steep.bound.isinf().all() and steep.exact == pytest.approx(math.log(2.2 * 1.2))


@pytest.mark.parametrize(("noise", "variance"), [("gaussian", 0.51), ("rademacher", 0.01)])
def test_hutchinsons_scatter(noise: str, variance: float) -> None:
    spread = lens.spread(J, noise, 0.5, seed=0)
    sd = variance**0.5
    for row, count in enumerate(lens.PROBES):
        assert float(spread.sds[row, 0]) == pytest.approx(sd / count**0.5, rel=0.12)
        assert float(spread.means[row, 0]) == pytest.approx(0.7, abs=5 * sd / (count * lens.SETS) ** 0.5)


def test_the_roulette_is_unbiased() -> None:
    values = lens.roulette_values(J, 0.5, 5)
    assert values.tolist() == pytest.approx([0.7, 0.49, 0.555333, 0.545533, 0.534557], abs=1e-6)
    eye = torch.eye(2, dtype=torch.float64)
    again = series(lens.pushed(J), eye, 3, roulette(3, 0.5)).sum()
    assert float(values[2]) == pytest.approx(float(again))
    mean, sd = lens.roulette_moments(J, 0.5)
    assert mean == pytest.approx(0.6097655716, abs=1e-9) and sd**2 == pytest.approx(0.008592, abs=1e-6)
    assert lens.roulette_moments(J, 0.75)[1] ** 2 == pytest.approx(0.027467, abs=1e-6)
    assert lens.roulette_moments(lens.matrix([[0.9, 0.0], [0.0, 0.1]]), 0.5)[1] == math.inf


def test_eigenvalues_do_not_make_it_invertible() -> None:
    by_eigen, by_singular = lens.applied(M, "eigenvalue", 0.9), lens.applied(M, "singular value", 0.9)
    assert len(by_eigen.zeros) == 3 and by_eigen.steps is None
    assert any(torch.allclose(z, torch.tensor([0.5, 10.499972]).double(), atol=1e-4) for z in by_eigen.zeros)
    assert lens.residual(by_eigen.scaled, by_eigen.zeros).abs().max() < 1e-8
    assert len(by_singular.zeros) == 1 and by_singular.steps is not None
    torch.testing.assert_close(
        by_singular.scaled, lens.matrix([[0.044888, 0.897761], [0, 0.044888]]), rtol=0, atol=1e-6
    )
    h = torch.tensor([0.4, -0.7], dtype=torch.float64)
    assert lens.residual(M, h).tolist() == pytest.approx((h - M.T @ (M @ h).tanh()).tolist())


def test_what_the_page_shows() -> None:
    page = opened(n=5)
    shown = metrics(page)
    assert shown["log det(I + J)"] == "0.609766" and shown["Roulette sd"] == f"{0.008592**0.5:.4f}"
    bar = film(page, "n")
    assert spoken(bar["equations"][4])[-2:] == pytest.approx([0.609422, 0.609766])
    assert "off by -0.0003" in bar["captions"][4] and "+0.0902" in bar["captions"][0]
    shown = metrics(opened(view="Inverse", rule="eigenvalue"))
    assert shown["Points that go to 0"] == "3" and shown["Largest |eigenvalue|"] == "0.5000"
    assert "cannot be inverted" in prose(opened(view="Inverse", rule="none"))


def test_numbers_of_the_scenes() -> None:
    wide, narrow = (lens.spread(J, noise, 0.5, 0).sds[0, 4] for noise in ("gaussian", "rademacher"))
    assert float(wide / narrow) == pytest.approx(7, abs=1.5)
    assert metrics(opened(J="0.9 0.2; 0 0.85"))["Roulette sd"] == "inf"


@pytest.mark.parametrize(
    ("J", "text"),
    [("0.3 x; 1 2", "'x' is no number"), ("1 0.5 1; 1 1 0.2", "square"), ("", "square"), ("9", "'9'")],
)
def test_a_bad_matrix_is_named(J: str, text: str) -> None:
    assert text in warnings(run_page("flow/log_det", J=J))
    if text != "'9'":
        assert text in warnings(run_page("flow/log_det", view="Inverse", M=J))


def dense(kernel: torch.Tensor, side: int) -> torch.Tensor:
    """The padded convolution as a matrix, entry by entry."""
    result = torch.zeros(side, side, side, side, dtype=kernel.dtype)
    for i, j, a, b in torch.cartesian_prod(*[torch.arange(side)] * 2, *[torch.arange(3)] * 2).tolist():
        if 0 <= i + a - 1 < side and 0 <= j + b - 1 < side:
            result[i, j, i + a - 1, j + b - 1] = kernel[a, b]
    return result.view(side**2, side**2)


@pytest.mark.parametrize("rows", [[[1.0] * 3] * 3, [[0.0, -1, 0], [-1, 4, -1], [0, -1, 0]],
                                  [[1.0, 2, 3], [0, -1, 4], [2, 0, 1]]])  # fmt: skip
def test_two_norms_of_a_convolution_and_the_way_back(rows: list[list[float]]) -> None:
    kernel, result = lens.matrix(rows), conv.looked(lens.matrix(rows), 0.9)
    for number, side in enumerate(conv.SIDES[:6]):
        matrix = dense(kernel, side)
        norm = float(torch.linalg.matrix_norm(matrix, 2))
        assert float(result.whole[number]) == pytest.approx(norm, rel=2e-3)
        assert result.scaled[number].tolist() == pytest.approx(
            [norm * min(1, 0.9 / result.flat), min(norm, 0.9)], rel=2e-3
        )
        x = torch.randn(side**2, dtype=matrix.dtype, generator=torch.Generator().manual_seed(0))
        K = matrix * min(1, 0.9 / result.flat)
        h = z = x + K @ x
        for _ in range(conv.STEPS):
            h = z - K @ h
        share = float((h - x).norm() / x.norm())
        assert float(result.errors[number, 0, -1]) == pytest.approx(share, rel=1e-6, abs=1e-12)
        ratio = result.errors[number, 1, 1:] / result.errors[number, 1, :-1]
        assert float(ratio.nan_to_num().max()) < 0.902  # a contraction
    assert bool((result.whole.diff() >= -1e-3).all())  # it grows with the pictures


def test_what_the_scenes_of_the_convolution_say() -> None:
    flat, one = (
        conv.looked(lens.matrix(rows), 0.9) for rows in ([[1.0] * 3] * 3, [[0.0] * 3, [0, 1, 0], [0.0] * 3])
    )
    assert flat.scaled[conv.SHOWN, 0] == pytest.approx(2.49, abs=0.005)
    assert flat.errors[conv.SHOWN, 0, -1] > 1e6 and flat.errors[conv.SHOWN, 1, -1] < 0.02
    torch.testing.assert_close(one.scaled, torch.full_like(one.scaled, 0.9))
    assert bool((one.errors.diff(dim=-1) < 0).all())
    small = conv.looked(lens.matrix([[0.0] * 3, [0, 0.1, 0], [0.0] * 3]), 0.9)  # is left as it is
    torch.testing.assert_close(small.scaled, torch.full_like(small.scaled, 0.1))
    page = opened(view="Kernel")
    bar = film(page, "side")
    assert bar["at"] == conv.SHOWN and "of norm 2.487" in bar["captions"][conv.SHOWN]
    assert spoken(bar["equations"][conv.SHOWN])[0] == pytest.approx(8.2909, abs=1e-3)


@pytest.mark.parametrize("K", ["1 1; 1 1", "0 0 0; 0 0 0; 0 0 0", "1 1 x; 1 1 1; 1 1 1", ""])
def test_a_bad_kernel_is_one_sentence(K: str) -> None:
    page = run_page("flow/log_det", view="Kernel", K=K)
    assert warnings(page) and not page.exception
