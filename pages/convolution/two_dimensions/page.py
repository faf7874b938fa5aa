"""Convolution in two dimensions: a patch times a kernel, channels, 1×1, and kinds with fewer weights."""

from typing import Any

from lab import ui
from lab.lenses import photographs
from lab.lenses.photographs import SIDE
from lab.ui.controls import drawing
from modules.convolution import convolution, separable
from pages.convolution.two_dimensions import cheaper, figures, lens, words
from pages.convolution.two_dimensions.room import CHEAPER, MIXING, ONE, ROOM

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)


def pressed(x: float, y: float) -> dict[str, Any]:
    """The place of the output that a click chooses."""
    return ui.moved(now, row=int(y), column=int(x))


def photo_code() -> str:
    """A program's words for the picture."""
    for name, picture in photographs.shelf():
        if drawing.ink(picture) == now.photo:
            return f"drawing.pixels(drawing.ink(dict(photographs.shelf())[{name!r}]), {SIDE})"
    return f"drawing.pixels({now.photo!r}, {SIDE})"


if now.view == CHEAPER:
    kinds = ui.compute(cheaper.kinds, now)
    C, G, K = now.channels, now.groups, now.size
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(
                figures.blocks(kinds, C), key="blocks", share=1.0,
                alt="Weights of six kinds of convolution as blocks, a column for each channel that is read",
            )  # fmt: skip
        with right:
            ui.figure(figures.parameters(kinds), key="parameters", share=1.0, alt="Weights of each kind")
    with stage.foot:
        ui.equation(words.weights_equation(kinds, C, G, K), f"C = {C}, K = {K}, G = {G}.")
    full, *_, cheap = kinds
    with stage.below:
        ui.notice(
            "A block is the kernel from one channel (column) to another (row). At stride 1 each weight is "
            "one multiplication and addition at every position, so the shares are those of the work too. "
            "Depthwise and then 1×1 (depthwise separable) fills all blocks again, but those of a column are "
            "multiples of one kernel; of rank one, those of a row are. Both are called separable."
        )
        ui.check(
            "With twice the channels, how does the number of weights of a 1×1 convolution grow?",
            ["twice", "four times", "not at all"], "four times",
            "It is C²: a matrix from all to all channels.",
            wrong={"twice": "That is what depthwise does, C K².",
                   "not at all": "Every pair of channels has a weight."},
            veils=("equation",),
        )  # fmt: skip
        ui.program(
            f"""
            from torch import nn
            from modules.convolution.separable import DepthwiseSeparable, RankOne

            layers = [
                nn.Conv2d({C}, {C}, {K}, bias=False), nn.Conv2d({C}, {C}, 1, bias=False),
                nn.Conv2d({C}, {C}, {K}, groups={G}, bias=False),
                nn.Conv2d({C}, {C}, {K}, groups={C}, bias=False),
                RankOne({C}, {C}, {K}), DepthwiseSeparable({C}, {C}, {K}),
            ]
            result = [sum(p.numel() for p in layer.parameters()) for layer in layers]
            """,
            shows=[kind.parameters for kind in kinds],
        )
        ui.source(separable.RankOne, separable.DepthwiseSeparable, cheaper.kinds, references=ROOM.references)
