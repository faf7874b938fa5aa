"""One example in batches with other mates, and at the test with statistics that are kept.

Shapes: T batches.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from modules.convolution.normalization import batch_norm, freeze_statistics, normalize
from pages.convolution.normalization.room import STEPS


def count(given: tuple[float, ...]) -> int:
    return len(given)


@dataclass(frozen=True)
class Tested:
    """
    Attributes:
        training: (T,), output of the example in each batch.
        running: (T,), its output at the test with the averages so far. frozen: with those of the whole set.
        unbiased, biased: (T,), running averages of the variance, with 1/(B − 1) and with 1/B.
        variance: of the whole set.
    """

    training: Tensor
    running: Tensor
    frozen: float
    unbiased: Tensor
    biased: Tensor
    variance: float


@torch.no_grad()
def tested(given: tuple[float, ...], size: int, momentum: float, example: int, seed: int) -> Tested:
    """Batches of B numbers drawn from a set, and the output of one example, counted from 1, in each,
    where it takes the place of the first number."""
    whole = torch.tensor(given, dtype=torch.float64)[:, None]
    norm = nn.BatchNorm1d(1, affine=False, momentum=momentum).double()
    generator = torch.Generator().manual_seed(seed)
    one, biased = whole[example - 1 : example], 1.0  # torch's averages start at 0 and 1
    rows = []
    for _ in STEPS:
        batch = whole[torch.randint(len(whole), (size,), generator=generator)]
        training = batch_norm(torch.cat([one, batch[1:]]), norm.eps)[0]
        norm.train()(batch)
        biased = (1 - momentum) * biased + momentum * float(batch.var(correction=0))
        assert norm.running_var is not None
        rows.append([float(training), float(norm.eval()(one)), float(norm.running_var), biased])
    frozen = freeze_statistics(norm, [whole])(one)
    columns = torch.tensor(rows, dtype=torch.float64).T
    variance = float(whole.var(correction=0))
    return Tested(columns[0], columns[1], float(frozen), columns[2], columns[3], variance)


def spread(given: tuple[float, ...], example: int, size: int, draws: int = 2000) -> float:
    """Deviation of the training output of an example over batches of B numbers."""
    whole = torch.tensor(given, dtype=torch.float64)
    mates = torch.randint(len(given), (draws, size), generator=torch.Generator().manual_seed(0))
    batches = whole[mates]
    batches[:, 0] = whole[example - 1]
    return float(normalize(batches, (1,))[:, 0].std())
