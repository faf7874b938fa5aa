"""Metrics of pictures of digits, by the features of a classifier.

    inception score   exp(H(p̄) − mean H(p(y|x)))           features: class probabilities
    Fréchet distance  ‖Δμ‖² + tr(S₁ + S₂ − 2 (S₁S₂)^½)      features: the 64 means of the last feature maps
    precision, recall balls to the k-th neighbour            the same features

Every picture is made black and white first, as many models know nothing else. What is said of held-out digits
beside those of training is the floor of every number.

Shapes: pictures (N, S, S) of 0 and 1, S = 8 or 28; features (N, 64).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

from datamodules.digits import Digits
from datamodules.mnist import MNIST
from lab import weights
from lab.experiments import ZOO
from lab.lenses import generated, stock
from lab.lenses.latent import in_mnist_frame
from modules.adversarial import metrics
from modules.convolution.classifier import Classifier

REAL, REAL_MNIST = "held-out digits", "held-out MNIST digits"
NETWORK = "cnn-digits"
DRAWN = 500  # pictures that are measured
CUT = Digits.cut  # ink above it is black
MOST = 10  # neighbours that a ball reaches to


@dataclass(frozen=True)
class Verdict:
    """Metrics of N pictures.

    Attributes:
        score: inception score, 1 to 10. frechet: distance from training digits.
        precision, recall: from 0 to 1. classes: (10,) share of each, by the network.
        repeated: share of pictures that occur more than once among them.
    """

    score: float
    frechet: float
    precision: float
    recall: float
    classes: Tensor
    repeated: float


Split = Literal["train", "held out"]


def digits(split: Split, side: int = 8) -> Tensor:
    """DRAWN digits of a split, black and white."""
    return labelled(split, side)[0]


@lru_cache(maxsize=4)
def labelled(split: Split, side: int = 8) -> tuple[Tensor, Tensor]:
    """The same with their classes. With 28 pixels a side they are of MNIST; where its files are not here,
    small digits drawn as MNIST draws its own."""
    if side == 28 and stock.has_mnist():
        x, y = stock.examples(MNIST, "train", "val", most=DRAWN)
        part = slice(DRAWN) if split == "train" else slice(DRAWN, None)
        return (x[part, 0] > CUT).float(), y[part]
    x, y = stock.digits(*(("train",) if split == "train" else stock.HELD_OUT))
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))[:DRAWN]
    x = x[order, 0]
    return ((in_mnist_frame(x) if side == 28 else x) > CUT).float(), y[order]


def side_of(network: Classifier) -> int:
    """Pixels a side of the pictures that a classifier knows."""
    return int(network.hparams["image_shape"][-1])


def drawn_by(source: str | Path, seed: int) -> Tensor:
    """DRAWN pictures of a trained generator by its folder or name, black and white; of REAL and REAL_MNIST
    the held-out digits."""
    if source in (REAL, REAL_MNIST):
        return digits("held out", 28 if source == REAL_MNIST else 8)
    *_, (_, pictures) = drawing(weights.load(source), weights.read_card(ZOO / source), seed)
    return pictures


def drawing(model: Any, card: Mapping[str, Any], seed: int) -> Iterator[tuple[float, Tensor]]:
    """The pictures of a generator step by step where there are any: the share done, and they as far as they
    are."""
    for share, x in generated.drawn(model, DRAWN, seed):
        yield share, black_and_white(card, x)


def black_and_white(card: Mapping[str, Any], x: Tensor) -> Tensor:
    """Samples as pictures (N, S, S) of 0 and 1, by the form of the digits that the model was trained on."""
    return (generated.ink(card, x) > CUT).float()


@torch.inference_mode()
def look(network: Classifier, pictures: Tensor) -> tuple[Tensor, Tensor]:
    """Class probabilities (N, 10) and the means of the last feature maps (N, 64), float64."""
    flatten = next(i for i, layer in enumerate(network.layers) if isinstance(layer, torch.nn.Flatten))
    maps = network.layers[:flatten](pictures[:, None])
    return network.layers[flatten:](maps).double().softmax(1), maps.double().mean((2, 3))


@dataclass(frozen=True)
class Known:
    """Training digits by the classifier: features (R, 64), and radii (MOST, R) of balls around them."""

    features: Tensor
    radii: Tensor


def known(network: Classifier, reference: Tensor) -> Known:
    """Features and radii of reference pictures (R, S, S), as a network sees them."""
    _, features = look(network, reference)
    return Known(features, metrics.radii(metrics.distances(features, features), MOST))


@dataclass(frozen=True)
class Pool:
    """Pictures (P, S, S) of which several sets are measured: what two of them share is computed once.

    Attributes:
        probabilities, features: (P, ·), as the network says. same: (P,) equal where pictures are.
        apart: (P, P) distances between them; far: (R, P) from training digits.
    """

    known: Known
    probabilities: Tensor
    features: Tensor
    same: Tensor
    apart: Tensor
    far: Tensor


def pool(network: Classifier, given: Known, pictures: Tensor) -> Pool:
    """Compute what all sets share, before any of them is measured."""
    probabilities, features = look(network, pictures)
    _, same = pictures.flatten(1).unique(dim=0, return_inverse=True)
    apart, far = metrics.distances(features, features), metrics.distances(given.features, features)
    return Pool(given, probabilities, features, same, apart, far)


def evaluate_all(given: Pool, rows: Tensor, most: int = MOST) -> list[Verdict]:
    """The verdicts on the pictures at `rows` (N,) of a pool, by balls to the 1st … `most`-th neighbour."""
    probabilities, features, far = given.probabilities[rows], given.features[rows], given.far[:, rows]
    precision = metrics.share_within(far.T, given.known.radii[:most])
    recall = metrics.share_within(far, metrics.radii(given.apart[rows][:, rows], most))
    score = float(metrics.inception_score(probabilities))
    frechet = float(metrics.frechet(given.known.features, features))
    classes = probabilities.argmax(1).bincount(minlength=10) / len(rows)
    repeated = float((given.same[rows].bincount()[given.same[rows]] > 1).double().mean())
    return [
        Verdict(score, frechet, p, r, classes, repeated)
        for p, r in zip(precision.tolist(), recall.tolist(), strict=True)
    ]


def evaluate(network: Classifier, reference: Tensor | Known, pictures: Tensor, k: int) -> Verdict:
    """`pictures` beside training digits."""
    given = reference if isinstance(reference, Known) else known(network, reference)
    return evaluate_all(pool(network, given, pictures), torch.arange(len(pictures)), k)[-1]
