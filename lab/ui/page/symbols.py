"""Meanings of the symbols in a page's equations: a list beside each, and all of them under `?`."""

from collections.abc import Mapping

import streamlit as st

from lab import glossary


def set_family(family: str, own: Mapping[str, str]) -> None:
    """A page begins: its equations are in the notation of this family, but for its own symbols."""
    st.session_state["_notation"] = family, own
    st.session_state["_symbols"], st.session_state["_equations"] = {}, {}


def words(latex: str) -> Mapping[str, str]:
    """Symbol -> words, of an equation of the page; `?` lists them too."""
    text = glossary.symbols(latex, *st.session_state.get("_notation", ("", {})))
    st.session_state.setdefault("_symbols", {}).update(text)
    return text


def explain(latex: str) -> None:
    """Have an equation explained that Streamlit draws: the browser knows it by its text."""
    st.session_state.setdefault("_equations", {})[glossary.shortened(latex)] = list(words(latex))


def list_symbols() -> tuple[dict[str, str], dict[str, list[int]]]:
    """All symbols of the page with their words; of each equation that Streamlit draws, the places of its own
    among them."""
    known = dict(st.session_state.get("_symbols", {}))
    place = {symbol: i for i, symbol in enumerate(known)}
    drawn = st.session_state.get("_equations", {})
    return known, {latex: [place[symbol] for symbol in text] for latex, text in drawn.items()}
