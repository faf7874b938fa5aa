"""NADE against worked numbers, enumeration, and its own definition computed from scratch."""

import itertools
import math
from collections.abc import Callable

import contracts
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from lab import weights
from lab.experiments import ZOO
from modules.autoregressive.base import Autoregressive
from modules.autoregressive.fvsbn import FVSBN
from modules.autoregressive.made import MADE
from modules.autoregressive.nade import NADE, read_out


def all_values(n: int, values: int = 2) -> Tensor:
    return torch.tensor(list(itertools.product(range(values), repeat=n)), dtype=torch.float64)


def f64(values: list) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def worked() -> NADE:
    """n = 3, d = 2: W = [[1, -1, .5], [.5, 2, -1]], c = (0, -.5), V = [[1, -1], [.5, 1], [-2, 1]]."""
    model = NADE(event_shape=(3,), hidden=2).double().requires_grad_(False)
    model.weight.copy_(f64([[1, -1, 0.5], [0.5, 2, -1]]).t()[:, None])
    model.start.copy_(f64([0, -0.5]))
    model.readout.copy_(f64([[1, -1], [0.5, 1], [-2, 1]])[:, None])
    model.bias.copy_(f64([0.1, 0, -0.2])[:, None])
    return model


def by_definition(model: NADE, x: Tensor) -> Tensor:
    """Logits (B, n, O), every state summed anew from W and x_<i: what nobody would do."""
    u = model.inputs(x)
    out = torch.empty(len(x), model.n, model.readout.shape[1], dtype=x.dtype)
    for t, i in enumerate(model.order.tolist()):
        a = model.start.expand(len(x), -1)
        for j in model.order[:t].tolist():
            a = a + u[:, j] @ model.weight[j]
        out[:, i] = torch.sigmoid(a) @ model.readout[i].t() + model.bias[i]
    return out


MODELS: dict[str, Callable[[], NADE]] = {
    "bits": lambda: NADE(event_shape=(9,), hidden=4, chunk=4),
    "one chunk": lambda: NADE(event_shape=(9,), hidden=4, chunk=64),
    "chunks of one": lambda: NADE(event_shape=(9,), hidden=4, chunk=1),
    "random order": lambda: NADE(event_shape=(9,), hidden=4, chunk=4, order="random"),
    "three values": lambda: NADE(event_shape=(9,), hidden=4, num_categories=3, chunk=12),
    "one-hot, reversed": lambda: NADE(
        event_shape=(9,), hidden=4, num_categories=3, one_hot=True, order="reversed"
    ),
}
models = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)


