"""The page "Unpaired": its numbers, and what its scenes say."""

import math
from functools import cache

import pytest
import torch
from opening import figure, film, metrics, open_page, run_page, spoken

from lab.errors import UserError
from lab.lenses import ink
from pages.adversarial.unpaired import lens, room

INK = dict(ink.examples(20))
HALF = (room.TURNS - 1) // 2


@cache
def look_of(name: str = room.NORMAL, mirror: bool = False, scale: float = 1.0, undoes: bool = True,
          drawn: str = "wave") -> lens.Look:  # fmt: skip
    return lens.look(name, INK[drawn], mirror, scale, undoes)


def folded(mean: float, variance: float) -> float:
    """E|X| of X ~ N(mean, variance)."""
    sd = math.sqrt(variance) or 1e-12
    return sd * math.sqrt(2 / math.pi) * math.exp(-(mean**2) / (2 * sd**2)) + mean * math.erf(
        mean / (sd * math.sqrt(2))
    )


def test_the_content_of_the_shift_and_of_its_mirror_image() -> None:
    """GA-O29: 3.000 against 4.712996; every turn from the closed form."""
    look = look_of()
    assert float(look.before[0]) == pytest.approx(3.0, abs=1e-5)
    assert float(look.before[HALF]) == pytest.approx(4.712996, abs=0.03)
    for scale, one in ((1.0, look), (0.5, look_of(scale=0.5))):
        for i, d in enumerate(lens.degrees()):
            variance = scale**2 - 2 * scale * math.cos(math.radians(d)) + 1
            exact = folded(3.0, variance) + folded(0.0, variance)
            assert float(one.before[i]) == pytest.approx(exact, abs=0.04)


def test_the_losses_by_hand_at_a_quarter_turn() -> None:
    look, quarter = look_of(mirror=True), (room.TURNS - 1) // 4
    a = lens.first_domain(room.NORMAL, INK["wave"])
    there = torch.stack([a[:, 1] + 3, a[:, 0]], 1)  # (x, y) → (x, −y) → (y, x)
    torch.testing.assert_close(look.translations[quarter], there[: lens.SHOWN], atol=1e-4, rtol=0)
    assert float(look.partner[quarter]) == pytest.approx(
        float((there - a - torch.tensor([3.0, 0.0])).abs().sum(1).mean()), abs=1e-4
    )
    b = a + torch.tensor([3.0, 0.0])
    moved = torch.stack([b[:, 1] + 3, b[:, 0]], 1)
    assert float(look.identity[quarter]) == pytest.approx(float((moved - b).abs().sum(1).mean()), abs=1e-4)


def test_what_the_scenes_say() -> None:
    shift, mirrored = look_of(), look_of(mirror=True)
    assert shift.partner[0] < 1e-5 and lens.chosen(shift.before) == 0
    for look in (shift, mirrored):
        assert look.cycle.max() < 1e-4
        assert look.w1.max() < 0.6 and look.w1.max() < 1.6 * look.w1.min()
    assert shift.partner[HALF] > 2 and mirrored.partner.min() > 1
    assert look_of(undoes=False).cycle[HALF] > 2 and look_of(undoes=False).cycle[0] < 1e-5
    shrunk = look_of(scale=0.5)
    assert shrunk.cycle.max() < 1e-4 and shrunk.w1.min() > 1.5 * shift.w1.max()
    wave = look_of(room.OWN)
    assert wave.w1[HALF // 2] > 3 * wave.w1[0]


def test_marked_points_lie_all_around_and_are_opposite_their_partners_after_half_a_turn() -> None:
    look = look_of()
    few = lens.marked(look.a)
    assert len(set(few)) == lens.MARKED
    angle = torch.atan2(look.a[few, 1], look.a[few, 0]).rad2deg() % 360
    off = (angle - 45 * torch.arange(lens.MARKED) + 180) % 360 - 180
    assert float(off.abs().max()) < 20
    torch.testing.assert_close(look.translations[HALF], torch.tensor(lens.SHIFT) - look.a, atol=1e-4, rtol=0)
    for look in (look_of(), look_of(room.OWN), look_of(scale=0.5)):
        around = (look.translations - torch.tensor(lens.SHIFT)).abs()
        assert float((around < look.reach()).double().mean()) > 0.97
        assert float(around[:, lens.marked(look.a)].max()) < look.reach()


def test_the_page() -> None:
    page, look = open_page("adversarial/unpaired", turn=0), look_of()
    assert film(page, "turn")["captions"] == lens.captions(look)
    _, arrays = figure(page, "plane")
    assert arrays["data.3.x"] == pytest.approx(look.translations[..., 0].numpy(), abs=2e-3)
    few = lens.marked(look.a)
    assert arrays["data.5.y"] == pytest.approx(look.translations[:, few, 1].numpy(), abs=2e-3)
    assert metrics(page)["Cycle loss over all φ"] == "0.00 to 0.00"
    assert spoken(film(page, "turn")["equations"][0])[1] == pytest.approx(3.0, abs=1e-3)


def test_nothing_drawn_and_nonsense_in_the_link() -> None:
    for link in ({"domain": room.OWN, "ink": "ink."}, {"scale": "nan", "turn": "🦊", "domain": "mars"}):
        assert not run_page("adversarial/unpaired", **link).exception
    with pytest.raises(UserError, match="no ink"):
        lens.look(room.OWN, torch.zeros(20, 20), False, 1.0, True)
    with pytest.raises(UserError, match="scale"):
        lens.look(room.NORMAL, INK["ring"], False, 0.0, True)
