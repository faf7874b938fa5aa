"""Critic constraint: what holds a critic's slope, and how far its value is from W₁."""

from lab import ui
from modules.adversarial import losses
from pages.adversarial.critic import figures, lens
from pages.adversarial.critic.room import EACH, LINES, PENALTY, ROOM

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
real = lens.clouds(now.cloud, now.distance)[0]


def draw(looks: list[lens.Look], film: ui.Film | None = None) -> None:
    """The critic, its slope and its value, where the film stands, or as far as they have come."""
    left, right = ui.columns([3, 2])
    with left:
        ui.figure(figures.surface(looks, real), key="surface", share=1.0, film=film,
                  alt="The critic over the plane, real and made points")  # fmt: skip
    with right:
        ui.figure(figures.slopes(looks, real), key="slopes", share=0.58, film=film,
                  alt="How steep the critic is over the plane")  # fmt: skip
        ui.figure(figures.values(looks), key="values", share=0.42, film=film,
                  alt="The critic's value and W₁ over its steps")  # fmt: skip


# --- Picture ------------------------------------------------------------------------------------

with stage.picture:
    says = "The film is there when the critic has learnt."
    looks = ui.compute(lens.watching, now, says=says, label="Learn", show=draw)
    film = ui.film_of(now, len(looks), names=[one.steps for one in looks])
    draw(looks, film)
with stage.foot:
    film.bar(captions=lens.captions(looks), equations=lens.equations(looks))

# --- Words --------------------------------------------------------------------------------------

end = looks[-1]
soft = ""
if (now.hold, now.rule, now.cloud, now.moving) == (PENALTY, EACH, LINES, False):
    soft = (
        " Between two lines the best critic under this penalty has the value "
        f"d (1 + d/2λ) = {lens.expected(now.distance, now.strength):.3g}: the penalty is soft."
    )
of = (now.cloud, now.distance, now.hold, now.amount, now.rule, now.moving, now.steps, now.seed)
with stage.below:
    ui.notice(
        f"A critic of slope at most 1 has a value of at most W₁; this one has {end.value:.3g}, and so is "
        f"somewhere at least as steep as value / W₁ = {end.value / end.w1:.3g}.{soft} A penalty also holds "
        "the slope up, clipping and spectral norms only down. Colours of ‖∇f‖ end at 2; f has mean 0."
    )
    ui.check(
        "What is the critic's value at the end, beside W₁?", lens.OPTIONS, lens.beside(end),
        f"{end.value:.3g} of {end.w1:.3g}.",
        wrong=(
            "A critic lags behind the best one, but what holds its slope here leaves it more than that.",
            "That takes slopes held near 1: too tight a rule ends lower, too loose a one higher.",
            "No critic of slope at most 1 exceeds W₁: only a loose penalty lets it.",
        ),
        veils=("picture", "equation"),
    )  # fmt: skip
    ui.program(
        f"""
        from pages.adversarial.critic import lens

        *_, (_, looks) = lens.watching(*{of!r})
        result = [looks[-1].value, looks[-1].w1, looks[-1].steepest]
        """,
        shows=[end.value, end.w1, end.steepest],
    )
    ui.source(losses.gradient_penalty, losses.clip_weights, lens.watching, references=ROOM.references)
