// A student's page goes with the lecturer's, from scene to scene (`?follow=<name>`, see lab/ui/server/follow.py);
// it may be let go of, and come back to where the lecture is then.

import {address, go} from "./go.js";

const EVERY = 2000; // milliseconds between two questions
const name = new URL(location.href).searchParams.get("follow");
let on = Boolean(name), word = null, known = true, asking = false, timer = 0;

const button = Object.assign(document.createElement("button"), {className: "lectern-follow", type: "button"});
button.addEventListener("click", () => { on = !on; word = null; draw(); ask(); });

if (name) {
  draw();
  timer = setTimeout(ask, 1000);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) ask(); });
}

function draw() {
  button.textContent = !known ? "There is no lecture at this link" : on ? "Following the lecture · let go" : "Come back to the lecture";
  button.setAttribute("aria-pressed", on);
  if (!button.isConnected) document.querySelector("[data-testid=stApp]").append(button);
}

// What is not seen does not ask, and not all ask at once.
async function ask() {
  clearTimeout(timer);
  if (!on || asking) return;
  if (!document.hidden) {
    asking = true;
    try {
      const answer = await fetch(address(`lectern/follow/${name}`), {cache: "no-store", headers: word ? {"If-None-Match": word} : {}});
      const now = answer.headers.get("ETag");
      if (answer.ok && on && now !== word) { word = now; lead((await answer.json()).link); }
      if (known !== (answer.status !== 404)) { known = !known; draw(); }
    } catch { /* the server is away: the next question may reach it */ }
    asking = false;
  }
  timer = setTimeout(ask, EVERY * (0.75 + Math.random() / 2));
}

function lead(link) {
  const here = new URL(location.href);
  for (const own of ["follow", "stage"]) here.searchParams.delete(own);
  if (address(link.slice(1)) === here.href) return;
  const staged = document.documentElement.hasAttribute("data-stage") ? "&stage=1" : "";
  go(`${link.slice(1)}${link.includes("?") ? "&" : "?"}follow=${name}${staged}`);
}
