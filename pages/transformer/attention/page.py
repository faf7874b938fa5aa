"""Attention: own text, heads as maps and as arcs, one token through the layers, the mask, heads off."""

from functools import partial

from lab import ui
from lab.errors import UserError
from lab.lenses import attention as lens
from lab.lenses import text as texts
from modules.transformer.attention import Attention, attention_weights
from pages.transformer.attention import figures, reasons

EXAMPLES = {
    "Romeo": "ROMEO:\nBut, soft! what light",
    "A name again": "First Citizen:\nSpeak.\n\nFirst Cit",
    "Repetition": "abcde abcde abcde abcd",
    "Nonsense": "zzzz qqqq zzzz qqqq",
}
DOCS = {
    "Code": "for i in range(10):\n    print(i)\n",
    "Prose": "The function returns a list of strings. If the list is empty, the function returns",
    "Long words": "Asynchronous iterators raise StopAsyncIteration; synchronous iterators raise",
}
PUBLISHED, UNMASKED = "gpt-shakespeare", "leakygpt-shakespeare"
BARS = 7  # next tokens that are drawn
WORDS = "Words of several pieces: weights are summed over the keys of a word, averaged over its queries."

stage = ui.stage(
    "Attention", "Every token asks, every earlier token answers; the best matches are listened to most."
)
stage.scenes(
    {
        "First head": ui.scene("Each row is one token's question; nothing lies right of the diagonal."),
        "A name again": ui.scene(
            "The last t listens to the two i before it, and the next letter is nearly certain: i.",
            text=EXAMPLES["A name again"], head=(4, 3),
        ),
        "Borders": ui.scene("This head looks for the last space: the lines of a word meet there.",
                            view="Arcs", head=(4, 2)),
        "Layer by layer": ui.scene("One token through the layers: who it looks at, and what comes next.",
                                   view="Layers", text=EXAMPLES["A name again"]),
        "Mask off": ui.scene("Without the mask weights lie right of the diagonal: tokens see what comes.",
                             causal=False, head=(2, 1)),
        "Leak": ui.scene("Mask off, and later tokens move earlier predictions: all above the line leaks.",
                         view="Leak", causal=False),
        "Layer 1 silent": ui.scene("Layer 1 is off. The next letter: orange now, grey with all heads on.",
                                   **{f"off1-{h}": True for h in range(1, 5)}),
        "Worth of heads": ui.scene("Which head matters for the next letter? Each is switched off alone.",
                                 view="Worth"),
        **({"Leaky model": ui.scene(
            "Trained without a mask, a model reads the next letter off the text itself.",
            model=UNMASKED, causal=False, head=(2, 1), query=20,
        )} if UNMASKED in ui.trained("transformer") else {}),
    }
)  # fmt: skip


@ui.cached
def influence(name, tokens, causal):
    return lens.influence(ui.load(name), tokens, causal)


@ui.cached
def importance(name, tokens, causal):
    return lens.importance(ui.load(name), tokens, causal)


# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    view = ui.choice("View", ["Heads", "Arcs", "Layers", "Leak", "Worth"], key="view")
    name = ui.experiment("Model", family="transformer", key="model", default=PUBLISHED)
    model, card = ui.load(name), ui.card(name)
    coder = texts.tokenizer(card)
    examples = DOCS if texts.corpus(card) == "pydocs" else EXAMPLES
    written = ui.text(
        "Your text", next(iter(examples.values())), key="text", examples=examples, max_chars=2000,
        help=f"The first {model.context} tokens are used: that is all this model sees at once.",
    )  # fmt: skip
    readable, strange = texts.readable(coder, written)
    if strange:
        ui.warning(strange)
    try:
        tokens = texts.read(coder, readable)
    except UserError as error:
        ui.stop(str(error))
    if len(tokens) > model.context:
        ui.caption(f"Only the first {model.context} tokens of your text are shown: the model sees no more.")
        tokens = tokens[: model.context]
    causal = ui.toggle("Causal mask", True, key="causal",
                       help="Off: every token sees the whole text, its own answer included.")  # fmt: skip
    stack = lens.layers(model)
    L, H = len(stack), stack[0].heads
    with ui.expander("Switch heads off"):
        off = []
        for l in range(L):
            for h, column in enumerate(ui.columns(H, gap="small")):
                with column:
                    if ui.toggle(f"{l + 1}.{h + 1}", False, key=f"off{l + 1}-{h + 1}"):
                        off.append((l, h))
