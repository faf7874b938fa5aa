"""Entropy floor: a source with a known entropy rate, and how near to it models of its text can come."""

import torch

from lab import ui
from lab.figures import basic
from modules.language import information, ngram
from pages.language.entropy_floor import lens

REFERENCES = [
    "Shannon 1948, A mathematical theory of communication",
    "[LLM] eq. 1.4-1.7 (its slide gives a perfect model the perplexity 1: it has 2^H)",
    "[BB] §5.1; Cover, Thomas 2006, §4.2",
]
LENGTHS = [30, 300, 3000, 30000]
TEXTS = 400


@ui.cached
def ladder(a: float, b: float, train: int, test: int, most: int, alpha: float, seed: int) -> lens.Ladder:
    source = lens.Source(matrix(a, b))
    return lens.ladder(source, source.sample(1, train, seed), source.sample(1, test, seed + 1), most, alpha)


@ui.cached
def finite(a: float, b: float, length: int, seed: int) -> torch.Tensor:
    return lens.scatter_of_texts(lens.Source(matrix(a, b)), TEXTS, length, seed + 2)


def matrix(a: float, b: float) -> torch.Tensor:
    return torch.tensor([[1 - a, a], [b, 1 - b]], dtype=torch.float64)


ui.header("Entropy floor", "No model beats its source on average; on one short text, luck may.")
left, middle, right = ui.columns(3)
with left:
    a = ui.slider("P(1 after 0)", 0.01, 0.99, 0.1, key="a", step=0.01)
    b = ui.slider("P(0 after 1)", 0.01, 0.99, 0.5, key="b", step=0.01)
with middle:
    train = ui.choice("Symbols to learn from", LENGTHS, key="train", default=3000)
    test = ui.choice("Symbols in the test text", LENGTHS, key="test", default=3000)
with right:
    most = ui.slider("Highest order n", 2, 8, 6, key="n")
    alpha = ui.slider("α added to each count", 0.05, 2.0, 0.5, key="alpha", step=0.05)
    seed = ui.number("Seed", 0, 9999, 0, key="seed")

source = lens.Source(matrix(a, b))
rungs = ladder(a, b, train, test, most, alpha, seed)
floor, alone = (x / information.LN2 for x in (source.entropy_rate, source.symbol_entropy))

steps, spread = ui.columns(2)
with steps:
    lines = {
        "training text": rungs.train,
        "test text": rungs.test,
        "all texts (exact)": rungs.expected,
        "entropy rate": [floor] * most,
    }
    ui.figure(
        basic.curves(lines, rungs.orders, title="Bits per symbol", xlabel="order n", markers=True),
        alt="Bits per symbol of n-gram models on training text, test text and on average, and the floor",
        data={"order": rungs.orders, **lines},
    )
with spread:
    values = finite(a, b, test, seed)
    labels, centres, counts = lens.histogram(values)
    below = [k for k, centre in enumerate(centres.tolist()) if centre < floor - lens.ROUNDING]
    ui.figure(
        basic.bars(
            labels, counts, highlight=below, xlabel="bits per symbol", height=400,
            title=f"{TEXTS} texts, scored by the source itself",
        ),
        alt=f"Histogram of bits per symbol of {TEXTS} texts; those below the entropy rate stand out",
        data={"bits": labels, "texts": counts},
    )  # fmt: skip
share = lens.share_below(values, floor)
best = rungs.orders[int(rungs.expected.argmin())]
for column, (label, value) in zip(
    ui.columns(4),
    {
        "Entropy rate, bits": f"{floor:.4f}",
        "One symbol alone, bits": f"{alone:.4f}",
        "Perplexity of the floor": f"{2**floor:.4f}",
        "Texts below the floor": f"{100 * share:.0f} %",
    }.items(),
    strict=True,
):
    column.metric(label, value)

pi, rows = source.stationary.tolist(), (information.entropy(source.transition) / information.LN2).tolist()
ui.equation(
    rf"H = \sum_i \pi_i H(A_i) = {pi[0]:.4f}\cdot{rows[0]:.4f} + {pi[1]:.4f}\cdot{rows[1]:.4f} = {floor:.4f}",
    f"π = ({pi[0]:.4f}, {pi[1]:.4f}) is the share of zeros and ones in a long text; H(A_i) the bits of the "
    f"next symbol after i. Order 1 knows no context: it can reach {alone:.4f} at best, order 2 the floor.",
)
ui.notice(
    "From order 2 on all models could reach the floor, for the source looks back one symbol; higher orders "
    "only have more to learn, so on little text they get worse, although on their own training text they "
    "get better. The average over all texts never passes below the floor. A single text does, about every "
    "second one: even the perfect model's score scatters, by one over the square root of the length."
)
ui.presets(
    {
        "The classic chain": {"a": 0.1, "b": 0.5, "train": 30000, "test": 30000},
        "A fair coin": {"a": 0.5, "b": 0.5, "train": 300, "test": 30},
        "Little text": {"a": 0.1, "b": 0.5, "train": 30, "n": 8},
        "Nearly periodic": {"a": 0.95, "b": 0.95, "train": 3000},
    }
)
ui.check(
    "Which order is best on average over all texts?",
    [str(order) for order in rungs.orders],
    str(best),
    f"Order {best}: {float(rungs.expected.min()):.4f} bits, {float(rungs.expected.min()) - floor:.4f} above "
    "the floor.",
)
ui.source(lens.Source, lens.cross_entropy, ngram.NGram.fit, references=REFERENCES)
