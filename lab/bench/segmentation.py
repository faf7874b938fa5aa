"""U-Nets with and without skips on rendered cells, all seeds: mean IoU, and a vote in which all must agree.

The networks are those of `lab fit unet-cells` and `lab fit unet-noskips-cells`, five seeds each, on the 120
test pictures. Precision and recall of a class count pixels; a vote takes a pixel for a class only if all
networks do.

References: [UDL] §11.5.3, figures 11.10 and 11.11.
"""

import math
import statistics
from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor

from datamodules.micrographs import CLASSES, Micrographs
from lab import weights
from lab.bench.fitting import all_seeds
from lab.bench.timing import Row, spread
from modules.base import Module
from modules.convolution.regions import precision_recall, voted
from modules.convolution.segmentation import SegmentationUNet

NETWORKS = {"with skips": "unet-cells", "without": "unet-noskips-cells"}


@torch.no_grad()
def told(networks: Sequence[Module], x: Tensor) -> Tensor:
    """Classes (S, B, H, W) by each of S networks, of pictures x (B, 1, H, W)."""
    return torch.stack([cast(SegmentationUNet, network).predict(x).argmax(1) for network in networks])


def mean_iou(labels: Tensor, truth: Tensor) -> float:
    """Mean over the classes of IoU, each over all pixels, as the cards have it."""
    pairs = [(labels == c, truth == c) for c in range(len(CLASSES))]
    return statistics.mean(float((a & b).sum() / (a | b).sum()) for a, b in pairs)


def rows(case: str, labels: Tensor, truth: Tensor) -> list[Row]:
    """Of classes (S, B, H, W) by S networks: mean IoU, and precision and recall of each and of their vote."""
    shares = [mean_iou(one, truth) for one in labels]
    note = f"{spread(shares)}, {min(shares):.3f} to {max(shares):.3f}"
    found = [Row("segmentation", f"{case}: mean IoU", statistics.mean(shares), note=note, unit="")]
    for c, name in list(enumerate(CLASSES))[1:]:
        each = [precision_recall(one == c, truth == c) for one in labels]
        vote = precision_recall(voted(labels == c), truth == c)
        for k, what in enumerate(("precision", "recall")):
            if math.isnan(vote[k]):  # no pixel is voted for: there is no precision
                continue
            known = sorted(pair[k] for pair in each if not math.isnan(pair[k]))
            note = f"{known[0]:.3f} to {known[-1]:.3f} of {len(known)} networks"
            title = f"{case}: {what} of {name} in a vote"
            found.append(Row("segmentation", title, vote[k], note=note, unit=""))
    return found


def measure(quick: bool = False) -> list[Row]:
    """What all seeds say of the test pictures; networks that no run has are trained first, half an hour."""
    data = Micrographs(num_train=1, num_val=1, num_test=8) if quick else Micrographs()
    data.setup("test")
    x, truth = data.test_set[torch.arange(len(data.test_set))]
    results = []
    for case, name in NETWORKS.items():
        results += rows(case, told([weights.load(name)] if quick else all_seeds(name), x), truth)
    return results
