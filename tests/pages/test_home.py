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


@pytest.mark.browser
def test_a_tile_leads_on_and_the_map_follows_the_search(visit: Visit) -> None:
    tab = visit.open("?text=speak")
    stations = tab.locator(".lectern-map .stations a")
    assert sorted(stations.all_inner_texts()) == sorted(page.title for page in ui.pages())
    tab.keyboard.press("/")
    tab.keyboard.type("holtzman")
    tab.wait_for_function("document.querySelectorAll('.lectern-map .stations li.lit').length > 0")
    lit = tab.locator(".lectern-map .stations li.lit").all_inner_texts()
    assert "Truncation" in lit and "Masks" not in lit
    tab.keyboard.press("Escape")
    tab.keyboard.press("Escape")
    tab.evaluate("window.mark = 'here'")
    tab.locator("[class*=st-key-tile-language-truncation] .plot").click()
    tab.wait_for_url("**/language-truncation?prompt=speak")
    visit.settle()
    assert tab.get_by_role("textbox", name="Beginning").input_value() == "speak"
    assert tab.evaluate("window.mark") == "here"
    tab.go_back()
    tab.wait_for_url("**/?text=speak")
    visit.settle()
    stations.filter(has_text="Masks").first.click()
    tab.wait_for_url("**/autoregressive-masks")
