"""Linear attention and random features: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Number, Room, Scene, Slider, Text, Toggle, late

VIEWS = STATE, EXAMPLE, ERROR, COST, RBF = "State", "Own numbers", "Error", "Cost", "RBF kernel"
FEATURES = ELU, POSITIVE, HYPERBOLIC = "elu + 1", "Positive", "Hyperbolic"
KINDS = ("Positive", "Hyperbolic", "Trigonometric")
COUNTS = (16, 64, 256, 1024, 4096)
LENGTHS = (64, 128, 256, 512, 1024, 2048)


def of(*views: str) -> Any:
    return lambda now: now.view in views


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS, as_list=True)] = STATE
    features: Annotated[str, Choice("Feature map φ", FEATURES, as_list=True, when=of(STATE))] = ELU
    n: Annotated[int, Slider("Tokens n", 4, 16, when=of(STATE))] = 12
    keys: Annotated[
        str, Text("Queries and keys", 100, reads=late("lens", "read_numbers"), when=of(EXAMPLE))
    ] = "0 1 -1"
    values: Annotated[str, Text("Values", 100, reads=late("lens", "read_numbers"), when=of(EXAMPLE))] = (
        "1 2 3"
    )
    width: Annotated[int, Choice("D, numbers of a key", (4, 16), when=of(ERROR))] = 4
    kind: Annotated[str, Choice("Features", KINDS, as_list=True, when=of(RBF))] = "Positive"
    gamma: Annotated[float, Slider("γ", 0.25, 2.0, step=0.25, when=of(RBF))] = 0.5
    printed: Annotated[
        bool,
        Toggle("Exponent γ, as printed", when=lambda now: now.view == RBF and now.kind != "Trigonometric"),
    ] = False
    seed: Annotated[int, Number("Seed", 0, 99, when=of(STATE, ERROR, RBF))] = 0
    t: Annotated[int | None, Frame("Token t =", when=of(STATE, EXAMPLE))] = None
    draws: Annotated[int, Frame("Draws M =", COUNTS, seconds=0.8, when=of(ERROR, RBF))] = 256
    length: Annotated[int, Frame("Tokens n =", LENGTHS, seconds=0.8, when=of(COST))] = 512


ROOM = Room(
    title="Linear attention and random features",
    idea="A feature map for the exponential: keys and values are summed up once, in a state of fixed size.",
    place=135,
    minutes=10,
    words="linear attention; kernel; feature map; elu; Performer; FAVOR+; random features; recurrent state; "
    "fast weights; RBF kernel; Gram matrix; trigonometric features; quadratic; linear transformer",
    references=(
        "Katharopoulos et al. 2020, arXiv:2006.16236; Choromanski et al. 2020, arXiv:2009.14794",
        "Rahimi & Recht 2007, Random features for large-scale kernel machines (trigonometric features)",
        "[LLM] part 4 (calls φ an approximation: elu + 1 approximates nothing)",
        "[BB] 4.1 (prints e to γ x·y for the RBF kernel, where it is 2γ; shows e to q·k, without D)",
        "[UDL] notes of chapter 12",
    ),
    state=State,
    symbols={
        r"\phi": "feature map", "q_t": "query of token t", "S_t": "sum of φ(k) vᵀ up to token t",
        "z_t": "sum of φ(k) up to token t", "y_t": "output at token t, its first number", "t": "token",
        r"\psi": "random features", r"\omega_i": "a draw of N(0, I)", "M": "draws", "D": "numbers of a key",
        r"\Delta y": "difference from softmax attention", "x": "a point", "y": "another point",
        r"\gamma": "inverse width of the kernel", "n": "tokens", "i": "number of a draw", "q": "a query",
    },
    scenes={
        "State": Scene(
            "The output of row t comes from the sums S and z on the right alone: no key is kept.",
            State(t=6),
        ),
        "Worked example": Scene(
            "At the third token linear attention gives 1.81, softmax 2.42: elu + 1 is another kernel.",
            State(view=EXAMPLE, t=2),
        ),
        "Random features": Scene(
            "The error of random features falls with M; that of elu + 1 has no M and stays.",
            State(view=ERROR),
        ),
        "More dimensions": Scene(
            "At D = 16 hundreds of draws are no better than the mean of all values, which looks at no key.",
            State(view=ERROR, width=16),
        ),
        "Cost": Scene(
            "On log-log axes all pairs rise towards slope 2, linear attention with slope 1.",
            State(view=COST),
        ),
        "RBF kernel": Scene(
            "Products of random features come near the Gram matrix of two moons: the error falls with M.",
            State(view=RBF),
        ),
        "Wrong exponent": Scene(
            "With the printed exponent γ for 2γ the error ends at a bias that no number of draws removes.",
            State(view=RBF, printed=True, draws=4096),
        ),
    },
)  # fmt: skip
