"""The neural language model of Bengio: a network over the last few words, which it knows as vectors.

    x = (E w_{t−n+1}, …, E w_{t−1})      h = tanh(H x + d)      p(w_t | context) = softmax(U h + b [+ W x])

A table of counts treats every context as a thing of its own; here contexts whose words have similar
vectors are given similar predictions, and what is learned of one holds for the other. W is the direct
path, n − 1 contexts wide.

([GM] §1.6.1 says of one-hot inputs that nothing carries over. The first layer of a network turns
them into learned vectors, H E = H I: `embedding="one-hot"` is an embedding model too.)

Shapes: `B` batch, `T` = n − 1 context tokens, `d` embedding, `V` vocabulary.

References:
    Bengio, Ducharme, Vincent, Jauvin 2003, A neural probabilistic language model, JMLR 3.
    [LLM] neural LMs, eq. 1.10-1.11.
"""

from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import Module, Split
from modules.former import former
from modules.language.decoding import TextDecoder
from modules.language.sampling import TextSampler


class Bengio(TextSampler, Module):
    """Feed-forward language model over a fixed number of tokens.

    Args:
        vocab_size: V.
        context: T, tokens that it sees.
        dim: d, size of the vector of a token.
        hidden: units of the tanh layer.
        direct: a linear path from the vectors to the logits (T·d·V more parameters).
        embedding: "learned", or "one-hot": the vector of a token is its row of the identity, d = V.
        bos: the token that stands T times before every text.
        eos: the token that ends a text, behind which there are only more of it; None lets texts go on.
        zero_output: start with zero output weights, so that the first loss is ln V exactly.

    Example:
        >>> model = Bengio(vocab_size=3, context=2, dim=4, hidden=5)
        >>> strings = torch.cartesian_prod(*[torch.arange(3)] * 4)  # all 81 of them
        >>> model.log_prob(strings).exp().sum().item()  # doctest: +ELLIPSIS
        1.0...
    """

    def __init__(
        self,
        vocab_size: int,
        context: int = 8,
        dim: int = 24,
        hidden: int = 200,
        direct: bool = False,
        embedding: Literal["learned", "one-hot"] = "learned",
        bos: int = 0,
        zero_output: bool = False,
        eos: int | None = None,
        **training: Any,
    ) -> None:
        super().__init__(**training)
        if embedding not in ("learned", "one-hot"):
            raise ValueError(f"embedding is {embedding!r}: choose learned or one-hot.")
        if not 0 <= bos < vocab_size:
            raise ValueError(
                f"bos is {bos}: it must be one of the {vocab_size} tokens, 0 to {vocab_size - 1}."
            )
        for name, value in (("context", context), ("dim", dim), ("hidden", hidden)):
            if value < 1:
                raise ValueError(f"{name} is {value}: it must be at least 1.")
        if eos is not None and not 0 <= eos < vocab_size:
            raise ValueError(f"eos is {eos}: it must be one of the {vocab_size} tokens, or none.")
        self.vocab_size, self.context, self.bos, self.eos = vocab_size, context, bos, eos
        self.one_hot = embedding == "one-hot"
        dim = vocab_size if self.one_hot else dim
        self.embedding = nn.Embedding(vocab_size, dim)
        self.first = nn.Linear(context * dim, hidden)
        self.output = nn.Linear(hidden, vocab_size)
        self.direct = nn.Linear(context * dim, vocab_size, bias=False) if direct else None
        if self.one_hot:
            self.embedding.weight.requires_grad_(False).copy_(torch.eye(vocab_size))
        if zero_output:
            for layer in (self.output, self.direct):
                for p in layer.parameters() if layer is not None else ():
                    nn.init.zeros_(p)

    def forward(self, contexts: Tensor) -> Tensor:
        """Logits of the next token: (..., T) int64 -> (..., V)."""
        x = self.embedding(contexts).flatten(-2)  # (..., T·d), the first token's vector first
        logits = self.output(torch.tanh(self.first(x)))
        return logits if self.direct is None else logits + self.direct(x)

    def step(self, batch: tuple[Tensor, Tensor], split: Split) -> Tensor:
        """Mean nats per token of contexts (B, T) and the tokens after them (B,)."""
        contexts, targets = batch
        if contexts.shape[1:] != (self.context,):
            raise ValueError(
                f"The data have contexts of {contexts.shape[-1]} tokens, the model of {self.context}: "
                "give both the same."
            )
        nll = F.cross_entropy(self(contexts), targets, reduction="none")  # (B,)
        self.log_metric(split, "nll", nll.detach())
        return nll.mean()

    # --- surfaces ---------------------------------------------------------------------------------

    def contexts(self, tokens: Tensor) -> Tensor:
        """Contexts of every position, the one after the last included: (B, S) -> (B, S + 1, T)."""
        bos = tokens.new_full((len(tokens), self.context), self.bos)
        return torch.cat([bos, tokens], dim=1).unfold(1, self.context, 1)

    def log_prob(self, tokens: Tensor) -> Tensor:
        """log p of whole texts that start after `bos`: (B, S) -> (B,) in nats."""
        logits = self(self.contexts(tokens)[:, :-1])  # (B, S, V)
        return logits.log_softmax(-1).gather(-1, tokens[..., None]).sum((1, 2))

    def next_log_probs(self, prefix: Tensor, padding: Tensor | None = None) -> Tensor:
        """log p(next token | the last T of `prefix`): (B, S) -> (B, V), S ≥ 0; `padding` of `NextToken`."""
        if padding is not None:
            prefix = prefix.masked_fill(padding, self.bos)
        bos = prefix.new_full((len(prefix), self.context), self.bos)
        return self(torch.cat([bos, prefix], dim=1)[:, -self.context :]).log_softmax(-1)

    def incremental_decoder(self) -> TextDecoder:
        """Decoder that reads the last T tokens."""
        return TextDecoder(self, self.context)

    sample = former("n", "length", "temperature", "top_k", "top_p", "min_p", "generator", "seed")(
        TextSampler.sample
    )
    sample_trace = former("prompt", "length")(TextSampler.sample_trace)
