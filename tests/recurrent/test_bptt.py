"""Backpropagation through time by hand: the texts' numbers, autograd, finite differences, bounds."""

import math

import pytest
import torch
import torch.nn.functional as F
from test_cells import LSTM_ROWS, drawn, one, randomised, scalar
from torch import Tensor

from modules.autoregressive.nade import NADE
from modules.recurrent.bptt import (
    backpropagate,
    gradient_bound,
    jacobian_products,
    jacobians,
    spectral_norm,
    spectral_radius,
    triangle,
)
from modules.recurrent.cell import Cell, State
from modules.recurrent.gru import GRUCell
from modules.recurrent.lstm import LSTMCell, cell_jacobian
from modules.recurrent.rnn import RNNCell

CELLS = [
    (RNNCell, {}),
    (RNNCell, {"nonlinearity": "sigmoid"}),
    (RNNCell, {"nonlinearity": "relu"}),
    (RNNCell, {"nonlinearity": "identity"}),
    (LSTMCell, {}),
    (LSTMCell, {"frozen": {"f": 1.0}}),
    (LSTMCell, {"frozen": {"o": 0.5}}),
    (GRUCell, {}),
    (GRUCell, {"reset": "before"}),
    (GRUCell, {"frozen": {"z": 0.7, "r": 0.3}}),
    (RNNCell, {"biases": 2}),
    (LSTMCell, {"biases": 2}),
    (GRUCell, {"biases": 2}),
    (GRUCell, {"biases": 2, "reset": "before"}),
]


def exactly(values: list) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def four_steps() -> tuple[RNNCell, Tensor, Tensor, Tensor]:
    """RN-O1: cell, W_y (b_y = 0), inputs, targets."""
    cell = RNNCell(2, 2).double()
    cell.weight_h.data = exactly([[0.5, -0.3], [0.2, 0.4]])
    cell.weight_x.data = exactly([[1, 0], [0.5, -1]])
    cell.bias.data = exactly([0.1, -0.2])
    w_y, x = exactly([[1, -1], [0, 2], [0.5, 0.5]]), exactly([[1, 0], [0, 1], [1, 1], [-1, 0.5]])
    return cell, w_y, x, torch.tensor([0, 2, 1, 0])


def loss_by_output() -> tuple[RNNCell, Tensor, Tensor]:
    """RN-O1: cell, inputs, and ∂ℓ_t/∂h_t = W_yᵀ (softmax(y_t) − one-hot)."""
    cell, w_y, x, target = four_steps()
    h = cell.unroll(x[None])[0][0].detach()
    return cell, x, ((h @ w_y.T).softmax(-1) - F.one_hot(target, 3)) @ w_y


def states_of(state: State) -> list[Tensor]:
    return [s for s in (state.h, state.cell) if s is not None]


def near(found: Tensor, expected: list, tolerance: float = 1e-6) -> None:
    torch.testing.assert_close(found.detach(), exactly(expected), rtol=0, atol=tolerance)


def test_four_steps_of_an_elman_network():
    """RN-O1: states, logits, loss, and all gradients of the double sum over t and k ≤ t."""
    cell, w_y, x, target = four_steps()
    w_y.requires_grad_()
    h = cell.unroll(x[None])[0][0]
    near(h, [[0.800499, 0.291313], [0.390895, -0.727490], [0.907592, -0.722482], [-0.225515, -0.863635]])
    logits = h @ w_y.T
    near(logits[-1], [0.638120, -1.727270, -0.544575])
    loss = F.cross_entropy(logits, target, reduction="sum")
    assert loss.item() == pytest.approx(6.368147, abs=1e-6)
    loss.backward()
    cell, x, grad_outputs = loss_by_output()
    hand = backpropagate(cell, x[None], grad_outputs[None])
    near(hand["weight_h"], [[0.021191, 0.058136], [-0.935475, 0.569954]])
    near(hand["weight_x"], [[0.101976, 0.206717], [-0.245247, -1.872823]])
    near(hand["bias"], [-0.087346, -0.706649])
    terms = triangle(cell, x, grad_outputs)
    torch.testing.assert_close(terms.sum((0, 1)), hand["weight_h"], rtol=0, atol=1e-12)
    assert (terms.abs().sum((-2, -1)) * torch.ones(4, 4).triu(1) == 0).all()  # no step reaches a later one
    assert (terms[:, 0] == 0).all()  # ∂⁺h_1/∂W_h = 0, as h_0 = 0


