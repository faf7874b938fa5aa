"""Attention and a block on matrices that are typed: every matrix on the way, and each cell as a sum.

    Q = X W_Q,  K = X W_K,  V = X W_V,  S = Q Kᵀ/√d_k,  A = softmax(S + M),  C = A V,  D = [C¹ | C²] W_O

The layers are those of `modules.transformer`, with the typed weights, W_O = I, a feed-forward layer of ReLU
with W₁ = W₂ = I, and layer norm without ε, γ, β. Tokens are rows; `columns` transposes what is shown.

Shapes: n tokens, C channels, H heads, D features of a query and of a key in each head.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lab.errors import UserError
from lab.lenses import typed
from lab.seeding import seeded
from modules.transformer.attention import Attention, attention_mask
from modules.transformer.block import Block, Norm
from modules.transformer.feedforward import FeedForward
from modules.transformer.recorder import record_attention
from modules.transformer.stream import record_stream
from pages.transformer.arithmetic.room import CAUSAL, HEAD, PADDING

MOST, REACH = 4, 20.0  # rows and columns, and size of a number, that can be typed
NORMS: Mapping[str, Norm] = {"pre": "pre", "post": "post", "none": "none"}


@dataclass(frozen=True)
class Part:
    """A matrix on the way.

    Attributes:
        values: tokens as rows. letter: of its cells, LaTeX.
        rule: how a cell comes about. of: keys of the parts that it is made of.
        says: what happens, in a sentence.
    """

    values: np.ndarray
    letter: str
    rule: str = "given"
    of: tuple[str, ...] = ()
    says: str = ""


@dataclass(frozen=True)
class Run:
    """
    Attributes:
        parts: all matrices by key, those of heads with the head's number.
        film: keys in the order in which they are computed. given: keys shown from the start.
        scale: that divides scores.
    """

    parts: Mapping[str, Part]
    film: tuple[str, ...]
    given: tuple[str, ...]
    scale: float
    columns: bool


def matrix(text: str) -> Tensor:
    """A matrix of up to 4 × 4 numbers that is typed."""
    return torch.tensor(typed.matrix(text, REACH, MOST), dtype=torch.float64)


def require_shapes(X: Tensor, W_Q: Tensor, W_K: Tensor, W_V: Tensor, heads: int, mask: str) -> None:
    """
    Raises:
        UserError: the matrices cannot be multiplied, or shared by the heads.
    """
    C = X.shape[1]
    for letter, W in zip("QKV", (W_Q, W_K, W_V), strict=True):
        if len(W) != C:
            raise UserError(f"W_{letter} has {len(W)} rows and X {C} columns: give it as many rows.")
        if W.shape[1] % heads:
            raise UserError(
                f"W_{letter} has {W.shape[1]} columns, which {heads} heads cannot share: add one."
            )
    if W_Q.shape[1] != W_K.shape[1]:
        raise UserError("W_Q and W_K differ in columns: a query and a key need equally many entries.")
    if W_V.shape[1] != C:
        raise UserError(f"W_V has {W_V.shape[1]} columns: give it {C}, so that what it gives adds to X.")
    if mask == PADDING and len(X) < 2:
        raise UserError("The only token cannot be padding: write a second row of X.")


def block_of(
    W_Q: Tensor, W_K: Tensor, W_V: Tensor, heads: int, norm: str, scaled: bool, eps: float = 0.0
) -> Block:
    """The block with these weights, W_O = W₁ = W₂ = I."""
    C, D = len(W_Q), W_Q.shape[1] // heads
    attention = seeded(lambda: Attention(C, heads, False, scaled, head_width=D, value_width=C // heads))
    dense = seeded(lambda: FeedForward(C, C, "relu", False))
    block = Block(C, attention, dense, norm=NORMS[norm], eps=eps, bias=False)
    with torch.no_grad():
        attention.qkv.weight.copy_(torch.cat([W_Q, W_K, W_V], dim=1).T)
        for layer in (attention.proj, block.feedforward.up, block.feedforward.down):  # type: ignore[union-attr]
            layer.weight.copy_(torch.eye(C))  # type: ignore[union-attr, operator]
    return block.double().eval()


@torch.no_grad()
def run(
    view: str, inputs: Tensor, W_Q: Tensor, W_K: Tensor, W_V: Tensor, heads: int, head: int, mask: str,
    norm: str, scaled: bool, columns: bool,
) -> Run:  # fmt: skip
    """All matrices of the block, and which of them the view shows."""
    X = inputs
    require_shapes(X, W_Q, W_K, W_V, heads, mask)
    block, n = block_of(W_Q, W_K, W_V, heads, norm, scaled), len(X)
    padding = torch.arange(n)[None] == n - 1 if mask == PADDING else None
    allowed = attention_mask(n, n, mask == CAUSAL, padding)
    with record_attention() as seen, record_stream() as stream:
        block(X[None], causal=mask == CAUSAL, padding=padding)
    call = seen.calls[block.mixer][0]  # type: ignore[index]
    at = {name: value[0] for (_, name), value in stream.values.items()}  # (n, C)
    if not all(value.isfinite().all() for value in at.values()):
        raise UserError("Layer norm divides by the spread of a row, which is 0 here: let its numbers differ.")

    parts: dict[str, Part] = {"x": Part(X.numpy(), "x")}
    base = "x"
    if norm == "pre":
        of: Tensor = block.mixer_norm(X)  # type: ignore[operator]
        parts["N"] = Part(of.numpy(), r"\tilde{x}", "normed", ("x",), "LN: minus the mean of its row, by "
                          "the standard deviation of the row.")  # fmt: skip
        base = "N"
    here = "LN(X)" if norm == "pre" else "X"
    hidden = "the last token" if mask == PADDING else "later tokens"
    for h in range(heads):
        i = str(h + 1)
        for name, W, w in (("Q", W_Q, call.queries), ("K", W_K, call.keys), ("V", W_V, call.values)):
            parts[f"W{name}{i}"] = Part(W.chunk(heads, 1)[h].numpy(), "w")
            assert w is not None
            what = {"Q": "what each token asks for", "K": "what it is found by", "V": "what it gives"}[name]
            parts[name + i] = Part(w[0, h].numpy(), name.lower(), "product", (base, f"W{name}{i}"),
                                   f"{name} = {here} W_{name}: {what}.")  # fmt: skip
        assert call.queries is not None and call.keys is not None
        S = call.queries[0, h] @ call.keys[0, h].T * call.scale
        parts["S" + i] = Part(S.numpy(), "s", "scores", ("Q" + i, "K" + i),
                              "S: each query with each key.")  # fmt: skip
        if allowed is not None:
            M = S.masked_fill(~allowed.expand(1, 1, n, n)[0, 0], -math.inf)
            parts["M" + i] = Part(M.numpy(), "s + m", "masked", ("S" + i,),
                                  f"S + M: scores of {hidden} become −∞.")  # fmt: skip
        source = "M" if "M" + i in parts else "S"
        parts["A" + i] = Part(call.weights[0, h].numpy(), "a", "softmax", (source + i,),
                              "A: softmax of each row, so that each sums to 1.")  # fmt: skip
        mixed = call.weights[0, h] @ call.values[0, h]  # type: ignore[index]
        parts["C" + i] = Part(mixed.numpy(), "c", "product", ("A" + i, "V" + i),
                              "C = A V: values, mixed by the weights.")  # fmt: skip
    tail = stream_parts(block, at, norm, heads, parts)
    if view == HEAD:
        i = str(min(head, heads))
        given: tuple[str, ...] = ("x", "WQ" + i, "WK" + i, "WV" + i)
        film = [k for k in ("N", *(c + i for c in "QKVSMAC")) if k in parts]
    else:
        given, film = ("x",), [k for k in ("N", "C1", "C2", *tail) if k in parts]
    return Run(parts, tuple(film), given, 1 / call.scale, columns)


def stream_parts(
    block: Block, at: Mapping[str, Tensor], norm: str, heads: int, parts: dict[str, Part]
) -> list[str]:
    """Adds what follows on the heads; their keys in order. D, Y, L, F, Z: added by attention, stream, its
    norm, added by the feed-forward layer, output; post-norm has sums U before each norm."""
    joined = tuple(f"C{h + 1}" for h in range(heads))
    parts["D"] = Part(at["mixer"].numpy(), "d", "join", joined, "D: the heads beside each other, W_O = I.")
    F, add = at["feedforward"], "The stream is added to, never overwritten."
    if norm == "post":
        parts["U"] = Part(at["in"].add(at["mixer"]).numpy(), "u", "sum", ("x", "D"), f"X + D. {add}")
        parts["Y"] = Part(at["after mixer"].numpy(), r"\tilde{y}", "normed", ("U",), "LN(X + D).")
        parts["F"] = Part(F.numpy(), "f", "relu", ("Y",), "F: feed-forward, ReLU with W₁ = W₂ = I.")
        parts["G"] = Part(at["after mixer"].add(F).numpy(), "u", "sum", ("Y", "F"), add)
        parts["Z"] = Part(at["out"].numpy(), "z", "normed", ("G",), "LN of the sum: what the block gives.")
        return ["D", "U", "Y", "F", "G", "Z"]
    parts["Y"] = Part(at["after mixer"].numpy(), "y", "sum", ("x", "D"), f"Y = X + D. {add}")
    source = "Y"
    if norm == "pre":
        L: Tensor = block.feedforward_norm(at["after mixer"])  # type: ignore[operator]
        parts["L"] = Part(L.numpy(), r"\tilde{y}", "normed", ("Y",), "LN(Y), each row for itself.")
        source = "L"
    parts["F"] = Part(F.numpy(), "f", "relu", (source,), "F: feed-forward, ReLU with W₁ = W₂ = I.")
    parts["Z"] = Part(at["out"].numpy(), "z", "sum", ("Y", "F"), f"Z = Y + F. {add}")
    return ["D", "Y", "L", "F", "Z"]


def rows_of_weights(one: Run, head: int) -> list[list[float]]:
    """A of a head, row by row."""
    return one.parts[f"A{head}"].values.tolist()  # type: ignore[no-any-return]


def attended(one: Run, head: int) -> int:
    """Token, from 1, that the last token attends to most."""
    return int(np.argmax(one.parts[f"A{head}"].values[-1])) + 1


def name_of(key: str) -> str:
    """What the film's bar says of a step."""
    names = {"N": "LN(X)", "M": "S + M", "U": "X + D", "L": "LN(Y)", "G": "Y + F"}
    return names.get(key.rstrip("12"), key if key in ("C1", "C2") else key.rstrip("12"))
