r"""Score matching: fit s = ∇ log p without the normaliser, which the derivative of log p loses.

    explicit    J(s) = ½ E‖s(x) − ∇ log p(x)‖²                         needs the answer
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
from typing import Any, Literal, get_args

import torch
from torch import Tensor

from modules.base import Mean, Module, Split, require
from modules.diffusion.denoisers import MLPDenoiser
from modules.diffusion.langevin import annealed_langevin
from modules.diffusion.samplers import Walk, gaussian, last, of_each, uniform
from modules.diffusion.schedule import rows
from modules.trace import Step, Trace

Objective = Literal["implicit", "sliced", "denoising"]
Field = Callable[[Tensor], Tensor]
CLOCK = 1000.0  # the embedding's waves are made for steps of a chain


def explicit(said: Tensor, truth: Tensor) -> Tensor:
    """½‖s − ∇ log p‖², (B,)."""
    return 0.5 * (said - truth).square().sum(1)


def slopes(score: Field, x: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """s(x) (B, D) and vᵀ (∂s/∂x) v (B,), which can be differentiated again."""
    with torch.enable_grad():
        point = x if x.requires_grad else x.detach().requires_grad_()
        said = score(point)
        (pulled,) = torch.autograd.grad(said, point, v, create_graph=True)
    return said, (pulled * v).sum(1)


def implicit(score: Field, x: Tensor) -> Tensor:
    """tr ∂s/∂x + ½‖s‖², (B,); the trace by D unit vectors."""
    D = x.shape[1]
    each = [slopes(score, x, unit.expand_as(x)) for unit in torch.eye(D, dtype=x.dtype, device=x.device)]
    trace = torch.stack([slope for _, slope in each]).sum(0)
    return trace + 0.5 * each[0][0].square().sum(1)


def sliced(score: Field, x: Tensor, v: Tensor) -> Tensor:
    """vᵀ (∂s/∂x) v + ½‖s‖², (B,), of directions v (B, D) with E vvᵀ = I."""
    said, slope = slopes(score, x, v)
    return slope + 0.5 * said.square().sum(1)


def denoising(score: Field, x: Tensor, eps: Tensor, sigma: Tensor) -> Tensor:
    """½‖s(x + σ ε) + ε/σ‖², (B,)."""
    s = rows(sigma, x)
    return 0.5 * (score(x + s * eps) + eps / s).square().sum(1)


class ScoreModel(Module):
    """Points: the score at every level of noise, by `MLPDenoiser`.

    Args:
        event_shape: (D,). width, blocks, embedding: see `MLPDenoiser`.
        objective: how it is fitted; what is reported as mse is σ²‖s + ε/σ‖²/D, whatever is fitted.
        levels: L. first, last: σ_1 and σ_L, data units.
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
        first: float = 4.0,
        last: float = 0.1,
        **training: Any,
    ) -> None:
        super().__init__(_measures={"mse": Mean()}, **training)
        require(1, event_shape=event_shape)
        require(2, levels=levels)
        require(1e-6, last=last)
        if not first > last:
            raise ValueError(f"first is {first}: the noise must fall, so take more than {last}.")
        if objective not in get_args(Objective):
            raise ValueError(
                f"objective is {objective!r}: it must be one of {', '.join(get_args(Objective))}."
            )
        self.event_shape, self.objective = tuple(event_shape), objective
        self.net = MLPDenoiser(math.prod(self.event_shape), width, blocks, embedding)
        self.register_buffer("sigmas", torch.logspace(math.log10(first), math.log10(last), levels))
        self.register_buffer("anchor", torch.zeros(()), persistent=False)  # knows device and precision

    def score(self, x: Tensor, sigma: Tensor | float) -> Tensor:
        """∇ log (p ∗ N(0, σ²))(x), (B, D); σ () or (B,), the levels it was fitted at."""
        s = torch.as_tensor(sigma, dtype=x.dtype, device=x.device).expand(len(x))
        place = (self.sigmas[0] / s).log() / (self.sigmas[0] / self.sigmas[-1]).log()
        # inputs of size 1 at every level; at the largest the data are lost in them
        inside = x / (1 + s.square())[:, None].sqrt()
        return self.net(inside, CLOCK * place) / s[:, None]

    def step(self, batch: Any, split: Split) -> Tensor:
        x = batch[0] if isinstance(batch, list | tuple) else batch
        generator = None if split == "train" else of_each(x)
        level = (uniform((len(x),), generator) * len(self.sigmas)).long().to(x.device)
        sigma, eps = self.sigmas[level], gaussian(x, generator)
        field: Field = lambda y: self.score(y, sigma)  # noqa: E731
        noisy = x + sigma[:, None] * eps
        if split != "train" or self.objective == "denoising":
            loss = denoising(field, x, eps, sigma)
        elif self.objective == "implicit":
            loss = implicit(field, noisy)
        else:
            loss = sliced(field, noisy, gaussian(x, generator).sign())
        weighed = loss * sigma.square()
        if split != "train" or self.objective == "denoising":
            self.log_metric(split, "mse", 2 * weighed.detach() / x.shape[1])
        return weighed.mean()

    @torch.no_grad()
    def sample(
        self, n: int, steps: int = 100, step: float = 0.1, generator: torch.Generator | None = None,
        seed: int | None = None,
    ) -> Tensor:  # fmt: skip
        """n draws (n, D) by annealed Langevin, `steps` a level of size `step` · σ²; noise of σ_L is left."""
        return last(self.walk(n, steps, step, generator, seed))

    @torch.no_grad()
    def sample_trace(self, n: int = 1, steps: int = 20, step: float = 0.1, seed: int = 0) -> Trace:
        """`sample` as steps, one a level of noise: values x (n, D) and sigma."""
        made = [
            Step(f"Level {m.t}: {steps} steps of Langevin under noise of σ = {m.sigma:.3g}.",
                 {"x": m.x, "sigma": m.sigma}, rf"\sigma_{{{m.t}}} = {m.sigma:.3g}")
            if m.t
            else Step("Noise of the first level's size.", {"x": m.x}, r"x\sim N(0,\sigma_1^2 I)")
            for m in self.walk(n, steps, step, None, seed)
        ]  # fmt: skip
        return Trace(made, made[-1].values["x"])

    def walk(
        self, n: int, steps: int, step: float, generator: torch.Generator | None, seed: int | None
    ) -> Walk:
        """From noise of σ_1 through every level."""
        if seed is not None:
            generator = torch.Generator().manual_seed(seed)
        start = self.sigmas[0] * gaussian(self.anchor.expand(n, *self.event_shape), generator)
        return annealed_langevin(self.score, start, self.sigmas.tolist(), step, steps, generator)
