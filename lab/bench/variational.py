"""Variational inference and small digits: what the texts say, measured, three seeds each unless said.

clusters     the digits as ten clusters: adjusted Rand index of k-means on pixels, and of mixtures on the
             first 20 principal components
estimators   a VAE of black and white digits by each estimator of its encoder's gradient, equal updates
bits         the gradient of eight Bernoulli variables by leave-one-out against all 2⁸ of them
noise        samples of a Gaussian decoder, their mean and with its noise: energy above half of the highest
             frequency over that of the digits
black box    the best diagonal Gaussian of a linear-Gaussian model, found from log p(x, z) alone
proposals    log p(x) of the same model by importance sampling from the prior, from a q that is too narrow,
             and from half of each; twenty models
two modes    the posterior of z₁, whose square is seen, by sixteen planar layers: trained directly, and with
             the likelihood annealed; ten seeds
"""

from collections.abc import Iterator
from functools import partial
from typing import Any, get_args

import torch
from torch import Tensor

from datamodules.digits import Digits
from lab import weights
from lab.bench.digit_games import of_seeds
from lab.bench.timing import Row
from lab.seeding import seeded
from modules.flow.planar import PlanarFlow
from modules.flow.posterior import TOYS
from modules.flow.reverse_kl import fit, importance_estimates
from modules.importance import effective_sample_size, log_mean_exp
from modules.latent import variational
from modules.latent.elbo import LinearGaussianPosterior
from modules.latent.gradient_estimators import bernoulli_vector_gradient
from modules.latent.importance import defensive_weights
from modules.latent.kmeans import KMeans
from modules.latent.mixture import GaussianMixture
from modules.latent.pca import PCA
from modules.latent.score_vae import Estimator, ScoreVAE
from modules.latent.variational import local_vi, mean_field_gap

SEEDS = 3
GAUSSIANS = ("full", "tied", "diag", "spherical")
NOISY = ("vae-digits", "vae-large-digits")
# the specification's numbers, one run each
SPEC_RAND = {"k-means": ".67", "full": ".76", "tied": ".63", "diag": ".61", "spherical": ".58"}


def row(case: str, values: list[float], unit: str, note: str = "", digits: int = 3) -> Row:
    """The mean over seeds, mean ± standard deviation in the note."""
    mean, text = of_seeds(values, digits)
    return Row("variational", case, mean, unit=unit, note=f"{text}, {len(values)} seeds{note and '; '}{note}")


def measure(quick: bool = False) -> list[Row]:
    """One row a case."""
    parts = (clusters, estimators, bits, noise, black_box, proposals, two_modes)
    return [each for part in parts for each in part(quick)]


def generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


# --- Ten clusters -----------------------------------------------------------------------------------


def clusters(quick: bool) -> Iterator[Row]:
    """Fits of all 1,797 digits, grey levels; five starts per fit, of which the likeliest is kept."""
    from sklearn.metrics import adjusted_rand_score

    data = Digits(binarize="none")
    data.setup()
    parts = [s[torch.arange(len(s))] for s in (data.train_set, data.val_set, data.test_set)]
    x, y = (torch.cat([part[i] for part in parts]) for i in (0, 1))
    flat = x.flatten(1).double()
    pca = PCA((64,), 20)
    pca.fit(flat)
    codes = pca.encode(flat)
    for name, spec in SPEC_RAND.items():
        results = []
        for seed in range(1 if quick else SEEDS):
            model: Any
            if name == "k-means":
                model, result = KMeans((64,), 10, restarts=5), flat
            else:
                model, result = GaussianMixture((20,), 10, name, floor=1e-4, restarts=5), codes  # type: ignore[arg-type]
            model.fit(result, 2 if quick else 100, 1e-6, generator=generator(seed))
            z = model.encode(result)
            results.append(adjusted_rand_score(y, z if z.dim() == 1 else z.argmax(1)))
        where = "pixels" if name == "k-means" else "20 components"
        yield row(f"clusters: {name}, {where}", results, "Rand", f"the specification, one run: {spec}")


