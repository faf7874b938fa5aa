"""The bound: the ELBO of the reader's digit in its parts, and what β does to it."""

from lab import ui
from lab.figures import basic, latents
from lab.lenses import latent, vaes
from lab.ui.models import shelves
from modules.latent.bounds import gaussian_kl, reparameterize
from modules.latent.vae import VAE
from pages.latent.bound.room import ROOM

BETAS = [i / 2 for i in range(101)]
FITTED = [0.0, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0]  # where q is fitted anew for each β
NOISE = 16  # draws of z

stage = ui.stage(ROOM)
stage.scenes(
    {
        "A digit": ui.scene("Orange: nats for the pixels. Violet: nats for the code. Together: −ELBO."),
        "Forty dimensions": ui.scene("A longer code costs more nats, and the pixels cost fewer.",
                                     model="vae-mnist"),
        "β = 50, same q": ui.scene("The ELBO stays, since q does: only the β-objective pays 50 times.",
                                   model="vae-mnist", beta=50.0),
        "β = 50, best q": ui.scene("q is fitted to β = 50: the code says little, and the pixels cost more.",
                                   model="vae-mnist", beta=50.0, refit=True),
        "β = 1, best q": ui.scene("What 80 steps on this digit alone gain over the encoder's answer.",
                                  model="vae-mnist", refit=True),
        "β = 0, best q": ui.scene("Free code: the best reconstruction, and a KL that nobody pays.",
                                  model="vae-mnist", beta=0.0, refit=True),
        "No digit at all": ui.scene("The box costs many nats: see in which pixels.", a="box"),
    }
)  # fmt: skip


@ui.cached
def answers(name: str, x, seed: int, refit: bool) -> list[latent.Bound]:
    """The bound with the encoder's q; or one for each of FITTED, with the q that is best there."""
    model = ui.load(name)
    noise = latent.normal_noise(NOISE, model.latent_dim, seed)
    if not refit:
        return [latent.bound(model, x, noise)]
    mean, log_var = latent.refit(model, x, FITTED, noise)
    return [latent.bound(model, x, noise, (mean[i : i + 1], log_var[i : i + 1])) for i in range(len(FITTED))]


# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    name = ui.experiment("Model", family="latent", key="model", default=vaes.START, only=vaes.fits)
    refit = ui.toggle(
        "Best q for this digit at each β", False, key="refit",
        help="Instead of the encoder's answer: 80 steps of gradient ascent on μ and σ, for this digit alone.",
    )  # fmt: skip
    shelf = shelves.shelf(name)
    a = shelves.digit("a", name, shelf)
    seed = ui.number("Noise seed", 0, 999, 0, key="seed")
model, results, side = ui.load(name), shelf.overview, shelf.side
betas = FITTED if refit else BETAS
film = ui.film(len(betas), key="beta", values=betas, default=1.0, label="β =", seconds=0.5 if refit else 0.08)
result = answers(name, a.x, seed, refit)
ui.prefetch(answers, (name, a.x, seed, not refit))
encoders = answers(name, a.x, seed, False)[0]
parts = [result[i if refit else 0] for i in range(len(betas))]  # the bound at each β
now = parts[film.at]
recs, kls = [p.reconstruction for p in parts], [p.kl.sum().item() for p in parts]
rebuilt = latent.decoded(model, latent.stacked([p.mean for p in result]))
pixels = latent.pictures_of(model, latent.stacked([-p.pixels for p in result]))

# --- Pictures -----------------------------------------------------------------------------------

moving = film if refit else None  # what q decides moves with β only where q does


def frames(values):
    return {"data.0.z": values} if refit else None


