"""Data, model and inference as small tables, and the identities between their divergences.

The inference goes from collapsed (λ = 0, q(z|x) = p(z)) to what is asked for (λ = 1).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from datamodules import cells
from lab.lenses import typed
from modules.latent.information import Tables

SHARES = [round(0.05 * i, 2) for i in range(21)]  # λ
MOST = 4  # values of x, and of z
COLUMNS = (
    "E[−ELBO]",
    "joint KL<br>+ H(q_D)",
    "its parts<br>+ H(q_D)",
    "KL from<br>the prior",
    "I(x;z) +<br>KL(q(z)‖p)",
)
PRINTED = ("printed:<br>joint KL", "printed:<br>without I")  # LV-E1, LV-E2
OPTIONS = ["less than 0.05", "0.05 to 0.5", "more than 0.5"]


def rows(text: str, count: int, width: int) -> tuple[Tensor, str]:
    """Distributions (count, width) from rows apart by semicolons or lines, and a sentence on what does not
    fit; a row that is not there, or all 0, is uniform."""
    out, texts = torch.full((count, width), 1 / width, dtype=torch.float64), ""
    lines, decided = cells.rows(text)
    for i, line in enumerate(lines[:count]):
        values, wrong = typed.named(" ".join(line), width, 0.0, 1e6)
        texts = texts or wrong
        row = torch.tensor(values + [0.0] * (width - len(values)), dtype=torch.float64)
        if row.sum() > 0:
            out[i] = row / row.sum()
        else:
            texts = texts or f"Row {i + 1} has no weight: it is taken as uniform."
    if len(lines) != count:
        texts = texts or f"There are {len(lines)} rows where {count} are needed: missing ones are uniform."
    return out, f"{decided} {texts}".strip()


def inferences(data: Tensor, prior: Tensor, likelihood: Tensor, asked: Tensor) -> list[Tables]:
    """One for every λ."""
    collapsed = prior.expand_as(asked)
    return [Tables(data, prior, likelihood, (1 - share) * collapsed + share * asked) for share in SHARES]


@dataclass(frozen=True)
class Story:
    """Every number of `Tables.two_kls` for every λ, (F,), and the two joints (F, X Z) and (X Z,)."""

    numbers: dict[str, Tensor]
    q: Tensor
    p: Tensor

    @property
    def without_information(self) -> Tensor:
        """E[−ELBO] less I, as [GM] problem 3.1(a) has it."""
        return self.numbers["negative_elbo"] - self.numbers["information"]


def story(tables: Sequence[Tables]) -> Story:
    """The numbers of each."""
    results = [table.two_kls() for table in tables]
    numbers = {name: torch.stack([one[name] for one in results]) for name in results[0]}
    q = torch.stack([(t.data[:, None] * t.inference).flatten() for t in tables])
    return Story(numbers, q, tables[0].joint.flatten())


def tables_and_story(
    data: Sequence[float], prior: Sequence[float], decoder: Tensor, asked: Tensor | None
) -> tuple[list[Tables], Story]:
    """Tables and numbers for every λ; the exact posterior where nothing is asked for."""
    q_d, p_z = (torch.tensor(list(v), dtype=torch.float64) for v in (data, prior))
    if asked is None:
        asked = Tables(q_d, p_z, decoder, p_z.expand(len(q_d), -1)).posterior.nan_to_num(1 / len(p_z))
    tables = inferences(q_d, p_z, decoder, asked)
    return tables, story(tables)


def names(data: Tensor, prior: Tensor) -> list[str]:
    """Names of the pairs (x, z)."""
    return [f"{x},{z}" for x in range(len(data)) for z in range(len(prior))]


def spelled(value: float) -> str:
    return r"\infty" if value == math.inf else f"{abs(value) if abs(value) < 5e-4 else value:.3f}"


def captions(result: Story) -> list[str]:
    """A sentence for every λ."""
    n = result.numbers
    return [
        "q(z|x) allows a pair that the model rules out: the bound is −∞."
        if negative == math.inf
        else f"z carries {information:.3f} nats about x at a rate of {rate:.3f}; the bound pays "
        f"{negative:.3f}, of which H(q_D) = {entropy:.3f} is the data's own."
        for negative, information, rate, entropy in zip(
            n["negative_elbo"].tolist(),
            n["information"].clamp(min=0).tolist(),
            n["rate"].clamp(min=0).tolist(),
            n["entropy"].tolist(),
            strict=True,
        )
    ]


def equations(result: Story) -> list[str]:
    """The identity with its numbers, LaTeX, for every λ."""
    n = {name: values.tolist() for name, values in result.numbers.items()}
    return [
        rf"E[-\mathrm{{ELBO}}]=\mathrm{{KL}}(q_D\|p)+E\,\mathrm{{KL}}(q\|p(z|x))+H(q_D)"
        rf"={spelled(n['marginal'][i])}+{spelled(n['posterior'][i])}+{spelled(n['entropy'][i])}"
        rf"={spelled(n['negative_elbo'][i])}"
        for i in range(len(result.q))
    ]
