"""Cells on a page: maps with many labels, drawn on a canvas, turned and clicked without waiting for Python.

`js/cells.js` draws them: one map large, where there are several all of them small beside it, and of more than
32 rows or columns a window. Plotly takes 167 ms a frame where the labels are 128, this 7.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from lab.figures import theme
from lab.figures.basic import array
from lab.ui.browser import wire
from lab.ui.browser.components import component, last_message
from lab.ui.figures.films import Film
from lab.ui.figures.plots import selected_cell
from lab.ui.session import state

HTML = """
<div class="lectern-cells" role="group">
  <canvas role="img" tabindex="0"></canvas><div class="tip" hidden></div><div class="tools"></div>
</div>
"""
mount = component("cells", HTML)


@dataclass(frozen=True)
class Beside:
    """Bars for each of the R frames of a film: `labels` (R lists of N), `values` (R, N) from 0 to 1, and in
    grey `before` (R, N)."""

    title: str
    labels: list[list[str]]
    values: Any
    before: Any = None


def cells(
    values: Any,
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    alt: str,
    key: str,
    maps: str | None = None,
    film: Film | None = None,
    off: Sequence[tuple[int, int]] = (),
    scale: theme.Scale = "violet",
    root: bool = False,
    staircase: bool = False,
    titles: Mapping[str, str] | None = None,
    beside: Beside | None = None,
    marks: Sequence[int] | None = None,
    wide: float = 1.6,
    share: float | None = 1.0,
    height: int | None = None,
    arcs: bool = False,
    band: int = 1,
    on_press: Callable[[int, int], Mapping[str, Any]] | None = None,
    grows: bool = False,
) -> None:
    """Draw maps of labelled cells. A click keeps a cell under `key` (x = column, y = row, from 0), or does
    what `on_press` says.

    Args:
        values: (R, C), or (down, across, R, C): all maps small, one of them large; NaN stays empty.
        rows, columns: R and C labels.
        maps: the key of the chosen map (x = across, y = down, from 1).
        film: turns the rows, and stays on the last one if it is longer; a kept cell moves it to its row.
        off: maps (down, across) that are crossed out, from 0.
        root: colours go by the root of a value, so that a small one is still seen.
        staircase: a line above the diagonal.
        marks: the column that is framed at each frame of the film; None frames the row's largest.
        beside: bars that belong to the frame of the film.
        titles: of "rows", "columns", "down" and "across".
        wide: a cell is at most so many times as wide as high.
        share: of the height of the stage's picture; with `height` (pixels) it is None.
        arcs: the large map as lines between its rows and its columns, as many of both.
        band: rows that the film turns at once.
        on_press: row and column that are clicked -> controls by key, as in a scene.
        grows: rows behind the one that the film stands at are not drawn yet.
    """
    v = array(values)
    v = v if v.ndim == 4 else v[None, None]
    down, across, R, C = v.shape
    kept = selected_place(key, R, C, 0) if on_press is None else None
    place = selected_place(maps, down, across, 1) if maps else None
    chosen = place[0] * across + place[1] if place else 0
    name = "".join(c if c.isalnum() else "-" for c in alt.lower())[:40].strip("-")
    header = {
        "alt": alt, "name": name, "rows": list(rows), "columns": list(columns), "grid": [down, across],
        "chosen": chosen, "seq": int(st.session_state.get(f"_seq:{maps}", 0)), "follows": maps is not None,
        "off": [l * across + h for l, h in off], "kept": kept, "clickable": True, "root": root,
        "low": 0.0, "high": 1.0, "staircase": staircase, "wide": wide,
        "titles": {"rows": "", "columns": "", "down": "", "across": "", **(titles or {})},
        "colors": [color for _, color in theme.scale(scale)], "ink": theme.text(), "paper": theme.paper(),
        "line": theme.grid(), "soft": theme.soft(), "accent": theme.VERMILLION,
        "beside": {"title": beside.title, "labels": beside.labels} if beside else None,
        "bar": theme.OUTPUT, "grey": theme.HIDDEN, "share": None if height else share, "height": height,
        "film": film.channel if film else None, "at": film.at if film else 0,
        "arcs": arcs, "band": band, "grows": grows and film is not None,
    }  # fmt: skip
    arrays = {"values": v.reshape(down * across, R, C)}
    if marks is not None:
        arrays["marks"] = array(list(marks))
    if beside is not None:
        arrays["beside"] = beside.values
        if beside.before is not None:
            arrays["before"] = beside.before
    slot = f"cells-{key}"

    def pointed() -> None:
        result = last_message(slot, "point")
        if isinstance(result, Mapping):
            cell = int(result.get("y", -1)), int(result.get("x", -1))
            if not (0 <= cell[0] < R and 0 <= cell[1] < C):
                return
            if on_press is not None:
                state.set_values(on_press(*cell))
            else:
                state.select(key, None if kept == cell else (cell[1], cell[0]))
                if film is not None:
                    state.put(film.key, str(cell[0] // band))

    def turned() -> None:
        result = last_message(slot, "map")
        if maps and isinstance(result, Mapping) and 0 <= int(result.get("at", -1)) < down * across:
            l, h = divmod(int(result["at"]), across)
            st.session_state[f"_seq:{maps}"] = int(result.get("seq") or 0)
            state.select(maps, (h + 1, l + 1) if (l, h) != (0, 0) else None)

    mount(
        key=slot,
        data=wire.pack(header, arrays),
        on_point_change=pointed,
        on_map_change=turned,
    )
    for held_key in (key if on_press is None else None, maps):
        if held_key:
            state.publish(held_key)


def selected_place(key: str, rows: int, columns: int, first: int) -> tuple[int, int] | None:
    """The place that a link or a click has put under `key`, from 0; one that is not there gets a sentence."""
    state.register(key, "selection")
    cell = selected_cell(key, rows + first, columns + first)
    if cell is not None and min(cell) < first:
        cell = None
    if cell is None and (raw := state.get(key)) is not None:
        state.put(key, None)
        state.set_warning(key, f"There is no place {key}={state.short(raw)} in this picture: click one.")
    state.show_warning(key, cell is None)
    return None if cell is None else (cell[0] - first, cell[1] - first)
