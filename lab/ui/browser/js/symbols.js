// What the symbols of an equation stand for: a list above or below it, never over it, while the pointer or the focus is
// on it; a click or a tap keeps it until the next one elsewhere, Escape closes it.

const EQUATION = ".lectern-film .equation, [data-testid=stMain] .katex-display";
const NUMBER = /\d*\.\d+|\d\d+/g; // `lab.glossary` shortens equations so
const GAP = 6;
const films = new WeakMap(); // equation of a film -> [[symbol, words]] of the frame that is shown
let page = {symbols: [], equations: {}}; // of the stage: what Streamlit draws is known by its text
let open = null; // the equation that is explained
let kept = false; // after a click
let timer;

const at = (event) => event.target.closest?.(EQUATION);
const list = () => document.querySelector(".lectern-symbols");
const marked = (equation) => equation.matches(":focus-visible");

// An equation of a film, at every frame.
export function explain(equation, symbols) {
  films.set(equation, symbols);
  if (open === equation) show(equation);
}

// The equations of the page that Streamlit draws.
export function tell({symbols, equations}) {
  page = {symbols, equations};
  document.documentElement.toggleAttribute("data-symbols", symbols.length > 0);
  if (open && !open.isConnected) hush();
}

// Close the list; whether it was open.
export function hush() {
  clearTimeout(timer);
  const was = open !== null;
  list()?.remove();
  open?.removeAttribute("aria-describedby");
  open = null;
  kept = false;
  return was;
}

function symbolsOf(equation) {
  const latex = equation.querySelector("annotation")?.textContent.trim().replace(NUMBER, "8");
  return films.get(equation) ?? (page.equations[latex] ?? []).map((place) => page.symbols[place]);
}

// Symbols and words as the parts of a <dl>; MathML made in Python.
export function pairs(symbols) {
  return symbols.flatMap(([symbol, words]) => {
    const term = document.createElement("dt");
    term.innerHTML = symbol;
    return [term, Object.assign(document.createElement("dd"), {textContent: words})];
  });
}

function show(equation) {
  clearTimeout(timer);
  const symbols = symbolsOf(equation);
  if (open !== equation || !symbols.length) hush();
  if (!symbols.length) return;
  open = equation;
  const box = list() ?? Object.assign(document.createElement("div"), {className: "lectern-symbols", id: "lectern-symbols"});
  box.setAttribute("role", "tooltip");
  const words = document.createElement("dl");
  words.append(...pairs(symbols));
  words.toggleAttribute("data-wide", symbols.length > 3);
  box.replaceChildren(words);
  if (!box.isConnected) document.querySelector("[data-testid=stApp]").append(box);
  equation.setAttribute("aria-describedby", box.id);
  place(equation, box);
}

// Above the equation, or below it where there is more room; in the middle of what is written.
function place(equation, box) {
  const {top, bottom} = equation.getBoundingClientRect();
  const signs = [...equation.querySelectorAll("math > *, .katex-html > .base")].map((sign) => sign.getBoundingClientRect()).filter(({width}) => width);
  const middle = (Math.min(...signs.map(({left}) => left)) + Math.max(...signs.map(({right}) => right))) / 2;
  const above = top - GAP, below = innerHeight - bottom - GAP;
  box.style.maxHeight = `${Math.max(above, below) - GAP}px`;
  const under = box.offsetHeight <= below || below > above;
  box.style.top = `${under ? bottom + GAP : top - GAP - box.offsetHeight}px`;
  box.style.left = `${Math.max(GAP, Math.min(middle - box.offsetWidth / 2, innerWidth - box.offsetWidth - GAP))}px`;
}

const soon = (act, milliseconds) => { clearTimeout(timer); timer = setTimeout(act, milliseconds); };
document.addEventListener("pointerover", (event) => {
  if (event.pointerType !== "mouse" || kept) return;
  const equation = at(event);
  if (equation === open || event.target.closest?.(".lectern-symbols")) return clearTimeout(timer);
  if (equation) soon(() => show(equation), 200); // not for a pointer that only crosses it
  else if (open && !marked(open)) soon(hush, 200); // the pointer may go on into the list
  else clearTimeout(timer);
});
document.documentElement.addEventListener("pointerleave", () => { if (!kept) hush(); });
document.addEventListener("pointerdown", (event) => { if (!at(event) && !event.target.closest?.(".lectern-symbols")) hush(); }, true);
document.addEventListener("click", (event) => {
  const equation = at(event);
  if (!equation || equation.contains(getSelection().isCollapsed ? null : getSelection().anchorNode)) return; // its text is being selected
  const again = kept && equation === open;
  hush();
  if (!again) { show(equation); kept = open !== null; }
});
document.addEventListener("focusin", (event) => { const equation = at(event); if (equation && marked(equation)) show(equation); });
document.addEventListener("focusout", (event) => { if (at(event) && !kept) hush(); });
document.addEventListener("scroll", ({target}) => { if (open && target !== open && target.contains(open)) hush(); }, true);
window.addEventListener("resize", hush);
window.addEventListener("popstate", hush);

// Before the Tab key moves the focus, what has symbols can take it.
document.addEventListener("keydown", ({key}) => {
  if (key !== "Tab") return;
  for (const equation of document.querySelectorAll(EQUATION)) {
    const words = symbolsOf(equation).length > 0;
    for (const [name, value] of [["tabindex", "0"], ["role", "group"], ["aria-label", "Equation"]])
      if (words) equation.setAttribute(name, value); else equation.removeAttribute(name);
  }
}, true);
