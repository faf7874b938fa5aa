"""Segmentation: probabilities of two networks, a vote, regions step by step, and sizes of a U-Net's grids."""

from datamodules.micrographs import CLASSES, Micrographs
from lab import ui
from modules.convolution import regions, segmentation
from pages.convolution.segmentation import figures, lens, pyramid, tally, voting, words
from pages.convolution.segmentation.room import (
    BRIGHTNESS,
    DRAWN,
    PIXELS,
    REGIONS,
    ROOM,
    SIDE,
    VOTES,
    VOTING,
)  # fmt: skip

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
names = tuple(name.capitalize() for name in CLASSES)
own = f"drawing.pixels({now.ink!r}, {SIDE})" if now.source == DRAWN else None
name = now.model.partition("/")[0]
model = repr(name) if name == BRIGHTNESS else f"weights.load(experiments.find({name!r}).weights)"
loads = f"""
        from lab import experiments, weights
        from lab.ui.controls import drawing
        from pages.convolution.segmentation import lens

        model = {model}
        seen = lens.micrograph({now.source!r}, {now.seed}, {now.cells}, {now.noise}, {own})"""

if now.view == PIXELS:
    one = ui.compute(lens.compared, now)
    called = words.names(now.model, now.other)
    film = ui.film_of(now, len(names), names=names)
    with stage.picture:
        ui.figure(
            figures.pixels(one, names, called), key="pixels", share=1.0, film=film,
            alt="A picture of cells, its classes, and probabilities and classes by two networks",
        )  # fmt: skip
    with stage.foot:
        film.bar(
            captions=words.class_captions(one, names, called),
            equations=words.class_equations(one, names, called),
        )
    truth = one.of.truth
    with stage.below:
        ui.notice(
            "The grid at the bottom is eight times as coarse as the picture: without skips every border has "
            "to pass through it. "
            + (
                "Of a drawing nobody says what is true: the two networks are set against each other."
                if truth is None
                else f"Mean IoU of this picture: {lens.iou(one.told[0], truth, len(names)):.2f} by "
                f"{called[0]}, {lens.iou(one.told[1], truth, len(names)):.2f} by {called[1]}."
            )
        )
        ui.check(
            "Which class loses most without skips?", list(names), names[-1],
            "A border is a few pixels wide, and a cell of the bottom grid is eight.",
            wrong={names[0]: "Ground is wide: its middle needs no detail.",
                   names[1]: "A cell is wider than a place of the bottom grid."},
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"{loads}\n        result = lens.probabilities(model, seen.x)[{film.at}].mean()\n        ",
            shows=one.p[0, film.at].mean(),
        )
        ui.source(segmentation.SegmentationUNet, Micrographs, references=ROOM.references)
elif now.view == VOTING:
    ballot = ui.compute(voting.vote, now)
    film = ui.film_of(now, len(VOTES))
    with stage.picture:
        left, right = ui.columns([2.6, 1])
        with left:
            ui.figure(
                tally.ballots(ballot), key="ballots", share=1.0, film=film,
                alt="The picture with one answer, and with what all answers so far agree on",
            )  # fmt: skip
        with right:
            precision, recall = zip(*ballot.shares, strict=True)
            ui.figure(
                tally.shares(ballot), key="shares", share=1.0, film=film,
                alt="Precision and recall of the vote against the number of answers",
                data={"number": VOTES, "precision": precision, "recall": recall},
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=words.vote_captions(ballot, now.target), equations=words.vote_equations(ballot))
    with stage.below:
        ui.notice(words.vote_notice(ballot))
        ui.check(
            "One more answer joins the vote. What can recall do?",
            ["fall or stay", "rise or stay", "either"], "fall or stay",
            "The vote is an intersection: no pixel comes back.",
            wrong={"rise or stay": "A pixel would have to be won: all have to agree on it.",
                   "either": "That is precision: both its counts fall."},
            veils=("picture",),
        )  # fmt: skip
        ui.program(
            f"""{loads.replace("import lens", "import lens, voting")}
        result = voting.vote(seen, model, {now.target!r}).sizes
            """,
            shows=ballot.sizes,
        )
        ui.source(regions.voted, regions.precision_recall, voting.vote, references=ROOM.references)
elif now.view == REGIONS:
    made = ui.compute(lens.assembly, now)
    film = ui.film_of(now, len(made.moments), names=words.step_names(made, names))
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(figures.regions(made, names), key="regions", share=1.0, film=film,
                      alt="The picture, its labelled regions, and the one that is being made")  # fmt: skip
        with right:
            ui.figure(figures.evidence(made, names), key="evidence", share=1.0, film=film,
                      alt="Sums of the probabilities of the classes that wait")  # fmt: skip
    with stage.foot:
        film.bar(captions=words.step_captions(made, names), equations=words.step_equations(made, now.beta))
    with stage.below:
        ui.notice(words.assembled(made, names))
        ui.check(
            "Where all its neighbours are inside, which P keeps a pixel outside at β = 1?",
            ["below .018", "below .27", "below .5"], "below .018",
            "It saves 4β: log((1 − P)/P) must be above 4, so P below 1/(1 + e⁴).",
            wrong={"below .27": "That is 1/(1 + e): one neighbour more inside than outside.",
                   "below .5": "That is β = 0: each pixel for itself."},
            veils=(),
        )  # fmt: skip
        ui.program(
            f"""{loads}
        made = lens.assembly(seen, model, {now.beta}, {now.least}, {now.tau})
        result = [step.evidence for step in made.steps]
            """,
            shows=[step.evidence for step in made.steps],
        )
        ui.source(regions.assembled, regions.sweep, regions.energy, references=ROOM.references)
else:
    tower = ui.compute(pyramid.pyramid, now)
    film = ui.film_of(now, len(tower.grids), names=[f"{g.before} → {g.after}" for g in tower.grids])
    with stage.picture:
        ui.figure(figures.grids(tower), key="grids", share=0.74, film=film,
                  alt="Sides of all grids of a U-Net, with the windows that are cropped")  # fmt: skip
        ui.figure(figures.legal(tower), key="legal", share=0.26,
                  alt="Legal sides of a picture and what is classified of each")  # fmt: skip
    with stage.foot:
        film.bar(captions=words.grid_captions(tower), equations=words.grid_equations(tower))
    with stage.below:
        ui.notice(words.sided(tower))
        ui.check(
            "Why must the grid that is pooled be even?",
            ["what is kept could not be joined", "pooling of odd grids is not defined", "to save memory"],
            "what is kept could not be joined",
            "An odd side loses a row in pooling, and twice the half no longer lies on what was kept.",
            wrong={"pooling of odd grids is not defined": "It is: the last row is left out.",
                   "to save memory": "An even grid is no smaller."},
            veils=(),
        )  # fmt: skip
        ui.program(
            f"""
        from pages.convolution.segmentation import pyramid

        result = [g.after for g in pyramid.pyramid({now.n}, {now.levels}, {now.kernel}, {now.zeros}).grids]
            """,
            shows=[g.after for g in tower.grids],
        )
        ui.source(segmentation.sizes, segmentation.centre, references=ROOM.references)
