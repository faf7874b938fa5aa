"""n-gram models looked into: from own text or trained, at every order, with what each order adds."""

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from lab.lenses.counts import Counted, count, surprisals
from modules.language import information as info
from modules.language.ngram import NGram
from modules.trace import Trace

MOST = 8  # the highest order counted of own text

# Models read with other settings, kept as long as the model that was counted.
_READ: WeakKeyDictionary[NGram, dict[Any, NGram]] = WeakKeyDictionary()


def own(text: str, unit: str) -> Counted:
    """Own text counted up to order MOST, or as far as its n-grams fit into 63 bits.

    Raises:
        UserError: the text is too short.
    """
    for order in range(MOST, 1, -1):
        with suppress(ValueError):  # too many words for n-grams of this order
            return count(text, unit, order)
    return count(text, unit, 1)


def smoothed(counted: Counted, order: int, smoothing: str, alpha: float, discount: float | None) -> Counted:
    """The same counts at this order, read with this smoothing."""
    read = _READ.setdefault(counted.model, {})
    key = (order, smoothing, alpha, discount)
    if key not in read:
        if len(read) >= 32:
            read.clear()
        settings = {"smoothing": smoothing, "alpha": alpha, "discount": discount}
        read[key] = counted.model.lower_order(order, **settings)
    return Counted(read[key], counted.coder)


# --- The tree of contexts ---------------------------------------------------------------------------


@dataclass(frozen=True)
class ContextTree:
    """A suffix tree: node 0 is the empty context, a child has one more token *before* its parent's.

    Attributes:
        tokens: ids of each node's context, oldest first. count: how often something followed it.
        parent: index, −1 for node 0. typed: lies on the typed context.
        place: the row it is drawn in, 0 for the typed context; others of a length one above the other.
    """

    tokens: list[tuple[int, ...]]
    count: list[int]
    parent: list[int]
    place: list[float]
    typed: list[bool]


def number(tokens: tuple[int, ...], base: int) -> int:
    """Tokens as digits, oldest first."""
    return sum(t * base**i for i, t in enumerate(reversed(tokens)))


