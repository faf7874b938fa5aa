"""Can they be told apart: colour refinement on two graphs, and a GIN with random weights beside it."""

from lab import ui
from modules.graph import isomorphism
from modules.graph.gin import GIN, GINLayer
from pages.graph.isomorphism import figures, lens
from pages.graph.isomorphism.room import OWN, PAIRS, ROOM

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
found = ui.compute(lens.compared, now)
R = len(found.test)
film = ui.film_of(now, R, names=[str(r) for r in range(R)])
with stage.picture:
    left, right = ui.columns([2, 1])
    with left:
        ui.figure(
            figures.graphs(found), key="graphs", share=1.0, film=film,
            alt="Both graphs, coloured by the test above and by equal states of the network below",
            data={"round": [r for r in range(R) for _ in found.test[0]],
                  "test": [c for row in found.test for c in row],
                  "network": [c for row in found.states for c in row]},
        )  # fmt: skip
    with right:
        ui.figure(
            figures.counts(found), key="counts", share=0.5, film=film,
            alt="How many nodes of the first and of the second graph have each colour of the test",
        )  # fmt: skip
        ui.figure(
            figures.distances(found), key="distances", share=0.5, film=film,
            alt="Difference of the pooled states of both graphs, by layer",
            data={"layer": list(range(R)), "difference": found.distance},
        )  # fmt: skip
with stage.foot:
    film.bar(captions=lens.captions(found), equations=lens.equations(found))

with stage.below:
    ui.notice(
        "A colour is a node's own colour with the multiset of its neighbours' colours. States of a network "
        "that sums, averages or takes the largest can differ only where colours differ. A sum of one-hot "
        "data with an MLP behind it parts what the test parts, for almost all weights, if the readout sums "
        "as well. Graphs that the test does not tell apart may still differ."
    )
    ui.check(
        "In which round do the multisets of colours differ first?",
        [*range(4), "never"],
        "never" if found.told is None else min(found.told, 3),
        f"The test tells them apart {lens.verdict(found)}.",
        wrong={r: f"In round {r} both have the same multiset, or had others before." for r in range(4)}
        | {"never": "Count the bars of both graphs, round by round."},
        veils=("picture", "equation"),
    )
    texts = (now.one, now.other) if now.pair == OWN else PAIRS[now.pair]
    ui.program(
        f"""
        from pages.graph.isomorphism import lens

        one, other = (lens.typed(text) for text in {texts!r})
        how = {(now.data, now.aggregation, now.pooling, now.seed)!r}
        found = lens.compared({OWN!r}, one, other, *how)
        result = [found.told, *found.distance]
        """,
        shows=[found.told, *found.distance],
    )
    ui.source(isomorphism.refined, GINLayer, GIN.vectors, references=ROOM.references)
