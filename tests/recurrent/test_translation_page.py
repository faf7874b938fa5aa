"""The page Translation: its numbers are those of the translators, and what its scenes say is so."""

import re
from functools import partial

import numpy as np
import pytest
import torch
from opening import captions, figure, film, finish, open_page, plain, run_page, spoken, warnings

from datamodules.spanish import noun_phrases
from datamodules.spanish import translate as gold_of
from lab import experiments, weights
from lab.errors import UserError
from lab.lenses import attention as recorded
from lab.lenses import translations
from lab.lenses.text import tokenizer
from modules.recurrent.seq2seq import Seq2Seq
from pages.recurrent.translation import compare, lens, room
from pages.recurrent.translation import spoken as spoken_of

opened = partial(open_page, "recurrent/translation")
CARD = experiments.find("attention-spanish").card
CODER = tokenizer(CARD)
GERMAN = experiments.find(room.CAPTIONS).card


@pytest.fixture(scope="module")
def models() -> tuple[Seq2Seq, Seq2Seq]:
    attention, fixed = (weights.load(name).eval() for name in ("attention-spanish", "fixed-spanish"))
    return attention.double(), fixed.double()


@pytest.fixture(scope="module")
def german() -> tuple[Seq2Seq, Seq2Seq]:
    attention, fixed = (
        weights.load(name).eval() for name in ("attention-multi30k-de-en", "fixed-multi30k-de-en")
    )
    return attention, fixed


@pytest.fixture(scope="module")
def lengths() -> compare.Lengths:
    loaded = (weights.load(name).eval() for name in ("attention-spanish", "fixed-spanish"))
    return list(compare.lengths(*loaded, CARD))[-1][1]


def read(models: tuple[Seq2Seq, Seq2Seq], text: str) -> lens.Pair:
    return lens.translate(*models, CARD, text)


@pytest.mark.parametrize("text", room.EXAMPLES.values())
def test_steps_are_those_of_the_models(models: tuple[Seq2Seq, Seq2Seq], text: str) -> None:
    """Words are those of `translate`; weights and probabilities those of the written words, forced."""
    pair = read(models, text)
    for model, result in zip(models, (pair.attention, pair.fixed), strict=True):
        source = pair.source.ids[None]
        torch.testing.assert_close(model.translate(source, length=translations.MOST)[0], result.ids)
        logits, gamma = model(source, result.ids[None])
        p = logits[0].softmax(-1).gather(1, result.ids[:, None])[:, 0]
        torch.testing.assert_close(result.p, p.detach())
        torch.testing.assert_close(result.gamma, gamma[0].detach())
        assert [CODER.tokens[i] for i in result.ids.tolist()[:-1]] == result.names[:-1]
        assert result.names[-1] == translations.END
    torch.testing.assert_close(pair.attention.scores.softmax(-1), pair.attention.gamma)
    shown = recorded.alignment(models[0], pair.source.ids, pair.attention.ids)
    torch.testing.assert_close(pair.attention.gamma, shown)


@pytest.mark.parametrize("word", [0, 5])
def test_a_score_is_the_sum_of_its_parts(models: tuple[Seq2Seq, Seq2Seq], word: int) -> None:
    pair, found = read(models, room.SWAP), lens.parts(*models, CARD, room.SWAP, word)
    T = torch.arange(len(found.columns))
    torch.testing.assert_close(found.terms.sum(1), pair.attention.scores[T, found.columns])
    v = models[0].context.attention.energy.weight[0].detach()
    torch.testing.assert_close(found.terms, v * (found.query + found.key).tanh())
    state = dict(models[0].named_parameters())
    query = pair.attention.states @ state["context.attention.query.weight"].T.detach()
    torch.testing.assert_close(found.query, query)
    assert found.columns == ([4] * len(T) if word else pair.attention.gamma.argmax(1).tolist())


@pytest.mark.parametrize("text", [room.CAT, room.FOUR])
def test_forced_and_free_are_those_of_the_decoder(models: tuple[Seq2Seq, Seq2Seq], text: str) -> None:
    source, gold = translations.sentence(CARD, text), translations.sentence(CARD, text).gold
    assert gold is not None
    target = torch.tensor([[*CODER.encode(" ".join(gold.spanish)), models[0].eos]])
    for model, pair in zip(models, (read(models, text).attention, read(models, text).fixed), strict=True):
        result = compare.decode(model, CARD, text)
        total = -model.log_prob(target, source.ids[None]).item()
        assert result.nats[0] == pytest.approx(total / target.shape[1])
        free = model.decode(source.ids[None], model.inputs(target), own=1.0)[0][0]
        loss = torch.nn.functional.cross_entropy(free, target[0]).item()
        assert result.nats[1] == pytest.approx(loss)
        written = [*pair.names, *[translations.END] * target.shape[1]]
        first = next((t for t, (a, b) in enumerate(zip(written, result.gold, strict=False)) if a != b), None)
        assert result.divergence == first
        if first is not None:  # up to its own error the free decoder reads what the forced one reads
            torch.testing.assert_close(result.p[: first + 1, 0], result.p[: first + 1, 1])


