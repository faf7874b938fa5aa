"""BLEU of torchmetrics, the metric of translations: by hand, and as `sacrebleu` counts it."""

import math
import random
from typing import Any

import pytest
import sacrebleu
from torchmetrics.text import BLEUScore, SacreBLEUScore

from datamodules.spanish import sentences, translate, written

REFERENCE = "the cat is on the mat"


def bleu(text: str, reference: str = REFERENCE, n: int = 4) -> float:
    return float(BLEUScore(n_gram=n)([text], [[reference]]))


def near(value: float) -> Any:
    return pytest.approx(value, abs=1e-6)


def test_precisions_and_brevity_by_hand() -> None:
    text = "the cat sat on the mat"
    assert bleu(text, n=1) == near(5 / 6)
    assert bleu(text, n=2) == near(math.sqrt(5 / 6 * 3 / 5)) == near(0.707107)
    assert bleu(text, n=3) == near((5 / 6 * 3 / 5 * 1 / 4) ** (1 / 3))
    assert bleu(text) == 0
    assert bleu("the cat is on the") == near(math.exp(1 - 6 / 5)) == near(0.818731)
    assert bleu(" ".join(["the"] * 7), n=1) == near(2 / 7)  # clipped


def test_an_adjective_on_the_wrong_side_costs_half() -> None:
    english = ["i", "have", "a", "big", "cat", "but", "a", "small", "house", "."]
    right = " ".join(translate(english).spanish)
    wrong = right.replace("gato grande", "grande gato")
    assert bleu(wrong, right, 1) == 1
    assert bleu(wrong, right) == near((9 / 9 * 5 / 8 * 3 / 7 * 2 / 6) ** 0.25) == near(0.546633)


def test_a_corpus_pools_counts() -> None:
    texts = ["the cat is on the mat", "a dog runs in the park"]
    references = [REFERENCE, "the dog ran to a park"]
    whole = float(BLEUScore(n_gram=2)(texts, [[r] for r in references]))
    assert whole == near(math.sqrt((6 + 4) / 12 * 5 / 10))
    mean = sum(bleu(*pair, 2) for pair in zip(texts, references, strict=True)) / 2
    assert abs(whole - mean) > 0.05
    parts = BLEUScore(n_gram=2)
    for text, reference in zip(texts, references, strict=True):
        parts.update([text], [[reference]])
    assert float(parts.compute()) == whole


def test_equal_to_sacrebleu() -> None:
    """Cased, detokenised, 13a: sentences with punctuation, some words changed, lost or doubled."""
    dice = random.Random(0)
    references = [written(translate(s).spanish) for s in sentences(60, (1, 4))]
    references += ['Ein "Mann", 3.5 m groß, ruft: „Los!“', "A dog's ball (red) isn't here – 1,000 balls are."]
    texts = []
    for reference in references:
        words = [w for w in reference.split() for _ in range(dice.choice((0, 1, 1, 1, 1, 1, 2)))]
        texts.append(" ".join(w.lower() if dice.random() < 0.1 else w for w in words))
    metric = SacreBLEUScore(tokenize="13a")
    for text, reference in zip(texts, references, strict=True):
        metric.update([text], [[reference]])
    peer = sacrebleu.BLEU()
    score = peer.corpus_score(texts, [references]).score
    assert 20 < score < 90
    assert 100 * float(metric.compute()) == pytest.approx(score, abs=1e-4)
    assert {"case:mixed", "tok:13a"} <= {*str(peer.get_signature()).split("|")}
