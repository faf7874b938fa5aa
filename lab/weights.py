"""Save and load trained weights: safetensors (see `tensorfile`) plus a card. Nothing is ever unpickled.

A card names the model's class and its constructor arguments; only classes of `modules` can be
built from it, and only from plain values, so a card from a stranger runs nothing. The model takes no
more memory than the file beside it answers for, and the file's numbers are read last.
"""

import hashlib
import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from lab import experiments, memory, tensorfile, untrusted
from lab.errors import UserError
from lab.files import is_damaged, write
from lab.seeding import seeded
from modules.base import Module

# What a small model takes besides its numbers, and the least of whatever a size may be.
SMALL, LEAST_BOUND = 2**26, 10**6


class WeightsError(UserError):
    """Weights or card that cannot be used; the sentence says why."""


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
    data = tensorfile.save(tensors)
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
    if not os.path.isfile(folder / "card.json"):  # False too for a name longer than a path can be
        experiment = experiments.find(str(source))
        if experiment.weights is None:
            raise WeightsError(
                f"{experiment.name} has no trained weights yet: run `lab fit {experiment.name}` first."
            )
        folder = experiment.weights
    card, path = read_card(folder), folder / "model.safetensors"
    with opened(path) as (file, header):
        size = sum(t.nbytes for t in header.tensors.values())
        check_sizes(card, header.tensors, folder)
        with memory.Bounded(min(SMALL + 16 * size, memory.available())):
            model = build(card, folder)
            check_tensors(model, model.present_names(header.tensors), path)
        file.seek(0)
        if hashlib.file_digest(file, "sha256").hexdigest() != card.get("sha256"):
            raise WeightsError(f"{path} is not the file that its card describes: copy or train both again.")
        fill(model, file, header, path)
    return model.eval()


def taken(place: Path, data: Mapping[str, Any]) -> str:
    """The line that says which weights a command takes, a folder's or a checkpoint, and of which data."""
    shipped = " (shipped)" if place.parent == experiments.ZOO else ""
    texts = [f"{k} {v}" for k, v in (data.get("init_args") or {}).items() if isinstance(v, str)]
    name = ", ".join([data["class_path"].rpartition(".")[2], *texts])
    return f"Weights: {place}{shipped}. Data: {name}."


@contextmanager
def opened(path: Path) -> Iterator[tuple[BufferedReader, tensorfile.Header]]:
    """A file of tensors and what its header says; of its numbers none is read yet.

    Raises:
        WeightsError: no whole safetensors file.
    """
    with ExitStack() as stack:
        try:
            file = stack.enter_context(untrusted.opened(path))
            header = tensorfile.read_header(file, os.fstat(file.fileno()).st_size)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError) as error:
            raise not_whole(path, error) from None
        yield file, header


def not_whole(path: Path, why: Exception) -> WeightsError:
    return WeightsError(f"{path} is not a whole safetensors file ({why}): train or copy it again.")


def check_sizes(card: dict[str, Any], stored: Mapping[str, Tensor], origin: Path) -> None:
    """Refuse sizes beyond what the stored numbers can belong to, before a constructor counts to them.

    Raises:
        WeightsError: a number among the model's arguments, or the product of a shape, is too large.
    """
    bound = max(LEAST_BOUND, sum(t.numel() for t in stored.values()))
    for name, value in (card["config"]["model"].get("init_args") or {}).items():
        numbers = list(numbers_in(value))
        largest = math.prod(numbers) if name.endswith("_shape") else max(numbers, default=0)
        if name != "seed" and abs(largest) > bound:
            raise WeightsError(
                f"{origin} says {name}: {short(value)}, for which the weights beside it are too small."
            )


def numbers_in(value: Any) -> Iterator[int]:
    """All whole numbers in nested lists."""
    if isinstance(value, int):
        yield value
    elif isinstance(value, list):
        for entry in value:
            yield from numbers_in(entry)


def short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def read_card(folder: Path) -> dict[str, Any]:
    """The card in `folder`, checked to name a model.

    Raises:
        WeightsError: there is none, or no card of a model.
    """
    return experiments.read_card(folder)


def build(card: dict[str, Any], origin: Path | str = "card") -> Module:
    """The card's model with fresh parameters.

    Raises:
        UserError: the card names anything but a model of this project, or wrong arguments.
    """
    config = card["config"]["model"]
    name, init_args = config["class_path"], config.get("init_args") or {}
    cls = untrusted.find_class(name, Module, "model of Lectern", origin, ("modules",))
    try:
        return seeded(lambda: cls(**{key: plain(value) for key, value in init_args.items()}))
    except (TypeError, ValueError, LookupError, ArithmeticError, RuntimeError) as error:
        raise WeightsError(f"{origin} does not fit {name}: {error}") from None


