"""The shipped translators of the grammar: sentences that are right by number of clauses, and alignment."""

from functools import cache

import pytest
import torch

from datamodules.spanish import AlignedPairs, sentences, tokenizer
from lab import weights
from lab.lenses import translations
from modules.recurrent.seq2seq import Seq2Seq

COUNT = 100  # sentences of each number of clauses


@cache
def shipped(name: str) -> Seq2Seq:
    model = weights.load(name)
    assert isinstance(model, Seq2Seq)
    return model


@cache
def pairs(clauses: int, held_out: bool = False) -> AlignedPairs:
    """Of the test split, or with a pair of a noun and an adjective that is in no split."""
    split = None if held_out else "test"
    return AlignedPairs(sentences(COUNT, (clauses, clauses), split, held_out, seed=3), tokenizer())


def exact(name: str, of: AlignedPairs) -> float:
    """Share of sentences whose greedy translation is right in all words and in its end."""
    return translations.exact(shipped(name), of)


def test_attention_translates_the_lengths_that_it_has_seen_and_no_longer_ones():
    """Trained on one to four clauses: each right in 99 of 100 sentences, of six clauses none in ten."""
    assert min(exact("attention-spanish", pairs(clauses)) for clauses in (1, 2, 3, 4)) >= 0.99
    assert exact("attention-spanish", pairs(6)) < 0.1


def test_a_fixed_context_falls_with_length():
    """The same sentences, encoder and decoder, told the two ends of the source, trained twice as long."""
    right = [exact("fixed-spanish", pairs(clauses)) for clauses in (1, 2, 3, 4)]
    assert right == sorted(right, reverse=True)
    assert right[0] > 0.9 and right[3] < 0.1


def test_attention_composes_pairs_that_it_has_never_seen():
    """A noun with an adjective that stood beside it in no sentence of training."""
    assert min(exact("attention-spanish", pairs(clauses, held_out=True)) for clauses in (1, 4)) >= 0.99


def test_attention_aligns_without_having_seen_a_link():
    """AER, mean over one to four clauses: 0.11 of the links above ¼; 0.15 of the largest weight alone, which
    for an article is that of its noun, a possible link, and for a verb that of one of its two words. It is
    lost beyond the lengths of training."""
    above, largest = (
        torch.stack(
            [translations.alignment_error(shipped("attention-spanish"), pairs(k)) for k in (1, 2, 3, 4)]
        )
        .mean(0)
        .tolist()
    )
    assert above == pytest.approx(0.108, abs=0.005)
    assert largest == pytest.approx(0.149, abs=0.005)
    assert translations.alignment_error(shipped("attention-spanish"), pairs(6))[0] > 0.5
