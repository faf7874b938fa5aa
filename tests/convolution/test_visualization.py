"""What units want, by other roads: CV-O55, closed forms, and units that are masks."""

import pytest
import torch
from torch import nn

from modules.convolution.cnn2d import CNN2d
from modules.convolution.visualization import (
    Prior,
    ball,
    blurred,
    box,
    cuts,
    excited,
    intersection_over_union,
    invert,
    maximize,
    overlaps,
    thresholds,
    total_variation,
    unit,
)  # fmt: skip


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("radius", [0.5, 3.0])
def test_a_linear_unit_wants_its_weights(radius: float) -> None:
    """CV-O55: on ‖x‖ ≤ r the ascent reaches r w/‖w‖."""
    w = drawn(1, 3, 4, 4)
    found = maximize(
        lambda x: (w * x).flatten(1).sum(1), drawn(5, 3, 4, 4, seed=1), 100, 0.3, within=ball(radius)
    )
    end = found.inputs[-1].flatten(1)
    assert torch.cosine_similarity(end, w.flatten(1)).min() > 0.9999
    torch.testing.assert_close(end.norm(dim=1), torch.full((5,), radius, dtype=torch.float64))
    torch.testing.assert_close(
        found.values[-1], torch.full((5,), radius * float(w.norm())).double(), rtol=1e-3, atol=0
    )
    assert bool((found.values.diff(dim=0) > -1e-9).all())


def test_a_ball_keeps_what_lies_inside() -> None:
    x = torch.tensor([[[[3.0, 4]]], [[[0.3, 0.4]]]])
    assert ball(1)(x).flatten(1).tolist() == [pytest.approx([0.6, 0.8]), pytest.approx([0.3, 0.4])]


def test_decay_has_a_closed_form() -> None:
    """Of w·x − λ Σ(x − r)²/D the maximum is r + D w/(2λ)."""
    w = drawn(1, 1, 3, 3)
    prior = Prior(decay=20.0, rest=0.25)
    found = maximize(lambda x: (w * x).flatten(1).sum(1), drawn(2, 1, 3, 3, seed=1), 400, 0.2, prior)
    torch.testing.assert_close(found.inputs[-1], (0.25 + 9 * w / 40).expand(2, -1, -1, -1), atol=2e-3, rtol=0)
    end = found.inputs[-1]
    torch.testing.assert_close(found.costs[-1], 20 * (end - 0.25).square().flatten(1).mean(1))


def test_total_variation_by_hand() -> None:
    x = torch.tensor([[[[0.0, 3, 3], [4, 4, 4]]]])
    # (0,0): √(4² + 3²); (0,1): 1 down; (0,2): 1 down; the last row and what does not change: 0
    assert total_variation(x).item() == pytest.approx(5 + 1 + 1)
    x = drawn(2, 3, 5, 4).requires_grad_()
    assert torch.autograd.gradcheck(total_variation, (x,))
    flat = torch.full((1, 1, 4, 4), 0.5, requires_grad=True)
    (slope,) = torch.autograd.grad(total_variation(flat).sum(), flat)
    assert bool((slope == 0).all())  # no NaN where the root has no slope


def test_blur_keeps_what_is_even_and_what_is_there() -> None:
    x = torch.zeros(1, 2, 15, 15, dtype=torch.float64)
    x[:, 0, 7, 7] = 1
    y = blurred(x, 1.0)
    assert y.sum().item() == pytest.approx(1) and bool((y[:, 1] == 0).all())
    assert (y[0, 0, 7, 8] / y[0, 0, 7, 7]).item() == pytest.approx(torch.tensor(-0.5).exp().item())
    torch.testing.assert_close(blurred(torch.full((1, 1, 6, 6), 0.3), 2.0), torch.full((1, 1, 6, 6), 0.3))
    assert blurred(x, 0.0) is x


def test_a_prior_trades_value_for_cost() -> None:
    torch.manual_seed(0)
    model = CNN2d((1, 12, 12), 3, channels=(4, 4)).eval()
    assert cuts(model.layers) == [2, 6, 10]
    start = torch.full((1, 1, 12, 12), 0.5) + 0.1 * drawn(1, 1, 12, 12).float()
    value = unit(model.layers, 1)
    free = maximize(value, start, 40, within=box())
    bound = maximize(value, start, 40, prior=Prior(variation=0.5), within=box())
    assert free.values[-1] > bound.values[-1] and free.values[-1] > free.values[0]
    assert total_variation(bound.inputs[-1]) < total_variation(free.inputs[-1])
    assert float(free.inputs.min()) >= 0 and float(free.inputs.max()) <= 1
    torch.testing.assert_close(free.values[-1, 0], model.predict(free.inputs[-1])[0, 1].detach())


