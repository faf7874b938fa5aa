"""The bound of one picture in bits, term by term: any chain, any σ², any network of small digits."""

from torch import Tensor

from lab.experiments import Experiment
from lab.lenses.bound_terms import VARIANCES, Bits, chain, picture, terms, variance
from modules.diffusion.learned import Diffusion
from modules.diffusion.schedule import Schedule
from pages.diffusion.bound_terms.room import BOUND, DDPM, LEARNED


def of_digits(experiment: Experiment) -> bool:
    """Whether an experiment trains a denoiser of small digits."""
    return experiment.module.endswith(".ImageDDPM") and experiment.datamodule.endswith(".Digits")


def kinds_of(model: Diffusion) -> list[str]:
    """The σ² among which this model can choose."""
    return [*VARIANCES, *([LEARNED] if model.variance == LEARNED else [])]


def spent(model: Diffusion, made: Schedule, x: Tensor, kind: str, seed: int = 0, clip: bool = False) -> Bits:
    """The `terms` of one picture with a σ² of `kinds_of` the model."""
    square = None if kind == LEARNED else variance(model, made, kind, clip)
    return terms(model, made, x, square, seed, clip)


def every(model: Diffusion, kind: str, T: int, image: str, seed: int, clip: bool) -> dict[str, Bits]:
    """Those of each σ² of `kinds_of` the model."""
    made, x = chain(kind, T), picture(image)  # type: ignore[arg-type]
    return {which: spent(model, made, x, which, seed, clip) for which in kinds_of(model)}


def others(
    model: Diffusion, usual: Diffusion, on_the_bound: Diffusion,
    kind: str, T: int, image: str, seed: int, clip: bool,
) -> dict[str, Bits]:  # fmt: skip
    """Those of the two networks, or of that which is not the model, each with the σ² of its training."""
    made, x = chain(kind, T), picture(image)  # type: ignore[arg-type]
    beside = {DDPM: usual, BOUND: on_the_bound}
    return {
        f"{name}, {one.variance}": spent(one, made, x, one.variance, seed, clip)
        for name, one in beside.items()
        if one is not model
    }


def captions(found: Bits) -> list[str]:
    """What the step at each frame costs."""
    return [
        f"t = {t}: {float(found.terms[t - 1]):.3g} bits; all up to here "
        f"{float(found.so_far[t - 1]):.1f} of {found.total:.1f}."
        for t in found.times
    ]
