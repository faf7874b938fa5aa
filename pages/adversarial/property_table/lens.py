"""Six promises of five families, each measured on a trained model of small digits.

    fast          multiplications and additions of one sample, beside those of the GAN
    quality       precision, coverage: recall, as the room Judge has them, beside held-out digits
    smooth        the longest step on the way between two samples, beside the mean one, in pixels
    likelihood    log_prob, or elbo, or a denoiser whose probability-flow ODE has a log p of its own

[UDL] fig. 14.3 gives the verdicts of the text; the rows of autoregressive models are not in it.
Shapes: pictures (N, 8, 8); codes z (N, K).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from lab import weights
from lab.lenses import generated, verdicts
from lab.lenses.verdicts import Verdict
from lab.seeding import seeded
from modules.diffusion.gaussian_diffusion import GaussianDiffusion
from modules.diffusion.inversion import slerp
from pages.adversarial.property_table.room import CRITERIA, MODELS

TEXT = {  # [UDL] fig. 14.3: yes, no, or unsaid
    "GAN": "yyny?-", "VAE": "yn?y?n", "flow": "yn?y?y", "diffusion": "ny?nnn", "autoregressive": "------",
}  # fmt: skip
ENOUGH = 0.9  # of what held-out digits reach
FAST = 10.0  # times the work of the GAN
SMOOTH = 3.0  # times the mean step
PAIRS, STEPS = 4, 16
SHOWN = 3  # samples of each model
PAGES = {  # where a cell's promise is looked into: by criterion, and where a family has a room of its own
    "fast sampling": "sharing", "quality": "judge", "coverage": "judge", "smooth latent": "interpolation",
    "disentangled": "disentanglement", "likelihood": "flow_bench",
}  # fmt: skip
OWN = {
    ("GAN", "smooth latent"): "latent_pad", ("GAN", "likelihood"): "ais",
    ("VAE", "likelihood"): "importance",
    ("flow", "fast sampling"): "maf_iaf", ("flow", "smooth latent"): "image_interpolation",
    ("diffusion", "fast sampling"): "latent_diffusion", ("diffusion", "smooth latent"): "latent_noise",
    ("diffusion", "likelihood"): "ode_likelihood", ("autoregressive", "likelihood"): "density",
}  # fmt: skip


class Floor(Protocol):
    """Scores of real digits that no model has seen."""

    @property
    def precision(self) -> float: ...
    @property
    def recall(self) -> float: ...


@dataclass(frozen=True)
class Measured:
    """One model.

    Attributes:
        work: multiplications and additions of one sample.
        precision, recall: of the samples.
        jump: longest step between two samples over the mean one; None without a latent space.
        likelihood: "exact", "by ODE", "bound" or "none".
        samples: (SHOWN, H, W), ink from 0 to 1.
    """

    work: int
    precision: float
    recall: float
    jump: float | None
    likelihood: str
    samples: Tensor


def measure(model: Any, verdict: Verdict, samples: Tensor) -> Measured:
    """All six, but what only rendered pictures with known causes can tell."""
    cost = work(model, **generated.settings(model))
    return Measured(cost, verdict.precision, verdict.recall, jump(model), likelihood(model), samples[:SHOWN])


def measuring(
    dcgan: Any, vae: Any, glow: Any, ddpm: Any, pixelcnn: Any
) -> Iterator[tuple[float, tuple[Verdict, list[Measured]]]]:
    """The share done, what held-out digits reach, and the models measured so far."""
    models = dict(zip(MODELS.values(), (dcgan, vae, glow, ddpm, pixelcnn), strict=True))
    network: Any = weights.load(verdicts.NETWORK)
    known = verdicts.known(network, verdicts.digits("train"))

    def verdict(pictures: Tensor) -> Verdict:
        return verdicts.evaluate(network, known, pictures, 3)

    floor, results = verdict(verdicts.drawn_by(verdicts.REAL, 0)), list[Measured]()
    for name, model in models.items():
        pictures = verdicts.drawn_by(name, 0)
        results = [*results, measure(model, verdict(pictures), pictures)]
        yield len(results) / len(models), (floor, results)


def shown(measured: Sequence[Measured]) -> Tensor:
    """Samples of every family, (F, SHOWN, H, W); of those not yet measured nothing."""
    pictures = torch.stack([result.samples for result in measured])
    missing = pictures.new_full((len(MODELS) - len(measured), *pictures.shape[1:]), torch.nan)
    return torch.cat([pictures, missing])


def likelihood(model: Any) -> str:
    """Name how a model answers for log p(x): exactly, by an ODE, by a bound, or not at all."""
    if hasattr(model, "log_prob"):
        return "exact"
    if isinstance(model, GaussianDiffusion):  # elbo bounds the chain; `ode_likelihood` asks the same network
        return "by ODE"
    return "bound" if hasattr(model, "elbo") else "none"


def room(family: str, criterion: str) -> str:
    """The page that looks into a cell."""
    return OWN.get((family, criterion), PAGES[criterion])


def work(model: Any, **settings: Any) -> int:
    """Multiplications and additions of one sample, by counting those of every layer that is called."""
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        model.sample(1, generator=torch.Generator().manual_seed(0), **settings)
    return int(counter.get_total_flops())


@torch.no_grad()
def jump(model: Any) -> float | None:
    """On arcs between PAIRS of codes: the longest of STEPS steps in pixels over their mean, averaged."""
    if not (hasattr(model, "decode") and hasattr(model, "prior")):
        return None
    ends = seeded(lambda: model.prior.sample((2 * PAIRS,)))
    share = torch.linspace(0, 1, STEPS + 1)
    starts, stops = (end.repeat_interleave(STEPS + 1, 0) for end in ends.split(PAIRS))
    codes = slerp(starts, stops, share.repeat(PAIRS))  # (PAIRS · (STEPS + 1), ...)
    pictures = model.decode(codes).reshape(PAIRS, STEPS + 1, -1)
    steps = pictures.diff(dim=1).norm(dim=-1)  # (PAIRS, STEPS)
    return float((steps.amax(1) / steps.mean(1).clamp(min=1e-12)).mean())


def held(result: Measured, gan: Measured, floor: Floor) -> list[bool | None]:
    """Check whether each of CRITERIA holds; None where nothing was measured."""
    return [
        result.work <= FAST * gan.work,
        result.precision >= ENOUGH * floor.precision,
        result.recall >= ENOUGH * floor.recall,
        False if result.jump is None else result.jump <= SMOOTH,
        None,
        result.likelihood in ("exact", "by ODE"),
    ]


def times(result: Measured, gan: Measured) -> str:
    """The work beside the GAN's."""
    share = result.work / gan.work
    return f"{share:,.0f}" if share >= 10 else f"{share:.2g}"


