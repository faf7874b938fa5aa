"""Decoding strategies measured: what they do to a text, what a wider beam buys, and how errors grow.

    surprisal    mean of −log P(token) under the model as it is, before any filter
    distinct    share of different sequences of 8 tokens, over all texts of a strategy; loops bring it to 0
    known       share of the words, apart by spaces, that occur in the training text

`R` texts of a strategy, `T` new tokens, `V` vocabulary.

References: Holtzman et al. 2019, arXiv:1904.09751; Vijayakumar et al. 2016, arXiv:1610.02424; Ranzato et
al. 2015, arXiv:1511.06732 (exposure bias); [UDL] §12.7.3 and notes.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

import torch
from torch import Tensor

from datamodules.fetch import MissingData
from datamodules.text import Text
from datamodules.tokenizer import Tokenizer
from lab.lenses import text as texts
from lab.lenses.decoding import GRAM
from modules.base import NextToken
from modules.language.beam import Hypothesis, beam, diverse_beam
from modules.language.truncation import SamplingParams, draw

HUMAN = "people"
TEXTS = 3  # of each strategy
STRATEGIES: dict[str, SamplingParams] = {
    "greedy": SamplingParams(0.0), "temperature 0.5": SamplingParams(0.5),
    "ancestral": SamplingParams(), "temperature 1.5": SamplingParams(1.5),
    "top-k 3": SamplingParams(top_k=3), "top-k 10": SamplingParams(top_k=10),
    "nucleus 0.5": SamplingParams(top_p=0.5), "nucleus 0.9": SamplingParams(top_p=0.9),
    "nucleus 0.95": SamplingParams(top_p=0.95),
}  # fmt: skip


# --- All strategies side by side ------------------------------------------------------------------


@dataclass(frozen=True)
class Measured:
    """R texts of one strategy.

    Attributes:
        tokens: (R, T). nats: their mean surprisal. distinct: share of different 8-grams.
        known: share of words found in training; None where there is no training text to look into.
    """

    tokens: Tensor
    nats: float
    distinct: float
    known: float | None


def known(texts: Sequence[str], vocabulary: Set[str]) -> float:
    """Share of the words of texts, apart by spaces, that lie in a vocabulary; the first and the last of
    each text, which may be cut, are left out."""
    found = [word for text in texts for word in text.split()[1:-1]]
    return sum(word in vocabulary for word in found) / max(1, len(found))


def distinct(tokens: Tensor, n: int = GRAM) -> float:
    """Share of different sequences of n tokens in texts (R, T)."""
    grams = tokens.unfold(1, n, 1).reshape(-1, n)
    return len(grams.unique(dim=0)) / len(grams)


@torch.no_grad()
def continued(
    model: NextToken,
    prefix: Tensor,
    length: int,
    strategies: Sequence[SamplingParams | Tensor],
    seed: int = 0,
) -> tuple[Tensor, Tensor]:
    """Continue texts by many strategies at once, so that the model is asked once a token.

    Args:
        prefix: (S, R, T₀), R beginnings for each of S strategies.
        strategies: sampling parameters, or a given continuation (R, T) that is only scored.

    Returns:
        Tokens (S, R, T) and −log P of each under the model, (S, R, T).
    """
    S, R, start = prefix.shape
    text = prefix.reshape(S * R, start)
    generators = [torch.Generator().manual_seed(seed) for _ in strategies]
    nats = []
    for t in range(length):
        log_p = model.next_log_probs(text).reshape(S, R, -1)  # (S, R, V)
        token = torch.stack(
            [
                params[:, t] if isinstance(params, Tensor) else draw(row, params, generator)
                for row, params, generator in zip(log_p, strategies, generators, strict=True)
            ]
        )  # (S, R)
        nats.append(-log_p.gather(-1, token[..., None])[..., 0])
        text = torch.cat([text, token.reshape(S * R, 1)], 1)
    return text.reshape(S, R, -1)[..., start:], torch.stack(nats, -1)


def compare(
    model: NextToken,
    coder: Tokenizer,
    prompt: Tensor,
    length: int,
    texts: int = TEXTS,
    human: Tensor | None = None,
    vocabulary: Set[str] | None = None,
    seed: int = 0,
) -> dict[str, Measured]:
    """Every one of STRATEGIES behind `prompt` (T₀,), and text of people behind its own beginning.

    Args:
        human: at least texts · (T₀ + length) tokens that the model has not been trained on.
        vocabulary: the words of the training text.
    """
    names, how = list(STRATEGIES), list[SamplingParams | Tensor](STRATEGIES.values())
    prefix = prompt.expand(len(how), texts, -1)
    if human is not None:
        given = human[: texts * (len(prompt) + length)].reshape(texts, -1)
        names, how = [*names, HUMAN], [*how, given[:, len(prompt) :]]
        prefix = torch.cat([prefix, given[None, :, : len(prompt)]])
    tokens, nats = continued(model, prefix, length, how, seed)
    found = {}
    for name, rows, cost in zip(names, tokens, nats, strict=True):
        share = known([coder.decode(row) for row in rows], vocabulary) if vocabulary else None
        found[name] = Measured(rows, float(cost.mean()), distinct(rows), share)
    return found


def corpus(card: Mapping, split: str) -> str | None:
    """A split of the text that a card's model was trained on; None where that is not at hand."""
    if card["data"].get("name") not in ("Text", "Contexts"):
        return None
    try:
        return Text(card["data"]["corpus"]).split_text(split)  # type: ignore[arg-type]
    except (MissingData, ValueError):
        return None


