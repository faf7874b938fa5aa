"""The English–Spanish grammar: its counts, its translations, its gold links, its splits."""

import math

import pytest
import torch

from datamodules.spanish import (
    HELD_OUT,
    PRONOUNS,
    VERBS,
    Spanish,
    noun_phrases,
    sentences,
    split_of,
    tokenizer,
    translate,
    written,
)  # fmt: skip
from datamodules.tokenizer import Tokenizer

TEXT = ["i", "have", "a", "big", "cat", "but", "a", "small", "house", "."]


def test_the_sentence_of_the_text() -> None:
    spanish, sure, possible = translate(TEXT)
    assert written(TEXT) == "I have a big cat but a small house."
    assert written(spanish) == "Tengo un gato grande pero una casa pequeña."
    assert sure == [{0, 1}, {2}, {4}, {3}, {5}, {6}, {8}, {7}, {9}]
    assert possible == [{0, 1}, {2, 4}, {4}, {3, 4}, {5}, {6, 8}, {8}, {7, 8}, {9}]


@pytest.mark.parametrize(
    ("english", "spanish"),
    [
        ("We see the old blue keys.", "Vemos las llaves azules viejas."),
        ("They sell two small white tables because you buy my flowers.",
         "Venden dos mesas blancas pequeñas porque compras mis flores."),
        ("You want the green cars and a new red book.", "Quieres los coches verdes y un libro rojo nuevo."),
    ],
)  # fmt: skip
def test_agreement_and_order(english: str, spanish: str) -> None:
    result = translate(english.lower().replace(".", " .").split())
    assert written(result.spanish) == spanish


def test_counts() -> None:
    phrases = noun_phrases().values()
    assert len(phrases) == 1200 and sum(p.p for p in phrases) == pytest.approx(1, abs=1e-12)
    english = [(i, v, *p.english, ".") for i in PRONOUNS for v in VERBS for p in phrases]
    assert len(english) == len(set(english)) == 24_000
    assert {len(e) for e in english} == {5, 6, 7}
    spanish = [tuple(translate(e).spanish) for e in english[:1200]]
    assert len(set(spanish)) == 1200
    source = {w for e in english for w in e} | {"and", "but", "because"}
    target = {w for p in phrases for w in p.spanish} | {w for f in VERBS.values() for w in f}
    assert (len(source), len(target | {"y", "pero", "porque", "."})) == (41, 75)
    assert len(tokenizer()) == 3 + 41 + 75 - 1  # both have the point


def test_mean_lengths() -> None:
    """Of the grammar by its probabilities, and of draws: means of 5.9, 11.1, 16.3, 32 and 53 words."""
    phrases = noun_phrases().values()
    np = sum(p.p * len(p.english) for p in phrases)
    assert np == pytest.approx(2.9)
    known = [p for p in phrases if not p.held_out]
    kept = sum(p.p * len(p.english) for p in known) / sum(p.p for p in known)
    for k, mean in ((1, 5.9), (2, 11.1), (3, 16.3), (6, 32), (10, 53)):
        # a later clause: a conjunction, and a verb of its own with probability 1/3 + 2/3 · 1/2
        assert 3 + np + (k - 1) * (1 + 2 * 2 / 3 + np) == pytest.approx(mean, rel=0.01)
        drawn = torch.tensor([float(len(s)) for s in sentences(1000, (k, k), None)])
        expected = 3 + kept + (k - 1) * (1 + 2 * 2 / 3 + kept)
        assert abs(drawn.mean() - expected) < 5 * drawn.std() / math.sqrt(1000)


def test_every_word_is_linked() -> None:
    for english in sentences(50, (1, 10), None, held_out=True):
        spanish, sure, possible = translate(english)
        assert {place for links in sure for place in links} == {*range(len(english))}  # each exactly once
        assert sum(map(len, sure)) == len(english)
        for word, links, more in zip(spanish, sure, possible, strict=True):
            assert links <= more and (len(links) == 2) == any(word in forms for forms in VERBS.values())


@pytest.mark.parametrize(
    "text",
    ["", ".", "i have a cat", "i have a cats .", "a cat .", "i have two cat .", "i have a red big cat .",
     "i have a cat because a dog .", "i have a cat but .", "i have a cat . .", "i run ."],
)  # fmt: skip
def test_what_is_not_of_the_grammar_gets_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match="is not a sentence of the grammar") as refused:
        translate(text.split())
    assert "\n" not in str(refused.value)


def pairs(sentence: list[str]) -> set[tuple[str, str]]:
    """Nouns of a sentence with their adjectives."""
    found, adjectives = set(), []
    for word in sentence:
        if word.rstrip("s") in {noun for noun, _ in HELD_OUT}:
            found |= {(word.rstrip("s"), a) for a in adjectives}
        adjectives = [*adjectives, word] if word in {a for _, a in HELD_OUT} else []
    return found


def test_splits() -> None:
    data = Spanish(num_train=2000, num_val=50, num_test=100)
    data.setup()
    by_split = {"train": data.train_set, "val": data.val_set, "test": data.test_set}
    texts = {name: {" ".join(s) for s in split.english} for name, split in by_split.items()}
    assert not texts["train"] & texts["val"] and not (texts["train"] | texts["val"]) & texts["test"]
    assert all(
        split_of(s) == name and not pairs(s) & HELD_OUT for name, x in by_split.items() for s in x.english
    )
    other = Spanish(seed=7, num_train=1, num_val=50)
    other.setup("fit")
    assert data.val_set.english == other.val_set.english and len(data.test_set) == 100

    longer = Spanish(test_clauses=7, num_test=20)
    longer.setup("test")
    assert {sum(w in ("and", "but", "because") for w in s) for s in longer.test_set.english} == {6}
    anew = Spanish(held_out=True, num_test=200)
    anew.setup("test")
    assert all(pairs(s) & HELD_OUT for s in anew.test_set.english)
    assert set().union(*(pairs(s) for s in anew.test_set.english)) >= HELD_OUT


def test_a_batch_and_its_links() -> None:
    data = Spanish(num_train=50)
    data.setup("fit")
    positions = torch.tensor([7, 3, 20])
    source, lengths, inputs, targets = data.train_set[positions]
    sure, possible = data.train_set.links(positions)
    assert (
        sure.shape == possible.shape == (*targets.shape, source.shape[1]) and source.shape[1] == lengths.max()
    )
    coder = Tokenizer.from_dict(data.describe()["tokenizer"])
    for b, position in enumerate(positions):
        english = data.train_set.english[position]
        spanish, links, _ = translate(english)
        m = len(spanish)
        assert (
            coder.decode(source[b, : lengths[b]]).split() == english and (source[b, lengths[b] :] == 0).all()
        )
        assert coder.decode(targets[b, :m]).split() == spanish and targets[b, m] == 1
        assert inputs[b, 0] == 0 and torch.equal(inputs[b, 1 : m + 1], targets[b, :m])
        assert (targets[b, m + 1 :] == -100).all() and not possible[b, m:].any()
        assert [set(row.nonzero()[:, 0].tolist()) for row in sure[b, :m]] == links
    assert data.sizes == {"vocab_size": 118}
