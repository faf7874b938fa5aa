"""Word vectors: a map, neighbours, analogies with their misses, methods side by side, rare words."""

import torch

from datamodules.cooccurrence import Cooccurrence
from lab import ui
from lab.errors import UserError
from lab.figures import basic
from lab.figures import word_vectors as figures
from lab.lenses import embeddings
from modules.language.count_vectors import CountSVD
from modules.language.word_vectors import analogies, neighbours, offsets
from pages.language.word_vectors import lens

METHODS = {"skip-gram": "skipgram", "CBOW": "cbow", "SVD of PPMI": "svd"}
CORPORA = {"planted": "relations", "captions": "multi30k"}
EXAMPLES = {
    "planted": {
        "Animals": "stallion mare foal bull cow calf ram ewe lamb rooster hen chick stag doe fawn",
        "Company": "saddle gallops pasture moos wool bleats he his father she her mother newborn plays",
    },
    "captions": {
        "Colours, clothes, people": "red blue green yellow shirt jacket hat pants man woman boy girl dog cat",
        "Doing": "walk walking walks run running runs ride riding rides sit sitting sits",
    },
}
QUESTIONS = {"planted": ("stallion", "mare", "bull"), "captions": ("man", "woman", "boy")}
QUARTERS = [1, 2, 3, 4]
REFERENCES = [
    "Mikolov et al. 2013, Efficient estimation of word representations, arXiv:1301.3781",
    "Mikolov et al. 2013, Distributed representations of words and phrases, arXiv:1310.4546",
    "Levy and Goldberg 2014, Linguistic regularities in sparse and explicit word representations",
    "[GM] §1.6.1",
]

ui.header(
    "Word vectors",
    "A word is known by the company it keeps: words with similar neighbours get similar vectors.",
    lenses=("latent",),
)

# --- Controls -----------------------------------------------------------------------------------

view = ui.choice("Look at", ["Map", "Analogies", "Methods", "Rare words"], key="view")
corpus, method = "captions", "skip-gram"
if view != "Rare words":
    first, second = ui.columns(2)
    with first:
        corpus = ui.choice("Corpus", list(CORPORA), key="corpus")
    if view != "Methods":
        with second:
            method = ui.choice("Method", list(METHODS), key="method")


def loaded(method: str) -> embeddings.Table:
    """The trained vectors of a method on the chosen corpus."""
    name = f"{METHODS[method]}-{CORPORA[corpus]}"
    return embeddings.table(ui.load(name), ui.card(name))


def trained_unequally() -> str:
    """How long each method was trained on the chosen corpus, for the places that compare them."""
    found = {m: lens.passes(ui.card(f"{METHODS[m]}-{CORPORA[corpus]}")) for m in METHODS}
    told = ", ".join(f"{m} {n:,}" for m, n in found.items())
    return f"Passes through the corpus, not equal: {told}."


# --- Pictures -----------------------------------------------------------------------------------


def show_map():
    found = loaded(method)
    examples = EXAMPLES[corpus]
    default = next(iter(examples.values()))
    chosen = ui.text("Words on the map", default, key=f"words-{corpus}", examples=examples, max_chars=600)
    asked = ui.text("Neighbours of", QUESTIONS[corpus][0], key=f"word-{corpus}", max_chars=40)
    try:
        drawn = lens.plane(found, list(dict.fromkeys(chosen.lower().split())) or default.split())
        word = found.find(asked)
    except UserError as error:
        ui.stop(str(error))
    ui.figure(
        figures.word_map(drawn.points, drawn.words),
        alt="Chosen words in the plane of the two directions in which they differ most",
        data={"word": drawn.words, "x": drawn.points[:, 0], "y": drawn.points[:, 1]},
    )
    ui.caption(f"The plane keeps {drawn.share:.0%} of what tells these words apart.")
    ids, cosines = neighbours(found.vectors, word, 12)
    near = [found.words[i] for i in ids.tolist()]
    ui.figure(
        basic.bars(near, cosines, horizontal=True, title=f"Nearest to {found.words[word]}", xlabel="cosine"),
        alt=f"The words nearest to {found.words[word]} by cosine",
        data={"word": near, "cosine": cosines},
    )
    ui.equation(
        rf"\cos(v_{{\text{{{found.words[word]}}}}}, v_{{\text{{{near[0]}}}}}) = {float(cosines[0]):.4f}",
        note=f"The nearest of {len(found.words) - 1:,} other words.",
    )
    ui.notice(
        "Words of one kind gather, though nobody said what the kinds are: only which words stood within two "
        "places of each other. A flat map of many dimensions lies a little; the bars use all of them."
    )
    ui.presets(
        {
            name: {f"words-{corpus}": text, f"word-{corpus}": text.split()[1]}
            for name, text in examples.items()
        }
    )
    ui.check(
        f"Is {near[0]!r} also drawn on the map?", ["yes", "no"], "yes" if near[0] in drawn.words else "no"
    )
    ui.source(neighbours, lens.plane, references=REFERENCES)


