"""Gaussian chain and walks: each value a part of the last one and fresh noise; together one normal."""

from lab import ui
from lab.figures import basic
from modules.autoregressive import gaussian_chain
from pages.autoregressive.gaussian_chain import figures, lens

REFERENCES = [
    "[BB] §5.1, examples 5.10.1-2",
    "[GM] §1.4 (where the name autoregressive comes from)",
    "Yule 1927, On a method of investigating periodicities in disturbed series",
]


@ui.cached
def walked(steps: int, draws: int, seed: int) -> lens.Walk:
    return lens.coin_walk(steps, draws, seed)


def numbers() -> tuple[float, float, bool]:
    """a, s and whether the chain starts from its stationary distribution."""
    left, middle, right = ui.columns(3)
    with left:
        a = ui.slider("Slope a", -1.1, 1.1, 0.8, key="a", step=0.05)
    with middle:
        s = ui.slider("Noise s", 0.05, 2.0, 0.6, key="s", step=0.05)
    with right:
        start = ui.choice("Start", ["stationary", "x₀ = 0"], key="start")
    stationary = start == "stationary" and abs(a) < 1
    if start == "stationary" and not stationary:
        ui.caption(f"With a = {a:g} the variance grows for ever: no stationary distribution, x₀ is 0.")
    return a, s, stationary


def chain_mode() -> None:
    a, s, stationary = numbers()
    left, right = ui.columns(2)
    with left:
        steps = ui.slider("Values", 2, 60, 30, key="n")
    with right:
        seed = ui.number("Seed", 0, 9999, 0, key="seed")
    model = lens.chain(a, s, steps, stationary)
    mean, covariance = model.moments()
    trace = model.sample_trace(seed=seed)
    now = trace[ui.stepper(len(trace), key="step", default=len(trace) - 1)]
    ui.caption(now.caption)
    left, right = ui.columns(2)
    with left:
        sheet = lens.paths(model, 12, seed)
        ui.figure(
            figures.paths(sheet, covariance.diagonal().sqrt(), now.values["x"], mean, "Paths"),
            alt="Sample paths of the chain, with two standard deviations on both sides of the mean",
            data={f"path {i + 1}": row for i, row in enumerate(sheet)},
        )
    with right:
        ui.figure(
            figures.covariance(covariance, "Cov(xₜ, xᵤ)"),
            alt="Covariance matrix of the chain",
            data={f"u = {u}": column for u, column in enumerate(covariance.T, start=1)},
        )  # fmt: skip
    ui.equation(now.equation, "How this value was drawn: around the last one times a, with noise s · ε.")
    first, last = float(covariance[0, 0]), float(covariance[-1, -1])
    if stationary:
        ui.equation(
            rf"\mathrm{{Cov}}(x_t, x_u) = a^{{|t-u|}} \frac{{s^2}}{{1-a^2}} = ({a:g})^{{|t-u|}} \cdot "
            rf"{s**2 / (1 - a**2):.4f}",
            "The picture is L⁻¹ D L⁻ᵀ, from the model; the formula differs from it by at most "
            f"{lens.deviation(model):.1e}. Every value has the same variance.",
        )
    else:
        terms = " + ".join(f"{a ** (2 * k) * s**2:.3g}" for k in range(min(3, steps)))
        terms += r" + \dots" if steps > 3 else ""
        ui.equation(
            rf"\mathrm{{Var}}(x_{{{steps}}}) = s^2 \sum_{{k<{steps}}} a^{{2k}} = {terms}"
            rf" = {last:.4f}",
            f"From x₀ = 0 on: Var(x₁) = {first:.4f}; each step multiplies by a² = {a * a:.4f} and adds s².",
        )
    ui.notice(
        "Only neighbours are linked, yet all values are correlated: the link fades by a factor a a step. At "
        "a = 1 nothing fades, and the walk spreads like the root of time; a negative a alternates. The "
        "whole path has one normal distribution: a chain of one-dimensional conditionals is all that a "
        "sampler needs."
    )
    ui.presets(
        {
            "Slow and stationary": {"a": 0.95, "s": 0.3, "start": "stationary"},
            "Random walk": {"a": 1.0, "s": 0.6, "start": "x₀ = 0"},
            "Alternating": {"a": -0.8, "s": 0.6, "start": "stationary"},
            "Runaway": {"a": 1.1, "s": 0.6, "start": "x₀ = 0"},
            "No memory": {"a": 0.0, "s": 1.0, "start": "stationary"},
        }
    )
    options = ["shrinks", "stays", "grows"]
    answer = options[1] if abs(last - first) < 1e-9 * first else options[2 if last > first else 0]
    ui.check(
        f"From the first value to value {steps}, the variance …",
        options,
        answer,
        f"{first:.4f} at the first, {last:.4f} at the last.",
    )
    ui.source(
        gaussian_chain.GaussianChain.moments, gaussian_chain.GaussianChain._draw, lens.stationary_covariance,
        references=REFERENCES,
    )  # fmt: skip


