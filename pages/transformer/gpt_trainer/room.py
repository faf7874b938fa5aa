"""GPT trainer: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Number, Room, Scene, Text, Toggle

TEXTS = GAZETTE, DOCS, OWN = "gazette", "Python documentation", "own text"
LAYERS, WIDTHS, HEADS, CONTEXTS = (1, 2, 3), (8, 16, 32, 48), (1, 2, 4), (8, 16, 32, 64)
RATES = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.3, 1.0)
WARMUPS = (0, 20, 50, 100, 200)
WITHIN = {"rate": (RATES[0], RATES[-1]), "warmup": (WARMUPS[0], WARMUPS[-1])}  # what a course may say
FIRST = "rate=0.005,warmup=20"
MOST, STRIDE = 50, 15  # frames, and the steps of training between two
MOST_WEIGHTS, MOST_TEXT = 100_000, 20_000  # weights of the GPT; characters of an own text
DEFAULT = {"layers": 2, "width": 48, "heads": 4, "context": 32, "seed": 0}
ADDRESS = """\
Four score and seven years ago our fathers brought forth on this continent, a new nation, conceived in \
Liberty, and dedicated to the proposition that all men are created equal.
Now we are engaged in a great civil war, testing whether that nation, or any nation so conceived and so \
dedicated, can long endure. We are met on a great battle-field of that war. We have come to dedicate a \
portion of that field, as a final resting place for those who here gave their lives that that nation might \
live. It is altogether fitting and proper that we should do this.
But, in a larger sense, we can not dedicate, we can not consecrate, we can not hallow this ground. The brave \
men, living and dead, who struggled here, have consecrated it, far above our poor power to add or detract. \
The world will little note, nor long remember what we say here, but it can never forget what they did here.
"""


def own(state: Any) -> bool:
    return bool(state.source == OWN)


@dataclass(frozen=True, kw_only=True)
class State:
    source: Annotated[str, Choice("Text", TEXTS, as_list=True)] = GAZETTE
    text: Annotated[str, Text("Your text", MOST_TEXT, area=True, when=own)] = ADDRESS
    layers: Annotated[int, Choice("Layers L", LAYERS, as_list=True, row="stack")] = 2
    width: Annotated[int, Choice("Width d", WIDTHS, as_list=True, row="stack")] = 48
    heads: Annotated[int, Choice("Heads H", HEADS, as_list=True, row="window")] = 4
    context: Annotated[int, Choice("Context T", CONTEXTS, as_list=True, row="window")] = 32
    rate: Annotated[
        float, Choice("Learning rate", RATES, as_list=True, label_of="{:g}".format, row="rate")
    ] = 0.005
    warmup: Annotated[
        int,
        Choice("Warm-up W", WARMUPS, as_list=True, row="rate",
               help="Steps over which the rate rises from 0."),
    ] = 20  # fmt: skip
    seed: Annotated[int, Number("Seed", 0, 99)] = 0
    # what `ui.rewind` keeps in the link by itself
    course: Annotated[str, Text("Course", when=False)] = ""
    until: Annotated[int, Number("Until", 0, MOST, when=False)] = 0
    recorded: Annotated[bool, Toggle("Recorded", when=False)] = False
    step: Annotated[int | None, Frame("Step", seconds=0.15)] = None


ROOM = Room(
    title="GPT trainer",
    idea="A small GPT learns to write: how often letters come, which follow which, then words.",
    place=52,
    minutes=8,
    words="GPT; language model; training; loss curve; characters; learning rate; warm-up; divergence; "
    "overfitting; unigram; bigram; entropy; context; loss per position; nanoGPT; live training; own text",
    references=(
        "Radford et al. 2019, Language models are unsupervised multitask learners (GPT-2)",
        "Karpathy, nanoGPT (a GPT of characters)",
        "[UDL] 12.7; [LLM] part 4",
    ),
    state=State,
    symbols={
        "L": "loss: mean −log p of the next character", "T": "characters of a window",
        "t": "place in the window", "x_{t+1}": "next character", "x_{1:t}": "characters so far",
        "p": "probability by the GPT", r"\ln": "natural logarithm", "V": "different characters",
        "H_1": "entropy of a character of the training text",
        "H_2": "entropy of a character, given the one before it",
    },
    scenes={
        "Words": Scene(
            "From ln V past both entropies: noise, then letters, then words, orange if the text has them.",
            State(until=40, recorded=True, step=25),
        ),
        "From ln V": Scene(
            "Untrained, every character has about p = 1/V: the loss is ln V, at every place of the window.",
            State(),
        ),
        "Letters and spaces": Scene(
            "After 30 steps the loss is near H₁: spaces and letters come as often as in the text; no words.",
            State(until=2),
        ),
        "Context": Scene(
            "On the right: with one character seen the loss is near H₂; with more it falls far below.",
            State(until=40, recorded=True, step=40),
        ),
        "Too fast": Scene(
            "At a rate of 1 the loss diverges far above ln V, and comes back no lower than H₁.",
            State(rate=1.0, until=10),
        ),
        "No warm-up": Scene(
            "Full rate from the first step: after 225 steps the loss is still above H₂.",
            State(rate=0.01, warmup=0, until=15),
        ),
        "Warm-up": Scene(
            "The same rate, reached over 100 steps: the loss has passed H₂, and words come.",
            State(rate=0.01, warmup=100, until=15),
        ),
        "Tiny": Scene(
            "One layer, eight wide, one head: the loss stays near H₂, and words are rare.",
            State(layers=1, width=8, heads=1, until=40),
        ),
        "Own text": Scene(
            "A short text: the training loss falls on, the held-out loss turns up: it is learned by heart.",
            State(source=OWN, until=20),
        ),
    },
)  # fmt: skip
