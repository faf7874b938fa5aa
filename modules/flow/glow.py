r"""Glow: levels of [squeeze, K steps of (actnorm, 1×1 convolution, affine coupling), split].

Normalizing, a step of the flow makes of h (B, C, H, W)

    h ← s ⊙ (h + b);   h ← Ω h at every place;   h_2 ← (h_2 − t(h_1)) ⊙ e^{−s(h_1)}

with a small convolutional network for t and s on half of the channels. Pictures are whole numbers: noise
makes them real (see `dequantize`), so what is reported is a bound, in bits per dimension. Drawn with a
temperature below 1 the base is narrower.

Parameters of a step of C channels and width w: 2 C + C² + (9 (C/2) w + w) + (w² + w) + (9 w C + C).
Shapes: x (B, C, H, W), whole numbers 0 … K − 1 in float; z (B, D): all pieces, the first to leave first.
References: Kingma & Dhariwal 2018, arXiv:1807.03039; [UDL] 16.5.2; [GM] 3.12.3.
"""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from modules.base import Mean, Split, require, require_picture
from modules.flow.coupling import Coupling, halves
from modules.flow.dequantize import Levels, Margins, UniformNoise, VariationalNoise, add_noise, bits_per_dim
from modules.flow.flow import Flow
from modules.flow.image import Conv1x1, MultiScale, Squeeze, level_shapes
from modules.flow.layer import FlowLayer, FlowStack
from modules.flow.monotone import Affine, Monotone
from modules.flow.norm import ActNorm
from modules.former import former


class ConvConditioner(nn.Module):
    """Conditioner of images: (B, C_in, H, W), context (B, E) -> (B, C_out, H, W, k); ends in zeros."""

    def __init__(self, inputs: int, outputs: int, num_params: int, width: int, context: int = 0) -> None:
        super().__init__()
        require(1, width=width)
        self.num_params = num_params
        self.first = nn.Conv2d(inputs, width, 3, padding=1)
        self.middle = nn.Conv2d(width, width, 1)
        self.last = nn.Conv2d(width, outputs * num_params, 3, padding=1)
        self.of_context = nn.Linear(context, width, bias=False) if context else None
        nn.init.zeros_(self.last.weight)
        nn.init.zeros_(self.last.bias)  # type: ignore[arg-type]

    def forward(self, h: Tensor, context: Tensor | None = None) -> Tensor:
        h = self.first(h)
        if self.of_context is not None:
            if context is None:
                raise ValueError("This flow is conditional: give it a context.")
            h = h + self.of_context(context)[:, :, None, None]
        h = self.last(self.middle(h.relu()).relu())
        return h.unflatten(1, (self.num_params, -1)).movedim(1, -1)  # (B, k C, H, W) -> (B, C, H, W, k)


def step_of_flow(
    channels: int, width: int, seed: int, context: int = 0, monotone: Monotone | None = None
) -> list[FlowLayer]:
    """Coupling, convolution and actnorm in the order of generation, so that actnorm meets data first."""
    monotone = Affine(2.0) if monotone is None else monotone
    kept, changed = halves(channels)
    net = ConvConditioner(kept, changed, monotone.num_params, width, context)
    coupling = Coupling(channels, monotone, net, event_dims=3)
    return [coupling, Conv1x1(channels, seed), ActNorm(channels, event_dims=3)]


