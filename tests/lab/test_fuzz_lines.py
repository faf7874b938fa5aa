"""Lines of the command changed at random: done, or one sentence and exit code 2; never a traceback.

Training itself is left out: what reaches it is accepted, and the optimizer of what is accepted makes a step.
"""

import contextlib
import functools
import io
from pathlib import Path
from typing import Any

import lightning as L
import pytest
import torch
import yaml
from hypothesis import given
from hypothesis import strategies as st

from lab.__main__ import main
from modules.base import Module
from tests.lab.test_fuzz_files import HOSTILE, RECIPE, SNIPPETS, flipped, places, put

pytestmark = pytest.mark.fuzz

OPTIONS = [
    *(f"--trainer.{name}" for name in (
        "max_epochs", "min_epochs", "max_steps", "max_time", "limit_train_batches", "limit_val_batches",
        "overfit_batches", "val_check_interval", "check_val_every_n_epoch", "accumulate_grad_batches",
        "gradient_clip_val", "gradient_clip_algorithm", "log_every_n_steps", "num_nodes",
        "devices",
        "precision", "accelerator", "enable_checkpointing", "barebones", "fast_dev_run", "callbacks",
        "profiler",
        "logger", "deterministic", "num_sanity_val_steps",
    )),
    *(f"--model.init_args.{name}" for name in (
        "hidden", "order", "degrees", "num_orders", "num_masks", "ensemble", "seed", "direct", "optimizer",
        "optimizer.class_path", "optimizer.init_args.lr", "optimizer.init_args.betas",
        "optimizer.init_args.weight_decay", "optimizer.init_args.eps", "lr_scheduler",
        "lr_scheduler.init_args.T_max", "lr_interval", "metrics", "event_shape",
    )),
    *(f"--data.init_args.{name}" for name in ("batch_size", "binarize", "image_size", "val_size")),
    "--model", "--model.class_path", "--model.init_args", "--data", "--data.class_path", "--trainer",
    "--config", "--monitor", "--mode", "--save_dtype", "--seeds", "--seed_everything", "--ckpt_path",
    "--preset", "--x",
]  # fmt: skip
KNOBS = ["--temperature", "--order", "--given", "--seed", "-n", "--length", "--top_k", "--y", "--help"]
VALUES = st.one_of(
    st.sampled_from([
        "", "-1", "0", "1", "2", "0.5", "-0.0", "1e9", "1e400", ".nan", ".inf", "-.inf", "9" * 20, "-1e20",
        "null", "true", "false", "x", "[]", "[0]", "[-1]", "[1,2]", "[2,2]", "{}", "[[[[1]]]]", "[" * 70,
        "{a: 1, a: 2}", "*a", "&a 1", "!!python/object/apply:os.system ['touch owned']", "os.system", "auto",
        "cpu", "random", "torch.optim.SGD", "torch.optim.Adam", "modules.base.Module", "subprocess.Popen",
        "{class_path: os.system, init_args: {command: touch owned}}", "/etc/passwd", "/", "💥",
        "/dev/null", "val/nll", "float16", "min", "gpu", "8", "16", "none", "threshold",
    ]),
    st.integers(-(10**20), 10**20).map(str),
    st.floats().map(str),
    st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=6),
)  # fmt: skip
FIT = st.tuples(st.sampled_from(["fit", "fit", "fit", "validate", "test", "predict"]), st.just("made-digits"))
SAMPLE = st.tuples(st.just("sample"), st.sampled_from(["made-digits", "bengio-verbs", "gcn-karate"]))
WORDS = (
    st.sampled_from(["fit", "list", "sample", "data", "--json", "made-digits", "-h", "gpt", "x", ""]) | VALUES
)


class Accepted(Exception):
    """Training would begin."""


@pytest.fixture(autouse=True)
def untrained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A training or test that begins is accepted; no file is made but what `sample` draws."""

    def begin(trainer: L.Trainer, *, model: Module, **kwargs: Any) -> None:
        result: Any = model.configure_optimizers()
        for parameter in model.parameters():
            parameter.grad = torch.zeros_like(parameter)
        (result["optimizer"] if isinstance(result, dict) else result).step()
        assert trainer.limit_train_batches > 0 and trainer.limit_val_batches > 0
        assert trainer.max_epochs in (None, -1) or trainer.max_epochs >= 1  # None is Lightning's own number
        raise Accepted

    def measure(trainer: L.Trainer, **kwargs: Any) -> None:
        raise Accepted

    # under the signatures of the methods themselves: the command reads its options there
    for name, stub in (("fit", begin), ("validate", measure), ("test", measure), ("predict", measure)):
        monkeypatch.setattr(L.Trainer, name, functools.wraps(getattr(L.Trainer, name))(stub))
    monkeypatch.chdir(tmp_path)
    yield
    assert not Path("owned").exists()


def judged(line: list[str], runs: Path) -> None:
    """Run one line: it is accepted, or refused as it must be."""
    errors = io.StringIO()
    try:
        with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
            code = main(line)
    except Accepted:
        return
    except SystemExit as leaving:  # --help
        assert not leaving.code
        return
    texts = [text for text in errors.getvalue().splitlines() if text.startswith("lab: ")]
    assert code in (0, 2), code
    assert len(texts) == (code == 2), errors.getvalue()
    assert all(5 < len(text) < 700 and "Traceback" not in text for text in texts)
    assert not list(runs.rglob("card.json"))


def options(names: list[str], most: int) -> st.SearchStrategy[list[str]]:
    """Some options, each with a value: as `--a=1` or as `--a 1`, with a value lost at times."""
    one = st.tuples(st.sampled_from(names), VALUES, st.sampled_from("== |"))
    written = one.map(
        lambda o: [f"{o[0]}={o[1]}"] if o[2] == "=" else [o[0], o[1]] if o[2] == " " else [o[0]]
    )
    return st.lists(written, min_size=1, max_size=most).map(
        lambda parts: [word for part in parts for word in part]
    )


@given(line=st.tuples(FIT, options(OPTIONS, 2)))
def test_trainings(line: tuple[tuple[str, ...], list[str]], own_runs: Path) -> None:
    judged([*line[0], *line[1]], own_runs)


@given(draw=st.data())
def test_recipes(tmp_path: Path, own_runs: Path, draw: st.DataObject) -> None:
    """One's own YAML, whole: its bytes changed, or one of its values."""
    if draw.draw(st.integers(0, 3)):
        recipe = yaml.safe_load(RECIPE)
        place = draw.draw(st.sampled_from(places(recipe)))
        text = yaml.safe_dump(put(recipe, place, draw.draw(HOSTILE | VALUES)), allow_unicode=True).encode()
    else:
        text = draw.draw(flipped(RECIPE))
        at = draw.draw(st.integers(0, len(text)))
        text = text[:at] + draw.draw(st.sampled_from([b"", *SNIPPETS])) + text[at:]
    (path := tmp_path / "own.yaml").write_bytes(text)
    judged(["fit", str(path)], own_runs)


@given(line=st.tuples(SAMPLE, options(KNOBS, 2)))
def test_samples(line: tuple[tuple[str, ...], list[str]], own_runs: Path) -> None:
    judged([*line[0], *line[1]], own_runs)


@given(line=st.lists(WORDS, max_size=4))
def test_words(line: list[str], own_runs: Path) -> None:
    judged(line if line[:1] not in (["app"], ["bench"], ["results"]) else [], own_runs)
