"""Mixture of experts: two languages learned with and without the balancing loss, beside dense twins.

GPTs of two blocks read the Python documentation and the same text backwards with its letters exchanged. In
place of each feed-forward layer stand `EXPERTS` experts of `HIDDEN` units, of which k run for a token. A
dense twin has k · `HIDDEN` units: as much work per token, without the router's. Settings: k, the weight of
the balancing loss, and a start where the router's logits are drawn alike or the first expert is ahead by
`AHEAD`. All see the same `STEPS` batches of a seed, with the same rate.

On `TESTED` windows of either language's test text: nats per character, and by layer the most loaded expert's
share, the dead experts (below `DEAD` of all assignments), and the total variation ½ Σ_i |f_i − f'_i| between
the loads of both languages, which is 0 where the router knows no language and 1 where no expert serves both.
Loads of `WATCHED` windows of either language are kept every `EVERY` steps.

A run is a line of `results/experts-runs.jsonl`, appended as soon as it has ended; a run that is there is not
run again: delete its line for that.

References: Shazeer et al. 2017, arXiv:1701.06538; Fedus et al. 2021, arXiv:2101.03961; [GM] 2.0.1.
"""

import datetime
import statistics
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, cast

import torch
from torch import Tensor

from datamodules.text import Blocks, Windows
from datamodules.two_languages import Both, TwoLanguages
from lab.bench import runs_file
from lab.bench.fitting import fit
from lab.bench.positions import RATE
from lab.bench.timing import Row, spread
from lab.seeding import seeded
from modules.language.information import total_variation
from modules.transformer.experts import record_routing
from modules.transformer.gpt import GPT

Start = Literal["natural", "biased", "dense"]
KEPT = runs_file.RESULTS / "experts-runs.jsonl"
SEEDS = (0, 1, 2)
CONTEXT, WIDTH, LAYERS, HEADS = 32, 64, 2, 4
EXPERTS, HIDDEN, AHEAD = 8, 128, 4.0
STEPS, EVERY, WATCHED, DEAD = 200, 10, 16, 0.01
TESTED = 300  # windows of the test text of each language


@dataclass(frozen=True)
class Setting:
    """What differs between runs; a dense twin has no balance."""

    active: int
    start: Start
    balance: float

    @property
    def name(self) -> str:
        if self.start == "dense":
            return f"dense, {self.active * HIDDEN} units"
        return f"k = {self.active}, {self.start} start, balance {self.balance:g}"


SETTINGS = (
    *(Setting(k, "natural", weight) for k in (1, 2) for weight in (0.0, 0.01)),
    *(Setting(1, "biased", weight) for weight in (0.0, 0.01)),
    *(Setting(k, "dense", 0.0) for k in (1, 2)),
)


@dataclass(frozen=True)
class Run:
    """One training.

    Attributes:
        parameters: that are trained. used: of them, by one token.
        seconds: of the processor. date: when it ended.
        nats: per character of the test text, of the first and the second language.
        loads: (languages, layers, E), shares of the assignments of the test text; [] of a dense twin.
        course: (frames, languages, layers, E), loads of the watched windows every EVERY
            steps, from the start.
    """

    active: int
    start: Start
    balance: float
    seed: int
    steps: int
    parameters: int
    used: int
    seconds: float
    date: str
    nats: list[float]
    loads: list[list[list[float]]]
    course: list[list[list[list[float]]]]

    @property
    def setting(self) -> Setting:
        return Setting(self.active, self.start, self.balance)

    def load(self) -> Tensor:
        """(layers, E), of both languages together, which have equally many characters."""
        return torch.tensor(self.loads).mean(0)

    def largest(self) -> list[float]:
        """Share of the most loaded expert, by layer."""
        return self.load().amax(1).tolist()

    def dead(self) -> list[int]:
        """Experts below DEAD of all assignments, by layer."""
        return (self.load() < DEAD).sum(1).tolist()

    def variation(self) -> list[float]:
        """Total variation between the loads of both languages, by layer."""
        first, second = torch.tensor(self.loads)
        return total_variation(first, second).tolist()


@lru_cache(maxsize=1)
def text() -> TwoLanguages:
    """Both languages."""
    data = TwoLanguages(context=CONTEXT)
    data.setup()
    return data


def network(setting: Setting, vocab_size: int) -> GPT:
    """Two blocks with experts, or their dense twin."""
    size: dict[str, Any] = {"context": CONTEXT, "layers": LAYERS, "heads": HEADS, "width": WIDTH}
    if setting.start == "dense":
        return GPT(vocab_size, **size, feedforward_width=setting.active * HIDDEN)
    options = {"experts": EXPERTS, "active": setting.active}
    return GPT(
        vocab_size, **size, feedforward="experts", feedforward_width=HIDDEN, balance_weight=setting.balance,
        expert_options=options | ({"router_start": AHEAD} if setting.start == "biased" else {}),
    )  # fmt: skip


