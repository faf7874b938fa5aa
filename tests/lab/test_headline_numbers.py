"""Numbers of cards that are too dear to compute again whole: bounded on a slice of the real test split."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from datamodules.mnist import MNIST
from lab import weights
from lab.experiments import ZOO


def nll(model: Any, x: Tensor, y: Tensor) -> Tensor:
    return -model.log_prob(x)


def nll_given_class(model: Any, x: Tensor, y: Tensor) -> Tensor:
    return -model.log_prob(x, y=y)


def iwae(model: Any, x: Tensor, y: Tensor) -> Tensor:
    return -model.iwae(x, model.iwae_samples, torch.Generator().manual_seed(0))


@pytest.mark.heavy
@pytest.mark.real_data
@pytest.mark.parametrize(
    ("name", "loss", "digits"),
    [
        ("pixelcnn-mnist", nll, 250),
        ("made-masks-mnist", nll, 500),
        ("made-onemask-mnist", nll, 500),
        ("gatedpixelcnn-mnist", nll, 80),
        ("gatedpixelcnn-mnist", nll_given_class, 250),
        ("vae-mnist", iwae, 125),
        ("iwae-mnist", iwae, 125),
    ],
)
def test_a_slice_of_the_test_split_reaches_the_number_of_the_card(
    name: str, loss: Callable[[Any, Tensor, Tensor], Tensor], digits: int, real_data: Any
) -> None:
    real_data("MNIST")
    card = weights.read_card(ZOO / name)
    data = MNIST(**card["config"]["data"]["init_args"])
    data.setup("test")
    # evenly spaced: the first half of the split is the easier one
    x, y = data.test_set[torch.arange(0, len(data.test_set), len(data.test_set) // digits)]
    with torch.no_grad():
        each = loss(weights.load(name), x, y)
    error = each.std() / len(each) ** 0.5
    assert error < 0.05 * each.mean()  # or the bound would say nothing
    assert abs(each.mean() - card["metrics"][f"test/{loss.__name__}"]) < 4 * error
