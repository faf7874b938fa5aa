"""Learning to align: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Frame, Number, Room, Scene, Text, Toggle, late

SCORES = ADDITIVE, DOT, SCALED = "additive", "dot", "scaled"
CAT = "I have a big cat but a small house."
FLOWER = "We buy a old red flower."
FOUR = (
    "I have the big red house and we see a small blue cat "
    "but you want two old cars and they sell my white table."
)
EXAMPLES = {"One": FLOWER, "Two": CAT, "Four": FOUR}  # by their clauses
RATES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05)
CLIPS = (0.0, 0.1, 1.0, 10.0)
WITHIN = {"rate": (RATES[0], RATES[-1]), "clip": (CLIPS[0], CLIPS[-1])}  # what the knobs of a course may be
MOST, STRIDE = 30, 10  # frames, and the steps of training between two


@dataclass(frozen=True, kw_only=True)
class State:
    score: Annotated[str, Choice("Score", SCORES)] = ADDITIVE
    clauses: Annotated[int, Choice("Clauses, at most", (1, 2), help="Of the sentences of training.")] = 2
    text: Annotated[
        str,
        Text("Sentence", 300, examples=EXAMPLES, area=False, says=late("lens", "says"),
             help="Of the English words of the grammar; below, with one, two and four clauses. A sentence is "
                  "looked at as it is: nothing is trained anew."),
    ] = CAT  # fmt: skip
    rate: Annotated[float, Choice("Rate", RATES, as_list=True)] = 0.005
    clip: Annotated[
        float,
        Choice("Gradient clipped at", CLIPS, as_list=True, label_of="{:g}".format,
               help="The most that its norm may be; 0 leaves it as it is."),
    ] = 1.0  # fmt: skip
    seed: Annotated[int, Number("Seed", 0, 999)] = 0
    # what `ui.rewind` keeps in the link by itself
    course: Annotated[str, Text("Course", when=False)] = ""
    until: Annotated[int, Number("Until", 0, MOST, when=False)] = 0
    recorded: Annotated[bool, Toggle("Recorded", when=False)] = False
    step: Annotated[int | None, Frame("Step", seconds=0.15)] = None


ROOM = Room(
    title="Learning to align",
    idea="Attention learns where to look from translations alone: its weights sharpen as it trains.",
    place=46,
    minutes=6,
    words="alignment error rate; AER; attention weights; additive, dot-product and scaled scores; align and "
    "translate; soft alignment; entropy of attention; attention is not alignment; live training",
    references=(
        "Bahdanau, Cho & Bengio 2015, arXiv:1409.0473",
        "Luong, Pham & Manning 2015, arXiv:1508.04025 (dot product)",
        "Vaswani et al. 2017, arXiv:1706.03762 (scaled)",
        "Och & Ney 2003, A systematic comparison of various statistical alignment models",
        "[DGM] deck 1, [GM] 1.6.3-1.6.4",
    ),
    state=State,
    symbols={
        r"\cap": "intersection: links in both",
        r"\text{AER}": "alignment error rate", "A": "links of the weights, γ above ¼",
        "S": "sure links of the grammar", "P": "possible links of the grammar, the sure ones among them",
    },
    scenes={
        "Sharpening": Scene(
            "After 150 steps most of the weight lies in the framed gold cells, which training never saw.",
            State(until=15),
        ),
        "Before": Scene(
            "Untrained: each source word has nearly the same weight, and no word is right.", State()
        ),
        "Still spread": Scene(
            "After 40 steps half of the words are right, but a row is spread over several source words.",
            State(until=4),
        ),
        "Aligned": Scene(
            "After 200 steps nearly all sentences are right; alignment error has fallen below a quarter.",
            State(until=20),
        ),
        "Right, not aligned": Scene(
            "At four times the rate nearly all is right in 100 steps, but alignment error is above a fifth.",
            State(rate=0.02, until=10),
        ),
        "Sharp": Scene(
            "A dot product is sharp after 20 steps, on wrong words: a sharp weight is not yet a right one.",
            State(score=DOT, until=2),
        ),
        "Scaled": Scene(
            "Scaled, with values of its own beside the keys: after 200 steps alignment error is below 0.15.",
            State(score=SCALED, until=20),
        ),
        "Longer than trained": Scene(
            "Four clauses, trained on two at most: words go wrong, and the weights leave the gold cells.",
            State(text=FOUR, until=20),
        ),
    },
)  # fmt: skip
