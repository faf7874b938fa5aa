// Cells: many labelled cells on a canvas, where Plotly's labels would cost a picture its speed.
//
// One large map; where there are several, all of them small beside it. More than 32 rows or columns show as a window that
// is dragged on a small map of the whole. A film turns the rows, pointing and ↑ ↓ the maps, without Python.
//
// header: {alt, name, rows, columns, grid: [down, across], chosen, seq, off, kept, root, low, high, staircase, wide,
//   titles, beside: {title, before, labels}, arcs, band, grows, bar, grey, colors, ink, paper, line, accent, share | height, film, at, follows}
// arrays: values (maps, rows, columns; NaN stays empty), marks (rows), beside and before (rows, bars); what it tells: point {x, y, seq}, map {at, seq}

import {blank, unpack, same} from "./wire.js";
import {film} from "./film.js";
import {tools, save} from "./tools.js";
import {arcs} from "./arcs.js";

const MOST = 32; // rows and columns with labels
const PANEL = 6; // pixels between small maps

export default function (component) {
  const root = component.parentElement, box = root.querySelector(".lectern-cells");
  const state = (box.lectern ??= {top: 0, left: 0, sent: 0, at: 0, peek: null});
  state.report = component.setStateValue;
  window.lecternTurn = (by) => turn(box, state, by); // keys ↑ ↓ of the whole page
  if (!same(state.bytes, component.data)) {
    state.bytes = component.data.slice();
    show(box, state);
  }
  return () => { window.lecternTurn = null; state.leave?.(); }; // off the page: its film must not draw it on
}

function show(box, state) {
  const spec = (state.spec = unpack(state.bytes));
  const canvas = box.querySelector("canvas");
  for (const node of [box, canvas]) node.setAttribute("aria-label", spec.alt);
  const gap = spec.share < 1 ? ".5rem" : "0px";
  box.style.height = spec.height ? `${spec.height}px` : `calc(var(--picture, 420px) * ${spec.share} - ${gap})`;
  if (spec.seq >= state.sent) { state.map = spec.chosen; state.sent = spec.seq; }
  stale(state);
  state.lut = ramp(spec.colors);
  state.small = null;
  tools(box, spec.name, {
    png: () => canvas.toBlob((blob) => save(blob, `${spec.name}.png`)), csv: () => table(spec, state.map),
  });
  state.leave?.();
  state.leave = null;
  const stand = (at) => { state.frame = at; state.at = Math.min(at, spec.rows.length / spec.band - 1); };
  stand(spec.at);
  if (spec.film) {
    const clock = film(spec.film);
    stand(clock.at ?? spec.at);
    state.leave = clock.join((at) => { stand(at); follow(state); draw(box, state); });
  }
  state.fresh = true;
  if (!state.listening) listen(box, canvas, state);
  draw(box, state);
}

// The equation under the picture is of the map that Python knows: it fades while another one is shown.
function stale(state) {
  document.documentElement.toggleAttribute("data-stale", state.spec.follows && state.map !== state.spec.chosen);
}

function table({arrays: {values}, rows, columns}, map) {
  const quote = (text) => `"${String(text).replaceAll('"', '""')}"`;
  const lines = ["row,column,value"], [, R, C] = values.shape;
  for (let i = 0; i < R; i++) for (let j = 0; j < C; j++) lines.push(`${quote(rows[i])},${quote(columns[j])},${values.values[(map * R + i) * C + j]}`);
  return lines.join("\n");
}

// --- Colours ------------------------------------------------------------------------------------------

function ramp(colors) {
  const parts = colors.map((c) => [1, 3, 5].map((i) => parseInt(c.slice(i, i + 2), 16)));
  return Array.from({length: 256}, (_, i) => {
    const x = (i / 255) * (parts.length - 1), k = Math.min(Math.floor(x), parts.length - 2);
    return parts[k].map((v, c) => Math.round(v + (x - k) * (parts[k + 1][c] - v)));
  });
}

function level(spec, value) {
  const share = Math.min(1, Math.max(0, (value - spec.low) / (spec.high - spec.low)));
  return Math.round(255 * (spec.root ? Math.sqrt(share) : share));
}

