"""MADE: an autoencoder whose masks make its outputs the conditionals of the chain rule.

    log p(x) = sum_i log p(x_i | x_<i),    p(x_i = 1 | x_<i) = sigmoid(logit_i)
    h      = relu(b + (W * M^W) x)                M^W_kj = 1[m(k) >= rank(j)]
    h'     = relu(b' + (W' * M') h)               M'_kl  = 1[m'(k) >= m(l)]        (deep: once per layer)
    logits = c + (V * M^V) h' + (A * M^A) x       M^V_ik = 1[rank(i) > m'(k)], M^A_ij = 1[rank(i) > rank(j)]

x is a vector of n bits, `rank(j)` in 1..n the position of variable j in the order, m(k) in 1..n-1 the
degree of hidden unit k: how many variables, first in the order, it may read. A is optional ("direct").

[GM] 1.5.4 writes the masks with the variable's index j where the rank belongs: that is right for the
natural order alone. It also says that every order factorises "the same joint": with learned conditionals
each order is another joint that shares the weights, so orders are combined as a mixture of joints
(log-mean-exp), never by averaging logits or conditionals, whose product sums to more than 1.

References: Germain, Gregor, Murray, Larochelle 2015, arXiv:1502.03509; Uria, Murray, Larochelle 2014,
arXiv:1310.1757 (order-agnostic training); [GM] 1.5.4; [UDL] 16.3.4 (as masked conditioner).
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Literal, cast

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.autoregressive.base import Autoregressive
from modules.autoregressive.orders import ranks, resolve_order
from modules.base import require
from modules.cache import Cache

# --- Degrees, masks ---------------------------------------------------------------------------


def draw_degrees(n: int, hidden: Sequence[int], rule: str, generator: torch.Generator) -> list[Tensor]:
    """Degrees m(k) in 1..n-1 of each hidden layer.

    "even": as many different degrees as the layer has room for, so that a layer of width >= n - 1
    loses no edge between neighbours of the order. "random": uniform from the least degree of the layer
    before (a smaller one would leave the unit without inputs) to n - 1.
    """
    top, least, degrees = max(n - 1, 1), 1, []
    for width in hidden:
        if rule == "even":
            m = 1 + torch.arange(width, device="cpu") * top // width
        else:
            m = torch.randint(least, top + 1, (width,), generator=generator, device="cpu")
            least = int(m.min())
        degrees.append(m)
    return degrees


def make_masks(rank: Tensor, degrees: Sequence[Tensor], direct: bool) -> list[Tensor]:
    """Boolean masks (out, in): one per hidden layer, then the output's, then the direct one if asked."""
    masks, before = [], rank
    for m in degrees:
        masks.append(m[:, None] >= before[None, :])
        before = m
    # strict: the output of rank r reads units of degree < r, so inputs of rank < r, never itself
    masks.append(rank[:, None] > before[None, :])
    if direct:
        masks.append(rank[:, None] > rank[None, :])
    return masks


@lru_cache(maxsize=4096)
def mixed_seed(*numbers: int) -> int:
    """Several numbers as one seed: torch's CPU generator reads 32 bits of it, and a SeedSequence mixes all of
    them into these."""
    (state,) = np.random.SeedSequence(numbers).generate_state(1)
    return int(state)


class MaskedLinear(nn.Linear):
    """Linear layer that multiplies its weight by its mask whenever it is used.

    The stored weight is never overwritten: what one mask hides, another finds unharmed.

    Args:
        mask: (out, in), nonzero where an output may read an input. Moves with the layer to another device
            or precision, and is not stored with the weights.
    """

    mask: Tensor

    def __init__(self, in_features: int, out_features: int, mask: Tensor, bias: bool = True) -> None:
        super().__init__(in_features, out_features, bias)
        self.register_buffer("mask", torch.empty_like(self.weight), persistent=False)
        self.set_mask(mask)

    def set_mask(self, mask: Tensor) -> None:
        """Use this mask (out, in) from now on.

        Raises:
            ValueError: it has another shape.
        """
        if mask.shape != self.weight.shape:
            raise ValueError(f"The mask is {list(mask.shape)}, the weight {list(self.weight.shape)}.")
        self.mask.copy_(mask != 0)

    @property
    def masked_weight(self) -> Tensor:
        """The weight that is used, (out, in)."""
        return self.weight * self.mask

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """x (B, in) -> (B, out), for this once through another mask if one is given."""
        return F.linear(x, self.masked_weight if mask is None else self.weight * mask, self.bias)

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, connections={int(self.mask.sum())} of {self.mask.numel()}"


# --- The model --------------------------------------------------------------------------------


