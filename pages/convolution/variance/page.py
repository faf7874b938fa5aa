"""Variance through depth: random networks by block, the order of operations, starts of 1000 layers."""

from lab import ui
from modules.convolution import initialization, residual, variance
from pages.convolution.variance import figures, start, through_depth, words
from pages.convolution.variance.room import BACKWARD, DEPTH, DRAWS, ORDER, ROOM, ROUNDS, TRIALS

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)

if now.view == DEPTH:
    one = ui.compute(through_depth.through_depth, now)
    film = ui.film_of(now, len(DRAWS))
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(
                figures.by_block(one), key="blocks", share=1.0, film=film,
                alt="E[h²] and batch variance after each block: theory as lines, draws as dots",
                data={"block": range(len(one.theory)), "E[h²]": one.second[film.at],
                      "batch variance": one.batch[film.at]},
            )  # fmt: skip
        with right:
            ui.figure(
                figures.growth(one), key="growth", share=1.0, film=film,
                alt="What each block multiplies both by, or adds to them",
            )  # fmt: skip
    with stage.foot:
        film.bar(
            captions=words.depth_captions(one),
            equations=words.depth_equations(one, now.scheme, now.order, now.alpha),
        )
    with stage.below:
        ui.notice(words.depth_about(now.scheme, now.order))
        smaller, same = "It is smaller.", "They are equal."
        less = one.theory[-1].batch < 0.999 * one.theory[-1].second
        ui.check(
            "After the last block: is the variance over a batch E[h²]?",
            [smaller, same], smaller if less else same,
            "Units of different examples share a part, which is no variance over the batch." if less else
            "Nothing has been added to independent inputs.",
            wrong={same: "The orange line lies below the blue one.",
                   smaller: "Both lines are one."},
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            from pages.convolution.variance import through_depth

            how = {(now.scheme, now.order, now.alpha, now.blocks, now.width, now.seed)!r}
            one = through_depth.through_depth(*how)
            result = one.second[{film.at}]
            """,
            shows=one.second[film.at],
        )
        ui.source(variance.moments, residual.dense_block, initialization.he, references=ROOM.references)
elif now.view == ORDER:
    lines = ui.compute(through_depth.cloud, now)
    film = ui.film_of(now, ROUNDS + 1)
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(
                figures.cloud(lines), key="cloud", share=1.0, film=film,
                alt="Units of one example after each block, a line each",
            )  # fmt: skip
        with right:
            ui.figure(
                figures.below(lines), key="below", share=1.0, film=film,
                alt="Share of the units below 0 after each block",
            )  # fmt: skip
    with stage.foot:
        film.bar(
            captions=words.cloud_captions(lines), equations=words.cloud_equations(lines, now.order)
        )  # fmt: skip
    with stage.below:
        ui.notice(words.CLOUD)
        falls = bool((lines.h.diff(dim=0) < 0).any())
        moves = bool((lines.h.diff(dim=0) != 0).any())
        options = ["some", "none"]
        ui.check(
            "How many of the lines fall in some block?", options, "some" if falls else "none",
            "The last step is linear: it adds numbers of both signs." if falls else
            "The last step is a ReLU: it adds nothing negative." if moves else
            "The ReLU cuts all of the input away: nothing is added.",
            wrong={"some": "No line falls from one block to the next.",
                   "none": "Look at lines from block to block."},
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            from pages.convolution.variance import through_depth

            one = through_depth.cloud({now.order!r}, {now.sign!r}, {now.first!r}, {now.seed})
            result = one.h[{film.at}]
            """,
            shows=lines.h[film.at],
        )
        ui.source(residual.ordered, residual.Residual, references=ROOM.references)
else:
    backward = now.shown == BACKWARD
    five = ui.compute(start.started, now)
    film = ui.film_of(now, len(TRIALS))
    with stage.picture:
        ui.figure(
            figures.sizes(five, backward), key="sizes", share=1.0, film=film,
            alt="Root mean square by layer of several initialisations, on a logarithmic axis",
            data={"layer": range(now.layers + 1)}
            | {name: five.sizes[m, film.at] for m, name in enumerate(start.STARTS)},
        )  # fmt: skip
    with stage.foot:
        film.bar(
            captions=words.start_captions(five, backward),
            equations=words.start_equations(five, backward, now.layers),
        )
    with stage.below:
        ui.notice(words.start_about(now.activation, now.shown))
        ui.check(
            "Which start keeps each length exactly through linear layers, not only on average?",
            ["Xavier", "He", "delta-orthogonal"], "delta-orthogonal",
            "An orthogonal matrix changes no length; Gaussian ones do so on average.",
            wrong={"Xavier": "On average it does, but each draw drifts.",
                   "He": "Its factor of 2 is for a ReLU."},
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            from pages.convolution.variance import start

            how = {(now.activation, now.layers, now.shown, now.gain, now.seed)!r}
            result = start.started(*how).sizes[:, {film.at}, {0 if backward else -1}]
            """,
            shows=five.sizes[:, film.at, 0 if backward else -1],
        )
        ui.source(initialization.delta_orthogonal, initialization.standard_deviation, start.started,
                  references=ROOM.references)  # fmt: skip