def show_analogies():
    found = loaded(method)
    asked = []
    for box, label, default in zip(ui.columns(3), "abc", QUESTIONS[corpus], strict=True):
        with box:
            asked.append(ui.text(label, default, key=f"{label}-{corpus}", max_chars=40))
    a, b, c = (w.strip().lower() for w in asked)
    first, second = ui.columns(2)
    with first:
        relation = ui.choice("Relation", list(found.pairs), key=f"relation-{corpus}", as_list=True)
    with second:
        exclude = ui.toggle("Leave the three inputs out", True, key="exclude")
    try:
        ranking = lens.answer(found, a, b, c, exclude)
        points, words = lens.corners(found, a, b, c, ranking[0][0])
    except UserError as error:
        ui.stop(str(error))
    ui.figure(
        figures.parallelogram(points, words, right=lens.known(found, a, b, c) in (None, ranking[0][0])),
        alt=f"{b} − {a} + {c} and the word nearest to it, in the plane of these five points",
        data={"word": words, "x": points[:, 0], "y": points[:, 1]},
    )
    ui.table(
        {"answer": [w for w, _ in ranking], "cosine": [f"{s:.4f}" for _, s in ranking]},
        alt="The words nearest to b − a + c", key="ranking",
    )  # fmt: skip
    ui.equation(
        rf"\cos(\hat v_{{\text{{{b}}}}} - \hat v_{{\text{{{a}}}}} + \hat v_{{\text{{{c}}}}},"
        rf"\ v_{{\text{{{ranking[0][0]}}}}}) = {ranking[0][1]:.4f}",
        note="The three inputs are left out." if exclude else "The three inputs may be the answer.",
    )
    scored = lens.score(found, relation, exclude)
    values = {
        "Questions right": f"{scored.hits} of {scored.questions}",
        "Offsets' mean cosine": f"{scored.offsets.cosine:.3f}",
        "Spread of their length": f"{scored.offsets.spread:.3f}",
    }
    for column, (label, number) in zip(ui.columns(3), values.items(), strict=True):
        with column:
            ui.metric(label, number)
    ui.caption(
        f"All questions that the pairs of {relation!r} make. The misses:" if scored.misses else "No misses."
    )
    if scored.misses:
        ui.table(
            {
                "question": [f"{a} : {b} = {c} : ?" for a, b, c, _, _ in scored.misses],
                "right": [m[3] for m in scored.misses],
                "answered": [m[4] for m in scored.misses],
            },
            alt="Questions answered wrongly", key="misses",
        )  # fmt: skip
    ui.notice(
        "The best case is shown in every book; the score counts all questions that the pairs make. Without "
        "leaving the inputs out, the answer is often one of them: the step b − a is short, and c is near."
    )
    one, two, three = QUESTIONS[corpus]
    ui.presets(
        {
            "As in the books": {
                f"a-{corpus}": one,
                f"b-{corpus}": two,
                f"c-{corpus}": three,
                "exclude": True,
            },
            "Inputs allowed": {
                f"a-{corpus}": one,
                f"b-{corpus}": two,
                f"c-{corpus}": three,
                "exclude": False,
            },
        }
    )
    ui.check(
        "Are more than half of the relation's questions answered rightly?",
        ["yes", "no"],
        "yes" if 2 * scored.hits > scored.questions else "no",
        f"{scored.hits} of {scored.questions}.",
    )
    ui.source(analogies, offsets, references=REFERENCES)


@ui.cached
def scores(corpus, exclude):
    """Questions right, by relation and method."""
    rows = {}
    for method in METHODS:
        found = loaded(method)
        rows[method] = [lens.score(found, r, exclude) for r in found.pairs if len(found.pairs[r]) > 1]
    return [r for r in found.pairs if len(found.pairs[r]) > 1], rows


