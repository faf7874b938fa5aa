"""Games on small modes: how many does each loss, each failing preset and each cure reach, over seeds.

One protocol for all: two layers of 128 units, Adam at 10⁻³ with β₁ = ½, 256 examples a batch, no averaging.
A mode is reached that has 20 of 2,500 samples within three deviations; quality is the share of all samples
that are so near to some mode.
"""

from collections import deque
from typing import Any

import torch

from datamodules import points
from lab.bench.timing import Row
from lab.lenses.games import CURES, FAILURES, LOSSES, SLOW, playing
from modules.adversarial.judges import ModeCoverage

DATA = ("ring8", "grid25")
# on the ring alone: what makes the plain game fail, and what is said to help
PRESETS: dict[str, dict[str, Any]] = FAILURES | {
    f"5 turns of G, {name}": SLOW | cure for name, cure in CURES.items()
}


def play(data: Any, settings: dict[str, Any], batches: int, seed: int) -> dict[str, float]:
    """Train one game; modes, quality and KL of 2,500 samples."""
    x = points.sample(data, 20_000, seed=1)[0]
    ((_, model, generator),) = deque(playing(x, settings, batches, seed, batches), maxlen=1)
    made = model.eval().sample(2500, generator)
    centres, sd = points.MIXTURES[data]
    found = {}
    for measure in ("modes", "quality", "kl"):
        metric = ModeCoverage(centres.tolist(), sd, measure)  # type: ignore[arg-type]
        metric.update(made)
        found[measure] = metric.compute().item()
    return found


def measure(quick: bool = False) -> list[Row]:
    """One row a case: modes on average, and the rest as mean ± standard deviation over seeds."""
    seeds, batches = (2, 3) if quick else (5, 2000)
    rows = []
    for data in DATA:
        cases = LOSSES | (PRESETS if data == "ring8" else {})
        for name, settings in cases.items():
            runs = [play(data, settings, batches, seed) for seed in range(seeds)]
            values = {key: torch.tensor([run[key] for run in runs]) for key in runs[0]}
            said = ", ".join(f"{key} {v.mean():.2f} ± {v.std():.2f}" for key, v in values.items())
            rows.append(
                Row("games", f"{data}: {name}", values["modes"].mean().item(), unit="modes", note=said)
            )
    return rows
