"""Senses: one static vector for a word with two meanings, and one for each place where it stands."""

from typing import cast

from datamodules import senses
from lab import ui
from lab.errors import UserError
from lab.lenses import embeddings
from modules.transformer.gpt import GPT
from pages.language.senses import figures, lens

NAME = "gpt-senses"
EXAMPLES = {
    "River": "she fished at the old bank of the river",
    "Money": "tom saved at the old bank for the loan",
    "Said only later": "he waited at the old bank of the river",
}

ui.header(
    "Senses",
    "A table has one vector for a word; a Transformer makes one for every place where the word stands.",
    lenses=("latent",),
)

# --- Controls -----------------------------------------------------------------------------------

model = cast(GPT, ui.load(NAME))
table = embeddings.table(ui.load("skipgram-senses"), ui.card("skipgram-senses"))
LAYERS = ["words and places", *(f"after block {n + 1}" for n in range(len(model.blocks)))]
written = ui.text("A sentence with “bank”", EXAMPLES["River"], key="own", examples=EXAMPLES, max_chars=120)
first, second, third = ui.columns(3)
with first:
    layer = LAYERS.index(ui.choice("Look", LAYERS, key="layer", default=LAYERS[-1], as_list=True))
with second:
    n = ui.slider("Sentences", 20, 400, 200, key="n", step=20)
with third:
    seed = ui.number("Seed", 0, 999, 0, key="seed")


@ui.cached
def occurrences(n, seed):
    return lens.occurrences(cast(GPT, ui.load(NAME)), n, seed)


try:
    mine = lens.own(model, written)[layer]
except UserError as error:
    ui.stop(str(error))
found = occurrences(n, seed)
clusters = lens.cluster(found.states[layer], found.senses)

# --- Picture ------------------------------------------------------------------------------------

left, right = ui.columns(2)
with left:
    ui.markdown("##### A table: one vector")
    near = lens.static(table)
    words, cosines, meant = (list(column) for column in zip(*near, strict=True))
    ui.figure(
        figures.neighbours(words, cosines, meant, senses.SENSES),
        alt="The words nearest to bank in the skip-gram vectors, with their senses",
        data={"word": words, "cosine": cosines},
    )
with right:
    ui.markdown("##### A Transformer: one a place")
    points = lens.plane(found.states[layer], mine)
    ui.figure(
        figures.cloud(points, found.senses, senses.SENSES, found.sentences),
        alt="The vectors of bank in many sentences, coloured by sense, and that of the reader's sentence",
        data={"x": points[:n, 0], "y": points[:n, 1], "sense": found.senses},
    )
kinds = [sense for _, _, sense in near]
side = senses.SENSES[clusters.nearest(mine)]
majority = int(max(found.senses.sum(), n - found.senses.sum()))
values = {
    "Of the nearest words, river": f"{kinds.count('river')} of {len(near)}",
    "Told apart by k-means": f"{clusters.hits / n:.1%}",
    "Your bank is nearer to": side,
}
for column, (label, value) in zip(ui.columns(3), values.items(), strict=True):
    with column:
        ui.metric(label, value)
ui.equation(
    rf"\frac{{\text{{grouped with their sense}}}}{{\text{{occurrences}}}} = \frac{{{clusters.hits}}}{{{n}}}"
    rf" = {clusters.hits / n:.4f},\qquad \text{{one vector for all: }} \frac{{{majority}}}{{{n}}}",
    note=f"k-means finds two groups in the {found.states.shape[-1]} numbers of each occurrence, knowing no "
    "sense. With equal vectors nothing can be told: naming the more frequent sense is all that is left.",
)
ui.notice(
    "The table puts the bank between shores and lenders, for it must serve both. In the Transformer all "
    "banks start as one point, and each block adds what the words before say. It reads from left to "
    "right: a sense that is said only after the bank comes too late for it."
)
attention = next(page for page in ui.pages() if page.topic == "attention")
ui.caption("How a place reads the words before it:")
ui.page_link(attention)
ui.presets(
    {name: {"own": text, "layer": LAYERS[-1]} for name, text in EXAMPLES.items()}
    | {"Before the first block": {"layer": LAYERS[0]}}
)
ui.check("To which sense is your bank nearer?", list(senses.SENSES), side)
with ui.expander("Words that the model knows"):
    ui.write(", ".join(sorted(senses.VOCABULARY)))
ui.source(
    senses.sentences, lens.states, lens.cluster,
    references=["Ethayarajh 2019, How contextual are contextualized word representations?, arXiv:1909.00512",
                "[GM] §1.6.1, §1.6.4"],
)  # fmt: skip
