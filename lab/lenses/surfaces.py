"""Surfaces of a model and its data: a page admits every experiment that has the surface it needs."""

import inspect
from functools import lru_cache
from typing import Any

from datamodules.base import DataModule
from lab import untrusted
from lab.experiments import Experiment, find
from modules.base import Module


def class_of(entry: Experiment, part: str = "model") -> type[Any]:
    """The class of the model or of the data; `object` where it is none of ours."""
    return resolve(entry.module, Module) if part == "model" else resolve(entry.datamodule, DataModule)


@lru_cache(maxsize=512)
def resolve(name: str, kind: type) -> type[Any]:
    try:
        known: type[Any] = untrusted.find_class(name, kind, kind.__name__, "", untrusted.OURS)
    except untrusted.Refused:
        return object
    return known


def is_a(entry: Experiment, *kinds: type, part: str = "model") -> bool:
    return issubclass(class_of(entry, part), kinds)


def keeps(entry: Experiment, kind: type, *methods: str) -> bool:
    """Check whether it is a `kind` whose `methods` are those of `kind` itself."""
    known = class_of(entry)
    return issubclass(known, kind) and all(getattr(known, m) is getattr(kind, m) for m in methods)


def option(entry: Experiment, name: str, part: str = "model") -> Any:
    """The value of a constructor's argument, said or by default; None where there is no such argument."""
    text = entry.config[part].get("init_args") or {}
    cls: type = class_of(entry, part)
    return text[name] if name in text else default(cls, name)


@lru_cache(maxsize=4096)
def default(cls: type, name: str) -> Any:
    """Default of a constructor's argument; some pass the rest on to their parent's by **."""
    for kind in inspect.getmro(cls):
        known = inspect.signature(kind).parameters.get(name)
        if known is not None and known.default is not inspect.Parameter.empty:
            return known.default
    return None


def alike(entry: Experiment, other: str, *names: str) -> bool:
    """Check whether these options of the model are those of another experiment."""
    shown = find(other)
    return all(plain(option(entry, name)) == plain(option(shown, name)) for name in names)


def plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def of_digits(entry: Experiment, binarize: str, side: int = 8) -> bool:
    """Check whether its data are scikit-learn's digits as a page of these has them: all ten, in their
    size."""
    return (
        entry.datamodule == "datamodules.digits.Digits"
        and option(entry, "binarize", "data") == binarize
        and option(entry, "image_size", "data") == side
        and option(entry, "exclude", "data") is None
    )