def numbers(result: Measured, gan: Measured) -> list[str]:
    """Text of each cell of a row."""
    return [
        f"{times(result, gan)}×", f"{result.precision:.2f}", f"{result.recall:.2f}",
        "no code" if result.jump is None else f"{result.jump:.2f}", "–", result.likelihood,
    ]  # fmt: skip


def agreement(text: str, holds: Sequence[bool | None]) -> list[int]:
    """Agreement of each cell: 0 the text says nothing or nothing was measured, 1 both agree, 2 they do
    not."""
    return [
        0 if word not in "yn" or fact is None else 1 if (word == "y") == fact else 2
        for word, fact in zip(text, holds, strict=True)
    ]


def cells(measured: Sequence[Measured], floor: Floor) -> tuple[list[list[str]], list[list[int]]]:
    """The words of the table and the `agreement` of each of its cells; of rows not yet measured dots."""
    words, agree = [["…"] * len(CRITERIA) for _ in MODELS], [[0] * len(CRITERIA) for _ in MODELS]
    for row, (text, result) in enumerate(zip(TEXT.values(), measured, strict=False)):
        words[row] = numbers(result, measured[0])
        agree[row] = agreement(text, held(result, measured[0], floor))
    return words, agree


def sentence(row: str, column: int, result: Measured, gan: Measured, floor: Floor) -> str:
    """Sentence on a cell: what was measured, and what the text says."""
    rules = (
        f"One sample takes {result.work / 1e6:.3g} million multiplications and additions, "
        f"{times(result, gan)} times the GAN's; at most {FAST:g} times is fast.",
        f"Precision {result.precision:.3f}; enough is {ENOUGH:g} times that of held-out digits, "
        f"{ENOUGH * floor.precision:.3f}.",
        f"Recall {result.recall:.3f}; enough is {ENOUGH:g} times that of held-out digits, "
        f"{ENOUGH * floor.recall:.3f}.",
        "There is no latent space to interpolate in." if result.jump is None else
        f"Between two codes the longest of {STEPS} steps is {result.jump:.2f} times the mean; up to "
        f"{SMOOTH:g} is smooth.",
        "These digits have no known factors of variation: see the page of models of rendered pictures.",
        {"exact": "The model gives log p(x) itself.", "bound": "The model gives a bound on log p(x).",
         "by ODE": "Its chain gives a bound; the ODE of the same network gives log p(x) itself.",
         "none": "The model gives no density at all."}[result.likelihood],
    )  # fmt: skip
    text = {"y": "The textbook says yes.", "n": "The textbook says no.", "?": "The textbook leaves it open."}
    verdict = text.get(TEXT[row][column], "The textbook has no verdict.")
    return f"{row}, {CRITERIA[column]}: {rules[column]} {verdict}"
