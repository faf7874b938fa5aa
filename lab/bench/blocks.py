"""Parts of a transformer block: which of them a small language model of characters would miss.

GPTs of two blocks differ from the first, `PLAIN`, in one part each: the activation, a gated feed-forward
layer of as many parameters, the norm, what mixes tokens. Two of eight blocks differ in their skip
connections. All see the same `STEPS` batches that the position schemes see (`lab.bench.positions`), and are
judged on the same windows of the test text. The rate is one for all, not tuned for each.

A run is a line of `results/blocks-runs.jsonl`: delete it to run it again.

References: Shazeer 2020, arXiv:2002.05202 (SwiGLU); Tay et al. 2020, arXiv:2005.00743 (synthesizers);
[UDL] §12.3 to §12.4 and notes, [LLM] part 4.
"""

import datetime
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from datamodules.text import Windows
from lab.bench import runs_file
from lab.bench.fitting import fit
from lab.bench.positions import CONTEXT, RATE, nats_by_place, text
from lab.bench.timing import Row
from lab.seeding import seeded
from modules.transformer.gpt import GPT

KEPT = runs_file.RESULTS / "blocks-runs.jsonl"
PLAIN, DEEP = "GELU, LayerNorm, attention", "8 blocks"
SETTINGS: dict[str, dict[str, Any]] = {
    PLAIN: {},
    "ReLU": {"activation": "relu"},
    "SwiGLU": {"feedforward": "gated", "activation": "silu", "feedforward_width": 171},  # 3 · 171 ≈ 2 · 256
    "RMSNorm": {"normalization": "rms"},
    "one head": {"heads": 1},
    "scores without 1/√D": {"scaled": False},
    "learned weights of places": {"mixer": "random"},
    "fixed weights of places": {"mixer": "fixed"},
    "weights from the query alone": {"mixer": "dense"},
    "nothing mixed": {"mixer": "none"},
    DEEP: {"layers": 8},
    "8 blocks without skips": {"layers": 8, "residual": "none"},
}
SEEDS = (0, 1, 2)
STEPS, DEEP_STEPS = 800, 400


@dataclass(frozen=True)
class Run:
    """One training: `nats` per character of the test text at `CONTEXT`; `seconds` of the processor."""

    setting: str
    seed: int
    parameters: int
    steps: int
    seconds: float
    date: str
    nats: float


def train(setting: str, seed: int, steps: int | None = None) -> Run:
    """Train once; batches depend on the seed alone."""
    options = SETTINGS[setting]
    steps = steps or (DEEP_STEPS if "layers" in options else STEPS)
    data = text()
    sizes = {"layers": 2, "heads": 4, "width": 64} | options
    model = seeded(lambda: GPT(data.sizes["vocab_size"], CONTEXT, **sizes), seed)
    seconds = fit(model, cast(Windows, data.train_set), seed, steps, RATE)
    nats = float(nats_by_place(model.eval(), cast(Windows, data.test_set).ids, CONTEXT).mean())
    size, today = model.num_parameters, datetime.date.today().isoformat()
    return Run(setting, seed, size, steps, seconds, today, round(nats, 5))


def kept(path: Path = KEPT) -> list[Run]:
    """The runs so far, by setting and seed."""
    order = list(SETTINGS)
    return sorted(runs_file.read(path, Run), key=lambda run: (order.index(run.setting), run.seed))


def missing(path: Path = KEPT) -> list[tuple[str, int]]:
    """Settings and seeds that are not there, seed by seed."""
    there = {(run.setting, run.seed) for run in kept(path)}
    return [(setting, seed) for seed in SEEDS for setting in SETTINGS if (setting, seed) not in there]


def rows(runs: list[Run]) -> list[Row]:
    """Nats per character, mean over the seeds of a setting, and the mean difference to the same seed of the
    model that has the part."""
    found = []
    for setting, options in SETTINGS.items():
        mine = {run.seed: run for run in runs if run.setting == setting}
        whole = DEEP if "layers" in options else PLAIN
        peers = {run.seed: run.nats for run in runs if run.setting == whole}
        if not mine:
            continue
        values = [run.nats for run in mine.values()]
        gaps = [run.nats - peers[seed] for seed, run in mine.items() if seed in peers]
        note = f"{next(iter(mine.values())).parameters:,} parameters; {len(values)} seeds"
        if values[1:]:
            note += f" ± {statistics.stdev(values):.3f}"
        if gaps and setting != whole:
            note += f"; {statistics.mean(gaps):+.3f}"
            note += f" ± {statistics.stdev(gaps):.3f}" if gaps[1:] else ""
        found.append(Row("blocks", setting, statistics.mean(values), note=note, unit="nats"))
    return found


def measure(quick: bool = False) -> list[Row]:
    """Nats per character by setting; what is missing is trained first, a quarter of an hour in all."""
    if quick:
        return rows([train(PLAIN, 0, steps=2)])
    for setting, seed in missing():
        runs_file.append(train(setting, seed), KEPT)
    return rows(kept())
