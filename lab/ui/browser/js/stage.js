// The stage: its scenes, the keys of the whole page, stage mode, and the room that is left for the picture.
//
// data: {title, scenes: [{name, sees}], active, stage, dark, lecture: {name, title, at, minutes, entries} or null,
// symbols: [[symbol, words]], equations: {LaTeX: [places of its symbols among them]}}
// What it tells: scene ({page, number}, once), stage (on or off).

import "./copy.js";
import {address, go} from "./go.js";
import {hush, pairs, tell as explain} from "./symbols.js";

const root = document.documentElement;
let now = null; // the component as it was mounted last: {data, setStateValue, setTriggerValue}

// --- Scenes -----------------------------------------------------------------------------------------

export default function (component) {
  now = component;
  const {data, parentElement} = component;
  const nav = parentElement.querySelector(".scenes"), sees = parentElement.querySelector(".sees");
  const wanted = JSON.stringify(data.scenes);
  if (nav.dataset.scenes !== wanted) {
    nav.dataset.scenes = wanted;
    nav.replaceChildren(...data.scenes.map((scene, i) => {
      const button = document.createElement("button");
      button.type = "button";
      button.title = scene.sees;
      button.append(Object.assign(document.createElement("b"), {textContent: i + 1}), ` ${scene.name}`);
      button.addEventListener("click", () => choose(i));
      return button;
    }));
  }
  [...nav.children].forEach((button, i) => button.setAttribute("aria-pressed", i === data.active));
  sees.textContent = data.active === null ? "" : data.scenes[data.active].sees;
  if (shown !== data.title) [shown, last] = [data.title, 0];
  if (data.active !== null) last = data.active;
  if (going && (data.lecture?.name !== going.lecture.name || data.lecture.at === going.at)) arrive();
  root.toggleAttribute("data-dark", data.dark);
  if (data.stage && !root.hasAttribute("data-stage")) stage(true, false);
  fit();
  watch();
  drawer();
  mark();
  tell();
  explain(data);
  return () => { if (now === component) now = null; };
}

// --- Lectures -------------------------------------------------------------------------------------------

// The clicker goes through the lecture that is on, else through the scenes of the page.
function step(by) {
  const on = going?.lecture ?? now.data.lecture;
  if (on) return visit(on, (going ?? on).at + by);
  choose(last + (by > 0 && now.data.active === null && last === 0 ? 0 : by));
}

// The entry that was asked for and is not there yet, and the scene of it that was asked for then: {lecture, at, scene}.
// Between two pages there is no stage, and the clicker goes on all the same.
let going = null;
function visit(on, i) {
  const entry = on?.entries[i];
  if (!entry) return;
  going = null;
  film()?.leave();
  go(`${entry.link}${root.hasAttribute("data-stage") ? "&stage=1" : ""}`);
  going = {lecture: on, at: i, scene: null};
}

function arrive() {
  const {scene} = going;
  going = null;
  if (scene !== null) choose(scene);
}
window.addEventListener("popstate", () => { going = null; }); // Back, or another link

// Where the lecture is, in a corner.
function mark() {
  const on = now.data.lecture, box = document.querySelector(".lectern-mark") ?? document.createElement("div");
  if (!on) return box.remove();
  box.className = "lectern-mark";
  box.textContent = `${on.at + 1} / ${on.entries.length}`;
  if (!box.isConnected) document.querySelector("[data-testid=stApp]").append(box);
}

// The speaker's window shows this scene and the next, turns pages too, and tells students where the stage is.
// It speaks with this tab alone. Name and secret of the tab outlive a reload; a copy of the tab has neither.
const TAB = "lectern-speaker";
const random = () => btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(24)))).replaceAll("+", "-").replaceAll("/", "_");
let own = {tab: random(), secret: random()};
try {
  own = JSON.parse(sessionStorage.getItem(TAB)) ?? own;
  sessionStorage.removeItem(TAB);
  window.addEventListener("pagehide", () => sessionStorage.setItem(TAB, JSON.stringify(own)));
} catch { /* without storage they last as long as the page */ }
const speaker = window.BroadcastChannel ? new BroadcastChannel(`lectern-speaker-${own.tab}`)
  : {postMessage() {}}; // in browsers older than 2022 the speaker's window stays empty
let followed = null; // {id, address, says}: where students follow
function tell() {
  if (!now) return;
  const {title, scenes, active, lecture} = now.data, page = location.href.slice(address("").length).split("?")[0];
  speaker.postMessage({title, page, scenes, active, last, lecture});
}
speaker.onmessage = ({data}) => {
  if (data === "hello") tell();
  else if (data?.followed) followed = data.followed;
  else if ((now || going) && (data === "next" || data === "previous")) step(data === "next" ? 1 : -1);
};

function speak() {
  const link = new URL(`speaker.html?tab=${own.tab}#${own.secret}`, import.meta.url);
  window.open(link.href, `lectern-speaker-${own.tab}`, "width=900,height=640");
}

