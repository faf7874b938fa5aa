"""Train: pick an experiment, change its settings, watch the run; it goes on when this page is closed."""

import shlex
from collections.abc import Callable
from typing import Any

from lab import experiments, runs, training, ui
from lab.errors import UserError
from lab.figures import basic

ui.header("Train", "Start a run of your own, watch it learn, and compare it with the models that ship.")
ui.gate()
mine = ui.browser_keys()

catalog = experiments.catalog()
name = ui.choice("Experiment", list(catalog), key="experiment", default="made-digits")

# None of these comes from a link: whoever presses Start has set them.
values: dict[str, Any] = {}
for column, (field, own) in zip(ui.columns(4), runs.settings(name).items(), strict=False):
    known = runs.FIELDS[field]
    look: dict[str, Any] = {"step": 1e-4, "format": "%.5f"} if isinstance(own, float) else {}
    with column:
        values[field] = ui.number(
            known.label, known.low, known.high, own, key=f"{name}-{field}", linked=False, **look
        )
ui.code(shlex.join(["lab", "fit", name, *runs.options(name, values)]), language="bash")


def start() -> None:
    run = runs.start(name, values, mine[-1])
    ui.set_values({"run": run.name})


ui.action("Start", start, key="start", primary=True, icon=":material/play_arrow:")


def said(run: runs.Run, waiting: list[runs.Run]) -> str:
    """The run's state in a word or two; of a waiting run its place."""
    return f"queued, {waiting.index(run) + 1} of {len(waiting)}" if run in waiting else run.state


def watch(run: runs.Run) -> None:
    """The run as it is now: state, curves, samples, log."""
    rows = run.metrics
    total = ui.setting(experiments.find(run.experiment).config, "trainer.max_epochs", 10)
    given = [o for o in run.status.get("overrides", []) if o.startswith("--trainer.max_epochs=")]
    total = given[0].partition("=")[2] if given else total
    seconds = f", {rows[-1]['seconds']:.0f} s" if rows and "seconds" in rows[-1] else ""
    ui.markdown(f"**{said(run, runs.queue())}**: {len(rows)} of {total} epochs{seconds}")
    if run.error:
        ui.warning(run.error)
    measured = sorted({key.partition("/")[2] for row in rows for key in row if "/" in key} - {"loss"})
    for metric in measured:
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
        )
    if rows:
        ui.samples(run.training, run.experiment)
    with ui.expander("What the run printed"):
        ui.code(run.log or "Nothing yet.", language=None)


def show(run: runs.Run) -> None:
    """One run: buttons, and what changes while it goes on."""
    state = run.state
    going, broken = state in ("queued", "running"), state in ("stopped", "failed")
    if going or broken:
        with ui.container(horizontal=True):
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

    @ui.live(every=2.0 if going else None)
    def now() -> None:
        watch(run)
        if run.state != state:
            ui.rerun()

    now()
    if state == "finished":
        ui.markdown(
            "Its weights and card are saved: they stand beside the others on **Models** and on every page."
        )


def may_change(run: runs.Run) -> bool:
    return ui.unlocked() or runs.started_by(run, mine)


def change(do: Callable[[runs.Run], object], run: runs.Run) -> None:
    """Stop or resume a run of this browser's."""
    if not may_change(run):
        raise UserError("Another browser has started this run: it is stopped and resumed there.")
    do(run)


every = {run.name: run for run in runs.list_runs()}
ui.divider()
overview = "all runs"
watched = ui.choice("Watch", [overview, *every], key="run", default=overview, as_list=True)
if watched != overview:
    show(every[watched])
elif every:
    waiting = runs.queue()
    ui.table(
        {
            "run": list(every),
            "state": [said(run, waiting) for run in every.values()],
            "epochs": [len(run.metrics) for run in every.values()],
        },
        alt="All runs of one's own",
    )
else:
    ui.caption("No run of your own yet: press Start.")

ui.notice(
    "A run is a process of its own: it goes on when you close this page, and the link brings you back. "
    f"{runs.slots()} may go on at once here, two cores each; others wait for their turn. "
    "**Stop** keeps the last epoch's checkpoint; **Resume** goes on from there to the very weights that an "
    "uninterrupted run reaches. What is not offered here, the line above takes on the command line."
)
ui.source(runs.start, runs.resume, training.run)
