"""Capacity wall: what a ring and a cube cost in components, and what one bent latent makes of the ring."""

from functools import partial

from lab import ui
from lab.figures import theme
from lab.lenses import ink
from lab.ui.controls import drawing
from lab.ui.controls.drawing import ink_code
from modules.latent.gtm import GTM
from modules.latent.mixture import GaussianMixture
from pages.latent.capacity_wall import cube, figures, lens
from pages.latent.capacity_wall.progress import so_far
from pages.latent.capacity_wall.room import ROOM

NOISES, COUNTS = [0.05, 0.1, 0.2, 0.4], [250, 1000, 4000]
RING, DRAWING = "ring", "own drawing"

stage = ui.stage(ROOM)
stage.scenes(
    {
        "One Gaussian": ui.scene("A Gaussian is highest in the hole: every linear latent model is one.", k=1),
        "Eight": ui.scene("Eight Gaussians on the ring, each along its arc."),
        "Thirty-two": ui.scene("Too many: the fitted points go up, new points go down.", k=32),
        "One bent latent": ui.scene("A line bent round, 15 numbers: on new points better than all mixtures.",
                                    view="Curve"),
        "Bending": ui.scene("Step 3 of EM: the line curls in the middle; go on, and it opens to the ring.",
                            view="Curve", step=3),
        "Cube": ui.scene("Eight corners, four Gaussians: wide ones lie over several.",
                         view="Cube", components=4),
        "Six dimensions": ui.scene("32 Gaussians for 64 corners, and far from the best.", view="Cube",
                                   d=6, components=32),
        "Few points": ui.scene("250 points: mixtures overfit soon, and the curve does not.", n=250, k=16),
        "Own drawing": ui.scene("Your own ink: draw, and see how many Gaussians it takes.",
                                data=DRAWING, k=12),
    }
)  # fmt: skip


def points_of_view() -> tuple:
    """Task of the fit: the data's settings, points, new points, −H, and a program's words for both; settings
    that may come next, each with how to make its points."""
    with stage.rail:
        data = ui.choice("Data", [RING, DRAWING], key="data")
        if data == RING:
            sigma = ui.choice("Noise σ", NOISES, key="sigma", default=0.1)
        else:
            picture = ui.draw("Draw", key="ink", size=lens.PAD, examples=ink.examples(lens.PAD))
        count = ui.choice("Points", COUNTS, key="n", default=1000)
        seed = ui.number("Seed", 0, 99, 0, key="seed")
    if data == RING:
        make, level = lambda n, s: lens.ring(n, sigma, s), -lens.ring_entropy(sigma)
        words, spelled = (data, sigma), f"lens.ring({{}}, {sigma}, {{}})"
    else:
        try:
            level = -lens.drawn_entropy(picture)
            lens.drawn(picture, 1, 0)
        except ValueError as error:
            ui.stop(str(error))
        make = lambda n, s: lens.drawn(picture, n, s)  # noqa: E731
        pad = ink_code(picture)
        words, spelled = (data, ui.ink(picture)), f"lens.drawn({pad}, {{}}, {{}})"
    both = lambda n, s, make=make: (make(n, s), make(lens.HELD, s + 100))  # noqa: E731
    soon = [((*words, count, min(99, seed + 1)), partial(both, count, min(99, seed + 1)))]
    soon += [((*words, each, seed), partial(both, each, seed)) for each in COUNTS[:2] if each != count]
    if data == RING:
        rings = {each: lambda n, s, each=each: lens.ring(n, each, s) for each in NOISES if each != sigma}
        soon += [((RING, each, count, seed), partial(both, count, seed, rings[each])) for each in rings]
        first = drawing.pixels(drawing.ink(ink.examples(lens.PAD)[0][1]), lens.PAD)
        points = lambda n, s: lens.drawn(first, n, s)  # noqa: E731
        soon.append(((DRAWING, ui.ink(first), count, seed), partial(both, count, seed, points)))
    program = spelled.format(count, seed), spelled.format(lens.HELD, seed + 100)
    return (*words, count, seed), *both(count, seed), level, program, soon


