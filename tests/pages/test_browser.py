"""What a reader does with hand and keyboard, in a real browser."""

import io
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from browsing import Visit

from lab import runs

pytestmark = pytest.mark.browser

PIXELS = "autoregressive-inspector?show=Pixels&model=made-digits"
COMPLETION = "autoregressive-inspector?show=Completion&model=made-digits"
TEXT = "transformer-attention"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("autoregressive-bench?show=Pixels&model=made-digits", PIXELS),
        (
            "autoregressive-masks-and-pixels?n=3&order=own&own=3+1+2",
            "autoregressive-masks?n=3&order=own&own=3+1+2",
        ),
        ("language-decoding?b=3", "language-beam-search?b=3"),
        ("language-decoding?view=Next+token&p=0.5", "language-truncation?p=0.5"),
        ("language-word-vectors?view=Analogies&exclude=false", "language-analogies?exclude=false"),
        ("language-senses?layer=after+block+1", "language-senses?layer=1"),
        ("latent-latent-space?view=Path&a=1&b=8&step=3", "latent-interpolation?a=1&b=8&step=3"),
        ("latent-latent-space?view=Sums&minus=4&strength=0.5", "latent-arithmetic?minus=4&strength=0.5"),
        ("latent-latent-space?view=ELBO&a=box&beta=3", "latent-bound?a=box&beta=3"),
        ("latent-latent-space?view=Plane&z=1,1", "latent-latent-space?z=1,1"),
    ],
)
def test_an_old_link_leads_to_where_the_page_is_now(walker: Visit, old: str, new: str) -> None:
    visit, tab = walker, walker.open(old)  # the test before may have left the tab on the page it leads to
    page, asked = new.split("?")
    tab.wait_for_url(re.compile(f"/{page}[?]"))
    visit.settle()
    result = parse_qs(visit.parameters())
    assert parse_qs(asked).items() <= result.items() and "view" not in result
    assert not tab.get_by_test_id("stAlert").count()


def test_back_brings_back_the_model_although_the_page_between_has_one_too(walker: Visit) -> None:
    tab = walker.walk("convolution-receptive-field?model=cnn-digits")
    before = walker.text()
    walker.walk(PIXELS)
    assert "model=made-digits" in tab.url
    tab.go_back()
    tab.wait_for_url(re.compile("/convolution-receptive-field"))
    walker.settle()
    assert "model=cnn-digits" in tab.url and walker.text() == before


def cell(tab: Any, chart: int, x: float, y: float) -> tuple[float, float]:
    """The place on the screen of the point (x, y) of a figure."""
    return tuple(
        tab.evaluate(
            """([chart, x, y]) => {
              const plot = document.querySelectorAll('.js-plotly-plot')[chart];
              const {xaxis, yaxis} = plot._fullLayout;
              plot.scrollIntoView({block: 'center'});
              const box = plot.getBoundingClientRect();
              return [box.left + xaxis._offset + xaxis.d2p(x), box.top + yaxis._offset + yaxis.d2p(y)];
            }""",
            [chart, x, y],
        )
    )


def click(tab: Any, chart: int, x: float, y: float) -> None:
    """Point at (x, y) of a figure, and click there."""
    tab.mouse.move(*cell(tab, chart, x, y))
    tab.wait_for_timeout(300)  # plotly looks for what is under the pointer only so often
    tab.mouse.down()
    tab.mouse.up()


def same_in_a_new_tab(visit: Any) -> None:
    """The link of this tab, pasted into another, shows the same words and numbers."""
    visit.tab.mouse.move(1, 1)  # what a figure says under the pointer goes
    visit.tab.wait_for_timeout(300)
    copy = visit.context.new_page()
    visit.open(visit.tab.url, copy)
    assert visit.text(copy) == visit.text()
    copy.close()


def test_a_click_on_a_figure_is_kept_and_travels_in_the_link(walker: Visit) -> None:
    tab = walker.walk(PIXELS)
    before = walker.text()
    click(tab, 0, 3, 5)
    tab.wait_for_url(re.compile(r"pixel=3(,|%2C)5"))
    walker.settle()
    assert walker.text() != before
    same_in_a_new_tab(walker)
    click(tab, 0, 3, 5)  # again: let go
    tab.wait_for_url(lambda url: "pixel=" not in url)
    walker.settle()
    assert walker.text() == before


