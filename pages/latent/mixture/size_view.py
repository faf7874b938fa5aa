"""Choose the number of Gaussians: the cost of every size, on the points and on others."""

from torch import Tensor

from lab import ui
from lab.ui.page.stage import Stage
from modules.latent import em
from pages.latent.mixture import choosing, common, figures
from pages.latent.mixture.room import ROOM

chosen = ui.cached(choosing.choosing)


def view(stage: Stage, x: Tensor, other: Tensor, own: str, code: str) -> None:
    with stage.rail:
        covariance = ui.choice("Covariance", common.COVARIANCES, key="cov", as_list=True)
    if len(x) < 8 or len(other) < 3:
        common.refused(
            stage, x, own, f"Choosing needs 12 points or more: there are {len(x) + len(other)}. Click some."
        )
        return
    try:
        result = chosen(x, other, covariance, 1e-3)
    except ValueError as error:
        common.refused(stage, x, own, str(error))
        return
    sizes = [float(k) for k in result.models]
    film = ui.film(len(sizes), key="size", values=list(result.models), default=3, label="K =", seconds=0.8)
    colours = [figures.mixed(model.responsibilities(x)) for model in result.models.values()]
    circles, means = choosing.padded(result)
    costs = {"training": result.train, "held out": result.held_out, "BIC / 2N": result.bic}
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            frames = figures.moves(colours, circles, means)
            common.draw(x, own, colours[film.at], circles[film.at], means[film.at], film, frames)
        with right:
            ui.figure(
                figures.over_knob(costs, sizes, film.value, "K", "−log p, nats per point"), key="costs",
                share=1.0, film=film, frames=figures.knob_moves(sizes), data={"K": sizes, **costs},
                alt="Cost of training points, of points held out, and BIC, over the number of Gaussians",
            )  # fmt: skip
    by_bic, by_other = result.best(result.bic), result.best(result.held_out)
    with stage.foot:
        film.bar(
            captions=[
                f"K = {k}: {t:.3f} nats on {len(x)} training points, {o:.3f} on {len(other)} held out; "
                f"BIC / 2N {b:.3f} with {m.num_parameters} parameters."
                for (k, m), t, o, b in zip(result.models.items(), *costs.values(), strict=True)
            ],
            equations=[
                rf"\frac{{\mathrm{{BIC}}}}{{2N}} = {t:.3f} + \frac{{{m.num_parameters}}}{{2}} \cdot "
                rf"\frac{{\log {len(x)}}}{{{len(x)}}} = {b:.3f}"
                for m, t, b in zip(result.models.values(), result.train, result.bic, strict=True)
            ],
        )
    with stage.below:
        ui.notice(
            f"BIC chooses K = {by_bic}, the points held out K = {by_other}. More Gaussians can always fit "
            "the training points better (a start may still miss it); BIC charges half of log N for every "
            "parameter, held-out points need no formula. Each K is the better of two starts."
        )
        options = [f"K = {k}" for k in result.models]
        ui.check(
            "Which K does BIC choose?", options, f"K = {by_bic}",
            f"BIC / 2N is least there, {min(result.bic):.3f} nats per point.",
            wrong={
                f"K = {k}": f"K = {k} has {b:.3f}: "
                + ("it fits worse by more than it saves." if k < by_bic else "it fits better by too little.")
                for k, b in zip(result.models, result.bic, strict=True)
            },
            veils=("costs", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            from pages.latent.mixture import choosing, points

            x, other = {code}
            values = choosing.choosing(x, other, {covariance!r}, 1e-3)
            result = [values.best(values.bic), values.best(values.held_out)]
            """,
            shows=[by_bic, by_other],
        )
        ui.source(em.EMDensity.bic, em.compare_sizes, choosing.choosing, references=ROOM.references)
