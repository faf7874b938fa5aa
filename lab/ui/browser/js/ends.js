// The names of lines beside them, in their colours, in place of a legend: at their right ends (`layout.meta.ends`),
// or, where all end alike, at the place where a line is farthest from the others (`layout.meta.apart`). A name
// follows its line in a film. Where the names would take too much of a narrow figure, the legend stays.

import {decoded} from "./wire.js";

const SHARE = 0.4; // of the figure's width that names may take
const GAP = 6; // pixels from the plot to a name
const LINE = 1.2; // height of a line of type, in sizes of it
const TRIES = 60; // places along a line that are looked at
const FAR = 80; // pixels: two lines that are farther apart need no more
const CELL = 3; // pixels: lines are as wide
const LONGEST = 1e4; // pixels between two points; what is longer leaves the plot

// The places, moved as little as possible (least squares) so that no two are nearer than `gap`; their order is kept,
// and all lie between low and high if there is room for them.
export function apart(places, gap, low = -Infinity, high = Infinity) {
  const order = places.map((_, i) => i).sort((i, j) => places[i] - places[j]), pools = [];
  order.forEach((i, rank) => { // without its rank's gaps a place may not lie before the one before it
    let pool = {sum: places[i] - rank * gap, count: 1};
    for (let before; (before = pools[pools.length - 1]) && before.sum / before.count > pool.sum / pool.count;) {
      const {sum, count} = pools.pop();
      pool = {sum: pool.sum + sum, count: pool.count + count};
    }
    pools.push(pool);
  });
  const most = high - (places.length - 1) * gap, found = [];
  let rank = 0;
  for (const {sum, count} of pools)
    for (let i = 0; i < count; i++, rank++) found[order[rank]] = Math.max(low, Math.min(most, sum / count)) + rank * gap;
  return found;
}

const list = (values) => (values?.bdata ? decoded(values) : values ?? []);
const isLine = ({type = "scatter", mode = "lines", name, showlegend, visible}) =>
  type === "scatter" && /lines/.test(mode) && name && showlegend !== false && visible !== false;

// Names the lines of a figure that is about to be drawn on `plot`. -> a function that tells what Plotly has to move
// once the axes are drawn; null where the figure keeps its legend
export function nameEnds({data, layout}, plot) {
  const {ends, apart: within} = layout.meta ?? {}, above = ends ?? within;
  const lines = above === undefined ? [] : data.filter(isLine);
  if (!lines.length) return null;
  const {legend: {font: {size}}, font: {family, color: ink}} = layout.template.layout, gap = LINE * size;
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `${size}px ${family}`;
  const widths = lines.map(({name}) => Math.ceil(pen.measureText(name.replace(/<[^>]*>/g, "")).width));
  const width = Math.max(...widths);
  if (width > SHARE * plot.clientWidth || lines.length * gap > 0.7 * plot.clientHeight) return null;
  for (const line of lines) line.showlegend = false;
  if (ends !== undefined) layout.margin = {...layout.margin, r: Math.max(layout.margin?.r ?? 0, width + GAP + 4)};
  if (!data.some(({name, showlegend}) => name && showlegend !== false)) layout.margin.t *= above;
  const others = layout.annotations ?? [];
  const places = () => ends === undefined ? freePlaces(lines, plot, widths, gap)
    : endPlaces(lines, plot, gap).map((y) => ({x: 1, y, xanchor: "left", xshift: GAP, visible: true}));
  const stand = places();
  layout.annotations = [...others, ...lines.map(({name, line, marker, xaxis = "x", yaxis = "y"}, i) => ({
    text: name, showarrow: false, font: {size, color: inked(line?.color ?? marker?.color, ink)},
    xref: `${xaxis} domain`, yref: `${yaxis} domain`, yanchor: "middle", ...stand[i],
  }))];
  const same = (one, other) => one === other || Math.abs(one - other) < 1e-4;
  return () => Object.fromEntries(places().flatMap((place, i) => Object.entries(place)
    .filter(([key, value]) => !same(plot.layout.annotations[others.length + i][key], value))
    .map(([key, value]) => [`annotations[${others.length + i}].${key}`, value])));
}

// Shares of the height of their axes; the middle where nothing is drawn yet.
function endPlaces(lines, plot, gap) {
  const found = lines.map(() => 0.5), groups = {};
  lines.forEach(({xaxis, yaxis}, i) => (groups[`${xaxis} ${yaxis}`] ??= []).push(i));
  for (const group of Object.values(groups)) {
    const of = (letter) => plot._fullLayout?.[`${letter}axis${(lines[group[0]][`${letter}axis`] ?? letter).slice(1)}`];
    const across = of("x"), up = of("y");
    if (!across?._length || !up?._length) continue;
    const heights = group.map((i) => up._length - end(lines[i], across, up));
    const moved = apart(heights, gap, gap / 2, up._length);
    group.forEach((i, k) => { found[i] = moved[k] / up._length; });
  }
  return found;
}

