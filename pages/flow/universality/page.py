"""Universality: couplings of one number each, in this order or that, against one autoregressive layer."""

from lab import ui
from lab.errors import UserError
from lab.lenses.typed import named
from modules.flow import universality
from pages.flow.universality import figures, lens
from pages.flow.universality.room import ROOM

ORDERS = ["D → 1", "1 → D", "own"]

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Last one first": ui.scene("Each coupling reads inputs only: the last row is the IAF row, exactly."),
        "First coupling": ui.scene("The last number changes; all that it reads is still input.", step=1),
        "First one first": ui.scene("Now each reads what is changed already: the last row is the MAF row.",
                                    order="1 → D"),
        "Odd, then even": ui.scene("Some read inputs, some outputs: the last row is neither.", order="own"),
        "Two numbers": ui.scene("Even with two numbers the order decides which layer it is.",
                                values="1 0.5", order="1 → D"),
        "Six numbers": ui.scene("Six couplings, one layer, difference 0.", values="1 -0.5 0.3 2 -1.2 0.8"),
    }
)  # fmt: skip

# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    order_name = ui.choice("Order of the couplings", ORDERS, key="order")
    typed = ui.text("Numbers", "0.5 -1 1.5 -0.3", key="values", max_chars=80)
    values, text = named(typed, lens.LARGEST, -5, 5)
    if text:
        ui.warning(text)
    if len(values) < 2:
        ui.stop("Type at least two numbers, such as 0.5 −1.")
    D = len(values)
    order = list(range(D))[:: -1 if order_name == "D → 1" else 1]
    if order_name == "own":
        text = ui.text("Your order", "1 3 2 4", key="own", max_chars=40)
        try:
            order = lens.typed_order(text, D)
        except UserError as error:
            ui.stop(str(error))
    seed = ui.number("Seed of the network", 0, 999, 0, key="seed")
result = lens.compare(values, order, seed)
film = ui.film(D + 1, key="step", values=range(D + 1), default=D, label="Coupling", seconds=0.9)

# --- Picture ------------------------------------------------------------------------------------

rows = [
    "input",
    *(f"{k + 1}: number {d + 1}" for k, d in enumerate(order)),
    " ",
    *(f"{n} layer" for n in result.layers),
]
layers = list(result.layers.values())
with stage.picture:
    left, right = ui.columns([3, 2])
    with left:
        ui.figure(
            figures.grid(result.values, layers, rows, film.at),
            alt="The numbers after each coupling, and those of one IAF layer and one MAF layer below",
            key="grid", share=1.0, film=film, frames=figures.film(result.values, layers),
            data={f"number {i + 1}": result.values[:, i] for i in range(D)},
        )  # fmt: skip
    with right:
        ui.figure(
            figures.differences(result.differences),
            alt="The largest difference between all couplings together and either layer",
            key="differences", share=0.45,
            data={"layer": list(result.differences), "off": list(result.differences.values())},
        )  # fmt: skip
        ui.figure(figures.jacobian(result.jacobian), alt="The Jacobian of all couplings together: triangular",
                  key="jacobian", share=0.55)  # fmt: skip
with stage.foot:
    film.bar(
        captions=[lens.caption(result, k) for k in range(D + 1)],
        equations=[lens.equation(result, k) for k in range(D + 1)],
    )
stage.metrics(
    {
        "From the IAF layer": f"{result.differences['IAF']:.3g}",
        "From the MAF layer": f"{result.differences['MAF']:.3g}",
        "Way back, error": f"{result.error:.0e}",
    }
)

# --- Words --------------------------------------------------------------------------------------

same = [name for name, off in result.differences.items() if off < 1e-12]
with stage.below:
    ui.notice(
        f"{lens.verdict(result)} [UDL], notes to chapter 16, lets the copied part grow by one number a "
        f"layer, "
        "the order 1 → D, and says that this gives its equation 16.15, which reads inputs: that is the other "
        "order. Either way couplings can do what an autoregressive layer can, at the price of D layers."
    )
    ui.check(
        "All couplings together are …",
        ["the IAF layer", "the MAF layer", "neither", "both"],
        "both" if len(same) == 2 else f"the {same[0]} layer" if same else "neither",
        lens.verdict(result),
        wrong={
            "the IAF layer": "IAF reads inputs: that takes the last number changed first, while the others "
            "still stand.",
            "the MAF layer": "MAF reads outputs: that takes the first number changed first, for the next "
            "ones to read.",
            "neither": "Each coupling changes one number by others: in this order they add up to one of "
            "the layers.",
            "both": "Inputs and outputs are other numbers: an order that reads these does not read those.",
        },
        veils=("picture", "numbers"),
    )
    ui.program(
        f"""
        import torch
        from lab.lenses import masked_layer
        from modules.flow.universality import SingleCoupling

        maf, iaf = masked_layer.both({D}, seed={seed})
        h = start = torch.tensor({values}, dtype=torch.float64)
        for d in {order}:
            h, ladj = SingleCoupling(maf, d).generate(h)
        result = [float((h - layer.generate(start)[0]).abs().max()) for layer in (iaf, maf)]
        """,
        shows=list(result.differences.values()),
    )
    ui.source(universality.SingleCoupling, universality.couplings, lens.compare, references=ROOM.references)
