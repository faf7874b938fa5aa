// What a film moves most, on a canvas: clouds of dots, of which Plotly draws each as an element of its own, and
// what marks a place, a dot on a curve or a line across a plot, for which it would go through the whole figure.
//
// Painted are the last traces of a figure, where one is a cloud or a dot that moves, and all are plain dots and lines
// that nothing is asked of by the pointer, on axes whose range is given. Plotly keeps their names for the legend.

import {decoded} from "./wire.js";

const MANY = 60; // dots that make a cloud
const SIGNS = {
  circle: (p, r) => p.arc(0, 0, r, 0, 2 * Math.PI),
  square: (p, r) => p.rect(-r, -r, 2 * r, 2 * r),
  diamond: (p, r) => outline(p, [[1.3 * r, 0], [0, -1.3 * r], [-1.3 * r, 0], [0, 1.3 * r]]),
  cross: (p, r) => {
    const [a, b] = [0.4 * r, 1.2 * r];
    outline(p, [[b, a], [a, a], [a, b], [-a, b], [-a, a], [-b, a], [-b, -a], [-a, -a], [-a, -b], [a, -b], [a, -a], [b, -a]]);
  },
  x: (p, r) => {
    const a = r / Math.SQRT2;
    outline(p, [[0, a], [a, 2 * a], [2 * a, a], [a, 0], [2 * a, -a], [a, -2 * a], [0, -a], [-a, -2 * a], [-2 * a, -a], [-a, 0],
      [-2 * a, a], [-a, 2 * a]]);
  },
};
const DASHES = {solid: [], dot: [1, 1], dash: [3, 3], longdash: [5, 5], dashdot: [3, 1, 1, 1]};

function outline(path, corners) {
  corners.forEach(([x, y], i) => (i ? path.lineTo(x, y) : path.moveTo(x, y)));
  path.closePath();
}

const axis = (trace, letter) => `${letter}axis${(trace[`${letter}axis`] ?? letter).slice(1)}`;
const colored = (color) => typeof color === "string" || (Array.isArray(color) && typeof color[0] === "string");
const invisible = (trace) => trace.name === "click" && trace.type === "heatmap";

function plain(trace, layout) {
  const {mode = "", marker = {}, line = {}} = trace;
  const known = trace.hoverinfo === "skip" && (trace.type ?? "scatter") === "scatter"
    && /^(lines|markers|lines\+markers)$/.test(mode) && (trace.fill ?? "none") === "none";
  const dots = !/markers/.test(mode) || (colored(marker.color) && (marker.symbol ?? "circle").replace("-open", "") in SIGNS);
  const lines = !/lines/.test(mode) || (colored(line.color) && (line.shape ?? "linear") === "linear" && (line.dash ?? "solid") in DASHES);
  return known && dots && lines && ["x", "y"].every((letter) => {
    const {range, type} = layout[axis(trace, letter)] ?? {};
    return range && typeof range[0] === "number" && ["linear", "log"].includes(type ?? "linear");
  });
}

// Arrays of numbers as Plotly's own JSON has them, base64 of bytes -> typed arrays.
function opened(trace) {
  for (const letter of ["x", "y"]) if (trace[letter]?.bdata) trace[letter] = decoded(trace[letter]);
  return trace;
}

// -> number of the first trace that is painted here; Infinity: none
export function cloud({figure: {data, layout}, frames = []}) {
  let first = data.length;
  while (first > 0 && (plain(data[first - 1], layout) || invisible(data[first - 1]))) first -= 1;
  data.slice(first).forEach(opened);
  const moves = (i) => frames.includes(`data.${i}.x`) || frames.includes(`data.${i}.y`);
  const many = (trace, i) => i >= first && /markers/.test(trace.mode ?? "") && (moves(i) || trace.x?.length >= MANY);
  return data.some(many) ? first : Infinity;
}

// -> numbers of the shapes that are straight lines and move
const SHAPE = /^layout\.shapes\.(\d+)\.[xy][01]$/;
export function marks({figure: {layout}, frames = []}) {
  const moved = new Set(frames.map((path) => SHAPE.exec(path)?.[1]).filter(Boolean).map(Number));
  return [...moved].filter((i) => {
    const {type, line = {}, visible = true, label} = layout.shapes?.[i] ?? {};
    return type === "line" && typeof line.color === "string" && (line.dash ?? "solid") in DASHES && visible === true && !label;
  });
}

// Does Plotly have nothing to draw while these paths move?
export const alone = (paths, first, marked) => paths.every((path) => {
  const [, number] = /^data\.(\d+)\.(?:x|y|opacity|line\.color|marker\.(?:color|size|opacity|line\.color))$/.exec(path) ?? [];
  return number >= first || marked.includes(+(SHAPE.exec(path)?.[1] ?? NaN));
});

