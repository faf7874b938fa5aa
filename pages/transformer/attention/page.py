"""Attention: own text, all heads, one head large, one dot product, the mask, heads switched off."""

from lab import ui
from lab.errors import UserError
from lab.lenses import attention as lens
from lab.lenses import text as texts
from modules.transformer.attention import Attention, attention_weights
from pages.transformer.attention import figures

EXAMPLES = {
    "Romeo": "ROMEO:\nBut, soft! what light",
    "A name again": "First Citizen:\nSpeak.\n\nFirst Cit",
    "Repetition": "abcde abcde abcde abcd",
    "Nonsense": "zzzz qqqq zzzz qqqq",
}
DOCS = {
    "Code": "for i in range(10):\n    print(i)\n",
    "Prose": "The function returns a list of strings. If the list is empty, the function returns",
}

ui.header(
    "Attention", "Every token asks, every earlier token answers, and the best matches are listened to most."
)

# --- Controls -----------------------------------------------------------------------------------

name = ui.experiment("Model", family="transformer", key="model", default="gpt-shakespeare")
model, card = ui.load(name), ui.card(name)
coder = texts.tokenizer(card)
examples = DOCS if card["data"]["corpus"] == "pydocs" else EXAMPLES
written = ui.text(
    "Your text", next(iter(examples.values())), key="text", examples=examples, max_chars=2000,
    help=f"The first {model.context} tokens are used: that is all this model sees at once.",
)  # fmt: skip
try:
    tokens = texts.read(coder, written, model.context)
except UserError as error:
    ui.stop(str(error))
names = texts.names(coder, tokens)
if len(coder.encode(written)) > model.context:
    ui.caption(f"The first {model.context} tokens of your text are shown: the model sees no more at once.")

stack = lens.layers(model)
L, H = len(stack), stack[0].heads
causal = ui.toggle(
    "Causal mask", True, key="causal", help="Off: every token sees the whole text, its own answer included."
)
with ui.expander("Switch heads off"):
    off = []
    for l in range(L):
        for h, column in enumerate(ui.columns(H)):
            with column:
                if ui.toggle(f"{l + 1}.{h + 1} off", False, key=f"off{l + 1}-{h + 1}"):
                    off.append((l, h))


@ui.cached
def influence(name, tokens, causal):
    return lens.influence(ui.load(name), tokens, causal)


@ui.cached
def importance(name, tokens, causal):
    return lens.importance(ui.load(name), tokens, causal)


# --- Pictures -----------------------------------------------------------------------------------

maps = lens.record(model, tokens, causal, off)
place = ui.selected_cell("head", L + 1, H + 1)  # counted from 1
layer, head = (max(i - 1, 0) for i in place) if place else (0, 0)
weights = maps.weights[layer, head]
T = len(tokens)
query, key = ui.selected_cell("token", T, T) or (T - 1, int(weights[T - 1].argmax()))

left, right = ui.columns([2, 3])
with left:
    ui.markdown(f"##### All heads: click one (now layer {layer + 1}, head {head + 1})")
    ui.clickable(
        figures.head_grid(maps.weights, (layer, head), off), key="head", mark=False,
        alt=f"Attention maps of all {L} layers and {H} heads; layer {layer + 1}, head {head + 1} is chosen",
    )  # fmt: skip
with right:
    ui.markdown("##### This head: click a cell to hold its row")
    ui.clickable(
        figures.head_map(weights, names, (query, key)), key="token",
        alt=f"Attention weights of layer {layer + 1}, head {head + 1} over {len(names)} tokens",
        data={
            "query": [n for n in names for _ in names],
            "key": names * len(names),
            "weight": weights.flatten(),
        },
    )  # fmt: skip

story = lens.dot(maps, layer, head, query)
ui.figure(
    figures.selected_row(story.weights, names, query, key),
    alt=f"Weights of the query {names[query]} over all keys", data={"key": names, "weight": story.weights},
)  # fmt: skip

one, mask, ablation = ui.tabs(["q·k, number by number", "Mask and leak", "Heads switched off"])
with one:
    ui.figure(
        figures.elementwise(story.query, story.keys[key], (names[query], names[key])),
        alt=f"Query of {names[query]}, key of {names[key]} and their product, feature by feature",
        data={"q": story.query, "k": story.keys[key], "q times k": story.products[key]},
    )
    ui.table(
        {
            "key": names,
            "q·k": story.scores,
            "q·k/√D": story.scaled,
            "e^(q·k/√D)": story.raised,
            "weight": story.weights,
        },
        alt="The softmax of the selected row, number by number",
        key="softmax",
    )
