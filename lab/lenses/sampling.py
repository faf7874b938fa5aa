"""The sampling lens for text: one token at a time, before and after truncation, and what it costs.

`V` vocabulary, `T` tokens.

References: Holtzman et al. 2019, arXiv:1904.09751; [UDL] §12.7.3, [LLM] part 4 (the cost without a
cache is O(T³) scores, not the O(T²) of the text).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from datamodules.tokenizer import Tokenizer
from lab.lenses.text import shown
from modules.language import decoding
from modules.language.truncation import SamplingParams, Truncated, truncate
from modules.trace import Trace
from modules.transformer.gpt import GPT

__all__ = [
    "Cost",
    "Draws",
    "PValues",
    "Reel",
    "cost",
    "draw",
    "mass",
    "p_values",
    "ranked",
    "reel",
    "trace",
    "truncate",
]


def trace(model: GPT, coder: Tokenizer, prompt: Tensor, length: int, seed: int = 0, **params: Any) -> Trace:
    """`GPT.sample_trace` with tokens that can be read."""
    generator = torch.Generator().manual_seed(seed)
    return model.sample_trace(
        prompt=prompt, length=length, names=shown(coder.tokens), generator=generator, **params
    )


def mass(story: Truncated, most: int = 24) -> Tensor:
    """Mass of the 1, 2, ... `most` most probable tokens after temperature, before the cut: (most,)."""
    return story.tempered.sort(descending=True, stable=True).values.cumsum(0)[:most]


def ranked(story: Truncated, most: int = 24) -> Tensor:
    """Ids of the `most` most probable tokens, first the first; ties by the lower id. No temperature changes
    their order, but at 0 all the rest would tie."""
    return story.before.sort(descending=True, stable=True).indices[:most]


@dataclass(frozen=True)
class Reel:
    """The likeliest tokens of every step of a trace, ready to be drawn.

    Attributes:
        ids: (S, N), the likeliest first.
        names: S lists of N.
        before, after: (S, N). kept: (S, N) bool.
        drawn: (S,), the place of the token drawn among these, −1 where it is not.
        captions, equations: one for each step.
    """

    ids: Tensor
    names: list[list[str]]
    before: Tensor
    after: Tensor
    kept: Tensor
    drawn: Tensor
    captions: list[str]
    equations: list[str]


def reel(trace: Trace, params: SamplingParams, names: Sequence[str], most: int = 24) -> Reel:
    """All steps of a trace, their `most` likeliest tokens each; `names` of the whole vocabulary."""
    steps = [step.values for step in trace]
    logits = torch.stack([v["logits"] for v in steps])  # (S, V), in the order of any temperature
    ids = logits.sort(descending=True, stable=True).indices[:, :most]
    before, after, kept = (
        torch.stack([v[k] for v in steps]).gather(1, ids) for k in ("before", "after", "kept")
    )
    hit = ids == torch.tensor([v["token"] for v in steps])[:, None]
    drawn = torch.where(hit.any(1), hit.int().argmax(1), -1)
    captions, equations = [], []
    for step, v in zip(trace, steps, strict=True):
        i, V = v["token"], len(v["kept"])
        captions.append(
            f"{names[i]} is drawn; {int(v['kept'].sum())} of {V} tokens kept, mass {v['mass']:.3f}; "
            f"entropy {v['entropy']:.3f} nats before, {v['entropy_after']:.3f} after."
        )
        if params.temperature > 0:
            fraction = rf"\frac{{\mathrm{{softmax}}(z/{params.temperature:g})_i}}{{\text{{mass kept}}}}"
            equations.append(f"p = {fraction}" + step.equation.removeprefix("p"))
        else:
            equations.append(
                rf"\mathrm{{arg\,max}}_i\, z_i = {i}, \quad z_{{{i}}} = {float(v['logits'][i]):.3f}"
            )
    return Reel(ids, [[names[i] for i in row] for row in ids.tolist()], before, after, kept, drawn,
                captions, equations)  # fmt: skip


@dataclass(frozen=True)
class PValues:
    """The p-values of χ² over many seeds, which of a fair sampler are level.

    Attributes:
        histogram: (10,), how many lie in each tenth of 0 to 1.
        below: the share below 0.05.
    """

    histogram: Tensor
    below: float


def p_values(p: Tensor, n: int, count: int) -> PValues:
    """Distribution of the p-value of `draw(p, n, seed)` over the seeds 0 to count − 1."""
    values = torch.tensor([draw(p, n, seed).p_value for seed in range(count)])
    return PValues(torch.histc(values, 10, 0, 1), float((values < 0.05).double().mean()))


@dataclass(frozen=True)
class Draws:
    """Many draws of one next token, against the distribution they come from.

    Attributes:
        counts: (V,), observed. expected: (V,), n·p.
        statistic: χ² = Σ (observed − expected)²/expected, tokens expected below 5 times pooled.
        freedom: its degrees of freedom, pools − 1.
        p_value: probability of a statistic at least so large if the draws follow p.
    """

    counts: Tensor
    expected: Tensor
    statistic: float
    freedom: int
    p_value: float

    @property
    def equation(self) -> str:
        """χ² with this draw's numbers."""
        n = int(self.counts.sum())
        return (
            rf"\chi^2 = \sum \frac{{(\text{{drawn}} - {n}\,p)^2}}{{{n}\,p}} = {self.statistic:.2f},"
            rf"\quad P(\chi^2_{{{self.freedom}}} \ge {self.statistic:.2f}) = {self.p_value:.3f}"
        )

    @property
    def note(self) -> str:
        return (
            f"{self.freedom} degrees of freedom. Tokens expected less than five times are counted together. "
            "A fair sampler gives a small probability (below 0.01) once in a hundred seeds."
        )


