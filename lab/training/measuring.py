"""Metrics of weights: evaluated, of a slice alone, and written into the card again."""

import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import lightning as L
import torch

from datamodules.base import DataModule
from lab import files, weights
from lab.training.callbacks import EpochSeed
from modules.base import Module

SLICE = range(4, 33)  # examples whose metrics a card keeps beside those of the whole split

DRAWS = 5  # of what `--card` measures and is drawn by other means than a sum over examples


def versions() -> dict[str, str]:
    packages = ("lectern", "torch", "lightning", "torchmetrics", "torch-geometric")
    return {"python": platform.python_version()} | {p: version(p) for p in packages}


def evaluate(model: Module, data: DataModule, seed: int = 0, batches: int | None = None) -> dict[str, float]:
    """Metrics of weights as `lab test` has them, on this CPU: of the test split, or its first batches."""
    trainer = L.Trainer(
        accelerator="cpu",
        devices=1,
        callbacks=[EpochSeed(seed)],
        limit_test_batches=batches,
        logger=False,
        enable_checkpointing=False,
        enable_model_summary=False,
        enable_progress_bar=False,
    )
    trainer.test(model, datamodule=data, verbose=False)
    return {k: v.item() for k, v in trainer.callback_metrics.items()}


def evaluate_slice(model: Module, data: DataModule, size: int, seed: int = 0) -> dict[str, float]:
    """Metrics of the first `size` examples of the test split alone: cheap to ask of every model again.

    Data that come as one batch, such as a graph, are their own slice.
    """
    before, data.batch_size = data.batch_size, min(data.batch_size, size)
    try:
        return evaluate(model, data, seed, 1)
    finally:
        data.batch_size = before


def update_card(
    folder: Path,
    model: Module,
    metrics: dict[str, float],
    error: dict[str, float],
    parts: dict[str, float],
    seconds: float,
    callbacks: list[dict[str, Any]] | None = None,
) -> None:
    """Write what was measured into the card of `folder`, with date and versions; all else stays.

    Of several seeds the metrics are means: there it goes to those of the seed that ships. An argument that
    is younger than the card and that the recipe sets is added, or the card would build another model; the
    recipe's callbacks are those of the card, since some of them measure.

    Args:
        parts: metrics of a slice, and its size. seconds: that the test took.
    """
    card = weights.read_card(folder)
    place = card.get("shipped", card)
    place["metrics"], place["error"] = place["metrics"] | metrics, error
    card["measured"] = {
        "date": datetime.now(UTC).date().isoformat(),
        "versions": versions(),
        "seconds": round(seconds, 2),
    }
    card["slice"] = parts
    known, fresh = card["config"]["model"]["init_args"], weights.build(card).hparams
    known |= {k: weights.plain(v) for k, v in model.hparams.items() if k not in known and v != fresh.get(k)}
    if callbacks:
        card["config"]["trainer"]["callbacks"] = callbacks
    files.write(folder / "card.json", weights.as_json(card))
    print(f"Wrote {folder / 'card.json'}", flush=True)


def hardware(trainer: L.Trainer) -> str:
    if trainer.accelerator.__class__.__name__ == "CUDAAccelerator":
        return f"{trainer.world_size} × {torch.cuda.get_device_name()}"
    threads = torch.get_num_threads()
    return f"{platform.machine()} CPU, {trainer.world_size} process(es), {threads} thread(s)"
