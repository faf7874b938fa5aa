"""Checkpoints that survive: written whole and sealed beside the old one, which is kept until the next.

    checkpoints/last.ckpt          the last epoch        checkpoints/best.ckpt          the best epoch
    checkpoints/last-older.ckpt    the one before        checkpoints/best-older.ckpt    the best before

They name no folder, so a run may be moved.
"""

import io
import os
from pathlib import Path
from typing import Any

import lightning as L
import torch
from lightning.fabric.plugins import CheckpointIO
from lightning.pytorch.callbacks import ModelCheckpoint

from lab import files, weights
from lab.errors import UserError


def older(path: Path) -> Path:
    """Path at which the checkpoint is kept that `path` was before."""
    return path.with_stem(f"{path.stem}-older")


class SealedIO(CheckpointIO):
    """Saves and loads for Lightning: straight into the target folder, never through a temporary one."""

    def save_checkpoint(
        self, checkpoint: dict[str, Any], path: str | Path, storage_options: Any = None
    ) -> None:
        buffer = io.BytesIO()
        torch.save(checkpoint, buffer)
        data = buffer.getbuffer()
        files.write(Path(path), data, files.digest(data), older=older(Path(path)))

    def load_checkpoint(
        self, path: str | Path, map_location: Any = None, weights_only: bool | None = None
    ) -> dict[str, Any]:
        return weights.read_checkpoint(Path(path))

    def remove_checkpoint(self, path: str | Path) -> None:
        Path(path).unlink(missing_ok=True)


class Checkpoint(ModelCheckpoint):
    """Lightning's, remembering names without their folder, and saving models that take no optimizer step."""

    def state_dict(self) -> dict[str, Any]:
        return placed(super().state_dict(), "")

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        state = placed(state_dict, str(self.dirpath))
        if os.path.isfile(state["best_model_path"]):  # else the best starts anew
            super().load_state_dict(state)

    def _should_skip_saving_checkpoint(self, trainer: L.Trainer) -> bool:
        # Lightning keeps nothing before the first optimizer step; models that count take none
        if not trainer.lightning_module.automatic_optimization:
            self._last_global_step_saved = -1
        return super()._should_skip_saving_checkpoint(trainer)


def last_kept(folder: Path) -> Path | None:
    """The checkpoint that `--ckpt_path last` goes on from: where last.ckpt is missing, the one before it, and
    a sentence says so. None where no epoch has been saved whole.

    Args:
        folder: of the run.

    Raises:
        UserError: none of the last epochs is there, but those of the best tell of two or more.
    """
    path = folder / "checkpoints" / "last.ckpt"
    best = path.with_name("best.ckpt")
    if path.is_file():
        return path
    if older(path).is_file():
        print(f"{path} is missing: takes {older(path).name}, of the epoch before.", flush=True)
        return older(path)
    if older(best).is_file():
        kept = best if best.is_file() else older(best)
        raise UserError(
            f"{path} is missing, though {kept.name} is there: say --ckpt_path {kept}, or leave "
            "--ckpt_path out."
        )
    if best.is_file():  # killed between the saves of its first epoch
        print(f"{path} was never written.", flush=True)
    return None


def placed(state: dict[str, Any], folder: str) -> dict[str, Any]:
    """The state of a `ModelCheckpoint`, its files in `folder`."""

    def place(path: str) -> str:
        return os.path.join(folder, os.path.basename(path)) if path else ""

    paths = ("best_model_path", "kth_best_model_path", "last_model_path")
    best = {place(path): score for path, score in state["best_k_models"].items()}
    return {**state, **{name: place(state[name]) for name in paths}, "best_k_models": best, "dirpath": folder}


def restore_best(checkpoint: Path, folder: Path) -> None:
    """Make `best.ckpt` of `folder` the best epoch that `checkpoint` knows of.

    It is already, unless a kill came between the two saves of an epoch: then `best.ckpt` is of a later epoch,
    and the one meant was kept. A run that goes on in another folder takes a copy along.

    Raises:
        WeightsError: the best epoch's checkpoint is damaged.
    """
    epoch, best, target = (
        weights.read_checkpoint(checkpoint)["epoch"],
        checkpoint.with_name("best.ckpt"),
        folder / "best.ckpt",
    )
    for path in (best, older(best)):
        if path.is_file() and weights.read_checkpoint(path)["epoch"] <= epoch:
            if path != target:
                files.write(target, path.read_bytes())
            return
    target.unlink(missing_ok=True)
