"""Collapse clinic: a game that is spoiled beside the same game with a cure, mode by mode."""

from lab import ui
from lab.lenses import games
from modules.adversarial.diversity import MinibatchStd, packed
from modules.adversarial.judges import ModeCoverage
from modules.adversarial.madgan import MADGAN
from modules.adversarial.tricks import TrickGAN
from modules.adversarial.veegan import VEEGAN
from pages.adversarial.clinic import figures, lens
from pages.adversarial.clinic.room import ROOM

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Too greedy": ui.scene(
            "Five turns of G for one of D; right D judges four points at once: count modes.", look=12
        ),
        "Spread of a batch": ui.scene("Minibatch std shows D how alike a batch is: watch the heap.",
                                      cure="minibatch std", look=0),
        "A penalty": ui.scene("A penalty holds D's slope: watch whether the heap opens.", cure="penalty",
                              look=0),
        "Too fast": ui.scene("Ten times G's rate: count the modes held at a time, without packs and with.",
                             failure="G's rate × 10"),
        "A weak judge": ui.scene("D has eight units: count the modes, then watch how well they are placed.",
                                 failure="D of 8 units"),
        "Paid for variety": ui.scene("Mode seeking pays G to keep samples apart: count the modes it holds.",
                                     cure="mode seeking"),
        "A way back": ui.scene("The noise must be found again: count the modes, then watch their place.",
                               cure="noise found again"),
        "Softer labels": ui.scene("Labels of 0.9 keep D from certainty: watch whether the heap opens.",
                                  cure="labels of 0.9"),
        "Twenty-five": ui.scene("The same greed on a grid: count the modes of 25, left and right.",
                                target="grid25"),
    }
)  # fmt: skip

with stage.rail:
    name = ui.choice("Data", list(lens.TARGETS), key="target")
    failure = ui.choice("Spoil it by", [*games.FAILURES, lens.NOTHING], key="failure", as_list=True,
                        default="5 turns of G")  # fmt: skip
    cure = ui.choice("Cure", list(lens.HELP), key="cure", as_list=True, default="packs of 4")
    seed = ui.number("Seed", 0, 999, 0, key="seed")


@ui.cached
def data(name: str):
    return lens.sample(name)[: lens.SHOWN]


def draw(looks: list[lens.Pair], at: int, film=None) -> None:
    """Both games at a look."""
    titles = f"{failure}" if failure != lens.NOTHING else "as it is", f"with {cure}"
    for side, column in enumerate(ui.columns(2)):
        lane, key = [pair[side] for pair in looks], ("spoiled", "cured")[side]
        with column:
            ui.figure(
                figures.plane(data(name), lane[at], titles[side]), key=key, share=0.62, film=film,
                frames=figures.moves(lane) if film else None,
                alt=f"The data, and what the game makes of {'noise' if side == 0 else 'noise with the cure'}",
            )  # fmt: skip
            ui.figure(
                figures.shares(lane[at]), key=f"shares-{key}", share=0.38, film=film,
                frames={"data.0.y": [one.shares for one in lane]} if film else None,
                alt="Share of the samples whose nearest mode is this one, beside an even share",
                data={"mode": list(range(1, len(lane[at].shares) + 1)), "share": lane[at].shares},
            )  # fmt: skip


played = lens.known(name, failure, cure, seed)
with stage.picture:
    looks = played or ui.found(
        "Play both", lambda: lens.watching(name, failure, cure, seed), key="play",
        of=(name, failure, cure, seed), quick=False, show=lambda found: draw(found, len(found) - 1),
        says="The film is there when both games are over.",
    )  # fmt: skip
    film = ui.film(len(looks), key="look", default=len(looks) - 1, label="Batch", seconds=0.2,
                   names=[one.batches for one, _ in looks])  # fmt: skip
    draw(looks, film.at, film)
with stage.foot:
    film.bar(captions=lens.captions(looks), equations=lens.equations(looks))

one, other = looks[-1]
with stage.below:
    ui.notice(
        "Both games begin with the same weights and see the same data. A collapse is seen in the shares: of "
        "one heap all points have one nearest mode. A game can hold all modes and still place few points on "
        f"them: at the end {one.quality:.0%} lie within three deviations of one, with the cure "
        f"{other.quality:.0%}. One seed is one story: the benches play five."
        + " These games were played before and recorded; any others are played here."
        * bool(played)
    )
    ui.check(
        "Which holds the modes more evenly at the end?", lens.OPTIONS, lens.evener(looks[-1]),
        f"KL {one.kl:.3f} and {other.kl:.3f} nats.",
        wrong=(
            "Points may lie well on modes and still share them badly: evenness asks for the shares alone.",
            "A cure acts against one failure of a game, and promises nothing for each game of it.",
            "Both begin with the same weights, but the games part: the two KL differ by over 0.1 nats.",
        ),
        veils=("picture", "equation"),
    )  # fmt: skip
    of = f"({name!r}, {failure!r}, {cure!r}, {seed})"
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
        packed,
        TrickGAN,
        MADGAN,
        VEEGAN,
        ModeCoverage.of,
        games.playing,
        references=ROOM.references,
    )
