"""Scores of a decoder's attention to its source: numbers worked by hand, padding, steps, records."""

import pytest
import torch

from modules.transformer.recorder import record_attention
from modules.transformer.source_attention import SourceAttention, joined

SCORES = ("additive", "dot", "scaled")


def layer(score, H=4, Z=4, seed=0):
    torch.manual_seed(seed)
    return SourceAttention(H, Z, score, None if score == "dot" else 3).double()


def random(*shape, seed=1):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize(
    "score, gamma, context",
    [
        ("additive", (0.359502, 0.581681, 0.058817), (0.300685, 0.522865)),
        ("dot", (0.506480, 0.186324, 0.307196), (0.199285, -0.120872)),
        ("scaled", (0.455527, 0.224606, 0.319866), (0.135661, -0.095260)),
    ],
)
@torch.no_grad()
def test_worked_example(score, gamma, context):
    """W = U = I, v = (1, 1), s = (.5, −.5), z = (1, 0), (0, 1), (−1, −1)."""
    model = SourceAttention(2, 2, score).double()
    for p in model.parameters():
        p.copy_(torch.ones_like(p) if len(p) == 1 else torch.eye(2))
    s = torch.tensor([[[0.5, -0.5]]], dtype=torch.float64)
    z = torch.tensor([[[1.0, 0], [0, 1], [-1, -1]]], dtype=torch.float64)
    keys, values = model.keys_and_values(z)
    c, weights = model(s, keys, values)
    assert weights[0, 0].tolist() == pytest.approx(gamma, abs=5e-7)
    assert c[0, 0].tolist() == pytest.approx(context, abs=5e-7)
    if score == "additive":
        expected = (0.443031, 0.924234, -1.367265)
        assert model.scores(s, keys)[0, 0].tolist() == pytest.approx(expected, abs=5e-7)


@pytest.mark.parametrize("score", SCORES)
def test_padding_gets_nothing_and_changes_nothing(score):
    model, s, z = layer(score), random(2, 3, 4), random(2, 5, 4, seed=2)
    padding = torch.tensor([[False] * 5, [False, False, False, True, True]])
    context, gamma = model(s, *model.keys_and_values(z), padding)
    assert (gamma >= 0).all() and not gamma[1, :, 3:].any()
    torch.testing.assert_close(gamma.sum(-1), torch.ones(2, 3).double(), rtol=0, atol=1e-12)
    alone, _ = model(s[1:], *model.keys_and_values(z[1:, :3]))
    torch.testing.assert_close(context[1:], alone, rtol=0, atol=1e-12)
    # whatever stands there, also for gradients
    z = z.masked_fill(padding[..., None], 1e3).requires_grad_()
    again, _ = model(s, *model.keys_and_values(z), padding)
    torch.testing.assert_close(again, context, rtol=0, atol=1e-12)
    again.sum().backward()
    assert not z.grad[1, 3:].any() and z.grad[1, :3].any()
    # a context is a mean of values: within their bounds
    values = model.keys_and_values(z)[1][1:, None, :3]
    assert (context[1:] <= values.amax(2)).all() and (context[1:] >= values.amin(2)).all()


@torch.no_grad()
def test_equal_scores_are_the_mean_of_what_is_there():
    model, z = layer("additive"), random(1, 5, 4)
    model.energy.weight.zero_()
    padding = torch.tensor([[False, False, True, False, True]])
    context, gamma = model(random(1, 2, 4), *model.keys_and_values(z), padding)
    assert gamma[0, 0].tolist() == pytest.approx([1 / 3, 1 / 3, 0, 1 / 3, 0])
    torch.testing.assert_close(context[0, 1], z[0, [0, 1, 3]].mean(0))


@pytest.mark.parametrize("score", SCORES)
@torch.no_grad()
def test_steps_are_recorded_and_joined(score):
    """All states at once, and one by one with keys computed once: the same contexts and T × S weights."""
    model, s, z = layer(score), random(2, 6, 4), random(2, 5, 4, seed=2)
    whole, gamma = model(s, *model.keys_and_values(z))
    keys, values = model.keys_and_values(z)
    with record_attention() as seen:
        steps = [model(s[:, t : t + 1], keys, values)[0] for t in range(6)]
    torch.testing.assert_close(torch.cat(steps, 1), whole, rtol=0, atol=1e-12)
    weights = joined(seen.calls[model])
    assert weights.shape == (2, 1, 6, 5)
    torch.testing.assert_close(weights[:, 0], gamma, rtol=0, atol=1e-12)


@torch.no_grad()
def test_scaled_products_keep_their_spread():
    """Products of random vectors spread as √D and not as D ([GM]); divided by √D they stay at 1."""
    for D, spread in ((16, 4.0), (64, 8.0), (256, 16.0)):
        q, k = random(1, 300, D), random(1, 300, D, seed=2)
        dot, scaled = SourceAttention(D, D, "dot"), SourceAttention(D, D, "scaled").double()
        torch.nn.init.eye_(scaled.query.weight)
        assert float(dot.scores(q, k).std()) == pytest.approx(spread, rel=0.05)
        assert float(scaled.scores(q, k).std()) == pytest.approx(1.0, rel=0.05)


@pytest.mark.parametrize(
    "arguments, sentence",
    [((4, 6, "dot"), "of 4 with annotations of 6"), ((4, 4, "dot", 3), "no other"),
     ((4, 4, "cosine"), "choose additive"), ((4, 4, "additive", 0), "width is 0")],
)  # fmt: skip
def test_refusals(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        SourceAttention(*arguments)
