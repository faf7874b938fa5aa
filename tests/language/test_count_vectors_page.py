"""The page "Count vectors": the coffee sentence and the four sentences, as they are shown."""

import math
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from opening import captions, figure, film, open_page, open_warned

from lab.errors import UserError
from pages.language.count_vectors import lens

opened = partial(open_page, "language/count_vectors")
GRUTT = (
    "I drank a hot grutt this morning. She ordered a blarpen at the café. "
    "The grutt was bitter and dark. He prefers blarpen to tea."
)


def by_hand(text, k):
    """C by two loops: words by first occurrence."""
    lines = [s.lower().split() for s in text.replace(".", "\n").splitlines() if s.strip()]
    C = {}
    for line in lines:
        for i, a in enumerate(line):
            for j, b in enumerate(line):
                if i != j and abs(i - j) <= k:
                    C[a, b] = C.get((a, b), 0) + 1
    return C


def test_the_four_sentences():
    page = opened()
    assert [m.value for m in page.metric] == ["25, 21", "76", "82.77%", "20"]
    shown = film(page, "d")
    assert shown["at"] == 2 and shown["names"][2] == "2" and shown["count"] == 22
    assert "6.7181263" in shown["equations"][2] and "4.9428523" in shown["equations"][5]
    assert film(opened(d="5"), "d")["at"] == 5
    counted = lens.count(GRUTT, 2)
    result = lens.decompose(counted, 2, False)
    assert result.spectrum[:3].tolist() == pytest.approx([4.50855, 3.24650, 2.85408], abs=5e-6)
    for k in (1, 2, 4):
        counted, C = lens.count(GRUTT, k), by_hand(GRUTT, k)
        for i, a in enumerate(counted.words):
            for j, b in enumerate(counted.words):
                assert counted.counts[i, j] == C.get((a, b), 0)


def test_the_coffee_sentence():
    counted = lens.count("I drank hot coffee this morning", 2)
    row = counted.counts[counted.words.index("coffee")]
    assert {w for w, c in zip(counted.words, row, strict=True) if c} == {"drank", "hot", "this", "morning"}
    assert counted.counts.sum() == 18


def test_grutt_is_nearer_to_other_words_than_to_blarpen():
    counted = lens.count(GRUTT, 2)
    near = lens.near(counted, lens.decompose(counted, 21, False), "Grutt", 20)
    whole = dict(zip(near.words, near.whole.tolist(), strict=True))
    assert whole["blarpen"] == pytest.approx(2 / math.sqrt(56), abs=1e-12)
    assert min(whole["this"], whole["drank"], whole["and"]) > whole["blarpen"]
    # with as many dimensions as words nothing is lost
    torch.testing.assert_close(near.cosines, near.whole, rtol=0, atol=1e-9)


def test_a_sentence_is_added_without_the_old_text():
    more = "She drank a hot blarpen this evening."
    old = lens.count(GRUTT, 2)
    both = lens.add(old, more, 2)
    assert list(both.words) == [*old.words, "evening"] and both.tokens == 32
    assert torch.equal(both.counts[:21, :21] - old.counts != 0, both.counts[:21, :21] > old.counts)
    C = by_hand(GRUTT + more, 2)
    assert both.counts.sum() == sum(C.values()) and both.counts[-1, both.words.index("this")] == 1
    anew = lens.count(GRUTT + more, 2)
    order = [anew.words.index(w) for w in both.words]
    assert torch.equal(both.counts, anew.counts[order][:, order])
    torch.testing.assert_close(
        lens.decompose(both, 2, False).spectrum, lens.decompose(anew, 2, False).spectrum, rtol=0, atol=1e-12
    )
    assert lens.difference(both, f"{GRUTT}\n{more}", 2) == 0
    assert lens.difference(both, GRUTT, 2) == 1  # it can tell
    page = opened(more=more)
    empty = int((both.counts != 0).sum() - (old.counts != 0).sum())
    text = captions(page)
    assert f"{empty} cells that were empty, 1 new words" in text
    assert "22 pairs" in text and "differs by 0;" in text


