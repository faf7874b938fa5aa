"""Alignment error rate, on the gold links of the grammar."""

import pytest
import torch
from torch.nn.functional import one_hot

from datamodules.spanish import AlignedPairs, sentences, tokenizer
from modules.recurrent.alignment import AlignmentErrorRate, hard_links

SENTENCE = ["i", "have", "a", "big", "cat", "but", "a", "small", "house", "."]


def gold(english: list[list[str]]) -> tuple[torch.Tensor, torch.Tensor]:
    pairs = AlignedPairs(english, tokenizer())
    return pairs.links(torch.arange(len(pairs)))


def test_the_sentence_of_the_text() -> None:
    """Without its point, as the text prints it: 8 Spanish words, 9 English ones, 9 sure links."""
    sure, possible = (links[:, :8, :9] for links in gold([SENTENCE]))

    def error(gamma: torch.Tensor, threshold: float | None = None) -> float:
        metric = AlignmentErrorRate(threshold)
        metric.update(gamma, sure, possible)
        return float(metric.compute())

    assert error(sure.float() / sure.sum(-1, keepdim=True), 0.25) == 0
    assert error(sure.float()) == pytest.approx(1 / 17, abs=1e-7)  # of two links the verb keeps one
    assert error(one_hot(torch.zeros(1, 8, dtype=torch.int64), 9).float()) == pytest.approx(15 / 17, abs=1e-7)
    assert error(torch.eye(8, 9)[None]) == pytest.approx(11 / 17, abs=1e-7)
    assert error(possible.float(), 0.25) == 0  # a possible link is no error
    assert error(torch.zeros(1, 8, 9), 0.25) == 1


def test_counts_are_pooled_and_words_without_a_link_do_not_count() -> None:
    english = [SENTENCE, *sentences(20, (1, 3))]
    sure, possible = gold(english)
    gamma = torch.rand(sure.shape, generator=torch.Generator().manual_seed(0)).softmax(-1)
    for threshold in (None, 0.02):
        whole, parts = AlignmentErrorRate(threshold), AlignmentErrorRate(threshold)
        whole.update(gamma, sure, possible)
        hits = total = 0
        for b in range(len(english)):
            parts.update(gamma[b : b + 1], sure[b : b + 1], possible[b : b + 1])
            a = {
                (t, s) for t, s in hard_links(gamma[b], threshold).nonzero().tolist() if possible[b, t].any()
            }
            certain = {tuple(link) for link in sure[b].nonzero().tolist()}
            allowed = {tuple(link) for link in possible[b].nonzero().tolist()}
            hits, total = hits + len(a & certain) + len(a & allowed), total + len(a) + len(certain)
        assert float(whole.compute()) == float(parts.compute()) == pytest.approx(1 - hits / total, abs=1e-6)


def test_a_threshold_is_a_weight() -> None:
    for threshold in (-0.1, 1.0):
        with pytest.raises(ValueError, match="threshold is"):
            AlignmentErrorRate(threshold)
