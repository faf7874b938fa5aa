"""The stage in a real browser: scenes, keys, a slider that tells every movement, figures saved."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import Visit

pytestmark = pytest.mark.browser
PAGE = "language-truncation?scene=0"  # every control where it stands at first
ACTIVE = ".lectern-stage button[aria-pressed=true]"


@pytest.fixture
def tab(walker: Visit) -> Iterator[Any]:
    """The page on truncation, in its first state, in a tab that is already there."""
    yield walker.walk("") and walker.walk(PAGE)
    walker.tab.keyboard.press("Escape")


def active(tab: Any) -> str:
    """The scene that is marked."""
    return " ".join(tab.locator(ACTIVE).all_inner_texts())


def has(tab: Any, name: str) -> bool:
    result: bool = tab.evaluate(f"document.documentElement.hasAttribute('data-{name}')")
    return result


def test_keys_set_scenes_and_the_link_names_the_whole_state(tab: Any, walker: Visit) -> None:
    assert active(tab) == "2 Nucleus 0.9"
    tab.keyboard.press("5")
    tab.wait_for_function(
        "document.querySelector('.lectern-stage [aria-pressed=true]')?.innerText[0] === '5'"
    )
    walker.settle()
    assert {"t=2", "p=1", "m=0.1"} == set(walker.parameters().split("&"))
    tab.keyboard.press("PageDown")
    tab.wait_for_url(re.compile("k=3"))
    walker.settle()
    assert active(tab).startswith("6") and set(walker.parameters().split("&")) == {"k=3", "p=1"}
    tab.keyboard.press("PageUp")
    tab.wait_for_url(re.compile("m=0.1"))
    walker.settle()
    assert active(tab).startswith("5")


def test_keys_of_the_stage(tab: Any, walker: Visit) -> None:
    tab.keyboard.press("f")
    tab.wait_for_url(re.compile("stage=1"))
    walker.settle()
    assert has(tab, "stage") and not tab.locator("[data-testid=stSidebar]:visible").count()
    tab.keyboard.press("3")
    tab.wait_for_url(re.compile("t=0.3"))
    assert "stage=1" in walker.parameters()  # it outlives a scene
    for key, name in (("h", "hide"), ("b", "black")):
        tab.keyboard.press(key)
        assert has(tab, name)
        tab.keyboard.press(key)
        assert not has(tab, name)
    tab.keyboard.press("?")
    assert "next scene" in tab.locator(".lectern-overlay").inner_text()
    tab.keyboard.press("Escape")
    assert not tab.locator(".lectern-overlay").count() and has(tab, "stage")
    tab.keyboard.press("o")
    assert tab.locator(".lectern-overlay li").count() == tab.locator(".lectern-stage nav button").count()
    tab.locator(".lectern-overlay li button").first.click()
    tab.wait_for_function(
        "document.querySelector('.lectern-stage [aria-pressed=true]')?.innerText[0] === '1'"
    )
    tab.keyboard.press("Escape")
    assert not has(tab, "stage")
    walker.settle()
    assert "stage" not in walker.parameters()


def test_a_link_that_says_nothing_opens_in_scene_1(walker: Visit) -> None:
    """As if 1 had been pressed; and that every control stands as at first is said by the link."""
    walker.walk("")
    tab = walker.walk("language-truncation")
    assert active(tab)[0] == "1" and tab.locator(".lectern-stage .sees").inner_text()
    opened = walker.parameters(), walker.text()
    tab.keyboard.press("2")  # its values are the defaults
    tab.wait_for_url(re.compile("scene=0"))
    walker.settle()
    assert active(tab) == "2 Nucleus 0.9" and walker.parameters() == "scene=0"
    tab.reload()
    tab.wait_for_selector("h1")
    walker.settle()
    assert active(tab) == "2 Nucleus 0.9"
    tab.keyboard.press("1")
    tab.wait_for_url(lambda link: "scene=0" not in link)
    walker.settle()
    assert (walker.parameters(), walker.text()) == opened


def test_keys_drive_the_film_after_the_mouse(walker: Visit) -> None:
    """After a click on a scene, the film's slider, a segment: its arrows and Space; a slider of the rail
    keeps its arrows."""
    walker.walk("")
    tab = walker.walk("flow-contraction?step=1")
    at = lambda: int(tab.locator(".lectern-film .scrub").input_value())  # noqa: E731

    def drives() -> None:
        before = at()
        tab.keyboard.press("ArrowRight")
        tab.wait_for_function(
            "(n) => +document.querySelector('.lectern-film .scrub').value === n", arg=before + 1
        )
        tab.keyboard.press("ArrowLeft")
        tab.wait_for_function(
            "(n) => +document.querySelector('.lectern-film .scrub').value === n", arg=before
        )
        tab.keyboard.press(" ")
        tab.wait_for_function("document.querySelector('.lectern-film .play').innerText === '❚❚'")
        tab.keyboard.press(" ")
        tab.wait_for_function("document.querySelector('.lectern-film .play').innerText === '▶'")
        walker.settle()

    tab.locator(".lectern-stage button").nth(3).click()
    walker.settle()
    scene = active(tab)
    drives()
    assert not active(tab) or active(tab) == scene  # Space has pressed no button
    tab.locator(".lectern-film .scrub").click(position={"x": 5, "y": 5})
    walker.settle()
    drives()
    segment = tab.locator("[data-testid=stButtonGroup] button").last
    segment.click()
    walker.settle()
    drives()
    slider, before = tab.locator(".st-key-rail .lectern-slider input").first, at()
    slider.click()
    walker.settle()
    value = float(slider.input_value())
    tab.keyboard.press("ArrowRight")
    assert float(slider.input_value()) > value and at() == before
    tab.keyboard.press(" ")
    tab.wait_for_function("document.querySelector('.lectern-film .play').innerText === '❚❚'")
    tab.keyboard.press(" ")
    walker.settle()


def test_without_controls_the_picture_takes_their_place(walker: Visit) -> None:
    walker.walk("")
    tab = walker.walk("flow-contraction")
    width = "document.querySelector('.st-key-picture').clientWidth"
    drawn = "document.querySelector('.lectern-figure .main-svg').getBoundingClientRect().width"
    before, figure = tab.evaluate(width), tab.evaluate(drawn)
    tab.keyboard.press("h")
    walker.settle()
    hidden = tab.locator(
        ".st-key-rail, .st-key-check, .st-key-notice, [data-testid=stWidgetLabel], .lectern-slider"
    )
    assert hidden.count() > 3 and not any(part.is_visible() for part in hidden.all())
    assert tab.evaluate(width) > before + 200
    tab.wait_for_function(f"{drawn} > {figure + 50}")
    tab.keyboard.press("h")
    walker.settle()
    assert tab.evaluate(width) == before


def test_what_tells_the_answer_is_veiled_while_a_check_asks(walker: Visit) -> None:
    walker.walk("")
    tab = walker.walk("flow-contraction")
    veiled = """(selector) => {
      let node = document.querySelector(selector);
      while (node && getComputedStyle(node).filter === 'none') node = node.parentElement;
      return Boolean(node);
    }"""
    tells = [
        ".st-key-notice",
        ".lectern-stage .sees",
        ".st-key-picture",
        ".st-key-numbers",
        ".lectern-source",
    ]
    assert not any(tab.evaluate(veiled, part) for part in tells)
    tab.get_by_role("button", name="Predict first").click()
    walker.settle()
    assert all(tab.evaluate(veiled, part) for part in tells) and not tab.evaluate(veiled, ".st-key-check")
    tab.locator(".st-key-check [role=radiogroup] label").last.click()
    tab.locator(".st-key-check [data-testid=stAlert]").wait_for()
    walker.settle()
    assert not any(tab.evaluate(veiled, part) for part in tells)
    tab.get_by_role("button", name="Ask again").click()
    walker.settle()


@pytest.mark.parametrize(
    "visit", [{"width": 1920, "height": 1080, "scheme": "light"}], indirect=True, ids=["1920"]
)
def test_on_the_stage_the_line_is_read_and_marks_grow_with_the_type(visit: Visit) -> None:
    tab = visit.open("flow-contraction")  # not in a tab that another test has left on the stage
    look = """() => {
      const plot = document.querySelector('.lectern-figure .plot');
      const css = (node, what) => parseFloat(getComputedStyle(node)[what]);
      return {line: css(document.querySelector('.lectern-stage .sees'), 'fontSize'),
        tick: css(plot.querySelector('.xtick text'), 'fontSize'),
        curve: css(plot.querySelector('.js-line'), 'strokeWidth'),
        mark: Math.max(...plot._fullData.map((t) => t.mode?.includes('markers') ? t.marker.size : 0)),
        swatch: plot._fullLayout.legend?.itemwidth ?? 0};
    }"""
    small = tab.evaluate(look)
    tab.keyboard.press("f")
    tab.wait_for_url(re.compile("stage=1"))
    visit.settle()
    large = tab.evaluate(look)
    tab.keyboard.press("Escape")
    grown = large["tick"] / small["tick"]
    assert large["line"] >= 24 and large["tick"] >= 24 and grown > 1.2
    for part in ("curve", "mark", "swatch"):
        assert large[part] == pytest.approx(grown * small[part], rel=0.05), part


def test_the_sign_for_full_screen_needs_no_font(tab: Any) -> None:
    figure = tab.locator(".lectern-figure").first
    figure.hover()
    sign = figure.get_by_role("button", name="Full screen")
    assert not sign.inner_text() and sign.locator("svg").bounding_box()["width"] > 8


def test_keys_are_silent_in_a_field(tab: Any, walker: Visit) -> None:
    field = tab.get_by_role("textbox", name="Beginning")
    field.fill("")
    field.press_sequentially("5 f?")
    assert (
        field.input_value() == "5 f?"
        and not has(tab, "stage")
        and not tab.locator(".lectern-overlay").count()
    )
    assert active(tab) == "2 Nucleus 0.9"


def test_a_slider_tells_every_movement_and_the_newest_wins(tab: Any, walker: Visit) -> None:
    bars = "document.querySelector('.lectern-figure .plot')._fullData[1].y"
    before = tab.evaluate(f"Array.from({bars})")
    slider = tab.locator(".lectern-slider input").first
    box = slider.bounding_box()
    tab.mouse.move(box["x"] + box["width"] / 3 + 2, box["y"] + box["height"] / 2)
    tab.mouse.down()
    for i in range(1, 16):
        tab.mouse.move(box["x"] + box["width"] * (1 / 3 + i / 40), box["y"] + box["height"] / 2)
    tab.wait_for_url(re.compile(r"[?&]t="))  # before the mouse is let go
    shown = slider.input_value()
    tab.wait_for_url(re.compile(rf"[?&]t={re.escape(shown)}(&|$)"))
    tab.mouse.up()
    walker.settle()
    assert tab.locator(".lectern-slider output").first.inner_text() == f"{float(shown):.2f}"
    assert tab.evaluate(f"Array.from({bars})") != before


@pytest.mark.heavy
def test_a_figure_is_saved_as_svg_png_and_csv(tab: Any) -> None:
    figure = tab.locator(".lectern-figure").first
    figure.hover()
    kinds = {"SVG": b"<svg", "PNG": b"\x89PNG", "CSV": b"token,before,after"}
    for name, start in kinds.items():
        with tab.expect_download() as saved:
            figure.get_by_role("button", name=name).click()
        assert Path(saved.value.path()).read_bytes().startswith(start)


@pytest.mark.heavy
def test_a_figure_that_did_not_change_is_not_drawn_again(tab: Any, walker: Visit) -> None:
    tab.evaluate(
        """() => { window.drawn = [0, 0, 0];
          document.querySelectorAll('.lectern-figure .plot').forEach(
            (plot, i) => plot.on('plotly_afterplot', () => { window.drawn[i] += 1; })); }"""
    )
    tab.get_by_role("button", name="Increment").or_(tab.get_by_test_id("stNumberInputStepUp")).first.click()
    tab.wait_for_url(re.compile("draws=1"))
    walker.settle()
    assert tab.evaluate("window.drawn") == [0, 0, 1]  # only the draws depend on their seed


def test_the_code_of_a_page_is_copied_as_it_stands(visit: Visit) -> None:
    """By a button of ours: a page never loads Streamlit's highlighter of all languages."""
    visit.context.grant_permissions(["clipboard-read"])
    tab = visit.open("flow-contraction")
    tab.get_by_text("Code", exact=True).click()
    listing = tab.locator(".lectern-code")
    listing.get_by_role("button", name="Copy").click()
    listing.get_by_role("button", name="Copied").wait_for()
    text = tab.evaluate("navigator.clipboard.readText()")
    assert text.strip() == listing.locator("pre").inner_text().strip()
    assert "import" in text and "result" in text
    ast.parse(text)
    loaded = "performance.getEntriesByType('resource').map((entry) => entry.name)"
    assert not [name for name in tab.evaluate(loaded) if "SyntaxHighlighter" in name]
