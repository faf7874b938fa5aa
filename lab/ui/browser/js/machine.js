// The machine: its parts light up with the film and lead to their pages.
//
// header: {title, svg, need, alone, parts: {part: {name, says, more, page, title}}, lit: [[part]],
// numbers: [{part: text}], film, at}

import {film} from "./film.js";
import {address, go} from "./go.js";
import {same, unpack} from "./wire.js";

const root = document.documentElement;

export default function ({data, parentElement}) {
  const box = parentElement.querySelector(".lectern-machine");
  const state = (box.lectern ??= {});
  state.gone = false;
  const end = () => { state.gone = true; state.leave?.(); };
  if (same(state.bytes, data)) return end;
  state.bytes = data.slice();
  const spec = (state.spec = unpack(data));
  box.setAttribute("aria-label", `The machine: ${spec.title}`);
  box.querySelector(".strip").innerHTML = spec.svg; // made in Python
  for (const part of box.querySelectorAll(".part")) listen(box, part, spec.parts[part.dataset.part]);
  state.leave?.();
  state.leave = null;
  const clock = spec.film && film(spec.film);
  const show = (at) => light(box, state, Math.min(at, spec.lit.length - 1));
  show(clock?.at ?? spec.at);
  if (clock) state.leave = clock.join(show);
  if (!state.listening) {
    state.listening = true;
    new ResizeObserver(() => fold(box, state)).observe(box);
    window.addEventListener("lectern:stage", () => box.isConnected && fold(box, state));
    document.addEventListener("pointerdown", ({target}) => { if (!box.contains(target)) hush(box); }, true);
  }
  return end;
}

function light(box, state, at) {
  const {lit, numbers} = state.spec;
  state.at = at;
  for (const part of box.querySelectorAll(".part")) {
    const key = part.dataset.part, works = lit[at].includes(key), number = part.querySelector(".number");
    part.classList.toggle("lit", works);
    if (works) part.setAttribute("aria-current", "step"); else part.removeAttribute("aria-current");
    number.textContent = numbers[at][key] ?? "";
    number.setAttribute("dx", number.textContent ? ".4em" : "0");
    name(part, state.spec.parts[key], number.textContent);
  }
  fold(box, state);
}

function name(part, {name, more, says}, number) {
  part.setAttribute("aria-label", `${name}${number ? `, ${number}` : ""}, ${more}. ${says}`);
}

// Where the row is too narrow for its type, the working part stands alone, its neighbours' arrows cut.
function fold(box, state) {
  const {need, alone} = state.spec, rem = parseFloat(getComputedStyle(root).fontSize);
  if (!box.clientWidth) return;
  const folded = box.clientWidth < (0.97 * need * rem) / 16;
  const parts = [...box.querySelectorAll(".part")];
  const working = parts.find((part) => part.classList.contains("lit"));
  if (working) state.last = working.dataset.part;
  const at = parts.findIndex((part) => part.dataset.part === (state.last ?? alone));
  box.toggleAttribute("data-folded", folded);
  for (const [i, part] of parts.entries()) {
    const frame = part.querySelector("svg"), here = folded && i === at;
    part.classList.toggle("alone", here);
    frame.setAttribute("x", here ? "8%" : part.dataset.x);
    frame.setAttribute("width", here ? "84%" : part.dataset.width);
  }
  for (const [side, other] of [["before", parts[at - 1]], ["after", parts[at + 1]]]) stub(box, side, parts[at], other);
  for (const text of box.querySelectorAll(".part text")) squeeze(text);
}

// The cut arrow between the part that stands alone and a neighbour, none at the end of the row.
function stub(box, side, part, other) {
  const line = box.querySelector(`[data-stub=${side}]`), [near, far] = side === "before" ? ["7.2%", "0%"] : ["92.8%", "99.5%"];
  const from = (a, b) => a && b && box.querySelector(`.arrow[data-from="${a.dataset.part}"][data-to="${b.dataset.part}"]`);
  const inward = from(other, part);
  line.classList.toggle("none", !inward && !from(part, other));
  line.setAttribute("x1", inward ? far : near);
  line.setAttribute("x2", inward ? near : far);
}

// Python leaves room for a wide face; should another be wider still, its letters move together.
function squeeze(text) {
  text.removeAttribute("textLength");
  const frame = text.parentElement.querySelector("rect").getBBox().width - 6;
  if (frame < 0 || text.getComputedTextLength() <= frame) return; // below 0 it is hidden
  text.setAttribute("textLength", frame);
  text.setAttribute("lengthAdjust", "spacingAndGlyphs");
}

// Words stand above the part under the pointer or with the focus. A click goes to the part's page; on the stage and
// under a finger the first one shows the words, and the second goes.
function listen(box, part, said) {
  const here = new URL(address(said.page)).pathname === location.pathname;
  part.setAttribute("href", address(said.page));
  name(part, said, "");
  const careful = () => root.hasAttribute("data-stage") || matchMedia("(hover: none)").matches;
  part.addEventListener("pointerenter", (event) => { if (event.pointerType === "mouse") speak(box, part, said, here, careful()); });
  part.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse" && !part.matches(":focus-visible") && !box.lectern.armed) hush(box); });
  part.addEventListener("focus", () => { if (part.matches(":focus-visible")) speak(box, part, said, here, careful()); });
  part.addEventListener("blur", () => hush(box));
  part.addEventListener("keydown", (event) => { if (event.key === "Escape") hush(box); });
  part.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    const again = box.lectern.armed === part;
    speak(box, part, said, here, careful());
    box.lectern.armed = part;
    if (here || (careful() && !again)) return;
    hush(box);
    go(`${said.page}${root.hasAttribute("data-stage") ? "?stage=1" : ""}`);
  });
}

function speak(box, part, said, here, careful) {
  const words = box.querySelector(".words"), make = (tag, text) => Object.assign(document.createElement(tag), {textContent: text});
  const way = here ? "" : careful ? `Click again for “${said.title}”.` : `Click for “${said.title}”.`;
  if (box.lectern.armed !== part) box.lectern.armed = null;
  words.replaceChildren(make("b", said.name), ` ${said.says} `, make("small", `${said.more[0].toUpperCase()}${said.more.slice(1)}. ${way}`));
  words.hidden = false;
  words.classList.toggle("below", box.getBoundingClientRect().top < words.offsetHeight + 8);
  const {left, width} = part.querySelector("rect").getBoundingClientRect(), frame = box.getBoundingClientRect();
  const middle = left + width / 2 - frame.left - words.offsetWidth / 2;
  words.style.left = `${Math.max(0, Math.min(middle, frame.width - words.offsetWidth))}px`;
}

function hush(box) {
  box.lectern.armed = null;
  box.querySelector(".words").hidden = true;
}
