"""Gradient noise: score function against pathwise, baselines, and where a sampling node stops a gradient."""

from lab import ui
from lab.errors import UserError
from lab.lenses import typed
from lab.ui.models import shelves
from modules.latent import gradient_estimators
from modules.latent.score_vae import ScoreVAE
from pages.latent.gradients import figures, lens
from pages.latent.gradients.room import ROOM

ELBO, TABLE, NODE = {"of": "ELBO"}, {"of": "table"}, {"view": "Sampling node"}
OPTIONS = ["less than 3", "3 to 15", "more than 15"]

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Same mean": ui.scene("All close in on 4; per draw the score varies 87, the path 4."),
        "Ten draws": ui.scene("After ten draws the path is near 4, the score may be anywhere.", n=10),
        "By σ": ui.scene("By σ the same order: 24 against 346 a draw.", by="σ"),
        "At the posterior": ui.scene(
            "q is the posterior: path only and score − ELBO have no noise at all.", m=0.75, **ELBO
        ),
        "Away from it": ui.scene(
            "At μ = 0.3 the score − ELBO is noisy again, the path alone is not.", m=0.3, **ELBO
        ),
        "Bernoulli": ui.scene(
            "No path through a discrete z; the best baseline takes all noise away.", **TABLE
        ),
        "Three words": ui.scene(
            "Three classes, f = log p(y|c): no baseline takes all noise away.",
            q="0.090 0.245 0.665",
            values="-2.303 -0.693 -0.223",
            **TABLE,
        ),
        "Open path": ui.scene("z = μ + σε: the gradient flows back to μ and σ.", **NODE),
        "Blocked": ui.scene(
            "z drawn as such: autograd stops there, and its mean stays 0.", path=False, **NODE
        ),
    }
)


@ui.cached
def race_of(of: str, *settings) -> lens.Race:
    if of == "polynomial":
        return lens.of_polynomial(*settings)
    if of == "trained net":
        return lens.of_net(ui.load(lens.NET), *settings)
    return lens.of_elbo(*settings) if of == "ELBO" else lens.of_table(*settings)


def polynomial_settings() -> tuple:
    by = ui.choice("Gradient by", list(lens.PARAMETERS), key="by")
    mean = ui.slider("μ", -3.0, 3.0, 2.0, key="mu", step=0.25)
    text = ui.text("f: coefficients of 1, z, z², …", "0 0 1", key="f", max_chars=60)
    coefficients, texts = typed.named(text, 5, -10, 10)
    if texts:
        ui.warning(texts)
    others = ui.slider("K of leave-one-out", 1, 20, 2, key="k", help="1 takes a running mean instead")
    return coefficients or [0.0], mean, by, others


def table_settings() -> tuple:
    text = ui.text("Probabilities of z", "0.7 0.3", key="q", max_chars=80)
    try:
        q, texts = typed.distribution(text, 8)
    except UserError as error:
        ui.stop(str(error))
    f, wrong = typed.named(ui.text("f of each", "1 3", key="values", max_chars=80), len(q))
    if not (texts or wrong) and len(f) < len(q):
        wrong = f"f has {len(f)} of {len(q)} values: the others are 0."
    if texts or wrong:
        ui.warning(texts or wrong)
    return q, [*f, *[0.0] * (len(q) - len(f))]


def noise_view() -> None:
    with stage.rail:
        kinds = ["polynomial", "ELBO", "table", "trained net"]
        of = ui.choice("Expectation of", kinds, key="of", as_list=True)
        if of == "polynomial":
            settings = polynomial_settings()
        elif of == "ELBO":
            settings = (ui.slider("μ of q", -1.0, 2.0, 0.75, key="m", step=0.05),)
        elif of == "trained net":
            own = shelves.small_digit("net")
            unit = ui.slider("Unit of z", 1, 10, 1, key="unit") - 1
            settings = (own.x, unit)
        else:
            settings = table_settings()
        seed = ui.number("Seed", 0, 999, 0, key="seed")
    race = race_of(of, *settings, seed)
    film = ui.film(len(lens.COUNTS), key="n", values=lens.COUNTS, default=5000, label="n =", seconds=0.5)
    names, running = list(race.by_name), figures.prefixes(race)
    middles, shares = race.histograms()
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            ui.figure(
                figures.histograms(race, film.at), key="histograms", share=1.0, film=film,
                frames={f"data.{i}.y": shares[name] for i, name in enumerate(names)},
                alt="Histograms of the estimators' values a draw",
                data={"value": middles, **{name: shares[name][film.at] for name in names}},
            )  # fmt: skip
        with right:
            ui.figure(
                figures.running(race, film.at), key="running", share=1.0, film=film,
                frames={f"data.{i}.y": running[name] for i, name in enumerate(names)},
                alt="Running means of the estimators against the gradient",
                data={"n": lens.COUNTS, **race.running()},
            )  # fmt: skip
    spreads = {n: one.measured if one.variance is None else one.variance for n, one in race.by_name.items()}
    variances = ", ".join(f"{name} {v:.4g}" for name, v in spreads.items())
    with stage.foot:
        film.bar(
            captions=[f"Variance a draw: {variances}."] * film.count,
            equations=[
                rf"\nabla E\,f={race.truth:.4f}\qquad\text{{{names[0]}, mean of }}{n}={value:.4f}"
                for n, value in zip(lens.COUNTS, race.running()[names[0]].tolist(), strict=True)
            ],
        )
    needs, given = "", f"*{settings!r}"
    if of == "trained net":
        given = f"weights.load({lens.NET!r}), {own.program}, {unit}"
        needs = f"from lab import weights\n{12 * ' '}from lab.ui.controls import drawing"
    first = "score"
    best = min(spreads, key=lambda n: spreads[n])
    ratio = spreads[first] / spreads[best] if spreads[best] > 1e-9 else float("inf")
    with stage.below:
        ui.table(figures.chosen(names, race), alt="Mean and variance of every estimator")
        ui.notice(
            "No estimator is biased: a baseline multiplies ∇ log q, whose mean is 0. The path differentiates "
            "f itself; the score only weighs draws by f. A leave-one-out value is the mean of K draws; its "
            "variance is given a draw, times K. Exact variances are by quadrature or enumeration."
            + (f" {lens.trained()}" if of == "trained net" else "")
        )
        ui.check(
            f"How many times the variance of “{best}” has the plain score?", OPTIONS,
            OPTIONS[(ratio >= 3) + (ratio > 15)],
            "The best one has no variance at all." if ratio == float("inf") else f"It is {ratio:.1f} times.",
            veils=("picture", "equation"),
            wrong=("The score weighs each draw by all of f: that scatters far more than a slope of f.",
                   "It depends on how large f is beside its slope: here it is larger, or smaller.",
                   "Where f is small, or little can be taken off, the plain score is not so bad."),
        )  # fmt: skip
        call = {"polynomial": "of_polynomial", "ELBO": "of_elbo", "table": "of_table",
                "trained net": "of_net"}[of]  # fmt: skip
        ui.program(
            f"""
            {needs}
            from pages.latent.gradients import lens

            race = lens.{call}({given}, {seed})
            result = [race.truth, *(float(one.values.mean()) for one in race.by_name.values())]
            """,
            shows=[race.truth, *(float(one.values.mean()) for one in race.by_name.values())],
        )
        ui.source(
            gradient_estimators.score, gradient_estimators.pathwise, gradient_estimators.leave_one_out,
            *([ScoreVAE] if of == "trained net" else []), references=ROOM.references,
        )  # fmt: skip


