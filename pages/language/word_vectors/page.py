"""Word vectors: a map, neighbours, methods side by side, rare words."""

from lab import ui
from lab.errors import UserError
from lab.figures import basic
from lab.figures import word_vectors as figures
from lab.lenses import embeddings
from modules.language.count_vectors import CountSVD
from modules.language.word_vectors import analogies, neighbours
from pages.language.word_vectors import lens
from pages.language.word_vectors.room import ROOM

METHODS = {"skip-gram": "skipgram", "CBOW": "cbow", "SVD of PPMI": "svd"}
CORPORA = {"planted": "relations", "captions": "multi30k"}
EXAMPLES = {
    "planted": {
        "Animals": "stallion mare foal bull cow calf ram ewe lamb rooster hen chick stag doe fawn",
        "Company": "saddle gallops pasture moos wool bleats he his father she her mother newborn plays",
    },
    "captions": {
        "Things": "red blue green yellow shirt jacket hat pants man woman boy girl dog cat",
        "Doing": "walk walking walks run running runs ride riding rides sit sitting sits",
    },
}
FIRST = {"planted": "stallion", "captions": "man"}

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Animals": ui.scene("Male, female and young of each kind, though nobody said what the kinds are."),
        "Company": ui.scene("Words that stand in one sentence, of a saddle or a pasture.",
                            **{"words-planted": EXAMPLES["planted"]["Company"], "word-planted": "saddle"}),
        "Captions": ui.scene("From captions of pictures: colours, clothes, people.", corpus="captions"),
        "Verbs": ui.scene("Forms of walk, run, ride and sit.", corpus="captions",
                          **{"words-captions": EXAMPLES["captions"]["Doing"], "word-captions": "walks"}),
        "Methods": ui.scene("The same windows, counted or predicted: who answers the planted questions?",
                            view="Methods"),
        "Rare words": ui.scene("Every method knows frequent words better than rare ones.", view="Rare words"),
    }
)  # fmt: skip

corpus, method = "captions", "skip-gram"
with stage.rail:
    view = ui.choice("View", ["Map", "Methods", "Rare words"], key="view")
    if view != "Rare words":
        corpus = ui.choice("Corpus", list(CORPORA), key="corpus")
    if view == "Map":
        method = ui.choice("Method", list(METHODS), key="method", as_list=True)


def loaded(method: str) -> embeddings.Table:
    """The trained vectors of a method on the chosen corpus."""
    name = f"{METHODS[method]}-{CORPORA[corpus]}"
    return embeddings.table(ui.load(name), ui.card(name))


def trained_unequally() -> str:
    """Say how long each method was trained, for the places that compare them."""
    results = {m: lens.passes(ui.card(f"{METHODS[m]}-{CORPORA[corpus]}")) for m in METHODS}
    text = ", ".join(f"{m} {n:,}" for m, n in results.items())
    return f"Passes through the corpus, not equal: {text}."


