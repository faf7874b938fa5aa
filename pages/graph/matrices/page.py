"""Graph as matrices: walks by powers of A, columns of nodes and edges, and a graph under other numbers."""

from typing import Any

from lab import ui
from lab.figures import networks
from modules.graph import encoding
from modules.graph.convolution import GraphConvolution
from pages.graph.matrices import figures, lens, numbering, words
from pages.graph.matrices.room import BROKEN, COUNTS, FROM, LENGTHS, LISTS, ROOM, TO, WALKS

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)

if now.view == WALKS:
    one = ui.compute(lens.walked, now)
    N, counted = len(one.a), now.cells == COUNTS
    n, ends = now.node, now.ends if now.directed else TO
    film = ui.film_of(now, len(LENGTHS))
    L = film.at
    values, strength = words.shown(one, now.cells)
    positions = networks.layout(one.a.nonzero().T, N)

    def pressed(x: float, y: float) -> dict[str, Any]:
        """The node that a click on the graph chooses."""
        return ui.moved(now, node=networks.node_at(positions, x, y))

    of_node = words.ended(values, ends, n)
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            ui.button_figure(
                figures.walks(positions, one.a, now.directed, of_node, words.ended(strength, ends, n), n),
                key="graph", share=1.0, on_press=pressed, whole=False, film=film,
                alt=f"The graph; each node has its number of walks {ends.replace('n', str(n), 1)}",
            )  # fmt: skip
        with right:
            ui.figure(
                figures.powers(values, strength, n, ends == FROM), key="matrix", share=1.0, film=film,
                alt=f"{'Numbers of walks of length L' if counted else 'First lengths'} between all pairs",
                data={"node": range(N), "value": of_node[L]},
            )  # fmt: skip
    with stage.foot:
        film.bar(
            captions=words.walk_captions(one, now.cells, ends, n),
            equations=words.walk_equations(one, now.cells, ends, n),
        )
    with stage.below:
        ui.notice(
            "A walk may come back and use an edge again, so it is no path. Grey squares are the diagonal: in "
            "A² the degrees, if edges lead both ways. A^L counts walks of exactly L edges; a walk of at most "
            "L edges exists where (A + I)^L is not 0."
        )
        degree = int(one.a.sum(0)[n])
        closed = int(one.powers[2, n, n])
        ui.check(
            f"How many walks of length 2 lead from node {n} back to it?",
            sorted({0, closed, degree, degree + 1, 2 * degree}), closed,
            "One for each neighbour, out and back." if not now.directed else
            "One for each neighbour that is joined both ways.",
            wrong={0: "A walk may go out along an edge and come back along it.",
                   degree: "Not every edge leads back as well.",
                   2 * degree: "Out and back is one walk, not two.",
                   degree + 1: "To stay is no step along an edge."},
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            from lab.lenses import graphs
            from modules.graph import encoding

            a = graphs.arrows({now.a!r})
            {"" if now.directed else "a = a | a.T"}
            result = encoding.walks(a, {L})[{f"{n}, :" if ends == FROM else f":, {n}"}]
            """,
            shows=one.powers[L, n] if ends == FROM else one.powers[L, :, n],
        )
        ui.source(encoding.walks, encoding.distances, references=ROOM.references)
elif now.view == LISTS:
    two = ui.compute(lens.listed, now)
    E, N = len(two.edges), len(two.a)
    film = ui.film_of(now, max(E, 1), names=[f"{m}-{n}" for m, n in two.edges.tolist()] or ["none"])
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            ui.figure(
                figures.one_edge(networks.layout(two.a.nonzero().T, N), two, now.directed), key="edge",
                share=1.0, film=film, alt="The graph, with one edge in full",
            )  # fmt: skip
        with right:
            ui.figure(
                figures.lists(two), key="lists", share=1.0, film=film,
                alt="A, X and E; outlined is what belongs to the edge",
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=words.edge_captions(two, now.directed), equations=words.edge_equations(two))
    with stage.below:
        ones = int(two.a.sum())
        ui.notice(
            f"A has {ones} ones among {N * N} numbers: of a large graph only the list of edges is kept. The "
            f"data are drawn here: {lens.D} numbers for each node, {lens.D_E} for each edge."
        )
        ui.check(
            "How many ones has A?", sorted({ones, ones + N, N * N - ones}), ones,
            f"There are {E} edges; " + ("each is one." if now.directed else "each is two, A is symmetric."),
            wrong={ones + N: "The diagonal is 0: no node is joined to itself.",
                   N * N - ones: "Those are the zeros."},
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            from lab.lenses import graphs
            from pages.graph.matrices import lens

            one = lens.listed(graphs.arrows({now.a!r}), {now.directed}, {now.seed})
            result = one.edges
            """,
            shows=two.edges,
        )
        ui.source(encoding.adjacency, references=ROOM.references)
else:
    three = ui.compute(lens.renumbered, now)
    F, N = len(three.places), three.a.shape[-1]
    film = ui.film_of(now, F)
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(
                numbering.twice(networks.layout(three.a[0].nonzero().T, N), three, now.directed), key="twice",
                share=1.0, film=film, alt="One drawing under two numberings, each with its matrix",
            )  # fmt: skip
        with right:
            ui.figure(
                numbering.outputs(three), key="outputs", share=1.0, film=film,
                alt="Data and outputs of a layer under both numberings, and their difference",
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=words.swap_captions(three), equations=words.swap_equations(three))
    with stage.below:
        gap = words.gap(three, film.at)
        ui.notice(
            "Squares on the rims have the colours of the nodes. A layer whose weights all nodes share is "
            "equivariant: other numbers reorder its outputs. A sum or mean over nodes is invariant. "
            + ("Weights that belong to a number follow the number, not the node." if now.layer == BROKEN
               else "Nothing that it says of a node depends on how nodes are numbered.")
        )  # fmt: skip
        same, other = "They are F[X, A]P.", "They are other numbers."
        ui.check(
            "What are the outputs after these exchanges?", [same, other], other if gap else same,
            f"The difference is {gap:.3f} at most.",
            wrong={same: "The difference below is not 0.", other: "The difference below is 0 throughout."},
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            from lab.lenses import graphs
            from pages.graph.matrices import lens

            a, how = graphs.arrows({now.a!r}), {(now.layer, now.permutation, now.seed)!r}
            one = lens.renumbered(a, {now.directed}, *how)
            result = [*one.pooled, one.gaps.abs().max()]
            """,
            shows=[*three.pooled, three.gaps.abs().max()],
        )
        ui.source(encoding.permutation, lens.renumbered, GraphConvolution, references=ROOM.references)
