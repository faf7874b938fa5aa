"""Reverse: a cloud of noise becomes eight Gaussians, with the exact score and with a network."""

from lab import ui
from lab.figures.trails import clouds
from lab.lenses import eight
from lab.lenses.diffusion import SAID
from lab.lenses.precision import double
from modules.diffusion import exact, langevin, samplers
from pages.diffusion.reverse import figures, lens
from pages.diffusion.reverse.room import ROOM

MODEL = "ddpm-eight"

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Network": ui.scene("The trained network takes nearly every point to one of the eight circles."),
        "Exact": ui.scene("With the exact score what is missed is the solver's alone.", source="exact"),
        "Five steps": ui.scene("In five steps even the exact score misses: the solver is at fault.",
                               source="exact", S=5),
        "Noisy": ui.scene("With η = 1 paths jitter, and the end is as good.", eta=1.0, S=100),
        "Heun": ui.scene("Heun asks twice a step: after 40 steps more points are home than with DDIM.",
                         sampler="Heun"),
        "Corrected": ui.scene("Ten noisy hops, each mended by a Langevin step: more come home than without.",
                              sampler="corrected", S=10),
        "Half-way": ui.scene("Half-way the cloud is still nearly round: shape comes late.", step=20),
    }
)  # fmt: skip


@ui.cached
def rides(sampler: str, steps: int, eta: float, seed: int) -> dict[str, lens.Run]:
    return lens.both(double(ui.load(MODEL)), sampler, steps, eta, seed)


with stage.rail:
    source = ui.choice("Denoiser", ["network", "exact"], key="source")
    sampler = ui.choice("Sampler", lens.SAMPLERS, key="sampler")
    steps = ui.choice("Steps S", [5, 10, 40, 100], key="S", default=40)
    eta = ui.slider("Noise η", 0.0, 1.0, 0.0, key="eta", step=0.25, disabled=sampler != "DDIM")
    seed = ui.number("Seed", 0, 9999, 0, key="seed")
eta = eta if sampler == "DDIM" else 0.0
found = rides(sampler, steps, eta, seed)
if sampler == "DDIM":
    ui.ahead(rides, *((sampler, steps, each, seed) for each in ui.near(eta, 0.0, 1.0, 0.25)))
ui.ahead(rides, *((sampler, each, eta, seed) for each in (5, 10, 40) if each != steps))
run, model = found[source], ui.load(MODEL)
count = len(run.times)
film = ui.film(count, key="step", values=range(count), default=count - 1, label="Step", seconds=0.15)
fig, moves = clouds(run.cloud, eight.TRAILS, exact.eight().means, eight.NEAR * eight.SD, eight.REACH, film.at)
shares = {name: float(each.share[-1]) for name, each in found.items()}

with stage.picture:
    left, right = ui.columns([3, 2])
    with left:
        ui.figure(fig, alt="The cloud on its way, with the paths of some points", key="cloud", share=1.0,
                  film=film, frames=moves)  # fmt: skip
    with right:
        ui.figure(
            figures.arrived(list(shares), list(shares.values()), lens.data()), key="arrived", share=1.0,
            alt="Share of the samples near a mode, with the exact score and with the network",
            data={"denoiser": list(shares), "share": list(shares.values())},
        )  # fmt: skip
with stage.foot:
    film.bar(captions=lens.captions(run), equations=lens.equations(run, model.schedule))
solver, network = lens.data() - shares["exact"], shares["exact"] - shares["network"]
stage.metrics(
    {
        "Calls of the denoiser": str(run.calls),
        "Missed by the solver": f"{solver:.3f}",
        "Missed by the network": f"{network:.3f}",
        "Path / straight line": f"{lens.turns(run):.2f}",
    }
)
with stage.below:
    ui.notice(
        f"Of the data {lens.data():.3f} lie within {eight.NEAR} sd of a mode (dashed). With the exact score "
        f"this sampler reaches {shares['exact']:.3f}: the rest is the solver's error. The network reaches "
        f"{shares['network']:.3f} on top of the same solver. With η = 0 the paths are those of an ODE. "
        + SAID
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

        model = double(weights.load({MODEL!r}))
        found = lens.both(model, {sampler!r}, {steps}, {eta if sampler == "DDIM" else 0.0}, {seed})
        result = [float(found[name].share[-1]) for name in ("exact", "network")]
        """,
        shows=[shares["exact"], shares["network"]],
    )
    ui.source(
        samplers.ddim,
        samplers.heun,
        samplers.dpm_solver,
        langevin.predictor_corrector,
        lens.ride,
        references=ROOM.references,
    )
