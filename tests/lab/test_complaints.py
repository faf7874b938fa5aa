"""What does not fit together, of settings, data and model, is one sentence with exit code 2, in words of the
command that was typed."""

import re
import shlex
import sys
from pathlib import Path

import pytest

from lab import memory, settings
from lab.__main__ import main
from lab.errors import UserError
from lab.untrusted import MOST_TEXT
from tests.lab.conftest import SMALL, complaint

PARSERS_WORDS = (
    "Parser key", "class_path '", "Expected a", "<class", "typing.", "compute_fn", "NoneType", "Union",
    "Subtypes", "Traceback", "Got value", "Given value", "Errno", "codec",
)  # fmt: skip
FILES = {
    "six.csv": "a,b\n" + "1,2\n3,1\n" * 3,
    "constant.csv": "a,b\n" + "".join(f"{i % 7},1\n" for i in range(60)),
    "series.csv": "a,b\n" + "".join(f"{i % 7},{i % 5}\n" for i in range(60)),
    "holes.csv": "a,b\n" + "1,\n2,3\n3,4\n" * 20,
    "four.txt": "abcd",
}
TINY = ["--trainer.max_epochs=1", "--trainer.limit_train_batches=1", "--trainer.limit_val_batches=1"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text)
    Path("bytes.txt").write_bytes(bytes(range(256)) * 4)
    Path("loop").symlink_to("loop")
    return tmp_path


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("fit gmm --data.path six.csv", "at least 7 are needed"),
        ("fit gmm --data.path constant.csv", "'b' never changes"),
        ("fit hmm --data.path series.csv --data.length 1000", "set length to 8"),
        ("fit hmm --data.path holes.csv --data.missing refuse", "set missing to keep"),
        ("fit gmm --data.path ~nosuchuser/x", "home directory."),
        ("fit ngram-pydocs --data.corpus four.txt", "too few"),
        ("fit ngram-pydocs --data.corpus bytes.txt", "not UTF-8"),
        ("fit ngram-pydocs --data.corpus ~nosuchuser/x", "home directory."),
        ("fit ngram-pydocs --data.corpus no/such.txt", "path of a text file"),
        ("fit gpt-verbs-nosuch", "no experiment"),
        ("fit made-digits --trainer.val_check_interval 7", "is 7: it must be at most 1, the batches"),
        ("fit made-digits --trainer.max_time [1,2]", "write it as 00:01:30:00, the days first."),
        ("fit made-digits --trainer.profiler x", "profiler must be one of simple, advanced, pytorch, xla."),
        ("fit made-digits --trainer.gradient_clip_val 1e308", "it must be at least 0, and below 3e38."),
        (
            "fit made-digits --trainer.gradient_clip_val 1 --trainer.gradient_clip_algorithm x",
            "trainer.gradient_clip_algorithm is x: it must be value or norm.",
        ),
        ("fit gan-ring --trainer.gradient_clip_val 1", "trainer.gradient_clip_val is 1: leave it out"),
        ("fit gmm --trainer.accumulate_grad_batches 2", "accumulate_grad_batches is 2: leave it out"),
        ("bench server --minutes nan", "--minutes is nan: it must be from 0.01 to 1,440."),
        ("bench server --rest -1", "--rest is -1: it must be from 0 to 60."),
        ("bench server --processes 0", "--processes is 0: it must be from 1 to 64."),
        ("fit made-digits --ckpt_path loop", "There is no checkpoint loop: check the path."),
        ("test made-digits --ckpt_path loop", "There is no checkpoint loop: check the path."),
        ("fit made-digits --config=", ". cannot be read as YAML: Is a directory."),
        ("fit made-digits --config bytes.txt", "bytes.txt cannot be read as YAML: it is not UTF-8 text."),
        ("fit made-digits --trainer.callbacks EarlyStopping --trainer.callbacks.monitor=val/x", "'val/x'"),
        ("fit made-digits --trainer.callbacks ModelCheckpoint --trainer.callbacks.monitor=x", "'x'"),
        ("fit made-digits --data.binarize=none", "binarize the data"),
        ("fit made-digits --model.event_shape=[32]", "event_shape is [32], but [64] in Digits"),
        ("fit cnn-digits --model.num_classes=3", "num_classes is 3, but 10 in Digits"),
        ("fit cnn-digits --data datamodules.points.Points", "needs image_shape, which Points does not have"),
        ("fit made-digits --model.lr_scheduler torch.optim.lr_scheduler.ReduceLROnPlateau", "monitor"),
        ("fit made-digits --model.lr_scheduler ReduceLROnPlateau", "name one of them whole"),
        ("fit made-digits --model.nosuch 1", "model takes no nosuch"),
        ("fit made-digits --nosuch 1", "no option --nosuch"),
        ("fit made-digits --model.hidden x", "model.hidden is x: it must be a list"),
        ("fit made-digits --trainer.max_epochs x", "trainer.max_epochs is x: it must be a whole number."),
        ("fit made-digits --trainer.precision 9", "it must be 64, 32, 16, transformer-engine"),
        ("fit made-digits --model.optimizer x", "model.optimizer is x: it must name a class"),
        ("fit made-digits --model.optimizer.lr [0]", "model.optimizer.lr is [0]: it must be a number"),
        ("fit made-digits --trainer.callbacks EarlyStopping", "EarlyStopping needs monitor"),
        ("fit made-digits --trainer.callbacks LearningRateFinder", "learning rate finder"),
        ("fit made-digits --trainer.callbacks Timer", "what no file can keep"),
        ("fit made-digits --trainer.logger nope", "it must be a list, true or false or the name of a class"),
        ("fit made-digits --trainer.default_root_dir x", "kept in $LECTERN_RUNS"),
        ("fit made-digits --trainer.model_registry x", "beside their card"),
        ("fit made-digits --mode up", "mode is up: it must be min or max"),
        ("fit made-digits --preset " + "a" * 300, "no preset"),
        ("sample made-digits -n x", "x' is no whole number"),
        ("sample maf-moons --out six.csv/x.csv", "Cannot save six.csv/x.csv: "),
        ("sample made-digits --data.path x", "no option --data.path"),
        ("sample made-digits --temperature x", "temperature is x: it must be a number"),
        ("size hmm --path series.csv --length 1000", "set length to 8"),
        ("size hmm --path holes.csv --missing refuse", "set missing to keep"),
        ("size gmm --path ~nosuchuser/x", "home directory."),
        ("size gmm --path series.csv --missing x", "missing is 'x'"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_one_sentence(line: str, text: str, own_runs: Path, capsys) -> None:
    command, *words = shlex.split(line)
    assert main([command, *words, *(TINY if command == "fit" else [])]) == 2
    complained = complaint(capsys)
    assert text in complained
    assert not [word for word in PARSERS_WORDS if word in complained]
    assert not complained.endswith("..")
    advised = set(re.findall(r"--(\w+)\.", complained)) - set(re.findall(r"--(\w+)\.", line))
    assert not advised or command == "fit"
    assert not list(own_runs.rglob("card.json"))


def test_a_fault_of_ours_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what our modules and datamodules raise themselves is the user's to mend."""
    from modules.autoregressive.made import MADE

    for fault in (TypeError("ours"), KeyError("ours")):

        def step(self: MADE, batch: object, split: str, fault: Exception = fault) -> None:
            raise fault

        monkeypatch.setattr(MADE, "step", step)
        with pytest.raises(type(fault), match="ours"):
            main(["fit", "made-digits", *SMALL])
    with pytest.raises(ValueError, match="invalid literal"), settings.complaints():
        int("x")


def test_too_little_memory_is_said() -> None:
    for error in (MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried")):
        with pytest.raises(UserError, match="smaller batches"), settings.complaints():
            raise error
    with pytest.raises(UserError, match="smaller batches"), settings.constructors():
        raise MemoryError


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux bounds a process's memory")
def test_a_training_that_does_not_fit_is_not_killed(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    """All windows of an epoch at once are some GiB of attention; the machine is said to have 256 MiB."""
    monkeypatch.setattr(memory, "available", lambda: 2**28)
    assert main(["fit", "gpt-pydocs", "--trainer.accelerator=cpu", "--data.batch_size", "1000000000"]) == 2
    assert "too little memory: take smaller batches" in complaint(capsys)


def test_a_batch_that_is_cut_is_said_once(own_runs: Path, capsys) -> None:
    line = [*SMALL[:2], "--trainer.accelerator=cpu", "--data.batch_size=1000000000", "--seeds=2"]
    assert main(["fit", "made-digits", *line]) == 0
    text = capsys.readouterr().out
    assert text.count("batch_size is 1,000,000,000: a batch is all 1,297 examples of an epoch.") == 1
    assert main(["fit", "bengio-verbs", "--trainer.fast_dev_run=1"]) == 0
    assert "batch_size" not in capsys.readouterr().out  # the default is as many as there are


def test_sizes_may_be_said_as_the_data_have_them(monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["fit", "made-digits", *SMALL, "--model.event_shape=[64]"]) == 0


@pytest.mark.usefixtures("here")
def test_a_text_of_ones_own_may_be_longer_than_settings(own_runs: Path) -> None:
    Path("book.txt").write_text("the cat sat on the mat\n" * (MOST_TEXT // 20))
    assert Path("book.txt").stat().st_size > MOST_TEXT
    for key in ("--data.corpus", "--data.init_args.corpus"):
        assert main(["fit", "ngram-pydocs", key, "book.txt", *TINY]) == 0
    assert len(list(own_runs.rglob("card.json"))) == 2


def test_one_callback_needs_no_list_and_a_plateau_its_metric(own_runs: Path) -> None:
    plateau = "{class_path: lightning.pytorch.cli.ReduceLROnPlateau, init_args: {monitor: val/nll}}"
    line = ["--trainer.callbacks={class_path: EarlyStopping, init_args: {monitor: val/nll}}"]
    assert main(["fit", "made-digits", *SMALL, *line, f"--model.lr_scheduler={plateau}"]) == 0
    assert list(own_runs.rglob("card.json"))
