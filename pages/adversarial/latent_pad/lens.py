"""The space of a generator: a plane through two draws, the ways between them, and draws cut off at τ.

Precision and recall are those of the room Judge: 500 pictures made black and white beside 500 training
digits, by the features of cnn-digits.

Shapes: z (K,), walks (2, S, K), pictures (..., H, W).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lab.lenses import latent, verdicts
from lab.machines import MACHINES
from modules.adversarial import truncation
from pages.adversarial.latent_pad.room import STEPS, TAUS

GRID, SHEET = 21, 40
EXTENT = 1.25  # half a side of the plane, in √K
MOST = 2000  # whole vectors that are tried
NOISE = next(iter(MACHINES["gan"].parts))  # the part that is noise
OPTIONS = ["the line", "the arc", "neither: within 5 %"]
MOVES = ["it rises", "it falls", "it stays, within 0.02"]


def ends(model: Any, a: int, b: int) -> tuple[Tensor, Tensor]:
    """Two draws of z (K,), by their seeds."""
    z = [model.noise(1, torch.Generator().manual_seed(seed))[0] for seed in (a, b)]
    return z[0], z[1]


def plane_of(model: Any, a: int, b: int) -> latent.Plane:
    """The plane of the origin and both draws; of one draw twice, another draw helps out."""
    z_a, z_b = ends(model, a, b if b != a else a + 1000)
    first = z_a / z_a.norm()
    second = z_b - (z_b @ first) * first
    axes = torch.stack([first, second / second.norm()])
    return latent.Plane(torch.zeros_like(z_a), axes, ("along A, in √K", "across"), math.nan)


def place(plane: latent.Plane, z: Tensor) -> Tensor:
    """Place of codes (..., K) in the plane, (..., 2); 1 is √K, near which draws lie."""
    return plane.place(z) / math.sqrt(z.shape[-1])


def tiles(model: Any, a: int, b: int) -> Tensor:
    """(GRID, GRID, H, W) pictures over the plane."""
    return latent.decode_plane(model, plane_of(model, a, b), EXTENT * math.sqrt(model.latent_dim), GRID)


def circle(k: int) -> Tensor:
    """Circle in the plane on which draws of the typical length lie, (65, 2)."""
    turn = torch.linspace(0, 2 * math.pi, 65)
    return latent.typical_length(k) / math.sqrt(k) * torch.stack([turn.cos(), turn.sin()], 1)


def times(reach: float) -> list[float]:
    """t of each step; at 1 stands B."""
    return [reach * i / (STEPS - 1) for i in range(STEPS)]


def walks(z_a: Tensor, z_b: Tensor, reach: float) -> Tensor:
    """On the line and on the arc, and beyond B where `reach` is above 1: (2, STEPS, K)."""
    t = torch.tensor(times(reach))
    return torch.stack([latent.lerp(z_a, z_b, t), latent.slerp(z_a, z_b, t)])


def changes(pictures: Tensor) -> Tensor:
    """Distance of each picture (..., S, H, W) from the one before, (..., S − 1)."""
    return pictures.diff(dim=-3).flatten(-2).norm(dim=-1)


def z_labels(name: str, values: Sequence[float]) -> list[dict[str, str]]:
    """Labels of z in the machine, at each value of the film."""
    return [{NOISE: f"{name} = {value:.3g}"} for value in values]


def typical(k: int, share: float = 0.9) -> tuple[float, float]:
    """Lengths between which this share of the prior's draws lies, as many shorter as longer."""
    ends = []
    for below in ((1 - share) / 2, (1 + share) / 2):
        low, high = 0.0, 4 * math.sqrt(k)
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if latent.share_shorter(middle, k) < below else (low, middle)
        ends.append(low)
    return ends[0], ends[1]


def walk_captions(ts: Sequence[float], lengths: Tensor, k: int) -> list[str]:
    """A sentence for every step: lengths of the codes (2, STEPS)."""
    return [
        f"t = {t:.2f}: of the prior's draws {latent.share_shorter(line, k):.1%} are shorter than z on the "
        f"line, {latent.share_shorter(arc, k):.1%} than z on the arc."
        for t, line, arc in zip(ts, *lengths.tolist(), strict=True)
    ]


