"""Bayesian networks of neighbours: counted tables, chosen or painted."""

from typing import Any

from torch import Tensor

from lab import ui
from lab.figures import basic
from lab.lenses import drawing, neighbours
from lab.ui.models import shelves
from modules.autoregressive import bayesnet, tables
from pages.autoregressive.chains import figures, lens
from pages.autoregressive.chains.room import ROOM


@ui.cached
def ladder(offsets: tuple, shared: bool) -> dict:
    return lens.ladder(offsets, shared)


@ui.cached
def drawn(offsets: tuple, shared: bool, count: int, seed: int) -> Tensor:
    return drawing.samples(neighbours.counted(offsets, shared), count, seed)


def view(stage: Any) -> None:
    """The reader's digit under a template of neighbours."""
    with stage.rail:
        names = [*lens.LADDER, "own"]
        template = ui.choice("Parents of a pixel", names, key="template", default="neighbours4", as_list=True)
        shared = ui.toggle("One table for all pixels", False, key="shared")
        seed = ui.number("Seed of the samples", 0, 9999, 0, key="seed")
        typed = ui.held_text("own", "0 -1; -1 0")
        try:
            offsets = lens.typed_offsets(typed) if template == "own" else tuple(bayesnet.TEMPLATES[template])
        except ValueError as error:
            ui.stop(str(error))
        x = lens.bits(shelves.plain_digit(neighbours.SIDE))
    model = neighbours.counted(offsets, shared)
    film = ui.film(model.n, key="pixel", values=range(model.n), default=27, label="Pixel", seconds=0.2)
    result, sample = ladder(offsets, shared), drawn(offsets, shared, 25, seed)
    side = neighbours.SIDE
    each = lens.surprisal(model, x)
    with stage.picture:
        left, middle, right = ui.columns(3)
        with left:
            ui.button_figure(
                figures.painter(
                    lens.painted(offsets), range(-lens.REACH, lens.REACH + 1), range(-lens.REACH, 1),
                    title="Parents: click",
                ),
                key="cell", alt="Template of the parents of a pixel: a click adds one or takes it away",
                on_press=lambda column, row: {
                    "template": "own", "own": lens.spelled(lens.toggled(offsets, row, column))
                },
                data={"offset": lens.spelled(offsets).split("; ")}, share=0.45,
            )  # fmt: skip
            ui.figure(
                basic.bars(
                    list(result), list(result.values()), highlight=len(result) - 1, horizontal=True,
                    title="Test nats",
                ).update_xaxes(nticks=3),
                alt="Test cost of growing templates and of this one", key="ladder",
                data={"parents": list(result), "nll": list(result.values())}, share=0.55,
            )  # fmt: skip
        with middle:
            ui.figure(
                figures.surprisal(each, side, film.at, "Surprisal, nats"), key="surprisal",
                alt="Surprisal of each pixel of the drawn digit", data={"nats": each}, share=1.0,
                film=film,
                frames=figures.ring_frames(side, 2),
            )  # fmt: skip
        with right:
            ui.figure(
                basic.images(sample, columns=5, title="Samples"), alt="25 samples of this model",
                key="samples", data={"picture": drawing.bit_strings(sample)}, share=1.0,
            )  # fmt: skip
    captions, equations = lens.lookups(model, x)
    with stage.foot:
        film.bar(captions=captions, equations=equations)
    preset = min(lens.LADDER, key=result.__getitem__)
    stage.metrics(
        {
            "Nats, yours": f"{result['yours']:.2f}",
            f"best preset ({preset})": f"{result[preset]:.2f}",
            "Numbers": f"{model.num_parameters:,}",
            "−log p(x)": f"{float(each.sum()):.2f}",
        }
    )
    with stage.below:
        ui.notice(
            "A chain that knows only what is left makes streaks: it cannot tell what stands above. A "
            "neighbour above takes nats off without any training, by counting alone. One table for all "
            "places cannot tell middle from margin. Your digit costs the sum of its 64 surprisals."
        )
        options = ["left", "left-up"]
        if template not in (*options, "own"):
            options.append(template)
        better = min(options, key=result.__getitem__)
        ui.check(
            "Which describes unseen digits best?",
            options,
            better,
            "; ".join(f"{name}: {result[name]:.2f} nats" for name in options) + ".",
            wrong={
                name: f"“{name}” costs {result[name] - result[better]:.2f} nats more: parents help by what "
                "they tell, and many together are met rarely."
                for name in options
            },
            veils=("ladder", "numbers"),
        )
        ui.program(
            f"""
            from lab.lenses import neighbours

            model = neighbours.counted({offsets!r}, shared={shared})
            result = [neighbours.nll_on_test(model), model.num_parameters]
            """,
            shows=[result["yours"], model.num_parameters],
        )
        ui.source(tables.ConditionalTables.rows, tables.ConditionalTables.count, bayesnet.neighbours,
                  references=ROOM.references)  # fmt: skip
