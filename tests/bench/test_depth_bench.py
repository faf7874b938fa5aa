"""Benches on MNIST-1D: their plans, a run twice, a block left out, what they say of known runs."""

from math import isnan, nan
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from lab.bench import depth, loss_surface, mnist1d, runs_file
from modules.convolution.residual_mlp import ResidualMLP


@pytest.mark.parametrize("bench", [depth, loss_surface, mnist1d])
def test_a_plan_names_each_training_once(bench, tmp_path: Path) -> None:
    runs = bench.plan()
    assert len(set(runs)) == len(runs) > 20
    assert runs_file.missing(runs, tmp_path / "none.jsonl", bench.Run) == runs


@pytest.mark.parametrize("recipe, network", [("text", "CNN"), ("text", "MLP"), ("data", "MLP")])
def test_a_training_is_repeated_to_the_same_weights(recipe, network) -> None:
    first, again = (mnist1d.train(recipe, network, False, 1, steps=60) for _ in range(2))
    assert (first.train, first.test) == (again.train, again.test)
    other = mnist1d.train(recipe, network, False, 2, steps=60)
    assert other.train != first.train


def test_sizes_are_those_of_the_text_and_of_the_benchmark() -> None:
    sizes = {
        (r, n): mnist1d.train(r, n, False, 0, steps=1).parameters
        for r in mnist1d.STEPS
        for n in ("CNN", "MLP")
    }
    assert sizes == {
        ("text", "CNN"): 2_050,
        ("text", "MLP"): 59_065,
        ("data", "CNN"): 5_210,
        ("data", "MLP"): 78_858,
    }


def test_an_epoch_shows_each_curve_once() -> None:
    seen: list[int] = []

    class Watch(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = torch.nn.Parameter(torch.zeros(10))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            seen.extend(int(row) for row in x[:, 0])
            return x * 0 + self.w

    model = Watch()
    x, y = torch.arange(4000.0)[:, None], torch.zeros(4000, dtype=torch.long)
    mnist1d.descend(model, torch.optim.SGD(model.parameters(), 0.1), x, y, seed=0, steps=80)
    assert sorted(seen[:4000]) == sorted(seen[4000:]) == list(range(4000))
    assert seen[:4000] != seen[4000:]


def test_the_test_curves_are_the_published_ones_and_shuffling_is_one_order_for_all() -> None:
    x, y, test_x, test_y = mnist1d.curves()
    mixed, same_y, *_ = mnist1d.curves(shuffled=True)
    assert x.shape == (4000, 1, 40) and test_x.shape == (1000, 1, 40) and y.bincount().sum() == 4000
    assert torch.equal(y, same_y) and len(test_y) == 1000
    columns = {tuple(column.tolist()) for column in x[:50, 0].T}
    assert columns == {tuple(column.tolist()) for column in mixed[:50, 0].T} and not torch.equal(x, mixed)


def test_a_deleted_block_leaves_the_others(seeds=(0, 1)) -> None:
    for seed in seeds:
        torch.manual_seed(seed)
        model = ResidualMLP(blocks=3, norm="none").eval()
        x = torch.randn(4, 1, 40)
        h = model.layers[1](x.flatten(1))
        for block in (1, 3):
            layer = model.layers[1 + block].branch[-1]
            h = h + F.linear(h.relu(), layer.weight, layer.bias)
        assert torch.allclose(depth.without_block(model, 2)(x), model.layers[-1](h), atol=1e-6)


def test_slices_are_repeated_and_told_by_network() -> None:
    first, again = (loss_surface.measured("skips, batch norm", 3, 1, 4, 2, 5) for _ in range(2))
    names = ("train", "loss", "curvature", "spread", "bends", "top")
    assert all(getattr(first, name) == getattr(again, name) for name in names)
    assert 0 <= first.bends <= 1 and first.loss < first.top and first.spread > 0
    runs = [
        loss_surface.Run("plain", 16, seed, 9, 0.1, "2026-11-30", 30.0, 0.5, 20.0 + seed, spread, 0.2, 1e4)
        for seed, spread in enumerate((7.0, 90.0, 8.0))
    ]
    (row,) = loss_surface.rows(runs)
    assert (row.case, row.ours) == ("plain: 16 blocks", 8.0)
    assert "7, 90, 8 by seed; curvature 21.0" in row.note and "not convex at 20" in row.note


def test_errors_that_are_no_number_stay_none() -> None:
    x, y = torch.zeros(3, 2), torch.zeros(3, dtype=torch.long)
    assert isnan(mnist1d.error(lambda x: x * nan, x, y)) and mnist1d.error(lambda x: x, x, y) == 0
    runs = [depth.Run("skips", 48, seed, 9, 0.1, "2026-11-30", nan, nan, [nan, nan]) for seed in range(2)]
    runs += [
        depth.Run("plain", 48, seed, 9, 0.1, "2026-11-30", 50.0, 60.0 + seed, [90.0, 70.0])
        for seed in range(2)
    ]
    lost, plain = depth.rows(runs)
    assert (lost.ours, lost.unit) == (2, "of 2 seeds end without a number") and "one block" not in lost.note
    assert plain.ours == 60.5 and "without one block 70 to 90, the first 90" in plain.note


def test_runs_are_kept_and_told_by_recipe_order_and_network(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    for shuffled, test in ((True, 44.0), (False, 6.0)):
        runs_file.append(mnist1d.Run("data", "CNN", shuffled, 0, 9, 5210, 0.1, "2026-11-30", 0.0, test), path)
    assert len(runs_file.missing(mnist1d.plan(), path, mnist1d.Run)) == len(mnist1d.plan()) - 2
    rows = mnist1d.rows(runs_file.read(path, mnist1d.Run))
    assert [(row.case, row.ours) for row in rows] == [
        ("the data's recipe, in order: CNN", 6.0),
        ("the data's recipe, shuffled: CNN", 44.0),
    ]
