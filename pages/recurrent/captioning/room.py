"""Captioning: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Model, Number, Room, Scene, Slider, late

VIEWS = WORDS, BOTH, ERRORS = "Word by word", "Soft and hard", "Errors"
OWN = "own scene"
SETS = PAIRS, OBJECTS, SEEN, THREE = "new pairs", "new objects", "known pairs", "three objects"
NOTHING = "none"
SIZES, COLOURS, SHAPES = (
    ("small", "big"),
    ("red", "green", "blue", "yellow"),
    ("circle", "square", "triangle"),
)
KINDS = tuple(f"{size} {colour} {shape}" for size in SIZES for colour in COLOURS for shape in SHAPES)
PLACES = 16  # of the 4 × 4 grid, row by row
LOCATIONS = HEAVIEST, DRAWN = "heaviest", "drawn"
CASES = PLACE, NAME, RELATION, ELSEWHERE = (
    "wrong place", "right place, wrong name", "relation or end", "right word, wrong place",
)  # fmt: skip
WRONG = "all errors"
SOFT, HARD, COLLAPSED = "soft", "hard", "collapsed"
ATTENTIONS = {SOFT: SOFT, HARD: HARD, COLLAPSED: HARD}  # how a name begins: attention


def one(state: Any) -> bool:
    return bool(state.view != ERRORS)


def both(state: Any) -> bool:
    return bool(state.view == BOTH)


def counted(state: Any) -> bool:
    return bool(state.view == ERRORS)


def composed(state: Any) -> bool:
    return one(state) and bool(state.source == OWN)


def numbered(state: Any) -> bool:
    return one(state) and bool(state.source != OWN)


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS, as_list=True)] = WORDS
    model: Annotated[
        str,
        Model("Captioner", family="recurrent", only=late("lens", "fits"), when=lambda now: not both(now),
              first=("soft-scenes", "hard-scenes", "collapsed-scenes"), as_list=True),
    ] = "soft-scenes"  # fmt: skip
    beside: Annotated[
        str,
        Choice("Beside soft attention", (HARD, COLLAPSED), when=both,
               help="Hard attention that began as soft, or as such."),
    ] = HARD  # fmt: skip
    location: Annotated[
        str, Choice("Place of hard attention", LOCATIONS, when=both, help="Where its weights are largest, "
                    "or drawn by them.")
    ] = HEAVIEST  # fmt: skip
    seed: Annotated[
        int, Number("Seed of the draws", 0, 999, when=lambda now: both(now) and now.location == DRAWN)
    ] = 0
    source: Annotated[str, Choice("Scene", (OWN, *SETS), as_list=True, when=one)] = OWN
    number: Annotated[int, Number("Number of the test scene", 0, 999, when=numbered)] = 0
    first: Annotated[str, Choice("Object", KINDS, as_list=True, when=composed)] = "big red circle"
    second: Annotated[str, Choice("Second object", (NOTHING, *KINDS), as_list=True, when=composed)] = (
        "small blue triangle"
    )
    third: Annotated[
        str,
        Choice("Third object", (NOTHING, *KINDS), as_list=True,
               when=lambda now: composed(now) and now.second != NOTHING),
    ] = NOTHING  # fmt: skip
    at1: Annotated[
        int, Number("Place", 1, PLACES, row="places", when=composed, help="Row by row, 1 to 16.")
    ] = 2
    at2: Annotated[
        int,
        Number(
            "Second place", 1, PLACES, row="places", when=lambda now: composed(now) and now.second != NOTHING
        ),
    ] = 11
    at3: Annotated[
        int,
        Number("Third place", 1, PLACES,
               when=lambda now: composed(now) and NOTHING not in (now.second, now.third)),
    ] = 13  # fmt: skip
    contrast: Annotated[
        float, Slider("Contrast", 0.1, 1.0, step=0.1, when=composed, help="The scenes of training have 1.")
    ] = 1.0  # fmt: skip
    test: Annotated[str, Choice("Test scenes", SETS, as_list=True, when=counted)] = PAIRS
    case: Annotated[str, Choice("Kind", (WRONG, *CASES), as_list=True, when=counted)] = WRONG
    step: Annotated[int | None, Frame("Word", seconds=0.8, when=one)] = None

    @property
    def asked(self) -> tuple[str, int, tuple[tuple[str, int], ...], float]:
        """What the picture is made of: source, number, objects with their places from 1, contrast."""
        if self.source != OWN:
            return self.source, self.number, (), 1.0
        objects = [(self.first, self.at1)]
        if self.second != NOTHING:
            objects.append((self.second, self.at2))
            if self.third != NOTHING:
                objects.append((self.third, self.at3))
        return OWN, 0, tuple(objects), self.contrast

    @property
    def soft(self) -> Annotated[str, Model("Soft attention")]:
        return variant(self.model, "soft")

    @property
    def hard(self) -> Annotated[str, Model("Hard attention")]:
        """Of hard attention, the one that stands beside."""
        begins = self.model.partition("-")[0]
        return variant(self.model, self.beside if both(self) else begins if begins == COLLAPSED else HARD)


def variant(name: str, kind: str) -> str:
    """The captioner of this kind that belongs to one, by their names."""
    begins, _, rest = name.partition("/")[0].partition("-")
    return name if begins == kind else f"{kind}-{rest}"


ROOM = Room(
    title="Captioning",
    idea="An LSTM writes what a picture shows, and looks at the picture anew before each word.",
    place=48,
    minutes=8,
    words="image captioning; Show, attend and tell; soft attention; hard attention; visual attention; "
    "pointing game; grid features; receptive field; attention map; error gallery",
    references=(
        "Xu et al. 2015, Show, attend and tell, arXiv:1502.03044",
        "Vinyals et al. 2015, Show and tell, arXiv:1411.4555 (one pooled vector)",
        "Zhang et al. 2018, arXiv:1608.00507 (the pointing game)",
        "[DGM] deck 2 (asks for early layers: what counts is that they have a grid)",
    ),
    machine="recurrent",
    state=State,
    symbols={
        r"\gamma_t": "attention weights at step t",
        r"\gamma_{ti}": "attention weight of location i at step t",
        r"\mathrm{box}": "locations whose cell overlaps the object", "L": "locations of the grid",
        "i": "a location", "H": "entropy in nats", r"\log": "natural logarithm",
        r"\varphi": "what is read of the picture: a mean by γ, or one location",
        "z": "features of the picture at a location",
        r"\mathrm{exact}": "share of captions without a wrong word",
    },
    scenes={
        "Look and name": Scene(
            "At “circle” nearly all of γ lies in the box of the circle, a sixteenth of the picture.",
            State(step=3),
        ),
        "No box": Scene(
            "“a” and the end speak of no object: γ is spread, and its entropy is higher than at “triangle”.",
            State(step=9),
        ),
        "Soft and hard": Scene(
            "The same caption by other maps: soft attention spreads its weights, hard looks at one place.",
            State(view=BOTH, step=7),
        ),
        "Resample": Scene(
            "Places are drawn by γ: another seed looks elsewhere, and mostly writes the same caption.",
            State(view=BOTH, location=DRAWN, seed=1, step=1),
        ),
        "Collapsed": Scene(
            "Begun as hard attention, it collapsed: the same right caption, hardly any weight at the circle.",
            State(
                view=BOTH, beside=COLLAPSED, step=8,
                first="small yellow triangle", at1=6, second="big green circle", at2=12,
            ),
        ),
        "New object": Scene(
            "No training scene has a blue square: it looks at the square, and names another shape.",
            State(first="big blue square", second=NOTHING, step=3),
        ),
        "Third object": Scene(
            "Training scenes have two objects at most: of three, one is left out.",
            State(third="big green square", step=9),
        ),
        "Right, not there": Scene(
            "All words of these captions are right, yet the one above was looked for beside its object.",
            State(view=ERRORS, case=ELSEWHERE),
        ),
        "Wrong name": Scene(
            "Objects that training has not: most were looked at, and were given another name.",
            State(view=ERRORS, test=OBJECTS),
        ),
    },
)  # fmt: skip
