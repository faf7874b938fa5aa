"""Flow matching: velocities of straight lines, why paths bend, and what a reflow mends."""

from lab import ui
from lab.figures.trails import clouds
from lab.lenses.diffusion import SAID
from lab.lenses.eight import NEAR, REACH, SD, TRAILS
from modules.diffusion import exact, flow_matching
from pages.diffusion.flow_matching import figures, lens
from pages.diffusion.flow_matching.room import BATCHES, EXACT, FLOW, MOMENTS, ROOM, STEPS

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
film = ui.film_of(now, len(MOMENTS))


def draw_flow() -> None:
    """A cloud on its way."""
    run, (result, straight) = ui.compute(lens.followed, now), ui.compute(lens.measured, now)
    floor = ui.compute(lens.floor, now)
    mine = result[now.flow]
    distance = dict(zip(STEPS, mine, strict=True))[now.N]
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(
                clouds(run.cloud, TRAILS, exact.eight().means, NEAR * SD, REACH), key="cloud", share=1.0,
                film=film, alt="The cloud on its way from noise to data, with the paths of some points",
            )  # fmt: skip
        with right:
            ui.figure(
                figures.against_steps(result, STEPS, now.N, floor),
                key="steps",
                share=1.0,
                alt="Energy distance from the data against the number of Euler steps",
            )
    with stage.foot:
        if now.flow != EXACT:
            lit = ["xt", *[["net", "said", "next"]] * (film.count - 1)]
            ui.machine(now.flow_model, film=film, lit=lit, says=lens.numbers(now.N))
        film.bar(captions=lens.captions(run, now.N), equations=lens.equations(run, now.N))
    if now.flow == EXACT:
        stage.metrics({"Energy distance": f"{distance:.4f}", "By chance alone": f"{floor:.4f}"})
    best = max(mine[-1], floor)
    with stage.below:
        ui.notice(
            f"The energy distance from the data is {distance:.4f}, by chance alone {floor:.4f}; paths are "
            f"{run.bends:.3f} times as long as straight lines, and ∫ ‖pair − v‖² is "
            f"{straight[now.flow]:.4f}. "
            "Each training example is a line from a random point of noise to a random point of data; where "
            "lines cross, the best velocity is their mean. So one step from noise goes to the mean of all "
            "data, and paths bend. A reflow trains on the flow's own pairs, whose lines cross less; those "
            "of the best pairs of a batch cross less from the start. Time runs from 0, noise, to 1, data: "
            "the other way round than in diffusion. Distances far below chance are drawn at a tenth of it. "
            + SAID
        )
        ui.check(
            "How few steps come within twice the distance that fifty steps of this velocity have?",
            lens.OPTIONS,
            lens.enough(mine, best),
            "Distances: " + ", ".join(f"{d:.4f} at N = {n}" for n, d in zip(STEPS, mine, strict=True)) + ".",
            wrong=(
                "One step follows the first velocity all the way: that is right only for straight paths.",
                "Two pieces are too many for a straight path and too few for one that bends much.",
                "Four pieces are more than nearly straight paths need, and too few for paths that bend.",
                "Not the number of steps but the bend decides: reflow makes paths nearly straight.",
            ),
            veils=("steps", "numbers"),
        )
        ui.program(
            f"""
            from lab import weights
            from lab.lenses.precision import double
            from pages.diffusion.flow_matching import lens
            model = double(weights.load({now.flow_model!r}))
            run = lens.ride(model, {now.flow!r}, {now.N}, {now.seed})
            straight = lens.straightness(model, {now.flow!r}, {now.seed})
            result = [*lens.distances(model, {now.flow!r}, {now.seed}), run.bends, straight]
            """,
            shows=[*mine, run.bends, straight[now.flow]],
        )
        ui.source(
            flow_matching.FlowMatching,
            flow_matching.follow,
            flow_matching.exact_velocity,
            references=ROOM.references,
        )


def draw_pairs() -> None:
    """The lines that a velocity is learned from."""
    result = ui.compute(lens.drawn, now)
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(
                clouds(result.lines[now.pairs], now.batch, exact.eight().means, NEAR * SD, REACH),
                    key="cloud",
                share=1.0, film=film, alt="The lines of a batch from noise to data",
            )  # fmt: skip
        with right:
            ui.figure(
                figures.against_batch(result.crossed, BATCHES, now.batch),
                key="crossed",
                share=1.0,
                alt="Share of pairs of lines that cross, against the batch",
            )
    with stage.foot:
        film.bar(
            captions=lens.pair_captions(result, now.pairs, now.batch),
            equations=lens.pair_equations(result, now.pairs),
        )
    i = BATCHES.index(now.batch)
    share = result.crossed[now.pairs][i]
    with stage.below:
        ui.notice(f"{lens.pair_notice(result, now.batch)} {SAID}")
        ui.check(
            "What share of all pairs of these lines cross?",
            lens.CROSSED,
            lens.how_many(share),
            f"{share:.1%}.",
            wrong=(
                "Lines of pairs at random cross often: nothing keeps them apart.",
                "The pairing decides: at random many cross, by the best assignment hardly any within a "
                "batch.",
                "Pairs of a best assignment do not cross within their batch: only those of different "
                "batches do.",
            ),
            veils=("crossed", "equation"),
        )
        ui.program(
            f"""
            from lab import weights
            from pages.diffusion.flow_matching import lens
            pairs = lens.pairs({now.batch}, weights.load({now.model!r}).scale, {now.seed})
            result = [pairs.crossed[{now.pairs!r}][{i}], pairs.length[{now.pairs!r}][{i}]]
            """,
            shows=[share, result.length[now.pairs][i]],
        )
        ui.source(flow_matching.optimal_pairs, lens.crossing, references=ROOM.references)


if now.view == FLOW:
    draw_flow()
else:
    draw_pairs()