class Glow(Flow):
    """Multi-scale flow of pictures.

    Args:
        image_shape: (C, H, W); H and W divisible by 2^levels.
        levels: L.
        steps: K, steps of flow per level.
        width: channels of the conditioners.
        num_categories: grey levels of a pixel.
        dequantize: "uniform" or "variational" noise.
        margins: begin by making every pixel alone Gaussian, with its own histogram: for few pictures.
        samples: draws of the noise in the test, whose importance-weighted bound is `test/iw_bpd`.
        seed: of the frozen permutations.

    In logs, `bpd` is the bound with one draw of the noise and `nll` the same in nats per picture; the
    test also has `iw_bpd` with `samples` draws, and says how many in `iw_samples`.
    """

    def __init__(
        self,
        image_shape: Sequence[int] = (1, 8, 8),
        levels: int = 2,
        steps: int = 6,
        width: int = 64,
        num_categories: int = 256,
        dequantize: str = "uniform",
        margins: bool = False,
        samples: int = 8,
        seed: int = 0,
        conditional: bool = False,
        num_classes: int | None = None,
        **training: Any,
    ) -> None:
        require_picture(image_shape)
        names = ("nll", "bpd", "iw_bpd", "iw_samples")
        super().__init__(
            image_shape, conditional, num_classes, _measures={name: Mean() for name in names}, **training
        )
        if dequantize not in ("uniform", "variational"):
            raise ValueError(f"dequantize is {dequantize!r}: choose uniform or variational.")
        require(1, steps=steps, samples=samples)
        require(2, num_categories=num_categories)
        self.image_shape, self.num_categories, self.samples = tuple(image_shape), num_categories, samples
        self.dequantizer = (
            UniformNoise() if dequantize == "uniform" else VariationalNoise(image_shape, num_categories)
        )
        shapes = level_shapes(image_shape, levels)
        stacks = []
        for number, (channels, _, _) in enumerate(shapes):
            layers = [
                layer
                for k in reversed(range(steps))
                for layer in step_of_flow(channels, width, seed + steps * number + k, self.context_features)
            ]
            stacks.append(FlowStack([*layers, Squeeze()]))
        self.scales = MultiScale(image_shape, stacks, shapes)
        to_numbers = Margins(image_shape, num_categories) if margins else Levels(num_categories, scale=2.0)
        self.stack = FlowStack([self.scales, to_numbers])

    def stack_input(self, x: Tensor) -> Tensor:
        return x.reshape(len(x), *self.image_shape)

    def pieces(self, z: Tensor) -> list[Tensor]:
        """z (B, D) as the pieces of each level, (B, C_n, H_n, W_n)."""
        return self.scales.split(z)

    # --- pictures are whole numbers -----------------------------------------------------------------

    def dequantize(self, x: Tensor, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """x of whole numbers -> x + u in [0, K), log q(u|x) (B,)."""
        u, log_q = self.dequantizer(self.stack_input(x), generator)
        return add_noise(self.stack_input(x), u), log_q

    def elbo(
        self, x: Tensor, context: Tensor | None = None, generator: torch.Generator | None = None
    ) -> Tensor:
        """(B,) log p(x + u) − log q(u|x) with one draw of u: in expectation at most log P(x)."""
        noisy, log_q = self.dequantize(x, generator)
        return self.log_prob(noisy, context) - log_q

    def iw_elbo(
        self,
        x: Tensor,
        samples: int = 8,
        context: Tensor | None = None,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """(B,) log of the mean weight of `samples` draws: a tighter bound."""
        draws = torch.stack([self.elbo(x, context, generator) for _ in range(samples)])
        return draws.logsumexp(0) - math.log(samples)

    def step(self, batch: Any, split: Split) -> Tensor:
        x, *rest = batch if isinstance(batch, list | tuple) else (batch,)
        context = self.context_of(rest[0]) if self.context_features else None
        elbo = self.elbo(x.to(self.anchor.dtype), context)
        bpd = bits_per_dim(elbo, self.event_dim)
        self.log_metric(split, "nll", -elbo.detach())
        self.log_metric(split, "bpd", bpd.detach())
        if split == "test":
            tight = self.iw_elbo(x, self.samples, context)
            self.log_metric(split, "iw_bpd", bits_per_dim(tight, self.event_dim).detach())
            self.log_metric(split, "iw_samples", torch.full((len(x),), float(self.samples)))
        return bpd.mean()

    def postprocess(self, x: Tensor) -> Tensor:
        """Whole numbers 0 … K − 1 from real ones: each is the grey level whose gap [k, k + 1) it lies in."""
        return x.floor().clamp(0, self.num_categories - 1)

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
        """n pictures (n, C, H, W) of whole numbers, 0 … K − 1; arguments as in `Flow.sample`."""
        drawn = super().sample(n, y=y, temperature=temperature, generator=generator, context=context)
        return self.postprocess(drawn)
