"""word2vec as it learns: the tables of the reader's text, epoch after epoch, in lanes beside each other.

Shapes: `T` frames, `V` words, `d` dimensions, `k` words on each side.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from lab.lenses.training import training_steps
from lab.seeding import seeded
from pages.language.word2vec.lens import Method, model, read

EPOCHS, EVERY, TRAIL = 200, 2, 8  # frames every EVERY epochs; a trail is so many frames long
NEARER = {  # to the floor, and why it is not
    "full softmax": "It lowers these very nats, but at this rate it has come less far.",
    "negative sampling": "It tells pairs from noise: these nats are not what it lowers.",
}


@dataclass(frozen=True)
class Training:
    """The tables while they learn the whole text, one step of Adam an epoch.

    Attributes:
        v, u: (T, V, d) after 0, EVERY, … EPOCHS epochs.
        nll: (T,) nats per predicted word, by the full softmax.
    """

    v: Tensor
    u: Tensor
    nll: Tensor


def train(text: str, k: int, d: int, rate: float, method: Method, loss: str, negatives: int) -> Training:
    """Train from the same random vectors with a loss: "softmax", or "negative" sampling.

    Skip-gram has the expected loss of all draws of noise words, CBOW the loss of those drawn (seed 0).
    """
    window = read(text, k)
    result = model(window, d, method)
    result.loss, result.negatives = loss, negatives  # type: ignore[assignment]
    result.requires_grad_(True)
    batch = (window.centres, window.contexts)
    pairs: Any = (window.pairs(method).to(result.v.dtype),) if method == "skip-gram" else batch
    optimizer = torch.optim.Adam((result.v, result.u), rate / 10)
    frames: list[tuple[Tensor, Tensor, Tensor]] = []

    def run() -> None:
        for done, _ in training_steps(partial(result.step, pairs, "train"), optimizer, EPOCHS):
            if done % EVERY == 0:
                with torch.no_grad():
                    frames.append((result.v.clone(), result.u.clone(), result.step(batch, "val")))

    seeded(run)
    return Training(*(torch.stack(part) for part in zip(*frames, strict=True)))


def lanes(tables: list[Tensor]) -> Tensor:
    """Tables (T, V, d) of several lanes along the two directions in which their last frames are longest:
    (lanes, T, V, 2)."""
    last = torch.cat([table[-1] for table in tables])
    d = last.shape[1]
    flat = torch.eye(d, 2, dtype=last.dtype)
    if d > 2:
        flat = torch.linalg.svd(last, full_matrices=False).Vh[:2].T
    return torch.stack([table @ flat for table in tables])


def trails(points: Tensor) -> Tensor:
    """The last TRAIL frames of every word as one line a frame, words apart by NaN:
    (T, V, 2) -> (T, V (TRAIL + 1), 2)."""
    T, V, _ = points.shape
    when = (torch.arange(T)[:, None] - torch.arange(TRAIL)).clamp(min=0)  # (T, TRAIL)
    lines = points[when].transpose(1, 2)  # (T, V, TRAIL, 2)
    gap = torch.full((T, V, 1, 2), torch.nan, dtype=points.dtype)
    return torch.cat([lines, gap], 2).reshape(T, V * (TRAIL + 1), 2)
