// A wall: moving pictures that turn with one film, each a link to the page that explains it, at this moment.
//
// header: {film, at, count, ink, soft, hidden, output, paper, reach, tiles: [{title, says, alt, kind, links, colors}]}
// arrays of tile i, under "i.name", states along the first axis; they are spread evenly over the film:
//   pictures: pictures (F, H, W), bytes        maps: maps (L, H, T, T), bytes; a row comes with each state
//   plane: lines (F, N, P, 2) and dots (F, N, 2), moved straight between states; `reach` is the edge of what is seen
//   tour: sheet (1, H, W), and pictures (F, S, S) at places (F, 2), from its middle, whose side is 1
//   text: no arrays, but `pieces` and how many of them are `given`

import {blank, unpack, same} from "./wire.js";
import {film} from "./film.js";
import {link} from "./go.js";

const LOUPE = 3.4; // of the tour's digit: so many cells of the sheet

export default function ({data, parentElement: root}) {
  const wall = root.querySelector(".lectern-wall"), state = (wall.lectern ??= {});
  const end = () => state.leave?.(); // off the page: its film must not draw it on
  if (same(state.bytes, data)) return end;
  state.bytes = data.slice();
  const spec = unpack(data);
  state.tiles = spec.tiles.map((tile, i) => ({...tile, spec, arrays: mine(spec.arrays, i)}));
  if (wall.childElementCount !== spec.tiles.length) wall.replaceChildren(...spec.tiles.map(() => document.createElement("a")));
  state.tiles.forEach((tile, i) => build(wall.children[i], tile));
  state.draw = (at) => {
    state.at = at;
    state.tiles.forEach((tile, i) => show(wall.children[i], tile, at));
  };
  state.leave?.();
  const clock = film(spec.film);
  state.leave = clock.join((at) => state.draw(at));
  state.draw(Math.min(clock.at ?? spec.at, spec.count - 1));
  if (!state.sizes) {
    state.sizes = new ResizeObserver(() => state.draw(state.at));
    state.sizes.observe(wall);
  }
  return end;
}

const mine = (arrays, i) => Object.fromEntries(Object.entries(arrays)
  .filter(([name]) => name.startsWith(`${i}.`)).map(([name, array]) => [name.slice(`${i}.`.length), array]));

function build(a, tile) {
  const make = (name, properties, ...children) => {
    const node = Object.assign(document.createElement(name), properties);
    node.append(...children);
    return node;
  };
  const view = make("div", {className: "view"}, tile.kind === "text"
    ? make("p", {}, make("span", {className: "given"}), make("span", {className: "written"}), make("i", {textContent: "▌"}))
    : make("canvas", {}));
  const seen = view.firstElementChild;
  seen.setAttribute("role", "img");
  seen.setAttribute("aria-label", tile.alt);
  a.className = "tile";
  a.replaceChildren(make("span", {className: "words"}, make("b", {textContent: `${tile.title}:`}), ` ${tile.says}`), view);
  tile.looks = tile.kind === "text" ? null : ramp(tile.colors);
  tile.sheets = new Map();
}

// 256 colours from the first of these to the last.
function ramp(colors) {
  const parts = colors.map((c) => [1, 3, 5].map((i) => parseInt(c.slice(i, i + 2), 16)));
  return Uint8Array.from({length: 3 * 256}, (_, i) => {
    const x = (Math.floor(i / 3) / 255) * (parts.length - 1), k = Math.min(Math.floor(x), parts.length - 2);
    return Math.round(parts[k][i % 3] + (x - k) * (parts[k + 1][i % 3] - parts[k][i % 3]));
  });
}

function show(a, tile, at) {
  link(a, tile.links[at]);
  a.dataset.at = at;
  if (tile.kind === "text") return write(a, tile, at);
  const canvas = a.querySelector("canvas"), ratio = window.devicePixelRatio || 1;
  const {clientWidth: width, clientHeight: height} = canvas;
  if (!width || !height) return;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const pen = canvas.getContext("2d"), side = Math.min(width, height);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.translate((width - side) / 2, (height - side) / 2);
  DRAW[tile.kind](pen, tile, side, at / (tile.spec.count - 1));
}

