"""Lens of the page: two prompts as tokens, and the map of what each place of the clean run restores.

Shapes: `T` tokens, `R` rows and `K` columns of a map. Rows and columns count from 0 here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from datamodules.tokenizer import WordTokenizer, words
from lab.errors import UserError
from lab.experiments import Experiment
from lab.lenses import surfaces
from lab.lenses import text as texts
from modules.transformer.gpt import GPT
from modules.transformer.patching import PatchMap, activation_patching
from pages.transformer.patching.room import ADJECTIVE, HEADS, SITES, STREAM

Card = Mapping[str, Any]
READ, DRAWN = 64, 16  # tokens of a prompt; from the first difference on
OFFERED = 10  # next tokens of each prompt
SMALL_WORLDS = ("datamodules.senses.Senses", "datamodules.addition.Addition")
BEGUN = ("Senses", "Addition")  # data whose texts stand behind a begin token
# clean and corrupted prompt by what the model has read, and by name
PAIRS: dict[str, dict[str, str]] = {
    "Addition": {
        "Carry": "345+678=3\n342+671=3",
        "Lowest digit": "345+678=\n345+673=",
        "Carry of the tens": "355+648=30\n352+641=39",
    },
    "Senses": {
        "Verb": "she fished at the old bank\nshe saved at the old bank",
        "Adjective": ADJECTIVE,
        "Link": "he stood by the old bank of the\nhe stood by the old bank for the",
    },
    "pydocs": {"Bracket": "foo(x\nfoo[x", "Return": "return (a, b\nreturn [a, b"},
    "multi30k": {
        "Subject": "A woman is playing the\nA dog is playing the",
        "Verb": "A man is riding a\nA man is eating a",
    },
    "shakespeare": {"Thou": "thou ha\nthey ha", "Will": "If thou wi\nIf they wi"},
}
OTHERS = {"Animals": "The cats near the tree\nThe cat near the tree"}
BREAK = "⏎"  # stands for a line's end within a prompt


def fits(entry: Experiment) -> bool:
    """Check whether it is a causal GPT of texts with attention in each block, whose sublayers add."""
    wanted = {"mixer": "softmax", "residual": "add", "causal": True}
    known = entry.module.endswith(".GPT") and entry.datamodule in SMALL_WORLDS
    return (known or texts.gpt_of_text(entry)) and all(
        surfaces.option(entry, k) == v for k, v in wanted.items()
    )


def examples(model_card: Card) -> dict[str, str]:
    """Prompts of the kind that the model has read."""
    return PAIRS.get(texts.corpus(model_card), OTHERS)


def first_prompts(model_card: Card) -> str:
    return next(iter(examples(model_card).values()))


# --- The prompts ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Prompts:
    """Two prompts of equally many tokens.

    Attributes:
        tokens: (2, T), clean and corrupted. start: the first place where they differ.
        pieces: names of both prompts' tokens.
    """

    tokens: Tensor
    start: int
    pieces: tuple[list[str], list[str]]


def encoded(model: GPT, model_card: Card, text: str) -> Tensor:
    """Tokens (T,) of a prompt, behind a begin token where the model was trained with one.

    Raises:
        UserError: it is empty, or has a word or a character that the model does not know.
    """
    coder = texts.tokenizer(model_card)
    ids = texts.read(coder, text)
    if coder.kind == "word" and (ids == WordTokenizer.UNKNOWN).any():
        known = set(coder.tokens)
        word = next((w for w in words(text) if w not in known), text)
        raise UserError(f"The model has never seen {word!r}: use words of its data.")
    return F.pad(ids, (1, 0), value=model.bos) if texts.corpus(model_card) in BEGUN else ids


def read(model: GPT, model_card: Card, prompts: str) -> Prompts:
    """Both prompts, a line each, as the model's tokens.

    Raises:
        UserError: they are not two, not of one length, the same, too long, or differ too far before the end.
    """
    lines = [line.replace(BREAK, "\n") for line in prompts.splitlines() if line]
    if len(lines) != 2:
        raise UserError("Write two lines: the clean prompt, and below it the corrupted one.")
    both = [encoded(model, model_card, text) for text in lines]
    coder = texts.tokenizer(model_card)
    names = texts.names(coder, both[0]), texts.names(coder, both[1])
    if len(both[0]) != len(both[1]):
        raise UserError(
            f"The prompts need equally many tokens: the clean one has {len(both[0])} "
            f"({' '.join(names[0])[:80]}), the corrupted one {len(both[1])} ({' '.join(names[1])[:80]})."
        )
    tokens, most = torch.stack(both), min(READ, model.context)
    if tokens.shape[1] > most:
        raise UserError(f"The prompts have {tokens.shape[1]} tokens: shorten them to {most}.")
    if torch.equal(*both):
        raise UserError("Both prompts are the same: change a token of one.")
    start = int((tokens[0] != tokens[1]).int().argmax())
    if (drawn := tokens.shape[1] - start) > DRAWN:
        raise UserError(f"From their first difference on the prompts have {drawn} tokens: {DRAWN} at most.")
    return Prompts(tokens, start, names)


@torch.no_grad()
def likely(model: GPT, model_card: Card, tokens: Tensor) -> dict[str, int]:
    """Likely next tokens, name -> id: of both prompts (2, T) in turns, those of the first before."""
    top = model.next_logits(tokens).topk(min(OFFERED, model.vocab_size)).indices  # (2, ·)
    ids = top.T.flatten()
    return dict(zip(texts.names(texts.tokenizer(model_card), ids), ids.tolist(), strict=True))


def answers(model: GPT, model_card: Card, prompts: str) -> list[str]:
    """Answers that are offered, the likeliest of the clean prompt before."""
    return list(likely(model, model_card, read(model, model_card, prompts).tokens))


def others(model: GPT, model_card: Card, prompts: str, answer: str | None) -> list[str]:
    """Answers that are offered beside it, the likeliest of the corrupted prompt before."""
    answer = answer or answers(model, model_card, prompts)[0]
    tokens = read(model, model_card, prompts).tokens.flip(0)
    return [name for name in likely(model, model_card, tokens) if name != answer]


def columns(model: GPT, model_card: Card, prompts: str, view: str) -> int:
    """Columns of the map: heads, or tokens from the first difference on."""
    if view == HEADS:
        return model.heads
    both = read(model, model_card, prompts)
    return both.tokens.shape[1] - both.start


# --- The map --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Patched:
    """Maps of the columns that are drawn.

    Attributes:
        map: R rows, the first layer before. rows: their names.
        columns: names of the columns; of tokens that differ both, clean and corrupted.
        prompts: what was read. answers: names of the answer and of the other.
    """

    map: PatchMap
    rows: list[str]
    columns: Sequence[tuple[str, ...]]
    prompts: Prompts
    answers: tuple[str, str]


def patch(
    model: GPT, model_card: Card, prompts: str, answer: str | None, other: str | None, view: str
) -> Patched:
    """Patch every place of a view by itself.

    Raises:
        UserError: the prompts cannot be compared, or the model does not tell them apart.
    """
    both = read(model, model_card, prompts)
    known = likely(model, model_card, both.tokens)
    answer = answer or next(iter(known))
    other = other or others(model, model_card, prompts, answer)[0]
    ids = torch.tensor([known[answer], known[other]])
    try:
        whole = activation_patching(model, both.tokens, ids, SITES[view])  # type: ignore[arg-type]
    except ValueError as error:
        raise UserError(str(error)) from None
    layers = range(1, len(model.blocks) + 1)
    if view == HEADS:
        heads = [(str(h + 1),) for h in range(model.heads)]
        return Patched(whole, [f"layer {l}" for l in layers], heads, both, (answer, other))
    rows = ["embedding", *(f"after layer {l}" for l in layers)]
    if view != STREAM:
        kinds = {"mixer": "attention", "feedforward": "MLP"}
        rows = [f"{kinds[n]} {l}" for l, b in zip(layers, model.blocks, strict=True) for n in b.sublayers]  # type: ignore[union-attr]
    start, pairs = both.start, list(zip(*both.pieces, strict=True))
    drawn = PatchMap(whole.clean, whole.corrupted, whole.patched[:, start:], whole.linear[:, start:])
    names = [tuple(dict.fromkeys(pair)) for pair in pairs[start:]]
    return Patched(drawn, rows, names, both, (answer, other))


def where(one: Patched, row: int, column: int, view: str) -> str:
    """The place of a cell in words."""
    if view == HEADS:
        return f"Head {column + 1} of {one.rows[row]}"
    return f"{begun(one.rows[row])}, token “{one.columns[column][0]}”"


def begun(row: str) -> str:
    """The name of a row as a sentence begins; MLP keeps its capitals."""
    return row[0].upper() + row[1:]


def captions(one: Patched, column: int, view: str) -> list[str]:
    """A sentence for each row, of its cell in one column."""
    answer, other = one.answers
    return [
        f"{where(one, row, column, view)}: the clean run's value there restores "
        f"{decimals(float(one.map.recovered[row, column]))} of the lead of “{answer}” over “{other}”."
        for row in range(len(one.rows))
    ]


def equations(one: Patched, column: int) -> list[str]:
    """r and the gradient's prediction with their numbers, for each row."""
    low, whole = one.map.corrupted, one.map.clean - one.map.corrupted
    results = []
    for d, linear, r, by_gradient in zip(
        *(m[:, column].tolist() for m in (one.map.patched, one.map.linear, one.map.recovered,
                                          one.map.approximation)), strict=True,
    ):  # fmt: skip
        below = f"{decimals(one.map.clean)} - ({decimals(low)})"
        results.append(
            r"r = \frac{d_{\text{patched}} - d_0}{d_1 - d_0} = "
            rf"\frac{{{decimals(d)} - ({decimals(low)})}}{{{below}}} = {decimals(r)}, \quad "
            r"\hat r = \frac{(a_1 - a_0) \cdot \nabla_a d}{d_1 - d_0} = "
            rf"\frac{{{decimals(linear - low)}}}{{{decimals(whole)}}} = {decimals(by_gradient)}"
        )
    return results


def decimals(value: float) -> str:
    """Two decimals; what rounds to nothing has no sign."""
    return f"{round(value, 2) + 0.0:.2f}"
