"""What every page is made of: stage, scenes, controls, figures, films, equation, notice, check, code, source.

A page reads from top to bottom as the reader sees it, and holds no tensor maths and no plotly:

    from lab import ui
    from pages.convolution.kernel import lens
    from pages.convolution.kernel.room import ROOM
    stage = ui.stage(ROOM)
    with stage.rail:
        now = ui.read(ROOM)
    found = ui.compute(lens.slid, now)
    ...

Every control has a key, its name in the URL, so a pasted link shows the same: the field's name in the room's
state, or what a page that draws by hand gives as `key`.
"""

import streamlit as st

from lab.ui.access import ask as ask_password
from lab.ui.access import gate, unlocked
from lab.ui.access import keys as browser_keys
from lab.ui.cells import Beside, cells
from lab.ui.controls import choice, number, slider, text, toggle, upload
from lab.ui.drawing import draw, ink
from lab.ui.figures import button_figure, cell, clickable, figure, selected_cell, selection, table
from lab.ui.films import Film, film
from lab.ui.idle import ahead
from lab.ui.language import beginning, language_model, language_models, next_token_model
from lab.ui.machine import machine
from lab.ui.models import (
    cached,
    card,
    experiment,
    folder,
    history,
    load,
    read_history,
    recipe,
    spelled,
    trained,
)
from lab.ui.navigation import course_map, navigation, page_link, pages, tile
from lab.ui.page import check, equation, notice, program, source, stop, wait
from lab.ui.ranges import near
from lab.ui.rewind import Rewind, rewind
from lab.ui.room import compute, film_of, moved, read
from lab.ui.stage import guard, scene, stage
from lab.ui.state import held_text, select, set_values
from lab.ui.wall import Kind, Tile, reel, wall
from lab.ui.watching import action, live, samples, setting
from lab.ui.working import found, found_ahead, job

columns, tabs, expander, container, caption, markdown = (
    st.columns, st.tabs, st.expander, st.container, st.caption, st.markdown,
)  # fmt: skip
button, metric, write, divider, code, json = st.button, st.metric, st.write, st.divider, st.code, st.json
rerun, warning = st.rerun, st.warning

__all__ = [
    "Beside", "Film", "Kind", "Rewind", "Tile", "action", "ahead", "ask_password", "beginning",
    "browser_keys", "button", "button_figure", "cached", "caption", "card", "cell", "cells", "check",
    "choice", "clickable", "code", "columns", "compute", "container", "course_map", "divider", "draw",
    "equation", "expander", "experiment", "figure", "film", "film_of", "folder", "found", "found_ahead",
    "gate", "guard", "held_text", "history", "ink", "job", "json", "language_model", "language_models",
    "live", "load", "machine", "markdown", "metric", "moved", "navigation", "near", "next_token_model",
    "notice", "number", "page_link", "pages", "program", "read", "read_history", "recipe", "reel", "rerun",
    "rewind", "samples", "scene", "select", "selected_cell", "selection", "set_values", "setting", "slider",
    "source", "spelled", "stage", "stop", "table", "tabs", "text", "tile", "toggle", "trained", "unlocked",
    "upload", "wait", "wall", "warning", "write",
]  # fmt: skip
