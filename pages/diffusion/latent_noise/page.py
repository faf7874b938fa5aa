"""DDIM inversion: two digits go up by DDIM, a walk joins their codes, and every code comes down again."""

from lab import ui
from lab.lenses import latent
from lab.lenses.diffusion import SAID
from modules.diffusion import inversion
from modules.diffusion.gaussian_diffusion import GaussianDiffusion
from pages.diffusion.latent_noise import figures, lens
from pages.diffusion.latent_noise.room import ROOM, SIZES, WALK, large

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
program = f"""
        from lab import weights
        from lab.ui.controls import drawing
        from pages.diffusion.latent_noise import lens

        model = weights.load({now.model!r})
        a, b = (drawing.pixels(ink, drawing.side(ink)) for ink in {(now.first, now.second)!r})
"""


def draw_walk() -> None:
    """Three ways from A to B."""
    result = lens.with_mix(ui.compute(lens.coded, now), ui.compute(lens.mixed, now))
    shares, places = result.shares.tolist(), len(result.codes)
    film = ui.film_of(now, places, values=range(places), names=[f"{s:.2g}" for s in shares])
    typical = latent.typical_length(result.numbers)
    with stage.picture:
        if large(now):
            ui.figure(
                figures.walks(lens.strip(result), ("code", "slerp", "lerp", "pixels"), shares), key="walks",
                share=1.0, film=film, alt="From A to B: codes on the arc, the digits that they decode to, "
                "digits of codes on the line, and mixed pixels under noise, denoised; one place is framed",
            )  # fmt: skip
        else:
            ui.figure(
                figures.walks(result.pictures, lens.ROWS, shares), key="walks", share=0.55, film=film,
                alt="Digits from A to B: on the arc, on the line, mixed under noise; one place is framed",
            )  # fmt: skip
            left, right = ui.columns(2)
            with left:
                ui.figure(
                    figures.place(result.pictures.transpose(0, 1), lens.ROWS), key="now", share=0.45,
                    film=film, alt="The digit at this place of each walk",
                )  # fmt: skip
            with right:
                ui.figure(
                    figures.lengths(shares, result.lengths, typical), key="norms", share=0.45, film=film,
                    alt="Length of the code along arc and line, against that of draws of N(0, I)",
                )  # fmt: skip
    with stage.foot:
        lit = [["net", "next"]] * places
        ui.machine(now.model, film=film, lit=lit, says=lens.numbers(result, now.steps))
        film.bar(captions=lens.captions(result, typical), equations=lens.equations(result))
    long, short = (float(result.lengths[k][result.middle]) for k in ("spherical", "linear"))
    with stage.below:
        ui.notice(
            f"In {result.numbers} dimensions nearly all draws of N(0, I) have lengths near {typical:.2f}. "
            f"Halfway the arc's code has {long:.2f}, the line's {short:.2f}. In {now.steps} steps the digits "
            f"themselves are off by {result.off:.3f} per pixel. The last row mixes pixels, hides them "
            f"under noise of t = {now.level}, and draws what is hidden anew. [UDL] fig. 14.3 says that "
            "diffusion has no latent space: it has one, but no coordinate of it means anything by itself. "
            f"{SAID}"
        )
        ui.check(
            "Halfway, whose digit is paler?",
            lens.PALER,
            lens.paler(result),
            "Contrast (the standard deviation of its pixels): "
            + " and ".join(f"{v:.3f}" for v in lens.contrast(result.pictures[:2, result.middle]).tolist())
            + ".",
            wrong=(
                "The arc keeps the length that draws have, and the ink with it.",
                "The line's code is shorter halfway, but short codes need not be pale.",
                "The two codes differ in length halfway, and here the contrast goes with it.",
            ),
            veils=("picture", "equation"),
        )
        ui.program(
            program
            + f"""
        walks = lens.walks(model, a, b, {now.steps}, {now.level}, {now.seed})
        result = [float(lengths[{film.at}]) for lengths in walks.lengths.values()]
        """,
            shows=[float(v[film.at]) for v in result.lengths.values()],
        )
        ui.source(inversion.invert, inversion.slerp, lens.walks, references=ROOM.references)


def draw_trip() -> None:
    """Up and down again, by the number of steps."""
    with stage.picture:
        result = ui.compute(lens.trip, now, label="Go", says="What comes back, when it is back.")
        film = ui.film_of(now, len(SIZES))
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(
                figures.trip(lens.sheet(result)), key="trip-sheet", share=1.0, film=film,
                alt="Both digits, their codes and what comes back",
            )  # fmt: skip
        with right:
            ui.figure(
                figures.errors(SIZES, result.error), key="errors", share=1.0, film=film,
                alt="Error of the way there and back against the number of steps",
            )  # fmt: skip
    with stage.foot:
        says = [{"net": f"2 × {S} calls"} for S in SIZES]
        ui.machine(now.model, film=film, lit=["net"] * film.count, says=says)
        film.bar(captions=lens.trip_captions(result), equations=lens.trip_equations(result))
    with stage.below:
        ui.notice(
            "Both ways are Euler steps of one ODE: with an exact score the error falls as 1/S or faster. "
            f"Here twenty steps instead of ten make it {lens.fallen(result):.1f} times smaller. Codes of few "
            "steps are shorter than draws of N(0, I): they are no fair sample of it. " + SAID
        )
        ui.check(
            "From 10 to 20 steps, by what factor does the error fall?",
            lens.RATES,
            lens.rate(result),
            f"By {lens.fallen(result):.2f}.",
            wrong=(
                "More steps do pay: Euler's error falls at least as fast as they grow, once they are small.",
                "Halving is the rule of first order for small steps and an exact score: here one of them "
                "fails.",
                "Euler is of first order: twice the steps do not divide the error by four.",
            ),
            veils=("picture", "equation"),
        )
        ui.program(
            program
            + f"""
        result = [float(found.error[-1]) for _, found in lens.trip(model, a, b)][{film.at}]
        """,
            shows=float(result.error[film.at]),
        )
        ui.source(
            inversion.invert, GaussianDiffusion.encode, GaussianDiffusion.decode, references=ROOM.references
        )


if now.view == WALK:
    draw_walk()
else:
    draw_trip()
