"""Parameter counts: what the chain rule, missing parents and shared weights cost and save; and time."""

from lab import ui
from lab.figures import basic
from modules.autoregressive import base, made, markov, nade, tables
from pages.autoregressive.parameters import asymmetry, counting, figures, lens, race
from pages.autoregressive.parameters.room import ROOM

MOST = 40  # variables on the curves
BANDS = {"up to 6": (1, 6), "7 or 8": (7, 8), "9": (9, 9), "10": (10, 10), "11 or more": (11, MOST)}

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Ten bits": ui.scene("Two pairs are one curve each: the tables, and NADE with MADE."),
        "Tables": ui.scene("Joint table and chain rule in tables: one curve.", model="chain-rule table"),
        "Untied": ui.scene(
            "A network for each bit: at forty bits ten times as many numbers as the shared one.", n=40, d=32,
            model="untied networks",
        ),
        "Long memory": ui.scene("Each bit of memory doubles a chain.", n=20, k=8, model="chain of memory k"),
        "Too many": ui.scene("Forty bits: 2⁴⁰ − 1 numbers, too many to store.", n=40, model="joint table"),
        "Race": ui.scene("As many numbers in MADE and NADE at d = 32; not the same cost.", show="Race"),
        "Small race": ui.scene("With a thousand numbers, neighbours are best.", show="Race", budget=1000),
        "Time": ui.scene("A full pass for every variable costs n times as much as one.", show="Time"),
    }
)  # fmt: skip


@ui.cached
def cost(name: str, n: int, k: int, d: int) -> lens.Cost:
    return lens.cost(name, n, k, d)


@ui.cached
def all_costs(n: int, k: int, d: int) -> dict[str, lens.Cost]:
    return {name: cost(*lens.depends(name, n, k, d)) for name in lens.MODELS}


@ui.cached
def raced() -> list[race.Racer]:
    return race.race({name: (ui.load(one), ui.card(one)) for name, one in race.RACERS.items()})


