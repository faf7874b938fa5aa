"""Heads on an encoder, by brute force."""

import itertools
from typing import Any

import contracts
import pytest
import torch

from modules.transformer.bert_heads import (
    SentenceClassifier,
    SpanExtractor,
    TokenClassifier,
    best_span,
    span_scores,
)

SMALL: dict[str, Any] = {"vocab_size": 23, "length": 12, "layers": 1, "heads": 2, "width": 8}
ROWS = torch.tensor([[0, 7, 3, 1, 9, 12, 5, 1], [0, 8, 1, 6, 1, 4, 4, 4]])


def test_the_best_span_of_the_text() -> None:
    """TF-O28: independent maxima end before they begin."""
    p_s, p_e = (
        torch.tensor([row], dtype=torch.float64) for row in ((0.1, 0.6, 0.2, 0.1), (0.5, 0.1, 0.1, 0.3))
    )
    span, score = best_span(p_s.log(), p_e.log())
    assert span.tolist() == [[1, 3]] and score.exp().item() == pytest.approx(0.18)
    assert (p_s.argmax().item(), p_e.argmax().item()) == (1, 0)
    assert span_scores(p_s.log(), p_e.log()).exp().sum().item() == pytest.approx(0.51)


@pytest.mark.parametrize("seed", range(5))
def test_the_best_span_is_that_of_all_spans(seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    start, end = 4 * torch.randn(2, 6, 7, generator=generator, dtype=torch.float64)
    allowed = torch.rand(6, 7, generator=generator) < 0.6
    allowed[:, 3] = True
    for mask in (None, allowed):
        spans, scores = best_span(start, end, mask)
        table = span_scores(start, end, mask)
        for row in range(6):
            valid = [
                (s, e)
                for s, e in itertools.product(range(7), repeat=2)
                if s <= e and (mask is None or (mask[row, s] and mask[row, e]))
            ]
            p_s, p_e = start[row].softmax(0), end[row].softmax(0)
            best = max(valid, key=lambda span: float(p_s[span[0]] * p_e[span[1]]))
            assert tuple(spans[row].tolist()) == best
            assert scores[row].exp().item() == pytest.approx(float(p_s[best[0]] * p_e[best[1]]))
            assert {tuple(i.tolist()) for i in table[row].isfinite().nonzero()} == set(valid)


def test_where_no_span_is_valid_the_score_says_so() -> None:
    _, score = best_span(torch.zeros(1, 3), torch.zeros(1, 3), torch.zeros(1, 3, dtype=torch.bool))
    assert score.item() == -torch.inf
    one, score = best_span(torch.zeros(1, 1), torch.zeros(1, 1))
    assert one.tolist() == [[0, 0]] and score.item() == 0
    extreme = torch.tensor([[1e4, -1e4, 0.0]])
    span, score = best_span(extreme, extreme.flip(1))
    assert span.tolist() == [[0, 2]] and score.item() == 0


def test_the_sentence_head_is_a_logistic_regression_on_cls() -> None:
    model = contracts.exact(SentenceClassifier(**SMALL))
    h = model.encoder(ROWS)[:, 0]
    p = 1 / (1 + (-(h @ model.head.weight[0] + model.head.bias)).exp())
    y = torch.tensor([1, 0])
    expected = -(p[0].log() + (1 - p[1]).log()) / 2
    assert torch.allclose(model.step((ROWS, y), "train"), expected, atol=1e-12)
    assert torch.allclose(model.predict(ROWS).softmax(1)[:, 1], p, atol=1e-12)


def test_a_word_is_labelled_by_its_context() -> None:
    """TF-E23: from the encoder's output, not from the embedding of the word."""
    model = contracts.exact(TokenClassifier(**SMALL, num_classes=4))
    other = ROWS.clone()
    other[0, 6] = 15
    assert (model.predict(ROWS) - model.predict(other))[0, 1].abs().max() > 1e-6
    y = torch.full_like(ROWS, -100)
    y[0, 1] = 2
    expected = -model.predict(ROWS)[0, 1].log_softmax(0)[2]
    assert torch.allclose(model.step((ROWS, y), "train"), expected, atol=1e-12)


def test_an_answer_lies_in_the_passage_and_padding_is_no_place() -> None:
    model = contracts.exact(SpanExtractor(**SMALL))
    assert model.passage(ROWS).nonzero().tolist() == [[0, 4], [0, 5], [0, 6], [1, 3]]
    start, end = model.predict(ROWS).softmax(-1).unbind(1)
    assert (start[1, 5:] == 0).all() and torch.allclose(end.sum(1), torch.ones(2).double())
    spans = torch.tensor([[4, 6], [3, 3]])
    expected = -(start[0, 4] * end[0, 6] * start[1, 3] * end[1, 3]).log() / 2
    assert torch.allclose(model.step((ROWS, spans), "train"), expected, atol=1e-12)
    assert model.answer(ROWS)[0][1].tolist() == [3, 3]
    alone = model.answer(ROWS[1:, :5])
    assert torch.allclose(alone[1], model.answer(ROWS)[1][1:], atol=1e-10)