def test_length_is_counted_sentence_by_sentence(lengths: compare.Lengths) -> None:
    model = weights.load("fixed-spanish").eval()
    pairs = compare.AlignedPairs(compare.sentences(compare.COUNT, (2, 2), "test", seed=2), CODER)
    right = 0
    for english in pairs.english:
        written = model.translate(torch.tensor([CODER.encode(" ".join(english))]), length=40)[0]
        right += [CODER.tokens[i] for i in written.tolist()] == [*gold_of(english).spanish, "<eos>"]
    assert float(lengths.exact[1, 1]) == pytest.approx(right / compare.COUNT) and 0 < right < compare.COUNT
    assert lengths.trained == 4 and len(lengths.exact) == compare.CLAUSES


def test_scenes_say_what_is_seen(models: tuple[Seq2Seq, Seq2Seq], lengths: compare.Lengths) -> None:
    def looks(text: str, *steps: int) -> list[tuple[str, str]]:
        pair = read(models, text)
        best = pair.attention.gamma.argmax(1).tolist()
        return [(pair.attention.names[t], pair.source.names[best[t]]) for t in steps]

    assert looks(room.CAT, 2, 3) == [("gato", "cat"), ("grande", "big")]
    assert float(read(models, room.CAT).attention.gamma[0, :2].sum()) > 0.9
    assert looks(room.SWAP, 2, 3, 4) == [("llave", "key"), ("verde", "green"), ("pequeña", "small")]
    four = read(models, room.FOUR)
    assert four.attention.names == four.reference
    assert sum(translations.differing(four.fixed.names, four.reference)) > 5
    assert "y" in four.fixed.names and four.fixed.names[-2:] == [".", translations.END]
    new = [noun_phrases()[tuple(words.split())].held_out for words in ("two white cats", "my small dog")]
    twice = read(models, room.TWICE)
    assert new == [True, True] and twice.attention.names == twice.reference
    found = lens.parts(*models, CARD, room.CAT, 0)
    assert float((found.terms[3] > 0).double().mean()) > 0.9
    assert float(read(models, room.CAT).attention.gamma[3].max()) > 0.9
    free = compare.decode(models[1], CARD, room.FOUR)
    after = range(free.divergence or 0, len(free.gold))
    hits = [sum(words[t] == free.gold[t] for t in after) for words in free.words]
    assert free.divergence is not None and hits[0] > hits[1]
    assert float(lengths.exact[:4, 0].min()) >= 0.95 and float(lengths.exact[5, 0]) < 0.1
    falls = lengths.exact[:4, 1]
    assert (falls.diff() < 0).all() and falls[3] < 0.1
    six = read(models, room.SIX)
    left = [word for word in six.reference if word not in six.attention.names]
    assert left == ["libro"] and len(six.attention.names) == len(six.reference) - 3


def test_captions_of_people(german: tuple[Seq2Seq, Seq2Seq]) -> None:
    """The verb at the end is looked up in time, and words are those of the model; no gold is claimed."""
    for text in translations.GERMAN.values():
        pair = lens.translate(*german, GERMAN, text)
        source, ids = pair.source.ids[None], pair.attention.ids
        assert german[0].translate(source, length=translations.MOST)[0].tolist() == ids.tolist()
        shown = german[0](source, ids[None])[1][0].detach()
        torch.testing.assert_close(pair.attention.gamma, shown, atol=1e-4, rtol=1e-3)
        assert pair.source.gold is None and "green" not in spoken_of.notice(pair)
    pair = lens.translate(*german, GERMAN, room.KITCHEN)
    looked = pair.source.names[int(pair.attention.gamma[2].argmax())]
    assert (pair.attention.names[2], looked) == ("␣holding", "␣hält")
    assert pair.source.names[-2:] == ["␣hält", "."]
    page = opened(model=room.CAPTIONS, text=room.KITCHEN, step=2)
    assert {"␣holding", "␣hält"} <= {w.strip("“” ") for w in re.findall("“[^”]*”", str(film(page)))}


