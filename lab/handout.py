"""A lecture on paper: each scene as it stands on the stage, and below it what the lecturer says."""

import base64
import html
import math
from pathlib import Path

from lab import lecture
from lab.errors import UserError

WIDTH, HEIGHT, NOTES = 1920, 1080, 260  # pixels of a page: the stage, and under it the notes
NEEDS = "A PDF needs Chromium and Playwright: pip install -c constraints.txt -e '.[dev]'."
STYLE = f"""
@page {{size: {WIDTH}px {HEIGHT + NOTES}px; margin: 0}}
body {{margin: 0; font: 32px/1.4 system-ui, sans-serif}}
section {{break-after: page}}
section:last-child {{break-after: auto}}
img {{display: block; width: {WIDTH}px; height: {HEIGHT}px}}
p {{margin: 0; padding: 24px 48px; white-space: pre-line; box-decoration-break: clone}}
small {{color: #666}}
"""


def export(name: str, out: Path) -> int:
    """Write the lecture as a PDF, a page a scene (notes that need more go on over the next); returns how many
    scenes there are.

    Raises:
        UserError: there is no such lecture, no browser, or no such folder; or a scene is not drawn in time.
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
    if out.is_dir() or not out.parent.is_dir():
        raise UserError(f"{out} is no file that can be made: name one in a folder that there is.")
    sheets = []
    with server() as served, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        tab.set_default_timeout(PAGE_LIMIT)
        reader = Reader(tab, served)
        for at, entry in enumerate(read.entries):
            if math.isnan(reader.open(f"{read.link(at)}&stage=1")):
                raise UserError(
                    f"{name}, scene {at + 1}: {entry.page} is not drawn in {PAGE_LIMIT / 1000:g} s."
                )
            sheets.append(sheet(tab.screenshot(), at, entry, tab.locator("h1").first.inner_text()))
        tab.goto("about:blank")
        tab.set_content(f"<style>{STYLE}</style>{''.join(sheets)}")
        tab.pdf(path=out, prefer_css_page_size=True, print_background=True)
        browser.close()
    return len(sheets)


def sheet(picture: bytes, at: int, entry: lecture.Entry, page: str) -> str:
    """One scene as HTML.

    Args:
        page: its title.
    """
    source = base64.b64encode(picture).decode()
    named = [str(at + 1), page, *([entry.scene] if entry.scene else []), f"{entry.minutes:g} min"]
    return (
        f'<section><img src="data:image/png;base64,{source}">'
        f"<p><small>{html.escape(' · '.join(named))}</small><br>{html.escape(entry.says)}</p></section>"
    )
