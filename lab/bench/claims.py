"""Measure what the texts say of GANs and is soon measured: each case a game or a shipped generator, and a
number.

recipe       small digits, a line of DCGAN's recipe left out: Fréchet distance of the pixels to held-out
             digits after 400 batches; those of MNIST too, in the means of the last maps of `cnn-mnist`
truncation   `dcgan-digits` and `dcgan-mnist` with z kept within τ: precision and recall (k = 3) in the means
             of the last maps of `cnn-digits` and `cnn-mnist`; held-out digits are the floor
noise        Pix2Pix that gets noise beside the outline: the output's deviation over the noise, beside that
             of the stripes over their phase, which the outline leaves open
birthday     pairs among 400 draws that are the same: nearer than those of 400 training digits are, but for
             one in a thousand
tricks       eight modes, five turns of G for one of D, 600 batches: what is said to help
codes        InfoGANs that ship: how much their codes are the classes that they never saw, and what their two
             numbers turn
orthogonal, support, loss    small digits: see `lab.bench.digit_games`
"""

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from datamodules import points
from datamodules.digits import Digits
from datamodules.mnist import MNIST
from datamodules.pairs import DARK, PALE, DigitPairs
from lab import weights
from lab.bench import digit_games
from lab.bench.digit_games import DRAWS, drawn, of_seeds, pairs_within, same
from lab.bench.games import features
from lab.bench.timing import Row
from lab.lenses import recipe
from lab.lenses.codes import error_of_read, error_of_samples, meanings
from lab.lenses.games import CURES, SLOW, TRICKS, moves, playing, take
from lab.seeding import seeded
from modules.adversarial import metrics
from modules.adversarial.metrics import ModeCoverage
from modules.adversarial.translation import Pix2Pix

TRUNCATIONS = (None, 2.0, 1.0, 0.5, 0.04)
GENERATORS = ("dcgan-digits", "acgan-digits", "infogan-digits")
HELP = CURES | TRICKS
LINES = (recipe.PLAIN, "no batch norm", "ReLU in D, not leaky", "pooling, not strides", "β₁ = 0.9",
         recipe.CONNECTED)  # fmt: skip
LARGER = {"image_shape": (1, 28, 28), "latent_dim": 64, "channels": (128, 64, 32)}  # of the games of MNIST


def measure(quick: bool = False) -> list[Row]:
    """One row a case; mean ± standard deviation where there are seeds."""
    on_mnist = () if quick else ablated_mnist()
    return [*ablated(quick), *on_mnist, *truncated(quick), noise_ignored(quick), *birthdays(quick),
            *helped(quick), *digit_games.measure(quick), *coded(quick)]  # fmt: skip


# --- The recipe -----------------------------------------------------------------------------------


def ablated(quick: bool) -> Iterator[Row]:
    """Distance to held-out digits, lower is better, for each line left out."""
    seeds, batches = (1, 2) if quick else (3, 400)
    known, held = recipe.digits()
    for name, settings in recipe.SWITCHES.items():
        distances = []
        for seed in range(seeds):
            model, optimizers = recipe.game(settings, seed)
            deque(moves(model, optimizers, known, batches, seed, batches, recipe.BATCH), maxlen=0)
            with torch.no_grad():
                result = model.eval().decode(model.noise(len(held), torch.Generator().manual_seed(7)))
            distances.append(float(metrics.frechet(result.flatten(1), held.flatten(1))))
        mean, text = of_seeds(distances)
        yield Row("claims", f"recipe: {name}", mean, unit="distance", note=f"{text}, {seeds} seeds")


