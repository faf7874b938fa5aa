"""Dense networks of several depths that are trained as the page opens: errors, and gradients by layer.

Trained on MNIST-1D by SGD with momentum .9. The gradient is that of the first 400 training examples, in the
weights of each block.

Shapes: C networks, F looks, K blocks.
"""

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from datamodules.mnist1d import MNIST1D
from lab.lenses import stock
from lab.seeding import seeded
from modules.convolution.residual import Residual
from modules.convolution.residual_mlp import ResidualMLP
from pages.convolution.depth.lens import layers
from pages.convolution.depth.room import KINDS, LOOKS, STRIDE

WIDTH, BATCH_SIZE, RATE, SHOWN, JUDGED = 50, 100, 0.01, 400, 1000
BUILDS: dict[str, Callable[..., ResidualMLP]] = dict(
    zip(
        KINDS,
        (
            partial(ResidualMLP, shortcut="none", norm="none"),
            partial(ResidualMLP, shortcut="none", norm="batch"),
            partial(ResidualMLP, shortcut="identity", norm="none", scale="half"),
            partial(ResidualMLP, shortcut="identity", norm="batch"),
        ),
        strict=True,
    )
)


@dataclass(frozen=True)
class Trained:
    """Looks at networks in training, by step.

    Attributes:
        depths: numbers of blocks K of the C networks.
        train, test: (C, F), shares that are wrong.
        norms: C tensors (F, K), length of the gradient in the weights of each block.
    """

    depths: tuple[int, ...]
    train: Tensor
    test: Tensor
    norms: list[Tensor]


def wrong(model: nn.Module, x: Tensor, y: Tensor) -> float:
    with torch.no_grad():
        return float((model(x).argmax(1) != y).double().mean())


def gradients(model: ResidualMLP, x: Tensor, y: Tensor) -> Tensor:
    """‖∂L/∂Ω_k‖ of each block, (K,); the network stays as it is."""
    copy = deepcopy(model).train()  # batch norm takes what it sees into its averages
    loss = F.cross_entropy(copy(x), y)
    weights = [next(m.weight for m in block.branch if isinstance(m, nn.Linear)) for block in copy.layers
               if isinstance(block, Residual)]  # fmt: skip
    return torch.stack([g.norm() for g in torch.autograd.grad(loss, weights)])


def looked(depth: int, kind: str, seed: int) -> Iterator[tuple[float, float, Tensor]]:
    """Train a network; at each look its errors in training and test, and its gradients (K,)."""
    (x, y), (held, answers) = stock.examples(MNIST1D, "train"), stock.examples(MNIST1D, "test")
    model = seeded(lambda: BUILDS[kind](width=WIDTH, blocks=depth), seed)
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE, momentum=0.9)
    generator = torch.Generator().manual_seed(seed)
    for look in LOOKS:
        for _ in range(STRIDE if look else 0):
            batch = torch.randint(len(x), (BATCH_SIZE,), generator=generator)
            loss = F.cross_entropy(model.train()(x[batch]), y[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        train, test = wrong(model, x[:JUDGED], y[:JUDGED]), wrong(model, held, answers)
        yield train, test, gradients(model, x[:SHOWN], y[:SHOWN])


def trained(depths: tuple[int, ...], kind: str, seed: int) -> Iterator[tuple[float, Trained]]:
    """Train a network of each depth."""
    rows: list[list[tuple[float, float, Tensor]]] = []
    done, work = 0, sum(depths) * len(LOOKS)
    for depth in depths:
        rows.append([])
        for look in looked(depth, kind, seed):
            rows[-1].append(look)
            done += depth
            if len(rows[-1]) == len(LOOKS):
                train, test = (torch.tensor([[v[i] for v in row] for row in rows]) for i in (0, 1))
                norms = [torch.stack([v[2] for v in row]) for row in rows]
                yield done / work, Trained(depths[: len(rows)], train, test, norms)


ABOUT = (
    "All networks get the same batches. A deeper plain network has the larger error on training data too, so "
    "that it is no overfitting. With batch norm and no skip the gradient grows by √(π/(π − 1)) ≈ 1.21 with "
    "every layer that it goes back at the start (the book's notes print √π/(π − 1), which is 0.83). Skips "
    "with batch norm hold it and let 48 layers train."
)

# --- What is said of them ---------------------------------------------------------------------------


def captions(one: Trained) -> list[str]:
    return [
        f"Step {look}, training error: "
        + ", ".join(f"{layers(d)} {100 * float(one.train[c, f]):.1f} %" for c, d in enumerate(one.depths))
        + "."
        for f, look in enumerate(LOOKS)
    ]


def size(value: float) -> str:
    """A positive number, LaTeX."""
    if 0.01 <= value < 10_000 or not value > 0:
        return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"
    mantissa, _, exponent = f"{value:.1e}".partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}"


def equations(one: Trained) -> list[str]:
    """Gradient in the first and last block of the deepest network."""
    norms, texts = one.norms[-1], []
    for f in range(len(LOOKS)):
        first, last = float(norms[f, 0]), float(norms[f, -1])
        texts.append(
            rf"\|\nabla_{{\Omega_1}} L\| = {size(first)}, \quad \|\nabla_{{\Omega_K}} L\| = {size(last)}"
            rf"\qquad\text{{({layers(one.depths[-1])})}}"
        )
    return texts
