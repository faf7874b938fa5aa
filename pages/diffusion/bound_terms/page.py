"""Bound, term by term: where the bits of a picture are spent."""

import math

from lab import ui
from lab.lenses import bound_terms
from lab.lenses.diffusion import SAID
from modules.diffusion import bound
from pages.diffusion.bound_terms import figures, lens
from pages.diffusion.bound_terms.room import MODELS, ROOM

stage = ui.stage(ROOM)

with stage.rail:
    now = ui.read(ROOM)
every = ui.compute(lens.every, now)
result, called = every[now.variance], now.variance
others = {which: bits for which, bits in every.items() if which != now.variance}
if now.beside == MODELS:
    others, called = ui.compute(lens.others, now), f"{now.model}, {now.variance}"
count = len(result.times)
film = ui.film_of(now, count, values=range(count), names=result.times)
among = lens.columns(now.T)

with stage.picture:
    left, right = ui.columns([2, 1])
    with left:
        bits = [column.bits(result) for column in among]
        pictures, places = lens.strip(result, among), lens.places(result, among)
        ui.figure(
            figures.spent(pictures, [column.name for column in among], bits, places), key="terms", share=1.0,
            film=film, alt="The picture under the noise of rising t, the network's x̂₀ of it, and the bits "
            "that the steps of these t cost",
        )  # fmt: skip
    with right:
        curves = {f"{label}: {bits.total:.1f}": bits.so_far for label, bits in others.items()}
        ui.figure(
            figures.so_far(result.so_far, result.times, f"{called}: {result.total:.1f}", curves), key="sum",
            share=1.0, film=film, alt=f"bits up to t, logarithmic, beside those of {now.beside}",
        )  # fmt: skip
with stage.foot:
    ui.machine(now.model, film=film, lit=["net"] * count, says=[{"xt": f"t = {t}"} for t in result.times])
    film.bar(captions=lens.captions(result))
first = float(result.terms[0])
stage.equation(
    rf"L_T + \sum_{{t=2}}^{{{now.T}}} L_{{t-1}} + L_0 = {result.prior:.2f} + "
    rf"{result.total - result.prior - first:.1f} + {first:.1f} = {result.total:.1f}\ \text{{bits}}"
)
model, card = ui.load(now.model), ui.card(now.model)
side, levels = bound_terms.of_model(model)
D = side * side
held, error = (card.get(part, {}).get("test/bpd") for part in ("metrics", "error"))
stage.metrics(
    {"Bits per pixel": f"{result.total / D:.3f}", "Half of them by": f"t = {result.half} of {now.T}"}
)
tested = (
    f"On its own chain of {model.schedule.T} steps {now.model} needs {held:.2f}"
    + (f" ± {error:.2f}" if error else "")
    + " bits per pixel of all test digits, with the standard error. "
    if held
    else ""
)
with stage.below:
    ui.notice(
        f"The picture costs {result.total:.1f} bits, of at most {D * math.log2(levels):.1f} for "
        f"plain grey levels; half are counted by t = {result.half}. L_T is the code of pure noise: no "
        "parameter is in it. The sum bounds −log₂ p from above; each term is one draw of noise. "
        f"{tested}The fitted σ² is made of the network's mean error on other digits. [GM] §3.12 says that "
        "diffusion sidesteps the likelihood: this is a bound on it, term by term. " + SAID
    )
    cheapest = min(every, key=lambda which: every[which].total)
    ui.check(
        "Which σ² has the fewest bits here?",
        list(every),
        cheapest,
        "; ".join(f"{which}: {bits.total:.1f}" for which, bits in every.items()),
        wrong={
            "beta": "β is right for data from N(0, 1): digits are narrower, and so is the way back.",
            "posterior": "That is the variance with x₀ known: the network's x̂₀ errs, and too narrow a "
            "σ² pays for it.",
            "fitted": "It is fitted to the mean error over other pictures, and this one errs otherwise.",
        },
        veils=("numbers", "equation", "sum"),
    )
    ui.program(
        f"""
        from lab import experiments, weights
        from lab.lenses import bound_terms
        from pages.diffusion.bound_terms import lens

        model, made = weights.load({ui.spelled(now.model)}), bound_terms.schedule_of({now.kind!r}, {now.T})
        x = bound_terms.picture({now.image!r}, *bound_terms.of_model(model))
        bits = lens.spent(model, made, x, {now.variance!r}, {now.seed}, {now.clip})
        result = [bits.total, bits.prior, float(bits.terms[0])]
        """,
        shows=[result.total, result.prior, first],
    )
    ui.source(bound.bound, bound.step_kl, bound.log_bin, bound_terms.fitted, references=ROOM.references)
