"""Latent variables on MNIST: evidence, gaps, samples and walks of a trained VAE, from shipped weights.

Nine experiments, eight of them the specification's; its numbers are of a smaller net (784-400-20, 20
epochs), so a rebuild lands in the same region, not on the digit. They stand in the note of each row.

    evidence     log 1/N Σ w by the prior and by the encoder; the share of the draws that count
    gaps         log p − ELBO = approximation (the best Gaussian of each image) + amortisation (the encoder)
    signal       |mean| over standard deviation of the encoder's gradient of L_K, against K: falls as 1/√K
                 where the weights have a variance; an encoder that is too narrow has few that count, and the
                 fall is slower (here in two dimensions; in forty none is seen up to K = 50)
    ranks        models in the order of their ELBO and of L_500
    posterior    L_500 of a Gaussian encoder and of one that is bent by a flow, trained equally long, digit by
                 digit: the difference and its standard error
    samples      of the prior and of the aggregated posterior before a classifier
    probes       the class read by a line from μ, of small digits: where the networks are told it, and not
    midpoints    between codes of two classes, straight and on the sphere
    time         a digit pixel by pixel against a code and one pass

Images are binarized once (`static`); those of the test are the draws that the models were tested on.
"""

import math
from collections.abc import Callable, Sequence
from itertools import combinations, product
from statistics import median
from typing import Any, cast

import torch
from torch import Tensor

from datamodules.digits import Digits
from datamodules.mnist import MNIST
from lab import experiments, weights
from lab.bench.games import features
from lab.bench.timing import Row, interleaved
from lab.lenses.latent import lerp, majority_accuracy, probe, slerp
from modules.adversarial import metrics
from modules.importance import effective_sample_size
from modules.latent.aggregated import AggregatedPosterior
from modules.latent.bounds import gaussian_kl
from modules.latent.conditional import CVAE
from modules.latent.iwae import IWAE
from modules.latent.vae import VAE
from modules.latent.variational import amortisation_gaps, local_vi

NAME, FLAT, READER = "vae-mnist", "vae2d-mnist", "cnn-mnist"
RANKED = "datamodules.digits.Digits"
PLAIN, BENT = "vae15-mnist", "iafvae-mnist"
SURE = 0.9
SIZES = (1, 2, 4, 8, 16, 32)  # K of the signal
# the specification's numbers, rows M-2 to M-6
SPEC_PRIOR = {10: -285.0, 100: -217.0, 1000: -178.0, 10_000: -142.0}
SPEC_ENCODER = {10: -93.2, 100: -92.6, 1000: -91.9}
SPEC_GAPS = {"encoder": "−96.1", "best": "−92.5", "log_p": "−90.1", "amortisation": "3.6",
             "approximation": "at least 2.4"}  # fmt: skip
SPEC_SAMPLES = {"prior": "10.2, .31", "aggregated": "1.0, .82", "test digits": "0.85"}
SPEC_PROBES = {"floor": ".11", "vae-bits-digits": ".85", "cvae-digits": ".24"}
SPEC_WALKS = {"ends": "4.19", "lerp": "2.91, .32", "slerp": "4.20, .41"}


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@torch.no_grad()
def evidence(model: VAE, x: Tensor, sizes: Sequence[int], proposal: str) -> dict[str, float]:
    """Mean over x (B, …) of log 1/N Σ w for each N, the first N of the same draws; `ess` of all."""
    log_w = model.log_weights(x, max(sizes), seeded(), proposal)  # type: ignore[arg-type]
    results = {str(n): (log_w[:n].logsumexp(0) - math.log(n)).mean().item() for n in sizes}
    return results | {"ess": effective_sample_size(log_w).mean().item()}


