"""Importance weights: more draws of the encoder, a tighter bound."""

from lab import experiments, ui
from lab.lenses import latent, vaes
from lab.lenses.vaes import subscript
from lab.ui.models import shelves
from modules.importance import effective_sample_size
from modules.latent import importance
from modules.latent.vae import VAE
from pages.latent.importance import figures
from pages.latent.importance.room import ROOM

SIZES = [1, 2, 5, 10, 20, 50, 100, 500]
DRAWS, BINS = 10_000, 40

stage = ui.stage(ROOM)
stage.scenes(
    {
        "One draw": ui.scene("S = 1: estimates of the ELBO scatter over many nats.", s=1),
        "Ten draws": ui.scene("S = 10: the mean estimate climbs, and the scatter shrinks.", s=10),
        "Five hundred": ui.scene("S = 500: nearly at log p(x), which is summed over the plane.", s=500),
        "Forty dimensions": ui.scene("No exact value here; the climb shows how far the ELBO is from tight.",
                                     model="vae-mnist", s=500),
        "No digit at all": ui.scene("The encoder guesses badly at a box, and few draws carry the weight.",
                                    a="box", s=500),
        "By the prior": ui.scene("Drawn from the prior, one weight of five hundred may be all there is.",
                                 by="prior", s=500),
        "Half of each": ui.scene("Half the draws from the prior bound every weight, and little is lost.",
                                 by="half of each", s=500),
    }
)  # fmt: skip


@ui.cached
def weights_of(name: str, x, seed: int, proposal: str):
    return latent.importance(ui.load(name), x, DRAWS, seed, proposal)


@ui.cached
def evidence(name: str, x) -> float:
    return latent.grid_posterior(ui.load(name), x).log_evidence


# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    name = ui.experiment("Model", family="latent", key="model", default=vaes.START, only=vaes.weighs)
    shelf = shelves.shelf(name, vaes.weighs)
    a = shelves.digit("a", name, shelf)
    mixes = vaes.fits(experiments.find(name.partition("/")[0]))  # q(z|x) is known of any z
    ways = [way for way in latent.PROPOSALS if mixes or way != "half of each"]
    proposal = ui.choice("Drawn from", ways, key="by", as_list=True)
    seed = ui.number("Seed of the draws", 0, 999, 0, key="seed")
film = ui.film(len(SIZES), key="s", values=SIZES, default=1, label="S =", seconds=0.6)
log_weights = weights_of(name, a.x, seed, proposal)
ui.prefetch(weights_of, (name, a.x, min(999, seed + 1), proposal))
exact = evidence(name, a.x) if ui.load(name).latent_dim <= 2 else None
bounds = latent.weighted_bounds(log_weights, SIZES)
scatter = latent.scatter(log_weights, SIZES, BINS, exact)
effective, error = float(effective_sample_size(log_weights)) / (DRAWS / 500), latent.error(log_weights)

# --- Pictures -----------------------------------------------------------------------------------

with stage.picture:
    left, right = ui.columns(2)
    with left:
        fig = figures.estimates(
            scatter.middles,
            scatter.shares[film.at],
            bounds[film.at],
            exact,
            1.05 * scatter.shares.max().item(),
        )
        ui.figure(
            fig, key="estimates", share=1.0, film=film,
            frames={"data.0.y": scatter.shares, "data.1.x": [[bound, bound] for bound in bounds]},
            alt="How the estimates from S draws scatter, their mean, and log p(x) where it is known",
            data={"nats": scatter.middles, "share": scatter.shares[film.at]},
        )  # fmt: skip
    with right:
        ui.figure(
            figures.staircase(SIZES, bounds, exact, film.at), key="staircase", share=1.0, film=film,
            frames={"data.1.x": [[s] for s in SIZES], "data.1.y": [[bound] for bound in bounds]},
            alt=f"The bound climbs from {bounds[0]:.2f} at one draw to {bounds[-1]:.2f} nats at 500",
            data={"S": SIZES, "L_S": bounds},
        )  # fmt: skip
below = {"encoder": "q(z_s|x)", "prior": "p(z_s)"}.get(proposal, r"\frac12p(z_s)+\frac12q(z_s|x)")
with stage.foot:
    film.bar(
        captions=[
            f"L{subscript(s)}: mean of {DRAWS // s:,} estimates from {s} draw{'s' if s > 1 else ''} each"
            + (f": {exact - bound:.2f} nats below log p(x)." if exact is not None and exact > bound else ".")
            for s, bound in zip(SIZES, bounds, strict=True)
        ],
        equations=[
            rf"L_{{{s}}}=E\;\log\;\frac1{{{s}}}\sum_{{s=1}}^{{{s}}}\frac{{p(x|z_s)\,p(z_s)}}{{{below}}}"
            rf"\approx{bound:.3f}" + (rf",\qquad\log\,p(x)={exact:.2f}" if exact is not None else "")
            for s, bound in zip(SIZES, bounds, strict=True)
        ],
    )

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    ui.notice(
        "In expectation ELBO = L₁ ≤ L₅₀₀ ≤ log p(x). "
        f"Here L₅₀₀ is {bounds[-1]:.2f} ± {error:.2f}, {bounds[-1] - bounds[0]:.2f} nats above the estimate "
        f"of L₁. 500 draws are worth {effective:.0f} equally weighted ones; the standard error is too small "
        "where few draws carry all the weight. The mean of the weights is right whatever they are drawn "
        "from; a q that misses a part of the posterior has rare, huge weights there, and a part of the draws "
        "from the prior bounds them."
    )
    gain = bounds[SIZES.index(10)] - bounds[0]
    rest = bounds[-1] - bounds[SIZES.index(10)]
    ui.check(
        "Which step raises the bound more: from 1 draw to 10, or from 10 to 500?",
        ["from 1 to 10", "from 10 to 500"],
        "from 1 to 10" if gain > rest else "from 10 to 500",
        f"It gains {gain:.2f} nats up to 10 draws, and {rest:.2f} from there to 500.",
        wrong=(
            "The first draws gain most where one of them hits the posterior: with this q few do.",
            "The bound flattens: the first draws take off most of what is missing.",
        ),
        veils=("picture", "equation"),
    )
    ui.program(
        f"""
        from lab import experiments, weights
        from lab.lenses import latent
        from lab.ui.controls import drawing

        model = weights.load({ui.spelled(name)})
        x = {a.program}
        log_weights = latent.importance(model, x, {DRAWS}, {seed}, {proposal!r})
        result = latent.weighted_bounds(log_weights, {SIZES})
        """,
        shows=bounds,
    )
    ui.source(
        VAE.log_weights, VAE.iwae, importance.defensive_weights, latent.weighted_bounds,
        effective_sample_size, latent.grid_posterior,
        references=ROOM.references,
    )  # fmt: skip
