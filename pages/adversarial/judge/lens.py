"""Generators of small digits before the same judges, and what each judge does not see.

    inception score   exp(H(p̄) − mean H(p(y|x)))           features: class probabilities
    Fréchet distance  ‖Δμ‖² + tr(S₁ + S₂ − 2 (S₁S₂)^½)      features: the 64 means of the last feature maps
    precision, recall balls to the k-th neighbour            the same features

Every picture is made black and white first, as many of the models know nothing else. The network is
cnn-digits; what it says of held-out digits beside those of training is the floor of every number.

Shapes: pictures (N, 8, 8) of 0 and 1; features (N, 64).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import torch
from torch import Tensor

from datamodules.digits import Digits
from lab import weights
from lab.experiments import ZOO, Experiment
from lab.lenses import generated, surfaces
from modules.adversarial import judges
from modules.convolution.classifier import Classifier

REAL = "held-out digits"
NETWORK, SIDE = "cnn-digits", 8
DRAWN = 500  # pictures before the judges
SHARES = [round(0.1 * i, 1) for i in range(10)]
CUT = Digits.cut  # ink above it is black
SHEET = 40  # pictures shown
LEAST = 50  # pictures that can be judged
MOST = 10  # neighbours that a ball reaches to
Change = Literal["nothing", "classes missing", "junk", "copies"]
CHANGES: tuple[Change, ...] = get_args(Change)


@dataclass(frozen=True)
class Verdict:
    """What the judges say of N pictures.

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


def digits(split: Literal["train", "held out"]) -> Tensor:
    """DRAWN digits of a split, black and white."""
    data = Digits(binarize="threshold")
    data.setup()
    sets = [data.train_set] if split == "train" else [data.val_set, data.test_set]
    pictures = torch.cat([one[torch.arange(len(one))][0] for one in sets])[:, 0]
    order = torch.randperm(len(pictures), generator=torch.Generator().manual_seed(0))
    return pictures[order[:DRAWN]]


def accuracy(network: Classifier) -> float:
    """Of the network on held-out digits made black and white, on which it was not trained."""
    data = Digits(binarize="threshold")
    data.setup()
    x, y = data.test_set[torch.arange(len(data.test_set))]
    with torch.no_grad():
        return float((network.predict(x).argmax(1) == y).double().mean())


def fits(entry: Experiment) -> bool:
    """Whether an experiment trains a generator of small digits."""
    return surfaces.is_a(entry, Digits, part="data") and generated.makes_digits(entry, SIDE)


def drawn_by(source: str | Path, seed: int) -> Tensor:
    """DRAWN pictures of a trained generator by its folder or name, black and white; of REAL the held-out
    digits."""
    *_, (_, pictures) = drawing(source, seed)
    return pictures


def drawing(source: str | Path, seed: int) -> Iterator[tuple[float, Tensor]]:
    """The same hop by hop where there are any: the share done, and the pictures as far as they are."""
    if source == REAL:
        yield 1.0, digits("held out")
        return
    card = weights.read_card(ZOO / source)
    for share, x in generated.drawn(weights.load(source), DRAWN, seed):
        yield share, black_and_white(card, x)


def black_and_white(card: Mapping[str, Any], x: Tensor) -> Tensor:
    """Samples as pictures (N, 8, 8) of 0 and 1, by the form of the digits that the model was trained on."""
    return (generated.ink(card, x) > CUT).float()


@torch.inference_mode()
def look(network: Classifier, pictures: Tensor) -> tuple[Tensor, Tensor]:
    """Class probabilities (N, 10) and the means of the last feature maps (N, 64), float64."""
    flatten = next(i for i, layer in enumerate(network.layers) if isinstance(layer, torch.nn.Flatten))
    maps = network.layers[:flatten](pictures[:, None])
    return network.layers[flatten:](maps).double().softmax(1), maps.double().mean((2, 3))


@dataclass(frozen=True)
class Known:
    """Training digits as the judges see them: features (R, 64), and radii (MOST, R) of balls around them."""

    features: Tensor
    radii: Tensor


def known(network: Classifier, reference: Tensor) -> Known:
    """Of pictures (R, 8, 8)."""
    _, features = look(network, reference)
    return Known(features, judges.radii(judges.distances(features, features), MOST))


