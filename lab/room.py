"""Declaration of a room, once: its facts, the state that its controls hold, its scenes.

    @dataclass(frozen=True, kw_only=True)
    class State:
        weight: Annotated[float, Slider("Guidance w", 0.0, 4.0, step=0.5)] = 0.0
        step: Annotated[int | None, Frame("Step")] = None

    ROOM = Room(
        title="Digits out of noise", idea="Take away a little noise, guess again: a digit comes forth.",
        place=80, minutes=6, words="DDPM; denoising", references=("Ho et al. 2020, arXiv:2006.11239",),
        state=State, scenes={"Guided": Scene("With w = 3 the threes are surer.", State(weight=3.0))},
    )

A field's name is its control's key in the link, and its default is the control's. `room.py` of a page imports
this module alone, so that menu, search and tests read all rooms at once; what it needs of others it names
(`late`). `lab.ui.rooms.room` draws the controls and computes of a state.
"""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from importlib import import_module, reload
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

PAGES = Path(__file__).resolve().parents[1] / "pages"
# A bound of a control: itself, or a function of the state of the controls before it, or `late`.
Bound = Any


@dataclass(frozen=True)
class late:
    """A function by its module and name, imported when it is called; one without a dot is of the room.

    As a bound it gets of the state what its parameters name; as the reader of a text, that text and `more`.
    """

    module: str
    name: str
    more: tuple[Any, ...] = ()

    def find(self, state: type) -> Callable[..., Any]:
        near = "" if "." in self.module else state.__module__.rpartition("room")[0]
        return getattr(import_module(near + self.module), self.name)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Control:
    """
    Attributes:
        when: whether it is drawn, of the state so far.
        fold: title of what it is folded away under. at: where the page draws it, "rail" or "below".
        row: neighbours of one row stand side by side.
        first: where it stands while the field is None.
    """

    label: Bound
    _: KW_ONLY
    help: Bound = None
    when: Bound = True
    first: Bound = None
    fold: str = ""
    at: str = "rail"
    row: str = ""

    def takes(self, value: Any) -> bool:
        """Check whether a scene may give it this value, as far as its bounds are known without a model."""
        return value is None

    def ignored(self) -> list[str]:
        """Options that are given and that nothing would come of."""
        return ["help"] * (self.help is not None and isinstance(self, Drawing | Switches | Frame | Place))

    def near(self, value: Any) -> list[Any]:
        """The values that a reader comes to next."""
        return []

    def parameters(self, key: str, value: Any) -> dict[str, Any]:
        """Parameters of a link that gives the value: parameter -> value."""
        return {key: value}

    def named(self, key: str, said: str) -> bool:
        """Check whether a link's parameter is of this control."""
        return said == key


@dataclass(frozen=True)
class Slider(Control):
    """A number in [low, high] to drag."""

    low: Bound = 0
    high: Bound = 1
    _: KW_ONLY
    step: float | None = None
    format: str | None = None
    disabled: Bound = False

    def takes(self, value: Any) -> bool:
        low, high = (bound if isinstance(bound, int | float) else value for bound in (self.low, self.high))
        whole = all(isinstance(v, int) for v in (low, high, self.step or 1))
        return isinstance(value, int if whole else (int, float)) and low <= value <= high

    def near(self, value: Any) -> list[Any]:
        numbers = (value, self.low, self.high)
        if not all(isinstance(v, int | float) for v in numbers):
            return []
        whole = all(isinstance(v, int) for v in (*numbers, self.step or 1))
        step = self.step or (1 if whole else (self.high - self.low) / 100)
        return [v for v in (round(value + step, 10), round(value - step, 10)) if self.low <= v <= self.high]


@dataclass(frozen=True)
class Number(Slider):
    """A number in [low, high] to type."""

    def near(self, value: Any) -> list[Any]:
        return super().near(value)[:1]

    def ignored(self) -> list[str]:
        return ["disabled"] * (self.disabled is not False)


@dataclass(frozen=True)
class Choice(Control):
    """One of `options`; `label_of` gives what is shown of each."""

    options: Bound = ()
    _: KW_ONLY
    as_list: bool = False
    label_of: Callable[[Any], str] = str

    def takes(self, value: Any) -> bool:
        return not isinstance(self.options, Sequence) or value in self.options

    def near(self, value: Any) -> list[Any]:
        return [v for v in self.options if v != value] if isinstance(self.options, Sequence) else []