def counts_mode() -> None:
    with stage.rail:
        n = ui.slider("Variables n", 2, MOST, 10, key="n")
        k = ui.slider("Memory k of the chain", 0, 8, 2, key="k")
        d = ui.slider("Hidden units d", 1, 64, 16, key="d")
        name = ui.choice("Model", list(lens.MODELS), key="model", default="NADE", as_list=True)
    sizes = list(range(1, MOST + 1))
    lines = {other: lens.curve(other, sizes, k, d) for other in lens.MODELS}
    costs = all_costs(n, k, d)
    near = [*((v, k, d) for v in ui.near(n, 2, MOST, 1)), *((n, k, v) for v in ui.near(d, 1, 64, 1))]
    ui.prefetch(all_costs, *near)
    ui.prefetch(raced, ())
    with stage.picture:
        left, right = ui.columns([5, 4])
        with left:
            point = ui.clickable(
                figures.counts(lines, sizes, n), key="curve",
                alt="Free numbers of each model against the number of variables, on a logarithmic scale",
                data={"n": sizes, **lines}, share=1.0,
            )  # fmt: skip
        with right:
            kinds = {
                "log p in one pass": [c.likelihood for c in costs.values()],
                "sample, or log p, with a running state": [c.sample for c in costs.values()],
                "sample by full passes": [c.passes for c in costs.values()],
            }
            ui.figure(
                figures.work(list(costs), kinds), key="work", share=1.0,
                alt="Multiplications of each model for a likelihood and for a sample",
                data={"model": list(costs), **kinds},
            )  # fmt: skip
    shown, at = name, n
    if point is not None and (result := lens.clicked(lines, sizes, point["x"], point["y"])):
        shown, at = result
    mine, promised = cost(*lens.depends(shown, at, k, d)), lens.FORMULAS[shown](at, k, d)
    clicked = ", as clicked" if (shown, at) != (name, n) else ""
    counted = "too large to be made here" if mine.numbers is None else f"{mine.numbers:,} counted"
    stage.equation(
        f"{lens.LATEX[shown]} = {lens.operands(shown, at, k, d)} = {promised}",
        f"{shown}, n = {at}{clicked}: {counted}.",
    )
    made = {other: c for other, c in costs.items() if c.numbers is not None}
    right_sum, printed = lens.contexts_as_printed(n)
    cross = lens.crossing(k, d, MOST)
    with stage.below:
        ui.notice(
            "The joint table and the chain rule in tables have exactly as many numbers: factorising alone "
            "moves nothing. A chain drops parents, FVSBN puts a function in the place of a table, NADE and "
            "MADE share weights over all positions. A text gives a conditional on m bits 2^m − 1 numbers: "
            f"that sums to {printed:,}, not to the {right_sum:,} needed."
        )
        ui.table(lens.cost_table(made), alt="Counts of the models that were made for this page")
        ui.caption(
            "× counts the multiplications of one example as they happen; masked weights are multiplied too, "
            "and left out in the second of these columns. With a running state log p costs as much as a "
            "sample: 2nd in NADE. Its one pass here takes 16 variables at once: more multiplications, but "
            "less time."
        )
        if len(made) < len(costs):
            ui.caption(f"Not made, too large: {', '.join(other for other in costs if other not in made)}.")
        ui.check(
            f"From how many variables on has the joint table more numbers than NADE with d = {d}?",
            list(BANDS), next(band for band, (low, high) in BANDS.items() if cross and low <= cross <= high),
            f"2^n − 1 exceeds 2nd + d + n from n = {cross} on.",
            wrong={band: lens.not_there(low, high, cross, d) for band, (low, high) in BANDS.items()},
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(lens.program(shown, at, k, d), shows=promised)
        ui.source(counting.Multiplications, lens.cost, tables.ConditionalTables.set_parents,
                  markov.MarkovChain, references=ROOM.references)  # fmt: skip


def race_mode() -> None:
    with stage.rail:
        budget = ui.choice(
            "Numbers at most", race.BUDGETS, key="budget", default=race.BUDGETS[-1], as_list=True
        )  # fmt: skip
        ui.caption(
            "Trained on the small digits. Nats of test digits, from the cards. Times are measured on this "
            f"machine: log p of 250 digits, and {race.SAMPLES} samples."
        )
    result = raced()
    columns: dict[str, list[float]] = {
        "numbers": [r.numbers for r in result],
        "nats per digit": [r.nll for r in result],
        "log p, ms": [r.score for r in result],
        "samples, ms": [r.draw for r in result],
    }
    with stage.picture:
        ui.figure(
            figures.race([r.name for r in result], columns, [r.numbers <= budget for r in result]),
            alt="Numbers, cost and times of trained models", share=1.0, key="race",
            data={"model": [r.name for r in result], **columns},
        )  # fmt: skip
    best, *others = race.within(result, budget)
    stage.metrics({f"Best with {budget:,} numbers": best.name, "Nats": f"{best.nll:.2f}"})
    with stage.below:
        ui.notice(
            "Numbers do not buy likelihood by themselves: what they are shared by counts. A likelihood of "
            "250 digits and a handful of samples may take alike long, since a sample waits for every pixel."
        )
        ui.check(
            f"Which model with at most {budget:,} numbers has the lowest cost of unseen digits?",
            [r.name for r in result], best.name, f"{best.nll:.2f} nats.",
            wrong={r.name: f"{r.name} costs {r.nll:.2f} nats, {best.name} {best.nll:.2f}." for r in others}
            | {r.name: f"{r.name} has {r.numbers:,} numbers." for r in result if r.numbers > budget},
            veils=("picture", "numbers"),
        )  # fmt: skip
        experiment = race.RACERS[best.name]
        ui.program(
            f"""
            from lab import experiments, weights

            model = weights.load(experiments.ZOO / "{experiment}")
            card = weights.read_card(experiments.ZOO / "{experiment}")
            result = [model.num_parameters, card["metrics"]["test/nll"]]
            """,
            shows=[best.numbers, best.nll],
        )
        ui.source(race.race, asymmetry.seconds, references=ROOM.references)


def pictures(timings: list[asymmetry.Timing]) -> None:
    """Both times against n."""
    for place, what, title in zip(
        ui.columns(2), ("log_prob", "sample"), ("log p, one pass", "sample, n steps"), strict=True
    ):
        fig = basic.curves(asymmetry.lines(timings, what), title=f"{title}, ms", xlabel="variables n",
                           log_x=True, log_y=True, markers=True)  # fmt: skip
        with place:
            ui.figure(fig, key=what, share=1.0, alt=f"Time of {title} against n, on logarithmic axes")


def time_mode() -> None:
    with stage.rail:
        d = ui.slider("Hidden units d", 16, 500, 100, key="width")
        batch = ui.slider("Pictures at once", 1, 64, 16, key="batch")
        largest = ui.choice("Largest n", [s * s for s in asymmetry.SIDES[2:]], key="largest", default=256)
        ui.caption("Each is timed a few times here; the shortest is kept. PixelCNN: 16 channels.")
    sides = [side for side in asymmetry.SIDES if side * side <= largest]
    likelihood, sampling = asymmetry.expected(largest, d)

    def promised() -> None:
        sizes = [side * side for side in sides]
        lines = {
            "log p, or sample with a running state": [asymmetry.expected(n, d)[0] for n in sizes],
            "sample by full passes": [asymmetry.expected(n, d)[1] for n in sizes],
        }
        fig = basic.curves(lines, sizes, xlabel="variables n", ylabel="multiplications", log_x=True,
                           log_y=True, markers=True)  # fmt: skip
        fig.update_yaxes(exponentformat="power", dtick=1).update_xaxes(tickvals=sizes)
        ui.figure(fig, alt="Multiplications of MADE and NADE by the formulas", key="promised", share=1.0)

    with stage.picture:
        result = ui.job(
            "Measure", lambda: asymmetry.measure(sides, d, batch), key="measure", of=(d, batch, largest),
            show=pictures, before=promised,
        )  # fmt: skip
        if result is not None:
            pictures(result)
    stage.equation(
        rf"2nd = {likelihood:,} \;\text{{for log p}}, \quad n \cdot 2nd = {sampling:,} \;"
        r"\text{for a sample by full passes}".replace(",", "{,}"),
        f"Of MADE and NADE at n = {largest}, d = {d}.",
    )
    with stage.below:
        ui.notice(
            "A likelihood asks for all conditionals at once: one pass. A sample must wait for each variable: "
            "n steps at least, whatever is kept from one to the next. Full passes for every step add a "
            "factor n: their slope rises towards 2."
        )
        if result is not None:
            ui.table(asymmetry.table(result), alt="Times at the largest size, and slopes on logarithmic axes")
            ui.table(asymmetry.count_table(result), alt="Multiplications at the largest size, as they happen")
        ui.check(
            "How many times as many multiplications does a sample by full passes take as one log p?",
            sorted({largest, d, 2 * d, 2 * largest}), sampling // likelihood,
            f"One pass for each of the {largest} variables.",
            wrong={
                **{d: "That is the hidden units: both pay for them.", 2 * d: "Both pay a unit in and out."},
                2 * largest: "One pass gives all conditionals: a sample needs it once a variable.",
            },
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            from pages.autoregressive.parameters import asymmetry

            made = asymmetry.MODELS[asymmetry.PASSES]({sides[0]}, {d}).eval()
            counts = asymmetry.count(asymmetry.PASSES, made)
            result = [counts.one_pass, counts.sample]
            """,
            shows=list(asymmetry.expected(sides[0] ** 2, d)),
        )
        ui.source(
            asymmetry.seconds, asymmetry.count, asymmetry.draw_by_passes,
            base.Autoregressive._sequential_logits, nade.NADEBase._sequential_logits,
            made.MADE._sequential_logits, references=ROOM.references,
        )  # fmt: skip


modes = {"Counts": counts_mode, "Race": race_mode, "Time": time_mode}
with stage.rail:
    mode = ui.choice("View", list(modes), key="show", default="Counts")
modes[mode]()
