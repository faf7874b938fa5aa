"""Callbacks of training: seeds by epoch, an end to dead runs, one row an epoch, a trained part."""

import csv
import io
import time
from itertools import chain, islice
from pathlib import Path
from typing import Any

import lightning as L
import numpy as np
import torch

from datamodules.base import Batches
from lab import files, weights
from lab.errors import UserError
from lab.training.pairing import default_argument

EVALUATION = 2**32  # beyond all epochs


class EpochSeed(L.Callback):
    """Seed every epoch by (seed, epoch, process): a resumed run draws what an uninterrupted one draws.

    An evaluation outside of training is seeded too, by (seed, number of the draw, process): what it says of
    weights does not depend on how they were come by.
    """

    def __init__(self, seed: int) -> None:
        self.seed, self.draw = seed, 0

    def on_train_epoch_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        self.begin(trainer, trainer.current_epoch)

    def on_validation_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        if trainer.state.fn != "fit":
            self.begin(trainer, EVALUATION + self.draw)

    on_test_start = on_validation_start

    def begin(self, trainer: L.Trainer, number: int) -> None:
        numbers = np.random.SeedSequence((int(self.seed), number, trainer.global_rank))
        torch.manual_seed(int(numbers.generate_state(1, np.uint64)[0]))


class StartFrom(L.Callback):
    """Start with a part of the model as it was trained in another experiment.

        trainer:
          callbacks:
            - class_path: lab.training.callbacks.StartFrom
              init_args: {source: encoder-scenes, part: encoder}

    A training that goes on from a checkpoint takes all its numbers from there, as always.

    Args:
        source: an experiment's name, or a folder of weights, see `weights.load`.
        part: name of a submodule, of both models.
    """

    def __init__(self, source: str, part: str) -> None:
        self.source, self.part = source, part

    def setup(self, trainer: L.Trainer, pl_module: L.LightningModule, stage: str) -> None:
        """
        Raises:
            UserError: there are no such weights, one of the models has no such part, or the two do not fit.
        """
        if stage != "fit":
            return
        trained = weights.load(self.source)
        parts = []
        for model in (trained, pl_module):
            try:
                parts.append(model.get_submodule(self.part))
            except AttributeError:
                raise UserError(f"{type(model).__name__} has no part {self.part!r} to start from.") from None
        theirs, own = ({name: tensor.shape for name, tensor in part.state_dict().items()} for part in parts)
        if wrong := sorted(dict(theirs.items() ^ own.items())):
            raise UserError(
                f"The {self.part} of {self.source} does not fit that of {type(pl_module).__name__}: "
                f"{wrong[0]!r} differs."
            )
        parts[1].load_state_dict(parts[0].state_dict())


class ClipsFused(L.Callback):
    """Let gradients be clipped in mixed precision also where the optimizer is fused.

    torch's fused optimizers can divide by the loss's scale within their step, so Lightning refuses to clip
    before it. Told that they can't, the gradients are brought to scale first, as for any other optimizer.
    """

    def on_train_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        for optimizer in trainer.optimizers:
            if getattr(optimizer, "_step_supports_amp_scaling", False):
                optimizer._step_supports_amp_scaling = False  # type: ignore[attr-defined]


class WholeBatch(L.Callback):
    """Say that a batch is everything, where more was asked for than an epoch has; a default may be more."""

    def on_train_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        data: Any = trainer.datamodule  # type: ignore[attr-defined]
        batches = getattr(trainer.train_dataloader, "sampler", None)
        if not isinstance(batches, Batches) or not trainer.is_global_zero:
            return
        if batches.asked > batches.drawn and batches.asked != default_argument(type(data), "batch_size"):
            print(
                f"batch_size is {batches.asked:,}: a batch is all {batches.drawn:,} examples of an epoch.",
                flush=True,
            )


class StopOnNaN(L.Callback):
    """End a dead run with a sentence rather than train on.

    Raises:
        UserError: the loss is NaN or infinite, or a million times what it was.
    """

    DIVERGED = 1e6  # times the first loss; no training that ended well has come near

    def __init__(self) -> None:
        self.first: float | None = None

    def on_train_batch_end(
        self, trainer: L.Trainer, pl_module: L.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        # reading the loss waits for the device, so not at every step
        if batch_idx % 10 == 0 or trainer.is_last_batch:
            loss = float(outputs["loss"])
            self.first = abs(loss) + 1 if self.first is None else self.first
            if not abs(loss) < self.DIVERGED * self.first:
                raise UserError(
                    f"The loss is {loss:.5g} in epoch {trainer.current_epoch}, step {trainer.global_step}: "
                    f"{advice(trainer, pl_module, batch)}"
                )


def advice(trainer: L.Trainer, model: L.LightningModule, batch: Any) -> str:
    """Advice for a dead run, of what this model takes."""
    result = islice(getattr(trainer, "train_dataloader", None) or (), 1000)
    if any(has_non_finite(each) for each in chain([batch], result)):
        return "the data hold NaN or infinity. Leave these examples out, or fill them in."
    if not trainer.optimizers:
        return "look at the data, which this model counts or solves for and has no learning rate."
    if not model.automatic_optimization:  # Lightning clips nothing there
        return "lower the learning rate."
    return "lower the learning rate or clip the gradient (--trainer.gradient_clip_val 1)."


def has_non_finite(batch: Any) -> bool:
    """True if a batch holds NaN or infinity."""
    if isinstance(batch, torch.Tensor):
        return batch.is_floating_point() and not bool(batch.isfinite().all())
    if isinstance(batch, dict):
        return any(map(has_non_finite, batch.values()))
    return isinstance(batch, list | tuple) and any(map(has_non_finite, batch))


class Record(L.Callback):
    """One row of metrics.csv an epoch; resumed runs continue the file, which CSVLogger would erase."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "metrics.csv"
        self.rows: list[dict[str, float]] = []
        self.seconds = 0.0

    def on_train_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        self.started = time.monotonic() - self.seconds
        if self.rows and trainer.is_global_zero:
            write_csv(self.path, self.rows)  # a kill may have left the row of an epoch that was not saved

    def on_train_epoch_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        self.seconds = time.monotonic() - self.started
        row: dict[str, float] = {"epoch": trainer.current_epoch, "step": trainer.global_step}
        row |= {k: v.item() for k, v in trainer.callback_metrics.items() if k != "train/loss"}  # one batch's
        groups = [group for optimizer in trainer.optimizers for group in optimizer.param_groups]
        if groups:  # models that count have none
            row["lr"] = groups[0]["lr"]
        row["seconds"] = round(self.seconds, 2)
        self.rows.append(row)
        if trainer.is_global_zero:
            if not trainer.fast_dev_run:  # type: ignore[attr-defined]  # which leaves nothing behind
                write_csv(self.path, self.rows)
            if not trainer.progress_bar_callback:
                shown = "  ".join(f"{k} {v:.5g}" for k, v in row.items() if k != "step")
                print(shown, flush=True)

    def state_dict(self) -> dict[str, Any]:
        return {"rows": self.rows, "seconds": self.seconds}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.rows, self.seconds = list(state_dict["rows"]), state_dict["seconds"]


def write_csv(path: Path, rows: list[dict[str, float]]) -> None:
    table = io.StringIO(newline="")
    writer = csv.DictWriter(table, list(dict.fromkeys(name for row in rows for name in row)))
    writer.writeheader()
    writer.writerows(rows)
    files.write(path, table.getvalue().encode())
