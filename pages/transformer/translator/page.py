"""Translator: attention of all heads while a translation is written, its search, and what a step costs."""

from lab import ui
from lab.figures import beam_trees
from lab.figures import tokens as counts
from lab.lenses import attention
from modules.language.beam import beam_trace
from modules.transformer.attention import Attention, KVCache
from modules.transformer.translator import Translator, TranslatorDecoder
from pages.transformer.translator import figures, lens, spoken, work
from pages.transformer.translator.room import (
    ALIGNMENT,
    ATTENTION,
    CROSS,
    DECODER,
    ENCODER,
    HEAD,
    ROOM,
    SEARCH,
    TOKEN,
)

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
    found = ui.compute(lens.search, now)
    for said in (found.source.says, lens.says(now.prefix, ui.card(now.model))):
        if said:
            ui.caption(said)
maps = now.maps if now.view == ATTENTION else CROSS

# --- Pictures -----------------------------------------------------------------------------------

if now.view == ATTENTION:
    seen = ui.compute(lens.look, now)
    cached, _ = ui.compute(work.both_ways, now)
    (L, H), T, S = seen.maps.weights.shape[:2], len(seen.rows), len(seen.columns)
    layer, head = (max(i - 1, 0) for i in ui.cell(now.head, L + 1, H + 1) or (0, 0))  # from 1 in links
    kept = ui.cell(now.token, T, S)
    film = ui.film_of(now, T)
    titles = {
        CROSS: {"rows": "written", "columns": "source"},
        DECODER: {"rows": "written", "columns": "read by the decoder"},
        ENCODER: {"rows": "query", "columns": "key"},
    }[maps]
    beside = None
    if seen.bars is not None:
        before = seen.bars.all_heads if now.off else None
        beside = ui.Beside("next token", seen.labels, seen.bars.now, before)
    with stage.picture:
        ui.cells(
            seen.maps.weights, rows=seen.rows, columns=seen.columns, key=TOKEN, maps=HEAD, film=film,
            root=True, grows=maps != ENCODER, off=lens.from_zero(now.off), beside=beside,
            titles={**titles, "down": "layer", "across": "head"},
            alt=f"Attention weights of {L} layers and {H} heads, one head large: {T} rows, {S} columns",
        )  # fmt: skip
    with stage.foot:
        ui.machine(
            now.model, film=film, lit=["attention" if maps == ENCODER else ("attention", "logits")] * T,
            says=spoken.numbers(found, seen, maps, cached),
        )  # fmt: skip
        film.bar(
            captions=spoken.captions(found, seen, maps, layer, head, cached),
            equations=spoken.equations(seen, layer, head, kept),
        )
elif now.view == SEARCH:
    film = ui.film_of(now, len(found.trace))
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            fig = figures.tree(found)
            ui.figure(
                fig, key="tree", share=1.0, film=film, frames=beam_trees.growing(fig, film.count, "y"),
                alt="The tree of the search, a row for each word: beginnings kept, cut and finished",
            )  # fmt: skip
        with right:
            ui.figure(
                figures.sums(found), key="sums", share=1.0, film=film,
                alt="log p of greedy decoding and of the beam's translation, token by token",
            )  # fmt: skip
    with stage.foot:
        rows = [len(step.values["hypotheses"]) for step in found.trace]
        ui.machine(
            now.model, film=film, lit=[("attention", "logits")] * film.count,
            says=[{"tokens": f"{n} row" + "s" * (n > 1)} for n in rows],
        )  # fmt: skip
        film.bar(captions=spoken.search_captions(found), equations=spoken.search_equations(found))
elif now.view == ALIGNMENT:
    one = ui.compute(work.aligned, now)
    with stage.picture:
        title, own = f"AER, {work.SENTENCES} test sentences", "Words at a gold link, your sentence"
        pictures = [("errors", figures.heads(one.errors, title), "Alignment error rate of each head")]
        if one.own is not None:
            said = "Share of words whose largest weight is at a gold link, for each head"
            pictures.append(("own", figures.heads(one.own, own), said))
        ui.figures(*pictures)
    with stage.foot:
        ui.machine(now.model, lit=["attention"], says=[{"tokens": f"{work.SENTENCES} pairs"}])
    l, h = divmod(int(one.errors.argmin()), one.errors.shape[1])
    stage.equation(
        spoken.error_equation(one),
        f"Of head {l + 1}.{h + 1}: links A are its largest weights; S are sure and P possible gold links.",
    )
