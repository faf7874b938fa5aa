"""Kill training at every kind of moment, go on, and compare with a run that nobody killed.

    python -m tests.lab.kills run 200       or from one number to another: 100 200
    python -m tests.lab.kills members 204   every row of the members table, one after the other

Half of the kills fall at a file operation (before it, after it, or in the middle of a write), half at a
random moment of the processor's time; some strike the resumed run too. Half have the temporary folder on
another file system, a quarter train several seeds. What must be equal to the bit: weights, the card but for
its date and minutes, the checkpoints' weights and optimizers, and metrics.csv but for its seconds.

Each run is a fork of one process that has imported everything and trained nothing.
"""

import collections
import csv
import json
import os
import random
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

os.environ["OMP_NUM_THREADS"] = "1"  # a fork keeps none of its parent's threads

import torch

from lab import files
from lab.__main__ import main
from lab.training.pairing import LINKED
from lab.weights import read_checkpoint

Kinds = dict[str, tuple[str, list[str]]]  # recipe and options of each
Pick = Callable[[int, random.Random], str]

RECIPE = """
model:
  class_path: modules.autoregressive.made.MADE
  init_args:
    hidden: [16]
    num_orders: 0
    lr_scheduler: {class_path: torch.optim.lr_scheduler.CosineAnnealingLR, init_args: {T_max: 3}}
data:
  class_path: datamodules.digits.Digits
  init_args: {binarize: dynamic, batch_size: 64}
trainer: {max_epochs: 3, limit_train_batches: 4, num_sanity_val_steps: 0}
"""
DRAWN = """
model:
  class_path: modules.latent.vae.VAE
  init_args: {latent_dim: 2, hidden: [8]}
data:
  class_path: datamodules.digits.Digits
  init_args: {binarize: dynamic, batch_size: 64}
trainer: {max_epochs: 2, limit_train_batches: 4, num_sanity_val_steps: 0}
monitor: val/elbo
"""
KINDS: Kinds = {  # what is trained
    "best last": (RECIPE, []),
    "best first": (RECIPE, ["--mode=max"]),
    "drawn test": (DRAWN, []),  # the card's numbers are drawn
    "two seeds": (RECIPE, ["--seeds=2", "--trainer.max_epochs=2"]),
}
OPERATIONS = ("fsync", "link", "replace", "unlink")


@dataclass
class Kill:
    """Where a process dies: at its `operation`-th file operation, or `seconds` of its own time after the
    first, which begins the run."""

    operation: int = 0
    moment: str = "before"  # "before" or "after" it; a write is also killed "amid" its bytes
    seconds: float = 0.0


