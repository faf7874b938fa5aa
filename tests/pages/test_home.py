"""Home: six films, each a way into a page that shows the same; its strip says of a word or a digit what the
models say, and its tiles lead on with the same input."""

import csv
import io
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import numpy as np
import pytest
import torch
from browsing import Visit
from numpy.lib.stride_tricks import sliding_window_view
from opening import component, figure, film, finish, open_page, open_warned, plain, warnings
from streamlit.testing.v1 import AppTest

from lab import ui
from lab.lenses import generators, strip
from lab.lenses import text as texts
from lab.lenses.generators import MOMENTS, POSTER
from lab.ui.browser import wire

# --- Six generators ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wall() -> dict[str, tuple[dict[str, Any], dict[str, np.ndarray]]]:
    """What Home sends of each generator: its part of the header, and its arrays."""
    header, arrays = component(open_page("home", scene=1), "wall")
    return {
        name: (tile, {key.partition(".")[2]: v for key, v in arrays.items() if key.startswith(f"{i}.")})
        for i, (name, tile) in enumerate(zip(generators.SIX, header["tiles"], strict=True))
    }


def led(tile: dict[str, Any], moment: int) -> AppTest:
    """The page to which a generator leads at a moment; it complains of nothing."""
    page, query = tile["links"][moment].split("?")
    family, topic = page.split("-", 1)
    return finish(open_page(f"{family}/{topic.replace('-', '_')}", **dict(parse_qsl(query))))


def sent(page: AppTest, at: int) -> Iterator[np.ndarray]:
    """All that figures of a page have of this frame, and what stands still in them."""
    for element in page.get("bidi_component"):
        if not element.proto.bytes:
            continue
        header, arrays = wire.unpack(element.proto.bytes)
        yield from (values[at] for values in arrays.values() if len(values) > at)
        for trace in header.get("figure", {}).get("data", []):
            if "z" in trace:
                z = trace["z"]
                shape = [int(n) for n in z["shape"].split(",")] if isinstance(z, dict) else None
                yield np.array(plain(z), float).reshape(shape) if shape else np.array(z, float)


def holds(sheet: np.ndarray, picture: np.ndarray) -> bool:
    """Whether bytes (S, S) are seen somewhere on a sheet, in bytes or from 0 to 1, up to a grey of 255."""
    side = len(picture)
    if sheet.ndim != 2 or min(sheet.shape) < side:
        return False
    scale = 255 if sheet.dtype != np.uint8 and np.nanmax(sheet) <= 1.01 else 1
    windows = sliding_window_view(sheet * float(scale), (side, side))
    darkest = np.unravel_index(picture.argmax(), picture.shape)
    likely = np.argwhere(abs(windows[:, :, *darkest] - picture.max()) < 2)
    return any(abs(windows[i, j] - picture).max() < 2 for i, j in likely)


def test_six_generators_are_sent_at_once_and_small(
    wall: dict[str, tuple[dict[str, Any], dict[str, np.ndarray]]],
) -> None:
    page = open_page("home", scene=1)
    bar = film(page, "moment")
    assert bar["plays"] and (bar["count"], bar["at"]) == (MOMENTS, POSTER)
    assert len(wall) == 6
    for name, (tile, arrays) in wall.items():
        assert len(tile["links"]) == MOMENTS and len(tile["alt"]) > 10
        states = [len(values) for key, values in arrays.items() if key not in ("sheet", "maps")]
        assert len(set(states)) <= 1, name
    assert sum(len(element.proto.bytes) for element in page.get("bidi_component")) < 1_500_000
    left = film(open_page("home", ask="films", moment=30), "moment")  # where a reader has stopped it
    assert left["at"] == 30 and not left["plays"]


@pytest.mark.parametrize("name", ["diffusion", "gan", "vae"])
def test_a_digit_is_the_one_on_its_page(
    name: str, wall: dict[str, tuple[dict[str, Any], dict[str, np.ndarray]]]
) -> None:
    tile, arrays = wall[name]
    pictures = arrays["pictures"]
    assert pictures.dtype == np.uint8 and pictures.shape[1:] == (28, 28)
    for moment in (POSTER, MOMENTS - 1):
        shown = pictures[generators.state(moment, len(pictures))]
        text = dict(parse_qsl(urlsplit(tile["links"][moment]).query))
        page, other = led(tile, moment), pictures[generators.state(moment - 45, len(pictures))]
        result = list(sent(page, int(text.get("step", 0))))
        assert any(holds(sheet, shown) for sheet in result)
        if name != "gan":  # its page has the whole walk on one sheet
            assert not any(holds(sheet, other) for sheet in result)