def gaps(model: VAE, x: Tensor, steps: int = 400, draws: int = 1000) -> dict[str, float]:
    """Means over x (B, …), nats: `encoder` and `best` ELBO, `log_p`, and the gaps between them.

    The best Gaussian of each image is found from the encoder's answer; log p by importance sampling from it,
    biased low, so the approximation gap is at least what is told.
    """
    model = model.requires_grad_(False)
    start = model.encode_parameters(x)

    def log_joint(z: Tensor) -> Tensor:
        return model.log_likelihood(x, z) + model.prior.log_prob(z)

    q = local_vi(log_joint, *start, steps=steps, samples=8, generator=seeded())[:2]
    with torch.no_grad():
        noise = torch.randn(draws, *start[0].shape, generator=seeded(1), dtype=start[0].dtype)
        bounds = []
        for mean, log_var in (start, q):
            z = mean + (0.5 * log_var).exp() * noise
            result = torch.cat([model.log_likelihood(x, part) for part in z.split(100)])
            bounds.append(result.mean(0) - gaussian_kl(mean, log_var).sum(-1))
        log_w = result + 0.5 * (noise.square() + log_var - z.square()).sum(-1)  # of the best Gaussians
        log_p = log_w.logsumexp(0) - math.log(draws)
    split = amortisation_gaps(log_p, bounds[1], bounds[0])
    results = {"encoder": bounds[0], "best": bounds[1], "log_p": log_p, **split}
    return {name: values.mean().item() for name, values in results.items()}


def answering(mean: Tensor, log_var: Tensor) -> Callable[..., tuple[Tensor, Tensor]]:
    """An encoder that gives these answers."""
    return lambda x, **given: (mean, log_var)


def signal(
    model: VAE, x: Tensor, sizes: Sequence[int], gradient: str, repeats: int = 400, wider: float = 1.0
) -> list[float]:
    """Signal over noise of the gradient of L_K in the encoder's answers, one number a K.

    √(Σ mean² / Σ variance) over images and both parameters of each dimension, each over `repeats` draws; the
    mean's own noise is taken off. With the encoder's deviations `wider` so many times.
    """
    mean, log_var = (part.detach() for part in model.encode_parameters(x))
    start = [mean, log_var + 2 * math.log(wider)]
    settings = dict(model.hparams) | {"warmup_epochs": 0, "gradient": gradient}
    judge = IWAE(**settings).to(mean).requires_grad_(False)
    judge.load_state_dict(model.state_dict())
    out = []
    for size in sizes:
        signals = noises = 0.0
        for i in range(len(x)):
            rows = x[i : i + 1].expand(repeats, *x.shape[1:])
            answers = [part[i].expand(repeats, -1).clone().requires_grad_() for part in start]
            judge.encode_parameters = answering(*answers)  # type: ignore[method-assign]
            noise = torch.randn(size, repeats, model.latent_dim, generator=seeded(i), dtype=mean.dtype)
            (repeats * judge.bound_loss(rows, noise)).backward()
            each = torch.cat([part.grad for part in answers], 1).double()  # type: ignore[misc]
            variance = each.var(0)
            signals += (each.mean(0).square() - variance / repeats).sum().item()
            noises += variance.sum().item()
        out.append(math.sqrt(max(signals, 0.0) / noises))
    return out


def slope(sizes: Sequence[int], values: Sequence[float]) -> float:
    """Slope of log values against log sizes, by least squares."""
    x, y = (torch.tensor(each, dtype=torch.float64).log() for each in (sizes, values))
    return ((x - x.mean()) @ (y - y.mean()) / (x - x.mean()).square().sum()).item()


def ranked() -> list[tuple[str, float, float]]:
    """(name, −ELBO, −L_500) of every shipped model of the same bits without a class, from the cards."""
    results = []
    for name, entry in sorted(experiments.catalog().items()):
        if entry.datamodule != RANKED or not entry.weights:
            continue
        card = weights.read_card(entry.weights)
        measured = card["metrics"]
        same = card["data"].get("binarize") == "threshold" and measured.get("test/iwae_samples") == 500
        if same and "num_classes" not in arguments(card):
            results.append((name, measured["test/elbo"], measured["test/iwae"]))
    return results


def arguments(card: dict[str, Any]) -> dict[str, Any]:
    return card["config"]["model"].get("init_args") or {}


