"""GAN bench: two networks play for points of the plane, with any loss, failure and cure."""

from lab import ui
from lab.figures.plane_games import board
from lab.lenses import games
from lab.lenses.plane_games import SHOWN, Look, modes_of
from modules.adversarial import losses
from modules.adversarial.base import BaseGAN
from pages.adversarial.gan_bench import figures, lens
from pages.adversarial.gan_bench.room import QUICK, ROOM

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
data, count = ui.compute(lens.sample, now)[:SHOWN], modes_of(now.target)


def draw(looks: list[Look], film: ui.Film | None = None) -> None:
    """The plane and the measures, where the film stands, or as far as they have come."""
    left, right = ui.columns([2, 1])
    with left:
        ui.figure(board(data, looks), key="plane", share=1.0, film=film,
                  alt="The discriminator over the plane, data, made points and their arrows")  # fmt: skip
    with right:
        ui.figure(figures.distance(looks), key="distance", share=0.5 if count else 1.0, film=film,
                  alt="W₁ between made points and the data, by batches")  # fmt: skip
        if count:
            ui.figure(figures.coverage(looks, count), key="coverage", share=0.5, film=film,
                      alt="Modes reached and share of samples near one, by batches")  # fmt: skip


# --- Picture ------------------------------------------------------------------------------------

played = ui.compute(lens.known, now)
with stage.picture:
    looks = played or ui.compute(
        lens.watching, now, label="Play", quick=now.batches == QUICK, show=draw,
        says="The film can be played when the training is over.",
    )  # fmt: skip
    film = ui.film_of(now, len(looks), names=[one.batches for one in looks])
    draw(looks, film)
with stage.foot:
    ui.machine(lens.untrained(now.loss, now.failure, now.cure), film=film, says=lens.numbers(looks, count),
               lit=["made", *[("G", "D")] * (len(looks) - 1)])  # fmt: skip
    film.bar(captions=lens.captions(looks), equations=lens.equations(looks, now.loss))

# --- Words --------------------------------------------------------------------------------------

end = looks[-1]
with stage.below:
    ui.notice(
        "D is drawn as σ(f); where a loss has no probability, f is first scaled to mean 0 and deviation 2. "
        "An arrow is the direction in which G's loss falls at that point: it follows the slope of D, and is "
        "short where D is flat. The longest arrow has the same length in every frame. "
        + (
            "This training was recorded; any other runs here."
            if played
            else "The same seed gives the same training again, to the bit."
        )
    )
    if end.modes is None:
        first = looks[0]
        ui.check(
            "By what factor has W₁ fallen?",
            ["less than 2", "2 to 5", "more than 5"],
            lens.factor(first.w1 / end.w1),
            f"From {first.w1:.3f} to {end.w1:.3f}.",
            wrong={
                "less than 2": "Losses that hardly change do not say that the samples stand still: these "
                "came nearer.",
                "2 to 5": "The losses do not tell it: W₁ is between the samples and the data alone.",
                "more than 5": "W₁ between finite samples never reaches 0, and a game need not come near.",
            },
            veils=("picture", "equation"),
        )
    else:
        ui.check(
            f"How many of the {count} modes are reached at the end?",
            lens.OPTIONS,
            lens.reached(end, count),
            f"{end.modes}, with {end.quality:.0%} of the samples near one.",
            wrong=(
                "That would be mode collapse, which not every game falls into.",
                "Some modes dropped is the usual case, but this game ends more extreme.",
                "G is asked to fool D and not to cover the data: no term of the loss counts modes.",
            ),
            veils=("picture", "equation"),
        )
    rules = (now.loss, now.failure, now.cure, now.batches, now.seed)
    if played:
        play = f"looks = lens.known{(now.target, *rules)}"
    else:
        drawn = f"drawing.pixels({now.ink!r}, 20)" if now.ink else None
        play = f"*_, (_, looks) = lens.watching({now.target!r}, {drawn}, *{rules})"
    ui.program(
        f"""
        from lab.ui.controls import drawing
        from pages.adversarial.gan_bench import lens

        {play}
        result = [looks[-1].w1, looks[0].w1]
        """,
        shows=[end.w1, looks[0].w1],
    )
    ui.source(BaseGAN.updates, losses.GANLoss, games.playing, references=ROOM.references)
