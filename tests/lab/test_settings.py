"""Settings that no training can have get one sentence before anything is trained or written."""

import functools
from pathlib import Path

import lightning as L
import pytest
import yaml

from lab.__main__ import main
from lab.experiments import find
from lab.training import cli
from tests.lab.conftest import SMALL, complaint

OPTIMIZER = "--model.init_args.optimizer.init_args"
SCHEDULE = "--model.init_args.lr_scheduler.init_args"


@pytest.fixture
def untrained(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fit that begins is a setting that was not judged."""
    monkeypatch.setattr(L.Trainer, "fit", lambda *args, **kwargs: pytest.fail("training began"))


@pytest.mark.parametrize(
    ("option", "text"),
    [
        (f"{OPTIMIZER}.lr=-1", "learning rate"),
        (f"{OPTIMIZER}.lr=.nan", "learning rate"),
        (f"{OPTIMIZER}.betas=[2,2]", "beta"),
        (f"{OPTIMIZER}.weight_decay=-1", "weight_decay"),
        (f"{SCHEDULE}.T_max=0", "cannot take a step"),
        ("--trainer.limit_train_batches=-1", "limit_train_batches is -1"),
        ("--trainer.limit_train_batches=0", "limit_train_batches is 0"),
        ("--trainer.limit_val_batches=0.0", "limit_val_batches is 0"),
        ("--trainer.limit_test_batches=1.5", "limit_test_batches is 1.5"),
        ("--trainer.overfit_batches=-1", "overfit_batches is -1"),
        ("--trainer.val_check_interval=0", "val_check_interval is 0"),
        ("--trainer.check_val_every_n_epoch=0", "check_val_every_n_epoch is 0"),
        ("--trainer.accumulate_grad_batches=0", "accumulate_grad_batches is 0"),
        ("--trainer.gradient_clip_val=-1", "gradient_clip_val is -1"),
        ("--trainer.gradient_clip_val=.inf", "gradient_clip_val is inf"),
        ("--trainer.log_every_n_steps=-1", "log_every_n_steps is -1"),
        ("--trainer.fast_dev_run=-1", "fast_dev_run is -1"),
        ("--trainer.max_epochs=-2", "max_epochs is -2"),
        ("--trainer.max_epochs=0", "max_epochs is 0"),
        ("--trainer.max_epochs=-1", "never ends"),
        ("--trainer.max_steps=0", "max_steps is 0"),
        ("--trainer.max_time=x", "the days first"),
        ("--trainer.enable_checkpointing=false", "checkpoint"),
        ("--trainer.barebones=true", "checkpoint"),
        ("--trainer.devices=x", "devices"),
        ("--trainer.devices=0", "devices"),
        ("--trainer.profiler=x", "profiler"),
        ("--mode=up", "min"),
        ("--monitor=val/nothing", "monitor"),
        ("--monitor=null", "monitor"),
        ("--save_dtype=int8", "float16"),
        ("--seeds=0", "seeds"),
        ("--seed_everything=-1", "seed_everything is -1"),
        ("--seed_everything=false", "seed_everything is False"),
        ("--seed_everything=99999999999999999999", "seed_everything"),
        ("--ckpt_path=", "ckpt_path is empty"),
        ("--model.init_args=[1]", "model"),
        ("--model.init_args.hidden=" + "[" * 3000 + "]" * 3000, "nested"),
        ("--model.init_args.hidden=[&a 8,*a]", "alias"),
        ("--config=/etc/passwd", "settings"),
        ("--config=/dev/zero", "a pipe or a device"),
        ("--trainer=/dev/zero", "no file of settings"),
    ],
)
@pytest.mark.usefixtures("untrained")
def test_a_setting_out_of_range_is_refused(option: str, text: str, own_runs: Path, capsys) -> None:
    assert main(["fit", "made-digits", option]) == 2
    assert text in complaint(capsys)
    assert not list(own_runs.rglob("*.*"))


@pytest.mark.parametrize("trainer", [None, 3])
@pytest.mark.usefixtures("untrained")
def test_a_trainer_without_options_is_refused(trainer: int | None, tmp_path: Path, capsys) -> None:
    recipe = {name: find("made-digits").config[name] for name in ("model", "data")}
    (path := tmp_path / "own.yaml").write_text(yaml.safe_dump({**recipe, "trainer": trainer}))
    assert main(["fit", str(path)]) == 2
    assert f"trainer is {trainer}" in complaint(capsys)


def test_seeds_beyond_the_largest_are_counted(untrained: None, capsys) -> None:
    assert main(["fit", "made-digits", "--seeds=3", f"--seed_everything={2**32 - 2}"]) == 2
    assert f"from 0 to {2**32 - 3}" in complaint(capsys)


def test_a_rate_of_a_thousand_million_ends_by_its_loss(own_runs: Path, capsys) -> None:
    small = [option for option in SMALL if "limit_train" not in option]
    assert main(["fit", "made-digits", *small, f"{OPTIMIZER}.lr=1e9"]) == 2
    assert "lower the learning rate" in complaint(capsys)
    assert not list(own_runs.rglob("card.json"))


def test_the_parser_is_made_once_and_forgets_what_it_read(monkeypatch: pytest.MonkeyPatch) -> None:
    lightning_modules: list[L.LightningModule] = []
    stub = functools.wraps(L.Trainer.fit)(lambda trainer, *, model, **kwargs: lightning_modules.append(model))
    monkeypatch.setattr(L.Trainer, "fit", stub)
    line = ["fit", "made-digits", "--trainer.fast_dev_run=true"]
    assert main([*line, "--model.init_args.hidden=[3]", f"{OPTIMIZER}.lr=0.5"]) == 0
    parsers = dict(cli.PARSERS)
    assert main(line) == 0
    assert parsers == cli.PARSERS
    assert [model.hparams["hidden"] for model in lightning_modules] == [[3], [500]]  # type: ignore[attr-defined]
    rates = [model.optimizer(model.parameters()).defaults["lr"] for model in lightning_modules]  # type: ignore[attr-defined, operator]
    assert rates == [0.5, 0.005]
