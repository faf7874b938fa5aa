"""English to Spanish: a small grammar whose translations and alignments are known.

    S  -> VP NP (CONJ (VP NP | NP))^{k-1} .     VP = pronoun verb: one Spanish word
    NP -> det (size) (colour) noun              in Spanish: det noun (colour) (size)

    I have a big cat but a small house.    Tengo un gato grande pero una casa pequeña.

Spanish determiners and adjectives agree with their noun in gender and number. "Because" is always
followed by VP NP. There are 1,200 noun phrases and 20 · 1,200 = 24,000 sentences of one clause, 41 types of
English words and 75 of Spanish ones, points included.

Alignment: each Spanish word has sure links, a verb to the pronoun and the verb, all others to the word that
they translate; determiners and adjectives have a possible link more, to the noun that they agree with.

Sentences are divided by a hash of their English words, and `HELD_OUT` pairs of a noun and an adjective are
in no split: sentences with them test what is composed anew.

Shapes: a batch is as in `translation`; `links` are sure and possible (B, T, S) bool.

References: [DGM] and [GM] 1.6.3 (the sentence above); Och and Ney 2003 (sure and possible links).
"""

import zlib
from collections.abc import Sequence
from functools import cache, cached_property
from itertools import product
from typing import Any, NamedTuple

import torch
from torch import Tensor

from datamodules.base import SPLITS, DataModule, within
from datamodules.tokenizer import WordTokenizer
from datamodules.translation import SentencePairs

PRONOUNS = ("i", "you", "we", "they")
VERBS = {
    "have": ("tengo", "tienes", "tenemos", "tienen"),
    "see": ("veo", "ves", "vemos", "ven"),
    "want": ("quiero", "quieres", "queremos", "quieren"),
    "buy": ("compro", "compras", "compramos", "compran"),
    "sell": ("vendo", "vendes", "vendemos", "venden"),
}
# singular and plural, each masculine and feminine; empty where there is none
DETERMINERS = {
    "a": ("un", "una", "", ""), "the": ("el", "la", "los", "las"),
    "my": ("mi", "mi", "mis", "mis"), "two": ("", "", "dos", "dos"),
}  # fmt: skip
MASCULINE = {"cat": "gato", "dog": "perro", "book": "libro", "car": "coche"}
FEMININE = {"house": "casa", "table": "mesa", "flower": "flor", "key": "llave"}
SIZES = {"big": "grande", "small": "pequeño", "old": "viejo", "new": "nuevo"}
COLOURS = {"red": "rojo", "white": "blanco", "green": "verde", "blue": "azul"}
CONJUNCTIONS = {"and": "y", "but": "pero", "because": "porque"}
# every noun and every adjective once: each is known from other pairs
HELD_OUT = {
    ("cat", "white"), ("dog", "small"), ("book", "red"), ("car", "old"),
    ("house", "blue"), ("table", "new"), ("flower", "green"), ("key", "big"),
}  # fmt: skip
P_SIZE = {(False, False): 0.25, (True, False): 0.35, (False, True): 0.25, (True, True): 0.15}
LONGEST = 100  # clauses


class NounPhrase(NamedTuple):
    """A noun phrase in both languages.

    Attributes:
        sources: of each Spanish word the place of the English word that it translates.
        p: probability in the grammar.
        held_out: it has one of the `HELD_OUT` pairs.
    """

    english: tuple[str, ...]
    spanish: tuple[str, ...]
    sources: tuple[int, ...]
    p: float
    held_out: bool


class Translated(NamedTuple):
    """The translation of a sentence.

    Attributes:
        sure, possible: of each Spanish word the places of English words; what is sure is possible too.
    """

    spanish: list[str]
    sure: list[set[int]]
    possible: list[set[int]]


def agree(word: str, feminine: bool, plural: bool) -> str:
    """The form of a Spanish adjective or noun: rojo, roja, rojos, rojas."""
    if feminine and word.endswith("o"):
        word = word[:-1] + "a"
    return word if not plural else word + ("s" if word[-1] in "aeo" else "es")


