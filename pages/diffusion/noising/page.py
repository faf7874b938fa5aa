"""Noising: the reader's drawing on its way into noise, and the distribution of one of its pixels."""

from lab import ui
from lab.lenses.diffusion import SAID
from modules.diffusion import schedule
from pages.diffusion.noising import figures, lens
from pages.diffusion.noising.room import ROOM

stage = ui.stage(ROOM)


with stage.rail:
    now = ui.read(ROOM)
chain, result = schedule.named(now.kind, now.T), ui.compute(lens.story, now)
film = ui.film_of(now, len(result.times), values=result.times)

with stage.picture:
    left, right = ui.columns(2)
    with left:
        ui.figure(
            figures.drawing(result.pictures), key="drawing-now", share=1.0, film=film,
            alt="The picture xₜ under noise of this t",
        )  # fmt: skip
    with right:
        ui.figure(
            figures.pixel(lens.EDGES, result.histogram, result.distribution),
            key="pixel-law", share=1.0, film=film,
            alt="Histogram of one pixel under noise, its distribution, and the standard normal",
        )  # fmt: skip
with stage.foot:
    film.bar(captions=lens.captions(result, chain), equations=lens.equations(chain, now.pixel))

t = result.times[film.at]
left_over = float(chain.alpha_bar[t].sqrt())
with stage.below:
    ui.notice(
        "Ink is 1 and blue, the background −1 and orange. A sum of Gaussians is a Gaussian, so any number of "
        f"steps can be taken at once, with one draw of noise. After all {now.T} steps "
        f"{float(chain.alpha_bar[-1].sqrt()):.2%} of the picture is left: where a sampler starts from "
        "N(0, 1), it is wrong by as much. " + SAID
    )
    ui.check(
        f"By what factor is x₀ still in xₜ at t = {t}?",
        lens.OPTIONS,
        lens.option(left_over),
        f"√ᾱ = {left_over:.4f}.",
        wrong=(
            "It is √ᾱ that scales x₀, not ᾱ: the root is larger, and at first near 1.",
            "√ᾱ does not fall like a straight line: it is near 1 at first and near 0 at the end.",
            "A step takes little, but the factors multiply: √ᾱ is the product of all √(1 − β) so far.",
        ),
        veils=("picture", "equation"),
    )
    ui.program(
        f"""
        import torch
        from modules.diffusion import schedule
        from pages.diffusion.noising import lens

        chain = schedule.named({now.kind!r}, {now.T})
        draws = lens.noised(chain, torch.full((lens.DRAWS,), {now.pixel!r}), {now.way!r}, {now.seed} + 1)
        at = lens.times(chain).index({t})
        result = [float(draws[at].mean()), float(draws[at].std()), float(chain.alpha_bar[{t}])]
        """,
        shows=[float(result.mean[film.at]), float(result.deviation[film.at]), float(chain.alpha_bar[t])],
    )
    ui.source(schedule.Schedule, schedule.linear, schedule.cosine, references=ROOM.references)
