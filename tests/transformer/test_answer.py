"""Scores of answers against loops over tokens."""

import pytest
import torch

from modules.transformer.answer import METRICS, independent, scores


def test_scores_are_their_definitions_token_by_token() -> None:
    generator = torch.Generator().manual_seed(0)
    log_probs = (2 * torch.randn(200, 4, 3, dtype=torch.float64, generator=generator)).log_softmax(-1)
    answer = torch.randint(3, (200, 4), generator=generator)
    measured = scores(log_probs, answer)
    assert tuple(measured) == METRICS
    exact = 0
    for b, (rows, truth) in enumerate(zip(log_probs.exp().tolist(), answer.tolist(), strict=True)):
        right = [row.index(max(row)) == y for row, y in zip(rows, truth, strict=True)]
        exact += all(right)
        assert measured["exact"][b] == float(all(right))
        assert measured["accuracy"][b] == sum(right) / 4
        probability = 1.0
        for row, y in zip(rows, truth, strict=True):
            probability *= row[y]
        assert measured["log_likelihood"][b].exp() == pytest.approx(probability)
        brier = sum(
            (p - (v == y)) ** 2 for row, y in zip(rows, truth, strict=True) for v, p in enumerate(row)
        )
        assert measured["brier"][b] == pytest.approx(brier / 4)
    assert 0 < exact < 200


def test_certain_and_uniform_answers() -> None:
    """Certain and right: 1, 1, 0, 0. Uniform over V: −k ln V, and Brier 1 − 1/V. Certain and wrong: 2."""
    answer = torch.tensor([[0, 1]])
    sure = torch.full((1, 2, 5), -1e4)
    sure[0, 0, 0] = sure[0, 1, 1] = 0
    assert [v.item() for v in scores(sure, answer).values()] == [1, 1, 0, 0]
    assert scores(sure, answer.flip(1))["brier"].item() == 2
    uniform = scores(torch.zeros(1, 2, 5).log_softmax(-1), answer)
    assert uniform["brier"].item() == pytest.approx(0.8)
    assert uniform["log_likelihood"].item() == pytest.approx(-2 * torch.tensor(5.0).log().item())


def test_independent_mistakes() -> None:
    assert independent(torch.tensor([0.5] * 4)).item() == 0.0625
    assert independent(torch.tensor([0.9] * 4)).item() == pytest.approx(0.6561)
