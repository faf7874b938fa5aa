"""Almost orthogonal directions: random ones with their exact cosines, and a million by construction."""

from math import cos, radians

from lab import ui
from lab.figures import basic
from modules.language import packing
from pages.language.packing import figures, lens

ui.header(
    "Packing",
    "In many dimensions almost all directions are almost orthogonal: room for many more words than axes.",
    lenses=("latent",),
)

# --- Controls -----------------------------------------------------------------------------------

first, second, third = ui.columns(3)
with first:
    n = ui.slider("Dimensions n", 10, 1500, 1000, key="n", step=10)
with second:
    M = ui.slider("Random directions M", 2, 800, 300, key="m")
with third:
    angle = ui.slider("Smallest angle allowed (°)", 45.0, 89.0, 85.0, key="angle", step=0.5)
seed = ui.number("Seed", 0, 9999, 0, key="seed")


@ui.cached
def drawn(n, M, epsilon, seed):
    return lens.cosines(n, M, epsilon, seed)


@ui.cached
def constructed():
    return lens.construction()


# --- Picture ------------------------------------------------------------------------------------

epsilon = cos(radians(angle))
found = drawn(n, M, epsilon, seed)
ui.figure(
    figures.histogram(found.edges, found.counts, found.expected, epsilon),
    alt="Histogram of the cosines of all pairs of random directions, with the exact one and the bound",
    data={"from": found.edges[:-1], "to": found.edges[1:], "pairs": found.counts, "exact": found.expected},
)
room = lens.room(found.probability)
for column, (label, number) in zip(
    ui.columns(3),
    {
        "Pairs beyond the bound": f"{found.violations:,} of {found.pairs:,}",
        "Expected": f"{found.probability * found.pairs:,.1f}",
        "Random directions without one": f"{room:,}",
    }.items(),
    strict=True,
):
    with column:
        ui.metric(label, number)
if ui.toggle("Build 1,048,576 directions in R¹⁰²⁴ and check every pair", False, key="build"):
    built = constructed()
    names = ["0", "1/32", "1/16"]
    ui.figure(
        basic.bars(names, built.counts, ylabel="pairs (β, α)", xlabel="|cosine|"),
        alt="How often each absolute cosine occurs among the pairs of the construction",
        data={"cosine": built.values, "pairs": built.counts},
    )
    ui.caption(
        f"{built.vectors:,} unit vectors, every angle at least {built.angle:.2f}°: two with the same β are "
        "orthogonal, and all others have one of these three cosines."
    )
ui.equation(
    rf"P(|\cos| > {epsilon:.4f}) = {found.probability:.3g},\qquad \tfrac{{M(M-1)}}{{2}}\,P < 1"
    rf" \iff M \le {f'{room:,}'.replace(',', '{,}')}",
    note=f"cos² of two random directions is Beta(½, (n − 1)/2): cos spreads by 1/√n = {n**-0.5:.4f}.",
)
ui.notice(
    "The spread is 1/√n, yet with many vectors some pair is always bad: random choice has far less room than "
    "the best arrangement. That a million directions fit into 1,024 dimensions is shown by building them."
)
ui.presets(
    {
        "As in the text": {"n": 1000, "m": 181, "angle": 85.0},
        "Few dimensions": {"n": 100, "m": 181, "angle": 85.0},
        "Room for all": {"n": 1000, "m": 18, "angle": 85.0},
    }
)
ui.check(
    f"Do {M} random directions in {n} dimensions keep {angle:g}°?",
    ["yes", "no"],
    "no" if found.violations else "yes",
    f"{found.violations:,} pairs do not.",
)
ui.source(
    packing.violation,
    packing.spectra,
    packing.quadratic,
    references=["MacWilliams and Sloane 1977, The theory of error-correcting codes, ch. 15", "[GM] §1.6.1"],
)