def test_the_plane_is_bent_as_on_its_page(
    wall: dict[str, tuple[dict[str, Any], dict[str, np.ndarray]]],
) -> None:
    tile, arrays = wall["flow"]
    layers = len(arrays["dots"])
    for moment in (0, POSTER, MOMENTS - 1):
        layer = moment * (layers - 1) / (MOMENTS - 1)
        assert layer.is_integer()  # nothing lies between two layers then
        page = led(tile, moment)
        assert film(page, "layer")["at"] == layer
        drawn = arrays["dots"][int(layer)] / generators.SHORTS
        result = list(sent(page, int(layer)))
        for axis in (0, 1):
            assert any(
                v.shape == drawn[:, axis].shape and abs(v - drawn[:, axis]).max() < 1e-3 for v in result
            )


def test_the_text_is_the_one_on_its_page(
    wall: dict[str, tuple[dict[str, Any], dict[str, np.ndarray]]],
) -> None:
    tile, _ = wall["text"]
    coder = texts.tokenizer(ui.card("gpt-shakespeare"))
    for moment in (1, POSTER, MOMENTS - 1):
        page = led(tile, moment)
        _, ids = page.session_state["_program"]
        assert coder.decode(ids.tolist()) == "".join(tile["pieces"])
        assert film(page)["at"] == moment - 1  # the token that was written last
    assert "".join(tile["pieces"][: tile["given"]]) == generators.PROMPT


def test_the_heads_look_as_on_their_page(
    wall: dict[str, tuple[dict[str, Any], dict[str, np.ndarray]]],
) -> None:
    tile, arrays = wall["attention"]
    maps = arrays["maps"] / 255
    column, row = (int(v) - 1 for v in generators.HEAD.split(","))
    for moment in (POSTER, MOMENTS - 1):
        query = generators.state(moment, maps.shape[-1])
        _, weights = led(tile, moment).session_state["_program"]
        assert abs(maps[row, column, query] - weights.sqrt().numpy()).max() < 1 / 255
    assert (maps**2).sum(-1) == pytest.approx(1, abs=0.05)


def test_old_scenes_by_number_show_what_they_showed() -> None:
    """Scene 1 is the six; 0 is the page with every control where it stands at first."""
    for number, shows in {0: "The man", 2: "ROMEO", 3: "qzxj kvwq", 6: "The man"}.items():
        page = open_page("home", scene=number)
        assert page.session_state["text"] == shows and "Surprise" in tiles(page)
    for number in (4, 5):
        assert "Gradient" in tiles(open_page("home", scene=number))


# --- A word, a digit --------------------------------------------------------------------------------


def tiles(page: Any) -> dict[str, str]:
    """Title of each tile -> its link."""
    results = [re.search(r'href="([^"]*)"><b>(.*?)</b>', h.proto.body) for h in page.get("html")]
    return {m[2]: m[1].replace("&amp;", "&") for m in results if m}


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
    text = "".join(h.proto.body for h in open_page("home", text="qzx").get("html"))
    assert "no word of yours has a vector" in text


def test_the_text_goes_on_with_the_likeliest_letter_each_time() -> None:
    model = ui.load("gpt-shakespeare")
    ids = torch.tensor(texts.tokenizer(ui.card("gpt-shakespeare")).encode("ROMEO"))
    result = strip.word(model, ids)
    whole = torch.cat([ids, result.ahead])
    p = model(whole[None])[0].softmax(-1)[len(ids) - 1 : -1]  # one pass over all: causal, so the same numbers
    assert p.argmax(-1).tolist() == result.ahead.tolist()
    assert torch.allclose(p.max(-1).values, result.sure, atol=1e-4)
    assert result.heads.sum(-1) == pytest.approx(1.0, abs=1e-4)


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
    result = strip.digit(ui.load("cnn-mnist"), ui.load("vae2d-mnist"), others[7], others, count=3)
    distances = (others - others[7]).flatten(1).norm(dim=1)
    assert result.near.tolist() == distances.argsort()[:3].tolist() and result.near[0] == 7
    nudged = others[7].clone()
    i, j = divmod(int(result.field.argmax()), 28)
    nudged[i, j] += 0.01
    best = int(result.p.argmax())
    logits = [float(ui.load("cnn-mnist").predict(x[None, None])[0, best]) for x in (others[7], nudged)]
    assert abs(logits[1] - logits[0]) / 0.01 == pytest.approx(float(result.field.max()), rel=0.2)


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
    result = tab.locator(".lectern-map .card").evaluate_all(SEEN)
    assert len(result) == len(families) + 1  # and the lectures
    for text, (family, titles) in zip(result, families.items(), strict=False):
        assert f"{text.lower()} ".startswith(f"{family} {len(titles)} "), text  # many families have no words
    for width in (390, 1280):
        tab.set_viewport_size({"width": width, "height": 720})
        assert tab.locator(".lectern-map .card").evaluate_all(OVER) == []
    for family, titles in families.items():
        assert opened(tab, family) == titles  # in the order in which they are taught
        assert tab.locator(".lectern-map").evaluate(CUT) == []
    first = next(page for page in ui.pages() if page.family == [*families][-1])
    tab.locator(".lectern-map .rows a").first.focus()
    sentence = [tab.locator(f".lectern-map .{part}").inner_text() for part in ("number", "idea")]
    assert sentence == [f"{first.room.minutes} minutes", first.idea]
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
    tab = visit.open("?scene=0")
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


