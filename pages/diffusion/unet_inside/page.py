"""Inside the U-Net of a diffusion model: feature maps, skips, attention, and what a pixel reads, by noise."""

from lab import ui
from lab.lenses.diffusion import SAID
from modules.convolution.unet import UNet
from modules.diffusion.ddpm import TimedUNet
from pages.diffusion.unet_inside import figures, lens, shape
from pages.diffusion.unet_inside.room import ATTENTION, MAPS, MNIST, READS, ROOM, SKIPS, TIMES, U

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
film = ui.film_of(now, len(TIMES))
at, t = film.at, TIMES[film.at]
head, seed = now.head - 1, now.seed
program = f"""
        from lab import weights
        from lab.ui.controls import drawing
        from pages.diffusion.unet_inside import lens, shape

        model = weights.load({now.model!r})
        picture = drawing.pixels({now.ink!r}, {28 if now.model == MNIST else 8})
"""


def pictures(column, frames, key: str, title: str, alt: str) -> None:
    """A picture (F, 8, 8) of the film in a column."""
    with column:
        ui.figure(figures.picture(frames, title), key=key, share=1.0, film=film, alt=alt)


def strip() -> None:
    """The machine: at every t the network is asked once."""
    ui.machine(now.model, film=film, lit=["net"] * film.count, says=[{"xt": f"t = {t}"} for t in TIMES])


def ends(shows, result: str, *code) -> None:
    """The program, with its last line, and the sources."""
    ui.program(program + f"        result = {result}\n", shows=shows)
    ui.source(*code, references=ROOM.references)


