"""What the tests of the latent rooms share: a small model, its examples, and digits as the pad gives them."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from datamodules.digits import Digits
from lab import weights
from modules.latent.vae import VAE


@pytest.fixture(scope="session")
def model() -> VAE:
    return weights.load("vae-digits")


@pytest.fixture(scope="session")
def examples() -> tuple[Tensor, Tensor]:
    """What the pages draw as dots: the small digits' validation and test splits, in this order."""
    data = Digits(binarize="none")
    data.setup()
    both = [split[torch.arange(len(split))] for split in (data.val_set, data.test_set)]
    return torch.cat([x for x, _ in both])[:, 0], torch.cat([y for _, y in both])


@pytest.fixture(scope="session")
def drawn(examples: tuple[Tensor, Tensor]) -> Callable[[int], Tensor]:
    """The example of a digit as the pad gives it, of 16 levels: (1, 64)."""
    pictures, labels = examples
    return lambda digit: ((pictures[labels == digit][0] * 15).round() / 15).reshape(1, 64)
