"""Shuffle test: outputs of attention on words in one order and in another."""

from lab import ui
from modules.transformer.stack import Stack
from pages.transformer.shuffle import figures, lens
from pages.transformer.shuffle.room import KEYS, ROOM

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
    one = ui.compute(lens.shuffled, now)
keys = now.view == KEYS
names, most = lens.named(one), one.most.tolist()
film = ui.film_of(now, len(one.orders), names=range(len(one.orders)))
with stage.picture:
    left, right = ui.columns(2)
    with left:
        ui.figure(
            figures.moving(one, names, keys), key="moving", film=film, share=1.0,
            alt="Attention weights, columns in the new order" if keys else "Outputs, rows in the new order",
        )  # fmt: skip
    with right:
        ui.figure(
            figures.changed(one, keys), key="changed", film=film, share=1.0,
            alt="Change of the outputs of each word against the first order",
        )  # fmt: skip
with stage.foot:
    captions = lens.captions(one, now.view, now.scheme, now.causal)
    film.bar(captions=captions, equations=lens.equations(one, now.view))

with stage.below:
    ui.notice(
        "Scores compare pairs of vectors, and sums over keys have no order: self-attention is equivariant. "
        "Permute its tokens, and its outputs are permuted; a layer that attends to a source is invariant to "
        "the order of that source. A feed-forward layer and a norm see one token at a time and change "
        f"nothing of that. The largest change here is {most[film.at]:.2g}: rounding, if it is below 1e-9."
    )
    ui.check(
        "Does this model tell “dog bites man” from “man bites dog”?",
        ["yes", "no"], "yes" if most[-1] > 1e-9 else "no",
        f"In the last frame the largest change of an output is {most[-1]:.2g}.",
        wrong=["Nothing in it knows a place: rows only move with their tokens.",
               "A place enters by its code or by the mask: moved tokens get other outputs."],
        veils=("changed", "equation"),
    )  # fmt: skip
    arguments = (now.view, one.words, one.orders[-1].tolist(), now.scheme, now.causal, now.layers, now.seed)
    ui.program(
        f"""
        from pages.transformer.shuffle import lens

        result = lens.shuffled(*{arguments!r}).most
        """,
        shows=one.most,
    )
    ui.source(Stack.forward, lens.shuffled, references=ROOM.references)