def changes(models: Sequence[tuple[str, float, float]]) -> list[tuple[str, str, float, float]]:
    """Pairs whose order differs: the better by ELBO, the better by L_500, and by how much each.

    A pair is as large as the smaller of its two differences; the largest come first.
    """
    results = []
    for one, two in combinations(models, 2):
        first, second = sorted((one, two), key=lambda model: model[1])
        if second[2] < first[2]:
            results.append((first[0], second[0], second[1] - first[1], first[2] - second[2]))
    return sorted(results, key=lambda pair: -min(pair[2:]))


@torch.no_grad()
def gained(one: VAE, other: VAE, x: Tensor, draws: int) -> tuple[float, float]:
    """Nats by which L_K of `other` is above that of `one`: the mean over x (B, …) and its standard error."""
    bounds = [
        torch.cat([model.iwae(part, draws, seeded()) for part in x.split(20)]) for model in (one, other)
    ]
    apart = bounds[1] - bounds[0]
    return apart.mean().item(), (apart.std() / math.sqrt(len(apart))).item()


@torch.no_grad()
def drawn(model: VAE, train: Tensor, count: int) -> dict[str, Tensor]:
    """Bits (count, 1, 28, 28) from codes of the prior, and of the training images' aggregated posterior."""
    q = AggregatedPosterior(*model.encode_parameters(train))
    codes = {
        "prior": model.sample_prior(count, generator=seeded()),
        "aggregated": q.sample(count, generator=seeded()),
    }
    return {
        name: torch.bernoulli(model.decode(z), generator=seeded(1)).reshape(-1, 1, 28, 28)
        for name, z in codes.items()
    }


@torch.no_grad()
def before(reader: Any, x: Tensor, train: Tensor) -> dict[str, float]:
    """Scores of pictures by a classifier: Fréchet distance of its features to those of training images, the
    share of which it is sure, and the mean number of pixels to the nearest training image."""
    logits, result = features(reader, x)
    sure = (logits.softmax(1).max(1).values > SURE).float().mean().item()
    apart = torch.cat([torch.cdist(part, train.flatten(1), p=1).min(1).values
                       for part in x.flatten(1)[:1000].split(100)])  # fmt: skip
    return {
        "frechet": float(metrics.frechet(features(reader, train)[1], result)),
        "sure": sure,
        "nearest": apart.mean().item(),
    }


@torch.no_grad()
def midpoints(model: VAE, reader: Any, x: Tensor, y: Tensor, pairs: int) -> dict[str, tuple[float, float]]:
    """Mean length and share of sure decoded pictures: of the `ends`, of `lerp` and of `slerp` at one half.

    Between nearly opposite codes, which two dimensions have many of, an arc's middle may be long.
    """
    z = model.encode(x)
    one, two = (torch.randint(len(x), (4 * pairs,), generator=seeded(seed)) for seed in (0, 1))
    kept = (y[one] != y[two]).nonzero().squeeze(1)[:pairs]
    a, b = z[one[kept]], z[two[kept]]
    round_trip = torch.stack([slerp(u, v, 0.5) for u, v in zip(a, b, strict=True)])
    results = {}
    for name, codes in {"ends": torch.cat([a, b]), "lerp": lerp(a, b, 0.5), "slerp": round_trip}.items():
        logits, _ = features(reader, model.decode(codes).reshape(-1, 1, 28, 28))
        sure = (logits.softmax(1).max(1).values > SURE).float().mean().item()
        results[name] = codes.norm(dim=1).mean().item(), sure
    return results


@torch.no_grad()
def probes() -> dict[str, float]:
    """Share of the classes of small digits that a line reads from μ of a VAE and of a CVAE, trained equally
    long, and that the commonest class gives."""
    data = Digits(binarize="threshold")
    data.setup()
    (x, y), (held, labels) = (s[torch.arange(len(s))] for s in (data.train_set, data.test_set))
    results = {"floor": majority_accuracy(y, labels)}
    for name in ("vae-bits-digits", "cvae-digits"):
        model: Any = weights.load(name)
        result = [{"y": each} if isinstance(model, CVAE) else {} for each in (y, labels)]
        results[name] = probe(model.encode(x, **result[0]), y, model.encode(held, **result[1]), labels)
    return results


