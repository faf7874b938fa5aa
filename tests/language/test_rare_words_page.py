"""The page on rare words: what it shows is what models of smaller vocabularies give."""

import math

import pytest
import torch
from opening import equation, open_page, open_warned

from pages.language.rare_words import lens


def test_the_equation_is_of_the_first_and_last_model() -> None:
    page = open_page("language/rare_words")
    text = page.text_area[0].value
    rows = lens.inflation(*lens.split(text))
    shown = equation(page)
    assert f"{rows[0].perplexity:.2f}" in shown and f"{rows[-1].perplexity:.2f}" in shown
    assert "no text to count" in open_warned("language/rare_words", own=" ").warning[0].value


def test_rare_words_left_out() -> None:
    training = ["a a a b", "a b c", "a b", "d a a"]
    rows = lens.inflation(training, ["a b c", "a d e"], (1, 2, 3, 10), order=2)
    assert [row.min_count for row in rows] == [1, 2, 3]  # no word comes 10 times
    assert [row.vocabulary for row in rows] == [4, 2, 2]
    assert [row.unknown for row in rows] == pytest.approx([1 / 6, 3 / 6, 3 / 6])
    for row in rows:
        coder = lens.WordTokenizer.train(training, row.min_count)
        model = lens.NGram(len(coder), 2, bos=0, eos=1)
        model.count(lens.framed([coder.encode(line) for line in training]))
        ids = [torch.tensor([[*coder.encode(line), 1]]) for line in ("a b c", "a d e")]
        nats = torch.cat([-model.token_log_probs(*model._shifted(i))[0] for i in ids])
        assert row.perplexity == pytest.approx(math.exp(nats.mean()))
        assert row.known_perplexity == pytest.approx(math.exp(nats[[0, 1, 4]].mean()))  # a, b, a


@pytest.mark.heavy
def test_unknown_words_lower_perplexity_on_captions(real_data) -> None:
    """More words unknown, a lower perplexity of all tokens; that of the known ones hardly moves."""
    real_data("multi30k")
    from datamodules.multi30k import sentences

    rows = lens.inflation(sentences("train"), sentences("test"))
    assert rows[0].unknown == pytest.approx(0.0102, abs=5e-5)
    assert [row.vocabulary for row in rows][:2] == [9779, 5894]
    assert rows[1].perplexity == pytest.approx(30.72, abs=0.01)
    perplexity, unknown = [row.perplexity for row in rows], [row.unknown for row in rows]
    assert perplexity == sorted(perplexity, reverse=True) and unknown == sorted(unknown)
    assert perplexity[0] / perplexity[-1] > 1.2
    known = [row.known_perplexity for row in rows]
    assert max(known) / min(known) < 1.1