@dataclass(frozen=True)
class Model(Choice):
    """A trained model by its name; a computation gets the model itself.

    Attributes:
        options: names; else the trained models of a `family` that `only` admits, those of `first` before.
        also: names that are offered beside them and are no models: a computation gets the name itself, and
            None for its card.
    """

    _: KW_ONLY
    family: str | None = None
    only: late | None = None
    first: tuple[str, ...] = ()
    also: tuple[str, ...] = ()

    def takes(self, value: Any) -> bool:
        return isinstance(value, str) and (not self.options or super().takes(value))

    def ignored(self) -> list[str]:
        chosen = {"family": self.family, "only": self.only, "first": self.first} if self.options else {}
        return [name for name, value in chosen.items() if value]


Fixed = Annotated[str, Model("", when=False)]  # a model that nobody chooses: `judge: Fixed = "cnn-digits"`


@dataclass(frozen=True)
class Toggle(Control):
    """On or off."""

    def takes(self, value: Any) -> bool:
        return isinstance(value, bool)

    def near(self, value: Any) -> list[Any]:
        return [not value]


@dataclass(frozen=True)
class Text(Control):
    """The reader's own text.

    Attributes:
        reads: makes of it what a computation gets; a UserError ends the page with its sentence.
        examples: name -> text, beside it. says: of the text, what was decided in reading it.
    """

    most: int = 2000
    _: KW_ONLY
    reads: late | None = None
    examples: Bound = None
    says: late | None = None
    area: bool | None = None

    def takes(self, value: Any) -> bool:
        return isinstance(value, str) and len(value) <= self.most


@dataclass(frozen=True)
class Drawing(Control):
    """The reader's own picture of `size`² pixels, by the name of an example or its ink; None is the first
    example, or empty. Where the size depends on the state, the name in the link ends with it: "digit28".

    Attributes:
        colour: of three planes, red, green and blue, and not of ink on paper.
    """

    size: Bound = 28
    examples: late | None = None
    _: KW_ONLY
    colour: bool = False

    def takes(self, value: Any) -> bool:
        return value is None or isinstance(value, str)

    def named(self, key: str, said: str) -> bool:
        return re.fullmatch(key if isinstance(self.size, int) else rf"{key}\d+", said) is not None


@dataclass(frozen=True)
class Switches(Control):
    """Toggles in rows and columns, counted from 1; the value is the pairs (row, column) that are on."""

    rows: Bound = 1
    columns: Bound = 1

    def takes(self, value: Any) -> bool:
        return isinstance(value, tuple) and all(len(pair) == 2 and min(pair) >= 1 for pair in value)

    def parameters(self, key: str, value: Any) -> dict[str, Any]:
        return {f"{key}{row}-{column}": True for row, column in value}

    def named(self, key: str, said: str) -> bool:
        return re.fullmatch(rf"{key}\d+-\d+", said) is not None


@dataclass(frozen=True)
class Frame(Control):
    """The place of a film, by number or by what `values` has there; None is `first`, or its end. The film
    turns it: it has no widget of its own."""

    values: Sequence[float] | None = None
    _: KW_ONLY
    seconds: float = 0.4

    def takes(self, value: Any) -> bool:
        return value is None or (
            isinstance(value, int | float) and (self.values is None or value in self.values)
        )


@dataclass(frozen=True)
class Place(Control):
    """A place (x, y) that a click on a figure keeps; None is none."""

    def takes(self, value: Any) -> bool:
        return value is None or (isinstance(value, tuple) and len(value) == 2)


@dataclass(frozen=True)
class Scene:
    """A state of the room, and what to see in it, in one line."""

    sees: str
    state: Any


