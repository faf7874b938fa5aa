"""The scan by three methods and Mamba against loops, closed forms and themselves step by step."""

import math

import pytest
import torch
import torch.nn.functional as F

from datamodules.algorithmic import SelectiveCopying
from modules.transformer.mamba import Mamba, SelectiveSSM
from modules.transformer.mixer_tagger import MixerTagger
from modules.transformer.recorder import record_attention
from modules.transformer.scan import combine, fastest, rounds, scan
from modules.transformer.state_space import Discrete, fft_convolution, kernel

METHODS = ("loop", "doubling", "chunked")


def draws(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("length", [0, 1, 2, 3, 8, 9, 30])
@pytest.mark.parametrize("method", METHODS)
def test_every_scan_is_the_loop_that_everybody_would_write(method, length):
    a, b, h = draws(2, length, 3).sigmoid(), draws(2, length, 3, seed=1), draws(2, 3, seed=2)
    found = scan(a, b, h, method)
    assert found.shape == b.shape
    for step in range(length):
        h = a[:, step] * h + b[:, step]
        torch.testing.assert_close(found[:, step], h, rtol=0, atol=1e-14)


@pytest.mark.parametrize("method", METHODS)
def test_the_gradient_of_a_scan_is_that_of_differences(method):
    a, b, h = (draws(1, 5, 2, seed=s).requires_grad_() for s in (0, 1, 2))
    torch.autograd.gradcheck(lambda *given: scan(*given, method=method), (a, b, h[:, 0]))
    torch.autograd.gradgradcheck(lambda *given: scan(*given, method=method), (a, b))


def test_eight_elements_take_three_rounds_and_the_operator_is_associative():
    a, b = draws(1, 8), draws(1, 8, seed=1)
    after = list(rounds(a, b))
    assert len(after) == 3
    torch.testing.assert_close(after[-1][1], scan(a, b, method="loop"), rtol=0, atol=1e-14)
    torch.testing.assert_close(after[-1][0], a.cumprod(1), rtol=0, atol=1e-14)
    assert [len(list(rounds(a[:, :n], b[:, :n]))) for n in (0, 1, 2, 5)] == [0, 0, 1, 3]
    p, q, r = ((draws(4, seed=s), draws(4, seed=9 + s)) for s in range(3))
    left, right = combine(combine(p, q), r), combine(p, combine(q, r))
    assert all(torch.allclose(x, y, rtol=0, atol=1e-14) for x, y in zip(left, right, strict=True))
    assert not torch.allclose(combine(p, q)[1], combine(q, p)[1])
    h = draws(4, seed=5)  # first p, then q
    torch.testing.assert_close(combine(p, q)[0] * h + combine(p, q)[1], q[0] * (p[0] * h + p[1]) + q[1])


def test_the_method_is_chosen_by_size_and_named():
    assert fastest(24, 32_768) == "loop"
    assert fastest(64, 16) == "doubling"
    assert fastest(1_024, 512) == "chunked"
    assert fastest(1_024, 32_768, "cuda") == "chunked"
    with pytest.raises(ValueError, match="method is 'fast': choose one of loop, doubling, chunked"):
        scan(torch.ones(1, 2), torch.ones(1, 2), method="fast")


def gate(hold):
    """One channel, N = 1, A = −1, B = C = 1, Δ = softplus(z), D = 0."""
    layer = SelectiveSSM(1, 1, hold=hold).double()

    def matrices(z):
        return lambda u: (F.softplus(z), torch.ones(1, 4, 1).double(), torch.ones(1, 4, 1).double())

    torch.nn.init.zeros_(layer.skip)
    return layer, matrices


def test_zero_order_hold_is_a_gate_and_the_shortcut_is_not():
    z = torch.tensor([-10.0, 0.0, 10.0, -10.0], dtype=torch.float64)[None, :, None]
    x = torch.tensor([5.0, 1.0, 7.0, 3.0], dtype=torch.float64)[None, :, None]
    for hold, expected in (
        ("zoh", (0.000227, 0.500113, 6.999705, 6.999523)),
        ("euler", (0.000227, 0.693261, 70.00035, 69.99731)),
    ):
        layer, matrices = gate(hold)
        layer.matrices = matrices(z)
        y, done = layer.recur(x)
        torch.testing.assert_close(y.flatten(), torch.tensor(expected).double(), rtol=0, atol=1e-5)
        torch.testing.assert_close(done.states.flatten(), y.flatten())
        if hold == "zoh":
            h, p = 0.0, z.sigmoid().flatten()
            for step in range(4):
                h = (1 - p[step]) * h + p[step] * x[0, step, 0]
                assert abs(h - y[0, step, 0]) < 1e-12


def test_the_lti_twin_is_a_convolution():
    torch.manual_seed(0)
    layer = SelectiveSSM(3, 4, selective=False).double()
    u = draws(2, 9, 3)
    delta, A = F.softplus(layer.delta_bias), -layer.A_log.exp()
    system = Discrete(
        torch.diag_embed((delta[:, None] * A).exp()), ((delta[:, None] * A).exp() - 1) / A * layer.B
    )
    response = kernel(system, layer.C, 9)  # (D, T)
    y = fft_convolution(response, u.transpose(1, 2)).transpose(1, 2) + layer.skip * u
    torch.testing.assert_close(layer(u), y, rtol=0, atol=1e-12)


def test_delta_starts_within_its_bounds():
    torch.manual_seed(0)
    delta = F.softplus(SelectiveSSM(500, delta=(0.01, 0.5)).delta_bias)
    assert delta.min() >= 0.0099 and delta.max() <= 0.501
    assert abs(delta.log().mean() - (math.log(0.01) + math.log(0.5)) / 2) < 0.2


@pytest.mark.parametrize("selective", [True, False])
@pytest.mark.parametrize("kernel_size", [1, 4])
def test_mamba_is_the_same_in_one_pass_and_step_by_step(selective, kernel_size):
    torch.manual_seed(0)
    mixer = Mamba(3, 4, kernel=kernel_size, selective=selective).double()
    x = draws(2, 7, 3)
    for pieces in ([1] * 7, [3, 4], [5, 0, 2]):
        cache = mixer.new_cache(2, 7, dtype=torch.float64)
        y = torch.cat([mixer(part, cache=cache) for part in x.split(pieces, 1)], 1)
        torch.testing.assert_close(y, mixer(x), rtol=0, atol=1e-12)
        assert cache.length == 7 and cache.nbytes == 8 * 2 * 6 * (4 + kernel_size - 1)
    rows = torch.tensor([1, 0, 1])
    other = cache.select(rows)
    torch.testing.assert_close(mixer(x[rows, :1], cache=other), mixer(x[:, :1], cache=cache)[rows])


@pytest.mark.parametrize("method", METHODS)
def test_a_padded_row_is_the_row_alone(method):
    torch.manual_seed(0)
    mixer = Mamba(3, 4, method=method).double()
    x, cache = draws(1, 6, 3), mixer.new_cache(1, 9, dtype=torch.float64)
    padded, padding = torch.cat([draws(1, 3, 3, seed=1), x], 1), torch.arange(9)[None] < 3
    alone = mixer(x)
    torch.testing.assert_close(mixer(padded, padding=padding)[:, 3:], alone, rtol=0, atol=1e-14)
    mixer(padded[:, :5], padding=padding[:, :5], cache=cache)
    torch.testing.assert_close(
        mixer(padded[:, 5:], padding=padding, cache=cache), alone[:, 2:], rtol=0, atol=1e-14
    )


def test_mamba_is_causal_and_every_parameter_gets_a_gradient():
    torch.manual_seed(0)
    mixer, x = Mamba(3, 4).double(), draws(1, 6, 3).requires_grad_()
    (grad,) = torch.autograd.grad(mixer(x)[0, 3].sum(), x)
    assert (grad[0, :4] != 0).all() and (grad[0, 4:] == 0).all()
    mixer(x).square().sum().backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in mixer.parameters())


