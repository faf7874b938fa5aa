"""Benches of a block's parts and of pre-training: what their runs say, and that a run can be repeated."""

import statistics
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from lab.bench import blocks, pretraining, runs_file


def nats(setting: str) -> list[float]:
    """Of the seeds, in their order."""
    return [run.nats for run in blocks.kept() if run.setting == setting]


def test_every_setting_has_its_seeds() -> None:
    assert blocks.missing() == [] and pretraining.missing() == []
    names = [row.case for row in blocks.rows(blocks.kept())]
    assert names == list(blocks.SETTINGS) and len(pretraining.rows(pretraining.kept())) == 18


def test_parts_of_a_block() -> None:
    """Of each of three seeds: what is asserted here is what the table says."""
    plain = nats(blocks.PLAIN)
    for without in ("learned weights of places", "fixed weights of places", "nothing mixed"):
        assert all(a > b + 0.2 for a, b in zip(nats(without), plain, strict=True)), without
    learned, fixed, none = (
        statistics.mean(nats(kind))
        for kind in ("learned weights of places", "fixed weights of places", "nothing mixed")
    )
    assert learned < fixed < none
    skips = zip(nats("8 blocks without skips"), nats("8 blocks"), strict=True)
    assert all(a > b + 0.5 for a, b in skips)


def test_sizes_are_equal_where_they_are_compared() -> None:
    sizes = {run.setting: run.parameters for run in blocks.kept()}
    plain = sizes[blocks.PLAIN]
    for setting in ("ReLU", "SwiGLU", "RMSNorm", "one head", "scores without 1/√D"):
        assert abs(sizes[setting] - plain) <= 0.005 * plain, setting


def test_pre_training_helps_where_labels_are_few() -> None:
    found = {(r.task, r.labels, r.start, r.seed): r.acc for r in pretraining.kept()}
    for seed in pretraining.SEEDS:
        for task, least in (("reviews", 0.05), ("names", 0.02)):
            gain = found[task, 50, "bert-gazette", seed] - found[task, 50, "random weights", seed]
            assert gain > least, (task, seed, gain)


TRAININGS: list[Callable[[], blocks.Run | pretraining.Run]] = [
    lambda: blocks.train("ReLU", 1, steps=2),
    lambda: pretraining.train("names", "bert-gazette", 50, 1, steps=2),
]


@pytest.mark.parametrize("train", TRAININGS)
def test_a_run_repeats_itself_and_leaves_the_global_generator(
    train: Callable[[], blocks.Run | pretraining.Run], tmp_path: Path
) -> None:
    before = torch.get_rng_state()
    one, other = train(), train()
    assert torch.equal(torch.get_rng_state(), before)
    result = {"seconds": None}
    assert vars(one) | result == vars(other) | result
    runs_file.append(one, tmp_path / "runs.jsonl")
    runs_file.append(other, tmp_path / "runs.jsonl")
    assert runs_file.read(tmp_path / "runs.jsonl", type(one)) == [one, other]
    assert runs_file.read(tmp_path / "none.jsonl", type(one)) == []
