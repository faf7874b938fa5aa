"""Translation: γ row by row while a decoder writes, beside a fixed context; one score; forced and free;
both decoders over the length."""

from lab import ui
from lab.lenses import translations
from modules.recurrent.context import FixedContext, SoftAttention
from modules.recurrent.seq2seq import Seq2Seq
from modules.transformer.source_attention import SourceAttention
from pages.recurrent.translation import compare, figures, lens, spoken
from pages.recurrent.translation.room import ALIGNMENT, FIXED, FORCED, LENGTH, ROOM, SCORE

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
    card = ui.card(now.model)
    source = None if now.view == LENGTH else translations.sentence(card, now.text)
    if source is not None and source.says:
        ui.caption(source.says)
name, other = now.model.partition("/")[0], now.fixed


def draw(found: compare.Lengths) -> None:
    """Both curves, as far as they are known."""
    left, right = ui.columns([2, 1])
    with left:
        ui.figure(
            figures.over_length(found, "exact"), key="exact", share=1.0,
            alt="Share of sentences right in all words over the number of clauses, attention and fixed",
        )  # fmt: skip
    with right:
        ui.figure(
            figures.over_length(found, "error"), key="error", share=1.0,
            alt="Alignment error rate of the attention weights over the number of clauses",
        )  # fmt: skip


# --- Pictures -----------------------------------------------------------------------------------

if now.view == LENGTH:
    with stage.picture:
        found = ui.compute(compare.lengths, now, says="Both curves over all lengths.", show=draw)
        draw(found)
    with stage.foot:
        ui.machine(now.model, lit=["context"], says=[{"x": f"{compare.CLAUSES} lengths"}])
        ui.caption(
            f"{compare.COUNT} test sentences of each length; shaded: the lengths of training. With "
            f"{compare.CLAUSES} clauses a sentence has {float(found.words[-1]):.0f} words on average."
        )
elif now.view in (ALIGNMENT, SCORE):
    pair = ui.compute(lens.translate, now)
    result = pair.attention
    film = ui.film_of(now, len(result.names), names=result.names)
    with stage.picture:
        left, right = ui.columns([2, 1])
        if now.view == ALIGNMENT:
            with left:
                ui.button_figure(
                    figures.alignment(pair, now.word), key="alignment", share=1.0, film=film,
                    on_press=lambda x, y: ui.moved(now, word=x + 1, step=y),
                    alt="Attention weights: a row for each word that is written, a column for each source "
                    "word; gold links framed",
                )  # fmt: skip
            with right:
                ui.figure(
                    figures.translations(pair), key="words", share=1.0, film=film,
                    alt="The translations word by word: gold, with attention, with a fixed context",
                )  # fmt: skip
        else:
            found = ui.compute(lens.parts, now)
            with left:
                ui.figure(
                    figures.score(found), key="score", share=1.0, film=film,
                    alt="The units of one score: what state and source word add, and their terms in the sum",
                )  # fmt: skip
            with right:
                ui.figure(
                    figures.scores(pair), key="gamma", share=1.0, film=film,
                    alt="Attention weights of all source words at this step",
                )  # fmt: skip
    with stage.foot:
        ui.machine(
            now.model, film=film, lit=[("context", "cell", "logits")] * film.count,
            says=[{"context": f"γ ≤ {float(g):.2f}", "logits": f"p = {float(p):.2f}"}
                  for g, p in zip(result.gamma.amax(1), result.p, strict=True)],
        )  # fmt: skip
        if now.view == ALIGNMENT:
            film.bar(captions=spoken.captions(pair), equations=spoken.equations(pair, now.word))
        else:
            film.bar(
                captions=spoken.score_captions(pair, found), equations=spoken.score_equations(pair, found)
            )
