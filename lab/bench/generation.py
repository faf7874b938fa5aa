"""Generation with a KV cache against recomputing the whole context at every token."""

from functools import partial
from typing import Any

import torch

from lab.bench.timing import Row, interleaved, paired_row
from modules.transformer.gpt import GPT

NEW_TOKENS = 16  # drawn after a context of that many tokens


def measure(quick: bool = False) -> list[Row]:
    """Time of one pass over a prompt and `NEW_TOKENS` tokens after it, at 64 and 256 tokens of context.

    The ratio is recomputation / cache, so larger is better.
    """
    sizes: dict[str, Any] = (
        {"layers": 1, "heads": 2, "width": 16} if quick else {"layers": 4, "heads": 4, "width": 128}
    )
    rows = []
    for context in (8, 16) if quick else (64, 256):
        model = GPT(vocab_size=65, context=context, **sizes).eval()
        new = context // 4 if quick else NEW_TOKENS
        # the context is full when the last token is drawn, and never slides
        prompt = torch.randint(65, (1, context - new), generator=torch.Generator().manual_seed(0))

        def generate(
            cache: bool, model: GPT = model, prompt: torch.Tensor = prompt, new: int = new
        ) -> torch.Tensor:
            return model.generate(prompt, new, temperature=0, cache=cache)

        if not torch.equal(generate(True), generate(False)):
            raise AssertionError("cache and recomputation give different texts: nothing to compare.")
        pairs = interleaved(partial(generate, True), partial(generate, False), repeats=3 if quick else 25)
        target = "≥ 3" if context == 256 else ""
        row = paired_row("generation", f"KV cache, {context} tokens of context", pairs)
        rows.append(
            Row(row.bench, row.case, row.ours, row.peer, 1 / row.ratio, target, "peer: all recomputed")
        )
    return rows
