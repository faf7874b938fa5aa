"""The n-gram page: what it shows is what the counts give."""

import math
import re
from functools import partial

import pytest
import torch
from opening import captions, figure, open_page, open_warned, table_with

from lab import experiments, weights
from lab.errors import UserError
from lab.lenses import counts
from modules.language import information as info
from pages.language.ngrams import held_out, lens

opened = partial(open_page, "language/ngrams")
SAM = "I am Sam\nSam I am\nI do not like green eggs and ham"


def test_shares_of_the_orders_add_up() -> None:
    for unit, context in (("words", "I am"), ("characters", "am S")):
        counted = counts.count(SAM.lower(), unit, 4)
        for smoothing in ("kneser-ney", "modified", "add"):
            read = lens.smoothed(counted, 3, smoothing, 0.5, None)
            trace = read.model.backoff(read.encode(context.lower()))
            total = sum(share for _, share in lens.shares(trace))
            torch.testing.assert_close(total, trace.result, rtol=0, atol=1e-12)


def test_curve_is_of_models_counted_at_each_order() -> None:
    counted = counts.count(SAM, "words", 4)
    columns = lens.curve(counted, "Sam I like", 1.0)
    assert columns["order"] == [1, 2, 3, 4] and columns["types"][1] == 15
    assert columns["possible"] == [12, 12**2, 12**3, 12**4]  # and <unk>
    assert columns["text, maximum likelihood"][1] == math.inf
    for order in (1, 2, 3, 4):
        direct = counts.count(SAM, "words", order)
        ids = torch.tensor([[*direct.coder.encode("Sam I like"), 1]])
        nats = -direct.model.token_log_probs(*direct.model._shifted(ids))
        assert columns["text, Kneser-Ney"][order - 1] == pytest.approx(info.perplexity(nats).item())
        plain = lens.smoothed(direct, order, "none", 1.0, None)
        assert columns["train, maximum likelihood"][order - 1] == pytest.approx(
            math.exp(plain.model.train_nll())
        )
        unseen = plain.model.token_log_probs(*plain.model._shifted(ids)).isinf().double().mean().item()
        assert columns["unseen"][order - 1] == pytest.approx(unseen)
    falling = columns["train, maximum likelihood"]
    assert falling == sorted(falling, reverse=True)


def test_texts_that_cannot_be_counted() -> None:
    for text, unit in (("", "words"), ("  \n ", "words"), ("a", "characters")):
        with pytest.raises(UserError, match="no text to count"):
            counts.count(text, unit, 2)
    with pytest.raises(UserError, match="not in the vocabulary"):
        counts.count("abc", "characters", 2).encode("x")


@pytest.mark.parametrize("smoothing", ["none", "add", "kneser-ney"])
def test_the_equation_is_the_models(smoothing: str) -> None:
    at = opened(smoothing=smoothing, n="2", context="I", own=SAM)
    own, back, below, total = map(float, re.findall(r"\d\.\d{4}", at.latex[0].value))
    assert own + back * below == pytest.approx(total, abs=3e-4)
    counted = lens.smoothed(counts.count(SAM, "words", 5), 2, smoothing, 1.0, None)
    row = counted.model.next_log_probs(counted.encode("I")[None])[0].exp()
    assert total == pytest.approx(row.max().item(), abs=5e-5)
    if smoothing == "none":
        assert total == pytest.approx(2 / 3, abs=5e-5) and back == 0
    orders = table_with(at, "order")
    assert sum(map(float, orders["weight in the mixture"])) == pytest.approx(1, abs=5e-4)
    sparsity = table_with(opened(smoothing=smoothing, own=SAM, view="Sparsity"), "PP, unsmoothed")
    assert sparsity["n-grams counted"][1] == 15
    assert "∞" not in sparsity["PP, unsmoothed"][0] and sparsity["n"].tolist() == list(range(1, 9))


def test_unseen_contexts_and_characters_get_a_sentence() -> None:
    at = open_warned("language/ngrams", smoothing="none", n="3", context="ham ham", own=SAM)
    assert "never seen" in at.warning[0].value
    at = open_warned("language/ngrams", unit="characters", context="%", own=SAM)
    assert "not in the vocabulary" in at.warning[0].value


