r"""What a transformer costs: parameters, operations, memory, and what a cache of keys and values saves.

Per token and layer, with d = width, d_k = features of a head, d_kv = kv heads · d_k, T tokens in view:

    projections       2 d² + 2 d d_kv multiply-adds      4 d² when every head has its own keys and values
    scores, values    2 T d                              each of H heads compares T keys and mixes T values
    feed-forward      2 d d_ff                           3 d d_ff when gated
    head              d V, once

A multiply-add is two floating-point operations (FLOPs). A dense GPT with d_ff = 4 d so takes
24 L d² + 4 L T d + 2 d V FLOPs a token, and twice as many backward, for two products per weight. Without
attention and embedding this is 2 N and 4 N, of which 6 N D is the cost of training on D tokens. ([LLM] part 5
says 2 N multiply-adds: N multiply-adds are 2 N FLOPs.)

    attention / weights = T / (6 d)      equal at T = 6 d
    KV cache            = 2 L T d_kv numbers

Generation without a cache computes every row of every prefix anew: T(T+1)(T+2)/6 scores for T tokens,
O(T³ d); with a cache T(T+1)/2. ([LLM] part 4 says O(T² d) for both, "with much better constants".)

References: [UDL] §12.7, 12.9; [LLM] parts 4, 5; Kaplan et al. 2020, arXiv:2001.08361, table 1; Shazeer 2019,
arXiv:1911.02150 (fewer heads of keys and values); sizes: Radford et al. 2019 (GPT-2); Brown et al. 2020,
arXiv:2005.14165 (GPT-3); Devlin et al. 2018, arXiv:1810.04805 (BERT); Touvron et al. 2023, arXiv:2302.13971.
"""

from dataclasses import dataclass
from typing import Literal

import torch

from modules.transformer.gpt import GPT
from modules.transformer.recorder import record_attention

BYTES = {"float32": 4, "float16": 2, "int8": 1}  # of a number
Kind = Literal["softmax", "linear", "state space"]


@dataclass(frozen=True)
class Size:
    """Sizes of a dense transformer.

    Attributes:
        layers, width, heads, hidden, vocab_size, context: L, d, H, d_ff, V, and the longest T.
        kv_heads: of keys and values, a divisor of H; None is H.
        bias: in linear layers and norms. tied: head and embedding are one table.
        learned: there is a table of positions. gated: the feed-forward has three matrices (SwiGLU).
        final_norm: a norm before the head. segments: kinds of segment, with a norm on the embeddings and a
            pooler (BERT). pretraining: BERT's two heads, of masked tokens and of the next sentence.

    Raises:
        ValueError: a size is below 1, or heads do not divide.
    """

    layers: int
    width: int
    heads: int
    hidden: int
    vocab_size: int
    context: int
    kv_heads: int | None = None
    bias: bool = True
    tied: bool = True
    learned: bool = True
    gated: bool = False
    final_norm: bool = True
    segments: int = 0
    pretraining: bool = False

    def __post_init__(self) -> None:
        for name in ("layers", "width", "heads", "hidden", "vocab_size", "context"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}: it must be at least 1.")
        if self.width % self.heads:
            raise ValueError(f"width is {self.width}: {self.heads} heads do not divide it.")
        if self.kv_heads is not None and (self.kv_heads < 1 or self.heads % self.kv_heads):
            raise ValueError(f"kv_heads is {self.kv_heads}: it must divide the {self.heads} heads.")

    @property
    def head_width(self) -> int:
        """d_k."""
        return self.width // self.heads

    @property
    def kv_width(self) -> int:
        """d_kv, numbers in the keys of a token."""
        return (self.kv_heads or self.heads) * self.head_width

    # --- parameters ------------------------------------------------------------------------------

    @property
    def norm(self) -> int:
        """Gains of one norm, with its biases."""
        return self.width * (1 + self.bias)

    @property
    def matrices(self) -> dict[str, int]:
        """Weights of one block's linear layers without biases: what a token is multiplied with."""
        d = self.width
        return {
            "attention": 2 * d * d + 2 * d * self.kv_width,
            "feed-forward": (3 if self.gated else 2) * d * self.hidden,
        }

    def parameters(self) -> dict[str, int]:
        """Number of parameters of each part; their sum is N."""
        d, biases = self.width, int(self.bias)
        vectors = biases * (2 * d + 2 * self.kv_width), biases * ((1 + self.gated) * self.hidden + d)
        attention, feedforward = (m + v for m, v in zip(self.matrices.values(), vectors, strict=True))
        parts = {
            "embedding": self.vocab_size * d,
            "positions": self.learned * self.context * d,
            "attention": self.layers * attention,
            "feed-forward": self.layers * feedforward,
            "norms": (2 * self.layers + self.final_norm) * self.norm,
            "head": 0 if self.tied else self.vocab_size * d,
        }
        if self.segments:
            parts["segments and pooler"] = self.segments * d + self.norm + d * d + d
        if self.pretraining:
            parts["pretraining heads"] = d * d + d + self.norm + self.vocab_size + 2 * d + 2
        return parts

    @property
    def num_parameters(self) -> int:
        """N."""
        return sum(self.parameters().values())

    # --- operations ------------------------------------------------------------------------------

    def flops(self, T: int) -> dict[str, int]:
        """FLOPs of one token's forward pass with T tokens in view, by part; backward takes twice as many."""
        attention, feedforward = self.matrices.values()
        return {
            "projections": 2 * self.layers * attention,
            "scores and values": 4 * self.layers * T * self.width,
            "feed-forward": 2 * self.layers * feedforward,
            "head": 2 * self.width * self.vocab_size,
        }

    def attention_share(self, T: int) -> float:
        """FLOPs of scores and values through those of the blocks' weights, T/(6 d) where d_ff = 4 d."""
        parts = self.flops(T)
        return parts["scores and values"] / (parts["projections"] + parts["feed-forward"])

    @property
    def crossing(self) -> float:
        """T at which attention takes as many operations as the blocks' weights, 6 d where d_ff = 4 d."""
        return 1 / self.attention_share(1)

    # --- memory ----------------------------------------------------------------------------------

    def cache_numbers(self, T: int) -> int:
        """2 L T d_kv: keys and values of T tokens of one text."""
        return 2 * self.layers * T * self.kv_width

    def attention_entries(self, T: int) -> int:
        """L H T²: weights of attention, where a kernel writes them out."""
        return self.layers * self.heads * T * T


