"""Noising as an SDE: variance-preserving, sub-VP and variance-exploding, forwards and both ways back."""

from functools import partial

from lab import ui
from lab.lenses.diffusion import SAID
from modules.diffusion import sde
from pages.diffusion.equations import figures, lens
from pages.diffusion.equations.room import NOISING, ROOM, of_digit

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)


def draw_digit() -> None:
    """The kernel of VP and of VE on one digit, its terms as pictures."""
    terms = ui.compute(lens.terms, now)
    count = len(terms.times)
    film = ui.film_of(now, count, values=range(count), names=[f"{t:.2f}" for t in terms.times])
    with stage.picture:
        ui.figure(
            figures.terms(terms.pictures, lens.names(terms), lens.GREYS), key="terms", share=1.0, film=film,
            alt="VP above, VE below: the digit as it is scaled, the noise, and their sum, positive in blue, "
            "negative in orange",
        )  # fmt: skip
    with stage.foot:
        film.bar(captions=lens.digit_captions(terms), equations=lens.digit_equations(terms))
    (m, ve), (sd, sigma) = terms.mean[film.at].tolist(), terms.sd[film.at].tolist()
    vp_ratio, ve_ratio = terms.ratio(film.at)
    with stage.below:
        ui.notice(
            f"Ink is 1 and paper −1; white is 0. At t = {terms.times[film.at]:.2f} VP has kept {m:.3f} of "
            f"the digit, and VE all of it. VP's noise never exceeds 1, VE's goes to {now.end}. Divided by "
            "√(m² + v), a picture of one has the distribution of a picture of the other at the time of the "
            f"same ratio m²/v: one score network serves both. {SAID}"
        )
        ui.check(
            "Under which of the two is the ratio m²/v larger at this t?",
            [*lens.COMPARED, "neither"],
            lens.clearer(terms, film.at),
            f"Under VP it is {vp_ratio:.3g}, under VE {ve_ratio:.3g}.",
            wrong={
                "VP": "VP scales the digit down as its noise comes in: the ratio falls for both reasons.",
                "VE": "VE keeps the digit as it is, but its noise may have grown past what VP has.",
                "neither": "Both begin without noise, but their ratios fall at different times.",
            },
            veils=("picture", "equation"),
        )
        ui.program(
            f"""
            from lab.ui.controls import drawing
            from pages.diffusion.equations import lens

            terms = lens.terms(drawing.pixels({now.digit!r}, 28), {now.end}, {now.seed})
            result = [*terms.mean[{film.at}].tolist(), *terms.sd[{film.at}].tolist()]
            """,
            shows=[m, ve, sd, sigma],
        )
        ui.source(sde.VP, sde.VE, lens.terms, references=ROOM.references)


def draw_cloud() -> None:
    """Eight Gaussians, forwards or back."""
    results, result = lens.equation(now.kind, now.end), ui.compute(lens.run, now)
    wide, snr = ui.compute(lens.curves, now)
    count = len(result.times)
    film = ui.film_of(now, count, values=range(count), names=[f"{t:.2f}" for t in result.times])

    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            cloud, means = lens.cloud_and_means(result, results, now.own_unit)
            ui.figure(
                figures.plane(cloud, means, lens.TRAILS, lens.reach(results, now.own_unit)),
                key="cloud",
                share=1.0,
                film=film,
                alt="The cloud, the paths of some points, and where the eight means are now",
            )
        with right:
            over = partial(figures.over_time, t=lens.GRID, chosen=now.kind, times=result.times)
            ui.figure(
                over(wide, ylabel="width √(m² + v)", log=True), key="widths", share=0.5, film=film,
                alt="Width of the cloud over t, of three equations",
            )  # fmt: skip
            if now.way == NOISING:
                ui.figure(
                    over(snr, ylabel="log₁₀ SNR"), key="snr", share=0.5, film=film,
                    alt="Signal-to-noise ratio over t, of three equations",
                )  # fmt: skip
            else:
                home = ui.compute(lens.shares, now)
                ui.figure(
                    figures.arrived(home, now.kind, lens.data()),
                    key="arrived",
                    share=0.5,
                    alt="Share of the points near a mode at the end, of three equations",
                )
    with stage.foot:
        film.bar(captions=lens.captions(result), equations=lens.equations(result, results))
    short, wide_end = lens.short(results), lens.width(results, 1.0)
    stage.metrics(
        {
            "The prior is narrower by": f"{short:.2%}",
            "Near a mode, last frame": f"{float(result.share[-1]):.3f}",
        }
    )
    with stage.below:
        ui.notice(
            f"At t = 1 the cloud is {wide_end:.4g} wide. "
            "All three have one score: divided by √(m² + v), the cloud of each has the distribution that the "
            "others have at the same signal-to-noise ratio. What differs is how that ratio falls over t, so "
            "where equal steps are spent, and what noise the way back starts from. That noise is the cloud "
            f"at t = 1 without the data: here narrower by {short:.2%}. No network is asked: what misses a "
            "mode is the solver's, "
            "and the start's. " + SAID
        )
        ui.check(
            f"Is the noise that this way back starts from narrower than the cloud at t = 1 by more than "
            f"{lens.OFF:.0%}?",
            ["yes", "no"],
            "yes" if short > lens.OFF else "no",
            f"The cloud is {wide_end:.4g} wide, the noise {(1 - short) * wide_end:.4g}.",
            wrong={
                "yes": "At t = 1 noise has drowned the data: what they add to the width is below "
                f"{lens.OFF:.0%}.",
                "no": "The cloud at t = 1 still has the width of the data in it, and the noise leaves that "
                "out.",
            },
            veils=("numbers",),
        )
        ui.program(
            f"""
            from pages.diffusion.equations import lens

            run = lens.run({now.kind!r}, {now.way!r}, {now.S}, {now.end}, {now.seed})
            result = [float(run.share[-1]), lens.short(lens.equation({now.kind!r}, {now.end}))]
            """,
            shows=[float(result.share[-1]), short],
        )
        ui.source(sde.VP, sde.VE, sde.reverse, lens.drowned, lens.along_flow, references=ROOM.references)


if of_digit(now):
    draw_digit()
else:
    draw_cloud()
