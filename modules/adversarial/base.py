r"""GAN: a discriminator learns to tell generated from real, a generator to be taken for real.

    once per batch       φ ← φ − η ∇ L_D(f(x), f(g(z)))          g(z) is held fixed
    every n_D batches    θ ← θ − η ∇ L_G(f(g(z)))  n_G times      new z each, through the D just updated
    after that           θ̄ ← a θ̄ + (1 − a) θ                      the generator that samples and ships

An update moves the weights of one network alone: the other's have neither a step nor a gradient. Batch norms
follow every pass in training mode, G's also where it generates examples for D's update. Real and generated
examples go through D as two batches.

The averaged generator starts as a copy of the first and forgets it: a = min(decay, (1 + t)/(10 + t)) after t
updates of G.

Shapes: z (B, K), x (B, ...), D's output (B,).

References: Goodfellow et al. 2014, arXiv:1406.2661; Heusel et al. 2017 (two rates), arXiv:1706.08500; Yazıcı
et al. 2019 (averaging), arXiv:1806.04498; Mescheder et al. 2018 (which GANs converge), arXiv:1801.04406;
[UDL] §15.1.2, figs 15.1–15.2.
"""

import copy
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Literal, cast

import torch
from torch import Tensor, nn
from torch.distributions import Distribution, Independent, Normal, Uniform

from modules.adversarial.alternating import AlternatingTraining, Update
from modules.adversarial.diversity import MinibatchStd
from modules.adversarial.losses import LOSSES, clip_weights, gradient_penalty, with_spectral_norm
from modules.adversarial.metrics import sample_metrics
from modules.adversarial.truncation import truncated_normal
from modules.base import BatchShard, Mean, Split, require
from modules.former import former
from modules.trace import Step, Trace


