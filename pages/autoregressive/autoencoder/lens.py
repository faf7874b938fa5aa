"""An autoencoder beside a MADE of the same sizes: what a loss means when outputs see their own inputs.

Both are trained on all bars and stripes of 3 × 3 pixels at once, so that everything can be summed: the loss
over the 14 patterns and the "probability" over all 512 pictures. No density is below ln 14 on average.

References: [GM] 1.5.3-1.5.4; Germain et al. 2015, arXiv:1502.03509.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import torch
import torch.nn.functional as F
from torch import Tensor

from datamodules.binary_images import patterns, strings
from lab.lenses.drawing import jacobian
from lab.lenses.training import training_steps
from lab.seeding import seeded
from modules.autoregressive.autoencoder import Autoencoder
from modules.autoregressive.made import MADE
from modules.noise import uniform
from modules.trace import Step, Trace

SIDE = 3
SHOWN = 24  # pictures drawn from both at every step of the trace
PASSES = 180  # full-batch steps of Adam
EVERY = 6  # passes between two steps of the trace
RATE = 0.04


@cache
def images() -> Tensor:
    """All bars and stripes (14, 9), float64."""
    return patterns("bars-and-stripes", SIDE).flatten(1).double()


@cache
def all_pictures() -> Tensor:
    """All pictures of 3 × 3 bits, (512, 9), float64."""
    return strings(SIDE * SIDE).double()


def floor() -> float:
    """ln 14, nats: the entropy of the patterns, which no density can beat."""
    return math.log(len(images()))


def log_product(logits: Tensor, x: Tensor) -> Tensor:
    """log Π_i x̂_i^{x_i} (1 - x̂_i)^{1 - x_i} of x (B, n), (B,)."""
    return -F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(-1)


def mean_loss(model: Autoencoder | MADE) -> Tensor:
    """-log_product of all patterns, nats per picture."""
    return -log_product(model.logits(images()), images()).mean()


def train(width: int, seed: int) -> tuple[list[Step], Autoencoder, MADE]:
    """Train both, `width` hidden units each; see `race` for the steps."""
    ae, made = seeded(
        lambda: (
            Autoencoder(event_shape=(9,), hidden=width).double(),
            MADE(event_shape=(9,), hidden=[width], direct=True).double(),
        ),
        seed,
    )
    models: dict[str, Autoencoder | MADE] = {"ae": ae, "made": made}
    losses: dict[str, float] = {}

    def both() -> Tensor:
        """Neither model's loss depends on the other's parameters, so one sum trains each for itself."""
        each = {name: mean_loss(model) for name, model in models.items()}
        losses.update({name: loss.item() for name, loss in each.items()})
        return each["ae"] + each["made"]

    adam = torch.optim.Adam([*ae.parameters(), *made.parameters()], lr=RATE, fused=True)
    steps: list[Step] = []
    for done, _ in training_steps(both, adam, PASSES):
        if done % EVERY == 0:
            steps.append(look(done, models, dict(losses)))
    return steps, ae.eval(), made.eval()


def race(width: int, seed: int, count: int = 200) -> Trace:
    """Training as a trace. Step values for "ae" and "made": `loss_…` (nats per picture), `total_…` (sum over
    all 512 pictures), `reads_…` (9, 9), see `reads`, and `drawn_…` (SHOWN, 9) pictures of the same draws at
    every step. Result: `Samples`, `count` of each model.
    """
    steps, ae, made = train(width, seed)
    noise, drawn = draw(ae, count, seed), draw(made, count, seed)
    shares = [float(known(x, images()).double().mean()) for x in (noise, drawn)]
    return Trace(steps, Samples(noise, drawn, *shares))


def look(done: int, models: dict[str, Autoencoder | MADE], losses: dict[str, float]) -> Step:
    """Look at both after `done` passes."""
    values: dict[str, object] = {"passes": done}
    with torch.no_grad():
        for name, model in models.items():
            values[f"loss_{name}"] = losses[name]
            values[f"total_{name}"] = (
                log_product(model.logits(all_pictures()), all_pictures()).exp().sum().item()
            )
    for name, model in models.items():
        values[f"reads_{name}"] = reads(model)
        values[f"drawn_{name}"] = draw(model, SHOWN, 0)
    caption = (
        f"{done} passes: autoencoder {losses['ae']:.3f} nats, MADE {losses['made']:.3f}; "
        f"no density is below {floor():.3f}."
    )
    equation = (
        rf"\sum_{{x}} \prod_i \hat x_i^{{x_i}} (1-\hat x_i)^{{1-x_i}} = {values['total_ae']:.3f} "
        rf"\;\text{{(autoencoder)}},\quad {values['total_made']:.3f} \;\text{{(MADE)}}"
    )
    return Step(caption, values, equation)


def reads(model: Autoencoder | MADE) -> Tensor:
    """∂ logit_i / ∂ x_j, mean over the patterns, (9, 9): at one of them all units may be shut."""
    with torch.enable_grad():
        x = images().clone().requires_grad_()
        total = model.logits(x).sum(0)  # (9,): each row of x moves its own logits alone
        rows = torch.eye(len(total), dtype=x.dtype)
        (each,) = torch.autograd.grad(total, x, rows, is_grads_batched=True)  # (9, 14, 9)
    return each.mean(1)


def draw(model: Autoencoder | MADE, count: int, seed: int) -> Tensor:
    """Pictures (count, 9) from a model as it is now: of random codes, or samples."""
    if isinstance(model, Autoencoder):
        return decode_noise(model, images(), count, seed)
    return model.sample(count, generator=torch.Generator().manual_seed(seed)).flatten(1)


def film(trace: Trace, what: str) -> dict[str, Tensor]:
    """Frames that `look` has kept of both models at every step, "reads" or "drawn": (F, …) by "ae" and
    "made"."""
    return {name: torch.stack([s.values[f"{what}_{name}"] for s in trace]) for name in ("ae", "made")}


def reach(gradients: Mapping[str, Tensor]) -> float:
    """The largest of all, by size."""
    return max(float(each.abs().max()) for each in gradients.values())


def column(trace: Trace, name: str) -> list[float]:
    """One value of every step."""
    return [float(step.values[name]) for step in trace]


@torch.no_grad()
def decode_noise(model: Autoencoder, examples: Tensor, count: int, seed: int) -> Tensor:
    """Pictures (count, n) that an autoencoder makes of codes drawn at random.

    It has no distribution of codes to draw from: here each code unit is drawn for itself from a Gaussian
    with the mean and spread that it has on `examples` (B, n), and each pixel from its output.
    """
    generator = torch.Generator().manual_seed(seed)
    codes = model.encode(examples)
    noise = torch.randn(count, model.hidden, generator=generator, dtype=torch.float64).to(codes)
    drawn = F.relu(codes.mean(0) + codes.std(0) * noise)
    p = model.decode(drawn).flatten(1)
    return (uniform(*p.shape, like=p, generator=generator) < p).to(p)


def known(pictures: Tensor, examples: Tensor) -> Tensor:
    """Mark which of pictures (N, n) are among examples (M, n), (N,) bool."""
    return (pictures[:, None] == examples[None]).all(-1).any(-1)


@dataclass(frozen=True)
class Samples:
    """Pictures drawn from both models, (N, n), and the share of them that are bars or stripes."""

    ae: Tensor
    made: Tensor
    valid_ae: float
    valid_made: float


@dataclass(frozen=True)
class Digit:
    """Answers of trained models to one digit (n,).

    Attributes:
        rebuilt: (n,) the autoencoder's outputs. bce: its loss, nats.
        conditionals: (n,) MADE's p(x_i = 1 | x_<i). nll: its -log p, nats.
        own_ae, own_made: (n,) ∂ logit_i / ∂ x_i, what each output takes from its own input.
    """

    rebuilt: Tensor
    bce: float
    conditionals: Tensor
    nll: float
    own_ae: Tensor
    own_made: Tensor

    @property
    def largest(self) -> tuple[float, float]:
        """Largest of both models' own gradients, by size."""
        return float(self.own_ae.abs().max()), float(self.own_made.abs().max())


def on_digit(ae: Autoencoder, made: MADE, x: Tensor) -> Digit:
    """Both models on a digit (n,) of bits."""
    x = x.to(made.device, made.dtype)
    own = [jacobian(model, x).diagonal() for model in (ae, made)]
    with torch.no_grad():
        return Digit(
            ae.reconstruct(x[None])[0].flatten(),
            -float(ae.log_product(x[None])),
            made.conditionals(x[None])[0].flatten(),
            -float(made.log_prob(x[None])),
            *own,
        )
