// A plane to point at: dots, a sheet of decoded pictures, and the picture under the pointer, without Python.
//
// data: {extent, grid, tile, names, alt, name, csv, share, sheet, backgrounds, points, colors, classes, marks, place,
//   seq, ink, rgb, paper, line}; what it tells: place {seq, place: [u, v] or null}

import {tools, save} from "./tools.js";

const NS = "http://www.w3.org/2000/svg";

function make(parent, name, attributes, text) {
  const node = document.createElementNS(NS, name);
  for (const [k, v] of Object.entries(attributes)) node.setAttribute(k, v);
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
}

async function sheetOf(href) { // ink of every tile, read once a sheet
  const image = new Image();
  image.src = href;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.width;
  canvas.height = image.height;
  const context = canvas.getContext("2d", {willReadFrequently: true});
  context.drawImage(image, 0, 0);
  const rgba = context.getImageData(0, 0, image.width, image.height).data;
  return {width: image.width, ink: Uint8Array.from({length: rgba.length / 4}, (_, i) => rgba[4 * i + 3])};
}

export default function ({data, parentElement, setStateValue}) {
  const box = parentElement.querySelector(".lectern-plane");
  const held = (box.lectern ??= {seq: data.seq});
  held.report = setStateValue;
  held.data = data;
  if (data.seq >= held.seq) { held.seq = data.seq; held.place = data.place; }
  const start = data.place ?? data.start; // the pointer goes where Python has something new to show
  if (held.start !== String(start)) { held.start = String(start); held.probe = start; }
  const find = (s) => box.querySelector(s), svg = find(".map");
  for (const node of [box, svg]) node.setAttribute("aria-label", data.alt);
  box.style.setProperty("--share", data.share);
  tools(box, data.name, {svg: () => save(new Blob([picture(svg)], {type: "image/svg+xml"}), `${data.name}.svg`),
    csv: data.csv && (() => data.csv)});
  find(".legend").replaceChildren(...data.classes.map((c) => {
    const item = document.createElement("span"), dot = document.createElement("i");
    dot.style.background = data.colors[c % data.colors.length];
    item.append(dot, String(c));
    return item;
  }));
  find(".let-go").onclick = () => select(box, held, null);
  if (!held.listening) listen(box, svg, held);
  draw(box, held);
  if (held.href !== data.sheet) {
    held.href = data.sheet;
    delete find("canvas").dataset.ready;
    sheetOf(data.sheet).then((sheet) => {
      if (held.href !== data.sheet) return; // a newer one has come
      held.sheet = sheet;
      find("canvas").dataset.ready = "true";
      probe(box, held, ...held.probe);
    });
  }
}

function picture(svg) {
  const copy = svg.cloneNode(true);
  copy.setAttribute("xmlns", NS);
  return new XMLSerializer().serializeToString(copy);
}

function listen(box, svg, held) {
  held.listening = true;
  const place = (event) => {
    const {left, top} = svg.getBoundingClientRect(), {extent} = held.data, {lead, head, side} = held;
    const clamp = (t) => Math.max(-extent, Math.min(extent, t));
    return [clamp(((event.clientX - left - lead) / side) * 2 * extent - extent),
      clamp(extent - ((event.clientY - top - head) / side) * 2 * extent)];
  };
  svg.onpointermove = (event) => probe(box, held, ...place(event));
  svg.onpointerleave = () => { if (held.place) probe(box, held, ...held.place); };
  svg.onclick = (event) => select(box, held, place(event));
  svg.onkeydown = (event) => {
    const step = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]}[event.key];
    const {extent} = held.data, clamp = (t) => Math.max(-extent, Math.min(extent, t));
    if (!step && event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    event.stopPropagation();
    if (step) probe(box, held, clamp(held.probe[0] + (step[0] * extent) / 24), clamp(held.probe[1] + (step[1] * extent) / 24));
    else select(box, held, held.probe);
  };
  new ResizeObserver(() => draw(box, held)).observe(box);
  window.addEventListener("lectern:stage", () => box.isConnected && draw(box, held));
}

function select(box, held, where) {
  held.place = where;
  held.seq += 1;
  ring(held);
  if (where) probe(box, held, ...where);
  held.report("place", {seq: held.seq, place: where});
}

// --- The map ------------------------------------------------------------------------------------------

