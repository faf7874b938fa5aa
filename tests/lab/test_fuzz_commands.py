"""Lines of every command changed at random and run to their end: done, or one sentence and exit code 2, and
nothing is written but runs and what was asked for.

A training takes one batch of each kind. What must not run here, other processes and real servers, is left to
test_fuzz_lines and test_hall.
"""

import contextlib
import io
import os
import resource
import shutil
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import lightning as L
import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datamodules import fetch
from datamodules.base import DataModule
from lab import lecture, proxy, sizes, untrusted
from lab.__main__ import main
from lab.experiments import FAMILIES, catalog, find
from lab.ui.server import serve
from modules.base import Module
from tests.lab.test_complaints import FILES, PARSERS_WORDS
from tests.lab.test_fuzz_lines import VALUES as STRANGE

pytestmark = pytest.mark.fuzz
LINES = {50: 40, 100: 60, 10_000: 10_000}[settings().max_examples]

WORDS = [
    *PARSERS_WORDS, "jsonargparse", "Namespace", "object has no", "KeyError", "TypeError", "ValueError",
    "Error(", "positional argument", "keyword argument", "not subscriptable", "not iterable", "Errno",
    "dtype", "<function", "<built-in", "0x", "self.",
]  # fmt: skip
# Cheap to fit: one of every kind of model and of data.
TRAINED = [
    "chain-digits", "gaussianchain-signals", "joint-xor", "fvsbn-digits", "made-digits", "nade32-digits",
    "rnade-moons-k1", "net-bars", "table-bars", "ngram-verbs", "ngram-classes", "svd-relations",
    "skipgram-senses", "cnn-mnist1d", "mlp-mnist1d", "gcn-karate", "gmm", "gmm-rings", "kmeans-digits",
    "pca-digits", "ppca-digits", "fa", "gtm-moons", "vae-digits", "dae-digits", "iwae-digits", "beta4-digits",
    "nice-moons", "realnvp-moons", "maf-moons", "planar-moons", "spline-eight", "linear-moons", "gan-ring",
    "wgan-gp-ring", "fm-eight", "ssm-eight",
]  # fmt: skip
SIZED = ["gmm", "fa", "hmm", "gmm-moons", "kmeans-digits", "made-digits", "maf"]
BATCHES = [f"--trainer.limit_{split}_batches=1" for split in ("train", "val", "test", "predict")]
SHORT = ["--trainer.max_epochs=1", "--trainer.num_sanity_val_steps=0", *BATCHES]
# They start other processes, train for longer, or are no options.
LEFT_OUT = {
    "devices", "num_nodes", "strategy", "accelerator", "plugins", "max_epochs", "min_epochs", "max_steps",
    "min_steps", "num_sanity_val_steps", "overfit_batches", "n", "generator", "args", "kwargs", "return",
    *(option.split(".")[1].split("=")[0] for option in BATCHES),
}  # fmt: skip
OWN = [
    "monitor", "mode", "save_dtype", "seed_everything", "ckpt_path", "preset", "trust", "config", "model",
    "data", "trainer", "print_config", "nosuch", "weights_only",
]  # fmt: skip
TEXTS = {**FILES, "folder/inside.txt": "x", "own.yaml": "model: 3\n", "empty.csv": "", "empty.yaml": ""}
VALUES = st.one_of(
    STRANGE,
    st.integers(-3, 33).map(str),
    st.sampled_from([
        *TEXTS, "folder", "no/such.csv", "bytes.txt", "loop", "~", "~/x", "~nosuchuser/x", "/root",
        "/dev/zero", "/proc/self/mem", "x" * 300, "a/" * 200, "\u202e", "ñ", "é\u0301", "--", "-", "-h", "=",
        "a,b", "a,a", "last", "best", "false", "[0.5]", "[8]", "[8,8]", "[1e9]", "1e-3", "1e308", "5e-324",
        "NaN", "Infinity", "off", "yes", "2026-01-01", "12:30", "0x10", "0o7", "1_0",
        "{class_path: torch.optim.SGD}", "SGD", "Adam", "{lr: 0.1}", "{lr: -1}", "made-mnist", "gmm",
        "digits", "moons", "threshold", "static", "dynamic", "keep", "drop", "refuse", "pydocs", "verbs",
        "float64", "float16", "bfloat16", "bf16-mixed", "64-true", "max", "torch.nn.ReLU",
        "modules.autoregressive.made.MADE", "datamodules.digits.Digits", "EarlyStopping",
    ]),
)  # fmt: skip


Options = list[tuple[str, Any]]  # names, and the types of their values; None is not known


