"""Vanishing gradient: the generator stops, the discriminator learns on, and little is left to learn from."""

from functools import partial

from lab import ui
from modules.adversarial.losses import NonSaturating, Saturating, Wasserstein
from pages.adversarial.vanishing import figures, lens
from pages.adversarial.vanishing.room import ROOM

LONG = {"steps": 1000}

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Frozen early": ui.scene("G stands still, D learns on: one gradient falls, −log D's rises."),
        "A thousand steps": ui.scene("To below a hundredth of what it was; the critic stays level.", **LONG),
        "Frozen at once": ui.scene("A beginner is told apart at once: the gradient falls as fast.", turns=10),
        "Frozen late": ui.scene("A better G is told apart a little later; the end is the same.",
                                turns=1000, **LONG),
        "Small D": ui.scene("Two layers of eight units: enough to tell the two apart.", width=8, **LONG),
        "Noise": ui.scene("Noise on both inputs: they overlap, and a gradient is left.",
                          noise=1.0, steps=300),
    }
)  # fmt: skip

# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    turns = ui.choice("Turns before G freezes", [10, lens.QUICK, 300, 1000], key="turns", default=lens.QUICK)
    steps = ui.choice("Steps of D alone", [lens.QUICK, 300, 1000], key="steps")
    width = ui.choice("Width of D", [8, 32, 128], key="width", default=128)
    noise = ui.slider("Noise on D's input", 0.0, 1.0, 0.0, key="noise", step=0.25)
    seed = ui.number("Seed", 0, 999, 0, key="seed")
of = (turns, steps, width, noise, seed)
others = [(turns, steps, width, each, seed) for each in ui.near(noise, 0.0, 1.0, 0.25)]
others += [(each, steps, width, noise, seed) for each in (10, lens.QUICK) if each != turns]
others += [(turns, steps, each, noise, seed) for each in (8, 32, 128) if each != width]


def quick(turns: int, steps: int, *_) -> bool:
    """Whether it takes a second."""
    return turns + steps <= 2 * lens.QUICK


def draw(looks: list[lens.Look], at: int, film=None) -> None:
    """The gradients and the logits, at a look."""
    if not looks:  # the game is still on
        return
    places = [one.steps for one in looks]
    left, right = ui.columns([3, 2])
    with left:
        fig, turn = figures.norms(looks, at)
        ui.figure(
            fig, key="norms", share=1.0, film=film, frames=turn if film else None,
            alt="Norm of the generator's gradient by three losses, over the steps of the discriminator",
            data={"steps": places, **{name: [one.norms[name] for one in looks] for name in lens.LOSSES}},
        )  # fmt: skip
    with right:
        ui.figure(figures.logits(looks, at), key="logits", share=1.0, film=film,
                  frames=figures.moves(looks) if film else None,
                  alt="How the discriminator's logits lie on digits and on what is made")  # fmt: skip


# --- Picture ------------------------------------------------------------------------------------

with stage.picture:
    looks = ui.found(
        "Play", lambda: lens.watching(*of), key="alone", of=of, quick=quick(*of),
        show=lambda found: draw(found, len(found) - 1), says="The film is there when D has learnt.",
        soon=[(each, partial(lens.watching, *each)) for each in others if quick(*each)],
    )  # fmt: skip
    film = ui.film(len(looks), key="look", default=len(looks) - 1, label="Step", seconds=0.2,
                   names=[one.steps for one in looks])  # fmt: skip
    draw(looks, film.at, film)
with stage.foot:
    film.bar(captions=lens.captions(looks), equations=lens.equations(looks))

# --- Words --------------------------------------------------------------------------------------

first, last = looks[0].norms, looks[-1].norms
with stage.below:
    ui.notice(
        "All lines are of one frozen generator of small digits, at the same z. Example by example the two "
        f"gradients of D differ by the factor (1 − D)/D: here the saturating one has gone from "
        f"{first['saturating']:.3g} to {last['saturating']:.3g}, the other from "
        f"{first['non-saturating']:.3g} to {last['non-saturating']:.3g}. The critic begins anew at step 0, "
        "held by a penalty of its slope."
    )
    ui.check(
        "How much of the saturating gradient is left at the end?", lens.OPTIONS, lens.left(looks),
        f"{last['saturating']:.3g} of {first['saturating']:.3g}.",
        wrong=(
            "For so little D must be almost certain of each made picture, D(G(z)) near 0.",
            "The saturating gradient falls with D(G(z)): how far depends on how sure D has become.",
            "The saturating loss is flat where D is sure: its slope goes with D(G(z)), which D drives to 0.",
        ),
        veils=("picture", "equation"),
    )  # fmt: skip
    ui.program(
        f"""
        from pages.adversarial.vanishing import lens

        *_, (_, looks) = lens.watching({turns}, {steps}, {width}, {noise!r}, {seed})
        result = [looks[-1].norms[name] for name in lens.LOSSES]
        """,
        shows=list(last.values()),
    )
    ui.source(
        lens.gradient_norm, lens.alone, Saturating, NonSaturating, Wasserstein, references=ROOM.references
    )
