"""The page "Analogies": what it shows is what the tables say, and the board is of every dimension."""

from functools import partial

import torch
import torch.nn.functional as F
from opening import film, open_page

from datamodules import relations
from lab import ui
from lab.lenses import embeddings
from pages.language.analogies import lens

opened = partial(open_page, "language/analogies")


def table(name):
    return embeddings.table(ui.load(name), ui.card(name))


def test_analogies_count_all_questions_and_list_the_misses():
    result = table("cbow-relations")
    page = opened(method="CBOW")
    unit = F.normalize(result.vectors, dim=1)
    pairs = [(result.ids[a], result.ids[b]) for a, b in result.pairs["male → female"]]
    hits, misses = 0, 0
    for a, b in pairs:
        for c, d in pairs:
            if a == c:
                continue
            scores = F.normalize(unit[b] - unit[a] + unit[c], dim=0) @ unit.T
            scores[[a, b, c]] = -2
            hits += int(scores.argmax() == d)
            misses += int(scores.argmax() != d)
    assert page.metric[0].value == f"{hits} of {hits + misses}"
    assert len(embeddings.score(result, "male → female").misses) == misses
    ranking = lens.answer(result, "stallion", "mare", "bull")
    assert f"{ranking[0][1]:.4f}" in page.latex[0].value
    assert lens.known(result, "stallion", "mare", "bull") == "cow"
    assert lens.known(result, "stallion", "cow", "bull") is None


def test_the_parallelogram_closes():
    points, names = lens.corners(table("svd-relations"), "stallion", "mare", "bull", "cow")
    a, b, c, total, _ = points
    torch.testing.assert_close(total, b - a + c, rtol=0, atol=1e-5)  # a projection keeps sums
    assert names == ["stallion", "mare", "bull", "", "cow"]


def test_the_board_asks_every_question_in_every_dimension():
    board = lens.board(300, 0.2)
    assert board.questions == 336 and len(board.hits) == len(relations.VOCABULARY)
    ids = {word: i for i, word in enumerate(relations.VOCABULARY)}
    for d in (3, 12):
        alone = embeddings.Table(board.vectors[:, :d].float(), relations.VOCABULARY, ids, relations.pairs())
        assert board.hits[d - 1] == sum(embeddings.score(alone, r).hits for r in relations.pairs())
    shown = film(opened(view="Board", sentences=300, noise=0.2, d=12), "d")
    assert shown["at"] == 11 and shown["captions"][11].startswith(
        f"12 dimensions answer {board.hits[11]} of 336"
    )


def test_noise_replaces_its_share_of_the_words():
    clean, noisy = lens.corpus(2000, 0.0), lens.corpus(2000, 0.5)
    assert torch.equal(clean, relations.sentences(2000, 0))
    assert 0.45 < (clean != noisy).double().mean() < 0.52
