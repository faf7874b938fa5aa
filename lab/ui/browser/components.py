"""Components of our own: a stub in Streamlit's page loads the module that `lab app` serves beside it."""

import json
import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

import streamlit as st

JS = Path(__file__).parent / "js"
PLOTLY = f"lectern/plotly-{version('plotly')}.js"  # its address: another version is another file

STUB = """
let loading;
window.lecternPlotly = new URL(%s, document.baseURI).href;
export default async function (component) {
  loading ??= import(new URL("lectern/js/%s.js", document.baseURI).href);
  let module;
  try { module = await loading; } catch {
    loading = undefined;
    component.parentElement.textContent = %s;
    return;
  }
  const end = module.default(component);
  const hidden = component.parentElement.querySelector("[data-unheard]");
  if (hidden) { hidden.removeAttribute("data-unheard"); hidden.style.visibility = ""; }
  return end;
}
"""
ALONE = "This part needs the dashboard's own server: start it with `lab app`."


def component(name: str, html: str, css: str | None = None) -> Any:
    """A function that mounts `js/<name>.js`; define it once, in a module. Styles of the page reach inside,
    and its own `css` reaches the page."""
    js = STUB % (json.dumps(PLOTLY), name, json.dumps(ALONE))
    return st.components.v2.component(
        f"lectern_{name}", html=hidden_until_loaded(html), css=css, js=js, isolate_styles=False
    )


def hidden_until_loaded(html: str) -> str:
    """Markup whose first element is hidden until its module has run: nobody would hear an early press of its
    buttons."""
    return re.sub(r"<\w+", r'\g<0> data-unheard style="visibility: hidden"', html, count=1)


def last_message(name: str, field: str) -> Any:
    """The last message of a component; None where the page was left before its word arrived."""
    try:
        return st.session_state[name][field]
    except KeyError:
        return None
