"""Three colours a pixel: their conditionals one after the other, and completions."""

from typing import Any

from torch import Tensor

from datamodules.shapes import KINDS, PALETTE, Shapes
from lab import ui
from lab.figures import basic, raster
from lab.lenses import drawing
from modules.autoregressive import pixelcnn
from pages.autoregressive.inspector import colour_lens, figures
from pages.autoregressive.inspector.room import ROOM

COUNT = 12  # completions
GIVEN = {"red": "", "green": "r", "blue": "r, g"}  # in its own pixel


@ui.cached
def completed(x: Tensor, pixel: int, seed: int) -> Tensor:
    return colour_lens.completions(ui.load(colour_lens.MODEL), x, pixel, COUNT, seed)


def view(stage: Any) -> None:
    """The reader's shape, pixel by pixel."""
    model = ui.load(colour_lens.MODEL)
    side = model.height
    with stage.rail:
        kind = ui.choice("Shape", KINDS, key="kind", as_list=True)
        paint = ui.choice("Its colour", list(PALETTE), key="paint", default="orange", as_list=True)
        ground = ui.choice("Ground", list(PALETTE), key="ground", default="blue", as_list=True)
        seed = ui.number("Seed of the completions", 0, 9999, 0, key="draw")
        ui.caption(f"{colour_lens.MODEL}: four levels of each colour.")
    x = colour_lens.shape(kind, paint, ground, side)
    result = colour_lens.read(model, x)
    film = ui.film(side * side, key="colour", default=10, label="Pixel", seconds=0.3,
                   values=range(side * side))  # fmt: skip
    pixels = figures.raster_pixels(side)
    with stage.picture:
        left, middle, right = ui.columns([4, 3, 4])
        with left:
            ink = basic.image(colour_lens.rgb(x, side), title="Known so far").update_traces(hoverinfo="skip")
            frames = figures.covered(ink, pixels, side, pixels - 1, pixels, film.at, room=200)
            ui.figure(ink, alt="The picture as far as it comes before the pixel", key="known", share=0.55,
                      film=film, frames=frames, data={"level": x})  # fmt: skip
            ui.figure(
                raster.surprisal(result.pixel_cost, side, "Surprisal, nats"), key="cost", share=0.45,
                alt="What each pixel costs, all three colours",
                data={"pixel": range(side * side), "nats": result.pixel_cost},
            )  # fmt: skip
        with middle:
            for c, (name, given) in enumerate(GIVEN.items()):
                bars, frames = figures.distribution(
                    result.p[c], result.x[c], film.at, f"p({name[0]} | …{given and ', ' + given})"
                )
                ui.figure(
                    bars.update_xaxes(title=None), alt=f"The conditional of {name}", key=name, share=1 / 3,
                    film=film, frames=frames,
                    data={"level": range(result.p.shape[2]), "p": result.p[c, film.at]},
                )  # fmt: skip
        with right:
            drawn = completed(x, film.at, seed)
            ui.figure(
                basic.images(colour_lens.rgb(drawn, side), columns=3, title="Drawn from here on"),
                alt=f"{COUNT} completions of what comes before the pixel", key="completed", share=1.0,
                data={"picture": drawing.bit_strings(drawn)},
            )  # fmt: skip
    spoken = [result.words(pixel) for pixel in range(side * side)]
    with stage.foot:
        film.bar(captions=[text for text, _ in spoken], equations=[latex for _, latex in spoken])
    least = Shapes(side, colour_lens.SIZES).least_nll
    stage.metrics(
        {"−log p(x)": f"{result.total:.2f} nats", "no density is below, on average": f"{least:.2f}"}
    )
    row, column = divmod(film.at, side)
    own = float(result.pixel_cost[film.at])
    dearest = max(result.cost[:, film.at].tolist())
    with stage.below:
        ui.table(
            colour_lens.inside_table(colour_lens.inside(model, x, film.at)),
            alt="Which colours of the pixel each of its colours reads",
        )
        ui.notice(
            "Inside a pixel the order is red, green, blue: green reads red, blue reads both, and no colour "
            "reads itself or a later one. Drawn independently the three would mix into colours that no "
            "picture has. Once a shape has begun its colour is nearly free; its edge is what costs."
            + (" Here shape and ground are one colour: the model has never seen such a picture."
               if paint == ground else "")
        )  # fmt: skip
        names = [*colour_lens.COLOURS, "none costs more than 0.1 nats"]
        ui.check(
            f"Which colour of pixel ({row}, {column}) costs most?",
            names,
            names[result.cost[:, film.at].tolist().index(dearest)] if dearest > 0.1 else names[-1],
            "; ".join(f"{n} {v:.3f}" for n, v in zip(names, result.cost[:, film.at].tolist(), strict=False))
            + f"; together {own:.3f} nats.",
            wrong=(
                "Red comes first, but only within its pixel: the pixels around may settle it.",
                "Green is told red of its own pixel, and often follows from it.",
                "Blue is told red and green of its own pixel, and often follows from them.",
                "Some colour here is not settled by what came before it.",
            ),
            veils=("red", "green", "blue", "equation"),
        )
        ui.program(
            f"""
            from lab import weights
            from pages.autoregressive.inspector import colour_lens

            model = weights.load("{colour_lens.MODEL}")
            x = colour_lens.shape("{kind}", "{paint}", "{ground}", {side})
            result = -model.log_prob(x[None]).item()
            """,
            shows=result.total,
        )
        ui.source(pixelcnn.causal_mask, pixelcnn.PixelCNN, colour_lens.read, references=ROOM.references)