# --- Estimators of a net's gradient -----------------------------------------------------------------


def small_bits() -> tuple[Tensor, Tensor]:
    """Black and white digits of 8 × 8, to train on and of the test, (N, 64)."""
    data = Digits(binarize="threshold")
    data.setup()
    known, held = (s[torch.arange(len(s))][0].flatten(1) for s in (data.train_set, data.test_set))
    return known, held


def estimators(quick: bool) -> Iterator[Row]:
    """−ELBO of test digits after equally many updates of 64 digits, two draws each."""
    known, held = small_bits()
    updates = 3 if quick else 400
    for name in get_args(Estimator):
        results = []
        for seed in range(1 if quick else SEEDS):
            model = seeded(partial(ScoreVAE, (64,), 10, [128], estimator=name, samples=2), seed)
            optimizer = torch.optim.Adam(model.parameters(), 2e-3)
            with torch.random.fork_rng():
                torch.manual_seed(seed)
                for _ in range(updates):
                    x = known[torch.randint(len(known), (64,))]
                    optimizer.zero_grad(set_to_none=True)
                    model.objective(x, model.elbo_terms(x)).backward()
                    optimizer.step()
            with torch.no_grad():
                results.append(float(-model.elbo(held, 20, generator(1)).mean()))
        yield row(f"estimators: {name}", results, "nats", f"{updates:,} updates", 2)


def bits(quick: bool) -> Iterator[Row]:
    """Root mean square error of the mean of N estimates, K = 2 draws each, over the size of the gradient."""
    count = 100 if quick else 20_000
    for samples in (1, 2):
        results = []
        for seed in range(SEEDS):
            w = torch.randn(8, 8, generator=generator(seed), dtype=torch.float64)

            def f(z: Tensor, w: Tensor = w) -> Tensor:
                return -((z @ w).square().sum(-1)) - 10  # as a log-likelihood is: far from 0

            logits = torch.randn(8, generator=generator(seed + 9), dtype=torch.float64)
            exact = bernoulli_vector_gradient(f, logits)
            z = torch.bernoulli(logits.sigmoid().expand(count, 2, 8), generator=generator(seed))
            values, s = f(z), z - logits.sigmoid()
            base = values.flip(1) if samples == 2 else 0 * values  # of two draws: the other one
            each = ((values - base)[..., None] * s).mean(1)
            results.append(float((each.mean(0) - exact).norm() / exact.norm()))
        name = "leave-one-out" if samples == 2 else "no baseline"
        yield row(f"bits: {name}", results, "of the gradient", f"{count:,} pairs of draws against all 256")


# --- Mean and noise ---------------------------------------------------------------------------------


def high_frequency(x: Tensor) -> float:
    """Mean energy of pictures (N, 1, H, W) above half of the highest frequency, either way."""
    f = torch.fft.fft2(x[:, 0].double(), norm="ortho").abs().square()
    k = torch.fft.fftfreq(x.shape[-1]).abs()
    return float(f[:, torch.maximum(k[:, None], k[None]) > 0.25].sum(-1).mean())


@torch.no_grad()
def noise(quick: bool) -> Iterator[Row]:
    """Draws of a shipped Gaussian decoder over the test digits'."""
    data = Digits(binarize="none")
    data.setup()
    real = high_frequency(data.test_set[torch.arange(len(data.test_set))][0])
    for name in NOISY:
        model: Any = weights.load(name)
        for mean in (True, False):
            results = [
                high_frequency(
                    model.sample(
                        50 if quick else 1000, generator=torch.Generator().manual_seed(seed), mean=mean
                    ).reshape(-1, 1, 8, 8)
                )
                / real
                for seed in range(SEEDS)
            ]
            text = "mean" if mean else "with the decoder's noise"
            yield row(f"noise: {name}, {text}", results, "of the digits'", "1,000 samples a seed", 2)


# --- A model whose evidence is known ----------------------------------------------------------------