def ablated_mnist(
    seeds: int = 3, batches: int = 400, count: int = 2000, lines: Sequence[str] = LINES
) -> Iterator[Row]:
    """The same on MNIST, three layers of convolutions in each network: distance to `count` validation digits
    in the means of the last maps of `cnn-mnist`, the precision and the rarest class; the floor is that of as
    many training digits."""
    data, network = MNIST(binarize="none"), weights.load("cnn-mnist")
    data.setup("fit")
    known, held = data.train_set[torch.arange(10 * count)][0], data.val_set[torch.arange(count)][0]
    looked = features(network, held)[1]
    floor = float(metrics.frechet(features(network, known[:count])[1], looked))
    yield Row("claims", "recipe, mnist: floor", floor, unit="distance", note=f"{count} training digits")
    for name in lines:
        distances, shares, rarest = [], [], []
        for seed in range(seeds):
            model, optimizers = recipe.game(LARGER | recipe.SWITCHES[name], seed)
            deque(moves(model, optimizers, known, batches, seed, batches, recipe.BATCH), maxlen=0)
            logits, result = features(network, drawn(model, count))
            rarest.append(float(logits.argmax(1).bincount(minlength=10).min()) / count)
            distances.append(float(metrics.frechet(result, looked)))
            shares.append(float(metrics.precision_recall(looked, result)[0]))
        (mean, text), (_, precision) = of_seeds(distances, 3), of_seeds(shares)
        note = f"{text}, precision {precision}, rarest class {of_seeds(rarest)[1]}, {seeds} seeds"
        yield Row("claims", f"recipe, mnist: {name}", mean, unit="distance", note=note)


# --- Truncation -----------------------------------------------------------------------------------


def truncated(quick: bool) -> Iterator[Row]:
    """Small digits, and MNIST's, of which as many are taken as held-out small ones, three times."""
    known, held = recipe.digits()
    count = 60 if quick else len(held)
    order = torch.randperm(len(known), generator=torch.Generator().manual_seed(0))[:count]
    yield from cut("digits", known[order], held[:count])
    if not quick:
        data, first = MNIST(binarize="none"), torch.arange(3 * count)
        data.setup("fit")
        data.setup("test")
        yield from cut("mnist", data.train_set[first][0], data.test_set[first][0])


def cut(name: str, known: Tensor, held: Tensor) -> Iterator[Row]:
    """Precision of a DCGAN at each τ, and recall in the note, against as many digits of training."""
    network, model = weights.load(f"cnn-{name}"), weights.load(f"dcgan-{name}")
    data, shown = features(network, known)[1], {"held-out digits": held}
    for bound in TRUNCATIONS:
        with torch.no_grad():
            samples = model.sample(  # type: ignore[operator]
                len(held), generator=torch.Generator().manual_seed(0), truncation=bound
            )
        shown[f"τ = {bound:g}" if bound else "all of z"] = samples
    for which, pictures in shown.items():
        precision, recall = metrics.precision_recall(data, features(network, pictures)[1], 3)
        note = f"recall {recall:.3f}, {len(held)} each"
        yield Row("claims", f"truncation: {name}, {which}", float(precision), unit="precision", note=note)


# --- Noise that is ignored ------------------------------------------------------------------------


def noise_ignored(quick: bool) -> Row:
    """Deviation of a pixel over noise, of a Pix2Pix that is trained with a map of it."""
    data = DigitPairs(task="hatched", batch_size=16, train_size=1297)
    for stage in ("fit", "test"):
        data.setup(stage)
    c, x, *_ = data.train_set[torch.arange(len(data.train_set))]
    model = seeded(lambda: Pix2Pix(widths=(16, 32, 32, 32), content=30.0, noise=1), 0)
    optimizers: dict[str, torch.optim.Optimizer] = {
        name: torch.optim.Adam(parameters, 1e-3, betas=(0.5, 0.999), fused=True)
        for name, parameters in model.players().items()
    }
    generator, turns = torch.Generator().manual_seed(0), 2 if quick else 200
    for _ in range(turns):
        i = torch.randint(len(c), (16,), generator=generator)
        pictures, given = model.unpack((c[i], x[i]))
        take(model.updates(pictures, generator, **given), model.players(), optimizers)
    outlines = data.test_set[torch.arange(64)][0]
    over_noise, over_outlines = spread_over_noise(model.eval(), outlines)
    stripes = (DARK - PALE) / 8**0.5  # of a sine between the two, over its phase
    note = f"over outlines {over_outlines:.3f}; stripes of any phase {stripes:.3f}; {turns} turns, 1 seed"
    return Row("claims", "noise: Pix2Pix beside the outline", over_noise, unit="of a pixel", note=note)


