"""Gradients through time: the measured norm of a product of Jacobians, its bound, and clipping."""

from lab import ui
from modules.recurrent import bptt, clipping, lstm
from pages.recurrent.gradients import figures, lens
from pages.recurrent.gradients.room import CLIPPING, ROOM

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
runs = ui.compute(lens.through_time, now)
film = ui.film_of(now, len(lens.GAINS))
clipped = ui.compute(lens.clipping, now) if now.view == CLIPPING else None

# --- Picture ------------------------------------------------------------------------------------

with stage.picture:
    left, right = ui.columns(2)
    with left:
        ui.figure(
            figures.norms(runs, now.near), key="norms", share=1.0, film=film,
            alt="Norm of the product of Jacobians over the lag, with its bound or the direct path",
        )  # fmt: skip
    with right:
        if clipped is None:
            ui.figure(
                figures.eigenvalues(runs), key="eigenvalues", share=1.0, film=film,
                alt="Eigenvalues of the last Jacobian and of gW in the complex plane, with the unit circle",
            )  # fmt: skip
        else:
            ui.figure(
                figures.clipped(clipped), key="clipped", share=1.0, film=film,
                alt="Norm of the gradient over the gain, before and after clipping by norm and by value",
            )  # fmt: skip
with stage.foot:
    if clipped is None:
        film.bar(captions=lens.captions(runs), equations=lens.equations(runs))
    else:
        equations = lens.clipped_equations(clipped, now.threshold)
        film.bar(captions=lens.clipped_captions(clipped), equations=equations)

# --- Words --------------------------------------------------------------------------------------

one, at = runs[-1], film.at
norm, factor = float(one.norms[at, -1]), lens.each_step()
with stage.below:
    if one.slope_bound is None:
        ui.notice(
            "The direct path is the product of the gates f (LSTM) or z (GRU), of the unit whose gate is most "
            "open: it falls exponentially unless the gate stays near 1. A gate that stands at "
            f"σ({now.bias:g}) leaves {lens.kept(now.bias):.2g} after {lens.LAGS} steps. All other paths lead "
            "through h; together they can be larger than the direct one."
        )
    else:
        ui.notice(
            f"The largest singular value of W is λ₁ = {one.top[at]:.3g}, its spectral radius "
            f"{one.radius[at]:.3g}. Above λ₁γ = 1 the gradient may explode, but need not: the bound has one "
            "side. The spectral radius says how a linear RNN ends, not how it begins. Clipping helps against "
            "explosion alone: it cannot bring back what has vanished."
        )
    ui.check(
        f"{one.name}, g = {film.value}: what is left of the gradient after {lens.LAGS} steps?",
        lens.OPTIONS,
        lens.left(norm),
        f"The norm is {norm:.2g}.",
        wrong=(
            f"For that the steps would have to shorten it, each by a factor of {1 / factor:.3f} or less.",
            f"The {lens.LAGS} factors would have to be near 1: {1 / factor:.3f} each is too low.",
            f"For that the steps would have to lengthen it, each by a factor of {factor:.3f} or more.",
        ),
        veils=("picture", "equation"),
    )
    ui.program(
        f"""
        from pages.recurrent.gradients import lens

        runs = lens.through_time{(now.kind, now.weights, now.noise, now.bias, now.seed)}
        result = [float(one.norms[{at}, -1]) for one in runs]
        """,
        shows=[float(each.norms[at, -1]) for each in runs],
    )
    ui.source(
        lens.run, bptt.jacobians, bptt.gradient_bound, lstm.cell_jacobian, clipping.clip_by_norm,
        clipping.clip_by_value, references=ROOM.references,
    )  # fmt: skip
