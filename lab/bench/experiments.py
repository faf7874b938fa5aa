"""The experiments that the specifications number: how each is repeated, and what came out.

The table is `experiments.yaml` of this folder. A number that a card holds is read from the card, so that it
is always the one of the weights that ship.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from lab.experiments import ZOO, read_card

TABLE = Path(__file__).with_suffix(".yaml")


@dataclass(frozen=True)
class Experiment:
    """One row.

    Attributes:
        family, id: as the specification numbers it.
        what: what is claimed or asked.
        run: commands and tests that repeat it; none where it is left out.
        seeds: over how many; None where it is exact, or its test says so.
        found: what came out, in words. cards: name of a model -> metrics of its test split.
        of: what part of it was run, where that is not all. left: why it was not run.
    """

    family: str
    id: str
    what: str
    run: tuple[str, ...] = ()
    seeds: int | None = None
    found: str = ""
    cards: dict[str, list[str]] | None = None
    of: str = ""
    left: str = ""

    @property
    def commands(self) -> list[str]:
        """Commands to type; a test is run by pytest."""
        return [f"python -m pytest {each}" if each.startswith("tests/") else each for each in self.run]

    def numbers(self) -> dict[str, float]:
        """Those of the cards, `model metric` -> number."""
        return {
            f"{name} {metric}": read_card(ZOO / name)["metrics"][f"test/{metric}"]
            for name, metrics in (self.cards or {}).items()
            for metric in metrics
        }

    def outcome(self) -> str:
        """The result in one sentence, or why there is none."""
        if self.left:
            return f"left out: {self.left}"
        read = ", ".join(f"{name} {value:.4g}" for name, value in self.numbers().items())
        return "; ".join(part for part in (self.found, read, self.of and f"of it: {self.of}") if part)


@cache
def experiments() -> list[Experiment]:
    """All rows, in their order."""
    table: dict[str, dict[Any, dict[str, Any]]] = yaml.safe_load(TABLE.read_text(encoding="utf-8"))
    rows = []
    for family, entries in table.items():
        for number, entry in entries.items():
            run = entry.pop("run", [])
            rows.append(
                Experiment(family, str(number), run=tuple([run] if isinstance(run, str) else run), **entry)
            )
    return rows
