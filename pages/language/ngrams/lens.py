"""n-gram models looked into: from own text or trained, at every order, with what each order adds."""

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from datamodules import pydocs
from datamodules.tokenizer import WordTokenizer, words
from lab.lenses.counts import Counted, surprisals
from modules.language import information as info
from modules.language.ngram import NGram
from modules.trace import Trace

# Models read with other settings, kept as long as the model that was counted.
_READ: WeakKeyDictionary[NGram, dict[Any, NGram]] = WeakKeyDictionary()


def smoothed(counted: Counted, order: int, smoothing: str, alpha: float, discount: float | None) -> Counted:
    """The same counts at this order, read with this smoothing."""
    read = _READ.setdefault(counted.model, {})
    key = (order, smoothing, alpha, discount)
    if key not in read:
        if len(read) >= 32:
            read.clear()
        settings = {"smoothing": smoothing, "alpha": alpha, "discount": discount}
        read[key] = counted.model.lowered(order, **settings)
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
    found = ContextTree([()], [int(model.counts.sum())], [-1], [0.0], [True])
    node = 0
    for length in range(1, model.order):
        keys, where = (model.keys // model.base % model.base**length).unique(return_inverse=True)
        total = torch.zeros_like(keys).index_add_(0, where, model.counts.long())
        fits = keys % model.base ** (length - 1) == number(found.tokens[node], model.base)
        oldest, often = keys[fits] // model.base ** (length - 1), total[fits]
        typed = padded[-length]
        ranked = often.argsort(descending=True, stable=True).tolist()
        ranked = [i for i in ranked if int(oldest[i]) != typed][:others]
        seen = (oldest == typed).nonzero().flatten().tolist()
        parent, suffix = node, found.tokens[node]
        shown = [(typed, int(often[seen[0]]) if seen else 0)]
        shown += [(int(oldest[i]), int(often[i])) for i in ranked]
        node = len(found.tokens)
        for row, (token, n) in enumerate(shown):
            found.tokens.append((token, *suffix))
            found.count.append(n)
            found.parent.append(parent)
            found.place.append(float(row))
            found.typed.append(row == 0)
    return found


def after(counted: Counted, tokens: tuple[int, ...], read: Counted) -> tuple[Tensor, Tensor]:
    """What follows a context: relative frequencies, and what `read`'s smoothing makes of them, (V,) each.

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


# --- Rare words -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rare:
    """A word model whose vocabulary leaves rare words out.

    Attributes:
        min_count: occurrences that a word of the vocabulary has at least. vocabulary: words in it.
        unknown: share of the test text's words that are <unk>. perplexity: of the test text.
        known_perplexity: e to the mean surprisal at the words that every one of the models knows.
    """

    min_count: int
    vocabulary: int
    unknown: float
    perplexity: float
    known_perplexity: float


def inflation(
    training: list[str], test: list[str], min_counts: tuple[int, ...] = (1, 2, 3, 5, 10), order: int = 4
) -> list[Rare]:
    """Count the same Kneser-Ney model of sentences with smaller and smaller vocabularies.

    Counts that no word of the training text reaches are left out.
    """
    most = max(Counter(word for line in training for word in words(line)).values(), default=0)
    min_counts = tuple(n for n in min_counts if n <= most)
    smallest = set(WordTokenizer.train(training, max(min_counts)).tokens[len(WordTokenizer.SPECIAL) :])
    kept = [[word in smallest for word in words(line)] for line in test]
    rows = []
    for least in min_counts:
        coder = WordTokenizer.train(training, least)
        model = NGram(len(coder), order, bos=coder.BOS, eos=coder.EOS)
        model.count(framed([coder.encode(line) for line in training]))
        encoded = [coder.encode(line) for line in test]
        tokens, targets = framed(encoded)
        nats = -model.token_log_probs(tokens, targets)  # (N, T)
        common = torch.zeros_like(targets, dtype=torch.bool)
        for row, known in zip(common, kept, strict=True):
            row[: len(known)] = torch.tensor(known, dtype=torch.bool)
        unknown = sum(line.count(coder.UNKNOWN) for line in encoded) / sum(map(len, encoded))
        perplexity, of_common = (math.exp(nats[chosen].mean()) for chosen in (targets >= 0, common))
        rows.append(Rare(least, len(coder) - len(coder.SPECIAL), unknown, perplexity, of_common))
    return rows


def framed(encoded: list[list[int]]) -> tuple[Tensor, Tensor]:
    """Sentences between begin and end as tokens and targets (N, T); −100 behind the end."""
    width = max(map(len, encoded)) + 1
    tokens = torch.full((len(encoded), width), WordTokenizer.BOS)
    targets = torch.full((len(encoded), width), -100)
    for i, ids in enumerate(encoded):
        tokens[i, 1 : len(ids) + 1] = torch.tensor(ids, dtype=torch.int64)
        targets[i, : len(ids) + 1] = torch.tensor([*ids, WordTokenizer.EOS])
    return tokens, targets


def lines_of_pydocs(characters: int = 300_000) -> tuple[list[str], list[str]]:
    """Lines of the Python documentation: nine of ten for training, every tenth for the test."""
    lines = [line for line in pydocs.text()[:characters].splitlines() if line.strip()]
    return [line for i, line in enumerate(lines) if i % 10], lines[::10]


def shares(trace: Trace) -> list[tuple[int, Tensor]]:
    """What each order adds to P_n(w | h): (order, (V,)) from the top down; they sum to P_n."""
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
        put("possible", float(plain.model.predictable) ** order)
        put("unseen", nats.isinf().double().mean().item())
        put("train, maximum likelihood", math.exp(plain.model.train_nll()))
        put("text, maximum likelihood", info.perplexity(nats).item())
        for smoothing, name in (("add", "add"), ("kneser-ney", "Kneser-Ney")):
            model = smoothed(counted, order, smoothing, alpha, None)
            put(f"text, {name}", info.perplexity(surprisals(model, text)).item())
    return columns


def drawn(counted: Counted, length: int, temperature: float, seed: int) -> str:
    """A sampled text."""
    generator = torch.Generator().manual_seed(seed)
    ids = counted.model.sample(1, length, temperature, generator=generator)[0]
    pad = counted.model.pad
    return counted.coder.decode([i for i in ids.tolist() if i != pad])
