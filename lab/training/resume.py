"""Arguments of a training: presets, `last` and the settings of the run that goes on become paths."""

import os
from pathlib import Path
from typing import Any

from lab import settings
from lab.errors import UserError
from lab.experiments import CONFIGS, Experiment, runs_folder
from lab.training.folders import (
    RUN_FOLDER,
    class_paths,
    last_checkpoint,
    last_run,
    new_run_folder,
    saved_settings,
)

# in place of what runs of earlier versions have kept, where it meant nothing
FORMER_OPTIONS = ("--trainer.use_distributed_sampler=false",)


def foreign_checkpoint_message(checkpoint: Path, settings: dict[str, Any] | None) -> str:
    """The sentence on what is taken of a folder that is no run of this user's: weights, perhaps settings."""
    taken = f"{checkpoint} is not of your runs ({runs_folder()}): takes its weights"
    if settings is None:
        return f"{taken}."
    return f"{taken}, and the settings beside it: {', '.join(class_paths(settings))}."


def take_option(args: list[str], key: str) -> str | None:
    """Remove `key value` or `key=value` from `args`; the value, or None if it is not there."""
    for i, arg in enumerate(args):
        name, eq, value = arg.partition("=")
        if name == key:
            if not eq:
                value = args[i + 1] if i + 1 < len(args) else ""
            del args[i : i + (1 if eq else 2)]
            return value
    return None


def real_path(path: str | Path) -> Path:
    """A path with its links followed; one that leads to itself stays as it is."""
    return Path(os.path.realpath(path))


def resolve_arguments(command: str, experiment: Experiment, args: list[str]) -> tuple[Path, list[str]]:
    """Run folder and full argument list: presets, `last` and the experiment become paths.

    Raises:
        UserError: no such preset; nothing to resume.
    """
    args = list(args)
    given = os.environ.get(RUN_FOLDER)
    folder = Path(given) if given else new_run_folder(experiment.name)
    configs = [CONFIGS / "defaults.yaml", experiment.path]
    if (preset := take_option(args, "--preset")) is not None:
        presets = {path.stem: path for path in sorted((CONFIGS / "presets").glob("*.yaml"))}
        if preset not in presets:
            raise UserError(f"There is no preset {preset!r}: choose one of {', '.join(presets)}.")
        configs.append(presets[preset])
    if (checkpoint := take_option(args, "--ckpt_path")) is not None:
        if not checkpoint:
            raise UserError("--ckpt_path is empty: give `last`, or the path of a checkpoint.")
        if checkpoint == "last":
            folder = folder if given else last_run(experiment.name)
            if command != "fit":
                checkpoint = str(last_checkpoint(folder) or folder / "checkpoints" / "last.ckpt")
        origin = folder if checkpoint == "last" else Path(checkpoint).parent.parent
        if checkpoint != "last" and runs_folder() not in real_path(checkpoint).parents:
            print(
                foreign_checkpoint_message(
                    Path(checkpoint), saved_settings(origin) if command == "fit" else None
                ),
                flush=True,
            )
        own = command == "fit" or runs_folder() in real_path(origin).parents
        if own and saved_settings(origin):  # the settings that it was started with
            configs[:2] = [origin / "config.yaml"]
            args = [*FORMER_OPTIONS, *args]
        args = ["--weights_only=true", *args, f"--ckpt_path={checkpoint}"]  # never unpickle what it may hold
    elif (
        command != "fit" and experiment.newest and saved_settings(experiment.newest)
    ):  # one's own run, as it was
        configs[:2] = [experiment.newest / "config.yaml"]
        args = [*FORMER_OPTIONS, *args]
    if dict(settings.pairs(args)).get("--trainer.logger") in ("CSVLogger", "TensorBoardLogger"):
        args.append(f"--trainer.logger.init_args.save_dir={folder}")
    return folder, [command, *(f"--config={path}" for path in configs), *args]
