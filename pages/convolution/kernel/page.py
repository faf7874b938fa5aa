"""Kernel: one convolution slides over a signal, product by product."""

from lab import ui
from lab.figures.receptive_fields import product
from lab.lenses import units
from modules.convolution.mlp import as_linear
from pages.convolution.kernel import figures, lens
from pages.convolution.kernel.room import ROOM

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
    result = ui.compute(lens.slid, now)
trace = result.trace
film = ui.film_of(now, len(trace), names=range(len(trace)))
with stage.picture:
    signal, matrix = ui.columns(2)
    with signal:
        ui.figure(
            figures.sliding(result), key="sliding", share=1.0, film=film,
            alt="Bars: the input with the values that are read, the kernel below them, the outputs so far",
        )  # fmt: skip
    with matrix:
        ui.figure(
            figures.matrix(result.matrix), key="matrix", share=1.0, film=film,
            alt="The convolution as a matrix of outputs by inputs; the row of this output is framed",
        )  # fmt: skip
with stage.foot:
    film.bar(captions=[step.caption for step in trace], equations=[step.equation for step in trace])

# --- Words --------------------------------------------------------------------------------------

n, k, at = result.x.shape[1], len(result.taps), trace[film.at].values
s, d, p = now.stride, now.dilation, now.padding
with stage.below:
    ui.figure(product(at["patch"], at["kernel"]), key="taps-product", alt="Patch times kernel")
    ui.equation(
        r"n_{out} = \left\lfloor \frac{n + 2p - d(K-1) - 1}{s} \right\rfloor + 1 = "
        rf"\left\lfloor \frac{{{n} + {2 * p} - {d}\cdot{k - 1} - 1}}{{{s}}} \right\rfloor"
        rf" + 1 = {len(trace)}",
        f"n = {n} inputs, K = {k} taps, s = {s}, d = {d}, p = {p}.",
    )
    ui.notice(
        "Every row of the matrix holds the same weights, moved by the stride: a dense layer with most of its "
        "weights shared or zero. Dilation spreads the weights of a row, stride skips rows, padding adds rows "
        "at either end, whose weights are cut off at the border. The kernel is not flipped."
    )
    full = (n + 2 * p - d * (k - 1) - 1) // (s + 1) + 1
    ui.check(
        f"With stride {s + 1} instead, how many outputs are there?",
        sorted({full, full + 1, max(1, full - 1), len(trace)}),
        full,
        f"⌊({n} + {2 * p} − {d * (k - 1)} − 1) / {s + 1}⌋ + 1 = {full}.",
        wrong={
            len(trace): "That is how many there are now: a larger stride skips positions.",
            full + 1: "The last of these would reach beyond the padded input.",
            max(1, full - 1): "The first position counts too: it is the + 1 of the formula.",
        },
        veils=(),
    )
    ui.program(
        f"""
        import torch

        x, kernel = torch.tensor({result.x.tolist()}), torch.tensor([[{result.taps}]])
        result = torch.nn.functional.conv1d(
            x, kernel, torch.tensor([{now.bias}]), stride={s}, padding={p}, dilation={d}
        )[0]
        """,
        shows=trace.result,
    )
    ui.source(
        lens.slide,
        units.arithmetic,
        as_linear,
        references=ROOM.references,
    )
