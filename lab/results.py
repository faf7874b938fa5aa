"""The table of results in README.md, built from the cards."""

from pathlib import Path

from lab.commands import test_metrics
from lab.errors import UserError
from lab.experiments import catalog

BEGIN, END = "<!-- results -->", "<!-- /results -->"


def table() -> str:
    """One row an experiment: what it is, what the shipped weights reach on the test split."""
    rows = [
        "| experiment | family | data | parameters | test split | minutes |",
        "|---|---|---|---:|---|---:|",
    ]
    for name, experiment in catalog().items():
        card = experiment.card if experiment.weights and experiment.weights.parent.name == "zoo" else None
        data = experiment.datamodule.rpartition(".")[2] + (" (embedded)" if experiment.embedded else "")
        if card is None:
            rows.append(f"| `{name}` | {experiment.family} | {data} | – | config only | – |")
            continue
        if binarize := card["data"].get("binarize"):
            data += f", {binarize}"
        metrics = test_metrics(card["metrics"], card.get("std"))
        size, minutes = f"{card['parameters']:,}", f"{card['minutes']:.1f}"
        rows.append(f"| `{name}` | {experiment.family} | {data} | {size} | {metrics} | {minutes} |")
    return "\n".join(rows)


def rebuild(path: Path = Path("README.md")) -> None:
    """Put the table between the markers in README.md.

    Raises:
        UserError: no README with both markers.
    """
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise UserError(f"{path} has no {BEGIN} … {END}: run this in the folder of README.md.")
    path.write_text(f"{before}{BEGIN}\n{table()}\n{END}{after}", encoding="utf-8")