def test_a_step_that_is_huge_or_nothing_stays_finite_in_single_precision():
    torch.manual_seed(0)
    layer = SelectiveSSM(2, 4)
    for size in (1e-30, 1e4):
        u = (size * torch.ones(1, 5, 2)).requires_grad_()
        y = layer(u)
        y.sum().backward()
        assert y.isfinite().all() and u.grad.isfinite().all()


def test_bad_arguments_are_named():
    for wrong, said in (
        ({"width": 2, "hold": "linear"}, "hold is 'linear'"),
        ({"width": 2, "kernel": 0}, "kernel is 0"),
        ({"width": 2, "rank": 0}, "rank is 0"),
        ({"width": 2, "states": 0}, "states is 0"),
    ):
        with pytest.raises(ValueError, match=said):
            Mamba(**wrong)
    with pytest.raises(ValueError, match="neither selective nor expand"):
        MixerTagger(3, 3, mixer="s4", selective=True)
    with pytest.raises(ValueError, match="mixer is 'rnn'"):
        MixerTagger(3, 3, mixer="rnn")


def test_a_tagger_passes_padding_by():
    torch.manual_seed(0)
    x = torch.randint(10, (2, 6))
    padded, padding = torch.cat([x[:, :2], x], 1), torch.arange(8)[None].expand(2, -1) < 2
    for settings in ({}, {"mixer": "s4"}):
        model = MixerTagger(10, 8, width=8, **settings).double()
        torch.testing.assert_close(model.predict(padded, padding)[:, 2:], model.predict(x))


