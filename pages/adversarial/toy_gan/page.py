"""The smallest game: noise that is shifted, against a logistic regression, round by round."""

from lab import ui
from modules.adversarial.base import BaseGAN
from modules.adversarial.losses import NonSaturating, Saturating
from modules.adversarial.toy import ToyGAN
from pages.adversarial.toy_gan import figures, lens
from pages.adversarial.toy_gan.room import ROOM

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
course = ui.compute(lens.played, now)
film = ui.film_of(now, lens.ROUNDS + 1, names=range(lens.ROUNDS + 1))

# --- Picture ------------------------------------------------------------------------------------

with stage.picture:
    left, right = ui.columns([2, 1])
    with left:
        ui.figure(
            figures.line(course), key="line", share=1.0, film=film,
            alt="Real and made examples on the line, with D and the best D as curves",
        )  # fmt: skip
    with right:
        ui.figure(figures.theta(course), key="course", share=1.0, film=film,
                  alt="θ by round, against the mean of the data")  # fmt: skip
with stage.foot:
    ui.machine(
        ToyGAN(now.start), film=film, lit=["made", *[("G", "D")] * lens.ROUNDS], says=lens.numbers(course)
    )
    film.bar(captions=lens.captions(course), equations=lens.equations(course))

# --- Words --------------------------------------------------------------------------------------

fate, end = lens.fate(course), float(course.gap[-1])
with stage.below:
    ui.notice(
        f"In this game θ {fate}: after {lens.ROUNDS} rounds it is {end:.2f} from the mean. At the mean the "
        "best D is flat, and its gradient is zero; but a D that still has the slope of earlier rounds "
        "pushes θ past the mean, so that the two oscillate."
    )
    ui.check(
        "Is θ within ½ of the data's mean after the last round?",
        ["yes", "no"],
        "yes" if end < 0.5 else "no",
        f"It is {end:.3f} away.",
        wrong={
            "yes": "A game need not converge: a D that still has a slope pushes θ past the mean.",
            "no": "Oscillations can die out: with a D that is damped or slow θ converges.",
        },
        veils=("picture", "equation"),
    )
    ui.program(
        f"""
        from pages.adversarial.toy_gan import lens

        course = lens.play({course.rules!r})
        result = [float(course.theta[{film.at}]), *course.phi[{film.at}].tolist()]
        """.replace("Rules(", "lens.Rules("),
        shows=[float(course.theta[film.at]), *course.phi[film.at].tolist()],
    )
    ui.source(Saturating, NonSaturating, BaseGAN.updates, ToyGAN, lens.play, references=ROOM.references)
