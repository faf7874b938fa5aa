"""Train: pick an experiment, change its settings, watch the run; it goes on when this page is closed."""

import shlex
from collections.abc import Callable
from typing import Any

from lab import experiments, results, runs, ui
from lab.errors import UserError
from lab.figures import basic
from lab.training.run import run as run_training

PLAN = "a new run"

stage = ui.stage(
    "Train", "Start a run of your own, watch it learn, and compare it with the models that ship."
)
stage.scenes(
    {
        "In a minute": ui.scene(
            "Small digits and a small net: a run that one can wait for.", experiment="made-digits"
        ),
        "A graph": ui.scene("The karate club: a net of a few numbers.", experiment="gcn-karate"),
        "A picture of digits": ui.scene("A convolutional net on MNIST.", experiment="cnn-mnist"),
        "A writer": ui.scene(
            "A transformer takes its time: compare its minutes.", experiment="gpt-shakespeare"
        ),
    }
)
ui.gate()
mine = ui.browser_keys()

catalog = experiments.catalog()
every = {run.name: run for run in runs.list_runs()}


def settings(name: str) -> dict[str, Any]:
    """The fields of an experiment. None of them comes from a link: whoever presses Start has set them."""
    values: dict[str, Any] = {}
    for field, own in runs.settings(name).items():
        known = runs.FIELDS[field]
        look: dict[str, Any] = {"step": 1e-4, "format": "%.5f"} if isinstance(own, float) else {}
        values[field] = ui.number(
            known.label, known.low, known.high, own, key=f"{name}-{field}", linked=False, **look
        )
    return values


def start() -> None:
    run = runs.start(name, values, mine[-1])
    ui.set_values({"run": run.name})


def state_text(run: runs.Run, waiting: list[runs.Run]) -> str:
    """The run's state in a word or two; of a waiting run its place."""
    return f"queued, {waiting.index(run) + 1} of {len(waiting)}" if run in waiting else run.state


def watch(run: runs.Run) -> None:
    """The run as it is now: state, curves, samples, log."""
    rows = run.metrics
    total = ui.setting(experiments.find(run.experiment).config, "trainer.max_epochs", 10)
    given = [o for o in run.status.get("overrides", []) if o.startswith("--trainer.max_epochs=")]
    total = given[0].partition("=")[2] if given else total
    seconds = f", {rows[-1]['seconds']:.0f} s" if rows and "seconds" in rows[-1] else ""
    ui.markdown(f"**{state_text(run, runs.queue())}**: {len(rows)} of {total} epochs{seconds}")
    if run.error:
        ui.warning(run.error)
    measured = sorted({key.partition("/")[2] for row in rows for key in row if "/" in key} - {"loss"})
    for metric in measured[:2]:
        keys = [
            f"{split}/{metric}"
            for split in ("train", "val")
            if any(f"{split}/{metric}" in row for row in rows)
        ]
        lines = {
            key.partition("/")[0]: (
                [r["epoch"] for r in rows if key in r],
                [r[key] for r in rows if key in r],
            )
            for key in keys
        }
        ui.figure(
            basic.curves(lines, xlabel="epoch", ylabel=metric, markers=len(rows) < 30),
            alt=f"{metric} of {run.name} over its epochs",
            data={"epoch": [row["epoch"] for row in rows]}
            | {key: [row.get(key, "") for row in rows] for key in keys},
            key=f"live-{metric}",
            share=1 / len(measured[:2]),
        )
    if rows:
        ui.samples(run.training, run.experiment)
    with ui.expander("What the run printed"):
        ui.code(run.log or "Nothing yet.", language=None)