def quick(of: tuple) -> bool:
    return of[-2] <= 1000


def fitted(of: tuple, x, held_out, soon: list) -> lens.Fits:
    def start(both):
        these, new = both()
        return lens.fits(these, new, lens.SIZES)

    with stage.picture:
        return ui.result(
            "Fit", partial(start, lambda: (x, held_out)), key="fits", of=of, quick=quick(of),
            soon=[(then, partial(start, both)) for then, both in soon if quick(then)],
            show=partial(so_far, x, lens.SIZES), says="Mixtures of up to 32 Gaussians are fitted.",
        )  # fmt: skip


def bent(of: tuple, x, held_out, bumps: int, soon: list) -> lens.Course:
    def start(both, seed: int):
        these, new = both()
        yield 1.0, lens.course(these, new, bumps, seed)

    with stage.picture:
        return ui.result(
            "Bend", partial(start, lambda: (x, held_out), of[-1]), key="bend", of=(*of, bumps),
            soon=[((*then, bumps), partial(start, both, then[-1])) for then, both in soon if quick(then)],
            quick=quick(of), says="A line is bent through the points.",
        )  # fmt: skip


def pictured(
    film, x, result: lens.Fits | lens.Course, outlines, densest: int, levels: dict, at: list[int], label: str,
    log: bool = True,
) -> None:  # fmt: skip
    """The density with its outlines, the colour of frame `densest` the deepest, and the climb over `at`."""
    with stage.picture:
        left, right = ui.columns([4, 3])
        with left:
            top = float(result.densities[densest].max())
            ui.figure(
                figures.plane(x, result.densities[film.at], outlines[film.at], top),
                key="plane", share=1.0, film=film, frames=figures.turns(result.densities, outlines),
                alt="The points, the model's density, and its curve or two deviations of each component",
            )  # fmt: skip
        with right:
            lines = {
                "new points": (result.held_out, theme.OUTPUT),
                "fitted points": (result.train, theme.HIDDEN),
            }
            fig = figures.climb(at, lines, levels, film.at, label, "log p, nats per point", log=log)
            ui.figure(
                fig, key="climb", share=1.0, film=film, frames=figures.dots(fig, at, result.held_out),
                data={label: at, "fitted": result.train, "new": result.held_out},
                alt=f"Mean log-likelihood of fitted and of new points over: {label}",
            )  # fmt: skip


