"""A network of one's own as a list of layers, for digits of 8×8.

    conv 8 3, pool, conv 16 3, pool, dense 32

A ReLU follows each convolution and dense layer; convolutions keep the grid by zero padding; the last layer,
ten logits, comes by itself.
"""

import re
from dataclasses import dataclass

import torch
from torch import nn

from lab.errors import UserError
from modules.convolution.classifier import initialize_he
from modules.convolution.residual import convolution_block

SIDE, CLASSES = 8, 10
MOST_LAYERS, MOST_OPERATIONS, MOST_PARAMETERS = 10, 300_000, 60_000
# Word -> the numbers that may follow: name, least, most, and what it is where it is not said (0: it must be).
NUMBERS: dict[str, tuple[tuple[str, int, int, int], ...]] = {
    "conv": (("channels", 1, 64, 0), ("kernel", 1, 7, 3)),
    "pool": (),
    "mean": (),
    "norm": (),
    "res": (),
    "dense": (("units", 1, 256, 0),),
}


@dataclass(frozen=True)
class Token:
    """A layer that is asked for: its word and its numbers."""

    word: str
    sizes: tuple[int, ...] = ()

    def __str__(self) -> str:
        return " ".join([self.word, *map(str, self.sizes)])


def parsed(text: str) -> tuple[Token, ...]:
    """The layers of a list, separated by commas, semicolons or lines.

    Raises:
        UserError: a word is no layer, a number does not fit, or the list is empty or too long.
    """
    parts = [part.split() for part in re.split(r"[,;\n]+", text.lower()) if part.strip()]
    if not 1 <= len(parts) <= MOST_LAYERS:
        raise UserError(
            f"{len(parts)} layers: write one to {MOST_LAYERS} with commas between, such as conv 8 3, pool, "
            "dense 32."
        )
    return tuple(token(number, *part) for number, part in enumerate(parts, 1))


def token(number: int, word: str, *sizes: str) -> Token:
    """A layer of its words."""
    if word not in NUMBERS:
        raise UserError(f"Layer {number}: “{word[:20]}” is none of {', '.join(NUMBERS)}.")
    wanted = NUMBERS[word]
    if len(sizes) > len(wanted):
        takes = " and ".join(name for name, *_ in wanted) or "no number"
        raise UserError(f"Layer {number}: {word} takes {takes}, not {len(sizes)} numbers.")
    values = []
    for at, (name, least, most, usual) in enumerate(wanted):
        said = sizes[at] if at < len(sizes) else str(usual or "")
        if not (said.isascii() and said.isdecimal() and least <= int(said[:6]) <= most):
            raise UserError(f"Layer {number}: {word} needs {name}, a whole number from {least} to {most}.")
        values.append(int(said))
    if word == "conv" and values[1] % 2 == 0:
        raise UserError(f"Layer {number}: a kernel of {values[1]} does not keep the grid: use an odd one.")
    return Token(word, tuple(values))


def built(stack: tuple[Token, ...]) -> nn.Sequential:
    """The network: a stage for each layer of the list, and the logits.

    Raises:
        UserError: a layer does not fit on the one below.
    """
    stages: list[nn.Module] = []
    channels, side, flat = 1, SIDE, False
    for number, layer in enumerate(stack, 1):
        if flat and layer.word not in ("dense",):
            raise UserError(f"Layer {number}: {layer.word} needs a grid, and a dense layer left none.")
        if layer.word in ("pool", "mean") and side == 1:
            raise UserError(f"Layer {number}: a grid of 1×1 cannot be pooled again.")
        if layer.word == "conv":
            width, kernel = layer.sizes
            stages.append(nn.Sequential(nn.Conv2d(channels, width, kernel, padding=kernel // 2), nn.ReLU()))
            channels = width
        elif layer.word == "dense":
            ahead = [] if flat else [nn.Flatten()]  # (B, C, H, W) -> (B, C·H·W)
            now = channels * side * side
            stages.append(nn.Sequential(*ahead, nn.Linear(now, layer.sizes[0]), nn.ReLU()))
            channels, side, flat = layer.sizes[0], 1, True
        elif layer.word == "res":
            stages.append(convolution_block(channels, channels, order="v2"))
        elif layer.word == "norm":
            stages.append(nn.BatchNorm2d(channels))
        else:
            stages.append(nn.MaxPool2d(2) if layer.word == "pool" else nn.AvgPool2d(2))
            side //= 2
    ahead = [] if flat else [nn.Flatten()]
    stages.append(nn.Sequential(*ahead, nn.Linear(channels * side * side, CLASSES)))
    model = nn.Sequential(*stages)
    initialize_he(model)
    return model


def without_weights(stack: tuple[Token, ...]) -> nn.Sequential:
    """The same on the meta device, where sizes are all that there is."""
    with torch.device("meta"):
        return built(stack).eval()
