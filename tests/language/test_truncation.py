"""Temperature, top-k, top-p and min-p, always over the full vocabulary."""

import math

import pytest
import torch

from modules.language.truncation import (
    SamplingParams,
    apply_temperature,
    draw,
    probabilities,
    truncate,
    truncation_mask,
)


def logits(*p):
    return torch.tensor(p, dtype=torch.float64).log()


P = (0.5, 0.3, 0.15, 0.05)


def test_top_k_and_top_p_of_four_tokens():
    assert truncate(logits(*P), top_k=2).after.tolist() == pytest.approx([0.625, 0.375, 0, 0])
    nucleus = truncate(logits(*P), top_p=0.9)
    assert nucleus.kept.tolist() == [True, True, True, False]
    assert nucleus.after.tolist() == pytest.approx([x / 0.95 for x in P[:3]] + [0])
    assert float(nucleus.mass) == pytest.approx(0.95)


def test_the_nucleus_is_measured_on_the_full_vocabulary():
    # 50 equal tokens of mass 0.5 and one of 0.5: p = 0.6 needs 11 tokens of the whole. After a cut to the
    # 6 first, renormalised, it would keep one token only.
    p = torch.tensor([0.5] + [0.01] * 50, dtype=torch.float64)
    assert int(truncation_mask(p, top_p=0.6).sum()) == 11
    assert int(truncation_mask(p, top_k=6, top_p=0.6).sum()) == 6
    wrong = p * truncation_mask(p, top_k=6)
    assert int(truncation_mask(wrong / wrong.sum(), top_p=0.6).sum()) == 1


