r"""The game of two networks: a discriminator learns to tell made from real, a generator to be taken for real.

    once a batch         φ ← φ − η ∇ L_D(f(x), f(g(z)))          g(z) is held fixed
    every n_D batches    θ ← θ − η ∇ L_G(f(g(z)))  n_G times      new z each, through the D just moved
    after that           θ̄ ← a θ̄ + (1 − a) θ                      the generator that samples and ships

Each turn moves the weights of one player alone: the other's have neither a step nor a gradient. Batch norms
follow every pass in training mode, G's also where it makes examples for D's turn. Real and made examples go
through D as two batches.

The averaged generator starts as a copy of the first and forgets it: a = min(decay, (1 + t)/(10 + t)) after t
turns of G.

Shapes: z (B, K), x (B, ...), D's outputs (B,).

References: Goodfellow et al. 2014, arXiv:1406.2661; Heusel et al. 2017 (two rates), arXiv:1706.08500; Yazıcı
et al. 2019 (averaging), arXiv:1806.04498; Mescheder et al. 2018 (which games converge), arXiv:1801.04406;
[UDL] §15.1.2, figs 15.1–15.2.
"""

import copy
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Literal, cast

import torch
from torch import Tensor, nn
from torch.distributions import Distribution, Independent, Normal, Uniform

from modules.adversarial.diversity import MinibatchStd
from modules.adversarial.judges import judges_of
from modules.adversarial.losses import LOSSES, clip_weights, gradient_penalty, with_spectral_norm
from modules.adversarial.players import Players, Turn
from modules.adversarial.truncation import truncated
from modules.base import BatchShard, Mean, Split, require
from modules.trace import Step, Trace


