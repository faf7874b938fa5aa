"""Numbers of cards that are too dear to compute again whole: bounded on a slice of the real test split."""

import math
import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from datamodules.mnist import MNIST
from lab import weights
from lab.bench import games
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


CLAIMS = {"vae-mnist": 88.5, "iwae-mnist": 86.8}  # of the published models, K = 500


@pytest.mark.parametrize(("name", "key", "most"), [
    ("vae-mnist", "iwae", CLAIMS["vae-mnist"]), ("iwae-mnist", "iwae", CLAIMS["iwae-mnist"]),
    ("glow-mnist", "bpd", 1.5), ("vlb-digits", "bpd", 2.5),
])  # fmt: skip
def test_cards_keep_what_is_claimed(name: str, key: str, most: float) -> None:
    metrics = weights.read_card(ZOO / name)["metrics"]
    assert metrics[f"test/{key}"] <= most
    assert metrics.get("test/iwae_samples", 500) == 500


@pytest.mark.heavy
@pytest.mark.real_data
@pytest.mark.parametrize("name", CLAIMS)
def test_the_weights_keep_what_is_claimed(name: str, real_data: Any) -> None:
    """−log p by 500 samples on a slice, less that by 5 there, plus that by 5 of 5,000: the digits' own
    spread cancels, and what is left of the error is below half a nat."""
    real_data("MNIST")
    data = MNIST(**weights.read_card(ZOO / name)["config"]["data"]["init_args"])
    data.setup("test")
    model: Any = weights.load(name)
    x = data.test_set[torch.arange(0, len(data.test_set), 2)][0]
    slice_ = torch.arange(0, len(x), 40)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        few = torch.cat([-model.iwae(part, 5, generator) for part in x.split(1000)])
        better = torch.cat([-model.iwae(part, 500, generator) for part in x[slice_].split(50)])
    gain = better - few[slice_]
    error = math.hypot(float(gain.std()) / len(gain) ** 0.5, float(few.std()) / len(few) ** 0.5)
    assert error < 0.5
    assert float(few.mean() + gain.mean()) < CLAIMS[name] + 2 * error


@pytest.mark.heavy
@pytest.mark.real_data
def test_precision_of_dcgan_by_the_mean_of_its_draws(real_data: Any) -> None:
    """Said: precision 0.726 ± 0.008 and recall 0.848 ± 0.008 of four draws of 5,000."""
    real_data("MNIST")
    _, row = games.judged(generators=[("dcgan-mnist", {})])
    text = re.findall(r"(0\.\d+) ± (0\.\d+)", row.note)
    (precision, spread), (recall, spread_of_recall) = [tuple(map(float, pair)) for pair in text]
    assert row.ours == pytest.approx(precision, abs=1e-3)
    assert abs(precision - 0.726) < 0.012 and 0 < spread < 0.02  # three errors of the mean
    assert abs(recall - 0.848) < 0.012 and 0 < spread_of_recall < 0.02


@pytest.mark.heavy
@pytest.mark.real_data
def test_a_slice_of_glow_keeps_what_is_claimed(real_data: Any) -> None:
    real_data("MNIST")
    data = MNIST(**weights.read_card(ZOO / "glow-mnist")["config"]["data"]["init_args"])
    data.setup("test")
    x = data.test_set[torch.arange(0, len(data.test_set), 200)][0]
    model: Any = weights.load("glow-mnist")
    with torch.no_grad():
        bits = -model.elbo(x, generator=torch.Generator().manual_seed(0)) / (784 * math.log(2))
    assert float(bits.mean()) + 3 * float(bits.std()) / len(bits) ** 0.5 < 1.5
