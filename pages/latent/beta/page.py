"""β: the price of a nat of code, and what is bought for it."""

from lab import ui
from lab.figures import sheets
from lab.lenses import stock
from lab.ui.models import shelves
from modules.latent.bounds import gaussian_kl
from modules.latent.vae import VAE
from pages.latent.beta import figures, lens
from pages.latent.beta.room import ROOM

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Fair price": ui.scene("β = 1 touches the dashed line: it has the best bound of all.", beta=1),
        "A quarter": ui.scene("All dimensions are in use and the digits come back sharp; the bound is worse.",
                              beta=0.25),
        "Four times": ui.scene("Most dimensions are given up: the second row is nearly one picture.", beta=4),
        "Ten times": ui.scene("No code at all: whatever goes in, the same grey mean comes out.", beta=10),
        "A box, cheap": ui.scene("At a quarter even a box comes back as a ring, with a hole in its middle.",
                                 beta=0.25,
                                 digit="box"),
        "A box, fair": ui.scene("At β = 1 the same box comes back as one digit or another, blurred.", beta=1,
                                digit="box"),
    }
)  # fmt: skip


@ui.cached
def measured(name: str) -> lens.Bought:
    return lens.bought(ui.load(name), stock.bits()[0])


# --- Controls -----------------------------------------------------------------------------------

by_beta: dict[float, str] = {}
for name in ui.trained("latent", lens.fits):
    by_beta.setdefault(float(ui.load(name).beta), name)
betas = sorted(by_beta)
models = [by_beta[beta] for beta in betas]
with stage.rail:
    own = shelves.small_digit("digit", first=3)
    start = ui.slider("Beside it, test digits from", 0, 240, 0, key="from")
film = ui.film(len(betas), key="beta", values=betas, default=1.0, label="β =", seconds=1.2)

# --- Pictures -----------------------------------------------------------------------------------

results = [measured(name) for name in models]
best = lens.best(results)
spelled = [f"{beta:g}" for beta in betas]
others = stock.bits()[0][start : start + len(lens.VALUES) - 1]
pictures = [
    lens.sheet(ui.load(name), own.x, others, one.order) for name, one in zip(models, results, strict=True)
]
rows = ["x", "rebuilt", *(f"turn {i + 1}" for i in range(lens.TURNED))]
with stage.picture:
    left, right = ui.columns([2, 3])
    with left:
        ui.figure(
            figures.plane(results, spelled, film.at, best.cost), key="plane", share=0.58, film=film,
            frames={"data.2.x": [[one.rate] for one in results],
                    "data.2.y": [[one.distortion] for one in results]},
            alt="Rate against distortion of every β, with the line of the best bound",
            data={"beta": betas, "rate": [one.rate for one in results],
                  "distortion": [one.distortion for one in results]},
        )  # fmt: skip
        ui.figure(
            figures.dimensions(results, film.at), key="kl", share=0.42, film=film,
            frames={"data.0.y": [one.kl for one in results]},
            alt="KL of each dimension at this β, the most costly first",
        )  # fmt: skip
    with right:
        ui.figure(
            sheets.contact_sheet(pictures[film.at], rows, [""] * len(lens.VALUES)), key="sheet", share=1.0,
            film=film, frames={"data.0.z": [sheets.sheet(p) for p in pictures]},
            alt="Digits, the first of them yours, above what is rebuilt of them; below, your digit with its "
            f"{lens.TURNED} most costly dimensions turned from −3 to 3, one a row",
        )  # fmt: skip
with stage.foot:
    film.bar(
        captions=[
            f"β = {one.beta:g}: {one.active} of {len(one.kl)} dimensions are active"
            + ("; no other β has a better bound." if one is best
               else f"; the bound is {one.cost - best.cost:.2f} nats worse than at β = {best.beta:g}.")
            for one in results
        ],
        equations=[
            rf"-\mathrm{{ELBO}}=D+R={one.distortion:.2f}+{one.rate:.2f}={one.cost:.2f},\qquad "
            rf"D+\beta R={one.distortion:.2f}+{one.beta:g}\cdot{one.rate:.2f}={one.objective:.2f}"
            for one in results
        ],
    )  # fmt: skip

# --- Words --------------------------------------------------------------------------------------

now = results[film.at]
with stage.below:
    ui.notice(
        f"R is the mean KL and D the mean of −log p(x|z) over {len(stock.bits()[0])} test digits, at "
        "whatever price the model was trained. Training at β minimises D + β R, so for β > 1 it is a looser "
        "bound, and for β < 1 none at all. "
        f"From β = {betas[0]:g} to β = {betas[-1]:g} the rate falls from {results[0].rate:.2f} to "
        f"{results[-1].rate:.2f} nats, and the distortion rises from {results[0].distortion:.2f} to "
        f"{results[-1].distortion:.2f}."
    )
    ui.check(
        "Which β has the best bound on held-out digits, at full price?",
        spelled,
        f"{best.beta:g}",
        f"The bound is −(D + R): {best.cost:.2f} nats at best. Only β = 1 trains on what is reported.",
        wrong={
            f"{one.beta:g}": f"β = {one.beta:g} leaves {one.cost:.2f} nats: "
            + (
                "a code that was too cheap tells more than it is worth."
                if one.beta < best.beta
                else "a code that was too dear tells too little."
            )
            for one in results
        },
        veils=("plane", "equation"),
    )
    ui.program(
        f"""
        from lab import experiments, weights
        from lab.lenses import stock
        from modules.latent.bounds import gaussian_kl

        x, _ = stock.bits("test")
        model = weights.load({ui.spelled(models[film.at])})
        kl = gaussian_kl(*model.encode_parameters(x)).mean(0)
        result = [kl.sum().item(), kl.max().item()]
        """,
        shows=[now.rate, float(now.kl[0])],
    )
    ui.source(lens.bought, gaussian_kl, VAE.elbo_terms, VAE.objective, references=ROOM.references)