@cache
def options_of(name: str) -> Options:
    """The options that a training of an experiment takes, by the signatures of its classes."""
    experiment, result = find(name), dict[str, Any]()
    for part, kind, named in (
        ("model", Module, experiment.module),
        ("data", DataModule, experiment.datamodule),
    ):
        cls = untrusted.find_class(named, kind, part, name, untrusted.OURS)
        makers = [vars(c)["__init__"] for c in cls.__mro__ if issubclass(c, kind) and "__init__" in vars(c)]
        result |= {f"--{part}.{k}": hint for maker in makers for k, hint in get_type_hints(maker).items()}
    result |= {f"--trainer.{k}": hint for k, hint in get_type_hints(L.Trainer.__init__).items()}
    result |= dict.fromkeys(f"--{own}" for own in OWN)
    return [(option, hint) for option, hint in result.items() if option.rpartition(".")[2] not in LEFT_OUT]


@cache
def knobs_of(name: str) -> Options:
    """The options that `lab sample` takes of an experiment."""
    cls = untrusted.find_class(find(name).module, Module, "model", name, untrusted.OURS)
    own = get_type_hints(cls.sample) if hasattr(cls, "sample") else {}
    return [
        *((f"--{knob}", hint) for knob, hint in own.items()),
        *untyped("--seed", "-n", "--trust", "--nosuch"),
    ]


def untyped(*names: str) -> Options:
    return [(name, None) for name in names]


def values(hint: Any) -> st.SearchStrategy[str]:
    """What an option of this type may be given, whether or not it makes sense there."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Literal:
        return st.sampled_from(args).map(str)
    if origin in (Union, UnionType):
        return st.one_of([values(arg) for arg in args if arg is not NoneType])
    if origin is not None and issubclass(origin, Iterable) and not issubclass(origin, dict):
        return st.sampled_from(
            ["[]", "[0]", "[1]", "[2,3]", "[4,4,4]", "[-1]", "[1000000000]", "[0.5]", "[x]"]
        )
    return PLAUSIBLE.get(hint, VALUES)


PLAUSIBLE = {
    bool: st.sampled_from(["true", "false"]),
    int: st.sampled_from([*map(str, range(-1, 9)), "10", "64", "1000", "1000000000", "9" * 20]),
    float: st.sampled_from(["0", "-1", "1e-9", "0.1", "0.5", "0.9", "1", "2", "1e9", "1e300", ".nan"]),
}  # fmt: skip


@st.composite
def with_options(draw: st.DrawFn, known: Options, most: int = 3) -> list[str]:
    """Some options, each with a value: as `--a=1` or as `--a 1`, with a value lost at times."""
    words: list[str] = []
    for _ in range(draw(st.integers(0, most))):
        name, hint = draw(st.sampled_from(known))
        value = draw(values(hint) if draw(st.integers(0, 2)) else VALUES)
        form = draw(st.integers(0, 12))
        words += [name] if form == 0 else [name, value] if form < 5 else [f"{name}={value}"]
    return words


SOMETHING = st.sampled_from([*catalog(), *TEXTS, "folder", "made", "gmn", "/", ""]) | VALUES


@st.composite
def trainings(draw: st.DrawFn) -> list[str]:
    command = draw(st.sampled_from(["fit"] * 3 + ["validate", "test", "predict"]))
    name = draw(st.sampled_from(TRAINED))
    changed = draw(with_options(options_of(name)))
    if draw(st.integers(0, 9)) == 0:
        name = draw(SOMETHING)
    extra = draw(st.sampled_from([[], [], [], [], ["--trainer.fast_dev_run=true"], ["--help"]]))
    return [command, name, *changed, *extra, *(SHORT if command == "fit" else SHORT[1:])]


OUT = [
    "x.png", "x.txt", "x.csv", "💥.csv", "x.PNG", "", "folder", "loop", "no/x.png", "six.csv/x.csv",
    "x" * 300 + ".csv",
]  # fmt: skip


@st.composite
def samples(draw: st.DrawFn) -> list[str]:
    name = draw(st.sampled_from([n for n in TRAINED if find(n).weights]))
    knobs = draw(with_options(knobs_of(name)))
    out = draw(st.sampled_from([[], [], *(["--out", file] for file in OUT)]))
    return ["sample", draw(SOMETHING) if draw(st.integers(0, 9)) == 0 else name, "-n", "2", *knobs, *out]


@st.composite
def chosen_sizes(draw: st.DrawFn) -> list[str]:
    own = "--path", "--path", "--columns", "--length", "--missing", "--seed", "--trust", "--most", "--nosuch"
    changed = draw(with_options(untyped(*own)))
    name = draw(st.sampled_from(SIZED)) if draw(st.integers(0, 9)) else draw(SOMETHING)
    return ["size", name, "--most=2", *changed, "--steps", draw(st.sampled_from(["1", "2"]) | STRANGE)]


SERVER = untyped(
    "--processes", "--host", "--server.port", "--server.address", "--server.baseUrlPath", "--nosuch"
)
SMALL = st.one_of(
    st.tuples(st.just("list"), st.sampled_from(["--json", "", "-h", "x"]) | VALUES).map(list),
    st.tuples(st.just("data"), st.sampled_from([*fetch.SOURCES, *fetch.EMBEDDED, "mnits", "-h"]) | VALUES)
    .map(list),
    st.tuples(st.just("results"), st.lists(VALUES, max_size=2)).map(lambda t: [t[0], *t[1]]),
    st.tuples(st.just("lecture"), st.sampled_from([*lecture.names(), "-h"]) | VALUES, with_options(SERVER))
    .map(lambda t: [*t[:2], *t[2]]),
    with_options(SERVER).map(lambda o: ["app", *o]),
    st.tuples(with_options(untyped("--only", "--minutes", "--processes", "--rest", "--busy", "--quick")),
              st.sampled_from([*FAMILIES, ""]) | VALUES)
    .map(lambda t: ["bench", *t[0], t[1], "--experiments"]),
    st.lists(SOMETHING | st.sampled_from(["fit", "test", "sample", "size", "list", "-h"]), max_size=4)
    .filter(lambda line: line[:1] != ["bench"]),
)  # fmt: skip
KINDS = [trainings()] * 5 + [samples()] * 2 + [chosen_sizes(), SMALL]
COMMANDS = st.sampled_from(KINDS).flatmap(lambda kind: kind)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Folders for files to name (here), runs, data, a home and what is temporary; at most 4 GiB more memory
    than is taken; and no server starts."""
    here = tmp_path / "here"
    (here / "folder").mkdir(parents=True)
    for name, text in TEXTS.items():
        (here / name).write_text(text)
    (here / "bytes.txt").write_bytes(bytes(range(256)) * 4)
    (here / "loop").symlink_to("loop")
    for variable, folder in (
        ("LECTERN_RUNS", "runs"),
        ("LECTERN_DATA", "data"),
        ("HOME", "home"),
        ("TMPDIR", "tmp"),
    ):
        (tmp_path / folder).mkdir()
        monkeypatch.setenv(variable, str(tmp_path / folder))
    monkeypatch.setattr(serve, "run", lambda args, page: 0)
    monkeypatch.setattr(proxy.ServerPool, "serve", lambda self, page: None)
    monkeypatch.setattr(sizes, "MOST", 8)  # larger ones take long
    monkeypatch.chdir(here)
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (psutil.Process().memory_info().vms + 2**32, before[1]))
    yield tmp_path
    resource.setrlimit(resource.RLIMIT_AS, before)


