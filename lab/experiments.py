"""The catalog: experiment name -> config, card, weights. Imports no torch, so it answers at once."""

import copy
import difflib
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import yaml

from lab import renames, untrusted
from lab.errors import UserError

FAMILIES = (
    "foundations", "autoregressive", "language", "recurrent", "transformer", "convolution",
    "graph", "latent", "flow", "adversarial", "diffusion",
)  # fmt: skip

LAB = Path(__file__).parent
CONFIGS = LAB / "configs"
ZOO = LAB / "zoo"
IMPORTED = "experiment.yaml"  # among own runs: the recipe of a model that `lab import` took over

# Datamodules (or corpora of theirs) that read files; all others are embedded.
REAL_DATA = {
    "datamodules.links.CitationLinks",
    "datamodules.mnist.MNIST",
    "datamodules.pairs.MNISTPairs",
    "datamodules.scattered.ScatteredMNIST",
    "datamodules.multi30k.Multi30k",
    "datamodules.planetoid.Planetoid",
    "datamodules.tu.TU",
    "datamodules.translation.Translation",
}
EMBEDDED_CORPORA = {"pydocs", "relations", "senses"}


def runs_folder() -> Path:
    """Folder into which training runs are written: $LECTERN_RUNS, else `runs` in the current folder."""
    return Path(os.path.abspath(os.environ.get("LECTERN_RUNS", "runs")))


@dataclass(frozen=True)
class Experiment:
    """A named training recipe and what is known of its trained weights.

    Attributes:
        name: e.g. "made-mnist".
        family: one of FAMILIES; "own" for a user's own file.
        path: the YAML.
    """

    name: str
    family: str
    path: Path

    @cached_property
    def config(self) -> dict[str, Any]:
        """The YAML as written: only what differs from the defaults. Do not change it."""
        return shared_yaml(self.path)

    @property
    def module(self) -> str:
        return class_path(self.config, "model", self.path)

    @property
    def datamodule(self) -> str:
        return class_path(self.config, "data", self.path)

    @property
    def embedded(self) -> bool:
        """True where training needs neither a file nor a network."""
        args = self.config["data"].get("init_args") or {}
        if "corpus" in args:
            return args["corpus"] in EMBEDDED_CORPORA
        return self.datamodule not in REAL_DATA

    @cached_property
    def weights(self) -> Path | None:
        """Folder of trained weights: the zoo's, else the newest finished run; None without."""
        return next(iter(self.weight_folders()), None)

    @cached_property
    def newest(self) -> Path | None:
        """Folder of trained weights as the commands take them: the newest finished run, else the zoo's."""
        return min(self.weight_folders(), key=lambda folder: folder.parent == ZOO, default=None)

    def weight_folders(self) -> Iterator[Path]:
        """All folders with finished weights: the zoo first, then own runs, newest first."""
        for folder in (ZOO / self.name, *run_folders(self.name)):
            whole = (folder / "model.safetensors").is_file() and (folder / "card.json").is_file()
            if whole and (folder.parent == ZOO or has_card(folder)):  # a damaged run stops no other
                yield folder

    def trained_in(self, folder: Path) -> "Experiment":
        """The experiment as it was trained in one of `weight_folders`: an own run may have other options than
        the recipe."""
        if folder.parent == ZOO:
            return self
        run = copy.copy(self)
        run.__dict__["config"] = {**self.config, **read_card(folder)["config"]}
        return run

    @cached_property
    def card(self) -> dict[str, Any] | None:
        return read_card(self.weights) if self.weights else None

    def summary(self) -> dict[str, Any]:
        """The row of `lab list --json`."""
        card = self.card or {}
        return {
            "name": self.name,
            "family": self.family,
            "module": self.module,
            "datamodule": self.datamodule,
            "embedded": self.embedded,
            "weights": self.weights is not None,
            "parameters": card.get("parameters"),
            "metrics": card.get("metrics", {}),
            "minutes": card.get("minutes"),
        }


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping in a YAML file.

    Raises:
        UserError: the file is missing, too long, is no YAML, holds no mapping, or an alias.
    """
    return copy.deepcopy(shared_yaml(path))


def shared_yaml(path: Path) -> dict[str, Any]:
    """The same as one object for all, read once until the file changes: a page asks all experiments with
    every answer."""
    try:
        stamp = path.stat()
    except FileNotFoundError:
        raise UserError(f"There is no file {path}: check the path.") from None
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read as YAML: {reason(error)}.") from None
    return _yaml(path, stamp.st_mtime_ns, stamp.st_size)


def reason(error: OSError | ValueError) -> str:
    """Say why a file cannot be read, without the words of Python."""
    if isinstance(error, OSError):
        return str(error.strerror)
    return "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else str(error)


@lru_cache(maxsize=512)
def _yaml(path: Path, stamp: int, size: int) -> dict[str, Any]:
    try:
        text = untrusted.read(path, untrusted.MOST_TEXT).decode()
        untrusted.check_yaml(text, path)
        config = yaml.safe_load(text)
    except (OSError, ValueError) as error:  # a folder, no UTF-8, a number that is none
        raise UserError(f"{path} cannot be read as YAML: {reason(error)}.") from None
    except yaml.YAMLError as error:
        where = getattr(error, "problem_mark", None)
        line = f" in line {where.line + 1}" if where else ""
        raise UserError(f"{path} is not valid YAML{line}: mend the syntax there.") from None
    if not isinstance(config, dict):
        raise UserError(f"{path} holds no settings: it needs at least the keys `model` and `data`.")
    return renames.upgrade(config)


def read_card(folder: Path) -> dict[str, Any]:
    """The card in `folder`, checked to name a model.

    Raises:
        UserError: there is none, or no card of a model.
    """
    path = folder / "card.json"
    try:
        card = untrusted.parse_json(untrusted.read(path, untrusted.MOST_JSON))
        model = card["config"]["model"]
        if not isinstance(model["class_path"], str) or not isinstance(model.get("init_args") or {}, dict):
            raise TypeError
        numbers = [*card.get("metrics", {}).values(), card.get("parameters", 0), card.get("minutes", 0)]
        if not all(isinstance(number, int | float) for number in numbers):
            raise TypeError
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise UserError(f"{path} is not a card: it names no model. Train or copy it again.") from None
    card["config"] = renames.upgrade(card["config"])
    return card


def has_card(folder: Path) -> bool:
    """Check whether `read_card` reads a card there."""
    try:
        read_card(folder)
    except UserError:
        return False
    return True


def class_path(config: dict[str, Any], key: str, path: Path) -> str:
    try:
        path_of_class = config[key]["class_path"]
    except (KeyError, TypeError):
        path_of_class = None
    if not isinstance(path_of_class, str):
        raise UserError(f"{path} lacks `{key}: class_path: …`: name the {key} class there.")
    return path_of_class


def run_folders(name: str) -> list[Path]:
    """Folders of an experiment's own runs, newest first."""
    root = runs_folder() / name
    return sorted((p for p in root.iterdir() if p.is_dir()), reverse=True) if root.is_dir() else []


