"""Static against contextual vectors: on planted sentences, in shipped weights, and on the page."""

from functools import partial

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from opening import figure, film, open_page

from datamodules import senses
from datamodules.senses import Senses
from datamodules.tokenizer import WordTokenizer
from lab import ui
from lab.errors import UserError
from lab.lenses import embeddings
from pages.language.senses import lens

opened = partial(open_page, "language/senses")


@pytest.fixture(scope="module")
def model():
    return ui.load("gpt-senses")


@pytest.fixture(scope="module")
def table():
    return embeddings.table(ui.load("skipgram-senses"), ui.card("skipgram-senses"))


def test_the_words_before_the_bank_tell_its_sense():
    lines, kinds = senses.sentences(2000, 7)
    of = {w: n for n, s in enumerate(senses.SENSES) for slot in senses.CUES[s].values() for w in slot}
    for line, kind in zip(lines, kinds, strict=True):
        words = line.split()
        assert len(words) == 9
        before, after = words[:5], words[6:]
        assert {of[w] for w in before if w in of} == {kind} == {of[w] for w in after if w in of}
        assert words[5] == senses.WORD or of[words[5]] == kind
    banks = [kind for line, kind in zip(lines, kinds, strict=True) if senses.WORD in line.split()]
    assert len(banks) / 2000 == pytest.approx(0.5, abs=0.04) and sum(banks) / len(banks) == pytest.approx(
        0.5, abs=0.06
    )
    assert len(set(senses.VOCABULARY)) == len(senses.VOCABULARY) == 55
    # both senses have as many words of their own
    assert sum(k == 0 for k in of.values()) == sum(k == 1 for k in of.values()) == 18


def test_datamodule():
    data = Senses(40, 4)
    data.setup()
    tokens, targets = data.train_set[torch.arange(3)]
    assert tokens.shape == targets.shape == (3, 10) and torch.equal(tokens[:, 1:], targets[:, :-1])
    assert (tokens[:, 0] == WordTokenizer.BOS).all() and (targets[:, -1] == WordTokenizer.EOS).all()
    assert data.tokenizer.decode(tokens[0]) == data.lines("train")[0][0]
    assert set(data.lines("train")[0]) != set(data.lines("test")[0]) and len(data.lines("test")[0]) == 10


def test_a_table_mixes_the_senses(table):
    near = lens.static(table)
    assert [s for _, _, s in near].count("river") == [s for _, _, s in near].count("money") == 4
    assert {w for w, _, _ in near} == {*senses.CUES["river"]["other"], *senses.CUES["money"]["other"]}
    unit = F.normalize(table.vectors, dim=1)
    cosine = float(unit[table.ids["bank"]] @ unit[table.ids[near[0][0]]])
    assert near[0][1] == pytest.approx(cosine)
    # the words of one sense do keep apart
    shore, lender, dune = (unit[table.ids[w]] for w in ("shore", "lender", "dune"))
    assert float(shore @ dune) > float(shore @ lender) + 0.3


def test_states_are_the_models(model):
    ids = lens.tokens(senses.sentences(5)[0])
    states = lens.states(model, ids)
    assert states.shape == (len(model.blocks) + 1, 5, 10, model.width)
    torch.testing.assert_close(model.final_norm(states[-1]), model.hidden(ids))
    # at the word itself, and of what stands before it alone
    line = "she fished at the old bank of the river"
    state = lens.own(model, line)
    torch.testing.assert_close(state, lens.states(model, lens.tokens([line]))[:, 0, 6])
    later = lens.own(model, "she fished at the old bank for the loan")
    torch.testing.assert_close(state, later)
    assert not torch.allclose(
        state[1:], lens.own(model, "she paid at the old bank of the river")[1:], atol=0.1
    )


def test_occurrences_separate_after_the_blocks(model):
    for seed in range(3):
        occurrences = lens.occurrences(model, 200, seed)
        assert occurrences.states.shape[:2] == (3, 200) and len(occurrences.sentences) == 200
        hits = [lens.cluster(s, occurrences.senses).hits for s in occurrences.states]
        most = max(int(occurrences.senses.sum()), 200 - int(occurrences.senses.sum()))
        assert hits[0] == most < 130  # one point: nothing to tell
        assert hits[-1] >= 198
    assert float((occurrences.states[0] - occurrences.states[0][:1]).abs().max()) == 0


def test_clusters_are_judged_by_their_better_naming():
    points = torch.cat([torch.randn(30, 3) * 0.1 + 5, torch.randn(20, 3) * 0.1 - 5])
    truth = torch.tensor([1] * 29 + [0] + [0] * 20)
    cluster = lens.cluster(points, truth)
    assert cluster.hits == 49 and cluster.labels[:30].tolist() == [1] * 30
    assert cluster.nearest(torch.full((3,), 4.0)) == 1 and cluster.nearest(torch.full((3,), -1.0)) == 0


def test_what_is_shown(model):
    page = opened()
    occurrences = lens.occurrences(model, 200, 0)
    clusters = lens.cluster(occurrences.states[-1], occurrences.senses)
    assert [m.value for m in page.metric] == ["4 of 8", f"{clusters.hits / 2:.1f}%", "river"]
    most = max(int(occurrences.senses.sum()), 200 - int(occurrences.senses.sum()))
    text = film(page, "layer")
    assert text["at"] == 2 and f"groups {clusters.hits} of 200 with theirs" in text["captions"][2]
    assert f"groups {most} of 200" in text["captions"][0] and f"<mn>{most}</mn>" in text["equations"][0]
    _, frames = figure(page, "cloud")
    points = np.concatenate([frames["data.0.x"], frames["data.1.x"], frames["data.2.x"]], 1)
    assert points.shape == (3, 201) and not points[0].any() and abs(points[1:]).max() <= 1.15
    assert opened(own="tom saved at the old bank of the river").metric[2].value == "money"
    page = opened(layer="0")
    assert page.metric[1].value == f"{most / 2:.1f}%"


def test_refusals(model):
    for text, sentence in (
        ("she fished at the river", "has no 'bank'"),
        ("she robbed the bank", "never seen 'robbed'"),
        ("the " * 9 + "bank", "has 10 words: 9 at most"),
    ):
        with pytest.raises(UserError, match=sentence):
            lens.own(model, text)
    with pytest.raises(ValueError, match="at least one"):
        senses.sentences(0)
    with pytest.raises(ValueError, match="at least 4"):
        Senses(3)
