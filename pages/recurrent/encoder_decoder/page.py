"""Encoder-decoder: a sentence goes through one vector; where these vectors lie, what is still read from them,
and what other poolings would keep."""

from lab import ui
from modules.recurrent.context import FixedContext
from modules.recurrent.seq2seq import Seq2Seq
from pages.recurrent.encoder_decoder import contexts, figures, lens, probes
from pages.recurrent.encoder_decoder.room import CONTEXTS, FUNNEL, KEPT, NOUN, ROOM

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
    source = ui.compute(lens.read, now)
    if source.says:
        ui.caption(source.says)
name, S = now.model.partition("/")[0], len(source.names)

# --- Pictures -----------------------------------------------------------------------------------

if now.view == FUNNEL:
    result = ui.compute(lens.write, now)
    film = ui.film_of(now, len(result.names), names=result.names)
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            ui.figure(
                figures.encoder(result), key="encoder", share=1.0, film=film,
                alt="States of the encoder at all source words, and their two ends in the context c",
            )  # fmt: skip
        with right:
            ui.figure(
                figures.decoder(result), key="decoder", share=1.0, film=film,
                alt="States of the decoder with the words that it writes; p of these and of the gold words",
                data={"written": result.names, "p": result.p.tolist()},
            )  # fmt: skip
    with stage.foot:
        ui.machine(
            now.model, film=film, lit=[("context", "cell", "logits")] * film.count,
            says=[{"context": f"{len(result.c)} numbers", "logits": f"p = {p:.2f}"}
                  for p in result.p.tolist()],
        )  # fmt: skip
        film.bar(captions=lens.captions(result), equations=lens.equations(result))
elif now.view == CONTEXTS:
    cloud, own = ui.compute(contexts.cloud, now), ui.compute(contexts.growing, now)
    film = ui.film_of(now, len(own.words), names=[f"{len(words)} words" for words in own.words])
    with stage.picture:
        left, right = ui.columns([3, 1])
        with left:
            ui.figure(
                figures.plane(cloud, own, now.mark), key="plane", share=1.0, film=film,
                alt=f"Contexts of {len(cloud.english)} sentences by their first two principal components, "
                f"coloured by {now.mark}, and the own sentence clause by clause",
                data={"sentence": [" ".join(words) for words in cloud.english],
                      "first": cloud.at[:, 0].tolist(), "second": cloud.at[:, 1].tolist()},
            )  # fmt: skip
        with right:
            ui.figure(
                figures.pair(cloud, own), key="pair", share=1.0, film=film,
                alt="All components of c, of the own sentence and of the one with the nearest context",
            )  # fmt: skip
    with stage.foot:
        ui.machine(now.model, film=film, lit=[("encoder", "context")] * film.count,
                   says=[{"x": f"{len(words)} words", "context": f"{own.c.shape[1]} numbers"}
                         for words in own.words])  # fmt: skip
        film.bar(captions=contexts.captions(cloud, own), equations=contexts.equations(cloud, own))
elif now.view == KEPT:
    kept = ui.compute(probes.kept, now)
    film = ui.film_of(now, len(kept.gold), names=[f"clause {k + 1}" for k in range(len(kept.gold))])
    with stage.picture:
        left, right = ui.columns([3, 2])
        with left:
            ui.figure(
                figures.accuracy(kept, now.kind), key="accuracy", share=1.0, film=film,
                alt="Share of test sentences whose words a linear probe reads rightly from c, by clause",
            )  # fmt: skip
        with right:
            ui.figure(
                figures.words(kept), key="words", share=1.0, film=film,
                alt="Words that the probes read from c of the own sentence, the right one below a wrong one",
            )  # fmt: skip
    with stage.foot:
        ui.machine(now.model, film=film, lit=["context"] * film.count,
                   says=[{"context": f"{p:.0%} read"} for p in kept.accuracy(now.kind)])  # fmt: skip
        film.bar(captions=probes.captions(kept, now.kind), equations=probes.equations(kept, now.kind))
else:
    pooled = ui.compute(lens.pool, now)
    film = ui.film_of(now, len(lens.SHOWN), names=list(lens.SHOWN))
    with stage.picture:
        left, right = ui.columns([3, 1])
        with left:
            ui.figure(
                figures.shares(pooled), key="shares", share=1.0, film=film,
                alt="Share of each source word in the context, a row a pooling",
            )  # fmt: skip
        with right:
            ui.figure(
                figures.contexts(pooled), key="contexts", share=1.0, film=film,
                alt="The context of each pooling, a column each, of the same source states",
            )  # fmt: skip
    with stage.foot:
        ui.machine(now.model, film=film, lit=[("encoder", "context")] * film.count,
                   says=[{"context": each} for each in lens.SHOWN])  # fmt: skip
        film.bar(captions=lens.pooled_captions(pooled), equations=lens.pooled_equations(pooled))

# --- Words --------------------------------------------------------------------------------------

load = f"""
            from lab import experiments, weights

            place = experiments.find({name!r}).weights
            model, card = weights.load(place).eval(), weights.read_card(place)"""