@pytest.mark.heavy
def test_a_clicked_unit_shows_its_field_and_its_numbers(walker: Visit) -> None:
    tab = walker.walk("convolution-receptive-field?model=cnn-digits&layer=1+%C2%B7+conv+3%C3%973")
    figures = "[...document.querySelectorAll('.lectern-figure')]"
    units = tab.evaluate(f"{figures}.findIndex((figure) => figure.ariaLabel.includes('click a unit'))")
    click(tab, units, 2, 6)
    tab.wait_for_url(re.compile(r"column=2"))
    walker.settle()
    corner = walker.text()
    same_in_a_new_tab(walker)
    click(tab, units, 5, 1)
    tab.wait_for_url(re.compile(r"column=5"))
    walker.settle()
    assert walker.text() != corner


def test_a_drawn_digit_reaches_the_model_and_the_link(walker: Visit) -> None:
    visit, tab = walker, walker.walk(COMPLETION)
    pad = tab.locator(".pad > canvas")
    pad.scroll_into_view_if_needed()
    before = visit.text()
    tab.get_by_role("button", name="Clear").click()
    tab.wait_for_url(re.compile("digit=ink"))
    visit.settle()
    empty = visit.parameters()
    box = pad.bounding_box()
    tab.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.15 * box["height"])
    tab.mouse.down()
    tab.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.85 * box["height"], steps=8)
    tab.mouse.up()
    tab.wait_for_function("(old) => location.search.slice(1) !== old", arg=empty)
    visit.settle()
    assert visit.text() != before
    same_in_a_new_tab(visit)


@pytest.mark.heavy
def test_answers_that_come_late_never_wipe_a_stroke(visit: Any) -> None:
    """While strokes follow each other faster than the server answers, ink is only added."""
    tab = visit.open(COMPLETION)
    tab.get_by_role("button", name="Clear").click()
    tab.wait_for_url(re.compile("digit=ink"))
    visit.settle()
    tab.evaluate(
        """() => {
          window.ink = [];
          const roots = [...document.querySelectorAll('*')].map((e) => e.shadowRoot);
          const canvas = roots.map((root) => root?.querySelector('.pad > canvas')).find(Boolean);
          const look = () => {
            const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
            window.ink.push(data.reduce((sum, v, i) => sum + (i % 4 === 3 ? v : 0), 0));
            requestAnimationFrame(look);
          };
          look();
        }"""
    )
    box = tab.locator(".pad > canvas").bounding_box()

    def at(column: float, row: float) -> tuple[float, float]:
        return box["x"] + (column + 0.5) / 8 * box["width"], box["y"] + (row + 0.5) / 8 * box["height"]

    for column in range(8):  # dots, faster than any answer
        tab.mouse.click(*at(column, 0))
    for column in range(1, 6, 2):  # strokes, with the answer to the one before in their middle
        tab.mouse.move(*at(column, 2))
        tab.mouse.down()
        tab.mouse.move(*at(column, 4), steps=3)
        visit.quiet()
        tab.mouse.move(*at(column, 6), steps=3)
        tab.mouse.up()
    visit.quiet()
    ink = tab.evaluate("() => window.ink")
    assert ink[0] == 0 and ink[-1] > 0
    assert ink == sorted(ink)
    same_in_a_new_tab(visit)


def test_a_typed_sentence_is_read(walker: Visit) -> None:
    visit, tab = walker, walker.walk(TEXT)
    tab.get_by_role("textbox", name="Your text").fill("KING: speak, speak")
    tab.get_by_role("textbox", name="Your text").press("Control+Enter")
    tab.wait_for_url(re.compile("text=KING"))
    visit.settle()
    texts = tab.evaluate("document.querySelector('.lectern-cells').cells.labels.map((l) => l.text).join('')")
    assert "KING:" in texts
    same_in_a_new_tab(visit)


def test_a_film_is_stepped_played_and_scrubbed_without_the_server(walker: Visit) -> None:
    tab = walker.walk(f"{PIXELS}&step=5")
    bar = tab.locator(".lectern-film")

    def at() -> int:
        return int(bar.locator(".scrub").input_value())

    def until(step: int) -> None:
        tab.wait_for_url(re.compile(rf"step={step}(&|$)"))  # where it rests is told
        walker.settle()
        assert at() == step

    assert at() == 5
    result = bar.inner_text()
    tab.evaluate("document.activeElement?.blur()")
    asked = tab.evaluate("window.lecternWire.asked")
    for key, step in (("ArrowRight", 6), ("ArrowRight", 7), ("ArrowLeft", 6), ("ArrowLeft", 5)):
        tab.keyboard.press(key)
        tab.wait_for_function(f"+document.querySelector('.lectern-film .scrub').value === {step}")
    assert bar.inner_text() == result  # a trace replays to the same numbers
    assert tab.evaluate("window.lecternWire.asked") == asked  # nobody was asked for a picture
    bar.get_by_role("button", name="Forward").click()
    until(6)
    bar.locator(".scrub").fill("20")
    until(20)
    bar.get_by_role("button", name="Play").click()
    tab.wait_for_function(
        """() => {
          const bar = document.querySelector('.lectern-film');
          if (+bar.querySelector('.scrub').value < 23) return false;
          bar.querySelector('[aria-label=Pause]').click(); // before a busy machine has come to its end
          return true;
        }"""
    )
    bar.get_by_role("button", name="Play").wait_for()
    stopped = at()
    until(stopped)
    assert stopped >= 23
    same_in_a_new_tab(walker)


