"""The block: the worked example of the text, pre- and post-norm, and who mixes with whom."""

import contracts
import pytest
import torch
from torch.func import jacrev

from modules.transformer.attention import Attention
from modules.transformer.block import Block
from modules.transformer.feedforward import FeedForward


def random(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def made(width, heads, hidden=None, activation="gelu", bias=True, **kwargs):
    """Block of softmax attention and a dense layer."""
    layers = Attention(width, heads, bias), FeedForward(width, hidden or 4 * width, activation, bias)
    return Block(width, *layers, bias=bias, **kwargs)


def matrix(rows):
    return torch.tensor(rows, dtype=torch.float64)


def worked_block(norm, scaled=True):
    """[GM] §1.6.4: C = 4, two heads, LN without ε, γ, β; our feed-forward layer is plain ReLU."""
    block = made(4, 2, hidden=4, norm=norm, activation="relu", bias=False).double().eval()
    query = [matrix([[1, 0], [0, 1], [1, 0], [0, 1]]), matrix([[0, 1], [1, 0], [1, 1], [0, 1]])]
    key = [matrix([[1, 1], [0, 1], [1, 0], [0, 1]]), matrix([[1, 0], [1, 1], [0, 1], [1, 0]])]
    value = [matrix([[1, 0], [1, 0], [0, 1], [0, 1]]), matrix([[1, 1], [0, 1], [1, 0], [0, 1]])]
    with torch.no_grad():
        block.mixer.qkv.weight.copy_(torch.cat([torch.cat(w, 1).T for w in (query, key, value)]))
        block.mixer.proj.weight.copy_(torch.eye(4))
        block.feedforward.up.weight.copy_(torch.eye(4))
        block.feedforward.down.weight.copy_(torch.eye(4))
    block.mixer_norm.eps = block.feedforward_norm.eps = 0.0
    if not scaled:
        block.mixer.scale = 1.0
    return block


X = matrix([[1, 0, 1, 0], [0, 1, 1, 0], [1, 1, 0, 1]])


class TestWorkedExample:  # the text's printed numbers do not follow from its matrices
    def weights(self, scaled):
        from modules.transformer.recorder import record_attention

        block = worked_block("pre", scaled)
        with record_attention() as seen:
            out = block(X[None], causal=True)
        return block, seen.calls[block.mixer][0], out[0]

    def test_scaled(self):
        block, call, out = self.weights(True)
        norm = block.mixer_norm(X)
        assert norm[2].tolist() == pytest.approx([0.5774, 0.5774, -1.7321, 0.5774], abs=1e-4)
        torch.testing.assert_close(
            call.keys[0, 0], matrix([[2, -1], [0, -1], [-1.1547, 1.7321]]), atol=1e-4, rtol=0
        )
        assert call.weights[0, 0, 2].tolist() == pytest.approx([0.0078, 0.0399, 0.9524], abs=1e-4)
        assert call.weights[0, 1, 1].tolist() == pytest.approx([0.8044, 0.1956, 0], abs=1e-4)
        assert call.weights[0, 1, 2].tolist() == pytest.approx([0.6195, 0.2738, 0.1067], abs=1e-4)
        delta = block.mixer(norm[None], causal=True)[0]
        expected = [[0, 0, 2, -1], [0, 0, 1.6089, -1], [1.0997, -1.0997, 1.1159, -0.7086]]
        torch.testing.assert_close(delta, matrix(expected), atol=1e-4, rtol=0)
        expected = [[0.1690, -0.5071, 1.5213, -1.1832], [-0.4894, 0.2610, 1.4682, -1.2397],
                    [1.4793, -1.1280, 0.3130, -0.6644]]  # fmt: skip
        torch.testing.assert_close(block.feedforward_norm(X + delta), matrix(expected), atol=1e-4, rtol=0)
        expected = [[1.1690, 0, 4.5213, -1], [0, 1.2610, 4.0770, -1], [3.5790, -0.0997, 1.4289, 0.2914]]
        torch.testing.assert_close(out, matrix(expected), atol=1e-4, rtol=0)

    def test_unscaled(self):
        _, call, _ = self.weights(False)
        assert call.weights[0, 0, 2].tolist() == pytest.approx([0.0011, 0.0111, 0.9878], abs=1e-4)
        assert call.weights[0, 1, 2].tolist() == pytest.approx([0.7152, 0.2254, 0.0594], abs=1e-4)

    def test_post_norm_order(self):
        expected = [[0.0941, -0.8466, 1.5992, -0.8466], [-0.9661, 0.6010, 1.3312, -0.9661],
                    [0.9103, -0.5220, -1.3823, 0.9941]]  # fmt: skip
        out = worked_block("post")(X[None], causal=True)[0]
        torch.testing.assert_close(out, matrix(expected), atol=1e-4, rtol=0)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_definition(norm):
    block, x = contracts.exact(made(8, 2, norm=norm)), random(2, 5, 8)
    a, f, n1, n2 = block.mixer, block.feedforward, block.mixer_norm, block.feedforward_norm
    if norm == "pre":
        y = x + a(n1(x))
        expected = y + f(n2(y))
    else:
        y = n1(x + a(x))
        expected = n2(y + f(y))
    torch.testing.assert_close(block(x), expected, atol=1e-12, rtol=0)


def test_silent_sublayers_leave_the_identity_or_the_norm():
    x = random(2, 5, 8)
    for norm in ("pre", "post"):
        block = made(8, 2, norm=norm, bias=False).double()
        with torch.no_grad():
            block.mixer.proj.weight.zero_()
            block.feedforward.down.weight.zero_()
        y = block(x)
        if norm == "pre":
            assert torch.equal(y, x)
        else:
            assert y.mean(-1).abs().max() < 1e-12
            torch.testing.assert_close(
                y.var(-1, correction=0), torch.ones(2, 5, dtype=torch.float64), atol=1e-4, rtol=0
            )


def test_norm_is_over_features_of_one_token_with_biased_variance():
    norm = made(4, 2).double().mixer_norm
    x = matrix([[0.1, 200, -150, 0.3], [1, 2, 3, 4]])
    assert norm(x)[0].tolist() == pytest.approx([-0.10051, 1.50687, -1.30746, -0.09890], abs=1e-5)
    changed = x.clone()
    changed[1] *= 7
    assert torch.equal(norm(changed)[0], norm(x)[0])


@pytest.mark.parametrize("activation", ["gelu", "relu"])
def test_feedforward_does_not_mix_tokens(activation):
    layer = contracts.exact(FeedForward(6, 24, activation))
    x = random(5, 6)
    order = torch.tensor([4, 2, 0, 1, 3])
    torch.testing.assert_close(layer(x[order]), layer(x)[order], atol=1e-14, rtol=0)
    jacobian = jacrev(layer)(x)  # (T, C, T, C)
    for i in range(5):
        for j in range(5):
            assert bool(jacobian[i, :, j].any()) == (i == j)


def test_parameters():
    def count(block):
        return sum(p.numel() for p in block.parameters())

    assert count(made(1024, 16, 4096)) == 12_596_224
    d, hidden = 24, 50
    assert count(made(d, 4, hidden)) == 4 * (d * d + d) + 2 * d * hidden + hidden + d + 4 * d
    assert count(made(d, 4, hidden, bias=False)) == 4 * d * d + 2 * d * hidden + 2 * d


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_causal_block_by_gradient(norm):
    block = contracts.exact(made(8, 2, norm=norm))
    contracts.causal(lambda x: block(x[None], causal=True)[0], random(5, 8))


def test_unknown_words():
    with pytest.raises(ValueError, match="pre, post, none"):
        made(8, 2, norm="middle")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="gelu, gelu-tanh, relu, silu"):
        made(8, 2, activation="tanh")  # type: ignore[arg-type]
