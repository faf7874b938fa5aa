"""The list of mutations does not rot, and the script that runs them tells what becomes of each."""

import ast
import subprocess
from pathlib import Path

import pytest

from tests.mutations.__main__ import judged, table
from tests.mutations.mutation import Mutation, load

ROOT = Path(__file__).parents[1]
# Modules that name or gather things and compute nothing that could be wrong by a sign or a factor.
NOTHING_TO_COMPUTE = {
    "modules/cache.py", "modules/diffusion/ddpm.py", "modules/latent/conv_vae.py",
    "modules/latent/taxonomy.py", "modules/mlp.py",
}  # fmt: skip


def test_every_mutation_can_be_applied_and_names_tests_that_there_are() -> None:
    faults = []
    mutations = load()
    texts = {file: (ROOT / file).read_text(encoding="utf-8") for file in {m.file for m in mutations}}
    for mutation in mutations:
        try:
            mutant = mutation.apply(texts[mutation.file])
            if mutation.file.endswith(".py"):
                ast.parse(mutant)
        except (ValueError, SyntaxError) as error:
            faults.append(str(error))
        for test in mutation.tests:
            file, _, name = test.partition("[")[0].partition("::")
            name = name.rpartition("::")[2]  # without its class
            path = ROOT / file
            if not path.is_file() or (name and f"def {name}(" not in path.read_text(encoding="utf-8")):
                faults.append(f"{mutation}: there is no test {test}.")
    names = [(mutation.file, mutation.name) for mutation in mutations]
    faults += [f"{name} stands twice." for name in set(names) if names.count(name) > 1]
    assert not faults, "\n".join(faults)


def test_every_module_with_a_formula_has_one() -> None:
    have = {mutation.file for mutation in load()}
    modules = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "modules").rglob("*.py")
        if path.read_text(encoding="utf-8").strip()
    }
    assert modules - have == NOTHING_TO_COMPUTE


@pytest.mark.heavy
def test_the_script_tells_what_is_caught(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "sums.py").write_text("def add(a, b):\n    return a + b\n\n\nZERO = 0\n")
    (tmp_path / "tests/test_sums.py").write_text(
        "import time\nimport pytest\nfrom sums import ZERO, add\n\n\n"
        "def test_add():\n    assert add(2, 3) == 5\n\n\n"
        "def test_zero():\n    assert ZERO < 1\n\n\n"
        "def test_wrong():\n    assert add(2, 2) == 5\n\n\n"
        "def test_end():\n    time.sleep(600 * (add(1, 1) != 2))\n\n\n"
        "@pytest.mark.skip\ndef test_skipped():\n    assert False\n"
    )
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)

    def mutation(name: str, old: str, new: str, test: str) -> Mutation:
        return Mutation("sums", "sums.py", name, old, new, (f"tests/test_sums.py::{test}",))

    mutations = [
        mutation("caught", "a + b", "a - b", "test_add"),
        mutation("survived", "a + b", "a - b", "test_zero"),
        mutation("its tests fail", "a + b", "a - b", "test_wrong"),
        mutation("does not stand there", "a * b", "a - b", "test_add"),
        mutation("no Python", "a + b", "a +", "test_add"),
        mutation("cannot be imported", "ZERO = 0", "ZER = 0", "test_add"),
        mutation("not run", "a + b", "a - b", "test_skipped"),
    ]
    endless = [mutation("does not end", "a + b", "a - b", "test_end")]
    results = [*judged(tmp_path, mutations, jobs=2, libraries=["pytest"]),
        *judged(tmp_path, endless, seconds=5, sure=True, libraries=["pytest"])]  # fmt: skip
    assert {result.mutation.name: result.state for result in results} == {
        "caught": "caught", "survived": "survived", "its tests fail": "broken",
        "does not stand there": "broken", "no Python": "broken", "cannot be imported": "broken",
        "does not end": "late", "not run": "skipped",
    }  # fmt: skip
    assert (tmp_path / "sums.py").read_text().startswith("def add(a, b):\n    return a + b\n")
    assert table(results).splitlines()[-1].split()[:6] == ["all", "1", "1", "4", "1", "1"]
