"""A page opened without a browser, and what is read from it: shared by the tests of all pages."""

import base64
import functools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from streamlit import config
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import AppTest, local_script_runner

from lab.ui.browser import wire

# What `AppTest` does anew for every answer, though it comes out the same: it looks in the metadata of all
# packages for components, and compiles the page. Both together take longer than the page itself.
manifest_scanner.scan_component_manifests = functools.cache(manifest_scanner.scan_component_manifests)
COMPILED = ScriptCache()
local_script_runner.ScriptCache = lambda: COMPILED  # type: ignore[assignment, misc]

PAGES = Path(__file__).resolve().parents[1] / "pages"
TOPICS = sorted(
    str((path.parent if path.name == "page.py" else path.with_suffix("")).relative_to(PAGES))
    for path in [*PAGES.glob("*.py"), *PAGES.glob("*/*/page.py")]
)  # "home", "autoregressive/inspector", …


def page_path(topic: str) -> Path:
    """The file of a topic, `pages/<family>/<topic>/page.py`, or of `home`, `models`, `train`."""
    room = PAGES / topic / "page.py"
    return room if room.exists() else PAGES / f"{topic}.py"


def run_page(page: str | Callable[[], None], /, *, theme: str = "light", **parameters: Any) -> AppTest:
    """A page, run once with these parameters in its link, whatever it shows.

    Args:
        page: its family and topic (`"autoregressive/inspector"`), or a function that draws one.
        theme: of the reader's browser, "light" or "dark".
        **parameters: what the link says, by the keys of the page's controls; none opens a topic with all of
            them where they stand at first.
    """
    if config.get_option("server.address") is None:
        config.set_option("server.address", "localhost")  # as `lab app` does
        config.set_option("browser.gatherUsageStats", False)
    if callable(page):
        app = AppTest.from_function(page, default_timeout=180)
    else:
        app = AppTest.from_file(str(page_path(page)), default_timeout=180)
    app.context = {"theme": theme}
    if not parameters and not callable(page):
        parameters = {"scene": 0}
    for key, value in parameters.items():
        app.query_params[key] = value if isinstance(value, list) else str(value)
    return app.run()


def go(page: AppTest, /, **parameters: Any) -> AppTest:
    """Another link to a page that is open, as Back, the clicker and a follower go there."""
    page.query_params.clear()
    page.query_params.update({key: str(value) for key, value in parameters.items()})
    page.session_state["_asked"] = dict(page.query_params)
    return page.run()


def failures(page: AppTest) -> list[str]:
    """The exceptions, with where they come from, and the errors that a page shows."""
    return ["\n".join([e.value, *e.stack_trace]) for e in page.exception] + [e.value for e in page.error]


def open_page(topic: str, /, **parameters: Any) -> AppTest:
    """`run_page`, of a page that has nothing to complain of."""
    app = run_page(topic, **parameters)
    assert not failures(app) and not app.warning, [*failures(app), *(w.value for w in app.warning)]
    return app


def open_warned(topic: str, /, **parameters: Any) -> AppTest:
    """`run_page`, of a page that warns of something in its link but does not fail."""
    app = run_page(topic, **parameters)
    assert not failures(app), failures(app)
    assert app.warning, "the page does not warn"
    return app


def finish(page: AppTest) -> AppTest:
    """Run a page until the work that it began by itself is done."""
    while any(button.label == "Cancel" for button in page.button):
        page.run()
    return page


def metrics(page: AppTest) -> dict[str, str]:
    """What the page shows as metrics, by their labels."""
    return {m.label: m.value for m in page.metric}


def equation(page: AppTest) -> str:
    """The LaTeX of a page's only equation."""
    (latex,) = page.latex
    return latex.value


def film(page: AppTest, key: str = "step") -> dict[str, Any]:
    """What the bar of a page's film says: key, count, at, captions, equations (MathML)."""
    return component(page, f"{key}-film")[0]


def figure(page: AppTest, key: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A figure of the page by its key: header (figure, alt, csv, …) and the arrays of its frames."""
    return component(page, f"figure-{key}")


def machine(page: AppTest) -> dict[str, str]:
    """The numbers that the parts of the page's machine show where its film stands."""
    header, _ = component(page, "machine")
    return dict(header["numbers"][header["at"]])


def plain(values: Any) -> list[Any]:
    """An array of a figure as a list: Plotly sends those of numbers as bytes."""
    if not isinstance(values, dict):
        return list(values)
    return np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"]).tolist()  # type: ignore[no-any-return]


def component(page: AppTest, key: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """What Python has sent to one of our own components."""
    for element in page.get("bidi_component"):
        if element.proto.id.endswith(f"-{key}") or f"-{key}-" in element.proto.id:
            return wire.unpack(element.proto.bytes)
    raise LookupError(f"the page has no component {key}")


def move(page: AppTest, key: str, value: float) -> AppTest:
    """Move a slider or a film, as the browser does."""
    page.session_state[f"_held:{key}"] = str(value)
    page.session_state[f"_own:{key}"] = True
    return page.run()


def scenes(page: AppTest) -> dict[str, Any]:
    """The scenes of a page, by name."""
    return dict(page.session_state["_scenes"]) if "_scenes" in page.session_state else {}


def captions(page: AppTest) -> str:
    """All captions, one below the other."""
    return "\n".join(c.value for c in page.caption)


def prose(page: AppTest) -> str:
    """All running text, one paragraph below the other."""
    return "\n".join(m.value for m in page.markdown)


def warnings(page: AppTest) -> str:
    """All warnings, one below the other."""
    return "\n".join(w.value for w in page.warning)


def table_with(page: AppTest, column: str) -> pd.DataFrame:
    """The first table that has a column of this name."""
    return next(t.value for t in page.dataframe if column in t.value.columns)


def numbers(latex: str) -> list[float]:
    """The numbers with decimals, but those in labels below a symbol."""
    bare = re.sub(r"_\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}", "", latex)
    return [float(v) for v in re.findall(r"-?\d+\.\d+", bare)]


def spoken(mathml: str) -> list[float]:
    """The numbers with decimals of a film's equation (MathML), with the signs before them."""
    tokens = re.sub(r"<[^>]*>", " ", mathml).replace("&#x02212;", "-").replace("−", "-")
    return [float(v.replace(" ", "")) for v in re.findall(r"-?\s*\d+\.\d+", tokens)]
