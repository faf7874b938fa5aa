"""Generators of small digits before the same judges, and what each judge does not see.

    inception score   exp(H(p̄) − mean H(p(y|x)))           features: class probabilities
    Fréchet distance  ‖Δμ‖² + tr(S₁ + S₂ − 2 (S₁S₂)^½)      features: the 64 means of the last feature maps
    precision, recall balls to the k-th neighbour            the same features

Every picture is made black and white first, as many of the models know nothing else. The network is
cnn-digits; what it says of held-out digits beside those of training is the floor of every number.

Shapes: pictures (N, 8, 8) of 0 and 1; features (N, 64).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from datamodules.digits import Digits
from lab import weights
from lab.experiments import ZOO
from modules.adversarial import judges
from modules.convolution.classifier import Classifier

REAL = "held-out digits"
NETWORK = "cnn-digits"
DRAWN = 500  # pictures before the judges
SHARES = [round(0.1 * i, 1) for i in range(10)]
CUT = Digits.cut  # ink above it is black
SHEET = 40  # pictures shown
SETTINGS: dict[str, dict[str, Any]] = {"ddpm-digits": {"steps": 20}}  # of `sample`, where not its own
LEAST = 50  # pictures that can be judged
OPTIONS = ["precision", "recall", "neither: the two are within 0.1"]
LOWER = ["precision", "recall", "neither, within 0.05"]
Change = Literal["nothing", "classes missing", "junk", "copies"]


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


def drawn_by(name: str, seed: int) -> Tensor:
    """DRAWN pictures of a shipped generator, black and white; of REAL the held-out digits."""
    if name == REAL:
        return digits("held out")
    model, card = weights.load(name), weights.read_card(ZOO / name)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        x = model.sample(DRAWN, generator=generator, **SETTINGS.get(name, {}))  # type: ignore[operator]
    return black_and_white(card, x)


def black_and_white(card: Mapping[str, Any], x: Tensor) -> Tensor:
    """Samples as pictures (N, 8, 8) of 0 and 1, by the form of the digits that the model was trained on."""
    top = Digits.levels if card["data"].get("binarize") == "levels" else 1
    return (x.reshape(len(x), 8, 8) > CUT * top).float()


@torch.no_grad()
def look(network: Classifier, pictures: Tensor) -> tuple[Tensor, Tensor]:
    """Class probabilities (N, 10) and the means of the last feature maps (N, 64), float64."""
    flatten = next(i for i, layer in enumerate(network.layers) if isinstance(layer, torch.nn.Flatten))
    maps = network.layers[:flatten](pictures[:, None])
    return network.layers[flatten:](maps).double().softmax(1), maps.double().mean((2, 3))


def judge(network: Classifier, reference: Tensor, pictures: Tensor, k: int) -> Verdict:
    """`pictures` beside as many training digits."""
    probabilities, features = look(network, pictures)
    _, known = look(network, reference)
    precision, recall = judges.precision_recall(known, features, k)
    _, where, count = pictures.flatten(1).unique(dim=0, return_inverse=True, return_counts=True)
    return Verdict(
        float(judges.inception_score(probabilities)), float(judges.frechet(known, features)),
        float(precision), float(recall), probabilities.argmax(1).bincount(minlength=10) / len(pictures),
        float((count[where] > 1).double().mean()),
    )  # fmt: skip


def changed(network: Classifier, pictures: Tensor, change: Change, share: float, seed: int) -> Tensor:
    """`pictures` with a share of them spoiled.

    classes missing: without the first 10 · share classes, by the network.
    junk: noise with as much ink. copies: of one picture a class, round and round.
    """
    if change == "nothing" or share == 0:
        return pictures
    generator = torch.Generator().manual_seed(seed)
    labels = look(network, pictures)[0].argmax(1)
    if change == "classes missing":
        kept = labels >= round(10 * share)
        return pictures[kept] if kept.sum() > LEAST else pictures
    spoiled = torch.randperm(len(pictures), generator=generator)[: round(share * len(pictures))]
    out = pictures.clone()
    if change == "junk":
        noise = torch.rand((len(spoiled), *pictures.shape[1:]), generator=generator)
        out[spoiled] = (noise < pictures.mean()).float()
    else:
        ones = torch.stack([(labels == c).double().argmax() for c in labels.unique()])
        out[spoiled] = pictures[ones[torch.arange(len(spoiled)) % len(ones)]]
    return out


def judging(
    network: Classifier, reference: Tensor, names: Sequence[str], k: int, seed: int
) -> Iterator[tuple[float, dict[str, Verdict]]]:
    """All generators one after the other: the share done, and what is said so far."""
    said: dict[str, Verdict] = {}
    for done, name in enumerate(names, 1):
        said = said | {name: judge(network, reference, drawn_by(name, seed), k)}
        yield done / len(names), said


def story(
    network: Classifier, reference: Tensor, pictures: Tensor, change: Change, k: int, seed: int
) -> tuple[list[Tensor], list[Verdict]]:
    """The pictures, and what is said of them, at each of SHARES."""
    spoiled = [changed(network, pictures, change, share, seed) for share in SHARES]
    sheet = [some[torch.arange(SHEET) % len(some)] for some in spoiled]
    return sheet, [judge(network, reference, some, k) for some in spoiled]


def captions(verdicts: list[Verdict], change: Change, floor: Verdict) -> list[str]:
    """A sentence for every share."""
    what = {"classes missing": "of the classes missing", "junk": "junk", "copies": "copies"}
    return [
        ("As drawn" if change == "nothing" else f"{share:.0%} {what[change]}")
        + f": precision {v.precision:.2f}, recall {v.recall:.2f} (held-out digits {floor.precision:.2f}, "
        f"{floor.recall:.2f}); {v.repeated:.0%} of the pictures occur more than once."
        for share, v in zip(SHARES, verdicts, strict=True)
    ]


def equations(verdicts: list[Verdict], floor: Verdict) -> list[str]:
    """The two scores with the floor, LaTeX."""
    return [
        rf"\mathrm{{FD}}={v.frechet:.3f}\ (\text{{floor }}{floor.frechet:.3f}),\qquad "
        rf"\mathrm{{IS}}=e^{{H(\bar p)-\overline{{H}}}}={v.score:.2f}\ (\text{{floor }}{floor.score:.2f})"
        for v in verdicts
    ]


def fallen(first: Verdict, now: Verdict) -> str:
    """Which of OPTIONS has fallen further."""
    a, b = first.precision - now.precision, first.recall - now.recall
    return OPTIONS[2] if abs(a - b) <= 0.1 else OPTIONS[0] if a > b else OPTIONS[1]


def lower(now: Verdict) -> str:
    """Which of LOWER is so."""
    gap = now.precision - now.recall
    return LOWER[2] if abs(gap) <= 0.05 else LOWER[0] if gap < 0 else LOWER[1]
