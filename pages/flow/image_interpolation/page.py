"""Two digits mixed in all levels of a Glow's z, and in their pixels; a digit along an attribute."""

from lab import ui
from lab.figures import tables
from lab.lenses import glows, latent
from lab.ui.models import grey_digits
from modules.flow.flow import Flow
from pages.flow.image_interpolation import lens
from pages.flow.image_interpolation.room import ROOM

WALKS = ["linear", "spherical"]
TOP = 17

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Halfway": ui.scene("Above the mix of z, below the mix of pixels: the same ends, two ways."),
        "The ends": ui.scene("At t = 0 both paths are digit A itself, to the last grey level.", t=0.0),
        "On an arc": ui.scene("The arc keeps the radius that z usually has; the line dips in its middle.",
                              walk="spherical"),
        "1 and 0": ui.scene("Two digits of little common ink.", a="1", b="0"),
        "To a box": ui.scene("One end is no digit: log p falls towards it.", b="box", t=1.0),
        "More of a 9": ui.scene("The mean 9 less the mean 3, added to your digit.", view="attribute", s=0.6),
    }
)  # fmt: skip

with stage.rail:
    view = ui.choice("View", ["two digits", "attribute"], key="view")
    a = grey_digits.digit("Digit A", "a", 3)
    if view == "two digits":
        b = grey_digits.digit("Digit B", "b", 9)
        walk = ui.choice("Path in z", WALKS, key="walk")
    else:
        minus = ui.choice("Less", list(range(10)), key="minus", default=3)
        plus = ui.choice("More", list(range(10)), key="plus", default=9)
    name, model = grey_digits.model()


@ui.cached
def between(name: str, a, b, walk: str) -> tuple[lens.Path, lens.Path]:
    return lens.paths(ui.load(name), a, b, walk)


@ui.cached
def attributed(name: str, x, minus: int, plus: int) -> lens.Path:
    return lens.attribute(ui.load(name), x, *glows.digits(), minus, plus)


if view == "two digits":
    knob, label = [i / (lens.STEPS - 1) for i in range(lens.STEPS)], "t"
    results = dict(zip((walk, "pixels"), between(name, a.x, b.x, walk), strict=True))
    ui.prefetch(between, *((name, a.x, b.x, each) for each in WALKS if each != walk))
    ui.prefetch(attributed, (name, a.x, 3, 9))
else:
    knob, label = lens.STRENGTHS, "s"
    results = {"z + s arrow": attributed(name, a.x, minus, plus)}
    ui.prefetch(attributed, *((name, a.x, minus, each) for each in ui.near(plus, 0, 9, 1)),
             *((name, a.x, each, plus) for each in ui.near(minus, 0, 9, 1)))  # fmt: skip
film = ui.film(len(knob), key=label, values=knob, default=0.5 if label == "t" else 0.0, label=f"{label} =",
               seconds=0.25)  # fmt: skip
sheet = latent.stacked([path.pictures for path in results.values()])
lines = {kind: path.log_prob for kind, path in results.items()}
radii = {kind: path.radius for kind, path in results.items()}
typical = latent.typical_length(model.event_dim)

with stage.picture:
    fig = tables.sheet(sheet, list(results), TOP, [f"{v:g}" for v in knob])
    ui.figure(
        tables.frame(fig, film.at, glows.SIDE, len(results)), key="sheet", share=0.45, film=film,
        frames=tables.moves(len(knob), glows.SIDE),
        alt="Pictures on the way, a path a row; this step is framed",
    )  # fmt: skip
    left, right = ui.columns(2)
    with left:
        ui.figure(
            tables.course(lines, knob, knob[film.at], label, "log p, nats"), key="log-p", share=0.55,
            film=film, frames=tables.mark(knob), data={label: knob, **lines},
            alt="log p of the pictures along each path",
        )  # fmt: skip
    with right:
        ui.figure(
            tables.course(radii, knob, knob[film.at], label, "‖z‖", {"typical": typical}), key="radius",
            share=0.55, film=film, frames=tables.mark(knob), data={label: knob, **radii},
            alt="Length of z along each path, against its mean under the base",
        )  # fmt: skip
with stage.foot:
    film.bar(
        captions=[
            f"{label} = {v:g}: "
            + "; ".join(
                f"{kind}: log p {p.log_prob[i]:.1f} nats, ‖z‖ {p.radius[i]:.2f}"
                for kind, p in results.items()
            )
            + f". A draw of the base has length {typical:.2f} on average."
            for i, v in enumerate(knob)
        ],
    )
middle = len(knob) // 2
with stage.below:
    if view == "two digits":
        mixed, blend = results[walk], results["pixels"]
        gain = float(mixed.log_prob[middle] - blend.log_prob[middle])
        ui.notice(
            f"Halfway the mix of z scores {mixed.log_prob[middle]:.1f} nats and the blend of pixels "
            f"{blend.log_prob[middle]:.1f}: {abs(gain):.1f} nats "
            f"{'more' if gain > 0 else 'less'} for z. "
            f"Its ends come back within {lens.ends(mixed, a.x, b.x):.0e} grey levels: all of z is mixed. "
            "A high density alone does not make a digit: look at the pictures too."
        )
        ui.check(
            "Halfway, which picture has the higher log p?",
            ["the mix of z", "the blend of pixels"],
            "the mix of z" if gain > 0 else "the blend of pixels",
            f"{mixed.log_prob[middle]:.1f} against {blend.log_prob[middle]:.1f} nats.",
            wrong={
                "the mix of z": "A mixed z is likely under the base, but the log-determinant there may "
                "take that back.",
                "the blend of pixels": "A blend shows two pale digits at once: pixels between two digits "
                "are no digit's.",
            },
            veils=("picture", "equation"),
        )
        program = f"y = lens.paths(model, a, {b.program}, {walk!r})[0]"
    else:
        ui.notice(
            f"The arrow is the mean z of held-out digits {plus} less that of digits {minus}; at s = 0 stands "
            f"your digit, with {results['z + s arrow'].log_prob[middle]:.1f} nats. Far along it the picture "
            "leaves the digits."
        )
        program = f"y = lens.attribute(model, a, *glows.digits(), {minus}, {plus})"
    ui.program(
        f"""
        from lab import experiments, weights
        from lab.lenses import glows
        from lab.ui.controls import drawing
        from pages.flow.image_interpolation import lens

        model = weights.load({ui.spelled(name)})
        a = {a.program}
        {program}
        result = float(y.log_prob[{film.at}])
        """,
        shows=float(next(iter(results.values())).log_prob[film.at]),
    )
    ui.source(Flow.encode, Flow.decode, lens.paths, lens.attribute, references=ROOM.references)
