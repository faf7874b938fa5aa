"""Two decoders compared: over the length of sentences, and forced against free.

    forced   p(y_t | y_<t, x), y the gold translation: −Σ_t log p(y_t | y_<t, x) = −log p(y | x)
    free     the decoder reads its own words: the cross entropy of the gold words is then −log p of nothing

References: Bahdanau, Cho & Bengio 2015, arXiv:1409.0473, figure 2; Och & Ney 2003 (alignment error);
Bengio et al. 2015, arXiv:1506.03099 (what a decoder reads).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from datamodules.spanish import AlignedPairs, sentences
from lab.errors import UserError
from lab.lenses import text as texts
from lab.lenses.translations import END, alignment_error, exact, sentence
from modules.recurrent.seq2seq import Seq2Seq

CLAUSES, COUNT = 7, 100  # the most clauses, and sentences of each number of them


# --- Length ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Lengths:
    """Sentences of k = 1, 2, … clauses, as far as they are translated.

    Attributes:
        words: mean number of source words, (K,).
        exact: share of sentences that are right in all words, by attention and the fixed context: (K, 2).
        error: alignment error rate of attention, links above ¼ and to the largest weight: (K, 2).
        trained: the most clauses of training.
    """

    words: Tensor
    exact: Tensor
    error: Tensor
    trained: int

    def percent(self, clauses: int, which: int) -> float:
        """Least share of sentences of up to so many clauses that are right, in per cent, by attention (0) or
        the fixed context (1)."""
        return 100 * float(self.exact[:clauses, which].min())


def lengths(model: Seq2Seq, fixed: Seq2Seq, model_card: Mapping[str, Any]) -> Iterator[tuple[float, Lengths]]:
    """Sentences of one clause, then of two, …: the share done, and what is found."""
    rows, trained = [], int(model_card["data"]["clauses"])
    for k in range(1, CLAUSES + 1):
        pairs = AlignedPairs(sentences(COUNT, (k, k), "test", seed=k), texts.tokenizer(model_card))  # type: ignore[arg-type]
        each = torch.tensor([exact(one, pairs) for one in (model, fixed)])
        rows.append((pairs.lengths.float().mean(), each, alignment_error(model, pairs)))
        words, right, error = (torch.stack(each) for each in zip(*rows, strict=True))
        yield k / CLAUSES, Lengths(words, right, error, trained)


SHARES = ["nearly all", "about half", "nearly none"]
NOT_SO = (
    "That is more than 80 %: the curve of attention is lower there.",
    "That is 20 to 80 %: the curve of attention is not between them there.",
    "That is 20 % at most: the curve of attention is higher there.",
)


def share(percent: float) -> str:
    """A share in words, one of SHARES."""
    return SHARES[0 if percent > 80 else 1 if percent > 20 else 2]


# --- Forced and free ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Decoding:
    """T steps of a decoder that reads the gold words, and of one that reads its own.

    Attributes:
        gold: the gold words, END behind them.
        words: the most probable word at each step, forced and free.
        p: of the gold word at each step, (T, 2): forced and free.
        divergence: the first step, from 0, at which the free decoder writes another word; None if none.
    """

    gold: list[str]
    words: tuple[list[str], list[str]]
    p: Tensor
    divergence: int | None

    @property
    def nats(self) -> list[float]:
        """Mean cross entropy of the gold words in nats per word, forced and free."""
        return (-self.p.double().log().mean(0)).tolist()


@torch.no_grad()
def decode(forced: Seq2Seq, model_card: Mapping[str, Any], text: str) -> Decoding:
    """Decode a sentence of the grammar, forced and free.

    Raises:
        UserError: its translation is not known.
    """
    source, coder = sentence(model_card, text), texts.tokenizer(model_card)
    if source.gold is None:
        raise UserError("Teacher forcing reads a gold translation: type a sentence of the grammar.")
    target = torch.tensor([[*coder.encode(" ".join(source.gold.spanish)), forced.eos]])
    p, words = [], []
    for own in (0.0, 1.0):
        logits = forced.decode(source.ids[None], forced.inputs(target), own=own)[0][0]
        p.append(logits.softmax(-1).gather(-1, target[0, :, None])[:, 0])
        words.append([END if i == forced.eos else coder.tokens[i] for i in logits.argmax(-1).tolist()])
    gold = [*source.gold.spanish, END]
    first = next((t for t, (a, b) in enumerate(zip(words[1], gold, strict=True)) if a != b), None)
    return Decoding(gold, (words[0], words[1]), torch.stack(p, 1), first)


def captions(result: Decoding) -> list[str]:
    """What both write at each step."""
    rows = []
    for t, (gold, forced, free) in enumerate(zip(result.gold, *result.words, strict=True)):
        left = result.divergence is not None and t > result.divergence
        why = ", which has read other words than the gold ones" if left else ""
        rows.append(f"Step {t + 1}: gold {gold}; forced writes {forced}; free writes {free}{why}.")
    return rows


def equations(result: Decoding) -> list[str]:
    """Cross entropies up to each step."""
    nats = (-result.p.double().log()).cumsum(0)
    return [
        rf"-\log p(y_{{\le t}} \mid x) = {forced:.3f} \ \text{{forced}}, \quad {free:.3f} \ "
        r"\text{free, which is no } {-\log p}"
        for forced, free in nats.tolist()
    ]


def places(result: Decoding) -> dict[int | None, str]:
    """Three steps and "nowhere", by the step: the divergence is one of them."""
    T, at = len(result.gold), result.divergence
    steps = {0, T // 2, T - 1} if at is None else {at, (at + 1 + T // 3) % T, (at + 1 + 2 * T // 3) % T}
    names: dict[int | None, str] = {t: f"{result.gold[t]} ({t + 1})" for t in sorted(steps)}
    return names | {None: "nowhere"}


def not_there(result: Decoding, step: int | None) -> str:
    """Say why the first divergence is not at a step, or is somewhere."""
    if step is None:
        return "Compare the columns gold and free from above: some word differs."
    word = f"“{result.gold[step]}” ({step + 1})"
    if result.divergence is None:
        return f"The free decoder writes {word} as well."
    late = step > result.divergence
    return f"Before {word} a word differs." if late else f"Up to {word} both columns are equal."
