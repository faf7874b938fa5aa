"""Depth lab: states that become alike layer by layer, influence that fades with distance, and training."""

from lab import ui
from lab.figures import networks
from modules.graph import depth
from pages.graph.depth_lab import figures, lens, training, words
from pages.graph.depth_lab.room import INFLUENCE, ROOM, STATES, STEPS

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
knobs = f"{now.propagation!r}, {now.residual!r}, {now.pair}, {now.drop}, {now.seed}"
drawn = f"{now.graph!r}, graphs.typed({now.own!r})"

if now.view == STATES:
    one = ui.compute(lens.smoothing, now)
    film = ui.film_of(now, now.depth + 1, values=range(now.depth + 1))
    k = film.at
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            ui.figure(
                figures.states(one), key="states", share=1.0, film=film,
                alt=f"States of the nodes after {k} layers, along two principal directions",
                data={"node": range(len(one.places[k])), "first": one.places[k][:, 0],
                      "second": one.places[k][:, 1]},
            )  # fmt: skip
        with right:
            ui.figure(
                figures.fall(one), key="fall", share=1.0, film=film,
                alt="Share of the states outside the dominant eigenspace, layer by layer, and the rate",
                data={"layer": range(len(one.far)), "network": one.far, "graph alone": one.alone,
                      "rate": one.expected, "energy": one.energy, "cosine": one.cosine},
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=words.smoothing_captions(one), equations=words.smoothing_equations(one))
    call, shows = f"lens.smoothing({drawn}, {now.depth}, {knobs}).far", one.far
    with stage.below:
        ui.notice(
            "P projects on the dominant eigenspace of S, where nodes of one component are alike up to their "
            f"degree. The graph alone falls at |λ₂/λ₁| = {one.rate:.3f} a layer. An added input delays the "
            "fall, an appended one and PairNorm stop it short, and jumping knowledge reads earlier layers. "
            "Left-out edges change the graph, and so its rate."
        )
        if 0.0005 < one.rate < 0.9995:
            ui.check(
                "Without weights, by what factor does the share outside fall in each late layer?",
                ["0", f"{one.rate:.3f}", "1"], f"{one.rate:.3f}",
                "All other directions have died by then: what is left is the second eigenvector.",
                wrong={"0": "One average makes all alike only on a complete graph.",
                       "1": "It stays where no second eigenvalue lies below the first, as without edges."},
            )  # fmt: skip
elif now.view == INFLUENCE:
    two = ui.compute(lens.influences, now)
    film = ui.film_of(now, now.hops + 1, values=range(now.hops + 1))
    k = film.at
    positions = networks.layout(two.world.edges, len(two.away))
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            ui.figure(
                figures.influences(two, positions, now.node), key="graph", share=1.0, film=film,
                alt=f"The graph: the darker a node, the larger its influence on node {now.node}",
                data={"node": range(len(two.away)), "distance": two.away, "gradients": two.gradient[k],
                      "walks": two.walk[k]},
            )  # fmt: skip
        with right:
            ui.figure(
                figures.shares(two), key="shares", share=1.0, film=film,
                alt="Share of all nodes at each distance in the influence, by gradients and by walks",
                data={"distance": range(len(two.first)), "gradients": two.by_gradient[k],
                      "walks": two.by_walk[k], "first": two.first},
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=words.influence_captions(two, now.node),
                 equations=words.influence_equations(two, now.node))  # fmt: skip
    call, shows = f"lens.influences({drawn}, {now.node}, {now.hops}, {knobs}).by_gradient", two.by_gradient
    with stage.below:
        ui.notice(
            "Influence is the sum of absolute gradients, as shares of 1. In a linear network it is the "
            "probability of a random walk. In a tree the number of nodes doubles from level to level while a "
            "walk's probability falls to a quarter: all that they say must pass one node: over-squashing. An "
            "added input keeps influence near."
        )
        ui.check(
            "A binary tree grows by a level, the network by a layer. What becomes of all leaves' share?",
            ["It doubles", "It halves", "It stays"], "It halves",
            "Twice as many leaves, each with a quarter of the influence.",
            wrong={"It doubles": "The number of leaves does; each has a quarter of the influence.",
                   "It stays": "It would, if each leaf had half of the influence."},
        )  # fmt: skip
else:
    three = ui.compute(training.trained, now)
    film = ui.film_of(now, len(STEPS))
    i = film.at
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            ui.figure(
                figures.accuracies(three), key="accuracy", share=1.0, film=film,
                alt="Accuracy on training nodes and on the others, step by step",
                data={"step": STEPS, "training": three.train, "others": three.test, "loss": three.loss},
            )  # fmt: skip
        with right:
            ui.figure(
                figures.gradients(three), key="gradients", share=1.0, film=film,
                alt=f"Norm of the gradient in each layer after {STEPS[i]} steps",
                data={"layer": range(1, now.layers + 1), "norm": three.gradients[i]},
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=words.training_captions(three), equations=words.training_equations(three))
    call = f"training.trained({now.layers}, {knobs}).train"
    shows = three.train
    with stage.below:
        ui.notice(
            "Trained as this page opened, on 14 members of the karate club. Over-fitting would show in the "
            "other nodes alone: what fails here is training. At first the gradient is "
            f"{three.gradients[0, 0]:.0e} in layer 1, {three.gradients[0, -1]:.0e} in the last one."
        )
        ui.check(
            "A plain network with 32 layers is wrong on its training nodes. Would dropout help?",
            ["Yes", "No"], "No", "It does not over-fit: its gradient does not reach the first layers.",
            wrong={"Yes": "Dropout helps where training nodes are right and others wrong."}, veils=(),
        )  # fmt: skip

with stage.below:
    ui.program(
        f"""
        from lab.lenses import graphs
        from pages.graph.depth_lab import lens, training

        result = {call}
        """,
        shows=shows,
    )
    ui.source(
        depth.DeepGCN, depth.dominant, depth.dirichlet_energy, depth.influence, depth.drop_edges,
        depth.pair_norm, references=ROOM.references,
    )  # fmt: skip
