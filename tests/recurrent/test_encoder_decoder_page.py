"""The page Encoder-decoder: its numbers are those of the translators, and what its scenes say is so."""

from functools import partial

import numpy as np
import pytest
import torch
from opening import figure, film, open_page, run_page, spoken, warnings
from sklearn.decomposition import PCA
from sklearn.linear_model import RidgeClassifier
from sklearn.preprocessing import StandardScaler

from datamodules import spanish
from lab import experiments, weights
from lab.errors import UserError
from lab.lenses import translations
from lab.lenses.text import tokenizer
from modules.recurrent.seq2seq import Seq2Seq
from pages.recurrent.encoder_decoder import contexts, lens, probes, room

opened = partial(open_page, "recurrent/encoder_decoder")
CARD = experiments.find("fixed-spanish").card
CODER = tokenizer(CARD)
GERMAN = experiments.find(room.CAPTIONS).card


@pytest.fixture(scope="module")
def model() -> Seq2Seq:
    return weights.load("fixed-spanish").eval()


@pytest.fixture(scope="module")
def cloud(model: Seq2Seq) -> contexts.Cloud:
    return contexts.cloud(model, CARD)


@pytest.mark.parametrize("text", [room.FIVE, room.FOUR, room.STRANGE])
def test_what_is_written_is_written_from_c(text: str) -> None:
    """Step by step, by a decoder that is given c and nothing else of the source."""
    model = weights.load("fixed-spanish").eval().double()
    result = lens.write(model, CARD, text)
    z, S = result.z, len(result.z)
    assert len(result.source.names) == S and len(result.c) == 2 * model.encoder.hidden
    half = model.encoder.hidden
    torch.testing.assert_close(result.c, torch.cat([z[-1, :half], z[0, half:]]))
    state = model.read(result.source.ids[None]).state
    token, c = torch.tensor([model.bos]), result.c[None]
    for t, (name, p) in enumerate(zip(result.names, result.p.tolist(), strict=True)):
        y = model.embed(token)
        s, state = model.decoder.step(torch.cat([y, c], 1), state)
        all_p = model.logits(torch.cat([s, c, y], 1)).softmax(-1)[0]
        token = all_p.argmax()[None]
        assert translations.written(CODER.tokens, token.tolist(), model.eos) == [name]
        assert p == pytest.approx(all_p.max().item())
        torch.testing.assert_close(result.s[t], s[0].detach())
        if result.gold is not None and t < len(result.gold):
            gold = CODER.tokens.index(result.gold[t]) if result.gold[t] != translations.END else model.eos
            assert result.gold_p[t].item() == pytest.approx(all_p[gold].item())
            assert result.differs[t] == (result.gold[t] != name)
    assert (result.gold is None) == (text == room.STRANGE)
    if result.gold is None:
        assert result.gold_p.isnan().all() and not any(result.differs)


def test_poolings_are_those_of_the_states(model: Seq2Seq) -> None:
    found = lens.pool(model, CARD, room.TWO)
    z = lens.write(model, CARD, room.TWO).z
    S, half = len(z), z.shape[1] // 2
    by_hand = [z[-1], torch.cat([z[-1, :half], z[0, half:]]), z.mean(0), z.amax(0)]
    torch.testing.assert_close(found.c, torch.stack(by_hand))
    torch.testing.assert_close(found.gamma.sum(1), torch.ones(4))
    torch.testing.assert_close(found.gamma[3], z.argmax(0).bincount(minlength=S) / z.shape[1])
    assert found.gamma[1, [0, -1]].tolist() == [0.5, 0.5] and found.gamma[0, -1] == 1
    torch.testing.assert_close(found.gamma[2], torch.full((S,), 1 / S))
    numbers = [spoken(tex) for tex in film(opened(view=room.POOLED, text=room.TWO))["equations"]]
    most = float(found.gamma[3].max())
    assert numbers[3][-1] == pytest.approx(most, abs=1e-3) and numbers[2][-1] == pytest.approx(
        1 / S, abs=1e-3
    )


