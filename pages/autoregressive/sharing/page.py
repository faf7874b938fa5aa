"""Sharing: networks of their own for every pixel against one set of columns, on few digits and on many."""

from lab import ui
from lab.figures import basic
from lab.lenses import drawing
from modules.autoregressive import nade, untied
from pages.autoregressive.sharing import figures, lens
from pages.autoregressive.sharing.room import ROOM

WIDTH = 32  # hidden units of the models that ship
UNITS, SAMPLES = 8, 12  # that are shown
TITLES = {"untied": "Untied: a network a pixel", "NADE": "NADE: shared columns"}

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Hundred digits": ui.scene("Weights of eight units of one pixel's network; NADE's are everyone's."),
        "Next pixel": ui.scene("The last row: untied weights are new ones, NADE's columns stay.", pixel=60),
        "All digits": ui.scene("With 1,297 digits the untied weights are still the paler.", digits=1297),
        "Early pixel": ui.scene("An early pixel reads few others: little to share yet.", pixel=10),
        "Train live": ui.scene("Press Train both: 100 to 400 digits, here and now.", show="Train live"),
        "Narrow, live": ui.scene(
            "Press Train both: with eight units, does sharing still win?", show="Train live", d=8
        ),
    }
)


@ui.cached
def shipped(name: str, size: int) -> lens.Shipped:
    experiment = lens.SHIPPED[name][size]
    return lens.shipped(name, size, ui.load(experiment), ui.card(experiment))


@ui.cached
def sheets(experiment: str):
    return lens.sheets(lens.columns(ui.load(experiment), UNITS))


@ui.cached
def drawn(experiment: str, seed: int):
    return drawing.squares(drawing.samples(ui.load(experiment), SAMPLES, seed))


def shipped_mode() -> None:
    with stage.rail:
        size = ui.choice("Training digits", list(lens.SHIPPED["NADE"]), key="digits")
        seed = ui.number("Seed of the samples", 0, 9999, 0, key="seed")
    film = ui.film(64, key="pixel", default=36, values=range(64), label="Pixel", seconds=0.2)
    names = {name: lens.SHIPPED[name][size] for name in lens.MODELS}
    reach = lens.reach([sheets(one) for one in names.values()])
    with stage.picture:
        for place, (name, experiment) in zip(ui.columns(2), names.items(), strict=True):
            maps, samples = sheets(experiment), drawn(experiment, seed)
            with place:
                ui.figure(
                    figures.maps(maps[film.at], reach, TITLES[name]), key=f"weights-{name}", share=0.6,
                    alt=f"{TITLES[name]}: weights from pixels to {UNITS} units", film=film,
                    frames={"data.0.z": maps},
                )  # fmt: skip
                ui.figure(
                    basic.images(samples, columns=6, title="Its samples"), key=f"samples-{name}", share=0.4,
                    alt=f"{SAMPLES} samples of {experiment}", data={"picture": drawing.bit_strings(samples)},
                )  # fmt: skip
    with stage.foot:
        film.bar(
            captions=[" ".join(lens.read_by(name, pixel, WIDTH) for name in names) for pixel in range(64)]
        )
    results = [shipped(name, size) for name in lens.MODELS for size in lens.SHIPPED[name]]
    now = {f.name: f for f in results if f.size == size}
    stage.metrics({f"{name}, test nats": f"{f.test:.2f} ± {f.std:.2f}" for name, f in now.items()})
    own, shared = (lens.input_weights(name, WIDTH) for name in ("untied", "NADE"))
    stage.equation(
        rf"d n(n-1)/2 = {own:,} \quad\text{{against}}\quad n d = {shared:,}".replace(",", "{,}"),
        f"Input weights, n = 64, d = {WIDTH}.",
    )
    gaps = lens.gaps(results)
    won = ", ".join(f"{gap:.2f} nats at {one:,}" for one, gap in gaps.items())
    most = max(gaps, key=lambda one: gaps[one])
    better = min(now.values(), key=lambda f: f.test)
    with stage.below:
        ui.figure(
            figures.by_size(lens.shipped_lines(results), f"−log p of models that ship, {WIDTH} units, nats"),
            alt="Test and training cost of untied networks and NADE against the number of training digits",
            key="by-size",
        )  # fmt: skip
        ui.notice(
            f"With the best epoch chosen by validation, untied costs more by {won}, with {own / shared:.1f} "
            f"times as many input weights; most at {most:,}. A gap as small as the spread over seeds is none."
        )
        ui.table(lens.shipped_table(results), alt="The models that ship, with their costs")
        ui.caption(
            "Test: mean ± standard deviation over three seeds, from the cards. Training: the weights shown."
        )
        gap = abs(gaps[size])
        spread = max(f.std for f in now.values())
        ui.check(
            f"Trained on {size:,} digits, which one has the lower cost of test digits?",
            [*lens.MODELS, "no clear difference"],
            better.name if gap > 2 * spread else "no clear difference",
            f"{gap:.2f} nats apart; over three seeds the cost varies by ± {spread:.2f}.",
            wrong={
                "untied": "A network for each pixel learns every stroke anew: few digits do not fill it.",
                "NADE": "Shared columns save numbers, which matters less the more digits there are.",
                "no clear difference": "The two lie further apart than twice the spread of three seeds.",
            },
            veils=("numbers",),
        )
        ui.program(
            f"""
            from lab import experiments, weights

            cards = [weights.read_card(experiments.ZOO / name) for name in {list(names.values())}]
            result = [card["metrics"]["test/nll"] for card in cards]
            """,
            shows=[now[name].test for name in names],
        )
        ui.source(nade.NADE, untied.Untied, lens.columns, lens.shipped, references=ROOM.references)


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
            figures.by_size(lines, f"Best step, d = {hidden}, nats"), key="sizes", share=1.0,
            alt="Test and training cost against the number of training digits",
        )  # fmt: skip
    with right:
        last = {run.model: run for run in runs if run.size == runs[-1].size}
        steps = [lens.EVERY * i for i in range(len(runs[-1].curves["val"]))]
        courses = {name: (steps[: len(run.curves["val"])], run.curves["val"]) for name, run in last.items()}
        ui.figure(
            basic.curves(courses, title=f"Validation, {runs[-1].size:,} digits", xlabel="step"),
            alt="Validation cost over training at the largest number of digits so far", key="steps",
            share=1.0,
        )  # fmt: skip


