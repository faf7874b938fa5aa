"""Flow matching: velocities of straight lines, why paths bend, and what a reflow mends."""

from lab import ui
from lab.lenses.diffusion import BEYOND, SAID
from modules.diffusion import exact, flow_matching
from pages.diffusion.flow_matching import figures, lens
from pages.diffusion.reverse import figures as clouds
from pages.diffusion.reverse.lens import NEAR, REACH, SD, TRAILS

REFERENCES = [
    "Lipman et al. 2023, arXiv:2210.02747; Albergo and Vanden-Eijnden 2023, arXiv:2209.15571",
    "Liu et al. 2023, Rectified flow, arXiv:2209.03003",
    BEYOND,
]
MODEL = "reflow-eight"

stage = ui.stage("Flow matching", "Learn the velocity of straight lines from noise to data, and follow it.",
                 lenses=("sampling",))  # fmt: skip
stage.scenes(
    {
        "Followed": ui.scene("Play: in fifty small steps the cloud flows to the eight circles.", N=50, t=0.0),
        "One step": ui.scene("One step lands on the mean of the data, whatever the data are.", flow="exact",
                             N=1),
        "Two steps": ui.scene("Two steps of the first round: most points miss their circles.", N=2),
        "Reflow": ui.scene("Trained again on its own pairs, even one step does what took fifty.",
                           flow="after reflow", N=1),
        "Paths bend": ui.scene("Lines of pairs cross, paths cannot: they bend and share out the modes.",
                               N=50, t=0.7),
        "Straight": ui.scene("After the reflow paths are nearly lines.", flow="after reflow", N=50),
    }
)  # fmt: skip


@ui.cached
def run_of(flow: lens.Flow, steps: int, seed: int) -> lens.Ride:
    return lens.ride(lens.double(ui.load(MODEL)), flow, steps, seed)


@ui.cached
def table(seed: int) -> tuple[dict[str, list[float]], dict[str, float], float]:
    """Distances against steps and straightness of every flow, and what chance makes of the first."""
    model = lens.double(ui.load(MODEL))
    return (
        {flow: lens.distances(model, flow, seed) for flow in lens.FLOWS},
        {flow: lens.straightness(model, flow, seed) for flow in lens.FLOWS},
        lens.floor(seed),
    )


# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    flow = ui.choice("Velocity", lens.FLOWS, key="flow")
    steps = ui.choice("Euler steps N", lens.STEPS, key="N", default=8)
    seed = ui.number("Seed", 0, 9999, 0, key="seed")
run = run_of(flow, steps, seed)
found, straight, floor = table(seed)
distance = dict(zip(lens.STEPS, found[flow], strict=True))[steps]
film = ui.film(len(lens.MOMENTS), key="t", values=lens.MOMENTS, default=1.0, label="Time t", seconds=0.08)

# --- Picture ------------------------------------------------------------------------------------

with stage.picture:
    left, right = ui.columns([3, 2])
    with left:
        fig, moves = clouds.clouds(run.cloud, TRAILS, exact.eight().means, NEAR * SD, REACH, film.at)
        ui.figure(fig, alt="The cloud on its way from noise to data, with the paths of some points",
                  key="cloud", share=1.0, film=film, frames=moves)  # fmt: skip
    with right:
        ui.figure(
            figures.against_steps(found, lens.STEPS, steps, floor), key="steps", share=1.0,
            alt="Energy distance from the data against the number of Euler steps",
            data={"N": lens.STEPS} | found,
        )  # fmt: skip
with stage.foot:
    film.bar(captions=lens.captions(run, steps), equations=lens.equations(run, steps))
stage.metrics(
    {
        "Energy distance": f"{distance:.4f}",
        "Of chance alone": f"{floor:.4f}",
        "Path / straight line": f"{run.bends:.3f}",
        "∫ ‖pair − v‖²": f"{straight[flow]:.4f}",
    }
)

# --- Words --------------------------------------------------------------------------------------

best = max(found[flow][-1], floor)
with stage.below:
    ui.notice(
        "Each training example is a line from a random point of noise to a random point of data; where lines "
        "cross, the best velocity is their mean. So one step from noise goes to the mean of all data, and "
        "paths bend. A reflow trains on the flow's own pairs, whose lines cross less. Time runs from 0, "
        "noise, to 1, data: the other way round than in diffusion. Distances far below chance are drawn at a "
        "tenth of it. " + SAID
    )
    ui.check(
        "How few steps come within twice the distance that fifty steps of this velocity have?",
        lens.OPTIONS, lens.enough(found[flow], best),
        "Distances: " + ", ".join(f"{d:.4f} at N = {n}" for n, d in zip(lens.STEPS, found[flow], strict=True))
        + ".",
        veils=("steps", "numbers"),
    )  # fmt: skip
    ui.program(
        f"""
        from lab import weights
        from pages.diffusion.flow_matching import lens

        model = lens.double(weights.load({MODEL!r}))
        run = lens.ride(model, {flow!r}, {steps}, {seed})
        straight = lens.straightness(model, {flow!r}, {seed})
        result = [*lens.distances(model, {flow!r}, {seed}), run.bends, straight]
        """,
        shows=[*found[flow], run.bends, straight[flow]],
    )
    ui.source(flow_matching.FlowMatching, flow_matching.follow, flow_matching.exact_velocity,
              references=REFERENCES)  # fmt: skip
