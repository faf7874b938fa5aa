"""Sums as text, each read back by Python, and splits that share no unordered pair."""

import pytest
import torch

from datamodules.addition import Addition


@pytest.mark.parametrize("order", ["plain", "reversed"])
def test_every_split_reads_back_as_right_sums(order: str) -> None:
    data = Addition(order, num_val=300, num_test=200)  # type: ignore[arg-type]
    data.setup()
    seen: dict[str, set[tuple[int, int]]] = {}
    for split in ("train", "val", "test"):
        rows = getattr(data, f"{split}_set")
        some = torch.arange(len(rows)) if split != "train" else torch.arange(0, len(rows), 401)
        tokens, targets = rows[some]
        assert tokens.shape == targets.shape == (len(some), 12)
        assert (targets[:, :8] == -100).all()
        # the answer is the input one token later
        assert torch.equal(tokens[:, 9:], targets[:, 8:-1])
        for given, answer in zip(tokens, targets[:, 8:], strict=True):
            text = data.tokenizer.decode(given[:9]) + data.tokenizer.decode(answer)
            assert text[0] == "\n" and text[8] == "="
            left, right = text[1:].split("=")
            assert len(right) == 4
            assert int(right if order == "plain" else right[::-1]) == sum(map(int, left.split("+")))
        seen[split] = {(min(p), max(p)) for p in rows.pairs.tolist()}
    assert [len(data.val_set), len(data.test_set)] == [300, 200]
    assert [len(seen["val"]), len(seen["test"])] == [300, 200]  # none twice
    assert sum(map(len, seen.values())) == len(set.union(*seen.values())) == 900 * 901 // 2
    assert len({tuple(p) for p in data.train_set.pairs.tolist()}) == len(data.train_set)
    swapped = data.test_set.pairs[:, 0] > data.test_set.pairs[:, 1]
    assert 0.3 < swapped.float().mean() < 0.7


def test_share_of_sums_with_four_digits() -> None:
    """0.604444 of all pairs, so that without a leading zero p⁴ would stand for too few tokens."""
    numbers = torch.arange(100, 1000)
    share = (numbers[:, None] + numbers >= 1000).double().mean().item()
    assert share == pytest.approx(0.604444, abs=1e-6)
    expected = [share * p**4 + (1 - share) * p**3 for p in (0.5, 0.9)]
    assert expected == pytest.approx([0.0872, 0.6849], abs=5e-5)
    plain = 0.5**4, 0.9**4
    assert plain == pytest.approx((0.0625, 0.6561))


def test_an_epoch_is_as_long_as_asked() -> None:
    data = Addition(batch_size=64, per_epoch=640, num_val=100, num_test=50)
    data.setup()
    assert [len(data.train_dataloader()), len(data.val_dataloader()), len(data.test_dataloader())] == [
        10,
        2,
        1,
    ]
    first = next(iter(data.train_dataloader()))
    assert first[0].shape == (64, 12)


def test_bad_arguments_get_a_sentence() -> None:
    with pytest.raises(ValueError, match="order is 'down'"):
        Addition("down")  # type: ignore[arg-type]
    for bad in ({"per_epoch": 0}, {"num_val": 0}, {"num_test": 100_001}):
        with pytest.raises(ValueError, match="must be at least"):
            Addition(**bad)  # type: ignore[arg-type]
