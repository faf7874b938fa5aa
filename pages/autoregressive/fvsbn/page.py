"""FVSBN inspector: four bits, a triangle of weights, and every string's probability."""

from lab import ui
from lab.figures import basic
from lab.lenses import drawing
from modules.autoregressive import fvsbn
from pages.autoregressive.fvsbn import lens

REFERENCES = ["Neal 1992; Frey 1998, Graphical Models for Machine Learning", "[GM] §1.5.1"]

ui.header(
    "FVSBN inspector",
    "Each bit is a logistic regression on the bits before it: a triangle of numbers is a density.",
    lenses=("receptive_field",),
)
typed = ui.text("A: bias first, rows apart by ;", lens.EXAMPLE, key="a", max_chars=160)
left, right = ui.columns(2)
try:
    with left:
        x = lens.typed_string(ui.text("String x", "0110", key="x", max_chars=8))
    with right:
        order = drawing.typed_order(
            ui.text("Order, the first bit first", "1 2 3 4", key="order", max_chars=20), 4
        )
    rows = lens.typed_rows(typed)
except ValueError as error:
    ui.stop(str(error))
model = lens.network(rows, order)
found, factors = lens.distribution(model), lens.factors(model, x)
names = [f"x{i + 1}" for i in order.tolist()]
string = drawing.bit_strings(x[None])[0]

weights, strings = ui.columns([2, 3])
with weights:
    matrix = basic.heatmap(
        lens.triangle(rows), x=["1", *names[:-1]], y=names, title="A: rows read columns", scale="diverging",
        numbers=".2f", colorbar=False, height=420,
    )  # fmt: skip
    ui.figure(matrix, alt="The triangle A: bias and weights of each bit",
              data={"row": [n for n, row in zip(names, rows, strict=True) for _ in row],
                    "weight": [w for row in rows for w in row]})  # fmt: skip
with strings:
    bars = basic.bars(found.names, found.p, highlight=found.names.index(string), height=420,
                      title="p of each of the 16 strings")  # fmt: skip
    ui.figure(
        bars, alt="Probability of every string of four bits", data={"string": found.names, "p": found.p}
    )
p = float(found.p[found.names.index(string)])
shown = {
    f"p({string})": f"{p:.5f}",
    "Σ over 16 strings": f"{found.total:.5f}",
    "Entropy, nats": f"{found.entropy:.5f}",
    "Likeliest": found.likeliest,
}
for place, (label, value) in zip(ui.columns(4), shown.items(), strict=True):
    place.metric(label, value)

rank = names.index(ui.choice("Row", sorted(names), key="row", default="x3"))
ui.equation(lens.row_equation(rows, order, x, rank))
ui.equation(
    f"p({string}) = " + r" \cdot ".join(f"{f.factor:.8f}" for f in factors) + f" = {p:.10f}",
    "A factor for each bit in the order: what its row gives to the value that the bit has.",
)
ui.notice(
    "Whatever numbers stand in the triangle, the 16 probabilities sum to 1: nothing has to be normalised. "
    "No row reads its own bit or a later one, so the first bit has a bias alone. A row is one sigmoid of a "
    "weighted sum: an exclusive or of two bits is beyond it."
)
ui.presets(
    {
        "Four bits": {"a": lens.EXAMPLE, "x": "0110", "order": "1 2 3 4"},
        "Backwards": {"order": "4 3 2 1"},
        "Fair coins": {"a": "0; 0 0; 0 0 0; 0 0 0 0"},
        "Copies": {"a": "0; -9 18; -9 0 18; -9 0 0 18", "x": "1111"},
    }
)
first = int(order[0])
ui.check(
    f"How many other bits read x{first + 1}?",
    range(4),
    lens.readers(order, first),
    "It comes first in the order, so every other bit may read it.",
)
ui.source(fvsbn.FVSBN, lens.network, lens.distribution, references=REFERENCES)
