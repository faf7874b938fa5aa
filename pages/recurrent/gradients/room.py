"""Gradients through time: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Frame, Number, Room, Scene, Slider, Toggle

RNNS = {"RNN, tanh": "tanh", "RNN, sigmoid": "sigmoid", "RNN, ReLU": "relu", "RNN, identity": "identity"}
TOGETHER, GATED = "All three", ("LSTM", "GRU", "All three")
WEIGHTS = ("Orthogonal", "Symmetric", "Gaussian", "Shear", "Nilpotent")
EIGENVALUES, CLIPPING = "Eigenvalues", "Clipping"
GAINS = tuple(round(0.5 + 0.1 * i, 1) for i in range(16))


@dataclass(frozen=True, kw_only=True)
class State:
    kind: Annotated[str, Choice("Cell", (*RNNS, *GATED), as_list=True)] = "RNN, tanh"
    weights: Annotated[str, Choice("W, before the gain g", WEIGHTS, as_list=True)] = "Orthogonal"
    noise: Annotated[float, Slider("Input noise σ", 0.0, 2.0, step=0.5)] = 1.0
    bias: Annotated[
        float,
        Slider("Bias of the gate f (LSTM), z (GRU)", -2.0, 8.0, step=1.0, when=lambda now: now.kind in GATED),
    ] = 1.0
    view: Annotated[
        str, Choice("Beside it", (EIGENVALUES, CLIPPING), when=lambda now: now.kind != TOGETHER)
    ] = EIGENVALUES
    threshold: Annotated[
        float,
        Choice(
            "Threshold τ", (1.0, 10.0, 100.0), label_of="{:g}".format, when=lambda now: now.view == CLIPPING
        ),
    ] = 10.0
    near: Annotated[bool, Toggle("Only two decades around 1")] = False
    seed: Annotated[int, Number("Seed", 0, 999)] = 0
    gain: Annotated[float, Frame("Gain g =", GAINS, seconds=0.3)] = 1.2


ROOM = Room(
    title="Gradients through time",
    idea="A gradient through n steps is a product of n Jacobians: it fades or grows exponentially.",
    place=20,
    minutes=10,
    words="vanishing gradient; exploding gradient; Jacobian; spectral norm; spectral radius; "
    "gradient clipping; forget bias; LSTM; GRU; orthogonal start",
    references=(
        "Pascanu, Mikolov & Bengio 2013, arXiv:1211.5063 (bound and clipping)",
        "Hochreiter & Schmidhuber 1997, Long short-term memory; Gers et al. 2000, Learning to forget",
        "Saxe, McClelland & Ganguli 2014, arXiv:1312.6120 (orthogonal weights)",
        "[GM] §1.6.2 (bounds |φ'| below 1 for tanh too, whose slope at 0 is 1)",
        "[LLM] 1.16-1.18 (says that a large norm makes the product explode: it may, but need not)",
    ),
    state=State,
    symbols={
        "J_t": "Jacobian of step t: state t by state t − 1", "J_{t-1}": "Jacobian of step t − 1",
        "J_{k+1}": "Jacobian of step k + 1", "t": "the later step", "k": "the earlier step",
        r"\gamma": "largest slope of the nonlinearity", r"\lambda_1": "largest singular value of W_h = g W",
        "f_j": "forget gate at step j", "z_j": "update gate at step j", "j": "a step between the two",
        r"\tau": "threshold", "L": "loss at the last step",
    },
    scenes={
        "Vanishing gradient": Scene(
            "Driven by noise, tanh is often flat: at g = 1.2 the norm vanishes, though its bound explodes.",
            State(),
        ),
        "Exploding gradient": Scene(
            "A linear RNN with orthogonal weights: the norm is gⁿ, which is the bound itself.",
            State(kind="RNN, identity"),
        ),
        "Undriven tanh": Scene(
            "Without input the state stays small, where tanh has slope near 1: at g = 1.2 the norm grows.",
            State(noise=0.0),
        ),
        "Sigmoid": Scene(
            "The slope of a sigmoid is at most ¼: even at g = 2 the bound falls, and the norm faster.",
            State(kind="RNN, sigmoid", gain=2.0),
        ),
        "Radius below one": Scene(
            "All eigenvalues of W are 0.9, its norm is above 5: the product grows at first, and fades later.",
            State(kind="RNN, identity", weights="Shear", near=True, gain=0.9),
        ),
        "Forget bias 1": Scene(
            "With a forget bias of 1 an LSTM's gradient fades exponentially too, its direct path faster.",
            State(kind="LSTM", gain=1.0),
        ),
        "Three cells": Scene(
            "With a gate bias of 5, LSTM and GRU carry the gradient over 100 steps; the tanh RNN loses it.",
            State(kind=TOGETHER, bias=5.0, gain=1.0),
        ),
        "Clipping": Scene(
            "Where the gradient explodes, clipping by norm holds it at τ; clipping by value also turns it.",
            State(kind="RNN, identity", view=CLIPPING, gain=1.2),
        ),
    },
)  # fmt: skip
