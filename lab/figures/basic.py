"""The figures every page needs: heat map, bars, images, curves, scatter. Tensors in, figure out."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme

Labels = Sequence[str] | Sequence[int] | Sequence[float]

CLICK_OPACITY = 0.004  # invisible, yet plotly still reports the click
# What a cell says of itself by a template: what a film shows now, without a text for each cell.
CELL = "%{y} → %{x}: %{z:.4~g}<extra></extra>"


def array(values: Any) -> np.ndarray:
    """A numpy array of a tensor, an array, a list of numbers or a list of tensors of one shape."""
    if isinstance(values, list | tuple) and values and hasattr(values[0], "detach"):
        return np.stack([array(v) for v in values])
    if hasattr(values, "detach"):
        values = (
            values.detach().cpu().float().numpy()
            if values.is_floating_point()
            else values.detach().cpu().numpy()
        )
    return np.asarray(values)


def click_targets(
    x: Iterable[Any],
    y: Iterable[Any],
    customdata: Any = None,
    hover: Sequence[str] | np.ndarray | None = None,
    size: float = 30,
) -> go.Scatter:
    """Invisible squares at the points (x, y): what makes a heat map or an image clickable.

    A click on a cell of `go.Heatmap` never reaches Streamlit; a click on a scatter point does.
    """  # fmt: skip
    return go.Scatter(
        x=list(x), y=list(y), mode="markers", customdata=customdata, showlegend=False, name="click",
        marker={"symbol": "square", "size": size, "opacity": CLICK_OPACITY, "color": theme.HIDDEN},
        hovertext=hover, hoverinfo="text" if hover is not None else "none",
    )  # fmt: skip


def click_plane(x: Any, y: Any, hover: Any = None) -> go.Heatmap:
    """An invisible grid over the plane, clicked at its places x (C,) and y (R,): one image, however many
    they are.

    Args:
        hover: (R, C) texts, or None.
    """
    x, y = array(x), array(y)
    return go.Heatmap(
        x=x, y=y, z=np.zeros((len(y), len(x)), np.int8), name="click", showscale=False,
        colorscale=[[0, "rgba(0,0,0,0)"], [1, "rgba(0,0,0,0)"]], hovertext=hover,
        hoverinfo="none" if hover is None else "text",
    )  # fmt: skip


def heatmap(
    values: Any,
    x: Labels | None = None,
    y: Labels | None = None,
    title: str = "",
    scale: theme.Scale = "probability",
    clickable: bool = False,
    *,
    zmin: float | None = None,
    zmax: float | None = None,
    xlabel: str = "",
    ylabel: str = "",
    numbers: bool | str = False,
    colorbar: bool = True,
    height: int | None = None,
    square: bool = False,
    hover: bool = True,
) -> go.Figure:
    """A matrix as colours; row 0 at the top.

    Args:
        values: (H, W).
        x, y: labels of columns and rows; None numbers them from 0. Labels need not differ.
        scale: `probability` runs from 0 to 1, `diverging` is centred at zero.
        clickable: a click reports x = column, y = row (numbers), customdata = [row, column, value].
        numbers: write each value into its cell; a string is its format (".2f").
        square: cells as wide as high.
        hover: a cell says its labels and its value.
    """
    z = array(values).astype(float)
    rows, columns = z.shape
    if zmin is None or zmax is None:
        low, high = scale_range(z, scale)
        zmin, zmax = low if zmin is None else zmin, high if zmax is None else zmax
    text = cell_names(z, x, y) if hover else None
    across = {"title": xlabel, "showgrid": False, "zeroline": False, "range": [-0.5, columns - 0.5]}
    down = {"title": ylabel, "showgrid": False, "zeroline": False, "range": [rows - 0.5, -0.5]}
    fig = go.Figure(
        go.Heatmap(
            z=z, zmin=zmin, zmax=zmax, colorscale=theme.scale(scale), showscale=colorbar,
            hovertext=text, hoverinfo="text" if hover and not clickable else "skip",
            xgap=1 if columns <= 40 else 0, ygap=1 if rows <= 40 else 0,
            texttemplate=f"%{{z:{numbers if isinstance(numbers, str) else '.2f'}}}" if numbers else None,
            colorbar={"thickness": 14, "outlinewidth": 0, "len": 0.9},
        ),
        {
            "title": title,
            "height": height or int(min(720, max(260, 90 + 30 * rows))),
            "xaxis": across | ticks(x, columns) | ({"constrain": "domain"} if square else {}),
            "yaxis": down | ticks(y, rows) | ({"constrain": "domain", "scaleanchor": "x"} if square else {}),
        },
    )  # fmt: skip
    if clickable:
        i, j = (index.ravel() for index in np.indices((rows, columns)))
        result = None if text is None else text.ravel()
        fig.add_trace(click_targets(j, i, np.column_stack([i, j, z.ravel()]), result))
        fig.layout.hoverdistance = -1  # anywhere in a cell counts as its centre
    return fig


def cell_names(z: np.ndarray, x: Labels | None, y: Labels | None) -> np.ndarray:
    """Labels and value of every cell of (H, W), as texts: plotly is slow to read nested lists."""
    rows, columns = z.shape
    names_x, names_y = [[str(v) for v in (labels if labels is not None else range(n))]
                        for labels, n in ((x, columns), (y, rows))]  # fmt: skip
    cells = [[f"{names_y[i]} → {names_x[j]}: {z[i, j]:.4g}" for j in range(columns)] for i in range(rows)]
    return np.array(cells, dtype=object).reshape(rows, columns)


def scale_range(z: np.ndarray, scale: theme.Scale) -> tuple[float, float]:
    """The values at the ends of a scale: 0 and 1, or symmetric about zero."""
    if scale == "diverging":
        reach = float(np.nanmax(np.abs(z), initial=0.0)) or 1.0
        return -reach, reach
    return 0.0, 1.0 if scale in ("probability", "grey") else float(np.nanmax(z, initial=0.0)) or 1.0


def ticks(labels: Labels | None, n: int) -> dict[str, Any]:
    """Axis settings that show `labels` at 0..n-1, thinned where they would collide."""
    if labels is None:
        return {"tickmode": "array", "tickvals": list(range(0, n, max(1, -(-n // 12))))}
    step = max(1, -(-n // 40))
    shown = list(range(0, n, step))
    return {"tickmode": "array", "tickvals": shown, "ticktext": [str(labels[i]) for i in shown]}


def bars(
    labels: Labels,
    values: Any,
    highlight: int | Sequence[int] | None = None,
    *,
    baseline: Any = None,
    title: str = "",
    xlabel: str = "",
    ylabel: str = "",
    names: tuple[str, str] = ("now", "before"),
    color: str = theme.OUTPUT,
    horizontal: bool = False,
    probability: bool = False,
    height: int = 360,
) -> go.Figure:
    """Bars, one a label; the highlighted ones full, the others pale.

    Args:
        values: (N,).
        highlight: index (or indices) to draw in full colour; None draws all so.
        baseline: (N,) values to compare with, drawn beside in grey.
        names: legend of (values, baseline).
        probability: the value axis runs from 0 to 1.
    """
    v = array(values).astype(float)
    chosen = (
        range(len(v)) if highlight is None else ([highlight] if isinstance(highlight, int) else highlight)
    )
    colors = [color if i in set(chosen) else theme.fade(color, 0.35) for i in range(len(v))]
    position = list(range(len(v)))

    def trace(heights: np.ndarray, name: str, colors: Any) -> go.Bar:
        hover = [f"{label}: {h:.4g}" for label, h in zip(labels, heights, strict=True)]
        x, y = (heights, position) if horizontal else (position, heights)
        return go.Bar(
            x=x, y=y, orientation="h" if horizontal else "v", name=name, hovertext=hover, hoverinfo="text",
            marker={"color": colors, "line": {"width": 0}},
        )  # fmt: skip

    traces = [trace(v, names[0], colors)]
    if baseline is not None:
        traces.insert(0, trace(array(baseline).astype(float), names[1], theme.HIDDEN))
    of_labels: dict[str, Any] = {
        "title": ylabel if horizontal else xlabel,
        "showgrid": False,
        "zeroline": False,
    }
    of_labels |= ticks(labels, len(v))
    of_values: dict[str, Any] = {"title": xlabel if horizontal else ylabel}
    of_values |= {"range": [0, 1]} if probability else {}
    axes = (of_values, of_labels | {"autorange": "reversed"}) if horizontal else (of_labels, of_values)
    return go.Figure(
        traces,
        {
            "title": title, "height": height, "bargap": 0.2, "showlegend": baseline is not None,
            "xaxis": axes[0], "yaxis": axes[1],
        },
    )  # fmt: skip


def image(
    values: Any,
    title: str = "",
    scale: theme.Scale = "grey",
    clickable: bool = False,
    *,
    zmin: float | None = None,
    zmax: float | None = None,
    height: int = 360,
    hover: bool = True,
) -> go.Figure:
    """One picture, (H, W) or (1, H, W) as ink on paper, (3, H, W) in colour; no axes."""
    z = array(values)
    if z.ndim == 3 and z.shape[0] == 3:
        rgb = (255 * np.clip(z, 0, 1)).astype(np.uint8).transpose(1, 2, 0)  # (H, W, C)
        fig = go.Figure(go.Image(z=rgb, hoverinfo="skip" if clickable else "x+y+z"))
        if clickable:
            i, j = (index.ravel() for index in np.indices(rgb.shape[:2]))
            fig.add_trace(click_targets(j, i, np.column_stack([i, j])))
    else:
        fig = heatmap(
            z.reshape(z.shape[-2:]), scale=scale, clickable=clickable, zmin=zmin, zmax=zmax, colorbar=False,
            hover=hover and clickable,
        )  # fmt: skip
        cells = fig.data[0]
        cells.xgap = cells.ygap = 0
        if hover and not clickable:
            cells.hovertemplate, cells.hoverinfo = CELL, None
    axis = {"visible": False, "constrain": "domain"}
    margin = {"l": 4, "r": 4, "t": 36 if title else 4, "b": 4}
    fig.update_layout(
        title=title, height=height, margin=margin, xaxis=axis, yaxis=axis | {"scaleanchor": "x"}
    )
    return fig


def mosaic(grid: Any, columns: int | None = None, gap: int = 1) -> np.ndarray:
    """Many pictures side by side, NaN between them, (H, W) or in colour (3, H, W); arguments as of `images`.
    The frames of a film of sheets: the figure itself is made once."""
    z = array(grid).astype(float)
    color = z.ndim == 4 and z.shape[1] == 3
    z = z if color else z.reshape(len(z), 1, *z.shape[-2:])  # (N, C, H, W)
    n, channels, h, w = z.shape
    columns, rows = table_of(n, columns)
    sheet = np.full((channels, rows * (h + gap) - gap, columns * (w + gap) - gap), np.nan)
    for picture, (top, left) in zip(z, corners(n, columns, h + gap, w + gap), strict=True):
        sheet[:, top : top + h, left : left + w] = picture
    return sheet if color else sheet[0]


def table_of(n: int, columns: int | None) -> tuple[int, int]:
    """Columns and rows of a sheet of n pictures, about square where the columns are not given."""
    columns = columns or int(np.ceil(np.sqrt(n)))
    return columns, -(-n // columns)


def corners(n: int, columns: int, high: int, wide: int) -> list[tuple[int, int]]:
    """Top and left of every picture of a sheet."""
    return [(i // columns * high, i % columns * wide) for i in range(n)]


def images(
    grid: Any,
    columns: int | None = None,
    title: str = "",
    labels: Sequence[str] | None = None,
    scale: theme.Scale = "grey",
    *,
    zmin: float | None = None,
    zmax: float | None = None,
    gap: int = 1,
    height: int | None = None,
) -> go.Figure:
    """Many pictures as one contact sheet.

    Args:
        grid: (N, H, W), (N, 1, H, W) or (N, 3, H, W).
        columns: pictures a row; None makes the sheet about square.
        labels: one short text a picture, written above it.
        gap: pixels between pictures.
    """
    z, sheet = array(grid), mosaic(grid, columns, gap)
    color, (h, w) = sheet.ndim == 3, z.shape[-2:]
    columns, rows = table_of(len(z), columns)
    height = height or int(min(720, max(160, 760 * rows * (h + gap) / (columns * (w + gap)))))
    if color:
        fig = image(np.nan_to_num(sheet, nan=1.0), height=height)
    else:
        low, high = scale_range(z.astype(float), scale)
        fig = image(sheet, scale=scale, zmin=low if zmin is None else zmin,
                    zmax=high if zmax is None else zmax, height=height, hover=False)  # fmt: skip
    fig.data[0].hoverinfo = "skip"
    places = corners(len(z), columns, h + gap, w + gap)
    if labels:  # at once: plotly checks all for each that is added
        fig.layout.annotations = [
            {"x": left + (w - 1) / 2, "y": top - 0.5, "text": label, "showarrow": False, "yanchor": "bottom"}
            for label, (top, left) in zip(labels, places, strict=False)
        ]
        fig.layout.yaxis.range = [sheet.shape[-2] - 0.5, -0.5 - 0.2 * h]
    fig.update_layout(title=title, margin={"t": 36 if title else 48 if labels else 4})
    return fig


def curves(
    lines: Mapping[str, Any],
    x: Any = None,
    *,
    title: str = "",
    xlabel: str = "",
    ylabel: str = "",
    colors: Mapping[str, str] | None = None,
    markers: bool = False,
    log_x: bool = False,
    log_y: bool = False,
    mark: float | None = None,
    ends: bool = False,
    height: int = 400,
) -> go.Figure:
    """Lines by name.

    Args:
        lines: name -> (N,) values, or a pair (x, y).
        x: shared abscissa, (N,); None counts from 0. NaN leaves a gap.
        mark: abscissa of a vertical line, e.g. the current step.
        ends: name each line at its right end, in its colour; a figure too narrow for that has a legend.
    """
    traces = []
    for index, (name, line) in enumerate(lines.items()):
        pair = isinstance(line, tuple) and len(line) == 2
        xs, ys = (array(line[0]), array(line[1])) if pair else (None, array(line))
        xs = xs if xs is not None else (array(x) if x is not None else np.arange(len(ys)))
        color = (colors or {}).get(name, theme.CATEGORIES[index % len(theme.CATEGORIES)])
        traces.append(
            go.Scatter(
                x=xs, y=ys, name=name, mode="lines+markers" if markers or len(ys) < 2 else "lines",
                line={"width": 3, "color": color}, marker={"size": 8},
            )
        )  # fmt: skip
    fig = go.Figure(
        traces,
        {
            "title": title, "height": height, "showlegend": len(lines) > 1,
            "meta": theme.NAMED_ENDS if ends else None,
            "xaxis": {"title": xlabel, "type": "log" if log_x else None},
            "yaxis": {"title": ylabel, "type": "log" if log_y else None},
        },
    )  # fmt: skip
    if mark is not None:
        rule(fig, x=mark, line={"color": theme.text(), "width": 2, "dash": "dot"})
    return fig


def rule(
    fig: go.Figure, *, x: Any = None, y: Any = None, line: Mapping[str, Any],
    annotation: Mapping[str, Any] | None = None,
) -> None:  # fmt: skip
    """A line across a plot of one pair of axes, at an abscissa or an ordinate, with a word at its end.

    Plotly's own `add_vline` and `add_hline` look through all subplots for each: a tenth of some answers.
    """
    if x is not None:
        ends = {"xref": "x", "x0": x, "x1": x, "yref": "y domain", "y0": 0, "y1": 1}
        word = {"x": x, "xref": "x", "y": 1, "yref": "y domain", "xanchor": "left", "yanchor": "top"}
    else:
        ends = {"xref": "x domain", "x0": 0, "x1": 1, "yref": "y", "y0": y, "y1": y}
        word = {"x": 1, "xref": "x domain", "y": y, "yref": "y", "xanchor": "right", "yanchor": "bottom"}
    fig.add_shape(type="line", line=line, **ends)
    if annotation is not None:
        fig.add_annotation({"showarrow": False, **word, **annotation})


def scatter(
    points: Any,
    labels: Any = None,
    title: str = "",
    *,
    names: Sequence[str] | None = None,
    hover: Sequence[str] | None = None,
    xlabel: str = "",
    ylabel: str = "",
    size: float = 7,
    opacity: float = 0.7,
    equal: bool = True,
    height: int = 520,
) -> go.Figure:
    """Points of the plane, coloured by class; a click reports customdata = [index of the point].

    Args:
        points: (N, 2).
        labels: (N,) class numbers; None draws all in the input's blue.
        names: of the classes; None shows their numbers.
        equal: one unit as long in x as in y.
    """
    p = array(points)
    classes = array(labels).astype(int) if labels is not None else np.zeros(len(p), int)
    data = np.arange(len(p))[:, None]
    traces = []
    for c in np.unique(classes):
        mine = classes == c
        color = theme.CATEGORIES[c % len(theme.CATEGORIES)]
        traces.append(
            go.Scatter(
                x=p[mine, 0], y=p[mine, 1], mode="markers", customdata=data[mine],
                name=names[c] if names else str(c), marker={"size": size, "opacity": opacity, "color": color},
                hovertext=[t for t, m in zip(hover, mine, strict=True) if m] if hover is not None else None,
                hoverinfo="text" if hover is not None else "x+y+name",
            )
        )  # fmt: skip
    return go.Figure(
        traces,
        {
            "title": title, "height": height, "showlegend": labels is not None,
            "xaxis": {"title": xlabel}, "yaxis": {"title": ylabel, "scaleanchor": "x" if equal else None},
        },
    )  # fmt: skip
