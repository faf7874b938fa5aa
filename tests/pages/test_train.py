"""The page Train and who may use it: fields, the queue, owners, the password, beyond this machine."""

import os
import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from opening import PAGES, captions, run_page, table_with
from starlette.responses import PlainTextResponse
from streamlit import config
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from streamlit.testing.v1 import AppTest
from streamlit.web import cli

from lab import runs
from lab.errors import UserError
from lab.ui.background import jobs
from lab.ui.scheduling import prefetch
from lab.ui.server import delta_messages, returning, serve
from lab.ui.session import access

opened = partial(run_page, "train")


@pytest.fixture(autouse=True)
def own_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Runs are kept apart; none is begun, and a wrong password takes no time."""
    monkeypatch.setenv("LECTERN_RUNS", str(tmp_path))
    monkeypatch.delenv("LECTERN_PASSWORD", raising=False)
    monkeypatch.setattr(access, "SLOW", 0.0)
    return tmp_path


@pytest.fixture
def beyond() -> Iterator[None]:
    """Served to other machines too."""
    before = config.get_option("server.address")
    config.set_option("server.address", "0.0.0.0")
    yield
    config.set_option("server.address", before)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What the page asks to be started."""
    asked: list[tuple[Any, ...]] = []

    def start(*args: Any) -> runs.Run:
        asked.append(args)
        return runs.Run(runs.runs_folder() / args[0] / "20260101-000000")

    monkeypatch.setattr(runs, "start", start)
    return asked


def text_of(page: AppTest) -> str:
    assert not page.exception and not page.error
    return " ".join(e.value for e in (*page.warning, *page.caption, *page.markdown))


def stopped_run(root: Path, key: str) -> runs.Run:
    """A run that ended after its first epoch."""
    folder = root / "made-digits" / "20260101-000000"
    (folder / "checkpoints").mkdir(parents=True)
    run = runs.Run(folder)
    owner = runs.hash_secret(key)
    runs.write_status(run, {"pid": os.getpid(), "created": 1.0, "stopped": True, "owner": owner,
                            "experiment": "made-digits", "overrides": []})  # fmt: skip
    return run


def button(page: AppTest, key: str) -> Any:
    return next(b for b in page.button if b.key == key)


# --- Settings -------------------------------------------------------------------------------------


def test_settings_are_fields_that_no_link_can_set(started: list[tuple[Any, ...]]) -> None:
    """There is no field for anything else, and what a link says of them does not count."""
    page = opened(**{
        "made-digits-epochs": "7", "made-digits-rate": "9", "made-digits-more": "--config=mine.yaml",
        "epochs": "7", "start": "true",
    })  # fmt: skip
    assert {n.label: n.value for n in page.number_input} == {
        "Epochs": 40, "Learning rate": 0.005, "Batch size": 32, "Seed": 0,
    }  # fmt: skip
    assert not page.text_input and not page.text_area and not started
    page.number_input(key="made-digits-epochs").set_value(3).run()
    button(page, "start").click().run()
    ((name, values, key),) = started
    assert (name, values["epochs"], values["batch"]) == ("made-digits", 3, 32)
    assert len(key) >= 20


def test_what_cannot_be_started_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise UserError("The disk has 0.1 GB left.")

    monkeypatch.setattr(runs, "start", refuse)
    page = opened()
    button(page, "start").click().run()
    assert "The disk has 0.1 GB left." in text_of(page)


