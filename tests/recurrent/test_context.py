"""Contexts and scores: the texts' numbers, masks, the memory that is computed once, recordings."""

import math

import pytest
import torch
from contracts import exact
from torch import Tensor

from modules.recurrent.context import POOLINGS, SCORES, Context, FixedContext, SoftAttention
from modules.transformer.recorder import record_attention
from modules.transformer.source_attention import joined

MASK = torch.arange(5) < torch.tensor([5, 2, 1])[:, None]


def drawn(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def contexts() -> list[Context]:
    """One of each, for states of 4 and source states of 6."""
    fixed = [FixedContext(6, pooling) for pooling in POOLINGS]
    return [exact(c) for c in [*fixed, *(SoftAttention(4, 6, score) for score in SCORES)]]


def test_weights_are_a_distribution_over_what_is_no_padding():
    """At least 0, of sum 1, exactly 0 at pads; contexts are in the box of the states; pads change nothing."""
    s, z = drawn(3, 4), drawn(3, 5, 6)
    for context in contexts():
        c, gamma = context(s, context.remember(z, MASK), MASK)
        assert (gamma >= 0).all() and not gamma[~MASK].any()
        torch.testing.assert_close(gamma.sum(1), torch.ones(3).double(), rtol=0, atol=1e-12)
        values = context.remember(z, MASK)[1] if isinstance(context, SoftAttention) else z
        low = values.masked_fill(~MASK[..., None], math.inf).amin(1)
        high = values.masked_fill(~MASK[..., None], -math.inf).amax(1)
        assert (c >= low - 1e-12).all() and (c <= high + 1e-12).all()
        other = torch.where(MASK[..., None], z, 7 * drawn(3, 5, 6, seed=2))
        for one, two in zip((c, gamma), context(s, context.remember(other, MASK), MASK), strict=True):
            assert torch.equal(one, two)
        short = context(s[1:2], context.remember(z[1:2, :2], MASK[1:2, :2]), MASK[1:2, :2])
        torch.testing.assert_close(short[0], c[1:2], rtol=0, atol=1e-12)


def test_equal_scores_give_the_mean_and_a_constant_changes_nothing():
    s, z = drawn(3, 4), drawn(3, 5, 6)
    mean, _ = (uniform := FixedContext(6, "mean"))(s, uniform.remember(z, MASK), MASK)
    attend = exact(SoftAttention(4, 6))
    before = attend(s, attend.remember(z, MASK), MASK)
    plain = attend.attention.scores
    attend.attention.scores = lambda q, keys: plain(q, keys) + 3.0
    for a, b in zip(before, attend(s, attend.remember(z, MASK), MASK), strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-12)
    attend.attention.scores = lambda q, keys: 0 * plain(q, keys)
    torch.testing.assert_close(attend(s, attend.remember(z, MASK), MASK)[0], mean, rtol=0, atol=1e-12)


def test_pooling_by_hand():
    z, lengths = drawn(3, 5, 6), [5, 2, 1]
    by_hand = {
        "last": lambda rows: rows[-1],
        "first": lambda rows: rows[0],
        "ends": lambda rows: torch.cat([rows[-1, :3], rows[0, 3:]]),
        "mean": lambda rows: rows.mean(0),
        "max": lambda rows: rows.amax(0),
    }
    for pooling, function in by_hand.items():
        c, _ = FixedContext(6, pooling).remember(z, MASK)
        expected = torch.stack([function(row[:n]) for row, n in zip(z, lengths, strict=True)])
        torch.testing.assert_close(c, expected, rtol=0, atol=1e-12)
    learned = exact(FixedContext(6, "learned"))
    c, gamma = learned.remember(z, MASK)
    w = learned.score.weight[0]
    for row, n, ours, share in zip(z, lengths, c, gamma, strict=True):
        expected = (row[:n] @ w).softmax(0)
        torch.testing.assert_close(share[:n], expected, rtol=0, atol=1e-12)
        torch.testing.assert_close(ours, expected @ row[:n], rtol=0, atol=1e-12)


@pytest.mark.parametrize("score", SCORES)
def test_recordings_step_by_step_are_the_whole_map(score):
    """Nothing that comes out changes to the bit; T calls joined are the weights."""
    attend, states, z = exact(SoftAttention(4, 6, score)), drawn(3, 7, 4), drawn(3, 5, 6)
    memory = attend.remember(z, MASK)
    plain = [attend(s, memory, MASK) for s in states.unbind(1)]
    with record_attention() as seen:
        watched = [attend(s, memory, MASK) for s in states.unbind(1)]
    for one, two in zip(plain, watched, strict=True):
        assert torch.equal(one[0], two[0]) and torch.equal(one[1], two[1])
    layer = attend.attention
    assert torch.equal(joined(seen.calls[layer])[:, 0], torch.stack([gamma for _, gamma in plain], 1))


@pytest.mark.parametrize(
    "make",
    [
        lambda: FixedContext(6, "middle"),
        lambda: FixedContext(5, "ends"),
        lambda: FixedContext(0),
        lambda: SoftAttention(4, 6, "cosine"),
        lambda: SoftAttention(4, 6, "dot", 3),
        lambda: SoftAttention(4, 6, "scaled", 0),
    ],
)
def test_bad_arguments_get_a_sentence(make):
    with pytest.raises(ValueError, match=r"[.]$"):
        make()


def test_every_parameter_of_a_context_is_used():
    s, z = drawn(3, 4), drawn(3, 5, 6)
    for context in contexts():
        if not list(context.parameters()):
            continue
        c, _ = context(s, context.remember(z, MASK), MASK)
        c.square().sum().backward()
        assert all(p.grad is not None for p in context.parameters())
