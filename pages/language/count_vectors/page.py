"""Count vectors: who stands near whom, and what an SVD keeps of it."""

from lab import ui
from lab.errors import UserError
from lab.figures import basic, labels
from lab.figures import word_vectors as maps
from modules.language.count_vectors import CountSVD, ppmi
from pages.language.count_vectors import figures, lens
from pages.language.count_vectors.room import ROOM

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
EXAMPLES = {"Grutt": GRUTT, "Coffee": COFFEE, "Drinks": DRINKS}
DRAWN = 24  # words on the heat map and the map: the most frequent

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Two dimensions": ui.scene("Two dimensions remember the frequent words; other counts (dots) fade."),
        "Every dimension": ui.scene("With all dimensions every count is back: a dot on each coloured cell.",
                                    d=21),
        "Coffee": ui.scene("One sentence: each word stands near at most four others.", text=COFFEE, d=6),
        "PPMI": ui.scene("Weighed by surprise: pairs of rare words count most.", ppmi=True, d=21),
        "Where is grutt?": ui.scene("Four sentences are too few: grutt is not near blarpen in whole rows.",
                                    view="Map", d=21),
        "More drinks": ui.scene("With eight sentences grutt and blarpen are one point: same company.",
                                text=DRINKS, view="Map", d=5),
        "A sentence more": ui.scene("One sentence more, counted alone: now blarpen is nearest to grutt.",
                                    more="She drank a hot blarpen this morning.", view="Map", d=21),
    }
)  # fmt: skip

# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    view = ui.choice("View", ["Matrix", "Map"], key="view")
    written = ui.text("Text, a sentence ends at . ! ? or a new line", GRUTT, key="text", examples=EXAMPLES,
                      max_chars=5000)  # fmt: skip
    more = ui.text("Add a sentence", "", key="more", max_chars=200)
    k = ui.slider("Words on each side k", 1, 5, 2, key="k")
    weighted = ui.toggle("Weigh by PPMI", False, key="ppmi")


@ui.cached
def read(written, more, k):
    before = lens.count(written, k)
    return before, lens.add(before, more, k) if more.strip() else before


@ui.cached
def decomposed(written, more, k, weighted):
    counted = read(written, more, k)[1]
    return lens.decompose(counted, len(counted.words), weighted)


@ui.cached
def mapped(written, more, k, weighted, n):
    """The words' places for every d, those of their labels, and the lines that lead there."""
    points, shown = (
        lens.planes(decomposed(written, more, k, weighted), n),
        read(written, more, k)[1].words[:n],
    )
    span = labels.REACH * max(1e-6, float(points.abs().max()))
    places = labels.places(points, shown, span)
    return points, places, labels.leaders(points, places, shown, span), span


try:
    before, counted = read(written, more, k)
except UserError as error:
    ui.stop(str(error))
V, n = len(counted.words), min(DRAWN, len(counted.words))
names = list(counted.words[:n])
whole = decomposed(written, more, k, weighted)
film = ui.film(V + 1, key="d", default=min(2, V), label="d =", values=range(V + 1))
d, what = film.at, "PPMI" if weighted else "C"
tex = rf"\mathrm{{{what}}}"

# --- Picture ------------------------------------------------------------------------------------


def show_matrix():
    left, right = ui.columns([5, 3])
    remembered = lens.approximations(whole, n)
    with left:
        ui.figure(
            figures.remembered(remembered[d], whole.matrix[:n, :n], names, float(whole.matrix.max())),
            alt=f"{what} as d dimensions remember it, dots where something was counted; {n} words",
            data={"word": names} | {w: whole.matrix[:n, i] for i, w in enumerate(names)},
            key="matrix", share=1.0, film=film, frames={"data.0.z": remembered},
        )  # fmt: skip
    with right:
        ui.figure(
            figures.kept(whole.spectrum, d), alt="The singular values, those that are kept in full colour",
            data={"i": list(range(1, V + 1)), "sigma": whole.spectrum}, key="spectrum", share=0.5,
            film=film, frames={"data.0.marker.color": [figures.colors(V, i) for i in range(V + 1)]},
        )  # fmt: skip
        dims = list(range(V + 1))
        ui.figure(
            basic.curves({"lost": whole.errors}, xlabel="d", ylabel="lost", mark=d),
            alt="The Frobenius norm of what d dimensions do not keep, against d", key="lost",
            data={"d": dims, "lost": whole.errors}, share=0.5,
            film=film, frames={"layout.shapes.0.x0": dims, "layout.shapes.0.x1": dims},
        )  # fmt: skip


