"""Measures of `lab bench translation`, counted another way."""

import math

import pytest
import sacrebleu
import torch

from datamodules.spanish import AlignedPairs, Spanish
from lab import experiments, weights
from lab.bench import translation
from lab.lenses import text
from modules.language.beam import beam_search
from modules.recurrent.seq2seq import Seq2Seq


@pytest.fixture(scope="module")
def model() -> Seq2Seq:
    model = weights.load(experiments.find("fixed-spanish").weights).eval()
    assert isinstance(model, Seq2Seq)
    return model


@pytest.fixture(scope="module")
def pairs() -> AlignedPairs:
    data = Spanish(num_test=12)
    data.setup("test")
    return data.test_set


def test_costs_are_those_of_log_prob(model: Seq2Seq, pairs: AlignedPairs) -> None:
    source, length, _, target = pairs[torch.arange(len(pairs))]
    costs = translation.costs(model, pairs, Spanish().tokenizer)
    with torch.no_grad():
        assert costs.forced == pytest.approx(-float(model.log_prob(target, source, length).sum()), rel=1e-5)
    written = [sentence.split() for sentence in translation.texts(target, model.eos, Spanish().tokenizer)]
    assert costs.words == sum(map(len, written)) and costs.tokens == costs.words + len(pairs)  # <eos>
    assert costs.free > costs.forced


def test_rows_say_what_sacrebleu_says(model: Seq2Seq, pairs: AlignedPairs) -> None:
    rows = {row.case: row for row in translation.rows("fixed-spanish", pairs)}
    coder = text.tokenizer(weights.read_card(experiments.find("fixed-spanish").weights))
    source, length, _, target = pairs[torch.arange(len(pairs))]
    references = translation.texts(target, model.eos, coder)
    with torch.no_grad():
        alone = [  # one sentence after the other, not padded
            beam_search(model, source[i : i + 1, : int(length[i])], 80, 5, model.eos, 0.6, 5.0)[0]
            for i in range(len(pairs))
        ]
    results = [coder.decode([t for t in best.tokens if t != model.eos]) for best in alone]
    score = sacrebleu.corpus_bleu(results, [references]).score
    assert rows["fixed-spanish, beam 5"].ours == pytest.approx(score, abs=1e-3)
    right = sum(a == b for a, b in zip(results, references, strict=True)) / len(references)
    assert rows["fixed-spanish, beam 5, exact"].ours == pytest.approx(100 * right)
    forced, words = rows["fixed-spanish, forced"], rows["fixed-spanish, perplexity of words"]
    costs = translation.costs(model, pairs, coder)
    assert forced.ours == costs.forced / costs.tokens
    assert words.ours == math.exp(costs.forced / costs.words)
    assert words.ours > rows["fixed-spanish, perplexity"].ours  # a word pays for its share of the ends


def test_lengths_share_the_sentences(model: Seq2Seq, pairs: AlignedPairs) -> None:
    coder = text.tokenizer(weights.read_card(experiments.find("fixed-spanish").weights))
    references = [
        line
        for *_, target in translation.batches(pairs)
        for line in translation.texts(target, model.eos, coder)
    ]
    translations = translation.greedy(model, pairs, coder)
    rows = translation.over_length("fixed", translations, references, pairs, coder)
    words, seen = [len(english) for english in pairs.english], 0
    for row in rows:
        low, high = next(span for name, span in translation.LENGTHS.items() if f", {name} words" in row.case)
        chosen = [i for i, n in enumerate(words) if low <= n <= high]
        score = sacrebleu.corpus_bleu([translations[i] for i in chosen], [[references[i] for i in chosen]])
        assert row.note == f"{len(chosen)} sentences" and row.ours == pytest.approx(score.score, abs=1e-3)
        seen += len(chosen)
    assert seen == len(pairs) and len(rows) > 1


def test_wider_beams_find_more_probable_sentences(pairs: AlignedPairs) -> None:
    rows = translation.over_widths("fixed-spanish", pairs)
    means = [float(row.note.split(",")[0].removeprefix("mean log p ")) for row in rows]
    model = weights.load("fixed-spanish").eval()
    assert isinstance(model, Seq2Seq)
    coder = text.tokenizer(weights.read_card(experiments.find("fixed-spanish").weights))
    found, log_probs = translation.search(model, pairs, coder, 1, alpha=0.0)
    assert found == translation.greedy(model, pairs, coder)
    assert means[0] == pytest.approx(sum(log_probs) / len(log_probs), abs=5e-4)
    assert means[0] < means[1] <= means[-1] + 5e-4
    assert [row.case.rsplit(" ", 1)[1] for row in rows] == [str(width) for width in translation.WIDTHS]
