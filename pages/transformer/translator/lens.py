"""Lens of the page: a sentence that a translator writes, and what its heads used.

Shapes: `L` layers, `H` heads, `S` source tokens, `T` target tokens with the end, `V` vocabulary. Layers,
heads and tokens count from 0 here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from datamodules.tokenizer import Tokenizer, words
from lab.experiments import Experiment
from lab.lenses import attention, surfaces, translations
from lab.lenses import text as texts
from lab.lenses.beam_tree import Tree, pack, tree
from lab.lenses.translations import END, MOST, english, has_gold, sentence, written
from modules.language.beam import beam_search, beam_trace
from modules.trace import Trace
from modules.transformer.recorder import record_attention
from modules.transformer.translator import Sentence, Translator
from pages.transformer.translator.room import ALIGNMENT, CROSS, ENCODER, EXAMPLES, VIEWS

Card = Mapping[str, Any]
Pairs = tuple[tuple[int, int], ...]
BARS = 7  # next tokens that are drawn
CUT = 3  # columns of the tree for branches that are cut
LONGEST = 24  # tokens of a beginning
BEGIN, PAD = "⊢", "pad"  # shown for <bos>, and for padding


def fits(entry: Experiment) -> bool:
    """Check for a translator of a language whose sentences can be typed here."""
    return surfaces.is_a(entry, Translator)


def views(model_card: Card) -> tuple[str, ...]:
    return VIEWS if has_gold(model_card) else tuple(view for view in VIEWS if view != ALIGNMENT)


def examples(model_card: Card) -> Mapping[str, str]:
    return translations.examples(model_card, EXAMPLES)


def depth(model: Translator, maps: str) -> int:
    return len(attention.stacks(model)[maps])


def width(model: Translator, maps: str) -> int:
    return attention.stacks(model)[maps][0].heads


def from_zero(off: Pairs) -> list[tuple[int, int]]:
    """Layers and heads as the models count them."""
    return [(layer - 1, head - 1) for layer, head in off]


# --- A beginning that is forced -------------------------------------------------------------------


def beginning(model_card: Card, prefix: str) -> tuple[tuple[int, ...], str]:
    """The tokens that a translation must begin with, and what was left out of them ("" for nothing)."""
    coder, says = texts.tokenizer(model_card), []
    if coder.kind == "word":
        known = [word for word in words(prefix) if target_word(coder, word)]
        if strange := [word for word in dict.fromkeys(words(prefix)) if not target_word(coder, word)]:
            says.append(f"Not in the target vocabulary, left out: {', '.join(strange[:5])}.")
        ids = coder.encode(" ".join(known))
    else:
        readable, strange_ones = texts.readable(coder, prefix)
        says += [strange_ones] if strange_ones else []
        ids = coder.encode(readable) if readable else []
    if len(ids) > LONGEST:
        says.append(f"Only the first {LONGEST} tokens are forced.")
    return tuple(ids[:LONGEST]), " ".join(says)


def target_word(coder: Tokenizer, word: str) -> bool:
    """Check whether it is a word of the target language."""
    return word in coder.tokens and (word == "." or word not in english())


def says(prefix: str, model_card: Card) -> str:
    return beginning(model_card, prefix)[1]


class Forced:
    """`IncrementalDecoder` that has written the tokens of a beginning before its first step."""

    def __init__(self, model: Translator, prefix: tuple[int, ...]) -> None:
        self.decoder, self.prefix = model.incremental_decoder(), prefix

    def start(self, source: Tensor, padding: Tensor | None = None) -> tuple[Tensor, Sentence]:
        log_p, state = self.decoder.start(source, padding)
        for token in self.prefix:
            log_p, state = self.step(state, source.new_full((len(source),), token))
        return log_p, state

    def step(self, state: Sentence, token: Tensor) -> tuple[Tensor, Sentence]:
        return self.decoder.step(state, token)


# --- What is written ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Search:
    """The translation of a sentence.

    Attributes:
        source: as it was read. prefix: tokens that were forced.
        trace: of the search behind them, see `beam_trace`. tree: its nodes.
        tokens: of the translation, the forced ones included; greedy: of a beam of 1.
        log_p, greedy_log_p: log p of each of their tokens, (T,).
        vocabulary: tokens. eos: the one that ends a translation.
    """

    source: translations.Sentence
    prefix: tuple[int, ...]
    trace: Trace
    tree: Tree
    tokens: tuple[int, ...]
    greedy: tuple[int, ...]
    log_p: Tensor
    greedy_log_p: Tensor
    vocabulary: list[str]
    eos: int

    @property
    def names(self) -> list[str]:
        return written(self.vocabulary, self.tokens, self.eos)

    def read(self, tokens: tuple[int, ...]) -> str:
        """The words of a translation, without its end."""
        names = [name for name in written(self.vocabulary, tokens, self.eos) if name != END]
        if any("␣" in name for name in names):  # pieces say themselves where a word begins
            return "".join(names).replace("␣", " ").strip()
        return " ".join(names)


@torch.no_grad()
def search(
    model: Translator, model_card: Card, text: str, prefix: str, beam: int, maps: str, off: Pairs
) -> Search:
    """Translate a sentence by a beam; `off` are heads of `maps` that are off."""
    source, coder = sentence(model_card, text), texts.tokenizer(model_card)
    first, x = beginning(model_card, prefix)[0], source.ids[None]
    decoder, most = Forced(model, first), MOST - len(first)
    names = ["end" if i == model.eos else token for i, token in enumerate(coder.tokens)]
    factors = attention.switches(attention.stacks(model)[maps], from_zero(off))
    with record_attention(factors, store=False):
        trace = beam_trace(decoder, x, most, beam, model.eos, names=names)
        found = (trace.result[0], beam_search(decoder, x, most, 1, model.eos)[0])
        tokens, greedy = (first + each.tokens for each in found)
        log_p, greedy_log_p = (log_probs(model, source.ids, each) for each in (tokens, greedy))
    grown = tree(trace, beam + CUT, pack)
    return Search(source, first, trace, grown, tokens, greedy, log_p, greedy_log_p, coder.tokens, model.eos)


def log_probs(model: Translator, source: Tensor, tokens: tuple[int, ...]) -> Tensor:
    """log p of each token given those before it, (T,)."""
    target = torch.tensor([tokens])
    return model(source[None], target)[0].log_softmax(-1).gather(1, target.T)[:, 0]


# --- What heads used ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Look:
    """Attention of one pass over the source and its translation.

    Attributes:
        maps: weights (L, H, R, S) and what made them. rows, columns: names.
        bars: next tokens of each row; None in the encoder. labels: their names.
    """

    maps: attention.Maps
    rows: list[str]
    columns: list[str]
    bars: attention.NextBars | None
    labels: list[list[str]]


@torch.no_grad()
def look(
    model: Translator, model_card: Card, text: str, prefix: str, beam: int, maps: str, pads: int, off: Pairs
) -> Look:
    """Record the layers of `maps` while the translation is read again in one pass."""
    found = search(model, model_card, text, prefix, beam, maps, off)
    stack, switched_off = attention.stacks(model)[maps], from_zero(off)
    S, target = len(found.source.ids), torch.tensor([found.tokens])
    source, lengths = F.pad(found.source.ids[None], (0, pads)), torch.tensor([S])
    columns = [*found.source.names, *[PAD] * pads]
    if maps == ENCODER:
        padding = model.padding(source, lengths)
        whole = attention.record_pass(lambda: model.source_states(source, padding)[0], stack, switched_off)
        # rows of pads are nobody's
        seen = replace(whole, weights=whole.weights[:, :, :S], queries=whole.queries[:, :, :S])
        return Look(seen, found.source.names, columns, None, [])
    seen = attention.record_pass(lambda: model(source, target, lengths)[0], stack, switched_off)
    all_heads = model(source, target, lengths)[0] if off else seen.logits
    bars = attention.next_bars(seen, all_heads, BARS)
    if maps != CROSS:
        columns = [BEGIN, *found.names[:-1]]
    labels = [written(found.vocabulary, row, model.eos) for row in bars.ids.tolist()]
    return Look(seen, found.names, columns, bars, labels)
