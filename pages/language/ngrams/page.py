"""n-grams: what follows the last tokens, order by order; sparsity, smoothing, sampling."""

from lab import ui
from lab.errors import UserError
from lab.figures import basic, trees
from lab.lenses import counts
from lab.lenses.counts import PETS, SAM, SAN
from modules.language.ngram import SMOOTHINGS, NGram
from pages.language.ngrams import beside_gpt, figures, lens
from pages.language.ngrams.room import ROOM

SCORED = {True: "a dog sat on the green mat .", False: "But soft, what light through yonder window breaks?"}
BARS = 12

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Sam": ui.scene("After I came am twice and do once: 2/3 and 1/3, and nothing else is possible.",
                        n=2, smoothing="none"),
        "Smoothed": ui.scene("Kneser-Ney mixes all orders: every word gets some probability."),
        "Never seen": ui.scene("The dog never sat on anything, yet mat follows: lower orders have seen it.",
                               own=PETS, n=5, context="the dog sat on the"),
        "Glasses": ui.scene("Francisco came more often, but only after san: glasses is likelier.",
                            own=SAN, n=2, context="unknown"),
        "Add one": ui.scene("Counting how often, not after how many: now francisco beats glasses.",
                            own=SAN, n=1, smoothing="add", context="unknown"),
        "Contexts": ui.scene("Each token of context splits the counts further; click a node to ask it.",
                             own=PETS, view="Contexts", n=5, context="the dog sat on the"),
        "Sparsity": ui.scene("Order 1 to 8: training text gets easier; by add-one a new text gets harder.",
                             own=PETS, view="Sparsity", text="the dog sat on the mat"),
        "Sample": ui.scene("Drawn by order 1, and by order 4, which knows what followed.",
                           own=PETS, view="Sample", context="the dog"),
        "Beside GPT": ui.scene("Held-out Shakespeare: six characters, counted, cost less than a small GPT.",
                               corpus="ngram-shakespeare", view="Held out"),
    }
)  # fmt: skip

# --- Controls -----------------------------------------------------------------------------------

NAMES = ui.trained("language", counts.of_ngrams)
VIEWS = ["Next token", "Contexts", "Sparsity", "Sample", "Held out"]
written, unit = SAM, "words"
with stage.rail:
    view = ui.choice("View", VIEWS, key="view", as_list=True)
    corpus = ui.choice("Corpus", [counts.OWN, *NAMES], key="corpus", as_list=True)
    own = corpus == counts.OWN
    if own:
        written = ui.text(
            "Own corpus, a sentence a line", SAM, key="own", examples=counts.CORPORA, max_chars=5000
        )
        unit = ui.choice("Tokens", ["words", "characters"], key="unit")


@ui.cached
def count(written, unit):
    return lens.own(written, unit)


def counts_of(corpus, written, unit):
    return count(written, unit) if corpus == counts.OWN else counts.trained(ui.load(corpus), ui.card(corpus))


@ui.cached
def curve(corpus, written, unit, text, alpha):
    return lens.curve(counts_of(corpus, written, unit), text, alpha)


@ui.cached
def draw(corpus, written, unit, n, smoothing, alpha, discount, length, temperature, seed):
    reader = lens.smoothed(counts_of(corpus, written, unit), n, smoothing, alpha, discount)
    return lens.drawn(reader, length, temperature, seed)


try:
    counted = counts_of(corpus, written, unit)
except UserError as error:
    ui.stop(str(error))
by_words = counted.model.eos is not None
with stage.rail:
    example = "I" if own and written == SAM else "the dog sat on the" if by_words else "the "
    written_context = ui.text("Context", example, key="context", max_chars=200, area=False)
    order = ui.slider("Order n", 1, counted.model.order, min(4, counted.model.order), key="n")
    smoothing = ui.choice("Smoothing", list(SMOOTHINGS), key="smoothing", default="kneser-ney", as_list=True)
    alpha, discount = 1.0, None
    if smoothing == "add":
        alpha = float(ui.slider("α", 0.01, 2.0, 1.0, key="alpha", step=0.01))
    else:
        d = ui.slider("D (0: estimated)", 0.0, 1.0, 0.0, key="d", step=0.05)
        discount = d if smoothing == "kneser-ney" and d > 0 else None
