"""One dashboard and one browser for all tests of pages; nothing may leave the machine."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import FLAGS, Visit, serve


@pytest.fixture(scope="session")
def runs_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the dashboard under test keeps its runs: never the reader's own."""
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="session")
def dashboard(runs_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running dashboard."""
    with serve(runs_root, tmp_path_factory.mktemp("server") / "log.txt") as address:
        yield address


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Any]:
    """Chromium, driven by Playwright."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        instance = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield instance
        instance.close()


@pytest.fixture(scope="session")
def readers(browser: Any, dashboard: str) -> Iterator[dict[tuple[Any, ...], Visit]]:
    """Browsers that go from page to page with a warm cache, by width and scheme."""
    results: dict[tuple[Any, ...], Visit] = {}
    yield results
    for reader in results.values():
        reader.context.close()


@pytest.fixture
def page_visit(
    browser: Any, dashboard: str, readers: dict[tuple[Any, ...], Visit], request: pytest.FixtureRequest
) -> Iterator[Visit]:
    """`visit`, a fresh tab of a browser that has been here before: for tests that only look."""
    settings = getattr(request, "param", {})
    key = tuple(settings.values())
    if key not in readers:
        readers[key] = Visit(browser, dashboard, **settings)
    reader = readers[key]
    before, reader.tab = reader.tab, reader.context.new_page()
    before.close()
    reader.strangers.clear()
    reader.complaints.clear()
    yield reader
    assert not reader.strangers, f"requests left the machine: {reader.strangers}"
    assert not reader.complaints, f"the console complains: {reader.complaints}"


@pytest.fixture
def walker(
    browser: Any, dashboard: str, readers: dict[tuple[Any, ...], Visit], request: pytest.FixtureRequest
) -> Iterator[Visit]:
    """A reader who goes from page to page by `walk`, in one tab that no other test touches."""
    settings = getattr(request, "param", {})
    key = ("walker", *settings.values())
    if key not in readers:
        readers[key] = Visit(browser, dashboard, **settings)
    reader = readers[key]
    reader.strangers.clear()
    reader.complaints.clear()
    yield reader
    assert not reader.strangers, f"requests left the machine: {reader.strangers}"
    assert not reader.complaints, f"the console complains: {reader.complaints}"


@pytest.fixture
def visit(browser: Any, dashboard: str, request: pytest.FixtureRequest) -> Iterator[Visit]:
    """A fresh tab; afterwards nothing may have left the machine and no console error been printed."""
    result = Visit(browser, dashboard, **getattr(request, "param", {}))
    yield result
    result.context.close()
    assert not result.strangers, f"requests left the machine: {result.strangers}"
    assert not result.complaints, f"the console complains: {result.complaints}"
