"""Selective scan: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Fixed, Frame, Room, Scene, Slider, Text, Toggle, late

VIEWS = GATE, SCAN, HOLD = "Gate and state", "Scan", "Hold"
NOISE, MOST, CHANNELS = ".", 20, 32  # a sequence's sign of noise, its places; channels of a layer
SEQUENCES = {
    "Four": "..3...5..1.....7....",
    "Early": "3517................",
    "Late": "................3517",
    "Noise": "....................",
}


def of(*views: str) -> Any:
    """Whether a state is of one of these views."""
    return lambda state: state.view in views


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS)] = GATE
    tokens: Annotated[
        str,
        Text("Sequence", 60, reads=late("lens", "sequence"), says=late("lens", "says"), examples=SEQUENCES,
             area=False, when=of(GATE, SCAN),
             help="Data tokens 0 to 7 and dots for noise, 20 in all; it is asked for four data tokens."),
    ] = SEQUENCES["Four"]  # fmt: skip
    selective: Annotated[
        bool, Toggle("Selective", help="Off: the LTI twin, trained alike.", when=of(GATE, SCAN))
    ] = True
    layer: Annotated[int, Choice("Layer", (1, 2), when=of(GATE, SCAN))] = 1
    channel: Annotated[
        int, Slider("Channel", 1, CHANNELS, help="By how far its gate opens behind data; 1 is first.",
                    when=of(GATE, SCAN))
    ] = 1  # fmt: skip
    z: Annotated[
        str, Text("z, before the softplus", 120, reads=late("lens", "gates"), area=False, when=of(HOLD))
    ] = "-10 0 10 -10"
    x: Annotated[str, Text("Input x", 120, reads=late("lens", "inputs"), area=False, when=of(HOLD))] = (
        "5 1 7 3"
    )
    mamba: Fixed = "mamba-selective-copying"
    twin: Fixed = "lti-selective-copying"
    token: Annotated[int | None, Frame("Token", seconds=0.5, when=of(GATE))] = None
    turn: Annotated[int | None, Frame("Round", seconds=1.0, when=of(SCAN))] = None
    step: Annotated[int | None, Frame("Step", seconds=0.8, when=of(HOLD))] = None


ROOM = Room(
    title="Selective scan",
    idea="A step that depends on the token writes data into the state, and lets noise pass by.",
    place=72,
    minutes=7,
    words="Mamba; selective state space; S6; selection mechanism; gate; selective copying; LTI; linear time "
    "invariant; parallel scan; associative scan; prefix sum; zero-order hold; discretization; softplus",
    references=(
        "Gu & Dao 2023, arXiv:2312.00752 (Mamba; theorem 1 is the gate)",
        "Hillis & Steele 1986, Data parallel algorithms",
        "[LLM] part 4",
    ),
    state=State,
    symbols={
        "h": "state", "h_t": "state after token t", "h_{t-1}": "state before it", "t": "token",
        r"\sigma": "logistic function", "z_t": "what the token says to the gate",
        "u_t": "input of the channel",
        r"\Delta": "step size, softplus(z)", r"\Delta_t": "step size at token t, softplus(z)",
        r"\bar B": "input weight of the discrete system", "B": "input weight",
        "x_t": "input", "A": "state matrix, diagonal",
        "a": "factor on the state", "b": "what is added to it", "a'": "factor of the later element",
        "b'": "what the later element adds",
    },
    scenes={
        "Data kept": Scene(
            "The gate of channel 1 opens three tokens behind each data token, and is shut for noise between.",
            State(token=13),
        ),
        "Noise alone": Scene(
            "Nothing but noise: behind the first tokens the gate of channel 1 stays shut, its state is kept.",
            State(tokens=SEQUENCES["Noise"], token=12),
        ),
        "LTI twin": Scene(
            "Not selective: a channel has one gate for all tokens; data that came early are told wrong.",
            State(tokens=SEQUENCES["Early"], selective=False, token=24),
        ),
        "Four in a row": Scene(
            "Four data tokens in a row: the gate of channel 1 is open for four steps, then shuts.",
            State(tokens=SEQUENCES["Late"], token=23),
        ),
        "Forgets at noise": Scene(
            "The last channel is its opposite: open for noise, it forgets; it is shut three behind data.",
            State(channel=32, token=13),
        ),
        "Scan": Scene(
            "Eight steps with factors of their own, in three rounds: after two each has composed four.",
            State(view=SCAN, turn=2),
        ),
        "Scan done": Scene(
            "After three rounds each element holds a state of the loop, to the last digits.",
            State(view=SCAN, turn=3),
        ),
        "Gate of a GRU": Scene(
            "With zero-order hold softplus(z) makes a GRU's gate: an open one replaces the state by x.",
            State(view=HOLD, step=3),
        ),
        "Shortcut": Scene(
            "The shortcut ΔB writes 70 where x is 7: it is not a gate where the step is long.",
            State(view=HOLD, z="-10 0 10 -10 2 -10", x="5 1 7 3 1 4", step=4),
        ),
    },
)  # fmt: skip
