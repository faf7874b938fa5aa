"""Attention: own text, heads as maps and as arcs, one token through the layers, the mask, heads off."""

from lab import ui
from lab.lenses import attention
from modules.transformer.attention import Attention, attention_weights
from modules.transformer.mamba import SelectiveSSM
from pages.transformer.attention import bounds, figures, lens, reasons, subjects, values
from pages.transformer.attention.room import (
    ARCS,
    HEAD,
    HEADS,
    LAYERS,
    LEAK,
    PIECES,
    ROOM,
    TOKEN,
    VALUES,
    WORDS,
)

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
    text = ui.compute(subjects.read, now)
    if text.says:
        ui.warning(text.says)
    if text.cut:
        ui.caption(
            f"Only the first {len(text.tokens)} tokens of your text are shown: the model sees no more."
        )
model = ui.load(now.model)
gpt, translator = bounds.is_gpt(model), bounds.is_translator(model)
result = ui.compute(lens.forward_pass, now)
hidden = result.hidden is not None  # Mamba
names, columns, T = text.names, text.columns, len(text.names)
L, H = result.weights.shape[:2]
layer, head = (max(i - 1, 0) for i in ui.cell(now.head, L + 1, H + 1) or (0, 0))  # from 1 in links
if now.view == VALUES:
    layer, head = (int(number) - 1 for number in now.values_of.split("."))
kept = ui.cell(now.token, T, len(columns))
spoken = lens.spoken(result, text, layer, head, kept, now.units)

# --- Pictures -----------------------------------------------------------------------------------

if now.view == LAYERS:
    query, film = now.asks - 1, ui.film_of(now, L)
else:
    film = ui.film_of(now, T)
    query = film.at
row = result.weights[layer, head, query]
if now.view in (HEADS, ARCS):
    beside = None
    if result.after is not None:
        beside = ui.Beside(values.answer(model), result.labels, result.after.now[text.ends],
                           result.after.all_heads[text.ends] if now.off else None)  # fmt: skip
    maps = "Shares of |M| of the state space" if hidden else "Attention weights"
    with stage.picture:
        ui.cells(
            result.weights, rows=names, columns=columns, key=TOKEN, maps=HEAD, film=film, root=True,
            off=lens.from_zero(now.off), arcs=now.view == ARCS,
            titles={"rows": "output" if hidden else "query", "columns": "input" if hidden else "key",
                    "down": "layer", "across": "" if hidden else "head"},
            beside=beside,
            alt=f"{maps} of {L} layers and {H} heads over {T} tokens, one head large, and the "
            "likeliest next tokens after the row",
        )  # fmt: skip
    with stage.foot:
        ui.machine(now.model, film=film, lit=["attention"] * T, says=lens.numbers(result, text, layer))
        film.bar(captions=spoken.captions, equations=spoken.latex)
