"""One point under PPCA, while σ² goes to 0."""

from typing import Any

from lab import ui
from modules.latent.linear_gaussian import LinearGaussian
from modules.latent.ppca import PPCA
from pages.latent.linear import common, figures, lens, point
from pages.latent.linear.room import ROOM


def view(stage: Any) -> None:
    """A point, its answer and its posterior, as σ² goes to 0."""
    names, x, source = common.table(stage)
    with stage.rail:
        column, k = common.column_and_factors(names)
    pair = (0, column) if column else (0, 1)
    chosen = point.nearest(x, pair, ui.selection("point"))
    story, plane = point.beliefs(x, k, chosen), point.pca(x, k)
    projection = plane.decode(plane.encode(x[chosen : chosen + 1]))[0]
    values = [round(one.variance, 6) for one in story]
    film = ui.film(len(values), key="variance", values=values, default=values[-1], label="σ² =", seconds=0.4)
    now, result, middle = story[film.at], x[:, pair], x.mean(0)[list(pair)]
    side = figures.reach(x - x.mean(0), pair)
    ellipses = [lens.ellipse(one.model, pair) + middle for one in story]
    answers, spreads = [one.answer[list(pair)] for one in story], [one.spread[:, pair] for one in story]
    line = figures.through(plane.components[0], pair, 2 * side) + middle.numpy() if k == 1 else [[None, None]]
    parts = {"line": line, "model": ellipses[film.at], "spread": spreads[film.at],
             "answer": answers[film.at], "projection": projection[list(pair)]}  # fmt: skip
    with stage.picture:
        left, right = ui.columns([3, 2])
        with left:
            ui.clickable(
                figures.shrunk(result, chosen, parts, [names[i] for i in pair], side, middle.tolist()),
                key="point", alt="Points to click; the chosen one, its answer and its posterior", share=1.0,
                mark=False, film=film, data=dict(zip(names, x.T, strict=True)),
                frames=figures.shrinking(result[chosen], ellipses, spreads, answers),
            )  # fmt: skip
        with right:
            fig, shape = figures.posterior(now.mean, now.covariance)
            ui.figure(
                fig, alt=f"Prior and posterior of the factors as {shape}", key="posterior", share=1.0,
                film=film,
                frames=figures.narrowing([one.mean for one in story], [one.covariance for one in story]),
            )  # fmt: skip
    best, first = story[-1].variance, max(float(plane.variances[0]), 1e-12)
    with stage.foot:
        film.bar(
            captions=[
                f"σ² = {one.variance:.4f}, {one.variance / best:.1%} of its best, {one.log_prob:.3f} nats "
                f"a point: along direction 1 the answer keeps {1 - one.variance / first:.1%} of PCA's."
                for one in story
            ],
            equations=[
                rf"\mathrm{{E}}[z|x]=({point.spelled(one.mean)}),\qquad "
                rf"\frac{{\lambda_1-\sigma^2}}{{\lambda_1}}=\frac{{{first:.4f}-{one.variance:.4f}}}"
                rf"{{{first:.4f}}}={1 - one.variance / first:.5f}"
                for one in story
            ],
        )
    with stage.below:
        ui.notice(
            "σ² is what the model calls noise. It pulls the answer W E[z|x] + μ towards the mean by "
            "(λ − σ²)/λ along each direction, and leaves the posterior some width. As σ² goes to 0 the "
            "answer becomes PCA's projection and the posterior a point: PCA is the limit, and has no density."
        )
        width = float(now.covariance[0, 0]) ** 0.5
        ui.check(
            "If σ² falls, the posterior's standard deviation …",
            ["grows", "stays", "shrinks"],
            "shrinks",
            f"It is {width:.3f} now, and {float(story[0].covariance[0, 0]) ** 0.5:.3f} at the least σ² here.",
            wrong={
                "grows": "With less noise x tells more of z, and not less.",
                "stays": "It is (1 + w²/σ²)^−½ for one factor.",
            },
            veils=("posterior", "equation"),
        )
        ui.program(
            f"""
            import torch
            from pages.latent.linear import lens, point

            x = {source}
            model = point.with_variance(x, {k}, {now.variance!r})
            result = model.encode(x[{chosen}:{chosen + 1}])[0]
            """,
            shows=now.mean.tolist(),
        )
        ui.source(LinearGaussian._posterior, PPCA, point.with_variance, references=ROOM.references)
