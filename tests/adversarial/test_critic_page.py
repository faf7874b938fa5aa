"""A critic between clouds: its value, its slope and W₁ are right, and what the scenes say is so."""

from functools import cache

import pytest
import torch
from opening import figure, film, open_page

from modules.adversarial.gan import Discriminator
from modules.adversarial.transport import assignment
from pages.adversarial.critic import lens
from pages.adversarial.critic.room import CLIP, EACH, LINES, NOTHING, ONE, PENALTY, RING, ROOM, SPECTRAL


@cache
def learnt(
    hold: str = PENALTY, strength: float = 10.0, rule: str = EACH, cloud: str = LINES, moving: bool = False
) -> list[lens.Look]:
    *_, (_, looks) = lens.watching(cloud, 2.0, hold, strength, rule, moving, lens.QUICK, 0)
    return looks


def test_clouds_lie_as_far_apart_as_they_say() -> None:
    for distance in (0.5, 4.0):
        x, result = lens.clouds(LINES, distance)
        assert float(assignment(x, result)[1]) == pytest.approx(distance)
        assert (x[:, 0] > result[:, 0]).all()


def test_a_value_needs_a_slope() -> None:
    """Kantorovich and Rubinstein: no critic of slope L has a value above L · W₁."""
    for hold, strength in ((PENALTY, 10.0), (CLIP, 0.01), (CLIP, 0.1), (SPECTRAL, 0.0)):
        end = learnt(hold, strength)[-1]
        assert end.value <= end.steepest * end.w1 * 1.02, hold


def test_the_rule_of_epsilon() -> None:
    """Oracle GA-O17: f = ½‖x‖², real (0, 0), made (3, 4)."""
    half_square = lambda x: x.square().sum(1) / 2  # noqa: E731
    x, result = torch.zeros(lens.COUNT, 2), torch.tensor([[3.0, 4.0]]).expand(lens.COUNT, 2)
    generator = torch.Generator().manual_seed(0)
    for rule, mean in ((EACH, 13 / 3), (lens.COORDINATE, 3.943779), (ONE, 1.0)):
        results = [lens.penalty(half_square, x, result, rule, generator).item() for _ in range(200)]  # type: ignore[arg-type]
        assert torch.tensor(results).mean() == pytest.approx(mean, rel=0.03), rule


def test_made_points_climb() -> None:
    """On f = 3 x₁ a step is 3 · MOVE to the right."""
    critic = Discriminator(2, [2], 1, False, False)
    with torch.no_grad():
        for parameter in critic.parameters():
            parameter.zero_()
        critic.trunk[0][0].weight[0, 0], critic.head.weight[0, 0] = 1.0, 3.0  # type: ignore[index]
    start = torch.rand(5, 2, generator=torch.Generator().manual_seed(0)) + 1
    assert (lens.moved(critic, start) - start).numpy() == pytest.approx(
        torch.tensor([[3 * lens.MOVE, 0.0]] * 5).numpy(), abs=1e-6
    )


def test_what_the_scenes_say() -> None:
    plain, middle = learnt()[-1], lens.SIDE // 2
    assert float(plain.slopes[middle, middle]) == pytest.approx(1.1, abs=0.15)
    assert plain.value == pytest.approx(lens.expected(2.0, 10.0), rel=0.05) and plain.value > plain.w1
    soft = learnt(strength=1.0)[-1]
    assert lens.expected(2.0, 1.0) == 4 and soft.value == pytest.approx(4, rel=0.12)
    clipped, wide = learnt(CLIP, 0.01)[-1], learnt(CLIP, 0.1)[-1]
    assert 0.001 < clipped.value < 0.01 and clipped.steepest < 0.0091  # oracle GA-O16's order
    assert 3.5 < wide.steepest < 4.5
    spectral = learnt(SPECTRAL, 0.0)[-1]
    assert spectral.steepest < 1.05 and spectral.value == pytest.approx(spectral.w1, rel=0.05)
    wrong = learnt(rule=ONE)[-1]
    assert wrong.steepest > 5 and lens.beside(wrong) == lens.OPTIONS[2]
    assert learnt(NOTHING, 0.0)[-1].value > 1000
    moving = learnt(moving=True)
    w1 = [one.w1 for one in moving]
    assert w1 == sorted(w1, reverse=True) and w1[-1] < 0.2 and moving[-1].value < moving[8].value / 5
    ring = learnt(cloud=RING)[-1]
    assert ring.w1 < ring.value < 1.2 * ring.w1


def test_the_page() -> None:
    page = open_page("adversarial/critic", seed=0)
    assert film(page, "look")["captions"] == lens.captions(learnt())
    _, arrays = figure(page, "surface")
    assert arrays["data.0.z"].shape == (len(learnt()), lens.SIDE, lens.SIDE)
    assert arrays["data.0.z"][-1] == pytest.approx(learnt()[-1].f.numpy(), abs=0.02)


def test_the_first_scene_says_what_its_picture_has() -> None:
    """From the blob to the ring f climbs along every ray; that it has eight tops there is not said."""
    one, side = learnt(cloud=RING)[-1], torch.linspace(-lens.REACH, lens.REACH, lens.SIDE)
    for angle in torch.linspace(0, 2 * torch.pi, 17)[:-1]:
        places = [((side - r * angle.cos()).abs().argmin(), (side - r * angle.sin()).abs().argmin())
                  for r in (0.0, 0.8, 1.4, 2.0)]  # fmt: skip
        heights = [float(one.f[row, column]) for column, row in places]
        assert heights == sorted(heights), float(angle)
    inner = one.f[1:-1, 1:-1]
    beside = torch.stack([one.f[1 + i : lens.SIDE - 1 + i, 1 + j : lens.SIDE - 1 + j]
                          for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j])  # fmt: skip
    tops = int((inner > beside.amax(0)).sum())
    text = ROOM.scenes["Ring of eight modes"].sees
    assert tops == 8 or "tops" not in text
    assert (
        text
        == "f rises from the samples in the centre to the data's ring; its value is within a fifth of W₁."
    )
