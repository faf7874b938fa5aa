"""Markov chains of order k: their conditional table as colours, read pixel by pixel."""

from typing import Any

from torch import Tensor

from lab import ui
from lab.figures import basic
from lab.lenses import drawing
from lab.ui.models import shelves
from modules.autoregressive import markov
from pages.autoregressive.chains import figures, lens, tables
from pages.autoregressive.chains.room import ROOM

MOST = 200  # frames with an equation each; a longer film shows that of where it rests


@ui.cached
def drawn(name: str, count: int, seed: int) -> Tensor:
    return drawing.squares(drawing.samples(ui.load(name), count, seed))


@ui.cached
def table(name: str) -> tables.Table:
    return tables.table(ui.load(name))


@ui.cached
def costs(shared: bool, data: str) -> dict[int, float]:
    """Test nats of the chains that ship, by order."""
    names = {k: tables.shipped(k, shared, data) for k in tables.ORDERS}
    return {k: ui.card(name)["metrics"]["test/nll"] for k, name in names.items()}


def view(stage: Any) -> None:
    """The reader's digit, looked up in the table."""
    with stage.rail:
        memory = ui.choice("Order k", tables.ORDERS, key="k")
        shared = ui.toggle("One table for all pixels", False, key="shared")
        data = ui.choice("Pictures", list(tables.DATA), key="data")
        side = tables.DATA[data]
        seed = ui.number("Seed of the samples", 0, 9999, 0, key="seed")
        x = drawing.bits(shelves.plain_digit(side))
    name = tables.shipped(memory, shared, data)
    model, result = ui.load(name), table(name)
    rows = tables.row_names(result, model.n)
    key, start = ("pixel", 27) if side == 8 else ("place", 350)
    film = ui.film(model.n, key=key, values=range(model.n), default=start, label="Pixel", seconds=0.3)
    kept = ui.selected_cell("context", *result.met.shape)
    asked = tables.contexts(model, x, kept)
    with stage.picture:
        left, right = ui.columns([5, 2])
        with left:
            ui.cells(
                result.p, rows=rows, columns=result.contexts, key="context", film=film, marks=asked,
                scale="probability", wide=max(1.6, 16 / 2**memory),
                titles={"rows": "pixel", "columns": "bits before it" if memory > 1 else "bit before it"},
                alt=f"Probability of ink at each pixel after each context of {memory} bits; never met: empty",
            )  # fmt: skip
        with right:
            picture, frames = figures.read(
                x, side, film.at, tables.parents(model.n, memory, side), "A pixel and what it knows"
            )
            ui.figure(
                picture, alt="The digit, the pixel that is looked up, and those that it knows", key="read",
                share=0.5, data={"pixel": range(model.n), "x": x}, film=film, frames=frames,
            )  # fmt: skip
            sample = drawn(name, 16, seed)
            ui.figure(
                basic.images(sample, columns=4, title="Samples"), alt="16 samples of this chain",
                key="samples", data={"picture": drawing.bit_strings(sample)}, share=0.5,
            )  # fmt: skip
    spoken = [tables.looked_up(result, i, context) for i, context in enumerate(asked)]
    captions, equations = [list(each) for each in zip(*spoken, strict=True)]
    with stage.foot:
        film.bar(captions=captions, equations=equations if model.n <= MOST else ())
    if model.n > MOST:
        stage.equation(equations[film.at])
    own, one = costs(False, data), costs(True, data)
    cost = float(lens.surprisal(model, x).sum())
    stage.metrics(
        {
            "Test nats": f"{(one if shared else own)[memory]:.2f}",
            "Numbers": f"{model.num_parameters:,}",
            "Contexts never met": f"{100 * result.unmet:.0f} %",
            "−log p(x)": f"{cost:.2f}",
        }
    )
    row = min(film.at, len(rows) - 1)
    missing, exist = int(result.missing[row]), 2 ** min(film.at, memory)
    options = ["none", "up to half", "more than half"]
    with stage.below:
        ui.figure(
            figures.orders(own, one, memory), alt="Test cost of the chains that ship, by order",
            key="orders", data={"k": list(own), "a table a pixel": list(own.values()),
                                "one table": list(one.values())},
        )  # fmt: skip
        ui.notice(
            f"A step of memory doubles the columns. With {memory} bits and a table for every pixel an unseen "
            f"picture costs {own[memory]:.2f} nats, with one table for all {one[memory]:.2f}: that one does "
            f"not know where it is. Eight bits back cost {own[8]:.2f}, one bit {own[1]:.2f}. A cell that was "
            "never met says ½, whatever is true: longer memory needs more pictures to fill its table."
        )
        ui.check(
            f"Of the {exist} contexts of pixel {film.at}, how many were never met in training?",
            options,
            options[0 if not missing else 1 if missing <= exist / 2 else 2],
            f"{missing} of {exist}.",
            wrong={
                options[0]: "Contexts double with each parent, and digits fill them unevenly: some never "
                "occur.",
                options[1]: "What counts is what was met, not what might be: the share is not so middling.",
                options[2]: f"There are only {exist} contexts here, and the digits of training meet most "
                "of them.",
            },
            veils=("picture", "numbers"),
        )
        ui.program(
            f"""
            import torch
            from lab import weights

            model = weights.load("{name}")
            x = torch.tensor([float(c) for c in "{drawing.bit_strings(x[None])[0]}"])
            result = [-model.log_prob(x[None]).item(), model.num_parameters]
            """,
            shows=[cost, model.num_parameters],
        )
        ui.source(markov.MarkovChain, tables.table, references=ROOM.references)
