"""The line with both kinds of examples and the discriminator's curve; θ by round."""

from typing import Any

from lab.figures import theme
from lab.figures.basic import array, curves, rule
from lab.figures.moving import turning, unrolling
from pages.adversarial.toy_gan.lens import Course, judged, places, window

REAL, MADE = 1.12, -0.12  # heights of the ticks


def line(course: Course) -> dict[str, Any]:
    """D and the best D at each round; above them real examples, below made ones."""
    x = places(course)
    d, best = judged(course, x)
    fig = curves({"D": d[0], "best D": best[0]}, x, xlabel="x", ylabel="D(x)",
                 colors={"D": theme.ATTENTION, "best D": theme.HIDDEN})  # fmt: skip
    fig.data[1].line.dash = "dot"
    for examples, height, name, color in (
        (course.real, REAL, "real", theme.INPUT),
        (course.samples[0], MADE, "made", theme.OUTPUT),
    ):
        tick = {"symbol": "line-ns", "size": 22, "line": {"width": 3, "color": color}}
        fig.add_scatter(
            x=array(examples), y=[height] * len(examples), mode="markers", name=name, hoverinfo="skip",
            marker=tick,
        )  # fmt: skip
    fig.update_xaxes(range=window(course))
    fig.update_yaxes(range=[-0.25, 1.25], tickvals=[0, 0.5, 1])
    return turning(turning(turning(fig, 0, y=d), 1, y=best), 3, x=course.samples)


def theta(course: Course) -> dict[str, Any]:
    """θ by round, up to each one: the room guesses how it goes on. The data's mean is dotted."""
    fig = curves({"θ": course.theta}, mark=0, xlabel="round", ylabel="θ", colors={"θ": theme.OUTPUT})
    rule(
        fig,
        y=course.rules.real,
        line={"color": theme.INPUT, "width": 2, "dash": "dot"},
        annotation={"text": "mean of the data", "font": {"size": theme.FONT_SIZE - 2}, "xanchor": "right"},
    )
    fig.update_yaxes(range=window(course))
    return unrolling(fig)