def mixture_view() -> None:
    film = ui.film(len(lens.SIZES), key="k", values=lens.SIZES, default=8, label="K =", seconds=0.6)
    of, x, held_out, level, (these, new), soon = points_of_view()
    result, curve = fitted(of, x, held_out, soon), bent(of, x, held_out, 6, soon)
    best = int(result.held_out.argmax())
    rival = float(curve.held_out[-1])
    levels = {"−H": (level, theme.GREEN), "curve": (rival, theme.ATTENTION)}
    pictured(film, x, result, result.ellipses, best, levels, result.sizes, "components K")
    with stage.foot:
        film.bar(
            captions=[
                f"K = {k}: {p} numbers to fit; new points {lens.away(float(h), level)}."
                for k, p, h in zip(result.sizes, result.parameters, result.held_out, strict=True)
            ],
            equations=[
                rf"\text{{new }}{float(h):.4f},\quad \text{{fitted }}{float(t):.4f},\quad "
                rf"-H={level:.4f},\quad \text{{curve }}{rival:.4f}"
                for t, h in zip(result.train, result.held_out, strict=True)
            ],
        )
    with stage.below:
        ui.notice(
            "PCA, PPCA and factor analysis have a Gaussian p(x) however many factors they take: their loss "
            f"is the one of K = 1, {level - float(result.held_out[0]):.3f} nats. A mixture paves the shape "
            f"with Gaussians; the best here on new points is K = {result.sizes[best]}, with "
            f"{result.parameters[best]} numbers. A curve of {curve.parameters} numbers reaches {rival:.4f}."
        )
        ui.check(
            "Which K is best on new points?", result.sizes, result.sizes[best],
            "Beyond it the components follow single points: the fitted ones gain, new ones lose.",
            wrong={
                k: f"K = {k} is too " + ("few: a component bridges what is bent." if k < result.sizes[best]
                                         else "many: some components sit on single points.")
                for k in result.sizes
            },
            veils=("climb", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            from lab.ui.controls import drawing
            from pages.latent.capacity_wall import lens

            x = {these}
            new = {new}
            model = lens.mixture(x, {int(film.value)})
            result = [float(model.log_prob(x).mean()), float(model.log_prob(new).mean())]
            """,
            shows=[float(result.train[film.at]), float(result.held_out[film.at])],
        )
        ui.source(GaussianMixture, lens.mixture, lens.ring_entropy, references=ROOM.references)


def curve_view() -> None:
    steps = lens.SHOWN
    film = ui.film(len(steps), key="step", values=steps, default=steps[-1], label="EM step", seconds=0.4)
    of, x, held_out, level, (these, new), soon = points_of_view()
    with stage.rail:
        bumps = ui.choice("Bumps", [3, 4, 6, 8, 12], key="bumps", default=6,
                          help="how many features of z the line is a weighted sum of")  # fmt: skip
    result, mixtures = bent(of, x, held_out, bumps, soon), fitted(of, x, held_out, soon)
    rival, best = float(mixtures.held_out.max()), mixtures.sizes[int(mixtures.held_out.argmax())]
    levels = {"−H": (level, theme.GREEN), "best mixture": (rival, theme.INPUT)}
    pictured(film, x, result, result.lines, -1, levels, steps, "EM step", log=False)
    with stage.foot:
        film.bar(
            captions=[
                f"Step {s}: σ = {float(v):.3f}; the curve has {result.parameters} numbers, the mixture "
                f"{mixtures.parameters[mixtures.sizes.index(best)]}."
                for s, v in zip(steps, result.sigmas, strict=True)
            ],
            equations=[
                rf"p(x)=\tfrac{{1}}{{G}}\sum_g N(x; f(z_g), \sigma^2 I):\quad "
                rf"\text{{new }}{float(h):.4f},\quad -H={level:.4f},\quad \text{{mixture }}{rival:.4f}"
                for h in result.held_out
            ],
        )
    last = float(result.held_out[-1])
    with stage.below:
        ui.notice(
            "All places of the curve hang on the same few numbers, so every point teaches all of it. New "
            f"points end {lens.away(last, level)}, under the best mixture (K = {best}) "
            f"{lens.away(rival, level)}. EM can also stick at a knot: try other seeds and more "
            f"bumps. Here the E-step sums over {lens.PLACES} values of z; for "
            f"40 latent numbers it would be {lens.PLACES}⁴⁰, and that is where approximate posteriors begin."
        )
        ui.check(
            "Which is better on new points after the last step?", ["the curve", "the mixture"],
            "the curve" if last > rival else "the mixture", f"{last:.4f} against {rival:.4f} nats.",
            wrong={
                "the curve": "Few numbers help only where they fit: EM may end with the curve in a knot.",
                "the mixture": "Its components do not know that they lie on one line: each must learn its "
                "own piece.",
            },
            veils=("climb", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            from lab.ui.controls import drawing
            from pages.latent.capacity_wall import lens

            course = lens.course({these}, {new}, {bumps}, {of[-1]})
            result = course.held_out
            """,
            shows=result.held_out.tolist(),
        )
        ui.source(GTM, lens.course, references=ROOM.references)


ui.prefetch_result("cube", cube.asked(3, 0.1, 0))
ui.prefetch(cube.by_bits, (3, 0.1, 0))
VIEWS = {"Mixture": mixture_view, "Curve": curve_view, "Cube": lambda: cube.view(stage)}
with stage.rail:
    view = ui.choice("View", list(VIEWS), key="view")
VIEWS[view]()
