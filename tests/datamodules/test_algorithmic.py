"""Copying, recall, adding: each target by another road, and what guessing reaches."""

import pytest
import torch

from datamodules.algorithmic import CLASSES, Adding, Copying, Recall


@pytest.mark.parametrize("order", ["copy", "reverse"])
def test_copying_in_and_beyond_the_trained_lengths(order: str) -> None:
    data = Copying(order, symbols=5, length=6, test_length=9, num_train=300, num_val=20, num_test=20)  # type: ignore[arg-type]
    data.setup()
    source, lengths, inputs, targets = data.train_set[torch.arange(300)]
    assert lengths.unique().tolist() == [1, 2, 3, 4, 5, 6] and source.unique().tolist() == [0, *range(2, 7)]
    for x, n, given, y in zip(source, lengths.tolist(), inputs, targets, strict=True):
        expected = x[:n] if order == "copy" else x[:n].flip(0)
        assert y[: n + 1].tolist() == [*expected.tolist(), 1] and (y[n + 1 :] == -100).all()
        assert given[: n + 1].tolist() == [0, *expected.tolist()] and (x[n:] == 0).all()
    assert set(data.test_set.lengths.tolist()) == {9} and data.sizes == {"vocab_size": 7}
    as_trained = Copying(length=3, num_test=50)
    as_trained.setup("test")
    assert set(as_trained.test_set.lengths.tolist()) == {1, 2, 3}


def test_recall() -> None:
    data = Recall(lag=11, num_train=4000)
    data.setup("fit")
    x, y = data.train_set[torch.arange(4000)]
    assert x.shape == (4000, 12, 17) and (x.sum(-1) == 1).all()
    symbols = x.argmax(-1)
    assert torch.equal(symbols[:, 0], y) and y.max() == CLASSES - 1
    assert (symbols[:, -1] == 16).all()  # the query is nowhere else, and no distractor is a symbol
    between = symbols[:, 1:-1]
    assert between.min() == 8 and between.max() == 15
    assert (between != between[:, :1]).any(1).float().mean() > 0.99  # drawn anew at each place
    # nothing but the first symbol tells the answer
    for t in range(1, 11):
        joint = torch.zeros(8, 8).index_put_((symbols[:, t] - 8, y), torch.ones(4000), accumulate=True)
        expected = joint.sum(0) * joint.sum(1)[:, None] / 4000
        assert ((joint - expected) ** 2 / expected).sum() < 120  # χ² of 49 degrees: above once in 10⁷
    assert data.sizes == {"event_shape": (12, 17), "num_features": 17, "num_classes": 8}


def test_adding() -> None:
    data = Adding(length=10, num_train=20_000)
    data.setup("fit")
    x, y = data.train_set[torch.arange(20_000)]
    marked = x[..., 1] == 1
    assert (marked[:, :5].sum(1) == 1).all() and (marked[:, 5:].sum(1) == 1).all()
    assert marked.any(0).all() and ((x[..., 1] == 0) | marked).all()
    torch.testing.assert_close(y, x[..., 0][marked].reshape(-1, 2).sum(1, keepdim=True))
    assert ((y - 1) ** 2).mean() == pytest.approx(1 / 6, abs=0.006)  # 4 standard errors


def test_splits_are_draws_of_their_own() -> None:
    for data in (Recall(num_train=50, num_val=50), Adding(num_train=50, num_val=50)):
        again = type(data)(seed=5, num_train=50, num_val=50)
        data.setup("fit"), again.setup("fit")
        (x, _), (other, _) = data.train_set[torch.arange(50)], data.val_set[torch.arange(50)]
        assert torch.equal(x, again.train_set[torch.arange(50)][0]) and not torch.equal(x, other)


def test_what_cannot_be_gets_a_sentence() -> None:
    with pytest.raises(ValueError, match="order is 'sort'"):
        Copying("sort")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="lag is 0"):
        Recall(lag=0)
    with pytest.raises(ValueError, match="length is 1"):
        Adding(length=1)
