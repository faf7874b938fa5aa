"""Universality: a network of tokens learns a target before the reader's eyes, down to its floor."""

from lab import ui
from lab.bench import universality as bench
from lab.lenses.rewind import Run, spell
from pages.transformer.universality import figures, lens
from pages.transformer.universality.room import ALIBI, MOST, NONE, ROOM, STRIDE, TOKENS, WITHIN

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
    recipe = lens.Recipe(now.target, now.network, now.positions, now.layers, now.length, now.seed)
    knobs = {name: getattr(now, name) for name in WITHIN}
    live = ui.rewind(recipe, knobs, within=WITHIN, most=MOST, label="Step", every=STRIDE)


def draw(live: ui.Rewind) -> None:
    frames, film = live.frames, live.film
    steps = [number * STRIDE for number in range(len(frames))]
    left, right = ui.columns([2, 1])
    with left:
        ui.figure(
            figures.course(frames, steps, recipe.floor, (live.until or MOST) * STRIDE), key="course",
            share=1.0, film=film, alt="Mean squared error over the steps of training, above its floor",
            data={"step": steps, "error": [float(f["error"]) for f in frames]},
        )  # fmt: skip
    with right:
        ui.figure(
            figures.outputs(frames, lens.targets(now.target, now.length)), key="outputs", share=1.0,
            film=film, alt="Outputs of new sequences over their targets, a colour per position",
        )  # fmt: skip
    film.bar(captions=lens.captions(frames, recipe), equations=lens.equations(frames, recipe))


with stage.picture:
    live.show(draw)
shown = live.run.frames()
at = min(live.film.at, len(shown) - 1)
with stage.below:
    sees = "its own number" + (" and its place" if now.positions != NONE else "")
    if now.network != TOKENS:
        sees += " and the set of all numbers" if now.positions == NONE else ", and all others with theirs"
    if now.positions == ALIBI:
        sees = "all numbers and how far away they stand, the same from both ends"
    ui.notice(
        f"An output of this network may depend on {sees}. What else the target needs is noise to it: the "
        f"best it can say is the conditional mean, and what is left over is the floor, {recipe.floor:.4f}. "
        f"No width, depth or training goes below{lens.draws(recipe)}. A floor of 0 does not say that a "
        "network gets there: sort needs comparisons, and deeper stacks come nearer."
    )
    ui.check(
        f"What is the least error on {now.target} that what this network sees allows?",
        lens.OPTIONS, lens.OPTIONS[recipe.floor > 1e-9],
        f"The floor of what it sees is {recipe.floor:.4f}.",
        wrong=["Something that the target needs does not reach the outputs.",
               "Everything that the target needs can reach the outputs."],
        veils=("picture", "equation"),
    )  # fmt: skip
    ui.program(
        f"""
        from lab.lenses import rewind
        from pages.transformer.universality import lens
        from pages.transformer.universality.room import WITHIN

        recipe = lens.Recipe({now.target!r}, {now.network!r}, {now.positions!r}, {now.layers}, {now.length},
                             {now.seed})
        course = rewind.parse({spell(live.run.history)!r}, WITHIN, {MOST})
        run = rewind.Store().run(recipe, course)
        run.advance({at}, seconds=600)
        result = run.frames()[{at}]["error"]
        """,
        shows=shown[at]["error"],
    )
    ui.source(lens.Recipe, bench.Network, type(recipe.data).floor, Run.train, references=ROOM.references)
