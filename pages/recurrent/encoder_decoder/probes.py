"""Linear probes: what of each clause can still be read from the context.

    ŵ = argmax (W c + b),    W, b of ridge regression on the words as one-hot targets

A probe is trained on sentences of the training split, with as many clauses as the own one, and judged on
those of the test split.

References: Alain & Bengio 2016, arXiv:1610.01644; Conneau et al. 2018, arXiv:1805.01070.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from datamodules import spanish
from datamodules.spanish import sentences
from lab.errors import UserError
from lab.lenses.translations import sentence
from modules.recurrent.seq2seq import Seq2Seq
from pages.recurrent.encoder_decoder.contexts import Words, clauses
from pages.recurrent.encoder_decoder.room import ACTION, COLOUR, KINDS, NOUN, SUBJECT

TRAINED, JUDGED = 1500, 500  # sentences of a probe
RIDGE = 1.0  # added to each eigenvalue of the scatter matrix of standardized features
NONE = "–"  # a clause without such a word


def asked(words: Words) -> list[dict[str, str]]:
    """Subject, verb, colour and noun, in the singular, of each clause; NONE where there is none."""
    classes = {SUBJECT: spanish.PRONOUNS, ACTION: spanish.VERBS, COLOUR: spanish.COLOURS}
    rows = []
    for places in clauses(words):
        clause = [words[i] for i in places]
        row = {
            kind: next((word for word in clause if word in known), NONE) for kind, known in classes.items()
        }
        rows.append(row | {NOUN: singular(clause[-1])})
    return rows


def singular(noun: str) -> str:
    return noun if noun in spanish.MASCULINE or noun in spanish.FEMININE else noun.removesuffix("s")


@dataclass(frozen=True)
class Probe:
    """A linear probe of one word, and what it comes to on test sentences.

    Attributes:
        names: of the classes. weight: W, (Z, classes). bias: (classes,).
        right, count: sentences that it reads rightly, of those that have such a word.
        guess: share that the most frequent word of training is right of.
    """

    names: list[str]
    weight: Tensor
    bias: Tensor
    right: int
    count: int
    guess: float

    @property
    def accuracy(self) -> float:
        return self.right / self.count

    def read(self, features: Tensor) -> list[str]:
        """The words of features (N, Z)."""
        return [self.names[i] for i in (features.double() @ self.weight + self.bias).argmax(1).tolist()]


@dataclass(frozen=True)
class Kept:
    """What linear probes read from c of sentences with K clauses.

    Attributes:
        probes: of c, a row a clause, of each of KINDS.
        at_noun: of the noun of each clause, from the state z at the noun itself.
        gold, read: words of the own sentence, and what is read from its c, a row a clause.
    """

    probes: list[list[Probe]]
    at_noun: list[Probe]
    gold: list[list[str]]
    read: list[list[str]]

    def accuracy(self, kind: str) -> list[float]:
        """Share of test sentences that are read rightly, for each clause."""
        return [row[KINDS.index(kind)].accuracy for row in self.probes]


@torch.no_grad()
def encoded(model: Seq2Seq, group: list[list[str]]) -> tuple[Tensor, Tensor]:
    """Source states z (N, S, Z) and contexts c (N, Z) of sentences of the grammar."""
    coder = spanish.tokenizer()
    ids = [torch.tensor(coder.encode(" ".join(words))) for words in group]
    lengths, padded = torch.tensor([len(each) for each in ids]), pad_sequence(ids, batch_first=True)
    z = model.source_states(padded, lengths)
    return z, model.context.remember(z, torch.arange(z.shape[1]) < lengths[:, None])[0]


def ridge(features: Tensor, classes: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """W (Z, count), b (count,) of ridge regression on classes (N,) as one-hot targets; features (N, Z)."""
    x, y = features.double(), F.one_hot(classes, count).double()
    mean, sd = x.mean(0), x.std(0, unbiased=False).clamp(min=1e-8)
    x = (x - mean) / sd
    gram = x.T @ x + RIDGE * torch.eye(x.shape[1], dtype=x.dtype)
    weight = torch.linalg.solve(gram, x.T @ (y - y.mean(0))) / sd[:, None]
    return weight, y.mean(0) - mean @ weight


def probe(train: tuple[Tensor, Words], test: tuple[Tensor, Words]) -> Probe:
    """A probe fitted to features (N, Z) and their words, NONE where a sentence has none, and judged."""
    names = sorted({*train[1], *test[1]} - {NONE})
    (x, y), (other, target) = (
        (features[[word != NONE for word in words]],
         torch.tensor([names.index(word) for word in words if word != NONE]))
        for features, words in (train, test)
    )  # fmt: skip
    weight, bias = ridge(x, y, len(names))
    right = int(((other.double() @ weight + bias).argmax(1) == target).sum())
    guess = float((target == y.bincount().argmax()).double().mean())
    return Probe(names, weight, bias, right, len(target), guess)


@lru_cache(maxsize=16)  # the same for every own sentence of k clauses
def fitted(model: Seq2Seq, k: int) -> tuple[list[list[Probe]], list[Probe]]:
    """Probes of c for each clause and kind, and of the state at the noun for each clause."""
    groups = sentences(TRAINED, (k, k), "train", seed=101), sentences(JUDGED, (k, k), "test", seed=102)
    states, contexts = zip(*(encoded(model, group) for group in groups), strict=True)
    words = [[asked(each) for each in group] for group in groups]
    nouns = [torch.tensor([[part.stop - 1 for part in clauses(each)] for each in group]) for group in groups]
    of_c, at_noun = [], []
    for i in range(k):
        targets = {kind: [[row[i][kind] for row in rows] for rows in words] for kind in KINDS}
        of_c.append([probe(*zip(contexts, targets[kind], strict=True)) for kind in KINDS])
        z = [each[torch.arange(len(each)), at[:, i]] for each, at in zip(states, nouns, strict=True)]
        at_noun.append(probe(*zip(z, targets[NOUN], strict=True)))
    return of_c, at_noun


def kept(model: Seq2Seq, model_card: Mapping[str, Any], text: str) -> Kept:
    """Probes for sentences with as many clauses as this one, and what they read from its own context.

    Raises:
        UserError: the sentence is not of the grammar, so that its clauses are not known.
    """
    source = sentence(model_card, text)
    if source.gold is None:
        raise UserError("A probe asks for the words of each clause: type a sentence of the grammar.")
    words = source.text.split()
    gold = [[row[kind] for kind in KINDS] for row in asked(words)]
    of_c, at_noun = fitted(model, len(gold))
    c = encoded(model, [words])[1]
    return Kept(of_c, at_noun, gold, [[each.read(c)[0] for each in row] for row in of_c])


def captions(found: Kept, kind: str) -> list[str]:
    """What is read of each clause of the own sentence, and how often such a word is read rightly."""
    i, rows = KINDS.index(kind), []
    for k, share in enumerate(found.accuracy(kind)):
        gold, read = found.gold[k][i], found.read[k][i]
        own = "it has none here" if gold == NONE else f"it reads “{read}” here" + (
            ", which is right" if gold == read else f" for “{gold}”"
        )  # fmt: skip
        rows.append(
            f"Clause {k + 1}: from c the probe reads the {kind} of {share:.0%} of all sentences; {own}."
        )
    return rows


def equations(found: Kept, kind: str) -> list[str]:
    """The probe, its accuracy, and that of the most frequent word."""
    i = KINDS.index(kind)
    return [
        r"\hat{w} = \mathrm{argmax}_w (W c + b)_w, \quad \text{accuracy } "
        rf"\frac{{{each.right}}}{{{each.count}}} = {each.accuracy:.3f}, \quad "
        rf"\text{{most frequent word }} {each.guess:.3f}"
        for each in (row[i] for row in found.probes)
    ]
