"""Linear attention against sums over pairs, one number at a time, and against the softmax it stands for."""

import copy
import math

import contracts
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from modules.transformer.attention import attention_weights
from modules.transformer.linear_attention import (
    LinearAttention,
    elu_features,
    kernel_weights,
    linear_attention,
)
from modules.transformer.random_features import draws, features
from modules.transformer.recorder import record_attention

MAPS = ("elu", "positive", "hyperbolic")


def rand(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def layer(features="elu", width=12, heads=3, **options) -> LinearAttention:
    torch.manual_seed(0)
    return contracts.exact(LinearAttention(width, heads, features=features, **options))


def phi(mixer: LinearAttention, x: torch.Tensor) -> torch.Tensor:
    """φ(x) as its definition has it."""
    if mixer.features == "elu":
        return torch.nn.functional.elu(x) + 1
    return features(x * x.shape[-1] ** -0.25, mixer.omega.double(), mixer.features)


def by_hand(mixer: LinearAttention, x, source=None, causal=False, padding=None):
    """The layer by loops over texts, heads, queries and keys."""
    q, k, v = mixer.split(x, source)
    out = torch.zeros_like(q)
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            for t in range(q.shape[2]):
                keys = range(t + 1) if causal else range(k.shape[2])
                seen = [s for s in keys if padding is None or not padding[b, s]]
                weights = [(phi(mixer, q[b, h, t]) @ phi(mixer, k[b, h, s])).item() for s in seen]
                for weight, s in zip(weights, seen, strict=True):
                    out[b, h, t] += weight / sum(weights) * v[b, h, s].detach()
    return mixer.join(out)


def test_the_example_of_one_feature():
    q = torch.tensor([0.0, 1.0, -1.0], dtype=torch.float64)[None, None, :, None]
    k, v = q, torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)[None, None, :, None]
    f, c = elu_features(q)
    torch.testing.assert_close(
        (f * c[..., None].exp()).flatten(),
        torch.tensor([1, 2, 0.367879], dtype=torch.float64),
        atol=1e-6,
        rtol=0,
    )
    y, state = linear_attention(f, f, v, c, causal=True)
    wanted = torch.tensor([1, 1.666667, 1.812309], dtype=torch.float64)
    torch.testing.assert_close(y.flatten(), wanted, atol=1e-6, rtol=0)
    assert float(state.z * state.c.exp()) == pytest.approx(1 + 2 + math.exp(-1)) and state.length == 3
    causal = torch.ones(3, 3, dtype=torch.bool).tril()
    softmax = (attention_weights(q, k, causal) @ v).flatten()
    wanted = torch.tensor([1, 1.731059, 2.420512], dtype=torch.float64)
    torch.testing.assert_close(softmax, wanted, atol=1e-6, rtol=0)


def test_the_example_of_two_features():
    Q, K, V = (
        torch.tensor(rows, dtype=torch.float64)[None, None]
        for rows in ([[1, 0], [0, 1], [1, -1]], [[1, 0], [0, 1], [-1, 1]], [[1, 0], [0, 1], [1, 1]])
    )
    (q, _), (k, c) = elu_features(Q), elu_features(K)
    y, _ = linear_attention(q, k, V, c, causal=True)
    wanted = torch.tensor([[1, 0], [0.444444, 0.555556], [0.680967, 0.490636]], dtype=torch.float64)
    torch.testing.assert_close(y[0, 0], wanted, atol=1e-6, rtol=0)
    y, _ = linear_attention(q, k, V, c)
    wanted = torch.tensor([0.659161, 0.573952], dtype=torch.float64)
    torch.testing.assert_close(y[0, 0, 0], wanted, atol=1e-6, rtol=0)


@pytest.mark.parametrize("map_", MAPS)
def test_definition(map_):
    mixer, x, source = layer(map_), rand(2, 5, 12), rand(2, 7, 12, seed=1)
    padding = torch.zeros(2, 5, dtype=torch.bool)
    padding[0, :2] = padding[1, 3] = True
    late = torch.zeros(2, 7, dtype=torch.bool)
    late[1, 5:] = True
    for causal in (False, True):
        torch.testing.assert_close(mixer(x, causal=causal), by_hand(mixer, x, causal=causal))
        torch.testing.assert_close(
            mixer(x, causal=causal, padding=padding), by_hand(mixer, x, None, causal, padding)
        )
    torch.testing.assert_close(mixer(x, source), by_hand(mixer, x, source))
    torch.testing.assert_close(mixer(x, source, padding=late), by_hand(mixer, x, source, False, late))


