// Films: a clock that figures follow, a bar that turns it, captions and equations that change with it.
//
// header of the bar: {key, count, at, stamp, seconds, live, plays, label, names, captions, equations,
// symbols: [[symbol, words]], explains: [places of a frame's symbols among them]}
// While it is live, more frames come: whoever is at the last one sees them played. One that plays by itself goes
// round again and again; for a reader who wants less motion it rests.

import {explain} from "./symbols.js";
import {unpack, same} from "./wire.js";

const END = 2500; // milliseconds at the end of a round
const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const films = (window.lecternFilms ??= new Map());

export function film(key) {
  if (!films.has(key)) films.set(key, new Film(key));
  return films.get(key);
}

class Film {
  constructor(key) {
    this.key = key;
    this.members = new Set();
    this.at = null; // not known before its bar is there
    this.count = 1;
  }
  // `draw(at)` is called whenever the film turns; -> what ends it
  join(draw) {
    this.members.add(draw);
    return () => this.members.delete(draw);
  }
  // Turn to a frame. While one is being drawn, of those asked for only the newest is drawn next.
  async go(at) {
    this.at = Math.max(0, Math.min(this.count - 1, at));
    if (this.turning) return;
    this.turning = true;
    try {
      for (let shown = null; shown !== this.at; ) {
        shown = this.at;
        await Promise.all([...this.members].map((draw) => draw(shown)));
      }
    } finally { this.turning = false; }
    clearTimeout(this.timer);
    if (!this.playing && !this.live && !this.left) this.timer = setTimeout(() => this.rest?.(this.at), 400);
  }
  // Another state of the page was asked for: where it rests is nobody's business until Python says where it stands.
  leave() {
    this.left = true;
    clearTimeout(this.timer);
    this.stop();
  }
  step(by) { this.stop(); return this.go(this.at + by); }
  stop() { this.playing = false; this.changed?.(); }
  async play() {
    if (this.playing) { this.stop(); return this.go(this.at); }
    const turn = (this.playing = {}); // this press of the button: after a stop another may play on
    this.changed?.();
    for (;;) {
      if (this.at >= this.count - 1) this.at = -1;
      for (let due = performance.now(); this.playing === turn && this.at < this.count - 1; ) {
        const painted = new Promise(requestAnimationFrame); // asked for before: a slow frame does not wait for one more
        await this.go(this.at + 1);
        await painted;
        due = Math.max(due + this.seconds * 1000, performance.now());
        const early = due - performance.now();
        if (early > 0) await wait(early);
      }
      if (!this.round || this.playing !== turn) break;
      await wait(END);
      if (this.playing !== turn) break;
    }
    if (this.playing && this.playing !== turn) return;
    this.stop();
    return this.go(this.at);
  }
}

export default function ({data, parentElement: root, setStateValue}) {
  const bar = root.querySelector(".lectern-film");
  const state = (bar.lectern ??= {});
  state.report = setStateValue;
  const end = () => {
    const clock = film(state.spec.key);
    clock.leave(); // nobody is there to hear where it rests
    films.delete(state.spec.key);
    if (window.lecternFilm === clock) window.lecternFilm = null;
  };
  if (same(state.bytes, data)) return end;
  state.bytes = data.slice();
  const spec = unpack(data), clock = film(spec.key);
  state.spec = spec;
  const follows = spec.live && spec.count > clock.count && clock.at !== null && (clock.playing || clock.at >= clock.count - 1);
  const ended = clock.live && !spec.live;
  clock.live = spec.live;
  clock.count = spec.count;
  clock.seconds = spec.seconds;
  clock.round = spec.plays;
  clock.rest = (at) => { if (at !== state.told) { state.told = at; state.report("rest", {at, stamp: spec.stamp}); } };
  const find = (name) => bar.querySelector(name);
  const show = (at) => {
    if (document.activeElement !== find(".scrub") || +find(".scrub").value !== at) find(".scrub").value = at;
    find(".count").textContent = spec.names ? `${spec.label} ${spec.names[at]}` : `${spec.label} ${at + 1} of ${spec.count}`;
    find(".scrub").setAttribute("aria-valuetext", spec.captions?.[at] ?? `${at + 1} of ${spec.count}`);
    find(".caption").textContent = spec.captions?.[at] ?? "";
    const equation = spec.equations?.[at] ?? ""; // MathML made in Python
    if (state.equation !== equation) find(".equation").innerHTML = state.equation = equation;
    explain(find(".equation"), (spec.explains[at] ?? []).map((place) => spec.symbols[place]));
  };
  if (!state.built) {
    state.built = true;
    find(".first").onclick = () => film(state.spec.key).step(-Infinity);
    find(".back").onclick = () => film(state.spec.key).step(-1);
    find(".play").onclick = () => film(state.spec.key).play();
    find(".next").onclick = () => film(state.spec.key).step(1);
    find(".scrub").oninput = (event) => film(state.spec.key).step(+event.target.value - film(state.spec.key).at);
  }
  state.leave?.();
  state.leave = clock.join((at) => show(at));
  clock.changed = () => {
    find(".play").textContent = clock.playing ? "❚❚" : "▶";
    find(".play").setAttribute("aria-label", clock.playing ? "Pause" : "Play");
  };
  find(".scrub").max = spec.count - 1;
  find(".controls").hidden = spec.count < 2;
  find(".caption").hidden = !spec.captions.length;
  // Python's place counts when it is news (a scene, a link); else the film stays where the reader left it.
  const news = clock.stamp !== spec.stamp || clock.at === null;
  clock.stamp = spec.stamp;
  state.told = news ? spec.at : state.told;
  if (news) { clock.stop(); clock.left = false; }
  const at = news ? spec.at : Math.min(clock.at, spec.count - 1);
  clock.at = at;
  window.lecternFilm = clock; // the keys turn the page's film
  show(at);
  clock.changed();
  if (news) {
    clock.go(at).then(() => clearTimeout(clock.timer));
    if (spec.plays && !matchMedia("(prefers-reduced-motion: reduce)").matches) clock.play();
  }
  else if (follows && !clock.playing) clock.play();
  else if (ended && !clock.playing) clock.go(at); // Python is told where it stands
  return end;
}