else:
    found = ui.compute(compare.decode, now)
    film = ui.film_of(now, len(found.gold), names=found.gold)
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            ui.figure(
                figures.forced_and_free(found), key="forced", share=1.0, film=film,
                alt="Gold words, and the words written by the decoder forced and free, step by step",
            )  # fmt: skip
        with right:
            ui.figure(
                figures.gold_probabilities(found), key="p", share=1.0, film=film,
                alt="Probability of the gold word at each step, forced and free",
            )  # fmt: skip
    with stage.foot:
        ui.machine(now.forced, film=film, lit=[("context", "cell", "logits")] * film.count,
                   says=[{"logits": f"p = {float(p):.2f}"} for p in found.p[:, 0]])  # fmt: skip
        film.bar(captions=compare.captions(found), equations=compare.equations(found))

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    shown = other if now.view == FORCED and now.decoder == FIXED else name
    load = f"""
            import torch
            from lab import experiments, weights
            from lab.lenses import text

            place = experiments.find({shown!r}).weights
            model, card = weights.load(place).eval(), weights.read_card(place)
            coder = text.tokenizer(card)"""
    if now.view == LENGTH:
        k = found.trained
        ui.notice(
            f"Up to {k} clauses attention has at least {found.percent(k, 0):.0f} % of the sentences all "
            f"right; the fixed context {found.percent(1, 1):.0f} % of those with one clause, "
            f"{found.percent(k, 1):.0f} % of those with {k}: all that a sentence says has to pass through "
            f"{ui.load(now.model).encoder.outputs} numbers. Beyond the lengths of training attention falls "
            f"too, to {found.percent(compare.CLAUSES, 0):.0f} %, and its weights leave the gold links."
        )
        ui.check(
            f"Trained on 1 to {k} clauses, how many sentences of {k + 2} does attention translate all right?",
            compare.SHARES, compare.share(found.percent(k + 2, 0)),
            f"It is {found.percent(k + 2, 0):.0f} % of {compare.COUNT}.",
            wrong=compare.NOT_SO,
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            load
            + f"""
            from datamodules.spanish import AlignedPairs, sentences
            from lab.lenses import translations

            pairs = AlignedPairs(sentences({compare.COUNT}, ({k}, {k}), "test", seed={k}), coder)
            result = translations.exact(model, pairs)  # {k} clauses
            """,
            shows=float(found.exact[k - 1, 0]),
        )
        ui.source(translations.exact, translations.alignment_error, Seq2Seq.translate,
                  references=ROOM.references)  # fmt: skip
    elif now.view == FORCED:
        forced, free = found.nats
        where = (
            "The free decoder writes all gold words, so that both read the same."
            if found.divergence is None
            else f"At step {found.divergence + 1} the free decoder writes "
            f"“{found.words[1][found.divergence]}” for “{found.gold[found.divergence]}”, and "
            "reads it from then on."
        )
        ui.notice(
            f"{where} Forced, the gold words cost {forced:.2f} nats each on average, which is "
            f"−log p(y | x) / T; free, {free:.2f} nats: no likelihood of any translation, and its "
            "exponential is no perplexity. A word that is one place late counts as wrong, though a reader "
            "would not mind."
        )
        places = compare.places(found)
        ui.check(
            "Where does the free decoder first write another word than the gold one?",
            list(places.values()), places[found.divergence],
            "From there on it reads words that are not in the gold translation.",
            wrong={text: compare.not_there(found, t) for t, text in places.items()},
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            load
            + f"""
            from pages.recurrent.translation import compare

            result = compare.decode(model, card, {now.text!r}).nats  # forced, free
            """,
            shows=found.nats,
        )
        ui.source(Seq2Seq.decode, Seq2Seq.log_prob, compare.decode, references=ROOM.references)
    else:
        ui.notice(spoken.notice(pair))
        row, names = result.gamma[film.at], pair.source.names
        top = sorted(row.topk(min(4, len(row))).indices.tolist())
        options = {j: f"{names[j]} ({j + 1})" for j in top}
        best = int(row.argmax())
        ui.check(
            f"Which source word has the largest weight when “{result.names[film.at]}” is written?",
            list(options.values()), options[best], f"Its weight is {float(row[best]):.3f}.",
            wrong={text: f"The weight of {text} is {float(row[j]):.3f}." for j, text in options.items()},
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            load
            + f"""
            source = torch.tensor([coder.encode({pair.source.text!r})])
            target = model.translate(source, length={translations.MOST})
            gamma = model(source, target)[1]
            result = gamma[0, {film.at}].detach()
            """,
            shows=row,
        )
        ui.source(SourceAttention.scores, SoftAttention.forward, FixedContext.remember, Seq2Seq.advance,
                  references=ROOM.references)  # fmt: skip
