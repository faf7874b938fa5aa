"""Long-lag bench: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Number, Room, Scene, Text, Toggle

VIEWS = LIVE, BENCH = "Live training", "Five seeds"
UNIFORM, ORTHOGONAL = "RNN, uniform start", "RNN, orthogonal start"
LSTMS = LSTM_0, LSTM_1, LSTM_5 = tuple(f"LSTM, forget bias {bias}" for bias in (0, 1, 5))
GRUS = GRU_0, GRU_5 = tuple(f"GRU, update bias {bias}" for bias in (0, 5))
LAGS = (10, 20, 50, 100)
RATES = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05)
CLIPS = (0.0, 0.01, 0.1, 1.0, 10.0)
WITHIN = {"rate": (RATES[0], RATES[-1]), "clip": (CLIPS[0], CLIPS[-1])}  # what the knobs of a course may be
MOST, STRIDE = 60, 10  # frames, and the steps of training between two


def trains(state: Any) -> bool:
    return bool(state.view == LIVE)


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS)] = LIVE
    cell: Annotated[
        str, Choice("Cell and start", (UNIFORM, ORTHOGONAL, *LSTMS, *GRUS), as_list=True, when=trains)
    ] = UNIFORM
    lag: Annotated[int, Choice("Lag", LAGS, when=trains)] = 20
    rate: Annotated[float, Choice("Rate", RATES, as_list=True, when=trains)] = 0.002
    clip: Annotated[
        float,
        Choice("Gradient clipped at", CLIPS, as_list=True, label_of="{:g}".format, when=trains,
               help="The most that its norm may be; 0 leaves it as it is."),
    ] = 1.0  # fmt: skip
    seed: Annotated[int, Number("Seed", 0, 999, when=trains)] = 0
    # what `ui.rewind` keeps in the link by itself
    course: Annotated[str, Text("Course", when=False)] = ""
    until: Annotated[int, Number("Until", 0, MOST, when=False)] = 0
    recorded: Annotated[bool, Toggle("Recorded", when=False)] = False
    step: Annotated[int | None, Frame("Step", seconds=0.07, when=trains)] = None


ROOM = Room(
    title="Long-lag bench",
    idea="Train a cell to keep one symbol over many steps: whether it learns is decided by how it begins.",
    place=25,
    minutes=8,
    words="long-term dependencies; recall; copy memory; vanishing gradient; forget bias; update bias; "
    "orthogonal start; initialization; gradient clipping; RNN; LSTM; GRU; live training",
    references=(
        "Hochreiter & Schmidhuber 1997, Long short-term memory (tasks with long lags)",
        "Gers et al. 2000, Learning to forget; Jozefowicz et al. 2015 (forget bias)",
        "Saxe, McClelland & Ganguli 2014, arXiv:1312.6120 (orthogonal weights)",
        "Pascanu, Mikolov & Bengio 2013, arXiv:1211.5063 (clipping)",
        "[GM] 1.6.2, [LLM] 1.16-1.18 (an RNN for 10 to 20 steps, an LSTM for hundreds)",
    ),
    state=State,
    symbols={
        "L": "mean loss at the query", "s_1": "state after the symbol", "s_T": "state after the query",
        "T": "steps, lag + 1",
    },
    scenes={
        "Orthogonal start": Scene(
            "An RNN with orthogonal weights: the gradient arrives, and all is recalled in about 50 steps.",
            State(cell=ORTHOGONAL, until=10),
        ),
        "Uniform start": Scene(
            "The same cell from uniform weights: not a thousandth arrives; after 100 steps it still guesses.",
            State(until=10),
        ),
        "Forget bias 0": Scene(
            "Forget gates begin near ½: the gradient fades, and after 100 steps the LSTM still guesses.",
            State(cell=LSTM_0, until=10),
        ),
        "Forget bias 5": Scene(
            "Forget gates begin near 1: the gradient arrives, and all is recalled in about 50 steps.",
            State(cell=LSTM_5, until=10),
        ),
        "Lag 50": Scene(
            "Over 50 steps too: the cell keeps what it is given, and only has to learn what to write.",
            State(cell=LSTM_5, lag=50, until=15),
        ),
        "Too fast": Scene(
            "At 25 times the rate tanh saturates: its slope falls to a tenth, and not all is recalled.",
            State(cell=ORTHOGONAL, rate=0.05, until=8),
        ),
        "Five seeds": Scene(
            "Each cell recalls over 100 steps from one start in all seeds, from the other in few or none.",
            State(view=BENCH),
        ),
    },
)  # fmt: skip
