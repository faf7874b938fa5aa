"""Several processes behind nginx: readers stay with theirs, and what all share holds in each."""

import asyncio
import gzip
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from email.message import Message
from pathlib import Path
from unittest.mock import Mock

import psutil
import pytest

from lab import commands, proxy
from lab.errors import UserError
from lab.ui.browser import components
from lab.ui.server.client import Session
from lab.ui.session import access

ROOT = Path(__file__).resolve().parents[2]
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
LAB = [sys.executable, "-m", "lab"]
needs_nginx = pytest.mark.skipif(NGINX is None, reason="nginx is not here")


def test_without_nginx_one_sentence_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LECTERN_RUNS", str(tmp_path))
    monkeypatch.setattr(proxy.shutil, "which", lambda *_, **__: None)
    with pytest.raises(UserError, match="apt install nginx"):
        commands.app(["--processes", "2"])


def test_a_port_that_is_taken_is_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LECTERN_RUNS", str(tmp_path))
    monkeypatch.setattr(proxy.shutil, "which", lambda *_, **__: "/bin/true")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UserError, match=f"Port {port} at localhost is taken"):
            commands.app(["--processes=2", f"--server.port={port}"])


LISTENS = (
    "import socket, sys, time; s = socket.create_server(('127.0.0.1', int(sys.argv[1]))); time.sleep(600)"
)


