"""Models that the page looks into: their text as tokens, the pass over it, and the stack that is shown.

Shapes: `T` tokens of the rows, `S` of the columns, `C` channels, `V` vocabulary.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor, nn

from datamodules.tokenizer import CharTokenizer, Tokenizer
from lab.errors import UserError
from lab.experiments import Experiment
from lab.lenses import attention, hidden_words, surfaces, translations
from lab.lenses import text as texts
from lab.lenses.attention import CROSS, ENCODER
from lab.lenses.translations import END
from modules.transformer.bert import BERT
from modules.transformer.gpt import GPT
from modules.transformer.mixer_tagger import MixerTagger
from modules.transformer.translator import Translator
from pages.transformer.attention.room import WORDS

Card = Mapping[str, Any]
Model = GPT | BERT | Translator | MixerTagger
MOST = 128  # tokens that are drawn; every row is a frame
LETTERS = "abcdefgh.?"  # data, noise and question of selective copying, by their numbers
BEGIN = "⊢"  # shown for <bos>
LANGUAGES = "datamodules.two_languages.TwoLanguages"


def fits(entry: Experiment) -> bool:
    """Check for a model of text with attention, or one of tokens by Mamba."""
    if texts.gpt_of_text(entry) or (entry.module.endswith(".GPT") and entry.datamodule == LANGUAGES):
        return bool(surfaces.option(entry, "mixer") == "softmax")
    if surfaces.is_a(entry, MixerTagger):
        copying = entry.datamodule == "datamodules.algorithmic.SelectiveCopying"
        return copying and bool(surfaces.option(entry, "mixer") == "mamba")
    return hidden_words.predicts_words(entry) or surfaces.is_a(entry, Translator)


def tokenizer(model_card: Card) -> Tokenizer:
    """The tokenizer of the card; letters where the data have numbers alone."""
    if model_card["data"].get("name") == "SelectiveCopying":
        return CharTokenizer(LETTERS)
    return texts.tokenizer(model_card)


def named(model_card: Card, ids: Tensor) -> list[str]:
    """Each token as it is shown: (T,) ids -> T strings."""
    return [END if name == "<eos>" else name for name in texts.names(tokenizer(model_card), ids)]


# --- The text -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Read:
    """A text as rows and columns.

    Attributes:
        tokens: (S,), as the model reads them. queries, pieces: names of the tokens of rows and of columns.
        readable: the text that they spell.
        groups: the tokens of each row. names: of the rows. columns: names of the columns.
        says: a sentence on what was changed in reading it. cut: whether the model sees but its beginning.
        target: (T,), what a translator has written; nothing of other models.
    """

    tokens: Tensor
    queries: list[str]
    pieces: list[str]
    readable: str
    groups: list[range]
    names: list[str]
    columns: list[str]
    says: str
    cut: bool
    target: Tensor

    @property
    def ends(self) -> list[int]:
        """The last token of each row: the next token is read there."""
        return [group[-1] for group in self.groups]


def single(tokens: Tensor, names: list[str], columns: list[str], readable: str, says: str, cut: bool = False,
           target: Tensor | None = None) -> Read:  # fmt: skip
    """A text whose rows are tokens."""
    groups = [range(i, i + 1) for i in range(len(names))]
    nothing = torch.zeros(0, dtype=torch.long)
    return Read(
        tokens, names, columns, readable, groups, names, columns, says, cut,
        nothing if target is None else target,
    )  # fmt: skip


def read(model: Model, model_card: Card, text: str, units: str, stack: str) -> Read:
    """The text as the model's tokens.

    Raises:
        UserError: none of it can be read.
    """
    if isinstance(model, BERT):
        return masked(model, model_card, text)
    if isinstance(model, Translator):
        return translated(model, model_card, text, stack)
    coder = tokenizer(model_card)
    readable, says = texts.readable(coder, text)
    tokens = texts.read(coder, readable)
    most = min(model.context, MOST) if isinstance(model, GPT) else MOST
    cut, tokens = len(tokens) > most, tokens[:most]
    pieces = texts.names(coder, tokens)
    if units != WORDS or not texts.pieced(coder):
        return single(tokens, pieces, pieces, readable, says, cut)
    groups = attention.words([coder.tokens[i] for i in tokens.tolist()])
    names = ["".join(pieces[i] for i in group) for group in groups]
    return Read(tokens, pieces, pieces, readable, groups, names, names, says, cut, tokens[:0])


def masked(model: BERT, model_card: Card, text: str) -> Read:
    """A text with hidden words, between <cls> and <sep>."""
    coder = hidden_words.tokenizer(model_card)
    tokens = hidden_words.hide(coder, text)[0][0]
    if len(tokens) < 3:
        raise UserError("There is no word: write some, such as the examples have.")
    most = min(MOST, len(model.encoder.positions.table))
    cut = len(tokens) > most
    if cut:
        tokens = torch.cat([tokens[: most - 1], tokens[-1:]])
    names = texts.names(coder, tokens)
    strange = hidden_words.strange(coder, text)
    says = f"Not in its vocabulary, read as unknown: {', '.join(strange[:5])}." if strange else ""
    return single(tokens, names, names, text, says, cut)


@torch.no_grad()
def translated(model: Translator, model_card: Card, text: str, stack: str) -> Read:
    """A sentence, and its greedy translation."""
    source = translations.sentence(model_card, text)
    written = model.translate(source.ids[None], torch.tensor([len(source.ids)]), translations.MOST)[0]
    ended = (written == model.eos).nonzero()
    target = written[: int(ended[0]) + 1] if len(ended) else written
    names = named(model_card, target)
    if stack == ENCODER:
        names = columns = source.names
    else:
        columns = source.names if stack == CROSS else [BEGIN, *names[:-1]]
    return single(source.ids, names, columns, source.text, source.says, target=target)


# --- The pass -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Subject:
    """What is recorded of a model.

    Attributes:
        run: a pass over the text. answers: whether it gives logits of each row, (T, V).
        mixers: layers whose maps are shown, first to last. blocks: the blocks in which they stand.
        reads: from the stream (T, C) behind any sublayer to logits (T, V); None where nothing reads it.
    """

    run: Callable[[], Tensor]
    mixers: list[nn.Module]
    blocks: list[nn.Module]
    reads: Callable[[Tensor], Tensor] | None

    @property
    def answers(self) -> bool:
        return self.reads is not None


def subject(model: Model, sentence: Read, causal: bool, stack: str) -> Subject:
    """The pass of a model over a text; `causal` is of a GPT, `stack` of a translator."""
    tokens = sentence.tokens[None]
    if isinstance(model, GPT):
        return Subject(
            lambda: model(tokens, causal=causal)[0], [*attention.layers(model)], [*model.blocks],
            lambda x: model.logits(model.final_norm(x)),
        )  # fmt: skip
    if isinstance(model, BERT):
        return Subject(
            lambda: model.predict(tokens)[0], [*attention.layers(model)], [*model.encoder.stack.blocks],
            model.word_logits,
        )  # fmt: skip
    if isinstance(model, MixerTagger):
        blocks = list(model.blocks)
        return Subject(
            lambda: model.predict(tokens)[0], [cast(nn.Module, block.mixer) for block in blocks], blocks,
            lambda x: model.head(model.final_norm(x)),
        )  # fmt: skip
    mixers: list[nn.Module] = [*attention.stacks(model)[stack]]
    if stack == ENCODER:
        return Subject(lambda: model.source_states(tokens)[0], mixers, [*model.encoder.blocks], None)
    head = model.embedding if model.head is None else model.head
    norm = model.decoder.final_norm
    return Subject(
        lambda: model(tokens, sentence.target[None])[0], mixers, [*model.decoder.blocks],
        lambda x: norm(x) @ cast(Tensor, head.weight).T,
    )  # fmt: skip


def parts(blocks: Iterable[nn.Module]) -> dict[str, str]:
    """Names of the sublayers of a stack's blocks, by what they are called in a block."""
    block: Any = next(iter(blocks))
    router = hasattr(block.feedforward, "router")
    names = {"cross": "cross-attention", "feedforward": "experts" if router else "MLP"}
    names["mixer"] = "SSM" if not isinstance(block.mixer, attention.Attention) else "attention"
    return {name: names[name] for name in block.sublayers}
