"""Parameter counts: what the chain rule, missing parents and shared weights cost and save."""

from lab import ui
from lab.figures import basic
from lab.lenses import counting
from modules.autoregressive import markov, tables

ui.header(
    "Parameter counts", "The chain rule saves nothing; leaving out parents does, and so does sharing weights."
)
MOST = 40  # variables on the curves

left, middle, right = ui.columns(3)
with left:
    n = ui.slider("Variables n", 2, MOST, 10, key="n")
with middle:
    k = ui.slider("Memory k of the chain", 0, 8, 2, key="k")
with right:
    d = ui.slider("Hidden units d", 1, 64, 16, key="d")
name = ui.choice("Model", list(counting.MODELS), key="model", default="NADE", as_list=True)


@ui.cached
def cost(name: str, n: int, k: int, d: int) -> counting.Cost:
    return counting.cost(name, n, k, d)


sizes = list(range(1, MOST + 1))
lines = {
    other: counting.curve(other, sizes, k, d) for other in counting.MODELS if other != "chain-rule table"
}
costs = {other: cost(other, n, k, d) for other in counting.MODELS}
ui.figure(
    basic.curves(
        lines, sizes, title="Free numbers", xlabel="variables n", ylabel="numbers", log_y=True, mark=n,
        height=460,
    ),
    alt="Free numbers of each model against the number of variables, on a logarithmic scale",
    data={"n": sizes, **lines},
)  # fmt: skip
ui.caption(
    "The joint table and the chain rule in tables are one curve; so are MADE and NADE. Below, × counts the "
    "multiplications of one example as they happen. NADE's one pass treats 16 variables at once: it is fast "
    "and multiplies more than its running sum."
)

made = {other: c for other, c in costs.items() if c.numbers is not None}
ui.table(
    {
        "model": list(made),
        "free numbers, counted": [f"{c.numbers:,}" for c in made.values()],
        "× for log p": [f"{c.likelihood:,}" for c in made.values()],
        "× for a sample": [f"{c.sample:,}" for c in made.values()],
        "× with n full passes": [f"{c.passes:,}" for c in made.values()],
        "steps of a sample": [c.steps for c in made.values()],
    },
    alt="Counts of the models that were made for this page",
)
if len(made) < len(costs):
    ui.caption(f"Not made, too large: {', '.join(other for other in costs if other not in made)}.")

mine, promised = costs[name], counting.FORMULAS[name](n, k, d)
latex = rf"\text{{{name}}}:\quad {counting.LATEX[name]} = {promised}"
if mine.numbers is None:
    ui.equation(latex, f"At n = {n}, k = {k}, d = {d}. Too large to be made here: the formula alone.")
else:
    ui.equation(
        rf"{latex}\qquad\text{{counted: }}{mine.numbers}",
        f"At n = {n}, k = {k}, d = {d}. Counted in the arrays of a model made for this page.",
    )
right_sum, printed = counting.contexts_as_printed(n)
ui.notice(
    "The joint table and the chain rule in tables have exactly as many numbers: factorising alone moves "
    "nothing. A chain drops parents, FVSBN puts a function in the place of a table, NADE and MADE share "
    "weights over all positions. A likelihood is one pass, a sample n steps: cheap with a running state. "
    f"A text gives a conditional on m bits 2^m − 1 numbers: that sums to {printed:,}, not to the "
    f"{right_sum:,} needed."
)
ui.presets(
    {
        "Ten bits": {"n": 10, "k": 2, "d": 16, "model": "chain-rule table"},
        "Untied against shared": {"n": 40, "d": 32, "model": "untied networks"},
        "Long memory": {"n": 20, "k": 8, "model": "chain of memory k"},
        "Too many strings": {"n": 40, "model": "joint table"},
    }
)
cross = counting.crossing(k, d, MOST)
options = [str(cross), str(cross * 2), str(cross * 4)] if cross else ["never"]
ui.check(
    f"From how many variables on has the joint table more numbers than NADE with d = {d}?",
    options,
    options[0],
    "2^n − 1 against 2nd + d + n, in the smallest n.",
)
ui.source(
    counting.Multiplications, counting.cost, tables.Counted.set_parents, markov.MarkovChain,
    references=["Frey 1998; Larochelle, Murray 2011", "[GM] §1.1.1, §1.2.3, §1.5.6"],
)  # fmt: skip