model = lens.smoothed(counted, order, smoothing, alpha, discount)
try:
    context = model.encode(written_context)
    trace = model.model.backoff(context)
except (UserError, ValueError) as error:
    ui.stop(str(error))
p = trace.result
top = p.argsort(descending=True, stable=True)[:BARS]
labels = model.names(top)
best = int(top[0])

# --- Views --------------------------------------------------------------------------------------


def show_next():
    parts = {("uniform" if m == 0 else f"order {m}"): share[top] for m, share in lens.shares(trace)}
    with stage.picture:
        ui.figure(figures.stacked(labels, parts), share=1.0, key="next",
                  alt="The most probable next tokens, split by order",
                  data={"token": labels, "p": p[top], **parts})  # fmt: skip


def show_contexts():
    contexts = lens.contexts(model, context)
    read = [" ".join(model.names(tokens)) for tokens in contexts.tokens]
    oldest = [model.names(tokens[:1])[0] if tokens else "all" for tokens in contexts.tokens]
    with stage.picture:
        clicked = ui.clickable(
            trees.tree(
                [len(tokens) for tokens in contexts.tokens], contexts.place, contexts.parent,
                [f"{name} ({n})" for name, n in zip(oldest, contexts.count, strict=True)],
                [f"… {name}: followed {n} times" for name, n in zip(read, contexts.count, strict=True)],
                contexts.typed, xlabel="tokens of context",
                beside=["bottom center" if on else "middle right" for on in contexts.typed],
            ),
            key="node", alt="The contexts that end as the typed one does, with how often each was followed",
            data={"context": read, "count": contexts.count, "parent": contexts.parent}, share=0.5,
        )  # fmt: skip
        deepest = max(n for n, c in enumerate(contexts.count) if contexts.typed[n] and c)
        node = clicked["customdata"][0] if clicked else deepest
        often, smooth = lens.after(model, contexts.tokens[node], model)
        first = (often + smooth).argsort(descending=True, stable=True)[:7]
        text = (
            f"After {'… ' + read[node] if read[node] else 'any text'}, followed {contexts.count[node]} times"
        )
        ui.caption(f"{text}:")
        ui.figure(
            basic.bars(model.names(first), smooth[first], baseline=often[first], horizontal=True,
                       names=(smoothing, "what followed")),
            alt="What follows the chosen context: how often, and as the model has it",
            data={"token": model.names(first), "p": smooth[first], "share": often[first]},
            key="after", share=0.43,
        )  # fmt: skip


def show_sparsity():
    with stage.rail:
        text = ui.text("Text to score", "Sam I am" if own else SCORED[by_words], key="text", max_chars=2000)
        if not own and not ui.toggle("Count it at every order", False, key="every", help="Some seconds"):
            ui.stop("Counting this corpus at every order takes some seconds: switch it on beside.")
    try:
        columns = curve(corpus, written, unit, text, float(alpha))
    except UserError as error:
        ui.stop(str(error))
    lines = {name: values for name, values in columns.items() if name.startswith(("train", "text"))}
    finite = {name.replace("maximum likelihood", "counts"): [v if v < float("inf") else float("nan")
                                                             for v in values]
              for name, values in lines.items()}  # fmt: skip
    with stage.picture:
        ui.figure(
            basic.curves(finite, x=columns["order"], mark=order, markers=True, log_y=True, xlabel="order n",
                         ylabel="perplexity"),
            alt="Perplexity of the training text and of your text against the order", key="curve",
            data=columns, share=1.0,
        )  # fmt: skip
    bare = zip(columns["order"], columns["text, maximum likelihood"], strict=True)
    infinite = [str(int(n)) for n, v in bare if v == float("inf")]
    with stage.below:
        if infinite:
            ui.caption(f"By maximum likelihood your text has perplexity ∞ at n = {', '.join(infinite)}: one "
                       "n-gram never seen is enough. It is not drawn.")  # fmt: skip
        ui.table(lens.sparsity(columns), alt="Counted and possible n-grams, and the share never seen",
                 key="sparsity")  # fmt: skip


