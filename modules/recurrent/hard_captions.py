r"""Captions by hard attention: likelihood by all paths of locations, bounds and gradient by drawing some.

    by all L^T paths   log p(y | x) = log Σ_c q(c | x) p(y | c, x)
    by M draws         𝓛 ≈ (1/M) Σ_m log p(y | c^m, x),    loss −surrogate, whose gradient estimates −∂𝓛
    learned baseline   b_t = w·s_{t−1} + b, fitted to the rewards by squared error

The estimator is that of `hard_attention`, where it is derived; here it meets the LSTM, which the locations
advance. Captions have any number of words: draws behind <eos> have no part in the loss.

Shapes: captions (B, T), −100 behind their <eos>; log q, log p (…, T); γ (…, T, L); nats.

References: Xu et al. 2015, arXiv:1502.03044, 4.1; [DGM] deck 2.
"""

from typing import Literal

import torch
from torch import Tensor, nn

from modules.base import require, require_one_of
from modules.noise import Generators, pick, uniform32
from modules.recurrent.caption_decoder import AttentiveLSTM, Caption, Reading
from modules.recurrent.hard_attention import MovingAverage, all_paths, reward, surrogate

Baseline = Literal["none", "average", "learned"]


def along_paths(lstm: AttentiveLSTM, now: Caption, inputs: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """log q(c | x) and log p(y | c, x) of one caption along every path of locations, (L^T,) each.

    Args:
        now: state of one picture. inputs, target: (1, T), without pads.

    Raises:
        ValueError: there are more than 4096 paths.
    """
    path = all_paths(now.mask.shape[1], target.shape[1]).to(target.device)
    rows = path.new_zeros(len(path))
    reading = lstm.read(now[rows], inputs[rows], lambda gamma, t: path[:, t])
    return reading.log_q.sum(1), reading.log_p(target[rows]).sum(1)


def along_draws(
    lstm: AttentiveLSTM,
    now: Caption,
    inputs: Tensor,
    draws: int,
    generator: Generators = None,
    expected: float = 0.0,
) -> Reading:
    """Read B captions along M paths each: the rows are those of the first draw, of the second, …

    Args:
        now: state of B pictures. inputs: (B, T). draws: M.
        expected: probability that a row has all its draws replaced by their expectation.
    """
    rows = torch.arange(len(inputs), device=inputs.device).repeat(draws)
    uniforms = uniform32((inputs.shape[1], draws, len(inputs)), generator).to(now.state.h).flatten(1)
    coins = uniform32((draws, len(inputs)), generator).to(rows.device).flatten() if expected else None
    replaced = None if coins is None else coins < expected
    return lstm.read(now[rows], inputs[rows], lambda gamma, t: pick(gamma.detach(), uniforms[t]), replaced)


class ScoreFunctionLoss(nn.Module):
    """Loss whose gradient is the score-function estimate of −∂𝓛, and that of a learned baseline's error.

    Args:
        hidden: H. baseline: "none", "average" (moving), or "learned" (linear in s_{t−1}).
        to_go: reward a draw with the words from it on; False: with all words.
        entropy_weight: λ_e of the entropy bonus.

    Raises:
        ValueError: an unknown baseline, or a weight below 0.
    """

    def __init__(
        self, hidden: int, baseline: Baseline = "average", to_go: bool = True, entropy_weight: float = 0.0
    ) -> None:
        require(0, entropy_weight=entropy_weight)
        require_one_of(Baseline, baseline=baseline)
        super().__init__()
        self.to_go, self.entropy_weight = to_go, entropy_weight
        self.average = MovingAverage() if baseline == "average" else None
        self.value = nn.Linear(hidden, 1) if baseline == "learned" else None

    def forward(self, reading: Reading, log_p: Tensor, words: Tensor) -> tuple[Tensor, Tensor]:
        """Loss (N,), and what each word earns, (N, T): log p and, if it is rewarded, entropy.

        Args:
            reading: of N paths. log_p: (N, T). words: (N, T), True where there is one.
        """
        bonus = torch.special.entr(reading.gamma).sum(-1) * words if self.entropy_weight else None
        settings = self.to_go, bonus, self.entropy_weight
        baseline: Tensor | float = 0.0
        if self.average is not None:
            baseline = self.average(words, self.to_go)
        if self.value is not None:
            baseline = self.value(reading.states.detach())[..., 0]
        loss = -surrogate(log_p, reading.log_q * words, baseline, *settings)
        if self.value is not None:
            loss = loss + ((reward(log_p, *settings) - baseline).square() * words).sum(1)
        earned = log_p if bonus is None else log_p + self.entropy_weight * bonus
        return loss, earned.detach()
