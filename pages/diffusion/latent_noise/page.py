"""Codes of noise: two digits go up by DDIM, a walk joins their codes, and every code comes down again."""

from lab import ui
from lab.figures import latents, sheets
from lab.lenses import latent
from lab.lenses.diffusion import SAID, digits, spelled
from lab.ui.drawing import inked
from modules.diffusion import inversion
from modules.diffusion.learned import Diffusion
from pages.diffusion.latent_noise import figures, lens
from pages.diffusion.latent_noise.room import ROOM

MODEL = "ddpm-digits"
VIEWS = ("Walk", "There and back")

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Two digits": ui.scene("Halfway on the arc between two codes stands a digit that nobody drew."),
        "The line is short": ui.scene("Halfway the line's code is too short, and its digit paler.", a="2",
                                      b="0"),
        "The same twice": ui.scene("No way to go: arc and line stand still.", a="3", b="3"),
        "Mixed under noise": ui.scene("Under heavy noise the mix is drawn anew: other digits than the ends.",
                                      level=900),
        "Hardly noised": ui.scene("Under little noise the mix stays a double exposure.", level=100),
        "There and back": ui.scene("Fifty steps each way: less than a hundredth a pixel is lost.",
                                   view=VIEWS[1], S=50),
        "Five steps": ui.scene("Five steps each way lose much more, and the codes are far too short.",
                               view=VIEWS[1], S=5),
    }
)  # fmt: skip


@ui.cached
def coded(a, b, steps: int) -> lens.Walks:
    return lens.coded(ui.load(MODEL), a, b, steps)


@ui.cached
def mixed(a, b, steps: int, level: int, seed: int):
    return lens.mixed(ui.load(MODEL), a, b, steps, level, seed)


with stage.rail:
    view = ui.choice("Show", VIEWS, key="view")
    if view == VIEWS[0]:
        steps = ui.choice("Steps S", [10, 20, 40], key="steps", default=20)
        level = ui.slider("Mix at t", 50, 1000, 500, key="level", step=50)
        seed = ui.number("Seed", 0, 9999, 0, key="seed")
    shelf = digits()
    a = ui.draw("Digit A", key="a", size=8, examples=[*shelf[1:], shelf[0]])
    b = ui.draw("Digit B", key="b", size=8, examples=[*shelf[6:], *shelf[:6]])
program = f"""
        from lab import weights
        from lab.ui import drawing
        from pages.diffusion.latent_noise import lens

        model = weights.load({MODEL!r})
        a = {inked(a)}
        b = {inked(b)}
"""


