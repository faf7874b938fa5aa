"""The page of messages by mouse: a click selects a node, another joins an edge."""

import re
from typing import Any

import pytest
from test_browser import click, same_in_a_new_tab

from datamodules.karate import Karate
from lab.figures import networks

pytestmark = [pytest.mark.browser, pytest.mark.heavy]


def test_a_click_selects_a_node_and_another_joins_it(visit: Any) -> None:
    club = Karate()
    club.setup()
    places = networks.layout(club.data.edge_index, 34).tolist()
    tab = visit.open("graph-messages?model=gcn-karate")
    click(tab, 0, *places[33])
    tab.wait_for_url(re.compile("node=33"))
    visit.settle()
    assert "Node 33 is predicted" in tab.inner_text("body")

    tab = visit.open("graph-messages?model=gcn-karate&node=8&click=joins+or+cuts")
    click(tab, 0, *places[11])
    tab.wait_for_url(re.compile(r"edits=%2B8-11"))
    visit.settle()
    assert "The edits change the prediction of" in tab.inner_text("body")
    assert tab.locator("input[aria-label=Edits]").input_value() == "+8-11"
    same_in_a_new_tab(visit)
    click(tab, 0, *places[11])  # and takes it back
    tab.wait_for_url(lambda url: "edits" not in url)
    visit.settle()
    assert "The edits change" not in tab.content()
