"""Clipping by one global norm, by value, and what must not be: a norm for each tensor."""

import pytest
import torch

from modules.recurrent.clipping import clip_by_norm, clip_by_value, global_norm

GRADIENTS = [torch.tensor([3.0, 4.0], dtype=torch.float64), torch.tensor([12.0], dtype=torch.float64)]


@pytest.mark.parametrize(
    "threshold, expected",
    [
        (6.5, ([1.5, 2.0], [6.0])),
        (1.0, ([0.230769, 0.307692], [0.923077])),
        (13.0, ([3.0, 4.0], [12.0])),
        (20.0, ([3.0, 4.0], [12.0])),
        (0.0, ([0.0, 0.0], [0.0])),
    ],
)
def test_clipping_keeps_the_direction_of_all_parameters_together(threshold, expected):
    """RN-O6: the global norm is 13; torch divides by the norm + 10⁻⁶."""
    assert global_norm(GRADIENTS) == 13
    clipped = clip_by_norm(GRADIENTS, threshold)
    for ours, numbers in zip(clipped, expected, strict=True):
        assert ours.tolist() == pytest.approx(numbers, abs=1e-6)
    parameters = [torch.nn.Parameter(g) for g in GRADIENTS]
    for p, g in zip(parameters, GRADIENTS, strict=True):
        p.grad = g.clone()
    torch.nn.utils.clip_grad_norm_(parameters, threshold)
    for ours, p in zip(clipped, parameters, strict=True):
        torch.testing.assert_close(ours, p.grad, rtol=0, atol=1e-6)
    if threshold == 1:  # a norm for each tensor would give both length 1
        each = [clip_by_norm([g], threshold)[0] for g in GRADIENTS]
        assert each[0].tolist() == pytest.approx([0.6, 0.8]) and each[1].tolist() == [1.0]


def test_clipping_by_value_turns_the_direction():
    clipped = clip_by_value(GRADIENTS, 1.0)
    assert [c.tolist() for c in clipped] == [[1.0, 1.0], [1.0]]
    assert torch.cosine_similarity(torch.cat(clipped), torch.cat(GRADIENTS), dim=0) < 0.9
    together = torch.cat(clip_by_norm(GRADIENTS, 1.0))
    assert torch.cosine_similarity(together, torch.cat(GRADIENTS), dim=0) == pytest.approx(1)


def test_a_gradient_of_zeros_stays():
    assert clip_by_norm([torch.zeros(3)], 1.0)[0].tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("clip", [clip_by_norm, clip_by_value])
def test_a_threshold_below_zero_is_refused(clip):
    with pytest.raises(ValueError, match="threshold is -1"):
        clip(GRADIENTS, -1.0)
