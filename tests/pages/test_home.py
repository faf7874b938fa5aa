"""Home: its strip says of a word or a digit what the models say; its tiles lead on with the same input."""

import csv
import io
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import torch
from browsing import Visit
from opening import figure, open_page, open_warned, warnings

from lab import ui
from lab.lenses import strip
from lab.lenses import text as texts


def tiles(page: Any) -> dict[str, str]:
    """Title of each tile -> its link."""
    found = [re.search(r'href="([^"]*)"><b>(.*?)</b>', h.proto.body) for h in page.get("html")]
    return {m[2]: m[1].replace("&amp;", "&") for m in found if m}


def column(page: Any, key: str, name: str) -> list[float]:
    """A column of the figure's data."""
    rows = csv.DictReader(io.StringIO(figure(page, key)[0]["csv"]))
    return [float(row[name]) for row in rows]


def test_a_word_is_answered_by_every_tile() -> None:
    page = open_page("home", text="to be")
    assert list(tiles(page)) == ["Tokens", "Attention", "Next letter", "Goes on", "Surprise", "Neighbours"]
    model, card = ui.load("gpt-shakespeare"), ui.card("gpt-shakespeare")
    coder = texts.tokenizer(card)
    ids = torch.tensor(coder.encode("to be"))
    p = model(ids[None])[0].softmax(-1)  # (T, V)
    assert column(page, "next", "p") == pytest.approx(p[-1].topk(8).values.tolist(), abs=1e-5)
    costs = [-float(p[i, ids[i + 1]].log()) for i in range(len(ids) - 1)]
    assert column(page, "surprise", "nats") == pytest.approx(costs, abs=1e-4)
    for title, key in (("Attention", "text"), ("Next letter", "prompt"), ("Goes on", "prompt")):
        assert parse_qs(urlsplit(tiles(page)[title]).query) == {key: ["to be"]}


def test_what_the_model_cannot_read_is_named() -> None:
    page = open_warned("home", text="naïve")
    assert "ï" in warnings(page)
    assert parse_qs(urlsplit(tiles(page)["Attention"]).query) == {"text": ["nave"]}  # the rest is shown
    assert not tiles(open_warned("home", text="ïï"))


def test_a_word_without_a_vector_is_said_so() -> None:
    said = "".join(h.proto.body for h in open_page("home", text="qzx").get("html"))
    assert "no word of yours has a vector" in said


def test_the_text_goes_on_with_the_likeliest_letter_each_time() -> None:
    model = ui.load("gpt-shakespeare")
    ids = torch.tensor(texts.tokenizer(ui.card("gpt-shakespeare")).encode("ROMEO"))
    seen = strip.word(model, ids)
    whole = torch.cat([ids, seen.ahead])
    p = model(whole[None])[0].softmax(-1)[len(ids) - 1 : -1]  # one pass over all: causal, so the same numbers
    assert p.argmax(-1).tolist() == seen.ahead.tolist()
    assert torch.allclose(p.max(-1).values, seen.sure, atol=1e-4)
    assert seen.heads.sum(-1) == pytest.approx(1.0, abs=1e-4)


def test_a_digit_is_answered_by_every_tile() -> None:
    page = open_page("home", ask="a digit", digit="3")
    links = tiles(page)
    assert list(links) == ["Class", "Gradient", "Latent space", "Neighbours"]
    (ink,) = parse_qs(urlsplit(links["Class"]).query)["digit28"]
    assert ink.startswith("ink.") and ink == parse_qs(urlsplit(links["Latent space"]).query)["a"][0]
    assert sum(column(page, "classes", "p")) == pytest.approx(1.0, abs=1e-5)
    there = open_page("convolution/receptive_field", digit28=ink)  # the drawing is read there
    assert not there.warning


def test_the_nearest_digits_are_nearest() -> None:
    others = torch.rand(20, 28, 28, generator=torch.Generator().manual_seed(0))
    seen = strip.digit(ui.load("cnn-mnist"), ui.load("vae2d-mnist"), others[7], others, count=3)
    distances = (others - others[7]).flatten(1).norm(dim=1)
    assert seen.near.tolist() == distances.argsort()[:3].tolist() and seen.near[0] == 7
    nudged = others[7].clone()
    i, j = divmod(int(seen.field.argmax()), 28)
    nudged[i, j] += 0.01
    best = int(seen.p.argmax())
    logits = [float(ui.load("cnn-mnist").predict(x[None, None])[0, best]) for x in (others[7], nudged)]
    assert abs(logits[1] - logits[0]) / 0.01 == pytest.approx(float(seen.field.max()), rel=0.2)


# --- The course, in the browser ---------------------------------------------------------------------