def path_mode() -> None:
    a, s, stationary = numbers()
    typed = ui.text(
        "Your path", "0.3, -0.2, 0.5, 1, 0", key="path", max_chars=200, area=False,
        examples={
            "Smooth": "0.3, 0.5, 0.6, 0.5, 0.3", "Jumping": "1, -1, 1, -1, 1", "Outlier": "0, 0, 4, 0, 0",
        },
    )  # fmt: skip
    try:
        x = lens.typed_path(typed)
    except ValueError as error:
        ui.stop(str(error))
    model = lens.chain(a, s, len(x), stationary)
    found = lens.log_density(model, x)
    mean, covariance = model.moments()
    places = list(range(1, len(x) + 1))
    left, right = ui.columns(2)
    with left:
        ui.figure(
            figures.paths(lens.paths(model, 8, 0), covariance.diagonal().sqrt(), x, mean, "Your path"),
            alt="The typed path among paths of the chain", data={"step": places, "x": x},
        )  # fmt: skip
    with right:
        ui.figure(
            basic.bars(places, found.terms, title="log p(xₜ | xₜ₋₁), nats", xlabel="step", height=420),
            alt="Log-density of each value given the one before", data={"step": places, "term": found.terms},
        )  # fmt: skip
    ui.table(
        {
            "step": places,
            "x": [f"{v:g}" for v in x.tolist()],
            "mean": [f"{v:.4f}" for v in found.means.tolist()],
            "standard deviation": [f"{v:.4f}" for v in found.spreads.tolist()],
            "log N(x; mean, sd²)": [f"{v:.7f}" for v in found.terms.tolist()],
        },
        alt="The terms of the chain rule",
    )
    chained, joint, gap = ui.columns(3)
    chained.metric("Sum of the terms", f"{found.total:.7f}")
    joint.metric("One multivariate normal", f"{found.joint:.7f}")
    gap.metric("Difference", f"{abs(found.total - found.joint):.1e}")
    ui.equation(
        rf"\sum_t \log N(x_t;\, {a:g}\,x_{{t-1}},\, {s:g}^2) = {found.total:.7f} = "
        rf"\log N(x;\, 0, \Sigma) = {found.joint:.7f}",
        f"Nats; the first term is log N(x₁; 0, {float(model.first_variance):.4f}). On the right, the "
        "determinant and the inverse of the whole covariance matrix.",
    )
    ui.notice(
        "The chain rule and the one normal distribution give the same number, by two roads: n small terms, "
        "or one n × n matrix. Each term asks only how far the value lies from a times the one before; an "
        "outlier pays twice, on the way out and on the way back."
    )
    ui.presets(
        {
            "As in the text": {"a": 0.8, "s": 0.6, "path": "0.3, -0.2, 0.5, 1, 0", "start": "stationary"},
            "Outlier": {"path": "0, 0, 4, 0, 0"},
            "Alternating chain, jumping path": {"a": -0.8, "path": "1, -1, 1, -1, 1", "start": "stationary"},
        }
    )
    worst = int(found.terms.argmin()) + 1
    ui.check(
        "Which value is the least expected, given the one before it?",
        places,
        worst,
        f"Its term is {float(found.terms.min()):.4f} nats.",
    )
    ui.source(
        gaussian_chain.GaussianChain.log_conditionals, gaussian_chain.GaussianChain.moments, lens.log_density,
        references=REFERENCES,
    )  # fmt: skip


def walk_mode() -> None:
    left, middle, right = ui.columns(3)
    with left:
        steps = ui.slider("Steps", 1, 40, 4, key="steps")
    with middle:
        draws = ui.slider("Walks drawn", 100, 20_000, 4000, key="draws", step=100)
    with right:
        seed = ui.number("Seed", 0, 9999, 0, key="seed")
    found = walked(steps, draws, seed)
    drawn, spread = lens.gauss_walk(steps, 12, seed)
    sheet = found.paths[:12]
    coin, gauss = ui.columns(2)
    with coin:
        ui.figure(
            figures.paths(sheet, spread, title="Steps of −1 or +1", first=0),
            alt="Twelve walks of fair steps", data={f"walk {i + 1}": w for i, w in enumerate(sheet)},
        )  # fmt: skip
    with gauss:
        ui.figure(
            figures.paths(drawn, spread, title="Gaussian steps, a = 1, s = 1", first=0),
            alt="Twelve Gaussian walks", data={f"walk {i + 1}": w for i, w in enumerate(drawn)},
        )  # fmt: skip
    ui.figure(
        basic.bars(found.places.tolist(), found.frequencies, baseline=found.distribution,
                   names=("drawn", "exact"),
                   title=f"Where the ±1 walk is after {steps} steps", xlabel="place", ylabel="probability"),
        alt="Exact distribution of the walk and the frequencies drawn",
        data={"place": found.places, "exact": found.distribution, "drawn": found.frequencies},
    )  # fmt: skip
    ways = found.ways
    shown = ", ".join(map(str, ways)) if steps <= 8 else f"{ways[0]}, {ways[1]}, \\dots, {ways[-1]}"
    ui.equation(
        rf"p = ({shown}) / {2**steps}, \qquad \mathrm{{Var}} = {steps}\;\text{{exactly}},\; "
        rf"{found.variance:.3f}\;\text{{in the draws}}",
        f"Of the {2**steps:,} equally likely ways, as many as end at each place; {draws:,} walks drawn.",
    )
    ui.notice(
        "Each step adds its variance, so both walks spread like the root of the number of steps: the band is "
        "the same. The coin's distribution is Pascal's triangle; it skips every second place and nears the "
        "normal curve as the steps grow."
    )
    ui.presets({"Four steps": {"steps": 4}, "Forty steps": {"steps": 40}, "Few walks": {"draws": 100}})
    ui.check(
        f"After {steps} steps, can the walk be back at 0?",
        ["yes", "no"],
        "yes" if 0 in found.places.tolist() else "no",
        "Every step changes even to odd and odd to even.",
    )
    ui.source(gaussian_chain.walk_distribution, lens.coin_walk, references=REFERENCES)


ui.header(
    "Gaussian chain",
    "Each value is a times the last one and fresh noise: the model that autoregression is named after.",
    lenses=("sampling",),
)
modes = {"Chain": chain_mode, "Your path": path_mode, "±1 walk": walk_mode}
modes[ui.choice("Show", list(modes), key="show", default="Chain")]()
