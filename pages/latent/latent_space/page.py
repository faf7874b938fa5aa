"""Latent space: where a model puts digits, and what it makes of any place."""

from lab import ui
from lab.figures import sheets, theme
from lab.lenses import latent, vaes
from lab.ui.figures.plane import plane as map_of_plane
from lab.ui.models import shelves
from modules.latent.bounds import LOG_2PI
from modules.latent.vae import VAE
from pages.latent.latent_space import figures
from pages.latent.latent_space.room import ROOM

EXTENT, GRID, STEPS, NEAREST = 3.5, 29, 11, 5

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Two digits": ui.scene("Rings: where the encoder puts A and B. Point anywhere to decode it."),
        "Only the codes": ui.scene("A dot is a digit, a colour its class, which the model was never told.",
                                   tiles=False),
        "Exact posterior": ui.scene("Orange: p(z|x) by Bayes' rule. Blue: the encoder's guess at it.",
                                    posterior=True, tiles=False, a="4"),
        "Where there are no dots": ui.scene("Far from every code the decoder still answers; log p(z) is low.",
                                            z=(3.25, -3.25)),
        "Small digits": ui.scene("Upright and thick: digits of another data set land elsewhere, and mix.",
                                 examples=shelves.DIGITS),
        "No digit at all": ui.scene("A box gets a place too, and that place is decoded to a digit.", a="box"),
        "Forty dimensions": ui.scene("The plane is a slice of 40 dimensions: dots of any depth fall on it.",
                                     model="vae-mnist"),
    }
)  # fmt: skip


@ui.cached
def tiles(name: str, kind: str):
    return latent.decode_plane(ui.load(name), shelves.overview(name, kind).plane, EXTENT, GRID)


@ui.cached
def exact(name: str, x):
    """The exact posterior on the whole plane, and near the encoder's answer."""
    model = ui.load(name)
    result = latent.grid_posterior(model, x)
    return result.density, latent.posterior_near(model, x, result.log_evidence)


# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    name = ui.experiment("Model", family="latent", key="model", default=vaes.START, only=vaes.fits)
    shelf = shelves.shelf(name)
    a = shelves.digit("a", name, shelf)
    b = shelves.digit("b", name, shelf)
    show_tiles = ui.toggle("Decoded digits behind the dots", True, key="tiles")
    model = ui.load(name)
    k, plane = model.latent_dim, shelf.overview.plane
    show_exact = k == 2 and ui.toggle(
        "Exact posterior of A", False, key="posterior", help="p(z|x) by Bayes' rule on a grid of the plane."
    )
density, near_a = exact(name, a.x) if show_exact else (None, None)
mean, log_var = (part[0] for part in model.encode_parameters(a.x))
outline = latent.ellipse(plane, mean, log_var)

# --- Pictures -----------------------------------------------------------------------------------

with stage.picture:
    left, right = ui.columns([3, 1])
    with left:
        dots = plane.place(shelf.overview.means)
        place = map_of_plane(
            tiles(name, shelf.kind),
            key="z",
            alt=f"{len(shelf.labels)} examples ({shelf.kind}) placed by {name}, coloured by class; "
            "the picture under the pointer is decoded",
            extent=EXTENT,
            names=plane.names,
            points=dots,
            labels=shelf.labels,
            marks=[
                {"line": outline, "color": theme.BLUE},
                {"line": plane.place(latent.interpolate(a.code, b.code, STEPS)), "color": theme.HIDDEN},
                {"name": "A", "at": plane.place(a.code), "color": theme.BLUE, "open": show_exact},
                {"name": "B", "at": plane.place(b.code), "color": theme.VERMILLION},
            ],
            show_tiles=show_tiles,
            density=density,
            density_reach=5.0,
            data={"u": dots[:, 0], "v": dots[:, 1], "class": shelf.labels},
        )
    code = plane.at(*place) if place else a.code
    what = "at the held place" if place else "at A's place"
    index, distance = latent.neighbours(shelf.overview.means, code, NEAREST)
    classes = shelf.labels[index].tolist()
    with right:
        if near_a is not None:
            ui.figure(
                figures.posterior(near_a, latent.ellipse(plane, mean, log_var, 2.0)), key="near-a", share=0.5,
                alt="The exact posterior of digit A near its code, and the encoder's guess as an outline",
            )  # fmt: skip
        ui.figure(
            sheets.labelled(
                [latent.decoded(model, code[None])[0], *shelf.pictures[index]],
                ["decoded", *(f"{d:.2f}" for d in distance.tolist())], columns=2 if near_a is None else 3,
            ),
            key="nearest", share=1.0 if near_a is None else 0.5,
            alt=f"Decoded {what}, and the {NEAREST} nearest examples: {', '.join(map(str, classes))}",
            data={"example": index, "class": classes, "distance": distance},
        )  # fmt: skip
squares, log_p = code.square().sum().item(), model.prior.log_prob(code).item()
stage.equation(
    rf"z={vaes.vector(code)},\quad\log p(z)=-\tfrac12\lVert z\rVert^2-\tfrac K2\log 2\pi"
    rf"=-\tfrac12\cdot{squares:.3f}-{0.5 * k * LOG_2PI:.3f}={log_p:.3f}",
    f"z {what}",
)

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    ui.notice(
        "Neighbouring places decode to similar digits; between two classes stand shapes between two digits. "
        f"The prior p(z) = N(0, I) is what samples are drawn from. The plane holds {plane.share:.0%} of the "
        "codes' variance. "
        + (
            "With more than two dimensions it is only a slice: dots of other depth fall on it too. "
            if k > 2
            else "Two numbers cannot hold everything, so some classes overlap and their digits blur. "
        )
        + "The blue outline is twice the standard deviation of the encoder's answer for A. On the right "
        f"stand the code {what}, decoded, and the examples nearest to it, with their distances."
    )
    typical, length = latent.typical_length(k), code.norm().item()
    ui.check(
        f"Does the code {what} lie closer to the origin than a typical draw from the prior?",
        ["closer", "farther"],
        "closer" if length < typical else "farther",
        f"Its length is {length:.2f}; draws from N(0, I) have {typical:.2f} on average.",
        wrong={
            "closer": "A code need not be near the middle: the encoder moves digits apart to tell them.",
            "farther": "Draws have a length themselves: in many dimensions hardly any lies near the origin.",
        },
        veils=("picture", "equation"),
    )
    spelled = f"x.new_tensor({code.tolist()})" if place else "latent.codes(model, x)[0]"
    ui.program(
        f"""
        from lab import experiments, weights
        from lab.lenses import latent
        from lab.ui.controls import drawing

        model = weights.load({ui.spelled(name)})
        x = {a.program}
        z = {spelled}
        result = [*z[:3].tolist(), model.prior.log_prob(z).item()]
        """,
        shows=[*code[:3].tolist(), log_p],
    )
    ui.source(
        VAE.encode_parameters, VAE.decode, latent.decode_plane, latent.grid_posterior, latent.posterior_near,
        references=ROOM.references,
    )  # fmt: skip
