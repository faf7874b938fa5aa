"""Generation with a KV cache against recomputing the whole context at every token, and beams of many
sentences at once against one hypothesis at a time."""

from functools import partial
from typing import Any

import torch
from torch import Tensor

from lab.bench.gpt import INSTALL
from lab.bench.timing import Row, interleaved, paired_row
from modules.base import IncrementalDecoder
from modules.language.beam import batched_beam_search
from modules.recurrent.seq2seq import Seq2Seq
from modules.transformer.gpt import GPT

NEW_TOKENS = 16  # drawn after a context of that many tokens
BEAM, SENTENCES = 5, 100


def measure(quick: bool = False) -> list[Row]:
    """Time of one pass over a prompt and `NEW_TOKENS` tokens after it, at 64 and 256 tokens of context, and
    of a beam search of `SENTENCES` sentences.

    The ratios are recomputation / cache and one / many at a time, so larger is better.
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
    return [*rows, beams(quick), bart(quick)]


class OneAtATime:
    """A decoder whose rows go through the model one after the other, each with its own cache."""

    def __init__(self, decoder: IncrementalDecoder) -> None:
        self.decoder = decoder

    def start(self, source: Tensor, padding: Tensor | None = None) -> tuple[Tensor, "States"]:
        """Read prefixes (B, T) without padding."""
        return States.joined([self.decoder.start(row[None]) for row in source])

    def step(self, state: "States", token: Tensor) -> tuple[Tensor, "States"]:
        """Read one more token (B,)."""
        rows = zip(state, token.split(1), strict=True)
        return States.joined([self.decoder.step(*row) for row in rows])


class States(list):
    """States of single rows, indexed as those of a batch are."""

    @classmethod
    def joined(cls, rows: list[tuple[Tensor, Any]]) -> tuple[Tensor, "States"]:
        """Rows (1, V) with their states as a batch."""
        log_p, states = zip(*rows, strict=True)
        return torch.cat(log_p), cls(states)

    def __getitem__(self, rows: Any) -> "States":
        return States([super(States, self).__getitem__(row) for row in rows.tolist()])


def beams(quick: bool = False) -> Row:
    """Beam search of many sentences at once against one hypothesis at a time, both with a cache."""
    layers, width, count, new = (1, 16, 3, 3) if quick else (4, 128, SENTENCES, 8)
    model = GPT(vocab_size=4000, context=32, layers=layers, heads=2, width=width).eval()
    source = torch.randint(4000, (count, 16), generator=torch.Generator().manual_seed(0))
    single = OneAtATime(model.incremental_decoder())

    def together() -> list[tuple[int, ...]]:
        return [found[0].tokens for found in batched_beam_search(model, source, new, BEAM)]

    def alone() -> list[tuple[int, ...]]:
        return [batched_beam_search(single, row[None], new, BEAM)[0][0].tokens for row in source]

    if together() != alone():
        raise AssertionError("searched together and alone sentences end differently: nothing to compare.")
    pairs = interleaved(together, alone, repeats=3 if quick else 5, warmup=0)
    row = paired_row("generation", f"beam of {BEAM}, {count} sentences, {new} new tokens", pairs)
    return Row(
        row.bench, row.case, row.ours, row.peer, 1 / row.ratio, "≥ 5", "peer: one hypothesis at a time"
    )


def bart(quick: bool = False) -> Row:
    """Beam search of a recurrent translator against that of transformers' BART, both of width 256 with two
    layers in encoder and decoder and random weights: another model, the same task."""
    width, count, source_length, new = (16, 3, 4, 3) if quick else (256, SENTENCES, 12, 12)
    torch.manual_seed(0)
    model = Seq2Seq(4000, embedding=width, hidden=width, layers=2, tied=True).eval()
    source = torch.randint(2, 4000, (count, source_length))
    case = f"beam of {BEAM}, {count} sentences, width {width}, 2 + 2 layers: GRUs and attention"

    def ours() -> list[tuple[int, ...]]:
        return [found[0].tokens for found in batched_beam_search(model, source, new, BEAM)]

    try:
        from transformers import BartConfig, BartForConditionalGeneration
    except ImportError:
        return Row("generation", case, float("nan"), note=INSTALL)
    sizes = {"layers": 2, "attention_heads": 4, "ffn_dim": 4 * width}
    shape: dict[str, Any] = {f"{part}_{k}": v for part in ("encoder", "decoder") for k, v in sizes.items()}
    config = BartConfig(vocab_size=4000, d_model=width, max_position_embeddings=64, pad_token_id=0,
                        bos_token_id=0, eos_token_id=1, decoder_start_token_id=0, forced_eos_token_id=None,
                        **shape)  # fmt: skip
    peer = BartForConditionalGeneration(config).eval()

    @torch.no_grad()
    def theirs() -> Tensor:
        return peer.generate(source, attention_mask=torch.ones_like(source), num_beams=BEAM, do_sample=False,
                             min_new_tokens=new, max_new_tokens=new)  # fmt: skip

    assert theirs().shape == (count, new + 1)  # the start counts
    pairs = interleaved(ours, theirs, repeats=3 if quick else 5, warmup=1)
    return paired_row("generation", case, pairs, note="peer: transformers' BART")