def entries(model: NADE, batch: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(model.num_categories, (batch, model.n), generator=generator).double()


# --- Numbers ------------------------------------------------------------------------------------


def test_the_worked_network_of_three_bits():
    model, x = worked(), f64([[1, 0, 1]])
    torch.testing.assert_close(
        model.conditionals(x), f64([[0.55538661, 0.70381459, 0.23828280]]), rtol=0, atol=1e-8
    )
    assert model.log_prob(x).item() == pytest.approx(-3.2391575, abs=1e-7)
    assert model.log_prob(all_values(3)).exp().sum().item() == pytest.approx(1, abs=1e-12)


def test_the_printed_figure_with_a_bias_in_both_places_is_another_network():
    """A figure of the text adds c in every σ(a_i + c); with a_1 = c the bias would count twice."""
    model, x = worked(), f64([[1, 0, 1]])
    right = model.log_prob(x)
    twice = torch.sigmoid(model.states(x) + model.start)
    logits = (twice[:, :, None] * model.readout).sum(-1) + model.bias
    assert (model.conditional_log_prob(logits[..., 0], x).sum(-1) - right).abs() > 0.01
    # started from 0 and biased in each σ it is the same again
    once = torch.sigmoid((model.states(x) - model.start) + model.start)
    logits = (once[:, :, None] * model.readout).sum(-1) + model.bias
    torch.testing.assert_close(
        model.conditional_log_prob(logits[..., 0], x).sum(-1), right, rtol=0, atol=1e-12
    )


def count(**arguments) -> int:
    with torch.device("meta"):
        return sum(p.numel() for p in NADE(**arguments).parameters())


def test_parameter_counts_of_the_published_sizes():
    assert count(hidden=500) == 785_284
    assert count(hidden=500, num_categories=256) == 100_945_204
    assert count(hidden=500, num_categories=256, one_hot=True) == 200_905_204
    model = NADE(hidden=500)
    assert model.weight.numel() == 392_000 and model.weight[:-1].numel() == 391_500
    assert NADE(event_shape=(3,), hidden=2).num_parameters == 17


def test_zero_logits_cost_one_bit_or_eight_a_pixel():
    for values, nats, bits in ((2, 543.4274, 1), (256, 4347.419, 8)):
        logits = torch.zeros(1, 784) if values == 2 else torch.zeros(1, 784, values)
        model = NADE(event_shape=(784,), hidden=1, num_categories=values)
        nll = -model.conditional_log_prob(logits.double(), torch.zeros(1, 784).double()).sum().item()
        assert nll == pytest.approx(nats, abs=1e-3)
        assert nll / (784 * math.log(2)) == pytest.approx(bits, abs=1e-9)


def test_xor_needs_the_hidden_layer():
    """Two units with thresholds 1/2 and 3/2 on x_1 + x_2 compute the exclusive or."""
    model = NADE(event_shape=(3,), hidden=2).double().requires_grad_(False)
    for p in model.parameters():
        p.zero_()
    model.weight[:2] = 20.0
    model.start.copy_(f64([-10, -30]))
    model.readout[2] = f64([[20, -20]])
    model.bias[2] = -10.0
    p = model.conditionals(f64([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0]]))[:, 2]
    torch.testing.assert_close(p, f64([4.54e-5, 0.9999545, 0.9999545, 4.54e-5]), rtol=0, atol=1e-7)


def test_four_units_learn_xor():
    torch.manual_seed(0)
    data = f64([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]])
    model = NADE(event_shape=(3,), hidden=4).double()
    contracts.overfits_one_batch(
        model, (data,), below=2 * math.log(2) + 0.002, floor=2 * math.log(2), steps=1500, lr=0.05
    )


# --- The running state --------------------------------------------------------------------------


@models
def test_all_forms_of_the_recurrence_agree(make):
    """In chunks, with all states kept, and one column at a time: all equal the sums taken anew."""
    model = contracts.exact(make(), scale=1.0)
    x = entries(model, 20)
    expected = by_definition(model, x)
    torch.testing.assert_close(model.outputs(x), expected, rtol=0, atol=1e-12)
    kept = torch.einsum("bnd,nod->bno", model.states(x).sigmoid(), model.readout) + model.bias
    torch.testing.assert_close(kept, expected, rtol=0, atol=1e-12)
    drawn, logits = model._draw(20, None, model.order, 0, 1.0, torch.Generator().manual_seed(0))
    torch.testing.assert_close(
        logits.reshape(expected.shape), by_definition(model, drawn), rtol=0, atol=1e-12
    )


@models
def test_a_later_value_changes_no_bit_of_what_comes_before(make):
    model = contracts.exact(make(), scale=1.0)
    x = entries(model, 3)
    for t, i in enumerate(model.order.tolist()):
        other = x.clone()
        other[:, i] = (x[:, i] + 1) % model.num_categories
        up_to = model.order[: t + 1]
        assert torch.equal(by_definition(model, other)[:, up_to], by_definition(model, x)[:, up_to])
        # in chunks the rows of a product may change places, and with them the last bit of a sum
        one, two = (model.outputs(v)[:, up_to] for v in (other, x))
        torch.testing.assert_close(one, two, rtol=0, atol=1e-14)


