"""Information measures against their definitions, and the numbers of the texts' examples."""

import itertools
import math

import pytest
import torch
import torch.nn.functional as F

from modules.language import information as info
from modules.language.truncation import apply_temperature

THIRD = torch.full((3,), 1 / 3, dtype=torch.float64)


def p(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def simplex(n: int, size: int, seed: int = 0) -> torch.Tensor:
    """n distributions of `size` events; every fifth has a zero."""
    generator = torch.Generator().manual_seed(seed)
    q = torch.rand(n, size, generator=generator, dtype=torch.float64)
    q[::5, 0] = 0
    return q / q.sum(1, keepdim=True)


# --- Perplexity -----------------------------------------------------------------------------------


def test_perplexity_of_the_worked_example() -> None:
    nats = info.surprisal(p(0.7, 0.5, 0.6))
    assert nats.mean().item() == pytest.approx(0.5202159, abs=5e-8)
    assert info.bits(nats.mean()).item() == pytest.approx(0.7505129, abs=5e-8)
    assert info.perplexity(nats).item() == pytest.approx(1.6823909, abs=5e-8)
    assert info.perplexity(nats).item() == pytest.approx(0.21 ** (-1 / 3), rel=1e-12)
    # the base of the logarithm does not matter: 2^(bits) = e^(nats) = 10^(bans)
    for base in (2, math.e, 10):
        mean = (-p(0.7, 0.5, 0.6).log() / math.log(base)).mean()
        assert base ** mean.item() == pytest.approx(info.perplexity(nats).item(), rel=1e-12)
    uniform = info.surprisal(THIRD)
    assert info.bits(uniform.mean()).item() == pytest.approx(1.5849625, abs=5e-8)
    assert info.perplexity(uniform).item() == pytest.approx(3, rel=1e-12)
    assert info.perplexity(info.surprisal(p(1, 1, 1))).item() == 1
    assert info.perplexity(info.surprisal(p(0.7, 0.0, 0.6))).item() == math.inf
    assert info.surprisal(p(0.0)).item() == math.inf and str(info.surprisal(p(1.0)).item()) == "0.0"
    loss = F.nll_loss(p(0.2, 0.8).log()[None], torch.tensor([1]))
    assert info.bits(loss).item() == pytest.approx(-math.log2(0.8), rel=1e-12)


def test_perplexities_of_different_tokenizers_differ_bits_per_character_do_not() -> None:
    words, characters = torch.full((4,), 6 * info.LN2).double(), torch.full((20,), 1.2 * info.LN2).double()
    assert info.perplexity(words).item() == pytest.approx(64)
    assert info.perplexity(characters).item() == pytest.approx(2.2973967, abs=5e-8)
    assert info.bits_per(words, 20).item() == pytest.approx(1.2)
    assert info.bits_per(characters, 20).item() == pytest.approx(1.2)
    with pytest.raises(ValueError, match="at least one"):
        info.bits_per(words, 0)


def test_one_text_can_beat_the_floor_but_no_expectation_does() -> None:
    """A fair coin, the text "aaa", and a model that likes a."""
    coin, q = p(0.5, 0.5), p(0.9, 0.1)
    floor = info.entropy(coin).exp().item()
    assert floor == pytest.approx(2)
    lucky = info.perplexity(info.surprisal(q[torch.tensor([0, 0, 0])])).item()
    assert lucky == pytest.approx(1.1111, abs=5e-5) and lucky < floor
    texts = torch.tensor(list(itertools.product((0, 1), repeat=3)))  # all equally likely
    assert info.surprisal(q[texts]).mean().exp().item() > floor
    # the slide's "Q = P has perplexity 1" holds where P is certain only
    deep = p(0.5, 0.25, 0.25)
    assert 2 ** info.bits(info.cross_entropy(deep, deep)).item() == pytest.approx(2.8284271, abs=5e-8)
    assert info.cross_entropy(p(0, 1, 0), p(0, 1, 0)).exp().item() == 1


# --- Entropy, divergence, distance ----------------------------------------------------------------


def test_divergence_of_the_worked_examples() -> None:
    deep = p(0.5, 0.25, 0.25)
    assert info.bits(info.entropy(deep)).item() == pytest.approx(1.5)
    assert info.bits(info.cross_entropy(deep, THIRD)).item() == pytest.approx(1.5849625, abs=5e-8)
    assert info.bits(info.kl(deep, THIRD)).item() == pytest.approx(0.0849625, abs=5e-8)

    a, b = p(0.5, 0.3, 0.2), p(0.2, 0.2, 0.6)
    assert info.lp_distance(a, b, 1).item() == pytest.approx(0.8)
    assert info.total_variation(a, b).item() == pytest.approx(0.4)
    assert info.kl(a, b).item() == pytest.approx(0.3600624, abs=5e-8)
    assert info.kl(b, a).item() == pytest.approx(0.3948162, abs=5e-8)
    assert info.entropy(a).item() == pytest.approx(1.0296530, abs=5e-8)
    assert info.cross_entropy(a, b).item() == pytest.approx(1.3897155, abs=5e-8)

    assert info.kl(p(0.5, 0.5, 0), p(0.25, 0.25, 0.5)).item() == pytest.approx(info.LN2, rel=1e-12)
    assert info.kl(p(0.25, 0.25, 0.5), p(0.5, 0.5, 0)).item() == math.inf
    assert info.cross_entropy(p(0.25, 0.25, 0.5), p(0.5, 0.5, 0)).item() == math.inf
    x, y, z = (p(v, 1 - v) for v in (0.5, 0.25, 0.1))
    assert info.kl(x, z).item() == pytest.approx(0.5108256, abs=5e-8)  # more than by way of y
    assert info.kl(x, y).item() == pytest.approx(0.1438410, abs=5e-8)
    assert info.kl(y, z).item() == pytest.approx(0.0923315, abs=5e-8)
    assert info.cross_entropy(p(0, 1, 0), p(0.2, 0.7, 0.1)).item() == pytest.approx(0.3566749, abs=5e-8)


def test_laws_of_divergence() -> None:
    a, b = simplex(200, 4), simplex(200, 4, seed=1).roll(1, 1)
    kl = info.kl(a, b)
    assert (kl >= 0).all() and torch.equal(info.kl(a, a), torch.zeros(200, dtype=torch.float64))
    finite = kl.isfinite()
    assert 0 < finite.sum() < 200
    torch.testing.assert_close(info.cross_entropy(a, b), info.entropy(a) + kl, rtol=0, atol=1e-9)
    # jointly convex, and Pinsker: TV ≤ √(KL/2)
    mixed = info.kl((a[:100] + a[100:]) / 2, (b[:100] + b[100:]) / 2)
    assert (mixed <= (kl[:100] + kl[100:]) / 2 + 1e-12).all()
    assert (info.total_variation(a, b)[finite] <= (kl[finite] / 2).sqrt() + 1e-12).all()
    assert (info.kl(a, b)[finite] - info.kl(b, a)[finite]).abs().max() > 0.01


def test_variation_is_the_largest_difference_over_all_events() -> None:
    a, b = simplex(50, 5), simplex(50, 5, seed=1)
    events = torch.tensor(list(itertools.product((0.0, 1.0), repeat=5)), dtype=torch.float64)
    difference = (a @ events.T - b @ events.T).abs()
    torch.testing.assert_close(info.total_variation(a, b), difference.amax(1), rtol=0, atol=1e-12)
    event = info.distinguishing_event(a, b)
    torch.testing.assert_close(((a - b) * event).sum(1), difference.amax(1), rtol=0, atol=1e-12)
    assert info.lp_distance(a, b, math.inf).allclose((a - b).abs().amax(1))


def test_natural_logarithms_give_nats() -> None:
    """Half a bit is 0.3466 nats; and the second derivative of x log x is 1/x, not 1/x + 1."""
    assert info.bits(info.entropy(p(0.5, 0.5))).item() == pytest.approx(1)
    assert info.entropy(p(0.5, 0.5)).item() == pytest.approx(0.6931472, abs=5e-8)
    x = p(0.3).requires_grad_()
    (first,) = torch.autograd.grad((x * x.log()).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert second.item() == pytest.approx(1 / 0.3)


# --- Softmax --------------------------------------------------------------------------------------


def test_softmax_with_temperature() -> None:
    z = p(2, 1, 0)
    expected = {
        1: (0.6652410, 0.2447285, 0.0900306, 0.8323956),
        0.5: (0.8668133, 0.1173104, 0.0158762, 0.4410574),
        2: (0.5064804, 0.3071959, 0.1863237, 1.0201913),
    }
    for temperature, (*probabilities, entropy) in expected.items():
        q = apply_temperature(z, temperature)
        torch.testing.assert_close(q, p(*probabilities), rtol=0, atol=5e-8)
        assert info.entropy(q).item() == pytest.approx(entropy, abs=5e-8)
        torch.testing.assert_close(apply_temperature(z + 7, temperature), q)
    assert apply_temperature(p(1000, 0, -1000), 1).tolist() == [1, 0, 0]
    assert apply_temperature(z, 0).tolist() == [1, 0, 0]
    torch.testing.assert_close(apply_temperature(z, 1e-3), apply_temperature(z, 0))
    rows = torch.stack([z, z.flip(0)])
    torch.testing.assert_close(apply_temperature(rows, 2)[1], apply_temperature(z, 2).flip(0))


def test_gradient_of_the_cross_entropy_is_prediction_minus_target() -> None:
    z = p(2, 1, 0).requires_grad_()
    target = p(0, 1, 0)
    (gradient,) = torch.autograd.grad(info.cross_entropy(target, apply_temperature(z, 1)), z)
    torch.testing.assert_close(gradient, apply_temperature(z, 1).detach() - target, rtol=0, atol=1e-12)
