"""The page "Chains and neighbours" by mouse: a click adds a neighbour, another takes it away."""

from typing import Any

import pytest
from test_browser import click, same_in_a_new_tab

from lab.lenses import neighbours

pytestmark = [pytest.mark.browser, pytest.mark.heavy]


def test_neighbours_are_painted_by_clicks(visit: Any) -> None:
    tab = visit.open("autoregressive-chains?template=left")
    click(tab, 0, 3, 2)  # the pixel above
    tab.wait_for_url(lambda url: "template=own" in url)
    visit.settle()
    expected = neighbours.nll_on_test(neighbours.counted(((0, -1), (-1, 0)), shared=False))
    assert f"{expected:.2f}" in visit.text()
    tab.mouse.move(1, 1)  # what the pointer says is not part of the link
    tab.wait_for_timeout(300)
    same_in_a_new_tab(visit)
    click(tab, 0, 2, 3)  # and the one on the left goes
    tab.wait_for_url(lambda url: "own=-1+0" in url)
    visit.settle()
    expected = neighbours.nll_on_test(neighbours.counted(((-1, 0),), shared=False))
    assert f"{expected:.2f}" in visit.text()