let last = 0; // the scene shown last: the clicker goes on from it
let shown = null; // the page

function choose(i) {
  if (going) { going.scene = i; return; } // of the page that is to come
  if (!now || i < 0 || i >= now.data.scenes.length) return;
  last = i;
  film()?.leave();
  now.setTriggerValue("scene", {page: now.data.title, number: i});
}

// --- Stage mode ---------------------------------------------------------------------------------------

function stage(on, tell = true) {
  root.toggleAttribute("data-stage", on);
  if (tell) now?.setStateValue("stage", on);
  fit(true);
  window.dispatchEvent(new Event("lectern:stage"));
  window.dispatchEvent(new Event("resize"));
}

// Without controls and answers: the picture takes their place.
function hide() {
  root.toggleAttribute("data-hide");
  fit(true);
  window.dispatchEvent(new Event("resize"));
}

// The picture gets the height that is left on the first screen: so much that the foot ends at its lower edge.
// Once the reader has touched the page, a few lines less in the foot leave the picture as it is: captions and
// equations are now longer, now shorter, and every figure would be drawn anew at each step of a film.
const MARGIN = 10, LINES = 48;
let page = {path: null, touched: false};
for (const kind of ["keydown", "pointerdown"])
  window.addEventListener(kind, () => { page.touched = true; }, {capture: true});
function fit(exactly = false) {
  const stand = document.querySelector(".st-key-stand"), main = document.querySelector("[data-testid=stMain]");
  if (!stand || !main) return;
  const now = parseFloat(root.style.getPropertyValue("--picture")) || 420;
  let height = Math.min(innerHeight * 0.6, innerWidth * 0.95);
  if (innerWidth > 640) {
    const top = stand.closest("[data-testid=stHorizontalBlock]").getBoundingClientRect().top + main.scrollTop;
    height = now + innerHeight - MARGIN - (top + stand.offsetHeight);
  }
  height = Math.round(Math.max(240, height));
  if (page.path !== location.pathname) page = {path: location.pathname, touched: false};
  const steady = page.touched && !exactly;
  if (Math.abs(height - now) < 2 || (steady && height > now && height - now < LINES)) return;
  root.style.setProperty("--picture", `${height}px`);
  requestAnimationFrame(() => window.dispatchEvent(new Event("lectern:size")));
}

const sizes = new ResizeObserver(() => fit());
function watch() {
  sizes.disconnect();
  for (const selector of [".st-key-stand", ".st-key-scenes", ".lectern-head"])
    for (const node of document.querySelectorAll(selector)) sizes.observe(node);
}
window.addEventListener("resize", () => fit(true));

// On a phone the controls are a drawer under the picture.
function drawer() {
  const rail = document.querySelector(".st-key-rail");
  if (!rail || rail.parentElement.querySelector(".lectern-drawer")) return;
  const button = Object.assign(document.createElement("button"), {className: "lectern-drawer", type: "button", textContent: "Controls"});
  button.setAttribute("aria-expanded", root.hasAttribute("data-drawer"));
  button.addEventListener("click", () => button.setAttribute("aria-expanded", root.toggleAttribute("data-drawer")));
  rail.before(button);
}

// --- Keys -----------------------------------------------------------------------------------------------

const KEYS = [
  ["1 … 9", "a scene"], ["PageDown, PageUp", "next scene, scene before (the clicker)"],
  ["← →", "step back, step on"], ["↑ ↓", "the map before, the next map"], ["Space", "play, pause"], ["F", "stage mode"], ["O", "all scenes"],
  ["S", "the speaker's window"], ["H", "hide controls and answers"], ["B", "black screen"],
  ["Q", "QR code of this page as it stands"], ["?", "these keys, and the symbols of the page"], ["Esc", "close, leave stage mode"],
];

// A field keeps its keys. What is reached by the Tab key and moves by arrows keeps those; the mouse goes on to leave
// them to the film, but for a slider of the rail. The film's own slider is the film.
let pointed = false; // whether the focus came by the mouse
for (const kind of ["pointerdown", "keydown"])
  window.addEventListener(kind, (event) => { if (event.key === "Tab" || !event.key) pointed = !event.key; }, {capture: true});
const FIELDS = "textarea, select, input:not([type=range], [type=checkbox], [type=radio], [type=button])";
const MOVED = "input, button, a, summary, [role=slider], [role=radio], [role=tab], [role=option], [role=combobox], [tabindex='0']:not(.equation, .katex-display, main)";
function busy(event) {
  const target = event.composedPath()[0];
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.matches(FIELDS)) return true;
  const moves = /^(Arrow|Home|End)/.test(event.key) || event.key === " " || event.key === "Enter";
  if (!moves || target.matches(".lectern-film .scrub")) return false;
  if (pointed && target.matches("button, a, summary, [role=radio], [type=checkbox], [type=radio]")) return false;
  if (pointed && event.key === " " && target.matches("[type=range], [role=slider]")) return false;
  return target.matches(MOVED);
}

