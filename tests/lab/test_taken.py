"""Which weights, data and classes a command takes: one's own run first, as it was trained, and it says so."""

import csv
import json
from pathlib import Path

import pytest
import torch
import yaml

from datamodules.digits import Digits
from lab import experiments
from lab.__main__ import main
from tests.lab.conftest import SMALL, complaint

OWN = """
from modules.latent.mixture import GaussianMixture


class Own(GaussianMixture):
    pass
"""


@pytest.mark.parametrize("command", ["test", "validate", "predict"])
def test_what_ships_is_taken_where_nothing_was_trained(command: str, capsys) -> None:
    assert main([command, "made-digits"]) == 0
    text = capsys.readouterr().out
    assert "made-digits (shipped). Data: Digits, binarize threshold." in text


def test_ones_own_run_is_taken_first_with_its_settings(trained: Path, capsys) -> None:
    """It has another width than the recipe."""
    capsys.readouterr()
    for line in (["test", "made-digits"], ["sample", "made-digits", "-n", "2", "--out", f"{trained}/x.png"]):
        assert main(line) == 0
        text = "".join(capsys.readouterr())
        assert f"Weights: {trained}. Data: Digits" in text
    assert main(["test", "made-digits", "--model.hidden=[9]"]) == 2
    assert "does not match" in complaint(capsys)


@pytest.mark.parametrize("command", ["test", "validate"])
def test_the_last_epoch_that_is_kept_is_measured(command: str, trained: Path, capsys) -> None:
    last = trained / "checkpoints" / "last.ckpt"
    assert main([command, "made-digits", "--ckpt_path", "last"]) == 0
    assert f"Weights: {last}" in capsys.readouterr().out
    last.rename(last.with_name("last-older.ckpt"))
    assert main([command, "made-digits", "--ckpt_path", "last"]) == 0
    assert f"Weights: {last.with_name('last-older.ckpt')}" in capsys.readouterr().out
    last.with_name("last-older.ckpt").unlink()
    (last.with_name("best-older.ckpt")).touch()
    assert main([command, "made-digits", "--ckpt_path", "last"]) == 2
    assert "best.ckpt is there: say --ckpt_path" in complaint(capsys)


def test_a_run_of_an_own_file_goes_on_from_another_folder(
    tmp_path: Path, monkeypatch, own_runs: Path
) -> None:
    """Its table was named beside it."""
    (there := tmp_path / "there").mkdir()
    (elsewhere := tmp_path / "elsewhere").mkdir()
    (there / "my.csv").write_text("a,b\n" + "".join(f"{i % 7},{i % 5}\n" for i in range(60)))
    recipe = {name: dict(experiments.find("gmm").config[name]) for name in ("model", "data")}
    recipe["data"]["init_args"] = {"path": "my.csv"}
    (there / "own.yaml").write_text(yaml.safe_dump(recipe))
    monkeypatch.chdir(there)
    assert main(["fit", "own.yaml", "--trainer.max_epochs=1"]) == 0
    monkeypatch.chdir(elsewhere)
    for line in (
        ["fit", "--ckpt_path=last", "--trainer.max_epochs=2"],
        ["test"],
        ["test", "--ckpt_path=last"],
    ):
        assert main([line[0], str(there / "own.yaml"), *line[1:]]) == 0
    rows = next(own_runs.glob("own/*/metrics.csv")).read_text().splitlines()
    assert len(rows) == 3


def test_batches_are_overfitted(own_runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same two in each of three epochs."""
    from modules.autoregressive.made import MADE

    results: list[torch.Tensor] = []
    step = MADE.training_step
    monkeypatch.setattr(
        MADE, "training_step", lambda self, batch, i: results.append(batch[0]) or step(self, batch, i)
    )
    line = [option for option in SMALL if "limit_train" not in option and "epochs" not in option]
    assert main(["fit", "made-digits", *line, "--trainer.overfit_batches=2", "--trainer.max_epochs=3"]) == 0
    assert len(results) == 6
    assert all(torch.equal(a, b) for a, b in zip(results, results[2:] + results[:2], strict=True))
    assert not torch.equal(results[0], results[1])
    assert not Digits.in_order


def test_classes_of_a_trusted_file_are_sampled_and_sized(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own_net.py").write_text(OWN)
    recipe = {name: dict(experiments.find("gmm").config[name]) for name in ("model", "data")}
    recipe["model"]["class_path"] = "own_net.Own"
    Path("own.yaml").write_text(yaml.safe_dump(recipe))
    commands = [
        ["fit", "own.yaml", "--trainer.max_epochs=1"], ["test", "own.yaml"],
        ["sample", "own.yaml", "-n", "2"],
        ["size", "own.yaml", "--most", "2", "--steps", "2"],
    ]  # fmt: skip
    for line in commands:
        trusting = [*line, "--trust", "own_net.py"]
        if line[0] in ("fit", "size"):
            assert main(line) == 2
            assert "nothing was run" in complaint(capsys)
        assert main(trusting) == 0, line
        if line[0] == "test":
            assert main(line) == 2
            assert "nothing was run" in complaint(capsys)


@pytest.mark.parametrize("command", ["fit made-digits", "sample", "size"])
def test_trust_is_in_the_help(command: str, capsys) -> None:
    with pytest.raises(SystemExit):
        main([*command.split(), "--help"])
    assert "--trust" in capsys.readouterr().out


def test_rows_of_a_table_are_drawn_in_its_units(tmp_path: Path, capsys) -> None:
    """Petals of irises are shorter than their sepals."""
    assert main(["sample", "fa", "-n", "500", "--out", f"{tmp_path}/x.csv"]) == 0
    names, *rows = csv.reader((tmp_path / "x.csv").read_text().splitlines())
    assert names[0] == "sepal length (cm)" and len(rows) == 500
    drawn = torch.tensor([[float(cell) for cell in row] for row in rows])
    card = json.loads((experiments.ZOO / "fa" / "card.json").read_text())
    assert (drawn.mean(0) - torch.tensor(card["data"]["mean"])).abs().max() < 0.5
    assert (drawn.std(0) / torch.tensor(card["data"]["deviation"]) - 1).abs().max() < 0.2
    assert main(["sample", "fa", "--out", f"{tmp_path}/x.png"]) == 2
    assert "name it .csv" in complaint(capsys)


def shipped() -> list[str]:
    return sorted(folder.name for folder in experiments.ZOO.iterdir() if (folder / "card.json").is_file())


@pytest.mark.parametrize(
    "names",
    [["vqvae-digits", "ddpm-variance-eight", "hmm"], pytest.param(shipped(), marks=pytest.mark.heavy)],
    ids=["few", "all"],
)  # fmt: skip
def test_what_ships_is_sampled_or_refused(names: list[str], tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    for name in names:
        code = main(["sample", name, "-n", "2"])
        out, err = capsys.readouterr()
        assert f"{name} (shipped)" in err
        if code:
            assert code == 2 and "which does not generate" in err, err
        else:
            assert out, name
