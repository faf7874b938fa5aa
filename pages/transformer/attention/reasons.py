"""What the page's checks say of an answer."""

from collections.abc import Mapping

from torch import Tensor


def settled(layer: int) -> str:
    """Why the favourite is settled from this layer on, counted from 0."""
    if layer:
        return "Its own head, put after an earlier layer, reads something else there."
    return "The first layer's favourite is the last one's too."


def unsettled(settled: int, layers: int) -> dict[str, str]:
    """Why the favourite does not settle after this layer: "layer 1" -> a sentence."""
    early = "After layer {} it is not settled: there, or after a later layer, another token is ahead."
    late = "Before layer {} it is what it stays: no later layer changes it."
    return {f"layer {l + 1}": (early if l < settled else late).format(l + 1) for l in range(layers)}


def unheard(row: Tensor, options: Mapping[int, str]) -> dict[str, str]:
    """Why a token of these, by place, is not heard most: its name -> a sentence. row: (T,), the weights."""
    return {
        name: f"{name} has {float(row[place]):.3f}: not nearness decides, but how well its key answers."
        for place, name in options.items()
    }
