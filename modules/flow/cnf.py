r"""Continuous flows: a vector field moves points, and the density along them by its divergence.

    dh/dt = f(h, t),   d log p/dt = −tr ∂f/∂h,   t from 0 (noise) to T (data)

No constraint on the network: a solution of an ODE is a bijection by itself; paths never cross, so in one
dimension order is kept (x → −x needs an added dimension to turn through). The likelihood is as exact as the
solver: what a coarse one reports is not the log of a normalised density, and may look better than it is.

Solvers: Euler, classical Runge-Kutta (order 4) in fixed steps, and Dormand-Prince 5(4), which chooses them.
The trace is exact (D tangents) or Hutchinson's, with one ε for a whole solve, else the path that is
integrated would not be one of any field (FFJORD). Gradients go back through the solver; `adjoint` integrates
them backwards instead, in constant memory.

Shapes: h (B, D). References: Chen et al. 2018, arXiv:1806.07366; Grathwohl et al. 2019, arXiv:1810.01367;
Dupont et al. 2019, arXiv:1904.01681 (added dimensions); Dormand & Prince 1980; [UDL] notes to chapter 16.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import require, require_one_of
from modules.flow.flow import Flow
from modules.flow.layer import FlowLayer, FlowStack, ValueAndLogDet
from modules.flow.linear import Diagonal
from modules.flow.tangent import TangentMLP, probes, unit_vectors

State = tuple[Tensor, ...]
Derivative = Callable[[float, State], State]
Record = Callable[[float, State], None]
Solver = Literal["euler", "rk4", "dopri5"]
Norm = Literal["max", "rms"]

# Dormand and Prince: times, stages, and the weights of order 5 and of their difference from order 4
C = (0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1)
A = (
    (),
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
B = (*A[6], 0)
E = (71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)


def advance(state: State, step: float, slopes: Sequence[State], weights: Sequence[float]) -> State:
    """state + step Σ_i w_i slope_i."""
    return tuple(
        s + step * sum(w * k[i] for w, k in zip(weights, slopes, strict=False) if w)
        for i, s in enumerate(state)
    )


def solve(
    f: Derivative,
    state: State,
    start: float,
    end: float,
    solver: Solver = "rk4",
    steps: int = 8,
    tolerance: float = 1e-6,
    record: Record | None = None,
    norm: Norm = "max",
) -> tuple[State, int]:
    """State at `end`, and the number of calls of f. `steps` is for fixed ones, `tolerance` for dopri5;
    `record` is called with time and state after each step that is kept. `norm` of dopri5: each number's
    error is held under the tolerance, or the root of their mean square, which lets single ones be larger.

    Raises:
        ValueError: no such solver, or a step of dopri5 shrank to nothing.
    """
    require_one_of(Solver, solver=solver)
    if solver == "dopri5":
        return adaptive(f, state, start, end, tolerance, record, norm)
    require(1, steps=steps)
    h, calls = (end - start) / steps, 0
    for n in range(steps):
        t = start + n * h
        slopes = [f(t, state)]
        if solver == "rk4":
            for share in (0.5, 0.5, 1.0):
                slopes.append(f(t + share * h, advance(state, share * h, slopes[-1:], [1.0])))
        calls += len(slopes)
        state = advance(state, h, slopes, [1.0] if solver == "euler" else [1 / 6, 1 / 3, 1 / 3, 1 / 6])
        if record is not None:
            record(t + h, state)
    return state, calls


def adaptive(
    f: Derivative, state: State, start: float, end: float, tolerance: float, record: Record | None = None,
    norm: Norm = "max",
) -> tuple[State, int]:  # fmt: skip
    """Dormand-Prince 5(4): an estimated error of `tolerance`, relative and absolute, per step."""
    t, h, calls = start, (end - start) / 8, 1
    first = f(t, state)
    while abs(end - t) > 1e-12 * (1 + abs(end)):
        h = h if abs(h) < abs(end - t) else end - t
        slopes = [first]
        for share, weights in zip(C[1:], A[1:], strict=True):
            slopes.append(f(t + share * h, advance(state, h, slopes, weights)))
        calls += 6
        new = advance(state, h, slopes, B)
        with torch.no_grad():
            off = advance(tuple(torch.zeros_like(s) for s in state), h, slopes, E)
            sizes = (1 + torch.maximum(s.abs(), n.abs()) for s, n in zip(state, new, strict=True))
            shares = [o / z for o, z in zip(off, sizes, strict=True)]
            sized = (float(s.abs().max() if norm == "max" else s.square().mean().sqrt()) for s in shares)
            error = max(sized) / tolerance
        if error <= 1:
            t, state, first = t + h, new, slopes[-1]  # its last slope is the next one's first
            if record is not None:
                record(t, state)
        factor = 0.9 * (error + 1e-10) ** -0.2
        h *= min(5.0, max(0.2, factor))
        if not abs(h) > 1e-10 * abs(end - start):
            raise ValueError("The solver's step shrank to nothing: the field is too steep.")
    return state, calls


class Field(nn.Module):
    """f(h, t, c): a network of h, t and a context of E numbers, where there is one."""

    def __init__(self, features: int, hidden: Sequence[int] = (64, 64), context: int = 0) -> None:
        super().__init__()
        require(1, features=features)
        require(0, context=context)
        self.net = TangentMLP([features + 1 + context, *hidden, features])

    def forward(self, t: float, h: Tensor, context: Tensor | None = None) -> Tensor:
        return self.net(self.with_time(t, h, context))

    def with_time(self, t: float, h: Tensor, context: Tensor | None = None) -> Tensor:
        given = [] if context is None else [context.expand(*h.shape[:-1], -1)]
        return torch.cat([h, torch.full_like(h[..., :1], t), *given], -1)

    def divergence(
        self, t: float, h: Tensor, v: Tensor, context: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """f (B, D) and Σ_n v_nᵀ J v_n (B,) for tangents v (B, n, D)."""
        inputs = self.with_time(t, h, context)
        value, push = self.net.linearise(inputs)
        padded = F.pad(v, (0, inputs.shape[-1] - h.shape[-1]))  # time and context are held
        return value, (push(padded) * v).sum((-2, -1))


class Continuous(FlowLayer):
    """Flow along a field from 0 to T.

    Args:
        field: a `Field`, or any module with its two methods.
        solver, steps, tolerance: see `solve`.
        time: T.
        trace: "exact", or "hutchinson" in training (evaluation is exact).
    """

    def __init__(
        self,
        field: nn.Module,
        solver: Solver = "rk4",
        steps: int = 8,
        tolerance: float = 1e-6,
        time: float = 1.0,
        trace: Literal["exact", "hutchinson"] = "exact",
    ) -> None:
        super().__init__()
        require_one_of(Solver, solver=solver)
        if trace not in ("exact", "hutchinson"):
            raise ValueError(f"trace is {trace!r}: choose exact or hutchinson.")
        self.field, self.solver, self.steps, self.tolerance = field, solver, steps, tolerance
        self.time, self.trace = time, trace

    def extra_repr(self) -> str:
        effort = f"tolerance={self.tolerance}" if self.solver == "dopri5" else f"steps={self.steps}"
        return f"solver={self.solver!r}, {effort}, time={self.time}, trace={self.trace!r}"

    def generate(self, z: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        return self.flow(z, 0.0, self.time, context)[0]

    def normalize(self, x: Tensor, context: Tensor | None = None) -> ValueAndLogDet:
        return self.flow(x, self.time, 0.0, context)[0]

    def flow(
        self, h: Tensor, start: float, end: float, context: Tensor | None = None
    ) -> tuple[ValueAndLogDet, int]:
        """Value and ladj after moving from time `start` to `end`, and the calls of the field."""
        random = self.trace == "hutchinson" and self.training
        v = probes(h, 1, "rademacher") if random else unit_vectors(h)  # one ε for the whole solve
        given = () if context is None else (context,)

        def derivative(t: float, state: State) -> State:
            return self.field.divergence(t, state[0], v, *given)  # type: ignore[operator]

        state = (h, h.new_zeros(h.shape[:-1]))
        (h, ladj), calls = solve(derivative, state, start, end, self.solver, self.steps, self.tolerance)
        return (h, ladj), calls

    def path(self, h: Tensor, times: int = 9) -> Tensor:
        """Positions of points at `times` moments from 0 to T, (times, B, D)."""
        path, gap = [h], self.time / (times - 1)
        for n in range(times - 1):
            h = self.flow(h, n * gap, (n + 1) * gap)[0][0]
            path.append(h)
        return torch.stack(path)


def adjoint(
    f: Callable[[float, Tensor], Tensor],
    h: Tensor,
    grad: Tensor,
    parameters: Sequence[Tensor],
    start: float,
    end: float,
    steps: int = 32,
) -> tuple[Tensor, list[Tensor]]:
    """Gradients at `start`, and of the parameters, from the state and its gradient at `end`.

    a = ∂L/∂h moves by da/dt = −Jᵀ a, and ∂L/∂θ collects ∫ aᵀ ∂f/∂θ dt: all three go backwards together, and
    nothing of the forward pass is kept.
    """

    def derivative(t: float, state: State) -> State:
        with torch.enable_grad():
            point = state[0].detach().requires_grad_()
            value = f(t, point)
            result = torch.autograd.grad(value, [point, *parameters], state[1], allow_unused=True)
        rest = [torch.zeros_like(p) if g is None else g for p, g in zip(parameters, result[1:], strict=True)]
        first = result[0]
        assert first is not None
        return (value.detach(), -first, *(-g for g in rest))

    state = (h, grad, *(torch.zeros_like(p) for p in parameters))
    (_, a, *rest), _ = solve(derivative, state, end, start, "rk4", steps)
    return a, list(rest)


class CNF(Flow):
    """One continuous layer and one scaling next to the data.

    Args:
        hidden: widths of the field's network.
        solver, steps, tolerance, trace: see `Continuous`.
    """

    def __init__(
        self,
        event_shape: Sequence[int] = (2,),
        hidden: Sequence[int] = (64, 64),
        solver: Solver = "rk4",
        steps: int = 8,
        tolerance: float = 1e-5,
        trace: Literal["exact", "hutchinson"] = "exact",
        **training: Any,
    ) -> None:
        super().__init__(event_shape, **training)
        field = Field(self.event_dim, hidden, self.context_features)
        layer = Continuous(field, solver, steps, tolerance, trace=trace)
        self.stack = FlowStack([layer, Diagonal(self.event_dim)])
