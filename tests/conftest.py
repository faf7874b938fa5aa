"""What all tests share: one thread a worker, no network, and what a machine may lack.

A test that needs real data or a browser asks for the fixture of it: it runs wherever they are, is
skipped where they are not, and fails there when `LECTERN_REQUIRE_DATA=1` or
`LECTERN_REQUIRE_BROWSER=1` say that they must be.
"""

import gc
import importlib.util
import ipaddress
import math
import os
import re
import resource
import shutil
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import psutil
import pytest

# Before torch is imported: the workers share the cores, and one thread makes sums reproducible.
for _variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_variable] = "1"
# Programs that a test starts find no network either: a proxy where nobody listens.
for _variable in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"):
    os.environ[_variable] = "http://127.0.0.1:9"
os.environ["no_proxy"] = os.environ["NO_PROXY"] = "localhost,127.0.0.1,::1"
os.environ["HF_HUB_OFFLINE"] = "1"

import hypothesis  # noqa: E402
import torch  # noqa: E402

torch.set_num_threads(1)

pytest_plugins = ["tests.processor"]

# A file of each data set that is there only when the whole set is.
REAL_DATA = {
    "MNIST": "MNIST/raw/train-images-idx3-ubyte*",
    "FashionMNIST": "FashionMNIST/raw/train-images-idx3-ubyte*",
    "Cora": "Planetoid/Cora/raw/ind.cora.graph",
    "Citeseer": "Planetoid/Citeseer/raw/ind.citeseer.graph",
    "MUTAG": "TUDataset/MUTAG/raw/MUTAG_A.txt",
    "PROTEINS": "TUDataset/PROTEINS/raw/PROTEINS_A.txt",
    "ENZYMES": "TUDataset/ENZYMES/raw/ENZYMES_A.txt",
    "tinyshakespeare": "tinyshakespeare/input.txt",
    "multi30k": "multi30k/train.en.gz",
    "multi30k-de": "multi30k/train.de.gz",
    "multi30k-fr": "multi30k/train.fr.gz",
    "mnist1d": "mnist1d/mnist1d_data.pkl",
}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


class NoNetwork(ConnectionError):
    """A test tried to reach another host."""


