"""Shared strength: one sentence held back, and who still knows how it ends."""

from datamodules import grammar
from lab import ui
from lab.figures import shared_strength as figures
from lab.figures import word_vectors as maps
from modules.language.bengio import Bengio
from modules.language.ngram import NGram
from pages.language.shared_strength import lens

TOYS: dict[str, grammar.Toy] = {"class and verb": "class", "verb alone": "verb"}
SHIPPED = {
    ("class", "learned"): "bengio-classes",
    ("class", "one-hot"): "onehot-classes",
    ("verb", "learned"): "bengio-verbs",
}
SEEDS = 10

ui.header(
    "Shared strength",
    "A sentence never seen: counts have nothing to say, words with similar vectors help each other.",
    lenses=("latent",),
)

# --- Controls -----------------------------------------------------------------------------------

first, second = ui.columns([3, 4])
with first:
    toy = TOYS[ui.choice("The object depends on", list(TOYS), key="toy")]
with second:
    hidden = ui.choice(
        "Hidden sentence", grammar.sentences(toy), key=f"hidden-{toy}", default=grammar.HIDDEN, as_list=True
    )
third, fourth = ui.columns([3, 4])
with third:
    inputs = ui.choice("Words go in as", ["learned", "one-hot"], key="inputs")
with fourth:
    d = ui.slider("Dimensions d", 2, 16, 8, key="d") if inputs == "learned" else 8
coder, asked = grammar.tokenizer(toy), lens.question(toy, hidden)


@ui.cached
def counted(toy, hidden):
    return lens.counted(toy, hidden)


# --- Networks: the shipped one, or trained here ---------------------------------------------------

name = SHIPPED.get((toy, inputs)) if hidden == grammar.HIDDEN and d == 8 else None
trained = ui.job(
    f"Train {SEEDS} networks here",
    lambda: lens.train(toy, hidden, d, inputs == "one-hot", SEEDS),
    key="train",
    of=(toy, hidden, d, inputs),
)
if trained is not None:
    shown = trained[0]
elif name is not None:
    shown = lens.judge(ui.load(name), coder, toy, asked)
else:
    shown = None
    ui.caption("These settings have no shipped weights: train the networks to see their bars too.")

# --- Picture ------------------------------------------------------------------------------------

model = counted(toy, hidden)
others = [asked.wrong] if asked.wrong else [o for o in grammar.OBJECTS["animals"] if o != asked.right]
words = [asked.right, *others]
ids = coder.encode(" ".join(words))
for column, context, what in zip(
    ui.columns(2), (asked.context, asked.seen), ("never seen", "seen"), strict=True
):
    p = lens.answers(model, shown.network if shown else None, coder, context)
    with column:
        ui.markdown(f"##### “{context} …”, {what}")
        ui.figure(
            figures.answers(words, {n: v[ids] for n, v in p.items()}),
            alt=f"Probability of the next word after {context}, by counts, Kneser-Ney and the network",
            data={"word": words} | {n: v[ids] for n, v in p.items()},
        )
kn = lens.answers(model, None, coder, asked.context)["Kneser-Ney"][ids]
latex = rf"P_{{\text{{KN}}}}(\text{{{asked.right}}}) = {float(kn[0]):.4f}"
if asked.wrong:
    sign = "<" if kn[0] < kn[1] else ">"
    latex += rf" {sign} P_{{\text{{KN}}}}(\text{{{asked.wrong}}}) = {float(kn[1]):.4f}"
if shown:
    latex += rf",\qquad P_{{\text{{network}}}}(\text{{{asked.right}}}) = {shown.right:.4f}"
ui.equation(latex, note=f"All after “{asked.context}”. The table of 6-grams has no row for it at all.")
if trained is not None:
    right = sum(t.right > 0.5 for t in trained)
    ui.metric(f"Networks that are right, of {len(trained)}", f"{right}")
    ui.table(
        {
            "start": list(range(len(trained))),
            f"P({asked.right})": [f"{t.right:.4f}" for t in trained],
            "cosine within a class": [f"{t.within:.2f}" for t in trained],
            "across": [f"{t.across:.2f}" for t in trained],
        },
        alt="What each network answers, and how alike its words are", key="networks",
    )  # fmt: skip
elif name is not None:
    card = ui.card(name)
    ui.caption(
        f"`{name}` ships the best of {len(card['seeds'])} starts; over all of them −ln P({asked.right}) is "
        f"{card['metrics']['test/nll']:.4f} ± {card['std']['test/nll']:.4f}."
    )
if shown:
    drawn = lens.plane(shown.network, coder, toy)
    ui.figure(
        maps.word_map(drawn.points, drawn.words, drawn.kinds, drawn.names),
        alt="The words in the plane of the two directions in which their vectors differ most, by class",
        data={"word": drawn.words, "x": drawn.points[:, 0], "y": drawn.points[:, 1]},
    )
    ui.caption(
        f"Mean cosine of two subjects of one class: {shown.within:.2f}"
        + (f"; of two classes: {shown.across:.2f}." if toy == "class" else ".")
        + (" One-hot inputs: the columns of the first layer." if inputs == "one-hot" else "")
    )
ui.notice(
    "Where the verb alone decides, backing off to it is enough, and says nothing for networks. Where the "
    "class decides too, backing off sides with the majority and is wrong; the network has put the animals "
    "together. One-hot inputs do as well: the first layer turns them into vectors of its own."
)
ui.presets(
    {
        "Class decides": {
            "toy": "class and verb",
            "hidden-class": grammar.HIDDEN,
            "inputs": "learned",
            "d": 8,
        },
        "Verb decides": {"toy": "verb alone", "hidden-verb": grammar.HIDDEN, "inputs": "learned", "d": 8},
        "One-hot control": {"toy": "class and verb", "hidden-class": grammar.HIDDEN, "inputs": "one-hot"},
    }
)
best = words[int(kn.argmax())]
ui.check(
    f"What does Kneser-Ney hold most probable after “{asked.context}”?",
    words,
    best,
    f"P = {float(kn.max()):.4f}.",
)
ui.source(
    Bengio.forward, NGram.levels, lens.train,
    references=[
        "Bengio, Ducharme, Vincent, Jauvin 2003, A neural probabilistic language model, JMLR 3",
        "Kneser and Ney 1995, Improved backing-off for m-gram language modeling",
        "[LLM] neural language models",
    ],
)  # fmt: skip
