"""ELBO bars: log p(x) = ELBO + KL on a posterior that is known, and the five forms of the bound."""

from lab import ui
from lab.figures import stacks
from lab.lenses import typed
from modules.latent.elbo import Grid
from pages.latent.elbo_bars import figures, lens
from pages.latent.elbo_bars.room import ROOM

TWO = {"model": "two modes"}

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Prior as q": ui.scene(
            "q is the prior: the bound hangs 1.595 nats below log p(x).", mu=0.0, sigma=1.0
        ),
        "Posterior": ui.scene("q lies on the posterior: no gap, and all bars end at log p(x)."),
        "Too narrow": ui.scene(
            "Right place, too narrow: the entropy in D is negative, and a gap of 1 nat opens.", sigma=0.1
        ),
        "Turn σ": ui.scene(
            "Play: too narrow or too wide, the bound falls on both sides.", turn="σ", sigma=0.05
        ),
        "One of two": ui.scene(
            "q sits on one of two modes: the gap stays near ln 2.", mu=0.9, sigma=0.15, **TWO
        ),
        "Astride": ui.scene(
            "Astride both modes q pays for the empty middle: over 2 nats.", mu=0.0, sigma=0.6, **TWO
        ),
        "β = ½": ui.scene("With half of its KL, C ends above log p(x): no bound any more.", beta=0.5),
        "Own model": ui.scene(
            "x = z³ − 2z + noise: three modes, and no Gaussian fits.",
            model="own",
            g="0 -2 0 1",
            x=0.0,
            s=0.3,
            mu=0.0,
            sigma=0.2,
        ),
    }
)


@ui.cached
def bound(coefficients, x: float, noise: float, means, deviations) -> lens.Bound:
    return lens.bound(coefficients, x, noise, means, deviations)


# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    model = ui.choice("Model", [*lens.MODELS, "own"], key="model", as_list=True)
    if model == "own":
        text = ui.text("g(z): coefficients of 1, z, z², …", "0 0 1", key="g", max_chars=60)
        coefficients, complaint = typed.named(text, 5, -5, 5)
        if complaint:
            ui.warning(complaint)
        coefficients, noise = coefficients or [0.0], 1.0
    else:
        coefficients, noise = lens.MODELS[model]
    x = ui.slider("Observation x", -3.0, 3.0, 1.0, key="x", step=0.1)
    s = ui.slider("Noise s of x", 0.2, 2.0, noise, key="s", step=0.1)
    turn = ui.choice("Film turns", ["μ", "σ"], key="turn")
    if turn == "μ":
        deviation = ui.slider("σ of q", 0.05, 2.0, 0.45, key="sigma", step=0.05)
        film = ui.film(len(lens.MEANS), key="mu", values=lens.MEANS, default=0.4, label="μ =", seconds=0.2)
        means, deviations = lens.MEANS, [deviation] * film.count
    else:
        mean = ui.slider("μ of q", -3.0, 3.0, 0.4, key="mu", step=0.1)
        film = ui.film(
            len(lens.DEVIATIONS), key="sigma", values=lens.DEVIATIONS, default=0.45, label="σ =", seconds=0.2
        )
        means, deviations = [mean] * film.count, lens.DEVIATIONS
    beta = ui.slider("Weight β in C", 0.25, 4.0, 1.0, key="beta", step=0.25)
result = bound(coefficients, x, s, means, deviations)
ui.prefetch(
    bound,
    *((coefficients, each, s, means, deviations) for each in ui.near(x, -3.0, 3.0, 0.1)),
    *((coefficients, x, each, means, deviations) for each in ui.near(s, 0.2, 2.0, 0.1)),
    *((g, x, own, means, deviations) for name, (g, own) in lens.MODELS.items() if name != model),
)
reach = lens.window(result, beta)
gap, elbo = float(result.gap[film.at]), float(result.elbo[film.at])
weighed = float(result.reconstruction[film.at] - beta * result.rate[film.at])

# --- Picture ------------------------------------------------------------------------------------

with stage.picture:
    left, right = ui.columns([1, 2])
    with left:
        ui.figure(
            figures.densities(result, film.at),
            key="densities",
            share=1.0,
            film=film,
            frames={"data.2.y": result.q},
            alt="Prior, exact posterior and the Gaussian q over z",
            data={
                "z": result.z,
                "prior": result.prior,
                "posterior": result.posterior,
                "q": result.q[film.at],
            },
        )
    with right:
        ui.figure(
            figures.bars(result, beta, film.at, reach),
            key="bars",
            share=1.0,
            film=film,
            frames=stacks.turning(*figures.parts(result, beta), reach),
            alt=f"The five forms of the bound as bars, {gap:.3f} nats below log p(x)",
            data={"form": list(result.forms), "nats": [float(v[film.at]) for v in result.forms.values()]},
        )
with stage.foot:
    film.bar(captions=lens.captions(result, reach[0]), equations=lens.equations(result))

# --- Words --------------------------------------------------------------------------------------

ahead = 1 if film.at + 1 < film.count else -1
change = float(result.elbo[film.at + ahead]) - elbo
with stage.below:
    weight = (
        ""
        if beta == 1
        else f"With β = {beta:g}, C ends at {weighed:.3f}, "
        + ("above log p(x): no bound. " if weighed > result.log_p else "below log p(x). ")
    )
    ui.notice(
        f"A: E[log p(x,z) − log q(z)]. B: log p(x) − KL to posterior. C: reconstruction − KL to prior. "
        f"D: energy + entropy. E: −KL(q ‖ p(x,·)), the joint as it is. {weight}In this film the five differ "
        f"by at most {result.disagreement:.0e} nats. log p(x) never moves: only the gap does."
    )
    ui.check(
        f"The film goes one step {'on' if ahead > 0 else 'back'}: does the ELBO rise or fall?",
        ["it rises", "it falls"],
        "it rises" if change > 0 else "it falls",
        f"It changes by {change:.4f} nats, and the KL to the posterior by as much the other way.",
        wrong={
            "it rises": "With this step q moves away from the posterior, and the KL that is lost grows.",
            "it falls": "With this step q comes nearer to the posterior, and the KL that is lost shrinks.",
        },
        veils=("picture", "equation"),
    )
    ui.program(
        f"""
        import torch
        from modules.latent.elbo import Grid, log_normal
        from lab.lenses.polynomials import polynomial

        x = torch.tensor({x!r}, dtype=torch.float64)
        grid = Grid.of(lambda z: log_normal(z, 0.0, 1.0)
                       + log_normal(x, polynomial(z, {coefficients}), {s!r} ** 2), -15, 15, 6001)
        log_q = log_normal(grid.z, {means[film.at]!r}, {deviations[film.at]!r} ** 2)
        forms = grid.forms(log_q, log_normal(grid.z, 0.0, 1.0))
        result = [float(v) for v in [grid.log_prob, grid.gap(log_q), *forms.values()]]
        """,
        shows=[result.log_p, gap, *(float(v[film.at]) for v in result.forms.values())],
    )
    ui.source(Grid, lens.bound, references=ROOM.references)