@cache
def noun_phrases() -> dict[tuple[str, ...], NounPhrase]:
    """All 1,200 noun phrases by their English words."""
    phrases = {}
    nouns = {**MASCULINE, **FEMININE}
    for det, plural, noun in product(DETERMINERS, (False, True), nouns):
        feminine = noun in FEMININE
        if not (spanish_det := DETERMINERS[det][2 * plural + feminine]):
            continue
        for size, colour in product((None, *SIZES), (None, *COLOURS)):
            adjectives = [a for a in (size, colour) if a]
            english = (det, *adjectives, noun + "s" * plural)
            after = [agree({**SIZES, **COLOURS}[a], feminine, plural) for a in reversed(adjectives)]
            spanish = (spanish_det, agree(nouns[noun], False, plural), *after)
            sources = (0, *range(len(english) - 1, 0, -1))  # det, and the rest backwards
            p = P_SIZE[bool(size), bool(colour)] / 4 ** len(adjectives) / (6 * len(nouns))
            held_out = any((noun, a) in HELD_OUT for a in adjectives)
            phrases[english] = NounPhrase(english, spanish, sources, p, held_out)
    return phrases


def translate(english: Sequence[str]) -> Translated:
    """Translate a sentence of the grammar, given as lower-case words.

    Raises:
        ValueError: the sentence is not of the grammar.
    """
    translated, at = Translated([], [], []), 0

    def add(word: str, sure: set[int], possible: set[int]) -> None:
        translated.spanish.append(word)
        translated.sure.append(sure)
        translated.possible.append(sure | possible)

    while at < len(english):
        if tuple(english[at:]) == (".",) and at:
            add(".", {at}, set())
            return translated
        if at:  # between clauses
            if english[at] not in CONJUNCTIONS:
                break
            add(CONJUNCTIONS[english[at]], {at}, set())
            at += 1
        if at + 1 < len(english) and english[at] in PRONOUNS and english[at + 1] in VERBS:
            add(VERBS[english[at + 1]][PRONOUNS.index(english[at])], {at, at + 1}, set())
            at += 2
        elif at == 0 or english[at - 1] == "because":
            break
        phrase = next((p for n in (2, 3, 4) if (p := noun_phrases().get(tuple(english[at : at + n])))), None)
        if phrase is None:
            break
        noun = at + len(phrase.english) - 1
        for word, source in zip(phrase.spanish, phrase.sources, strict=True):
            add(word, {at + source}, {noun})
        at += len(phrase.english)
    where = f"from {english[at]!r} on" if at < len(english) else "as it ends without a point"
    raise ValueError(f"{' '.join(english)!r} is not a sentence of the grammar, {where}.")


def written(sentence: Sequence[str]) -> str:
    """Words as a text: capitals at the beginning and of "I", the point behind the last word."""
    text = " ".join("I" if word == "i" else word for word in sentence).replace(" .", ".")
    return text[:1].upper() + text[1:]


def split_of(english: Sequence[str]) -> str:
    """The split that a sentence belongs to, by a hash: 8 in 10 train, 1 val, 1 test."""
    return {0: "test", 1: "val"}.get(zlib.crc32(" ".join(english).encode()) % 10, "train")


