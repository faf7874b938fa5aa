"""RNADE density: a mixture of Gaussians that moves as x₁ moves; one Gaussian cannot be in two places."""

from lab import ui
from lab.figures import basic
from lab.lenses import drawing, ink
from modules.autoregressive import rnade
from pages.autoregressive.density import dequantisation, figures, lens, own_points
from pages.autoregressive.density.room import ROOM

PAD = 20  # pixels a side of the drawing pad
POINTS = 500
OWN, WHOLE = {"show": "Own points"}, {"show": "Whole numbers"}

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Two moons": ui.scene("The line cuts both arms: two humps, with a gap between them.", x2=0.8),
        "One Gaussian": ui.scene("One hump must cover the gap too.", model="rnade-moons-k1"),
        "Three rings": ui.scene(
            "Through the middle: sharp humps at four crossings; the upper two run together.",
            model="rnade-rings",
            x1=0.0,
        ),
        "Rings, one": ui.scene(
            "One Gaussian on rings: the middle is likely, the rings are not.", model="rnade-rings-k1", x1=0.0
        ),
        "Samples": ui.scene("What is drawn lies where the data lie.", points="samples"),
        "Own ring": ui.scene("Press Train: a density of a ring, or of your own ink.", ink="ring", **OWN),
        "Own wave": ui.scene("Press Train: on a wave one Gaussian will do.", ink="wave", k=1, **OWN),
        "Whole numbers": ui.scene("Without noise −log p falls below the entropy.", k=10, **WHOLE),
        "Whole, one": ui.scene("One Gaussian has no level to shrink onto.", k=1, **WHOLE),
    }
)


@ui.cached
def shipped_map(name: str) -> lens.Map:
    return lens.density_map(ui.load(name))


@ui.cached
def shipped_integral(name: str) -> float:
    return lens.integral(ui.load(name))


@ui.cached
def shipped_sections(name: str) -> list[lens.Section]:
    return lens.sections(ui.load(name))


@ui.cached
def drawn(name: str, seed: int):
    return drawing.samples(ui.load(name), POINTS, seed)


def look(
    parts: list[lens.Section], whole: lens.Map, integral: float, data, samples
) -> tuple[lens.Section, float, float]:
    """The map and a film of the sections through it; the same for shipped and for own models."""
    film = ui.film(len(parts), key="x1", values=lens.PLACES, default=0.5, label="x₁ =", seconds=0.08)
    with stage.rail:
        x2 = ui.slider("x₂", -3.5, 3.5, 0.8, key="x2", step=0.05)
    part, axis, x1 = parts[film.at], lens.axis(cells=lens.SECTION_CELLS), film.value
    density, components = lens.swept(parts)
    over = (data is not None) + (samples is not None)
    moves, sections = figures.sweep(density, components, lens.PLACES, ring=1 + over)
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            ui.figure(
                figures.plane(whole.coarse(100), whole.reach, data, samples, (x1, x2), "p(x₁, x₂)"),
                alt="Density of the plane with points, and the section at the chosen x₁", key="plane",
                share=1.0, film=film, frames=moves,
            )  # fmt: skip
        with right:
            ui.figure(
                figures.section(axis, density[film.at], components[film.at], x2, "p(x₂ | x₁)"),
                alt="Conditional density of the second variable and its components", key="section",
                data={"x2": axis, "density": density[film.at]}, share=1.0, film=film, frames=sections,
            )  # fmt: skip
    with stage.foot:
        film.bar(equations=[lens.term_equation(one, x2) for one in parts])
    value, misread = part.at(x2)
    stage.metrics(
        {
            f"p(x₂ = {x2:.2f} | x₁ = {x1:g})": f"{value:.4f}",
            "σ for the variance": f"{misread:.4f}",
            "Humps": f"{part.modes(lens.axis())}",
            "Integral": f"{integral:.4f}",
        }
    )
    return part, x1, x2


