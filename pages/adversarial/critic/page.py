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
    left, right = ui.columns([2, 1])
    with left:
        ui.figure(figures.surface(looks, real), key="surface", share=1.0, film=film,
                  alt="The critic f over the plane, with data and samples")  # fmt: skip
    with right:
        ui.figure(figures.slopes(looks, real), key="slopes", share=0.58, film=film,
                  alt="The norm of the critic's gradient over the plane")  # fmt: skip
        ui.figure(figures.values(looks), key="values", share=0.42, film=film,
                  alt="The critic's value and W₁ over its training steps")  # fmt: skip


# --- Picture ------------------------------------------------------------------------------------

with stage.picture:
    says = "The film starts when the critic is trained."
    looks = ui.compute(lens.watching, now, says=says, label="Train", show=draw)
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
        f"The value of a 1-Lipschitz critic is at most W₁; this one has {end.value:.3g}, so its Lipschitz "
        f"constant is at least value / W₁ = {end.value / end.w1:.3g}.{soft} The penalty also keeps ‖∇f‖ from "
        "falling below 1, while clipping and spectral norms only bound it above. The colours of ‖∇f‖ end at "
        "2; f is shown with mean 0."
    )
    ui.check(
        "How large is the critic's value at the end, compared with W₁?",
        lens.OPTIONS,
        lens.beside(end),
        f"{end.value:.3g} of {end.w1:.3g}.",
        wrong=(
            "A critic in training lags behind the optimal one, but this constraint allows it more than that.",
            "That takes ‖∇f‖ near 1: too tight a constraint ends lower, too loose a one higher.",
            "No 1-Lipschitz critic exceeds W₁: only a loose constraint allows it.",
        ),
        veils=("picture", "equation"),
    )
    ui.program(
        f"""
        from pages.adversarial.critic import lens

        *_, (_, looks) = lens.watching(*{of!r})
        result = [looks[-1].value, looks[-1].w1, looks[-1].steepest]
        """,
        shows=[end.value, end.w1, end.steepest],
    )
    ui.source(losses.gradient_penalty, losses.clip_weights, lens.watching, references=ROOM.references)