def draw_u() -> None:
    result = ui.compute(shape.shape, now)
    up, skip = next(iter(result.right.values())).channels, result.skips[-1]
    with stage.picture:
        ui.figure(
            figures.u(result), key="u", share=1.0, film=film,
            alt="The U-Net: maps of every stage down the left arm and up the right, skips between them",
        )  # fmt: skip
    with stage.foot:
        strip()
        film.bar(captions=shape.captions(result))
    with stage.below:
        ui.notice(
            "Of each stage the channels are shown that vary most over the grid: two of the finest, eight of "
            "the halved one; blue is positive, orange negative, relative to the largest value at this t. "
            "The way up does not add what a skip carries: it puts those maps beside its own. " + SAID
        )
        ui.check(
            "How many maps does “up 1” read?",
            sorted({up, skip + up, skip + up // 2}),
            skip + up,
            f"{up} of “middle 2” and {skip} of the skip, side by side.",
            wrong={
                up: "Those come from the bottleneck alone: the skip's maps are put beside them.",
                skip + up // 2: "Both bring as many maps: count those of “middle 2” and of the skip.",
            },
            veils=("picture", "equation"),
        )
        ends(float(result.x0[at].mean()),
             f"float(shape.shape(model, picture, None, {now.zeroed!r}, {seed}).x0[{at}].mean())",
             UNet.forward, shape.shape)  # fmt: skip


def draw_maps() -> None:
    base = ui.compute(lens.look, now)
    with stage.picture:
        left, middle, right = ui.columns([2, 4, 2])
        pictures(left, base.x, "x", "xₜ", "The digit under noise")
        with middle:
            fig = figures.maps(lens.scaled(base.maps), f"{lens.MAPS} of {base.channels} maps")
            ui.figure(fig, key="maps", share=1.0, film=film, alt="Feature maps of the layer")
        pictures(right, base.x0, "prediction", "prediction x̂₀", "The prediction of the clean digit, x̂₀")
    h, w = base.maps.shape[2:]
    with stage.foot:
        strip()
        text = f"{base.channels} maps of {h} by {w} after {now.layer!r}; the largest value of each time is 1."
        film.bar(captions=[f"t = {t}: {text}" for t in TIMES])
    with stage.below:
        ui.notice(
            "On the way down the grid is halved once, from 8 by 8 to 4 by 4, and on the way up doubled; what "
            "was on each grid is joined again by skips. The network is told t, so the same weights do other "
            f"things under much noise than under little. {SAID}"
        )
        ui.check(
            "How many positions has each of these maps?",
            [16, 64],
            h * w,
            f"{h} by {w}.",
            wrong={
                16: "That is the halved grid of the middle, 4 by 4: this layer works on 8 by 8.",
                64: "Those are the pixels of the digit: this layer works on the halved grid.",
            },
            veils=("picture", "equation"),
        )
        ends(float(base.maps[at].mean()),
             f"float(lens.look(model, picture, {now.layer!r}, {seed}).maps[{at}].mean())",
             UNet.forward, TimedUNet)  # fmt: skip


def draw_skips() -> None:
    result = ui.compute(lens.cut, now)
    lines = {"all skips": result.error, "without": result.error_cut}
    with stage.picture:
        left, middle, right = ui.columns([2, 2, 3])
        pictures(left, result.whole, "whole", "all skips", "The prediction with all skips")
        pictures(middle, result.cut, "cut", "without", "The prediction without these skips")
        with right:
            ui.figure(
                figures.by_time(TIMES, lines, "error per pixel", 0.7), key="errors", share=1.0, film=film,
                alt="Error of the prediction against t, with and without the skips",
            )  # fmt: skip
    with stage.foot:
        strip()
        film.bar(captions=lens.skip_captions(result))
    with stage.below:
        ui.notice(
            "Nothing is trained anew: the network learned with its skips and is asked without. “First” joins "
            "the input's own features to the last layer, “fine” those of 8 by 8, “coarse” those of 4 by 4. "
            f"Errors are means over {lens.DRAWS} noises. {SAID}"
        )
        ui.check(
            f"At t = {t}, which prediction is worse?",
            lens.WORSE,
            lens.worse(result, at),
            f"{float(result.error[at]):.3f} with, {float(result.error_cut[at]):.3f} without.",
            wrong=(
                "The network learned with its skips: they do not harm the prediction at this t.",
                "These skips carry detail, and at this t the prediction does without it.",
                "The two errors differ by over 0.01: at this t the prediction uses what these skips carry.",
            ),
            veils=("picture", "equation"),
        )
        ends(float(result.error_cut[at]),
             f"float(lens.cut(model, picture, {now.without!r}, {seed}).error_cut[{at}])",
             UNet.forward, lens.cut)  # fmt: skip


def draw_attention() -> None:
    base = ui.compute(lens.look, now)
    result, row, column = ui.compute(lens.attention, now), now.r4 - 1, now.c4 - 1
    own = lens.looked_at(result, head, row, column)
    spread = lens.entropy(result)
    with stage.picture:
        left, right = ui.columns(2)
        pictures(left, base.x, "x", "xₜ", "The digit under noise")
        with right:
            ui.figure(
                figures.ringed(own, row, column), key="looks", share=1.0, film=film,
                alt="Attention weights of the framed place on the 4×4 grid",
            )  # fmt: skip
    with stage.foot:
        strip()
        film.bar(captions=[f"t = {t}: head {now.head} spreads over {float(e.exp()):.1f} of 16 places."
                           for t, e in zip(TIMES, spread[:, head], strict=True)])  # fmt: skip
    top = lens.top(own[at])
    with stage.below:
        ui.notice(
            "A place stands for 2 by 2 pixels and what convolutions brought there. Weights of a place sum "
            f"to 1; here the largest is {float(own[at].max()):.2f}. e to the entropy is how many places a "
            f"head attends to. {SAID}"
        )
        ui.check(
            "To which place does the framed one attend most?",
            lens.PLACES,
            top,
            f"Its weight is {float(own[at].max()):.3f}.",
            wrong={
                place: f"“{place}” has the weight {float(w):.3f}: likeness of query and key decides, "
                "not nearness."
                for place, w in zip(lens.PLACES, own[at].flatten(), strict=True)
            },
            veils=("picture", "equation"),
        )
        ends(float(own[at].max()),
             f"float(lens.attention(model, picture, {seed})[{at}, {head}, {4 * row + column}].max())",
             UNet.forward, lens.attention)  # fmt: skip


def draw_reads() -> None:
    row, column, base = now.row - 1, now.column - 1, ui.compute(lens.look, now)
    result = ui.compute(lens.read, now)
    share, scaled = lens.near(result, row, column), lens.relative(result)
    with stage.picture:
        left, middle, right = ui.columns([2, 3, 3])
        pictures(left, base.x0, "prediction", "prediction x̂₀", "The prediction of the clean digit, x̂₀")
        with middle:
            ui.figure(
                figures.ringed(scaled, row, column), key="reads", share=1.0, film=film,
                alt="Sensitivity of the framed pixel of the prediction to each pixel of xₜ",
            )  # fmt: skip
        with right:
            ui.figure(
                figures.by_time(TIMES, {"share": share}, "share within 1 pixel", 1.05), key="near",
                share=1.0, film=film, alt="Share of the sensitivity within one pixel, against t",
            )  # fmt: skip
    with stage.foot:
        strip()
        film.bar(captions=[f"t = {t}: {float(s):.0%} of its sensitivity is to pixels at most one away."
                           for t, s in zip(TIMES, share, strict=True)])  # fmt: skip
    with stage.below:
        ui.notice(
            "Shown is the size of the prediction's derivative by every pixel of xₜ, the mean over "
            f"{lens.DRAWS} noises, relative to the largest. Attention in the middle joins all places, so "
            "every pixel can be read at every t; how much of it is, t decides. " + SAID
        )
        ui.check(
            f"At t = {t}, what share of the sensitivity is within one pixel?",
            lens.NEARER,
            lens.nearer(float(share[at])),
            f"{float(share[at]):.0%}.",
            wrong=(
                "Under so much noise a pixel says little of itself: the prediction is gathered from far.",
                "How far the prediction reads goes with the noise: at this t it is nearer to an end.",
                "Under little noise a pixel tells most of itself: the prediction needs few others.",
            ),
            veils=("picture", "equation"),
        )
        ends(float(share[at]),
             f"float(lens.near(lens.reads(model, picture, {row}, {column}, {seed}), {row}, {column})[{at}])",
             UNet.forward, lens.reads)  # fmt: skip


views = {U: draw_u, MAPS: draw_maps, SKIPS: draw_skips, ATTENTION: draw_attention, READS: draw_reads}
views[now.view]()
