r"""Flow matching: learn the velocity of straight lines from noise to data, and follow it.

    x_t = (1 − t) x_0 + t x_1,   x_0 ~ N(0, I), x_1 data;     L = E‖v(x_t, t) − (x_1 − x_0)‖² / D
    dx/dt = v(x, t) from t = 0 (NOISE) to t = 1 (DATA), the other way round than diffusion
    v* = E[x_1 − x_0 | x_t] = (x_t + (1 − t) ∇ log p_t(x_t)) / t

The path is a diffusion in disguise, with SNR t²/(1−t)². Lines of pairs cross where v* cannot: it takes their
mean, and paths bend. Reflow trains again on the pairs (x_0, where the flow took it), whose lines cross less,
so that few Euler steps serve; one step of any flow trained on independent pairs lands on the data's mean.
Pairing each batch by least total squared distance straightens too.

Shapes: x (B, D), t (B,) in [0, 1].
References: Lipman et al. 2023, arXiv:2210.02747; Liu et al. 2023, arXiv:2209.03003 (reflow); Albergo &
Vanden-Eijnden 2023, arXiv:2209.15571; Tong et al. 2023, arXiv:2302.00482 (optimal pairs). Beyond the texts;
continuous flows are in [UDL] notes to chapter 16.
"""

import math
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any, Literal

import torch
from torch import Tensor

from modules.base import Mean, Module, Split, require
from modules.diffusion.denoisers import MLPDenoiser
from modules.diffusion.exact import Mixture
from modules.flow.cnf import Solver, solve
from modules.former import former
from modules.latent.scores import distances
from modules.noise import normal_like, per_example, uniform32
from modules.trace import Step, Trace

Coupling = Literal["random", "optimal"]
Velocity = Callable[[Tensor, Tensor], Tensor]  # x (B, D), t (B,) -> (B, D)
TIME_SCALE = 1000.0  # the embedding's waves are made for the steps of a chain


def exact_velocity(truth: Mixture) -> Velocity:
    """Velocity v* of data from a mixture of Gaussians."""

    def velocity(x: Tensor, t: Tensor) -> Tensor:
        s = t.double()[:, None]
        size = (s.square() + (1 - s).square()).sqrt()  # x_t / size has the coefficients √ᾱ and √(1 − ᾱ)
        a = (s / size).square().squeeze(1)
        early = (truth.posterior_mean(x / size, a) - x) / (1 - s).clamp(min=0.5)
        late = (x + (1 - s) / size * truth.score(x / size, a)) / s.clamp(min=0.5)
        return torch.where(s < 0.5, early, late).to(x)

    return velocity


def optimal_pairs(x0: Tensor, x1: Tensor) -> Tensor:
    """Optimal coupling: x_1 in the order in which Σ‖x_0 − x_1‖² is least, by exact assignment."""
    from scipy.optimize import linear_sum_assignment

    cost = distances(x0.flatten(1), x1.flatten(1)).square().cpu()
    return x1[torch.as_tensor(linear_sum_assignment(cost.numpy())[1], device=x1.device)]


