"""The page "Noise schedules": its numbers, what its scenes say, its film."""

from functools import partial

from opening import film, metrics, open_page, prose, spoken

from modules.diffusion.schedule import linear
from pages.diffusion.schedules import lens

opened = partial(open_page, "diffusion/schedules")


def test_the_linear_schedule_in_numbers() -> None:
    page = opened()
    shown = metrics(page)
    assert shown["ᾱ at T/2"] == "0.0786" and shown["ᾱ at T"] == "4.04e-05"
    assert shown["Steps with β at its cap"] == "0" and "only name this family" in prose(page)
    bar = film(page)
    assert bar["count"] == 41 and spoken(bar["equations"][40])[-2:] == [4.036, 4.036]


def test_what_the_scenes_say() -> None:
    assert lens.spent(linear()) > 0.3 > lens.spent(lens.made("cosine", 1000, 0.02, 0.008, False))
    cosine = lens.made("cosine", 1000, 0.02, 0.008, False)
    assert 0.48 < float(cosine.alpha_bar[500]) < 0.51 and lens.clipped(cosine) == 1
    ten = lens.made("linear", 10, 0.02, 0.008, False)
    assert lens.clipped(ten) > 1 and abs(float(ten.beta[1]) - 0.01) < 1e-12
    assert float(lens.made("linear", 1000, 0.004, 0.008, False).alpha_bar[-1]) > 0.1
    end = lens.made("linear", 1000, 0.02, 0.008, True)
    assert float(end.alpha_bar[-1]) == 0 and bool(lens.log_snr(end)[-1].isnan())
    for number in range(1, 7):
        opened(scene=number)
