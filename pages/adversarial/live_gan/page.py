"""GAN live: two networks of the plane in training, their rates and turns changed in mid-run, wound back."""

from lab import ui
from lab.figures import plane_games
from lab.lenses.plane_games import SHOWN, modes_of
from lab.lenses.rewind import Run, spell
from modules.adversarial.base import BaseGAN
from modules.adversarial.divergences import jensen_shannon
from pages.adversarial.live_gan import figures, lens, words
from pages.adversarial.live_gan.room import MOST, ROOM, WITHIN

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
    for place, column in zip(("left", "right"), ui.columns(2), strict=True):
        with column:
            now = ui.read(ROOM, now, at=place)
    recipe = ui.compute(lens.recipe, now)
    knobs = lens.knobs(now.turns, now.d_rate, now.g_rate, now.batch)
    alone = {f"Step {player}": ui.moved(now, turns=f"{player} alone") for player in "DG"}
    live = ui.rewind(recipe, knobs, within=WITHIN, most=MOST, steps=alone, label="Round",
                     every=recipe.stride, recorded=ui.compute(lens.known, now))  # fmt: skip

# --- Picture ------------------------------------------------------------------------------------

data, tells, count = lens.split(recipe.distribution, 3)[:SHOWN], recipe.tells, modes_of(now.law)
pair = ui.compute(lens.untrained, now)


def draw(live: ui.Rewind) -> None:
    frames, film, stride = live.frames, live.film, recipe.stride
    rounds = [number * stride for number in range(len(frames))]
    turned = [part.start * stride for part in live.run.history[1:]]
    parts = lens.panels(frames, tells, count)
    left, right = ui.columns([2, 1])
    with left:
        ui.figure(
            plane_games.board(data, lens.looks(frames, stride), lens.height(data)),
            key="plane",
            share=1.0,
            film=film,
            alt="The discriminator over the plane, data, and generated points, by round",
        )
    with right:
        ui.figure(
            figures.panels(parts, rounds, turned, MOST * stride), key="curves", share=1.0, film=film,
            alt="Distance between generated points and data, what D has found of it, and modes, by round",
        )  # fmt: skip
    ui.machine(pair, film=film, lit=words.moving(live.knobs), says=words.numbers(frames, now.law))
    film.bar(captions=words.captions(frames, live.knobs, stride), equations=words.equations(frames, tells))


with stage.picture:
    live.show(draw)

# --- Words --------------------------------------------------------------------------------------

shown = live.run.frames()
at = min(live.film.at, len(shown) - 1)
frame = shown[at]
result, known = lens.js_estimates(shown)[at], float(frame["js"])
with stage.below:
    ui.notice(
        "D is drawn as σ(f), where a loss has no probability with f brought to mean 0 and deviation 2; an "
        "arrow is where G's loss falls. Losses are those on 5,000 new points and as many made ones. The "
        f"Jensen–Shannon divergence counts points in cells {lens.SIDE:g} wide: it is at most the true one, "
        "but for the scatter of 10,000 made points. "
        + (f"What D has found of it, {result:.3f}, is less the worse D is. " if tells else "")
        + f"Step D and Step G train one player alone for {recipe.stride} rounds. "
        "A setting that is changed in a pause counts from the frame that you look at. "
        + (
            "This game was recorded; Train plays it here, from the first round on. "
            if live.run.recorded
            else "The same link gives the same training, to the bit. "
        )
        + f"This history takes {live.run.size() / 2**20:.1f} MB."
    )
    if tells:
        ui.check(
            "At the frame shown: has D found more than half of the histograms' divergence?",
            ["yes", "no"],
            "yes" if result > known / 2 else "no",
            f"It has found {result:.3f} of {known:.3f} nats.",
            wrong={
                "yes": "D lags behind: log 2 − L_D / 2 tells what this D has found, not what there is.",
                "no": "A D that has learned long enough comes near the best one, which finds all of it.",
            },
            veils=("picture", "equation"),
        )
    else:
        ui.check(
            "At the frame shown: is the histograms' divergence more than half of log 2?",
            ["yes", "no"],
            "yes" if known > lens.LOG2 / 2 else "no",
            f"It is {known:.3f} of {lens.LOG2:.3f} nats.",
            wrong={
                "yes": "log 2 is reached only where both share no cell, and here they share many.",
                "no": "Samples may lie near the data and yet fill other cells: what one of them fills alone "
                "counts in full.",
            },
            veils=("picture", "equation"),
        )
    drawn = f"drawing.pixels({now.ink!r}, 20)" if now.ink else None
    trained = f"""
        from lab.lenses import rewind
        from lab.ui.controls import drawing
        from pages.adversarial.live_gan import lens
        from pages.adversarial.live_gan.room import WITHIN

        recipe = lens.recipe({now.law!r}, {drawn}, {now.loss!r}, {now.seed})
        course = {spell(live.run.history)!r}
        run = rewind.Store().run(recipe, rewind.parse(course, WITHIN, {MOST}))
        run.advance({at}, seconds=600)"""
    read = f"""
        from pages.adversarial.live_gan import lens

        run = lens.known({now.law!r}, {now.loss!r}, {now.seed})"""
    ui.program(
        f"""{read if live.run.recorded else trained}
        frame = run.frames()[{at}]
        result = [*frame["losses"], frame["js"], frame["w1"]]
        """,
        shows=[*frame["losses"], frame["js"], frame["w1"]],
    )
    ui.source(lens.GameRecipe, BaseGAN.updates, jensen_shannon, Run.train, references=ROOM.references)
