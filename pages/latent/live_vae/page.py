"""VAE live: a VAE of the plane in training, β and σ² turned in mid-run, wound back and gone on with."""

from datamodules import points
from lab import ui
from lab.figures import live as live_figures
from lab.lenses import plane
from lab.lenses.rewind import Run, stacked
from modules.latent.vae import VAE
from pages.latent.live_vae import figures, lens
from pages.latent.live_vae.room import ROOM

MOST = 90
WITHIN = {"rate": (0.0005, 0.02), "batch": (256, 256), "beta": (0, 8), "var": (0.02, 1)}

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Untrained": ui.scene("At first all codes decode to nearly one place. Press Train."),
        "Trained": ui.scene("The density finds the moons; −ELBO stays above −log p.", until=60),
        "One number": ui.scene("One latent number: the density is a tube around a curve.", k=1, until=60),
        "Collapse": ui.scene("β = 8 at σ² = 1: the KL falls to 0, every code is the prior.",
                             beta=8.0, var=1.0, until=40),
        "Cured": ui.scene("Where the line stands β and σ² fall: the KL rises, the moons appear.",
                          until=75, course="0:batch=256,beta=8,rate=0.005,var=1;"
                                           "30:batch=256,beta=1,rate=0.005,var=0.05"),
        "Blurry": ui.scene("σ² = 1: the noise alone is wider than a moon; nothing sharp can be told.",
                           var=1.0, until=40),
        "KL for free": ui.scene("β = 0: codes flee from the prior, and draws from it miss the moons.",
                                beta=0.0, until=60),
    }
)  # fmt: skip

# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    shape = ui.choice("Data", lens.SHAPES, key="data", as_list=True)
    k = ui.choice("Latent numbers", [1, 2], key="k", default=2)
    width = ui.slider("Width", 16, 64, 48, key="width", step=16)
    beta = ui.choice("β, the KL's weight", [0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0], key="beta", default=1.0,
                     as_list=True, format=lambda v: f"{v:g}")  # fmt: skip
    var = ui.choice("σ² of the decoder", [0.02, 0.05, 0.1, 0.2, 0.5, 1.0], key="var", default=0.05,
                    as_list=True, format=lambda v: f"{v:g}")  # fmt: skip
    rate = ui.choice("Rate", [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02], key="rate", default=0.005,
                     as_list=True)  # fmt: skip
    seed = ui.number("Seed", 0, 999, 0, key="seed")
    recipe = lens.VAERecipe(shape, k, width, seed)
    live = ui.rewind(recipe, {"rate": rate, "batch": 256, "beta": beta, "var": var}, within=WITHIN, most=MOST)

# --- Picture ------------------------------------------------------------------------------------

data, classes = (part[: lens.DRAWN] for part in lens.split(shape, 3))
names, span = (("μ(x)", "σ(x)"), (0.0, 1.2)) if k == 1 else (("μ₁(x)", "μ₂(x)"), (-3.5, 3.5))


def draw(now: ui.Rewind) -> None:
    frames, film = now.frames, now.film
    costs = stacked(frames, "costs")
    lines = {name: costs[:, i] for name, i in (("−log p", 0), ("−ELBO", 1), ("KL", 3))}
    steps = [number * recipe.stride for number in range(len(frames))]
    turned = [part.start * recipe.stride for part in now.run.history[1:]]
    fresh = now.new(frames)
    samples, codes = (stacked(fresh, name) for name in ("samples", "codes"))
    fig, first = figures.costs_and_codes(
        lines, steps, points.ENTROPY[shape], turned, steps[film.at], MOST * recipe.stride,
        frames[film.at]["codes"], classes, names, span,
    )  # fmt: skip
    moves = {f"layout.shapes.0.x{end}": now.new(steps) for end in (0, 1)}
    for number, kind in enumerate(sorted(set(classes.tolist()))):
        mine = (classes == kind).numpy()
        moves |= {f"data.{first + number}.{axis}": codes[:, mine, i] for i, axis in enumerate("xy")}
    left, right = ui.columns([3, 2])
    with left:
        ui.figure(
            live_figures.density(frames[film.at]["map"], lens.REACH, plane.LOWEST, data,
                                 frames[film.at]["samples"]),
            alt="Log-density of the VAE over the plane, data and samples, by training step", key="density",
            share=1.0, film=film,
            frames={"data.0.z": [frame["map"] for frame in fresh],
                    "data.2.x": samples[..., 0], "data.2.y": samples[..., 1]},
        )  # fmt: skip
    with right:
        ui.figure(
            fig, alt="Costs of new points by training step, and below the codes of data points", key="codes",
            data={"step": steps, **lines}, share=1.0, film=film, frames=moves,
        )  # fmt: skip
    film.bar(captions=lens.captions(frames, now.knobs, recipe))


with stage.picture:
    live.show(draw)

# --- Words --------------------------------------------------------------------------------------

shown = live.run.frames()
log_p, elbo, reconstruction, kl = map(float, shown[min(live.film.at, len(shown) - 1)]["costs"])
stage.equation(
    r"-\log p(x) \;\le\; -\mathrm{ELBO} = -E_q[\log p(x \mid z)] + \mathrm{KL}(q(z \mid x) \,\|\, p(z))"
    if live.training
    else rf"-\log p(x) = {log_p:.3f} \;\le\; -\mathrm{{ELBO}} = {reconstruction:.3f} + {kl:.3f} = {elbo:.3f}",
    "Means over 500 new points, 8 draws of z each; log p is summed over a grid of codes.",
)
with stage.below:
    ui.notice(
        f"The gap between −ELBO and −log p, here {elbo - log_p:.3f} nats, is the mean KL from q(z|x) to the "
        "true posterior. β weighs the other KL, the one to the prior: where β σ² exceeds the variance of "
        "a direction of the data, telling it costs more than it brings, and its code falls silent. The seed "
        "and the course of the knobs stand in the link; this history takes "
        f"{live.run.size() / 2**20:.1f} MB."
    )
    ui.check(
        "At the frame shown: do the codes carry more than a tenth of a nat of KL?",
        ["yes", "no"], "yes" if kl > 0.1 else "no", f"The KL is {kl:.3f} nats.",
        wrong={
            "yes": "A decoder first does without its code: so far telling more does not pay.",
            "no": "The code is in use by now, and what it tells of x costs KL.",
        },
        veils=("picture", "equation"),
    )  # fmt: skip
    ui.program(
        f"""
        from pages.latent.live_vae import lens
        from lab.lenses.rewind import Segment, Store, knobs_of

        recipe = lens.VAERecipe({shape!r}, {k}, {width}, {seed})
        knobs = knobs_of(dict(rate={rate}, batch=256, beta={beta}, var={var}))
        run = Store().run(recipe, (Segment(0, knobs),))
        run.advance(until=0, seconds=60)
        result = run.frames()[0]["costs"]
        """,
        shows=shown[0]["costs"],
    )
    ui.source(lens.VAERecipe, lens.log_prob, VAE.elbo_terms, Run.restore, references=ROOM.references)