// Pixels from the top of the plot to the right end of a line, as far as it has come; its middle, where there is none.
function end({x, y, x0 = 0, dx = 1}, across, up) {
  const xs = list(x), ys = list(y);
  let right = -Infinity, found = up._length / 2;
  for (let i = 0; i < ys.length; i++) {
    if (ys[i] === null) continue;
    const px = across.d2p(xs.length ? xs[i] : x0 + i * dx), py = up.d2p(ys[i]);
    if (Number.isFinite(px) && Number.isFinite(py) && px >= right) [right, found] = [px, py];
  }
  return Math.max(0, Math.min(up._length, found));
}

// Places beside the lines: where a name lies over no line and no other name, its line is far from the others, and
// it stood in the frame before.
function freePlaces(lines, plot, widths, height) {
  const stood = (plot.lecternNames ??= []), paths = lines.map((line) => path(line, plot)), taken = [];
  const ink = new Set(paths.flatMap(({points}) => points.map(([x, y]) => cell(x, y))));
  return paths.map(({points, across, up}, i) => {
    const others = paths.flatMap((other, j) => (j === i ? [] : other.points)), every = Math.ceil(points.length / TRIES);
    let best = null;
    for (const [x, y] of points.filter((_, k) => k % every === 0)) {
      const apart = others.reduce((least, [u, v]) => Math.min(least, Math.hypot(u - x, v - y)), FAR);
      const way = stood[i] ? Math.min(FAR, Math.hypot(stood[i].x - x, stood[i].y - y)) : 0;
      for (const side of [1, -1, 0]) { // to the right, to the left, above
        const left = x + side * GAP - (widths[i] * (1 - side)) / 2, middle = side ? y : y - GAP - height / 2;
        const box = [left, middle - height / 2, left + widths[i], middle + height / 2];
        if (box[0] < 0 || box[1] < 0 || box[2] > across || box[3] > up) continue;
        const over = taken.filter((other) => overlap(box, other)).length;
        const cost = 20 * covered(box, ink) + 3 * FAR * over - apart + way / 4;
        if (best === null || cost < best.cost) best = {cost, box, x, y, middle, side};
      }
    }
    if (best === null) return {x: 0.5, y: 0.5, xanchor: "left", xshift: 0, visible: false};
    taken.push(best.box);
    stood[i] = best;
    const xanchor = ["right", "center", "left"][best.side + 1];
    return {x: best.x / across, y: 1 - best.middle / up, xanchor, xshift: best.side * GAP, visible: true};
  });
}

// Where a line runs, cell by cell, in pixels from the upper left of its plot, and the size of that; no points before
// it is drawn.
function path({x, y, x0 = 0, dx = 1, xaxis = "x", yaxis = "y"}, plot) {
  const across = plot._fullLayout?.[`xaxis${xaxis.slice(1)}`], up = plot._fullLayout?.[`yaxis${yaxis.slice(1)}`];
  if (!across?._length || !up?._length) return {points: [], across: 1, up: 1};
  const xs = list(x), inside = ([px, py]) => px >= 0 && px <= across._length && py >= 0 && py <= up._length;
  const known = Array.from(list(y), (v, i) => (v === null ? [NaN, NaN]
    : [across.d2p(xs.length ? xs[i] : x0 + i * dx), up.d2p(v)]));
  return {points: [...between(known)].filter(inside), across: across._length, up: up._length};
}

// Points along a line, so near each other that no cell is left out; NaN breaks it.
function* between(points) {
  for (let i = 0; i + 1 < points.length; i++) {
    const [[x, y], [u, v]] = [points[i], points[i + 1]], far = Math.max(Math.abs(u - x), Math.abs(v - y));
    if (!(far < LONGEST)) continue;
    const steps = Math.ceil(far / CELL) || 1;
    for (let k = 0; k < steps; k++) yield [x + (k / steps) * (u - x), y + (k / steps) * (v - y)];
  }
}

const overlap = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
const cell = (x, y) => Math.floor(x / CELL) * 1e5 + Math.floor(y / CELL);

// How many cells of a box a line goes through.
function covered([left, top, right, bottom], ink) {
  let count = 0;
  for (let x = left; x < right + CELL; x += CELL)
    for (let y = top; y < bottom + CELL; y += CELL) count += ink.has(cell(x, y));
  return count;
}

// A line's colour with as much ink as makes letters of it.
function inked(color, ink) {
  const parts = (hex) => hex.match(/[0-9a-f]{2}/gi).map((v) => parseInt(v, 16)), known = /^#[0-9a-f]{6}$/i;
  if (!known.test(color ?? "") || !known.test(ink)) return color ?? ink;
  const mix = parts(color).map((v, i) => Math.round(0.7 * v + 0.3 * parts(ink)[i]));
  return `#${mix.map((v) => v.toString(16).padStart(2, "0")).join("")}`;
}
