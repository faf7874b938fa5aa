"""Autoregressive models of a vector of n discrete variables: the base of the family.

    log p(x) = Σ_i log p(x_i | x_<i),    x_<i: the variables that come before i in the order

Any order is exact, and the chain rule alone assumes nothing. Members differ in one thing: how they
compute the conditionals of all variables from a full x, without x_i or anything later reaching the i-th
(`logits`). From that follow the likelihood (one pass) and sampling (one variable after the other).
[GM] 1.5.1 says a conditional on m bits needs 2^m - 1 numbers: it needs 2^m, one per context.

A member implements `logits` and, where it can do better than a pass per variable, `_sequential_logits`.

References: [GM] 1.1-1.5; [BB] 5.1; [UDL] 12.7; Uria, Côté, Gregor, Murray, Larochelle 2016, arXiv:1605.02226.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from modules.autoregressive.mixture import Joint, MixtureOfJoints, log_weights
from modules.autoregressive.orders import Order, named, resolve_order
from modules.base import Module, Split
from modules.former import former
from modules.noise import pick, uniform
from modules.trace import Step, Trace

COLDEST = 1e-30  # a lower temperature counts as 0: in single precision logits over it are no numbers


class Autoregressive(MixtureOfJoints, Module):
    """Base of the family.

    A member's constructor gives it, by place and not by name, what is fixed or an argument of its own.

    Args:
        event_shape: shape of one example; n is its product.
        order: see `resolve_order`.
        num_categories: K, each variable takes the values 0..K-1.
        seed: of a random order.
        training: optimizer, lr_scheduler, ... of `modules.base.Module`.

    Raises:
        ValueError: a size below 1, fewer than 2 categories, or no such order.

    Attributes:
        event_shape: shape of one example; n is its product.
        n: number of variables.
        order: (n,) the variables in the order they are visited.

    Shapes: x (B, *event_shape) or (B, n); log_prob (B,), nats.
    """

    event_shape: tuple[int, ...]
    n: int
    order: Tensor
    num_categories: int
    seed: int

    def __init__(
        self,
        event_shape: Sequence[int],
        order: Order | str = "raster",
        num_categories: int = 2,
        seed: int = 0,
        /,
        **training: Any,
    ) -> None:
        super().__init__(**training)
        if not event_shape or min(event_shape) < 1:
            raise ValueError(f"event_shape is {list(event_shape)}: every size must be at least 1.")
        if num_categories < 2:
            raise ValueError(f"num_categories is {num_categories}: a variable takes at least 2.")
        self.event_shape = tuple(event_shape)
        self.n = math.prod(self.event_shape)
        self.num_categories, self.seed = num_categories, seed
        self.order = resolve_order(order, self.n, seed)

    def extra_repr(self) -> str:
        values = f", num_categories={self.num_categories}" if self.num_categories > 2 else ""
        return f"event_shape={self.event_shape}, order={named(self.order)}{values}"

    # --- numbers that depend on what a variable is; RNADE has its own ---

    def as_vectors(self, x: Tensor) -> Tensor:
        """x (B, *event_shape) -> (B, n) in the model's dtype, checked.

        Raises:
            ValueError: x has the wrong size, or entries that the variables cannot take.
        """
        if x.numel() != len(x) * self.n:
            raise ValueError(f"each example has {x.numel() // max(len(x), 1)} entries, the model {self.n}.")
        x = x.reshape(len(x), self.n).to(self.device, self.dtype)
        if not self.in_support(x).all():
            kind, how = self.domain, "check the data"
            if self.num_categories == 2:
                kind, how = "bits", "binarize the data (threshold, static or dynamic)"
            raise ValueError(f"{type(self).__name__} is a density on {kind}: {how}.")
        return x

    @property
    def domain(self) -> str:
        """Values of a variable, in words."""
        return "0, 1" if self.num_categories == 2 else f"whole numbers 0 to {self.num_categories - 1}"

    def in_support(self, x: Tensor) -> Tensor:
        """Bool, like x: True at entries that are values of a variable."""
        return (x == x.round()) & (x >= 0) & (x < self.num_categories)

    def conditional_log_prob(self, logits: Tensor, x: Tensor) -> Tensor:
        """log p(x_i | x_<i) of each entry, nats: logits (..., n[, K]), x (..., n) -> (..., n)."""
        if self.num_categories == 2:
            return -F.binary_cross_entropy_with_logits(logits, x, reduction="none")
        return logits.log_softmax(-1).gather(-1, x.long()[..., None])[..., 0]

    def probabilities(self, logits: Tensor, temperature: float = 1.0) -> Tensor:
        """p(x_i = 1), or p(x_i = k) for every k; temperature 0 puts everything on the likeliest value."""
        if self.num_categories == 2:
            return (logits > 0).to(logits) if temperature < COLDEST else torch.sigmoid(logits / temperature)
        if temperature < COLDEST:
            return F.one_hot(logits.argmax(-1), self.num_categories).to(logits)
        return (logits / temperature).softmax(-1)

    def sample_conditional(self, logits: Tensor, noise: Tensor, temperature: float) -> Tensor:
        """Draw a value per row by inverting the distribution function, logits (B[, K]), noise (B,)."""
        p = self.probabilities(logits, temperature)
        if self.num_categories == 2:
            return (noise < p).to(p)
        return pick(p, noise).to(p)

    # --- density ---

    def _log_prob(self, x: Tensor, order: Tensor | None = None, index: int = 0) -> Tensor:
        return self.conditional_log_prob(self.logits(x, order, index), x).sum(-1)  # (B, n) -> (B,)

    def log_prob(self, x: Tensor, order: Order | Tensor | None = None) -> Tensor:
        """log p(x) in nats, (B,), of the mixture of all joints; of those in one order if given.

        Raises:
            ValueError: x has the wrong size, or entries that the variables cannot take.
        """
        x = self.as_vectors(x)
        each = torch.stack([self._log_prob(x, *joint) for joint in self.joints(order)])
        return each.logsumexp(0) - math.log(len(each))  # (S, B) -> (B,)

    def log_conditionals(
        self, x: Tensor, order: Order | Tensor | None = None, index: int | None = None
    ) -> Tensor:
        """log p(x_i | x_<i) of every entry of x in one pass for each joint, nats, (B, *event_shape).

        They are the mixture's own, and sum to `log_prob`; with `index`, those of one joint alone.

        Raises:
            ValueError: joints of different orders, of which neither is named.
        """
        x, joints = self.as_vectors(x), self.in_one_order(order, index)
        logits = [self.logits(x, *joint) for joint in joints]
        each = torch.stack([self.conditional_log_prob(result, x) for result in logits])  # (S, B, n)
        result = (log_weights(each, joints[0][0]) + each).logsumexp(0)
        return result.reshape(len(x), *self.event_shape)

    def conditionals(
        self, x: Tensor, order: Order | Tensor | None = None, index: int | None = None
    ) -> Tensor:
        """p(x_i = 1 | x_<i) for every i, (B, *event_shape); for K values p(x_i = k | x_<i), with a last
        dimension (K). Of the mixture or of one joint, see `log_conditionals`."""
        x, joints = self.as_vectors(x), self.in_one_order(order, index)
        logits = [self.logits(x, *joint) for joint in joints]
        each = torch.stack([self.conditional_log_prob(result, x) for result in logits])
        weights = log_weights(each, joints[0][0]).exp()  # (S, B, n)
        p = torch.stack([self.probabilities(result) for result in logits])  # (S, B, n[, K])
        p = (weights.reshape(*weights.shape, *[1] * (p.ndim - 3)) * p).sum(0)
        return p.reshape(len(x), *self.event_shape, *p.shape[2:])

    def step(self, batch: Any, split: Split) -> Tensor:
        x = batch[0] if isinstance(batch, (tuple, list)) else batch
        if split == "train":
            # global_step is restored with a checkpoint and equal on every process
            index = self.global_step if self._trainer is not None else 0
            nll = -self._log_prob(self.as_vectors(x), index=index)
        else:
            nll = -self.log_prob(x)
        self.log_metric(split, "nll", nll.detach())
        return nll.mean()

    # --- sampling ---

    @former("n", "given", "order", "temperature", "generator")
    def sample(
        self,
        n: int,
        *,
        temperature: float = 1.0,
        generator: torch.Generator | None = None,
        given: Tensor | None = None,
        order: Order | Tensor | None = None,
    ) -> Tensor:
        """Draw n examples, (n, *event_shape), or complete one.

        From a mixture each example's joint is drawn first, from p(joint | known): see `joints_given`.

        Args:
            temperature: divides every logit; 0 takes the likeliest value. Other than 1, this is not
                p(x)^(1/T) normalised: each conditional is sharpened by itself.
            generator: source of all draws; None is torch's own.
            given: an example (*event_shape) or n of them, NaN where free. The known entries are kept to
                the bit and must be free in the same places of every example. Exact draws from
                p(free | known) of the joints that can complete, if any can.
            order: None takes the model's own; with `given`, an order-agnostic model visits the known
                variables first.

        Raises:
            ValueError: what is given does not come first in any order that the model was trained on.
                Naming an `order` samples anyway: known entries that come late are then clamped, and
                the variables before them do not see them.
        """
        known = self._checked(given, n)
        joints = self.joints_given(known, order)
        chosen = self.draw_joints(n, known, joints, generator)
        return self._draw_from(known, joints, chosen, temperature, generator)

    def _draw_from(
        self,
        known: Tensor | None,
        joints: Sequence[Joint],
        chosen: Tensor,
        temperature: float,
        generator: torch.Generator | None,
    ) -> Tensor:
        """Examples of the chosen joints (n,), (n, *event_shape)."""
        x = torch.empty(len(chosen), self.n, dtype=self.dtype, device=self.device)
        for s in chosen.unique().tolist():
            mine = (chosen == s).to(x.device)
            own = None if known is None else known[mine]
            order, index = joints[s]
            x[mine] = self._draw(int(mine.sum()), own, order, index, temperature, generator)[0]
        return x.reshape(len(chosen), *self.event_shape)

    def _checked(self, given: Tensor | None, n: int) -> Tensor | None:
        if given is None:
            return None
        known = given.to(self.device, self.dtype).reshape(-1, self.n).expand(n, self.n)
        free = known.isnan()
        if (free != free[0]).any():
            raise ValueError("the entries left free (NaN) must be the same in every given example.")
        if not (self.in_support(known) | free).all():
            raise ValueError(f"given entries must be {self.domain}, or NaN where free.")
        return known

    def _sequential_logits(self, x: Tensor, order: Tensor, index: int, start: int) -> Iterator[Tensor]:
        """Logits (B[, K]) of order[start], order[start + 1], ..., one after the other.

        Between two of them the caller writes the value of the variable just asked for into x (B, n),
        which holds those of order[:start] from the beginning. This plain form makes one full pass for
        each; members that can carry a running state from one to the next do that instead.
        """
        for j in order[start:].tolist():
            yield self.logits(x, order, index)[:, j]

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
        """Ancestral sampling: x (n, n_variables) and the logits it was drawn from, (n, n_variables[, K])."""
        if temperature < 0:
            raise ValueError(f"temperature is {temperature}: it must be at least 0.")
        x = torch.zeros(n, self.n, dtype=self.dtype, device=self.device)
        noise = uniform(n, self.n, like=x, generator=generator)
        result = [False] * self.n if known is None else (~known[0].isnan()).tolist()
        visited = order.tolist()
        start = next((t for t, j in enumerate(visited) if not result[j]), self.n)
        all_logits: Tensor | None = None
        if known is not None and start:  # what is known and comes first needs one pass, not one each
            x[:, visited[:start]] = known[:, visited[:start]]
            all_logits = self.logits(x, order, index)
        for j, logits in zip(visited[start:], self._sequential_logits(x, order, index, start), strict=True):
            if all_logits is None:
                all_logits = logits.new_zeros(n, self.n, *logits.shape[1:])
            all_logits[:, j] = logits
            if known is not None and result[j]:
                x[:, j] = known[:, j]
            else:
                x[:, j] = self.sample_conditional(logits, noise[:, j], temperature)
        assert all_logits is not None  # there is at least one variable
        return x, all_logits

    @former("given", "order", "temperature", "seed")
    def sample_trace(
        self,
        *,
        temperature: float = 1.0,
        generator: torch.Generator | None = None,
        given: Tensor | None = None,
        order: Order | Tensor | None = None,
    ) -> Trace:
        """Trace of one draw, a step per free variable, after one for what is given. Arguments as of `sample`.

        A mixture draws its joint first, as `sample` does. The steps are those of this joint alone, and one
        more at the end turns its log p(x) into the mixture's: the last `log_prob` is `log_prob(x, order)`.

        Step values: `pixel` (index, -1 where none is drawn), `x` (*event_shape, NaN where not yet
        visited), `bit` (the value drawn), `p` (as drawn from, at `temperature`) and `model_p` (at
        temperature 1), of a one for bits and of the drawn value for K values; and the running `log_prob`,
        nats. `result`: dict of `x`, `model_p` (every conditional), `surprisal` (-log p of each variable,
        nats), `order` and `index` of the joint.
        """
        known = self._checked(given, 1)
        joints = self.joints_given(known, order)
        joint = joints[int(self.draw_joints(1, known, joints, generator))]
        return self._trace(known, joint, self.joints(order), temperature, generator)

    def _trace(
        self,
        known: Tensor | None,
        joint: Joint,
        mixed: Sequence[Joint],
        temperature: float,
        generator: torch.Generator | None,
    ) -> Trace:
        """Trace of one draw from a joint; `known` (1, n), NaN where free.

        Args:
            mixed: the joints whose mixture has the last `log_prob`.
        """
        visited, index = joint
        drawn, results = self._draw(1, known, visited, index, temperature, generator)
        x, logits = drawn[0].cpu(), results[0].cpu()
        surprisal = -self.conditional_log_prob(logits, x)
        model_p, p = self.probabilities(logits), self.probabilities(logits, temperature)
        observed = torch.zeros(self.n, dtype=torch.bool) if known is None else ~known[0].isnan().cpu()
        picture = torch.where(observed, x, torch.nan)
        steps: list[Step] = []
        total = -float(surprisal[observed].sum())
        if observed.any():
            steps.append(
                Step(
                    f"{int(observed.sum())} of {self.n} variables are given: {total:.2f} nats.",
                    {"pixel": -1, "x": picture.reshape(self.event_shape), "bit": -1, "p": math.nan,
                     "model_p": math.nan, "log_prob": total},
                    rf"\log p(x_{{\text{{given}}}}) = {total:.2f}",
                )
            )  # fmt: skip
        for position, j in enumerate(visited.tolist(), start=1):
            if observed[j]:
                continue
            value = int(x[j])
            asked = 1 if self.num_categories == 2 else value
            shown = [float(q[j] if self.num_categories == 2 else q[j, value]) for q in (p, model_p)]
            before, total = total, total - float(surprisal[j])
            picture = picture.clone()
            picture[j] = x[j]
            steps.append(
                Step(
                    f"Variable {j}, number {position} in the order: p({asked}) = {shown[0]:.3f}, "
                    f"drawn {value}.",
                    {"pixel": j, "x": picture.reshape(self.event_shape), "bit": value, "p": shown[0],
                     "model_p": shown[1], "log_prob": total},
                    rf"\log p = {before:.2f} + \log {math.exp(-float(surprisal[j])):.4f} = {total:.2f}",
                )
            )  # fmt: skip
        if any(other != index or not torch.equal(order, visited) for order, other in mixed):
            with torch.no_grad():
                each = torch.stack([self._log_prob(drawn, *one) for one in mixed])
            whole = float(each.logsumexp(0) - math.log(len(each)))
            steps.append(
                Step(
                    f"Drawn from {self.joint_name} {index} alone: {total:.2f} nats. Mixed over every "
                    f"{self.joint_name}, {len(each)} in all, log p(x) is {whole:.2f} nats.",
                    {"pixel": -1, "x": picture.reshape(self.event_shape), "bit": -1, "p": math.nan,
                     "model_p": math.nan, "log_prob": whole},
                    rf"\log p(x) = \log \tfrac{{1}}{{{len(each)}}} \sum_s p_s(x) = {whole:.2f}",
                )
            )  # fmt: skip
        result = {
            "x": x.reshape(self.event_shape),
            "model_p": model_p.reshape(*self.event_shape, *model_p.shape[1:]),
            "surprisal": surprisal.reshape(self.event_shape),
            "order": visited,
            "index": index,
        }
        return Trace(steps, result)
