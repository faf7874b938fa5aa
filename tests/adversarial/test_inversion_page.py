"""The room of inversion: what its scenes say of searches in Z, W and W+, and of tuning."""

from functools import cache

import pytest
import torch
from opening import film, open_page, run_page

from lab import weights
from modules.adversarial.stylegan import StyleGAN
from pages.adversarial.inversion import lens, words
from pages.adversarial.inversion.room import State


@cache
def model() -> StyleGAN:
    return weights.load(State().model)  # type: ignore[return-value]


@cache
def targets() -> dict[str, torch.Tensor]:
    result = lens.targets(model(), weights.load(State().painter), weights.load(State().reader))
    return {name: (picture * 15).round() / 15 for name, picture in result}  # as the pad has them


@cache
def search_of(name: str, space: lens.Space, encoder: bool = False, tune: bool = False) -> lens.Search:
    return lens.search(model(), space, targets()[name], encoder, 0, tune)


def ends(name: str, space: lens.Space, **how: bool) -> float:
    return search_of(name, space, **how).steps[-1].error


def test_what_the_scenes_say() -> None:
    assert ends("made", "W") < 0.01 < 0.03 < ends("made", "Z")
    assert ends("5", "W+") < 0.5 * ends("5", "W")
    guess, mean = search_of("made too", "W", True).steps[0], search_of("made too", "W").steps[0]
    assert guess.error < 0.6 * mean.error
    assert ends("cross", "W") > 4 * ends("5", "W")


def test_what_is_made_is_found_better_than_digits_and_those_better_than_none() -> None:
    result, drawn, other = (
        sum(ends(name, "W") for name in names) / len(names)
        for names in (("made", "made too"), ("3", "5", "8"), ("box", "cross"))
    )
    assert result < drawn < other / 3


def test_tuning_leaves_nothing_and_keeps_the_shipped_weights() -> None:
    before = {k: v.clone() for k, v in model().state_dict().items()}
    search = search_of("cross", "W+", False, True)
    at_pivot = search.steps[lens.STEPS // lens.EVERY]
    assert not at_pivot.tuned and search.steps[-1].tuned
    assert search.steps[-1].error < 0.15 * at_pivot.error and search.moved < 0.01
    assert all(torch.equal(model().state_dict()[k], v) for k, v in before.items())
    torch.testing.assert_close(
        search.steps[-1].picture,
        lens.run(model(), "W+")(search.network, search.code)[0, 0].detach(),
    )


def test_an_edit_moves_what_it_names() -> None:
    step = lens.direction(model(), "W", "ink")
    pictures, values = lens.edited(model(), "W", search_of("5", "W"), "ink", step)
    assert pictures.shape == (5, 16, 16)
    assert values[2] - values[0] > 0.02 < values[-1] - values[2]
    torch.testing.assert_close(pictures[2], search_of("5", "W").steps[-1].picture, atol=1e-5, rtol=1e-4)


def test_slant_is_the_slope_of_the_ink() -> None:
    flat = torch.zeros(2, 16, 16)
    flat[0, :, 8] = 1.0
    for row in range(4, 12):
        flat[1, row, 16 - row] = 1.0  # as high as it is wide, to the right going up
    assert lens.slant(flat).tolist() == pytest.approx([0, 1], abs=1e-5)
    assert lens.slant(torch.zeros(1, 16, 16)).isfinite().all()


def test_the_page() -> None:
    page = open_page("adversarial/inversion", x="5")
    assert film(page, "step")["captions"] == words.captions(search_of("5", "W"), "W", False)
    open_page("adversarial/inversion", space="Z", edit="slant", encoder="true")
    blank = run_page("adversarial/inversion", x="ink.")
    assert not blank.exception
