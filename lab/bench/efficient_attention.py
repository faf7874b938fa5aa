"""Efficient attention: what linear attention recalls, how near random features come to the softmax, what it
costs by length, and how far layers of a window reach.

recall   pairs of a key and a value, then a key (`datamodules.associative`): one layer, one head, width 32,
         1,500 steps of Adam on 64 new sequences; the share of 1,000 test sequences that is right
error    mean |y − softmax attention| for random q, k, v of 64 tokens; baselines: elu + 1, which approximates
         nothing, and the mean of all values, which looks at no key
cost     seconds, and numbers in the largest tensor, by the length n; the slope of a straight line on log-log
reach    the first of 17 symbols, asked for `DISTANCE` tokens later (`datamodules.algorithmic.Recall`): layers
         of a causal window of radius r can know it if layers × r ≥ distance; guessing is right once in 8
"""

import math
import statistics
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from datamodules.algorithmic import CLASSES, Recall
from datamodules.associative import AssociativeRecall
from lab.bench import timing
from lab.bench.timing import Row
from modules.transformer.associative import AssociativeMemory, MixerName
from modules.transformer.attention import attention_weights
from modules.transformer.linear_attention import LinearAttention, elu_features, kernel_weights
from modules.transformer.local_attention import LocalAttention
from modules.transformer.random_features import Kind, draws, features

BENCH, SEEDS = "efficient", 3
MIXERS: tuple[MixerName, ...] = ("softmax", "elu")
PAIRS, STEPS, BATCH, RATE = (8, 32, 64), 1_500, 64, 3e-3
DRAWS, WIDTHS, TOKENS, TRIES = (16, 64, 256, 1_024, 4_096), (4, 16), 64, 20
LENGTHS, LONGEST_SQUARE = (256, 512, 1_024, 2_048, 4_096, 8_192, 16_384), 4_096
DISTANCE = 12
WINDOWS = ((12, 1), (11, 1), (6, 2), (5, 2), (4, 3), (3, 3))  # radius, layers
COPY_STEPS = 600


# --- Recall -----------------------------------------------------------------------------------------


def recalled(mixer: MixerName, pairs: int, seed: int, steps: int = STEPS) -> float:
    """Train once: the share of 1,000 test sequences that is right."""
    data = AssociativeRecall(pairs)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = AssociativeMemory(data.keys, data.values, mixer)
    train(model, model.predict, data, seed, steps)
    x, y = data.draw(1_000, 2)
    with torch.no_grad():
        return float((model.predict(x).argmax(1) == y).float().mean())


def train(
    model: nn.Module, predict: Callable[[Tensor], Tensor], data: Any, seed: int, steps: int, clip: float = 0.0
) -> None:
    """Adam on sequences that are drawn anew at every step."""
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    for step in range(1, steps + 1):
        x, y = data.draw(BATCH, 1_000_003 * (seed + 1) + step)
        loss = F.cross_entropy(predict(x), y)
        optimizer.zero_grad()
        loss.backward()
        if clip:
            nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()


def shares(case: str, found: Sequence[float], target: str = "") -> Row:
    """Mean share that is right, and its spread over seeds."""
    spread = f"± {statistics.stdev(found):.3f} over {len(found)} seeds" if len(found) > 1 else "one seed"
    return Row(BENCH, case, statistics.mean(found), target=target, note=spread, unit="right")


# --- Error ------------------------------------------------------------------------------------------


