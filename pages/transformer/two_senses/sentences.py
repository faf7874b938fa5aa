"""Beginnings of captions that end in "top", a garment or the highest place, and splits that share no cue.

All have six words before it: it stands at one position in all of them, so that its embedding is the same.
"""

from dataclasses import dataclass

import torch

WORD, BEFORE = "top", 6
SENSES = ("garment", "place")
# who, by the number of words
WHO = {
    2: ("A man", "A woman", "A girl", "A boy", "A lady", "A child"),
    3: ("A young man", "A young woman", "A little girl", "A little boy", "A young girl", "A little child"),
}
VERBS = (
    ("in a", "wearing a", "with a", "dressed in a", "is wearing a", "is in a"),
    ("sits", "stands", "jumps", "walks", "is sitting", "is standing"),
)
CUES = (
    ("tank", "black", "blue", "white", "purple", "pink", "red", "yellow", "green", "striped", "gray",
     "orange"),
    ("on", "at the", "near the", "on the", "from the", "to the", "on the very", "on a mountain",
     "on a hill"),
)  # fmt: skip


@dataclass(frozen=True)
class Sentence:
    """A beginning with its last word, the number of its sense, and what tells it."""

    text: str
    sense: int
    verb: str
    cue: str


def composed() -> list[Sentence]:
    """All that have six words before the last."""
    return [
        Sentence(f"{who} {verb} {cue} {WORD}", sense, verb, cue)
        for sense in range(2)
        for verb in VERBS[sense]
        for cue in CUES[sense]
        for who in WHO.get(BEFORE - len(f"{verb} {cue}".split()), ())
    ]


def split(sentences: list[Sentence], seed: int) -> tuple[list[int], list[int]]:
    """Numbers of those with one half of the verbs and cues, and of those with the other half."""
    generator = torch.Generator().manual_seed(seed)
    half = set[str]()
    for words in (*VERBS, *CUES):
        half |= {words[i] for i in torch.randperm(len(words), generator=generator)[: len(words) // 2]}
    known = [(s.verb in half) + (s.cue in half) for s in sentences]
    return [i for i, k in enumerate(known) if k == 2], [i for i, k in enumerate(known) if k == 0]