def show_methods():
    exclude = ui.toggle("Leave the three inputs out", True, key="exclude")
    asked = ui.text("Neighbours of", QUESTIONS[corpus][0], key=f"word-{corpus}", max_chars=40)
    names, rows = scores(corpus, exclude)
    shares = {m: sum(s.hits for s in row) / sum(s.questions for s in row) for m, row in rows.items()}
    ui.figure(
        basic.bars(list(shares), list(shares.values()), ylabel="questions right", probability=True),
        alt="Share of analogy questions answered rightly by each method",
        data={"method": list(shares), "share": list(shares.values())},
    )
    ui.table(
        {"relation": names} | {m: [f"{s.hits} of {s.questions}" for s in row] for m, row in rows.items()},
        alt="Questions answered rightly by relation and method", key="relations",
    )  # fmt: skip
    near = {}
    for method in METHODS:
        found = loaded(method)
        try:
            ids, _ = neighbours(found.vectors, found.find(asked), 10)
        except UserError as error:
            ui.stop(str(error))
        near[method] = [found.words[i] for i in ids.tolist()]
    ui.table(near, alt=f"The ten nearest words to {asked} by each method", key="near")
    ui.caption(trained_unequally())
    one, two = near["skip-gram"], near["SVD of PPMI"]
    shared = len(set(one) & set(two))
    ui.equation(
        r"\frac{\text{right}}{\text{asked}} = " + r",\quad ".join(
            rf"\text{{{m}}}: \frac{{{sum(s.hits for s in row)}}}{{{sum(s.questions for s in row)}}}"
            for m, row in rows.items()
        ),
        note=f"Skip-gram and the SVD share {shared} of their ten nearest words to {asked!r}.",
    )  # fmt: skip
    ui.notice(
        "Counting and predicting read the same windows. The planted corpus has a right answer for every "
        "question; a small corpus of captions teaches kinds of words well, relations between them less."
    )
    ui.presets({"Planted": {"corpus": "planted"}, "Captions": {"corpus": "captions"}})
    best = max(shares, key=lambda m: shares[m])
    ui.check("Which method answers most questions?", list(shares), best, f"{shares[best]:.1%} of them.")
    ui.source(analogies, CountSVD, references=REFERENCES)


@ui.cached
def rare(n):
    """Inflections found again by method, and neighbours shared, by frequency; and the number of pairs."""
    near = {m: lens.nearest(loaded(m).vectors, n) for m in METHODS}
    pairs = lens.inflections(loaded("CBOW").words)
    again = {m: lens.by_frequency(lens.found_again(t, pairs), pairs.amax(1)) for m, t in near.items()}
    shared = lens.agreement(near["skip-gram"], near["SVD of PPMI"])
    return again, lens.by_frequency(shared), len(pairs)


@ui.cached
def passes():
    """Predictions in one pass through the planted corpus, by CBOW and by skip-gram."""
    data = Cooccurrence("relations", window=2)
    data.setup("fit")
    return lens.cost(data.train_set[torch.arange(len(data.train_set))][1])


def show_rare():
    n = ui.slider("Nearest words n", 1, 20, 10, key="n")
    again, shared, total = rare(n)
    ui.figure(
        basic.curves(
            again, QUARTERS, markers=True, ylabel="found again", title=f"A word among the {n} nearest of its "
            "inflection", xlabel="quarter of the pairs, from frequent to rare",
        ),
        alt="Share of inflections found among the nearest words, by frequency and method",
        data={"quarter": QUARTERS} | again,
    )  # fmt: skip
    ui.figure(
        basic.bars(
            QUARTERS, shared, probability=True, height=320, ylabel="shared",
            title=f"The {n} nearest: skip-gram and SVD agree",
            xlabel="quarter of the words, from frequent to rare",
        ),
        alt="Share of nearest words that skip-gram and SVD have in common, by frequency",
        data={"quarter": QUARTERS, "shared": shared},
    )  # fmt: skip
    windows, pairs = passes()
    ui.equation(
        r"\text{rarest quarter: }" + r",\quad ".join(rf"\text{{{m}}}\ {v[-1]:.3f}" for m, v in again.items()),
        note=f"{total} pairs like “dog, dogs” that the vocabulary itself has. On average skip-gram and SVD "
        f"share {sum(shared) / len(shared):.1%} of the {n} nearest words.",
    )
    ui.caption(
        f"Cost of a pass, counted on the planted corpus: CBOW predicts once a window, {windows:,} times; "
        f"skip-gram once a pair, {pairs:,} times. (With a full softmax the pairs of a centre share theirs.)"
    )
    ui.caption(trained_unequally())
    ui.notice(
        "All methods know frequent words better. Skip-gram learns from every pair with a rare word; CBOW "
        "blurs it with its neighbours and makes fewer predictions. Read directions only: the methods are not "
        "compared at equal passes."
    )
    ui.presets({"Nearest only": {"n": 1}, "Ten": {"n": 10}, "Twenty": {"n": 20}})
    best = max(again, key=lambda m: again[m][-1])
    ui.check("Which method knows the rarest quarter best?", list(again), best, f"{again[best][-1]:.1%}.")
    ui.source(lens.inflections, lens.found_again, lens.agreement, lens.cost, references=REFERENCES)


{"Map": show_map, "Analogies": show_analogies, "Methods": show_methods, "Rare words": show_rare}[view]()
