"""The page "Word vectors": what it shows is what the trained tables say."""

from functools import partial

import pytest
import torch
import torch.nn.functional as F
from opening import captions, open_page

from lab import ui
from lab.errors import UserError
from lab.lenses import embeddings
from pages.language.word_vectors import lens

opened = partial(open_page, "language/word_vectors")


def table(name):
    return embeddings.table(ui.load(name), ui.card(name))


def test_the_map_names_the_nearest_word_and_what_the_plane_keeps():
    page, result = opened(), table("skipgram-relations")
    unit = F.normalize(result.vectors, dim=1)
    cosines = unit @ unit[result.ids["stallion"]]
    second = cosines.sort(descending=True).indices[1]
    latex = page.latex[0].value
    assert result.words[second] in latex and f"{cosines[second]:.4f}" in latex
    chosen = unit[[result.ids[w] for w in page.text_area[0].value.split()]]
    S = torch.linalg.svdvals(chosen - chosen.mean(0)).square()
    assert f"keeps {float(S[:2].sum() / S.sum()):.0%}" in captions(page)


def test_three_methods_side_by_side():
    page = opened(view="Methods")
    for method, name in (("skip-gram", "skipgram"), ("CBOW", "cbow"), ("SVD of PPMI", "svd")):
        result = table(f"{name}-relations")
        scores = [embeddings.score(result, relation) for relation in result.pairs]
        hits = sum(s.hits for s in scores)
        assert sum(s.questions for s in scores) == 336
        assert rf"\text{{{method}}}: \frac{{{hits}}}{{336}}" in page.latex[0].value


def test_inflections_are_found_again():
    words = ["dog", "dogs", "box", "boxes", "walk", "walking", "as", "ass", "cat"]
    pairs = lens.inflections(words)
    assert [[words[i] for i in p] for p in pairs.tolist()] == [
        ["dog", "dogs"],
        ["box", "boxes"],
        ["walk", "walking"],
    ]
    vectors = torch.tensor(
        [[1.0, 0], [1, 0.1], [0, 1], [-1, 0.1], [1, 0.5], [-1, 0], [0.5, 0.5], [0, -1], [0.1, 1]]
    )
    near = lens.nearest(vectors, 1)
    assert near[:2].flatten().tolist() == [1, 0] and near[3].tolist() == [5]
    assert lens.are_near(near, pairs).tolist() == [True, False, False]
    assert lens.are_near(near, pairs.flip(1)).tolist() == [True, False, False]
    one_way = torch.tensor([[1], [2], [0]])  # 1 is nearest to 0, 0 not to 1: either will do
    assert lens.are_near(one_way, torch.tensor([[0, 1], [1, 0]])).tolist() == [True, True]
    values = torch.tensor([1.0, 0.0, 1.0, 1.0])
    assert lens.by_frequency(values, torch.tensor([5, 2, 0, 9]), 2) == [0.5, 1.0]
    one, other = torch.tensor([[1, 2], [0, 2]]), torch.tensor([[2, 1], [3, 2]])
    assert lens.agreement(one, other).tolist() == [1.0, 0.5]
    assert lens.cost(torch.tensor([[1, -1, 2], [3, 4, 5]])) == (2, 5)


def test_methods_are_said_not_to_be_compared_at_equal_passes():
    for corpus, result in (
        ("planted", "skip-gram 400, CBOW 20, SVD of PPMI 1."),
        ("captions", "skip-gram 400, CBOW 8, SVD of PPMI 1."),
    ):
        assert f"not equal: {result}" in captions(opened(view="Methods", corpus=corpus))
    for name, passes in (("skipgram-multi30k", 400), ("sgns-multi30k", 8), ("cbow-relations", 20)):
        assert lens.passes(ui.card(name)) == passes


def test_rare_words():
    near = {m: lens.nearest(table(f"{m}-multi30k").vectors) for m in ("skipgram", "cbow", "svd")}
    pairs = lens.inflections(table("cbow-multi30k").words)
    assert len(pairs) > 500
    again = {m: lens.by_frequency(lens.are_near(t, pairs), pairs.amax(1)) for m, t in near.items()}
    for m, parts in again.items():
        assert parts[0] > parts[3], m
    assert all(a > b for a, b in zip(again["skipgram"], again["cbow"], strict=True))
    shared = lens.agreement(near["skipgram"], near["svd"])
    chance = 10 / 3266
    assert shared.mean() > 30 * chance and shared[:800].mean() > shared[-800:].mean()
    page = opened(view="Rare words")
    latex = page.latex[0].value
    assert all(f"{parts[3]:.3f}" in latex for parts in again.values())
    # 6,000 sentences: of 5 words, with 2·2·5 − 2·3 = 14 pairs each
    assert "30,000 times; skip-gram once a pair, 84,000 times" in captions(page)
    quarters = [float(part.mean()) for part in shared.tensor_split(4)]
    assert f"share {sum(quarters) / 4:.1%} of the 10" in captions(page)


def test_refusals():
    with pytest.raises(UserError, match="not among the 68 words"):
        table("svd-relations").find("zebra")
