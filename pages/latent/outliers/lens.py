r"""Two scores of how odd a picture is to a VAE of digits, and what a threshold on them lets pass.

    log p̂(x) = log 1/N Σ_s p(x|z_s) p(z_s) / q(z_s|x)    odd if below τ
    ‖x − x̂‖²,  x̂ = decode(mean of q(z|x))                odd if above τ

τ is a quantile of validation digits; false alarms are counted on test digits, which nobody has seen.

Shapes: pictures x (M, 64) of 0 and 1; scores (M,).
References: [UDL] 14.1; [GM] §3.4; Nalisnick et al. 2019, arXiv:1810.09136.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from lab.experiments import Experiment
from lab.lenses import surfaces
from modules.flow.typicality import auroc
from modules.latent.vae import VAE

SIDE, BINS = 8, 40
START = "vae-bits-digits"
SOON = (START, "iwae-digits")
SCORES = ("log p̂", "reconstruction")
SYMBOLS = {
    "plus": "..##.. ..##.. ###### ###### ..##.. ..##..",
    "cross": "##..## ##..## .####. .####. ##..## ##..##",
    "box": "###### ###### ##..## ##..## ###### ######",
    "T": "###### ###### ..##.. ..##.. ..##.. ..##..",
    "H": "##..## ##..## ###### ###### ##..## ##..##",
    "L": "##.... ##.... ##.... ##.... ###### ######",
    "U": "##..## ##..## ##..## ##..## ###### ######",
    "dots": "##..## ##..## ...... ...... ##..## ##..##",
}


def fits(entry: Experiment) -> bool:
    """Check whether the evidence of black and white small digits can be weighed, and a code alone makes
    one."""
    return surfaces.of_digits(entry, "threshold") and surfaces.keeps(
        entry, VAE, "iwae", "log_weights", "outputs", "decode", "unpack"
    )


def symbol(name: str, down: int = 1, right: int = 1) -> Tensor:
    """A symbol (8, 8), placed."""
    rows = [[float(c == "#") for c in row] for row in SYMBOLS[name].split()]
    picture = torch.zeros(SIDE, SIDE)
    picture[down : down + 6, right : right + 6] = torch.tensor(rows)
    return picture


def bar(first: int = 0, last: int = 7, column: int = 3) -> Tensor:
    """Two columns of ink, (8, 8)."""
    picture = torch.zeros(SIDE, SIDE)
    picture[first : last + 1, column : column + 2] = 1
    return picture


def others(digits: Tensor, seed: int = 0) -> dict[str, Tensor]:
    """Sets of pictures that are no digits, by name."""
    g = torch.Generator().manual_seed(seed)
    ink = torch.full_like(digits, float(digits.mean()))
    places = [(d, r) for d in range(3) for r in range(3)]
    bars = [bar(a, b, c) for a in (0, 1) for b in (6, 7) for c in (2, 3, 4)]
    return {
        "other symbols": torch.stack([symbol(n, *p).flatten() for n in SYMBOLS for p in places]),
        "noise": torch.bernoulli(ink, generator=g),
        "shuffled": digits.gather(1, torch.rand(digits.shape, generator=g).argsort(1)),
        "inverted": 1 - digits,
        "plain bars": torch.stack([one.flatten() for one in bars]),
    }


@torch.no_grad()
def scores(model: VAE, x: Tensor, draws: int, seed: int = 0) -> dict[str, Tensor]:
    """Both scores of pictures."""
    back = model.decode(model.encode(x)).reshape(len(x), -1)
    log_p = model.iwae(x, draws, torch.Generator().manual_seed(seed))
    return dict(zip(SCORES, (log_p, (x - back).square().sum(1)), strict=True))


@dataclass(frozen=True)
class Judged:
    """Scores of validation digits, of test digits ("digits") and of the other sets, by set and score."""

    known: dict[str, Tensor]
    sets: dict[str, dict[str, Tensor]]

    def threshold(self, score: str, share: float) -> float:
        """So that this share of the validation digits is flagged."""
        return float(self.known[score].quantile(share if score == SCORES[0] else 1 - share))

    def flagged(self, name: str, score: str, share: float) -> float:
        """The share of a set that is called odd: of digits, false alarms; of others, all but the misses."""
        values, at = self.sets[name][score], self.threshold(score, share)
        return float((values < at if score == SCORES[0] else values > at).float().mean())

    def auroc(self, name: str, score: str) -> float:
        """P(an odd picture looks odder than a digit)."""
        sign = -1 if score == SCORES[0] else 1
        return auroc(sign * self.sets["digits"][score], sign * self.sets[name][score])

    def beaten(self, score: str, value: float) -> float:
        """The share of test digits that look odder than a picture of this score."""
        digits = self.sets["digits"][score]
        return float((digits < value if score == SCORES[0] else digits > value).float().mean())

    def ends(self, name: str, score: str, own: float) -> tuple[float, float]:
        """Ends of an axis for digits, a set and the reader's picture."""
        values = torch.cat([self.sets["digits"][score], self.sets[name][score]])
        low, high = min(float(values.quantile(0.005)), own), max(float(values.quantile(0.995)), own)
        slack = 0.05 * (high - low)
        return low - slack, high + slack


def judging(model: VAE, known: Tensor, digits: Tensor, draws: int) -> Iterator[tuple[float, Judged]]:
    """One set after the other: the share done, and the sets so far."""
    sets, of_known = {"digits": digits, **others(digits)}, scores(model, known, draws)
    seen: dict[str, dict[str, Tensor]] = {}
    for name, x in sets.items():
        seen = {**seen, name: scores(model, x, draws)}
        yield len(seen) / len(sets), Judged(of_known, seen)


def judged(model: VAE, known: Tensor, digits: Tensor, draws: int) -> Judged:
    """All sets."""
    *_, (_, result) = judging(model, known, digits, draws)
    return result


def histogram(values: Tensor, low: float, high: float) -> Tensor:
    """Shares (BINS,); what lies outside is counted in the first or last bin."""
    counts = torch.histc(values.clamp(low, high), BINS, low, high)
    return counts / counts.sum()