def conjugate(size: int, seed: int = 0) -> tuple[LinearGaussianPosterior, Tensor]:
    """A linear-Gaussian model of `size` hidden and twice as many seen numbers, and a draw of x from it."""
    g = generator(seed)
    model = LinearGaussianPosterior(torch.randn(2 * size, size, generator=g, dtype=torch.float64), 0.5)
    z = torch.randn(size, generator=g, dtype=torch.float64)
    noise = torch.randn(2 * size, generator=g, dtype=torch.float64)
    return model, model.loadings @ z + 0.5**0.5 * noise


def black_box(quick: bool) -> Iterator[Row]:
    """log p(x) − ELBO of what was found, beside that of the best diagonal Gaussian, which is known."""
    steps = 20 if quick else 1500
    for name in get_args(variational.Estimator):
        result, least = [], []
        for seed in range(1 if quick else SEEDS):
            model, x = conjugate(4, seed)
            start = torch.zeros(1, 4, dtype=torch.float64)
            mean, log_var, _ = local_vi(
                partial(model.log_joint, x), start, start, steps, 32, 0.05, name, generator(seed)
            )
            result.append(float(model.log_prob(x) - model.elbo(x, mean[0], log_var[0].exp().diag())))
            least.append(float(mean_field_gap(model.precision)))
        best = of_seeds(least, 3)[1]
        yield row(
            f"black box: {name}", result, "nats", f"the best diagonal {best}; {steps:,} steps of 32 draws"
        )


def proposals(quick: bool) -> Iterator[Row]:
    """|log p̂(x) − log p(x)| of 1,000 draws; q is the posterior's mean with a third of its deviations."""
    draws, runs = (50, 3) if quick else (1000, 20)
    for size in (2, 10, 20):
        for name, share in (("prior", 1.0), ("narrow q", 0.0), ("half of each", 0.5)):
            errors, counts = [], []
            for seed in range(runs):
                model, x = conjugate(size, seed)
                mean, covariance = model.posterior(x)
                log_var = (covariance.diagonal() / 9).log()
                log_w = defensive_weights(
                    partial(model.log_joint, x), mean, log_var, draws, share, generator(seed)
                )
                errors.append(float((log_mean_exp(log_w) - model.log_prob(x)).abs()))
                counts.append(float(effective_sample_size(log_w)))
            note = f"{sum(counts) / runs:.1f} of {draws:,} draws count"
            yield row(f"proposals: {name}, K = {size}", errors, "nats", note, 2)


# --- Two modes --------------------------------------------------------------------------------------


def two_modes(quick: bool) -> Iterator[Row]:
    """log p(x) − ELBO, by 20,000 draws, beside the share of q that lies on the rarer mode."""
    toy, seeds = TOYS["two modes"], 2 if quick else 10
    log_p, noise = toy.log_evidence(), torch.randn(20_000, 2, generator=generator(1))
    for name, steps, anneal in (("annealed", 20, 14), ("directly", 20, 0)) if quick else (
        ("annealed", 4000, 2800), ("directly", 1000, 0),
    ):  # fmt: skip
        gaps, rarer = [], []
        for seed in range(seeds):
            flow = seeded(partial(PlanarFlow, (2,), 16, fit_data=False), seed)
            fit(flow, toy.log_joint, steps, 256, 1e-2, anneal=anneal, seed=seed, start=toy.log_prior)
            gaps.append(log_p + importance_estimates(flow.stack, noise, toy.log_joint)["kl"])
            with torch.no_grad():
                left = float((flow.generate(noise)[0][:, 0] < 0).double().mean())
            rarer.append(min(left, 1 - left))
        both = sum(share >= 0.1 and gap <= 0.1 for share, gap in zip(rarer, gaps, strict=True))
        note = (
            f"{steps:,} steps; {both} of {seeds} keep both modes (10 to 90 %) and lack at most 0.1; "
            f"the rarer has {min(rarer):.2f} and more, gaps to {max(gaps):.3f}"
        )
        yield row(f"two modes: {name}", gaps, "nats", note)
