"""VAEs of digits: which of them a room can show, and their codes in words."""

import torch

from lab.experiments import Experiment
from lab.lenses import surfaces
from modules.latent.vae import VAE

START = "vae2d-mnist"

SIDES = {"datamodules.digits.Digits": 8, "datamodules.mnist.MNIST": 28}


def surface(entry: Experiment, *methods: str) -> bool:
    """True if it is a VAE of digits whose `methods` are those of `VAE`: of other data and sizes these rooms
    have no examples."""
    side = SIDES.get(entry.datamodule)
    return (
        side is not None
        and surfaces.option(entry, "image_size", "data") == side
        and surfaces.keeps(entry, VAE, *methods)
    )


def fits(entry: Experiment) -> bool:
    """True if its q(z|x) is the encoder's Gaussian, its prior N(0, I), and a code alone makes a picture."""
    return surface(entry, "encode_parameters", "encode", "sample_posterior", "prior", "decode", "unpack")


def weighs(entry: Experiment) -> bool:
    """True if p(x) can be weighed by draws of one layer of codes, whatever its posterior and prior."""
    return surface(entry, "log_weights", "decode", "outputs", "unpack") or fits(entry)


def vector(values: torch.Tensor, limit: int = 3) -> str:
    """Numbers of a code in LaTeX, the first few of many."""
    shown = [f"{v:.2f}" for v in values[:limit].tolist()]
    return "(" + ",\\ ".join(shown + ([r"\dots"] if len(values) > limit else [])) + ")"


def dimension(index: int) -> str:
    """The name of a dimension of the code, counted from 1."""
    return f"z{subscript(index + 1)}"


def subscript(number: int) -> str:
    """A whole number as subscript digits."""
    return "".join("₀₁₂₃₄₅₆₇₈₉"[int(digit)] for digit in str(number))
