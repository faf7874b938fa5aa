"""`lab import`: a language model in the format of Hugging Face becomes one of this project's own.

    lab import gpt2/ [--name my-gpt2]

A folder holds `config.json`, the tokenizer (`tokenizer.json`, or `vocab.json` and `merges.txt`) and the
weights (`model.safetensors`, or several such files with their index). The tensors are copied under the names
of our own module into the folder of runs, with a card; nothing is unpickled, names and shapes are judged from
the headers before any number is read, and one tensor is in memory at a time. The dashboard lists the model
then.

GPT-2 keeps its matrices as inputs × outputs and y = xW; ours are outputs × inputs, y = xWᵀ.

References: Radford et al. 2019 (GPT-2); the safetensors format.
"""

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

import torch
import yaml
from torch import Tensor

from datamodules.tokenizer import BPETokenizer, Tokenizer
from lab import experiments, files, tensorfile, untrusted, weights
from lab.errors import UserError
from lab.parser import Parser

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,60}")
MERGES = ("vocab.json", "merges.txt")
WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"


class ImportRefused(UserError):
    """A folder that cannot be taken over; the sentence says why."""


@dataclass(frozen=True)
class Source:
    """Where a tensor of ours comes from: the name that it has there, and whether it is transposed."""

    name: str
    transposed: bool = False


@dataclass(frozen=True)
class Plan:
    """What becomes of a folder.

    Attributes:
        class_path, init_args: our model.
        tensors: our name -> where it comes from.
        ignored: pattern of other names that hold no weights of the model.
    """

    class_path: str
    init_args: dict[str, Any]
    tensors: dict[str, Source]
    ignored: re.Pattern[str]


