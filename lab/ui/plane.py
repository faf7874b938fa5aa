# ruff: noqa: E501  (JavaScript)
"""A plane to point at: examples as dots, and the picture under the pointer, drawn in the browser.

Pictures on a grid of the plane are computed beforehand and sent as one sheet; between grid points
the browser blends the four nearest, so that nothing has to be asked of Python while the pointer
moves. A click is held in the URL and answered by Python with the exact picture.
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
from lab.ui import state
from lab.ui.figures import Table, download, hold

LEVELS = 63  # shades of ink in the sheet

HTML = """
<div class="plane">
  <svg class="map" viewBox="0 0 640 640" tabindex="0" role="application"></svg>
  <div class="side">
    <canvas role="img" aria-label="The picture under the pointer"></canvas>
    <p class="where" role="status"></p>
    <div class="tools"><button type="button" class="let-go">Let go</button>
      <button type="button" class="save">SVG</button></div>
  </div>
</div>
"""

CSS = """
.plane {display: flex; flex-wrap: wrap; gap: 20px; align-items: flex-start; font-family: var(--st-font);
        color: var(--st-text-color);}
.map {flex: 1 1 300px; min-width: 0; max-width: 640px; cursor: crosshair; touch-action: manipulation;
      border-radius: 8px; background: var(--st-background-color);}
