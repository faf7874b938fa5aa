"""Norms and depth: gradients at initialisation by layer, of pre-norm, post-norm, no norm and ReZero.

GPTs of characters with `WIDTH` channels, Xavier matrices (W_Q, W_K and W_V as one, as torch's own attention
has them) and embeddings of N(0, 1) see one batch of `BATCH` windows of the Python documentation; nothing is
trained. Of each layer the norm of the gradient of W_Q, of W_V and of both matrices of the feed-forward layer
is kept, in float64: without norms float32 overflows at depth 48. ReZero begins with α = 0, so that no
sublayer hears of the loss until α has moved: its gradients are 0, and those of α are kept beside.

A run takes a second; `results/norms-runs.jsonl` holds one a line.

References: Xiong et al. 2020, arXiv:2002.04745; Bachlechner et al. 2020, arXiv:2003.04887; [UDL] §12.4 and
notes, [LLM] part 4.
"""

import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

import torch
from torch import Tensor, nn

from datamodules.text import Windows
from lab.bench import runs_file
from lab.bench.positions import text
from lab.bench.timing import Row
from lab.seeding import seeded
from modules.transformer.block import Norm, Residual
from modules.transformer.gpt import GPT

Placement = Literal["pre", "post", "none", "rezero"]
KEPT = runs_file.RESULTS / "norms-runs.jsonl"
PLACEMENTS: tuple[Placement, ...] = ("pre", "post", "none", "rezero")
DEPTHS, SEEDS = (2, 6, 12, 24, 48), (0, 1, 2)
WIDTH, HEADS, CONTEXT, BATCH = 64, 4, 64, 12


@dataclass(frozen=True)
class Run:
    """One model at its start.

    Attributes:
        loss: nats per character.
        query, value, feedforward: norm of the gradient by layer. gain: that of α, mean of the two of a layer.
    """

    placement: Placement
    depth: int
    seed: int
    loss: float
    query: list[float]
    value: list[float]
    feedforward: list[float]
    gain: list[float]


def network(placement: Placement, depth: int, vocab_size: int) -> GPT:
    """A GPT whose matrices are Xavier's."""
    norm: Norm = "none" if placement == "rezero" else placement
    residual: Residual = "rezero" if placement == "rezero" else "add"
    model = GPT(vocab_size, CONTEXT, depth, HEADS, WIDTH, norm=norm, residual=residual, tied=False).double()
    for name, p in model.named_parameters():
        if p.ndim == 2 and "embedding" not in name and "table" not in name:
            nn.init.xavier_uniform_(p)
    nn.init.normal_(model.embedding.weight)
    return model


def start(placement: Placement, depth: int, seed: int) -> Run:
    """Gradients of one batch, which depends on the seed alone."""
    data = text()
    model = seeded(lambda: network(placement, depth, data.sizes["vocab_size"]), seed)
    windows = cast(Windows, data.train_set)
    generator = torch.Generator().manual_seed(1_000_003 * (seed + 1))
    loss = model.step(windows[torch.randint(len(windows), (BATCH,), generator=generator)], "train")
    loss.backward()
    found: dict[str, list[float]] = {"query": [], "value": [], "feedforward": [], "gain": []}
    for block in model.blocks:
        of = {name: cast(Tensor, p.grad) for name, p in block.named_parameters()}
        q, _, v = of["mixer.qkv.weight"].chunk(3)
        up, down = of["feedforward.up.weight"], of["feedforward.down.weight"]
        found["query"].append(q.norm().item())
        found["value"].append(v.norm().item())
        found["feedforward"].append(torch.cat([up.flatten(), down.flatten()]).norm().item())
        if placement == "rezero":
            found["gain"].append((of["mixer_gain"].abs() + of["feedforward_gain"].abs()).item() / 2)
    rounded = {name: [float(f"{x:.6g}") for x in values] for name, values in found.items()}
    return Run(placement, depth, seed, float(f"{loss.item():.6g}"), **rounded)


def kept(path: Path = KEPT) -> list[Run]:
    """The runs so far, by placement, depth and seed."""
    return sorted(
        runs_file.read(path, Run), key=lambda run: (PLACEMENTS.index(run.placement), run.depth, run.seed)
    )


def rows(runs: list[Run]) -> list[Row]:
    """Gradients of the first W_Q and of the last feed-forward layer, means over the seeds."""
    found = []
    for placement in PLACEMENTS:
        for depth in DEPTHS:
            mine = [run for run in runs if (run.placement, run.depth) == (placement, depth)]
            if mine:
                first = statistics.mean(run.query[0] for run in mine)
                last = statistics.mean(run.feedforward[-1] for run in mine)
                loss = statistics.mean(run.loss for run in mine)
                note = f"feed-forward of the last layer {last:.3g}; loss {loss:.3g} nats; {len(mine)} seeds"
                found.append(Row("norms", f"{placement}, {depth} layers: W_Q of the first", first, note=note,
                                 unit="gradient"))  # fmt: skip
    return found


def measure(quick: bool = False) -> list[Row]:
    """Gradients by placement and depth; what is missing is computed first, a minute in all."""
    if quick:
        return rows([start("pre", 2, 0)])
    there = {(run.placement, run.depth, run.seed) for run in kept()}
    for placement in PLACEMENTS:
        for depth in DEPTHS:
            for seed in SEEDS:
                if (placement, depth, seed) not in there:
                    runs_file.append(start(placement, depth, seed), KEPT)
    return rows(kept())