elif now.view == LAYERS:
    deep = ui.compute(lens.deep, now)
    likeliest = [lens.named(ui.card(now.model), ids) for ids in deep.ids]
    with stage.picture:
        ui.cells(
            result.weights[:, :, query].flatten(0, 1), columns=names, key="layers", film=film, band=H,
            rows=[f"{l + 1}.{h + 1}" for l in range(L) for h in range(H)], marks=[query] * L, root=True,
            on_press=lambda row, column: ui.moved(now, asks=column + 1, layer=row // H),
            titles={"rows": "layer.head", "columns": f"key, for the query of {names[query]} ({query + 1})"},
            beside=ui.Beside("next token, logit lens", likeliest, deep.p),
            alt=f"Attention of one token in all {L} layers of {H} heads, and the next token read after each",
        )  # fmt: skip
    with stage.foot:
        ui.machine(now.model, film=film, lit=["attention"] * L, says=lens.numbers_of_blocks(deep))
        film.bar(captions=deep.captions, equations=deep.latex)
elif now.view == VALUES:
    taken = ui.compute(values.taken, now)
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(
                figures.weighted_values(taken.terms, taken.sums, taken.labels,
                                        "channel" if hidden else "feature of the head"),
                key="values", film=film, share=1.0,
                alt="The values of largest attention weight times that weight, feature by feature, and the "
                "sum over all tokens",
            )  # fmt: skip
        with right:
            if taken.router is not None:
                ui.figure(
                    figures.router(taken.router.w, taken.router.p), key="router", film=film, share=1.0,
                    alt="Weights of the experts that the router chooses, beside the probabilities of all",
                )  # fmt: skip
            else:
                ui.figure(
                    figures.added(taken.norms, taken.parts, taken.own), key="added", film=film, share=1.0,
                    alt="Norm of what the embedding, and the parts of each block, add to the residual "
                    "stream of the token",
                )  # fmt: skip
    with stage.foot:
        lit = [("attention", "mlp") if "feedforward" in taken.own else ("attention",)] * T
        ui.machine(now.model, film=film, lit=lit, says=values.numbers_of_parts(taken))
        film.bar(captions=taken.captions, equations=taken.latex)
elif now.view == LEAK:
    moved = ui.compute(lens.influence, now)
    ahead = float(moved.triu(1).max())
    with stage.picture:
        ui.cells(
            moved, rows=names, columns=names, key=TOKEN, staircase=True, scale="probability",
            titles={"rows": "prediction after", "columns": "token replaced"},
            alt="How much each prediction moves when one token is replaced; above the line is a leak",
        )  # fmt: skip
    loss = f"loss {attention.nll(result.maps, text.tokens):.3f}"
    with stage.foot:
        ui.machine(now.model, lit=["attention"], says=[{"tokens": str(T), "logits": loss}])
        ui.caption(
            f"A leak: a later token moves an earlier prediction by up to {ahead:.3f}."
            if ahead
            else "No leak: exactly 0, no prediction sees its future."
        )
else:
    with stage.picture:
        ui.figure(
            figures.head_values(ui.compute(lens.importance, now)),
            key="worth",
            share=1.0,
            alt="Total variation of the next-token distribution for each head switched off alone",
        )
    mass = float(attention.distance(result.after.last_now, result.after.last_all))
    says = {"attention": f"{len(now.off)} off", "logits": f"TV = {mass:.3f}"}
    with stage.foot:
        ui.machine(now.model, lit=["attention"], says=[says])
    stage.equation(
        r"\mathrm{TV} = \tfrac{1}{2} \sum_v |p(v) - p_{\text{off}}(v)|",
        f"In each cell: the mass of the next token after {text.pieces[-1]} that moves when one head alone is "
        "off.",
    )

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    if result.maps is not None and now.view in (HEADS, ARCS) and now.units == PIECES:
        key = spoken.keys[query]
        story = attention.dot(result.maps, layer, head, query)
        ui.figure(
            figures.elementwise(story.query, story.keys[key], (names[query], columns[key])),
            key="products",
            alt=f"Query of {names[query]}, key of {columns[key]} and their product, feature by feature",
        )
        ui.table(
            {"key": columns, "q·k": story.scores, "q·k/√D": story.scaled, "e^(q·k/√D)": story.raised,
             "weight": story.weights},
            alt="The softmax of the chosen row, number by number", key="softmax",
        )  # fmt: skip
    ui.notice(reasons.about(model, now.stack))
    if translator:
        ui.page_link(next(page for page in ui.pages() if page.url == "transformer-translator"))
    if now.view == LAYERS:
        options = {l: f"layer {l + 1}" for l in range(L)}
        ui.check(
            "From which layer on is the likeliest next token that of the whole model?",
            list(options.values()),
            options[deep.settled],
            reasons.settled(deep.settled),
            wrong=reasons.unsettled(deep.settled, L),
            veils=("picture", "equation"),
        )
    else:
        ranking = row.argsort(descending=True, stable=True)[:4].tolist()
        places = sorted({*ranking, query} if query < len(columns) else set(ranking))
        options = {j: f"{columns[j]} ({j + 1})" for j in places}
        which = f"layer {layer + 1}" if hidden else f"layer {layer + 1}, head {head + 1}"
        ui.check(
            f"In {which}, to which token does {names[query]} ({query + 1}) give the largest share?"
            if hidden
            else f"In {which}, to which token does {names[query]} ({query + 1}) attend most?",
            list(options.values()), options[ranking[0]], f"Its weight is {float(row[ranking[0]]):.3f}.",
            wrong=reasons.unheard(row, options, hidden), veils=("picture", "equation"),
        )  # fmt: skip
    if gpt:
        words = f"attention.merged(maps.weights, {text.groups})" if now.units == WORDS else "maps.weights"
        ui.program(
            f"""
            import torch
            from lab import experiments, weights
            from lab.lenses import attention, text

            place = experiments.find({now.model.partition("/")[0]!r}).weights
            model, coder = weights.load(place), text.tokenizer(weights.read_card(place))
            tokens = torch.tensor(coder.encode({text.readable!r}))[: {len(text.tokens)}]
            maps = attention.record(model, tokens, causal={now.causal}, off={lens.from_zero(now.off)})
            weights = {words}
            result = weights[{layer}, {head}, {query}]  # layer, head and token count from 0
            """,
            shows=row,
        )
    else:
        ui.program(
            f"""
            from lab import experiments, weights
            from pages.transformer.attention import lens

            place = {ui.spelled(now.model)}
            model, card = weights.load(place), weights.read_card(place)
            found = lens.forward_pass(model, card, {now.text!r}, "", True, {now.off}, {now.stack!r})
            result = found.weights[{layer}, {head}, {query}]  # layer, head and token count from 0
            """,
            shows=row,
        )
    ways = (SelectiveSSM.hidden_attention,) if hidden else (attention_weights, Attention.forward)
    ui.source(*ways, attention.record_pass, references=ROOM.references)
