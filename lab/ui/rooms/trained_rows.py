"""The view "Trained" of the rooms of mixtures, factors, chains and flows: a model, its rows, two columns of
them, and what it says of one row."""

from copy import deepcopy

from lab import ui
from lab.experiments import find
from lab.figures import basic, rows, theme
from lab.lenses import trained_rows as trained
from lab.ui.page.stage import Stage

SHOWS = {
    "mixture": ("p(k | row)", "component"), "factor analysis": ("E[z | row]", ""),
    "HMM": ("p(state | all rows)", "state"), "flow": ("log |det J|", "layer"),
}  # fmt: skip
LATEX = {
    "mixture": r"\log p(x)=\log\textstyle\sum_k \pi_k\,\mathcal{N}(x;\mu_k,\Sigma_k)",
    "factor analysis": r"\log p(x)=\log\mathcal{N}(x;\mu,WW^\top+\Psi)",
    "HMM": r"\log p(x_t\,|\,x_{<t})=\log\textstyle\sum_k p(k\,|\,x_{<t})\,\mathcal{N}(x_t;\mu_k,\Sigma_k)",
    "flow": r"\log p(x)=\log p_Z(z)+\textstyle\sum_l \log|\det J_l|",
}
SAYS = {
    "mixture": "An ellipse is two standard deviations of a component: the marginal of a Gaussian over two "
    "columns is a Gaussian with their rows and columns of Σ, so nothing is approximated. Other columns may "
    "part what overlaps here.",
    "factor analysis": "The ellipse is two standard deviations of the model, W Wᵀ + Ψ in these columns. What "
    "a column does not share with the others is its own noise.",
    "HMM": "An ellipse is two standard deviations of what a state shows. A row's colour is its state by all "
    "rows, before and after it, so a row between two ellipses goes with its neighbours.",
    "flow": "Every layer's log-determinant at the ringed row is a bar; with the base's log-density they add "
    "up to its log p. Brighter rows are likelier.",
}  # fmt: skip
WINDOW = 300  # rows that are drawn over time
FIRST = {"mixture": "gmm", "factor analysis": "fa", "HMM": "hmm"}


@ui.cached
def rows_of(name: str, at: int) -> trained.Data:
    ui.card(name)  # what is kept goes with the card
    return trained.read(ui.folder(name), at)


@ui.cached
def answers_of(name: str, kind: str, at: int, row: int) -> trained.Answers:
    return trained.answers(exact(name), kind, rows_of(name, at), row)


@ui.cached
def exact(name: str):
    return deepcopy(ui.load(name)).double().requires_grad_(False)


def columns(names: list[str], alone: bool) -> tuple[int, int]:
    """The columns across and up, from 0, where there are more than two the reader's choice.

    Args:
        alone: only one is drawn.
    """
    d, which = len(names), ", ".join(names)
    if alone:
        up = ui.slider("Column", 1, d, 1, key="column", help=which) - 1 if d > 1 else 0
        return up, up
    if d == 2:
        return 0, 1
    across = ui.slider("Across, column", 1, d, 1, key="across", help=which) - 1
    return across, ui.slider("Up, column", 1, d, 2, key="up", help=which) - 1


def view(stage: Stage, kind: str, name: str = "") -> None:
    """The whole view; a model is chosen in it where none is given."""
    if not name:
        with stage.rail:
            name = ui.experiment(
                "Model", family="latent", key="model", default=FIRST[kind], only=trained.fits(kind)
            )
    series = find(name.partition("/")[0]).datamodule.endswith(".Chains")
    with stage.rail:
        at = ui.number("Sequence", 0, 63, 0, key="sequence") if series else 0
    try:
        data = rows_of(name, at)
    except (ValueError, OSError) as error:
        ui.stop(f"The rows of {name} cannot be shown. {error}")
    model, d, n = exact(name), len(data.names), len(data.rows)
    with stage.rail:
        drawn = ui.choice("Draw", ["over time", "two columns"], key="draw") if kind == "HMM" and d > 1 else ""
        over_time = d == 1 or drawn == "over time"
        across, up = columns(data.names, over_time)
        row = ui.number("Row", 1, n, 1, key="row") - 1
        ui.caption(" ".join([*data.notes, "One column: the rows are drawn in their order." * (d == 1)]))
    result = answers_of(name, kind, at, row)
    ui.prefetch(answers_of, (name, kind, at, min(n - 1, row + 1)))
    discrete = kind in ("mixture", "HMM")
    colours = rows.classes(result.belief) if discrete else result.belief.tolist()
    near = trained.window(n, row, WINDOW) if over_time else slice(None)
    places = (range(1, n + 1) if over_time else data.rows[:, across], data.rows[:, up])
    titles = ("row" if over_time else data.names[across], data.names[up])
    with stage.picture:
        left, right = ui.columns([3, 2])
        with left:
            fig = rows.beliefs(
                places[0][near], places[1][near], colours[near], titles,
                joined=over_time and kind == "HMM", continuous=not discrete,
            )  # fmt: skip
            lines = trained.outlines(model, kind, data, (up, up) if over_time else (across, up))
            ring = float(places[0][row]), float(places[1][row])
            ui.figure(
                rows.outlined(fig, lines, ring), key="trained", share=1.0,
                alt=f"Rows of the table, coloured by {trained.COLOURS[kind]}; one is ringed",
                data={column: data.rows[:, i] for i, column in enumerate(data.names)},
            )  # fmt: skip
        with right:
            ylabel, xlabel = SHOWS[kind]
            ui.figure(
                basic.bars(list(result.bars), list(result.bars.values()), xlabel=xlabel, ylabel=ylabel,
                           probability=discrete, color=theme.HIDDEN), key="about", share=1.0,
                alt=f"{ylabel} of the ringed row",
                data={"name": list(result.bars), ylabel: list(result.bars.values())},
            )  # fmt: skip
    log_p, below = float(result.log_prob[row]), result.below(row)
    stage.equation(
        rf"{LATEX[kind]}={log_p:.4f}\quad\text{{for row {row + 1}}}",
        "Nats, of columns brought to mean 0 and variance 1 on the rows of training.",
    )
    stage.metrics(
        {
            "Rows": f"{n:,}",
            "Columns": str(d),
            f"log p(row {row + 1})": f"{log_p:.3f}",
            "Less likely rows": f"{below:.0%}",
        }
    )
    with stage.below:
        ui.notice(f"{SAYS[kind]} Row {row + 1} is likelier than {below:.0%} of the rows.")
        if table := trained.parameters(model, kind, data):
            ui.table(table, alt="The parameters of the model, in the columns' own units")
        ui.check(
            "Is the ringed row likelier than half of the rows?", ["yes", "no"],
            "yes" if below > 0.5 else "no", f"{below:.0%} of the rows have a lower log p.",
            wrong={
                "yes": "A row may look usual column by column, and not lie where the rows are dense.",
                "no": "A high or low value in one column does not make the whole row unlikely.",
            },
            veils=("equation", "about"),
        )  # fmt: skip
        ui.program(
            f"""
            from lab import experiments
            from lab.lenses import trained_rows as trained

            folder = {ui.spelled(name)}
            statistics = trained.answers(trained.load(folder), {kind!r}, trained.read(folder, {at}), {row})
            result = [float(statistics.log_prob[{row}]), *statistics.bars.values()]
            """,
            shows=[log_p, *result.bars.values()],
        )
        ui.source(trained.answers, trained.outlines, trained.CLASSES[kind].log_prob)