else:
    cached, anew = ui.compute(work.both_ways, now)
    with stage.picture:
        ui.figures(
            ("cells", counts.work(cached.sums, anew.sums, "attention weights"),
             "Attention weights computed at each step, with the caches and without"),
            ("tokens", counts.work([a + b for a, b in zip(cached.encoded, cached.decoded, strict=True)],
                                   [a + b for a, b in zip(anew.encoded, anew.decoded, strict=True)],
                                   "tokens through a stack"),
             "Tokens that pass encoder or decoder at each step, with the caches and without"),
        )  # fmt: skip
    with stage.foot:
        less = sum(anew.sums) / sum(cached.sums)
        ui.machine(now.model, lit=["attention"], says=[{"attention": f"{less:.1f} × fewer"}])
    stage.equation(
        spoken.work_equation(cached, anew),
        f"Step {len(cached.sums)}, the last: one row of the decoder, or encoder and decoder all anew.",
    )

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    ui.notice(
        f"Translation: “{found.read(found.tokens)}”, log p = {float(found.log_p.sum()):.3f}. "
        f"{spoken.compared(found)} Rows are read with the token before them: the weights of a row are "
        "there before its word is written. A weight says where a head attends; that the word depends on it "
        "shows only when the head is switched off."
    )  # fmt: skip
    load = f"""
        from lab import experiments, weights
        from pages.transformer.translator import lens, work

        place = {ui.spelled(now.model)}
        model, card = weights.load(place).eval(), weights.read_card(place)
        """
    given = f"model, card, {now.text!r}, {now.prefix!r}, {now.beam}, {maps!r}"
    if now.view == ATTENTION:
        row = seen.maps.weights[layer, head, film.at]
        top = sorted(row.topk(min(4, S)).indices.tolist())
        options = {j: f"{seen.columns[j]} ({j + 1})" for j in top}
        best = int(row.argmax())
        ui.check(
            f"To which token does head {layer + 1}.{head + 1} attend most for "
            f"{spoken.quoted(seen.rows[film.at])} ({film.at + 1})?",
            list(options.values()), options[best], f"Its weight is {float(row[best]):.3f}.",
            wrong=spoken.wrong(seen, row, options), veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            load
            + f"""seen = lens.look({given}, {now.pads}, {now.off})
        result = seen.maps.weights[{layer}, {head}, {film.at}]
        """,
            shows=row,
        )
        ui.source(attention.record_pass, Attention.forward, TranslatorDecoder, references=ROOM.references)
    elif now.view == ALIGNMENT:
        ui.check(
            "Was the model told during training which source word a target word comes from?",
            ["yes", "no"], "no", "It saw pairs of sentences; links came of predicting the next word.",
            wrong={"yes": "Gold links are used here alone, to measure."}, veils=(),
        )  # fmt: skip
        ui.program(
            load + f"result = work.aligned(model, card, {now.text!r}).errors\n        ", shows=one.errors
        )
        ui.source(work.aligned, references=ROOM.references)
    elif now.view == SEARCH:
        same = found.tokens == found.greedy
        ui.check(
            f"Does greedy decoding write the sentence that B = {now.beam} finds?",
            ["yes", "no"], "yes" if same else "no", spoken.compared(found),
            wrong={"yes": "Their sums of log p differ.", "no": "Their tokens are the same."},
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(load + f"result = lens.search({given}, ()).log_p\n        ", shows=found.log_p)
        ui.source(beam_trace, TranslatorDecoder, references=ROOM.references)
    else:
        ui.check(
            f"How many of the {len(found.source.ids)} source tokens does the encoder read at step 2?",
            ["0", "1", f"{len(found.source.ids)}"], "0", "Its keys and values of step 1 are kept.",
            wrong={"1": "The decoder reads one new token; the encoder none.",
                   f"{len(found.source.ids)}": "So it would be without keeping its output."},
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(load + f"result = work.both_ways({given}, ())[0].sums\n        ", shows=cached.sums)
        ui.source(Translator.decode, TranslatorDecoder, KVCache, references=ROOM.references)