SEEN = """(list) => [...list].filter((n) => {
  const {top, bottom, left, right} = n.getBoundingClientRect();
  return n.checkVisibility() && top >= 0 && bottom <= innerHeight && left >= 0 && right <= innerWidth
    && n.scrollWidth <= n.clientWidth && n.scrollHeight <= n.clientHeight + 1;
}).map((n) => n.innerText.replaceAll("\\n", " "))"""
CUT = """(map) => { // rows that are not seen whole, although no mark says that the list goes on
  const room = map.querySelector(".room"), box = room.getBoundingClientRect(), more = room.dataset.more;
  return [...map.querySelectorAll(".rows li, .cards li")].filter((n) => n.checkVisibility()).filter((n) => {
    const {top, bottom, left, right} = n.getBoundingClientRect();
    return left < box.left - 1 || right > box.right + 1 || (top < box.top - 1 && !more.includes("up"))
      || (bottom > box.bottom + 1 && !more.includes("down"));
  }).map((n) => n.innerText);
}"""
OVER = """(cards) => cards.filter((card) => { // whose name runs into its number, or breaks within a word
  const name = card.querySelector("b"), line = parseFloat(getComputedStyle(name).lineHeight);
  return name.scrollWidth > name.clientWidth || name.offsetHeight > 1.5 * line;
}).map((card) => card.innerText)"""
MARKED = "(room) => getComputedStyle(room, '::after').display !== 'none'"
MANY = """async (map) => { // eleven families with 250 pages between them
  const {default: draw} = await import("/lectern/js/map.js");
  const page = (f) => (_, i) => (
    {title: `Hidden chain is not Markov ${i}`, url: `p-${f}-${i}`, idea: "An idea.", lenses: ["latent"]});
  const families = [..."abcdefghijk"].map((letter, f) => (
    {name: `convolution ${letter}`, color: "#0072b2", about: "What it is, in a few words.",
     pages: Array.from({length: f ? 19 : 60}, page(f))}));
  const lectures = [{title: "Games", link: "p?lecture=games&at=1", minutes: 45, scenes: 17}];
  const data = {families, lectures, lenses: [["latent", "Latent space"]], key: "open"};
  draw({data, parentElement: map.parentElement});
}"""


def opened(tab: Any, name: str) -> list[str]:
    """Open a card; the titles under it, in their order."""
    if tab.locator(".lectern-map[data-open]").count():
        tab.locator(".lectern-map .back").evaluate("(button) => button.click()")
    tab.locator(f".lectern-map [data-name={name}] .card").click()
    return [text.split("\n")[1].strip() for text in tab.locator(".lectern-map .rows li a").all_inner_texts()]


@pytest.mark.browser
def test_every_family_is_seen_at_once_and_opens_to_its_pages(visit: Visit) -> None:
    tab = visit.open("?text=speak")
    families = {page.family: [p.title for p in ui.pages() if p.family == page.family] for page in ui.pages()}
    seen = tab.locator(".lectern-map .card").evaluate_all(SEEN)
    assert len(seen) == len(families) + 1  # and the lectures
    for text, (family, titles) in zip(seen, families.items(), strict=False):
        assert text.lower().startswith(f"{family} {len(titles)} "), text
    for width in (390, 1280):
        tab.set_viewport_size({"width": width, "height": 720})
        assert tab.locator(".lectern-map .card").evaluate_all(OVER) == []
    for family, titles in families.items():
        assert opened(tab, family) == titles  # in the order in which they are taught
        assert tab.locator(".lectern-map").evaluate(CUT) == []
    visit.settle()
    assert visit.parameters() == f"text=speak&open={[*families][-1]}"
    tab.evaluate("window.mark = 'here'")
    tab.locator(".lectern-map .rows a").first.click()  # the second click
    visit.arrive("diffusion-noising")
    visit.settle()
    tab.go_back()
    visit.arrive("?text=speak&open=diffusion")
    visit.settle()
    assert tab.locator(".lectern-map .rows li").count() == len(families["diffusion"])
    assert not tab.locator("[data-testid=stAlert]").count()  # the page knows what its link says
    assert tab.evaluate("window.mark") == "here"


@pytest.mark.browser
@pytest.mark.parametrize(
    "visit",
    [{"width": 1280, "height": 720}, {"width": 1920, "height": 1080}, {"width": 390, "height": 844}],
    indirect=True,
    ids=["1280", "1920", "390"],
)
def test_of_250_pages_none_is_cut_without_a_mark(visit: Visit) -> None:
    tab = visit.open()
    course = tab.locator(".lectern-map")
    course.evaluate(MANY)
    visit.settle()
    if tab.viewport_size["width"] > 640:
        assert len(tab.locator(".lectern-map .card").evaluate_all(SEEN)) == 12
    assert course.evaluate(CUT) == []
    for name in ("'convolution a'", "'convolution b'"):
        assert len(opened(tab, name)) in (60, 19)
        assert course.evaluate(CUT) == []
    tab.locator(".lectern-map .back").evaluate("(button) => button.click()")
    tab.locator(".lectern-map .lenses button").evaluate("(button) => button.click()")
    assert tab.locator(".lectern-map .rows li").count() == 250
    assert course.evaluate(CUT) == []
    room = tab.locator(".lectern-map .room")
    if tab.viewport_size["width"] > 640:  # a phone scrolls the page
        assert room.evaluate(MARKED)
        room.evaluate("(room) => { room.scrollTop = room.scrollHeight; }")
        tab.wait_for_timeout(100)
        assert not room.evaluate(MARKED) and course.evaluate(CUT) == []


@pytest.mark.browser
def test_a_tile_leads_on_and_the_course_follows_the_search(visit: Visit) -> None:
    tab = visit.open("?text=speak")
    tab.keyboard.press("/")
    tab.keyboard.type("holtzman")
    tab.wait_for_function("document.querySelectorAll('.lectern-map .cards li.lit').length > 0")
    lit = " ".join(tab.locator(".lectern-map .cards li.lit").all_inner_texts()).lower()
    assert "language" in lit and " of " in lit and "flow" not in lit
    tab.keyboard.press("Escape")
    tab.keyboard.press("Escape")
    tab.locator("[class*=st-key-tile-language-truncation] .plot").click()
    visit.arrive("language-truncation?prompt=speak")
    visit.settle()
    assert tab.get_by_role("textbox", name="Beginning").input_value() == "speak"
    tab.go_back()
    visit.settle()
    assert visit.parameters() == "text=speak"