elif now.view == MIXING:
    mix = ui.compute(lens.mixed, now)
    film = ui.film_of(now, mix.x.shape[2], names=range(mix.x.shape[2]))
    with stage.picture:
        ui.button_figure(
            figures.mixing(mix), key="mixing", share=1.0, film=film, on_press=pressed,
            alt="A picture, its channels mixed, and the numbers of one pixel; click another",
        )  # fmt: skip
    with stage.foot:
        film.bar(captions=mix.captions, equations=mix.equations)
    with stage.below:
        count = mix.matrix.numel()
        ui.notice(
            f"A 1×1 convolution is a dense layer on the channels, applied at every pixel: {count} weights "
            f"and {len(mix.y)} bias{'es' if len(mix.y) > 1 else ''} for {SIDE} × {SIDE} pixels. It sees no "
            "neighbours. What is above 1 or below 0 is cut in the picture, not in the numbers."
        )
        ui.check(
            "The pixels are shuffled before the 1×1 convolution. What happens to its output?",
            ["its pixels are shuffled likewise", "its colours change", "nothing"],
            "its pixels are shuffled likewise", "Every pixel is mapped by itself, wherever it stands.",
            wrong={"its colours change": "A pixel's colour depends on that pixel alone.",
                   "nothing": "Each new pixel stands where its old one does."},
            veils=(),
        )  # fmt: skip
        relu = ".relu()" if now.relu else ""
        ui.program(
            f"""
            import torch
            from lab.lenses import photographs
            from lab.ui.controls import drawing
            from pages.convolution.two_dimensions import lens

            x = {photo_code()}.double()
            M = lens.matrix({now.mix!r})
            y = (torch.einsum("oc,chw->ohw", M, x) + {now.bias}){relu}
            result = y[:, {mix.row}]
            """,
            shows=mix.y[:, mix.row],
        )
        ui.source(convolution.convolve, lens.mixed, references=ROOM.references)
else:
    one = ui.compute(lens.walked, now)
    film = ui.film_of(now, one.output.shape[1], names=range(one.output.shape[1]))
    bright = lens.is_light(one, now.bias)
    with stage.picture:
        draw = figures.single if now.view == ONE else figures.channels
        ui.button_figure(
            draw(one, bright), key="walk", share=1.0, film=film, on_press=pressed,
            alt="A picture with the patch that is read, the output, and patch times kernel; click an output",
        )  # fmt: skip
    with stage.foot:
        film.bar(captions=one.captions, equations=one.equations)
    (h, w), (C, a, b) = one.output.shape, one.kernels.shape
    s, p, d = now.stride, now.padding, now.dilation
    with stage.below:
        ui.equation(
            rf"\left\lfloor \frac{{{SIDE} + 2\cdot {p} - {d}\cdot{a - 1} - 1}}{{{s}}} \right\rfloor + 1 "
            f"= {h}",
            f"Rows of the output: {SIDE} rows, kernel {a}, s = {s}, p = {p}, d = {d}.",
        )
        own = (
            "The kernel alone is applied here, without the bias and the normalisation of its network. "
            if now.view == ONE and lens.is_network(now.source)
            else ""
        )
        said = (
            words.rank_words(lens.rank(one.kernels[0]), one.kernels.shape[1:])
            if now.view == ONE
            else f"What each channel adds, {words.channel_words(one.sums)}, is summed. "
        )
        ui.notice(
            f"{C * a * b} weights and one bias give all {h * w} outputs; a dense layer would have "
            f"{C * SIDE * SIDE * h * w:,}. {said}{own}The kernel is not flipped: mathematics calls this "
            "cross-correlation. Where zeros of the padding begin, an edge detector sees an edge."
        )
        most = C * a * b
        ui.check(
            "The layer shall have ten output channels. How many weights and biases has it?",
            [most + 10, 10 * most + 1, 10 * most + 10], 10 * most + 10,
            f"Each of the ten has {most} weights and a bias.",
            wrong={most + 10: "Every output channel has a kernel of its own.",
                   10 * most + 1: "Every output channel has a bias of its own."},
            veils=(),
        )  # fmt: skip
        x = f"{photo_code()}.double()"
        x = f"photographs.luminance({x})[None]" if now.view == ONE else x
        relu = ".relu()" if now.relu else ""
        ui.program(
            f"""
            import torch
            import torch.nn.functional as F
            from lab.lenses import photographs
            from lab.ui.controls import drawing

            x = {x}
            kernel = torch.tensor({one.kernels.tolist()}, dtype=torch.float64)
            h = F.conv2d(x[None], kernel[None], None, {s}, {p}, {d})[0, 0] + {now.bias}
            result = h[{one.row}]{relu}
            """,
            shows=one.output[one.row],
        )
        ui.source(convolution.convolve, lens.walked, words.equations, references=ROOM.references)
