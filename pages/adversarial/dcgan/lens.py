"""A DCGAN's layers and their weights.

Shapes: z (N, K); maps (C, H, W).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lab.lenses.recipe import width
from modules.adversarial.dcgan import DCGAN, ConvDiscriminator, conv_generator
from pages.adversarial.dcgan.room import MADE

WIDTHS = (1024, 512, 256, 128)  # maps, from 4 × 4 to 32 × 32: only the first number is printed
ABREAST, HIGH = 2, 5  # maps of a layer beside each other, and of the largest maps below each other
BETWEEN = 5  # pixels between two layers
EMPTY = 0.1  # ink of what lies between maps, and of a layer that has not worked yet
LAYERS = nn.Linear | nn.Conv2d | nn.ConvTranspose2d


@dataclass(frozen=True)
class Row:
    """A layer with weights, and what follows it up to the next one.

    Attributes:
        kind: of the layer. shape: of what comes out, (C, H, W). weights: of the layer without biases.
        others: biases, and both numbers a map of its batch norm. sum_: how `weights` come about, LaTeX.
    """

    kind: str
    shape: tuple[int, ...]
    weights: int
    others: int
    sum_: str

    @property
    def parameters(self) -> int:
        return self.weights + self.others

    @property
    def title(self) -> str:
        return " × ".join(map(str, self.shape))


def printed(kernel: int = 4) -> tuple[nn.Sequential, ConvDiscriminator]:
    """Both networks of the text's figure, shapes alone: weights on no device, no biases beside batch norm."""
    with torch.device("meta"):
        result = conv_generator(100, (3, 64, 64), WIDTHS, kernel, bias=False)
        return result, ConvDiscriminator((3, 64, 64), WIDTHS[::-1], kernel, bias=False)


def stages(network: Any) -> list[nn.Sequential]:
    """A network in parts: each begins with a layer that has weights, batch norms aside, in D with the rows
    and columns that it needs more."""
    judging = isinstance(network, ConvDiscriminator)
    layers = [*network.trunk, network.head] if judging else [*network]
    learnt = [i for i, layer in enumerate(layers) if any(isinstance(m, LAYERS) for m in layer.modules())]
    starts = [i - (judging and isinstance(layers[i - 1], nn.ZeroPad2d)) for i in learnt]
    return [nn.Sequential(*layers[a:b]) for a, b in pairwise([*starts, len(layers)])]


@torch.no_grad()
def rows(network: Any, x: Tensor) -> list[Row]:
    """Outputs of each part for x (1, ...) and the numbers that it has learned."""
    texts = []
    for part in stages(network):
        x = part(x)
        layer = next(m for m in part.modules() if isinstance(m, LAYERS))
        weights = layer.weight.numel()
        others = sum(p.numel() for p in part.parameters()) - weights
        name = "conv over all" if x.shape[-1] == 1 else kind(layer)
        texts.append(Row(name, tuple(x.shape[1:]), weights, others, product(layer)))
    return texts


def kind(layer: nn.Module) -> str:
    """Name of a layer with weights."""
    if isinstance(layer, nn.Linear):
        return "linear"
    return "conv, up" if isinstance(layer, nn.ConvTranspose2d) else "conv, down"


def product(layer: nn.Module) -> str:
    """Number of a layer's weights, as a product, LaTeX."""
    if isinstance(layer, nn.Linear):
        return rf"{layer.in_features}\cdot {layer.out_features}"
    assert isinstance(layer, nn.Conv2d | nn.ConvTranspose2d)
    side = layer.kernel_size[0]
    return rf"{layer.in_channels}\cdot {layer.out_channels}\cdot {side}\cdot {side}"


def connected(latent_dim: int, shape: Sequence[int], depth: int, parameters: int) -> list[int]:
    """Parameters of each layer of the fully connected generator of equal depth and size."""
    outputs = math.prod(shape)
    h = width(latent_dim, outputs, depth, parameters)
    return [(a + 1) * b for a, b in pairwise([latent_dim, *[h] * (depth - 1), outputs])]


