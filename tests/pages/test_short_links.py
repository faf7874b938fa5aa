"""Short links lead to pages of this dashboard and nowhere else; the code shows what others reach."""

import asyncio
import os
import re
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
from browsing import Visit
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.testclient import TestClient
from streamlit import config

from lab.ui.server import follow, short_links
from lab.ui.session import access

HOME = "http://lectern.test:8501"
LINK = "/language-truncation?p=0.9&text=To%20be%2C+or"


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LECTERN_RUNS", str(tmp_path))


@pytest.fixture
def client() -> TestClient:
    return TestClient(Starlette(routes=short_links.ROUTES), base_url=HOME, follow_redirects=False)


@pytest.fixture
def served_to_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(access.PROXY_ADDRESS, "0.0.0.0")
    monkeypatch.setattr(short_links, "network_address", lambda: "192.0.2.7")


@pytest.mark.parametrize(
    "link", [LINK, "/", "/?stage=1", "/models", "/train?x", "/language-decoding?view=Beam"]
)
def test_a_short_link_leads_to_its_page(client: TestClient, link: str) -> None:
    result = client.post("/lectern/short", content=link).json()
    assert re.fullmatch("[a-z2-7]{8}", result["id"])
    assert result["address"] == f"{HOME}/l/{result['id']}" and result["says"] == ""
    answer = client.get(f"/l/{result['id']}")
    assert answer.status_code == 302
    assert str(answer.next_request and answer.next_request.url) == HOME + link
    assert client.post("/lectern/short", content=link).json()["id"] == result["id"]
    assert len(list(short_links.folder().iterdir())) == 1


ELSEWHERE = [
    "//evil.test/", "///evil.test", "/\\evil.test", "\\\\evil.test", "https://evil.test/", "https:evil.test",
    "evil.test", "javascript:alert(1)", "/l/../../evil", "/..//evil.test", "/.//evil.test",
    "/%2f%2fevil.test", "/@evil.test", "/models@evil.test", "/models/../..//evil.test",
    "/models\r\nLocation: https://evil.test", "", "/models?a\r\nb", "/models ", " /models", "/models?a b",
    "/models#x", "/models?x#y", "/models?\\", "?p=1", "/no-such-page", "/_stcore/stream", "/lectern/short",
    "/l/abcdefgh", "/mödels", "/models?ö", "/models\n", "/models?x\n", "/models?" + "x" * short_links.LONGEST,
]  # fmt: skip


@pytest.mark.parametrize("link", ELSEWHERE)
def test_no_other_link_is_kept(client: TestClient, link: str) -> None:
    answer = client.post("/lectern/short", content=link.encode())
    assert answer.status_code in (400, 413), answer.text
    assert not short_links.folder().exists() or not list(short_links.folder().iterdir())


@pytest.mark.parametrize("link", ELSEWHERE)
def test_a_forged_file_leads_nowhere(client: TestClient, link: str) -> None:
    short_links.folder().mkdir()
    (short_links.folder() / "abcdefgh").write_bytes(link.encode())
    assert client.get("/l/abcdefgh").status_code == 404


@pytest.mark.parametrize(
    "name", ["abcdefgh", "..%2f..%2fx", "%2e%2e", "ABCDEFGH", "abcdefg", "abcdefgh%0a", "a" * 300]
)
def test_unknown_names_are_not_found(client: TestClient, name: str) -> None:
    (short_links.runs_folder() / "x").write_text("/models")
    for path in (f"/l/{name}", f"/lectern/qr/{name}.svg"):
        assert client.get(path).status_code == 404


def test_a_flood_is_refused_before_it_is_read(client: TestClient) -> None:
    sent = 0

    def flood() -> object:
        nonlocal sent
        for _ in range(10_000):
            sent += 1
            yield b"x" * 1024

    assert client.post("/lectern/short", content=flood()).status_code == 413


