"""Options of the trainer that `--help` offers work, or are refused before training."""

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Optional, Union

import lightning as L
import pytest
import torch
from jsonargparse import ArgumentParser

from lab.__main__ import main
from lab.training import cli
from tests.lab.conftest import SMALL, complaint

Seen = Callable[[L.Trainer, Path, str], Any]  # of trainer, folder of the run and what was printed: it worked


def holds(**attributes: Any) -> Seen:
    return lambda trainer, folder, text: all(getattr(trainer, k) == v for k, v in attributes.items())


def epochs(number: int) -> Seen:
    return lambda trainer, folder, text: len((folder / "metrics.csv").read_text().splitlines()) == number + 1


# Of each option of the trainer another value, and by what one sees that it works, or what refuses it. Two
# batches are an epoch, and one epoch is the end.
OPTIONS: dict[str, list[tuple[str, Seen | str]]] = {
    "accelerator": [("cpu", lambda t, *_: type(t.accelerator).__name__ == "CPUAccelerator")],
    "strategy": [("auto", lambda t, *_: type(t.strategy).__name__ == "SingleDeviceStrategy")],
    "devices": [("1", holds(num_devices=1)), ("9999", "set --trainer.devices to at most")],
    "num_nodes": [("1", holds(num_nodes=1)), ("0", "it must be at least 1")],
    "precision": [("64-true", lambda t, *_: t.model.dtype == torch.float64)],
    "logger": [("false", lambda t, *_: not t.loggers)],
    "callbacks": [("RichModelSummary", lambda t, f, text: "Trainable params" in text)],
    "fast_dev_run": [("1", lambda t, folder, _: t.global_step == 1 and not list(folder.rglob("*.*")))],
    "max_epochs": [("2", epochs(2)), ("0", "train at least 1")],
    "min_epochs": [("3", holds(min_epochs=3)), ("0", "at least 1")],
    "max_steps": [("1", holds(global_step=1)), ("0", "train at least 1")],
    "min_steps": [("2", holds(min_steps=2)), ("0", "at least 1")],
    "max_time": [("00:00:01:00", epochs(1))],
    "limit_train_batches": [("3", holds(global_step=3)), ("0", "a share above 0")],
    "limit_val_batches": [("1", lambda t, *_: t.num_val_batches == [1]), ("0", "a share above 0")],
    "limit_test_batches": [("1", lambda t, *_: t.num_test_batches == [1]), ("0", "a share above 0")],
    "limit_predict_batches": [("1", holds(limit_predict_batches=1)), ("0", "a share above 0")],
    "overfit_batches": [("1", holds(global_step=1)), ("-1", "it must be 0")],
    "val_check_interval": [("1", holds(val_check_batch=1)), ("0", "a share above 0")],
    "check_val_every_n_epoch": [("1", epochs(1)), ("0", "at least 1")],
    "num_sanity_val_steps": [("1", holds(num_sanity_val_steps=1)), ("-2", "at least -1")],
    "log_every_n_steps": [("1", holds(log_every_n_steps=1)), ("-1", "at least 0")],
    "enable_checkpointing": [("true", lambda t, f, _: (f / "checkpoints" / "last.ckpt").is_file()),
                             ("false", "leave checkpointing enabled")],
    "enable_progress_bar": [("true", lambda t, f, text: "Testing" in text),
                            ("false", lambda t, f, text: "Testing" not in text)],
    "enable_model_summary": [("true", lambda t, f, text: "Trainable params" in text)],
    "accumulate_grad_batches": [("2", holds(global_step=1)), ("0", "at least 1")],
    "gradient_clip_val": [("0.5", holds(gradient_clip_val=0.5)), ("-1", "at least 0")],
    "gradient_clip_algorithm": [("norm", "set --trainer.gradient_clip_val too")],
    "deterministic": [("true", lambda *_: torch.are_deterministic_algorithms_enabled())],
    "benchmark": [("true", lambda *_: torch.backends.cudnn.benchmark)],
    "inference_mode": [("false", lambda t, *_: not t.test_loop.inference_mode)],
    "use_distributed_sampler": [("true", "leave it out, the data share"),
                                ("false", epochs(1))],
    "profiler": [("simple", lambda t, f, text: "run_training_epoch" in text)],
    "detect_anomaly": [("true", holds(_detect_anomaly=True))],
    "barebones": [("true", "leave checkpointing enabled")],
    "plugins": [("DoublePrecision", lambda t, *_: t.model.dtype == torch.float64),
                ("AsyncCheckpointIO", "multiple values for CheckpointIO")],
    "sync_batchnorm": [("true", epochs(1))],
    "reload_dataloaders_every_n_epochs": [("1", holds(reload_dataloaders_every_n_epochs=1)),
                                          ("-1", "at least 0")],
    "default_root_dir": [("x", "$LECTERN_RUNS")],
    "enable_autolog_hparams": [("false", holds(enable_autolog_hparams=False))],
    "model_registry": [("x", "beside their card")],
}  # fmt: skip
REFUSED = [
    (name, value, row) for name, rows in OPTIONS.items() for value, row in rows if isinstance(row, str)
]
WORKING = [(name, value, row) for name, rows in OPTIONS.items() for value, row in rows if callable(row)]


