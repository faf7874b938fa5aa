r"""Scores of a density on sets of pictures that it has not been trained on, and the radius of draws.

    log p(x)                         low: an outlier, if below the threshold τ
    |−log p(x) − H|                  far from 0: not typical; H the mean of −log p on clean data

In D dimensions N(0, I) is highest at 0, where no draw is: r = ‖z‖ has density ∝ r^{D−1} e^{−r²/2}, about √D.

Shapes: pictures (N, 1, H, W) of grey levels 0 … 16; scores (N,).
References: Nalisnick et al. 2019, arXiv:1810.09136 and arXiv:1906.02994; [UDL] 14.1, 16.5.1; [GM] 3.12.5.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from lab.lenses import stock
from lab.lenses.glows import WHITE, log_prob, pictures
from modules.flow.glow import Glow
from modules.flow.typicality import Detector, auroc, bootstrap

BINS = 60
COLD = 0.3  # temperature of the set of that name
UNSEEN = "glow-digits-no9"
DIMENSIONS = [1, 2, 3, 5, 8, 16, 32, 64, 128, 256, 784]


def others(clean: Tensor, seed: int = 0) -> dict[str, Tensor]:
    """Sets of pictures that are no held-out digits, by name."""
    generator = torch.Generator().manual_seed(seed)
    flat = clean.flatten(1)
    order = torch.rand(flat.shape, generator=generator).argsort(1)
    greys = torch.arange(WHITE + 1.0)[:, None].expand(-1, flat.shape[1])
    noise = torch.randint(WHITE + 1, flat.shape, generator=generator).float()
    sets = {"inverted": WHITE - flat, "shuffled": flat.gather(1, order), "constant": greys, "noise": noise}
    sets["pale"] = (flat * 0.5).round()
    return {name: values.reshape(-1, *clean.shape[1:]) for name, values in sets.items()}


@dataclass(frozen=True)
class Judged:
    """log p of sets of pictures, nats; "digits" are held out."""

    log_p: dict[str, Tensor]

    def detector(self, quantile: float) -> Detector:
        return Detector.from_clean(self.log_p["digits"], quantile)

    def flagged(self, name: str, quantile: float, score: str) -> float:
        """Share of a set that is called an outlier."""
        detector = self.detector(quantile)
        called = detector.improbable if score == "log p" else detector.untypical
        return float(called(self.log_p[name]).float().mean())

    def auroc(self, name: str, score: str) -> float:
        """P(an odd picture looks odder than a digit)."""
        clean, odd = self.log_p["digits"], self.log_p[name]
        if score == "log p":
            return auroc(-clean, -odd)
        detector = self.detector(0.05)
        return auroc(detector.typicality(clean), detector.typicality(odd))


def judged(model: Glow, clean: Tensor, seed: int = 0) -> Judged:
    """The held-out digits `clean`, the sets of `others`, the model's own draws, and the picture of z = 0."""
    sets = {
        "digits": clean,
        **others(clean, seed),
        "samples": model.sample(len(clean), generator=torch.Generator().manual_seed(seed)),
        "cold": model.sample(len(clean), temperature=COLD, generator=torch.Generator().manual_seed(seed)),
        "z = 0": pictures(model, torch.zeros(1, model.event_dim))[:, None],
    }
    return Judged({name: log_prob(model, x, draws=2) for name, x in sets.items()})


def histogram(values: Tensor, low: float, high: float) -> Tensor:
    """Shares (BINS,) between low and high; what lies outside is counted in the first or last bin."""
    counts = torch.histc(values.clamp(low, high).float(), BINS, low, high)
    return counts / counts.sum()


def radius(dimensions: int, relative: Tensor) -> tuple[Tensor, Tensor]:
    """Over r/√D (N,): the density of r/√D, and the density of N(0, I_D) there as a share of its peak."""
    r = relative * math.sqrt(dimensions)
    constant = (dimensions / 2 - 1) * math.log(2) + math.lgamma(dimensions / 2)
    log_chi = torch.special.xlogy(torch.tensor(dimensions - 1.0), r) - r.square() / 2 - constant
    return (log_chi + 0.5 * math.log(dimensions)).exp(), (-r.square() / 2).exp()


