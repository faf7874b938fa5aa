"""Depth, skips and shattered gradients: random networks, paths of a residual one, trainings by depth."""

from typing import Any

from lab import ui
from lab.errors import UserError
from modules.convolution import residual
from modules.convolution.residual_mlp import ResidualMLP
from pages.convolution.depth import figures, lens, training, unravelled, words
from pages.convolution.depth.room import ERRORS, LINEAR, LOOKS, PATHS, ROOM, SHATTERED

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)

if now.view == SHATTERED:
    one = ui.compute(lens.shattered, now)
    film = ui.film_of(now, len(lens.DRAWS))
    f = film.at
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(
                figures.functions(one), key="functions", share=1.0, film=film,
                alt="Output y and gradient ∂y/∂x of random networks over the input x, one column a depth",
                data={"x": one.x} | {f"dy/dx, {d} layers": one.g[c, f] for c, d in enumerate(one.depths)},
            )  # fmt: skip
        with right:
            ui.figure(
                figures.correlations(one), key="correlations", share=1.0, film=film,
                alt="Autocorrelation of the gradient over the lag: mean of 12 draws thick, one draw dotted",
                data={"lag": range(lens.LAGS + 1)}
                | {f"{d} layers": one.mean[c] for c, d in enumerate(one.depths)},
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=lens.captions(one), equations=lens.equations(one))
    with stage.below:
        ui.notice(lens.about(one, now.norm, now.skip, now.bias))
        near = one.mean[-1, 1]
        deepest = lens.layers(one.depths[-1])
        ui.check(
            f"{deepest}: how much do the gradients at neighbouring points have in common, on average?",
            lens.OPTIONS, lens.answer(near),
            f"ρ(1) is {lens.number(near)}, the mean of {len(lens.DRAWS)} draws.",
            wrong=lens.REASONS, veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            from pages.convolution.depth import lens

            one = lens.shattered(lens.depths({now.depths!r}), {now.width}, {now.gain}, {now.bias},
                {now.norm!r}, {now.skip!r}, {now.seed})
            result = one.rho[:, {f}, 1]
            """,
            shows=one.rho[:, f, 1],
        )
        ui.source(lens.curve, lens.autocorrelation, lens.network, references=ROOM.references)
elif now.view == PATHS:
    scalar = now.network == LINEAR
    pair = None if scalar else ui.compute(unravelled.fitted, now)
    deleted = unravelled.numbers(now.deleted)
    try:
        if pair is None:
            two = unravelled.linear_paths(unravelled.gains(now.a), deleted)
        else:
            two = unravelled.trained_paths(pair, deleted)
    except UserError as error:
        ui.stop(str(error))
    K = two.through.shape[1]
    film = ui.film_of(now, len(two.added) + 1, values=range(len(two.added) + 1))

    def pressed(x: int, y: int) -> dict[str, Any]:
        """Deletes the block of a column, or puts it back."""
        return ui.moved(now, deleted=unravelled.toggled(deleted, x), path=None) if 1 <= x <= K else {}

    table: Any = None
    with stage.picture:
        left, right = ui.columns([3, 2])
        with left:
            ui.button_figure(
                figures.ways(two), key="ways", share=1.0, on_press=pressed, film=film,
                alt=f"{2**K} paths from x to y through or past {K} blocks; click a block to delete it",
            )  # fmt: skip
        with right:
            if pair is not None and now.chart == ERRORS:
                names, wrong = unravelled.deletions(pair, deleted)
                ui.figure(
                    figures.losses(names, wrong), key="errors", share=1.0,
                    alt="Test error of a residual and a plain network without each of their blocks",
                    data={"deleted": names, "residual": wrong[0], "plain": wrong[1]},
                )  # fmt: skip
            else:
                ui.figure(
                    figures.sums(two), key="sums", share=1.0, film=film,
                    alt="Derivative as a sum of paths, by the number of branches on them",
                )  # fmt: skip
    with stage.foot:
        film.bar(captions=words.captions(two), equations=words.equations(two, scalar))
    with stage.below:
        ui.notice(words.about(two, scalar))
        ui.check(
            f"{K} blocks, one is deleted. How many of the {2**K} paths are left?",
            sorted({2 ** (K - 1), 2**K - 1, 2**K}), 2 ** (K - 1),
            "Each block is on half of the paths: for each path past it there is one through it.",
            wrong={2**K: "Those through the block are cut."}
            | ({2**K - 1: "More than one path goes through the block."} if K > 1 else {}),
            veils=("picture", "equation"),
        )  # fmt: skip
        made = (
            f"one = unravelled.linear_paths(unravelled.gains({now.a!r}), {deleted})"
            if scalar
            else f"pair = unravelled.fitted({now.blocks}, {now.steps}, {now.seed})\n"
            f"            one = unravelled.trained_paths(pair, {deleted})"
        )
        ui.program(
            f"""
            from pages.convolution.depth import unravelled

            {made}
            result = one.terms
            """,
            shows=two.terms,
        )
        ui.source(unravelled.terms, unravelled.paths, unravelled.errors, references=ROOM.references)
else:
    three = ui.compute(training.trained, now, says="errors by depth", label="Train")
    if three is not None:
        film = ui.film_of(now, len(LOOKS))
        f = film.at
        with stage.picture:
            left, right = ui.columns(2)
            with left:
                ui.figure(
                    figures.by_depth(three), key="depths", share=1.0, film=film,
                    alt="Error on training and test data over the number of layers",
                    data={"layers": three.depths, "training": three.train[:, f], "test": three.test[:, f]},
                )  # fmt: skip
            with right:
                ui.figure(
                    figures.by_layer(three), key="layers", share=1.0, film=film,
                    alt="Norm of the gradient in the weights of each layer, a line for each depth",
                )  # fmt: skip
        with stage.foot:
            film.bar(captions=training.captions(three), equations=training.equations(three))
        with stage.below:
            ui.notice(training.ABOUT)
            ui.check(
                "A deeper plain network has a larger test error. Which error says that it is no overfitting?",
                ["the training error", "the validation error", "none"], "the training error",
                "Overfitting lowers the training error; here it is larger, too.",
                wrong={"the validation error": "It is large in both cases.",
                       "none": "Overfitting would be seen in one of the errors: it would be small."},
                veils=(),
            )  # fmt: skip
            ui.program(
                f"""
                from pages.convolution.depth import lens, training

                *_, (_, one) = training.trained(lens.depths({now.depths!r}), {now.kind!r}, {now.seed})
                result = one.train[:, {f}]
                """,
                shows=three.train[:, f],
            )
            ui.source(
                ResidualMLP, residual.dense_block, training.gradients, references=ROOM.references
            )  # fmt: skip
