"""The dashboard: navigation and theme; nothing else. Start it with `lab app`."""

import streamlit as st

from lab.ui.navigation.menu import navigation

st.set_page_config(
    page_title="Lectern",
    page_icon="🎓",
    layout="wide",
    initial_sidebar_state=290,
    menu_items={"About": "**Lectern**: a lab for lectures on deep generative models."},
)
navigation().run()
