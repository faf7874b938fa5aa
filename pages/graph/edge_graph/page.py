"""Edge graph: a graph and its edge graph in step, the way back, and sums over nodes and edges."""

from typing import Any

from lab import ui
from modules.graph import edge_graph
from modules.graph.edge_layer import NodeEdgeConvolution
from modules.graph.relations import RelationalConvolution
from pages.graph.edge_graph import figures, kinds, lens, relations, sums, words
from pages.graph.edge_graph.room import BACK, FORWARD, ROOM, SIGNS, UPDATES

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)

if now.view == FORWARD:
    one = ui.compute(lens.forwards, now)
    E = len(one.edges)
    film = ui.film_of(now, E)

    def pressed(x: float, y: float) -> dict[str, Any]:
        """The edge that a click in either drawing chooses."""
        return ui.moved(now, e=figures.edge_at(one, x, y))

    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.button_figure(
                figures.forwards(one), key="pair", share=1.0, film=film, on_press=pressed, whole=False,
                alt=f"The graph and its edge graph; edge {film.at} is marked in both",
                data={"number": range(len(one.links)), "first": one.links[:, 0], "second": one.links[:, 1],
                      "node that they share": one.via},
            )  # fmt: skip
        with right:
            ui.figure(
                figures.matrices([("B", one.incidence), ("A<sub>edge</sub> = BᵀB − 2I", one.matrix)]),
                key="matrices", share=1.0, film=film,
                alt=f"Incidence of nodes and edges, and adjacency of edges; column {film.at} is outlined",
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=words.forward_captions(one), equations=words.forward_equations(one))
    with stage.below:
        total = len(one.links)
        ui.notice(
            "A node of degree d becomes a clique of d edges, d(d − 1)/2 links in its colour. A column of B "
            "has two ones, so that BᵀB has 2 on its diagonal, and 1 where two edges share an end. The edge "
            f"graph has {E} nodes and {total} links; the graph has {one.num_nodes} and {E}."
        )
        ui.check(
            "How many links has the edge graph of a star with 5 rays?", [5, 10, 20], 10,
            "The centre becomes a clique of five: 5 · 4 / 2.",
            wrong={5: "So many nodes it has: one for each ray.", 20: "Each link is counted twice so."},
            veils=(),
        )  # fmt: skip
        call, shows = f"lens.forwards(lens.typed({now.a!r})).matrix", one.matrix
elif now.view == BACK:
    two = ui.compute(lens.backwards, now)
    film = ui.film_of(now, two.count)
    with stage.picture:
        beside = ui.columns([2, 1] if two.answers else 1)
        with beside[0]:
            ui.figure(
                figures.backwards(two), key="back", share=1.0, film=film,
                alt=f"The edge graph with coloured cliques, and {len(two.answers)} graphs that have it",
            )  # fmt: skip
        for place in beside[1:]:
            with place:
                ui.figure(
                    figures.matrices(figures.incidences(two)), key="incidences", share=1.0, film=film,
                    alt=f"Incidence of each answer, and the adjacency of edges; column {film.at} is outlined",
                )  # fmt: skip
    with stage.foot:
        film.bar(captions=words.back_captions(two), equations=words.back_equations(two))
    with stage.below:
        ui.notice(
            "The links of an edge graph can be parted into cliques such that each square lies in at most two "
            "(Krausz): the cliques are nodes, the squares edges. A connected one comes from one graph alone, "
            "but for the triangle, which comes from a triangle and from a star with three rays (Whitney). "
            "Nodes without edges are lost on the way there."
        )
        ui.check(
            "Which graphs have a triangle as their edge graph?",
            ["A triangle", "A star with three rays", "Both"], "Both",
            "Three edges that meet in pairs may all meet in one node, or in three.",
            wrong={"A triangle": "So do three edges that meet in one node.",
                   "A star with three rays": "So do the three edges of a triangle."},
            veils=("picture", "equation"),
        )  # fmt: skip
        call = f"[one.edges for one in lens.backwards(lens.given({now.back!r})).answers]"
        shows = [answer.edges for answer in two.answers]
elif now.view == UPDATES:
    three = ui.compute(lens.played, now)
    film = ui.film_of(now, len(three.turns))
    weights = now.own, now.heard, now.edges
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            ui.figure(
                sums.drawing(three), key="graph", share=1.0, film=film,
                alt="The graph with a number on every node and edge; thick rims are receiver and senders",
                data={"at": range(len(three.result)), "result": three.result},
            )  # fmt: skip
        with right:
            ui.figure(
                sums.operator(three, now.way, weights), key="operator", share=1.0, film=film,
                alt="The matrix that sends the numbers at its left; results are below",
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=words.sum_captions(three, now.way),
                 equations=words.sum_equations(three, now.way, weights))  # fmt: skip
    with stage.below:
        ui.notice(
            "A sends from node to node, B from nodes to edges, its transpose from edges to nodes, A_edge "
            "from edge to edge. Nodes and edges may have different numbers of features, D and D_E: a layer "
            "has a matrix for each way. A sum over edges does not see which neighbour is at their other end."
        )
        ui.check(
            "From nodes to edges and back: what is H B Bᵀ?", ["H A", "H (A + D)", "H"], "H (A + D)",
            "Each of a node's d edges brings its own number back, and that of the other end.",
            wrong={"H A": "Its own number comes back as well, once for each edge.",
                   "H": "A node also hears of the other ends."},
            veils=(),
        )  # fmt: skip
        call = (f"lens.played(lens.typed({now.a!r}), {now.way!r}, {now.seed}, {now.own}, {now.heard}, "
                f"{now.edges}).result")  # fmt: skip
        shows = three.result
else:
    four = ui.compute(relations.heard, now)
    film = ui.film_of(now, len(four.x))
    with stage.picture:
        left, right = ui.columns([1.9, 1])
        with left:
            ui.figure(
                kinds.network(four), key="kinds", share=1.0, film=film,
                alt="The graph; an edge's kind is its stroke and colour, and nodes have two numbers",
            )  # fmt: skip
        with right:
            ui.figure(
                kinds.matrices(four), key="weights", share=1.0, film=film,
                alt="The matrix of each kind, with what is multiplied by it and what comes out",
                data={"at": range(len(four.x)), "first": four.result[:, 0], "second": four.result[:, 1]},
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=kinds.captions(four), equations=kinds.equations(four))
    with stage.below:
        ui.notice(kinds.notice(now.bases))
        ui.check(
            "All three matrices are the same. What does a node still see of the kinds?",
            ["nothing", "how many senders each kind has", "which kinds it hears"],
            "how many senders each kind has",
            "A mean over a small kind weighs each of its senders more.",
            wrong={"nothing": "It would be so under one sum; here each kind has a mean of its own.",
                   "which kinds it hears": "The same sender says the same by any of them."},
            veils=(),
        )  # fmt: skip
        text = " ".join(f"{a}{SIGNS[r]}{b}" for (a, b), r in zip(
            four.of.pairs.tolist(), four.of.kinds.tolist(), strict=True))  # fmt: skip
        call, shows = (
            f"relations.heard(relations.parse({text!r}), {now.bases}, {now.seed}).result",
            four.result,
        )

with stage.below:
    ui.program(
        f"""
        from pages.graph.edge_graph import lens, relations

        result = {call}
        """,
        shows=shows,
    )
    ui.source(edge_graph.edge_graph, edge_graph.node_graph, edge_graph.grown, edge_graph.operator,
              NodeEdgeConvolution, RelationalConvolution, references=ROOM.references)  # fmt: skip
