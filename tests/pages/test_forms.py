"""What a room says several times is counted, and once it is declared no more."""

from pathlib import Path

import forms
import pytest
from opening import PAGES

BY_HAND = '''
"""A path in words alone: data.0.z."""
from lab import ui
from lab.figures import basic, theme
from pages.some.room import charts, lens

@ui.cached
def path(seed, noise):
    return lens.path(seed, noise)

def pressed(x, y):
    return {"seed": x}

noise = ui.choice("Noise", ["seed", "noise"], key="noise")
seed = ui.number("Seed", 0, 9, 0, key="seed")
now = path(seed, noise)
film = ui.film(3, key="step")
ui.prefetch(path, *((each, noise) for each in ui.near(seed, 0, 9)))
fig = charts.curve(now["noise"], film.at, theme.text(film.at))
frames = {"data.0.x": now.x, f"layout.shapes.{0}.x1": now.y}
ui.figure(fig, alt="layout", data={"seed": now.x}, film=film, frames=frames)
ui.button_figure(basic.bars(now.bars[film.at]), key="seed", alt="Bars", film=film, on_press=pressed)
ui.figure(basic.bars(now.bars[film.at]), alt="At rest")  # fmt: skip
fig = charts.curve(now, at=1)
'''
DECLARED = """
from dataclasses import dataclass
from typing import Annotated
from lab.room import Choice, Frame, Number

@dataclass(frozen=True, kw_only=True)
class State:
    noise: Annotated[str, Choice("Noise", ("seed", "noise"))] = "noise"
    seed: Annotated[int, Number("Seed", 0, 9)] = 0
    step: Annotated[int, Frame("Step")] = 0
"""
OF_IT = """
from lab import ui
from pages.some.room import charts, lens
from pages.some.room.room import ROOM

now = ui.read(ROOM)
result = ui.compute(lens.path, now)
film = ui.film_of(now, 3)
ui.figure(charts.curve(result, now.noise), alt="A curve", film=film)
"""
CHARTS = """
import plotly.graph_objects as go

def curve(values, noise=None, at=0):
    return go.Figure(go.Scatter(name="noise", y=values))
"""


def test_what_is_said_again_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    forms.draws.cache_clear()
    room, figures = Path("pages/some/room"), Path("lab/figures")
    for folder in (room, figures):
        folder.mkdir(parents=True)
    for path in (figures / "basic.py", figures / "theme.py", room / "lens.py"):
        path.write_text("")
    (room / "charts.py").write_text(CHARTS)
    (room / "page.py").write_text(BY_HAND)
    assert forms.rooms(["some"]) == forms.rooms([]) == forms.rooms(["some/room"]) == [room]
    lines = BY_HAND.count("\n") + CHARTS.count("\n")
    text = forms.Counts(lines=lines, skips=1, paths=2, cached=1, ahead=2, at=3, keys=1, controls=2, named=10)
    assert forms.counts(room) == text

    (room / "room.py").write_text(DECLARED)
    (room / "page.py").write_text(OF_IT)
    lines = DECLARED.count("\n") + OF_IT.count("\n") + CHARTS.count("\n")
    assert forms.counts(room) == forms.Counts(lines=lines, controls=3, named=1)
    (room / "page.py").write_text(OF_IT + 'ui.selection("step")\n')
    assert forms.counts(room).keys == 1
    forms.draws.cache_clear()


# What a declared room still says by hand, and why.
BY_HAND_STILL: dict[str, str] = {"transformer/gpt_trainer": "it names the text that takes a file"}


def test_what_a_room_declares_it_says_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PAGES.parent)
    declared = [r for r in forms.rooms([]) if forms.declared(r)]
    assert declared
    for room in declared:
        name, text = f"{room.parent.name}/{room.name}", forms.counts(room)
        again = {what: n for what in ("paths", "cached", "ahead", "at", "keys") if (n := getattr(text, what))}
        assert not again or name in BY_HAND_STILL, f"{name} says by hand what it could declare: {again}"
