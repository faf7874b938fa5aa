"""The page "Noise schedules": its numbers, what its scenes say, its film."""

from functools import partial

import pytest
import torch
from opening import film, metrics, open_page, open_warned, prose, spoken

from lab.errors import UserError
from modules.diffusion.schedule import linear
from pages.diffusion.schedules import lens
from pages.diffusion.schedules.room import State

opened = partial(open_page, "diffusion/schedules")


def test_the_linear_schedule_in_numbers() -> None:
    page = opened()
    shown = metrics(page)
    assert shown["ᾱ at T/2"] == "0.0786" and shown["ᾱ at T"] == "4.04e-05"
    assert "and 0 have their β at its cap" in prose(page) and "only name this family" in prose(page)
    bar = film(page)
    assert bar["count"] == 41 and spoken(bar["equations"][40])[-2:] == [4.036, 4.036]


def test_what_the_scenes_say() -> None:
    assert lens.spent(linear()) > 0.3 > lens.spent(lens.noise_schedule("cosine", 1000, 0.02, 0.008, False))
    cosine = lens.noise_schedule("cosine", 1000, 0.02, 0.008, False)
    assert 0.48 < float(cosine.alpha_bar[500]) < 0.51 and lens.clipped(cosine) == 1
    ten = lens.noise_schedule("linear", 10, 0.02, 0.008, False)
    assert lens.clipped(ten) > 1 and abs(float(ten.beta[1]) - 0.01) < 1e-12
    assert float(lens.noise_schedule("linear", 1000, 0.004, 0.008, False).alpha_bar[-1]) > 0.1
    end = lens.noise_schedule("linear", 1000, 0.02, 0.008, True)
    assert float(end.alpha_bar[-1]) == 0 and bool(lens.log_snr(end)[-1].isnan())
    bars = [float(word) for word in State.bars.split()]
    own = lens.noise_schedule("own", 1000, 0.02, 0.008, False, bars)
    fall = torch.tensor([1.0, *bars]).log().diff().argmin()
    assert int(own.beta.argmax()) in range(200 * int(fall) + 1, 200 * int(fall) + 201)
    for number in range(1, 8):
        opened(scene=number)


@pytest.mark.parametrize("T", [10, 1000])
def test_an_own_schedule_goes_through_what_is_typed(T: int) -> None:
    bars = [0.9, 0.4, 0.01]
    own = lens.through(bars, T)
    assert own.T == T and float(own.alpha_bar[-1]) == pytest.approx(0.01)
    if T == 1000:
        assert float(own.alpha_bar[333]) == pytest.approx(0.9, abs=1e-3)
        assert own.beta[1:334].max() - own.beta[1:334].min() < 1e-12  # one β a stretch
    page = opened(kind="own", bars="0.9 0.4 0.01", T=T)
    assert metrics(page)["ᾱ at T"] == "0.01"
    assert float(lens.noise_schedule("own", T, 0.02, 0.008, True, bars).alpha_bar[-1]) == 0


def test_what_is_no_schedule_is_said() -> None:
    for words, text in (("0.5 0.7", "0.7 must lie under 0.5"), ("", "numbers between 0 and 1"), ("x", "x")):
        page = open_warned("diffusion/schedules", kind="own", bars=words)
        assert text in " ".join(one.value for one in [*page.warning, *page.error, *page.info, *page.caption])
    with pytest.raises(UserError, match="1 must lie under 1"):
        lens.falling([1.0])
