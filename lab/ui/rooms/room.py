"""A declared room on its page: its controls drawn, its computations kept and made ahead, its film.

    stage = ui.stage(ROOM)
    with stage.rail:
        now = ui.read(ROOM)
    found = ui.compute(lens.running, now, says="Digits, when they are out of noise.", show=draw)
    film = ui.film_of(now, len(found.times))

A computation is a function of `lens.py`: its parameters without default are attributes of the state. It is
kept by their raw values and the weights that it loads; a generator (share done, found so far) is shown as it
goes. What a reader may ask for next is computed while the server is idle, as far as it is cheap.
"""

import inspect
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import fields, replace
from functools import lru_cache, partial
from itertools import groupby
from typing import Any, cast, get_args, get_type_hints

import streamlit as st

from lab import room
from lab.errors import UserError
from lab.room import Control, Room, controls, late, link, load
from lab.ui.background import jobs
from lab.ui.controls import drawing, widgets
from lab.ui.figures import films, plots
from lab.ui.models import loading
from lab.ui.page.blocks import stop
from lab.ui.page.stage import at_lecture
from lab.ui.scheduling import prefetch
from lab.ui.session import state

CHEAP = 1.0  # seconds of processor time: what takes longer is not computed ahead
BOUNDS = {"low", "high", "options"}  # of a control: what its values lie between, or are
CARD = "_card"  # ends the name of a parameter that gets the card of a model
BUDGET = 5.0  # seconds that are computed ahead of one answer
Function = Callable[..., Any]

seconds: dict[tuple[Any, ...], float] = {}  # of a computation with its models, as last measured
used: dict[tuple[type, tuple[str, ...]], list[Function]] = {}  # by a page while these controls are drawn


# --- The state --------------------------------------------------------------------------------------


def read(of: Room, now: Any = None, *, at: str = "rail") -> Any:
    """Draw the controls that the state so far calls for, in their order; the state that they hold.

    Args:
        now: what was read in another place of the page.
        at: the place that is drawn now; the controls of other places keep what they hold in `now`.
    """
    assert of.state is not None
    now, table = of.state() if now is None else now, controls(of.state)
    here = [key for key, control in table.items() if control.at == at]
    for _, row in groupby(here, lambda key: table[key].row or key):
        shown = [key for key in row if call_or_stop(partial(resolve, table[key].when, now))]
        places: Sequence[Any] = st.columns(len(shown), gap="small") if len(shown) > 1 else [nullcontext()]
        for key, place in zip(shown, places, strict=False):
            with place, st.expander(table[key].fold) if table[key].fold else nullcontext():
                now = replace(now, **{key: call_or_stop(partial(draw, key, table[key], now))})
    st.session_state["_read"] = now
    return now


def call_or_stop(call: Callable[[], Any]) -> Any:
    """The result of a call; where the reader is to change something (a `UserError`), the page ends with the
    sentence. Any other error is a fault of ours, and `stage.guard` says so."""
    try:
        return call()
    except UserError as error:
        stop(str(error))


def drawn_keys(now: Any) -> list[str]:
    """Keys of the controls that are drawn in this state."""
    return [key for key, control in controls(type(now)).items() if resolve(control.when, now)]


def moved(now: Any, **fields: Any) -> dict[str, Any]:
    """The controls that a click sets, by fields of the state.

    Raises:
        TypeError: one of them is none.
    """
    replace(now, **fields)
    return fields


