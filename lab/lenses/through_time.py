"""The receptive field along time: which steps of a sequence reach what is said at a step.

    theory       paths from x_k to h_t of a recurrent network: k ≤ t; read both ways, all k
    gradient     |∂ y_t / ∂ x_k|, the largest over the features of x_k; of a text x_k is an embedding
    replacing    what becomes of y_t where the token at k is another: for counts too, which have no gradient

Gradient and paths are those of `lab.lenses.receptive_field`, with time for the one axis; what is measured is
0 wherever the theory has no path.

Shapes: T steps, D features; U numbers that are said; S replacements a step. Rows are outputs, columns inputs.

References: Khandelwal et al. 2018, Sharp nearby, fuzzy far away, arXiv:1805.04623 (replacing).
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from lab.lenses.receptive_field import Unit, compose, measured_each, union
from modules.recurrent.stack import Recurrent


def paths(network: Recurrent, steps: int) -> Tensor:
    """Number of paths from each input to each output of a recurrent network, (T, T) float64."""
    past = torch.ones(steps, steps).tril()
    layer = union(past, past.T) if network.bidirectional else past
    return compose(*[layer] * network.layers)


def gradients(function: Callable[[Tensor], Tensor], x: Tensor, units: Sequence[Unit]) -> Tensor:
    """|∂ unit / ∂ x_k|, the largest over the features of x_k: x (T, D) -> (U, T).

    Args:
        function: of sequences (B, T, D), floating point; of a text, of its embeddings.
        units: indices in what it says of one sequence, such as (t, feature).
    """
    return measured_each(function, x[None], units)[:, 0].amax(-1)


@torch.no_grad()
def replacing(
    function: Callable[[Tensor], Tensor],
    tokens: Tensor,
    others: Tensor,
    distance: Callable[[Tensor, Tensor], Tensor],
) -> Tensor:
    """What becomes of the output at each step where one token is another: (S, T, T).

    Args:
        function: of texts (B, T) -> what it says at each step (B, T, ...).
        tokens: (T,). others: (S, T, T), the text with another token at k, k the second axis.
        distance: of what is said of them (B, T, ...) from what is said of the text (1, T, ...), step by step
            (B, T).
    """
    T = len(tokens)
    after, before = function(others.flatten(0, 1)), function(tokens[None])
    return distance(after, before).view(-1, T, T).mT
