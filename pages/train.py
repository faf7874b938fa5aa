"""Train: pick an experiment, change its settings, watch the run; it goes on when this page is closed."""

import shlex

from lab import experiments, runs, training, ui
from lab.figures import basic

ui.header("Train", "Start a run of your own, watch it learn, and compare it with the models that ship.")

catalog = experiments.catalog()
name = ui.choice("Experiment", list(catalog), key="experiment", default="made-digits")
experiment = catalog[name]
epochs = ui.setting(experiment.config, "trainer.max_epochs", 10)
rate = ui.setting(experiment.config, "model.init_args.optimizer.init_args.lr", 1e-3)
batch = ui.setting(experiment.config, "data.init_args.batch_size", None)

columns = ui.columns(4)
changed = {}
with columns[0]:
    changed["trainer.max_epochs"] = (
        ui.number("Epochs", 1, 10_000, int(epochs), key=f"{name}-epochs"),
        epochs,
    )
with columns[1]:
    new_rate = ui.number("Learning rate", 0.0, 10.0, float(rate), key=f"{name}-lr", step=1e-4, format="%.5f")
    changed["model.init_args.optimizer.init_args.lr"] = (new_rate, float(rate))
with columns[2]:
    if batch is None:
        ui.caption("The whole data set is one batch.")
    else:
        changed["data.init_args.batch_size"] = (
            ui.number("Batch size", 1, 10_000, int(batch), key=f"{name}-batch"),
            batch,
        )
with columns[3]:
    changed["seed_everything"] = (ui.number("Seed", 0, 9999, 0, key=f"{name}-seed"), 0)
more = ui.text(
    "More options",
    "",
    key=f"{name}-more",
    max_chars=500,
    area=False,
    help="Anything `lab fit` takes, for example --model.init_args.hidden [64]",
)

try:
    overrides = [f"--{path}={value}" for path, (value, default) in changed.items() if value != default]
    overrides += shlex.split(more)
except ValueError as error:
    ui.stop(f"The options cannot be read: {error}. Close every quote.")
ui.code(shlex.join(["lab", "fit", name, *overrides]), language="bash")


def start() -> None:
    run = runs.start(name, overrides)
    ui.set_values({"run": run.name})


ui.action("Start", start, key="start", primary=True, icon=":material/play_arrow:")


def watch(run: runs.Run) -> None:
    """The run as it is now: state, curves, samples, log."""
    rows = run.metrics
    total = ui.setting(experiments.find(run.experiment).config, "trainer.max_epochs", 10)
    given = [o for o in run.status.get("overrides", []) if o.startswith("--trainer.max_epochs=")]
    total = given[0].partition("=")[2] if given else total
    seconds = f", {rows[-1]['seconds']:.0f} s" if rows and "seconds" in rows[-1] else ""
    ui.markdown(f"**{run.state}**: {len(rows)} of {total} epochs{seconds}")
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
        ui.samples(run.folder, run.experiment)
    with ui.expander("What the run printed"):
        ui.code(run.log or "Nothing yet.", language=None)


def show(run: runs.Run) -> None:
    """One run: buttons, and what changes while it goes on."""
    state = run.state
    going, broken = state == "running", state in ("stopped", "failed")
    with ui.container(horizontal=True):
        ui.action("Stop", lambda: runs.stop(run), key="stop", disabled=not going, icon=":material/stop:")
        ui.action(
            "Resume", lambda: runs.resume(run), key="resume", disabled=not broken, icon=":material/resume:"
        )

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


every = {run.name: run for run in runs.list_runs()}
ui.divider()
overview = "all runs"
watched = ui.choice("Watch", [overview, *every], key="run", default=overview, as_list=True)
if watched != overview:
    show(every[watched])
elif every:
    ui.table(
        {
            "run": list(every),
            "state": [run.state for run in every.values()],
            "epochs": [len(run.metrics) for run in every.values()],
        },
        alt="All runs of one's own",
    )
else:
    ui.caption("No run of your own yet: press Start.")

ui.notice(
    "A run is a process of its own: it goes on when you close this page, and the link brings you back. "
    "**Stop** keeps the last epoch's checkpoint; **Resume** goes on from there to the very weights that an "
    "uninterrupted run reaches."
)
ui.source(runs.start, runs.resume, training.run)