def show_sample():
    with stage.rail:
        length = ui.slider("Length", 10, 400, 40 if by_words else 150, key="length")
        temperature = float(ui.slider("Temperature", 0.0, 2.0, 1.0, key="t", step=0.1))
        seed = ui.number("Seed", 0, 9999, 0, key="seed")
    drawing = "kneser-ney" if smoothing == "none" else smoothing  # what was drawn must have a successor
    with stage.picture:
        for n in sorted({1, order}):
            ui.markdown(f"**Order {n}**")
            ui.code(draw(corpus, written, unit, n, drawing, alpha, discount, length, temperature, seed),
                    language=None)  # fmt: skip
        if smoothing == "none":
            ui.caption("Unsmoothed counts know nothing after a context never seen: drawn by Kneser-Ney.")
        ui.figure(
            basic.bars(labels, p[top], ylabel="p", xlabel="next token"), key="drawn-from", share=0.5,
            alt="The most probable next tokens of this order", data={"token": labels, "p": p[top]},
        )  # fmt: skip


views = [show_next, show_contexts, show_sparsity, show_sample, lambda: beside_gpt.view(stage)]
views[VIEWS.index(view)]()
v, lower = trace[-1].values, trace[-2]
back, below = v["back"], float(lower.values["mixed"][best])
stage.equation(
    rf"P_{order}(w\mid h) = p_{order}(hw) + \lambda(h)\,P_{lower.values['order']}(w \mid h')"
    rf"= {float(v['p'][best]):.4f} + {back:.4f}\cdot {below:.4f} = {float(p[best]):.4f}",
    note=f"w = {labels[0]}; h came {v['total']:g} times, with {v['types']} followers.",
)

# --- Words --------------------------------------------------------------------------------------

rows = [s.values for s in reversed(trace.steps)]
decides = max(rows, key=lambda row: row["weight"])
with stage.below:
    ui.table(lens.orders(model, trace), alt="How much each order decides", key="orders")
    if smoothing in ("kneser-ney", "modified"):
        spelled = ", ".join(f"{d:.3f}" for d in v["discounts"].tolist())
        ui.caption(f"Discounts for counts of 1, 2, 3 and more at order {order}: {spelled}.")
    ui.notice(
        "Longer contexts are sharper and rarer: the share of n-grams never seen grows, while the perplexity "
        "of the training text falls. Without smoothing one unseen n-gram makes a text impossible. Kneser-Ney "
        "mixes all orders; below the top it asks after how many different tokens a word came, not how often."
    )
    ui.check(
        "Which order has the largest weight in this mixture?",
        [r["order"] for r in rows],
        decides["order"],
        f"Its weight is {decides['weight']:.4f}: what those above leave, less what it leaves.",
        wrong={r["order"]: f"Order {r['order']} has weight {r['weight']:.4f}, order {decides['order']} "
               f"{decides['weight']:.4f}." for r in rows},
        veils=("picture", "equation"),
    )  # fmt: skip
    place = f"experiments.ZOO / {corpus!r}"
    line = f"lens.own({written!r}, {unit!r})"
    if not own:
        line = f"counts.trained(weights.load({place}), weights.read_card({place}))"
    ui.program(
        f"""
        from lab import experiments, weights
        from lab.lenses import counts
        from pages.language.ngrams import lens

        counted = {line}
        read = lens.smoothed(counted, {order}, {smoothing!r}, {alpha:g}, {discount})
        p = read.model.next_log_probs(read.encode({written_context!r})[None])[0].exp()
        result = p.sort(descending=True).values[:{BARS}].tolist()
        """,
        shows=p[top].tolist(),
    )
    ui.source(
        NGram.count, NGram._level, NGram._score, NGram.lower_order,
        references=ROOM.references,
    )  # fmt: skip
