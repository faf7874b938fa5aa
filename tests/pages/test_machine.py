"""The machine on a page: what is sent, and how it stands, folds, lights up and leads on in a browser."""

import base64
import importlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from opening import component, run_page
from playwright.sync_api import Page, Route

from lab import weights
from lab.figures import theme
from lab.machines import MACHINES
from lab.ui.browser import wire
from lab.ui.browser.components import JS

strips = importlib.import_module("lab.ui.figures.machine")  # the package has the function of this name

# One trained model of each machine, the longest words that its parts have, and numbers for two frames.
SHOWN: dict[str, list[dict[str, str]]] = {
    "dcgan-mnist": [{"G": "∇ −0.31", "D": "L = 1.386"}, {"made": "64 made"}],
    "vae-mnist": [{"q": "KL 25.3"}, {"p": "−92.1"}],
    "ddpm-mnist": [{"xt": "t = 1000"}, {"xt": "t = 510", "said": "mse .038"}],
    "hint": [{"layer": "1 of 6"}, {"layer": "2 of 6", "density": "−2.31"}],
    "gpt-shakespeare": [
        {"attention": "1 of 4", "tokens": "22"},
        {"attention": "2 of 4", "logits": "p = .98"},
    ],
    "tagger-homographs": [{"cell": "h→"}, {"cell": "h←", "logits": "p = .98"}],
    "gcn-cora": [{"message": "1 of 2"}, {"message": "2 of 2"}],
    "cnn-mnist": [{"convolution": "1 of 3"}, {"convolution": "3 of 3"}],
}


def payload(name: str, says: list[dict[str, str]]) -> dict[str, Any]:
    which, readings = strips.measure_parts(weights.load(name))
    lit = [next(iter(text)) for text in says]
    return {**strips.header(MACHINES[which], readings, lit, says, len(says), 0), "film": "test/step"}


@pytest.fixture(scope="module")
def sheet() -> str:
    """A page with the eight strips and no more, in place of the dashboard's."""
    sent = [base64.b64encode(wire.pack(payload(name, says))).decode() for name, says in SHOWN.items()]
    css = (JS.parents[1] / "page/stage.css").read_text(encoding="utf-8")
    return f"""<!doctype html><meta charset="utf-8"><title>Machines</title>
      <style>{css} body {{margin: 120px 13px; font-family: {theme.FONT};}}</style>
      {"".join(f'<div class="host">{strips.HTML}</div>' for _ in sent)}
      <script type="module">
        import draw from "/lectern/js/machine.js";
        import {{film}} from "/lectern/js/film.js";
        Object.assign(window, {{clock: film("test/step")}}).clock.count = 2;
        const sent = {json.dumps(sent)}.map((text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)));
        const hosts = document.querySelectorAll(".host");
        hosts.forEach((parentElement, i) => draw({{data: sent[i], parentElement}}));
        window.drawn = true;
      </script>"""


@pytest.fixture
def tab(browser: Any, sheet: str) -> Iterator[Page]:
    context = browser.new_context(
        viewport={"width": 964, "height": 900}
    )  # the picture's column at 1280, and margins
    page = context.new_page()
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))

    def answer(route: Route) -> None:
        path = urlsplit(route.request.url).path
        if path.startswith("/lectern/js/"):
            route.fulfill(path=JS / Path(path).name, content_type="text/javascript")
        else:
            route.fulfill(body=sheet, content_type="text/html")

    page.route("**/*", answer)
    page.goto("http://lectern.test/home")
    page.wait_for_function("window.drawn")
    yield page
    context.close()
    assert not wrong


FAULTS = """() => {
  const wrong = [];
  for (const part of document.querySelectorAll(".part")) {
    const frame = part.querySelector("rect").getBoundingClientRect();
    if (!frame.width) continue;
    for (const text of part.querySelectorAll("text")) {
      const {left, right} = text.getBoundingClientRect(), size = parseFloat(getComputedStyle(text).fontSize);
      const says = (what) => wrong.push(`“${text.textContent}” ${what}`);
      if (left < frame.left + 1 || right > frame.right - 1) says("leaves its part");
      if (text.hasAttribute("textLength")) says("is squeezed");
      if (size < 12) says(`is ${size} px`);
    }
  }
  return wrong;
}"""
HEIGHTS = "[...document.querySelectorAll('.lectern-machine')].map((m) => m.offsetHeight)"
SEEN = """(machine) => [...machine.querySelectorAll('.part')]
  .filter((part) => part.getBoundingClientRect().width).map((part) => part.dataset.part)"""


