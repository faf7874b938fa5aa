"""GAN bench: two networks play for points of the plane, with any loss, failure and cure."""

from lab import ui
from lab.figures.plane_games import board, moves
from lab.lenses import games, ink, plane_games
from lab.ui.drawing import inked
from modules.adversarial import losses
from modules.adversarial.game import Game
from pages.adversarial.gan_bench import figures, lens
from pages.adversarial.gan_bench.room import ROOM

PAD = 20
LONG = {"batches": 1000}

stage = ui.stage(ROOM)
stage.scenes(
    {
        "First moves": ui.scene("150 batches: arrows show where the slope of D sends each point."),
        "A thousand": ui.scene("After a thousand most games have found most modes; few points lie on them.",
                               **LONG),
        "Saturating": ui.scene("The loss as the text prints it: in this game it serves as well.",
                               loss="saturating", **LONG),
        "A critic": ui.scene("Wasserstein with penalty: D slopes everywhere; most seeds take longer.",
                             loss="Wasserstein, penalty", **LONG),
        "Too greedy": ui.scene("Five turns of G for one of D: all points lie in one heap, and it wanders.",
                               failure="5 turns of G", look=10, **LONG),
        "Packs": ui.scene("The cure: D sees four points at a time; modes are back, and come and go.",
                          failure="5 turns of G", cure="packs of 4", **LONG),
        "A weak judge": ui.scene("D of one layer of eight units: at most one or two modes are touched.",
                                 failure="D of 8 units", **LONG),
        "Moons": ui.scene("No modes, two arms: W₁ falls.", target="moons", **LONG),
        "Your drawing": ui.scene("The data are your ink.", target=lens.OWN, **LONG),
    }
)  # fmt: skip

# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    name = ui.choice("Data", list(lens.TARGETS), key="target", as_list=True)
    picture = None
    if name == lens.OWN:
        picture = ui.draw("Your ink", key="ink", size=PAD, examples=ink.examples(PAD))
        if not bool(picture.any()):
            ui.stop("There is no ink: draw something.")
    loss = ui.choice("Loss", list(games.LOSSES), key="loss", default="non-saturating", as_list=True)
    failure = ui.choice("Spoil it by", ["nothing", *games.FAILURES], key="failure", as_list=True)
    cure = ui.choice("Cure", ["none", "minibatch std", "packs of 4"], key="cure", as_list=True)
    batches = ui.choice("Batches", [lens.QUICK, 1000, 3000], key="batches")
    seed = ui.number("Seed", 0, 999, 0, key="seed")
strokes = ink.examples(PAD)[0][1] if picture is None else picture


def game(loss: str, failure: str, cure: str, seed: int):
    """All that a game depends on, and how it begins."""
    chosen = lens.settings(loss, failure, cure)
    of = (name, strokes.tolist(), loss, failure, cure, batches, seed)
    return of, lambda: lens.watching(name, strokes, chosen, batches, seed)


@ui.cached
def data(name: str, picture):
    return lens.target(name, picture)


def draw(looks: list[plane_games.Look], at: int, film=None) -> None:
    """The plane and the measures, at a look."""
    places = [one.batches for one in looks]
    known = looks[at].modes is not None
    left, right = ui.columns([3, 2])
    with left:
        ui.figure(
            board(data(name, strokes)[: plane_games.SHOWN], looks, at), key="plane", share=1.0, film=film,
            frames=moves(looks) if film else None,
            alt="The discriminator over the plane, data, and what the generator makes",
        )  # fmt: skip
    with right:
        fig, turn = figures.distance(looks, at)
        ui.figure(fig, key="distance", share=0.5 if known else 1.0, film=film,
                  frames=turn if film else None, alt="W₁ between what is made and the data, along the game",
                  data={"batches": places, "W1": [one.w1 for one in looks]})  # fmt: skip
        if known:
            fig, turn = figures.coverage(looks, at, count)
            ui.figure(
                fig, key="coverage", share=0.5, film=film, frames=turn if film else None,
                alt="Modes reached and share of samples near one, along the game",
                data={"batches": places, "modes": [one.modes for one in looks],
                      "quality": [one.quality for one in looks]},
            )  # fmt: skip


