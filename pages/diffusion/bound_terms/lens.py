"""The bound of one picture in bits, term by term: any chain, any σ², any network of small digits."""

from torch import Tensor

from lab.experiments import Experiment
from lab.lenses.bound_terms import VARIANCES, Bits, terms, variance
from modules.diffusion.learned import Diffusion
from modules.diffusion.schedule import Schedule

LEARNED = "learned"  # of a network that says σ² too
KINDS, LENGTHS = ["cosine", "linear"], [10, 50, 100, 250, 1000]  # of schedules


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


def captions(found: Bits) -> list[str]:
    """What the step at each frame costs."""
    return [
        f"t = {t}: {float(found.terms[t - 1]):.3g} bits; all up to here "
        f"{float(found.so_far[t - 1]):.1f} of {found.total:.1f}."
        for t in found.times
    ]
