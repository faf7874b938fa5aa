"""Mixture by EM: half-steps as film; k-means as the limit of narrow Gaussians; how many there should be."""

import math

from lab import ui
from lab.figures import theme
from lab.ui.rooms import trained_rows
from modules.latent import gaussians, mixture
from pages.latent.mixture import common, figures, lens, points, size_view, width_view
from pages.latent.mixture.room import ROOM

VIEWS = ("EM", "Fixed width", "Choosing K", "Trained")
FLOORS = (0.0, 1e-6, 0.01, 0.1)
LONE = {"set": "two and a lone point", "cov": "spherical", "start": "on a point"}

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Staircase": ui.scene("E: the orange bound rises to log p and touches. M: both rise. Play.", step=19),
        "Converged": ui.scene("Three Gaussians have found the three clusters; the stairs are flat.", step=70),
        "Stuck": ui.scene("Another start: EM rests on a lower stair, since it only climbs.",
                          start="k-means++", seed=4, step=40),
        "All alike": ui.scene("Equals stay equal: no step changes log p.", start="all alike", step=2),
        "Collapse": ui.scene("No floor: one Gaussian shrinks onto the lone point, and log p has no top.",
                             floor=0.0, step=12, **LONE),
        "Floor": ui.scene("A floor of 0.01 under the variance holds it: log p comes to rest.",
                          floor=0.01, step=12, **LONE),
        "Narrow": ui.scene("σ is held at 0.1: the colours are pure, and the means sit on k-means' centres.",
                           view="Fixed width", sigma=0.1),
        "Wide": ui.scene("σ is held at 2: all means are one, and every point is everybody's.",
                         view="Fixed width", sigma=2.0),
        "Choosing K": ui.scene("Training cost falls on past three; BIC and points held out turn up there.",
                               view="Choosing K"),
    }
)  # fmt: skip


@ui.cached
def climbed(
    x, k: int, covariance: gaussians.Covariance, floor: float, start: str, seed: int
) -> list[lens.Half]:
    return lens.em(x, k, covariance, floor, start, seed)


restarted = ui.cached(lens.restarts)


