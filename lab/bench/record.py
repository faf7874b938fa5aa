"""Results of the benches, kept beside them in `results/`, and the README of this folder, written from them.

`lab bench --write made` measures and keeps what it found, with machine, date and command;
`lab results` writes the README anew. A file of `results/` holds

    bench, command, date, machine, source   what was run, when, on what; where it was carried over from
    rows                                    what `measure` gave, as `timing.Row` has it
    earlier                                 what was said of an earlier run: date, source, and blocks, each
                                            a paragraph or a table (head, rows of cells)

A new run replaces all but `earlier`, which is deleted by hand once the rows say the same.
"""

import dataclasses
import datetime
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lab.bench.timing import Row, amount

HERE = Path(__file__).parent
RESULTS = "results"  # below the folder of the benches
HEAD = """\
# What the benches measure

Written by `lab results` from the files in [results](results): do not edit it by hand.

`lab bench` times ours and a peer in turns in one run, A B then B A, and shows the median of the paired
ratios, so that a ratio means something on any machine. `lab bench <name> --write` measures again and keeps
rows, machine, date and command here; `--busy` counts processor time on one thread, for a machine that does
other work. `pip install -c constraints.txt -e '.[peers]'` adds the peers that are optional.

*Ratio* is our time through the peer's, unless the case says *faster*; *target* is what was set for it. `±` is
the standard deviation over what is named, seeds in most. What stands under *Earlier* was said of an earlier
run, and is measured again before anybody relies on it.

`lab bench --experiments` shows every experiment that the specifications number, of all families or of those
that are named: how it is repeated, over how many seeds, what came out, and what was left out and why.
"""


def plain(row: Row) -> dict[str, Any]:
    """A row as strict JSON, which knows no NaN: what was not measured is null."""
    return {
        key: None if isinstance(value, float) and math.isnan(value) else value
        for key, value in dataclasses.asdict(row).items()
    }


def row(said: Mapping[str, Any]) -> Row:
    """The row that `plain` wrote."""
    values: dict[str, Any] = {key: math.nan if value is None else value for key, value in said.items()}
    return Row(**values)


def save(
    bench: str, rows: Iterable[Row], command: str, machine: Mapping[str, Any], folder: Path = HERE
) -> Path:
    """Keep what a bench has measured today; what was said of an earlier run stays."""
    path = folder / RESULTS / f"{bench}.json"
    before = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    result = {
        "bench": bench,
        "command": command,
        "date": datetime.date.today().isoformat(),
        "machine": dict(machine),
        "source": "",
        "rows": [plain(each) for each in rows],
        "earlier": before.get("earlier"),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def rebuild(about: Mapping[str, str], folder: Path = HERE) -> None:
    """Write the README of the folder from its results.

    Args:
        about: bench -> what it measures; the order of the README.
    """
    (folder / "README.md").write_text(render(about, folder), encoding="utf-8")


def render(about: Mapping[str, str], folder: Path = HERE) -> str:
    """The README of the folder."""
    kept = {path.stem: path for path in (folder / RESULTS).glob("*.json")}
    parts = [HEAD]
    for bench, what in about.items():
        if bench in kept:
            parts += section(json.loads(kept[bench].read_text(encoding="utf-8")), what)
    missing = [f"`{bench}`" for bench in about if bench not in kept]
    if missing:
        parts.append(f"Without kept results: {', '.join(missing)}.\n")
    return "\n".join(parts)


def section(result: Mapping[str, Any], what: str) -> list[str]:
    """One bench: what it measures, how it is repeated, its table, and what was said earlier."""
    parts = [f"## {result['bench']}\n", f"{what[:1].upper()}{what[1:]}. Again: `{result['command']}`.\n"]
    if result["rows"]:
        parts += [f"{when(result)}\n", table([row(each) for each in result["rows"]])]
    if earlier := result.get("earlier"):
        parts.append(f"*Earlier.* {when(earlier)}\n")
        for block in earlier["blocks"]:
            parts.append(f"{block}\n" if isinstance(block, str) else lines(block["head"], block["rows"]))
    return parts


def when(text: Mapping[str, Any]) -> str:
    """Date, machine and source of numbers."""
    machine = text.get("machine")
    where = ", ".join(f"{key} {value}" for key, value in machine.items()) if machine else "machine not kept"
    source = f"; {text['source']}" if text.get("source") else ""
    return f"Measured {text['date']}: {where}{source}."


def table(rows: Sequence[Row]) -> str:
    """Rows as a table, without the columns that none of them fills."""
    cells = [
        {
            "case": row.case,
            "ours": amount(row.ours, row.unit),
            "95 %": amount(row.p95, row.unit),
            "peer": amount(row.peer, row.unit),
            "ratio": "–" if math.isnan(row.ratio) else f"{row.ratio:.4g}×",
            "target": row.target or "–",
            "met": {True: "yes", False: "no", None: "–"}[row.met],
            "remark": row.note or "–",
        }
        for row in rows
    ]
    head = [name for name in cells[0] if any(cell[name] != "–" for cell in cells)]
    return lines(head, [["" if cell[name] == "–" else cell[name] for name in head] for cell in cells])


def lines(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown; every column but the first is set to the right, but for words."""
    words = ("case", "target", "met", "remark", "measured")
    marks = ["---" if i == 0 or name in words else "---:" for i, name in enumerate(head)]
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(each)} |" for each in (head, marks, *cells)) + "\n"
