"""Models: two to four side by side, in curves, numbers and the settings that differ; the whole catalog."""

from lab import experiments, ui
from lab.figures import basic
from lab.results import differences, measured_on
from lab.weights import load

NONE = "none"

stage = ui.stage(
    "Models", "Everything that was trained here: on what, how long, how well; two to four side by side."
)
stage.scenes(
    {
        "Three densities": ui.scene("NADE needs fewer epochs than MADE and FVSBN, and ends below them."),
        "Many orders": ui.scene(
            "MADE with one order, and with many: to answer in any order costs nats.",
            second="made-orders-mnist", third=NONE,
        ),
        "Two widths": ui.scene(
            "32 hidden units, and more: more of them learn more, and overfit more.",
            model="nade32-digits", second="nade-digits", third=NONE,
        ),
        "A leak": ui.scene(
            "Trained without its mask this GPT reads its answers off: its loss falls to nearly nothing.",
            model="gpt-shakespeare", second="leakygpt-shakespeare", third=NONE,
        ),
        "Graphs": ui.scene(
            "One net, two graphs: a few labelled nodes are enough for most of the others.",
            model="gcn-cora", second="gcn-citeseer", third=NONE, metric="acc",
        ),
    }
)  # fmt: skip

# --- Controls -----------------------------------------------------------------------------------

catalog = experiments.catalog()
families = list(dict.fromkeys(e.family for e in catalog.values()))
with stage.rail:
    first = ui.experiment("Model", key="model", default="made-mnist")
    names = [first]
    for label, key, default in (
        ("beside it", "second", "nade-mnist"), ("and", "third", "fvsbn-mnist"), ("and also", "fourth", NONE),
    ):  # fmt: skip
        names.append(ui.choice(label, [NONE, *ui.trained()], key=key, default=default, as_list=True))
    names = [name for name in dict.fromkeys(names) if name != NONE]
    cards = {name: ui.card(name) for name in names}
    histories = {name: ui.history(name) for name in names}
    measured = sorted({column.partition("/")[2] for h in histories.values() for column in h if "/" in column})
    monitor = cards[first].get("config", {}).get("monitor", "val/nll").partition("/")[2]
    metric = ui.choice("Curves of", measured or ["nll"], key="metric", default=monitor, as_list=True)
    split = ui.choice("Split", ["val", "train"], key="split")
    family = ui.choice(
        "Family, in the catalog below", ["all", *families], key="family", default="all", as_list=True
    )

# --- Picture ------------------------------------------------------------------------------------

column = f"{split}/{metric}"
lines = {name: (h["epoch"], h[column]) for name, h in histories.items() if column in h}
silent = [name for name in names if name not in lines]


def row(numbers: dict, name: str) -> str:
    return f"{numbers[name]:.5g}" if name in numbers else "–"


tested = list(dict.fromkeys(m for card in cards.values() for m in card["metrics"] if m.startswith("test/")))
rows = {
    **{m: [row(card["metrics"], m) for card in cards.values()] for m in tested},
    "parameters": [f"{card['parameters']:,}" for card in cards.values()],
    "epochs": [str(card.get("epochs", "–")) for card in cards.values()],
    "minutes": [
        f"{card['minutes']:.1f}" if card.get("minutes") is not None else "–" for card in cards.values()
    ],
}
data = {name: measured_on(card["data"]) for name, card in cards.items()}
if len(set(data.values())) > 1:
    rows["data"] = list(data.values())
apart = {
    key.replace("init_args.", ""): [v.rpartition(".")[2] for v in values] if "class_path" in key else values
    for key, values in differences({name: card["config"] for name, card in cards.items()}).items()
}


def beside(head: str, table: dict) -> dict:
    """Rows by name as columns: their names, then one column a model."""
    return {head: list(table), **{name: [row[i] for row in table.values()] for i, name in enumerate(names)}}


with stage.picture:
    left, right = ui.columns([1, 1])
    with left:
        ui.figure(
            basic.curves(lines, xlabel="epoch", ylabel=f"{metric} ({split})"),
            alt=f"{metric} of the {split} split over the epochs of {', '.join(lines) or 'no model'}",
            key="curves",
            data={
                "model": [name for name, (x, _) in lines.items() for _ in x],
                "epoch": [v for x, _ in lines.values() for v in x],
                metric: [v for _, y in lines.values() for v in y],
            },
            share=1.0,
        )  # fmt: skip
        if silent:
            ui.caption(f"No {metric} of the {split} split in the log of {', '.join(silent)}.")
    with right:
        ui.table(
            beside("", rows), alt=f"Test results and sizes of {', '.join(names)}", key="numbers",
        )  # fmt: skip
        ui.caption(
            "Settings that differ"
            if len(names) > 1
            else "Choose a second model to see which settings differ."
        )
        if len(names) > 1:
            ui.table(
                beside("setting", apart), key="settings", height=240,
                alt=f"Settings that differ between {', '.join(names)}",
            )  # fmt: skip

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    shown = [e for e in catalog.values() if family in ("all", e.family)]
    known = [(e.card or {}) for e in shown]
    numbers = [m for m in ("test/nll", "test/bpd", "test/ppl", "test/acc", "test/elbo", "test/iwae")
               if any(m in card.get("metrics", {}) for card in known)]  # fmt: skip
    ui.markdown(f"##### {len(shown)} experiments: a click on a column's head sorts")
    ui.table(
        {
            "experiment": [e.name for e in shown],
            **{m.removeprefix("test/"): [card.get("metrics", {}).get(m) for card in known] for m in numbers},
            "parameters": [card.get("parameters") for card in known],
            "minutes": [card.get("minutes") for card in known],
            "epochs": [card.get("epochs") for card in known],
            "model": [e.module.rpartition(".")[2] for e in shown],
            "data": [measured_on(card["data"]) if card else "–" for card in known],
            "own runs": [sum(1 for f in e.weight_folders() if f.parent != experiments.ZOO) for e in shown],
        },
        alt="All experiments with their models, data and test results", key="catalog", height=420,
    )  # fmt: skip
    with ui.expander(f"Settings of {first}, with their reasons"):
        ui.code(experiments.find(first.partition("/")[0]).path.read_text(encoding="utf-8"), language="yaml")
    with ui.expander(f"Card of {first}"):
        ui.json(cards[first], expanded=1)
    ui.notice(
        "The card is written by the run itself: its numbers are those of the weights in the file, taken on "
        "the test split after the best epoch was chosen on the validation split. `nll` is in nats per "
        "example (per token for language): two of them are compared only where the data is the same."
    )
    ui.source(load, references=["Mitchell et al. 2019, Model Cards for Model Reporting, arXiv:1810.03993"])