def draw(key: str, control: Control, now: Any) -> Any:
    """Draw one control; its value."""

    def of(bound: Any) -> Any:
        return resolve(bound, now)

    default = getattr(type(now)(), key)
    default = of(control.first) if default is None else default
    label, how = of(control.label), {"key": key, "help": of(control.help)}
    match control:
        case room.Number(low=low, high=high, step=step, format=format):
            return widgets.number(label, of(low), of(high), default, step=step, format=format, **how)
        case room.Slider(low=low, high=high, step=step, format=format, disabled=disabled):
            how |= {"step": step, "format": format, "disabled": of(disabled)}
            return widgets.slider(label, of(low), of(high), default, **how)
        case room.Choice(options=options, as_list=as_list, label_of=format):
            options = of(options) or trained(control, type(now))
            return widgets.choice(label, options, default=default, as_list=as_list, format=format, **how)
        case room.Toggle():
            return widgets.toggle(label, default, **how)
        case room.Text(most=most, says=says, area=area):
            how |= {"examples": of(control.examples), "says": says and says.find(type(now)), "area": area}
            text = widgets.text(label, default, max_chars=most, **how)
            value_of_control(control, text, type(now))  # the page ends where it cannot be read
            return text
        case room.Drawing(size=size, examples=examples, colour=colour):
            key = key if isinstance(size, int) else f"{key}{of(size)}"
            shelf = of(examples) or ()
            return drawing.ink(drawing.draw(label, key=key, size=of(size), examples=shelf, colour=colour))
        case room.Switches(rows=rows, columns=columns):
            return tuple(switched(key, of(rows), of(columns)))
        case room.Frame():
            held = state.get(key)
            at = default if held is None else plots.value(held)
            return default if isinstance(at, str) else at  # of a link that says no number
        case room.Place():
            place = plots.selection(key)
            return place and (place["x"], place["y"])
    raise TypeError(f"{key}: a {type(control).__name__} is not drawn.")


def trained(control: Any, of: Any) -> list[str]:
    """The trained models that a `Model` without names offers."""
    only = control.only and control.only.find(of)
    if not (names := loading.trained(control.family, only, control.first, control.also)):
        stop(f"No trained model of the family {control.family} yet: run `lab list`, then `lab fit` one.")
    return names


def switched(key: str, rows: int, columns: int) -> Iterator[tuple[int, int]]:
    for row in range(1, rows + 1):
        for column, place in enumerate(st.columns(columns, gap="small"), 1):
            with place:
                if widgets.toggle(f"{row}.{column}", False, key=f"{key}{row}-{column}"):
                    yield row, column


def value_of_control(control: Control | None, value: Any, of: Any) -> Any:
    """The argument that a computation gets for the raw value of a control; None is of a property of the
    state."""
    match control:
        case room.Model(also=also):
            return value if not value or value in also else loading.load(value)
        case room.Text(reads=late() as reads):
            return reads.find(of)(value, *reads.more)
        case room.Drawing():
            return value and drawing.pixels(value, drawing.side(value))
    return value


def resolve(bound: Any, now: Any) -> Any:
    """A bound of a control in this state."""
    if isinstance(bound, late):
        of: Any = type(now)
        function = bound.find(of)
        names = required_parameters(function, of, len(bound.more))
        return function(*(argument(n, raw(now, n), of) for n in names), *bound.more)
    return bound(now) if callable(bound) else bound


@lru_cache(maxsize=1024)
def required_parameters(function: Function, of: Any, more: int = 0) -> tuple[str, ...]:
    """Names of the parameters without default, but for the last `more`.

    Raises:
        TypeError: one of them is no attribute of the state.
    """
    names = [n for n, p in inspect.signature(function).parameters.items() if p.default is p.empty]
    names = names[: len(names) - more]
    if strange := [name for name in names if not hasattr(of, name.removesuffix(CARD))]:
        raise TypeError(f"{name_of(function)} takes {strange[0]}, which is no control of {of.__module__}.")
    return tuple(names)


# --- Computations -----------------------------------------------------------------------------------


def compute(
    function: Function,
    now: Any,
    *,
    says: str = "",
    label: str = "Compute",
    quick: bool = True,
    show: Callable[[Any], None] | None = None,
) -> Any:
    """The result of a function in this state.

    Args:
        says: what will be shown when a longer computation is done.
        label: of the button that begins it again once it was cancelled.
        quick: a second or two is enough for it. What takes longer begins by itself all the same, but is drawn
            more often while it goes on (see `working.whole`).
        show: draws what a generator has found so far.
    """
    of: Any = type(now)
    call, values = cached_call(function, of), raw_of(function, now)
    here = used.setdefault((of, tuple(drawn_keys(now))), [])
    if function not in here:
        here.append(function)
    if not inspect.isgeneratorfunction(function):
        return call_or_stop(lambda: call(*values))
    key = name_of(function)
    work = partial(
        jobs.shared_result,
        label,
        lambda: call(*values),
        key=key,
        of=values,
        quick=quick,
        says=says,
        show=show,
    )
    return call_or_stop(work)