function draw(box, held) {
  const {data} = held, {extent} = data, svg = box.querySelector(".map");
  const width = box.clientWidth, height = box.clientHeight;
  if (!width || !height) return;
  const staged = document.documentElement.hasAttribute("data-stage"), narrow = width < 520;
  const font = staged ? Math.ceil((24 * innerWidth) / 1920) : narrow ? 14 : 16;
  const full = narrow ? Math.min(width, height - 7.5 * font) : Math.min(height, 0.72 * width);
  const lead = 2.7 * font, foot = 2.7 * font, head = 0.6 * font, side = full - Math.max(lead + 0.8 * font, head + foot);
  Object.assign(held, {lead, head, side});
  svg.setAttribute("width", lead + side + 0.8 * font);
  svg.setAttribute("height", head + side + foot);
  box.toggleAttribute("data-narrow", narrow);
  const x = (held.x = (u) => lead + (side * (u + extent)) / (2 * extent));
  const y = (held.y = (v) => head + (side * (extent - v)) / (2 * extent));
  svg.replaceChildren();
  const style = {"font-family": getComputedStyle(box).fontFamily, "font-size": font, fill: data.ink};
  const clip = make(svg, "clipPath", {id: `clip-${data.name}`});
  make(clip, "rect", {x: lead, y: head, width: side, height: side});
  const inside = make(svg, "g", {"clip-path": `url(#clip-${data.name})`});
  const paint = (source) => make(inside, "image", {
    href: source.href, x: x(-source.reach), y: y(source.reach), width: (side * source.reach) / extent,
    height: (side * source.reach) / extent, opacity: source.opacity, preserveAspectRatio: "none"});
  data.backgrounds.filter((source) => !source.over).forEach(paint);
  make(svg, "rect", {x: lead, y: head, width: side, height: side, fill: "none", stroke: data.line});
  for (let t = -Math.floor(extent); t <= extent; t++) {
    make(svg, "text", {...style, x: x(t), y: head + side + 1.15 * font, "text-anchor": "middle"}, t);
    make(svg, "text", {...style, x: lead - 0.35 * font, y: y(t) + 0.35 * font, "text-anchor": "end"}, t);
  }
  make(svg, "text", {...style, x: x(0), y: head + side + 2.4 * font, "text-anchor": "middle"}, data.names[0]);
  make(svg, "text", {...style, "text-anchor": "middle", transform: `translate(${font} ${y(0)}) rotate(-90)`}, data.names[1]);
  const r = Math.max(3.5, side / 110);
  for (const [u, v, label] of data.points)
    make(inside, "circle", {cx: x(u), cy: y(v), r, fill: data.colors[label % data.colors.length], "fill-opacity": 0.75,
      stroke: data.paper, "stroke-width": 0.7});
  data.backgrounds.filter((source) => source.over).forEach(paint);
  for (const mark of data.marks) {
    if (mark.line) make(inside, "polyline", {points: mark.line.map(([u, v]) => `${x(u)},${y(v)}`).join(" "),
      fill: "none", stroke: mark.color, "stroke-width": 2.5});
    if (mark.name === undefined || Math.abs(mark.at[0]) > extent || Math.abs(mark.at[1]) > extent) continue;
    const [px, py] = [x(mark.at[0]), y(mark.at[1])], far = (mark.open ? 1.2 : 0.75) * font;
    // what lies under an open mark can be seen: four strokes point at it
    const cross = [[1, 0], [-1, 0], [0, 1], [0, -1]].map(([a, b]) => `M${px + a * far} ${py + b * far}L${px + 1.5 * a * far} ${py + 1.5 * b * far}`);
    if (mark.open) make(inside, "path", {d: cross.join(""), stroke: mark.color, "stroke-width": 4});
    else make(svg, "circle", {cx: px, cy: py, r: far, fill: "none", stroke: mark.color, "stroke-width": 4});
    const over = py - far - font < head, left = px + far + font > lead + side;
    make(svg, "text", {...style, x: px + (left ? -far : far), y: py + (over ? far + 0.9 * font : -far * 0.8), "text-anchor": left ? "end" : "start",
      "font-weight": 700, "font-size": 1.25 * font, stroke: data.paper, "stroke-width": 5, "paint-order": "stroke"}, mark.name);
  }
  held.ring = make(svg, "circle", {r: 0.75 * font, fill: "none", stroke: "#D55E00", "stroke-width": 4});
  held.cross = make(svg, "g", {stroke: "#E69F00", "stroke-width": 3, fill: "none"});
  make(held.cross, "circle", {r: 9});
  make(held.cross, "path", {d: "M-18 0H-9M18 0H9M0 -18V-9M0 18V9"});
  ring(held);
  probe(box, held, ...held.probe);
}

function ring({ring, place, x, y}) {
  ring.setAttribute("visibility", place ? "visible" : "hidden");
  if (place) { ring.setAttribute("cx", x(place[0])); ring.setAttribute("cy", y(place[1])); }
}

// --- The picture under the pointer ----------------------------------------------------------------------

function probe(box, held, u, v) {
  const {data} = held, screen = box.querySelector("canvas");
  held.probe = [u, v];
  held.cross.setAttribute("visibility", held.place || String([u, v]) !== String(data.start) ? "visible" : "hidden"); // not over A
  held.cross.setAttribute("transform", `translate(${held.x(u)} ${held.y(v)})`);
  box.querySelector(".where").textContent = `(${u.toFixed(2)}, ${v.toFixed(2)})`;
  screen.dataset.u = u.toFixed(4);
  screen.dataset.v = v.toFixed(4);
  if (!held.sheet) return;
  const {extent, grid, tile, rgb} = data, {width, ink} = held.sheet;
  if (screen.width !== tile) screen.width = screen.height = tile;
  // between the points of the grid, the four nearest are blended
  const column = ((u + extent) / (2 * extent)) * (grid - 1), row = ((extent - v) / (2 * extent)) * (grid - 1);
  const c = Math.min(grid - 2, Math.max(0, Math.floor(column))), r = Math.min(grid - 2, Math.max(0, Math.floor(row)));
  const fc = column - c, fr = row - r, shown = new ImageData(tile, tile);
  const corners = [[0, 0, (1 - fr) * (1 - fc)], [0, 1, (1 - fr) * fc], [1, 0, fr * (1 - fc)], [1, 1, fr * fc]];
  for (let i = 0; i < tile; i++) for (let j = 0; j < tile; j++) {
    let sum = 0;
    for (const [dr, dc, weight] of corners) sum += weight * ink[((r + dr) * tile + i) * width + (c + dc) * tile + j];
    shown.data.set([...rgb, sum], 4 * (i * tile + j));
  }
  screen.getContext("2d").putImageData(shown, 0, 0);
}
