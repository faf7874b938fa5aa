"""Universality: targets, floors by other roads, and networks that reach them and do not cross them."""

import pytest
import torch

from datamodules.sequence_targets import SequenceTargets
from lab.bench import universality as bench


def test_targets() -> None:
    x = torch.tensor([[[3.0], [1.0], [2.0]]])
    wanted = {"mean": [2, 2, 2], "first": [3, 3, 3], "sort": [1, 2, 3], "reverse": [2, 1, 3]}
    for target, y in wanted.items():
        assert SequenceTargets(target, 3).of(x)[0, :, 0].tolist() == y  # type: ignore[arg-type]
    data = SequenceTargets("sort", 5)
    assert data.draw(7, 0)[0].shape == (7, 5, 1) and torch.equal(data.draw(7, 0)[1], data.draw(7, 0)[1])
    assert data.describe()["target"] == "sort" and data.sizes["num_features"] == 1
    for wrong in ({"target": "median"}, {"length": 1}):
        with pytest.raises(ValueError, match="must be"):
            SequenceTargets(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("T", [3, 4])
def test_floors_by_the_best_maps_of_a_sample(T: int) -> None:
    """TF-O56: regression on what a network of each kind may know."""
    for target in bench.TARGETS:
        data = SequenceTargets(target, T)
        x, y = (t[..., 0].double() for t in data.draw(200_000, 0))
        mean = x.mean(1, keepdim=True).expand_as(x)
        # linear maps are the best for all but sort with places
        free = torch.stack([x, mean], -1).flatten(0, 1)
        fits = {(False, False): x.flatten()[:, None], (True, False): free}
        for (attention, positions), known in fits.items():
            w = torch.linalg.lstsq(known, y.flatten()[:, None]).solution
            got = float((known @ w - y.flatten()[:, None]).square().mean())
            assert got == pytest.approx(data.floor(attention, positions), abs=0.01), (target, attention)
        got = 0.0
        for i in range(T):  # means of y within bins of 400 neighbours of x_i
            near = y[x[:, i].argsort(), i].reshape(-1, 400)
            got += float(near.var(1).mean()) / T
        assert got == pytest.approx(data.floor(False, True), abs=0.01), target
        assert data.floor(True, True) == 0
    assert SequenceTargets("mean", 4).floor(False, False) == 0.1875
    assert SequenceTargets("first", 4).floor(True, False) == 0.75


def test_distances_alone_do_not_tell_the_ends_apart() -> None:
    """ALiBi without a mask: the network is equivariant to reversal, the best such map is a mean of two."""
    network = bench.Network(4, True, "alibi", 2)
    for p in network.parameters():
        torch.nn.init.normal_(p, std=0.3, generator=torch.Generator().manual_seed(0))
    x = SequenceTargets("first", 4).draw(500, 0)[0]
    assert torch.allclose(network(x.flip(1)), network(x).flip(1), atol=1e-4)
    for target in bench.TARGETS:
        data = SequenceTargets(target, 4)
        x, y = data.draw(100_000, 3)
        best = (y + data.of(x.flip(1)).flip(1)) / 2
        assert float((best - y).square().mean()) == pytest.approx(data.floor(True, True, True), abs=0.01)


def test_floors_of_long_sequences() -> None:
    assert 0 < SequenceTargets("sort", 200).floor(False, True) < 0.05


def test_zero_scores_give_the_mean() -> None:
    """TF-O56: one layer of attention whose scores are 0, written down by hand, has no error."""
    network = bench.Network(4, True, "none", width=4)
    for p in network.parameters():
        torch.nn.init.zeros_(p)
    mixer = network.stack.blocks[0].mixer
    with torch.no_grad():
        network.read.weight[0], network.head.weight[0, 1] = 1.0, 1.0  # channel 0 is read, channel 1 is said
        names = dict(mixer.named_parameters())
        (name,) = [n for n, p in names.items() if p.shape == (12, 4)]
        names[name][8, 0] = 1.0  # value 0 is channel 0
        names["proj.weight"][1, 0] = 1.0
    assert bench.error(network, SequenceTargets("mean", 4)) < 1e-12


@pytest.mark.parametrize("seed", [0])
def test_networks_reach_their_floors(seed: int) -> None:
    """250 steps, this seed: at most .03 above the floor, and less than 5 % below it (4,000 sequences)."""
    for target, attention, positions in (
        ("mean", False, "none"), ("mean", True, "none"), ("first", True, "none"), ("first", True, "learned"),
    ):  # fmt: skip
        floor = SequenceTargets(target, bench.LENGTH).floor(attention, positions != "none")  # type: ignore[arg-type]
        got = bench.train(target, attention, positions, 1, seed, steps=250)  # type: ignore[arg-type]
        assert 0.95 * floor - 1e-9 <= got <= floor + 0.03, (target, attention, positions, got)


def test_the_bench_names_each_network_once() -> None:
    names = [name for name, *_ in bench.cases()]
    assert len(names) == len(set(names)) == 16 + 2 + 12
    rows = bench.measure(quick=True)
    assert "floor 0.1875" in rows[0].note and rows[0].ours > 0.15