pieces = texts.names(coder, tokens)
groups = lens.words([coder.tokens[i] for i in tokens.tolist()])
whole = False
if texts.pieced(coder) and view in ("Heads", "Arcs", "Layers"):
    with stage.rail:
        whole = ui.choice("Rows and columns", ["pieces", "words"], key="units", help=WORDS) == "words"
names = ["".join(pieces[i] for i in word) for word in groups] if whole else pieces
T = len(names)

# --- What the pass used ---------------------------------------------------------------------------

maps = lens.record(model, tokens, causal, off)
weights = lens.merged(maps.weights, groups) if whole else maps.weights
ends = [word[-1] for word in groups] if whole else list(range(T))  # the next token is read here
layer, head = (max(i - 1, 0) for i in ui.selected_cell("head", L + 1, H + 1) or (0, 0))  # from 1 in links
kept = ui.selected_cell("token", T, T)
spoken = (
    lens.word_equations(maps, layer, head, groups, names, kept) if whole
    else lens.equations(maps, layer, head, names, kept)
)  # fmt: skip
after = lens.next_bars(maps, lens.record(model, tokens, causal).logits if off else maps.logits, BARS)
labels = [texts.names(coder, after.ids[end]) for end in ends]

film = ui.film(T, key="query", default=kept[0] if kept else T - 1, seconds=0.6, label="Token")
query = film.at
key = spoken.keys[query]
row = weights[layer, head, query]

# --- Pictures -----------------------------------------------------------------------------------

if view in ("Heads", "Arcs"):
    with stage.picture:
        ui.cells(
            weights, rows=names, columns=names, key="token", maps="head", film=film, off=off, root=True,
            arcs=view == "Arcs",
            titles={"rows": "looks", "columns": "looked at", "down": "layer", "across": "head"},
            beside=ui.Beside("next token", labels, after.now[ends], after.all_heads[ends] if off else None),
            alt=f"Attention weights of {L} layers and {H} heads over {T} tokens, one head large, and the "
            "likeliest next tokens after the row",
        )  # fmt: skip
    with stage.foot:
        film.bar(captions=spoken.captions, equations=spoken.latex)