def inside(folder: Path) -> set[Path]:
    return {*folder.iterdir()}


def ended(line: list[str], place: Path) -> tuple[int, str, str]:
    """Exit code, output and complaints of a line, with folder and environment as they were."""
    out, errors, environment = io.StringIO(), io.StringIO(), dict(os.environ)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            code: Any = main(line)
    except SystemExit as leaving:  # --help
        code = leaving.code or 0
    finally:
        os.chdir(place / "here")
        os.environ.clear()
        os.environ.update(environment)
    return code, out.getvalue(), errors.getvalue()


def judged(line: list[str], place: Path) -> None:
    """Run a line: it ends well, or is refused as it must be."""
    before = inside(place / "here")
    code, out, errors = ended(line, place)
    assert code in (0, 2), code
    texts = [text for text in errors.splitlines() if text.startswith("lab: ")]
    assert len(texts) == (code == 2), errors
    typed = " ".join(line)
    for sentence in texts:
        assert 12 < len(sentence) < 700 and sentence == " ".join(sentence.split()), sentence
        assert not [word for word in WORDS if word in sentence and word not in typed], sentence
        assert not sentence.endswith(("..", ": ", ":.")), sentence
    assert "Traceback" not in out + errors
    result = inside(place / "here") - before
    for path in result:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert len(result) <= (line[:1] == ["sample"]), result
    assert not inside(place / "home") and not inside(place / "tmp"), "written elsewhere"
    assert not [path for path in (place / "data").rglob("*") if path.is_file() and path.stat().st_size]


@given(line=COMMANDS)
@settings(max_examples=LINES)
def test_every_line_ends_well_or_with_one_sentence(line: list[str], place: Path) -> None:
    """150 lines at LEVEL=all, 10,000 by `make soak`."""
    judged(line, place)