def test_another_site_keeps_no_links(client: TestClient) -> None:
    post = lambda origin: client.post("/lectern/short", content="/", headers={"Origin": origin})  # noqa: E731
    assert post("https://evil.test").status_code == post("null").status_code == 403
    assert post(HOME).status_code == 200


def test_the_oldest_links_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(short_links, "MOST", 3)
    names = []
    for n in range(5):
        names.append(short_links.save_link(f"/?n={n}"))
        os.utime(short_links.folder() / names[-1], (n, n))
        if n == 3:
            short_links.save_link("/?n=1")  # asked for again: it is young
    assert [short_links.find_link(name) for name in names] == [None, "/?n=1", None, "/?n=3", "/?n=4"]


def keep_many(n: int) -> list[str]:
    return [short_links.save_link(f"/?n={i}") for i in range(n)]


def test_processes_share_the_links() -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("fork")) as processes:
        first, second = processes.map(keep_many, [40, 40])
    assert first == second
    assert [short_links.find_link(name) for name in first] == [f"/?n={i}" for i in range(40)]


# --- Bounds -----------------------------------------------------------------------------------------


def test_a_bound_counts_readers_and_time() -> None:
    bound = short_links.RateLimit(2, 10.0)
    assert [bound.allows("one", now) for now in (0.0, 1.0, 2.0, 9.9)] == [True, True, False, False]
    assert bound.allows("two", 2.0)  # another reader has a count of his own
    assert bound.allows("one", 10.0) and not bound.allows("one", 10.5) and bound.allows("one", 11.0)
    for n in range(2 * bound.READERS):
        bound.allows(f"{n}", 11.0)
    assert len(bound.times) <= bound.READERS