class MADE(Autoregressive):
    """Deep masked autoencoder for distribution estimation, on bits.

    Args:
        event_shape: shape of one example; n is its product.
        hidden: widths of the hidden layers.
        direct: connect inputs to outputs directly; restores every edge that a narrow layer loses.
        degrees: "even" or "random", see `draw_degrees`; or those of every unit, a list for each layer.
        order: "raster", "reversed", "random", or the variables in the order they are visited.
        num_orders: 1 keeps `order`; S > 1 cycles through a pool of S random orders; 0 draws a fresh
            random order for every minibatch (order-agnostic training).
        num_masks: the same for the degrees; only "random" degrees can differ.
        ensemble: how many orders or masks are mixed in evaluation where fresh ones are drawn in training.
        seed: of orders and degrees.
        training: optimizer, lr_scheduler, ... of `modules.base.Module`.

    Shapes: x (B, *event_shape) or (B, n), entries 0 or 1; log_prob (B,), nats.

    Example:
        >>> model = MADE(event_shape=(3,), hidden=[4])
        >>> model.log_prob(torch.tensor([[0.0, 1.0, 1.0]])).shape
        torch.Size([1])
    """

    drawn_orders: Tensor
    drawn_degrees: Tensor

    def __init__(
        self,
        event_shape: Sequence[int] = (784,),
        hidden: Sequence[int] = (500,),
        direct: bool = False,
        degrees: Literal["even", "random"] | Sequence[Sequence[int]] = "even",
        order: str | Sequence[int] = "raster",
        num_orders: int = 1,
        num_masks: int = 1,
        ensemble: int = 8,
        seed: int = 0,
        **training: Any,
    ) -> None:
        super().__init__(event_shape, order, 2, seed, **training)
        if not hidden or min(hidden) < 1:
            raise ValueError(f"hidden is {list(hidden)}: give at least one width, each at least 1.")
        if isinstance(degrees, str) and degrees not in ("even", "random"):
            raise ValueError(f"degrees {degrees!r} is unknown: use even, random, or a list for each layer.")
        if min(num_orders, num_masks) < 0 or ensemble < 1:
            raise ValueError("num_orders and num_masks must be at least 0, ensemble at least 1.")
        require(0, below=2**16, num_orders=num_orders, num_masks=num_masks, ensemble=ensemble)
        if num_masks != 1 and degrees != "random":
            raise ValueError("num_masks needs degrees: random (all others are always the same).")
        self.hidden, self.direct = list(hidden), direct
        self.degrees = degrees if isinstance(degrees, str) else [list(layer) for layer in degrees]
        if not isinstance(self.degrees, str):
            if [len(layer) for layer in self.degrees] != self.hidden:
                raise ValueError(f"degrees has not one number for each unit: hidden is {self.hidden}.")
            for layer in self.degrees:
                require(1, below=max(self.n, 2), degrees=layer)
        self.num_orders, self.num_masks, self.ensemble = num_orders, num_masks, ensemble

        # What evaluation mixes is stored with the weights: however numbers are drawn one day, it stays.
        if num_orders != 1:
            pool = [self._draw_order(s) for s in range(num_orders or ensemble)]
            self.register_buffer("drawn_orders", torch.stack(pool).int())  # (S, n)
        if degrees == "random":
            each = [torch.cat(self._draw_degrees(s)) for s in range(num_masks or ensemble)]
            self.register_buffer("drawn_degrees", torch.stack(each).int())  # (S, all hidden units)

        masks, widths = self._make_masks(self.component_order(0), 0), [self.n, *hidden]
        self.layers = nn.ModuleList(
            [MaskedLinear(i, o, mask) for i, o, mask in zip(widths, hidden, masks, strict=False)]
        )
        self.out = MaskedLinear(widths[-1], self.n, masks[len(hidden)])
        self.skip = MaskedLinear(self.n, self.n, masks[-1], bias=False) if direct else None
        if self.skip is not None:
            nn.init.zeros_(self.skip.weight)
        self._other_masks = Cache()  # the last ones used besides the layers' own; see `masks`
        if num_orders == num_masks == 1:  # what the only mask hides gets no gradient: it is 0 and stays 0
            for layer in [*self.layers, self.out]:
                layer.weight.data *= layer.mask  # type: ignore[operator, union-attr]

    def extra_repr(self) -> str:
        degrees = self.degrees if isinstance(self.degrees, str) else "given"
        counts = f"num_orders={self.num_orders}, num_masks={self.num_masks}"
        return f"{super().extra_repr()}, degrees={degrees}, {counts}"

    # --- connectivity: which order and which degrees ---

    @property
    def order_agnostic(self) -> bool:
        """True if training drew a fresh order for every minibatch, so that any order may be asked for."""
        return self.num_orders == 0

    @property
    def num_components(self) -> int:
        """Number of (order, degrees) pairs that `log_prob` mixes; 1 for one fixed order and mask."""
        counts = [c if c else self.ensemble for c in (self.num_orders, self.num_masks)]
        return max(counts)

    @property
    def num_in_one_order(self) -> int:
        """Number of masks for any one order."""
        return self.num_masks or self.ensemble

    def component_order(self, index: int) -> Tensor:
        """The order of pair `index`, (n,); `order` itself for one fixed order."""
        if self.num_orders == 1:
            return self.order
        index = index % self.num_orders if self.num_orders else index
        if index < len(self.drawn_orders):
            return resolve_order(self.drawn_orders[index], self.n)  # read from a file: is it an order?
        return self._draw_order(index)

    def component_degrees(self, index: int) -> list[Tensor]:
        """The degrees of pair `index`, one tensor per hidden layer."""
        index = index % self.num_masks if self.num_masks else index
        if self.degrees == "random" and index < len(self.drawn_degrees):
            return list(self.drawn_degrees[index].cpu().long().split(self.hidden))
        if not isinstance(self.degrees, str):
            return [torch.tensor(layer) for layer in self.degrees]
        return self._draw_degrees(index)

    def _draw_order(self, index: int) -> Tensor:
        return torch.randperm(self.n, generator=self._generator(index, 1), device="cpu")

    def _draw_degrees(self, index: int) -> list[Tensor]:
        return draw_degrees(self.n, self.hidden, cast(str, self.degrees), self._generator(index, 2))

    def _generator(self, index: int, purpose: int) -> torch.Generator:
        # a function of (seed, purpose, index) alone: a resumed run and every process see the same orders
        return torch.Generator().manual_seed(mixed_seed(self.seed, purpose, index))

    @property
    def masked_layers(self) -> list[MaskedLinear]:
        """Layers in their order: the hidden ones, the output's, and the direct one if there is one."""
        layers = [*self.layers, self.out, self.skip]
        return [layer for layer in layers if isinstance(layer, MaskedLinear)]

    def masks(self, order: Tensor | None = None, index: int = 0) -> list[Tensor]:
        """Masks (out, in) of every layer, in the weights' dtype: of pair `index`, or of its degrees in
        `order`. Those of pair 0 are the layers' own."""
        own, degrees = self.component_order(0), self.component_degrees(index)
        order = self.component_order(index) if order is None else order
        if torch.equal(order, own) and all(map(torch.equal, degrees, self.component_degrees(0))):
            return [layer.mask for layer in self.masked_layers]
        weight = self.out.weight
        key = (*(tuple(t.tolist()) for t in (order, *degrees)), weight.dtype, weight.device)
        masks: list[Tensor] | None = self._other_masks.get(key)
        if masks is None:
            with torch.inference_mode(False):  # see `Cache`
                masks = [m.to(weight) for m in self._make_masks(order, index)]
            if len(self._other_masks) >= 32:
                self._other_masks.clear()
            self._other_masks[key] = masks
        return masks

    def _make_masks(self, order: Tensor, index: int) -> list[Tensor]:
        return make_masks(ranks(order), self.component_degrees(index), self.direct)

    def _load_from_state_dict(self, *args: Any, **keywords: Any) -> None:
        """Take over the orders and degrees that are stored, and make the masks of pair 0 from them."""
        super()._load_from_state_dict(*args, **keywords)
        for layer, mask in zip(self.masked_layers, self._make_masks(self.component_order(0), 0), strict=True):
            layer.set_mask(mask)

    # --- density ---

    def forward(self, x: Tensor, masks: Sequence[Tensor | None] | None = None) -> Tensor:
        """Logits (B, n) of every conditional in one pass, through the layers' own masks or through these."""
        if masks is None:
            masks = [None] * len(self.masked_layers)
        h = x
        for layer, mask in zip(self.layers, masks, strict=False):
            h = F.relu(layer(h, mask))
        logits = self.out(h, masks[len(self.layers)])
        return logits if self.skip is None else logits + self.skip(x, masks[-1])

    def logits(self, x: Tensor, order: Tensor | None = None, index: int = 0) -> Tensor:
        return self(x, self.masks(order, index))

    def _sequential_logits(self, x: Tensor, order: Tensor, index: int, start: int) -> Iterator[Tensor]:
        """Instead of full passes only what changed is computed: a new bit adds one column of the first
        layer's weights, and of the outputs only the next variable's row is needed. One hidden layer
        of width d costs O(n d) per example, like NADE; deeper ones add their inner layers.
        """
        masks = self.masks(order, index)
        first, *others = cast(list[MaskedLinear], list(self.layers))
        columns = (first.weight * masks[0]).t().contiguous()  # (n, d), row j = what x_j adds
        rows = self.out.weight * masks[len(self.layers)]  # (n, d')
        skip = None if self.skip is None else self.skip.weight * masks[-1]
        inner = [(layer.weight * mask, layer.bias) for layer, mask in zip(others, masks[1:], strict=False)]
        past = order[:start]
        a = first.bias + x[:, past] @ columns[past]  # running pre-activation of the first layer, (B, d)
        for j in order[start:].tolist():
            h = F.relu(a)
            for weight, bias in inner:
                h = F.relu(F.linear(h, weight, bias))
            logit = h @ rows[j] + self.out.bias[j]
            yield logit if skip is None else logit + x @ skip[j]
            a += x[:, j, None] * columns[j]
