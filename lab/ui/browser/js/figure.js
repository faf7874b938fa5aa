// A figure: drawn by Plotly, and again only where its data changed; its frames turn with a film.
//
// header: {figure: {data, layout}, alt, name, csv, share | height, film, frames: {path: array}, clickable}
// and of a film that grows reel, its name, and since, the first frame that is sent.
// A path names what moves: "data.0.z", "layout.title.text". Text that moves lies in header.texts.

import {unpack, frame, same, plotly, painted, decoded} from "./wire.js";
import {film} from "./film.js";
import {tools} from "./tools.js";
import {cloud, marks, alone, hollow, paint} from "./dots.js";
import {nameEnds} from "./ends.js";

const CONFIG = {displayModeBar: false, scrollZoom: false, doubleClick: false};
export const drawing = (window.lecternDrawing ??= new Set()); // promises of what is being drawn now

export default function (component) {
  const root = component.parentElement, box = root.querySelector(".lectern-figure");
  const state = (box.lectern ??= {});
  state.report = component.setStateValue;
  state.gone = false;
  const end = () => { state.gone = true; state.leave?.(); }; // off the page: its film must not draw it on
  if (same(state.bytes, component.data)) return end;
  state.bytes = component.data.slice();
  const work = (state.work = show(box, state)).finally(() => drawing.delete(work));
  drawing.add(work);
  return end;
}

async function show(box, state) {
  const spec = (state.spec = unpack(state.bytes));
  if (spec.reel) join(state, spec);
  const plot = box.querySelector(".plot");
  speak(spec);
  for (const node of [box, plot]) node.setAttribute("aria-label", spec.alt);
  const gap = spec.share < 1 ? ".5rem" : "0px"; // figures above each other stand so far apart
  box.style.height = spec.height ? `${spec.height}px` : `calc(var(--picture, 420px) * ${spec.share} - ${gap})`;
  const image = (format) => async () => (await plotly()).downloadImage(scaled(spec, state, plot).figure,
    {format, filename: spec.name, width: 1280, height: 720, scale: format === "png" ? 2 : 1});
  tools(box, spec.name, {svg: image("svg"), png: image("png"), csv: () => spec.csv ?? table(put(spec, state.at))});
  state.leave?.();
  state.leave = null;
  const library = await plotly();
  if (state.spec !== spec || state.gone) return; // a newer figure has come meanwhile, or none
  const first = cloud(spec), marked = marks(spec);
  const still = alone([...(spec.frames ?? []), ...Object.keys(spec.texts ?? {})], first, marked);
  const draw = async (at, turns) => {
    state.at = at;
    state.factor = textFactor(plot.clientWidth);
    state.width = plot.clientWidth;
    const {figure, moved} = scaled(spec, state, plot);
    if (!(turns && still)) {
      const {data, layout} = hollow(figure, first, marked);
      const margin = plot._fullLayout?._size.r;
      await library.react(plot, data, layout, CONFIG);
      if (!turns || plot._fullLayout._size.r !== margin) await placeScales(plot, library);
    }
    state.ends = moved && (async () => {
      const places = moved();
      if (Object.keys(places).length) await library.relayout(plot, places);
    });
    await state.ends?.();
    state.dots = () => paint(plot, figure, first, marked);
    state.dots();
  };
  state.draw = (at, turns = false) => inTurn(state, () => draw(at, turns));
  if (spec.film) {
    const clock = film(spec.film);
    const now = () => Math.min(clock.at ?? spec.at, spec.count - 1);
    const turn = () => (now() === state.at ? null : state.draw(now(), true)); // the bar of a new film tells where it stands
    await state.draw(now());
    if (state.gone) return;
    state.leave = clock.join(turn);
    await turn(); // it may have turned meanwhile
  } else {
    await state.draw(0);
  }
  if (!state.listening) {
    state.listening = true;
    plot.on("plotly_click", (event) => clicked(state, event));
    window.addEventListener("lectern:stage", () => box.isConnected && state.draw(state.at));
    new ResizeObserver(() => resized(plot, state, library)).observe(plot);
  }
  await fit(plot, state, library);
  window.lecternPainted = await painted(); // for those who take the time
}

// What draws on a plot, one after another: two drawings at once would share their margins.
function inTurn(state, task) {
  const done = (state.drawn ?? Promise.resolve()).catch(() => {}).then(task);
  state.drawn = done;
  return done;
}

// Frames of a film that grows: those that were sent before, then the new ones. What was lost on the way looks
// like the first new one, until all are sent again.
function join(state, spec) {
  const old = state.reel?.name === spec.reel ? state.reel.arrays : {};
  for (const path of spec.frames) {
    const {values, shape} = spec.arrays[path], size = shape.slice(1).reduce((a, b) => a * b, 1);
    const all = new values.constructor(size * spec.count), had = old[path]?.values.subarray(0, size * spec.since) ?? [];
    all.set(had);
    for (let at = had.length; at < size * spec.since; at += size) all.set(values.subarray(0, size), at);
    all.set(values, size * spec.since);
    spec.arrays[path] = {values: all, shape: [spec.count, ...shape.slice(1)]};
  }
  state.reel = {name: spec.reel, arrays: spec.arrays};
}