def test_nucleus_sizes():
    p = torch.tensor(P, dtype=torch.float64)
    assert [int(truncation_mask(p, top_p=q).sum()) for q in (0.5, 0.8, 0.81, 0.95, 1.0)] == [1, 2, 3, 3, 4]
    assert truncate(logits(*P), top_p=0.81).after.tolist() == pytest.approx(
        [0.5263158, 0.3157895, 0.1578947, 0], abs=5e-8
    )
    # temperature comes first, and a colder distribution needs fewer tokens for the same mass
    cold = truncate(logits(*P), temperature=0.5, top_p=0.9)
    assert cold.tempered.tolist() == pytest.approx([0.6849315, 0.2465753, 0.0616438, 0.0068493], abs=5e-8)
    assert int(cold.kept.sum()) == 2 and int(truncate(logits(*P), top_p=0.9).kept.sum()) == 3


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_nucleus_of_equal_tokens_has_one_answer(dtype):
    """Uniform V = 1000, p = .9 keeps 900 (a cut to 50 first would leave 45): the smallest n with n/V ≥ p,
    however the sums are rounded."""
    assert int(truncation_mask(torch.full((1000,), 1e-3, dtype=dtype), top_p=0.9).sum()) == 900
    assert int(truncate(torch.zeros(1000, dtype=dtype), top_k=50, top_p=0.9).kept.sum()) == 50
    for V in (7, 10, 1000, 50_000):
        for percent in (1, 10, 50, 70, 90, 95, 99):
            kept = int(truncate(torch.zeros(V, dtype=dtype), top_p=percent / 100).kept.sum())
            assert kept == -(-V * percent // 100), (V, percent)


def test_the_ends_of_the_parameters_are_greedy_and_ancestral():
    z = torch.randn(20, 9, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    greedy = torch.zeros_like(z).scatter(1, z.argmax(1, keepdim=True), 1.0)
    for params in ({"top_k": 1}, {"temperature": 0}, {"top_p": 1e-9}, {"min_p": 1.0}):
        torch.testing.assert_close(truncate(z, **params).after, greedy, rtol=0, atol=1e-12)
    torch.testing.assert_close(
        truncate(z, SamplingParams(1.0, 9, 1.0, 0.0)).after, z.softmax(-1), rtol=0, atol=1e-12
    )


def test_ties_at_the_last_rank_keep_exactly_k_by_lower_id():
    p = torch.full((5,), 0.2)
    assert truncation_mask(p, top_k=3).tolist() == [True, True, True, False, False]
    # the smallest set that reaches 0.4
    assert truncation_mask(p, top_p=0.4).tolist() == [True, True, False, False, False]


def test_the_most_probable_token_always_stays():
    p = torch.tensor([0.1, 0.6, 0.3])
    assert truncation_mask(p, top_k=1, top_p=1e-9).tolist() == [False, True, False]


def test_min_p_is_a_share_of_the_most_probable():
    p = torch.tensor([0.5, 0.3, 0.15, 0.05], dtype=torch.float64)
    assert truncation_mask(p, min_p=0.3).tolist() == [True, True, True, False]  # 0.15 reaches 0.3 · 0.5
    assert truncation_mask(p, min_p=0.31).tolist() == [True, True, False, False]
    assert truncation_mask(p, min_p=1.0).tolist() == [True, False, False, False]
    assert truncation_mask(p, min_p=0.0).all()
    assert truncate(logits(*P), min_p=0.5).after.tolist() == pytest.approx([0.625, 0.375, 0, 0])
    # where the model is unsure it keeps many, where it is sure few: uniform keeps everything
    assert truncation_mask(torch.full((1000,), 1e-3), min_p=0.9).all()
    assert truncation_mask(p, top_p=0.5, min_p=0.1).tolist() == [True, False, False, False]  # both cuts hold


def test_nothing_cut_is_the_softmax():
    z = torch.randn(3, 7, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    story = truncate(z, top_k=100, top_p=1.0)
    assert torch.equal(story.after, z.softmax(-1)) or torch.allclose(story.after, z.softmax(-1), atol=1e-15)
    assert story.kept.all()
    torch.testing.assert_close(probabilities(z), z.softmax(-1), atol=0, rtol=0)


@pytest.mark.parametrize("temperature", [0, 0.3, 1.0, 2.5])
@pytest.mark.parametrize("cuts", [(), (3,), (None, 0.7), (4, 0.8), (None, None, 0.2), (5, 0.9, 0.1)], ids=str)
def test_what_is_drawn_from_is_what_is_shown(temperature, cuts):
    z = torch.randn(4, 9, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    params = SamplingParams(temperature, *cuts)
    story = truncate(z, params)
    torch.testing.assert_close(probabilities(z, params), story.after, atol=1e-15, rtol=0)
    torch.testing.assert_close(story.after.sum(-1), torch.ones(4, dtype=torch.float64))
    assert not story.after[~story.kept].any()


def test_temperature():
    z = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    assert apply_temperature(z, 1.0).tolist() == pytest.approx([0.090031, 0.244728, 0.665241], abs=1e-6)
    assert apply_temperature(z, 0.1).tolist() == pytest.approx([2.06e-9, 4.54e-5, 0.999955], rel=1e-2)
    assert apply_temperature(z, 0).tolist() == [0, 0, 1]
    assert apply_temperature(z, 1e-320).tolist() == [0, 0, 1]  # no overflow on the way to greedy
    assert apply_temperature(z.float(), 1e-124).tolist() == [0, 0, 1]  # which single precision takes for 0
    assert apply_temperature(z + 1000, 1.0).isfinite().all()
    assert apply_temperature(torch.ones(3), 0).tolist() == [1, 0, 0]
    hot, cold = (-(p * p.log()).sum().item() for p in (apply_temperature(z, 5.0), apply_temperature(z, 0.5)))
    assert cold < hot < math.log(3)


@pytest.mark.parametrize(
    "params, sentence",
    [
        ({"temperature": -1.0}, "temperature is -1.0"),
        ({"temperature": math.nan}, "temperature is nan"),
        ({"top_k": 0}, "top_k is 0: keep at least 1 token"),
        ({"top_p": 0.0}, "top_p is 0.0"),
        ({"top_p": 1.5}, "top_p is 1.5"),
        ({"min_p": 1.5}, "min_p is 1.5"),
        ({"min_p": -0.1}, "min_p is -0.1"),
    ],
)
def test_parameters_out_of_range(params, sentence):
    with pytest.raises(ValueError, match=sentence):
        truncate(logits(*P), **params)


def test_parameters_are_one_record():
    import dataclasses

    params = SamplingParams(0.5, top_p=0.9)
    z = torch.randn(4, 9, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    assert torch.equal(truncate(z, params).after, truncate(z, temperature=0.5, top_p=0.9).after)
    assert torch.equal(
        probabilities(z, params, top_k=2), probabilities(z, dataclasses.replace(params, top_k=2))
    )
    assert params.truncates and not SamplingParams(2.0, top_p=1.0, min_p=0.0).truncates
    with pytest.raises(dataclasses.FrozenInstanceError):
        params.top_k = 3
    with pytest.raises(ValueError, match="top_k is 0"):
        dataclasses.replace(params, top_k=0)
    many = z[:1].expand(500, -1)
    first, second = (draw(many, params, torch.Generator().manual_seed(3)) for _ in range(2))
    assert torch.equal(first, second) and len(first.unique()) > 1
    before = torch.Generator().manual_seed(5)
    assert torch.equal(draw(z, SamplingParams(0), before), z.argmax(1))
    assert torch.equal(before.get_state(), torch.Generator().manual_seed(5).get_state())
