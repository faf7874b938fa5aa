"""Translators beside each other: BLEU, exact sentences, nats, and what a free-running decoder costs.

    BLEU         of the whole test split: cased, detokenised, tokens of 13a, one reference (sacreBLEU)
    perplexity   e^(nats / tokens) and e^(nats / words), teacher-forced; <eos> counts, pads do not.
                 Translators with different tokens are compared per word alone.
    free loss    cross entropy of the gold tokens where the decoder reads its own: no −log p of anything, so
                 no perplexity

Translations are greedy, and the best of a beam of `WIDTH` by log p / ((5 + n) / 6)^α. Of captions BLEU is
measured over the length of their sources, too.

References: Papineni et al. 2002, BLEU; Post 2018, arXiv:1804.08771 (signatures); Wu et al. 2016,
arXiv:1609.08144 §7 (length).
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version

import torch
from torch import Tensor
from torchmetrics.text import SacreBLEUScore

from datamodules.spanish import Spanish
from datamodules.tokenizer import Tokenizer
from datamodules.translation import SentencePairs, Translation
from lab import experiments, weights
from lab.bench.timing import Row, interleaved, paired_row
from lab.lenses import text
from lab.training.bleu import LENGTH, SIGNATURE, best_of_beam, texts
from modules.language.translation import IGNORED, TranslationModel
from modules.recurrent.seq2seq import Seq2Seq

WIDTH, ALPHA = 5, 0.6
BATCH = 100  # sentences
COUNTED = f"{SIGNATURE}|torchmetrics:{version('torchmetrics')}"
WIDTHS = 1, 2, 4, 8, 16  # of beams that are compared by log p alone
QUICK = 20  # sentences
LENGTHS = {"up to 8": (0, 8), "9 to 11": (9, 11), "12 to 14": (12, 14), "15 or more": (15, LENGTH)}  # words


@dataclass(frozen=True)
class Costs:
    """Sums over the targets of a split: nats of gold tokens, forced, and free where a model can be run so;
    tokens; words of the texts."""

    forced: float
    free: float | None
    tokens: int
    words: int


def batches(pairs: SentencePairs) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor]]:
    """Sources, lengths, inputs and targets of the next `BATCH` pairs."""
    for rows in torch.arange(len(pairs)).split(BATCH):
        yield pairs[rows]


@torch.no_grad()
def costs(model: TranslationModel, pairs: SentencePairs, coder: Tokenizer) -> Costs:
    """Costs of a translator on pairs of sentences."""
    forced = free = 0.0
    tokens = words = 0
    for source, length, inputs, target in batches(pairs):
        forced += float(model.judge(model.target_logits(source, inputs, length), target)[0].double().sum())
        if isinstance(model, Seq2Seq):
            own = model.decode(source, inputs, length, 1.0)[0]
            free += float(model.judge(own, target)[0].double().sum())
        tokens += int((target != IGNORED).sum())
        words += sum(len(line.split()) for line in texts(target, model.eos, coder))
    return Costs(forced, free if isinstance(model, Seq2Seq) else None, tokens, words)


@torch.no_grad()
def greedy(model: TranslationModel, pairs: SentencePairs, coder: Tokenizer) -> list[str]:
    """Greedy translations, as texts."""
    every = (model.translate(source, length, LENGTH) for source, length, _, _ in batches(pairs))
    return [line for tokens in every for line in texts(tokens, model.eos, coder)]


@torch.no_grad()
def search(
    model: TranslationModel, pairs: SentencePairs, coder: Tokenizer, width: int, alpha: float = ALPHA
) -> tuple[list[str], list[float]]:
    """Translations that a beam finds, as texts, and their log p."""
    results: list[str] = []
    log_probs: list[float] = []
    for source, length, _, _ in batches(pairs):
        lines, nats = best_of_beam(model, source, length, coder, width, alpha)
        results += lines
        log_probs += nats
    return results, log_probs


def beam(model: TranslationModel, pairs: SentencePairs, coder: Tokenizer) -> list[str]:
    """Translations that a beam of `WIDTH` finds, as texts."""
    return search(model, pairs, coder, WIDTH)[0]


def bleu(results: list[str], references: list[str]) -> float:
    """Corpus BLEU in per cent."""
    return 100 * float(SacreBLEUScore()(results, [[line] for line in references]))


def over_length(
    name: str, translations: list[str], references: list[str], pairs: SentencePairs, coder: Tokenizer
) -> list[Row]:
    """BLEU of sentences whose sources have so many words; no row where there are none."""
    words = [
        len(coder.decode(row[:n]).split())
        for source, length, *_ in batches(pairs)
        for row, n in zip(source.tolist(), length.tolist(), strict=True)
    ]
    result = []
    for label, (low, high) in LENGTHS.items():
        if not (chosen := [i for i, n in enumerate(words) if low <= n <= high]):
            continue
        score = bleu([translations[i] for i in chosen], [references[i] for i in chosen])
        note = f"{len(chosen):,} sentences"
        result.append(Row("translation", f"{name}, {label} words", score, unit="BLEU", note=note))
    return result


def translator(name: str, pairs: SentencePairs) -> tuple[TranslationModel, Tokenizer, list[str]]:
    """A translator that ships, its tokenizer, and the targets of pairs as texts."""
    place = experiments.find(name).weights
    assert place is not None
    model, coder = weights.load(place).eval(), text.tokenizer(weights.read_card(place))
    assert isinstance(model, TranslationModel)
    return model, coder, [line for *_, target in batches(pairs) for line in texts(target, model.eos, coder)]


def over_widths(name: str, pairs: SentencePairs) -> list[Row]:
    """BLEU and mean log p of a translator by beams of log p alone, which is greater for shorter sentences."""
    model, coder, references = translator(name, pairs)
    result = []
    for width in WIDTHS:
        translations, log_probs = search(model, pairs, coder, width, alpha=0.0)
        words = sum(len(line.split()) for line in translations) / len(translations)
        mean = sum(log_probs) / len(log_probs)
        note = f"mean log p {mean:.3f}, {words:.2f} words; no length normalization"
        score = bleu(translations, references)
        result.append(Row("translation", f"{name}, log p, beam {width}", score, unit="BLEU", note=note))
    return result


def rows(name: str, pairs: SentencePairs, lengths: bool = False) -> list[Row]:
    """Measures of one translator over pairs of sentences, and over their lengths."""
    model, coder, references = translator(name, pairs)
    count = f"{len(references):,} sentences"
    result = []
    for how, translate in (("greedy", greedy), (f"beam {WIDTH}", beam)):
        translations = translate(model, pairs, coder)
        exact = sum(a == b for a, b in zip(translations, references, strict=True)) / len(references)
        result += [
            Row("translation", f"{name}, {how}", bleu(translations, references), unit="BLEU", note=COUNTED),
            Row("translation", f"{name}, {how}, exact", 100 * exact, unit="%", note=count),
        ]
        if lengths:
            result += over_length(f"{name}, {how}", translations, references, pairs, coder)
    sums = costs(model, pairs, coder)
    tokens, words = f"{sums.tokens:,} tokens, <eos> counted", f"{sums.words:,} words"
    forced = sums.forced
    return [
        *result,
        Row("translation", f"{name}, forced", forced / sums.tokens, unit="nats per token", note=tokens),
        Row("translation", f"{name}, perplexity", math.exp(forced / sums.tokens), unit="per token"),
        Row("translation", f"{name}, perplexity of words", math.exp(forced / sums.words), unit="per word",
            note=words),
        *([] if sums.free is None else [
            Row("translation", f"{name}, free loss", sums.free / sums.tokens, unit="nats per token",
                note="no perplexity")
        ]),
    ]  # fmt: skip


def training_step(pairs: SentencePairs) -> Row:
    """A training step of 64 pairs of captions, without its optimizer: the Transformer and recurrent
    attention, which have as many parameters."""
    batch = pairs[torch.arange(64)]

    def step(name: str) -> Callable[[], None]:
        model = translator(name, pairs)[0].train()

        def once() -> None:
            model.zero_grad(set_to_none=True)
            model.step(batch, "train").backward()

        return once

    timed = interleaved(
        step("translator-multi30k-de-en"), step("attention-multi30k-de-en"), repeats=12, warmup=2
    )
    return paired_row(
        "translation",
        "training step of the Transformer, 64 pairs",
        timed,
        "",
        "peer: attention-multi30k-de-en",
    )


def measure(quick: bool = False) -> list[Row]:
    """Every translator that ships, on the test split of its data."""
    grammar = Spanish(num_test=QUICK) if quick else Spanish()
    pairs = grammar._split("test")
    result = [
        row
        for name in ("translator-spanish", "attention-spanish", "fixed-spanish")
        for row in rows(name, pairs)
    ]
    if quick:
        return result
    captions = Translation(source="de", target="en", vocab_size=4000)
    captions.prepare_data()
    captions.setup("test")
    test = captions._split("test")
    for name in ("translator-multi30k-de-en", "attention-multi30k-de-en", "fixed-multi30k-de-en"):
        result += rows(name, test, lengths=True)
    return [*result, training_step(test), *over_widths("attention-multi30k-de-en", test)]
