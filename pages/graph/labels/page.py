"""Labels spread: a graph network and a dense one learn a few labels, as the page opens."""

from typing import Any

from lab import ui
from lab.figures import networks
from lab.lenses import graphs
from modules.graph.gcn import GCN
from pages.graph.labels import figures, lens, words
from pages.graph.labels.room import ACCURACY, DENSE, ROOM, STEPS

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
one = ui.compute(lens.spread, now)
film = ui.film_of(now, len(STEPS))
positions = networks.layout(one.world.edges, len(one.test))


def pressed(x: float, y: float) -> dict[str, Any]:
    """Controls that a click on the graph sets."""
    return ui.moved(now, labels=lens.clicked(one, networks.node_at(positions, x, y)))


at = STEPS[film.at]
with stage.picture:
    left, right = ui.columns(2)
    with left:
        ui.button_figure(
            figures.nodes(one, positions, 0), key="at", on_press=pressed, whole=False, share=1.0, film=film,
            alt=f"The graph network after {at} steps: nodes in their classes' colours, paler where unsure",
        )  # fmt: skip
    with right:
        if now.view == DENSE:
            ui.figure(
                figures.nodes(one, positions, 1), key="dense", share=1.0, film=film,
                alt=f"The dense network after {at} steps: the same nodes, without edges",
                data={"node": range(len(one.test)), "graph network": one.p[film.at, 0].argmax(-1),
                      "dense network": one.p[film.at, 1].argmax(-1)},
            )  # fmt: skip
        elif now.view == ACCURACY:
            ui.figure(
                figures.accuracies(one), key="accuracy", share=1.0, film=film,
                alt="Accuracy of the graph network and of the dense one, step by step",
                data={"step": STEPS, "graph network": one.right[:, 0], "dense network": one.right[:, 1]},
            )  # fmt: skip
        else:
            ui.figure(
                figures.losses(one), key="loss", share=1.0, film=film,
                alt="Loss of the graph network and of the dense one on the labelled nodes, step by step",
                data={"step": STEPS, "graph network": one.loss[:, 0], "dense network": one.loss[:, 1]},
            )  # fmt: skip
with stage.foot:
    film.bar(captions=words.captions(one), equations=words.equations(one))

with stage.below:
    ui.notice(words.notice(one, now.layers))
    ui.check(
        "The dense network fits its four labels of the karate club. Why is it at chance elsewhere?",
        ["Too few layers", "A node's number is its only feature", "Too few steps"],
        "A node's number is its only feature",
        "What it learns of node 0 says nothing of node 5; only edges relate them.",
        wrong={"Too few layers": "More layers see the same input, the number of one node.",
               "Too few steps": "Its loss on the labelled nodes falls like the other's."}, veils=(),
    )  # fmt: skip
    ui.program(
        f"""
        from lab.lenses import graphs
        from pages.graph.labels import lens

        one = lens.spread(
            {now.graph!r}, graphs.typed({now.own!r}), lens.told({now.labels!r}), {now.each}, {now.layers},
            {now.kept}, {now.hide}, {now.rate}, {now.seed},
        )
        result = one.loss
        """,
        shows=one.loss,
    )
    ui.source(GCN, graphs.karate, lens.spread, references=ROOM.references)
