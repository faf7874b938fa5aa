"""Fetching against a server on this machine that breaks off, lies, stalls and knows no ranges."""

import gzip
import hashlib
import os
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import requests

from datamodules import fetch

CONTENT = bytes(i * i % 251 for i in range(400_000))  # several chunks, no two of them alike
REPO = Path(__file__).parents[2]


class Server:
    """Serves `files`; the knobs say how it misbehaves; `asked` holds (path, Range) of every request."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.ranges = True
        self.ahead = 0  # an answer begins so many bytes after what was asked for, and says so
        self.cut: list[int] = []  # the next answers break off after so many bytes
        self.stall = 0.0  # seconds of silence after half of the answer
        self.asked: list[tuple[str, str | None]] = []
        self.sent = 0
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked.append((self.path, self.headers.get("Range")))
                body = server.files.get(self.path)
                if body is None:
                    self.send_error(404)
                    return
                first = 0
                if server.ranges and (asked := self.headers.get("Range")):
                    first = int(asked.removeprefix("bytes=").rstrip("-")) + server.ahead
                    if first >= len(body):
                        self.send_error(416)
                        return
                    self.send_response(206)
                    self.send_header("Content-Range", f"bytes {first}-{len(body) - 1}/{len(body)}")
                else:
                    self.send_response(200)
                rest = body[first:]
                self.send_header("Content-Length", str(len(rest)))
                self.end_headers()
                if server.cut:
                    rest = rest[: server.cut.pop(0)]
                if server.stall:
                    self.wfile.write(rest[: len(rest) // 2])
                    self.wfile.flush()
                    time.sleep(server.stall)
                    rest = rest[len(rest) // 2 :]
                server.sent += len(rest)  # before the reader can have them
                self.wfile.write(rest)
                self.close_connection = True

            def log_message(self, *args: Any) -> None: ...

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *args: Any) -> None: ...  # killed clients are part of the tests

        self.http = Quiet(("127.0.0.1", 0), Handler)
        self.home = f"http://127.0.0.1:{self.http.server_address[1]}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.http.shutdown()
    server.http.server_close()


def toy(server: Server, name: str = "toy.bin", content: bytes = CONTENT, mirrors: int = 1) -> fetch.Source:
    urls = tuple(f"{server.home}/{i}/{name}" for i in range(mirrors))
    file = fetch.File(f"toy/raw/{name}", urls, f"md5:{hashlib.md5(content).hexdigest()}", len(content))
    return fetch.Source("Toy", (file,), "gpt-pydocs")


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LECTERN_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def register(monkeypatch: pytest.MonkeyPatch, source: fetch.Source) -> fetch.Source:
    monkeypatch.setitem(fetch.SOURCES, source.name, source)
    return source


@pytest.fixture
def source(server: Server, data: Path, monkeypatch: pytest.MonkeyPatch) -> fetch.Source:
    server.files["/0/toy.bin"] = CONTENT
    return register(monkeypatch, toy(server))


def leftovers(folder: Path) -> set[str]:
    """Files beside locks."""
    return {path.name for path in folder.iterdir() if path.suffix != ".lock"}


def test_fetches_once(server: Server, source: fetch.Source, data: Path, capfd: Any) -> None:
    assert fetch.fetch("toy") == data / "toy/raw"
    assert (data / "toy/raw/toy.bin").read_bytes() == CONTENT
    assert leftovers(data / "toy/raw") == {"toy.bin"}
    out, err = capfd.readouterr()
    assert out == ""  # stdout belongs to the answers of commands, such as --json
    assert "toy.bin" in err  # progress
    fetch.fetch("toy")
    assert fetch.content(source, source.files[0]) == CONTENT
    assert len(server.asked) == 1


def test_resumes_where_it_stopped(server: Server, source: fetch.Source, data: Path) -> None:
    part = data / "toy/raw/toy.bin.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(CONTENT[:150_000])
    fetch.fetch("toy")
    assert server.asked == [("/0/toy.bin", "bytes=150000-")]
    assert server.sent == len(CONTENT) - 150_000
    assert (data / "toy/raw/toy.bin").read_bytes() == CONTENT
    assert leftovers(part.parent) == {"toy.bin"}


def test_survives_broken_connections(server: Server, source: fetch.Source, data: Path) -> None:
    first, second = 12 * fetch.CHUNK, 6 * fetch.CHUNK
    server.cut = [first + 100, 0, second]
    fetch.fetch("toy")
    ranges = [None, f"bytes={first}-", f"bytes={first}-", f"bytes={first + second}-"]
    assert [asked for _, asked in server.asked] == ranges
    assert (data / "toy/raw/toy.bin").read_bytes() == CONTENT


def test_gives_up_in_the_end_and_goes_on_later(server: Server, source: fetch.Source, data: Path) -> None:
    server.cut = [fetch.CHUNK] * fetch.ATTEMPTS
    with pytest.raises(fetch.MissingData):
        fetch.fetch("toy")
    assert leftovers(data / "toy/raw") == {"toy.bin.part"}
    fetch.fetch("toy")
    assert server.asked[-1] == ("/0/toy.bin", f"bytes={fetch.CHUNK * fetch.ATTEMPTS}-")
    assert (data / "toy/raw/toy.bin").read_bytes() == CONTENT


def test_server_without_ranges(server: Server, source: fetch.Source, data: Path) -> None:
    server.ranges = False
    server.cut = [100_000]
    fetch.fetch("toy")
    assert (data / "toy/raw/toy.bin").read_bytes() == CONTENT
    assert len(server.asked) == 2


def test_another_part_than_was_asked_for_is_not_joined_on(
    server: Server, source: fetch.Source, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = data / "toy/raw/toy.bin.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(CONTENT[:150_000])
    server.ahead = 1000
    fetch.fetch("toy")
    assert [asked for _, asked in server.asked] == ["bytes=150000-", None]  # at once from the start
    assert (data / "toy/raw/toy.bin").read_bytes() == CONTENT
    part.write_bytes(CONTENT[:150_000])
    with pytest.raises(requests.exceptions.ChunkedEncodingError, match="another part"):
        fetch.Resumable(source.files[0])._transfer(source.files[0].urls[0])
    assert not part.exists()  # rather than joined, and found wrong by its checksum


def test_whole_part_is_recognised(server: Server, source: fetch.Source, data: Path) -> None:
    part = data / "toy/raw/toy.bin.part"  # the machine died between the last byte and the renaming
    part.parent.mkdir(parents=True)
    part.write_bytes(CONTENT)
    fetch.fetch("toy")
    assert (data / "toy/raw/toy.bin").read_bytes() == CONTENT
    assert server.sent == 0


@pytest.mark.parametrize("size", [100_000, 500_000])
def test_part_of_something_else_is_thrown_away(
    server: Server, source: fetch.Source, data: Path, size: int
) -> None:
    part = data / "toy/raw/toy.bin.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(b"x" * size)
    fetch.fetch("toy")
    assert (data / "toy/raw/toy.bin").read_bytes() == CONTENT


def test_wrong_content_is_never_kept(server: Server, source: fetch.Source, data: Path) -> None:
    server.files["/0/toy.bin"] = CONTENT[:-1] + b"!"
    with pytest.raises(fetch.MissingData, match="checksum differs") as error:
        fetch.fetch("toy")
    assert leftovers(data / "toy/raw") == set()
    sentence = str(error.value)
    assert "\n" not in sentence
    for word in ("Toy", "toy.bin", str(data / "toy/raw"), "gpt-pydocs"):
        assert word in sentence


def test_mirrors(server: Server, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, toy(server, mirrors=3))
    server.files["/1/toy.bin"] = b"something else"
    server.files["/2/toy.bin"] = CONTENT
    fetch.fetch("toy")
    assert [path for path, _ in server.asked] == ["/0/toy.bin", "/1/toy.bin", "/2/toy.bin"]
    assert (data / "toy/raw/toy.bin").read_bytes() == CONTENT


def test_hash_is_of_the_unpacked_content(server: Server, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = register(monkeypatch, toy(server, "toy.gz"))
    packed = gzip.compress(CONTENT, 9, mtime=1), gzip.compress(CONTENT, 1, mtime=2)
    assert packed[0] != packed[1]
    path = data / "toy/raw/toy.gz"
    path.parent.mkdir(parents=True)
    for wrapper in packed:
        path.write_bytes(wrapper)
        assert fetch.content(source, source.files[0]) == CONTENT
    path.unlink()
    path.with_suffix("").write_bytes(CONTENT)  # unpacked, as other libraries leave it
    assert fetch.content(source, source.files[0]) == CONTENT
    assert server.asked == []


@pytest.mark.parametrize("damage", [lambda b: b[:-5000], lambda b: b"", lambda b: b"\x00" + b[1:]])
def test_damaged_file_is_replaced(
    server: Server, data: Path, monkeypatch: pytest.MonkeyPatch, damage: Any
) -> None:
    register(monkeypatch, toy(server, "toy.gz"))
    server.files["/0/toy.gz"] = gzip.compress(CONTENT)
    path = data / "toy/raw/toy.gz"
    path.parent.mkdir(parents=True)
    path.write_bytes(damage(gzip.compress(CONTENT)))
    fetch.fetch("toy")
    assert path.read_bytes() == server.files["/0/toy.gz"]
    assert leftovers(path.parent) == {"toy.gz", "toy.gz.damaged"}  # nothing of the user's is deleted


def test_damaged_file_without_network(server: Server, source: fetch.Source, data: Path) -> None:
    server.files.clear()
    path = data / "toy/raw/toy.bin"
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT[:-1])
    with pytest.raises(
        fetch.MissingData, match=r"it is damaged and could not be fetched \(the server answered 404"
    ):
        fetch.fetch("toy")


def test_killed_in_the_middle(server: Server, source: fetch.Source, data: Path) -> None:
    """kill -9 during the download: no file under its name, and the next fetch goes on."""
    server.stall = 60
    code = (
        f"import sys; from datamodules import fetch\nfetch.SOURCES['Toy'] = fetch.{source!r}\n".replace(
            "files=(File", "files=(fetch.File"
        )
        + "fetch.fetch('toy')"
    )
    process = subprocess.Popen([sys.executable, "-c", code], cwd=REPO, stderr=subprocess.DEVNULL)
    part = data / "toy/raw/toy.bin.part"
    deadline = time.time() + 30
    while time.time() < deadline and not (part.exists() and part.stat().st_size > 100_000):
        time.sleep(0.05)
    process.kill()
    process.wait()
    assert not (data / "toy/raw/toy.bin").exists()
    have = part.stat().st_size
    assert 100_000 < have < len(CONTENT)
    server.stall = 0
    fetch.fetch("toy")
    assert server.asked[-1] == ("/0/toy.bin", f"bytes={have}-")
    assert (data / "toy/raw/toy.bin").read_bytes() == CONTENT


def test_many_ask_at_once(server: Server, source: fetch.Source, data: Path) -> None:
    server.stall = 0.2
    results: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: results.append(fetch.content(source, source.files[0])))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [CONTENT] * 4
    assert len(server.asked) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_full_disk(server: Server, source: fetch.Source, data: Path) -> None:
    part = data / "toy/raw/toy.bin.part"
    part.parent.mkdir(parents=True)
    part.symlink_to("/dev/full")
    with pytest.raises(fetch.MissingData, match="No space left on device"):
        fetch.fetch("toy")
    assert not (data / "toy/raw/toy.bin").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folder_that_cannot_be_written(source: fetch.Source, data: Path) -> None:
    data.mkdir()
    data.chmod(0o500)
    with pytest.raises(fetch.MissingData, match="Permission denied"):
        fetch.fetch("toy")


@pytest.mark.parametrize("name", list(fetch.SOURCES))
def test_no_network_is_one_sentence(name: str, data: Path) -> None:
    source = fetch.SOURCES[name]
    reason = "no network" if source.files[0].urls else "no address is known"
    with pytest.raises(fetch.MissingData, match=reason) as error:
        fetch.fetch(name)
    sentence = str(error.value)
    assert "\n" not in sentence and sentence.count(". ") == 0
    for word in (Path(source.files[0].path).name, str(source.folder), source.sister):
        assert word in sentence


def test_names() -> None:
    assert fetch.fetch("digits") is None
    assert fetch.find("cora") is fetch.SOURCES["Cora"]
    assert fetch.find("shakespeare") is fetch.SOURCES["tinyshakespeare"]
    with pytest.raises(ValueError, match="try MNIST"):
        fetch.fetch("mnits")


def test_status(source: fetch.Source, data: Path) -> None:
    rows = {row["dataset"]: row for row in fetch.status()}
    assert rows["Toy"] == {
        "dataset": "Toy", "folder": str(data / "toy/raw"), "present": False, "embedded": False
    }  # fmt: skip
    assert rows["Digits"]["present"] and rows["Digits"]["embedded"]
    fetch.fetch("toy")
    assert next(row for row in fetch.status() if row["dataset"] == "Toy")["present"]


def test_default_folder_is_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    import pooch

    monkeypatch.delenv("LECTERN_DATA", raising=False)
    assert fetch.root() == Path(pooch.os_cache("lectern"))


def test_imports_no_torch() -> None:
    code = (
        "import sys, datamodules.fetch as f; f.status(); print(*{'torch', 'numpy'} & {*sys.modules}, 'done')"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=REPO, capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "done"


def test_a_server_that_sends_too_much_is_left(server: Server, source: fetch.Source, data: Path) -> None:
    path = next(iter(server.files))
    server.files[path] = CONTENT + bytes(2**20)
    with pytest.raises(fetch.MissingData, match=r"sends more than the 400,000 bytes"):
        fetch.fetch("toy")
    assert not any(path.stat().st_size for path in data.rglob("*") if path.is_file())


@pytest.mark.usefixtures("little_memory")
def test_a_gzip_bomb_is_unpacked_no_further_than_its_size(data: Path) -> None:
    zeros = zlib.compressobj(wbits=31)
    first, again = (zeros.compress(bytes(2**24)) + zeros.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    bomb = first + 63 * again + zeros.flush()  # 1 GiB in 1 MiB: what is flushed is a piece by itself
    file = fetch.File("toy/raw/bomb.gz", (), f"md5:{hashlib.md5(bytes(1000)).hexdigest()}", 2**21)
    (data / "toy/raw").mkdir(parents=True)
    (data / file.path).write_bytes(bomb)
    assert len(bomb) < file.most and len(file.unpack(data / file.path, "bomb.gz")) == file.size + 1
    assert file.check(data / file.path) is None


def test_every_file_states_its_size(real_data: Callable[[str], Path]) -> None:
    real_data("Cora")
    for file in fetch.SOURCES["Cora"].files:
        assert file.check(root := fetch.root() / file.path) is not None
        assert root.stat().st_size == file.size
