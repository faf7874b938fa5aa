"""`lab import`: a language model in the format of Hugging Face becomes one of this project's own.

    lab import gpt2/ [--name my-gpt2]

A folder holds a GPT-2 or a BERT: `config.json`, the tokenizer (`tokenizer.json`, or `vocab.json` and
`merges.txt`, or `vocab.txt`) and the weights (`model.safetensors`, or several such files with their index).
The tensors are copied under the names of our own module into the folder of runs, with a card; nothing is
unpickled, names and shapes are judged from the headers before any number is read, and one tensor is in memory
at a time. The dashboard lists the model then. What becomes of which kind of model: `lab.hugging_face`.

References: the safetensors format.
"""

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from datetime import date, datetime
from pathlib import Path
from typing import Any

import torch
import yaml
from torch import Tensor

from lab import experiments, files, tensorfile, weights
from lab.hugging_face import PLANS, USES, ImportRefused, Plan, Source, read_json
from lab.parser import Parser

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,60}")
WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"


def run(args: list[str]) -> None:
    """Parse `lab import <folder> [--name NAME]`, take the model over, and say where it is.

    Raises:
        UserError: see `take_over`.
    """
    parser = Parser(
        prog="lab import",
        description="Take over a GPT-2 or a BERT from a folder in the format of Hugging Face: config.json, "
        "tokenizer.json and model.safetensors.",
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--name", help="what it is called here; the folder's name unless told")
    options = parser.parse_args(args)
    name = options.name or options.folder.resolve().name.lower().replace(".", "-").replace(" ", "-")
    place = take_over(options.folder, name)
    card = experiments.read_card(place)
    print(f"{name}: {card['parameters']:,} parameters in {place}.")
    print(USES[card["config"]["model"]["class_path"]].format(name=name))


def take_over(folder: Path, name: str) -> Path:
    """Copy a model into the folder of runs, under `name`; returns where its weights and card are.

    Raises:
        ImportRefused: a name that is taken or no name, a folder without one of its files, a kind of model or
            a setting that our modules have not, or tensors that do not fit.
    """
    if not NAME.fullmatch(name):
        raise ImportRefused(
            f"{name!r} cannot be a name: take lower-case letters, digits, - and _, as in --name my-gpt2."
        )
    if name in experiments.recipes():
        raise ImportRefused(f"{name} is an experiment of the catalog: choose another name by --name.")
    home = experiments.runs_folder() / name
    if any(home.glob("*")) and name not in experiments.imports():
        raise ImportRefused(f"{home} holds runs of your own {name}: choose another name by --name.")
    config = read_json(folder / "config.json")
    kind = config.get("model_type")
    if not isinstance(kind, str) or kind not in PLANS:
        raise ImportRefused(f"{folder} holds a model of type {kind!r}: {', '.join(PLANS)} can be imported.")
    place = home / datetime.now().strftime("%Y%m%d-%H%M%S-%f")
    try:
        with ExitStack() as stack:
            origin = {}
            for path in weight_files(folder):
                file, header = stack.enter_context(weights.opened(path))
                for tensor in header.tensors:
                    origin[tensor] = (file, header)
            plan = PLANS[kind](config, origin, folder)
            tokens, size = len(plan.coder), plan.init_args["vocab_size"]
            if tokens != size:
                raise ImportRefused(f"{folder}: the tokenizer has {tokens:,} tokens, the model {size:,}.")
            read = Renamed(plan, origin, folder)
            digest = write(place / WEIGHTS, read.shapes, read)
        card = card_of(name, plan, digest, folder)
        files.write(place / "card.json", weights.as_json(card))
        parameters = weights.load(place).num_parameters  # all that `load` refuses is refused here
        files.write(place / "card.json", weights.as_json({**card, "parameters": parameters}))
        files.write(home / "tokenizer.json", weights.as_json(plan.coder.to_dict()["model"]))
        args = {"corpus": "pydocs", "tokenizer": str(home / "tokenizer.json"), **plan.data_args}
        recipe = {
            "model": card["config"]["model"],
            "data": {"class_path": plan.data, "init_args": args},
        }
        files.write(home / experiments.IMPORTED, yaml.safe_dump(recipe, sort_keys=False).encode())
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise
    return place


# --- The folder -----------------------------------------------------------------------------------


def weight_files(folder: Path) -> list[Path]:
    """The files of tensors in a folder: one, or all that an index names.

    Raises:
        ImportRefused: there is none, or the index names a file of elsewhere.
    """
    if (folder / WEIGHTS).is_file():
        return [folder / WEIGHTS]
    if not (folder / INDEX).is_file():
        raise ImportRefused(
            f"{folder} has no {WEIGHTS}: other formats may run code when they are read, so save the model "
            "with safe_serialization=True."
        )
    places = read_json(folder / INDEX).get("weight_map")
    names = set(places.values()) if isinstance(places, dict) else set()
    if not names or not all(isinstance(n, str) and n == os.path.basename(n) for n in names):
        raise ImportRefused(f"{folder / INDEX} names no files of this folder.")
    if missing := sorted(n for n in names if not (folder / n).is_file()):
        raise ImportRefused(f"{folder} lacks {missing[0]}, which its index names: copy it too.")
    return [folder / n for n in sorted(names)]


# --- Tensors under our names ------------------------------------------------------------------------


class Renamed:
    """Tensors of a folder under our names: shapes at once, numbers one tensor at a time.

    Raises:
        ImportRefused: a tensor is missing, or one is left over.
    """

    def __init__(self, plan: Plan, origin: Mapping[str, Any], folder: Path) -> None:
        self.plan, self.origin = plan, origin
        wanted = {name for source in plan.tensors.values() for name in source.names}
        if missing := sorted(wanted - origin.keys()):
            raise ImportRefused(f"{folder} does not fit its config.json: {missing[0]!r} is missing.")
        if over := [n for n in sorted(origin.keys() - wanted) if not plan.ignored.search(n)]:
            raise ImportRefused(f"{folder} does not fit its config.json: {over[0]!r} is left over.")
        self.shapes = {}
        for name, source in plan.tensors.items():
            parts = [origin[part][1].tensors[part] for part in source.names]
            if source.transposed and parts[0].ndim != 2:
                raise ImportRefused(f"{folder}: {source.names[0]!r} is no matrix.")
            try:
                self.shapes[name] = as_ours(source, parts)
            except RuntimeError:
                raise ImportRefused(f"{folder}: {', '.join(source.names)} have not one shape.") from None

    def __call__(self, name: str) -> Tensor:
        source, parts = self.plan.tensors[name], []
        for part in source.names:
            file, header = self.origin[part]
            parts.append(tensorfile.read(file, header, part))
        return as_ours(source, parts)


def as_ours(source: Source, parts: Sequence[Tensor]) -> Tensor:
    """Parts one below the other, or the one that there is, transposed where it is kept so."""
    tensor = torch.cat([*parts]) if len(parts) > 1 else parts[0]
    return tensor.T if source.transposed else tensor


def write(path: Path, shapes: Mapping[str, Tensor], read: Callable[[str], Tensor]) -> str:
    """Write tensors one after the other; returns the digest of the file.

    Raises:
        ImportRefused: the disk is full, the folder cannot be written, or numbers cannot be read.
    """
    digest = hashlib.sha256()
    try:
        path.parent.mkdir(parents=True)
        with open(path, "wb") as file:
            for part in tensorfile.stream(shapes, read):
                file.write(part)
                digest.update(part)
    except (OSError, ValueError) as error:
        raise ImportRefused(f"The weights cannot be copied to {path}: {error}.") from None
    return digest.hexdigest()


def card_of(name: str, plan: Plan, digest: str, folder: Path) -> dict[str, Any]:
    """The card of an imported model: it says where it is from; without metrics, as nothing was measured."""
    return {
        "experiment": name,
        "family": plan.class_path.split(".")[1],
        "config": {
            "model": {"class_path": plan.class_path, "init_args": plan.init_args},
            "data": {"class_path": plan.data},
        },
        "data": {
            "name": plan.data.rpartition(".")[2],
            "corpus": "imported",
            "tokenizer": plan.coder.to_dict(),
        },
        "metrics": {},
        "imported": {"folder": folder.resolve().name, "torch": torch.__version__},
        "date": date.today().isoformat(),
        "sha256": digest,
    }
