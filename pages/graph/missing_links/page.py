"""Missing links: a graph auto-encoder ranks pairs of nodes, some of them edges that were hidden from it."""

from lab import ui
from lab.figures import networks
from modules.graph.gae import GAE
from pages.graph.missing_links import figures, lens
from pages.graph.missing_links.room import MATRIX, ROOM

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
one = ui.compute(lens.found, now)
half = len(one.linked) // 2

if now.view == MATRIX:
    p = lens.probabilities(one)
    edges, likely = figures.matrices(one, p)
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            ui.figure(edges, key="edges", share=1.0, alt="Edges of the whole graph, nodes by community")
        with right:
            ui.figure(likely, key="likely", share=1.0, alt="Probability of an edge between any two nodes")
    stage.equation(
        rf"\Pr(y_{{mn}} = 1) = \operatorname{{sig}}[z_m^\top z_n], \qquad \text{{AUC}} = {one.auc:.2f}",
        f"Edges on the left, probabilities on the right; {half} edges were hidden.",
    )
    shows, call = p, "result = lens.probabilities(one)"
else:
    film = ui.film_of(now, 2 * half + 1, values=range(2 * half + 1))
    both = one.world.edges
    positions = networks.layout(both, len(one.z))
    with stage.picture:
        ui.figures(
            ("graph", figures.graph(one, positions), "The graph: found hidden edges green, false links red"),
            ("curve", figures.curve(one), "Hidden edges found over others called linked"), film=film,
        )  # fmt: skip
    with stage.foot:
        film.bar(captions=lens.captions(one), equations=lens.equations(one))
    shows, call = one.p, "result = one.p"

with stage.below:
    ui.notice(
        f"{len(one.seen.T)} edges send messages, {half} are hidden; no pair that the network was told to be "
        "none is an edge. A threshold calls the likeliest pairs linked: lowering it goes along "
        f"the curve. The area under it, {one.auc:.2f}, is the probability that a hidden edge ranks above a "
        "pair that is none; .5 is chance. The network was trained for "
        f"{lens.STEPS} steps as this page opened: loss {one.nll[0]:.2f} to {one.nll[-1]:.2f} nats per pair."
    )
    ui.check(
        "Two nodes have embeddings that are orthogonal. How likely does the network call an edge?",
        ["0", "½", "1"], "½", "sig[0] = ½: the product of orthogonal vectors is 0.",
        wrong={"0": "That takes opposite directions and long vectors: a product far below 0.",
               "1": "That takes one direction and long vectors: a product far above 0."}, veils=(),
    )  # fmt: skip
    ui.program(
        f"""
        from lab.lenses import graphs
        from pages.graph.missing_links import lens

        one = lens.found({now.graph!r}, graphs.typed({now.own!r}),
            {now.hide}, {now.dim}, {now.negatives}, {now.seed})
        {call}
        """,
        shows=shows,
    )
    ui.source(GAE, lens.found, lens.hidden, references=ROOM.references)