def raw_of(function: Function, now: Any) -> tuple[Any, ...]:
    of: Any = type(now)
    return tuple(raw(now, name) for name in required_parameters(function, of))


def raw(now: Any, name: str) -> Any:
    """The raw value that a link has for a parameter: a field of the state, or a property; for a computation
    that the state names by `late`, what that one is of."""
    value = getattr(now, name.removesuffix(CARD))
    return raw_of(value.find(type(now)), now) if isinstance(value, late) else value


def argument(name: str, value: Any, of: Any) -> Any:
    """The argument that a computation gets for the raw value of a parameter; `model_card` is the card of
    `model`."""
    if isinstance(other := getattr(of, name, None), late):
        return cached_call(other.find(of), of)(*value)
    key = name.removesuffix(CARD)
    control = controls(of).get(key) or control_of_property(of, key)
    if key == name:
        return value_of_control(control, value, of)
    return None if isinstance(control, room.Model) and value in control.also else loading.card(value)


@lru_cache(maxsize=1024)
def control_of_property(of: Any, name: str) -> Control | None:
    """The control by which a property's values are read: `-> Annotated[str | None, Model("Game")]` gives a
    computation the model, or None."""
    known = getattr(of, name, None)
    result = get_type_hints(known.fget, include_extras=True) if isinstance(known, property) else {}
    return next((v for v in get_args(result.get("return")) if isinstance(v, Control)), None)


def name_of(function: Function) -> str:
    return f"{function.__module__}.{function.__qualname__}"


@lru_cache(maxsize=1024)
def cached_call(function: Function, of: Any) -> Function:
    """The function of the raw values that it depends on; its time is measured when it is computed."""
    names = required_parameters(function, of)

    def call(*raw: Any) -> Any:
        start = time.thread_time()
        result: Any = function(**{n: argument(n, v, of) for n, v in zip(names, raw, strict=True)})
        if inspect.isgenerator(result):
            return measure_time(cast(jobs.Work, result), cost_key(function, of, raw))
        seconds[cost_key(function, of, raw)] = time.thread_time() - start
        return result

    # the cache goes by name and source of the function, and hashes every argument
    call.__name__, call.__qualname__, call.__module__ = (
        function.__name__,
        function.__qualname__,
        function.__module__,
    )
    call.__wrapped__, call.__signature__ = function, inspect.signature(lambda *raw: None)  # type: ignore[attr-defined]
    return call if inspect.isgeneratorfunction(function) else loading.cached(call)


def measure_time(work: jobs.Work, key: tuple[Any, ...]) -> jobs.Work:
    """The same work; its time is measured when it comes to its end."""
    spent, start = 0.0, time.thread_time()
    for result in work:
        spent += time.thread_time() - start
        yield result
        start = time.thread_time()
    seconds[key] = spent


def cost_key(function: Function, of: Any, raw: Sequence[Any]) -> tuple[Any, ...]:
    """A computation, and the models that it is of: they tell most of its time."""
    key: tuple[Any, ...] = (name_of(function),)
    for name, value in zip(required_parameters(function, of), raw, strict=True):
        if isinstance(other := getattr(of, name, None), late):
            key += cost_key(other.find(of), of, value)
        elif isinstance(controls(of).get(name), room.Model):
            key += (value,)
    return key


# --- Ahead ------------------------------------------------------------------------------------------


def prefetch_next(of: Room) -> None:
    """Name what may be asked for after this answer; what that is, is found out while the server is idle."""
    now, before = st.session_state.get("_read"), st.session_state.get("_read_before")
    st.session_state["_read_before"] = now
    if of.state is not None and isinstance(now, of.state):
        known = before if isinstance(before, of.state) else now
        prefetch.prefetch(plan, (now, known, tuple(following_states(of)), prefetch.session_id()))


