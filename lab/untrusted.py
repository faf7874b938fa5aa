"""Text from anybody, read in bounded memory: JSON and YAML, judged before they are built. No torch here."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from lab.errors import UserError

MOST_TEXT = 1 << 18  # bytes of a YAML; the longest of ours has some thousand
MOST_JSON = 1 << 23  # bytes of a card; a vocabulary of 50,000 tokens takes 2 million
MOST_DEPTH = 64  # collections within collections

# libyaml's parser where it is there: the same events, ten times faster
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Refused(UserError):
    """Text that is valid but that nobody writes who means well; the sentence says why."""


def read(path: Path, most: int) -> bytes:
    """A file's bytes.

    Raises:
        OSError: it cannot be read.
        Refused: it is longer than `most` bytes.
    """
    with open(path, "rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise Refused(f"{path} has more than {most:,} bytes: that is too much for this kind of file.")
    return data


def parse_json(text: str | bytes) -> Any:
    """What a JSON text holds.

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


def judge_yaml(text: str, origin: Path | str) -> None:
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
