"""FVSBN inspector: four bits, a triangle of weights, and every string's probability."""

from lab import ui
from lab.lenses import drawing
from modules.autoregressive import fvsbn
from pages.autoregressive.fvsbn import figures, lens
from pages.autoregressive.fvsbn.room import ROOM

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Third row": ui.scene("The third row reads two bits: its sigmoid gives the third factor."),
        "First bit": ui.scene("The first bit has a bias alone; half of the strings agree with it.", step=0),
        "Whole string": ui.scene("After four factors one string is left, with their product.", step=3),
        "Backwards": ui.scene("The same numbers in the other order: another density.", order="4 3 2 1"),
        "Fair coins": ui.scene("All weights 0: every string has 1/16.", a="0; 0 0; 0 0 0; 0 0 0 0"),
        "Copies": ui.scene(
            "Each bit copies the one before: 0000 and 1111 share nearly all of the mass.",
            a="0; -9 18; -9 0 18; -9 0 0 18",
            x="1111",
            step=1,
        ),
    }
)

# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    typed = ui.text("A: bias first, rows apart by ;", lens.EXAMPLE, key="a", max_chars=160, area=True,
                    says=lens.commas)  # fmt: skip
    try:
        x = lens.typed_string(ui.text("String x", "0110", key="x", max_chars=8))
        order = drawing.typed_order(
            ui.text("Order, the first bit first", "1 2 3 4", key="order", max_chars=20), 4
        )
        rows = lens.typed_rows(typed)
    except ValueError as error:
        ui.stop(str(error))
model = lens.network(rows, order)
result, factors, read = lens.distribution(model), lens.factors(model, x), lens.reading(model, x)
names = [f"x{i + 1}" for i in order.tolist()]
string = drawing.bit_strings(x[None])[0]
film = ui.film(lens.BITS, key="step", default=2, label="Row", seconds=1.2)

# --- Picture ------------------------------------------------------------------------------------

ranks = range(lens.BITS)
with stage.picture:
    left, right = ui.columns([1, 1])
    with left:
        ui.figure(
            figures.triangle(lens.triangle(rows), names, film.at),
            alt="The triangle A: bias and weights of each bit",
            data={
                "row": [n for n, row in zip(names, rows, strict=True) for _ in row],
                "weight": [w for row in rows for w in row],
            },
            key="triangle",
            share=0.55,
            film=film,
            frames={
                "layout.shapes.0.y0": [r - 0.5 for r in ranks],
                "layout.shapes.0.y1": [r + 0.5 for r in ranks],
            },
        )
        ui.figure(
            figures.conditionals(read.ones[film.at], names),
            alt="Probability of a 1 for each bit, given the bits before it",
            data={"bit": names, "p": [f.p for f in factors]},
            key="conditionals",
            share=0.45,
            film=film,
            frames={"data.0.y": read.ones},
        )
    with right:
        opacity = 0.25 + 0.75 * read.agree
        ui.button_figure(
            figures.strings(result.names, result.p, opacity[film.at], result.names.index(string)),
            key="strings",
            alt="Probability of every string of four bits; those that agree with x so far are full",
            on_press=lambda _, row: {"x": result.names[row]},
            data={"string": result.names, "p": result.p},
            share=1.0,
            film=film,
            frames={"data.0.marker.opacity": opacity},
        )
p = float(result.p[result.names.index(string)])
with stage.foot:
    film.bar(
        captions=lens.captions(model, x), equations=[lens.row_equation(rows, order, x, r) for r in ranks]
    )
stage.metrics(
    {
        f"p({string})": f"{p:.5f}",
        "Σ of all 16": f"{result.total:.5f}",
        "Entropy, nats": f"{result.entropy:.5f}",
        "Likeliest": result.likeliest,
    }
)

# --- Words --------------------------------------------------------------------------------------

least = lens.smallest(model, x)
alike = "several alike"
with stage.below:
    ui.equation(
        f"p({string}) = " + r" \cdot ".join(f"{f.factor:.8f}" for f in factors) + f" = {p:.10f}",
        "A factor for each bit in the order: what its row gives to the value that the bit has.",
    )
    ui.notice(
        "Whatever numbers stand in the triangle, the 16 probabilities sum to 1: nothing is to be normalised. "
        "No row reads its own bit or a later one, so the first bit has a bias alone. A row is one sigmoid of "
        "a weighted sum: an exclusive or of two bits is beyond it."
    )
    ui.check(
        f"Which bit has the smallest factor of p({string})?",
        [*sorted(names), alike],
        alike if least is None else f"x{least + 1}",
        "; ".join(f"x{f.variable + 1}: {f.factor:.4f}" for f in factors) + ".",
        wrong={
            f"x{f.variable + 1}": f"The factor of x{f.variable + 1} is {f.factor:.4f}: what counts is not "
            "the bit but how far its row expected it."
            for f in factors
        }
        | {alike: "One factor is smaller than all others: rows of other weights expect other bits."},
        veils=("picture", "equation"),
    )
    ui.program(
        f"""
        import torch
        from modules.autoregressive.fvsbn import FVSBN

        rows = {rows}  # the bias first
        order = {order.tolist()}
        model = FVSBN(event_shape=(4,), order=order).double().requires_grad_(False)
        model.weight.copy_(torch.tensor([w for row in rows for w in row[1:]], dtype=torch.float64))
        model.bias[order] = torch.tensor([row[0] for row in rows], dtype=torch.float64)
        x = torch.tensor([{x.tolist()}], dtype=torch.float64)
        result = float(model.log_prob(x).exp())
        """,
        shows=p,
    )
    ui.source(fvsbn.FVSBN, lens.network, lens.distribution, references=ROOM.references)
