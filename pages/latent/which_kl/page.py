"""Choose between two KLs: the best Gaussian of a target with two modes, by KL(q ‖ p) and by KL(p ‖ q)."""

from lab import ui
from lab.lenses import typed
from modules.latent import variational
from pages.latent.which_kl import figures, lens
from pages.latent.which_kl.room import ROOM

OWN = "0.5 -3 1, 0.5 3 1"

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Two modes": ui.scene("Orange sits on one mode at KL just under ln 2; green covers both."),
        "Together": ui.scene("While the modes are near, the two Gaussians nearly agree.", d=0.8),
        "Parting": ui.scene("Play: orange stays wide while it can, then lets one mode go.", d=0.0),
        "Other start": ui.scene(
            "From the right, orange settles on the other mode: the same KL.", start="right"
        ),
        "Between": ui.scene(
            "Between the modes orange can rest too, and pays more than ln 2.", start="middle"
        ),
        "Minor mode": ui.scene(
            "From the right it keeps a mode of weight 0.2, and pays ln 5.", w=0.8, start="right", d=4.0
        ),
        "Three modes": ui.scene(
            "Play the start: near a mode q stays with it, from between it spreads over all.",
            target="own",
            own="0.3 -5 0.6, 0.4 0 0.6, 0.3 5 0.6",
            m=-4.0,
        ),
    }
)


@ui.cached
def separated(weight: float, width: float, side: str) -> lens.Story:
    return lens.over_separations(weight, width, side)


@ui.cached
def started(components) -> lens.Story:
    return lens.over_starts(components)


# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    target = ui.choice("Target", ["two modes", "own"], key="target")
    if target == "own":
        text = ui.text("weight, mean, σ of each component", OWN, key="own", max_chars=120)
        values, complaint = typed.named(text, 15, -7, 7)
        components, more = lens.components_of(values)
        if complaint or more:
            ui.warning(complaint or more)
        if not components:
            ui.stop("Give at least one component, such as 0.5 -3 1.")
        result, places = started(components), lens.STARTS
        film = ui.film(len(places), key="m", values=places, default=-3.0, label="Start", seconds=0.4)
    else:
        side = ui.choice("q starts", list(lens.SIDES), key="start")
        weight = ui.slider("Weight of the left mode", 0.1, 0.9, 0.5, key="w", step=0.1)
        width = ui.slider("σ of the right mode", 0.4, 2.0, 1.0, key="width", step=0.2)
        components = []
        result, places = separated(weight, width, side), lens.SEPARATIONS
        ui.prefetch(started, (lens.components_of(typed.named(OWN, 15, -7, 7)[0])[0],))
        ui.prefetch(
            separated,
            *((each, width, side) for each in ui.near(weight, 0.1, 0.9, 0.1)),
            *((weight, each, side) for each in ui.near(width, 0.4, 2.0, 0.2)),
            *((weight, width, each) for each in lens.SIDES if each != side),
        )
        film = ui.film(len(places), key="d", values=places, default=3.0, label="Modes at ±", seconds=0.3)
        at = film.value
        components = [(weight, -at, 1.0), (1 - weight, at, width)]
seek, cover = result.seeking[film.at], result.covering[film.at]

# --- Picture ------------------------------------------------------------------------------------

with stage.picture:
    left, right = ui.columns([3, 2])
    with left:
        q, wide = result.density(result.seeking), result.density(result.covering)
        ui.figure(
            figures.densities(result, film.at),
            key="densities",
            share=1.0,
            film=film,
            frames={"data.0.y": result.target, "data.1.y": q, "data.2.y": wide},
            alt="The target and the Gaussians nearest to it in the two directions of the KL",
            data={
                "z": result.z,
                "target": result.target[film.at],
                "seeks": q[film.at],
                "covers": wide[film.at],
            },
        )
    with right:
        xlabel = "start of q" if target == "own" else "modes at ±"
        ui.figure(
            figures.costs(result, places, film.at, xlabel),
            key="costs",
            share=1.0,
            film=film,
            frames={f"layout.shapes.0.x{end}": places for end in (0, 1)},
            alt="KL(q‖p) of the Gaussian that seeks and of the one that covers",
            data={
                "place": places,
                "seeks": [f.reverse for f in result.seeking],
                "covers": [f.reverse for f in result.covering],
            },
        )
with stage.foot:
    film.bar(captions=lens.captions(result), equations=lens.equations(result))

# --- Words --------------------------------------------------------------------------------------

held = result.held(film.at)
with stage.below:
    ui.notice(
        "KL(q‖p) asks q to stay away from where p is small: with modes far apart one of them is let go, for "
        "−log of the weight that is kept. KL(p‖q) asks q to be wherever p is: it takes over mean and "
        "variance, valley included. A bound maximised over q is the first of the two."
    )
    ui.check(
        "How much of the target lies within two σ of the orange Gaussian?",
        lens.OPTIONS,
        lens.OPTIONS[(held >= 0.6) + (held > 0.9)],
        f"It is {held:.3f}.",
        wrong=(
            "This Gaussian lies over more of the target: fitting KL(p‖q) leaves nothing out.",
            "To cover all or to sit on one mode are the two ways: here it is one of them outright.",
            "This Gaussian shuns what lies between the modes: KL(q‖p) makes it sit on one of them.",
        ),
        veils=("picture",),
    )
    start = film.value if target == "own" else seek.mean
    ui.program(
        f"""
        from modules.latent.variational import nearest_gaussian
        from pages.latent.which_kl.lens import mixture

        grid = mixture({components})
        seeks = nearest_gaussian(grid, {start!r}, {1.0 if target == "own" else seek.deviation!r})
        covers = nearest_gaussian(grid, 0.0, 1.0, reverse=False)
        result = [*seeks, *covers]
        """,
        shows=[seek.mean, seek.deviation, seek.reverse, cover.mean, cover.deviation, cover.forward],
    )
    ui.source(variational.nearest_gaussian, lens.fit, references=ROOM.references)
