"""Sequence to sequence: an encoder reads the source, a decoder writes the target, told of it by a context.

    z_1 … z_S = encoder(x_1 … x_S)                              both ways: z_j = [h→_j ; h←_j]
    s_0 = tanh(W_s h←_1 + b_s)                                  one way: of the state that was read last
    c_t, γ_t = context(s_{t−1}, z)        s_t = f(s_{t−1}, y_{t−1}, c_t)        y_0 = <bos>
    p(y_t | y_<t, x) = softmax(W [s_t, c_t, y_{t−1}] + b)       log p(y | x) = Σ_t log p(y_t | y_<t, x)

With a fixed context this is the encoder-decoder, c entering every step, or only as s_0 = tanh(W_s c + b_s),
p = softmax(W s_t + b); with soft attention it is RNNsearch, align and translate. An LSTM's cell_0 is a linear
function of the same. [DGM]'s prose calls y_t the word before; its equation has y_{t−1}, as here.

Teacher forcing reads the gold tokens: only there is the loss −log p, and e^loss a perplexity. Free running
reads the model's own most probable tokens: its cross entropy with the gold ones is −log p of nothing.

Shapes: source (B, S), target (B, T), logits (B, T, V), γ (B, T, S).

References: Sutskever, Vinyals, Le 2014, arXiv:1409.3215 (context as s_0, source read backwards); Cho et al.
2014, arXiv:1406.1078 (context at every step); Bahdanau, Cho, Bengio 2015, arXiv:1409.0473; Bengio et al.
2015, arXiv:1506.03099 (scheduled sampling); Press and Wolf 2017, arXiv:1608.05859 (tied); [DGM] deck 1;
[GM] 1.6.2 and 1.6.3, definitions 1.7 to 1.12.
"""

from dataclasses import dataclass
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import Mean, Split, require
from modules.language.translation import Batch, TranslationModel
from modules.recurrent.cell import State
from modules.recurrent.context import (
    POOLINGS,
    SCORES,
    Context,
    FixedContext,
    Memory,
    Pooling,
    Score,
    SoftAttention,
)
from modules.recurrent.stack import Recurrent, reverse


@dataclass(frozen=True)
class Translation:
    """State of B translations; `translation[rows]` are those rows.

    Attributes:
        state: s_t of the decoder. memory, mask: of their sources, see `Context`.
        gamma: (B, S), weights of the step that led here; None before the first.
    """

    state: State
    memory: Memory
    mask: Tensor
    gamma: Tensor | None = None

    def __getitem__(self, rows: Tensor) -> "Translation":
        gamma = None if self.gamma is None else self.gamma[rows]
        return Translation(
            self.state[rows], tuple(kept[rows] for kept in self.memory), self.mask[rows], gamma
        )


