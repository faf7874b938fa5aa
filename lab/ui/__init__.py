"""The calls that a page is made of: stage, scenes, controls, figures, films, equation, notice, check, code,
source.

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

from lab.ui.background.jobs import job, prefetch_result, result
from lab.ui.background.rewind import Rewind, rewind
from lab.ui.background.training_runs import action, live, samples, setting
from lab.ui.controls.drawing import draw, ink
from lab.ui.controls.widgets import choice, number, slider, text, toggle, upload
from lab.ui.figures.cells import Beside, cells
from lab.ui.figures.films import Film, film
from lab.ui.figures.machine import machine
from lab.ui.figures.plots import (
    button_figure,
    cell,
    clickable,
    figure,
    figures,
    selected_cell,
    selection,
    table,
)
from lab.ui.figures.wall import Kind, Tile, reel, wall
from lab.ui.models.language import beginning, language_model, language_models, next_token_model
from lab.ui.models.loading import (
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
from lab.ui.navigation.menu import course_map, page_link, pages, tile
from lab.ui.navigation.teaching import course, families, hour, lecture_link
from lab.ui.page.blocks import check, equation, notice, program, source, stop, wait
from lab.ui.page.stage import guard, scene, stage
from lab.ui.rooms.room import compute, film_of, moved, read
from lab.ui.scheduling.prefetch import prefetch
from lab.ui.session.access import ask_password, browser_keys, gate, is_unlocked
from lab.ui.session.ranges import near
from lab.ui.session.state import held_text, select, set_values

columns, tabs, expander, container, caption, markdown = (
    st.columns, st.tabs, st.expander, st.container, st.caption, st.markdown,
)  # fmt: skip
button, metric, write, divider, code, json = st.button, st.metric, st.write, st.divider, st.code, st.json
rerun, warning = st.rerun, st.warning

__all__ = [
    "Beside", "Film", "Kind", "Rewind", "Tile", "action", "ask_password", "beginning", "browser_keys",
    "button", "button_figure", "cached", "caption", "card", "cell", "cells", "check", "choice",
    "clickable", "code", "columns", "compute", "container", "course", "course_map", "divider", "draw",
    "equation", "expander", "experiment", "families", "figure", "figures", "film", "film_of", "folder",
    "gate", "guard", "held_text", "history", "hour", "ink", "is_unlocked", "job", "json", "language_model",
    "language_models", "lecture_link", "live", "load", "machine", "markdown", "metric", "moved", "near",
    "next_token_model", "notice", "number", "page_link", "pages", "prefetch", "prefetch_result",
    "program", "read", "read_history", "recipe", "reel", "rerun", "result", "rewind", "samples", "scene",
    "select", "selected_cell", "selection", "set_values", "setting", "slider", "source", "spelled",
    "stage", "stop", "table", "tabs", "text", "tile", "toggle", "trained", "upload", "wait", "wall",
    "warning", "write",
]  # fmt: skip