# --- Picture ------------------------------------------------------------------------------------

count = plane_games.modes_of(name)
of, start = game(loss, failure, cure, seed)
others = [(each, failure, cure, seed) for each in games.LOSSES if each != loss]
others = [(loss, failure, cure, min(999, seed + 1)), *others[:6]]
others += [(loss, each, cure, seed) for each in games.FAILURES if each != failure]
quick = batches <= lens.QUICK
played = lens.known(name, loss, failure, cure, batches, seed)
with stage.picture:
    looks = played or ui.found(
        "Play", start, key="play", of=of, quick=quick, show=lambda found: draw(found, len(found) - 1),
        says="The film is there when the game is over.", soon=[game(*each) for each in others if quick],
    )  # fmt: skip
    film = ui.film(len(looks), key="look", default=len(looks) - 1, label="Batch", seconds=0.2,
                   names=[one.batches for one in looks])  # fmt: skip
    draw(looks, film.at, film)
with stage.foot:
    film.bar(captions=lens.captions(looks), equations=lens.equations(looks, loss))

# --- Words --------------------------------------------------------------------------------------

end = looks[-1]
with stage.below:
    ui.notice(
        "D is drawn as σ(f); where a loss has no probability, f is brought to mean 0 and deviation 2 first. "
        "An arrow is where the generator's loss falls at that point: it follows the slope of D, and where D "
        "is flat it is short. The longest arrow has one length at every look. "
        + (
            "This game was played before and recorded; any other is played here."
            if played
            else "The same seed plays the same game again, to the bit."
        )
    )
    if end.modes is None:
        first = looks[0]
        ui.check(
            "By what factor has W₁ fallen?", ["less than 2", "2 to 5", "more than 5"],
            lens.factor(first.w1 / end.w1), f"From {first.w1:.3f} to {end.w1:.3f}.",
            wrong={
                "less than 2": "Losses that hover do not say that the samples stand still: these came "
                "nearer.",
                "2 to 5": "The losses do not tell it: W₁ is between the samples and the data alone.",
                "more than 5": "W₁ between finite samples never reaches 0, and a game need not come near.",
            },
            veils=("picture", "equation"),
        )  # fmt: skip
    else:
        ui.check(
            f"How many of the {count} modes are reached at the end?", lens.OPTIONS,
            lens.reached(end, count), f"{end.modes}, with {end.quality:.0%} of the samples near one.",
            wrong=(
                "That would be mode collapse, which not every game falls into.",
                "Some modes dropped is the usual case, but this game ends more extreme.",
                "G is asked to fool D and not to cover the data: no term of the loss counts modes.",
            ),
            veils=("picture", "equation"),
        )  # fmt: skip
    if played:
        play = f"looks = lens.known({name!r}, {loss!r}, {failure!r}, {cure!r}, {batches}, {seed})"
    else:
        play = f"*_, (_, looks) = lens.watching({name!r}, {{drawn}}, chosen, {batches}, {seed})"
    drawn = (
        inked(picture)
        if picture is not None else f"ink.examples({PAD})[0][1]"
    )  # fmt: skip
    ui.program(
        f"""
        from lab.lenses import ink
        from lab.ui import drawing
        from pages.adversarial.gan_bench import lens

        chosen = lens.settings({loss!r}, {failure!r}, {cure!r})
        {play.format(drawn=drawn)}
        result = [looks[-1].w1, looks[0].w1]
        """,
        shows=[end.w1, looks[0].w1],
    )
    ui.source(Game.turns, losses.GameLoss, games.playing, references=ROOM.references)
