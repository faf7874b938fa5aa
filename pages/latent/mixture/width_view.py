"""Gaussians of one width that is held: k-means is what is left as it goes to 0."""

import math

from torch import Tensor

from lab import ui
from lab.ui.page.stage import Stage
from modules.latent import kmeans
from pages.latent.mixture import common, figures, fixed_width, lens
from pages.latent.mixture.room import ROOM

limited = ui.cached(fixed_width.limit)


def view(stage: Stage, x: Tensor, own: str, code: str) -> None:
    with stage.rail:
        k = ui.slider("Gaussians, K", 1, 8, 3, key="k")
        seed = ui.number("Seed of the start", 0, 999, 0, key="seed")
    try:
        result = limited(x, k, seed)
    except ValueError as error:
        common.refused(stage, x, own, str(error))
        return
    film = ui.film(len(fixed_width.SIGMAS), key="sigma", values=fixed_width.SIGMAS, default=0.5, label="σ =")
    colours = [figures.mixed(r) for r in result.r]
    circles = [
        lens.ellipses(m, lens.equally_wide(k, s), 1.0)
        for m, s in zip(result.means, fixed_width.SIGMAS, strict=True)
    ]
    lines = {"from k-means' centres": result.distance, "entropy of r, nats": result.entropy}
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            frames = figures.moves(colours, circles, result.means)
            common.draw(x, own, colours[film.at], circles[film.at], result.means[film.at], film, frames)
        with right:
            ui.figure(
                figures.over_knob(lines, fixed_width.SIGMAS, film.value, "σ", ""), key="limit", share=1.0,
                film=film, frames=figures.knob_moves(fixed_width.SIGMAS),
                data={"sigma": fixed_width.SIGMAS, **lines},
                alt="Distance of the means from the centres of k-means and entropy of r, over the width",
            )  # fmt: skip
    with stage.foot:
        film.bar(
            captions=[
                f"After EM with σ = {s:g}: the means are at most {d:.3f} from k-means' centres; "
                f"the entropy of r is {h:.3f} nats per point."
                for s, d, h in zip(
                    fixed_width.SIGMAS, result.distance.tolist(), result.entropy.tolist(), strict=True
                )
            ],
            equations=[
                rf"r_{{nk}} \propto e^{{-\|x_n-\mu_k\|^2 / 2\sigma^2}}, \quad 2\sigma^2 = {2 * s * s:.4f}"
                for s in fixed_width.SIGMAS
            ],
        )
    with stage.below:
        ui.notice(
            "All weights are 1/K and all widths σ, held fixed: only the means move, from the same start as "
            "k-means. As σ → 0 the nearest mean takes the whole point, and the M-step is k-means' own. A "
            "wide σ lets all means meet at the mean of the data."
        )
        h = float(result.entropy[film.at])
        options = ["one Gaussian each", "shared in part", "shared by all alike"]
        ui.check(
            f"To whom do the points belong at σ = {film.value:g}?",
            options,
            options[0 if h < 0.02 else 2 if k > 1 and h > 0.98 * math.log(k) else 1],
            f"The entropy of r is {h:.3f} nats per point, between 0 and log K = {math.log(k):.3f}.",
            wrong=(
                "Bells so wide overlap: no point is near to one mean alone.",
                "That is so where width and distance are about equal: here one of them is far larger.",
                "Bells so narrow do not reach to the next mean, or not to all points alike.",
            ),
            veils=("picture", "equation"),
        )
        ui.program(
            f"""
            from pages.latent.mixture import fixed_width, points

            x = {code}
            limit = fixed_width.limit(x, {k}, {seed})
            result = [float(limit.distance[{film.at}]), float(limit.entropy[{film.at}])]
            """,
            shows=[float(result.distance[film.at]), h],
        )
        ui.source(kmeans.KMeans, fixed_width.limit, references=ROOM.references)
