"""Lines from codes: walks between two own lines, what a code saves letter by letter, and in all.

    walk       z_t = (1 − t) z_A + t z_B, and what is written from z_t: the likeliest letter each time, or all
               letters drawn with one luck, so that lines differ by their codes alone
    told       −log p(x_i|x_<i, z) of each letter with the line's own code, and with others'
    I_q        E log q(z|x) − log q(z): what codes tell of the lines, at most log N of N lines

References: Bowman et al. 2016, arXiv:1511.06349; [GM] §3.11.1.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from datamodules import lines
from datamodules.letters import spelled
from lab.experiments import Experiment
from lab.lenses import stock, surfaces
from lab.lenses.code_use import Swap, swap
from lab.lenses.latent import gaussian_kl, lerp
from modules.latent.aggregated import AggregatedPosterior
from modules.latent.text_vae import TextVAE

__all__ = [
    "STEPS",
    "LetterCosts",
    "Swap",
    "Used",
    "fits",
    "held_out",
    "interpolate",
    "read",
    "short",
    "typed",
    "used",
]  # fmt: skip

STEPS, SHOWN, LENGTH = 11, 500, 40  # codes of a walk; test lines that are measured; their letters
TS = [i / (STEPS - 1) for i in range(STEPS)]


def fits(entry: Experiment) -> bool:
    """Check whether an experiment trains a VAE of lines in the 27 symbols."""
    return (
        surfaces.is_a(entry, TextVAE)
        and surfaces.is_a(entry, lines.Lines, part="data")
        and surfaces.option(entry, "length", "data") == LENGTH
    )


def short(name: str) -> str:
    """ "textvae-annealed-pydocs" is "annealed", "textvae-pydocs" "plain"; a run keeps its time."""
    base, _, run = name.partition("/")
    words = [word for word in base.split("-") if word not in ("textvae", "pydocs")]
    return "-".join(words or ["plain"]) + (f"/{run}" if run else "")


def typed(text: str, length: int) -> tuple[Tensor, str]:
    """A reader's line as tokens (1, length), and as it was read.

    Raises:
        ValueError: it has no letter a to z.
    """
    line = spelled(text).strip()[:length]
    if not line.strip():
        raise ValueError("There is no letter a to z in that line: the example is shown instead.")
    return lines.tokens([line], length), line


def read(x: Tensor) -> list[str]:
    """Tokens (N, T) as lines, without what stands behind the end."""
    return ["".join(lines.ALPHABET[i] for i in row).split("\n")[0] for row in x.tolist()]


def held_out(count: int = SHOWN) -> Tensor:
    """Test lines (count, 40): every so many of them."""
    x = stock.examples(lines.Lines, "test")[0]
    return x[:: len(x) // count]


@dataclass(frozen=True)
class Interpolation:
    """Texts written between two lines.

    Attributes:
        lines: of each of the STEPS codes.
        lengths: of the codes.
        moved: letters that differ from the first line's, place by place.
    """

    lines: list[str]
    lengths: list[float]
    moved: list[int]

    @property
    def different(self) -> int:
        """Number of different lines."""
        return len(set(self.lines))


def one_luck(seed: int) -> Iterator[float]:
    """Uniform numbers, the next for each letter of a line."""
    generator = torch.Generator().manual_seed(seed)
    while True:
        yield torch.rand((), generator=generator).item()


@torch.no_grad()
def interpolate(model: TextVAE, a: Tensor, b: Tensor, seed: int | None = None) -> Interpolation:
    """From the code of line a (1, T) to that of b; all letters drawn with the luck of `seed`, None: the
    likeliest."""
    ends = model.encode(torch.cat([a, b]))
    codes = lerp(ends[0], ends[1], torch.tensor(TS))
    luck = None if seed is None else one_luck(seed)

    def choose(p: Tensor) -> Tensor:
        if luck is None:
            return p.argmax(-1)
        return (p.cumsum(-1) < next(luck)).sum(-1).clamp(max=p.shape[-1] - 1)

    x = model.generate(codes, choose)
    return Interpolation(read(x), codes.norm(dim=1).tolist(), (x != x[0]).sum(1).tolist())


@dataclass(frozen=True)
class Used:
    """Costs, savings and information of a model's code: `swap` in nats per line, `information` I_q."""

    swap: Swap
    information: float


@torch.no_grad()
def used(model: TextVAE, x: Tensor, seed: int = 0) -> Used:
    """Over test lines x (N, T)."""
    generator = torch.Generator().manual_seed(seed)
    result, parts = swap(model, x, generator)
    q = AggregatedPosterior(parts.mean, parts.log_var)
    return Used(result, q.decomposition(2000, generator)["information"].item())


@dataclass(frozen=True)
class LetterCosts:
    """One line, letter by letter, nats.

    Attributes:
        letters: as shown; the end is "⏎", a space "␣".
        own: with its own mean code; other: the mean over other lines' codes.
        kl: what its own code costs.
    """

    letters: list[str]
    own: list[float]
    other: list[float]
    kl: float

    @property
    def saved(self) -> float:
        return sum(self.other) - sum(self.own)


@torch.no_grad()
def letter_costs(model: TextVAE, x: Tensor, others: Tensor) -> LetterCosts:
    """Costs of each letter of a line x (1, T), with the codes of `others` (N, T) beside its own."""
    mean, log_var = model.encode_parameters(x)
    codes = torch.cat([mean, model.encode(others)])[:, None]  # (1 + N, 1, K)
    costs = -model.pixel_log_likelihood(x, codes)[:, 0]  # (1 + N, T)
    line = read(x)[0]
    shown = [*line.replace(" ", "␣"), *(["⏎"] if len(line) < model.length else [])]
    own, other = costs[0], costs[1:].mean(0)
    return LetterCosts(
        shown,
        own[: len(shown)].tolist(),
        other[: len(shown)].tolist(),
        gaussian_kl(mean, log_var).sum().item(),
    )


def gains(result: LetterCosts, first: int = 5) -> tuple[float, float]:
    """Gain of the own code in the first letters, and in the others."""
    each = [other - own for own, other in zip(result.own, result.other, strict=True)]
    return sum(each[:first]), sum(each[first:])


def least(values: Sequence[float]) -> int:
    """Place of the least of them."""
    return min(range(len(values)), key=lambda i: values[i])
