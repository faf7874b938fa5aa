"""In-context regression: a decoder is shown pairs (x_i, y_i) and a question, and is never told the weights.

    z_i = W_x x_i,  z_i' = W_x x_i + w_y y_i + b        ŷ_i = w·LN(h_i) of z_1 z_1' z_2 z_2' … z_i, causal

A sequence alternates questions and pairs: token z_i asks for y_i, having seen the pairs before it, token z_i'
then shows the answer. So one pass predicts after 0, 1, …, k shots. Nothing is trained when a new w comes:
what adapts to it is the forward pass.

What it can be measured by, of the first k pairs, X (k, D) and y (k,), exactly:

    least squares    w = X⁺ y, the one of least norm while k < D
    ridge            w = (XᵀX + λI)⁻¹ Xᵀy, with λ = σ²/s_w² the mean of the posterior: nothing has less error
    one step         w = (η/k) Xᵀy, a step of gradient descent from 0 on half the mean squared error, at the
                     rate η = k/(k + D + 1 + σ²/s_w²) of least expected error for x ~ N(0, I)

Shapes: `B` sequences, `N` examples of one, `D` features, `C` channels.

References: Garg et al. 2022, arXiv:2208.01066; von Oswald et al. 2022, arXiv:2212.07677 (a step of gradient
descent); Akyürek et al. 2022, arXiv:2211.15661 (ridge).
"""

from typing import Any

import torch
from torch import Tensor, nn

from modules.base import Mean, Module, Split, require
from modules.transformer.stack import Positions, Stack

# --- Baselines --------------------------------------------------------------------------------------


def least_squares(x: Tensor, y: Tensor) -> Tensor:
    """Weights (B, D) of least squared error on x (B, k, D) and y (B, k), of these the least; 0 of no pair."""
    if not x.shape[1]:
        return x.new_zeros(len(x), x.shape[2])
    return (torch.linalg.pinv(x) @ y[..., None])[..., 0]


def ridge(x: Tensor, y: Tensor, penalty: float) -> Tensor:
    """Weights (B, D) of least |y − Xw|² + penalty |w|²; without a penalty the limit, `least_squares`."""
    if penalty == 0:
        return least_squares(x, y)
    gram = x.mT @ x + penalty * torch.eye(x.shape[2], dtype=x.dtype, device=x.device)
    return torch.linalg.solve(gram, x.mT @ y[..., None])[..., 0]


def gradient_step(x: Tensor, y: Tensor, penalty: float) -> Tensor:
    """Weights (B, D) after one step from 0 on the mean squared error, at the best rate, penalty = σ²/s_w²."""
    k, D = x.shape[1:]
    # (k / (k + D + 1 + penalty)) / k: the k cancels, and of no pair there is no gradient
    return (x.mT @ y[..., None])[..., 0] / (k + D + 1 + penalty)


def baselines(x: Tensor, y: Tensor, penalty: float) -> dict[str, Tensor]:
    """Predictions (B, N) by name: each ŷ from the pairs before it, of x (B, N, D) and y (B, N)."""
    found: dict[str, list[Tensor]] = {"least squares": [], "ridge": [], "one step": []}
    for k in range(x.shape[1]):
        seen = x[:, :k], y[:, :k]
        for name, w in zip(
            found, (least_squares(*seen), ridge(*seen, penalty), gradient_step(*seen, penalty)), strict=True
        ):
            found[name].append((x[:, k] * w).sum(-1))
    return {name: torch.stack(values, 1) for name, values in found.items()}


# --- Model ------------------------------------------------------------------------------------------


class InContextRegression(Module):
    """Decoder that predicts y after every number of shots.

    Measures `mse`, over all numbers of shots, and `last`, at the most of a batch.

    Args:
        num_features: D. shots: the most pairs that it reads before a question.
        layers, heads, width: L, H, C. positions: as in `Stack`.
        training: optimizer and scheduler, see `Module`.

    Raises:
        ValueError: an argument is out of range.

    Example:
        >>> InContextRegression(num_features=2, shots=3, layers=1, heads=1, width=4).num_parameters
        305
    """

    def __init__(
        self,
        num_features: int,
        shots: int = 15,
        layers: int = 3,
        heads: int = 4,
        width: int = 64,
        positions: Positions = "learned",
        **training: Any,
    ) -> None:
        super().__init__(_measures={"mse": Mean(), "last": Mean()}, **training)
        require(1, num_features=num_features, shots=shots, width=width)
        self.num_features, self.shots, self.heads = num_features, shots, heads
        self.read_x = nn.Linear(num_features, width, bias=False)
        self.read_y = nn.Linear(1, width)  # its bias tells a pair from a question
        self.stack = Stack(layers, heads, width, 2 * (shots + 1), positions)
        self.head = nn.Linear(width, 1)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """ŷ (B, N) of x (B, N, D), each from the pairs before it; of y (B, N) the last is not looked at.

        Raises:
            ValueError: there are more pairs than it reads.
        """
        N = x.shape[1]
        if self.shots + 1 < N:
            raise ValueError(f"There are {N - 1} pairs before the last question: it reads {self.shots}.")
        questions = self.read_x(x)  # (B, N, C)
        tokens = torch.stack([questions, questions + self.read_y(y[..., None])], 2)  # (B, N, 2, C)
        h = self.stack(tokens.flatten(1, 2)[:, : 2 * N - 1], causal=True)  # (B, 2N − 1, C)
        return self.head(h[:, ::2])[..., 0]

    def step(self, batch: tuple[Tensor, Tensor], split: Split) -> Tensor:
        x, y = batch
        errors = (self(x, y) - y).square()  # (B, N)
        self.log_metric(split, "mse", errors.detach().mean(1))
        self.log_metric(split, "last", errors.detach()[:, -1])
        return errors.mean()
