"""Long-lag recall: which cell, begun in which way, keeps a symbol over how many steps.

One of 8 symbols comes first, distractors follow, a query stands at the end (`datamodules.algorithmic`);
guessing is right once in 8. A training ends when 512 held-out sequences are right at `ENOUGH`, or after
`STEPS` steps of Adam on 64 sequences with the norm of the gradient clipped at 1; it has succeeded if 1,000
test sequences are right at `GOOD`.
"""

import statistics
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from datamodules.algorithmic import CLASSES, Recall
from lab.bench.timing import Row
from modules.recurrent.stack import Recurrent

HIDDEN, BATCH, RATE, STEPS = 64, 64, 2e-3, 3_000
ENOUGH, GOOD = 0.98, 0.95
SEEDS = 5
STARTS: dict[str, tuple[Any, dict[str, Any]]] = {
    "RNN, uniform start": ("rnn", {}),
    "RNN, orthogonal start": ("rnn", {"start": "orthogonal"}),
    "LSTM, forget bias 0": ("lstm", {"forget_bias": 0.0}),
    "LSTM, forget bias 5": ("lstm", {"forget_bias": 5.0}),
    "GRU, update bias 0": ("gru", {"update_bias": 0.0}),
    "GRU, update bias 5": ("gru", {"update_bias": 5.0}),
}
LAGS = (10, 20, 100)


class Network(nn.Module):
    """Logits (B, 8) of the first symbol from the last state."""

    def __init__(self, cell: Any, options: dict[str, Any], hidden: int) -> None:
        super().__init__()
        self.recurrent = Recurrent(cell, Recall.features, hidden, **options)
        self.head = nn.Linear(hidden, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.recurrent(x)[0][:, -1])  # type: ignore[no-any-return]


def train(name: str, lag: int, seed: int, steps: int = STEPS, hidden: int = HIDDEN) -> tuple[int, float]:
    """Train once: steps that it took, and the share of test sequences that are right."""
    data = Recall(lag=lag)

    def share_right(network: Network, count: int, draw: int) -> float:
        x, y = data.draw(count, draw)
        with torch.no_grad():
            return float((network(x).argmax(1) == y).float().mean())

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = Network(*STARTS[name], hidden)
    optimizer = torch.optim.Adam(network.parameters(), lr=RATE)
    taken = steps
    for step in range(1, steps + 1):
        x, y = data.draw(BATCH, 1_000_003 * (seed + 1) + step)
        loss = F.cross_entropy(network(x), y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        if step % 50 == 0 and share_right(network, 512, 1) >= ENOUGH:
            taken = step
            break
    return taken, share_right(network, 1_000, 2)


def row(name: str, lag: int, results: list[tuple[int, float]]) -> Row:
    """Seeds that succeeded, the median of their steps, and the least and the most that was right."""
    taken = [steps for steps, right in results if right >= GOOD]
    shares = [right for _, right in results]
    note = f"{min(shares):.0%} to {max(shares):.0%} right"
    if taken:
        note += f"; median {statistics.median(taken):,.0f} steps"
    wanted = "bias 5" in name and lag == max(LAGS)
    target = f"≥ {len(results)} of {len(results)} seeds" if wanted else ""
    return Row("recall", f"{name}, lag {lag}", len(taken), target=target, note=note,
               unit=f"of {len(results)} seeds")  # fmt: skip


def measure(quick: bool = False) -> list[Row]:
    """Seeds of each cell and start that learn to recall, by lag."""
    lags, seeds, size = ((2, 4), 1, {"steps": 50, "hidden": 8}) if quick else (LAGS, SEEDS, {})
    return [
        row(name, lag, [train(name, lag, seed, **size) for seed in range(seeds)])
        for name in STARTS
        for lag in lags
    ]