def show(run: runs.Run) -> None:
    """One run: its buttons, and what changes while it goes on."""
    state = run.state
    going, broken = state in ("queued", "running"), state in ("stopped", "failed")
    with stage.rail:
        if going or broken:
            ui.action(
                "Stop", lambda: change(runs.stop, run), key="stop", disabled=not going,
                icon=":material/stop:",
            )  # fmt: skip
            ui.action(
                "Resume", lambda: change(runs.resume, run), key="resume", disabled=not broken,
                icon=":material/resume:",
            )  # fmt: skip
            if not may_change(run):
                ui.caption("Another browser has started this run: it is stopped and resumed there.")
                ui.ask_password("With it you can stop and resume every run.")
        elif state == "finished":
            ui.caption("Its weights and card are saved: they stand beside the others on Models.")

    @ui.live(every=2.0 if going else None)
    def now() -> None:
        watch(run)
        if run.state != state:
            ui.rerun()

    with stage.picture:
        now()


def may_change(run: runs.Run) -> bool:
    return ui.is_unlocked() or runs.is_started_by(run, mine)


def change(do: Callable[[runs.Run], object], run: runs.Run) -> None:
    """Stop or resume a run of this browser's."""
    if not may_change(run):
        raise UserError("Another browser has started this run: it is stopped and resumed there.")
    do(run)


def foresee(name: str, values: dict[str, Any]) -> None:
    """Foretell what will happen: the curves of the run that ships, what is trained how long, what is written
    where."""
    experiment = catalog[name]
    history = ui.history(name) if name in ui.trained() else {}
    epochs = int(values["epochs"])
    words = results.plan(experiment, epochs, values.get("batch"), history)
    waiting = len(runs.queue())
    words["starts"] = (
        f"after {waiting} others that wait" if waiting else "at once, if one of the slots is free"
    )
    monitor = (experiment.card or {}).get("config", {}).get("monitor", "val/nll").partition("/")[2]
    lines = {
        split: (history["epoch"], history[f"{split}/{monitor}"])
        for split in ("train", "val")
        if f"{split}/{monitor}" in history
    }
    left, right = ui.columns([1, 1])
    with left:
        ui.figure(
            basic.curves(lines, xlabel="epoch", ylabel=f"{monitor} of the run that ships", mark=epochs - 1),
            alt=f"{monitor} over the epochs of the {name} that ships; the line stands where yours will end",
            key="shipped", share=1.0,
        )  # fmt: skip
    with right:
        ui.table({"what will happen": list(words), name: list(words.values())}, alt=f"A run of {name}")
        ui.caption(
            "Steps and minutes are as those of the run that ships, on its machine. "
            f"Written to runs/{name}/ and the time of the start: config.yaml, metrics.csv, log.txt, "
            "checkpoints; at the end model.safetensors and card.json, which Models shows."
        )


with stage.rail:
    name = ui.choice("Experiment", list(catalog), key="experiment", default="made-digits")
    values = settings(name)
    ui.action("Start", start, key="start", primary=True, icon=":material/play_arrow:")
    watched = ui.choice("Watch", [PLAN, *every], key="run", default=PLAN, as_list=True)
if watched != PLAN:
    show(every[watched])
else:
    with stage.picture:
        foresee(name, values)
with stage.foot:
    ui.code(shlex.join(["lab", "fit", name, *runs.options(name, values)]), language="bash")
with stage.below:
    if every:
        waiting = runs.queue()
        ui.table(
            {
                "run": list(every),
                "state": [state_text(run, waiting) for run in every.values()],
                "epochs": [len(run.metrics) for run in every.values()],
            },
            alt="All runs of one's own",
        )
    else:
        ui.caption("No run of your own yet: press Start.")
    ui.notice(
        "A run is a process of its own: it goes on when you close this page, and the link brings you back. "
        f"{runs.slots()} may go on at once here, two cores each; others wait for their turn. "
        "**Stop** keeps the last epoch's checkpoint; **Resume** goes on from there to the very weights that "
        "an uninterrupted run reaches. What is not offered here, the line above takes on the command line."
    )
    ui.source(runs.start, runs.resume, run_training)