class Seq2Seq(TranslationModel):
    """Encoder-decoder with a fixed or an attended context.

    Args:
        vocab_size: V, of the target. source_vocab_size: of the source; None is V.
        context: the score of soft attention, "additive", "dot" or "scaled"; or the pooling of a fixed
            context, "last", "ends", "mean", "max" or "learned".
        every_step: a fixed context enters every step; False: it is the first state alone.
        cell: "rnn", "lstm" or "gru", of encoder and decoder.
        embedding: D, of a token. hidden: H, of a state: of each way of the encoder, and of the decoder.
        score_width: A, of "additive" and "scaled"; None is H.
        layers: of encoder and decoder.
        bidirectional: the encoder reads both ways.
        reverse: a one-way encoder reads the source from its end; z_j is still the state at x_j.
        tied: one table E (V, D) embeds source and target and reads out, p = softmax(E (W […] + b)); then the
            languages have one vocabulary.
        dropout: of embeddings, of what goes from layer to layer and into the head, while training.
        scheduled_sampling: probability that a step of training reads the model's own most probable token.
        bos, eos: tokens before and at the end of a target.

    Raises:
        ValueError: an argument is out of range, or two of them contradict each other.

    Example:
        >>> model = Seq2Seq(vocab_size=5, embedding=4, hidden=6)
        >>> source, target = torch.tensor([[2, 3, 4]]), torch.tensor([[3, 2, 1]])
        >>> logits, gamma = model(source, target)
        >>> logits.shape, gamma.shape, model.log_prob(target, source).shape
        (torch.Size([1, 3, 5]), torch.Size([1, 3, 3]), torch.Size([1]))
    """

    def __init__(
        self,
        vocab_size: int,
        source_vocab_size: int | None = None,
        context: Score | Literal["last", "ends", "mean", "max", "learned"] = "additive",
        every_step: bool = True,
        cell: Literal["rnn", "lstm", "gru"] = "gru",
        embedding: int = 64,
        hidden: int = 128,
        score_width: int | None = None,
        layers: int = 1,
        bidirectional: bool = True,
        reverse: bool = False,
        tied: bool = False,
        dropout: float = 0.0,
        scheduled_sampling: float = 0.0,
        bos: int = 0,
        eos: int = 1,
        **training: Any,
    ) -> None:
        names = ["nll", "forced_accuracy", "free_loss", "free_accuracy"]
        names += ["mixed_loss"] if scheduled_sampling else []  # of training then; no −log p
        super().__init__(vocab_size, bos, eos, _measures={name: Mean() for name in names}, **training)
        sources = vocab_size if source_vocab_size is None else source_vocab_size
        require(1, source_vocab_size=sources, embedding=embedding, hidden=hidden)
        require(0, below=1, dropout=dropout)
        if not 0 <= scheduled_sampling <= 1:
            raise ValueError(f"scheduled_sampling is {scheduled_sampling}: it must be from 0 to 1.")
        if context not in SCORES and (context not in POOLINGS or context == "first"):
            known = ", ".join([*SCORES, *(pooling for pooling in POOLINGS if pooling != "first")])
            raise ValueError(f"context is {context!r}: it must be {known}.")
        if context in SCORES and not every_step:
            raise ValueError(f"context is {context!r}: attention is of every step.")
        if context not in SCORES and score_width is not None:
            raise ValueError(f"score_width is {score_width}: the fixed context {context!r} has no score.")
        if bidirectional and reverse:
            raise ValueError("reverse is True: an encoder that is bidirectional reads backwards already.")
        if context == "ends" and not bidirectional:
            raise ValueError("context is 'ends': an encoder that reads one way has one end, 'last'.")
        if tied and sources != vocab_size:
            raise ValueError(f"source_vocab_size is {sources}: tied languages share all {vocab_size} tokens.")

        self.every_step, self.reverse = every_step, reverse
        self.dropout, self.scheduled_sampling = dropout, scheduled_sampling
        between = dropout if layers > 1 else 0.0
        self.source_embedding = None if tied else nn.Embedding(sources, embedding)
        self.encoder = Recurrent(cell, embedding, hidden, layers, bidirectional, between)
        Z = self.encoder.outputs
        self.context: Context
        if context in SCORES:
            self.context = SoftAttention(hidden, Z, context, score_width)  # type: ignore[arg-type]
        else:  # what a reversed encoder reads last comes first
            pooling: Pooling = "first" if context == "last" and reverse else context  # type: ignore[assignment]
            self.context = FixedContext(Z, pooling)
        W = self.context.width if every_step else 0
        self.embedding = nn.Embedding(vocab_size, embedding)
        if tied:  # logits of the size that a Linear's would have
            nn.init.normal_(self.embedding.weight, std=embedding**-0.5)
        self.decoder = Recurrent(cell, embedding + W, hidden, layers, dropout=between)
        states = 2 if cell == "lstm" else 1  # h, and the LSTM's cell
        self.first_state = nn.Linear(hidden if every_step else Z, states * layers * hidden)  # W_s, b_s
        read_out = hidden + W + embedding if every_step else hidden
        self.head = nn.Linear(read_out, embedding if tied else vocab_size)  # W, b

    # --- encoder and one step of the decoder --------------------------------------------------------

    def source_states(self, source: Tensor, lengths: Tensor | None = None) -> Tensor:
        """z (B, S, Z) of sources (B, S) of `lengths` (B,), in the order of the source."""
        ends = source.new_full(source.shape[:1], source.shape[1]) if lengths is None else lengths
        x = self.drop((self.source_embedding or self.embedding)(source))
        z, _ = self.encoder(reverse(x, ends) if self.reverse else x, lengths=lengths)
        return reverse(z, ends) if self.reverse else z

    def read(self, source: Tensor, lengths: Tensor | None = None) -> Translation:
        """Read sources (B, S) of `lengths` (B,): what the decoder starts from, s_0 and the memory."""
        B, S = source.shape
        ends = source.new_full((B,), S) if lengths is None else lengths
        mask = torch.arange(S, device=source.device) < ends[:, None]
        z = self.source_states(source, lengths)
        memory = self.context.remember(z, mask)
        if not self.every_step:
            told = memory[0]
        elif self.encoder.bidirectional:
            told = z[:, 0, self.encoder.hidden :]  # h←_1, which has read all
        else:
            told = z[:, 0] if self.reverse else z[torch.arange(B, device=z.device), ends - 1]
        shape = B, self.decoder.layers, self.decoder.hidden
        h, *cell = self.first_state(told).split(shape[1] * shape[2], 1)
        state = State(h.tanh().view(shape), *(part.view(shape) for part in cell))
        return Translation(state, memory, mask)

    def advance(self, y: Tensor, now: Translation) -> tuple[Tensor, Translation]:
        """One step: embedded y_{t−1} (B, D) -> what `logits` reads y_t from, and the state after it."""
        c, gamma = self.context(now.state.h[:, -1], now.memory, now.mask)  # by s_{t−1}, the top layer's
        s, state = self.decoder.step(torch.cat([y, c], -1) if self.every_step else y, now.state)
        return self.joined(s, c, y), Translation(state, now.memory, now.mask, gamma)

    def joined(self, s: Tensor, c: Tensor, y: Tensor) -> Tensor:
        """[s_t, c_t, y_{t−1}] where c enters every step, else s_t: (..., R)."""
        return torch.cat([s, c, y], -1) if self.every_step else s

    def logits(self, joined: Tensor) -> Tensor:
        """g(y_{t−1}, s_t, c_t), of any number of steps: (..., R) -> (..., V)."""
        read = self.head(self.drop(joined))
        return read if self.source_embedding is not None else F.linear(read, self.embedding.weight)

    def embed(self, tokens: Tensor) -> Tensor:
        """Embedded tokens of the target, (...) -> (..., D)."""
        return self.drop(self.embedding(tokens))

    def drop(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.dropout, self.training)

    # --- all steps ----------------------------------------------------------------------------------

    def decode(
        self,
        source: Tensor,
        inputs: Tensor,
        lengths: Tensor | None = None,
        own: float = 0.0,
        generator: torch.Generator | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Logits of all steps (B, T, V), and weights γ (B, T, S).

        Args:
            inputs: (B, T), <bos> and the gold tokens y_1 … y_{T−1}.
            own: probability that a step behind the first reads the model's own most probable token instead:
                0 is teacher forcing, 1 free running, where of the gold tokens none is read.
        """
        now, y = self.read(source, lengths), self.embed(inputs)  # (B, T, D)
        if isinstance(self.context, FixedContext) and not own:  # no step waits for the one before
            c, gamma = now.memory
            c, gamma = (each[:, None].expand(-1, inputs.shape[1], -1) for each in (c, gamma))
            s, _ = self.decoder(torch.cat([y, c], -1) if self.every_step else y, now.state)
            return self.logits(self.joined(s, c, y)), gamma
        steps: list[Tensor] = []  # logits where a step reads those before, else all are computed at once
        gammas: list[Tensor] = []
        for t, token in enumerate(y.unbind(1)):
            if t and own:
                swap = torch.rand(len(token), device=token.device, generator=generator) < own
                token = torch.where(swap[:, None], self.embed(steps[-1].detach().argmax(-1)), token)
            joined, now = self.advance(token, now)
            assert now.gamma is not None
            steps.append(self.logits(joined) if own else joined)
            gammas.append(now.gamma)
        told = torch.stack(steps, 1)
        return told if own else self.logits(told), torch.stack(gammas, 1)

    def target_logits(self, source: Tensor, inputs: Tensor, lengths: Tensor | None = None) -> Tensor:
        return self.decode(source, inputs, lengths)[0]

    def forward(self, source: Tensor, target: Tensor, lengths: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Logits (B, T, V) and weights γ (B, T, S) of targets (B, T) under teacher forcing."""
        return self.decode(source, self.inputs(target), lengths)

    # --- training -----------------------------------------------------------------------------------

    def step(self, batch: Batch, split: Split) -> Tensor:
        """Mean nats per token, of (source, lengths, inputs, targets): <eos> counts, pads do not.

        Measures `nll` and `forced_accuracy` under teacher forcing; `free_loss` and `free_accuracy`, of
        validation and test, where the model reads its own tokens; `mixed_loss` of scheduled sampling.
        """
        source, lengths, inputs, targets = batch
        own = self.scheduled_sampling if split == "train" else 0.0
        loss, right = self.judge(self.decode(source, inputs, lengths, own)[0], targets)
        if own:
            self.log_metric(split, "mixed_loss", loss.detach())
        else:
            self.log_metric(split, "nll", loss.detach())
            self.log_metric(split, "forced_accuracy", right)
        if split != "train":
            free, right = self.judge(self.decode(source, inputs, lengths, own=1.0)[0], targets)
            self.log_metric(split, "free_loss", free)
            self.log_metric(split, "free_accuracy", right)
        return loss.mean()

    def incremental_decoder(self) -> "Translator":
        return Translator(self)


class Translator:
    """`IncrementalDecoder` of a `Seq2Seq`: the source is read once, a step costs one of the decoder."""

    def __init__(self, model: Seq2Seq) -> None:
        self.model = model

    def start(self, source: Tensor, padding: Tensor | None = None) -> tuple[Tensor, Translation]:
        """Read sources (B, S), padded on the right: log p of y_1 (B, V), state."""
        lengths = None if padding is None else (~padding).sum(1)
        return self.step(self.model.read(source, lengths), source.new_full((len(source),), self.model.bos))

    def step(self, state: Translation, token: Tensor) -> tuple[Tensor, Translation]:
        """Read one more token (B,): log p of what comes after it (B, V), state."""
        joined, state = self.model.advance(self.model.embed(token), state)
        return self.model.logits(joined).log_softmax(-1), state
