"""GPT trainer: a GPT of at most 100,000 weights learns characters before the reader, and is wound back."""

from lab import ui
from lab.lenses.rewind import Run, spell
from modules.transformer.gpt import GPT
from pages.transformer.gpt_trainer import figures, lens, words
from pages.transformer.gpt_trainer.room import MOST, OWN, ROOM, STRIDE, WITHIN

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
    if now.source == OWN:
        ui.upload("A text file", into="text")
    recipe = ui.compute(lens.recipe, now)
    knobs = {name: getattr(now, name) for name in WITHIN}
    live = ui.rewind(recipe, knobs, within=WITHIN, most=MOST, label="Step", every=STRIDE,
                     recorded=lens.known(recipe))  # fmt: skip


def draw(live: ui.Rewind) -> None:
    frames, film = live.frames, live.film
    steps = [number * STRIDE for number in range(len(frames))]
    turned = [part.start * STRIDE for part in live.run.history[1:]]
    left, right = ui.columns([2, 1])
    with left:
        ui.figure(
            figures.course(frames, steps, turned, (live.until or MOST) * STRIDE, recipe), key="course",
            share=0.62, film=film, alt="Loss of training and held-out windows over the steps of training, "
            "beside ln V and the entropies of the text",
            data={"step": steps, "training": [float(f["train"]) for f in frames],
                  "held out": [float(f["val"]) for f in frames]},
        )  # fmt: skip
        ui.figure(
            figures.sample(frames, recipe), key="sample", share=0.38, film=film,
            alt="A sample of the GPT at this step, the words that the text has in orange",
            data={"row": words.rows(recipe, frames[film.at])},
        )  # fmt: skip
    with right:
        ui.figure(
            figures.by_place(frames, recipe), key="places", share=1.0, film=film,
            alt="Held-out loss over the number of characters that are seen",
        )  # fmt: skip
    film.bar(captions=words.captions(frames, live.knobs, recipe), equations=words.equations(frames, recipe))


with stage.picture:
    live.show(draw)
shown = live.run.frames()
at = min(live.film.at, len(shown) - 1)
frame, data = shown[at], recipe.data
loss = float(frame["val"])
right, count = words.known_words(recipe, frame)
with stage.below:
    source = "This training was recorded. " if live.run.recorded else ""
    ui.notice(
        f"{source}The GPT has {lens.weights(recipe):,} weights and reads {len(data.train):,} characters of "
        f"{len(data.characters)} kinds; a tenth of the text is held out. H₁ is the loss of a model that "
        "knows how often each of them comes in training, H₂ of one that knows which follows which. "
        "At the first place of a window one character is seen, so that H₂ is about the best there; below it "
        f"everything comes from farther back. {right} of {count} words of this sample are words of the text. "
        f"The same draws are taken at every step. This history takes {live.run.size() / 2**20:.1f} MB."
    )
    ui.check(
        "At the frame shown: what does the held-out loss say that the GPT knows?",
        words.OPTIONS, words.answer(recipe, loss),
        f"Its loss is {loss:.3f}; H₁ = {data.unigram:.3f}, H₂ = {data.bigram:.3f}.",
        wrong=("The loss is below H₁.", "The loss is not between H₂ and H₁.", "The loss is not below H₂."),
        veils=("picture", "equation"),
    )  # fmt: skip
    written = f"corpus = {now.text!r}" if now.source == OWN else f"corpus = lens.corpus({now.source!r}, '')"
    ui.program(
        f"""
        from lab.lenses import rewind
        from pages.transformer.gpt_trainer import lens
        from pages.transformer.gpt_trainer.room import WITHIN

        {written}
        recipe = lens.Recipe(corpus, {now.layers}, {now.width}, {now.heads}, {now.context}, {now.seed})
        course = rewind.parse({spell(live.run.history)!r}, WITHIN, {MOST})
        run = rewind.Store().run(recipe, course)
        run.advance({at}, seconds=600)
        result = [run.frames()[{at}]["train"], run.frames()[{at}]["val"]]
        """,
        shows=[frame["train"], frame["val"]],
    )
    ui.source(lens.Recipe, lens.read, GPT.forward, Run.train, references=ROOM.references)
