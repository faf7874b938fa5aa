"""word2vec live: a window slides, the gradient moves the vectors, the loss nears its floor."""

from lab import ui
from lab.errors import UserError
from lab.figures import basic
from lab.figures import word_vectors as figures
from modules.language.word2vec import CBOW, SkipGram
from pages.language.word2vec import lens

TEXTS = {
    "Coffee": "I drank hot coffee this morning. She drank hot tea this morning. He drank cold tea today.",
    "Cats": "the cat sat on the mat the dog sat on the rug the cat chased the dog the dog chased the cat",
    "One sentence": "I drank hot coffee this morning",
}
SIZES = (1, 2, 4, 8, 16)

ui.header(
    "word2vec live",
    "A window slides over the text; each place pulls the given vectors towards what came.",
    lenses=("latent",),
)

# --- Controls -----------------------------------------------------------------------------------

text = ui.text("Text", TEXTS["Coffee"], key="text", examples=TEXTS, max_chars=400)
first, second, third, fourth = ui.columns(4)
with first:
    method = ui.choice("Method", ["skip-gram", "CBOW"], key="method")
with second:
    k = ui.slider("Words on each side k", 1, 4, 2, key="k")
with third:
    d = ui.slider("Dimensions d", 2, 16, 2, key="d")
with fourth:
    rate = ui.slider("Learning rate", 0.05, 2.0, 0.5, key="rate", step=0.05)


@ui.cached
def slid(text, k, d, rate, method):
    return lens.slide(text, k, d, rate, method)


@ui.cached
def passes(text, k, d, rate, method):
    return lens.passes(text, k, d, rate, method)


@ui.cached
def by_size(text, k, method):
    return lens.by_size(text, k, method, SIZES)


try:
    trace = slid(text, k, d, rate, method)
except UserError as error:
    ui.stop(str(error))
result = trace.result
floor = result["floor"]

# --- Pictures -----------------------------------------------------------------------------------

view = ui.choice("Look at", ["One window", "Loss and its floor"], key="view")
step = ui.stepper(len(trace), key="step") if view == "One window" else 0
now = trace[step].values
if view == "One window":
    ui.figure(
        figures.strip(result["words"], now["given"], now["predicted"]),
        alt="The text with the given and the predicted words", data={"word": result["words"]},
    )  # fmt: skip
    ui.caption(trace[step].caption)
    names = [result["words"][n] for n in now["given"]]
    label = f"v of {names[0]}" if len(names) == 1 else f"mean v of {len(names)} words"
    ui.figure(
        figures.update(words=result["vocabulary"], given=label, **lens.flat(now, result["plane"])),
        alt="The vectors u of all words, and the arrow along which the given vector moves",
        data={"word": result["vocabulary"], "p": now["p"]},
    )
    if d > 2:
        ui.caption(f"Drawn along the two longest directions of the {d}.")
    ui.equation(
        trace[step].equation,
        note="The mean u of what came, less the mean u that the model expected"
        + ("." if now["share"] == 1 else f"; each of the {len(names)} given words gets one share of it."),
    )
    ui.metric("Loss of the whole text (nats)", f"{now['loss']:.4f}")
    ui.caption(f"It cannot fall below {floor:.4f}, the conditional entropy of the text's own windows.")
else:
    losses = passes(text, k, d, rate, method)
    n = len(losses)
    ui.figure(
        basic.curves(
            {"loss": losses, "floor": [floor] * n}, title=f"Passes through the text, d = {d}",
            xlabel="passes", ylabel="nats", markers=True,
        ),
        alt="Loss after each pass, with the floor", data={"pass": list(range(n)), "loss": losses},
    )  # fmt: skip
    for column, p in zip(ui.columns(3), lens.PASSES, strict=True):
        with column:
            ui.metric(f"Above the floor after {p} pass{'es' * (p > 1)}", f"{float(losses[p]) - floor:.4f}")
    reached = by_size(text, k, method)
    ui.figure(
        basic.curves(
            {"loss reached": (SIZES, reached), "floor": (SIZES, [floor] * len(SIZES))},
            title="Dimensions, after 400 steps on the whole text", xlabel="d", ylabel="nats", markers=True,
        ),
        alt="Loss that each number of dimensions reaches, with the floor",
        data={"d": SIZES, "loss": reached},
    )  # fmt: skip
    entropy = r"H(O \mid C)" if method == "skip-gram" else r"H(C \mid O_1 \dots O_m)"
    ui.equation(
        rf"\text{{loss}} \ge {entropy} = {floor:.4f},\qquad d = {SIZES[-1]}: {float(reached[-1]):.4f}",
        note="The floor is counted: how uncertain the text itself leaves what is predicted by what is given.",
    )
ui.notice(
    "Two tables: v for words that are given, u for words that are predicted. Skip-gram gives the centre and "
    "predicts each neighbour; CBOW gives the mean of the neighbours, so each gets 1/m of the gradient. One "
    "pass is far from enough, and few dimensions stay above the floor."
)
ui.presets(
    {
        "Small steps": {"rate": 0.1},
        "Large steps": {"rate": 2.0},
        "CBOW, four neighbours": {"method": "CBOW", "k": 2, "view": "One window", "step": 3},
        "Floor with 16 dimensions": {"view": "Loss and its floor", "d": 16, "rate": 0.3},
    }
)
last = trace[len(trace) - 1].values["loss"]
ui.check(
    "Is the loss at the last place below that at the first?",
    ["yes", "no"],
    "yes" if last < trace[0].values["loss"] else "no",
    f"It goes from {trace[0].values['loss']:.4f} to {last:.4f}.",
)
ui.source(
    lens.learn, SkipGram if method == "skip-gram" else CBOW,
    references=[
        "Mikolov et al. 2013, Efficient estimation of word representations, arXiv:1301.3781",
        "Rong 2014, word2vec parameter learning explained, arXiv:1411.2738",
        "[GM] §1.6.1",
    ],
)  # fmt: skip
