"""A lecture on paper: each scene as it stands on the stage, and below it what the lecturer says."""

import base64
import html
from pathlib import Path

from lab import lecture
from lab.errors import UserError

WIDTH, HEIGHT, NOTES = 1920, 1080, 260  # pixels of a page: the stage, and under it the notes
NEEDS = "A PDF needs Chromium and Playwright: pip install -c constraints.txt -e '.[dev]'."
STYLE = f"""
@page {{size: {WIDTH}px {HEIGHT + NOTES}px; margin: 0}}
body {{margin: 0; font: 32px/1.4 system-ui, sans-serif}}
section {{height: {HEIGHT + NOTES}px; break-after: page; overflow: hidden}}
img {{display: block; width: {WIDTH}px; height: {HEIGHT}px}}
p {{margin: 0; padding: 24px 48px; white-space: pre-line}}
small {{color: #666}}
"""


def export(name: str, out: Path) -> int:
    """Write the lecture as a PDF, a page a scene; returns how many.

    Raises:
        UserError: there is no such lecture, no browser, or no such folder.
    """
    from lab.bench.dashboard import PAGE_LIMIT, Reader, chromium
    from lab.bench.serving import server

    read = lecture.read(name)
    executable = chromium()
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        executable = None
    if executable is None:
        raise UserError(NEEDS)
    if not out.parent.is_dir():
        raise UserError(f"There is no folder {out.parent}: make it first.")
    sheets = []
    with server() as served, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        tab.set_default_timeout(PAGE_LIMIT)
        reader = Reader(tab, served)
        for at, entry in enumerate(read.entries):
            reader.open(f"{read.link(at)}&stage=1")
            reader.rest()
            sheets.append(sheet(tab.screenshot(), at, entry))
        tab.goto("about:blank")
        tab.set_content(f"<style>{STYLE}</style>{''.join(sheets)}")
        tab.pdf(path=out, prefer_css_page_size=True, print_background=True)
        browser.close()
    return len(sheets)


def sheet(picture: bytes, at: int, entry: lecture.Entry) -> str:
    """One page as HTML."""
    source = base64.b64encode(picture).decode()
    title = f"{at + 1} · {entry.scene or entry.page} · {entry.minutes:g} min"
    return (
        f'<section><img src="data:image/png;base64,{source}">'
        f"<p><small>{html.escape(title)}</small><br>{html.escape(entry.says)}</p></section>"
    )
