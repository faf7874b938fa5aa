"""The page "CycleGAN": the ways of a picture, and what its scenes say."""

import base64
from functools import cache, partial

import numpy as np
import pytest
import torch
from opening import figure, open_page, run_page
from torch import Tensor

from datamodules.pairs import DigitPairs, outline
from lab import ui, weights
from lab.lenses import drawing
from modules.adversarial.cyclegan import CycleGAN
from pages.adversarial.cycle import lens, room

opened = partial(open_page, "adversarial/cycle")


@cache
def models() -> dict[str, CycleGAN]:
    return {name: weights.load(model).eval() for name, model in room.TRAININGS.items()}  # type: ignore[misc]


@cache
def unseen(way: str) -> dict[str, tuple[float, float, float]]:
    """Of 40 test digits, by training: there to the partner, around, and the share of ink of what is made."""
    data = DigitPairs(task="outline", unpaired=True, train_size=1296)
    data.setup("test")
    digits = data.test_set[torch.arange(40)][0][:, 0]
    results = {}
    for name, model in models().items():
        trips = [lens.trip(model, digit, way) for digit in digits]
        means = [(t.to_partner, t.cycle, float(t.translation.mean())) for t in trips]
        results[name] = tuple(torch.tensor(means).mean(0).tolist())
    return results  # type: ignore[return-value]


def digit(name: str) -> Tensor:
    """An example as the pad gives it, in 16 levels."""
    return (dict(drawing.examples(room.SIDE))[name] * 15).round() / 15


def test_the_page_shows_the_way_of_the_picture() -> None:
    page = opened(digit="7", way=room.DIGITS)
    result = lens.trip(models()[room.ALL], digit("7"), room.DIGITS)
    assert torch.equal(result.source, outline(digit("7"))) and torch.equal(result.partner, digit("7"))
    for key, expected in (("made", result.translation), ("around", result.around), ("source", result.source)):
        z = figure(page, key)[0]["figure"]["data"][0]["z"]  # as Plotly writes arrays
        drawn = np.frombuffer(base64.b64decode(z["bdata"]), z["dtype"]).reshape(expected.shape)
        assert drawn == pytest.approx(expected.numpy(), abs=1e-3)
    assert f"{lens.measured(room.ALL, room.DIGITS)[0]:.3f}" in " ".join(m.value for m in page.markdown)


@pytest.mark.parametrize("way", room.WAYS)
def test_a_trip_is_both_generators_in_turn(way: str) -> None:
    model, x = models()[room.NO_CYCLE], digit("3")
    result = lens.trip(model, x, way)
    first, second, discriminator = (
        (model.a_to_b, model.b_to_a, model.discriminator_b)
        if way == room.OUTLINES
        else (model.b_to_a, model.a_to_b, model.discriminator_a)
    )
    with torch.no_grad():
        results = first(2 * result.source[None, None] - 1)
        torch.testing.assert_close(result.translation, (results[0, 0] + 1) / 2)
        torch.testing.assert_close(result.around, (second(results)[0, 0] + 1) / 2)
        torch.testing.assert_close(result.verdict, discriminator(results)[0, 0], atol=1e-5, rtol=1e-4)
    assert result.cycle == pytest.approx(float((result.around - result.source).abs().mean()))


def test_the_cards_numbers_are_those_of_the_test_digits() -> None:
    """The card's are of 250 digits, these of 40."""
    for way in room.WAYS:
        for name, (there, _, _) in unseen(way).items():
            assert lens.measured(name, way)[0] == pytest.approx(there, rel=0.25)


@pytest.mark.parametrize("name", ["5", "0", "3", "4"])
def test_what_the_scenes_say_of_examples(name: str) -> None:
    x = digit(name)
    there, back = ({key: lens.trip(m, x, way) for key, m in models().items()} for way in room.WAYS)
    whole, no_content, no_cycle = (there[key] for key in room.TRAININGS)
    assert whole.to_partner < 0.6 * whole.copied and whole.cycle < 0.04  # its outline, and home
    assert no_content.cycle < 0.04 and no_content.to_partner > 1.3 * whole.to_partner  # home, another's
    assert no_cycle.cycle > 3 * whole.cycle and no_cycle.to_partner > 1.3 * whole.to_partner
    assert back[room.ALL].to_partner < 0.7 * back[room.ALL].copied and back[room.ALL].cycle < 0.05
    lost = back[room.NO_CYCLE]
    assert lost.to_partner < 0.7 * lost.copied and lost.cycle > 2 * back[room.ALL].cycle


def test_without_a_cycle_all_digits_get_one_scrawl() -> None:
    digits = [digit(name) for name in "0123456789"]
    between = {}
    for key, model in models().items():
        result = torch.stack([lens.trip(model, x, room.OUTLINES).translation for x in digits]).flatten(1)
        between[key] = float(torch.pdist(result, 1).mean()) / result.shape[1]
    assert between[room.NO_CYCLE] < 0.25 * between[room.ALL]


def test_unseen_digits_say_the_same() -> None:
    there = unseen(room.OUTLINES)
    assert there[room.ALL][0] < there[room.NO_CONTENT][0] < there[room.NO_CYCLE][0]
    assert max(there[key][1] for key in (room.ALL, room.NO_CONTENT)) < 0.5 * there[room.NO_CYCLE][1]


def test_no_ink_is_one_sentence() -> None:
    page = run_page("adversarial/cycle", digit=ui.ink(torch.zeros(room.SIDE, room.SIDE)))
    assert not page.exception and "There is no ink" in page.warning[0].value