def with_runs() -> set[str]:
    """Names of the experiments that have a folder of own runs."""
    root = runs_folder()
    return set(os.listdir(root)) if root.is_dir() else set()


def catalog() -> dict[str, Experiment]:
    """All experiments by name, in the order of the families."""
    return {name: Experiment(name, path.parent.name, path) for name, path in recipes().items()}


def listed() -> dict[str, Experiment]:
    """The catalog, and behind it the models that `lab import` took over."""
    return catalog() | imports()


def imports() -> dict[str, Experiment]:
    """Imported models by name; one whose recipe is damaged, or that has the name of another, is left out."""
    root, found = runs_folder(), {}
    for path in sorted(root.glob(f"*/{IMPORTED}")) if root.is_dir() else []:
        experiment = Experiment(path.parent.name, "own", path)
        try:
            family = experiment.module.split(".")[1:2]
            _ = experiment.datamodule
        except UserError:
            continue
        if family and family[0] in FAMILIES and experiment.name not in recipes():
            found[experiment.name] = replace(experiment, family=family[0])
    return found


def recipes() -> dict[str, Path]:
    """The files of the shipped experiments by name, in the order of the families."""
    return _recipes(CONFIGS, tuple(place.stat().st_mtime_ns for place in CONFIGS.iterdir() if place.is_dir()))


@lru_cache(maxsize=8)
def _recipes(place: Path, stamps: tuple[int, ...]) -> dict[str, Path]:
    """A folder's stamp is news when a file has come or gone."""
    return {path.stem: path for family in FAMILIES for path in sorted((place / family).glob("*.yaml"))}


def find(name: str) -> Experiment:
    """The experiment of that name, or the user's own YAML at that path.

    Raises:
        UserError: no such experiment; the sentence suggests the nearest names.
    """
    known = recipes()
    if name in known:
        return Experiment(name, known[name].parent.name, known[name])
    if name in (others := imports()):
        return others[name]
    if name.endswith((".yaml", ".yml")) or "/" in name or os.sep in name:
        path = Path(name)
        experiment = Experiment(path.stem, "own", path)
        _ = experiment.module, experiment.datamodule  # fail here, with a sentence
        return experiment
    near = difflib.get_close_matches(name, [*known, *others], n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(near)}?" if near else "`lab list` shows all."
    raise UserError(f"There is no experiment {name!r}: {hint}")
