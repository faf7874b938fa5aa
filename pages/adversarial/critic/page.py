"""Critic constraint: what holds a critic's slope, and how far its value is from W₁."""

from functools import partial

from lab import ui
from modules.adversarial import losses
from pages.adversarial.critic import figures, lens
from pages.adversarial.critic.room import ROOM

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Penalty": ui.scene("Between the lines the slope is near 1; the value ends a little above W₁."),
        "Too soft": ui.scene("λ = 1: twice too steep, as 1 + d/2λ says.", strength=1),
        "Clipped": ui.scene("Weights within ±0.01: a tiny, flat critic; its value is a few thousandths.",
                            hold=lens.CLIP),
        "Clipped wide": ui.scene("Within ±0.1 it is four times too steep: the bound is not known.",
                                 hold=lens.CLIP, clip=0.1),
        "Spectral norm": ui.scene("Each layer's slope is at most about 1, and so is that of all.",
                                  hold=lens.SPECTRAL),
        "A wrong ε": ui.scene("ε always 1: the penalty sees real points alone; elsewhere f is steep.",
                              rule=lens.ONE),
        "Nothing": ui.scene("Nothing holds the slope: the value grows into the thousands.",
                            hold=lens.NOTHING),
        "Points move": ui.scene("The made points climb the critic's slope: value and W₁ fall together.",
                                moving=True),
        "Ring and blob": ui.scene("It climbs from the blob to the ring; its value is within a fifth of W₁.",
                                  cloud=lens.RING),
    }
)  # fmt: skip

# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    cloud = ui.choice("Points", list(lens.CLOUDS), key="cloud", as_list=True)
    distance = 2.0 if cloud == lens.RING else ui.slider("Distance d", 0.5, 4.0, 2.0, key="distance", step=0.5)
    hold = ui.choice("Slope held by", list(lens.HOLDS), key="hold", as_list=True)
    strength, rule = 0.0, lens.EACH
    if hold == lens.PENALTY:
        strength = float(ui.choice("λ", [1, 10, 100], key="strength", default=10))
        rule = ui.choice("ε", list(lens.RULES), key="rule", as_list=True)
    elif hold == lens.CLIP:
        strength = ui.choice("Weights within ±", [0.01, 0.03, 0.1], key="clip")
    moving = ui.toggle("Made points move", False, key="moving")
    steps = ui.choice("Steps", [lens.QUICK, 1000], key="steps")
    seed = ui.number("Seed", 0, 999, 0, key="seed")
of = (cloud, distance, hold, strength, rule, moving, steps, seed)
others = [(cloud, distance, hold, strength, rule, not moving, steps, seed)]
if cloud != lens.RING:
    others += [(cloud, each, *of[2:]) for each in ui.near(distance, 0.5, 4.0, 0.5)]
if hold == lens.PENALTY:
    others += [(*of[:3], float(each), *of[4:]) for each in (1, 10, 100) if each != strength]
    others += [(*of[:4], each, *of[5:]) for each in lens.RULES if each != rule]
elif hold == lens.CLIP:
    others += [(*of[:3], each, *of[4:]) for each in (0.01, 0.03, 0.1) if each != strength]
real = lens.clouds(cloud, distance)[0]


def draw(looks: list[lens.Look], at: int, film=None) -> None:
    """The critic, its slope and its value, at a look."""
    places = [one.steps for one in looks]
    left, right = ui.columns([3, 2])
    with left:
        ui.figure(figures.surface(looks, real, at), key="surface", share=1.0, film=film,
                  frames=figures.moves(looks, "f") if film else None,
                  alt="The critic over the plane, real and made points")  # fmt: skip
    with right:
        ui.figure(figures.slopes(looks, real, at), key="slopes", share=0.58, film=film,
                  frames=figures.moves(looks, "slopes") if film else None,
                  alt="How steep the critic is over the plane")  # fmt: skip
        fig, turn = figures.values(looks, at)
        ui.figure(
            fig, key="values", share=0.42, film=film, frames=turn if film else None,
            alt="The critic's value and W₁ over its steps",
            data={"steps": places, "value": [one.value for one in looks], "W1": [one.w1 for one in looks]},
        )  # fmt: skip


# --- Picture ------------------------------------------------------------------------------------

with stage.picture:
    looks = ui.found(
        "Learn", lambda: lens.watching(*of), key="learning", of=of, quick=steps <= lens.QUICK,
        show=lambda found: draw(found, len(found) - 1), says="The film is there when the critic has learnt.",
        soon=[(each, partial(lens.watching, *each)) for each in others if steps <= lens.QUICK],
    )  # fmt: skip
    film = ui.film(len(looks), key="look", default=len(looks) - 1, label="Step", seconds=0.2,
                   names=[one.steps for one in looks])  # fmt: skip
    draw(looks, film.at, film)
with stage.foot:
    film.bar(captions=lens.captions(looks), equations=lens.equations(looks))

# --- Words --------------------------------------------------------------------------------------

end = looks[-1]
soft = (
    f" Between two lines the best critic under this penalty has the value "
    f"d (1 + d/2λ) = {lens.expected(distance, strength):.3g}: the penalty is soft."
    if hold == lens.PENALTY and rule == lens.EACH and cloud == lens.LINES and not moving else ""
)  # fmt: skip
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
