r"""Score matching: fit s = ∇ log p without the normaliser, which the derivative of log p loses.

    explicit    J(s) = ½ E‖s(x) − ∇ log p(x)‖²                         needs ∇ log p
    implicit    E[tr ∂s/∂x + ½‖s(x)‖²]           = J(s) + const        by parts; D derivatives
    sliced      E[vᵀ (∂s/∂x) v + ½‖s(x)‖²]       the same on average   E vvᵀ = I; one derivative
    denoising   ½ E‖s(x̃) + (x̃ − x)/σ²‖²,  x̃ = x + σ ε                 = J of p ∗ N(0, σ²), + const; none

The constants do not depend on s, so all four have one minimiser. Under noise of many sizes, σ_1 > … > σ_L
(geometric), one network learns the score of each p ∗ N(0, σ_i²), and annealed Langevin samples by them; each
level's loss is weighed by σ_i², as its score is of size 1/σ_i. The network gives σ s.

Shapes: x (B, D), s(x) (B, D), σ (B,), losses (B,).
References: Hyvärinen 2005; Vincent 2011 (denoising); Song et al. 2019, arXiv:1905.07088 (sliced); Song &
Ermon 2019, arXiv:1907.05600 (levels). [GM] 3.12 promises it; beyond the texts.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import torch
from torch import Tensor

from modules.base import Mean, Module, Split, require, require_one_of
from modules.diffusion.denoisers import MLPDenoiser
from modules.diffusion.langevin import annealed_langevin
from modules.diffusion.samplers import Trajectory, last
from modules.diffusion.schedule import rows
from modules.former import former
from modules.noise import normal_like, per_example, uniform32
from modules.trace import Step, Trace

Objective = Literal["implicit", "sliced", "denoising"]
Field = Callable[[Tensor], Tensor]
TIME_SCALE = 1000.0  # the embedding's waves are made for the steps of a chain


def explicit(score: Tensor, truth: Tensor) -> Tensor:
    """Explicit loss ½‖s − ∇ log p‖², (B,)."""
    return 0.5 * (score - truth).square().sum(1)


def slopes(score: Field, x: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """Score s(x) (B, D) and vᵀ (∂s/∂x) v (B,), which can be differentiated again."""
    with torch.enable_grad():
        point = x if x.requires_grad else x.detach().requires_grad_()
        s = score(point)
        (pulled,) = torch.autograd.grad(s, point, v, create_graph=True)
    return s, (pulled * v).sum(1)


def implicit(score: Field, x: Tensor) -> Tensor:
    """Implicit loss tr ∂s/∂x + ½‖s‖², (B,); the trace by D unit vectors."""
    D = x.shape[1]
    each = [slopes(score, x, unit.expand_as(x)) for unit in torch.eye(D, dtype=x.dtype, device=x.device)]
    trace = torch.stack([slope for _, slope in each]).sum(0)
    return trace + 0.5 * each[0][0].square().sum(1)


def sliced(score: Field, x: Tensor, v: Tensor) -> Tensor:
    """Sliced loss vᵀ (∂s/∂x) v + ½‖s‖², (B,), of directions v (B, D) with E vvᵀ = I."""
    s, slope = slopes(score, x, v)
    return slope + 0.5 * s.square().sum(1)


def denoising(score: Field, x: Tensor, eps: Tensor, sigma: Tensor) -> Tensor:
    """Denoising loss ½‖s(x + σ ε) + ε/σ‖², (B,)."""
    s = rows(sigma, x)
    return 0.5 * (score(x + s * eps) + eps / s).square().sum(1)


class ScoreModel(Module):
    """Score model of points at every level of noise, by `MLPDenoiser`.

    Args:
        event_shape: (D,). width, blocks, embedding: see `MLPDenoiser`.
        objective: how it is fitted; what is reported as mse is σ²‖s + ε/σ‖²/D, whatever is fitted.
        levels: L. sigma_max, sigma_min: σ_1 and σ_L, data units.
    """

    anchor: Tensor
    sigmas: Tensor

    def __init__(
        self,
        event_shape: Sequence[int] = (2,),
        width: int = 128,
        blocks: int = 3,
        embedding: int = 64,
        objective: Objective = "denoising",
        levels: int = 10,
        sigma_max: float = 4.0,
        sigma_min: float = 0.1,
        **training: Any,
    ) -> None:
        super().__init__(_measures={"mse": Mean()}, **training)
        require(1, event_shape=event_shape)
        require(2, levels=levels)
        require(1e-6, sigma_min=sigma_min)
        if not sigma_max > sigma_min:
            raise ValueError(f"sigma_max is {sigma_max}: the noise must fall, so take more than {sigma_min}.")
        require_one_of(Objective, objective=objective)
        self.event_shape, self.objective = tuple(event_shape), objective
        self.net = MLPDenoiser(math.prod(self.event_shape), width, blocks, embedding)
        self.register_buffer("sigmas", torch.logspace(math.log10(sigma_max), math.log10(sigma_min), levels))
        self.register_buffer("anchor", torch.zeros(()), persistent=False)  # knows device and precision

    def extra_repr(self) -> str:
        sigmas = f"{len(self.sigmas)} sigmas from {float(self.sigmas[0]):g} to {float(self.sigmas[-1]):g}"
        return f"event_shape={self.event_shape}, objective={self.objective}, {sigmas}"

    def score(self, x: Tensor, sigma: Tensor | float) -> Tensor:
        """Score ∇ log (p ∗ N(0, σ²))(x), (B, D); σ () or (B,), the levels it was fitted at."""
        s = torch.as_tensor(sigma, dtype=x.dtype, device=x.device).expand(len(x))
        place = (self.sigmas[0] / s).log() / (self.sigmas[0] / self.sigmas[-1]).log()
        # inputs of size 1 at every level; at the largest the data are lost in them
        scaled = x / (1 + s.square())[:, None].sqrt()
        return self.net(scaled, TIME_SCALE * place) / s[:, None]

    def step(self, batch: Any, split: Split) -> Tensor:
        x = batch[0] if isinstance(batch, list | tuple) else batch
        generator = None if split == "train" else per_example(x)
        level = (uniform32((len(x),), generator) * len(self.sigmas)).long().to(x.device)
        sigma, eps = self.sigmas[level], normal_like(x, generator)
        field: Field = lambda y: self.score(y, sigma)  # noqa: E731
        noisy = x + sigma[:, None] * eps
        if split != "train" or self.objective == "denoising":
            loss = denoising(field, x, eps, sigma)
        elif self.objective == "implicit":
            loss = implicit(field, noisy)
        else:
            loss = sliced(field, noisy, normal_like(x, generator).sign())
        weighted = loss * sigma.square()
        if split != "train" or self.objective == "denoising":
            self.log_metric(split, "mse", 2 * weighted.detach() / x.shape[1])
        return weighted.mean()

    @former("n", "steps", "step", "generator", "seed")
    @torch.no_grad()
    def sample(
        self, n: int, *, generator: torch.Generator | None = None, steps: int = 100, step: float = 0.1
    ) -> Tensor:
        """Draws (n, D) by annealed Langevin, `steps` a level of size `step` · σ²; noise of σ_L is left."""
        return last(self.trajectory(n, generator=generator, steps=steps, step=step))

    @former("n", "steps", "step", "seed")
    @torch.no_grad()
    def sample_trace(
        self, n: int = 1, *, generator: torch.Generator | None = None, steps: int = 20, step: float = 0.1
    ) -> Trace:
        """`sample` as a trace, one step per level of noise: values x (n, D) and sigma."""
        trace = [
            Step(f"Level {s.t}: {steps} steps of Langevin under noise of σ = {s.sigma:.3g}.",
                 {"x": s.x, "sigma": s.sigma}, rf"\sigma_{{{s.t}}} = {s.sigma:.3g}")
            if s.t
            else Step("Noise of the first level's size.", {"x": s.x}, r"x\sim N(0,\sigma_1^2 I)")
            for s in self.trajectory(n, generator=generator, steps=steps, step=step)
        ]  # fmt: skip
        return Trace(trace, trace[-1].values["x"])

    def trajectory(
        self, n: int, *, generator: torch.Generator | None = None, steps: int, step: float
    ) -> Trajectory:
        """Annealed Langevin from noise of σ_1 through every level."""
        start = self.sigmas[0] * normal_like(self.anchor.expand(n, *self.event_shape), generator)
        return annealed_langevin(self.score, start, self.sigmas.tolist(), step, steps, generator)