def problem(width: int, seed: int, tokens: int = TOKENS) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Random q, k, v (n, D), and what softmax attention makes of them."""
    generator = torch.Generator().manual_seed(seed)
    q, k, v = torch.randn(3, tokens, width, generator=generator, dtype=torch.float64)
    return q, k, v, attention_weights(q, k) @ v


def approximated(q: Tensor, k: Tensor, v: Tensor, kind: Kind, count: int, seed: int) -> Tensor:
    """What `count` draws of random features make of q, k, v (n, D)."""
    # a stream of its own: from the seed of `problem` the first draws would be the queries themselves
    generator = torch.Generator().manual_seed(10_000 + seed)
    omega = draws(count, q.shape[1], generator, dtype=q.dtype)
    weights = (
        features(q * q.shape[1] ** -0.25, omega, kind) @ features(k * k.shape[1] ** -0.25, omega, kind).T
    )
    return weights / weights.sum(-1, keepdim=True) @ v


def by_elu(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """What elu + 1 makes of q, k, v (n, D)."""
    (q, _), (k, c) = elu_features(q), elu_features(k)
    return kernel_weights(q[None, None], k[None, None], c[None, None])[0, 0] @ v


def errors(width: int, tries: int = TRIES, counts: Sequence[int] = DRAWS) -> dict[str, float]:
    """Mean absolute error against the softmax, over tokens, numbers and seeds; by what stands for it."""
    found: dict[str, list[float]] = {}
    for seed in range(tries):
        q, k, v, exact = problem(width, seed)
        ways = {f"positive, M = {M:,}": approximated(q, k, v, "positive", M, seed) for M in counts}
        ways |= {f"hyperbolic, M = {M:,}": approximated(q, k, v, "hyperbolic", M // 2, seed) for M in counts}
        ways |= {"elu + 1": by_elu(q, k, v), "mean of all values": v.mean(0).expand_as(v)}
        for name, y in ways.items():
            found.setdefault(name, []).append(float((y - exact).abs().mean()))
    return {name: statistics.mean(each) for name, each in found.items()}


# --- Cost -------------------------------------------------------------------------------------------


class Largest(TorchDispatchMode):
    """Numbers in the largest tensor that an operation makes."""

    numel = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        for each in out if isinstance(out, tuple | list) else [out]:
            if isinstance(each, Tensor):
                self.numel = max(self.numel, each.numel())
        return out


def pairs_written_out(layer: LinearAttention, x: Tensor) -> Tensor:
    """Softmax attention of the same projections, with all n² weights."""
    q, k, v = layer.split(x)
    allowed = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
    return layer.join(attention_weights(q, k, allowed) @ v)


@torch.no_grad()
def cost(square: bool, lengths: Sequence[int], repeats: int = 3) -> tuple[list[float], list[int]]:
    """Seconds, the least of `repeats`, and numbers in the largest tensor, by length; causal, width 64."""
    layer = LinearAttention(64, 1)
    call = pairs_written_out if square else lambda layer, x: layer(x, causal=True)
    seconds, numbers = [], []
    for n in lengths:
        x = torch.randn(1, n, 64)
        with Largest() as seen:
            call(layer, x)
        numbers.append(seen.numel)
        seconds.append(min(timing.seconds(lambda x=x: call(layer, x)) for _ in range(repeats)))  # type: ignore[misc]
    return seconds, numbers


def slope(lengths: Sequence[int], values: Sequence[float]) -> float:
    """Slope of the straight line through (log n, log value), by least squares."""
    return statistics.linear_regression([math.log(n) for n in lengths], [math.log(v) for v in values]).slope


# --- Reach ------------------------------------------------------------------------------------------


class Tower(nn.Module):
    """Layers of a causal window with residuals; logits (B, 8) of the first symbol from the last token."""

    def __init__(self, radius: int, layers: int, width: int = 32) -> None:
        super().__init__()
        self.embedding = nn.Linear(Recall.features, width)
        self.mixers = nn.ModuleList(LocalAttention(width, 2, radius) for _ in range(layers))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(layers + 1))
        self.head = nn.Linear(width, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        h = self.embedding(x)
        for mixer, norm in zip(self.mixers, self.norms, strict=False):
            h = h + mixer(norm(h), causal=True)
        return self.head(self.norms[-1](h[:, -1]))  # type: ignore[no-any-return]


def copied(radius: int, layers: int, seed: int, steps: int = COPY_STEPS, distance: int = DISTANCE) -> float:
    """Train once: the share of 1,000 test sequences whose first symbol is told."""
    data = Recall(lag=distance)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Tower(radius, layers)
    train(model, model, data, seed, steps, clip=1.0)
    x, y = data.draw(1_000, 2)
    with torch.no_grad():
        return float((model(x).argmax(1) == y).float().mean())


# --- All --------------------------------------------------------------------------------------------


def measure(quick: bool = False) -> list[Row]:
    """Recall by mixer and pairs, error by draws, slopes of time and memory, reach by window and layers."""
    seeds, steps, tries, lengths = (1, 5, 2, (64, 128)) if quick else (SEEDS, STEPS, TRIES, LENGTHS)
    counts = DRAWS[:2] if quick else DRAWS
    square = [n for n in lengths if n <= LONGEST_SQUARE]
    rows = [
        shares(f"recall of {pairs} pairs, {mixer}", [recalled(mixer, pairs, s, steps) for s in range(seeds)])
        for mixer in MIXERS
        for pairs in PAIRS
    ]
    for width in WIDTHS:
        rows += [
            Row(BENCH, f"error at D = {width}: {name}", error, unit="mean |Δ|", note=f"{tries} draws")
            for name, error in errors(width, tries, counts).items()
        ]
    for name, quadratic, over in (("all pairs", True, square), ("linear", False, list(lengths))):
        seconds, numbers = cost(quadratic, over)
        span = f"n = {over[0]:,} to {over[-1]:,}"
        most = f"{span}; {timing.amount(seconds[-1])} at the longest"
        rows += [
            Row(BENCH, f"slope of time, {name}", slope(over, seconds), unit="", note=most),
            Row(BENCH, f"slope of the largest tensor, {name}", slope(over, numbers), unit="", note=span),
        ]
    for radius, layers in WINDOWS:
        reaches = radius * layers
        found = [copied(radius, layers, s, 5 if quick else COPY_STEPS) for s in range(seeds)]
        case = f"copy over {DISTANCE} tokens, radius {radius}, layers {layers}, reach {reaches}"
        rows.append(shares(case, found, "≥ 0.95 right" if reaches >= DISTANCE else "≤ 0.2 right"))
    return rows
