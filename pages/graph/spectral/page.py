"""Spectral view: eigenvectors on the nodes, and a signal that is filtered by terms of a series."""

from lab import ui
from lab.figures import networks
from lab.lenses import graphs
from modules.graph import spectral
from pages.graph.spectral import figures, lens
from pages.graph.spectral.room import EIGENVECTORS, ROOM, TERMS

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
a = graphs.typed(now.a)
N = len(a)
positions = networks.layout(a.nonzero().T, N)

if now.view == EIGENVECTORS:
    one = ui.compute(lens.spectrum, now)
    film = ui.film_of(now, N, names=range(N))
    k = film.at
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(
                figures.nodes(positions, a, one.scaled), key="nodes", share=1.0, film=film,
                alt=f"Eigenvector {k} on the nodes: blue positive, red negative",
                data={"node": range(N), "u": one.vectors[:, k]},
            )  # fmt: skip
        with right:
            ui.figure(
                figures.frequencies(one), key="spectrum", share=1.0, film=film,
                alt="Eigenvalues in rising order, with a dot on that of the eigenvector",
                data={"k": range(N), "eigenvalue": one.values},
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=lens.vector_captions(one), equations=lens.vector_equations(one, now.matrix))
    with stage.below:
        ui.notice(
            "λ sums the squared differences along all edges, so vectors with a small λ are smooth. As many "
            "frequencies are 0 as the graph has separate components. The vectors are of this graph alone."
        )
        most = int(one.changes.max())
        ui.check(
            "Along how many edges does the sign of the last eigenvector change?",
            sorted({0, int(one.changes[-1]), len(one.edges)}), int(one.changes[-1]),
            f"Its λ is {lens.number(one.values[-1])}; the most of any vector is {most}.",
            wrong={0: "A vector without a change of sign has a low frequency.",
                   len(one.edges): "Along all edges only if the graph has no odd cycle, and nowhere is 0."},
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            from lab.lenses import graphs
            from modules.graph import spectral

            a = graphs.typed({now.a!r}).double()
            values, vectors = spectral.frequencies(a, normalised={now.matrix != "D − A"})
            result = vectors[:, {k}]
            """,
            shows=one.vectors[:, k],
        )
else:
    two = ui.compute(lens.filtered, now)
    film = ui.film_of(now, len(TERMS))
    K = TERMS[film.at]
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            ui.figure(
                figures.nodes(positions, a, two.outputs), key="nodes", share=1.0, film=film,
                alt=f"The signal filtered by {K} terms: blue positive, red negative",
                data={"node": range(N), "x": two.x, "y": two.outputs[film.at], "exact": two.exact},
            )  # fmt: skip
        with right:
            ui.figure(
                figures.gains(two), key="gains", share=1.0, film=film,
                alt="The filter g over the frequency, and the curve of so many Chebyshev terms",
                data={"frequency": lens.GRID, "g": two.wanted, "terms": two.curves[film.at]},
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=lens.filter_captions(two), equations=lens.filter_equations(two))
    with stage.below:
        gap = float((two.outputs[-1] - two.exact).abs().max())
        ui.notice(
            "The series needs products with the Laplacian alone: each term carries the signal one hop "
            f"further, and no eigenvector is computed. With {TERMS[-1]} terms it is up to {gap:.3f} off the "
            "filter in the eigenbasis. Kipf's layer is the line 2 − λ, two terms; a step or a narrow band "
            "needs many."
        )
        ui.check(
            f"How far does the filter of {K} terms reach?",
            [f"{K - 1} hops", f"{K} hops", "all nodes"], f"{K - 1} hops",
            "The first term is the signal itself; every further term multiplies by the Laplacian once.",
            wrong={f"{K} hops": "The first term does not move the signal.",
                   "all nodes": "So does a free filter in the eigenbasis; a polynomial does not."},
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            from lab.lenses import graphs
            from pages.graph.spectral import lens

            a, x = graphs.typed({now.a!r}), lens.signal({now.x!r})
            one = lens.filtered(a, x, {now.kind!r}, {now.cut}, {now.time})
            result = one.outputs[{film.at}]
            """,
            shows=two.outputs[film.at],
        )
with stage.below:
    ui.source(
        spectral.frequencies, spectral.filtered, spectral.chebyshev, spectral.coefficients,
        references=ROOM.references,
    )  # fmt: skip