def used(model: GPT, setting: Setting) -> int:
    """Parameters that one token runs through."""
    idle = 0 if setting.start == "dense" else LAYERS * (EXPERTS - setting.active) * 2 * WIDTH * HIDDEN
    return model.num_parameters - idle


@torch.no_grad()
def loads(model: GPT, tokens: Tensor) -> Tensor:
    """Share of the assignments of each expert: (B, T) -> (layers, E); (0, 0) where there are none."""
    with record_routing() as routed:
        model(tokens)
    shares = [routing.load for (routing,) in routed.calls.values()]
    return torch.stack(shares) if shares else torch.empty(0, 0)


@torch.no_grad()
def read(model: GPT, part: Windows) -> tuple[float, Tensor]:
    """Nats per character, and loads (layers, E), of one language."""
    tokens, targets = part[torch.arange(len(part))]
    nats = 0.0
    for pair in zip(tokens.split(64), targets.split(64), strict=True):
        nats += model.step(pair, "test").item() * len(pair[0])
    return nats / len(tokens), loads(model, tokens)


def rounded(values: Tensor) -> list[list[list[float]]]:
    """Three digits of loads (languages, layers, E)."""
    return [[[round(x, 3) for x in row] for row in language] for language in values.tolist()]


def train(setting: Setting, seed: int, steps: int = STEPS, most: int = TESTED) -> Run:
    """Train once; batches depend on the seed alone. The test is `most` windows of each language."""
    data = text()
    model = seeded(lambda: network(setting, data.sizes["vocab_size"]), seed)
    watched = cast(Both, data.val_set).parts
    course: list[list[list[list[float]]]] = []

    def look(step: int) -> None:
        if step % EVERY == 0 and setting.start != "dense":
            seen = [loads(model, part[torch.arange(WATCHED)][0]) for part in watched]
            course.append(rounded(torch.stack(seen)))

    seconds = fit(model, cast(Both, data.train_set), seed, steps, RATE, look=look)
    texts = cast(Both, data.test_set).parts
    parts = [Blocks(part.ids[: most * CONTEXT + 1], CONTEXT) for part in texts]
    results = [read(model.eval(), part) for part in parts]
    shares = [] if setting.start == "dense" else rounded(torch.stack([load for _, load in results]))
    size, today = model.num_parameters, datetime.date.today().isoformat()
    nats = [round(each, 4) for each, _ in results]
    return Run(**asdict(setting), seed=seed, steps=steps, parameters=size, used=used(model, setting),
               seconds=seconds, date=today, nats=nats, loads=shares, course=course)  # fmt: skip


def kept(path: Path = KEPT) -> list[Run]:
    """The runs so far, in the order of the settings, by seed."""
    return sorted(runs_file.read(path, Run), key=lambda run: (SETTINGS.index(run.setting), run.seed))


def missing(path: Path = KEPT) -> list[tuple[Setting, int]]:
    """Settings and seeds that are not there, seed by seed."""
    there = {(run.setting, run.seed) for run in kept(path)}
    return [(setting, seed) for seed in SEEDS for setting in SETTINGS if (setting, seed) not in there]


def span(values: list[float]) -> str:
    """The least and the most, or one where they are equal."""
    low, high = min(values), max(values)
    return f"{low:.2g}" if low == high else f"{low:.2g} to {high:.2g}"


def rows(runs: list[Run]) -> list[Row]:
    """Nats per character, mean over the seeds; of experts their loads, dead ones and total variation."""
    found = []
    for setting in SETTINGS:
        mine = [run for run in runs if run.setting == setting]
        if not mine:
            continue
        nats = [statistics.fmean(run.nats) for run in mine]
        note = f"{spread(nats)}; {mine[0].parameters:,} parameters, {mine[0].used:,} used by a token"
        if setting.start != "dense":
            by_layer: dict[str, Callable[[Run], list[float] | list[int]]] = {
                "largest load": Run.largest, "dead": Run.dead, "total variation of languages": Run.variation,
            }  # fmt: skip
            for name, of in by_layer.items():
                layers = zip(*(of(run) for run in mine), strict=True)
                note += f"; {name} " + " / ".join(span(list(values)) for values in layers)
        found.append(Row("experts", setting.name, statistics.fmean(nats), note=note, unit="nats"))
    return found


def measure(quick: bool = False) -> list[Row]:
    """Nats, loads, dead experts; what is missing is trained first, ten minutes in all."""
    if quick:
        return rows([train(SETTINGS[1], 0, steps=2, most=4)])
    for setting, seed in missing():
        runs_file.append(train(setting, seed), KEPT)
    return rows(kept())
