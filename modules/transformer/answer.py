"""Scores of answers of k tokens: one model, four metrics.

    exact match       1[all k tokens are the likeliest]        all or nothing
    accuracy          1/k Σ_j 1[ŷ_j = y_j],  ŷ_j = argmax_v p(v | x, y_<j)
    log-likelihood    Σ_j log p(y_j | x, y_<j), in nats
    Brier score       1/k Σ_j Σ_v (p(v | x, y_<j) − 1[v = y_j])²,  0 to 2, 0 is best

Exact match is the same whether the model reads the true tokens before or its own: up to the first mistake
they are equal. Were mistakes independent and equally likely at each token, a share p of right tokens would
give p^k exact matches. Independent but not equally likely, they give the product of the tokens' shares, which
is never above p^k; and they need not be independent. ([LLM] part 5 says p⁴ for sums of three digits, of which
only 60.4 % have four; here they are filled up with a zero.)

Shapes: `B` answers, `k` tokens, `V` vocabulary.

References: Schaeffer et al. 2023, arXiv:2304.15004; Brier 1950; [LLM] part 5.
"""

import torch
from torch import Tensor
from torch.nn.functional import one_hot

METRICS = ("exact", "accuracy", "log_likelihood", "brier")


def scores(log_probs: Tensor, answer: Tensor) -> dict[str, Tensor]:
    """The four metrics of each answer.

    Args:
        log_probs: (B, k, V), log p(v | x, y_<j) at each token.
        answer: (B, k) int64.

    Returns:
        (B,) each, by the names in `METRICS`.

    Example:
        >>> two = torch.tensor([[[0.9, 0.1], [0.4, 0.6]]]).log()
        >>> {name: round(value.item(), 3) for name, value in scores(two, torch.tensor([[0, 0]])).items()}
        {'exact': 0.0, 'accuracy': 0.5, 'log_likelihood': -1.022, 'brier': 0.37}
    """
    right = log_probs.argmax(-1) == answer  # (B, k)
    truth = one_hot(answer, log_probs.shape[-1])
    return {
        "exact": right.all(1).to(log_probs.dtype),
        "accuracy": right.to(log_probs.dtype).mean(1),
        "log_likelihood": log_probs.gather(-1, answer[..., None]).sum((1, 2)),
        "brier": (log_probs.exp() - truth).square().sum(-1).mean(1),
    }


def independent(by_token: Tensor) -> Tensor:
    """Exact match if mistakes were independent: the product of the accuracies (..., k) of the tokens."""
    return torch.prod(by_token, -1)