def steps_view(name: str, x, mine, own: str, code: str) -> None:
    with stage.rail:
        k = ui.slider("Gaussians, K", 1, 8, 3, key="k")
        covariance = ui.choice("Covariance", common.COVARIANCES, key="cov", as_list=True)
        floor = ui.choice("Floor of the variance", FLOORS, key="floor", default=1e-6, format="{:g}".format,
                          as_list=True)  # fmt: skip
        start = ui.choice("Start", lens.STARTS, key="start", as_list=True)
        seed = ui.number("Seed of the start", 0, 999, 0, key="seed")
    try:
        halves = climbed(x, k, covariance, floor, start, seed)
    except ValueError as error:
        common.refused(stage, x, own, str(error))
        return
    ui.prefetch(
        climbed,
        *((x, each, covariance, floor, start, seed) for each in ui.near(k, 1, 8, 1)),
        *((x, k, each, floor, start, seed) for each in common.COVARIANCES if each != covariance),
        *((x, k, covariance, floor, each, seed) for each in lens.STARTS if each != start),
        (x, k, covariance, floor, start, min(999, seed + 1)),
        *((points.together(each, mine), k, covariance, floor, start, seed) for each in list(points.SETS)[:6]),
    )
    ui.prefetch(size_view.chosen, (*points.halved(name, mine), covariance, 1e-3))
    ui.prefetch(width_view.limited, (x, k, seed))
    film = ui.film(len(halves), key="step", default=19, label="Half-step", seconds=0.35)
    now = halves[film.at]
    n = lens.undecided(halves)
    grey = [theme.HIDDEN] * len(x)
    colours = [grey if half.r is None else figures.mixed(half.r) for half in halves]
    ellipses = [lens.ellipses(half.means, half.matrices) for half in halves]
    log_p, elbo = ([getattr(half, name) for half in halves] for name in ("log_p", "elbo"))
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            frames = figures.moves(colours, ellipses, [h.means for h in halves])
            common.draw(x, own, colours[film.at], ellipses[film.at], now.means, film, frames, ring=x[n])
        with right:
            ui.figure(
                figures.staircase(log_p, elbo, film.at), key="stairs", share=1.0, film=film,
                frames=figures.climbs(log_p, elbo), data={"half-step": range(len(halves)), "log p": log_p,
                                                          "bound": elbo},
                alt="log p and the bound after each half-step: a staircase that never falls",
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=lens.captions(halves), equations=lens.equations(halves, x, n))
    gap = now.log_p - now.elbo
    with stage.below:
        ui.notice(
            "The orange bound touches log p after every E-step, and no step lowers log p. Click into the "
            "plane to add a point; the ringed one, the least decided at the end, stands in the equation. EM "
            "climbs the hill it starts on: other starts may find a higher one. Without a floor there is no "
            "highest: a Gaussian on one point may shrink for ever."
        )
        ui.table(
            lens.parameters(now), alt="Weight, mean and standard deviations of every Gaussian at this step"
        )
        if start == "k-means++" and len(x) >= k:
            ui.caption(
                "What k-means++ comes to in 30 steps from other seeds, with a floor of at least 0.000001:"
            )
            ui.table(restarted(x, k, covariance, floor), alt="log p after 30 steps, for six seeds")
        answer = ["there is no bound yet", "it touches log p", "below log p"]
        ui.check(
            "Where is the bound at this half-step?",
            answer,
            answer[0 if math.isnan(gap) else 1 if gap < 1e-9 else 2],
            "After an E-step r is the posterior, and the gap, the KL from r to it, is 0; an M-step that "
            "moves anything opens it again.",
            wrong=(
                "After the first E-step there is an r, and with any r a bound.",
                "It touches only where r is the posterior of these very parameters.",
                "It lies below only while r is not the posterior of these parameters.",
            ),
            veils=("stairs", "equation"),
        )
        done = sum(half.kind == "M" for half in halves[: film.at + 1])
        ui.program(
            f"""
            from pages.latent.mixture import lens, points

            x = {code}
            model = lens.begun(x, {k}, {covariance!r}, {floor:g}, {start!r}, {seed})
            for _ in range({done}):
                r = model.responsibilities(x)
                model.m_step(model.gaussians.moments(x, r))
            result = float(model.log_prob(x).mean())
            """,
            shows=next(half.log_p for half in reversed(halves[: film.at + 1]) if half.kind != "end"),
        )
        ui.source(
            mixture.GaussianMixture.elbo, gaussians.Gaussians.moments, gaussians.Gaussians.m_step, lens.em,
            references=ROOM.references,
        )  # fmt: skip


def own_view(view: str) -> None:
    """A view of points that are fitted here."""
    with stage.rail:
        name = ui.choice("Points", list(points.SETS), key="set", as_list=True)
    with stage.below:
        own = ui.text(
            "Your own points, a line each: 1.2, 0.5 (or click into the plane)", key="own", max_chars=6000
        )
        ui.upload("A CSV of two columns", into="own")
    mine, bad = points.typed(own)
    if bad:
        stage.top.warning(bad)
    if view == "Choosing K":
        code = f"points.halved({name!r}, points.typed({own!r})[0])"
        size_view.view(stage, *points.halved(name, mine), own, code)
        return
    code = f"points.together({name!r}, points.typed({own!r})[0])"
    x = points.together(name, mine)
    if view == "EM":
        steps_view(name, x, mine, own, code)
    else:
        width_view.view(stage, x, own, code)


with stage.rail:
    view = ui.choice("View", VIEWS, key="view", as_list=True)
if view == "Trained":
    trained_rows.view(stage, "mixture")
else:
    own_view(view)
