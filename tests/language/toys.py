"""Language models small enough to know every answer."""

import torch

from modules.language.table import TableLM

# P(a) = .6, P(b) = .4; P(a|a) = .55, P(a|b) = .95: the best text does not begin with the best token
GREEDY_FAILS = TableLM.from_rows(2, 2, {(): (0.6, 0.4), (0,): (0.55, 0.45), (1,): (0.95, 0.05)})
# a wider beam ends in a worse text: x, y, z = 0, 1, 2
NOT_MONOTONE = TableLM.from_rows(
    3, 3, {(): (0.4, 0.35, 0.25), (0,): (0.34, 0.33, 0.33), (1,): (0.5, 0.5, 0.0), (0, 0): (1.0, 0.0, 0.0)}
)
# token 0 ends a text: "0" has .4, "1 1 0" has .6 · .7 · .75 = .315
ENDS = TableLM.from_rows(2, 3, {(): (0.4, 0.6), (1,): (0.3, 0.7), (1, 1): (0.75, 0.25)})


class Coin:
    """Independent tosses: token 1 with probability p."""

    def __init__(self, *p: float) -> None:
        self.row = torch.tensor(p, dtype=torch.float64).log()

    def next_log_probs(self, prefix):
        return self.row.expand(len(prefix), -1)


def empty(batch: int = 1):
    return torch.zeros(batch, 0, dtype=torch.int64)
