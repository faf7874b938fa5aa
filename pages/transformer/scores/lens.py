"""Score functions on the same vectors, the softmax over random scores by width, and learned alignments.

    additive  e = vᵀ tanh(W₁ s + W₂ h),   dot  e = s·h,   scaled  e = s·h/√d,   α = softmax(e)

Shapes: S keys, T target words, D entries; F frames, R random queries of K keys.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from lab.errors import UserError
from lab.lenses import text as texts
from lab.lenses import translations, typed
from lab.seeding import seeded
from modules.recurrent.context import SoftAttention
from modules.recurrent.seq2seq import Seq2Seq
from modules.transformer.attention import Attention, attention_weights
from modules.transformer.recorder import record_attention
from modules.transformer.source_attention import SourceAttention
from modules.transformer.translator import Translator
from pages.transformer.scores.room import ENTROPY, JACOBIAN, LARGEST, LENGTHS, SPREAD, WIDTHS

NAMES = ("additive", "dot", "scaled")
KEYS, ROWS, CHUNK = 16, 2000, 100  # of a random problem
OPTIONS = ["as d_k", "as √d_k", "not at all"]


@dataclass(frozen=True)
class Scores:
    """
    Attributes:
        e, alpha: (F, 3, S), of the three scores at each length. d: entries of a vector.
    """

    e: np.ndarray
    alpha: np.ndarray
    d: int


@dataclass(frozen=True)
class Random:
    """Softmax over scores of random queries and keys, by width.

    Attributes:
        scores: (F, R · K), unscaled.
        lines: measure -> of unscaled and of scaled scores, (F,) each.
    """

    scores: np.ndarray
    lines: Mapping[str, tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Learned:
    """Weights for one sentence under teacher forcing.

    Attributes:
        source, target: words. additive, scaled: (T, S). width: D of the additive score, and of a head.
        gold: places of each target word's source words; () where none is known.
        agreement: (L, H), share of target words at which a head's largest weight is where the additive one
            has its own.
    """

    source: list[str]
    target: list[str]
    additive: np.ndarray
    scaled: np.ndarray
    widths: tuple[int, int]
    gold: tuple[frozenset[int], ...]
    agreement: np.ndarray
    says: str


def vector(text: str) -> Tensor:
    """(D,)."""
    rows = typed.matrix(text, 20, 4)
    if len(rows) != 1:
        raise UserError("This is one vector: write its numbers in one row, such as 1 0.")
    return torch.tensor(rows[0], dtype=torch.float64)


def keys(text: str) -> Tensor:
    """(S, D)."""
    return torch.tensor(typed.matrix(text, 20, 6), dtype=torch.float64)


def layer(score: Any, d: int, v: Tensor) -> SourceAttention:
    """The layer of a score, W₁ = W₂ = W_Q = W_K = I."""
    made = seeded(lambda: SourceAttention(d, d, score)).double()
    with torch.no_grad():
        if score != "dot":
            made.query.weight.copy_(torch.eye(d))
            made.key.weight.copy_(torch.eye(d))
        if score == "additive":
            made.energy.weight.copy_(v[None])
    return made


@torch.no_grad()
def scores(s: Tensor, h: Tensor, v: Tensor) -> Scores:
    """The three scores at each length of the vectors."""
    d = len(s)
    if h.shape[1] != d or len(v) != d:
        raise UserError(f"s has {d} entries, a key {h.shape[1]}, v {len(v)}: give all of them equally many.")
    e, alpha = [], []
    for times in LENGTHS:
        layers = [layer(name, d, v) for name in NAMES]
        pairs = [(one, one.keys_and_values(times * h[None])) for one in layers]
        e.append([one.scores(times * s[None, None], k)[0, 0].tolist() for one, (k, _) in pairs])
        alpha.append([one(times * s[None, None], k, w)[1][0, 0].tolist() for one, (k, w) in pairs])
    return Scores(np.array(e), np.array(alpha), d)


def score_captions(one: Scores) -> list[str]:
    best = one.alpha.argmax(2)
    return [
        f"Vectors times {times:g}. Largest weight: "
        + ", ".join(
            f"{name} {one.alpha[f, i].max():.3f} (key {best[f, i] + 1})" for i, name in enumerate(NAMES)
        )
        + "."
        for f, times in enumerate(LENGTHS)
    ]


def score_equations(one: Scores) -> list[str]:
    """All three scores of the key that the dot product prefers, LaTeX."""
    found = []
    for f in range(len(LENGTHS)):
        j = int(one.alpha[f, 1].argmax())
        a, b, c = one.e[f, :, j]
        found.append(
            rf"e_{j + 1} = v^\top \tanh(s + h_{j + 1}) = {a:.3f}, \quad s \cdot h_{j + 1} = {b:.4g}, \quad"
            rf" \frac{{s \cdot h_{j + 1}}}{{\sqrt{{{one.d}}}}} = {c:.3f}"
        )
    return found


# --- Scale ---------------------------------------------------------------------------------------------


def jacobian_norm(a: Tensor) -> Tensor:
    """‖diag(a) − a aᵀ‖_F of weights (..., K): (...)."""
    two, three = a.square().sum(-1), a.pow(3).sum(-1)
    return (two - 2 * three + two.square()).clamp(min=0).sqrt()


@torch.no_grad()
def random(seed: int) -> Random:
    """Queries and keys with independent entries of N(0, 1): each query with 16 keys of its own."""
    generator, scores, measured = torch.Generator().manual_seed(seed), [], []
    for d in WIDTHS:
        parts = []
        for _ in range(ROWS // CHUNK):
            q = torch.randn(CHUNK, 1, d, generator=generator)
            k = torch.randn(CHUNK, KEYS, d, generator=generator)
            both = [attention_weights(q, k, scale=scale)[:, 0] for scale in (1.0, d**-0.5)]
            parts.append(((q @ k.mT)[:, 0], *both))
        of, *weights = (torch.cat(each) for each in zip(*parts, strict=True))
        scores.append(of.flatten())
        row = {}
        for i, a in enumerate(weights):
            spread = float(of.var()) * (1.0 if i == 0 else 1 / d)
            row[i] = [float(a.amax(1).mean()), float(torch.special.entr(a).sum(1).mean()),
                      float(jacobian_norm(a).mean()), spread]  # fmt: skip
        measured.append([row[0], row[1]])
    table = np.array(measured)  # (F, 2, 4)
    names = (LARGEST, ENTROPY, JACOBIAN, SPREAD)
    lines = {name: (table[:, 0, m], table[:, 1, m]) for m, name in enumerate(names)}
    return Random(torch.stack(scores).numpy(), lines)


def scale_captions(one: Random, scaled: bool) -> list[str]:
    which, found = int(scaled), []
    for f, d in enumerate(WIDTHS):
        largest, entropy, norm, variance = (
            one.lines[name][which][f] for name in (LARGEST, ENTROPY, JACOBIAN, SPREAD)
        )
        found.append(
            f"d_k = {d:,}: standard deviation of a score {math.sqrt(variance):.2f}, largest weight "
            f"{largest:.2f}, entropy {entropy:.2f} nats, Jacobian norm {norm:.2f}."
        )
    return found


def scale_equations(one: Random, scaled: bool) -> list[str]:
    of = r"q \cdot k / \sqrt{d_k}" if scaled else r"q \cdot k"
    return [
        rf"\mathrm{{Var}}({of}) = {one.lines[SPREAD][int(scaled)][f]:.4g} \approx {'1' if scaled else 'd_k'},"
        r" \quad \left\| \mathrm{diag}(a) - a a^\top \right\|_F ="
        rf" {one.lines[JACOBIAN][int(scaled)][f]:.3f}"
        for f in range(len(WIDTHS))
    ]


# --- Learned -------------------------------------------------------------------------------------------


@torch.no_grad()
def learned(
    text: str, head: str, recurrent: Seq2Seq, recurrent_card: Mapping[str, Any], former: Translator
) -> Learned:
    """Both models read a sentence and its translation; of a sentence without one, what the first writes."""
    source = translations.sentence(recurrent_card, text)
    coder, ids = texts.tokenizer(recurrent_card), source.ids[None]
    if source.gold is not None:
        target = torch.tensor([[*coder.encode(" ".join(source.gold.spanish)), recurrent.eos]])
    else:
        target = recurrent.translate(ids, torch.tensor([ids.shape[1]]), translations.MOST)
    additive = recurrent(ids, target)[1][0]  # (T, S)
    with record_attention() as seen:
        former(ids, target)
    crosses = [cast(Attention, block.cross) for block in former.decoder.blocks]
    weights = torch.stack([seen.calls[cross][0].weights[0] for cross in crosses])  # (L, H, T, S)
    layer_, head_ = (int(number) - 1 for number in head.split("."))
    agreement = (weights.argmax(-1) == additive.argmax(-1)).float().mean(-1)
    gold = () if source.gold is None else tuple(frozenset(row) for row in source.gold.sure)
    names = translations.written(coder.tokens, target[0].tolist(), recurrent.eos)
    widths = (cast(SoftAttention, recurrent.context).attention.key.out_features, crosses[0].head_width)
    return Learned(source.names, names, additive.numpy(), weights[layer_, head_].numpy(), widths, gold,
                   agreement.numpy(), source.says)  # fmt: skip


def learned_captions(one: Learned) -> list[str]:
    found = []
    for t, word in enumerate(one.target):
        i, j = int(one.additive[t].argmax()), int(one.scaled[t].argmax())
        found.append(
            f"“{word}”: the additive score looks at “{one.source[i]}” ({one.additive[t, i]:.2f}), the scaled "
            f"one at “{one.source[j]}” ({one.scaled[t, j]:.2f})."
        )
    return found


def learned_equations(one: Learned) -> list[str]:
    T, S = one.additive.shape
    D, d = one.widths
    tanh, products = (f"{T * S * width:,}".replace(",", "{,}") for width in one.widths)
    text = (
        rf"\mathrm{{additive}}: \; T S \cdot {D} = {tanh} \;\; \tanh, \quad"
        rf" \mathrm{{scaled}}: \; T S \cdot {d} = {products} \text{{ products}}"
    )
    return [text] * T
