"""Slices of the loss around the trained networks of `depth`: is the surface smoother with skips?

The networks of K blocks are trained as there, on MNIST-1D; their loss on the first 500 training curves is
taken at 21 × 21 places θ* + αd₁ + βd₂, |α|, |β| ≤ 1, along filter-normalised directions, three draws of them,
the same normal draws for each network. Of each slice are kept

curvature   mean of dᵀHd of both directions, at the centre     spread   variance of the loss, |α|, |β| ≤ ½
bends       share of the places where it is not convex         top      largest loss, |α|, |β| ≤ 1

as means over the draws, of `top` the median. A run is a line of `results/loss-surface-runs.jsonl`: delete it
to run it again.

References: [UDL] §11.6, figure 11.13; Li et al. 2018, arXiv:1712.09913.
"""

import datetime
import statistics
import time
from dataclasses import dataclass

import torch
import torch.nn.functional as F

from lab.bench import runs_file
from lab.bench.depth import STEPS, trained
from lab.bench.mnist1d import curves, error
from lab.bench.timing import Row, spread
from modules.convolution.loss_surface import bends_down, curvature, direction, loss_slice

KEPT = runs_file.RESULTS / "loss-surface-runs.jsonl"
NETWORKS = ("plain", "skips, 1/√2", "skips, √(1/K)", "plain, batch norm", "skips, batch norm")
SEEDS = {16: 3, 48: 2}  # by number of blocks: the deep ones take most of the time
DRAWS = 3
EXAMPLES, SIDE, REACH = 500, 21, 1.0


@dataclass(frozen=True)
class Run:
    """One network and its slices; `train` is its error on all training curves in per cent, `loss` the one at
    the centre."""

    network: str
    blocks: int
    seed: int
    steps: int
    seconds: float
    date: str
    train: float
    loss: float
    curvature: float
    spread: float
    bends: float
    top: float


def measured(
    network: str, blocks: int, seed: int, steps: int = STEPS, draws: int = DRAWS, side: int = SIDE
) -> Run:
    """Train a network, and take its slices."""
    start = time.process_time()
    model, _ = trained(network, blocks, seed, steps)
    all_x, all_y, _, _ = curves()
    x, y, places = all_x[:EXAMPLES], all_y[:EXAMPLES], torch.linspace(-REACH, REACH, side)
    near = places.abs() <= REACH / 2 + 1e-6
    bent, spreads, shares, tops = [], [], [], []
    for draw in range(draws):
        both = [direction(model, seed=2 * draw + i) for i in (0, 1)]
        losses = loss_slice(model, x, y, both[0], both[1], places, places).double()
        bent += [curvature(model, x, y, one) for one in both]
        spreads.append(float(losses[near][:, near].var()))
        shares.append(float(bends_down(losses).double().mean()))
        tops.append(float(losses.max()))
    with torch.no_grad():
        loss = float(F.cross_entropy(model(x), y))
    return Run(
        network, blocks, seed, steps, round(time.process_time() - start, 1),
        datetime.date.today().isoformat(), error(model, all_x, all_y), loss, statistics.mean(bent),
        statistics.mean(spreads), statistics.mean(shares), statistics.median(tops),
    )  # fmt: skip


def plan() -> list[tuple[str, int, int]]:
    """Network, number of blocks and seed of all runs."""
    return [(n, blocks, seed) for blocks, seeds in SEEDS.items() for seed in range(seeds) for n in NETWORKS]


def rows(runs: list[Run]) -> list[Row]:
    """Variance of the loss over the slice by network and depth, and what else was measured."""
    cases: dict[tuple[str, int], list[Run]] = {}
    for run in runs:
        cases.setdefault((run.network, run.blocks), []).append(run)
    results = []
    for (network, blocks), mine in cases.items():
        variances, bent = [run.spread for run in mine], [run.curvature for run in mine]
        shares, losses = [100 * run.bends for run in mine], [run.loss for run in mine]
        note = (
            f"{', '.join(f'{v:.3g}' for v in variances)} by seed; curvature {statistics.mean(bent):.1f} "
            f"{spread(bent, 1)}; not convex at {statistics.mean(shares):.0f} {spread(shares, 0)} % of the "
            f"places; loss at the centre {statistics.mean(losses):.2f} {spread(losses, 2)}, at most "
            f"{statistics.median(run.top for run in mine):.2g}"
        )
        results.append(
            Row("loss-surface", f"{network}: {blocks} blocks", statistics.median(variances), note=note,
                unit="variance of the loss")
        )  # fmt: skip
    return results


def measure(quick: bool = False) -> list[Row]:
    """Slices by network and depth; what is missing is trained first, eleven minutes in all."""
    if quick:
        return rows([measured(network, 4, 0, 2, 1, 5) for network in NETWORKS])
    for run in runs_file.missing(plan(), KEPT, Run):
        runs_file.append(measured(*run), KEPT)
    return rows(runs_file.kept(plan(), KEPT, Run))
