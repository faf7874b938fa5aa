"""n-grams: what follows the last tokens, order by order; sparsity, smoothing, sampling."""

import torch

from lab import ui
from lab.errors import UserError
from lab.figures import basic, trees
from lab.lenses import counts
from modules.language.ngram import SMOOTHINGS, NGram
from pages.language.ngrams import figures, lens

SAM = "I am Sam\nSam I am\nI do not like green eggs and ham"
PETS = "\n".join(
    f"the {who} {what}" for who in ("cat", "dog", "bird", "boy")
    for what in ("sat on the mat", "ate the bone", "saw the ball") if (who, what[:3]) != ("dog", "sat")
)  # fmt: skip
SAN = "\n".join(["in san francisco"] * 8 + [f"{w} glasses" for w in ("my", "the", "reading", "new")])
OWN = {"Sam": SAM, "The dog never sat": PETS, "San Francisco": SAN}
BARS = 12

ui.header("n-grams", "Count what followed the last few tokens: all of language modelling, without learning.")

# --- Controls -----------------------------------------------------------------------------------

NAMES = ui.trained("language", lambda e: e.module.endswith(".NGram"))
corpus = ui.choice("Corpus", [counts.OWN, *NAMES], key="corpus", as_list=True)
own = corpus == counts.OWN
written, unit = SAM, "words"
if own:
    left, right = ui.columns([3, 1])
    with left:
        written = ui.text("Own corpus, a sentence a line", SAM, key="own", examples=OWN, max_chars=5000)
    with right:
        unit = ui.choice("Tokens", ["words", "characters"], key="unit")


@ui.cached
def count(written, unit):
    return counts.count(written, unit, 5)


def counts_of(corpus, written, unit):
    return count(written, unit) if corpus == counts.OWN else counts.trained(ui.load(corpus), ui.card(corpus))


try:
    counted = counts_of(corpus, written, unit)
except UserError as error:
    ui.stop(str(error))
by_words = counted.model.eos is not None
first, second, third = ui.columns(3)
with first:
    order = ui.slider("Order n", 1, counted.model.order, min(4, counted.model.order), key="n")
with second:
    smoothing = ui.choice("Smoothing", list(SMOOTHINGS), key="smoothing", default="kneser-ney")
with third:
    if smoothing == "add":
        alpha, discount = ui.slider("α", 0.01, 2.0, 1.0, key="alpha", step=0.01), None
    else:
        d = ui.slider("D (0: estimated)", 0.0, 1.0, 0.0, key="d", step=0.05)
        alpha, discount = 1.0, (d if smoothing == "kneser-ney" and d > 0 else None)
example = "I" if own and written == SAM else "the dog sat on the" if by_words else "the "
written_context = ui.text("Context", example, key="context", max_chars=200)
model = lens.smoothed(counted, order, smoothing, alpha, discount)
try:
    context = model.encode(written_context)
    trace = model.model.backoff(context)
except (UserError, ValueError) as error:
    ui.stop(str(error))

# --- Pictures -----------------------------------------------------------------------------------

p = trace.result
top = p.argsort(descending=True, stable=True)[:BARS]
labels = model.names(top)
nextone, tree, sparse, rare, sampled = ui.tabs(
    ["Next token", "Contexts", "Sparsity and perplexity", "Rare words", "Sample"]
)
with nextone:
    parts = {("uniform" if m == 0 else f"order {m}"): share[top] for m, share in lens.shares(trace)}
    ui.figure(
        figures.stacked(labels, parts), alt="The most probable next tokens, split by order",
        data={"token": labels, "p": p[top], **parts},
    )  # fmt: skip
    rows = [s.values for s in reversed(trace.steps)]
    ui.table(
        {
            "order": [v["order"] for v in rows],
            "context": [" ".join(model.names(v["context"])) or "–" for v in rows],
            "seen, c(h·)": [v.get("total", 0.0) for v in rows],
            "followers, N₁₊": [v.get("types", 0) for v in rows],
            "left to below": [f"{v.get('back', 0.0):.4f}" for v in rows],
            "weight in the mixture": [f"{v['weight']:.4f}" for v in rows],
        },
        alt="How much each order decides",
        key="orders",
    )
