"""Mutations: wrong versions of the code, each with the tests that must see it.

A YAML file a family. Under the path of a file, a list of rows: `name` says what is wrong, `old` is text that
stands once in the file, `new` what takes its place, `tests` the node id below `tests/` that fails then, or
several of them. The name is a clause that a reader understands without the code.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Mutation:
    """One wrong version of a file.

    Args:
        family: the YAML file that lists it.
        file: the path below the root.
        tests: node ids below the root, of which one at least fails.
    """

    family: str
    file: str
    name: str
    old: str
    new: str
    tests: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.file}: {self.name}"

    def apply(self, text: str) -> str:
        """The file's text with what is wrong in it.

        Raises:
            ValueError: the old text does not stand there exactly once, or nothing changes.
        """
        if (count := text.count(self.old)) != 1:
            raise ValueError(f"{self}: the old text stands {count} times in the file, not once.")
        if self.old == self.new:
            raise ValueError(f"{self}: old and new are the same.")
        return text.replace(self.old, self.new)


def load(folder: Path = HERE) -> list[Mutation]:
    """All mutations that the YAML files of a folder list, in their order."""
    return [row for path in sorted(folder.glob("*.yaml")) for row in _rows(path)]


def _rows(path: Path) -> Iterator[Mutation]:
    for file, rows in yaml.safe_load(path.read_text(encoding="utf-8")).items():
        for row in rows:
            tests = [row["tests"]] if isinstance(row["tests"], str) else row["tests"]
            nodes = tuple(f"tests/{test}" for test in tests)
            yield Mutation(path.stem, file, row["name"], row["old"], row["new"], nodes)