// Objects anew, since Plotly writes into them; lists of numbers and texts are shared.
function clone(node) {
  if (!node || typeof node !== "object" || ArrayBuffer.isView(node)) return node;
  if (Array.isArray(node)) return typeof node[0] === "object" ? node.map(clone) : node;
  return Object.fromEntries(Object.entries(node).map(([key, child]) => [key, clone(child)]));
}

// What a figure says under the pointer was written for one frame: where the values move, they speak themselves.
function speak(spec) {
  for (const path of [...(spec.frames ?? []), ...Object.keys(spec.texts ?? {})]) {
    const [, index, name] = /^data\.(\d+)\.([xyz])$/.exec(path) ?? [];
    const trace = spec.figure.data[index];
    if (!name || !trace?.hovertext || `data.${index}.hovertext` in (spec.texts ?? {})) continue;
    delete trace.hovertext;
    if (trace.hoverinfo !== "skip") trace.hoverinfo = trace.type === "heatmap" ? "z" : name;
  }
}

// The figure at frame `at` of its film.
function put(spec, at) {
  const figure = clone(spec.figure);
  const set = (path, value) => {
    const keys = path.split(".");
    let place = figure;
    for (const key of keys.slice(0, -1)) place = place[key] ??= {};
    place[keys[keys.length - 1]] = value;
  };
  for (const path of spec.frames ?? []) set(path, frame(spec.arrays[path], at));
  for (const [path, values] of Object.entries(spec.texts ?? {})) set(path, values[at]);
  return figure;
}

