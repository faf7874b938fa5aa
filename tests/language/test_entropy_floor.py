"""Sources of known entropy: the floor, texts that follow the chain, models that come near and not below."""

import math

import pytest
import torch
from opening import metrics, open_page

from modules.language.ngram import NGram
from pages.language.entropy_floor import lens

CLASSIC = lens.Source(torch.tensor([[0.9, 0.1], [0.5, 0.5]], dtype=torch.float64))
LN2 = math.log(2)


def test_entropy_rate_of_the_classic_chain() -> None:
    assert CLASSIC.stationary.tolist() == pytest.approx([5 / 6, 1 / 6], abs=1e-12)
    assert CLASSIC.entropy_rate / LN2 == pytest.approx(0.5574963, abs=5e-8)
    assert CLASSIC.symbol_entropy / LN2 == pytest.approx(0.6500224, abs=5e-8)


def test_texts_follow_the_chain() -> None:
    """Frequencies of three symbols in a row, at the start and far from it, and a chain of three states."""
    texts = CLASSIC.sample(20_000, 40, seed=3)
    every, p = CLASSIC.contexts(3)
    assert p.sum().item() == pytest.approx(1, abs=1e-12)
    for place in (0, 37):
        code = texts[:, place : place + 3] @ torch.tensor([4, 2, 1])
        result = torch.bincount(code, minlength=8).double()
        expected = 20_000 * p[(every @ torch.tensor([4, 2, 1])).argsort()]
        assert ((result - expected).square() / expected).sum() < 24.3  # χ², 7 degrees of freedom, 99.9 %
    cycle = torch.tensor([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]], dtype=torch.float64)
    walk = lens.Source(cycle).sample(3, 50, seed=1)
    assert torch.equal(walk[:, 1:], (walk[:, :-1] + 1) % 3)
    assert lens.Source(cycle).entropy_rate == 0


def test_log_prob_is_the_product_of_the_steps() -> None:
    text = torch.tensor([[0, 0, 1, 1, 0]])
    by_hand = math.log(5 / 6 * 0.9 * 0.1 * 0.5 * 0.5)
    assert CLASSIC.log_prob(text).item() == pytest.approx(by_hand, abs=1e-12)


def test_long_training_reaches_the_floor_and_no_expectation_passes_it() -> None:
    """Order 2 tends to the entropy rate, order 1 to the entropy of a symbol alone."""
    rungs = lens.ladder(CLASSIC, CLASSIC.sample(1, 100_000, 0), CLASSIC.sample(1, 100_000, 1), 6, 0.5)
    assert rungs.expected[0].item() == pytest.approx(0.6500224, abs=1e-4)
    assert rungs.expected[1].item() == pytest.approx(0.5574963, abs=1e-4)
    assert 2 ** rungs.test[1].item() == pytest.approx(1.4717130, abs=0.02)
    for length in (30, 300, 3000):
        few = lens.ladder(CLASSIC, CLASSIC.sample(1, length, 5), CLASSIC.sample(1, 300, 6), 6, 0.5)
        assert (few.expected >= CLASSIC.entropy_rate / LN2 - 1e-9).all()
    assert few.expected.argmin() == 1


def test_expected_cross_entropy_is_the_mean_over_long_texts() -> None:
    model = NGram(2, 3, smoothing="add", alpha=0.5)
    model.fit(CLASSIC.sample(1, 200, 0))
    texts = CLASSIC.sample(400, 500, 7)
    targets = texts[:, 2:]
    contexts = torch.stack([texts[:, :-2], texts[:, 1:-1]], dim=-1).reshape(-1, 2)
    log_q = model.next_log_probs(contexts).gather(1, targets.reshape(-1, 1))
    assert lens.cross_entropy(CLASSIC, model) == pytest.approx(-log_q.mean().item(), abs=0.005)


def test_a_finite_text_can_cost_less_than_the_floor() -> None:
    """The bound holds for the mean; about every second text lies below it."""
    values = lens.scatter_of_texts(CLASSIC, 2000, 300, 0)
    floor = CLASSIC.entropy_rate / LN2
    assert 0.4 < lens.share_below(values, floor) < 0.6
    assert values.mean().item() == pytest.approx(floor, abs=4 * values.std().item() / 2000**0.5 + 1e-3)
    labels, centres, counts = lens.histogram(values)
    assert counts.sum() == 2000 and len(labels) == len(centres) == len(counts)


def test_one_value_is_one_bar() -> None:
    coin = lens.Source(torch.full((2, 2), 0.5, dtype=torch.float64))
    values = lens.scatter_of_texts(coin, 50, 30, 0)
    assert lens.histogram(values)[2].tolist() == [50]
    assert lens.share_below(values, 1.0) == 0


def test_the_page_shows_the_numbers_of_its_source() -> None:
    """π by hand, b / (a + b) and a / (a + b); the answer is the order of the least expectation."""
    page = open_page("language/entropy_floor", a=0.3, b=0.6, test=30)
    zero, one = 0.6 / 0.9, 0.3 / 0.9

    def coin(p: float) -> float:
        return -p * math.log2(p) - (1 - p) * math.log2(1 - p)

    shown = metrics(page)
    floor = zero * coin(0.3) + one * coin(0.6)
    assert shown["Floor"] == f"{floor:.4f}"
    assert shown["No context"] == f"{coin(zero):.4f}"
    assert shown["Perplexity"] == f"{2**floor:.4f}"
    source = lens.Source(torch.tensor([[0.7, 0.3], [0.6, 0.4]], dtype=torch.float64))
    values = -source.log_prob(source.sample(400, 30, seed=2)) / 30 / LN2
    assert shown["Texts below"] == f"{100 * (values < floor).double().mean():.0f} %"
