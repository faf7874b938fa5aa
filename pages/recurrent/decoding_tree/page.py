"""Decoding tree: the beam that translates a sentence, step by step; beside it the finished pool, or γ of one
hypothesis."""

from lab import ui
from lab.figures import beam_trees
from modules.language.beam import beam_search, beam_trace, length_norm
from modules.recurrent.seq2seq import Translation
from pages.recurrent.decoding_tree import figures, lens
from pages.recurrent.decoding_tree.room import NODE, ROOM, WEIGHTS

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
    found = ui.compute(lens.search, now)
    if found.source.says:
        ui.caption(found.source.says)

# --- Picture ------------------------------------------------------------------------------------

tokens = lens.chosen(found, now.node)
film = ui.film_of(now, len(found.trace))
nodes = found.tree
with stage.picture:
    left, right = ui.columns([2, 1])
    with left:
        fig = figures.tree(found, tokens, figures.TOP if now.beside == WEIGHTS else 0.92)
        ui.clickable(
            fig, key=NODE, share=1.0, film=film, frames=beam_trees.growing(fig, film.count, "y"),
            alt="The tree of the search, a row for each word: beginnings kept, cut and finished",
            data={"text": [found.read(text) for text in nodes.text], "log p": nodes.log_prob,
                  "state": nodes.state},
        )  # fmt: skip
    with right:
        if now.beside == WEIGHTS:
            ui.figure(
                figures.weights(found, tokens), key="weights", share=1.0, film=film,
                alt="Attention weights of one hypothesis: a row for each word, a column for each source word",
            )  # fmt: skip
        else:
            ui.figure(
                figures.pool(found, now.alpha, now.k), key="pool", share=1.0, film=film,
                alt="log p over the number of words: finished hypotheses, greedy, gold, the best score",
            )  # fmt: skip
H = [len(step.values["hypotheses"]) for step in found.trace]
with stage.foot:
    ui.machine(
        now.model, film=film, lit=[("context", "cell", "logits")] * film.count,
        says=[{"cell": f"{h} row" + "s" * (h > 1)} for h in H],
    )  # fmt: skip
    film.bar(captions=lens.captions(found, tokens), equations=lens.equations(found, tokens, now.alpha, now.k))

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    ui.markdown("##### The finished pool, best first, and what it is compared with")
    named = [(f"{i}", each) for i, each in enumerate(found.trace.result, 1)] + [("greedy", found.greedy)]
    named += [("gold", found.gold)] if found.gold else []
    ui.table(
        {
            "": [name for name, _ in named],
            "sentence": [found.read(each.tokens) for _, each in named],
            "words n": [len(each.tokens) for _, each in named],
            "log p": [f"{each.log_prob:.3f}" for _, each in named],
            "norm": [f"{length_norm(len(each.tokens), now.alpha, now.k):.3f}" for _, each in named],
            "score": [f"{each.score:.3f}" for _, each in named],
            "finished": ["yes" if each.finished else "cut off" for _, each in named],
        },
        alt="The finished hypotheses with their log p and score", key="found",
    )  # fmt: skip
    at = lens.fork(found, tokens)
    said = (
        "Click a node: weights and equation are then those of the best hypothesis through it."
        if at is None
        else f"Words differ from those of the best from step {at + 1} on, weights from step {at + 3} on, by "
        f"up to {lens.apart(found, tokens):.2f}: γ is made by the state before, which has not read the last "
        "word. "
        "A row of the decoder's state belongs to another hypothesis at each step: γ follows the words."
    )
    ui.notice(
        f"{lens.error(found)} The search ends at log p {found.best.log_prob:.3f}, greedy at "
        f"{found.greedy.log_prob:.3f}. {said} A fixed context has the same weights in every row."
    )
    if found.gold is not None:
        ui.check(
            "The gold translation, beside the sentence that the search has found, is …",
            list(lens.NOT_SO), lens.judged(found, found.gold), lens.error(found),
            wrong=lens.NOT_SO, veils=("picture", "equation"),
        )  # fmt: skip
    else:
        same = found.greedy.tokens == found.best.tokens
        ui.check(
            f"Does greedy decoding write the sentence that B = {now.width} finds?",
            ["yes", "no"], "yes" if same else "no",
            f"Greedy ends at log p {found.greedy.log_prob:.3f}, the search at {found.best.log_prob:.3f}.",
            wrong={"yes": "Some word differs: see the table.", "no": "All words agree: see the table."},
            veils=("picture", "equation"),
        )  # fmt: skip
    ui.program(
        f"""
        from lab import experiments, weights
        from lab.lenses import translations
        from modules.language.beam import beam_search

        place = experiments.find({now.model.partition("/")[0]!r}).weights
        model, card = weights.load(place).eval(), weights.read_card(place)
        source = translations.sentence(card, {now.text!r}).ids[None]
        texts = beam_search(model, source, translations.MOST, {now.width}, model.eos, {now.alpha}, {now.k})
        result = [text.log_prob for text in texts]
        """,
        shows=[each.log_prob for each in found.trace.result],
    )
    ui.source(beam_trace, beam_search, length_norm, Translation.__getitem__, lens.weights,
              references=ROOM.references)  # fmt: skip