class Operations:
    """Count the file operations of this process; die at one of them."""

    def __init__(self, kill: Kill) -> None:
        self.kill, self.count, self.began = kill, 0, 0.0
        for name in OPERATIONS:
            setattr(os, name, self.watched(name, getattr(os, name)))
        files.open = self.open  # type: ignore[attr-defined]

    def watched(self, name: str, function: Callable) -> Callable:
        def operation(*args: Any, **knobs: Any) -> Any:
            self.count += 1
            if self.count == 1:
                self.began = os.times().user
                signal.setitimer(signal.ITIMER_VIRTUAL, self.kill.seconds)  # its signal ends the process
            mine = self.count == self.kill.operation
            if mine and self.kill.moment != "after":
                die()
            result = function(*args, **knobs)
            if mine:
                die()
            return result

        return operation

    def open(self, path: Path, mode: str = "r") -> Any:
        file = open(path, mode)  # noqa: SIM115
        whole = file.writelines

        def writelines(parts: Any) -> None:
            if self.count + 1 == self.kill.operation and self.kill.moment == "amid":
                file.write(bytes(parts[0])[: len(parts[0]) // 2])
                file.flush()
            self.watched("write", whole)(parts)

        file.writelines = writelines  # type: ignore[method-assign]
        return file


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def fork(args: list[str], runs: Path, temporary: Path, kill: Kill, report: Path | None = None) -> int:
    """`lab fit …` in a fork of this process: its exit status, or minus the signal that ended it."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        with open(runs.with_suffix(".log"), "a") as log:
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
        os.environ |= {"LECTERN_RUNS": str(runs), "TMPDIR": str(temporary)}
        tempfile.tempdir = None
        operations = Operations(kill)
        status = main(["fit", *args])
        if report:
            seconds = os.times().user - operations.began
            report.write_text(json.dumps({"operations": operations.count, "seconds": seconds}))
        sys.stdout.flush()
        os._exit(status)
    except BaseException:
        import traceback

        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)


def outcome(runs: Path) -> dict[str, Any]:
    """Everything of a finished run that must not depend on how it got there."""
    run = next(path.parent for path in sorted(runs.glob("*/*/card.json")))
    results: dict[str, Any] = {}
    for path in sorted(run.rglob("*")):
        name = str(path.relative_to(run))
        if path.name == "card.json":
            card = json.loads(path.read_text())
            results[name] = {k: v for k, v in card.items() if k not in ("date", "minutes")}
        elif path.name == "metrics.csv":
            with open(path, newline="") as file:
                results[name] = [
                    {k: v for k, v in row.items() if k != "seconds"} for row in csv.DictReader(file)
                ]
        elif path.name == "model.safetensors":
            results[name] = path.read_bytes()
        elif path.name in ("last.ckpt", "best.ckpt"):
            checkpoint = read_checkpoint(path)
            results[name] = [
                checkpoint[k] for k in ("epoch", "state_dict", "optimizer_states", "lr_schedulers")
            ]
    return results


def differences(whole: dict[str, Any], result: dict[str, Any]) -> list[str]:
    """The names of the files that differ."""
    return [name for name in {**whole, **result} if not same(whole.get(name), result.get(name))]


def same(a: Any, b: Any) -> bool:
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        return a.dtype == b.dtype and torch.equal(a, b)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


def elsewhere(here: Path) -> Path:
    """A folder on another file system, where there is one."""
    memory = Path("/dev/shm")
    if memory.is_dir() and memory.stat().st_dev != here.stat().st_dev:
        return Path(tempfile.mkdtemp(dir=memory))
    return Path(tempfile.mkdtemp(dir=here))


def strikes(kinds: Kinds, numbers: range, pick: Pick, place: Path) -> collections.Counter[str]:
    """Kill a run for each number and let it go on; how often what was done.

    Args:
        kinds: recipe and options of each.
        pick: the kind of a number, which has dice of its own.

    Raises:
        AssertionError: some runs did not end as the ones that nobody killed, or could not go on; says which.
    """
    other, recipes = elsewhere(place), {kind: place / f"{kind.replace(' ', '-')}.yaml" for kind in kinds}
    for kind, (text, _) in kinds.items():
        recipes[kind].write_text(text)
    whole: dict[str, dict[str, Any]] = {}
    size: dict[str, dict[str, Any]] = {}
    table: collections.Counter[str] = collections.Counter()
    wrong: list[str] = []

    def strike(number: int) -> None:
        # every number has its own dice, so that one kill can be played again
        dice = random.Random(number)
        kind = pick(number, dice)
        args = [str(recipes[kind]), *kinds[kind][1]]
        if kind not in whole:
            runs, report = place / f"whole-{kind.replace(' ', '-')}", place / "report.json"
            assert fork(args, runs, place, Kill(), report) == 0, runs.with_suffix(".log").read_text()
            whole[kind], size[kind] = outcome(runs), json.loads(report.read_text())
        at_file, far = (number + number // 4) % 2 == 0, (number // 2 + number // 8) % 2 == 0
        runs, temporary = place / f"killed-{number}", other if far else place

        def kill() -> Kill:
            if at_file:
                moment = dice.choice(["before", "amid", "after"])
                return Kill(operation=dice.randint(1, size[kind]["operations"]), moment=moment)
            return Kill(seconds=dice.uniform(0.0, 0.95) * size[kind]["seconds"])

        status = fork(args, runs, temporary, kill())
        if not list(runs.glob("*/*/config.yaml")):
            table["killed before it began"] += 1
            shutil.rmtree(runs, ignore_errors=True)
            assert fork(args, runs, temporary, Kill()) == 0
        elif status == 0:
            table["killed after its end"] += 1
        else:
            trust = [arg for arg in args if arg.startswith("--trust")]
            resume = [str(recipes[kind]), *trust, "--ckpt_path=last"]  # its options are the run's own
            if dice.random() < 0.25 and fork(resume, runs, temporary, kill()) < 0:
                table["killed twice"] += 1
            assert fork(resume, runs, temporary, Kill()) == 0, runs.with_suffix(".log").read_text()
        differs = differences(whole[kind], outcome(runs))
        assert not differs, f"{differs}\n{runs.with_suffix('.log').read_text()}"
        assert not list(other.iterdir()), "a save went through the temporary folder"
        table["kills"] += 1
        table["at a file operation" if at_file else "at a random moment"] += 1
        table["temporary folder elsewhere"] += far
        table[f"kind: {kind}"] += 1
        shutil.rmtree(runs)

    try:
        main(["fit", str(next(iter(recipes.values()))), "--trainer.devices=0"])  # imports, and is refused
        for number in numbers:
            try:
                strike(number)
            except AssertionError as error:
                wrong.append(f"kill {number} ({pick(number, random.Random(number))}): {error}")
        assert not wrong, "\n\n".join([f"{len(wrong)} of {len(numbers)}", *wrong])
        return table
    finally:
        shutil.rmtree(other)


def one_of_kinds(number: int, dice: random.Random) -> str:
    return "two seeds" if number % 4 == 3 else dice.choice(["best last", "best first", "drawn test"])


def rows() -> Kinds:
    """A recipe for each row of the members table."""
    from tests.members import MEMBERS, ROWS, classes

    classes()  # imports them
    trust = f"--trust={Path(__file__).with_name('member_data.py')}"
    kinds = {}
    for name, number in ROWS:
        settings = {k: v for k, v in MEMBERS[name][number].settings.items() if k not in LINKED}
        recipe = {
            "model": {"class_path": name, "init_args": settings},
            "data": {
                "class_path": "member_data.MemberData",
                "init_args": {"member": name, "number": number},
            },
            "trainer": {"max_epochs": 3, "num_sanity_val_steps": 0},
            "monitor": "last",
        }
        text = yaml.safe_dump(json.loads(json.dumps(recipe)))
        kinds[f"{name.rpartition('.')[2]} {number}"] = text, [trust]
    return kinds


def show(table: collections.Counter[str]) -> None:
    for name, times in table.most_common():
        print(f"{times:5}  {name}")
    print("    0  differing weights, cards, checkpoints or rows")


def run(*bounds: int) -> None:
    """Print the table of the kills with the numbers of `range(*bounds)`."""
    with tempfile.TemporaryDirectory() as folder:
        show(strikes(KINDS, range(*bounds), one_of_kinds, Path(folder)))


def members(*bounds: int) -> None:
    """The same of the rows of the members table, one after the other."""
    kinds = rows()
    names = list(kinds)
    with tempfile.TemporaryDirectory() as folder:
        show(strikes(kinds, range(*bounds), lambda number, _: names[number % len(names)], Path(folder)))


if __name__ == "__main__":
    {"run": run, "members": members}[sys.argv[1]](*map(int, sys.argv[2:]))