// Every map as a picture of one pixel a cell.
function pictures(state) {
  if (state.small) return state.small;
  const {spec, lut} = state, {values, shape: [n, R, C]} = spec.arrays.values;
  state.small = Array.from({length: n}, (_, map) => {
    const sheet = blank(C, R), pen = sheet.getContext("2d"), data = pen.createImageData(C, R);
    for (let i = 0; i < R * C; i++) {
      const value = values[map * R * C + i];
      if (!Number.isNaN(value)) data.data.set([...lut[level(spec, value)], 255], 4 * i);
    }
    pen.putImageData(data, 0, 0);
    return sheet;
  });
  return state.small;
}

// --- Where everything lies ------------------------------------------------------------------------------

function plan(box, state, pen) {
  const {spec} = state, width = box.clientWidth, height = box.clientHeight, staged = document.documentElement.hasAttribute("data-stage");
  const least = staged ? Math.ceil((24 * innerWidth) / 1920) : 12, usual = staged ? least : 15;
  const [down, across] = spec.grid, several = down * across > 1, R = spec.rows.length, C = spec.columns.length;
  const windowed = Math.max(R, C) > MOST;
  const family = getComputedStyle(box).fontFamily;
  const font = (size, bold) => { pen.font = `${bold ? "600 " : ""}${size}px ${family}`; };
  const place = {width, height, staged, least, font, family};
  const line = least * 1.25, lead = least * 2.3, bars = spec.beside?.labels[0].length ?? 0, wide = width > 70 * least;
  let left = 0, right = 0, low = line * 0.4; // what the sides take, and where the left one is free from
  if (several) { // small maps, at most a quarter of the width, with room for what stands below them
    const below = (windowed ? 9 * least : 0) + (bars && !wide ? 7 * line : 0);
    const side = Math.max(18, Math.min((width * 0.26 - lead) / across, (height - 2 * line - below) / down, 6 * least));
    place.mosaic = {x: lead, y: 2 * line, side, line, lead, down, across};
    left = lead + across * side + least;
    low = 2 * line + down * side + line * 0.5;
  }
  if (windowed) {
    const side = Math.min(several ? left - lead - least : width * 0.22, height - low - (bars && !wide ? 6.5 * line : 0) - 4);
    place.mini = {x: several ? lead : 0, y: low, width: side, height: side};
    left = Math.max(left, side + least);
    low += side + line * 0.6;
  }
  if (bars && wide) {
    right = Math.min(width * 0.26, 17 * least);
    place.bars = {x: width - right + least, y: (height - (bars + 1) * 1.7 * least) / 2, width: right - least, line: 1.7 * least, count: bars};
  } else if (bars) {
    const count = Math.max(2, Math.min(bars, Math.floor((height - low) / line) - 1));
    if (!several) left = Math.max(left, Math.min(width * 0.3, 13 * least));
    place.bars = {x: 4, y: low, width: left - least - 4, line, count};
  }
  // the map: as many rows as can be read
  font(least, true);
  const long = (all) => Math.max(...all.map((t) => pen.measureText(t).width)); // of all, or the window would jump
  const [longRow, longColumn] = [long(spec.rows), long(spec.columns)];
  let rows = Math.min(R, MOST), columns = Math.min(C, MOST);
  for (let round = 0; round < 3; round++) {
    const widest = longColumn, lead = Math.min(width * 0.22, longRow * (usual / least)) + 8 + (spec.arcs ? 0 : least * 1.5);
    const room = width - left - right - lead - 6;
    if (spec.arcs) { // names stand on both sides
      rows = columns = Math.min(rows, Math.floor((height - least * 1.6 - 4) / (least * 0.96)));
      const span = Math.min(room - lead, width * 0.5), cellH = (height - least * 1.6 - 4) / rows;
      Object.assign(place, {turned: false, lead, top: least * 1.6, cellH, cellW: span / columns, rows, columns, mapX: left + lead, widest});
      break;
    }
    const turned = widest * 1.04 > Math.min(room / columns, (height / rows) * 1.6);
    const top = (turned ? Math.min(height * 0.3, widest * 0.75 * (usual / least) + least) : least * 1.4) + least * 1.5;
    const tail = turned ? Math.min(widest * 0.75, room * 0.2) : 0;
    const cellH = (height - top - 4) / rows, cellW = Math.min((room - tail) / columns, cellH * spec.wide);
    Object.assign(place, {turned, lead, top, cellH, cellW, rows, columns, mapX: left + lead, widest});
    const fits = Math.floor((height - top - 4) / (least * 0.96)), across = turned ? Math.floor((room - tail) / (least * 1.12)) : columns;
    if (rows <= fits && columns <= across) break;
    rows = Math.max(4, Math.min(rows, fits));
    columns = Math.max(4, Math.min(columns, across));
  }
  state.top = Math.max(0, Math.min(state.top, R - place.rows));
  state.left = Math.max(0, Math.min(state.left, C - place.columns));
  const grown = spec.arcs ? usual / least : place.turned ? place.cellW / (1.1 * least) : place.cellW / (place.widest * 1.04);
  place.size = least * Math.max(1, Math.min(usual / least, grown, place.cellH / (0.98 * least)));
  const spare = width - right - place.mapX - place.columns * place.cellW - (spec.arcs ? place.lead : 0) - (place.turned ? place.widest * 0.75 : 0);
  place.mapX += Math.max(0, spare / 2);
  place.mapY = place.top;
  return place;
}