def measure(quick: bool = False) -> list[Row]:
    """One row a number, the specification's beside it."""
    model: Any = weights.load(NAME)
    flat: Any = weights.load(FLAT)
    reader, slow = weights.load(READER), cast(Any, weights.load("made-mnist"))
    data = MNIST(binarize="static")
    data.setup()
    count = 200 if quick else 5000
    test, label = data.test_set[torch.arange(count)]
    train = data.train_set[torch.arange(2 * count)][0]
    rows: list[Row] = []

    def row(case: str, value: float, unit: str, note: str = "") -> None:
        rows.append(Row("latents", case, value, unit=unit, note=note))

    few = test[: 3 if quick else 20]
    for proposal, spec in (("prior", SPEC_PRIOR), ("encoder", SPEC_ENCODER)):
        numbers = list(spec)[: 2 if quick else None]
        result = evidence(model, few, numbers, proposal)
        for n in numbers:
            row(f"evidence, {proposal}, N = {n:,}", result[str(n)], "nats", f"specification {spec[n]:g}")
    row("draws of the encoder that count", result["ess"], f"of {numbers[-1]:,}", "specification 10 of 1,000")

    result = gaps(model, few, 5, 100) if quick else gaps(model, test[:50])
    for name, text in SPEC_GAPS.items():
        row(f"gaps: {name}", result[name], "nats", f"specification {text}")

    sizes = SIZES[: 2 if quick else None]
    for wider, gradient in product((1.0, 2.0), ("plain", "doubly")):
        values = signal(flat, test[: 1 if quick else 3], sizes, gradient, 20 if quick else 600, wider)
        answer = slope(sizes, values) if min(values) > 0 else math.nan
        at = ", ".join(f"K {k}: {v:.3g}" for k, v in zip(sizes, values, strict=True))
        text = "−½" if gradient == "plain" else "rises"
        row(f"signal, {gradient}, q {wider:g} times as wide", answer, "slope", f"{at}; specification {text}")

    models = ranked()
    for first, second, by_elbo, by_iwae in changes(models)[:3]:
        note = f"ELBO prefers the first by {by_elbo:.2f}, L_500 the second by {by_iwae:.2f}"
        row(f"ranks: {first}, {second}", min(by_elbo, by_iwae), "nats", note)
    row("ranks: pairs of models whose order changes", len(changes(models)), f"of {math.comb(len(models), 2)}")

    settings = (test[:50], 20) if quick else (test[:: count // 1000], 500)
    nats, error = gained(cast(Any, weights.load(PLAIN)), cast(Any, weights.load(BENT)), *settings)
    row(f"posterior: {BENT} below {PLAIN}", nats, "nats", f"± {error:.2f}, {len(settings[0]):,} test digits")

    for name, x in (drawn(model, train, count) | {"test digits": test}).items():
        results = before(reader, x, train)
        row(
            f"samples: {name}", results["frechet"], "Fréchet",
            f"sure of {results['sure']:.0%}, {results['nearest']:.1f} pixels from a training image; "
            f"specification "
            f"{SPEC_SAMPLES[name]}, by other features",
        )  # fmt: skip

    for name, share in probes().items():
        row(f"probes: {name}", share, "of the classes", f"specification {SPEC_PROBES[name]}, of MNIST")

    for name, one, spec_of in ((NAME, model, SPEC_WALKS), (FLAT, flat, {})):
        for way, (length, sure) in midpoints(one, reader, test, label, 20 if quick else 1000).items():
            text = f"; specification {spec_of[way]}" if spec_of else ""
            row(f"midpoints of {name}: {way}", length, "long", f"sure of {sure:.0%}{text}")

    times = interleaved(
        lambda: slow.sample(1, generator=seeded()),
        lambda: model.sample(1, generator=seeded()),
        1 if quick else 5,
    )
    case = "a digit in 784 passes (made-mnist) against one"
    ours, peer = median(times.first), median(times.second)
    return [*rows, Row("latents", case, ours, peer, times.ratio, target="≥ 50")]
