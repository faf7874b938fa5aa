"""Averaged weights: a denoiser in training, and the running average of its weights, which samples better."""

from lab import ui
from lab.lenses.diffusion import SAID
from pages.diffusion.averaging import figures, lens
from pages.diffusion.averaging.room import ROOM

stage = ui.stage(ROOM)

with stage.rail:
    now = ui.read(ROOM)
recipe = lens.Recipe(now.decay, now.warm, now.rate, now.falls, now.batch, now.steps, now.seed)


def draw(looks: list[lens.Look], film: ui.Film | None = None) -> None:
    """Both clouds and both numbers along the training; without a film at its end."""
    columns = ui.columns([4, 4, 3])
    for side, name in enumerate(lens.NAMES):
        clouds = [one.clouds[side] for one in looks]
        with columns[side]:
            ui.figure(
                figures.plane(clouds, lens.MIXTURE.means, lens.REACH, f"{name} weights", side), key=name,
                share=1.0, film=film, alt=f"Samples of the {name} weights, from one and the same noise",
            )  # fmt: skip
    places = [one.step for one in looks]
    errors, moved = [one.errors for one in looks], [one.moved for one in looks]
    with columns[2]:
        ui.figure(
            figures.along(places, errors, lens.NAMES, "mean (ε̂ − ε*)²"), key="errors", share=0.5, film=film,
            alt="Error of the predicted noise, with both sets of weights, over the steps",
        )  # fmt: skip
        ui.figure(
            figures.along(places, moved, lens.NAMES, "shift since last look", first=1), key="moved",
            share=0.5, film=film, alt="How far the samples have moved since the look before, with both sets "
            "of weights, over the steps",
        )  # fmt: skip


with stage.picture:
    looks = ui.compute(
        lens.playing, now, label="Train", quick=now.steps == lens.QUICK, show=draw,
        says="The film is there when the training is over.",
    )  # fmt: skip
    film = ui.film_of(now, len(looks), names=[one.step for one in looks])
    draw(looks, film)
with stage.foot:
    film.bar(captions=lens.captions(looks), equations=lens.equations(looks, recipe))
last, (jumps, calm) = looks[-1], lens.settled(looks)
stage.metrics(
    {
        "Shift of a sample between looks: last": f"{jumps:.3f}",
        "averaged": f"{calm:.3f}",
    }
)
with stage.below:
    ui.notice(
        "Both clouds are made by one sampler, in ten steps of DDIM, from the same starting noise at every "
        "look, so a point that jumps does so because the weights did: a step follows its own batch, and the "
        "rate scales how far. The average forgets each batch over about 1/(1 − a) steps. What this family's "
        "denoisers ship with are averages. The energy distance of the samples to the data is "
        f"{last.distances[0]:.4f} with the last weights, {last.distances[1]:.4f} with the averaged. {SAID}"
    )
    ui.check(
        "Whose ε̂ is nearer to the exact one at the end?",
        lens.OPTIONS,
        lens.nearer(last),
        f"Off by {last.errors[0]:.4f} and {last.errors[1]:.4f}.",
        wrong=(
            "The last step follows its own batch, and that is what an average shakes off.",
            "An average also remembers older weights: where the noise of the steps is small it only lags.",
            "Weights near each other need not predict alike: the two errors differ by over 2 %.",
        ),
        veils=("picture", "equation", "numbers"),
    )
    ui.program(
        f"""
        from pages.diffusion.averaging import lens

        *_, (_, looks) = lens.training(lens.{recipe})
        result = [*looks[-1].errors, *lens.settled(looks)]
        """,
        shows=[*last.errors, jumps, calm],
    )
    ui.source(lens.average, lens.Recipe, lens.training, references=ROOM.references)
