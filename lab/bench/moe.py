"""Time of a layer of experts against one dense feed-forward layer of an expert's size, by tokens.

Eight experts of which two run do twice the arithmetic of one, and choose, gather and add besides; of few
tokens each expert's products are small, and choosing them weighs more.
"""

from functools import partial

import torch

from lab.bench.timing import Row, interleaved, paired_row
from modules.transformer.experts import Experts
from modules.transformer.feedforward import FeedForward

WIDTH, HIDDEN, EXPERTS, ACTIVE = 128, 512, 8, 2
TOKENS = (64, 256, 1_024, 2_048, 4_096, 8_192)
ENOUGH = 2_048  # tokens from which on the target holds


@torch.no_grad()
def measure(quick: bool = False) -> list[Row]:
    """Forward pass: seconds of the experts, of the dense layer, and their ratio."""
    torch.manual_seed(0)
    layer = Experts(WIDTH, HIDDEN, EXPERTS, ACTIVE).eval()
    dense = FeedForward(WIDTH, HIDDEN, bias=False).eval()
    rows = []
    for tokens in TOKENS[:2] if quick else TOKENS:
        x = torch.randn(tokens, WIDTH)
        calls = 1 if quick else max(1, 4_096 // tokens)
        pairs = interleaved(partial(layer, x), partial(dense, x), 3 if quick else 25, calls=calls)
        share = float(layer.route(x).load.max())
        target = "≤ 2.6" if tokens >= ENOUGH else ""
        note = f"width {WIDTH}, {HIDDEN} units, {ACTIVE} of {EXPERTS}; largest load {share:.2f}"
        rows.append(paired_row("moe", f"{tokens:,} tokens, forward", pairs, target, note))
    return rows
