"""Pose: heatmaps of the joints after each stack, skeletons behind a block, and correct joints by stack."""

from typing import Any

from datamodules.stick_figures import JOINTS, StickFigures
from lab import ui
from modules.convolution import hourglass
from pages.convolution.pose import figures, lens, typed, words
from pages.convolution.pose.room import DRAWN, HEATMAPS, PLACED, ROOM, SHARES, SIDE, SKELETONS

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
own = f"drawing.pixels({now.ink!r}, {SIDE})" if now.source == DRAWN else None
loads = f"""
        from lab import experiments, weights
        from lab.ui.controls import drawing
        from pages.convolution.pose import lens, typed

        model = weights.load(experiments.find({now.model.partition("/")[0]!r}).weights)
        places = typed.joints({now.placed!r})
        figure = lens.figure({now.source!r}, {now.seed}, places, {own}, {now.mirror})"""

if now.view == HEATMAPS:
    look = ui.compute(lens.looked, now)
    film = ui.film_of(now, len(JOINTS), names=JOINTS)

    def pressed(x: float, y: float) -> dict[str, Any]:
        """The joint of the heatmaps is moved where a picture was clicked."""
        before = look.joints if look.joints is not None else look.places[0, -1]
        return ui.moved(now, source=PLACED, mirror=False, placed=typed.moved(before, film.at, x, y))

    with stage.picture:
        ui.button_figure(
            figures.maps(look), key="maps", share=1.0, film=film, on_press=pressed,
            alt="The picture after each stack with the heatmap of a joint; a click moves the joint",
        )  # fmt: skip
    with stage.foot:
        film.bar(captions=words.joint_captions(look), equations=words.joint_equations(look))
    with stage.below:
        ui.notice(
            f"A heatmap has {look.heatmaps.shape[-1]} × {look.heatmaps.shape[-1]} cells of {look.model.cell} "
            "pixels, and the estimate is the middle of a cell. Squared error makes of two possible places "
            "two half bumps: what the network does not know is seen in the map, not in its maximum."
        )
        ui.check(
            "A joint is at one of two places, equally likely. Which heatmap has the least squared error?",
            ["half a bump at each", "a bump at one", "a bump between them"], "half a bump at each",
            "The mean of the targets: each place is in it with weight one half.",
            wrong={"a bump at one": "Half of the time it is wrong at both places.",
                   "a bump between them": "There the joint never is."},
            veils=(),
        )  # fmt: skip
        ui.program(
            f"""{loads}
        look = lens.looked(model, figure, {now.down}, {now.across}, {now.block})
        result = look.heatmaps[0, :, {film.at}].amax((1, 2))
            """,
            shows=look.heatmaps[0, :, film.at].amax((1, 2)),
        )
        ui.source(hourglass.StackedHourglass, hourglass.heatmaps_of, StickFigures, references=ROOM.references)
elif now.view == SKELETONS:
    swept = ui.compute(lens.swept, now)
    film = ui.film_of(now, len(swept.x), names=words.row_names())
    with stage.picture:
        ui.figure(figures.skeletons(swept), key="skeletons", share=1.0, film=film,
                  alt="The figure behind a block, with the estimated skeleton after each stack")  # fmt: skip
    with stage.foot:
        film.bar(captions=words.block_captions(swept), equations=words.block_equations(swept))
    with stage.below:
        ui.notice(
            "The figure faces us: its left is on the right of the picture, while it stands upright. Nothing "
            "at a wrist says which one it is: its arm leads to the shoulder, and that lies left or right of "
            "the axis from head to hips."
        )
        ui.check(
            "What has to be exchanged when a picture for training is mirrored?",
            ["left and right joints", "nothing", "head and neck"], "left and right joints",
            "The figure faces us still: the wrist that was its left one is now its right.",
            wrong={"nothing": "Then the same picture would have two answers.",
                   "head and neck": "They lie on the axis: only their columns change."},
            veils=(),
        )  # fmt: skip
        ui.program(
            f"""{loads}
        look = lens.swept(model, figure, {now.across}, {now.block})
        result = look.places[{film.at}, -1]
            """,
            shows=swept.places[film.at, -1],
        )
        ui.source(hourglass.StackedHourglass, StickFigures, references=ROOM.references)
else:
    judged = ui.compute(lens.judged, now)
    film = ui.film_of(now, len(SHARES), names=[f"{share:.2f}" for share in SHARES])
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(figures.shares(judged), key="shares", share=1.0, film=film,
                      alt="Share of correct joints after each stack, against α")  # fmt: skip
        with right:
            ui.figure(figures.by_joint(judged), key="joints", share=1.0, film=film,
                      alt="Share of correct joints by joint, after the first and the last stack")  # fmt: skip
    with stage.foot:
        film.bar(captions=words.share_captions(judged), equations=words.share_equations(judged))
    with stage.below:
        ui.notice(
            f"{lens.JUDGED} figures that no network was trained on, each with up to two blocks. A joint is "
            "correct if its estimate is at most α times the longer side of the figure away."
        )
        ui.check(
            "Why does PCK not reach 1 at α = .04?",
            ["a cell is too coarse", "blocks cover joints", "the figures are too large"],
            "a cell is too coarse",
            "The maximum is the middle of a cell of two pixels: up to 1.4 off, though everything is right.",
            wrong={"blocks cover joints": "They do, but few: see how the curve goes on to rise.",
                   "the figures are too large": "α is a share of the figure: larger ones allow more."},
            veils=(),
        )  # fmt: skip
        ui.program(
            f"""{loads}
        result = lens.judged(model).right({film.value}).double().mean((0, 2))
            """,
            shows=judged.right(film.value).double().mean((0, 2)),
        )
        ui.source(hourglass.correct, hourglass.peaks, references=ROOM.references)