// The window follows the row that the film stands at.
function follow(state) {
  const place = state.place;
  if (!place) return;
  const {spec} = state, R = spec.rows.length, C = spec.columns.length, row = state.at * spec.band;
  if (row < state.top || row >= state.top + place.rows) {
    state.top = Math.max(0, Math.min(R - place.rows, row - Math.floor(place.rows / 2)));
    if (spec.band === 1) state.left = Math.max(0, Math.min(C - place.columns, state.top));
  }
  if (spec.arcs) { state.left = state.top; return; }
  const best = marked(state, state.map, row); // what the equation speaks of is in sight
  if (best < state.left || best >= state.left + place.columns) state.left = Math.max(0, Math.min(C - place.columns, best - (place.columns >> 1)));
}

// --- Drawing ----------------------------------------------------------------------------------------------

function draw(box, state) {
  box.cells = state; // what is drawn, for those who check the layout: labels and place
  const canvas = box.querySelector("canvas"), {spec} = state, ratio = window.devicePixelRatio || 1;
  const width = box.clientWidth, height = box.clientHeight;
  if (!width || !height) return;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.fillStyle = spec.paper;
  pen.fillRect(0, 0, width, height);
  state.labels = [];
  let place = (state.place = plan(box, state, pen));
  if (state.fresh) { state.fresh = false; follow(state); place = state.place = plan(box, state, pen); }
  const map = state.peek ?? state.map;
  if (place.mosaic) mosaic(pen, state, place);
  if (place.mini) mini(pen, state, place, map);
  if (place.bars) bars(pen, state, place);
  if (spec.arcs) arcs(pen, state, place, map, write, marked);
  else large(pen, state, place, map);
}

// A text of the picture; its box, turned as it is, is kept for those who check the layout.
function write(pen, state, text, x, y, {align = "left", turn = 0, size, bold = false, color, most = 1e9, names = ""}) {
  const {spec, place} = state;
  place.font(size, bold);
  let shown = text;
  while (shown.length > 1 && pen.measureText(shown).width > most) shown = `${shown.replace(/…$/, "").slice(0, -1)}…`;
  const width = pen.measureText(shown).width, h = size * 0.36;
  pen.save();
  pen.translate(x, y);
  pen.rotate(turn);
  pen.fillStyle = color ?? spec.ink;
  pen.textAlign = align;
  pen.textBaseline = "middle";
  pen.fillText(shown, 0, shown === "␣" && names === "row" ? -0.3 * size : 0); // it would hang into the next name
  pen.restore();
  const from = align === "right" ? -width : align === "center" ? -width / 2 : 0, cos = Math.cos(turn), sin = Math.sin(turn);
  const corner = (a, b) => [x + a * cos - b * sin, y + a * sin + b * cos];
  state.labels.push({text: shown, size, names, quad: [corner(from, -h), corner(from + width, -h), corner(from + width, h), corner(from, h)]});
}

