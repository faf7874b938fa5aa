"""Train, resume and test any experiment: LightningCLI with a run folder, a card and exact resume.

A run writes `runs/<experiment>/<time>/`: config.yaml (all its settings) when it begins, metrics.csv while
it goes, checkpoints/{best,last}.ckpt at the end of each epoch, and at its end model.safetensors and
card.json. Of several seeds each has such a folder in it, `seed-<number>/`. A card is there only where
everything that config.yaml says was done; what a resume finds undone, it does.
"""

from importlib import import_module
from typing import Any

CALLBACKS = ("EpochSeed", "ClipsFused", "WholeBatch", "StopOnNaN", "Record")


def __getattr__(name: str) -> Any:
    """A callback by its former path, which settings and programs may name: `lab.training.StopOnNaN`."""
    if name in CALLBACKS:
        return getattr(import_module("lab.training.callbacks"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
