"""Attention on graphs: weights on the edges of a graph, and the same as columns of a matrix."""

from typing import Any

from lab import ui
from lab.figures import networks
from modules.graph.attention import GraphAttention
from pages.graph.attention import figures, lens, words
from pages.graph.attention.room import RANKS, ROOM, TRAINED

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
classes, names = None, None
if now.view == TRAINED:
    one, classes = ui.compute(lens.ran, now)
    names = [f"community {c}" for c in range(int(classes.max()) + 1)]
else:
    one = ui.compute(lens.weighed, now)
head = min(now.head, len(one.alpha) - 1)
alpha, N = one.alpha[head], len(one.a)
film = ui.film_of(now, N, names=range(N))
n = film.at
positions = networks.layout(one.a.nonzero().T, N)


def pressed(x: float, y: float) -> dict[str, Any]:
    """The receiver that a click on the graph chooses."""
    return ui.moved(now, node=networks.node_at(positions, x, y))


ranks = lens.ranks(one.scores[head]) if now.view != TRAINED and now.written == RANKS else None
with stage.picture:
    left, right = ui.columns(2)
    with left:
        ui.button_figure(
            figures.edges(positions, one.a, alpha, one.heard, classes, names), key="graph", share=1.0,
            on_press=pressed, whole=False, film=film,
            alt=f"The graph; edges to node {n} are as wide as their weights; click a node to choose it",
        )  # fmt: skip
    with right:
        ui.figure(
            figures.columns(alpha, ranks), key="columns", share=1.0, film=film,
            alt="Weights of senders, rows, at receivers, columns; a frame outlines the column of one",
            data={"sender": range(N), f"weight at {n}": alpha[:, n]},
        )  # fmt: skip
with stage.foot:
    if now.view == TRAINED:
        totals = (alpha.T @ one.values[head, :, 0]).tolist()
        says = [{"sum": f"Σ {total:.2f}"} for total in totals]
        ui.machine(now.model, film=film, lit=["sum"] * N, says=says)
    film.bar(captions=words.captions(one, head), equations=words.equations(one, head))

with stage.below:
    ui.notice(words.about(one, head))
    senders = words.order(one, head, n)
    if len(senders) > 1:
        shown = sorted(senders[:4])
        ui.check(
            f"Which of these nodes does node {n} hear most?", shown, senders[0],
            f"Its weight is {float(alpha[senders[0], n]):.3f}.",
            wrong={m: f"The weight of node {m} is {float(alpha[m, n]):.3f}." for m in shown},
            veils=("picture", "equation"),
        )  # fmt: skip
    if now.view == TRAINED:
        ui.program(
            f"""
            from lab import experiments, weights
            from pages.graph.attention import lens

            experiment = experiments.find({now.model.partition("/")[0]!r})
            model = weights.load(experiment.weights)
            one, classes = lens.ran(model, experiment.card, {now.layer!r}, {now.edits!r})
            result = one.alpha[{head}, :, {n}]
            """,
            shows=alpha[:, n],
        )
    else:
        ui.program(
            f"""
            from lab.lenses import graphs
            from pages.graph.attention import lens

            a = graphs.typed({now.a!r})
            one = lens.weighed({now.mode!r}, {now.over!r}, {now.slope}, a, {now.seed})
            result = one.alpha[{head}, :, {n}]
            """,
            shows=alpha[:, n],
        )
    ui.source(GraphAttention, lens.recorded, lens.disagreeing, references=ROOM.references)
