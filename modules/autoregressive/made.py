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

import math
from collections.abc import Sequence
from typing import Any, Literal, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import Module, Split
from modules.trace import Step, Trace

Order = Literal["raster", "reversed", "random"] | Sequence[int]


# --- Orders, degrees, masks -------------------------------------------------------------------


def resolve_order(order: Order, n: int, seed: int = 0) -> Tensor:
    """The variables in the order they are visited, (n,) int64.

    Raises:
        ValueError: `order` is no permutation of 0..n-1 and no known name.
    """
    if isinstance(order, str):
        if order == "raster":
            return torch.arange(n)
        if order == "reversed":
            return torch.arange(n).flip(0)
        if order == "random":
            return torch.randperm(n, generator=torch.Generator().manual_seed(seed))
        raise ValueError(f"order {order!r} is unknown: use raster, reversed, random or a permutation.")
    visited = torch.as_tensor(order, dtype=torch.int64, device="cpu")
    if visited.shape != (n,) or not torch.equal(visited.sort().values, torch.arange(n)):
        raise ValueError(f"order must be a permutation of 0..{n - 1}, each variable once.")
    return visited


def ranks(order: Tensor) -> Tensor:
    """rank(j), 1..n: the position of variable j in `order`, the inverse permutation plus one."""
    rank = torch.empty_like(order)
    rank[order] = torch.arange(1, len(order) + 1)
    return rank


def draw_degrees(n: int, hidden: Sequence[int], rule: str, generator: torch.Generator) -> list[Tensor]:
    """Degrees m(k) in 1..n-1 of each hidden layer.

    "even": as many different degrees as the layer has room for, so that a layer of width >= n - 1
    loses no edge between neighbours of the order. "random": uniform from the least degree of the layer
    before (a smaller one would leave the unit without inputs) to n - 1.
    """
    top, least, degrees = max(n - 1, 1), 1, []
    for width in hidden:
        if rule == "even":
            m = 1 + torch.arange(width) * top // width
        else:
            m = torch.randint(least, top + 1, (width,), generator=generator)
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


def observed_first(observed: Tensor, order: Tensor) -> Tensor:
    """`order` with the observed variables moved to the front; both parts keep their order.

    Args:
        observed: (n,) bool.
    """
    seen = observed.reshape(-1).cpu()[order]
    return torch.cat([order[seen], order[~seen]])


class MaskedLinear(nn.Linear):
    """A linear layer that multiplies its weight by a mask when it is used.

    The stored weight is never overwritten: what one mask hides, the next mask finds unharmed.
    """

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:  # type: ignore[override]
        """x (B, in), mask (out, in) -> (B, out)."""
        return F.linear(x, self.weight * mask, self.bias)


# --- The model --------------------------------------------------------------------------------


