"""Masks, interaction matrices and reach: a pattern of pairs, and what layers of it let tokens hear of."""

from lab import ui
from modules.transformer import sparse
from pages.transformer.interaction_matrices import figures, lens
from pages.transformer.interaction_matrices.room import ROOM

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
one = ui.compute(lens.study, now)
film = ui.film_of(now, one.depth + 1, names=range(one.depth + 1))
with stage.picture:
    left, right = ui.columns(2)
    with left:
        ui.figure(figures.pairs(one), key="pairs", share=1.0, alt="Which token looks at which in one layer")
    with right:
        ui.figure(
            figures.reached(one), key="reach", share=1.0, film=film,
            alt="Of which tokens each has heard after so many layers",
        )  # fmt: skip
with stage.foot:
    film.bar(captions=lens.captions(one), equations=lens.equations(one))

rows, columns = one.pattern.shape
count, final = int(one.pattern.sum()), one.of_last(one.depth)
with stage.below:
    ui.notice(
        f"{count} of {rows * columns} pairs: attention over this pattern costs {count} dot products for each "
        f"head where full attention costs {rows * columns}. After {one.depth} "
        f"layer{'s' * (one.depth != 1)} nothing is added, and token {one.last + 1} has heard of {final} of "
        f"{one.there} tokens. A matrix with one dilation keeps to its residue: i − j stays a multiple of the "
        "dilation however often it is applied. A mask alone saves nothing: the pairs that it leaves out must "
        "not be computed."
    )
    ui.check(
        f"However many layers: of how many tokens does token {one.last + 1} hear?",
        lens.OPTIONS,
        lens.answer(one),
        f"Of {final} of {one.there}.",
        wrong=(
            "A path of pairs must lead from it to every token: here some have none.",
            "Follow the pairs layer by layer: where they end is what it hears of.",
            "Tokens hand on what they have heard of: reach grows with every layer.",
        ),
        veils=("reach", "equation"),
    )
    arguments = (now.pattern, now.n, now.causal, now.radius, now.dilation, now.number, now.padding)
    ui.program(
        f"""
        from pages.transformer.interaction_matrices import lens

        one = lens.study(*{arguments!r}, lens.read_taps({now.taps!r}), {now.seed})
        result = [int(one.pattern.sum()), int(one.heard({film.at}).sum()), one.depth]
        """,
        shows=[count, int(one.heard(film.at).sum()), one.depth],
    )
    ui.source(
        sparse.window, sparse.reach, sparse.sparse_attention, sparse.offset_attention, lens.study,
        references=ROOM.references,
    )  # fmt: skip
