r"""Visualisation of a network by its units: inputs that excite one, inputs that a layer cannot tell from a
given one, and what concept a unit stands for.

Activation maximisation: gradient ascent from noise on a unit's value a before its ReLU, less what the input
costs; each step has a length, not a rate, as the slopes of units differ by orders of magnitude:

    max_x  a(x) − R(x),     x ← P[x + η_t √D g / ‖g‖],     g = ∂(a − R)/∂x,     η_t = η (1 − t/T)

Network inversion: an input whose activations φ in a layer are those of another, by Adam:

    min_x  ‖φ(x) − φ_0‖² / ‖φ_0‖² + R(x)

Image priors, of which R is the sum, with D pixels in an input:

    weight decay        λ_d Σ (x − r)² / D
    total variation     λ_v Σ √(Δ_i² + Δ_j²) / D      Δ the differences to the pixels below and to the right
    blur                after each step, not in R; σ² falls to 0 as the step does, or it would win at the end

P cuts an input back to a box or a ball. For a linear unit w·x on ‖x‖ ≤ r the ascent ends at r w/‖w‖.

Network dissection: a unit's maps, enlarged to the input, above its threshold T (a > T in a given share of all
places), set against the pixels of a concept over all pictures:

    IoU = |A ∩ C| / |A ∪ C|

Shapes: x (B, C, H, W), maps (B, K, h, w), concepts (M, B, H, W).

References: [UDL] notes of chapter 10; Erhan et al. 2009 and Simonyan et al. 2014, arXiv:1312.6034
(maximisation); Mahendran & Vedaldi 2015, arXiv:1412.0035 (inversion, total variation); Yosinski et al. 2015,
arXiv:1506.06579 (blur); Bau et al. 2017, arXiv:1704.05796 (dissection).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import require

Value = Callable[[Tensor], Tensor]  # (B, C, H, W) -> (B,), each of its own example
Projection = Callable[[Tensor], Tensor]


def total_variation(x: Tensor) -> Tensor:
    """Σ √(Δ_i² + Δ_j²) over pixels and channels of each input (B, C, H, W), (B,); Δ = 0 beyond the last."""
    down = F.pad(x[..., 1:, :] - x[..., :-1, :], [0, 0, 0, 1])
    right = F.pad(x[..., 1:] - x[..., :-1], [0, 1])
    square = down.square() + right.square()
    flat = square == 0  # the root has no slope there: 0 is taken
    return torch.where(flat, 0.0, square.masked_fill(flat, 1).sqrt()).flatten(1).sum(1)


def blurred(x: Tensor, sigma: float) -> Tensor:
    """x (B, C, H, W) under a Gaussian of `sigma` pixels, the border repeated; sigma 0 leaves it."""
    if sigma == 0:
        return x
    reach = max(1, round(3 * sigma))
    g = torch.exp(-torch.arange(-reach, reach + 1, dtype=x.dtype).square() / (2 * sigma**2))
    g = (g / g.sum()).expand(x.shape[1], 1, -1)
    x = F.conv2d(F.pad(x, [0, 0, reach, reach], mode="replicate"), g[..., None], groups=x.shape[1])
    return F.conv2d(F.pad(x, [reach, reach, 0, 0], mode="replicate"), g[:, :, None], groups=x.shape[1])


@dataclass(frozen=True)
class Prior:
    """What is known of pictures.

    Attributes:
        decay, variation: λ_d, λ_v. sigma: of the blur after each step, pixels. rest: r, where decay pulls to.
    """

    decay: float = 0.0
    variation: float = 0.0
    sigma: float = 0.0
    rest: float = 0.0

    def __post_init__(self) -> None:
        require(0, decay=self.decay, variation=self.variation, sigma=self.sigma)

    def cost(self, x: Tensor) -> Tensor:
        """R of each input (B, ...), (B,)."""
        pixels = x[0].numel()
        cost = self.decay * (x - self.rest).square().flatten(1).sum(1) / pixels
        return cost + self.variation * total_variation(x) / pixels if self.variation else cost


def box(low: float = 0.0, high: float = 1.0) -> Projection:
    """The nearest input whose values lie between two bounds."""
    return lambda x: x.clamp(low, high)


def ball(radius: float) -> Projection:
    """The nearest input with ‖x‖ ≤ radius."""

    def nearest(x: Tensor) -> Tensor:
        norm = x.flatten(1).norm(dim=1).view(-1, *[1] * (x.ndim - 1))
        return x * (radius / norm.clamp(min=radius))

    return nearest


@dataclass(frozen=True)
class Search:
    """Inputs step by step.

    Attributes:
        inputs: (T + 1, B, ...), the start first.
        values: (T + 1, B), a(x), or the distance of the activations.
        costs: (T + 1, B), R(x).
    """

    inputs: Tensor
    values: Tensor
    costs: Tensor


def maximize(
    value: Value, start: Tensor, steps: int = 60, length: float = 0.1, prior: Prior | None = None,
    within: Projection | None = None,
) -> Search:  # fmt: skip
    """Gradient ascent on value − R from `start` (B, ...); each example goes its own way.

    Args:
        length: η, root mean square of the first step's change; it falls to 0 linearly.
        within: P; anywhere without.
    """
    require(1, steps=steps)
    prior, project = prior or Prior(), within or (lambda x: x)
    x, inputs, values, costs = project(start.detach()), [], [], []
    for step in range(steps + 1):
        with torch.inference_mode(False), torch.enable_grad():
            x = x.detach().clone().requires_grad_()
            a, cost = value(x), prior.cost(x)
            (slope,) = torch.autograd.grad((a - cost).sum(), x)
        inputs.append(x.detach())
        values.append(a.detach())
        costs.append(cost.detach())
        rms = slope.flatten(1).square().mean(1).sqrt().clamp(min=1e-12)
        left = 1 - step / steps
        moved = x.detach() + (length * left / rms).view(-1, *[1] * (x.ndim - 1)) * slope
        x = project(blurred(moved, prior.sigma * left**0.5))
    return Search(torch.stack(inputs), torch.stack(values), torch.stack(costs))


def invert(
    layer: Callable[[Tensor], Tensor], target: Tensor, start: Tensor, steps: int = 60, rate: float = 0.1,
    prior: Prior | None = None, within: Projection | None = None,
) -> Search:  # fmt: skip
    """Inputs whose activations come near to `target` (B, ...), from `start` (B, ...).

    Args:
        layer: φ.
        rate: of Adam; it falls to 0 as a cosine.
        within: P; anywhere without.
    """
    require(1, steps=steps)
    prior, project = prior or Prior(), within or (lambda x: x)
    goal = target.detach().flatten(1)
    size = goal.square().sum(1).clamp(min=1e-12)
    inputs, values, costs = [], [], []
    with torch.inference_mode(False), torch.enable_grad():
        x = project(start.detach()).clone().requires_grad_()
        optimizer = torch.optim.Adam([x], lr=rate)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
        for step in range(steps + 1):
            gap = (layer(x).flatten(1) - goal).square().sum(1) / size
            cost = prior.cost(x)
            inputs.append(x.detach().clone())
            values.append(gap.detach())
            costs.append(cost.detach())
            (x.grad,) = torch.autograd.grad((gap + cost).sum(), x)
            optimizer.step()
            schedule.step()
            x.data = project(blurred(x.data, prior.sigma * (1 - step / steps) ** 0.5))
    return Search(torch.stack(inputs), torch.stack(values), torch.stack(costs))


# --- Layers of a chain ------------------------------------------------------------------------------


def cuts(layers: nn.Sequential) -> list[int]:
    """Numbers of layers of a chain after which units are read: right before each ReLU, and at the end."""
    before = [i for i in range(1, len(layers)) if isinstance(layers[i], nn.ReLU)]
    return [*before, len(layers)]


def unit(layers: Callable[[Tensor], Tensor], channel: int | Tensor, everywhere: bool = False) -> Value:
    """Value of a unit of what `layers` make of x, (B, K, h, w) or (B, K).

    Args:
        channel: of all examples, or (B,) one for each.
        everywhere: the mean of its map; else the unit in the middle of it.
    """

    def of(x: Tensor) -> Tensor:
        h = layers(x)
        h = h[torch.arange(len(h)), channel]  # (B, h, w) or (B,)
        if h.ndim == 1:
            return h
        return h.flatten(1).mean(1) if everywhere else h[:, h.shape[1] // 2, h.shape[2] // 2]

    return of


# --- Dissection -------------------------------------------------------------------------------------


def thresholds(maps: Tensor, shares: Sequence[float]) -> Tensor:
    """T of each unit (F, K): its maps (B, K, h, w) are above it in each of F shares of all places, at most.

    Raises:
        ValueError: a share is not between 0 and 1.
    """
    if not all(0 < share < 1 for share in shares):
        raise ValueError(f"shares are {list(shares)}: each must lie between 0 and 1.")
    values = maps.transpose(0, 1).flatten(1).sort(1).values  # (K, B·h·w)
    last = values.shape[1] - 1
    return values[:, [last - int(share * len(values[0]) + 1e-6) for share in shares]].T


def excited(maps: Tensor, shares: Sequence[float], size: tuple[int, int]) -> Tensor:
    """Pixels (F, K, B, H, W) bool where the enlarged maps (B, K, h, w) of a unit are above its threshold of
    each share."""  # fmt: skip
    large = F.interpolate(maps, size=size, mode="bilinear", align_corners=False).transpose(0, 1)
    return large > thresholds(maps, shares)[:, :, None, None, None]


def overlaps(units: Tensor, concepts: Tensor) -> tuple[Tensor, Tensor]:
    """|A ∩ C| and |A ∪ C| (K, M) of pixels of units (K, B, H, W) bool and of concepts (M, B, H, W) bool."""
    a, c = units.flatten(1).float(), concepts.flatten(1).float()
    both = a @ c.T  # exact up to 2²⁴ pixels
    return both, a.sum(1)[:, None] + c.sum(1) - both


def intersection_over_union(units: Tensor, concepts: Tensor) -> Tensor:
    """IoU (K, M) of units with concepts, see `overlaps`; 0 where neither has a pixel."""
    both, either = overlaps(units, concepts)
    return both / either.clamp(min=1)
