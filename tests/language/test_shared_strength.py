"""Shared strength: counts that back off, vectors, one-hot inputs; shipped and on the page."""

import math
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from opening import captions, figure, film, open_page

from datamodules import grammar
from datamodules.grammar import Grammar
from datamodules.tokenizer import WordTokenizer
from lab import experiments, ui, weights
from lab.lenses.embeddings import aligned
from pages.language.shared_strength import lens

opened = partial(open_page, "language/shared_strength")
DOG = "the dog sat on the"


def probability(model, coder, word, context=DOG):
    return float(model.next_log_probs(lens.prefix(coder, context))[0].exp()[coder.encode(word)[0]])


def trained(toy, d=8, one_hot=False, seeds=1, hidden=grammar.HIDDEN, decay=0.0):
    *_, (share, networks) = lens.train(toy, hidden, d, one_hot, seeds, decay)
    assert share == 1 and len(networks) == seeds
    return networks


def test_toys():
    assert len(grammar.sentences("class")) == 32 and len(grammar.sentences("verb")) == 20
    for toy in ("class", "verb"):
        data = Grammar(toy)
        data.setup()
        coder = data.tokenizer
        contexts, targets = data.train_set[:]
        assert len(targets) == 7 * (len(grammar.sentences(toy)) - 1)  # six words and the end
        lines = {coder.decode([*c.tolist(), int(t)]) for c, t in zip(contexts, targets, strict=True)}
        assert grammar.HIDDEN not in lines and "the cat sat on the mat" in lines
        context, target = data.test_set[:]
        assert coder.decode(context[0]) == DOG and coder.decode(target) == "mat"
        tokens, answers = (t[0] for t in by_lines(toy).test_set[:])
        place = (answers != -100).nonzero().flatten().tolist()
        assert coder.decode(tokens[: place[0] + 1]) == DOG and coder.decode(answers[place]) == "mat"
    # the first word is predicted from nothing but begin tokens
    assert contexts[0].tolist() == [WordTokenizer.BOS] * 6 and coder.decode(targets[:1]) == "the"


def by_lines(toy):
    data = Grammar(toy, examples="lines")
    data.setup()
    return data


def test_backing_off_is_right_where_the_verb_decides():
    model, coder = lens.counted("verb", grammar.HIDDEN), grammar.tokenizer("verb")
    assert probability(model, coder, "mat") == pytest.approx(0.83, abs=5e-3)
    assert not lens.table(model, lens.prefix(coder, DOG)).any()  # the full-order table knows nothing
    assert lens.table(model, lens.prefix(coder, "the cat sat on the"))[coder.encode("mat")[0]] == 1
    networks = trained("verb", seeds=3)
    assert min(t.right for t in networks) > 0.97
    # no evidence for "nearby vectors": the subjects are alike in nothing
    assert max(t.within for t in networks) < 0.5


def test_backing_off_is_wrong_where_the_class_decides():
    model, coder = lens.counted("class", grammar.HIDDEN), grammar.tokenizer("class")
    assert probability(model, coder, "mat") == pytest.approx(0.333, abs=1e-3)
    assert probability(model, coder, "chair") == pytest.approx(0.476, abs=1e-3)


@pytest.mark.heavy
def test_the_network_is_right_from_every_start():  # .994 ± .003, cosines .43 and −.22
    networks = trained("class", seeds=10)
    right = torch.tensor([t.right for t in networks])
    assert (right > 0.5).all() and right.mean() == pytest.approx(0.993, abs=0.005) and right.std() < 0.01
    within, across = (sum(getattr(t, n) for t in networks) / 10 for n in ("within", "across"))
    assert within == pytest.approx(0.43, abs=0.12) and across == pytest.approx(-0.22, abs=0.08)
    decayed = trained("class", seeds=2, decay=1e-3)  # .937, .73, −.87
    assert all(0.88 < t.right < 0.97 and t.within > 0.6 and t.across < -0.6 for t in decayed)


def test_one_hot_inputs_carry_over_too():
    networks = trained("class", one_hot=True, seeds=2)
    assert all(t.right > 0.97 for t in networks)
    network, coder = networks[0].network, grammar.tokenizer()
    assert network.one_hot and networks[0].within > networks[0].across + 0.2
    # its vectors: what the first layer adds when the word stands in the subject's place
    dog, cat = (coder.encode(w)[0] for w in ("dog", "cat"))
    x = torch.zeros(2, 6, dtype=torch.int64)
    x[0, 2], x[1, 2] = dog, cat
    a, b = network.first(network.embedding(x).flatten(-2)).detach()
    vectors = lens.vectors(network, 2)
    torch.testing.assert_close(a - b, vectors[dog] - vectors[cat])


