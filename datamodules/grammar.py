"""Two toy grammars with one sentence held back: what is learned of the cat, does it hold for the dog?

    the SUBJECT VERB on the OBJECT

- `verb` ([LLM]'s example): 5 subjects × 4 verbs; the object depends on the verb alone. Backing off to the
  verb is enough.
- `class`: 4 animals and 4 people × 4 verbs; the object depends on the verb and on the subject's class.
  After "the dog sat on the" the verb alone says chair, as more people than animals are left to sit.

All sentences but the hidden one are training; the test is the hidden one's object, so that test/nll =
−log P(object | the rest). There is nothing left for a validation split: it is training again.

Shapes: as contexts (N, T) and targets (N,), for networks; as `lines`, tokens and targets (N, T) as in
`multi30k`, for models that count.
"""

from functools import cached_property
from typing import Any, Literal, get_args

import torch

from datamodules.base import DataModule, TensorSplit, within
from datamodules.multi30k import Sentences, contexts
from datamodules.tokenizer import WordTokenizer

Toy = Literal["class", "verb"]
Examples = Literal["contexts", "lines"]
HIDDEN = "the dog sat on the mat"
IGNORED = -100  # a target that is not predicted, as in torch's cross_entropy

VERBS = ("sat", "slept", "stood", "lay")
# the classes, and the object of each verb for each of them
CLASSES = {"animals": ("cat", "dog", "horse", "bird"), "people": ("boy", "girl", "man", "woman")}
OBJECTS = {"animals": ("mat", "straw", "grass", "rug"), "people": ("chair", "bed", "stage", "sofa")}
SUBJECTS = ("cat", "dog", "bird", "boy", "girl")  # of the toy whose objects depend on the verb alone


def sentences(toy: Toy = "class") -> list[str]:
    """Sentences of a grammar: 32 of "class", 20 of "verb"."""
    if toy not in get_args(Toy):
        raise ValueError(f"toy is {toy!r}: it must be class or verb.")
    rows = [(s, OBJECTS[c]) for c, members in CLASSES.items() for s in members]
    if toy == "verb":
        rows = [(s, OBJECTS["animals"]) for s in SUBJECTS]
    return [f"the {s} {v} on the {o}" for s, objects in rows for v, o in zip(VERBS, objects, strict=True)]


def tokenizer(toy: Toy = "class") -> WordTokenizer:
    """The words of all sentences, the hidden one's too."""
    return WordTokenizer.train(sentences(toy))


class Grammar(DataModule):
    """Toy grammar, one sentence held out.

    Args:
        grammar: "class" or "verb".
        held_out: the sentence that is not in training.
        examples: "contexts" or "lines".
        context: T, tokens before a target; shorter ones are filled up with the begin token.
        batch_size: more than there are examples is all of them.
        seed: of the order of each epoch.

    Raises:
        ValueError: an argument is out of range, or the grammar has no such sentence.
    """

    embedded = True

    train_set: TensorSplit

    def __init__(
        self,
        grammar: Toy = "class",
        held_out: str = HIDDEN,
        examples: Examples = "contexts",
        context: int = 6,
        batch_size: int = 1024,
        seed: int = 0,
    ) -> None:
        super().__init__(batch_size, seed)
        if held_out not in sentences(grammar):
            raise ValueError(f"held_out is {held_out!r}: give a sentence of the grammar, like {HIDDEN!r}.")
        if examples not in get_args(Examples):
            raise ValueError(f"examples is {examples!r}: it must be contexts or lines.")
        within(1, 1000, context=context)
        self.grammar, self.held_out, self.examples, self.context = grammar, held_out, examples, context

    @cached_property
    def tokenizer(self) -> WordTokenizer:
        return tokenizer(self.grammar)

    def _examples(self, texts: list[str]) -> TensorSplit:
        encoded = [self.tokenizer.encode(text) for text in texts]
        if self.examples == "contexts":
            return TensorSplit(*contexts(encoded, self.context))
        lines = Sentences(encoded)
        return TensorSplit(lines.tokens, lines.targets)

    def setup(self, stage: str | None = None) -> None:
        train = self._examples([s for s in sentences(self.grammar) if s != self.held_out])
        self.train_set = self.val_set = train
        whole = self._examples([self.held_out]).tensors
        if self.examples == "contexts":
            self.test_set = TensorSplit(whole[0][-2:-1], whole[1][-2:-1])  # the object; after it the end
        else:
            targets = torch.full_like(whole[1], IGNORED)
            targets[:, -2] = whole[1][:, -2]
            self.test_set = TensorSplit(whole[0], targets)

    @property
    def sizes(self) -> dict[str, Any]:
        return {"vocab_size": len(self.tokenizer)}

    def describe(self) -> dict[str, Any]:
        return {
            "name": "Grammar",
            "toy": self.grammar,
            "hidden": self.held_out,
            "splits": {
                "train": len(sentences(self.grammar)) - 1,
                "val": "train again",
                "test": "hidden object",
            },
            "seed": self.seed,
            "tokenizer": self.tokenizer.to_dict(),
        }
