"""In-context learning: what the room is, what its controls hold, its scenes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Fixed, Frame, Number, Room, Scene, Text, Toggle, late

VIEWS = LINEAR, MAP, SHARES = "Linear regression", "A prompt of letters", "Accuracy over shots"
TASKS = FRESH, RULE = "substitution", "rule"
SCALES = (0.5, 1.0, 2.0, 4.0)
SUBSTITUTION = "a>q b>m k>c b>m t>f a>q k>"
NEXT = "a>b k>l t>u f>g p>"
NOT_NEXT = "a>q k>l t>u f>g p>"
EXCHANGED = "a>b k>l t>u k>l a>b k>"
PROMPTS = {"Substitution": SUBSTITUTION, "Next letter": NEXT, "Almost next": NOT_NEXT}


def of(*views: str) -> Callable[[Any], bool]:
    return lambda state: state.view in views


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS, as_list=True)] = LINEAR
    scale_x: Annotated[float, Choice("Scale of x", SCALES, label_of="{:g}".format, when=of(LINEAR))] = 1.0
    scale_w: Annotated[float, Choice("Scale of w", SCALES, label_of="{:g}".format, when=of(LINEAR))] = 1.0
    sequence: Annotated[int, Number("Task on the right", 0, 99, when=of(LINEAR))] = 0
    text: Annotated[
        str,
        Text("Prompt", 120, reads=late("maps", "checked"), examples=PROMPTS, area=False, when=of(MAP),
             help="Up to 12 pairs such as a>q, then a letter and > without an answer."),
    ] = SUBSTITUTION  # fmt: skip
    task: Annotated[str, Choice("Map", TASKS, when=of(SHARES))] = FRESH
    flip: Annotated[
        bool,
        Toggle("Flip labels", when=of(MAP, SHARES), help="Two letters of a prompt exchange their answers."),
    ] = False
    shots: Annotated[int | None, Frame("Shots", seconds=0.8, when=of(LINEAR, SHARES))] = None
    asked: Annotated[int | None, Frame("Question", seconds=0.8, when=of(MAP))] = None
    linear: Fixed = "incontext-linear"
    maps: Fixed = "gpt-maps"


ROOM = Room(
    title="In-context learning",
    idea="A trained decoder solves a new task from examples in its prompt: no weight changes.",
    place=180,
    minutes=8,
    words="few-shot learning; in-context learning; ICL; prompt; shots; linear regression; least squares; "
    "ridge; gradient descent; induction head; label flip; substitution; meta-learning; GPT-3",
    references=(
        "Brown et al. 2020, Language models are few-shot learners, arXiv:2005.14165; [UDL] 12.7.4",
        "Garg et al. 2022, arXiv:2208.01066; Akyürek et al. 2022, arXiv:2211.15661 (regression)",
        "von Oswald et al. 2022, arXiv:2212.07677 (a step of gradient descent)",
        "Olsson et al. 2022, arXiv:2209.11895 (induction heads); Wei et al. 2023, arXiv:2303.03846 (flips)",
    ),
    state=State,
    symbols={
        "k": "shots, pairs before the question", r"\hat y": "prediction of the transformer",
        r"\hat y_{\text{ridge}}": "prediction of ridge regression on the pairs of the prompt",
        "w": "weights of the task, never shown", "x": "question", "x_q": "question", "y": "answer",
        r"\mathrm{MSE}": "mean squared error of 2,000 sequences", r"\lambda": "penalty of ridge, σ²/s_w²",
        r"\sigma": "standard deviation of the noise", r"\Pr": "probability", "p": "probability",
        r"\mathrm{MSE}_{\text{ridge}}": "mean squared error of ridge regression, the least there is",
    },
    scenes={
        "At d shots": Scene(
            "At 5 shots, as many as weights, the error has fallen from 5.3 to 1.5; least squares peaks here.",
            State(shots=5),
        ),
        "Few shots": Scene(
            "After 2 shots three of five directions are unknown: the error is high, that of ridge as well.",
            State(shots=2),
        ),
        "Beyond": Scene(
            "After 15 shots the transformer is near ridge and far below one step of gradient descent.",
            State(shots=15),
        ),
        "Larger x": Scene(
            "Off-distribution: x twice as large, and 15 shots leave an error of 1.40, least squares 0.41.",
            State(scale_x=2.0, shots=15),
        ),
        "Larger w": Scene(
            "Off-distribution: w four times as large, and 15 shots leave an error of 27, least squares 0.41.",
            State(scale_w=4.0, shots=15),
        ),
        "Induction": Scene(
            "The last > attends to the pair that matches, k>c, and copies its answer: c.",
            State(view=MAP),
        ),
        "Missing pair": Scene(
            "p was never shown. Four pairs give the rule away, next letter: q comes from the weights.",
            State(view=MAP, text=NEXT),
        ),
        "Flipped labels": Scene(
            "Two answers of a rule are exchanged: the model copies the flipped label, not the rule.",
            State(view=MAP, text=EXCHANGED, flip=True),
        ),
        "Accuracy": Scene(
            "Letters that were shown are copied after one shot; missing ones of a substitution stay a guess.",
            State(view=SHARES, shots=4),
        ),
    },
)  # fmt: skip