def test_questions():
    asked = lens.question("class", "the woman stood on the stage")
    assert (asked.context, asked.right, asked.wrong) == ("the woman stood on the", "stage", "grass")
    assert asked.training_context == "the boy stood on the"
    assert lens.question("verb", grammar.HIDDEN).wrong is None
    for toy in ("class", "verb"):
        for sentence in grammar.sentences(toy):
            asked = lens.question(toy, sentence)
            assert f"{asked.training_context} {asked.right}" in grammar.sentences(toy)
            assert asked.training_context != asked.context


SHIPPED = {
    "bengio-classes": (0.98, 1), "onehot-classes": (0.97, 1), "bengio-verbs": (0.98, 1),
    "ngram-classes": (0.332, 0.334), "ngram-verbs": (0.82, 0.84),
}  # fmt: skip


@pytest.mark.parametrize("name, bounds", SHIPPED.items(), ids=SHIPPED)
def test_shipped_weights(name, bounds):
    place = experiments.ZOO / name
    card, model = weights.read_card(place), weights.load(place)
    coder = WordTokenizer(card["data"]["tokenizer"]["tokens"])
    assert coder.tokens == grammar.tokenizer("verb" if "verbs" in name else "class").tokens
    p = probability(model, coder, "mat")
    assert bounds[0] < p < bounds[1] and bounds[0] < math.exp(-card["metrics"]["test/nll"]) < bounds[1]
    if not name.startswith("ngram"):
        assert card["seeds"] == list(range(10)) and 0 < card["std"]["test/nll"] < 0.01


def test_what_is_shown():
    page = opened()
    (latex,), (text,) = film(page, "start")["equations"], film(page, "start")["captions"]
    network, coder = ui.load("bengio-classes"), grammar.tokenizer()
    counts = lens.counted("class", grammar.HIDDEN)
    mat, chair = (probability(counts, grammar.tokenizer(), w) for w in ("mat", "chair"))
    assert f"<mn>{mat:.4f}</mn><mo>&#x0003C;</mo>" in latex and f"{chair:.4f}" in latex
    assert f"{probability(network, coder, 'mat'):.4f}" in latex
    unit = F.normalize(network.embedding.weight, dim=1)
    animals, people = (unit[coder.encode(" ".join(c))] for c in grammar.CLASSES.values())
    within = (sum(float((m @ m.T).sum()) - 4 for m in (animals, people))) / 24
    assert f"one class: {within:.2f}; of two classes: {float((animals @ people.T).mean()):.2f}." in text
    page = opened(toy="verb alone")
    (latex,) = film(page, "start")["equations"]
    assert "0.83" in latex and "chair" not in latex
    assert "no shipped weights" in captions(opened(d="3"))


@pytest.mark.heavy
def test_networks_are_trained_at_the_press_of_a_button():
    page = opened(**{"hidden-class": "the woman stood on the stage", "d": "4"})
    page.button(key="train").click().run()
    for _ in range(200):
        if page.metric:
            break
        page.run()
    assert not page.exception
    networks = trained("class", d=4, seeds=10, hidden="the woman stood on the stage")
    assert page.metric[0].value == f"{sum(t.right > 0.5 for t in networks)}"
    assert page.dataframe[0].value["P(stage)"].tolist() == [f"{t.right:.4f}" for t in networks]
    assert film(page, "start")["count"] == 10
    _, frames = figure(page, "never seen")
    assert frames["data.2.y"][:, 0] == pytest.approx([t.right for t in networks], abs=1e-5)


def test_maps_of_many_networks_are_turned_alike():
    cloud = torch.randn(9, 2)
    turn = torch.tensor([[0.0, 1.0], [1.0, 0.0]])  # a flip
    torch.testing.assert_close(aligned(torch.stack([cloud @ turn, cloud])), torch.stack([cloud, cloud]))


def test_refusals():
    for knobs, sentence in (
        ({"held_out": "the cow sat on the mat"}, "give a sentence of the grammar"),
        ({"grammar": "colour"}, "toy is 'colour'"),
        ({"examples": "words"}, "examples is 'words'"),
        ({"context": 0}, "context is 0"),
    ):
        with pytest.raises(ValueError, match=sentence):
            Grammar(**knobs)
