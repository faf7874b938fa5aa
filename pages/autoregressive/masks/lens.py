"""Looking into a masked autoregressive model: who may read whom, who does, and how a draw came about.

In theory, from the masks: output i can read input j if the product of the masks has a path between
them. Measured, by autograd: the Jacobian of the logits. The first must contain the second.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from datamodules.binary_images import strings
from lab.seeding import seeded
from modules.autoregressive.made import MADE, draw_degrees, make_masks
from modules.autoregressive.orders import ranks


@dataclass(frozen=True)
class Connectivity:
    """Masks of one order and one draw of degrees.

    Attributes:
        order: (n,) variables in the order they are visited.
        rank: (n,) position 1..n of each variable.
        degrees: one (width,) per hidden layer.
        layers: bool masks (out, in), the last to the outputs.
        direct: (n, n) bool mask from inputs to outputs, or None.
        paths: (n, n) float64, number of paths from input j (column) to output i (row).
    """

    order: Tensor
    rank: Tensor
    degrees: list[Tensor]
    layers: list[Tensor]
    direct: Tensor | None
    paths: Tensor

    @property
    def allowed(self) -> Tensor:
        """(n, n) bool: what the order allows, every earlier variable."""
        return self.rank[:, None] > self.rank[None, :]

    @property
    def lost(self) -> list[tuple[int, int]]:
        """Immediate predecessors without a path: (predecessor, variable), in the order's order."""
        pairs = zip(self.order[:-1].tolist(), self.order[1:].tolist(), strict=True)
        return [(j, i) for j, i in pairs if self.paths[i, j] == 0]


def connect(order: Tensor, degrees: Sequence[Tensor], direct: bool = False) -> Connectivity:
    """Masks and path counts of an order and given degrees."""
    rank = ranks(order)
    masks = make_masks(rank, degrees, direct)
    layers, skip = (masks[:-1], masks[-1]) if direct else (masks, None)
    product = layers[0].double()
    for mask in layers[1:]:
        product = mask.double() @ product  # (out, hidden) @ (hidden, n) -> (out, n)
    if skip is not None:
        product = product + skip.double()
    return Connectivity(order, rank, list(degrees), layers, skip, product)


def connectivity(model: MADE) -> Connectivity:
    """The masks that `model` uses."""
    return connect(model.component_order(0), model.component_degrees(0), model.direct)


def spaced_degrees(n: int, widths: Sequence[int], rule: str, seed: int) -> list[Tensor]:
    """Degrees by rule: "even", "random"."""
    return draw_degrees(n, widths, rule, torch.Generator().manual_seed(seed))


def typed_degrees(text: str, n: int) -> list[Tensor]:
    """Degrees as typed: layers separated by ";", numbers by spaces or commas.

    Raises:
        ValueError: a number outside 1..n-1, an empty layer, too many.
    """
    layers = []
    for part in text.split(";"):
        words = part.replace(",", " ").split()
        if not words or not all(w.isdigit() and 1 <= int(w) <= n - 1 for w in words):
            raise ValueError(
                f"Type degrees from 1 to {n - 1}, separated by spaces, with a semicolon between layers."
            )
        layers.append(torch.tensor([int(w) for w in words]))
    if len(layers) > 3 or max(len(layer) for layer in layers) > 16:
        raise ValueError("At most 3 hidden layers of at most 16 units can be drawn.")
    return layers


def typed_bits(text: str, n: int) -> Tensor:
    """The first n bits of a string as (n,) float64, zeros where it is too short.

    Raises:
        ValueError: something else than 0 and 1.
    """
    if set(text.strip()) - {"0", "1"}:
        raise ValueError("The input x takes the digits 0 and 1 alone.")
    return torch.tensor([float(c) for c in text.strip()[:n].ljust(n, "0")], dtype=torch.float64)


def flipped(x: Tensor, place: int) -> str:
    """The bits x (n,) as a string, the one at `place` turned over."""
    return "".join(str(int(bit) ^ (i == place)) for i, bit in enumerate(x.tolist()))


def toy_model(order: Tensor, degrees: Sequence[Tensor], direct: bool, seed: int) -> MADE:
    """A MADE of this order and these degrees, with random weights in float64."""
    model = seeded(
        lambda: MADE(
            event_shape=(len(order),),
            hidden=[len(m) for m in degrees],
            degrees=[m.tolist() for m in degrees],
            order=order.tolist(),
            direct=direct,
        )
    )
    model = model.double().eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64))
    return model.requires_grad_(False)


def all_strings(n: int) -> Tensor:
    """Every string of n bits, (2^n, n) float64."""
    return strings(n).double()


def total_probability(model: MADE) -> float:
    """The sum of p(x) over every string of n bits."""
    return float(model.log_prob(all_strings(model.n)).exp().sum())