def by_one_sweep_back(model: NADE, x: Tensor, upstream: Tensor) -> dict[str, Tensor]:
    """Gradients of (outputs * upstream).sum() by hand: from the last variable to the first, `later` is the
    gradient of the state from everything after it."""
    u = model.inputs(x)
    gradient = {name: torch.zeros_like(p) for name, p in model.named_parameters()}
    later = torch.zeros(len(x), model.hidden, dtype=x.dtype)
    for i in reversed(model.order.tolist()):
        h, g = model.states(x)[:, i].sigmoid(), upstream[:, i]  # (B, d), (B, O)
        gradient["weight"][i] = u[:, i].t() @ later  # W_i is added after h_i was read
        gradient["readout"][i], gradient["bias"][i] = g.t() @ h, g.sum(0)
        later = later + (g @ model.readout[i]) * h * (1 - h)
    gradient["start"] = later.sum(0)
    return gradient


@models
def test_the_backward_sweep_by_hand_equals_autograd_and_finite_differences(make):
    model = contracts.exact(make(), scale=1.0)
    x = entries(model, 6)
    upstream = torch.randn(6, model.n, model.readout.shape[1], dtype=torch.float64).sin()
    names, parameters = zip(*model.named_parameters(), strict=True)
    automatic = torch.autograd.grad((model.outputs(x) * upstream).sum(), parameters)
    by_hand = by_one_sweep_back(model.requires_grad_(False), x, upstream)
    for name, mine in zip(names, automatic, strict=True):
        torch.testing.assert_close(
            mine, by_hand[name], rtol=0, atol=1e-12, msg=lambda m, name=name: f"{name}: {m}"
        )
    u = torch.randn(3, 5, 2, dtype=torch.float64, requires_grad=True)
    shapes = ((5, 2, 4), (4,), (5, 3, 4))
    others = [torch.randn(s, dtype=torch.float64, requires_grad=True) for s in shapes]
    assert torch.autograd.gradcheck(lambda *a: read_out(*a, 2), (u, *others), atol=1e-6)


def test_the_input_of_a_zero_has_a_derivative_too():
    """States that are equal in value must not be merged where the gradient of the input is asked for."""
    model = contracts.exact(NADE(event_shape=(9,), hidden=4, chunk=4), scale=1.0)
    x = torch.zeros(2, 9, dtype=torch.float64, requires_grad=True)
    upstream = torch.arange(9.0, dtype=torch.float64)[:, None].sin()
    (mine,) = torch.autograd.grad((model.outputs(x) * upstream).sum(), x)
    (theirs,) = torch.autograd.grad((by_definition(model, x) * upstream).sum(), x)
    torch.testing.assert_close(mine, theirs, rtol=0, atol=1e-12)
    assert mine[:, :-1].all()


def test_the_column_of_the_last_variable_is_dead():
    model = contracts.exact(NADE(event_shape=(9,), hidden=4, chunk=4, order="random"))
    (gradient,) = torch.autograd.grad(model.log_prob(entries(model, 8)).sum(), model.weight)
    assert (gradient[model.order[-1]] == 0).all()
    assert (gradient[model.order[:-1]] != 0).all()


def test_equal_states_are_computed_once(monkeypatch):
    """The work of one pass over digits grows with the ink, not with the pixels."""
    rows: list[int] = []
    sigmoid = Tensor.sigmoid_
    monkeypatch.setattr(Tensor, "sigmoid_", lambda self: rows.append(self.numel()) or sigmoid(self))
    model = NADE(event_shape=(64,), hidden=8, chunk=16)
    for share in (0.0, 0.5, 1.0):
        rows.clear()
        x = (torch.arange(64) % 16 < 16 * share).float().expand(10, 64)
        model.log_prob(x)
        new = (x.reshape(10, 4, 16)[:, :, :-1] != 0).sum().item() + 10 * 4
        assert sum(rows) == 8 * new
    assert sum(rows) == 8 * 10 * 64


# --- K values -----------------------------------------------------------------------------------


@pytest.mark.parametrize("one_hot", [False, True])
def test_three_values_sum_to_one(one_hot):
    model = contracts.exact(NADE(event_shape=(3,), hidden=4, num_categories=3, one_hot=one_hot), scale=1.5)
    p = model.log_prob(all_values(3, 3)).exp()
    assert len(p) == 27 and p.sum().item() == pytest.approx(1, abs=1e-12)
    assert p.max() > 3 * p.min()


