"""What one head takes of the values, and what the parts of a block add to the residual stream.

Tokens, layers and heads count from 0 here. Shapes: `T` rows, `S` columns, `D` features,
`C` channels, `L` layers.
"""

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor

from lab.lenses import attention
from lab.lenses.attention import CROSS
from modules.transformer.attention import Attention
from modules.transformer.bert import BERT
from modules.transformer.experts import record_routing
from modules.transformer.mixer_tagger import MixerTagger
from pages.transformer.attention.lens import Pairs, forward_pass, from_zero
from pages.transformer.attention.subjects import Card, Model, named, parts, read, subject

ROWS = 8  # weighted values that are drawn, by their weight


@dataclass(frozen=True)
class Router:
    """The choice of a layer of experts at each token.

    Attributes:
        p: (T, E), softmax of all logits. w: (T, E), what the outputs were multiplied with; 0 of the others.
    """

    p: Tensor
    w: Tensor

    def said(self, token: int) -> str:
        """Which experts are chosen, in words."""
        chosen = [str(e + 1) for e in self.w[token].nonzero()[:, 0].tolist()]
        return f" The router chooses expert{'s' * (len(chosen) > 1)} {' and '.join(chosen)}."


@dataclass(frozen=True)
class Taken:
    """Vectors that one head takes of the values, and that the parts of the model add at each token.

    Attributes:
        terms: (T, K, D), α_ij v_j of the K tokens j of largest weight, for each token i that takes them; of
            Mamba M_ij u_j of all its channels.
        labels: of these K rows: the token, its place and its weight.
        sums: (T, D), over all j: the head's output before its projection.
        parts: names of the parts of the residual stream; norms: (T, P), the length of what each adds.
        own: places of the parts of the block that the head stands in, by the sublayer's name.
        router: of a block with experts.
        captions, latex: a sentence and an equation for each token.
    """

    terms: Tensor
    labels: list[list[str]]
    sums: Tensor
    parts: list[str]
    norms: Tensor
    own: dict[str, int]
    router: Router | None
    captions: list[str]
    latex: list[str]


def answer(model: Model) -> str:
    """What the logits of a row are of."""
    if isinstance(model, MixerTagger):
        return "answer"
    return "word here" if isinstance(model, BERT) else "next token"


@torch.no_grad()
def taken(
    model: Model, model_card: Card, text: str, units: str, values_of: str, causal: bool, off: Pairs,
    stack: str,
) -> Taken:  # fmt: skip
    """Values weighted by attention, and what the parts of each block add to the stream."""
    sentence = read(model, model_card, text, units, stack)
    one = subject(model, sentence, causal, stack)
    l, h = (int(number) - 1 for number in values_of.split("."))
    result = forward_pass(model, model_card, text, "", causal, off, stack)
    if result.hidden is not None:
        weights = result.weights[l, 0]
        vectors = (result.hidden.M[l] * result.hidden.u[l][:, None]).permute(1, 2, 0)  # (T, S, D)
    else:
        assert result.maps is not None
        weights = result.maps.weights[l, h]
        vectors = weights[..., None] * result.maps.values[l, h]
    most = weights.topk(min(ROWS, weights.shape[1]))  # (T, K)
    terms = vectors.gather(1, most.indices[..., None].expand(-1, -1, vectors.shape[-1]))
    labels = [
        [f"{weight:.2f} × {sentence.pieces[j]} ({j + 1})" for weight, j in zip(row, places, strict=True)]
        for row, places in zip(most.values.tolist(), most.indices.tolist(), strict=True)
    ]
    sums = vectors.sum(1)
    factors = {}
    if not isinstance(model, MixerTagger):
        factors = attention.switches(cast(list[Attention], one.mixers), from_zero(off))
    with record_routing() as routed:
        adds = attention.additions(one.run, one.blocks, factors)
    names = parts(one.blocks)
    L, P = len(one.blocks), len(names)
    norms = torch.stack([adds.before[0], *(adds.added[name][k] for k in range(L) for name in names)])
    own = {name: 1 + P * l + at for at, name in enumerate(names)}
    router = None
    if (layer := getattr(one.blocks[l], "feedforward", None)) in routed.calls:
        routing = routed.calls[layer][0]
        w = torch.zeros_like(routing.probabilities).scatter(1, routing.chosen, routing.weights * routing.kept)
        router = Router(routing.probabilities, w)
    likeliest = {}
    if one.reads is not None:
        likeliest = {name: named(model_card, one.reads(adds.after[name][l]).argmax(-1)) for name in names}
    what = answer(model)
    lengths = norms.norm(dim=-1).T  # (T, P)
    captions, latex = [], []
    shown = "cross" if stack == CROSS and "cross" in names else "mixer"
    last = "feedforward" if "feedforward" in names else shown
    symbols = (r"y_t = \sum_{s \le t} M_{ts} u_s", "y_t") if result.hidden is not None else (
        r"o = \sum_j \alpha_j v_j", "o")  # fmt: skip
    for i, j in enumerate(most.indices[:, 0].tolist()):
        said = ", ".join(f"{found[i]} after {names[name]} {l + 1}" for name, found in likeliest.items())
        captions.append(
            f"{sentence.queries[i]} ({i + 1}) takes most of the value of {sentence.pieces[j]} ({j + 1})."
            + (f" The likeliest {what} is {said}." if said else "")
            + (router.said(i) if router is not None else "")
        )
        latex.append(
            rf"{symbols[0]}, \quad \mathrm{{norm}}({symbols[1]}) = {float(sums[i].norm()):.3f}, \quad "
            rf"\mathrm{{norm}}(\mathrm{{{names[last]}}}) = {float(lengths[i, own[last]]):.3f}"
        )
    said_parts = ["embedding", *(f"{names[name]} {k + 1}" for k in range(L) for name in names)]
    return Taken(terms, labels, sums, said_parts, lengths, own, router, captions, latex)


def numbers_of_parts(result: Taken) -> list[dict[str, str]]:
    """At each token: the length of what embedding, attention and MLP add."""
    keys = {"mixer": "attention", "cross": "attention", "feedforward": "mlp"}
    places = {"embedding": 0} | {keys[name]: at for name, at in result.own.items()}
    return [{part: f"+{float(row[at]):.1f}" for part, at in places.items()} for row in result.norms]
