"""The attention lens: which token attends to which, why, and what a head is worth.

`record_pass` records whatever reads by layers of `modules.transformer.attention.Attention`, an encoder, a
decoder, or a decoder's attention to a source; what follows it is of causal language models.
Shapes: `L` layers, `H` heads, `T` tokens, `D` features of a head, `V` vocabulary. Layers and heads
count from 0 here; pages show them from 1.

References: Vaswani et al. 2017, arXiv:1706.03762; Michel et al. 2019, arXiv:1905.10650 (switching
heads off); Vig 2019, arXiv:1906.05714 (arcs).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from modules.recurrent.seq2seq import Seq2Seq
from modules.transformer.attention import Attention
from modules.transformer.block import Block
from modules.transformer.gpt import GPT
from modules.transformer.recorder import record_attention
from modules.transformer.stream import record_stream
from modules.transformer.translator import Translator

Heads = Iterable[tuple[int, int]]  # (layer, head)
Factors = dict[nn.Module, Tensor]  # of the heads of a layer
CROSS, DECODER, ENCODER = "cross", "decoder", "encoder"  # attention of a translator


@dataclass(frozen=True)
class Maps:
    """Attention maps and scores that one pass used.

    Attributes:
        weights: (L, H, T, S), rows sum to 1; row = query, column = key; S = T in self-attention.
        queries: (L, H, T, D), as they met. keys, values: (L, H, S, D).
        scale: what multiplied q·k.
        logits: (T, V), of the token after each position, or what else the pass gave.
    """

    weights: Tensor
    queries: Tensor
    keys: Tensor
    values: Tensor
    scale: float
    logits: Tensor


def layers(model: nn.Module) -> list[Attention]:
    """The model's attention layers, first to last."""
    return [module for module in model.modules() if isinstance(module, Attention)]


def stacks(model: Translator) -> dict[str, list[Attention]]:
    """Layers of a translator, first to last: its decoder's to the source and to itself, its encoder's."""
    encoder, decoder = (cast(Iterable[Block], part.blocks) for part in (model.encoder, model.decoder))
    both = [(cast(Attention, block.cross), cast(Attention, block.mixer)) for block in decoder]
    own = [cast(Attention, block.mixer) for block in encoder]
    return {CROSS: [cross for cross, _ in both], DECODER: [mixer for _, mixer in both], ENCODER: own}


def switches(stack: Sequence[Attention], off: Heads) -> Factors:
    """Factors for `record_attention` that switch heads off: layer -> (H,) of ones and zeros."""
    factors: Factors = {}
    for layer, head in off:
        row = factors.setdefault(stack[layer], torch.ones(stack[layer].heads))
        row[head] = 0.0
    return factors


@torch.no_grad()
def record(model: GPT, tokens: Tensor, causal: bool = True, off: Heads = ()) -> Maps:
    """One pass over tokens (T,), everything recorded.

    Args:
        causal: False takes the mask away.
        off: heads switched off.
    """
    return record_pass(lambda: model(tokens[None], causal=causal)[0], layers(model), off)


@torch.no_grad()
def record_pass(run: Callable[[], Tensor], stack: Sequence[Attention], off: Heads = ()) -> Maps:
    """What these layers used in one pass over one text.

    Args:
        run: the pass; what it returns are the `logits`.
        stack: attention layers with equally many heads, each called once.
        off: heads switched off, of these layers.
    """
    with record_attention(switches(stack, off)) as seen:
        logits = run()
    calls = [seen.calls[layer][0] for layer in stack]

    def stacked(name: str) -> Tensor:
        return torch.stack([getattr(call, name)[0] for call in calls])

    return Maps(
        stacked("weights"), stacked("queries"), stacked("keys"), stacked("values"), calls[0].scale, logits
    )


@torch.no_grad()
def alignment(model: Seq2Seq, source: Tensor, target: Tensor) -> Tensor:
    """Weights γ (T, S) of a translation: rows target tokens (T,), columns source tokens (S,)."""
    return model(source[None], target[None])[1][0]