# --- The films, in the browser ----------------------------------------------------------------------

TURNED = """async (moments) => { // every frame is drawn, and another one than before
  const clock = window.lecternFilm, tiles = [...document.querySelectorAll(".lectern-wall .tile")];
  const look = (tile) => tile.querySelector("canvas")?.toDataURL() ?? tile.textContent;
  const kinds = tiles.map(() => new Set());
  for (let at = 0; at < moments; at++) {
    await clock.go(at);
    tiles.forEach((tile, i) => kinds[i].add(look(tile)));
  }
  return kinds.map((kind) => kind.size);
}"""


@pytest.mark.browser
def test_the_films_play_by_themselves_and_rest_where_they_are_stopped(visit: Visit) -> None:
    tab = visit.open()
    at = "+document.querySelector('.lectern-wall .tile').dataset.at"
    assert tab.evaluate("lecternFilm.playing !== false && lecternFilm.round")
    first = tab.evaluate(at)
    tab.wait_for_function(f"(first) => {at} !== first", arg=first)
    tab.keyboard.press("Space")
    visit.settle()
    tab.wait_for_url(re.compile("moment="))  # the link says where
    rest = tab.evaluate(at)
    assert f"moment={rest}" in visit.parameters() and not tab.evaluate("lecternFilm.playing")
    link = tab.locator(".lectern-wall .tile").nth(3).get_attribute("href")
    tab.locator(".lectern-wall .tile").nth(3).click()
    visit.arrive(link.removeprefix(f"{visit.dashboard}/"))
    visit.settle()
    tab.go_back()
    visit.arrive(f"?moment={rest}")
    visit.settle()
    assert tab.evaluate(at) == rest and not tab.evaluate("lecternFilm.playing")
    tab.evaluate("lecternFilm.step(Infinity)")
    tab.keyboard.press("Space")
    tab.wait_for_function(f"{at} > 2 && {at} < 100")  # from the start
    tab.locator(".lectern-wall .tile").first.click()  # while it plays
    visit.arrive("diffusion-denoise-digit?model=ddpm-mnist")
    visit.settle()


@pytest.mark.browser
def test_who_wants_less_motion_finds_the_films_at_rest_and_turns_them(visit: Visit) -> None:
    visit.tab.emulate_media(reduced_motion="reduce")
    tab = visit.open()
    tab.wait_for_timeout(600)
    assert tab.locator(f".lectern-wall .tile[data-at='{POSTER}']").count() == 6
    assert not tab.evaluate("lecternFilm.playing") and visit.parameters() == "ask=films"
    seen = dict(zip(generators.SIX, tab.evaluate(TURNED, MOMENTS), strict=True))
    assert seen["diffusion"] == generators.STEPS + 1 and seen["attention"] == len(generators.TEXT)
    assert seen["text"] == seen["flow"] == MOMENTS
    assert min(seen["vae"], seen["gan"]) > 0.9 * MOMENTS  # both walks end where they began


@pytest.mark.browser
@pytest.mark.parametrize(
    "visit", [{"width": 1280, "height": 720}, {"width": 1920, "height": 1080}], indirect=True,
    ids=["1280", "1920"],
)  # fmt: skip
def test_six_films_stand_in_two_rows_and_take_the_screen(visit: Visit) -> None:
    tab = visit.open()
    tab.wait_for_selector(".lectern-wall .tile")
    boxes = [tile.bounding_box() for tile in tab.locator(".lectern-wall .tile").all()]
    assert [len({round(box[side]) for box in boxes}) for side in "xy"] == [3, 2]
    size = tab.viewport_size
    assert all(box["y"] + box["height"] < size["height"] for box in boxes)
    assert sum(box["width"] * box["height"] for box in boxes) > 0.5 * size["width"] * size["height"]
