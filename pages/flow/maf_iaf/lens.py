"""MAF and IAF with the same network, number by number: which direction is one pass, and which takes D.

MAF   x_i = z_i e^{s_i} + t_i,   (t_i, s_i) from x_<i        scoring: one pass     sampling: D
IAF   x_i = z_i e^{s_i} + t_i,   (t_i, s_i) from z_<i        sampling: one pass    scoring: D
"""

import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from lab.lenses.masked_layer import column
from lab.seeding import seeded
from modules.flow.maf import InverseAutoregressive, MaskedAutoregressive
from modules.flow.monotone import Affine

LARGEST = 8  # numbers that are drawn
SIZES = (2, 16, 64, 256)  # D of the clock
POINTS, WIDTHS = 100, (256, 256)


@dataclass(frozen=True)
class Course:
    """One layer in one direction.

    Attributes:
        inputs, outputs: (D,).
        shifts, scales: (D,) t_i and s_i that were used.
        calls: of the network until all outputs are known: 1 or D.
        error: of the way back, the largest of all numbers.
        slope: ladj of this direction.
    """

    inputs: Tensor
    outputs: Tensor
    shifts: Tensor
    scales: Tensor
    calls: int
    error: float
    slope: float

    def known(self, frame: int) -> int:
        """Outputs that are known after `frame` calls."""
        return 0 if frame == 0 else len(self.outputs) if self.calls == 1 else min(frame, len(self.outputs))


def course(model: MaskedAutoregressive, values: list[float], sampling: bool) -> Course:
    """Run one direction as its definition says; sequential where it reads its own outputs."""
    inputs, D = column(values), len(values)
    apply = model.monotone.generate if sampling else model.monotone.normalize
    parallel = isinstance(model, InverseAutoregressive) == sampling
    if parallel:
        theta, calls = model.conditioner(inputs), 1
        outputs, slopes = apply(inputs, theta)
    else:
        outputs, slopes, theta, calls = (
            torch.zeros_like(inputs),
            inputs.new_zeros(D),
            inputs.new_zeros(D, 2),
            0,
        )
        for i in range(D):  # number i needs those before it
            theta[i] = model.conditioner(outputs)[i]
            calls += 1
            outputs[i], slopes[i] = apply(inputs[i], theta[i])
    back = (model.normalize if sampling else model.generate)(outputs)[0]
    shifts, scales = model.monotone.shift_and_scale(theta)  # type: ignore[operator]
    error = float((back - inputs).abs().max())
    return Course(inputs, outputs, shifts, scales, calls, error, float(slopes.sum()))


def equation(run: Course, frame: int, sampling: bool) -> str:
    """The number that this call has found, LaTeX; of a single pass the last."""
    known = run.known(frame)
    if not known:
        return r"\text{not yet}"
    i = known - 1
    h, t, s = (float(v[i]) for v in (run.inputs, run.shifts, run.scales))
    if sampling:
        return rf"x_{{{known}}} = {h:.3f}\,e^{{{s:.3f}}} + ({t:.3f}) = {float(run.outputs[i]):.3f}"
    return rf"z_{{{known}}} = ({h:.3f} - ({t:.3f}))\,e^{{-({s:.3f})}} = {float(run.outputs[i]):.3f}"


def caption(runs: dict[str, Course], frame: int) -> str:
    """The counter of both."""
    parts = []
    for name, run in runs.items():
        calls, known, D = min(frame, run.calls), run.known(frame), len(run.inputs)
        what = "done" if known == D else f"{known} of {D} numbers"
        parts.append(f"{name}: {calls} call{'s' * (calls != 1)}, {what}")
    return "; ".join(parts) + "."


# --- The clock ------------------------------------------------------------------------------------


@torch.inference_mode()
def clocked(
    sizes: tuple[int, ...] = SIZES, repeats: int = 5
) -> Iterator[tuple[float, dict[str, list[float]]]]:
    """Seconds of a MAF layer's two directions for 100 points, the median of a few runs, by D."""
    rows: dict[str, list[float]] = {"D": [], "score": [], "sample": []}
    for number, D in enumerate(sizes):
        model = seeded(lambda D=D: MaskedAutoregressive(D, Affine(2.0), WIDTHS))  # type: ignore[misc]
        points = torch.randn(POINTS, D, generator=torch.Generator().manual_seed(0))
        rows["D"].append(D)
        for name, way in (("score", model.normalize), ("sample", model.generate)):
            taken = []
            for _ in range(repeats):
                before = time.perf_counter()
                way(points)
                taken.append(time.perf_counter() - before)
            rows[name].append(statistics.median(taken))
            yield (
                (2 * number + (name == "sample") + 1) / (2 * len(sizes)),
                {k: v[: len(rows["sample"])] for k, v in rows.items()},
            )
