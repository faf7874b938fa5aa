"""Models: the catalog, the cards, the learning curves; own runs beside those that ship."""

from lab import experiments, ui
from lab.figures import basic
from lab.results import test_metrics
from lab.weights import load

ui.header("Models", "Everything that was trained here: what on, how long, and how well.")

catalog = experiments.catalog()
families = list(dict.fromkeys(e.family for e in catalog.values()))
family = ui.choice("Family", ["all", *families], key="family", default="all")
rows = [e for e in catalog.values() if family in ("all", e.family)]
cards = [e.card or {} for e in rows]
ui.table(
    {
        "experiment": [e.name for e in rows],
        "test": [test_metrics(card.get("metrics", {}), card.get("std")) for card in cards],
        "parameters": [card.get("parameters") for card in cards],
        "minutes": [card.get("minutes") for card in cards],
        "model": [e.module.rpartition(".")[2] for e in rows],
        "data": [e.datamodule.rpartition(".")[2] + (" (embedded)" if e.embedded else "") for e in rows],
        "own runs": [sum(1 for f in e.weight_folders() if f.parent != experiments.ZOO) for e in rows],
    },
    alt="All experiments with their models, data and test results",
)

name = ui.experiment("Trained model", family=None if family == "all" else family, key="model")
experiment = experiments.find(name.partition("/")[0])
card = ui.card(name)

ui.markdown(f"### {name}")
minutes, epochs = card.get("minutes"), card.get("epochs")
facts = {
    "Parameters": f"{card['parameters']:,}",
    "Epochs": f"{epochs}" if epochs is not None else "–",
    "Minutes": f"{minutes:.1f}" if minutes is not None else "–",
    "Seeds": str(len(card.get("seeds", []))) or "–",
}
for column, (label, value) in zip(ui.columns(len(facts)), facts.items(), strict=True):
    column.metric(label, value)
metrics, std = card.get("metrics", {}), card.get("std", {})
ui.table(
    {
        "metric": list(metrics),
        "value": [f"{value:.5g}" for value in metrics.values()],
        "std over seeds": [f"{std[m]:.2g}" if m in std else "" for m in metrics],
    },
    alt=f"Metrics of {name}",
)

ui.markdown("#### Learning curves")
histories = {run: ui.history(run) for run in ui.trained(None, lambda e: e.name == experiment.name)}
measured = sorted({column.partition("/")[2] for h in histories.values() for column in h if "/" in column})
if not measured:
    ui.caption("This model shipped without its log.")
else:
    monitor = card.get("config", {}).get("monitor", "val/nll").partition("/")[2]
    metric = ui.choice("Metric", measured, key="metric", default=monitor)
    others = ui.toggle("Beside all runs of this experiment", len(histories) > 1, key="beside")
    shown = histories if others else {name: histories.get(name, {})}
    lines = {
        f"{run} {split}" if len(shown) > 1 else split: (h["epoch"], h[f"{split}/{metric}"])
        for run, h in shown.items()
        for split in ("train", "val")
        if f"{split}/{metric}" in h
    }
    ui.figure(
        basic.curves(lines, xlabel="epoch", ylabel=metric),
        alt=f"{metric} over the epochs of {', '.join(shown)}",
        data={
            "run": [line for line, (x, _) in lines.items() for _ in x],
            "epoch": [v for x, _ in lines.values() for v in x],
            metric: [v for _, y in lines.values() for v in y],
        },
    )

settings, whole = ui.tabs(["Settings, with their reasons", "Card"])
with whole:
    ui.json(card, expanded=1)
with settings:
    ui.code(experiment.path.read_text(encoding="utf-8"), language="yaml")

ui.notice(
    "The card is written by the run itself: its numbers are those of the weights in the file, taken on the "
    "test split after the best epoch was chosen on the validation split. `nll` is in nats per example (per "
    "token for language)."
)
ui.source(load, references=["Mitchell et al. 2019, Model Cards for Model Reporting, arXiv:1810.03993"])