def node_view() -> None:
    with stage.rail:
        path = ui.toggle("Reparametrised: z = μ + σε", True, key="path")
        mean = ui.slider("μ", -2.0, 2.0, 1.0, key="mean", step=0.1)
        deviation = ui.slider("σ", 0.1, 2.0, 0.5, key="sd", step=0.1)
        seed = ui.number("Seed of ε", 0, 999, 0, key="eps")
    film = ui.film(30, key="draw", default=0, label="Draw", seconds=0.5)
    node = lens.node(mean, deviation, path, film.count, seed)
    counts = range(1, film.count + 1)
    totals = {"autograd": node.by_mu.cumsum(0), "score": node.score_mu.cumsum(0)}
    lines = {
        name: [float(v) / n for v, n in zip(total, counts, strict=True)] for name, total in totals.items()
    }
    with stage.picture:
        left, right = ui.columns([3, 2])
        with left:
            ui.figure(
                figures.graph(node, mean, deviation, path, film.at),
                key="graph",
                share=1.0,
                film=film,
                frames={
                    "data.0.text": figures.node_texts(node, mean, deviation),
                    "data.1.text": figures.edge_texts(node, path),
                },
                alt="The graph from μ, σ and ε by z to z², with what flows back",
            )
        with right:
            ui.figure(
                figures.means(lines, 2 * mean, film.at), key="means", share=1.0, film=film,
                frames={f"layout.shapes.0.x{end}": list(counts) for end in (0, 1)},
                alt="Mean gradient by μ of the draws so far", data={"draw": counts, **lines},
            )  # fmt: skip
    back = [f"{m:.3f}" if path else "none" for m in node.by_mu.tolist()]
    with stage.foot:
        film.bar(
            captions=[
                f"ε = {e:.2f} is drawn outside the graph: the gradient passes z."
                if path
                else f"z = {z:.2f} is drawn: what comes back to it goes no further."
                for e, z in zip(node.eps.tolist(), node.z.tolist(), strict=True)
            ],
            equations=[
                rf"\frac{{\partial f}}{{\partial\mu}}=\text{{{b}}}\qquad f\,\nabla_\mu\log q={s:.3f}"
                rf"\qquad\nabla_\mu E\,z^2=2\mu={2 * mean:.2f}"
                for b, s in zip(back, node.score_mu.tolist(), strict=True)
            ],
        )
    with stage.below:
        ui.notice(
            "Written z = μ + σε, the randomness is an input and z a function: ∂z/∂μ = 1, ∂z/∂σ = ε. Drawn as "
            "such, z has no derivative by μ, and autograd returns nothing, without an error. The score needs "
            "no path: it weighs ∇ log q by f, and its mean wanders further."
        )
        ui.check(
            "If ε were 0 at this draw, what would autograd say of ∂f/∂σ?", ["0", "2μ", "nothing"],
            "0" if path else "nothing",
            "∂f/∂σ = ∂f/∂z · ε where the path is open; where it is blocked nothing comes back.",
            veils=("equation",),
            wrong=("Where the path is blocked nothing comes back at all, not even a 0.",
                   "That is ∂f/∂z at z = μ: σ enters z only times ε, which is 0.",
                   "The path is open: ∂f/∂z comes back, times an ε of 0."),
        )  # fmt: skip
        ui.program(
            f"""
            from pages.latent.gradients import lens

            node = lens.node({mean!r}, {deviation!r}, {path}, {film.count}, {seed})
            result = [float(v[{film.at}]) for v in (node.z, node.f, node.by_mu, node.score_mu)]
            """,
            shows=[float(v[film.at]) for v in (node.z, node.f, node.by_mu, node.score_mu)],
        )
        ui.source(lens.node, gradient_estimators.normal_path, references=ROOM.references)


views = {"Noise": noise_view, "Sampling node": node_view}
with stage.rail:
    view = ui.choice("View", list(views), key="view")
views[view]()