def test_components_are_those_of_pca(cloud: contexts.Cloud, model: Seq2Seq) -> None:
    pca = PCA(2).fit(cloud.c.double().numpy())
    np.testing.assert_allclose(cloud.explained, pca.explained_variance_ratio_, rtol=1e-4)
    np.testing.assert_allclose((cloud.axes.double().numpy() * pca.components_).sum(1) ** 2, 1, rtol=1e-3)
    np.testing.assert_allclose(cloud.at, (cloud.c - cloud.mean) @ cloud.axes.T, atol=1e-4)
    assert len(cloud.english) == contexts.MOST * contexts.COUNT
    for i in (0, 100, 419):  # alone as in a batch with longer ones
        ids = torch.tensor([CODER.encode(" ".join(cloud.english[i]))])
        torch.testing.assert_close(cloud.c[i], model.read(ids).memory[0][0].detach(), atol=1e-4, rtol=1e-4)
        written = model.translate(ids, length=60)[0].tolist()
        gold = [*spanish.translate(cloud.english[i]).spanish, "<eos>"]
        assert bool(cloud.right[i]) == ([CODER.tokens[j] for j in written] == gold)
    marks = cloud.labels(room.CLAUSES)[1]
    assert [marks.count(k) for k in range(contexts.MOST)] == [contexts.COUNT] * contexts.MOST