def measured_support(model: MADE, probes: int = 64, seed: int = 0) -> Tensor:
    """(n, n): the largest |∂ logit_i / ∂ x_j| over random inputs; a relu is not shut for all of them."""
    generator = torch.Generator().manual_seed(seed)
    dtype = model.out.weight.dtype
    x = torch.randn(probes, model.n, generator=generator, dtype=dtype)
    x.requires_grad_()
    logits = model.logits(x)
    # examples of a batch do not mix, so the gradient of a sum over them is each one's own
    rows = [torch.autograd.grad(logits[:, i].sum(), x, retain_graph=True)[0] for i in range(model.n)]
    return torch.stack(rows).abs().amax(1)  # (n outputs, probes, n inputs) -> (n, n)


def reached(wiring: Connectivity, layer: int, unit: int) -> list[Tensor]:
    """Units that lie on a path into one unit: a bool vector per layer, inputs first, up to `layer`.

    Args:
        layer: 0 for the inputs, 1.. for hidden layers, len(layers) for the outputs.
    """
    width = len(wiring.rank) if layer == 0 else len(wiring.layers[layer - 1])
    chosen = torch.zeros(width, dtype=torch.bool)
    chosen[unit] = True
    backwards = [chosen]
    for mask in reversed(wiring.layers[:layer]):
        backwards.append(mask[backwards[-1]].any(0))  # (chosen, in) -> (in,)
    live = backwards[::-1]
    if wiring.direct is not None and layer == len(wiring.layers):
        live[0] = live[0] | wiring.direct[unit]
    return live


def activations(model: MADE, wiring: Connectivity, x: Tensor) -> list[Tensor]:
    """Values of every layer at x (n,): the input, the hidden layers, the logits."""
    values = [x]
    for layer, mask in zip(model.layers, wiring.layers, strict=False):
        values.append(torch.relu(layer(values[-1][None], mask.to(x))[0]))
    return [*values, model.logits(x[None])[0]]


def unit_equation(model: MADE, wiring: Connectivity, x: Tensor, layer: int, unit: int) -> tuple[str, str]:
    """The arithmetic of one unit at x (n,), as LaTeX, and a sentence on what it may read and why.

    Args:
        layer: 0 for the inputs, 1.. for hidden layers, len(wiring.layers) for the outputs.
    """
    values, rank = activations(model, wiring, x), wiring.rank
    if layer == 0:
        note = f"Variable {unit + 1} has rank {rank[unit]}: units of degree {rank[unit]} or more may read it."
        return rf"x_{{{unit + 1}}} = {x[unit]:.0f}", note
    mask = wiring.layers[layer - 1][unit]
    is_output = layer == len(wiring.layers)
    made_of = model.out if is_output else model.layers[layer - 1]
    weight, bias = made_of.weight[unit], made_of.bias[unit]  # type: ignore[index]
    terms = [(float(weight[k]), float(values[layer - 1][k])) for k in mask.nonzero().flatten().tolist()]
    if is_output and wiring.direct is not None and model.skip is not None:
        read = wiring.direct[unit].nonzero().flatten().tolist()
        terms += [(float(model.skip.weight[unit, j]), float(x[j])) for j in read]
    terms = [(w, v) for w, v in terms if v]  # what is zero adds nothing
    shown = [f"{w:+.2f} \\cdot {v:.2f}" for w, v in terms[:3]]
    text = f"{float(bias):.2f} " + " ".join(shown)
    if rest := terms[3:]:
        text += f" {sum(w * v for w, v in rest):+.2f}"
    others = f" The last number is the sum of {len(rest)} more." if rest else ""
    if not is_output:
        m = wiring.degrees[layer - 1][unit]
        before = "rank" if layer == 1 else "degree"
        latex = rf"h_{{{unit + 1}}} = \max(0,\; {text}) = {float(values[layer][unit]):.3f}"
        return latex, f"Unit {unit + 1} has degree {m}: it reads what has {before} at most {m}.{others}"
    logit = float(values[-1][unit])
    r = int(rank[unit])
    earlier = wiring.order[: r - 1].tolist()
    past = ", ".join(f"x_{{{j + 1}}}{{=}}{x[j]:.0f}" for j in earlier)
    if len(earlier) > 3:
        past = rf"\text{{{len(earlier)} before}}"
    condition = rf" \mid {past}" if past else ""
    p = torch.sigmoid(values[-1][unit]).item()
    latex = rf"p(x_{{{unit + 1}}}{{=}}1{condition}) = \sigma({text}) = \sigma({logit:.3f}) = {p:.4f}"
    note = f"Output {unit + 1} has rank {r}: it reads units of degree below {r}."
    return latex, f"{note} What is masked or zero is left out.{others}"