class BaseGAN(AlternatingTraining):
    """Base of GANs that turn noise into examples: a subclass builds both networks and hands them to
    `set_networks`.

    Args:
        event_shape: shape of one example.
        latent_dim: K. prior: of z, normal(0, 1) or uniform(−1, 1), each number alone.
        loss: see `losses.LOSSES`; loss_settings: of that loss, such as {"divergence": "KL"}.
        d_steps: n_D; g_steps: n_G.
        clip: bound of every weight of D after its update; None leaves them.
        penalty: λ of the gradient's norm between real and generated examples.
        spectral: divide D's layers by their largest singular values.
        discriminator_rate: D's learning rate, where it is not G's.
        ema: decay of the averaged generator; 0 samples from the generator as it is.
        modes, mode_sd: of the mixture that the data come from, where that is known.
    """

    MEASURES: ClassVar[tuple[str, ...]] = ("d", "g")  # losses of both networks
    FORMER_TENSORS: ClassVar = {"played": "num_updates"}

    def __init__(
        self, *, event_shape: Sequence[int], latent_dim: int = 16,
        prior: Literal["normal", "uniform"] = "normal", loss: str = "non-saturating",
        loss_settings: dict[str, Any] | None = None, d_steps: int = 1, g_steps: int = 1,
        clip: float | None = None, penalty: float = 0.0, spectral: bool = False,
        discriminator_rate: float | None = None, ema: float = 0.999,
        modes: Sequence[Sequence[float]] | None = None, mode_sd: float | None = None, **training: Any,
    ) -> None:  # fmt: skip
        require(1, event_shape=event_shape, latent_dim=latent_dim, d_steps=d_steps, g_steps=g_steps)
        require(0, penalty=penalty, clip=clip or 0, discriminator_rate=discriminator_rate or 0)
        require(0, below=1, ema=ema)
        if not isinstance(loss_settings or {}, Mapping):
            raise ValueError(
                f"loss_settings is {loss_settings}: it must be names and values of the loss's own."
            )
        if prior not in ("normal", "uniform"):
            raise ValueError(f"prior is {prior!r}: it must be normal or uniform.")
        if loss not in LOSSES:
            raise ValueError(f"loss is {loss!r}: choose one of {', '.join(LOSSES)}.")
        metrics = {name: Mean() for name in self.MEASURES} | sample_metrics(event_shape, modes, mode_sd)
        super().__init__(_measures=metrics, **training)
        self.event_shape, self.latent_dim, self.uniform = tuple(event_shape), latent_dim, prior == "uniform"
        try:
            self.gan_loss = LOSSES[loss](**(loss_settings or {}))
        except TypeError:
            raise ValueError(
                f"loss_settings is {loss_settings}: the loss {loss!r} has no such settings."
            ) from None
        self.d_steps, self.g_steps, self.clip, self.penalty = d_steps, g_steps, clip, penalty
        self.spectral, self.discriminator_rate, self.ema = spectral, discriminator_rate, ema
        self.num_updates = nn.Buffer(torch.zeros(2, dtype=torch.int64))  # of D and of G so far
        self.eval_batches = 0  # of this evaluation, so far

    def set_networks(self, generator: nn.Module, discriminator: nn.Module) -> None:
        """Set both networks: z (B, K) -> x (B, ...), and x (B, ...) -> (B,).

        Raises:
            ValueError: a penalty on a D that sees how much its batch varies.
        """
        if self.penalty and any(isinstance(module, MinibatchStd) for module in discriminator.modules()):
            raise ValueError("A penalty is of each example by itself: take no minibatch std, or no penalty.")
        self.generator = generator
        self.discriminator = with_spectral_norm(discriminator) if self.spectral else discriminator
        self.averaged = copy.deepcopy(generator).requires_grad_(False) if self.ema else None

    # --- Surfaces -------------------------------------------------------------------------------

    @property
    def prior(self) -> Distribution:
        """p(z), independent in each number."""
        one = torch.ones(self.latent_dim, device=self.device, dtype=self.dtype)
        return Independent(Uniform(-one, one) if self.uniform else Normal(0 * one, one), 1)

    def noise(self, n: int, generator: torch.Generator | None = None) -> Tensor:
        """n draws of z, (n, K), made on the generator's own device."""
        device = self.device if generator is None else generator.device
        draw = torch.rand if self.uniform else torch.randn
        z = draw(n, self.latent_dim, generator=generator, device=device, dtype=self.dtype).to(self.device)
        return 2 * z - 1 if self.uniform else z

    def ema_generator(self) -> nn.Module:
        """The generator that samples: the averaged one where there is one."""
        return self.generator if self.averaged is None else self.averaged

    def generator_input(self, z: Tensor, **given: Any) -> Tensor:
        """Input of the generator: z, joined with the condition where there is one."""
        return z

    def decode(self, z: Tensor, **given: Any) -> Tensor:
        """z (B, K) -> x (B, ...)."""
        return self.postprocess(self.ema_generator()(self.generator_input(z, **given)))

    def preprocess(self, x: Tensor) -> Tensor:
        """Data -> model units; here the same."""
        return x

    def postprocess(self, x: Tensor) -> Tensor:
        """Model -> data units; here the same."""
        return x

    def discriminate(self, x: Tensor, **given: Any) -> Tensor:
        """D's output, a logit where the loss has classes real and generated: (B, ...) -> (B,)."""
        return cast(Tensor, self.discriminator(x))

    @former("n", "generator", "seed", "truncation")
    def sample(
        self, n: int, *, generator: torch.Generator | None = None, truncation: float | None = None
    ) -> Tensor:
        """n generated examples, (n, ...).

        Args:
            truncation: keeps each of z's K numbers within so many standard deviations.

        Raises:
            ValueError: it is not above 0.001, or z is uniform.
        """
        return cast(Tensor, self._trace(n, generator, truncation).result)

    @former("n", "generator", "seed")
    def sample_trace(self, n: int = 1, *, generator: torch.Generator | None = None) -> Trace:
        """`sample` as steps: the noise, then every layer of the generator."""
        return self._trace(n, generator)

    def draw_z(self, n: int, generator: torch.Generator | None, truncation: float | None) -> Tensor:
        """`noise`, truncated where that is asked for.

        Raises:
            ValueError: the bound is not above 0.001, or z is uniform.
        """
        if truncation is None:
            return self.noise(n, generator)
        if self.uniform:
            raise ValueError("This GAN draws z evenly from a cube: leave truncation out.")
        z = self.noise(n, generator)
        z[:, : self.latent_dim] = truncated_normal(n, self.latent_dim, truncation, generator).z
        return z

    @torch.no_grad()
    def _trace(
        self, n: int, generator: torch.Generator | None, truncation: float | None = None, **given: Any
    ) -> Trace:
        """The steps of `sample` and `sample_trace`."""
        h = self.draw_z(n, generator, truncation)
        steps = [Step(f"Draw z, {self.latent_dim} numbers.", {"z": h}, r"z\sim p(z)")]
        layers, h = self.ema_generator(), self.generator_input(h, **given)
        for layer in layers if isinstance(layers, nn.Sequential) else [layers]:
            h = layer(h)
            shape = " × ".join(map(str, h.shape[1:]))
            steps.append(Step(f"{type(layer).__name__}: {shape} numbers.", {"h": h}, r"x^*=g(z)"))
        return Trace(steps, self.postprocess(h))

    # --- Training -------------------------------------------------------------------------------

    def unpack(self, batch: Any) -> tuple[Tensor, dict[str, Any]]:
        batch = batch.batch if isinstance(batch, BatchShard) else batch
        return self.preprocess(batch[0] if isinstance(batch, (tuple, list)) else batch), {}

    def d_update_loss(self, x: Tensor, generator: torch.Generator | None = None, **given: Any) -> Tensor:
        """Loss of an update of D, on x and as many newly generated examples."""
        with torch.no_grad():  # the generator is held fixed
            fake = self.generator(self.generator_input(self.noise(len(x), generator), **given))
        return self.d_loss(x, fake, generator, **given)

    def d_loss(
        self, x: Tensor, fake: Tensor, generator: torch.Generator | None = None, **given: Any
    ) -> Tensor:
        """D's loss on real and on generated examples."""
        loss = self.gan_loss.discriminator(self.discriminate(x, **given), self.discriminate(fake, **given))
        if self.penalty:
            critic = partial(self.discriminate, **given)
            loss = loss + self.penalty * gradient_penalty(critic, x, fake, generator=generator)
        return loss

    def g_update_loss(self, x: Tensor, generator: torch.Generator | None = None, **given: Any) -> Tensor:
        """Loss of an update of G, on new noise."""
        fake = self.generator(self.generator_input(self.noise(len(x), generator), **given))
        return self.g_loss(fake, x, **given)

    def g_loss(self, fake: Tensor, x: Tensor, **given: Any) -> Tensor:
        """G's loss on what it has generated."""
        of_fake = self.discriminate(fake, **given)
        return self.gan_loss.generator(
            of_fake, self.discriminate(x, **given) if self.gan_loss.in_pairs else of_fake
        )

    def check_loss(self, loss: Tensor) -> Tensor:
        if not self.gan_loss.bounded and not bool(loss.detach().isfinite()):
            raise ValueError(
                f"The f-divergence's loss is {float(loss):g}: D's output is beyond what {loss.dtype} can "
                "take e to the power of. Lower the rate, or take JS, GAN or Pearson, which grow slowly."
            )
        return loss

    def updates(self, x: Tensor, generator: torch.Generator | None = None, **given: Any) -> Iterator[Update]:
        yield from self.update_discriminator(x, generator, **given)
        if self.num_updates[0] % self.d_steps == 0:
            for _ in range(self.g_steps):
                yield from self.update_generator(x, generator, **given)

    def update_discriminator(
        self, x: Tensor, generator: torch.Generator | None = None, **given: Any
    ) -> Iterator[Update]:
        """One update, and what follows it."""
        yield "discriminator", self.d_update_loss(x, generator, **given)
        if self.clip is not None:
            clip_weights(self.discriminator, self.clip)
        self.num_updates[0] += 1

    def update_generator(
        self, x: Tensor, generator: torch.Generator | None = None, **given: Any
    ) -> Iterator[Update]:
        """One update, and what follows it."""
        yield "generator", self.g_update_loss(x, generator, **given)
        self.num_updates[1] += 1
        self.average()

    @torch.no_grad()
    def average(self) -> None:
        """Move the averaged generator's weights towards those of the generator; take over its statistics."""
        if self.averaged is None:
            return
        t = int(self.num_updates[1])
        decay = min(self.ema, (1 + t) / (10 + t))
        now = self.generator.state_dict()
        for name, mean in self.averaged.state_dict().items():  # statistics of batch norms are taken over
            weighs = mean.is_floating_point() and "running" not in name
            mean.lerp_(now[name], 1 - decay) if weighs else mean.copy_(now[name])

    def players(self) -> dict[str, list[nn.Parameter]]:
        return {
            "generator": list(self.generator.parameters()),
            "discriminator": list(self.discriminator.parameters()),
        }

    # --- Evaluation -----------------------------------------------------------------------------

    def on_validation_epoch_start(self) -> None:
        self.eval_batches = 0

    on_test_epoch_start = on_validation_epoch_start

    def step(self, batch: Any, split: Split) -> Tensor:
        """D's loss against the averaged generator; the same noise in every evaluation.

        D's batch norms then go by their running statistics, those of real and generated batches mixed, which
        no batch of training has: its loss may jump while the samples get better.
        """
        x, given = self.unpack(batch)
        self.eval_batches += 1
        # torch takes 32 bits of a seed: multiples of the golden ratio × 2³² keep the draws apart
        seeded = torch.Generator(self.device).manual_seed(
            (self.eval_batches + self.draw * 0x9E3779B1) % 2**32
        )
        world = self.trainer.world_size if self._trainer else 1  # each has its part of the batch's noise
        noise = self.noise(len(x) * world, seeded)[self.global_rank :: world]
        fake = self.ema_generator()(self.generator_input(noise, **given))
        of_real, of_fake = self.discriminate(x, **given), self.discriminate(fake, **given)
        loss = self.gan_loss.discriminator(of_real, of_fake)
        self.log_metric(split, "d", loss)
        self.log_metric(split, "g", self.gan_loss.generator(of_fake, of_real))
        self.log_samples(split, noise, x, fake)
        return loss

    def log_samples(self, split: Split, z: Tensor, x: Tensor, fake: Tensor) -> None:
        """Log metrics of what the averaged generator has made of z."""
        for name in ("w1", "fd"):
            if f"{split}_{name}" in self.meters:
                # in full precision, which a training in half would round the number to
                self.log_metric(split, name, self.postprocess(x).float(), self.postprocess(fake).float())
        for name in ("modes", "quality", "kl"):
            if f"{split}_{name}" in self.meters:
                self.log_metric(split, name, self.postprocess(fake))
