r"""Decoder of captions: an LSTM that looks at a place of the picture before every word.

    h_0, cell_0 = tanh(W (Σ_i z_i / L) + b)
    γ_t = softmax_i a(z_i, s_{t−1}),   c_t = β_t φ(z, γ_t),   β_t = σ(w·s_{t−1} + b)
    s_t = LSTM([y_{t−1}, c_t], s_{t−1}),   p(y_t | y_<t, c_≤t, x) = softmax(W [s_t, c_t, y_{t−1}] + b)

What φ is, the `Context` says and who reads: Σ_i γ_ti z_i of soft attention, the mean of a pooled picture, or
z at a location that is drawn, or given. All else is the same, the weights too.

Shapes: z (B, L, D); words (B, T); states s (B, H); γ (B, L), of all steps (B, T, L).

Reference: Xu et al. 2015, Show, attend and tell, arXiv:1502.03044, 3.1.2 (the gate: 4.2.1).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.recurrent.cell import State
from modules.recurrent.context import Context, FixedContext, Memory, SoftAttention
from modules.recurrent.hard_attention import look
from modules.recurrent.lstm import LSTMCell

IGNORED = -100  # a target that is not predicted, as in torch's cross_entropy
Locate = Callable[[Tensor, int], Tensor]  # γ_t (B, L) and t -> a location of each row, (B,) int64


@dataclass(frozen=True)
class Caption:
    """State of B captions that are being written; `caption[rows]` are those rows.

    Attributes:
        state: of the LSTM. memory, mask: of the pictures, see `Context`.
        gamma: (B, L), weights of the step that led here, one-hot of a hard one; None before the first.
    """

    state: State
    memory: Memory
    mask: Tensor
    gamma: Tensor | None = None

    def __getitem__(self, rows: Tensor) -> "Caption":
        gamma = None if self.gamma is None else self.gamma[rows]
        return Caption(self.state[rows], tuple(kept[rows] for kept in self.memory), self.mask[rows], gamma)


@dataclass(frozen=True)
class Reading:
    """All steps of captions that are given.

    Attributes:
        logits: (B, T, V). gamma: (B, T, L). states: s_{t−1} (B, T, H), from which step t looks.
        log_q: log γ of the location that was looked at, (B, T); 0 where none was chosen.
    """

    logits: Tensor
    gamma: Tensor
    states: Tensor
    log_q: Tensor

    def log_p(self, target: Tensor) -> Tensor:
        """log p(y_t | c_≤t, y_<t), (B, T), 0 at pads."""
        return -F.cross_entropy(self.logits.mT, target, ignore_index=IGNORED, reduction="none")


class AttentiveLSTM(nn.Module):
    """LSTM over the words of captions, told of the picture by a context.

    Args:
        vocab_size: V. width: D, of z. embedding: of a word. hidden: H.
        score_width: of the hidden layer of the score; None is H.
        pooled: the context is the mean of z, whatever the state is; else it is soft attention.
        gate: False has β = 1.
    """

    def __init__(
        self,
        vocab_size: int,
        width: int,
        embedding: int,
        hidden: int,
        score_width: int | None = None,
        pooled: bool = False,
        gate: bool = True,
    ) -> None:
        super().__init__()
        self.first_state = nn.Linear(width, 2 * hidden)
        self.context: Context
        if pooled:
            self.context = FixedContext(width, "mean")
        else:
            self.context = SoftAttention(hidden, width, "additive", score_width)
        self.gate = nn.Linear(hidden, 1) if gate else None
        self.embedding = nn.Embedding(vocab_size, embedding)
        self.cell = LSTMCell(embedding + width, hidden)
        self.head = nn.Linear(hidden + width + embedding, vocab_size)

    def start(self, z: Tensor) -> Caption:
        """State before the first word, of pictures with features z (B, L, D)."""
        h, cell = self.first_state(z.mean(1)).tanh().chunk(2, 1)
        mask = torch.ones(z.shape[:2], dtype=torch.bool, device=z.device)
        return Caption(State(h, cell), self.context.remember(z, mask), mask)

    def attend(self, now: Caption, context: Context | None = None) -> tuple[Tensor, Tensor]:
        """φ(z, γ_t) (B, D), as yet without its gate, and γ_t (B, L); of another context if one is given."""
        return (context or self.context)(now.state.h, now.memory, now.mask)

    def advance(self, y: Tensor, c: Tensor, now: Caption) -> tuple[Tensor, Caption]:
        """One step: embedded y_{t−1} (B, E) and φ (B, D) -> [s_t, c_t, y_{t−1}], of which the head makes
        logits, and the state after it."""
        if self.gate is not None:
            c = self.gate(now.state.h).sigmoid() * c
        state = self.cell(torch.cat([y, c], 1), now.state)
        return torch.cat([state.h, c, y], 1), replace(now, state=state)

    def read(
        self, now: Caption, inputs: Tensor, locate: Locate | None = None, expected: Tensor | None = None
    ) -> Reading:
        """Read <bos> and the gold words y_1 … y_{T−1}.

        Args:
            inputs: (B, T).
            locate: chooses the location at which a step looks; None reads by the context itself.
            expected: (B,), True where the expectation Σ_i γ_ti z_i stands for the location all the same.
        """
        heads, gammas, states, log_q = [], [], [], []
        for t, y in enumerate(self.embedding(inputs).unbind(1)):
            states.append(now.state.h)
            c, gamma = self.attend(now)
            chosen = torch.zeros_like(gamma[:, 0])
            if locate is not None:
                location = locate(gamma, t)
                there, chosen = look(now.memory[-1], location), log_weight(gamma, location)
                c = there if expected is None else torch.where(expected[:, None], c, there)
                chosen = chosen if expected is None else chosen.masked_fill(expected, 0.0)
            head, now = self.advance(y, c, now)
            heads.append(head)
            gammas.append(gamma)
            log_q.append(chosen)
        logits = self.head(torch.stack(heads, 1))
        return Reading(logits, torch.stack(gammas, 1), torch.stack(states, 1), torch.stack(log_q, 1))


def log_weight(gamma: Tensor, location: Tensor) -> Tensor:
    """log γ at a location of each row, finite also where γ is 0: (B, L), (B,) -> (B,)."""
    weight = gamma.gather(1, location[:, None])[:, 0]
    return weight.clamp_min(torch.finfo(gamma.dtype).tiny).log()


class CaptionDecoder:
    """`IncrementalDecoder` of captions: a picture is encoded once, a step costs one of the LSTM.

    Args:
        begin: makes a state of pictures (B, C, H, W).
        lstm: advances it. context: where it looks. bos: the token before the first word.
    """

    def __init__(
        self, begin: Callable[[Tensor], Caption], lstm: AttentiveLSTM, context: Context, bos: int
    ) -> None:
        self.begin, self.lstm, self.context, self.bos = begin, lstm, context, bos

    def start(self, source: Tensor, padding: Tensor | None = None) -> tuple[Tensor, Caption]:
        """Look at pictures (B, C, H, W): log p of the first word (B, V), state.

        Raises:
            ValueError: padding is given; pictures have none.
        """
        if padding is not None:
            raise ValueError("Pictures have no padding: leave it out.")
        first = torch.full((len(source),), self.bos, device=source.device)
        return self.step(self.begin(source), first)

    def step(self, state: Caption, token: Tensor) -> tuple[Tensor, Caption]:
        """Read one more word (B,): log p of what comes after it (B, V), state."""
        c, gamma = self.lstm.attend(state, self.context)
        head, state = self.lstm.advance(self.lstm.embedding(token), c, state)
        return self.lstm.head(head).log_softmax(-1), replace(state, gamma=gamma)
