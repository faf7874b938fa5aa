"""Out of distribution: what a flow of digits says of pictures that are none."""

import math

from lab import ui
from lab.lenses import glows
from lab.lenses.glows import bits_of
from lab.ui.models import grey_digits
from modules.flow import typicality
from pages.flow.typicality import figures, lens, unseen
from pages.flow.typicality.room import ROOM

SETS = ["inverted", "shuffled", "noise", "constant", "pale", "samples", "cold"]
QUANTILES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5]

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Noise": ui.scene("Noise is far below the threshold: log p catches it.", set="noise"),
        "Inverted": ui.scene("Ink and paper exchanged: caught."),
        "Half ink": ui.scene("Digits at half their ink: log p lets most of them pass.", set="pale"),
        "Cold samples": ui.scene("Drawn at T = 0.3, all alike: log p lets every one pass.", set="cold"),
        "Typicality": ui.scene("Cold samples have a most typical log p: this score lets them pass too.",
                               score="typicality", set="cold"),
        "A box": ui.scene("Your own picture: the triangle.", digit="box"),
        "Never seen a 9": ui.scene("A flow trained without 9s finds them odd in nine pairs of ten.",
                                   view="a class"),
        "Seen, and odd": ui.scene("The 8 was in the training set, and looks nearly as odd as the unseen 9.",
                                  view="a class", **{"class": 8}),
        "The peak is empty": ui.scene("In 64 dimensions no draw lies near 0, where the density is highest.",
                                      view="radius", d=64),
    }
)  # fmt: skip

with stage.rail:
    view = ui.choice("View", ["scores", "a class", "radius"], key="view")
    if view == "scores":
        kind = ui.choice("Digits against", SETS, key="set", as_list=True)
        score = ui.choice("Score", ["log p", "typicality"], key="score")
        own = grey_digits.digit("Your picture", "digit", 3)
        name, model = grey_digits.model()


@ui.cached
def judged(name: str) -> lens.Judged:
    return lens.judged(ui.load(name), glows.digits()[0])


@ui.cached
def judge(name: str, x) -> float:
    return lens.own_score(ui.load(name), x)


ui.prefetch(unseen.table_of, (lens.UNSEEN,))
if view == "a class":
    unseen.view(stage)
    ui.wait("")
if view == "radius":
    D = lens.DIMENSIONS
    film = ui.film(len(D), key="d", values=D, default=64, label="D =", seconds=0.6)
    relative, draws, density = lens.radii()
    with stage.picture:
        ui.figure(
            figures.radius(relative, draws[film.at], density[film.at]), key="radius", share=1.0, film=film,
            frames={"data.0.y": draws, "data.1.y": density},
            alt="Radius of draws of N(0, I) in D dimensions, and the density along the radius",
        )  # fmt: skip
    with stage.foot:
        film.bar(
            captions=[
                f"D = {d}: the mean radius is {lens.mean_radius(d):.2f}, √D is {math.sqrt(d):.2f}; at 0 the "
                f"log-density is {d / 2:.1f} nats above its average over draws."
                for d in D
            ],
        )
    with stage.below:
        ui.notice(
            "The density falls with the radius, but the room grows as its power D − 1: draws lie on a thin "
            "shell. The point z = 0 is the likeliest of all and like no draw."
        )
        ui.check("In 100 dimensions, how far is the log-density at 0 above its average?",
                 ["0.5 nats", "10 nats", "50 nats"], "50 nats", "D/2: the average of ‖z‖²/2.",
                 wrong={
                     "0.5 nats": "That is one dimension: each of the 100 adds as much.",
                     "10 nats": "10 is √D, the length of a typical draw: its cost goes with the square of "
                     "that.",
                 },
                 veils=("picture", "equation"),
        )  # fmt: skip
        ui.source(lens.radius, references=ROOM.references)
    ui.wait("")