@pytest.mark.parametrize("map_", MAPS)
def test_recurrence_chunks_and_pairs_agree(map_):
    mixer = layer(map_)
    q, k, v = mixer.split(rand(2, 33, 12))
    (q, _), (k, c) = mixer.phi(q), mixer.phi(k)
    pairs = kernel_weights(q, k, c, torch.ones(33, 33, dtype=torch.bool).tril()) @ v
    for chunk in (1, 4, 33, 64):
        y, state = linear_attention(q, k, v, c, causal=True, chunk=chunk)
        torch.testing.assert_close(y, pairs, atol=1e-14, rtol=1e-13)
    first, then = linear_attention(q, k, v, c, causal=True, chunk=1)[1], state
    torch.testing.assert_close(first.S, then.S, atol=1e-13, rtol=1e-13)
    torch.testing.assert_close(kernel_weights(q, k, c) @ v, linear_attention(q, k, v, c)[0])


@pytest.mark.parametrize("map_", MAPS)
def test_a_state_stands_for_the_tokens_before(map_):
    mixer, x = layer(map_), rand(3, 9, 12)
    padding = torch.zeros(3, 9, dtype=torch.bool)
    padding[1, :4] = True
    for hidden in (None, padding):
        whole = mixer(x, causal=True, padding=hidden)
        cache = mixer.new_cache(3, 9, dtype=torch.float64)
        parts = []
        for start, end in ((0, 4), (4, 5), (5, 5), (5, 9)):
            seen = None if hidden is None else hidden[:, :end]
            parts.append(mixer(x[:, start:end], causal=True, padding=seen, cache=cache))
            assert cache.length == end
        torch.testing.assert_close(torch.cat(parts, 1), whole)
        rows = torch.tensor([2, 0, 0])
        other = cache.select(rows)
        more = mixer(x[rows, :1], causal=True, cache=other)
        torch.testing.assert_close(more, mixer(torch.cat([x, x[:, :1]], 1), causal=True, padding=None if (
            hidden is None) else torch.nn.functional.pad(hidden, (0, 1)))[rows, -1:])  # fmt: skip
        assert cache.length == 9 and other.length == 10


def test_nothing_looks_ahead():
    for map_ in MAPS:
        mixer, x = layer(map_, chunk=3), rand(1, 7, 12).requires_grad_()
        for t in range(7):
            (gradient,) = torch.autograd.grad(mixer(x, causal=True)[0, t].sum(), x, retain_graph=True)
            assert not gradient[0, t + 1 :].any() and gradient[0, : t + 1].any(-1).all()


def test_gradients_are_those_of_the_definition():
    for map_ in MAPS:
        mixer, x = layer(map_, chunk=2), rand(1, 5, 12).requires_grad_()
        w = rand(1, 5, 12, seed=3)
        (chunked,) = torch.autograd.grad((mixer(x, causal=True) * w).sum(), x)
        q, k, v = mixer.split(x)
        weights = (phi(mixer, q) @ phi(mixer, k).mT).tril()
        y = mixer.join(weights / weights.sum(-1, keepdim=True) @ v)
        (wanted,) = torch.autograd.grad((y * w).sum(), x)
        torch.testing.assert_close(chunked, wanted)


class Largest(TorchDispatchMode):
    """Numbers in the largest tensor that an operation makes."""

    numel = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        for each in out if isinstance(out, tuple | list) else [out]:
            if isinstance(each, torch.Tensor):
                self.numel = max(self.numel, each.numel())
        return out


@pytest.mark.parametrize("causal", [False, True])
def test_no_square_tensor_is_made(causal):
    mixer = layer(width=8, heads=2)
    for T in (512, 1024):
        with Largest() as seen, torch.no_grad():
            mixer(rand(1, T, 8), causal=causal)
        assert seen.numel <= 24 * T  # of queries, keys and values, 3 C T


def test_random_features_come_near_the_softmax():
    q, k, v = (0.5 * rand(1, 1, 16, 4, seed=s) for s in range(3))
    exact = attention_weights(q, k) @ v
    errors = []
    for M in (16, 256, 4096):
        found = []
        for seed in range(8):
            omega = draws(M, 4, torch.Generator().manual_seed(seed), dtype=torch.float64)
            f = [features(t * 4**-0.25, omega) for t in (q, k)]
            weights = f[0] @ f[1].mT
            found.append((weights / weights.sum(-1, keepdim=True) @ v - exact).abs().mean())
        errors.append(float(torch.stack(found).mean()))
    assert errors[0] > 2 * errors[1] > 4 * errors[2] and errors[2] < 0.02  # for these seeds