@dataclass(frozen=True)
class Dot:
    """One query against all keys of a head, number by number.

    Attributes:
        query: (D,). keys: (T, D).
        products: (T, D), q_d k_d; a row sums to its score.
        scores: (T,), q·k. scaled: (T,), times 1/√D.
        raised: (T,), e^scaled, 0 where the query may not look. total: their sum.
        weights: (T,), raised / total, as recorded in the pass.
    """

    query: Tensor
    keys: Tensor
    products: Tensor
    scores: Tensor
    scaled: Tensor
    raised: Tensor
    total: float
    weights: Tensor


def dot(maps: Maps, layer: int, head: int, query: int) -> Dot:
    """Break down how the weights of one row came about."""
    q, k = maps.queries[layer, head, query], maps.keys[layer, head]
    products = q * k  # (T, D)
    scores = products.sum(1)
    weights = maps.weights[layer, head, query]
    scaled = scores * maps.scale
    raised = scaled.double().exp() * (weights > 0)
    return Dot(q, k, products, scores, scaled, raised, float(raised.sum()), weights)


def number(x: float) -> str:
    """Four significant digits in LaTeX."""
    mantissa, e, power = f"{x:.4g}".partition("e")
    return rf"{mantissa} \cdot 10^{{{int(power)}}}" if e else mantissa


def equation(story: Dot, key: int) -> str:
    """The softmax of one query and one key with its numbers, in LaTeX."""
    D = len(story.query)
    raised, total = number(float(story.raised[key])), number(story.total)
    return (
        rf"\alpha = \frac{{e^{{q\cdot k/\sqrt{{{D}}}}}}}{{\sum_j e^{{q\cdot k_j/\sqrt{{{D}}}}}}}"
        rf" = \frac{{e^{{{number(float(story.scores[key]))}/\sqrt{{{D}}}}}}}{{{total}}}"
        rf" = \frac{{{raised}}}{{{total}}} = {number(float(story.weights[key]))}"
    )


@dataclass(frozen=True)
class Spoken:
    """The softmax of every row of a head, in words.

    Attributes:
        keys: the key that each row's equation is of.
        captions, latex: a sentence and an equation for each row.
    """

    keys: list[int]
    captions: list[str]
    latex: list[str]


def equations(
    maps: Maps,
    layer: int,
    head: int,
    names: Sequence[str],
    kept: tuple[int, int] | None = None,
    columns: Sequence[str] | None = None,
) -> Spoken:
    """Each query with the key that it attends to most, or with the one that is kept: (query, key).

    Args:
        names: of the queries, and of the keys unless `columns` are their names.
    """
    columns = names if columns is None else columns
    weights = maps.weights[layer, head]
    keys = weights.argmax(1).tolist()
    if kept is not None:
        keys[kept[0]] = kept[1]
    captions, latex = [], []
    for query, key in enumerate(keys):
        story = dot(maps, layer, head, query)
        most = "attends most to" if weights[query, key] == weights[query].max() else "attends to"
        captions.append(
            f"Layer {layer + 1}, head {head + 1}: {names[query]} ({query + 1}) {most} "
            f"{columns[key]} ({key + 1}); q·k sums {len(story.query)} products."
        )
        latex.append(equation(story, key))
    return Spoken(keys, captions, latex)


# --- Words of several tokens --------------------------------------------------------------------------


def words(pieces: Sequence[str]) -> list[range]:
    """Join tokens to words: a piece that begins with a letter or digit goes on where one ended."""
    starts = [
        i
        for i, piece in enumerate(pieces)
        if i == 0 or not (piece[:1].isalnum() and pieces[i - 1][-1:].isalnum())
    ]
    return [range(start, end) for start, end in zip(starts, [*starts[1:], len(pieces)], strict=True)]


def merged(weights: Tensor, groups: Sequence[range]) -> Tensor:
    """Weights between words: summed over the keys of a word, averaged over its queries.

    Args:
        weights: (..., T, T).
        groups: the tokens of each of W words, as `words` gives them.

    Returns:
        (..., W, W), whose rows sum to 1 as well.
    """
    member = torch.zeros(len(groups), weights.shape[-1], dtype=weights.dtype)  # (W, T)
    for word, tokens in enumerate(groups):
        member[word, list(tokens)] = 1.0
    return (member / member.sum(1, keepdim=True)) @ weights @ member.T


