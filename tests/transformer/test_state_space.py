"""State-space models against closed forms, numerical integration and the matrices themselves."""

import math

import pytest
import torch

from modules.transformer.s4 import S4, cauchy_kernel, hippo_legs, normal_minus_low_rank
from modules.transformer.state_space import (
    METHODS,
    bilinear,
    convolution,
    euler,
    fft_convolution,
    kernel,
    recurrence,
    states,
    zero_order_hold,
)


def t(*rows):
    return torch.tensor(rows, dtype=torch.float64)


def near(found, expected, atol=1e-6):
    torch.testing.assert_close(found, expected, rtol=0, atol=atol)


def test_a_leaky_integrator_by_three_methods():
    A, B = t([-1.0]), t(1.0)
    system = zero_order_hold(A, B, 0.1)
    near(system.A, t([0.904837]))
    near(system.B, t(0.095163))
    near(kernel(system, B, 4), t(0.095163, 0.086107, 0.077913, 0.070498))
    step = recurrence(system, B, torch.ones(50, dtype=torch.float64))
    near(step, 1 - torch.exp(-0.1 * torch.arange(1, 51, dtype=torch.float64)), 1e-14)
    near(step[4], torch.tensor(0.393469, dtype=torch.float64))
    for method, a, b in ((euler, 0.9, 0.1), (bilinear, 0.904762, 0.095238)):
        near(method(A, B, 0.1).A, t([a]))
        near(method(A, B, 0.1).B, t(b))


def test_an_oscillator_and_a_matrix_without_an_inverse():
    turn = zero_order_hold(t([0.0, 1.0], [-1.0, 0.0]), t(0.0, 1.0), math.pi / 2)
    near(turn.A, t([0.0, 1.0], [-1.0, 0.0]), 1e-14)
    near(turn.B, t(1.0, 1.0), 1e-14)
    near(kernel(turn, t(1.0, 0.0), 5), t(1.0, 1.0, -1.0, -1.0, 1.0), 1e-13)
    double = zero_order_hold(t([0.0, 1.0], [0.0, 0.0]), t(0.0, 1.0), 0.5)
    near(double.A, t([1.0, 0.5], [0.0, 1.0]), 1e-14)
    near(double.B, t(0.125, 0.5), 1e-14)


def test_a_held_input_is_integrated_exactly_and_the_others_converge():
    """Against ten thousand small steps of the differential equation."""
    torch.manual_seed(0)
    A = torch.randn(3, 3, dtype=torch.float64) - 2 * torch.eye(3, dtype=torch.float64)
    B, x = torch.randn(3, dtype=torch.float64), torch.randn(6, dtype=torch.float64)
    fine, h = 2_000, torch.zeros(3, dtype=torch.float64)
    exact = []
    for value in x:
        for _ in range(fine):  # the midpoint rule: an error of 1e-8
            middle = h + 0.5 / fine * 0.3 * (A @ h + B * value)
            h = h + 0.3 / fine * (A @ middle + B * value)
        exact.append(h)
    truth = torch.stack(exact)
    errors = {name: (states(method(A, B, 0.3), x) - truth).abs().max() for name, method in METHODS.items()}
    assert errors["zero-order hold"] < 1e-6 < 1e-4 < errors["bilinear"] < errors["Euler"]
    x10 = x.repeat_interleave(10)
    finer = {name: states(method(A, B, 0.03), x10)[9::10] - truth for name, method in METHODS.items()}
    assert 5 < errors["Euler"] / finer["Euler"].abs().max() < 25
    assert 50 < errors["bilinear"] / finer["bilinear"].abs().max() < 200


def test_three_forms_are_equal_and_the_unpadded_fft_is_not():
    A, B, C = t([-1.0, 0.5], [0.0, -2.0]), t(1.0, 1.0), t(1.0, -1.0)
    system = zero_order_hold(A, B, 0.2)
    near(system.A, t([0.818731, 0.074205], [0.0, 0.670320]))
    near(system.B, t(0.189484, 0.164840))
    response, x = kernel(system, C, 4), t(1.0, 2.0, 0.0, -1.0)
    near(response, t(0.024644, 0.056873, 0.071162, 0.074751))
    y = recurrence(system, C, x)
    near(y, t(0.024644, 0.106161, 0.184907, 0.192430))
    for other in (convolution(response, x), fft_convolution(response, x), fft_convolution(response, x, 7)):
        near(other, y, 1e-15)
    near(fft_convolution(response, x, 4), t(0.117273, 0.034999, 0.110156, 0.192430))
    assert (fft_convolution(response, x, 6) - y).abs().max() > 0.05
    with pytest.raises(ValueError, match="points is 3: 4 steps need"):
        fft_convolution(response, x, 3)


@pytest.mark.parametrize("length", [0, 1, 2, 37])
def test_the_forms_are_equal_for_every_length_and_batch(length):
    torch.manual_seed(length)
    A = torch.randn(2, 1, 4, 4, dtype=torch.float64) - 3 * torch.eye(4, dtype=torch.float64)
    B, C = torch.randn(2, 3, 4, dtype=torch.float64).unbind(0)
    B, C = B.expand(2, 3, 4), C.expand(2, 3, 4)
    system = zero_order_hold(A.expand(2, 3, 4, 4), B, torch.rand(2, 3, dtype=torch.float64))
    x = torch.randn(2, 3, length, dtype=torch.float64)
    response, y = kernel(system, C, length), recurrence(system, C, x)
    assert y.shape == x.shape
    near(convolution(response, x), y, 1e-12)
    near(fft_convolution(response, x), y, 1e-12)
    if length > 1:  # what was read so far is in the state
        h = states(system, x[..., :-1])[..., -1, :]
        near(recurrence(system, C, x[..., -1:], h), y[..., -1:], 1e-12)


