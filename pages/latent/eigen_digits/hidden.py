"""Hidden pixels: what probabilistic PCA and factor analysis make of the part that is seen."""

from typing import Any

from lab import ui
from lab.figures import theme
from lab.ui.controls.drawing import ink_code
from modules.latent.linear_gaussian import LinearGaussian
from pages.latent.eigen_digits import common, figures, lens
from pages.latent.eigen_digits.room import ROOM

BRUSH, MODELS = "brush", ("PPCA", "FA")


def view(stage: Any) -> None:
    """A picture that is covered step by step, and both models' guesses."""
    with stage.rail:
        data, side = common.pictures()
        kind = ui.choice("Hide", [*lens.HIDES, BRUSH], key="hide", as_list=True)
        own = common.digit(side)
        brush = None
        if kind == BRUSH:
            brush = ui.draw("Ink hides", key=f"brush{side}", size=side, examples=[("box", lens.middle(side))])
    gone = lens.masks(kind, side, brush)
    steps = list(range(side + 1))
    film = ui.film(len(steps), key="hidden", values=steps, default=side // 2, label="Step", seconds=0.4)
    hidden = gone.flatten(1)
    results = {name: lens.filled(ui.load(f"{common.MODELS[name]}-{data}"), own.x, hidden) for name in MODELS}
    mean = common.basis(f"ppca-{data}").mean
    plain = lens.error(mean.expand(len(hidden), -1), own.x, hidden)
    at, reach = film.at, max(float(one.deviations.max()) for one in results.values())
    frames = [lens.covered(own.x, hidden), *(one.pictures.clamp(0, 1) for one in results.values()),
              *(one.deviations for one in results.values())]  # fmt: skip
    frames = [v.reshape(-1, side, side) for v in frames]
    titles = ["seen", "PPCA's guess", "FA's guess", "PPCA unsure", "FA unsure"]
    shown = [
        *(figures.Panel(t, v[at]) for t, v in zip(titles[:3], frames, strict=False)),
        figures.Panel("x", own.x.reshape(side, side)),
        *(figures.Panel(t, v[at], "violet", reach) for t, v in zip(titles[3:], frames[3:], strict=True)),
    ]
    places = [0, 1, 2, 4, 5]
    with stage.picture:
        pictures, curve = ui.columns([3, 2])
        with pictures:
            ui.figure(
                figures.hidden(figures.panels(shown, 3), hidden.reshape(-1, side, side)[at]), key="guesses",
                share=1.0, film=film,
                frames={f"data.{i}.z": v for i, v in zip(places, frames, strict=True)}
                | {"data.6.z": figures.cover(hidden.reshape(-1, side, side))},
                alt="The part that is seen, and what both models make of the rest, with their deviations",
            )  # fmt: skip
        with curve:
            lines = {"PPCA": (results["PPCA"].error, theme.INPUT), "FA": (results["FA"].error, theme.OUTPUT),
                     "the mean": (plain, theme.HIDDEN)}  # fmt: skip
            ui.figure(
                figures.errors(lines, at), key="errors", share=1.0, film=film,
                frames={"layout.shapes.0.x0": steps, "layout.shapes.0.x1": steps},
                data={"step": steps, **{n: v for n, (v, _) in lines.items()}},
                alt="Error of a hidden pixel, of both models and of the mean digit",
            )  # fmt: skip
    counts = hidden.sum(1).tolist()
    with stage.foot:
        film.bar(
            captions=[
                f"{n} of {side * side} pixels hidden; root mean squared error there: PPCA {p:.3f}, "
                f"FA {f:.3f}, the mean digit {m:.3f}."
                if n
                else "Nothing is hidden."
                for n, p, f, m in zip(
                    counts,
                    results["PPCA"].error.tolist(),
                    results["FA"].error.tolist(),
                    plain.tolist(),
                    strict=True,
                )
            ],
            equations=[
                rf"\log p(x_{{\text{{seen}}}}):\quad \text{{PPCA }}{float(p):.1f},\quad "
                rf"\text{{FA }}{float(f):.1f}\ \text{{nats}}"
                for p, f in zip(results["PPCA"].log_seen, results["FA"].log_seen, strict=True)
            ],
        )
    with stage.below:
        ui.notice(
            "Rows of W whose pixel is hidden drop out: the factors are inferred from what is seen, exactly, "
            "and say what the rest should be. The guess is the mean of all that could stand there, so it is "
            "soft where the models are unsure (violet). FA knows that the margin is white and needs no "
            "guess; PPCA has one σ² for all pixels, the margin's too."
        )
        better = {name: float(one.error[at]) for name, one in results.items()} | {
            "the mean": float(plain[at])
        }
        if counts[at]:
            ui.check(
                "Which guess is nearest to the hidden pixels?", list(better),
                min(better, key=lambda name: better[name]),
                ", ".join(f"{name} misses by {v:.3f}" for name, v in better.items()) + ".",
                wrong={
                    "PPCA": "It has one noise for all pixels, those of the margin too.",
                    "FA": "It has a noise for each pixel, and learns it from few digits.",
                    "the mean": "It does not look at the pixels that are seen.",
                },
                veils=("picture", "equation"),
            )  # fmt: skip
        strokes = None if brush is None else ink_code(brush)
        ui.program(
            f"""
            from lab import experiments, weights
            from lab.ui.controls import drawing
            from pages.latent.eigen_digits import lens

            model = weights.load({ui.spelled(f"ppca-{data}")})
            x = {own.program}
            brush = {strokes}
            hidden = lens.masks({kind!r}, {side}, brush).flatten(1)
            result = lens.filled(model, x, hidden).error
            """,
            shows=results["PPCA"].error.tolist(),
        )
        ui.source(LinearGaussian.impute, LinearGaussian._posterior, lens.masks, references=ROOM.references)
