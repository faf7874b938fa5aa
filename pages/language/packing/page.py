"""Almost orthogonal directions: random ones with their exact cosines, and a million by construction."""

from math import cos, radians

from lab import ui
from lab.figures import basic
from modules.language import packing
from pages.language.packing import figures, lens
from pages.language.packing.room import ROOM

stage = ui.stage(ROOM)
stage.scenes(
    {
        "A thousand dimensions": ui.scene("The cosines of 300 directions drawn at random crowd around 0."),
        "A hundred": ui.scene("In a hundred dimensions the cosines spread three times as wide.", n=100),
        "Ten": ui.scene("In ten dimensions four of five pairs lie beyond the bound: no crowd at 0.", n=10),
        "181, as in the text": ui.scene(
            "181 directions in 1,000 dimensions: 98 of 16,290 pairs lie outside 85° to 95°.", m=181
        ),
        "Only 18": ui.scene(
            "At 18 directions less than one bad pair is expected: random choice has no more room.", m=18
        ),
        "A million, built": ui.scene(
            "Arranged, not drawn: 1,048,576 directions in R¹⁰²⁴, any two 86° apart or more.", build=True
        ),
    }
)

# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    n = ui.slider("Dimensions n", 10, 1500, 1000, key="n", step=10)
    M = ui.slider("Random directions M", 2, 800, 300, key="m")
    angle = ui.slider("Smallest angle allowed (°)", 45.0, 89.0, 85.0, key="angle", step=0.5)
    seed = ui.number("Seed", 0, 9999, 0, key="seed")
    build = ui.toggle("Build a million", False, key="build", help="2²⁰ directions in R¹⁰²⁴")


@ui.cached
def drawn(n, M, epsilon, seed):
    return lens.cosines(n, M, epsilon, seed)


@ui.cached
def constructed():
    return lens.construction()


ui.prefetch(constructed, ())
epsilon = cos(radians(angle))
result = drawn(n, M, epsilon, seed)
room = lens.room(result.probability)

# --- Picture ------------------------------------------------------------------------------------


def show_random():
    ui.figure(
        figures.histogram(result.edges, result.counts, result.expected, epsilon),
        alt="Histogram of the cosines of all pairs of random directions, with the exact one and the bound",
        data={"from": result.edges[:-1], "to": result.edges[1:], "pairs": result.counts,
              "exact": result.expected},
        key="random", share=1.0,
    )  # fmt: skip


with stage.picture:
    if build:
        one, other = ui.columns(2)
        with one:
            show_random()
        built = constructed()
        with other:
            ui.figure(
                basic.bars(["0", "1/32", "1/16"], built.counts, ylabel="pairs (β, α)",
                           xlabel="|cosine| of two directions, built"),
                alt="How often each absolute cosine occurs among the pairs of the construction",
                data={"cosine": built.values, "pairs": built.counts}, share=1.0,
            )  # fmt: skip
    else:
        show_random()
stage.metrics(
    {
        "Beyond the bound": f"{result.violations:,} of {result.pairs:,}",
        "Expected": f"{result.probability * result.pairs:,.1f}",
        "Room for": f"{room:,} at random",
    }
    | ({"Smallest angle, built": f"{built.angle:.2f}°"} if build else {})
)
stage.equation(
    rf"P(|\cos| > {epsilon:.4f}) = {result.probability:.3g},\qquad \tfrac{{M(M-1)}}{{2}}\,P < 1"
    rf" \iff M \le {f'{room:,}'.replace(',', '{,}')}",
    note=f"cos² of two random directions is Beta(½, (n − 1)/2): cos spreads by 1/√n = {n**-0.5:.4f}.",
)

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    ui.notice(
        "The spread is 1/√n, yet with many vectors some pair is always bad: random choice has far less room "
        "than the best arrangement. That a million directions fit into 1,024 dimensions is shown by building "
        "them."
    )
    if build:
        ui.caption(
            f"{built.vectors:,} unit vectors, every angle at least {built.angle:.2f}°: two with the same β "
            "are orthogonal, and all others have one of these three cosines."
        )
    ui.check(
        f"Do {M} random directions in {n} dimensions keep {angle:g}°?",
        ["yes", "no"],
        "no" if result.violations else "yes",
        f"{result.violations:,} of {result.pairs:,} pairs do not.",
        wrong={
            "yes": f"There are {result.pairs:,} pairs: it takes only one that falls beyond the bound.",
            "no": f"With n = {n} the cosines spread by {n**-0.5:.3f}, the bound stands at {epsilon:.3f}.",
        },
        veils=("picture", "equation"),
    )
    ui.program(
        f"""
        from math import cos, radians
        from modules.language import packing

        cosines = packing.random_cosines(n={n}, vectors={M}, seed={seed}).double()
        epsilon = cos(radians({angle:g}))
        beyond = int((cosines.abs() > epsilon).sum())
        result = [beyond, packing.violation({n}, epsilon) * len(cosines)]
        """,
        shows=[result.violations, result.probability * result.pairs],
    )
    ui.source(
        packing.violation,
        packing.spectra,
        packing.quadratic,
        references=ROOM.references,
    )  # fmt: skip
