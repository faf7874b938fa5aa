"""Parameter counts: what the chain rule, missing parents and shared weights cost and save; and time."""

from lab import ui
from lab.figures import basic
from modules.autoregressive import base, made, markov, nade, tables
from pages.autoregressive.parameters import asymmetry, lens

MOST = 40  # variables on the curves
REFERENCES = ["Frey 1998; Larochelle, Murray 2011", "[GM] §1.1.1, §1.2.3, §1.5.6"]


@ui.cached
def cost(name: str, n: int, k: int, d: int) -> lens.Cost:
    return lens.cost(name, n, k, d)


def counts_mode() -> None:
    left, middle, right = ui.columns(3)
    with left:
        n = ui.slider("Variables n", 2, MOST, 10, key="n")
    with middle:
        k = ui.slider("Memory k of the chain", 0, 8, 2, key="k")
    with right:
        d = ui.slider("Hidden units d", 1, 64, 16, key="d")
    name = ui.choice("Model", list(lens.MODELS), key="model", default="NADE", as_list=True)

    sizes = list(range(1, MOST + 1))
    lines = {other: lens.curve(other, sizes, k, d) for other in lens.MODELS if other != "chain-rule table"}
    costs = {other: cost(other, n, k, d) for other in lens.MODELS}
    point = ui.clickable(
        basic.curves(
            lines, sizes, title="Free numbers: click a curve", xlabel="variables n", ylabel="numbers",
            log_y=True, mark=n, height=460, markers=True,
        ),
        key="curve",
        alt="Free numbers of each model against the number of variables, on a logarithmic scale",
        data={"n": sizes, **lines},
    )  # fmt: skip
    ui.caption(
        "The joint table and the chain rule in tables are one curve; so are MADE and NADE. Below, × counts "
        "the multiplications of one example as they happen; masked weights are multiplied too, and left out "
        "in the third column. NADE's one pass treats 16 variables at once: it is fast and multiplies more "
        "than its running sum, which costs a likelihood as much as a sample."
    )

    made = {other: c for other, c in costs.items() if c.numbers is not None}
    ui.table(
        {
            "model": list(made),
            "numbers": [f"{c.numbers:,}" for c in made.values()],
            "× log p": [f"{c.likelihood:,}" for c in made.values()],
            "× without masked": [f"{c.live:,}" for c in made.values()],
            "× sample": [f"{c.sample:,}" for c in made.values()],
            "× n full passes": [f"{c.passes:,}" for c in made.values()],
            "steps": [c.steps for c in made.values()],
        },
        alt="Counts of the models that were made for this page",
    )
    if len(made) < len(costs):
        ui.caption(f"Not made, too large: {', '.join(other for other in costs if other not in made)}.")

    shown, at = name, n
    if point is not None and (found := lens.clicked(lines, sizes, point["x"], point["y"])):
        shown, at = found
    mine, promised = cost(shown, at, k, d), lens.FORMULAS[shown](at, k, d)
    latex = rf"\text{{{shown}}}:\quad {lens.LATEX[shown]} = {lens.operands(shown, at, k, d)} = {promised}"
    where = f"At n = {at}, k = {k}, d = {d}{', as clicked' if (shown, at) != (name, n) else ''}."
    if mine.numbers is None:
        ui.equation(latex, f"{where} Too large to be made here: the formula alone.")
    else:
        ui.equation(
            rf"{latex}\qquad\text{{counted: }}{mine.numbers}",
            f"{where} Counted in the arrays of a model made for this page.",
        )
    right_sum, printed = lens.contexts_as_printed(n)
    ui.notice(
        "The joint table and the chain rule in tables have exactly as many numbers: factorising alone moves "
        "nothing. A chain drops parents, FVSBN puts a function in the place of a table, NADE and MADE share "
        "weights over all positions. A likelihood is one pass, a sample n steps: cheap with a running state. "
        f"A text gives a conditional on m bits 2^m − 1 numbers: that sums to {printed:,}, not to the "
        f"{right_sum:,} needed."
    )
    ui.presets(
        {
            "Ten bits": {"n": 10, "k": 2, "d": 16, "model": "chain-rule table", "curve": None},
            "Untied against shared": {"n": 40, "d": 32, "model": "untied networks", "curve": None},
            "Long memory": {"n": 20, "k": 8, "model": "chain of memory k", "curve": None},
            "Too many strings": {"n": 40, "model": "joint table", "curve": None},
        }
    )
    cross = lens.crossing(k, d, MOST)
    options = [str(cross), str(cross * 2), str(cross * 4)] if cross else ["never"]
    ui.check(
        f"From how many variables on has the joint table more numbers than NADE with d = {d}?",
        options,
        options[0],
        "2^n − 1 against 2nd + d + n, in the smallest n.",
    )
    ui.source(
        lens.Multiplications, lens.cost, tables.Counted.set_parents, markov.MarkovChain,
        references=REFERENCES,
    )  # fmt: skip


