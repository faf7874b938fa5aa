"""Figures on a page: sent as bytes, drawn again only where they changed, turned by films, clicked.

`js/figure.js` draws them: full screen, SVG, PNG and CSV are its own buttons.
"""

import csv
import io
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from lab.figures import moving, theme
from lab.figures.basic import array
from lab.ui.browser import wire
from lab.ui.browser.components import component, last_message
from lab.ui.figures.films import Film
from lab.ui.session import state

# Plotly's go.Figure, or its dictionary in which leaves may be `per_frame`; lab.figures alone imports plotly
Figure = Any
Table = Mapping[str, Any]


HTML = """
<div class="lectern-figure" role="group"><div class="plot" role="img"></div><div class="tools"></div></div>
"""
mount = component("figure", HTML)


def figure(
    fig: Figure,
    *,
    alt: str,
    data: Table | None = None,
    key: str | None = None,
    share: float | None = None,
    film: Film | None = None,
    frames: Mapping[str, Any] | None = None,
) -> None:
    """Draw a figure.

    Args:
        alt: what the figure shows, in a sentence, for readers who cannot see it.
        data: column name -> values; all of one length. The figure's CSV button saves them; without them what
            stands in the figure, at the frame that is shown.
        share: of the height of the stage's picture; None keeps the height that the figure asks for.
        film: the film that the figure turns with.
        frames: path into the figure ("data.0.z", "layout.title.text") -> its values for every frame of the
            film, along the first axis (an array, a list of texts, or a list of lists of texts); of a film
            that grows, an array has those from `film.since` on.
    """
    draw(fig, key=key or alt, alt=alt, data=data, share=share, film=film, frames=frames)


def figures(*pictures: tuple[str, Figure, str], film: Film | None = None) -> None:
    """Draw figures of equal width beside each other, each as high as the stage's picture.

    Args:
        pictures: key, figure and alt of each, as of `figure`.
        film: that all of them turn with.
    """
    for column, (key, fig, alt) in zip(st.columns(len(pictures)), pictures, strict=True):
        with column:
            figure(fig, key=key, alt=alt, share=1.0, film=film)


def draw(
    fig: Figure,
    *,
    key: str,
    alt: str,
    data: Table | None = None,
    share: float | None = None,
    film: Film | None = None,
    frames: Mapping[str, Any] | None = None,
    on_click: Callable[[float | str, float | str], None] | None = None,
) -> None:
    """Send a figure to the browser; a click on a point calls `on_click` with its x and y."""
    fig, frames = frame_at_rest(fig, film, frames)
    height = fig.layout.height
    fig.layout.height, fig.layout.autosize = None, True
    texts = {path: list(v) for path, v in frames.items() if is_text(v[0])}
    if film is not None:
        film.expects(texts)
        film.expects({path: v for path, v in frames.items() if path not in texts}, film.since)
    header = {
        "figure": theme.styled(fig),
        "alt": alt,
        "name": "".join(c if c.isalnum() else "-" for c in alt.lower())[:40].strip("-") or "figure",
        "csv": to_csv(data) if data is not None else None,
        "height": None if share else height or 380,
        "share": share,
        "clickable": on_click is not None,
        "film": film.channel if film else None,
        "at": film.at if film else 0,
        "count": film.count if film else 1,
        "since": film.since if film else 0,
        "reel": film.reel if film else "",
        "frames": [path for path in frames if path not in texts],
        "texts": texts,
    }
    chart = f"figure-{key}"

    def clicked() -> None:
        point = last_message(chart, "point")
        if on_click is not None and isinstance(point, Mapping):
            on_click(point.get("x", ""), point.get("y", ""))

    arrays = {path: v for path, v in frames.items() if path not in texts}
    mount(key=chart, data=wire.pack(header, arrays), on_point_change=clicked)


def frame_at_rest(
    fig: Figure, film: Film | None, frames: Mapping[str, Any] | None = None
) -> tuple[Any, Mapping[str, Any]]:
    """The figure where the film rests, and what of it turns; of a dictionary, its `per_frame` leaves. Without
    a film it stands at its end."""
    if not isinstance(fig, Mapping):
        return fig, frames or {}
    if film is None:
        return moving.at(fig, -1), {}
    return moving.at(fig, film.at), moving.frames(fig, film.since)


def is_text(value: Any) -> bool:
    """A text, or several."""
    return isinstance(value, str) or (
        isinstance(value, list | tuple) and all(isinstance(v, str) for v in value)
    )


def clickable(
    fig: Figure,
    *,
    key: str,
    alt: str,
    data: Table | None = None,
    mark: bool = True,
    share: float | None = None,
    film: Film | None = None,
    frames: Mapping[str, Any] | None = None,
) -> dict[str, Any] | None:
    """Draw a figure whose points can be clicked; the selected one as dict(x, y, customdata), or None.

    It stays selected (in the URL too) until it is clicked again, or another one.
    `selection(key)` gives it before the figure is made.

    Args:
        mark: draw a ring around the selected point.
    """
    state.register(key, "selection")
    fig, frames = frame_at_rest(fig, film, frames)
    raw = state.get(key)
    point = find(fig, parse_point(raw))
    if raw is not None and point is None:
        state.put(key, None)
        state.set_warning(key, f"There is no point {key}={state.short(raw)} in this picture: click one.")
    state.show_warning(key, point is None)
    st.session_state[f"_points:{key}"] = point
    if point is not None and mark:
        outline(fig, point)

    def clicked(x: float | str, y: float | str) -> None:
        again = point is not None and is_same_place(x, point["x"]) and is_same_place(y, point["y"])
        state.select(key, None if again else {"x": x, "y": y})

    draw(
        fig, key=key, alt=alt, data=data, share=share, film=film, frames=frames, on_click=clicked
    )  # fmt: skip
    state.publish(key)
    return point


