"""A lookup table as a function with a gradient: a query meets every key, and the values are summed.

    linear   lookup(q) = Σ_i ⟨q, k_i⟩ v_i                       hard for q = e_i and keys e_1, …, e_n: v_i
    soft     lookup(q) = Σ_i softmax(λ ⟨q, k_j⟩)_i v_i          λ → ∞: the value of the nearest key alone

The linear one takes any sums of queries to sums of values; the soft one gives a convex mixture of values.

Shapes: n keys of `D` numbers and values of `E`; T queries. Tokens are rows.

References: [BB] 2.2, example 2.3; [UDL] 12.2; Bahdanau, Cho, Bengio 2015, arXiv:1409.0473 (soft retrieval).
"""

from torch import Tensor

from modules.transformer.attention import attention_weights


def linear_weights(q: Tensor, keys: Tensor) -> Tensor:
    """⟨q, k_i⟩: (T, D), (n, D) -> (T, n), any real numbers."""
    return q @ keys.T


def soft_weights(q: Tensor, keys: Tensor, sharpness: float = 1.0) -> Tensor:
    """softmax(λ ⟨q, k_i⟩): (T, D), (n, D) -> (T, n), rows sum to 1.

    Args:
        sharpness: λ, the inverse of a temperature.

    Raises:
        ValueError: it is negative: the farthest key would be found.
    """
    if sharpness < 0:
        raise ValueError(f"sharpness is {sharpness:g}: λ is 0 (all keys alike) or more.")
    return attention_weights(q, keys, scale=sharpness)


def lookup(weights: Tensor, values: Tensor) -> Tensor:
    """Σ_i w_i v_i: (T, n), (n, E) -> (T, E)."""
    return weights @ values
