"""Trained models on a page: picked, loaded once per process, with their cards."""

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any, TypeVar

import streamlit as st
import torch

from lab import experiments, weights
from lab.runs import number, read_rows
from lab.ui.controls.widgets import choice
from lab.ui.page.blocks import stop
from modules.base import Module

F = TypeVar("F", bound=Callable[..., Any])


def experiment(
    label: str = "Model",
    *,
    family: str | None = None,
    key: str = "model",
    default: str | None = None,
    only: Callable[[experiments.Experiment], bool] | None = None,
) -> str:
    """Pick one of the trained models: the zoo's, and the reader's own runs as `name/time`.

    Args:
        only: which experiments fit the page; of own runs, as they were trained. See `lab.lenses.surfaces`.
    """
    names = trained(family, only)
    if not names:
        stop(f"No trained model of the family {family} yet: run `lab list`, then `lab fit` one of them.")
    return choice(label, names, key=key, default=default, as_list=True)


def trained(
    family: str | None = None,
    only: Callable[[experiments.Experiment], bool] | None = None,
    first: Sequence[str] = (),
    also: Sequence[str] = (),
) -> list[str]:
    """Names of trained models: the zoo's by experiment, own runs by `experiment/time`.

    Args:
        first: those that a page has for examples, in their order; all others follow.
        also: names of other things that a page offers beside them.
    """
    names, with_runs = [*also], experiments.with_runs()
    for name, entry in experiments.listed().items():
        if family is not None and entry.family != family:
            continue
        if name not in with_runs and only is not None and not only(entry):
            continue  # before its files are looked for: a page asks all with every answer
        for folder in entry.weight_folders():
            if only is None or only(entry.trained_in(folder)):
                names.append(name if folder.parent == experiments.ZOO else f"{name}/{folder.name}")
    return [*(n for n in first if n in names), *(n for n in names if n not in first)]


def folder(name: str) -> Path:
    """The folder of a trained model picked by `experiment`."""
    base, _, run = name.partition("/")
    entry = experiments.find(base)
    for place in entry.weight_folders():
        if (not run and place.parent == experiments.ZOO) or place.name == run:
            return place
    stop(f"{name} has no trained weights: run `lab fit {base}` first.")


def recipe(name: str) -> experiments.Experiment:
    """The experiment of a trained model, as it was trained."""
    return experiments.find(name.partition("/")[0]).trained_in(folder(name))


def spelled(name: str) -> str:
    """The folder of a trained model as a program on a page finds it, with `experiments` imported."""
    base, _, run = name.partition("/")
    if folder(name).parent == experiments.ZOO:
        return f'experiments.ZOO / "{base}"'
    return f'next(f for f in experiments.run_folders("{base}") if f.name == "{run}")'


def weights_digest(place: Path) -> str:
    """Digest of the weights and the card that a folder holds now; "" where there are none.

    A run that is resumed writes them anew: what was computed from the old ones is then out of date.
    """
    try:
        return _state(*(file_stamp(place / name) for name in ("model.safetensors", "card.json")))
    except OSError:
        return ""


def file_stamp(path: Path) -> tuple[str, int, int, int]:
    """A stamp that tells a file from the one that is written over it, without reading it."""
    known = path.stat()
    return str(path), known.st_mtime_ns, known.st_size, known.st_ino


@lru_cache(maxsize=1024)
def _state(*marks: tuple[str, int, int, int]) -> str:
    """The files are read again only when their marks have changed."""
    result = hashlib.sha256()
    for path, *_ in marks:
        with open(path, "rb") as file:
            result.update(hashlib.file_digest(file, "sha256").digest())
    return result.hexdigest()


# What the cached function that is running now has read: folder -> its state then.
_read: ContextVar[dict[Path, str] | None] = ContextVar("read", default=None)


def record_dependency(read: Mapping[Path, str]) -> None:
    """Tell the cached function that is running, if any, what its result depends on."""
    if (known := _read.get()) is not None:
        known.update(read)


def are_unchanged(read: Mapping[Path, str]) -> bool:
    """True if all weights that were read are still the same."""
    return all(weights_digest(place) == then for place, then in read.items())


@contextmanager
def record_reads(read: dict[Path, str]) -> Iterator[None]:
    """Note in `read` which weights are looked at meanwhile, and how they are."""
    token = _read.set(read)
    try:
        yield
    finally:
        _read.reset(token)
        record_dependency(read)


def load(name: str) -> Any:
    """The trained model, of the class its card names; loaded once per process, in evaluation mode. Do not
    change it."""
    place = folder(name)
    now = weights_digest(place)
    record_dependency({place: now})
    return _load(str(place), now)


@st.cache_resource(show_spinner="Loading the model …", max_entries=16)
def _load(place: str, state: str) -> Module:
    return weights.load(place).requires_grad_(False)


def card(name: str) -> dict[str, Any]:
    """The card of the trained model."""
    place = folder(name)
    record_dependency({place: weights_digest(place)})
    return weights.read_card(place)


def history(name: str) -> dict[str, list[float]]:
    """The learning curves of a trained model: column of metrics.csv -> values; gaps are NaN."""
    return read_history(folder(name))


def read_history(place: Path) -> dict[str, list[float]]:
    """The columns of the `metrics.csv` in a folder, NaN where a cell has no number; empty where there is no
    such file, or none that counts epochs."""
    rows = read_rows(place / "metrics.csv")
    if not rows or "epoch" not in rows[0]:
        return {}
    cells = {column: [number(row[column]) for row in rows] for column in rows[0] if column}
    return {c: [math.nan if value is None else value for value in values] for c, values in cells.items()}


def digest(tensor: torch.Tensor) -> bytes:
    t = tensor.detach().cpu().contiguous()
    return hashlib.sha256(f"{t.dtype}{tuple(t.shape)}".encode() + t.numpy().tobytes()).digest()


HASHES: dict[str | type[Any], Callable[[Any], Any]] = {torch.Tensor: digest}


def cached(function: F) -> F:
    """Keep results of a heavy function, keyed by its arguments (numbers, texts, tensors) and by the weights
    that it loads: a run that is written anew is seen.

    All readers get the same object: do not change it. Give it the model's name rather than the model; an
    argument whose name starts with `_` is no part of the key.
    """

    @wraps(function)
    def noted(*args: Any, **kwargs: Any) -> tuple[Any, dict[Path, str]]:
        read: dict[Path, str] = {}
        with record_reads(read):
            return function(*args, **kwargs), read

    kept = st.cache_resource(show_spinner="Computing …", max_entries=128, hash_funcs=HASHES)(noted)

    @wraps(function)
    def current(*args: Any, **kwargs: Any) -> Any:
        result, read = kept(*args, **kwargs)
        if not are_unchanged(read):
            kept.clear(*args, **kwargs)
            result, read = kept(*args, **kwargs)
        record_dependency(read)
        return result

    return current  # type: ignore[return-value]
