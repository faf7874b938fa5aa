"""The page on the size of a vocabulary: perplexity per token against bits per byte."""

import math
from functools import partial

import pytest
import torch
from opening import open_page, table_with

from datamodules.text import Text
from datamodules.tokenizer import BPETokenizer, ByteTokenizer
from lab import experiments, weights
from modules.language.ngram import NGram
from pages.language.vocabularies import lens

opened = partial(open_page, "language/vocabularies")


def compare(*args, **kwargs):
    *_, (share, result) = lens.comparing(*args, **kwargs)
    assert share == 1
    return result


def test_one_model_per_vocabulary() -> None:
    training = "the cat sat on the mat. a dog ate the hat, and the cat ate the rat! " * 40
    test = "the dog sat on the hat, and a rat ate the cat."
    result = compare(training, test, (256, 270, 300), order=3)
    assert [one.vocabulary for one in result] == [256, 270, 280]  # there is no more to merge
    for one in result:
        size = one.vocabulary
        coder = ByteTokenizer() if size == 256 else BPETokenizer.train(training, size)
        ids = torch.tensor([coder.encode(training)])
        assert one.tokens == ids.shape[1]
        assert one.bytes_per_token == pytest.approx(len(training) / ids.shape[1])
        unseen = torch.tensor([coder.encode(test)])
        for order in (1, 2, 3):
            model = NGram(size, order)
            model.fit(ids)
            nats = -model.log_prob(unseen).item()
            assert one.perplexity(order) == pytest.approx(math.exp(nats / unseen.shape[1]))
            assert one.bits_per_byte(order) == pytest.approx(nats / math.log(2) / len(test))
    assert result[0].tokens > result[1].tokens > result[2].tokens


def test_the_page_counts_a_model_per_vocabulary(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "Return the value of the option, or None where the option has no value. " * 60
    monkeypatch.setattr(lens, "embedded", lambda: (text, "Return no value of the option."))
    at = opened(models="true")
    for _ in range(50):  # it is counted while the page is looked at
        if at.latex:
            break
        at.run()
    result = compare(*lens.embedded())
    latex = next(m.value for m in at.latex if r"\ln 2" in m.value)
    last, n = result[-1], len(result[-1].nll)
    assert f"={last.bits_per_byte(n):.3f}" in latex.replace("= ", "=")
    assert f"{last.perplexity(n):.2f}" in latex and f"{last.test_bytes_per_token:.3f}" in latex
    shipped = table_with(at, "bits per byte").set_index("model")
    for name in ("ngram-shakespeare", "ngram-bpe500-shakespeare", "ngram-bpe2000-shakespeare"):
        card = weights.read_card(experiments.ZOO / name)
        nats, width = card["metrics"]["test/nll"], card["data"]["bytes_per_token"]["test"]
        assert float(shipped.loc[name, "bits per byte"]) == pytest.approx(
            nats / math.log(2) / width, abs=5e-4
        )
        assert float(shipped.loc[name, "perplexity"]) == pytest.approx(math.exp(nats), abs=5e-4)
    row = shipped.loc[["ngram-shakespeare", "ngram-bpe500-shakespeare", "ngram-bpe2000-shakespeare"]]
    perplexity, bits = (row[c].astype(float).tolist() for c in ("perplexity", "bits per byte"))
    assert perplexity == sorted(perplexity) and perplexity[2] / perplexity[0] > 16
    assert max(bits) / min(bits) < 1.15


@pytest.mark.heavy
def test_perplexity_per_token_rises_where_bits_per_byte_hardly_move(real_data) -> None:
    real_data("tinyshakespeare")
    data = Text("shakespeare")
    sizes = (256, 500, 1000, 2256)
    result = compare(data.split_text("train"), data.held_out, sizes, order=4)
    perplexity, bits = [[getattr(one, m)(4) for one in result] for m in ("perplexity", "bits_per_byte")]
    assert perplexity == pytest.approx([5.64, 17.29, 31.35, 57.72], abs=0.01)
    assert bits == pytest.approx([2.4947, 2.2065, 2.2126, 2.2432], abs=1e-3)
