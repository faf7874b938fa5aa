// The names of lines at their right ends, in their colours, in place of a legend (`layout.meta.ends`). A name
// follows its line's end in a film. Where the names would take too much of a narrow figure, the legend stays.

import {decoded} from "./wire.js";

const SHARE = 0.4; // of the figure's width that names may take
const GAP = 6; // pixels from the plot to a name
const LINE = 1.2; // height of a line of type, in sizes of it

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
  const {ends} = layout.meta ?? {}, lines = ends === undefined ? [] : data.filter(isLine);
  if (!lines.length) return null;
  const {legend: {font: {size}}, font: {family, color: ink}} = layout.template.layout, gap = LINE * size;
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `${size}px ${family}`;
  const width = Math.ceil(Math.max(...lines.map(({name}) => pen.measureText(name.replace(/<[^>]*>/g, "")).width)));
  if (width > SHARE * plot.clientWidth || lines.length * gap > 0.7 * plot.clientHeight) return null;
  for (const line of lines) line.showlegend = false;
  layout.margin = {...layout.margin, r: Math.max(layout.margin?.r ?? 0, width + GAP + 4)};
  if (!data.some(({name, showlegend}) => name && showlegend !== false)) layout.margin.t *= ends;
  const others = layout.annotations ?? [], places = () => endPlaces(lines, plot, gap);
  const stand = places();
  layout.annotations = [...others, ...lines.map(({name, line, marker, xaxis = "x", yaxis = "y"}, i) => ({
    text: name, showarrow: false, font: {size, color: inked(line?.color ?? marker?.color, ink)},
    x: 1, xref: `${xaxis} domain`, xanchor: "left", xshift: GAP, y: stand[i], yref: `${yaxis} domain`, yanchor: "middle",
  }))];
  return () => Object.fromEntries(places().map((y, i) => [`annotations[${others.length + i}].y`, y])
    .filter(([, y], i) => !(Math.abs(plot.layout.annotations[others.length + i].y - y) < 1e-4)));
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

// A line's colour with as much ink as makes letters of it.
function inked(color, ink) {
  const parts = (hex) => hex.match(/[0-9a-f]{2}/gi).map((v) => parseInt(v, 16)), known = /^#[0-9a-f]{6}$/i;
  if (!known.test(color ?? "") || !known.test(ink)) return color ?? ink;
  const mix = parts(color).map((v, i) => Math.round(0.7 * v + 0.3 * parts(ink)[i]));
  return `#${mix.map((v) => v.toString(16).padStart(2, "0")).join("")}`;
}
