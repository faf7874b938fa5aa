"""Training of small models in benches: AdamW, a warm-up of a twentieth, a cosine, batches by the seed; and
the networks of all seeds of an experiment."""

import time
from collections.abc import Callable

import torch
from torch import nn

from datamodules.base import Split
from lab import experiments, weights
from modules.base import Module
from modules.transformer.schedule import WarmupCosine


def fit(
    model: Module,
    split: Split,
    seed: int,
    steps: int,
    rate: float,
    *,
    batch: int = 32,
    betas: tuple[float, float] = (0.9, 0.98),
    floor: float = 0.05,
    look: Callable[[int], None] = lambda step: None,
) -> float:
    """Train in place: seconds of the processor, without those of `look`.

    Args:
        split: from which batches are drawn, with repetition, by a generator of this training alone.
        rate: at the height; the last is `floor` times that.
        look: called with 0 before the first step, and with its number after each.
    """
    optimizer = torch.optim.AdamW(model.parameters(), rate, betas, weight_decay=0.01, fused=True)
    schedule = WarmupCosine(optimizer, steps, max(1, steps // 20), floor)
    generator, seconds = torch.Generator().manual_seed(1_000_003 * (seed + 1)), 0.0
    look(0)
    for step in range(1, steps + 1):
        start = time.process_time()
        loss = model.step(split[torch.randint(len(split), (batch,), generator=generator)], "train")
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        seconds += time.process_time() - start
        look(step)
    return round(seconds, 1)


def all_seeds(name: str) -> list[Module]:
    """Networks of all seeds of an experiment's newest run that has ended; without one it is trained first."""
    from lab.training.folders import seed_folder
    from lab.training.run import run

    experiment = experiments.find(name)
    if not any((folder / "card.json").is_file() for folder in experiments.run_folders(name)):
        run("fit", experiment, [])
    ended = next(f for f in experiments.run_folders(name) if (f / "card.json").is_file())
    seeds = range(experiment.config["seeds"])
    return [weights.load(seed_folder(ended, seed)).eval() for seed in seeds]
