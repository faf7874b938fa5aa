"""FVSBN against worked numbers, its convex optimum, and what it cannot express."""

import itertools
import math

import pytest
import torch

from lab import weights
from lab.experiments import ZOO
from modules.autoregressive.fvsbn import FVSBN


def all_bits(n: int) -> torch.Tensor:
    return torch.tensor(list(itertools.product([0.0, 1.0], repeat=n)), dtype=torch.float64)


def worked() -> FVSBN:
    """n = 4, rows of A with the bias first: (.2), (-.5, 1), (.3, -1.2, .8), (-.4, .6, -.7, 1.5)."""
    model = FVSBN(event_shape=(4,)).double().requires_grad_(False)
    model.bias.copy_(torch.tensor([0.2, -0.5, 0.3, -0.4]))
    model.weight.copy_(torch.tensor([1.0, -1.2, 0.8, 0.6, -0.7, 1.5]))
    return model


def fitted(data: torch.Tensor, order: list[int] | str = "raster") -> float:
    """The least mean NLL on the rows of `data`: the loss is convex, so L-BFGS finds it."""
    model = FVSBN(event_shape=data.shape[1:], order=order).double()
    optimizer = torch.optim.LBFGS(
        model.parameters(), max_iter=2000, history_size=30, line_search_fn="strong_wolfe",
        tolerance_change=1e-13, tolerance_grad=1e-9,
    )  # fmt: skip

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = -model.log_prob(data).mean()
        loss.backward()
        return loss

    optimizer.step(closure)
    return closure().item()


def bars_and_stripes(side: int) -> torch.Tensor:
    """Every picture whose rows, or whose columns, are each all ink or all paper."""
    rows = all_bits(side)[:, :, None].expand(-1, side, side)
    both = torch.cat([rows, rows.transpose(1, 2)]).reshape(-1, side * side)
    return both.unique(dim=0)


# --- Numbers ------------------------------------------------------------------------------------


def test_the_worked_network_of_four_bits():
    model, x = worked(), torch.tensor([[0.0, 1, 1, 0]], dtype=torch.float64)
    expected = torch.tensor([[0.54983400, 0.37754067, 0.75026011, 0.59868766]], dtype=torch.float64)
    torch.testing.assert_close(model.conditionals(x), expected, rtol=0, atol=1e-8)
    assert model.log_prob(x).item() == pytest.approx(-2.9725664, abs=1e-7)
    assert model.log_prob(x).exp().item() == pytest.approx(0.0511718127, abs=1e-10)
    p = model.log_prob(all_bits(4)).exp()
    assert p.sum().item() == pytest.approx(1, abs=1e-12)
    assert -(p * p.log()).sum().item() == pytest.approx(2.6209354, abs=1e-7)
    assert all_bits(4)[p.argmax()].tolist() == [0, 0, 1, 1]
    assert p.max().item() == pytest.approx(0.12076528, abs=1e-8)


def test_parameters_are_n_times_n_plus_one_over_two():
    assert FVSBN(event_shape=(784,)).num_parameters == 307_720
    assert FVSBN(event_shape=(4,)).num_parameters == 10


def test_matrix_is_triangular_in_its_order():
    order = [2, 0, 3, 1]
    model = FVSBN(event_shape=(4,), order=order)
    with torch.no_grad():
        model.weight.copy_(torch.arange(1.0, 7.0))
    matrix = model.matrix()
    in_order = matrix[order][:, order]
    assert torch.equal(in_order, torch.tensor([[0.0, 0, 0, 0], [1, 0, 0, 0], [2, 3, 0, 0], [4, 5, 6, 0]]))
    # under another order an edge stays where it still points backwards, and nothing else is read
    other = model.matrix(torch.tensor([0, 2, 1, 3]))
    assert other[0, 2] == 0 and other[1, 2] == matrix[1, 2] == 4
    assert (other[3] == matrix[3] * torch.tensor([1.0, 0, 1, 0])).all()


def test_another_order_is_another_density():
    model, x = worked(), all_bits(4)
    other = model.log_prob(x, order="reversed")
    assert other.exp().sum().item() == pytest.approx(1, abs=1e-12)
    assert (other - model.log_prob(x)).abs().max() > 0.1


# --- What the restricted conditionals can and cannot do -----------------------------------------


def test_the_order_matters_because_the_conditionals_are_restricted():
    """Uniform distribution over the 14 bars and stripes of 3×3: raster order is perfect, others are not."""
    data = bars_and_stripes(3)
    assert len(data) == 14
    # the optimum has infinite weights, so it is approached from above
    assert math.log(14) <= fitted(data) <= math.log(14) + 1e-3
    # the worst of 40 random orders; tables reach ln 14 in every order
    assert fitted(data, [7, 0, 2, 4, 6, 1, 5, 3, 8]) == pytest.approx(2.7607, abs=2e-4)


def test_four_by_four_bars_are_out_of_reach():
    data = bars_and_stripes(4)
    assert len(data) == 30
    reached = fitted(data)
    assert reached == pytest.approx(3.4214, abs=1e-3) and reached > math.log(30) + 0.015


def test_xor_is_out_of_reach():
    data = torch.tensor([[0.0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]], dtype=torch.float64)
    assert fitted(data) == pytest.approx(3 * math.log(2), abs=1e-9)  # the truth: 2 ln 2


def test_a_joint_with_logistic_conditionals_is_reached_and_another_is_not():
    x = all_bits(3)
    joint = torch.rand(8, generator=torch.Generator().manual_seed(0), dtype=torch.float64) + 0.05
    joint /= joint.sum()
    entropy = -(joint * joint.log()).sum().item()
    counts = (joint * 100_000).round().long()
    data = x.repeat_interleave(counts, 0)
    assert fitted(data) > entropy + 1e-3  # p(x_3 | x_1, x_2) of a random joint needs an interaction


# --- Weights that ship --------------------------------------------------------------------------


def test_cards_hold_what_was_promised():
    card = weights.read_card(ZOO / "fvsbn-mnist")
    assert card["data"]["binarize"] == "dynamic" and card["parameters"] == 307_720
    assert 90 < card["metrics"]["test/nll"] <= 98
    assert weights.read_card(ZOO / "fvsbn-digits")["metrics"]["test/nll"] < 18.6


def test_the_card_of_the_digits_is_reproduced_from_the_weights():
    from datamodules.digits import Digits

    data = Digits(binarize="threshold")
    data.setup("test")
    x, _ = data.test_set[torch.arange(len(data.test_set))]
    card = weights.read_card(ZOO / "fvsbn-digits")
    nll = -weights.load("fvsbn-digits").log_prob(x).mean().item()
    assert nll == pytest.approx(card["metrics"]["test/nll"], abs=1e-4)