with mask:
    moved = influence(name, tokens[:40], causal)
    ahead = float(moved.triu(1).max())
    ui.figure(
        figures.influence(moved, names[:40]),
        alt="How much each prediction moves when one token is replaced; above the diagonal is a leak",
        data={
            "prediction after": [n for n in names[:40] for _ in names[:40]],
            "token replaced": names[:40] * len(names[:40]),
            "total variation": moved.flatten(),
        },
    )
    ui.caption(
        f"Largest move of a prediction by a later token: {ahead:.3f} "
        f"({'a leak' if ahead else 'exactly 0: no prediction sees its future'}). "
        f"Loss on this text: {lens.nll(maps, tokens):.3f} nats per token."
    )
with ablation:
    base = lens.next_token(model, tokens, (), causal)
    now = lens.next_token(model, tokens, off, causal)
    top = (base + now).topk(min(14, len(base))).indices
    shown = texts.names(coder, top)
    ui.figure(
        figures.next_bars(shown, now[top], base[top] if off else None),
        alt="Probabilities of the next token, with heads switched off and with all heads",
        data={"token": shown, "now": now[top], "all heads": base[top]},
    )
    ui.caption(
        f"Heads off: {', '.join(f'{l + 1}.{h + 1}' for l, h in off) or 'none'}. "
        f"Mass that moved (total variation): {float(lens.distance(now, base)):.3f}."
    )
    ui.markdown("How far the bars move when one head alone is off:")
    worth = importance(name, tokens, causal)
    ui.figure(
        figures.head_values(worth),
        alt="Total variation of the next-token distribution for each head switched off",
        data={
            "layer": [l + 1 for l in range(L) for _ in range(H)],
            "head": [h + 1 for _ in range(L) for h in range(H)],
            "total variation": worth.flatten(),
        },
    )  # fmt: skip

# --- Words --------------------------------------------------------------------------------------

ui.equation(
    lens.equation(story, key),
    note=f"q is the query of {names[query]} (token {query + 1}), k the key of {names[key]} "
    f"(token {key + 1}); the sum runs over {'the tokens up to the query' if causal else 'all tokens'}. "
    f"Each q·k is the sum of its {len(story.query)} products.",
)
ui.notice(
    "Each row is a distribution: its weights sum to 1, and with the mask nothing lies right of the diagonal. "
    "A weight says where a head listens, not what the model needs: switch the head off to see that. "
    "Take the mask away and later tokens reach earlier predictions; a model *trained* so reads off its "
    "answers (its loss is near 0) and cannot write."
)
unmasked = "leakygpt-shakespeare"
ui.presets(
    {
        "First head": {"head": (1.0, 1.0), "causal": True},
        "Last layer": {"head": (1.0, float(L)), "causal": True},
        "Mask off": {"causal": False},
        "Layer 1 without heads": {f"off1-{h + 1}": True for h in range(H)},
        "All heads on": {f"off{l + 1}-{h + 1}": False for l in range(L) for h in range(H)},
        **(
            {"Trained without a mask": {"model": unmasked, "text": EXAMPLES["Romeo"], "causal": False}}
            if unmasked in ui.trained("transformer")
            else {}
        ),
    }
)
ranking = story.weights.argsort(descending=True, stable=True)[:4].tolist()
options = {j: f"{names[j]} (token {j + 1})" for j in sorted({*ranking, query})}
ui.check(
    f"Whom does {names[query]} (token {query + 1}) listen to most in layer {layer + 1}, head {head + 1}?",
    list(options.values()),
    options[ranking[0]],
    f"Its weight is {story.weights[ranking[0]]:.3f}.",
)
ui.source(
    attention_weights,
    Attention.forward,
    lens.record,
    references=[
        "Vaswani et al. 2017, Attention is all you need, arXiv:1706.03762",
        "Michel et al. 2019, Are sixteen heads really better than one?, arXiv:1905.10650",
        "[UDL] §12.2 to §12.5, [GM] §1.6.4",
    ],
)
