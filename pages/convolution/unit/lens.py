"""Inputs that units of a classifier want, and inputs that a layer takes for a given one.

Shapes: N pictures of a shelf, K units of a layer, T steps, s pixels a side.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from datamodules.mnist import MNIST
from datamodules.textured_shapes import TexturedShapes
from lab.experiments import Experiment
from lab.lenses import drawing, surfaces
from modules.convolution.classifier import Classifier
from modules.convolution.cnn2d import CNN2d
from modules.convolution.visualization import Prior, Search, box, invert, maximize, unit
from pages.convolution.unit.networks import Subject, pictures
from pages.convolution.unit.room import CONCEPTS, DISSECTION

STEPS, MATCHES, MOST = 30, 40, 8  # of an ascent, of an inversion; units beside each other
LENGTH, RATE, NOISE, GREY = 0.1, 0.07, 0.1, 0.5


def fits(experiment: Experiment) -> bool:
    """Check whether it is a stack of convolutions on digits of 28 pixels a side or on textured shapes."""
    if not surfaces.is_a(experiment, CNN2d):
        return False
    if surfaces.is_a(experiment, TexturedShapes, part="data"):
        return surfaces.option(experiment, "side", "data") == 32
    return (
        surfaces.is_a(experiment, MNIST, part="data")
        and surfaces.option(experiment, "image_size", "data") == 28
    )


def subject(view: str, model: Classifier, dissected: Classifier) -> Subject:
    """The network of a view: dissection needs concepts, and so the network of textured shapes."""
    network = dissected if view in (DISSECTION, CONCEPTS) else model
    if network.hparams["image_shape"][-1] == 32:
        return Subject(network, pictures().x, 0.5)
    return Subject(network, torch.stack([x for _, x in drawing.examples(28)])[:, None], 0.0)


def layers(subject: Subject, view: str) -> list[str]:
    """Names of the layers that a view can show: only maps can be dissected."""
    return subject.names[:-1] if view == DISSECTION else subject.names


def last_unit(subject: Subject, layer: str) -> int:
    return subject.units(layer) - 1


def noise(subject: Subject, seed: int, level: float) -> Tensor:
    """Where a search starts, (1, 1, s, s): one grey level with a little noise."""
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randn(1, 1, subject.side, subject.side, generator=generator)
    return (level + NOISE * drawn).clamp(0, 1)


def prior(subject: Subject, decay: int, variation: int, blur: float) -> Prior:
    return Prior(decay, variation, blur, subject.rest)


# --- Activation maximisation ------------------------------------------------------------------------


def ascent(
    subject: Subject, layer: str, unit: int, everywhere: bool, seed: int, decay: int, variation: int,
    blur: float,
) -> Search:  # fmt: skip
    """Ascent of one unit under a prior."""
    return of_units(
        subject, layer, torch.tensor([unit]), everywhere, seed, prior(subject, decay, variation, blur)
    )


def ascent_without_prior(subject: Subject, layer: str, unit: int, everywhere: bool, seed: int) -> Search:
    """The same without one."""
    return of_units(subject, layer, torch.tensor([unit]), everywhere, seed, Prior())


def ascents(
    subject: Subject, layer: str, everywhere: bool, seed: int, decay: int, variation: int, blur: float
) -> Search:
    """The first units of a layer, at most MOST, each with an input of its own."""
    units = torch.arange(min(MOST, subject.units(layer)))
    return of_units(subject, layer, units, everywhere, seed, prior(subject, decay, variation, blur))


def of_units(
    subject: Subject, layer: str, units: Tensor, everywhere: bool, seed: int, prior: Prior
) -> Search:
    start = noise(subject, seed, subject.rest).expand(len(units), -1, -1, -1)
    value = unit(subject.chain(layer), units, everywhere)
    return maximize(value, start, STEPS, LENGTH, prior, box())


@torch.no_grad()
def largest(subject: Subject, layer: str, unit: int, everywhere: bool) -> float:
    """The unit's largest value over the shelf, where that is in any place of its map."""
    maps = subject.chain(layer)(subject.shelf)[:, unit].reshape(len(subject.shelf), -1)  # (N, h·w)
    return float((maps.mean(1) if everywhere else maps.amax(1)).max())


# --- Inversion --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Inverted:
    """
    Attributes:
        x: (s, s), the given picture. found: steps to one whose activations are near to those of x.
        errors: (T + 1,), mean |difference| of their pixels.
        classes: of x, and of what was found.
    """

    x: Tensor
    found: Search
    errors: Tensor
    classes: tuple[int, int]


def inversion(
    subject: Subject, layer: str, seed: int, decay: int, variation: int, blur: float, digit: Tensor | None,
    texture: Tensor | None,
) -> Inverted:  # fmt: skip
    """A picture from its activations in a layer, under a prior."""
    return of_picture(subject, layer, seed, prior(subject, decay, variation, blur), digit, texture)


def inversion_without_prior(
    subject: Subject, layer: str, seed: int, digit: Tensor | None, texture: Tensor | None
) -> Inverted:
    """The same without a prior."""
    return of_picture(subject, layer, seed, Prior(), digit, texture)


def of_picture(subject: Subject, layer: str, seed: int, prior: Prior, *drawn: Tensor | None) -> Inverted:
    x: Any = next((one for one in drawn if one is not None), subject.shelf[0, 0])
    chain = subject.chain(layer)
    with torch.no_grad():
        target = chain(x[None, None])
    found = invert(chain, target, noise(subject, seed, subject.rest), MATCHES, RATE, prior, box())
    with torch.no_grad():
        ends = subject.model.predict(torch.stack([x[None], found.inputs[-1, 0]])).argmax(1).tolist()
    return Inverted(x, found, (found.inputs[:, 0, 0] - x).abs().mean((1, 2)), (ends[0], ends[1]))
