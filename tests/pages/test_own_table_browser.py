"""A reader's own table is fitted, and the fit is cancelled, on a phone."""

import pytest
from browsing import WORKS, Visit

pytestmark = pytest.mark.browser

ROWS = ((i * 37 % 101 / 10, i * i % 97 / 7, i * 13 % 53 / 5) for i in range(1500))
TABLE = "a,b,c\n" + "".join(f"{a},{b:.3f},{c}\n" for a, b, c in ROWS)
SEEN = """(box) => { const r = box.getBoundingClientRect();
  return r.top >= 0 && r.bottom <= innerHeight && box.contains(document.elementFromPoint(
    (r.left + r.right) / 2, (r.top + r.bottom) / 2)); }"""


@pytest.mark.parametrize("visit", [{"width": 390, "height": 844}], ids=["phone"], indirect=True)
def test_a_fit_is_cancelled_and_what_it_has_found_stays(visit: Visit) -> None:
    tab = visit.open("latent-own-table?data=Own+table&model=flow&most=8")
    box = tab.locator("textarea").first
    box.fill(TABLE)
    box.press("Control+Enter")
    visit.settle()
    tab.get_by_role("button", name="Fit", exact=True).click()
    stops = tab.locator(WORKS).get_by_role("button", name="Cancel")
    figures = tab.locator(".lectern-figure")
    figures.nth(1).wait_for()  # one size is fitted, seven are not
    assert stops.evaluate(SEEN), "Cancel is not on the screen while the fit goes on"
    assert tab.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    stops.click()
    tab.get_by_text("Cancelled at").wait_for()
    visit.settle()
    assert stops.count() == 0 and figures.count() == 2
    assert tab.get_by_role("button", name="Fit", exact=True).is_visible()
    assert tab.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
