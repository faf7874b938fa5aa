"""Gaussian chain and walks: each value a part of the last one and fresh noise; together one normal."""

from lab import ui
from lab.figures import basic
from modules.autoregressive import gaussian_chain
from pages.autoregressive.gaussian_chain import figures, lens, walks
from pages.autoregressive.gaussian_chain.room import ROOM

PATH, WALK, ZERO = {"show": "Your path"}, {"show": "±1 walk"}, {"start": "x₀ = 0"}

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Fading": ui.scene("A band around the diagonal: near values move together, far ones do not."),
        "Walk": ui.scene("At a = 1 nothing fades; the band widens like a root.", a=1.0, **ZERO),
        "Alternating": ui.scene(
            "A negative a: the path jumps from side to side, the map is a chessboard.", a=-0.8
        ),
        "Runaway": ui.scene("At a = 1.1 a path that leaves never comes back.", a=1.1, **ZERO),
        "No memory": ui.scene("At a = 0 the values are independent: a diagonal, and noise.", a=0.0, s=1.0),
        "Two roads": ui.scene("Five small terms and one normal of five values: the same number.", **PATH),
        "Outlier": ui.scene(
            "One outlier is paid for twice: on the way out and on the way back.", path="0, 0, 4, 0, 0", **PATH
        ),
        "Coins": ui.scene("After four steps: 1, 4, 6, 4, 1 of sixteen ways; on to forty, a bell.", **WALK),
    }
)


@ui.cached
def walked(draws: int, seed: int) -> list[walks.Walk]:
    return walks.coin_walks(draws, seed)


def numbers() -> tuple[float, float, bool]:
    """a, s and whether the chain starts from its stationary distribution."""
    a = ui.slider("Slope a", -1.1, 1.1, 0.8, key="a", step=0.05)
    s = ui.slider("Noise s", 0.05, 2.0, 0.6, key="s", step=0.05)
    start = ui.choice("Start", ["stationary", "x₀ = 0"], key="start")
    stationary = start == "stationary" and abs(a) < 1
    if start == "stationary" and not stationary:
        ui.caption(f"With a = {a:g} the variance grows for ever: no stationary distribution, x₀ is 0.")
    return a, s, stationary


def growing(model, sheet, x, means, film, alt: str) -> None:
    """The path x (n,) as far as the film has come, among others."""
    mean, covariance = model.moments()
    frames = figures.growth(x, means)
    fig = figures.paths(sheet, covariance.diagonal().sqrt(), frames["data.2.y"][film.at], mean)
    data = {"step": range(1, len(x) + 1), "x": x, "drawn around": means}
    ui.figure(fig, alt=alt, data=data, key="paths", share=1.0, film=film, frames=frames)


def chain_mode() -> None:
    with stage.rail:
        a, s, stationary = numbers()
        steps = ui.slider("Values", 2, 60, 30, key="n")
        seed = ui.number("Seed", 0, 9999, 0, key="seed")
    model = lens.chain(a, s, steps, stationary)
    covariance = model.moments()[1]
    trace = lens.draw_trace(model, seed)
    film = ui.film(len(trace), key="step", default=len(trace) - 1, seconds=0.15)
    with stage.picture:
        left, right = ui.columns([3, 2])
        with left:
            growing(
                model, lens.paths(model, 12, seed), trace[-1].values["x"], lens.means(trace), film,
                "Sample paths of the chain, with two standard deviations on both sides of the mean",
            )  # fmt: skip
        with right:
            ui.figure(
                figures.covariance(covariance, film.at, "Cov(xₜ, xᵤ)"), alt="Covariance matrix of the chain",
                data={f"u = {u}": column for u, column in enumerate(covariance.T, start=1)},
                key="covariance", share=1.0, film=film, frames=figures.rows(steps),
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=[t.caption for t in trace], equations=[t.equation for t in trace])
    stage.equation(*lens.variance_equation(a, s, model, stationary))
    first, last = float(covariance[0, 0]), float(covariance[-1, -1])
    options = list(lens.MOVES)
    answer = options[1] if abs(last - first) < 1e-9 * first else options[2 if last > first else 0]
    with stage.below:
        ui.notice(
            f"{lens.links(a)} {lens.growth(a, stationary)} The whole path has one normal distribution: a "
            "chain of one-dimensional conditionals is all that a sampler needs."
        )
        ui.check(
            f"From the first value to value {steps}, the variance …", options, answer,
            f"{first:.4f} at the first, {last:.4f} at the last. {lens.growth(a, stationary)}",
            wrong=lens.MOVES, veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            from modules.autoregressive.gaussian_chain import GaussianChain

            model = GaussianChain(({steps},))
            model.put({a!r}, {s!r}, first_variance={float(model.first_variance)!r})
            mean, covariance = model.moments()
            result = [float(covariance[0, 0]), float(covariance[-1, -1])]
            """,
            shows=[first, last],
        )
        model_code = gaussian_chain.GaussianChain
        ui.source(
            model_code.moments, model_code._draw, lens.stationary_covariance, references=ROOM.references
        )


def path_mode() -> None:
    with stage.rail:
        typed = ui.text("Your path", "0.3, -0.2, 0.5, 1, 0", key="path", max_chars=200, says=lens.commas)
        a, s, stationary = numbers()
    try:
        x = lens.typed_path(typed)
    except ValueError as error:
        ui.stop(str(error))
    model = lens.chain(a, s, len(x), stationary)
    result = lens.log_density(model, x)
    places = list(range(1, len(x) + 1))
    film = ui.film(len(x), key="step", default=len(x) - 1, label="Value", seconds=0.8)
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            growing(
                model, lens.paths(model, 8, 0), x, result.means, film,
                "The typed path among paths of the chain",
            )  # fmt: skip
        with right:
            shown = [[1.0 if t <= at else 0.2 for t in range(len(x))] for at in range(len(x))]
            bars = basic.bars(places, result.terms, title="log p(xₜ | xₜ₋₁), nats", xlabel="step")
            ui.figure(
                bars.update_traces(marker_opacity=shown[film.at]),
                alt="Log-density of each value given the one before",
                data={"step": places, "term": result.terms}, key="terms", share=1.0,
                film=film, frames={"data.0.marker.opacity": shown},
            )  # fmt: skip
    with stage.foot:
        film.bar(**lens.terms(result, x))
    gap = f"{abs(result.total - result.joint):.1e}"
    joint = f"{result.joint:.7f}"
    stage.metrics({"Sum of the terms": f"{result.total:.7f}", "One normal": joint, "Difference": gap})
    worst = int(result.terms.argmin()) + 1
    with stage.below:
        ui.equation(
            rf"\sum_t \log N(x_t;\, {a:g}\,x_{{t-1}},\, {s:g}^2) = {result.total:.7f} = "
            rf"\log N(x;\, 0, \Sigma) = {result.joint:.7f}",
            f"Nats; the first term is log N(x₁; 0, {float(model.first_variance):.4f}). On the right, the "
            "determinant and the inverse of the whole covariance matrix.",
        )
        ui.notice(
            "The chain rule and one normal distribution give the same number by two roads: n small terms, or "
            "one n × n matrix. Each term asks only how far a value lies from a times the one before."
        )
        ui.table(lens.term_table(result, x), alt="The terms of the chain rule")
        ui.check(
            "Which value is the least expected, given the one before it?", places, worst,
            f"Its term is {float(result.terms.min()):.4f} nats.",
            wrong=[f"Value {i} has {t:.4f} nats: a times the one before is expected."
                   for i, t in enumerate(result.terms, 1)],
            veils=("terms", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            import torch
            from modules.autoregressive.gaussian_chain import GaussianChain

            model = GaussianChain(({len(x)},))
            model.put({a!r}, {s!r}, first_variance={float(model.first_variance)!r})
            result = float(model.log_prob(torch.tensor([{x.tolist()}])))
            """,
            shows=result.total,
        )
        model_code = gaussian_chain.GaussianChain
        ui.source(
            model_code.log_conditionals, model_code.moments, lens.log_density, references=ROOM.references
        )


