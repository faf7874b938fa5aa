"""See whether the tests catch what is wrong: python -m tests.mutations [--only PATTERN] [--jobs 2] …

Each job copies the working tree into a temporary folder, tracked files and new ones. There one mutation is
applied at a time, its tests are run, and the file is restored:

    caught     a test fails
    survived   all pass: the tests do not see what is wrong
    broken     the mutation says nothing: its old text does not stand once in its file, the tests cannot be
               collected with it, or they fail without it
    late       the tests did not end within the limit
    skipped    all its tests were skipped, for want of data or of a browser

The exit code is 0 where all were caught or skipped. Run it before and after the suite is changed.
"""

import argparse
import contextlib
import json
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from tests.mutations.mutation import HERE, Mutation, load

ROOT = HERE.parents[1]
LIBRARIES = (
    "pytest", "hypothesis", "numpy", "scipy.stats", "sklearn.datasets", "torch", "lightning", "torchmetrics",
    "torch_geometric", "plotly.graph_objects", "streamlit.testing.v1", "tokenizers", "jsonargparse",
)  # fmt: skip
STATES = ("caught", "survived", "broken", "late", "skipped")
LIMIT = 600.0  # seconds for the tests of one mutation


@dataclass(frozen=True)
class Result:
    """What became of a mutation.

    Args:
        by: the test that caught it, or why it says nothing.
        cpu: processor seconds of its tests.
    """

    mutation: Mutation
    state: str
    by: str
    cpu: float


