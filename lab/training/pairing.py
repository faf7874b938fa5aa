"""A model and its data brought together: sizes that follow from the data, what to say where none do."""

import inspect
import json
from collections.abc import Callable
from typing import Any

import torch

from datamodules.base import DataModule
from lab import settings
from lab.experiments import catalog
from modules.base import Module

NEEDED = ("event_shape", "image_shape", "num_features", "vocab_size", "tasks")

LINKED = (*NEEDED, "num_classes", "modes", "mode_sd")


def data_size(name: str) -> Callable[[DataModule], Any]:
    return lambda data: data.sizes.get(name)


def default_argument(model_class: type, name: str) -> Any:
    """The default of a constructor's argument, the class's own or one of its bases'."""
    signatures = (
        inspect.signature(vars(c)["__init__"]) for c in model_class.__mro__ if "__init__" in vars(c)
    )
    return next((s.parameters[name].default for s in signatures if name in s.parameters), None)


def model_builder(config: Any, args: list[str]) -> Callable[..., Module]:
    """A function that builds the model of a command, of the sizes that its data have.

    Raises:
        ValueError: the data lack one that the model needs, or have another than `args` give.
    """
    names = config.model.class_path, config.data.class_path
    outer, data = (name.rpartition(".")[2] for name in names)
    given = {name for key, _ in settings.pairs(args) for name in LINKED if key.endswith(f".{name}")}

    def make(model_class: type[Module], *args: Any, **kwargs: Any) -> Module:
        # of classes, a model that can do without them is told whether it has them
        needed = (*NEEDED, *(["num_classes"] if kwargs.get("conditional", True) else []))
        for name in kwargs.keys() & set(LINKED) if model_class.__name__ == outer else ():
            result, text = kwargs[name], config.model.init_args.get(name)
            if result is None and name in given:
                kwargs[name] = text
            elif result is None and name in needed and default_argument(model_class, name) is not None:
                raise ValueError(f"{outer} needs {name}, which {data} does not have: choose other data.")
            elif name in given and json.dumps(text) != json.dumps(result):
                raise ValueError(f"{name} is {text}, but {result!s:.60} in {data}: leave it out.")
        return model_class(*args, **kwargs)

    return make


def is_unknown_pair(model: Module, data: DataModule) -> bool:
    """True if both are ours and no recipe brings them together: nobody has said that they fit."""
    pair = tuple(f"{type(part).__module__}.{type(part).__qualname__}" for part in (model, data))
    ours = pair[0].startswith("modules.") and pair[1].startswith("datamodules.")
    return ours and pair not in {(recipe.module, recipe.datamodule) for recipe in catalog().values()}


def misfit_message(model: Module, data: DataModule) -> str:
    """The sentence on a model that can do nothing with the batches of these data."""
    names = [
        name
        for name, recipe in catalog().items()
        if recipe.module == f"{type(model).__module__}.{type(model).__qualname__}"
    ]
    better = f"data like those of {' or '.join(names[:2])}" if names else "other data"
    result = describe_batch(next(iter(data.train_dataloader())))
    return f"{type(model).__name__} cannot use batches of {type(data).__name__}, {result}: take {better}."


def describe_batch(batch: Any) -> str:
    """A batch in words: "64 × 1 × 8 × 8 numbers and 64 whole numbers"."""
    if isinstance(batch, torch.Tensor):
        kind = "numbers" if batch.is_floating_point() else "whole numbers"
        return " ".join([" × ".join(map(str, batch.shape)), kind])
    if isinstance(batch, bool):
        return "a yes or no"
    return " and ".join(map(describe_batch, batch)) if isinstance(batch, tuple | list) else "a graph"
