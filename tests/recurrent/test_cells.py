"""Cells and stacks: torch's own with the same weights, the texts' numbers, padding, both ways."""

import math

import pytest
import torch
from torch import Tensor, nn

from modules.recurrent.cell import Cell, State
from modules.recurrent.gru import GRUCell
from modules.recurrent.lstm import LSTMCell
from modules.recurrent.rnn import RNNCell
from modules.recurrent.stack import TORCH_NAMES, Recurrent, reverse

PEERS = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}
GRU = Recurrent("gru", 3, 4)
LENGTHS = torch.tensor([3, 7, 1, 5])


def randomised(module: nn.Module, seed: int = 0) -> nn.Module:
    """In float64, with all parameters drawn: biases too."""
    generator = torch.Generator().manual_seed(seed)
    module.double()
    for p in module.parameters():
        p.data = 0.5 * torch.randn(p.shape, generator=generator, dtype=torch.float64)
    return module


def drawn(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def peer_of(network: Recurrent, name: str, inputs: int, **settings) -> nn.RNNBase:
    """Torch's network with the same weights, its second bias 0 where ours has none."""
    peer = PEERS[name](
        inputs,
        network.hidden,
        network.layers,
        bidirectional=network.bidirectional,
        batch_first=True,
        dropout=network.dropout,
        **settings,
    ).double()
    weights = [w for c in network.cells for w in (c.weight_x, c.weight_h, c.bias, c.recurrent_bias())]
    for to, weight in zip(peer._flat_weights, weights, strict=True):
        to.data.copy_(weight.detach())
    return peer


def as_torch(state: State):
    parts = [s.transpose(0, 1).contiguous() for s in (state.h, state.cell) if s is not None]
    return parts[0] if len(parts) == 1 else tuple(parts)


def close(ours: State, theirs) -> None:
    theirs = theirs if isinstance(theirs, tuple) else (theirs,)
    mine = [s for s in (ours.h, ours.cell) if s is not None]
    for a, b in zip(mine, theirs, strict=True):
        torch.testing.assert_close(a, b.transpose(0, 1), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "name, options, peer",
    [
        ("rnn", {}, {}),
        ("rnn", {"nonlinearity": "relu"}, {"nonlinearity": "relu"}),
        ("lstm", {}, {}),
        ("gru", {}, {}),
        ("rnn", {"biases": 2}, {}),
        ("lstm", {"biases": 2}, {}),
        ("gru", {"biases": 2}, {}),
    ],
)
@pytest.mark.parametrize("layers, both", [(1, False), (3, False), (2, True)])
def test_cells_are_those_of_torch(name, options, peer, layers, both):
    """Outputs, states and the gradients by inputs and weights, with a first state; fused and in our loop."""
    network = randomised(Recurrent(name, 3, 4, layers, both, **options))
    peer = peer_of(network, name, 3, **peer)
    x, weights = drawn(5, 6, 3), drawn(5, 6, network.outputs, seed=2)
    start = network.initial_state(x).map(lambda s: drawn(*s.shape, seed=3))
    theirs, their_state = peer(x, as_torch(start))
    parameters = list(network.parameters())
    for outputs, state in (network(x, start), network.unroll(x, start)[:2]):
        torch.testing.assert_close(outputs, theirs, rtol=0, atol=1e-12)
        close(state, their_state)
        grads = torch.autograd.grad((outputs * weights).sum(), parameters)
        expected = torch.autograd.grad((theirs * weights).sum(), peer._flat_weights, retain_graph=True)
        by_weight = dict(zip(map(id, peer._flat_weights), expected, strict=True))
        ours = dict(zip(map(id, parameters), grads, strict=True))
        for number, cell in enumerate(network.cells):
            w_x, w_h, b, b_h = peer._flat_weights[4 * number : 4 * number + 4]
            pairs = [(cell.weight_x, w_x), (cell.weight_h, w_h), (cell.bias, b)]
            for mine, other in pairs:
                torch.testing.assert_close(ours[id(mine)], by_weight[id(other)], rtol=0, atol=1e-10)
            if cell.bias_h is not None:
                torch.testing.assert_close(ours[id(cell.bias_h)], by_weight[id(b_h)], rtol=0, atol=1e-10)
            elif name == "gru":
                torch.testing.assert_close(
                    ours[id(cell.bias_hn)], by_weight[id(b_h)][-4:], rtol=0, atol=1e-10
                )


@pytest.mark.parametrize("name", PEERS)
def test_fast_kernels_run_when_nobody_looks_in(name, monkeypatch):
    network = Recurrent(name, 3, 4, 2)
    monkeypatch.setattr(Cell, "unroll", None)
    network(torch.zeros(2, 5, 3))
    network(torch.zeros(2, 5, 3), lengths=torch.tensor([2, 5]))
    with pytest.raises(TypeError):
        network.unroll(torch.zeros(2, 5, 3))


@pytest.mark.parametrize("name, options", [("rnn", {}), ("lstm", {"forget_bias": 0.0}), ("gru", {})])
def test_two_biases_are_drawn_as_torch_draws_them_and_read_from_its_files(name, options):
    torch.manual_seed(0)
    ours, next_draw = Recurrent(name, 3, 4, biases=2, **options), torch.rand(1)
    torch.manual_seed(0)
    peer, peer_draw = PEERS[name](3, 4), torch.rand(1)
    named = {TORCH_NAMES[k]: v for k, v in peer.state_dict().items()}
    assert list(named) == list(ours.state_dict()) and next_draw == peer_draw
    assert all(torch.equal(v, named[k]) for k, v in ours.state_dict().items())
    one = Recurrent(name, 3, 4, **options).cells[0]
    assert (one.bias == 0).all() and (one.recurrent_bias() == 0).all()


def test_a_bias_of_choice_is_added_to_what_is_drawn():
    for build, name in ((LSTMCell, "forget_bias"), (GRUCell, "update_bias")):
        cells = []
        for value in (0.0, 3.0):
            torch.manual_seed(0)
            cells.append(build(3, 4, biases=2, **{name: value}))
        moved = (cells[1].bias - cells[0].bias).detach()
        torch.testing.assert_close(moved[4:8], torch.full((4,), 3.0))
        assert (moved[:4] == 0).all() and (moved[8:] == 0).all() and cells[0].bias.abs().max() <= 0.5


def test_counts_of_parameters():
    """RN-O10: one bias here, two in torch."""
    count = lambda module: sum(p.numel() for p in module.parameters())  # noqa: E731
    assert count(RNNCell(128, 256)) == 98_560 and count(nn.RNN(128, 256)) == 98_816
    assert count(GRUCell(128, 256, reset="before")) == 295_680 and count(nn.GRU(128, 256)) == 296_448
    assert count(GRUCell(128, 256)) == 295_680 + 256  # b_hn
    assert count(GRUCell(128, 256, biases=2)) == 296_448
    assert count(LSTMCell(128, 256)) == 394_240 and count(nn.LSTM(128, 256)) == 395_264
    torch_bias = 6 * 4 * 256
    assert count(Recurrent("lstm", 128, 256, 3, bidirectional=True)) == 3_944_448 - torch_bias


@pytest.mark.parametrize("name", PEERS)
def test_dropout_between_layers_is_that_of_torch(name):
    network = randomised(Recurrent(name, 3, 4, 3, dropout=0.4)).train()
    peer = peer_of(network, name, 3).train()
    x = drawn(5, 6, 3)
    torch.manual_seed(0)
    outputs, _ = network(x)
    torch.manual_seed(0)
    torch.testing.assert_close(outputs, peer(x)[0])
    assert (network.unroll(x)[0] - network.eval()(x)[0]).abs().max() > 1e-3  # the loop drops too
    torch.testing.assert_close(network.unroll(x)[0], network(x)[0])


# --- Numbers by hand ------------------------------------------------------------------------------


def scalar(cell: Cell, **rows: tuple[float, float, float]) -> Cell:
    """A cell with D = H = 1: (w_h, w_x, b) of each block."""
    cell.double()
    values = torch.tensor([rows[name] for name in cell.BLOCKS], dtype=torch.float64)
    cell.weight_h.data, cell.weight_x.data, cell.bias.data = values[:, :1], values[:, 1:2], values[:, 2]
    return cell


def one(value: float) -> Tensor:
    return torch.tensor([[value]], dtype=torch.float64)


LSTM_ROWS = {"f": (0.5, -0.4, 1), "i": (-0.3, 0.8, 0), "candidate": (0.7, 0.6, 0), "o": (0.1, -0.2, 0.3)}
GRU_ROWS = {"z": (0.4, -0.5, 0.1), "r": (-0.6, 0.9, 0), "candidate": (0.8, 0.3, 0.2)}


def test_scalar_lstm():
    """RN-O7."""
    cell = scalar(LSTMCell(1, 1), **LSTM_ROWS)
    x = torch.tensor([[[1.0], [-1.0]]], dtype=torch.float64)
    _, _, steps = cell.unroll(x, State(one(0.2), one(0.5)))
    (first, gates), (second, later) = steps
    seen = [gates["f"], gates["i"], gates["o"], gates["candidate"], first.cell, first.h]
    expected = [0.668188, 0.676996, 0.529964, 0.629145, 0.760023, 0.339755]
    assert [s.item() for s in seen] == pytest.approx(expected, abs=1e-6)
    assert [s.item() for s in (later["f"], second.cell, second.h)] == pytest.approx(
        [0.827766, 0.528922, 0.305469], abs=1e-6
    )


def test_scalar_gru():
    """RN-O9: the convention of the update gate, and where the reset stands."""
    cell = scalar(GRUCell(1, 1), **GRU_ROWS)
    after, gates = cell.advance(cell.project(one(1.0)), State(one(0.5)))
    assert [gates[k].item() for k in ("z", "r", "candidate")] == pytest.approx(
        [0.450166, 0.645656, 0.640052], abs=1e-6
    )
    assert after.h.item() == pytest.approx(0.577006, abs=1e-6)
    swapped = gates["z"] * gates["candidate"] + (1 - gates["z"]) * 0.5
    assert swapped.item() == pytest.approx(0.563047, abs=1e-6)  # the other convention is another function
    cell.bias.data[2], cell.bias_hn.data[0] = 0.0, 0.2  # the bias inside the bracket of the reset
    assert cell(one(1.0), State(one(0.5))).h.item() == pytest.approx(0.552952, abs=1e-6)


@pytest.mark.parametrize("reset, product", [("before", (0.48, 0.14)), ("after", (0.72, -0.02))])
def test_reset_before_and_after_are_different_functions(reset, product):
    """RN-O9: U (r ⊙ h) and r ⊙ (U h) of r = (.9, .1), h = (1, −1)."""
    cell = GRUCell(1, 2, reset=reset).double()
    for p in cell.parameters():
        p.data.zero_()
    cell.weight_h.data[4:] = torch.tensor([[0.5, -0.3], [0.2, 0.4]], dtype=torch.float64)
    cell.bias.data[:2] = torch.logit(torch.tensor([0.9, 0.1], dtype=torch.float64))
    h = torch.tensor([[1.0, -1.0]], dtype=torch.float64)
    _, gates = cell.advance(cell.project(one(0.0)), State(h))
    assert gates["candidate"].atanh()[0].tolist() == pytest.approx(product, abs=1e-10)


# --- Starts, and what is frozen -------------------------------------------------------------------


def test_biases_and_orthogonal_weights_at_the_start():
    lstm = LSTMCell(3, 5, forget_bias=4.0, start="orthogonal")
    assert (lstm.bias == torch.tensor([0.0] * 5 + [4.0] * 5 + [0.0] * 10)).all()
    gru = GRUCell(3, 5, update_bias=-2.0)
    assert (gru.bias == torch.tensor([0.0] * 5 + [-2.0] * 5 + [0.0] * 5)).all()
    for block in lstm.weight_h.detach().split(5):
        torch.testing.assert_close(block @ block.T, torch.eye(5))
    assert gru.weight_h.abs().max() <= 5**-0.5


def test_half_life_of_a_memory_by_the_forget_bias():
    """RN-O8, and the text's memory that does not fade (RN-E5): ∏ f over 100 steps."""
    for bias, gate, half, left in (
        (0, 0.5, 1, 7.9e-31),
        (1, 0.731059, 2.21, 2.48e-14),
        (2, 0.880797, 5.46, 3.07e-6),
        (5, 0.993307, 103.2, 0.510924),
        (7, 0.999089, 760.5, 0.912884),
    ):
        cell = LSTMCell(1, 1, forget_bias=bias).double()
        cell.weight_h.data.zero_(), cell.weight_x.data.zero_()
        x, memory = torch.zeros(1, 100, 1).double(), one(0.3).requires_grad_()
        _, end, steps = cell.unroll(x, State(one(0.0), memory))
        (grad,) = torch.autograd.grad(end.cell.sum(), memory)
        assert steps[0][1]["f"].item() == pytest.approx(gate, abs=1e-6)
        assert -math.log(2) / math.log(gate) == pytest.approx(half, rel=5e-3)
        assert grad.item() == pytest.approx(left, rel=5e-3)
    assert -math.log(2) / math.log(1 / (1 + math.exp(-4.968))) == pytest.approx(100, rel=2e-3)
    assert -math.log(2) / math.log(1 / (1 + math.exp(-7.274))) == pytest.approx(1000, rel=2e-3)


def test_the_cell_of_1997_keeps_its_memory_and_cannot_reset_it():
    """RN-O8 and RN-E6: f ≡ 1 hands the memory on whole; a forget gate drops it where a stream begins."""
    x = drawn(1, 10, 3)
    cell = randomised(LSTMCell(3, 4, frozen={"f": 1.0}))
    cell.weight_h.data.zero_()
    memory = drawn(1, 4, seed=5).requires_grad_()
    _, end, _ = cell.unroll(x, State(torch.zeros(1, 4).double(), memory))
    jacobian = torch.stack([torch.autograd.grad(s, memory, retain_graph=True)[0][0] for s in end.cell[0]])
    torch.testing.assert_close(jacobian, torch.eye(4).double())
    cell.frozen = {"f": 0.5}
    _, end, _ = cell.unroll(x, State(torch.zeros(1, 4).double(), memory))
    assert torch.autograd.grad(end.cell[0, 0], memory)[0][0, 0].item() == pytest.approx(9.765625e-4)

    # a marker input of −1 begins a new sequence: the gate that reads it forgets, f ≡ 1 carries all on
    stream = torch.tensor([0.7, 0.9, -1.0, 0.4]).double().reshape(1, 4, 1)
    rows = {"i": (0, 0, 5), "f": (0, 40, 20), "candidate": (0, 1, 0), "o": (0, 0, 5)}
    ends = {}
    for name, frozen in (("gate", None), ("1997", {"f": 1.0})):
        cell = scalar(LSTMCell(1, 1, frozen=frozen), **rows)
        ends[name] = cell.unroll(stream)[1].cell.item()
        ends[name, "alone"] = cell.unroll(stream[:, 2:])[1].cell.item()
    assert ends["gate"] == pytest.approx(ends["gate", "alone"], abs=1e-8)
    assert ends["1997"] - ends["1997", "alone"] > 1


@pytest.mark.parametrize("cell, gate", [(LSTMCell, "o"), (LSTMCell, "i"), (GRUCell, "r"), (GRUCell, "z")])
def test_a_frozen_gate_is_its_number(cell, gate):
    frozen = randomised(cell(3, 4, frozen={gate: 0.25}))
    steps = frozen.unroll(drawn(2, 5, 3))[2]
    assert all((gates[gate] == 0.25).all() for _, gates in steps)
    free = randomised(cell(3, 4))
    assert (frozen.unroll(drawn(2, 5, 3))[0] - free.unroll(drawn(2, 5, 3))[0]).abs().max() > 1e-3


# --- Padding, both ways ---------------------------------------------------------------------------

ALL = [
    ("rnn", {}),
    ("rnn", {"nonlinearity": "sigmoid"}),
    ("lstm", {}),
    ("lstm", {"frozen": {"f": 1.0}}),
    ("gru", {}),
    ("gru", {"reset": "before"}),
    ("rnn", {"biases": 2}),
    ("lstm", {"biases": 2}),
    ("gru", {"biases": 2}),
    ("gru", {"biases": 2, "reset": "before"}),
]


@pytest.mark.parametrize("name, options", ALL)
@pytest.mark.parametrize("both", [False, True])
def test_a_padded_batch_gives_what_its_sequences_give_alone(name, options, both):
    """RN-O11: values, states and gradients, whatever stands in the padding."""
    network = randomised(Recurrent(name, 3, 4, 2, both, **options))
    x, weights = drawn(4, 7, 3).requires_grad_(), drawn(4, 7, network.outputs, seed=2)
    start = network.initial_state(x).map(lambda s: drawn(*s.shape, seed=3))
    outputs, state = network(x, start, LENGTHS)
    padded = torch.autograd.grad((outputs * weights).sum() + state.h.sum(), [x, *network.parameters()])
    alone = 0
    for row, length in enumerate(LENGTHS.tolist()):
        own, end = network(x[row : row + 1, :length], start[row : row + 1])
        torch.testing.assert_close(outputs[row, :length], own[0], rtol=0, atol=1e-12)
        assert (outputs[row, length:] == 0).all()
        torch.testing.assert_close(state[row].h, end[0].h, rtol=0, atol=1e-12)
        if end.cell is not None:
            torch.testing.assert_close(state[row].cell, end[0].cell, rtol=0, atol=1e-12)
        alone = alone + (own[0] * weights[row, :length]).sum() + end.h.sum()
    for a, b in zip(padded, torch.autograd.grad(alone, [x, *network.parameters()]), strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-10)
    looked, end, inside = network.unroll(x, start, LENGTHS)
    torch.testing.assert_close(looked, outputs, rtol=0, atol=1e-12)
    torch.testing.assert_close(end.h, state.h, rtol=0, atol=1e-12)
    assert len(inside) == 2 * network.directions


def test_padding_that_is_not_told_spoils_the_way_back_alone():
    """RN-O11."""
    network = randomised(Recurrent("gru", 3, 4, bidirectional=True))
    x = drawn(1, 7, 3) * (torch.arange(7) < 4)[:, None]
    told, untold = network(x, lengths=torch.tensor([4]))[0], network(x)[0]
    torch.testing.assert_close(told[:, :4, :4], untold[:, :4, :4])
    assert (told[:, :4, 4:] - untold[:, :4, 4:]).abs().max() > 0.01


@pytest.mark.parametrize("name", PEERS)
def test_two_directions_have_weights_of_their_own(name):
    """RN-O11: reversed input and exchanged networks give reversed annotations with exchanged halves. RN-E11:
    with one set of weights for both, as one symbol for both suggests, the count is half."""
    network, swapped = (randomised(Recurrent(name, 3, 4, bidirectional=True)) for _ in range(2))
    swapped.cells[0], swapped.cells[1] = network.cells[1], network.cells[0]
    x = drawn(2, 6, 3)
    there, back = network(x)[0].chunk(2, -1)
    torch.testing.assert_close(swapped(x.flip(1))[0], torch.cat([back, there], -1).flip(1), rtol=0, atol=0)
    assert sum(p.numel() for p in network.parameters()) == 2 * sum(
        p.numel() for p in network.cells[0].parameters()
    )
    assert (network(x.flip(1))[0].flip(1)[..., 4:] - there).abs().max() > 0.01  # not the same network twice
    changed = x.clone()
    changed[:, -1] += 1  # the last input reaches all of the way back and nothing before it of the way there
    new_there, new_back = network(changed)[0].chunk(2, -1)
    assert (new_there[:, :-1] == there[:, :-1]).all() and (new_back[:, 0] != back[:, 0]).all()


def test_reverse_leaves_padding_in_its_place():
    x = torch.arange(8).reshape(2, 4)
    assert reverse(x).tolist() == [[3, 2, 1, 0], [7, 6, 5, 4]]
    assert reverse(x, torch.tensor([2, 3])).tolist() == [[1, 0, 2, 3], [6, 5, 4, 7]]


@pytest.mark.parametrize("name, options", ALL)
def test_steps_and_chunks_are_one_pass(name, options):
    network = randomised(Recurrent(name, 3, 4, 2, **options))
    x = drawn(2, 7, 3)
    outputs, end = network(x)
    state = network.initial_state(x)
    for t in range(7):
        output, state = network.step(x[:, t], state)
        torch.testing.assert_close(output, outputs[:, t], rtol=0, atol=1e-12)
    torch.testing.assert_close(state.h, end.h, rtol=0, atol=1e-12)
    first, middle = network(x[:, :3])
    second, _ = network(x[:, 3:], middle)
    torch.testing.assert_close(torch.cat([first, second], 1), outputs, rtol=0, atol=1e-12)
    rows = torch.tensor([1, 1, 0])  # a search keeps, repeats and drops rows
    torch.testing.assert_close(network(x[rows, 3:], middle[rows])[0], second[rows], rtol=0, atol=1e-12)


@pytest.mark.parametrize("name, options", ALL)
@pytest.mark.parametrize("both", [False, True])
def test_nothing_and_nobody(name, options, both):
    """T = 0 leaves the state; B = 0 and T = 1 work."""
    network = Recurrent(name, 3, 4, 2, both, **options)
    start = network.initial_state(torch.zeros(2, 3)).map(lambda s: s + 0.5)
    outputs, state = network(torch.zeros(2, 0, 3), start)
    assert outputs.shape == (2, 0, network.outputs) and (state.h == start.h).all()
    assert network(torch.zeros(0, 5, 3))[0].shape == (0, 5, network.outputs)
    nobody, lengths = torch.zeros(0, 5, 3), torch.zeros(0, dtype=torch.long)
    assert network(nobody, lengths=lengths)[0].shape == (0, 5, network.outputs)
    assert network(torch.zeros(2, 1, 3), lengths=torch.tensor([1, 1]))[0].shape == (2, 1, network.outputs)


def test_looking_in():
    """Gates of every step, at the place of the input that they read, whichever way the network reads."""
    network = randomised(Recurrent("lstm", 3, 4, 2, bidirectional=True))
    x = drawn(2, 5, 3)
    outputs, _, inside = network.unroll(x)
    assert [set(seen) for seen in inside] == [{"h", "cell", "i", "f", "candidate", "o"}] * 4
    torch.testing.assert_close(outputs, torch.cat([inside[2]["h"], inside[3]["h"]], -1))
    for seen in inside:
        torch.testing.assert_close(seen["h"], seen["o"] * seen["cell"].tanh())
    before = torch.cat(
        [inside[1]["cell"][:, 1:], torch.zeros(2, 1, 4).double()], 1
    )  # backwards: from the right
    now = inside[1]["f"] * before + inside[1]["i"] * inside[1]["candidate"]
    torch.testing.assert_close(inside[1]["cell"], now)


@pytest.mark.parametrize(
    "build, sentence",
    [
        (lambda: Recurrent("lstn", 3, 4), "cell is 'lstn'"),
        (lambda: Recurrent("gru", 3, 4, dropout=0.1), "between layers"),
        (lambda: Recurrent("gru", 3, 4, 2, dropout=1.0), "dropout is 1.0"),
        (lambda: Recurrent("gru", 3, 0), "hidden is 0"),
        (lambda: Recurrent("gru", 3, 4, 0), "layers is 0"),
        (lambda: RNNCell(3, 4, "swish"), "nonlinearity is 'swish'"),
        (lambda: GRUCell(3, 4, "never"), "reset is 'never'"),
        (lambda: LSTMCell(3, 4, start="warm"), "start is 'warm'"),
        (lambda: GRUCell(3, 4, biases=3), "biases is 3"),
        (lambda: LSTMCell(3, 4, frozen={"z": 1.0}), "its gates are i, f, o"),
        (lambda: RNNCell(3, 4, frozen={"z": 1.0}), "it has no gates"),
        (lambda: Recurrent("gru", 3, 4, bidirectional=True).step(torch.zeros(1, 3), None), "no step"),
        (
            lambda: Recurrent("gru", 3, 4)(torch.zeros(2, 3, 3), lengths=torch.tensor([0, 3])),
            "between 1 and 3",
        ),
        (
            lambda: Recurrent("gru", 3, 4).unroll(torch.zeros(1, 3, 3), None, torch.tensor([4])),
            "between 1 and 3",
        ),
        (lambda: Recurrent("gru", 2, 3, forget_bias=1.0), "gru has no option forget_bias"),
        (lambda: Recurrent("lstm", 2, 3, memory=1), "lstm has no option memory"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(build, sentence):
    with pytest.raises(ValueError, match=sentence):
        build()


@pytest.mark.parametrize("name", ["rnn", "lstm", "gru"])
def test_mixed_precision_on_a_cpu(name):
    """The kernels run, in the precision of the weights, also on what half precision has computed before."""
    network, x = Recurrent(name, 3, 4), torch.randn(2, 5, 3).bfloat16()
    with torch.autocast("cpu", torch.bfloat16):
        outputs, state = network(x, lengths=torch.tensor([5, 2]))
        again, _ = network.step(x[:, 0], state)
        half, _ = network(x, state.map(torch.Tensor.bfloat16))
    expected, _ = network(x.float(), lengths=torch.tensor([5, 2]))
    assert torch.equal(outputs, expected) and again.shape == (2, 4) and half.dtype == torch.float32
