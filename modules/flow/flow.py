r"""Normalizing flow: a base density pushed through a stack of layers, fitted by exact likelihood.

    log p(x) = log p_Z(z) + ladj_normalize(x),    z = f⁻¹(x),    p_Z = N(0, I_D)
    x = f(z),  z ~ N(0, T² I):                    one pass, no Markov chain; T = α^{−1/2} for the base p_Z^α

Maximum likelihood is the least KL(data ‖ model). Powers α > 1 sharpen the base ([UDL] 16.5.2 asks for a
positive one only); p_Z^α pushed through f is p^α only where |det J| is constant.

"Exact" holds of the layers' own arithmetic: not of truncated series, of adaptive solvers, nor of whole
numbers, where uniform noise gives a bound.

Shapes: x (B, *event_shape), z (B, D), D = prod(event_shape); context (B, E).
References: Dinh et al. 2015, arXiv:1410.8516; [UDL] 16.1-16.2, 16.5; [GM] 3.12.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.distributions import Distribution, Independent, Normal, constraints

from modules.base import Module, Split, in_rows, require
from modules.classes import ClassConditional
from modules.flow.layer import FlowLayer, FlowStack, ValueAndLogDet
from modules.former import former
from modules.noise import normal
from modules.trace import Step, Trace


class Flow(Module, ClassConditional):
    """Base of every flow. Subclasses set `self.stack`; densities, codes and samples follow from it.

    Args:
        event_shape: shape of one x.
        conditional: learn p(x | y), y a class; its one-hot vector is the context.
        num_classes: classes of y; None where the data have none.
        context: E, numbers of a context that is no class: the second tensor of a batch is (B, E); 0 has none.
        training: optimizer, lr_scheduler, ... of `modules.base.Module`.

    Attributes:
        context_features: E, 0 where there is no context.
        num_classes: of a conditional model; 0 of any other, whatever classes the data have.
    """

    stack: FlowLayer
    anchor: Tensor

    def __init__(
        self,
        event_shape: Sequence[int] = (2,),
        /,
        conditional: bool = False,
        num_classes: int | None = None,
        context: int = 0,
        **training: Any,
    ) -> None:
        super().__init__(**training)
        require(1, event_shape=event_shape, num_classes=num_classes or 1)
        require(0, context=context)
        if conditional and context:
            raise ValueError("context and conditional are both given: a flow is told a class or numbers.")
        if conditional and not num_classes:
            raise ValueError("conditional is true, but the data have no classes: leave it out.")
        self.event_shape, self.conditional = tuple(event_shape), conditional
        self.num_classes = (num_classes or 0) if conditional else 0
        self.event_dim = math.prod(self.event_shape)
        self.context_features = self.num_classes if conditional else context
        self.register_buffer("anchor", torch.zeros(()), persistent=False)  # knows device and precision

    # --- Latent -------------------------------------------------------------------------------------

    @property
    def prior(self) -> Independent:
        """p_Z = N(0, I_D)."""
        zeros = self.anchor.expand(self.event_dim)
        return Independent(Normal(zeros, zeros + 1, validate_args=False), 1, validate_args=False)

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        """z (B, D) -> x (B, *event_shape), log |det ∂x/∂z| (B,).

        Raises:
            ValueError: z has not as many numbers as the model.
        """
        if z.shape[-1] != self.event_dim:
            raise ValueError(f"z has {z.shape[-1]} numbers per example, the model {self.event_dim}.")
        x, ladj = self.stack.generate(z, self.check_context(context))
        return x.reshape(*z.shape[:-1], *self.event_shape), ladj

    def normalize(self, x: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        """x (B, *event_shape) or (B, D) -> z (B, D), log |det ∂z/∂x| (B,)."""
        numbers = math.prod(x.shape[1:])
        if numbers != self.event_dim:
            raise ValueError(
                f"x has {numbers} numbers per example, the model {self.event_dim} {self.event_shape}."
            )
        z, ladj = self.stack.normalize(self.stack_input(x), self.check_context(context))
        return z.reshape(len(x), self.event_dim), ladj

    def check_context(self, context: Tensor | None) -> Tensor | None:
        """The context, after a check that the flow is conditioned on one of its width.

        Raises:
            ValueError: it is missing, of another width, or there where none is due.
        """
        if context is None and not self.context_features:
            return None
        if context is None:
            raise ValueError("This flow is conditional: give it a context.")
        if not self.context_features:
            raise ValueError("This flow is not conditional: leave the context out.")
        if context.shape[-1] != self.context_features:
            raise ValueError(
                f"The context has {context.shape[-1]} numbers per example, the model {self.context_features}."
            )
        return context

    def stack_input(self, x: Tensor) -> Tensor:
        """x in the shape that the stack reads: vectors (B, D)."""
        return x.reshape(len(x), self.event_dim)

    def encode(self, x: Tensor, context: Tensor | None = None) -> Tensor:
        """x (B, ...) -> z (B, D)."""
        return self.normalize(x, context)[0]

    def decode(self, z: Tensor, context: Tensor | None = None) -> Tensor:
        """z (B, D) -> x (B, *event_shape)."""
        return self.generate(z, context)[0]

    # --- Density ------------------------------------------------------------------------------------

    def log_base(self, z: Tensor) -> Tensor:
        """log p_Z of z (..., D) -> (...): `prior.log_prob`, in fewer operations."""
        return -0.5 * (z.square().sum(-1) + self.event_dim * math.log(2 * math.pi))

    def log_prob(self, x: Tensor, context: Tensor | None = None) -> Tensor:
        """(B,) nats. Where the model is conditional, `context` is due: see `context_of`."""
        z, ladj = self.normalize(x, context)
        return self.log_base(z) + ladj

    def context_of(self, y: Tensor) -> Tensor | None:
        """Context (B, E) from what stands beside x in a batch: classes y (B,), or numbers; None without."""
        if self.conditional:
            return self.one_hot(y, len(y)).to(self.anchor)
        return in_rows(y).to(self.anchor) if self.context_features else None

    def distribution(self, context: Tensor | None = None) -> "FlowDistribution":
        """p(x) or p(x | context) as torch's own kind of object, with `rsample` and `log_prob`."""
        return FlowDistribution(self, context)

    def step(self, batch: Any, split: Split) -> Tensor:
        x, *rest = batch if isinstance(batch, list | tuple) else (batch,)
        nll = -self.log_prob(x, self.context_of(rest[0]) if self.context_features else None)
        self.log_metric(split, "nll", nll.detach())
        return nll.mean()

    # --- Sampler ------------------------------------------------------------------------------------

    def noise(self, n: int, temperature: float = 1.0, generator: torch.Generator | None = None) -> Tensor:
        """z ~ N(0, T² I), (n, D)."""
        return temperature * normal(n, self.event_dim, like=self.anchor, generator=generator)

    @former("n", "temperature", "label", "generator", "seed", "context")
    @torch.no_grad()
    def sample(
        self,
        n: int,
        *,
        y: int | Sequence[int] | Tensor | None = None,
        temperature: float = 1.0,
        generator: torch.Generator | None = None,
        context: Tensor | None = None,
    ) -> Tensor:
        """n draws of x, (n, *event_shape).

        Args:
            y: classes of a conditional model, one for all or n of them; in turn without.
            temperature: T, scales the standard deviation of the base.
            context: (E,) or (n, E), of a model with a context.
        """
        return self.decode(self.noise(n, temperature, generator), self.sample_context(n, y, context))

    def sample_context(
        self, n: int, y: int | Sequence[int] | Tensor | None = None, context: Tensor | None = None
    ) -> Tensor | None:
        """Context of n draws: the given one, that of the classes y, or of each class in turn.

        Raises:
            ValueError: no such class, a model without classes, or both y and a context.
        """
        if context is not None:
            if y is not None:
                raise ValueError("y and context are both given: leave one out.")
            return context.to(self.anchor).expand(n, -1)
        classes = self.classes(n, y)
        return None if classes is None else self.context_of(classes.to(self.anchor.device))

    @former("n", "temperature", "label", "seed", "context")
    @torch.no_grad()
    def sample_trace(
        self,
        n: int = 1,
        *,
        y: int | Sequence[int] | Tensor | None = None,
        temperature: float = 1.0,
        generator: torch.Generator | None = None,
        context: Tensor | None = None,
    ) -> Trace:
        """`sample` as steps, one per layer: values `h` (n, ...), `ladj` (n,) and the running `log_prob`."""
        z = self.noise(n, temperature, generator)
        total = self.log_base(z)
        steps = [Step(f"Draw {self.event_dim} numbers from the base.", {"h": z, "log_prob": total},
                      rf"\log p_Z(z) = {float(total[0]):.3f}")]  # fmt: skip
        h = z
        for number, (h, ladj) in enumerate(self.generating(z, self.sample_context(n, y, context)), 1):
            before, total = total, total - ladj
            steps.append(
                Step(
                    f"Layer {number}: {self.layer_name(number - 1)}.",
                    {"h": h, "ladj": ladj, "log_prob": total},
                    rf"\log p = {float(before[0]):.3f} - ({float(ladj[0]):.3f}) = {float(total[0]):.3f}",
                )
            )
        return Trace(steps, h.reshape(n, *self.event_shape))

    @torch.no_grad()
    def normalize_trace(self, x: Tensor, context: Tensor | None = None) -> Trace:
        """Steps of `normalize`, one per layer: values `h`, `ladj`, and the `ladj` of all so far, `total`."""
        h = start = self.stack_input(x)
        total = h.new_zeros(len(x))
        steps = [Step("Start from x.", {"h": h, "total": total})]
        last = len(self.layers) - 1
        for number, (h, ladj) in enumerate(self.normalizing(start, context)):
            total = total + ladj
            values = {"h": h, "ladj": ladj, "total": total}
            equation = rf"\sum\log|\det J| = {float(total[0]):.3f}"
            steps.append(Step(f"Back through {self.layer_name(last - number)}.", values, equation))
        return Trace(steps, h.reshape(len(x), self.event_dim))

    @property
    def layers(self) -> list[FlowLayer]:
        """Layers of the stack, the first nearest to the base."""
        return list(self.stack.layers) if isinstance(self.stack, FlowStack) else [self.stack]  # type: ignore[arg-type]

    def layer_name(self, index: int) -> str:
        layer = self.layers[index]
        return type(getattr(layer, "layer", layer)).__name__

    def generating(self, z: Tensor, context: Tensor | None = None) -> Iterator[ValueAndLogDet]:
        """z (B, D) after every layer, with that layer's ladj (B,)."""
        context = self.check_context(context)
        for layer in self.layers:
            z, ladj = layer.generate(z, context)
            yield z, ladj

    def normalizing(self, x: Tensor, context: Tensor | None = None) -> Iterator[ValueAndLogDet]:
        """x, as the stack reads it, back through every layer, with that layer's ladj (B,)."""
        context = self.check_context(context)
        for layer in reversed(self.layers):
            x, ladj = layer.normalize(x, context)
            yield x, ladj


