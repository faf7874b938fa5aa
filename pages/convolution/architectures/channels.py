"""Channels of a DenseNet: what each layer reads, and what its 1×1 convolution saves.

    C = C_0 + k ℓ                 after ℓ layers of a chain
    with 1×1    C · 4k + 9 · 4k · k        without    9 C k          weights of a layer

The 1×1 saves weights where 5 C > 36 k: as soon as more than 7.2 k channels come in. A chain ends where the
grid is halved, since grids of two sizes cannot be concatenated.

References: [UDL] §11.5.2, figure 11.9; Huang et al. 2017, arXiv:1608.06993.
"""

from dataclasses import dataclass

from lab.errors import UserError
from lab.lenses import typed

MOST_CHAINS, LONGEST, WIDEN = 4, 48, 4  # WIDEN: channels after a 1×1, of the growth


def lengths(text: str) -> tuple[int, ...]:
    """Numbers of layers."""
    numbers = typed.numbers(text, LONGEST, MOST_CHAINS)
    if not numbers or any(v != int(v) or v < 1 for v in numbers):
        raise UserError(
            f"Write one to {MOST_CHAINS} whole numbers from 1 to {LONGEST}, one a chain, such as 6 6 6."
        )
    return tuple(int(v) for v in numbers)


@dataclass(frozen=True)
class Layer:
    """A layer of a chain.

    Attributes:
        chain, number: from 1. first: channels with which the chain starts. reads: C. adds: k.
        squeezed, plain: weights of its convolutions, with a 1×1 before the 3×3 and without.
    """

    chain: int
    number: int
    first: int
    reads: int
    adds: int

    @property
    def squeezed(self) -> int:
        return WIDEN * self.adds * self.reads + 9 * WIDEN * self.adds**2

    @property
    def plain(self) -> int:
        return 9 * self.reads * self.adds


def chained(chains: tuple[int, ...], start: int, growth: int, halved: bool) -> list[Layer]:
    """The layers of all chains; `halved`: a transition keeps half of the channels."""
    layers, first = [], start
    for chain, count in enumerate(chains, 1):
        layers += [Layer(chain, k + 1, first, first + k * growth, growth) for k in range(count)]
        first += count * growth
        first = max(1, first // 2) if halved else first
    return layers


def captions(layers: list[Layer]) -> list[str]:
    texts = ["No layer yet."]
    for layer in layers:
        which = (
            "fewer" if layer.squeezed < layer.plain else "more" if layer.squeezed > layer.plain else "as many"
        )
        texts.append(
            f"Chain {layer.chain}, layer {layer.number}: reads {layer.reads:,} channels, adds {layer.adds}. "
            f"{layer.squeezed:,} weights with a 1×1 layer, {layer.plain:,} without: {which}"
            + (f", a factor of {max(layer.plain, layer.squeezed) / min(layer.plain, layer.squeezed):.2f}."
               if which != "as many" else ".")
        )  # fmt: skip
    return texts


def spaced(value: int) -> str:
    """A whole number with its thousands apart, LaTeX."""
    return f"{value:,}".replace(",", "{,}")


def equations(layers: list[Layer]) -> list[str]:
    texts = [rf"C = C_0 = {layers[0].first}"]
    for layer in layers:
        k = layer.adds
        texts.append(
            rf"C = C_0 + k\,\ell = {layer.first} + {k} \cdot {layer.number} = {layer.reads + k}, \qquad "
            rf"{layer.reads} \cdot {WIDEN * k} + 9 \cdot {WIDEN * k} \cdot {k} = {spaced(layer.squeezed)}"
        )
    return texts


def about(layers: list[Layer]) -> str:
    """What to notice."""
    squeezed, plain = (sum(getattr(layer, name) for layer in layers) for name in ("squeezed", "plain"))
    k = layers[0].adds
    return (
        f"All layers have {squeezed:,} weights with 1×1 layers and {plain:,} without. A 1×1 layer pays where "
        f"more than 7.2 k = {7.2 * k:g} channels come in; before that it costs. Each output reaches the end "
        "of its chain unchanged, a path of length 1 for the gradient. Grids of two sizes cannot be "
        "concatenated: where the grid is halved the chain breaks, and a transition, a 1×1 layer and mean "
        "pooling, starts the next."
    )
