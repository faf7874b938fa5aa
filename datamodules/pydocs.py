"""The Python documentation that comes inside every Python: the language reference's topics
(`pydoc_data.topics`, what `help("for")` shows) and the docstrings of the standard library.

The text is nearly, not exactly, the same in every minor version of Python: the list of modules is
fixed, the order goes by a hash of each document's name (a new document does not move the others),
and every character is made printable ASCII. The card records the version and the hash of the text.
"""

import ast
import hashlib
import importlib
import re
import sysconfig
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from datamodules.fetch import MissingData

# Pure Python modules that every supported version has, with more than a few docstrings.
# fmt: off
MODULES = (
    "_pydecimal", "argparse", "ast", "base64", "calendar", "cmd", "code", "collections/__init__",
    "configparser", "contextlib", "csv", "dataclasses", "difflib", "dis", "doctest", "email/message",
    "email/policy", "enum", "fileinput", "fractions", "ftplib", "functools", "heapq", "http/client",
    "http/cookies", "imaplib", "inspect", "ipaddress", "json/__init__", "json/decoder", "json/encoder",
    "logging/__init__", "logging/config", "logging/handlers", "mailbox", "mimetypes", "operator",
    "optparse", "os", "pdb", "pickle", "pickletools", "platform", "plistlib", "poplib", "pprint",
    "profile", "pydoc", "queue", "random", "sched", "selectors", "shelve", "shutil", "smtplib", "socket",
    "socketserver", "ssl", "statistics", "string", "subprocess", "tarfile", "tempfile", "textwrap",
    "threading", "timeit", "tokenize", "trace", "traceback", "turtle", "types", "typing",
    "unittest/case", "unittest/mock", "urllib/parse", "urllib/request", "uuid", "warnings", "weakref",
    "xml/etree/ElementTree", "zipfile",
)
# fmt: on

ASCII = str.maketrans(
    {"“": '"', "”": '"', "‘": "'", "’": "'", "–": "-", "—": "--", "…": "...", "\t": "    ", "\r": None}
)


def _docstrings(module: str) -> str:
    """Docstrings of a module, in the order of the file; the file is parsed, not imported."""
    path = Path(sysconfig.get_path("stdlib")) / f"{module}.py"
    if not path.exists():
        return ""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [node for node in _statements(ast.parse(path.read_bytes())) if isinstance(node, documented)]
    return "\n\n".join(filter(None, map(ast.get_docstring, nodes)))


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """A node and the statements in it, in the order of the file, without their expressions."""
    yield node
    for block in ("body", "handlers", "orelse", "finalbody", "cases"):
        for child in getattr(node, block, ()):
            yield from _statements(child)


def _documents() -> Iterator[tuple[str, str]]:
    try:
        topics: dict[str, str] = importlib.import_module("pydoc_data.topics").topics
    except ImportError:  # some distributions split it off
        topics = {}
    yield from ((f"topic {name}", text) for name, text in topics.items())
    yield from ((f"module {name}", _docstrings(name)) for name in MODULES)


@cache
def text() -> str:
    """The corpus: printable ASCII and newlines. Takes a second or two.

    Raises:
        MissingData: this Python was installed without its documentation and sources.
    """
    result, paragraphs = set(), []
    documents = sorted(_documents(), key=lambda d: hashlib.sha256(d[0].encode()).digest())
    for _, document in documents:
        # topics quote each other at length: what stands in training must not come again in the test
        for paragraph in document.translate(ASCII).split("\n\n"):
            plain = re.sub(r"[^\n -~]", "", paragraph.strip("\n").rstrip())
            if plain.strip() and plain.strip() not in result:
                result.add(plain.strip())
                paragraphs.append(plain)
    if len(paragraphs) < 1000:
        raise MissingData(
            "This Python comes without its documentation (pydoc_data/topics.py) and the sources of its "
            f"library in {sysconfig.get_path('stdlib')}: use a full Python, or gpt-shakespeare."
        )
    return "\n\n".join(paragraphs) + "\n"
