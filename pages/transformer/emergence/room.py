"""Emergence: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Model, Room, Scene, Slider, Text, late

VIEWS = SIZE, DIGITS, TRAINING, SUM = "By size", "Digit by digit", "Along training", "A sum"
METRICS = ACCURACY, LIKELIHOOD, BRIER = "digits right", "log-likelihood", "Brier score"
ORDERS = REVERSED, PLAIN = "reversed", "plain"
STEPS = tuple(range(0, 1001, 50))


def by_size(state: Any) -> bool:
    return bool(state.view == SIZE)


def digits(state: Any) -> bool:
    return bool(state.view == DIGITS)


def training(state: Any) -> bool:
    return bool(state.view == TRAINING)


def kept(state: Any) -> bool:
    return bool(state.view != SUM)


def measured(state: Any) -> bool:
    return bool(state.view in (SIZE, TRAINING))


def a_sum(state: Any) -> bool:
    return bool(state.view == SUM)


def looked_at(state: Any) -> bool:
    return bool(state.view in (SIZE, DIGITS))


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS)] = SIZE
    metric: Annotated[str, Choice("Beside exact match", METRICS, when=measured)] = LIKELIHOOD
    order: Annotated[
        str, Choice("Digits of the answer", late("lens", "orders"), when=kept,
                    help="Reversed: the lowest digit is written first.")
    ] = REVERSED  # fmt: skip
    seed: Annotated[int, Choice("Seed", late("lens", "seeds"), when=kept)] = 0
    size: Annotated[
        int, Choice("Parameters", late("lens", "sizes"), when=training, as_list=True)
    ] = 2_700  # fmt: skip
    k: Annotated[int, Slider("Answers of k digits, for p^k", 1, 8, when=by_size)] = 4
    model: Annotated[
        str, Model("Model", family="transformer", only=late("lens", "fits"), as_list=True, when=a_sum)
    ] = "gpt-addition"  # fmt: skip
    sum: Annotated[
        str,
        Text("Sum of two numbers, 100 to 999", 20, reads=late("lens", "summands"), when=a_sum,
             examples={"With carries": "345+678", "Without": "213+542", "Three carries": "999+999"}),
    ] = "345+678"  # fmt: skip
    step: Annotated[int | None, Frame("Step", STEPS, seconds=0.5, when=looked_at)] = None
    digit: Annotated[int | None, Frame("Digit", (1, 2, 3, 4), seconds=0.8, when=a_sum)] = None


ROOM = Room(
    title="Emergence or mirage",
    idea="Of one series of runs exact match jumps with size, while other metrics rise before it does.",
    place=175,
    minutes=8,
    words="emergent abilities; scale; exact match; metric artefact; mirage; Brier score; log-likelihood; "
    "arithmetic; addition; accuracy per digit; phase transition; scaling",
    references=(
        "Wei et al. 2022, Emergent abilities of large language models, arXiv:2206.07682",
        "Schaeffer et al. 2023, Are emergent abilities of large language models a mirage?, arXiv:2304.15004",
        "Lee et al. 2023, Teaching arithmetic to small transformers, arXiv:2307.03381",
        "[LLM] part 5 (says p⁴ for sums of three digits, of which 60.4 % have four)",
    ),
    state=State,
    symbols={
        "p": "share of digits that are right", "k": "digits of an answer", "p^k": "p^k, were mistakes alike",
        "p_j": "share of right digits at place j", "N": "parameters", "y": "the right answer",
        "y_j": "digit j of the right answer", "x": "the question",
    },
    scenes={
        "Exact match jumps": Scene(
            "Left, exact match leaps from .10 to 1.00 past 1,776 parameters; right, log p has risen before.",
            State(step=1000),
        ),
        "Another seed": Scene(
            "With seed 1 the tens are guessed up to 6,624 parameters: it jumps as well, but at 10,200.",
            State(seed=1, step=1000),
        ),
        "Half of the training": Scene(
            "At step 500 the jump stands further right, and two larger models fall behind again.",
            State(step=500),
        ),
        "Digits right": Scene(
            "1,776 parameters: .77 of the digits are right. p⁴ would be .36; measured exact match is .10.",
            State(metric=ACCURACY, step=1000),
        ),
        "Brier score": Scene(
            "The Brier score falls from .58 to .23 over the three sizes whose exact match is .10 or less.",
            State(metric=BRIER, step=1000),
        ),
        "The missing digit": Scene(
            "1,776 parameters: three digits are right, the tens are guessed, and exact match stays at .10.",
            State(view=DIGITS, step=1000),
        ),
        "One size, over steps": Scene(
            "2,700 parameters: exact match leaps after step 500; log-likelihood rises from the first steps.",
            State(view=TRAINING),
        ),
        "A sum": Scene(
            "345 + 678: the model is sure of every digit, from the lowest, and writes 3201.",
            State(view=SUM, digit=4),
        ),
        "A model too small": Scene(
            "555 + 445 by 1,776 parameters: the tens are spread over all ten digits, and 990 comes out.",
            State(view=SUM, model="smallgpt-addition", sum="555+445", digit=4),
        ),
    },
)  # fmt: skip
