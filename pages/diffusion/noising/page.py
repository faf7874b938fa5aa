"""Noising: the reader's drawing on its way into noise, and the law of one of its pixels."""

from lab import ui
from lab.lenses import ink
from lab.lenses.diffusion import SAID
from modules.diffusion import schedule
from pages.diffusion.noising import figures, lens
from pages.diffusion.noising.room import ROOM

SIDE = 16

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Your drawing": ui.scene("Play: the drawing drowns, and its pixel's law becomes N(0, 1).", t=0),
        "Half-way": ui.scene("At t = 500 the linear schedule has left little of the drawing.", t=500),
        "Cosine": ui.scene("The cosine has left more of it at the same t.", kind="cosine", t=500),
        "Step by step": ui.scene("Five hundred single steps end under the same law; switch Noise to compare.",
                                 way="step by step", t=500),
        "Few steps": ui.scene("Ten large steps end in the same noise.", T=10, t=10, way="step by step"),
        "Paper": ui.scene("A pixel of paper starts at −1 and ends where all others do.", pixel=-1.0, t=100),
    }
)  # fmt: skip


@ui.cached
def told_of(kind: schedule.Kind, T: int, picture, pixel: float, way: lens.Way, seed: int) -> lens.Story:
    return lens.story(kind, T, 2 * picture - 1, pixel, way, seed)


# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    picture = ui.draw("Your drawing", key="drawing", size=SIDE, examples=ink.examples(SIDE))
    kind = ui.choice("Schedule", ["linear", "cosine"], key="kind")
    T = ui.choice("Steps T", [10, 100, 1000], key="T", default=1000)
    way = ui.choice("Noise", ["at once", "step by step"], key="way")
    pixel = ui.slider("Pixel x₀ on the right", -1.0, 1.0, 1.0, key="pixel", step=0.25)
    seed = ui.number("Seed", 0, 9999, 0, key="seed")
chain = schedule.named(kind, T)
told = told_of(kind, T, picture, pixel, way, seed)
film = ui.film(len(told.times), key="t", values=told.times, default=T // 4, label="t =", seconds=0.1)

# --- Picture ------------------------------------------------------------------------------------

with stage.picture:
    left, right = ui.columns(2)
    with left:
        ui.figure(figures.drawing(told.pictures[film.at]), alt="The drawing under noise", key="drawing-now",
                  share=1.0, film=film, frames={"data.0.z": told.pictures})  # fmt: skip
    with right:
        ui.figure(
            figures.pixel(lens.EDGES, told.histogram[film.at], told.law[film.at]), key="pixel-law", share=1.0,
            film=film, frames={"data.0.y": told.histogram, "data.1.y": told.law},
            alt="Histogram of one pixel under noise, its law, and the standard normal",
            data={"from": lens.EDGES[:-1], "draws": told.histogram[film.at], "law": told.law[film.at]},
        )  # fmt: skip
with stage.foot:
    film.bar(captions=lens.captions(told, chain), equations=lens.equations(chain, pixel))

# --- Words --------------------------------------------------------------------------------------

t = told.times[film.at]
left_over = float(chain.alpha_bar[t].sqrt())
with stage.below:
    ui.notice(
        "Ink is 1 and blue, paper −1 and orange. A sum of Gaussians is a Gaussian, so any number of steps "
        f"can be taken at once, with one draw of noise. After all {T} steps "
        f"{float(chain.alpha_bar[-1].sqrt()):.2%} of the drawing is left: where a sampler starts from "
        "N(0, 1), it is wrong by as much. " + SAID
    )
    ui.check(
        f"By what factor is the drawing still in x at t = {t}?",
        lens.OPTIONS, lens.option(left_over), f"√ᾱ = {left_over:.4f}.",
        wrong=(
            "It is √ᾱ that scales the drawing, not ᾱ: the root is larger, and at first near 1.",
            "√ᾱ does not fall like a straight line: it is near 1 at first and near 0 at the end.",
            "A step takes little, but the factors multiply: √ᾱ is the product of all √(1 − β) so far.",
        ),
        veils=("picture", "equation"),
    )  # fmt: skip
    ui.program(
        f"""
        import torch
        from modules.diffusion import schedule
        from pages.diffusion.noising import lens

        chain = schedule.named({kind!r}, {T})
        draws = lens.noised(chain, torch.full((lens.DRAWS,), {pixel!r}), {way!r}, {seed} + 1)
        at = lens.times(chain).index({t})
        result = [float(draws[at].mean()), float(draws[at].std()), float(chain.alpha_bar[{t}])]
        """,
        shows=[float(told.mean[film.at]), float(told.deviation[film.at]), float(chain.alpha_bar[t])],
    )
    ui.source(schedule.Schedule, schedule.linear, schedule.cosine, references=ROOM.references)
