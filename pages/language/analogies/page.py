"""Analogies: a step from one word to another, made from a third; the best case, and all cases."""

from lab import ui
from lab.errors import UserError
from lab.figures import basic
from lab.figures import word_vectors as figures
from lab.lenses import embeddings
from modules.language.word_vectors import analogies, offsets
from pages.language.analogies import lens
from pages.language.analogies.room import ROOM

METHODS = {"skip-gram": "skipgram", "CBOW": "cbow", "SVD of PPMI": "svd"}
CORPORA = {"planted": "relations", "captions": "multi30k"}
QUESTIONS = {"planted": ("stallion", "mare", "bull"), "captions": ("man", "woman", "boy")}

stage = ui.stage(ROOM)
stage.scenes(
    {
        "As in the books": ui.scene("The step from stallion to mare, made from bull, ends nearest to cow."),
        "Inputs allowed": ui.scene("Girl is still nearest, but the input boy comes right after it.",
                                   exclude=False, corpus="captions"),
        "Captions": ui.scene("man is to woman as boy is to girl, in 29,000 captions of pictures.",
                             corpus="captions"),
        "Every question": ui.scene("Four dimensions are too few: turn d to see when every question is right.",
                                   view="Board", d=4),
        "Noise": ui.scene("Half of the words are noise: many dimensions remember it, answers are lost.",
                          view="Board", noise=0.5, d=50),
        "Little text": ui.scene("From 200 sentences: all right near 20 dimensions, fewer with more.",
                                view="Board", sentences=200, d=19),
    }
)  # fmt: skip

with stage.rail:
    view = ui.choice("View", ["Question", "Board"], key="view")


def loaded(corpus: str, method: str) -> embeddings.Table:
    """The trained vectors of a method on a corpus."""
    name = f"{METHODS[method]}-{CORPORA[corpus]}"
    return embeddings.table(ui.load(name), ui.card(name))


@ui.cached
def board(sentences, noise):
    return lens.board(sentences, noise)


