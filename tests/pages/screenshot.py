"""Pictures of the running dashboard.

python tests/pages/screenshot.py                       # .github/dashboard.png, shown in the README
python tests/pages/screenshot.py --all FOLDER          # every page, wide and narrow, light and dark
python tests/pages/screenshot.py --page "models" --out models.png --width 390 --dark
"""

import argparse
import shutil
import tempfile
from pathlib import Path

from browsing import FLAGS, ROOT, Visit, serve
from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from lab import ui

README = "transformer-attention?head=4,2"


def shoot(
    browser: Browser, dashboard: str, page: str, out: Path, width: int, scheme: str, height: int | None = 900
) -> None:
    """Save what a page looks like; `height` None takes the whole page."""
    visit = Visit(browser, dashboard, width, scheme)
    tab = visit.open(page)
    if height is None:
        height = tab.evaluate("() => document.querySelector('[data-testid=stMain]').scrollHeight")
    tab.set_viewport_size({"width": width, "height": height})
    visit.settle()
    tab.wait_for_timeout(1000)  # figures take their new width
    visit.settle()
    out.parent.mkdir(parents=True, exist_ok=True)
    tab.screenshot(path=out)
    visit.context.close()
    picture = Image.open(out).convert("RGB")
    picture.save(out, optimize=True)
    print(f"{out}: {picture.width} x {picture.height}, {out.stat().st_size / 1000:.0f} kB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--all", type=Path, metavar="FOLDER")
    parser.add_argument("--page", default=README, help="address below the dashboard's, with parameters")
    parser.add_argument("--out", type=Path, default=ROOT / ".github" / "dashboard.png")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--height", type=int, default=720)
    parser.add_argument("--dark", action="store_true")
    options = parser.parse_args()
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        parser.error("no Chromium here: install it first.")
    with (
        tempfile.TemporaryDirectory() as folder,
        sync_playwright() as playwright,
        serve(Path(folder) / "runs", Path(folder) / "log.txt") as dashboard,
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        if options.all:
            for page in ("", "teaching", "models", "train", *(p.url for p in ui.pages())):
                for width, scheme in ((1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")):
                    out = options.all / f"{page or 'home'}-{width}-{scheme}.png"
                    shoot(browser, dashboard, page, out, width, scheme, height=None)
        else:
            scheme = "dark" if options.dark else "light"
            shoot(browser, dashboard, options.page, options.out, options.width, scheme, options.height)
        browser.close()


if __name__ == "__main__":
    main()
