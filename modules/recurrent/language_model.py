"""Recurrent language model: the next token is predicted from a state that has read all tokens before it.

    h_t, state_t = recurrent(E x_t, state_{t−1})        p(x_{t+1} | x_≤t) = softmax(W h_t + b)

    loss = −(1/T) Σ_t log p(x_t | x_<t)  in nats per token,   perplexity = e^loss,   bits = loss / ln 2

Truncated backpropagation through time: a contiguous text is read in chunks of K tokens. The state behind a
chunk is carried to the next, without its gradient: what is computed forward is one pass over the whole text,
and a gradient reaches back K tokens at most. Evaluation carries the state too, from the first token on.

Shapes: `B` texts or streams, `T` tokens, `D` embedding, `H` state, `V` vocabulary.

References:
    Mikolov et al. 2010, Recurrent neural network based language model; Zaremba, Sutskever, Vinyals 2014,
    arXiv:1409.2329 (dropout of what goes up, not of what is carried on); Press, Wolf 2016, arXiv:1608.05859
    (tied weights); Williams, Peng 1990 (truncated backpropagation). [LLM] eq. 1.5-1.7, 1.14-1.15; [GM] 1.6.2.
"""

from typing import Any, Literal, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import Module, Split, require
from modules.language.sampling import TextSampler
from modules.recurrent.cell import State
from modules.recurrent.stack import Recurrent


class RecurrentLM(TextSampler, Module):
    """Language model on layers of RNN, LSTM or GRU cells.

    Args:
        vocab_size: V.
        cell: "rnn", "lstm" or "gru".
        embedding: D, size of the vector of a token.
        hidden: H, size of the state of a layer.
        layers: number of layers.
        dropout: probability of dropping an output of a layer, while training; no state is dropped.
        tied: the head's weights are the embedding's; D = H.
        bos: the token that stands before every text, so that the first token has a probability too.
        eos: the token that ends a text, behind which there are only more of it; None lets texts go on.

    Raises:
        ValueError: an argument is out of range, or D ≠ H with tied weights.

    Example:
        >>> model = RecurrentLM(vocab_size=3, embedding=4, hidden=5)
        >>> strings = torch.cartesian_prod(*[torch.arange(3)] * 4)  # all 81 of them
        >>> model.log_prob(strings).exp().sum().item()  # doctest: +ELLIPSIS
        1.0...
    """

    def __init__(
        self,
        vocab_size: int,
        cell: Literal["rnn", "lstm", "gru"] = "lstm",
        embedding: int = 64,
        hidden: int = 256,
        layers: int = 1,
        dropout: float = 0.0,
        tied: bool = False,
        bos: int = 0,
        eos: int | None = None,
        **training: Any,
    ) -> None:
        super().__init__(**training)
        require(1, vocab_size=vocab_size, embedding=embedding, hidden=hidden, layers=layers)
        require(0, below=1, dropout=dropout)
        require(0, below=vocab_size, bos=bos, eos=eos or 0)
        if tied and embedding != hidden:
            raise ValueError(f"embedding is {embedding} and hidden {hidden}: tied weights want them equal.")
        self.vocab_size, self.dropout, self.bos, self.eos = vocab_size, dropout, bos, eos
        self.embedding = nn.Embedding(vocab_size, embedding)
        self.recurrent = Recurrent(cell, embedding, hidden, layers, dropout=dropout if layers > 1 else 0.0)
        self.head = nn.Linear(hidden, vocab_size)
        if tied:
            nn.init.normal_(self.embedding.weight, std=hidden**-0.5)  # as a head would begin
            self.head.weight = self.embedding.weight
        self.carried: dict[str, State] = {}  # by split: behind the last chunk that was read of its streams

    def forward(self, tokens: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """Logits of the token after each, and the state behind the last: (B, T) -> (B, T, V), state.

        Args:
            state: before the first token; zeros without one.
        """
        outputs, state = self.recurrent(self.embedding(tokens), state)
        return self.head(F.dropout(outputs, self.dropout, self.training)), state

    # --- training ---------------------------------------------------------------------------------

    def step(self, batch: tuple[Any, ...], split: Split) -> Tensor:
        """Mean nats per token of tokens and their targets (B, T); a third entry is True where these texts go
        on from those of the batch before (`datamodules.streams`)."""
        tokens, targets, *goes_on = batch
        before = self.carried[split] if any(goes_on) else None  # from a checkpoint: on the CPU
        logits, state = self(tokens, before and before.map(lambda s: s.to(tokens.device)))
        if goes_on:
            self.carried[split] = state.detach()
        nll = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none")  # (B·T,)
        self.log_metric(split, "nll", nll.detach())
        return nll.mean()

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Keep the carried state of training, of all processes in the order of the streams."""
        if (state := self.carried.get("train")) is not None:
            if self._trainer is not None and self.trainer.world_size > 1:  # process r has every r-th stream
                state = state.map(lambda s: cast(Tensor, self.all_gather(s)).transpose(0, 1).flatten(0, 1))
            checkpoint["carried"] = (state.h, state.cell)

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        if "carried" in checkpoint:
            trainer = self._trainer
            rank, world = (trainer.global_rank, trainer.world_size) if trainer else (0, 1)
            self.carried["train"] = State(*checkpoint["carried"])[rank::world]

    # --- surfaces ---------------------------------------------------------------------------------

    def token_log_probs(self, tokens: Tensor) -> Tensor:
        """log p(x_t | bos, x_<t) in nats of whole texts: (B, T) -> (B, T)."""
        logits, _ = self(F.pad(tokens, (1, 0), value=self.bos)[:, :-1])
        return logits.log_softmax(-1).gather(-1, tokens[..., None])[..., 0]

    def log_prob(self, tokens: Tensor) -> Tensor:
        """log p of whole texts that start after `bos`: (B, T) -> (B,) in nats."""
        return self.token_log_probs(tokens).sum(1)

    def next_log_probs(self, prefix: Tensor, padding: Tensor | None = None) -> Tensor:
        """log p(next token | bos, prefix): (B, T) -> (B, V), T ≥ 0; `padding` as in `NextToken`."""
        return self.incremental_decoder().start(prefix, padding)[0]

    def incremental_decoder(self) -> "RecurrentDecoder":
        """Decoder of texts behind `bos`, whose state is that of the network."""
        return RecurrentDecoder(self)


class RecurrentDecoder:
    """`IncrementalDecoder` of a recurrent model: a step costs the same however long the text is."""

    def __init__(self, model: RecurrentLM) -> None:
        self.model = model

    def start(self, source: Tensor, padding: Tensor | None = None) -> tuple[Tensor, State]:
        """Read prefixes (B, T), T ≥ 0, padded on the left: log p of the next token (B, V), state."""
        model, lengths = self.model, None
        last = source.new_full((len(source),), source.shape[1])  # place of the last token behind `bos`
        if padding is not None:  # the texts are moved to where they begin, and the padding behind them
            last = last - padding.sum(1)
            lengths = (last + 1).cpu()
            source = source.gather(1, padding.to(torch.uint8).argsort(dim=1, stable=True))
        embedded = model.embedding(F.pad(source, (1, 0), value=model.bos))
        outputs, state = model.recurrent(embedded, lengths=lengths)
        rows = torch.arange(len(outputs), device=outputs.device)
        return model.head(outputs[rows, last]).log_softmax(-1), state

    def step(self, state: State, token: Tensor) -> tuple[Tensor, State]:
        """Read one more token (B,): log p of the next (B, V), state."""
        output, state = self.model.recurrent.step(self.model.embedding(token), state)
        return self.model.head(output).log_softmax(-1), state