@pytest.mark.browser
def test_no_text_leaves_its_part_on_any_screen(tab: Page) -> None:
    machines = tab.query_selector_all(".lectern-machine")
    for frame in (0, 1):
        tab.evaluate(f"clock.go({frame})")
        assert tab.evaluate(FAULTS) == []
    assert tab.evaluate(HEIGHTS) == [48] * len(SHOWN)
    assert all(len(tab.evaluate(SEEN, m)) >= 4 for m in machines)

    tab.set_viewport_size({"width": 390, "height": 844})  # the row folds to the part that works
    tab.wait_for_function(f"document.querySelectorAll('[data-folded]').length === {len(SHOWN)}")
    assert tab.evaluate(FAULTS) == []
    assert [tab.evaluate(SEEN, m) for m in machines] == [list(says[1])[:1] for says in SHOWN.values()]

    tab.set_viewport_size({"width": 1446, "height": 1080})  # as wide as the column of 1920 px
    tab.evaluate("document.documentElement.dataset.stage = ''")
    tab.add_style_tag(content="html[data-stage] {font-size: 24px !important;}")
    tab.evaluate("dispatchEvent(new Event('lectern:stage'))")
    tab.wait_for_function("!document.querySelector('[data-folded]')")
    assert tab.evaluate(FAULTS) == []
    assert tab.evaluate(HEIGHTS) == [72] * len(SHOWN)


@pytest.mark.browser
def test_parts_light_up_speak_and_lead_on(tab: Page) -> None:
    first = ".lectern-machine >> nth=0"
    lit = f"{first} >> .lit .name"
    assert tab.locator(lit).all_text_contents() == ["G"]
    tab.evaluate("clock.go(1)")
    assert tab.locator(lit).all_text_contents() == ["x*"]
    assert tab.locator(f"{first} >> [data-part=made] .number").text_content() == "64 made"
    assert tab.locator(f"{first} >> [data-part=D] .number").text_content() == ""

    words = tab.locator(f"{first} >> .words")
    judge = tab.locator(f"{first} >> [data-part=D]")
    judge.hover()
    assert "tell x from x*" in words.inner_text() and "Optimal discriminator" in words.inner_text()
    tab.mouse.move(0, 0)
    assert words.is_hidden()
    tab.keyboard.press("Tab")
    assert "Noise" in words.inner_text()
    assert tab.evaluate("document.activeElement.ariaLabel").startswith("z, 64 numbers. Noise:")

    tab.evaluate("document.documentElement.dataset.stage = ''")
    judge.click()  # a lecturer does not leave by accident
    assert urlsplit(tab.url).path == "/home" and "Click again" in words.inner_text()
    judge.click()
    assert tab.url.endswith("/adversarial-optimal-discriminator?stage=1")
    tab.evaluate("delete document.documentElement.dataset.stage")
    tab.locator(f"{first} >> [data-part=G]").click()
    assert tab.url.endswith("/adversarial-dcgan")


def luminance(color: str) -> float:
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_type_is_read_on_every_colour() -> None:
    for mode in ("light", "dark"):
        theme.use(mode)
        pairs = [(strips.ON[role], color) for role, color in strips.COLORS.items()]
        for one, other in [*pairs, (theme.text(), theme.paper()), (theme.soft(), theme.paper())]:
            low, high = sorted((luminance(one), luminance(other)))
            assert (high + 0.05) / (low + 0.05) >= 4.5, (mode, one, other)
    theme.use("light")


def test_type_never_falls_below_12_px_and_shrinks_only_for_long_words() -> None:
    which, readings = strips.measure_parts(weights.load("vae-mnist"))
    sizes = []
    for number in ("", "−92.1", "a number of forty letters, far too long"):
        svg, need = strips.strip(MACHINES[which], readings, [{"p": number, "q": number}])
        sizes.append(16 * float(re.search(r"--size:([\d.]+)rem", svg)[1]))  # type: ignore[index]
        assert need <= strips.WIDE or sizes[-1] == 12
    assert sizes[0] == 16 and sizes == sorted(sizes, reverse=True) and sizes[-1] == 12


def page() -> None:
    import streamlit as st

    from lab import ui

    ui.stage("Kit", "A machine and its film.")
    film = ui.film(3, key="step", default=1)
    wrong = st.query_params.get("wrong")
    lit = ["net"] * (2 if wrong == "frames" else 3)
    says = [{"G" if wrong == "part" else "xt": f"t = {t}"} for t in (9, 4, 0)]
    ui.machine("ddpm-digits", lit=lit, says=says, film=film)


def test_a_page_sends_a_state_for_every_frame() -> None:
    header, _ = component(run_page(page), "machine")
    assert header["lit"] == [["net"]] * 3 and header["at"] == 1
    assert [text["xt"] for text in header["numbers"]] == ["t = 9", "t = 4", "t = 0"]
    assert 'class="part lit" data-part="net"' in header["svg"] and ">t = 4<" in header["svg"]
    assert header["parts"]["net"]["title"] == "Inside the U-Net"


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [("frames", "lit has 2 frames, the film 3."), ("part", "Diffusion model has no part 'G': xt, net, said")],
)
def test_a_frame_or_a_part_that_is_not_there_is_named(wrong: str, sentence: str) -> None:
    (error,) = run_page(page, wrong=wrong).exception
    assert sentence in error.value
