"""CNN against MLP on MNIST-1D: trained on the same batches, asked about moved curves, as matrices."""

from datamodules.mnist1d import MNIST1D
from lab import ui
from modules.convolution.cnn1d import CNN1d
from modules.convolution.mlp import MLP, as_linear
from pages.convolution.mnist1d import figures, lens, words
from pages.convolution.mnist1d.room import CURVE, OWN, ROOM, SHIFTS, TRAIN

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
own = f"drawing.pixels({now.curve!r}, 40)" if now.signal == OWN else None

if now.view == TRAIN:
    looks = ui.compute(lens.trained, now, says="the training of both networks", label="Train")
    if looks is not None:
        film = ui.film_of(now, len(looks), names=[f"{look.step:,}" for look in looks])
        captions = words.course_captions(looks)
        with stage.picture:
            left, right = ui.columns([2, 1])
            with left:
                ui.figure(
                    figures.errors(looks, now.steps), key="errors", share=1.0, film=film,
                    alt="Error of both networks on training and on test curves, over the steps",
                    data={"step": [look.step for look in looks]}
                    | {f"{name}, {split}": [float(look.errors[n, k]) for look in looks]
                       for n, name in enumerate(lens.NAMES) for k, split in enumerate(("training", "test"))},
                )  # fmt: skip
            with right:
                if now.chart == CURVE:
                    p = lens.classified(looks, now.curve_read)
                    captions = words.class_captions(looks, p)
                    ui.figure(figures.curve(now.curve_read), key="curve", share=0.35,
                              alt="The curve that both networks classify")  # fmt: skip
                    ui.figure(
                        figures.classes(p), key="classes", share=0.65, film=film,
                        alt="Probabilities of the ten classes for the curve, by both networks",
                        data={"class": range(10), "CNN": p[0, film.at], "MLP": p[1, film.at]},
                    )  # fmt: skip
                else:
                    ui.figure(
                        figures.kernels(looks), key="kernels", share=1.0, film=film,
                        alt="The fifteen kernels of the CNN's first layer, three weights each",
                    )  # fmt: skip
        with stage.foot:
            film.bar(captions=captions, equations=words.course_equations(looks))
        with stage.below:
            ui.notice(words.of_the_text(lens.of_the_text()))
            ui.check(
                "Both fit the training curves. What does shuffling tell about the CNN's lead?",
                ["it comes from neighbourhood", "it comes from fewer weights", "it comes from more steps"],
                "it comes from neighbourhood",
                "Shuffling keeps weights and steps and takes neighbours apart: the lead is gone.",
                wrong={"it comes from fewer weights": "The shuffled CNN has as few, and no lead.",
                       "it comes from more steps": "Both take the same steps on the same batches."},
                veils=(),
            )  # fmt: skip
            ui.program(
                f"""
                from pages.convolution.mnist1d import lens

                *_, (share, looks) = lens.trained(
                    {now.order!r}, {now.examples}, {now.steps}, {now.optimizer!r}, {now.rate}, {now.batch},
                    {now.start!r}, {now.seed},
                )
                result = looks[{film.at}].errors
                """,
                shows=looks[film.at].errors,
            )
            ui.source(CNN1d, MLP, MNIST1D, lens.trained, references=ROOM.references)
elif now.view == SHIFTS:
    one = ui.compute(lens.moved, now)
    names = [now.model.partition("/")[0], now.other.partition("/")[0]]
    film = ui.film_of(now, one.x.shape[0])
    told = one.told[0]
    with stage.picture:
        left, right = ui.columns([1, 1])
        with left:
            ui.figure(figures.shifted(one), key="curve", share=0.35, film=film,
                      alt="The curve, moved by the frame's shift")  # fmt: skip
            ui.figure(
                figures.by_shift(one, names, told), key="shifts", share=0.65, film=film,
                alt=f"Probability of class {told} by both networks, over the shift of the curve",
                data={"shift": range(-lens.REACH, lens.REACH + 1)}
                | {name: one.p[n, :, told] for n, name in enumerate(names)},
            )  # fmt: skip
        with right:
            ui.figure(figures.maps(one), key="maps", share=1.0, film=film,
                      alt="Feature maps of the CNN, a row a channel, of the moved curve")  # fmt: skip
    with stage.foot:
        film.bar(captions=words.shift_captions(one, names), equations=words.shift_equations(one, told))
    with stage.below:
        ui.notice(
            "A curve that leaves on the right comes in on the left, as where the data are made. Maps of a "
            "convolution move with their input, by half a position a layer where the stride is 2; the dense "
            "layer at the end sees them move and must learn each place."
        )
        ui.check(
            "By how many positions must a curve move so that the maps of layer 3 move by one?",
            ["1", "3", "8"], "8", "Three strides of 2 make 8.",
            wrong={"1": "That is so with stride 1 alone.", "3": "Strides multiply, they do not add up."},
            veils=(),
        )  # fmt: skip
        ui.program(
            f"""
        from lab import experiments, weights
        from lab.ui.controls import drawing
        from pages.convolution.mnist1d import lens

        cnn, other = (weights.load(experiments.find(name).weights) for name in {names!r})
        one = lens.moved(cnn, other, lens.read({now.signal!r}, {own}))
        result = one.p[:, {film.at}, {told}]
            """,
            shows=one.p[:, film.at, told],
        )
        ui.source(CNN1d, lens.moved, references=ROOM.references)
else:
    layers = ui.compute(lens.written, now)
    film = ui.film_of(now, len(layers), names=[str(k) for k in range(1, len(layers) + 1)])
    with stage.picture:
        ui.figure(
            figures.matrices(layers), key="matrices", share=1.0, film=film,
            alt="Every layer of the CNN as the matrix of a dense layer, all to one scale",
        )  # fmt: skip
    with stage.foot:
        film.bar(captions=words.layer_captions(layers), equations=words.layer_equations(layers))
    with stage.below:
        ui.notice(words.counted(layers))
        first = layers[0]
        ui.check(
            "Layer 1 has 15 kernels of 3 weights and 15 biases. Why has its matrix 285 rows?",
            ["15 channels × 19 positions", "15 × 3 + 240", "40 × 7 + 5"], "15 channels × 19 positions",
            "Each channel writes (40 − 3)/2 + 1, rounded down, 19 outputs, and each output has its row.",
            wrong={"15 × 3 + 240": "Weights are not rows: a row is an output.",
                   "40 × 7 + 5": "40 is the number of columns, the inputs."},
            veils=(),
        )  # fmt: skip
        ui.program(
            f"""
        from lab import experiments, weights
        from pages.convolution.mnist1d import lens

        cnn = weights.load(experiments.find({now.model.partition("/")[0]!r}).weights)
        result = [layer.different for layer in lens.written(cnn)]
            """,
            shows=[layer.different for layer in layers],
        )
        ui.source(as_linear, MLP, references=ROOM.references)