def test_a_performer_matches_scaled_attention():
    """With many draws the layer is softmax attention with 1/√D, and not the one without."""
    mixer, x = layer("positive", width=4, heads=1, count=200_000), 0.3 * rand(1, 6, 4)
    q, k, v = mixer.split(x)
    scaled, unscaled = (mixer.join(attention_weights(q, k, scale=s) @ v) for s in (0.5, 1.0))
    near = (mixer(x) - scaled).abs().max()
    print(near, (mixer(x) - unscaled).abs().max())
    assert near < 0.02 and near < (mixer(x) - unscaled).abs().max() / 3  # for this seed


@pytest.mark.parametrize("map_", MAPS)
def test_large_and_small_numbers_in_single_precision(map_):
    torch.manual_seed(1)
    mixer, x = LinearAttention(4, 1, features=map_), torch.randn(1, 8, 4)
    exact = copy.deepcopy(mixer).double()
    for size in (1e-3, 10.0, 1000.0):
        y = mixer(x * size, causal=True)
        assert y.isfinite().all()
        if map_ == "elu" or size < 100:
            wanted = exact(x.double() * size, causal=True).float()
            torch.testing.assert_close(y, wanted, atol=1e-3, rtol=1e-3)


def test_far_below_zero_elu_is_still_an_exponential():
    """Of keys −200 and −201 the weights are e to 1, though e^{−200} is 0 in single precision."""
    q = torch.full((1, 1, 1, 1), -200.0)
    k = torch.tensor([-200.0, -201.0])[None, None, :, None]
    v = torch.tensor([1.0, 0.0])[None, None, :, None]
    (q, _), (k, c) = elu_features(q), elu_features(k)
    y, _ = linear_attention(q, k, v, c)
    assert float(y) == pytest.approx(1 / (1 + math.exp(-1)), rel=1e-5)


def test_edges():
    for map_ in MAPS:
        mixer = layer(map_)
        assert mixer(rand(2, 0, 12), causal=True).shape == (2, 0, 12) == mixer(rand(2, 0, 12)).shape
        one = rand(1, 1, 12)
        torch.testing.assert_close(mixer(one), mixer.join(mixer.split(one)[2]))
        nobody = torch.ones(1, 3, dtype=torch.bool)
        for causal in (False, True):
            y = mixer(rand(1, 3, 12), causal=causal, padding=nobody)
            torch.testing.assert_close(y, mixer.proj.bias.expand(1, 3, 12))
    with pytest.raises(ValueError, match="no draws"):
        LinearAttention(4, 1, count=8)
    with pytest.raises(ValueError, match="no draws"):
        LinearAttention(4, 1, orthogonal=True)
    with pytest.raises(ValueError, match="choose one of elu, positive, hyperbolic"):
        LinearAttention(4, 1, features="relu")
    with pytest.raises(ValueError, match="cannot be shared"):
        LinearAttention(4, 3)
    with pytest.raises(ValueError, match="chunk is 0"):
        LinearAttention(4, 1, chunk=0)
    with pytest.raises(ValueError, match="as a whole"):
        layer()(rand(1, 2, 12), rand(1, 2, 12), causal=True)


@pytest.mark.parametrize("map_", MAPS)
def test_recorded_weights_are_those_that_were_used(map_):
    mixer, x = layer(map_), rand(2, 5, 12)
    padding = torch.tensor([[True, False, False, False, False], [False] * 5])
    with record_attention() as seen:
        y = mixer(x, causal=True, padding=padding)
    weights = seen.calls[mixer][0].weights
    torch.testing.assert_close(mixer.join(weights @ mixer.split(x)[2]), y)
    torch.testing.assert_close(weights.sum(-1)[1], torch.ones(3, 5, dtype=torch.float64))
    with record_attention({mixer: torch.zeros(3)}):
        torch.testing.assert_close(mixer(x), mixer.proj.bias.expand(2, 5, 12))


def test_every_option_counts():
    x = rand(1, 5, 12)
    torch.manual_seed(0)
    plain = layer("positive")
    other = layer("positive", orthogonal=True)
    assert plain.omega.shape == (16, 4) and layer("hyperbolic").M == 32 and layer("positive", count=3).M == 3
    assert not torch.allclose(plain(x), other(x))
    assert layer(bias=False).proj.bias is None
    assert "omega" in plain.state_dict()
