"""What the server answers besides Streamlit, and what it does not."""

from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Mount
from starlette.testclient import TestClient

from lab.ui.browser.components import JS, PLOTLY
from lab.ui.server import routes


@pytest.fixture(scope="module")
def client() -> TestClient:
    return TestClient(Starlette(routes=routes.ROUTES), base_url="http://lectern.test")


def test_plotly_is_served_for_ever_under_its_version(client: TestClient) -> None:
    answer = client.get(f"/{PLOTLY}")
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/javascript")
    assert answer.content == routes.PLOTLY_JS.read_bytes()
    assert "immutable" in answer.headers["cache-control"]
    assert client.get("/lectern/plotly-0.0.0.js").status_code == 404


@pytest.mark.parametrize("name", sorted(path.name for path in JS.glob("*.js")))
def test_a_module_is_served_and_asked_for_again(client: TestClient, name: str) -> None:
    answer = client.get(f"/lectern/js/{name}")
    assert answer.status_code == 200 and answer.content == (JS / name).read_bytes()
    assert answer.headers["cache-control"] == "no-cache"
    again = client.get(f"/lectern/js/{name}", headers={"If-None-Match": answer.headers["etag"]})
    assert again.status_code == 304 and not again.content


@pytest.mark.parametrize(
    "path",
    ["%2e%2e/routes.py", "..%2froutes.py", "%2e%2e%2f%2e%2e%2f%2e%2e%2fapp.py", "/etc/passwd",
     "%2fetc%2fpasswd", "..%5croutes.py", "film.js%00.css", "", ".", "nothing.js"],
)  # fmt: skip
def test_nothing_outside_the_modules_can_be_read(client: TestClient, path: str) -> None:
    answer = client.get(f"/lectern/js/{path}")
    assert answer.status_code in (400, 404), answer.text


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "in.js").write_text("1")
    (tmp_path / "out.js").symlink_to(routes.PLOTLY_JS)
    served = TestClient(Starlette(routes=[Mount("/", routes.Modules(directory=tmp_path))]))
    assert served.get("/in.js").text == "1"
    assert served.get("/out.js").status_code == 404


@pytest.mark.parametrize(
    ("address", "leads"),
    [("/flow/log_det?view=Series", "/flow-log-det?view=Series"), ("/a//b/c", "/a-b-c"),
     ("/flow/%2e%2e%2fx", "/flow-..-x"), ("/flow-log-det", None), ("/lectern/search.json", None),
     ("/_stcore/health", None), ("/static/js/index.js", None), ("/", None)],
)  # fmt: skip
def test_a_page_is_one_step_away(address: str, leads: str | None) -> None:
    """Deeper addresses, as of the folders, lead to it; what the server itself has there stays."""
    served = TestClient(routes.OneStep(PlainTextResponse("as it is")), follow_redirects=False)
    assert "location" not in served.get(address).headers  # no reader: Streamlit's own look for its server
    answer = served.get(address, headers={"accept": "text/html,*/*"})
    assert answer.headers.get("location") == leads
    assert (answer.text == "as it is") == (leads is None)