def test_a_unit_sees_its_field_alone_and_a_mean_sees_all() -> None:
    torch.manual_seed(1)
    layers = nn.Sequential(nn.Conv2d(1, 3, 3, padding=1))
    start = drawn(1, 1, 9, 9).float()
    for everywhere, changed in ((False, 9), (True, 81)):
        found = maximize(unit(layers, 2, everywhere), start, 5)
        assert int((found.inputs[-1] != start).sum()) == changed
    own = unit(layers, torch.tensor([0, 2]))(start.expand(2, -1, -1, -1))
    torch.testing.assert_close(own, layers(start)[0, [0, 2], 4, 4])


def test_a_bijective_layer_gives_the_picture_back() -> None:
    """CV-O55: from activations of an orthogonal map, stretched by up to 3, whatever the start."""
    q = torch.linalg.qr(drawn(16, 16)).Q * torch.linspace(1, 3, 16, dtype=torch.float64)
    x = drawn(1, 1, 4, 4, seed=3)
    found = invert(lambda v: v.flatten(1) @ q, x.flatten(1) @ q, drawn(1, 1, 4, 4, seed=4), 400, 0.1)
    torch.testing.assert_close(found.inputs[-1], x, atol=1e-3, rtol=0)
    assert found.values[-1] < 1e-6 < found.values[0]


def test_what_a_layer_throws_away_stays_as_it_was_or_is_left_to_the_prior() -> None:
    x, start = drawn(1, 1, 2, 4, seed=3), drawn(1, 1, 2, 4, seed=4)
    upper = lambda v: v[..., 0, :].flatten(1)  # noqa: E731
    found = invert(upper, upper(x), start, 300, 0.1)
    torch.testing.assert_close(found.inputs[-1][..., 0, :], x[..., 0, :], atol=1e-3, rtol=0)
    assert torch.equal(found.inputs[-1][..., 1, :], start[..., 1, :])
    rested = invert(upper, upper(x), start, 300, 0.1, Prior(decay=0.01, rest=0.5))
    torch.testing.assert_close(
        rested.inputs[-1][..., 1, :], torch.full((1, 1, 4), 0.5).double(), atol=0.02, rtol=0
    )


def test_a_unit_that_is_a_mask() -> None:
    """CV-O55: its IoU is 1 at the share that the mask has, and by counting anywhere else."""
    mask = drawn(6, 5, 5) > 0.8
    other = torch.roll(mask, 1, 2)
    maps = torch.stack([mask, other], 1).double() + 0.01 * drawn(6, 2, 5, 5, seed=2).abs()
    share = float(mask.double().mean())
    (on,) = excited(maps, [share], (5, 5))
    iou = intersection_over_union(on, torch.stack([mask, torch.zeros_like(mask)]))
    both, either = int((mask & other).sum()), int((mask | other).sum())
    assert iou[0].tolist() == [1, 0] and iou[1, 0].item() == pytest.approx(both / either)
    assert [part[1, 0].item() for part in overlaps(on, mask[None])] == [both, either]
    assert intersection_over_union(mask[None] & False, mask[None] & False).item() == 0
    ((exact,),) = excited(mask[:, None].double(), [share], (5, 5))
    assert torch.equal(exact, mask)  # ties: never more than the share


def test_a_threshold_leaves_its_share() -> None:
    maps, shares = drawn(10, 3, 4, 5), [0.05, 0.2, 0.5]
    above = (maps > thresholds(maps, shares)[:, None, :, None, None]).double().mean((1, 3, 4))
    torch.testing.assert_close(above, torch.tensor(shares).double()[:, None].expand(-1, 3))
    large = excited(maps, shares, (8, 10))
    assert large.shape == (3, 3, 10, 8, 10) and bool((large[0] <= large[1]).all())


def test_what_is_out_of_range_is_refused() -> None:
    for wrong in (0.0, 1.0):
        with pytest.raises(ValueError, match="between 0 and 1"):
            thresholds(drawn(2, 1, 2, 2), [0.5, wrong])
    with pytest.raises(ValueError, match="decay"):
        Prior(decay=-1)
    with pytest.raises(ValueError, match="steps"):
        maximize(lambda x: x.flatten(1).sum(1), drawn(1, 1, 2, 2), 0)
