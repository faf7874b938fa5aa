"""The page "Translate": its pictures, and what its scenes say."""

import base64
from functools import cache, partial

import numpy as np
import pytest
import torch
from opening import component, figure, film, open_page, run_page
from torch import Tensor

from datamodules.pairs import hatched, outline
from lab import weights
from lab.lenses import drawing
from pages.adversarial.translate import lens, room

opened = partial(open_page, "adversarial/translate")


@cache
def digit(name: str) -> Tensor:
    """An example as the pad gives it, in 16 levels."""
    return (dict(drawing.examples(room.SIDE))[name] * 15).round() / 15


@cache
def look_of(name: str = "5", patch: int = 16, judged: str = room.GAME, at: int = 0) -> lens.Look:
    alone, game = (weights.load(model).eval() for model in (room.State.alone, room.GAMES[patch]))
    return lens.look(alone, game, digit(name), judged, at)  # type: ignore[arg-type]


def test_the_page_shows_what_the_generators_make() -> None:
    page, look = opened(digit="7"), look_of("7")
    for key, expected in (("game", look.game), ("alone", look.alone)):
        z = figure(page, key)[0]["figure"]["data"][0]["z"]  # as Plotly writes arrays
        drawn = np.frombuffer(base64.b64decode(z["bdata"]), z["dtype"]).reshape(expected.shape)
        assert drawn == pytest.approx(expected.numpy(), abs=1e-3)
    assert figure(page, "truth")[1]["data.0.z"] == pytest.approx(look.truths.numpy(), abs=2e-3)
    assert film(page, "phase")["captions"] == lens.captions(look)
    assert component(page, "machine")[0]["numbers"] == [{"D": f"{look.verdict.mean():.2f}"}] * room.PHASES
    assert torch.equal(look.outline, outline(digit("7")))


def test_distances_are_to_the_truth_of_each_phase() -> None:
    look = look_of()
    for p in (0, 7):
        truth = hatched(digit("5")[None, None], torch.tensor([p / room.PHASES]))[0, 0]
        torch.testing.assert_close(look.truths[p], truth)
        assert float(look.distances[room.GAME][p]) == pytest.approx(float((truth - look.game).abs().mean()))


@pytest.mark.parametrize("patch", room.GAMES)
def test_the_frame_is_what_the_logit_sees(patch: int) -> None:
    """Nothing outside the frame moves the logit, and its corners do, where the picture has them."""
    game = weights.load(room.GAMES[patch]).eval()
    look = look_of(patch=patch)
    row, column = (n // 2 for n in look.verdict.shape)
    (top, bottom), (left, right) = lens.box(game, row, column)  # type: ignore[arg-type]
    x = (2 * look.game - 1)[None, None].requires_grad_()
    game.discriminate(2 * look.outline[None, None] - 1, x)[0, row, column].backward()  # type: ignore[operator, arg-type]
    moved = x.grad[0, 0].abs().nonzero()  # type: ignore[index]
    assert moved.amin(0).tolist() == [top, left] and moved.amax(0).tolist() == [bottom, right]


def test_a_click_chooses_the_patch() -> None:
    page = opened(verdict="3,4", patch=16)
    spec, _ = figure(page, "verdict")
    assert spec["figure"]["layout"]["shapes"][0]["x0"] == 2.5


@pytest.mark.parametrize("name", ["5", "7", "0"])
def test_what_the_scenes_say(name: str) -> None:
    look = look_of(name)
    of_alone, of_game = (look.distances[key] for key in (room.DISTANCE, room.GAME))
    assert look.energies[room.DISTANCE] < 0.25 and look.energies[room.GAME] > 0.8
    paper = look.alone[:4]  # the margin above the digit
    assert paper.std() < 0.08 and abs(float(paper.mean()) - 0.4) < 0.08  # the middle of all phases
    assert (
        of_game[room.DRAWN] < of_alone[room.DRAWN] and of_game[room.OPPOSITE] > 1.5 * of_alone[room.OPPOSITE]
    )
    assert of_alone.max() < 1.3 * of_alone.min()  # the grey stays near
    assert of_alone.mean() < of_game.mean()  # and is the nearer one on the average: ℓ₁ is not lower in a game


@pytest.mark.parametrize("name", ["5", "7"])
def test_whom_d_believes(name: str) -> None:
    """Scenes 3 and 4: the grey nowhere, a true picture more than the game's, and not all of it."""
    verdicts = {
        (patch, judged): look_of(name, patch, judged, room.DRAWN).verdict
        for patch in (16, 34) for judged in room.JUDGED
    }  # fmt: skip
    for patch in (16, 34):
        grey, game, true = (verdicts[patch, judged] for judged in (room.DISTANCE, room.GAME, room.TRUE))
        assert grey.max() < 0.5 and grey.mean() < game.mean() < true.mean()
    assert verdicts[16, room.TRUE].min() < 0.5


def test_single_pixels_ask_for_no_stripes_and_larger_patches_do() -> None:
    energies = {patch: look_of("5", patch).energies[room.GAME] for patch in room.GAMES}
    assert energies[1] < 0.3 and energies[16] > 0.8 and energies[34] > 0.8


def test_d_judges_as_it_was_trained_and_is_left_as_it_was() -> None:
    game = weights.load(room.GAMES[16]).eval()
    before = {key: value.clone() for key, value in game.state_dict().items()}
    c = torch.stack([outline(digit(name)) for name in "0123"])[:, None]
    with torch.no_grad():
        x = game.translate(c)  # type: ignore[operator]
        expected = game.train().discriminate(2 * c - 1, 2 * x - 1).sigmoid()  # type: ignore[operator]
    game.load_state_dict(before)
    torch.testing.assert_close(lens.verdicts(game.eval(), c, x), expected)  # type: ignore[arg-type]
    assert all(torch.equal(value, before[key]) for key, value in game.state_dict().items())


def test_nothing_drawn_and_nonsense_in_the_link() -> None:
    for link in ({"digit": "ink."}, {"digit": "🦊", "patch": "17", "judged": "me", "verdict": "99,99"}):
        assert not run_page("adversarial/translate", **link).exception