def check_tensors(model: Module, stored: Mapping[str, Tensor], origin: Path) -> None:
    """Refuse tensors that are not the model's: names, shapes, and kinds of numbers.

    Floating point is stored in any precision, whole numbers in any length.

    Args:
        stored: on any device, the meta device too.

    Raises:
        WeightsError: the first that differs, and how.
    """
    model.resize_buffers(stored)
    own = unique_tensors(model)
    if missing := sorted(own.keys() ^ stored.keys()):
        raise WeightsError(
            f"{origin} holds the weights of another model than {type(model).__name__}: "
            f"{missing[0]!r} does not match."
        )
    for name, target in own.items():
        if stored[name].shape != target.shape:
            raise WeightsError(
                f"{origin} does not fit {type(model).__name__}: {name!r} has shape "
                f"{tuple(stored[name].shape)} instead of {tuple(target.shape)}."
            )
        kinds = [(t.is_floating_point(), t.dtype == torch.bool) for t in (stored[name], target)]
        if kinds[0] != kinds[1]:
            raise WeightsError(
                f"{origin} does not fit {type(model).__name__}: {name!r} is of {stored[name].dtype} "
                f"instead of {target.dtype}."
            )


def fill(model: Module, file: BufferedReader, header: tensorfile.Header, origin: Path) -> None:
    """Copy the tensors of a file into the model that `check_tensors` has checked, one after the other; half
    precision becomes the model's own.

    Raises:
        WeightsError: damaged numbers, or one that is NaN or infinite.
    """
    stored = model.present_names({name: name for name in header.tensors})
    for name, tensor in unique_tensors(model).items():
        try:
            tensorfile.read_into(file, header, stored[name], tensor.detach())
        except ValueError as error:
            raise not_whole(origin, error) from None
        if not all(piece.isfinite().all() for piece in tensor.flatten().split(tensorfile.PIECE)):
            raise WeightsError(f"{origin} has a NaN or infinite number in {name!r}: train or copy it again.")
    model.load_state_dict(unique_tensors(model), strict=False)  # some prepare what follows from their tensors


def read_checkpoint(path: Path) -> dict[str, Any]:
    """A Lightning checkpoint, read without unpickling code.

    Raises:
        WeightsError: no such file, damaged, or holding anything but tensors and plain values.
    """
    if not path.is_file():
        raise WeightsError(f"There is no checkpoint {path}: check the path.")
    if is_damaged(path):
        others = sorted(path.parent.glob("*.ckpt"), key=lambda p: p.stat().st_mtime, reverse=True)
        whole = next((p for p in others if p != path and not is_damaged(p)), None)
        hint = f"the newest whole one beside it is {whole}" if whole else "there is no other beside it"
        raise WeightsError(f"{path} is damaged, cut short or changed since it was saved: {hint}.")
    try:
        checkpoint = torch.load(path, map_location="cpu", weights_only=True)
    except Exception:  # torch raises many kinds; all mean the same to the user
        raise WeightsError(
            f"{path} is no checkpoint that can be read safely: cut short, or holding code. Nothing was run."
        ) from None
    wanted = ("state_dict", "pytorch-lightning_version", "epoch", "global_step", "loops")
    missing = next((k for k in wanted if not isinstance(checkpoint, dict) or k not in checkpoint), None)
    if missing or not isinstance(checkpoint["state_dict"], dict):
        raise WeightsError(f"{path} is not a Lightning checkpoint: it has no {missing or 'state_dict'}.")
    return checkpoint


def check_checkpoint(path: Path, model: Module) -> None:
    """Refuse a checkpoint of another model before anything of it is used.

    Raises:
        WeightsError: names or shapes differ from the model's.
    """
    check_fits(read_checkpoint(path)["state_dict"], model, f"{path} is a checkpoint")


def check_fits(state: Mapping[str, Tensor], model: Module, what: str) -> None:
    """
    Args:
        what: begins the sentence.

    Raises:
        WeightsError: names or shapes of `state` differ from the model's.
    """
    state = model.present_names(state)
    model.resize_buffers(state)
    own = model.state_dict()
    wrong = next((k for k in own.keys() | state.keys() if k not in own or k not in state), None)
    wrong = wrong or next((k for k in own if own[k].shape != state[k].shape), None)
    if wrong:
        raise WeightsError(f"{what} of another model than {type(model).__name__}: {wrong!r} does not match.")