function mosaic(pen, state, place) {
  const {spec} = state, {x, y, side, line, down, across} = place.mosaic, small = pictures(state), size = place.least;
  write(pen, state, spec.titles.across, x + (across * side) / 2, line * 0.5, {align: "center", size, color: spec.soft});
  write(pen, state, spec.titles.down, size * 0.6, y + (down * side) / 2, {align: "center", size, turn: -Math.PI / 2, color: spec.soft});
  for (let h = 0; h < across; h++) write(pen, state, String(h + 1), x + (h + 0.5) * side, y - line * 0.45, {align: "center", size});
  for (let l = 0; l < down; l++) {
    write(pen, state, String(l + 1), x - 3, y + (l + 0.5) * side, {align: "right", size});
    for (let h = 0; h < across; h++) {
      const map = l * across + h, px = x + h * side + PANEL / 2, py = y + l * side + PANEL / 2, s = side - PANEL;
      pen.imageSmoothingEnabled = small[map].width > s;
      pen.drawImage(small[map], px, py, s, s);
      pen.fillStyle = spec.paper;
      if (spec.grows) pen.fillRect(px, py + (s * (state.at + 1)) / spec.rows.length, s, s - (s * (state.at + 1)) / spec.rows.length);
      const now = map === state.map, near = map === state.peek;
      pen.strokeStyle = now || near ? spec.accent : spec.line;
      pen.lineWidth = now ? 3.5 : near ? 2 : 1;
      pen.strokeRect(px - 0.5, py - 0.5, s + 1, s + 1);
      if (spec.off.includes(map)) {
        pen.beginPath();
        for (const [a, b, c, d] of [[0, 0, 1, 1], [1, 0, 0, 1]]) { pen.moveTo(px + a * s, py + b * s); pen.lineTo(px + c * s, py + d * s); }
        pen.lineWidth = 2.5;
        pen.strokeStyle = spec.accent;
        pen.stroke();
      }
    }
  }
}

function mini(pen, state, place, map) {
  const {spec} = state, {x, y, width, height} = place.mini, R = spec.rows.length, C = spec.columns.length;
  pen.imageSmoothingEnabled = true;
  pen.drawImage(pictures(state)[map], x, y, width, height);
  pen.strokeStyle = spec.line;
  pen.lineWidth = 1;
  pen.strokeRect(x, y, width, height);
  pen.strokeStyle = spec.accent;
  pen.lineWidth = 2.5;
  pen.strokeRect(x + (state.left / C) * width, y + (state.top / R) * height, (place.columns / C) * width, (place.rows / R) * height);
}

// What belongs to the row, as bars: the likeliest first.
function bars(pen, state, place) {
  const {spec} = state, {x, y, width, line, count} = place.bars, size = place.least, {title, labels} = spec.beside;
  const {values, shape: [, N]} = spec.arrays.beside, before = spec.arrays.before?.values, names = labels[state.at];
  write(pen, state, title, x, y + line * 0.5, {size, color: spec.soft, most: width});
  const widest = Math.min(width * 0.45, Math.max(...labels.flatMap((row) => row.slice(0, count)).map((name) => pen.measureText(name).width)));
  const from = x + widest + 6, room = width - widest - 6 - size * 2.9;
  for (let k = 0; k < count; k++) {
    const top = y + (k + 1) * line, middle = top + line / 2, value = values[state.at * N + k];
    write(pen, state, names[k], from - 6, middle, {size, align: "right", most: widest + 1});
    if (before) {
      pen.fillStyle = spec.grey;
      pen.fillRect(from, top + 2, Math.max(1, before[state.at * N + k] * room), line - 4);
    }
    pen.fillStyle = spec.bar;
    pen.fillRect(from, top + (before ? line * 0.3 : 2), Math.max(1, value * room), before ? line * 0.4 : line - 4);
    const reach = Math.max(value, before ? before[state.at * N + k] : 0) * room;
    write(pen, state, value.toFixed(2), from + reach + 4, middle, {size});
  }
}

