// A slider that reports every movement, with at most one question on its way: the newest wins.
//
// data: {label, low, high, step, value, seq, text, help, disabled}; what it tells: {value, seq}

import {drawing} from "./figure.js";

export const waiting = (window.lecternWaiting ??= {answered: Promise.resolve()});

export default function ({data, parentElement: root, setStateValue}) {
  const box = root.querySelector(".lectern-slider"), input = box.querySelector("input"), out = box.querySelector("output");
  const state = (box.lectern ??= {sent: 0});
  state.report = setStateValue;
  state.data = data;
  box.querySelector(".label").textContent = data.label;
  box.title = data.help ?? "";
  for (const [name, value] of [["min", data.low], ["max", data.high], ["step", data.step]])
    if (+input[name] !== value || input[name] === "") input[name] = value;
  input.setAttribute("aria-label", data.label);
  input.disabled = data.disabled;
  box.toggleAttribute("data-disabled", data.disabled);
  const write = (value) => { out.textContent = shown(value, data); input.setAttribute("aria-valuetext", out.textContent); };
  if (!state.built) {
    state.built = true;
    state.wanted = null;
    input.oninput = () => { write(+input.value); state.wanted = +input.value; send(state); };
  }
  // An answer to an older question leaves the slider where the reader has it now.
  if (state.wanted === null && data.seq >= state.sent) { input.value = data.value; write(data.value); }
  state.sent = Math.max(state.sent, data.seq);
  if (data.seq >= state.sent) state.arrived?.();
}

async function send(state) {
  if (state.busy) return;
  state.busy = true;
  try {
    while (state.wanted !== null) {
      const value = state.wanted;
      state.wanted = null;
      const back = new Promise((resolve) => { state.arrived = resolve; setTimeout(resolve, 5000); });
      state.sent += 1;
      state.report("moved", {value, seq: state.sent});
      await back;
      await ended(); // the run that answers is over, and its figures are drawn
    }
  } finally { state.busy = false; }
}

async function ended() {
  await new Promise(requestAnimationFrame); // what came with the answer is on its way into the page
  const app = document.querySelector("[data-testid=stApp]");
  for (let patience = 300; patience > 0 && app?.dataset.testScriptState === "running"; patience--)
    await new Promise(requestAnimationFrame);
  await Promise.allSettled([...drawing]);
}

function shown(value, {step, text}) {
  const digits = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
  return (text ?? "{}").replace("{}", value.toFixed(Math.min(digits, 6)));
}
