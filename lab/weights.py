"""Save and load trained weights: safetensors plus a card. Nothing is ever unpickled.

A card names the model's class and its constructor arguments; only classes of `modules` can be
built from it, and only from plain values, so a card from a stranger runs nothing.
"""

import errno
import hashlib
import importlib
import json
import os
import re
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load as safetensors_load
from safetensors.torch import save as safetensors_save
from torch import Tensor

from lab import experiments
from lab.errors import UserError
from modules.base import Module

CLASS_PATH = re.compile(r"modules(\.[a-z_0-9]+)+\.[A-Z]\w*")


class WeightsError(UserError):
    """Weights or card that cannot be used; the sentence says why."""


def write(path: Path, data: bytes) -> None:
    """Write a file whole or not at all.

    Raises:
        UserError: the disk is full or the folder cannot be written; what was there is untouched.
    """
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(part, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError as error:
        part.unlink(missing_ok=True)
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        why = "the disk is full: free some space" if full else f"{error.strerror}: choose another folder"
        raise UserError(f"Cannot save {path}: {why} and save again.") from error


def model_config(model: Module) -> dict[str, Any]:
    """Class path and constructor arguments from which `build` makes the same model again."""
    cls = type(model)
    init_args = {name: plain(value) for name, value in model.hparams.items()}
    return {"class_path": f"{cls.__module__}.{cls.__qualname__}", "init_args": init_args}


def plain(value: Any) -> Any:
    """`value` as JSON knows it.

    Raises:
        TypeError: it is no number, text, list or mapping of such.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    raise TypeError(f"a model's constructor takes plain values only, not {type(value).__name__}")


def save(folder: Path, model: Module, card: dict[str, Any], dtype: torch.dtype = torch.float32) -> None:
    """Write `model.safetensors` and `card.json` into `folder`; the card gains class, digest and dtype."""
    tensors = {
        name: (t.to(dtype) if t.is_floating_point() else t).detach().cpu().contiguous()
        for name, t in unique_tensors(model).items()
    }
    data = safetensors_save(tensors)
    card = {
        **card,
        "config": {**card.get("config", {}), "model": model_config(model)},
        "parameters": model.num_parameters,
        "dtype": str(dtype).removeprefix("torch."),
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    write(folder / "model.safetensors", data)
    write(folder / "card.json", as_json(card))


def as_json(card: dict[str, Any]) -> bytes:
    return (json.dumps(card, indent=2, ensure_ascii=False) + "\n").encode()


def unique_tensors(model: Module) -> dict[str, Tensor]:
    """The state, tied weights once (under their first name)."""
    seen: dict[int, str] = {}
    return {
        name: t
        for name, t in model.state_dict(keep_vars=True).items()
        if seen.setdefault(id(t), name) == name
    }


def load(source: str | Path) -> Module:
    """A trained model in evaluation mode.

    Args:
        source: an experiment's name (zoo first, then the newest own run) or a folder.

    Raises:
        UserError: no such experiment, no weights yet, or weights that cannot be trusted.
    """
    folder = Path(source)
    if not (folder / "card.json").is_file():
        experiment = experiments.find(str(source))
        if experiment.weights is None:
            raise WeightsError(
                f"{experiment.name} has no trained weights yet: run `lab fit {experiment.name}` first."
            )
        folder = experiment.weights
    card = read_card(folder)
    model = build(card, folder)
    path = folder / "model.safetensors"
    try:
        tensors = safetensors_load(path.read_bytes())
    except (OSError, SafetensorError) as error:
        raise WeightsError(
            f"{path} is not a whole safetensors file ({error}): train or copy it again."
        ) from None
    fill(model, tensors, path)
    return model.eval()


def read_card(folder: Path) -> dict[str, Any]:
    """The card in `folder`, checked to be a mapping with a model config."""
    path = folder / "card.json"
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(card["config"]["model"]["class_path"], str):
            raise TypeError
    except (OSError, ValueError, KeyError, TypeError):
        raise WeightsError(f"{path} is not a card: it names no model. Train or copy it again.") from None
    return card


def build(card: dict[str, Any], origin: Path | str = "card") -> Module:
    """The card's model with fresh parameters.

    Raises:
        WeightsError: the card names anything but a model of this project, or wrong arguments.
    """
    config = card["config"]["model"]
    name, init_args = config["class_path"], config.get("init_args") or {}
    refusal = WeightsError(f"{origin} names {name!r}, which is no model of Lectern: nothing was run.")
    if not CLASS_PATH.fullmatch(name):
        raise refusal
    module_name, _, class_name = name.rpartition(".")
    try:
        cls = getattr(importlib.import_module(module_name), class_name)
    except (ImportError, AttributeError):
        raise refusal from None
    if not (isinstance(cls, type) and issubclass(cls, Module) and cls.__module__.startswith("modules.")):
        raise refusal
    try:
        return cls(**{key: plain(value) for key, value in init_args.items()})
    except (TypeError, ValueError, RuntimeError) as error:
        raise WeightsError(f"{origin} does not fit {name}: {error}") from None


def fill(model: Module, tensors: dict[str, Tensor], origin: Path) -> None:
    """Copy tensors into the model, names and shapes checked; half precision becomes the model's own.

    Raises:
        WeightsError: names or shapes of another model.
    """
    model.make_room(tensors)
    own = unique_tensors(model)
    if missing := sorted(own.keys() ^ tensors.keys()):
        raise WeightsError(
            f"{origin} holds the weights of another model than {type(model).__name__}: "
            f"{missing[0]!r} does not match."
        )
    for name, target in own.items():
        if tensors[name].shape != target.shape:
            raise WeightsError(
                f"{origin} does not fit {type(model).__name__}: {name!r} has shape "
                f"{tuple(tensors[name].shape)} instead of {tuple(target.shape)}."
            )
    model.load_state_dict(tensors, strict=False)  # tied weights are stored once, and names are checked above


def read_checkpoint(path: Path) -> dict[str, Any]:
    """A Lightning checkpoint, read without unpickling code.

    Raises:
        WeightsError: no such file, cut short, or holding anything but tensors and plain values.
    """
    if not path.is_file():
        raise WeightsError(f"There is no checkpoint {path}: check the path.")
    try:
        checkpoint = torch.load(path, map_location="cpu", weights_only=True)
    except Exception:  # torch raises many kinds; all mean the same to the user
        raise WeightsError(
            f"{path} is no checkpoint that can be read safely: cut short, or holding code. Nothing was run."
        ) from None
    if not isinstance(checkpoint, dict) or not isinstance(checkpoint.get("state_dict"), dict):
        raise WeightsError(f"{path} is not a Lightning checkpoint: it has no state_dict.")
    return checkpoint


def check_checkpoint(path: Path, model: Module) -> None:
    """Refuse a checkpoint of another model before anything of it is used.

    Raises:
        WeightsError: names or shapes differ from the model's.
    """
    state = read_checkpoint(path)["state_dict"]
    model.make_room(state)
    own = model.state_dict()
    wrong = next((k for k in own.keys() | state.keys() if k not in own or k not in state), None)
    wrong = wrong or next((k for k in own if own[k].shape != state[k].shape), None)
    if wrong:
        raise WeightsError(
            f"{path} is a checkpoint of another model than {type(model).__name__}: {wrong!r} does not match."
        )
