"""Linear regression in the prompt: errors after each number of shots, and one question answered again.

    MSE_k = mean (ŷ_k − y)²    against ridge, least squares and one step of gradient descent on these pairs

Shapes: `B` sequences, `N` = shots + 1, `D` features.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from datamodules.in_context import LinearTasks
from modules.transformer.in_context import InContextRegression, baselines

COUNT, NOISE = 2_000, 0.5
OURS = "transformer"


def tasks(model: InContextRegression, scale_x: float, scale_w: float) -> LinearTasks:
    """The data of the training, at these scales."""
    return LinearTasks(model.num_features, model.shots, NOISE, scale_x, scale_w)


def penalty(scale_w: float) -> float:
    """λ of the posterior's mean."""
    return NOISE**2 / scale_w**2


@torch.no_grad()
def errors(linear: InContextRegression, scale_x: float, scale_w: float) -> dict[str, Tensor]:
    """Mean squared errors after 0 … shots, by name, (N,) float64; over sequences that were not trained on."""
    x, y = tasks(linear, scale_x, scale_w).draw(COUNT, 3)
    found = {OURS: linear(x, y)} | baselines(x.double(), y.double(), penalty(scale_w))
    return {name: (p.double() - y).square().mean(0) for name, p in found.items()}


@dataclass(frozen=True)
class Answered:
    """
    Attributes:
        target: w·x of the question, without noise.
        predictions: of it after 0 … shots, by name, (N,).
    """

    target: float
    predictions: dict[str, Tensor]


@torch.no_grad()
def answered(linear: InContextRegression, scale_x: float, scale_w: float, sequence: int) -> Answered:
    """One question behind 0, 1, … pairs of one task."""
    data = tasks(linear, scale_x, scale_w)
    x, y = data.draw(1, 1_000 + sequence)  # (1, N, D), (1, N)
    N = data.shots + 1
    # pairs x_1 … x_shots; the last example is the question, put behind the first k pairs in row k
    rows = torch.arange(N)
    prompts = x.expand(N, -1, -1).clone()  # (N, N, D)
    prompts[rows, rows] = x[0, -1]
    p = {OURS: linear(prompts, y.expand(N, -1))[rows, rows]}
    p |= {
        name: values[rows, rows]
        for name, values in baselines(prompts.double(), y.expand(N, -1).double(), penalty(scale_w)).items()
    }
    return Answered(target_of(data, sequence), p)


def target_of(data: LinearTasks, sequence: int) -> float:
    """w·x of the question of `answered`: the same draw without noise."""
    clean = LinearTasks(data.features, data.shots, 0.0, data.scale_x, data.scale_w)
    return float(clean.draw(1, 1_000 + sequence)[1][0, -1])


# --- In words ----------------------------------------------------------------------------------------


def captions(found: dict[str, Tensor]) -> list[str]:
    """Errors after each number of shots."""
    return [
        f"{k} shot{'s' * (k != 1)}: squared error {float(found[OURS][k]):.2f}, ridge "
        f"{float(found['ridge'][k]):.2f}, one step {float(found['one step'][k]):.2f}, least squares "
        + (f"{float(found['least squares'][k]):.2f}." if found["least squares"][k] < 1e3 else "over 1,000.")
        for k in range(len(found[OURS]))
    ]


def equations(found: dict[str, Tensor], one: Answered) -> list[str]:
    """The present prediction, and the error over all sequences."""
    return [
        rf"k = {k}:\quad \hat y = {float(one.predictions[OURS][k]):.2f},\quad "
        rf"\hat y_{{\text{{ridge}}}} = {float(one.predictions['ridge'][k]):.2f},\quad "
        rf"w \cdot x = {one.target:.2f};\qquad \mathrm{{MSE}} = {float(found[OURS][k]):.2f},\quad "
        rf"\mathrm{{MSE}}_{{\text{{ridge}}}} = {float(found['ridge'][k]):.2f}"
        for k in range(len(found[OURS]))
    ]