@dataclass(frozen=True)
class Room:
    """
    Attributes:
        place: in the course of its family, rising. minutes: that a lecturer spends there; the map says them.
        words: by which it is found besides its title, separated by "; ".
        machine: of `lab.machines`, where a model runs. lenses: of the four shared, those it shows.
        state: a dataclass whose fields are controls; None where `page.py` still draws them by hand.
        scenes: by name, in their order; the page opens in the first, its poster.
        was: earlier number or name of a scene -> its name now, for links and lectures of an earlier day.
        symbols: of its equations, with their words, where those of the family's glossary do not hold.

    Raises:
        ValueError: a scene gives a control a value that it does not take, or an earlier one leads nowhere.
    """

    title: str
    idea: str
    _: KW_ONLY
    place: int
    minutes: int
    words: str = ""
    references: Sequence[str] = ()
    lenses: Sequence[str] = ()
    machine: str | None = None
    state: type | None = None
    scenes: Mapping[str, Scene] = field(default_factory=lambda: MappingProxyType({}))
    was: Mapping[int | str, str] = field(default_factory=lambda: MappingProxyType({}))
    symbols: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        states = {name: scene.state for name, scene in self.scenes.items()}
        for name, state in ({"at first": self.state(), **states} if self.state else {}).items():
            for key, control in controls(type(state)).items():
                value = getattr(state, key)
                if not (control.takes(value) or (value is None and control.first is not None)):
                    raise ValueError(f"{self.title}, scene {name}: {key} cannot be {value!r}.")
        for before, name in self.was.items():
            if name not in self.scenes or before in self.scenes:
                raise ValueError(f"{self.title}: scene {before!r} of an earlier day cannot be {name!r}.")

    @property
    def family(self) -> str:
        """Family of its page, pages.<family>.<topic>.room; "" while `page.py` draws the controls by hand."""
        return "" if self.state is None else self.state.__module__.removeprefix("pages.").partition(".")[0]

    def scene(self, name: str) -> str:
        """The name that a scene has now, by that or by an earlier one; by number too, as links had it."""
        number = int(name) if name.isdecimal() else None
        return self.was.get(name if number is None else number, name)


_controls: dict[type, Mapping[str, Control]] = {}  # of the states that were asked for


def controls(state: type) -> Mapping[str, Control]:
    """The controls of a state's class, by key, in their order."""
    if state not in _controls:
        hints = get_type_hints(state, include_extras=True)
        results = {f.name: hints[f.name] for f in fields(state)}
        for name, hint in results.items():
            if get_origin(hint) is not Annotated or not isinstance(get_args(hint)[-1], Control):
                raise TypeError(f"{state.__module__}: the field {name} has no control.")
        for name, hint in results.items():
            if ignored := get_args(hint)[-1].ignored():
                raise TypeError(f"{state.__module__}: the control of {name} takes no {ignored[0]}.")
        _controls[state] = MappingProxyType({name: get_args(hint)[-1] for name, hint in results.items()})
    return _controls[state]


def knows(state: Any, key: str) -> bool:
    """Check whether a link to a room of this state may name a control so."""
    return any(control.named(name, key) for name, control in controls(state).items())


def values(state: Any) -> dict[str, Any]:
    """Values of a state, field -> value; empty for None."""
    return {} if state is None else {f.name: getattr(state, f.name) for f in fields(state)}


def link(state: Any) -> dict[str, Any]:
    """Parameters of a link to the state: parameter -> value, of the controls that do not stand where they do
    at first."""
    first = values(type(state)())
    texts: dict[str, Any] = {}
    for key, control in controls(type(state)).items():
        if (value := getattr(state, key)) != first[key]:
            texts |= control.parameters(key, value)
    return texts


def address(path: Path) -> str:
    """The address of a page by any file of its folder: "latent-two-level"."""
    return "-".join(path.parts[-3:-1]).replace("_", "-")


def load(page: str) -> Room | None:
    """The room of a page by its address, "diffusion-denoise-digit", read again where its file has changed;
    None where it has no `room.py`."""
    family, _, topic = page.partition("-")
    name = f"pages.{family}.{topic.replace('-', '_')}.room"
    file = PAGES / family / topic.replace("-", "_") / "room.py"
    if not file.exists():
        return None
    known, stamp = sys.modules.get(name), file.stat().st_mtime_ns
    module: Any = (
        reload(known) if known and vars(known).get("_stamp", stamp) != stamp else import_module(name)
    )
    module._stamp = stamp
    return module.ROOM  # type: ignore[no-any-return]


def keys(state: type, kind: type[Control]) -> list[str]:
    """Keys of the controls of one kind, in their order."""
    return [key for key, control in controls(state).items() if isinstance(control, kind)]
