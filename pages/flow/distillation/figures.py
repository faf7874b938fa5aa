"""The student's samples on its teacher's density, and its divergence over the steps."""

from typing import Any

import plotly.graph_objects as go

from lab.figures import live, theme
from lab.lenses.plane import LOWEST
from pages.flow.distillation.lens import REACH

NAMES = {"data": "teacher", "samples": "student"}


def cloud(levels: Any, teacher: Any, student: Any) -> go.Figure:
    """log q as 0 to 255, (S, S), and samples (N, 2) of both; the student's are trace 2."""
    fig = live.density(levels, REACH, LOWEST, teacher, student)
    return fig.for_each_trace(lambda trace: trace.update(name=NAMES.get(trace.name, trace.name)))


def course(steps: list[int], kl: list[float], goal: float, at: float) -> go.Figure:
    """KL over the steps, to the height of its second half; shape 0 is the frame that is shown."""
    top = max(0.5, 1.1 * max(kl[len(kl) // 2 :]))
    name, last = "KL", steps[-1]
    fig = live.course({name: kl}, steps, {f"{goal:g} nats": goal}, [], at, (0, top), last,
                      {name: theme.OUTPUT})  # fmt: skip
    return fig.update_xaxes(range=[-0.06 * last, last])  # the corner belongs to the other axis
