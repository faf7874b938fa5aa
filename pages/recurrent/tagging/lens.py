"""A homograph in a sentence that is read word by word, by a bidirectional tagger and by one from the left.

    log P(a)/P(b) = (w→_a − w→_b) · h→ + (w←_a − w←_b) · h← + b_a − b_b,      w = [w→ ; w←], rows of the head

References: Schuster & Paliwal 1997, Bidirectional recurrent neural networks; [GM] 1.6.2, 1.6.3.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from datamodules.homographs import HOMOGRAPHS, LEXICON, SENSES, TAGS
from lab.errors import UserError
from lab.lenses import through_time
from lab.lenses.text import tokenizer
from modules.recurrent.labelling import Tagger
from pages.recurrent.tagging.room import RESET, STATE, UPDATE

NAMES = {STATE: "h", RESET: "r", UPDATE: "z"}  # what is shown -> its name in `Recurrent.unroll`


# --- The sentence ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sentence:
    """A sentence of the grammar's words.

    Attributes:
        words: T of them. at: the place of its first homograph.
        senses: the two that this homograph has, tags by name.
    """

    words: tuple[str, ...]
    at: int
    senses: tuple[str, str]

    @property
    def behind(self) -> tuple[str, ...]:
        """The homograph and the words behind it."""
        return self.words[self.at :]


def split(text: str) -> tuple[list[str], list[str]]:
    """Words and signs of a text that the grammar has, and those that it has not."""
    found = re.findall(r"\w+|[^\w\s]", text.lower())
    known = [word for word in found if word in LEXICON or word in HOMOGRAPHS]
    return known, [word for word in dict.fromkeys(found) if word not in known]


def sentence(text: str) -> Sentence:
    """The sentence that a reader typed; words that the grammar has not are left out.

    Raises:
        UserError: it has no homograph.
    """
    words, _ = split(text)
    at = next((t for t, word in enumerate(words) if word in HOMOGRAPHS), None)
    if at is None:
        raise UserError(f"There is no homograph in the sentence: use one of {', '.join(HOMOGRAPHS)}.")
    first, second = HOMOGRAPHS[words[at]]
    return Sentence(tuple(words), at, (first, second))


def says(text: str) -> str:
    """Say what was left out, and which homograph is tagged where there are several; "" for nothing."""
    words, strange = split(text)
    homographs = [word for word in words if word in HOMOGRAPHS]
    left_out = f"Not in the grammar, left out: {', '.join(strange[:5])}. " if strange else ""
    return left_out + (f"The first homograph, {homographs[0]}, is tagged." if len(homographs) > 1 else "")


# --- What both taggers say of it ---------------------------------------------------------------------


@dataclass(frozen=True)
class Reading:
    """F = T − at readings of the first at + 1, …, T words.

    Attributes:
        senses: P of each of SENSES for the homograph, (F, 5): by the bidirectional tagger, and from the left.
        seen: what is shown of its two directions, (F, 2, H, T); NaN where nothing is read yet.
        parts: of log P(a)/P(b), a and b the senses of the sentence: of h→, of h←, of the bias: (F, 3).
    """

    both: Tensor
    left: Tensor
    seen: Tensor
    parts: Tensor


def read(both: Tagger, left: Tagger, both_card: Mapping[str, Any], text: Sentence, show: str) -> Reading:
    """Both taggers on every beginning of the sentence that has its homograph."""
    tokens = torch.tensor([tokenizer(both_card).encode(" ".join(text.words))])
    T, at, first = len(text.words), text.at, TAGS.index(SENSES[0])
    frames: list[tuple[Tensor, ...]] = []
    with torch.no_grad():
        for end in range(at + 1, T + 1):
            prefix = tokens[:, :end]
            outputs, _, inside = both.recurrent.unroll(both.embedding(prefix))
            logits = both.head(outputs)[0, at], left.predict(prefix)[0, at]
            seen = torch.stack([way[NAMES[show]][0].T for way in inside])  # (2, H, end)
            unread = seen.new_full((*seen.shape[:2], T - end), float("nan"))
            p, q = (each.softmax(-1)[first:] for each in logits)
            frames.append((p, q, torch.cat([seen, unread], -1), odds(both, outputs[0, at], text)))
    return Reading(*(torch.stack(values) for values in zip(*frames, strict=True)))


def odds(both: Tagger, h: Tensor, text: Sentence) -> Tensor:
    """What h→, h← and the bias add to log P(a)/P(b) of the homograph: h (2H,) -> (3,)."""
    a, b = (TAGS.index(sense) for sense in text.senses)
    forward, backward = ((both.head.weight[a] - both.head.weight[b]) * h).chunk(2)
    return torch.stack([forward.sum(), backward.sum(), both.head.bias[a] - both.head.bias[b]])


def reach(both: Tagger, left: Tagger, both_card: Mapping[str, Any], text: Sentence) -> Tensor:
    """|∂ log P(a)/P(b) / ∂ e_k| of the homograph by each word of the whole sentence, e_k its embedding, the
    largest over its features: by the bidirectional tagger, and from the left, (2, T)."""
    tokens = torch.tensor(tokenizer(both_card).encode(" ".join(text.words)))
    a, b = (TAGS.index(sense) for sense in text.senses)

    def measured(tagger: Tagger) -> Tensor:
        def log_odds(x: Tensor) -> Tensor:
            logits = tagger.head(tagger.recurrent(x)[0])
            return logits[..., a] - logits[..., b]  # (B, T)

        return through_time.gradients(log_odds, tagger.embedding(tokens), [(text.at,)])[0]

    return torch.stack([measured(tagger) for tagger in (both, left)])


def of_sense(p: Tensor, sense: str) -> Tensor:
    """P of one sense, (F, 5) -> (F,)."""
    return p[:, SENSES.index(sense)]


def tag(p: Tensor) -> str:
    """The most probable sense, p: (5,)."""
    return SENSES[int(p.argmax())]


def jumps(result: Reading) -> Tensor:
    """What each word behind the homograph adds to log P(a)/P(b) when it is read, (F − 1,)."""
    return result.parts.sum(1).diff()


# --- In words ----------------------------------------------------------------------------------------


def captions(result: Reading, text: Sentence) -> list[str]:
    """The tag of each tagger at each frame."""
    rows = []
    for word, p, q in zip(text.behind, result.both, result.left, strict=True):
        rows.append(
            f"Read up to “{word}”: {text.words[text.at]} is {tag(p)} with {float(p.max()):.3f} read both "
            f"ways, {tag(q)} with {float(q.max()):.3f} from the left."
        )
    return rows


def equations(result: Reading, text: Sentence) -> list[str]:
    """The log odds of the two senses at each frame, with what each direction adds."""
    a, b = text.senses
    return [
        rf"\log \frac{{P(\text{{{a}}})}}{{P(\text{{{b}}})}} = "
        r"\overrightarrow{v} \cdot \overrightarrow{h} + \overleftarrow{v} \cdot \overleftarrow{h} + b = "
        rf"{forward:.3f} {backward:+.3f} {bias:+.3f} = {forward + backward + bias:.3f}"
        for forward, backward, bias in result.parts.tolist()
    ]
