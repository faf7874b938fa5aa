"""Rooms that are declared: read without a model, checked when they are read, bound by names."""

import ast
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, fields, make_dataclass
from typing import Annotated, Any

import numpy as np
import plotly.graph_objects as go
import pytest
from opening import PAGES

from lab import room, ui
from lab.errors import UserError
from lab.figures import basic, moving, sheets
from lab.lenses import ink
from lab.machines import MACHINES
from lab.room import (
    Choice,
    Drawing,
    Frame,
    Model,
    Room,
    Scene,
    Slider,
    Switches,
    Toggle,
    controls,
    late,
    link,
)
from lab.ui.page.stage import Scene as Shown
from lab.ui.page.stage import requested_state
from lab.ui.rooms import room as drawing
from lab.ui.scheduling import prefetch

LENSES = {"attention", "latent", "receptive_field", "sampling"}
DECLARED = sorted(PAGES.glob("*/*/room.py"))
ADDRESSES = [room.address(path) for path in DECLARED]


@dataclass(frozen=True, kw_only=True)
class State:
    kind: Annotated[str, Choice("Kind", ("a", "b", "c"))] = "a"
    size: Annotated[float, Slider("Size", 0.0, 1.0, step=0.25)] = 0.5
    count: Annotated[int, Slider("Count", 1, 9, when=lambda s: s.kind == "b")] = 4
    on: Annotated[bool, Toggle("On")] = False
    off: Annotated[tuple[tuple[int, int], ...], Switches("Off", 2, 2)] = ()
    step: Annotated[int | None, Frame("Step")] = None

    @property
    def twice(self) -> float:
        return 2 * self.size

    @property
    def model(self) -> Annotated[str | None, Model("Model")]:
        return None if self.kind == "c" else f"model-{self.kind}"


def room_with(**scenes: Any) -> Room:
    return Room(
        "T", "I.", place=1, minutes=1, state=State, scenes={k: Scene("", v) for k, v in scenes.items()}
    )