def trained_mode() -> None:
    with stage.rail:
        name = ui.experiment(
            "Model", family="autoregressive", key="model", default="rnade-moons", only=lens.of_the_plane
        )
        shown = ui.choice("Points", ["data", "samples", "none"], key="points")
    data = lens.data(lens.shape_of(name), POINTS) if shown == "data" else None
    samples = drawn(name, 0) if shown == "samples" else None
    model = ui.load(name)
    part, x1, x2 = look(shipped_sections(name), shipped_map(name), shipped_integral(name), data, samples)
    rungs = lens.ladder({one: ui.card(one) for one in ui.trained("autoregressive", lens.of_the_plane)})
    humps = part.modes(lens.axis())
    options = ["1", "2 or 3", "4 or more"]
    with stage.below:
        ui.notice(
            "A mixture moves its weights from hump to hump as x₁ moves; with one Gaussian a section is one "
            "hump, which must cover gaps where no data lie. Both integrate to 1; the test cost tells them "
            "apart. The integral is over twice the window's width: a single wide Gaussian leaves the window."
        )
        ui.table(lens.ladder_table(rungs), alt="Components and test cost of every trained model of the plane")
        ui.table(lens.component_table(part, x2), alt="The components of the section, heaviest first")
        ui.check(
            f"How many humps has p(x₂ | x₁ = {x1:g}) of {name}?",
            options,
            options[0 if humps < 2 else 1 if humps < 4 else 2],
            f"{humps}, counted on the curve; the mixture has {model.components} components.",
            wrong={
                options[0]: "One Gaussian has one hump; a mixture has one for each part that stands apart.",
                options[1]: f"Look where the line x₁ = {x1:g} crosses the data: each crossing far from "
                "others is a hump.",
                options[2]: f"The {model.components} components overlap: humps are counted on their sum.",
            },
            veils=("section", "numbers"),
        )
        ui.program(
            f"""
            import torch
            from lab import weights

            model = weights.load("{name}").requires_grad_(False)
            x = torch.tensor([[{x1}, {x2}]])
            result = float(model.log_conditionals(x)[0, 1].exp())
            """,
            shows=part.at(x2)[0],
        )
        ui.source(
            rnade.RNADE.mixture, rnade.RNADE.conditional_log_prob, lens.Section, lens.density_map,
            references=ROOM.references,
        )  # fmt: skip


def own_mode() -> None:
    with stage.rail:
        picture = ui.draw("Draw where the points lie", key="ink", size=PAD, examples=ink.examples(PAD))
        components = ui.slider("Gaussians a variable, K", 1, 10, 5, key="k")
        seed = ui.number("Seed", 0, 999, 0, key="seed")
    try:
        data = ink.scattered(picture, POINTS, seed)
    except ValueError as error:
        ui.stop(str(error))

    def progress(result: own_points.Fit) -> None:
        whole = lens.density_map(result.model)
        ui.figure(
            figures.plane(whole.coarse(100), whole.reach, data,
                title=f"{result.losses[-1]:.3f} nats per point"),
            alt="The density so far, with the points", key="so-far", share=1.0,
        )  # fmt: skip

    def points() -> None:
        ui.figure(
            basic.scatter(data, title=f"{POINTS} points over your ink", xlabel="x₁", ylabel="x₂"),
            alt="The points that are trained on", data={"x1": data[:, 0], "x2": data[:, 1]}, share=1.0,
        )  # fmt: skip

    with stage.picture:
        result = ui.job(
            "Train on these points", lambda: own_points.fit(data, components, seed=seed), key="train",
            of=(picture.tolist(), components, seed), show=progress, before=points,
        )  # fmt: skip
    if result is not None:
        drawn_map, integral = lens.density_map(result.model), lens.integral(result.model)
        part, _, x2 = look(lens.sections(result.model), drawn_map, integral, data, None)
    most = own_points.gaps(picture)
    with stage.below:
        if result is None:
            ui.notice("Train with K = 1 and with K = 5 on the same ink: what can one Gaussian not do?")
        else:
            ui.notice(
                "The network never sees x₂ when it says where x₂ may be: it reads x₁ and answers with "
                "weights, means and widths. Gaps of your ink along a vertical line need several Gaussians."
            )
            ui.figure(
                basic.curves({"−log p": result.losses}, xlabel="step", ylabel="nats per point", height=320),
                alt="Training loss by step", data={"loss": result.losses},
            )  # fmt: skip
            ui.table(lens.component_table(part, x2), alt="The components of the section, heaviest first")
        ui.check(
            "Along some vertical line of your drawing, does the ink fall into two parts or more?",
            ["yes", "no"],
            "yes" if most > 1 else "no",
            f"Up to {most}: as many humps as p(x₂ | x₁) needs there.",
            wrong={
                "yes": "Each vertical line meets the ink in one piece: there one hump is enough.",
                "no": "The eye follows the stroke, a conditional goes upwards: some line meets ink, a gap, "
                "and ink again.",
            },
            veils=("picture",),
        )
        ui.source(own_points.fit, ink.scattered, rnade.RNADE, references=ROOM.references)


modes = {"Trained": trained_mode, "Own points": own_mode, "Whole numbers": lambda: dequantisation.view(stage)}
with stage.rail:
    mode = ui.choice("View", list(modes), key="show", default="Trained", as_list=True)
modes[mode]()
