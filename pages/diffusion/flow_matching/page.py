"""Flow matching: velocities of straight lines, why paths bend, and what a reflow mends."""

from lab import ui
from lab.figures.trails import clouds
from lab.lenses.diffusion import SAID
from lab.lenses.eight import NEAR, REACH, SD, TRAILS
from lab.lenses.precision import double
from modules.diffusion import exact, flow_matching
from pages.diffusion.flow_matching import figures, lens
from pages.diffusion.flow_matching.room import ROOM

MODEL = lens.MODEL
VIEWS = ["Flow", "Pairs"]

stage = ui.stage(ROOM)
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
        "Lines cross": ui.scene("Paired at random, as in training: two lines cross over one time in four.",
                                view=VIEWS[1]),
        "Best pairs": ui.scene("The same points, paired by the best assignment: next to none cross.",
                               view=VIEWS[1], pairs=lens.COUPLINGS[1]),
        "Trained on them": ui.scene("Trained on the best pairs of each batch: one step does what took eight.",
                                    flow="best pairs", N=1),
    }
)  # fmt: skip


@ui.cached
def run_of(flow: lens.Flow, steps: int, seed: int) -> lens.Ride:
    return lens.ride(double(ui.load(lens.model_of(flow))), flow, steps, seed)


@ui.cached
def measured(flow: lens.Flow, seed: int) -> tuple[list[float], float]:
    """Distances against steps, and straightness."""
    model = double(ui.load(lens.model_of(flow)))
    return lens.distances(model, flow, seed), lens.straightness(model, flow, seed)


@ui.cached
def floor_of(seed: int) -> float:
    return lens.floor(seed)


@ui.cached
def paired(n: int, seed: int) -> lens.Pairs:
    return lens.pairs(n, ui.load(MODEL).scale, seed)


def draw_flow() -> None:
    """A cloud on its way."""
    with stage.rail:
        flow = ui.choice("Velocity", lens.FLOWS, key="flow")
        steps = ui.choice("Euler steps N", lens.STEPS, key="N", default=8)
        seed = ui.number("Seed", 0, 9999, 0, key="seed")
    run = run_of(flow, steps, seed)
    found: dict[str, list[float]] = {each: measured(each, seed)[0] for each in lens.FLOWS}
    straight: dict[str, float] = {each: measured(each, seed)[1] for each in lens.FLOWS}
    floor = floor_of(seed)
    ui.ahead(run_of, *((each, steps, seed) for each in lens.FLOWS if each != flow),
             *((flow, each, seed) for each in lens.STEPS if each != steps))  # fmt: skip
    ui.ahead(measured, *((each, min(9999, seed + 1)) for each in lens.FLOWS))
    distance = dict(zip(lens.STEPS, found[flow], strict=True))[steps]
    film = ui.film(len(lens.MOMENTS), key="t", values=lens.MOMENTS, default=1.0, label="Time t", seconds=0.08)
    with stage.picture:
        left, right = ui.columns([3, 2])
        with left:
            fig = clouds(run.cloud, TRAILS, exact.eight().means, NEAR * SD, REACH)
            ui.figure(fig, alt="The cloud on its way from noise to data, with the paths of some points",
                      key="cloud", share=1.0, film=film)  # fmt: skip
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
    best = max(found[flow][-1], floor)
    with stage.below:
        ui.notice(
            "Each training example is a line from a random point of noise to a random point of data; where "
            "lines cross, the best velocity is their mean. So one step from noise goes to the mean of all "
            "data, and paths bend. A reflow trains on the flow's own pairs, whose lines cross less; those "
            "of the best pairs of a batch cross less from the start. Time runs from 0, noise, to 1, data: "
            "the other way round than in diffusion. Distances far below chance are drawn at a tenth of it. "
            + SAID
        )
        ui.check(
            "How few steps come within twice the distance that fifty steps of this velocity have?",
            lens.OPTIONS, lens.enough(found[flow], best),
            "Distances: "
            + ", ".join(f"{d:.4f} at N = {n}" for n, d in zip(lens.STEPS, found[flow], strict=True)) + ".",
            wrong=(
                "One step follows the first velocity all the way: that is right only for straight paths.",
                "Two pieces are too many for a straight path and too few for one that bends much.",
                "Four pieces are more than nearly straight paths need, and too few for paths that bend.",
                "Not the number of steps but the bend decides: reflow makes paths nearly straight.",
            ),
            veils=("steps", "numbers"),
        )  # fmt: skip
        ui.program(
            f"""
            from lab import weights
            from lab.lenses.precision import double
            from pages.diffusion.flow_matching import lens
            model = double(weights.load({lens.model_of(flow)!r}))
            run = lens.ride(model, {flow!r}, {steps}, {seed})
            straight = lens.straightness(model, {flow!r}, {seed})
            result = [*lens.distances(model, {flow!r}, {seed}), run.bends, straight]
            """,
            shows=[*found[flow], run.bends, straight[flow]],
        )
        ui.source(
            flow_matching.FlowMatching,
            flow_matching.follow,
            flow_matching.exact_velocity,
            references=ROOM.references,
        )


def draw_pairs() -> None:
    """The lines that a velocity is learned from."""
    with stage.rail:
        name = ui.choice("Pairs", lens.COUPLINGS, key="pairs", as_list=True)
        n = ui.choice("Batch", lens.BATCHES, key="batch", default=64, as_list=True)
        seed = ui.number("Seed", 0, 9999, 0, key="seed")
    found = paired(n, seed)
    film = ui.film(len(lens.MOMENTS), key="t", values=lens.MOMENTS, default=1.0, label="Time t", seconds=0.08)
    with stage.picture:
        left, right = ui.columns([3, 2])
        with left:
            fig = clouds(found.lines[name], n, exact.eight().means, NEAR * SD, REACH)
            ui.figure(fig, alt="The lines of a batch from noise to data", key="cloud", share=1.0, film=film)
        with right:
            ui.figure(
                figures.against_batch(found.crossed, lens.BATCHES, n), key="crossed", share=1.0,
                alt="Share of pairs of lines that cross, against the batch",
                data={"pairs": lens.BATCHES} | found.crossed,
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=lens.pair_captions(found, name, n), equations=lens.pair_equations(found, name))
    i = lens.BATCHES.index(n)
    share = found.crossed[name][i]
    with stage.below:
        ui.notice(f"{lens.pair_notice(found, n)} {SAID}")
        ui.check(
            "What share of all pairs of these lines cross?", lens.CROSSED, lens.how_many(share),
            f"{share:.1%}.",
            wrong=(
                "Lines of pairs at random cross often: nothing keeps them apart.",
                "The pairing decides: at random many cross, by the best assignment hardly any within a "
                "batch.",
                "Pairs of a best assignment do not cross within their batch: only those of different "
                "batches do.",
            ),
            veils=("crossed", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            from lab import weights
            from pages.diffusion.flow_matching import lens
            found = lens.pairs({n}, weights.load({MODEL!r}).scale, {seed})
            result = [found.crossed[{name!r}][{i}], found.length[{name!r}][{i}]]
            """,
            shows=[share, found.length[name][i]],
        )
        ui.source(flow_matching.optimal_pairs, lens.crossing, references=ROOM.references)


with stage.rail:
    view = ui.choice("Show", VIEWS, key="view")
if view == VIEWS[0]:
    draw_flow()
else:
    draw_pairs()
