r"""Activation patching: which places of a model carry what tells two prompts apart.

    d = z_a − z_b                                        a, b: the clean prompt's answer, and the other
    r = (d_patched − d_corrupted) / (d_clean − d_corrupted)

d is the lead of one next token over another after the last token. In each run of the corrupted prompt one
activation is replaced by the clean run's: r is 0 where that changes nothing, 1 where it restores the clean
answer; it may lie outside. Attribution patching asks the gradient instead, for all places in one pass:

    d_patched − d_corrupted ≈ (a_clean − a_corrupted) · ∂d/∂a        at the corrupted run

Shapes: `N` runs, `T` time, `C` channels, `H` heads, `R` rows and `K` columns of a map: layers and positions,
or layers and heads.

References: Meng et al. 2022, arXiv:2202.05262 (causal tracing); Wang et al. 2022, arXiv:2211.00593 (paths
between heads); Nanda 2023, Attribution patching; Syed et al. 2023, arXiv:2310.10348.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

import torch
from torch import Tensor

from modules.base import require_one_of
from modules.transformer.block import Block
from modules.transformer.gpt import GPT
from modules.transformer.heads import Heads
from modules.transformer.recorder import record_attention
from modules.transformer.stream import Point, record_stream

Site = Literal["stream", "sublayers", "heads"]
LEAST = 1e-3  # logits: a smaller difference of both prompts is none
TOKENS = 4096  # in one batch of runs


@dataclass(frozen=True)
class PatchMap:
    """Result of patching every place by itself.

    Attributes:
        clean, corrupted: d of both prompts as they are.
        patched: (R, K), d of the corrupted prompt with one place patched.
        linear: (R, K), what the gradient at the corrupted run says that `patched` is.
    """

    clean: float
    corrupted: float
    patched: Tensor
    linear: Tensor

    def share(self, d: Tensor) -> Tensor:
        """Of the difference between both prompts, the share that d has."""
        return (d - self.corrupted) / (self.clean - self.corrupted)

    @property
    def recovered(self) -> Tensor:
        """r of each place, (R, K)."""
        return self.share(self.patched)

    @property
    def approximation(self) -> Tensor:
        """r of each place by the gradient, (R, K)."""
        return self.share(self.linear)

    @property
    def correlation(self) -> float | None:
        """Pearson's correlation of both maps over their places; None where one of them is constant."""
        x, y = (m.double().flatten() - m.double().mean() for m in (self.recovered, self.approximation))
        size = float(x.norm() * y.norm())
        return float(x @ y) / size if size > 0 else None


def leads(model: GPT, tokens: Tensor, answers: Tensor) -> Tensor:
    """d = z_a − z_b after the last token: (N, T), ids (2,) -> (N,)."""
    logits = model.next_logits(tokens)  # (N, V)
    return logits[:, answers[0]] - logits[:, answers[1]]


def changes(model: GPT, tokens: Tensor, site: Site) -> tuple[list[list[Point]], Tensor]:
    """Points (R × K) of a map, and what a patch adds there, a_clean − a_corrupted: (R, K, T, C).

    "stream": the residual stream as it enters the first block and as it leaves each, by position;
    "sublayers": what each sublayer adds to it, by position, in their order; "heads": what each head adds, at
    all positions together.
    """
    with record_stream() as stream, record_attention(store=site == "heads") as seen:
        model.hidden(tokens)
    blocks = list(model.blocks)
    if site == "heads":
        rows = []
        for block in blocks:
            layer = block.mixer
            if not isinstance(layer, Heads) or layer not in seen.calls or seen.calls[layer][0].values is None:
                raise ValueError("The model has a block without heads of attention: patch the stream.")
            (call,) = seen.calls[layer]
            clean, corrupted = layer.by_head(call.weights, cast(Tensor, call.values))  # (H, T, C)
            gain = block.mixer_gain if block.residual == "rezero" else 1.0
            rows.append(gain * (clean - corrupted))
        return [[(block, "mixer")] * len(row) for block, row in zip(blocks, rows, strict=True)], torch.stack(
            rows
        )
    if site == "stream":
        points: list[Point] = [(blocks[0], "in"), *((block, "out") for block in blocks)]
    else:
        points = [(block, name) for block in blocks for name in cast(Block, block).sublayers]
    T = tokens.shape[1]
    differences = torch.stack([stream.values[p][0] - stream.values[p][1] for p in points])  # (R, T, C)
    alone = torch.eye(T).to(differences)[:, :, None]  # (K, T, 1)
    return [[point] * T for point in points], differences[:, None] * alone


