r"""Captioning, show, attend and tell: an LSTM writes a picture's caption, looking at a place for each word.

    z_1 … z_L = CNN(x)                                                           `grid_features`
    p(y_t | y_<t, c_≤t, x) = LSTM(y_<t, c_≤t),    c_t = φ(z, γ_t)                `caption_decoder`
    soft: φ = Σ_i γ_ti z_i      hard: φ = one z_i, drawn from γ_t      pooled: φ = Σ_i z_i / L

Soft and hard attention differ in φ and in nothing else: both are conditional models of captions, one of them
with latent locations ([DGM] calls hard generative and soft discriminative). Soft has log p(y | x), and is
trained on it by backpropagation; λ Σ_i (1 − Σ_t γ_ti)² may be added, that every place be looked at about
once. Hard has log p(y | x) by all L^T paths, and otherwise 𝓛, on which it is trained by sampling
(`hard_captions`); it may start as soft attention.

Shapes: pictures (B, C, H, W); z (B, L, D); captions (B, T), −100 behind their <eos>; γ (B, T, L).

References: Xu et al. 2015, Show, attend and tell, ICML, arXiv:1502.03044 ([DGM] deck 2 has it of 2016);
Vinyals et al. 2015, arXiv:1411.4555 (the pooled vector).
"""

import math
from collections.abc import Sequence
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import BatchShard, Mean, Module, Split, require
from modules.language import decoding
from modules.language.truncation import SamplingParams
from modules.noise import Generators, per_example
from modules.recurrent.caption_decoder import IGNORED, AttentiveLSTM, Caption, CaptionDecoder
from modules.recurrent.context import SoftAttention
from modules.recurrent.grid_features import GridEncoder, pointing
from modules.recurrent.hard_attention import HardContext, log_marginal
from modules.recurrent.hard_captions import Baseline, ScoreFunctionLoss, along_draws, along_paths

POINTING = "pointing", "mass", "area"
OF_HARD = {
    "draws": 1, "baseline": "average", "to_go": True, "entropy_weight": 0.0, "expected": 0.0,
    "warm_start_epochs": 0,
}  # fmt: skip
Batch = tuple[Tensor, Tensor, Tensor, Tensor]


