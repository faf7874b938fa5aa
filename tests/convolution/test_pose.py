"""The stacked hourglass: what it adds, its heatmaps and their maxima, loss and correct joints by stack."""

import contracts
import pytest
import torch
from torch import Tensor

from modules.convolution.counting import count, named
from modules.convolution.hourglass import Hourglass, StackedHourglass, correct, heatmaps_of, peaks


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_the_peak_of_a_gaussian_is_its_joint() -> None:
    points = torch.tensor([[[3.0, 5.0], [0.0, 0.0], [7.0, 9.0]]])
    maps = heatmaps_of(points, 8, 10, sd=1.5)
    assert maps.shape == (1, 3, 8, 10) and torch.equal(peaks(maps), points.long())
    assert maps[0, 0, 3, 5] == 1 and maps[0, 0, 3, 6].item() == pytest.approx(0.8007, abs=1e-4)


def test_a_place_in_pixels_comes_back_to_half_a_cell() -> None:
    """Of every place in the picture, its targets' maximum is the middle of the cell that it lies in."""
    model = StackedHourglass((1, 16, 24), 50, 4, stacks=1, levels=1, halvings=2)
    joints = torch.rand(3, 50, 3, generator=torch.Generator().manual_seed(0)) * torch.tensor([16.0, 24, 1])
    targets = model.targets(joints)
    places = model.places(targets)
    assert targets.shape == (3, 50, 4, 6)
    assert torch.equal(places, (joints[..., :2] // 4) * 4 + 2)
    assert torch.equal(model.places(model.targets(places)), places)
    assert model.targets(places).amax((-2, -1)).eq(1).all()


def test_correct_is_by_the_longer_side_of_the_figure() -> None:
    """A figure 20 high and 10 wide, α = .1: two pixels, whichever the direction."""
    joints = torch.tensor([[0.0, 0, 1], [20, 10, 1], [10, 5, 0]])
    moved = joints[:, :2] + torch.tensor([[0.0, 2.0], [-2.01, 0], [1.41, 1.41]])
    assert correct(moved, joints).tolist() == [True, False, True]
    assert correct(moved, joints, 0.2).all() and not correct(moved, joints, 0.0).any()
    assert correct(torch.stack([moved, joints[:, :2]]), joints).tolist() == [[True, False, True], [True] * 3]


def test_an_hourglass_adds() -> None:
    """The channels stay the same; without its skip the output depends on the low path alone (CV-O50)."""
    hourglass = contracts.exact(Hourglass(4, 2), scale=0.3)
    x = draw(1, 4, 8, 8)
    low = hourglass.grow(hourglass.high(hourglass.inner(hourglass.low(hourglass.pool(x)))))
    assert (hourglass(x) - hourglass.skip(x) - low).abs().max() < 1e-14
    assert hourglass(x).shape == x.shape
    with torch.no_grad():
        for parameter in hourglass.skip.parameters():
            parameter.zero_()  # the branch is 0: the skip is the identity
    assert (hourglass(x) - x - low).abs().max() < 1e-14
    hourglass.skip = torch.nn.Identity()
    moved = x.clone()
    moved[..., 0, 0] = x[..., :2, :2].amax((-2, -1)) - 5  # no maximum: the low path does not see it
    moved[..., 1, 1] = x[..., :2, :2].amax((-2, -1)) + 5
    other = x.clone()
    other[..., 1, 1] = moved[..., 1, 1]
    assert (hourglass(moved) - moved - hourglass(other) + other).abs().max() < 1e-12


def test_each_stack_is_judged_and_the_last_is_measured() -> None:
    model = contracts.exact(StackedHourglass((1, 16, 16), 3, 4, stacks=3, levels=1, halvings=1, alpha=0.3))
    x = draw(2, 1, 16, 16)
    joints = torch.rand(2, 3, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64) * 16
    maps, target = model.heatmaps(x), heatmaps_of(joints[..., :2] / 2 - 0.5, 8, 8)
    assert maps.shape == (2, 3, 3, 8, 8)
    errors = [(maps[:, s] - target).square().mean() for s in range(3)]
    assert (model.step((x, joints), "test") - sum(errors) / 3).abs() < 1e-12
    assert model.meters["test_mse"].compute().item() == pytest.approx(errors[2].item(), abs=1e-9)
    assert torch.equal(model.locate(x), 2 * peaks(maps[:, 2]) + 1.0)
    assert torch.equal(model.predict_step((x, joints), 0), model.locate(x))
    for name, s in (("pck_1", 0), ("pck_2", 1), ("pck", 2)):
        right = [
            float((2 * peaks(maps[b, s, j]) + 1 - joints[b, j, :2]).norm())
            <= 0.3 * float((joints[b, :, :2].amax(0) - joints[b, :, :2].amin(0)).max())
            for b in range(2) for j in range(3)
        ]  # fmt: skip
        assert model.meters[f"test_{name}"].compute().item() == pytest.approx(sum(right) / 6)
    with pytest.raises(ValueError, match="multiples of 4"):
        model.heatmaps(draw(1, 1, 18, 16))


def test_the_loss_reaches_the_first_stack_past_the_second() -> None:
    """The head of the first stack learns from its own heatmaps, though the second stack is silent."""
    model = StackedHourglass((1, 8, 8), 2, 4, stacks=2, levels=1, halvings=1)
    with torch.no_grad():
        for parts in (model.heads[1:], model.back, model.give):
            for parameter in parts.parameters():
                parameter.zero_()
    x, joints = draw(4, 1, 8, 8).float(), torch.rand(4, 2, 3, generator=torch.Generator().manual_seed(2)) * 8
    model.step((x, joints), "train").backward()
    gradient = next(model.heads[0].parameters()).grad
    assert gradient is not None and float(gradient.abs().max()) > 1e-4


def test_full_hourglass() -> None:
    """256 → 128 by a stride, → 64 by pooling, as published."""
    with torch.device("meta"):
        model = StackedHourglass()
        rows = count(model, (3, 256, 256))
    heads = [r for r in named(rows, "Conv2d") if r.name.startswith("heads")]
    assert [r.shape for r in heads] == [(16, 64, 64)] * 2
    assert {r.shape[0] for r in named(rows, "Upsample")} == {256}
    assert min(r.shape[1] for r in named(rows, "Conv2d")) == 4  # 64 halved four times
    assert named(rows, "Conv2d")[0].shape == (256, 128, 128)


def test_it_learns_where_a_dot_is() -> None:
    torch.manual_seed(0)
    points = torch.tensor([[[1.0, 2.0]], [[6.0, 5.0]], [[3.0, 7.0]], [[5.0, 1.0]]])
    x = heatmaps_of(points, 8, 8, sd=0.7)
    model = StackedHourglass((1, 8, 8), 1, 8, stacks=2, levels=1, halvings=0)
    contracts.overfits_one_batch(model, (x, points + 0.5), below=0.01, steps=150)


@pytest.mark.parametrize(
    "wrong, words",
    [({"alpha": -1.0}, "alpha is -1"), ({"sd": 0.0}, "sd is 0"), ({"stacks": 0}, "stacks is 0")],
)
def test_what_is_out_of_range_is_refused(wrong: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        StackedHourglass((1, 64, 64), **wrong)  # type: ignore[arg-type]
