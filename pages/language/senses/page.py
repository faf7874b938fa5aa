"""Senses: one static vector for a word with two meanings, and one for each place where it stands."""

from typing import cast

from datamodules import senses
from lab import ui
from lab.errors import UserError
from lab.lenses import embeddings
from modules.transformer.gpt import GPT
from pages.language.senses import figures, lens
from pages.language.senses.room import ROOM

NAME = "gpt-senses"
EXAMPLES = {
    "River": "she fished at the old bank of the river",
    "Money": "tom saved at the old bank for the loan",
    "Said only later": "he waited at the old bank of the river",
}

stage = ui.stage(ROOM)
stage.scenes(
    {
        "River": ui.scene("“fished” has come before the bank: it stands among those of the river."),
        "Money": ui.scene(
            "“saved” has come before: the same word stands at the other side.", own=EXAMPLES["Money"]
        ),
        "Said only later": ui.scene(
            "“of the river” comes after the bank, and a reader from left to right does not know it yet.",
            own=EXAMPLES["Said only later"],
        ),
        "Before the first block": ui.scene("All banks are one point: the table's view of the word.", layer=0),
        "After one block": ui.scene("One look at the words before, and the senses stand apart.", layer=1),
    }
)  # fmt: skip

# --- Controls -----------------------------------------------------------------------------------

model = cast(GPT, ui.load(NAME))
table = embeddings.table(ui.load("skipgram-senses"), ui.card("skipgram-senses"))
LAYERS = ["words and places", *(f"after block {n + 1}" for n in range(len(model.blocks)))]
with stage.rail:
    written = ui.text("A sentence with “bank”", EXAMPLES["River"], key="own", max_chars=120, area=True)
    n = ui.slider("Sentences", 20, 400, 200, key="n", step=20)
    seed = ui.number("Seed", 0, 999, 0, key="seed")
film = ui.film(len(LAYERS), key="layer", seconds=1.0, default=len(LAYERS) - 1, label="Layer")


@ui.cached
def occurrences(n, seed):
    """Sentences with what each layer makes of their bank, and how k-means groups it there."""
    results = lens.occurrences(cast(GPT, ui.load(NAME)), n, seed)
    return results, [lens.cluster(states, results.senses) for states in results.states]


try:
    mine = lens.own(model, written)
except UserError as error:
    ui.stop(str(error))
result, clusters = occurrences(n, seed)
sides = [senses.SENSES[c.nearest(state)] for c, state in zip(clusters, mine, strict=True)]
hits, side = clusters[film.at].hits, sides[film.at]

# --- Picture ------------------------------------------------------------------------------------

near = lens.static(table)
words, cosines, meant = (list(column) for column in zip(*near, strict=True))
with stage.picture:
    left, right = ui.columns([2, 3])
    with left:
        ui.figure(
            figures.neighbours(words, cosines, meant, senses.SENSES),
            alt="The words nearest to bank in the skip-gram vectors, with their senses", share=1.0,
            data={"word": words, "cosine": cosines, "sense": meant},
        )  # fmt: skip
    with right:
        points = lens.planes(result.states, mine)
        fig, frames = figures.cloud(points, result.senses, senses.SENSES, result.sentences, film.at)
        ui.figure(
            fig, alt="The vectors of bank in many sentences, coloured by sense, and that of the reader's",
            key="cloud", share=1.0, film=film, frames=frames,
            data={"x": points[film.at, :n, 0], "y": points[film.at, :n, 1], "sense": result.senses},
        )  # fmt: skip
stage.metrics(
    {
        "Nearest words, river": f"{meant.count('river')} of {len(near)}",
        "Told apart by k-means": f"{hits / n:.1%}",
        "Your bank is nearer to": side,
    }
)
majority = int(max(result.senses.sum(), n - result.senses.sum()))
with stage.foot:
    film.bar(
        captions=[
            f"{layer.capitalize()}: k-means, knowing no sense, groups {c.hits} of {n} with theirs; your bank "
            f"is nearer to {where}."
            for layer, c, where in zip(LAYERS, clusters, sides, strict=True)
        ],
        equations=[
            rf"\frac{{\text{{grouped with their sense}}}}{{\text{{occurrences}}}} = \frac{{{c.hits}}}{{{n}}}"
            rf" = {c.hits / n:.4f},\quad \text{{one vector for all: }} \frac{{{majority}}}{{{n}}}"
            for c in clusters
        ],
    )

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    ui.notice(
        "The table puts the bank between shores and lenders, for it must serve both. In the Transformer all "
        "banks start as one point, and each block adds what the words before say. It reads from left to "
        "right: a sense that is said only after the bank comes too late for it. With equal vectors nothing "
        "can be told apart: naming the more frequent sense is all that is left."
    )
    ui.caption("How a place reads the words before it:")
    ui.page_link(next(page for page in ui.pages() if page.topic == "attention"))
    ui.check(
        "To which sense is your bank nearer?", list(senses.SENSES), side,
        f"Its vector is nearer to the middle of the group of the {side}.",
        wrong={
            sense: f"The words before decide, and they pull this bank away from the {sense}."
            for sense in senses.SENSES
        },
        veils=("picture", "numbers", "equation"),
    )  # fmt: skip
    ui.program(
        f"""
        from lab import experiments, weights
        from pages.language.senses import lens
        model = weights.load(experiments.ZOO / "{NAME}")
        occurrences = lens.occurrences(model, {n}, {seed})
        result = lens.cluster(occurrences.states[{film.at}], occurrences.senses).hits
        """,
        shows=hits,
    )
    with ui.expander("Words that the model knows"):
        ui.write(", ".join(sorted(senses.VOCABULARY)))
    ui.source(
        senses.sentences, lens.states, lens.cluster,
        references=ROOM.references,
    )  # fmt: skip
