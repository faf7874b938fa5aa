"""What every page is made of: header, controls, figures, stepper, equation, notice, check, source.

A page reads from top to bottom as the reader sees it, and holds no tensor maths and no plotly:

    from lab import ui
    ui.header("Attention", "Each token asks; every earlier token answers.")
    name = ui.experiment("Model", family="transformer", key="model", default="gpt-shakespeare")
    model = ui.load(name)
    ...

Every control takes a `key`; the key is its name in the URL, so a pasted link shows the same.
"""

import streamlit as st

from lab.ui.controls import choice, number, presets, slider, text, toggle
from lab.ui.drawing import draw
from lab.ui.figures import figure, held, pick, table
from lab.ui.models import cached, card, experiment, load
from lab.ui.navigation import navigation, pages
from lab.ui.page import check, equation, guard, header, notice, source, stop
from lab.ui.stepping import stepper

columns, tabs, expander, container, caption, markdown = (
    st.columns, st.tabs, st.expander, st.container, st.caption, st.markdown,
)  # fmt: skip
button, metric, write, divider = st.button, st.metric, st.write, st.divider

__all__ = [
    "button", "cached", "caption", "card", "check", "choice", "columns", "container", "divider", "draw",
    "equation", "expander", "experiment", "figure", "guard", "header", "held", "load", "markdown", "metric",
    "navigation", "notice", "number", "pages", "pick", "presets", "slider", "source", "stepper", "stop",
    "table", "tabs", "text", "toggle", "write",
]  # fmt: skip
