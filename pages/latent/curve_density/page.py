"""Density from a curve: one latent number, a Gaussian for each of its values, and which of them made x."""

from lab import ui
from modules.latent import elbo
from pages.latent.curve_density import figures, lens
from pages.latent.curve_density.room import ROOM

OWN = "own corners"

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Two guesses": ui.scene("Where the curve crosses itself, two values of z may have made the point."),
        "Five draws": ui.scene("Draw z, go to f(z), add noise: five orange points.", draws=5),
        "A thousand": ui.scene("A thousand draws lie as the density says.", draws=1000),
        "Wide noise": ui.scene("σ = 1: a blur; yet at the crossing two guesses stay.", sigma=1.0),
        "Line": ui.scene("A straight curve: density and posterior are one Gaussian each.", curve="line"),
        "Centre": ui.scene("Equally far from all of the curve: x tells nothing, the posterior is the prior.",
                           curve="horseshoe", point=(0, 0)),
        "Spiral": ui.scene("One number winds through the plane.", curve="spiral", draws=1000),
    }
)  # fmt: skip


@ui.cached
def mapped(name: str, text: str, sigma: float):
    return lens.density(curve_of(name, text), sigma)


def curve_of(name: str, text: str) -> lens.Curve:
    return lens.polyline(lens.typed(text)[0]) if name == OWN else lens.CURVES[name][0]


with stage.rail:
    name = ui.choice("Curve", [*lens.CURVES, OWN], key="curve", as_list=True)
    sigma = ui.slider("Noise σ", 0.1, 1.0, 0.3, key="sigma", step=0.05)
    seed = ui.number("Seed of the draws", 0, 999, 0, key="seed")
    text = "-3, -2; 0, 2; 3, -2; -3, 1"
    if name == OWN:
        text = ui.text("Corners, z from −2 to 2", text, key="corners", max_chars=300)
bad = lens.typed(text)[1]
if bad:
    stage.top.warning(bad)
try:
    curve = curve_of(name, text)
except ValueError as error:
    ui.stop(str(error))
start = lens.CURVES[name][1] if name != OWN else lens.middle(curve)
picked = ui.selection("point")
inside = picked is not None and max(abs(picked["x"]), abs(picked["y"])) <= lens.REACH
at = (float(picked["x"]), float(picked["y"])) if picked is not None and inside else start
film = ui.film(len(lens.DRAWS), key="draws", values=lens.DRAWS, default=100, label="Draws:", seconds=0.4)
grid = lens.posterior(curve, sigma, at)
guesses = lens.modes(grid)
z, x = lens.draws(curve, sigma, seed)
prior = elbo.log_normal(grid.z, 0.0, 1.0).exp()
thin = slice(None, None, 4)  # of the grid, for the picture

with stage.picture:
    left, right = ui.columns(2)
    with left:
        fig = figures.plane(
            mapped(name, text, sigma), lens.REACH, lens.path(curve), sigma, x,
            int(film.value), at, curve(guesses),
        )  # fmt: skip
        ui.clickable(
            fig, key="point", mark=False, share=1.0, film=film, frames=figures.fills(x, lens.DRAWS),
            alt="Density of the plane along a curve, draws from it, and the point that is asked about",
            data={"z": z, "x1": x[:, 0], "x2": x[:, 1]},
        )  # fmt: skip
    with right:
        ui.figure(
            figures.laws(grid.z[thin], prior[thin], grid.posterior[thin], guesses), key="laws", share=1.0,
            alt="Prior of z, and its posterior given the point",
            data={"z": grid.z, "posterior": grid.posterior},
        )  # fmt: skip
log_p = lens.at_points(curve, sigma, x)
with stage.foot:
    film.bar(
        captions=[
            f"{n} draw{'s' * (n > 1)}: z from N(0, 1), then x around f(z). Mean of log p(x) over them: "
            f"{float(log_p[:n].mean()):.3f} nats."
            for n in lens.DRAWS
        ]
    )
value = float(grid.log_prob)
stage.equation(
    rf"\log p(x)=\log\int N(x; f(z), {sigma:g}^2 I)\,N(z; 0, 1)\,dz = {value:.4f}",
    note=f"at x = ({at[0]:.2f}, {at[1]:.2f}), in nats; click another point.",
)

many = len(guesses)
with stage.below:
    ui.notice(
        "Every z makes one Gaussian, weighted by p(z): a mixture with no end of components. The prior and "
        "the noise are Gaussian, yet density and posterior need not be, since f bends. Diamonds are f of the "
        f"likeliest z: at this x the posterior has {many} hump{'s' * (many > 1)} (violet). Where there are "
        "several, a Gaussian q must sit on one of them, or lie across."
    )
    options = ["1", "2", "3 or more"]
    ui.check(
        "How many humps has the posterior of z at this x?",
        options,
        options[min(many, 3) - 1],
        "One for every part of the curve that comes near x, weighted by how usual its z is.",
        wrong=(
            "More than one part of the curve comes near x: a single hump would lie between them.",
            "Count the parts of the curve that come near x, leaving out those whose z is unusual.",
            "However often the curve winds, only parts within a few σ of x count.",
        ),
        veils=("laws", "at"),
    )
    result = f"lens.polyline(lens.typed({text!r})[0])" if name == OWN else f"lens.CURVES[{name!r}][0]"
    ui.program(
        f"""
        from pages.latent.curve_density import lens

        curve = {result}
        grid = lens.posterior(curve, {sigma}, {at})
        result = [float(grid.log_prob), *lens.modes(grid).tolist()]
        """,
        shows=[value, *guesses.tolist()],
    )
    ui.source(lens.posterior, lens.density, elbo.Grid, references=ROOM.references)