def walk_equations(ts: Sequence[float], lengths: Tensor, omega: float) -> list[str]:
    """The codes' lengths, LaTeX."""
    return [
        rf"\|{1 - t:.2f}\,z_A+{t:.2f}\,z_B\|={line:.3f},\qquad \tfrac{{1}}{{\sin {omega:.3f}}}\,"
        rf"\|\sin({1 - t:.2f}\cdot{omega:.3f})\,z_A+\sin({t:.2f}\cdot{omega:.3f})\,z_B\|={arc:.3f}"
        if omega > 1e-6
        else rf"\|{1 - t:.2f}\,z_A+{t:.2f}\,z_B\|={line:.3f}"
        for t, line, arc in zip(ts, *lengths.tolist(), strict=True)
    ]


def changed_more(pictures: Tensor) -> str:
    """The one of OPTIONS that is so of the walks (2, S, H, W)."""
    line, arc = changes(pictures).sum(1).tolist()
    return OPTIONS[2] if abs(line - arc) <= 0.05 * max(line, arc) else OPTIONS[int(arc > line)]


# --- Truncation -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cut:
    """Draws cut off at one τ.

    Attributes:
        pictures: (SHEET, 8, 8). verdict: their metrics. drawn: numbers drawn for 500 · K that were kept.
        vectors: whole vectors that were kept of MOST.
    """

    tau: float
    pictures: Tensor
    verdict: verdicts.Verdict
    drawn: int
    vectors: int


@torch.no_grad()
def cut(model: Any, network: Any, reference: Tensor | verdicts.Known, tau: float, seed: int) -> Cut:
    """Metrics of draws cut off at τ."""
    generator = torch.Generator().manual_seed(seed)
    draw = truncation.truncated_normal(verdicts.DRAWN, model.latent_dim, tau, generator)
    x = latent.decoded(model, draw.z)
    whole = truncation.rejection_sample(verdicts.DRAWN, model.latent_dim, tau, MOST, generator)
    verdict = verdicts.evaluate(network, reference, (x > verdicts.CUT).float(), 3)
    return Cut(tau, x[:SHEET], verdict, draw.num_draws, len(whole.z))


def floor(network: Any) -> verdicts.Verdict:
    """Metrics of held-out digits."""
    return verdicts.evaluate(network, verdicts.digits("train"), verdicts.digits("held out"), 3)


def cuts(judged: Any, network: Any, seed: int) -> Iterator[tuple[float, list[Cut]]]:
    """At each of TAUS: the share done, and all so far."""
    known, results = verdicts.known(network, verdicts.digits("train")), list[Cut]()
    for tau in TAUS:
        results = [*results, cut(judged, network, known, tau, seed)]
        yield len(results) / len(TAUS), results


def cut_captions(result: Sequence[Cut], k: int) -> list[str]:
    """A sentence for every τ."""
    texts = []
    for c in result:
        power = truncation.log10_acceptance(c.tau, k)
        whole = f"{10**power:.2g}" if power > -4 else f"10^{power:.1f}"
        texts.append(
            f"τ = {c.tau:g}: precision {c.verdict.precision:.2f}, recall {c.verdict.recall:.2f}. {c.drawn:,} "
            f"numbers were drawn to keep {verdicts.DRAWN * k:,}; of {MOST:,} whole vectors {c.vectors} lay "
            f"within τ (expected share: {whole})."
        )
    return texts


def cut_equations(k: int) -> list[str]:
    """The share that is kept, of numbers and of vectors, LaTeX."""
    return [
        rf"P(|z_k|\le {tau:g})=\mathrm{{erf}}\tfrac{{{tau:g}}}{{\sqrt 2}}={truncation.acceptance(tau):.4f},"
        r"\quad "
        rf"P^{{{k}}}=10^{{{truncation.log10_acceptance(tau, k):.2f}}},\quad "
        rf"\mathrm{{sd}}={truncation.truncated_sd(tau):.4f}"
        for tau in TAUS
    ]


def move(result: Sequence[Cut], at: int) -> str:
    """The one of MOVES that precision does at the next smaller τ (at the smallest: from the next larger
    one)."""
    now, then = (result[at], result[at - 1]) if at else (result[1], result[0])
    gap = then.verdict.precision - now.verdict.precision
    return MOVES[2] if abs(gap) <= 0.02 else MOVES[0] if gap > 0 else MOVES[1]