class Captioner(Module):
    """Captioner with soft, hard or no attention.

    Measures `nll`, or `elbo` of hard attention (log p of words given draws), in nats per word, <eos>
    counted; of validation and test also `exact`, the share of captions that greedy decoding writes without an
    error, and of attention `pointing`, `mass` and `area` over words that have a box, see `pointing`.

    Args:
        image_shape: (C, H, W). vocab_size: V.
        context: "soft" or "hard" attention, or "pooled", the mean of all places.
        normalize: LayerNorm of each z_i; without it hard attention learns to look away from objects.
        freeze: keep the encoder as it is, such as that of an `AttributeClassifier`.
        positions: add to each z_i a learned vector of its place, of which convolution knows the edges alone.
        channels, kernel: of the encoder, see `GridEncoder`.
        embedding: of a word. hidden: H. score_width: of the score's hidden layer; None is H.
        gate: False has β = 1.
        penalty: λ of soft attention.
        draws: M, of hard attention, as all that follow. baseline, to_go, entropy_weight: see
            `ScoreFunctionLoss`.
        expected: probability with which a caption of training has all draws replaced by their expectation
            (Xu et al. take ½): the gradient is biased then.
        warm_start_epochs: epochs before, in which it is trained as soft attention.
        bos, eos: tokens before and at the end of a caption.

    Raises:
        ValueError: an argument is out of range, or is of another context.

    Example:
        >>> model = Captioner((3, 32, 32), vocab_size=9, embedding=4, hidden=6)
        >>> pictures, captions = torch.zeros(2, 3, 32, 32), torch.tensor([[3, 4, 1], [5, 1, -100]])
        >>> model.log_prob(captions, pictures).shape, model.caption(pictures, length=5).shape[0]
        (torch.Size([2]), 2)
    """

    def __init__(
        self, image_shape: Sequence[int], vocab_size: int,
        context: Literal["soft", "hard", "pooled"] = "soft",
        normalize: bool = True, freeze: bool = True, positions: bool = False,
        channels: Sequence[int] = (16, 32, 48), kernel: int = 4,
        embedding: int = 32, hidden: int = 128, score_width: int | None = None, gate: bool = True,
        penalty: float = 0.0, draws: int = 1, baseline: Baseline = "average", to_go: bool = True,
        entropy_weight: float = 0.0, expected: float = 0.0, warm_start_epochs: int = 0, bos: int = 0,
        eos: int = 1, **training: Any,
    ) -> None:  # fmt: skip
        require(1, vocab_size=vocab_size, embedding=embedding, hidden=hidden, draws=draws)
        require(0, penalty=penalty, warm_start_epochs=warm_start_epochs)
        require(0, below=vocab_size, bos=bos, eos=eos)
        if context not in ("soft", "hard", "pooled"):
            raise ValueError(f"context is {context!r}: it must be soft, hard or pooled.")
        if not 0 <= expected <= 1:
            raise ValueError(f"expected is {expected}: it must be from 0 to 1.")
        if penalty and context != "soft":
            raise ValueError(f"penalty is {penalty}: it is of soft attention.")
        if score_width is not None and context == "pooled":
            raise ValueError(f"score_width is {score_width}: a pooled picture has no scores.")
        of_hard = {
            "draws": draws, "baseline": baseline, "to_go": to_go, "entropy_weight": entropy_weight,
            "expected": expected, "warm_start_epochs": warm_start_epochs,
        }  # fmt: skip
        if context != "hard" and of_hard != OF_HARD:
            raise ValueError(f"{', '.join(OF_HARD)} are of hard attention: leave them out.")
        names = ["elbo" if context == "hard" else "nll", "exact", *(POINTING if context != "pooled" else ())]
        super().__init__(_measures={name: Mean() for name in names}, **training)
        self.hard, self.attends = context == "hard", context != "pooled"
        self.frozen, self.penalty = freeze, penalty
        self.draws, self.expected, self.warm_start_epochs = draws, expected, warm_start_epochs
        self.bos, self.eos, self.hidden = bos, eos, hidden
        self.encoder = GridEncoder(image_shape, channels, kernel).requires_grad_(not freeze)
        D = self.encoder.width
        self.norm = nn.LayerNorm(D) if normalize else nn.Identity()
        L = math.prod(self.encoder.grid)
        self.place = nn.Parameter(torch.zeros(L, D)) if positions else None
        self.decoder = AttentiveLSTM(vocab_size, D, embedding, hidden, score_width, context == "pooled", gate)
        self.score_function = (
            ScoreFunctionLoss(hidden, baseline, to_go, entropy_weight) if self.hard else None
        )

    def begin(self, picture: Tensor) -> Caption:
        """State before the first word of the captions of pictures (B, C, H, W)."""
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.frozen):
            z = self.encoder(picture.to(self.dtype))
        z = self.norm(z)
        return self.decoder.start(z if self.place is None else z + self.place)

    def inputs(self, target: Tensor) -> Tensor:
        """<bos> and the words before each of targets (B, T)."""
        return F.pad(target, (1, 0), value=self.bos)[:, :-1].masked_fill(target == IGNORED, self.bos)

    # --- training -------------------------------------------------------------------------------------

    def step(self, batch: Batch, split: Split) -> Tensor:
        """Mean loss of a word, of (pictures, inputs, targets, boxes (B, T, 4))."""
        picture, inputs, target, boxes = batch
        now = self.begin(picture)
        if self.score_function is not None:
            loss, gamma = self.hard_step(now, batch, split)
        else:
            reading, words = self.decoder.read(now, inputs), target != IGNORED
            log_p, gamma = reading.log_p(target), reading.gamma
            looks = (gamma * words[..., None]).sum(1)  # (B, L)
            loss = (self.penalty * (1 - looks).square().sum() - log_p.sum()) / words.sum()
            self.log_metric(split, "nll", -log_p[words].detach())
        if split != "train":
            self.judge(picture, target, gamma, boxes, split)
        return loss

    def hard_step(self, now: Caption, batch: Batch, split: Split) -> tuple[Tensor, Tensor]:
        """Mean loss of a word, and γ (B, T, L), the mean of the draws."""
        picture, inputs, target, _ = batch
        training = split == "train"
        expected = self.expected if training else 0.0
        if training and self.current_epoch < self.warm_start_epochs:
            expected = 1.0
        generator = None if training else per_example(picture)
        reading = along_draws(self.decoder, now, inputs, self.draws, generator, expected)
        target = target.repeat(self.draws, 1)
        log_p, words = reading.log_p(target), target != IGNORED
        assert self.score_function is not None
        loss, earned = self.score_function(reading, log_p, words)
        if training and self.score_function.average is not None:
            total = self.all_reduce_sum(torch.stack([earned.sum(), words.sum().to(earned)]))
            self.score_function.average.update(total[0] / total[1])
        self.log_metric(split, "elbo", log_p[words].detach())
        return loss.sum() / words.sum(), reading.gamma.unflatten(0, (self.draws, len(inputs))).mean(0)

    @torch.no_grad()
    def judge(self, picture: Tensor, target: Tensor, gamma: Tensor, boxes: Tensor, split: Split) -> None:
        """Measure captions written without help, and maps γ against boxes."""
        written = self.caption(picture, target.shape[1])
        written = F.pad(written, (0, target.shape[1] - written.shape[1]), value=self.eos)
        self.log_metric(split, "exact", ((written == target) | (target == IGNORED)).all(1).float())
        if self.attends:
            scored = boxes.any(-1)  # (B, T)
            measured = pointing(gamma[scored], self.encoder.inside(boxes[scored]))
            for name, values in zip(POINTING, measured, strict=True):
                self.log_metric(split, name, values)

    def loss_terms(self, batch: Batch) -> Tensor:
        return (batch[2] != IGNORED).sum()

    # --- surfaces -------------------------------------------------------------------------------------

    def log_prob(self, target: Tensor, source: Tensor) -> Tensor:
        """log p(caption | picture), (B,) in nats: target (B, T), source (B, C, H, W).

        Raises:
            ValueError: attention is hard, and a caption has more than 4096 paths.
        """
        if not self.hard:
            return self.decoder.read(self.begin(source), self.inputs(target)).log_p(target).sum(1)
        each = [log_marginal(*self.by_paths(y, x)) for y, x in zip(target, source, strict=True)]
        return torch.stack(each) if each else source.new_zeros(0, dtype=self.dtype)

    def by_paths(self, target: Tensor, source: Tensor) -> tuple[Tensor, Tensor]:
        """log q and log p of one caption (T,) along every path of locations in one picture, (L^T,) each."""
        target = target[target != IGNORED][None]
        return along_paths(self.decoder, self.begin(source[None]), self.inputs(target), target)

    def by_draws(
        self, target: Tensor, source: Tensor, draws: int = 16, generator: Generators = None
    ) -> Tensor:
        """log p(caption | locations, picture) along paths that are drawn, (draws, B); of soft attention it is
        log p itself. The mean of its rows estimates 𝓛, their logsumexp less ln draws 𝓛_K, K = draws."""
        if not self.hard:
            return self.log_prob(target, source).expand(draws, -1)
        reading = along_draws(self.decoder, self.begin(source), self.inputs(target), draws, generator)
        return reading.log_p(target.repeat(draws, 1)).sum(1).unflatten(0, (draws, len(target)))

    def elbo(
        self, target: Tensor, source: Tensor, *, draws: int = 16, generator: Generators = None
    ) -> Tensor:
        """Estimate of 𝓛 ≤ log p(caption | picture), (B,) in nats, the mean of so many draws."""
        return self.by_draws(target, source, draws, generator).mean(0)

    def iwae(
        self, target: Tensor, source: Tensor, *, draws: int = 16, generator: Generators = None
    ) -> Tensor:
        """Estimate of 𝓛_K, K = draws, (B,) in nats; it rises to log p(caption | picture) with K."""
        log_p = self.by_draws(target, source, draws, generator)
        return log_p.logsumexp(0) - torch.tensor(float(draws)).log()

    def incremental_decoder(
        self, location: Literal["sample", "argmax"] = "argmax", generator: torch.Generator | None = None
    ) -> CaptionDecoder:
        """Decoder of captions, whose source are the pictures. Hard attention takes the heaviest location, or
        samples it; all else has no use for either."""
        context = self.decoder.context
        if self.hard and isinstance(context, SoftAttention):
            context = HardContext(context, location, generator)
        return CaptionDecoder(self.begin, self.decoder, context, self.bos)

    def caption(
        self, picture: Tensor, length: int = 32, *, temperature: float = 0.0,
        generator: torch.Generator | None = None,
    ) -> Tensor:  # fmt: skip
        """Write captions of pictures, (B, T), T ≤ length; behind an <eos> only more of it.

        Args:
            length: the most words. temperature: divides the logits; 0 is greedy.
        """
        params = SamplingParams(temperature=temperature)
        steps = decoding.stream(self.incremental_decoder(), picture, length, params, self.eos, generator)
        return torch.stack([token for _, token in steps], 1)

    def predict_step(self, batch: Any, batch_idx: int) -> Tensor:
        """Captions of the pictures of a batch, (B, T)."""
        if isinstance(batch, BatchShard):
            return super().predict_step(batch, batch_idx)
        return self.caption(batch[0], batch[2].shape[1])