def draw(p: Tensor, n: int = 1000, seed: int = 0) -> Draws:
    """Draw n tokens from p (V,) and compare."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.multinomial(p, n, replacement=True, generator=generator)
    counts = torch.bincount(ids, minlength=len(p)).double()
    expected = n * p.double()
    often = expected >= 5
    cells = [(counts[often], expected[often])]
    if expected[~often].sum() > 0:
        cells.append((counts[~often].sum()[None], expected[~often].sum()[None]))
    observed, wanted = (torch.cat(part) for part in zip(*cells, strict=True))
    statistic = float(((observed - wanted).square() / wanted).sum())
    freedom = len(observed) - 1
    # the χ² distribution's upper tail is a regularised incomplete gamma function
    tail = torch.special.gammaincc(torch.tensor(freedom / 2).double(), torch.tensor(statistic / 2).double())
    return Draws(counts, expected, statistic, freedom, float(tail) if freedom else 1.0)


class _Counter(TorchDispatchMode):
    """Counts, while torch runs in this thread: tokens embedded, scores of attention, multiply-adds."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = self.multiply_adds = self.scores = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        name = func.overloadpacket.__name__
        if name in ("mm", "bmm"):  # (…, n, k) @ (…, k, m)
            self.multiply_adds += out.numel() * args[0].shape[-1]
        elif name == "addmm":
            self.multiply_adds += out.numel() * args[1].shape[-1]
        elif name == "embedding":
            self.tokens += args[1].numel()
        elif name.startswith("_scaled_dot_product"):
            q, k = args[0], args[1]
            B, H, T, D = q.shape
            S = k.shape[2]
            causal = kwargs.get("is_causal", args[4] if len(args) > 4 else False)
            pairs = sum(min(t + 1, S) for t in range(T)) if causal else T * S
            self.scores += B * H * pairs
            self.multiply_adds += 2 * B * H * pairs * D  # q·k, and the weighted sum of values
        return out


@dataclass
class Cost:
    """Work that generating a text did, counted while it ran.

    Attributes:
        tokens: (steps,), tokens encoded at each step.
        scores: (steps,), query-key dot products over all layers and heads.
        multiply_adds: (steps,), of all matrix products.
        bytes: of the keys and values kept; 0 without a cache.
        logits: (steps, V), what was predicted.
        text: the generated ids.
    """

    tokens: list[int] = field(default_factory=list)
    scores: list[int] = field(default_factory=list)
    multiply_adds: list[int] = field(default_factory=list)
    bytes: int = 0
    logits: Tensor = field(default_factory=lambda: torch.empty(0))
    text: list[int] = field(default_factory=list)


def cost(
    model: GPT, prompt: Tensor, length: int, cache: bool, seed: int = 0, keep: int | None = None
) -> Cost:
    """Generate `length` tokens after prompt (T,), counting."""
    result, logits = Cost(), []
    generator = torch.Generator().manual_seed(seed)
    steps = decoding.stream(model.reader(cache, keep), prompt[None], length, generator=generator)
    for _ in range(length):
        with _Counter() as counter:
            z, token = next(steps)
        logits.append(z[0])
        result.tokens.append(counter.tokens)
        result.scores.append(counter.scores)
        result.multiply_adds.append(counter.multiply_adds)
        result.text.append(int(token))
    result.logits = torch.stack(logits)
    if cache:
        result.bytes = sum(layer.nbytes for layer in model.new_cache(1))
    return result