def run(args: list[str]) -> None:
    """Parse `lab import <folder> [--name NAME]`, take the model over, and say where it is.

    Raises:
        UserError: see `take_over`.
    """
    parser = Parser(
        prog="lab import",
        description="Take over a GPT-2 from a folder in the format of Hugging Face: config.json, "
        "tokenizer.json and model.safetensors.",
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--name", help="what it is called here; the folder's name unless told")
    options = parser.parse_args(args)
    name = options.name or options.folder.resolve().name.lower().replace(".", "-").replace(" ", "-")
    place = take_over(options.folder, name)
    card = experiments.read_card(place)
    print(f"{name}: {card['parameters']:,} parameters in {place}.")
    print(f"`lab app` lists it in Attention and Text sampling, `lab sample {name}` draws from it.")


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
    if kind not in PLANS:
        raise ImportRefused(f"{folder} holds a model of type {kind!r}: {', '.join(PLANS)} can be imported.")
    plan, coder = PLANS[kind](config, folder), read_tokenizer(folder)
    if len(coder) != plan.init_args["vocab_size"]:
        raise ImportRefused(
            f"{folder}: the tokenizer has {len(coder):,} tokens, the model {plan.init_args['vocab_size']:,}."
        )
    place = home / datetime.now().strftime("%Y%m%d-%H%M%S-%f")
    try:
        with ExitStack() as stack:
            origin = {}
            for path in weight_files(folder):
                file, header = stack.enter_context(weights.opened(path))
                for tensor in header.tensors:
                    origin[tensor] = (file, header)
            read = Renamed(plan, origin, folder)
            digest = write(place / WEIGHTS, read.shapes, read)
        card = card_of(name, plan, coder, digest, folder)
        files.write(place / "card.json", weights.as_json(card))
        parameters = weights.load(place).num_parameters  # all that `load` refuses is refused here
        files.write(place / "card.json", weights.as_json({**card, "parameters": parameters}))
        files.write(home / "tokenizer.json", tokenizer_json(coder))
        recipe = {
            "model": card["config"]["model"],
            "data": {
                "class_path": "datamodules.text.Text",
                "init_args": {
                    "corpus": "pydocs",
                    "tokenizer": str(home / "tokenizer.json"),
                    "context": min(128, plan.init_args["context"]),
                },
            },
        }
        files.write(home / experiments.IMPORTED, yaml.safe_dump(recipe, sort_keys=False).encode())
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise
    return place


# --- The folder -----------------------------------------------------------------------------------


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file.

    Raises:
        ImportRefused: there is none.
    """
    try:
        value = untrusted.parse_json(untrusted.read(path, untrusted.MOST_JSON))
    except FileNotFoundError:
        raise ImportRefused(f"There is no file {path}: name a folder of Hugging Face's format.") from None
    except (OSError, ValueError) as error:
        raise ImportRefused(f"{path} cannot be read as JSON: {error}.") from None
    if not isinstance(value, dict):
        raise ImportRefused(f"{path} holds no JSON object.")
    return value


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


def read_tokenizer(folder: Path) -> Tokenizer:
    """Byte pairs of a GPT-2, from `tokenizer.json`, or from `vocab.json` and `merges.txt`.

    Raises:
        ImportRefused: there is neither, or it is no byte-level BPE.
    """
    path = folder / "tokenizer.json"
    if not path.is_file() and not all((folder / name).is_file() for name in MERGES):
        raise ImportRefused(f"{folder} has neither tokenizer.json nor {' and '.join(MERGES)}.")
    try:
        text = untrusted.read(path, untrusted.MOST_JSON).decode() if path.is_file() else from_merges(folder)
        coder = BPETokenizer(text)
    except Exception as error:  # the tokenizers library raises bare Exceptions
        raise ImportRefused(f"The tokenizer in {folder} is no byte-level BPE: {error}.") from None
    probe = "A line, two  spaces\n"
    if coder.decode(coder.encode(probe)) != probe:
        raise ImportRefused(f"The tokenizer in {folder} changes text: only byte-level BPE is taken over.")
    return coder


def from_merges(folder: Path) -> str:
    """JSON of the library, made of the two files of the original GPT-2."""
    import tokenizers
    from tokenizers import decoders, models, pre_tokenizers

    vocab = {str(k): int(v) for k, v in read_json(folder / "vocab.json").items()}
    lines = untrusted.read(folder / "merges.txt", untrusted.MOST_JSON).decode().splitlines()
    pairs = [line.partition(" ")[::2] for line in lines if line and not line.startswith("#version")]
    library = tokenizers.Tokenizer(models.BPE(vocab=vocab, merges=pairs))
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    library.decoder = decoders.ByteLevel()
    return library.to_str()


def tokenizer_json(coder: Tokenizer) -> bytes:
    return weights.as_json(coder.to_dict()["model"])


# --- Tensors under our names ------------------------------------------------------------------------


class Renamed:
    """Tensors of a folder under our names: shapes at once, numbers one tensor at a time.

    Raises:
        ImportRefused: a tensor is missing, or one is left over.
    """

    def __init__(self, plan: Plan, origin: Mapping[str, Any], folder: Path) -> None:
        # the same model is stored with and without a name for the whole of it
        self.prefix = "transformer." if any(n.startswith("transformer.") for n in origin) else ""
        self.plan, self.origin = plan, origin
        wanted = {name: self.there(source) for name, source in plan.tensors.items()}
        if missing := sorted(set(wanted.values()) - origin.keys()):
            raise ImportRefused(f"{folder} does not fit its config.json: {missing[0]!r} is missing.")
        over = [n for n in sorted(origin.keys() - set(wanted.values())) if not plan.ignored.search(n)]
        if over:
            raise ImportRefused(f"{folder} does not fit its config.json: {over[0]!r} is left over.")
        self.shapes = {}
        for name, source in plan.tensors.items():
            shape = origin[wanted[name]][1].tensors[wanted[name]]
            if source.transposed and shape.ndim != 2:
                raise ImportRefused(f"{folder}: {wanted[name]!r} is no matrix.")
            self.shapes[name] = shape.T if source.transposed else shape

    def there(self, source: Source) -> str:
        """The name of a tensor in the folder."""
        return source.name if source.name.startswith("lm_head.") else self.prefix + source.name

    def __call__(self, name: str) -> Tensor:
        source = self.plan.tensors[name]
        file, header = self.origin[self.there(source)]
        tensor = tensorfile.read(file, header, self.there(source))
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


def card_of(name: str, plan: Plan, coder: Tokenizer, digest: str, folder: Path) -> dict[str, Any]:
    """The card of an imported model: it says where it is from; without metrics, as nothing was measured."""
    return {
        "experiment": name,
        "family": plan.class_path.split(".")[1],
        "config": {
            "model": {"class_path": plan.class_path, "init_args": plan.init_args},
            "data": {"class_path": "datamodules.text.Text"},
        },
        "data": {"name": "Text", "corpus": "imported", "tokenizer": coder.to_dict()},
        "metrics": {},
        "imported": {"folder": folder.resolve().name, "torch": torch.__version__},
        "date": date.today().isoformat(),
        "sha256": digest,
    }


# --- GPT-2 ------------------------------------------------------------------------------------------

ACTIVATIONS = {
    "gelu_new": "gelu-tanh", "gelu_pytorch_tanh": "gelu-tanh", "gelu": "gelu", "relu": "relu", "silu": "silu",
    "swish": "silu",
}  # fmt: skip


def gpt2(config: Mapping[str, Any], folder: Path) -> Plan:
    """A GPT-2 as a `GPT`: learned positions, pre-norm, biases everywhere, tanh-GELU.

    Raises:
        ImportRefused: a setting that `GPT` has not.
    """
    for key in ("scale_attn_by_inverse_layer_idx", "add_cross_attention"):
        if config.get(key):
            raise ImportRefused(f"{folder / 'config.json'} sets {key}, which no model here has.")
    layers = whole(config, "n_layer", 12, folder)
    activation = config.get("activation_function", "gelu_new")
    if activation not in ACTIVATIONS:
        raise ImportRefused(f"{folder / 'config.json'} has the activation {activation!r}: we lack it.")
    epsilon = config.get("layer_norm_epsilon", 1e-5)
    if not isinstance(epsilon, int | float) or not epsilon >= 0:
        raise ImportRefused(
            f"{folder / 'config.json'} has layer_norm_epsilon: {epsilon!r}, not a small number."
        )
    tied = bool(config.get("tie_word_embeddings", True))
    init_args = {
        "vocab_size": whole(config, "vocab_size", 50257, folder),
        "context": whole(config, "n_positions", 1024, folder),
        "layers": layers,
        "heads": whole(config, "n_head", 12, folder),
        "width": whole(config, "n_embd", 768, folder),
        "positions": "learned",
        "activation": ACTIVATIONS[activation],
        "bias": True,
        "tied": tied,
        "bos": whole(config, "bos_token_id", 50256, folder, least=0),
        "feedforward_width": config.get("n_inner"),
        "eps": epsilon,
        "scaled": bool(config.get("scale_attn_weights", True)),
    }
    tensors = {"embedding.weight": Source("wte.weight"), "stack.positions.table": Source("wpe.weight")}
    for l in range(layers):
        ours, theirs = f"stack.blocks.{l}", f"h.{l}"
        for own, other in PARTS.items():
            tensors[f"{ours}.{own}.weight"] = Source(f"{theirs}.{other}.weight", "ln_" not in other)
            tensors[f"{ours}.{own}.bias"] = Source(f"{theirs}.{other}.bias")
    tensors |= {f"stack.final_norm.{k}": Source(f"ln_f.{k}") for k in ("weight", "bias")}
    if not tied:
        tensors["head.weight"] = Source("lm_head.weight")
    # masks are stored beside the weights, and the tied head may be there a second time
    ignored = r"\.attn\.(bias|masked_bias)$" + (r"|^lm_head\.weight$" if tied else "")
    return Plan("modules.transformer.gpt.GPT", init_args, tensors, re.compile(ignored))


PARTS = {
    "mixer_norm": "ln_1", "mixer.qkv": "attn.c_attn", "mixer.proj": "attn.c_proj",
    "feedforward_norm": "ln_2", "feedforward.up": "mlp.c_fc", "feedforward.down": "mlp.c_proj",
}  # fmt: skip
MOST_LAYERS = 1000


def whole(config: Mapping[str, Any], key: str, default: int, folder: Path, least: int = 1) -> int:
    """A whole number of config.json.

    Raises:
        ImportRefused: it is none, or out of range.
    """
    value = config.get(key, default)
    most = MOST_LAYERS if key == "n_layer" else 10**7
    if type(value) is not int or not least <= value <= most:
        raise ImportRefused(f"{folder / 'config.json'} has {key}: {value!r}, not from {least} to {most:,}.")
    return value


PLANS: dict[str, Callable[[Mapping[str, Any], Path], Plan]] = {"gpt2": gpt2}
