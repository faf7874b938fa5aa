"""Tuned lens: an affine map behind each layer, then the model's own last norm and head read the stream.

    p_l = softmax(E LN(x_l))                            logit lens
    q_l = softmax(E LN(x_l + W_l x_l + b_l))            tuned lens
    W_l, b_l = argmin E_text KL(p_L ‖ q_l)              of a text that the model has not learned from

Bases and mean of the stream change from layer to layer; the logit lens takes them for those of the last one.
W = 0, b = 0 is the logit lens, where the fit begins; behind the last layer nothing is to be learned.

Shapes: `L` layers, `N` tokens, `B` batch, `T` time, `C` channels, `V` vocabulary.

References: nostalgebraist 2020, the logit lens; Belrose et al. 2023, arXiv:2303.08112.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from modules.base import require
from modules.transformer.gpt import GPT


@dataclass(frozen=True)
class TunedLens:
    """Translators of a model of L layers, of the stream as it enters the first block and after all but the
    last.

    Attributes:
        weight: W, (L, C, C). bias: b, (L, C).
    """

    weight: Tensor
    bias: Tensor

    def translated(self, layer: int, x: Tensor) -> Tensor:
        """Stream (..., C) behind `layer` blocks in the basis of the last: (..., C); the last as it is."""
        if layer == len(self.weight):
            return x
        return x + x @ self.weight[layer].T + self.bias[layer]


def log_p(model: GPT, x: Tensor) -> Tensor:
    """What the model's last norm and head read in a stream: (..., C) -> (..., V)."""
    return model.logits(model.final_norm(x)).log_softmax(-1)


def divergence(final: Tensor, read: Tensor) -> Tensor:
    """KL(p ‖ q) in nats of log p and log q, (..., V) -> (...)."""
    return (final.exp() * (final - read)).sum(-1)


@torch.no_grad()
def divergences(model: GPT, tokens: Tensor, lens: TunedLens | None = None, batch: int = 32) -> Tensor:
    """Mean KL from the final distribution to the one read after each layer, (L + 1,), over texts (N, T);
    without a lens that of the logit lens."""
    total, count = torch.zeros(len(model.blocks) + 1, dtype=torch.float64), 0
    for some in tokens.split(batch):
        stream = list(model.residual_stream(some))
        final = log_p(model, stream[-1])
        for l, x in enumerate(stream):
            moved = x if lens is None else lens.translated(l, x)
            total[l] += divergence(final, log_p(model, moved)).double().sum()
        count += some.numel()
    return total / count


def fit(
    model: GPT, tokens: Tensor, steps: int = 400, batch: int = 16, lr: float = 2e-3, decay: float = 1e-2,
    seed: int = 0,
) -> TunedLens:  # fmt: skip
    """Translators fitted to texts (N, T) by Adam, whose rate falls to 0 along a cosine; the model stays as
    it is.

    Args:
        batch: texts of a step, drawn anew in each.
        decay: towards W = 0, that is towards the logit lens; decoupled, as of AdamW.

    Raises:
        ValueError: an argument is out of range.
    """
    require(1, steps=steps, batch=batch, texts=len(tokens))
    L, C = len(model.blocks), model.width
    at = model.embedding.weight
    weight = torch.zeros(L, C, C, dtype=at.dtype, device=at.device, requires_grad=True)
    bias = torch.zeros(L, C, dtype=at.dtype, device=at.device, requires_grad=True)
    adam = torch.optim.AdamW([weight, bias], lr, betas=(0.9, 0.98), weight_decay=decay)
    draws, lens = torch.Generator().manual_seed(seed), TunedLens(weight, bias)
    for step in range(steps):
        for group in adam.param_groups:
            group["lr"] = lr * 0.5 * (1 + math.cos(math.pi * step / steps))
        some = tokens[torch.randint(len(tokens), (batch,), generator=draws)]
        with torch.no_grad():
            stream = list(model.residual_stream(some))
            final = log_p(model, stream[-1])
        losses = [divergence(final, log_p(model, lens.translated(l, x))).mean() for l, x in
                  enumerate(stream[:-1])]  # fmt: skip
        weight.grad, bias.grad = torch.autograd.grad(torch.stack(losses).sum(), [weight, bias])
        adam.step()
    return TunedLens(weight.detach(), bias.detach())
