"""A picture drawn pixel by pixel: the film of a draw."""

from typing import Any

import torch

from lab import ui
from lab.figures import basic, raster
from lab.lenses import drawing
from modules.autoregressive import base
from modules.autoregressive.orders import resolve_order
from pages.autoregressive.inspector import common, figures, lens
from pages.autoregressive.inspector.room import ROOM

MOST = 200  # frames with an equation each; a longer film shows that of where it rests


@ui.cached
def draw(
    name: str, order: list[int] | None, temperature: float, seed: int, y: int | None
) -> tuple[drawing.Drawing, int | None]:
    """A draw, and its class where the model knows classes."""
    chosen = {} if y is None else {"y": y}
    generator = torch.Generator().manual_seed(seed)
    trace = ui.load(name).sample_trace(order=order, temperature=temperature, generator=generator, **chosen)
    return drawing.unroll(trace), trace.result.get("y")


def view(stage: Any) -> None:
    """A draw of the model's own."""
    with stage.rail:
        name, model, side = common.model_and_side()
        temperature = ui.slider("Temperature", 0.0, 2.0, 1.0, key="t", step=0.1,
                                help="Divides every logit; 0 takes the likeliest value.")  # fmt: skip
        y = common.class_choice(model, common.DRAWN)
        orders = ["its own", "raster", "reversed", "random"] if lens.any_order(model) else ["its own"]
        visit = ui.choice("Order of drawing", orders, key="visit", as_list=True)
        stride = {"pixel": 1, "row": side}[ui.choice("A step is a", ["pixel", "row"], key="stride")]
        seed = ui.number("Seed", 0, 9999, 0, key="draw")
    order = model.component_order(0) if visit == "its own" else resolve_order(visit, model.n, seed)
    run, drawn_class = draw(name, order.tolist(), float(temperature), seed, y)
    ends = drawing.stops(run, stride)
    film = ui.film(len(ends), key="step", seconds=0.1, default=len(ends) * 11 // 20)
    step = ends[film.at]
    newest = [run.latest(end) for end in ends]
    pixels, drawn_at = run.pixel[newest], lens.drawn_at(run)

    with stage.picture:
        picture, beside, aside = ui.columns([4, 3, 3])
        with picture:
            ink = figures.drawn(lens.ink(run.x, model), side, "So far; click a pixel")
            frames = figures.covered(ink, drawn_at, side, ends, pixels, film.at, clickable=True)
            selected = ui.clickable(
                ink, key="pixel", alt="The picture so far", mark=False, share=1.0, film=film, frames=frames,
                data={"pixel": run.pixel[: step + 1], "p": run.p[: step + 1], "bit": run.bit[: step + 1],
                      "log_prob": run.log_prob[: step + 1]},
            )  # fmt: skip
        with beside:
            costs = figures.costs(run.cost, side, "Surprisal, nats")
            frames = figures.covered(costs, drawn_at, side, ends, pixels, film.at, room=140)
            ui.figure(
                costs, alt="Surprisal of each pixel so far", share=0.5, film=film, frames=frames,
                data={"pixel": range(model.n), "surprisal": run.surprisal(step)},
            )  # fmt: skip
            chosen = int(selected["y"]) * side + int(selected["x"]) if selected else int(pixels[film.at])
            asked = 1 if model.num_categories == 2 else int(run.x[chosen])
            gradient = drawing.gradient_row(model, order, run.x, chosen, asked, run.index)
            ui.figure(
                raster.reads(gradient, side, chosen, f"Pixel {chosen} reads", height=170),
                share=0.5, key="reads",
                alt="Gradient of one pixel's logit with respect to every pixel",
                data={"pixel": range(model.n), "gradient": gradient},
            )  # fmt: skip
        with aside:
            p = drawing.sharpened(run.distribution[pixels], float(temperature))
            bars, frames = figures.distribution(p, run.bit[newest], film.at, "p(value)")
            ui.figure(bars, alt="The conditional of the newest pixel", share=0.5, film=film, frames=frames,
                      data={"value": range(p.shape[1]), "p": p[film.at]})  # fmt: skip
            ui.figure(
                basic.curves({"log p": run.log_prob}, mark=step, title="log p, nats", xlabel="pixels"),
                alt="Running log-likelihood", share=0.5, film=film,
                frames={"layout.shapes.0.x0": ends, "layout.shapes.0.x1": ends},
                data={"step": range(len(run)), "log_prob": run.log_prob},
            )  # fmt: skip
    known = "" if drawn_class is None else f" Class {drawn_class}."
    with stage.foot:
        film.bar(
            captions=[run.captions[end] + known for end in ends],
            equations=[run.equations[end] for end in ends] if len(ends) <= MOST else (),
        )
    if len(ends) > MOST:
        stage.equation(run.equations[step])
    total = float(run.log_prob[-1])
    with stage.below:
        if not drawing.knows(model, order):
            ui.caption("This model has never met this order: it is a density still, but a poor one.")
        ui.caption(
            "The equation: log p before this pixel, plus the log of what is drawn's probability"
            + ("" if temperature == 1 else ", under the model itself, whatever the temperature")
            + ("." if newest[-1] == ends[-1] else "; at last the joint becomes the mixture of all.")
            + f" Whole picture: {total:.2f} nats, {drawing.bits_per_pixel(-total, model.n):.3f} bits per "
            "pixel; the same in one pass."
        )
        ui.notice(
            "Scoring a finished picture takes one pass, drawing it takes one step a pixel. Surprisal sits on "
            "the edges of strokes; the paper is almost free. The gradient is exactly 0 for every pixel drawn "
            "later."
        )
        upper, lower = drawing.halves(run)
        ui.check(
            "Which half of this finished picture cost more nats?",
            ["upper", "lower"],
            "upper" if upper > lower else "lower",
            f"Upper {upper:.1f} nats, lower {lower:.1f}.",
            wrong={
                "upper": "The first pixels are told little, but a blank margin costs next to nothing.",
                "lower": "The last pixels are told most: strokes go on as they began above.",
            },
            veils=("picture",),
        )
        named = "None" if visit == "its own" else f'resolve_order("{visit}", model.n, {seed})'
        given = "" if y is None else f", y={y}"
        ui.program(
            f"""
            import torch
            from lab import weights
            from modules.autoregressive.orders import resolve_order

            model = weights.load("{name}")
            order, generator = {named}, torch.Generator().manual_seed({seed})
            trace = model.sample_trace(
                order=order, temperature={float(temperature)}, generator=generator{given}
            )
            result = trace[{step}].values["log_prob"]
            """,
            shows=float(run.log_prob[step]),
        )
        ui.source(
            base.Autoregressive._draw, type(model)._sequential_logits, base.Autoregressive.log_prob,
            references=ROOM.references,
        )  # fmt: skip