with tree:
    found = lens.contexts(model, context)
    read = [" ".join(model.names(torch.tensor(tokens))) for tokens in found.tokens]
    oldest = [model.names(torch.tensor(tokens[:1]))[0] if tokens else "all" for tokens in found.tokens]
    clicked = ui.clickable(
        trees.tree(
            [len(tokens) for tokens in found.tokens], found.place, found.parent,
            [f"{name} ({n})" for name, n in zip(oldest, found.count, strict=True)],
            [f"… {name}: followed {n} times" for name, n in zip(read, found.count, strict=True)],
            found.typed, xlabel="tokens of context",
            beside=["bottom center" if on else "middle right" for on in found.typed],
            height=380,
        ),
        key="node", alt="The contexts that end as the typed one does, with how often each was followed",
        data={"context": read, "count": found.count, "parent": found.parent},
    )  # fmt: skip
    deepest = max(n for n, c in enumerate(found.count) if found.typed[n] and c)
    node = clicked["customdata"][0] if clicked else deepest
    often, smooth = lens.after(model, found.tokens[node], model)
    first_ones = (often + smooth).argsort(descending=True, stable=True)[:BARS]
    ui.markdown(
        f"After **{'… ' + read[node] if read[node] else 'any text'}**, followed {found.count[node]} times:"
    )
    ui.figure(
        basic.bars(model.names(first_ones), smooth[first_ones], baseline=often[first_ones], horizontal=True,
                   names=(smoothing, "share of what followed"), xlabel="probability", height=420),
        alt="What follows the chosen context: how often, and as the model has it",
        data={"token": model.names(first_ones), "p": smooth[first_ones], "share": often[first_ones]},
        key="after",
    )  # fmt: skip


@ui.cached
def curve(corpus, written, unit, text, alpha):
    return lens.curve(counts_of(corpus, written, unit), text, alpha)


SCORED = {True: "a dog sat on the green mat .", False: "But soft, what light through yonder window breaks?"}
with sparse:
    if own or ui.toggle("Count this corpus at every order", False, key="every"):
        text = ui.text("Text to score", "Sam I am" if own else SCORED[by_words], key="text", max_chars=2000)
        try:
            columns = curve(corpus, written, unit, text, float(alpha))
        except UserError as error:
            ui.stop(str(error))
        lines = {name: values for name, values in columns.items() if name.startswith(("train", "text"))}
        finite = {name: [v if v < float("inf") else float("nan") for v in values]
                  for name, values in lines.items()}  # fmt: skip
        ui.figure(
            basic.curves(finite, x=columns["order"], mark=order, markers=True, log_y=True, xlabel="order n",
                         ylabel="perplexity"),
            alt="Perplexity of the training text and of your text against the order",
            data=columns,
        )  # fmt: skip
        infinite = [int(n) for n, v in zip(columns["order"], columns["text, maximum likelihood"], strict=True)
                    if v == float("inf")]  # fmt: skip
        if infinite:
            ui.caption(
                f"By maximum likelihood your text has perplexity ∞ at n = {', '.join(map(str, infinite))}: "
                "one n-gram never seen is enough. It is not drawn."
            )
        ui.table(
            {
                "n": [int(n) for n in columns["order"]],
                "n-grams counted": [int(v) for v in columns["types"]],
                "possible, Vⁿ": [f"{v:.3g}" for v in columns["possible"]],
                "unseen in your text": [f"{v:.1%}" for v in columns["unseen"]],
                "PP, unsmoothed": ["∞" if v == float("inf") else f"{v:.4g}"
                                   for v in columns["text, maximum likelihood"]],
                "PP, Kneser-Ney": ["∞" if v == float("inf") else f"{v:.4g}"
                                   for v in columns["text, Kneser-Ney"]],
            },
            alt="Counted and possible n-grams, and the share never seen",
            key="sparsity",
        )  # fmt: skip


@ui.cached
def inflated(written, embedded):
    if embedded:
        return lens.inflation(*lens.lines_of_pydocs())
    lines = [line for line in written.splitlines() if line.strip()]
    return lens.inflation([line for i, line in enumerate(lines) if i % 4 or len(lines) < 4], lines[::4])


def show_rare(rows):
    least = [row.min_count for row in rows]
    lines = {"all words": [row.perplexity for row in rows],
             "words that all know": [row.known_perplexity for row in rows]}  # fmt: skip
    unknown = {"unknown": [row.unknown for row in rows]}
    left, right = ui.columns(2)
    for column, curves, label in (
        (left, lines, "test perplexity"),
        (right, unknown, "share of unknown words"),
    ):
        with column:
            ui.figure(
                basic.curves(curves, x=least, markers=True, xlabel="min count", ylabel=label),
                alt=f"{label} against the occurrences that a word needs", key=f"rare-{label}",
                data={"min count": least, **curves},
            )  # fmt: skip
    ui.table(
        {
            "min count": least, "words": [row.vocabulary for row in rows],
            "unknown in the test": [f"{row.unknown:.2%}" for row in rows],
            "perplexity": [f"{row.perplexity:.2f}" for row in rows],
            "of words that all know": [f"{row.known_perplexity:.2f}" for row in rows],
        },
        alt="Vocabulary, unknown words and perplexity for every min count", key="rare",
    )  # fmt: skip
    ui.caption(
        "The more words are `<unk>`, the easier they are to guess, and perplexity falls, though nothing has "
        "improved: at the words that every vocabulary has, it hardly moves. Perplexities compare only over "
        "the same vocabulary."
    )


