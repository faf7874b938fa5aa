"""Counts of every order, a network and a Transformer on one axis: the same text, the same split, nats
a character.

All are scored on the last 10 % of a corpus, the text that published numbers of tiny Shakespeare mean; and on
its second half alone, the test, which chose nobody's epoch. They are not compared at equal steps: counts are
taken once, and the neural models were trained as long as their cards say.
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor

from datamodules.text import Text
from lab import experiments, weights
from modules.language.ngram import NGram

PUBLISHED = {  # n: types, unseen, maximum likelihood train, add-one, Kneser-Ney; None where none is printed
    1: (65, 0.0, 3.3091, 3.3473, None),
    2: (1_380, 0.0017, 2.4519, 2.4819, 2.4844),
    3: (11_228, 0.0139, 1.9032, 2.0684, 2.0449),
    4: (48_539, 0.0420, 1.4906, 1.9526, 1.7290),
    5: (133_293, 0.1012, 1.2158, 2.1737, 1.5789),
    6: (264_623, 0.2080, 0.9833, 2.5931, 1.5580),
    7: (413_620, 0.3480, 0.7607, 3.0266, 1.5648),
    8: (None, None, None, None, 1.5741),
}

# nats per character of tiny Shakespeare's last 10 %, as nanoGPT publishes them
NANOGPT = {"nanoGPT, 4 layers, 2,000 steps": 1.88, "nanoGPT, 6 layers, best of 5,000 steps": 1.4697}


@dataclass(frozen=True)
class Order:
    """Counts of order n. Numbers in nats per character.

    Attributes:
        types: different n-grams of the training text. unseen: share of the held-out ones that are new.
        train: maximum likelihood on the training text itself. add_one, kneser_ney: on the held-out text.
        test: `kneser_ney` on the second half of it.
    """

    n: int
    types: int
    unseen: float
    train: float
    add_one: float
    kneser_ney: float
    test: float


def counted(training: Tensor, held_out: Tensor, vocab_size: int, most: int = 8) -> list[Order]:
    """Counts of the orders 1 … `most` of a text (T,), scored on another (S,), whose first token is given."""
    top = NGram(vocab_size, most)
    top.fit(training[None])
    tokens, targets = held_out[None, :-1], held_out[None, 1:]
    rows = []
    for n in range(1, most + 1):
        plain, add, kn = (top.lower_order(n, smoothing=s) for s in ("none", "add", "kneser-ney"))
        whole = torch.ones_like(plain.keys, dtype=torch.bool)  # not the ones that reach before the text
        for i in range(n):
            whole &= plain.keys // plain.base**i % plain.base != plain.pad
        nats = -kn.token_log_probs(tokens, targets)[0]
        rows.append(
            Order(
                n,
                int(whole.sum()),
                plain.token_log_probs(tokens, targets).isinf().double().mean().item(),
                plain.train_nll(),
                -add.token_log_probs(tokens, targets).mean().item(),
                nats.mean().item(),
                nats[-(len(held_out) // 2) :].mean().item(),
            )
        )
    return rows


@dataclass(frozen=True)
class Trained:
    """A trained model on the same axis.

    Attributes:
        held_out: nats per character over validation and test. test: over the test alone.
        steps: of its training; 1 for counts.
    """

    name: str
    held_out: float
    test: float
    steps: int


def trained(card: Mapping[str, Any], data: Text) -> Trained:
    """A card's numbers, if it is of the same characters.

    Raises:
        ValueError: it was measured on another text, other splits or other tokens.
    """
    own, here = card["data"], data.describe()
    if any(own[key] != here[key] for key in ("sha256", "splits", "tokenizer")):
        raise ValueError(f"{card['experiment']} was measured on another text or in another unit.")
    sizes = [last - first for first, last in (own["splits"][split] for split in ("val", "test"))]
    val, test = card["metrics"]["val/nll"], card["metrics"]["test/nll"]
    args = card["config"]["data"]["init_args"]
    steps = card["epochs"] * (args["windows_per_epoch"] // args["batch_size"])
    return Trained(card["experiment"], (sizes[0] * val + sizes[1] * test) / sum(sizes), test, steps)


def test_counts_of_every_order_by_hand():
    training, held_out = (torch.tensor([ord(c) - 97 for c in text]) for text in ("abracadabra", "abab"))
    rows = counted(training, held_out, 26, most=3)
    text = "abracadabra"
    for row in rows:
        grams = Counter(text[i : i + row.n] for i in range(len(text) - row.n + 1))
        assert row.types == len(grams)
    assert rows[0].train == pytest.approx(-sum(n / 11 * math.log(n / 11) for n in Counter(text).values()))
    assert [row.unseen for row in rows] == pytest.approx([0, 1 / 3, 2 / 3])  # after the first letter: b a b
    assert rows[0].add_one == pytest.approx(-(2 * math.log(3 / 37) + math.log(6 / 37)) / 3)
    model = NGram(26, 2)
    model.fit(training[None])
    second_half = model.token_log_probs(held_out[None, :-1], held_out[None, 1:])[0, -2:]
    assert rows[1].test == pytest.approx(-second_half.mean().item()) != rows[1].kneser_ney


@pytest.fixture(scope="module")
def data(real_data):
    real_data("tinyshakespeare")
    return Text(corpus="shakespeare")


@pytest.fixture(scope="module")
def rows(data):
    ids = [torch.tensor(data.tokenizer.encode(text)) for text in (data.split_text("train"), data.held_out)]
    return counted(*ids, 65)


def test_the_curve_on_tiny_shakespeare(rows):
    assert [row.n for row in rows] == list(PUBLISHED)
    for row, printed in zip(rows, PUBLISHED.values(), strict=True):
        result = (row.types, row.unseen, row.train, row.add_one, row.kneser_ney)
        for value, expected, error in zip(result, printed, (0, 2e-4, 2e-3, 2e-3, 2e-3), strict=True):
            assert expected is None or value == pytest.approx(expected, abs=error), row
    # counts that back off are best at 6 characters, and so they are on the half that chose nothing
    for measure in ("kneser_ney", "test"):
        assert min(rows, key=lambda row: getattr(row, measure)).n == 6
    assert min(rows, key=lambda row: row.add_one).n == 4


def test_counts_beat_the_small_networks_on_the_same_axis(rows, data):
    results = {}
    for name in ("ngram-shakespeare", "bengio-shakespeare", "gpt-shakespeare"):
        results[name] = trained(weights.read_card(experiments.ZOO / name), data)
    counts, network, gpt = results.values()
    best = rows[5]
    assert (counts.held_out, counts.test) == pytest.approx((best.kneser_ney, best.test), abs=2e-4)
    for measure in ("held_out", "test"):
        assert getattr(counts, measure) < getattr(gpt, measure) < getattr(network, measure)
    assert (gpt.held_out, network.held_out) == pytest.approx((1.652, 1.708), abs=1e-3)
    assert (gpt.test, network.test) == pytest.approx((1.715, 1.763), abs=1e-3)
    large, small = sorted(NANOGPT.values())
    assert large < counts.held_out < gpt.held_out < small  # three times the steps of the published small one
    readme = (experiments.ZOO / "README.md").read_text()
    for one, called in ((counts, "6-gram counts have"), (gpt, "GPT"), (network, "Bengio's network")):
        assert f"{called} {one.held_out:.3f}" in readme
    assert (counts.steps, network.steps, gpt.steps) == (1, 15_600, 6_000)


def test_other_texts_and_units_are_refused(data):
    for name in ("gpt-pydocs", "ngram-bpe500-shakespeare"):
        with pytest.raises(ValueError, match="another text or in another unit"):
            trained(weights.read_card(experiments.ZOO / name), data)
