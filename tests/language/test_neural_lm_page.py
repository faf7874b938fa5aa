"""The page "Neural language model": counts and network are scored on the same places of the same text."""

import math
from functools import partial

import numpy as np
import pytest
import torch
from opening import captions, figure, film, open_page, open_warned

from datamodules import grammar
from datamodules.tokenizer import WordTokenizer
from lab.errors import UserError
from pages.language.neural_lm import lens

opened = partial(open_page, "language/neural_lm")
TEXT = "\n".join(
    ["the cat sat on the mat", "the dog ate the bone", "a bird saw the cat", "the dog saw a bird"] * 3
)


def last(result, n=4, d=4, hidden=16, rate=0.01, one_hot=False, steps=80):
    *_, (share, progress) = lens.train(result, n, d, hidden, rate, one_hot, steps)
    assert share == 1
    return progress


def test_parts_of_a_text():
    corpus = lens.corpus(lens.OWN, TEXT, "words")
    assert [corpus.coder.decode(x) for x in corpus.test] == ["the dog saw a bird"]
    assert len(corpus.train) == 11 and corpus.by_words
    corpus = lens.corpus(lens.OWN, TEXT, "characters")
    text = corpus.coder.decode(corpus.train[0]) + corpus.coder.decode(corpus.test[0])
    assert text == TEXT and len(corpus.test[0]) == math.ceil(0.1 * len(TEXT))
    toy = lens.corpus(lens.TOY)
    assert toy.coder.decode(toy.test[0]) == grammar.HIDDEN and len(toy.train) == 31
    assert len(lens.corpus(lens.DOCS).train[0]) == 36_000


@pytest.mark.parametrize("unit", ["words", "characters"])
@pytest.mark.parametrize("n", [2, 4])
def test_counts_and_network_predict_the_same_places(unit, n):
    corpus = lens.corpus(lens.OWN, TEXT, unit)
    before, after = lens.places(corpus, corpus.test, n - 1)
    assert before.shape == (len(after), n - 1)
    for smoothing in ("add", "kneser-ney"):
        model = lens.counted(corpus, n, smoothing)
        if unit == "words":
            ids = torch.tensor([[*corpus.test[0], WordTokenizer.EOS]])
            nats = -model.token_log_probs(*model._shifted(ids))[0]
        else:
            ids = torch.tensor(corpus.test)
            nats = -model.token_log_probs(ids[:, :-1], ids[:, 1:])[0, n - 2 :]
        assert len(nats) == len(after)
        assert lens.mean_nll(model, corpus) == pytest.approx(nats.mean().item(), abs=1e-12)
    progress = last(corpus, n)
    by_place = [
        -progress.network.next_log_probs(b[None])[0, a].item() for b, a in zip(before, after, strict=True)
    ]
    assert progress.test[-1] == pytest.approx(sum(by_place) / len(by_place), abs=1e-5)


def test_training_starts_uniform_and_learns():
    corpus = lens.corpus(lens.TOY)
    progress = last(corpus, 6, 8, 32, 0.01, False, 200)
    V = len(corpus.coder)
    assert progress.test[0] == pytest.approx(math.log(V), abs=1e-5)
    add = lens.mean_nll(lens.counted(corpus, 6, "add"), corpus)
    kn = lens.mean_nll(lens.counted(corpus, 6, "kneser-ney"), corpus)
    assert progress.steps[0] == 0 and progress.steps[-1] == 200 and len(progress.test) == len(progress.steps)
    assert progress.test[-1] < kn < add  # the toy on which sharing wins
    again = last(corpus, 6, 8, 32, 0.01, False, 200)
    assert again.test == progress.test


def test_on_documentation_counting_well_stays_ahead():  # at a small size
    corpus = lens.corpus(lens.DOCS)
    progress = last(corpus, 5, 16, 64, 0.005, False, 300)
    add = lens.mean_nll(lens.counted(corpus, 5, "add"), corpus)
    assert lens.mean_nll(lens.counted(corpus, 5, "kneser-ney"), corpus) < progress.test[-1] < add


def test_map_and_next_tokens():
    corpus = lens.corpus(lens.TOY)
    for one_hot in (False, True):
        progress = last(corpus, 6, 4, 16, one_hot=one_hot, steps=20)
        points, tokens = lens.plane(corpus, progress.network, 10)
        assert points.shape == (10, 2) and tokens[0] in ("the", "on")
    counts = lens.counted(corpus, 6, "kneser-ney")
    p = lens.next_tokens(corpus, counts, progress.network, "the cat sat on the")
    assert p["Kneser-Ney"].sum() == pytest.approx(1) and p["network"].sum() == pytest.approx(1, abs=1e-5)
    assert corpus.coder.tokens[int(p["Kneser-Ney"].argmax())] == "mat"


def test_what_is_shown_before_and_after_training():
    page = opened(steps="100")
    corpus = lens.corpus(lens.TOY)
    add = lens.mean_nll(lens.counted(corpus, 6, "add"), corpus)
    kn = lens.mean_nll(lens.counted(corpus, 6, "kneser-ney"), corpus)
    assert f"{add:.4f}" in page.latex[0].value and f"{kn:.4f}" in page.latex[0].value
    assert f"{math.exp(kn):.2f} (Kneser-Ney)" in captions(page)
    page.button(key="train").click().run()
    for _ in range(100):
        if not page.latex:  # the equation is the film's now
            break
        page.run()
    assert not page.exception
    trained, turned = last(corpus, 6, 8, 32, 0.01, False, 100), film(page, "look")
    assert [turned["count"], turned["at"]] == [len(trained.steps), len(trained.steps) - 1]
    for tex, nats in zip(turned["equations"], trained.test, strict=True):
        assert f"{nats:.4f}" in tex
    _, frames = figure(page, "loss")
    assert np.isfinite(frames["data.0.y"]).sum(1).tolist() == list(range(1, len(trained.steps) + 1))


def test_a_training_can_be_scrubbed_back():
    corpus = lens.corpus(lens.TOY)
    progress = last(corpus, 6, 4, 16, steps=80)
    story = lens.film(corpus, progress, "the dog sat on the")
    assert story.next.shape == (len(progress.steps), len(corpus.coder)) and story.points.shape[2] == 2
    uniform = torch.full_like(story.next[0], 1 / len(corpus.coder))
    torch.testing.assert_close(story.next[0], uniform, atol=1e-6, rtol=0)
    counts = lens.counted(corpus, 6, "kneser-ney")
    now = lens.next_tokens(corpus, counts, progress.network, "the dog sat on the")
    torch.testing.assert_close(story.next[-1], now["network"])


def test_what_cannot_be_counted_is_a_sentence():
    many = "\n".join(" ".join(f"w{5 * line + i}" for i in range(5)) for line in range(60))
    page = open_warned("language/neural_lm", corpus=lens.OWN, own=many, n=8)
    assert "lower the order" in page.warning[0].value


def test_refusals():
    for text, unit, sentence in (
        ("a\nb", "words", "has 2 lines"),
        ("short", "characters", "has 5 characters"),
    ):
        with pytest.raises(UserError, match=sentence):
            lens.corpus(lens.OWN, text, unit)
    corpus = lens.corpus(lens.OWN, "ab" * 50, "characters")
    with pytest.raises(UserError, match="shorter than a context"):
        lens.places(corpus, [corpus.test[0][:3]], 4)
    with pytest.raises(UserError, match="not in the vocabulary"):
        lens.next_tokens(corpus, lens.counted(corpus, 2, "add"), None, "xyz")
