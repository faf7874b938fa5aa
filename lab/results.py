"""The tables of results, built from the cards: all of the zoo, and the best of each family."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lab import bench
from lab.bench import record
from lab.errors import UserError
from lab.experiments import Experiment, catalog

BEGIN, END = "<!-- results -->", "<!-- /results -->"
HEAD = ["| experiment | family | data | parameters | test split | minutes |", "|---|---|---|---:|---|---:|"]
UNITS = {"char": "characters", "word": "words", "encoder": "words"}


def test_metrics(metrics: dict[str, float], std: dict[str, float] | None = None) -> str:
    """`nll 88.1, acc 0.815 ± 0.005`: the metrics of the test split, with what is given of each."""
    std = std or {}
    return ", ".join(
        f"{key.removeprefix('test/')} {value:.4g}"
        + (f" ± {std[key]:.2g}" if key in std and not key.endswith("_samples") else "")  # those are set
        for key, value in metrics.items()
        if key.startswith("test/")
    )


def shipped_card(experiment: Experiment) -> dict[str, Any] | None:
    """The card of the weights that ship; None without."""
    return experiment.card if experiment.weights and experiment.weights.parent.name == "zoo" else None


def measured_on(data: dict[str, Any]) -> str:
    """Name what the test split of a card's data is made of: two nlls are compared only where this is the
    same."""
    name = data.get("corpus") or data["name"]
    words = [" ".join([name, *(data[key] for key in ("kind", "shape", "toy") if key in data)])]
    if size := data.get("image_size"):
        words[0] += f" {size}×{size}"
    words += [data[key] for key in ("binarize",) if key in data]
    if "num_categories" in data:
        words.append(f"{data['num_categories']} values")
    if "window" in data:
        words.append(f"window {data['window']}")
    if coder := data.get("tokenizer"):
        words.append(
            UNITS.get(coder["kind"]) or f"{len(coder['model']['model']['vocab']):,} byte-pair tokens"
        )
    return ", ".join(words)


def row(experiment: Experiment) -> str:
    """Row of an experiment: what it is, and what its shipped weights reach on the test split."""
    card, start = shipped_card(experiment), f"| `{experiment.name}` | {experiment.family} |"
    if card is None:
        return f"{start} {experiment.datamodule.rpartition('.')[2]} | – | config only | – |"
    data = measured_on(card["data"]) + (" (embedded)" if experiment.embedded else "")
    metrics = test_metrics(card["metrics"], card.get("std", card.get("error")))
    return f"{start} {data} | {card['parameters']:,} | {metrics} | {card['minutes']:.1f} |"


def best() -> list[Experiment]:
    """Lowest test nll of each family on each form of each real data set (iwae, where nll is not known).

    Left out are models that are meant to fail, which their names say: a leak reads its answer.
    """
    results: dict[tuple[str, str], tuple[float, Experiment]] = {}
    for name, experiment in catalog().items():
        card = shipped_card(experiment)
        if card is None or experiment.embedded or name.startswith("leaky"):
            continue
        nll = card["metrics"].get("test/nll", card["metrics"].get("test/iwae"))
        key = experiment.family, measured_on(card["data"])
        if nll is not None and (key not in results or nll < results[key][0]):
            results[key] = nll, experiment
    return [experiment for _, experiment in results.values()]


def rebuild(folder: Path = Path()) -> None:
    """Put the tables between the markers in the README of the project and in that of its zoo, and write that
    of the benches from the results that are kept beside it.

    Args:
        folder: the project's.

    Raises:
        UserError: no README with both markers.
    """
    tables = {folder / "README.md": best(), folder / "lab/zoo/README.md": list(catalog().values())}
    texts = {}
    for path, experiments in tables.items():
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        before, begin, rest = text.partition(BEGIN)
        _, end, after = rest.partition(END)
        if not (begin and end):
            raise UserError(
                f"{path} has no {BEGIN} … {END}: run this in the folder of the project's README.md."
            )
        table = "\n".join([*HEAD, *map(row, experiments)])
        texts[path] = f"{before}{BEGIN}\n{table}\n{END}{after}"
    if (folder / "lab/bench" / record.RESULTS).is_dir():
        record.rebuild(bench.about(), folder / "lab/bench")
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")


# --- For the pages Models and Train ---------------------------------------------------------------


def differences(configs: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """Setting ("model.init_args.hidden") -> its value in each of these configs, – where it has none; what
    agrees is left out."""
    plain = [dict(flat(config)) for config in configs.values()]
    settings = dict.fromkeys(key for config in plain for key in config)
    rows = {key: [str(config.get(key, "–")) for config in plain] for key in settings}
    return {key: values for key, values in rows.items() if len(set(values)) > 1}


def flat(config: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """The settings of a nested config with their dotted names."""
    for key, value in config.items():
        if isinstance(value, Mapping) and value:
            yield from flat(value, f"{path}{key}.")
        else:
            yield f"{path}{key}", value


def plan(
    experiment: Experiment, epochs: int, batch: int | None, history: Mapping[str, list[float]]
) -> dict[str, str]:
    """Foretell a run before it starts: what is trained on what, how many steps, about how many minutes.

    Args:
        epochs, batch: as the reader has set them; None where the data has no batches.
        history: of the weights that ship: its seconds and steps are those of the estimate.
    """
    card = shipped_card(experiment) or {}
    words = {"model": experiment.module.rpartition(".")[2]}
    if "parameters" in card:
        words["parameters"] = f"{card['parameters']:,}"
    words["data"] = measured_on(card["data"]) if card else experiment.datamodule.rpartition(".")[2]
    if sizes := card.get("data", {}).get("splits"):
        counts = {
            split: size[1] - size[0] if isinstance(size, list) else size for split, size in sizes.items()
        }
        words["to learn from"] = ", ".join(f"{count:,} {split}" for split, count in counts.items())
    words["epochs"] = f"{epochs:,}"
    own = experiment.config["data"].get("init_args", {}).get("batch_size")
    done = len(history.get("epoch", []))
    if done and batch == own:  # another size of batches makes other steps
        words["steps"] = f"{round(history['step'][-1] / done) * epochs:,}"
    if done and history.get("seconds"):
        minutes = history["seconds"][-1] / done * epochs / 60
        words["minutes"] = f"about {minutes:.2g}" + ("" if batch == own else f" in batches of {own}")
    return words