def test_two_values_by_softmax_are_the_logistic_of_their_difference():
    """A softmax over two is σ of the difference of its logits."""
    torch.manual_seed(0)
    bits = contracts.exact(NADE(event_shape=(4,), hidden=3))
    x = all_values(4)
    logits = bits.logits(x)
    two = torch.stack([torch.zeros_like(logits), logits], -1)
    each = F.log_softmax(two, -1).gather(-1, x.long()[..., None])[..., 0]
    torch.testing.assert_close(each.sum(-1), bits.log_prob(x), rtol=0, atol=1e-12)


def test_inputs_are_scaled_or_one_hot():
    x = f64([[0, 1, 2, 4]])
    scaled = NADE(event_shape=(4,), hidden=2, num_categories=5)
    assert scaled.inputs(x)[0, :, 0].tolist() == [0, 0.25, 0.5, 1]
    hot = NADE(event_shape=(4,), hidden=2, num_categories=5, one_hot=True)
    assert torch.equal(hot.inputs(x)[0], torch.eye(5, dtype=torch.float64)[[0, 1, 2, 4]])
    with pytest.raises(ValueError, match="whole numbers 0 to 4"):
        scaled.log_prob(f64([[0, 1, 2, 5]]))
    with pytest.raises(ValueError, match="hidden"):
        NADE(event_shape=(4,), hidden=0)


# --- Against other members ----------------------------------------------------------------------


def test_enough_units_reach_a_joint_that_no_fvsbn_reaches():
    x = all_values(3)
    joint = torch.rand(8, generator=torch.Generator().manual_seed(0), dtype=torch.float64) + 0.05
    joint /= joint.sum()
    entropy = -(joint * joint.log()).sum().item()
    reached = {}
    for name, make in {
        "nade": lambda: NADE(event_shape=(3,), hidden=16),
        "fvsbn": lambda: FVSBN((3,)),
    }.items():
        torch.manual_seed(1)
        model = make().double()
        optimizer = torch.optim.LBFGS(
            model.parameters(), max_iter=800, history_size=30, line_search_fn="strong_wolfe",
            tolerance_change=1e-14, tolerance_grad=1e-10,
        )  # fmt: skip

        def closure(model=model, optimizer=optimizer) -> Tensor:
            optimizer.zero_grad()
            loss = -(joint * model.log_prob(x)).sum()
            loss.backward()
            return loss

        optimizer.step(closure)
        reached[name] = closure().item()
    assert entropy - 1e-10 <= reached["nade"] <= entropy + 1e-4
    assert reached["fvsbn"] > entropy + 1e-3


@pytest.mark.parametrize("kind", [NADE, FVSBN])
def test_relabelling_variables_with_their_order_changes_nothing(kind):
    model = contracts.exact(kind(event_shape=(6,), order=[4, 1, 3, 0, 5, 2]))
    perm = [3, 0, 5, 1, 4, 2]  # new variable v is old variable perm[v]
    other = contracts.exact(kind(event_shape=(6,), order=[perm.index(j) for j in model.order.tolist()]))
    with torch.no_grad():
        for (name, mine), theirs in zip(other.named_parameters(), model.parameters(), strict=True):
            # by variable: permuted; by place in the order (FVSBN's rows) or unit: as they are
            per_variable = len(theirs) == 6 and name != "start"
            mine.copy_(theirs[perm] if per_variable else theirs)
    x = all_values(6)
    torch.testing.assert_close(other.log_prob(x[:, perm]), model.log_prob(x), rtol=0, atol=1e-12)


def test_a_draw_asks_for_each_conditional_once():
    model = NADE(event_shape=(12,), hidden=4, order="random")
    asked: list[int] = []
    walk = model._sequential_logits
    model._sequential_logits = lambda x, order, index, start: (
        asked.append(1) or o for o in walk(x, order, index, start)
    )
    model.sample(3)
    assert len(asked) == 12
    asked.clear()
    given = torch.full((12,), torch.nan)
    given[model.order[:5]] = 1.0
    model.sample(3, given=given)
    assert len(asked) == 7