result, mine = judged(name), judge(name, own.x)
film = ui.film(len(QUANTILES), key="q", values=QUANTILES, default=0.05, label="Flag of digits:", seconds=0.6)
shown = lens.shown(result, kind, score, mine)
thresholds = [
    result.detector(q).threshold if score == "log p" else result.detector(q).band for q in QUANTILES
]
areas = {s: [result.auroc(one, s) for one in SETS] for s in ("log p", "typicality")}
with stage.picture:
    left, right = ui.columns([3, 2])
    with left:
        ui.figure(
            figures.scores(shown.shares, shown.low, shown.high, thresholds[film.at], shown.own,
                           "log p, nats" if score == "log p" else "|−log p − H|, nats"),
            key="scores", share=1.0, film=film,
            frames={"layout.shapes.0.x0": thresholds, "layout.shapes.0.x1": thresholds},
            alt="Scores of held-out digits and of another set, with the threshold",
        )  # fmt: skip
    with right:
        ui.figure(
            figures.areas(SETS, areas["log p"], areas["typicality"]), key="areas", share=1.0,
            data={"set": SETS, **areas}, alt="AUROC of both scores for every set against held-out digits",
        )  # fmt: skip
with stage.foot:
    film.bar(
        captions=[
            f"Threshold {t:.1f} nats: flagged {result.flagged('digits', q, score):.1%} of the digits, "
            f"{result.flagged(kind, q, score):.1%} of the set “{kind}”."
            for q, t in zip(QUANTILES, thresholds, strict=True)
        ],
    )
mean = float(result.log_p["digits"].mean())
peak = float(result.log_p["z = 0"])
stage.metrics(
    {
        "Your picture": f"{mine:.1f} nats, {bits_of(model, mine):.2f} bits per pixel",
        "Digits, mean": f"{bits_of(model, mean):.2f}",
        "z = 0": f"{bits_of(model, peak):.2f}",
        "Best constant": f"{bits_of(model, float(result.log_p['constant'].max())):.2f}",
    }
)
with stage.below:
    beaten = float((result.log_p["digits"] < peak).float().mean())
    ui.notice(
        f"The picture that z = 0 decodes to costs {bits_of(model, peak):.2f} bits per pixel, digits "
        f"{bits_of(model, mean):.2f}: it scores above {beaten:.0%} of them. A threshold on log p "
        f"can only catch what is too unlikely; typicality also catches what is too likely. Cold samples "
        f"pass both ({result.flagged('cold', 0.05, 'log p'):.1%} and "
        f"{result.flagged('cold', 0.05, 'typicality'):.1%} flagged). Noise is easy: praise no detector for "
        f"it."
    )
    ui.table(
        {
            "set": ["digits", *SETS],
            "mean log p": [f"{result.log_p[one].mean():.1f}" for one in ["digits", *SETS]],
            "flagged by log p": [f"{result.flagged(one, 0.05, 'log p'):.1%}" for one in ["digits", *SETS]],
            "by typicality": [f"{result.flagged(one, 0.05, 'typicality'):.1%}" for one in ["digits", *SETS]],
        },
        alt="Mean log p of every set, and the share flagged at 5 % of the digits",
    )
    ui.check(
        "Is the picture of z = 0 flagged by log p at 5 %?", ["yes", "no"],
        "yes" if peak < result.detector(0.05).threshold else "no",
        f"It has {peak:.1f} nats, the digits {mean:.1f} on average.",
        wrong={
            "yes": "It is no digit, but log p catches only what is too unlikely, and this is not.",
            "no": "z = 0 is the peak of the base and not of p(x): the log-determinant takes more away.",
        },
        veils=("areas", "equation"),
    )  # fmt: skip
    ui.program(
        f"""
        from lab import experiments, weights
        from lab.lenses import glows
        from lab.ui.controls import drawing

        model = weights.load({ui.spelled(name)})
        x = {own.program}
        result = float(glows.log_prob(model, x, draws=2))
        """,
        shows=mine,
    )
    ui.source(typicality.Detector, typicality.auroc, lens.others, references=ROOM.references)
