"""State space: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Room, Scene, Text, Toggle, late

VIEWS = FORMS, STEP, MEMORY, SCAN = "Three forms", "Step size", "HiPPO memory", "Scan"
SYSTEMS = LEAKY, TWO, TURN, DOUBLE = "one pole", "two poles", "oscillator", "double integrator"
DELTAS = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.5, 1.8, 2.0)
SIGNALS = {
    "Pulses": "1 2 0 -1 0 0 3 0 0 0 -2 1",
    "Step": "1 1 1 1 1 1 1 1",
    "Impulse": "1 0 0 0 0 0 0 0 0 0 0 0",
    "Late": "0 0 0 0 0 0 0 4 4 4",
    "Waves": "0 3 0 -3 0 3 0 -3 0 3 0 -3 0",
}
MOST = 16  # numbers of a signal


def shows(*views: str) -> Any:
    """Whether a state is of one of these views."""
    return lambda state: state.view in views


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS)] = FORMS
    signal: Annotated[
        str,
        Text("Input x", 200, reads=late("lens", "signal"), says=late("lens", "says"), examples=SIGNALS,
             area=False, help="Up to 16 numbers from −9 to 9."),
    ] = SIGNALS["Pulses"]  # fmt: skip
    system: Annotated[str, Choice("System", SYSTEMS, as_list=True, when=shows(FORMS, STEP))] = TWO
    delta: Annotated[
        float, Choice("Step Δ", (0.1, 0.2, 0.5, 1.0), label_of="{:g}".format, when=shows(FORMS))
    ] = 0.2
    padded: Annotated[bool, Toggle("FFT padded", help="To 2T points.", when=shows(FORMS))] = True
    states: Annotated[int, Choice("States N", (2, 4, 8, 16, 32), when=shows(MEMORY))] = 8
    decay: Annotated[float, Choice("Factor a", (0.5, 0.9, 1.0), label_of="{:g}".format, when=shows(SCAN))] = (
        0.9
    )
    step: Annotated[int | None, Frame("Token", seconds=0.6, when=shows(FORMS))] = None
    size: Annotated[float, Frame("Step Δ", DELTAS, seconds=0.6, when=shows(STEP))] = 0.8
    time: Annotated[int | None, Frame("Time", seconds=0.15, when=shows(MEMORY))] = None
    turn: Annotated[int | None, Frame("Round", seconds=1.0, when=shows(SCAN))] = None


ROOM = Room(
    title="State space",
    idea="A linear system of fixed state reads tokens as a recurrence, and as one convolution.",
    place=70,
    minutes=8,
    words="state-space model; SSM; S4; Mamba; HiPPO; zero-order hold; bilinear; Euler; discretization; "
    "impulse response; convolution; FFT; poles; parallel scan; associative; memory",
    references=(
        "Gu et al. 2020, arXiv:2008.07669 (HiPPO); Gu, Goel & Ré 2021, arXiv:2111.00396 (S4)",
        "Gu & Dao 2023, arXiv:2312.00752 (Mamba and its scan)",
        "Hillis & Steele 1986, Data parallel algorithms",
        "[LLM] part 4 (does not pad the FFT)",
    ),
    state=State,
    symbols={
        "y": "output", "x": "input", "C": "output row of the system", "h": "state", "t": "step",
        r"\bar K": "impulse response", "s": "an earlier step", r"\Delta": "step size",
        r"\lambda": "a pole of A",
        r"\bar\lambda": "the pole of the discrete system", "c": "coefficients of Legendre polynomials",
        "A": "state matrix", "B": "input column", "a": "factor on the state", "b": "what is added to it",
        "e": "Euler's number",
    },
    scenes={
        "Three forms": Scene(
            "Recurrence, convolution and FFT: three curves in one, at every token.",
            State(system=TURN, delta=0.5, step=7),
        ),
        "Unpadded FFT": Scene(
            "Without padding the end of the response wraps around: the FFT's first outputs are wrong.",
            State(padded=False, delta=0.1, signal=SIGNALS["Late"], step=3),
        ),
        "No inverse": Scene(
            "The double integrator has no A⁻¹; the matrix exponential discretizes it all the same.",
            State(system=DOUBLE, delta=0.5, signal=SIGNALS["Step"], step=8),
        ),
        "Zero-order hold": Scene(
            "At Δ = 0.8 only zero-order hold lies on the exact solution; Euler is beside it.",
            State(view=STEP, signal=SIGNALS["Step"]),
        ),
        "Euler blows up": Scene(
            "Beyond Δ = 1 a pole of Euler's system leaves the unit circle: its output swings ever wider.",
            State(view=STEP, signal=SIGNALS["Step"], size=1.2),
        ),
        "HiPPO": Scene(
            "Sixteen coefficients hold the whole past: the orange curve follows it up to the present.",
            State(view=MEMORY, states=16, time=90),
        ),
        "Two states": Scene(
            "With two coefficients the memory of the past is its mean and its slope.",
            State(view=MEMORY, states=2, time=90),
        ),
        "Scan in rounds": Scene(
            "After two rounds each element has composed four steps; 12 tokens are done in four rounds.",
            State(view=SCAN, turn=2),
        ),
    },
)  # fmt: skip
