"""Pictures of digits that trained generators make, of any class: which there are, and their draws.

Shapes: pictures (N, H, W); samples in the model's own form, (N, n) or (N, 1, H, W).
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from datamodules.digits import Digits
from datamodules.mnist import MNIST
from lab.experiments import Experiment
from lab.lenses import drawing, surfaces
from modules.autoregressive.base import Autoregressive
from modules.diffusion.gaussian_diffusion import GaussianDiffusion

DIFFUSION_STEPS = 20  # of a diffusion model
PORTION = 40  # pictures that are drawn at once where that takes longer


def makes_digits(entry: Experiment, side: int | None = None) -> bool:
    """Check whether an experiment trains a model that draws pictures of digits with a generator of its own.

    Args:
        side: pixels a side of them; None admits all sizes.
    """
    sample = getattr(surfaces.class_of(entry), "sample", None)
    return (
        surfaces.is_a(entry, Digits, MNIST, part="data")
        and sample is not None
        and takes_generator(sample)
        and (side is None or side_of(entry) == side)
    )


@lru_cache(maxsize=512)
def takes_generator(function: Callable[..., Any]) -> bool:
    """Whether a function has an argument `generator`."""
    return "generator" in inspect.signature(function).parameters


def side_of(entry: Experiment) -> int:
    """Pixels a side of the pictures in an experiment's data."""
    size, padding = (surfaces.option(entry, name, "data") for name in ("image_size", "padding"))
    return int(size) + 2 * int(padding or 0)


def slow(model: Any) -> bool:
    """Check whether a few hundred draws take seconds: steps of a network, or more than 64 pixels one by
    one."""
    return isinstance(model, GaussianDiffusion) or (isinstance(model, Autoregressive) and model.n > 64)


def settings(model: Any) -> dict[str, Any]:
    """Arguments of `sample`, where not its own."""
    return {"steps": min(DIFFUSION_STEPS, model.schedule.T)} if isinstance(model, GaussianDiffusion) else {}


@torch.no_grad()
def drawn(model: Any, count: int, seed: int, portion: int | None = None) -> Iterator[tuple[float, Tensor]]:
    """`count` samples of a model: the share done, and all as far as they are.

    A diffusion model makes all of them step by step. Others draw `portion` at a time; without, PORTION where
    that is slow, else all at once.
    """
    generator = torch.Generator().manual_seed(seed)
    known = settings(model)
    if isinstance(model, GaussianDiffusion):  # as it samples
        trajectory = model.trajectory(
            model.start(count, generator), y=model.classes(count), generator=generator, **known
        )
        for done, state in enumerate(trajectory):
            yield done / known["steps"], model.postprocess(state.x)
        return
    portion = portion or (PORTION if slow(model) else count)
    parts: list[Tensor] = []
    for start in range(0, count, portion):
        parts.append(model.sample(min(portion, count - start), generator=generator))
        yield min(1.0, (start + len(parts[-1])) / count), torch.cat(parts)


def ink(card: Mapping[str, Any], x: Tensor) -> Tensor:
    """Samples as pictures whose white is 1, by the form of the digits that the model was trained on."""
    data, top = card["data"], 1
    if data.get("binarize") == "levels":
        own = MNIST.levels if data.get("name") == "MNIST" else Digits.levels
        top = data.get("num_categories", own + 1) - 1
    return drawing.squares(x) / top


def differ(x: Tensor, y: Tensor) -> float:
    """Root of the mean squared difference of pixels."""
    return float((x - y).square().mean().sqrt())
