"""Alignment error rate: how far the links between the words of two sentences are from gold links.

    AER = 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|)

A are the links of a model, S the sure and P ⊇ S the possible links of a person: AER is 0 where all sure
links are in A and all of A are possible. Attention weights γ become links in two ways: each target word to
the source word of its largest weight, or to all whose weight is above a threshold: two, one or none.

Shapes: γ and links (B, T, S), rows target words; counts are summed over all sentences, then divided.

References: Och and Ney 2003, A systematic comparison of various statistical alignment models; RNNsearch's
weights as alignments: Bahdanau, Cho and Bengio 2015, arXiv:1409.0473; [DGM] figure 3.
"""

from torch import Tensor, tensor
from torch.nn.functional import one_hot
from torchmetrics import Metric

from modules.base import require


def hard_links(gamma: Tensor, threshold: float | None = None) -> Tensor:
    """Attention weights (B, T, S) -> links (B, T, S) bool: the largest of each row, or all above."""
    if threshold is not None:
        return gamma > threshold
    return one_hot(gamma.argmax(-1), gamma.shape[-1]).bool()


class AlignmentErrorRate(Metric):
    """AER of attention weights, over all sentences of a split.

    Target words without a gold link, as ends and pads are, do not count.

    Args:
        threshold: the weight above which there is a link; None links each word to that of the largest weight.

    Raises:
        ValueError: the threshold is not in [0, 1).
    """

    higher_is_better = False
    hits: Tensor
    links: Tensor

    def __init__(self, threshold: float | None = None) -> None:
        super().__init__()
        if threshold is not None:
            require(0, below=1, threshold=threshold)
        self.threshold = threshold
        self.add_state("hits", tensor(0), dist_reduce_fx="sum")  # |A ∩ S| + |A ∩ P|
        self.add_state("links", tensor(0), dist_reduce_fx="sum")  # |A| + |S|

    def update(self, gamma: Tensor, sure: Tensor, possible: Tensor) -> None:
        """Add sentences: weights (B, T, S), and gold links (B, T, S) bool, the sure ones possible too."""
        possible = possible | sure
        links = hard_links(gamma, self.threshold) & possible.any(-1, keepdim=True)
        self.hits += (links & sure).sum() + (links & possible).sum()
        self.links += links.sum() + sure.sum()

    def compute(self) -> Tensor:
        return 1 - self.hits / self.links