def show_map():
    usual = "grutt" if "grutt" in names else names[0]
    with stage.rail:
        asked = ui.text("Neighbours of", usual, key=f"word-{usual}", max_chars=40)
    left, right = ui.columns([5, 3])
    points, places, leaders, span = mapped(written, more, k, weighted, n)
    with left:
        ui.figure(
            maps.word_map(points[d], names, span=span, places=places[d]),
            alt="The most frequent words in the two directions in which their vectors differ most",
            data={"word": names, "x": points[d, :, 0], "y": points[d, :, 1]}, key="map", share=1.0,
            film=film, frames={"data.0.x": points[..., 0], "data.0.y": points[..., 1],
                               "data.1.x": places[..., 0], "data.1.y": places[..., 1],
                               "data.2.x": leaders[..., 0], "data.2.y": leaders[..., 1]},
        )  # fmt: skip
    try:
        close = lens.ranking(counted, whole, asked)
    except UserError as error:
        stage.rail.warning(str(error))
        return
    at = [max(0, i - 1) for i in range(V + 1)]  # no dimensions have no cosine: those of one stand there
    with right:
        ui.figure(
            figures.neighbours(close.words[at[d]], close.cosines[at[d]], close.whole[at[d]]),
            alt=f"The words nearest to {asked} by cosine, in d dimensions and in the whole matrix",
            data={"word": close.words[at[d]], "d dimensions": close.cosines[at[d]],
                  "whole rows": close.whole[at[d]]},
            key="near", share=1.0, film=film,
            frames={"data.0.x": close.whole[at], "data.1.x": close.cosines[at],
                    "layout.yaxis.ticktext": [close.words[i] for i in at]},
        )  # fmt: skip


with stage.picture:
    {"Matrix": show_matrix, "Map": show_map}[view]()
errors = whole.errors.tolist()
all_of_it = float(whole.matrix.square().sum())
shares = [1 - e * e / all_of_it for e in errors]
with stage.foot:
    film.bar(
        captions=[f"{i} of {V} dimensions keep {share:.1%} of Σσ²." for i, share in enumerate(shares)],
        equations=[
            rf"\lVert {tex} - {tex}_{{{i}}} \rVert_F = \sqrt{{\textstyle\sum_{{i>{i}}} \sigma_i^2}} = {e:.7f}"
            for i, e in enumerate(errors)
        ],
    )
stage.metrics(
    {
        "Words, different": f"{counted.tokens}, {V}",
        "Sum of C": f"{float(counted.counts.sum()):g}",
        "Empty cells": f"{counted.zeros:.2%}",
        "Rank": f"{whole.rank}",
    }
)

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    ui.caption("No other matrix of rank d comes nearer (Eckart and Young). Where it remembers less than "
               "nothing, the colour is that of 0.")  # fmt: skip
    if more.strip():
        anew = lens.difference(counted, written + "\n" + more, k)
        changed = int((counted.counts != 0).sum() - (before.counts != 0).sum())
        ui.caption(
            f"The added sentence was counted alone: {float(counted.counts.sum() - before.counts.sum()):g} "
            f"pairs, {changed} cells that were empty, {V - len(before.words)} new words. Counting the whole "
            f"text anew differs by {anew:g}; only the SVD is done again."
        )
    ui.notice(
        f"Of the counts {counted.zeros:.0%} are zero; d numbers per word are not, and words that never met "
        "can be near each other. What two words share is the company that they keep, so such a table needs "
        "text. New text needs no old text: counts add."
    )
    ui.check(
        f"Do {d} of {V} dimensions keep more than half of Σσ²?",
        ["yes", "no"],
        "yes" if shares[d] > 0.5 else "no",
        f"They keep {shares[d]:.1%}.",
        wrong={"no": f"The largest singular values come first: they keep {shares[d]:.1%}.",
               "yes": f"The singular values fall slowly here: they keep {shares[d]:.1%}."},
        veils=("picture", "equation"),
    )  # fmt: skip
    ui.program(
        f"""
        from modules.language.count_vectors import CountSVD
        from pages.language.count_vectors import lens

        counted = lens.count({written!r}, k={k})
        counted = lens.add(counted, {more!r}, k={k})
        V = len(counted.words)
        model = CountSVD(V, {max(d, 1)}, weighting="{"ppmi" if weighted else "counts"}", power=1.0).double()
        model.fit(counted.counts)
        matrix = model.weighted(counted.counts)
        result = float((matrix - model.vectors @ model.right.T).norm())
        """,
        shows=errors[max(d, 1)],
    )
    with ui.expander("A text file instead"):
        ui.upload("Its beginning is put into the text", into="text")
    ui.source(
        CountSVD.fit, ppmi, lens.add,
        references=ROOM.references,
    )  # fmt: skip
