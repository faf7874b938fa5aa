"""The page "word2vec live": gradients, the floor of the loss, and passes, on the reader's text."""

import math
from collections import Counter
from functools import partial

import pytest
import torch
from opening import captions, open_page

from lab.errors import UserError
from modules.language.word2vec import CBOW, SkipGram
from pages.language.word2vec import lens

opened = partial(open_page, "language/word2vec")
COFFEE = "I drank hot coffee this morning"
CATS = "the cat sat on the mat the dog sat on the rug the cat chased the dog"


@pytest.mark.parametrize("method, d", [("skip-gram", 2), ("skip-gram", 5), ("CBOW", 2), ("CBOW", 5)])
def test_a_window_learns_by_its_gradient(method, d):
    trace = lens.slide(CATS, 2, d, 0.5, method)
    assert len(trace) == 17 and trace.digest() == lens.slide(CATS, 2, d, 0.5, method).digest()
    ids = [trace.result["vocabulary"].index(w) for w in CATS.split()]
    for t in (3, 6):
        step, following = trace[t].values, trace[t + 1].values
        places = [t - 2, t - 1, t + 1, t + 2]
        assert (step["given"], step["predicted"]) == (
            ([t], places) if method == "skip-gram" else (places, [t])
        )
        made = (SkipGram if method == "skip-gram" else CBOW)(len(trace.result["vocabulary"]), d).double()
        with torch.no_grad():
            made.v.copy_(step["v"])
            made.u.copy_(step["u"])
        around = torch.tensor([[ids[p] for p in places]])
        if method == "skip-gram":
            loss = -made.log_probs(torch.tensor([ids[t]]))[0][around[0]].mean()
        else:
            loss = -made.log_probs(around)[0, ids[t]]
        loss.backward()
        torch.testing.assert_close(following["u"], step["u"] - 0.5 * made.u.grad, rtol=0, atol=1e-12)
        torch.testing.assert_close(following["v"], step["v"] - 0.5 * made.v.grad, rtol=0, atol=1e-12)
        torch.testing.assert_close(step["gradient"], step["observed"] - step["expected"])
        given = [ids[p] for p in step["given"]]
        torch.testing.assert_close(step["before"], step["v"][given].mean(0))
        torch.testing.assert_close(step["after"], following["v"][given].mean(0))
        assert step["share"] == 1 / len(given)


def test_each_context_gets_its_share():  # 1/(2k) each
    step, following = (lens.slide(COFFEE, 2, 2, 0.5, "CBOW")[t].values for t in (3, 4))
    for place in (1, 2, 4, 5):
        torch.testing.assert_close(following["v"][place] - step["v"][place], 0.5 * step["gradient"] / 4)
    assert torch.equal(following["v"][[0, 3]], step["v"][[0, 3]])


def entropy(text, k, method):
    """H of what is predicted given what is given, by counting in a dictionary."""
    words = text.lower().split()
    pairs = Counter()
    for i, w in enumerate(words):
        around = [words[j] for j in range(max(0, i - k), min(len(words), i + k + 1)) if j != i]
        if method == "skip-gram":
            pairs.update((w, o) for o in around)
        else:
            pairs[tuple(sorted(around)), w] += 1
    given = Counter()
    for (g, _), n in pairs.items():
        given[g] += n
    return -sum(n * math.log(n / given[g]) for (g, _), n in pairs.items()) / sum(pairs.values())


@pytest.mark.parametrize("method", ["skip-gram", "CBOW"])
@pytest.mark.parametrize("text, k", [(CATS, 1), (CATS, 2), (COFFEE, 2), ("a b a c a b", 1)])
def test_the_floor_is_the_entropy_of_the_windows(text, k, method):
    assert lens.read(text, k).floor(method) == pytest.approx(entropy(text, k, method), abs=1e-12)


def test_the_floor_is_met_as_d_grows_and_not_in_one_pass():
    for method, near in (("skip-gram", 0.02), ("CBOW", 0.02)):
        floor = lens.read(CATS, 2).floor(method)
        reached = lens.by_size(CATS, 2, method, (1, 2, 16), 300)
        assert floor <= reached[2] < floor + near and reached[2] < reached[1] < reached[0]
        losses = lens.passes(CATS, 2, 16, 0.3, method)
        assert len(losses) == 21 and losses[1] > losses[5] > losses[20] > floor
        # the first pass is the slide that the page shows
        trace = lens.slide(CATS, 2, 16, 0.3, method)
        assert trace[0].values["loss"] == pytest.approx(float(losses[0]))


def test_the_plane_is_of_the_longest_directions():
    trace = lens.slide(CATS, 2, 6, 0.5)
    P = trace.result["plane"]
    torch.testing.assert_close(P.T @ P, torch.eye(2, dtype=P.dtype), rtol=0, atol=1e-9)
    assert torch.equal(lens.slide(CATS, 2, 2, 0.5).result["plane"], torch.eye(2, dtype=P.dtype))


def test_what_is_shown():
    page = opened(text=COFFEE, step="3")
    step = lens.slide(COFFEE, 2, 2, 0.5)[3].values
    assert page.metric[0].value == f"{step['loss']:.4f}"
    assert f"{float(step['observed'][0]):.3f}" in page.latex[0].value
    assert f"below {entropy(COFFEE, 2, 'skip-gram'):.4f}" in captions(page)
    page = opened(text=COFFEE, step="3", method="CBOW", d="7")
    step = lens.slide(COFFEE, 2, 7, 0.5, "CBOW")[3].values
    assert f"{float(step['gradient'][0]) * 0.5 / 4:.3f}" in page.latex[0].value
    assert r"\tfrac{1}{4}" in page.latex[0].value and "each of the 4 given words" in captions(page)
    assert page.metric[0].value == f"{step['loss']:.4f}" and "two longest directions of the 7" in captions(
        page
    )
    page = opened(text=COFFEE, view="Loss and its floor", d="16", rate="1.0")
    floor, losses = entropy(COFFEE, 2, "skip-gram"), lens.passes(COFFEE, 2, 16, 1.0, "skip-gram")
    assert [m.value for m in page.metric] == [f"{float(losses[p]) - floor:.4f}" for p in (1, 5, 20)]
    reached = lens.by_size(COFFEE, 2, "skip-gram", (16,))
    assert f"= {floor:.4f}" in page.latex[0].value and f"16: {float(reached[0]):.4f}" in page.latex[0].value


def test_refusals():
    with pytest.raises(UserError, match="has 2 words"):
        lens.slide("two words", 2, 2, 0.5)
