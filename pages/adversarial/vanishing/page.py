"""Vanishing gradient: the generator stops, the discriminator learns on, and little is left to learn from."""

from lab import ui
from modules.adversarial.losses import NonSaturating, Saturating, Wasserstein
from pages.adversarial.vanishing import figures, lens
from pages.adversarial.vanishing.room import ROOM

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)


def draw(looks: list[lens.Look], film: ui.Film | None = None) -> None:
    """The gradients and the logits, where the film stands, or as far as they have come."""
    if not looks:  # the game is still on
        return
    left, right = ui.columns(2)
    with left:
        ui.figure(
            figures.logits(looks), key="logits", share=1.0, film=film,
            alt="Histograms of the discriminator's logits on digits and on samples of the generator, and the "
                "factors of two gradients at each logit",
        )  # fmt: skip
    with right:
        ui.figure(
            figures.norms(looks), key="norms", share=1.0, film=film,
            alt="Norm of the generator's gradient under three losses, over the steps of the discriminator",
        )  # fmt: skip


# --- Picture ------------------------------------------------------------------------------------

with stage.picture:
    says = "The film starts when D is trained."
    looks = ui.compute(lens.watching, now, says=says, label="Train", show=draw)
    film = ui.film_of(now, len(looks), names=[one.steps for one in looks])
    draw(looks, film)
with stage.foot:
    ui.machine(lens.untrained(now.width), film=film, lit=["D"] * film.count, says=lens.numbers(looks))
    film.bar(captions=lens.captions(looks), equations=lens.equations(looks))

# --- Words --------------------------------------------------------------------------------------

first, last = looks[0].norms, looks[-1].norms
with stage.below:
    ui.notice(
        "All lines are of one frozen generator of 8 × 8 digits, at the same z. For each sample the two "
        f"gradients through D differ by the factor (1 − D)/D: here the saturating one goes from "
        f"{first['saturating']:.3g} to {last['saturating']:.3g}, the other from "
        f"{first['non-saturating']:.3g} to {last['non-saturating']:.3g}. The critic starts untrained at "
        "step 0, with a gradient penalty."
    )
    ui.check(
        "Which share of the saturating gradient is left at the end?",
        lens.OPTIONS,
        lens.left(looks),
        f"{last['saturating']:.3g} of {first['saturating']:.3g}.",
        wrong=(
            "For so little D must be almost certain of every sample, D(G(z)) near 0.",
            "The saturating gradient falls with D(G(z)): how far depends on how sure D has become.",
            "The saturating loss is flat where D is certain: its gradient is proportional to D(G(z)), "
            "which D drives to 0.",
        ),
        veils=("picture", "equation"),
    )
    ui.program(
        f"""
        from pages.adversarial.vanishing import lens

        *_, (_, looks) = lens.watching{(now.turns, now.steps, now.width, now.noise, now.seed)}
        result = [looks[-1].norms[name] for name in lens.LOSSES]
        """,
        shows=list(last.values()),
    )
    ui.source(
        lens.gradient_norm, lens.alone, Saturating, NonSaturating, Wasserstein, references=ROOM.references
    )
