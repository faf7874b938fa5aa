"""Benches over the networks of all seeds: votes, concepts of units, and where the networks come from."""

import shutil
from pathlib import Path

import pytest
import torch

from datamodules.textured_shapes import concepts
from lab import experiments, weights
from lab.bench import dissection, fitting, segmentation
from pages.convolution.unit import lens, networks
from pages.convolution.unit.dissection import table
from pages.convolution.unit.room import DISSECTION, SHARES


def test_a_vote_of_two_by_hand() -> None:
    truth = torch.tensor([[[0, 1, 1, 2]]])
    labels = torch.tensor([[[[0, 1, 1, 2]]], [[[0, 1, 2, 2]]]])
    found = {row.case.removeprefix("a: "): row for row in segmentation.rows("a", labels, truth)}
    assert found["mean IoU"].ours == pytest.approx((1 + (1 + 1 / 2 + 1 / 2) / 3) / 2)
    assert found["precision of cell in a vote"].ours == 1 and found["recall of cell in a vote"].ours == 0.5
    assert found["recall of border in a vote"].ours == 1
    assert found["precision of border in a vote"].note == "0.500 to 1.000 of 2 networks"
    nowhere = segmentation.rows("a", torch.zeros_like(labels), truth)
    assert [row.case for row in nowhere[1:]] == [
        f"a: recall of {name} in a vote" for name in ("cell", "border")
    ]


def test_the_shipped_network_has_the_iou_of_its_card() -> None:
    data = segmentation.Micrographs()
    data.setup("test")
    x, truth = data.test_set[torch.arange(120)]
    (labels,) = segmentation.told([weights.load("unet-cells")], x)
    card = experiments.read_card(experiments.ZOO / "unet-cells")
    assert segmentation.mean_iou(labels, truth) == pytest.approx(
        card["shipped"]["metrics"]["test/iou"], abs=1e-4
    )


def test_concepts_are_those_of_the_page() -> None:
    network = weights.load("cnn-textured")
    subject, shown = lens.subject(DISSECTION, network, network), networks.pictures()  # type: ignore[arg-type]
    at = SHARES.index(100 * dissection.SHARE)
    found = dissection.by_layer(network, shown.x, shown.concepts)  # type: ignore[arg-type]
    for layer, iou in enumerate(found, 1):
        torch.testing.assert_close(iou, table(subject, f"layer {layer}").iou[at])
    assert torch.equal(shown.concepts[:, :, 0, 0], concepts(shown.y, shown.concepts.any(0))[:, :, 0, 0])
    rows = {row.case: row.ours for row in dissection.rows([found, found])}
    assert rows["layer 1: units that a texture fits best"] == 1 and len(rows) == 16


def test_a_run_is_taken_if_one_has_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LECTERN_RUNS", str(tmp_path))
    folder = tmp_path / "cnn-textured" / "20260101-000000-000000"
    asked = []

    def ends(command: str, experiment: experiments.Experiment, args: list[str]) -> None:
        asked.append((command, experiment.name, args))
        for seed in range(3):
            shutil.copytree(experiments.ZOO / "cnn-textured", folder / f"seed-{seed}")
        shutil.copy(experiments.ZOO / "cnn-textured/card.json", folder)

    monkeypatch.setattr("lab.training.run.run", ends)
    for _ in range(2):
        assert len(fitting.all_seeds("cnn-textured")) == 3
    assert asked == [("fit", "cnn-textured", [])]