def button_figure(
    fig: Figure,
    *,
    key: str,
    alt: str,
    on_press: Callable[[Any, Any], Mapping[str, Any]],
    data: Table | None = None,
    share: float | None = None,
    film: Film | None = None,
    frames: Mapping[str, Any] | None = None,
    whole: bool = True,
) -> None:
    """Draw a figure whose points are buttons: nothing stays selected, each click sets controls.

    Args:
        on_press: x, y of the point -> the controls by key, as in a scene.
        whole: x and y are whole numbers.
    """

    def pressed(x: float | str, y: float | str) -> None:
        if not isinstance(x, str) and not isinstance(y, str):
            state.set_values(on_press(round(x), round(y)) if whole else on_press(x, y))

    draw(fig, key=key, alt=alt, data=data, share=share, film=film, frames=frames, on_click=pressed)


def selection(key: str) -> dict[str, Any] | None:
    """The selected point of `clickable(key=...)`, before its figure is made: dict(x, y, customdata=None).

    x and y are finite numbers; what a link says may be far from every point of the figure.
    """
    point = parse_point(state.get(key))
    return None if point is None or isinstance(point["x"], str) or isinstance(point["y"], str) else point


def selected_cell(key: str, rows: int, columns: int) -> tuple[int, int] | None:
    """Row and column of the selected point (x = column, y = row) on a map of these sizes; None outside."""
    point = selection(key)
    return None if point is None else cell((point["x"], point["y"]), rows, columns)


def cell(place: tuple[Any, Any] | None, rows: int, columns: int) -> tuple[int, int] | None:
    """Row and column of a place (x, y) on a map of these sizes; None outside."""
    if place is None or not all(isinstance(v, int) for v in place):
        return None
    column, row = place
    return (row, column) if 0 <= row < rows and 0 <= column < columns else None


def parse_point(raw: str | None) -> dict[str, Any] | None:
    """The point that a text stands for, its x and y numbers or names; None if it stands for none."""
    x, comma, y = (raw or "").partition(",")
    return {"x": value(x), "y": value(y), "customdata": None} if comma else None


def value(text: str) -> int | float | str:
    """A number where the text spells one (whole if it is, and exactly so), else the text."""
    try:
        number = float(text)
    except ValueError:
        return text
    if not math.isfinite(number):
        return text
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def find(fig: Figure, point: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The figure's point at the selected place, with its customdata; None if there is none."""
    if point is None:
        return None
    traces = [t for t in fig.data if t.type in ("scatter", "bar") and t.x is not None and t.y is not None]
    for trace in sorted(traces, key=lambda t: t.customdata is None):  # what has data is meant to be clicked
        for index, (x, y) in enumerate(zip(trace.x, trace.y, strict=False)):
            if is_same_place(x, point["x"]) and is_same_place(y, point["y"]):
                data = trace.customdata[index] if trace.customdata is not None else None
                return {
                    "x": to_list(x),
                    "y": to_list(y),
                    "customdata": None if data is None else array(data).tolist(),
                }
    for plane in fig.data:  # of `click_plane`: any of its columns with any of its rows
        if plane.type == "heatmap" and plane.name == "click":
            xs, ys = ([to_list(v) for v in line if is_same_place(v, point[axis])]
                      for axis, line in (("x", plane.x), ("y", plane.y)))  # fmt: skip
            if xs and ys:
                return {"x": xs[0], "y": ys[0], "customdata": None}
    return None


def is_same_place(a: Any, b: Any) -> bool:
    try:
        return math.isclose(float(a), float(b), rel_tol=2e-6, abs_tol=1e-9)
    except (TypeError, ValueError):
        return str(a) == str(b)


def to_list(v: Any) -> Any:
    return v.item() if hasattr(v, "item") else v


def outline(fig: Figure, point: Mapping[str, Any]) -> None:
    """A ring around the point."""
    fig.add_scatter(
        x=[point["x"]], y=[point["y"]], mode="markers", showlegend=False, hoverinfo="skip", name="selected",
        marker={"symbol": "circle-open", "size": 22, "color": theme.VERMILLION, "line": {"width": 4}},
    )  # fmt: skip


def download(data: Table | None, key: str) -> None:
    """A small button that saves `data` as CSV."""
    if data is not None:
        st.download_button(
            "CSV", lambda: to_csv(data), file_name=f"{key[:40]}.csv", mime="text/csv", key=f"csv-{key}",
            on_click="ignore", type="tertiary", icon=":material/download:",
        )  # fmt: skip


def to_csv(data: Table) -> str:
    """Columns of equal length as CSV text.

    Raises:
        ValueError: the columns differ in length.
    """
    columns = {name: column(values) for name, values in data.items()}
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return out.getvalue()


def column(values: Any) -> Sequence[Any]:
    if isinstance(values, Sequence) and not isinstance(values, str):
        return [to_list(v) for v in values]
    return array(values).ravel().tolist()


def table(data: Table, *, alt: str = "", key: str | None = None, height: int | None = None) -> None:
    """A table of columns; Streamlit's toolbar saves it as CSV.

    Args:
        height: in pixels, more scrolls inside; None is as high as its first rows.
    """
    size: dict[str, Any] = {} if height is None else {"height": height}
    st.dataframe(
        {name: column(values) for name, values in data.items()},
        hide_index=True,
        placeholder="–",
        alt=alt or None,
        key=key,
        **size,
    )
