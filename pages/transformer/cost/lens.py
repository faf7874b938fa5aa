r"""What is computed when a GPT reads a text token by token, and what a transformer of given sizes costs.

    scores of t tokens, one head and layer:   t(t+1)/2 with a cache,   t(t+1)(t+2)/6 without
    FLOPs of a token:                         24 L d² + 4 L T d + 2 d V    where d_ff = 4 d
    KV cache:                                 2 L T d_kv numbers

The grids are not drawn from the formula: a small GPT reads the tokens, and what its attention computed is
recorded at each.

Shapes: grids (F, T, T), F = T steps.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch

from lab.errors import UserError
from lab.seeding import seeded
from modules.transformer import cost
from modules.transformer.cost import BYTES, PRESETS, Size
from modules.transformer.gpt import GPT
from pages.transformer.cost.room import ALL, LENGTHS, ONE, OWN

UNSEEN, EARLIER, NOW = 0.0, 0.5, 1.0
NAMED = {"GPT-3": (175e9, 300e9), "Gopher": (280e9, 300e9), "Chinchilla": (70e9, 1.4e12),
         "LLaMA-65B": (65e9, 1.4e12)}  # fmt: skip
CHIPS = 1_024
STATE = 16  # N of a state space, per channel


# --- One token after another -------------------------------------------------------------------------


@dataclass(frozen=True)
class Reading:
    """What a small GPT computed at each token, with a cache and without.

    Attributes:
        kept, anew: with a cache, and without. apart: the largest difference of their logits.
    """

    kept: list[cost.Pass]
    anew: list[cost.Pass]
    apart: float

    @property
    def passes(self) -> tuple[list[cost.Pass], list[cost.Pass]]:
        return self.kept, self.anew


def reading(length: int, context: int, keep: int) -> Reading:
    """Read `length` tokens by a GPT of one layer and one head.

    Raises:
        UserError: more tokens are kept than the model can see.
    """
    if keep > context:
        raise UserError(f"{keep} tokens are kept of a context of {context}: keep at most {context}.")
    model = seeded(lambda: GPT(10, context=context, layers=1, heads=1, width=16)).eval()
    tokens = torch.randint(10, (length,), generator=torch.Generator().manual_seed(0))
    kept, anew = (cost.passes(model, tokens, cache, keep) for cache in (True, False))
    pairs = zip(kept, anew, strict=True)
    return Reading(kept, anew, max(float((p.logits - q.logits).abs().max()) for p, q in pairs))


def grids(passes: list[cost.Pass]) -> np.ndarray:
    """Scores (F, T, T) of queries (rows) and keys: computed now, computed earlier, or not."""
    T = len(passes)
    frames, done = [], np.full((T, T), UNSEEN)
    for p in passes:
        now = np.where(done > UNSEEN, EARLIER, UNSEEN)
        for query in range(p.seen - p.queries, p.seen):
            now[query, p.seen - p.keys : query + 1] = NOW
        frames.append(now)
        done = now
    return np.stack(frames)


def totals(passes: list[cost.Pass]) -> list[int]:
    """Scores so far."""
    return np.cumsum([p.cells for p in passes]).tolist()


def captions(found: Reading) -> list[str]:
    """Rows that were computed at each token."""
    texts = []
    for p, q in zip(found.kept, found.anew, strict=True):
        rows = "1 row" if p.queries == 1 else f"{p.queries} rows"
        texts.append(
            f"Token {p.seen}, {p.keys} in view: {rows} and {p.cells} scores with a cache; "
            f"{q.queries} and {q.cells} without."
        )
    return texts


def equations(found: Reading) -> list[str]:
    """Sums of scores so far, LaTeX; by the formula as long as the text fits into the context."""
    results = []
    for p, kept, anew in zip(found.kept, *map(totals, found.passes), strict=True):
        t = p.seen
        fits = anew == cost.scores(t, cache=False)
        ways = (r"\tfrac{t(t+1)}{2}=", r"\tfrac{t(t+1)(t+2)}{6}=") if fits else ("", "")
        results.append(
            rf"t={t}:\qquad \text{{scores with a cache}}\;\; {ways[0]}{kept:,},\qquad "
            rf"\text{{without}}\;\; {ways[1]}{anew:,}\qquad (\times\,{anew / kept:.1f})".replace(",", "{,}")
            .replace("{,}\\qquad", ",\\qquad").replace("\\{,}", "\\,")
        )  # fmt: skip
    return results


# --- Sizes -------------------------------------------------------------------------------------------


def size(model: str, layers: int, heads: int, width: int, kv: str) -> Size:
    """A model of the shelf, or one's own; with all its heads of keys and values, a quarter, or one."""
    own = Size(layers, width, heads, 4 * width, 50_257, max(LENGTHS), learned=False)
    chosen = own if model == OWN else PRESETS[model]
    return replace(chosen, kv_heads=None if kv == ALL else 1 if kv == ONE else chosen.heads // 4)


def operations(of: Size) -> dict[str, list[float]]:
    """FLOPs of a token's forward pass at each of LENGTHS: the blocks' weights, attention, and the head."""
    parts = [of.flops(T) for T in LENGTHS]
    return {
        "weights": [float(p["projections"] + p["feed-forward"]) for p in parts],
        "scores and values": [float(p["scores and values"]) for p in parts],
        "head": [float(p["head"]) for p in parts],
    }


def memory(of: Size, precision: str) -> dict[str, list[float]]:
    """Bytes at each of LENGTHS: the weights, and the cache of one text; beside it the cache of all heads."""
    each = BYTES[precision]
    lines = {"weights": [float(of.num_parameters * each)] * len(LENGTHS)}
    sizes = {"KV cache": of}
    if of.kv_width < of.width:
        sizes["of all heads"] = replace(of, kv_heads=None)
    return lines | {
        name: [float(one.cache_numbers(T) * each) for T in LENGTHS] for name, one in sizes.items()
    }


def next_token(of: Size) -> dict[str, list[float]]:
    """Multiply-adds of one head for the next token."""
    kinds: tuple[cost.Kind, ...] = ("softmax", "linear", "state space")
    return {kind: [float(cost.step_cost(kind, T, of.head_width, STATE)) for T in LENGTHS] for kind in kinds}


def meeting(of: Size, chart: str) -> float:
    """T at which the lines of a chart cross: operations, memory, or the next token."""
    if chart == "operations":
        return of.crossing
    if chart == "memory":
        return of.num_parameters / of.cache_numbers(1)
    return float(of.head_width)


def compute(of: Size, data: int) -> dict[str, float]:
    """C = 6 N D of the named models, and of this one on `data` billions of tokens."""
    named = {name: cost.training_flops(*both) for name, both in NAMED.items()}
    return named | {"this one": cost.training_flops(of.num_parameters, data * 1e9)}


def days(flops: float, used: int) -> float:
    """Days of 1,024 A100 of which `used` % is used."""
    return cost.training_days(flops, CHIPS, utilisation=used / 100)


def power(value: float) -> str:
    """3.15 · 10²³ in LaTeX, and small numbers as they are."""
    if value < 1e6:
        return f"{value:,.0f}".replace(",", "{,}")
    mantissa, exponent = f"{value:.3e}".split("e")
    return rf"{mantissa}\cdot10^{{{int(exponent)}}}"


def bytes_of(value: float) -> str:
    """A number of bytes in words, in powers of 1,000."""
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:,.3g} TB"
