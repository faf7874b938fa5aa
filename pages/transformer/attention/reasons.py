"""Say what the page's checks say of an answer."""

from collections.abc import Mapping

from torch import Tensor


def settled(layer: int) -> str:
    """Say why the likeliest next token is settled from this layer on, counted from 0."""
    if layer:
        return "The model's own head, applied after an earlier layer, reads another token there."
    return "The likeliest token after the first layer is that after the last one too."


def unsettled(settled: int, layers: int) -> dict[str, str]:
    """Say why the likeliest token does not settle after this layer: "layer 1" -> a sentence."""
    early = "After layer {} it is not settled: there, or after a later layer, another token is likelier."
    late = "It is settled before layer {}: no later layer changes it."
    return {f"layer {l + 1}": (early if l < settled else late).format(l + 1) for l in range(layers)}


def unheard(row: Tensor, options: Mapping[int, str]) -> dict[str, str]:
    """Say why tokens, by place, do not get the largest weight: name -> a sentence. row: (T,), the weights."""
    return {
        name: f"The weight of {name} is {float(row[place]):.3f}: query times key decides, not distance."
        for place, name in options.items()
    }
