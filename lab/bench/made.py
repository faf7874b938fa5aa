"""MADE: the exact log-likelihood of 10,000 binary digits in one pass."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lab.bench.timing import Row, interleaved, paired_row
from modules.autoregressive.made import MADE

HIDDEN = 500  # the published width


def measure(quick: bool = False) -> list[Row]:
    """`log_prob` against the cross-entropy of the plain autoencoder of the same sizes: what masks cost."""
    n, hidden, digits, repeats = (16, 8, 32, 3) if quick else (784, HIDDEN, 10_000, 9)
    torch.manual_seed(0)
    model = MADE(event_shape=(n,), hidden=[hidden]).eval()
    plain = nn.Sequential(nn.Linear(n, hidden), nn.ReLU(), nn.Linear(hidden, n))
    x = torch.rand(digits, n).round()

    @torch.no_grad()
    def ours() -> Tensor:
        return torch.cat([model.log_prob(part) for part in x.split(1000)])

    @torch.no_grad()
    def peer() -> Tensor:
        return torch.cat(
            [
                -F.binary_cross_entropy_with_logits(plain(part), part, reduction="none").sum(1)
                for part in x.split(1000)
            ]
        )

    pairs = interleaved(ours, peer, repeats, warmup=1)
    return [
        paired_row("made", f"log_prob of {digits:,} digits, {n}-{hidden}-{n}", pairs, "", "peer: no masks")
    ]