def follow(
    velocity: Velocity, x: Tensor, steps: int = 50, start: float = 0.0, end: float = 1.0,
    solver: Solver = "euler",
) -> Tensor:  # fmt: skip
    """Solution x moved along the velocity from time `start` to `end`; 1 → 0 encodes."""

    def field(t: float, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return (velocity(state[0], state[0].new_full((len(x),), t)),)

    return solve(field, (x,), start, end, solver, steps)[0][0]


def path(velocity: Velocity, x: Tensor, steps: int) -> Tensor:
    """Path of Euler: x before and after each step from 0 to 1, (steps + 1, B, D)."""
    states = [x]
    for n in range(steps):
        states.append(follow(velocity, states[-1], 1, n / steps, (n + 1) / steps))
    return torch.stack(states)


def straightness(velocity: Velocity, x0: Tensor, x1: Tensor, times: int = 20) -> Tensor:
    """Straightness ∫ E‖(x_1 − x_0) − v(x_t, t)‖² dt over pairs, midpoints in t; 0 where lines are paths."""
    total = x0.new_zeros(())
    for n in range(times):
        t = (n + 0.5) / times
        off = x1 - x0 - velocity((1 - t) * x0 + t * x1, x0.new_full((len(x0),), t))
        total = total + off.square().sum(1).mean() / times
    return total


def energy_distance(x: Tensor, y: Tensor) -> Tensor:
    """Energy distance 2 E‖X − Y‖ − E‖X − X'‖ − E‖Y − Y'‖ ≥ 0 of samples (N, D), (M, D); pairs of a point with
    itself left out (Székely & Rizzo 2013)."""

    def within(z: Tensor) -> Tensor:
        return distances(z, z).sum() / (len(z) * (len(z) - 1))

    return 2 * distances(x, y).mean() - within(x) - within(y)


class FlowMatching(Module):
    """Flow model of points: a velocity with the network of `MLPDenoiser`.

    Args:
        event_shape: (D,). width, blocks, embedding: see `MLPDenoiser`.
        coupling: which x_0 goes with which x_1 of a batch.
        scale: the model's x is data / scale.
        reflow_epoch: from this epoch on train on pairs of the flow as it then is, kept as `teacher`; None
            never does.
        pairs: of a reflow, made once.
    """

    anchor: Tensor

    def __init__(
        self,
        event_shape: Sequence[int] = (2,),
        width: int = 128,
        blocks: int = 3,
        embedding: int = 64,
        coupling: Coupling = "random",
        scale: float = 1.0,
        reflow_epoch: int | None = None,
        pairs: int = 50_000,
        **training: Any,
    ) -> None:
        super().__init__(_measures={"mse": Mean()}, **training)
        require(1, event_shape=event_shape, pairs=pairs, reflow_epoch=reflow_epoch or 1)
        require(1e-9, scale=scale)
        if len(event_shape) != 1:
            raise ValueError(
                f"event_shape is {tuple(event_shape)}: this flow is of vectors, flatten images first."
            )
        if coupling not in ("random", "optimal"):
            raise ValueError(f"coupling is {coupling!r}: it must be random or optimal.")
        self.event_shape, self.scale, self.coupling = tuple(event_shape), scale, coupling
        D = math.prod(self.event_shape)
        self.net = MLPDenoiser(D, width, blocks, embedding)
        self.reflow_epoch, self.pairs = reflow_epoch, pairs
        self.teacher = deepcopy(self.net).requires_grad_(False) if reflow_epoch else None
        self._pool: tuple[Tensor, Tensor] | None = None
        self.register_buffer("anchor", torch.zeros(()), persistent=False)

    def extra_repr(self) -> str:
        return f"event_shape={self.event_shape}, coupling={self.coupling}, scale={self.scale:g}"

    def velocity(self, x: Tensor, t: Tensor) -> Tensor:
        """Velocity v(x, t), in the model's units."""
        return self.net(x, t * TIME_SCALE)

    def first_velocity(self, x: Tensor, t: Tensor) -> Tensor:
        """Velocity before the reflow.

        Raises:
            ValueError: this model knows no reflow.
        """
        if self.teacher is None:
            raise ValueError("This flow was trained once: there is none before it.")
        return self.teacher(x, t * TIME_SCALE)

    def on_train_epoch_start(self) -> None:
        if self.reflow_epoch is not None and self.current_epoch == self.reflow_epoch:
            assert self.teacher is not None
            self.teacher.load_state_dict(self.net.state_dict())
            self._pool = None

    @property
    def reflowing(self) -> bool:
        """True where pairs are those of the teacher: from its epoch on, and of weights that are evaluated
        later."""
        if self.reflow_epoch is None:
            return False
        evaluated = self._trainer is not None and self.trainer.state.fn in ("validate", "test")
        return evaluated or self.current_epoch >= self.reflow_epoch

    @torch.no_grad()
    def transported(self, x0: Tensor) -> Tensor:
        """Data to which the teacher takes noise (N, D)."""
        return follow(self.first_velocity, x0, 20, solver="rk4")

    @torch.no_grad()
    def pool(self) -> tuple[Tensor, Tensor]:
        """Noise and where the teacher takes it, (pairs, D) each; the same for every call."""
        if self._pool is None:
            x0 = self.noise(self.pairs, torch.Generator().manual_seed(0))
            self._pool = x0, torch.cat([self.transported(part) for part in x0.split(10_000)])
        return self._pool

    def step(self, batch: Any, split: Split) -> Tensor:
        x = batch[0] if isinstance(batch, list | tuple) else batch
        x1, generator = x / self.scale, None if split == "train" else per_example(x)
        if self.reflowing and split == "train":
            start, end = self.pool()
            chosen = torch.randint(len(start), (len(x1),)).to(x1.device)
            x0, x1 = start[chosen], end[chosen]
        else:
            x0 = normal_like(x1, generator)
            if self.reflowing:  # pairs that no training has seen
                x1 = self.transported(x0)
            elif self.coupling == "optimal":
                x1 = optimal_pairs(x0, x1)
        t = uniform32((len(x1),), generator).to(x1)
        xt = (1 - t)[:, None] * x0 + t[:, None] * x1
        loss = (self.velocity(xt, t) - (x1 - x0)).square().mean(1)
        self.log_metric(split, "mse", loss.detach())
        return loss.mean()

    def noise(self, n: int, generator: torch.Generator | None = None) -> Tensor:
        """Noise x_0 ~ N(0, I), (n, D)."""
        return normal_like(self.anchor.expand(n, *self.event_shape), generator)

    @former("n", "steps", "generator", "seed")
    @torch.no_grad()
    def sample(self, n: int, *, generator: torch.Generator | None = None, steps: int = 50) -> Tensor:
        """Draws of x, (n, D), by Euler steps."""
        return self.scale * follow(self.velocity, self.noise(n, generator), steps)

    @former("n", "steps", "seed")
    @torch.no_grad()
    def sample_trace(self, n: int = 1, *, generator: torch.Generator | None = None, steps: int = 10) -> Trace:
        """`sample` as a trace of Euler steps: values x (n, D), in the model's units, and t."""
        states = path(self.velocity, self.noise(n, generator), steps)
        trace = [Step("Noise.", {"x": states[0], "t": 0.0})] + [
            Step(f"Step {i} of {steps}.", {"x": x, "t": i / steps},
                 rf"x_{{{i / steps:.2f}}} = x_{{{(i - 1) / steps:.2f}}} + {1 / steps:.3f}\,v")
            for i, x in enumerate(states[1:], 1)
        ]  # fmt: skip
        return Trace(trace, self.scale * states[-1])
