"""Collapse clinic: a game that is spoiled beside the same game with a cure, mode by mode."""

from lab import ui
from lab.lenses import games
from modules.adversarial.diversity import MinibatchStd, pack_examples
from modules.adversarial.madgan import MADGAN
from modules.adversarial.metrics import ModeCoverage
from modules.adversarial.tricks import TrickGAN
from modules.adversarial.veegan import VEEGAN
from pages.adversarial.clinic import figures, lens
from pages.adversarial.clinic.room import NOTHING, ROOM

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
data, centres = ui.compute(lens.sample, now)[: lens.SHOWN], lens.modes(now.target)
titles = ("as it is" if now.failure == NOTHING else f"{now.failure}, no cure", f"with {now.cure}")


def draw(looks: list[lens.Pair], film: ui.Film | None = None) -> None:
    """Both games, where the film stands, or as far as they have come."""
    for side, column in enumerate(ui.columns(2)):
        lane, key = [pair[side] for pair in looks], ("spoiled", "cured")[side]
        with column:
            ui.figure(
                figures.plane(data, centres, lane, titles[side]), key=key, share=1.0, film=film,
                alt=f"Data and samples {'with' if side else 'without'} the cure; at each mode its share of "
                "the samples, each of which counts for the nearest",
            )  # fmt: skip


played = ui.compute(lens.known, now)
with stage.picture:
    says = "The film can be played when both trainings are over."
    looks = played or ui.compute(lens.watching, now, label="Play both", quick=False, says=says, show=draw)
    film = ui.film_of(now, len(looks), names=[one.batches for one, _ in looks])
    draw(looks, film)
with stage.foot:
    ui.machine(lens.untrained(now.failure, now.cure), film=film, says=lens.numbers(looks),
               lit=["made", *[("G", "D")] * (len(looks) - 1)])  # fmt: skip
    film.bar(captions=lens.captions(looks), equations=lens.equations(looks))

one, other = looks[-1]
with stage.below:
    ui.notice(
        "Both games begin with the same weights and see the same data. The shares show a collapse: all "
        "points of one cluster have the same nearest mode. A game can hold all modes and still place few "
        f"points on them: at the end {one.quality:.0%} lie within three deviations of one, with the cure "
        f"{other.quality:.0%}. This is one seed; `lab bench games` runs five."
        + " These two trainings were recorded; any others run here."
        * bool(played)
    )
    ui.check(
        "Which holds the modes more evenly at the end?",
        lens.OPTIONS,
        lens.evener(looks[-1]),
        f"KL {one.kl:.3f} and {other.kl:.3f} nats.",
        wrong=(
            "Points may lie well on modes and still share them badly: evenness asks for the shares alone.",
            "A cure acts against one failure of a game, and promises nothing for each game of it.",
            "Both begin with the same weights, but the games part: the two KL differ by over 0.1 nats.",
        ),
        veils=("picture", "equation"),
    )
    of = (now.target, now.failure, now.cure, now.seed)
    ui.program(
        f"""
        from pages.adversarial.clinic import lens

        {f"looks = lens.known{of}" if played else f"*_, (_, looks) = lens.watching{of}"}
        result = [number for look in looks[-1] for number in (look.kl, look.quality)]
        """,
        shows=[number for look in looks[-1] for number in (look.kl, look.quality)],
    )
    ui.source(
        MinibatchStd,
        pack_examples,
        TrickGAN,
        MADGAN,
        VEEGAN,
        ModeCoverage.value,
        games.playing,
        references=ROOM.references,
    )
