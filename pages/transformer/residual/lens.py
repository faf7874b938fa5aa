"""Lens of the page: the residual stream read by the model's head, and a logit as a sum of what was added.

Shapes: `L` layers, `H` heads, `T` tokens, `C` channels, `V` vocabulary. Layers and heads count from 0 here.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor, nn

from lab.experiments import Experiment
from lab.lenses import attention, surfaces, tuned_lens
from lab.lenses import text as texts
from modules.transformer.gpt import GPT
from modules.transformer.recorder import record_attention
from modules.transformer.stream import StreamRecorder, record_stream
from modules.transformer.tuned_lens import divergence, log_p
from pages.transformer.residual.room import (
    CAPITAL,
    COUPLE,
    DIFFERENCE,
    GRID,
    LOGIT,
    RAISED,
    RANK,
    TUNED,
    WHOLE,
)

Card = Mapping[str, Any]
MOST = 8  # tokens that are drawn: names stand in the cells


def fits(entry: Experiment) -> bool:
    """Check whether it is a GPT of text whose blocks add to a stream that one norm reads at the end."""
    plain = {"norm": "pre", "residual": "add", "mixer": "softmax"}
    return texts.gpt_of_text(entry) and all(surfaces.option(entry, k) == v for k, v in plain.items())


def examples(model_card: Card) -> dict[str, str]:
    """Texts of the kind that the model has read."""
    if texts.corpus(model_card) == "pydocs":
        return {"Error": RAISED, "Code": "for i in range(10):\n    print(i", "Nonsense": "zzzz qqqq zzzz"}
    if texts.corpus(model_card) == "multi30k":
        return {"Couple": COUPLE, "Dogs": "Two dogs run through the", "Nonsense": "zzzz qqqq zzzz"}
    return {"Citizen": CAPITAL, "Romeo": "ROMEO:\nBut, soft! what", "Nonsense": "zzzz qqqq zzzz"}


def first_text(model_card: Card) -> str:
    return next(iter(examples(model_card).values()))


def tunable(view: str, model_card: Card) -> bool:
    """Check whether the chosen model has a tuned lens."""
    return view == GRID and tuned_lens.find(model_card) is not None


def removable(model: GPT) -> list[str]:
    """What can be switched off."""
    parts, layers = ("attention", "MLP", "skips of block"), range(1, len(model.blocks) + 1)
    return [WHOLE, *(f"{part} {l}" for l in layers for part in parts)]


# --- The text -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Read:
    """A text as tokens.

    Attributes:
        tokens: (T,), all that the model sees. pieces: names of the last ones, which are drawn.
        readable: the text that they spell. strange: a sentence on what the vocabulary has not.
    """

    tokens: Tensor
    pieces: list[str]
    readable: str
    strange: str


def read(model: GPT, model_card: Card, text: str) -> Read:
    """The text as the model's tokens, the last that it sees.

    Raises:
        UserError: none of it can be read.
    """
    coder = texts.tokenizer(model_card)
    readable, strange = texts.readable(coder, text)
    tokens = texts.read(coder, readable, model.context, end=True)
    return Read(tokens, texts.names(coder, tokens[-MOST:]), readable, strange)


@contextmanager
def switched_off(model: GPT, part: str) -> Iterator[StreamRecorder]:
    """Record the stream of a model in which one sublayer adds nothing, or one block has no skips."""
    seen: list[StreamRecorder] = []
    edits: dict[Any, Any] = {}
    if part != WHOLE:
        name, _, number = part.rpartition(" ")
        block = model.blocks[int(number) - 1]
        if name == "skips of block":
            edits[block, "after mixer"] = lambda x: x - seen[0].values[block, "in"]
            edits[block, "after feedforward"] = lambda x: x - seen[0].values[block, "after mixer"]
        else:
            edits[block, "mixer" if name == "attention" else "feedforward"] = torch.zeros_like
    with record_stream(edits) as recorder:
        seen.append(recorder)
        yield recorder


# --- The logit lens and the tuned one -------------------------------------------------------------


@dataclass(frozen=True)
class Grid:
    """Next tokens that the model's last norm and head read in the stream: row 0 as it enters the first block.

    Attributes:
        ids, p: (L + 1, T), the likeliest token and its probability.
        final_p, rank: (L + 1, T), of the token that is likeliest after the last layer; ranks from 1.
        kl: (L + 1, T), KL from the last layer's distribution to this one's, in nats.
        kls: the same by each lens that the model has.
        held_out: mean KL on the test text by each of them, (L + 1,); nothing without a tuned lens.
    """

    ids: Tensor
    p: Tensor
    final_p: Tensor
    rank: Tensor
    kl: Tensor
    kls: dict[str, Tensor]
    held_out: dict[str, Tensor]


@torch.no_grad()
def grid(model: GPT, model_card: Card, text: str, without: str, reader: str) -> Grid:
    """A lens on the last tokens of a text; one that the model has not is the logit lens."""
    tokens = read(model, model_card, text).tokens
    with switched_off(model, without):
        stream = [x[0, -MOST:] for x in model.residual_stream(tokens[None])]  # L + 1 of (T, C)
    final = log_p(model, stream[-1])  # (T, V)
    last = final.argmax(-1, keepdim=True)  # (T, 1)
    fitted = tuned_lens.find(model_card)
    readers = {LOGIT: stream}
    if fitted is not None:
        readers[TUNED] = [fitted.lens.translated(l, x) for l, x in enumerate(stream)]
    rows: list[tuple[Tensor, ...]] = []
    kls: dict[str, list[Tensor]] = {name: [] for name in readers}
    chosen = reader if reader in readers else LOGIT
    for name, states in readers.items():
        for x in states:  # one layer at a time: a vocabulary may be large
            log_q = log_p(model, x)
            kls[name].append(divergence(final, log_q))
            if name == chosen:
                top, of_last = log_q.max(-1), log_q.gather(-1, last)
                rank = (log_q > of_last).sum(-1) + 1
                rows.append((top.indices, top.values.exp(), of_last[:, 0].exp(), rank))
    ids, p, final_p, ranks = (torch.stack(column) for column in zip(*rows, strict=True))
    found = {name: torch.stack(values) for name, values in kls.items()}
    held_out = {} if fitted is None else {LOGIT: fitted.logit, TUNED: fitted.tuned}
    return Grid(ids, p, final_p, ranks, found[chosen], found, held_out)


def cell_values(one: Grid, colour: str) -> Tensor:
    """What colours a cell: (L + 1, T), from 0 to 1."""
    return 1 / one.rank if colour == RANK else one.p


# --- A logit as a sum -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Contributions:
    """Terms of a logit, or of a difference of two, after each token. All sum to `total`.

    Attributes:
        embedding: (T,), of token and position. bias: (T,), of all output biases and of the last norm's.
        heads: (T, L, H). mlp: (T, L). total: (T,), as the model gives it.
        first, second: (T,), ids of the likeliest next tokens.
    """

    embedding: Tensor
    bias: Tensor
    heads: Tensor
    mlp: Tensor
    total: Tensor
    first: Tensor
    second: Tensor

    @property
    def running(self) -> Tensor:
        """Sum of all terms up to a layer, (T, L + 1); what norm and biases add stands in the first."""
        layers = self.heads.sum(2) + self.mlp  # (T, L)
        return torch.cat([(self.embedding + self.bias)[:, None], layers], 1).cumsum(1)


@torch.no_grad()
def contributions(model: GPT, model_card: Card, text: str, target: str) -> Contributions:
    """Terms of the logit of the likeliest token, or of its lead over the second.

    The last norm divides by the size of the whole stream; that number as it is, norm and head are linear.
    """
    tokens = read(model, model_card, text).tokens
    with record_stream() as stream, record_attention() as seen:
        logits = model(tokens[None])[0, -MOST:]  # (T, V)
    layers, blocks = attention.layers(model), list(model.blocks)
    top = logits.topk(2).indices.T  # (2, T)
    table = model.embedding.weight if model.head is None else model.head.weight
    direction = table[top[0]] - (table[top[1]] if target == DIFFERENCE else 0)  # (T, C)
    norm, x = model.final_norm, stream.values[blocks[-1], "out"][0, -MOST:]
    gain: Any = norm.weight
    direction_in = direction * gain / size(norm, x)  # (T, C), what a term is multiplied by
    centre = isinstance(norm, nn.LayerNorm)

    def term(added: Tensor) -> Tensor:
        """(..., T, C) -> (..., T)."""
        return ((added - added.mean(-1, keepdim=True) if centre else added) * direction_in).sum(-1)

    heads, bias = [], x.new_zeros(len(x))
    for layer in layers:
        (call,) = seen.calls[layer]
        added = layer.by_head(call.weights[..., -MOST:, :], cast(Tensor, call.values))[0]  # (H, T, C)
        heads.append(term(added))
        if layer.proj.bias is not None:
            bias += term(layer.proj.bias.expand(len(x), -1))
    if isinstance(norm, nn.LayerNorm) and norm.bias is not None:
        bias += direction @ norm.bias
    mlp = [term(stream.values[block, "feedforward"][0, -MOST:]) for block in blocks]
    chosen = logits.gather(1, top.T)  # (T, 2)
    return Contributions(
        term(stream.values[blocks[0], "in"][0, -MOST:]), bias, torch.stack(heads).permute(2, 0, 1),
        torch.stack(mlp, 1), chosen[:, 0] - (chosen[:, 1] if target == DIFFERENCE else 0), top[0], top[1],
    )  # fmt: skip


def size(norm: nn.Module, x: Tensor) -> Tensor:
    """What a norm divides each token by: (T, C) -> (T, 1)."""
    eps: Any = norm.eps
    centred = x - x.mean(-1, keepdim=True) if isinstance(norm, nn.LayerNorm) else x
    return (centred.square().mean(-1, keepdim=True) + eps).sqrt()
