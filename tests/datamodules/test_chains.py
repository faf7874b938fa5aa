"""Chains have the laws they are drawn from; letters are what is left of a text."""

import pytest
import torch

from datamodules.chains import TRUTH, Chains, sample
from datamodules.letters import ALPHABET, Letters, numbers, spelled


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
            found = shown.bincount(minlength=len(truth.emission[0])) / len(shown)
        else:
            found = shown.mean(0)
            assert torch.allclose(shown.std(0), torch.tensor(truth.spread), atol=0.02)
        assert torch.allclose(found, torch.tensor(truth.emission[k]), atol=0.03)
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
