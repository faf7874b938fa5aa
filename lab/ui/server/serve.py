"""Open the dashboard: everything slow is done before the first reader comes."""

import gc
import sys
import threading
import time
import urllib.request
import webbrowser
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from streamlit import config
from streamlit.runtime.pages_manager import PagesManager
from streamlit.web import bootstrap, cli

from lab.figures import basic, theme
from lab.ui.background import jobs
from lab.ui.figures.wall import prepare
from lab.ui.scheduling import prefetch
from lab.ui.server import delta_messages, returning
from lab.ui.session import access

PATIENCE = 60  # seconds until the server answers
ASGI = Path(__file__).parent / "asgi.py"


def run(args: Sequence[str] = (), page: str = "") -> int:
    """Serve the dashboard until it is stopped.

    Args:
        args: options of `streamlit run`.
        page: what the browser opens, with its query; "" is Home.

    Torch, Lightning and plotly are loaded by now (this module's package imports them), so the first
    page is drawn at once.
    """
    theme.styled(basic.heatmap([[0.0]]))  # plotly loads its validators at the first figure
    # Until a script of the process has called st.navigation, Streamlit takes a folder `pages` for
    # its old kind of menu, and the first link to any page would be "not found".
    PagesManager.uses_pages_directory = False
    try:
        options = cli.main_run.make_context("lab app", [str(ASGI), *args]).params
        bootstrap.load_config_options({k: v for k, v in options.items() if k not in ("target", "args")})
        access.base()  # refuses what is no path
        delta_messages.install()
        returning.install()
        prepare()
        prefetch.start()
        jobs.start()
        # What is loaded now stays: no collection looks at it again, after every answer (167 ms each).
        gc.collect()
        gc.freeze()
        if sentence := access.start_message():
            print(sentence, flush=True)
        if page:
            print(f"The first scene: {first_address(page)}", flush=True)
            if not config.get_option("server.headless"):
                threading.Thread(target=open_browser, args=(page,), daemon=True).start()
                args = [*args, "--server.headless=true"]  # Streamlit would open Home
        cli.main(["run", str(ASGI), *args], standalone_mode=False)
    except cli.click.ClickException as error:
        print(f"lab app: {error.format_message()}", file=sys.stderr)
        return 2
    return 0


def first_address(page: str) -> str:
    """The address of a page on this machine."""
    return f"http://localhost:{config.get_option('server.port')}{access.base()}/{page}"


def open_browser(page: str) -> None:
    """Once the server answers."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with suppress(OSError), urllib.request.urlopen(first_address("_stcore/health"), timeout=5):
            webbrowser.open(first_address(page))
            return
        time.sleep(0.2)
