"""Entropy floor: a source with a known entropy rate, and how near to it models of its text can come."""

from typing import Any

from lab import ui
from lab.figures import basic, theme
from modules.language import information, ngram
from pages.language.entropy_floor import figures, lens
from pages.language.entropy_floor.room import ROOM

LENGTHS = [30, 300, 3000, 30000]
TEXTS = 400


@ui.cached
def ladder(a: float, b: float, train: int, test: int, most: int, alpha: float, seed: int) -> lens.Ladder:
    source = lens.two_states(a, b)
    return lens.ladder(source, source.sample(1, train, seed), source.sample(1, test, seed + 1), most, alpha)


@ui.cached
def finite(a: float, b: float, length: int, seed: int) -> Any:
    return lens.scatter_of_texts(lens.two_states(a, b), TEXTS, length, seed + 2)


stage = ui.stage(ROOM)
stage.scenes(
    {
        "Classic chain": ui.scene("From order 2 on models come near the floor; on average none is below."),
        "Little text": ui.scene(
            "Learned from 30 symbols: higher orders please their own text, and are worse on all others.",
            train=30, n=8,
        ),
        "Much text": ui.scene("Learned from 30,000 symbols every order from 2 on lies on the floor.",
                              train=30000, test=30000),
        "Short tests": ui.scene("Short texts, scored by their own source: half of them cost less than H.",
                                test=30),
        "A fair coin": ui.scene("Nothing to learn: the floor is one bit, and every text costs it exactly.",
                                a=0.5, b=0.5, train=300, test=30),
        "Nearly periodic": ui.scene("0 1 0 1 …: alone a symbol costs one bit, given its past a third.",
                                    a=0.95, b=0.95),
    }
)  # fmt: skip

# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    a = ui.slider("P(1 after 0)", 0.01, 0.99, 0.1, key="a", step=0.01)
    b = ui.slider("P(0 after 1)", 0.01, 0.99, 0.5, key="b", step=0.01)
    train = ui.choice("Symbols to learn from", LENGTHS, key="train", default=3000, as_list=True)
    test = ui.choice("Symbols in a test text", LENGTHS, key="test", default=3000, as_list=True)
    most = ui.slider("Highest order n", 2, 8, 6, key="n")
    alpha = ui.slider("α added to each count", 0.05, 2.0, 0.5, key="alpha", step=0.05)
    seed = ui.number("Seed", 0, 9999, 0, key="seed")

source = lens.two_states(a, b)
rungs = ladder(a, b, train, test, most, alpha, seed)
turned = [*((v, b) for v in ui.near(a, 0.01, 0.99, 0.01)), *((a, v) for v in ui.near(b, 0.01, 0.99, 0.01))]
ui.prefetch(
    ladder,
    *((*both, train, test, most, alpha, seed) for both in turned),
    *((a, b, train, test, v, alpha, seed) for v in ui.near(most, 2, 8, 1)),
    *((a, b, train, test, most, v, seed) for v in ui.near(alpha, 0.05, 2.0, 0.05)),
)
ui.prefetch(finite, *((*both, test, seed) for both in turned))
floor, alone = (x / information.LN2 for x in (source.entropy_rate, source.symbol_entropy))
values = finite(a, b, test, seed)
share = lens.share_below(values, floor)
best = rungs.orders[int(rungs.expected.argmin())]

# --- Picture ------------------------------------------------------------------------------------

with stage.picture:
    steps, spread = ui.columns([3, 2])
    with steps:
        lines = {
            "training text": rungs.train,
            "test text": rungs.test,
            "all texts": rungs.expected,
            "floor": [floor] * most,
        }
        ui.figure(
            basic.curves(
                lines, rungs.orders, xlabel="order n", ylabel="bits per symbol", markers=True,
                colors={"training text": theme.INPUT, "test text": theme.GREEN, "all texts": theme.OUTPUT,
                        "floor": theme.HIDDEN},
            ),
            alt="Bits per symbol of n-gram models on training text, test text and on average, and the floor",
            data={"order": rungs.orders, **lines}, share=1.0,
        )  # fmt: skip
    with spread:
        labels, centres, counts = lens.histogram(values)
        below = [k for k, centre in enumerate(centres.tolist()) if centre < floor - lens.ROUNDING]
        ui.figure(
            figures.texts(centres, counts, below, floor),
            alt=f"Histogram of bits per symbol of {TEXTS} texts; those below the entropy rate stand out",
            data={"bits": labels, "texts": counts}, key="texts", share=1.0,
        )  # fmt: skip
stage.metrics(
    {
        "Floor": f"{floor:.4f}",
        "Perplexity": f"{2**floor:.4f}",
        "No context": f"{alone:.4f}",
        "Texts below": f"{100 * share:.0f} %",
    }
)
pi, rows = source.stationary.tolist(), source.entropies()
stage.equation(
    rf"H = \textstyle\sum_i \pi_i H(A_i) = {pi[0]:.4f}\cdot{rows[0]:.4f} + {pi[1]:.4f}\cdot{rows[1]:.4f}"
    rf" = {floor:.4f}",
    note="πᵢ: share of the symbol i in a long text. H(Aᵢ): bits of the symbol after i.",
)

# --- Words --------------------------------------------------------------------------------------

reached = float(rungs.expected.min())
with stage.below:
    ui.notice(
        "From order 2 on all models could reach the floor, for the source looks back one symbol; higher "
        "orders only have more to learn, so on little text they get worse, although on their own training "
        f"text they get better. Order 1 knows no context: it can reach {alone:.4f} bits at best. The average "
        "over all texts never passes below the floor. A single text may: even the perfect model's score "
        "scatters, by one over the square root of the length."
    )
    ui.check(
        "Which order is best on average over all texts?",
        [str(order) for order in rungs.orders],
        str(best),
        f"Order {best}: {reached:.4f} bits, {reached - floor:.4f} above the floor.",
        wrong={
            str(order): f"On average order {order} costs {bits:.4f} bits, order {best} {reached:.4f}."
            for order, bits in zip(rungs.orders, rungs.expected.tolist(), strict=True)
        },
        veils=("picture", "equation"),
    )
    ui.program(
        f"""
        from modules.language.information import LN2
        from modules.language.ngram import NGram
        from pages.language.entropy_floor import lens

        source = lens.two_states({a:.6g}, {b:.6g})
        text = source.sample(1, {train}, seed={seed})
        bits = [source.entropy_rate]
        for order in range(1, {most} + 1):
            model = NGram(2, order, smoothing="add", alpha={alpha:.6g})
            model.fit(text)
            bits.append(lens.cross_entropy(source, model))
        result = [nats / LN2 for nats in bits]
        """,
        shows=[floor, *rungs.expected.tolist()],
    )
    ui.source(lens.Source, lens.cross_entropy, ngram.NGram.fit, references=ROOM.references)
