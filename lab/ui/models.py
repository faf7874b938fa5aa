"""Trained models on a page: picked, loaded once per process, with their cards."""

import csv
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import streamlit as st
import torch

from lab import experiments, weights
from lab.ui.controls import choice
from lab.ui.page import stop
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
        only: which experiments fit the page, e.g. `lambda e: e.module.endswith("GPT")`.
    """  # fmt: skip
    names = trained(family, only)
    if not names:
        stop(f"No trained model of the family {family} yet: run `lab list`, then `lab fit` one of them.")
    return choice(label, names, key=key, default=default, as_list=True)


def trained(
    family: str | None = None, only: Callable[[experiments.Experiment], bool] | None = None
) -> list[str]:
    """Names of trained models: the zoo's by experiment, own runs by `experiment/time`."""
    names = []
    for name, entry in experiments.catalog().items():
        if (family is None or entry.family == family) and (only is None or only(entry)):
            names += [name if folder.parent == experiments.ZOO else f"{name}/{folder.name}"
                      for folder in entry.weight_folders()]  # fmt: skip
    return names


def folder(name: str) -> Path:
    """The folder of a trained model picked by `experiment`."""
    base, _, run = name.partition("/")
    entry = experiments.find(base)
    for place in entry.weight_folders():
        if (not run and place.parent == experiments.ZOO) or place.name == run:
            return place
    stop(f"{name} has no trained weights: run `lab fit {base}` first.")


def stamp(place: Path) -> float:
    return (place / "model.safetensors").stat().st_mtime


def load(name: str) -> Any:
    """The trained model, of the class its card names; loaded once per process, in evaluation mode. Do not
    change it."""
    place = folder(name)
    return _load(str(place), stamp(place))


@st.cache_resource(show_spinner="Loading the model …", max_entries=16)
def _load(place: str, stamp: float) -> Module:
    return weights.load(place).requires_grad_(False)


def card(name: str) -> dict[str, Any]:
    """What is known of the trained model."""
    return weights.read_card(folder(name))


def history(name: str) -> dict[str, list[float]]:
    """The learning curves of a trained model: column of metrics.csv -> values; gaps are NaN."""
    return read_history(folder(name))


def read_history(place: Path) -> dict[str, list[float]]:
    """The columns of the `metrics.csv` in a folder; empty where there is none."""
    try:
        with open(place / "metrics.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except OSError:
        return {}
    return {c: [float(row[c] or "nan") for row in rows] for c in rows[0]} if rows else {}


def digest(tensor: torch.Tensor) -> bytes:
    t = tensor.detach().cpu().contiguous()
    return hashlib.sha256(f"{t.dtype}{tuple(t.shape)}".encode() + t.numpy().tobytes()).digest()


def cached(function: F) -> F:
    """Keep results of a heavy function, keyed by its arguments (numbers, texts, tensors).

    Give it the model's name rather than the model; an argument whose name starts with `_` is no
    part of the key.
    """
    hashes: dict[str | type[Any], Callable[[Any], Any]] = {torch.Tensor: digest}
    return st.cache_data(show_spinner="Computing …", max_entries=128, hash_funcs=hashes)(function)  # type: ignore[return-value]
