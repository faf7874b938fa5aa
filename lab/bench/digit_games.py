"""Games of the small digits under one protocol: what a loss, an orthogonal generator and a larger D change.

orthogonal   a DCGAN with and without β Σ ‖WᵀW ⊙ (1 − I)‖² of G's layers but the last, a column for each input
             of a layer: precision and recall (k = 3) of z kept within τ, beside held-out digits
support      the same G against D of more and more maps: pairs of 400 draws that are the same, as of how many
             different ones
loss         the DCGAN with each loss of `lab bench games`; an energy is an autoencoder's error; a penalty
             goes without batch norm, spectral norm without D's

Distances, precision and recall are those of the means of the last maps of `cnn-digits`; 500 held-out digits.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, cast

import torch
from torch import Tensor, nn

from lab import weights
from lab.bench.games import features
from lab.bench.timing import Row
from lab.lenses import recipe
from lab.lenses.games import LOSSES, take
from lab.seeding import seeded
from modules.adversarial import metrics
from modules.adversarial.dcgan import DCGAN, ConvDiscriminator, conv_generator, initialise
from modules.adversarial.diversity import orthogonal_penalty

BETAS = (0.0, 1e-4, 1e-2, 1.0)  # of the orthogonal penalty; BigGAN has 10⁻⁴
BOUNDS = (None, 1.0, 0.5)  # τ
WIDTHS = (4, 16, 64)  # maps of D's first layer; its second has twice as many
DRAWS, SHARE = 400, 1e-3  # of a birthday test; of the training digits' pairs that count as the same
SEEDS, BATCHES = 3, 400


def measure(quick: bool = False) -> Iterator[Row]:
    """All three."""
    yield from orthogonal(quick)
    yield from supports(quick)
    yield from of_losses(quick)


def of_seeds(values: list[float], digits: int = 2) -> tuple[float, str]:
    """Mean, and mean ± standard deviation in words."""
    result = torch.tensor(values)
    spread = float(result.std()) if len(values) > 1 else 0.0
    return float(result.mean()), f"{float(result.mean()):.{digits}f} ± {spread:.{digits}f}"


def drawn(model: Any, count: int, **knobs: Any) -> Tensor:
    """Pictures (count, 1, H, W) of one seed, in [0, 1]."""
    samples = model.eval().sample(count, generator=torch.Generator().manual_seed(7), **knobs)
    return torch.as_tensor(samples).clamp(0, 1)


def looks(pictures: Tensor) -> Tensor:
    """Means of the last maps of `cnn-digits`, (N, 64)."""
    return features(weights.load("cnn-digits"), pictures)[1]


# --- An orthogonal generator ----------------------------------------------------------------------


def penalty_of(model: DCGAN) -> Tensor:
    """Σ of the penalty over G's layers but the last: a column holds what one input of a layer makes."""
    layers = [w for name, w in model.generator.named_parameters() if "weight" in name and w.dim() > 1]
    columns = [w if w.dim() == 2 else w.flatten(1).T for w in layers[:-1]]  # (out, in), (in, out, 4, 4)
    return torch.stack([orthogonal_penalty(w) for w in columns]).sum()


def trained(
    known: Tensor, seed: int, batches: int, beta: float = 0.0,
    discriminator: Callable[[], nn.Module] | None = None, **settings: Any,
) -> DCGAN:  # fmt: skip
    """A DCGAN of small digits after so many batches.

    Args:
        beta: of the orthogonal penalty.
        discriminator: builds a D other than the recipe's.
        settings: of DCGAN.
    """
    model, optimizers = recipe.game(settings, seed)
    if discriminator is not None:
        model.set_networks(model.generator, seeded(discriminator, seed).apply(partial(initialise, std=0.02)))
        optimizers["discriminator"] = torch.optim.Adam(
            model.discriminator.parameters(), lr=recipe.RATE, betas=(0.5, 0.999), fused=True
        )
    generator, players = torch.Generator().manual_seed(seed), model.players()
    for _ in range(batches):
        i = torch.randint(len(known), (recipe.BATCH,), generator=generator)
        turns = model.updates(model.unpack(known[i])[0], generator)
        held = (
            (who, loss + beta * penalty_of(model) if beta and who == "generator" else loss)
            for who, loss in turns
        )
        take(held, players, optimizers)
    return model