const count = (array) => array.shape[0] - 1;
const DRAW = {
  pictures(pen, tile, side, share) {
    const {pictures} = tile.arrays;
    paint(pen, picture(tile, pictures, floor(share * count(pictures))), 0, 0, side);
  },

  // The digits of the whole plane, and the one at this place under a loupe.
  tour(pen, tile, side, share) {
    const {sheet, places, pictures} = tile.arrays, at = floor(share * count(pictures));
    pen.globalAlpha = 0.45;
    paint(pen, picture(tile, sheet, 0), 0, 0, side, true);
    pen.globalAlpha = 1;
    const size = (LOUPE * pictures.shape[1] / sheet.shape[1]) * side;
    const x = (0.5 + places.values[2 * at]) * side - size / 2, y = (0.5 - places.values[2 * at + 1]) * side - size / 2;
    pen.fillStyle = tile.spec.paper;
    pen.fillRect(x, y, size, size);
    paint(pen, picture(tile, pictures, at), x, y, size);
    pen.strokeStyle = tile.spec.output;
    pen.lineWidth = Math.max(2, side / 90);
    pen.strokeRect(x, y, size, size);
  },

  plane(pen, tile, side, share) {
    const {lines, dots} = tile.arrays, {reach, hidden, output} = tile.spec;
    const after = share * count(lines), layer = Math.min(Math.floor(after + 1e-9), count(lines) - 1), part = after - layer;
    const scale = side / (2 * reach);
    const moved = ({values, shape}) => { // places of this moment, x and y in turn
      const size = shape.slice(1).reduce((a, b) => a * b, 1), from = layer * size;
      return Float32Array.from({length: size}, (_, i) => {
        const v = values[from + i] + part * (values[from + size + i] - values[from + i]);
        return side / 2 + (i % 2 ? -v : v) * scale;
      });
    };
    const grid = moved(lines), each = 2 * lines.shape[2];
    pen.save();
    pen.beginPath();
    pen.rect(0, 0, side, side);
    pen.clip();
    pen.beginPath();
    for (let i = 0; i < grid.length; i += 2)
      if (i % each) pen.lineTo(grid[i], grid[i + 1]); else pen.moveTo(grid[i], grid[i + 1]);
    pen.strokeStyle = hidden;
    pen.lineWidth = Math.max(1, side / 240);
    pen.stroke();
    const cloud = moved(dots), radius = Math.max(1.5, side / 130);
    pen.beginPath();
    for (let i = 0; i < cloud.length; i += 2) {
      pen.moveTo(cloud[i] + radius, cloud[i + 1]);
      pen.arc(cloud[i], cloud[i + 1], radius, 0, 7);
    }
    pen.fillStyle = output;
    pen.fill();
    pen.restore();
  },

  // A map for every head; each state lets one more token ask.
  maps(pen, tile, side, share) {
    const {values, shape: [layers, heads, T]} = tile.arrays.maps, row = floor(share * (T - 1));
    const cell = side / Math.max(layers, heads), gap = cell * 0.06, size = cell - gap;
    for (let map = 0; map < layers * heads; map++) {
      const x = (map % heads) * cell + gap / 2, y = Math.floor(map / heads) * cell + gap / 2;
      const sheet = kept(tile, `map ${map}`, () => sheetOf(tile, values.subarray(map * T * T, (map + 1) * T * T), T, T));
      const seen = ((row + 1) / T) * size;
      pen.imageSmoothingEnabled = sheet.width > size;
      pen.globalAlpha = 0.2; // who is still to ask
      pen.drawImage(sheet, x, y, size, size);
      pen.globalAlpha = 1;
      pen.drawImage(sheet, 0, 0, T, row + 1, x, y, size, seen);
      pen.strokeStyle = tile.spec.hidden;
      pen.lineWidth = 1;
      pen.strokeRect(x, y, size, size);
      pen.fillStyle = tile.spec.output; // who asks now
      pen.fillRect(x, y + seen, size, Math.max(1.5, side / 150));
    }
  },
};

const floor = (v) => Math.floor(v + 1e-9); // 3 · (1 / 3) may lie below 1

function write(a, tile, at) {
  const [given, written] = a.querySelectorAll("span.given, span.written");
  const to = tile.given + floor((at / (tile.spec.count - 1)) * (tile.pieces.length - tile.given));
  given.textContent = tile.pieces.slice(0, tile.given).join("");
  written.textContent = tile.pieces.slice(tile.given, to).join("");
}

// Picture number i of an array (F, H, W), a pixel each; pictures are kept, as a film shows them again and again.
const picture = (tile, {values, shape: [, H, W]}, i) =>
  kept(tile, `${H} ${i}`, () => sheetOf(tile, values.subarray(i * H * W, (i + 1) * H * W), H, W));

function kept(tile, name, make) {
  if (!tile.sheets.has(name)) tile.sheets.set(name, make());
  return tile.sheets.get(name);
}

function sheetOf({looks}, bytes, H, W) {
  const sheet = blank(W, H), pen = sheet.getContext("2d"), image = pen.createImageData(W, H);
  bytes.forEach((v, i) => image.data.set([looks[3 * v], looks[3 * v + 1], looks[3 * v + 2], 255], 4 * i));
  pen.putImageData(image, 0, 0);
  return sheet;
}

function paint(pen, sheet, x, y, size, smooth = false) {
  pen.imageSmoothingEnabled = smooth && sheet.width > size;
  pen.drawImage(sheet, x, y, size, size);
}