def test_the_place_in_the_queue_is_shown(own_runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = stopped_run(own_runs, "another's")
    monkeypatch.setattr(runs, "queue", lambda: [runs.Run(own_runs / "x" / "y"), mine])
    assert "queued, 2 of 2" in text_of(opened(run=mine.name))
    assert "queued, 2 of 2" in table_with(opened(), "state")["state"].tolist()


def test_what_will_happen_is_said_before_the_start() -> None:
    page = opened()
    plan = table_with(page, "what will happen").set_index("what will happen")["made-digits"]
    assert plan["model"] == "MADE" and plan["epochs"] == "40"
    minutes = float(plan["minutes"].split()[1])
    page.number_input(key="made-digits-epochs").set_value(80).run()
    plan = table_with(page, "what will happen").set_index("what will happen")["made-digits"]
    assert float(plan["minutes"].split()[1]) == pytest.approx(2 * minutes, rel=0.1)
    assert "--trainer.max_epochs=80" in page.code[0].value
    assert "runs/made-digits/" in captions(page)


# --- Owners and the password ----------------------------------------------------------------------


def test_a_run_is_changed_by_the_browser_that_started_it(
    own_runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    monkeypatch.setattr(runs, "resume", lambda run: done.append(run.name))
    run = stopped_run(own_runs, "the key of a browser, long")
    page = opened(run=run.name)
    assert "Another browser" in text_of(page)
    button(page, "resume").click().run()
    assert not done and "is stopped and resumed there" in text_of(page)
    page.session_state["lectern_keys"] = ["one of this page", "the key of a browser, long"]
    assert "Another browser" not in text_of(page.run())
    button(page, "resume").click().run()
    assert done == [run.name]


def test_the_password_changes_every_run(own_runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    monkeypatch.setattr(runs, "resume", lambda run: done.append(run.name))
    monkeypatch.setenv("LECTERN_PASSWORD", "open sesame ö")
    run = stopped_run(own_runs, "another's")
    page = opened(run=run.name, lectern_password="open sesame ö")
    for wrong in ("", "open", "open sesame o", "x" * 10_000):  # and a link holds none
        page.text_input(key="lectern_password").set_value(wrong).run()
        assert not wrong or "not the password" in text_of(page)
        button(page, "resume").click().run()
    assert not done
    page.text_input(key="lectern_password").set_value("open sesame ö").run()
    assert not page.text_input
    button(page, "resume").click().run()
    assert done == [run.name]
    assert "sesame" not in text_of(page) + str(dict(opened(run=run.name).query_params))


@pytest.mark.usefixtures("beyond")
def test_training_is_closed_beyond_this_machine(
    started: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = opened()
    assert "Training is closed beyond" in text_of(page) and not page.button and not page.number_input
    assert not page.text_input  # without a password there is none to type
    monkeypatch.setenv("LECTERN_PASSWORD", "secret")
    page = opened()
    assert "Training is closed beyond" in text_of(page) and not page.button
    page.text_input(key="lectern_password").set_value("guess").run()
    assert "not the password" in text_of(page) and not page.button
    page.text_input(key="lectern_password").set_value("secret").run()
    assert "closed" not in text_of(page)
    button(page, "start").click().run()
    assert len(started) == 1
    monkeypatch.setenv("LECTERN_PASSWORD", "another")
    assert "Training is closed" in text_of(page.run())


def upload_page() -> None:
    from lab import ui

    text = ui.text("Text", "own", key="text")
    ui.upload("A file", into="text")
    ui.write(text)


@pytest.mark.parametrize(("address", "open_"), [("localhost", True), ("0.0.0.0", False)])
def test_own_files_are_closed_beyond_this_machine(
    address: str, open_: bool, monkeypatch: pytest.MonkeyPatch, beyond: None
) -> None:
    config.set_option("server.address", address)
    page = run_page(upload_page)
    assert bool(page.get("file_uploader")) == open_
    assert ("closed here" in captions(page)) != open_
    monkeypatch.setenv("LECTERN_PASSWORD", "secret")
    assert bool(run_page(upload_page).get("file_uploader")) == open_


# --- The address ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("address", "unlocked", "status"), [
    ("localhost", False, 200), ("0.0.0.0", False, 403), ("0.0.0.0", True, 200)
])  # fmt: skip
def test_files_are_taken_beyond_this_machine_only_from_who_has_the_password(
    address: str, unlocked: bool, status: int, beyond: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from starlette.testclient import TestClient

    config.set_option("server.address", address)
    monkeypatch.setattr(access, "_unlocked", {"mine"} if unlocked else {"another"})
    client = TestClient(access.OwnFiles(PlainTextResponse("taken")))
    assert client.put("/_stcore/upload_file/mine/1", content=b"x").status_code == status
    assert client.put("/lab/_stcore/upload_file/mine/1", content=b"x").status_code == status
    chunked = client.put("/_stcore/upload_file/mine/1", content=iter([b"x"]))  # says no length
    assert chunked.status_code == (411 if status == 200 else status)
    assert client.get("/_stcore/upload_file/mine/1").status_code == 200
    assert client.post("/lectern/short", content=b"x").status_code == 200


@pytest.mark.parametrize(
    ("held", "coming", "more", "room"),
    [
        ([], 0, 20_000_000, True),
        ([0] * 19, 0, 1, True),
        ([0] * 20, 0, 1, False),
        ([20_000_000] * 2, 0, 20_000_000, True),
        ([20_000_000] * 2, 1, 20_000_000, False),  # that of others is on its way
        ([], 0, 60_000_001, False),
    ],
)
def test_a_session_brings_so_many_files_and_bytes(
    held: list[int], coming: int, more: int, room: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from starlette.testclient import TestClient

    monkeypatch.setattr(access, "is_public", lambda: False)
    monkeypatch.setattr(access, "uploaded_sizes", lambda session: held if session == "mine" else [])
    monkeypatch.setattr(access, "_coming", Counter(mine=coming))
    answered: list[int] = []

    async def taken(scope: Any, receive: Any, send: Any) -> None:
        answered.append(access._coming["mine"])
        await PlainTextResponse("taken")(scope, receive, send)

    put = TestClient(access.OwnFiles(taken)).put
    text = put("/_stcore/upload_file/mine/1", headers={"content-length": str(more)}, content=b"")
    assert (text.status_code == 200) == room and answered == [coming + more] * room
    result = r"This tab has brought \d+ files of \d+ MB: [^.]*\. Reload [^.]*\."
    assert room or re.fullmatch(result, text.text)
    assert access._coming["mine"] == coming
    assert put("/_stcore/upload_file/other/1", content=b"x").status_code == 200


def test_what_a_session_has_brought_is_what_the_server_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    held = MemoryUploadedFileManager("/_stcore/upload_file")
    monkeypatch.setattr(access.runtime, "exists", lambda: True)
    monkeypatch.setattr(access.runtime, "get_instance", lambda: SimpleNamespace(uploaded_file_mgr=held))
    for session, size in (("mine", 3), ("mine", 5), ("other", 7)):
        held.add_file(session, UploadedFileRec(f"{size}", "x.csv", "text/csv", b"x" * size))
    assert access.uploaded_sizes("mine") == [3, 5] and access.uploaded_sizes("nobody") == []
    held.remove_session_files("mine")
    assert access.uploaded_sizes("mine") == []


def test_who_has_brought_all_that_is_allowed_is_told_in_place_of_the_button(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert run_page(upload_page).get("file_uploader")
    monkeypatch.setattr(access, "uploaded_sizes", lambda session: [20_000_000] * 3)
    full = run_page(upload_page)
    assert not full.get("file_uploader") and "may bring no more than 20" in captions(full)


@pytest.mark.parametrize(
    ("address", "other"),
    [("localhost", False), ("127.0.0.1", False), ("127.1.2.3", False), ("::1", False), ("[::1]", False),
     ("0.0.0.0", True), ("::", True), ("", True), (None, True), ("192.168.0.7", True), ("example.org", True),
     ("localhost.example.org", True), ("127.0.0.1.example.org", True), ("unix:///tmp/socket", True)],
)  # fmt: skip
def test_which_addresses_are_of_this_machine_alone(address: str | None, other: bool, beyond: None) -> None:
    config.set_option("server.address", address)
    assert access.is_public() == other


@pytest.fixture
def unserved(monkeypatch: pytest.MonkeyPatch) -> None:
    """The start of the dashboard leaves this process, and with it the tests to come, as it was."""
    for module, name in (
        (delta_messages, "install"),
        (returning, "install"),
        (prefetch, "start"),
        (jobs, "start"),
    ):
        monkeypatch.setattr(module, name, lambda: None)


@pytest.fixture
def start_line(
    unserved: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Any]:
    """What the start of the dashboard prints before it serves."""
    monkeypatch.setattr(cli, "main", lambda args, standalone_mode: None)

    def printed(*args: str) -> str:
        assert serve.run(args) == 0
        return capsys.readouterr().out

    yield printed
    monkeypatch.undo()  # back to a folder without settings, which would stay for the tests to come
    config.get_config_options(force_reparse=True, options_from_flags={})


def test_the_start_says_what_is_closed(
    start_line: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the address comes from the command, the environment or a file; by default all is open."""
    monkeypatch.chdir(PAGES.parent / "lab" / "ui" / "server")  # as `lab app` does
    assert start_line() == "" and start_line("--server.address=127.0.0.1") == ""
    line = start_line("--server.address", "0.0.0.0")
    assert "closed (set LECTERN_PASSWORD)" in line and line.count("\n") == 1
    assert start_line("--server.address=::") == line
    monkeypatch.setenv("STREAMLIT_SERVER_ADDRESS", "192.168.0.7")
    assert start_line() == line
    monkeypatch.setenv("LECTERN_PASSWORD", "secret")
    assert "closed to those without the password" in start_line() and "secret" not in start_line()
    assert start_line("--server.address=localhost") == ""
    monkeypatch.delenv("STREAMLIT_SERVER_ADDRESS")
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit" / "config.toml").write_text('[server]\naddress = "0.0.0.0"\n')
    monkeypatch.chdir(tmp_path)
    assert "closed" in start_line()


def test_a_wrong_option_of_the_start(unserved: None, capsys: Any) -> None:
    assert serve.run(["--nonsense"]) == 2
    assert "lab app: No such option" in capsys.readouterr().err
