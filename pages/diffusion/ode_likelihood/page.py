"""Likelihood by ODE: one point's way to noise, and the log-density that falls out of it."""

from functools import partial

from lab import ui
from lab.lenses.diffusion import SAID
from modules.diffusion import ode_likelihood, sde
from pages.diffusion.ode_likelihood import figures, lens
from pages.diffusion.ode_likelihood.room import ROOM

stage = ui.stage(ROOM)


with stage.rail:
    now = ui.read(ROOM)
result = ui.compute(lens.followed, now)
run, count = result.run, len(result.run.times)
film = ui.film_of(now, count, values=range(count), names=[f"{t:.2f}" for t in run.times])

with stage.picture:
    left, right = ui.columns([2, 1])
    with left:
        ui.button_figure(
            figures.way(result.maps, result.clouds, run.path, lens.REACH), key="way", share=1.0, whole=False,
            film=film, on_press=lambda a, b: ui.moved(now, x1=float(a), x2=float(b)),
            alt="The point's way through the density of each time; a click puts the point there",
        )  # fmt: skip
    with right:
        ui.figure(
            figures.stretched(run.times, run.stretch, run.stops, run.sums),
            key="stretch",
            film=film,
            share=0.5 if now.probes else 1.0,
            alt="Integral of the divergence along the way, and the solver's steps",
        )
        if now.probes:
            ui.figure(
                figures.estimates(run.probed, run.log_prob),
                key="probed",
                share=0.5,
                alt="log p by each probe, their running mean, and the computed one (dashed)",
            )
with stage.foot:
    if now.model:
        lit = [["net", "said", "next"]] * count
        ui.machine(now.model, film=film, lit=lit, says=[{"xt": f"t = {t:.2f}"} for t in run.times])
    film.bar(captions=lens.captions(run))
stage.equation(lens.equation(run))
known = run.truth == run.truth
if not now.model:
    stage.metrics({"log p by the ODE": f"{run.log_prob:.4f}", "The data's log p": f"{run.truth:.4f}"})

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    gap = (
        f"The data's log p is {run.truth:.4f}. With their own p₁ in the place of N(0, I) the ODE would give "
        f"{run.true_end:.4f}: the mismatch of the prior, {run.mismatch:+.4f}, is not the solver's error. "
        if known
        else "No formula is known for the data's log p. "
    )
    learned = (
        " A network's density is that of its first, least noisy time. Near the data a tolerance of 0.001 "
        "holds its log p to a few tenths of a nat, 1e-05 to a few hundredths."
        if now.model
        else ""
    )
    ui.notice(
        f"log p is what N(0, I) says of the end, and the integral of the divergence on the way: "
        f"{run.log_prob:.4f} nats, no bound. {gap}The solver took {len(run.stops) - 1} steps "
        f"(crosses) with {run.calls} calls of the score, few where the path is straight.{learned} {SAID}"
    )
    model = now.model and ui.load(now.model)
    results = lens.named(now.source, now.last, model, now.kind)
    start = partial(lens.integral, results, lens.INTEGRATED)
    whole = ui.job("Integrate over the window", start, key="integral", of=(now.source, now.last, now.kind))
    if whole is not None:
        ui.markdown(f"The density integrates to **{whole:.4f}** over the window: it is one.")
    ui.check(
        "Is the log p of the ODE above or below that of the end under N(0, I)?",
        ["above", "below"],
        "above" if run.sums[-1] > 0 else "below",
        f"The integral of the divergence is {run.sums[-1]:.3f}.",
        wrong={
            "above": "Around this point the way to the noise squeezes: a negative divergence takes from "
            "log p.",
            "below": "Data are denser than N(0, I): the way to the noise spreads them, and that adds to "
            "log p.",
        },
        veils=("stretch", "equation", "numbers"),
    )
    network = f"weights.load({now.model!r})" if now.model else None
    ui.program(
        f"""
        from lab import weights
        from pages.diffusion.ode_likelihood import lens

        schedule = lens.named({now.source!r}, {now.last}, {network}, {now.kind!r})
        run = lens.run(schedule, {now.point}, {now.tolerance}, 0)
        result = [run.prior, run.sums[-1], run.log_prob]
        """,
        shows=[run.prior, run.sums[-1], run.log_prob],
    )
    ui.source(
        ode_likelihood.likelihood, ode_likelihood.divergence, sde.flow_field, references=ROOM.references
    )