function overlay(content) {
  const open = document.querySelector(".lectern-overlay");
  open?.remove();
  if (!content || open?.dataset.of === content.of) return;
  const layer = Object.assign(document.createElement("div"), {className: "lectern-overlay"});
  layer.dataset.of = content.of;
  layer.setAttribute("role", "dialog");
  layer.setAttribute("aria-label", content.of);
  const sheet = Object.assign(document.createElement("div"), {className: "sheet"});
  sheet.append(content.node);
  layer.append(sheet);
  layer.addEventListener("click", (event) => { if (event.target === layer) overlay(null); });
  document.querySelector("[data-testid=stApp]").append(layer);
  layer.querySelector("button")?.focus();
}

function overview() {
  const list = document.createElement("ol"), on = now.data.lecture;
  const entries = on ? on.entries.map(({name, says}) => [name, says]) : now.data.scenes.map(({name, sees}) => [name, sees]);
  entries.forEach(([name, line], i) => {
    const button = document.createElement("button");
    button.append(Object.assign(document.createElement("b"), {textContent: `${i + 1} ${name}`}),
      Object.assign(document.createElement("small"), {textContent: line}));
    button.addEventListener("click", () => { overlay(null); if (on) visit(on, i); else choose(i); });
    list.append(Object.assign(document.createElement("li")));
    list.lastChild.append(button);
  });
  return {of: "Scenes", node: list};
}

// Keys, and beside them what the symbols of the page's equations stand for.
function help() {
  const make = (tag, text) => Object.assign(document.createElement(tag), {textContent: text});
  const part = (title, rows) => {
    const section = document.createElement("section"), list = document.createElement("dl");
    list.append(...rows);
    section.append(make("h2", title), list);
    return section;
  };
  const node = Object.assign(document.createElement("div"), {className: "help"}), symbols = now?.data.symbols ?? [];
  node.append(part("Keys", KEYS.flatMap(([key, what]) => [make("dt", key), make("dd", what)])));
  if (symbols.length) node.append(part("Symbols", pairs(symbols)));
  return {of: "Keys", node};
}

// A short link to the page as it stands, at the address that other machines reach, for the phones in the hall;
// beside it, once the speaker's window is open, the link by which they follow.
async function code() {
  const here = new URL(location.href);
  for (const own of ["stage", "follow"]) here.searchParams.delete(own); // a student's page has its controls
  let told;
  try {
    const answer = await fetch(address("lectern/short"), {method: "POST", body: here.href.slice(address("").length - 1)});
    told = answer.ok ? await answer.json() : {says: await answer.text()};
  } catch { told = {says: "The server does not answer."}; }
  const sheet = Object.assign(document.createElement("div"), {className: "codes"});
  sheet.append(picture(told, "qr", followed && "This page"));
  if (followed) sheet.append(picture(followed, "follow", "Follow the lecture"));
  return {of: "QR code", node: sheet};
}

function picture(told, kind, title) {
  const box = Object.assign(document.createElement("div"), {className: "code"});
  if (title) box.append(Object.assign(document.createElement("h2"), {textContent: title}));
  if (told.address)
    box.append(Object.assign(document.createElement("img"), {src: address(`lectern/${kind}/${told.id}.svg`), alt: `QR code of ${told.address}`}));
  box.append(Object.assign(document.createElement("p"), {textContent: told.address ?? told.says}));
  return box;
}

const film = () => window.lecternFilm;
const ACTIONS = {
  PageDown: () => step(1), PageUp: () => step(-1), s: speak,
  ArrowRight: () => film()?.step(1), ArrowLeft: () => film()?.step(-1), " ": () => film()?.play(),
  ArrowDown: () => window.lecternTurn(1), ArrowUp: () => window.lecternTurn(-1),
  f: () => stage(!root.hasAttribute("data-stage")), o: () => overlay(overview()), "?": () => overlay(help()),
  h: hide, b: () => root.toggleAttribute("data-black"),
  q: async () => overlay(document.querySelector(".lectern-overlay") ? null : await code()),
  Escape: () => {
    if (hush()) return;
    if (document.querySelector(".lectern-overlay")) overlay(null);
    else if (root.hasAttribute("data-black")) root.removeAttribute("data-black");
    else if (root.hasAttribute("data-stage")) stage(false);
  },
};

document.addEventListener("keydown", (event) => {
  if (!(now || going) || event.ctrlKey || event.metaKey || event.altKey || busy(event)) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (!now && !/^(PageUp|PageDown|[1-9])$/.test(key)) return;
  const act = /^[1-9]$/.test(key) ? () => choose(+key - 1) : ACTIONS[key];
  if (!act || (/^Arrow[LR]|^ $/.test(key) && !film()) || (/^Arrow[UD]/.test(key) && !window.lecternTurn)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  act();
}, true);
