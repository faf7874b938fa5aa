"""Learning to align: a translator in training, the weights of a sentence at each step, wound back."""

from lab import ui
from lab.lenses.rewind import Run, spell
from modules.recurrent.alignment import AlignmentErrorRate
from modules.transformer.source_attention import SourceAttention
from pages.recurrent.learning_to_align import figures, lens
from pages.recurrent.learning_to_align.room import MOST, ROOM, STRIDE, WITHIN

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
    source = lens.sentence(now.text)
    recipe = lens.AlignRecipe(now.score, now.clauses, now.seed)
    knobs = {name: getattr(now, name) for name in WITHIN}
    live = ui.rewind(recipe, knobs, within=WITHIN, most=MOST, label="Step", every=STRIDE)


def draw(live: ui.Rewind) -> None:
    frames, film = live.frames, live.film
    steps = [number * STRIDE for number in range(len(frames))]
    turned = [part.start * STRIDE for part in live.run.history[1:]]
    errors = [lens.error(frame["links"]).tolist() for frame in frames]
    left, right = ui.columns([2, 1])
    with left:
        ui.figure(
            figures.alignment(lens.readings(live.run, frames, source), source), key="alignment", share=1.0,
            film=film, alt="Attention weights of the sentence by training step, gold links framed, and the "
            "words that are written",
        )  # fmt: skip
    with right:
        ui.figure(
            figures.course(frames, steps, turned, (live.until or MOST) * STRIDE, lens.uniform(now.clauses)),
            key="course", share=1.0, film=film,
            alt="Share of new words and sentences that are right, alignment error, and the entropy of the "
            "weights, over the steps of training",
            data={"step": steps, "words": [float(f["words"]) for f in frames],
                  "sentences": [float(f["sentences"]) for f in frames],
                  "error above ¼": [above for above, _ in errors],
                  "error of the largest": [largest for _, largest in errors],
                  "entropy": [float(f["entropy"]) for f in frames]},
        )  # fmt: skip
    film.bar(captions=lens.captions(frames, live.knobs), equations=lens.equations(frames))


with stage.picture:
    live.show(draw)
shown = live.run.frames()
at = min(live.film.at, len(shown) - 1)
frame, reading = shown[at], lens.readings(live.run, shown[: at + 1], source)[at]
links = frame["links"][0]
with stage.below:
    ui.notice(
        "Training sees sentences and their translations, never a link: the green frames only judge. A dotted "
        "one is possible, of an article or adjective to the noun that it agrees with. At the frame shown "
        f"{float(frame['sentences']):.0%} of the new sentences are right and alignment error is "
        f"{lens.error(links):.3f}: a state z has read the words around its own, so that a decoder can find "
        "what it needs beside the gold cell. One link for each target word could not reach 0 either: a verb "
        "has two sure links. The words beside the picture are written without help; the weights are those "
        f"under teacher forcing. This history takes {live.run.size() / 2**20:.1f} MB."
    )
    ui.check(
        "At the frame shown: how many of the weights above ¼ are at links that the grammar allows?",
        lens.OPTIONS, lens.answer(links), f"{links[1]} of {links[2]}.",
        wrong={
            lens.NONE: f"{links[2]} weights are above ¼.",
            lens.FEW: "The weights have gathered at gold cells more than that.",
            lens.MANY: "Alignment error tells: it is 1 where no link is right, and near 0 where all are.",
            lens.MOST_OF_THEM: "The weights are not yet so near to the gold cells, or are beside them.",
        },
        veils=("picture", "equation"),
    )  # fmt: skip
    ui.program(
        f"""
        from lab.lenses import rewind
        from pages.recurrent.learning_to_align import lens
        from pages.recurrent.learning_to_align.room import WITHIN

        recipe = lens.AlignRecipe({now.score!r}, {now.clauses}, {now.seed})
        course = rewind.parse({spell(live.run.history)!r}, WITHIN, {MOST})
        run = rewind.Store().run(recipe, course)
        run.advance({at}, seconds=600)
        reading = lens.read(run.restore({at}), lens.sentence({source.text!r}))
        result = [*lens.error(run.frames()[{at}]["links"]), *reading.gamma[0]]
        """,
        shows=[*lens.error(frame["links"]), *reading.gamma[0]],
    )
    ui.source(SourceAttention.scores, AlignmentErrorRate, lens.AlignRecipe, Run.train,
              references=ROOM.references)  # fmt: skip