def test_one_visitor_puts_out_no_link(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(short_links, "MOST", 30)
    monkeypatch.setattr(short_links, "LINKS", short_links.RateLimit(10, 600.0))
    name = client.post("/lectern/short", content=LINK).json()["id"]
    flood = [client.post("/lectern/short", content=f"/?n={n}").status_code for n in range(101)]
    assert flood == [200] * 9 + [429] * 92
    assert client.get(f"/l/{name}").status_code == 302
    assert client.post("/lectern/short", content=LINK).json()["id"] == name  # what is kept costs nothing
    monkeypatch.setattr(short_links, "client_address", lambda request: "another")
    assert client.post("/lectern/short", content="/?another").status_code == 200


@pytest.mark.parametrize(
    ("client_", "header", "known"),
    [("192.0.2.7", "", "192.0.2.7"), ("192.0.2.7", "10.0.0.1", "192.0.2.7"), ("127.0.0.1", "", "127.0.0.1"),
     ("127.0.0.1", "forged, 10.0.0.1", "10.0.0.1"), ("::1", "10.0.0.1", "10.0.0.1")],
)  # fmt: skip
def test_a_reader_is_known_by_the_address_that_asks(client_: str, header: str, known: str) -> None:
    """Through a proxy on this machine by the one that the proxy has seen, which it adds last."""
    headers = [(b"x-forwarded-for", header.encode())] if header else []
    assert (
        short_links.client_address(Request({"type": "http", "client": (client_, 1), "headers": headers}))
        == known
    )


def test_folders_are_looked_through_once_in_many_links(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []
    scan = os.scandir
    monkeypatch.setattr(short_links, "MOST", 100)
    monkeypatch.setattr(short_links.os, "scandir", lambda at: looked.append(at) or scan(at))
    for n in range(300):
        short_links.save_link(f"/?n={n}")
        assert len(os.listdir(short_links.folder())) <= short_links.MOST
    assert looked.count(short_links.folder()) <= 300 // (short_links.MOST // 10) + 1


def test_no_file_is_touched_on_the_event_loop(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link and a lecture, kept, led to, drawn and listened to: each look at a folder has a thread."""
    app = Starlette(routes=[*short_links.ROUTES, *follow.ROUTES])

    def apart() -> Path:
        with pytest.raises(RuntimeError):
            asyncio.get_running_loop()
        places.append(runs_folder())
        return places[-1]

    places: list[Path] = []
    runs_folder = short_links.runs_folder
    for module in (short_links, follow):
        monkeypatch.setattr(module, "runs_folder", apart)
    asks = TestClient(app, base_url=HOME, follow_redirects=False)
    name = asks.post("/lectern/short", content=LINK).json()["id"]
    lecture = asks.post("/lectern/follow", json={"secret": "s" * 32, "link": LINK}).json()["id"]
    paths = (f"l/{name}", f"lectern/qr/{name}.svg", f"f/{lecture}", f"lectern/follow/{lecture}")
    for path in (*paths, f"lectern/follow/{lecture}.svg"):
        before = len(places)
        assert asks.get(f"/{path}").status_code in (200, 302) and len(places) > before


# --- The address ------------------------------------------------------------------------------------


def address(client: TestClient, **headers: str) -> str | None:
    result = client.post("/lectern/short", content="/", headers=headers).json()
    assert result["says"] == ("" if result["address"] else short_links.ALONE)
    text: str | None = result["address"]
    return text and text.removesuffix(f"/l/{result['id']}")


@pytest.mark.parametrize("host", ["localhost:8501", "127.0.0.1:8501", "[::1]:8501", "localhost"])
def test_on_this_machine_alone_there_is_no_address(
    client: TestClient, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(access.PROXY_ADDRESS, raising=False)
    before = config.get_option("server.address")
    config.set_option("server.address", "localhost")
    try:
        result = client.post("/lectern/short", content="/", headers={"Host": host}).json()
        assert result["address"] is None and "lab app --server.address 0.0.0.0" in result["says"]
        assert client.get(f"/lectern/qr/{result['id']}.svg", headers={"Host": host}).status_code == 404
    finally:
        config.set_option("server.address", before)


@pytest.mark.usefixtures("served_to_all")
def test_the_address_is_what_other_machines_reach(client: TestClient) -> None:
    assert address(client, Host="localhost:8501") == "http://192.0.2.7:8501"
    assert address(client, Host="[::1]") == "http://192.0.2.7"
    assert address(client, Host="lab.example:80") == "http://lab.example:80"
    forwarded = {"Host": "127.0.0.1:9001", "X-Forwarded-Host": "hall.example", "X-Forwarded-Proto": "https"}
    assert address(client, **forwarded) == "https://hall.example"
    assert address(client, **{"X-Forwarded-Host": "hall.example/@evil.test"}) is None
    assert address(client, **{"X-Forwarded-Proto": "javascript"}) == HOME


@pytest.mark.usefixtures("served_to_all")
def test_without_a_network_there_is_no_address(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(short_links, "network_address", lambda: None)
    assert address(client, Host="localhost:8501") is None


def test_the_code_is_a_picture_of_the_address(client: TestClient) -> None:
    import segno

    name = short_links.save_link(LINK)
    answer = client.get(f"/lectern/qr/{name}.svg")
    assert answer.headers["content-type"] == "image/svg+xml" and "<script" not in answer.text
    line = re.search(r'class="qrline"[^>]* d="([^"]+)"', answer.text)
    wanted = segno.make(f"{HOME}/l/{name}", error="m", micro=False).svg_inline(
        scale=8, border=4, dark="#000", light="#fff"
    )
    assert line and f'd="{line[1]}"' in wanted


@pytest.mark.heavy
@pytest.mark.browser
def test_key_q_shows_a_code_or_says_why_not(visit: Visit) -> None:
    tab = visit.open("language-truncation?k=3")
    tab.keyboard.press("q")
    sheet = tab.locator(".lectern-overlay .code")
    sheet.wait_for()
    assert short_links.ALONE in sheet.inner_text() and not sheet.locator("img").count()
    tab.keyboard.press("q")
    sheet.wait_for(state="detached")