def double_sum(length: int, newest_left: bool = True, immediate: bool = True) -> Tensor:
    """∂L/∂W_h of RN-O1's first steps, term by term; with the two mistakes that the texts invite."""
    cell, x, grad_outputs = loss_by_output()
    h = cell.unroll(x[None])[0][0].detach()
    before, slopes = torch.cat([torch.zeros(1, 2).double(), h[:-1]]), 1 - h.square()
    steps = slopes[..., None] * cell.weight_h.detach()  # J_t = diag(φ') W_h
    partials = torch.einsum("ti,ij,tk->tijk", slopes, torch.eye(2).double(), before)  # ∂⁺h_t[i]/∂W_h[j, k]
    if not immediate:
        for t in range(1, 4):
            partials[t] += torch.einsum("ij,jkl->ikl", steps[t], partials[t - 1])
    total = torch.zeros(2, 2).double()
    for t in range(length):
        for k in range(t + 1):
            product = torch.eye(2).double()
            for j in range(k + 1, t + 1):
                product = steps[j] @ product if newest_left else product @ steps[j]
            total += torch.einsum("i,ij,jkl->kl", grad_outputs[t], product, partials[k])
    return total


def test_an_order_or_a_partial_that_is_wrong_is_seen():
    """RN-E2: the product of Jacobians in the other order. RN-E3: total instead of immediate partials. Three
    steps cannot tell the order: their only product of two Jacobians leads to step 1, whose term is 0."""
    near(double_sum(4), [[0.021191, 0.058136], [-0.935475, 0.569954]])
    near(double_sum(4, newest_left=False), [[0.032937, 0.062410], [-0.943633, 0.566985]])
    near(double_sum(4, immediate=False), [[-0.094348, 0.024805], [-1.106094, 0.464594]])
    torch.testing.assert_close(double_sum(3), double_sum(3, newest_left=False), rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind, options", CELLS)
def test_by_hand_is_what_autograd_and_differences_find(kind, options):
    """All parameters, inputs and the first state; losses at every step; also a step's every Jacobian."""
    cell = randomised(kind(3, 4, **options))
    x, weights = drawn(2, 6, 3).requires_grad_(), drawn(2, 6, 4, seed=2)
    state = cell.initial_state(x).map(lambda s: drawn(*s.shape, seed=4).requires_grad_())
    names = [name for name, _ in cell.named_parameters()] + ["x", "h", "cell"][: 1 + len(states_of(state))]
    inputs = [*cell.parameters(), x, *states_of(state)]

    def loss() -> Tensor:
        return (cell.unroll(x, state)[0].tanh() * weights).sum()

    h = cell.unroll(x, state)[0].detach()
    hand = backpropagate(cell, x, weights * (1 - h.tanh().square()), state)
    assert set(hand) == set(names)
    for name, expected in zip(names, torch.autograd.grad(loss(), inputs), strict=True):
        torch.testing.assert_close(hand[name], expected, rtol=0, atol=1e-10, msg=name)
    with torch.no_grad():
        for name, p in zip(names, inputs, strict=True):  # along one random direction of each
            direction = drawn(*p.shape, seed=5)
            sides = []
            for sign in (1e-5, -1e-5):
                p += sign * direction
                sides.append(loss())
                p -= sign * direction
            slope = (sides[0] - sides[1]) / 2e-5
            torch.testing.assert_close((hand[name] * direction).sum(), slope, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("kind, options", CELLS)
def test_jacobians_of_each_step(kind, options):
    cell = randomised(kind(3, 4, **options))
    x, state = drawn(5, 3), randomised_state(cell)
    before, found = state, jacobians(cell, x, state)
    for t, after in enumerate(s for s, _ in cell.unroll(x[None], state)[2]):
        parts = states_of(before)

        def one_step(flat: Tensor, t: int = t, number: int = len(parts)) -> Tensor:
            return torch.cat(states_of(cell(x[t][None], State(*flat.chunk(number, 1)))), 1)[0]

        expected = torch.autograd.functional.jacobian(one_step, torch.cat(parts, 1).detach())[:, 0]
        torch.testing.assert_close(found[t], expected, rtol=0, atol=1e-12)
        before = after
    products = jacobian_products(found)
    torch.testing.assert_close(products[4, 1], found[4] @ found[3] @ found[2], rtol=0, atol=1e-12)


def randomised_state(cell: Cell) -> State:
    return cell.initial_state(torch.zeros(1, 1).double()).map(lambda s: drawn(*s.shape, seed=6))


@pytest.mark.parametrize("truncation", [1, 2, 3, 10])
@pytest.mark.parametrize("kind", [RNNCell, LSTMCell, GRUCell])
def test_truncated_gradients_stop_where_the_state_is_detached(kind, truncation):
    cell = randomised(kind(3, 4))
    x, weights = drawn(2, 7, 3), drawn(2, 7, 4, seed=2)
    loss, state = torch.zeros(()).double(), cell.initial_state(x)
    for t, chunk in enumerate(x.split(truncation, 1)):
        outputs, state, _ = cell.unroll(chunk, state.detach())
        loss = loss + (outputs * weights[:, t * truncation : (t + 1) * truncation]).sum()
    hand = backpropagate(cell, x, weights, truncation=truncation)
    for (name, _), expected in zip(
        cell.named_parameters(), torch.autograd.grad(loss, list(cell.parameters())), strict=True
    ):
        torch.testing.assert_close(hand[name], expected, rtol=0, atol=1e-10)
    if kind is RNNCell:  # the band of the triangle: every loss looks K steps back, and all of them at K ≥ T
        band = triangle(cell, x[0], weights[0], truncation=truncation)
        full = triangle(cell, x[0], weights[0])
        assert (band[6, 6 - truncation + 1 :] == full[6, 6 - truncation + 1 :]).all() or truncation > 6
        assert truncation > 6 or (band[6, : 6 - truncation + 1] == 0).all()
        assert (truncation < 7) or (band == full).all()


def test_truncation_is_refused_below_one_step():
    with pytest.raises(ValueError, match="at least 1"):
        backpropagate(RNNCell(1, 1), torch.zeros(1, 2, 1), torch.zeros(1, 2, 1), truncation=0)


# --- Vanishing and exploding ----------------------------------------------------------------------


def test_norm_radius_and_a_product_of_the_four_steps():
    """RN-O2."""
    cell, _, x, _ = four_steps()
    assert spectral_norm(cell.weight_h) == pytest.approx(0.585492, abs=1e-6)
    assert spectral_radius(cell.weight_h) == pytest.approx(0.509902, abs=1e-6)
    product = jacobian_products(jacobians(cell, x))[2, 0]  # J₃ J₂
    near(product, [[0.032356, -0.032359], [0.058500, 0.011706]])
    assert torch.linalg.matrix_norm(product, 2).item() == pytest.approx(0.067147, abs=1e-6)
    assert gradient_bound(cell, torch.tensor(2)).item() == pytest.approx(0.342801, abs=1e-6)


def orthogonal(n: int, gain: float, seed: int) -> Tensor:
    return gain * torch.linalg.qr(drawn(n, n, seed=seed)).Q


def log_norms(cell: RNNCell, x: Tensor, state: State | None = None) -> Tensor:
    """log₁₀ ‖∂h_t/∂h_1‖₂ of all t, 0 at the first."""
    products = [torch.eye(cell.hidden).double()]
    for step in jacobians(cell, x, state)[1:]:
        products.append(step @ products[-1])
    return torch.linalg.matrix_norm(torch.stack(products), 2).log10()


def test_a_linear_network_scales_as_a_power():
    """RN-O3: W_h = g Q; the slope of the log-norm against the lag is log g."""
    for gain, lag, norm in (
        (0.9, 50, 0.00515378),
        (1.1, 50, 117.3909),
        (0.9, 100, 2.65614e-5),
        (1.1, 100, 13780.61),
    ):
        cell = RNNCell(1, 4, "identity").double()
        cell.weight_h.data = orthogonal(4, gain, 1)
        norms = log_norms(cell, drawn(lag + 1, 1))
        assert 10 ** norms[lag].item() == pytest.approx(norm, rel=1e-5)
        torch.testing.assert_close(norms.diff(), torch.full((lag,), math.log10(gain)).double())
        torch.testing.assert_close(gradient_bound(cell, torch.tensor(lag)), (10 ** norms[lag]))
    cell = RNNCell(1, 4, "sigmoid").double()
    cell.weight_h.data = orthogonal(4, 1.0, 1)
    assert gradient_bound(cell, torch.tensor(20)).item() == pytest.approx(9.0949e-13, rel=1e-4)


def test_a_radius_below_one_may_grow_first_and_a_large_norm_may_vanish():
    """RN-O4 and RN-E4: |λ| < 1 decays in the end only; a norm of 10 whose square is 0."""
    cell = RNNCell(1, 2, "identity").double()
    cell.weight_h.data = exactly([[0.9, 5], [0, 0.9]])
    assert spectral_radius(cell.weight_h) == pytest.approx(0.9, abs=1e-6)
    norms = 10 ** log_norms(cell, torch.zeros(101, 1).double())
    for n, norm in ((1, 5.157), (9, 19.3788), (20, 13.5095), (50, 1.4316), (100, 0.014756)):
        assert norms[n].item() == pytest.approx(norm, rel=1e-4)
    assert norms.argmax() == 9 and (norms[1:] < 1).nonzero()[0].item() + 1 == 55
    cell.weight_h.data = exactly([[0, 10], [0, 0]])
    norms = 10 ** log_norms(cell, torch.zeros(3, 1).double())
    near(norms, [1, 10, 0])
    assert gradient_bound(cell, torch.tensor(2)).item() == pytest.approx(100)


@pytest.mark.parametrize(
    "nonlinearity, gain, driven, expected, bound",
    [
        ("tanh", 1.2, True, -12.4, 7.92),
        ("tanh", 1.2, False, 2.0, 7.92),
        ("tanh", 1.0, True, -19.7, 0.0),
        ("sigmoid", 2.0, True, -41.0, -30.1),
    ],
)
def test_measured_norms_stay_below_the_bound_and_may_be_far_below(
    nonlinearity, gain, driven, expected, bound
):
    """RN-O5, RN-E4: g = 1.2 may explode and, driven by noise, vanishes. RN-E1: undriven it grows, so that the
    slope of tanh has no bound below 1. Three seeds."""
    for seed in range(3):
        cell = RNNCell(64, 64, nonlinearity).double()
        cell.weight_h.data, cell.weight_x.data = orthogonal(64, gain, seed), torch.eye(64).double()
        x = drawn(101, 64, seed=10 + seed) * driven
        start = State(drawn(1, 64, seed=20 + seed))
        norms = log_norms(cell, x, start)
        bounds = gradient_bound(cell, torch.arange(101)).log10()
        assert bounds[100].item() == pytest.approx(bound, abs=0.01)
        assert (norms <= bounds + 1e-9).all()
        assert norms[100].item() == pytest.approx(expected, abs=2.5)
        if nonlinearity == "tanh" and gain == 1.2:
            assert norms[100] < -5 if driven else norms[100] > 0


# --- The memory of an LSTM ------------------------------------------------------------------------


def test_the_memory_of_an_lstm_has_indirect_paths():
    """RN-O7, RN-E5: ∂cell₂/∂cell₁ is .906825, and its direct path f₂ = .827766 only."""
    cell = scalar(LSTMCell(1, 1), **LSTM_ROWS)
    x = exactly([[[1.0], [-1.0]]])
    (first, gates), (_, later) = cell.unroll(x, State(one(0.2), one(0.5)))[2]
    direct, indirect = cell_jacobian(cell, later, first, gates["o"])
    assert direct.item() == pytest.approx(0.827766, abs=1e-6)
    assert (direct + indirect).item() == pytest.approx(0.906825, abs=1e-6)


def test_the_path_along_the_memory_is_what_autograd_finds():
    cell = randomised(LSTMCell(3, 4))
    x = drawn(2, 3, 3)
    start = State(drawn(2, 4, seed=3), drawn(2, 4, seed=4))
    first, gates = cell.advance(cell.project(x[:, 0]), start)
    _, later = cell.advance(cell.project(x[:, 1]), first)
    direct, indirect = cell_jacobian(cell, later, first, gates["o"])

    def memory(now: Tensor) -> Tensor:
        return cell(x[:, 1], State(gates["o"] * now.tanh(), now)).cell.sum(0)

    expected = torch.autograd.functional.jacobian(memory, first.cell).transpose(0, 1)  # (B, H, H)
    torch.testing.assert_close(direct + indirect, expected, rtol=0, atol=1e-12)


# --- NADE as a recurrence --------------------------------------------------------------------------


def test_nade_is_a_linear_recurrence_with_weights_for_each_place():
    """RN-O14, RN-03: a_t = a_{t−1} + W_{:,t−1} x_{t−1}: the transition is the identity."""
    nade = NADE(event_shape=(7,), hidden=4).double()
    x = (drawn(3, 7) > 0).double()
    cell = RNNCell(7, 4, "identity").double()  # x_t at its place of a vector: its column of W is read
    cell.weight_h.data, cell.weight_x.data = torch.eye(4).double(), nade.weight.detach()[:, 0].T
    a = cell.unroll(torch.diag_embed(x), State(nade.start.expand(3, -1)))[0]
    before = torch.cat([nade.start.expand(3, 1, -1), a[:, :-1]], 1)
    torch.testing.assert_close(nade.states(x), before, rtol=0, atol=1e-12)
    logits = (before.sigmoid() * nade.readout[:, 0]).sum(-1) + nade.bias[:, 0]
    torch.testing.assert_close(nade.logits(x), logits, rtol=0, atol=1e-12)
