"""Architecture zoo: networks to one scale, what they cost, dense chains, and a network of one's own."""

from typing import Any

from lab import ui
from lab.lenses import layer_graph
from modules.convolution import alexnet, counting, densenet, resnet, vgg
from pages.convolution.architectures import channels, charts, figures, nets, own, training, words
from pages.convolution.architectures.room import CHANNELS, DENSE, NONE, ROOM, SCALE, SCATTER, STACKS, VGG_19

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)

if now.view == SCALE:
    drawn = ui.compute(nets.shown, now)
    names = words.names(drawn)
    film = ui.film_of(now, len(names), names=names)

    def pressed(x: float, y: float) -> dict[str, Any]:
        """Goes to the layer that was clicked."""
        return ui.moved(now, block=figures.pressed(drawn, now.scale, x, y))

    with stage.picture:
        left, right = ui.columns([3, 1])
        with left:
            ui.button_figure(
                figures.sheet(drawn, now.scale), key="sheet", share=1.0, film=film, on_press=pressed,
                whole=False, alt=f"Layers of {' and '.join(net.name for net in drawn)} as blocks: height is "
                "the side of the grid, width the number of channels; click one for its arithmetic",
            )  # fmt: skip
        with right:
            ui.figure(
                figures.shares(drawn), key="shares", share=1.0,
                alt="Shares of convolutions, norms and dense layers in parameters and multiply-adds",
                data=words.shares_table(drawn),
            )  # fmt: skip
    with stage.foot:
        if drawn[0].misfit:
            ui.caption(drawn[0].misfit)
        film.bar(captions=words.captions(drawn), equations=words.equations(drawn))
    with stage.below:
        ui.notice(words.about(drawn))
        ui.check(
            "Which layer of AlexNet has the most parameters?",
            ["the first convolution", "the third convolution", "the first dense layer"],
            "the first dense layer",
            "It reads 6·6·256 = 9,216 values with 4,096 units: 37,752,832 parameters of 62,378,344.",
            wrong={"the first convolution": "It has large kernels on three channels: 34,944 parameters.",
                   "the third convolution": "3·3·256·384 + 384 = 885,120: a dense layer shares no weights."},
        )  # fmt: skip
        ui.table(
            words.layer_table(drawn), alt="Every layer with its output, its cost and its field", key="every"
        )
        ui.program(
            f"""
            from pages.convolution.architectures import nets

            first = nets.net_of({now.net!r}, {now.side!r}, {now.padding}, {now.window}, {now.groups})
            result = [first.parameters, first.operations]
            """,
            shows=[drawn[0].parameters, drawn[0].operations],
        )
        ui.source(
            counting.count, counting.operations_of, layer_graph.following, alexnet.AlexNet, vgg.VGG,
            resnet.ResNet, references=ROOM.references,
        )  # fmt: skip
elif now.view == SCATTER:
    every = ui.compute(nets.costs, now, says="all networks, their parameters and operations", label="Count")
    if every is not None:

        def opened(x: float, y: float) -> dict[str, Any]:
            """Opens the network that was clicked."""
            return ui.moved(now, view=SCALE, net=words.nearest(every, x, y), beside=NONE, side=None, block=0)

        with stage.picture:
            ui.button_figure(
                figures.cost(every), key="cost", share=1.0, on_press=opened, whole=False,
                alt="Multiply-adds over parameters of each network; orange where the text quotes an error",
                data=words.costs_table(every),
            )  # fmt: skip
        with stage.foot:
            ui.caption(words.QUOTES)
        with stage.below:
            ui.notice(words.COSTS)
            ui.check(
                f"{VGG_19} has three times the parameters of ResNet-101. Which needs more operations?",
                [VGG_19, "ResNet-101"], VGG_19,
                "19.6 thousand million multiply-adds against 7.8: its 3×3 layers are wide on large grids.",
                wrong={"ResNet-101": "It has more layers, but its 3×3 layers read few channels."},
            )  # fmt: skip
            ui.table(words.costs_table(every), alt="What each network costs, and quoted errors", key="costs")
            ui.program(
                """
                from pages.convolution.architectures import nets

                *_, (share, found) = nets.costs("")
                result = [net.operations for net in found]
                """,
                shows=[net.operations for net in every],
            )
            ui.source(counting.count, resnet.imagenet, densenet.densenet_121, references=ROOM.references)
