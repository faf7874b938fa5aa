"""Importance weights w = p/q of draws from q: the log of their mean, and how many of them count.

Shapes: log w (K, ...), samples in front.
"""

import math

from torch import Tensor


def log_mean_exp(log_w: Tensor) -> Tensor:
    """log 1/K Σ w over the first axis, (...), without underflow."""
    return log_w.logsumexp(0) - math.log(len(log_w))


def effective_sample_size(log_w: Tensor) -> Tensor:
    """(Σ w)² / Σ w², (...): how many equal weights would be as good, from 1 to K."""
    return (2 * log_w.logsumexp(0) - (2 * log_w).logsumexp(0)).exp()