@dataclass(frozen=True)
class Look:
    """Layers of one network.

    Attributes:
        rows: of its layers. plain: parameters of the fully connected network of equal size, for G.
        shown: what goes in and what each layer makes of it, (maps, tall, wide) or (maps,) numbers;
            None of the printed one.
        side: pixels along a side of the picture.
    """

    rows: list[Row]
    plain: list[int] | None
    shown: list[Tensor] | None
    side: int

    def rows_of(self, h: Tensor) -> int:
        """Maps below each other, of a layer whose maps are h (C, H, W)."""
        return min(-(-len(h) // ABREAST), max(1, high(self.side) // (h.shape[-1] + 1)))

    def maps(self, layer: int) -> int:
        """Number of a layer's maps that are shown."""
        h = (self.shown or [])[layer]
        return min(len(h), ABREAST * self.rows_of(h))


@torch.no_grad()
def look(game: DCGAN | None, player: str, seed: int) -> Look:
    """The layers of a player; without a game those of the text's figure."""
    if game is None:
        generator, discriminator = printed()
        z = torch.zeros(1, 100, device="meta")
        k = 100
        shape: tuple[int, ...] = (3, 64, 64)
    else:
        generator, discriminator = game.ema_generator(), game.discriminator  # type: ignore[assignment]
        z = game.noise(1, torch.Generator().manual_seed(seed))
        k, shape = game.latent_dim, game.event_shape
    network, x = (generator, z) if player == MADE else (discriminator, generator(z))
    text = rows(network, x)
    total = sum(row.parameters for row in text)
    plain = connected(k, shape, len(text), total) if player == MADE else None
    return Look(text, plain, None if game is None else passing(network, x), shape[-1])


@torch.no_grad()
def passing(network: Any, x: Tensor) -> list[Tensor]:
    """x (1, ...), and what each part makes of it."""
    results = [x[0]]
    for part in stages(network):
        x = part(x)
        results.append(x[0])
    return results


def high(side: int) -> int:
    """Pixels of a sheet from top to bottom, for pictures of `side`."""
    return HIGH * (side // 2 + 1) + 1


def blocks(result: Look) -> list[Tensor]:
    """Input and the maps of each layer, every one (tall, wide) with a pixel for a pixel."""
    return [block(h, result.rows_of(h) if h.ndim > 1 else 1, result.side) for h in result.shown or []]


def block(h: Tensor, rows: int, side: int) -> Tensor:
    """Numbers (K,) in pairs, or the first maps of (C, H, W), each on its own scale and framed; D's answer
    (1, 1, 1) is a square that holds the probability."""
    if h.ndim == 1:
        h = F.pad(h, (0, -len(h) % ABREAST), value=float(h.min())).view(1, -1, ABREAST)
    elif h[0].numel() == 1:
        return h[0, 0, 0].sigmoid().expand(side // 4, side // 4)
    h = h[: ABREAST * rows]
    low, high = h.amin((1, 2), keepdim=True), h.amax((1, 2), keepdim=True)
    h = F.pad((h - low) / (high - low).clamp(min=1e-9), (0, 1, 0, 1), value=EMPTY)
    abreast = min(len(h), ABREAST)
    h = torch.cat([h, torch.full((-len(h) % abreast, *h.shape[1:]), EMPTY)])
    tall, wide = h.shape[1:]
    sheet = h.view(-1, abreast, tall, wide).transpose(1, 2).reshape(-1, abreast * wide)
    return F.pad(sheet, (1, 0, 1, 0), value=EMPTY)


def sheets(result: Look) -> tuple[Tensor, list[float]]:
    """All blocks from left to right, (layers + 1, tall, wide): at each frame those that have worked, of the
    others their place alone; and the middle of each, in pixels from the left."""
    parts = blocks(result)
    tall = max(high(result.side), *(len(part) for part in parts))
    wide = sum(part.shape[1] for part in parts) + BETWEEN * (len(parts) - 1)
    results = torch.full((len(parts), tall, wide), math.nan)
    middles, left = [], 0
    for layer, part in enumerate(parts):
        rows, columns = part.shape
        top = (tall - rows) // 2
        results[:layer, top : top + rows, left : left + columns] = EMPTY
        results[layer:, top : top + rows, left : left + columns] = part
        middles.append(left + (columns - 1) / 2)
        left += columns + BETWEEN
    return results, middles


def names(result: Look, player: str) -> list[str]:
    """Names above each block, in two lines."""
    goes_in = (result.shown or [torch.zeros(0)])[0]
    side = f"{result.side} × {result.side}"
    texts = [f"z<br>{len(goes_in)}" if player == MADE else f"picture<br>{side}"]
    for row in result.rows:
        count, tall, wide = row.shape
        texts.append("D<br>" if tall == 1 else f"{count} maps<br>{tall} × {wide}")
    return [*texts[:-1], f"picture<br>{side}"] if player == MADE else texts


def working(result: Look, player: str) -> list[str]:
    """The part of the machine at each frame: what goes in, then the network, of G at last what is made."""
    layers = len(result.rows)
    return ["z", *["G"] * (layers - 1), "made"] if player == MADE else ["made", *["D"] * layers]


def numbers(result: Look, player: str) -> list[dict[str, str]]:
    """Numbers of the machine at each frame: which layer works."""
    name = "G" if player == MADE else "D"
    return [{}, *({name: f"layer {i}"} for i in range(1, len(result.rows) + 1))]


def layer_captions(result: Look, player: str, latent_dim: int) -> list[str]:
    """A sentence for what goes in, and for every layer."""
    texts = [f"In goes z: {latent_dim} numbers." if player == MADE else "In goes a picture that G has made."]
    for i, row in enumerate(result.rows):
        count, side, _ = row.shape
        if side == 1:
            out = "one number, how real" + (", shown as a probability" if result.shown is not None else "")
        elif player == MADE and i == len(result.rows) - 1:
            out = f"the picture, {row.title}"
        else:
            out = f"{count} maps of {side} × {side}"
            if result.shown is not None:
                out += f", {result.maps(i + 1)} shown, each on its own scale"
        texts.append(f"Layer {i + 1}, {row.kind}: {out}; {row.parameters:,} parameters.")
    return texts


def layer_equations(result: Look) -> list[str]:
    """Equation of a layer's parameters, LaTeX; first the sum of all."""
    total = sum(row.parameters for row in result.rows)
    parts = "+".join(f"{row.parameters}" for row in result.rows)
    return [
        f"{parts}={total}",
        *(rf"{row.sum_}+{row.others}={row.parameters}" for row in result.rows),
    ]


def counts(result: Look, at: int) -> list[str]:
    """Answers to how many weights the layer of this frame has (of what goes in: the first one)."""
    row = result.rows[max(0, at - 1)]
    return sorted({f"{n:,}" for n in (row.weights, row.weights // 2, 2 * row.weights)}, key=by_length)


def by_length(text: str) -> tuple[int, str]:
    return len(text), text


def layer_notice(result: Look) -> str:
    """Sentences that hold of the layers."""
    most = max(result.rows, key=lambda row: row.parameters)
    total = sum(row.parameters for row in result.rows)
    text = (
        f"{total:,} parameters in all, {most.parameters / total:.0%} of them in one layer: "
        f"{most.kind} to {most.title}. "
    )
    if result.plain:
        text += (
            f"A fully connected generator of as many layers has {sum(result.plain):,} with hidden layers as "
            f"wide as equal size allows; most of them, {max(result.plain) / sum(result.plain):.0%}, are then "
            "in its largest layer. "
        )
    if result.shown is None:
        text += "The text prints 1024 maps of 4 × 4 and 64 × 64 pixels; kernels of 4 × 4 and halved widths "
        text += "between are ours, and nothing was trained at this size."
    return text