def pictures(found: list[asymmetry.Timing]) -> None:
    """Both times against n, and the table."""
    for place, what, title in zip(
        ui.columns(2), ("log_prob", "sample"), ("log p, one pass", "sample, n steps"), strict=True
    ):
        lines = asymmetry.lines(found, what)
        with place:
            ui.figure(
                basic.curves(lines, title=f"{title}, ms", xlabel="variables n", log_x=True, log_y=True,
                             markers=True, height=480),
                alt=f"Time of {title} against the number of variables, both on logarithmic axes", key=what,
            )  # fmt: skip
    ui.table(asymmetry.table(found), alt="Times at the largest size, and slopes on logarithmic axes")
    ui.table(asymmetry.count_table(found), alt="Multiplications at the largest size, counted as they happen")


def time_mode() -> None:
    left, middle, right = ui.columns(3)
    with left:
        d = ui.slider("Hidden units d", 16, 500, 100, key="width")
    with middle:
        batch = ui.slider("Pictures at once", 1, 64, 16, key="batch")
    with right:
        largest = ui.choice("Largest n", [s * s for s in asymmetry.SIDES[2:]], key="largest", default=256)
    sides = [side for side in asymmetry.SIDES if side * side <= largest]
    ui.caption(
        "Each is timed a few times on this machine, and the shortest time is kept. PixelCNN: 16 channels."
    )
    found = ui.job(
        "Measure", lambda: asymmetry.measure(sides, d, batch), key="measure", of=(d, batch, largest),
        show=pictures,
    )  # fmt: skip
    likelihood, sampling = asymmetry.expected(largest, d)
    if found is not None:
        pictures(found)
    ui.equation(
        rf"2nd = {likelihood:,} \;\text{{for log p, and for a sample with a running state}}, \qquad "
        rf"n \cdot 2nd = {sampling:,} \;\text{{for a sample by full passes}}".replace(",", "{,}"),
        f"Multiplications of MADE and NADE at n = {largest}, d = {d}. After measuring, the second table has "
        "them as they were counted in a run.",
    )
    ui.notice(
        "A likelihood asks for all conditionals at once: one pass, hardly slower for more variables until "
        "the products fill the machine. A sample must wait for each variable: n steps at least, whatever is "
        "kept from one to the next. Full passes for every step add a factor n: their slope rises towards 2."
    )
    ui.presets(
        {
            "Small and fast": {"largest": 121, "width": 100},
            "As published": {"largest": 784, "width": 500},
            "One picture": {"batch": 1},
            "Wide": {"width": 500},
        }
    )
    if found is None:
        ui.check(
            "Which takes longer for MADE with full passes: scoring a picture or drawing one?",
            ["scoring", "drawing"],
            "drawing",
            f"{sampling // likelihood} times as many multiplications.",
        )
    else:
        by_name = {t.model: t for t in found if t.n == largest}
        slowest = max(by_name, key=lambda name: by_name[name].sample / by_name[name].log_prob)
        ui.check(
            f"At n = {largest}, whose sample takes longest, measured in its own likelihoods?",
            list(by_name),
            slowest,
            "; ".join(f"{name}: {t.sample / t.log_prob:.0f}" for name, t in by_name.items()) + ".",
        )
    ui.source(
        asymmetry.seconds, asymmetry.count, asymmetry.draw_by_passes, base.Autoregressive._walk,
        nade.NADEBase._walk, made.MADE._walk, references=REFERENCES,
    )  # fmt: skip


ui.header(
    "Parameter counts", "The chain rule saves nothing; leaving out parents does, and so does sharing weights."
)
modes = {"Counts": counts_mode, "Time": time_mode}
modes[ui.choice("Show", list(modes), key="show", default="Counts")]()
