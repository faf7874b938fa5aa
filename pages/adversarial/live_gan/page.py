"""GAN live: two networks of the plane in training, their rates and turns changed in mid-run, wound back."""

from lab import ui
from lab.figures import plane_games
from lab.lenses import games, ink
from lab.lenses.plane_games import SHOWN, modes_of
from lab.lenses.rewind import Run, spell
from lab.ui.drawing import inked
from modules.adversarial.divergences import jensen_shannon
from modules.adversarial.game import Game
from pages.adversarial.live_gan import figures, lens, words
from pages.adversarial.live_gan.room import ROOM

MOST = 60
PAD = 20
FAST = 0.01  # a rate

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Untrained": ui.scene("What is made lies in one heap, and D tells next to nothing. Press Train."),
        "Trained": ui.scene("A thousand rounds: all eight modes have been reached; now and then one is lost.",
                            until=50),
        "G alone": ui.scene("Where the line stands D stops: all points run to where it likes them best.",
                            turns="G alone", until=50, course=lens.course({0: {}, 20: {"turns": "G alone"}})),
        "D alone": ui.scene("Where the line stands G stops: D finds ever more of the distance.",
                            turns="D alone", until=50, course=lens.course({0: {}, 20: {"turns": "D alone"}})),
        "Too fast": ui.scene("G's rate is ten times higher from the start: modes come and go.",
                             until=60, g_rate=FAST, course=lens.course({0: {"g_rate": FAST}})),
        "Then slow": ui.scene("Where the line stands it falls to D's: the modes are found, and they stay.",
                              until=60, course=lens.course({0: {"g_rate": FAST}, 30: {}})),
        "Spoilt": ui.scene("Forty rounds at the high rate, between the lines: modes are lost, and for long.",
                           until=60, course=lens.course({0: {}, 45: {"g_rate": FAST}, 47: {}})),
        "Wound back": ui.scene("The same game, back at round 400: a knob that is turned counts from here.",
                               until=50, step=20),
    }
)  # fmt: skip

# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    name = ui.choice("Data", lens.TARGETS, key="law", as_list=True)
    picture = None
    if name == ink.OWN:
        picture = ui.draw("Draw where the points lie", key="ink", size=PAD, examples=ink.examples(PAD))
        if not picture.sum() > 0:
            ui.stop("There is nothing on the pad: draw where the points should lie.")
    loss = ui.choice("Loss", list(games.LOSSES), key="loss", default="non-saturating", as_list=True)
    turns = ui.choice("Turns of D and G", list(lens.TURNS), key="turns", as_list=True)
    rates = dict(zip("DG", ui.columns(2), strict=True))
    with rates["D"]:
        d_rate = ui.choice("Rate of D", lens.RATES, key="d_rate", default=games.RATE, as_list=True)
    with rates["G"]:
        g_rate = ui.choice("Rate of G", lens.RATES, key="g_rate", default=games.RATE, as_list=True)
    batch = ui.choice("Batch", lens.BATCHES, key="batch", default=games.BATCH)
    seed = ui.number("Seed", 0, 999, 0, key="seed")
    law = ink.Law(name, () if picture is None else tuple(map(tuple, picture.tolist())))
    recipe = lens.GameRecipe(law, loss, seed)
    knobs = lens.knobs(turns, d_rate, g_rate, batch)
    alone = {f"Step {player}": {"turns": f"{player} alone"} for player in "DG"}
    live = ui.rewind(recipe, knobs, within=lens.WITHIN, most=MOST, steps=alone)

# --- Picture ------------------------------------------------------------------------------------

data, tells, count = lens.split(law, 3)[:SHOWN], recipe.tells, modes_of(name)


def draw(now: ui.Rewind) -> None:
    frames, film, stride = now.frames, now.film, recipe.stride
    rounds = [number * stride for number in range(len(frames))]
    turned = [part.start * stride for part in now.run.history[1:]]
    seen = lens.looks(frames, stride)
    parts = lens.panels(frames, tells, count)
    left, right = ui.columns([3, 2])
    with left:
        ui.figure(
            plane_games.board(data, seen, film.at), key="plane", share=1.0, film=film,
            frames=plane_games.moves(now.new(seen)),
            alt="The discriminator over the plane, data, and what the generator makes, by round",
        )  # fmt: skip
    with right:
        ui.figure(
            figures.panels(parts, rounds, turned, rounds[film.at], MOST * stride), key="curves", share=1.0,
            film=film, frames=figures.moves(len(parts), now.new(rounds)),
            data={"round": rounds, **{name: line for part in parts for name, line in part.lines.items()}},
            alt="Losses of both players, the distance of what is made from the data, and modes, by round",
        )  # fmt: skip
    film.bar(captions=words.captions(frames, now.knobs, stride), equations=words.equations(frames, tells))


with stage.picture:
    live.show(draw)

# --- Words --------------------------------------------------------------------------------------

shown = live.run.frames()
at = min(live.film.at, len(shown) - 1)
frame = shown[at]
found, known = lens.told(shown)[at], float(frame["js"])
with stage.below:
    ui.notice(
        "D is drawn as σ(f), where a loss has no probability with f brought to mean 0 and deviation 2; an "
        "arrow is where G's loss falls. Losses are those on 5,000 new points and as many made ones. The "
        f"Jensen–Shannon divergence counts points in cells {lens.SIDE:g} wide: it is at most the true one, "
        "but for the scatter of 10,000 made points. "
        + (f"What D has found of it, {found:.3f}, is less the worse D is. " if tells else "")
        + f"Step D and Step G move one player alone for {recipe.stride} turns. "
        "A knob that is turned while it pauses counts from the frame that you look at. The same link plays "
        f"the same game, to the bit; this history takes {live.run.size() / 2**20:.1f} MB."
    )
    if tells:
        ui.check(
            "At the frame shown: has D found more than half of the histograms' divergence?", ["yes", "no"],
            "yes" if found > known / 2 else "no", f"It has found {found:.3f} of {known:.3f} nats.",
            wrong={
                "yes": "D lags behind: log 2 − L_D / 2 tells what this D has found, not what there is.",
                "no": "A D that has learned long enough comes near the best one, which finds all of it.",
            },
            veils=("picture", "equation"),
        )  # fmt: skip
    else:
        ui.check(
            "At the frame shown: is the histograms' divergence more than half of log 2?", ["yes", "no"],
            "yes" if known > lens.LOG2 / 2 else "no", f"It is {known:.3f} of {lens.LOG2:.3f} nats.",
            wrong={
                "yes": "log 2 is reached only where the two laws share no cell, and here they share many.",
                "no": "Samples may lie near the data and yet fill other cells: what one law fills alone "
                "counts in full.",
            },
            veils=("picture", "equation"),
        )  # fmt: skip
    drawn = "" if picture is None else (
        f", tuple(map(tuple, {inked(picture)}.tolist()))"
    )  # fmt: skip
    ui.program(
        f"""
        from lab.lenses import rewind
        from lab.lenses.ink import Law
        from lab.ui import drawing
        from pages.adversarial.live_gan import lens

        recipe = lens.GameRecipe(Law({name!r}{drawn}), {loss!r}, {seed})
        course = {spell(live.run.history)!r}
        run = rewind.Store().run(recipe, rewind.parse(course, lens.WITHIN, {MOST}))
        run.advance({at}, seconds=600)
        frame = run.frames()[{at}]
        result = [*frame["losses"], frame["js"], frame["w1"]]
        """,
        shows=[*frame["losses"], frame["js"], frame["w1"]],
    )
    ui.source(lens.GameRecipe, Game.turns, jensen_shannon, Run.train, references=ROOM.references)
