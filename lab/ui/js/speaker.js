// The speaker's window: this scene and the next, notes, the clock, and the time spent against the plan.

const channel = new BroadcastChannel(`lectern-speaker-${new URL(location).searchParams.get("tab")}`), $ = (id) => document.getElementById(id);
const started = Date.now();
let planned = null; // minutes up to the end of the present scene

channel.onmessage = ({data}) => { if (data?.title) show(data); };
$("previous").onclick = () => channel.postMessage("previous");
$("forward").onclick = () => channel.postMessage("next");
addEventListener("keydown", ({key}) => {
  if (["PageDown", "ArrowRight", " "].includes(key)) channel.postMessage("next");
  if (["PageUp", "ArrowLeft"].includes(key)) channel.postMessage("previous");
});
channel.postMessage("hello");

function show({title, scenes, active, lecture}) {
  const at = lecture ? lecture.at : active;
  const all = lecture ? lecture.entries.map((e) => [e.name, e.says]) : scenes.map((s) => [s.name, s.sees]);
  const [name, says] = all[at] ?? [title, ""], [after, aftersays] = all[at + 1] ?? ["the end", ""];
  $("title").textContent = lecture ? `${lecture.title} · ${title}` : title;
  [$("scene").textContent, $("says").textContent, $("after").textContent, $("aftersays").textContent] = [name, says, after, aftersays];
  $("place").textContent = all.length ? `${at + 1} of ${all.length}` : "";
  planned = lecture ? lecture.entries.slice(0, at + 1).reduce((sum, e) => sum + e.minutes, 0) : null;
  tick();
}

function tick() {
  const spent = (Date.now() - started) / 60000;
  $("clock").textContent = new Date().toLocaleTimeString([], {hour: "2-digit", minute: "2-digit"});
  $("spent").textContent = `${Math.floor(spent)} min${planned === null ? "" : ` of ${planned}`}`;
  $("spent").className = planned !== null && spent > planned ? "late" : "";
}
setInterval(tick, 1000);
tick();
