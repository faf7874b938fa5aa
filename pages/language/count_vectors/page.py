"""Count vectors: who stands near whom, and what an SVD keeps of it."""

from lab import ui
from lab.errors import UserError
from lab.figures import basic
from lab.figures import word_vectors as figures
from modules.language.count_vectors import CountSVD, ppmi
from pages.language.count_vectors import lens

GRUTT = (
    "I drank a hot grutt this morning. She ordered a blarpen at the café. "
    "The grutt was bitter and dark. He prefers blarpen to tea."
)
COFFEE = "I drank hot coffee this morning"
DRINKS = "\n".join(
    f"{who} {verb} {how} {drink} {when}"
    for who, verb, when in (("I", "drank", "this morning"), ("she", "ordered", "at the café"))
    for how, drink in (("hot", "grutt"), ("hot", "blarpen"), ("cold", "water"), ("cold", "beer"))
)
EXAMPLES = {"Grutt and blarpen": GRUTT, "Coffee": COFFEE, "More drinks": DRINKS}
DRAWN = 30  # words on the heat map and the map: the most frequent

ui.header(
    "Count vectors and SVD",
    "Count which words stand near each other, then keep the few directions that explain most.",
    lenses=("latent",),
)

# --- Controls -----------------------------------------------------------------------------------

written = ui.text(
    "Text, a sentence ends at . ! ? or a new line", GRUTT, key="text", examples=EXAMPLES, max_chars=5000
)
with ui.expander("A text file instead"):
    ui.upload("Its beginning is put above", into="text")
more = ui.text("Add a sentence", "", key="more", max_chars=200)
first, second, third = ui.columns(3)
with first:
    k = ui.slider("Words on each side k", 1, 5, 2, key="k")


@ui.cached
def read(written, more, k):
    before = lens.count(written, k)
    return before, lens.add(before, more, k) if more.strip() else before


@ui.cached
def decomposed(written, more, k, d, weighted):
    return lens.decompose(read(written, more, k)[1], d, weighted)


try:
    before, counted = read(written, more, k)
except UserError as error:
    ui.stop(str(error))
V = len(counted.words)
with second:
    d = ui.slider("Dimensions d", 1, V, min(2, V), key="d")
with third:
    weighted = ui.toggle("Weigh by PPMI", False, key="ppmi")


# --- Pictures -----------------------------------------------------------------------------------

found = decomposed(written, more, k, d, weighted)
sizes = {
    "Words, different": f"{counted.tokens}, {V}",
    "Sum of C": f"{float(counted.counts.sum()):g}",
    "Empty cells": f"{counted.zeros:.2%}",
    "Rank": f"{found.rank}",
}
for column, (label, value) in zip(ui.columns(4), sizes.items(), strict=True):
    with column:
        ui.metric(label, value)
n = min(DRAWN, V)
names = list(counted.words[:n])
table, spectrum, near = ui.tabs(["Counts", "Singular values", "Map and neighbours"])
with table:
    what, reach = "PPMI" if weighted else "C", float(found.matrix.max())
    for matrix, title in (
        (found.matrix, f"{what}: row word, column word near it"),
        (found.approximation, f"{what} as {d} dimensions remember it"),
    ):
        ui.figure(
            basic.heatmap(
                matrix[:n, :n], names, names, title, "diverging", zmin=-reach, zmax=reach, height=640
            ),
            alt=f"{title}, {n} words",
            data={"word": names} | {w: matrix[:n, i] for i, w in enumerate(names)},
        )
with spectrum:
    ui.figure(
        basic.bars(
            list(range(1, V + 1)), found.spectrum, highlight=range(d), xlabel="number i",
            title="Singular values σ, those that are kept in full colour",
        ),
        alt="The singular values, largest first",
        data={"i": list(range(1, V + 1)), "sigma": found.spectrum},
    )  # fmt: skip
    ui.figure(
        basic.curves(
            {"lost": found.errors}, title="What is lost, ‖C − C_d‖", xlabel="dimensions d", mark=d, height=340
        ),
        alt="The Frobenius norm of what d dimensions do not keep, against d",
        data={"d": list(range(V + 1)), "lost": found.errors},
    )
with near:
    points = lens.plane(found, n)
    ui.figure(
        figures.word_map(points, names),
        alt="The most frequent words in the two directions in which their vectors differ most",
        data={"word": names, "x": points[:, 0], "y": points[:, 1]},
    )
    usual = "grutt" if "grutt" in names else names[0]
    asked = ui.text("Neighbours of", usual, key=f"word-{usual}", max_chars=40)
    try:
        close = lens.near(counted, found, asked)
    except UserError as error:
        ui.warning(str(error))
    else:
        ui.figure(
            basic.bars(
                close.words, close.cosines, baseline=close.whole, horizontal=True, xlabel="cosine",
                height=480, names=(f"{d} dimensions", "whole rows"),
                title=f"Nearest to {asked.strip().lower()}",
            ),
            alt=f"The words nearest to {asked} by cosine, in {d} dimensions and in the whole matrix",
            data={"word": close.words, "d dimensions": close.cosines, "whole rows": close.whole},
        )  # fmt: skip
lost = float((found.matrix - found.approximation).norm())
ui.equation(
    rf"\lVert C - C_{{{d}}} \rVert_F = {lost:.7f} = \sqrt{{\textstyle\sum_{{i>{d}}} \sigma_i^2}}"
    rf" = {float(found.errors[d]):.7f}",
    note=f"Left: the two matrices, subtracted. Right: the {V - d} dropped singular values. No other "
    f"matrix of rank {d} comes nearer (Eckart and Young).",
)
if more.strip():
    anew = lens.difference(counted, written + "\n" + more, k)
    changed = int((counted.counts != 0).sum() - (before.counts != 0).sum())
    ui.caption(
        f"The added sentence was counted alone: {float(counted.counts.sum() - before.counts.sum()):g} pairs, "
        f"{changed} cells that were empty, {V - len(before.words)} new words. Counting the whole text anew "
        f"differs by {anew:g}; only the SVD is done again."
    )
ui.notice(
    "Counts are almost all zeros; d numbers a word are not, and words that never met can be near each other. "
    "With four sentences grutt and blarpen share no more than **a** and **the**: such a table needs text. "
    "New text needs no old text: counts add."
)
ui.presets(
    {
        "Grutt and blarpen": {"text": GRUTT, "k": 2, "d": 2, "ppmi": False, "more": ""},
        "More text": {"text": DRINKS, "k": 2, "d": 5},
        "A sentence more": {"more": "She drank a hot blarpen this morning."},
        "Coffee": {"text": COFFEE, "k": 2, "d": 2, "more": ""},
    }
)
kept = 1 - (lost / float(found.matrix.norm())) ** 2
ui.check(
    f"Do {d} of {V} dimensions keep more than half of Σσ²?",
    ["yes", "no"],
    "yes" if kept > 0.5 else "no",
    f"They keep {kept:.1%}.",
)
ui.source(
    CountSVD.fit, ppmi, lens.add,
    references=[
        "Eckart and Young 1936, The approximation of one matrix by another of lower rank",
        "Deerwester et al. 1990, Indexing by latent semantic analysis",
        "Bullinaria and Levy 2007, Extracting semantic representations from word co-occurrence statistics",
        "[GM] §1.6.1",
    ],
)  # fmt: skip