def sentences(
    count: int, clauses: tuple[int, int], split: str | None = "train", held_out: bool = False, seed: int = 0
) -> list[list[str]]:
    """Draw English sentences.

    Args:
        clauses: k, least and most, all equally likely.
        split: the sentences that the hash gives to it; None are those of all splits.
        held_out: each has a pair of `HELD_OUT`; else none has.
    """
    phrases = list(noun_phrases().values())
    p = torch.tensor([n.p if held_out or not n.held_out else 0.0 for n in phrases])
    generator, verbs, conjunctions = torch.Generator().manual_seed(seed), list(VERBS), list(CONJUNCTIONS)
    least, most = clauses
    chosen: list[list[str]] = []
    while len(chosen) < count:
        ks = torch.randint(least, most + 1, (count,), generator=generator).tolist()
        nps = torch.multinomial(p, count * most, replacement=True, generator=generator).reshape(count, most)
        # a pronoun with a verb, a conjunction, and whether the clause has its own verb
        rest = torch.randint(len(PRONOUNS) * len(verbs) * 6, (count, most), generator=generator).tolist()
        for k, row, others in zip(ks, nps.tolist(), rest, strict=True):
            sentence: list[str] = []
            for i in range(k):
                (other, verbal), conjunction = divmod(others[i] // 3, 2), conjunctions[others[i] % 3]
                if i:
                    sentence.append(conjunction)
                if i == 0 or verbal or conjunction == "because":
                    sentence += PRONOUNS[other % 4], verbs[other // 4]
                sentence += phrases[row[i]].english
            sentence.append(".")
            if held_out and not any(phrases[n].held_out for n in row[:k]):
                continue
            if split is None or split_of(sentence) == split:
                chosen.append(sentence)
    return chosen[:count]


def tokenizer() -> WordTokenizer:
    """The words of both languages, English first."""
    english = {word for phrase in noun_phrases() for word in phrase}
    spanish = {word for phrase in noun_phrases().values() for word in phrase.spanish}
    source = [*PRONOUNS, *VERBS, *CONJUNCTIONS, ".", *sorted(english)]
    target = [*(word for forms in VERBS.values() for word in forms), *CONJUNCTIONS.values(), *sorted(spanish)]
    return WordTokenizer([*WordTokenizer.SPECIAL, *source, *target])


class AlignedPairs(SentencePairs):
    """Sentences with their translations and gold links."""

    def __init__(self, english: list[list[str]], coder: WordTokenizer) -> None:
        self.english = english
        super().__init__(
            [coder.encode(" ".join(sentence)) for sentence in english],
            [coder.encode(" ".join(translate(sentence).spanish)) for sentence in english],
        )

    def links(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Sure and possible links (B, T, S) bool of the batch of these positions; ends and pads have none."""
        source, _, inputs, _ = self[positions]
        sure = torch.zeros(*inputs.shape, source.shape[1], dtype=torch.bool)
        possible = sure.clone()
        for b, position in enumerate(positions.tolist()):
            translated = translate(self.english[position])
            for gold, places in ((sure, translated.sure), (possible, translated.possible)):
                for t, linked in enumerate(places):
                    gold[b, t, list(linked)] = True
        return sure, possible


class Spanish(DataModule):
    """Pairs of sentences, English and Spanish, as words of one vocabulary.

    Args:
        clauses: k of training and validation: 1 to `clauses`, all equally likely.
        test_clauses: k of every test sentence; None is as in training.
        held_out: each test sentence has a pair of a noun and an adjective that is in no other split.
        batch_size: pairs per optimizer step over all processes together.
        seed: of the order of each epoch; the sentences themselves are the same for every seed.
        num_train, num_val, num_test: sentences in each split.

    Raises:
        ValueError: an argument is out of range.
    """

    embedded = True

    def __init__(
        self, clauses: int = 4, test_clauses: int | None = None, held_out: bool = False, batch_size: int = 64,
        seed: int = 0, num_train: int = 30_000, num_val: int = 500, num_test: int = 1_000,
    ) -> None:  # fmt: skip
        super().__init__(batch_size, seed)
        within(1, LONGEST, clauses=clauses, test_clauses=test_clauses)
        within(1, 10**6, num_train=num_train, num_val=num_val, num_test=num_test)
        self.clauses, self.test_clauses, self.held_out = clauses, test_clauses, held_out
        self.counts = {"train": num_train, "val": num_val, "test": num_test}

    @cached_property
    def tokenizer(self) -> WordTokenizer:
        """The words of the grammar in both languages."""
        return tokenizer()

    def _split(self, split: str) -> AlignedPairs:
        k, held_out = (1, self.clauses), False
        if split == "test":
            k, held_out = (self.test_clauses,) * 2 if self.test_clauses else k, self.held_out
        drawn = sentences(
            self.counts[split], k, None if held_out else split, held_out, SPLITS.index(split) + 1
        )
        return AlignedPairs(drawn, self.tokenizer)

    @property
    def sizes(self) -> dict[str, Any]:
        return {"vocab_size": len(self.tokenizer)}

    def describe(self) -> dict[str, Any]:
        return {
            "name": "Spanish",
            "clauses": self.clauses,
            "test_clauses": self.test_clauses,
            "held_out": self.held_out,
            "splits": self.counts,
            "seed": self.seed,
            "tokenizer": self.tokenizer.to_dict(),
        }
