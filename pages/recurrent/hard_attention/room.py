"""Hard attention, exactly: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Number, Room, Scene, Slider, Text, Toggle, late

VIEWS = BOUND, GRADIENT = "Bound", "Gradient"
NONE, MEAN, BEST, TO_GO, STATE, HALF = (
    "no baseline", "mean reward", "best constant", "reward-to-go", "to go − b(s)", "half soft",
)  # fmt: skip
METHODS = NONE, MEAN, BEST, TO_GO, STATE, HALF
ROWS = START, *AFTER = "first draw", "after place 1", "after place 2", "after place 3"
DRAWS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)

SCORES = {"To the right": "0 1 2", "Even": "0 0 0", "Sure": "-4 0 4"}
ON, STAY = "0 2 0; 0 0 2; 2 0 0", "2 0 0; 0 2 0; 0 0 2"
LATER = {"Goes on": ON, "Stays": STAY}
WORDS = {"Better to the right": "0.1 0.5 0.8", "All alike": "0.4 0.4 0.4", "One place": "0.9 0.1 0.1"}
LIKE_ON = "0.2 0.6 0.1; 0.1 0.2 0.6; 0.6 0.1 0.2"
LATER_WORDS = {"The next place": LIKE_ON, "All alike": "0.4 0.4 0.4; 0.4 0.4 0.4; 0.4 0.4 0.4"}

COMMAS = late("lens", "commas")


def bound(state: Any) -> bool:
    return bool(state.view == BOUND)


def gradient(state: Any) -> bool:
    return bool(state.view == GRADIENT)


def several(state: Any) -> bool:
    return bool(state.steps > 1)


def methods(state: Any) -> tuple[str, ...]:
    """In one step the reward-to-go is the reward."""
    return METHODS if several(state) else (NONE, MEAN, BEST, HALF)


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS)] = BOUND
    steps: Annotated[int, Slider("Steps T", 1, 3)] = 2
    method: Annotated[str, Choice("Estimate", methods, as_list=True, when=gradient)] = NONE
    by: Annotated[
        str, Choice("By the scores", ROWS, as_list=True, when=lambda now: gradient(now) and several(now))
    ] = START
    near: Annotated[bool, Toggle("Close to the exact gradient", when=gradient)] = False
    e: Annotated[
        str,
        Text(
            "Scores e of the first draw",
            60,
            reads=late("lens", "scores"),
            examples=SCORES,
            says=COMMAS,
            area=False,
        ),
    ] = SCORES["To the right"]
    p: Annotated[
        str,
        Text(
            "p of the first word",
            60,
            reads=late("lens", "probabilities"),
            examples=WORDS,
            says=COMMAS,
            area=False,
        ),
    ] = WORDS["Better to the right"]
    later: Annotated[
        str,
        Text("Later scores, a row for each place before", 120, reads=late("lens", "later_scores"),
             examples=LATER, says=COMMAS, area=False, when=several),
    ] = ON  # fmt: skip
    p_later: Annotated[
        str,
        Text("p of later words, a row for each place before", 120, reads=late("lens", "later_probabilities"),
             examples=LATER_WORDS, says=COMMAS, area=False, when=several),
    ] = LIKE_ON  # fmt: skip
    seed: Annotated[int, Number("Seed", 0, 999, when=gradient)] = 0
    path: Annotated[int | None, Frame("Path", seconds=0.8, when=bound)] = None
    draws: Annotated[int, Frame("M =", DRAWS, seconds=0.5, when=gradient)] = 4


ROOM = Room(
    title="Hard attention, exactly",
    idea="All paths of few places and steps are listed: the bound and its gradient are exact.",
    place=50,
    minutes=10,
    words="hard attention; score function; REINFORCE; baseline; reward-to-go; variance reduction; "
    "lower bound; ELBO; Jensen; Show, attend and tell",
    references=(
        "Xu et al. 2015, Show, attend and tell, arXiv:1502.03044, section 4.1",
        "Williams 1992, Simple statistical gradient-following algorithms (REINFORCE)",
        "Burda, Grosse & Salakhutdinov 2016, arXiv:1509.00519 (K draws)",
        "[DGM] deck 2 (takes max P(y | c) P(c | x) for max P(y | x); says MCMC of draws without a chain)",
    ),
    state=State,
    symbols={
        r"\mathcal{L}": "lower bound: the mean of log p(y | c, x) over the paths",
        "c": "a path: the places drawn", "q": "probability q(c | x) of a path",
        "p": "probability of the caption", "x": "the image", "y": "the caption",
        "R": "reward: log p of the caption, or of its words to come", "b": "baseline",
        "M": "draws of one estimate", r"\hat{g}": "estimate: the mean over M draws",
    },
    scenes={
        "All paths": Scene(
            "Each path has its probability q, and gives the caption its own p: the products are summed.",
            State(path=5),
        ),
        "Lower bound": Scene(
            "The mean of log p lies below the log of the mean; the mean of K draws narrows the gap.",
            State(steps=1),
        ),
        "No gap": Scene(
            "Where every path gives the caption the same p, the bound is log p(y | x), whatever K is.",
            State(p=WORDS["All alike"], p_later=LATER_WORDS["All alike"]),
        ),
        "Best path": Scene(
            "The likeliest path is not the one with the largest product, and no product is the whole sum.",
            State(steps=1, e="0 0.5 2", p="0.9 0.9 0.1"),
        ),
        "Score function": Scene(
            "A dot is the mean of M draws: the cloud lies around the exact gradient, and shrinks as 1/√M.",
            State(view=GRADIENT, steps=1),
        ),
        "Baseline": Scene(
            "The best constant baseline: the same mean as without one (grey), a third of the variance.",
            State(view=GRADIENT, steps=1, method=BEST),
        ),
        "Reward-to-go": Scene(
            "A draw is rewarded by its own and later words: the grey cloud of the whole reward is wider.",
            State(view=GRADIENT, steps=3, method=TO_GO, by=AFTER[1]),
        ),
        "Baseline of the state": Scene(
            "A baseline b(s) of the place before is taken from the reward-to-go: the variance falls again.",
            State(view=GRADIENT, steps=3, method=STATE, by=AFTER[1]),
        ),
        "Half soft": Scene(
            "Half of the captions read the expected context: less variance, but the mean is another.",
            State(view=GRADIENT, steps=1, method=HALF, draws=256, near=True),
        ),
    },
)  # fmt: skip