// The figure without what is painted here.
export function hollow({data, layout}, first, marked) {
  const shapes = layout.shapes?.map((shape, i) => (marked.includes(i) ? {...shape, visible: false} : shape));
  return {layout: shapes ? {...layout, shapes} : layout, data: data.map((trace, i) => (i < first || invisible(trace) ? trace
    : {...trace, x: [null], y: [null], marker: {...trace.marker, color: [trace.marker?.color].flat()[0]}}))};
}

export function paint(plot, {data, layout}, first, marked) {
  const home = plot.querySelector(".gl-container"), old = home?.querySelector(".dots");
  if (first === Infinity && !marked.length) { old?.remove(); return; }
  const canvas = old ?? home.appendChild(Object.assign(document.createElement("canvas"), {className: "dots"}));
  const {clientWidth: width, clientHeight: height} = plot, sharp = devicePixelRatio || 1, drawn = plot._fullLayout;
  Object.assign(canvas, {width: Math.round(width * sharp), height: Math.round(height * sharp)});
  Object.assign(canvas.style, {width: `${width}px`, height: `${height}px`});
  const context = canvas.getContext("2d");
  context.lineJoin = "round";
  data.forEach((trace, i) => {
    if (i < first || invisible(trace) || trace.visible === false) return;
    const across = drawn[axis(trace, "x")], up = drawn[axis(trace, "y")];
    const place = (axis, start, length) => {
      const [a, b] = axis.range, at = axis.type === "log" ? Math.log10 : (v) => v;
      return (v) => (v === null || v === undefined ? NaN : start + ((at(v) - a) / (b - a)) * length);
    };
    const x = place(across, across._offset, across._length), y = place(up, up._offset + up._length, -up._length);
    context.save();
    context.scale(sharp, sharp);
    context.beginPath();
    context.rect(across._offset, up._offset, across._length, up._length);
    context.clip();
    context.globalAlpha = trace.opacity ?? 1;
    if (/lines/.test(trace.mode)) stroke(context, trace, x, y);
    if (/markers/.test(trace.mode)) dots(context, trace, x, y);
    context.restore();
  });
  for (const i of marked) {
    context.save();
    context.scale(sharp, sharp);
    mark(context, layout.shapes[i], drawn);
    context.restore();
  }
}

// A line whose ends lie on axes, on shares of an axis ("y domain"), or of the whole ("paper").
function mark(context, {line, xref = "x", yref = "y", x0, x1, y0, y1, opacity = 1}, drawn) {
  const size = drawn._size, of = (ref, letter) => drawn[ref === "paper" ? `${letter}axis` : `${letter}axis${/\d*/.exec(ref.slice(1))[0]}`];
  const across = of(xref, "x"), up = of(yref, "y");
  const x = (v) => (xref === "paper" ? size.l + v * size.w : across._offset + (/domain/.test(xref) ? v * across._length : across.d2p(v)));
  const y = (v) => (yref === "paper" ? size.t + (1 - v) * size.h : up._offset + (/domain/.test(yref) ? (1 - v) * up._length : up.d2p(v)));
  context.beginPath();
  context.rect(across._offset, up._offset, across._length, up._length);
  context.clip();
  context.globalAlpha = opacity;
  const ends = {x: [x0, x1].map(x), y: [y0, y1].map(y), line};
  stroke(context, ends, (v) => v, (v) => v);
}

function stroke(context, {x: xs, y: ys, line}, x, y) {
  const width = line.width ?? 2;
  context.strokeStyle = line.color;
  context.lineWidth = width;
  context.setLineDash(DASHES[line.dash ?? "solid"].map((part) => part * Math.max(width, 3)));
  context.beginPath();
  let gap = true;
  for (let i = 0; i < xs.length; i++) {
    const [px, py] = [x(xs[i]), y(ys[i])];
    if (Number.isNaN(px) || Number.isNaN(py)) gap = true;
    else if (gap) { context.moveTo(px, py); gap = false; } else context.lineTo(px, py);
  }
  context.stroke();
  context.setLineDash([]);
}

function dots(context, {x: xs, y: ys, marker}, x, y) {
  const open = /-open$/.test(marker.symbol ?? ""), sign = SIGNS[(marker.symbol ?? "circle").replace("-open", "")];
  const {width = 0, color: edge = "#444"} = marker.line ?? {}, each = (value, i) => (typeof value === "object" ? value[i] : value);
  context.globalAlpha *= marker.opacity ?? 1;
  const shapes = new Map();
  for (let i = 0; i < xs.length; i++) {
    const [px, py] = [x(xs[i]), y(ys[i])];
    if (Number.isNaN(px) || Number.isNaN(py)) continue;
    const size = each(marker.size ?? 6, i), color = each(marker.color, i);
    if (!shapes.has(size)) { const path = new Path2D(); sign(path, size / 2); shapes.set(size, path); }
    context.translate(px, py);
    if (!open) { context.fillStyle = color; context.fill(shapes.get(size)); }
    if (open || width) {
      context.strokeStyle = open ? color : each(edge, i);
      context.lineWidth = open ? width || 1 : width;
      context.stroke(shapes.get(size));
    }
    context.translate(-px, -py);
  }
}
