"""Mixtures of joints: a model with several orders, masks or classes gives each its own p_s(x).

    p(x) = (1/S) Σ_s p_s(x),    p(x_i | x_<i) = Σ_s p(s | x_<i) p_s(x_i | x_<i)

All joints are equally likely before anything is known. Conditionals can be mixed only where all joints visit
the variables in one order.

References: Uria, Murray, Larochelle 2014, arXiv:1310.1757 (ensembles over orders).
"""

from collections.abc import Sequence
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from modules.autoregressive.orders import Order, observed_first, resolve_order

Joint = tuple[Tensor, int]  # the order in which it visits the variables, and its index in the mixture


def log_weights(each: Tensor, order: Tensor) -> Tensor:
    """log p(joint | x_<i) of joints that are equally likely before: each is weighed by what it gave x_<i.

    Args:
        each: (S, B, n) log p(x_i | x_<i) of every joint, nats; all visit the variables in this order.
    """
    if len(each) == 1:
        return torch.zeros_like(each)  # certain, also of what is impossible
    before = F.pad(each[..., order].cumsum(-1)[..., :-1], (1, 0))  # log p_s(x_<i)
    return before.log_softmax(0)[..., order.argsort()]


class MixtureOfJoints:
    """Mixin of autoregressive models: their joints, and the one that a draw comes from.

    A model without several of anything is a mixture of one.

    Attributes:
        n: number of variables.
        order: (n,) the variables in the order they are visited.
        seed: of a random order.
        joint_name: what a message calls one of the joints.
    """

    n: int
    order: Tensor
    seed: int
    joint_name: ClassVar[str] = "joint"

    def logits(self, x: Tensor, order: Tensor | None = None, index: int = 0) -> Tensor:
        """Logits of every conditional in one pass: x (B, n) -> (B, n) for bits, (B, n, K) for K values.

        Args:
            order: (n,) visited variables; None takes that of joint `index`.
        """
        raise NotImplementedError

    def conditional_log_prob(self, logits: Tensor, x: Tensor) -> Tensor:
        """log p(x_i | x_<i) of each entry, nats: logits (..., n[, K]), x (..., n) -> (..., n)."""
        raise NotImplementedError

    @property
    def order_agnostic(self) -> bool:
        """True if training drew a fresh order for every minibatch, so that any order may be asked for."""
        return False

    @property
    def num_components(self) -> int:
        """Number of joints that `log_prob` mixes; 1 for one fixed order."""
        return 1

    @property
    def num_in_one_order(self) -> int:
        """Number of joints in any one order: they differ in something else, masks or classes."""
        return self.num_components

    def component_order(self, index: int) -> Tensor:
        """Order of joint `index`, (n,); `order` itself for one fixed order."""
        return self.order

    def joints(self, order: Order | Tensor | None = None) -> list[Joint]:
        """Joints that `log_prob` mixes: all, each in its order; or those that there are in `order`."""
        if order is None:
            return [(self.component_order(s), s) for s in range(self.num_components)]
        visited = resolve_order(order, self.n, self.seed)
        return [(visited, s) for s in range(self.num_in_one_order)]

    def in_one_order(self, order: Order | Tensor | None = None, index: int | None = None) -> list[Joint]:
        """Joints whose conditionals can be mixed; of joint `index` it alone.

        Raises:
            ValueError: their orders differ.
        """
        joints = self.joints(order)
        if index is not None:
            return [(joints[0][0] if order is not None else self.component_order(index), index)]
        if any(not torch.equal(visited, joints[0][0]) for visited, _ in joints):
            raise ValueError(
                f"This model mixes {len(joints)} joints in different orders, in which different things come "
                "before a variable: name an order, or the index of a joint."
            )
        return joints

    def joints_given(self, known: Tensor | None, order: Order | Tensor | None = None) -> list[Joint]:
        """Joints that can draw what is free given what is `known` (..., n), NaN where free.

        A joint can where what is known comes first in its order. The orders of an order-agnostic model are
        changed to that; of other models the joints that cannot are left out. In a named `order` all stay.

        Raises:
            ValueError: no joint can.
        """
        joints = self.joints(order)
        if known is None or order is not None:
            return joints
        seen = ~known.reshape(-1, self.n)[0].isnan()
        able = [
            (first, index)
            for visited, index in joints
            if torch.equal(first := observed_first(seen, visited), visited) or self.order_agnostic
        ]
        if not able:
            orders = "one order" if len(joints) == 1 else "few orders"
            raise ValueError(
                f"This model was trained on {orders} and can complete only what comes last in it; "
                "give a beginning of that order, or name an order to sample anyway."
            )
        return able

    @torch.no_grad()
    def joint_posterior(self, known: Tensor, joints: Sequence[Joint]) -> Tensor:
        """p(joint | what is known) by Bayes, joints equally likely before: known (B, n) -> (B, S).

        Of the known entries those count that come before the first free one in a joint's order.
        """
        x, scores = known.nan_to_num(), []
        for order, index in joints:
            late = known.isnan()[:, order].cumsum(1) > 0
            each = self.conditional_log_prob(self.logits(x, order, index), x)[:, order]
            scores.append(each.masked_fill(late, 0.0).sum(1))
        return torch.stack(scores, 1).softmax(1)

    def draw_joints(
        self, n: int, known: Tensor | None, joints: Sequence[Joint], generator: torch.Generator | None
    ) -> Tensor:
        """Joint of each of n examples, (n,) places in `joints`: a mixture's draw begins with it."""
        if len(joints) == 1:
            return torch.zeros(n, dtype=torch.int64)
        if known is None:
            return torch.multinomial(torch.ones(len(joints)), n, replacement=True, generator=generator)
        distribution = self.joint_posterior(known, joints).cpu()
        return torch.multinomial(distribution, 1, generator=generator)[:, 0]
