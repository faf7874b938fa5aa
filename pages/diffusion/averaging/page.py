"""Averaged weights: a denoiser in training, and the running average of its weights, which samples better."""

from functools import partial

from lab import ui
from lab.lenses.diffusion import SAID
from pages.diffusion.averaging import figures, lens
from pages.diffusion.averaging.room import ROOM

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Shaken": ui.scene("Play: from one noise the last weights' samples jump; the averaged ones stay.",
                           look=12),
        "A thousand": ui.scene("Steps of one size stop helping the last weights; the average goes on.",
                               steps=1000),
        "Ten steps' worth": ui.scene("a = 0.9 averages ten steps or so: half as steady, still nearer.",
                                     decay=0.9),
        "No warm-up": ui.scene("Half of the average is still the untrained network: its samples fly away.",
                               warm=False),
        "Calm steps": ui.scene("Small steps of large batches shake little: here the average only lags.",
                               rate=5e-4, batch=512),
        "Rate to zero": ui.scene("A rate that falls to 0 calms the last weights too: both end alike.",
                                 falls=True),
    }
)  # fmt: skip

with stage.rail:
    decay = ui.choice("Decay a, at most", lens.DECAYS, key="decay", default=0.998)
    warm = ui.toggle("Warm-up: a ≤ (1 + t)/(10 + t)", True, key="warm")
    rate = ui.choice("Learning rate", lens.RATES, key="rate", default=5e-3)
    falls = ui.toggle("It falls to 0", False, key="falls")
    batch = ui.choice("Batch", lens.BATCHES, key="batch")
    steps = ui.choice("Steps", lens.STEPS, key="steps")
    seed = ui.number("Seed", 0, 999, 0, key="seed")
recipe = lens.Recipe(decay, warm, rate, falls, batch, steps, seed)


def draw(looks: list[lens.Look], at: int, film=None) -> None:
    """Both clouds and both numbers, at a look."""
    places, columns = [one.step for one in looks], ui.columns([4, 4, 3])
    for side, name in enumerate(lens.NAMES):
        clouds = [one.clouds[side] for one in looks]
        with columns[side]:
            ui.figure(
                figures.plane(clouds[at], lens.LAW.means, lens.REACH, f"{name} weights", side), key=name,
                share=1.0, film=film, alt=f"Samples of the {name} weights, from one and the same noise",
                frames={f"data.1.{axis}": [cloud[:, i] for cloud in clouds] for i, axis in enumerate("xy")}
                if film else None,
            )  # fmt: skip
    turn = {f"layout.shapes.0.x{end}": places for end in (0, 1)} if film else None
    with columns[2]:
        for key, ylabel, said, pairs in (
            ("errors", "mean (ε̂ − ε*)²", "Error of the noise that is told", [one.errors for one in looks]),
            ("moved", "moved since last look", "How far the samples have moved since the look before",
             [one.moved for one in looks]),
        ):  # fmt: skip
            first = key == "moved" and len(looks) > 1  # there is none before the first look
            ui.figure(
                figures.along(places[first:], pairs[first:], lens.NAMES, max(0, at - first), ylabel), key=key,
                share=0.5, film=film, frames=turn, alt=f"{said}, with both sets of weights, over the steps",
                data={"step": places, **dict(zip(lens.NAMES, zip(*pairs, strict=True), strict=True))},
            )  # fmt: skip


with stage.picture:
    looks = ui.found(
        "Train", partial(lens.training, recipe), key="train", of=recipe, quick=steps == lens.QUICK,
        show=lambda found: draw(found, len(found) - 1), says="The film is there when the training is over.",
    )  # fmt: skip
    film = ui.film(len(looks), key="look", default=len(looks) - 1, label="Step", seconds=0.25,
                   names=[one.step for one in looks])  # fmt: skip
    draw(looks, film.at, film)
with stage.foot:
    film.bar(captions=lens.captions(looks), equations=lens.equations(looks, recipe))
last, (jumps, calm) = looks[-1], lens.settled(looks)
stage.metrics(
    {
        "A sample moves a look: last": f"{jumps:.3f}",
        "averaged": f"{calm:.3f}",
        "Energy distance: last": f"{last.distances[0]:.4f}",
        "averaged ": f"{last.distances[1]:.4f}",
    }
)
with stage.below:
    ui.notice(
        "Both clouds are made by one sampler, in ten steps of DDIM, from the same starting noise at every "
        "look, so a point that jumps does so because the weights did: a step follows its own batch, and the "
        "rate scales how far. The average forgets each batch over about 1/(1 − a) steps. What this family's "
        "denoisers ship with are averages. " + SAID
    )  # fmt: skip
    ui.check(
        "Whose ε̂ is nearer to the exact one at the end?", lens.OPTIONS, lens.nearer(last),
        f"Off by {last.errors[0]:.4f} and {last.errors[1]:.4f}.",
        wrong=(
            "The last step follows its own batch, and that is what an average shakes off.",
            "An average also remembers older weights: where the noise of the steps is small it only lags.",
            "Weights near each other need not predict alike: the two errors differ by over 2 %.",
        ),
        veils=("picture", "equation", "numbers"),
    )  # fmt: skip
    ui.program(
        f"""
        from pages.diffusion.averaging import lens

        recipe = lens.Recipe({decay}, {warm}, {rate}, {falls}, {batch}, {steps}, {seed})
        *_, (_, looks) = lens.training(recipe)
        result = [*looks[-1].errors, *lens.settled(looks)]
        """,
        shows=[*last.errors, jumps, calm],
    )
    ui.source(lens.average, lens.Recipe, lens.training, references=ROOM.references)
