// The map of the course on Home: families as lines, pages as stations; the menu's search and the lenses light it up.
//
// data: {families: [{name, color, about, pages: [{title, url, idea, lenses}]}], lenses: [[name, title]]}

import {link} from "./go.js";

const make = (tag, properties = {}, ...children) => {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
};

export default function ({data, parentElement}) {
  const map = parentElement.querySelector(".lectern-map"), shown = JSON.stringify(data);
  if (map.shown === shown) return;
  map.shown = shown;
  const idea = map.querySelector(".idea");
  const tell = (node, text) => { node.onmouseenter = node.onfocus = () => { idea.textContent = text; }; };
  map.querySelector(".lines").replaceChildren(...data.families.map(({name, color, about, pages}) => {
    const stations = make("ul", {className: "stations"}, ...pages.map((page) => {
      const a = make("a", {textContent: page.title, title: page.idea});
      link(a, page.url);
      tell(a, page.idea);
      const item = make("li", {}, a);
      Object.assign(item.dataset, {page: page.url, lenses: page.lenses.join(" ")});
      return item;
    }));
    const sign = make("span", {className: "name", textContent: name, title: about});
    tell(sign, about);
    const line = make("li", {}, sign, stations);
    line.style.setProperty("--line", color);
    return line;
  }));
  map.querySelector(".seek").onclick = () => window.dispatchEvent(new Event("lectern:seek"));
  map.querySelector(".lenses").replaceChildren(...data.lenses.map(([name, title]) => {
    const button = make("button", {type: "button", textContent: title});
    button.setAttribute("aria-pressed", false);
    button.onclick = () => {
      const on = map.lens !== name;
      map.lens = on ? name : null;
      for (const other of button.parentElement.children) other.setAttribute("aria-pressed", on && other === button);
      light(map);
    };
    return button;
  }));
  light(map);
}

// A station is lit where the search has found it and the lens is used.
function light(map) {
  const found = window.lecternFound ?? null, {lens = null} = map;
  for (const item of map.querySelectorAll(".stations li")) {
    const on = (!found || found.has(item.dataset.page)) && (!lens || item.dataset.lenses.split(" ").includes(lens));
    item.classList.toggle("dim", !on);
    item.classList.toggle("lit", on && Boolean(found || lens));
  }
}

window.addEventListener("lectern:found", () => document.querySelectorAll(".lectern-map").forEach(light));