def test_the_own_sentence_grows_clause_by_clause(cloud: contexts.Cloud, model: Seq2Seq) -> None:
    own = contexts.growing(model, CARD, room.FOUR)
    assert [words[-2:] for words in own.words] == [[n, "."] for n in ("house", "cat", "cars", "table")]
    torch.testing.assert_close(own.c[-1], lens.write(model, CARD, room.FOUR).c, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(own.c[0], lens.write(model, CARD, "I have the big red house.").c, atol=1e-5,
                               rtol=1e-4)  # fmt: skip
    assert len(contexts.growing(model, CARD, room.STRANGE).words) == 1
    away = (cloud.c - own.c[1]).norm(dim=1)
    assert contexts.nearest(cloud, own.c[1]) == int(away.argmin())
    assert contexts.nearest(cloud, cloud.c[7]) != 7


def test_clauses_and_their_words() -> None:
    text = "i have two small blue cats but a old flower because they sell the keys ."
    words = text.split()
    assert [[words[i] for i in part][-1] for part in contexts.clauses(words)] == ["cats", "flower", "keys"]
    assert [list(row.values()) for row in probes.asked(words)] == [
        ["i", "have", "blue", "cat"], ["–", "–", "–", "flower"], ["they", "sell", "–", "key"],
    ]  # fmt: skip


def test_probes_are_those_of_ridge_regression(model: Seq2Seq) -> None:
    """Of clause 2, by another road."""
    train = spanish.sentences(probes.TRAINED, (2, 2), "train", seed=101)
    test = spanish.sentences(probes.JUDGED, (2, 2), "test", seed=102)
    kept = probes.kept(model, CARD, room.TWO)
    x, other = (probes.encoded(model, group)[1].double().numpy() for group in (train, test))
    scale = StandardScaler().fit(x)
    for i, kind in enumerate(room.KINDS):
        y, target = (np.array([probes.asked(words)[1][kind] for words in group]) for group in (train, test))
        there, asked = y != probes.NONE, target != probes.NONE
        scale.fit(x[there])
        fit = RidgeClassifier(alpha=probes.RIDGE).fit(scale.transform(x[there]), y[there])
        one = kept.probes[1][i]
        read = fit.predict(scale.transform(other[asked]))
        assert one.count == asked.sum() and abs(one.right - (read == target[asked]).sum()) <= 1
        assert one.accuracy == one.right / one.count
        names, counts = np.unique(y[there], return_counts=True)
        assert one.guess == pytest.approx((target[asked] == names[counts.argmax()]).mean())
    ids = torch.tensor([CODER.encode(" ".join(train[3]))])
    torch.testing.assert_close(
        torch.tensor(x[3]).float(), model.read(ids).memory[0][0].detach(), atol=1e-4, rtol=1e-4
    )
    assert CODER.tokens == spanish.tokenizer().tokens


def test_a_probe_at_the_noun_reads_its_state(model: Seq2Seq) -> None:
    kept = probes.kept(model, CARD, room.FOUR)
    for k, (each, noun) in enumerate(zip(kept.at_noun, ("house", "cat", "cars", "table"), strict=True)):
        source = translations.sentence(CARD, room.FOUR)
        z = lens.write(model, CARD, room.FOUR).z[source.text.split().index(noun)]
        assert each.read(z[None]) == [kept.gold[k][3]]


def test_scenes_say_what_is_seen(model: Seq2Seq, cloud: contexts.Cloud) -> None:
    four, five, six = (lens.write(model, CARD, text) for text in (room.FOUR, room.FIVE, room.SIX))
    spoken_ = [word for word in four.names if word != translations.END]
    finite = {form for forms in spanish.VERBS.values() for form in forms}
    assert sum(four.differs) > 10 and sum(word in finite for word in spoken_) == 4  # as many verbs as gold
    assert not any(five.differs) and five.p.min() > 0.9 and len(five.source.names) == 5
    assert len(six.c) == len(five.c) == 128 and len(six.source.names) > 33
    assert six.gold is not None and len(six.names) < len(six.gold) and sum(six.differs) > 10
    lengths = [len(words) for words in cloud.english]
    assert (min(lengths), max(lengths)) == (5, 41)
    assert contexts.by_length(cloud) > 0.85 and np.corrcoef(lengths, cloud.at[:, 0])[0, 1] > 0.9
    verbs = torch.tensor(cloud.labels(room.VERB)[1])
    for axis in cloud.at.T:  # no cluster
        means = torch.stack([axis[verbs == v].mean() for v in range(5)])
        assert float((means[verbs] - axis.mean()).square().sum() / (axis - axis.mean()).square().sum()) < 0.1
    for text in (room.FIVE, room.TWO, room.FOUR, room.SIX):
        kept = probes.kept(model, CARD, text)
        assert kept.accuracy(room.ACTION)[0] > 0.98
        assert min(each.accuracy for each in kept.at_noun) > 0.9
    nouns = {text: probes.kept(model, CARD, text).accuracy(room.NOUN) for text in (room.TWO, room.FOUR)}
    assert min(nouns[room.TWO]) > 0.9 and max(nouns[room.FOUR][1:3]) < 0.5 < min(nouns[room.FOUR][::3])


def test_a_caption_loses_its_end() -> None:
    german = weights.load(room.CAPTIONS).eval()
    result = lens.write(german, GERMAN, room.DUNE)
    assert translations.GERMAN["Dune"] == room.DUNE and result.gold is None
    text = "".join(result.names).replace("␣", " ")
    assert text.startswith("A man in a gray shirt jumps") and "beach" in text
    step = room.ROOM.scenes["A caption"].state.step
    assert result.names[step] == "␣beach" and result.p[step] < 0.4 < result.p[:6].min()
    assert lens.views(GERMAN) == (room.FUNNEL, room.POOLED) and lens.views(CARD) == room.VIEWS
    assert lens.fits(experiments.find("fixed-spanish")) and not lens.fits(
        experiments.find("attention-spanish")
    )


def test_the_page_shows_these_numbers(model: Seq2Seq, cloud: contexts.Cloud) -> None:
    result = lens.write(model, CARD, room.FOUR)
    page = opened(step=4)
    bar, (_, arrays) = film(page), figure(page, "decoder")
    assert bar["at"] == 4 and bar["count"] == len(result.names)
    product = result.p.double().cumprod(0)
    for t, tex in enumerate(bar["equations"]):
        assert f"{float(result.p[t]):.3f}" in tex
        seen = arrays["data.0.z"][t]
        np.testing.assert_allclose(seen[:, : t + 1], result.s[: t + 1].T, atol=1e-4)
        assert np.isnan(seen[:, t + 1 :]).all()
        np.testing.assert_allclose(arrays["data.1.y"][t][: t + 1], result.p[: t + 1], atol=1e-4)
    assert spoken(bar["equations"][0])[-1] == pytest.approx(float(product[0]), abs=1e-3)
    page, own = opened(view=room.CONTEXTS), contexts.growing(model, CARD, room.FOUR)
    (header, arrays), at = figure(page, "plane"), (own.c - cloud.mean) @ cloud.axes.T
    star = next(i for i, each in enumerate(header["figure"]["data"]) if each.get("name") == "own")
    np.testing.assert_allclose(np.ravel(arrays[f"data.{star}.x"]), at[:, 0], atol=1e-3)
    share = cloud.explained.tolist()
    numbers = [spoken(tex) for tex in film(page)["equations"]]
    assert [row[-1] for row in numbers] == pytest.approx([sum(share)] * 4, abs=2e-3)
    page, kept = opened(view=room.KEPT, kind=room.ACTION), probes.kept(model, CARD, room.FOUR)
    for tex, share in zip(film(page)["equations"], kept.accuracy(room.ACTION), strict=True):
        assert any(each == pytest.approx(share, abs=1e-3) for each in spoken(tex))
    header, _ = figure(page, "words")
    texts = header["figure"]["data"][0]["text"]
    assert "you<br><i>we</i>" not in texts[0] and len(texts) == 16


def test_a_sentence_without_clauses_is_one_sentence(model: Seq2Seq) -> None:
    with pytest.raises(UserError, match="clause"):
        probes.kept(model, CARD, room.STRANGE)
    page = run_page("recurrent/encoder_decoder", view=room.KEPT, text=room.STRANGE)
    said = "".join(c.value for c in [*page.info, *page.error, *page.caption, *page.markdown])
    assert not page.exception and "type a sentence of the grammar" in warnings(page) + said
