"""BPTT by hand: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Frame, Room, Scene, Slider, Text, late

RIGHT, REVERSED, TOTAL = "As it is", "Order reversed", "Total derivative"
MOST = 6  # steps
WEIGHTS = {"Small": "0.5 -0.3; 0.2 0.4", "Large": "1.5 -1; 1 1.2", "Orthogonal": "0.6 -0.8; 0.8 0.6"}
FOUR, THREE = "1 0; 0 1; 1 1; -1 0.5", "1 0; 0 1; 1 1"
INPUTS = {"Four steps": FOUR, "Three steps": THREE, "Six steps": "1 0; 0 1; 1 1; -1 0.5; 0 0.5; 1 -1"}


@dataclass(frozen=True, kw_only=True)
class State:
    w: Annotated[
        str,
        Text(
            "Recurrent weights Wₕ",
            80,
            reads=late("lens", "weights"),
            examples=WEIGHTS,
            says=late("lab.lenses.typed", "square_commas"),
            area=False,
        ),
    ] = WEIGHTS["Small"]
    x: Annotated[
        str,
        Text(
            "Inputs, a pair each step",
            120,
            reads=late("lens", "inputs"),
            examples=INPUTS,
            says=late("lens", "pair_commas"),
            area=False,
        ),
    ] = FOUR
    sums: Annotated[str, Choice("Terms", (RIGHT, REVERSED, TOTAL), as_list=True)] = RIGHT
    truncation: Annotated[int, Slider("Steps that a loss looks back, K", 1, MOST)] = MOST
    term: Annotated[int | None, Frame("Term", seconds=0.8)] = None


ROOM = Room(
    title="BPTT by hand",
    idea="The gradient of shared weights is a sum: every loss by every step at which they were used.",
    place=15,
    minutes=8,
    words="backpropagation through time; BPTT; truncated BPTT; Jacobian; immediate partial; unrolling",
    references=(
        "Werbos 1990, Backpropagation through time; Williams & Peng 1990 (truncated)",
        "Pascanu, Mikolov & Bengio 2013, arXiv:1211.5063 (immediate partial derivative)",
        "[GM] §1.6.2, [LLM] 1.16-1.17 (print the product without its order, and 1.16 the total derivative)",
    ),
    state=State,
    symbols={
        r"\ell": "loss of one step", "h": "state", "J": "Jacobian: a state by the state before",
        "W_h": "weights of the state before", r"\partial^+": "derivative with the state before held fixed",
    },
    scenes={
        "One path": Scene(
            "The loss of step 4 reaches Wₕ at step 2 through two Jacobians, the newest leftmost.",
            State(term=8),
        ),
        "All terms": Scene(
            "All terms of the triangle, every loss by every earlier step: their sum is autograd's gradient.",
            State(),
        ),
        "No state before": Scene(
            "Terms of step 1 are 0: the state before it is 0, so Wₕ does nothing there.", State(term=2)
        ),
        "Order reversed": Scene(
            "With the oldest Jacobian leftmost the sum differs from autograd: matrices do not commute.",
            State(sums=REVERSED),
        ),
        "Three steps": Scene(
            "Of three steps the reversed order gives the same sum: its only two Jacobians lead to step 1.",
            State(sums=REVERSED, x=THREE),
        ),
        "Total derivative": Scene(
            "With ∂hₖ in place of ∂⁺hₖ a path counts once for every step that it passes: the sum is wrong.",
            State(sums=TOTAL),
        ),
        "Truncated": Scene(
            "With K = 2 a band along the diagonal is left: the sum lacks the paths that are longer.",
            State(truncation=2),
        ),
    },
)  # fmt: skip