def shipped_pictures() -> None:
    """Pictures that stand there before the training: the models that ship."""
    results = [shipped(name, size) for name in lens.MODELS for size in lens.SHIPPED[name]]
    ui.figure(
        figures.by_size(lens.shipped_lines(results), f"As shipped, d = {WIDTH}, nats"), key="sizes",
            share=1.0,
        alt="Test and training cost of the models that ship against the number of training digits",
    )  # fmt: skip


def live_mode() -> None:
    with stage.rail:
        hidden = ui.slider("Hidden units d", 2, 64, WIDTH, key="d")
        most = ui.choice("Most digits", [100, 200, 400, 800, 1297], key="most", default=400)
        seeds = ui.slider("Seeds", 1, 3, 1, key="seeds")
    sizes = [size for size in lens.SIZES if size <= most]
    own, shared = (lens.input_weights(name, hidden) for name in ("untied", "NADE"))
    with stage.picture:
        runs = ui.job(
            "Train both",
            lambda: lens.sweep(sizes, hidden, seeds),
            key="train",
            of=(hidden, most, seeds),
            show=lambda so_far: pictures(so_far, hidden),
            before=shipped_pictures,
        )
        if runs is not None:
            pictures(runs, hidden)
    with stage.foot:
        ui.caption(
            f"{len(sizes) * seeds * 2} trainings of {lens.STEPS} steps. Input weights: untied {own:,}, NADE "
            f"{shared:,}. A seed draws the digits, the first weights and the batches."
        )
    if runs is not None:
        best, last = (lens.advantage(runs, sizes[0], split) for split in ("test", "last"))
        stage.equation(
            rf"\text{{untied}} - \text{{NADE}} = {best:.2f}\;\text{{nats at the best step}},\quad "
            rf"{last:.2f}\;\text{{at the last}}",
            f"Test digits, trained on {sizes[0]:,}.",
        )
    with stage.below:
        if runs is None:
            ui.notice("Which of the two will be hurt more by having only 100 digits?")
        else:
            ui.notice(
                "Solid lines are test digits, dotted ones the digits trained on. The best step is chosen by "
                "validation; the last column of the table shows what training on costs."
            )
            ui.table(lens.table(runs), alt="Costs of both models at each number of training digits")
            ui.check(
                f"On {sizes[0]} digits, which model lost more by training on after its best step?",
                list(lens.MODELS),
                max(lens.MODELS, key=lambda name: lens.overshoot(runs, name, sizes[0])),
                "; ".join(f"{n}: {lens.overshoot(runs, n, sizes[0]):+.2f} nats" for n in lens.MODELS) + ".",
                wrong={
                    "untied": "More weights can learn more by heart, but what counts is how far the cost "
                    "rose again.",
                    "NADE": "Its weights serve all pixels at once: it has less room to learn digits by "
                    "heart.",
                },
                veils=("picture", "equation"),
            )
        ui.program(
            f"""
            from pages.autoregressive.sharing import lens

            result = [lens.input_weights(name, {hidden}) for name in ("untied", "NADE")]
            """,
            shows=[own, shared],
        )
        ui.source(lens.train, nade.NADE, untied.Untied, references=ROOM.references)


modes = {"Shipped": shipped_mode, "Train live": live_mode}
with stage.rail:
    mode = ui.choice("View", list(modes), key="show", default="Shipped")
modes[mode]()