def show_map():
    result = loaded(method)
    examples = EXAMPLES[corpus]
    default = next(iter(examples.values()))
    with stage.rail:
        chosen = ui.text("Words on the map", default, key=f"words-{corpus}", examples=examples, max_chars=600)
        asked = ui.text("Neighbours of", FIRST[corpus], key=f"word-{corpus}", max_chars=40)
    try:
        drawn = lens.plane(result, list(dict.fromkeys(chosen.lower().split())) or default.split())
        word = result.find(asked)
    except UserError as error:
        ui.stop(str(error))
    ids, cosines = neighbours(result.vectors, word, 12)
    near = [result.words[i] for i in ids.tolist()]
    with stage.picture:
        left, right = ui.columns([5, 3])
        with left:
            ui.figure(
                figures.word_map(drawn.points, drawn.words), key="map", share=1.0,
                alt="Chosen words in the plane of the two directions in which they differ most",
                data={"word": drawn.words, "x": drawn.points[:, 0], "y": drawn.points[:, 1]},
            )  # fmt: skip
        with right:
            ui.figure(
                basic.bars(near, cosines, horizontal=True, xlabel="cosine"), key="near", share=1.0,
                alt=f"The words nearest to {result.words[word]} by cosine",
                data={"word": near, "cosine": cosines},
            )  # fmt: skip
    stage.equation(
        rf"\cos(v_{{\text{{{result.words[word]}}}}}, v_{{\text{{{near[0]}}}}}) = {float(cosines[0]):.4f}",
        note=f"The plane keeps {drawn.share:.0%} of what tells these words apart; the bars all of it.",
    )
    with stage.below:
        ui.notice(
            "Words of one kind gather, though nobody said what the kinds are: only which words stood within "
            "two places of each other. A flat map of many dimensions lies a little; the bars use all of them."
        )
        ui.check(
            f"Is the word nearest to {result.words[word]!r} also drawn on the map?", ["yes", "no"],
            "yes" if near[0] in drawn.words else "no", f"It is {near[0]!r}.",
            wrong=lens.DRAWN,
            veils=("near", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            from lab import experiments, weights
            from lab.lenses import embeddings
            from modules.language.word_vectors import neighbours

            place = experiments.ZOO / "{METHODS[method]}-{CORPORA[corpus]}"
            table = embeddings.table(weights.load(place), weights.read_card(place))
            ids, cosines = neighbours(table.vectors, table.find({asked!r}), 12)
            result = cosines.tolist()
            """,
            shows=cosines.tolist(),
        )
        ui.source(neighbours, lens.plane, references=ROOM.references)


@ui.cached
def scores(corpus, exclude):
    """Questions right, by relation and method."""
    rows = {}
    for method in METHODS:
        result = loaded(method)
        asked = [r for r in result.pairs if len(result.pairs[r]) > 1]
        rows[method] = [embeddings.score(result, r, exclude) for r in asked]
    return asked, rows


def show_methods():
    with stage.rail:
        asked = ui.text("Neighbours of", FIRST[corpus], key=f"word-{corpus}", max_chars=40)
        exclude = ui.toggle("Leave the inputs out", True, key="exclude")
    names, rows = scores(corpus, exclude)
    shares = {m: sum(s.hits for s in row) / sum(s.questions for s in row) for m, row in rows.items()}
    near = {}
    for method in METHODS:
        result = loaded(method)
        try:
            ids, _ = neighbours(result.vectors, result.find(asked), 10)
        except UserError as error:
            ui.stop(str(error))
        near[method] = [result.words[i] for i in ids.tolist()]
    with stage.picture:
        ui.figure(
            basic.bars(list(shares), list(shares.values()), ylabel="questions right", probability=True),
            alt="Share of analogy questions answered rightly by each method", key="methods", share=1.0,
            data={"method": list(shares), "share": list(shares.values())},
        )  # fmt: skip
    stage.equation(
        r"\frac{\text{right}}{\text{asked}} = " + r",\quad ".join(
            rf"\text{{{m}}}: \frac{{{sum(s.hits for s in row)}}}{{{sum(s.questions for s in row)}}}"
            for m, row in rows.items()
        )
    )  # fmt: skip
    shared = len(set(near["skip-gram"]) & set(near["SVD of PPMI"]))
    best = max(shares, key=lambda m: shares[m])
    with stage.below:
        ui.caption(f"Skip-gram and the SVD share {shared} of their ten nearest words to {asked!r}.")
        ui.caption(trained_unequally())
        ui.table(near, alt=f"The ten nearest words to {asked} by each method", key="near")
        ui.table(
            {"relation": names} | {m: [f"{s.hits} of {s.questions}" for s in row] for m, row in rows.items()},
            alt="Questions answered rightly by relation and method", key="relations",
        )  # fmt: skip
        ui.notice(
            "Counting and predicting read the same windows. The planted corpus has a right answer for every "
            "question; a small corpus of captions teaches kinds of words well, relations between them less."
        )
        ui.check("Which method answers most questions?", list(shares), best, f"{shares[best]:.1%} of them.",
                 wrong={m: f"{m} reads the same windows, and answers {v:.1%}." for m, v in shares.items()},
                 veils=("picture", "equation"))  # fmt: skip
        ui.source(analogies, CountSVD, references=ROOM.references)


@ui.cached
def rare(n):
    """Inflections found again by method, and neighbours shared, by frequency; and the number of pairs."""
    near = {m: lens.nearest(loaded(m).vectors, n) for m in METHODS}
    pairs = lens.inflections(loaded("CBOW").words)
    again = {m: lens.by_frequency(lens.are_near(t, pairs), pairs.amax(1)) for m, t in near.items()}
    shared = lens.agreement(near["skip-gram"], near["SVD of PPMI"])
    return again, lens.by_frequency(shared), len(pairs)


@ui.cached
def passes():
    """Predictions in one pass through the planted corpus, by CBOW and by skip-gram."""
    return lens.predictions("relations", window=2)


def show_rare():
    with stage.rail:
        n = ui.slider("Nearest words n", 1, 20, 10, key="n")
    again, shared, total = rare(n)
    with stage.picture:
        left, right = ui.columns([3, 2])
        with left:
            ui.figure(
                basic.curves(again, lens.QUARTERS, markers=True, ylabel="inflections found",
                             xlabel="quarter, from frequent to rare"),
                alt="Share of inflections found among the nearest words, by frequency and method",
                data={"quarter": lens.QUARTERS} | again, key="again", share=1.0,
            )  # fmt: skip
        with right:
            ui.figure(
                basic.bars(lens.QUARTERS, shared, probability=True, ylabel="nearest words shared",
                           xlabel="skip-gram and SVD"),
                alt="Share of nearest words that skip-gram and SVD have in common, by frequency",
                data={"quarter": lens.QUARTERS, "shared": shared}, key="shared", share=1.0,
            )  # fmt: skip
    windows, pairs = passes()
    stage.equation(
        r"\text{rarest quarter: }" + r",\quad ".join(rf"\text{{{m}}}\ {v[-1]:.3f}" for m, v in again.items()),
        note=f"{total} pairs like “dog, dogs”.",
    )
    best = max(again, key=lambda m: again[m][-1])
    with stage.below:
        ui.caption(f"On average skip-gram and SVD share {sum(shared) / len(shared):.1%} of the {n} nearest "
                   "words.")  # fmt: skip
        ui.caption(
            f"Cost of a pass, counted on the planted corpus: CBOW predicts once a window, {windows:,} times; "
            f"skip-gram once a pair, {pairs:,} times. (With a full softmax a centre's pairs share theirs.)"
        )
        ui.caption(trained_unequally())
        ui.notice(
            "Skip-gram learns from every pair with a rare word; CBOW blurs it with its neighbours and makes "
            "fewer predictions. Read directions only: the methods are not compared at equal passes."
        )
        ui.check("Which method knows the rarest quarter best?", list(again), best,
                 f"{again[best][-1]:.1%} of its inflections.", veils=("picture", "equation"),
                 wrong={m: f"{m} learns from as few pairs, and finds {v[-1]:.1%}." for m, v in again.items()},
                 )  # fmt: skip
        ui.source(lens.inflections, lens.are_near, lens.agreement, lens.cost, references=ROOM.references)


{"Map": show_map, "Methods": show_methods, "Rare words": show_rare}[view]()
ui.prefetch(scores, (corpus, True), (corpus, False))
