"""Share of a code once the class is told: styles, and how much of the class a code still tells.

References: Sohn, Lee & Yan 2015, Learning Structured Output Representation; Kingma et al. 2014,
arXiv:1406.5298; [UDL] notes of ch. 17.
"""

import torch
from torch import Tensor

from lab.experiments import Experiment
from lab.lenses import latent, surfaces
from lab.lenses.latent import majority_accuracy, probe
from modules.latent.conditional import CVAE
from modules.latent.vae import VAE

__all__ = [
    "CLASSES",
    "DRAWS",
    "costs",
    "every_class",
    "fits",
    "majority_accuracy",
    "means",
    "probe",
    "read",
    "styles",
]

CLASSES = 10
DRAWS = 50  # of L_S for each class


def fits(entry: Experiment) -> bool:
    """Check whether it is a conditional VAE of black and white small digits."""
    return surfaces.is_a(entry, CVAE) and surfaces.of_digits(entry, "threshold")


@torch.no_grad()
def means(model: VAE, x: Tensor, y: Tensor) -> Tensor:
    """(N, K) codes of x (N, D); a conditional model is told the class y (N,)."""
    return model.encode(x, y=y) if isinstance(model, CVAE) else model.encode(x)


@torch.no_grad()
def read(model: CVAE, x: Tensor, label: int) -> tuple[Tensor, Tensor]:
    """The code of x (1, D), told a class: its means (K,) and their KLs (K,), nats."""
    mean, log_var = model.encode_parameters(x, y=torch.tensor([label]))
    return mean[0], latent.gaussian_kl(mean, log_var)[0]


@torch.no_grad()
def every_class(model: CVAE, z: Tensor) -> Tensor:
    """Codes (S, K) -> pictures (S, C, H, W): each decoded once as every class."""
    codes = z[:, None].expand(-1, model.num_classes, -1)  # (S, C, K): the classes are the batch
    return latent.pictures_of(model, model.decode(codes, y=torch.arange(model.num_classes)))


@torch.no_grad()
def styles(model: CVAE, count: int, seed: int) -> Tensor:
    """(count, K) codes from the prior."""
    return model.sample_prior(count, generator=torch.Generator().manual_seed(seed))


@torch.no_grad()
def costs(model: CVAE, x: Tensor, seed: int = 0) -> tuple[Tensor, Tensor]:
    """−L_S of log p(x|c) for each class (C,), nats, and p(c|x) of equally likely classes (C,): x (1, D)."""
    each = model.class_log_weights(x, DRAWS, torch.Generator().manual_seed(seed))[0]
    return -each, each.softmax(0)
