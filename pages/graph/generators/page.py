"""A graph grows node by node: one graph row by row, samples, measures, and embeddings with a prior."""

from lab import ui
from modules.graph import graph_statistics
from modules.graph.graph_rnn import GraphRNN
from modules.graph.vgae import VGAE
from pages.graph.generators import figures, lens
from pages.graph.generators.room import EMBEDDINGS, GALLERY, GROWTH, MEASURES, ROOM

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)

if now.view == GROWTH:
    trace = ui.compute(lens.grown, now)
    film = ui.film_of(now, len(trace), values=[step.values["node"] for step in trace])
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(
                figures.growth(trace), key="growth", share=1.0, film=film,
                alt="The graph so far, the newest node and its edges green",
            )  # fmt: skip
        with right:
            ui.figure(
                figures.matrix(trace), key="matrix", share=1.0, film=film,
                alt="Rows of A so far, the newest as probabilities",
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=[step.caption for step in trace], equations=[step.equation for step in trace])
    with stage.below:
        ui.notice(
            "The row of a node says to which earlier ones it is joined; a recurrent network reads the rows "
            "before it. Nodes come in the order of a breadth-first search, so that neighbours stand near "
            "each other. A row of zeros ends the graph. Probabilities of all sequences of rows sum to 1; "
            "that of a graph is the sum over all orders of its nodes."
        )
        ui.program(
            f"""
            import torch
            from lab.weights import load
            from pages.graph.generators import lens

            model = load({now.model!r})
            trace = lens.grown(model, lens.beginning({now.start!r}), {now.temperature}, {now.seed})
            result = trace.result
            """,
            shows=trace.result,
        )
elif now.view == GALLERY:
    one = ui.compute(lens.gallery, now)
    known, drawn = figures.gallery(one)
    with stage.picture:
        ui.figure(known, key="known", share=0.5, alt="Graphs of training")
        ui.figure(drawn, key="drawn", share=0.5, alt="Samples of the model: green valid, red not")
    stage.equation(
        r"p(A) = \prod_i p(s_i \mid s_2 \dots s_{i-1})",
        f"Green samples are valid: {sum(map(bool, one.valid))} of {len(one.samples)}."
        if None not in one.valid
        else "Of two communities nothing says whether they are valid.",
    )
elif now.view == MEASURES:
    two = ui.compute(lens.measured, now)
    with stage.picture:
        ui.figure(figures.measures(two), key="measures", share=1.0, alt="MMD² by statistic and set")
    stage.equation(
        r"\text{MMD}^2 = E\,k(x, x') + E\,k(y, y') - 2\,E\,k(x, y)",
        f"{lens.SAMPLES} samples: {lens.shares(two)}. Nodes: {two.nodes[0]:.1f}, in training "
        f"{two.nodes[1]:.1f}.",
    )
else:
    three = ui.compute(lens.embedded, now)
    with stage.picture:
        ui.figures(
            ("latent", figures.latent(three), "Embeddings of the nodes, and circles of radius 1 and 2"),
            ("likely", figures.likely(three), "Probabilities below the diagonal, edges above it"),
        )
    stage.equation(
        r"\Pr(A_{mn} = 1) = \operatorname{sig}[z_m^\top z_n + b]",
        f"Joined are {three.density[0]:.1%} of all pairs, in the graph of training {three.density[1]:.1%}.",
    )

with stage.below:
    if now.view == MEASURES:
        ui.table(lens.table(two), alt="MMD² of the model, of random graphs and of two halves of training")
    if now.view in (GALLERY, MEASURES):
        ui.notice(
            "MMD² compares distributions of degrees and clustering coefficients (earth mover's distance in a "
            "Gaussian kernel) and numbers of orbits of four nodes (Euclidean distance). Model and random "
            "graphs of the same size and density are held against 100 test graphs, and one half of training "
            "against the other: about what two samples of one family differ by. Valid is a grid or a tree of "
            "any size; new is what is isomorphic to no graph of training. There are 15 grids, all seen in "
            "training, so no new one is valid."
        )
    if now.view == EMBEDDINGS:
        ui.notice(
            "Leaving the prior costs nats, so the posterior moves nodes only as far as edges pay for. Drawn "
            "from the prior, directions are even: overlapping communities make a ring. Colours of "
            "probabilities run to the largest of them."
        )
        ui.source(VGAE, references=ROOM.references)
    else:
        ui.check(
            "A row of a tree has independent entries, ½ for each of two parents. How often has it just one?",
            ["¼", "½", "always"], "½",
            "Both, none, and two ways of one have ¼ each: half of the rows break the tree.",
            wrong={"¼": "One parent can be the first or the second.",
                   "always": "So it is where entries are drawn in turn."}, veils=(),
        )  # fmt: skip
        ui.source(GraphRNN, graph_statistics.mmd, references=ROOM.references)