with stage.below:
    if now.view == FUNNEL:
        wrong = [t for t, each in enumerate(result.differs) if each]
        judged = (
            "What gold would be is not known here."
            if result.gold is None
            else f"{len(wrong)} of {len(result.names)} words differ from the gold translation at their place."
        )
        ui.notice(
            f"{judged} Framed are the two states that have read all {S} words, one of either way: they are "
            f"c, {len(result.c)} numbers, whatever S is, and c enters every step of the decoder. The states "
            "between them are not seen by it. What is left of a long sentence is its grammar and its ends: "
            "the decoder goes on in words that are likely beside each other. How accuracy falls with the "
            "length, with and without attention, is the scene Length of the next page:"
        )
        ui.page_link(next(page for page in ui.pages() if page.url == "recurrent-translation"))
        sizes = [str(len(result.c) * n) for n in (1, 2, S)]
        ui.check(
            "How many numbers would c have for a sentence that is twice as long?",
            list(dict.fromkeys(sizes)), sizes[0], "Two states, one of either way: c has no place for words.",
            wrong={sizes[1]: "c is not longer for a longer sentence: it is two states, not all.",
                   sizes[2]: "All states z together have as many: attention keeps them."},
        )  # fmt: skip
        ui.program(
            load
            + f"""
            from pages.recurrent.encoder_decoder import lens

            result = lens.write(model, card, {now.text!r}).p
            """,
            shows=result.p,
        )
        ui.source(Seq2Seq.read, FixedContext.remember, lens.write, references=ROOM.references)
    elif now.view == CONTEXTS:
        near = cloud.english[contexts.nearest(cloud, own.c[-1])]
        ui.notice(
            f"{len(cloud.english)} test sentences, {contexts.COUNT} of each number of clauses; "
            f"{int(cloud.right.sum())} are translated all right. Two components have "
            f"{float(cloud.explained.sum()):.0%} of the variance: what is not seen in this plane may well be "
            "in c. Two sentences of one verb, or of one noun, are no neighbours here; a probe reads that "
            "verb all the same. The star is the own sentence up to its first clause, its second, and so on; "
            f"nearest to the whole of it is “{' '.join(near)}”"
        )
        shares = contexts.by_length(cloud)
        ui.check(
            "Which part of the variance along the first component is that of the number of clauses?",
            contexts.PARTS, contexts.part(shares), f"It is {shares:.0%}.",
            wrong={
                contexts.PARTS[0]: "Then all colours would be mixed from left to right.",
                contexts.PARTS[1]: "Then each colour would reach over half of the axis.",
                contexts.PARTS[2]: "Then the colours would follow one another from left to right.",
            },
            veils=("equation",),
        )  # fmt: skip
        ui.program(
            load
            + """
            from pages.recurrent.encoder_decoder import contexts

            result = contexts.cloud(model, card).explained
            """,
            shows=cloud.explained,
        )
        ui.source(contexts.cloud, FixedContext.remember, references=ROOM.references)
    elif now.view == KEPT:
        nouns = kept.accuracy(NOUN)
        least = min(range(len(nouns)), key=nouns.__getitem__)
        ui.notice(
            f"Probes are fitted to {probes.TRAINED:,} sentences of {len(nouns)} clauses and judged on "
            f"{probes.JUDGED} test sentences. From c the noun of clause {least + 1} is read rightly in "
            f"{nouns[least]:.0%} of them; from the state z at the noun itself in "
            f"{kept.at_noun[least].accuracy:.0%}: the encoder knew it, and the way to the ends has lost it. "
            "What a linear probe does not read might still be there in another form; what it reads need not "
            "be used by the decoder. In the table a word in italics is the right one."
        )
        options = [f"clause {k + 1}" for k in range(len(nouns))]
        if len(options) > 1:
            ui.check(
                "Of which clause is the noun read from c least often?",
                options, options[least], f"In {nouns[least]:.0%} of the sentences.",
                wrong={text: f"It is read in {p:.0%}." for text, p in zip(options, nouns, strict=True)},
                veils=("picture", "equation"),
            )  # fmt: skip
        ui.program(
            load
            + f"""
            from pages.recurrent.encoder_decoder import probes

            result = probes.kept(model, card, {now.text!r}).accuracy({now.kind!r})
            """,
            shows=kept.accuracy(now.kind),
        )
        ui.source(probes.ridge, probes.probe, probes.fitted, references=ROOM.references)
    else:
        ui.notice(
            "All poolings read the same states; this model was trained with both ends, so that the others "
            "are seen here without a decoder that could use them. γ is the share of a word in c: of the "
            "ends each half of c is one state, and of the maximum it is the share of components that are "
            f"largest at that word. A single end has half a state that has read one word of {S}. The mean "
            "is attention with the same weights at every step."
        )
        options = list(dict.fromkeys([f"1 / {S}", "1 / 2", "1"]))
        ui.check(
            f"Which share has each of {S} words in the mean?", options, options[0],
            f"All are alike, and sum to 1: it is {1 / S:.3f}.",
            wrong={"1 / 2": "That is the share of the first and of the last word in both ends.",
                   "1": "That is the share of the last word, where c is the last state."},
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            load
            + f"""
            from pages.recurrent.encoder_decoder import lens

            result = lens.pool(model, card, {now.text!r}).gamma[{film.at}]  # {lens.SHOWN[film.at]}
            """,
            shows=pooled.gamma[film.at],
        )
        ui.source(FixedContext.shares, FixedContext.remember, references=ROOM.references)
