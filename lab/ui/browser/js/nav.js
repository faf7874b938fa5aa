// The menu of all pages: families that fold, the search above them, and a strip where the screen is narrow.
//
// data: {first: [[title, page]], lectures: [{title, link, minutes}], families: [{name, color, pages: [[title, page]]}], current}
// It stays mounted from page to page, and so do the words in its search and the families left open.

import "./follow.js"; // the menu is on every page
import {go, link} from "./go.js";
import {more} from "./more.js";
import {entries, find} from "./search.js";

const root = document.documentElement;
const make = (tag, properties = {}, ...children) => {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
};

export default function ({data, parentElement}) {
  const nav = parentElement.querySelector(".lectern-nav");
  const state = (nav.lectern ??= build(nav));
  const wanted = JSON.stringify([data.first, data.lectures, data.families]);
  if (state.shown !== wanted) {
    state.shown = wanted;
    state.colors = Object.fromEntries(data.families.map(({name, color}) => [name, color]));
    grow(nav, data);
  }
  if (state.current === data.current) return;
  state.current = data.current;
  for (const a of nav.querySelectorAll("a[data-page]")) {
    if (a.dataset.page !== data.current) { a.removeAttribute("aria-current"); continue; }
    a.setAttribute("aria-current", "page");
    const family = a.closest("details");
    if (family) family.open = true;
  }
  show(nav);
}

// Home and the pages beside it, and under them the lectures and the families.
function grow(nav, {first, lectures, families}) {
  const page = ([title, url]) => {
    const a = make("a", {textContent: title});
    a.dataset.page = url;
    link(a, url, () => open(nav, false));
    return a;
  };
  const fold = (name, color, links) => {
    const part = make("details", {}, make("summary", {}, name, make("small", {textContent: links.length})), ...links);
    part.style.setProperty("--line", color);
    return part;
  };
  const talk = ({title, link: to, minutes}) => {
    const a = make("a", {className: "talk"}, title, make("small", {textContent: `${minutes} min`}));
    link(a, to, () => open(nav, false));
    return a;
  };
  nav.querySelector(".tree").replaceChildren(...first.map(page), fold("Lectures", "currentColor", lectures.map(talk)),
    ...families.map(({name, color, pages}) => fold(name, color, pages.map(page))));
}

// The current page in view, in the tree alone.
function show(nav) {
  const tree = nav.querySelector(".tree"), a = tree.querySelector("[aria-current]");
  if (!a || !tree.clientHeight) return;
  const box = a.getBoundingClientRect(), room = tree.getBoundingClientRect();
  if (box.top < room.top || box.bottom > room.bottom) tree.scrollTop += box.top - room.top - tree.clientHeight / 3;
}

function open(nav, on) {
  nav.toggleAttribute("data-open", on);
  nav.querySelector(".open").setAttribute("aria-expanded", on);
  if (on) show(nav);
}

function build(nav) {
  const input = nav.querySelector("input");
  link(nav.querySelector(".map"), "", () => open(nav, false));
  const seek = () => { open(nav, true); input.focus(); input.select(); };
  nav.querySelector(".open").onclick = () => open(nav, !nav.hasAttribute("data-open"));
  nav.querySelector(".seek").onclick = seek;
  window.addEventListener("lectern:seek", seek); // another part of the page asks for the search
  document.addEventListener("pointerdown", (event) => { if (!nav.contains(event.composedPath()[0])) open(nav, false); });
  document.addEventListener("keydown", (event) => {
    const target = event.composedPath()[0];
    const writes = target.isContentEditable || target.matches?.("textarea, select, input:not([type=range], [type=checkbox], [type=radio], [type=button])");
    if (event.key === "/" && !writes && !event.ctrlKey && !event.metaKey && !event.altKey && !root.hasAttribute("data-stage")) {
      event.preventDefault();
      seek();
    }
  }, true);
  nav.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    if (input.value) { input.value = ""; look(nav); } else { open(nav, false); document.activeElement.blur(); }
  });
  document.addEventListener("click", fly);
  for (const list of [".tree", ".found"]) more(nav.querySelector(list));
  input.onfocus = () => entries();
  input.oninput = () => look(nav);
  input.onkeydown = (event) => {
    const list = nav.querySelector(".found"), now = list.querySelector("[aria-selected=true]");
    if (event.key === "Enter") { event.preventDefault(); now?.click(); }
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (!step || !list.childElementCount) return;
    event.preventDefault();
    const at = [...list.children].indexOf(now) + step;
    choose(nav, list.children[Math.min(Math.max(at, 0), list.childElementCount - 1)]);
  };
  return {};
}

// A click on a tile, or on its figure, goes to the page that its link names, with the input of the tile; so
// does one on any link of the class lectern-go.
function fly(event) {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  const way = event.target.closest?.("a.lectern-go");
  if (way) {
    event.preventDefault();
    return go(way.getAttribute("href"));
  }
  const tile = event.target.closest?.("a.lectern-tile, [class*=st-key-tile-] .plot")?.closest("[class*=st-key-tile-]");
  const a = tile?.querySelector("a.lectern-tile");
  if (!a) return;
  event.preventDefault();
  go(a.getAttribute("href"));
}

// --- Search -----------------------------------------------------------------------------------------

async function look(nav) {
  const query = nav.querySelector("input").value.trim(), found = await find(query);
  if (query !== nav.querySelector("input").value.trim()) return; // more was typed meanwhile
  const list = nav.querySelector(".found"), none = nav.querySelector(".none");
  list.replaceChildren(...found.map(({entry, why}, i) => {
    const item = make("li", {id: `lectern-found-${i}`}, make("b", {textContent: entry.title}), make("small", {textContent: why}));
    item.setAttribute("role", "option");
    item.style.setProperty("--line", nav.lectern.colors[entry.family] ?? "transparent");
    item.onclick = () => { open(nav, false); go(entry.url); };
    return item;
  }));
  list.hidden = !found.length;
  none.hidden = !query || found.length > 0;
  none.textContent = `No page speaks of “${query}”.`;
  nav.querySelector(".tree").hidden = Boolean(query);
  nav.querySelector("input").setAttribute("aria-expanded", Boolean(found.length));
  choose(nav, list.firstElementChild);
  window.lecternFound = query ? new Set(found.map(({entry}) => entry.url)) : null; // the map on Home shows the same
  window.dispatchEvent(new Event("lectern:found"));
}

function choose(nav, item) {
  for (const other of nav.querySelectorAll("[role=option]")) other.setAttribute("aria-selected", other === item);
  if (item) nav.querySelector("input").setAttribute("aria-activedescendant", item.id);
  else nav.querySelector("input").removeAttribute("aria-activedescendant");
  item?.scrollIntoView({block: "nearest"});
}