elif view == "Layers":
    with stage.rail:
        asks = ui.slider("Token", 1, T, film.at + 1, key="asks", help="Or click its column.") - 1
    deep = lens.depths(model, tokens, ends[asks], partial(texts.names, coder), BARS, causal, off)
    layers = ui.film(L, key="layer", seconds=1.0, label="Layer")
    with stage.picture:
        ui.cells(
            weights[:, :, asks].flatten(0, 1), rows=[f"{l + 1}.{h + 1}" for l in range(L) for h in range(H)],
            columns=names, key="layers", film=layers, band=H, marks=[asks] * L, root=True,
            on_press=lambda row, column: {"asks": column + 1, "layer": row // H},
            titles={"rows": "layer.head", "columns": f"looked at by {names[asks]} ({asks + 1})"},
            beside=ui.Beside("read after the layer", [texts.names(coder, ids) for ids in deep.ids], deep.p),
            alt=f"Attention of one token in all {L} layers of {H} heads, and the next token read after each",
        )  # fmt: skip
    with stage.foot:
        layers.bar(captions=deep.captions, equations=deep.latex)
elif view == "Leak":
    moved = influence(name, tokens, causal)
    ahead = float(moved.triu(1).max())
    with stage.picture:
        ui.cells(
            moved, rows=names, columns=names, key="token", staircase=True, scale="probability",
            titles={"rows": "prediction after", "columns": "token replaced"},
            alt="How much each prediction moves when one token is replaced; above the line is a leak",
        )  # fmt: skip
    stage.metrics({"Largest move by a later token": f"{ahead:.3f}",
                   "Loss on this text (nats a token)": f"{lens.nll(maps, tokens):.3f}"})  # fmt: skip
    with stage.foot:
        ui.caption(
            "A leak: predictions see tokens that come after them." if ahead
            else "No leak: exactly 0, no prediction sees its future."
        )  # fmt: skip
else:
    worth = importance(name, tokens, causal)
    with stage.picture:
        ui.figure(
            figures.head_values(worth), key="worth", share=1.0,
            alt="Total variation of the next-token distribution for each head switched off alone",
            data={"layer": [l + 1 for l in range(L) for _ in range(H)],
                  "head": [h + 1 for _ in range(L) for h in range(H)], "total variation": worth.flatten()},
        )  # fmt: skip
    stage.metrics({
        "Off now": ", ".join(f"{l + 1}.{h + 1}" for l, h in off) or "none",
        "Mass that they move": f"{float(lens.distance(after.last_now, after.last_all)):.3f}",
    })  # fmt: skip
    stage.equation(
        r"\mathrm{TV} = \tfrac{1}{2} \sum_v |p(v) - p_{\text{off}}(v)|",
        f"In each cell: the mass of the next token after {pieces[-1]} that moves when one head alone is off.",
    )

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    if view in ("Heads", "Arcs") and not whole:
        story = lens.dot(maps, layer, head, query)
        ui.figure(
            figures.elementwise(story.query, story.keys[key], (names[query], names[key])),
            alt=f"Query of {names[query]}, key of {names[key]} and their product, feature by feature",
            data={"q": story.query, "k": story.keys[key], "q times k": story.products[key]}, key="products",
        )  # fmt: skip
        ui.table(
            {"key": names, "q·k": story.scores, "q·k/√D": story.scaled, "e^(q·k/√D)": story.raised,
             "weight": story.weights},
            alt="The softmax of the chosen row, number by number", key="softmax",
        )  # fmt: skip
    ui.notice(
        "Each row is a distribution: its weights sum to 1, and with the mask nothing lies right of the "
        "diagonal. A weight says where a head listens, not what the model needs: switch the head off to see "
        "that. Take the mask away and later tokens reach earlier predictions."
    )
    if view == "Layers":
        options = {l: f"layer {l + 1}" for l in range(L)}
        ui.check(
            "From which layer on is the favourite next token that of the whole model?",
            list(options.values()), options[deep.settled],
            reasons.settled(deep.settled),
            wrong=reasons.unsettled(deep.settled, L), veils=("picture", "equation"),
        )  # fmt: skip
    else:
        ranking = row.argsort(descending=True, stable=True)[:4].tolist()
        options = {j: f"{names[j]} ({j + 1})" for j in sorted({*ranking, query})}
        ui.check(
            f"Whom does {names[query]} ({query + 1}) listen to most in layer {layer + 1}, head {head + 1}?",
            list(options.values()), options[ranking[0]], f"Its weight is {float(row[ranking[0]]):.3f}.",
            wrong=reasons.unheard(row, options), veils=("picture", "equation"),
        )  # fmt: skip
    words = f"attention.merged(maps.weights, {groups})" if whole else "maps.weights"
    ui.program(
        f"""
        import torch
        from lab import experiments, weights
        from lab.lenses import attention, text

        place = experiments.find({name.partition("/")[0]!r}).weights
        model, coder = weights.load(place), text.tokenizer(weights.read_card(place))
        tokens = torch.tensor(coder.encode({readable!r}))[: model.context]
        maps = attention.record(model, tokens, causal={causal}, off={off})
        weights = {words}
        result = weights[{layer}, {head}, {query}]  # layer, head and token count from 0
        """,
        shows=row,
    )
    ui.source(attention_weights, Attention.forward, lens.record, references=[
        "Vaswani et al. 2017, Attention is all you need, arXiv:1706.03762",
        "Michel et al. 2019, Are sixteen heads really better than one?, arXiv:1905.10650",
        "Vig 2019, A multiscale visualization of attention in the Transformer model, arXiv:1906.05714",
        "Belrose et al. 2023, Eliciting latent predictions with the tuned lens, arXiv:2303.08112",
        "[UDL] §12.2 to §12.5, [GM] §1.6.4",
    ])  # fmt: skip
