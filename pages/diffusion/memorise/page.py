"""Memorise or generalise: the best denoiser of n points draws those points; the network draws others."""

from lab import ui
from lab.lenses.diffusion import SAID
from modules.diffusion import exact, samplers
from pages.diffusion.memorise import figures, lens
from pages.diffusion.memorise.room import EXACT, NETWORK, PLANE, ROOM

stage = ui.stage(ROOM)


with stage.rail:
    now = ui.read(ROOM)
trajectories = {EXACT: ui.compute(lens.trajectory, now), NETWORK: ui.compute(lens.by_network, now)}
training, run = lens.points(now.data, now.n), trajectories[now.source]
result = lens.compared(trajectories[EXACT], trajectories[NETWORK], now.data, now.n)
film = ui.film_of(now, len(run.times), values=range(len(run.times)), names=run.times)

with stage.picture:
    left, right = ui.columns([2, 1])
    with left:
        if now.data == PLANE:
            ui.figure(
                figures.cloud(run.x, training, lens.TRAILS, figures.COLORS[now.source], 4.5), key="cloud",
                share=1.0, film=film, alt="Samples on their way among the training points",
            )  # fmt: skip
        else:
            parts = (
                (run.x0, "prediction x̂₀", "prediction"),
                (lens.beside(run, training), "nearest of the n", "near"),
            )
            for column, (pictures, title, key) in zip(ui.columns(2), parts, strict=True):
                fig, alt = figures.twelve(pictures, title), f"Twelve digits: {title}"
                with column:
                    ui.figure(fig, key=key, share=1.0, alt=alt, film=film)
    with right:
        ui.figure(
            figures.distances(*lens.histogram(result)),
            key="distances",
            share=1.0,
            alt="Distances from the nearest training point: of samples by the exact score, by the network, "
            "and of held-out data",
        )
with stage.foot:
    if now.source == NETWORK:
        ui.machine(
            now.model,
            film=film,
            lit=["xt", *["net"] * (film.count - 1)],
            says=[{"xt": f"t = {t}"} for t in run.times],
        )
    film.bar(captions=lens.captions(run, training))
stage.equation(
    r"\hat x_0 = \sum_{k=1}^{n} r_k\, x_k, \quad "
    r"r_k \propto \exp\left(-\|x_t - \sqrt{\bar\alpha_t}\, x_k\|^2 / 2(1 - \bar\alpha_t)\right)"
)
if now.source == EXACT:
    stage.metrics({f"Copies, {name}": f"{result.copies[name]:.3f}" for name in (EXACT, NETWORK)})
share = result.copies[now.source]
with stage.below:
    halves = ", ".join(f"{result.middle(name):.2g} ({name})" for name in lens.NAMES)
    known = "200,000 points" if now.data == PLANE else "all 1,297 digits"
    ui.notice(
        "The denoiser of the equation minimises the training loss of n points, and its samples are the "
        f"points themselves: {result.copies[EXACT]:.3f} of its samples are copies, less than a third as far "
        f"from one point as from the second nearest. The network has learned from {known}, and does not "
        f"reach that minimum: {result.copies[NETWORK]:.3f} of its samples are copies of the n, of data "
        f"that it has not seen {result.copies[lens.HELD]:.3f}. Half lie within {halves} of a training point. "
        f"The minimum of the loss is to memorise: that samples are new is due to the network. {SAID}"
    )
    ui.check(
        f"Are most of the samples here copies ({now.source})?",
        ["yes", "no"],
        "yes" if share > 0.5 else "no",
        f"{share:.3f} of them are.",
        wrong={
            "yes": "Near is not yet copied: few come within a third of the distance to the second nearest.",
            "no": "Copies minimise the loss: its exact minimiser leads back to the n points.",
        },
        veils=("distances", "numbers"),
    )
    ui.program(
        f"""
        from lab import weights
        from pages.diffusion.memorise import lens

        model = weights.load({now.model!r})
        trajectories = [lens.trajectory(model, {now.data!r}, n, {now.seed}) for n in ({now.n}, None)]
        comparison = lens.compared(*trajectories, {now.data!r}, {now.n})
        result = list(comparison.copies.values()) + [comparison.middle(name) for name in lens.NAMES]
        """,
        shows=[*result.copies.values(), *(result.middle(name) for name in lens.NAMES)],
    )
    ui.source(
        lens.best, exact.Mixture.posterior_mean, samplers.ddim, lens.trajectory, references=ROOM.references
    )
