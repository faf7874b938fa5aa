"""Zachary's karate club: 34 members, 78 friendships, four communities. Embedded.

Zachary 1977; the communities are those of modularity clustering (Brandes et al. 2008), as PyTorch
Geometric ships them. A member has no features but its own number: x is the identity (34, 34).
"""

import torch
from torch_geometric.data import Data
from torch_geometric.datasets import KarateClub

from datamodules.graph import OneGraph


class Karate(OneGraph):
    """The karate club; one member of each community is labelled, as in Kipf & Welling's appendix A.

    Of the 30 others a third of each community (rounded) is for validation, the rest for the test.

    Args:
        seed: of the split into validation and test.
    """

    embedded = True
    classes = ("community 0", "community 1", "community 2", "community 3")

    def load(self) -> Data:
        data = KarateClub()[0]
        generator = torch.Generator().manual_seed(self.seed)
        data.val_mask = torch.zeros_like(data.train_mask)
        for y in range(int(data.y.max()) + 1):
            rest = ((data.y == y) & ~data.train_mask).nonzero()[:, 0]
            rest = rest[torch.randperm(len(rest), generator=generator)]
            data.val_mask[rest[: round(len(rest) / 3)]] = True
        data.test_mask = ~(data.train_mask | data.val_mask)
        return data
