"""Memory of a pass over a large graph: a training step, the whole graph at once, layer by layer in batches.

Three layers of GraphSAGE, 32 numbers a node, on a stochastic block model. Each way is measured in a process
of its own: the highest resident memory during the pass, less what was there before it, as Linux counts it.

Reference: [UDL] §13.7.1.
"""

import ctypes
import subprocess
import sys
from functools import cache
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from lab.bench.timing import NAN, Row
from lab.seeding import seeded
from modules.graph.gcn import GCN
from modules.graph.sampling import Senders, by_layers, field

ROOT = Path(__file__).resolve().parents[2]
STATUS = Path("/proc/self/status")
NODES, EDGES, WIDTH, CLASSES = 100_000, 1_000_000, 32, 8
BLOCKS, INSIDE, SIZE, ASKED = 10, 0.8, 10_000, 1_000
STEP, EDGE, WHOLE, LAYERS = (
    "training step",
    "whole, edge by edge",
    "whole, one product a layer",
    "layer by layer",
)
WAYS = STEP, EDGE, WHOLE, LAYERS


def block_model(nodes: int, edges: int) -> Tensor:
    """Edges (2, E) both ways, about so many undirected ones, of ten groups of equal size, node n in group n
    mod 10; of four in five both ends are in one group."""
    generator = torch.Generator().manual_seed(0)
    first, last = torch.randint(nodes, (2, edges), generator=generator)
    inside = torch.rand(edges, generator=generator) < INSIDE
    near = (last // BLOCKS * BLOCKS + first % BLOCKS).clamp(max=nodes - 1)
    last = torch.where(inside, near, last)
    number = (torch.minimum(first, last) * nodes + torch.maximum(first, last))[first != last].unique()
    once = torch.stack([number // nodes, number % nodes])
    return torch.cat([once, once.flip(0)], 1)


def resident(name: str) -> int:
    """Bytes of VmRSS, what is resident now, or VmHWM, the most since the last `forget`."""
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(name))
    return 1024 * int(line.split()[1])


def forget() -> None:
    """Give back what is free, where the C library can, and begin the highest mark of this process anew."""
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
        trim(0)
    Path("/proc/self/clear_refs").write_text("5")


def passed(way: str, model: GCN, x: Tensor, edges: Tensor) -> Tensor:
    """Logits (N, C) by a way."""
    if way == LAYERS:
        *hidden, last = model.layers
        steps = [lambda h, e, layer=layer: F.relu(layer(h, e)) for layer in hidden]
        return by_layers([*steps, last], x, Senders.of(edges, len(x)), SIZE)
    if way == WHOLE:
        with torch.no_grad():
            return model(x, edges)  # type: ignore[no-any-return]
    with torch.set_grad_enabled(way == STEP):
        h = x
        for k, layer in enumerate(model.layers):
            h = layer(F.relu(h) if k else h, edges)
        if way == STEP:
            h.square().mean().backward()
        return h


def peak(way: str, nodes: int, edges: int) -> tuple[float, float]:
    """Megabytes that a pass needs beside inputs, graph and weights, in this process; and its largest
    difference from the whole pass."""
    graph = block_model(nodes, edges)
    x = torch.randn(nodes, WIDTH, generator=torch.Generator().manual_seed(1))
    model = seeded(
        lambda: GCN(WIDTH, CLASSES, (WIDTH, WIDTH), "mean", "separate", dropout=0.0, weight_decay=0.0).eval()
    )
    passed(way, model, x[:9], torch.tensor([[0, 1], [1, 2]]))  # what is loaded once
    forget()
    before = resident("VmRSS")
    logits = passed(way, model, x, graph)
    most = resident("VmHWM")
    difference = (logits.detach() - passed(WHOLE, model, x, graph)).abs().max()
    return max(most - before, 0) / 1e6, float(difference)


@cache
def needed(nodes: int, edges: int) -> int:
    """Nodes that the answers at a thousand nodes need, three layers back."""
    return len(field(Senders.of(block_model(nodes, edges), nodes), torch.arange(min(ASKED, nodes)), 3))


def rows(quick: bool = False) -> list[Row]:
    """Megabytes by way; none where the system does not count them."""
    sizes = (2_000, 10_000) if quick else (NODES, EDGES)
    found = []
    for way in WAYS:
        case, most, note = f"memory: {way}", NAN, "needs Linux"
        if STATUS.is_file():
            if quick:  # to see that it runs; this process's own memory is not what is asked for
                most, difference = peak(way, *sizes)
            else:
                asked = [sys.executable, "-m", __name__, way, *map(str, sizes)]
                said = subprocess.check_output(asked, cwd=ROOT, stderr=subprocess.PIPE)
                most, difference = map(float, said.split())
            note = f"{sizes[0]:,} nodes, {sizes[1]:,} edges; within {difference:.0e} of the whole pass"
        if way == LAYERS:
            note += f"; a tree of {ASKED:,} nodes' answers has {needed(*sizes):,} nodes"
        found.append(Row("graph-tasks", case, most, note=note, unit="MB"))
    return found


if __name__ == "__main__":
    print(*peak(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
