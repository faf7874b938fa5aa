r"""Probability density distillation: a model that samples in one pass learns from one that scores in one.

    teacher   MAF, trained on data, frozen:   log q(x) in one pass,   a sample in D
    student   IAF:                            a sample and its own log p(x) in one pass

    KL(p ‖ q) = E_z [log p_Z(z) − ladj(z) − log q(f(z))],    z ~ N(0, I): no data, no inverse

The student can be its teacher's equal: with two variables an IAF's layer that reads z_1 does what a MAF's
does that reads x_1. What it misses it misses by its training: reverse KL costs nothing where the student
never is. One that copies its teacher on a part of mass m, and is nowhere else, has KL = −log m, and no
gradient leads out. So it begins wide, against a bridge

    log q_t = t log q + (1 − t) log N(0, s² I),    t from `FIRST` to 1 in equal factors, then log q alone

Or it is given samples of the teacher first, and fits them by maximum likelihood, which is dearest where the
student is not. They cost D calls each, once, and D of its own whenever it scores them.

Or each layer first copies the teacher's, fed what the teacher's is fed (D calls per layer, no inverse):

    Σ_l E ‖f_l(h_{l−1}) − h_l‖²,    h_0 = z,  h_l = teacher's f_l(h_{l−1})

A MAF layer's x_<i are functions of z_<i, so an IAF layer with networks large enough does the same exactly.

Without ladj the minimum is the highest point of q.

Calls are counted where they happen: a network's answer to one variable, or to all at once, is one.

Shapes: x (B, D), log-densities (B,), nats.
References: van den Oord et al. 2018, Parallel WaveNet, arXiv:1711.10433; [UDL] 16.3.5, 16.5.3, whose "masked
flow" with slow inversion is an IAF.
"""

import math
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor

from modules.flow.flow import Flow
from modules.flow.maf import MaskedAutoregressive
from modules.flow.reverse_kl import LogDensity, fit_steps, reverse_kl

WIDE, FIRST = 4.0, 0.01  # of the bridge: deviation s, and share t at first
TEACHER_SAMPLES = 20_000  # samples of the teacher, drawn once


def distil(
    student: Flow,
    teacher: Flow,
    steps: int = 1500,
    batch: int = 256,
    lr: float = 5e-3,
    bridge: int = 1000,
    with_ladj: bool = True,
    seed: int = 0,
    sample_steps: int = 0,
    layerwise_steps: int = 0,
) -> Iterator[float]:
    """Train the student on its own samples, by Adam with a cosine rate; yields the loss of every step.

    Args:
        teacher: gets no gradient, and stays as it is.
        bridge: steps before log q stands alone; 0 begins with it.
        sample_steps: steps that come first, on samples of the teacher.
        layerwise_steps: steps that come first, in which every layer copies the teacher's.
        with_ladj: False leaves the log-determinant out, to show the collapse.

    Raises:
        ValueError: the two have other event shapes; or layers are to be copied, and there are other numbers
            of them; or both `sample_steps` and `layerwise_steps` are given.
    """
    if student.event_shape != teacher.event_shape:
        raise ValueError(f"The student has shape {student.event_shape}, the teacher {teacher.event_shape}.")
    if layerwise_steps and len(student.layers) != len(teacher.layers):
        raise ValueError(f"The student has {len(student.layers)} layers, the teacher {len(teacher.layers)}.")
    if layerwise_steps and sample_steps:
        raise ValueError("Give one of sample_steps and layerwise_steps: either comes first.")
    frozen = deepcopy(teacher).eval().requires_grad_(False)

    def target(step: int) -> LogDensity:
        t = target_share(step, bridge)
        if t == 1.0:
            return frozen.log_prob
        return lambda x: t * frozen.log_prob(x) - (1 - t) * x.square().flatten(1).sum(1) / (2 * WIDE**2)

    data = (
        frozen.sample(TEACHER_SAMPLES, generator=torch.Generator().manual_seed(seed + 5))
        if sample_steps
        else torch.empty(0)
    )

    def likelihood(generator: torch.Generator) -> Tensor:
        return -student.log_prob(data[torch.randint(len(data), (batch,), generator=generator)]).mean()

    def likeness(generator: torch.Generator) -> Tensor:
        return layerwise_loss(student, frozen, student.noise(batch, generator=generator))

    before = likeness if layerwise_steps else likelihood
    yield from fit_steps(
        student, target, steps, batch, lr, with_ladj, seed, before, layerwise_steps or sample_steps
    )


def layerwise_loss(student: Flow, teacher: Flow, z: Tensor) -> Tensor:
    """Mean squared distance of what each layer of the two makes of what the teacher's is fed, summed over
    layers; z (B, D)."""
    total = z.new_zeros(())
    for mine, (h, _) in zip(student.layers, teacher.generating(z), strict=True):
        total = total + (mine.generate(z)[0] - h).square().sum(-1).mean()
        z = h
    return total


def target_share(step: int, bridge: int) -> float:
    """Share t of log q at a step: FIRST at step 0, 1 from step `bridge` on."""
    return 1.0 if step >= bridge else FIRST ** (1 - step / bridge)


@torch.no_grad()
def divergence(student: Flow, teacher: Flow, count: int = 10_000, seed: int = 99) -> tuple[float, float]:
    """KL(student ‖ teacher) on samples of the student, nats, and its standard error."""
    z = student.noise(count, generator=torch.Generator().manual_seed(seed))
    terms = reverse_kl(student.stack, z, teacher.log_prob)
    return float(terms.mean()), float(terms.std()) / math.sqrt(count)


@torch.no_grad()
def coverage(student: Flow, teacher: Flow, count: int = 2000, seed: int = 98) -> float:
    """Share of the teacher's samples that the student finds no less likely than all but a hundredth of its
    own: 0.99 if both are one distribution, a half where it has dropped half of the mass. Reverse KL is
    blind to that.
    """
    own, others = (
        model.sample(count, generator=torch.Generator().manual_seed(s))
        for model, s in ((student, seed), (teacher, seed + 1))
    )
    least = student.log_prob(own).quantile(0.01)
    return float((student.log_prob(others) >= least).float().mean())


def network_calls(model: Flow) -> int:
    """Evaluations of all networks to draw one sample: D per layer of a MAF, one per layer of an IAF."""
    model, asked = deepcopy(model), 0

    def counted(g: Any) -> Any:
        def call(*args: Any) -> Any:
            nonlocal asked
            asked += 1
            return g(*args)

        return call

    for layer in model.modules():
        if isinstance(layer, MaskedAutoregressive):
            layer.monotone.generate = counted(layer.monotone.generate)  # type: ignore[method-assign]
    model.sample(1, generator=torch.Generator().manual_seed(0))
    return asked