# --- The width of a beam --------------------------------------------------------------------------


def held_out(card: Mapping) -> tuple[Tensor | None, frozenset[str] | None]:
    """Tokens of a model's validation text, (T,), and the words of its training text; None where the text is
    not at hand."""
    training, text = (corpus(card, split) for split in ("train", "val"))
    if training is None or text is None:
        return None, None
    return texts.read(texts.tokenizer(card), text[: texts.MOST]), frozenset(training.split())


@dataclass(frozen=True)
class Width:
    """Beams of one width, means over the beginnings.

    Attributes:
        log_prob: of the best text that the sum finds. better: how many beginnings end no worse than with
            the next narrower beam. length, normalised: tokens of the best text with α = 0 and with α.
        beam, diverse: share of different pairs of tokens among the B texts of a beam, and among those of
            B diverse groups.
    """

    width: int
    log_prob: float
    better: int
    length: float
    normalised: float
    beam: float
    diverse: float


def pairs(found: Sequence[Hypothesis]) -> float:
    """Share of different pairs of neighbouring tokens among texts."""
    each = [pair for h in found for pair in zip(h.tokens, h.tokens[1:], strict=False)]
    return len(set(each)) / max(1, len(each))


def len_of(found: Hypothesis) -> int:
    """Tokens of a text, its end included."""
    return len(found.tokens)


def widths(
    model: NextToken,
    prompts: Sequence[Tensor],
    length: int,
    sizes: Sequence[int] = (1, 2, 4, 8),
    eos: int | None = None,
    alpha: float = 1.0,
    strength: float = 1.0,
) -> list[Width]:
    """Beam search behind each of `prompts` (T₀,), at every width."""
    rows: list[Width] = []
    before: list[float] | None = None
    for size in sizes:
        plain = [beam(model, prompt, length, size, eos)[:size] for prompt in prompts]
        normal = [beam(model, prompt, length, size, eos, alpha)[0] for prompt in prompts]
        groups = [
            [group[0] for group in diverse_beam(model, prompt, length, size, 1, strength, eos)]
            for prompt in prompts
        ]
        best = [found[0].log_prob for found in plain]
        better = sum(b >= a - 1e-9 for a, b in zip(before or best, best, strict=True))
        n = len(prompts)
        lengths = [sum(map(len_of, found)) / n for found in ([p[0] for p in plain], normal)]
        shares = [sum(map(pairs, found)) / n for found in (plain, groups)]
        rows.append(Width(size, sum(best) / n, better, *lengths, *shares))
        before = best
    return rows


# --- Own mistakes ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Drift:
    """Surprisal of a judge at the t-th token, when the t before were true and when they were the model's.

    Attributes:
        true, own: (T,), means over R texts, nats. gap: (R, T), own − true of each text.
    """

    true: Tensor
    own: Tensor
    gap: Tensor

    @property
    def error(self) -> Tensor:
        """Standard error of own − true at each position, (T,)."""
        return self.gap.std(0) / len(self.gap) ** 0.5

    def growth(self) -> tuple[float, float]:
        """own − true, the last third of the positions less the first third, and its standard error: the
        tokens of one text hang together, so that each text counts as one draw."""
        third = self.gap.shape[1] // 3
        grown = self.gap[:, -third:].mean(1) - self.gap[:, :third].mean(1)  # (R,)
        return float(grown.mean()), float(grown.std() / len(grown) ** 0.5)

    @property
    def told(self) -> bool:
        """Whether the growth can be told from none: it lies two standard errors away from 0, or more."""
        growth, error = self.growth()
        return abs(growth) >= 2 * error


def drift(
    writer: NextToken, judge: NextToken, text: Tensor, start: int, length: int, texts: int, seed: int = 0
) -> Drift:
    """Let `writer` go on behind `texts` places of a true text (N,) and ask `judge` about every token.

    Args:
        start: true tokens before each place. length: T.

    Raises:
        ValueError: the text is too short.
    """
    if len(text) < texts + start + length:
        raise ValueError(f"The text has {len(text)} tokens: {texts} places of {start + length} do not fit.")
    places = torch.linspace(0, len(text) - start - length, texts).long()
    windows = text[places[:, None] + torch.arange(start + length)]  # (R, T₀ + T)
    prefix, true = windows[None, :, :start], windows[:, start:]
    own, _ = continued(writer, prefix, length, [SamplingParams()], seed)
    _, nats = continued(judge, prefix.expand(2, -1, -1), length, [true, own[0]])
    return Drift(nats[0].mean(0), nats[1].mean(0), nats[1] - nats[0])