@pytest.mark.parametrize("ppmi", [False, True])
def test_errors_are_those_of_the_best_approximation(ppmi):
    counted = lens.count(GRUTT, 2)
    for d in (1, 7, 21):
        result = lens.decompose(counted, d, ppmi)
        U, S, Vh = torch.linalg.svd(result.matrix)
        best = U[:, :d] * S[:d] @ Vh[:d]
        torch.testing.assert_close(result.approximation, best, rtol=0, atol=1e-9)
        assert result.errors[d].item() == pytest.approx((result.matrix - best).norm().item(), abs=1e-7)
    assert result.errors[0].item() == pytest.approx(result.matrix.norm().item())
    if ppmi:
        i, j = counted.words.index("i"), counted.words.index("drank")
        share = counted.counts[i, j] * 76 / (counted.counts[i].sum() * counted.counts[:, j].sum())
        assert result.matrix[i, j].item() == pytest.approx(math.log(share))


def test_films_hold_every_number_of_dimensions():
    """Each frame is what the SVD of that many dimensions gives alone."""
    counted = lens.count(GRUTT, 2)
    whole = lens.decompose(counted, 21, True)
    maps, planes = lens.approximations(whole, 12), lens.planes(whole, 12)
    ranked = lens.ranking(counted, whole, "grutt")
    assert maps.shape == (22, 12, 12) and planes.shape == (22, 12, 2) and not maps[0].any()
    for d in (1, 2, 7, 21):
        result = lens.decompose(counted, d, True)
        torch.testing.assert_close(maps[d], result.approximation[:12, :12], rtol=0, atol=1e-9)
        alone = lens.plane(result, 12)
        torch.testing.assert_close(
            torch.cdist(planes[d], planes[d]), torch.cdist(alone, alone), atol=1e-6, rtol=0
        )
        near = lens.near(counted, result, "grutt")
        torch.testing.assert_close(ranked.cosines[d - 1], near.cosines, rtol=0, atol=1e-9)
    assert ranked.words[20] == lens.near(counted, whole, "grutt").words
    header, arrays = figure(opened(ppmi="true"), "matrix")
    assert header["film"].endswith("/d") and arrays["data.0.z"].shape == (22, 21, 21)
    assert header["figure"]["data"][0]["zmin"] == 0  # counts are never on a two-sided scale
    assert (
        "is not in the text"
        in open_warned("language/count_vectors", view="Map", **{"word-grutt": "milk"}).warning[0].value
    )


def test_the_map_is_of_unit_vectors():
    counted = lens.count(GRUTT, 2)
    result = lens.decompose(counted, 3, False)
    unit = F.normalize(result.vectors, dim=1)
    centred = unit - unit.mean(0)
    points = lens.plane(result, 21)
    S = torch.linalg.svdvals(centred)
    torch.testing.assert_close(points.norm(dim=0), S[:2], rtol=0, atol=1e-9)


def test_a_file_takes_the_place_of_the_text():
    page = opened()
    page.get("file_uploader")[0].upload("own.txt", b"hot tea\r\ncold tea", "text/plain").run()
    assert not page.exception and page.metric[0].value == "4, 3"
    page.get("file_uploader")[0].upload("old.txt", b"hot caf\xe9\ncold tea", "text/plain").run()
    assert "not UTF-8: read as Windows-1252" in page.warning[0].value and page.metric[0].value == "4, 4"


def test_refusals():
    for text, sentence in (
        ("", "Nothing stands beside"),
        ("one. two. three.", "Nothing stands beside"),
        (" ".join(f"w{i}" for i in range(401)), "401 different words"),
    ):
        with pytest.raises(UserError, match=sentence):
            lens.count(text, 2)
    counted = lens.count("hot tea", 1)
    with pytest.raises(UserError, match="'milk' is not in the text"):
        counted.find("milk")
    with pytest.raises(UserError, match="401 different words"):
        lens.add(counted, " ".join(f"w{i}" for i in range(399)), 2)