with stage.picture:
    first, second, third = ui.columns(3)
    with first:
        ui.figure(basic.image(latent.pictures_of(model, a.x)[0], title="What the model sees"), key="input",
                  share=0.5, alt="Digit A as input")  # fmt: skip
    at = film.at if refit else 0
    with second:
        ui.figure(basic.image(rebuilt[at], title="Decoded at the mean of q"), key="rebuilt", share=0.5,
                  film=moving, frames=frames(rebuilt), alt="Digit A rebuilt from the mean of q")  # fmt: skip
    with third:
        reach = float(pixels.abs().max())
        ui.figure(basic.image(pixels[at], "−log p of each pixel", "diverging", zmin=-reach, zmax=reach),
                  key="pixels", share=0.5, film=moving, frames=frames(pixels),
                  alt="Cost of each pixel in nats, blue where it costs")  # fmt: skip
    left, right = ui.columns(2)
    rows = ["−ELBO", "−J"]
    recs_twice = [[-rec, -rec] for rec in recs]
    paid = [[kl, beta * kl] for beta, kl in zip(betas, kls, strict=True)]
    with left:
        ends = [latents.reach(rec, kl) for rec, kl in zip(recs_twice, paid, strict=True)]
        ui.figure(
            latents.costs(rows, recs_twice[film.at], paid[film.at], ends[film.at]), key="costs",
            share=0.5, film=film,
            frames={"data.0.x": recs_twice, "data.1.x": paid, "layout.xaxis.range": ends},
            alt="The ELBO and the β-objective J as costs: reconstruction, and KL times its weight",
            data={"row": rows, "reconstruction": recs_twice[film.at], "kl": paid[film.at]},
        )  # fmt: skip
    with right:
        order = results.order[:12]
        fig = latents.dimensions(now.kl, results.kl, order)
        fig.update_yaxes(range=[0, 1.05 * max(results.kl.max().item(), *(p.kl.max().item() for p in result))])
        ui.figure(
            fig, key="kl", share=0.5, film=moving,
            frames={"data.1.y": [p.kl[order] for p in result]} if refit else None,
            alt="KL in nats of each latent dimension, for digit A and on average over the examples",
            data={"dimension": [d + 1 for d in results.order], "A": now.kl[results.order],
                  "mean": results.kl[results.order]},
        )  # fmt: skip
whose = "the best q at this β" if refit else "the encoder's q"
with stage.foot:
    film.bar(
        captions=[
            f"With {whose}: the ELBO is {p.elbo:.2f} nats, the β-objective J {p.objective(beta):.2f}."
            + (f" The encoder's ELBO is {encoders.elbo:.2f}." if refit else "")
            for beta, p in zip(betas, parts, strict=True)
        ],
        equations=[
            rf"\mathrm{{ELBO}}=R-\mathrm{{KL}}={rec:.2f}-{kl:.2f}={p.elbo:.2f},\quad\;"
            rf"J=R-\beta\,\mathrm{{KL}}={rec:.2f}-{beta:g}\cdot{kl:.2f}={p.objective(beta):.2f}"
            for beta, p, rec, kl in zip(betas, parts, recs, kls, strict=True)
        ],
    )

# --- Words --------------------------------------------------------------------------------------

beta = film.value
total, rec = now.kl.sum().item(), now.reconstruction
silent = int((now.kl < 0.1).sum())
with stage.below:
    ui.notice(
        f"R = E log p(x|z) is a mean over {NOISE} draws of z from {whose}, the KL is exact. The ELBO is a "
        "bound on log p(x) whatever q is; J, what a β-VAE maximises, is the ELBO only at β = 1, and below it "
        "is no bound. "
        f"{silent} of {len(now.kl)} dimensions say less than a tenth of a nat about this digit."
    )
    fall = f"it falls by {total:.2f} nats"
    ui.check(
        "q stays as it is, and β grows by 1. What happens to the β-objective?",
        ["it does not change", fall, f"it falls by {-rec:.2f} nats", f"it rises by {total:.2f} nats"],
        fall,
        "Each unit of β charges the KL once more; the reconstruction does not know β.",
        wrong={
            "it does not change": "That is true of the ELBO, whose KL has weight 1.",
            f"it falls by {-rec:.2f} nats": "That is the reconstruction, which β does not weigh.",
            f"it rises by {total:.2f} nats": "The KL is a cost: what charges it more lowers the objective.",
        },
        veils=("costs", "equation"),
    )
    fit = f"latent.refit(model, x, {beta:g}, noise)" if refit else "model.encode_parameters(x)"
    ui.program(
        f"""
        from lab import experiments, weights
        from lab.lenses import latent
        from lab.ui.controls import drawing

        model = weights.load({ui.spelled(name)}).requires_grad_(False)
        x = {a.program}
        noise = latent.normal_noise({NOISE}, model.latent_dim, {seed})
        bound = latent.bound(model, x, noise, {fit})
        result = [bound.reconstruction, bound.kl.sum().item(), bound.elbo, bound.objective({beta:g})]
        """,
        shows=[rec, total, now.elbo, now.objective(beta)],
    )
    ui.source(
        VAE.encode_parameters, reparameterize, gaussian_kl, VAE.elbo_terms, latent.bound, latent.refit,
        references=ROOM.references,
    )  # fmt: skip
