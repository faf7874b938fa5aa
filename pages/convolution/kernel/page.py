"""Kernel: one convolution slides over a signal, product by product."""

from typing import Any

from lab import ui
from lab.figures.receptive_fields import product
from lab.lenses import receptive_field, units
from lab.lenses.typed import commas
from modules.convolution.mlp import as_linear
from pages.convolution.kernel import figures, lens
from pages.convolution.kernel.room import ROOM

SIGNAL = "5.2 5.3 5.4 5.1 10.1 10.3 9.9 10.3 3.2 3.4 3.3 3.1"  # [UDL] notebook 10.1
MEAN = "0.33 0.33 0.33"

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Smooth": ui.scene("Each output is a mean of three inputs: steps become ramps."),
        "Every second output": ui.scene("Stride 2 skips every second row of the matrix.", stride=2),
        "Dilated": ui.scene("Dilation 2 spreads the weights over five inputs.", dilation=2, padding=2),
        "Edges": ui.scene("Right minus left: the output is large where the signal jumps.",
                          taps="-1 0 1", padding=0, step=2),
    }
)  # fmt: skip

# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    kernels = {"Mean": MEAN, "Edge": "-1 0 1", "Uneven": "-1 0.5 -0.2"}
    kernel = ui.text("Kernel ω", MEAN, key="taps", max_chars=80, examples=kernels, says=commas)
    stride = ui.slider("Stride s", 1, 4, 1, key="stride")
    dilation = ui.slider("Dilation d", 1, 4, 1, key="dilation")
    padding = ui.slider("Padding p", 0, 6, 1, key="padding")
    bias = ui.slider("Bias β", -5.0, 5.0, 0.0, key="bias", step=0.5)
    examples = {"Two steps": SIGNAL, "One step": "0 0 0 0 1 1 1 1", "Digits of π": "3 1 4 1 5 9"}
    typed = ui.text("Input x", SIGNAL, key="x", max_chars=300, examples=examples, area=False,
                    says=commas)  # fmt: skip
try:
    x = lens.signal(typed, 40)
    taps = lens.numbers_of(kernel, 9)
    chain = lens.single(taps, receptive_field.Window(len(taps), stride, dilation, padding), bias)
    trace = lens.slide(chain, x)
except ValueError as error:
    ui.stop(str(error))
film = ui.film(len(trace), key="step", default=1, label="Output", seconds=0.6)
now = trace[film.at].values
layer: Any = chain[0]
dense = as_linear(layer, x.shape[1])

# --- Pictures -----------------------------------------------------------------------------------

with stage.picture:
    signal, matrix = ui.columns(2)
    with signal:
        ui.figure(
            figures.sliding(x[0], now["reads"], trace.result, film.at), key="sliding", share=1.0, film=film,
            frames=figures.sliding_frames(x[0], trace), alt="The inputs read, and the outputs so far",
            data={"output": range(len(trace)), "value": trace.result},
        )  # fmt: skip
    with matrix:
        rows = list(range(len(trace)))
        ui.figure(
            figures.matrix(dense.weight, film.at), key="matrix", share=1.0, film=film,
            frames={"layout.shapes.0.y0": [i - 0.5 for i in rows],
                    "layout.shapes.0.y1": [i + 0.5 for i in rows]},
            alt="The convolution as a matrix; the row of this output is framed",
            data={"row": [i for i in rows for _ in range(x.shape[1])], "weight": dense.weight.flatten()},
        )  # fmt: skip
with stage.foot:
    film.bar(captions=[step.caption for step in trace], equations=[step.equation for step in trace])

# --- Words --------------------------------------------------------------------------------------

n, k = x.shape[1], len(taps)
with stage.below:
    ui.figure(product(now["patch"], now["kernel"]), key="taps-product", alt="Patch times kernel",
              data={"patch": now["patch"], "kernel": now["kernel"], "product": now["products"]})  # fmt: skip
    ui.equation(
        r"n_{out} = \left\lfloor \frac{n + 2p - d(K-1) - 1}{s} \right\rfloor + 1 = "
        rf"\left\lfloor \frac{{{n} + {2 * padding} - {dilation}\cdot{k - 1} - 1}}{{{stride}}} \right\rfloor"
        rf" + 1 = {len(trace)}",
        f"n = {n} inputs, K = {k} taps, s = {stride}, d = {dilation}, p = {padding}.",
    )
    ui.notice(
        "Every row of the matrix holds the same weights, moved by the stride: a dense layer with most of its "
        "weights tied or zero. Dilation spreads the weights of a row, stride skips rows, padding cuts the "
        "first and last rows off at the border. The kernel is not flipped."
    )
    full = (n + 2 * padding - dilation * (k - 1) - 1) // (stride + 1) + 1
    ui.check(
        f"With stride {stride + 1} instead, how many outputs are there?",
        sorted({full, full + 1, max(1, full - 1), len(trace)}), full,
        f"⌊({n} + {2 * padding} − {dilation * (k - 1)} − 1) / {stride + 1}⌋ + 1 = {full}.",
        wrong={
            len(trace): "That is how many there are now: a longer stride skips places.",
            full + 1: "The last of these would reach beyond the padded input.",
            max(1, full - 1): "The first place counts too: it is the + 1 of the formula.",
        },
        veils=(),
    )  # fmt: skip
    ui.program(
        f"""
        import torch

        x, kernel = torch.tensor({x.tolist()}), torch.tensor([[{taps}]])
        result = torch.nn.functional.conv1d(
            x, kernel, torch.tensor([{bias}]), stride={stride}, padding={padding}, dilation={dilation}
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