def test_a_sentence_of_another_language_is_named() -> None:
    assert lens.examples(CARD) == room.EXAMPLES and lens.examples(GERMAN) == translations.GERMAN
    assert translations.GERMAN["Kitchen"] == room.KITCHEN
    assert "reads German" in translations.sentence(GERMAN, room.CAT).says
    french = GERMAN | {"data": GERMAN["data"] | {"source": "fr"}}  # a model that a reader has trained
    assert lens.examples(french) == {} and translations.sentence(french, room.CAT).says == ""
    assert "40 pieces" in translations.sentence(GERMAN, room.KITCHEN * 6).says
    assert not any(translations.sentence(GERMAN, text).says for text in translations.GERMAN.values())
    assert "reads German" in captions(opened(model=room.CAPTIONS))
    assert "reads German" not in captions(opened())


def test_what_the_grammar_lacks_is_named() -> None:
    zebra = translations.sentence(CARD, "I have a ZEBRA cat")
    assert zebra.text == "i have a cat ." and "zebra" in zebra.says and zebra.gold is not None
    strange = translations.sentence(CARD, room.STRANGE)
    assert strange.gold is None and "no sentence of the grammar" in strange.says
    assert translations.sentence(CARD, room.CAT).says == ""
    long = translations.sentence(CARD, "I have a cat and " * 20)
    assert len(long.names) == translations.LONGEST and "first" in long.says
    with pytest.raises(UserError, match="No word"):
        translations.sentence(CARD, "zebra .")
    with pytest.raises(UserError, match="gold translation"):
        compare.decode(weights.load("fixed-spanish").eval(), CARD, room.STRANGE)
    assert "No word" in warnings(page := run_page("recurrent/translation", text="zebra")) + "".join(
        c.value for c in [*page.info, *page.error, *page.caption, *page.markdown]
    )
    assert "zebra" in captions(opened(text="I have a zebra cat."))


def test_other_translators_are_one_option_more() -> None:
    """Gold belongs to data that know it: of captions of photographs two views are left."""
    photographs = {"data": {"name": "Translation", "corpus": "multi30k"}}
    assert lens.views(CARD) == room.VIEWS and lens.views(photographs) == (room.ALIGNMENT, room.SCORE)
    assert lens.fits(experiments.find("attention-spanish"))
    assert not lens.fits(experiments.find("fixed-spanish")) and not lens.fits(experiments.find("gru-mnist1d"))
    assert (
        room.State().fixed == "fixed-spanish"
        and room.State(decoder=room.ATTENTION).forced == "attention-spanish"
    )


def test_the_page_shows_these_numbers(models: tuple[Seq2Seq, Seq2Seq]) -> None:
    pair = read(models, room.SWAP)
    page = opened(text=room.SWAP, step=4, word=2)
    bar, (_, arrays) = film(page), figure(page, "alignment")
    gamma, T = pair.attention.gamma, len(pair.attention.names)
    assert bar["at"] == 4 and bar["count"] == T
    for t in range(T):
        row = arrays["data.0.z"][t]
        np.testing.assert_allclose(row[: t + 1], gamma[: t + 1], atol=1e-5)
        assert np.isnan(row[t + 1 :]).all()
        e = pair.attention.scores[t].exp() / pair.attention.scores[t].max().exp()
        shown = [float(e[1]), float(e.sum()), float(gamma[t, 1]), *gamma[t].topk(2).values.tolist()]
        assert spoken(bar["equations"][t]) == pytest.approx(shown, abs=1e-3)
    page, found = opened(view=room.SCORE, text=room.SWAP), lens.parts(*models, CARD, room.SWAP, 0)
    _, arrays = figure(page, "score")
    np.testing.assert_allclose(arrays["data.2.y"], found.terms, atol=1e-5)
    for tex, terms in zip(film(page)["equations"], found.terms, strict=True):
        up, _, e, _ = spoken(tex)
        assert (up, e) == pytest.approx((float(terms.clamp(min=0).sum()), float(terms.sum())), abs=1e-3)
    page, result = opened(view=room.FORCED, text=room.FOUR), compare.decode(models[1], CARD, room.FOUR)
    _, arrays = figure(page, "p")
    np.testing.assert_allclose(arrays["data.0.y"][-1], result.p[:, 0], atol=1e-5)
    sums = -result.p.log().sum(0)
    assert spoken(film(page)["equations"][-1]) == pytest.approx(sums.tolist(), abs=1e-3)


def test_the_page_shows_the_lengths(lengths: compare.Lengths) -> None:
    header, _ = figure(finish(opened(view=room.LENGTH)), "exact")
    assert [line["name"] for line in header["figure"]["data"]] == ["attention", "fixed"]
    for line, shares in zip(header["figure"]["data"], lengths.exact.T, strict=True):
        assert plain(line["y"]) == pytest.approx(shares.tolist())