class Game(Players):
    """Base of every game of two: a subclass makes both networks and hands them to `enter`.

    Args:
        event_shape: of one example.
        latent_dim: K. prior: of z, normal(0, 1) or uniform(−1, 1), each number alone.
        loss: see `losses.LOSSES`; loss_settings: of that loss, such as {"divergence": "KL"}.
        d_steps: n_D; g_steps: n_G.
        clip: bound of every weight of D after its turn; None leaves them.
        penalty: λ of the gradient's norm between real and made examples.
        spectral: divide D's layers by their largest singular values.
        discriminator_rate: D's learning rate, where it is not G's.
        ema: decay of the averaged generator; 0 samples from the generator as it is.
        modes, mode_sd: of the mixture that the data come from, where that is known.
    """

    MEASURES: ClassVar[tuple[str, ...]] = ("d", "g")  # losses of both players

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
        metrics = {name: Mean() for name in self.MEASURES} | judges_of(event_shape, modes, mode_sd)
        super().__init__(_measures=metrics, **training)
        self.event_shape, self.latent_dim, self.uniform = tuple(event_shape), latent_dim, prior == "uniform"
        try:
            self.game = LOSSES[loss](**(loss_settings or {}))
        except TypeError:
            raise ValueError(
                f"loss_settings is {loss_settings}: the loss {loss!r} has no such settings."
            ) from None
        self.d_steps, self.g_steps, self.clip, self.penalty = d_steps, g_steps, clip, penalty
        self.spectral, self.discriminator_rate, self.ema = spectral, discriminator_rate, ema
        self.played = nn.Buffer(torch.zeros(2, dtype=torch.int64))  # turns of D and of G so far
        self.looked = 0  # batches of this evaluation

    def enter(self, generator: nn.Module, discriminator: nn.Module) -> None:
        """Take both networks: z (B, K) -> x (B, ...), and x (B, ...) -> (B,).

        Raises:
            ValueError: a penalty on a D that sees how much its batch varies.
        """
        if self.penalty and any(isinstance(module, MinibatchStd) for module in discriminator.modules()):
            raise ValueError("A penalty judges examples one by one: take no minibatch std, or no penalty.")
        self.generator = generator
        self.discriminator = with_spectral_norm(discriminator) if self.spectral else discriminator
        self.averaged = copy.deepcopy(generator).requires_grad_(False) if self.ema else None

    # --- Surfaces -------------------------------------------------------------------------------

    @property
    def prior(self) -> Distribution:
        """p(z), every number alone."""
        one = torch.ones(self.latent_dim, device=self.device, dtype=self.dtype)
        return Independent(Uniform(-one, one) if self.uniform else Normal(0 * one, one), 1)

    def noise(self, n: int, generator: torch.Generator | None = None) -> Tensor:
        """n draws of z, (n, K)."""
        draw = torch.rand if self.uniform else torch.randn
        z = draw(n, self.latent_dim, generator=generator, device=self.device, dtype=self.dtype)
        return 2 * z - 1 if self.uniform else z

    def maker(self) -> nn.Module:
        """The generator that samples: the averaged one where there is one."""
        return self.generator if self.averaged is None else self.averaged

    def joined(self, z: Tensor, **given: Any) -> Tensor:
        """What the generator gets: z, and what is given where the game has conditions."""
        return z

    def decode(self, z: Tensor, **given: Any) -> Tensor:
        """z (B, K) -> x (B, ...)."""
        return self.shown(self.maker()(self.joined(z, **given)))

    def shown(self, x: Tensor) -> Tensor:
        """What both networks call x as the data have it; here the same."""
        return x

    def judge(self, x: Tensor, **given: Any) -> Tensor:
        """D's output, a logit where the game has classes: (B, ...) -> (B,)."""
        return cast(Tensor, self.discriminator(x))

    def sample(
        self, n: int, generator: torch.Generator | None = None, seed: int | None = None,
        truncation: float | None = None, **given: Any,
    ) -> Tensor:  # fmt: skip
        """n made examples, (n, ...); `truncation` keeps each of z's K numbers within so many deviations.

        Raises:
            ValueError: it is not above 0.001, or z is uniform.
        """
        if truncation is None:
            return cast(Tensor, self.sample_trace(n, generator, seed, **given).result)
        if self.uniform:
            raise ValueError("This game draws z evenly from a cube: leave truncation out.")
        if seed is not None:
            generator = torch.Generator(self.device).manual_seed(seed)
        with torch.no_grad():
            z = self.noise(n, generator)
            z[:, : self.latent_dim] = truncated(n, self.latent_dim, truncation, generator).z
            return self.decode(z, **given)

    def sample_trace(
        self, n: int = 1, generator: torch.Generator | None = None, seed: int | None = None, **given: Any
    ) -> Trace:
        """`sample` as steps: the noise, then every layer of the generator."""
        if seed is not None:
            generator = torch.Generator(self.device).manual_seed(seed)
        with torch.no_grad():
            h = self.noise(n, generator)
            steps = [Step(f"Draw z, {self.latent_dim} numbers.", {"z": h}, r"z\sim p(z)")]
            layers, h = self.maker(), self.joined(h, **given)
            for layer in layers if isinstance(layers, nn.Sequential) else [layers]:
                h = layer(h)
                shape = " × ".join(map(str, h.shape[1:]))
                steps.append(Step(f"{type(layer).__name__}: {shape} numbers.", {"h": h}, r"x^*=g(z)"))
        return Trace(steps, self.shown(h))

    # --- Training -------------------------------------------------------------------------------

    def unpack(self, batch: Any) -> tuple[Tensor, dict[str, Any]]:
        """x of a batch, as both networks see it, and what the game is conditioned on."""
        batch = batch.batch if isinstance(batch, BatchShard) else batch
        return (batch[0] if isinstance(batch, (tuple, list)) else batch), {}

    def discriminator_loss(self, x: Tensor, generator: torch.Generator | None = None, **given: Any) -> Tensor:
        """What D minimises in its turn, on x and as many made examples."""
        with torch.no_grad():  # the generator is held fixed
            fake = self.generator(self.joined(self.noise(len(x), generator), **given))
        return self.of_discriminator(x, fake, generator, **given)

    def of_discriminator(
        self, x: Tensor, fake: Tensor, generator: torch.Generator | None = None, **given: Any
    ) -> Tensor:
        """The game's loss of telling what G has made from x."""
        loss = self.game.discriminator(self.judge(x, **given), self.judge(fake, **given))
        if self.penalty:
            critic = partial(self.judge, **given)
            loss = loss + self.penalty * gradient_penalty(critic, x, fake, generator=generator)
        return loss

    def generator_loss(self, x: Tensor, generator: torch.Generator | None = None, **given: Any) -> Tensor:
        """What G minimises in its turn, on new noise."""
        fake = self.generator(self.joined(self.noise(len(x), generator), **given))
        return self.of_generator(fake, x, **given)

    def of_generator(self, fake: Tensor, x: Tensor, **given: Any) -> Tensor:
        """The game's loss of what G has made."""
        of_fake = self.judge(fake, **given)
        return self.game.generator(of_fake, self.judge(x, **given) if self.game.in_pairs else of_fake)

    def checked(self, loss: Tensor) -> Tensor:
        if not self.game.bounded and not bool(loss.detach().isfinite()):
            raise ValueError(
                f"The f-divergence's loss is {float(loss):g}: D's output is beyond what {loss.dtype} can "
                "take e to the power of. Lower the rate, or take JS, GAN or Pearson, which grow slowly."
            )
        return loss

    def turns(self, x: Tensor, generator: torch.Generator | None = None, **given: Any) -> Iterator[Turn]:
        yield from self.turn_of_discriminator(x, generator, **given)
        if self.played[0] % self.d_steps == 0:
            for _ in range(self.g_steps):
                yield from self.turn_of_generator(x, generator, **given)

    def turn_of_discriminator(
        self, x: Tensor, generator: torch.Generator | None = None, **given: Any
    ) -> Iterator[Turn]:
        """One turn, and what follows it."""
        yield "discriminator", self.discriminator_loss(x, generator, **given)
        if self.clip is not None:
            clip_weights(self.discriminator, self.clip)
        self.played[0] += 1

    def turn_of_generator(
        self, x: Tensor, generator: torch.Generator | None = None, **given: Any
    ) -> Iterator[Turn]:
        """One turn, and what follows it."""
        yield "generator", self.generator_loss(x, generator, **given)
        self.played[1] += 1
        self.average()

    @torch.no_grad()
    def average(self) -> None:
        """Move the averaged generator's weights towards those of the generator; take over its statistics."""
        if self.averaged is None:
            return
        t = int(self.played[1])
        decay = min(self.ema, (1 + t) / (10 + t))
        now = self.generator.state_dict()
        for name, mean in self.averaged.state_dict().items():  # statistics of batch norms are taken over
            weighs = mean.is_floating_point() and "running" not in name
            mean.lerp_(now[name], 1 - decay) if weighs else mean.copy_(now[name])

    def players(self) -> dict[str, list[nn.Parameter]]:
        """The weights that each moves in its turn."""
        return {
            "generator": list(self.generator.parameters()),
            "discriminator": list(self.discriminator.parameters()),
        }

    # --- Evaluation -----------------------------------------------------------------------------

    def on_validation_epoch_start(self) -> None:
        self.looked = 0

    on_test_epoch_start = on_validation_epoch_start

    def step(self, batch: Any, split: Split) -> Tensor:
        """D's loss against the averaged generator; the same noise in every evaluation.

        D's batch norms then go by their running statistics, those of real and made batches mixed, which no
        batch of training has: its loss may jump while the samples get better.
        """
        x, given = self.unpack(batch)
        self.looked += 1
        # torch takes 32 bits of a seed: multiples of the golden ratio × 2³² keep the draws apart
        seeded = torch.Generator(self.device).manual_seed((self.looked + self.draw * 0x9E3779B1) % 2**32)
        world = self.trainer.world_size if self._trainer else 1  # each has its part of the batch's noise
        noise = self.noise(len(x) * world, seeded)[self.global_rank :: world]
        fake = self.maker()(self.joined(noise, **given))
        of_real, of_fake = self.judge(x, **given), self.judge(fake, **given)
        loss = self.game.discriminator(of_real, of_fake)
        self.log_metric(split, "d", loss)
        self.log_metric(split, "g", self.game.generator(of_fake, of_real))
        self.look(split, noise, x, fake)
        return loss

    def look(self, split: Split, z: Tensor, x: Tensor, fake: Tensor) -> None:
        """Measure what the averaged generator has made of z."""
        for name in ("w1", "fd"):
            if f"{split}_{name}" in self.meters:
                # in full precision, which a training in half would round the number to
                self.log_metric(split, name, self.shown(x).float(), self.shown(fake).float())
        for name in ("modes", "quality", "kl"):
            if f"{split}_{name}" in self.meters:
                self.log_metric(split, name, self.shown(fake))
