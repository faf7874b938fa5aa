"""A planted corpus with one word of two senses: the bank of a river, and the bank that lends money.

    WHO VERB at the ADJECTIVE bank of the THING          "she fished at the old bank of the river"

The sense is drawn first. Verb and adjective are then either words of that sense or words that say
nothing, but one of the two always tells it, so the words before the bank decide; what comes after it agrees.
In half of the sentences a word of one sense alone stands for the bank ("shore", "lender"): what a table
of vectors should find near it.

V = 3 + 55 words; every sentence has nine.

Shapes: a batch is tokens and targets (B, 10) int64, as in `multi30k`.
"""

from functools import cached_property
from typing import Any

import torch

from datamodules.base import DataModule, TensorSplit, within
from datamodules.multi30k import Sentences
from datamodules.tokenizer import WordTokenizer

WORD = "bank"
SENSES = ("river", "money")
WHO = ("he", "she", "we", "they", "anna", "tom")
NEAR = ("at", "near", "by")
# what says nothing, and what says the sense, by slot
NEUTRAL = {"verb": ("waited", "stood", "stopped", "met"), "adjective": ("old", "big", "quiet", "far")}
CUES = {
    "river": {
        "verb": ("fished", "swam", "rowed", "camped"),
        "adjective": ("muddy", "grassy", "steep", "sandy"),
        "other": ("shore", "meadow", "island", "dune"),  # in place of the bank
        "link": ("of", "beside"),
        "thing": ("river", "stream", "lake", "water"),
    },
    "money": {
        "verb": ("paid", "saved", "borrowed", "invested"),
        "adjective": ("private", "central", "federal", "rich"),
        "other": ("lender", "broker", "insurer", "treasury"),
        "link": ("for", "about"),
        "thing": ("loan", "mortgage", "account", "cheque"),
    },
}
VOCABULARY = list(
    dict.fromkeys([
        WORD, "the", *WHO, *NEAR, *(w for slot in NEUTRAL.values() for w in slot),
        *(w for sense in SENSES for slot in CUES[sense].values() for w in slot),
    ])
)  # fmt: skip


def sentences(n: int, seed: int = 0) -> tuple[list[str], list[int]]:
    """Draw n sentences, and the sense of each (0 river, 1 money).

    Raises:
        ValueError: n is less than 1.
    """
    if n < 1:
        raise ValueError(f"{n} sentences: draw at least one.")
    generator = torch.Generator().manual_seed(seed)
    dice = torch.rand(n, 10, generator=generator).tolist()
    lines, senses = [], []
    for roll in dice:
        sense = int(roll[0] < 0.5)
        cues = CUES[SENSES[sense]]
        # of the four ways to say or not say the sense before the bank, the silent one is left out
        result = ("verb",), ("adjective",), ("verb", "adjective")
        slots = pick(result, roll[1])
        verb, adjective = (
            pick((cues if slot in slots else NEUTRAL)[slot], r)
            for slot, r in zip(("verb", "adjective"), roll[2:4], strict=True)
        )
        bank = WORD if roll[4] < 0.5 else pick(cues["other"], roll[5])
        lines.append(
            f"{pick(WHO, roll[6])} {verb} {pick(NEAR, roll[7])} the {adjective} {bank} "
            f"{pick(cues['link'], roll[8])} the {pick(cues['thing'], roll[9])}"
        )
        senses.append(sense)
    return lines, senses


def pick(options: Any, roll: float) -> Any:
    """Pick one of the options by a number in [0, 1)."""
    return options[int(roll * len(options))]


def tokenizer() -> WordTokenizer:
    """The words of the generator, whatever was drawn."""
    return WordTokenizer([*WordTokenizer.SPECIAL, *VOCABULARY])


class Senses(DataModule):
    """The planted sentences as text.

    Args:
        num_sentences: of training; validation and test have a quarter each.
        batch_size: sentences per optimizer step over all processes together.
        seed: of the sentences and of their order.
    """

    embedded = True

    def __init__(self, num_sentences: int = 4000, batch_size: int = 64, seed: int = 0) -> None:
        super().__init__(batch_size, seed)
        within(4, 10**6, num_sentences=num_sentences)
        self.num_sentences = num_sentences

    def lines(self, split: str) -> tuple[list[str], list[int]]:
        """Sentences of a split ("train", "val" or "test") and their senses."""
        n = self.num_sentences if split == "train" else self.num_sentences // 4
        return sentences(n, 3 * self.seed + ("train", "val", "test").index(split))

    @cached_property
    def tokenizer(self) -> WordTokenizer:
        return tokenizer()

    def _split(self, split: str) -> TensorSplit:
        encoded = Sentences([self.tokenizer.encode(line) for line in self.lines(split)[0]])
        return TensorSplit(encoded.tokens, encoded.targets)  # all of one length: nothing is padded

    @property
    def sizes(self) -> dict[str, Any]:
        return {"vocab_size": len(self.tokenizer)}

    def describe(self) -> dict[str, Any]:
        return {
            "name": "Senses",
            "splits": {s: len(self.lines(s)[0]) for s in ("train", "val", "test")},
            "seed": self.seed,
            "tokenizer": self.tokenizer.to_dict(),
        }