def orthogonal(quick: bool) -> Iterator[Row]:
    """Precision at each τ, and recall in the note, with the penalty and without."""
    seeds, batches = (1, 2) if quick else (SEEDS, 2 * BATCHES)
    known, held = recipe.digits()
    data = looks(known[torch.randperm(len(known), generator=torch.Generator().manual_seed(0))[: len(held)]])
    for beta in BETAS:
        models = [trained(known, seed, batches, beta) for seed in range(seeds)]
        for bound in BOUNDS:
            both = [
                metrics.precision_recall(data, looks(drawn(m, len(held), truncation=bound))) for m in models
            ]
            precision, recall = ([float(pair[i]) for pair in both] for i in range(2))
            mean, text = of_seeds(precision, 3)
            note = f"{text}, recall {of_seeds(recall, 3)[1]}, {seeds} seeds"
            case = f"orthogonal: β = {beta:g}, {f'τ = {bound:g}' if bound else 'all of z'}"
            yield Row("claims", case, mean, unit="precision", note=note)


# --- The support against D's size -----------------------------------------------------------------


def same(known: Tensor, draws: int = DRAWS) -> float:
    """Distance below which two pictures count as the same: of all training digits' pairs SHARE are nearer."""
    order = torch.randperm(len(known), generator=torch.Generator().manual_seed(0))[:draws]
    every = draws * (draws - 1) // 2
    near = metrics.nearest_pairs(known[order].flatten(1), every)[1]
    return float(near[max(0, round(SHARE * every) - 1)])  # all training digits are different ones


def pairs_within(pictures: Tensor, distance: float) -> int:
    """Number of pairs of pictures that are so near."""
    every = len(pictures) * (len(pictures) - 1) // 2
    return int((metrics.nearest_pairs(pictures.flatten(1), every)[1] <= distance).sum())


def supports(quick: bool) -> Iterator[Row]:
    """Pairs that are the same, and the support they tell of, for each width of D."""
    seeds, batches, draws = (1, 2, 40) if quick else (SEEDS, 2 * BATCHES, DRAWS)
    known, held = recipe.digits()
    near, every, real = same(known, draws), draws * (draws - 1) // 2, looks(held)
    for width in WIDTHS:
        discriminator = partial(ConvDiscriminator, (1, 8, 8), (width, 2 * width))
        pairs, distances = [], []
        for seed in range(seeds):
            model = trained(known, seed, batches, discriminator=discriminator)
            size = sum(w.numel() for w in model.discriminator.parameters())
            pairs.append(float(pairs_within(drawn(model, draws), near)))
            distances.append(float(metrics.frechet(looks(drawn(model, len(held))), real)))
        mean, text = of_seeds(pairs, 0)
        note = (
            f"{text} of {every:,}: as of {every / max(1.0, mean):,.0f} different ones; Fréchet distance "
            f"{of_seeds(distances)[1]}, {seeds} seeds"
        )
        yield Row("claims", f"support: D of {size:,} weights", mean, unit="pairs", note=note)


# --- Losses ---------------------------------------------------------------------------------------


class Errs(nn.Module):
    """x (B, 1, 8, 8) -> (B,): the squared error of an autoencoder of the recipe's two networks, an energy."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = ConvDiscriminator((1, 8, 8), recipe.CHANNELS[::-1], num_logits=recipe.LATENT)
        self.decoder = conv_generator(recipe.LATENT, (1, 8, 8), recipe.CHANNELS)

    def forward(self, x: Tensor) -> Tensor:
        return cast(Tensor, (self.decoder(self.encoder.maps(x).flatten(1)) - x).square().mean((1, 2, 3)))


def of_losses(quick: bool) -> Iterator[Row]:
    """Fréchet distance to held-out digits for each loss; that of as many training digits is the floor."""
    seeds, batches = (1, 2) if quick else (SEEDS, BATCHES)
    known, held = recipe.digits()
    real = looks(held)
    floor = float(metrics.frechet(looks(known[: len(held)]), real))
    yield Row("claims", "loss: floor", floor, unit="distance", note=f"{len(held)} training digits")
    for name, settings in LOSSES.items():
        settings = settings | ({"batch_norm": False} if "penalty" in settings else {})
        distances = []
        for seed in range(seeds):
            model = trained(
                known, seed, batches, discriminator=Errs if name == "energy" else None, **settings
            )
            distances.append(float(metrics.frechet(looks(drawn(model, len(held))), real)))
        mean, text = of_seeds(distances)
        yield Row("claims", f"loss: {name}", mean, unit="distance", note=f"{text}, {seeds} seeds")
