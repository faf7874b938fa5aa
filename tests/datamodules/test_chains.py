"""Chains have the laws they are drawn from; letters and lines are what is left of a text."""

import pytest
import torch

from datamodules.chains import TRUTH, Chains, sample
from datamodules.letters import ALPHABET, Letters, numbers, spelled
from datamodules.lines import END, Lines, tokens


@pytest.mark.parametrize("kind", TRUTH)
def test_transitions_are_those_of_the_truth(kind: str) -> None:
    x, z = sample(kind, 300, 100)  # type: ignore[arg-type]
    truth = TRUTH[kind]
    assert z.shape == (300, 100) and x.shape[:2] == (300, 100)
    states = len(truth.initial)
    pairs = torch.zeros(states, states).index_put_(
        (z[:, :-1].flatten(), z[:, 1:].flatten()), torch.tensor(1.0), accumulate=True
    )
    assert torch.allclose(pairs / pairs.sum(1, keepdim=True), torch.tensor(truth.transition), atol=0.02)
    for k in range(states):
        shown = x[z == k]
        if truth.spread is None:
            result = shown.bincount(minlength=len(truth.emission[0])) / len(shown)
        else:
            result = shown.mean(0)
            assert torch.allclose(shown.std(0), torch.tensor(truth.spread), atol=0.02)
        assert torch.allclose(result, torch.tensor(truth.emission[k]), atol=0.03)
    assert torch.equal(x, sample(kind, 300, 100)[0])  # type: ignore[arg-type]
    assert not torch.equal(x, sample(kind, 300, 100, seed=1)[0])  # type: ignore[arg-type]


def test_datamodule() -> None:
    data = Chains("clouds", length=7, num_train=20, num_val=5, num_test=6, batch_size=10)
    data.setup()
    x, z = next(iter(data.train_dataloader()))
    assert x.shape == (10, 7, 2) and z.shape == (10, 7)
    assert data.sizes == {"event_shape": (7, 2), "num_features": 2}
    assert Chains().sizes["vocab_size"] == 6
    assert data.describe()["splits"] == {"train": 20, "val": 5, "test": 6}
    with pytest.raises(ValueError, match="casino, weather, clouds"):
        Chains("roulette")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="casino, weather, clouds"):
        sample("roulette", 1, 1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="length is 0"):
        Chains(length=0)


def test_letters() -> None:
    assert spelled("It's 5 p.m.,\n OK") == "it s p m ok"
    assert "".join(ALPHABET[i] for i in numbers("A b")) == "a b"
    data = Letters(length=30, num_train=4, num_val=2, num_test=3, batch_size=4)
    data.setup()
    (x,) = data.train_set[torch.arange(4)]
    (held_out,) = data.test_set[torch.arange(3)]
    assert x.shape == (4, 30) and x.min() >= 0 and x.max() <= 26
    assert torch.equal(x.flatten(), numbers(data.text)[:120])
    assert torch.equal(held_out.flatten(), numbers(data.text)[180:270])
    assert "  " not in data.text and data.sizes["vocab_size"] == 27
    assert data.describe()["tokenizer"]["tokens"] == list(ALPHABET)
    with pytest.raises(ValueError, match="pydocs or shakespeare"):
        Letters("bible")
    with pytest.raises(ValueError, match="take fewer"):
        _ = Letters(length=10_000, num_train=10_000).text


def test_lines() -> None:
    assert tokens(["ab", "abcd", "a"], 3).tolist() == [[1, 2, END], [1, 2, 3], [1, END, END]]
    data = Lines(length=12, min_length=5, num_val=30, num_test=20, batch_size=8)
    data.setup()
    assert sum(data.counts.values()) == len(data.lines) and min(map(len, data.lines)) == 5
    parts = [s[torch.arange(len(s))][0] for s in (data.train_set, data.val_set, data.test_set)]
    assert [len(p) for p in parts] == list(data.counts.values()) == [len(data.lines) - 50, 30, 20]
    assert torch.equal(torch.cat(parts), tokens(data.lines, 12))  # in the order of the corpus
    for row, line in zip(parts[2], data.lines[-20:], strict=True):
        assert "".join(ALPHABET[i] for i in row if i < END) == line[:12] and (row[len(line) :] == END).all()
    assert data.sizes == {"event_shape": (12,), "vocab_size": 28} and data.embedded
    assert data.describe()["tokenizer"]["tokens"][END] == "\n"
    with pytest.raises(ValueError, match="pydocs or shakespeare"):
        Lines("bible")
    with pytest.raises(ValueError, match="length is 0"):
        Lines(length=0)
    with pytest.raises(ValueError, match="hold fewer of them out"):
        _ = Lines(num_test=10**6).lines


def test_lines_of_shakespeare(real_data) -> None:
    real_data("tinyshakespeare")
    data = Lines("shakespeare", num_val=10, num_test=10)
    assert data.lines[0] == "first citizen" and not data.embedded