def own_score(model: Glow, x: Tensor) -> float:
    """log p of one picture, as of the sets."""
    return float(log_prob(model, x, draws=2))


# --- A class that was never seen --------------------------------------------------------------------


@dataclass(frozen=True)
class Against:
    """One class against held-out digits of the other classes that were seen, by one score.

    Attributes:
        area: AUROC, P(a digit of the class looks odder); error: its bootstrap standard error.
        count: pictures of the class.
    """

    area: float
    error: float
    count: int


@dataclass(frozen=True)
class Classes:
    """Held-out digits under a model that was trained without a class.

    Attributes:
        log_p, y: (N,) nats and labels; of the class left out all pictures, of the others what was held out.
        without: that class.
    """

    log_p: Tensor
    y: Tensor
    exclude: int

    def scores(self, score: str) -> Tensor:
        """(N,), the higher the odder; H of the typicality is the mean of −log p over the classes seen."""
        return -self.log_p if score == "log p" else (-self.log_p - self.mean_nll).abs()

    @property
    def mean_nll(self) -> float:
        return float(-self.log_p[self.y != self.exclude].mean())

    def sets(self, label: int, score: str) -> tuple[Tensor, Tensor]:
        """Scores of the other seen classes, and of one class."""
        values = self.scores(score)
        return values[(self.y != self.exclude) & (self.y != label)], values[self.y == label]

    def against(self, label: int, score: str) -> Against:
        clean, odd = self.sets(label, score)
        return Against(auroc(clean, odd), bootstrap(clean, odd), len(odd))


def classes(model: Glow, exclude: int) -> Classes:
    """Every digit that the model of `Digits(exclude=…)` has not been trained on."""
    x, y = stock.digits(*stock.HELD_OUT, form="levels", exclude=exclude)
    every, labels = stock.digits("train", *stock.HELD_OUT, form="levels")
    odd = labels == exclude
    x, y = torch.cat([x, every[odd]]), torch.cat([y, labels[odd]])
    return Classes(log_prob(model, x, draws=2), y, exclude)


# --- What is drawn --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shown:
    """Histograms of a score by name, the ends of their axis, and the reader's own score."""

    shares: dict[str, Tensor]
    low: float
    high: float
    own: float


def shown(result: Judged, kind: str, score: str, own: float) -> Shown:
    """Digits and one other set; the axis ends where all but a hundredth of each lie."""
    detector = result.detector(0.05)
    scores = {name: result.log_p[name] for name in ("digits", kind)}
    if score == "typicality":
        scores = {name: detector.typicality(v) for name, v in scores.items()}
        own = abs(-own - detector.mean_nll)
    both = [v.quantile(torch.tensor([0.01, 0.99])) for v in scores.values()]
    low, high = min(float(v[0]) for v in both), max(float(v[1]) for v in both)
    slack = 0.08 * (high - low)
    low, high = (0.0 if score == "typicality" else low - slack), high + slack
    return Shown({name: histogram(v, low, high) for name, v in scores.items()}, low, high, own)


def radii() -> tuple[Tensor, Tensor, Tensor]:
    """r/√D (N,), and for each of DIMENSIONS the radius's density as a share of its peak and the base's."""
    relative = torch.linspace(0, 2.5, 400, dtype=torch.float64)
    parts = [radius(d, relative) for d in DIMENSIONS]
    return relative, torch.stack([a / a.max() for a, _ in parts]), torch.stack([b for _, b in parts])


def mean_radius(dimensions: int) -> float:
    """E ‖z‖ of z ~ N(0, I_D)."""
    return math.sqrt(2) * math.exp(math.lgamma((dimensions + 1) / 2) - math.lgamma(dimensions / 2))


def by_class(result: Classes, score: str) -> tuple[Tensor, Tensor, float, float]:
    """Histograms (C, BINS) of the other seen classes and of each class, and the ends of their axis."""
    values = result.scores(score)
    low, high = (float(v) for v in values.quantile(torch.tensor([0.005, 0.995])))
    pairs = [result.sets(label, score) for label in range(10)]
    others, own = (torch.stack([histogram(pair[i], low, high) for pair in pairs]) for i in (0, 1))
    return others, own, low, high
