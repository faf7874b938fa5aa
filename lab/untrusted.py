"""Text from anybody: JSON and YAML, read in bounded memory and judged before they are built, and the classes
that it names, judged before they are imported or called. No torch here."""

import errno
import importlib
import importlib.util
import json
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any

import yaml

from lab.errors import UserError

MOST_TEXT = 1 << 18  # bytes of a YAML; the longest of ours has some thousand
MOST_JSON = 1 << 23  # bytes of a card; a vocabulary of 50,000 tokens takes 2 million
MOST_ROWS = 1 << 25  # bytes of a metrics.csv: some hundred thousand epochs
MOST_DEPTH = 64  # collections within collections

# libyaml's parser where it is there: the same events, ten times faster
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


OURS = ("modules", "datamodules", "lab")
PACKAGES = (*OURS, "torch", "lightning", "torchmetrics", "torch_geometric")
TRUSTED: set[str] = set()  # modules: the files that the command names by --trust


class Refused(UserError):
    """Text that is valid but that nobody writes who means well; the sentence says why."""


def opened(path: Path) -> BufferedReader:
    """A file to read.

    Raises:
        OSError: it cannot be read, or is a pipe, which may never answer, or a device, which may never end.
    """
    if stat.S_IFMT(os.stat(path).st_mode) not in (stat.S_IFREG, stat.S_IFDIR):  # a folder `open` refuses
        raise OSError(errno.EINVAL, "it is a pipe or a device", str(path))
    return open(path, "rb")


def read(path: Path, most: int) -> bytes:
    """A file's bytes.

    Raises:
        OSError: see `opened`.
        Refused: it is longer than `most` bytes.
    """
    with opened(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise Refused(f"{path} has more than {most:,} bytes: that is too much for this kind of file.")
    return data


def read_end(path: Path, most: int) -> bytes:
    """The last `most` bytes of a file, or all that it has.

    Raises:
        OSError: see `opened`.
    """
    with opened(path) as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - most))
        return file.read(most)


def parse_json(text: str | bytes) -> Any:
    """Value that a JSON text holds.

    Raises:
        ValueError: no JSON, text that is no UTF-8, nested too deeply, or a key given twice.
    """
    try:
        return json.loads(text, object_pairs_hook=once)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """A mapping, of which JSON would silently keep the last of equal keys."""
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        raise ValueError("a key is given twice")
    return mapping


def check_yaml(text: str, origin: Path | str) -> None:
    """Walk through a YAML's events, which takes no memory, before anything is built of them.

    Raises:
        Refused: an alias (a few lines of them stand for billions of values), deep nesting, or a key
            given twice, of which YAML would silently keep the last.
        yaml.YAMLError: no valid YAML.
    """
    # of every open collection: the keys so far (None in a list), and how many nodes it has
    keys: list[set[str] | None] = []
    nodes: list[int] = []
    for event in yaml.parse(text, Loader=LOADER):
        if isinstance(event, yaml.AliasEvent):
            raise Refused(f"{origin} has the alias *{event.anchor}: write the value out.")
        if isinstance(event, yaml.NodeEvent) and keys:
            own, is_key = keys[-1], nodes[-1] % 2 == 0
            nodes[-1] += 1
            if own is not None and is_key and isinstance(event, yaml.ScalarEvent):
                if event.value in own:
                    raise Refused(f"{origin} gives the key {event.value!r} twice: keep one.")
                own.add(event.value)
        if isinstance(event, yaml.CollectionStartEvent):
            keys.append(set() if isinstance(event, yaml.MappingStartEvent) else None)
            nodes.append(0)
            if len(keys) > MOST_DEPTH:
                raise Refused(f"{origin} is nested deeper than {MOST_DEPTH} levels: flatten it.")
        elif isinstance(event, yaml.CollectionEndEvent):
            keys.pop()
            nodes.pop()


@contextmanager
def trusting(files: Sequence[str]) -> Iterator[list[str]]:
    """Inside, classes of these files may be named, `net.Net` of net.py; yields the modules. They are imported
    in order.

    Raises:
        UserError: no Python file, a name that another module has, or a file that cannot be imported.
    """
    names: list[str] = []
    try:
        for file in files:
            path = Path(file).absolute()
            name = path.stem
            if path.suffix != ".py" or not name.isidentifier() or name[0] == "_" or not path.is_file():
                raise UserError(f"--trust {file} is no Python file: name one such as net.py.")
            there = importlib.util.find_spec(name)
            if there is not None and there.origin != str(path):
                raise UserError(
                    f"--trust {file}: there is another module {name} already, so rename the file."
                )
            spec = importlib.util.spec_from_file_location(name, path)
            assert spec is not None and spec.loader is not None  # it ends in .py
            names.append(name)
            TRUSTED.add(name)
            sys.modules[name] = module = importlib.util.module_from_spec(spec)
            try:
                spec.loader.exec_module(module)
            except Exception as error:
                raise UserError(
                    f"--trust {file} cannot be imported: {type(error).__name__}: {error}."
                ) from error
        yield names
    finally:
        for name in names:
            TRUSTED.discard(name)
            sys.modules.pop(name, None)


def is_named_safely(name: str, packages: Sequence[str] = PACKAGES) -> bool:
    """Check whether a dotted name is of one of these packages, or of a file that the command trusts."""
    parts = name.split(".")
    return len(parts) > 1 and all(map(str.isidentifier, parts)) and parts[0] in (*packages, *TRUSTED)


def find_class(
    name: str,
    kind: type | tuple[type, ...],
    noun: str,
    origin: Path | str,
    packages: Sequence[str] = PACKAGES,
) -> Any:
    """The class of that name. Nothing is imported but what is of `packages` or trusted.

    Args:
        kind: what it is a subclass of.
        noun: the same in words.
        origin: who names it.

    Raises:
        Refused: a class of elsewhere, none, or one of another kind.
    """
    refusal = Refused(f"{origin} names {name!r}, which is no {noun}: nothing was run.")
    if not is_named_safely(name, packages):
        raise refusal
    module, _, attribute = name.rpartition(".")
    try:
        result = getattr(importlib.import_module(module), attribute)
    except Exception:  # some modules of torch raise others where a part of the machine is missing
        raise refusal from None
    # a module holds what it imports too: `modules.base.L.Trainer` is not ours
    safe = isinstance(result, type) and is_named_safely(f"{result.__module__}.{result.__name__}", packages)
    if not (safe and issubclass(result, kind)):
        raise refusal
    return result