@pytest.mark.parametrize("alive", [False, True])
def test_the_next_pool_ends_what_a_killed_one_has_left(
    alive: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its nginx holds the port. Who has got such a number since stays, and so does a pool that lives."""
    monkeypatch.setenv("LECTERN_RUNS", str(tmp_path))
    monkeypatch.setattr(proxy.shutil, "which", lambda *_, **__: "/bin/true")
    (port,) = proxy.free_ports(1)
    nginx = subprocess.Popen([sys.executable, "-c", LISTENS, str(port)])
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    try:
        while proxy.can_bind("127.0.0.1", port):
            time.sleep(0.05)
        folder = tmp_path / ".proxy" / str(port)
        folder.mkdir(parents=True)
        own = proxy.process_stamp(os.getpid())
        killed = own if alive else (own[0], own[1] - 1)
        left = [proxy.process_stamp(nginx.pid), (other.pid, 1.0), (-1, 0.0), "x", None]
        (folder / proxy.PIDS_FILE).write_text(json.dumps({"parent": killed, "others": left}))
        if alive:
            with pytest.raises(UserError, match="is taken"):
                proxy.ServerPool(2, "localhost", port, [])
            assert nginx.poll() is None
        else:
            proxy.ServerPool(2, "localhost", port, [])
            assert nginx.wait(10) is not None  # and the port is free
        assert other.poll() is None
    finally:
        for process in (nginx, other):
            process.kill()
            process.wait()


def test_a_pool_writes_down_who_belongs_to_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LECTERN_RUNS", str(tmp_path))
    monkeypatch.setattr(proxy.shutil, "which", lambda *_, **__: "/bin/true")
    monkeypatch.setattr(proxy.subprocess, "Popen", lambda *_, **__: Mock(pid=os.getpid()))
    result = proxy.ServerPool(2, "localhost", proxy.free_ports(1)[0], [])
    for number in (0, 1):
        result.start(number)
    known = json.loads((result.folder / proxy.PIDS_FILE).read_text())
    assert known["others"] == [known["parent"]] * 2 == [[*proxy.process_stamp(os.getpid())]] * 2
    result.stop()
    assert not (result.folder / proxy.PIDS_FILE).exists()


STUB = """
import os, sys, types
def run(args, page):
    print(os.environ["OMP_WAIT_POLICY"], "torch" in sys.modules)
for name in ("lab.ui", "lab.ui.server"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["lab.ui.server"].serve = types.SimpleNamespace(run=run)
from lab import commands
commands.app([])
"""


@pytest.mark.parametrize(("own", "text"), [(None, "PASSIVE"), ("ACTIVE", "ACTIVE")])
def test_threads_that_wait_sleep(own: str | None, text: str) -> None:
    """Said before torch is loaded, or it is not heard; a word of the reader's own stays."""
    env = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    env |= {"OMP_WAIT_POLICY": own} if own else {}
    done = subprocess.run([sys.executable, "-c", STUB], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.split()[-2:] == [text, "False"]


@pytest.mark.parametrize("count", ["0", "-1", "65", "two"])
def test_a_number_of_processes_that_makes_no_sense(count: str) -> None:
    with pytest.raises(UserError, match="--processes"):
        commands.app([f"--processes={count}"])


def test_behind_a_proxy_what_counts_is_where_the_proxy_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    for address, others in (
        ("0.0.0.0", True),
        ("192.0.2.7", True),
        ("localhost", False),
        ("127.0.0.1", False),
    ):
        monkeypatch.setenv(access.PROXY_ADDRESS, address)
        assert access.is_public() is others


def test_told_to_end_while_a_process_starts_it_knows_that_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LECTERN_RUNS", str(tmp_path))
    monkeypatch.setattr(proxy.shutil, "which", lambda *_, **__: "/bin/true")
    monkeypatch.setattr(proxy, "is_healthy", lambda *_, **__: False)
    begun = []

    def start(*_: object, **__: object) -> Mock:
        begun.append(Mock(poll=lambda: None, pid=os.getpid()))
        os.kill(os.getpid(), signal.SIGTERM)
        return begun[-1]

    monkeypatch.setattr(proxy.subprocess, "Popen", start)
    before = signal.getsignal(signal.SIGTERM)
    try:
        with pytest.raises(SystemExit):
            proxy.ServerPool(2, "localhost", proxy.free_ports(1)[0], []).serve()
    finally:
        signal.signal(signal.SIGTERM, before)
    assert begun and all(process.terminate.called for process in begun)


@pytest.mark.parametrize(
    ("address", "listen"),
    [
        ("0.0.0.0", ["0.0.0.0:8501"]),
        ("::", ["[::]:8501 ipv6only=off"]),
        ("[::1]", ["[::1]:8501"]),
        ("lab.example", ["lab.example:8501"]),
    ],
)
def test_places(address: str, listen: list[str]) -> None:
    assert proxy.listen_addresses(address, 8501) == listen


def test_readers_are_told_apart_by_a_cookie_alone(tmp_path: Path) -> None:
    text = proxy.settings(tmp_path, [9001, 9002, 9003], "0.0.0.0", 8501)
    assert "ip_hash" not in text and "remote_addr" not in text
    assert text.count("    upstream process") == 3 and text.count(" backup;") == 6
    assert "map $cookie_lectern_process $lectern" in text and '"2 2" "";' in text


@needs_nginx
@pytest.mark.parametrize("address", ["localhost", "0.0.0.0"])
def test_nginx_understands_the_settings(tmp_path: Path, address: str) -> None:
    (port, *ports) = proxy.free_ports(4)
    path = tmp_path / "nginx.conf"
    path.write_text(proxy.settings(tmp_path, ports, address, port))
    done = subprocess.run(
        [str(NGINX), "-t", "-p", str(tmp_path), "-c", str(path)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


# --- Two processes -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, subprocess.Popen[bytes], Path]]:
    """The address of two processes, their command, and what it prints."""
    if NGINX is None:
        pytest.skip("nginx is not here")
    folder = tmp_path_factory.mktemp("hall")
    (port,) = proxy.free_ports(1)
    with open(folder / "log", "wb") as log:
        command = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "lab",
                "app",
                "--processes=2",
                "--server.address=0.0.0.0",
                f"--server.port={port}",
            ],
            cwd=ROOT,
            env={**os.environ, "LECTERN_RUNS": str(folder / "runs"), "LECTERN_PASSWORD": "chalk"},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        end = time.monotonic() + 300
        while b"is served by" not in (folder / "log").read_bytes():  # its own looks at the nginx are over
            assert command.poll() is None and time.monotonic() < end, (folder / "log").read_text()
            time.sleep(0.2)
        yield f"http://127.0.0.1:{port}", command, folder
    finally:
        command.terminate()
        command.wait(30)


def ask(
    address: str, cookie: str = "", data: bytes | None = None, encoding: str = "identity"
) -> tuple[bytes, Message]:
    """Body and headers of an answer."""
    headers = {"Accept-Encoding": encoding} | ({"Cookie": f"lectern_process={cookie}"} if cookie else {})
    with urllib.request.urlopen(urllib.request.Request(address, data, headers), timeout=60) as answer:
        return answer.read(), answer.headers


def given_by(headers: Message) -> list[str]:
    """The cookie that says which process is ours, where it is news."""
    given = [cookie.split(";")[0] for cookie in headers.get_all("Set-Cookie", [])]
    return [cookie for cookie in given if cookie.startswith("lectern_process=")]


@pytest.mark.heavy
def test_newcomers_take_turns_and_readers_stay(two: tuple[str, subprocess.Popen[bytes], Path]) -> None:
    address = two[0]
    given = [given_by(ask(f"{address}/")[1]) for _ in range(6)]
    assert sorted(given) == [["lectern_process=0"]] * 3 + [["lectern_process=1"]] * 3
    for cookie in "01":
        for path in ("/", "/_stcore/health", "/models"):
            assert not given_by(ask(address + path, cookie)[1])
    for strange in ("7", "x", "0%20"):
        assert given_by(ask(f"{address}/", strange)[1])


@pytest.mark.heavy
def test_what_all_share_holds_in_each(two: tuple[str, subprocess.Popen[bytes], Path]) -> None:
    address = two[0]
    result = json.loads(ask(f"{address}/lectern/short", "0", b"/models?x=1")[0])
    for cookie in "01":
        assert b"streamlit" in ask(f"{address}/l/{result['id']}", cookie)[0].lower()  # led on to the page
    for at in "12":  # the lecturer's process is told, and the students' know it
        turn = json.dumps({"secret": "s" * 32, "link": f"/models?x={at}"}).encode()
        lecture = json.loads(ask(f"{address}/lectern/follow", "0", turn)[0])["id"]
        for cookie in "01":
            known = json.loads(ask(f"{address}/lectern/follow/{lecture}", cookie)[0])
            assert known == {"link": f"/models?x={at}"}

    async def closed() -> bool:
        async with Session.of(address) as session:
            answer = await session.open("train")
            assert not answer.errors
            return b"Training is closed beyond the machine" in answer.raw

    with ThreadPoolExecutor(1) as apart:  # this thread may have a loop of its own
        assert [apart.submit(asyncio.run, closed()).result() for _ in range(4)] == [True] * 4


@pytest.mark.heavy
def test_large_files_come_smaller_and_once(two: tuple[str, subprocess.Popen[bytes], Path]) -> None:
    address, _, folder = two
    body, headers = ask(f"{address}/{components.PLOTLY}", encoding="gzip")
    assert headers["Content-Encoding"] == "gzip" and "immutable" in headers["Cache-Control"]
    assert gzip.decompress(body) == ask(f"{address}/{components.PLOTLY}")[0]
    assert [p for p in (folder / "runs" / ".proxy").glob("*/cache/**/*") if p.stat().st_size > 1_000_000]


@pytest.mark.heavy
def test_a_process_that_ends_begins_again_and_then_all_end(
    two: tuple[str, subprocess.Popen[bytes], Path],
) -> None:
    address, command, folder = two
    family = psutil.Process(command.pid).children(recursive=True)
    processes = [p for p in family if "--server.port" in p.cmdline()]
    assert len(processes) == 2
    processes[0].send_signal(signal.SIGKILL)
    processes[0].wait(30)
    for cookie in "01":  # the other one answers for it
        assert ask(f"{address}/_stcore/health", cookie)[0]
    end = time.monotonic() + 60
    while "begins again" not in (folder / "log").read_text():
        assert time.monotonic() < end
        time.sleep(0.1)
    family += psutil.Process(command.pid).children(recursive=True)
    command.terminate()
    assert command.wait(30) == 0
    assert not [p for p in family if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]