@pytest.mark.heavy
def test_a_figure_saves_what_stands_in_it(walker: Visit) -> None:
    """Points with their error bars, cells, and words in place of the numbers behind them."""

    def saved(tab: Any, key: str) -> list[str]:
        with tab.expect_download() as result:
            tab.locator(f".st-key-figure-{key} button.csv").evaluate("(button) => button.click()")
        return Path(result.value.path()).read_text(encoding="utf-8").splitlines()

    rows = saved(walker.open("flow-log-det?n=2"), "estimates")
    assert rows[0] == "trace,x,estimate ± 1 sd,error" and len(rows) == 6
    assert rows[1].startswith("scatter,1 probe,0.") and float(rows[1].split(",")[3]) > 0
    rows = saved(walker.open("convolution-kernel"), "matrix")
    assert rows[0] == "trace,input,output,value" and len(rows) == 1 + 12 * 12
    tab = walker.open("transformer-sampling?prompt=ROMEO")
    assert [row.split(",")[3] for row in saved(tab, "text")[1:6]] == list("ROMEO")
    assert saved(tab, "bars")[0] == "trace,x,probability"


def test_a_file_that_is_no_picture_or_too_large_gets_one_sentence(visit: Any) -> None:
    from PIL import Image

    tab = visit.open(COMPLETION)
    upload = tab.locator(".pad input[type=file]")
    note = tab.locator(".pad .note")
    upload.set_input_files({"name": "notes.txt", "mimeType": "text/plain", "buffer": b"no picture"})
    assert_text(note, "That file is not a picture")
    upload.set_input_files({"name": "huge.png", "mimeType": "image/png", "buffer": bytes(10 * 2**20)})
    assert_text(note, "10.0 MB; choose one of at most 2 MB")
    assert "digit" not in parse_qs(visit.parameters())
    picture = Image.new("L", (300, 200), 255)
    picture.paste(0, (140, 20, 160, 180))
    data = io.BytesIO()
    picture.save(data, "PNG")
    upload.set_input_files({"name": "one.png", "mimeType": "image/png", "buffer": data.getvalue()})
    tab.wait_for_url(re.compile("digit=ink"))
    assert_text(note, "")
    visit.settle()
    same_in_a_new_tab(visit)


def assert_text(locator: Any, text: str) -> None:
    from playwright.sync_api import expect

    expect(locator).to_contain_text(text) if text else expect(locator).to_be_empty()


@pytest.mark.heavy
def test_a_run_is_started_watched_found_after_a_reload_and_stopped(
    visit: Any, browser: Any, dashboard: str, runs_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By this browser: another sees it, and cannot stop it."""
    monkeypatch.setenv("LECTERN_RUNS", str(runs_root))
    tab = visit.open("train?experiment=made-digits&made-digits-epochs=7")
    try:
        epochs = tab.get_by_role("spinbutton", name="Epochs")
        assert epochs.input_value() == "40"  # no setting comes from a link
        epochs.fill("500")
        epochs.press("Enter")
        tab.get_by_text("--trainer.max_epochs=500").wait_for()
        tab.get_by_role("button", name="Start").click()
        tab.wait_for_url(re.compile("run=made-digits"))
        tab.get_by_text(re.compile(r"running: [1-9]\d* of 500 epochs")).wait_for(timeout=90_000)
        tab.locator(".js-plotly-plot").first.wait_for()
        another = Visit(browser, dashboard)
        there = another.tab
        there.goto(tab.url)
        there.get_by_text("Another browser has started this run").wait_for()
        there.get_by_role("button", name="Stop").click()
        there.wait_for_timeout(1500)
        assert [run.state for run in runs.list_runs()] == ["running"]
        another.context.close()
        visit.open(tab.url)  # the browser is known again
        tab.get_by_text(re.compile(r"running: \d+ of 500 epochs")).wait_for()
        tab.get_by_role("button", name="Stop").click()
        tab.get_by_text(re.compile(r"stopped: \d+ of 500 epochs")).wait_for(timeout=60_000)
        assert tab.get_by_role("button", name="Resume").is_enabled()
    finally:
        for run in runs.list_runs():
            runs.stop(run, patience=2)
