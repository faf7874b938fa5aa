"""Feed-forward layers and norms against the numbers worked out by hand."""

import contracts
import pytest
import torch
from torch.func import jacrev

from modules.transformer import settings
from modules.transformer.block import norm_layer
from modules.transformer.feedforward import FeedForward, GatedFeedForward


def matrix(rows):
    return torch.tensor(rows, dtype=torch.float64)


def test_swiglu_by_hand():
    layer = GatedFeedForward(2, 3).double()
    with torch.no_grad():
        layer.gate.weight.copy_(matrix([[1, 0], [0, 1], [1, 1]]))
        layer.up.weight.copy_(matrix([[1, 1], [1, -1], [2, 0]]))
        layer.down.weight.copy_(matrix([[1, 0, 1], [0, 1, 1]]))
    x = matrix([1, -1])
    assert torch.nn.functional.silu(layer.gate(x)).tolist() == pytest.approx(
        [0.731059, -0.268941, 0], abs=1e-6
    )
    assert layer.up(x).tolist() == [0, 2, 2]
    assert layer(x).tolist() == pytest.approx([0, -0.537883], abs=1e-6)


def test_a_gated_layer_of_two_thirds_is_as_large_as_a_dense_one():
    def count(layer):
        return sum(p.numel() for p in layer.parameters())

    assert count(settings.feedforward("gated", 48, bias=False)) == 3 * 48 * 128 == 8 * 48**2
    assert count(FeedForward(48, 192, bias=False)) == 8 * 48**2


@pytest.mark.parametrize("activation", ["gelu", "gelu-tanh", "relu", "silu"])
@pytest.mark.parametrize("kind", [FeedForward, GatedFeedForward])
def test_tokens_do_not_mix(kind, activation):
    layer, x = contracts.exact(kind(6, 24, activation)), torch.randn(5, 6, dtype=torch.float64)
    order = torch.tensor([4, 2, 0, 1, 3])
    torch.testing.assert_close(layer(x[order]), layer(x)[order], atol=1e-14, rtol=0)
    jacobian = jacrev(layer)(x)  # (T, C, T, C)
    reached = jacobian.flatten(2).view(5, 6, 5, 6).ne(0).any(3).any(1)
    assert torch.equal(reached, torch.eye(5, dtype=torch.bool))


def test_the_tanh_approximation_is_another_function():
    x = torch.linspace(-3, 3, 61, dtype=torch.float64)
    exact, tanh = (contracts.exact(FeedForward(1, 1, a)) for a in ("gelu", "gelu-tanh"))
    tanh.load_state_dict(exact.state_dict())
    by_hand = torch.erf(exact.up(x[:, None]) / 2**0.5)
    h = exact.up(x[:, None])
    torch.testing.assert_close(exact(x[:, None]), exact.down(h * (1 + by_hand) / 2), atol=1e-12, rtol=0)
    gap = (exact(x[:, None]) - tanh(x[:, None])).abs().max() / exact.down.weight.abs().max()
    assert 1e-5 < gap < 1e-3


def test_norms_of_the_texts_vector_which_prints_no_normalised_one():  # [LLM] prints (−.56, 1.13, −1.12, −.55)
    x = matrix([0.1, 200, -150, 0.3])
    layer, rms = norm_layer("layer", 4, 0.0).double(), norm_layer("rms", 4, 0.0).double()
    assert layer(x).tolist() == pytest.approx([-0.10051, 1.50687, -1.30746, -0.09890], abs=1e-5)
    assert rms(x).tolist() == pytest.approx([0.0008, 1.6, -1.2, 0.0024], abs=1e-4)
    printed = matrix([-0.56, 1.13, -1.12, -0.55])
    assert abs(float(printed.mean())) > 0.2 and float(printed.var(correction=0)) < 0.8
    assert norm_layer("rms", 3, 0.0).double()(matrix([1, 2, 3])).tolist() == pytest.approx(
        [0.4629, 0.9258, 1.3887], abs=1e-4
    )
    torch.testing.assert_close(layer(3 * x + 7), layer(x))
    torch.testing.assert_close(rms(3 * x), rms(x))
    assert not torch.allclose(rms(x + 7), rms(x))
    torch.testing.assert_close(rms(x - x.mean()), layer(x))


def test_epsilon_is_an_argument():
    x = matrix([1e-3, -1e-3])
    assert norm_layer("layer", 2, 1e-12).double()(x)[0].item() == pytest.approx(1, abs=1e-5)
    assert norm_layer("layer", 2, 1e-5).double()(x)[0].item() == pytest.approx(1e-3 / (1e-6 + 1e-5) ** 0.5)


def test_bad_input_gets_a_sentence():
    with pytest.raises(ValueError, match="choose one of layer, rms"):
        norm_layer("batch", 4)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="gelu, gelu-tanh, relu, silu"):
        GatedFeedForward(4, 4, "tanh")  # type: ignore[arg-type]
