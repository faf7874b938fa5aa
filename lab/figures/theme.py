"""One visual grammar for every figure: colours by role, scales by meaning, light and dark.

Roles: inputs blue, hidden units grey, outputs orange, attention violet (Okabe and Ito 2008, safe
for colour-blind eyes). Scales: `probability` from 0 to 1, `diverging` centred at zero, `violet`
for attention weights, `grey` for pixels (ink on paper: 0 is the background, 1 the ink).

The mode belongs to the thread that draws, since each reader of the dashboard has their own.
"""

import json
from collections.abc import Sequence
from contextvars import ContextVar
from functools import cache
from typing import Any, Literal

import plotly.graph_objects as go
import plotly.io
from plotly.utils import PlotlyJSONEncoder

Mode = Literal["light", "dark"]
Scale = Literal["probability", "diverging", "violet", "grey"]

# Plotly gives every figure a template, and copies and checks it at each step; `styled` has its own.
plotly.io.templates.default = None

# Okabe and Ito's colours.
BLACK, ORANGE, SKY, GREEN, YELLOW, BLUE, VERMILLION, PURPLE = (
    "#000000", "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7",
)  # fmt: skip
INPUT, HIDDEN, OUTPUT, ATTENTION = BLUE, "#8A929C", ORANGE, PURPLE
POSITIVE, NEGATIVE = BLUE, VERMILLION
CATEGORIES = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILLION, YELLOW, "#8A929C", "#7B5B3A", "#4E4EA8")

SHRINKING = {"shrinks": True}  # a layout's meta: marks are smaller in a narrow figure, as texts are
# A layout's meta: lines are named at their right ends, or where they are farthest apart (js/ends.js).
NAMED_ENDS, NAMED_APART = {"ends": 1.0}, {"apart": 1.0}
FONT_SIZE = 18  # readable from the last row
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif"

PAPER: dict[Mode, str] = {"light": "#FFFFFF", "dark": "#12161C"}
TEXT: dict[Mode, str] = {"light": "#1B2026", "dark": "#E8ECF1"}
GRID: dict[Mode, str] = {"light": "#E3E7EC", "dark": "#2C343F"}

_SCALES: dict[Mode, dict[Scale, tuple[str, ...]]] = {
    "light": {
        "probability": ("#FFFFFF", "#CFE6F5", "#7FBFE3", "#2A8CC4", "#0072B2", "#08375C"),
        "diverging": ("#8F3A00", "#D55E00", "#F2B48A", "#FFFFFF", "#8CC3E4", "#0072B2", "#08375C"),
        "violet": ("#FFFFFF", "#F3DEEA", "#DDA3C3", "#CC79A7", "#9A3F76", "#4F1238"),
        "grey": ("#FFFFFF", "#1B2026"),
    },
    "dark": {
        "probability": ("#1A2029", "#123C5A", "#0072B2", "#3FA4DC", "#8ACDF3", "#F0F9FF"),
        "diverging": ("#FFC9A3", "#EE8A42", "#8F3A00", "#1A2029", "#0A4F7E", "#56B4E9", "#D6EEFC"),
        "violet": ("#1A2029", "#4A2440", "#8E4474", "#CC79A7", "#E5B5D0", "#FFF3FA"),
        "grey": ("#1A2029", "#F4F6F8"),
    },
}

_mode: ContextVar[Mode] = ContextVar("mode", default="light")


def use(mode: Mode) -> None:
    """Draw in this mode from now on, in this thread."""
    _mode.set(mode)


def mode() -> Mode:
    """The mode of this thread."""
    return _mode.get()


def paper() -> str:
    """The background's colour."""
    return PAPER[mode()]


def text() -> str:
    """The colour of text and outlines."""
    return TEXT[mode()]


def grid() -> str:
    """The colour of grid lines and of what should recede."""
    return GRID[mode()]


def soft() -> str:
    """The colour of words that recede, still readable."""
    return {"light": "#5B6470", "dark": "#A7B0BC"}[mode()]


def scale(name: Scale) -> list[list[float | str]]:
    """A plotly colour scale of this mode."""
    colors = _SCALES[mode()][name]
    return [[i / (len(colors) - 1), color] for i, color in enumerate(colors)]


def fade(color: str, opacity: float) -> str:
    """`color` ("#RRGGBB") with an opacity in [0, 1]."""
    r, g, b = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({r},{g},{b},{opacity:g})"


@cache
def template(mode: Mode) -> dict[str, Any]:
    """Template that every figure of a mode shares: font, background, quiet axes; as JSON, checked once by
    plotly."""
    ink, line, back = TEXT[mode], GRID[mode], PAPER[mode]
    axis = {
        "gridcolor": line, "zerolinecolor": line, "linecolor": line, "automargin": True,
        "tickfont": {"size": FONT_SIZE - 2}, "title": {"font": {"size": FONT_SIZE}, "standoff": 8},
    }  # fmt: skip
    result = go.layout.Template(
        layout={
            "font": {"family": FONT, "size": FONT_SIZE, "color": ink},
            "title": {
                "font": {"size": FONT_SIZE + 2},
                "x": 0,
                "xref": "paper",
                "xanchor": "left",
                "y": 1,
                "yref": "container",
                "yanchor": "top",
                "pad": {"t": 10},
            },
            "paper_bgcolor": back,
            "plot_bgcolor": back,
            "colorway": list(CATEGORIES),
            "xaxis": axis,
            "yaxis": axis,
            "legend": {
                "orientation": "h",
                "yanchor": "bottom",
                "y": 1.0,
                "x": 0,
                "font": {"size": FONT_SIZE - 2},
            },
            "hoverlabel": {"font": {"size": FONT_SIZE - 2, "family": FONT}},
            "coloraxis": {"colorbar": {"outlinewidth": 0}},
            "margin": {"l": 8, "r": 8, "t": 48, "b": 8},
            "hovermode": "closest",
            "uirevision": "keep",
        }
    )
    return dict(json.loads(json.dumps(result.to_plotly_json(), cls=PlotlyJSONEncoder)))


def styled(fig: go.Figure) -> dict[str, Any]:
    """The figure as JSON in this mode's template."""
    make_room(fig)
    result: dict[str, Any] = json.loads(fig.to_json())
    result["layout"] |= {"template": template(mode()), "dragmode": False}  # a finger scrolls the page
    return result


def make_room(fig: go.Figure) -> None:
    """Leave above the plot as much room as title and legend need; a legend of many rows goes below it, where
    Plotly makes room by itself."""
    if fig.layout.margin.t is None:
        has_title = bool(fig.layout.title.text) or bool(fig.layout.annotations)
        named = [t.name for t in fig.data if t.name and t.showlegend is not False]
        legend = fig.layout.showlegend is not False and len(named) > 1
        rows = legend_rows(named) if legend else 0
        if rows > 2:
            fig.update_layout(legend={"yanchor": "top", "y": -0.22})
            rows = 0
        fig.layout.margin.t = max(48 if has_title else 32, 24 * rows + (36 if has_title else 12))
        if fig.layout.meta in (NAMED_ENDS, NAMED_APART):  # the share of that room needed without a legend
            (where,) = fig.layout.meta
            fig.layout.meta = {where: (48 if has_title else 16) / fig.layout.margin.t}


def legend_rows(names: Sequence[str], width: int = 340) -> int:
    """Rows of a horizontal legend on a phone, or in half a page: `width` pixels make a row.

    A sign takes 40 px, a character 9; what does not fit in one row stands in columns of equal width.
    """
    each = [40 + 9 * len(name) for name in names]
    return 1 if sum(each) <= width else -(-len(each) // max(1, width // max(each)))
