"""Masked words and fine-tuning: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Fixed, Frame, Model, Room, Scene, Text, late

MASKED, SENTENCE, WORDS, SPAN = "Masked words", "Sentence", "Each word", "Answer span"
BOTH = "yesterday anna [bought] a red kite from max in oslo ."
PRESENT = "every day anna [buys] a red kite from max in oslo ."
SOLD = "yesterday anna [sold] a red kite to max in oslo ."
SEVERAL = "[yesterday] anna bought a red [kite] from max [in] oslo ."
TURNED = "the room was not good but the view was good ."
TWIN = "the room was good but the view was not good ."
TAGGED = "lincoln hired jordan in chelsea ."
KITE = "yesterday anna bought a big red kite from max in oslo ."
PASSAGE = f"every day tom sells a blue lamp to eva in rome . {KITE}"
SAME_TENSE = f"{KITE} last week tom sold a blue lamp to eva in rome ."
MASKS = {"Past": BOTH, "Present": PRESENT, "Sold": SOLD, "Several": SEVERAL}
REVIEWS = {"Turned": TURNED, "Twin": TWIN}
NAMES = {"Hired": TAGGED, "Lives": "jordan lives in lincoln .", "Shares": "shares of ford fell last week ."}


@dataclass(frozen=True, kw_only=True)
class State:
    task: Annotated[str, Choice("Task", (MASKED, SENTENCE, WORDS, SPAN), as_list=True)] = MASKED
    bert: Annotated[
        str,
        Model("Model", family="transformer", only=late("lens", "fits"), as_list=True,
              when=lambda now: now.task == MASKED),
    ] = "bert-gazette"  # fmt: skip
    text: Annotated[
        str,
        Text("Sentence, [word] hides it", 240, reads=late("lens", "masked_text"), examples=MASKS, area=False,
             when=lambda now: now.task == MASKED, help="<mask> hides a word that nobody knows."),
    ] = BOTH  # fmt: skip
    review: Annotated[
        str,
        Text("Review", 240, reads=late("tuned", "plain_text"), says=late("tuned", "says"), examples=REVIEWS,
             area=False, when=lambda now: now.task == SENTENCE),
    ] = TURNED  # fmt: skip
    news: Annotated[
        str,
        Text("News", 240, reads=late("tuned", "plain_text"), says=late("tuned", "says"), examples=NAMES,
             area=False, when=lambda now: now.task == WORDS),
    ] = TAGGED  # fmt: skip
    question: Annotated[
        str,
        Text("Question", 100, reads=late("tuned", "plain_text"), says=late("tuned", "says"), area=False,
             when=lambda now: now.task == SPAN),
    ] = "what did anna buy ?"  # fmt: skip
    passage: Annotated[
        str,
        Text("Passage", 240, reads=late("tuned", "plain_text"), says=late("tuned", "says"), area=True,
             when=lambda now: now.task == SPAN),
    ] = PASSAGE  # fmt: skip
    step: Annotated[int | None, Frame("Masked word", seconds=1.0)] = None
    reviews: Fixed = "bert-reviews"
    frozen_reviews: Fixed = "bert-frozen-reviews"
    names: Fixed = "bert-names"
    frozen_names: Fixed = "bert-frozen-names"
    questions: Fixed = "bert-questions"


ROOM = Room(
    title="Masked words and fine-tuning",
    idea="An encoder learns from words that are hidden; a layer on top then needs few labels.",
    place=80,
    minutes=8,
    words="BERT; masked language model; MLM; cls; pre-training; fine-tuning; transfer learning; sentiment "
    "analysis; named entity recognition; NER; question answering; span; SQuAD; next sentence prediction; "
    "NSP; encoder; bidirectional",
    references=("Devlin et al. 2019, arXiv:1810.04805", "[UDL] 12.6, figures 12.10 and 12.11"),
    state=State,
    symbols={
        r"\mathcal{L}": "loss", "M": "masked places", "x_t": "word at place t",
        r"\tilde x": "sentence as it is read, with its masks",
        r"h_{\text{cls}}": "output embedding of the token cls",
        "w": "weights of the new layer", "b": "its bias", "p_s": "probability that the answer begins there",
        "p_e": "probability that it ends there", "s": "first word", "e": "last word", "y": "label",
        "t": "place", "W": "weights of the new layer", "h": "output embedding", r"\Pr": "probability",
        r"\sigma": "logistic function",
    },
    scenes={
        "Both sides": Scene(
            "“yesterday” on the left gives the past, “from” on the right the verb: bought is certain.",
            State(step=0),
        ),
        "Left changed": Scene(
            "The left side now says every day: the same verb in the present wins, buys.",
            State(text=PRESENT, step=0),
        ),
        "Right changed": Scene(
            "On the right “to” instead of “from”: another verb in the same tense wins, sold.",
            State(text=SOLD, step=0),
        ),
        "Loss at masks": Scene(
            "Of 11 words three are hidden: the loss has three terms, all other places add nothing.",
            State(text=SEVERAL, step=1),
        ),
        "Negation": Scene(
            "Fine-tuned, <cls> says yes; the frozen encoder with a new layer alone is less sure.",
            State(task=SENTENCE),
        ),
        "Same bag": Scene(
            "The same bag of words in another order: the verdict turns round.",
            State(task=SENTENCE, review=TWIN),
        ),
        "Names": Scene(
            "lincoln is the organisation and chelsea the place, as they stand: the context decides.",
            State(task=WORDS),
        ),
        "Span": Scene(
            "Start and end meet in one span; spans that end before they begin are grey and never win.",
            State(task=SPAN),
        ),
        "Two in the past": Scene(
            "Two sales in one tense: start and end are spread over both, and the best span is wrong.",
            State(task=SPAN, question="who bought the red kite ?", passage=SAME_TENSE),
        ),
    },
)  # fmt: skip
