r"""Captioning, show, attend and tell: an LSTM writes a picture's caption, looking at a place for every word.

    z_1 … z_L = CNN(x)                                       h_0, cell_0 = tanh(W (Σ_i z_i / L) + b)
    γ_t = softmax_i a(z_i, s_{t−1}),   c_t = β_t φ(z, γ_t),   β_t = σ(w·s_{t−1} + b)
    s_t = LSTM([y_{t−1}, c_t], s_{t−1}),   p(y_t | y_<t, c_≤t, x) = softmax(W [s_t, c_t, y_{t−1}] + b)

Soft and hard attention differ in φ and in nothing else: Σ_i γ_ti z_i, or one z_i drawn from γ_t. So both are the
same conditional model of captions, one of them with latent locations ([DGM] calls hard generative and soft
discriminative). Soft has log p(y | x), and is trained on it by backpropagation; λ Σ_i (1 − Σ_t γ_ti)² may
be added, that every place be looked at about once. Hard has log p(y | x) by all L^T paths, and otherwise 𝓛,
on which it is trained by sampling (`modules.recurrent.hard_attention`).

Shapes: pictures (B, C, H, W); z (B, L, D); captions (B, T), −100 behind their <eos>; γ (B, T, L).

References: Xu et al. 2015, Show, attend and tell, ICML, arXiv:1502.03044 ([DGM] deck 2 has it of 2016);
Vinyals et al. 2015, arXiv:1411.4555 (the pooled vector).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import BatchShard, Mean, Module, Split, require
from modules.language import decoding
from modules.language.truncation import SamplingParams
from modules.noise import per_example, pick, uniform32
from modules.recurrent.cell import State
from modules.recurrent.context import Context, Memory, SoftAttention
from modules.recurrent.grid_features import AttributeClassifier, GridEncoder, pointing
from modules.recurrent.hard_attention import HardContext, MovingAverage, all_paths, look, reward, surrogate
from modules.recurrent.lstm import LSTMCell

IGNORED = -100  # a target that is not predicted, as in torch's cross_entropy
POINTING = "pointing", "mass", "area"
Batch = tuple[Tensor, Tensor, Tensor, Tensor]


@dataclass(frozen=True)
class Caption:
    """State of B captions that are being written; `caption[rows]` are those rows.

    Attributes:
        state: of the LSTM. memory: of the pictures, see `Context`.
        gamma: (B, L), weights of the step that led here, one-hot of a hard one; None before the first.
    """

    state: State
    memory: Memory
    gamma: Tensor | None = None

    def __getitem__(self, rows: Tensor) -> "Caption":
        gamma = None if self.gamma is None else self.gamma[rows]
        return Caption(self.state[rows], tuple(kept[rows] for kept in self.memory), gamma)


@dataclass(frozen=True)
class Reading:
    """All steps of captions that are given.

    Attributes:
        logits: (B, T, V). gamma: (B, T, L). states: s_{t−1} (B, T, H), from which step t looks.
        log_q: log γ of the location that was drawn, (B, T); 0 where none was.
    """

    logits: Tensor
    gamma: Tensor
    states: Tensor
    log_q: Tensor

    def log_p(self, target: Tensor) -> Tensor:
        """log p(y_t | c_≤t, y_<t), (B, T), 0 at pads."""
        return -F.cross_entropy(self.logits.mT, target, ignore_index=IGNORED, reduction="none")


class Captioner(Module):
    """Captioner with soft or hard attention.

    Measures `nll` of soft attention, or `elbo` of hard (log p of words given draws), in nats per word, <eos>
    counted; of validation and test also `exact`, the share of captions that greedy decoding writes without an
    error, and of a grid `pointing`, `mass` and `area` over words that have a box, see `pointing`.

    Args:
        image_shape: (C, H, W). vocab_size: V.
        attention: "soft" or "hard".
        grid: False pools the features to one vector, which leaves soft attention no choice.
        normalize: LayerNorm of each z_i; without it hard attention learns to look away from objects.
        freeze: keep the encoder as it is.
        channels, kernel: of the encoder, see `GridEncoder`.
        embedding: of a word. hidden: H. score_width: of the score's hidden layer; None is H.
        gate: False has β = 1.
        penalty: λ of soft attention.
        draws: M, of hard attention, as all that follow.
        baseline: "none", "average" (moving), or "learned" (linear in s_{t−1}).
        to_go: reward a draw with the words from it on; False: with all words.
        entropy_weight: λ_e of the entropy bonus.
        expected: probability with which a caption of training has all draws replaced by their expectation
            (Xu et al. take ½): the gradient is biased then.
        bos, eos: tokens before and at the end of a caption.

    Raises:
        ValueError: an argument is out of range, or is of the other attention.

    Example:
        >>> model = Captioner((3, 32, 32), vocab_size=9, embedding=4, hidden=6)
        >>> pictures, captions = torch.zeros(2, 3, 32, 32), torch.tensor([[3, 4, 1], [5, 1, -100]])
        >>> model.log_prob(captions, pictures).shape, model.caption(pictures, length=5).shape[0]
        (torch.Size([2]), 2)
    """

    def __init__(
        self,
        image_shape: Sequence[int],
        vocab_size: int,
        attention: Literal["soft", "hard"] = "soft",
        grid: bool = True,
        normalize: bool = True,
        freeze: bool = True,
        channels: Sequence[int] = (16, 32, 48),
        kernel: int = 4,
        embedding: int = 32,
        hidden: int = 128,
        score_width: int | None = None,
        gate: bool = True,
        penalty: float = 0.0,
        draws: int = 1,
        baseline: Literal["none", "average", "learned"] = "average",
        to_go: bool = True,
        entropy_weight: float = 0.0,
        expected: float = 0.0,
        bos: int = 0,
        eos: int = 1,
        **training: Any,
    ) -> None:
        require(1, vocab_size=vocab_size, embedding=embedding, hidden=hidden, draws=draws)
        require(0, penalty=penalty, entropy_weight=entropy_weight)
        require(0, below=vocab_size, bos=bos, eos=eos)
        if attention not in ("soft", "hard"):
            raise ValueError(f"attention is {attention!r}: it must be soft or hard.")
        if baseline not in ("none", "average", "learned"):
            raise ValueError(f"baseline is {baseline!r}: it must be none, average or learned.")
        if not 0 <= expected <= 1:
            raise ValueError(f"expected is {expected}: it must be from 0 to 1.")
        if attention == "hard" and (penalty or not grid):
            raise ValueError("Hard attention wants a grid and no penalty: both are of soft attention.")
        if attention == "soft" and (draws, baseline, to_go, entropy_weight, expected) != (
            1,
            "average",
            True,
            0,
            0,
        ):
            raise ValueError(
                "draws, baseline, to_go, entropy_weight and expected are of hard attention: leave them out."
            )
        if penalty and not grid:
            raise ValueError(f"penalty is {penalty}: of one location the weight is always 1.")
        names = ["elbo" if attention == "hard" else "nll", "exact"] + (list(POINTING) if grid else [])
        super().__init__(_measures={name: Mean() for name in names}, **training)
        self.hard, self.grid, self.freeze, self.penalty = attention == "hard", grid, freeze, penalty
        self.draws, self.to_go, self.entropy_weight, self.expected = draws, to_go, entropy_weight, expected
        self.bos, self.eos, self.hidden = bos, eos, hidden

        self.encoder = GridEncoder(image_shape, channels, kernel).requires_grad_(not freeze)
        D = self.encoder.width
        self.norm = nn.LayerNorm(D) if normalize else nn.Identity()
        self.first_state = nn.Linear(D, 2 * hidden)
        self.attention = SoftAttention(hidden, D, "additive", score_width)
        self.gate = nn.Linear(hidden, 1) if gate else None
        self.embedding = nn.Embedding(vocab_size, embedding)
        self.cell = LSTMCell(embedding + D, hidden)
        self.head = nn.Linear(hidden + D + embedding, vocab_size)
        self.average = MovingAverage() if self.hard and baseline == "average" else None
        self.value = nn.Linear(hidden, 1) if self.hard and baseline == "learned" else None

    def adopt(self, classifier: AttributeClassifier) -> None:
        """Take over the encoder of a trained classifier, its first layers if this one has fewer."""
        names = self.encoder.state_dict().keys()
        self.encoder.load_state_dict({k: v for k, v in classifier.encoder.state_dict().items() if k in names})

    # --- encoder and one step of the decoder ----------------------------------------------------------

    def begin(self, picture: Tensor) -> Caption:
        """Features of pictures, and the state before the first word."""
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.freeze):
            z = self.encoder(picture)
        z = self.norm(z if self.grid else z.mean(1, keepdim=True))
        h, cell = self.first_state(z.mean(1)).tanh().chunk(2, 1)
        return Caption(State(h, cell), self.attention.remember(z, self.mask(z)))

    @staticmethod
    def mask(z: Tensor) -> Tensor:
        """True at every location, (B, L)."""
        return torch.ones(z.shape[:2], dtype=torch.bool, device=z.device)

    def attend(self, context: Context, now: Caption) -> tuple[Tensor, Tensor]:
        """φ(z, γ_t) (B, D), as yet without its gate, and γ_t (B, L)."""
        return context(now.state.h, now.memory, self.mask(now.memory[-1]))

    def advance(self, y: Tensor, c: Tensor, now: Caption) -> tuple[Tensor, Caption]:
        """One step: y_{t−1} (B, E) and φ (B, D) -> [s_t, c_t, y_{t−1}], which the head reads, and the state."""
        if self.gate is not None:
            c = self.gate(now.state.h).sigmoid() * c
        state = self.cell(torch.cat([y, c], 1), now.state)
        return torch.cat([state.h, c, y], 1), replace(now, state=state)

    # --- all steps ------------------------------------------------------------------------------------

    def read(
        self,
        now: Caption,
        inputs: Tensor,
        path: Tensor | None = None,
        uniforms: Tensor | None = None,
        expected: Tensor | None = None,
    ) -> Reading:
        """Read <bos> and the gold words y_1 … y_{T−1}, `inputs` (B, T), in B pictures.

        Args:
            path: (B, T), locations; without them soft attention reads, or locations are drawn by
            uniforms: (B, T), numbers in [0, 1).
            expected: (B,), True where the expectation of the context stands for the draw.
        """
        heads, gammas, states, log_q = [], [], [], []
        for t, y in enumerate(self.embedding(inputs).unbind(1)):
            states.append(now.state.h)
            c, gamma = self.attend(self.attention, now)
            drawn = torch.zeros_like(gamma[:, 0])
            if path is not None or uniforms is not None:
                location = path[:, t] if path is not None else pick(gamma.detach(), uniforms[:, t])  # type: ignore[index]
                drawn = (
                    gamma.gather(1, location[:, None])[:, 0].clamp_min(torch.finfo(gamma.dtype).tiny).log()
                )
                there = look(now.memory[-1], location)
                c = there if expected is None else torch.where(expected[:, None], c, there)
                drawn = drawn if expected is None else drawn.masked_fill(expected, 0.0)
            head, now = self.advance(y, c, now)
            heads.append(head)
            gammas.append(gamma)
            log_q.append(drawn)
        return Reading(
            self.head(torch.stack(heads, 1)), *(torch.stack(s, 1) for s in (gammas, states, log_q))
        )

    def inputs(self, target: Tensor) -> Tensor:
        """<bos> and the words before each of targets (B, T)."""
        return F.pad(target, (1, 0), value=self.bos)[:, :-1].masked_fill(target == IGNORED, self.bos)

    def drawn(self, now: Caption, inputs: Tensor, draws: int, generator: Any, mixed: bool = False) -> Reading:
        """Read B captions M times along paths that are drawn: rows are those of the first draw, the second, …"""
        rows = torch.arange(len(inputs), device=inputs.device).repeat(draws)
        u = uniform32((inputs.shape[1], draws, len(inputs)), generator).to(now.state.h).flatten(1).mT
        expected = torch.rand(len(rows), device=rows.device) < self.expected if mixed else None
        return self.read(now[rows], inputs[rows], uniforms=u, expected=expected)

    # --- training -------------------------------------------------------------------------------------

    def step(self, batch: Batch, split: Split) -> Tensor:
        """Mean loss of a word, of (pictures, inputs, targets, boxes (B, T, 4))."""
        picture, inputs, target, boxes = batch
        now, words = self.begin(picture), target != IGNORED
        if self.hard:
            M, generator = self.draws, None if split == "train" else per_example(picture)
            reading = self.drawn(now, inputs, M, generator, mixed=split == "train" and self.expected > 0)
            target, words, boxes = target.repeat(M, 1), words.repeat(M, 1), boxes.repeat(M, 1, 1)
            log_p = reading.log_p(target)
            loss = self.score_function_loss(reading, log_p, words, split)
            self.log_metric(split, "elbo", log_p[words].detach())
        else:
            reading = self.read(now, inputs)
            log_p = reading.log_p(target)
            looks = (reading.gamma * words[..., None]).sum(1)  # (B, L)
            loss = -log_p.sum(1) + self.penalty * (1 - looks).square().sum(1)
            self.log_metric(split, "nll", -log_p[words].detach())
        if split != "train":
            self.judge(picture, batch[2], reading.gamma, boxes, split)
        return loss.sum() / words.sum()

    def score_function_loss(self, reading: Reading, log_p: Tensor, words: Tensor, split: Split) -> Tensor:
        """Loss (M B,) whose gradient is the estimate of −∂𝓛, and of the squared error of a learned baseline."""
        bonus = None
        if self.entropy_weight:
            bonus = torch.special.entr(reading.gamma).sum(-1) * words
        log_q = reading.log_q * words
        value = self.value(reading.states.detach())[..., 0] if self.value is not None else None
        baseline = self.average(words, self.to_go) if self.average is not None else value
        baseline = 0.0 if baseline is None else baseline
        loss = -surrogate(log_p, log_q, baseline, self.to_go, bonus, self.entropy_weight)
        rewarded = reward(log_p, self.to_go, bonus, self.entropy_weight)
        if self.average is not None and split == "train":
            gained = log_p if bonus is None else log_p + self.entropy_weight * bonus
            total = self.all_reduce_sum(torch.stack([gained.detach().sum(), words.sum().to(gained)]))
            self.average.update(total[0] / total[1])
        if value is not None:
            loss = loss + ((rewarded - value).square() * words).sum(1)
        return loss

    @torch.no_grad()
    def judge(self, picture: Tensor, target: Tensor, gamma: Tensor, boxes: Tensor, split: Split) -> None:
        """Measure captions written without help, and maps against boxes."""
        words = target != IGNORED
        written = self.caption(picture, target.shape[1])
        written = F.pad(written, (0, target.shape[1] - written.shape[1]), value=self.eos)
        self.log_metric(split, "exact", ((written == target) | ~words).all(1).float())
        scored = boxes.any(-1)  # (B, T)
        if self.grid:
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
            return self.read(self.begin(source), self.inputs(target)).log_p(target).sum(1)
        each = [
            (log_q + log_p).logsumexp(0)
            for pair in zip(target, source, strict=True)
            for log_q, log_p in [self.by_paths(*pair)]
        ]
        return torch.stack(each) if each else source.new_zeros(0)

    def by_paths(self, target: Tensor, source: Tensor) -> tuple[Tensor, Tensor]:
        """log q and log p of one caption (T,) along every path of locations in one picture, (L^T,) each."""
        target = target[target != IGNORED][None]
        now = self.begin(source[None])
        path = all_paths(now.memory[-1].shape[1], target.shape[1]).to(target.device)
        rows = path.new_zeros(len(path))
        reading = self.read(now[rows], self.inputs(target)[rows], path)
        return reading.log_q.sum(1), reading.log_p(target[rows]).sum(1)

    def elbo(self, target: Tensor, source: Tensor, *, draws: int = 16, generator: Any = None) -> Tensor:
        """Estimate of 𝓛 ≤ log p(caption | picture), (B,) in nats, the mean of so many draws; of soft attention
        it is log p itself."""
        return self.along_draws(target, source, draws, generator).mean(0)

    def iwae(self, target: Tensor, source: Tensor, *, draws: int = 16, generator: Any = None) -> Tensor:
        """Estimate of 𝓛_K, K = draws, (B,) in nats; it rises to log p(caption | picture) with K."""
        log_p = self.along_draws(target, source, draws, generator)
        return log_p.logsumexp(0) - torch.tensor(float(draws)).log()

    def along_draws(self, target: Tensor, source: Tensor, draws: int, generator: Any = None) -> Tensor:
        """log p(caption | locations, picture) along paths that are drawn, (draws, B)."""
        if not self.hard:
            return self.log_prob(target, source).expand(draws, -1)
        reading = self.drawn(self.begin(source), self.inputs(target), draws, generator)
        return reading.log_p(target.repeat(draws, 1)).sum(1).view(draws, -1)

    def incremental_decoder(
        self, location: Literal["sample", "argmax"] = "argmax", generator: torch.Generator | None = None
    ) -> "CaptionDecoder":
        """Decoder of captions, whose source are the pictures. Hard attention takes the heaviest location, or
        samples it; soft attention takes neither."""
        return CaptionDecoder(
            self, HardContext(self.attention, location, generator) if self.hard else self.attention
        )

    def caption(
        self,
        picture: Tensor,
        length: int = 32,
        *,
        temperature: float = 0.0,
        generator: torch.Generator | None = None,
    ) -> Tensor:
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


class CaptionDecoder:
    """`IncrementalDecoder` of a `Captioner`: a picture is encoded once, a step costs one of the LSTM."""

    def __init__(self, model: Captioner, context: Context) -> None:
        self.model, self.context = model, context

    def start(self, source: Tensor, padding: Tensor | None = None) -> tuple[Tensor, Caption]:
        """Look at pictures (B, C, H, W): log p of the first word (B, V), state.

        Raises:
            ValueError: padding is given; pictures have none.
        """
        if padding is not None:
            raise ValueError("Pictures have no padding: leave it out.")
        return self.step(self.model.begin(source), source.new_full((len(source),), self.model.bos).long())

    def step(self, state: Caption, token: Tensor) -> tuple[Tensor, Caption]:
        """Read one more word (B,): log p of what comes after it (B, V), state."""
        c, gamma = self.model.attend(self.context, state)
        head, state = self.model.advance(self.model.embedding(token), c, state)
        return self.model.head(head).log_softmax(-1), replace(state, gamma=gamma)