function large(pen, state, place, map) {
  const {spec} = state, {mapX, mapY, cellW, cellH, rows, columns, size} = place, C = spec.columns.length;
  const {values, shape: [, R]} = spec.arrays.values, from = map * R * C, gap = cellH > 9 ? 1 : 0;
  const later = (row) => spec.grows && row > state.at;
  pen.fillStyle = spec.line;
  pen.fillRect(mapX, mapY, columns * cellW, rows * cellH);
  for (let i = 0; i < rows; i++)
    for (let j = 0; j < columns; j++) {
      const value = values[from + (state.top + i) * C + state.left + j];
      pen.fillStyle = Number.isNaN(value) || later(state.top + i) ? spec.paper : `rgb(${state.lut[level(spec, value)]})`;
      pen.fillRect(mapX + j * cellW, mapY + i * cellH, cellW - gap, cellH - gap);
    }
  const row = spec.film ? state.at * spec.band : (spec.kept?.[0] ?? -1), best = row < 0 ? -1 : marked(state, map, row);
  const within = (i) => row >= 0 && i >= row && i < row + spec.band;
  const title = {align: "center", size: place.least, color: spec.soft}; // names may be larger: it would touch them
  write(pen, state, spec.titles.columns, mapX + (columns * cellW) / 2, title.size * 0.65, title);
  write(pen, state, spec.titles.rows, mapX - place.lead + title.size * 0.6, mapY + (rows * cellH) / 2, {...title, turn: -Math.PI / 2});
  for (let i = 0; i < rows; i++) {
    const here = within(state.top + i), name = spec.rows[state.top + i];
    if (later(state.top + i)) continue;
    write(pen, state, name, mapX - 7, mapY + (i + 0.5) * cellH,
      {align: "right", size, bold: here, color: here ? spec.accent : undefined, most: place.lead - size * 1.3, names: "row"});
  }
  for (let j = 0; j < columns; j++) {
    const here = state.left + j === best, x = mapX + (j + 0.5) * cellW;
    const style = {size, bold: here, color: here ? spec.accent : undefined, names: "column"};
    if (place.turned) write(pen, state, spec.columns[state.left + j], x, mapY - size * 0.45, {...style, turn: -Math.PI / 4, most: (mapY - size * 2) * 1.35});
    else write(pen, state, spec.columns[state.left + j], x, mapY - size * 0.7, {...style, align: "center"});
  }
  if (spec.staircase) {
    pen.beginPath();
    for (let i = 0; i < rows; i++) {
      const x = mapX + Math.max(0, Math.min(columns, state.top + i + 1 - state.left)) * cellW;
      pen[i ? "lineTo" : "moveTo"](x, mapY + i * cellH);
      pen.lineTo(x, mapY + (i + 1) * cellH);
    }
    pen.strokeStyle = spec.accent;
    pen.lineWidth = 3;
    pen.stroke();
  }
  const frame = (i, j, wide, color, line, high = 1) => {
    pen.strokeStyle = color;
    pen.lineWidth = line;
    pen.strokeRect(mapX + j * cellW - 1, mapY + i * cellH - 1, wide * cellW + 1, high * cellH + 1);
  };
  const inside = (i) => i >= state.top && i < state.top + rows;
  if (state.near && inside(state.near[0]) && !within(state.near[0])) frame(state.near[0] - state.top, 0, columns, spec.soft, 1.5);
  if (inside(row)) {
    frame(row - state.top, 0, columns, spec.accent, 3, Math.min(spec.band, state.top + rows - row));
    if (spec.band === 1 && best >= state.left && best < state.left + columns) frame(row - state.top, best - state.left, 1, spec.ink, 3);
  }
}

// The column that the equation speaks of: the one that is kept, else the one that Python has marked, else the
// row's largest, of equals the first.
function marked({spec, frame}, map, row) {
  if (spec.kept && spec.kept[0] === row) return spec.kept[1];
  if (spec.arrays.marks) return spec.arrays.marks.values[frame];
  const {values, shape: [, R, C]} = spec.arrays.values, from = (map * R + row) * C;
  let best = 0;
  for (let j = 1; j < C; j++) if (values[from + j] > values[from + best]) best = j;
  return best;
}

// --- What is done to it -----------------------------------------------------------------------------------