PRESETS = {
    "Small GPT": Size(4, 128, 4, 512, 65, 64, bias=False),  # `gpt-shakespeare`
    "GPT-2 small": Size(12, 768, 12, 3_072, 50_257, 1_024),
    "BERT-large": Size(24, 1_024, 16, 4_096, 30_000, 512, final_norm=False, segments=2, pretraining=True),
    "LLaMA-65B": Size(
        80, 8_192, 64, 22_016, 32_000, 2_048, bias=False, tied=False, learned=False, gated=True
    ),
    "GPT-3": Size(96, 12_288, 96, 49_152, 50_257, 2_048),  # counted as dense: every second layer is sparse
}


def training_flops(parameters: float, tokens: float) -> float:
    """C = 6 N D: 2 N forward and 4 N backward for each of D tokens, attention and embedding left out."""
    return 6 * parameters * tokens


def training_days(flops: float, chips: int, peak: float = 312e12, utilisation: float = 1.0) -> float:
    """Days on so many chips of `peak` FLOPs a second (312 · 10¹²: an A100), of which a share is used."""
    return flops / (chips * peak * utilisation) / 86_400


# --- One step of generation ------------------------------------------------------------------------


def step_cost(kind: Kind, T: int, head_width: int, state: int = 16) -> int:
    """Multiply-adds of one head (of d_k channels) for the next token behind T − 1 others.

    softmax: q·k and the sum of values over T tokens, 2 T d_k. linear: k vᵀ added to the state, q read from
    it, 2 d_k². state space: of N numbers a channel, decay, input and output, 3 N d_k.
    """
    return {
        "softmax": 2 * T * head_width,
        "linear": 2 * head_width**2,
        "state space": 3 * state * head_width,
    }[kind]


def step_memory(kind: Kind, T: int, head_width: int, state: int = 16) -> int:
    """Numbers that one head keeps behind T tokens: keys and values 2 T d_k; the sum of k vᵀ and of k,
    d_k² + d_k; the state of each channel, N d_k."""
    return {
        "softmax": 2 * T * head_width,
        "linear": head_width**2 + head_width,
        "state space": state * head_width,
    }[kind]


def scores(T: int, cache: bool, causal: bool = True) -> int:
    """Scores q·k of one head while T tokens are read one by one: with a cache each once, else every prefix
    anew, T(T+1)(T+2)/6; dense products also compute what the mask throws away, T(T+1)(2T+1)/6."""
    if cache:
        return T * (T + 1) // 2
    return T * (T + 1) * (T + 2 if causal else 2 * T + 1) // 6


# --- Counted while it runs -------------------------------------------------------------------------


@dataclass(frozen=True)
class Pass:
    """What one step of generation computed, in each head of each layer.

    Attributes:
        seen: tokens of the text so far. queries: newest tokens whose row was computed; keys: tokens in view.
        logits: (V,) of the next token.
    """

    seen: int
    queries: int
    keys: int
    logits: torch.Tensor

    @property
    def cells(self) -> int:
        """Scores q·k that the causal mask leaves."""
        return self.queries * self.keys - self.queries * (self.queries - 1) // 2


@torch.no_grad()
def passes(model: GPT, tokens: torch.Tensor, cache: bool = True, keep: int | None = None) -> list[Pass]:
    """Passes of a GPT that reads a text (T,) token by token, as they were recorded in its first layer."""
    reader = model.reader(cache, keep)
    found, state = [], None
    for seen, token in enumerate(tokens, start=1):
        with record_attention() as recorder:
            if state is None:
                logits, state = reader.start(token.reshape(1, 1))
            else:
                logits, state = reader.step(state, token.reshape(1))
        _, _, queries, keys = next(iter(recorder.calls.values()))[0].weights.shape
        found.append(Pass(seen, queries, keys, logits[0]))
    return found
