"""Reach, sampling and partition: what a batch needs of a graph, and what a sample of it costs."""

from lab import ui
from lab.figures import networks
from modules.graph import partition, pooling, sampling
from pages.graph.sampling import figures, lens, soft, words
from pages.graph.sampling.room import NOISE, PARTS, ROOM, SOFT, STEPS

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)

if now.view == NOISE:
    noisy = ui.compute(lens.noise, now)
    with stage.picture:
        ui.figure(
            figures.noise(noisy), key="noise", share=1.0,
            alt="Deviation and bias of the sampled gradient against the neighbours kept of each node",
            data={"s": lens.SIZES, "deviation": noisy.deviation, "bias": noisy.bias},
        )  # fmt: skip
    stage.equation(words.noise_equation(noisy), f"{lens.DRAWS} draws for each s, two layers with means.")
    call, shows = f"lens.noise(graphs.typed({now.own!r}), {now.seed}).deviation", noisy.deviation
    with stage.below:
        ui.notice(
            "The mean over a sample has the mean over all as its expectation, so that a layer has no bias; "
            "the gradient has one, through ReLU and softmax. Where s reaches the largest degree nothing is "
            "drawn and both are 0. Cora's deviations are those of `lab bench graph-batches`: one start of "
            "the weights, 200 draws."
        )
elif now.view == PARTS:
    one = ui.compute(lens.divided, now)
    film = ui.film_of(now, len(one.batches), values=range(len(one.batches)))
    positions = networks.layout(one.edges, len(one.parts))
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            ui.figure(
                figures.whole(one, positions), key="parts", share=1.0,
                alt=f"The graph in {now.count} parts, {one.cut} edges between them dotted",
                data={"node": range(len(one.parts)), "part": one.parts},
            )  # fmt: skip
        with right:
            ui.figure(
                figures.batches(one, positions), key="batch", share=1.0, film=film,
                alt=f"A batch: {words.batch_name(one.batches[film.at])}, and the edges inside it",
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=words.part_captions(one), equations=[words.part_equation(one)] * len(one.batches))
    call = (
        f"lens.divided(graphs.typed({now.divided!r}), {now.count!r}, {now.method!r}, {now.batch!r}, "
        f"{now.seed}).parts"
    )
    shows = one.parts
    with stage.below:
        ui.notice(
            f"{one.cut} edges are cut; parts of the same sizes drawn at random cut {one.expected:.1f} on "
            "average. In a batch a node at the rim has fewer neighbours than in the graph: weights by degree "
            "have to say whose degree they use, that of the batch or that of the graph."
        )
        ui.check(
            "Eight parts, batches of two parts each. How many different batches are there?",
            ["16", "28", "64"], "28", "8 · 7 / 2 = 28 pairs.",
            wrong={"16": "That is twice the parts; each pairs with seven others.",
                   "64": "That counts each pair twice, and each part with itself."}, veils=(),
        )  # fmt: skip
elif now.view == SOFT:
    three = ui.compute(soft.softened, now)
    film = ui.film_of(now, len(STEPS))
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            ui.figure(
                figures.mixed(three, networks.layout(three.edges, three.s.shape[1])), key="mixed", share=1.0,
                film=film, alt="The graph, each node in the mixture of the colours of its parts",
                data={"node": range(three.s.shape[1]), "likeliest part": three.s[film.at].argmax(1)},
            )  # fmt: skip
        with right:
            ui.figure(
                figures.pooled(three), key="pooled", share=1.0, film=film,
                alt="The pooled graph: weights between all pairs of parts",
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=words.soft_captions(three), equations=words.soft_equations(three, now.entropy))
    how = f"{now.count!r}, {now.entropy}, {now.seed}"
    call = f"soft.softened(graphs.typed({now.divided!r}), {how}).between[-1]"
    shows = three.between[-1]
    with stage.below:
        ui.notice(
            "DiffPool pools a graph to a smaller one: states SᵀZ and edges SᵀAS. No partition is given; the "
            "loss wants joined nodes in one part, and the entropy each node in one. In a network the "
            "task's loss is added. With λ = 1 nodes decide too early, and the parts are poor. Here nodes "
            "know their numbers; else two that messages cannot tell apart share their parts."
        )
        ui.check(
            "Each node is sure of one part. What stands on the diagonal of SᵀAS?",
            ["Edges inside", "Twice the edges inside", "Nodes"], "Twice the edges inside",
            "An undirected edge is two ones in A.",
            wrong={"Edges inside": "Each edge is in A both ways.", "Nodes": "Those are on SᵀS."}, veils=(),
        )  # fmt: skip
else:
    two = ui.compute(lens.trees, now)
    film = ui.film_of(now, now.hops + 1, values=range(now.hops + 1))
    with stage.picture:
        left, right = ui.columns(2)
        for column, tree, name in ((left, two.full, "full"), (right, two.sampled, "sampled")):
            with column:
                ui.figure(
                    figures.tree(tree, two.count), key=name, share=1.0, film=film,
                    alt=f"The {name} computation tree of node {now.node}, {film.at} steps back",
                    data={"steps back": range(now.hops + 1), "nodes": [len(v) for v in tree.levels]},
                )  # fmt: skip
    with stage.foot:
        film.bar(captions=words.tree_captions(two), equations=words.tree_equations(two, now.most))
    call = (
        f"lens.trees(graphs.typed({now.own!r}), {now.node}, {now.hops}, {now.most}, {now.seed})"
        ".sampled.levels[-1]"
    )
    shows = two.sampled.levels[-1]
    with stage.below:
        ui.notice(
            "Left all neighbours, right at most s of each node in each layer; grey lines are what a node "
            "keeps of itself. A network of K layers needs no node outside the full tree, and with weights by "
            "degree it needs the degrees of the whole graph: the nodes at the rim have neighbours that the "
            "tree does not contain."
        )
        ui.check(
            "With s = 2 and three layers, how many nodes does a sample need at most?",
            ["8", "9", "27"], "27", "(1 + 2)³ = 27: each node, and two neighbours of it, three times.",
            wrong={"8": "2³ leaves out that a node's own state is needed, too.",
                   "9": "(1 + 2)² are two layers."}, veils=(),
        )  # fmt: skip

with stage.below:
    ui.program(
        f"""
        from lab.lenses import graphs
        from pages.graph.sampling import {"soft" if now.view == SOFT else "lens"}

        result = {call}
        """,
        shows=shows,
    )
    ui.source(
        sampling.sample, partition.partition, partition.batch, pooling.diff_pool, references=ROOM.references
    )
