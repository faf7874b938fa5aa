"""Classifier and tagger: padding, both ends, and what a coin to the right of a word allows."""

import functools

import contracts
import pytest
import torch
import torch.nn.functional as F
from lightning import seed_everything
from torch import nn

from datamodules.homographs import Homographs
from modules.recurrent.cell import State
from modules.recurrent.labelling import SequenceClassifier, Tagger
from modules.recurrent.rnn import RNNCell


@pytest.mark.parametrize("cell", ["rnn", "lstm", "gru"])
@pytest.mark.parametrize("both", [False, True])
def test_padding_changes_no_tag_and_no_loss(cell, both):
    tagger = contracts.exact(Tagger(7, 3, 4, cell, 5, 2, bidirectional=both))
    drawn = functools.partial(torch.randint, generator=torch.Generator().manual_seed(0))
    tokens, tags = drawn(1, 7, (3, 6)), drawn(0, 3, (3, 6))
    lengths = [6, 2, 4]
    for row, length in enumerate(lengths):
        tokens[row, length:], tags[row, length:] = 0, -100
    tags[0, 1] = -100  # within a text too
    logits, loss = tagger.predict(tokens), tagger.step((tokens, tags), "val")
    alone, count = 0.0, 0
    for row, length in enumerate(lengths):
        own = tagger.predict(tokens[row : row + 1, :length])
        torch.testing.assert_close(logits[row, :length], own[0], rtol=0, atol=1e-10)
        alone = alone + F.cross_entropy(own[0], tags[row, :length], ignore_index=-100, reduction="sum")
        count += int((tags[row] != -100).sum())
    torch.testing.assert_close(loss, alone / count, rtol=0, atol=1e-10)
    assert tagger.loss_terms((tokens, tags)) == count == 11
    for a, b in zip(
        torch.autograd.grad(loss, list(tagger.parameters())),
        torch.autograd.grad(alone / count, list(tagger.parameters())),
        strict=True,
    ):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-10)
    assert tagger.step((tokens, torch.full_like(tags, -100)), "train") == 0  # nothing is asked for


def test_a_classifier_sees_both_ends():
    """The forward state behind the last place, the backward one before the first, of the top layer."""
    model = contracts.exact(SequenceClassifier((2, 5), 3, "lstm", 4, 2, bidirectional=True))
    x = torch.randn(6, 2, 5, dtype=torch.float64)
    outputs, _ = model.recurrent(x.transpose(1, 2))
    ends = torch.cat([outputs[:, -1, :4], outputs[:, 0, 4:]], 1)
    torch.testing.assert_close(model.predict(x), model.head(ends))
    one_way = contracts.exact(SequenceClassifier((1, 2, 3), 3, hidden=4))  # a picture, pixel by pixel
    pixels = torch.randn(6, 1, 2, 3, dtype=torch.float64)
    outputs, _ = one_way.recurrent(pixels.reshape(6, 6, 1))
    torch.testing.assert_close(one_way.predict(pixels), one_way.head(outputs[:, -1]))
    with pytest.raises(ValueError, match=r"give \(B, 2, 5\)"):
        model.predict(x[..., :4])


def test_an_unrolled_network_is_a_deep_one_with_tied_weights():
    """RN-O14, RN-02: T layers that are the same layer, built explicitly."""
    cell = contracts.exact(RNNCell(3, 4))
    x = torch.randn(5, 6, 3, dtype=torch.float64)
    deep = nn.Sequential(*[nn.Linear(3 + 4, 4, dtype=torch.float64) for _ in range(6)])
    h = torch.zeros(5, 4, dtype=torch.float64)
    for t, layer in enumerate(deep):
        layer.weight.data = torch.cat([cell.weight_x, cell.weight_h], 1).detach()
        layer.bias.data = cell.bias.detach()
        h = layer(torch.cat([x[:, t], h], 1)).tanh()
    torch.testing.assert_close(cell.unroll(x)[1].h, h, rtol=0, atol=1e-12)
    assert isinstance(cell.unroll(x)[1], State)


@pytest.mark.parametrize("both, seed", [(False, 0), (True, 0), (True, 1), (True, 2)])
def test_homographs_need_the_right_context(both, seed):
    """RN-O12: exactly half of them from the left, after training as before it, since both senses follow every
    beginning equally often; all of them both ways (60 steps, three seeds)."""
    data = Homographs(asides=1, scored="homographs")
    data.setup()
    tokens, tags = data.train_set[torch.arange(len(data.train_set))]
    seed_everything(seed)
    tagger = Tagger(**data.sizes, embedding=16, hidden=16, bidirectional=both)
    optimizer = torch.optim.Adam(tagger.parameters(), 1e-2)
    for _ in range(60):
        optimizer.zero_grad()
        tagger.step((tokens, tags), "train").backward()
        optimizer.step()
    x, y = data.test_set[torch.arange(len(data.test_set))]
    right = (tagger.predict(x).argmax(-1) == y)[y != -100].float().mean()
    assert right == (1.0 if both else 0.5)
