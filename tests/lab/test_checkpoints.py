"""Checkpoints, settings, seeds and locks: what a resumed run finds, and what it is refused."""

import csv
import errno
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import filelock
import pytest
import torch
import yaml

from lab import checkpoints, files
from lab.__main__ import main
from lab.checkpoints import SealedIO
from lab.errors import UserError
from lab.training import callbacks, cli
from lab.weights import load, read_checkpoint
from tests.lab.conftest import SMALL, complaint

RESUME = ["fit", "made-digits", "--ckpt_path=last"]


def run_of(runs: Path) -> Path:
    """The only run's folder."""
    (folder,) = (runs / "made-digits").iterdir()
    return folder


def card(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "card.json").read_text())


def rows(folder: Path) -> list[dict[str, str]]:
    with open(folder / "metrics.csv", newline="") as file:
        return list(csv.DictReader(file))


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file's bytes and time of change, but for the lock's."""
    return {
        str(p.relative_to(folder)): (p.read_bytes(), p.stat().st_mtime_ns)
        for p in folder.rglob("*")
        if p.is_file() and p.name != "lock"
    }


# --- The files -------------------------------------------------------------------------------------


def saved(path: Path, epoch: int) -> None:
    needed = {"pytorch-lightning_version": "2.6", "loops": {}, "global_step": epoch, "epoch": epoch}
    SealedIO().save_checkpoint({"state_dict": {"w": torch.full((3,), float(epoch))}, **needed}, path)


def epoch_of(path: Path) -> int:
    return read_checkpoint(path)["epoch"]


def test_nothing_goes_through_the_temporary_folder(own_runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(own_runs / "nowhere"))
    assert main(["fit", "made-digits", *SMALL]) == 0


def test_every_flipped_bit_and_every_cut_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "last.ckpt"
    saved(path, 0)
    saved(path, 1)
    whole = path.read_bytes()
    for i in range(len(whole)):
        path.write_bytes(whole[:i] + bytes([whole[i] ^ 1 << i % 8]) + whole[i + 1 :])
        assert files.is_damaged(path), i
    for length in range(0, len(whole) - 1, 7):
        path.write_bytes(whole[:length])
        with pytest.raises(UserError, match="cut short"):
            read_checkpoint(path)
    with pytest.raises(UserError, match=str(checkpoints.older(path))):  # the one that can be used
        read_checkpoint(path)
    assert epoch_of(checkpoints.older(path)) == 0


def test_a_damaged_checkpoint_is_refused_with_a_sentence(trained: Path, capsys: Any) -> None:
    path = trained / "checkpoints" / "last.ckpt"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)
    before = contents(trained)
    assert main([*RESUME, "--trainer.max_epochs=2"]) == 2
    sentence = complaint(capsys)
    assert "damaged" in sentence and str(trained / "checkpoints" / "best.ckpt") in sentence
    assert contents(trained) == before  # the card too: nothing was begun


@pytest.mark.parametrize("operation", ["fsync", "link", "replace", "unlink"])
def test_whatever_fails_in_a_save_leaves_the_last_good_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, operation: str
) -> None:
    path = tmp_path / "last.ckpt"
    for epoch in range(3):
        saved(path, epoch)
    before, function = {p.name: epoch_of(p) for p in tmp_path.iterdir()}, getattr(os, operation)
    assert before == {"last.ckpt": 2, "last-older.ckpt": 1}

    for error in (OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()):

        def fail(*args: Any, error: BaseException = error, **knobs: Any) -> None:
            monkeypatch.setattr(os, operation, function)
            raise error

        monkeypatch.setattr(os, operation, fail)
        try:
            saved(path, 3)
        except (UserError, KeyboardInterrupt):
            assert epoch_of(path) == 2
        else:
            assert operation == "link" and epoch_of(path) == 3  # kept as a copy where links are refused
            saved(path, 2)


def test_what_the_disk_did_not_keep_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, read = tmp_path / "last.ckpt", files.hashlib.file_digest
    saved(path, 1)

    def lossy(file: Any, name: str) -> Any:
        file.truncate(100)
        file.seek(0)
        return read(file, name)

    monkeypatch.setattr(files.hashlib, "file_digest", lossy)
    with pytest.raises(UserError, match="Cannot save"):
        saved(path, 2)
    assert epoch_of(path) == 1


def test_name_and_bytes_reach_the_disk_before_the_old_one_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done, fsync, replace = [], os.fsync, os.replace

    def watched_fsync(descriptor: int) -> None:
        done.append("folder" if os.path.isdir(f"/proc/self/fd/{descriptor}") else "file")
        fsync(descriptor)

    def watched_replace(*paths: Any) -> None:
        done.append("replace")
        replace(*paths)

    monkeypatch.setattr(os, "fsync", watched_fsync)
    monkeypatch.setattr(os, "replace", watched_replace)
    saved(tmp_path / "last.ckpt", 1)
    assert done == ["file", "replace", "folder"]


def test_the_best_epoch_is_the_one_that_the_last_knew(tmp_path: Path) -> None:
    """A kill between the two saves of an epoch leaves a newer best: where the epoch is then trained with
    other settings, its first version must not count."""
    last, best = tmp_path / "last.ckpt", tmp_path / "best.ckpt"
    for epoch in (0, 2):
        saved(best, epoch)
    saved(last, 1)
    checkpoints.restore_best(last, tmp_path)
    assert epoch_of(best) == 0
    saved(best, 2)
    saved(last, 2)
    checkpoints.restore_best(last, tmp_path)
    assert epoch_of(best) == 2
    checkpoints.restore_best(last, tmp_path / "elsewhere")
    assert epoch_of(tmp_path / "elsewhere" / "best.ckpt") == 2


# --- Runs that go on ---------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["last", "path"])
def test_a_run_that_was_moved_keeps_its_best_epoch(
    own_runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """`mode` max makes the first epoch the best, so that the best is not the last."""
    assert main(["fit", "made-digits", *SMALL, "--mode=max"]) == 0
    first = card(run_of(own_runs))
    moved = tmp_path / "moved"
    shutil.move(own_runs, moved)
    monkeypatch.setenv("LECTERN_RUNS", str(moved))
    origin = run_of(moved)
    last = "last" if how == "last" else str(origin / "checkpoints" / "last.ckpt")
    assert main(["fit", "made-digits", f"--ckpt_path={last}", "--trainer.max_epochs=3"]) == 0
    folder = origin if how == "last" else max((moved / "made-digits").iterdir())
    assert card(folder)["epochs"] == len(rows(folder)) == 3
    assert card(folder)["best"] == first["best"]
    assert float(rows(folder)[0]["val/nll"]) == first["best"]["value"] > float(rows(folder)[2]["val/nll"])
    assert card(folder)["sha256"] == first["sha256"]
    assert card(folder)["config"]["model"]["init_args"]["hidden"] == [8]  # its settings came along


def test_the_last_epoch_ships_where_it_is_asked_for(own_runs: Path) -> None:
    """`mode` max would make the first epoch the best; a run that goes on has a later last epoch."""
    assert main(["fit", "made-digits", *SMALL, "--mode=max", "--monitor=last"]) == 0
    for epochs in (1, 3):
        folder = run_of(own_runs)
        assert card(folder)["epochs"] == epochs
        assert card(folder)["best"] == {"monitor": "last", "value": None}
        checkpoint = read_checkpoint(folder / "checkpoints" / "last.ckpt")
        assert checkpoint["epoch"] == epochs - 1 and not (folder / "checkpoints" / "best.ckpt").exists()
        for name, tensor in load(folder).state_dict().items():
            torch.testing.assert_close(tensor, checkpoint["state_dict"][name], atol=1e-3, rtol=1e-3)
        assert main([*RESUME, "--trainer.max_epochs=3"]) == 0


def test_a_resumed_run_keeps_its_settings_and_names_the_new(trained: Path, capsys: Any) -> None:
    capsys.readouterr()
    assert main([*RESUME, "--trainer.max_epochs=2"]) == 0
    shown = capsys.readouterr().out
    assert "Goes on with trainer.max_epochs 2 instead of 1." in shown
    config = card(trained)["config"]
    assert config["model"]["init_args"]["hidden"] == [8] and config["data"]["init_args"]["batch_size"] == 64
    assert config["trainer"]["limit_train_batches"] == 2 and config["trainer"]["max_epochs"] == 2
    assert yaml.safe_load((trained / "config.yaml").read_text())["trainer"]["max_epochs"] == 2
    before = contents(trained)
    assert main(RESUME) == 0  # and again: there is nothing left to do, and nothing is touched
    shown = capsys.readouterr().out
    assert "is finished" in shown and "Goes on" not in shown
    assert contents(trained) == before


def test_a_run_has_no_card_while_it_goes_on(trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*args: Any) -> None:
        raise UserError("stopped")

    monkeypatch.setattr(callbacks.Record, "on_train_epoch_end", stopped)
    assert main([*RESUME, "--trainer.max_epochs=2"]) == 2
    assert not (trained / "card.json").exists()


def test_a_row_of_an_epoch_that_was_not_saved_is_written_anew(trained: Path) -> None:
    with open(trained / "metrics.csv", "a") as file:
        file.write("1,4,0,0,0,0\r\n")
    results = []

    class Look(callbacks.StopOnNaN):
        def on_train_batch_end(self, *args: Any) -> None:
            results.append(len(rows(trained)))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cli, "StopOnNaN", Look)
        assert main([*RESUME, "--trainer.max_epochs=2"]) == 0
    assert set(results) == {1} and len(rows(trained)) == 2


def test_a_run_is_locked_while_it_runs(trained: Path, capsys: Any) -> None:
    before = contents(trained)
    with filelock.FileLock(trained / "lock"):
        assert main([*RESUME, "--trainer.max_epochs=2"]) == 2
        assert "being trained by another process" in complaint(capsys)
        assert contents(trained) == before
    assert main([*RESUME, "--trainer.max_epochs=2"]) == 0
    with filelock.FileLock(trained / "lock", timeout=0):  # and free at its end
        pass


def test_the_lock_is_held_from_the_first_to_the_last_epoch(
    own_runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result, finish = [], cli.LabCLI.finish

    def locked(run: cli.LabCLI) -> None:
        with pytest.raises(filelock.Timeout):
            filelock.FileLock(run.run_folder / "lock").acquire(timeout=0)
        result.append(run.folder.name)
        finish(run)

    monkeypatch.setattr(cli.LabCLI, "finish", locked)
    assert main(["fit", "made-digits", *SMALL, "--seeds=2"]) == 0
    assert result == ["seed-0", "seed-1"]


# --- Several seeds -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def three_seeds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run of three seeds, to be copied."""
    runs = tmp_path_factory.mktemp("three")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LECTERN_RUNS", str(runs))
        assert main(["fit", "made-digits", *SMALL, "--seeds=3"]) == 0
    return run_of(runs)


