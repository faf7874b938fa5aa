// The speaker's window: this scene and the next, notes, the clock, and the time spent against the plan. The
// part of its address behind # is the right to turn the scenes of those who follow (lab/ui/server/follow.py).

const channel = new BroadcastChannel(`lectern-speaker-${new URL(location).searchParams.get("tab")}`), $ = (id) => document.getElementById(id);
const started = Date.now();
let planned = null; // minutes up to the end of the present scene

channel.onmessage = ({data}) => { if (data?.title) { show(data); turn(data); } };
$("previous").onclick = () => channel.postMessage("previous");
$("forward").onclick = () => channel.postMessage("next");
addEventListener("keydown", ({key}) => {
  if (["PageDown", "ArrowRight", " "].includes(key)) channel.postMessage("next");
  if (["PageUp", "ArrowLeft"].includes(key)) channel.postMessage("previous");
});
channel.postMessage("hello");

function show({title, scenes, active, last, lecture}) {
  const at = lecture ? lecture.at : active ?? last;
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

// --- Those who follow ---------------------------------------------------------------------------------

const secret = location.hash.slice(1);
let place = "", scene = null; // where the stage is
let link = null, sending = false; // what is still to be told

// A page or an entry of a lecture as it opens; then a scene when one is chosen there. What the lecturer moves
// by hand leads nobody.
function turn({page, scenes, active, lecture}) {
  const at = `/${page}${lecture ? `?lecture=${lecture.name}&at=${lecture.at + 1}` : ""}`, came = at !== place;
  const chosen = active !== null && (came ? !lecture : active !== scene);
  [place, scene] = [at, active];
  if (!secret || !(came || chosen)) return;
  link = chosen ? `${at}${lecture ? "&" : "?"}scene=${encodeURIComponent(scenes[active].name)}` : at;
  if (!sending) send();
}

async function send() {
  sending = true;
  while (link) {
    const now = link;
    try {
      const answer = await fetch("../follow", {method: "POST", body: JSON.stringify({secret, link: now})});
      followed(answer.ok ? await answer.json() : {says: await answer.text()});
      if (now === link) link = null;
    } catch {
      followed({says: "The server does not answer: students stay where they are."});
      await new Promise((resolve) => setTimeout(resolve, 2000));
    }
  }
  sending = false;
}

function followed(told) {
  const here = told.id && new URL(`../../f/${told.id}`, location.href).href;
  $("follow").hidden = false;
  $("code").hidden = !told.address;
  if (told.address && $("code").dataset.of !== told.address) {
    $("code").dataset.of = told.address;
    $("code").src = `../follow/${told.id}.svg`;
  }
  if (here) $("address").href = $("address").textContent = told.address ?? here;
  $("followsays").textContent = told.says;
  channel.postMessage({followed: told.id ? told : null});
}