def word_equations(
    maps: Maps,
    layer: int,
    head: int,
    groups: Sequence[range],
    names: Sequence[str],
    kept: tuple[int, int] | None = None,
) -> Spoken:
    """As `equations`, of words: the mean over the pieces that ask of what each gives to the other word."""
    weights = merged(maps.weights[layer, head], groups)
    keys = weights.argmax(1).tolist()
    if kept is not None:
        keys[kept[0]] = kept[1]
    captions, latex = [], []
    for query, key in enumerate(keys):
        asks, result = groups[query], groups[key]
        given = maps.weights[layer, head, asks.start : asks.stop, result.start : result.stop].sum(1)
        parts = " + ".join(f"{float(v):.4f}" for v in given)
        most = "attends most to" if weights[query, key] == weights[query].max() else "attends to"
        captions.append(
            f"Layer {layer + 1}, head {head + 1}: {names[query]} {most} {names[key]}; "
            f"{len(asks)} query and {len(result)} key pieces."
        )
        latex.append(
            r"\alpha = \frac{1}{|q|} \sum_{i \in q} \sum_{j \in k} \alpha_{ij}"
            rf" = \frac{{{parts}}}{{{len(asks)}}} = {float(weights[query, key]):.4f}"
        )
    return Spoken(keys, captions, latex)


# --- Next tokens --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NextBars:
    """The likeliest next tokens after every token of a text.

    Attributes:
        ids: (T, N), by their larger probability of the two.
        now, all_heads: (T, N), with heads switched off and with none.
        last_now, last_all: (V,), after the whole text.
    """

    ids: Tensor
    now: Tensor
    all_heads: Tensor
    last_now: Tensor
    last_all: Tensor


def next_bars(maps: Maps, logits: Tensor, most: int) -> NextBars:
    """Next-token bars of a pass, beside the logits (T, V) of one with all heads on."""
    return bars_of(maps.logits, logits, most)


def bars_of(logits: Tensor, all_heads: Tensor, most: int) -> NextBars:
    """Bars of two passes by their logits, (T, V) each."""
    now, before = logits.softmax(-1), all_heads.softmax(-1)
    ids = torch.maximum(now, before).topk(min(most, now.shape[1])).indices
    return NextBars(ids, now.gather(1, ids), before.gather(1, ids), now[-1], before[-1])


@dataclass(frozen=True)
class Depths:
    """Next-token distributions of the model if it ended after each of its layers.

    Attributes:
        ids, p: (L, N), the likeliest tokens after each layer and their probabilities.
        captions, latex: a sentence and an equation for each layer.
        settled: the first layer, from 0, from which on the favourite is that of the whole model.
    """

    ids: Tensor
    p: Tensor
    captions: list[str]
    latex: list[str]
    settled: int


@torch.no_grad()
def depths(
    model: GPT,
    tokens: Tensor,
    query: int,
    read: Callable[[Tensor], list[str]],
    most: int,
    causal: bool = True,
    off: Heads = (),
) -> Depths:
    """The residual stream at one token after every layer, read by the model's own last norm and head.

    (nostalgebraist 2020, the logit lens; Belrose et al. 2023, arXiv:2303.08112.)

    Args:
        query: the token whose stream is read.
        read: ids (N,) -> their names.
    """
    with record_attention(switches(layers(model), off)):  # as `record` computes it
        stream = list(model.residual_stream(tokens[None], causal=causal))[1:]
    x = torch.stack([after[0, query] for after in stream])  # (L, C)
    top = model.logits(model.final_norm(x)).softmax(-1).topk(min(most, model.vocab_size))
    first = [read(ids[:1])[0] for ids in top.indices]
    L = len(first)
    captions, latex = [], []
    for l, (name, p) in enumerate(zip(first, top.values[:, 0].tolist(), strict=True)):
        captions.append(f"After layer {l + 1} of {L}, the model's head reads {name} as the next token.")
        latex.append(
            rf"p_{{{l + 1}}} = \mathrm{{softmax}}\left(E\,\mathrm{{LN}}(x_{{{l + 1}}})\right), \quad "
            rf"\max p_{{{l + 1}}} = {p:.4f}"
        )
    ids = top.indices[:, 0]
    settled = next(l for l in range(L) if bool((ids[l:] == ids[-1]).all()))
    return Depths(top.indices, top.values, captions, latex, settled)