function listen(box, canvas, state) {
  state.listening = true;
  const again = () => box.isConnected && draw(box, state);
  window.addEventListener("lectern:stage", again);
  new ResizeObserver(() => { state.fresh = true; again(); }).observe(box);
  const where = (event) => {
    const {left, top} = canvas.getBoundingClientRect(), x = event.clientX - left, y = event.clientY - top, {place} = state;
    const {mosaic: m, mini: w} = place;
    if (m) {
      const h = Math.floor((x - m.x) / m.side), l = Math.floor((y - m.y) / m.side);
      if (h >= 0 && h < m.across && l >= 0 && l < m.down) return {map: l * m.across + h};
    }
    if (w && x >= w.x && x <= w.x + w.width && y >= w.y && y <= w.y + w.height) return {mini: [(y - w.y) / w.height, (x - w.x) / w.width]};
    if (state.spec.arcs) { // left who looks, right at whom
      const i = state.top + Math.floor((y - place.mapY) / place.cellH), middle = place.mapX + (place.columns * place.cellW) / 2;
      if (i < state.top || i >= state.top + place.rows || Math.abs(x - middle) > middle - place.mapX + place.lead) return {};
      return {cell: x < middle ? [i, null] : [state.at, i]};
    }
    const i = Math.floor((y - place.mapY) / place.cellH), j = Math.floor((x - place.mapX) / place.cellW);
    if (i >= 0 && i < place.rows && j < place.columns && x > place.mapX - place.lead) return {cell: [state.top + i, j < 0 ? null : state.left + j]};
    return {};
  };
  const tip = box.querySelector(".tip");
  canvas.addEventListener("pointermove", (event) => {
    const {map, mini: at, cell} = where(event);
    if (at && event.buttons) slide(state, at);
    const near = cell ?? null, peek = map ?? null;
    const moved = peek !== state.peek || String(near) !== String(state.near) || (at && event.buttons);
    [state.peek, state.near] = [peek, near];
    canvas.style.cursor = map !== undefined || cell || at ? "pointer" : "default";
    tip.hidden = !(cell && cell[1] !== null);
    if (!tip.hidden) {
      const {spec} = state, {values, shape: [, R, C]} = spec.arrays.values;
      tip.textContent = `${spec.rows[cell[0]]} → ${spec.columns[cell[1]]}: ${shown(values[(state.map * R + cell[0]) * C + cell[1]])}`;
      tip.style.left = `${Math.min(event.offsetX + 14, box.clientWidth - tip.offsetWidth - 4)}px`;
      tip.style.top = `${Math.max(0, event.offsetY - tip.offsetHeight - 8)}px`;
    }
    if (moved) draw(box, state);
  });
  canvas.addEventListener("pointerleave", () => { state.peek = state.near = null; tip.hidden = true; draw(box, state); });
  canvas.addEventListener("pointerdown", (event) => { const {mini: at} = where(event); if (at) { slide(state, at); draw(box, state); } });
  canvas.addEventListener("click", (event) => {
    const {map, cell} = where(event), {spec} = state;
    if (map !== undefined) { state.peek = null; choose(box, state, map, 0); }
    else if (cell && spec.film && cell[1] === null) film(spec.film).step(Math.floor(cell[0] / spec.band) - film(spec.film).at);
    else if (cell && cell[1] !== null && spec.clickable) {
      if (spec.film) film(spec.film).go(Math.floor(cell[0] / spec.band));
      state.report("point", {x: cell[1], y: cell[0], seq: (state.clicks = (state.clicks ?? 0) + 1)});
    }
  });
  canvas.addEventListener("keydown", (event) => {
    const by = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}[event.key];
    if (!by) return;
    event.preventDefault();
    if (event.shiftKey) { state.top += 8 * by[0]; state.left = state.spec.arcs ? state.top : state.left + 8 * by[1]; draw(box, state); }
    else if (by[0]) turn(box, state, by[0]);
    else if (state.spec.film) film(state.spec.film).step(by[1]);
  });
}

function shown(value) { return Number.isNaN(value) ? "–" : value.toFixed(3); }

function slide(state, [down, across]) {
  const {spec, place} = state;
  state.top = Math.round(down * spec.rows.length - place.rows / 2);
  state.left = Math.round(across * spec.columns.length - place.columns / 2);
  if (spec.arcs) state.left = state.top;
}

function turn(box, state, by) {
  const [down, across] = state.spec.grid;
  choose(box, state, Math.max(0, Math.min(down * across - 1, state.map + by)), 400);
}

// Show a map at once, and tell Python where it came to rest.
function choose(box, state, map, rest) {
  state.map = map;
  stale(state);
  draw(box, state);
  clearTimeout(state.timer);
  state.timer = setTimeout(() => {
    state.sent += 1;
    state.report("map", {at: map, seq: state.sent});
  }, rest);
}
