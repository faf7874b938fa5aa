"""Sources for latent variable models whose truth is known: two chains of bits, and sprites."""

import math

import pytest
import torch

from datamodules.sprites import FACTORS, KINDS, Sprites, everything, render
from datamodules.two_chains import TwoChains, log_prob


def test_entropy_and_information_of_two_chains():
    data = TwoChains(32, (0.1, 0.4))
    assert data.least_nll == pytest.approx(16.803063, abs=1e-6)
    assert data.information == pytest.approx(0.639448, abs=1e-6)
    assert TwoChains(8, (0.5, 0.5)).least_nll == pytest.approx(8 * math.log(2))
    assert TwoChains(8, (0.3, 0.3)).information == pytest.approx(0, abs=1e-9)


def test_small_chains_by_enumeration():
    data = TwoChains(6, (0.1, 0.4))
    strings = torch.cartesian_prod(*[torch.tensor([0, 1])] * 6)
    log_p = log_prob((strings.diff(dim=1) != 0).sum(1), 6, (0.1, 0.4))
    assert log_p.exp().sum().item() == pytest.approx(1)
    assert -(log_p.exp() * log_p).sum().item() == pytest.approx(data.least_nll)


def test_strings_turn_as_often_as_their_chain():
    data = TwoChains()
    data.setup()
    x, y = data.train_set[torch.arange(20_000)]
    turns = (x.diff(dim=1) != 0).float().mean(1)
    assert turns[y == 0].mean().item() == pytest.approx(0.1, abs=0.003)
    assert turns[y == 1].mean().item() == pytest.approx(0.4, abs=0.003)
    assert y.float().mean().item() == pytest.approx(0.5, abs=0.02)
    assert x[:, 0].mean().item() == pytest.approx(0.5, abs=0.02)
    assert not torch.equal(x[:2000], data.val_set[torch.arange(2000)][0])
    with pytest.raises(ValueError, match="each between 0 and 1"):
        TwoChains(rates=(0.1, 1.0))


def test_every_sprite_is_another_picture():
    pictures, factors = everything()
    assert len(pictures) == len(factors) == math.prod(FACTORS.values()) == 3528
    assert len(pictures.flatten(1).unique(dim=0)) == 3528
    assert set(pictures.unique().tolist()) == {0.0, 1.0}


def test_factors_move_what_they_name():
    base = torch.tensor([[0, 1, 0, 3, 3]])
    picture = render(base)[0, 0]
    right, down = base.clone(), base.clone()
    right[0, 3] += 2
    down[0, 4] += 2
    assert torch.equal(render(right)[0, 0], picture.roll(2, 1))
    assert torch.equal(render(down)[0, 0], picture.roll(2, 0))
    half = base.clone()
    half[0, 2] = 4  # half a turn
    assert torch.equal(render(half)[0, 0], picture.flip(0, 1))
    sizes = [render(torch.tensor([[0, s, 0, 3, 3]])).sum().item() for s in range(3)]
    assert sizes == sorted(set(sizes))
    assert len(KINDS) == FACTORS["shape"]


def test_splits_hold_every_sprite_once():
    data = Sprites()
    data.setup()
    splits = [data.train_set, data.val_set, data.test_set]
    rows = torch.cat([split[torch.arange(len(split))][0].flatten(1) for split in splits])
    assert [len(split) for split in splits] == [2824, 352, 352]
    assert len(rows.unique(dim=0)) == 3528
    x, factors = data.test_set[torch.arange(5)]
    assert torch.equal(render(factors), x)