@dataclass(frozen=True)
class Additions:
    """Vectors that the blocks of a stack add to the residual stream at every token.

    Attributes:
        before: (L, T, C), the stream before each block.
        added: of each sublayer, by its name in a block, what it puts out: (L, T, C).
        after: the stream behind each of them, (L, T, C).
    """

    before: Tensor
    added: dict[str, Tensor]
    after: dict[str, Tensor]


@torch.no_grad()
def additions(
    run: Callable[[], Tensor], blocks: Iterable[nn.Module], off: Factors | None = None
) -> Additions:
    """Additions of one pass over one text, by blocks with the same sublayers.

    Args:
        run: the pass.
        off: factors that switch heads off, as of `switches`.
    """
    stack = [cast(Block, block) for block in blocks]
    with record_stream() as stream, record_attention(off, store=False):
        run()

    def stacked(name: str) -> Tensor:
        return torch.stack([stream.values[block, name][0] for block in stack])

    names = stack[0].sublayers
    after = {name: stacked(f"after {name}") for name in names}
    return Additions(stacked("in"), {name: stacked(name) for name in names}, after)


@torch.no_grad()
def next_token(model: GPT, tokens: Tensor, off: Heads = (), causal: bool = True) -> Tensor:
    """The distribution of the token after the text, (V,), with some heads switched off."""
    with record_attention(switches(layers(model), off), store=False):
        return model(tokens[None], causal=causal)[0, -1].softmax(-1)


def distance(p: Tensor, q: Tensor) -> Tensor:
    """Total variation ½ Σ |p − q| over the last axis: the mass that must move, 0 to 1."""
    return 0.5 * (p - q).abs().sum(-1)


def in_chunks(count: int, model: GPT, tokens: Tensor) -> Iterator[range]:
    """Texts 0 … count − 1 by as many as pass at once: their logits and streams stay below 64 MB."""
    each = len(tokens) * max(model.vocab_size, 4 * model.width * len(model.blocks))
    size = max(1, 2**24 // each)
    for start in range(0, count, size):
        yield range(start, min(start + size, count))


@torch.no_grad()
def importance(model: GPT, tokens: Tensor, causal: bool = True) -> Tensor:
    """Change of the next-token distribution when one head alone is off: (L, H), total variation."""
    stack = layers(model)
    L, H = len(stack), stack[0].heads
    whole, values = next_token(model, tokens, causal=causal), []
    for part in in_chunks(L * H, model, tokens):  # a batch, one head off in each of its texts
        off = torch.tensor(list(part))
        factors: Factors = {
            layer: (off[:, None] != l * H + torch.arange(H)).float() for l, layer in enumerate(stack)
        }
        with record_attention(factors, store=False):
            p = model(tokens.expand(len(part), -1), causal=causal)[:, -1].softmax(-1)
        values.append(distance(p, whole))
    return torch.cat(values).view(L, H)


@torch.no_grad()
def influence(model: GPT, tokens: Tensor, causal: bool = True) -> Tensor:
    """Change one token, see which predictions move: the leak, if there is one.

    Returns:
        (T, T): row i, column j is the total variation that replacing token j (by the next id of the
        vocabulary) makes in the prediction after position i. With a causal mask it is exactly 0 for
        j > i.
    """
    T, columns = len(tokens), []
    for part in in_chunks(T, model, tokens):
        changed, index = tokens.repeat(len(part), 1), torch.tensor(list(part))
        changed[index - part.start, index] = (tokens[index] + 1) % model.vocab_size
        texts = torch.cat([tokens[None], changed])  # one batch, so that equal rows have equal bits
        p = model(texts, causal=causal).softmax(-1)  # (1 + n, T, V)
        columns.append(distance(p[1:], p[:1]))
    return torch.cat(columns).T


@torch.no_grad()
def nll(maps: Maps, tokens: Tensor) -> float:
    """Mean nats per token of the text given what came before, from the recorded pass; NaN for one token."""
    log_p = maps.logits[:-1].log_softmax(-1)
    return float(-log_p.gather(-1, tokens[1:, None]).mean())
