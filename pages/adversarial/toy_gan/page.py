"""The smallest game: noise that is shifted, against a logistic regression, round by round."""

from dataclasses import replace

from lab import ui
from modules.adversarial.game import Game
from modules.adversarial.losses import NonSaturating, Saturating
from modules.adversarial.toy import ToyGAN
from pages.adversarial.toy_gan import figures, lens
from pages.adversarial.toy_gan.room import ROOM

RATES = [0.02, 0.05, 0.1, 0.2, 0.5, 1, 2]

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Before": ui.scene("Made examples lie left of the real ones; the judge knows nothing, ½ everywhere.",
                           step=0),
        "Judged": ui.scene("After twenty rounds the judge tells them apart: its curve rises to the right.",
                           step=20),
        "There": ui.scene("Where made and real lie together, the judge's curve is nearly flat.",
                          start=7.5, step=1),
        "Too far": ui.scene("From −3 on the saturating loss hardly moves: the judge is too sure.",
                            loss="saturating", start=-3.0, d_steps=10, d_rate=0.5, step=160),
        "The cure": ui.scene("The same judge, the other loss: made examples reach the real ones.",
                             start=-3.0, d_steps=10, d_rate=0.5, step=160),
        "Circles": ui.scene("A critic with no bound on its slope: θ swings about the mean and never rests.",
                            loss="Wasserstein", step=160),
        "Runs away": ui.scene("Squares at these rates: every step overshoots more than the one before.",
                              loss="least squares", g_rate=2, step=160),
        "Slow judge": ui.scene("One turn each, a slow judge: θ goes past the mean before the judge turns.",
                               d_steps=1, d_rate=0.05, g_rate=0.5, step=160),
    }
)  # fmt: skip

# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    loss = ui.choice("Loss", list(lens.KINDS), key="loss", default="non-saturating", as_list=True)
    start = ui.slider("θ at first", -3.0, 12.0, 3.0, key="start", step=0.5)
    real = ui.slider("Mean of the data, μ", 0.0, 10.0, 7.5, key="real", step=0.5)
    d_steps = ui.slider("Turns of D a round", 1, 10, 5, key="d_steps")
    g_steps = ui.slider("Turns of G a round", 1, 5, 1, key="g_steps")
    d_rate = ui.choice("Rate of D", RATES, key="d_rate", default=0.1, as_list=True)
    g_rate = ui.choice("Rate of G", RATES, key="g_rate", default=0.2, as_list=True)
    batch = ui.choice("Batch", [2, 10, 100], key="batch", default=10)
    seed = ui.number("Seed", 0, 999, 0, key="seed")
rules = lens.Rules(loss, start, real, d_steps, g_steps, d_rate, g_rate, batch, seed)
course = lens.play(rules)
ui.ahead(lens.play, *((replace(rules, start=v),) for v in ui.near(start, -3.0, 12.0, 0.5)),
         *((replace(rules, real=v),) for v in ui.near(real, 0.0, 10.0, 0.5)),
         *((replace(rules, d_steps=v),) for v in ui.near(d_steps, 1, 10, 1)),
         *((replace(rules, g_steps=v),) for v in ui.near(g_steps, 1, 5, 1)),
         *((replace(rules, batch=v),) for v in (2, 10, 100) if v != batch))  # fmt: skip
film = ui.film(
    lens.ROUNDS + 1, key="step", default=20, label="Round", seconds=0.06, names=range(lens.ROUNDS + 1)
)

# --- Picture ------------------------------------------------------------------------------------

x = lens.places(course)
judged, best = lens.judged(course, x)
at = film.at
with stage.picture:
    left, right = ui.columns([3, 2])
    with left:
        ui.figure(
            figures.line(x, judged[at], best[at], course.real, course.made[at]), key="line", share=1.0,
            alt="Real and made examples on the line, the judge's curve and the best judge's", film=film,
            data={"x": x, "D": judged[at], "best D": best[at]},
            frames={"data.0.y": judged, "data.1.y": best, "data.3.x": course.made},
        )  # fmt: skip
    with right:
        fig, turn = figures.course(course.theta, real, at, lens.window(course))
        ui.figure(
            fig, key="course", share=1.0, film=film, frames=turn,
            alt="θ by round, against the mean of the data",
            data={"round": range(lens.ROUNDS + 1), "theta": course.theta},
        )  # fmt: skip
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

        course = lens.play({rules!r})
        result = [float(course.theta[{at}]), *course.phi[{at}].tolist()]
        """.replace("Rules(", "lens.Rules("),
        shows=[float(course.theta[at]), *course.phi[at].tolist()],
    )
    ui.source(Saturating, NonSaturating, Game.turns, ToyGAN, lens.play, references=ROOM.references)
