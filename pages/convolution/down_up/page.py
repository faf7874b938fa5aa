"""Down and up: a picture that is pooled and upsampled, and a transposed convolution that writes."""

from typing import Any

from lab import ui
from modules.convolution import convolution, matrices, pooling, upsampling
from pages.convolution.down_up import figures, lens, levels, writing
from pages.convolution.down_up.room import DIGIT, MATRICES, PATH, POOLINGS, ROOM, UPSAMPLINGS

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)

if now.view in (PATH, POOLINGS, UPSAMPLINGS):
    of: Any = {PATH: lens.passed, POOLINGS: lens.pooled, UPSAMPLINGS: lens.filled}[now.view]
    shown = ui.compute(of, now)
    wide = shown.last.shape[1]
    film = ui.film_of(now, len(shown.captions), names=[divmod(k, wide) for k in range(len(shown.captions))])

    def pressed(x: float, y: float) -> dict[str, Any]:
        """The cell of y that a click chooses."""
        return ui.moved(now, cell=int(y) * wide + int(x))

    with stage.picture:
        picture = figures.panels(shown, now.source == DIGIT)
        if shown.y is not None:
            ui.button_figure(
                picture, key="panels", share=1.0, on_press=pressed, film=film,
                alt="The picture x, the smaller z, the larger y; frames show what one cell of y comes from",
            )  # fmt: skip
        else:
            ui.figure(
                picture, key="panels", share=1.0, film=film,
                alt="One picture and what each method makes of it, with frames around one block or cell",
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=shown.captions, equations=shown.equations)
    s = now.size
    with stage.below:
        if now.view == PATH:
            kept = min(panel.values.numel() for panel in shown.panels)
            total = shown.first.numel()
            same = shown.last.shape == shown.first.shape
            gap = (
                f" The mean of |y − x| is {float((shown.last - shown.first).abs().mean()):.3g}."
                if same
                else ""
            )
            ui.notice(
                f"Down keeps {kept} numbers of {total}; no upsampling can bring back the others.{gap} "
                "Unpooling needs the places that max pooling stored; after any other step it writes to the "
                "first cell of each block. Pixel shuffle with these channels is the transposed convolution, "
                "computed without zeros."
            )
            ui.check(
                f"How many numbers does one step down by {s} keep of 12 × 12?",
                sorted({144 // s, 144 // s**2, 144, 12}), 144 // s**2,
                f"One of each block of {s} × {s}.",
                wrong={144 // s: f"The stride acts along both axes: 12 / {s} rows of 12 / {s} are left.",
                       144: "A step down leaves a number for each block, not for each cell.",
                       12: "That is one side of the picture, not what is left of it."},
                veils=("picture", "equation"),
            )  # fmt: skip
        elif now.view == POOLINGS:
            ui.notice(
                "Of the sum, L_k pooling goes from the sum itself (k = 1) down to the maximum, of the mean "
                "from the mean up to the maximum. Max-blur pooling takes the maximum everywhere and a "
                "low-pass filter before it leaves out positions, so it reads beyond its block."
            )
            ui.check(
                "The block is 0 0 0 8: which pooling gives the largest number?",
                ["maximum", "mean", "subsampling", "L2, mean form"], "maximum",
                "8, against a mean of 2, the first cell 0, and (64 / 4)^½ = 4.",
                wrong=["That is it.", "The mean divides the 8 by four.",
                       "Subsampling keeps the first cell, whatever it is.",
                       "The mean form divides 64 by four before the root."],
                veils=("picture", "equation"),
            )  # fmt: skip
        else:
            ui.notice(
                "Half-pixel takes pixels as areas: their centres lie at quarters and three quarters. "
                "Align-corners keeps the first and the last cell in place, so its steps are no halves. "
                "Zero-insert keeps every cell in place and fades to 0 behind the last: it is a transposed "
                "convolution."
            )
            ui.check(
                "Which convention keeps the first and the last value of a row where they are?",
                ["half-pixel", "align-corners", "zero-insert"], "align-corners",
                "Its places are u = i (n − 1) / (sn − 1): 0 for the first, n − 1 for the last.",
                wrong=["The first output lies outside of the centres and is kept within: the next is not.",
                       "That is it.", "Zero-insert ends below the last value, half-way to the 0 behind it."],
                veils=("picture", "equation"),
            )  # fmt: skip
        x = f"lens.typed({now.x!r})"
        digit = f"drawing.pixels({now.digit!r}, 16)" if now.source == DIGIT else "None"
        how = {PATH: "passed", POOLINGS: "pooled", UPSAMPLINGS: "filled"}[now.view]
        down = f"{now.down!r}, {now.size}, {now.power}, {now.form!r}, {now.seed}, lens.kernel({now.smooth!r})"
        more = {
            PATH: f"{down}, {now.times}, {now.up!r}, {now.grid!r}, lens.kernel({now.taps!r})",
            POOLINGS: f"{now.size}, {now.power}, {now.form!r}",
            UPSAMPLINGS: f"{down}, lens.kernel({now.taps!r})",
        }[now.view]
        ui.program(
            f"""
            from lab.ui.controls import drawing
            from pages.convolution.down_up import lens

            x, digit = {x}, {digit}
            shown = lens.{how}({now.source!r}, x, digit, {more})
            result = shown.last[0]
            """,
            shows=shown.last[0],
        )
        ui.source(
            pooling.max_pool, upsampling.max_unpool, upsampling.interpolation_matrix, levels.phases,
            references=ROOM.references,
        )  # fmt: skip
else:
    one = ui.compute(writing.written, now)
    n, N = one.sums.shape
    K, s = len(one.taps), now.size
    film = ui.film_of(now, n, names=range(n))
    with stage.picture:
        if now.view == MATRICES:
            ui.figures(
                ("rows", figures.transposed(one, True), "Matrix A of the convolution; a row is outlined"),
                ("columns", figures.transposed(one, False), "Its transpose; the same column is outlined"),
                film=film,
            )
        else:
            left, right = ui.columns(2)
            with left:
                ui.figure(
                    figures.writing(one), key="writing", share=1.0, film=film,
                    alt="Bars: inputs, products of one of them, outputs so far, how often each is written",
                    data={"output": range(N), "y": one.sums[film.at], "written": one.counts},
                )  # fmt: skip
            with right:
                ui.figure(
                    figures.coverage(one), key="coverage", share=1.0,
                    alt="How often each output of two dimensions is written",
                )  # fmt: skip
    with stage.foot:
        film.bar(captions=writing.captions(one), equations=writing.equations(one))
    with stage.below:
        ui.equation(
            writing.size_equation(one),
            "Without output padding, a stride of 2 with K = 3, p = 1 gives 2n − 1.",
        )
        times = " or ".join(str(v) for v in writing.inner(one.counts, K))
        ui.notice(
            f"Away from the border every output is written {times} times; in two dimensions these numbers "
            "multiply. Equal numbers take a stride that divides the kernel. The transpose is the gradient "
            "of the convolution with respect to its input, and no inverse; with stride 1 it is a "
            "convolution with the kernel flipped."
        )
        even = K % s == 0
        ui.check(
            f"Would K = {K} with stride {s} leave a checkerboard?", ["yes", "no"], "no" if even else "yes",
            f"{s} divides {K}." if even else f"{s} does not divide {K}: some outputs get one product more.",
            wrong=["Every output between the borders gets as many products as the others.",
                   "Count the products at neighbouring outputs: they differ by one."],
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            import torch
            import torch.nn.functional as F

            x = torch.tensor({[one.x.tolist()]}, dtype=torch.float64)
            kernel = torch.tensor({[[one.taps.tolist()]]}, dtype=torch.float64)
            result = F.conv_transpose1d(
                x, kernel, stride={s}, padding={now.padding}, output_padding={now.more}
            )[0]
            """,
            shows=one.sums[-1],
        )
        ui.source(
            convolution.transposed_convolve, convolution.transposed_size, matrices.convolution_matrix,
            references=ROOM.references,
        )  # fmt: skip
