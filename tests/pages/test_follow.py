"""Students follow a lecturer: who has the secret turns the scenes, who has the link goes with them."""

import json
import re
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from browsing import Visit
from opening import run_page
from starlette.applications import Starlette
from starlette.testclient import TestClient

from lab.ui.server import follow, short_links

HOME = "http://lectern.test:8501"
SECRET, OTHER = "s" * 32, "t" * 32
LINK = "/language-truncation?lecture=language&at=3"


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    monkeypatch.setenv("LECTERN_RUNS", str(tmp_path))
    monkeypatch.setattr(
        follow, "LECTURES", short_links.RateLimit(follow.LECTURES.most, follow.LECTURES.seconds)
    )
    return TestClient(Starlette(routes=follow.ROUTES), base_url=HOME, follow_redirects=False)


def turn(client: TestClient, secret: str, link: str) -> str:
    answer = client.post("/lectern/follow", json={"secret": secret, "link": link})
    assert answer.status_code == 200, answer.text
    result = answer.json()
    assert result["address"] == f"{HOME}/f/{result['id']}" and result["says"] == ""
    text: str = result["id"]
    return text


def test_students_are_led_to_where_the_lecture_is(client: TestClient) -> None:
    name = turn(client, SECRET, LINK)
    joined = client.get(f"/f/{name}")
    assert joined.status_code == 302 and joined.headers["location"] == f"..{LINK}&follow={name}"
    first = client.get(f"/lectern/follow/{name}")
    assert first.json() == {"link": LINK}
    assert turn(client, SECRET, "/models") == name
    assert client.get(f"/f/{name}").headers["location"] == f"../models?follow={name}"
    assert client.get(f"/lectern/follow/{name}").json() == {"link": "/models"}


def test_who_knows_the_scene_gets_nothing_until_the_next_turn(client: TestClient) -> None:
    name = turn(client, SECRET, LINK)
    ask = lambda word: client.get(f"/lectern/follow/{name}", headers={"If-None-Match": word})  # noqa: E731
    word = client.get(f"/lectern/follow/{name}").headers["etag"]
    for spelled in (word, f"W/{word}"):  # a proxy that packs an answer marks its word as weak
        assert ask(spelled).status_code == 304 and not ask(spelled).content
    turn(client, SECRET, LINK)  # the same scene once more is a turn, too
    assert ask(word).status_code == 200


def test_nobody_turns_who_knows_what_students_know(client: TestClient) -> None:
    name = turn(client, SECRET, LINK)
    for guess in (name, name * 2, f"{name}{name}"[:32], SECRET.upper(), SECRET + "s"):
        answer = client.post("/lectern/follow", json={"secret": guess, "link": "/train"})
        assert answer.status_code == 400 or answer.json()["id"] != name
    for method in ("PUT", "POST", "DELETE", "PATCH"):
        assert client.request(method, f"/lectern/follow/{name}", content="/train").status_code == 405
    assert client.get(f"/lectern/follow/{name}").json() == {"link": LINK}
    assert SECRET not in "".join(path.read_text() for path in follow.folder().iterdir())


def test_lectures_know_nothing_of_each_other(client: TestClient) -> None:
    one, two = turn(client, SECRET, LINK), turn(client, OTHER, "/models")
    assert one != two
    turn(client, OTHER, "/train")
    assert client.get(f"/lectern/follow/{one}").json() == {"link": LINK}
    assert client.get(f"/lectern/follow/{two}").json() == {"link": "/train"}


@pytest.mark.parametrize(
    "body",
    ["", "{}", "[]", "3", '"x"', "{", "[" * 5000, json.dumps({"secret": SECRET}), json.dumps({"link": LINK}),
     json.dumps({"secret": "short", "link": LINK}), json.dumps({"secret": SECRET + "\n", "link": LINK}),
     json.dumps({"secret": "../" * 12, "link": LINK}), json.dumps({"secret": SECRET, "link": None}),
     json.dumps({"secret": SECRET, "link": "//evil.test/"}), json.dumps({"secret": SECRET, "link": "/x"}),
     json.dumps({"secret": SECRET, "link": "/models?" + "x" * 9000}), '{"secret": "ö"}'],
)  # fmt: skip
def test_no_other_turn_is_taken(client: TestClient, body: str) -> None:
    assert client.post("/lectern/follow", content=body.encode()).status_code in (400, 413)
    assert not follow.folder().exists()


