"""From lookup to attention: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Place, Room, Scene, Slider, Text, Toggle, keys, late

VIEWS = SHARPNESS, TURN, TABLE = "Sharpness", "Turn", "Table"
KINDS = SOFT, LINEAR = "Softmax", "Linear"
SHARP = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 64.0)
ANGLES = tuple(range(0, 365, 15))
FACTORS = (0.0, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0)
OWN_KEYS = "1.2 0; 0.5 0.9; -0.6 0.6; -0.3 -1"
OWN_VALUES = "1 1; -1 1; -1 -1; 1 -0.5"


def of(*views: str) -> Any:
    return lambda now: now.view in views


def typed(now: Any) -> bool:
    return bool(now.view != TABLE and now.own)


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS)] = SHARPNESS
    kind: Annotated[str, Choice("Weights", KINDS, when=of(TURN))] = SOFT
    sharp: Annotated[
        float,
        Slider("Sharpness λ", 0.0, 16.0, step=0.5, when=lambda now: now.view == TURN and now.kind == SOFT),
    ] = 4.0
    n: Annotated[int, Slider("Number of keys", 2, 8, when=lambda now: now.view != TABLE and not now.own)] = 5
    own: Annotated[bool, Toggle("Own keys and values", when=of(SHARPNESS, TURN))] = False
    keys: Annotated[
        str, Text("Keys: x y; x y", 200, reads=late("lens", "points"), area=False, when=typed)
    ] = OWN_KEYS
    values: Annotated[
        str, Text("Values, as many", 200, reads=late("lens", "points"), area=False, when=typed)
    ] = OWN_VALUES
    row: Annotated[
        str, Text("Query q, keys e₁, e₂, …", 80, reads=late("lens", "numbers"), when=of(TABLE))
    ] = "0 0 1 0 0"
    column: Annotated[str, Text("Values, as many", 80, reads=late("lens", "numbers"), when=of(TABLE))] = (
        "1 2 3 4 5"
    )
    q: Annotated[tuple[float, float] | None, Place("Query", when=of(SHARPNESS))] = None
    lam: Annotated[float, Frame("λ =", SHARP, seconds=0.8, when=of(SHARPNESS))] = 2.0
    angle: Annotated[int, Frame("Angle of q, degrees:", ANGLES, seconds=0.2, when=of(TURN))] = 30
    factor: Annotated[float, Frame("Query times", FACTORS, seconds=0.8, when=of(TABLE))] = 1.0


(QUERY,) = keys(State, Place)

ROOM = Room(
    title="From lookup to attention",
    idea="A query meets every key; softmax makes of the matches weights for the values.",
    place=6,
    minutes=8,
    words="lookup table; dictionary; key; value; query; differentiable; soft lookup; hard lookup; softmax; "
    "temperature; convex combination; retrieval; dot product",
    references=(
        "[BB] 2.2, example 2.3 (lookup table; its second formula is the soft one at λ = 1)",
        "[UDL] 12.2 (attention as routing); Bahdanau, Cho & Bengio 2015, arXiv:1409.0473",
    ),
    state=State,
    symbols={
        "q": "query", "k_i": "key i", "v_i": "value i", "y": "what the lookup gives",
        "a_i": "weight of value i", r"\lambda": "sharpness: 1 over the temperature", "i": "number of a key",
        "H": "entropy of the weights, in nats", "k": "a key", "v": "a value", "a": "weights of the values",
        r"\mathrm{lookup}": "what the table gives for a query",
    },
    scenes={
        "Two keys": Scene(
            "q lies between keys 1 and 2: they share most of the weight, and y lies between their values.",
            State(),
        ),
        "Soft": Scene(
            "At λ = 0.25 all weights are near 1/5: y is nearly the mean of all values.",
            State(lam=0.25),
        ),
        "Hard": Scene(
            "At λ = 64 the nearest key has all weight: y is its value, as in a table.",
            State(lam=64.0),
        ),
        "A tie": Scene(
            "q is equally near to keys 1 and 2: each keeps one half, however large λ becomes.",
            State(n=4, q=(0.7, 0.7), lam=64.0),
        ),
        "Query turns": Scene(
            "As q turns the weight goes from key to key; y never leaves the polygon of the values.",
            State(view=TURN),
        ),
        "Linear": Scene(
            "Without softmax weights are negative too: y leaves the polygon, and is linear in q.",
            State(view=TURN, kind=LINEAR, angle=45),
        ),
        "Query e₃": Scene(
            "q = e₃: the linear lookup gives exactly value 3; the softmax gives it the weight .405.",
            State(view=TABLE),
        ),
        "e₃ + 2 e₅": Scene(
            "q = e₃ + 2 e₅: the linear lookup gives 3 + 2 · 5 = 13; the soft one stays among the values.",
            State(view=TABLE, row="0 0 1 0 2"),
        ),
        "Ten times": Scene(
            "At 10 e₃ the softmax has .9998 on value 3: hard. The linear lookup gives ten times the value.",
            State(view=TABLE, factor=10.0),
        ),
    },
)  # fmt: skip
