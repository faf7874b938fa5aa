// The course on Home: a card for every family, which opens to its pages; lectures and lenses open so, too.
//
// data: {families: [{name, color, about, pages: [{title, url, idea, minutes, lenses}]}], lenses: [[name, title]],
//        lectures: [{title, link, minutes, scenes}], key}
// What is open stands in the link under the key, as ?open=latent. What the menu's search finds is lit up.

import {link} from "./go.js";
import {more} from "./more.js";

const make = (tag, properties = {}, ...children) => {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
};
const count = (n, one) => `${n} ${one}${n === 1 ? "" : "s"}`;

export default function ({data, parentElement}) {
  const map = parentElement.querySelector(".lectern-map"), wanted = JSON.stringify(data);
  if (map.wanted !== wanted) {
    if (!map.wanted) build(map);
    map.wanted = wanted;
    map.key = data.key;
    map.parts = parts(data);
    map.querySelector(".cards").replaceChildren(...map.parts.filter((part) => !part.lens).map((part) => card(map, part)));
    map.querySelector(".lenses").replaceChildren(...map.parts.filter((part) => part.lens).map((part) => {
      const button = make("button", {type: "button", textContent: part.title});
      button.onclick = () => open(map, part.name);
      return button;
    }));
  }
  show(map);
}

// All that opens, by name: families, the lectures, lenses. `rows` are its pages, or lectures.
function parts({families, lenses, lectures}) {
  const all = families.flatMap(({color, pages}) => pages.map((page) => ({...page, color})));
  const minutes = lectures.map((one) => one.minutes), [short, long] = [Math.min(...minutes), Math.max(...minutes)];
  const each = short === long ? `${long} minutes each` : `${short} to ${long} minutes`;
  return [
    ...families.map(({name, color, about, pages}) => ({name, title: name, color, about, kind: "page", rows: pages})),
    ...(lectures.length ? [{name: "lectures", title: "Lectures", about: `Scene by scene, with notes: ${each}.`, kind: "lecture",
      rows: lectures.map((one) => ({title: one.title, url: one.link, says: `${one.minutes} minutes`,
        idea: `${count(one.scenes, "scene")}: PageDown goes on, S opens the speaker's window.`}))}] : []),
    ...lenses.map(([name, title]) => ({name, title, lens: true, about: "Pages that look through this lens.", kind: "page",
      rows: all.filter((page) => page.lenses.includes(name))})),
  ];
}

function build(map) {
  map.querySelector(".seek").onclick = () => window.dispatchEvent(new Event("lectern:seek"));
  map.querySelector(".back").onclick = () => open(map, null);
  more(map.querySelector(".room"));
}

function card(map, part) {
  const button = make("button", {type: "button", className: "card"}, make("b", {textContent: part.title}), make("span", {className: "count"}),
    make("small", {textContent: part.about}));
  button.onclick = (event) => {
    open(map, part.name);
    if (!event.detail) map.querySelector(".rows a")?.focus(); // by key
  };
  const item = make("li", {}, button);
  item.dataset.name = part.name;
  if (part.color) item.style.setProperty("--line", part.color);
  return item;
}

function open(map, name) {
  const link = new URL(location.href);
  if (name) link.searchParams.set(map.key, name); else link.searchParams.delete(map.key);
  history.replaceState(history.state, "", link);
  show(map);
}

// What the link names is open; without it all cards are seen.
function show(map) {
  const name = new URLSearchParams(location.search).get(map.key), part = map.parts.find((one) => one.name === name);
  const rows = map.querySelector(".rows"), shown = part ? `${name} ${map.wanted}` : "";
  map.toggleAttribute("data-open", Boolean(part));
  for (const button of map.querySelectorAll(".lenses button")) button.setAttribute("aria-pressed", part?.lens && part.title === button.textContent || false);
  if (map.shown !== shown) {
    map.shown = shown;
    map.querySelector(".room").scrollTop = 0;
    map.querySelector(".title").textContent = part?.title ?? "";
    tell(map, part);
    rows.classList.toggle("talks", part?.kind === "lecture");
    map.style.setProperty("--line", part?.color ?? "var(--st-text-color)");
    rows.replaceChildren(...(part?.rows ?? []).map((row, i) => station(map, part, row, i)));
  }
  light(map);
}

// How many pages a part has, and what it is; of a row that is pointed at its minutes in a lecture, and its idea.
function tell(map, part, row) {
  map.querySelector(".number").textContent = row?.minutes ? count(row.minutes, "minute") : part ? count(part.rows.length, part.kind) : "";
  map.querySelector(".idea").textContent = row?.idea ?? part?.about ?? "";
}

function station(map, part, row, i) {
  const a = make("a", {title: row.idea}, part.lens ? make("i") : make("span", {className: "place", textContent: i + 1}), make("span", {textContent: row.title}));
  if (row.says) a.append(make("small", {textContent: row.says}));
  link(a, row.url);
  a.onmouseenter = a.onfocus = () => tell(map, part, row);
  a.onmouseleave = a.onblur = () => tell(map, part);
  const item = make("li", {}, a);
  item.dataset.page = row.url;
  if (row.color) item.style.setProperty("--line", row.color);
  return item;
}

// Lit is what the search has found: pages, and of each card how many.
function light(map) {
  const found = window.lecternFound ?? null;
  for (const item of map.querySelectorAll(".rows li")) {
    item.classList.toggle("dim", Boolean(found) && !found.has(item.dataset.page));
    item.classList.toggle("lit", Boolean(found?.has(item.dataset.page)));
  }
  for (const item of map.querySelectorAll(".cards li")) {
    const {rows} = map.parts.find((part) => part.name === item.dataset.name), lit = rows.filter((row) => found?.has(row.url)).length;
    item.classList.toggle("dim", Boolean(found) && !lit);
    item.classList.toggle("lit", lit > 0);
    item.querySelector(".count").textContent = found ? `${lit} of ${rows.length}` : rows.length;
  }
}

window.addEventListener("lectern:found", () => document.querySelectorAll(".lectern-map").forEach(light));