@torch.no_grad()
def spread_over_noise(model: Pix2Pix, outlines: Tensor, draws: int = 8) -> tuple[float, float]:
    """Mean deviation of a pixel over the noise at one outline, and over outlines (N, 1, H, W)."""
    result = torch.stack([model.translate(outlines, torch.Generator().manual_seed(n)) for n in range(draws)])
    return float(result.std(0).mean()), float(result.mean(0).std(0).mean())


# --- Birthdays ------------------------------------------------------------------------------------


def birthdays(quick: bool) -> Iterator[Row]:
    """Pairs that are the same among DRAWS draws, and the support that so many tell of."""
    draws = 40 if quick else DRAWS
    known, _ = recipe.digits()
    order = torch.randperm(len(known), generator=torch.Generator().manual_seed(0))[:draws]
    every, near = draws * (draws - 1) // 2, same(known, draws)
    shown = {"training digits": known[order]}
    for name in GENERATORS:
        with torch.no_grad():
            shown[name] = weights.load(name).sample(  # type: ignore[operator]
                draws, generator=torch.Generator().manual_seed(0)
            )
    for name, pictures in shown.items():
        pairs = pairs_within(pictures, near)
        note = f"of {every:,}: as of {every / max(1, pairs):,.0f} different ones"
        yield Row("claims", f"birthday: {name}", pairs, unit="pairs", note=note)


# --- What is said to help -------------------------------------------------------------------------


def helped(quick: bool) -> Iterator[Row]:
    """Modes that are held as evenly, K e^−KL, of eight; the share near one in the note."""
    seeds, batches = (1, 2) if quick else (3, 600)
    x = points.sample("ring8", 20_000, seed=1)[0]
    centres, sd = points.MIXTURES["ring8"]
    cases: dict[str, dict[str, Any]] = {"nothing": {}} | HELP
    for name, settings in cases.items():
        even, near = [], []
        for seed in range(seeds):
            ((_, model, _),) = deque(playing(x, SLOW | settings, batches, seed, batches), maxlen=1)
            mode_coverage = ModeCoverage(centres.tolist(), sd, "kl")
            with torch.no_grad():
                mode_coverage.update(model.generator(model.noise(2500, torch.Generator().manual_seed(7))))
            even.append(len(centres) * float((-mode_coverage.value("kl")).exp()))
            near.append(float(mode_coverage.value("quality")))
        mean, text = of_seeds(even)
        note = f"{text}, quality {of_seeds(near)[1]}, {seeds} seeds"
        yield Row("claims", f"tricks: {name}", mean, unit="modes' worth", note=note)


# --- What codes came to mean ----------------------------------------------------------------------


def coded(quick: bool) -> Iterator[Row]:
    """Error of the best assignment of codes to classes, and what the numbers go with."""
    shown = {"digits": Digits()} if quick else {"digits": Digits(), "mnist": MNIST(binarize="none")}
    for name, data in shown.items():
        model, network = weights.load(f"infogan-{name}"), weights.load(f"cnn-{name}")
        data.setup("test")
        x, y = data.test_set[torch.arange(len(data.test_set))]
        result = error_of_samples(model, network)  # type: ignore[arg-type]
        read = error_of_read(model, x, y)  # type: ignore[arg-type]
        text = "; ".join(
            f"c{'₂₃'[i]} with slant {slant:.2f}, with thickness {thickness:.2f}"
            for i, (slant, thickness) in enumerate(meanings(model).tolist())  # type: ignore[arg-type]
        )
        note = f"of what is made; of test digits as Q reads them {read:.3f}; {text}"
        yield Row("claims", f"codes: infogan-{name}", result, unit="error", note=note)