def test_rooms_are_read_without_torch_streamlit_or_plotly() -> None:
    code = (
        "import sys; from lab import room\n"
        f"rooms = [room.load(page) for page in {ADDRESSES!r}]\n"
        "assert all(r is not None for r in rooms)\n"
        "print([m for m in ('torch', 'streamlit', 'plotly', 'numpy', 'lightning') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_page_has_a_room_at_a_place_of_its_own() -> None:
    assert [path.parent for path in DECLARED] == [path.parent for path in sorted(PAGES.glob("*/*/page.py"))]
    places = Counter((page.family, page.room.place) for page in ui.pages())
    assert len(DECLARED) == places.total() == len(places)


@pytest.mark.parametrize("path", DECLARED, ids=ADDRESSES)
def test_a_room_imports_its_controls_alone(path: Any) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert not [n for n in ast.walk(tree) if isinstance(n, ast.Import)]
    named = {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    assert named <= {"lab.room", "lab.known_graphs", "dataclasses", "typing", "collections.abc"}


@pytest.mark.parametrize("address", ADDRESSES)
def test_what_a_room_names_is_there(address: str) -> None:
    """Functions that are named are found, and take what the state has."""
    known = room.load(address)
    assert known is not None and known.title and known.idea.endswith((".", "?"))
    assert known.minutes >= 1 and known.machine in (None, *MACHINES)
    assert set(known.lenses) <= LENSES
    for control in controls(known.state).values() if known.state else ():
        for name in (f.name for f in fields(control)):
            value = getattr(control, name)
            if isinstance(value, late):
                function = value.find(known.state)  # type: ignore[arg-type]
                if name not in ("reads", "says", "only"):
                    drawing.required_parameters(function, known.state, len(value.more))


@pytest.mark.parametrize("address", ADDRESSES)
def test_bounds_depend_on_controls_that_stand_before(address: str) -> None:
    """What a control offers is made from the values above it: one below could be moved to a value for which
    that is no longer offered."""
    known = room.load(address)
    assert known is not None
    table = controls(known.state) if known.state else {}
    seen = [key for key, control in table.items() if control.when is False]  # these never move
    for key, control in table.items():
        for name in ("options", "low", "high", "size"):
            if isinstance(value := getattr(control, name, None), late):
                function = value.find(known.state)  # type: ignore[arg-type]
                for read in drawing.required_parameters(function, known.state, len(value.more)):
                    assert (of := read.removesuffix(drawing.CARD)) in seen or of not in table, (key, name, of)
        seen.append(key)


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_room_opens_in_a_scene_with_a_line_that_a_hall_can_read(address: str) -> None:
    known = room.load(address)
    assert known is not None
    if known.state is None:
        pytest.skip("its scenes are not declared yet")
    assert known.scenes, "no scene: the page has no poster"
    for name, scene in known.scenes.items():
        assert len(scene.sees) <= 110, f"{name}: {len(scene.sees)} characters"
        assert scene.sees[-1] in ".:!?", f"{name}: no sentence"
    for key in room.keys(known.state, Frame):
        assert controls(known.state)[key].label not in ("Frame", "frame"), (
            "name the film's place by its value"
        )
    poster = next(iter(known.scenes.values())).state
    for key in room.keys(known.state, Model):
        control, name = controls(known.state)[key], getattr(poster, key) or ""
        larger = name.removesuffix("-digits") + "-mnist"
        assert name == larger or larger not in getattr(control, "options", ()), f"{larger} ships: open on it"


@pytest.mark.parametrize("address", ADDRESSES)
def test_where_a_model_runs_its_machine_is_drawn(address: str) -> None:
    known = room.load(address)
    assert known is not None
    if known.state is None:
        pytest.skip("an old room says what it has by hand")
    family, _, topic = address.partition("-")
    page = (PAGES / family / topic.replace("-", "_") / "page.py").read_text(encoding="utf-8")
    assert ("ui.machine(" in page) == (known.machine is not None)


def test_a_scene_that_no_control_takes_is_refused_where_it_is_written() -> None:
    room_with(fine=State(kind="b", size=1.0, off=((1, 2),), step=3))
    values = {"kind": "d", "size": 1.5, "count": 2.5, "on": 1, "off": ((0, 1),), "step": "x"}
    for key, value in values.items():
        with pytest.raises(ValueError, match=f"T, scene bad: {key} cannot be"):
            room_with(bad=State(**{key: value}))  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        State(sise=1.0)  # type: ignore[call-arg]


def test_an_earlier_number_or_name_of_a_scene_leads_to_what_it_is_called_now() -> None:
    scenes = {"New": Scene("New.", State()), "Old": Scene("Old.", State(size=1.0))}
    known = Room("T", "I.", place=1, minutes=1, state=State, scenes=scenes, was={1: "Old", "Odd": "Old"})
    on_stage = {name: Shown(one.sees, room.link(one.state)) for name, one in scenes.items()}
    for asked, name in {"1": "Old", "2": "Old", "Odd": "Old", "New": "New", "Old": "Old"}.items():
        assert requested_state({"scene": asked}, on_stage, known.scene) == (on_stage[name].values, ""), asked
    assert requested_state({}, on_stage, known.scene) == (on_stage["New"].values, "")
    assert "scene=Even" in requested_state({"scene": "Even"}, on_stage, known.scene)[1]
    for before, now in ((1, "None"), ("New", "Old")):  # leads nowhere; hides a scene of today
        with pytest.raises(ValueError, match="of an earlier day"):
            Room("T", "I.", place=1, minutes=1, state=State, scenes=scenes, was={before: now})


def test_a_field_without_a_control_is_refused() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Bare:
        size: float = 1.0

    with pytest.raises(TypeError, match="the field size has no control"):
        Room("T", "I.", place=1, minutes=1, state=Bare)


@pytest.mark.parametrize(
    "control",
    [
        room.Number("N", 0, 1, disabled=True),
        room.Model("M", ("a",), family="flow"),
        room.Drawing("D", help="h"),
        Switches("S", 1, 1, help="h"),
        Frame("F", help="h"),
        room.Place("P", help="h"),
    ],
    ids=lambda control: type(control).__name__,
)
def test_an_option_that_nothing_would_come_of_is_refused(control: room.Control) -> None:
    of = make_dataclass("Of", [("one", Annotated[Any, control], None)], frozen=True, kw_only=True)
    with pytest.raises(TypeError, match=r"the control of one takes no (disabled|family|help)"):
        controls(of)


def test_a_link_says_what_differs() -> None:
    assert link(State()) == {}
    assert link(State(size=0.75, off=((1, 2), (2, 1)))) == {"size": 0.75, "off1-2": True, "off2-1": True}
    assert room.knows(State, "off2-1") and room.knows(State, "size") and not room.knows(State, "off")
    assert drawing.drawn_keys(State()) == ["kind", "size", "on", "off", "step"]


def test_a_computation_is_bound_by_the_names_of_its_parameters() -> None:
    def good(kind: str, twice: float, seed: int = 0) -> None: ...

    def bad(kind: str, sise: float) -> None: ...

    assert drawing.required_parameters(good, State) == ("kind", "twice")
    assert drawing.raw_of(good, State(size=0.25)) == ("a", 0.5)
    with pytest.raises(TypeError, match="takes sise, which is no control"):
        drawing.required_parameters(bad, State)


def test_a_property_may_name_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing.loading, "load", lambda name: f"loaded {name}")
    pair = lambda model, twice: (model, twice)  # noqa: E731
    assert drawing.compute(pair, State(kind="b")) == ("loaded model-b", 1.0)
    assert drawing.compute(pair, State(kind="c")) == (None, 1.0)


def test_names_that_are_no_models_are_offered_beside_them(monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclass(frozen=True, kw_only=True)
    class Drawn:
        model: Annotated[str, Model("Draws of", first=("vae-digits", "real"), also=("real",))] = "real"

    names = drawing.trained(controls(Drawn)["model"], Drawn)
    assert names[:2] == ["vae-digits", "real"] and "dcgan-digits" in names and len({*names}) == len(names)
    for name in ("load", "card"):
        monkeypatch.setattr(drawing.loading, name, lambda value, name=name: f"{name} of {value}")
    both = lambda model, model_card: (model, model_card)  # noqa: E731
    assert drawing.compute(both, Drawn()) == ("real", None)
    known = drawing.compute(both, Drawn(model="vae-digits"))
    assert known == ("load of vae-digits", "card of vae-digits")


def half(size: float) -> float:
    return size / 2


def test_a_computation_may_be_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rooms.lens", sys.modules[__name__])

    @dataclass(frozen=True, kw_only=True)
    class Of(State):
        halved = late("rooms.lens", "half")

    def summed(halved: float, count: int) -> float:
        return halved + count

    values = drawing.raw_of(summed, Of(size=0.25))
    assert values == ((0.25,), 4) and drawing.cached_call(summed, Of)(*values) == 4.125


def test_a_computation_is_kept_by_raw_values() -> None:
    calls = []

    def measured(kind: str, size: float) -> tuple[str, float]:
        calls.append((kind, size))
        return kind, size

    for now in (State(), State(on=True), State(size=0.25), State()):
        assert drawing.compute(measured, now) == (now.kind, now.size)
    assert calls == [("a", 0.5), ("a", 0.25)]
    assert drawing.seconds[drawing.cost_key(measured, State, ("a", 0.5))] < drawing.CHEAP


def test_what_the_reader_is_to_change_is_a_sentence_and_a_fault_of_ours_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts: list[str] = []
    monkeypatch.setattr(drawing, "stop", texts.append)

    def at_once(size: float) -> Any:
        raise UserError("Draw more.") if size > 0.5 else ValueError("a wrong shape")

    def going(size: float) -> Any:
        yield 0.5, None
        at_once(size)

    for function in (at_once, going):
        drawing.compute(function, State(size=1.0))
        with pytest.raises(ValueError, match="a wrong shape"):
            drawing.compute(function, State(size=0.25))
    assert texts == ["Draw more."] * 2


def test_how_long_a_generator_takes_is_said_to_what_shows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(drawing.jobs, "shared_result", lambda *_, quick, **__: asked.append(quick))

    def going(size: float) -> Any:
        yield 1.0, size

    monkeypatch.setattr(drawing, "used", {})
    for quick in (False, True):
        drawing.compute(going, State(), quick=quick)
    assert asked == [False, True] and [*drawing.used.values()] == [[going]]


def test_ahead_makes_what_is_cheap_as_far_as_its_seconds_go() -> None:
    calls = []

    def eager(size: float) -> float:
        calls.append(size)
        return size

    left, key = [drawing.BUDGET], drawing.cost_key(eager, State, (0.5,))
    drawing.call_in_advance(left, eager, State(size=0.75), False)  # how long it takes nobody knows yet
    assert not calls
    drawing.compute(eager, State())
    drawing.call_in_advance(left, eager, State(size=0.75), False)
    assert calls == [0.5, 0.75] and left[0] < drawing.BUDGET
    for cost, seconds in ((2 * drawing.CHEAP, drawing.BUDGET), (0.5, 0.25)):
        drawing.seconds[key] = cost
        drawing.call_in_advance([seconds], eager, State(size=1.0), True)
    assert calls == [0.5, 0.75]
    del drawing.seconds[key]
    drawing.call_in_advance(
        left, eager, State(size=1.0), True
    )  # a next scene is made though its time is not known
    assert calls == [0.5, 0.75, 1.0]


def test_ahead_leaves_a_generator_that_takes_longer_than_with_other_values(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, begun = [0.0], []
    monkeypatch.setattr(drawing.jobs.time, "thread_time", lambda: clock[0])

    def growing(size: float) -> Any:
        begun.append(size)
        for step in range(4):
            clock[0] += size / 2
            yield (step + 1) / 4, size

    for state, whole in ((State(size=0.25), 0.25), (State(size=1.0), None)):
        for _ in range(2):  # the second time it is there, or known to take long
            drawing.call_in_advance([drawing.BUDGET], growing, state, True)
        assert drawing.jobs.place(drawing.name_of(growing), drawing.raw_of(growing, state)).whole == whole
        drawing.seconds.clear()
    assert begun == [0.25, 1.0]
    assert drawing.compute(growing, State(size=1.0)) == 1.0  # to the reader who asks


def test_next_scenes_come_first_then_the_control_that_was_moved_last() -> None:
    def asked_of(kind: str, size: float) -> None: ...

    drawing.compute(asked_of, State())
    prefetch.calls.clear()
    drawing.plan(State(size=0.75), State(), [State(on=True)], "")
    named = [arguments for _, arguments, _ in prefetch.calls if arguments[1] is asked_of]
    assert [(now, sure) for _, _, now, sure in named][:3] == [
        (State(on=True), True), (State(size=1.0), False), (State(size=0.5), False)
    ]  # fmt: skip
    assert State(size=0.75, kind="c") in [now for _, _, now, _ in named]
    prefetch.calls.clear()


def test_neighbours() -> None:
    near = {
        key: [getattr(s, key) for s in drawing.neighbours(State(), key)]
        for key in drawing.drawn_keys(State())
    }
    assert near == {"kind": ["b", "c"], "size": [0.75, 0.25], "on": [True], "off": [], "step": []}


@dataclass(frozen=True, kw_only=True)
class Bound:
    """Bounds that a function of the state gives, and a drawing."""

    size: Annotated[int, Slider("Size", 1, lambda s: 2)] = 2
    kind: Annotated[str, Choice("Kind", lambda s: ["a", "b"][: s.size])] = "a"
    ink: Annotated[str | None, Drawing("Ink", 20, late("lab.lenses.ink", "examples", (20,)))] = None
    place: Annotated[int | None, Frame("Place", first=lambda s: s.size)] = None


def test_neighbours_know_bounds_that_depend_on_the_state() -> None:
    assert [s.size for s in drawing.neighbours(Bound(), "size")] == [1]
    assert [s.kind for s in drawing.neighbours(Bound(), "kind")] == ["b"]
    assert not [*drawing.neighbours(Bound(size=1), "kind")]


def test_a_scene_is_settled_as_its_controls_would_give_it() -> None:
    shelf = dict(ink.examples(20))
    assert drawing.resolved_state(Bound()) == Bound(ink=ui.ink(shelf["ring"]), place=2)
    assert drawing.resolved_state(Bound(ink="wave", place=1)) == Bound(ink=ui.ink(shelf["wave"]), place=1)
    assert drawing.resolved_state(Bound(ink="ink.", place=1)) == Bound(ink="ink.", place=1)


def test_a_figure_carries_its_film() -> None:
    maps, words = np.arange(12.0).reshape(3, 2, 2), ["one", "two", "three"]
    fig = moving.turning(go.Figure(go.Heatmap(zmin=0, zmax=9)), z=maps)
    fig["layout"] = {
        "title": {"text": moving.per_frame(words)},
        "shapes": [{"x0": moving.per_frame([1, 2, 3])}],
    }
    assert set(moving.frames(fig)) == {"data.0.z", "layout.title.text", "layout.shapes.0.x0"}
    still = moving.at(fig, 1)
    assert np.array_equal(still.data[0].z, maps[1]) and still.layout.title.text == "two"
    assert still.data[0].zmax == 9 and still.layout.shapes[0].x0 == 2
    grown = moving.frames(fig, since=2)  # of a film that grows numbers are sent from there on, texts whole
    assert np.array_equal(grown["data.0.z"], maps[2:]) and grown["layout.title.text"] == words
    bars = moving.turning({"data": [{"error_y": {"type": "data"}}]}, error_y={"array": maps[:, 0]})
    assert moving.at(bars, 2).data[0].error_y.to_plotly_json().keys() == {"type", "array"}
    assert moving.frames(bars).keys() == {"data.0.error_y.array"}


def test_sheets_of_a_film_are_those_of_its_pictures() -> None:
    pictures = np.random.default_rng(0).random((3, 5, 4, 4)).astype(np.float32)
    fig, each = sheets.film(pictures, 3), basic.images(pictures[2], 3)
    assert np.array_equal(moving.at(fig, 2).data[0].z, each.data[0].z, equal_nan=True)
    assert moving.at(fig, 2).layout == each.layout
    walk = sheets.contact_sheet(pictures[:, :4], "abc", "wxyz")
    framed = sheets.frame(sheets.contact_sheet(pictures[:, :4], "abc", "wxyz"), 4, 3, None, 3)
    assert moving.at(sheets.walking(walk, 4, range(4), None, 3), 3).layout.shapes == framed.layout.shapes


def test_a_cell_says_its_value_at_each_frame() -> None:
    values = np.random.default_rng(0).random((3, 2, 4))
    fig, still = (
        moving.at(moving.heatmaps(values, zmin=0, zmax=1), 2),
        basic.heatmap(values[2], zmin=0, zmax=1),
    )
    assert np.array_equal(fig.data[0].z, values[2]) and fig.layout == still.layout
    assert (
        fig.data[0].hovertext is None and "%{z" in fig.data[0].hovertemplate and fig.data[0].hoverinfo is None
    )


def test_a_mark_goes_along_with_what_is_drawn_so_far() -> None:
    x, y = [1.0, 2.0, 4.0], [3.0, 1.0, 2.0]
    fig = moving.marking(basic.curves({"L": y}, x, mark=x[0]), x)
    assert moving.frames(fig)["layout.shapes.0.x1"].tolist() == x
    assert moving.at(fig, 2).layout.shapes[0].x0 == 4.0
    dot = moving.at(moving.resting(basic.curves({"L": y}, x), (x, y, "red")), 2).data[1]
    assert (dot.x, dot.y, dot.mode) == ((4.0,), (2.0,), "markers")
    drawn = moving.at(moving.unrolling(basic.curves({"L": y}, x, mark=x[0])), 1)
    assert drawn.layout.shapes[0].x0 == 2.0 and drawn.data[0].y[:2].tolist() == y[:2]
    assert np.isnan(drawn.data[0].y[2]) and drawn.layout.xaxis.range == (0.85, 4.15)
