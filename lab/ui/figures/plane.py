"""A plane to point at: examples as dots, and the picture under the pointer, drawn in the browser.

Pictures on a grid of the plane are computed beforehand and sent as one sheet; between grid points
the browser blends the four nearest, so that nothing has to be asked of Python while the pointer
moves. A click is kept in the URL and answered by Python with the exact picture. `js/plane.js` draws it.
"""

import base64
import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import streamlit as st
from PIL import Image

from lab.figures import theme
from lab.figures.basic import array
from lab.ui.browser.components import component, last_message
from lab.ui.figures.plots import Table, to_csv
from lab.ui.session import state

LEVELS = 63  # shades of ink in the sheet

HTML = """
<div class="lectern-plane" role="group">
  <svg class="map" tabindex="0" role="application"></svg>
  <div class="side">
    <canvas role="img" aria-label="The picture under the pointer"></canvas>
    <div class="words"><span class="where" role="status"></span>
      <p class="legend" role="img" aria-label="Colours of the classes"></p>
      <button type="button" class="let-go">Let go</button></div>
  </div>
  <div class="tools"></div>
</div>
"""
mount = component("plane", HTML)


def plane(
    tiles: Any,
    *,
    key: str,
    alt: str,
    extent: float,
    names: tuple[str, str] = ("z₁", "z₂"),
    points: Any = (),
    labels: Any = None,
    marks: Sequence[Mapping[str, Any]] = (),
    show_tiles: bool = True,
    every: int = 1,
    density: Any = None,
    density_reach: float | None = None,
    share: float = 1.0,
    data: Table | None = None,
) -> tuple[float, float] | None:
    """A plane whose picture under the pointer is shown at once, and whose clicks are kept in the URL.

    Args:
        tiles: (G, G, H, H) pictures in [0, 1] on a grid over [-extent, extent]²; row 0 is the top.
        points: (N, 2) dots; labels (N,) whole numbers that colour them.
        marks: what stands out, each with `color`, and `name` and `at` (a place), or `line` (M, 2), or both;
            `open` leaves free what lies under it.
        show_tiles: draw the tiles behind the dots, `every` second or third, from the first to the last, so
            that they are large enough to be seen.
        density: (M, M) not negative, drawn over the dots as a cloud on [-density_reach, density_reach]².
        share: of the height of the stage's picture.
        data: columns to save as CSV.

    Returns:
        The selected place (u, v), or None.
    """
    state.register(key, "selection")
    place = selection(key, extent)
    sheet = array(tiles)
    grid, tile = sheet.shape[0], sheet.shape[-1]
    ink, dots = theme.text(), array(points).reshape(-1, 2)
    classes = array(labels).astype(int) if labels is not None else np.zeros(len(dots), int)
    href, few = tiled(sheet, ink), sheet[::every, ::every]
    # a tile's middle stands on its grid point, so the sheet reaches half a step further
    reach = extent * len(few) / (len(few) - 1)
    behind = href if every == 1 else tiled(few, ink)
    backgrounds = [{"href": behind, "reach": reach, "opacity": 0.5}] if show_tiles else []
    if density is not None:
        cloud = array(density) / max(float(array(density).max()), 1e-30)
        reach = density_reach or extent
        backgrounds.append(
            {
                "href": png(cloud, theme.OUTPUT),
                "reach": reach * len(cloud) / (len(cloud) - 1),
                "opacity": 0.9,
                "over": True,
            }
        )
    name = f"{key}-plane"

    def placed() -> None:
        message = last_message(name, "place")
        if isinstance(message, dict):
            st.session_state[f"_seq:{key}"] = int(message.get("seq") or 0)
            where = message.get("place")
            state.select(key, (float(where[0]), float(where[1])) if where else None)

    mount(
        key=name,
        data={
            "extent": extent,
            "grid": grid,
            "tile": tile,
            "names": list(names),
            "alt": alt,
            "name": key,
            "csv": to_csv(data) if data is not None else None,
            "share": share,
            "start": next((spelled(mark)["at"] for mark in marks if "at" in mark), [0, 0]),
            "sheet": href,
            "backgrounds": backgrounds,
            "points": [[round(float(u), 4), round(float(v), 4), int(c)]
                       for (u, v), c in zip(dots, classes, strict=True)],
            "colors": list(theme.CATEGORIES),
            "classes": np.unique(classes).tolist() if labels is not None else [],
            "marks": [spelled(mark) for mark in marks],
            "place": list(place) if place else None,
            "seq": st.session_state.get(f"_seq:{key}", 0),
            "ink": ink,
            "rgb": [int(ink[i : i + 2], 16) for i in (1, 3, 5)],
            "paper": theme.paper(),
            "line": theme.grid(),
        },
        on_place_change=placed,
    )  # fmt: skip
    state.show_warning(key, place is None)
    state.publish(key)
    return place


def selection(key: str, extent: float) -> tuple[float, float] | None:
    """The selected place of `plane(key=...)`; one sentence if the link's is none."""
    raw = state.get(key)
    if raw is None:
        return None
    try:
        u, v = (float(part) for part in raw.split(","))
    except ValueError:
        u = v = float("nan")
    if not (abs(u) <= extent and abs(v) <= extent):
        state.put(key, None)
        state.set_warning(
            key, f"The link says {key}={raw[:40]}, but {key} is two numbers from −{extent:g} to {extent:g}."
        )
        return None
    return u, v


def spelled(mark: Mapping[str, Any]) -> dict[str, Any]:
    """A mark as plain lists."""
    return {
        k: array(v).astype(float).round(4).tolist() if k in ("at", "line") else v for k, v in mark.items()
    }


def tiled(tiles: np.ndarray, ink: str) -> str:
    """(G, G, H, H) pictures side by side."""
    side = tiles.shape[0] * tiles.shape[-1]
    return png(tiles.transpose(0, 2, 1, 3).reshape(side, side), ink)


@st.cache_data(max_entries=64, show_spinner=False)
def png(values: np.ndarray, color: str) -> str:
    """(H, W) in [0, 1] as a picture whose ink has this colour, and whose paper is clear."""
    levels = (np.clip(values, 0, 1) * LEVELS).round().astype(np.uint8)
    image = Image.fromarray(levels, "P")
    image.putpalette([int(color[i : i + 2], 16) for i in (1, 3, 5)] * (LEVELS + 1))
    alpha = bytes(round(255 * level / LEVELS) for level in range(LEVELS + 1))
    out = io.BytesIO()
    image.save(out, "PNG", transparency=alpha)
    return "data:image/png;base64," + base64.b64encode(out.getvalue()).decode()
