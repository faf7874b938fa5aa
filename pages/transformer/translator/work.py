"""What a step of decoding computes with its caches and without, and how well heads align."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from datamodules.spanish import AlignedPairs, sentences, tokenizer
from lab.lenses import attention
from lab.lenses import text as texts
from modules.recurrent.alignment import AlignmentErrorRate
from modules.transformer.recorder import AttentionRecorder, record_attention
from modules.transformer.translator import Translator
from pages.transformer.translator.lens import Pairs, search
from pages.transformer.translator.room import CROSS, DECODER, ENCODER

SENTENCES = 200  # of the test split, of 1 to 4 clauses


@dataclass(frozen=True)
class Work:
    """Counts of each of T steps.

    Attributes:
        encoded, decoded: tokens that pass the encoder and the decoder.
        cells: attention weights that are computed, of all layers and heads: those of the encoder, of
            cross-attention and of the decoder's self-attention, each (T,).
    """

    encoded: list[int]
    decoded: list[int]
    cells: dict[str, list[int]]

    @property
    def sums(self) -> list[int]:
        """Cells of all three at each step."""
        return [sum(step) for step in zip(*self.cells.values(), strict=True)]


def counted(model: Translator, recorders: list[AttentionRecorder]) -> Work:
    """What recorders of one step each have seen."""
    stacks = attention.stacks(model)

    def tokens(seen: AttentionRecorder, part: str) -> int:
        return sum(call.weights.shape[2] for call in seen.calls.get(stacks[part][0], ()))

    cells = {
        part: [
            sum(c.weights.numel() for layer in stack for c in seen.calls.get(layer, ())) for seen in recorders
        ]
        for part, stack in stacks.items()
    }
    encoded, decoded = ([tokens(seen, part) for seen in recorders] for part in (ENCODER, DECODER))
    return Work(encoded, decoded, cells)


@torch.no_grad()
def both_ways(
    model: Translator, model_card: Mapping[str, Any], text: str, prefix: str, beam: int, maps: str, off: Pairs
) -> tuple[Work, Work]:
    """Write the translation of a sentence token by token, with caches, and all anew at each step."""
    found = search(model, model_card, text, prefix, beam, maps, off)
    source, target = found.source.ids[None], torch.tensor([found.tokens])
    decoder, state = model.incremental_decoder(), None
    cached, anew = [], []
    for t in range(len(found.tokens)):
        with record_attention() as seen:
            _, state = decoder.start(source) if state is None else decoder.step(state, target[:, t - 1])
        cached.append(seen)
        with record_attention() as seen:
            model(source, target[:, : t + 1])
        anew.append(seen)
    return counted(model, cached), counted(model, anew)


@dataclass(frozen=True)
class Aligned:
    """
    Attributes:
        errors: alignment error rate of the largest weight of each word, (L, H), over test sentences.
        hits, links: (L, H), |A ∩ S| + |A ∩ P| and |A| + |S|.
        own: share of words of the reader's sentence whose largest weight is at a gold link, (L, H); None
            where its gold links are not known.
    """

    errors: Tensor
    hits: Tensor
    links: Tensor
    own: Tensor | None


@torch.no_grad()
def aligned(model: Translator, model_card: Mapping[str, Any], text: str) -> Aligned:
    """Alignment error rate of every head, under teacher forcing."""
    pairs = AlignedPairs(sentences(SENTENCES, (1, 4), "test", seed=0), tokenizer())
    rows, stack = torch.arange(len(pairs)), attention.stacks(model)[CROSS]
    source, length, _, target = pairs[rows]
    with record_attention() as seen:
        model(source, target, length)
    links, metrics = pairs.links(rows), []
    for layer in stack:
        for h in range(layer.heads):
            metric = AlignmentErrorRate(None)
            metric.update(seen.calls[layer][0].weights[:, h], *links)
            metrics.append(metric)
    L, H = len(stack), stack[0].heads
    hits, counts = (torch.stack([getattr(m, k) for m in metrics]).view(L, H) for k in ("hits", "links"))
    return Aligned(1 - hits / counts, hits, counts, own_share(model, model_card, text))


def own_share(model: Translator, model_card: Mapping[str, Any], text: str) -> Tensor | None:
    """Share of the words of a sentence's gold translation whose largest weight is at a gold link: (L, H)."""
    found = search(model, model_card, text, "", 1, CROSS, ())
    if (gold := found.source.gold) is None:
        return None
    coder = texts.tokenizer(model_card)
    target = torch.tensor([[*coder.encode(" ".join(gold.spanish)), model.eos]])
    stack = attention.stacks(model)[CROSS]
    maps = attention.record_pass(lambda: model(found.source.ids[None], target)[0], stack)
    gold_links = torch.zeros(maps.weights.shape[2:], dtype=torch.bool)  # (T, S)
    for t, linked in enumerate(gold.possible):
        gold_links[t, list(linked)] = True
    words = gold_links.any(1)
    right = gold_links[torch.arange(len(words)), maps.weights.argmax(-1)]  # (L, H, T)
    return right[..., words].float().mean(-1)
