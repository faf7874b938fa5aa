r"""Hard attention by tables: T draws among L places, each seen by the draw before it alone.

    γ_1 = softmax(e),   γ_t = softmax(E[c_{t−1}]),   p(y_t | c_≤t) = p[c_1], or P[c_{t−1}, c_t]
    q(c | x) = Π_t γ_{t,c_t},   𝓛 = Σ_c q log p(y | c, x) ≤ 𝓛_K ≤ log p(y | x) = log Σ_c q p

A soft context E ĉ_t = γ_t reads the same tables: E[c] becomes γ E, and P[c, c′] becomes γ P γ′.

Shapes: the scores (1 + L, L), the first draw's above those by the place before; paths (N, T), N = L^T.

References: Xu et al. 2015, arXiv:1502.03044, section 4.1; Burda et al. 2016, arXiv:1509.00519.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from datamodules import cells
from lab.errors import UserError
from lab.lenses import typed
from modules.recurrent.hard_attention import all_paths, log_marginal, tighter_bound

PLACES, TUPLES, LARGEST = 3, 60_000, 8  # tuples of paths that are listed; of draws K
REACH, LEAST = 10.0, 0.001  # of scores; of probabilities


# --- All paths ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Table:
    """
    Attributes:
        scores, log_p: (1 + L, L), of places and of words; row 0 of the first draw, row i after place i.
        steps: T.
    """

    scores: Tensor
    log_p: Tensor
    steps: int

    @property
    def paths(self) -> Tensor:
        return all_paths(self.scores.shape[1], self.steps)

    def along(self, paths: Tensor, scores: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """log p of every word and log γ of every draw of paths (N, T), each (N, T)."""
        row = torch.cat([torch.zeros_like(paths[:, :1]), paths[:, :-1] + 1], 1)
        log_gamma = (self.scores if scores is None else scores).log_softmax(1)
        return self.log_p[row, paths], log_gamma[row, paths]

    def soft(self, scores: Tensor) -> Tensor:
        """log p(y | x) with E ĉ_t for ĉ_t in every step, a scalar."""
        before, total = torch.eye(len(scores), dtype=scores.dtype)[0], scores.new_zeros(())
        for _ in range(self.steps):
            gamma = (before @ scores).softmax(0)
            total = total + (before @ self.log_p.exp() @ gamma).log()
            before = torch.cat([gamma.new_zeros(1), gamma])
        return total


def table(steps: int, e: Tensor, later: Tensor, p: Tensor, p_later: Tensor) -> Table:
    return Table(torch.cat([e[None], later]), torch.cat([p[None], p_later]).log(), steps)


@dataclass(frozen=True)
class Listed:
    """
    Attributes:
        paths: (N, T), places from 0. q, p: (N,), of the path and of the caption along it.
        bounds: (K,), 𝓛_K of 1, 2, … draws. log_p: log p(y | x).
    """

    paths: Tensor
    q: Tensor
    p: Tensor
    bounds: Tensor
    log_p: float

    @property
    def bound(self) -> float:
        """𝓛, of one draw."""
        return float(self.bounds[0])

    @property
    def names(self) -> list[str]:
        """Places of each path, from 1."""
        return [" ".join(str(place + 1) for place in path) for path in self.paths.tolist()]


def listed(steps: int, e: Tensor, later: Tensor, p: Tensor, p_later: Tensor) -> Listed:
    """All paths with what they give, and the bounds of as many draws as can be listed."""
    known = table(steps, e, later, p, p_later)
    log_p, log_q = (each.sum(1) for each in known.along(known.paths))
    most = next(k for k in range(LARGEST, 0, -1) if len(log_q) ** k <= TUPLES)
    bounds = torch.stack([tighter_bound(log_q, log_p, k) for k in range(1, most + 1)])
    return Listed(known.paths, log_q.exp(), log_p.exp(), bounds, float(log_marginal(log_q, log_p)))


# --- What is said of it ------------------------------------------------------------------------------


def captions(found: Listed) -> list[str]:
    """Each path, and how much of q is summed with it."""
    held = found.q.cumsum(0)
    return [
        f"Path {name}: q = {q:.3f}, p(y | c) = {p:.3f}. {n} of {len(found.q)} paths hold {share:.3f} of q."
        for n, (name, q, p, share) in enumerate(
            zip(found.names, found.q, found.p, held, strict=True), start=1
        )
    ]


def equations(found: Listed) -> list[str]:
    """Both sums as far as they have come; at the end the bound, LaTeX."""
    inside, outside = (found.q * found.p.log()).cumsum(0), (found.q * found.p).cumsum(0)
    texts = [
        rf"\textstyle\sum_c q\,\log\,p={a:z.3f},\qquad \sum_c q\,p={b:.3f}"
        for a, b in zip(inside, outside, strict=True)
    ]
    return [
        *texts[:-1],
        rf"\textstyle\mathcal{{L}}=\sum_c q\,\log\,p={found.bound:z.3f}\;\le\;\log\,\sum_c q\,p"
        rf"=\log\,{outside[-1]:.3f}={found.log_p:z.3f}",
    ]


def posterior_bound(found: Listed) -> float:
    """The ELBO, KL term and all, of the posterior ∝ q p: log p(y | x) again."""
    posterior = found.q * found.p / (found.q * found.p).sum()
    kept = posterior > 0
    return float((posterior * (found.p.log() + found.q.log() - posterior.log()))[kept].sum())


def best(found: Listed) -> tuple[int, int, int]:
    """The paths with the largest q, p and q p."""
    return tuple(int(values.argmax()) for values in (found.q, found.p, found.q * found.p))  # type: ignore[return-value]


# --- What the reader types ---------------------------------------------------------------------------


def of_places(widths: Sequence[int]) -> bool:
    return all(width == PLACES for width in widths)


def commas(text: str) -> str:
    """Say what was decided about the commas."""
    return cells.rows(text, of_places)[1]


def rows(text: str, count: int, low: float, high: float) -> Tensor:
    """Rows of three numbers in [low, high], as many as are due, float64.

    Raises:
        UserError: it is something else.
    """
    results = []
    for line in cells.rows(text, of_places)[0]:
        values, strange = typed.fitting(line, high)
        strange += [f"{value:g}" for value in values if value < low]
        if strange:
            raise UserError(f"{strange[0]!r} is no number from {low:g} to {high:g}: correct it.")
        results.append(values)
    if len(results) != count or any(len(row) != PLACES for row in results):
        due = "Three numbers are due, one for each place" if count == 1 else "Three rows of three are due"
        raise UserError(f"{due}: write them like {'0 1 2' if count == 1 else '0 1 0; 0 0 1; 1 0 0'}.")
    return torch.tensor(results, dtype=torch.float64)


def scores(text: str) -> Tensor:
    return rows(text, 1, -REACH, REACH)[0]


def later_scores(text: str) -> Tensor:
    return rows(text, PLACES, -REACH, REACH)


def probabilities(text: str) -> Tensor:
    return rows(text, 1, LEAST, 1.0)[0]


def later_probabilities(text: str) -> Tensor:
    return rows(text, PLACES, LEAST, 1.0)