def test_finished_seeds_are_left_alone(three_seeds: Path, own_runs: Path) -> None:
    """As after a kill while the last card was written."""
    folder = own_runs / "made-digits" / "run"
    shutil.copytree(three_seeds, folder)
    (folder / "card.json").unlink()
    (folder / "model.safetensors").write_bytes(b"half")
    seeds = [contents(folder / f"seed-{seed}") for seed in range(3)]
    assert main(RESUME) == 0
    assert [contents(folder / f"seed-{seed}") for seed in range(3)] == seeds
    for name in ("card.json", "model.safetensors"):
        assert (folder / name).read_bytes() == (three_seeds / name).read_bytes()


@pytest.mark.parametrize("seed", [0, 1])
def test_each_seed_goes_on_from_its_own_checkpoint(
    three_seeds: Path, own_runs: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Stopped in the second epoch of one seed, the end is that of an uninterrupted run of two epochs."""
    monkeypatch.setenv("LECTERN_RUNS", str(own_runs / "whole"))
    two = [*SMALL, "--trainer.max_epochs=2", "--seeds=2"]
    assert main(["fit", "made-digits", *two]) == 0
    monkeypatch.setenv("LECTERN_RUNS", str(own_runs / "stopped"))
    end: Callable = callbacks.Record.on_train_epoch_end

    def stopped(record: callbacks.Record, trainer: Any, model: Any) -> None:
        if record.path.parent.name == f"seed-{seed}" and trainer.current_epoch == 1:
            raise UserError("stopped")
        end(record, trainer, model)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(callbacks.Record, "on_train_epoch_end", stopped)
        assert main(["fit", "made-digits", *two]) == 2
    assert main(RESUME) == 0
    whole, resumed = run_of(own_runs / "whole"), run_of(own_runs / "stopped")
    for folder in (".", "seed-0", "seed-1"):
        a, b = card(whole / folder), card(resumed / folder)
        assert {**a, "minutes": 0} == {**b, "minutes": 0}
        pairs = zip(load(whole / folder).parameters(), load(resumed / folder).parameters(), strict=True)
        assert all(torch.equal(p, q) for p, q in pairs)


def test_one_more_seed_is_trained_and_the_rest_kept(three_seeds: Path, own_runs: Path, capsys: Any) -> None:
    folder = own_runs / "made-digits" / "run"
    shutil.copytree(three_seeds, folder)
    seeds = [contents(folder / f"seed-{seed}") for seed in range(3)]
    assert main([*RESUME, "--seeds=4"]) == 0
    assert "Goes on with seeds 4 instead of 3." in capsys.readouterr().out
    assert [contents(folder / f"seed-{seed}") for seed in range(3)] == seeds
    assert card(folder)["seeds"] == [0, 1, 2, 3] and len(card(folder)["std"]) == 2


def test_every_finished_seed_goes_on_where_more_epochs_are_asked_for(
    three_seeds: Path, own_runs: Path
) -> None:
    folder = own_runs / "made-digits" / "run"
    shutil.copytree(three_seeds, folder)
    assert main([*RESUME, "--trainer.max_epochs=2"]) == 0
    assert [card(folder / f"seed-{seed}")["epochs"] for seed in range(3)] == [2, 2, 2]


def test_several_seeds_refuse_one_checkpoint_for_all(trained: Path, capsys: Any) -> None:
    path = trained / "checkpoints" / "last.ckpt"
    assert main(["fit", "made-digits", f"--ckpt_path={path}", "--seeds=2"]) == 2
    assert "each from its own checkpoint" in complaint(capsys)


# --- What several processes cannot do, and what seeds an epoch ----------------------------------------


def test_counting_on_several_processes_is_refused(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    assert main(["fit", "ngram-pydocs", "--trainer.devices=2", "--trainer.accelerator=cpu"]) == 2
    assert "Counting is done by one process" in complaint(capsys)


def test_the_seed_of_an_epoch_is_numpys(monkeypatch: pytest.MonkeyPatch) -> None:
    """A number that stays, whatever Python's hash does; different for every seed, epoch and process."""
    drawn: list[int] = []
    monkeypatch.setattr(torch, "manual_seed", drawn.append)

    class Trainer:
        def __init__(self, epoch: int, rank: int) -> None:
            self.current_epoch, self.global_rank = epoch, rank

    for seed in range(4):
        for epoch in range(4):
            for rank in range(4):
                callbacks.EpochSeed(seed).on_train_epoch_start(Trainer(epoch, rank), None)  # type: ignore[arg-type]
    assert len(set(drawn)) == 64
    assert drawn[0] == 15793235383387715774


def test_an_evaluation_is_seeded_by_its_draw_and_training_by_its_epoch() -> None:
    """Whatever came before: two tests draw alike, and another draw of them otherwise; a validation within
    training leaves the generator to training."""
    seed, trainer = callbacks.EpochSeed(0), SimpleNamespace(global_rank=0, state=SimpleNamespace(fn="test"))

    def number(start: Callable[..., None], before: int, draw: int = 0) -> float:
        torch.manual_seed(before)
        seed.draw = draw
        start(trainer, None)
        return float(torch.rand(()))

    for start in (seed.on_validation_start, seed.on_test_start):
        assert number(start, 1) == number(start, 2) != number(start, 2, draw=1)
    trainer.state.fn = "fit"
    assert number(seed.on_validation_start, 1) != number(seed.on_validation_start, 2)
