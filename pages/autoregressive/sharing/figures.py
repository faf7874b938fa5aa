"""Learning curves over the number of training examples."""

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from lab.figures import theme

Line = tuple[Sequence[float], Sequence[float], Sequence[float]]


def by_size(lines: Mapping[str, Line], title: str = "", height: int = 440) -> go.Figure:
    """Means with their standard deviations against the training size, on a logarithmic axis.

    Args:
        lines: name -> (sizes, means, standard deviations); a name that begins as one before it ("NADE,
            train" after "NADE, test") takes its colour, dashed.
    """
    colors: dict[str, str] = {}
    fig = go.Figure()
    for name, (sizes, means, spread) in lines.items():
        model = name.partition(",")[0]
        again = model in colors
        color = colors.setdefault(model, theme.CATEGORIES[len(colors)])
        fig.add_trace(
            go.Scatter(
                x=list(sizes), y=list(means), name=name, mode="lines+markers", marker={"size": 10},
                line={"width": 3, "color": color, "dash": "dot" if again else "solid"},
                error_y={"type": "data", "array": list(spread), "thickness": 2, "width": 6},
            )
        )  # fmt: skip
    ticks = sorted({size for sizes, _, _ in lines.values() for size in sizes})
    fig.update_xaxes(
        title="training digits", type="log", tickvals=ticks, ticktext=[f"{size:,}" for size in ticks]
    )
    fig.update_layout(title=title, height=height)
    return fig
