"""Change of variables: a curve moves mass along the line; where it is steep the density falls."""

from lab import ui
from lab.errors import UserError
from modules.flow import change
from modules.flow.layer import FlowLayer
from pages.flow.change_of_variables import figures, lens
from pages.flow.change_of_variables.room import ROOM

# name -> label, low, high, default of its one number
KNOBS = {
    "leaky": ("Slope below 0", 0.05, 1.0, 0.25),
    "two hills": ("Distance of the hills from 0", 0.5, 3.0, 1.5),
    "−log(1 − z)/λ": ("λ", 0.5, 4.0, 2.0),
}
CURVES = ["sigmoid", "e^z", "leaky", "two hills", "z²", "−log(1 − z)/λ", "typed points"]
PYTHON = {
    "sigmoid": "Sigmoid()", "e^z": "Exp()", "z²": "Power(2.0)",
    "two hills": "Quantile([1, 1], [-{0}, {0}], [0.5, 0.5])",
    "−log(1 − z)/λ": "Exponential({0})",
}  # fmt: skip

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Sigmoid": ui.scene("In the middle the slope is ¼: the density there is four times that of z."),
        "Its end": ui.scene("Far out the curve is flat: a wide strip becomes a narrow one.", strip=40),
        "Kink": ui.scene("Below 0 the slope is ¼: the density is four times as high.", f="leaky", strip=8),
        "Two hills": ui.scene("The middle is steep: little mass is left between the hills.", f="two hills"),
        "From uniform": ui.scene("Equal steps of z, ever longer steps of x: the exponential distribution.",
                                 f="−log(1 − z)/λ", strip=36),
        "Endless": ui.scene("At 0 the slope of z² is 0: the density there has no bound.", f="z²", strip=0),
        "Samples": ui.scene("Twenty thousand samples agree with p(z)/f′(z).", f="two hills", draws=20_000),
        "Own points": ui.scene("Three slopes: 1, ¼ and 3. Each piece keeps its mass.",
                               f="typed points", strip=18),
    }
)  # fmt: skip

# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    name = ui.choice("x = f(z)", CURVES, key="f", as_list=True)
    knob = 0.0
    points: list[tuple[float, float]] = []
    if name in KNOBS:
        label, low, high, default = KNOBS[name]
        knob = ui.slider(label, low, high, default, key=f"knob{CURVES.index(name)}", step=0.05)
    if name == "typed points":
        points, text = lens.pairs(
            ui.text("Points z:x", "-3:-3, -1:-1, 1:-0.5, 3:5.5", key="points", max_chars=200, area=False)
        )
        if text:
            ui.warning(text)
        if len(points) < 2:
            ui.stop("Type at least two points, such as -2:-1, 2:3.")
    draws = ui.slider("Samples", 0, 20_000, 0, key="draws", step=500)
    seed = ui.number("Seed", 0, 9999, 0, key="seed")
try:
    chosen = lens.curve(name, knob, points)
except UserError as error:
    ui.stop(str(error))
strips = lens.strips(chosen)
film = ui.film(lens.STRIPS, key="strip", default=lens.STRIPS // 2, label="Strip", seconds=0.15)

# --- Picture ------------------------------------------------------------------------------------

z = lens.places(chosen)
before, x, after = chosen.densities(z)
total, due = lens.mass(chosen, z)
under_z, height_z, under_x, height_x = lens.inside(chosen, strips.ends_z)
bars = lens.histogram(chosen, draws, seed) if draws else None
fig = figures.construction(z, x, before, after, chosen.window, bars)
across, up = figures.way(strips.z, strips.x, chosen.window[0] - 1, float(z.max()) + 1)
with stage.picture:
    ui.figure(
        fig, alt="A base density, the curve above it, the density of x to its right, and a strip on its way",
        key="construction", share=1.0, film=film,
        data={"z": z, "x": x, "p(z)": before, "p(x)": after},
        frames={"data.4.x": under_z, "data.4.y": height_z, "data.5.x": height_x, "data.5.y": under_x,
                "data.6.x": across, "data.6.y": up},
    )  # fmt: skip
with stage.foot:
    film.bar(captions=lens.captions(strips), equations=lens.equations(strips))
at = film.at
there = float(chosen.back(strips.x[at : at + 1])[0])
stage.metrics(
    {
        "f′(z)": f"{float(strips.slope[at]):.4f}",
        "p(z)": f"{float(strips.before[at]):.4f}",
        "p(x)": f"{float(strips.after[at]):.4f}",
        "|f⁻¹(f(z)) − z|": f"{abs(there - float(strips.z[at])):.1e}",
        "∫ p(x) dx here": f"{total:.3f} of {due:.3f}",
    }
)

# --- Words --------------------------------------------------------------------------------------

slope = float(strips.slope[at])
steepest, flattest = float(strips.slope.max()), float(strips.slope.min())
with stage.below:
    ui.notice(
        f"Every strip holds {lens.MASS:g} of the mass, before and after. Over these strips the slope runs "
        f"from {flattest:.2f} to {steepest:.2f}; the density of x at f(z) is that of z divided by the slope, "
        "nothing else."
    )
    answers = ["higher than p(z)", "lower than p(z)", "the same"]
    right = answers[2] if abs(slope - 1) < 5e-3 else answers[0 if slope < 1 else 1]
    ui.check(
        "At the middle of this strip, p(x) is …", answers, right,
        f"The slope there is {slope:.3f}, and p(x) = p(z) / slope.",
        wrong={
            "higher than p(z)": "Density rises only where the map squeezes, at a slope below 1.",
            "lower than p(z)": "Density falls only where the map stretches, at a slope above 1.",
            "the same": f"Only where the slope is 1; here it is {slope:.3f}.",
        },
        veils=("picture", "equation", "numbers"),
    )  # fmt: skip
    if name in PYTHON:
        ui.program(
            f"""
            import torch
            from modules.flow.change import {PYTHON[name].split("(")[0]}

            layer = {PYTHON[name].format(knob)}
            z = torch.tensor([[{float(strips.z[at])!r}]], dtype=torch.float64)
            x, ladj = layer.generate(z)
            base = torch.distributions.{"Normal" if chosen.base is lens.NORMAL else "Uniform"}(0.0, 1.0)
            result = float((base.log_prob(z).sum() - ladj).exp())
            """,
            shows=float(strips.after[at]),
        )
    ui.source(change.Quantile, FlowLayer, lens.strips, references=ROOM.references)
