"""By which names readers come: a stranger's page that lets its own name lead here (DNS rebinding) gets
nothing, whatever it asks for; and the path below which all of it may be served."""

import re
import socket
from collections.abc import Callable, Iterator

import pytest
from opening import run_page
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect
from streamlit import config

from lab import commands
from lab.errors import UserError
from lab.proxy import NAMES, PROXY_ADDRESS, base_path
from lab.ui.server import asgi, routes
from lab.ui.session import access

LOOPBACK = [
    "localhost",
    "localhost:8501",
    "LOCALHOST:1",
    "localhost.",
    "127.0.0.1:8501",
    "127.8.9.10",
    "[::1]:8501",
]
STRANGE = [
    "evil.test", "evil.test:8501", "localhost.evil.test", "127.0.0.1.evil.test", "evil.localhost",
    "0.0.0.0:8501", "192.0.2.7:8501", "[2001:db8::7]:8501", "evil.test, localhost", "localhost@evil.test", "",
    ":8501", "[::1", "localhost:99999999", "loc\u0430lhost",
]  # fmt: skip


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Sets where the dashboard listens, what it was told, and its path."""
    before = {name: config.get_option(name) for name in ("server.address", "server.baseUrlPath")}
    monkeypatch.delenv(PROXY_ADDRESS, raising=False)
    monkeypatch.delenv(NAMES, raising=False)

    def serve(address: str = "localhost", *names: str, base: str = "") -> None:
        config.set_option("server.address", address)
        config.set_option("server.baseUrlPath", base)
        monkeypatch.setenv(NAMES, ",".join(names))

    serve()
    yield serve
    for name, value in before.items():
        config.set_option(name, value)


async def answer_heard(request: object) -> Response:
    return PlainTextResponse("heard")


async def stream(socket: WebSocket) -> None:
    await socket.accept()
    await socket.send_text("heard")
    await socket.close()


def client() -> TestClient:
    """All of our own routes, and what stands for Streamlit's, behind the middleware that serves them."""
    rest = [
        WebSocketRoute("/_stcore/stream", stream),
        Route("/{path:path}", answer_heard, methods=["GET", "POST", "PUT"]),
    ]
    app = Starlette(routes=[*routes.ROUTES, *rest], middleware=[Middleware(access.OwnNames)])
    return TestClient(app, base_url="http://localhost:8501", follow_redirects=False)


def heard(client: TestClient, headers: dict[str, str]) -> bool:
    try:
        with client.websocket_connect("/_stcore/stream", headers=headers) as socket:
            return bool(socket.receive_text() == "heard")
    except WebSocketDisconnect as refused:
        assert refused.code == 1008
        return False


OWN = [
    ("GET", "/"), ("GET", "/train"), ("GET", "/static/x.js"), ("PUT", "/_stcore/upload_file/s/1"),
    *((method, route.path.replace("{name}", "a" * 16)) for route in routes.ROUTES
      for method in (getattr(route, "methods", None) or {"GET"}) - {"HEAD"}),
]  # fmt: skip