def _is_here(host: Any) -> bool:
    if host in ("localhost", "", None, b"localhost"):
        return True
    try:
        address = ipaddress.ip_address(host.decode() if isinstance(host, bytes) else host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


@pytest.fixture(scope="session", autouse=True)
def offline() -> Any:
    """Sockets to other hosts fail; the machine itself can be reached."""
    patch = pytest.MonkeyPatch()
    connect, connect_ex, getaddrinfo = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def guard(address: Any) -> None:
        # AF_UNIX addresses are plain names of files: they stay on the machine
        if isinstance(address, tuple) and not _is_here(address[0]):
            raise NoNetwork(f"no network in tests: {address[0]} was asked for")

    def guarded_connect(self: socket.socket, address: Any) -> None:
        guard(address)
        return connect(self, address)

    def guarded_connect_ex(self: socket.socket, address: Any) -> int:
        guard(address)
        return connect_ex(self, address)

    def guarded_getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
        if not _is_here(host):
            raise socket.gaierror(socket.EAI_NONAME, f"no network in tests: {host} was asked for")
        return getaddrinfo(host, *args, **kwargs)

    patch.setattr(socket.socket, "connect", guarded_connect)
    patch.setattr(socket.socket, "connect_ex", guarded_connect_ex)
    patch.setattr(socket, "getaddrinfo", guarded_getaddrinfo)
    yield
    patch.undo()


def _absent(what: str, variable: str) -> NoReturn:
    if os.environ.get(variable) == "1":
        pytest.fail(f"{what}, and {variable}=1 says that it must be there.", pytrace=False)
    pytest.skip(what)


@pytest.fixture(scope="session")
def real_data() -> Callable[[str], Path]:
    """`real_data("MNIST")` -> the folder `$LECTERN_DATA`, after making sure that it holds that set."""

    def folder(name: str) -> Path:
        if name not in REAL_DATA:
            raise KeyError(f"{name} is no known data set: {', '.join(REAL_DATA)}.")
        root = Path(os.environ.get("LECTERN_DATA") or "~/.cache/lectern").expanduser()
        # a fetch that failed leaves its lock, and one that was cut off its first part
        if all(path.suffix in (".lock", ".part") for path in root.glob(REAL_DATA[name])):
            _absent(f"{name} is not in {root}", "LECTERN_REQUIRE_DATA")
        return root

    return folder


@pytest.fixture(autouse=True)
def nothing_left_running() -> Iterator[None]:
    """A test leaves no process group open, over which torchmetrics would reduce in the tests to come, and no
    dashboard, which would answer their pages before their work is done; and what a trainer has forbidden
    to torch is allowed again."""
    yield
    torch.use_deterministic_algorithms(False)
    assert not torch.distributed.is_initialized(), "the test has left a process group open"
    if "lab.ui" in sys.modules:
        from lab.ui.background import jobs
        from lab.ui.scheduling import prefetch

        assert jobs.patience == math.inf, "the test has started the dashboard in its own process"
        assert not any(t.name == prefetch.NAME for t in threading.enumerate()), "and its thread goes on"


@pytest.fixture
def little_memory() -> Iterator[None]:
    """The test may take 256 MiB more than it has; what asks for more fails."""
    taken = psutil.Process().memory_info().vms
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (taken + 2**28, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of the Chromium that Playwright drives: `launch(executable_path=chromium)`."""
    result = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if result is None:
        _absent(f"no browser here ({', '.join(BROWSERS)})", "LECTERN_REQUIRE_BROWSER")
    if importlib.util.find_spec("playwright") is None:
        _absent("Playwright is not installed", "LECTERN_REQUIRE_BROWSER")
    return result


# Files whose tests start programs or whole pages: seconds each.
SLOW = ("test_readme.py", "test_training.py", "test_runs.py")


# What a level runs: everything but the marks named here; soak runs what is marked for it alone.
LEVEL = os.environ.get("LEVEL", "quick")
LEFT_OUT = {"quick": ("heavy", "soak"), "all": ("soak",)}
# How many examples a fuzz test tries at each level.
EXAMPLES = {"quick": 50, "all": 100, "soak": 10_000}

hypothesis.settings.register_profile(
    LEVEL,
    max_examples=EXAMPLES[LEVEL],
    deadline=None,  # no test asserts on a clock
    database=None,  # nothing is left in the working tree
    derandomize=LEVEL != "soak",  # the same examples on every machine
    phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],  # a smaller example takes minutes to find
    suppress_health_check=[hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.function_scoped_fixture],
)
hypothesis.settings.load_profile(LEVEL)


def runs_at(level: str, item: pytest.Item) -> bool:
    """Whether a test belongs to the level."""
    marks = {mark.name for mark in item.iter_markers()}
    if level == "soak":
        return bool(marks & {"soak", "fuzz"})
    return not marks & set(LEFT_OUT[level])


def topic(item: pytest.Item) -> str:
    """The page that a test is of, "flow/coupling"; "" for none: its parameter `topic`, or its file's name."""
    parameters = getattr(item, "callspec", None)
    if parameters is not None and "topic" in parameters.params:
        return str(parameters.params["topic"])
    own = re.fullmatch(r"test_(\w+)_page\.py", item.path.name)
    return f"{item.path.parent.name}/{own[1]}" if own else ""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what the level leaves out, and put the rest in order.

    Longest first, so that workers end together: the browser's tests, the slow files, then the pages. Tests of
    one page follow each other, whatever their file, as a worker computes what it shows once.

    `--dist worksteal` deals out neighbours, so one worker alone starts the browser and its dashboard.
    """

    def rank(item: pytest.Item) -> tuple[int, str]:
        if item.get_closest_marker("browser"):
            return 0, ""
        if page := topic(item):
            return 2, page
        return 1 if item.path.name in SLOW else 3, ""

    chosen = [item for item in items if runs_at(LEVEL, item)]
    stay = set(chosen)
    if left_out := [item for item in items if item not in stay]:
        config.hook.pytest_deselected(items=left_out)
    items[:] = chosen
    items.sort(key=rank)  # stable: the order within a rank stays


def pytest_collection_finish() -> None:
    """Take what is imported by now out of Python's search for garbage, which goes through all there is."""
    gc.collect()
    gc.freeze()