@dataclass(frozen=True)
class Pool:
    """Pictures (P, 8, 8) of which several sets are judged: what two of them share is computed once.

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
    """Before any of them is judged."""
    probabilities, features = look(network, pictures)
    _, same = pictures.flatten(1).unique(dim=0, return_inverse=True)
    apart, far = judges.distances(features, features), judges.distances(given.features, features)
    return Pool(given, probabilities, features, same, apart, far)


def judge_all(given: Pool, rows: Tensor, most: int = MOST) -> list[Verdict]:
    """The verdicts on the pictures at `rows` (N,) of a pool, by balls to the 1st … `most`-th neighbour."""
    probabilities, features, far = given.probabilities[rows], given.features[rows], given.far[:, rows]
    precision = judges.share_within(far.T, given.known.radii[:most])
    recall = judges.share_within(far, judges.radii(given.apart[rows][:, rows], most))
    score = float(judges.inception_score(probabilities))
    frechet = float(judges.frechet(given.known.features, features))
    classes = probabilities.argmax(1).bincount(minlength=10) / len(rows)
    repeated = float((given.same[rows].bincount()[given.same[rows]] > 1).double().mean())
    return [
        Verdict(score, frechet, p, r, classes, repeated)
        for p, r in zip(precision.tolist(), recall.tolist(), strict=True)
    ]


def judge(network: Classifier, reference: Tensor | Known, pictures: Tensor, k: int) -> Verdict:
    """`pictures` beside training digits."""
    given = reference if isinstance(reference, Known) else known(network, reference)
    return judge_all(pool(network, given, pictures), torch.arange(len(pictures)), k)[-1]


def changed(network: Classifier, pictures: Tensor, change: Change, share: float, seed: int) -> Tensor:
    """`pictures` with a share of them spoiled.

    classes missing: without the first 10 · share classes, by the network.
    junk: noise with as much ink. copies: of one picture a class, round and round.
    """
    if change == "nothing" or share == 0:
        return pictures
    labels = look(network, pictures)[0].argmax(1)
    return with_junk(pictures, change, seed)[spoiled(labels, change, share, seed)]


def with_junk(pictures: Tensor, change: Change, seed: int) -> Tensor:
    """The pictures, and after them the noise that may take their place."""
    if change != "junk":
        return pictures
    generator = torch.Generator().manual_seed(seed)
    torch.randperm(len(pictures), generator=generator)  # as `spoiled` draws first
    count = round(max(SHARES) * len(pictures))
    noise = torch.rand((count, *pictures.shape[1:]), generator=generator)
    return torch.cat([pictures, (noise < pictures.mean()).float()])


def spoiled(labels: Tensor, change: Change, share: float, seed: int) -> Tensor:
    """The rows of `with_junk` that are left, or come, when a share is spoiled: labels (N,) -> (≤ N,)."""
    rows = torch.arange(len(labels))
    if change == "nothing" or share == 0:
        return rows
    if change == "classes missing":
        kept = labels >= round(10 * share)
        return rows[kept] if kept.sum() > LEAST else rows
    generator = torch.Generator().manual_seed(seed)
    hit = torch.randperm(len(rows), generator=generator)[: round(share * len(rows))]
    if change == "junk":
        rows[hit] = len(rows) + torch.arange(len(hit))
    else:
        ones = torch.stack([(labels == c).double().argmax() for c in labels.unique()])
        rows[hit] = ones[torch.arange(len(hit)) % len(ones)]
    return rows


def judging(
    names: Sequence[str], k: int, said_of: Callable[[str], list[Verdict]]
) -> Iterator[tuple[float, dict[str, Verdict]]]:
    """All generators one after the other: the share done, and what is said so far.

    Args:
        said_of: name -> its verdicts by k = 1 … MOST.
    """
    said: dict[str, Verdict] = {}
    for done, name in enumerate(names, 1):
        said = said | {name: said_of(name)[k - 1]}
        yield done / len(names), said


@dataclass(frozen=True)
class Story:
    """Pictures (SHEET, 8, 8) at each of SHARES, and what is said of them: a verdict each in `said[k - 1]`."""

    sheets: list[Tensor]
    said: list[list[Verdict]]


def story(network: Classifier, given: Known, pictures: Tensor, change: Change, seed: int) -> Story:
    """What is seen and said as more and more is spoiled."""
    whole = with_junk(pictures, change, seed)
    seen = pool(network, given, whole)
    labels = seen.probabilities[: len(pictures)].argmax(1)
    rows = [spoiled(labels, change, share, seed) for share in SHARES]
    if change == "nothing":
        said = [judge_all(seen, rows[0])] * len(SHARES)
    else:
        said = [judge_all(seen, some) for some in rows]
    sheets = [whole[some[torch.arange(SHEET) % len(some)]] for some in rows]
    return Story(sheets, [list(by_share) for by_share in zip(*said, strict=True)])
