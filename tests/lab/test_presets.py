"""Every preset with every recipe builds and takes one step, on the CPU; what needs a GPU says so."""

import warnings
from collections.abc import Iterator

import pytest
from torch import distributed

from lab.__main__ import main
from lab.experiments import catalog
from tests.lab.conftest import complaint

CPU = ["--trainer.accelerator=cpu", "--trainer.devices=1", "--trainer.num_nodes=1"]
EMBEDDED = {name: entry for name, entry in catalog().items() if entry.embedded}
A_CLASS = sorted({entry.module: name for name, entry in EMBEDDED.items()}.values())


@pytest.fixture
def process_group() -> Iterator[None]:
    """The group that a run with `ddp` opens in this process lives as long as the process: it is closed here,
    since whatever reduces over a group later would find it."""
    yield
    if distributed.is_initialized():
        distributed.destroy_process_group()


@pytest.mark.usefixtures("process_group")
@pytest.mark.parametrize(
    ("preset", "names"),
    [
        pytest.param("gpu", A_CLASS, marks=pytest.mark.heavy),
        pytest.param("ddp", A_CLASS[::8], marks=pytest.mark.heavy),
        *(pytest.param(preset, list(EMBEDDED), marks=pytest.mark.soak) for preset in ("gpu", "ddp", "nodes")),
    ],
)  # fmt: skip
def test_a_preset_builds_and_takes_a_step(preset: str, names: list[str], capsys) -> None:
    died: dict[str, str] = {}
    for name in names:
        batched = "batch_size" in (EMBEDDED[name].config["data"].get("init_args") or {})
        small = ["--data.batch_size=4"] if batched else []
        line = ["fit", name, "--preset", preset, *CPU, *small, "--trainer.fast_dev_run=1", "--seeds=1"]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                code = main(line)
        except Exception as error:
            died[name] = f"{type(error).__name__}: {error}"
        else:
            if code and "Counting has no gradients" not in (text := complaint(capsys)):
                died[name] = text
        capsys.readouterr()
    assert not died, died


def test_shards_need_a_gpu(capsys) -> None:
    assert main(["fit", "made-digits", "--preset", "fsdp", *CPU, "--trainer.fast_dev_run=1"]) == 2
    assert "GPU" in complaint(capsys)