@pytest.mark.parametrize("name", ["ngram-shakespeare", "ngram-pydocs", "ngram-multi30k"])
def test_shipped_counts(name: str) -> None:
    place = experiments.ZOO / name
    card, model = weights.read_card(place), weights.load(place)
    assert (place / "model.safetensors").stat().st_size < 4e6
    assert card["parameters"] == len(model.keys)
    assert model.train_nll() == pytest.approx(read_metric(place, "train/nll"), abs=1e-6)
    limit = {"ngram-shakespeare": 1.4915, "ngram-pydocs": 1.76, "ngram-multi30k": math.log(30.54)}[name]
    assert card["metrics"]["val/nll"] <= limit
    if name == "ngram-shakespeare":  # validation and test as one text
        both = (card["metrics"]["val/nll"] + card["metrics"]["test/nll"]) / 2
        assert both == pytest.approx(1.5580, abs=5e-4)
    if name == "ngram-multi30k":
        assert math.exp(card["metrics"]["test/nll"]) == pytest.approx(30.72, abs=0.02)
        assert model.num_predictable == 5896
    text = lens.drawn(counts.trained(model, card), 30, 1.0, seed=0)
    assert len(text) > 10 and text == lens.drawn(counts.trained(model, card), 30, 1.0, seed=0)


def read_metric(place, name: str) -> float:
    import csv

    with open(place / "metrics.csv", newline="") as file:
        return float(list(csv.DictReader(file))[-1][name])


def test_the_tree_of_contexts_counts_what_followed() -> None:
    for unit, text, typed in (("words", SAM, "I am"), ("characters", "abracadabra abracadabra", "abra")):
        counted = counts.count(text, unit, 4)
        model, base = counted.model, counted.model.base
        contexts = lens.contexts(counted, counted.encode(typed), others=2)
        grams = []
        for key, n in zip(model.keys.tolist(), model.counts.tolist(), strict=True):
            grams += [tuple(key // base**i % base for i in (3, 2, 1))] * n  # its context, oldest first
        assert contexts.count[0] == len(grams)
        for tokens, n, parent in zip(contexts.tokens, contexts.count, contexts.parent, strict=True):
            assert n == sum(gram[3 - len(tokens) :] == tokens for gram in grams)
            assert parent == -1 or contexts.tokens[parent] == tokens[1:]
        assert len(set(contexts.tokens)) == len(contexts.tokens)
        padded = (model.pad, model.pad, *counted.encode(typed).tolist())[-3:]
        assert [t for t, on in zip(contexts.tokens, contexts.typed, strict=True) if on] == [
            padded[3 - k :] for k in range(4)
        ]
        assert [row == 0 for row in contexts.place] == contexts.typed
        drawn = {(len(tokens), row) for tokens, row in zip(contexts.tokens, contexts.place, strict=True)}
        assert len(drawn) == len(contexts.tokens)  # no two on one another
        # what follows a node, at every order
        for tokens, n in zip(contexts.tokens, contexts.count, strict=True):
            often, p = lens.after(counted, tokens, counted)
            for token in range(model.vocab_size):
                gram = (*tokens, token)
                same = sum(
                    times for key, times in zip(model.keys.tolist(), model.counts.tolist(), strict=True)
                    if tuple(key // base**i % base for i in range(len(tokens), -1, -1)) == gram
                )  # fmt: skip
                assert float(often[token]) == pytest.approx(same / max(n, 1))
            assert float(p.sum()) == pytest.approx(1)


def test_a_clicked_context_shows_what_follows() -> None:
    at = opened(view="Contexts", own=SAM, n="3", context="I", node="1,0")  # one token of context: I
    assert "After … i, followed 3 times" in captions(at)
    at = opened(view="Contexts", own=SAM, n="3", context="I")  # nothing clicked: the longest context seen
    assert "After … ⊢ i, followed 2 times" in captions(at)


def test_own_text_is_counted_as_far_as_it_fits() -> None:
    assert lens.own(SAM, "words").model.order == lens.MOST
    many = " ".join(f"w{i}" for i in range(800))
    model = lens.own(many, "words").model
    assert model.base**model.order < 2**63 <= model.base ** (model.order + 1)


def test_sampling_without_smoothing_says_what_it_does() -> None:
    for smoothing, result in (("none", True), ("add", False)):
        assert ("drawn by Kneser-Ney" in captions(opened(view="Sample", smoothing=smoothing))) == result


def test_the_orders_stand_beside_the_gpt() -> None:
    cards = [weights.read_card(experiments.ZOO / name) for name in (held_out.COUNTS, held_out.GPT)]
    assert held_out.comparable(*cards)
    assert not held_out.comparable(cards[0], weights.read_card(experiments.ZOO / "gpt-pydocs"))
    *_, (share, result) = held_out.by_order(*held_out.splits(), most=6)
    assert share == 1 and len(result) == 6
    assert result[5] == pytest.approx(
        cards[0]["metrics"]["test/nll"], abs=1e-5
    )  # of the same split, as shipped
    assert result == sorted(result, reverse=True)
    assert result[5] < cards[1]["metrics"]["test/nll"] < result[3]  # as the scene says
    page = opened(corpus=held_out.COUNTS, view="Held out")
    shown = figure(page, "by-order")[0]["figure"]["data"]
    assert [line["y"][0] for line in shown[1:]] == [card["metrics"]["test/nll"] for card in cards]