def walk_mode() -> None:
    with stage.rail:
        draws = ui.slider("Walks drawn", 100, 20_000, 4000, key="draws", step=100)
        seed = ui.number("Seed", 0, 9999, 0, key="seed")
    made, steps = walked(draws, seed), list(range(1, walks.STEPS + 1))
    film = ui.film(len(steps), key="steps", values=steps, default=4, label="Steps", seconds=0.2)
    drawn, spread = walks.gauss_walk(walks.STEPS, 12, seed)
    edges = figures.widening(steps)
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            for key, sheet, title in (
                ("coins", made[-1].paths[:12], "Steps of −1 or +1"),
                ("normal", drawn, "Gaussian steps, a = 1, s = 1"),
            ):
                fig = figures.paths(sheet, spread, title=title, first=0).update_layout(showlegend=False)
                ui.figure(
                    figures.turned(fig, edges, film.at), alt=f"Twelve walks: {title}", key=key, share=0.5,
                    data={f"walk {i + 1}": w for i, w in enumerate(sheet)},
                    film=film, frames={"data.1.y": figures.prefixes(sheet, first=2), **edges},
                )  # fmt: skip
        with right:
            exact, shares = (walks.on_line(made, what) for what in ("distribution", "frequencies"))
            edges, now = figures.reached(steps), made[film.at]
            fig = figures.places(range(-walks.STEPS, walks.STEPS + 1), exact[film.at], shares[film.at])
            ui.figure(
                figures.turned(fig, edges, film.at),
                alt="Exact distribution of the walk and the frequencies drawn",
                data={"place": now.places, "exact": now.distribution, "drawn": now.frequencies},
                key="places", share=1.0, film=film,
                frames={"data.0.y": exact, "data.1.y": shares, **edges},
            )  # fmt: skip
    with stage.foot:
        film.bar(
            captions=[f"After {t} steps: of the {2**t:,} ways, as many end at each place." for t in steps],
            equations=[walks.walk_equation(walk) for walk in made],
        )
    with stage.below:
        ui.notice(
            "Each step adds its variance, so both walks spread like the root of the number of steps: the "
            "band is the same. The coin's distribution is Pascal's triangle; it skips every second place and "
            "nears the normal curve as the steps grow."
        )
        ui.check(
            f"After {film.value} steps, can the walk be back at 0?", ["yes", "no"],
            "yes" if 0 in now.places.tolist() else "no", "Every step changes even to odd and odd to even.",
            wrong={
                "yes": "After an odd number of steps the place is odd, however the coins fall.",
                "no": "As many steps up as down lead back: an even number of steps allows it.",
            },
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            from modules.autoregressive.gaussian_chain import walk_distribution

            result = walk_distribution({film.value})[::2]  # at every second place
            """,
            shows=now.distribution.tolist(),
        )
        ui.source(gaussian_chain.walk_distribution, walks.coin_walks, references=ROOM.references)


modes = {"Chain": chain_mode, "Your path": path_mode, "±1 walk": walk_mode}
with stage.rail:
    mode = ui.choice("View", list(modes), key="show", default="Chain")
modes[mode]()
