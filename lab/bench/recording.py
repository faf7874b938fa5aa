"""Cost of attention that *can* be recorded, while nobody records."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from lab.bench.timing import Row, interleaved, paired_row
from modules.transformer.attention import Attention, KVCache
from modules.transformer.gpt import GPT
from modules.transformer.heads import SourceKeys


class Bare(Attention):
    """The same layer with the fused kernel and nothing else: no recorder is ever asked for."""

    def forward(
        self,
        x: Tensor,
        source: Tensor | SourceKeys | None = None,
        causal: bool = False,
        padding: Tensor | None = None,
        cache: KVCache | None = None,
        allowed: Tensor | None = None,
        bias: Tensor | None = None,
        positions: Tensor | None = None,
    ) -> Tensor:
        q, k, v = self.split(x, source)
        if cache is not None:
            k, v = cache.append(k, v)
        causal = causal and q.shape[2] > 1
        dropout = self.dropout if self.training else 0.0
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=dropout, is_causal=causal, scale=self.scale)
        return self.proj(y.transpose(1, 2).flatten(2))


def without_hook(model: GPT) -> GPT:
    """A copy of the model, same parameters, whose attention cannot be recorded."""
    copy = GPT(**model.hparams)
    copy.load_state_dict(model.state_dict())
    for module in copy.modules():
        if type(module) is Attention:
            module.__class__ = Bare
    return copy


def measure(quick: bool = False) -> list[Row]:
    """Forward, forward + backward and cached generation, with and without the possibility to record."""
    sizes: dict[str, Any] = (
        {"layers": 1, "heads": 2, "width": 16} if quick else {"layers": 4, "heads": 4, "width": 128}
    )
    context, batch, repeats = (8, 2, 3) if quick else (64, 12, 40)
    torch.manual_seed(0)
    model = GPT(vocab_size=65, context=context, **sizes)
    bare = without_hook(model)
    tokens = torch.randint(65, (batch, context))

    def forward(gpt: GPT) -> Tensor:
        with torch.no_grad():
            return gpt(tokens)

    def backward(gpt: GPT) -> None:
        gpt.zero_grad(set_to_none=True)
        F.cross_entropy(gpt(tokens).flatten(0, 1), tokens.flatten()).backward()

    def generate(gpt: GPT) -> Tensor:
        return gpt.generate(tokens[:1, :1], context - 1, temperature=0)

    if not torch.equal(forward(model), forward(bare)):
        raise AssertionError("with and without the hook the logits differ: nothing to compare.")
    cases: dict[str, Callable[[GPT], Any]] = {
        "forward": forward,
        "forward and backward": backward,
        "generation": generate,
    }
    rows = []
    for case, call in cases.items():
        pairs = interleaved(partial(call, model), partial(call, bare), repeats, calls=1 if quick else 2)
        rows.append(paired_row("recording", f"nobody records: {case}", pairs, "≤ 1.05", "peer: no hook"))
    return rows