class FlowDistribution(Distribution):
    """A flow as a torch distribution: `rsample` lets gradients through, to the parameters and the context.

    Args:
        flow: a `Flow`.
        context: None, or (*batch_shape, E).
    """

    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {}
    has_rsample = True

    def __init__(self, flow: Flow, context: Tensor | None = None) -> None:
        self.flow, self.context = flow, context
        batch = context.shape[:-1] if context is not None else torch.Size()
        super().__init__(batch, torch.Size(flow.event_shape), validate_args=False)

    @property
    def support(self) -> constraints.Constraint:
        return constraints.independent(constraints.real, len(self.event_shape))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """(*sample_shape, *batch_shape, *event_shape)"""
        return self.rsample_and_log_prob(sample_shape)[0]

    def rsample_and_log_prob(self, sample_shape: Any = ()) -> ValueAndLogDet:
        """Draws and their own log-density, carried along: no inverse is evaluated."""
        shape = torch.Size(sample_shape) + self._batch_shape
        z = self.flow.noise(shape.numel())
        x, ladj = self.flow.generate(z, self._context(shape))
        log_prob = self.flow.log_base(z) - ladj
        return x.reshape(*shape, *self._event_shape), log_prob.reshape(shape)

    def log_prob(self, value: Tensor) -> Tensor:
        """(..., *event_shape) -> (...)"""
        own = value.shape[: value.ndim - len(self._event_shape)]
        shape = torch.broadcast_shapes(own, self._batch_shape)
        x = value.expand(*shape, *self._event_shape).reshape(-1, *self._event_shape)
        return self.flow.log_prob(x, self._context(shape)).reshape(shape)

    def _context(self, shape: torch.Size) -> Tensor | None:
        """Context for examples of that shape, as rows (N, E)."""
        if self.context is None:
            return None
        width = self.context.shape[-1]
        return self.context.expand(*shape, width).reshape(-1, width)