elif now.view == CHANNELS:
    layers = ui.compute(channels.chained, now)
    film = ui.film_of(now, len(layers) + 1, values=range(len(layers) + 1))
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(
                figures.widths(layers), key="widths", share=1.0, film=film,
                alt="Channels that each layer reads and adds, by where they come from",
                data={"number": range(1, len(layers) + 1), "reads": [layer.reads for layer in layers],
                      "adds": [layer.adds for layer in layers]},
            )  # fmt: skip
        with right:
            ui.figure(
                figures.weights(layers), key="weights", share=1.0, film=film,
                alt="Weights of each layer, with a 1×1 convolution before the 3×3 and without",
                data={"number": range(1, len(layers) + 1), "with": [layer.squeezed for layer in layers],
                      "without": [layer.plain for layer in layers]},
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=channels.captions(layers), equations=channels.equations(layers))
    with stage.below:
        ui.notice(channels.about(layers))
        ui.check(
            "Why does a chain end where the grid is halved?",
            ["Maps of two sizes cannot be concatenated", "The gradient would vanish", "It would be too deep"],
            "Maps of two sizes cannot be concatenated",
            "Channels stand side by side at one position: the grids must be equal.",
            wrong={"The gradient would vanish": "Each output still reaches the end unchanged.",
                   "It would be too deep": f"{DENSE} has a chain of 24 layers."},
            veils=(),
        )  # fmt: skip
        ui.program(
            f"""
            from pages.convolution.architectures import channels

            chains = channels.lengths({now.chains!r})
            layers = channels.chained(chains, {now.start}, {now.growth}, {now.halved})
            result = [layer.squeezed for layer in layers]
            """,
            shows=[layer.squeezed for layer in layers],
        )
        ui.source(densenet.DenseLayer, densenet.DenseNet, channels.Layer, references=ROOM.references)
else:
    looks = ui.compute(training.trained, now, says="the training of your network", label="Train")
    if looks is not None:
        mine = ui.compute(training.sized, now)
        one = training.reads(looks, own.parsed(now.listed), now.example)
        film = ui.film_of(now, len(looks))
        with stage.picture:
            left, right = ui.columns([2, 1])
            with left:
                ui.figure(
                    figures.sheet([mine], now.scale, turns=False), key="own", share=0.4,
                    alt="Your network as blocks: height is the side of the grid, width the channels",
                )  # fmt: skip
                ui.figure(
                    charts.maps(one), key="maps", share=0.6, film=film,
                    alt="A test digit and the maps of each layer at this step of the training",
                )  # fmt: skip
            with right:
                ui.figure(
                    charts.errors(looks), key="errors", share=0.5, film=film,
                    alt="Error on training and test digits over the steps",
                    data={"training": [look.train for look in looks], "test": [look.test for look in looks]},
                )  # fmt: skip
                ui.figure(
                    charts.probabilities(one), key="probabilities", share=0.5, film=film,
                    alt="Probability of each class for the digit at this step",
                )  # fmt: skip
        with stage.foot:
            film.bar(captions=training.captions(looks, one))
        with stage.below:
            ui.notice(training.about(mine, looks))
            ui.check(
                f"“{STACKS['Too narrow']}”: how many numbers of a digit reach the logits?",
                ["1", "8", "64"], "1", "One channel, and three poolings leave a grid of 1×1.",
                wrong={"8": "Each pooling halves both sides: 8, 4, 2, 1.", "64": "That is the input."},
                veils=(),
            )  # fmt: skip
            ui.table(words.layer_table([mine]), alt="Every layer with its output and its cost", key="every")
            ui.program(
                f"""
                from pages.convolution.architectures import own, training

                *_, (share, looks) = training.trained(own.parsed({now.listed!r}), {now.rate}, {now.seed})
                result = [look.test for look in looks]
                """,
                shows=[look.test for look in looks],
            )
            ui.source(own.parsed, own.built, training.trained, references=ROOM.references)