class MADE(Module):
    """Deep masked autoencoder for distribution estimation, on bits.

    Args:
        event_shape: shape of one example; n is its product.
        hidden: widths of the hidden layers.
        direct: connect inputs to outputs directly; restores every edge that a narrow layer loses.
        degrees: "even" or "random", see `draw_degrees`.
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

    def __init__(
        self,
        event_shape: Sequence[int] = (784,),
        hidden: Sequence[int] = (500,),
        direct: bool = False,
        degrees: Literal["even", "random"] = "even",
        order: str | Sequence[int] = "raster",
        num_orders: int = 1,
        num_masks: int = 1,
        ensemble: int = 8,
        seed: int = 0,
        **training: Any,
    ) -> None:
        super().__init__(**training)
        if not hidden or min(hidden) < 1:
            raise ValueError(f"hidden is {list(hidden)}: give at least one width, each at least 1.")
        if degrees not in ("even", "random"):
            raise ValueError(f"degrees {degrees!r} is unknown: use even or random.")
        if min(num_orders, num_masks) < 0 or ensemble < 1:
            raise ValueError("num_orders and num_masks must be at least 0, ensemble at least 1.")
        if num_masks != 1 and degrees == "even":
            raise ValueError("num_masks needs degrees: random (evenly spaced degrees are always the same).")
        self.event_shape = tuple(event_shape)
        self.n = math.prod(self.event_shape)
        self.hidden, self.direct, self.degrees, self.seed = list(hidden), direct, degrees, seed
        self.num_orders, self.num_masks, self.ensemble = num_orders, num_masks, ensemble
        self.order = resolve_order(order, self.n, seed)  # type: ignore[arg-type]

        widths = [self.n, *hidden]
        self.layers = nn.ModuleList([MaskedLinear(i, o) for i, o in zip(widths, hidden, strict=False)])
        self.out = MaskedLinear(widths[-1], self.n)
        self.skip = MaskedLinear(self.n, self.n, bias=False) if direct else None
        if self.skip is not None:
            nn.init.zeros_(self.skip.weight)
        self._masks: dict[Any, list[Tensor]] = {}  # the last masks used; see `masks`

    # --- connectivity: which order and which degrees ---

    @property
    def order_agnostic(self) -> bool:
        """Whether training drew a fresh order for every minibatch, so that any order may be asked for."""
        return self.num_orders == 0

    @property
    def num_components(self) -> int:
        """How many (order, degrees) pairs `log_prob` mixes; 1 for one fixed order and mask."""
        counts = [c if c else self.ensemble for c in (self.num_orders, self.num_masks)]
        return max(counts)

    def component_order(self, index: int) -> Tensor:
        """The order of pair `index`, (n,); `order` itself for one fixed order."""
        if self.num_orders == 1:
            return self.order
        index = index % self.num_orders if self.num_orders else index
        return torch.randperm(self.n, generator=self._generator(index, 1))

    def component_degrees(self, index: int) -> list[Tensor]:
        """The degrees of pair `index`, one tensor per hidden layer."""
        index = index % self.num_masks if self.num_masks else index
        return draw_degrees(self.n, self.hidden, self.degrees, self._generator(index, 2))

    def _generator(self, index: int, purpose: int) -> torch.Generator:
        # a function of (seed, purpose, index) alone: a resumed run and every process see the same orders;
        # hashed, because torch's CPU generator reads only the low 32 bits of a seed
        return torch.Generator().manual_seed(hash((self.seed, purpose, index)) % 2**63)

    def masks(self, order: Tensor | None = None, index: int = 0) -> list[Tensor]:
        """Masks (out, in) of every layer, in the weights' dtype; of pair `index`, or of `order`."""
        weight = self.out.weight
        order = self.component_order(index) if order is None else order
        key = (
            tuple(order.tolist()),
            index % self.num_masks if self.num_masks else index,
            weight.dtype,
            weight.device,
        )
        if key not in self._masks:
            masks = make_masks(ranks(order), self.component_degrees(index), self.direct)
            if len(self._masks) >= 32:
                self._masks.clear()
            self._masks[key] = [m.to(weight) for m in masks]
        return self._masks[key]

    # --- density ---

    def forward(self, x: Tensor, masks: Sequence[Tensor]) -> Tensor:
        """Logits (B, n) of every conditional in one pass."""
        h = x
        for layer, mask in zip(self.layers, masks, strict=False):
            h = F.relu(layer(h, mask))
        logits = self.out(h, masks[len(self.layers)])
        return logits if self.skip is None else logits + self.skip(x, masks[-1])

    def _flat(self, x: Tensor) -> Tensor:
        if x.numel() != len(x) * self.n:
            raise ValueError(f"each example has {x.numel() // max(len(x), 1)} entries, the model {self.n}.")
        x = x.reshape(len(x), self.n).to(self.out.weight)  # (B, *event_shape) -> (B, n)
        if ((x != 0) & (x != 1)).any():
            raise ValueError("MADE is a density on bits: binarize the data (threshold, static or dynamic).")
        return x

    def _order(self, order: Order | Tensor | None) -> Tensor | None:
        return None if order is None else resolve_order(order, self.n, self.seed)  # type: ignore[arg-type]

    def _log_prob(self, x: Tensor, masks: Sequence[Tensor]) -> Tensor:
        logits = self(x, masks)
        return -F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(-1)  # (B, n) -> (B,)

    def log_prob(self, x: Tensor, order: Order | Tensor | None = None) -> Tensor:
        """log p(x) in nats, (B,); of one order if given, else of the mixture of all pairs.

        Raises:
            ValueError: x is not binary or has the wrong size.
        """
        x = self._flat(x)
        if order is not None or self.num_components == 1:
            return self._log_prob(x, self.masks(self._order(order)))
        each = torch.stack([self._log_prob(x, self.masks(index=s)) for s in range(self.num_components)])
        return each.logsumexp(0) - math.log(self.num_components)  # (S, B) -> (B,)

    def conditionals(self, x: Tensor, order: Order | Tensor | None = None) -> Tensor:
        """p(x_i = 1 | x_<i) for every i in one pass, (B, *event_shape), under `order` or the first pair's."""
        logits = self(self._flat(x), self.masks(self._order(order)))
        return torch.sigmoid(logits).reshape(len(x), *self.event_shape)

    def step(self, batch: Any, split: Split) -> Tensor:
        x = batch[0] if isinstance(batch, (tuple, list)) else batch
        if split == "train":
            # global_step is restored with a checkpoint and equal on every process
            index = self.global_step if self._trainer is not None else 0
            nll = -self._log_prob(self._flat(x), self.masks(index=index))
        else:
            nll = -self.log_prob(x)
        self.measure(split, "nll", nll.detach())
        return nll.mean()

    # --- sampling ---

    def sample(
        self,
        n: int,
        given: Tensor | None = None,
        order: Order | Tensor | None = None,
        temperature: float = 1.0,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """Draw n examples, (n, *event_shape), or complete one.

        Args:
            given: an example (*event_shape) or n of them, NaN where free. The known entries are kept to
                the bit and must be free in the same places of every example. Exact draws from
                p_order(free | known), if they come first in the order.
            order: None takes the model's own; with `given`, an order-agnostic model visits the known
                variables first.
            temperature: divides every logit; 0 takes the more probable bit. Other than 1, this is not
                p(x)^(1/T) normalised: each conditional is sharpened by itself.

        Raises:
            ValueError: what is given does not come first in the only order the model was trained on.
                Naming an `order` samples anyway: known entries that come late are then clamped, and
                the variables before them do not see them.
        """
        known = self._known(given, n)
        if order is None and known is None and self.num_components > 1:
            weights = torch.ones(self.num_components)
            parts = torch.multinomial(weights, n, replacement=True, generator=generator)
            x = torch.empty(n, self.n, dtype=self.out.weight.dtype, device=self.out.weight.device)
            for s in parts.unique().tolist():  # a draw from a mixture: first the component, then x
                mine = (parts == s).to(x.device)
                x[mine] = self._draw(
                    int(mine.sum()), None, self.component_order(s), s, temperature, generator
                )[0]
        else:
            x, _ = self._draw(n, known, self.sampling_order(known, order), 0, temperature, generator)
        return x.reshape(n, *self.event_shape)

    def sampling_order(self, known: Tensor | None, order: Order | Tensor | None = None) -> Tensor:
        """The order in which `sample` visits the variables; `known` (.., n), NaN where free."""
        if order is not None:
            return resolve_order(order, self.n, self.seed)  # type: ignore[arg-type]
        own = self.component_order(0)
        if known is None:
            return own
        seen = ~known.reshape(-1, self.n)[0].isnan()
        first = observed_first(seen, own)
        if not self.order_agnostic and not torch.equal(first, own):
            raise ValueError(
                "This model was trained on one order and can complete only what comes last in it; "
                "give a beginning of that order, or name an order to sample anyway."
            )
        return first

    def _known(self, given: Tensor | None, n: int) -> Tensor | None:
        if given is None:
            return None
        known = given.to(self.out.weight).reshape(-1, self.n).expand(n, self.n)
        free = known.isnan()
        if (free != free[0]).any():
            raise ValueError("the entries left free (NaN) must be the same in every given example.")
        if ((known != 0) & (known != 1) & ~free).any():
            raise ValueError("given entries must be 0, 1, or NaN where free.")
        return known

    @torch.no_grad()
    def _draw(
        self,
        n: int,
        known: Tensor | None,
        order: Tensor,
        index: int,
        temperature: float,
        generator: torch.Generator | None,
    ) -> tuple[Tensor, Tensor]:
        """Ancestral sampling: x (n, n_variables) and the logits it was drawn from.

        Instead of n full passes only what changed is computed: a new bit adds one column of the first
        layer's weights, and of the outputs only the next variable's row is needed. One hidden layer
        of width d costs O(n d) per example, like NADE; deeper ones add their inner layers.
        """
        if temperature < 0:
            raise ValueError(f"temperature is {temperature}: it must be at least 0.")
        masks = self.masks(order, index)
        first, *others = cast(list[MaskedLinear], list(self.layers))
        columns = (first.weight * masks[0]).t().contiguous()  # (n, d), row j = what x_j adds
        rows = self.out.weight * masks[len(self.layers)]  # (n, d')
        skip = None if self.skip is None else self.skip.weight * masks[-1]
        inner = [(layer.weight * mask, layer.bias) for layer, mask in zip(others, masks[1:], strict=False)]
        a = first.bias.expand(n, -1).clone()  # running pre-activation of the first layer, (n, d)
        x = a.new_zeros(n, self.n)
        all_logits = a.new_zeros(n, self.n)
        noise = torch.rand(n, self.n, generator=generator, dtype=torch.float64).to(x)
        seen = [False] * self.n if known is None else (~known[0].isnan()).tolist()
        visited = order.tolist()
        prefix = next((t for t, j in enumerate(visited) if not seen[j]), self.n)
        if known is not None and prefix:  # what is known and comes first needs one pass, not one each
            first_known = visited[:prefix]
            x[:, first_known] = known[:, first_known]
            a += x[:, first_known] @ columns[first_known]
            all_logits[:, first_known] = self(x, masks)[:, first_known]
        for j in visited[prefix:]:
            h = F.relu(a)
            for weight, bias in inner:
                h = F.relu(F.linear(h, weight, bias))
            logit = h @ rows[j] + self.out.bias[j]
            if skip is not None:
                logit = logit + x @ skip[j]
            all_logits[:, j] = logit
            if known is not None and seen[j]:
                x[:, j] = known[:, j]
            elif temperature == 0:
                x[:, j] = (logit > 0).to(x)
            else:
                x[:, j] = (noise[:, j] < torch.sigmoid(logit / temperature)).to(x)
            a += x[:, j, None] * columns[j]
        return x, all_logits

    def sample_trace(
        self,
        given: Tensor | None = None,
        order: Order | Tensor | None = None,
        temperature: float = 1.0,
        seed: int = 0,
    ) -> Trace:
        """One draw, variable by variable; a step per free variable, after one for what is given.

        Step values: `pixel` (index, -1 for what is given), `x` (*event_shape, NaN where not yet
        visited), `bit`, `p` (of a one, as drawn from: at `temperature`), `model_p` (at temperature 1)
        and the running `log_prob` under the model, nats. `result`: dict of `x`, `model_p`, `surprise`
        (-log p of each variable, nats) and `order`.
        """
        known = self._known(given, 1)
        visited = self.sampling_order(known, order)
        generator = torch.Generator().manual_seed(seed)
        x, logits = (t[0].cpu() for t in self._draw(1, known, visited, 0, temperature, generator))
        surprise = F.binary_cross_entropy_with_logits(logits, x, reduction="none")
        probs = torch.sigmoid(logits)
        seen = torch.zeros(self.n, dtype=torch.bool) if known is None else ~known[0].isnan().cpu()
        picture = torch.where(seen, x, torch.nan)
        steps: list[Step] = []
        total = -float(surprise[seen].sum())
        if seen.any():
            steps.append(
                Step(
                    f"{int(seen.sum())} of {self.n} variables are given: {total:.2f} nats.",
                    {"pixel": -1, "x": picture.reshape(self.event_shape), "bit": -1, "p": math.nan,
                     "model_p": math.nan, "log_prob": total},
                    rf"\log p(x_{{\text{{given}}}}) = {total:.2f}",
                )
            )  # fmt: skip
        for position, j in enumerate(visited.tolist(), start=1):
            if seen[j]:
                continue
            model_p, bit = float(probs[j]), int(x[j])
            p = float(torch.sigmoid(logits[j] / temperature) if temperature else logits[j] > 0)
            before, total = total, total - float(surprise[j])
            picture = picture.clone()
            picture[j] = x[j]
            steps.append(
                Step(
                    f"Variable {j}, number {position} in the order: p(1) = {p:.3f}, drawn {bit}.",
                    {"pixel": j, "x": picture.reshape(self.event_shape), "bit": bit, "p": p,
                     "model_p": model_p, "log_prob": total},
                    rf"\log p = {before:.2f} + \log {model_p if bit else 1 - model_p:.4f} = {total:.2f}",
                )
            )  # fmt: skip
        result = {
            "x": x.reshape(self.event_shape),
            "model_p": probs.reshape(self.event_shape),
            "surprise": surprise.reshape(self.event_shape),
            "order": visited,
        }
        return Trace(steps, result)