def plan(now: Any, before: Any, scenes: Sequence[Any], reader: str) -> None:
    """Name the computations of the next scenes of the page and of the lecture, then of the next values of the
    control that was moved last, then of those of the others."""
    fresh = [key for key in drawn_keys(now) if getattr(before, key) != getattr(now, key)]
    near = (each for key in dict.fromkeys([*fresh, *drawn_keys(now)]) for each in neighbours(now, key))
    first, left = dict.fromkeys(map(resolved_state, scenes)), [BUDGET]
    calls = (
        (left, function, each, each in first)
        for each in first | dict.fromkeys(near)
        if each != now
        for function in used.get((type(each), tuple(drawn_keys(each))), ())
    )
    prefetch.prefetch(call_in_advance, *calls, of=reader)


def following_states(of: Room) -> Iterator[Any]:
    """The states of the scenes that follow: on the page, and in the lecture."""
    states = [scene.state for scene in of.scenes.values()]
    active = next((i for i, each in enumerate(states) if state.stands_at(link(each))), len(states))
    yield from states[active + 1 : active + 3]
    with suppress(UserError):
        now, at = at_lecture()
        for entry in now.entries[at + 1 : at + 2]:
            there = load(entry.page)
            if there is not None and (scene := there.scenes.get(there.scene(entry.scene or ""))):
                yield scene.state


def resolved_state(scene: Any) -> Any:
    """The state of a scene as its controls would give it: a drawing by its ink."""
    for key in drawn_keys(scene):
        control, value = controls(type(scene))[key], getattr(scene, key)
        if isinstance(control, room.Drawing):
            shelf = dict(resolve(control.examples, scene) or ())
            name = next(iter(shelf), "") if value is None else value
            value = drawing.ink(shelf[name]) if name in shelf else value
        elif value is None:
            value = resolve(control.first, scene)
        scene = replace(scene, **{key: value})
    return scene


def neighbours(now: Any, key: str) -> Iterator[Any]:
    """The states in which this control has its next values."""
    control: Any = controls(type(now))[key]
    bounds = {f.name: resolve(getattr(control, f.name), now) for f in fields(control) if f.name in BOUNDS}
    near = replace(control, **bounds).near(getattr(now, key))
    return (replace(now, **{key: value}) for value in near)


def call_in_advance(left: list[float], function: Function, now: Any, sure: bool) -> None:
    """Make a call before anyone asks for it, where `left` has the seconds that it took with other values; a
    generator that takes longer with these is left.

    Args:
        sure: it is of a next scene, and is made though nobody has measured it with this model.
    """
    values, of = raw_of(function, now), cast(Any, type(now))
    cost = seconds.get(cost_key(function, of, values), 0.0 if sure else math.inf)
    if cost > min(CHEAP, left[0]):
        return
    start = time.thread_time()
    with suppress(UserError, ValueError):
        if inspect.isgeneratorfunction(function):
            jobs.compute(name_of(function), values, lambda: cached_call(function, of)(*values), CHEAP)
        else:
            cached_call(function, of)(*values)
    left[0] -= time.thread_time() - start


# --- The film ---------------------------------------------------------------------------------------


def film_of(
    now: Any, count: int, *, values: Sequence[float] | None = None, names: Sequence[object] | None = None
) -> films.Film:
    """The film of `count` frames that the last `Frame` of this state turns.

    Args:
        values: of the frames, where the declaration does not know them.
        names: what the bar shows of each frame behind the label.
    """
    table = controls(type(now))
    key = [k for k in drawn_keys(now) if isinstance(table[k], room.Frame)][-1]
    frame: Any = table[key]
    first = getattr(type(now)(), key)
    first = resolve(frame.first, now) if first is None else first
    values = frame.values if values is None else values
    if first is None:
        first = count - 1 if values is None else values[-1]
    how = {"key": key, "default": first, "label": resolve(frame.label, now), "seconds": frame.seconds}
    return films.film(count, values=values, names=names, **how)