def test_another_site_turns_nothing(client: TestClient) -> None:
    body = json.dumps({"secret": SECRET, "link": LINK})
    post = lambda origin: client.post("/lectern/follow", content=body, headers={"Origin": origin})  # noqa: E731
    assert post("https://evil.test").status_code == post("null").status_code == 403
    assert post(HOME).status_code == 200


@pytest.mark.parametrize(
    "name", ["a" * 16, "A" * 16, "a" * 15, "..%2fx", "%2e%2e", "a" * 16 + "%0a", "a" * 300]
)
def test_a_lecture_that_is_not_there(client: TestClient, name: str) -> None:
    turn(client, SECRET, LINK)
    (follow.runs_folder() / "x").write_text("/models")
    for path in (f"/f/{name}", f"/lectern/follow/{name}", f"/lectern/follow/{name}.svg"):
        assert client.get(path).status_code == 404


@pytest.mark.parametrize("link", ["//evil.test/", "https://evil.test", "/models\r\nLocation: x", "", "/l/x"])
def test_a_forged_file_leads_nowhere(client: TestClient, link: str) -> None:
    name = turn(client, SECRET, LINK)
    (follow.folder() / name).write_bytes(link.encode())
    assert client.get(f"/f/{name}").status_code == client.get(f"/lectern/follow/{name}").status_code == 404


def test_a_lecture_that_was_let_go_of_comes_back_with_its_next_scene(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "MOST", 2)
    first = turn(client, SECRET, LINK)
    for n in range(3):
        turn(client, f"{n}" * 32, "/models")
    assert client.get(f"/f/{first}").status_code == 404 and len(list(follow.folder().iterdir())) == 2
    assert turn(client, SECRET, "/train") == first
    assert client.get(f"/lectern/follow/{first}").json() == {"link": "/train"}


def test_a_flood_of_lectures_of_one_visitor_puts_none_out(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "MOST", 70)  # more than one network may begin in an hour
    first = turn(client, SECRET, LINK)
    flood = [
        client.post("/lectern/follow", json={"secret": f"{n:032}", "link": "/models"}).status_code
        for n in range(80)
    ]
    assert set(flood) == {200, 429} and flood[-1] == 429
    assert client.get(f"/lectern/follow/{first}").json() == {"link": LINK}
    assert turn(client, SECRET, "/train") == first  # one that is on goes on


def turn_many(secret: str) -> str:
    return [follow.turn(secret, f"/models?n={n}") for n in range(50)][-1]


def test_what_one_process_is_told_the_others_know(client: TestClient) -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("fork")) as processes:
        names = list(processes.map(turn_many, [SECRET, SECRET, OTHER]))
    assert names[0] == names[1] == follow.name_of(SECRET) != names[2]
    for name in names:
        assert client.get(f"/lectern/follow/{name}").json() == {"link": "/models?n=49"}
    assert len(list(follow.folder().iterdir())) == 2  # and no parts of files


def test_the_code_shows_the_students_link(client: TestClient) -> None:
    import segno

    name = turn(client, SECRET, LINK)
    svg = client.get(f"/lectern/follow/{name}.svg").text
    drawn = segno.make(f"{HOME}/f/{name}", error="m", micro=False).svg_inline(scale=8, border=4, dark="#000")
    line = re.search(r'class="qrline"[^>]* d="([^"]+)"', svg)
    assert line and line[1] in drawn


def test_a_page_that_follows_says_nothing_of_it_in_its_controls() -> None:
    page = run_page("language/truncation", lecture="language", at=1, follow="a" * 16)
    assert page.query_params["follow"] == "a" * 16
    assert not [w.value for w in page.warning if "follow" in w.value]


# --- In the browser ---------------------------------------------------------------------------------

SCENE = ".lectern-stage button[aria-pressed=true]"


def speaking(visit: Visit, path: str) -> tuple[Any, Any]:
    """A tab at this page, and its speaker's window."""
    tab = visit.open(path, visit.context.new_page())
    with visit.context.expect_page() as opened:
        tab.keyboard.press("s")
    opened.value.wait_for_selector("#address[href]")
    return tab, opened.value


