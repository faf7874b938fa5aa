"""Reverse: a cloud of noise becomes eight Gaussians, with the exact score and with a network."""

from lab import ui
from lab.figures.trails import clouds
from lab.lenses import eight
from lab.lenses.diffusion import SAID
from modules.diffusion import exact, langevin, samplers
from pages.diffusion.reverse import figures, lens
from pages.diffusion.reverse.room import ROOM

stage = ui.stage(ROOM)


with stage.rail:
    now = ui.read(ROOM)
result, model = ui.compute(lens.rides, now), ui.load(now.model)
run = result[now.source]
film = ui.film_of(now, len(run.times), values=range(len(run.times)), names=run.times)
shares = {name: float(each.share[-1]) for name, each in result.items()}

with stage.picture:
    left, right = ui.columns([2, 1])
    with left:
        ui.figure(
            clouds(run.cloud, eight.TRAILS, exact.eight().means, eight.NEAR * eight.SD, eight.REACH),
            alt="The samples at this t, with the paths of some points", key="cloud", share=1.0, film=film,
        )  # fmt: skip
    with right:
        ui.figure(
            figures.arrived(list(shares), list(shares.values()), lens.data()),
            key="arrived",
            share=1.0,
            alt="Share of the samples near a mode, with the exact score and with the network",
        )
with stage.foot:
    if now.source == "network":
        ui.machine(now.model, film=film, lit=["xt", *["net"] * (film.count - 1)], says=lens.numbers(run))
    film.bar(captions=lens.captions(run), equations=lens.equations(run, model.schedule))
solver, network = lens.data() - shares["exact"], shares["exact"] - shares["network"]
stage.metrics(
    {
        "Missed by the solver": f"{solver:.3f}",
        "Missed by the network": f"{network:.3f}",
    }
)
with stage.below:
    ui.notice(
        f"Of the data {lens.data():.3f} lie within {eight.NEAR} sd of a mode (dashed). With the exact score "
        f"this sampler reaches {shares['exact']:.3f}: the rest is the solver's error. The network reaches "
        f"{shares['network']:.3f} on top of the same solver. With η = 0 the paths are those of an ODE; here "
        f"the median path is {lens.turns(run):.2f} times as long as its straight line. " + SAID
    )
    ui.check(
        "What costs more here, the solver or the network?",
        ["solver", "network"],
        "solver" if solver > network else "network",
        f"The solver misses {solver:.3f}, the network {network:.3f} more.",
        wrong={
            "solver": "With the exact score the same steps miss less: what is lost beyond is the network's.",
            "network": "Its score is off, but with these steps even the exact score misses more than that.",
        },
        veils=("arrived", "numbers"),
    )
    ui.program(
        f"""
        from lab import weights
        from lab.lenses.precision import double
        from pages.diffusion.reverse import lens

        model = double(weights.load({now.model!r}))
        trajectories = lens.both(model, {now.sampler!r}, {now.S}, {now.noise}, {now.seed})
        result = [float(trajectories[name].share[-1]) for name in ("exact", "network")]
        """,
        shows=[shares["exact"], shares["network"]],
    )
    ui.source(samplers.ddim, samplers.heun, samplers.dpm_solver, langevin.predictor_corrector, lens.ride,
              references=ROOM.references)  # fmt: skip