class Copy:
    """A copy of the working tree, and a worker that runs tests in it."""

    def __init__(self, root: Path, level: str, libraries: Sequence[str]) -> None:
        self.stack = contextlib.ExitStack()
        home = Path(self.stack.enter_context(tempfile.TemporaryDirectory(prefix="mutations-")))
        self.folder, temporary = home / "tree", home / "tmp"
        temporary.mkdir()
        copy_tree(root, self.folder)
        self.clock = int(time.time())
        env = os.environ | {
            "PYTHONPATH": str(self.folder), "LEVEL": level, "OMP_NUM_THREADS": "1", "TMPDIR": str(temporary),
            "LECTERN_RUNS": str(home / "runs"), "TOKENIZERS_PARALLELISM": "false",
        }  # fmt: skip
        self.worker = subprocess.Popen(
            [sys.executable, str(HERE / "worker.py"), *libraries], cwd=self.folder, env=env, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.worker.kill()
        self.worker.communicate()
        self.stack.close()

    def run(self, tests: Iterable[str], seconds: float, first: bool = True) -> dict[str, Any]:
        """The worker's answer."""
        assert self.worker.stdin and self.worker.stdout
        print(json.dumps({"tests": list(tests), "seconds": seconds, "first": first}), file=self.worker.stdin)
        self.worker.stdin.flush()
        line = self.worker.stdout.readline()
        if not line:
            raise RuntimeError("The worker has ended: see what it printed.")
        return dict(json.loads(line))

    def write(self, path: Path, text: str) -> None:
        """Give a file a time of its own too: Python takes compiled code of the same second and length."""
        path.write_text(text, encoding="utf-8")
        self.clock += 1
        os.utime(path, (self.clock, self.clock))

    def judge(self, mutation: Mutation, seconds: float) -> Result:
        """Apply a mutation, run its tests and restore the file."""
        path = self.folder / mutation.file
        text = path.read_text(encoding="utf-8")
        try:
            mutant = mutation.apply(text)
            if path.suffix == ".py":
                compile(mutant, mutation.file, "exec")
        except (ValueError, SyntaxError) as error:
            return Result(mutation, "broken", str(error), 0.0)
        self.write(path, mutant)
        try:
            answer = self.run(mutation.tests, seconds)
        finally:
            self.write(path, text)
        return Result(mutation, *verdict(answer), answer["cpu"])


def verdict(answer: dict[str, Any]) -> tuple[str, str]:
    """The state of a mutation by the answer to its tests, and the test that caught it or the reason."""
    if answer["code"] is None:
        return "late", "the tests did not end"
    if answer["broken"] or answer["code"] not in (0, 1, 2):
        return "broken", " ".join(answer["broken"]) or answer["tail"].strip().rpartition("\n")[2]
    if answer["code"] == 2:
        return "caught", "the tests were interrupted"
    if answer["failed"]:
        return "caught", answer["failed"][0].removeprefix("tests/")
    return ("survived", "") if answer["passed"] else ("skipped", "all tests were skipped")


def copy_tree(root: Path, folder: Path) -> None:
    """Copy the files that git tracks, or would track, as they are now."""
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for name in set(names.split("\0")) - {""}:
        if (root / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, folder / name)


def failing(copy: Copy, mutations: Sequence[Mutation]) -> tuple[set[str], str]:
    """Node ids that fail without any mutation; what pytest says where it cannot run them at all."""
    tests = dict.fromkeys(test for mutation in mutations for test in mutation.tests)
    answer = copy.run(tests, LIMIT * len(mutations), first=False)
    if answer["code"] not in (0, 1) or answer["broken"]:
        return set(answer["broken"]), answer["tail"]
    return set(answer["failed"]), ""


def judged(
    root: Path,
    mutations: Sequence[Mutation],
    jobs: int = 1,
    level: str = "all",
    seconds: float = LIMIT,
    sure: bool = False,
    libraries: Sequence[str] = LIBRARIES,
) -> Iterator[Result]:
    """What becomes of each mutation, as it is known.

    Args:
        sure: the tests are known to pass without mutations: do not run them first.
    """
    bad: set[str] = set()
    if not sure:
        with Copy(root, level, libraries) as copy:
            bad, said = failing(copy, mutations)
        if said:
            raise RuntimeError(f"The tests cannot be run without any mutation:\n{said}")
    waiting: queue.SimpleQueue[Mutation] = queue.SimpleQueue()
    results: queue.SimpleQueue[Result | BaseException | None] = queue.SimpleQueue()
    for mutation in mutations:
        if any(node.startswith(test) for node in bad for test in mutation.tests):
            results.put(Result(mutation, "broken", "its tests fail without it", 0.0))
        else:
            waiting.put(mutation)

    def work() -> None:
        try:
            with Copy(root, level, libraries) as copy:
                while True:
                    results.put(copy.judge(waiting.get_nowait(), seconds))
        except queue.Empty:
            results.put(None)
        except BaseException as error:
            results.put(error)

    for _ in range(jobs):
        threading.Thread(target=work, daemon=True).start()
    at_work = jobs
    while at_work:
        result = results.get()
        if isinstance(result, BaseException):
            raise result
        if result is None:
            at_work -= 1
        else:
            yield result


def table(results: Sequence[Result]) -> str:
    """Mutations by family and state, with processor seconds."""
    lines = [f"{'':16}" + "".join(f"{state:>10}" for state in STATES) + f"{'CPU s':>10}"]
    families = {result.mutation.family: [r for r in results if r.mutation.family == result.mutation.family]
                for result in results}  # fmt: skip
    for family, own in (families | {"all": results}).items():
        counts = Counter(result.state for result in own)
        cells = "".join(f"{counts[state] or '–':>10}" for state in STATES)
        lines.append(f"{family:16}{cells}{sum(result.cpu for result in own):10.0f}")
    return "\n".join(lines)


def as_json(results: Sequence[Result]) -> str:
    return json.dumps([asdict(result) for result in results], indent=1, ensure_ascii=False) + "\n"


def main(args: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        "python -m tests.mutations", description="See whether the tests catch what is wrong."
    )
    parser.add_argument(
        "--only", default="", metavar="PATTERN", help="of family, file and name: an expression"
    )
    parser.add_argument("--jobs", type=int, default=1, help="copies of the tree that work beside each other")
    parser.add_argument("--level", default="all", choices=("quick", "all"), help="of the tests")
    parser.add_argument("--seconds", type=float, default=LIMIT, help="limit for the tests of one mutation")
    parser.add_argument("--sure", action="store_true", help="do not run the tests without mutations first")
    parser.add_argument("--out", type=Path, help="a JSON file for the results, written as they are known")
    options = parser.parse_args(args)
    chosen = [m for m in load() if re.search(options.only, f"{m.family} {m}")]
    results: list[Result] = []
    for result in judged(ROOT, chosen, options.jobs, options.level, options.seconds, options.sure):
        results.append(result)
        print(f"{result.state:9}{result.cpu:7.1f} s  {result.mutation}  [{result.by}]", flush=True)
        if options.out:
            options.out.write_text(as_json(results), encoding="utf-8")
    print(f"\n{table(results)}")
    for result in results:
        if result.state not in ("caught", "skipped"):
            print(f"{result.state}: {result.mutation}  {' '.join(result.mutation.tests)}  {result.by}")
    return int(any(result.state not in ("caught", "skipped") for result in results))


if __name__ == "__main__":
    sys.exit(main())