def draw_walk() -> None:
    """Three ways from A to B."""
    found = lens.with_mix(coded(a, b, steps), mixed(a, b, steps, level, seed))
    ui.ahead(mixed, *((a, b, steps, each, seed) for each in ui.near(level, 50, 1000, 50)))
    others = [count for count in (10, 20, 40) if count != steps]
    ui.ahead(coded, *((a, b, count) for count in others))
    ui.ahead(mixed, *((a, b, count, level, seed) for count in others))
    film = ui.film(lens.PLACES, key="place", default=lens.PLACES // 2, label="Place", seconds=0.3)
    ts = lens.shares().tolist()
    with stage.picture:
        fig = sheets.contact_sheet(found.pictures, lens.ROWS, [f"{t:.1f}" for t in ts], xlabel="s")
        ui.figure(
            sheets.frame(fig, 8, film.at, None, 3), key="walks", share=0.55, film=film,
            frames=sheets.frame_moves(8, range(lens.PLACES)),
            alt="Digits from A to B: on the arc, on the line, mixed under noise; one place is framed",
        )  # fmt: skip
        left, right = ui.columns(2)
        with left:
            each = found.pictures.transpose(0, 1)  # (places, 3, 8, 8)
            ui.figure(
                sheets.labelled(list(each[film.at]), lens.ROWS, columns=3), key="now", share=0.45, film=film,
                frames={"data.0.z": sheets.frames(each, 3, sheets.label_gap(8))},
                alt="The digit at this place of each walk",
            )  # fmt: skip
        with right:
            ui.figure(
                latents.norms(ts, found.lengths, latent.typical_length(64), ts[film.at]), key="norms",
                share=0.45, film=film, frames={"layout.shapes.0.x0": ts, "layout.shapes.0.x1": ts},
                alt="Length of the code along arc and line, against that of draws of N(0, I)",
                data={"s": ts, **found.lengths},
            )  # fmt: skip
    typical = latent.typical_length(64)
    with stage.foot:
        film.bar(captions=lens.captions(found, typical), equations=lens.equations(found))
    long, short = (float(found.lengths[k][lens.PLACES // 2]) for k in ("spherical", "linear"))
    with stage.below:
        ui.notice(
            f"In 64 dimensions nearly all draws of N(0, I) have lengths near {typical:.2f}. Halfway the "
            f"arc's code has {long:.2f}, the line's {short:.2f}. In {steps} steps the digits themselves come "
            f"back {found.off:.3f} a pixel off. The third row mixes pixels, hides them under noise of "
            f"t = {level}, and draws what is hidden anew. [UDL] fig. 14.3 says that diffusion has no "
            f"latent space: it has one, but no coordinate of it means anything by itself. {SAID}"
        )
        ui.check(
            "Halfway, whose digit is paler?", lens.PALER, lens.paler(found),
            "Contrast, the deviation of its pixels: "
            + " and ".join(f"{v:.3f}" for v in lens.contrast(found.pictures[:2, lens.PLACES // 2]).tolist())
            + ".",
            wrong=(
                "The arc keeps the length that draws have, and the ink with it.",
                "The line's code is shorter halfway, but short codes need not be pale.",
                "The two codes differ in length halfway, and here the contrast goes with it.",
            ),
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            program
            + f"""
        found = lens.walks(model, a, b, {steps}, {level}, {seed})
        result = [float(lengths[{film.at}]) for lengths in found.lengths.values()]
        """,
            shows=[float(v[film.at]) for v in found.lengths.values()],
        )
        ui.source(inversion.invert, inversion.slerp, lens.walks, references=ROOM.references)


def draw_trip() -> None:
    """Up and down again, by the number of steps."""
    with stage.picture:
        found = ui.found(
            "Go", lambda: lens.trip(ui.load(MODEL), a, b), key="trip", quick=True,
            of=(spelled(a), spelled(b)), says="What comes back, when it is back.",
        )  # fmt: skip
    film = ui.film(len(lens.SIZES), key="S", values=lens.SIZES, default=20, label="S =", seconds=0.8)
    rows = lens.sheet(found, a, b)
    fig, moves = figures.errors(lens.SIZES, found.error, film.at)
    with stage.picture:
        left, right = ui.columns([3, 2])
        with left:
            ui.figure(
                sheets.contact_sheet(rows[film.at], ["A", "B"], ["digit", "code", "back"]), key="trip-sheet",
                share=1.0, film=film, frames={"data.0.z": sheets.sheet(rows)},
                alt="Both digits, their codes and what comes back",
            )  # fmt: skip
        with right:
            ui.figure(fig, alt="Error of the way there and back against the number of steps", key="errors",
                      share=1.0, film=film, frames=moves,
                      data={"S": lens.SIZES, "error": found.error})  # fmt: skip
    with stage.foot:
        film.bar(captions=lens.trip_captions(found), equations=lens.trip_equations(found))
    with stage.below:
        ui.notice(
            "Both ways are Euler steps of one ODE: with an exact score the error falls as 1/S or faster. "
            f"Here twenty steps instead of ten make it {lens.fallen(found):.1f} times smaller. Codes of few "
            "steps are shorter than draws of N(0, I): they are no fair sample of it. " + SAID
        )
        ui.check(
            "From 10 to 20 steps, by what factor does the error fall?", lens.RATES, lens.rate(found),
            f"By {lens.fallen(found):.2f}.",
            wrong=(
                "More steps do pay: Euler's error falls at least as fast as they grow, once they are small.",
                "Halving is the rule of first order for small steps and an exact score: here one of them "
                "fails.",
                "Euler is of first order: twice the steps do not divide the error by four.",
            ),
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            program
            + f"""
        result = [float(found.error[-1]) for _, found in lens.trip(model, a, b)][{film.at}]
        """,
            shows=float(found.error[film.at]),
        )
        ui.source(inversion.invert, Diffusion.encode, Diffusion.decode, references=ROOM.references)


if view == VIEWS[0]:
    draw_walk()
else:
    draw_trip()