def test_hippo_is_normal_minus_low_rank():
    A, B = hippo_legs(4)
    near(
        A,
        t(
            [-1.0, 0.0, 0.0, 0.0],
            [-1.732051, -2.0, 0.0, 0.0],
            [-2.236068, -3.872983, -3.0, 0.0],
            [-2.645751, -4.582576, -5.916080, -4.0],
        ),
    )
    near(B, t(1.0, 1.732051, 2.236068, 2.645751))
    near(torch.linalg.eigvals(A).real.sort().values, t(-4.0, -3.0, -2.0, -1.0))
    P = (torch.arange(4, dtype=torch.float64) + 0.5).sqrt()
    normal = A + torch.outer(P, P)
    near(normal + normal.T, -torch.eye(4, dtype=torch.float64), 1e-14)
    near(normal @ normal.T, normal.T @ normal, 1e-13)
    low_rank, V = normal_minus_low_rank(4)
    near(low_rank.eigenvalues.imag.sort().values, t(-4.603293, -0.556501, 0.556501, 4.603293))
    near((V @ low_rank.A @ V.mH).real, A, 1e-13)
    near((V @ low_rank.B).real, B, 1e-13)


@pytest.mark.parametrize("length", [1, 7, 8])
def test_the_cauchy_sums_give_the_kernel(length):
    A, B = hippo_legs(4)
    C = torch.ones(4, dtype=torch.float64)
    expected = kernel(bilinear(A, B, 0.1), C, length)
    if length == 8:
        near(expected[:4], t(0.547052, 0.223439, 0.063994, -0.004599))
    low_rank, V = normal_minus_low_rank(4)
    found = cauchy_kernel(low_rank, C.to(V.dtype) @ V, torch.tensor(0.1, dtype=torch.float64), length)
    near(found.real, expected, 1e-14)
    near(found.imag, torch.zeros_like(expected), 1e-14)


def test_hippo_remembers_the_past_as_legendre_coefficients():
    """The state of ċ = (A c + B x)/t for x = u² on [0, t] against the integrals, which are rational."""
    A, B = hippo_legs(5)
    steps, c = 4_000, torch.zeros(5, dtype=torch.float64)
    for k in range(1, steps):  # bilinear in ln t, exact for an input that is held
        x = ((k + 0.5) / steps) ** 2
        system = zero_order_hold(A, B, math.log((k + 1) / k))
        c = system.A @ c + system.B * x
    expected = t(1 / 3, 1 / (2 * math.sqrt(3)), 1 / (6 * math.sqrt(5)), 0.0, 0.0)
    near(c, expected, 2e-3)


@pytest.mark.parametrize("length", [0, 1, 6])
def test_an_s4_layer_is_the_same_in_one_pass_and_step_by_step(length):
    torch.manual_seed(0)
    layer = S4(3, 4).double()
    x = torch.randn(2, length, 3, dtype=torch.float64)
    y, cache = layer(x), layer.new_cache(2, length, dtype=torch.float64)
    steps = [layer(x[:, i : i + 1], cache=cache) for i in range(length)]
    assert y.shape == x.shape and cache.length == length
    if length:
        near(torch.cat(steps, 1), y, 1e-12)
        rows = torch.tensor([1, 1, 0])
        other = cache.select(rows)
        near(layer(x[rows, :1], cache=other), layer(x[:, :1], cache=cache)[rows], 1e-14)


def test_an_s4_layer_passes_padding_by_and_gives_every_parameter_a_gradient():
    torch.manual_seed(0)
    layer = S4(3, 4).double()
    x = torch.randn(1, 5, 3, dtype=torch.float64)
    padded = torch.cat([torch.randn(1, 4, 3, dtype=torch.float64), x], 1)
    near(layer(padded, padding=torch.arange(9)[None] < 4)[:, 4:], layer(x), 1e-12)
    layer(x).square().sum().backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in layer.parameters())
    x.requires_grad_()
    (grad,) = torch.autograd.grad(layer(x)[0, 2].sum(), x)
    assert (grad[0, :3] != 0).all()
    near(grad[0, 3:], torch.zeros(2, 3, dtype=torch.float64), 1e-14)


def test_bad_arguments_are_named():
    for wrong in ({"width": 0}, {"width": 2, "states": 0}, {"width": 2, "delta": (0.0, 1.0)},
                  {"width": 2, "delta": (1.0, 0.1)}):  # fmt: skip
        with pytest.raises(ValueError, match=r"width is|states is|delta is"):
            S4(**wrong)
    layer, x = S4(2), torch.randn(1, 3, 2)
    with pytest.raises(ValueError, match="takes no source"):
        layer(x, x)
    with pytest.raises(ValueError, match="leave causal on"):
        layer(x, causal=False)
