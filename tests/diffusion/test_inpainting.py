"""Inpainting: DF-O29 by moments and by draws, and known entries to the bit."""

import math

import pytest
import torch
from torch import Tensor

from modules.diffusion import inpainting, samplers
from modules.diffusion.schedule import Schedule, linear

CHAIN = Schedule.of_betas(torch.linspace(4e-4, 0.08, 250, dtype=torch.float64))
RHO = torch.tensor([[1, 0.8], [0.8, 1]], dtype=torch.float64)
EYE = torch.eye(2, dtype=torch.float64)


def moments(passes: int, chain: Schedule = CHAIN) -> tuple[float, float]:
    """Mean and variance of x_2 by both coordinates' full moments; x_1 = 1."""
    m, P = torch.zeros(2, dtype=torch.float64), EYE
    for t in range(chain.T, 0, -1):
        A, R = inpainting.exact_gaussian(chain, RHO, t, t - 1)
        for left in reversed(range(passes if t > 1 else 1)):
            m, P = A @ m, A @ P @ A.mT + R
            m[0], P[0, 1], P[1, 0], P[0, 0] = chain.alpha_bar[t - 1].sqrt(), 0, 0, 1 - chain.alpha_bar[t - 1]
            if left:
                kept = chain.alpha_bar[t] / chain.alpha_bar[t - 1]
                m, P = kept.sqrt() * m, kept * P + (1 - kept) * EYE
    return float(m[1]), float(P[1, 1])


@pytest.mark.parametrize(
    ("passes", "mean", "variance"),
    [(1, 0.496157, 0.498160), (2, 0.628214, 0.429551), (5, 0.731501, 0.386819)],
)
def test_replacement_misses_the_conditional_and_resampling_comes_near(
    passes: int, mean: float, variance: float
) -> None:
    assert moments(passes) == pytest.approx((mean, variance), abs=1e-6)


@pytest.mark.parametrize("passes", [1, 3])
def test_draws_have_those_moments(passes: int) -> None:
    chain, n = linear(20), 20_000
    generator = torch.Generator().manual_seed(0)
    step = inpainting.gaussian_step(chain, RHO, generator)
    start = torch.randn(n, 2, dtype=torch.float64, generator=generator)
    known, values = torch.tensor([True, False]), torch.tensor([1.0, math.nan])
    trajectory = inpainting.inpaint(step, chain, start, known, values, chain.times(20), passes, generator)
    x = samplers.last(trajectory)
    assert (x[:, 0] == 1).all()
    mean, variance = moments(passes, chain)
    assert abs(float(x[:, 1].mean()) - mean) < 4 * math.sqrt(variance / n)
    assert abs(float(x[:, 1].var()) - variance) < 4 * variance * math.sqrt(2 / n)


def test_the_exact_step_keeps_the_law() -> None:
    """x_t ~ N(0, C_t) through the step is N(0, C_p), over single steps and jumps."""
    for t, p in ((200, 199), (200, 50), (30, 0)):
        c_t, c_p = (CHAIN.alpha_bar[i] * RHO + (1 - CHAIN.alpha_bar[i]) * EYE for i in (t, p))
        A, R = inpainting.exact_gaussian(CHAIN, RHO, t, p)
        torch.testing.assert_close(A @ c_t @ A.mT + R, c_p)
        assert float(torch.linalg.eigvalsh(R).min()) > 0


def predict(x: Tensor, t: Tensor) -> Tensor:
    return 0.3 * x


@pytest.mark.parametrize("passes", [1, 4])
def test_known_entries_are_returned_and_the_rest_is_drawn(passes: int) -> None:
    chain, known = linear(1000), torch.rand(1, 4, 4, generator=torch.Generator().manual_seed(1)) < 0.5
    values = torch.rand(3, 1, 4, 4, generator=torch.Generator().manual_seed(2))

    def run(seed: int) -> tuple[Tensor, int]:
        asked = 0

        def counted(x: Tensor, t: Tensor) -> Tensor:
            nonlocal asked
            asked += 1
            return predict(x, t)

        generator = torch.Generator().manual_seed(seed)
        step = inpainting.ancestral_step(counted, chain, clip=1.0, generator=generator)
        start = torch.randn(3, 1, 4, 4, generator=generator)
        trajectory = inpainting.inpaint(step, chain, start, known, values, chain.times(6), passes, generator)
        return samplers.last(trajectory), asked

    x, asked = run(0)
    assert (x == values)[known.expand_as(x)].all() and asked == 5 * passes + 1
    assert torch.equal(x, run(0)[0])
    assert not torch.equal(x, run(1)[0])


def test_nothing_known_is_the_sampler_itself() -> None:
    chain = linear(1000)
    start = torch.randn(5, 2, generator=torch.Generator().manual_seed(0))
    ends = []
    for own in (True, False):
        generator = torch.Generator().manual_seed(3)
        if own:
            step = inpainting.ancestral_step(predict, chain, generator=generator)
            # the known part's noise comes from elsewhere, so that the steps' own is the same
            trajectory = inpainting.inpaint(
                step, chain, start, torch.zeros(2), torch.zeros(2), chain.times(7)
            )
        else:
            trajectory = samplers.ancestral(predict, chain, start, chain.times(7), generator=generator)
        ends.append(samplers.last(trajectory))
    assert torch.equal(*ends)


def test_the_known_part_is_at_its_level_of_noise() -> None:
    chain, values = linear(1000), torch.full((20_000, 1), 2.0, dtype=torch.float64)
    generator = torch.Generator().manual_seed(0)
    step = inpainting.ancestral_step(predict, chain, generator=generator)
    trajectory = inpainting.inpaint(
        step, chain, torch.zeros_like(values), torch.ones(1), values, [1000, 300, 0], 2, generator
    )
    _, middle, _ = trajectory
    a = float(chain.alpha_bar[300])
    assert float(middle.x.mean()) == pytest.approx(2 * math.sqrt(a), abs=4 * math.sqrt((1 - a) / 20_000))
    assert float(middle.x.var()) == pytest.approx(1 - a, rel=0.05)


def test_what_cannot_be_completed_is_said() -> None:
    chain, x = linear(10), torch.zeros(1, 2)
    step = inpainting.ancestral_step(predict, chain)
    for message, values, times, passes in (
        ("not a finite number", torch.tensor([math.nan, 0]), [10, 0], 1),
        ("exact only at 0", torch.zeros(2), [10, 5], 1),
        ("resample is 0", torch.zeros(2), [10, 0], 0),
    ):
        with pytest.raises(ValueError, match=message):
            next(inpainting.inpaint(step, chain, x, torch.ones(2), values, times, passes))
