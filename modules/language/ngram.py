"""n-gram models: the next token is predicted from the last n - 1 by counting.

    maximum likelihood   P(w | h) = c(hw) / c(h·),     c(h·) = Σ_v c(hv)
    add α (Laplace)      P(w | h) = (c(hw) + α) / (c(h·) + αV)
    Kneser-Ney           P_m(w | h) = max(c(hw) - D, 0) / c(h·) + D·N₁₊(h·) / c(h·) · P_{m-1}(w | h')

h is the last n - 1 tokens, h' the same without the oldest, N₁₊(h·) how many different tokens follow h.
In Kneser-Ney c is the number of occurrences only at the top order; below it is the number of different
tokens that come just before ("francisco" is frequent, but after "san" alone). P_0 = 1/V, an unseen h
leaves all to P_{m-1}, and D = n₁/(n₁ + 2n₂) at each order, n_k being how many n-grams have c = k.
"modified" takes off D₁, D₂ or D₃₊ = k - (k + 1) Y n_{k+1}/n_k, Y = n₁/(n₁ + 2n₂), for c = k, k, 3 and more.

All three are one recursion: P_m(w | h) = p_m(hw) + back_m(h) · P_{m-1}(w | h'). Only the top order's n-grams
and their counts are stored; everything else follows from them.

[LLM] eq. 1.3 divides by the occurrences of h: a text's last context is followed by nothing, so those rows
do not sum to 1. Here c(h·) sums what follows. After a context never seen, maximum likelihood has no
distribution: `next_log_probs` says so, and a text that holds such a place has probability 0.

Shapes: tokens (B, T) int64. Begin tokens stand before each text and are never predicted.

References: Kneser and Ney 1995; Chen and Goodman 1999 (modified); Jurafsky and Martin, ch. 3; [LLM] part 1.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from modules.base import CountModel, Split, require
from modules.former import former
from modules.language.decoding import TextDecoder
from modules.language.sampling import TextSampler
from modules.trace import Step, Trace

Smoothing = Literal["none", "add", "kneser-ney", "modified"]
SMOOTHINGS: tuple[Smoothing, ...] = ("none", "add", "kneser-ney", "modified")
IGNORED = -100  # a target that is not predicted, as in torch's cross_entropy


@dataclass(frozen=True)
class Level:
    """Order m of the recursion; n-grams are numbers in base `base`, oldest token first.

    Attributes:
        order: m. keys: (N,) sorted. counts: (N,) c(hw). p: (N,) what c gives without lower orders.
        contexts: (M,) sorted, keys // base. starts: (M + 1,) where each context's n-grams lie in `keys`.
        total: (M,) c(h·). back: (M,) weight of the lower order.
        discounts: (3,) taken off a count of 1, of 2, of 3 and more.
    """

    order: int
    keys: Tensor
    counts: Tensor
    p: Tensor
    contexts: Tensor
    starts: Tensor
    total: Tensor
    back: Tensor
    discounts: Tensor

    def followers(self, context: Tensor, seen: Tensor) -> tuple[Tensor, Tensor]:
        """The n-grams that begin with each of B contexts, as `find` gives them: for all of them together the
        row of the context and the place in `keys`, both (N',)."""
        first = self.starts.take(context)
        size = (self.starts.take(context + 1) - first) * seen
        row = torch.arange(len(size), device=size.device).repeat_interleave(size)
        shift = first - (size.cumsum(0) - size)  # from a place in the answer to one in `keys`
        return row, shift.take(row) + torch.arange(len(row), device=size.device)


def find(keys: Tensor, wanted: Tensor) -> tuple[Tensor, Tensor]:
    """Place of `wanted` in the sorted `keys`, and True where it is one of them."""
    place = torch.searchsorted(keys, wanted).clamp(max=max(len(keys) - 1, 0))
    return place, (keys.take(place) == wanted) if len(keys) else torch.zeros_like(wanted, dtype=torch.bool)


def estimate_discounts(counts: Tensor, modified: bool) -> Tensor:
    """(3,) discounts for counts of 1, 2, 3 and more from the counts of counts.

    Where n₁ = 0 the estimate would be 0 and leave nothing to what was never seen: D = ½ there.
    """
    n1, n2, n3, n4 = (float((counts == k).sum()) for k in range(1, 5))
    y = n1 / (n1 + 2 * n2) if n1 else 0.5
    if modified and n1 and n2 and n3:
        values = [1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3]
        return torch.tensor([min(max(d, 0.0), k) for k, d in enumerate(values, 1)], dtype=torch.float64)
    return torch.full((3,), y, dtype=torch.float64)


class NGram(TextSampler, CountModel):
    """Counts of n-grams, smoothed when they are read.

    Args:
        vocab_size: V. order: n, the length of the longest n-gram.
        smoothing: "none" (maximum likelihood), "add" (alpha), "kneser-ney" or "modified".
        alpha: added to every count by "add".
        discount: Kneser-Ney's D in [0, 1] at every order; None estimates it.
        uniform: whether Kneser-Ney's lowest order is mixed with 1/V, so that nothing is impossible.
        bos: the token before a text if the vocabulary has one; it gets no probability, and V counts it
            out. None puts a symbol outside the vocabulary there.
        eos: the token that ends a text; sampling stops there. None for text without end.

    Raises:
        ValueError: an argument is out of range, or n-grams of this order do not fit into 63 bits.

    Example:
        >>> model = NGram(vocab_size=2, order=2, smoothing="add")
        >>> model.fit(torch.tensor([[0, 1, 0, 1]]))
        >>> model.next_log_probs(torch.tensor([[0]])).exp()  # (2 + 1) / (2 + 2) for 1 after 0
        tensor([[0.2500, 0.7500]], dtype=torch.float64)
    """

    keys: Tensor
    counts: Tensor

    sample_length = 200
    trace_length = 60

    def __init__(
        self,
        vocab_size: int,
        order: int = 3,
        smoothing: Smoothing = "kneser-ney",
        alpha: float = 1.0,
        discount: float | None = None,
        uniform: bool = True,
        bos: int | None = None,
        eos: int | None = None,
        **training: Any,
    ) -> None:
        super().__init__(**training)
        require(1, order=order, vocab_size=vocab_size)
        require(0, below=vocab_size, bos=bos or 0, eos=eos or 0)
        if smoothing not in SMOOTHINGS:
            raise ValueError(f"smoothing is {smoothing!r}: it must be one of {', '.join(SMOOTHINGS)}.")
        if not 0 < alpha < math.inf or (discount is not None and not 0 <= discount <= 1):
            raise ValueError("alpha must be positive and the discount between 0 and 1.")
        self.vocab_size, self.order, self.smoothing = vocab_size, order, smoothing
        self.alpha, self.discount, self.uniform, self.bos, self.eos = alpha, discount, uniform, bos, eos
        self.pad = vocab_size if bos is None else bos
        self.base = vocab_size + (bos is None)
        if self.base**order >= 2**63:
            raise ValueError(
                f"{order}-grams of {vocab_size} tokens do not fit into 63 bits: lower the order."
            )
        self.register_buffer("keys", torch.zeros(0, dtype=torch.int64))
        self.register_buffer("counts", torch.zeros(0, dtype=torch.int32))
        self._levels: list[Level] | None = None

    def extra_repr(self) -> str:
        return f"vocab_size={self.vocab_size}, order={self.order}, smoothing={self.smoothing}"

    # --- counting ---

    def ngram_ids(self, tokens: Tensor, targets: Tensor) -> Tensor:
        """The n-gram that ends in each target, as a number: tokens and targets (B, T) -> (B, T).

        The context of targets[:, t] is tokens[:, :t + 1]; begin tokens stand before it.
        """
        T, n = tokens.shape[1], self.order
        padded = F.pad(tokens, (n - 2, 0), value=self.pad) if n > 1 else tokens  # (B, T + n - 2)
        key = torch.zeros_like(tokens)
        for i in range(n - 1):
            key = key * self.base + padded[:, i : i + T]
        return key * self.base + targets.clamp(min=0)

    def reset_counts(self) -> None:
        self.keys, self.counts = self.keys[:0], self.counts[:0]
        self._levels = None

    def count(self, batch: tuple[Tensor, Tensor]) -> None:
        """Add the n-grams of tokens and targets (B, T); targets of -100 are none."""
        tokens, targets = batch
        if targets.shape != tokens.shape:
            raise ValueError("The data have one target a context: take whole lines (examples: lines).")
        keys, counts = self.ngram_ids(tokens, targets)[targets != IGNORED].unique(return_counts=True)
        self.keys, where = torch.cat([self.keys, keys]).unique(return_inverse=True)
        total = torch.zeros_like(self.keys).index_add_(0, where, torch.cat([self.counts.long(), counts]))
        self.counts, self._levels = total.int(), None

    def fit(self, tokens: Tensor) -> None:
        """Count whole texts (B, T), each after begin tokens, from nothing."""
        self.reset_counts()
        self.count(self._shifted(tokens))

    def resize_buffers(self, state: Mapping[str, Tensor]) -> None:
        if {"keys", "counts"} <= state.keys():
            self.keys = self.keys.new_zeros(state["keys"].shape)
            self.counts = self.counts.new_zeros(state["counts"].shape)
        self._levels = None

    @property
    def num_parameters(self) -> int:
        """Number of different n-grams that are counted."""
        return len(self.keys)

    @property
    def num_predictable(self) -> int:
        """Number of tokens that may come next: V without the begin token."""
        return self.vocab_size - (self.bos is not None)

    # --- the recursion ---

    @property
    def levels(self) -> list[Level]:
        """From the top order down; computed once from the stored counts."""
        if self._levels is None:
            keys, counts, levels = self.keys, self.counts.double(), []
            kneser_ney = self.smoothing in ("kneser-ney", "modified")
            for m in range(self.order, 0 if kneser_ney else self.order - 1, -1):
                if m < self.order:  # c is now the number of different tokens before: one for each key above
                    keys, lefts = (keys % self.base**m).unique(return_counts=True)
                    counts = lefts.double()
                levels.append(self._level(m, keys, counts))
            self._levels = levels
        return self._levels

    def _level(self, m: int, keys: Tensor, counts: Tensor) -> Level:
        contexts, where, types = (keys // self.base).unique(return_inverse=True, return_counts=True)
        starts = F.pad(types.cumsum(0), (1, 0))
        total = torch.zeros(len(contexts), dtype=torch.float64, device=keys.device).index_add_(
            0, where, counts
        )
        discounts = torch.zeros(3, dtype=torch.float64)
        if self.smoothing == "add":
            total = total + self.alpha * self.num_predictable
            p, back = counts / total[where], self.alpha * self.num_predictable / total
        else:
            if self.smoothing != "none" and (m > 1 or self.uniform):
                discounts = (
                    estimate_discounts(counts, self.smoothing == "modified")
                    if self.discount is None
                    else torch.full((3,), self.discount, dtype=torch.float64)
                )
            off = discounts.to(keys.device)[counts.clamp(max=3).long() - 1]
            p = (counts - off).clamp(min=0) / total[where]
            back = torch.zeros_like(total).index_add_(0, where, off) / total
        return Level(m, keys, counts, p, contexts, starts, total, back, discounts)

    def _lowest(self) -> float:
        """P_0: uniform, or nothing where the recursion must not reach it."""
        return 0.0 if self.smoothing == "none" else 1 / self.num_predictable

    # --- density ---

    def token_log_probs(self, tokens: Tensor, targets: Tensor) -> Tensor:
        """log P(targets[:, t] | tokens[:, :t + 1]) in nats, (B, T); 0 for targets of -100."""
        p = self._score(self.ngram_ids(tokens, targets))
        p = p.masked_fill(targets == IGNORED, 1.0)
        if self.bos is not None:
            p = p.masked_fill(targets == self.bos, 0.0)
        return p.log()

    def _score(self, key: Tensor) -> Tensor:
        """P(w | h) of n-grams given as numbers, any shape."""
        p = torch.full(key.shape, self._lowest(), dtype=torch.float64, device=key.device)
        for level in reversed(self.levels):
            gram = key % self.base**level.order
            context, result = find(level.contexts, gram // self.base)
            place, hit = find(level.keys, gram)
            if len(level.keys):
                p = torch.where(result, level.p[place] * hit + level.back[context] * p, p)
        return p

    def train_nll(self) -> float:
        """Mean nats of the counted tokens themselves, from the counts alone."""
        return float(-(self.counts * self._score(self.keys).log()).sum() / self.counts.sum())

    def lower_order(self, order: int, **settings: Any) -> "NGram":
        """The model of a lower order on the same text, `smoothing` and its parameters as given.

        Raises:
            ValueError: the order is higher than what was counted.
        """
        if order > self.order:
            raise ValueError(f"order is {order}: only {self.order}-grams were counted.")
        model = NGram(**{**self.hparams, **settings, "order": order})
        # every n-gram ends in one counted token, so its last m tokens count each m-gram once
        model.keys, where = (self.keys % self.base**order).unique(return_inverse=True)
        model.counts = torch.zeros_like(model.keys).index_add_(0, where, self.counts.long()).int()
        return model

    def _shifted(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Shift texts, so that every token is a target; before the first stands a begin token."""
        return F.pad(tokens[:, :-1], (1, 0), value=self.pad), tokens

    def log_prob(self, tokens: Tensor) -> Tensor:
        """log p of whole texts (B, T) that start after begin tokens -> (B,), nats; -∞ where it is."""
        return self.token_log_probs(*self._shifted(tokens)).sum(1)

    def next_log_probs(self, prefix: Tensor, padding: Tensor | None = None) -> Tensor:
        """log P(· | prefix), (B, T) int64 with T ≥ 0 -> (B, V), nats; `padding` as in `NextToken`.

        Raises:
            ValueError: maximum likelihood after a context that was never seen.
        """
        if padding is not None:
            prefix = prefix.masked_fill(padding, self.pad)
        B, V, h = len(prefix), self.vocab_size, self._history(prefix)
        # the recursion unrolled: P_n = Σ_m p_m(hw) Π_{j > m} back_j, and last P_0 = 1/V; `weight` is Π back
        weight = torch.ones(B, dtype=torch.float64, device=h.device)
        cells, parts = [], []
        for level in self.levels:
            context, result = self._contexts(level, h)
            if not len(level.keys):
                continue  # nothing was counted
            row, place = level.followers(context, result)
            cells.append(row * V + level.keys.take(place) % self.base)
            parts.append(level.p.take(place) * weight.take(row))
            weight = torch.where(result, weight * level.back.take(context), weight)
        p = (weight * self._lowest())[:, None].repeat(1, V)
        if self.bos is not None:
            p[:, self.bos] = 0
        if cells:
            p.view(-1).index_add_(0, torch.cat(cells), torch.cat(parts))
        return p.log()

    def incremental_decoder(self) -> TextDecoder:
        """Decoder that reads the last n - 1 tokens."""
        return TextDecoder(self, self.order - 1)

    def _history(self, prefix: Tensor) -> Tensor:
        """The last n - 1 tokens of each prefix (B, T) as a number, (B,)."""
        start = self.order - 1 - prefix.shape[1]
        last = F.pad(prefix, (start, 0), value=self.pad) if start >= 0 else prefix[:, -start:]
        weights = self.base ** torch.arange(self.order - 2, -1, -1, device=prefix.device)
        return (last * weights).sum(1)

    def _contexts(self, level: Level, h: Tensor) -> tuple[Tensor, Tensor]:
        """Context of a level that each history (B,) ends in, and True where it was seen."""
        context, result = find(level.contexts, h % self.base ** (level.order - 1))
        if self.smoothing == "none" and not result.all():
            raise ValueError(
                "This context was never seen: maximum likelihood has no distribution after it; "
                "choose a smoothing or a lower order."
            )
        return context, result

    def _mix(self, prefix: Tensor) -> list[Tensor]:
        """P_0, P_1, …, P_n after each prefix: probabilities (B, V) each."""
        B, V, h = len(prefix), self.vocab_size, self._history(prefix)
        p = torch.full((B, V), self._lowest(), dtype=torch.float64, device=prefix.device)
        if self.bos is not None:
            p[:, self.bos] = 0
        mixed = [p]
        for level in reversed(self.levels):
            context, result = self._contexts(level, h)
            if len(level.keys):
                row, place = level.followers(context, result)
                p = torch.where(result, level.back.take(context), 1.0)[:, None] * p
                p[row, level.keys.take(place) % self.base] += level.p.take(place)
            mixed.append(p)
        return mixed

    def backoff(self, prefix: Tensor) -> Trace:
        """Trace of how P(· | prefix) is mixed, from P_0 upwards; prefix (T,).

        Values: `order`; `context` (the tokens read); `seen`; `total` c(h·); `types` N₁₊(h·); `back`;
        `discounts` (3,); `p` (V,) this order's own part; `mixed` (V,) P_m; `weight` of this order's own
        part in the top order's distribution. Result: P_n, (V,).
        """
        mixed = self._mix(prefix[None])
        start = self.order - 1 - len(prefix)
        last = (
            F.pad(prefix, (start, 0), value=self.pad) if start > 0 else prefix[len(prefix) - self.order + 1 :]
        )
        values: list[dict[str, Any]] = []
        remaining = 1.0  # how much of P_n this order may still decide
        for level in self.levels:
            context = last[len(last) - level.order + 1 :]
            key = int(sum(int(t) * self.base**i for i, t in enumerate(context.flip(0))))
            at, result = find(level.contexts, torch.tensor(key, device=level.contexts.device))
            back = float(level.back[at]) if result else 1.0
            below = mixed[len(mixed) - len(values) - 2][0]
            values.append(
                {
                    "order": level.order,
                    "context": context,
                    "seen": bool(result),
                    "total": float(level.total[at]) if result else 0.0,
                    "types": int(level.starts[at + 1] - level.starts[at]) if result else 0,
                    "back": back,
                    "discounts": level.discounts,
                    "p": mixed[len(mixed) - len(values) - 1][0] - back * below,
                    "mixed": mixed[len(mixed) - len(values) - 1][0],
                    "weight": remaining * (1 - back),
                }
            )
            remaining *= back
        bottom = {
            "order": 0,
            "context": last[:0],
            "p": mixed[0][0],
            "mixed": mixed[0][0],
            "weight": remaining,
        }
        steps = [Step(f"Order 0: all {self.num_predictable} tokens alike.", bottom, r"P_0 = 1/V")]
        for value in reversed(values):
            m, known = value["order"], value["seen"]
            caption = (
                f"Order {m}: the context was followed {value['total']:g} times, by {value['types']} tokens."
                if known
                else f"Order {m}: the context was never seen, so P_{m} = P_{m - 1}."
            )
            equation = rf"P_{m} = p_{m} + {value['back']:.4f}\,P_{m - 1}"
            steps.append(Step(caption, value, equation))
        return Trace(steps, mixed[-1][0])

    def step(self, batch: tuple[Tensor, Tensor], split: Split) -> Tensor:
        tokens, targets = batch
        nll = -self.token_log_probs(tokens, targets)[targets != IGNORED]
        self.log_metric(split, "nll", nll)
        return nll.mean()

    sample = former("n", "length", "temperature", "prompt", "generator")(TextSampler.sample)
    sample_trace = former("prompt", "length")(TextSampler.sample_trace)
