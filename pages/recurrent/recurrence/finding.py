"""Units whose state tells marked characters of a text from the others.

    AUC of unit k = P(h_k at a marked character > h_k at another) = (R − n(n + 1)/2) / (n m)

R: sum of the ranks of the n marked among all n + m. A unit is chosen on one part of a text and shown, and
measured again, on the next: the best of many is best by chance too.

References: Karpathy, Johnson, Fei-Fei 2016, arXiv:1506.02078 (a cell that is on inside quotes); Hanley &
McNeil 1982, The meaning and use of the area under a ROC curve.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from lab.errors import UserError
from lab.lenses import strategies
from lab.lenses import text as texts
from modules.recurrent.language_model import RecurrentLM
from pages.recurrent.recurrence.room import BRACKETS, CAPITALS, LINES, OWN, QUOTES

CHOSEN_ON, SHOWN = 1500, 540  # characters
LINE_START = 3  # characters of a line that count as its start
BEST = 8  # units that are ranked


def marks(text: str, kind: str, own: str) -> Tensor:
    """Which characters of a text are of a kind, (N,) bool."""
    if kind == CAPITALS:
        found = [c.isupper() for c in text]
    elif kind == LINES:
        found = [place < LINE_START for place in places(text)]
    elif kind == QUOTES:
        found = inside(text, '"', '"')
    elif kind == BRACKETS:
        found = inside(text, "(", ")")
    else:
        found = [False] * len(text)
        at = text.find(own) if own else -1
        while at >= 0:
            found[at : at + len(own)] = [True] * len(own)
            at = text.find(own, at + 1)
    return torch.tensor(found)


def places(text: str) -> list[int]:
    """Place of each character in its line, from 0; a newline stands at the end of its own."""
    place, result = 0, []
    for c in text:
        result.append(place)
        place = 0 if c == "\n" else place + 1
    return result


def inside(text: str, first: str, last: str) -> list[bool]:
    """Between two signs, the first of them included; an empty line ends what was never closed."""
    result, on = [], False
    for at, c in enumerate(text):
        if on and (c == last or text[at : at + 2] == "\n\n"):
            on = False
        elif not on and c == first:
            on = True
        result.append(on)
    return result


def auc(h: Tensor, marked: Tensor) -> Tensor:
    """Area under the ROC curve of each unit: h (N, H), marked (N,) bool -> (H,)."""
    n, m = int(marked.sum()), int((~marked).sum())
    ranks = h.argsort(dim=0, stable=True).argsort(dim=0) + 1
    return (ranks[marked].sum(0).double() - n * (n + 1) / 2) / (n * m)


@dataclass(frozen=True)
class Found:
    """
    Attributes:
        units: the BEST whose AUC is farthest from ½ where they are chosen. chosen, again: their AUC there,
            and on the text that is shown, (BEST,) each.
        text: that is shown, N characters. h: (N, BEST). marked: (N,).
        counts: marked characters of the part before, and of this.
    """

    units: list[int]
    chosen: Tensor
    again: Tensor
    text: str
    h: Tensor
    marked: Tensor
    counts: tuple[int, int]


def piece(model: RecurrentLM, model_card: Mapping[str, Any]) -> tuple[str, Tensor]:
    """Characters of the held-out text, and h of the top layer after each: (N, H).

    Raises:
        UserError: the text is not at hand.
    """
    text = strategies.corpus(model_card, "val")
    if text is None:
        raise UserError("The text of this model is not at hand: choose a model of the Python documentation.")
    text = text[: CHOSEN_ON + SHOWN]
    tokens = texts.read(texts.tokenizer(model_card), text)
    with torch.no_grad():
        outputs, _ = model.recurrent(model.embedding(F.pad(tokens, (1, 0), value=model.bos)[None]))
    return text, outputs[0, 1:]


def find(piece: tuple[str, Tensor], kind: str, own: str) -> Found:
    """Rank the units of the top layer by how well they tell the marked characters of the held-out text.

    Raises:
        UserError: nothing is marked in one of the two parts, or all is.
    """
    text, h = piece
    marked = marks(text, kind, own)
    first, then = marked[:CHOSEN_ON], marked[CHOSEN_ON:]
    if any(not part.any() or part.all() for part in (first, then)):
        what = repr(own) if kind == OWN else kind
        raise UserError(f"In this text, {what} marks nothing or everything: choose another kind or model.")
    areas = auc(h[:CHOSEN_ON], first)
    units = (areas - 0.5).abs().argsort(descending=True, stable=True)[:BEST]
    shown = h[CHOSEN_ON:, units]
    counts = int(first.sum()), int(then.sum())
    return Found(units.tolist(), areas[units], auc(shown, then), text[CHOSEN_ON:], shown, then, counts)
