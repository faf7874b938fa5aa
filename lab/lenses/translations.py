"""Sentences as a translator reads them, the words that it writes, and how often it is right.

Shapes: S source words, T target words with the end.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from datamodules import spanish
from datamodules.spanish import AlignedPairs
from datamodules.tokenizer import words
from lab.errors import UserError
from lab.lenses import text as texts
from modules.language.translation import IGNORED, TranslationModel
from modules.recurrent.alignment import AlignmentErrorRate
from modules.recurrent.seq2seq import Seq2Seq

LONGEST, MOST = 40, 56  # words that are read, and written
ABOVE = 0.25  # the weight above which there is a link
END = "⊣"  # shown for <eos>
GERMAN = {
    "Kitchen": "Eine Frau, die in einer Küche eine Schale mit Essen hält.",
    "Dune": "Ein Mann in einem grauen Shirt springt über die Spitze einer Sanddüne in der Wüste.",
    "Two shirts": "Ein Mann in einem gelben Hemd und ein Mann in einem dunkelblauen Hemd unterhalten sich.",
    "Tennis": "Ein Mädchen in einem roten Shirt springt hoch, um einen Tennisball zu treffen.",
    "Captain": "Ein Donaudampfschifffahrtskapitän grüßt.",
}  # captions of the test split, and a word that was in no caption


def has_gold(model_card: Mapping[str, Any]) -> bool:
    """Check whether the data of a model know the translation and alignment of each sentence."""
    return bool(model_card["data"]["name"] == "Spanish")


def examples(model_card: Mapping[str, Any], of_grammar: Mapping[str, str]) -> Mapping[str, str]:
    """Sentences in the language that a model reads; none of other languages than English and German."""
    return of_grammar if has_gold(model_card) else GERMAN if reads_german(model_card) else {}


def reads_german(model_card: Mapping[str, Any]) -> bool:
    """Check whether a model translates German captions."""
    return bool(model_card["data"].get("source") == "de")


@dataclass(frozen=True)
class Sentence:
    """A source sentence.

    Attributes:
        names: S words or pieces, as shown. ids: (S,).
        text: what was read. gold: its translation and links; None where they are not known.
        says: what was changed in reading it; "" for nothing.
    """

    names: list[str]
    ids: Tensor
    text: str
    gold: spanish.Translated | None
    says: str


@cache
def english() -> frozenset[str]:
    """The English words of the grammar."""
    nouns = {word for phrase in spanish.noun_phrases() for word in phrase}
    return frozenset(nouns | {*spanish.PRONOUNS, *spanish.VERBS, *spanish.CONJUNCTIONS, "."})


def sentence(model_card: Mapping[str, Any], text: str) -> Sentence:
    """The sentence that a reader typed, as the model reads it.

    Raises:
        UserError: none of its words is known.
    """
    coder, gold, says = texts.tokenizer(model_card), None, []
    if has_gold(model_card):
        found = words(text)
        known = [word for word in found if word in english()]
        if strange := [word for word in dict.fromkeys(found) if word not in english()]:
            says.append(f"Not in the grammar, left out: {', '.join(strange[:5])}.")
        if not set(known) - {"."}:
            raise UserError("No word of this sentence is in the grammar: try “I have a big cat.”")
        if known[-1] != ".":
            known = [*known, "."]
        text = " ".join(known[:LONGEST])
        try:
            gold = spanish.translate(known[:LONGEST])
        except ValueError:
            says.append("This is no sentence of the grammar: there is no gold translation.")
    elif reads_german(model_card) and set(words(text)) <= english():
        says.append("This model reads German: choose one of its sentences, or type one.")
    ids = texts.read(coder, text)
    if len(ids) > LONGEST or (has_gold(model_card) and len(known) > LONGEST):
        says.append(f"Only the first {LONGEST} {'words' if has_gold(model_card) else 'pieces'} are read.")
    ids = ids[:LONGEST]
    return Sentence(texts.names(coder, ids), ids, text, gold, " ".join(says))


def written(vocabulary: Sequence[str], ids: Sequence[int], eos: int) -> list[str]:
    """Tokens of a translation as they are shown, the end as END."""
    return [END if i == eos else texts.shown([vocabulary[i]])[0] for i in ids]


def differing(names: list[str], reference: list[str]) -> list[bool]:
    """Words of a translation that a reference has not, in its order: (T,)."""
    differ = [True] * len(names)
    for start, _, size in SequenceMatcher(None, names, reference, autojunk=False).get_matching_blocks():
        differ[start : start + size] = [False] * size
    return differ


# --- Whole sentences, and all of their weights ---------------------------------------------------


def exact(model: TranslationModel, pairs: AlignedPairs) -> float:
    """Share of sentences whose greedy translation is right in all words and in its end."""
    return float(right(model, pairs).float().mean())


@torch.no_grad()
def right(model: TranslationModel, pairs: AlignedPairs) -> Tensor:
    """Whether the greedy translation of each sentence is right in all words and in its end, (N,)."""
    source, length, _, target = pairs[torch.arange(len(pairs))]
    written = model.translate(source, length, target.shape[1])
    written = F.pad(written, (0, target.shape[1] - written.shape[1]), value=model.eos)
    return (written == target.where(target != IGNORED, model.eos)).all(1)


@torch.no_grad()
def alignment_error(model: Seq2Seq, pairs: AlignedPairs) -> Tensor:
    """Alignment error rate under teacher forcing, of links above ¼ and to the largest weight: (2,)."""
    rows = torch.arange(len(pairs))
    source, length, _, target = pairs[rows]
    _, gamma = model(source, target, length)
    links, results = pairs.links(rows), []
    for threshold in (ABOVE, None):
        metric = AlignmentErrorRate(threshold)
        metric.update(gamma, *links)
        results.append(metric.compute())
    return torch.stack(results)
