"""Hidden Markov models: forward–backward against hmmlearn's, written in C++."""

from typing import Any

import torch
from torch import Tensor

from lab.bench.timing import Row, interleaved, paired_row
from modules.latent import forward_backward

INSTALL = "no peer here: pip install -c constraints.txt -e '.[peers]'"
STATES = 10


def chain(sequences: int, length: int) -> tuple[Tensor, Tensor, Tensor]:
    """π (K,), A (K, K) and log b (B, T, K) of random frames, in float64 as hmmlearn's."""
    generator = torch.Generator().manual_seed(0)

    def rows(*shape: int) -> Tensor:
        p = torch.rand(*shape, generator=generator, dtype=torch.float64)
        return p / p.sum(-1, keepdim=True)

    shown = torch.randint(30, (sequences, length), generator=generator)
    return rows(STATES), rows(STATES, STATES), rows(STATES, 30).log().T[shown]


def hmmlearn(start: Tensor, transition: Tensor, log_b: Tensor) -> Any:
    """E-step of hmmlearn on the same frames, "scaling": it returns Σ log p and Σ ξ.

    Raises:
        ImportError: hmmlearn is not installed.
    """
    from hmmlearn import _hmmc

    pi, a = start.numpy(), transition.numpy()
    every = [sequence.numpy() for sequence in log_b]

    def call() -> tuple[float, Any]:
        total, moves = 0.0, 0.0
        for log_frames in every:
            frames = torch.from_numpy(log_frames).exp().numpy()
            log_p, forward, scales = _hmmc.forward_scaling(pi, a, frames)
            backward = _hmmc.backward_scaling(pi, a, frames, scales)
            smoothed = forward * backward
            smoothed /= smoothed.sum(1, keepdims=True)
            moves = moves + _hmmc.compute_scaling_xi_sum(forward, a, backward, frames)
            total += log_p
        return total, moves

    return call


def measure(quick: bool = False) -> list[Row]:
    """Many short sequences side by side, and one long one; both sides' answers are compared first."""
    cases = [(4, 20, "≤ 1.0"), (1, 50, "")] if quick else [(256, 200, "≤ 1.0"), (1, 10_000, "")]
    rows = []
    for sequences, length, target in cases:
        start, transition, log_b = chain(sequences, length)

        def ours(start: Tensor = start, transition: Tensor = transition, log_b: Tensor = log_b) -> Any:
            return forward_backward.posterior(start, transition, log_b)

        case = f"forward–backward, {sequences} × {length:,} steps, K = {STATES}"
        try:
            peer = hmmlearn(start, transition, log_b)
        except ImportError:
            rows.append(Row("hmm", case, float("nan"), target=target, note=INSTALL))
            continue
        result, (log_p, moves) = ours(), peer()
        if abs(float(result.log_prob.sum()) - log_p) > 1e-6 * abs(log_p):
            raise AssertionError(f"hmmlearn finds {log_p}, we {float(result.log_prob.sum())}.")
        torch.testing.assert_close(result.transitions, torch.as_tensor(moves), rtol=1e-6, atol=1e-6)
        pairs = interleaved(ours, peer, 3 if quick else 15)
        note = "peer: hmmlearn, scaling" + ("; ours in blocks" if length >= forward_backward.LONG else "")
        rows.append(paired_row("hmm", case, pairs, target, note))
    return rows
