"""Inversion: of a linear generator it is the pseudoinverse, and what is out of its range stays out."""

import copy
import math
from collections import deque
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from modules.adversarial.inversion import LinearEncoder, code_direction, invert, tune


def randn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


A, B = randn(6, 3), randn(6, seed=1)
PINV = torch.linalg.pinv(A)


def linear(z: Tensor) -> Tensor:
    return z @ A.T + B


def last(steps: Any) -> Any:
    return deque(steps, maxlen=1)[0]


def test_of_a_linear_generator_it_is_the_pseudoinverse() -> None:
    x = randn(4, 6, seed=2)  # out of range
    result = last(invert(linear, x, torch.zeros(4, 3, dtype=torch.float64), 600, 0.2))
    torch.testing.assert_close(result.code, (x - B) @ PINV.T, atol=1e-5, rtol=1e-5)
    distance = ((x - B) - (x - B) @ PINV.T @ A.T).square().mean(1)  # from the range
    torch.testing.assert_close(result.error, distance, atol=1e-8, rtol=1e-6)
    assert (distance > 0.01).all()


def test_in_range_nothing_is_left() -> None:
    z = randn(3, 3, seed=3)
    steps = list(invert(linear, linear(z), torch.zeros(3, 3, dtype=torch.float64), 600, 0.2))
    assert [s.step for s in steps] == list(range(601))
    torch.testing.assert_close(steps[-1].code, z, atol=1e-5, rtol=1e-5)
    assert (steps[-1].error < 1e-10).all()
    torch.testing.assert_close(steps[7].picture, linear(steps[7].code))
    assert torch.equal(steps[0].code, torch.zeros(3, 3))


def test_each_picture_is_looked_for_alone() -> None:
    x, start = randn(2, 6, seed=2), randn(2, 3, seed=4)
    both = last(invert(linear, x, start, 50))
    one = last(invert(linear, x[1:], start[1:], 50))
    torch.testing.assert_close(both.code[1:], one.code)


def test_a_weight_draws_to_the_mean() -> None:
    """min ‖A z + b − x‖²/6 + w ‖z − m‖²/3 has the normal equations' answer."""
    x, mean, w = randn(1, 6, seed=2), randn(3, seed=5), 0.7
    result = last(invert(linear, x, torch.zeros(1, 3, dtype=torch.float64), 800, 0.2, w, mean))
    left = A.T @ A / 6 + w / 3 * torch.eye(3, dtype=A.dtype)
    torch.testing.assert_close(
        result.code[0], torch.linalg.solve(left, A.T @ (x[0] - B) / 6 + w / 3 * mean), atol=1e-5, rtol=1e-5
    )


def test_the_encoder_of_a_linear_generator_is_exact_and_saves_steps() -> None:
    z = randn(500, 3, seed=6)
    encoder = LinearEncoder(linear(z), z, 1e-9)
    fresh = randn(5, 3, seed=7)
    torch.testing.assert_close(encoder(linear(fresh)), fresh, atol=1e-5, rtol=1e-5)
    first = next(invert(linear, linear(fresh), encoder(linear(fresh)), 10))
    assert (first.error < 1e-10).all()  # hybrid: nothing is left to do
    heavy = LinearEncoder(linear(z), z, 1e9)
    torch.testing.assert_close(heavy(linear(fresh)), z.mean(0).expand(5, 3), atol=1e-4, rtol=1e-4)


class Affine(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(A.clone()), nn.Parameter(B.clone())

    def forward(self, z: Tensor) -> Tensor:
        return z @ self.weight.T + self.bias


def test_pivotal_tuning_reaches_what_is_out_of_range_and_keeps_the_rest() -> None:
    network, x, others = Affine(), randn(1, 6, seed=2), randn(40, 3, seed=8)
    pivot = (x - B) @ PINV.T
    before = copy.deepcopy(network.state_dict())
    run = lambda net, z: net(z)  # noqa: E731
    free = list(tune(network, run, x, pivot, others, 300, 0.05, 0.0))
    held = list(tune(network, run, x, pivot, others, 300, 0.05, 1.0))
    assert free[0][1] == pytest.approx(float((linear(pivot) - x).square().mean())) and free[0][2] == 0
    assert free[-1][1] < 1e-8 < 0.01 < free[0][1]
    assert held[-1][2] < 0.3 * free[-1][2]  # locality
    assert all(torch.equal(network.state_dict()[k], v) for k, v in before.items())


def test_a_direction_follows_the_draws_and_moves_its_quantity_by_one() -> None:
    codes, a = randn(30_000, 4, seed=9), torch.tensor([2.0, 0.0, -1.0, 0.0], dtype=torch.float64)
    codes[:, 3] += codes[:, 0]  # the fourth number goes with the first
    d = code_direction(codes, codes @ a + 5)
    assert float(d @ a) == pytest.approx(1, abs=1e-8)
    torch.testing.assert_close(d, torch.tensor([0.4, 0.0, -0.2, 0.4], dtype=d.dtype), atol=0.01, rtol=0)
    with pytest.raises(ValueError, match="the same"):
        code_direction(codes, torch.ones(30_000))


def test_hostile_input() -> None:
    z, x = torch.zeros(1, 3).double(), randn(1, 6)
    for settings, word in (
        ({"steps": 0}, "steps"),
        ({"rate": math.nan}, "rate"),
        ({"weight": -1.0}, "weight"),
    ):
        with pytest.raises(ValueError, match=word):
            next(invert(linear, x, z, **settings))
    with pytest.raises(ValueError, match="one for each"):
        next(invert(linear, randn(2, 6), z))
    with pytest.raises(ValueError, match="not finite"):
        next(invert(linear, x * math.nan, z))
    with pytest.raises(ValueError, match="codes for"):
        LinearEncoder(randn(3, 6), randn(2, 3))