@pytest.mark.parametrize("host", STRANGE)
def test_a_name_that_is_not_ours_gets_nothing(
    host: str, served: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    asks = client()
    headers = [(b"host", host.encode()), (b"origin", f"http://{host}".encode())]
    for method, path in OWN:
        answer = asks.request(method, path, headers=headers, content=b"")
        assert answer.status_code == 403 and "heard" not in answer.text, (method, path)
    if host.isascii():
        assert not heard(asks, {"host": host, "origin": f"http://{host}"})
        assert not heard(asks, {"host": host})  # no browser says no origin, but nothing is lost


@pytest.mark.parametrize("host", LOOPBACK)
def test_this_machine_is_answered(host: str, served: Callable[..., None]) -> None:
    asks = client()
    assert asks.get("/", headers={"host": host}).text == "heard"
    assert asks.get("/lectern/search.json", headers={"host": host}).status_code == 200
    assert heard(asks, {"host": host, "origin": f"http://{host}"}) and heard(asks, {"host": host})


@pytest.mark.parametrize(
    "origin", ["http://evil.test", "null", "http://localhost:3000", "http://127.0.0.1:8501"]
)
def test_no_other_site_opens_a_session(origin: str, served: Callable[..., None]) -> None:
    """Nor another server on this machine: its pages are not ours."""
    assert not heard(client(), {"host": "localhost:8501", "origin": origin})


def test_beyond_it_answers_by_its_addresses_its_name_and_what_it_was_told(
    served: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "Board.uni.example")
    served("0.0.0.0", "hall.example")
    for host in (
        *LOOPBACK,
        "192.0.2.7:8501",
        "[2001:db8::7]",
        "board",
        "board.local:80",
        "BOARD.uni.example",
    ):
        assert access.is_own_host(host), host
    assert access.is_own_host("hall.example") and access.is_own_host("HALL.example.:443")
    for host in ("evil.test", "board.evil.test", "board.uni.example.evil.test", "xhall.example", "", ":1"):
        assert not access.is_own_host(host), host
    assert "lab app --host evil.test" in client().get("/", headers={"host": "evil.test"}).text
    served("lab.example")
    assert access.is_own_host("lab.example:8501") and not access.is_own_host("hall.example")


def test_behind_a_proxy_on_this_machine_names_are_told(
    served: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then others come too: training is closed to them. The proxy's own word is no name of ours."""
    assert not access.is_public()
    served("localhost", "hall.example")
    assert access.is_public() and access.is_own_host("hall.example") and not access.is_own_host("192.0.2.7")
    asks = client()
    for name, status in (("hall.example", 200), ("evil.test", 403), ("hall.example, evil.test", 403)):
        assert asks.get("/", headers={"x-forwarded-host": name}).status_code == status
    through = {"host": "127.0.0.1:8501", "x-forwarded-host": "hall.example", "origin": "https://hall.example"}
    assert heard(asks, through) and not heard(asks, through | {"origin": "https://evil.test"})
    monkeypatch.setenv(PROXY_ADDRESS, "0.0.0.0")  # with `--processes`: where the proxy listens
    assert access.is_own_host("192.0.2.7:8501") and not access.is_own_host("evil.test")


def test_the_dashboard_has_these_walls() -> None:
    first, *rest = asgi.app._user_middleware
    assert first.cls is access.OwnNames and {m.cls for m in rest} == {access.OwnFiles, routes.OneStep}


# --- The command ------------------------------------------------------------------------------------


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """What `lab app` would serve."""
    begun: list[tuple[object, ...]] = []
    monkeypatch.setattr(commands, "serve_processes", lambda *given: begun.append(given) or 0)
    monkeypatch.delenv(NAMES, raising=False)
    monkeypatch.setenv(NAMES, "")
    return begun


def test_names_are_told_by_an_option(
    started: list[tuple[object, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    commands.app(["--host", "hall.example", "--processes=2", "--host=10.0.0.7", "--server.port=1"])
    assert os.environ[NAMES] == "hall.example,10.0.0.7"
    assert started == [(2, ["--server.port=1"], "")]
    for wrong in ("http://hall.example", "hall.example:80", "", "a,b", "hall example"):
        with pytest.raises(UserError, match="no name of a host"):
            commands.app([f"--host={wrong}", "--processes=2"])


@pytest.mark.parametrize("args", [["--help"], ["-h"], ["--processes=4", "--help"], ["--server.port=1", "-h"]])
def test_help_is_of_this_command(args: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        commands.app(args)
    result = capsys.readouterr().out
    assert ended.value.code == 0 and "usage: lab app" in result and "streamlit run" not in result
    for option in (
        "--processes",
        "--host",
        "--server.address",
        "--server.port",
        "--server.baseUrlPath",
        "PASSWORD",
    ):
        assert option in result
    assert all(len(line) <= 120 for line in result.splitlines())


# --- The path ---------------------------------------------------------------------------------------


def test_a_path_is_spelled_one_way() -> None:
    assert base_path("") == base_path("/") == ""
    assert base_path("/hall/lectern/") == base_path("hall/lectern") == "/hall/lectern"
    for wrong in ("a b", "a//b", "..", "a/../b", "ä", "a?b", "a;b", "{a}", "a\n"):
        with pytest.raises(UserError, match="baseUrlPath"):
            base_path(wrong)


def letters() -> None:
    from lab import ui

    ui.stage("A page", "It has letters.")


def test_all_is_served_below_the_path(
    served: Callable[..., None], monkeypatch: pytest.MonkeyPatch, tmp_path
) -> None:
    monkeypatch.setenv("LECTERN_RUNS", str(tmp_path))
    served("localhost", "hall.example", base="/hall/lectern/")
    below = routes.routes_below(access.base())
    assert len(below) == len(routes.ROUTES)
    app = Starlette(
        routes=[*below, Route("/{path:path}", answer_heard)], middleware=[Middleware(routes.OneStep)]
    )
    asks = TestClient(app, base_url="http://hall.example", follow_redirects=False)
    assert asks.get("/hall/lectern/lectern/search.json").json()
    assert asks.get("/hall/lectern/lectern/js/go.js").text.startswith("// From page to page")
    page = run_page(letters)
    style = next(h.proto.body for h in page.get("html") if "@font-face" in h.proto.body)
    fonts = re.findall(r'url\("([^"]*)"\)', style)
    assert fonts and all(asks.get(font).status_code == 200 for font in fonts)
    result = asks.post("/hall/lectern/lectern/short", content="/models?x=1").json()
    assert result["address"] == f"http://hall.example/hall/lectern/l/{result['id']}"
    led = asks.get(f"/hall/lectern/l/{result['id']}")
    assert str(led.next_request and led.next_request.url) == "http://hall.example/hall/lectern/models?x=1"
    assert asks.post("/lectern/short", content="/models").status_code == 405  # nothing stands above the path
    turn = {"secret": "s" * 32, "link": "/models"}
    lecture = asks.post("/hall/lectern/lectern/follow", json=turn).json()
    assert lecture["address"] == f"http://hall.example/hall/lectern/f/{lecture['id']}"
    assert asks.get(f"/hall/lectern/lectern/follow/{lecture['id']}").json() == {"link": "/models"}
    html = {"accept": "text/html"}
    step = asks.get("/hall/lectern/flow/log_det?view=Series", headers=html)
    assert step.headers["location"] == "/hall/lectern/flow-log-det?view=Series"
    for stays in (
        "/hall/lectern/flow-log-det",
        "/hall/lectern/static/js/x.js",
        "/flow/log_det",
        "/hall/lecternx/a",
    ):
        assert asks.get(stays, headers=html).text == "heard"
