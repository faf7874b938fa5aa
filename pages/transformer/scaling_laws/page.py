"""Scaling laws: isoFLOP curves and optima from constants, Kaplan's laws, and how well a fit knows them."""

from lab import ui
from modules.transformer.scaling_laws import (
    KAPLAN,
    MODELS,
    PRESETS,
    Chinchilla,
    JointLaw,
    bootstrap,
    days,
    fit_chinchilla,
    fit_line,
    flops,
    numeric_optimum,
)
from pages.transformer.scaling_laws import figures, lens, own_runs, simulated, spoken
from pages.transformer.scaling_laws.room import BUDGETS, ISO, JOINT, LAWS, NO_FLOOR, OURS, POWER, RATIO, ROOM

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)

if now.view in (ISO, RATIO):
    found = ui.compute(lens.budgets, now)
    film = ui.film_of(now, len(BUDGETS), names=[spoken.power_of_ten(C) for C in BUDGETS])
    at, law = film.at, found.law
    N, D, loss = found.best[at]
    with stage.picture:
        if now.view == ISO:
            ui.figure(
                figures.iso(found), key="iso", share=1.0, film=film,
                alt="Loss over the size at fixed compute: U-shaped curves, their minima, and known models",
                data={"C": BUDGETS, "N*": found.best[:, 0], "D*": found.best[:, 1], "loss": found.best[:, 2]},
            )  # fmt: skip
        else:
            shown = ui.compute(lens.ratios, now)
            ui.figure(
                figures.presets(shown, found.models), key="presets", share=1.0, film=film,
                alt="Tokens per parameter at the optimum over compute, by three presets, and known models",
                data={"C": BUDGETS} | shown,
            )  # fmt: skip
    with stage.foot:
        if now.view == ISO:
            film.bar(captions=spoken.budget_captions(found), equations=spoken.budget_equations(found))
        else:
            film.bar(
                captions=spoken.ratio_captions(shown),
                equations=spoken.ratio_equations(now.preset, lens.law_of(now.own)),
            )
    gpt3, gopher, chinchilla = (flops(*MODELS[name]) for name in ("GPT-3", "Gopher", "Chinchilla"))
    with stage.below:
        ui.notice(
            "Gopher and Chinchilla are said to have had the same budget: by 6ND they had "
            f"{spoken.power_of_ten(gopher)} and {spoken.power_of_ten(chinchilla)} FLOPs, "
            f"{chinchilla / gopher - 1:.0%} more for Chinchilla. GPT-3's {spoken.power_of_ten(gpt3)} take "
            f"{days(gpt3):.1f} days on 1,024 A100s that are never idle, {days(gpt3, utilisation=0.4):.1f} at "
            "40 %; the text says 10. N* grows with C to the power β/(α + β): 0.50 needs α = β, and the "
            f"constants as printed give {PRESETS['as printed'].exponents[0]:.3f}. E is a constant of one fit "
            f"and one tokeniser ({', '.join(f'{one.E:g}' for one in PRESETS.values())}), not the entropy of "
            "language."
        )
        right, against = lens.answer(D / N), lens.reasons(law, film.value)
        ui.check(
            "By these constants, how many tokens per parameter are best at "
            f"{spoken.power_of_ten(film.value)}?",
            list(against), right,
            f"{spoken.big(D)} tokens through {spoken.big(N)} parameters are {D / N:.3g}.",
            wrong=against, veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            from modules.transformer.scaling_laws import Chinchilla, numeric_optimum

            law = Chinchilla{(law.E, law.A, law.B, law.alpha, law.beta)}
            result = [*law.optimum({film.value!r}), *numeric_optimum(law, {film.value!r})]
            """,
            shows=[N, D, *numeric_optimum(law, film.value)],
        )
        ui.source(Chinchilla.optimum, Chinchilla.served, numeric_optimum, references=ROOM.references)
elif now.view == POWER:
    one = KAPLAN[now.law]
    (x0, y0), (x1, y1) = lens.halved(now.law)
    with stage.picture:
        ui.figure(
            figures.straight(now.law), key="power", share=1.0,
            alt=f"Loss over the {LAWS[now.law]}, both axes logarithmic: a straight line, and half the loss",
            data={"from": [x0], "to": [x1], "loss": [y0], "half": [y1]},
        )  # fmt: skip
    stage.equation(
        rf"L({now.law}) = \left(\frac{{{now.law}_c}}{{{now.law}}}\right)^{{\alpha_{now.law}}},\quad "
        rf"2^{{1/\alpha_{now.law}}} = 2^{{1/{one.exponent:g}}} = {one.to_halve:,.0f}".replace(",", "{,}"),
        note="The text prints about 8,000 for N." if now.law == "N" else "",
    )
    with stage.below:
        ui.notice(
            f"To halve the loss takes {KAPLAN['N'].to_halve:,.0f} times the parameters, "
            f"{KAPLAN['D'].to_halve:,.0f} times the data, or {KAPLAN['C'].to_halve:,.0f} times the compute, "
            "each where the others do not limit. The exponent 0.050 is that of the compute that is well "
            "spent; at a fixed batch size it is 0.057."
        )
        ui.program(
            f"""
            from modules.transformer.scaling_laws import KAPLAN

            result = KAPLAN[{now.law!r}].to_halve
            """,
            shows=one.to_halve,
        )
        ui.source(type(one), references=ROOM.references)
elif now.view == JOINT:
    two = ui.compute(lens.joint, now)
    film = ui.film_of(now, len(two.loss), names=[spoken.power_of_ten(D) for D in lens.TOKENS])
    with stage.picture:
        ui.figure(
            figures.both(two), key="joint", share=1.0, film=film,
            alt="Loss over tokens by the joint law for two sizes; a bar between equal losses",
            data={"D": lens.TOKENS, "loss": two.loss, "tokens of the larger": two.fewer},
        )  # fmt: skip
    with stage.foot:
        film.bar(captions=spoken.joint_captions(two), equations=spoken.joint_equations(two))
    with stage.below:
        ui.notice(
            "That a tenfold model needs about ten times fewer tokens holds near D = 10¹⁰ alone. The law "
            "becomes that of the data where (N_c/N)^(α_N/α_D) is far below D_c/D, long before N reaches "
            f"N_c. With C = 6ND it asks for N ∝ C^{JointLaw().exponent:.3f}, not for the 0.73 that is quoted."
        )
        ui.program(
            f"""
            from modules.transformer.scaling_laws import JointLaw

            law = JointLaw()
            result = {film.value!r} / law.tokens(1e9, float(law.loss(1e8, {film.value!r})))
            """,
            shows=film.value / two.fewer[film.at],
        )
        ui.source(JointLaw, references=ROOM.references)
elif now.view == OURS:
    own = ui.compute(own_runs.ours, now)
    with stage.picture:
        left, right_side = ui.columns(2)
        with left:
            ui.figure(
                figures.own_sizes(own), key="own-sizes", share=1.0,
                alt="L − E of our runs over the size on log-log axes, and a line that predicts the largest",
                data={"N": own.N, "L − E": own.excess},
            )  # fmt: skip
        with right_side:
            if own.curves:
                ui.figure(figures.own_budgets(own), key="own-budgets", share=1.0,
                          alt="L − E of our runs over the size at fixed budgets")  # fmt: skip
    said, low, high = own.line.predict(own.N[-1])
    stage.equation(
        rf"L - E = \left(\frac{{N_c}}{{N}}\right)^{{\alpha}},\; \alpha = {own.line.law.exponent:.3f},\;"
        rf"N_c = {spoken.latex(own.line.law.scale)},\quad R^2 = {own.line.r2:.4f}",
        note=f"The largest: {own.excess[-1]:.4f}; said {said:.4f}, 90 % from {low:.4f} to {high:.4f}.",
    )
    with stage.below:
        ui.notice(
            f"Each run is one pass over a language whose entropy is known, E = {own.floor:.4f} nats; "
            f"{own.seeds} seeds, {own_runs.scaling.AMPLE} tokens per parameter. `lab bench scaling` goes on "
            "with what is missing."
        )
        ui.program(
            f"""
            from pages.transformer.scaling_laws import own_runs

            own = own_runs.ours({now.without})
            result = [own.line.law.exponent, own.line.r2]
            """,
            shows=[own.line.law.exponent, own.line.r2],
        )
        ui.source(fit_line, references=ROOM.references)
else:
    fitted = ui.compute(simulated.fit, now)
    with stage.picture:
        left, right_side = ui.columns(2)
        with left:
            ui.figure(
                figures.fitted(fitted), key="fitted", share=1.0,
                alt="Simulated runs, the law fitted to the smaller ones, and its prediction of the larger",
            )  # fmt: skip
        with right_side:
            ui.figure(
                figures.seeds(fitted, now.seed), key="seeds", share=1.0,
                alt="The fit's number over twenty seeds, the bootstrap's interval of one, and the truth",
                data={"seed": range(len(fitted.over_seeds)), "fit": fitted.over_seeds},
            )  # fmt: skip
    low, high = fitted.interval
    truth = simulated.TRUTH
    name = r"\hat{L}" if now.form == NO_FLOOR else r"\hat{E}"
    stage.equation(
        rf"{name} = {fitted.number:.3f}\;[{low:.3f}, {high:.3f}],\quad \alpha = {fitted.law.alpha:.3f},\;"
        rf"\beta = {fitted.law.beta:.3f}",
        note=f"In brackets 90 %. True: {fitted.truth:.3f}, α = {truth.alpha}, β = {truth.beta}.",
    )
    with stage.below:
        said = fitted.said[-1, -1]
        true = float(truth.loss(simulated.GRID_N[-1], simulated.GRID_D[-1]))
        what = "its loss" if now.form == NO_FLOOR else "E"
        ui.notice(
            "The runs are simulated: the constants as printed, and noise of the logarithm of the loss. The "
            f"fit minimises Huber's loss of log L. It says {said:.3f} of the largest run, whose loss is "
            f"{true:.3f} without noise. An interval of one fit can miss the truth: what counts is the share "
            f"of seeds whose intervals hold it. Over {len(fitted.over_seeds)} seeds {what} goes from "
            f"{fitted.over_seeds.min():.3f} to {fitted.over_seeds.max():.3f}."
            + (" Without E the curve cannot flatten." if now.form == NO_FLOOR else "")
        )
        ui.program(
            f"""
            from pages.transformer.scaling_laws import simulated

            found = simulated.fit({now.form!r}, {now.noise!r}, {now.without}, {now.seed})
            result = [found.number, *found.interval]
            """,
            shows=[fitted.number, low, high],
        )
        ui.source(fit_chinchilla, bootstrap, references=ROOM.references)
