r"""VQ-VAE: codes from a book of K vectors, on a grid, and a prior over the grid learned beside it.

    k* = argmin_k ‖z_e − e_k‖,   z_q = e_k*
    loss = −log p(x|z_q) + ‖sg(z_e) − e‖² + β ‖z_e − sg(e)‖²            sg: no gradient passes
           codebook, or a running mean of the z_e it stands for (EMA)    commitment

The choice has no gradient: z_q's is handed to z_e as it is (straight through). q(k|x) is a point mass, so

    log p(x) ≥ log p(x|z_q) + log p(k),    log p(k) = −(places) log K for the uniform prior

with no sampling error, and any prior over the codes is a bound. The uniform one that training assumes draws
codes that never stood together; the autoregressive one (NADE) is trained in the same run on the codes, which
feel nothing of it.

Shapes: x (B, ...); z_e, z_q (B, P, E), P places of the grid; codes k (B, P) int64; book (K, E).

References: van den Oord, Vinyals & Kavukcuoglu 2017, arXiv:1711.00937 (β = 0.25, K = 512 there); [UDL] notes
of ch. 17; [GM] §3.12.5.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, cast

import torch
from torch import Tensor, nn
from torch.distributions import Categorical, Independent
from torchmetrics import Metric

from modules.autoregressive.nade import NADE
from modules.base import Mean, Module, Split, in_rows, require
from modules.former import former
from modules.latent.bounds import bernoulli_log_prob
from modules.latent.conv_vae import downsampled_size, downsampling, upsampling
from modules.latent.vae import ACTIVATIONS
from modules.noise import bernoulli
from modules.trace import Step, Trace


class CodeUsage(Metric):
    """exp H of how often each code is used over a split: from 1 to K. Fed with codes of any shape."""

    counts: Tensor

    def __init__(self, codes: int) -> None:
        super().__init__()
        self.add_state("counts", torch.zeros(codes), dist_reduce_fx="sum")

    def update(self, codes: Tensor) -> None:
        self.counts += codes.flatten().bincount(minlength=len(self.counts)).to(self.counts)

    def compute(self) -> Tensor:
        return perplexity(self.counts)


def perplexity(counts: Tensor) -> Tensor:
    """exp H of usage counts (K,): as many codes as would be used evenly."""
    share = counts / counts.sum()
    return torch.special.entr(share).sum().exp()


def nearest_code(codebook: Tensor, z: Tensor) -> Tensor:
    """Number of the nearest code: codebook (K, E), z (..., E) -> (...) int64."""
    # ‖z‖² is the same for all codes: it decides nothing
    return (codebook.square().sum(1) - 2 * z @ codebook.T).argmin(-1)


class VQVAE(Module):
    """VQ-VAE of bits, with convolutions.

    `elbo` is the bound with the learned prior, `uniform` with the uniform one; `rec` is in both.

    Args:
        image_shape: colours, height, width.
        channels: maps of each layer; every layer halves the side.
        codes: K.
        code_dim: E.
        beta: of the commitment.
        ema: decay of the running means that replace the codebook's gradient; None learns it by gradient.
        prior_hidden: units of the NADE over the grid.
        activation: as of `VAE`.

    Example:
        >>> VQVAE(image_shape=(1, 8, 8), channels=[8], codes=16).encode(torch.zeros(2, 1, 8, 8)).shape
        torch.Size([2, 16])
    """

    FORMER_TENSORS: ClassVar[Mapping[str, str]] = {"book": "codebook"}
    ema_counts: Tensor
    ema_sums: Tensor

    def __init__(
        self,
        image_shape: Sequence[int] = (1, 28, 28),
        channels: Sequence[int] = (32, 64),
        codes: int = 64,
        code_dim: int = 8,
        beta: float = 0.25,
        ema: float | None = None,
        prior_hidden: int = 64,
        activation: str = "relu",
        **training: Any,
    ) -> None:
        names = ("elbo", "uniform", "rec", "iwae", "iwae_samples")
        metrics: dict[str, Metric] = {name: Mean() for name in names}
        require(2, codes=codes)
        super().__init__(_measures=metrics | {"perplexity": CodeUsage(codes)}, **training)
        if activation not in ACTIVATIONS:
            raise ValueError(f"activation is {activation!r}: choose one of {', '.join(ACTIVATIONS)}.")
        require(1, channels=channels, code_dim=code_dim, prior_hidden=prior_hidden)
        require(0, beta=beta)
        require(0, below=1, ema=0.0 if ema is None else ema)
        self.image_shape = self.event_shape = tuple(image_shape)
        self.grid = downsampled_size(image_shape, len(channels))
        self.places, self.codes, self.code_dim = self.grid[0] * self.grid[1], codes, code_dim
        self.beta, self.ema, self.likelihood = beta, ema, "bernoulli"
        layer = ACTIVATIONS[activation]
        maps = list(channels)
        self.encoder = downsampling(self.image_shape, maps, layer).append(nn.Conv2d(maps[-1], code_dim, 1))
        self.decoder = nn.Sequential(
            nn.Conv2d(code_dim, maps[-1], 1), layer(), *upsampling(self.image_shape, maps, layer)
        )
        self.codebook = nn.Parameter(
            torch.randn(codes, code_dim) / math.sqrt(code_dim), requires_grad=ema is None
        )
        if ema is not None:
            self.register_buffer("ema_counts", torch.ones(codes))
            self.register_buffer("ema_sums", self.codebook.detach().clone())
        self.code_prior = NADE((self.places,), prior_hidden, num_categories=codes, one_hot=True)

    def extra_repr(self) -> str:
        return f"codebook={tuple(self.codebook.shape)}, grid={self.grid}, image_shape={self.image_shape}"

    # --- Codes ---

    def features(self, x: Tensor) -> Tensor:
        """x (B, ...) -> z_e (B, P, E)."""
        return self.encoder(in_rows(x)).flatten(2).transpose(1, 2)

    def quantize(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """z_e (..., E) -> codes (...), and their vectors (..., E), which carry the codebook's gradient."""
        codes = nearest_code(self.codebook, features)
        return codes, self.codebook[codes]

    def encode(self, x: Tensor) -> Tensor:
        """x (B, ...) -> codes (B, P) int64, row by row of the grid."""
        return self.quantize(self.features(x))[0]

    def logits(self, vectors: Tensor) -> Tensor:
        """z_q (..., P, E) -> logits of the pixels (..., D)."""
        flat = vectors.reshape(-1, self.places, self.code_dim).transpose(1, 2)
        pixels = self.decoder(flat.unflatten(2, self.grid))
        return pixels.reshape(*vectors.shape[:-2], math.prod(self.image_shape))

    def decode(self, codes: Tensor) -> Tensor:
        """Codes (..., P) -> probability of each 1, (..., *image_shape)."""
        return self.logits(self.codebook[codes]).sigmoid().reshape(*codes.shape[:-1], *self.image_shape)

    @property
    def prior(self) -> Independent:
        """The uniform prior that training assumes: event shape (P,)."""
        return Independent(Categorical(logits=self.codebook.new_zeros(self.places, self.codes)), 1)

    # --- Bounds ---

    def log_likelihood(self, x: Tensor, codes: Tensor) -> Tensor:
        """log p(x|z_q), (B,), nats; codes (B, P)."""
        return bernoulli_log_prob(in_rows(x), self.logits(self.codebook[codes])).sum(-1)

    def elbo(self, x: Tensor, prior: Literal["learned", "uniform"] = "learned") -> Tensor:
        """(B,) log p(x|z_q) + log p(k), exact: nothing is drawn."""
        codes = self.encode(x)
        return self.log_likelihood(x, codes) + self.code_log_prob(codes, prior)

    def code_log_prob(self, codes: Tensor, prior: Literal["learned", "uniform"] = "learned") -> Tensor:
        """log p(k) of codes (B, P), (B,), nats."""
        if prior == "uniform":
            return self.codebook.new_full((len(codes),), -self.places * math.log(self.codes))
        return self.code_prior.log_prob(codes.to(self.codebook))

    def iwae(self, x: Tensor, samples: int = 500, generator: torch.Generator | None = None) -> Tensor:
        """(B,) the ELBO: q is one point, so all draws of it are the same."""
        require(1, samples=samples)
        return self.elbo(x)

    log_prob_is = iwae

    # --- Sampling ---

    @former("n", "prior", "mean", "seed")
    def sample(
        self,
        n: int,
        *,
        generator: torch.Generator | None = None,
        prior: Literal["learned", "uniform"] = "learned",
        mean: bool = False,
    ) -> Tensor:
        """n draws of x, (n, *image_shape); `mean` leaves the decoder's noise out."""
        return self.sample_trace(n, generator=generator, prior=prior, mean=mean).result

    @former("n", "prior", "mean", "seed")
    def sample_trace(
        self,
        n: int = 1,
        *,
        generator: torch.Generator | None = None,
        prior: Literal["learned", "uniform"] = "learned",
        mean: bool = False,
    ) -> Trace:
        """`sample` as steps: codes, mean of x, x."""
        with torch.no_grad():
            if prior == "uniform":
                device = self.device if generator is None else generator.device
                codes = torch.randint(self.codes, (n, self.places), generator=generator, device=device)
                codes = codes.to(self.device)
            else:
                codes = self.code_prior.sample(n, generator=generator).long()
            steps = [
                Step(f"Draw {self.places} codes from the {prior} prior.", {"codes": codes}, r"k\sim p(k)")
            ]
            x = self.decode(codes)
            steps.append(Step("The decoder answers with the mean of x.", {"mean": x}, r"f(e_k)"))
            if not mean:
                x = bernoulli(x, generator)
                equation = r"x_d\sim\mathrm{Bernoulli}(f_d(e_k))"
                steps.append(Step("Toss one coin a pixel.", {"x": x}, equation))
        return Trace(steps, x)

    # --- Training ---

    def step(self, batch: Any, split: Split) -> Tensor:
        x = batch[0] if isinstance(batch, (tuple, list)) else batch
        features = self.features(x)
        codes, vectors = self.quantize(features)
        through = features + (vectors - features).detach()  # straight through: z_q, with z_e's gradient
        rec = bernoulli_log_prob(in_rows(x), self.logits(through)).sum(-1)
        prior = self.code_log_prob(codes.detach())
        self.log_metric(split, "rec", -rec)
        self.log_metric(split, "elbo", -(rec + prior))
        self.log_metric(split, "uniform", -(rec + self.code_log_prob(codes, "uniform")))
        self.log_metric(split, "perplexity", codes)
        if split == "test":
            self.log_metric(split, "iwae", -(rec + prior))
            self.log_metric(split, "iwae_samples", 1)
        if split == "train" and self.ema is not None and torch.is_grad_enabled():
            self.update_codebook(codes, features.detach())
        book, commitment = vq_losses(features, vectors)
        return (-rec - prior + book + self.beta * commitment).mean()

    @torch.no_grad()
    def update_codebook(self, codes: Tensor, features: Tensor) -> None:
        """Move every code towards the mean of the z_e (B, P, E) that chose it: one step of running means."""
        features = features.to(self.ema_sums.dtype).flatten(0, 1)
        hot = nn.functional.one_hot(codes.flatten(), self.codes).to(features)  # (B·P, K)
        with torch.autocast(features.device.type, enabled=False):  # half precision counts to 256
            sums = hot.T @ features
        keep = cast(float, self.ema)
        self.ema_counts.lerp_(self.all_reduce_sum(hot.sum(0)), 1 - keep)
        self.ema_sums.lerp_(self.all_reduce_sum(sums), 1 - keep)
        counts = self.ema_counts[:, None]
        # a code that is never chosen stays where it is: both its numbers die out
        self.codebook.copy_(torch.where(counts > 1e-5, self.ema_sums / counts.clamp(min=1e-5), self.codebook))


def vq_losses(features: Tensor, vectors: Tensor) -> tuple[Tensor, Tensor]:
    """‖sg(z_e) − e‖² and ‖z_e − sg(e)‖², summed over places and numbers: (B, P, E) -> (B,) each."""
    book = (features.detach() - vectors).square().flatten(1).sum(1)
    commitment = (features - vectors.detach()).square().flatten(1).sum(1)
    return book, commitment