def contexts(counted: Counted, context: Tensor, others: int = 3) -> ContextTree:
    """The contexts that end as `context` (T,) does, at every length up to n − 1.

    At each node of the typed context, besides the next typed token, the `others` most frequent ones.
    """
    model = counted.model
    missing = model.order - 1 - len(context)
    padded = [*[model.pad] * max(0, missing), *context.tolist()]
    context_tree = ContextTree([()], [int(model.counts.sum())], [-1], [0.0], [True])
    node = 0
    for length in range(1, model.order):
        keys, where = (model.keys // model.base % model.base**length).unique(return_inverse=True)
        total = torch.zeros_like(keys).index_add_(0, where, model.counts.long())
        fits = keys % model.base ** (length - 1) == number(context_tree.tokens[node], model.base)
        oldest, often = keys[fits] // model.base ** (length - 1), total[fits]
        typed = padded[-length]
        ranked = often.argsort(descending=True, stable=True).tolist()
        ranked = [i for i in ranked if int(oldest[i]) != typed][:others]
        result = (oldest == typed).nonzero().flatten().tolist()
        parent, suffix = node, context_tree.tokens[node]
        shown = [(typed, int(often[result[0]]) if result else 0)]
        shown += [(int(oldest[i]), int(often[i])) for i in ranked]
        node = len(context_tree.tokens)
        for row, (token, n) in enumerate(shown):
            context_tree.tokens.append((token, *suffix))
            context_tree.count.append(n)
            context_tree.parent.append(parent)
            context_tree.place.append(float(row))
            context_tree.typed.append(row == 0)
    return context_tree


def after(counted: Counted, tokens: tuple[int, ...], read: Counted) -> tuple[Tensor, Tensor]:
    """Followers of a context: relative frequencies, and what `read`'s smoothing makes of them, (V,) each.

    The frequencies are 0 everywhere where the context was never seen.
    """
    model, order = counted.model, len(tokens) + 1
    mine = model.keys // model.base % model.base ** len(tokens) == number(tokens, model.base)
    often = torch.zeros(model.base, dtype=torch.float64).index_add_(
        0, model.keys[mine] % model.base, model.counts[mine].double()
    )[: model.vocab_size]
    prefix = torch.tensor([[t for t in tokens if t != model.pad]], dtype=torch.int64).reshape(1, -1)
    own = read.model
    lower = smoothed(counted, order, own.smoothing, own.alpha, own.discount)
    try:
        p = lower.model.next_log_probs(prefix)[0].exp()
    except ValueError:  # maximum likelihood has none after a context never seen
        p = torch.zeros_like(often)
    return often / often.sum().clamp(min=1), p


def shares(trace: Trace) -> list[tuple[int, Tensor]]:
    """Shares that each order adds to P_n(w | h): (order, (V,)) from the top down; they sum to P_n."""
    parts, remaining = [], 1.0
    for step in reversed(trace.steps):
        parts.append((step.values["order"], remaining * step.values["p"]))
        remaining *= step.values.get("back", 0.0)
    return parts


def curve(counted: Counted, text: str, alpha: float) -> dict[str, list[float]]:
    """Against the order: `order`, `types`, `possible`, `unseen` share of the text's n-grams, and the
    perplexity of training and text by maximum likelihood, add-α and Kneser-Ney."""
    columns: dict[str, list[float]] = {}

    def put(name: str, value: float) -> None:
        columns.setdefault(name, []).append(value)

    for order in range(1, counted.model.order + 1):
        plain = smoothed(counted, order, "none", alpha, None)
        nats = surprisals(plain, text)
        put("order", order)
        put("types", plain.model.num_parameters)
        put("possible", float(plain.model.num_predictable) ** order)
        put("unseen", nats.isinf().double().mean().item())
        put("train, maximum likelihood", math.exp(plain.model.train_nll()))
        put("text, maximum likelihood", info.perplexity(nats).item())
        for smoothing, name in (("add", "add"), ("kneser-ney", "Kneser-Ney")):
            model = smoothed(counted, order, smoothing, alpha, None)
            put(f"text, {name}", info.perplexity(surprisals(model, text)).item())
    return columns


def sparsity(columns: Mapping[str, list[float]]) -> dict[str, list[Any]]:
    """`curve` as a table: counted and possible n-grams, the share never seen, perplexities."""
    shown = {name: [f"{v:.4g}" if v < math.inf else "∞" for v in columns[f"text, {name}"]]
             for name in ("maximum likelihood", "Kneser-Ney")}  # fmt: skip
    return {
        "n": [int(n) for n in columns["order"]],
        "n-grams counted": [int(v) for v in columns["types"]],
        "possible, Vⁿ": [f"{v:.3g}" for v in columns["possible"]],
        "unseen in your text": [f"{v:.1%}" for v in columns["unseen"]],
        "PP, unsmoothed": shown["maximum likelihood"],
        "PP, Kneser-Ney": shown["Kneser-Ney"],
    }


def orders(counted: Counted, trace: Trace) -> dict[str, list[Any]]:
    """Table of how much each order of a back-off decides, from the top down."""
    rows = [step.values for step in reversed(trace.steps)]
    return {
        "order": [r["order"] for r in rows],
        "context": [" ".join(counted.names(r["context"])) or "–" for r in rows],
        "seen, c(h·)": [r.get("total", 0.0) for r in rows],
        "followers, N₁₊": [r.get("types", 0) for r in rows],
        "left to below": [f"{r.get('back', 0.0):.4f}" for r in rows],
        "weight in the mixture": [f"{r['weight']:.4f}" for r in rows],
    }


def drawn(counted: Counted, length: int, temperature: float, seed: int) -> str:
    """A sampled text."""
    generator = torch.Generator().manual_seed(seed)
    ids = counted.model.sample(1, length=length, temperature=temperature, generator=generator)[0]
    pad = counted.model.pad
    return counted.coder.decode([i for i in ids.tolist() if i != pad])
