"""The Markov language: its stationary law, its entropy by two roads, lines that follow its tables."""

import math

import numpy as np
import pytest
import torch

from datamodules.markov import LEAST, MarkovText, V, language


def lines(count: int, length: int) -> torch.Tensor:
    return language().draw(count, length, torch.Generator().manual_seed(3))


def test_tables_are_laws_and_pairs_are_stationary() -> None:
    table, pairs = language().table, language().pairs.reshape(V, V)
    np.testing.assert_allclose(table.sum(1), 1, atol=1e-12)
    assert table.min() >= LEAST / V * (1 - 1e-9)
    # the flow into (b, c) over all a is what is there
    into = np.einsum("ab,abc->bc", pairs, table.reshape(V, V, V))
    np.testing.assert_allclose(into, pairs, atol=1e-13)
    np.testing.assert_allclose(pairs.sum(0), pairs.sum(1), atol=1e-12)
    # pairs come at very unequal rates
    rates = np.sort(language().pairs)[::-1]
    assert rates[:409].sum() > 0.5 and rates[-2048:].sum() < 0.1


def test_the_entropy_rate_is_the_mean_surprise_of_a_long_draw() -> None:
    x = lines(20_000, 52)  # a million tokens
    surprise = -language().probs(x).gather(-1, x[:, 2:, None])[..., 0].log()
    error = float(surprise.mean(1).std()) / math.sqrt(len(x))
    assert error < 2e-3 and abs(float(surprise.mean()) - language().entropy_rate) < 4 * error
    # by the chain rule: entropies of three and of two symbols, counted from the tables
    two = language().pairs
    three = (two[:, None] * language().table).ravel()
    by_chain = -(three * np.log(three)).sum() + (two * np.log(two)).sum()
    assert language().entropy_rate == pytest.approx(by_chain, abs=1e-10)
    assert language().entropy_rate < language().first < math.log(V)


def test_lines_follow_the_tables() -> None:
    """Walker's slots give each row back, and pairs come as often at the end of a line as they should."""
    keep, other = language()._keep.reshape(-1, V).double(), language()._other.reshape(-1, V)
    table = keep / V
    table = table.scatter_add(1, other, (1 - keep) / V)
    np.testing.assert_allclose(table.numpy(), language().table, atol=1e-7)
    x = lines(100_000, 6)
    assert torch.equal(x, lines(100_000, 6)) and x.min() == 0 and x.max() == V - 1
    for at in (0, 4):
        share = torch.bincount(x[:, at] * V + x[:, at + 1], minlength=V * V).double() / len(x)
        often = language().pairs * len(x) > 25  # the others are too few for a normal error
        error = np.sqrt(language().pairs / len(x))[often]
        assert often.sum() > 300
        assert (np.abs(share.numpy() - language().pairs)[often] / error).max() < 6


def test_datamodule() -> None:
    data = MarkovText(context=5, batch_size=4, num_train=12, num_val=3, num_test=2)
    data.setup()
    x, y = next(iter(data.train_dataloader()))
    assert x.shape == y.shape == (4, 5) and torch.equal(x[:, 1:], y[:, :-1])
    assert data.sizes == {"vocab_size": 64} and data.describe()["splits"]["test"] == 2
    # the first target sees one token, four see two
    E, first = language().entropy_rate, language().first
    assert data.least_nll == pytest.approx((first + 4 * E) / 5) == data.describe()["least_nll"]
    assert MarkovText(context=1).least_nll == pytest.approx(first)
    assert lines(3, 2).shape == (3, 2) and lines(3, 1).shape == (3, 1)
    with pytest.raises(ValueError, match="context is 0"):
        MarkovText(context=0)
