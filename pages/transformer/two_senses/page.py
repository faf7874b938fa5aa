"""Two senses by layer: the vector of one word at each layer of a GPT, one point that becomes two clouds."""

from lab import ui
from pages.transformer.two_senses import figures, lens, sentences
from pages.transformer.two_senses.room import ROOM, UNTRAINED

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
one = ui.compute(lens.parted, now)
own = one.place(ui.compute(lens.vectors, now))
L = len(one.points)
film = ui.film_of(now, L, names=lens.names(one))
with stage.picture:
    left, right = ui.columns([2, 1])
    with left:
        ui.figure(
            figures.clouds(one, own), key="clouds", share=1.0, film=film,
            alt="Vectors of top in held-out sentences, coloured by sense, and that of the reader's",
            data={"sentence": one.sentences, "sense": one.senses, "x": one.points[film.at, :, 0],
                  "y": one.points[film.at, :, 1]},
        )  # fmt: skip
    with right:
        ui.figure(
            figures.accuracy(one), key="accuracy", share=1.0, film=film,
            alt="Share of held-out sentences on their side by layer, with its spread over splits",
            data={"layer": lens.names(one), "mean": one.right.mean(0), "sd": one.right.std(0)},
        )  # fmt: skip
with stage.foot:
    film.bar(captions=lens.captions(one, own), equations=lens.equations(own))

with stage.below:
    ui.notice(
        f"{len(sentences.composed())} beginnings of captions with six words before “top”, in words that the "
        "model knows from Multi30k; it has never been told a sense. The line is found from one half of the "
        "verbs and of the words before “top”, the points are sentences of the other half. On 360 real "
        "captions, told apart by the words before “top” and probed on words that the probe has not seen, "
        ".60 ± .05 are right at the embedding, for positions differ, .88 ± .10 after layer 1 and .99 ± .01 "
        "after layer 2."
        if now.weights != UNTRAINED
        else "Random weights carry the words before along too: “a” against “the” lets the probe be right "
        "more often than not. But nothing brings words of one sense together, and the line found from some "
        "of them does not hold for all others."
    )
    ui.caption("A table of vectors beside it, which has one for both senses of “bank”:")
    ui.page_link(next(page for page in ui.pages() if page.url == "language-senses"))
    ui.check(
        "Which words can change the vector of “top” in this model?",
        ["those before it", "those after it", "all of the sentence"], "those before it",
        "A GPT reads from left to right: the causal mask hides what follows.",
        wrong=("", "The causal mask hides just these.",
               "So it is in BERT, whose attention has no causal mask."), veils=(),
    )  # fmt: skip
    ui.program(
        f"""
        from lab import experiments, weights
        from pages.transformer.two_senses import lens

        place = {ui.spelled(now.gpt)}
        model, card = weights.load(place).eval(), weights.read_card(place)
        one = lens.parted(model, card, {now.weights!r}, {now.fold})
        h = lens.vectors(model, card, lens.cut({now.text!r}), {now.weights!r})
        result = one.place(h)[:, 0].tolist()
        """,
        shows=own[:, 0].tolist(),
    )
    ui.source(lens.states, lens.line, lens.share, references=ROOM.references)