def patched_leads(
    model: GPT, tokens: Tensor, answers: Tensor, points: Sequence[Point], added: Tensor
) -> Tensor:
    """d of N runs of one prompt (T,), in the n-th of which `added[n]` (T, C) is added at `points[n]`: (N,).

    Many runs are one batch.
    """
    size, results = max(1, TOKENS // len(tokens)), []
    for start in range(0, len(points), size):
        rows: dict[Point, list[int]] = {}
        for n, point in enumerate(points[start : start + size]):
            rows.setdefault(point, []).append(n)
        part = added[start : start + size]

        def edit(x: Tensor, chosen: list[int], part: Tensor = part) -> Tensor:
            index = torch.tensor(chosen, device=x.device)
            return x.index_add(0, index, part[index])

        edits = {point: (lambda x, chosen=chosen: edit(x, chosen)) for point, chosen in rows.items()}
        with record_stream(edits):
            results.append(leads(model, tokens.expand(len(part), -1), answers))
    return torch.cat(results) if results else added.new_zeros(0)


def gradients(model: GPT, tokens: Tensor, answers: Tensor, points: Sequence[Point]) -> Tensor:
    """∂d/∂a of each point in a run of one prompt (T,): (R, T, C)."""
    first: Point = (model.blocks[0], "in")
    with torch.enable_grad(), record_stream({first: lambda x: x.detach().requires_grad_()}) as stream:
        d = leads(model, tokens[None], answers)[0]
        found = torch.autograd.grad(d, [stream.values[point] for point in points])
    return torch.cat(found)


@torch.no_grad()
def activation_patching(model: GPT, tokens: Tensor, answers: Tensor, site: Site) -> PatchMap:
    """Patch every place by itself, and ask the gradient for the same.

    Places where both runs agree are not run again: r is exactly 0 there.

    Args:
        tokens: (2, T), the clean prompt and the corrupted one, T ≤ context.
        answers: (2,), ids of a and b.
        site: what is patched, as in `changes`.

    Raises:
        ValueError: prompts or answers agree, the model does not tell them apart, or a site is unknown.
    """
    require_one_of(Site, site=site)
    if tokens.shape[1] > model.context:
        raise ValueError(f"The prompts have {tokens.shape[1]} tokens: {model.context} at most.")
    if torch.equal(tokens[0], tokens[1]):
        raise ValueError("Both prompts are the same: change a token of one.")
    if answers[0] == answers[1]:
        raise ValueError("Both answers are the same token: choose two.")
    clean, corrupted = leads(model, tokens, answers).tolist()
    if not abs(clean - corrupted) >= LEAST:
        raise ValueError(
            f"The model does not tell the prompts apart: the lead is {clean:.3f} behind the one and "
            f"{corrupted:.3f} behind the other. Choose other answers or prompts."
        )
    points, added = changes(model, tokens, site)
    R, K = added.shape[:2]
    slope = gradients(model, tokens[1], answers, [row[0] for row in points])  # (R, T, C)
    linear = corrupted + (added * slope[:, None]).sum((2, 3))  # (R, K)
    flat, places = added.flatten(0, 1), [point for row in points for point in row]
    differs = (flat != 0).flatten(1).any(1)
    run = differs.nonzero()[:, 0].tolist()
    patched = added.new_full((R * K,), corrupted)
    patched[differs] = patched_leads(model, tokens[1], answers, [places[n] for n in run], flat[differs])
    return PatchMap(clean, corrupted, patched.unflatten(0, (R, K)), linear)
