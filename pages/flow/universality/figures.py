"""Numbers after every coupling beside those of one layer; a Jacobian."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, heatmap


def grid(values: Any, last: list[Any], rows: list[str], until: int) -> go.Figure:
    """Rows of numbers, those of the layers below; rows after `until` are not yet drawn."""
    z = shown(values, last, until)
    fig = heatmap(
        z, [f"{i + 1}" for i in range(z.shape[1])], rows, "", "diverging", zmin=-reach(values, last),
        zmax=reach(values, last), colorbar=False, numbers=False, xlabel="number",
    )  # fmt: skip
    fig.update_traces(text=texts(z), texttemplate="%{text}", textfont={"size": 19}, hoverinfo="skip")
    return fig.update_layout(height=None)


def reach(values: Any, last: list[Any]) -> float:
    return float(max(np.abs(array(values)).max(), *(np.abs(array(v)).max() for v in last), 1e-6))


def shown(values: Any, last: list[Any], until: int) -> np.ndarray:
    v = array(values).astype(float)
    v = np.where(np.arange(len(v))[:, None] <= until, v, np.nan)
    return np.concatenate([v, np.full((1, v.shape[1]), np.nan), np.stack([array(one) for one in last])])


def texts(z: np.ndarray) -> list[list[str]]:
    return [["" if np.isnan(v) else f"{v:.2f}".replace("-", "−") for v in row] for row in z]


def film(values: Any, last: list[Any]) -> dict[str, Any]:
    """Frames of `grid`, one per coupling."""
    return {"data.0.z": np.stack([shown(values, last, until) for until in range(len(array(values)))])}


def jacobian(matrix: Any) -> go.Figure:
    """∂x/∂z, row = output."""
    labels = [str(i + 1) for i in range(len(array(matrix)))]
    fig = heatmap(
        matrix, labels, labels, "∂x / ∂z", "diverging", numbers=".1f", square=True, colorbar=False,
        xlabel="z", ylabel="x",
    )  # fmt: skip
    return fig.update_traces(textfont={"size": 15}).update_layout(height=None)


def differences(result: dict[str, float]) -> go.Figure:
    """The largest difference from either layer."""
    return go.Figure(
        go.Bar(x=list(result), y=list(result.values()), text=[f"{v:.3g}" for v in result.values()],
               marker={"color": [theme.OUTPUT, theme.INPUT]}, textposition="outside", cliponaxis=False)
    ).update_yaxes(title="largest difference", rangemode="tozero")  # fmt: skip