def test_every_option_has_a_row() -> None:
    assert list(OPTIONS) == list(inspect.signature(L.Trainer.__init__).parameters)[1:]


@pytest.mark.parametrize(("name", "value", "text"), REFUSED, ids=[f"{n}={v}" for n, v, _ in REFUSED])
def test_an_option_that_can_do_nothing_is_refused(
    name: str, value: str, text: str, own_runs: Path, capsys
) -> None:
    assert main(["fit", "made-digits", *SMALL, f"--trainer.{name}={value}"]) == 2
    assert text in complaint(capsys) and not list(own_runs.rglob("*.csv"))


@pytest.mark.heavy
@pytest.mark.parametrize(("name", "value", "seen"), WORKING, ids=[f"{n}={v}" for n, v, _ in WORKING])
def test_an_option_does_what_it_says(name: str, value: str, seen: Seen, monkeypatch, capfd, caplog) -> None:
    fit = cli.LabCLI.fit
    results: list[bool] = []

    def watched(run: cli.LabCLI, *args: Any, **kwargs: Any) -> None:
        fit(run, *args, **kwargs)
        results.append(bool(seen(run.trainer, run.folder, "".join(capfd.readouterr()) + caplog.text)))

    monkeypatch.setattr(cli.LabCLI, "fit", watched)
    assert main(["fit", "made-digits", *SMALL, "--trainer.accelerator=cpu", f"--trainer.{name}={value}"]) == 0
    assert results == [True]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("fit made-digits --weights_only=false", "is never run"),
        ("test made-digits --ckpt_path=a/checkpoints/last.ckpt --weights_only=false", "is never run"),
        ("predict made-digits --return_predictions=false", "predictions.csv"),
        ("test made-digits --seeds=2", "leave --seeds out"),
        ("validate made-digits --monitor=last", "leave --monitor out"),
    ],
)
def test_what_a_command_does_not_read_is_refused(line: str, text: str, capsys) -> None:
    assert main(line.split()) == 2
    assert text in complaint(capsys)


def test_a_run_that_kept_the_sampler_of_others_goes_on(trained: Path, capsys) -> None:
    """It meant nothing, and runs have it in their settings."""
    kept = trained / "config.yaml"
    assert "use_distributed_sampler: false" in kept.read_text()
    kept.write_text(
        kept.read_text().replace("use_distributed_sampler: false", "use_distributed_sampler: true")
    )
    for command in (["fit", "--ckpt_path=last", "--trainer.max_epochs=2"], ["test"]):
        assert main([command[0], "made-digits", *command[1:]]) == 0
    assert len((trained / "metrics.csv").read_text().splitlines()) == 3


@pytest.mark.parametrize("precision", ["bf16-mixed", "32-true"])
def test_a_fused_optimizer_is_clipped_in_mixed_precision(precision: str, own_runs: Path) -> None:
    """What --preset gpu does, on the CPU."""
    line = ["--model.init_args.optimizer.init_args.fused=true", "--trainer.gradient_clip_val=1"]
    assert main(["fit", "made-digits", *SMALL, *line, f"--trainer.precision={precision}"]) == 0
    assert list(own_runs.rglob("card.json"))


@pytest.mark.parametrize("name", ["CSVLogger", "TensorBoardLogger"])
def test_a_logger_is_chosen_by_its_name(name: str, own_runs: Path) -> None:
    if name == "TensorBoardLogger":
        pytest.importorskip("tensorboard")
    assert main(["fit", "made-digits", *SMALL, "--trainer.logger", name]) == 0
    folder = next(own_runs.rglob("card.json")).parent
    assert list(folder.glob("lightning_logs/version_0/*"))


def test_seeds_without_a_best_value_end_in_a_card(own_runs: Path) -> None:
    assert main(["fit", "made-digits", *SMALL, "--seeds=2", "--monitor=last"]) == 0
    card = json.loads(next(own_runs.glob("made-digits/*/card.json")).read_text())
    assert card["seeds"] == [0, 1] and card["shipped"]["seed"] == 0


@pytest.mark.parametrize("command", ["sample", "test", "fit", "size"])
def test_a_name_longer_than_a_path_is_no_experiment(command: str, capsys) -> None:
    assert main([command, "a" * 300]) == 2
    assert "no experiment" in complaint(capsys)


def test_one_batch_is_not_all_of_them_whatever_was_imported_before() -> None:
    """Lightning says `Optional[Union[int, float]]`, which `typing` gives the order that came first."""

    def options(batches: Optional[Union[float, int]] = None, name: str | None = None) -> None:  # noqa: UP007, UP045
        pass

    cli.put_int_first(options)
    parser = ArgumentParser()
    parser.add_function_arguments(options)
    assert [type(parser.parse_args([f"--batches={text}"]).batches) for text in ("1", "1.0")] == [int, float]
    assert options.__annotations__["name"] == (str | None)