// What stands in the figure now, a point a row, as CSV: its trace, its place in the words of the axes, the value
// of a cell or the text that stands there, and how far its error bar reaches.
function table({data, layout}) {
  const traces = data.filter((trace) => trace.name !== "click"); // what only hears clicks
  const cell = (value) => (/[",\n]/.test(`${value ?? ""}`) ? `"${`${value}`.replaceAll('"', '""')}"` : (value ?? ""));
  const list = (values) => Array.from(values?.bdata ? decoded(values) : values ?? []);
  const axis = (trace, letter) => layout[(trace[`${letter}axis`] ?? letter).replace(letter, `${letter}axis`)] ?? {};
  const places = (trace, letter, length) => {
    const named = new Map(), {tickvals, ticktext} = axis(trace, letter);
    const words = list(ticktext);
    list(tickvals).forEach((value, i) => named.set(value, words[i]));
    const known = list(trace[letter]), start = trace[`${letter}0`] ?? 0, step = trace[`d${letter}`] ?? 1;
    const all = known.length ? known : Array.from({length}, (_, i) => start + i * step);
    return all.every((place) => named.has(place)) ? all.map((place) => named.get(place)) : all;
  };
  const title = (letter) => {
    const titles = new Set(traces.map((trace) => axis(trace, letter).title?.text));
    return (titles.size === 1 && [...titles][0]) || letter;
  };
  const rows = traces.flatMap((trace) => {
    const name = trace.name ?? trace.type ?? "scatter";
    if (trace.z) {
      const z = list(trace.z), ys = places(trace, "y", z.length), xs = places(trace, "x", z[0].length);
      return z.flatMap((line, i) => Array.from(line, (value, j) => [name, xs[j], ys[i], `${value ?? ""}`, ""]));
    }
    const length = Math.max(list(trace.x).length, list(trace.y).length);
    const xs = places(trace, "x", length), ys = places(trace, "y", length);
    const texts = list(Array.isArray(trace.text) ? trace.text : []), errors = list(trace.error_y?.array);
    return xs.map((x, i) => [name, x, ys[i], texts[i], errors[i]]);
  });
  const head = ["trace", title("x"), title("y"), "value", "error"];
  const used = head.map((_, i) => i < 3 || rows.some((row) => (row[i] ?? "") !== ""));
  return [head, ...rows].map((row) => row.filter((_, i) => used[i]).map(cell).join(",") + "\r\n").join("");
}

// The figure as it stands now, its texts in the size that fits, and what moves the names of its lines.
function scaled(spec, state, plot) {
  const figure = put(spec, state.at);
  scaleText(figure, state.factor);
  return {figure, moved: nameEnds(figure, plot)};
}

// A change of size redraws, after what is being drawn. Where the view changes, its columns come before its
// figures: the old one is not drawn once more for them.
function resized(plot, state, library) {
  if (!plot.clientWidth) return;
  const spec = state.spec, paints = () => new Promise(requestAnimationFrame);
  state.work = state.work.catch(() => {}).then(paints).then(paints)
    .then(() => state.spec === spec && !state.gone && fit(plot, state, library));
  const work = state.work.catch(() => {}).finally(() => drawing.delete(work));
  drawing.add(work);
}

// As large as its place; texts keep their size down to a narrow figure, and shrink there.
async function fit(plot, state, library) {
  const {clientWidth: width, clientHeight: height} = plot;
  if (!width) return;
  const {ends, apart} = state.spec.figure.layout.meta ?? {};
  const named = (ends ?? apart) !== undefined && width !== state.width;
  if (named || textFactor(width) !== state.factor) await state.draw(state.at);
  await inTurn(state, async () => {
    const drawn = plot._fullLayout;
    if (Math.abs(drawn.width - width) > 1 || Math.abs(drawn.height - height) > 1) {
      await library.relayout(plot, {autosize: true, ...ranges(put(state.spec, state.at).layout)});
      await placeScales(plot, library);
    }
    await state.ends?.();
    state.dots?.();
  });
}

// Axes of one scale widen their ranges to fill a place, and would keep them in another: they begin anew.
function ranges(layout) {
  const axes = Object.entries(layout).filter(([name]) => /^[xy]axis\d*$/.test(name));
  if (!axes.some(([, axis]) => axis.scaleanchor)) return {};
  return Object.fromEntries(axes.map(([name, {range}]) =>
    range ? [`${name}.range`, [...range]] : [`${name}.autorange`, true]));
}

// Colour bars, once more: Plotly may widen a margin after it has placed the bar there, and leave it where it stood,
// so that its numbers leave the figure. It is seen on busy machines, once in some dozens of drawings.
async function placeScales(plot, library) {
  const scales = plot._fullData.flatMap((trace, i) => (trace.showscale && trace.colorbar ? [i] : []));
  if (scales.length) await library.restyle(plot, {"colorbar.x": scales.map((i) => plot._fullData[i].colorbar.x)}, scales);
}

const textFactor = (width) => Math.round(20 * Math.min(1, Math.max(0.7, width / 560))) / 20;

// Texts are smaller in narrow figures, but on a phone never below 12 px; on the stage the smallest is 24 px at a
// width of 1920, and marks, lines and what stands for them in a legend grow with it.
function scaleText(figure, shrunk) {
  const fonts = [], {data, layout} = figure;
  const walk = (node) => {
    for (const [name, child] of Object.entries(node)) {
      if (!child || typeof child !== "object" || ArrayBuffer.isView(child)) continue;
      if (/font$/.test(name) && typeof child.size === "number") fonts.push(child);
      walk(child);
    }
  };
  walk(layout);
  data.forEach((trace) => walk({...trace, x: 0, y: 0, z: 0, customdata: 0, hovertext: 0, text: 0}));
  if (!fonts.length) return;
  const staged = document.documentElement.hasAttribute("data-stage"), least = innerWidth > 640 ? 12 : 0;
  const factor = staged ? Math.max(1, (24 * innerWidth) / 1920 / Math.min(...fonts.map((font) => font.size))) : shrunk;
  for (const font of fonts) font.size = Math.max(least, font.size * factor);
  if (factor === 1) return;
  if (staged) growMarks(data, layout, factor);
  else for (const trace of data) if (layout.meta?.shrinks || /text/.test(trace.mode ?? "")) grow(trace.marker, "size", factor);
  grow(layout.margin ??= {}, "t", factor);
}

function growMarks(data, layout, factor) {
  for (const trace of data) {
    if (/^scatter/.test(trace.type ?? "scatter")) {
      const mode = trace.mode ?? "lines+markers";
      if (mode.includes("lines")) grow(trace.line ??= {}, "width", factor, 2); // Plotly's own, where none is named
      if (mode.includes("markers")) grow(trace.marker ??= {}, "size", factor, 6);
    }
    grow(trace.marker?.line, "width", factor);
    for (const bars of [trace.error_x, trace.error_y]) grow(bars, "thickness", factor, 2);
    grow(trace.colorbar, "thickness", factor);
  }
  for (const shape of layout.shapes ?? []) grow(shape.line ??= {}, "width", factor, 2);
  for (const arrow of layout.annotations ?? []) if (arrow.showarrow !== false) grow(arrow, "arrowwidth", factor, 1);
  grow(layout.legend ??= {}, "itemwidth", factor, 30);
}

function grow(part, name, factor, usual) {
  const size = part?.[name] ?? usual;
  if (!part) return;
  if (typeof size === "number") part[name] = size * factor;
  else if (size?.length) part[name] = Array.from(size, (one) => one * factor);
}

function clicked(state, event) {
  const {spec, report} = state;
  if (!spec.clickable) return;
  const point = event.points.find((p) => p.data.name === "click" || p.customdata !== undefined) ?? event.points[0];
  if (!point) return;
  report("point", {x: plain(point.x), y: plain(point.y), seq: (state.seq = (state.seq ?? 0) + 1)});
}

const plain = (v) => (v instanceof Date ? v.toISOString() : v);
