"""The smallest game: noise that is shifted, against a logistic regression, round by round."""

from lab import ui
from modules.adversarial.game import Game
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
    left, right = ui.columns([3, 2])
    with left:
        ui.figure(
            figures.line(course), key="line", share=1.0, film=film,
            alt="Real and made examples on the line, the judge's curve and the best judge's",
        )  # fmt: skip
    with right:
        ui.figure(figures.theta(course), key="course", share=1.0, film=film,
                  alt="θ by round, against the mean of the data")  # fmt: skip
with stage.foot:
    film.bar(captions=lens.captions(course), equations=lens.equations(course))

# --- Words --------------------------------------------------------------------------------------

fate, end = lens.fate(course), float(course.gap[-1])
with stage.below:
    ui.notice(
        f"In this game θ {fate}: after {lens.ROUNDS} rounds it is {end:.2f} from the mean. At the mean the "
        "best judge is flat, and nothing pulls θ any more; but a judge that is still tilted from the way "
        "pushes θ past it, so the two turn about each other."
    )
    ui.check(
        "Is θ within ½ of the data's mean after the last round?", ["yes", "no"], "yes" if end < 0.5 else "no",
        f"It is {end:.3f} away.",
        wrong={
            "yes": "A game need not settle: a judge that is still tilted pushes θ past the mean.",
            "no": "Going round can die out: with a judge that is damped or slow, θ comes to rest.",
        },
        veils=("picture", "equation"),
    )  # fmt: skip
    ui.program(
        f"""
        from pages.adversarial.toy_gan import lens

        course = lens.play({course.rules!r})
        result = [float(course.theta[{film.at}]), *course.phi[{film.at}].tolist()]
        """.replace("Rules(", "lens.Rules("),
        shows=[float(course.theta[film.at]), *course.phi[film.at].tolist()],
    )
    ui.source(Saturating, NonSaturating, Game.turns, ToyGAN, lens.play, references=ROOM.references)
