"""Score matching: DF-O16 and O17, one minimiser of four losses, a model that learns."""

import math

import pytest
import torch
from torch import Tensor

from modules.diffusion import exact, score_matching
from modules.diffusion.score_matching import ScoreModel

TWO = exact.Mixture(torch.tensor([[-1.0, 0.0], [1.0, 0.5]]), torch.tensor([[[0.5, 0.3], [0.3, 0.4]]] * 2))


def grid(reach: float = 6.0, cells: int = 121) -> tuple[Tensor, float]:
    axis = torch.linspace(-reach, reach, cells, dtype=torch.float64)
    return torch.cartesian_prod(axis, axis), float(axis[1] - axis[0]) ** 2


def wrong(n: int) -> score_matching.Field:
    """Some field that is no score of anything."""
    A = torch.randn(2, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(n))
    return lambda x: (x @ A).tanh() - 0.4 * x


def test_implicit_is_explicit_but_for_a_constant() -> None:
    """By quadrature; the constant is ½ E‖∇ log p‖² ."""
    x, cell = grid()
    weight, truth = TWO.log_prob(x).exp() * cell, TWO.score(x, 1.0)
    const = float((weight * 0.5 * truth.square().sum(1)).sum())
    for n in range(3):
        field = wrong(n)
        hidden = float((weight * score_matching.implicit(field, x).detach()).sum())
        asked = float((weight * score_matching.explicit(field(x), truth)).sum())
        assert asked - hidden == pytest.approx(const, abs=1e-8)


def test_sliced_is_implicit_on_average() -> None:
    x, _ = TWO.draw(30, torch.Generator().manual_seed(0))
    field = wrong(0)
    # of two dimensions the directions (1, 1) and (1, −1) are all there are but for sign
    both = [
        score_matching.sliced(field, x, torch.tensor([[1.0, s]]).double().expand_as(x)) for s in (1.0, -1.0)
    ]
    assert torch.allclose((both[0] + both[1]) / 2, score_matching.implicit(field, x), atol=1e-12)
    assert not torch.allclose(both[0], both[1], atol=1e-2)


def test_denoising_of_a_normal() -> None:
    """N(0, 1), σ = ½: the best is −x/1.25, of loss 3.2 (without the half); for any s the gap is 3.2."""
    axis = torch.linspace(-8, 8, 321, dtype=torch.float64)
    cell = float(axis[1] - axis[0])
    pairs = torch.cartesian_prod(axis, axis)
    x, eps = pairs[:, :1], pairs[:, 1:]
    weight = (-0.5 * pairs.square().sum(1)).exp() / (2 * math.pi) * cell**2
    sigma = torch.full((len(x),), 0.5, dtype=torch.float64)
    noisy = x + 0.5 * eps
    fields = (lambda y: -y / 1.25, lambda y: -y / 1.1, lambda y: (2 * y).tanh())
    for n, field in enumerate(fields):
        loss = 2 * float((weight * score_matching.denoising(field, x, eps, sigma)).sum())
        asked = 2 * float((weight * score_matching.explicit(field(noisy), -noisy / 1.25)).sum())
        assert loss - asked == pytest.approx(3.2, abs=1e-6)
        assert (asked < 1e-12) == (n == 0)


def test_losses_can_be_differentiated() -> None:
    """The gradient of implicit and of explicit matching in a parameter of s are one."""
    x, cell = grid(6.0, 61)
    weight, truth = TWO.log_prob(x).exp() * cell, TWO.score(x, 1.0)
    a = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    field: score_matching.Field = lambda y: -a * y + (a * y).sin()  # noqa: E731
    hidden = torch.autograd.grad((weight * score_matching.implicit(field, x)).sum(), a)[0]
    asked = torch.autograd.grad((weight * score_matching.explicit(field(x), truth)).sum(), a)[0]
    assert float(hidden) == pytest.approx(float(asked), abs=1e-7)


@pytest.mark.parametrize("objective", ["denoising", "implicit", "sliced"])
def test_a_small_model_learns_the_score(objective: score_matching.Objective) -> None:
    generator = torch.Generator().manual_seed(0)
    torch.manual_seed(0)  # of the steps' own draws
    model = ScoreModel(
        width=16, blocks=1, embedding=8, objective=objective, levels=2, sigma_max=1.0, sigma_min=0.5
    )
    truth = exact.Mixture(torch.tensor([[1.0, -0.5]]), 0.5)
    x = truth.draw(512, generator)[0].float()

    def off() -> float:
        y = x + 0.5 * torch.randn(x.shape, generator=torch.Generator().manual_seed(1))
        best = exact.Mixture(truth.means, 0.75).score(y, 1.0)
        return float((model.score(y, 0.5) - best).detach().square().mean())

    before = off()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    model.log_metric = lambda *_: None  # type: ignore[method-assign, assignment]
    for _ in range(150):
        optimizer.zero_grad()
        model.step(x, "train").backward()
        optimizer.step()
    assert off() < 0.15 * before


def test_what_cannot_be_is_said() -> None:
    with pytest.raises(ValueError, match="the noise must fall"):
        ScoreModel(sigma_max=0.1, sigma_min=0.1)
    with pytest.raises(ValueError, match="objective is 'explicit'"):
        ScoreModel(objective="explicit")  # type: ignore[arg-type]


@pytest.mark.parametrize("objective", ["denoising", "sliced", "implicit"])
def test_every_level_of_noise_weighs_the_same(objective: score_matching.Objective) -> None:
    """A score is of size 1/σ: weighed by σ², a network that says 1 has one loss at all levels."""
    x, losses = torch.randn(50, 2, generator=torch.Generator().manual_seed(0)), []
    for first, last in ((4.0, 0.1), (400.0, 10.0)):
        model = ScoreModel((2,), 4, 1, 4, objective, 5, first, last)
        model.score = lambda y, sigma: (torch.ones_like(y) + 0 * y) / sigma[:, None]  # type: ignore[method-assign]
        torch.manual_seed(0)
        losses.append(float(model.step((x,), "train").detach()))
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    assert objective == "denoising" or losses[0] == pytest.approx(1.0)  # ½ ‖1‖² in the plane
