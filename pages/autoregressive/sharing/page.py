"""Sharing: networks of their own for every pixel against one set of columns, on few digits and on many."""

from lab import ui
from lab.figures import basic
from modules.autoregressive import nade, untied
from pages.autoregressive.sharing import figures, lens

REFERENCES = [
    "Bengio, Bengio 2000, Modeling high-dimensional discrete data with multi-layer neural networks",
    "Larochelle, Murray 2011, The neural autoregressive distribution estimator",
    "[GM] §1.5.2",
]
WIDTH = 32  # hidden units of the models that ship


@ui.cached
def shipped(name: str, size: int) -> lens.Shipped:
    experiment = lens.SHIPPED[name][size]
    return lens.shipped(name, size, ui.load(experiment), ui.card(experiment))


def shipped_mode() -> None:
    found = [shipped(name, size) for name in lens.MODELS for size in lens.SHIPPED[name]]
    lines = {}
    for split in ("test", "train"):
        for name in lens.MODELS:
            mine = [f for f in found if f.name == name]
            spread = [f.std if split == "test" else 0.0 for f in mine]
            lines[f"{name}, {split}"] = ([f.size for f in mine], [getattr(f, split) for f in mine], spread)
    ui.figure(
        figures.by_size(lines, f"−log p of models that ship, {WIDTH} units, nats"),
        alt="Test and training cost of untied networks and NADE against the number of training digits",
    )
    ui.table(
        {
            "experiment": [f.experiment for f in found],
            "training digits": [f.size for f in found],
            "test nats": [f"{f.test:.2f} ± {f.std:.2f}" for f in found],
            "training nats": [f"{f.train:.2f}" for f in found],
        },
        alt="The models that ship, with their costs",
    )
    ui.caption(
        "Test: mean ± standard deviation over three seeds, from the cards. Training: the weights shown."
    )
    gaps = lens.gaps(found)
    most = max(gaps, key=lambda size: gaps[size])
    own, shared = (lens.input_weights(name, WIDTH) for name in ("untied", "NADE"))
    ui.equation(
        rf"d \tfrac{{n(n-1)}}{{2}} = {own:,} \quad\text{{against}}\quad n d = {shared:,}".replace(",", "{,}"),
        f"Input weights at n = 64, d = {WIDTH}, counted in the arrays: untied has a column of d weights for "
        "every pair of pixels, NADE one for every pixel.",
    )
    won = ", ".join(f"{gap:.2f} nats at {size:,}" for size, gap in gaps.items())
    ui.notice(
        f"With the best epoch chosen by validation, sharing wins by {won}, with {own / shared:.1f} times "
        "fewer input weights; a gap as small as the spread over seeds is none. From training to test both "
        "lose the more, the fewer the digits. Train live, and look at the last step instead of the best."
    )
    ui.presets({"Train live": {"show": "Train live"}, "Narrow, live": {"show": "Train live", "d": 8}})
    ui.check(
        "At how many training digits does sharing win by most, among these?",
        list(gaps),
        most,
        "; ".join(f"{gap:.2f} nats at {size:,}" for size, gap in gaps.items()) + ".",
    )
    ui.source(nade.NADE, untied.Untied, lens.shipped, references=REFERENCES)


def pictures(runs: list[lens.Run], hidden: int) -> None:
    """Both curves of all runs, and the validation curve of the last two."""
    left, right = ui.columns(2)
    with left:
        lines = {
            f"{name}, {label}": lens.curve(runs, name, split)
            for split, label in (("test", "test"), ("train", "train"))
            for name in lens.MODELS
            if any(run.model == name for run in runs)
        }
        ui.figure(
            figures.by_size(lines, f"Best step by validation, d = {hidden}, nats"),
            alt="Test and training cost against the number of training digits", key="sizes",
        )  # fmt: skip
    with right:
        last = {run.model: run for run in runs if run.size == runs[-1].size}
        steps = [lens.EVERY * i for i in range(len(runs[-1].curves["val"]))]
        courses = {name: (steps[: len(run.curves["val"])], run.curves["val"]) for name, run in last.items()}
        ui.figure(
            basic.curves(courses, title=f"Validation, {runs[-1].size:,} digits", xlabel="step", height=440),
            alt="Validation cost over training at the largest number of digits so far", key="steps",
        )  # fmt: skip


def live_mode() -> None:
    left, middle, right = ui.columns(3)
    with left:
        hidden = ui.slider("Hidden units d", 2, 64, WIDTH, key="d")
    with middle:
        most = ui.choice("Most digits", [100, 200, 400, 800, 1297], key="most", default=400)
    with right:
        seeds = ui.slider("Seeds", 1, 3, 1, key="seeds")
    sizes = [size for size in lens.SIZES if size <= most]
    own, shared = (lens.input_weights(name, hidden) for name in ("untied", "NADE"))
    ui.caption(
        f"{len(sizes) * seeds * 2} trainings of {lens.STEPS} steps. Input weights: untied {own:,}, NADE "
        f"{shared:,}. A seed draws the digits, the first weights and the batches."
    )
    runs = ui.job(
        "Train both",
        lambda: lens.sweep(sizes, hidden, seeds),
        key="train",
        of=(hidden, most, seeds),
        show=lambda so_far: pictures(so_far, hidden),
    )
    if runs is None:
        ui.notice("Which of the two will be hurt more by having only 100 digits?")
    else:
        pictures(runs, hidden)
        rows = lens.table(runs)
        ui.table(rows, alt="Costs of both models at each number of training digits")
        best, last = (lens.advantage(runs, sizes[0], split) for split in ("test", "last"))
        ui.equation(
            rf"\text{{untied}} - \text{{NADE}} = {best:.2f}\;\text{{nats at the best step}},\quad "
            rf"{last:.2f}\;\text{{at the last}}",
            f"Test digits, trained on {sizes[0]:,}; mean over the seeds.",
        )
        ui.notice(
            "Solid lines are test digits, dotted ones the digits trained on: the fewer the digits, the wider "
            "the gap. The best step is chosen by validation; the last column shows what training on costs."
        )
        ui.check(
            f"On {sizes[0]} digits, which model lost more by training on after its best step?",
            list(lens.MODELS),
            max(lens.MODELS, key=lambda name: lens.overshoot(runs, name, sizes[0])),
            "; ".join(f"{n}: {lens.overshoot(runs, n, sizes[0]):+.2f} nats" for n in lens.MODELS) + ".",
        )
    ui.presets({"As shipped": {"d": WIDTH, "most": 400}, "Wide": {"d": 64}, "Three seeds": {"seeds": 3}})
    ui.source(lens.train, nade.NADE, untied.Untied, references=REFERENCES)


ui.header(
    "Sharing",
    "A network of its own for every pixel, or one set of columns for all: what do few examples say?",
)
modes = {"Shipped": shipped_mode, "Train live": live_mode}
modes[ui.choice("Show", list(modes), key="show", default="Shipped")]()