.side {flex: 0 1 220px; display: flex; flex-direction: column; gap: 8px;}
canvas {width: min(220px, 60vw); aspect-ratio: 1; image-rendering: pixelated; box-sizing: border-box;
        border: 2px solid #E69F00; border-radius: 8px; background: var(--st-background-color);}
.where {margin: 0; font-size: 18px; font-variant-numeric: tabular-nums; min-height: 3.2em; white-space: pre-line;}
.tools {display: flex; gap: 6px;}
button {font: inherit; font-size: 15px; color: inherit; background: var(--st-secondary-background-color);
        border: 1px solid var(--st-border-color); border-radius: 8px; padding: 6px 12px; cursor: pointer;}
.map:focus-visible, button:focus-visible {outline: 3px solid var(--st-primary-color); outline-offset: 1px;}
"""

JS = """
const NS = "http://www.w3.org/2000/svg", LEFT = 56, TOP = 12, SIDE = 572;

function make(parent, name, attributes, text) {
  const node = document.createElementNS(NS, name);
  for (const [k, v] of Object.entries(attributes)) node.setAttribute(k, v);
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
}

async function sheetOf(data) {                       // ink of every tile, read once a sheet
  const image = new Image();
  image.src = data.sheet;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.width; canvas.height = image.height;
  const context = canvas.getContext("2d", {willReadFrequently: true});
  context.drawImage(image, 0, 0);
  const rgba = context.getImageData(0, 0, image.width, image.height).data;
  return {width: image.width, ink: Uint8Array.from({length: rgba.length / 4}, (_, i) => rgba[4 * i + 3])};
}

export default function (component) {
  const {data, parentElement: root, setStateValue} = component;
  const find = (s) => root.querySelector(s), svg = find(".map"), screen = find("canvas");
  const held = (root.host ?? root).lecternPlane ??= {seq: data.seq};
  const {extent, grid, tile} = data;
  const x = (u) => LEFT + (SIDE * (u + extent)) / (2 * extent);
  const y = (v) => TOP + (SIDE * (extent - v)) / (2 * extent);
  if (data.seq >= held.seq) { held.seq = data.seq; held.place = data.place; }

  // --- the map ------------------------------------------------------------------------------------
  svg.replaceChildren();
  svg.setAttribute("aria-label", data.alt);
  const style = {"font-family": data.font, "font-size": 20, fill: data.ink};
  for (const source of data.backgrounds) make(svg, "image", {
    href: source.href, x: x(-source.reach), y: y(source.reach), width: SIDE * source.reach / extent,
    height: SIDE * source.reach / extent, opacity: source.opacity, preserveAspectRatio: "none"});
  make(svg, "rect", {x: LEFT, y: TOP, width: SIDE, height: SIDE, fill: "none", stroke: data.line});
  for (let t = -Math.floor(extent); t <= extent; t++) {
    make(svg, "text", {...style, x: x(t), y: TOP + SIDE + 22, "text-anchor": "middle"}, t);
    make(svg, "text", {...style, x: LEFT - 8, y: y(t) + 7, "text-anchor": "end"}, t);
  }
  make(svg, "text", {...style, x: LEFT + SIDE / 2, y: 636, "text-anchor": "middle"}, data.names[0]);
  make(svg, "text", {...style, "text-anchor": "middle", transform: `translate(18 ${TOP + SIDE / 2}) rotate(-90)`}, data.names[1]);
  const dots = make(svg, "g", {});
  for (const [u, v, label] of data.points) if (Math.abs(u) <= extent && Math.abs(v) <= extent)
    make(dots, "circle", {cx: x(u), cy: y(v), r: 5, fill: data.colors[label % data.colors.length], "fill-opacity": 0.75,
                          stroke: data.paper, "stroke-width": 0.7});
  for (const mark of data.marks) {
    if (mark.line) make(svg, "polyline", {points: mark.line.map(([u, v]) => `${x(u)},${y(v)}`).join(" "),
                                          fill: "none", stroke: mark.color, "stroke-width": 4});
    if (mark.name === undefined) continue;
    make(svg, "circle", {cx: x(mark.at[0]), cy: y(mark.at[1]), r: 9, fill: mark.color, stroke: data.paper, "stroke-width": 2});
    make(svg, "text", {...style, x: x(mark.at[0]) + 13, y: y(mark.at[1]) - 9, "font-weight": 700, "font-size": 24,
                       stroke: data.paper, "stroke-width": 5, "paint-order": "stroke"}, mark.name);
  }
  const ring = make(svg, "circle", {r: 13, fill: "none", stroke: "#D55E00", "stroke-width": 4});
  const probe = make(svg, "g", {stroke: "#E69F00", "stroke-width": 3, fill: "none"});
  make(probe, "circle", {r: 9}); make(probe, "path", {d: "M-18 0H-9M18 0H9M0 -18V-9M0 18V9"});

  // --- the picture under the pointer ----------------------------------------------------------------
  screen.width = screen.height = tile;
  const at = (u, v) => {
    const column = ((u + extent) / (2 * extent)) * (grid - 1), row = ((extent - v) / (2 * extent)) * (grid - 1);
    const c = Math.min(grid - 2, Math.max(0, Math.floor(column))), r = Math.min(grid - 2, Math.max(0, Math.floor(row)));
    const fc = column - c, fr = row - r, {width, ink} = held.sheet;
    const picture = new ImageData(tile, tile), [red, green, blue] = data.rgb;
    for (let i = 0; i < tile; i++) for (let j = 0; j < tile; j++) {
      let sum = 0;
      for (const [dr, dc, weight] of [[0, 0, (1 - fr) * (1 - fc)], [0, 1, (1 - fr) * fc], [1, 0, fr * (1 - fc)], [1, 1, fr * fc]])
        sum += weight * ink[((r + dr) * tile + i) * width + (c + dc) * tile + j];
      picture.data.set([red, green, blue, sum], 4 * (i * tile + j));
    }
    screen.getContext("2d").putImageData(picture, 0, 0);
  };
  const show = (u, v) => {
    held.probe = [u, v];
    probe.setAttribute("transform", `translate(${x(u)} ${y(v)})`);
    find(".where").textContent = `${data.names[0]} = ${u.toFixed(2)}\\n${data.names[1]} = ${v.toFixed(2)}`;
    screen.dataset.u = u.toFixed(4); screen.dataset.v = v.toFixed(4);
    if (held.sheet) at(u, v);
  };
  const mark = () => {
    ring.setAttribute("visibility", held.place ? "visible" : "hidden");
    if (held.place) { ring.setAttribute("cx", x(held.place[0])); ring.setAttribute("cy", y(held.place[1])); }
  };
  const place = (event) => {
    const box = svg.getBoundingClientRect(), clamp = (t) => Math.max(-extent, Math.min(extent, t));
    const px = ((event.clientX - box.left) / box.width) * 640, py = ((event.clientY - box.top) / box.height) * 640;
    return [clamp(((px - LEFT) / SIDE) * 2 * extent - extent), clamp(extent - ((py - TOP) / SIDE) * 2 * extent)];
  };
  const hold = (where) => {
    held.place = where; held.seq += 1; mark();
    setStateValue("place", {seq: held.seq, place: where});
  };
  svg.onpointermove = (event) => show(...place(event));
  svg.onpointerleave = () => { if (held.place) show(...held.place); };
  svg.onclick = (event) => { const where = place(event); show(...where); hold(where); };
  svg.onkeydown = (event) => {
    const step = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]}[event.key];
    const clamp = (t) => Math.max(-extent, Math.min(extent, t));
    if (step) { event.preventDefault(); event.stopPropagation();
                show(clamp(held.probe[0] + step[0] * extent / 24), clamp(held.probe[1] + step[1] * extent / 24)); }
    else if (event.key === "Enter" || event.key === " ") { event.preventDefault(); hold(held.probe); }
  };
  find(".let-go").onclick = () => hold(null);
  find(".save").onclick = () => {
    const copy = svg.cloneNode(true);
    copy.setAttribute("xmlns", NS);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copy)], {type: "image/svg+xml"}));
    link.download = "plane.svg"; link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  mark();
  show(...(held.place ?? held.probe ?? [0, 0]));
  if (held.href !== data.sheet) {
    held.href = data.sheet;
    sheetOf(data).then((sheet) => { held.sheet = sheet; screen.dataset.ready = "true"; show(...held.probe); });
  }
}
"""

mount = st.components.v2.component("lectern_plane", html=HTML, css=CSS, js=JS)


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
    density: Any = None,
    density_reach: float | None = None,
    data: Table | None = None,
) -> tuple[float, float] | None:
    """A plane whose picture under the pointer is shown at once, and whose clicks are held in the URL.

    Args:
        tiles: (G, G, H, H) pictures in [0, 1] on a grid over [-extent, extent]²; row 0 is the top.
        points: (N, 2) dots; labels (N,) whole numbers that colour them.
        marks: what stands out, each with `color`, and `name` and `at` (a place), or `line` (M, 2), or both.
        show_tiles: draw the tiles behind the dots.
        density: (M, M) not negative, drawn as a cloud over [-density_reach, density_reach]².
        data: columns to save as CSV.

    Returns:
        The held place (u, v), or None.
    """
    state.register(key, "pick")
    place = held(key, extent)
    sheet = array(tiles)
    grid, tile = sheet.shape[0], sheet.shape[-1]
    ink, dots = theme.text(), array(points).reshape(-1, 2)
    classes = array(labels).astype(int) if labels is not None else np.zeros(len(dots), int)
    href = png(sheet.transpose(0, 2, 1, 3).reshape(grid * tile, grid * tile), ink)
    # a tile's middle stands on its grid point, so the sheet reaches half a step further
    backgrounds = [{"href": href, "reach": extent * grid / (grid - 1), "opacity": 0.5}] if show_tiles else []
    if density is not None:
        cloud = array(density) / max(float(array(density).max()), 1e-30)
        reach = density_reach or extent
        backgrounds.append(
            {"href": png(cloud, theme.OUTPUT), "reach": reach * len(cloud) / (len(cloud) - 1), "opacity": 0.9}
        )
    name = f"{key}-plane"

    def placed() -> None:
        message = st.session_state[name]["place"]
        if isinstance(message, dict):
            st.session_state[f"_seq:{key}"] = int(message.get("seq") or 0)
            where = message.get("place")
            hold(key, (float(where[0]), float(where[1])) if where else None)

    mount(
        key=name,
        data={
            "extent": extent,
            "grid": grid,
            "tile": tile,
            "names": list(names),
            "alt": alt,
            "sheet": href,
            "backgrounds": backgrounds,
            "points": [[round(float(u), 4), round(float(v), 4), int(c)]
                       for (u, v), c in zip(dots, classes, strict=True)],
            "colors": list(theme.CATEGORIES),
            "marks": [spelled(mark) for mark in marks],
            "place": list(place) if place else None,
            "seq": st.session_state.get(f"_seq:{key}", 0),
            "ink": ink,
            "rgb": [int(ink[i : i + 2], 16) for i in (1, 3, 5)],
            "paper": theme.paper(),
            "line": theme.grid(),
            "font": theme.FONT,
        },
        on_place_change=placed,
    )  # fmt: skip
    state.complaint(key, place is None)
    download(data, key)
    state.publish(key)
    return place


def held(key: str, extent: float) -> tuple[float, float] | None:
    """The held place of `plane(key=...)`; one sentence if the link's is none."""
    raw = state.get(key)
    if raw is None:
        return None
    try:
        u, v = (float(part) for part in raw.split(","))
    except ValueError:
        u = v = float("nan")
    if not (abs(u) <= extent and abs(v) <= extent):
        state.put(key, None)
        state.complain(
            key, f"The link says {key}={raw[:40]}, but {key} is two numbers from −{extent:g} to {extent:g}."
        )
        return None
    return u, v


def spelled(mark: Mapping[str, Any]) -> dict[str, Any]:
    """A mark as plain lists."""
    return {
        k: array(v).astype(float).round(4).tolist() if k in ("at", "line") else v for k, v in mark.items()
    }


def png(values: np.ndarray, color: str) -> str:
    """(H, W) in [0, 1] as a picture whose ink has this colour, and whose paper is clear."""
    levels = (np.clip(values, 0, 1) * LEVELS).round().astype(np.uint8)
    image = Image.fromarray(levels, "P")
    image.putpalette([int(color[i : i + 2], 16) for i in (1, 3, 5)] * (LEVELS + 1))
    alpha = bytes(round(255 * level / LEVELS) for level in range(LEVELS + 1))
    out = io.BytesIO()
    image.save(out, "PNG", transparency=alpha)
    return "data:image/png;base64," + base64.b64encode(out.getvalue()).decode()
