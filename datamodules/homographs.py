"""Homographs: words whose sense only what comes after them tells.

    the bank , they say , of the river was quiet .        the bank , they say , approved the loan .

Every word has one tag, but for one homograph in each sentence, which has one of two. The sentences come in
pairs, the same up to what decides, one for each sense; a pair is never divided among the splits. So in every
split, after every beginning, both senses are equally frequent:

    P(tag | words up to the homograph) = 1/2,        P(tag | all words) = 1

A tagger that reads from the left is right on exactly half of the homographs, whatever it has learned; one
that reads both ways can be right on all. What decides comes 1 or 2 words later, and 1 + 3a more with a asides
between.

Shapes: a batch is tokens and tags (B, T) int64, padded with <bos> and −100; with `scored` "homographs" all
other tags are −100 too.

References: Schuster and Paliwal 1997, Bidirectional recurrent neural networks; [GM] 1.6.2 and 1.6.3.
"""

from functools import cached_property
from itertools import product
from typing import Any, Literal, get_args

import torch

from datamodules.base import DataModule, TensorSplit, within
from datamodules.multi30k import padded
from datamodules.tokenizer import WordTokenizer

Scored = Literal["all", "homographs"]

# a homograph, and of each of its senses what may follow
HOMOGRAPHS = {
    "bank": {"place": ("of the river was quiet .", "was muddy ."),
             "company": ("approved the loan .", "was bankrupt .")},
    "bat": {"animal": ("flew home .", "was asleep ."), "tool": ("hit the ball .", "was wooden .")},
    "mouse": {"animal": ("ate the cheese .", "was hungry ."), "tool": ("clicked twice .", "was wireless .")},
    "crane": {"animal": ("laid an egg .", "was asleep ."), "tool": ("lifted the steel .", "was rusty .")},
    "plant": {"living": ("lost its leaves .", "was thirsty ."),
              "company": ("made the steel .", "was bankrupt .")},
}  # fmt: skip
BEGINNINGS = ("the", "we saw that the", "today the")
ADJECTIVES = ("old", "new", "small", "big")
ASIDES = ("they say", "i think", "of course")
PARTS_OF_SPEECH = {
    "determiner": "the an its",
    "adjective": " ".join(ADJECTIVES) + " quiet muddy bankrupt asleep wooden hungry wireless rusty thirsty",
    "noun": "river loan ball cheese egg steel leaves home course",
    "verb": "saw say think was approved flew hit ate clicked laid lifted lost made",
    "other": "we they i that of today twice , .",
}
LEXICON = {word: tag for tag, words in PARTS_OF_SPEECH.items() for word in words.split()}
SENSES = ("place", "company", "animal", "tool", "living")
TAGS = (*PARTS_OF_SPEECH, *SENSES)
MOST_ASIDES = 4


def pairs(asides: int) -> list[tuple[tuple[str, str], tuple[str, str]]]:
    """All pairs of sentences with up to `asides` asides, each as (text, sense of its homograph)."""
    between = [""]
    for a in range(1, asides + 1):
        between += [f" , {' , '.join(said)} ," for said in product(ASIDES, repeat=a)]
    result = []
    for word, senses in HOMOGRAPHS.items():
        for start, adjective, gap in product(BEGINNINGS, ("", *ADJECTIVES), between):
            same = " ".join(filter(None, (start, adjective, word))) + gap
            for ends in zip(*senses.values(), strict=True):
                one, other = ((f"{same} {end}", sense) for sense, end in zip(senses, ends, strict=True))
                result.append((one, other))
    return result


def tagged(text: str, sense: str) -> list[str]:
    """Tags of a sentence whose homograph has this sense, one for each word."""
    return [sense if word in HOMOGRAPHS else LEXICON[word] for word in text.split()]


class Homographs(DataModule):
    """Sentences with one homograph each, and the tags of their words.

    A random tenth of all pairs is set aside for validation and another for test.

    Args:
        asides: 0 to so many stand between the homograph and what decides.
        scored: "all" words, or "homographs" alone.
        batch_size: sentences per optimizer step over all processes together.
        seed: of the order of each epoch; the splits are the same for every seed.

    Raises:
        ValueError: an argument is out of range.
    """

    embedded = True

    def __init__(self, asides: int = 2, scored: Scored = "all", batch_size: int = 64, seed: int = 0) -> None:
        super().__init__(batch_size, seed)
        within(0, MOST_ASIDES, asides=asides)
        if scored not in get_args(Scored):
            raise ValueError(f"scored is {scored!r}: it must be all or homographs.")
        self.asides, self.scored = asides, scored

    @cached_property
    def tokenizer(self) -> WordTokenizer:
        """All words of the grammar."""
        return WordTokenizer([*WordTokenizer.SPECIAL, *LEXICON, *HOMOGRAPHS])

    def _split(self, split: str) -> TensorSplit:
        everything = pairs(self.asides)
        order = torch.randperm(len(everything), generator=torch.Generator().manual_seed(0))
        tenth = len(order) // 10
        cut = {"test": order[:tenth], "val": order[tenth : 2 * tenth]}
        chosen = cut.get(split, order[2 * tenth :]).sort().values.tolist()
        sentences = [sentence for i in chosen for sentence in everything[i]]
        tokens, _ = padded([self.tokenizer.encode(text) for text, _ in sentences], WordTokenizer.BOS)
        tags, _ = padded([[TAGS.index(tag) for tag in tagged(*s)] for s in sentences], -100)
        if self.scored == "homographs":
            tags = tags.where(tags >= TAGS.index(SENSES[0]), -100)
        return TensorSplit(tokens, tags)

    @property
    def sizes(self) -> dict[str, Any]:
        return {"vocab_size": len(self.tokenizer), "num_classes": len(TAGS)}

    def describe(self) -> dict[str, Any]:
        count = len(pairs(self.asides))
        held = 2 * (count // 10)
        return {
            "name": "Homographs",
            "asides": self.asides,
            "scored": self.scored,
            "tags": list(TAGS),
            "splits": {"train": 2 * count - 2 * held, "val": held, "test": held},
            "seed": self.seed,
            "tokenizer": self.tokenizer.to_dict(),
        }
