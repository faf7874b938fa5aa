"""BatchNorm and its relatives: a batch by hand, training and test, which numbers share statistics."""

from typing import Any

from lab import ui
from lab.errors import UserError
from modules.convolution import normalization
from pages.convolution.normalization import by_hand, cube, figures, graphs, testing, words
from pages.convolution.normalization.room import BY_HAND, MOVES, ROOM, STEPS, TEST

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)

if now.view == BY_HAND:
    z, g = by_hand.batch(now.given), by_hand.gradients(now.above)
    try:
        graph = by_hand.worked(z, g, now.c, now.gamma, now.delta, now.form, now.power)
    except UserError as error:
        ui.stop(str(error))
    film = ui.film_of(now, len(MOVES), names=[" ".join(map(str, graphs.at_move(m)[:1])) for m in MOVES])
    with stage.picture:
        left, right = ui.columns([4, 1])
        with left:
            ui.figure(
                graphs.nodes(graph), key="nodes", share=1.0, film=film,
                alt="Seven nodes of batch normalisation, each with its value and its gradient",
                data={"before": graph.before, "after": graph.after, "gradient": graph.slope},
            )  # fmt: skip
        with right:
            ui.figure(
                graphs.before_after(graph), key="before", share=1.0,
                alt="Each number of the batch before and after",
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=words.hand_captions(graph), equations=words.hand_equations(graph, now.form))
    with stage.below:
        ui.notice(words.hand_about(graph, now.c))
        ui.check(
            "All weights before the norm are doubled. What becomes of the gradient in them?",
            ["doubled", "the same", "halved"], "halved",
            "The output stays, so that a step of the same length turns weights twice as long half as far.",
            wrong={"doubled": "The norm divides by a deviation that is doubled, too.",
                   "the same": "The output is; the gradient is divided by the deviation."},
            veils=(),
        )  # fmt: skip
        ui.program(
            f"""
            from pages.convolution.normalization import by_hand

            how = {(z, g, now.c, now.gamma, now.delta, now.form, now.power)!r}
            one = by_hand.worked(*how)
            result = [*one.after, *one.slope]
            """,
            shows=[*graph.after, *graph.slope],
        )
        ui.source(
            by_hand.backwards, normalization.normalize, normalization.batch_norm_backward,
            references=ROOM.references,
        )  # fmt: skip
elif now.view == TEST:
    three = ui.compute(testing.tested, now)
    film = ui.film_of(now, len(STEPS))
    with stage.picture:
        left, right = ui.columns([3, 2])
        with left:
            ui.figure(
                figures.outputs(three), key="outputs", share=1.0, film=film,
                alt="Output of one example in training batches, and at the test",
                data={"batch": STEPS, "training": three.training, "test": three.running},
            )  # fmt: skip
        with right:
            ui.figure(
                figures.variances(three), key="variances", share=1.0, film=film,
                alt="Running averages of the variance with 1/(B − 1) and 1/B, and that of the whole set",
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=words.test_captions(three), equations=words.test_equations(three, now.size))
    with stage.below:
        mates = testing.spread(by_hand.batch(now.given), now.example, now.size)
        ui.notice(words.test_about(three, now.size, mates))
        ui.check(
            "At the test, batch mates are exchanged. What happens to the output of the example?",
            ["It stays.", "It changes."], "It stays.",
            "Mean and variance are frozen: no other example takes part.",
            wrong={"It changes.": "That is so in training, where the batch gives mean and variance."},
            veils=(),
        )  # fmt: skip
        ui.program(
            f"""
            from pages.convolution.normalization import by_hand, testing

            z = by_hand.batch({now.given!r})
            one = testing.tested(z, {now.size}, {now.momentum}, {now.example}, {now.seed})
            result = one.running
            """,
            shows=three.running,
        )
        ui.source(
            normalization.freeze_statistics, normalization.batch_norm, testing.tested,
            references=ROOM.references,
        )  # fmt: skip
else:
    four = ui.compute(cube.cube, now)
    film = ui.film_of(now, four.count, values=range(1, four.count + 1))

    def pressed(x: int, y: int) -> dict[str, Any]:
        """The set of the cell that is clicked."""
        number = figures.pressed(four, x, y)
        return {} if number is None else ui.moved(now, part=number)

    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.button_figure(
                figures.cube(four), key="cube", share=1.0, on_press=pressed, film=film,
                alt="Numbers of each example by channel and position, those of one set lit; click a cell",
            )  # fmt: skip
        with right:
            ui.figure(
                figures.identities(four), key="identities", share=1.0,
                alt="Largest difference between the outputs of all norms; an equals sign where there is none",
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=words.cube_captions(four), equations=words.cube_equations(four))
    with stage.below:
        ui.notice(words.cube_about(four))
        count = four.count
        ui.check(
            "How many means does this norm compute?", sorted({1, count, 2 * count}), count,
            "One for each set of cells: play the film.",
            wrong={1: "Not all cells are lit at once.", 2 * count: "A set has one mean and one variance."},
            veils=("equation",),
        )  # fmt: skip
        ui.program(
            f"""
            from pages.convolution.normalization import cube

            how = {(now.norm, now.examples, now.positions, now.groups, now.ghost, now.seed)!r}
            result = cube.cube(*how).y
            """,
            shows=four.y,
        )
        ui.source(normalization.group_norm, normalization.layer_norm, normalization.ghost_norm,
                  references=ROOM.references)  # fmt: skip