def stands_at(tab: Any, number: int) -> None:
    """Wait until the scene of this number is marked."""
    tab.wait_for_function(f"document.querySelector('{SCENE}')?.innerText[0] === '{number}'")


@pytest.mark.browser
def test_a_student_is_led_lets_go_and_comes_back(visit: Visit, browser: Any, dashboard: str) -> None:
    stage, speaker = speaking(visit, "language-truncation?scene=0")
    student = Visit(browser, dashboard)  # another browser: they share nothing but the server
    tab = student.open(speaker.locator("#address").get_attribute("href"))
    mark = tab.locator(".lectern-follow")
    assert mark.inner_text() == "Following the lecture · let go"
    stage.keyboard.press("5")
    stage.wait_for_url(re.compile("m=0.1"))
    tab.wait_for_url(re.compile("m=0.1"))
    mark.click()
    assert mark.inner_text() == "Come back to the lecture"
    stage.keyboard.press("3")
    stage.wait_for_url(re.compile("t=0.3"))
    tab.keyboard.press("6")  # the student tries something else
    tab.wait_for_url(re.compile("k=3"))
    tab.wait_for_timeout(4000)  # twice as long as between two questions
    assert "k=3" in tab.url
    mark.click()
    tab.wait_for_url(re.compile("t=0.3"))
    student.settle()
    speaker.locator("#forward").click()
    stands_at(stage, 4)
    stands_at(tab, 4)
    student.context.close()
    assert not student.complaints and not student.strangers


@pytest.mark.browser
def test_two_tabs_with_a_speakers_window_each_do_not_disturb_each_other(visit: Visit) -> None:
    """In one browser, with one lecture each, on the same pages."""
    one, its = speaking(visit, "language-truncation?scene=0")
    other, others = speaking(visit, "language-truncation?scene=0")
    assert its.locator("#address").get_attribute("href") != others.locator("#address").get_attribute("href")
    for window in (its, others):
        assert window.locator("#scene").inner_text() == "Nucleus 0.9"
    its.locator("#forward").click()
    stands_at(one, 3)
    its.wait_for_function("document.getElementById('place').innerText.startsWith('3 of')")
    visit.settle(other)
    assert other.locator(SCENE).inner_text() == "2 Nucleus 0.9"
    assert others.locator("#scene").inner_text() == "Nucleus 0.9"
    others.locator("#previous").click()
    stands_at(other, 1)
    visit.settle(one)
    assert one.locator(SCENE).inner_text()[0] == "3" and its.locator("#place").inner_text()[0] == "3"


@pytest.mark.heavy
@pytest.mark.browser
def test_a_lecture_leads_from_page_to_page_and_a_reload_keeps_the_right_to_speak(
    visit: Visit, browser: Any, dashboard: str
) -> None:
    from lab import lecture

    entries = lecture.read("language").entries
    at = next(i for i, (a, b) in enumerate(pairwise(entries), 1) if a.page != b.page)
    stage, speaker = speaking(visit, f"{entries[at - 1].page}?lecture=language&at={at}")
    student = Visit(browser, dashboard, width=390, height=844)
    tab = student.open(link := speaker.locator("#address").get_attribute("href"))
    stage.keyboard.press("PageDown")
    tab.wait_for_url(re.compile(f"/{entries[at].page}[?].*at={at + 1}"))
    stage.reload()
    stage.wait_for_selector("h1")
    visit.settle(stage)
    speaker.locator("#previous").click()  # still its window
    stage.wait_for_url(re.compile(f"at={at}(&|$)"))
    tab.wait_for_url(re.compile(f"/{entries[at - 1].page}[?].*at={at}(&|$)"))
    student.settle()
    assert speaker.locator("#address").get_attribute("href") == link
    student.context.close()
    assert not student.complaints and not student.strangers


@pytest.mark.heavy
@pytest.mark.browser
def test_key_q_shows_the_students_link_beside_the_page(visit: Visit) -> None:
    stage, _ = speaking(visit, "language-truncation?scene=0")
    stage.keyboard.press("q")
    stage.locator(".lectern-overlay .code").nth(1).wait_for()
    assert stage.locator(".lectern-overlay h2").all_inner_texts() == ["This page", "Follow the lecture"]
    assert stage.locator(".lectern-overlay .code p").all_inner_texts() == [short_links.ALONE] * 2