# --- Cost ---------------------------------------------------------------------------------------


class CountMultiplyAdds(torch.utils._python_dispatch.TorchDispatchMode):
    """Multiply-adds of all matrix products that really run."""

    def __init__(self) -> None:
        super().__init__()
        self.total = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function.overloadpacket.__name__
        if name in ("mm", "addmm", "addmm_"):
            a, b = args[-2:]
            self.total += a.numel() * (b.shape[1] if b.ndim == 2 else 1)
        return function(*args, **(kwargs or {}))


def cost(call: Callable[[], object]) -> int:
    with torch.no_grad(), CountMultiplyAdds() as counted:
        call()
    return counted.total


def test_sampling_costs_one_row_a_variable_and_one_column_a_one():
    """At most 2 n d multiply-adds in n steps; a one-pass evaluation for each would cost n times that."""
    for n, d in ((20, 7), (40, 7), (784, 500)):
        model = NADE(event_shape=(n,), hidden=d)
        drawn: list[Tensor] = []
        spent = cost(lambda model=model, drawn=drawn: drawn.append(model.sample(1)))
        assert spent == n * d + int(drawn[0].sum()) * d <= 2 * n * d
        model.bias.data.fill_(100.0)  # every bit is 1
        assert cost(lambda model=model: model.sample(1)) == 2 * n * d
    # n = 784, d = 500: 784,000; recomputing every state: n(n-1)/2 columns
    assert 2 * 784 * 500 == 784_000 and 784 * 783 // 2 * 500 + 784 * 500 == 153_860_000


def test_a_model_without_running_state_pays_a_pass_a_variable():
    one_pass = cost(lambda: MADE(event_shape=(784,), hidden=[500]).log_prob(torch.ones(1, 784)))
    assert one_pass == 784_000  # as much as NADE's whole draw; 784 passes: 614,656,000

    class Naive(MADE):
        _sequential_logits = Autoregressive._sequential_logits

    for n in (10, 20):
        model = Naive(event_shape=(n,), hidden=[7])
        assert cost(lambda model=model: model.sample(1)) == n * cost(
            lambda model=model, n=n: model.log_prob(torch.ones(1, n))
        )


# --- Weights that ship --------------------------------------------------------------------------


def test_the_card_of_the_digits_is_reproduced_and_beats_the_linear_model():
    from datamodules.digits import Digits

    data = Digits(binarize="threshold")
    data.setup("test")
    x, _ = data.test_set[torch.arange(len(data.test_set))]
    card = weights.read_card(ZOO / "nade-digits")
    nll = -weights.load("nade-digits").log_prob(x).mean().item()
    assert nll == pytest.approx(card["metrics"]["test/nll"], abs=1e-4)
    assert math.log(250) < nll < weights.read_card(ZOO / "fvsbn-digits")["metrics"]["test/nll"]


def test_the_card_of_mnist_holds_what_was_promised():
    card = weights.read_card(ZOO / "nade-mnist")
    assert card["data"]["binarize"] == "dynamic" and card["parameters"] == 785_284
    assert math.log(10_000) < card["metrics"]["test/nll"] <= 90
    assert (ZOO / "nade-mnist" / "model.safetensors").stat().st_size < 4e6


@pytest.mark.real_data
def test_the_card_of_mnist_is_reproduced_on_some_digits(real_data):
    real_data("MNIST")
    from datamodules.mnist import MNIST

    data = MNIST(binarize="dynamic")
    data.setup("test")
    x = data.test_set[torch.arange(500)][0]
    with torch.no_grad():
        nll = -weights.load("nade-mnist").log_prob(x)
    expected = weights.read_card(ZOO / "nade-mnist")["metrics"]["test/nll"]
    assert abs(nll.mean() - expected) < 4 * nll.std() / 500**0.5
    # the same bits pixel by pixel with the pixels in another order are a far worse guess
    assert -weights.load("nade-mnist").log_prob(x[:50], order="random").mean() > expected + 50