with rare:
    embedded = ui.toggle("On the Python documentation (some seconds)", False, key="docs")
    if embedded or own:
        ui.caption("Every tenth line is the test." if embedded else "Every fourth line above is the test.")
        show_rare(inflated(written, embedded))
    else:
        ui.caption("What leaving rare words out does to perplexity, counted anew.")
with sampled:
    first, second, third = ui.columns(3)
    with first:
        length = ui.slider("Length", 10, 400, 40 if by_words else 150, key="length")
    with second:
        temperature = ui.slider("Temperature", 0.0, 2.0, 1.0, key="t", step=0.1)
    with third:
        seed = ui.number("Seed", 0, 9999, 0, key="seed")

    @ui.cached
    def draw(corpus, written, unit, n, smoothing, alpha, discount, length, temperature, seed):
        reader = lens.smoothed(counts_of(corpus, written, unit), n, smoothing, alpha, discount)
        return lens.drawn(reader, length, temperature, seed)

    drawing = "kneser-ney" if smoothing == "none" else smoothing  # what was drawn must have a successor
    for n in sorted({1, order}):
        ui.markdown(f"**Order {n}**")
        ui.code(
            draw(corpus, written, unit, n, drawing, float(alpha), discount, length, float(temperature), seed),
            language=None,
        )

# --- Words --------------------------------------------------------------------------------------

best = int(p.argmax())
v, lower = trace[-1].values, trace[-2]
back, below = v["back"], float(lower.values["mixed"][best])
discounts = ""
if smoothing in ("kneser-ney", "modified"):
    spelled = ", ".join(f"{d:.3f}" for d in v["discounts"].tolist())
    discounts = f" Discounts for counts of 1, 2, 3 and more: {spelled}."
ui.equation(
    rf"P_{order}(w\mid h) = p_{order}(hw) + \lambda(h)\,P_{lower.values['order']}(w \mid h')"
    rf"= {float(v['p'][best]):.4f} + {back:.4f}\cdot {below:.4f} = {float(p[best]):.4f}",
    note=f"w is {labels[0]}, the most probable next token. The context was followed {v['total']:g} times by "
    f"{v['types']} different tokens; λ is what smoothing takes from them and leaves to the level below."
    + discounts,
)
ui.notice(
    "Longer contexts are sharper and rarer: the share of n-grams never seen grows towards 1, while the "
    "perplexity of the training text falls. Without smoothing one unseen n-gram makes a text impossible. "
    "Kneser-Ney mixes all orders; below the top it asks after how many different tokens a word came, not how "
    "often."
)
ui.presets(
    {
        "Sam": {"corpus": counts.OWN, "own": SAM, "unit": "words", "n": 2, "smoothing": "none",
                "context": "I"},
        "Never seen": {"corpus": counts.OWN, "own": PETS, "unit": "words", "n": 5, "smoothing": "kneser-ney",
                       "context": "the dog sat on the"},
        "Francisco or glasses": {"corpus": counts.OWN, "own": SAN, "unit": "words", "n": 2,
                                 "smoothing": "kneser-ney", "context": "unknown"},
        "The same, add-one": {"corpus": counts.OWN, "own": SAN, "unit": "words", "n": 1,
                              "smoothing": "add", "context": "unknown"},
    }
)  # fmt: skip
decides = max(trace.steps, key=lambda s: s.values["weight"]).values["order"]
ui.check(
    "Which order has the largest weight in this mixture?",
    [s.values["order"] for s in trace.steps],
    decides,
    "An order decides much where its context was seen often, with few different followers.",
)
ui.source(
    NGram.count, NGram._level, NGram._score, NGram.lowered,
    references=[
        "Kneser and Ney 1995; Chen and Goodman 1999",
        "Jurafsky and Martin, Speech and language processing, ch. 3",
        "[LLM] part 1, eq. 1.2-1.3",
    ],
)  # fmt: skip