def show_question():
    with stage.rail:
        corpus = ui.choice("Corpus", list(CORPORA), key="corpus")
        method = ui.choice("Method", list(METHODS), key="method", as_list=True)
        asked = [
            ui.text(label, default, key=f"{label}-{corpus}", max_chars=40)
            for label, default in zip("abc", QUESTIONS[corpus], strict=True)
        ]
        result = loaded(corpus, method)
        relation = ui.choice("Relation", list(result.pairs), key=f"relation-{corpus}", as_list=True)
        exclude = ui.toggle("Leave the inputs out", True, key="exclude")
    a, b, c = (w.strip().lower() for w in asked)
    try:
        ranking = lens.answer(result, a, b, c, exclude)
        points, words = lens.corners(result, a, b, c, ranking[0][0])
    except UserError as error:
        ui.stop(str(error))
    best, cosine = ranking[0]
    with stage.picture:
        left, right = ui.columns([5, 3])
        with left:
            ui.figure(
                figures.parallelogram(points, words, right=lens.known(result, a, b, c) in (None, best)),
                alt=f"{b} − {a} + {c} and the word nearest to it, in the plane of these five points",
                data={"word": words, "x": points[:, 0], "y": points[:, 1]}, key="corners", share=1.0,
            )  # fmt: skip
        with right:
            ui.figure(
                basic.bars([w for w, _ in ranking], [s for _, s in ranking], horizontal=True,
                           xlabel="cosine", highlight=0),
                alt="The words nearest to b − a + c", key="ranking", share=1.0,
                data={"answer": [w for w, _ in ranking], "cosine": [s for _, s in ranking]},
            )  # fmt: skip
    scored = embeddings.score(result, relation, exclude)
    stage.metrics(
        {
            "Questions right": f"{scored.hits} of {scored.questions}",
            "Steps' mean cosine": f"{scored.offsets.cosine:.3f}",
            "Spread of length": f"{scored.offsets.spread:.3f}",
        }
    )
    stage.equation(
        rf"\cos(\hat v_{{\text{{{b}}}}} - \hat v_{{\text{{{a}}}}} + \hat v_{{\text{{{c}}}}},"
        rf"\ v_{{\text{{{best}}}}}) = {cosine:.4f}",
        note="The inputs are left out." if exclude else "The inputs may be the answer.",
    )
    with stage.below:
        ui.caption(
            f"All questions that the pairs of {relation!r} make."
            + (" The misses:" if scored.misses else " No misses.")
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
        ui.check(
            f"Are more than half of the questions of {relation!r} answered rightly?",
            ["yes", "no"],
            "yes" if 2 * scored.hits > scored.questions else "no",
            f"{scored.hits} of {scored.questions}.",
            wrong={
                "yes": "The pairs that one quotes are those that work: of all questions fewer than half do.",
                "no": "The steps of these pairs are nearly parallel: not only the famous ones come out.",
            },
            veils=("numbers", "misses"),
        )
        ui.program(
            f"""
            from lab import experiments, weights
            from lab.lenses import embeddings
            from pages.language.analogies import lens

            place = experiments.ZOO / "{METHODS[method]}-{CORPORA[corpus]}"
            table = embeddings.table(weights.load(place), weights.read_card(place))
            ranking = lens.answer(table, {a!r}, {b!r}, {c!r}, exclude={exclude})
            result = [cosine for word, cosine in ranking]
            """,
            shows=[s for _, s in ranking],
        )
        ui.source(analogies, offsets, references=ROOM.references)


def show_board():
    with stage.rail:
        sentences = ui.slider("Sentences", 100, 6000, 3000, key="sentences", step=100)
        noise = ui.slider("Noise, share of words", 0.0, 0.9, 0.0, key="noise", step=0.05)
    result = board(sentences, noise)
    dims = list(range(1, len(result.hits) + 1))
    film = ui.film(len(dims), key="d", default=11, label="d =", values=dims)
    shares = [hit / result.questions for hit in result.hits]
    fig = basic.curves({"right": shares}, x=dims, mark=dims[film.at], xlabel="dimensions d",
                       ylabel="share answered rightly")  # fmt: skip
    fig.update_yaxes(range=[0, 1.02])
    with stage.picture:
        ui.figure(
            fig, alt="Share of all analogy questions answered rightly, against the dimensions", key="board",
            data={"d": dims, "right": result.hits}, share=1.0, film=film,
            frames={"layout.shapes.0.x0": dims, "layout.shapes.0.x1": dims},
        )  # fmt: skip
    with stage.foot:
        film.bar(
            captions=[f"{d} dimensions answer {hit} of {result.questions} questions."
                      for d, hit in zip(dims, result.hits, strict=True)],
            equations=[rf"\frac{{{hit}}}{{{result.questions}}} = {share:.4f}"
                       for hit, share in zip(result.hits, shares, strict=True)],
        )  # fmt: skip
    enough = next((d for d, share in zip(dims, shares, strict=True) if share > 0.5), None)
    answer = "none" if enough is None else "1 to 5" if enough <= 5 else "6 to 20" if enough <= 20 else "more"
    with stage.below:
        ui.check(
            "How many dimensions answer more than half of the questions?",
            ["1 to 5", "6 to 20", "more", "none"], answer,
            f"The first that do are {enough}." if enough else "No number of them does.",
            wrong={
                "1 to 5": "So few directions hold the coarsest differences only: relations need more.",
                "6 to 20": "Relations take as many directions as there are relations apart, and here those "
                "are not so many or more.",
                "more": "Later dimensions hold less and less: what most questions ask lies in the first.",
                "none": "The questions do come out, once there is a direction for what they ask.",
            },
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            from pages.language.analogies import lens

            board = lens.board(sentences={sentences}, noise={noise:g})
            result = board.hits
            """,
            shows=result.hits,
        )
        ui.source(lens.board, lens.corpus, analogies, references=ROOM.references)


{"Question": show_question, "Board": show_board}[view]()
with stage.below:
    ui.notice(
        "The best case is shown in every book; the score counts all questions that the pairs make. Without "
        "leaving the inputs out the answer is often one of them: the step b − a is short, and c is near."
    )