def test_selective_copying_asks_for_the_data_in_their_order():
    data = SelectiveCopying(length=9, data=3)
    x, y = data.draw(200, 1)
    assert x.shape == y.shape == (200, 12)
    assert (x[:, 9:] == data.QUESTION).all() and (y[:, :9] == -100).all()
    for tokens, labels in zip(x, y, strict=True):
        assert tokens[:9][tokens[:9] != data.NOISE].tolist() == labels[9:].tolist()
    shares = (x[:, :9] != data.NOISE).double().mean(0)
    assert ((shares - 1 / 3).abs() < 0.15).all()
    assert len(x.unique(dim=0)) > 190 and set(y[:, 9:].flatten().tolist()) == set(range(8))
    with pytest.raises(ValueError, match="data"):
        SelectiveCopying(length=3, data=4)


@pytest.mark.parametrize("options", [{}, {"selective": False}, {"hold": "euler"}])
@pytest.mark.parametrize("length", [0, 1, 2, 9])
@torch.no_grad()
def test_the_hidden_attention_gives_the_output(options, length):
    """A sum over earlier tokens, by three loops, and the recurrence itself."""
    torch.manual_seed(0)
    ssm = SelectiveSSM(3, 2, **options).double()
    ssm.skip.copy_(draws(3, seed=5))
    u = draws(2, length, 3)
    y, done = ssm.recur(u)
    M = ssm.hidden_attention(u)
    assert M.shape == (2, 3, length, length) and not M.triu(1).any()
    torch.testing.assert_close(torch.einsum("bdts,bsd->btd", M, u), y, rtol=0, atol=1e-12)
    for t in range(length):
        for s in range(t + 1):
            kept = done.decay[:, s + 1 : t + 1].prod(1)  # (B, D, N)
            read = done.read if done.read.ndim == 2 else done.read[:, t, None]
            term = (read * kept * done.write[:, s]).sum(-1) + (s == t) * ssm.skip * u[:, t]  # M_ts u_s
            torch.testing.assert_close(M[:, :, t, s] * u[:, s], term, rtol=0, atol=1e-12)


@torch.no_grad()
def test_a_recorder_gets_the_hidden_attention_and_may_switch_channels_off():
    torch.manual_seed(0)
    mixer = Mamba(4, states=2).double()
    x = draws(1, 6, 4)
    whole = mixer(x)
    with record_attention() as seen:
        assert torch.equal(mixer(x), whole)
    (record,) = seen.calls[mixer]
    assert record.queries is None and record.keys is None and record.values.shape == (1, 8, 6, 1)
    y = (record.weights @ record.values)[..., 0].transpose(1, 2)  # (B, T, D)
    gate = mixer.into(x).chunk(2, -1)[1]
    torch.testing.assert_close(mixer.out(y * F.silu(gate)), whole, rtol=0, atol=1e-12)
    off = torch.ones(8)
    off[3] = 0
    with record_attention({mixer: off}, store=False) as seen:
        less = mixer(x)
    y[..., 3] = 0
    torch.testing.assert_close(less, mixer.out(y * F.silu(gate)), rtol=0, atol=1e-12)
    assert not seen.calls
